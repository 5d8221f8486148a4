/** The rate of the ISSQN that the registry knows for a DPS. Which rate applies in the end is `chooseAliquota`'s to say. */
import type { Decimal } from './decimal.ts';
import type { Facts } from './facts.ts';
import { incidenceOf } from './incidence.ts';
import type { Dps } from './layout/dps.ts';

/**
 * The rate that the tenant registered for the service, where it applies: the tax must be the tenant's own, since another
 * municipality's is not at its rate (the sandbox is every municipality's), and a company that assesses inside the Simples
 * Nacional has a rate of its own, the one that it sends (LC 123/2006, art. 21, § 4º; Anexo I, E0621).
 */
export function registeredAliquotaOf(dps: Dps, { cMun, aliquotaRegistrada }: Facts): Decimal | undefined {
  if (cMun !== undefined && incidenceOf(dps) !== cMun) return undefined;
  if (assessesInSimples(dps) && dps.valores.trib.tribMun.pAliq !== undefined) return undefined;
  const { cTribNac, cTribMun } = dps.serv.cServ;
  return aliquotaRegistrada(cTribNac, cTribMun, dps.dCompet);
}

/** Whether the provider says that it pays its ISSQN in the Simples Nacional, by its receipts. A MEI does not: it pays a fixed sum. */
export function assessesInSimples({ prest }: Dps): boolean {
  return prest.regTrib.opSimpNac === '3' && prest.regTrib.regApTribSN === '1';
}
