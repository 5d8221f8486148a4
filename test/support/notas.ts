/** Notes as they are authorised, from the examples of the rules: the DPS of a patch, checked and composed without a service. */
import { buildChave, dpsIdOf } from '../../src/fiscal/chave.ts';
import { composeNfse } from '../../src/fiscal/compose-nfse.ts';
import type { Facts } from '../../src/fiscal/facts.ts';
import { judge } from '../../src/fiscal/judge.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { ALL_RULES } from '../../src/fiscal/rules/rules.ts';
import { isJsonOnly } from '../../src/fiscal/rules/trial.ts';
import { dpsOf, EXAMPLE_FACTS } from './law.ts';

/** A well-formed key of a note that does not exist. */
export const NO_SUCH_KEY = '35503081211222333000181000000000000126091234567895';

export const EXAMPLE_CHAVE = buildChave({
  cMun: '3550308',
  ambGer: '1',
  documento: '11222333000181',
  nNFSe: '42',
  anoMes: '2610',
  codigo: '123456789',
});

/** The NFS-e of the example of a patch: number 42, emitted on 05/10/2026 at 10:15:30 in Brasília. */
export function nfseOf(patch: Patch = {}, facts: Partial<Facts> = {}, tpAmb: '1' | '2' = '1'): Buffer {
  const dps = dpsOf(patch);
  // The competences of the examples reach the end of the year.
  const all: Facts = { ...EXAMPLE_FACTS, hoje: '2027-12-31', ...facts };
  const judged = judge(dps, all);
  if ('faults' in judged) throw new Error(judged.faults.map(({ mensagem }) => mensagem).join(' '));
  const { cLocEmi } = dps;
  const nfse = composeNfse(dps, all, judged, {
    chave: EXAMPLE_CHAVE,
    nNFSe: '42',
    nDFSe: '1042',
    idDps: dpsIdOf({ cLocEmi, documento: dps.prest.CNPJ ?? dps.prest.CPF!, serie: '70000', nDPS: '42' }),
    serie: dps.serie ?? '70000',
    nDPS: dps.nDPS ?? '42',
    dhEmi: '2026-10-05T10:15:30-03:00',
    tpAmb,
  });
  return Buffer.from(nfse);
}

/** Every accepted example that can be sent as XML, without those whose rate comes from a benefit in the registry. */
export function acceptedPatches(): readonly Patch[] {
  return ALL_RULES.flatMap(({ accepts, given }) =>
    accepts.filter((patch) => given === undefined || patch['valores/trib/tribMun/pAliq'] !== null),
  ).filter((patch) => !isJsonOnly(patch));
}
