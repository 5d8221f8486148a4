/** The shape of an e-mail address, for every party that may have one (E0148, E0247, E0300). */

/** One `@` between a name and a domain of at least two parts. Whether the address exists nobody asks. */
const EMAIL = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;

/** What is expected, in words for the integrator. */
export const EMAIL_ESPERADO = 'endereço como nome@empresa.com.br';

export function emailIsShaped(email: string): boolean {
  return EMAIL.test(email);
}
