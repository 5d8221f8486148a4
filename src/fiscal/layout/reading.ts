/** What a reading of a tree works with: its layout, the words of the sender, and what was found so far. */
import type { Fault } from '../fault.ts';
import type { Source } from './correct-xml.ts';
import type { Compiled, Layout } from './layouts.ts';
import type { Atributo, Elemento } from './tree.ts';
import type { Group, Leaf } from './vocabulary.ts';

export const SIGNATURE_NAMESPACE = 'http://www.w3.org/2000/09/xmldsig#';
const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

/** Identifier of `infDPS` (D-16): any `DPS` and digits; letters only where an alphanumeric CNPJ puts them. */
export const ID_FORM = /^DPS[0-9]{1,60}$|^DPS[0-9]{8}[0-9A-Z]{14}[0-9]{20}$/;

/** The attributes of an element that do not belong there. `allowed`: names that do. */
export function strayAttributes({ attributes }: Elemento, ...allowed: readonly string[]): readonly Atributo[] {
  if (attributes.length === 0) return attributes;
  return attributes.filter(
    ({ name, namespace }) => namespace !== SCHEMA_INSTANCE && !(namespace === '' && allowed.includes(name)),
  );
}

/** More faults than this are not listed: the answer says how many there were in all. */
export const FAULTS_MAX = 200;

/** At most `FAULTS_MAX` faults, and one more with this code for all others, `unlisted` among them. */
export function listFaults(faults: readonly Fault[], unlisted: number, codigo: string): readonly Fault[] {
  const left = faults.length + unlisted - FAULTS_MAX;
  if (left <= 0) return faults;
  const mensagem = `Há mais ${left} erro(s) de estrutura além dos ${FAULTS_MAX} listados; corrija estes e envie de novo.`;
  const rest: Fault = { codigo, xpath: '/DPS/infDPS', mensagem, detalhes: { nao_listados: left } };
  return [...faults.slice(0, FAULTS_MAX), rest];
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
  readonly layout: Layout;
  readonly words: Words;
  readonly source: Source | undefined;
  /** IANA zone of the municipality that the document names; undefined where it names none. */
  readonly zone: string | undefined;
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
  /** Absolute paths one of which a misplaced element may have meant. */
  readonly perhaps: Set<string>;
};

export function nothingFound({
  layout,
  words,
  source,
  zone,
}: Pick<Found, 'layout' | 'words' | 'source' | 'zone'>): Found {
  const sets = {
    withheld: new Set<Fault>(),
    missing: new Set<Fault>(),
    meant: new Set<string>(),
    perhaps: new Set<string>(),
  };
  return { layout, words, source, zone, faults: [], unlisted: 0, places: new Map(), ...sets };
}

/** A group while it is read. */
export type Level = {
  readonly compiled: Compiled;
  readonly element: Elemento;
  readonly base: string;
  readonly parent: string;
};
