/**
 * A fault is one rule broken at one place; a refusal is our negative answer, with all the faults of one step.
 * The names of the fields are the published ones (D-03), so that an answer is the fault itself.
 */
export type Fault = {
  readonly codigo: string;
  /** Absolute path by local names, `/DPS/infDPS/toma/CPF`; a repeated element carries `[n]` from 1. */
  readonly xpath: string;
  readonly mensagem: string;
  readonly encontrado?: string;
  readonly esperado?: string;
  /** Text that can be pasted in the place of what was found. */
  readonly correcao?: string;
  readonly linha?: number;
  readonly coluna?: number;
  /** Of a JSON body: the property that became what `xpath` names, `tomador_endereco.cep` (D-03). */
  readonly campo?: string;
  /** D-19: the note that already exists. */
  readonly chave_acesso?: string;
  readonly numero_protocolo?: string;
  readonly mesmo_conteudo?: boolean;
  /** Goes to `detalhes` of the head when this fault is the first one (E101, E111). */
  readonly detalhes?: string | Readonly<Record<string, unknown>>;
};

/** A remark that travels with a positive answer and refuses nothing (`avisos`). */
export type Aviso = {
  readonly codigo: string;
  readonly xpath: string;
  readonly mensagem: string;
  readonly campo?: string;
};

/** Our negative answer: at least one fault, in order of precedence. Data, not an exception. */
export type Refusal = { readonly faults: readonly [Fault, ...Fault[]] };

/** The refusal of these faults, or undefined when there are none. */
export function refusalOf(faults: readonly Fault[]): Refusal | undefined {
  const [first, ...rest] = faults;
  return first === undefined ? undefined : { faults: [first, ...rest] };
}

/** Found values are quoted in answers only up to this many characters, so that an answer stays readable. */
const FOUND_MAX = 80;

/** A value as it may be quoted in a message. */
export function quoted(value: string): string {
  return value.length <= FOUND_MAX ? value : `${value.slice(0, FOUND_MAX)}…`;
}
