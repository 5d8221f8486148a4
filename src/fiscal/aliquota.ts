/** The rate of the ISSQN that the registry knows for a DPS. The rate that applies in the end is chosen by `chooseAliquota`. */
import { AMBIENTES } from './ambiente.ts';
import type { chooseAliquota } from './assess.ts';
import { beneficioOf, isIsenta } from './cadastros.ts';
import { municipioInWords } from './catalogs/catalogs.ts';
import { type Decimal, formatDecimal } from './decimal.ts';
import type { AliquotaRegistrada, Facts, ServicoMunicipal } from './facts.ts';
import { incidenceOf } from './incidence.ts';
import type { Dps } from './layout/dps.ts';
import { T } from './layout/simple-types.ts';

/** The answer of the registry about the rate of a DPS (D-146, D-188). */
export type Registro =
  | { readonly kind: 'uma'; readonly aliquota: Decimal }
  /** The rate of a registered benefit, which precedes every other rate. */
  | { readonly kind: 'do_beneficio'; readonly aliquota: Decimal; readonly nBM: string }
  /** Municipal services with different rates share the national code, and the DPS does not say which of them it means. */
  | { readonly kind: 'varias'; readonly servicos: readonly ServicoMunicipal[] }
  /** The tax belongs to another municipality, and so does the rate. */
  | { readonly kind: 'de_outro'; readonly cMun: string; readonly cLocIncid: string }
  /** A company that assesses inside the Simples Nacional has a rate of its own, and sent it. */
  | { readonly kind: 'do_simples' }
  /** The municipality has neither a list of services nor a general rate; `cMun` undefined: the shared sandbox, which is no municipality. */
  | { readonly kind: 'sem_cadastro'; readonly cMun: string | undefined }
  /** The municipality has a list, and the service has no rate in it. */
  | { readonly kind: 'sem_aliquota'; readonly servico: string }
  /** The operation has no incidence, or the DPS does not say where it is (E1305). */
  | { readonly kind: 'sem_incidencia' };

/**
 * The rate that the tenant registered for the service, if it applies. The tax must be the tenant's own, since the tax of another
 * municipality has another rate. The shared sandbox counts as every municipality. A company that assesses inside the Simples Nacional sends
 * its own rate instead (LC 123/2006, art. 21, § 4º; Anexo I, E0621).
 */
export function registroOf(dps: Dps, facts: Facts): Registro {
  const { cMun, aliquotaRegistrada } = facts;
  if (cMun !== undefined) {
    const cLocIncid = incidenceOf(dps);
    if (cLocIncid === undefined) return { kind: 'sem_incidencia' };
    if (cLocIncid !== cMun) return { kind: 'de_outro', cMun, cLocIncid };
  }
  const beneficio = beneficioOf(dps, facts);
  if (beneficio?.aliquota !== undefined) {
    return { kind: 'do_beneficio', aliquota: beneficio.aliquota, nBM: beneficio.numero };
  }
  if (assessesInSimples(dps) && dps.valores.trib.tribMun.pAliq !== undefined) return { kind: 'do_simples' };
  const { cTribNac, cTribMun } = dps.serv.cServ;
  const registrada = aliquotaRegistrada(cTribNac, cTribMun, dps.dCompet);
  if (registrada === undefined) {
    if (facts.servicoMunicipal(cTribMun ?? '', dps.dCompet) === 'sem_lista') return { kind: 'sem_cadastro', cMun };
    return { kind: 'sem_aliquota', servico: cTribMun === undefined ? `cTribNac ${cTribNac}` : `cTribMun ${cTribMun}` };
  }
  return typeof registrada === 'bigint'
    ? { kind: 'uma', aliquota: registrada }
    : { kind: 'varias', servicos: registrada };
}

/** The one rate that is registered for a DPS. */
export function registeredAliquotaOf(dps: Dps, facts: Facts): Decimal | undefined {
  const registro = registroOf(dps, facts);
  return registro.kind === 'uma' || registro.kind === 'do_beneficio' ? registro.aliquota : undefined;
}

/**
 * Every rate of the ISSQN that may apply to a DPS; `chooseAliquota` selects one of them. The sandbox has no rate of its own when the
 * national rules refuse (D-61).
 */
export function aliquotasOf(dps: Dps, facts: Facts): Parameters<typeof chooseAliquota>[0] {
  // An exemption needs no rate.
  const isStrict = facts.regrasNacionais === 'recusa' || isIsenta(dps, facts);
  return {
    registered: registeredAliquotaOf(dps, facts),
    declared: dps.valores.trib.tribMun.pAliq,
    fallback: isStrict ? undefined : AMBIENTES[facts.ambiente].fallbackAliquota,
  };
}

/** The sandbox's own rate, if it applies. */
export function sandboxAliquotaOf(dps: Dps, facts: Facts): Decimal | undefined {
  const { registered, declared, fallback } = aliquotasOf(dps, facts);
  return registered === undefined && declared === undefined ? fallback : undefined;
}

/** The rate of the municipal services that a DPS may mean: a single rate only if all of them agree. */
export function aliquotaAmong(servicos: readonly ServicoMunicipal[]): AliquotaRegistrada {
  const aliquota = servicos[0]?.aliquota;
  return servicos.every((one) => one.aliquota === aliquota) ? aliquota : servicos;
}

/** Whether a rate is that of one of the services. */
export function isAmong(servicos: readonly ServicoMunicipal[], aliquota: Decimal | undefined): boolean {
  return aliquota !== undefined && servicos.some((one) => one.aliquota === aliquota);
}

/** Whether the provider says that it pays its ISSQN in the Simples Nacional, by its receipts. A MEI does not: it pays a fixed sum. */
export function assessesInSimples({ prest }: Dps): boolean {
  return prest.regTrib.opSimpNac === '3' && prest.regTrib.regApTribSN === '1';
}

// The same condition in words.

/** The number of list entries shown in a sentence. */
const ALIQUOTAS_SHOWN = 8;
const CODIGOS_SHOWN = 4;

/** The rates of the services, each with the municipal codes that have it: `2.00% (001, 002) e 3.00% (003)`. */
export function aliquotasInWords(servicos: readonly ServicoMunicipal[]): string {
  const groups = [...Map.groupBy(servicos, ({ aliquota }) => aliquota)]
    .toSorted(([one = NO_RATE], [other = NO_RATE]) => (one < other ? -1 : 1))
    .map(([aliquota, of]) => {
      const codigos = [...new Set(of.map(({ codigo }) => codigo))];
      const rate = aliquota === undefined ? 'nenhuma' : `${formatDecimal(aliquota)}%`;
      return `${rate} (${enumerate(codigos, CODIGOS_SHOWN, ', ')})`;
    });
  return enumerate(groups, ALIQUOTAS_SHOWN, ' e ');
}

/** A sort key below every rate. */
const NO_RATE = -1n;

function enumerate(words: readonly string[], max: number, last: string): string {
  const shown = words.length > max ? [...words.slice(0, max), `mais ${words.length - max}`] : words;
  return shown.length === 1 ? shown[0]! : `${shown.slice(0, -1).join(', ')}${last}${shown.at(-1)}`;
}

/** The pattern of `cTribMun`; a service with a longer code cannot be named there. */
export const CTRIBMUN = new RegExp(`^(?:${T.cTribMun.pattern})$`);

/** How to name one of the services: a code longer than `cTribMun` is replaced by the rate. */
function whichInWords(servicos: readonly ServicoMunicipal[]): string {
  const ways = [
    ...(servicos.some(({ codigo }) => CTRIBMUN.test(codigo)) ? ['em cTribMun o código municipal do serviço'] : []),
    ...(servicos.every(({ codigo }) => CTRIBMUN.test(codigo)) ? [] : ['em pAliq a alíquota do serviço']),
  ];
  return `Informe ${ways.join(', ou ')}`;
}

/** Why no registered rate applies; undefined if one does, or if the provider's own rate precedes it. */
export function whyNoneApplies(registro: Registro): string | undefined {
  switch (registro.kind) {
    case 'varias':
      return `a alíquota cadastrada depende do código municipal do serviço, que a DPS não traz: ${aliquotasInWords(registro.servicos)}`;
    case 'de_outro':
      return `o ISSQN é devido em ${municipioInWords(registro.cLocIncid)}, a que não se aplicam as alíquotas de ${municipioInWords(registro.cMun)}`;
    case 'sem_cadastro':
      return registro.cMun === undefined
        ? 'este ambiente não tem alíquotas cadastradas'
        : `${municipioInWords(registro.cMun)} não tem lista de serviços nem alíquota padrão`;
    case 'sem_aliquota':
      return `o serviço (${registro.servico}) não tem alíquota na lista do município`;
    case 'sem_incidencia':
      return 'a DPS não permite saber em que município o ISSQN é devido';
    default:
      return undefined;
  }
}

/** How a sender supplies a rate if none is known. */
export function howToNameOne(registro: Registro): string {
  switch (registro.kind) {
    case 'varias':
      return `${whichInWords(registro.servicos)}.`;
    case 'de_outro':
      return `Informe em pAliq a alíquota de ${municipioInWords(registro.cLocIncid)}.`;
    default:
      return 'Informe em pAliq a alíquota do município.';
  }
}
