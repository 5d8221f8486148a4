/**
 * Converts the received DPS to the one that stands in the note (D-34). Elements that the national reception requires and a sender may omit
 * are filled in; elements that it refuses are left out.
 *
 * Spellings were made national when the DPS was read. Nothing is computed here, and unchanged parts are shared with the original, not
 * copied. `nBM` cannot be filled in: production refuses a benefit without it (D-192), and the sandbox then writes a note that is not
 * national.
 */
import type { Dps } from './dps.ts';
import type { DpsNacional } from './nfse.ts';

/** The values that the service decides: its environment and clock, the assigned number, and results of its tables. */
export type Filled = {
  readonly tpAmb: '1' | '2';
  readonly dhEmi: string;
  readonly serie: string;
  readonly nDPS: string;
  /** The indicator from the correlation with the service, for a sender that gave none. */
  readonly cIndOp?: string | undefined;
};

export function normaliseDps(dps: Dps, filled: Filled): DpsNacional {
  const { tpAmb, serie, nDPS } = filled;
  const { IBSCBS } = dps;
  const normalised = {
    ...dps,
    tpAmb,
    // A DPS of the national door has a signed moment.
    dhEmi: dps.dhEmi ?? filled.dhEmi,
    serie,
    nDPS,
    prest: dps.tpEmit === '1' ? dropRegistered(dps.prest) : dps.prest,
    serv: fillMdic(dps.serv),
    ...(IBSCBS === undefined ? {} : { IBSCBS: completeIbsCbs(IBSCBS, filled.cIndOp) }),
  };
  return normalised as DpsNacional;
}

/** Name and address of an issuing provider stand in `emit` of the note; the ADN refuses them here (E0121, E0128). */
function dropRegistered(prest: Dps['prest']): Dps['prest'] {
  if (prest.xNome === undefined && prest.end === undefined) return prest;
  const { xNome: _name, end: _address, ...rest } = prest;
  return rest;
}

function fillMdic(serv: Dps['serv']): Dps['serv'] {
  const { comExt } = serv;
  return comExt === undefined || comExt.mdic !== undefined ? serv : { ...serv, comExt: { ...comExt, mdic: '0' } };
}

/** A sender that names a recipient without `indDest` means a recipient other than the taker. */
function completeIbsCbs(ibscbs: NonNullable<Dps['IBSCBS']>, cIndOp: string | undefined): NonNullable<Dps['IBSCBS']> {
  const { finNFSe, indDest } = ibscbs;
  if (finNFSe !== undefined && indDest !== undefined && ibscbs.cIndOp !== undefined) return ibscbs;
  return {
    ...ibscbs,
    finNFSe: finNFSe ?? '0',
    indDest: indDest ?? (ibscbs.dest === undefined ? '0' : '1'),
    ...(ibscbs.cIndOp === undefined && cIndOp !== undefined ? { cIndOp } : {}),
  };
}
