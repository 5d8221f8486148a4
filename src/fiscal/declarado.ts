/**
 * What only a JSON body can say, because the DPS has no element for it: amounts and places that the service computes and
 * that a sender may declare to have them compared (D-22, D-24; specification, IBS/CBS schedule rule 6; E404).
 *
 * The names are those of the JSON body. A value that is not declared is absent, and nothing is compared.
 */
import type { Decimal } from './decimal.ts';

/** Names of the declared values inside the `ibscbs` group of the JSON body, each compared with one field of the note. */
export const DECLARADOS_IBSCBS = [
  'valores_base_calculo',
  'valores_aliquota_ibs_uf',
  'valores_aliquota_ibs_municipal',
  'valores_aliquota_cbs',
  'valores_aliquota_efetiva_ibs_uf',
  'valores_aliquota_efetiva_ibs_municipal',
  'valores_aliquota_efetiva_cbs',
  'total_ibs_uf',
  'total_ibs_municipal',
  'total_ibs',
  'total_cbs',
  'total_nota',
] as const;

export type DeclaradoIbsCbs = Readonly<Partial<Record<(typeof DECLARADOS_IBSCBS)[number], Decimal>>>;

export type Declarado = {
  /** IBGE code. */
  readonly municipio_incidencia?: string;
  readonly valor_base_calculo?: Decimal;
  readonly valor_issqn?: Decimal;
  readonly ibscbs?: DeclaradoIbsCbs;
};

/** What an XML declares: nothing. */
export const NADA_DECLARADO: Declarado = {};
