/** Documents built from the table of the DPS: with all elements, or with those that a test selects. Each place is known by its path. */
import assert from 'node:assert/strict';
import { readXml } from '../../src/documents/xml.ts';
import { decimal } from '../../src/fiscal/decimal.ts';
import { INF_DPS } from '../../src/fiscal/layout/dps.ts';
import { type DpsReading, readDps } from '../../src/fiscal/layout/read.ts';
import type { Choice, Group, Item, Leaf } from '../../src/fiscal/layout/vocabulary.ts';
import { samplesOf } from './layout-samples.ts';

export const DPS_ID = 'DPS355030821122233300018170000000000000000042';

export type Node = {
  readonly item: Leaf | Group;
  readonly choice: Choice | undefined;
  readonly parent: Node | undefined;
  readonly xpath: string;
  /** The path without the indexes of repeated elements. */
  readonly path: string;
  readonly text: string;
  readonly inside: Node[];
};

/** The decisions while a document is built. */
export type Taste = {
  readonly includes: (item: Leaf | Group) => boolean;
  readonly member: (choice: Choice, path: string) => Leaf | Group | undefined;
  readonly copies: (item: Leaf | Group) => number;
  readonly value: (leaf: Leaf) => string;
};

export function grow(
  items: readonly Item[],
  parent: Node | undefined,
  base: string,
  path: string,
  taste: Taste,
): Node[] {
  return items.flatMap((item) => {
    const choice = item.kind === 'choice' ? item : undefined;
    const chosen = item.kind === 'choice' ? taste.member(item, path) : taste.includes(item) ? item : undefined;
    if (chosen === undefined) return [];
    const copies = chosen.max === 1 ? 1 : taste.copies(chosen);
    return Array.from({ length: copies }, (_, place) => {
      const node: Node = {
        item: chosen,
        choice,
        parent,
        xpath: `${base}/${chosen.name}${chosen.max === 1 ? '' : `[${place + 1}]`}`,
        path: path === '' ? chosen.name : `${path}/${chosen.name}`,
        text: chosen.kind === 'leaf' ? taste.value(chosen) : '',
        inside: [],
      };
      if (chosen.kind === 'group') node.inside.push(...grow(chosen.items, node, node.xpath, node.path, taste));
      return node;
    });
  });
}

/** Texts that replace a node. */
export type Edit = ReadonlyMap<Node, (own: string) => string>;

export function render(node: Node, edit: Edit = new Map()): string {
  const { name } = node.item;
  const content = node.item.kind === 'leaf' ? escaped(node.text) : node.inside.map((one) => render(one, edit)).join('');
  const own = `<${name}>${content}</${name}>`;
  return edit.get(node)?.(own) ?? own;
}

export function escaped(text: string): string {
  const references: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };
  return text.replace(/[&<>\r]/g, (character) => references[character]!);
}

export function dpsOf(nodes: readonly Node[], edit?: Edit): string {
  return dpsText(nodes.map((node) => render(node, edit)).join(''));
}

export function dpsText(inside: string, after = ''): string {
  return `<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infDPS Id="${DPS_ID}">${inside}</infDPS>${after}</DPS>`;
}

export function flat(nodes: readonly Node[]): Node[] {
  return nodes.flatMap((node) => [node, ...flat(node.inside)]);
}

/** Documents with every optional element. Their choices alternate until every element is in one. */
export function maximal(items: readonly Item[], includes: (item: Leaf | Group) => boolean): Node[][] {
  const turns = new Map<string, number>();
  const taste: Taste = {
    includes,
    member: (choice, path) => {
      const turn = turns.get(path) ?? 0;
      turns.set(path, turn + 1);
      return choice.items[turn % choice.items.length]!;
    },
    copies: (item) =>
      Math.max(
        2,
        ...(item.kind === 'group' ? item.items.map((one) => (one.kind === 'choice' ? one.items.length : 0)) : []),
      ),
    value: (leaf) => samplesOf(leaf).good[0]!,
  };
  const documents: Node[][] = [];
  const covered = new Set<string>();
  const all = pathsOf(items, '', includes);
  for (let round = 0; covered.size < all.length; round += 1) {
    assert.ok(round < 20, `never grown: ${all.filter((path) => !covered.has(path))}`);
    const document = grow(items, undefined, '', '', taste);
    for (const { path } of flat(document)) covered.add(path);
    documents.push(document);
  }
  return documents;
}

export function pathsOf(items: readonly Item[], above: string, includes: (item: Leaf | Group) => boolean): string[] {
  return items
    .flatMap((item) => (item.kind === 'choice' ? [...item.items] : [item]))
    .filter(includes)
    .flatMap((item) => {
      const path = above === '' ? item.name : `${above}/${item.name}`;
      return item.kind === 'group' ? [path, ...pathsOf(item.items, path, includes)] : [path];
    });
}

export const isSent = (item: Leaf | Group): boolean => item.sent !== 'refused';
export const MAXIMAL = maximal(INF_DPS, isSent);

/** A maximal document for each element of the DPS, and the first place of that element there. */
export const PLACES = pathsOf(INF_DPS, '', isSent).map((path) => {
  const document = MAXIMAL.find((nodes) => flat(nodes).some((node) => node.path === path))!;
  return { document, node: flat(document).find((node) => node.path === path)! };
});

/** The object that the reader would make of the nodes, built without the reader. */
export function objectOf(nodes: readonly Node[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const { item, text, inside } of nodes) {
    const value = item.kind === 'group' ? objectOf(inside) : item.type.kind === 'decimal' ? decimal(text) : text;
    if (item.max === 1) object[item.name] = value;
    else object[item.name] = [...((object[item.name] as unknown[] | undefined) ?? []), value];
  }
  return object;
}

export function read(xml: string): DpsReading {
  const reading = readXml(Buffer.from(xml));
  // The message is built only on failure: the whole tree as text takes as long as the parse.
  if (!('root' in reading)) assert.fail(`not well-formed: ${JSON.stringify(reading)}`);
  return readDps(reading.root);
}
