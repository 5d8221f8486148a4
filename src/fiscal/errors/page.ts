/**
 * What the page of a code shows, before it is Markdown or HTML: the facts of its row, the fields that answer with it,
 * and its examples as fragments of XML with the answers that the law really gives them.
 */
import type { Aviso, Fault } from '../fault.ts';
import { INF_DPS } from '../layout/dps.ts';
import { elementsOf, type Group, type Item, type Leaf } from '../layout/vocabulary.ts';
import { exampleXml } from '../rules/example.ts';
import type { AnyRule, Patch } from '../rules/rule.ts';
import { avisosOn, type ExampleLine, faultsOf, isJsonOnly, linesOf } from '../rules/trial.ts';
import type { Alcance, PublicError } from './row.ts';

/** `marked`: the line that the answer is about. */
export type FragmentLine = { readonly text: string; readonly marked: boolean };
export type Fragment = readonly FragmentLine[];

/** What matters of an example, as it is sent; absent where that form cannot say it. */
export type Sample = { readonly xml: Fragment | undefined; readonly json: Fragment | undefined };

/** One rule, or the structure as a whole, with its examples. */
export type Case = {
  /** Path of the layout; absent for structure. */
  readonly at: string | undefined;
  /** What the code itself does not say already. */
  readonly title: string | undefined;
  readonly why: string | undefined;
  readonly mend: string | undefined;
  /** Where it is not that of the code as a whole. */
  readonly alcance: Alcance | undefined;
  readonly expected: string | undefined;
  /** Of a rule that never refuses these are remarked upon. */
  readonly rejected: readonly { readonly sample: Sample; readonly answers: readonly (Fault | Aviso)[] }[];
  readonly refuses: boolean;
  readonly accepted: readonly Sample[];
};

export type ErrorPage = {
  readonly http: string;
  readonly retry: string;
  /** Whom it concerns: what it does in production and what in the sandbox. */
  readonly reach: string;
  /** What a reader must know before the rest, when the code is not simply one that is sent. */
  readonly notice: string | undefined;
  /** Elements that answer with it: of its rules, and of the layout where it names the code. */
  readonly fields: readonly string[];
  readonly cases: readonly Case[];
};

export function pageOf(error: PublicError): ErrorPage {
  return {
    http: httpOf(error),
    retry: retryOf(error),
    reach: reachOf(error),
    notice: noticeOf(error),
    fields: fieldsOf(error),
    cases: casesOf(error),
  };
}

/** The elements of the DPS, or of the note, that a code is about: of its rules, and of the layout where it names it. */
export function fieldsOf({ codigo, regras }: PublicError): readonly string[] {
  const named = GENERAL.has(codigo) ? [] : (FIELDS_BY_CODE.get(codigo) ?? []);
  return [...new Set([...regras.map(({ at }) => at), ...named])];
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

/** Whom a code concerns, in words: what it does in production and what in the sandbox. */
export function reachOf({ alcance, integracao, regras, exemplos }: PublicError): string {
  const isByFacts = regras.length > 0 && exemplos === undefined && regras.every(({ rejects }) => rejects.length === 0);
  return [REACH[integracao ?? alcance], ...(isByFacts ? [BY_FACTS] : [])].join(' ');
}

const REACH: Readonly<Record<Alcance | 'avisa' | 'nao_verifica', string>> = {
  geral: 'Vale em produção e no ambiente de integração.',
  nacional:
    'Regra nacional, que a especificação deste serviço não nomeia. Em produção recusa; no ambiente de integração a nota sai, com um aviso de que em produção seria recusada. Um município pode escolher o contrário.',
  aviso: 'Nunca recusa: em produção e no ambiente de integração é um aviso, que acompanha a nota emitida.',
  avisa: 'Vale em produção. No ambiente de integração não recusa: um aviso diz o que a produção responderia.',
  nao_verifica: 'Vale em produção. No ambiente de integração não se verifica.',
};

/** What is said of a code whose refusal no document decides alone. */
const BY_FACTS = 'Depende também do que não está no documento: o cadastro do município, o ambiente ou a data.';

function noticeOf({ situacao, substituidoPor }: PublicError): string | undefined {
  if (situacao === 'substituido')
    return `Código antigo, que nenhuma resposta traz. O que se recebe é ${substituidoPor}.`;
  if (situacao === 'reservado')
    return 'Código reservado: o sentido está fixado, e esta versão do serviço ainda não o envia.';
  return undefined;
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

function casesOf({
  codigo,
  mensagem,
  significado,
  comoResolver,
  alcance,
  exemplos,
  regras,
}: PublicError): readonly Case[] {
  const structure = exemplos === undefined ? [] : [caseOf({ code: codigo, ...exemplos, at: undefined })];
  return [
    ...structure,
    ...regras.map((rule) => {
      const own: Alcance = rule.scope ?? 'geral';
      return {
        ...caseOf(rule),
        title: rule.title === mensagem ? undefined : rule.title,
        why: significado.includes(rule.why) ? undefined : rule.why,
        mend: rule.mend === comoResolver ? undefined : rule.mend,
        alcance: own === alcance ? undefined : own,
        expected: rule.expected,
      };
    }),
  ];
}

type Exemplified = Pick<AnyRule, 'code' | 'scope' | 'rejects' | 'accepts'> & { readonly at: string | undefined };

function caseOf({ code, at, scope, rejects, accepts }: Exemplified): Case {
  const marked = new Set(at === undefined ? [] : [at]);
  const context = sharedBy([...rejects, ...accepts]);
  const refuses = scope !== 'aviso';
  const rejected = rejects.map((patch) => {
    const answers = refuses ? faultsOf(patch) : avisosOn(patch).filter(({ codigo }) => codigo === code);
    const here = answers.filter(({ codigo }) => codigo === code).map(({ xpath }) => pathOf(xpath));
    for (const path of here) marked.add(path);
    return { sample: sampleOf(patch, { about: here, marked: new Set(here), context }), answers };
  });
  // What the refusal missed is shown where it is there.
  const missed = rejects.flatMap((patch) => Object.keys(patch).filter((path) => patch[path as keyof Patch] === null));
  const about = at === undefined ? [] : [at, ...missed];
  const accepted = accepts.map((patch) => sampleOf(patch, { about, marked, context }));
  const said = { title: undefined, why: undefined, mend: undefined, alcance: undefined, expected: undefined };
  return { at, ...said, refuses, rejected, accepted };
}

function sampleOf(patch: Patch, view: View): Sample {
  return { xml: isJsonOnly(patch) ? undefined : fragmentOf(patch, view), json: undefined };
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
