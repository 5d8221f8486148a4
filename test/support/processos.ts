/** A service of several processes over a database of its own, and what the system says of them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { Db } from '../../src/base/pg/open.ts';
import { databaseUrlOf, freshDatabase, poolOn } from './database.ts';
import { SERVING, type Started, said, start } from './started.ts';

export const SERVE = ['bin/nfse', 'serve'];
export const ISSUE = '/integracao/api/v1/nfse/v101';
export const XML = { method: 'POST', headers: { 'Content-Type': 'application/xml' } };

export type Town = { readonly service: Started; readonly address: string; readonly pool: Db };

export async function open(
  env: NodeJS.ProcessEnv,
  connection?: Awaited<ReturnType<typeof freshDatabase>>,
): Promise<Town> {
  const own = connection ?? (await freshDatabase());
  const usual = { DATABASE_URL: databaseUrlOf(own), PORT: '0', NFSE_ESPERA_AO_ENCERRAR: '0', NFSE_PROCESSOS: '2' };
  const service = start(SERVE, { ...usual, ...env });
  const address = (await said(service, SERVING))[1]!;
  return { service, address, pool: await poolOn(own) };
}

export async function end({ service }: Town): Promise<void> {
  service.child.kill('SIGTERM');
  assert.equal(await service.ended, 0, service.output());
}

/** The children of a process. */
export function below(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** The process that watches, which `bin/nfse` has started. */
export const watcherOf = ({ child }: Started): number => below(child.pid!)[0]!;

/** The processes that answer. */
export const answeringOf = (service: Started): readonly number[] =>
  below(watcherOf(service)).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('serving-process');
    } catch {
      return false;
    }
  });

/** One request on a new connection, or on those of an agent. */
export function send(
  url: string,
  options: http.RequestOptions,
  body?: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = http.request(url, options, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      answer.on('error', reject).on('end', () => resolve({ status: answer.statusCode!, text }));
    });
    asked.on('error', reject).end(body);
  });
}
