/**
 * Where the program begins. Node keeps what it compiled of our files, so that the next command, and each thread, starts in about half the
 * time. JavaScript, because Node loads its reader of TypeScript (45 ms) for the first file that it does not find compiled.
 */
// @ts-check
import { enableCompileCache } from 'node:module';
import { compileCacheFolder } from './wiring/compile-cache.js';

const folder = compileCacheFolder();
if (folder !== undefined) {
  // By the environment, because threads read it there.
  process.env.NODE_COMPILE_CACHE ??= folder;
  enableCompileCache();
}
await import('./wiring/program.ts');
