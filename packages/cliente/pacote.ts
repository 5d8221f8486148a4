/**
 * Makes the package as it is published, in a folder: JavaScript with its types, because Node strips no types below `node_modules`.
 * From the sources the client runs without this.
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

const { scripts: _, exports: __, ...own } = JSON.parse(readFileSync(path.join(HERE, 'package.json'), 'utf8'));
const exports = { '.': { types: './src/index.d.ts', default: './src/index.js' } };
writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify({ ...own, exports }, null, 2)}\n`);
for (const file of ['README.md', '../../LICENSE'])
  copyFileSync(path.join(HERE, file), path.join(folder, path.basename(file)));
