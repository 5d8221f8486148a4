/** The database of a place, read and written beside the service. */
import { openEmbedded } from '../src/base/pg/embedded.ts';
import { Client, type ClientConfig } from '../src/base/pg/pg.ts';

export const QUIET = { info: () => undefined, warn: console.error, error: console.error };

/** The data of a place: the folder of the embedded server, or the address of another. */
export type Located = { readonly dataDir: string; readonly database?: { readonly url: string } | undefined };

/** Runs with the server of a place; the embedded one is started unless it runs already. */
export async function useServer<Result>(
  { dataDir, database }: Located,
  work: (connection: ClientConfig) => Promise<Result>,
): Promise<Result> {
  if (database !== undefined) return work({ connectionString: database.url });
  const server = await openEmbedded({ dataDir, log: QUIET });
  try {
    return await work(server.connection);
  } finally {
    await server.stop();
  }
}

export async function useClient<Result>(
  connection: ClientConfig,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client(connection);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The writable columns of a table, and the value of each: that of the model `m`, except for those named. */
export async function columnsOf(client: Client, table: string, own: Readonly<Record<string, string>>) {
  const text = `select attname as name from pg_attribute
    where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`;
  const names = (await client.query<{ name: string }>(text, [table])).rows.map(({ name }) => name);
  return { names: names.join(', '), values: names.map((name) => own[name] ?? `m.${name}`).join(', ') };
}

/** The transactions that the database of a place has committed so far, those that only read included. */
export function countCommits(place: Located): Promise<number> {
  const text = 'select xact_commit::float8 as commits from pg_stat_database where datname = current_database()';
  return useServer(place, (connection) =>
    useClient(connection, async (client) => (await client.query<{ commits: number }>(text)).rows[0]!.commits),
  );
}
