/**
 * One embedded PostgreSQL for the whole test run; each test file makes databases of its own on it. Started before the
 * first file and stopped after the last.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type EmbeddedServer, openEmbedded } from '../src/store/embedded.ts';

let dataDir: string | undefined;
let server: EmbeddedServer | undefined;

const quiet = { info() {}, warn: console.warn, error: console.error };

export async function globalSetup(): Promise<void> {
  dataDir = await mkdtemp(path.join(tmpdir(), 'nfse-test-'));
  server = await openEmbedded({ dataDir, log: quiet });
  process.env.NFSE_TEST_SERVER = JSON.stringify(server.connection);
}

export async function globalTeardown(): Promise<void> {
  await server?.stop();
  // Run as root, the cluster may lie elsewhere with a link to it in the data folder.
  if (server !== undefined) await rm(server.location, { recursive: true, force: true });
  if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
}
