/** The cells of a table with any separator and any line ends, as the imports read them. */
import { openCsv } from '../../src/documents/csv.ts';
import { unmarkText } from '../../src/documents/write-csv.ts';

export async function cellsOf(file: string): Promise<readonly (readonly string[])[]> {
  const { header, records } = await openCsv(file);
  const rows: (readonly string[])[] = [header];
  for await (const block of records()) {
    for (const record of block.records) if ('cells' in record) rows.push(record.cells.map(unmarkText));
  }
  return rows;
}
