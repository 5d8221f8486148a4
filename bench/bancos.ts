/**
 * `npm run bench -- --banco URL`: this service over a given server or Citus, beside itself over another, in the same
 * seconds. Each gets a database made for the measure; all servers are on this machine, because their processor time is
 * counted.
 */
import { mkdir } from 'node:fs/promises';
import { run } from '../scripts/stage.ts';
import { citusVersion, nameNo } from '../src/base/pg/distributed.ts';
import { openPool } from '../src/base/pg/open.ts';
import { listNos } from '../src/subjects/citus/nos.rows.ts';
import { type ComparisonOptions, comparePlaces, OWN, type Pair, placesOf, tablesOfLoads } from './comparar.ts';
import { postmasterOf } from './cpu.ts';
import type { Issuers } from './issuers.ts';
import { describeConditions, printTables } from './report.ts';
import { openScene, type Place, preparePlace } from './scene.ts';

export type DatabasesOptions = Omit<ComparisonOptions, 'ref' | 'saves' | 'traced'> & {
  readonly url: string;
  /** The other database; undefined: the embedded one. */
  readonly besides: string | undefined;
  readonly issuers: Issuers;
};

const FRAGMENTOS = 32;

export async function benchDatabases(dataDir: string, options: DatabasesOptions): Promise<void> {
  const { url, besides, issuers, providers } = options;
  const urls: Pair<string | undefined> = [url, besides];
  const made: Made[] = [];
  const scene = await openScene(dataDir, 2 * providers);
  try {
    const places: Place[] = [];
    for (const [which, place] of placesOf(dataDir, scene, [OWN, OWN], providers).entries()) {
      const database = urls[which] === undefined ? undefined : await makeDatabase(urls[which], place.dataDir);
      if (database !== undefined) made.push(database);
      places.push({ ...place, issuers, ...(database === undefined ? {} : { database }) });
      await preparePlace(places[which]!, scene);
    }
    const [own, other] = places as [Place, Place];
    const { windows, foreign } = await comparePlaces(scene, [own, other], options);
    const beside = `${issuers.count} municípios: ${nameOf(url)}, ao lado de ${nameOf(besides)}`;
    printTables(tablesOfLoads(windows, beside, ['este', 'outro']), describeConditions(options, foreign));
  } finally {
    await scene.end();
    for (const { drop } of made) await drop();
  }
}

function nameOf(url: string | undefined): string {
  return url === undefined ? 'embutido' : new URL(url).host;
}

type Made = NonNullable<Place['database']> & { drop(): Promise<void> };

/** A database with the schema, distributed when the server is the coordinator of a Citus. */
export async function makeDatabase(url: string, dataDir: string): Promise<Made> {
  const name = `nfse_bench_${process.pid}`;
  const own = new URL(url);
  own.pathname = name;
  await mkdir(dataDir, { recursive: true, mode: 0o755 });
  const env = { NFSE_DATA_DIR: dataDir, DATABASE_URL: own.href };
  const server = await lookAt(url);
  await onServer(url, `create database ${name}`);
  await run(['migrar'], env);
  const nodes = server.nodes.map(
    (node) => new URL(`postgres://${own.username}:${own.password}@${node}${new URL(url).pathname}`).href,
  );
  if (nodes.length > 0) {
    await run(['banco', 'distribuir', '--nos', server.nodes.join(), '--fragmentos', String(FRAGMENTOS)], env);
  }
  return {
    url: own.href,
    postmasters: server.folders.map(postmasterOf),
    drop: async () => {
      for (const each of [url, ...nodes]) await onServer(each, `drop database if exists ${name} with (force)`);
    },
  };
}

/** The data folders of a server and of its nodes, and the names of the nodes. */
async function lookAt(
  url: string,
): Promise<{ readonly nodes: readonly string[]; readonly folders: readonly string[] }> {
  const pool = openPool({ connectionString: url }, () => undefined);
  try {
    const { rows } = await pool.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
    const folders = rows.map(({ folder }) => folder);
    if ((await citusVersion(pool)) === undefined) return { nodes: [], folders };
    const ofNodes = await pool.query<{ result: string }>(
      `select result from run_command_on_workers('show data_directory')`,
    );
    return {
      nodes: (await listNos(pool)).map(nameNo),
      folders: [...folders, ...ofNodes.rows.map(({ result }) => result)],
    };
  } finally {
    await pool.end();
  }
}

async function onServer(url: string, statement: string): Promise<void> {
  const pool = openPool({ connectionString: url }, () => undefined);
  try {
    await pool.query(statement);
  } finally {
    await pool.end();
  }
}
