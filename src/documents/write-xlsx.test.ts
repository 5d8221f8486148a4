/** Spreadsheets as other programs open them: SheetJS for the cells, and Python for the ZIP and its XML. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { type CellObject, read, type WorkBook } from '@e965/xlsx';
import { freshFolder } from '../../test/support/openssl.ts';
import fc, { anyText } from '../../test/support/seed.ts';
import { type ColunaXlsx, writeXlsx } from './write-xlsx.ts';

const COLUNAS = [
  { titulo: 'Chave', tipo: 'texto' },
  { titulo: 'Dia', tipo: 'data' },
  { titulo: 'Momento', tipo: 'momento' },
  { titulo: 'Número', tipo: 'numero' },
  { titulo: 'Valor', tipo: 'valor' },
  { titulo: 'Alíquota', tipo: 'percentual' },
] as const satisfies readonly ColunaXlsx[];
const TEXTO = [COLUNAS[0]];

async function* each<Row>(rows: readonly Row[]): AsyncGenerator<Row> {
  yield* rows;
}

async function write(colunas: readonly ColunaXlsx[], rows: readonly (readonly string[])[], rowsMax?: number) {
  const file = path.join(freshFolder(), 't.xlsx');
  await writeXlsx(file, { nome: 'Notas', colunas }, each(rows), rowsMax);
  return file;
}

const open = (file: string): WorkBook => read(readFileSync(file), { cellNF: true, cellFormula: true });

/** The cell of a text alone, below the head. */
async function cellOf(text: string): Promise<CellObject | undefined> {
  return open(await write(TEXTO, [[text]])).Sheets['Notas']!['A2'];
}

test('keys are texts, days and amounts are values, in the formats of Brazil', async () => {
  const chave = '35503081211222333000181000000000042226101234567890';
  const row = [chave, '2026-11-30', '2026-11-30T18:00:00-03:00', '4711', '1234567.89', '2.01'];
  const book = open(await write(COLUNAS, [row]));
  const sheet = book.Sheets['Notas']!;
  const cells = [...'ABCDEF'].map((column) => sheet[`${column}2`] as CellObject);
  // Programs of spreadsheets show 46023 as 2026-01-01, and 2026-11-30 is the day 334 of its year.
  assert.deepEqual(
    cells.map(({ t, v }) => [t, v]),
    [
      ['s', chave],
      ['n', 46356],
      ['n', 46356.75],
      ['n', 4711],
      ['n', 1234567.89],
      ['n', 0.0201],
    ],
  );
  assert.deepEqual(
    cells.map(({ z }) => z),
    ['@', 'dd/mm/yyyy', 'dd/mm/yyyy\\ hh:mm:ss', '0', '#,##0.00', '0.00%'],
  );
  assert.deepEqual(
    [...'ABCDEF'].map((column) => sheet[`${column}1`].v),
    COLUNAS.map(({ titulo }) => titulo),
  );
});

test('a number that a spreadsheet would round, and what is none, stay texts; an empty cell is absent', async () => {
  const sheet = open(await write(COLUNAS, [['', 'ontem', '', '9007199254740993', '123456789012345.67', '']])).Sheets[
    'Notas'
  ]!;
  assert.deepEqual(
    [...'ABCDEF'].map((column) => sheet[`${column}2`] && [sheet[`${column}2`].t, sheet[`${column}2`].v]),
    [undefined, ['s', 'ontem'], undefined, ['s', '9007199254740993'], ['s', '123456789012345.67'], undefined],
  );
});

for (const text of [
  '=1+1',
  '=HYPERLINK("http://exemplo.com","clique")',
  '+55 11 3333',
  '-5,5',
  "@SOMA(A1)'",
  '=cmd|/C calc!A0',
  '\tx',
  '\rx',
  "'x",
  '</t></is></c><c r="B2"><f>1+1</f></c>',
  ']]>&amp;<!--',
  '_x0041_',
  '_x005F_x0041_',
  '01234567890',
  '  de lado  ',
  'linha 1\nlinha 2',
]) {
  test(`${JSON.stringify(text)} is that text, and no formula`, async () => {
    const cell = await cellOf(text);
    assert.deepEqual([cell?.t, cell?.v, cell?.f], ['s', text, undefined]);
  });
}

test('any text of the layout is read back as it was written, from a ZIP and XML that others read', async () => {
  // Line ends are one in XML, and characters that XML lacks are replaced.
  const text = anyText().map((one) => one.replace(/[\p{Cc}\p{Cn}\u2028\u2029]/gu, ' '));
  const some = text.filter((one) => one !== '' && one.isWellFormed());
  await fc.assert(
    fc.asyncProperty(fc.array(some, { minLength: 1, maxLength: 20 }), async (texts) => {
      const file = await write(
        TEXTO,
        texts.map((one) => [one]),
      );
      const sheet = open(file).Sheets['Notas']!;
      assert.deepEqual(
        texts.map((_, at) => sheet[`A${at + 2}`].v),
        texts,
      );
    }),
    { numRuns: 50 },
  );
});

const PARSE_ALL = `import sys, zipfile, xml.etree.ElementTree as tree
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
for name in z.namelist(): tree.fromstring(z.read(name))
print('\\n'.join(sorted(z.namelist())))`;
const FRAME = ['[Content_Types].xml', '_rels/.rels', 'xl/_rels/workbook.xml.rels', 'xl/styles.xml', 'xl/workbook.xml'];

test('rows beyond the last of a sheet stand in the next one, each with the head; a table without rows has its head', async () => {
  const rows = Array.from({ length: 7 }, (_, at) => [String(at)]);
  for (const [given, sheets] of [
    [rows, { Notas: ['0', '1', '2'], 'Notas (2)': ['3', '4', '5'], 'Notas (3)': ['6'] }],
    [rows.slice(0, 6), { Notas: ['0', '1', '2'], 'Notas (2)': ['3', '4', '5'] }],
    [[], { Notas: [] }],
  ] as const) {
    const file = await write(TEXTO, given, 4);
    const book = open(file);
    const read = book.SheetNames.map((name) => {
      const column = Object.entries(book.Sheets[name]!).filter(([place]) => /^A\d+$/.test(place));
      return [name, column.map(([, cell]) => (cell as CellObject).v)];
    });
    assert.deepEqual(
      read,
      Object.entries(sheets).map(([name, values]) => [name, ['Chave', ...values]]),
    );
    const parts = execFileSync('python3', ['-c', PARSE_ALL, file], { encoding: 'utf8' }).trim().split('\n');
    const named = Object.keys(sheets).map((_, at) => `xl/worksheets/sheet${at + 1}.xml`);
    assert.deepEqual(parts, [...FRAME, ...named]);
  }
});

test('the error of the rows is that of the file, wherever it comes; so is a folder that is gone', {
  timeout: 20_000,
}, async () => {
  for (const good of [0, 1, 5_000]) {
    const rows = async function* () {
      for (let at = 0; at < good; at += 1) yield [`${at} ${'x'.repeat(100)}`];
      throw new Error('the database is gone');
    };
    const file = path.join(freshFolder(), 't.xlsx');
    await assert.rejects(writeXlsx(file, { nome: 'Notas', colunas: TEXTO }, rows()), /the database is gone/);
  }
  const nowhere = path.join(freshFolder(), 'nada', 't.xlsx');
  const endless = async function* () {
    for (;;) yield ['x'.repeat(1_000)];
  };
  await assert.rejects(writeXlsx(nowhere, { nome: 'Notas', colunas: TEXTO }, endless()), /ENOENT/);
  assert.ok(!existsSync(nowhere));
});
