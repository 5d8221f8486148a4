/** The author of a copy: this service by its key, another service, or a person who changed it. */
import assert from 'node:assert/strict';
import { chmod, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  type Casa,
  casaOf,
  connectTo,
  emissionAt,
  folderFor,
  likeIt,
  openCasa,
  untilArchived,
} from '../../../test/support/copia.ts';
import { type Said, startServiceProcess } from '../../../test/support/process.ts';

const noServer = process.platform === 'win32' ? 'a copy is recovered where there is a shell' : false;

let casa: Casa;
let sistema: string;

describe('the author of a copy', { skip: noServer, timeout: 600_000 }, () => {
  before(async () => {
    casa = await openCasa();
    const service = await startServiceProcess(casa.env);
    const emissao = emissionAt(() => service.address);
    const client = await connectTo(casa.location);
    await emissao.more(4);
    await casa.done('fazer');
    for (let one = 0; one < 3; one += 1) {
      await emissao.more(4);
      await untilArchived(client, casa.copias);
    }
    await client.end();
    await service.end('SIGINT');
    [sistema] = (await readdir(casa.copias)) as [string];
  });

  const manifestIn = async (copias: string): Promise<string> => {
    const [id] = await readdir(path.join(copias, sistema, 'copias'));
    return path.join(copias, sistema, 'copias', id!, 'manifesto.json');
  };
  /** A segment that the way back needs and the copy does not contain. */
  const segmentIn = async (copias: string): Promise<string> => {
    const names = await readdir(path.join(copias, sistema, 'wal'));
    const segments = names.filter((name) => /^[0-9A-F]{24}\.gz$/.test(name)).toSorted();
    return path.join(copias, sistema, 'wal', segments.at(-2)!);
  };
  const change = async (file: string, changed: object): Promise<void> =>
    writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), ...changed }));
  const restore = async (other: Casa): Promise<Said & { readonly made: readonly string[] }> => {
    const folder = await folderFor('volta');
    await chmod(folder, 0o755);
    const said = await other.copia('restaurar', '--para', path.join(folder, 'pg'));
    return { ...said, made: await readdir(folder) };
  };

  test('is this service: nothing is told', async () => {
    assert.doesNotMatch(await casa.done('conferir'), /AVISO/);
    const { code, out } = await restore(casa);
    assert.equal(code, 0, out);
    assert.doesNotMatch(out, /AVISO/);
    assert.doesNotMatch(await casa.done('listar'), /PROBLEMA/);
  });

  /** Damages a duplicate of the folder of copies; returns the output of each command. */
  const harmed = async (harm: (copias: string) => Promise<unknown>): Promise<string> => {
    const copias = await likeIt(casa.copias);
    await harm(copias);
    const other = casaOf(casa.dataDir, copias);
    const listed = await other.copia('listar');
    assert.equal(listed.code, 1, listed.out);
    const judged = await other.copia('conferir');
    assert.equal(judged.code, 1, judged.out);
    const restored = await restore(other);
    assert.deepEqual([restored.code, restored.made], [1, []], restored.out);
    assert.equal(restored.err, judged.err);
    return `${listed.out}\n${judged.out}${judged.err}`;
  };

  test('is somebody who changed what the copy says of itself', async () => {
    const said = await harmed(async (copias) => change(await manifestIn(copias), { usuario: 'outro' }));
    assert.equal(said.match(/manifesto\.json foi mudado depois de escrito/g)?.length, 2, said);
  });

  test('is somebody who put another segment in its place', async () => {
    let file = '';
    const said = await harmed(async (copias) => {
      file = await segmentIn(copias);
      await change(`${file}.resumo`, { sha256: 'ab'.repeat(32) });
    });
    assert.equal(said.split(`${file}.resumo foi mudado depois de escrito`).length, 4, said);
    const copias = await likeIt(casa.copias);
    file = await segmentIn(copias);
    const names = (await readdir(path.dirname(file))).filter((name) => name.endsWith('.gz.resumo')).toSorted();
    await writeFile(`${file}.resumo`, await readFile(path.join(path.dirname(file), names.at(-1)!)));
    assert.match((await casaOf(casa.dataDir, copias).copia('listar')).out, /\.resumo é de outro arquivo/);
  });

  test('a byte of a segment that its packing does not miss is told, and how far the copies reach then', async () => {
    let file = '';
    const said = await harmed(async (copias) => {
      file = await segmentIn(copias);
      const handle = await open(file, 'r+');
      // The byte belongs to gzip's time stamp, which decompression ignores.
      await handle.write(Buffer.of(1), 0, 1, 4);
      await handle.close();
    });
    assert.equal(said.split(`${file} está danificado: não é o que foi escrito`).length, 4, said);
    assert.doesNotMatch(said, new RegExp(`Cópia contínua.*${path.basename(file, '.gz')}`));
    assert.match(said, /até 20.* pode-se voltar com a cópia/);
  });

  test('is told of a history that somebody added, by which the way back would end early', async () => {
    const copias = await likeIt(casa.copias);
    const { fim } = JSON.parse(await readFile(await manifestIn(copias), 'utf8'));
    const [high, low] = fim.split('/');
    const later = `${high}/${(Number.parseInt(low, 16) + 0x0100_0000).toString(16).toUpperCase()}`;
    const history = gzipSync(`1\t${later}\tno recovery target specified\n`);
    await writeFile(path.join(copias, sistema, 'wal/0000000A.history.gz'), history);
    const { code, out, err } = await casaOf(casa.dataDir, copias).copia('conferir');
    assert.equal(code, 3, out + err);
    assert.match(out, /AVISO {2}o arquivo 0000000A\.history do WAL: é de outro serviço, ou de antes da chave/);
  });

  test('is another service, or nobody knows: it is told, and the command ends with 3', async () => {
    const nowhere = path.join(await folderFor('nada'), 'dados');
    const lost = casaOf(nowhere, casa.copias);
    const noted = () => readFile(path.join(casa.copias, sistema, 'conferida.json'), 'utf8').catch(() => undefined);
    const before = await noted();
    for (const { code, out, err } of [await lost.copia('conferir'), await restore(lost)]) {
      assert.equal(code, 3, out + err);
      assert.match(out, /AVISO {2}a cópia \d{8}T\d{6}Z é de outro serviço, ou de outra chave: .*auditoria\.chave/);
      assert.match(out, /AVISO {2}\d+ arquivos do WAL .* de outra chave/);
    }
    assert.equal(await noted(), before, 'nobody knows what was verified');
    await mkdir(nowhere, { recursive: true });
    await writeFile(path.join(nowhere, 'auditoria.chave'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
    assert.equal((await lost.copia('listar')).code, 0);
    assert.match((await lost.copia('conferir')).out, /de outro serviço, ou de outra chave/);

    const copias = await likeIt(casa.copias);
    await change(await manifestIn(copias), { autenticador: undefined });
    const folder = path.join(copias, sistema, 'wal');
    for (const name of await readdir(folder)) if (name.endsWith('.resumo')) await rm(path.join(folder, name));
    const { code, out } = await casaOf(casa.dataDir, copias).copia('conferir');
    assert.equal(code, 3, out);
    assert.equal(out.match(/de antes da chave: não leva autenticador/g)?.length, 2, out);
  });
});
