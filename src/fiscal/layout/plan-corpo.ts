/**
 * The table of the JSON body beside the table of the DPS: which property fills which element, in the order of the layout.
 *
 * The plan is built once, when the module is loaded, and checked then: a property whose path the DPS does not have is a bug. Reader,
 * writer, documentation and the answers to faults use this plan.
 */
import { type Campo, CORPO, type Declaracao, type Grupo, type Item } from './corpo.ts';
import { INF_DPS } from './dps.ts';
import {
  elementsOf,
  type Group,
  isRequiredOfSender,
  joinPath,
  type Item as LayoutItem,
  type Leaf,
} from './vocabulary.ts';

/** One JSON object: the body, or a group of it. */
export type Host = {
  /** The place of the object, `[]` for each list: `deducao_reducao.documentos[]`; empty for the body. */
  readonly campo: string;
  /** The group of the DPS that it becomes, without indexes; empty for `infDPS`. */
  readonly path: string;
  readonly items: ReadonlyMap<string, Item>;
};

export type LeafPart = {
  readonly kind: 'leaf';
  readonly leaf: Leaf;
  readonly campo: Campo;
  readonly inChoice: boolean;
};

/** A group of the DPS that is an object of the body too. */
export type OwnPart = {
  readonly kind: 'own';
  readonly group: Group;
  readonly grupo: Grupo;
  readonly host: Host;
  readonly parts: readonly Part[];
  /** The group is created even if it was not sent, because its required content is technical. */
  readonly isFilledIn: boolean;
};

/** A group of the DPS whose fields stand in the object around it. */
type SharedPart = {
  readonly kind: 'shared';
  readonly group: Group;
  readonly parts: readonly Part[];
  readonly required: boolean;
};

export type Part = LeafPart | OwnPart | SharedPart;

/** The name of a path of the DPS in the body. */
export type Named = {
  /** The path of properties, with `[]` for each list around it, and at the end of a list itself. */
  readonly campo: string;
  /** The property alone; a group without an object of its own has the names of its parts. */
  readonly name: string;
  /** Place of the object that holds its fields. */
  readonly host: string;
};

const named = new Map<string, Named>();
const hosts: Host[] = [];

type Placed = Exclude<Item, Declaracao>;

function pathsOf(item: Placed): readonly string[] {
  return item.kind === 'campo' ? item.paths : [item.path];
}

/** The properties of one object, each with the rest of its path below the current group. */
type Left = readonly { readonly item: Placed; readonly path: string }[];

function hostOf(campo: string, path: string, items: readonly Item[]): Host {
  const host = { campo, path, items: new Map(items.map((item) => [item.name, item])) };
  hosts.push(host);
  return host;
}

function leftOf(items: readonly Item[]): Left {
  return items.flatMap((item) => (item.kind === 'declaracao' ? [] : pathsOf(item).map((path) => ({ item, path }))));
}

function partsOf(layout: readonly LayoutItem[], left: Left, host: Host, path: string): Part[] {
  const used = new Set<Left[number]>();
  const parts = elementsOf(layout).flatMap((element): Part[] => {
    const inChoice = layout.some((item) => item.kind === 'choice' && item.items.includes(element));
    const own = left.find((one) => one.path === element.name);
    const below = left.filter((one) => one.path.startsWith(`${element.name}/`));
    for (const one of own === undefined ? below : [own]) used.add(one);
    if (own === undefined && below.length === 0) return [];
    return [partOf(element, own?.item, below, host, joinPath(path, element.name), inChoice)];
  });
  const lost = left.find((one) => !used.has(one));
  if (lost !== undefined) throw new RangeError(`${lost.item.name}: the DPS has no ${joinPath(path, lost.path)}`);
  return parts;
}

function partOf(
  element: Leaf | Group,
  own: Placed | undefined,
  below: Left,
  host: Host,
  path: string,
  inChoice: boolean,
): Part {
  const many = element.max > 1;
  if (element.kind === 'leaf') {
    if (own?.kind !== 'campo' || (own.many ?? false) !== many) throw new RangeError(`${path} is a leaf`);
    named.set(path, { campo: joinCampo(host.campo, own.name) + (many ? '[]' : ''), name: own.name, host: host.campo });
    return { kind: 'leaf', leaf: element, campo: own, inChoice };
  }
  if (own === undefined) {
    const rest = below.map(({ item, path: whole }) => ({ item, path: whole.slice(element.name.length + 1) }));
    const parts = partsOf(element.items, rest, host, path);
    const required = !inChoice && isRequiredOfSender(element);
    named.set(path, sharedName(parts, host));
    return { kind: 'shared', group: element, parts, required };
  }
  if (own.kind !== 'grupo' || (own.many ?? false) !== many) throw new RangeError(`${path} is a group`);
  const inside = hostOf(joinCampo(host.campo, own.name) + (many ? '[]' : ''), path, own.items);
  const parts = partsOf(element.items, leftOf(own.items), inside, path);
  named.set(path, { campo: inside.campo, name: own.name, host: inside.campo });
  const isFilledIn = !inChoice && isRequiredOfSender(element) && parts.some(hasPadrao);
  return { kind: 'own', group: element, grupo: own, host: inside, parts, isFilledIn };
}

function hasPadrao(part: Part): boolean {
  return part.kind === 'leaf' && part.campo.padrao !== undefined;
}

/** The name of a group that the sender does not see: its first field if the body holds it, else the object around it. */
function sharedName(parts: readonly Part[], host: Host): Named {
  const required = parts.filter((part) => part.kind === 'leaf' && part.leaf.min === 1).map(nameOf);
  const names = required.length > 0 ? required : parts.slice(0, 1).map(nameOf);
  const campo = host.campo === '' ? names[0]! : host.campo;
  return { campo, name: [...new Set(names)].join('/'), host: host.campo };
}

function nameOf(part: Part): string {
  if (part.kind === 'leaf') return part.campo.name;
  return part.kind === 'own' ? part.grupo.name : nameOf(part.parts[0]!);
}

/** The place of a property in an object of the body. */
export function joinCampo(above: string, name: string): string {
  return above === '' ? name : `${above}.${name}`;
}

export const BODY: Host = hostOf('', '', CORPO);

/** The plan for the children of `infDPS` in a body. */
export const BODY_PARTS: readonly Part[] = partsOf(INF_DPS, leftOf(CORPO), BODY, '');

/** The name of each path of the DPS below `infDPS`, without indexes. */
export const NAMES: ReadonlyMap<string, Named> = named;

/** Every object of the body, the body itself first. */
export const HOSTS: readonly Host[] = hosts;

/** The values that a body may declare: the field of the note, below `infNFSe`, with the declaring property. */
export const DECLARED: ReadonlyMap<string, { readonly campo: string; readonly declaracao: Declaracao }> = new Map(
  hosts.flatMap((host) =>
    [...host.items.values()]
      .filter((item) => item.kind === 'declaracao')
      .map((declaracao) => [declaracao.note, { campo: joinCampo(host.campo, declaracao.name), declaracao }]),
  ),
);

export const DPS_BASE = '/DPS/infDPS';
export const NOTE_BASE = '/NFSe/infNFSe';

/** The place in the body for the xpath of a fault; undefined if the body has none. Lists count from 0. */
export function campoOf(xpath: string): string | undefined {
  if (xpath.startsWith(`${NOTE_BASE}/`)) return DECLARED.get(xpath.slice(NOTE_BASE.length + 1))?.campo;
  if (!xpath.startsWith(`${DPS_BASE}/`)) return undefined;
  return campoAt(xpath, NAMES.get(layoutPathOf(xpath))?.campo);
}

/** The path of the layout of an xpath below `infDPS`. */
export function layoutPathOf(xpath: string): string {
  return xpath.slice(DPS_BASE.length + 1).replace(/\[\d+\]/g, '');
}

/** A place with its lists counted as in the xpath. */
export function campoAt(xpath: string, campo: string | undefined): string | undefined {
  if (campo === undefined || !campo.includes('[]')) return campo;
  const indexes = [...xpath.matchAll(/\[(\d+)\]/g)].map(([, index]) => Number(index) - 1);
  let place = 0;
  return campo.replace(/\[\]/g, () => {
    const index = indexes[place];
    place += 1;
    return index === undefined ? '' : `[${index}]`;
  });
}
