/**
 * What a municipality registers besides its services, and what that says of a DPS. A register that it does not keep is undefined, and
 * nothing is judged by it. Of each the facts hold at least the lines that the DPS names.
 */
import type { Decimal } from './decimal.ts';
import type { Facts } from './facts.ts';
import { incidenceOf } from './incidence.ts';
import type { Dps } from './layout/dps.ts';

/** Days `YYYY-MM-DD`, both inside; without `fim` it goes on. */
export type Vigencia = { readonly inicio: string; readonly fim: string | undefined };

/** Each kind of benefit, with the code of `tpBM` on the note (NFS-e 1.01, `valores/tpBM`). */
export const TIPOS_BENEFICIO = {
  isencao: '1',
  reducao_percentual: '2',
  reducao_valor: '3',
  aliquota_diferenciada: '4',
} as const;

export type TipoBeneficio = keyof typeof TIPOS_BENEFICIO;

export type Beneficio = Vigencia & {
  /** `nBM`. */
  readonly numero: string;
  readonly tipo: TipoBeneficio;
  /** The most that the base may be reduced by, in percent; of the kind `reducao_percentual` alone. */
  readonly reducao: Decimal | undefined;
  /** In percent, of the kind `aliquota_diferenciada` alone. */
  readonly aliquota: Decimal | undefined;
  /** National codes; empty: every service. */
  readonly servicos: ReadonlySet<string>;
  /** CNPJ and CPF of the providers; empty: every one. */
  readonly documentos: ReadonlySet<string>;
};

export type Cadastros = {
  /** In the order of their dates. */
  readonly beneficios: readonly Beneficio[] | undefined;
};

export const SEM_CADASTROS: Cadastros = { beneficios: undefined };

export function isInForce({ inicio, fim }: Vigencia, data: string): boolean {
  return inicio <= data && (fim === undefined || data <= fim);
}

/** What the register says of the benefit that a DPS names. */
export type BeneficioRegistrado =
  | { readonly kind: 'inexistente' }
  /** The lines of the number, of which none is in force at the competence. */
  | { readonly kind: 'sem_vigencia'; readonly linhas: readonly Beneficio[] }
  | { readonly kind: 'de_outro_servico' | 'de_outro_prestador' | 'aplica'; readonly beneficio: Beneficio };

/**
 * Undefined: the DPS names no benefit, or the register has nothing to say, because the municipality keeps none or the tax is due in another
 * (the shared sandbox is every municipality's).
 */
export function beneficioRegistrado(dps: Dps, { cMun, cadastros }: Facts): BeneficioRegistrado | undefined {
  const nBM = dps.valores.trib.tribMun.BM?.nBM;
  if (nBM === undefined || cadastros.beneficios === undefined) return undefined;
  if (cMun !== undefined && incidenceOf(dps) !== cMun) return undefined;
  const linhas = cadastros.beneficios.filter(({ numero }) => numero === nBM);
  if (linhas.length === 0) return { kind: 'inexistente' };
  const beneficio = linhas.find((linha) => isInForce(linha, dps.dCompet));
  if (beneficio === undefined) return { kind: 'sem_vigencia', linhas };
  const { servicos, documentos } = beneficio;
  if (servicos.size > 0 && !servicos.has(dps.serv.cServ.cTribNac)) return { kind: 'de_outro_servico', beneficio };
  const documento = dps.prest.CNPJ ?? dps.prest.CPF ?? '';
  const isOfOthers = documentos.size > 0 && !documentos.has(documento);
  return { kind: isOfOthers ? 'de_outro_prestador' : 'aplica', beneficio };
}

/** The registered benefit that applies to a DPS. */
export function beneficioOf(dps: Dps, facts: Facts): Beneficio | undefined {
  const registrado = beneficioRegistrado(dps, facts);
  return registrado?.kind === 'aplica' ? registrado.beneficio : undefined;
}

/** Whether the registered benefit of a DPS is an exemption. */
export function isIsenta(dps: Dps, facts: Facts): boolean {
  return beneficioOf(dps, facts)?.tipo === 'isencao';
}
