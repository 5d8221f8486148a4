/**
 * Collects every fault of a refused DPS, independent of the step that found the first (D-720). The readable part is judged by the known
 * facts. An accepted DPS needs none of this.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import { answerInTime, gatherKnown, knownUnasked } from '../../base/world/gather-facts.ts';
import type { OpenedDps, ReadDps, SentDps, UnreadDps } from '../../base/world/sent-documents.ts';
import { storeTroubleOf } from '../../base/world/store-trouble.ts';
import type { World } from '../../base/world/world.ts';
import type { Declarado } from '../../fiscal/declarado.ts';
import type { Facts } from '../../fiscal/facts.ts';
import { type Fault, limitFaults, type Refusal, refusalOf } from '../../fiscal/fault.ts';
import { judgeKnown } from '../../fiscal/judge.ts';
import type { Dps } from '../../fiscal/layout/dps.ts';
import { watch } from '../../fiscal/unknown.ts';
import { findDuplicate } from './numero-dps.ts';

/** A DPS with an invalid signature: its structure is checked, and the rules that need no register. */
export function refuseUnverified(
  municipio: Municipio,
  opened: OpenedDps,
  ofSignature: readonly Fault[],
  instant: number,
): Refusal {
  const read = opened.read();
  const known = knownOf(read);
  const facts = known && knownUnasked(municipio, known.marked, instant);
  return refusalOf([...opened.place(ofSignature), ...tellKnown(opened, read, facts)])!;
}

/** A DPS with faults of structure, signed by its provider, or from anybody in the sandbox. */
export async function refuseUnread(
  world: World,
  municipio: Municipio,
  sent: SentDps,
  { opened, read, instant }: { readonly opened: OpenedDps; readonly read: UnreadDps; readonly instant: number },
): Promise<Refusal> {
  const marked = read.rest?.marked;
  if (marked === undefined) return refusalOf(read.faults)!;
  try {
    const [{ facts, faults }, duplicate] = await Promise.all([
      gatherKnown(world, municipio, marked, instant),
      answerInTime(async () => findDuplicate(world, municipio, watch(marked).value, sent)),
    ]);
    return refusalOf([...tellKnown(opened, read, facts, faults), ...opened.place(duplicate?.answer ?? [])])!;
  } catch (error) {
    // The faults of structure need no database.
    if (storeTroubleOf(error) === undefined) throw error;
    return refusalOf(read.faults)!;
  }
}

/** The faults of the structure, of the registry, and of the rules, judged by the known facts. */
export function tellKnown(
  { place }: OpenedDps,
  read: ReadDps | UnreadDps,
  facts: Facts | undefined,
  ofRegistry: readonly Fault[] = [],
): readonly Fault[] {
  const structure = 'faults' in read ? read.faults : [];
  const known = knownOf(read);
  if (known === undefined || facts === undefined) return structure;
  const ofRules = judgeKnown(known.marked, facts, known.declarado);
  return [...structure, ...place(limitFaults(atOnePlace(ofRegistry, ofRules)))];
}

/** The faults of the registry and of the rules. A place with a fault of the registry gets no second one: both are the same mistake. */
export function atOnePlace(ofRegistry: readonly Fault[], ofRules: readonly Fault[]): readonly Fault[] {
  const taken = new Set(ofRegistry.map(({ xpath }) => xpath));
  return [...ofRegistry, ...ofRules.filter(({ xpath }) => !taken.has(xpath))];
}

/** A DPS with marks in place of unknown values. */
type KnownDps = { readonly marked: Dps; readonly declarado?: Declarado };

/** The readable part of a DPS; undefined: too little could be read. */
export function knownOf(read: ReadDps | UnreadDps): KnownDps | undefined {
  return 'faults' in read ? read.rest : { ...read, marked: read.dps };
}
