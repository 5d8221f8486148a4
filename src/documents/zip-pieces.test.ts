/** ZIPs made in pieces, read by independent programs. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeZipEnd, makeZipPiece, type ZipPiece } from './zip-pieces.ts';

const EM = { date: '2026-11-30', time: '23:59:58', offset: '-03:00' } as const;
const folder = mkdtempSync(path.join(tmpdir(), 'nfse-zip-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const has = (program: string): boolean => spawnSync(program, ['--help']).error === undefined;
const READERS = { unzip: has('unzip'), python: has('python3') };

/**
 * The findings of Python in each file: a damaged entry if any, the number of entries, and the name, date and SHA-256 of entries. Python
 * reads only the first and the last entry of a long file; `unzip` reads all of them.
 */
const LIST = `import zipfile, hashlib, json, sys
def look(file):
  z = zipfile.ZipFile(file)
  names = z.namelist()
  isLong = len(names) >= 100
  some = [names[0], names[-1]] if isLong else names
  return {'bad': None if isLong else z.testzip(), 'count': len(names),
    'some': [[n, list(z.getinfo(n).date_time), hashlib.sha256(z.read(n)).hexdigest()] for n in some]}
print(json.dumps([look(file) for file in sys.argv[1:]]))`;
type Found = {
  readonly bad: string | null;
  readonly count: number;
  readonly some: readonly (readonly [nome: string, date: readonly number[], digest: string])[];
};

/** Writes pieces into one file, each at its own offset; gaps between them stay empty. */
function write(name: string, pieces: readonly (ZipPiece & { readonly at: number })[]): string {
  const file = path.join(folder, name);
  const out = openSync(file, 'w');
  let bytes = 0;
  for (const { conteudo, at } of pieces) {
    writeSync(out, conteudo, 0, conteudo.length, at);
    bytes = at + conteudo.length;
  }
  const diretorio = Buffer.concat(pieces.map((piece) => piece.diretorio));
  const entradas = pieces.reduce((sum, piece) => sum + piece.entradas, 0);
  const rest = Buffer.concat([diretorio, makeZipEnd({ entradas, bytes, diretorio: diretorio.length })]);
  writeSync(out, rest, 0, rest.length, bytes);
  closeSync(out);
  return file;
}

function piecesOf(all: readonly (readonly { readonly nome: string; readonly conteudo: Buffer }[])[]) {
  let at = 0;
  return all.map((entries) => {
    const piece = { ...makeZipPiece(entries, at, EM), at };
    at += piece.conteudo.length;
    return piece;
  });
}

const SMALL = [
  { nome: 'nota.xml', conteudo: Buffer.from('<a>ção</a>'.repeat(500)) },
  { nome: 'ruído.bin', conteudo: randomBytes(3_000) },
  { nome: 'vazio.txt', conteudo: Buffer.alloc(0) },
  { nome: 'leia-me – São João.txt', conteudo: Buffer.from('fim') },
  { nome: 'curto.txt', conteudo: Buffer.from('aaaa') },
];
const MANY = Array.from({ length: 66_000 }, (_, place) => ({
  nome: `${place}.txt`,
  // The content is too short to be deflated, which would take most of the time.
  conteudo: Buffer.from(String(place % 10_000)),
}));
const FAR = [0, 0xffffffff - 1, 0xffffffff + 4_000, 5 * 1024 ** 3];

describe('a ZIP in pieces', { skip: !(READERS.unzip && READERS.python) && 'unzip or python3 is not there' }, () => {
  let [small, many, long, none]: readonly Found[] = [];

  before(() => {
    const far = FAR.map((at, place) => {
      const conteudo = Buffer.from(`entrada ${place}`);
      return { ...makeZipPiece([{ nome: `${place}.txt`, conteudo }], at, EM), at };
    });
    const files = [
      write('small.zip', piecesOf([SMALL.slice(0, 2), [], SMALL.slice(2, 3), SMALL.slice(3)])),
      write('many.zip', piecesOf([MANY.slice(0, 40_000), MANY.slice(40_000)])),
      // The gaps between the pieces take no room on the disk.
      write('long.zip', far),
      write('none.zip', []),
    ];
    // Python starts without third-party packages.
    const found = execFileSync('python3', ['-I', '-S', '-c', LIST, ...files], { encoding: 'utf8' });
    [small, many, long, none] = JSON.parse(found);
  });

  const assertWhole = (name: string): void =>
    assert.match(execFileSync('unzip', ['-tq', path.join(folder, name)], { encoding: 'utf8' }), /No errors/);

  test('is read by others: what deflates, what does not, what is empty, and names with accents', () => {
    assertWhole('small.zip');
    assert.deepEqual([small!.bad, small!.count], [null, 5]);
    assert.deepEqual(
      small!.some,
      SMALL.map(({ nome, conteudo }) => [nome, [2026, 11, 30, 23, 59, 58], hash('sha256', conteudo)]),
    );
  });

  test('has more entries than 16 bits count', () => {
    assertWhole('many.zip');
    assert.equal(many!.count, 66_000);
    assert.deepEqual(many!.some[1], ['65999.txt', [2026, 11, 30, 23, 59, 58], hash('sha256', '5999')]);
  });

  test('is longer than 32 bits count, also where an entry begins at their end', () => {
    assert.equal(long!.bad, null);
    assert.deepEqual(
      long!.some.map(([nome, , sum]) => [nome, sum]),
      FAR.map((_, place) => [`${place}.txt`, hash('sha256', `entrada ${place}`)]),
    );
    assertWhole('long.zip');
  });

  test('without any entry is one', () => {
    assert.deepEqual(none, { bad: null, count: 0, some: [] });
  });
});
