/**
 * `WWW-Authenticate` of a refusal with 401 (RFC 9110, 11.6.1): the proofs of identity that the address takes (D-900). Many clients throw at a
 * 401 without it.
 */
import { type Credencial, credenciaisOf } from '../../published/credenciais.ts';
import type { Municipio } from '../book/municipios.ts';
import { tokenIn } from './caller.ts';
import type { HttpRequest } from './message.ts';
import type { Route } from './route.ts';

type Headers = Readonly<Record<string, string>>;

/** `codigo`: of the refusal, which says what is wrong with a token that came. */
export function challengeOf(route: Route, { tenant }: Municipio, request: HttpRequest, codigo: string): Headers {
  const error = tokenIn(request) === undefined ? undefined : errorOf(route, codigo);
  return challengeBy(credenciaisOf(route).map((one) => writeCredencial(one, tenant, error)));
}

/** RFC 6750, 3.1. A token of another party, or without the scope, is good elsewhere. */
function errorOf({ asksOwner }: Route, codigo: string): string {
  return codigo === 'E9007' && !asksOwner ? 'insufficient_scope' : 'invalid_token';
}

function writeCredencial(credencial: Credencial, realm: string, error: string | undefined): string {
  switch (credencial.por) {
    case 'assinatura':
      return write('Assinatura', { realm, cabecalho: credencial.cabecalho });
    case 'certificado':
      return write('Certificado', { realm });
    default:
      return write('Bearer', { realm, ...(error === undefined ? {} : { error }) });
  }
}

/** The challenge of a page: the form at `action` gives a cookie, by which later requests are known. */
export function challengeByForm(realm: string, action: string): Headers {
  return challengeBy([write('Cookie', { realm, 'form-action': action })]);
}

function write(scheme: string, params: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(params).map(([name, value]) => `${name}="${value}"`);
  return `${scheme} ${pairs.join(', ')}`;
}

function challengeBy(challenges: readonly string[]): Headers {
  return { 'WWW-Authenticate': challenges.join(', ') };
}
