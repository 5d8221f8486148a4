/** Every table of the database is declared once, and as PostgreSQL's catalogue has it: keys, columns, months. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import { createStore } from '../../wiring/store.ts';
import type { Db } from '../pg/open.ts';
import type { ClientBase } from '../pg/pg.ts';
import { deleteOfTenant } from '../pg/tabelas.ts';
import { AUDITADAS, type Auditada } from './auditoria-tabelas.ts';
import { ensureMeses, MENSAIS, mesOf } from './meses.ts';
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

  test('have statistics in a new month for their keys and what is searched by, and no others', async () => {
    const mes = mesOf(Date.now());
    await ensureMeses(pool, [mes]);
    for (const { tabela, keys, procuradas = [] } of MENSAIS) {
      const text = `select attname::text as name from pg_attribute
        where attrelid = $1::regclass and attnum > 0 and attstattarget is distinct from 0`;
      const { rows: kept } = await pool.query<{ name: string }>(text, [`${tabela}_${mes}`]);
      const names = kept.map(({ name }) => name).toSorted();
      assert.deepEqual(names, ['mes', ...Object.keys(keys), ...procuradas].toSorted(), tabela);
    }
  });

  test('of a month are made again where a new connection finds a database without them', async () => {
    const mes = 202_003;
    const exists = `select to_regclass('notas_202003') is not null as is`;
    await ensureMeses(pool, [mes]);
    for (const { tabela } of MENSAIS.toReversed()) await pool.query(`drop table ${tabela}_${mes} cascade`);
    await pool.query('delete from meses where mes = $1', [mes]);
    await ensureMeses(pool, [mes]);
    assert.equal((await pool.query(exists)).rows[0].is, false, 'a known month costs no question');
    const held = await Promise.all(Array.from({ length: pool.totalCount + 1 }, () => pool.connect()));
    for (const client of held) client.release();
    await ensureMeses(pool, [mes]);
    assert.equal((await pool.query(exists)).rows[0].is, true);
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

  test('go with a municipality, after those that name them', async () => {
    const { rows: found } = await pool.query<{ nome: string; refere: string }>(
      `select conrelid::regclass::text as nome, confrelid::regclass::text as refere from pg_constraint
        where contype = 'f' and conparentid = 0 and conrelid <> confrelid order by 1, 2`,
    );
    const emptied: string[] = [];
    const query = async (text: string, values?: unknown[]) => {
      if (text.startsWith('delete from ')) emptied.push(text.split(' ')[2]!);
      return pool.query(text, values);
    };
    await deleteOfTenant({ query } as Pick<ClientBase, 'query'>, 'ninguem', () => true);
    const own = rows.filter(({ nome, chave }) => chave.includes('tenant') && !nome.startsWith('migracoes'));
    assert.deepEqual(
      emptied.toSorted(),
      own.map(({ nome }) => nome),
    );
    assert.ok(found.some(({ refere }) => refere === 'municipios'));
    for (const { nome, refere } of found) {
      const [place, named] = [emptied.indexOf(nome), emptied.indexOf(refere)];
      if (place >= 0 && named >= 0) assert.ok(place < named, `${nome} before ${refere}`);
    }
  });

  test('keep nothing of a removed municipality without notes but its trail', async () => {
    const { municipios, atos } = createStore(pool);
    const now = Date.parse('2026-12-01T12:00:00Z');
    for (const tenant of ['fica', 'sai']) {
      const codigoIbge = tenant === 'sai' ? '3550308' : '3509502';
      assert.ok(await municipios.create({ tenant, ambiente: 'producao', codigoIbge }, now));
      const ato = { em: now, quem: 'ana', via: 'comando', objeto: 'municipio', chave: tenant, acao: 'criado' } as const;
      await atos.record(tenant, [ato]);
      const about = [tenant, new Date(now)];
      await pool.query(`insert into fila (tenant, tipo, id, mes, due_at) values ($1, 'lote', 1, 202612, $2)`, about);
      await pool.query(
        `insert into importacoes (tenant, id, em, registro, ordem, arquivo, quem, via)
          values ($1, '7d5a4a3c-7a5c-4c8e-9a51-0d3c5d1f7a11', $2, 'servicos', 1, 'a.csv', 'ana', 'comando')`,
        about,
      );
    }
    const countAll = async (tenant: string): Promise<readonly string[]> => {
      const held: string[] = [];
      for (const { nome, colunas } of rows.filter(({ nome }) => !nome.startsWith('migracoes'))) {
        if (!('tenant' in colunas)) continue;
        const { rowCount } = await pool.query(`select 1 from ${nome} where tenant = $1`, [tenant]);
        if (rowCount !== 0) held.push(nome);
      }
      return held;
    };
    const whole = await countAll('sai');
    assert.deepEqual(whole, await countAll('fica'));
    for (const nome of ['atos', 'auditoria', 'codigos_em_producao', 'fila', 'municipios']) {
      assert.ok(whole.includes(nome), nome);
    }
    assert.equal(await municipios.delete('sai'), true);
    assert.deepEqual(await countAll('sai'), ['atos']);
    assert.deepEqual(await countAll('fica'), whole);
  });

  test('of given numbers keep a municipality', async () => {
    const { municipios } = createStore(pool);
    const now = Date.parse('2026-12-01T12:00:00Z');
    for (const [tenant, insert] of [
      ['numerado', `insert into numeracao (tenant, prestador, ultimo) values ($1, '11222333000181', 1)`],
      ['reservado', 'insert into sequencias (tenant, nome, proximo) values ($1, $1, 1)'],
    ] as const) {
      await municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: undefined }, now);
      await pool.query(insert, [tenant]);
      assert.equal(await municipios.delete(tenant), false);
      assert.ok(await municipios.readFresh(tenant));
    }
  });

  test('begin a chain in an order without gaps', () => {
    const order = Object.values(AUDITADAS).map(({ ordem }) => ordem);
    for (const [place, ordem] of order.entries()) assert.equal(ordem, place + 1);
  });
});
