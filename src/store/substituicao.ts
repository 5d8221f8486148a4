/**
 * Of two keys, whether they are of one party: from the ninth position on a key has 2 and a CNPJ, of which the root counts
 * (D-31), or 1 and a CPF behind three zeros.
 */
const party = (chave: string): string => `substr(${chave}, 9, case substr(${chave}, 9, 1) when '2' then 9 else 15 end)`;

/**
 * Condition in SQL: what the nota of an alias replaces is its own party's. A nota that names another party's, where the national rules are
 * remarks, neither waits for that one nor stands in its way (D-307).
 */
export const replacesOwn = (nota: string): string => `${party(`${nota}.chave_acesso`)} = ${party(`${nota}.substitui`)}`;
