/**
 * `npm run bench -- --busca N`: the waiting time for a search and for a month in the console, among N notes of two
 * years. The figure is wall time on an idle machine: a person waits, and the database mostly reads.
 */

import { ensureMeses, mesesBetween } from '../src/base/book/meses.ts';
import type { Mudou } from '../src/base/book/mudancas-novas.ts';
import { tellReceita } from '../src/base/book/receita-novas.ts';
import { openEmbedded } from '../src/base/pg/embedded.ts';
import { type Db, openPool, runTransaction } from '../src/base/pg/open.ts';
import type { Client } from '../src/base/pg/pg.ts';
import { SALAS } from '../src/base/world/lugares.ts';
import { searchNotas } from '../src/subjects/notas/buscar.ts';
import { summariseMes, VISOES } from '../src/subjects/receita/mes.ts';
import { migrate } from '../src/wiring/migrate.ts';
import { createStore } from '../src/wiring/store.ts';
import { cpuTimesOf } from './cpu.ts';
import { cnpjsOf } from './documents.ts';
import { QUIET, useClient } from './servidor.ts';
import { printTable } from './tables.ts';

const TENANT = 'grande';
const MONTHS = 24;
/** Figures of a large municipality: providers, takers, and the frequency of a word in names. */
const PROVIDERS = 20_000;
const TAKERS = 500_000;
const WORDS = 20_000;
/** Rows per statement. */
const BLOCK = 250_000;
/** Runs of each search, each time for another party, day or word. */
const ASKED = 40;

/**
 * Provider, taker, day and value of note $1 to $2, each from a separate sequence; the first providers and takers have
 * most notes.
 */
const FILL = `insert into notas (tenant, mes, id, chave_acesso, numero_protocolo, id_dps, estado, numero_dps, serie_dps, numero_dps_nacional,
    data_emissao, data_competencia, prestador_cpf_cnpj, prestador_razao_social, tomador_cpf_cnpj, tomador_razao_social, valor_servico, servico,
    valor_base_calculo, aliquota_issqn, valor_issqn, valor_ibs, valor_cbs, classe_issqn, regime)
  select '${TENANT}', extract(year from em) * 100 + extract(month from em), n,
    lpad(n::text, 36, '0') || to_char(em, 'YYMM') || repeat('0', 10), to_char(em, 'YYYYMM') || lpad(n::text, 28, '0'), 'DPS' || n,
    case when n % 1000 = 3 then 'cancelada' else 'autorizada' end, n, '1', n::text, em,
    (em - case when n % 7 = 0 then interval '1 month' else interval '0' end)::date, p.documento, p.nome, t.documento, t.nome,
    valor, lpad((n % 190 * 100 + 101)::text, 6, '0'), valor, case when n % 10 < 8 then aliquota end, case when n % 10 < 8 then round(valor * aliquota / 100, 2) end,
    round(valor / 1000, 2), round(valor * 9 / 1000, 2), (array['apurado', 'apurado', 'apurado', 'apurado', 'apurado', 'retido', 'retido', 'retido_interm', 'das', 'imune'])[n % 10 + 1],
    case when n % 10 = 8 then 'simples_1' else 'normal' end
  from (select n, (n * 7919 % 1000000)::numeric / 100 as valor, 2 + n % 7 * 0.5 as aliquota, $3::timestamptz + (n::float8 / $4 * interval '${MONTHS} months') as em,
      1 + floor(power(n * 0.6180339887 % 1, 3) * ${PROVIDERS}) as de, 1 + floor(power(n * 0.7548776662 % 1, 3) * ${TAKERS}) as para
    from generate_series($1::bigint, $2::bigint) n) x
    join partes p on p.tipo = 'prestador' and p.lugar = x.de join partes t on t.tipo = 'tomador' and t.lugar = x.para`;

const PARTIES = `create table partes as select $1::text as tipo, row_number() over () as lugar, documento,
  'Nome' || floor(power(random(), 3) * ${WORDS}) || ' Sobrenome' || floor(power(random(), 3) * ${WORDS}) || ' Ltda' as nome
  from unnest($2::text[]) documento`;

export async function benchBusca(dataDir: string, total: number): Promise<void> {
  const server = await openEmbedded({ dataDir, log: QUIET });
  try {
    const pool = openPool(server.connection, () => undefined, true);
    await openTown(pool);
    await useClient(server.connection, (client) => fillNotas(client, total));
    await learnNames(pool);
    await countReceita(pool);
    await measure(pool);
    await measureMes(pool);
    await measureChanges(pool, dataDir);
    await pool.end();
  } finally {
    await server.stop();
  }
}

const NOW = new Date();
const FROM = new Date(NOW);
FROM.setUTCMonth(FROM.getUTCMonth() - MONTHS);

async function openTown(pool: Db): Promise<void> {
  await migrate(pool);
  await createStore(pool).municipios.create({ tenant: TENANT, ambiente: 'homologacao', codigoIbge: undefined }, +NOW);
  await ensureMeses(pool, mesesBetween(+FROM, +NOW));
}

async function fillNotas(client: Client, total: number): Promise<void> {
  const documents = cnpjsOf(PROVIDERS + TAKERS);
  const [create, insert] = [PARTIES, PARTIES.replace('create table partes as', 'insert into partes')];
  const parties = (text: string, tipo: string, of: readonly string[]) =>
    client.query(text.replace('$1::text', `'${tipo}'::text`).replace('$2', `'{${of.join()}}'`));
  await parties(create, 'prestador', documents.slice(0, PROVIDERS));
  await parties(insert, 'tomador', documents.slice(PROVIDERS));
  await client.query('create unique index on partes (tipo, lugar) include (documento, nome)');
  await client.query('vacuum analyze partes');
  await client.query('set session_replication_role = replica; set synchronous_commit = off');
  for (let first = 1; first <= total; first += BLOCK) {
    const began = performance.now();
    await client.query(FILL, [first, Math.min(total, first + BLOCK - 1), FROM.toISOString(), total]);
    console.error(`${first + BLOCK - 1} notas, ${(((performance.now() - began) * 1000) / BLOCK).toFixed(0)} µs cada`);
  }
  await client.query('vacuum analyze notas');
}

async function learnNames(pool: Db): Promise<void> {
  const began = performance.now();
  while (await createStore(pool).nomes.learn(0, SALAS.nomes));
  const size = "select pg_size_pretty(pg_total_relation_size('nomes')) as size, count(*)::text as rows from nomes";
  const [nomes] = (await pool.query<{ size: string; rows: string }>(size)).rows;
  console.error(
    `nomes: ${nomes!.rows} palavras em ${((performance.now() - began) / 1000).toFixed(0)} s, ${nomes!.size}`,
  );
}

async function countReceita(pool: Db): Promise<void> {
  const began = performance.now();
  const { contagemDaReceita } = createStore(pool);
  await pool.query('insert into receita_meses (tenant, mes, pedida) select distinct tenant, mes, 1 from notas');
  while (await contagemDaReceita.countDue(+NOW, SALAS.receita, 0));
  const rows = 'select count(*)::text as rows from receita_somas';
  const [{ rows: somas } = { rows: '0' }] = (await pool.query<{ rows: string }>(rows)).rows;
  console.error(`somas: ${somas} linhas em ${((performance.now() - began) / 1000).toFixed(0)} s`);
}

type Drawn = {
  readonly numero_dps: string;
  readonly prestador_cpf_cnpj: string;
  readonly tomador_cpf_cnpj: string;
  readonly tomador_razao_social: string;
  readonly dia: string;
};

const SEARCHES: Readonly<Record<string, (nota: Drawn) => Parameters<typeof searchNotas>[2]>> = {
  'as mais novas': () => ({}),
  'as mais antigas': () => ({ ordem: 'antigas' }),
  prestador: ({ prestador_cpf_cnpj }) => ({ prestador: prestador_cpf_cnpj }),
  tomador: ({ tomador_cpf_cnpj }) => ({ tomador: tomador_cpf_cnpj }),
  'prestador ou tomador, e dia': ({ tomador_cpf_cnpj, dia }) => ({ q: tomador_cpf_cnpj, de: dia, ate: dia }),
  'nome inteiro': ({ tomador_razao_social }) => ({ q: tomador_razao_social }),
  'uma palavra do nome': ({ tomador_razao_social }) => ({ q: tomador_razao_social.split(' ')[1]! }),
  'começo de palavra, de milhares': () => ({ q: 'sobrenome1' }),
  dia: ({ dia }) => ({ de: dia, ate: dia }),
  'estado raro': () => ({ estado: 'cancelada' }),
  'na fila': () => ({ estado: 'emitida' }),
  'dia e valor': ({ dia }) => ({ de: dia, ate: dia, valor_de: '9.999,00' }),
  'número da nota': ({ numero_dps }) => ({ numero: numero_dps }),
  'valor que ninguém tem': () => ({ valor_de: '999.999,00' }),
  'serviço e competência': ({ dia }) => ({ servico: '010101', competencia: dia.slice(0, 7) }),
};

async function measure(pool: Db): Promise<void> {
  const draw = `select numero_dps, prestador_cpf_cnpj, tomador_cpf_cnpj, tomador_razao_social,
    to_char(data_emissao at time zone 'America/Sao_Paulo', 'YYYY-MM-DD') as dia
    from notas tablesample bernoulli (0.1) order by random() limit ${ASKED}`;
  const drawn = (await pool.query<Drawn>(draw)).rows;
  const world = { store: createStore(pool), now: Date.now };
  const rows: string[][] = [];
  for (const [name, asked] of Object.entries(SEARCHES)) {
    const times: number[] = [];
    let found = 0;
    for (const nota of drawn) {
      const began = performance.now();
      const page = await searchNotas(world, TENANT, asked(nota));
      times.push(performance.now() - began);
      if ('problems' in page) throw new Error(`${name}: ${JSON.stringify(page.problems)}`);
      found += page.notas.length;
    }
    times.sort((one, other) => one - other);
    const at = (share: number): string => times[Math.floor((times.length - 1) * share)]!.toFixed(1);
    rows.push([name, (found / drawn.length).toFixed(1), at(0.5), at(0.95), at(1)]);
  }
  printTable(['busca', 'notas', 'mediana (ms)', '95 %', 'pior'], rows);
}

/** The page of each month, of the competence and of the issue. */
async function measureMes(pool: Db): Promise<void> {
  const world = { store: createStore(pool), now: Date.now };
  const meses = (await pool.query<{ mes: number }>('select mes from receita_meses order by mes')).rows;
  const rows: string[][] = [];
  for (const visao of VISOES) {
    const times: number[] = [];
    let notas = 0;
    for (const { mes } of [...meses, ...meses]) {
      const began = performance.now();
      const shown = await summariseMes(world, TENANT, { visao, mes });
      times.push(performance.now() - began);
      notas += shown.total.notas;
    }
    times.sort((one, other) => one - other);
    const at = (share: number): string => times[Math.floor((times.length - 1) * share)]!.toFixed(1);
    rows.push([visao, (notas / times.length).toFixed(0), at(0.5), at(0.95), at(1)]);
  }
  printTable(['mês', 'notas', 'mediana (ms)', '95 %', 'pior'], rows);
}

/** Notes of five minutes at 3, 30 and 300 notes a second. */
const CHANGED = [1_000, 10_000, 100_000];
/** Notes that one turn of placing tells of. */
const TOLD = 16;

/** CPU time of a note that is told and added to the sums, by notes between two additions. */
async function measureChanges(pool: Db, dataDir: string): Promise<void> {
  const { contagemDaReceita } = createStore(pool);
  const rows: string[][] = [];
  let told = 1;
  for (const count of CHANGED) {
    const text = 'select id, mes from notas where tenant = $1 order by id desc limit $2';
    const notas = (await pool.query<{ id: string; mes: number }>(text, [TENANT, count])).rows;
    const mudadas = notas.map(({ id, mes }) => ({ item: 'nota', id, mes, movimento: 1, para: 'emitida' }) as Mudou);
    const telling = await usedBy(dataDir, async () => {
      for (let first = 0; first < count; first += TOLD) {
        const before = { bloco: '0', receita_bloco: '0' };
        const one = { before, bloco: told, mudadas: mudadas.slice(first, first + TOLD), now: +NOW };
        await runTransaction(pool, (client) => tellReceita(client, TENANT, one));
        told += 1;
      }
    });
    const adding = await usedBy(dataDir, async () => {
      while (await contagemDaReceita.countDue(+NOW, SALAS.receita, 0));
    });
    rows.push([String(count), ...[...telling, ...adding].map((seconds) => ((seconds * 1e6) / count).toFixed(1))]);
  }
  printTable(['notas', 'dizer: serviço (µs)', 'banco', 'somar: serviço (µs)', 'banco'], rows);
}

/** CPU seconds of this process and of the database. */
async function usedBy(dataDir: string, work: () => Promise<void>): Promise<readonly [number, number]> {
  const banco = (): number => cpuTimesOf(process.pid, dataDir).banco;
  const [before, database] = [process.cpuUsage(), banco()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return [(user + system) / 1e6, banco() - database];
}
