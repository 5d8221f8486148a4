/** What a reading of a tree works with: the layout prepared for look-ups, the words of the sender, and what was found so far. */
import type { Fault } from '../fault.ts';
import type { Source } from './correct-xml.ts';
import type { Elemento } from './tree.ts';
import { type Choice, type Group, type Item, isRequiredOfSender, type Leaf } from './vocabulary.ts';

/** More faults than this are not listed: the answer says how many there were in all. */
export const FAULTS_MAX = 200;

export type Slot = {
  readonly item: Leaf | Group;
  /** Place in the national order; undefined when the element may stand anywhere. */
  readonly order: number | undefined;
  readonly choice: Choice | undefined;
  readonly required: boolean;
  readonly inside: Compiled | undefined;
};

/** A list of items, prepared once so that reading is a look-up an element. */
export type Compiled = {
  readonly slots: ReadonlyMap<string, Slot>;
  readonly required: readonly Slot[];
  readonly choices: readonly Choice[];
};

export function compile(items: readonly Item[]): Compiled {
  const slots = new Map<string, Slot>();
  let order = 0;
  for (const item of items) {
    for (const member of item.kind === 'choice' ? item.items : [item]) {
      const slot: Slot = {
        item: member,
        order: member.anywhere ? undefined : order,
        choice: item.kind === 'choice' ? item : undefined,
        required: item.kind !== 'choice' && isRequiredOfSender(member),
        inside: member.kind === 'group' ? compile(member.items) : undefined,
      };
      if (member.sent === 'refused') continue;
      slots.set(member.name, slot);
      if (member.alias !== undefined) slots.set(member.alias, slot);
    }
    order += 1;
  }
  return {
    slots,
    required: [...slots.values()].filter((slot, place, all) => slot.required && all.indexOf(slot) === place),
    choices: items.filter((item) => item.kind === 'choice'),
  };
}

/** How faults name what they speak of: by the tags of the DPS, or as the body calls it that the tree was made of. */
export type Words = {
  readonly element: 'elemento' | 'campo';
  /** What the sender calls an element. */
  name(xpath: string, item: Leaf | Group): string;
  /** What the sender calls the group around it; undefined for the body as a whole. */
  group(xpath: string, name: string): string | undefined;
  /** What stands in the place of an element with its right text. */
  corrected(xpath: string, leaf: Leaf, text: string, element: Elemento): string;
};

/** What one reading has found so far. */
export type Found = {
  readonly words: Words;
  readonly source: Source | undefined;
  readonly faults: Fault[];
  /** Faults that are counted and not described: a thousand unknown tags are not each compared. */
  unlisted: number;
  /** Where those stand in the layout whose own path is in none. */
  readonly places: Map<Fault, string>;
  /** Those whose correction is not offered after all. */
  readonly withheld: Set<Fault>;
  /** The faults that say that something is missing. */
  readonly missing: Set<Fault>;
  /** Absolute paths that a misplaced or misspelt element evidently meant. */
  readonly meant: Set<string>;
};

export function nothingFound(words: Words, source: Source | undefined): Found {
  const sets = { withheld: new Set<Fault>(), missing: new Set<Fault>(), meant: new Set<string>() };
  return { words, source, faults: [], unlisted: 0, places: new Map(), ...sets };
}

/** A group while it is read. */
export type Level = {
  readonly compiled: Compiled;
  readonly element: Elemento;
  readonly base: string;
  readonly parent: string;
};
