/**
 * The copies of the database during a running service. It ships the WAL of the embedded server to the folder of the copies, and reports
 * failures. It also measures the state of the copies. It measures those of an external server too, whose WAL its administrator ships.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { lookAt } from '../base/measures/counters.ts';
import type { GaugeName, Sample } from '../base/measures/metrics.ts';
import { readSistema } from '../base/pg/embedded.ts';
import { Client } from '../base/pg/pg.ts';
import { ignoreLoss, ignoring } from '../base/traces/ignoring.ts';
import { atrasoWarnings, readAtraso } from '../subjects/copias/atraso.files.ts';
import { readRecipients } from '../subjects/copias/cifra.files.ts';
import { readEstado } from '../subjects/copias/estado.files.ts';
import { ensurePasta } from '../subjects/copias/lugar.files.ts';
import { readEspera, shipWal } from '../subjects/copias/wal.files.ts';
import type { Config } from './config.ts';
import { chooseServer } from './copias.ts';
import type { Logger } from './log.ts';
import type { OpenStore } from './open-store.ts';

const EVERY_MS = 5_000;
/** A lasting failure is logged again after this time. */
const TELL_EVERY_MS = 60_000;

export type Copias = {
  /** Called after the server has stopped: its last WAL is shipped as well. */
  stop(): Promise<void>;
};

export function startCopias(
  { pasta, chave }: NonNullable<Config['copias']>,
  { location, logFolder, connection }: Pick<OpenStore, 'location' | 'logFolder' | 'connection'>,
  log: Logger,
): Copias {
  let seen: readonly Sample[] = [];
  const endLooking = lookAt(() => seen);
  const ending = new AbortController();
  let toldAt = Number.NEGATIVE_INFINITY;
  let isFailing = false;

  let sistema: string | undefined;
  const sistemaOf = async (): Promise<string> => {
    sistema ??= await (logFolder === undefined ? askSistema(connection) : readSistema(location));
    return sistema;
  };
  const ship = async (): Promise<void> => {
    if (logFolder === undefined) return;
    try {
      await ensurePasta(pasta);
      const recipients = chave === undefined ? [] : await readRecipients(chave);
      await shipWal(logFolder, pasta, await readSistema(location), recipients);
      if (isFailing) log.info({ pasta }, 'a cópia contínua voltou a levar o WAL');
      isFailing = false;
    } catch (error) {
      isFailing = true;
      if (performance.now() - toldAt < TELL_EVERY_MS) return;
      toldAt = performance.now();
      const { segmentos, bytes } = await readEspera(logFolder).catch(() => ({
        segmentos: undefined,
        bytes: undefined,
      }));
      log.error(
        { err: error, segmentos, bytes },
        'a cópia contínua não pôde levar o WAL; ele espera no disco dos dados, e tenta-se de novo em seguida',
      );
    }
  };
  const look = async (): Promise<void> => {
    seen = await measureCopias(pasta, sistemaOf, logFolder);
  };
  const warn = async (): Promise<void> => {
    if (logFolder === undefined) return;
    const client = new Client({ ...connection, application_name: 'nfse-copia' });
    client.on('error', ignoreLoss);
    try {
      await client.connect();
      for (const warning of atrasoWarnings(await readAtraso(client, logFolder), Date.now())) log.warn(warning);
    } finally {
      await client.end().catch(ignoreLoss);
    }
  };
  const run = async (): Promise<void> => {
    for (let warnAt = 0; !ending.signal.aborted; ) {
      await ship();
      if (performance.now() >= warnAt) {
        warnAt = performance.now() + TELL_EVERY_MS;
        await warn().catch(ignoring('the callers of the database report its silence themselves'));
        await look().catch(ignoring('the measures stay those of before, and shipping reports a faulty folder'));
      }
      await pause(EVERY_MS, undefined, { signal: ending.signal, ref: false }).catch(
        ignoring('the end interrupts the pause'),
      );
    }
  };
  const running = run();
  return {
    stop: async () => {
      ending.abort();
      endLooking();
      await running;
      await ship();
    },
  };
}

/** Only the waiting bytes, if the copies cannot be read. */
async function measureCopias(
  pasta: string,
  sistemaOf: () => Promise<string>,
  logFolder: string | undefined,
): Promise<readonly Sample[]> {
  const espera = logFolder === undefined ? undefined : await readEspera(logFolder);
  const estado = await sistemaOf()
    .then((sistema) => readEstado(pasta, sistema))
    .catch(() => undefined);
  const gauge = (name: GaugeName, value: number | undefined): readonly Sample[] =>
    value === undefined ? [] : [{ name, labels: {}, value }];
  const moment = (em: string | undefined): number | undefined =>
    em === undefined ? undefined : Date.parse(em) / 1_000;
  const waited = espera && (espera.desde === undefined ? 0 : Math.max(0, Date.now() - espera.desde.getTime()) / 1_000);
  // A copy that was never verified does not count as a copy.
  const conferida = estado?.base === undefined ? undefined : (estado.conferida?.getTime() ?? 0) / 1_000;
  return [
    ...gauge('nfse_copia_espera_bytes', espera?.bytes),
    ...gauge('nfse_copia_espera_seconds', waited),
    ...gauge('nfse_copia_base_timestamp_seconds', moment(estado?.base)),
    ...gauge('nfse_copia_conferida_timestamp_seconds', conferida),
    ...gauge('nfse_copia_continua_timestamp_seconds', moment(estado?.ate)),
    ...gauge('nfse_copia_faltas', estado?.faltas?.length),
  ];
}

const SISTEMA = 'select system_identifier::text as sistema from pg_control_system()';

/** The system identifier of a server whose files lie elsewhere. */
async function askSistema(connection: OpenStore['connection']): Promise<string> {
  const client = new Client({ ...(await chooseServer(connection)), application_name: 'nfse-copia' });
  client.on('error', ignoreLoss);
  try {
    await client.connect();
    return (await client.query<{ sistema: string }>(SISTEMA)).rows[0]!.sistema;
  } finally {
    await client.end().catch(ignoreLoss);
  }
}
