/**
 * The values that only a JSON body can declare, because the DPS has no element for them. The service computes these amounts and places, and
 * compares them with the declared ones (D-22, D-24; specification, IBS/CBS schedule rule 6; E404).
 *
 * The names are those of the JSON body. A value that is not declared is absent, and nothing is compared.
 */
import type { Decimal } from './decimal.ts';
import type { DECLARADOS_IBSCBS } from './layout/corpo.ts';

/** The fields of the `ibscbs` group of the JSON body. */
export type DeclaradoIbsCbs = Readonly<Partial<Record<keyof typeof DECLARADOS_IBSCBS, Decimal>>>;

export type Declarado = {
  /** IBGE code. */
  readonly municipio_incidencia?: string;
  readonly valor_base_calculo?: Decimal;
  readonly valor_issqn?: Decimal;
  readonly ibscbs?: DeclaradoIbsCbs;
};

/** The declaration of an XML document: none. */
export const NADA_DECLARADO: Declarado = {};
