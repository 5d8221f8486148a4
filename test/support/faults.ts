/** Structural faults of a DPS: the example with a change, read, and its faults in short. */
import assert from 'node:assert/strict';
import { readXml } from '../../src/documents/xml.ts';
import type { Fault } from '../../src/fiscal/fault.ts';
import type { Dps } from '../../src/fiscal/layout/dps.ts';
import { readDps } from '../../src/fiscal/layout/read.ts';
import type { Elemento } from '../../src/fiscal/layout/tree.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';

export const BASE = '/DPS/infDPS';

export function treeOf(xml: string): Elemento {
  const reading = readXml(Buffer.from(xml));
  assert.ok('root' in reading, `not XML: ${'fault' in reading ? reading.fault.mensagem : ''}`);
  return reading.root;
}

export function faultsIn(xml: string): readonly Fault[] {
  const reading = readDps(treeOf(xml));
  return 'faults' in reading ? reading.faults : [];
}

export const faultsOf = (patch: Patch): readonly Fault[] => faultsIn(exampleXml(patch));

export const told = (faults: readonly Fault[]): string =>
  faults.map(({ codigo, xpath, mensagem }) => `${codigo} ${xpath}: ${mensagem}`).join(' | ') || 'no fault';

export const inShort = (faults: readonly Fault[]): string[] => faults.map(({ codigo, xpath }) => `${codigo} ${xpath}`);

export function dpsIn(xml: string): Dps {
  const reading = readDps(treeOf(xml));
  assert.ok('dps' in reading, 'faults' in reading ? told(reading.faults) : '');
  return reading.dps;
}

export const dpsOf = (patch: Patch): Dps => dpsIn(exampleXml(patch));

/** The only fault; `at` is below infDPS, unless it begins with a slash. */
export function only(faults: readonly Fault[], codigo: string, at: string): Fault {
  const xpath = at.startsWith('/') ? at : at === '' ? BASE : `${BASE}/${at}`;
  assert.deepEqual(inShort(faults), [`${codigo} ${xpath}`], told(faults));
  const [fault] = faults;
  assert.match(fault!.mensagem, /\S.*\.$/, 'a message is a sentence');
  return fault!;
}

/** The example with a piece of its text replaced; the piece must occur. */
export function edited(from: string | RegExp, to: string, patch: Patch = {}): string {
  const xml = exampleXml(patch);
  const other = xml.replace(from, to);
  assert.notEqual(other, xml, `nothing to replace: ${from}`);
  return other;
}

/** The whole element, with its line. */
export const elementOf = (name: string): RegExp =>
  new RegExp(`^ *<${name}>(?:[^<]*|\\n[\\s\\S]*?\\n *)</${name}>\\n`, 'm');

export const OBRA_END: Patch = {
  'serv/cServ/cTribNac': '070201',
  'serv/obra/end/CEP': '01001000',
  'serv/obra/end/xLgr': 'Praça da Sé',
  'serv/obra/end/nro': '1',
  'serv/obra/end/xBairro': 'Sé',
};

export const PISCOFINS = 'valores/trib/tribFed/piscofins';

export const TRIBMUN = 'valores/trib/tribMun';

export const GIBSCBS = 'IBSCBS/valores/trib/gIBSCBS';
