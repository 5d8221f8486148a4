/** The operation of a DPS for the IBS and the CBS: its place, its default indicator, and the rates in force there. */
import { type AliquotaLida, aliquotaGeral, aliquotaPropria, type TabelaIbsCbs } from './aliquotas-ibs-cbs.ts';
import type { CAMPOS_LOCAL, TributoIbsCbs } from './catalogs/catalogs.ts';
import {
  correlacoesOf,
  correlacoesOfSubitem,
  indicadorOf,
  municipioOf,
  paisOf,
  servicoOf,
} from './catalogs/catalogs.ts';
import type { Dps } from './layout/dps.ts';

/** The code of a place abroad. The annex writes 999999, which a type of seven digits cannot hold. */
const ABROAD = '9999999';

export type IbsCbsPlace = { readonly codigo: string; readonly nome: string };

/**
 * `cLocalidadeIncid` and `xLocalidadeIncid` (E1521): the address that the indicator points to (Anexo C), or the provider's municipality if
 * that address is not given. Undefined only if `cLocEmi` is no municipality, which E403 refuses.
 */
export function placeOfIbsCbs(dps: Dps, cIndOp: string): IbsCbsPlace | undefined {
  return decidingPlace(dps, indicadorOf(cIndOp)?.campoLocal) ?? municipality(dps.cLocEmi);
}

function decidingPlace(dps: Dps, campoLocal: (typeof CAMPOS_LOCAL)[number] | undefined): IbsCbsPlace | undefined {
  switch (campoLocal) {
    // An event has a CEP and no municipality; its services are provided at its place (LC 116 art. 3, XVIII and XXI).
    case 'atvEvento':
    case 'cLocPrestacao': {
      const { cLocPrestacao, cPaisPrestacao } = dps.serv.locPrest;
      return municipality(cLocPrestacao) ?? country(cPaisPrestacao);
    }
    case 'dest':
    case 'destOuToma':
    case 'destOuTomaExterior': {
      const end = recipientOf(dps)?.end;
      return municipality(end?.endNac?.cMun) ?? country(end?.endExt?.cPais);
    }
    // The shared DPS has no address of the provider (E0128): the address is the one in `emit`, in cLocEmi (E1286).
    case 'prest':
    case undefined:
      return undefined;
  }
}

/** A sender that names a recipient without `indDest` means a recipient other than the taker. */
function recipientOf({ IBSCBS, toma }: Dps): { readonly end?: NonNullable<Dps['toma']>['end'] } | undefined {
  if (IBSCBS === undefined) return toma;
  const isTaker = IBSCBS.indDest === undefined ? IBSCBS.dest === undefined : IBSCBS.indDest === '0';
  return isTaker ? toma : IBSCBS.dest;
}

function municipality(codigo: string | undefined): IbsCbsPlace | undefined {
  const nome = codigo && municipioOf(codigo)?.nome;
  return codigo && nome ? { codigo, nome } : undefined;
}

function country(cPais: string | undefined): IbsCbsPlace | undefined {
  const nome = cPais && paisOf(cPais)?.nome;
  return nome ? { codigo: ABROAD, nome } : undefined;
}

/**
 * "Demais serviços, em operações onerosas": operations that no other indicator specifies. The more specific indicators depend on facts that
 * the DPS has no field for: presence of the person, transport of the thing. The sender must therefore name them.
 */
const REMAINING_SERVICES = '100301';

/** Indicators of operations with a property, which the note must then identify (E0932). */
export const INDICADORES_DE_IMOVEL: ReadonlySet<string> = new Set(['020101', '020201', '020301']);

/**
 * The operation indicator of a sender that gave none (D-15): the one that Anexo VIII has for the service, else the one for all other
 * services. An indicator that requires a property is used only if the DPS has one.
 */
export function defaultIndOp(dps: Dps): string {
  const cIndOp = correlatedIndOp(dps);
  const lacksImovel = cIndOp !== undefined && INDICADORES_DE_IMOVEL.has(cIndOp) && dps.IBSCBS?.imovel === undefined;
  return cIndOp === undefined || lacksImovel ? REMAINING_SERVICES : cIndOp;
}

/**
 * The only indicator that Anexo VIII has for the service, its NBS and its classification. The annex is initial work (D-84), so an indicator
 * that the national environment refuses (E0901) is ignored.
 */
export function correlatedIndOp({ serv: { cServ }, IBSCBS }: Dps): string | undefined {
  const subitem = servicoOf(cServ.cTribNac)?.subitem;
  const cClassTrib = IBSCBS?.valores.trib.gIBSCBS.cClassTrib;
  if (subitem === undefined || cClassTrib === undefined) return undefined;

  const ofNbs = correlacoesOf(cServ.cNBS).filter((row) => row.subitem === subitem);
  const rows = ofNbs.length > 0 ? ofNbs : correlacoesOfSubitem(subitem);
  const candidates = new Set<string>();
  for (const { cIndOp, cTribNac = cServ.cTribNac, cClassTrib: of } of rows) {
    if (cIndOp !== undefined && of === cClassTrib && cTribNac === cServ.cTribNac) candidates.add(cIndOp);
  }
  const [only, another] = candidates;
  const indicador = only === undefined || another !== undefined ? undefined : indicadorOf(only);
  return indicador?.emAnexoC && indicador.validoNFSe ? indicador.codigo : undefined;
}

/** The indicator that the note carries. */
export function indOpOf(dps: Dps): string {
  return dps.IBSCBS?.cIndOp ?? defaultIndOp(dps);
}

/** IBGE code of the place of the operation. */
export function localOf(dps: Dps): string | undefined {
  return placeOfIbsCbs(dps, indOpOf(dps))?.codigo;
}

/**
 * The rates of a tribute that an operation could have: its classification's own, and the general one. Undefined for a document without the
 * group.
 */
export function aliquotasDe(
  dps: Dps,
  tributo: TributoIbsCbs,
  tabela: TabelaIbsCbs,
): { readonly propria: AliquotaLida | undefined; readonly geral: AliquotaLida | undefined } | undefined {
  const { IBSCBS, dCompet } = dps;
  if (IBSCBS === undefined) return undefined;
  const asked = { data: dCompet, local: localOf(dps), cClassTrib: IBSCBS.valores.trib.gIBSCBS.cClassTrib };
  return {
    propria: aliquotaPropria(tabela, tributo, asked),
    geral: aliquotaGeral(tabela, tributo, asked),
  };
}
