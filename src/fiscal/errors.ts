/**
 * The public table of errors: every code that an answer may carry, with its HTTP status, its meaning and its remedy. The status of an
 * answer, `docs/erros` and the pages under `/docs/erros` come from this table.
 *
 * A rule in `rules/` gives reason, origin and examples of its code. A row in `errors/` adds title and advice, and declares the codes that
 * no rule has. A rule without a row is still a code of the table.
 */
import { ASSINATURA } from './errors/assinatura.ts';
import { AVISOS, DUPLICIDADE, ESTRUTURA } from './errors/dps.ts';
import { EVENTOS } from './errors/eventos.ts';
import type { Alcance, PublicError, Row } from './errors/row.ts';
import { SERVICO } from './errors/servico.ts';
import type { AnyRule } from './rules/rule.ts';
import { ALL_RULES } from './rules/rules.ts';
import { factsOf, faultsOf } from './rules/trial.ts';

export type { Alcance, PublicError } from './errors/row.ts';

/** The rows as their families declare them, without the additions of the rules. */
export const ROWS: readonly Row[] = [...SERVICO, ...ASSINATURA, ...AVISOS, ...ESTRUTURA, ...DUPLICIDADE, ...EVENTOS];

const RULES_BY_CODE = Map.groupBy<string, AnyRule>(ALL_RULES, ({ code }) => code);

const ROWS_BY_CODE: ReadonlyMap<string, Row> = new Map(ROWS.map((row) => [row.codigo, row]));

/** Codes of three digits before those of four, each by number: the order in which a code is looked up. */
export const ERRORS: readonly PublicError[] = [
  ...ROWS.map((row) => publishRow(row, RULES_BY_CODE.get(row.codigo) ?? [])),
  ...[...RULES_BY_CODE].filter(([code]) => !ROWS_BY_CODE.has(code)).map(([, regras]) => ofRules(regras)),
].toSorted((a, b) => a.codigo.length - b.codigo.length || (a.codigo < b.codigo ? -1 : 1));

const BY_CODE: ReadonlyMap<string, PublicError> = new Map(ERRORS.map((error) => [error.codigo, error]));

export function errorOf(codigo: string): PublicError | undefined {
  return BY_CODE.get(codigo);
}

/** Whether the page of a code has a refused and an accepted example. */
export function hasExamples({ exemplos, pedidos, regras }: PublicError): boolean {
  return exemplos !== undefined || pedidos.length > 0 || regras.length > 0;
}

/** Status of a refusal whose first fault has this code. A code without one is our own mistake, and throws. */
export function statusOf(codigo: string): number {
  const status = BY_CODE.get(codigo)?.status;
  if (typeof status !== 'number') throw new Error(`${codigo} is no refusal of the public error table`);
  return status;
}

function publishRow({ reservado, ...row }: Row, regras: PublicError['regras']): PublicError {
  const { status, substituidoPor } = row;
  const nacional = row.nacional ?? regras.find(({ national }) => national !== undefined)?.national;
  return {
    ...row,
    statuses: row.statuses ?? (status === 'aviso' ? [] : [status]),
    significado: row.significado ?? [...new Set(regras.map(({ why }) => why))].join(' '),
    origem: row.origem ?? [...new Set(regras.flatMap(({ origin }) => origin.split('; ')))].join('; '),
    ...(nacional === undefined ? {} : { nacional }),
    alcance: status === 'aviso' ? 'aviso' : row.significado === undefined ? reachOf(regras) : 'geral',
    pedidos: row.pedidos ?? [],
    situacao: reservado ? 'reservado' : substituidoPor === undefined ? 'enviado' : 'substituido',
    regras,
  };
}

/** A code without a row: its rules give all its texts. The same document is refused again when it is sent again. */
export function ofRules(regras: PublicError['regras']): PublicError {
  const [first] = regras;
  if (first === undefined) throw new RangeError('A code without rules is told by a row');
  const { code } = first;
  const title = regras.find((rule) => rule.title !== undefined)?.title ?? messageOf(first);
  const mend = regras.find((rule) => rule.mend !== undefined)?.mend ?? messageOf(first);
  const status = reachOf(regras) === 'aviso' ? 'aviso' : 422;
  return publishRow({ codigo: code, mensagem: title, comoResolver: mend, status, transitorio: false }, regras);
}

/** The scope of a code is the widest among its rules. */
function reachOf(regras: PublicError['regras']): Alcance {
  if (regras.some(({ scope }) => scope === undefined)) return 'geral';
  return regras.some(({ scope }) => scope === 'nacional') ? 'nacional' : 'aviso';
}

/** The sentence of a rule. A sentence that depends on the document is taken from the first rejected example. */
function messageOf({ code, message, rejects, why, given }: AnyRule): string {
  if (typeof message === 'string') return message;
  const [example] = rejects;
  return (example && faultsOf(example, factsOf({ given })).find(({ codigo }) => codigo === code)?.mensagem) ?? why;
}
