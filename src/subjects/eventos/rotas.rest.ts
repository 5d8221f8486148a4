/** The addresses of events. */
import { defineRoute, type Route } from '../../base/http/route.ts';
import { REPEATED_HEADER } from '../../base/world/idempotency.ts';
import { EVENTO_SIGNATURE_HEADER } from '../../base/world/sent-documents.ts';
import { CODIGOS_DE_OFICIO } from '../../fiscal/conflitos-evento.ts';
import { EVENTOS } from '../../fiscal/errors/eventos.ts';
import { SIMULAR_HEADER } from '../../fiscal/simular.ts';
import { type Acesso, POR_CHAVE } from '../../published/acesso.ts';
import { field, type Shape, STATUS } from '../../published/openapi/field.ts';
import { RATE_LIMIT_HEADERS } from '../../published/openapi/headers.ts';
import {
  EVENTO_FIELDS,
  EVENTOS_PATH,
  listAll,
  listOfTipo,
  postByChave,
  postByProtocolo,
  showOne,
} from './eventos.rest.ts';

const TOTAL = field.integer('Quantos são.');

const EVENTOS_FIELD = field.shape('Evento[]', 'Os eventos.');

const EVENTO_NACIONAL =
  'O pedRegEvento da API nacional vai, em gzip e Base64, a POST /{municipio}/SefinNacional/nfse/{chave_acesso}/eventos; ou se passa para JSON em /docs/migrar.';

export const SHAPES_DE_EVENTOS: Readonly<Record<string, Shape>> = {
  Evento: {
    ...EVENTO_FIELDS,
    // The marker is part of every event object (specification, "Event object").
    status: field.choice(['OK'], 'OK em todo evento.'),
  },
  ErrosAdn: 'objeto',
};

const EVENTO_ASSINADO: Acesso = {
  quem: 'a parte da nota que o tipo do evento pede, que assina o corpo',
  revela: 'nada',
  estranho:
    'sem assinatura, nada; quem assina com outro certificado e tem a chave ou o protocolo sabe se a nota existe (404, ou E9007 e o que está errado no corpo)',
  parte: 'o evento registrado',
};

export const ROTAS_DE_EVENTOS: readonly Route[] = [
  ...(
    [
      [EVENTOS_PATH, postByChave],
      ['/api/v1/nfse/protocolo/:numero_protocolo/eventos', postByProtocolo],
    ] as const
  ).map(([path, handle]) =>
    defineRoute({
      id: path.includes('/protocolo/') ? 'registrarEventoPorProtocolo' : 'registrarEvento',
      method: 'POST',
      path,
      summary:
        path === EVENTOS_PATH
          ? 'Registra um evento na nota: cancelamento, confirmação, rejeição e os demais tipos. Em produção, com a assinatura em X-Evento-Assinatura.'
          : 'Registra um evento na nota, pelo número de protocolo dela.',
      reads: [EVENTO_SIGNATURE_HEADER, SIMULAR_HEADER],
      takes: ['application/json'],
      nacional: EVENTO_NACIONAL,
      takesKey: true,
      quotaCost: 1,
      status: 201,
      fields: {
        ...EVENTO_FIELDS,
        mensagem: field.text('O que aconteceu, em uma frase.'),
        avisos: field.shape('Aviso[]', 'O que não impediu o registro e convém saber; quase sempre vazio.'),
        status: STATUS,
      },
      headers: ['Location', REPEATED_HEADER, ...RATE_LIMIT_HEADERS],
      codes: [
        ...['E003', 'E9002', 'E9003', 'E9006', 'E9007', 'E9016', 'E301', 'E601', 'E002', 'E0001', 'E0002', 'E0003'],
        ...['E0010', 'E203', 'E302', 'E703'],
        ...EVENTOS.map(({ codigo }) => codigo).filter((codigo) => !CODIGOS_DE_OFICIO.has(codigo)),
      ],
      statuses: { E002: [400, 422], E0002: [400, 422] },
      missCost: 1,
      acesso: EVENTO_ASSINADO,
      handle,
    }),
  ),
  defineRoute({
    id: 'listarEventos',
    method: 'GET',
    path: EVENTOS_PATH,
    summary: 'Os eventos de uma nota, do mais novo ao mais antigo.',
    status: 200,
    fields: { total: TOTAL, eventos: EVENTOS_FIELD, status: STATUS },
    headers: ['Retry-After', 'ETag'],
    codes: ['E301', 'E703'],
    missCost: 1,
    acesso: { ...POR_CHAVE, parte: 'os eventos da nota' },
    handle: listAll,
  }),
  defineRoute({
    id: 'listarEventosDoTipo',
    method: 'GET',
    path: '/api/v1/nfse/:chave_acesso/eventos/:tipo_evento',
    summary: 'Os eventos de um tipo, pela sequência.',
    status: 200,
    fields: {
      total: TOTAL,
      tipo_evento: field.text('O tipo pedido.'),
      eventos: EVENTOS_FIELD,
      status: STATUS,
    },
    headers: ['Retry-After', 'ETag'],
    codes: ['E301', 'E601', 'E703'],
    missCost: 1,
    acesso: { ...POR_CHAVE, parte: 'os eventos de um tipo' },
    handle: listOfTipo,
  }),
  defineRoute({
    id: 'consultarEvento',
    method: 'GET',
    path: '/api/v1/nfse/:chave_acesso/eventos/:tipo_evento/:num_seq_evento',
    summary: 'Um evento, pelo tipo e pela sequência.',
    status: 200,
    fields: { evento: field.shape('Evento', 'O evento.'), status: STATUS },
    headers: ['Retry-After', 'ETag'],
    codes: ['E301', 'E601', 'E703'],
    missCost: 1,
    acesso: { ...POR_CHAVE, parte: 'um evento' },
    handle: showOne,
  }),
];
