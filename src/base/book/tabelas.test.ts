/** Every table of the database is declared once, and as PostgreSQL's catalogue has it: keys, columns, months. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import type { Db } from '../pg/open.ts';
import { AUDITADAS, type Auditada } from './auditoria-tabelas.ts';
import { OWNED } from './municipios.ts';
import { TABELAS, type Tabela } from './tabelas.ts';

/** A table as the catalogue has it. `colunas`: its columns, each with its type. */
type Row = {
  readonly nome: string;
  readonly isMensal: boolean;
  readonly chave: readonly string[];
  readonly colunas: Readonly<Record<string, string>>;
};

const CATALOGUE = `select c.relname as nome, c.relkind = 'p' as "isMensal",
    (select array_agg(a.attname::text order by k.place) from pg_index i cross join unnest(i.indkey) with ordinality k (attnum, place)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum where i.indrelid = c.oid and i.indisprimary) as chave,
    (select json_object_agg(a.attname, format_type(a.atttypid, null)) from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as colunas
  from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  order by c.relname`;

/** Types that have a form of their own in an entry. */
const FORMAS: Readonly<Record<string, Auditada['colunas'][number]['forma']>> = {
  'timestamp with time zone': 'momento',
  date: 'dia',
  bytea: 'bytes',
};

/** Tables whose rows keep a municipality from being deleted: given numbers. */
const KEEPING: readonly string[] = ['numeracao', 'numeracao_dps', 'sequencias'];

describe('the tables of the database', () => {
  let pool: Db;
  let rows: readonly Row[];
  before(async () => {
    pool = await freshPool();
    rows = (await pool.query<Row>(CATALOGUE)).rows;
  });

  const declaredOf = (nome: string): Tabela => TABELAS[nome as keyof typeof TABELAS];

  test('are all declared, and no others', () => {
    const names = rows.map(({ nome }) => nome);
    assert.deepEqual(names, Object.keys(TABELAS).toSorted());
  });

  test('belong to the installation where their key has no tenant, and to months where they have partitions', () => {
    for (const { nome, chave, isMensal } of rows) {
      const one = declaredOf(nome);
      assert.deepEqual(['isDaInstalacao' in one, 'mensal' in one], [!chave.includes('tenant'), isMensal], nome);
    }
  });

  test('are told by the chain with their key and each column, or with the reason for its absence', () => {
    for (const { nome, chave, colunas } of rows) {
      const { corrente, semEntrada } = declaredOf(nome);
      if (corrente === undefined) continue;
      const vistas = Object.values(AUDITADAS).filter(({ tabela }) => tabela === nome);
      const key = chave.filter((column) => column !== 'tenant' || chave.length === 1);
      for (const vista of vistas) assert.deepEqual(vista.chave, key, nome);
      const said = vistas.flatMap((vista) => vista.colunas);
      const names = new Set([...said.map((coluna) => coluna.nome), ...Object.keys(semEntrada ?? {}), 'tenant']);
      assert.deepEqual([...names].sort(), Object.keys(colunas).sort(), nome);
      for (const coluna of said) {
        const forma = FORMAS[colunas[coluna.nome]!] ?? 'texto';
        const isShort = coluna.forma === 'logico' || coluna.forma === 'zero';
        assert.equal(isShort ? 'texto' : coluna.forma, forma, `${nome}.${coluna.nome}`);
      }
    }
  });

  test('go with a municipality without notes, after those that name them', async () => {
    const { rows: found } = await pool.query<{ nome: string; refere: string }>(
      `select conrelid::regclass::text as nome, confrelid::regclass::text as refere from pg_constraint
        where contype = 'f' and conparentid = 0 and conrelid <> confrelid order by 1, 2`,
    );
    const kept = found.filter(({ nome, refere }) => refere === 'municipios' && !OWNED.includes(nome));
    assert.deepEqual(
      kept.map(({ nome }) => nome),
      KEEPING,
    );
    for (const { nome, refere } of found) {
      const [own, named] = [OWNED.indexOf(nome), OWNED.indexOf(refere)];
      if (own >= 0 && named >= 0) assert.ok(own < named, `${nome} before ${refere}`);
    }
  });

  test('begin a chain in an order without gaps', () => {
    const order = Object.values(AUDITADAS).map(({ ordem }) => ordem);
    for (const [place, ordem] of order.entries()) assert.equal(ordem, place + 1);
  });
});
