/**
 * The layouts of the DPS that are issued, a row each, the current one first. `DPS/@versao` selects the row. Every document becomes the
 * `Dps` of the current layout: the rules, the note and the JSON body know no other.
 */
import { type ReadText, textReaderOf } from './check-text.ts';
import { DPS_VERSAO, type Dps, FOREIGN_TAGS, type ForeignTag, INF_DPS } from './dps.ts';
import { attributeOf, type Elemento } from './tree.ts';
import {
  type Choice,
  elementsOf,
  type Group,
  type Item,
  isRequiredOfSender,
  joinPath,
  type Leaf,
} from './vocabulary.ts';

type LayoutRow = {
  readonly versao: string;
  /** The elements of `infDPS`. */
  readonly items: readonly Item[];
  readonly foreignTags: readonly ForeignTag[];
  /** Converts a document of `items` to the current layout. */
  readonly toDps: (read: object) => Dps;
};

const LAYOUT_ROWS: readonly [LayoutRow, ...LayoutRow[]] = [
  { versao: DPS_VERSAO, items: INF_DPS, foreignTags: FOREIGN_TAGS, toDps: (read) => read as Dps },
];

/** A layout with the look-up tables of the reader. */
export type Layout = LayoutRow & {
  readonly compiled: Compiled;
  /** The paths below `infDPS` of each name. */
  readonly paths: ReadonlyMap<string, readonly string[]>;
};

export type Slot = {
  readonly item: Leaf | Group;
  /** Place in the national order; undefined if the element may stand anywhere. */
  readonly order: number | undefined;
  readonly choice: Choice | undefined;
  readonly required: boolean;
  readonly inside: Compiled | undefined;
  /** The bit of its item among those of the list: members of a choice share one. */
  readonly bit: number;
  /** The text reader of a leaf. */
  readonly read: ReadText | undefined;
};

/** The door of a document. The national one also takes elements that REST v1 refuses (D-913). */
export type Porta = 'rest' | 'nacional';

/** A list of items, prepared once so that each element needs one look-up. */
export type Compiled = {
  readonly slots: ReadonlyMap<string, Slot>;
  readonly required: readonly Slot[];
  readonly choices: readonly Choice[];
  /** The bits of the required items. */
  readonly needed: number;
};

/** Each item of a list has one bit in a number. */
const ITEMS_MAX = 32;

export function compile(items: readonly Item[], porta: Porta = 'rest'): Compiled {
  if (items.length > ITEMS_MAX) throw new RangeError(`a group has more than ${ITEMS_MAX} items`);
  const slots = new Map<string, Slot>();
  let [order, needed] = [0, 0];
  for (const item of items) {
    for (const member of item.kind === 'choice' ? item.items : [item]) {
      const isRefused = member.sent === 'refused';
      if (isRefused && porta === 'rest') continue;
      const slot: Slot = {
        item: member,
        order: member.anywhere ? undefined : order,
        choice: item.kind === 'choice' ? item : undefined,
        required: item.kind !== 'choice' && (isRefused ? member.min === 1 : isRequiredOfSender(member)),
        inside: member.kind === 'group' ? compile(member.items, porta) : undefined,
        bit: 1 << order,
        read: member.kind === 'leaf' ? textReaderOf(member.type) : undefined,
      };
      slots.set(member.name, slot);
      if (slot.required || slot.choice?.min === 1) needed |= slot.bit;
      if (member.alias !== undefined) slots.set(member.alias, slot);
    }
    order += 1;
  }
  return {
    slots,
    required: [...slots.values()].filter((slot, place, all) => slot.required && all.indexOf(slot) === place),
    choices: items.filter((item) => item.kind === 'choice'),
    needed,
  };
}

function pathsByName(items: readonly Item[], base: string, into: Map<string, string[]>): Map<string, string[]> {
  for (const item of elementsOf(items)) {
    const path = joinPath(base, item.name);
    into.set(item.name, [...(into.get(item.name) ?? []), path]);
    if (item.kind === 'group') pathsByName(item.items, path, into);
  }
  return into;
}

const layoutsOf = (porta: Porta): readonly [Layout, ...Layout[]] => {
  const [first, ...others] = LAYOUT_ROWS.map((row) => {
    const paths = pathsByName(row.items, '', new Map());
    const compiled = compile(row.items, porta);
    const isTaken = ({ name }: ForeignTag): boolean => porta === 'nacional' && paths.has(name);
    return { ...row, compiled, paths, foreignTags: row.foreignTags.filter((one) => !isTaken(one)) };
  });
  return [first!, ...others];
};

export const LAYOUTS = layoutsOf('rest');
const LAYOUTS_NACIONAIS = layoutsOf('nacional');

/** The versions of the DPS that are issued, in a sentence. */
export const VERSOES = LAYOUTS.map(({ versao }) => versao).join(' ou ');

/** The layout that a DPS names; undefined if that version is not issued here. */
export function layoutOf(root: Elemento, porta: Porta = 'rest'): Layout | undefined {
  const versao = attributeOf(root, 'versao');
  return (porta === 'rest' ? LAYOUTS : LAYOUTS_NACIONAIS).find((layout) => layout.versao === versao);
}
