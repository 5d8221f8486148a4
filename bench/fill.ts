/**
 * A full database: notes that the service issued and had authorised, multiplied by the server itself, with other keys,
 * numbers, providers and days. They stand as some days after their end, with compressed documents; each has its own
 * values in the indexed columns.
 */

import { documentoStore } from '../src/base/book/documentos.ts';
import { ensureMeses, mesesBetween } from '../src/base/book/meses.ts';
import { openPool } from '../src/base/pg/open.ts';
import type { Client, ClientConfig } from '../src/base/pg/pg.ts';
import { municipios } from '../src/fiscal/catalogs/catalogs.ts';
import { cnpjsOf } from './documents.ts';
import { openSide, type Place, runLoads, type Scene, SLUG } from './scene.ts';
import { columnsOf, useClient, useServer } from './servidor.ts';

/** `total`: notes. `tenants`: the municipalities that share them; the first one issues. */
export type Fill = { readonly total: number; readonly tenants: number };

const MODELS = 400;
const DAY_MS = 86_400_000;
/** The worker compresses documents of this age. */
const AGE_DAYS = 8;
/** The days of the notes spread over this span: with the following days, a year. */
const SPAN_DAYS = 365 - AGE_DAYS;
/** Least notes of a provider, when the tenant has more per issuing provider. */
const NOTES_A_PROVIDER = 5_000;
/** Rows of one statement, which limits its memory. */
const BLOCK = 250_000;
const SAMPLES = 20_000;
/** The server may lose all data during the filling, and a table made in the same transaction needs no log. */
const WHILE_FILLED = {
  ...{ fsync: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: '0', autovacuum: 'off' },
  ...{ maintenance_work_mem: '512MB', max_parallel_maintenance_workers: '0' },
};

/** Lets the service issue notes, and compresses their documents as the worker does days later. */
export async function issueModels(place: Place, scene: Scene): Promise<void> {
  const side = await openSide(place, { isSandbox: false, documento: 'comum' }, 1);
  try {
    const command = { kind: 'closed', count: MODELS, connections: 16 } as const;
    await runLoads(scene, [{ side, documento: 'comum', command, isTransmitted: true }]);
  } finally {
    await side.end();
  }
  await useServer(place, async (connection) => {
    const pool = openPool(connection, () => undefined);
    const later = Date.now() + AGE_DAYS * DAY_MS;
    const { compress } = documentoStore(pool);
    while (await compress(later));
    await pool.end();
  });
}

/** Replaces the notes of {@link issueModels} by `fill.total` others; returns some of them, which nobody has read since. */
export async function fillPlace(place: Place, fill: Fill): Promise<readonly Sample[]> {
  await useServer(place, async (connection) => {
    const settings = Object.entries(WHILE_FILLED).map(([name, value]) => `alter system set ${name} = '${value}'`);
    await useClient(connection, (client) => runAll(client, settings));
  });
  const issuing = place.providers.map(({ documento }) => documento);
  return useServer(place, async (connection) => {
    await multiplyNotas(connection, SLUG, fill, { now: Date.now(), issuing });
    const sample = await sampleNotes(connection);
    const end = ['vacuum (analyze)', 'alter system reset all', 'checkpoint'];
    await useClient(connection, (client) => runAll(client, end));
    return sample;
  });
}

export type Sample = {
  readonly chave_acesso: string;
  readonly id_dps: string;
  readonly prestador_cpf_cnpj: string;
  readonly tomador_cpf_cnpj: string | null;
  readonly data_emissao: Date;
};

/** A random sample of the issuing tenant's notes. */
export async function sampleNotes(connection: ClientConfig): Promise<readonly Sample[]> {
  const text = `select chave_acesso, id_dps, prestador_cpf_cnpj, tomador_cpf_cnpj, data_emissao from notas
    where tenant = $1 order by random() limit ${SAMPLES}`;
  return useClient(connection, async (client) => (await client.query<Sample>(text, [SLUG])).rows);
}

export type Size = { readonly name: string; readonly bytes: number };

/** The largest tables and indexes; those of all months are added up. */
export async function sizesOf(connection: ClientConfig): Promise<readonly Size[]> {
  const text = `select * from (select regexp_replace(relname, '_[0-9]{6}', '') as name, sum(pg_relation_size(oid))::float8 as bytes from pg_class
      where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace group by 1) s
    where bytes > 0.001 * pg_database_size(current_database()) order by bytes desc`;
  return useClient(connection, async (client) => (await client.query<Size>(text)).rows);
}

async function runAll(client: Client, statements: readonly string[]): Promise<void> {
  for (const text of statements) await client.query(text);
}

/** The data of a filling besides its size. `issuing`: providers that have notes in any case. */
type Filling = { readonly now: number; readonly issuing: readonly string[] };

/** Multiplies the notes of a tenant, all of them final, and gives as many to its neighbours. */
export async function multiplyNotas(
  connection: ClientConfig,
  tenant: string,
  { total, tenants }: Fill,
  { now, issuing }: Filling,
): Promise<void> {
  const ofTenant = Math.ceil(total / tenants);
  const providers = Math.max(issuing.length, Math.floor(ofTenant / NOTES_A_PROVIDER));
  const others = cnpjsOf(2 * issuing.length + providers).slice(2 * issuing.length);
  const from = now - (AGE_DAYS + SPAN_DAYS) * DAY_MS;
  let models = 0;
  await useClient(connection, async (client) => {
    models = await keepModels(client, tenant);
    await addTenants(client, tenant, tenants, [...issuing, ...others].slice(0, providers));
    await addCounters(client, ofTenant, providers);
  });
  const range = { total: ofTenant * tenants, tenants, providers, models, from };
  await useMonths(connection, from, now, range);
  await Promise.all(TABLES.map((table) => useClient(connection, (client) => loadTable(client, table, range))));
  await useClient(connection, loadIdentidades);
  await useClient(connection, (client) => runAll(client, [`drop table ${OWN_TABLES.join(', ')}`]));
}

const TABLES = ['notas', 'documentos', 'trilha_notas'] as const;
const modelsOf = (table: string): string => `modelo_${table}`;
const OWN_TABLES = [...TABLES.map(modelsOf), 'modelo_municipios', 'modelo_prestadores'];

/** Keeps the notes of the tenant in other tables, with `lugar` as the position of each; returns their number. */
async function keepModels(client: Client, tenant: string): Promise<number> {
  const places = `(select id, data_emissao as emitida_em, row_number() over (order by id) - 1 as lugar from notas where tenant = '${tenant}')`;
  for (const table of TABLES) {
    const id = table === 'notas' ? 'id' : 'nota';
    await client.query(`create table ${modelsOf(table)} as select l.lugar, l.emitida_em, t.* from ${table} t
      join ${places} l on l.id = t.${id} where t.tenant = '${tenant}'`);
  }
  const text = "select count(*)::int as models, bool_and(estado = 'autorizada') as ended from modelo_notas";
  const { models, ended } = (await client.query<{ models: number; ended: boolean }>(text)).rows[0]!;
  if (ended !== true) throw new Error('as notas que servem de modelo não estão autorizadas');
  return models;
}

/** Other municipalities, set up like the first one, with the same providers. */
async function addTenants(
  client: Client,
  tenant: string,
  tenants: number,
  providers: readonly string[],
): Promise<void> {
  const byTenant = 'select codigo_ibge as codigo from municipios where tenant = $1';
  const own = (await client.query<{ codigo: string }>(byTenant, [tenant])).rows[0]!.codigo;
  const others = municipios()
    .flatMap(({ codigoIbge }) => (codigoIbge === own ? [] : [codigoIbge]))
    .slice(0, tenants - 1);
  const named = 'select row_number() over () - 1, x.* from unnest';
  await client.query('create table modelo_municipios (lugar bigint, tenant text, codigo text)');
  await client.query(`insert into modelo_municipios ${named}($1::text[], $2::text[]) x`, [
    [tenant, ...others.map((codigo) => `m${codigo}`)],
    [own, ...others],
  ]);
  await client.query('create table modelo_prestadores (lugar bigint, documento text)');
  await client.query(`insert into modelo_prestadores ${named}($1::text[]) x`, [providers]);

  const spread = async (table: string, own: Readonly<Record<string, string>>, models: string): Promise<void> => {
    const { names, values } = await columnsOf(client, table, { tenant: 'x.tenant', ...own });
    await client.query(`insert into ${table} (${names}) select ${values} from ${models}`, [tenant]);
  };
  const neighbours = 'm, modelo_municipios x where m.tenant = $1 and x.tenant <> $1';
  await spread('municipios', { codigo_ibge: 'x.codigo' }, `municipios ${neighbours}`);
  for (const table of ['certificados', 'recepcoes_adn']) await spread(table, {}, `${table} ${neighbours}`);
  await spread(
    'prestadores',
    { documento: 'p.documento' },
    `(select * from prestadores where tenant = $1 limit 1) m, modelo_municipios x, modelo_prestadores p
      where not exists (select 1 from prestadores o where o.tenant = x.tenant and o.documento = p.documento)`,
  );
}

/** The counters continue after the added numbers. */
async function addCounters(client: Client, ofTenant: number, providers: number): Promise<void> {
  await client.query(`insert into numeracao as n (tenant, prestador, ultimo)
    select x.tenant, p.documento, (${ofTenant} + ${providers} - 1 - p.lugar) / ${providers} from modelo_municipios x, modelo_prestadores p
    on conflict (tenant, prestador) do update set ultimo = excluded.ultimo`);
  await client.query(`insert into sequencias (tenant, nome, proximo) select tenant, 'nDFSe', ${ofTenant} + 1 from modelo_municipios
    on conflict (tenant, nome) do update set proximo = excluded.proximo`);
}

/** The months of the added notes, with all documents compressed. */
async function useMonths(connection: ClientConfig, from: number, until: number, { total }: Range): Promise<void> {
  const meses = mesesBetween(from - DAY_MS, until);
  const pool = openPool(connection, () => undefined);
  await ensureMeses(pool, meses);
  await pool.query(
    `insert into documentos_comprimidos (tenant, mes, ate) select tenant, mes, $2 from modelo_municipios, unnest($1::int[]) x (mes)
    on conflict (tenant, mes) do update set ate = excluded.ate`,
    [meses, total],
  );
  await pool.end();
}

type Range = Fill & { readonly providers: number; readonly models: number; readonly from: number };

/** The identifiers of the existing notes. */
async function loadIdentidades(client: Client): Promise<void> {
  await loadBare(client, 'identidades', () =>
    client.query('insert into identidades (tenant, id_dps, nota, mes) select tenant, id_dps, id, mes from notas'),
  );
}

async function loadTable(client: Client, table: string, range: Range): Promise<void> {
  const own =
    table === 'notas'
      ? OF_NOTAS
      : { tenant: 'x.tenant', mes: OF_NOTAS.mes, nota: 'x.id', em: 'x.em + (m.em - m.emitida_em)' };
  const { names, values } = await columnsOf(client, table, own);
  await loadBare(client, table, async () => {
    for (let first = 0; first < range.total; first += BLOCK) {
      const last = Math.min(range.total, first + BLOCK) - 1;
      await client.query(`insert into ${table} (${names}) select ${values}
        from ${copiesOf(range, first, last)} join ${modelsOf(table)} m on m.lugar = x.modelo`);
    }
  });
}

/**
 * One transaction empties the table without its indexes and loads it, so that neither needs the log; the indexes of the
 * schema follow.
 */
async function loadBare(client: Client, table: string, load: () => Promise<unknown>): Promise<void> {
  await client.query('begin');
  const indexes = await indexesOf(client, table);
  await runAll(
    client,
    indexes.map(({ drop }) => drop),
  );
  await client.query(`truncate ${table}`);
  await load();
  await runAll(
    client,
    indexes.map(({ create }) => create),
  );
  await client.query('commit');
}

async function indexesOf(
  client: Client,
  table: string,
): Promise<readonly { readonly drop: string; readonly create: string }[]> {
  const text = `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition, c.conname as constraint_name,
      pg_get_constraintdef(c.oid) as constraint_definition
    from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u') where i.indrelid = $1::regclass`;
  type Row = { name: string; definition: string; constraint_name: string | null; constraint_definition: string };
  const { rows } = await client.query<Row>(text, [table]);
  return rows.map(({ name, definition, constraint_name, constraint_definition }) =>
    constraint_name === null
      ? { drop: `drop index ${name}`, create: definition.replace(' ON ONLY ', ' ON ') }
      : {
          drop: `alter table ${table} drop constraint ${constraint_name}`,
          create: `alter table ${table} add constraint ${constraint_name} ${constraint_definition}`,
        },
  );
}

/** Columns of a copy `x` of the model `m`. */
const OF_NOTAS = {
  tenant: 'x.tenant',
  mes: "to_char(x.aqui, 'YYYYMM')::int",
  id: 'x.id',
  chave_acesso: `x.inicio || ${digitOf('x.inicio')}`,
  numero_protocolo: "to_char(x.aqui, 'YYYYMMDDHH24MISS') || x.sorte || reverse(x.sorte)",
  id_dps: "'DPS' || x.codigo || '2' || x.documento || lpad(m.serie_dps, 5, '0') || lpad(x.numero::text, 15, '0')",
  numero_dps: 'x.numero',
  numero_dps_nacional: 'x.numero::text',
  data_emissao: 'x.em',
  data_competencia: 'x.aqui::date',
  data_autorizacao: 'x.em + (m.data_autorizacao - m.data_emissao)',
  prestador_cpf_cnpj: 'x.documento',
};

/** Notes from `first` to `last`: the tenants in turn, their providers in turn, later and later. */
function copiesOf({ total, tenants, providers, models, from }: Range, first: number, last: number): string {
  const spanSeconds = (SPAN_DAYS * DAY_MS) / 1000;
  return `(select *, codigo || '12' || documento || lpad(numero::text, 13, '0') || to_char(aqui, 'YYMM') || right(sorte, 9) as inicio
    from (select t.tenant, t.codigo, p.documento, i / ${tenants} + 1 as id, i / ${tenants} / ${providers} + 1 as numero, i % ${models} as modelo,
        lpad((i * 2654435761 % 10000000000)::text, 10, '0') as sorte, em, em at time zone 'America/Sao_Paulo' as aqui
      from (select i, to_timestamp(${from / 1000} + ${spanSeconds}::float8 * i / ${total}) as em
          from generate_series(${first}::bigint, ${last}::bigint) i) i
        join modelo_municipios t on t.lugar = i % ${tenants}
        join modelo_prestadores p on p.lugar = i / ${tenants} % ${providers}) x) x`;
}

/** The check digit of a text of digits: weights 2 to 9 from the right; a result above 9 becomes 0. */
function digitOf(text: string): string {
  const length = 49;
  const terms = Array.from(
    { length },
    (_, place) => `(get_byte(b, ${place}) - 48) * ${2 + ((length - 1 - place) % 8)}`,
  );
  return `(select case when r < 2 then '0' else (11 - r)::text end
    from (select (${terms.join(' + ')}) % 11 as r from (select ${text}::bytea as b offset 0) k) k)`;
}
