/**
 * The vocabulary of a layout: a leaf, a group, a choice, and the occurrence of each.
 *
 * A layout is one constant tree of these. The TypeScript type of the document, its paths, the reader, the writer, the XSD and the
 * documentation come from it. Nothing else lists the elements. This file knows no element by name.
 */
import type { Decimal } from '../decimal.ts';
import type { SimpleType } from './simple-types.ts';

/**
 * The obligation of the sender of a DPS, if it differs from the national schema. `optional`: the service fills it in; `refused`: it comes
 * through the national door alone, and elsewhere the service writes it.
 */
type Sent = 'required' | 'optional' | 'refused';

/** Codes of the public error table for an element, in place of the general ones (D-12, D-13). */
export type Codes = {
  /** It is required and absent (general: E002). */
  readonly missing?: string;
  /** It is there and empty (general: E002 when required, E0003 when optional). */
  readonly empty?: string;
  /** Wrong length or pattern (general: E0003). */
  readonly format?: string;
  /** Outside its enumeration or range (general: E0002). */
  readonly value?: string;
  /** More than one member of a choice (general: E203). */
  readonly many?: string;
};

export type Leaf = {
  readonly kind: 'leaf';
  readonly name: string;
  readonly type: SimpleType;
  readonly min: 0 | 1;
  readonly max: number;
  readonly doc: string;
  readonly sent?: Sent | undefined;
  readonly codes?: Codes;
  /** Second spelling that is read (D-15). */
  readonly alias?: string;
  /** An empty element is left to a rule with a better message (D-34, `prest/xNome`). */
  readonly emptyIsRead?: boolean;
  /** May stand at any place among its siblings (D-12). */
  readonly anywhere?: boolean;
};

export type Group = {
  readonly kind: 'group';
  readonly name: string;
  readonly items: readonly Item[];
  readonly min: 0 | 1;
  readonly max: number;
  readonly doc: string;
  readonly sent?: Sent | undefined;
  readonly codes?: Codes;
  readonly alias?: string;
  readonly anywhere?: boolean;
  /** All are required; only the outer elements of a document have any. */
  readonly attributes?: readonly Attribute[];
  /** A `Signature` may follow the items. */
  readonly signed?: boolean;
};

export type Attribute = { readonly name: string; readonly type: SimpleType; readonly doc: string };

export type Choice = {
  readonly kind: 'choice';
  readonly items: readonly (Leaf | Group)[];
  /** 1: exactly one of them; 0: at most one. */
  readonly min: 0 | 1;
  readonly codes?: Codes;
  /** The advice on which member to keep if several came, a sentence in Portuguese that names no element. */
  readonly advice?: string | undefined;
};

export type Item = Leaf | Group | Choice;

type LeafMore = Partial<Pick<Leaf, 'sent' | 'codes' | 'alias' | 'emptyIsRead' | 'anywhere' | 'max'>>;
type GroupMore = Partial<Pick<Group, 'sent' | 'codes' | 'alias' | 'anywhere' | 'max' | 'attributes' | 'signed'>>;

type Built<Kind extends 'leaf' | 'group', N extends string, Inner, Min extends 0 | 1, More> = {
  readonly kind: Kind;
  readonly name: N;
  readonly min: Min;
  readonly max: More extends { max: infer Max extends number } ? Max : 1;
  readonly doc: string;
  readonly sent: More extends { sent: infer S extends Sent } ? S : undefined;
} & Inner &
  Omit<More, 'max' | 'sent'>;

const leafOf =
  <const Min extends 0 | 1>(min: Min) =>
  <const N extends string, const S extends SimpleType, const More extends LeafMore = object>(
    name: N,
    type: S,
    doc: string,
    more?: More,
  ): Built<'leaf', N, { readonly type: S }, Min, More> =>
    ({ kind: 'leaf', name, type, min, max: 1, doc, sent: undefined, ...more }) as never;

const groupOf =
  <const Min extends 0 | 1>(min: Min) =>
  <const N extends string, const I extends readonly Item[], const More extends GroupMore = object>(
    name: N,
    doc: string,
    items: I,
    more?: More,
  ): Built<'group', N, { readonly items: I }, Min, More> =>
    ({ kind: 'group', name, items, min, max: 1, doc, sent: undefined, ...more }) as never;

/** A leaf that the national schema requires, and an optional one; the same for groups. */
export const need = leafOf(1);
export const may = leafOf(0);
export const needGroup = groupOf(1);
export const mayGroup = groupOf(0);

/** Exactly one of the members. */
export function oneOf<const I extends readonly (Leaf | Group)[]>(
  items: I,
  codes: Codes = {},
  advice?: string,
): {
  readonly kind: 'choice';
  readonly items: I;
  readonly min: 1;
  readonly codes: Codes;
  readonly advice: string | undefined;
} {
  return { kind: 'choice', items, min: 1, codes, advice };
}

/** One of the members, or none. */
export function atMostOneOf<const I extends readonly (Leaf | Group)[]>(
  items: I,
): { readonly kind: 'choice'; readonly items: I; readonly min: 0 } {
  return { kind: 'choice', items, min: 0 };
}

// The types of the documents, inferred from the tree.

type Simplify<T> = { [K in keyof T]: T[K] } & unknown;
type Merge<U> = (U extends unknown ? (member: U) => void : never) extends (merged: infer M) => void ? M : never;

type LeafValue<S> = S extends { kind: 'decimal' } ? Decimal : string;

type Many<I, V> = I extends { max: 1 } ? V : readonly V[];

type Entry<N extends string, V, Required> = Required extends true
  ? { readonly [K in N]: V }
  : { readonly [K in N]?: V | undefined };

/** An undefined value counts as absent. */
type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

type ValueOf<I> = I extends { kind: 'leaf'; type: infer S }
  ? LeafValue<S>
  : I extends { kind: 'group'; items: infer Items extends readonly Item[] }
    ? Shape<Items>
    : never;

type IsRequired<I> = I extends { sent: 'required' }
  ? true
  : I extends { sent: 'optional' | 'refused' }
    ? false
    : I extends { min: 1 }
      ? true
      : false;

type Property<I> = I extends { kind: 'choice'; items: infer Items extends readonly Item[] }
  ? Optional<Merge<Property<Items[number]>>>
  : I extends { name: infer N extends string }
    ? Entry<N, Many<I, ValueOf<I>>, IsRequired<I>>
    : never;

/** The object that a list of items describes, as its sender must fill it. */
export type Shape<Items extends readonly Item[]> = Simplify<Merge<Property<Items[number]>>>;

// The definition is repeated instead of parameterised: the compiler would treat two instances of one alias as assignable.

type NationalValueOf<I> = I extends { kind: 'leaf'; type: infer S }
  ? LeafValue<S>
  : I extends { kind: 'group'; items: infer Items extends readonly Item[] }
    ? NationalShape<Items>
    : never;

type NationalProperty<I> = I extends { kind: 'choice'; items: infer Items extends readonly Item[] }
  ? Optional<Merge<NationalProperty<Items[number]>>>
  : I extends { name: infer N extends string }
    ? Entry<N, Many<I, NationalValueOf<I>>, I extends { min: 1 } ? true : false>
    : never;

/**
 * The same object in the form of the national schema: values that the service fills in are present, additional requirements of the service
 * are optional.
 */
export type NationalShape<Items extends readonly Item[]> = Simplify<Merge<NationalProperty<Items[number]>>>;

type Below<N extends string, Rest> = Rest extends string ? `${N}/${Rest}` : never;

type PathOf<I> = I extends { kind: 'choice'; items: infer Items extends readonly Item[] }
  ? PathOf<Items[number]>
  : I extends { kind: 'group'; name: infer N extends string; items: infer Items extends readonly Item[] }
    ? N | Below<N, PathOf<Items[number]>>
    : I extends { name: infer N extends string }
      ? N
      : never;

/** Every path of a list of items, groups and leaves, with `/` between names and no leading one. */
export type Path<Items extends readonly Item[]> = PathOf<Items[number]>;

/** The leaves and groups of a list, choices opened, in order. */
export function elementsOf(items: readonly Item[]): (Leaf | Group)[] {
  return items.flatMap((item) => (item.kind === 'choice' ? [...item.items] : [item]));
}

/** Whether the sender must give this element (inside a choice the choice decides). */
export function isRequiredOfSender(item: Leaf | Group): boolean {
  return item.sent === undefined ? item.min === 1 : item.sent === 'required';
}

/** The path of an element of a group; `above` is empty at the top. */
export function joinPath(above: string, name: string): string {
  return above === '' ? name : `${above}/${name}`;
}
