/**
 * Makes a package of this folder as it is installed: JavaScript with its types. Node strips no types below
 * `node_modules`, and other compilers read no sources there. This repository runs each package from its sources.
 *
 *
 *     node packages/pacote.ts PACKAGE [FOLDER]
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const from = path.resolve(process.argv[2] ?? '.');
const to = path.resolve(process.argv[3] ?? path.join(from, 'pacote'));

rmSync(path.join(to, 'src'), { recursive: true, force: true });
const compiler = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
execFileSync(process.execPath, [compiler, '-p', from, '--outDir', path.join(to, 'src')], { stdio: 'inherit' });

const {
  scripts: _,
  private: __,
  devDependencies: ___,
  ...own
} = JSON.parse(readFileSync(path.join(from, 'package.json'), 'utf8'));
const entry: string = own.exports['.'].replace(/\.ts$/, '');
const exports = { '.': { types: `${entry}.d.ts`, default: `${entry}.js` } };
writeFileSync(path.join(to, 'package.json'), `${JSON.stringify({ ...own, exports, files: ['src'] }, null, 2)}\n`);
for (const file of [path.join(from, 'README.md'), path.join(import.meta.dirname, '../LICENSE')])
  copyFileSync(file, path.join(to, path.basename(file)));
