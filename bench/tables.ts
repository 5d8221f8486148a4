/** Tables of the terminal. */
export type Row = readonly string[];

export function printRows(rows: readonly Row[]): void {
  const width = Math.max(...rows.map(([name]) => name!.length));
  console.log(rows.map(([name, value]) => `${name!.padEnd(width)}  ${value}`).join('\n'));
}

/** Rows under a head; all columns except the first are figures. */
export function printTable(head: Row, rows: readonly Row[]): void {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)));
  const line = (row: Row): string =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  ');
  console.log([head, ...rows].map(line).join('\n'));
}
