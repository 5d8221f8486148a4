/**
 * The migrations from their files. A file is one migration; lines `-- passo` separate its steps, and the statements of a step determine its
 * kind. README.md has the rules, and `test/migracoes.test.ts` checks every file against them.
 */
import { readdir, readFile } from 'node:fs/promises';

const FOLDER = new URL('./migrations/', import.meta.url);

export type Passo =
  /** Statements with brief locks, in one transaction. */
  | { readonly kind: 'brief'; readonly statements: readonly string[] }
  /** One `alter table … validate constraint …`, which reads all rows. */
  | { readonly kind: 'validation'; readonly sql: string; readonly table: string; readonly constraint: string }
  /** One `create index concurrently`, which cannot run in a transaction. */
  | { readonly kind: 'index'; readonly sql: string; readonly index: string; readonly table: string }
  /** One `drop index concurrently if exists`. */
  | { readonly kind: 'removal'; readonly index: string }
  /**
   * `-- lotes: <table> [mes] <key>`: one statement for a range of rows, in many short transactions. $1 is the tenant, $2 the key before the
   * first row, $3 the key of the last one. $4 is the month, if the table is kept by month. The key is a bigint, and the next column of an
   * index that begins with the tenant (and the month).
   */
  | {
      readonly kind: 'batches';
      readonly sql: string;
      readonly table: string;
      readonly isMonthly: boolean;
      readonly key: string;
    };

export type Migration = { readonly nome: string; readonly sql: string; readonly passos: readonly Passo[] };

/** All migrations of this program, in their order. */
export async function shippedMigrations(): Promise<readonly Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(names.map(async (nome) => migrationOf(nome, await readFile(new URL(nome, FOLDER), 'utf8'))));
}

/** Names of the tables that they create, and of the table that records them. */
export async function namesOfTables(): Promise<readonly string[]> {
  const made = (await shippedMigrations()).flatMap(({ sql }) => [
    ...sql.matchAll(/^create table (?:if not exists )?(\w+)/gim),
  ]);
  return ['migracoes', ...made.map(([, name]) => name!)];
}

export function migrationOf(nome: string, sql: string): Migration {
  return { nome, sql, passos: passosOf(sql) };
}

export function passosOf(sql: string): readonly Passo[] {
  return sql.split(/^-- passo$/m).map(passoOf);
}

function passoOf(text: string): Passo {
  const statements = statementsOf(text);
  const [, lotes, mes, key] = /^-- lotes: (\w+)( mes)? (\w+)$/m.exec(text) ?? [];
  const sql = statements.join(';\n');
  if (lotes !== undefined) return { kind: 'batches', sql, table: lotes, isMonthly: mes !== undefined, key: key! };
  const [, index, table] = /^create (?:unique )?index concurrently (\w+) on (\w+)[^;]*$/i.exec(sql) ?? [];
  if (index !== undefined) return { kind: 'index', sql, index, table: table! };
  const [, removed] = /^drop index concurrently if exists (\w+)$/i.exec(sql) ?? [];
  if (removed !== undefined) return { kind: 'removal', index: removed };
  const [, validated, constraint] = /^alter table (\w+) validate constraint (\w+)$/i.exec(sql) ?? [];
  if (validated !== undefined) return { kind: 'validation', sql, table: validated, constraint: constraint! };
  return { kind: 'brief', statements };
}

/** Statements without comments, on one line each. A body between $$ and a quoted text stay unchanged. */
export function statementsOf(sql: string): readonly string[] {
  const bodies: string[] = [];
  const keep = (part: string): string => (part.startsWith('--') ? '' : `«${bodies.push(part) - 1}»`);
  return sql
    .replace(/--.*|'[^']*'|\$\$[\s\S]*?\$\$/g, keep)
    .split(';')
    .map((one) =>
      one
        .replace(/\s+/g, ' ')
        .trim()
        .replace(/«(\d+)»/g, (_, place) => bodies[Number(place)]!),
    )
    .filter((one) => one !== '');
}

/** All statements for a database without rows, without batches and concurrent builds. */
export function atOnce(migrations: readonly Migration[]): readonly string[] {
  return migrations.flatMap(({ passos }) => passos.flatMap(sentAtOnce));
}

function sentAtOnce(passo: Passo): readonly string[] {
  switch (passo.kind) {
    case 'brief':
      return passo.statements;
    case 'batches':
      return [];
    case 'removal':
      return [`drop index if exists ${passo.index}`];
    default:
      return [passo.sql.replace(/ concurrently /i, ' ')];
  }
}
