/**
 * The conditions between the properties of one object of a JSON body, made of the table of the DPS. A group whose fields stand in the
 * object requires some of them once one is present. A choice requires one member. A property with null counts as absent, and so does an
 * empty list.
 */
import type { Item } from '../../fiscal/layout/corpo.ts';
import { INF_DPS } from '../../fiscal/layout/dps.ts';
import { BODY, BODY_PARTS, type Host, type Part } from '../../fiscal/layout/plan-corpo.ts';
import { isRequiredOfSender, type Item as LayoutItem } from '../../fiscal/layout/vocabulary.ts';
import type { Json } from './described.ts';

/** A choice between sets of properties: at least `least` of them, and at most `most`. */
type Choice = { readonly members: readonly (readonly string[])[]; readonly least: 0 | 1; readonly most: 1 | undefined };

/** The requirements once one of the properties in `when` is present; an empty `when` means always. */
type Rule = { readonly when: readonly string[]; readonly required: string[]; readonly choices: Choice[] };

export type Conditions = {
  /** Properties that are always sent. */
  readonly required: readonly string[];
  /** Members of `allOf`. */
  readonly allOf: readonly Json[];
};

type Place = { readonly layout: readonly LayoutItem[]; readonly parts: readonly Part[] };

/** The groups of the DPS behind the objects of the body. */
const PLACES = new Map<Host, Place>([[BODY, { layout: INF_DPS, parts: BODY_PARTS }], ...placesIn(BODY_PARTS)]);

function placesIn(parts: readonly Part[]): readonly (readonly [Host, Place])[] {
  return parts.flatMap((part) => {
    if (part.kind === 'leaf') return [];
    const own = part.kind === 'own' ? [[part.host, { layout: part.group.items, parts: part.parts }] as const] : [];
    return [...own, ...placesIn(part.parts)];
  });
}

export function conditionsOf(host: Host): Conditions {
  const { layout, parts } = PLACES.get(host)!;
  const always: Rule = { when: [], required: [], choices: [] };
  const rules = [always];
  gather(layout, parts, always, rules);
  const asksNothing = always.required.length === 0 && always.choices.every(({ least }) => least === 0);
  if (host !== BODY && asksNothing && !parts.some(isFilledIn)) {
    always.choices.push({ members: parts.flatMap(namesOf).map((name) => [name]), least: 1, most: undefined });
  }
  return {
    required: always.required,
    allOf: rules.flatMap((rule) => ruleSchemas(rule, host)),
  };
}

function gather(layout: readonly LayoutItem[], parts: readonly Part[], rule: Rule, rules: Rule[]): void {
  const partOf = (name: string): Part[] =>
    parts.filter((part) => (part.kind === 'leaf' ? part.leaf : part.group).name === name);
  for (const item of layout) {
    if (item.kind === 'choice') {
      const members = item.items.flatMap(({ name }) => partOf(name));
      // A document is one property for two elements.
      const sets = new Map(members.map((part) => [namesOf(part).join(), namesOf(part)]));
      const least = members.some(isFilledIn) ? 0 : item.min;
      if (sets.size > 0) rule.choices.push({ members: [...sets.values()], least, most: 1 });
      for (const part of members) if (part.kind === 'shared') gatherWithin(part, rules);
      continue;
    }
    for (const part of partOf(item.name)) {
      if (part.kind !== 'shared') {
        if (isRequiredOfSender(item) && !isFilledIn(part)) rule.required.push(...namesOf(part));
      } else if (part.required) gather(part.group.items, part.parts, rule, rules);
      else gatherWithin(part, rules);
    }
  }
}

/** A group that exists once one of its properties does. */
function gatherWithin(part: Extract<Part, { kind: 'shared' }>, rules: Rule[]): void {
  if (part.parts.some(isFilledIn)) throw new RangeError(`${part.group.name} is always there`);
  const rule: Rule = { when: namesOf(part), required: [], choices: [] };
  rules.push(rule);
  gather(part.group.items, part.parts, rule, rules);
}

/** The service fills the property in when it is absent (D-209). */
function isFilledIn(part: Part): boolean {
  if (part.kind === 'leaf') return part.campo.padrao !== undefined;
  return part.kind === 'own' && part.isFilledIn;
}

function namesOf(part: Part): readonly string[] {
  if (part.kind === 'leaf') return [part.campo.name];
  return part.kind === 'own' ? [part.grupo.name] : [...new Set(part.parts.flatMap(namesOf))];
}

// As JSON Schema.

function ruleSchemas({ when, required, choices }: Rule, host: Host): readonly Json[] {
  const isAlways = when.length === 0;
  const condition = isAlways ? { type: 'object' } : anyOf(when.map((name) => sentSchema(name, host)));
  const asked = choices.map((choice) => choiceSchema(choice, host));
  // A group of one property requires no more than its presence, which the condition states.
  const others = isAlways ? [] : required.filter((name) => when.length > 1 || name !== when[0]);
  const parts = [...others.map((name) => sentSchema(name, host)), ...asked];
  if (parts.length === 0) return [];
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return [{ if: condition, then: parts.length === 1 ? parts[0] : { allOf: parts } }];
}

function choiceSchema({ members, least, most }: Choice, host: Host): Json {
  const taken = members.map((names) => anyOf(names.map((name) => sentSchema(name, host))));
  if (most === undefined) return anyOf(taken);
  const none = {
    properties: Object.fromEntries(members.flat().map((name) => [name, isList(name, host) ? EMPTY_LIST : NOTHING])),
  };
  return taken.length === 1 && least === 1 ? taken[0]! : { oneOf: least === 1 ? taken : [none, ...taken] };
}

const NOTHING: Json = { type: 'null' };
/** An empty list counts as absent. */
const EMPTY_LIST: Json = { maxItems: 0 };

/** The schema of a present property: it is not null, and a list has an item. */
export function sentSchema(name: string, host?: Host): Json {
  const value = host !== undefined && isList(name, host) ? { not: NOTHING, minItems: 1 } : { not: NOTHING };
  return { properties: { [name]: value }, required: [name] };
}

function isList(name: string, { items }: Host): boolean {
  const item: Item | undefined = items.get(name);
  return item !== undefined && item.kind !== 'declaracao' && item.many === true;
}

function anyOf(schemas: readonly Json[]): Json {
  return schemas.length === 1 ? schemas[0]! : { anyOf: schemas };
}
