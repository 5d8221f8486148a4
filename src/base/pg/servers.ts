/** Servers that may have the database, of which one takes writes: how each is reached, and what is said when none does (D-410). */
import type { Client, PoolConfig } from './pg.ts';
import { isSqlState, StoreUnavailable, type Unavailability, unavailabilityOf } from './unavailable.ts';

/** One that may have it. `name`: for the operator, as `host:port`. */
export type Server = { readonly name: string; readonly connectionString: string };

/** How a database is reached. */
export type Connection = PoolConfig & {
  /** Where there are several, what differs in each. */
  readonly servers?: readonly Server[];
  /** A PgBouncer stands between (`pooled.ts`). */
  readonly isPooled?: boolean;
  /** Settings that the operator gives to each session, as `-c work_mem=8MB`. */
  readonly ownOptions?: string | undefined;
};

/** True of a server that replays another's log, and of one that was told to take no writes. */
export const IS_READ_ONLY = `(pg_is_in_recovery() or current_setting('transaction_read_only') = 'on')`;

/** What a server says of itself with the first connection, and when it changes. */
const READS_ONLY: ReadonlySet<string> = new Set(['in_hot_standby', 'default_transaction_read_only']);

type Reports = {
  on(event: 'parameterStatus', heard: (report: { parameterName: string; parameterValue: string }) => void): void;
};

/** Tells whether the server of a connection takes writes, by its reports, which cost nothing; `onLoss`: it takes none any more. */
export function followReports(connection: Reports, onLoss: () => void): { readonly isReadOnly: boolean } {
  const on = new Set<string>();
  connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
    if (!READS_ONLY.has(parameterName)) return;
    if (parameterValue !== 'on') on.delete(parameterName);
    else {
      on.add(parameterName);
      onLoss();
    }
  });
  return {
    get isReadOnly() {
      return on.size > 0;
    },
  };
}

/** What a server that was asked is good for: `there`: it says something, and not what; an error: nothing, or that it is not there yet. */
export type Answer = 'writes' | 'reads' | 'there' | Error;

/** Asks over a client of its own, which is ended. Never rejects. */
export async function askServer(client: Client): Promise<Answer> {
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ read_only: boolean }>(`select ${IS_READ_ONLY} as read_only`);
    return rows[0]!.read_only ? 'reads' : 'writes';
  } catch (error) {
    const isThere = isSqlState((error as { code?: unknown }).code) && unavailabilityOf(error) !== 'restarting';
    return isThere ? 'there' : (error as Error);
  } finally {
    // A socket that was given up is at its end already.
    client.end().catch(() => undefined);
  }
}

export function takesNoWrites(): StoreUnavailable {
  return new StoreUnavailable('read_only', 'só aceita leituras: é uma réplica, ou foi posto assim');
}

/** None of several servers takes writes. The message says why of each, for the operator. */
export class NoServer extends StoreUnavailable {
  /** Whether each is away or replays the log of another: the same is met by whoever comes until one is there. */
  readonly isOutage: boolean;

  constructor(failures: ReadonlyMap<Server, Error>) {
    const kinds = [...failures.values()].map(unavailabilityOf);
    const told = [...failures].map(
      ([{ name }, { message, cause }]) => `${name}: ${message || cause || 'não responde'}`,
    );
    const kind = kinds.includes('read_only') ? 'read_only' : kinds.find((one) => one !== undefined);
    super(kind ?? 'gone', `nenhum servidor de DATABASE_URL aceita gravações (${told.join('; ')})`);
    this.isOutage = kinds.every((one) => OUTAGES.has(one));
  }
}

const OUTAGES: ReadonlySet<Unavailability | undefined> = new Set(['gone', 'restarting', 'read_only']);
