/**
 * The migrations as their files say them. A file is one migration; lines `-- passo` part its steps, and what stands in a step tells its
 * kind. CONTRIBUTING.md has the rules, `test/migracoes.test.ts` holds every file to them.
 */
import { readdir, readFile } from 'node:fs/promises';

const FOLDER = new URL('./migrations/', import.meta.url);

export type Passo =
  /** Statements that lock briefly, in one transaction. */
  | { readonly kind: 'brief'; readonly sql: string }
  /** One `create index concurrently` (`index`: its name) or `drop index concurrently`, which admits no transaction. */
  | { readonly kind: 'concurrent'; readonly sql: string; readonly index: string | undefined }
  /**
   * `-- lotes: <table> <key>`: one statement for a range of rows, in many short transactions. $1 is the tenant, $2 the key before
   * the first row, $3 the key of the last one; the key is a bigint, and the second column of an index that begins with the tenant.
   */
  | { readonly kind: 'batches'; readonly sql: string; readonly table: string; readonly key: string };

export type Migration = { readonly nome: string; readonly sql: string; readonly passos: readonly Passo[] };

/** Names of all migrations of this program, in their order. */
export async function migrationNames(): Promise<readonly string[]> {
  return (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
}

export async function readMigration(nome: string): Promise<Migration> {
  const sql = await readFile(new URL(nome, FOLDER), 'utf8');
  return { nome, sql, passos: passosOf(sql) };
}

export function passosOf(sql: string): readonly Passo[] {
  return sql.split(/^-- passo$/m).map(passoOf);
}

function passoOf(sql: string): Passo {
  const [, table, key] = /^-- lotes: (\w+) (\w+)$/m.exec(sql) ?? [];
  if (table !== undefined && key !== undefined) return { kind: 'batches', sql, table, key };
  if (!/\bconcurrently\b/i.test(withoutComments(sql))) return { kind: 'brief', sql };
  const [, index] = /\bcreate (?:unique )?index concurrently (\w+)/i.exec(sql) ?? [];
  return { kind: 'concurrent', sql, index };
}

export function withoutComments(sql: string): string {
  return sql.replace(/--.*$/gm, '');
}

/** All of it as one text for a database without a row: nothing to go round, nothing to fill. */
export function atOnce(migrations: readonly Migration[]): string {
  const passos = migrations.flatMap((one) => one.passos.filter(({ kind }) => kind !== 'batches'));
  return passos.map(({ sql }) => sql.replace(/\bconcurrently\b/gi, '')).join('\n;\n');
}
