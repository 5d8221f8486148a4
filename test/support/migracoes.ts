/**
 * Statements that a migration must not have, because they would block a service with full tables. The rules stand in src/base/pg/README.md.
 */
import { MENSAIS } from '../../src/base/book/meses.ts';
import { type Passo, passosOf, statementsOf } from '../../src/base/pg/migrations.ts';

/** Tables with a few rows a municipality, or a row a user of the console: any change to them is fast. */
const SMALL = new Set([
  'municipios',
  'migracoes',
  'migracoes_andamento',
  'recepcoes_adn',
  'transmissoes',
  'tabelas_aliquotas',
  'meses',
  'contas',
  'papeis',
]);

/** Tables partitioned by month; one step may briefly lock all months. */
const MONTHLY: ReadonlySet<string> = new Set(MENSAIS.map(({ tabela }) => tabela));

const CONSTANT = /\bdefault\s+(true|false|null|-?\d+(\.\d+)?|'[^']*')(?!\s*(::|\|\|)|[\w(])/i;

/** A statement under review, one by one. `table`: the altered table, if it existed before the file. */
type Statement = { readonly text: string; readonly table: string | undefined };

type Rule = { readonly says: string; readonly breaks: (statement: Statement, passo: Seen) => boolean };

type Seen = {
  readonly kind: Passo['kind'];
  readonly isMonthly: boolean;
  readonly count: number;
  readonly validated: ReadonlySet<string>;
};

const additions = (text: string): string[] =>
  text.match(
    /\badd (?:column )?(?!constraint|check|unique|primary|foreign|exclude)\w+.*?(?=,\s*(?:add|drop|alter)\b|$)/gis,
  ) ?? [];

const RULES: readonly Rule[] = [
  {
    says: 'an index on a full table is made with concurrently, alone in its step, without "if not exists"',
    breaks: ({ text, table }, { kind, count }) =>
      /^create (unique )?index/i.test(text) &&
      table !== undefined &&
      (kind !== 'index' || count > 1 || /\bif not exists\b/i.test(text)),
  },
  {
    says: 'an index is dropped with "concurrently if exists", alone in its step',
    breaks: ({ text }, { count }) =>
      /^drop index/i.test(text) && !(count === 1 && /^drop index concurrently if exists\b/i.test(text)),
  },
  {
    says: 'a constraint is validated alone in its step',
    breaks: ({ text, table }, { count }) => /\bvalidate constraint\b/i.test(text) && table !== undefined && count > 1,
  },
  {
    says: 'a constraint is added "not valid", a key "using index"',
    breaks: ({ text, table }) =>
      table !== undefined &&
      /\badd (constraint \w+ )?(check|foreign key|unique|primary key|exclude)\b/i.test(text) &&
      !/\bnot valid\b|\busing index\b/i.test(text),
  },
  {
    says: 'a column is added without check, reference, key or generation: its constraint comes after it, not valid',
    breaks: ({ text, table }) =>
      table !== undefined &&
      additions(text).some((one) => /\b(check|references|unique|primary key|generated)\b/i.test(one)),
  },
  {
    says: 'a column is added nullable or with a constant default',
    breaks: ({ text, table }) =>
      table !== undefined &&
      additions(text).some((one) => /\bdefault\b|\bnot null\b|serial\b/i.test(one) && !CONSTANT.test(one)),
  },
  {
    says: 'of a table that is kept by month no key or reference is made anew: PostgreSQL has no way that locks briefly',
    breaks: ({ text, table }) =>
      table !== undefined && MONTHLY.has(table) && /\busing index\b|\bforeign key\b/i.test(text),
  },
  {
    says: 'a constraint has a name',
    breaks: ({ text, table }) =>
      table !== undefined && /\badd (check|foreign key|unique|primary key|exclude)\b/i.test(text),
  },
  {
    says: 'an "alter table" says one thing',
    breaks: ({ text, table }) => table !== undefined && /,\s*(add|drop|alter|validate)\b/i.test(withoutBodies(text)),
  },
  {
    says: 'a column keeps its type: another takes its place',
    breaks: ({ text, table }) => table !== undefined && /\balter (column )?\w+ (set data )?type\b/i.test(text),
  },
  {
    says: '"set not null" comes after a validated check in an earlier step of the file',
    breaks: ({ text, table }, { validated }) =>
      table !== undefined && /\bset not null\b/i.test(text) && !validated.has(table),
  },
  {
    says: 'rows are changed in batches',
    breaks: ({ text, table }, { kind }) =>
      /^(update|delete|insert|merge|with|truncate)\b/i.test(text) && table !== undefined && kind !== 'batches',
  },
  {
    says: 'a step in batches is one statement that names $1, $2 and $3, and of a table that is kept by month $4',
    breaks: ({ text, table }, passo) =>
      passo.kind === 'batches' &&
      !(
        passo.count === 1 &&
        /\btenant = \$1/.test(text) &&
        /> \$2/.test(text) &&
        /<= \$3/.test(text) &&
        /\bmes = \$4/.test(text) === passo.isMonthly &&
        (table === undefined || MONTHLY.has(table) === passo.isMonthly)
      ),
  },
  {
    says: 'what the version before uses stays: nothing is dropped or renamed',
    breaks: ({ text, table }) =>
      table !== undefined &&
      /\bdrop (column|(?!constraint|default|not|expression|identity)\w+\b)|\brename (column|to)\b|\brename \w+ to\b|^drop table/i.test(
        text,
      ),
  },
  {
    says: 'nothing locks or writes a table anew by command, and no block hides what it does',
    breaks: ({ text }) => /^(lock|cluster|vacuum|reindex|do|call|refresh)\b/i.test(text),
  },
];

/** Sentences on the forbidden statements of a file, each with its step, counted from 1. */
export function faultsOf(sql: string): readonly string[] {
  const faults: string[] = [];
  const own = new Set<string>();
  const validated = new Set<string>();
  for (const line of sql.split('\n').filter((one) => /^\s*--\s*(passo|lotes?)\b\W*\w*\W*\w*\W*\w*\s*$/i.test(one))) {
    if (!/^-- (passo|lotes: \w+( mes)? \w+)$/.test(line))
      faults.push(`nobody reads "${line}" as a step or its batches`);
  }
  for (const [place, text] of sql.split(/^-- passo$/m).entries()) {
    const passo = passosOf(text)[0]!;
    const texts = statementsOf(text);
    const altered = new Set<string>();
    const isMonthly = passo.kind === 'batches' && passo.isMonthly;
    const seen: Seen = { kind: passo.kind, isMonthly, count: texts.length, validated: new Set(validated) };
    for (const text of texts) {
      const [, made] = /^create (?:unlogged )?table (?:if not exists )?(\w+)/i.exec(text) ?? [];
      if (made !== undefined) own.add(made);
      const name = tableOf(text);
      const table = name === undefined || own.has(name) || SMALL.has(name) ? undefined : name;
      if (table !== undefined) altered.add(table);
      for (const rule of RULES) if (rule.breaks({ text, table }, seen)) faults.push(`step ${place + 1}: ${rule.says}`);
      if (table !== undefined && /\bvalidate constraint\b/i.test(text)) validated.add(table);
    }
    if (altered.size > 1) faults.push(`step ${place + 1}: one full table a step: ${[...altered].join(', ')}`);
  }
  return [...new Set(faults)];
}

function tableOf(text: string): string | undefined {
  const head =
    /^(?:alter table (?:if exists )?(?:only )?|update (?:only )?|delete from (?:only )?|insert into |merge into |truncate (?:table )?|drop table (?:if exists )?)(\w+)/i;
  const index = /^create (?:unique )?index\b.*?\bon (?:only )?(\w+)/is;
  const trigger = /^(?:create|drop) trigger\b.*?\bon (\w+)/is;
  return (head.exec(text) ?? index.exec(text) ?? trigger.exec(text))?.[1];
}

/** The text without the parts between quotes or parentheses. */
function withoutBodies(text: string): string {
  const plain = text.replace(/'[^']*'|\([^()]*\)/g, '');
  return plain === text ? plain : withoutBodies(plain);
}
