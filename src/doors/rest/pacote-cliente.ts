/**
 * The client as npm installs it from an address: the files of `packages/cliente/pacote`, generated and committed, in
 * one archive. Nothing is compiled here: an installed service has no compiler, and its disk may be read-only.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { TAR_END, tarFile } from '../../documents/tar.ts';
import { once } from '../../fiscal/catalogs/table.ts';

const FOLDER = fileURLToPath(new URL('../../../packages/cliente/pacote/', import.meta.url));
/** All files have one date, that of npm itself, so that the same files make the same bytes. */
const AT = Date.UTC(1985, 9, 26, 8, 15);
/** The position of the operating system in a gzip header, and the value for none. */
const SYSTEM_AT = 9;
const NO_SYSTEM = 0xff;

/** The archive is made at the first request, and kept. */
export const packCliente = once((): Buffer => {
  const files = readdirSync(FOLDER, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const names = files.map((one) =>
    path.relative(FOLDER, path.join(one.parentPath, one.name)).replaceAll(path.sep, '/'),
  );
  // npm strips the folder of the archive, under any name.
  const entries = names.sort().flatMap((name) => tarFile(`package/${name}`, readFileSync(path.join(FOLDER, name)), AT));
  const archive = gzipSync(Buffer.concat([...entries, TAR_END]), { level: 9 });
  archive[SYSTEM_AT] = NO_SYSTEM;
  return archive;
});
