/**
 * The law over one document, offline: structure, rules and amounts with the facts of the sandbox, since there is no
 * registry to ask. Nothing is numbered or stored.
 */
import { readXml } from '../documents/xml.ts';
import type { IssqnAmounts } from '../fiscal/assess.ts';
import { type Aviso, type Refusal, refusalOf } from '../fiscal/fault.ts';
import { judge } from '../fiscal/judge.ts';
import type { Dps } from '../fiscal/layout/dps.ts';
import { readDps } from '../fiscal/layout/read.ts';
import { EXAMPLE_FACTS } from '../fiscal/rules/trial.ts';
import { placedFaults, versionFault } from './document-faults.ts';
import { prestadorOfFirstDps } from './gather-facts.ts';

export type Validated = { readonly dps: Dps; readonly amounts: IssqnAmounts; readonly avisos: readonly Aviso[] };

/** `hoje` as `YYYY-MM-DD`. */
export function validateDps(body: Uint8Array, hoje: string): Validated | Refusal {
  const reading = readXml(body);
  if ('fault' in reading) return { faults: [reading.fault] };
  const version = versionFault(reading.root);
  if (version !== undefined) return refusalOf(placedFaults([version], reading))!;
  const read = readDps(reading.root);
  if ('faults' in read) return refusalOf(placedFaults(read.faults, reading))!;
  const documento = read.dps.prest.CNPJ ?? read.dps.prest.CPF;
  const found = documento === undefined ? undefined : prestadorOfFirstDps(read.dps, documento);
  if (found !== undefined && found.faults.length > 0) return refusalOf(placedFaults(found.faults, reading))!;
  const judged = judge(read.dps, { ...EXAMPLE_FACTS, hoje, prestador: found?.prestador ?? EXAMPLE_FACTS.prestador });
  if ('faults' in judged) return refusalOf(placedFaults(judged.faults, reading))!;
  return { dps: read.dps, amounts: judged.amounts, avisos: judged.avisos };
}
