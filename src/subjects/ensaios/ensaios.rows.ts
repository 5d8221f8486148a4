/** Sandboxes of one's own: who owns each, until when it is there, its clock, and the last requests to it. */
import { Buffer } from 'node:buffer';
import type { Contagem } from '../../base/book/merge-rows.ts';
import { tellMunicipio } from '../../base/book/municipios.ts';
import { type Kind, lockRegistry, type Staging, stageImport } from '../../base/book/staging.ts';
import { type Db, runTransaction, writeAlone } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { planOnce } from '../../base/pg/planned.ts';
import { insertRows } from '../../base/pg/sql.ts';
import { readTabelas } from '../../base/pg/tabelas.ts';
import type { Aliquota } from '../../fiscal/aliquotas-ibs-cbs.ts';
import { type EntradaAliquota, saidOf } from '../cadastros/aliquotas.rows.ts';

/** Moments in milliseconds. `chave`, `rede`: digests. */
export type NovoEnsaio = {
  readonly tenant: string;
  readonly chave: Buffer;
  readonly nome: string | undefined;
  readonly rede: Buffer;
  readonly ate: number;
  readonly criadoEm: number;
};

/** How many there may be: of a network since a moment (milliseconds), and of everybody. */
export type EnsaiosMax = { readonly daRede: number; readonly desde: number; readonly todos: number };

/** What its owner sets; undefined stays as it is. `relogio`: how far the clock is ahead, where it still is where it was. */
export type MudancaDeEnsaio = {
  readonly relogio?: { readonly de: number; readonly para: number } | undefined;
  readonly exigeCadastro?: boolean | undefined;
  readonly regrasNacionais?: string | undefined;
  readonly exigeNumero?: boolean | undefined;
  readonly exigeNotaNoEvento?: boolean | undefined;
  /** In percent, with two places; null: there is none. */
  readonly aliquotaPadrao?: string | null | undefined;
};

export type EnsaioRow = {
  readonly tenant: string;
  readonly chave: Buffer;
  readonly nome: string | null;
  readonly criado_em: Date;
  readonly reiniciado_em: Date | null;
};

/** A request and what it was answered, as far as it is kept. `corpo`: empty where none was sent, null where it is not kept. */
export type Requisicao = {
  readonly id: string;
  readonly em: Date;
  readonly metodo: string;
  /** With its query. */
  readonly caminho: string;
  readonly tipo: string | null;
  readonly corpo: Buffer | null;
  readonly status: number;
  readonly ms: number;
  readonly resposta: string | null;
};

/** Requests that are kept of a sandbox. */
export const REQUISICOES_MAX = 200;

const FIND = planOnce(
  'find_ensaio',
  'select tenant, chave, nome, criado_em, reiniciado_em from ensaios where tenant = $1',
);

/** Questions across tenants: an address of the network makes so many a day, and all together there are so many. */
const MADE = `select (select count(*)::int from ensaios where rede = $1 and criado_em > $2) as "daRede",
  (select count(*)::int from ensaios) as todos`;
/** They are made one after another in all processes; who issues in the shared sandbox does not wait for it. */
const TAKE_TURN = 'select 1 from municipios where tenant = $1 for no key update';
const OPEN = `insert into municipios (tenant, ambiente, criado_em, ensaio_ate) values ($1, 'homologacao', $2, $3)
  on conflict (tenant) do nothing`;
const OWN = 'insert into ensaios (tenant, chave, nome, rede, criado_em) values ($1, $2, $3, $4, $5)';
/** One statement, so that of two changes at once neither takes the other back. What is empty is no number, though Citus looks at both branches. */
const CHANGE = `update municipios set relogio_ms = coalesce($3::bigint, relogio_ms),
    exige_cadastro = coalesce($4::boolean, exige_cadastro), regras_nacionais = coalesce($5::text, regras_nacionais),
    exige_numero = coalesce($6::boolean, exige_numero),
    exige_nota_no_evento = coalesce($7::boolean, exige_nota_no_evento),
    aliquota_padrao = case when $8::text = '' then null else coalesce(nullif($8::text, '')::numeric, aliquota_padrao) end
  where tenant = $1 and ensaio_ate is not null and relogio_ms = coalesce($2::bigint, relogio_ms)`;
const RETRY_RETIDAS = 'update retidas set tabela_aliquotas = 0 where tenant = $1';
const BEGIN_ANEW = 'update municipios set relogio_ms = $2, aliquotas_ibs_cbs = null where tenant = $1';
const EXPIRED = 'select tenant from municipios where ensaio_ate < $1 order by ensaio_ate limit $2';

const INSERT_REQUISICAO = insertRows<Requisicao>('insert_requisicao', 'ensaio_requisicoes', [
  ['em timestamptz', ({ em }) => em.toISOString()],
  ['id uuid', ({ id }) => id],
  ['metodo text', ({ metodo }) => metodo],
  ['caminho text', ({ caminho }) => caminho],
  ['tipo text', ({ tipo }) => tipo],
  ['corpo bytea', ({ corpo }) => corpo],
  ['status smallint', ({ status }) => status],
  ['ms int', ({ ms }) => ms],
  ['resposta text', ({ resposta }) => resposta],
]);
const FORGET_REQUISICOES = `delete from ensaio_requisicoes where tenant = $1 and em < (
    select em from ensaio_requisicoes where tenant = $1 order by em desc, id desc offset ${REQUISICOES_MAX - 1} limit 1)`;
/** Bytes of their bodies and answers that are kept of a sandbox, of the newest: the others are still told, without them. */
export const REQUISICOES_BYTES = 4 * 1024 * 1024;
const FORGET_BODIES = `update ensaio_requisicoes r set corpo = null, resposta = null from (
    select em, id, sum(coalesce(octet_length(corpo), 0) + coalesce(octet_length(resposta), 0)) over (order by em desc, id desc) as bytes
    from ensaio_requisicoes where tenant = $1) s
  where r.tenant = $1 and r.em = s.em and r.id = s.id and s.bytes > $2 and (r.corpo is not null or r.resposta is not null)`;
const REQUISICOES = `select id, em, metodo, caminho, tipo, null::bytea as corpo, status, ms, null::text as resposta
  from ensaio_requisicoes where tenant = $1 order by em desc, id desc limit ${REQUISICOES_MAX}`;
const REQUISICAO = `select id, em, metodo, caminho, tipo, corpo, status, ms, resposta from ensaio_requisicoes
  where tenant = $1 and id = $2`;

/** Of a sandbox that is emptied these stay: itself, and the numbers of notes, of which other processes hold some. */
const ITS_OWN: ReadonlySet<string> = new Set(['municipios', 'ensaios', 'sequencias']);

export function ensaioStore(pool: Db) {
  /** What was written since old requests were last taken away, by tenant. */
  const written = new Map<string, { count: number; bytes: number }>();
  return {
    /** Makes one; `taken`: its address is another's. `shared`: the tenant in which they are asked for. */
    create: (shared: string, ensaio: NovoEnsaio, max: EnsaiosMax): Promise<'made' | 'taken' | 'rede' | 'todos'> =>
      runTransaction(pool, (client) => createEnsaio(client, shared, ensaio, max), PATIENT),
    find: async (tenant: string): Promise<EnsaioRow | undefined> =>
      (await pool.query<EnsaioRow>(FIND([tenant]))).rows[0],
    /** False: it is gone, or somebody else has moved its clock meanwhile. */
    change: (tenant: string, mudanca: MudancaDeEnsaio): Promise<boolean> => changeEnsaio(pool, tenant, mudanca),
    /** Replaces the rates of the IBS and the CBS that a sandbox has of its own by those of a file. */
    importAliquotas: <Result>(
      tenant: string,
      work: (staging: Staging<EntradaAliquota, ContagemInteira>) => Promise<Result>,
    ): Promise<Result> => stageImport(pool, ownRates(tenant), work),
    /** Has what waits for a rate looked at again, though no national table is newer. */
    retryRetidas: async (tenant: string): Promise<void> => {
      await writeAlone(pool, { text: RETRY_RETIDAS, values: [tenant] });
    },
    /** Those past their time, some at a time. */
    listExpired: async (now: number, max: number): Promise<readonly string[]> =>
      (await pool.query<{ tenant: string }>(EXPIRED, [new Date(now), max])).rows.map(({ tenant }) => tenant),
    /** Takes all that a sandbox holds, and not itself; its clock is so far ahead then. False: it is gone. */
    empty: (tenant: string, now: number, relogioMs: number): Promise<boolean> =>
      runTransaction(
        pool,
        async (client) => {
          if (!(await takeEnsaio(client, tenant))) return false;
          await deleteRows(client, tenant, (tabela) => !ITS_OWN.has(tabela));
          await client.query('update ensaios set reiniciado_em = $2 where tenant = $1', [tenant, new Date(now)]);
          await client.query(BEGIN_ANEW, [tenant, relogioMs]);
          await tellMunicipio(client, tenant);
          return true;
        },
        PATIENT,
      ),
    /** Takes a sandbox away with all that it holds. Of what is none of somebody's own nothing is taken. */
    delete: async (tenant: string): Promise<boolean> => {
      const isGone = await runTransaction(
        pool,
        async (client) => {
          if (!(await takeEnsaio(client, tenant))) return false;
          await deleteRows(client, tenant, () => true);
          return true;
        },
        PATIENT,
      );
      written.delete(tenant);
      // Who was writing meanwhile had not looked for the tenant again: from here on nobody finds it.
      if (isGone) await runTransaction(pool, (client) => deleteRows(client, tenant, () => true), PATIENT);
      return isGone;
    },
    /** Keeps a request; the oldest beyond those that are kept go some at a time. */
    record: async (tenant: string, requisicao: Requisicao): Promise<void> => {
      await pool.query(INSERT_REQUISICAO(tenant, [requisicao]));
      const own = written.getOrInsertComputed(tenant, () => ({ count: 0, bytes: 0 }));
      own.count += 1;
      own.bytes += (requisicao.corpo?.length ?? 0) + Buffer.byteLength(requisicao.resposta ?? '');
      if (own.count < FORGET_EVERY && own.bytes < FORGET_EVERY_BYTES) return;
      written.delete(tenant);
      await pool.query(FORGET_REQUISICOES, [tenant]);
      await pool.query(FORGET_BODIES, [tenant, REQUISICOES_BYTES]);
    },
    /** The newest first, without their bodies. */
    listRequisicoes: async (tenant: string): Promise<readonly Requisicao[]> =>
      (await pool.query<Requisicao>(REQUISICOES, [tenant])).rows,
    findRequisicao: async (tenant: string, id: string): Promise<Requisicao | undefined> =>
      (await pool.query<Requisicao>(REQUISICAO, [tenant, id])).rows[0],
  };
}

function changeEnsaio(pool: Db, tenant: string, mudanca: MudancaDeEnsaio): Promise<boolean> {
  const { relogio, exigeCadastro, regrasNacionais, exigeNumero, exigeNotaNoEvento, aliquotaPadrao } = mudanca;
  const rate = aliquotaPadrao === null ? '' : aliquotaPadrao;
  const rigor = [exigeCadastro, regrasNacionais, exigeNumero, exigeNotaNoEvento, rate];
  const values = [tenant, relogio?.de, relogio?.para, ...rigor].map((one) => one ?? null);
  return runTransaction(pool, async (client) => {
    if ((await client.query(CHANGE, values)).rowCount !== 1) return false;
    await tellMunicipio(client, tenant);
    return true;
  });
}

/** More than are kept may stand there for a while. */
const FORGET_EVERY = 20;
const FORGET_EVERY_BYTES = 1024 * 1024;
/** Who issues in it just now is waited for. */
const PATIENT = { lockMs: 0 } as const;

async function createEnsaio(
  client: PoolClient,
  shared: string,
  { tenant, chave, nome, rede, ate, criadoEm }: NovoEnsaio,
  max: EnsaiosMax,
): Promise<'made' | 'taken' | 'rede' | 'todos'> {
  await client.query(TAKE_TURN, [shared]);
  const { rows } = await client.query<{ daRede: number; todos: number }>(MADE, [rede, new Date(max.desde)]);
  const { daRede, todos } = rows[0]!;
  if (daRede >= max.daRede) return 'rede';
  if (todos >= max.todos) return 'todos';
  const { rowCount } = await client.query(OPEN, [tenant, new Date(criadoEm), new Date(ate)]);
  if (rowCount !== 1) return 'taken';
  await client.query(OWN, [tenant, chave, nome ?? null, rede, new Date(criadoEm)]);
  await tellMunicipio(client, tenant);
  return 'made';
}

/** Holds the row of a sandbox of one's own: an issuance adds rows that name the tenant, and waits for it. */
async function takeEnsaio(client: PoolClient, tenant: string): Promise<boolean> {
  const text = `select 1 from municipios where tenant = $1 and ensaio_ate is not null and ambiente = 'homologacao' for update`;
  return (await client.query(text, [tenant])).rowCount === 1;
}

/** Those first that name others. */
async function deleteRows(client: PoolClient, tenant: string, isMeant: (tabela: string) => boolean): Promise<void> {
  const tabelas = await readTabelas(client);
  for (const { nome, isOfTenant } of tabelas.toReversed()) {
    if (isOfTenant && isMeant(nome)) await client.query(`delete from ${nome} where tenant = $1`, [tenant]);
  }
}

/** What a file did that is all of a register. */
export type ContagemInteira = Contagem & { readonly retirados: number };

function ownRates(tenant: string): Kind<EntradaAliquota, ContagemInteira> {
  return {
    about: ({ chave }) => chave,
    known: ({ inicio }) => inicio,
    said: saidOf,
    misfits: async (rows) => rows.slice(PROPRIAS_MAX).map(({ linha, chave }) => ({ linha, motivo: TOO_MANY, chave })),
    lock: (client) => lockRegistry(client, tenant),
    merge: async (client, blocks) => {
      const read = await client.query<{ own: readonly Aliquota[] | null }>(OWN_RATES, [tenant]);
      const before = new Map((read.rows[0]?.own ?? []).map((one) => [placeOf(one), one]));
      const after = new Map([...blocks].flatMap(({ rows }) => rows.map(aliquotaOf)).map((one) => [placeOf(one), one]));
      const known = [...after].flatMap(([place, one]) => {
        const stood = before.get(place);
        return stood === undefined ? [] : [saidOf(stood) === saidOf(one)];
      });
      await client.query(WRITE_RATES, [tenant, JSON.stringify([...after.values()])]);
      await tellMunicipio(client, tenant);
      const iguais = known.filter((isSame) => isSame).length;
      return {
        novos: after.size - known.length,
        alterados: known.length - iguais,
        iguais,
        retirados: before.size - known.length,
      };
    },
  };
}

/** They are read with the settings of the tenant, again and again. */
const PROPRIAS_MAX = 500;
const TOO_MANY = `um ambiente tem até ${PROPRIAS_MAX} alíquotas suas, e o arquivo traz mais; tire linhas`;

const OWN_RATES = 'select aliquotas_ibs_cbs as own from municipios where tenant = $1';
const WRITE_RATES = 'update municipios set aliquotas_ibs_cbs = $2::jsonb where tenant = $1 and ensaio_ate is not null';

function aliquotaOf({ linha: _l, chave: _c, c_class_trib: cClassTrib, ...row }: EntradaAliquota): Aliquota {
  return { ...row, cClassTrib };
}

const placeOf = ({ tributo, cClassTrib, uf, municipio, inicio }: Aliquota): string =>
  [tributo, cClassTrib, uf, municipio, inicio].join(' ');
