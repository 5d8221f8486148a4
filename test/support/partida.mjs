// Records the modules that the main thread of a process loads, with their bytes: preloaded by `NODE_OPTIONS=--import`. Builtins do not count.
import { statSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const loaded = new Map();
if (isMainThread) {
  registerHooks({
    load: (url, context, next) => {
      if (url.startsWith('file:')) loaded.set(url, statSync(fileURLToPath(url)).size);
      return next(url, context);
    },
  });
  process.on('exit', () => writeFileSync(process.env.NFSE_TEST_LOADED, JSON.stringify([...loaded])));
}
