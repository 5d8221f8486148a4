/** The one dialect of tables: a Brazilian spreadsheet's reading of the cells, and the exact reading back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc, { anyText } from '../../test/support/seed.ts';
import { openCsv } from './csv.ts';
import { unmarkText, writeCsv } from './write-csv.ts';

const NUMEROS = new Set(['valor']);

async function write(head: readonly string[], ...rows: readonly (readonly string[])[]): Promise<string> {
  return (await Array.fromAsync(writeCsv(head, rows, NUMEROS))).join('');
}

/** The cell of a text, as it stands in the file. */
async function cell(text: string): Promise<string> {
  return (await write(['texto'], [text])).split('\r\n')[1]!;
}

test('a table has a mark of UTF-8, semicolons, CRLF, and decimal commas in the columns of numbers alone', async () => {
  assert.equal(
    await write(['codigo', 'valor'], ['1.01', '1000.00'], ['a;b', '-3.5'], ['diz "x"', '7'], ['', '']),
    '\ufeffcodigo;valor\r\n\'1.01;1000,00\r\n"a;b";-3,5\r\n"diz ""x""";7\r\n;\r\n',
  );
});

/**
 * LibreOffice Calc 7.4 in Brazilian Portuguese reads most of these as a number, a date or a formula; other spreadsheets do so with the
 * rest.
 */
const MISREAD = [
  '35503081211222333000181000000000042226101234567890',
  '01234567890',
  '11222333000181',
  '010101',
  '00001',
  '01.01',
  '12E5',
  '12345678E00015',
  '2026-10-05',
  '2026-10',
  '05/10/2026',
  '2026-10-05 10:15:30',
  '10:15',
  '50%',
  '15 de novembro',
  '2/jul',
  'mar/26',
  '=1+1',
  '+55 11 3333',
  '-x',
  '-5,5',
  '@SOMA(A1)',
];
for (const text of MISREAD) {
  test(`${text} is marked as a text`, async () => assert.equal(await cell(text), `'${text}`));
}

for (const text of [
  'Padaria São João',
  '3M do Brasil Ltda',
  '11.222.333/0001-81',
  '12ABC34501DE35',
  '010101 010201',
  '2026-10-05T10:15:30-03:00',
  'Março Distribuidora',
  'sim',
  '',
]) {
  test(`"${text}" stays as it is`, async () => assert.equal(await cell(text), text));
}

test('any text is read back as it was written', async () => {
  const { mkdtempSync, writeFileSync } = await import('node:fs');
  const file = `${mkdtempSync('/tmp/csv-')}/t.csv`;
  const some = fc.oneof(anyText(), fc.constantFrom(...MISREAD, "'0", "''", "'=x", "'s Gravenhage"));
  // A file has one kind of line end, a cell has none of another kind; a zero byte is refused.
  const text = some
    .map((one) => one.replace(/[\0\r\n\ufeff]/g, ' ').trim())
    .filter((one) => one !== '' && one.isWellFormed());
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 8 }), async (rows) => {
      writeFileSync(file, await write(['a', 'b'], ...rows));
      const cells: string[][] = [];
      for await (const { records } of (await openCsv(file)).records()) {
        for (const one of records)
          cells.push('cells' in one ? one.cells.map((each) => unmarkText(each.trim())) : [one.problem]);
      }
      assert.deepEqual(cells, rows);
    }),
    { numRuns: 300 },
  );
});
