/** Composes the output of `nfse diagnostico`. Unreachable parts are reported in the file, because it is needed most in that case. */
import { once } from 'node:events';
import { lstat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ConfigError, describeSettings } from '../base/terminal/variables.ts';
import { ignoring } from '../base/traces/ignoring.ts';
import {
  codeOf,
  type Diagnostico,
  readDiagnostico,
  seeMunicipios,
  seeTls,
  writeDiagnostico,
} from '../subjects/vigia/diagnosticar.ts';
import { type Config, readConfig, serviceUrlOf } from './config.ts';
import { createLog, type Logger } from './log.ts';
import { describeMachine, describeProgram } from './machine.ts';
import { reachDatabase } from './open-store.ts';
import { type SettingsFile, takeSettings } from './settings.ts';
import { createStore } from './store.ts';

/** An `import` of node:http would load the undici inside Node, which its exports name. */
const http = process.getBuiltinModule('node:http');

/** A database that is silent for so long counts as unreachable. Each query to it has a limit of its own. */
const DATABASE_MAX_MS = 300_000;
const HEALTH_MAX_MS = 5_000;

/** `falhou`: the error code of the failed connection to the database. */
export type Diagnosed = { readonly bytes: number; readonly falhou: string | undefined };

/** Writes the file of this name, which must not exist yet. `read`: the settings file, put beneath `env` as for every command. */
export async function diagnose(env: NodeJS.ProcessEnv, arquivo: string, read: () => SettingsFile): Promise<Diagnosed> {
  if (await isThere(arquivo)) throw Object.assign(new Error('there is a file of this name'), { code: 'EEXIST' });
  const { log } = createLog('silent');
  const settings = putBeneath(env, read);
  const config = settings === 'recusado' ? undefined : configIn(env);
  const now = Date.now();
  const found = config === undefined ? away('CONFIG') : await askDatabase(config, log, now);
  const partes = {
    programa: describeProgram(),
    maquina: await describeMachine(path.resolve(config?.dataDir ?? '.')),
    ajustes: { arquivo_de_ajustes: settings, ...describeSettings(env) },
    servico: config === undefined ? undefined : await askService(config, now),
    banco: found.banco,
    municipios: found.municipios,
  };
  const { banco } = found;
  return { bytes: await writeDiagnostico(arquivo, partes, now), falhou: 'falhou' in banco ? banco.falhou : undefined };
}

/** The state of the settings file. The details of an error are omitted, because they may quote any text; `nfse config` shows them. */
function putBeneath(env: NodeJS.ProcessEnv, read: () => SettingsFile): 'lido' | 'ausente' | 'recusado' {
  try {
    const file = read();
    takeSettings(file, env);
    return file.text === undefined ? 'ausente' : 'lido';
  } catch (error) {
    if (error instanceof ConfigError) return 'recusado';
    throw error;
  }
}

/** Undefined if a setting is wrong, which `ajustes` reports. */
function configIn(env: NodeJS.ProcessEnv): Config | undefined {
  try {
    return readConfig(env, false);
  } catch {
    return undefined;
  }
}

type Found = {
  readonly banco: { readonly falhou: string } | Diagnostico;
  readonly municipios: unknown;
};

function away(falhou: string): Found {
  return { banco: { falhou }, municipios: { falhou } };
}

async function askDatabase(config: Config, log: Logger, now: number): Promise<Found> {
  if (config.databaseUrl === undefined && !(await isThere(path.join(path.resolve(config.dataDir), 'pg'))))
    return away('SEM_DADOS');
  const late = new AbortController();
  const inTime = pause(DATABASE_MAX_MS, away('TEMPO'), { signal: late.signal }).catch(() => away('TEMPO'));
  try {
    return await Promise.race([readAll(config, log, now), inTime]);
  } catch (error) {
    return away(codeOf(error));
  } finally {
    late.abort();
  }
}

async function readAll(config: Config, log: Logger, now: number): Promise<Found> {
  const { pool, close } = await reachDatabase(config, log);
  try {
    // A database that does not answer this query answers no other.
    await pool.query('select 1');
    const banco = await readDiagnostico(pool);
    const municipios = await createStore(pool)
      .municipios.list()
      .then((all) => seeMunicipios(all, now))
      .catch((error: unknown) => ({ falhou: codeOf(error) }));
    return { banco, municipios };
  } finally {
    await close().catch(ignoring('the report is made, and its failures are in it'));
  }
}

async function isThere(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
}

/**
 * The health of the service on this machine, by its own address: statuses and times only, because the text of an answer may contain names.
 */
async function askService(config: Config, now: number) {
  const url = serviceUrlOf({ ...config, baseUrl: undefined });
  const tls = config.tls === undefined ? undefined : await seeTls(config.tls.certificado, now);
  return { live: await askHealth(`${url}/health/live`), ready: await askHealth(`${url}/health/ready`), tls };
}

/** The certificate is not verified: it is valid for the public name, and the request contains no data. */
async function askHealth(url: string): Promise<object> {
  const began = performance.now();
  const signal = AbortSignal.timeout(HEALTH_MAX_MS);
  const asked = url.startsWith('https:')
    ? https.get(url, { signal, rejectUnauthorized: false, agent: false })
    : http.get(url, { signal, agent: false });
  try {
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.destroy();
    return { status: answer.statusCode, ms: Math.round(performance.now() - began) };
  } catch (error) {
    return { falhou: codeOf(error) };
  }
}
