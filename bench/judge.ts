/**
 * The cost of judging one DPS with every rule on: the ordinary document, the accepted examples of all rules in turn,
 * and the most expensive of these. Judging is synchronous and short, so the CPU time of this thread is measured in
 * blocks. The report gives the median of the blocks.
 */
import { readXml } from '../src/documents/xml.ts';
import type { Facts } from '../src/fiscal/facts.ts';
import { judge } from '../src/fiscal/judge.ts';
import type { Dps } from '../src/fiscal/layout/dps.ts';
import { readDps } from '../src/fiscal/layout/read.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';
import { ALL_RULES } from '../src/fiscal/rules/rules.ts';
import { EXAMPLE_FACTS, isJsonOnly } from '../src/fiscal/rules/trial.ts';

const BLOCKS = 31;
/** Judgements counted together: the kernel's count of a thread may lag by four milliseconds. */
const PER_BLOCK = 2_000;

export type JudgeFigures = {
  readonly rules: number;
  readonly documents: number;
  /** Medians, in microseconds per DPS. */
  readonly ordinary: number;
  readonly mixed: number;
  readonly dearest: number;
};

export function judgeFigures(): JudgeFigures {
  const facts: Facts = { ...EXAMPLE_FACTS, hoje: '2026-12-31' };
  // An example with a register takes its rate from there.
  const patches: readonly Patch[] = ALL_RULES.filter(({ given }) => given === undefined)
    .flatMap(({ accepts }) => accepts)
    .filter((patch) => !isJsonOnly(patch));
  const documents = patches.map(dpsOf);
  const ordinary = [dpsOf({})];
  timed(documents, facts);
  return {
    rules: ALL_RULES.length,
    documents: documents.length,
    ordinary: timed(ordinary, facts),
    mixed: timed(documents, facts),
    dearest: Math.max(...documents.map((dps) => timed([dps], facts, 1))),
  };
}

/** The median of the blocks, in microseconds per document. */
function timed(documents: readonly Dps[], facts: Facts, blocks = BLOCKS): number {
  const figures: number[] = [];
  let next = 0;
  for (let block = 0; block < blocks; block += 1) {
    const before = process.threadCpuUsage();
    for (let count = 0; count < PER_BLOCK; count += 1) {
      const judged = judge(documents[next++ % documents.length]!, facts);
      if ('faults' in judged) throw new Error(judged.faults[0]!.mensagem);
    }
    const { user, system } = process.threadCpuUsage(before);
    figures.push((user + system) / PER_BLOCK);
  }
  return figures.toSorted((a, b) => a - b)[Math.floor(blocks / 2)]!;
}

function dpsOf(patch: Patch): Dps {
  const reading = readXml(Buffer.from(exampleXml(patch)));
  if ('fault' in reading) throw new Error(reading.fault.mensagem);
  const read = readDps(reading.root);
  if ('faults' in read) throw new Error(read.faults[0]!.mensagem);
  return read.dps;
}
