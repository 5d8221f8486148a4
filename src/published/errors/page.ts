/**
 * The content of a code's page, before it becomes Markdown, HTML or JSON: the facts of its row, its fields, and its examples. The law gives
 * the answers under the examples while the page is made.
 */

import type { Alcance, PublicError } from '../../fiscal/errors/row.ts';
import type { Aviso } from '../../fiscal/fault.ts';
import { INF_DPS } from '../../fiscal/layout/dps.ts';
import { campoOf } from '../../fiscal/layout/plan-corpo.ts';
import type { Item, Leaf } from '../../fiscal/layout/vocabulary.ts';
import type { AnyRule, Patch } from '../../fiscal/rules/rule.ts';
import { avisosOn, factsOf, faultsOf } from '../../fiscal/rules/trial.ts';
import { joinItems } from '../markdown.ts';
import { addAbsent, sampleOf } from './sample.ts';

export type { Fragment, Sample } from './sample.ts';

/** The examples of one rule, or of the structure as a whole. */
export type Case = ReturnType<typeof caseOf> & {
  /** Title, reason, remedy and reach of the rule, if they differ from those of the code. */
  readonly title?: string | undefined;
  readonly why?: string | undefined;
  readonly mend?: string | undefined;
  readonly alcance?: Alcance | undefined;
  readonly expected?: string | undefined;
};

/** One fault in the answer to an example; `campo`: the name of its place in a JSON body. */
export type Answer = Pick<Aviso, 'codigo' | 'xpath' | 'mensagem'> & { readonly campo: string | undefined };

/** A place that a code concerns: its path in the DPS or in the note, and its name in a JSON body. */
export type Place = { readonly path: string; readonly campo: string | undefined };

export type ErrorPage = ReturnType<typeof makePage>;

const pages = new WeakMap<PublicError, ErrorPage>();

/** The page is made once: the law answers some thousand examples for all pages, and three forms show them. */
export function pageOf(error: PublicError): ErrorPage {
  let page = pages.get(error);
  if (page === undefined) {
    page = makePage(error);
    pages.set(error, page);
  }
  return page;
}

function makePage(error: PublicError) {
  return {
    http: httpOf(error),
    retry: retryOf(error),
    reach: reachOf(error),
    /** Shown first for a reserved or replaced code. */
    notice: noticeOf(error),
    fields: placesOf(error),
    cases: casesOf(error),
  };
}

/** Paths that a code concerns: those of its rules, and of the elements whose layout row names it. */
export function fieldsOf({ codigo, regras }: PublicError): readonly string[] {
  const named = GENERAL.has(codigo) ? [] : (FIELDS_BY_CODE.get(codigo) ?? []);
  return [...new Set([...regras.map(({ at }) => at), ...named])];
}

/** The paths that a code concerns, each with its name in the JSON body. */
export function placesOf(error: PublicError): readonly Place[] {
  return fieldsOf(error).map((path) => ({ path, campo: campoOf(xpathOf(path)) }));
}

/** The XPath of a path of the layout. */
export function xpathOf(path: string): string {
  return path.startsWith('NFSe/') ? `/${path}` : `/DPS/infDPS/${path}`;
}

/** The statuses of a code in words: `503, 429, 409 ou 422`. */
export function httpOf({ status, statuses }: PublicError): string {
  if (status === 'aviso') return '201, em avisos';
  return joinItems(statuses.map(String), 'ou');
}

function retryOf({ status, statuses, transitorio }: PublicError): string {
  if (status === 'aviso') return 'A nota foi emitida; não há o que repetir.';
  if (transitorio) return 'A mesma requisição, repetida mais tarde, pode dar certo.';
  const isLateToo = statuses.includes(408) && statuses.length > 1;
  return `A mesma requisição, repetida, terá a mesma resposta${isLateToo ? ', salvo o 408' : ''}.`;
}

/** The reach of a code, in words: its effect in production and in the sandbox. */
export function reachOf({ alcance, integracao, regras, exemplos }: PublicError): string {
  const isByFacts = regras.length > 0 && exemplos === undefined && regras.every(({ rejects }) => rejects.length === 0);
  const isByRegister = regras.some(({ given }) => given !== undefined);
  const more = [...(isByFacts ? [BY_FACTS] : []), ...(isByRegister ? [BY_REGISTER] : [])];
  return [REACH[integracao ?? alcance], ...more].join(' ');
}

const REACH: Readonly<Record<Alcance | 'avisa' | 'nao_verifica', string>> = {
  geral: 'Vale em produção e no ambiente de integração.',
  nacional:
    'Regra nacional, que a especificação deste serviço não nomeia. Em produção recusa; no ambiente de integração a nota sai, com um aviso de que em produção seria recusada. Um município pode escolher o contrário.',
  aviso: 'Nunca recusa: em produção e no ambiente de integração é um aviso, que acompanha a nota emitida.',
  avisa: 'Vale em produção. No ambiente de integração não recusa: um aviso diz o que a produção responderia.',
  nao_verifica: 'Vale em produção. No ambiente de integração não se verifica.',
};

/** Added when the document alone is never refused. */
const BY_FACTS = 'Depende também do que não está no documento: o cadastro do município, o ambiente ou a data.';

/** Added where a rule of the code needs a register that not every municipality keeps. */
const BY_REGISTER = 'O que depende de um cadastro do município só se verifica onde ele o mantém.';

function noticeOf({ situacao, substituidoPor }: PublicError): string | undefined {
  if (situacao === 'substituido')
    return `Código antigo, que nenhuma resposta traz. O que se recebe é ${substituidoPor}.`;
  if (situacao === 'reservado')
    return 'Código reservado: o sentido está fixado, e esta versão do serviço ainda não o envia.';
  return undefined;
}

// The codes of each element.

/** Codes of any element: a list of the elements that name them would mislead. */
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

function casesOf(error: PublicError): readonly Case[] {
  const { codigo, exemplos, regras } = error;
  const structure = exemplos === undefined ? [] : [caseOf({ code: codigo, ...exemplos, at: undefined })];
  const cases = regras.map((rule) => {
    const alcance: Alcance = rule.scope ?? 'geral';
    return {
      ...caseOf(rule),
      title: rule.title === error.mensagem ? undefined : rule.title,
      why: error.significado.includes(rule.why) ? undefined : rule.why,
      mend: rule.mend === error.comoResolver ? undefined : rule.mend,
      alcance: alcance === error.alcance ? undefined : alcance,
      expected: rule.expected,
    };
  });
  return [...structure, ...cases];
}

type Exemplified = Pick<AnyRule, 'code' | 'scope' | 'given' | 'rejects' | 'accepts'> & {
  /** Path of the layout; undefined for structure. */
  readonly at: string | undefined;
};

function caseOf({ code, at, scope, given, rejects, accepts }: Exemplified) {
  const facts = factsOf({ given });
  const marked = new Set(at === undefined ? [] : [at]);
  const context = pathsSharedBy([...rejects, ...accepts]);
  const refuses = scope !== 'aviso';
  /** Examples that break the rule; a rule that never refuses answers them with a remark. */
  const rejected = rejects.map((patch) => {
    const found = refuses ? faultsOf(patch, facts) : avisosOn(patch, facts).filter(({ codigo }) => codigo === code);
    const answers = found.map(({ codigo, xpath, mensagem }) => ({ codigo, xpath, mensagem, campo: campoOf(xpath) }));
    const here = answers.filter(({ codigo }) => codigo === code).map(({ xpath }) => pathOf(xpath));
    for (const path of here) marked.add(path);
    const view = { about: here, marked: new Set(here), context, facts };
    return { sample: sampleOf(patch, view, refuses ? answers.map(({ codigo }) => codigo) : []), answers };
  });
  // An accepted example shows the element that the rejected one lacks.
  const missed = rejects.flatMap((patch) => Object.keys(patch).filter((path) => patch[path as keyof Patch] === null));
  const about = at === undefined ? [] : [at, ...missed];
  const accepted = accepts.map((patch) => sampleOf(addAbsent(patch, at), { about, marked, context, facts }, []));
  return { at, refuses, rejected, accepted };
}

/** Paths that all patches of a case set to the same text: context that the example needs and does not show. */
function pathsSharedBy(patches: readonly Patch[]): ReadonlySet<string> {
  const [first, ...others] = patches.map((patch) => new Map(Object.entries(patch)));
  if (first === undefined || others.length === 0) return new Set();
  const alike = [...first].filter(([path, text]) => text !== null && others.every((other) => other.get(path) === text));
  return new Set(alike.map(([path]) => path));
}

/** `/DPS/infDPS/toma/CPF[2]` to `toma/CPF`. */
function pathOf(xpath: string): string {
  return xpath.replace(/^\/(?:DPS\/infDPS\/)?/, '').replace(/\[\d+\]/g, '');
}
