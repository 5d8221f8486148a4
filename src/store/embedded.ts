/** The embedded PostgreSQL as this project names it; its server is the work of `packages/postgres-embutido`. */
import {
  type EmbeddedOptions,
  type EmbeddedServer,
  openEmbedded as open,
} from '../../packages/postgres-embutido/src/embedded.ts';
import { Client } from './pg.ts';

export type { EmbeddedServer };

/** The database, its user and the files beside its data are called so. */
export const NAME = 'nfse';

export function openEmbedded(options: Pick<EmbeddedOptions, 'dataDir' | 'log' | 'transport'>): Promise<EmbeddedServer> {
  const wayOut = 'Para usar um PostgreSQL já instalado, defina DATABASE_URL.';
  return open({ ...options, name: NAME, wayOut, createClient: (config) => new Client(config) });
}
