/**
 * Where the party of a nota stands in its key: from the ninth position on a key has 2 and a CNPJ, of which the root counts (D-31), or 1 and a
 * CPF behind three zeros.
 */
function partyOf(chave: string): string {
  return chave.slice(8, 8 + (chave[8] === '2' ? 9 : 15));
}

/**
 * Whether what a nota replaces is its own party's. A nota that names another party's, where the national rules are remarks, neither waits for
 * that one nor stands in its way (D-307).
 */
export function isSameParty(chave: string, substituida: string): boolean {
  return partyOf(chave) === partyOf(substituida);
}
