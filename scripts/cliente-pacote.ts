/**
 * The client as it is installed (`packages/cliente/pacote`): JavaScript with its types. The service serves it from a
 * machine without a compiler, so it is committed like other generated files.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { clienteTipos } from './cliente-tipos.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const CLIENTE = 'packages/cliente';

/** The files by their path in the package, made of the current types, not of the committed ones. */
export function clientePacote(): ReadonlyMap<string, string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'nfse-pacote-'));
  try {
    const own = path.join(folder, CLIENTE);
    cpSync(path.join(ROOT, CLIENTE, 'src'), path.join(own, 'src'), { recursive: true });
    for (const name of ['package.json', 'tsconfig.json', 'README.md'])
      copyFileSync(path.join(ROOT, CLIENTE, name), path.join(own, name));
    writeFileSync(path.join(own, 'src/tipos.ts'), clienteTipos());
    copyFileSync(path.join(ROOT, 'tsconfig.json'), path.join(folder, 'tsconfig.json'));
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
    const made = path.join(own, 'pacote');
    execFileSync(process.execPath, [path.join(ROOT, 'packages/pacote.ts'), own, made]);
    const files = readdirSync(made, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    const names = files.map((one) => path.relative(made, path.join(one.parentPath, one.name))).sort();
    return new Map(
      names.map((name) => [name.replaceAll(path.sep, '/'), readFileSync(path.join(made, name), 'utf8')] as const),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
