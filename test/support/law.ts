/**
 * The law as a whole, applied to a received document: XML, structure, rules, amounts, and the rules about them. Checks before it
 * (signature, registry) and after it (duplicates) are not part of an example.
 */
import assert from 'node:assert/strict';
import { readXml } from '../../src/documents/xml.ts';
import { type Declarado, NADA_DECLARADO } from '../../src/fiscal/declarado.ts';
import type { Facts } from '../../src/fiscal/facts.ts';
import type { Fault } from '../../src/fiscal/fault.ts';
import { judge } from '../../src/fiscal/judge.ts';
import type { Dps } from '../../src/fiscal/layout/dps.ts';
import type { Porta } from '../../src/fiscal/layout/layouts.ts';
import { readDps } from '../../src/fiscal/layout/read.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { AnyRule, Patch } from '../../src/fiscal/rules/rule.ts';
import { avisosOn, declaredBy, EXAMPLE_FACTS } from '../../src/fiscal/rules/trial.ts';

export { EXAMPLE_FACTS };

/** Every fault of the first step that refuses the document; empty if the law accepts it. */
export function lawOver(
  xml: string,
  facts: Facts = EXAMPLE_FACTS,
  declarado: Declarado = NADA_DECLARADO,
  porta: Porta = 'rest',
): readonly Fault[] {
  const read = readExample(xml, porta);
  if ('faults' in read) return read.faults;
  const judged = judge(read.dps, facts, declarado);
  return 'faults' in judged ? judged.faults : [];
}

/** Every fault of the example of a patch, with the fields that only its JSON body can declare. `dhEmi` names the national door. */
export function lawOverExample(patch: Patch, facts: Facts = EXAMPLE_FACTS): readonly Fault[] {
  const porta = patch.dhEmi === undefined ? 'rest' : 'nacional';
  return lawOver(exampleXml(patch), facts, declaredBy(patch), porta);
}

/** The DPS of an example's text; the test fails if its structure is invalid. */
export function dpsOf(patch: Patch): Dps {
  const read = readExample(exampleXml(patch));
  assert.ok(!('faults' in read), `structure refuses the example: ${'faults' in read ? told(read.faults) : ''}`);
  return read.dps;
}

function readExample(
  xml: string,
  porta: Porta = 'rest',
): { readonly dps: Dps } | { readonly faults: readonly Fault[] } {
  const reading = readXml(Buffer.from(xml));
  return 'fault' in reading ? { faults: [reading.fault] } : readDps(reading.root, { porta });
}

/** The example breaks exactly the codes of the rule, each at its place. A rule that only remarks must give its remark. */
export function assertRejected(patch: Patch, rule: AnyRule, facts: Facts = EXAMPLE_FACTS): void {
  const faults = lawOverExample(patch, facts);
  if (rule.scope === 'aviso') {
    assert.deepEqual(faults, [], told(faults));
    const avisos = avisosOn(patch, facts);
    assert.ok(
      avisos.some(({ codigo, xpath }) => codigo === rule.code && xpath.replace(/\[\d+\]/g, '') === xpathOf(rule)),
      `wanted the remark ${rule.code} at ${rule.at}`,
    );
    return;
  }
  const codes = faults.map(({ codigo }) => codigo).toSorted();
  assert.deepEqual(codes, [rule.code, ...(rule.also ?? [])].toSorted(), `wanted ${rule.code}, got: ${told(faults)}`);
  const own = faults.find(({ codigo }) => codigo === rule.code)!;
  assert.equal(own.xpath.replace(/\[\d+\]/g, ''), xpathOf(rule));
  assert.match(own.mensagem, /\S.*\.$/);
  assert.doesNotMatch(own.mensagem, /undefined|null|NaN|\[object/);
}

function xpathOf({ at }: AnyRule): string {
  return at.startsWith('NFSe/') ? `/${at}` : `/DPS/infDPS/${at}`;
}

/** The law accepts the example. */
export function assertAccepted(patch: Patch, facts: Facts = EXAMPLE_FACTS): void {
  const faults = lawOverExample(patch, facts);
  assert.deepEqual(faults, [], told(faults));
}

function told(faults: readonly Fault[]): string {
  return faults.map(({ codigo, xpath, mensagem }) => `${codigo} ${xpath}: ${mensagem}`).join(' | ') || 'no fault';
}
