/**
 * Where the program begins. Node keeps what it compiled of our files, so that the next command, and each thread, starts
 * in about half the time; in a folder that only the owner of the program writes, and where it cannot, without it.
 */
import { enableCompileCache } from 'node:module';
import path from 'node:path';

// By the environment, because threads read it there.
process.env.NODE_COMPILE_CACHE ??= path.join(import.meta.dirname, '../node_modules/.cache/nfse');
enableCompileCache();
await import('./program.ts');
