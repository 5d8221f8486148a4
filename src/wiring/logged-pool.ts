/** Connections to the database, with the archive of its past months. The loss of an idle connection is logged. */

import { useArquivo } from '../base/book/arquivo.ts';
import { lookAt } from '../base/measures/counters.ts';
import { type Db, openPool } from '../base/pg/open.ts';
import type { Connection } from '../base/pg/servers.ts';
import { tellTrouble } from '../base/world/store-trouble.ts';
import { readOwnConfig } from './config.ts';
import type { Logger } from './log.ts';

/** `isPatient`: for manual work outside of requests, with long time limits. */
export function openLoggedPool(connection: Connection, log: Logger, isPatient?: true): Db {
  const onError = (error: Error): void =>
    tellTrouble(log, error, {}, 'uma conexão ociosa com o banco se perdeu; outra é aberta');
  const pool = openPool(connection, onError, isPatient);
  lookAt(() => [
    {
      name: 'nfse_banco_conexoes',
      labels: { estado: 'em_uso' },
      value: pool.totalCount - pool.idleCount,
    },
    { name: 'nfse_banco_conexoes', labels: { estado: 'ociosa' }, value: pool.idleCount },
    { name: 'nfse_banco_conexoes_esperando', labels: {}, value: pool.waitingCount },
  ]);
  const { arquivo } = readOwnConfig();
  if (arquivo !== undefined) useArquivo(pool, arquivo);
  return pool;
}
