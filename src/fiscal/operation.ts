/**
 * The operation of a DPS, as the IBS and the CBS see it: where it takes place, which indicator it has when its sender gave none, and
 * which rates are in force there.
 */
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
 * `cLocalidadeIncid` and `xLocalidadeIncid` (E1521): the address that the indicator points to (Anexo C), and the provider's
 * municipality where that address is not given. Undefined only when `cLocEmi` is no municipality, which E403 refuses.
 */
export function placeOfIbsCbs(dps: Dps, cIndOp: string): IbsCbsPlace | undefined {
  return decidingPlace(dps, indicadorOf(cIndOp)?.campoLocal) ?? municipality(dps.cLocEmi);
}

function decidingPlace(dps: Dps, campoLocal: (typeof CAMPOS_LOCAL)[number] | undefined): IbsCbsPlace | undefined {
  switch (campoLocal) {
    // An event has a CEP and no municipality; its services are provided where it is held (LC 116 art. 3, XVIII and XXI).
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
    // The shared DPS has no address of the provider (E0128): it is the one in `emit`, in cLocEmi (E1286).
    case 'prest':
    case undefined:
      return undefined;
  }
}

/** Who names a recipient and does not say so meant that it is not the taker. */
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
 * "Demais serviços, em operações onerosas": what is not specified elsewhere. The more specific indicators turn on facts
 * that no field of the DPS holds (was the person there, was the thing brought along), so whoever means one must name it.
 */
const REMAINING_SERVICES = '100301';

/** Indicators of operations with a property, which the note then has to identify (E0932). */
export const INDICADORES_DE_IMOVEL: ReadonlySet<string> = new Set(['020101', '020201', '020301']);

/**
 * The operation indicator of a sender that gave none (D-15): the one that Anexo VIII has for the service, else the one for
 * all other services; one that demands a property only when there is a property.
 */
export function defaultIndOp(dps: Dps): string {
  const cIndOp = correlatedIndOp(dps);
  const lacksImovel = cIndOp !== undefined && INDICADORES_DE_IMOVEL.has(cIndOp) && dps.IBSCBS?.imovel === undefined;
  return cIndOp === undefined || lacksImovel ? REMAINING_SERVICES : cIndOp;
}

/**
 * The only indicator that Anexo VIII has for the service, its NBS and its classification. The annex is initial work
 * (D-84), so an indicator that the national environment would not take (E0901) is not drawn from it.
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
 * The rates of a tribute that an operation could have: its classification's own, and everybody's. Undefined for a document without
 * the group.
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
