/**
 * Makes the package as it is installed, in a folder: JavaScript with its types, because Node strips no types below `node_modules`
 * and the compilers of others read no sources there. Inside of this repository the client runs from its sources.
 *
 *     node packages/cliente/pacote.ts [FOLDER]
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const HERE = import.meta.dirname;
const folder = path.resolve(process.argv[2] ?? path.join(HERE, 'pacote'));

rmSync(path.join(folder, 'src'), { recursive: true, force: true });
const compiler = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
execFileSync(process.execPath, [compiler, '-p', HERE, '--outDir', path.join(folder, 'src')], { stdio: 'inherit' });

const { scripts: _, private: __, ...own } = JSON.parse(readFileSync(path.join(HERE, 'package.json'), 'utf8'));
const exports = { '.': { types: './src/index.d.ts', default: './src/index.js' } };
// The first with AbortSignal.any; the sources want one that strips types.
const engines = { node: '>=20.3' };
const described = { ...own, engines, exports, files: ['src'] };
writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(described, null, 2)}\n`);
for (const file of ['README.md', '../../LICENSE'])
  copyFileSync(path.join(HERE, file), path.join(folder, path.basename(file)));
