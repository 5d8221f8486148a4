/**
 * Writes the files that are made of the tables, or compares them.
 *
 *
 *
 *
 *     npx node scripts/generate.ts [--check]
 *
 * The option `--check` writes nothing, and gives exit code 1 when a committed file differs: a changed contract shows as
 * a diff. A new generated file is a new row. A file in a generated folder that no table makes is stale too.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { alertRules } from '../src/base/measures/alerts.ts';
import { DESCRIBED_DOOR, GUARDED_DOOR } from '../src/doors/rest/described-door.ts';
import { errorsMarkdown } from '../src/published/errors/markdown.ts';
import { layoutMarkdown } from '../src/published/layout/markdown.ts';
import { XSDS } from '../src/published/layout/xsd.ts';
import { describeApiShortly } from '../src/published/openapi/openapi.ts';
import { securityMarkdown } from '../src/published/security.ts';
import { soapMarkdown } from '../src/published/soap.ts';
import { statesMarkdown } from '../src/published/states.ts';
import { writeClienteApi } from './cliente-api.ts';
import { clienteTipos } from './cliente-tipos.ts';
import { conformidadeMarkdown } from './conformidade.ts';

type Generated = {
  /** The path from the root of the project. */
  readonly path: string;
  readonly make: () => string | Promise<string>;
};

const FILES: readonly Generated[] = [
  { path: 'docs/conformidade.md', make: conformidadeMarkdown },
  { path: 'docs/estados.md', make: statesMarkdown },
  { path: 'docs/layout.md', make: layoutMarkdown },
  { path: 'docs/soap.md', make: soapMarkdown },
  { path: 'docs/seguranca.md', make: () => securityMarkdown(GUARDED_DOOR) },
  ...Object.entries(XSDS).map(([name, make]) => ({ path: `docs/${name}`, make })),
  { path: 'docs/openapi.json', make: () => `${JSON.stringify(describeApiShortly(DESCRIBED_DOOR), null, 1)}\n` },
  { path: 'deploy/alertas.yml', make: alertRules },
  { path: 'packages/cliente/src/tipos.ts', make: clienteTipos },
  { path: 'docs/cliente-api.md', make: writeClienteApi },
];

/** Folders in which every file is generated; `make` gives their texts by name, or by their path in the folder. */
const FOLDERS: readonly { readonly path: string; readonly make: () => ReadonlyMap<string, string> }[] = [
  { path: 'docs/erros', make: errorsMarkdown },
];

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The exit code: 0 done or equal, 1 different, 2 wrong usage. */
async function main(args: readonly string[]): Promise<number> {
  const check = args.includes('--check');
  if (args.some((arg) => arg !== '--check')) {
    console.error('Usage: npx node scripts/generate.ts [--check]');
    return 2;
  }
  const made = await makeAll();
  const stale = made.filter(({ path, text }) => committed(path) !== text);
  const strange = strangeFiles(made.map(({ path }) => path));
  if (check) {
    for (const { path } of stale) console.error(`${path}: not what its table makes`);
    for (const path of strange) console.error(`${path}: made of no table`);
    if (stale.length + strange.length > 0) console.error('Run: npm run generate');
    return stale.length + strange.length === 0 ? 0 : 1;
  }
  for (const { path, text } of stale) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
    console.log(`${path}: written`);
  }
  for (const path of strange) {
    rmSync(join(ROOT, path));
    console.log(`${path}: removed, made of no table`);
  }
  console.log(`${made.length} generated files, ${stale.length + strange.length} changed`);
  return 0;
}

async function makeAll(): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const files = await Promise.all(FILES.map(async ({ path, make }) => ({ path, text: await make() })));
  const inFolders = FOLDERS.flatMap(({ path, make }) =>
    [...make()].map(([name, text]) => ({ path: `${path}/${name}`, text })),
  );
  return [...files, ...inFolders];
}

/** Files in a generated folder that no table makes any more. */
function strangeFiles(made: readonly string[]): readonly string[] {
  return FOLDERS.filter(({ path }) => existsSync(join(ROOT, path)))
    .flatMap(({ path }) =>
      readdirSync(join(ROOT, path), { recursive: true, withFileTypes: true })
        .filter((one) => one.isFile())
        .map((one) => relative(ROOT, join(one.parentPath, one.name)).replaceAll(sep, '/')),
    )
    .filter((path) => !made.includes(path));
}

function committed(path: string): string | undefined {
  const file = join(ROOT, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

process.exitCode = await main(process.argv.slice(2));
