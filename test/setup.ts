/**
 * One embedded PostgreSQL for the whole test run; each test file makes databases of its own on it. Started before the
 * first file and stopped after the last.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type EmbeddedServer, openEmbedded } from '../src/store/embedded/embedded.ts';

let dataDir: string | undefined;
let server: EmbeddedServer | undefined;

const quiet = { info() {}, warn: console.warn, error: console.error };

export async function globalSetup(): Promise<void> {
  // What Node compiled is kept for all: each file is a process, and so is each command that a test starts.
  process.env.NODE_COMPILE_CACHE ??= path.join(import.meta.dirname, '../node_modules/.cache/nfse');
  dataDir = await mkdtemp(path.join(tmpdir(), 'nfse-test-'));
  // Run as root, the server's own account must be able to enter.
  await chmod(dataDir, 0o755);
  server = await openEmbedded({ dataDir, log: quiet });
  process.env.NFSE_TEST_SERVER = JSON.stringify(server.connection);
}

export async function globalTeardown(): Promise<void> {
  await server?.stop();
  if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
}
