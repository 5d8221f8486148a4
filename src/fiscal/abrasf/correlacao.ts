/**
 * The correlation that the sandbox has from the start (D-219). It fills in the codes that an RPS of ABRASF 1.00 has no element for. A
 * program of 2010 therefore issues there unchanged. The codes come from the national list of services and from Anexo VIII. A municipality
 * has only the correlation that it imports.
 */
import { correlacoesOfSubitem, nbsOf, readSubitem, servicos } from '../catalogs/catalogs.ts';
import type { Correlacao as LinhaAnexo8 } from '../catalogs/rows.ts';
import { INDICADORES_DE_IMOVEL } from '../operation.ts';
import type { Correlacao } from '../registers.ts';
import type { Rps } from './rps.ts';
import { codigoDoRps } from './rps-values.ts';

/** Classification of full taxation. */
const INTEGRAL = '000001';

/** Kind of immunity of an RPS that is sent as immune: 3, entities of article 150, VI, c, of the Constitution. */
const IMUNIDADE = '3';

/**
 * The choice for an RPS, always the same. The national code is the one that the RPS names, else the first of its subitem. Among the annex
 * lines of that code, full taxation comes first, then the lowest classification. Ties are decided by the lowest NBS, then by the lowest
 * indicator. Undefined: there is no such subitem.
 */
export function correlacaoDaIntegracao(rps: Rps): Correlacao | undefined {
  const subitem = readSubitem(rps.get('Servico/ItemListaServico') ?? '');
  const own = codigoDoRps(rps);
  const cTribNac = own ?? servicos().find((one) => one.emissivel && one.subitem === subitem)?.codigo;
  if (subitem === undefined || cTribNac === undefined) return undefined;
  const [best] = correlacoesOfSubitem(subitem)
    .filter((line) => fits(line, cTribNac))
    .toSorted(byPreference);
  const cNBS = best?.nbs;
  // A sender that gives CST or cClassTrib gets no default for the other: the missing one is reported as a fault.
  const isSaid = ['CST', 'cClassTrib'].some((name) => rps.has(`ControleIBSCBS/${name}`));
  const cClassTrib = isSaid ? undefined : best?.cClassTrib;
  const CST = cClassTrib?.slice(0, 3);
  // The model has no element for the property that such an indicator requires. A note without an indicator gets one from the service
  // (D-84).
  const cIndOp = INDICADORES_DE_IMOVEL.has(best?.cIndOp ?? '') ? undefined : best?.cIndOp;
  return { cTribNac, cNBS, CST, cClassTrib, cIndOp, tpImunidade: IMUNIDADE, nBM: undefined };
}

/** A line fits an onerous operation with an acquirer in the country, if a note may carry its NBS. */
function fits(line: LinhaAnexo8, cTribNac: string): boolean {
  const isOfCode = line.cTribNac === undefined || line.cTribNac === cTribNac;
  return isOfCode && line.adqExterior !== true && line.psOnerosa !== false && nbsOf(line.nbs ?? '')?.emissivel === true;
}

function byPreference(one: LinhaAnexo8, other: LinhaAnexo8): number {
  const keyOf = ({ cClassTrib = '', nbs = '', cIndOp = '' }: LinhaAnexo8): string =>
    `${cClassTrib === INTEGRAL ? 0 : 1} ${cClassTrib} ${nbs} ${cIndOp}`;
  const [first, second] = [keyOf(one), keyOf(other)];
  return first < second ? -1 : first > second ? 1 : 0;
}
