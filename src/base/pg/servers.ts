/** Servers that may have the database, of which one accepts writes: their addresses, and the error if none does (D-410). */
import { ignoreLoss } from '../traces/ignoring.ts';
import type { Client, PoolConfig } from './pg.ts';
import { isSqlState, StoreUnavailable, type Unavailability, unavailabilityOf } from './unavailable.ts';

/** A server that may have it. `name`: for the operator, as `host:port`. */
export type Server = { readonly name: string; readonly connectionString: string };

/** Connection parameters of a database. */
export type Connection = PoolConfig & {
  /** The servers with their own parameters, if there are several. */
  readonly servers?: readonly Server[];
  /** A PgBouncer is in between (`pooled.ts`). */
  readonly isPooled?: boolean;
  /** Settings of the operator for each session, such as `-c work_mem=8MB`. */
  readonly ownOptions?: string | undefined;
};

/** True on a replica, and on a server that is configured to be read-only. */
export const IS_READ_ONLY = `(pg_is_in_recovery() or current_setting('transaction_read_only') = 'on')`;

/** Parameters that a server reports at the first connection, and when they change. */
const READS_ONLY: ReadonlySet<string> = new Set(['in_hot_standby', 'default_transaction_read_only']);

type Reports = {
  on(event: 'parameterStatus', heard: (report: { parameterName: string; parameterValue: string }) => void): void;
};

/** Tells whether the server of a connection accepts writes, from its free reports. `onLoss`: called when it no longer does. */
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

/** Result of a question to a server. `there`: it answers, but not with its state; an error: it does not answer, or is not ready. */
export type Answer = 'writes' | 'reads' | 'there' | Error;

/** Asks over a separate client, which is ended. Never rejects. */
export async function askServer(client: Client): Promise<Answer> {
  client.on('error', ignoreLoss);
  try {
    await client.connect();
    const { rows } = await client.query<{ read_only: boolean }>(`select ${IS_READ_ONLY} as read_only`);
    return rows[0]!.read_only ? 'reads' : 'writes';
  } catch (error) {
    const isThere = isSqlState((error as { code?: unknown }).code) && unavailabilityOf(error) !== 'restarting';
    return isThere ? 'there' : (error as Error);
  } finally {
    client.end().catch(ignoreLoss);
  }
}

export function takesNoWrites(): StoreUnavailable {
  return new StoreUnavailable('read_only', 'só aceita leituras: é uma réplica, ou foi posto assim');
}

/** None of several servers accepts writes. The message gives the reason for each, for the operator. */
export class NoServer extends StoreUnavailable {
  /** Whether each server is unreachable or a replica. Every caller then gets the same error until one is back. */
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
