/**
 * A JSON document as it was written: numbers as their text, members in their order, every value with its place. `../../documents/json.ts`
 * builds it from bytes; the code that interprets it knows only this form.
 */

/** `offset`: the start of the value, in units of the decoded text. */
export type JsonValue =
  | { readonly kind: 'object'; readonly offset: number; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly offset: number; readonly items: readonly JsonValue[] }
  | { readonly kind: 'string'; readonly offset: number; readonly text: string }
  /** `text` as it stands in the document: it becomes a number only once its meaning is known. */
  | { readonly kind: 'number'; readonly offset: number; readonly text: string }
  | { readonly kind: 'boolean'; readonly offset: number; readonly text: 'true' | 'false' }
  | { readonly kind: 'null'; readonly offset: number };

export type JsonObject = Extract<JsonValue, { kind: 'object' }>;

/** A property of an object; `offset` is that of its name. */
export type JsonMember = { readonly name: string; readonly offset: number; readonly value: JsonValue };

/** Line and column from 1; the column counts characters. */
export type JsonPlace = { readonly linha: number; readonly coluna: number };

export type JsonDocument = { readonly value: JsonValue; positionOf(offset: number): JsonPlace };

const KINDS: Readonly<Record<JsonValue['kind'], string>> = {
  object: 'um objeto',
  array: 'uma lista',
  string: 'um texto',
  number: 'um número',
  boolean: 'true ou false',
  null: 'null',
};

/** The kind of a value, in a sentence. */
export function kindOf(value: JsonValue): string {
  return value.kind === 'boolean' ? value.text : KINDS[value.kind];
}

/** A document is a CPF if it is no longer than one, separators ignored. */
export function documentKind(value: JsonValue): 'CNPJ' | 'CPF' {
  const text = value.kind === 'string' || value.kind === 'number' ? value.text : '';
  return text.length <= DOCUMENT_TEXT_MAX && text.replace(/[\s./-]/g, '').length > CPF_LENGTH ? 'CNPJ' : 'CPF';
}

const CPF_LENGTH = 11;
/** A text longer than this is neither. */
const DOCUMENT_TEXT_MAX = 64;
