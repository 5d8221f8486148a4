/** `npm ci` prints no warning on any supported Node. The test reads the lock file, which determines the installed packages. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

type Manifest = { readonly engines: { readonly node: string }; readonly allowScripts: Readonly<Record<string, true>> };
type Locked = {
  readonly engines?: { readonly node?: string };
  readonly deprecated?: string;
  readonly hasInstallScript?: true;
  readonly resolved?: string;
};

const ROOT = path.resolve(import.meta.dirname, '..');
const readJson = (name: string): unknown => JSON.parse(readFileSync(path.join(ROOT, name), 'utf8'));
const { engines, allowScripts } = readJson('package.json') as Manifest;
const { '': _, ...packages } = (readJson('package-lock.json') as { packages: Readonly<Record<string, Locked>> })
  .packages;
const locked = Object.entries(packages);

/** Major, minor and patch as one number. */
function rankOf(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return (major * 1_000 + minor) * 1_000 + patch;
}

/** Whether a package's range includes a version: alternatives of `>=` and `^`, as all of ours are; of `<`, none. */
function takes(range: string, version: string): boolean {
  return range.split('||').some((one) => {
    const [, sign, from] =
      /^\s*(>=|\^|)\s*v?([\d.]+)(?:\.x)?\s*$/.exec(one) ?? assert.fail(`the range ${range} is not read here`);
    if (rankOf(version) < rankOf(from!)) return false;
    return sign === '>=' || version.split('.')[0] === from!.split('.')[0];
  });
}

test('every package takes the oldest Node that may install it, and each one after', () => {
  const [, oldest] = /^>=([\d.]+)$/.exec(engines.node)!;
  for (const [name, { engines: own }] of locked) {
    for (const version of [oldest!, '22.22.0', '24.12.0', '26.10.0']) {
      assert.ok(
        takes(own?.node ?? '>=0', version),
        `${name} wants Node ${own?.node}, and ${version} warns (EBADENGINE)`,
      );
    }
  }
});

test('no package is deprecated, and those that run a script as they are installed are named', () => {
  const old = locked.filter(([, { deprecated }]) => deprecated !== undefined).map(([name]) => name);
  assert.deepEqual(old, []);
  const scripts = locked
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([name]) => name.replace(/^.*node_modules\//, ''));
  assert.deepEqual(scripts.sort(), Object.keys(allowScripts).sort());
});

test('what is installed comes from the public registry', () => {
  for (const [name, { resolved }] of locked)
    assert.match(resolved ?? 'https://registry.npmjs.org/', /^https:\/\/registry\.npmjs\.org\//, name);
});
