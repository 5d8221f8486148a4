/**
 * From the DPS that was received to the one that stands in the note: what the national reception wants and a sender need
 * not give is filled in, what it refuses is left out (D-34).
 *
 * Spellings were made national when the DPS was read. Nothing is computed here, and what does not change is shared with
 * the original, not copied. One thing cannot be made up, `nBM`: production refuses a benefit without it (D-192), and what
 * the sandbox writes is no national note then.
 */
import type { Dps } from './dps.ts';
import type { DpsNacional } from './nfse.ts';

/** What the service decides: its environment and clock, the number that was taken, and what its tables say. */
export type Filled = {
  readonly tpAmb: '1' | '2';
  readonly dhEmi: string;
  readonly serie: string;
  readonly nDPS: string;
  /** From the correlation with the service, for a sender that gave none. */
  readonly cIndOp?: string | undefined;
};

export function normaliseDps(dps: Dps, filled: Filled): DpsNacional {
  const { tpAmb, dhEmi, serie, nDPS } = filled;
  const { IBSCBS } = dps;
  const normalised = {
    ...dps,
    tpAmb,
    dhEmi,
    serie,
    nDPS,
    prest: dps.tpEmit === '1' ? dropRegistered(dps.prest) : dps.prest,
    serv: fillMdic(dps.serv),
    ...(IBSCBS === undefined ? {} : { IBSCBS: completeIbsCbs(IBSCBS, filled.cIndOp) }),
  };
  return normalised as DpsNacional;
}

/** When the provider issues, name and address stand in `emit` of the note, and here the ADN refuses them (E0121, E0128). */
function dropRegistered(prest: Dps['prest']): Dps['prest'] {
  if (prest.xNome === undefined && prest.end === undefined) return prest;
  const { xNome: _name, end: _address, ...rest } = prest;
  return rest;
}

function fillMdic(serv: Dps['serv']): Dps['serv'] {
  const { comExt } = serv;
  return comExt === undefined || comExt.mdic !== undefined ? serv : { ...serv, comExt: { ...comExt, mdic: '0' } };
}

/** Who names a recipient and does not say so meant that it is not the taker. */
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
