/** Unpacks a copy into a folder of its own. The files are compared with the manifest of the server that wrote the copy. */
import type { SpawnOptions } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chown, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { CopiaRecusada, collectUpTo, unseal } from './cifra.files.ts';
import type { Copia } from './lugar.files.ts';
import { readTar } from './tar.files.ts';

export const BASE = 'base.tar';
export const SERVER_MANIFEST = 'backup_manifest';

/** The account that runs the server; undefined: that of the command. */
export type Account = { readonly uid: number; readonly gid: number; readonly name: string } | undefined;

export type Programa = {
  readonly program: string;
  readonly spawnOptions: SpawnOptions;
  readonly account: Account;
};

/** Progress callback: share done (0 to 1), and the step in Portuguese. */
export type Progresso = (part: number, what: string) => void;

type Listed = { readonly Path: string; readonly Size: number; readonly Checksum?: string };

/** The lock file of the embedded server's socket: it would keep the restored server from starting. */
const SOCKET = /^\.s\.PGSQL\.\d+\.lock$/;
/** Files of a cluster. Any other file stays in the copy. */
const OF_A_CLUSTER =
  /^(?:PG_VERSION|backup_label|current_logfiles|postgresql(?:\.auto)?\.conf|pg_(?:hba|ident)\.conf|nfse\.(?:conf|password)|(?:base|global|pg_[a-z_]+)(?:\/.*)?)$/;
/** The log of the copy is in no manifest; its own checksums are verified while it is replayed. */
const LOG = /^pg_wal\//;
const ELSEWHERE = /^(?:tablespace_map$|pg_tblspc\/.)/;

const LISTING_MAX = 2 ** 28;

function readListing(file: string, text: Buffer): Map<string, Listed> {
  try {
    return new Map((JSON.parse(text.toString()) as { Files: readonly Listed[] }).Files.map((one) => [one.Path, one]));
  } catch {
    throw new CopiaRecusada(`${file} não é a lista de arquivos de um servidor.`);
  }
}

/** Unpacks a copy, and returns the names it left out. Every file must match the server's manifest. */
export async function unpackCopia(
  { pasta, manifesto }: Copia,
  target: string,
  identities: readonly string[],
  account: Account,
  show: Progresso,
): Promise<readonly string[]> {
  const fileOf = (name: string) => manifesto.arquivos.find(({ nome }) => nome.startsWith(name));
  const [tar, listing] = [fileOf(BASE), fileOf(SERVER_MANIFEST)];
  if (tar === undefined || listing === undefined)
    throw new CopiaRecusada(`${pasta}: o manifesto não nomeia os arquivos da cópia.`);
  const listed = path.join(pasta, listing.nome);
  const expected = readListing(listed, await unseal(listed, identities, collectUpTo(LISTING_MAX), listing.sha256));
  const give = (name: string): Promise<void> => giveTo(name, account);
  await mkdir(target, { mode: 0o700 });
  await give(target);
  const problems: string[] = [];
  const left: string[] = [];
  let written = 0;
  const unpack = async (plain: AsyncIterable<Buffer>): Promise<void> =>
    readTar(plain, async ({ nome, isFolder, bytes }, content) => {
      const place = path.join(target, nome);
      if (ELSEWHERE.test(nome)) {
        throw new CopiaRecusada(
          `${pasta}: a cópia traz um tablespace (${nome}), que leva a dados de fora dela: não foi feita por nfse copia fazer, e nada dela foi posto a rodar.`,
        );
      }
      if (SOCKET.test(nome) || !OF_A_CLUSTER.test(nome)) {
        if (!SOCKET.test(nome)) left.push(nome);
        expected.delete(nome);
        return;
      }
      if (isFolder) {
        await mkdir(place, { recursive: true, mode: 0o700 });
        await give(place);
        return;
      }
      written += bytes;
      if (written > manifesto.bytes) {
        throw new CopiaRecusada(
          `${pasta}: a cópia, aberta, é maior do que o manifesto diz, e não foi aberta até o fim.`,
        );
      }
      const hash = createHash('sha256');
      const handle = await open(place, 'wx', 0o600);
      try {
        for await (const piece of content) {
          hash.update(piece);
          await handle.writeFile(piece);
        }
      } finally {
        await handle.close();
      }
      await give(place);
      show(Math.min(1, written / manifesto.bytes), 'abrindo a cópia');
      const known = expected.get(nome);
      expected.delete(nome);
      if (known === undefined) {
        if (!LOG.test(nome)) problems.push(`${nome} (a mais)`);
      } else if (known.Size !== bytes || (known.Checksum ?? '') !== hash.digest('hex')) problems.push(nome);
    });
  await unseal(path.join(pasta, tar.nome), identities, unpack, tar.sha256);
  for (const [name] of expected) problems.push(`${name} (falta)`);
  if (problems.length > 0) {
    throw new CopiaRecusada(
      `${pasta}: ${problems.length} arquivos não são os do servidor: ${problems.slice(0, 5).join(', ')}.`,
    );
  }
  return left;
}

export async function giveTo(place: string, account: Account): Promise<void> {
  if (account !== undefined) await chown(place, account.uid, account.gid);
}
