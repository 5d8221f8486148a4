/**
 * The client as npm installs it from an address: JavaScript with its types, in one archive. An installation has it built, without a
 * compiler and on a disk that may be read-only; a clone, which has the compiler, builds it at the first request.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { TAR_END, tarFile } from '../../documents/tar.ts';

const PACKAGE = fileURLToPath(new URL('../../../packages/cliente/', import.meta.url));
const BUILDER = path.join(PACKAGE, '../pacote.ts');
/** All files bear one date, that of npm itself, so that the same files make the same bytes. */
const AT = Date.UTC(1985, 9, 26, 8, 15);
/** The head of a gzip names at this place the system that made it, or none. */
const SYSTEM_AT = 9;
const NO_SYSTEM = 0xff;

let packing: Promise<Buffer> | undefined;

/** Made at the first request, and kept. */
export function packCliente(): Promise<Buffer> {
  packing ??= makeArchive().catch((error: Error) => {
    packing = undefined;
    throw error;
  });
  return packing;
}

async function makeArchive(): Promise<Buffer> {
  if (!hasCompiler()) return packFolder(path.join(PACKAGE, 'pacote'));
  const folder = await mkdtemp(path.join(tmpdir(), 'nfse-cliente-'));
  try {
    await promisify(execFile)(process.execPath, [BUILDER, PACKAGE, folder]);
    return packFolder(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function hasCompiler(): boolean {
  if (!existsSync(BUILDER)) return false;
  try {
    return createRequire(BUILDER).resolve('typescript/package.json') !== '';
  } catch {
    return false;
  }
}

function packFolder(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const names = files.map((one) =>
    path.relative(folder, path.join(one.parentPath, one.name)).replaceAll(path.sep, '/'),
  );
  // npm removes the top folder of the archive under any name.
  const entries = names.sort().flatMap((name) => tarFile(`package/${name}`, readFileSync(path.join(folder, name)), AT));
  const archive = gzipSync(Buffer.concat([...entries, TAR_END]), { level: 9 });
  archive[SYSTEM_AT] = NO_SYSTEM;
  return archive;
}
