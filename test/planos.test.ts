/**
 * The statements that a connection plans once (`src/base/pg/planned.ts`, D-358). Each generic plan is checked on tables of every size, with
 * and without statistics. This file checks every declared statement.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ensureMeses, mesesBetween, mesOf } from '../src/base/book/meses.ts';
import { nameOfSeveral } from '../src/base/pg/mergeable.ts';
import { type Db, openPool } from '../src/base/pg/open.ts';
import { Client, type ClientBase, type ClientConfig, type PoolClient } from '../src/base/pg/pg.ts';
import { PLANNED } from '../src/base/pg/planned.ts';
import { migrate } from '../src/wiring/migrate.ts';
import { createStore } from '../src/wiring/store.ts';
import { onEnd } from './support/cleanup.ts';
import { monotonicClock } from './support/clock.ts';
import { freshDatabase, freshPool, poolOn } from './support/database.ts';
import { keysOf } from './support/nota-keys.ts';
import { type Access, accessesOf, type TablesRead, tablesReadBy } from './support/plans.ts';
import { LONG } from './support/seed.ts';

const CNPJ = '11222333000181';
const FULL = 'cheio';
const FEW = 'pouco';
const NONE = 'vazio';

/** The current month, whose statements a connection prepares by name. */
const MES = mesOf(Date.now());
/** Three years of months, the current one first. */
const MESES = mesesBetween(Date.UTC(Math.floor(MES / 100) - 3, MES % 100), Date.now()).toReversed();

/** The tenant of the note `n`: one tenant has nearly all notes, one has few, and a third has none. Or it is one of a thousand. */
const OF_THREE = `case when n % 100 = 7 then '${FEW}' else '${FULL}' end`;
const OF_A_THOUSAND = `case n % 1000 when 7 then '${FEW}' when 10 then '${FULL}' else 'm' || n % 1000 end`;

/**
 * Rows $1 to $2 of every table that statements search. The notes alternate between the months $3 by hundreds. One in five waits in the
 * queue.
 */
const FILL = [
  `insert into notas (tenant, mes, id, chave_acesso, numero_protocolo, id_dps, estado, tabela_aliquotas, substitui, nsu_antes, numero_dps,
      serie_dps, numero_dps_nacional, data_emissao, data_competencia, prestador_cpf_cnpj, prestador_razao_social, valor_servico)
    select ${OF_THREE}, mes, n, lpad(n::text, 36, '0') || (mes % 10000) || repeat('0', 10),
      mes::text || n, 'D' || lpad(n::text, 15, '0'),
      case when n % 500 = 10 then 'transmitida' when n % 5 = 0 or n % 200 = 7 then 'emitida' when n % 50 = 1 then 'retida' else 'autorizada' end,
      case when n % 50 = 1 then 1 end, case when n % 30 = 0 then 'C' || n - 1 end, case when n % 500 = 10 then n end, n, '1',
      n::text, now(), '2026-11-01', '${CNPJ}', 'Nome', 10
    from (select n, ($3::int[])[1 + n / 100 % cardinality($3::int[])] as mes from generate_series($1::integer, $2::integer) n) x`,
  ofNotas('identidades (tenant, id_dps, nota, mes)', 'id_dps, id, mes', 'true'),
  ofNotas('fila (tenant, tipo, id, mes, due_at)', "'nota', id, mes, now()", "estado in ('emitida', 'transmitida')"),
  ofNotas('retidas (tenant, nota, mes, tabela_aliquotas)', 'id, mes, 1', "estado = 'retida'"),
  ofNotas('substituicoes (tenant, substituida, nota, mes)', 'substitui, id, mes', 'substitui is not null'),
  ofNotas('documentos (tenant, mes, nota, recebido, nfse)', "mes, id, 'x', 'y'"),
  ofNotas(
    'trilha_notas (tenant, mes, nota, movimento, em, de, gatilho, para)',
    "mes, id, 1, now(), null, 'emissao', 'emitida'",
  ),
  ofNotas(
    `eventos (tenant, mes, mes_nota, nota, id, ordem, codigo_tipo_evento, numero_sequencial, cancela, estado, aberto, desde, criado_em, autor,
      campos)`,
    `mes, mes, id, 1000000 + id, 1, '203202', 1, id % 20 = 0, case when id % 50 in (0, 7) then 'pendente' else 'processado' end, id % 50 in (0, 7), now(),
      now(), '${CNPJ}', '{}'`,
  ),
  ofNotas('fila (tenant, tipo, id, mes, due_at)', "'evento', 1000000 + id, mes, now()", 'id % 50 in (0, 7)'),
  ofNotas('documentos_eventos (tenant, mes, evento, xml)', "mes, 1000000 + id, 'y'"),
  ofNotas(
    'trilha_eventos (tenant, mes, evento, movimento, em, de, gatilho, para)',
    "mes, 1000000 + id, 1, now(), null, 'registro', 'pendente'",
  ),
  ofNotas(
    'lotes (tenant, id, mes, protocolo, prestador, numero_lote, impressao, situacao, aberto, recebido_em)',
    `id, mes, 'L' || id, '${CNPJ}', '1', sha256(id::text::bytea), case when id % 50 in (0, 7) then 2 else 4 end, id % 50 in (0, 7), now()`,
  ),
  ofNotas('fila (tenant, tipo, id, mes, due_at)', "'lote', id, mes, now()", 'id % 50 in (0, 7)'),
  ofNotas('documentos_lotes (tenant, mes, lote, recebido)', "mes, id, 'x'"),
  ofNotas(
    'lotes_rps (tenant, lote, ordem, prestador, serie, numero, tipo, nota, mes_nota)',
    `id, 0, '${CNPJ}', '1', id::text, '1', id, mes`,
  ),
  ofNotas(
    'idempotencia (tenant, nota, mes, impressao, rota, corpo, status, avisos, criado_em)',
    "id, mes, sha256(id::text::bytea), '/r', sha256(id::text::bytea), 201, '[]', now()",
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
  ofNotas('mudancas_novas (tenant, id, mudancas)', "md5(id::text)::uuid, 'x'", 'id % 50 in (0, 7)'),
  ofTenants('mudancas_ate (tenant, bloco)', '1'),
  ofTenants('auditoria_ate (tenant, lugar)', '1'),
  ofNotas('auditoria (tenant, id, itens, resumos)', "md5(id::text)::uuid, 'x', 'x'", 'id % 50 in (0, 7)'),
  ofNotas('mudancas (tenant, documento, bloco, em, mudancas)', "lpad((id % 300)::text, 14, '0'), id, now(), 'x'"),
  ofNotas(
    'tokens (tenant, id, documento, impressao, escopos, criado_em, expira_em, por)',
    "id::text, lpad((id % 300)::text, 14, '0'), sha256(id::text::bytea), '{}', now(), now(), 'ensaio'",
  ),
  ofNotas(
    'webhooks (tenant, id, documento, url, tipos, segredo, criado_em, proxima)',
    "id::text, lpad((id % 300)::text, 14, '0'), 'x', '{}', 'x', now(), now()",
    'id % 50 in (0, 7)',
  ),
  ofNotas(
    'exportacoes (tenant, id, documento, formato, pedida, estado, criada_em, expira_em, due_at)',
    "id::text, lpad((id % 300)::text, 14, '0'), 'xml', '{}', 'pronta', now(), now(), now()",
    'id % 50 in (0, 7)',
  ),
  ofNotas(
    'servicos_municipais (tenant, codigo, inicio, descricao, codigo_tributacao_nacional)',
    "id::text, '2026-01-01', 'Serviço', lpad((id % 300)::text, 6, '0')",
  ),
];

/** Inserts a row of another table for each tenant. */
function ofTenants(into: string, values: string): string {
  return `insert into ${into} select distinct tenant, ${values} from notas where id between $1 and $2 and mes = any ($3) on conflict do nothing`;
}

/** Inserts a row of another table for each selected note. The default selection makes the table large. */
function ofNotas(into: string, values: string, meant = 'id % 10 in (0, 7)'): string {
  return `insert into ${into} select tenant, ${values} from notas where id between $1 and $2 and mes = any ($3) and ${meant}`;
}

const PART = 50_000;

/** A size above which plans stay the same; the long run uses three times as many. */
const LARGE = LONG ? 300_000 : 100_000;

/**
 * The columns by which an index finds one row, or the few requested ones: no plan may use it by fewer. Monthly indexes are listed without
 * their month.
 */
const WHOLE_KEYS: Readonly<Record<string, string>> = {
  // The expression on the kind is in the index as well.
  fila_pkey: 'tenant id',
  fila_due: 'tenant tipo due_at',
  retidas_pkey: 'tenant nota',
  retidas_tabela: 'tenant tabela_aliquotas',
  substituicoes_pkey: 'tenant substituida',
  identidades_pkey: 'tenant id_dps',
  notas_MES_pkey: 'tenant id',
  notas_MES_tenant_chave_acesso_mes_idx: 'tenant chave_acesso',
  notas_MES_tenant_numero_protocolo_mes_idx: 'tenant numero_protocolo',
  documentos_MES_pkey: 'tenant nota',
  trilha_notas_MES_pkey: 'tenant nota',
  eventos_pkey: 'tenant id',
  eventos_ordem: 'tenant nota',
  eventos_sequencia: 'tenant nota',
  eventos_na_nota: 'tenant nota',
  eventos_abertos: 'tenant nota',
  eventos_cancelamento_aberto: 'tenant nota',
  // Events without any transmission are few.
  eventos_antes_do_envio: 'tenant estado',
  documentos_eventos_MES_pkey: 'tenant evento',
  trilha_eventos_MES_pkey: 'tenant evento',
  lotes_pkey: 'tenant id',
  lotes_protocolo: 'tenant protocolo',
  documentos_lotes_MES_pkey: 'tenant lote',
  lotes_rps_pkey: 'tenant lote',
  lotes_rps_identificacao: 'tenant prestador numero',
  lotes_rps_nota: 'tenant nota',
  certificados_pkey: 'tenant impressao',
  recepcoes_adn_pkey: 'tenant',
  municipios_pkey: 'tenant',
  municipios_relogio: 'tenant',
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
  // Accounts belong to the installation, and have no tenant.
  contas_pkey: 'id',
  contas_login: 'login',
  contas_convite: 'convite',
  contas_sujeito: 'oidc_emissor oidc_sujeito',
  passkeys_conta: 'conta',
  papeis_pkey: 'conta',
  sessoes_pkey: 'impressao',
  mudancas_pkey: 'tenant documento bloco',
  mudancas_ate_pkey: 'tenant',
  auditoria_pkey: 'tenant id',
  auditoria_ate_pkey: 'tenant',
  tokens_impressao: 'tenant impressao',
  ensaios_pkey: 'tenant',
  brasoes_pkey: 'tenant',
  // The last import of a registry.
  importacoes_ordem: 'tenant registro',
};

/** Statements that read more than by whole keys on purpose. */
const MEANT_TO: Readonly<Record<string, RegExp>> = {
  // One query for the existence of a tenant's lines, and one for all of them.
  listas_mantidas: /./,
  // All that waits for its place, and whether there is an address that wants to know.
  auditoria_sem_lugar: /^auditoria_sem_lugar by tenant$/,
  take_mudancas_novas: /^mudancas_novas_pkey by tenant$/,
  take_mudancas_ate: /^webhooks_\w+ by tenant$/,
  // A table with one row for each municipality, read whole while those are few.
  advance_mudancas_ate: /^mudancas_ate_pkey by $/,
  // A query for the existence of a line of a regime.
  regimes_admitidos: /^regimes_especiais_pkey by tenant, regime$/,
  servicos_listados: /^servicos_municipais_\w+ by tenant$/,
  // The newest version of a table that has few.
  tabela_aliquotas: /^tabelas_aliquotas_pkey by $/,
  // A page of the trail, newest first.
  list_atos: /^atos_(pkey by tenant, em|objeto by tenant)/,
  // The announced rows, among all rows of the queue.
  lease_anunciadas: /^fila_(pkey|due) by tenant, tipo$/,
  // The query across tenants: whether each of them has work in the queue.
  tenants_due:
    /^(municipios_(pkey|relogio) by tenant|(fila|retidas)_\w+ by (tenant(, \w+)*)?|mudancas_novas_pkey by (tenant)?|auditoria_sem_lugar by (tenant)?|webhooks_(proxima|rapidos) by (tenant(, rapido)?(, proxima)?)?|exportacoes_due by (tenant(, due_at)?)?)$/,
  tenants_busy:
    /^(municipios_(pkey|relogio) by |(fila_(pkey|due)|mudancas_novas_pkey|auditoria_sem_lugar|webhooks_(proxima|rapidos)|exportacoes_due) by tenant)$/,
  some_tenants_due:
    /^((fila_(pkey|due)|mudancas_novas_pkey|auditoria_sem_lugar) by tenant|webhooks_(proxima|rapidos) by tenant(, rapido)?(, proxima)?|exportacoes_due by tenant(, due_at)?)$/,
  tenant_due:
    /^((fila_(pkey|due)|mudancas_novas_pkey|auditoria_sem_lugar) by tenant|webhooks_(proxima|rapidos) by tenant(, rapido)?(, proxima)?|exportacoes_due by tenant(, due_at)?)$/,
};

async function openTenants(pool: Db, meses: readonly number[] = [MES]): Promise<void> {
  const store = createStore(pool);
  for (const tenant of [FULL, FEW, NONE]) {
    await store.municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: undefined }, 0);
  }
  await ensureMeses(pool, meses);
}

/**
 * Fills in parts, each of which takes seconds on a busy machine. Foreign keys are not checked: all of them hold. The connection is
 * separate, so the others keep their plans.
 */
async function fill(
  pool: Db,
  notas: number,
  from = 1,
  meses: readonly number[] = [MES],
  tenantOf = OF_THREE,
): Promise<void> {
  const client = new Client(pool.options);
  await client.connect();
  await client.query('set session_replication_role = replica');
  for (let first = from; first <= notas; first += PART) {
    for (const text of FILL.map((one) => one.replace(OF_THREE, tenantOf))) {
      const values = [first, Math.min(notas, first + PART - 1), meses];
      await client.query(text, text.includes('$3') ? values : values.slice(0, 2));
    }
  }
  await client.end();
}

/** The text of each statement for the current month. */
function plannedTexts(): readonly (readonly [name: string, text: string])[] {
  return [...PLANNED].map(([name, textOf]) => [name, textOf(MES)]);
}

/** No statement reads a whole table. */
async function assertNoneScans(pool: Db): Promise<void> {
  for (const [, text] of plannedTexts()) await accessesOf(pool, `explain (generic_plan, format json) ${text}`);
}

/** Every statement uses every index by its whole key, in months with rows. */
async function assertWholeKeys(pool: Db, meses: readonly number[] = [MES]): Promise<void> {
  const partly: string[] = [];
  for (const [name, text] of plannedTexts()) {
    partly.push(...partlyUsed(name, await accessesOf(pool, `explain (generic_plan, format json) ${text}`), meses));
  }
  assert.deepEqual([...new Set(partly)], []);
}

/** Accesses of a statement by less than a whole key that are not on the list of exceptions. */
function partlyUsed(name: string, accesses: readonly Access[], meses: readonly number[]): readonly string[] {
  return accesses.flatMap(({ index, by }) => {
    const mes = /_(\d{6})_/.exec(index)?.[1];
    if (mes !== undefined && !meses.includes(Number(mes))) return [];
    const known = index.replace(/_\d{6}_/, '_MES_');
    const isWhole = WHOLE_KEYS[known]?.split(' ').every((column) => by.includes(column));
    const access = `${known} by ${by.join(', ')}`;
    return isWhole === true || MEANT_TO[baseName(name)]?.test(access) === true ? [] : [`${name}: ${access}`];
  });
}

/** The name of a statement, whether for one tenant or for several. */
function baseName(name: string): string {
  return name.replace(nameOfSeveral(''), '');
}

/** A connection without settings, as behind a pooler: its role has them. */
async function settledClient(database: ClientConfig): Promise<Client> {
  const pool = openPool({ ...database, isPooled: true }, () => undefined);
  await migrate(pool);
  await pool.end();
  const client = new Client(database);
  await client.connect();
  onEnd(() => client.end());
  return client;
}

/** The same for plans with the values of three tenants: with nearly all rows, with few, and without any. */
async function assertWholeKeysOfValues(client: ClientBase): Promise<void> {
  const partly: string[] = [];
  const types = await prepareAll(client);
  await client.query('set plan_cache_mode = force_custom_plan');
  for (const name of PLANNED.keys()) {
    for (const tenant of [FULL, FEW, NONE]) {
      const text = `explain (format json) ${execute(name, types.get(name)!, tenant)}`;
      partly.push(...partlyUsed(name, await accessesOf(client, text), [MES]));
    }
  }
  assert.deepEqual([...new Set(partly)], []);
}

/** Prepares every statement by its name, and returns the types of its parameters. */
async function prepareAll(client: ClientBase): Promise<ReadonlyMap<string, readonly string[]>> {
  await client.query('deallocate all');
  for (const [name, text] of plannedTexts()) await client.query(`prepare ${name} as ${text}`);
  const text = 'select name, parameter_types::text[] as types from pg_prepared_statements';
  const { rows } = await client.query<{ name: string; types: readonly string[] }>(text);
  return new Map(rows.map(({ name, types }) => [name, types]));
}

/** The notes 7 and 10: one belongs to the tenant with few, the other to that with nearly all. */
const NOTAS = [7, 10] as const;
const [CHAVES, PROTOCOLOS] = [
  NOTAS.map((id) => keysOf(id, MES).chave_acesso),
  NOTAS.map((id) => keysOf(id, MES).numero_protocolo),
];
const DPS = NOTAS.map((id) => `D${String(id).padStart(15, '0')}`);

/** Parameter values by type. */
const VALUES: Readonly<Record<string, string>> = {
  text: `'${CHAVES[1]}'`,
  'text[]': `'{${CHAVES.join(',')}}'`,
  bigint: '10',
  'bigint[]': "'{7,10}'",
  integer: '2',
  'timestamp with time zone': 'now()',
  bytea: 'sha256($$10$$)',
  'bytea[]': 'array[sha256($$7$$), sha256($$10$$)]',
  boolean: 'true',
  'integer[]': "'{2,2}'",
  'timestamp with time zone[]': 'array[now(), now()]',
};

/** Values of text parameters that are not access keys. */
const TEXTS: readonly (readonly [name: RegExp, values: readonly (string | number)[]])[] = [
  [/protocolo$|_prot$/, PROTOCOLOS],
  [/dps/, DPS],
  [/^notas_por_id$/, NOTAS],
  [/^notas_de_lote$/, ['L7', 'L10']],
  [/^nota_de_rps$/, ['1', '1']],
  [/^evento$|^documentos_evento$/, []],
];

/** Statements that read in a certain order, or a whole list, read as many rows as there are: due work, and a list. */
const READS_ALL = /^(lease_anunciadas|claim_eventos|servicos_listados|take_mudancas_novas|tenants_due)$/;
/** The same for many tenants: each of them is asked for. */
const READS_ALL_OF_MANY =
  /^(lease_anunciadas|claim_eventos|servicos_listados|take_mudancas_novas|tenants_due|tenants_busy)$/;

/** The pages that a statement for two rows may read: a few for each index, and those of dependent rows. */
const PAGES_MAX = 120;

/** More executions than those for which the server makes custom plans. */
const EXECUTIONS = 7;

/** Executes a prepared statement, with the values of a tenant. */
function execute(name: string, types: readonly string[], tenant: string): string {
  const texts = TEXTS.find(([of]) => of.test(name))?.[1];
  const own = texts && { text: `'${texts[1]}'`, 'text[]': `'{${texts.join(',')}}'` };
  // The number of rows to take.
  const max = name === 'lease_anunciadas' && { bigint: '2' };
  const tenants = { text: `'${tenant}'`, 'text[]': `'{${tenant},${tenant}}'` }[types[0]!];
  const ofTenant = tenants !== undefined && (types[0] === 'text' || name.endsWith(nameOfSeveral(''))) ? [tenants] : [];
  const values = types.map((type, place) => ofTenant[place] ?? { ...VALUES, ...own, ...max }[type] ?? `null::${type}`);
  return `execute ${name}${values.length === 0 ? '' : ` (${values.join(', ')})`}`;
}

/** The reads of each statement that inserts nothing, for each tenant, by the generic plan. */
async function readBy(
  client: PoolClient,
): Promise<readonly (TablesRead & { readonly name: string; readonly tenant: string })[]> {
  const read = [];
  const texts = new Map(plannedTexts());
  await client.query('set plan_cache_mode = force_generic_plan');
  for (const [name, types] of await prepareAll(client)) {
    if (/^\s*insert|insert into notas /.test(texts.get(name)!)) continue;
    for (const tenant of [FULL, FEW, NONE]) {
      await client.query('begin');
      read.push({ name, tenant, ...(await tablesReadBy(client, execute(name, types, tenant))) });
      await client.query('rollback');
    }
  }
  return read;
}

/** Each statement reads a handful of pages for a tenant with nearly all rows, with few, and without any. */
async function assertFewRead(client: PoolClient, readsAll = READS_ALL): Promise<void> {
  const much = (await readBy(client)).filter(({ name, pages }) => pages > PAGES_MAX && !readsAll.test(baseName(name)));
  assert.deepEqual(
    much.map(({ name, tenant, pages }) => `${name} of ${tenant}: ${pages}`),
    [],
  );
}

/** Statements for which the server keeps custom plans under a backlog: their limit and their due time matter. */
const OF_A_BACKLOG = /^(lease_nota|claim_eventos|tenants?_due)$/;

/** The server compares its cost estimates of both plans, and chooses the generic one. */
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

/** Notes of the previous months, and sizes of the month that has just begun. */
const BEFORE = LONG ? 60_000 : 30_000;
const NEWBORN = [3_000, 10_000, 30_000];
/** The number of rows from which no index seems as good as a whole key; below it, any read takes a few pages. */
const WHOLE_FROM = 10_000;

/** Turns autovacuum off: from now on, only a test itself makes statistics, however long it takes. */
async function leaveAlone(pool: Db): Promise<void> {
  const tables = "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace";
  for (const { name } of (await pool.query<{ name: string }>(tables)).rows) {
    await pool.query(`alter table ${name} set (autovacuum_enabled = false)`);
  }
}

/** Waits until a pool has checked the size of its tables. */
async function passLook(pool: Db, clock: ReturnType<typeof monotonicClock>): Promise<void> {
  clock.passMs(2_000);
  await pool.query('select 1');
  do await setImmediate();
  while (pool.idleCount < pool.totalCount);
}

/** Statements that take due or announced work of any month. */
const OF_ANY_MES = /^(claim_eventos|lease_anunciadas)$/;

/** A statement with a given month reads no other; one that joins by the month of a row reads that month. */
async function assertOneMonth(client: PoolClient): Promise<void> {
  const texts = new Map(plannedTexts());
  for (const { name, tenant, tables, planned } of await readBy(client)) {
    const isTold = PLANNED.get(name)!(MESES[1]!) !== texts.get(name);
    const meses = (isTold ? planned : tables).flatMap((table) => /_(\d{6})$/.exec(table)?.[1] ?? []);
    // Events are not partitioned by month.
    if (isTold && !name.startsWith('settle_eventos')) assert.ok(meses.length > 0, `${name} reads no month`);
    const others = meses.filter((mes) => Number(mes) !== MES);
    if (!OF_ANY_MES.test(name)) assert.deepEqual(others, [], `${name} of ${tenant}`);
  }
}

describe('a statement that is planned once', () => {
  test('is declared as one', () => {
    createStore({} as Db);
    assert.ok(PLANNED.size > 40);
    // The second pattern checks that names are kept.
    const others = globSync(['src/base/{pg,book}/**/*.ts', 'src/subjects/**/*.{rows,files}.ts']).filter(
      (one) => !/\/(planned|pooled)\.ts$|\.test\.ts$/.test(one),
    );
    assert.ok(others.length > 100);
    for (const file of others) {
      const text = readFileSync(file, 'utf8');
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
    const database = await freshDatabase();
    const pool = await poolOn(database);
    await openTenants(pool);
    await leaveAlone(pool);
    await fill(pool, LARGE);
    const asPooled = await settledClient(database);
    await assertWholeKeys(pool);
    await assertWholeKeysOfValues(asPooled);
    await pool.query('analyze');
    await assertWholeKeys(pool);
    await assertWholeKeysOfValues(asPooled);
    const client = await pool.connect();
    try {
      await assertFewRead(client);
      await assertTakenOnce(client);
    } finally {
      client.release(true);
    }
  });

  test('looks up by whole keys in a month that has just begun, without statistics', async () => {
    const pool = await freshPool();
    await openTenants(pool);
    await leaveAlone(pool);
    const partly: string[] = [];
    for (const [from, notas] of [
      [1, 1_500],
      [1_501, 6_000],
    ] as const) {
      await fill(pool, notas, from);
      for (const [name, text] of plannedTexts()) {
        const accesses = await accessesOf(pool, `explain (generic_plan, format json) ${text}`);
        const ofNotas = accesses.filter(({ index }) => /^(notas|documentos|trilha_notas)_\d{6}_/.test(index));
        partly.push(...partlyUsed(name, ofNotas, [MES]));
      }
    }
    assert.deepEqual([...new Set(partly)], []);
  });

  for (const [shape, tenantOf] of [
    ['tenant that has nearly all of it', OF_THREE],
    ['thousand tenants', OF_A_THOUSAND],
  ] as const) {
    test(`looks up by whole keys in a month of one ${shape}, that nobody has analysed yet`, async () => {
      const database = await freshDatabase();
      const pool = await poolOn(database);
      await openTenants(pool, MESES.slice(0, 2));
      await pool.query(
        "insert into municipios (tenant, ambiente, criado_em) select 'm' || n, 'homologacao', now() from generate_series(0, 999) n",
      );
      await fill(pool, BEFORE, 1, MESES.slice(1, 2), tenantOf);
      await pool.query('analyze');
      await leaveAlone(pool);
      const asPooled = await settledClient(database);
      for (const [place, notas] of NEWBORN.entries()) {
        await fill(pool, BEFORE + notas, 1 + BEFORE + (NEWBORN[place - 1] ?? 0), [MES], tenantOf);
        const client = await pool.connect();
        await assertFewRead(client, READS_ALL_OF_MANY).finally(() => client.release(true));
        if (notas < WHOLE_FROM) continue;
        await assertWholeKeys(pool);
        await assertWholeKeysOfValues(asPooled);
      }
    });
  }

  test('looks up by whole keys in one month of many, and touches no other', async () => {
    const pool = await freshPool();
    await openTenants(pool, MESES);
    await fill(pool, 60_000, 1, MESES);
    await assertNoneScans(pool);
    const client = await pool.connect();
    try {
      await assertOneMonth(client);
      await pool.query('analyze');
      await assertWholeKeys(pool, MESES);
      await assertOneMonth(client);
      await assertFewRead(client);
      await assertTakenOnce(client);
    } finally {
      client.release(true);
    }
  });

  test('gets another plan soon after its tables have grown, without statistics', async (t) => {
    const clock = monotonicClock(t);
    const pool = await freshPool();
    // The connection keeps its plans while it is open, so it must not time out while the tables are filled.
    pool.options.idleTimeoutMillis = 0;
    await openTenants(pool);
    const store = createStore(pool);
    const { chave_acesso: chave } = keysOf(1, MES);
    const name = `nota_id_${MES}`;
    const planOf = async () => accessesOf(pool, `explain (format json) execute ${name} ('${FULL}', '${chave}')`);
    const byKey = [{ index: `notas_${MES}_tenant_chave_acesso_mes_idx`, by: ['tenant', 'chave_acesso', 'mes'] }];
    await fill(pool, 20);
    // New statistics would cause new plans as well.
    await pool.query(`alter table notas_${MES} set (autovacuum_enabled = false)`);
    await passLook(pool, clock);
    for (let turn = 0; turn < 10; turn += 1) await store.notas.findId(FULL, chave);
    const { rows } = await pool.query('select generic_plans from pg_prepared_statements where name = $1', [name]);
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
        `select relname as name from pg_class where relkind in ('r', 'p') and not relispartition
          and relnamespace = 'public'::regnamespace`,
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
