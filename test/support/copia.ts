/** Helpers of the tests of backups: a service on its own folder, notes issued without pause, and the content of a database row by row. */
import { chmod, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { distinctDps } from '../../bench/documents.ts';
import { NAME } from '../../src/base/pg/embedded.ts';
import { Client, type ClientConfig } from '../../src/base/pg/pg.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import { onEnd } from './cleanup.ts';
import { nfse, readyDataDir, type Said } from './process.ts';
import { until } from './until.ts';

/** A key pair made with `age-keygen` for these tests; it opens nothing else. */
export const PUBLIC_KEY = 'age1q8f3hrrlmg6sttc77qeywpkfgwgxacmvt0v64f3t43xe45pmla9qswhl45';
export const SECRET_KEY = 'AGE-SECRET-KEY-1DK4NA98PGDG9TWY036XYRWE276AVRELQC47XTR8SJ9JKQG55L04QKKM06N';

export type Casa = {
  readonly dataDir: string;
  readonly location: string;
  readonly copias: string;
  readonly env: NodeJS.ProcessEnv;
  /** `nfse copia …` with this environment. */
  copia(...args: readonly string[]): Promise<Said>;
  /** The same; the command must succeed. */
  done(...args: readonly string[]): Promise<string>;
};

export async function freshCopias(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nfse-copias-'));
  await chmod(folder, 0o755);
  onEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function openCasa(more: NodeJS.ProcessEnv = {}): Promise<Casa> {
  return casaOf(await readyDataDir(), await freshCopias(), more);
}

export function casaOf(dataDir: string, copias: string, more: NodeJS.ProcessEnv = {}): Casa {
  const env = { NFSE_DATA_DIR: dataDir, NFSE_COPIAS: copias, ...more };
  const copia = (...args: readonly string[]) => nfse(['copia', ...args], env);
  const done = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await copia(...args);
    if (code !== 0) throw new Error(`nfse copia ${args.join(' ')} ended with ${code}:\n${out}${err}`);
    return out;
  };
  return { dataDir, location: path.join(dataDir, 'pg'), copias, env, copia, done };
}

/** A copy of a backup folder, which a test may damage. */
export async function likeIt(copias: string): Promise<string> {
  const folder = await freshCopias();
  await cp(copias, folder, { recursive: true, preserveTimestamps: true });
  return folder;
}

/** A connection to the embedded server of a folder; it does not start the server. */
export async function connectTo(location: string): Promise<Client> {
  return until(async () => {
    const lines = (await readFile(path.join(location, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    if (lines.length < 5) return undefined;
    const client = new Client({ host: lines[4] || location, port: Number(lines[3]), user: NAME, database: NAME });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch {
      return undefined;
    }
  }, 'PostgreSQL takes a connection');
}

export async function asked<Row>(connection: Client | ClientConfig, text: string): Promise<readonly Row[]> {
  if (connection instanceof Client) return (await connection.query(text)).rows as Row[];
  const client = new Client(connection);
  await client.connect();
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** A digest of all rows of each logged table, without the columns that a restoration changes on purpose. */
export async function digestTables(client: Client): Promise<ReadonlyMap<string, string>> {
  const passed = ['sequencias', 'mudancas_ate'];
  const { rows } = await client.query<{ nome: string }>(
    `select relname as nome from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relpersistence = 'p' and relname <> all ($1) order by relname`,
    [passed],
  );
  const digests = new Map<string, string>();
  for (const { nome } of rows) {
    const found = await client.query<{ sum: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '') as sum from ${nome} t`,
    );
    digests.set(nome, found.rows[0]!.sum);
  }
  return digests;
}

/** A note with the times of its request and answer by the clock of this machine, which is the server's. */
export type Emitida = { readonly chave: string; readonly pedida: number; readonly respondida: number };

export type Emissao = {
  readonly notas: readonly Emitida[];
  /** Issues so many notes. */
  more(count: number): Promise<void>;
  /** Issues notes until `stop` is called. */
  goOn(): { stop(): Promise<void> };
};

/** Notes of the sandbox, from four concurrent clients. `from`: the numbers of the DPS begin after it. */
export function emissionAt(address: () => string, from = 0): Emissao {
  const documentOf = distinctDps(exampleXml({ serie: '1', nDPS: '1' }), 3);
  const notas: Emitida[] = [];
  let number = from;
  const issue = async (): Promise<void> => {
    number += 1;
    const body = documentOf(number);
    const pedida = Date.now();
    const response = await fetch(`${address()}/integracao/api/v1/nfse/v101`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: new Uint8Array(body),
    }).catch(() => undefined);
    if (response?.status !== 201) return;
    const { chave_acesso: chave } = (await response.json()) as { chave_acesso: string };
    notas.push({ chave, pedida, respondida: Date.now() });
  };
  return {
    notas,
    more: async (count) => {
      for (let one = 0; one < count; one += 4) await Promise.all([issue(), issue(), issue(), issue()]);
    },
    goOn: () => {
      let isOn = true;
      const hand = async (): Promise<void> => {
        while (isOn) await issue();
      };
      const hands = Promise.all([hand(), hand(), hand(), hand()]);
      return {
        stop: async () => {
          isOn = false;
          await hands;
        },
      };
    },
  };
}

/** Numbers of rows under way: for notes that are not decided and reported yet, and for sums that miss some. */
const UNDECIDED = 'select (select count(*) from fila) + (select count(*) from mudancas_novas) as n';
const UNCOUNTED = `select (select count(*) from receita_novas)
  + (select count(*) from receita_meses where pedida is distinct from contada) as n`;

/** Waits until every issued note is decided and reported. */
export function untilDecided(client: Client): Promise<void> {
  return untilNone(client, UNDECIDED);
}

/**
 * Waits until every issued note is also in the sums of its month. A restored municipality counts at intervals of minutes, since its blocks of changes
 * are no longer few.
 */
export async function untilSettled(client: Client): Promise<void> {
  await untilDecided(client);
  await untilNone(client, UNCOUNTED);
}

async function untilNone(client: Client, count: string): Promise<void> {
  await until(async () => {
    const { rows } = await client.query<{ n: string }>(count);
    return rows[0]!.n === '0' || undefined;
  }, 'nothing is under way');
}

/** Waits until the log up to now is archived. */
export async function untilArchived(client: Client, copias: string): Promise<void> {
  // A segment without new records would not be closed.
  await client.query(`select pg_logical_emit_message(true, 'prova', 'fim')`);
  const { rows } = await client.query<{ sistema: string; wal: string }>(
    'select (select system_identifier::text from pg_control_system()) as sistema, pg_walfile_name(pg_switch_wal()) as wal',
  );
  const { sistema, wal } = rows[0]!;
  await until(async () => {
    const text = await readFile(path.join(copias, sistema, 'wal/ultimo.json'), 'utf8').catch(() => '{}');
    return JSON.parse(text).segmento >= wal || undefined;
  }, 'the log is among the copies');
}

/** A file with these lines. */
export async function folderFor(what: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), `nfse-${what}-`));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  await mkdir(folder, { recursive: true });
  return folder;
}
