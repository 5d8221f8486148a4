/** The addresses of the tokens: request one, list those of a document, revoke one. */

import { refuseMissingToken } from '../../base/http/refusals.ts';
import { refuseAsFlow } from '../../base/http/repetition.ts';
import type { Call } from '../../base/http/route.ts';
import { ESCOPOS } from '../../base/world/token.ts';
import { type FieldsOf, field } from '../../published/openapi/field.ts';
import {
  createToken,
  listTokens,
  revokeToken,
  type SentPedidoDeToken,
  TOKEN_SIGNATURE_HEADER,
  type TokenPublico,
} from './tokens.ts';

export const TOKEN_FIELDS = {
  id: field.text('Identificador do token, pelo qual se revoga; não é segredo.'),
  documento: field.text('CNPJ ou CPF em nome de quem o token pergunta.'),
  escopos: field.texts(`Para que serve: ${Object.keys(ESCOPOS).join(', ')}.`),
  criado_em: field.moment('Quando foi dado.'),
  expira_em: field.moment('Até quando vale.'),
} as const satisfies FieldsOf<TokenPublico>;

function sentBy({ body, headers, shown }: Call): SentPedidoDeToken {
  const assinatura = headers[TOKEN_SIGNATURE_HEADER.toLowerCase()];
  return { body, assinatura: Array.isArray(assinatura) ? assinatura.join(', ') : assinatura, shown };
}

export async function giveToken(call: Call) {
  const given = await createToken(call.world, call.municipio, sentBy(call));
  if ('faults' in given) return refuseAsFlow(given);
  const { token, ...shown } = given;
  return { body: { status: 'OK', token, ...shown } };
}

export async function showTokens(call: Call) {
  const found = await listTokens(call.world, call.municipio, sentBy(call));
  return 'faults' in found ? refuseAsFlow(found) : { body: { status: 'OK', ...found } };
}

export async function endToken(call: Call) {
  const revoked = await revokeToken(call.world, call.municipio, sentBy(call));
  if (revoked === 'not_found') return refuseMissingToken();
  return 'faults' in revoked ? refuseAsFlow(revoked) : { body: { status: 'OK', ...revoked } };
}
