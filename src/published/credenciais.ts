/**
 * The proofs of identity that an address takes. The challenges of a refusal with 401 and the public description name the same ones (D-900).
 */
import { DPS_SIGNATURE_HEADER, EVENTO_SIGNATURE_HEADER } from '../base/world/sent-documents.ts';
import { errorOf } from '../fiscal/errors.ts';
import { TOKEN_SIGNATURE_HEADER } from '../subjects/partes/tokens.ts';
import type { DescribedRoute } from './openapi/described.ts';

/** `assinatura`: the header with the signature of the body. */
export type Credencial =
  | { readonly por: 'token' | 'chave_do_ambiente' | 'certificado' }
  | { readonly por: 'assinatura'; readonly cabecalho: string };

const TOKEN: Credencial = { por: 'token' };
const CERTIFICADO: Credencial = { por: 'certificado' };
const SIGNATURE_HEADERS: readonly string[] = [DPS_SIGNATURE_HEADER, EVENTO_SIGNATURE_HEADER, TOKEN_SIGNATURE_HEADER];

type Asked = Pick<DescribedRoute, 'method' | 'codes' | 'reads' | 'asksOwner'>;

/** Any one of them suffices. Empty: the address asks for none. */
export function credenciaisOf({ method, codes, reads = [], asksOwner }: Asked): readonly Credencial[] {
  if (asksOwner) return [{ por: 'chave_do_ambiente' }];
  if (method === 'HEAD' || !codes.some((codigo) => errorOf(codigo)?.status === 401)) return [];
  const cabecalho = reads.find((name) => SIGNATURE_HEADERS.includes(name));
  if (cabecalho === undefined) return [TOKEN, CERTIFICADO];
  const signature: Credencial = { por: 'assinatura', cabecalho };
  return cabecalho === TOKEN_SIGNATURE_HEADER ? [signature, CERTIFICADO] : [signature];
}
