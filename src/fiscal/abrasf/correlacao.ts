/**
 * The correlation that the sandbox has from the start (D-219): what an RPS of ABRASF 1.00 cannot say is chosen from the national list of
 * services and from Anexo VIII, so that a program of 2010 issues there as it is. A municipality has only what it imports.
 */
import { correlacoesOfSubitem, nbsOf, servicos } from '../catalogs/catalogs.ts';
import type { Correlacao as LinhaAnexo8 } from '../catalogs/rows.ts';
import { INDICADORES_DE_IMOVEL } from '../operation.ts';
import type { Rps } from './rps.ts';
import { type Correlacao, codigoDoRps, subitemOf } from './rps-values.ts';

/** Taxation in full. */
const INTEGRAL = '000001';

/** Kind of immunity of what is sent as immune: 3, entities of article 150, VI, c, of the Constitution. */
const IMUNIDADE = '3';

/**
 * The choice for an RPS, always the same: the national code that it names, else the first of its subitem; of the lines of the annex for
 * that code one of taxation in full, else of the lowest classification; of those the lowest NBS, and the lowest indicator. Undefined: there is
 * no such subitem.
 */
export function correlacaoDaIntegracao(rps: Rps): Correlacao | undefined {
  const subitem = subitemOf(rps.get('Servico/ItemListaServico') ?? '');
  const own = codigoDoRps(rps);
  const cTribNac = own ?? servicos().find((one) => one.emissivel && one.subitem === subitem)?.codigo;
  if (subitem === undefined || cTribNac === undefined) return undefined;
  const [best] = correlacoesOfSubitem(subitem)
    .filter((line) => fits(line, cTribNac))
    .toSorted(byPreference);
  const cNBS = best?.nbs;
  // Who says a part of IBS and CBS is told what is missing of it.
  const isSaid = ['CST', 'cClassTrib'].some((name) => rps.has(`ControleIBSCBS/${name}`));
  const cClassTrib = isSaid ? undefined : best?.cClassTrib;
  const CST = cClassTrib?.slice(0, 3);
  // The model has no place for the property that such an indicator asks for; without one the service fills it in, as for everybody (D-108).
  const cIndOp = INDICADORES_DE_IMOVEL.has(best?.cIndOp ?? '') ? undefined : best?.cIndOp;
  return { cTribNac, cNBS, CST, cClassTrib, cIndOp, tpImunidade: IMUNIDADE, nBM: undefined };
}

/** What is sent by this port is paid for, in the country, and has an NBS that a note may carry. */
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
