/**
 * Statements that the rows of a subject, or the base, send in a test file, written down, and held at its end to what Citus takes (`comandos.ts`). A statement that a
 * file of the same run has found right is not parsed again.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { Client, Pool } from '../../src/base/pg/pg.ts';

/** Statements that still break a rule, by what they say. This list is to be empty; `test/comandos.test.ts` finds what no longer belongs here. */
export const OFFENDERS: readonly (readonly [fault: string, statement: RegExp])[] = [];

type Query = (this: object, config: unknown, ...more: unknown[]) => unknown;

/** Files that hand on what others ask. */
const BETWEEN = /node_modules|node:internal|\/base\/pg\/(?:watch|frugal-pool)\.ts|\/support\/(?:sent|plans)\.ts/;
/** Those of the migrations are looked at in their files (`test/migracoes.test.ts`); what sets up a role or distributes is for one server. */
const OF_STORE =
  /\/src\/base\/(?:book\/|pg\/(?!migra|pooled))(?!.*\.test\.ts)|\/src\/subjects\/(?!citus\/distribuicao)\w+\/[\w-]+\.(?:rows|files)\.ts/;

const sent = new Set<string>();

/** From here on they are written down; what a test asks itself is not. */
export function recordSent(): void {
  for (const kind of [Client, Pool]) {
    const prototype = kind.prototype as unknown as { query: Query };
    const { query } = prototype;
    prototype.query = function (config, ...more) {
      const text = typeof config === 'string' ? config : (config as { text?: string } | undefined)?.text;
      if (text !== undefined && !sent.has(text) && isOfStore()) sent.add(text);
      return query.call(this, config, ...more);
    };
  }
}

function isOfStore(): boolean {
  const [, ...frames] = new Error().stack!.split('\n');
  return OF_STORE.test(frames.find((frame) => !BETWEEN.test(frame)) ?? '');
}

export async function checkSent(): Promise<void> {
  // A line for each statement that was found right in this run, its digest; it ends with the run's folder.
  const takenFile = process.env.NFSE_TEST_SENT;
  const isKept = takenFile !== undefined && existsSync(takenFile);
  const taken = new Set(isKept ? readFileSync(takenFile, 'latin1').split('\n') : []);
  // Only these make temporary tables, beside which other statements are judged.
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
