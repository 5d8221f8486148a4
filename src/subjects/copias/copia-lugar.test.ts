/** The folder of copies: names of copies that begin in the same second, and unfinished copies of another machine. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { beginCopia, type Dito, listCopias, publishCopia } from './lugar.files.ts';

const SISTEMA = '7123456789012345678';
/** The other fields of a manifest do not affect the name. */
const ABOUT: Omit<Dito, 'programa' | 'concluida'> = {
  formato: 1,
  sistema: SISTEMA,
  linha: 1,
  inicio: '0/2000028',
  fim: '0/2000158',
  versao: '15.14 (Debian 15.14-0+deb12u1)',
  segmento: 2 ** 24,
  iniciada: '2026-11-29T15:58:39.120Z',
  migracoes: [],
  banco: 'nfse',
  usuario: 'nfse',
  arquiva: true,
  embutido: true,
  cifrada: false,
  rotulo: null,
  bytes: 0,
  arquivos: [],
  recusas: [],
};

async function folder(): Promise<string> {
  const pasta = await mkdtemp(path.join(tmpdir(), 'nfse-copias-'));
  onEnd(() => rm(pasta, { recursive: true }));
  return pasta;
}

/** An unfinished copy of another machine, which has its own turn. */
async function otherMachine(
  pasta: string,
  programa: string,
): Promise<{ readonly made: string; readonly programa: string }> {
  const made = path.join(pasta, SISTEMA, 'copias', `.fazendo-outra-maquina-${programa.replaceAll(' ', '-')}`);
  await mkdir(made, { recursive: true });
  return { made, programa };
}

test('copies that began in the same second are all there, each under a name of its own', async () => {
  const pasta = await folder();
  const programs = Array.from({ length: 12 }, (_, place) => `programa ${place}`);
  const ids: string[] = [];
  for (const programa of programs.slice(0, 4)) {
    const fresh = await beginCopia(pasta, SISTEMA);
    ids.push((await publishCopia(fresh, { ...ABOUT, programa, concluida: '2026-11-29T15:58:39.500Z' })).manifesto.id);
  }
  assert.deepEqual(ids, ['20261129T155839Z', '20261129T155839Z-2', '20261129T155839Z-3', '20261129T155839Z-4']);
  // Copies of several machines, whose turns are independent.
  const fresh = await Promise.all(programs.slice(4).map((programa) => otherMachine(pasta, programa)));
  await Promise.all(
    fresh.map(({ made, programa }) =>
      publishCopia(made, { ...ABOUT, programa, concluida: '2026-11-29T15:58:40.000Z' }),
    ),
  );
  const { copias, problemas } = await listCopias(pasta);
  assert.deepEqual(problemas, []);
  assert.deepEqual(copias.map(({ manifesto }) => manifesto.programa).toSorted(), programs.toSorted());
  for (const { pasta: own, manifesto } of copias) {
    assert.equal(path.basename(own), manifesto.id);
    assert.equal(JSON.parse(await readFile(path.join(own, 'manifesto.json'), 'utf8')).programa, manifesto.programa);
  }
});

test('a manifest that leads elsewhere, or names what no server has, is none', async () => {
  const pasta = await folder();
  const fresh = await beginCopia(pasta, SISTEMA);
  const { pasta: own } = await publishCopia(fresh, { ...ABOUT, programa: 'a', concluida: ABOUT.iniciada });
  assert.equal((await listCopias(pasta)).copias.length, 1);
  const file = path.join(own, 'manifesto.json');
  const whole = JSON.parse(await readFile(file, 'utf8'));
  const arquivo = { nome: 'base.tar.gz', bytes: 0, sha256: 'ab'.repeat(32) };
  const harms: readonly object[] = [
    { sistema: '../../../etc' },
    { sistema: '7123456789012345679' },
    { versao: '/tmp/mau' },
    { segmento: 1 },
    { segmento: 1e300 },
    { linha: -1 },
    { inicio: 'x/y' },
    { concluida: 'nunca' },
    { bytes: '1' },
    { banco: '--config-file=/tmp/mau' },
    { usuario: null },
    { arquivos: [{ ...arquivo, nome: '../../../../etc/passwd' }] },
    { arquivos: [{ ...arquivo, sha256: undefined }] },
    { arquivos: [null] },
    { arquivos: {} },
  ];
  for (const harm of harms) {
    await writeFile(file, JSON.stringify({ ...whole, ...harm }));
    const { copias, problemas } = await listCopias(pasta);
    assert.deepEqual([copias.length, problemas.length], [0, 1], JSON.stringify(harm));
    assert.match(problemas[0]!, /manifesto\.json está danificado/, JSON.stringify(harm));
  }
  await writeFile(file, JSON.stringify({ ...whole, arquivos: [arquivo] }));
  await symlink('/dev/zero', path.join(own, 'base.tar.gz'));
  assert.match((await listCopias(pasta)).problemas[0]!, /base\.tar\.gz não é um arquivo comum/);
  await rm(file);
  await symlink('/dev/zero', file);
  assert.match((await listCopias(pasta)).problemas[0]!, /manifesto\.json está danificado, ou não pôde ser lido/);
});

test('what another machine is making stays for a day, and what this one left is swept', async () => {
  const pasta = await folder();
  const { made: theirs } = await otherMachine(pasta, 'a');
  const { made: abandoned } = await otherMachine(pasta, 'b');
  const longAgo = (Date.now() - 86_400_000 - 60_000) / 1_000;
  await utimes(abandoned, longAgo, longAgo);
  const left = await beginCopia(pasta, SISTEMA);
  const own = await beginCopia(pasta, SISTEMA);
  const names = await readdir(path.dirname(own));
  assert.deepEqual(names.toSorted(), [theirs, own].map((one) => path.basename(one)).toSorted());
  assert.equal(left, own);
});
