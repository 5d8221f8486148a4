/** The place where the ISSQN of an operation is due (LC 116/2003, art. 3; decided in D-22): derived, never sent in XML. */
import { servicoOf } from './catalogs/catalogs.ts';
import type { Dps } from './layout/dps.ts';

/** Maritime waters in `cLocPrestacao`. */
export const MARITIME = '0000000';

/**
 * IBGE code of the municipality of incidence. Undefined if the operation has none (immunity, export, non-incidence). Also undefined if the
 * document does not allow its derivation, which E1305 reports.
 */
export function incidenceOf(dps: Dps): string | undefined {
  return dps.valores.trib.tribMun.tribISSQN === '1' ? placeOfIssqn(dps) : undefined;
}

/** The place where the tax of a service would be due if the operation were taxable. */
export function placeOfIssqn(dps: Dps): string | undefined {
  const { locPrest, cServ } = dps.serv;
  switch (servicoOf(cServ.cTribNac)?.regra) {
    case 'LP':
      return locPrest.cLocPrestacao === MARITIME ? dps.cLocEmi : locPrest.cLocPrestacao;
    case 'ET':
      return takersMunicipio(dps);
    case 'NI':
      return undefined;
    default:
      return dps.cLocEmi;
  }
}

/** Taker abroad: the place of provision, with a notice on the note (national scenarios 64 and 78). */
function takersMunicipio({ toma, serv }: Dps): string | undefined {
  if (toma?.end?.endExt !== undefined) return serv.locPrest.cLocPrestacao;
  return toma?.end?.endNac?.cMun;
}
