/** The routes of one party: its tokens, its notes and events, and their changes. */

import { defineRoute, type Route } from '../../base/http/route.ts';
import { ESCOPOS } from '../../base/world/token.ts';
import { type Acesso, PELO_DONO } from '../../published/acesso.ts';
import { field, orAbsent, STATUS } from '../../published/openapi/field.ts';
import {
  EVENTOS_DA_PARTE_FIELDS,
  EVENTOS_PARAMS,
  followMudancas,
  LISTA_FIELDS,
  LISTA_PARAMS,
  listEventosDaParte,
  listNotas,
  MUDANCAS_FIELDS,
  MUDANCAS_PARAMS,
} from './listas.rest.ts';
import { endToken, giveToken, showTokens, TOKEN_FIELDS } from './tokens.rest.ts';
import { PEDIDO_MAX_MINUTES, TOKEN_SIGNATURE_HEADER, VALIDADE_DIAS_MAX } from './tokens.ts';

/** Codes of a party's answer: no certificate and no token, no valid token, another party's data. */
export const PARTE_CODES = ['E9003', 'E9006', 'E9007'] as const;
const SIGNED_CODES = ['E9002', ...PARTE_CODES] as const;
export const CAMPOS_CODES = ['E003', 'E002', 'E0002'] as const;
export const AS_400 = { E002: [400], E0002: [400] } as const;
/** A request by an unrecognised caller counts as any other miss. */
export const ASK_COST = 0.1;
/** Verifying a signature costs as much as a validation. */
const TOKEN_QUOTA_COST = 0.1;

const SIGNED_FIELDS = {
  documento: field.text('CNPJ ou CPF em nome de quem se pede.'),
  acao: orAbsent(field.choice(['criar', 'listar', 'revogar'], 'O que se pede; obrigatório num pedido assinado.')),
  municipio: orAbsent(field.text('O município deste endereço; obrigatório num pedido assinado.')),
  ambiente: orAbsent(
    field.choice(['producao', 'homologacao'], 'O ambiente do município; obrigatório num pedido assinado.'),
  ),
  emitido_em: orAbsent(
    field.moment(`Quando foi assinado; vale por ${PEDIDO_MAX_MINUTES} minutos. Obrigatório num pedido assinado.`),
  ),
  pedido: orAbsent(
    field.text('Um texto só deste pedido, como um UUID: serve uma vez. Obrigatório num pedido assinado.'),
  ),
} as const;

const BY_SIGNATURE = `Em produção o corpo vem assinado em ${TOKEN_SIGNATURE_HEADER}, ou a conexão traz o certificado do dono do documento; na integração nem um nem outro é preciso.`;

const TOKEN_ROW = {
  method: 'POST',
  reads: [TOKEN_SIGNATURE_HEADER],
  takes: ['application/json'],
  quotaCost: TOKEN_QUOTA_COST,
  headers: ['RateLimit-Policy', 'RateLimit'],
  missCost: 1,
} as const;

const DO_TOKEN: Omit<Acesso, 'parte'> = {
  quem: 'o dono do documento, que assina o pedido ou mostra o certificado na conexão',
  revela: 'nada',
  estranho: 'só o que está errado no pedido ou na assinatura que enviou',
  custo: 'uma assinatura',
};

export const ROTAS_DA_PARTE: readonly Route[] = [
  defineRoute({
    ...TOKEN_ROW,
    id: 'pedirToken',
    path: '/api/v1/token',
    summary: `Dá um token para um CNPJ ou CPF, que pergunta com ele sem certificado, em Authorization: Bearer. Nenhum token emite nem registra. ${BY_SIGNATURE}`,
    sends: {
      ...SIGNED_FIELDS,
      escopos: orAbsent(
        field.texts(
          `Para que serve; sem ele, consultar. ${Object.entries(ESCOPOS)
            .map(([nome, about]) => `${nome}: ${about}`)
            .join(' ')}`,
        ),
      ),
      validade_dias: orAbsent(field.integer(`Por quantos dias vale, de 1 a ${VALIDADE_DIAS_MAX}; sem ele, 30.`)),
    },
    status: 201,
    fields: { status: STATUS, token: field.text('O token, que só esta resposta mostra.'), ...TOKEN_FIELDS },
    codes: [...CAMPOS_CODES, ...SIGNED_CODES, 'E703'],
    statuses: { ...AS_400, E703: [409, 429] },
    acesso: { ...DO_TOKEN, parte: 'o token, esta única vez' },
    handle: giveToken,
  }),
  defineRoute({
    ...TOKEN_ROW,
    id: 'listarTokens',
    path: '/api/v1/token/lista',
    summary: `Os tokens em vigor de um documento, sem o segredo deles. ${BY_SIGNATURE}`,
    sends: SIGNED_FIELDS,
    status: 200,
    fields: { status: STATUS, tokens: field.shape('Token[]', 'Do mais novo ao mais antigo.') },
    codes: [...CAMPOS_CODES, ...SIGNED_CODES],
    statuses: AS_400,
    acesso: { ...DO_TOKEN, parte: 'os tokens em vigor, sem o segredo' },
    handle: showTokens,
  }),
  defineRoute({
    ...TOKEN_ROW,
    id: 'revogarToken',
    path: '/api/v1/token/revogacao',
    summary: `Revoga um token: desta resposta em diante ninguém entra com ele, em nenhum processo. ${BY_SIGNATURE}`,
    sends: { ...SIGNED_FIELDS, id: field.text('O id do token.') },
    status: 200,
    fields: { status: STATUS, id: field.text('O id do token.'), revogado_em: field.moment('Desde quando não vale.') },
    codes: [...CAMPOS_CODES, ...SIGNED_CODES, 'E601'],
    statuses: AS_400,
    acesso: { ...DO_TOKEN, parte: 'que foi revogado' },
    handle: endToken,
  }),
  defineRoute({
    id: 'listarNotas',
    method: 'GET',
    path: '/api/v1/notas',
    summary:
      'As notas de um CNPJ ou CPF, como prestador, tomador ou intermediário, sem o XML. Só para o dono do documento, com token ou certificado. Com Accept: text/csv ou application/x-ndjson vêm todas de uma vez, do cursor em diante.',
    query: LISTA_PARAMS,
    status: 200,
    fields: { status: STATUS, ...LISTA_FIELDS },
    headers: ['ETag', 'Content-Disposition'],
    codes: ['E003', 'E0002', 'E0003', ...PARTE_CODES],
    statuses: { E0002: [400] },
    missCost: ASK_COST,
    asksToken: true,
    acesso: { ...PELO_DONO, parte: 'as notas de que o documento é parte, sem o XML' },
    handle: listNotas,
  }),
  defineRoute({
    id: 'listarEventosDaParte',
    method: 'GET',
    path: '/api/v1/eventos',
    summary:
      'Os eventos das notas de um CNPJ ou CPF. Só para o dono do documento, com token ou certificado. Com Accept: text/csv ou application/x-ndjson vêm todos de uma vez, do cursor em diante.',
    query: EVENTOS_PARAMS,
    status: 200,
    fields: { status: STATUS, ...EVENTOS_DA_PARTE_FIELDS },
    headers: ['ETag', 'Content-Disposition'],
    codes: ['E003', 'E0002', 'E0003', ...PARTE_CODES],
    statuses: { E0002: [400] },
    missCost: ASK_COST,
    asksToken: true,
    acesso: { ...PELO_DONO, parte: 'os eventos dessas notas' },
    handle: listEventosDaParte,
  }),
  defineRoute({
    id: 'seguirMudancas',
    method: 'GET',
    path: '/api/v1/mudancas',
    summary:
      'O que mudou nas notas e nos eventos de um CNPJ ou CPF, na ordem em que se conta a todos: quem guarda o cursor não perde nenhuma mudança e não recebe nenhuma duas vezes. Com espera, a resposta vem com a primeira mudança. Com Accept: application/x-ndjson, uma mudança por linha, e o cursor em X-Cursor.',
    query: MUDANCAS_PARAMS,
    status: 200,
    fields: { status: STATUS, ...MUDANCAS_FIELDS },
    headers: ['X-Cursor', 'X-Mais'],
    codes: ['E003', 'E0002', 'E0003', ...PARTE_CODES],
    statuses: { E0002: [400] },
    missCost: ASK_COST,
    asksToken: true,
    acesso: { ...PELO_DONO, parte: 'o que mudou nessas notas e eventos' },
    handle: followMudancas,
  }),
];
