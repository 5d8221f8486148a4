/**
 * Records the statements that a test file sends through the row modules or the base. They are checked against Citus' rules at the end of
 * the file (`comandos.ts`). A statement that another file of the run found correct is not parsed again.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { Client, Pool } from '../../src/base/pg/pg.ts';

/** Statements that still break a rule, by their fault. This list should be empty; `test/comandos.test.ts` reports stale entries. */
export const OFFENDERS: readonly (readonly [fault: string, statement: RegExp])[] = [];

type Query = (this: object, config: unknown, ...more: unknown[]) => unknown;

/** Modules that only pass on the statements of others. */
const BETWEEN =
  /node_modules|node:internal|\/base\/pg\/(?:by-turns|frugal-pool|watch)\.ts|\/support\/(?:sent|plans)\.ts/;
/**
 * Statements of migrations are checked in their files (`test/migracoes.test.ts`). Statements that set up a role or the distribution are for
 * one server.
 */
const OF_STORE =
  /\/src\/base\/(?:book\/|pg\/(?!migra|pooled))(?!.*\.test\.ts)|\/src\/subjects\/(?!citus\/distribuicao)\w+\/[\w-]+\.(?:rows|files)\.ts/;

/** The form of a statement for several tenants (`mergeable.ts`), which is never sent to Citus. */
const OF_SEVERAL = /= x\.tenant\b/;

const sent = new Set<string>();

/** Records all statements from now on; the test's own statements are left out. */
export function recordSent(): void {
  for (const kind of [Client, Pool]) {
    const prototype = kind.prototype as unknown as { query: Query };
    const { query } = prototype;
    prototype.query = function (config, ...more) {
      const text = typeof config === 'string' ? config : (config as { text?: string } | undefined)?.text;
      if (text !== undefined && !sent.has(text) && !OF_SEVERAL.test(text) && isOfStore()) sent.add(text);
      return query.call(this, config, ...more);
    };
  }
}

function isOfStore(): boolean {
  const [, ...frames] = new Error().stack!.split('\n');
  return OF_STORE.test(frames.find((frame) => !BETWEEN.test(frame)) ?? '');
}

export async function checkSent(): Promise<void> {
  // A file with the digest of each statement that this run found correct; it ends with the run's folder.
  const takenFile = process.env['NFSE_TEST_SENT'];
  const isKept = takenFile !== undefined && existsSync(takenFile);
  const taken = new Set(isKept ? readFileSync(takenFile, 'latin1').split('\n') : []);
  // Only these create temporary tables; the other statements are checked with them.
  const makers = [...sent].filter((text) => /\btemp(?:orary)?\b/i.test(text)).sort();
  const digestOf = (text: string): string => hash('sha256', [text, ...makers].join('\0'));
  const unknown = [...sent].filter((text) => !taken.has(digestOf(text)));
  if (unknown.length === 0) return;
  const { faultsOf, temporaryTables, tenantTables } = await import('./comandos.ts');
  const tables = await tenantTables();
  const temporaries = new Set(makers.flatMap(temporaryTables));
  const found = unknown.flatMap((text) =>
    faultsOf(text, tables, temporaries)
      .filter((fault) => !isKnown(text, fault))
      .map((fault) => `${fault}\n  ${text}`),
  );
  assert.deepEqual(found, []);
  if (isKept) appendFileSync(takenFile, unknown.map((text) => `${digestOf(text)}\n`).join(''));
}

export function isKnown(text: string, fault: string): boolean {
  return OFFENDERS.some(([known, statement]) => known === fault && statement.test(text.trim()));
}
