/** Slugs of municipalities: the form, and those that the service keeps for itself. */
import { SANDBOX_SLUG } from '../../fiscal/ambiente.ts';

/** First segments of the service's own addresses, present and possible future ones. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set(
  'admin api assets console docs erros favicon health login logout metrics nfse openapi public soap static status wsdl'.split(
    ' ',
  ),
);

/** The column has the same check. */
const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

/** Reason why a slug is invalid for a municipality, in Portuguese. */
export function slugProblem(slug: string): string | undefined {
  if (!isSlug(slug)) {
    return `O endereço "${slug}" não serve: use de 1 a 63 letras minúsculas sem acento, dígitos e hífen, começando por letra ou dígito. Exemplo: sao-paulo.`;
  }
  if (slug === SANDBOX_SLUG)
    return `${SANDBOX_SLUG} é o ambiente de integração, que já existe; escolha outro endereço.`;
  return RESERVED_SLUGS.has(slug) ? `O endereço ${slug} é reservado ao serviço; escolha outro.` : undefined;
}
