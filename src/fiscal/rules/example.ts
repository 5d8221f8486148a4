/**
 * The one valid DPS that every example of a rule patches, and the conversion of a patch to a document. The documentation pages, the rule
 * tests and the sample that ships with the project are made here.
 */
import { DPS_NAMESPACE, DPS_VERSAO, INF_DPS } from '../layout/dps.ts';
import { escapeText } from '../layout/escape.ts';
import { elementsOf, type Group, type Item, type Leaf } from '../layout/vocabulary.ts';
import { treeOfLeaves, writeCorpo } from '../layout/write-corpo.ts';
import type { Patch } from './rule.ts';

/** Invented parties; documents with correct check digits. Series and number are absent, so that it can be sent again. */
export const VALID_DPS: Patch = {
  '@versao': DPS_VERSAO,
  '@Id': 'DPS355030821122233300018170000000000000000001',
  tpAmb: '2',
  verAplic: 'exemplo-1.0',
  dCompet: '2026-10-05',
  tpEmit: '1',
  cLocEmi: '3550308',
  'prest/CNPJ': '11222333000181',
  'prest/xNome': 'Empresa Exemplo Ltda',
  'prest/regTrib/opSimpNac': '1',
  'prest/regTrib/regEspTrib': '0',
  'toma/CPF': '52998224725',
  'toma/xNome': 'Maria Exemplo',
  'toma/end/endNac/cMun': '3550308',
  'toma/end/endNac/CEP': '01001000',
  'toma/end/xLgr': 'Praça da Sé',
  'toma/end/nro': '1',
  'toma/end/xBairro': 'Sé',
  'serv/locPrest/cLocPrestacao': '3550308',
  'serv/cServ/cTribNac': '010101',
  'serv/cServ/xDescServ': 'Desenvolvimento de sistema de gestão',
  'serv/cServ/cNBS': '115021000',
  'valores/vServPrest/vServ': '1000.00',
  'valores/trib/tribMun/tribISSQN': '1',
  'valores/trib/tribMun/tpRetISSQN': '1',
  'valores/trib/tribMun/pAliq': '2.00',
  'valores/trib/totTrib/indTotTrib': '0',
  'IBSCBS/finNFSe': '0',
  'IBSCBS/cIndOp': '100301',
  'IBSCBS/indDest': '0',
  'IBSCBS/valores/trib/gIBSCBS/CST': '000',
  'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '000001',
};

/** Members of a choice that the valid DPS has: setting a sibling removes them unless the patch says otherwise. */
const REPLACED: Readonly<Record<string, string>> = {
  'toma/end/endExt': 'toma/end/endNac',
  'serv/locPrest/cPaisPrestacao': 'serv/locPrest/cLocPrestacao',
};

/** The leaves that remain after a patch, by path. */
export function applyPatch(patch: Patch, base: Patch = VALID_DPS): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>();
  const remove = (path: string): void => {
    for (const leaf of leaves.keys()) if (leaf === path || leaf.startsWith(`${path}/`)) leaves.delete(leaf);
  };
  for (const [path, text] of Object.entries(base)) if (typeof text === 'string') leaves.set(path, text);
  for (const [path, text] of Object.entries(patch)) {
    if (text === null) remove(path);
    for (const [added, gone] of Object.entries(REPLACED)) if (path.startsWith(added)) remove(gone);
  }
  for (const [path, text] of Object.entries(patch)) {
    if (typeof text === 'string' && !path.startsWith('=')) leaves.set(path, text);
  }
  return leaves;
}

/** A DPS document of a patch, indented, in the order of the layout. */
export function exampleXml(patch: Patch = {}, base: Patch = VALID_DPS): string {
  const leaves = applyPatch(patch, base);
  const inside = writeItems(INF_DPS, '', groupLeaves(leaves), 2);
  const id = leaves.has('@Id') ? ` Id="${leaves.get('@Id')}"` : '';
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<DPS xmlns="${DPS_NAMESPACE}" versao="${leaves.get('@versao') ?? ''}">`,
    `  <infDPS${id}>`,
    ...inside,
    '  </infDPS>',
    '</DPS>',
    '',
  ].join('\n');
}

/**
 * The same as a JSON body, with the declarations of the patch. Undefined if no body can express it: the body has no version and no
 * identifier, and one place for the document of a party.
 */
export function exampleJson(patch: Patch = {}, base: Patch = VALID_DPS): string | undefined {
  if (patch['@versao'] !== undefined || patch['@Id'] !== undefined) return undefined;
  const declared = new Map<string, string>();
  for (const [path, text] of Object.entries(patch)) {
    if (path.startsWith('=') && typeof text === 'string') declared.set(path.slice(1), text);
  }
  return writeCorpo(treeOfLeaves(applyPatch(patch, base)), declared);
}

/** The remaining leaves after a patch, in the form that a writer needs. */
type Leaves = {
  readonly leaves: ReadonlyMap<string, string>;
  /** Paths of the groups with content. */
  readonly groups: ReadonlySet<string>;
  /** Elements that the layout does not have, by the path of their group: name and text. */
  readonly strange: ReadonlyMap<string, readonly (readonly [name: string, text: string])[]>;
};

function groupLeaves(leaves: ReadonlyMap<string, string>): Leaves {
  const groups = new Set<string>();
  const strange = new Map<string, [string, string][]>();
  for (const [path, text] of leaves) {
    const bare = path.replace(/^\+/, '');
    const end = bare.lastIndexOf('/');
    for (let at = end; at > 0; at = bare.lastIndexOf('/', at - 1)) groups.add(bare.slice(0, at));
    if (bare === path) continue;
    const within = bare.slice(0, Math.max(0, end));
    strange.set(within, [...(strange.get(within) ?? []), [bare.slice(end + 1), text]]);
  }
  return { leaves, groups, strange };
}

function writeItems(items: readonly Item[], base: string, there: Leaves, depth: number): string[] {
  const prefix = base === '' ? '' : `${base}/`;
  const lines = elementsOf(items).flatMap((item) => writeItem(item, `${prefix}${item.name}`, there, depth));
  const strange = there.strange.get(base) ?? [];
  return [...lines, ...strange.map(([name, text]) => line(name, text, depth))];
}

function writeItem(item: Leaf | Group, path: string, there: Leaves, depth: number): string[] {
  if (item.kind === 'leaf') {
    const text = there.leaves.get(path);
    return text === undefined ? [] : [line(item.name, text, depth)];
  }
  if (!there.groups.has(path) && !there.leaves.has(path)) return [];
  const pad = '  '.repeat(depth);
  return [`${pad}<${item.name}>`, ...writeItems(item.items, path, there, depth + 1), `${pad}</${item.name}>`];
}

function line(name: string, text: string, depth: number): string {
  return `${'  '.repeat(depth)}<${name}>${escapeText(text)}</${name}>`;
}
