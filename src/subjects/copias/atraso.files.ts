/** The lag of the continuous copy: log that the server has not archived, and segments that wait for the transfer to the copies. */

import type { ClientBase } from '../../base/pg/pg.ts';
import { type Espera, readEspera } from './wal.files.ts';

export type Atraso = Espera & {
  /** Whether the server archives its log at all. */
  readonly ligado: boolean;
  /** The server's last attempt to archive failed. */
  readonly falha: boolean;
  /** Moment at which the server last archived a segment. */
  readonly arquivadoEm: Date | null;
  /** Size of the log in the server's own folder, which grows while nothing is archived; null: the user may not read it. */
  readonly walBytes: number | null;
};

const STATE = `select current_setting('archive_mode') <> 'off' as ligado, last_archived_time as "arquivadoEm",
  coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as falha from pg_stat_archiver`;
const LOG_BYTES = `select case when has_function_privilege('pg_ls_waldir()', 'execute') then (select sum(size)::float8 from pg_ls_waldir()) end as bytes`;

/** `logFolder`: the folder in which an embedded server leaves its log; undefined: its administrator archives it. */
export async function readAtraso(client: Pick<ClientBase, 'query'>, logFolder: string | undefined): Promise<Atraso> {
  const { rows } = await client.query<Pick<Atraso, 'ligado' | 'falha' | 'arquivadoEm'>>(STATE);
  const log = await client.query<{ bytes: number | null }>(LOG_BYTES);
  const espera = logFolder === undefined ? { segmentos: 0, bytes: 0, desde: undefined } : await readEspera(logFolder);
  return { ...espera, ...rows[0]!, walBytes: log.rows[0]!.bytes };
}

/** Longest normal wait; beyond it an operator should look. */
const LATE_MS = 5 * 60_000;
const LOG_MAX_BYTES = 4 * 2 ** 30;

/** Warnings for the operator, in Portuguese; empty: all is well. */
export function atrasoWarnings(
  { ligado, falha, desde, segmentos, bytes, walBytes }: Atraso,
  now: number,
): readonly string[] {
  const megabytes = (count: number): string => `${Math.round(count / 2 ** 20)} MB`;
  return [
    ...(ligado
      ? []
      : [
          'o PostgreSQL não está arquivando o WAL, embora NFSE_COPIAS esteja definida: pare o serviço e o inicie de novo',
        ]),
    ...(falha
      ? ['o PostgreSQL não consegue arquivar o WAL: o log dele (postgres.log) diz por quê; confira o disco dos dados']
      : []),
    ...(desde !== undefined && now - desde.getTime() > LATE_MS
      ? [
          `há ${segmentos} segmentos do WAL (${megabytes(bytes)}) que não foram levados para as cópias: eles enchem o disco dos dados`,
        ]
      : []),
    ...(walBytes !== null && walBytes > LOG_MAX_BYTES
      ? [`pg_wal já ocupa ${megabytes(walBytes)} no disco dos dados`]
      : []),
  ];
}
