/** The addresses of the national contract below a municipality. */
import { ENVELOPE_NACIONAL_FIELDS, MENSAGEM_NACIONAL } from '../../base/http/envelope-nacional.ts';
import { defineRoute, type Route } from '../../base/http/route.ts';
import { SIMULAR_HEADER } from '../../fiscal/simular.ts';
import { type Acesso, POR_CHAVE, PRESTADOR_ASSINA } from '../../published/acesso.ts';
import { field, orAbsent, type Shape } from '../../published/openapi/field.ts';
import { RATE_LIMIT_HEADERS } from '../../published/openapi/headers.ts';
import { openEmbrulho } from './embrulho.ts';
import {
  askByIdDps,
  DPS_EMBRULHO,
  ESPERA_S,
  issue,
  listEventos,
  PEDIDO_EMBRULHO,
  queryByChave,
  queryByIdDps,
  registerPedido,
  settleIssue,
  settlePedido,
} from './nacional.rest.ts';

const { erros: _all, erro: _first, codigo: _code, mensagem: _text, ...HEAD } = ENVELOPE_NACIONAL_FIELDS;
const CHAVE = field.accessKey('Chave de acesso da NFS-e; não muda mais.');
const ID_DPS = field.text('Identificador da DPS, 45 posições.');
const NFSE = field.text('A NFS-e, em gzip e Base64.');
const EVENTO = field.text('O evento, em gzip e Base64.');
const ALERTAS = field.shape(
  'MensagemNacional[]',
  'O que não impediu e convém saber; também que o ambiente nacional ainda não respondeu.',
);

export const SHAPES_NACIONAIS: Readonly<Record<string, Shape>> = {
  MensagemNacional: MENSAGEM_NACIONAL,
  EnvelopeNacional: ENVELOPE_NACIONAL_FIELDS,
  EventoNacional: {
    chaveAcesso: CHAVE,
    tipoEvento: field.integer('Código nacional do tipo.'),
    numeroPedidoRegistroEvento: field.integer('Sequência entre os eventos do tipo na nota.'),
    dataHoraRecebimento: field.moment('Quando foi registrado.'),
    arquivoXml: EVENTO,
  },
};

const CODIGOS_DE_SEMPRE = ['E003', 'E703'] as const;

/** A small request may hold a large document. */
function weighAs(name: string): (body: Buffer) => number {
  return (body) => {
    const opened = openEmbrulho(body, name);
    return Math.max(body.length, 'xml' in opened ? opened.xml.length : 0);
  };
}

const ASSINADO: Acesso = {
  quem: `${PRESTADOR_ASSINA} da DPS`,
  revela: 'nada',
  estranho: 'o que está errado na assinatura e no documento que enviou, só pelo que ele diz',
  parte: 'a nota; com série e número já usados, a chave da que existe (E0014)',
  custo: 'uma assinatura',
};

const LISTA = {
  ...HEAD,
  eventos: field.shape('EventoNacional[]', 'Os eventos, do mais novo ao mais antigo.'),
  eventoXmlGZipB64: orAbsent(EVENTO),
  alertas: ALERTAS,
};

export const ROTAS_NACIONAIS: readonly Route[] = [
  defineRoute({
    id: 'nacionalEmitirNota',
    isNacional: true,
    method: 'POST',
    path: '/SefinNacional/nfse',
    summary: `Emite a NFS-e de uma DPS como os programas da API nacional a enviam: com dhEmi, em gzip e Base64. Espera até ${ESPERA_S} s pela autorização do ambiente nacional; sem ela, alertas o diz.`,
    reads: [SIMULAR_HEADER],
    takes: ['application/json'],
    sends: { [DPS_EMBRULHO]: field.text('A DPS assinada, em gzip e Base64.') },
    weigh: weighAs(DPS_EMBRULHO),
    quotaCost: 1,
    status: 201,
    fields: { ...HEAD, idDps: ID_DPS, chaveAcesso: CHAVE, nfseXmlGZipB64: NFSE, alertas: ALERTAS },
    headers: ['Location', ...RATE_LIMIT_HEADERS],
    codes: [...CODIGOS_DE_SEMPRE, 'E1831'],
    judges: true,
    acesso: ASSINADO,
    handle: issue,
    settle: settleIssue,
  }),
  defineRoute({
    id: 'nacionalConsultarNota',
    isNacional: true,
    method: 'GET',
    path: '/SefinNacional/nfse/:chave_acesso',
    summary: 'A NFS-e de uma chave de acesso, em gzip e Base64.',
    status: 200,
    fields: {
      ...HEAD,
      chaveAcesso: CHAVE,
      nNFSe: field.text('Número da NFS-e.'),
      dhEmi: field.moment('Emissão, como está na DPS.'),
      nfseXmlGZipB64: NFSE,
      alertas: ALERTAS,
    },
    headers: [],
    codes: ['E301', 'E703', 'E1831'],
    missCost: 1,
    acesso: { ...POR_CHAVE, parte: 'a NFS-e' },
    handle: queryByChave,
  }),
  defineRoute({
    id: 'nacionalConsultarDps',
    isNacional: true,
    method: 'GET',
    path: '/SefinNacional/dps/:id',
    summary: 'A chave de acesso da NFS-e de uma DPS. Em produção, só com certificado ou token de uma parte da nota.',
    status: 200,
    fields: { ...HEAD, idDps: ID_DPS, chaveAcesso: CHAVE },
    headers: [],
    codes: ['E601', 'E703', 'E9003', 'E9006', 'E9007'],
    missCost: 0.1,
    acesso: {
      quem: 'prestador, tomador ou intermediário da nota, pelo certificado na conexão (`--consulta-dps`)',
      revela: 'existencia',
      estranho: 'sem certificado, nada; com o de outro, se há nota da DPS, o que HEAD diz a todos, e nada dela',
      parte: 'a chave de acesso',
    },
    handle: queryByIdDps,
  }),
  defineRoute({
    id: 'nacionalExisteDps',
    isNacional: true,
    method: 'HEAD',
    path: '/SefinNacional/dps/:id',
    summary: 'Diz se há nota de uma DPS: 200 ou 404, sem corpo.',
    status: 200,
    fields: {},
    headers: [],
    codes: ['E601', 'E703'],
    missCost: 0.1,
    acesso: {
      quem: 'qualquer um',
      revela: 'existencia',
      estranho: 'se há nota de um prestador com uma série e um número, e nada dela',
      parte: 'o mesmo',
    },
    handle: askByIdDps,
  }),
  defineRoute({
    id: 'nacionalRegistrarEvento',
    isNacional: true,
    method: 'POST',
    path: '/SefinNacional/nfse/:chave_acesso/eventos',
    summary: `Registra um evento na nota a partir do pedRegEvento assinado, em gzip e Base64. Espera até ${ESPERA_S} s pela decisão do ambiente nacional; sem ela, alertas o diz.`,
    reads: [SIMULAR_HEADER],
    takes: ['application/json'],
    sends: { [PEDIDO_EMBRULHO]: field.text('O pedRegEvento assinado, em gzip e Base64.') },
    weigh: weighAs(PEDIDO_EMBRULHO),
    quotaCost: 1,
    status: 201,
    fields: { ...HEAD, eventoXmlGZipB64: EVENTO, alertas: ALERTAS },
    headers: ['Location', ...RATE_LIMIT_HEADERS],
    codes: [...CODIGOS_DE_SEMPRE, 'E301'],
    missCost: 1,
    acesso: {
      quem: 'a parte da nota que o tipo do evento pede, que assina o pedido',
      revela: 'nada',
      estranho: 'sem assinatura, nada; quem assina com outro certificado e tem a chave sabe se a nota existe',
      parte: 'o evento registrado',
    },
    handle: registerPedido,
    settle: settlePedido,
  }),
  ...(
    [
      ['nacionalListarEventos', '/SefinNacional/nfse/:chave_acesso/eventos', 'Os eventos de uma nota.'],
      [
        'nacionalListarEventosDoTipo',
        '/SefinNacional/nfse/:chave_acesso/eventos/:tipo_evento',
        'Os eventos de um tipo numa nota.',
      ],
      [
        'nacionalConsultarEvento',
        '/SefinNacional/nfse/:chave_acesso/eventos/:tipo_evento/:num_seq_evento',
        'Um evento, pelo tipo e pela sequência.',
      ],
    ] as const
  ).map(([id, path, summary]) =>
    defineRoute({
      id,
      isNacional: true,
      method: 'GET',
      path,
      summary,
      status: 200,
      fields: LISTA,
      headers: [],
      codes: ['E301', 'E601', 'E703'],
      missCost: 1,
      acesso: { ...POR_CHAVE, parte: 'os eventos da nota' },
      handle: listEventos,
    }),
  ),
];
