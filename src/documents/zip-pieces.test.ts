/** ZIPs that are made in pieces, read by programs of others. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { makeZipEnd, makeZipPiece, type ZipPiece } from './zip-pieces.ts';

const EM = { date: '2026-11-30', time: '23:59:58', offset: '-03:00' } as const;
const folder = mkdtempSync(path.join(tmpdir(), 'nfse-zip-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const has = (program: string): boolean => spawnSync(program, ['--help']).error === undefined;
const READERS = { unzip: has('unzip'), python: has('python3') };

/** What Python finds: of each entry its name, its date and the SHA-256 of what is in it, or how many there are and the first and last. */
const LIST = `import zipfile, hashlib, json, sys
z = zipfile.ZipFile(sys.argv[1])
names = z.namelist()
some = names if len(names) < 100 else [names[0], names[-1]]
print(json.dumps({'bad': z.testzip(), 'count': len(names),
  'some': [[n, list(z.getinfo(n).date_time), hashlib.sha256(z.read(n)).hexdigest()] for n in some]}))`;

const digest = (bytes: Buffer): string => execFileSync('sha256sum', { input: bytes, encoding: 'utf8' }).split(' ')[0]!;

/** Writes pieces as the file that they are, each at its own offset; between them there may be nothing. */
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

const tested = (file: string): string => execFileSync('unzip', ['-tq', file], { encoding: 'utf8' });
const listed = (file: string) => JSON.parse(execFileSync('python3', ['-c', LIST, file], { encoding: 'utf8' }));

describe('a ZIP in pieces', { skip: !(READERS.unzip && READERS.python) && 'unzip or python3 is not there' }, () => {
  test('is read by others: what deflates, what does not, what is empty, and names with accents', () => {
    const entries = [
      { nome: 'nota.xml', conteudo: Buffer.from('<a>ção</a>'.repeat(500)) },
      { nome: 'ruído.bin', conteudo: randomBytes(3_000) },
      { nome: 'vazio.txt', conteudo: Buffer.alloc(0) },
      { nome: 'leia-me – São João.txt', conteudo: Buffer.from('fim') },
    ];
    const file = write('small.zip', piecesOf([entries.slice(0, 2), [], entries.slice(2, 3), entries.slice(3)]));
    assert.match(tested(file), /No errors/);
    const { bad, count, some } = listed(file);
    assert.deepEqual([bad, count], [null, 4]);
    assert.deepEqual(
      some,
      entries.map(({ nome, conteudo }) => [nome, [2026, 11, 30, 23, 59, 58], digest(conteudo)]),
    );
  });

  test('has more entries than 16 bits count', () => {
    const entries = Array.from({ length: 66_000 }, (_, place) => ({
      nome: `${place}.txt`,
      conteudo: Buffer.from(String(place)),
    }));
    const file = write('many.zip', piecesOf([entries.slice(0, 40_000), entries.slice(40_000)]));
    assert.match(tested(file), /No errors/);
    const { bad, count, some } = listed(file);
    assert.deepEqual([bad, count], [null, 66_000]);
    assert.deepEqual(some[1].slice(0, 3), ['65999.txt', [2026, 11, 30, 23, 59, 58], digest(Buffer.from('65999'))]);
  });

  test('is longer than 32 bits count, also where an entry begins at their end', () => {
    const far = [0, 0xffffffff - 1, 0xffffffff + 4_000, 5 * 1024 ** 3];
    const pieces = far.map((at, place) => {
      const conteudo = Buffer.from(`entrada ${place}`);
      return { ...makeZipPiece([{ nome: `${place}.txt`, conteudo }], at, EM), at };
    });
    // Nothing lies between the pieces, and takes no room on the disk.
    const { bad, some } = listed(write('long.zip', pieces));
    assert.equal(bad, null);
    assert.deepEqual(
      some.map(([nome, , sum]: [string, unknown, string]) => [nome, sum]),
      far.map((_, place) => [`${place}.txt`, digest(Buffer.from(`entrada ${place}`))]),
    );
    assert.match(tested(path.join(folder, 'long.zip')), /No errors/);
  });

  test('without any entry is one', () => {
    assert.deepEqual(listed(write('none.zip', [])), { bad: null, count: 0, some: [] });
  });
});
