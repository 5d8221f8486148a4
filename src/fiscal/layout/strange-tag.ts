/**
 * Elements of an XML group that the layout does not have: one fault per tag, with the correct form and the evident meaning. A mechanical
 * correction is added if there is one (E0010, D-113, D-212).
 */
import { type Fault, quoted } from '../fault.ts';
import { REMOVAL, renameElement } from './correct-xml.ts';
import type { ForeignTag } from './dps.ts';
import type { Compiled, Layout, Slot } from './layouts.ts';
import { FAULTS_MAX, type Found, type Level } from './reading.ts';
import type { Elemento } from './tree.ts';
import type { Choice } from './vocabulary.ts';

/** A child that a group does not have, and its place in the faults if no meaning is found. */
export type Strange = { readonly child: Elemento; readonly before: string };

/** The evident meanings of the strange children of a group. */
export type Meant = {
  /** Names that do not count as missing. */
  readonly explained: ReadonlySet<string>;
  /** The element of the group that a strange child stands for. */
  readonly meant: ReadonlyMap<Elemento, Slot>;
  /** The children of these with only a wrong name. */
  readonly misspelt: ReadonlySet<Elemento>;
};

export const NOTHING_STRANGE: Meant = { explained: new Set(), meant: new Map(), misspelt: new Set() };

/** One fault for each child that the layout does not have in a group. */
export function tellStrange(strange: readonly Strange[], level: Level, found: Found): Meant {
  const { compiled, base } = level;
  const unknowns: { readonly unknown: Unknown; readonly child: Elemento; readonly before: string }[] = [];
  const meant = new Map<Elemento, Slot>();
  const misspelt = new Set<Elemento>();
  const copies = new Map<string, number>();
  for (const { child, before } of strange) {
    if (found.faults.length + unknowns.length > FAULTS_MAX) {
      found.unlisted += 1;
      continue;
    }
    const copy = (copies.get(child.name) ?? 0) + 1;
    copies.set(child.name, copy);
    const unknown = unknownTag(child, `${base}/${child.name}${copy === 1 ? '' : `[${copy}]`}`, level, found.layout);
    const slot = unknown.right && compiled.slots.get(unknown.right[0]!);
    if (slot !== undefined) meant.set(child, slot);
    if (unknown.isMisspelt === true) misspelt.add(child);
    for (const place of unknown.perhaps ?? []) found.perhaps.add(`${BASE}/${place}`);
    unknowns.push({ unknown, child, before });
  }
  const hasRoom = roomIn(level, meant);
  const explained = new Set<string>();
  for (const { unknown, child, before } of unknowns) {
    const { right, elsewhere, isRefused } = unknown;
    const correcao = isRefused
      ? REMOVAL
      : right && hasRoom(child)
        ? correctName(child, right, level, found)
        : undefined;
    const fault = correcao === undefined ? unknown.fault : { ...unknown.fault, correcao };
    if (elsewhere !== undefined) found.meant.add(elsewhere);
    if (right !== undefined) {
      const name = meant.get(child)?.item.name ?? right[0]!;
      explained.add(name);
      found.meant.add([base, name, ...right.slice(1)].join('/'));
    }
    found.places.set(fault, right === undefined ? before : [base, ...right].join('/'));
    found.faults.push(fault);
  }
  return { explained, meant, misspelt };
}

function correctName(
  child: Elemento,
  right: readonly string[],
  { compiled }: Level,
  { source }: Found,
): string | undefined {
  let slot: Slot | undefined;
  let around: Compiled | undefined = compiled;
  for (const step of right) {
    slot = around?.slots.get(step);
    around = slot?.inside;
  }
  return renameElement(child, right, slot?.item.kind === 'leaf' ? slot.item : undefined, source);
}

/** Whether a child may stand at its place under its correct name: not repeated, not beside another of its choice, not out of order. */
function roomIn({ element, compiled }: Level, meant: ReadonlyMap<Elemento, Slot>): (child: Elemento) => boolean {
  if (meant.size === 0) return () => false;
  const slots = element.children.map((child) => compiled.slots.get(child.name) ?? meant.get(child));
  const standing = new Map<Slot | Choice, number>();
  for (const slot of slots) {
    for (const one of [slot, slot?.choice]) if (one !== undefined) standing.set(one, (standing.get(one) ?? 0) + 1);
  }
  const fits = new Set<Elemento>();
  let highest = -1;
  for (const [place, slot] of slots.entries()) {
    if ((slot?.order ?? highest) >= highest) fits.add(element.children[place]!);
    highest = Math.max(highest, slot?.order ?? -1);
  }
  let lowest = Number.POSITIVE_INFINITY;
  for (let place = slots.length - 1; place >= 0; place -= 1) {
    const order = slots[place]?.order ?? lowest;
    if (order > lowest) fits.delete(element.children[place]!);
    lowest = Math.min(lowest, order);
  }
  return (child) => {
    const slot = meant.get(child);
    if (slot === undefined || !fits.has(child) || standing.get(slot)! > slot.item.max) return false;
    return slot.choice === undefined || standing.get(slot.choice) === 1;
  };
}

/** E0010, naming the right form, for a tag that a group does not have. */
type Unknown = {
  readonly fault: Fault;
  /** The steps below the group to the meant element. */
  readonly right?: readonly string[];
  /** An absolute path, if the meant element stands in another group. */
  readonly elsewhere?: string | undefined;
  /** Paths below `infDPS`, one of which may have been meant. */
  readonly perhaps?: readonly string[];
  /** Only the name is wrong, by a letter or two. */
  readonly isMisspelt?: true;
  /** There is nothing to put in its place. */
  readonly isRefused?: boolean;
};

function unknownTag({ name }: Elemento, xpath: string, { compiled, base, parent }: Level, layout: Layout): Unknown {
  const said = quoted(name);
  const found = { codigo: 'E0010', xpath, encontrado: `<${said}>` };
  const foreign = foreignTagAt(name, base, layout);
  if (foreign !== undefined) return foreignFault(foreign, found, base, parent, layout);
  const near = nearestName(name, [...compiled.slots.keys()]);
  if (near !== undefined) {
    const mensagem = `${said} não é um elemento de ${parent}; o nome parecido que existe ali é ${near}.`;
    return { fault: { ...found, mensagem, esperado: near }, right: [near], isMisspelt: true };
  }
  const places = placesNear(name, base, layout);
  const listed = places.slice(0, PLACES_MAX).join(' ou ');
  const mensagem =
    places.length === 0
      ? `${said} não é um elemento do leiaute nacional ${layout.versao}: retire-o, ou use um dos que existem em ${parent}, listados em esperado no primeiro destes erros.`
      : `${said} não pertence a ${parent}; no leiaute ${layout.versao} está em ${listed}.`;
  const allowed = [...new Set([...compiled.slots.values()].map((slot) => slot.item.name))];
  return {
    fault: { ...found, mensagem, esperado: places.length > 0 ? listed : `em ${parent}: ${allowed.join(', ')}` },
    // The whole layout has one such place: evidently that one was meant.
    elsewhere: layout.paths.get(name)?.length === 1 ? `${BASE}/${places[0]}` : undefined,
    perhaps: layout.paths.get(name) ?? [],
  };
}

const BASE = '/DPS/infDPS';

const PLACES_MAX = 3;

/** The row for a tag of earlier layouts, or one that the service writes, in the group that contains it. */
function foreignTagAt(name: string, base: string, { foreignTags }: Layout): ForeignTag | undefined {
  const group = base.replace(/\[\d+\]/g, '');
  return foreignTags.find((tag) => {
    if (tag.name !== name) return false;
    return tag.within === undefined || group === tag.within || group.endsWith(`/${tag.within}`);
  });
}

/** The replacement of a foreign tag, if it belongs here; otherwise its place in the layout. */
function foreignFault(
  foreign: ForeignTag,
  found: Pick<Fault, 'codigo' | 'xpath' | 'encontrado'>,
  base: string,
  parent: string,
  layout: Layout,
): Unknown {
  const { name, say } = foreign;
  const right = foreign.rename ?? foreign.replaces?.split('/').at(-1);
  const mensagem = `${name} não é um elemento do leiaute ${layout.versao} em ${parent}: ${say}.`;
  if (right === undefined) return { fault: { ...found, mensagem }, isRefused: foreign.carries !== true };
  const group = base.slice(BASE.length + 1).replace(/\[\d+\]/g, '');
  const places = foreign.replaces === undefined ? placesNear(right, base, layout) : [foreign.replaces];
  const isBody = base === BASE;
  const isHere = (place: string): boolean =>
    foreign.replaces === undefined
      ? place === (isBody ? right : `${group}/${right}`)
      : isBody || place.startsWith(`${group}/`);
  const here = places.find(isHere);
  if (here === undefined) {
    const listed = places.slice(0, PLACES_MAX).join(' ou ');
    const mensagem = `${name} não é um elemento do leiaute ${layout.versao} em ${parent}: o nome certo é ${right}, e o lugar dele é ${listed}.`;
    return {
      fault: { ...found, mensagem, esperado: listed },
      elsewhere: places.length === 1 ? `${BASE}/${places[0]}` : undefined,
      perhaps: places,
    };
  }
  const steps = here.slice(group === '' ? 0 : group.length + 1).split('/');
  const esperado = foreign.replaces === undefined ? {} : { esperado: foreign.replaces };
  return { fault: { ...found, mensagem, ...esperado }, right: steps };
}

/** The places of an element of this name in the layout: in the groups around this place if possible, otherwise anywhere. */
function placesNear(name: string, base: string, { paths: byName }: Layout): readonly string[] {
  const paths = byName.get(name) ?? [];
  const here = base
    .slice(BASE.length + 1)
    .replace(/\[\d+\]/g, '')
    .split('/');
  const shared = paths.map((path) => {
    const steps = path.split('/');
    const parted = steps.findIndex((step, place) => step !== here[place]);
    return parted === -1 ? steps.length : parted;
  });
  const most = Math.max(0, ...shared);
  return most === 0 ? paths : paths.filter((_path, place) => shared[place] === most);
}

/** A shortened or lengthened name (`opSimpNacional`) is recognised from this many letters on. */
const PREFIX_MIN = 5;

function isPrefixed(a: string, b: string): boolean {
  return b.length >= PREFIX_MIN && (a.startsWith(b) || b.startsWith(a));
}

/** The name that a misspelt name was evidently meant to be. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  const same = names.find((candidate) => candidate.toLowerCase() === lower);
  if (same !== undefined) return same;
  const whole = lower.length < PREFIX_MIN ? undefined : names.find((one) => isPrefixed(lower, one.toLowerCase()));
  if (whole !== undefined) return whole;
  const limit = Math.min(2, Math.floor(name.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of names) {
    const distance = editDistance(lower, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function editDistance(a: string, b: string, stop: number): number {
  if (Math.abs(a.length - b.length) >= stop) return stop;
  let row = Array.from({ length: b.length + 1 }, (_, place) => place);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next[j] = Math.min(change, row[j]! + 1, next[j - 1]! + 1);
    }
    row = next;
  }
  return row[b.length]!;
}
