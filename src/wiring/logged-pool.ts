/** Connections to the database, of which the log says when an idle one is lost. */
import { tellTrouble } from '../flows/store-trouble.ts';
import { type Db, openPool } from '../store/open.ts';
import type { PoolConfig } from '../store/pg.ts';
import type { Logger } from './log.ts';

/** `isPatient`: for work by hand, which nobody waits for in a request. */
export function openLoggedPool(connection: PoolConfig, log: Logger, isPatient?: true): Db {
  const onError = (error: Error): void =>
    tellTrouble(log, error, {}, 'uma conexão ociosa com o banco se perdeu; outra é aberta');
  return openPool(connection, onError, isPatient);
}
