/**
 * A fault is one rule broken at one place; a refusal is our negative answer, with all the faults of one step. The names of the fields are
 * the published ones (D-03), so that an answer is the fault itself.
 */
import { upperFirst } from './words.ts';
export type Fault = {
  readonly codigo: string;
  /** Absolute path by local names, `/DPS/infDPS/toma/CPF`; a repeated element carries `[n]` from 1. */
  readonly xpath: string;
  readonly mensagem: string;
  readonly encontrado?: string;
  readonly esperado?: string;
  /**
   * Text to be pasted unchanged (D-212). XML replaces the whole element that `xpath` names, or the attribute. JSON replaces the property,
   * name and value, or the member of a list. Empty: the element or property must be removed.
   */
  readonly correcao?: string;
  readonly linha?: number;
  readonly coluna?: number;
  /** The property of a JSON body that became the element of `xpath`, such as `tomador_endereco.cep` (D-03). */
  readonly campo?: string;
  /** D-19: the note that already exists. */
  readonly chave_acesso?: string;
  readonly numero_protocolo?: string;
  readonly mesmo_conteudo?: boolean;
  /** The value of `detalhes` in the head of the answer, if this fault is the first one (E101, E111). */
  readonly detalhes?: string | Readonly<Record<string, unknown>>;
  /** The discriminator for code decisions. No answer shows it, and no code parses a sentence instead. */
  readonly kind?: FaultKind;
  /** The remedy in Portuguese, if it says more than `mensagem`: a step of `o_que_mudar`. */
  readonly change?: string;
};

/** The kind of a fault, if its code alone does not tell. `signature_misplaced`: moving the signature is enough, without signing again. */
export type FaultKind = 'signature_misplaced' | 'cancelamento_em_andamento';

/** The finding and its remedy: the message has both. */
export function describeFault(found: string, change: string): Required<Pick<Fault, 'mensagem' | 'change'>> {
  return { mensagem: `${found} ${change}`, change: upperFirst(change) };
}

/** The error, with its remedy if known. */
export type FaultText = Pick<Fault, 'mensagem' | 'change'>;

/** A remark that travels with a positive answer and refuses nothing (`avisos`). */
export type Aviso = {
  readonly codigo: string;
  readonly xpath: string;
  readonly mensagem: string;
  readonly campo?: string;
};

/** Our negative answer: at least one fault, in order of precedence. Data, not an exception. */
export type Refusal = { readonly faults: readonly [Fault, ...Fault[]] };

/** The refusal of these faults, up to the limit of one answer, or undefined if there are none. */
export function refusalOf(faults: readonly Fault[]): Refusal | undefined {
  const [first, ...rest] = limitFaults(faults);
  return first === undefined ? undefined : { faults: [first, ...rest] };
}

/** How many faults one answer lists (D-03): a document with a thousand groups may break several rules in each. */
export const LISTED_MAX = 500;

/** The faults that one answer lists. The last entry says how many are left out, if any. */
export function limitFaults(faults: readonly Fault[]): readonly Fault[] {
  return limitList(faults, 'erros', (left) => ({ detalhes: { nao_listados: left } }));
}

/** The same for remarks. */
export function limitAvisos(avisos: readonly Aviso[]): readonly Aviso[] {
  return limitList<Aviso>(avisos, 'avisos', () => ({}));
}

function limitList<Entry extends Fault | Aviso>(
  entries: readonly Entry[],
  what: string,
  beside: (left: number) => Partial<Entry>,
): readonly Entry[] {
  if (entries.length <= LISTED_MAX) return entries.map(limitTexts);
  const kept = entries.slice(0, LISTED_MAX - 1).map(limitTexts);
  const { codigo } = entries[kept.length]!;
  const left = entries.length - kept.length;
  const mensagem = `Há mais ${left} ${what} além dos ${kept.length} listados; corrija estes e envie de novo.`;
  return [...kept, { codigo, xpath: '/DPS/infDPS', mensagem, ...beside(left) } as Entry];
}

/** Characters of the texts of one fault. Our own sentences and the paths of the layout have less than half of them. */
const MENSAGEM_MAX = 2_000;
const XPATH_MAX = 500;
const ENCONTRADO_MAX = 500;

/** Cuts the texts of a fault: a name that they repeat may be as long as the document (D-921). */
function limitTexts<Entry extends Fault | Aviso>(entry: Entry): Entry {
  const { mensagem, xpath, encontrado = '' } = entry as Fault;
  if (mensagem.length <= MENSAGEM_MAX && xpath.length <= XPATH_MAX && encontrado.length <= ENCONTRADO_MAX) return entry;
  const found = encontrado === '' ? {} : { encontrado: cutText(encontrado, ENCONTRADO_MAX) };
  return { ...entry, ...found, mensagem: cutText(mensagem, MENSAGEM_MAX), xpath: cutText(xpath, XPATH_MAX) };
}

/** How many faults there are, listed or not. */
export function countOf(faults: readonly Fault[]): number {
  const left = unlistedOf(faults);
  return left === 0 ? faults.length : faults.length - 1 + left;
}

/** The number of faults that a list leaves out, by its last entry; zero for a complete list. */
export function unlistedOf(faults: readonly Fault[]): number {
  const detalhes = faults.at(-1)?.detalhes;
  const left = typeof detalhes === 'object' ? detalhes['nao_listados'] : undefined;
  return typeof left === 'number' ? left : 0;
}

/** Found values are quoted in answers only up to this many characters, so that an answer stays readable. */
const FOUND_MAX = 80;

/** A value shortened for quotation in a message. */
export function quoted(value: string): string {
  return cutText(value, FOUND_MAX);
}

/** The beginning of a text that is longer than `max` characters, with an ellipsis. */
export function cutText(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
