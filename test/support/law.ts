/**
 * The law as a whole, put to a document as it would arrive: XML, structure, rules, amounts, and the rules about them.
 * What stands before it (signature, registry) and after it (duplicates) is no part of an example.
 */
import assert from 'node:assert/strict';
import { readXml } from '../../src/documents/xml.ts';
import type { Facts } from '../../src/fiscal/facts.ts';
import type { Fault } from '../../src/fiscal/fault.ts';
import { judge } from '../../src/fiscal/judge.ts';
import type { Dps } from '../../src/fiscal/layout/dps.ts';
import { readDps } from '../../src/fiscal/layout/read.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { AmountRule, Patch, Rule } from '../../src/fiscal/rules/rule.ts';
import { EXAMPLE_FACTS } from '../../src/fiscal/rules/trial.ts';

export { EXAMPLE_FACTS };

/** Every fault of the first step that refuses the document; empty when the law accepts it. */
export function lawOver(xml: string, facts: Facts = EXAMPLE_FACTS): readonly Fault[] {
  const read = readExample(xml);
  if ('faults' in read) return read.faults;
  const judged = judge(read.dps, facts);
  return 'faults' in judged ? judged.faults : [];
}

/** The DPS that the text of an example is; fails the test when its structure refuses it. */
export function dpsOf(patch: Patch): Dps {
  const read = readExample(exampleXml(patch));
  assert.ok(!('faults' in read), `structure refuses the example: ${'faults' in read ? told(read.faults) : ''}`);
  return read.dps;
}

function readExample(xml: string): { readonly dps: Dps } | { readonly faults: readonly Fault[] } {
  const reading = readXml(Buffer.from(xml));
  return 'fault' in reading ? { faults: [reading.fault] } : readDps(reading.root);
}

/** The example breaks exactly the codes of the rule, each where it should. */
export function assertRejected(patch: Patch, rule: Rule | AmountRule, facts: Facts = EXAMPLE_FACTS): void {
  const faults = lawOver(exampleXml(patch), facts);
  const codes = faults.map(({ codigo }) => codigo).toSorted();
  assert.deepEqual(codes, [rule.code, ...(rule.also ?? [])].toSorted(), `wanted ${rule.code}, got: ${told(faults)}`);
  const own = faults.find(({ codigo }) => codigo === rule.code)!;
  assert.equal(own.xpath, `/DPS/infDPS/${rule.at}`);
  assert.match(own.mensagem, /\S.*\.$/);
  assert.doesNotMatch(own.mensagem, /undefined|null|NaN|\[object/);
}

/** The law has nothing against the example. */
export function assertAccepted(patch: Patch, facts: Facts = EXAMPLE_FACTS): void {
  const faults = lawOver(exampleXml(patch), facts);
  assert.deepEqual(faults, [], told(faults));
}

function told(faults: readonly Fault[]): string {
  return faults.map(({ codigo, xpath, mensagem }) => `${codigo} ${xpath}: ${mensagem}`).join(' | ') || 'no fault';
}
