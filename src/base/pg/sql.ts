/** Pieces of SQL made from lists: of words, of columns, and of rows that travel as one array a column. */

/** Fixed words, such as states, as a list in SQL. */
export function quoteWords(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}

/** Form `e.a, e.b`. */
export function listColumns(alias: string, columns: readonly string[]): string {
  return columns.map((column) => `${alias}.${column}`).join(', ');
}

/** Form `e.a = f.a and e.b = f.b`. */
export function equateColumns(one: string, other: string, columns: readonly string[]): string {
  return columns.map((column) => `${one}.${column} = ${other}.${column}`).join(' and ');
}

/** Name and type of a column, as `documento text`, and its value in a row. */
export type ArrayColumn<Row> = readonly [column: string, value: (row: Row, place: number) => unknown];

/** Rows as the relation `x` of a statement, whose parameters for them begin at `$first`. */
export function unnestRows<Row>(columns: readonly ArrayColumn<Row>[], first: number) {
  const named = columns.map(([column]) => column.split(' ') as [name: string, type: string]);
  const names = named.map(([name]) => name);
  const arrays = named.map(([, type], place) => `$${first + place}::${type}[]`);
  return {
    names,
    relation: `unnest(${arrays.join(', ')}) as x (${names.join(', ')})`,
    /** The parameters, an array for each column. */
    valuesOf: (rows: readonly Row[]): unknown[][] => columns.map(([, value]) => rows.map(value)),
  };
}
