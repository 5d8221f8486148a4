/**
 * The registers of a municipality besides its services, and their answers about a DPS. A register that the municipality does not keep is
 * undefined, and nothing is judged by it (D-204). The facts hold at least the lines that the DPS names.
 */
import type { Decimal } from './decimal.ts';
import { incidenceOf, placeOfIssqn } from './incidence.ts';
import type { Dps } from './layout/dps.ts';
import { isInForce, type Vigencia } from './moment.ts';

/** The keys of a DPS by which its registers are looked up. */
export type NomeadoPelaDps = {
  readonly nBM: string | undefined;
  /** Absent: only the benefit is looked up. */
  readonly operacao?: {
    readonly cTribNac: string;
    /** CNPJ or CPF of the provider. */
    readonly documento: string;
    /** `regEspTrib`. */
    readonly regime: string;
    /** Whether the DPS has a deduction. */
    readonly deduz: boolean;
  };
};

/** Each kind of benefit, with the code of `tpBM` on the note (NFS-e 1.01, `valores/tpBM`). */
export const TIPOS_BENEFICIO = {
  isencao: '1',
  reducao_percentual: '2',
  reducao_valor: '3',
  aliquota_diferenciada: '4',
} as const;

export type TipoBeneficio = keyof typeof TIPOS_BENEFICIO;

/** The kinds of benefits on screens. */
export const NOMES_DOS_BENEFICIOS: Readonly<Record<TipoBeneficio, string>> = {
  isencao: 'isenção',
  reducao_percentual: 'redução da base, em percentual',
  reducao_valor: 'redução da base, em valor',
  aliquota_diferenciada: 'alíquota diferenciada',
};

export type Beneficio = Vigencia & {
  /** `nBM`. */
  readonly numero: string;
  readonly tipo: TipoBeneficio;
  /** The maximum reduction of the base in percent; only for the kind `reducao_percentual`. */
  readonly reducao: Decimal | undefined;
  /** The rate in percent; only for the kind `aliquota_diferenciada`. */
  readonly aliquota: Decimal | undefined;
  /** National codes; empty: every service. */
  readonly servicos: ReadonlySet<string>;
  /** CNPJ and CPF of the providers; empty: every one. */
  readonly documentos: ReadonlySet<string>;
};

/** Each form of a deduction, with its element of `valores/vDedRed`. */
export const FORMAS_DEDUCAO = { valor: 'vDR', percentual: 'pDR', documentos: 'documentos' } as const;

export type FormaDeducao = keyof typeof FORMAS_DEDUCAO;

/** The forms of deduction that a service may have. */
export type DeducaoAdmitida = Vigencia & { readonly cTribNac: string; readonly formas: ReadonlySet<FormaDeducao> };

/** A provider, or every provider, in a special regime. */
type RegimeDoPrestador = Vigencia & {
  /** `regEspTrib`. */
  readonly regime: string;
  /** CNPJ or CPF; empty: every provider. */
  readonly documento: string;
  /** National codes; empty: every service. */
  readonly servicos: ReadonlySet<string>;
};

/** A service that is not taxed; an empty document means every provider. */
type NaoIncidencia = Vigencia & { readonly cTribNac: string; readonly documento: string };

/** The registers, with lines in the order of their dates. */
export type Cadastros = {
  readonly beneficios: readonly Beneficio[] | undefined;
  readonly deducoes: readonly DeducaoAdmitida[] | undefined;
  readonly regimes:
    | {
        /** The services that have any line in the register. */
        readonly admitidos: ReadonlySet<string>;
        readonly linhas: readonly RegimeDoPrestador[];
      }
    | undefined;
  readonly naoIncidencias: readonly NaoIncidencia[] | undefined;
};

/** The registers in the facts, and the municipality that they belong to. */
export type CadastrosFacts = {
  /** The tenant's own municipality, also in a rehearsal; undefined for the shared sandbox, which counts as every municipality. */
  readonly cMun: string | undefined;
  /** The municipality's further registers: benefits, deductions, special regimes, non-incidence. */
  readonly cadastros: Cadastros;
};

export const SEM_CADASTROS: Cadastros = {
  beneficios: undefined,
  deducoes: undefined,
  regimes: undefined,
  naoIncidencias: undefined,
};

/** Whether the tax is due in the municipality itself; the shared sandbox counts as every municipality. */
export function isTaxOwn(place: string | undefined, cMun: string | undefined): boolean {
  return place !== undefined && (cMun === undefined || place === cMun);
}

function documentoOf({ prest }: Dps): string {
  return prest.CNPJ ?? prest.CPF ?? '';
}

/** The register's answer about the benefit that a DPS names. */
export type BeneficioRegistrado =
  | { readonly kind: 'inexistente' }
  /** The lines of the number, none of which is in force at the competence. */
  | { readonly kind: 'sem_vigencia'; readonly linhas: readonly Beneficio[] }
  | { readonly kind: 'de_outro_servico' | 'de_outro_prestador' | 'aplica'; readonly beneficio: Beneficio };

/**
 * Undefined: the DPS names no benefit, the municipality keeps no register, or the tax is due in another municipality. The shared sandbox
 * counts as every municipality.
 */
export function beneficioRegistrado(dps: Dps, { cMun, cadastros }: CadastrosFacts): BeneficioRegistrado | undefined {
  const nBM = dps.valores.trib.tribMun.BM?.nBM;
  if (nBM === undefined || cadastros.beneficios === undefined || !isTaxOwn(incidenceOf(dps), cMun)) return undefined;
  const linhas = cadastros.beneficios.filter(({ numero }) => numero === nBM);
  if (linhas.length === 0) return { kind: 'inexistente' };
  const beneficio = linhas.find((linha) => isInForce(linha, dps.dCompet));
  if (beneficio === undefined) return { kind: 'sem_vigencia', linhas };
  const { servicos, documentos } = beneficio;
  if (servicos.size > 0 && !servicos.has(dps.serv.cServ.cTribNac)) return { kind: 'de_outro_servico', beneficio };
  const isOfOthers = documentos.size > 0 && !documentos.has(documentoOf(dps));
  return { kind: isOfOthers ? 'de_outro_prestador' : 'aplica', beneficio };
}

/** The registered benefit that applies to a DPS. */
export function beneficioOf(dps: Dps, facts: CadastrosFacts): Beneficio | undefined {
  const registrado = beneficioRegistrado(dps, facts);
  return registrado?.kind === 'aplica' ? registrado.beneficio : undefined;
}

/** Whether the registered benefit of a DPS is an exemption. */
export function isIsenta(dps: Dps, facts: CadastrosFacts): boolean {
  return beneficioOf(dps, facts)?.tipo === 'isencao';
}

/** The forms of deduction that the municipality allows for the service; undefined: no register, or no deduction. */
export function deducaoRegistrada(
  dps: Dps,
  { cMun, cadastros }: CadastrosFacts,
): DeducaoAdmitida | 'nenhuma' | undefined {
  if (dps.valores.vDedRed === undefined || cadastros.deducoes === undefined) return undefined;
  if (!isTaxOwn(incidenceOf(dps), cMun)) return undefined;
  const { cTribNac } = dps.serv.cServ;
  const admitida = cadastros.deducoes.find((one) => one.cTribNac === cTribNac && isInForce(one, dps.dCompet));
  return admitida ?? 'nenhuma';
}

/** The status of a DPS's special regime in the register; undefined: the register does not tell. */
export function regimeRegistrado(
  dps: Dps,
  { cMun, cadastros }: CadastrosFacts,
): 'nao_admitido' | 'de_outro' | 'atribuido' | undefined {
  const { regEspTrib } = dps.prest.regTrib;
  if (regEspTrib === '0' || cadastros.regimes === undefined || !isTaxOwn(incidenceOf(dps), cMun)) return undefined;
  const { admitidos, linhas } = cadastros.regimes;
  if (!admitidos.has(regEspTrib)) return 'nao_admitido';
  const isOfDps = (linha: RegimeDoPrestador): boolean =>
    linha.regime === regEspTrib &&
    (linha.documento === '' || linha.documento === documentoOf(dps)) &&
    (linha.servicos.size === 0 || linha.servicos.has(dps.serv.cServ.cTribNac)) &&
    isInForce(linha, dps.dCompet);
  return linhas.some(isOfDps) ? 'atribuido' : 'de_outro';
}

/** Whether the municipality does not tax the service of the provider; undefined: the register does not tell. */
export function isNaoIncidente(dps: Dps, { cMun, cadastros }: CadastrosFacts): boolean | undefined {
  if (cadastros.naoIncidencias === undefined || !isTaxOwn(placeOfIssqn(dps), cMun)) return undefined;
  const { cTribNac } = dps.serv.cServ;
  return cadastros.naoIncidencias.some(
    (one) =>
      one.cTribNac === cTribNac &&
      (one.documento === '' || one.documento === documentoOf(dps)) &&
      isInForce(one, dps.dCompet),
  );
}
