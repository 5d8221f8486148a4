/**
 * Reads the data files of this folder: a head and rows as arrays, converted to typed objects on first use.
 *
 * The reader trusts the files. `scripts/generate-catalogs.ts` writes them against the same row types, so nothing is checked twice. Nothing
 * outside this folder should import it.
 */

/** One data file as `scripts/generate-catalogs.ts` writes it; `null` marks a value that no source states. */
export interface Table {
  readonly fonte: string;
  readonly data: string;
  readonly gerado_por: string;
  readonly colunas: readonly string[];
  readonly linhas: readonly (readonly (string | number | boolean | null)[])[];
}

/** The rows of a table as objects. An empty cell becomes an absent property, never an empty string or `null`. */
export function rowsOf<Row>(table: Table): readonly Row[] {
  const { colunas, linhas } = table;
  return linhas.map((linha) => {
    const row: Record<string, unknown> = {};
    for (let at = 0; at < colunas.length; at++) {
      const cell = linha[at];
      if (cell !== null) row[colunas[at]!] = cell;
    }
    return row as Row;
  });
}

/** The rows by a key; the generator has already checked that it is unique. */
export function byKey<Row>(rows: readonly Row[], key: (row: Row) => string): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [key(row), row]));
}

/** Makes a value at the first call and keeps it: most processes never use most catalogs. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
