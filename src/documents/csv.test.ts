/** Tables as people export them: correct text is read back, and a broken line spoils no other. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import fc from '../../test/support/seed.ts';
import { type CsvFault, type CsvRecord, openCsv } from './csv.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'nfse-csv-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;

function written(content: string | Buffer): string {
  count += 1;
  const file = path.join(folder, `${count}.csv`);
  writeFileSync(file, content);
  return file;
}

async function recordsOf(content: string | Buffer): Promise<(CsvRecord | CsvFault)[]> {
  const all: (CsvRecord | CsvFault)[] = [];
  for await (const { records } of (await openCsv(written(content))).records()) all.push(...records);
  return all;
}

/** Each line as its cells, or as the text of its problem. */
async function read(content: string | Buffer): Promise<(readonly [number, readonly string[] | string])[]> {
  return (await recordsOf(content)).map((one) => [one.linha, 'cells' in one ? one.cells : one.problem]);
}

describe('a table', () => {
  test('with commas or semicolons, either line end, quotes, and lines that hold line ends', async () => {
    const wanted = [
      [2, ['1', 'dois; três, "quatro"']],
      [3, ['', 'linha\num']],
      [5, ['fim', '']],
    ];
    assert.deepEqual(await read('a,b\n1,"dois; três, ""quatro"""\n,"linha\num"\nfim,'), wanted);
    assert.deepEqual(await read('a;b\r\n1;"dois; três, ""quatro"""\r\n;"linha\num"\r\nfim;\r\n'), wanted);
  });

  test('passes over empty lines and keeps the number of those behind', async () => {
    assert.deepEqual(await read('a,b\n\n , \n1,2\n,\n3,4\n\n'), [
      [4, ['1', '2']],
      [6, ['3', '4']],
    ]);
  });

  test('has a header, without a byte order mark and without the spaces around', async () => {
    const csv = await openCsv(written('\ufeff documento ;"razao_social"\n1;2'));
    assert.deepEqual([csv.header, csv.separador, csv.codificacao], [['documento', 'razao_social'], ';', 'UTF-8']);
  });

  test('is UTF-8, or Latin-1 when it is not: also where a character lies across two blocks', async () => {
    const text = `nome,x\n${'São João, ação\n'.repeat(60_000)}`;
    for (const [encoding, codificacao] of [
      ['utf8', 'UTF-8'],
      ['latin1', 'Latin-1'],
    ] as const) {
      const csv = await openCsv(written(Buffer.from(text, encoding)));
      assert.equal(csv.codificacao, codificacao);
      let lines = 0;
      for await (const { records } of csv.records()) {
        for (const record of records) {
          assert.deepEqual(record, { linha: record.linha, cells: ['São João', ' ação'] });
          lines += 1;
        }
      }
      assert.equal(lines, 60_000);
    }
    // The last byte counts for the encoding too.
    assert.equal((await openCsv(written(Buffer.from('nome\nJosé', 'latin1')))).codificacao, 'Latin-1');
  });

  test('whatever its cells are, they are read back', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'ç', ' ', ',', ';', '"', '\n', '€', '0') });
    const rows = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.constantFrom(',', ';'),
        fc.constantFrom('\n', '\r\n'),
        async (table, separador, end) => {
          const quoted = table.map((cells) => cells.map((one) => `"${one.replaceAll('"', '""')}"`).join(separador));
          const all = await recordsOf(['um', 'dois', 'tres'].join(separador) + end + quoted.join(end));
          const full = table.filter((cells) => cells.some((one) => one.trim() !== ''));
          assert.deepEqual(
            all.map((one) => ('cells' in one ? one.cells : one.problem)),
            full,
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a broken line', () => {
  test('is told with its number, and the others are read', async () => {
    const [first, second, third, fourth, fifth, ...more] = await read(
      'a,b,c\n1,2\n1,2,3,4\n1,Bar "do" Zé,3\n1,"x"y,3\nok,,\n1,2,3,,\n',
    );
    assert.deepEqual([first?.[0], second?.[0], third?.[0], fourth?.[0]], [2, 3, 4, 5]);
    assert.match(String(first?.[1]), /2 campos, e o cabeçalho 3/);
    assert.match(String(second?.[1]), /4 campos.*precisa de aspas/);
    for (const one of [third, fourth]) assert.match(String(one?.[1]), /aspas no meio de um campo/);
    assert.deepEqual(
      [fifth, ...more],
      [
        [6, ['ok', '', '']],
        [7, ['1', '2', '3']],
      ],
    );
  });

  test('whose quotes nobody closes takes no other with it, near the end of the file or far from it', async () => {
    const good = (from: number, to: number): string =>
      Array.from({ length: to - from + 1 }, (_, place) => `${from + place},x,"y"\n`).join('');
    for (const last of [6, 60, 6_000]) {
      const all = await read(`a,b,c\n2,x,y\n3,"aberto,y\n${good(4, last)}`);
      assert.equal(all.length, last - 1);
      const [bad, ...others] = all.filter(([, cells]) => typeof cells === 'string');
      assert.deepEqual([bad?.[0], others.length], [3, 0]);
      assert.match(String(bad?.[1]), /não se fecham/);
      for (const [linha, cells] of all) if (typeof cells !== 'string') assert.equal(cells[0], String(linha));
    }
  });

  test('of any length costs no memory', async () => {
    const all = await read(`a,b\n1,2\n${'x'.repeat(3_000_000)}\n3,"${'y'.repeat(1_000_000)}\n4,5`);
    assert.deepEqual(all[0], [2, ['1', '2']]);
    assert.match(String(all[1]?.[1]), /mais de 65536 caracteres/);
    assert.match(String(all[2]?.[1]), /mais de 65536 caracteres/);
    assert.deepEqual(all[3], [5, ['4', '5']]);
  });
});

test('what is no table is told by its name', async () => {
  const refuses = (content: string | Buffer, problem: RegExp): Promise<void> =>
    assert.rejects(openCsv(written(content)), problem);
  await refuses('', /\d\.csv está vazio/);
  await refuses('\n ;;\n', /está vazio: falta a linha de cabeçalho/);
  await refuses(Buffer.from('\ufeffa,b\n', 'utf16le'), /está em UTF-16/);
  await refuses('a,b\n1,\0', /bytes nulos/);
  await refuses('a,"b\n1,2', /o cabeçalho não pôde ser lido: as aspas/);
  await assert.rejects(openCsv(folder), /é uma pasta/);
  await assert.rejects(openCsv(path.join(folder, 'nada.csv')), /nada\.csv não existe/);
});
