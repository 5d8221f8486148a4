/** The state of a reading of a tree: its layout, the words of the sender, and the faults so far. */
import type { Fault } from '../fault.ts';
import type { Source } from './correct-xml.ts';
import type { Compiled, Layout } from './layouts.ts';
import type { Atributo, Elemento } from './tree.ts';
import type { Group, Leaf } from './vocabulary.ts';

export const SIGNATURE_NAMESPACE = 'http://www.w3.org/2000/09/xmldsig#';
const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

/** Identifier of `infDPS` (D-16): any `DPS` and digits; letters only at the positions of an alphanumeric CNPJ. */
export const ID_FORM = /^DPS[0-9]{1,60}$|^DPS[0-9]{8}[0-9A-Z]{14}[0-9]{20}$/;

/** The attributes of an element that do not belong there. `allowed`: the names that do. */
export function strayAttributes({ attributes }: Elemento, ...allowed: readonly string[]): readonly Atributo[] {
  if (attributes.length === 0) return attributes;
  return attributes.filter(
    ({ name, namespace }) => namespace !== SCHEMA_INSTANCE && !(namespace === '' && allowed.includes(name)),
  );
}

/** The maximum number of listed faults: the answer gives the total number. */
export const FAULTS_MAX = 200;

/** The first `FAULTS_MAX` faults, and one more with this code for all others, including the `unlisted` ones. */
export function listFaults(faults: readonly Fault[], unlisted: number, codigo: string): readonly Fault[] {
  const left = faults.length + unlisted - FAULTS_MAX;
  if (left <= 0) return faults;
  const mensagem = `Há mais ${left} erro(s) de estrutura além dos ${FAULTS_MAX} listados; corrija estes e envie de novo.`;
  const rest: Fault = { codigo, xpath: '/DPS/infDPS', mensagem, detalhes: { nao_listados: left } };
  return [...faults.slice(0, FAULTS_MAX), rest];
}

/** The names in faults: the tags of the DPS, or those of the body that the tree was made of. */
export type Words = {
  readonly element: 'elemento' | 'campo';
  /** The sender's name of an element. */
  name(xpath: string, item: Leaf | Group): string;
  /** The sender's name of the group around it; undefined for the body as a whole. */
  group(xpath: string, name: string): string | undefined;
  /** The text that replaces an element, with its corrected value. */
  corrected(xpath: string, leaf: Leaf, text: string, element: Elemento): string;
};

/** The results of one reading so far. */
export type Found = {
  readonly layout: Layout;
  readonly words: Words;
  readonly source: Source | undefined;
  /** IANA zone of the municipality that the document names; undefined if it names none. */
  readonly zone: string | undefined;
  readonly faults: Fault[];
  /** Faults that are counted and not described: a thousand unknown tags are not each compared. */
  unlisted: number;
  /** The places in the layout of faults whose own path is not in it. */
  readonly places: Map<Fault, string>;
  /** The faults whose correction is withheld. */
  readonly withheld: Set<Fault>;
  /** The faults that report something missing. */
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

/** A group during reading. */
export type Level = {
  readonly compiled: Compiled;
  readonly element: Elemento;
  readonly base: string;
  readonly parent: string;
};
