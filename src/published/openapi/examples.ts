/** The exchanges recorded from the running service (`exemplos.json`); a test repeats them. */

import type { Json } from './described.ts';
import exemplos from './exemplos.json' with { type: 'json' };

/** Address of the service in the recorded examples, and in the description until a reader's address replaces it. */
export const EXAMPLE_SITE = 'https://nfse.exemplo.gov.br';

/** One recorded exchange. */
export type Exemplo = {
  /** Name of the operation. */
  readonly id: string;
  readonly nome: string;
  readonly titulo: string;
  readonly pedido: {
    readonly municipio: string;
    readonly parametros?: Readonly<Record<string, string>>;
    readonly consulta?: Readonly<Record<string, string>>;
    readonly cabecalhos?: Readonly<Record<string, string>>;
    /** A text, or a value that is sent as JSON. */
    readonly corpo?: unknown;
  };
  readonly status: number;
  readonly resposta?: unknown;
  /** Other operations with the same answer. */
  readonly tambem?: readonly string[];
};

export const EXEMPLOS: readonly Exemplo[] = exemplos;

type Part = 'corpo' | 'resposta';

const formatPointer = ({ id, nome }: Exemplo, part: Part): string => `exemplos.json#/${id}/${nome}/${part}`;

/** The value of an example by its place: the committed description does not repeat what `exemplos.json` holds. */
export function pointToValue(one: Exemplo, part: Part): Json {
  return { externalValue: formatPointer(one, part) };
}

/** Puts the recorded values in their places. */
export function inlineValues(description: Json): Json {
  const values = new Map<unknown, unknown>(
    EXEMPLOS.flatMap((one) => [
      [formatPointer(one, 'corpo'), one.pedido.corpo],
      [formatPointer(one, 'resposta'), one.resposta],
    ]),
  );
  return JSON.parse(JSON.stringify(description), (_key, found) => {
    if (!values.has(found?.externalValue)) return found;
    const { externalValue, ...said } = found;
    return { ...said, value: values.get(externalValue) };
  });
}

export function examplesOf(id: string): readonly Exemplo[] {
  return EXEMPLOS.filter((one) => one.id === id);
}

export function isRefusal({ status }: Exemplo): boolean {
  return status >= 400;
}

/** Examples by name. An answer that several operations share stands once, among the components. */
export function answersOf(examples: readonly Exemplo[]): Json {
  return Object.fromEntries(
    examples.flatMap((one) => {
      if (one.resposta === undefined) return [];
      return [[one.nome, isShared(one) ? exampleRef(sharedName(one)) : answerExample(one)]];
    }),
  );
}

/** An answer as an example; a refusal shows the refused body. */
function answerExample(one: Exemplo): Json {
  const { titulo, pedido } = one;
  const { corpo } = pedido;
  const described =
    corpo === undefined || !isRefusal(one)
      ? {}
      : { description: ['O corpo enviado:', '', '```', bodyText(corpo), '```'].join('\n') };
  return { summary: titulo, ...described, ...pointToValue(one, 'resposta') };
}

/** A body as it is sent; a JSON one on several lines. */
function bodyText(corpo: unknown): string {
  return typeof corpo === 'string' ? corpo.trimEnd() : JSON.stringify(corpo, null, 2);
}

function isShared({ tambem }: Exemplo): boolean {
  return tambem !== undefined;
}

function sharedName({ id, nome }: Exemplo): string {
  return `${id}_${nome}`;
}

export function exampleRef(name: string): Json {
  return { $ref: `#/components/examples/${name}` };
}

/** The answers of several operations, as components. */
export function sharedExamples(): Json {
  return Object.fromEntries(EXEMPLOS.filter(isShared).map((one) => [sharedName(one), answerExample(one)]));
}
