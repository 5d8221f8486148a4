/**
 * The statements that a connection plans once (`src/store/planned.ts`, D-358): the plan that each gets without any value, on tables of every
 * size, with statistics and without. A statement is in this file by being declared.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Db } from '../src/store/open.ts';
import { Client, type PoolClient } from '../src/store/pg.ts';
import { PLANNED } from '../src/store/planned.ts';
import { createStore } from '../src/store/store.ts';
import { monotonicClock } from './support/clock.ts';
import { freshPool } from './support/database.ts';
import { accessesOf } from './support/plans.ts';

const CNPJ = '11222333000181';
const FULL = 'cheio';
const FEW = 'pouco';
const NONE = 'vazio';

/** Rows of every table that statements look into: of a tenant with nearly all, of one with few; a third has nothing. */
const FILL = [
  `insert into notas (tenant, id, chave_acesso, numero_protocolo, id_dps, estado, due_at, tabela_aliquotas, substitui, numero_dps,
      serie_dps, numero_dps_nacional, data_emissao, data_competencia, prestador_cpf_cnpj, prestador_razao_social, valor_servico)
    select case when n % 100 = 7 then '${FEW}' else '${FULL}' end, n, 'C' || n, 'P' || n, 'D' || lpad(n::text, 15, '0'), e,
      case when e = 'emitida' then now() end, case when e = 'retida' then 1 end, case when n % 30 = 0 then 'C' || n - 1 end, n, '1',
      n::text, now(), '2026-11-01', '${CNPJ}', 'Nome', 10
    from (select n, case n % 50 when 0 then 'emitida' when 1 then 'retida' else 'autorizada' end as e
      from generate_series($1::integer, $2::integer) n) x`,
  ofNotas('documentos (tenant, nota, recebido, nfse)', "id, 'x', 'y'"),
  ofNotas('trilha_notas (tenant, nota, movimento, em, de, gatilho, para)', "id, 1, now(), null, 'emissao', 'emitida'"),
  ofNotas(
    `eventos (tenant, nota, id, ordem, codigo_tipo_evento, numero_sequencial, cancela, estado, desde, due_at, criado_em, autor, campos)`,
    `id, 1000000 + id, 1, '203202', 1, false, case when id % 50 = 0 then 'pendente' else 'processado' end, now(),
      case when id % 50 = 0 then now() end, now(), '${CNPJ}', '{}'`,
  ),
  ofNotas('documentos_eventos (tenant, evento, xml)', "1000000 + id, 'y'"),
  ofNotas(
    'trilha_eventos (tenant, evento, movimento, em, de, gatilho, para)',
    "1000000 + id, 1, now(), null, 'registro', 'pendente'",
  ),
  ofNotas(
    'idempotencia (tenant, nota, impressao, rota, corpo, status, avisos, criado_em)',
    "id, sha256(id::text::bytea), '/r', sha256(id::text::bytea), 201, '[]', now()",
  ),
  ofNotas(
    'prestadores (tenant, documento, razao_social, autorizado, logradouro, numero, bairro, cep, origem, criado_em)',
    "lpad(id::text, 14, '0'), 'Nome', true, 'Rua', '1', 'Centro', '01001000', 'dps', now()",
  ),
  ofNotas('simples_nacional (tenant, documento, inicio)', "lpad(id::text, 14, '0'), '2026-01-01'"),
  ofNotas('numeracao (tenant, prestador, ultimo)', "lpad(id::text, 14, '0'), 1"),
  ofNotas('numeracao_dps (tenant, serie, proximo)', "'S' || id, 1"),
  ofNotas('certificados (tenant, impressao, der)', "sha256(id::text::bytea), 'x'"),
  ofNotas(
    'beneficios_municipais (tenant, numero, inicio, descricao, tipo, servicos, documentos)',
    "lpad(id::text, 14, '0'), '2026-01-01', 'Isenção', 'isencao', '{}', '{}'",
  ),
  ofNotas(
    'deducoes_admitidas (tenant, codigo_tributacao_nacional, inicio, formas)',
    "lpad(id::text, 6, '0'), '2026-01-01', '{valor}'",
  ),
  ofNotas(
    'regimes_especiais (tenant, regime, documento, inicio, servicos)',
    "(id % 6 + 1)::text, lpad(id::text, 14, '0'), '2026-01-01', '{}'",
  ),
  ofNotas(
    'nao_incidencias (tenant, codigo_tributacao_nacional, documento, inicio)',
    "lpad((id % 300)::text, 6, '0'), lpad(id::text, 14, '0'), '2026-01-01'",
  ),
  ofNotas(
    'servicos_municipais (tenant, codigo, inicio, descricao, codigo_tributacao_nacional)',
    "id::text, '2026-01-01', 'Serviço', lpad((id % 300)::text, 6, '0')",
  ),
];

/** Of every note, or of as many as make the table large beside it, a row of another table. */
function ofNotas(into: string, values: string): string {
  return `insert into ${into} select tenant, ${values} from notas where id between $1 and $2 and id % 10 in (0, 7)`;
}

const PART = 50_000;

/** The columns by which an index finds one row, or those few that are asked for: no plan may use it by fewer. */
const WHOLE_KEYS: Readonly<Record<string, string>> = {
  notas_pkey: 'tenant id',
  notas_chave: 'tenant chave_acesso',
  notas_protocolo: 'tenant numero_protocolo',
  notas_dps: 'tenant id_dps',
  notas_substitui: 'tenant substitui',
  notas_due: 'tenant due_at',
  notas_retidas: 'tenant tabela_aliquotas id',
  documentos_pkey: 'tenant nota',
  trilha_notas_pkey: 'tenant nota',
  eventos_pkey: 'tenant id',
  eventos_ordem: 'tenant nota',
  eventos_sequencia: 'tenant nota',
  eventos_na_nota: 'tenant nota',
  eventos_abertos: 'tenant nota',
  eventos_cancelamento_aberto: 'tenant nota',
  eventos_due: 'tenant due_at',
  // Events that nothing was sent of yet are few.
  eventos_antes_do_envio: 'tenant estado',
  documentos_eventos_pkey: 'tenant evento',
  trilha_eventos_pkey: 'tenant evento',
  certificados_pkey: 'tenant impressao',
  recepcoes_adn_pkey: 'tenant',
  idempotencia_pkey: 'tenant impressao',
  prestadores_pkey: 'tenant documento',
  simples_nacional_pkey: 'tenant documento',
  numeracao_pkey: 'tenant prestador',
  numeracao_dps_pkey: 'tenant serie',
  servicos_municipais_pkey: 'tenant codigo',
  servicos_municipais_nacional: 'tenant codigo_tributacao_nacional',
  beneficios_municipais_pkey: 'tenant numero',
  deducoes_admitidas_pkey: 'tenant codigo_tributacao_nacional',
  regimes_especiais_pkey: 'tenant regime',
  nao_incidencias_pkey: 'tenant codigo_tributacao_nacional documento',
  lotes_due: 'tenant due_at',
};

/** Statements that read more than by whole keys, as they are meant to. */
const MEANT_TO: Readonly<Record<string, RegExp>> = {
  // Whether a tenant has any line, and all of its lines.
  listas_mantidas: /./,
  servicos_listados: /^servicos_municipais/,
  // What is due, in its order: all that is open may be sorted for it.
  claim_eventos: /^eventos_abertos$/,
  // The newest version of a table that has a few.
  tabela_aliquotas: /^tabelas_aliquotas_pkey$/,
  // The question across tenants.
  tenants_due: /^(municipios_pkey|notas_retidas|notas_due|eventos_due|lotes_due)$/,
};

async function openTenants(pool: Db): Promise<void> {
  const store = createStore(pool);
  for (const tenant of [FULL, FEW, NONE]) {
    await store.municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: undefined }, 0);
  }
}

/** In parts, each of which takes seconds on a busy machine. */
async function fill(pool: Db, notas: number, from = 1): Promise<void> {
  for (let first = from; first <= notas; first += PART) {
    for (const text of FILL) await pool.query(text, [first, Math.min(notas, first + PART - 1)]);
  }
}

/** No table is read whole, by any statement. */
async function assertNoneScans(pool: Db): Promise<void> {
  for (const text of PLANNED.values()) await accessesOf(pool, `explain (generic_plan, format json) ${text}`);
}

/** Every index is used by its whole key, by every statement. */
async function assertWholeKeys(pool: Db): Promise<void> {
  const partly: string[] = [];
  for (const [name, text] of PLANNED) {
    for (const { index, by } of await accessesOf(pool, `explain (generic_plan, format json) ${text}`)) {
      const isWhole = WHOLE_KEYS[index]?.split(' ').every((column) => by.includes(column));
      if (isWhole !== true && MEANT_TO[name]?.test(index) !== true)
        partly.push(`${name}: ${index} by ${by.join(', ')}`);
    }
  }
  assert.deepEqual(partly, []);
}

/** Makes a client know every statement by its name; the types of its parameters. */
async function prepareAll(client: PoolClient): Promise<ReadonlyMap<string, readonly string[]>> {
  await client.query('deallocate all');
  for (const [name, text] of PLANNED) await client.query(`prepare ${name} as ${text}`);
  const text = 'select name, parameter_types::text[] as types from pg_prepared_statements';
  const { rows } = await client.query<{ name: string; types: readonly string[] }>(text);
  return new Map(rows.map(({ name, types }) => [name, types]));
}

/** Values of notes 107 and 110, of which one is of the tenant with few and one of that with nearly all. */
const VALUES: Readonly<Record<string, string>> = {
  text: "'C110'",
  'text[]': "'{C107,C110}'",
  bigint: '110',
  'bigint[]': "'{107,110}'",
  integer: '10',
  bytea: 'sha256($$110$$)',
  'bytea[]': 'array[sha256($$107$$), sha256($$110$$)]',
  boolean: 'true',
};

/** What is read in an order of its own, or whole, is read as far as it goes: what is due, and a list. */
const READS_ALL = /^(claim_anunciadas|claim_eventos|servicos_listados)$/;

/** Pages that a statement reads which is asked for two rows: a few an index, and those of what hangs on them. */
const PAGES_MAX = 100;

/** More executions than those for which the server looks at the values. */
const EXECUTIONS = 7;

/** Asked by a statement that it knows, with the values of a tenant. */
function execute(name: string, types: readonly string[], tenant: string): string {
  const values = types.map((type, place) =>
    place === 0 && type === 'text' ? `'${tenant}'` : (VALUES[type] ?? `null::${type}`),
  );
  return `execute ${name}${values.length === 0 ? '' : ` (${values.join(', ')})`}`;
}

/** Asked of a tenant with nearly all rows, of one with few, and of one without any, each reads a handful of pages. */
async function assertFewRead(client: PoolClient): Promise<void> {
  const much: string[] = [];
  await client.query('set plan_cache_mode = force_generic_plan');
  for (const [name, types] of await prepareAll(client)) {
    if (/^\s*insert|insert into notas /.test(PLANNED.get(name)!) || READS_ALL.test(name)) continue;
    for (const tenant of [FULL, FEW, NONE]) {
      await client.query('begin');
      type Read = { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Read }] }>(
        `explain (analyze, buffers, format json) ${execute(name, types, tenant)}`,
      );
      await client.query('rollback');
      const { Plan: plan } = rows[0]!['QUERY PLAN'][0];
      const pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      if (pages > PAGES_MAX) much.push(`${name} of ${tenant}: ${pages}`);
    }
  }
  assert.deepEqual(much, []);
}

/** Of these the server looks at the values where much is due: at how many are asked for, and until when. */
const OF_A_BACKLOG = /^(claim_notas|claim_eventos|tenants_due)$/;

/** The server, which chooses by what it believes the two plans to cost, takes the one for no value. */
async function assertTakenOnce(client: PoolClient): Promise<void> {
  await client.query('set plan_cache_mode = auto');
  for (const [name, types] of await prepareAll(client)) {
    for (let turn = 0; turn < EXECUTIONS; turn += 1) await client.query(`explain ${execute(name, types, FULL)}`);
  }
  const { rows } = await client.query<{ name: string }>(
    'select name from pg_prepared_statements where generic_plans = 0',
  );
  assert.deepEqual(
    rows.map(({ name }) => name).filter((name) => !OF_A_BACKLOG.test(name)),
    [],
  );
}

/** Until a pool has looked how large its tables are. */
async function passLook(pool: Db, clock: ReturnType<typeof monotonicClock>): Promise<void> {
  clock.passMs(2_000);
  await pool.query('select 1');
  do await setImmediate();
  while (pool.idleCount < pool.totalCount);
}

describe('a statement that is planned once', () => {
  test('is declared as one', () => {
    const folder = 'src/store';
    createStore({} as Db);
    assert.ok(PLANNED.size > 40);
    for (const file of readdirSync(folder).filter((one) => one.endsWith('.ts') && one !== 'planned.ts')) {
      const text = readFileSync(`${folder}/${file}`, 'utf8');
      assert.doesNotMatch(text, /\{[^{}]*\bname\b[^{}]*\btext\b[^{}]*\}/, `${file} names a statement by itself`);
    }
  });

  test('scans nothing on empty tables and on small ones, before and after their statistics', async () => {
    const pool = await freshPool();
    await openTenants(pool);
    await assertNoneScans(pool);
    await pool.query('analyze');
    await assertNoneScans(pool);
    await fill(pool, 200);
    await assertNoneScans(pool);
    await pool.query('analyze');
    await assertNoneScans(pool);
  });

  test('looks up by whole keys on large tables, before and after their statistics', async () => {
    const pool = await freshPool();
    await openTenants(pool);
    await fill(pool, 300_000);
    await assertWholeKeys(pool);
    await pool.query('analyze');
    await assertWholeKeys(pool);
    const client = await pool.connect();
    try {
      await assertFewRead(client);
      await assertTakenOnce(client);
    } finally {
      client.release(true);
    }
  });

  test('gets another plan soon after its tables have grown, without statistics', async (t) => {
    const clock = monotonicClock(t);
    const pool = await freshPool();
    await openTenants(pool);
    const store = createStore(pool);
    const planOf = async () => accessesOf(pool, "explain (format json) execute nota_id ('cheio', 'C1')");
    const byKey = [{ index: 'notas_chave', by: ['tenant', 'chave_acesso'] }];
    await fill(pool, 20);
    await passLook(pool, clock);
    for (let turn = 0; turn < 10; turn += 1) await store.notas.findId(FULL, 'C1');
    const { rows } = await pool.query("select generic_plans from pg_prepared_statements where name = 'nota_id'");
    assert.ok(Number(rows[0]!.generic_plans) > 0, 'it is planned once');
    const early = await planOf();
    assert.notDeepEqual(early, byKey);
    await fill(pool, 10_000, 21);
    assert.deepEqual(await planOf(), early, 'and keeps its plan for a while');
    await passLook(pool, clock);
    assert.deepEqual(await planOf(), byKey);
  });

  test('keeps its plan while tables hardly grow, for a minute', async (t) => {
    const clock = monotonicClock(t);
    const sent = t.mock.method(Client.prototype, 'query');
    const countRenewals = (): number =>
      sent.mock.calls.filter((call) => String(call.arguments[0]) === 'discard plans').length;
    const pool = await freshPool();
    await openTenants(pool);
    await fill(pool, 1_000);
    await passLook(pool, clock);
    await pool.query('select 1');
    const before = countRenewals();
    assert.ok(before > 0, 'it has grown from nothing');
    await fill(pool, 1_010, 1_001);
    await passLook(pool, clock);
    await pool.query('select 1');
    assert.equal(countRenewals(), before);
    clock.passMs(60_000);
    await pool.query('select 1');
    assert.equal(countRenewals(), before + 1);
  });

  test('goes on while a migration adds columns', async () => {
    const pool = await freshPool();
    const client = await pool.connect();
    try {
      const parameters = await prepareAll(client);
      const { rows } = await client.query<{ name: string }>(
        "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
      );
      for (const { name } of rows) await client.query(`alter table ${name} add column acrescentada integer`);
      for (const [name, types] of parameters) {
        const values = types.map((type) => `null::${type}`).join(', ');
        await client.query(`explain execute ${name}${values && ` (${values})`}`);
      }
    } finally {
      client.release(true);
    }
  });
});
