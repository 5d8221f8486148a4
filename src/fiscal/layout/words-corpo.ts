/**
 * A message in the names of the JSON body: rules name the elements of the DPS, which the sender of a body does not know.
 *
 * Only unambiguous names are replaced: a path, a name that no ordinary word is spelt like (`cTribNac`), and a few short ones. Text between
 * quotation marks stays. If several elements share a name, the one nearest to the place of the fault is meant. If that is not decisive and
 * their properties differ, the name stays.
 */

import { ownOf } from '../own.ts';
import type { NfsePath } from './nfse.ts';
import { campoOf, DECLARED, layoutPathOf, NAMES, type Named, NOTE_BASE } from './plan-corpo.ts';

/** Names without an inner capital that are no ordinary words either. */
const SHORT_NAMES: ReadonlySet<string> = new Set(
  'BM CSTReg IBSCBS dest end fornec imovel interm mdic nro piscofins prest serie subst toma'.split(' '),
);

/** The words of a body for those of XML. */
const FIELDS: Readonly<Record<string, string>> = { elemento: 'campo', elementos: 'campos' };

/** A text between quotation marks; or a name or path that is no piece of something longer, such as an address. */
const QUOTED_OR_NAME = /"[^"]*"|(?<![\w@./-])[A-Za-z]\w*(?:\/[A-Za-z]\w*)*(?![\w@/]|[.-]\w)/g;

/** The text of a fault or a remark at this place, with the property for each element that it names. */
export function inNamesOfBody(text: string, xpath: string): string {
  let around: Around | undefined;
  return text.replace(QUOTED_OR_NAME, (token) => {
    if (!isNameOfElement(token)) return ownOf(FIELDS, token) ?? token;
    around ??= aroundOf(xpath);
    return propertyOf(token, around) ?? token;
  });
}

/** Whether a word of a message can only be an element, or a path of them. */
export function isNameOfElement(word: string): boolean {
  return pathsOf(word).length > 0 && (word.includes('/') || /[a-z][A-Z]/.test(word) || SHORT_NAMES.has(word));
}

type Around = { readonly steps: readonly string[]; readonly host: string | undefined };

function aroundOf(xpath: string): Around {
  if (xpath.startsWith(`${NOTE_BASE}/`))
    return { steps: xpath.slice(NOTE_BASE.length + 1).split('/'), host: undefined };
  const path = layoutPathOf(xpath);
  return { steps: path.split('/'), host: NAMES.get(path)?.host };
}

const paths = new Map<string, readonly string[]>();

/** The paths of the DPS that a name, or the end of a path, may mean. */
function pathsOf(word: string): readonly string[] {
  let found = paths.get(word);
  if (found === undefined) {
    // The words of the messages are few; the words of the sender stand between quotation marks.
    found = /^[A-Za-z]/.test(word)
      ? [...NAMES.keys()].filter((path) => path === word || path.endsWith(`/${word}`))
      : [];
    if (paths.size < WORDS_MAX) paths.set(word, found);
  }
  return found;
}

/** The maximum number of cached words; a message may also contain an e-mail or a name of a sender. */
const WORDS_MAX = 2000;

function propertyOf(word: string, { steps, host }: Around): string | undefined {
  const all = pathsOf(word);
  const isPath = word.includes('/');
  const near = isPath && all.includes(word) ? [word] : nearest(all, steps);
  const called = new Set(near.map((path) => nameProperty(NAMES.get(path)!, path, isPath ? undefined : host)));
  if (called.size === 1) return [...called][0];
  const names = new Set(near.map((path) => NAMES.get(path)!.name));
  return names.size === 1 ? [...names][0] : undefined;
}

function nearest(candidates: readonly string[], steps: readonly string[]): readonly string[] {
  const shared = candidates.map((path) => {
    const parted = path.split('/').findIndex((step, place) => step !== steps[place]);
    return parted === -1 ? Number.POSITIVE_INFINITY : parted;
  });
  const most = Math.max(...shared);
  return candidates.filter((_path, place) => shared[place] === most);
}

/**
 * A property beside the place of the fault is named alone, unless its name is one plain word (`numero`, `valor`). Any other property is
 * named with its object.
 */
function nameProperty({ campo, name, host: own }: Named, path: string, host: string | undefined): string {
  const party = ownOf(PARTIES, path);
  if (party !== undefined) return party;
  const plain = campo.replaceAll('[]', '');
  const isProperty = plain === name || plain.endsWith(`.${name}`);
  if (isProperty) return own === host && /[_A-Z]/.test(name) ? name : plain;
  const above = own === host || own === '' ? '' : `${own.replaceAll('[]', '')}.`;
  return name
    .split('/')
    .map((one) => above + one)
    .join(' e ');
}

/** Groups of the DPS whose fields all stand in the body itself, under one prefix. */
const PARTIES: Readonly<Record<string, string>> = {
  prest: 'prestador_*',
  toma: 'tomador_*',
  interm: 'intermediario_*',
};

// The trace of a calculation.

/** Amounts of the note that no body declares, by their names in the answer of the dry run. */
const ANSWERED = {
  'valores/vCalcDR': 'valor_deducao',
  'valores/vCalcBM': 'valor_beneficio',
  'valores/pAliqAplic': 'aliquota_issqn',
  'valores/vTotalRet': 'valor_total_retido',
  'valores/vLiq': 'valor_liquido',
} as const satisfies Partial<Readonly<Record<NfsePath, string>>>;

const OF_NOTE: ReadonlyMap<string, string> = new Map([
  ...[...DECLARED].map(([path, { campo }]): [string, string] => [path, campo]),
  ...Object.entries(ANSWERED),
]);

type Step = { readonly campo: string; readonly formula: string };

/** A step of a calculation for the sender of a body: the property beside the field of the note, the formula in properties. */
export function stepInNamesOfBody<S extends Step>(step: S): S & { readonly campo_json?: string } {
  const { campo } = step;
  const own = OF_NOTE.get(campo) ?? campoOf(`/${campo}`);
  const inNote = step.formula.replace(QUOTED_OR_NAME, (token) => ofNote(token, campo) ?? token);
  const formula = inNamesOfBody(inNote, campo.startsWith('IBSCBS/') ? OF_IBSCBS : OF_VALORES);
  return { ...(own === undefined ? {} : { campo, campo_json: own }), ...step, formula };
}

/** The start of the search for a name that several groups have. */
const OF_VALORES = '/DPS/infDPS/valores/vServPrest/vServ';
const OF_IBSCBS = '/DPS/infDPS/IBSCBS/valores/trib/gIBSCBS/CST';

/** The amount of the note with this name; if there are two, that of the same tax. */
function ofNote(name: string, beside: string): string | undefined {
  const all = [...OF_NOTE.keys()].filter((path) => path.endsWith(`/${name}`));
  const [only, ...others] = nearest(all, beside.split('/'));
  return only === undefined || others.length > 0 ? undefined : OF_NOTE.get(only);
}
