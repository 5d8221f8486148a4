/**
 * The party of a nota in its key. A key has, from the ninth position on, 2 and a CNPJ, of which the root counts (D-31). Otherwise it has 1
 * and a CPF behind three zeros.
 */
function partyOf(chave: string): string {
  return chave.slice(8, 8 + (chave[8] === '2' ? 9 : 15));
}

/**
 * Whether a nota replaces one of its own party. The national rules may be mere remarks, and a nota may then name another party's. Such a
 * nota neither waits for that one nor blocks it (D-293).
 */
export function isKeyOfSameParty(chave: string, substituida: string): boolean {
  return partyOf(chave) === partyOf(substituida);
}
