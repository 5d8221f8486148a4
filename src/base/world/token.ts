/** Tokens that stand for a CNPJ or CPF: a secret that cannot be guessed, stored here as a digest only. */
import { createHash, randomBytes } from 'node:crypto';

/** The permitted uses of a token. No token issues or registers, since binding acts are signed. */
export const ESCOPOS = {
  consultar: 'Listar e consultar notas, eventos e mudanças do documento.',
  webhooks: 'Cadastrar, mudar e retirar endereços de aviso do documento.',
} as const satisfies Readonly<Record<string, string>>;

export type Escopo = keyof typeof ESCOPOS;

/** Prefix by which secret scanners recognise a leaked token. */
const PREFIX = 'nfse_';
const SECRET_BYTES = 32;
const ID_BYTES = 9;

export type NewToken = { readonly id: string; readonly token: string; readonly impressao: Buffer };

export function makeToken(): NewToken {
  const token = PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
  return { id: `tok_${randomBytes(ID_BYTES).toString('base64url')}`, token, impressao: printOfToken(token) };
}

/** SHA-256 of a token as received. */
export function printOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
