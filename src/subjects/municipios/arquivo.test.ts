/** Damaged files of a municipality and their messages. `src/subjects/municipios/mudanca.maquina.test.ts` tests whole ones. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { TAR_END, tarFile } from '../../documents/tar.ts';
import { checkArquivo, manifestoOf } from './arquivo.ts';

const COLUNA = { nome: 'id', tipo: 'bigint' };
const MANIFESTO = manifestoOf({
  municipio: 'cidade',
  ambiente: 'homologacao',
  codigo_ibge: null,
  fechado: true,
  em: '2026-11-21T12:00:00Z',
  esquema: ['001-municipios.sql'],
  meses: [202611],
  tabelas: [{ nome: 'notas', isOfTenant: true, colunas: [COLUNA], chave: [COLUNA] }],
});
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const CONFERENCIA = { tabelas: [{ nome: 'notas', linhas: 0, sha256: EMPTY }] };

let folder = '';
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'nfse-arquivo-'));
});
after(() => rm(folder, { recursive: true, force: true }));

async function check(manifesto: unknown, conferencia: unknown = CONFERENCIA): Promise<void> {
  const file = path.join(folder, 'x.nfse');
  const entries = Object.entries({ 'municipio.json': manifesto, 'conferencia.json': conferencia });
  const pieces = entries.flatMap(([name, value]) => [...tarFile(name, Buffer.from(JSON.stringify(value)), 0)]);
  await writeFile(file, zstdCompressSync(Buffer.concat([...pieces, TAR_END])));
  return checkArquivo(file, () => undefined);
}

test('what is written is read', () => check(MANIFESTO));

test('what says of itself something else than we write was damaged, and is told so', async () => {
  const damaged: readonly object[] = [
    ...Object.keys(MANIFESTO)
      .filter((name) => !['formato', 'versao'].includes(name))
      .map((name) => ({ ...MANIFESTO, [name]: undefined })),
    { ...MANIFESTO, fechado: 'true' },
    { ...MANIFESTO, meses: ['202611'] },
    { ...MANIFESTO, tabelas: {} },
    { ...MANIFESTO, tabelas: [null] },
    { ...MANIFESTO, tabelas: [{ ...MANIFESTO.tabelas[0], colunas: [{ nome: 1 }] }] },
  ];
  for (const one of damaged) await assert.rejects(check(one), /está danificado, ou incompleto/, JSON.stringify(one));
  for (const one of [null, [], { tabelas: null }, { tabelas: [{ nome: 'notas' }] }]) {
    await assert.rejects(check(MANIFESTO, one), /está danificado, ou incompleto/, JSON.stringify(one));
  }
});

test('what is no such file, and what a later program wrote, are told apart', async () => {
  for (const one of [null, 1, [], {}, { formato: 'outro' }])
    await assert.rejects(check(one), /não é um arquivo de nfse/);
  await assert.rejects(check({ ...MANIFESTO, versao: 2 }), /é da versão 2 do formato/);
});
