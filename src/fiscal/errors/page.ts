/**
 * What the page of a code shows, before it is Markdown or HTML: the facts of its row, the fields that answer with it,
 * and its examples as fragments of XML with the answers that the law really gives them.
 */
import type { Fault } from '../fault.ts';
import { INF_DPS } from '../layout/dps.ts';
import { elementsOf, type Group, type Item, type Leaf } from '../layout/vocabulary.ts';
import { exampleXml } from '../rules/example.ts';
import type { Patch } from '../rules/rule.ts';
import { type ExampleLine, faultsOf, linesOf } from '../rules/trial.ts';
import type { PublicError } from './row.ts';

/** `marked`: the line that the answer is about. */
export type FragmentLine = { readonly text: string; readonly marked: boolean };
export type Fragment = readonly FragmentLine[];

/** One rule, or the structure as a whole, with its examples. */
export type Case = {
  /** Path of the layout; absent for structure. */
  readonly at: string | undefined;
  /** Where the meaning of the code does not say it already. */
  readonly why: string | undefined;
  readonly expected: string | undefined;
  readonly rejected: readonly { readonly fragment: Fragment; readonly answers: readonly Fault[] }[];
  readonly accepted: readonly Fragment[];
};

export type ErrorPage = {
  readonly http: string;
  readonly retry: string;
  /** What a reader must know before the rest, when the code is not simply one that is sent. */
  readonly notice: string | undefined;
  /** Elements that answer with it: of its only rule, and of the layout where it names the code. */
  readonly fields: readonly string[];
  readonly cases: readonly Case[];
};

export function pageOf(error: PublicError): ErrorPage {
  const cases = casesOf(error);
  return {
    http: httpOf(error),
    retry: retryOf(error),
    notice: noticeOf(error),
    fields: fieldsOf(error.codigo, cases),
    cases,
  };
}

/** Where there are several cases, each names its own place. */
function fieldsOf(codigo: string, cases: readonly Case[]): readonly string[] {
  const named = GENERAL.has(codigo) ? [] : (FIELDS_BY_CODE.get(codigo) ?? []);
  const [only, ...others] = cases;
  return others.length > 0 || only?.at === undefined ? named : [...new Set([only.at, ...named])];
}

function httpOf({ status, statuses }: PublicError): string {
  if (status === 'aviso') return '201, em avisos';
  const [last, ...others] = statuses.map(String).toReversed();
  return others.length === 0 ? last! : `${others.toReversed().join(', ')} ou ${last}`;
}

function retryOf({ status, transitorio }: PublicError): string {
  if (status === 'aviso') return 'A nota foi emitida; não há o que repetir.';
  return transitorio
    ? 'A mesma requisição, repetida mais tarde, pode dar certo.'
    : 'A mesma requisição, repetida, terá a mesma resposta.';
}

function noticeOf({ situacao, substituidoPor, status }: PublicError): string | undefined {
  if (situacao === 'substituido')
    return `Código antigo, que nenhuma resposta traz. O que se recebe é ${substituidoPor}.`;
  if (situacao === 'reservado')
    return 'Código reservado: o sentido está fixado, e esta versão do serviço ainda não o envia.';
  return status === 'aviso' ? 'É um aviso: acompanha a nota emitida e nada recusa.' : undefined;
}

// Which elements answer with which code.

/** Codes that any element may answer with; the elements that name them are no list of their own. */
const GENERAL: ReadonlySet<string> = new Set(['E002', 'E0001', 'E0002', 'E0003', 'E203']);

const FIELDS_BY_CODE = fieldsByCode(INF_DPS, '', '', new Map());

function fieldsByCode(
  items: readonly Item[],
  base: string,
  parent: string,
  into: Map<string, string[]>,
): ReadonlyMap<string, string[]> {
  const note = (codes: Leaf['codes'], path: string): void => {
    for (const code of new Set(Object.values(codes ?? {}))) into.set(code, [...(into.get(code) ?? []), path]);
  };
  for (const item of items) {
    if (item.kind === 'choice') note(item.codes, parent);
    for (const member of item.kind === 'choice' ? item.items : [item]) {
      const path = `${base}${member.name}`;
      note(member.codes, path);
      if (member.kind === 'group') fieldsByCode(member.items, `${path}/`, path, into);
    }
  }
  return into;
}

// Examples.

function casesOf({ codigo, significado, exemplos, regras }: PublicError): readonly Case[] {
  const structure = exemplos === undefined ? [] : [caseOf(codigo, exemplos.rejects, exemplos.accepts, undefined)];
  return [
    ...structure,
    ...regras.map(({ at, why, expected, rejects, accepts }) => ({
      ...caseOf(codigo, rejects, accepts, at),
      why: significado.includes(why) ? undefined : why,
      expected,
    })),
  ];
}

function caseOf(codigo: string, rejects: readonly Patch[], accepts: readonly Patch[], at: string | undefined): Case {
  const marked = new Set(at === undefined ? [] : [at]);
  const context = sharedBy([...rejects, ...accepts]);
  const rejected = rejects.map((patch) => {
    const answers = faultsOf(patch);
    const here = answers.filter((fault) => fault.codigo === codigo).map(({ xpath }) => pathOf(xpath));
    for (const path of here) marked.add(path);
    return { fragment: fragmentOf(patch, { about: here, marked: new Set(here), context }), answers };
  });
  // What the refusal missed is shown where it is there.
  const missed = rejects.flatMap((patch) => Object.keys(patch).filter((path) => patch[path as keyof Patch] === null));
  const about = at === undefined ? [] : [at, ...missed];
  const accepted = accepts.map((patch) => fragmentOf(patch, { about, marked, context }));
  return { at, why: undefined, expected: undefined, rejected, accepted };
}

/** What all the patches of a case set alike: what the example needs, and not what it shows. */
function sharedBy(patches: readonly Patch[]): ReadonlySet<string> {
  const [first, ...others] = patches.map((patch) => new Map(Object.entries(patch)));
  if (first === undefined || others.length === 0) return new Set();
  const alike = [...first].filter(([path, text]) => text !== null && others.every((other) => other.get(path) === text));
  return new Set(alike.map(([path]) => path));
}

/** `/DPS/infDPS/toma/CPF[2]` to `toma/CPF`. */
function pathOf(xpath: string): string {
  return xpath.replace(/^\/DPS\/infDPS\//, '').replace(/\[\d+\]/g, '');
}

type View = {
  /** Shown besides what the patch sets. */
  readonly about: readonly string[];
  readonly marked: ReadonlySet<string>;
  readonly context: ReadonlySet<string>;
};

/**
 * The lines of an example that matter: what the patch sets or takes away and what the case is about, inside their
 * groups; the rest is `…`. What was taken away leaves a comment in its place, and a group of mere context is one line.
 */
function fragmentOf(patch: Patch, { about, marked, context }: View): Fragment {
  const removed = Object.keys(patch).filter((path) => patch[path as keyof Patch] === null);
  const set = Object.keys(patch)
    .filter((path) => typeof patch[path as keyof Patch] === 'string' && !path.startsWith('@'))
    .map((path) => path.replace(/^\+/, ''));
  const isGone = (path: string): boolean =>
    removed.some((gone) => isWithin(path, gone)) && !set.some((kept) => isWithin(kept, path) || isWithin(path, kept));
  const lines = linesOf(exampleXml(withPlaceholders(patch))).filter(
    ({ path, kind }) => !isGone(path) || (removed.includes(path) && kind !== 'end'),
  );
  const wanted = [...set, ...removed, ...about];
  const isShown = ({ path }: ExampleLine): boolean => wanted.some((one) => isWithin(path, one) || isWithin(one, path));
  const isMarked = ({ path }: ExampleLine): boolean => [...marked].some((one) => isWithin(path, one));

  const fragment: FragmentLine[] = [];
  let left: ExampleLine | undefined;
  for (let place = 0; place < lines.length; place += 1) {
    const line = lines[place]!;
    if (!isShown(line)) {
      left ??= line;
      continue;
    }
    if (left !== undefined && fragment.length > 0) fragment.push({ text: indented(left.path, '…'), marked: false });
    left = undefined;
    const name = line.path.split('/').at(-1);
    const end = line.kind === 'start' ? endOfContext(lines, place, context, isMarked) : undefined;
    if (end !== undefined) {
      fragment.push({ text: indented(line.path, `<${name}>…</${name}>`), marked: false });
      place = end;
    } else {
      const text = isGone(line.path) ? `<!-- sem ${name} -->` : line.source.trim();
      fragment.push({ text: indented(line.path, text), marked: isMarked(line) });
    }
  }
  return fragment;
}

/** Shorter groups are shown whole. */
const CONTEXT_MIN = 3;

/** Place of the end of the group that starts here, when all that is in it are leaves of context. */
function endOfContext(
  lines: readonly ExampleLine[],
  start: number,
  context: ReadonlySet<string>,
  isMarked: (line: ExampleLine) => boolean,
): number | undefined {
  const length = lines.slice(start + 1).findIndex(({ path, kind }) => kind !== 'leaf' || !context.has(path));
  const end = lines[start + 1 + length];
  if (length < CONTEXT_MIN || end?.kind !== 'end') return undefined;
  return lines.slice(start, start + length + 2).some(isMarked) ? undefined : start + 1 + length;
}

function isWithin(path: string, group: string): boolean {
  return path === group || path.startsWith(`${group}/`);
}

function indented(path: string, text: string): string {
  return '  '.repeat(path.split('/').length - 1) + text;
}

/** The patch with what it takes away still there, so that the place of it can be seen. */
function withPlaceholders(patch: Patch): Patch {
  return Object.fromEntries(
    Object.entries(patch).flatMap(([path, text]) => {
      if (text !== null) return [[path, text]];
      return elementAt(path)?.kind === 'leaf' ? [[path, '-']] : [];
    }),
  );
}

function elementAt(path: string): Leaf | Group | undefined {
  let items: readonly Item[] = INF_DPS;
  let found: Leaf | Group | undefined;
  for (const name of path.split('/')) {
    found = elementsOf(items).find((item) => item.name === name);
    items = found?.kind === 'group' ? found.items : [];
  }
  return found;
}
