/** Private sandboxes: the owner, the end of life, the clock, and the last requests. */
import { Buffer } from 'node:buffer';
import type { Contagem } from '../../base/book/merge-rows.ts';
import { tellMunicipio } from '../../base/book/municipios.ts';
import { type Kind, lockRegistry, type Staging, stageImport } from '../../base/book/staging.ts';
import { insertRows } from '../../base/pg/mergeable.ts';
import { type Db, runTransaction, writeAlone } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { planOnce } from '../../base/pg/planned.ts';
import { deleteOfTenant } from '../../base/pg/tabelas.ts';
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

/** The greatest numbers of sandboxes: of one network since a moment (milliseconds), and of all. */
export type EnsaiosMax = { readonly daRede: number; readonly desde: number; readonly todos: number };

/** The greatest number is reached: of one network, or of all. `livreEm`: the moment (milliseconds) at which one of them no longer counts. */
export type EnsaiosDemais = { readonly de: 'rede' | 'todos'; readonly livreEm: number };

/** The owner's settings; an undefined one stays unchanged. `relogio`: the new lead of the clock, if its lead is still `de`. */
export type MudancaDeEnsaio = {
  readonly relogio?: { readonly de: number; readonly para: number } | undefined;
  readonly exigeCadastro?: boolean | undefined;
  readonly regrasNacionais?: string | undefined;
  readonly exigeNumero?: boolean | undefined;
  readonly exigeNotaNoEvento?: boolean | undefined;
  /** Percent, with two places; null: there is no rate. */
  readonly aliquotaPadrao?: string | null | undefined;
};

export type EnsaioRow = {
  readonly tenant: string;
  readonly chave: Buffer;
  readonly nome: string | null;
  readonly criado_em: Date;
  readonly reiniciado_em: Date | null;
};

/** A request and its answer, as far as they are kept. `corpo`: empty: none was sent; null: it is not kept. */
export type Requisicao = {
  readonly id: string;
  readonly em: Date;
  readonly metodo: string;
  /** The path with its query. */
  readonly caminho: string;
  readonly tipo: string | null;
  readonly corpo: Buffer | null;
  readonly status: number;
  readonly ms: number;
  readonly resposta: string | null;
};

/** Requests that a sandbox keeps. */
export const REQUISICOES_MAX = 200;

const FIND = planOnce(
  'find_ensaio',
  'select tenant, chave, nome, criado_em, reiniciado_em from ensaios where tenant = $1',
);

/** A query across tenants: the sandboxes of one network in a day, and of all networks. */
const MADE = `select (select count(*)::int from ensaios where rede = $1 and criado_em > $2) as "daRede",
  (select min(criado_em) from ensaios where rede = $1 and criado_em > $2) as primeiro,
  (select count(*)::int from ensaios) as todos,
  (select min(ensaio_ate) from municipios where ensaio_ate is not null) as "expiraEm"`;
type Made = { readonly daRede: number; readonly primeiro: Date; readonly todos: number; readonly expiraEm: Date };
/** All processes make sandboxes one after the other. This lock does not block issuance in the shared sandbox. */
const TAKE_TURN = 'select 1 from municipios where tenant = $1 for no key update';
const OPEN = `insert into municipios (tenant, ambiente, criado_em, ensaio_ate) values ($1, 'homologacao', $2, $3)
  on conflict (tenant) do nothing`;
const OWN = 'insert into ensaios (tenant, chave, nome, rede, criado_em) values ($1, $2, $3, $4, $5)';
/**
 * One statement, so that two changes at once do not undo each other. An empty text is no number; `nullif` guards it because Citus evaluates
 * both branches.
 */
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
/** Bytes of the newest bodies and answers that a sandbox keeps; older requests are listed without them. */
export const REQUISICOES_BYTES = 4 * 1024 * 1024;
const FORGET_BODIES = `update ensaio_requisicoes r set corpo = null, resposta = null from (
    select em, id, sum(coalesce(octet_length(corpo), 0) + coalesce(octet_length(resposta), 0)) over (order by em desc, id desc) as bytes
    from ensaio_requisicoes where tenant = $1) s
  where r.tenant = $1 and r.em = s.em and r.id = s.id and s.bytes > $2 and (r.corpo is not null or r.resposta is not null)`;
const REQUISICOES = `select id, em, metodo, caminho, tipo, null::bytea as corpo, status, ms, null::text as resposta
  from ensaio_requisicoes where tenant = $1 order by em desc, id desc limit ${REQUISICOES_MAX}`;
const REQUISICAO = `select id, em, metodo, caminho, tipo, corpo, status, ms, resposta from ensaio_requisicoes
  where tenant = $1 and id = $2`;

/** Tables that survive a reset: the sandbox itself, and its sequences, from which other processes hold reserved numbers. */
const ITS_OWN: ReadonlySet<string> = new Set(['municipios', 'ensaios', 'sequencias']);

export function ensaioStore(pool: Db) {
  /** Requests written since the last removal of old ones, by tenant. */
  const written = new Map<string, { count: number; bytes: number }>();
  return {
    /** Makes a sandbox; `taken`: the address is in use. `shared`: the tenant that receives the request. */
    create: (shared: string, ensaio: NovoEnsaio, max: EnsaiosMax): Promise<'made' | 'taken' | EnsaiosDemais> =>
      runTransaction(pool, (client) => createEnsaio(client, shared, ensaio, max), PATIENT),
    find: async (tenant: string): Promise<EnsaioRow | undefined> =>
      (await pool.query<EnsaioRow>(FIND([tenant]))).rows[0],
    /** False: the sandbox is gone, or another request moved its clock meanwhile. */
    change: (tenant: string, mudanca: MudancaDeEnsaio): Promise<boolean> => changeEnsaio(pool, tenant, mudanca),
    /** Replaces a sandbox's own IBS and CBS rates by those of a file. */
    importAliquotas: <Result>(
      tenant: string,
      work: (staging: Staging<EntradaAliquota, ContagemInteira>) => Promise<Result>,
    ): Promise<Result> => stageImport(pool, ownRates(tenant), work),
    /** Makes the worker judge the held notas again, though no national table is newer. */
    retryRetidas: async (tenant: string): Promise<void> => {
      await writeAlone(pool, { text: RETRY_RETIDAS, values: [tenant] });
    },
    /** Expired sandboxes, a limited number at a time. */
    listExpired: async (now: number, max: number): Promise<readonly string[]> =>
      (await pool.query<{ tenant: string }>(EXPIRED, [new Date(now), max])).rows.map(({ tenant }) => tenant),
    /** Removes the content of a sandbox, not the sandbox itself, and sets its clock. False: it is gone. */
    empty: (tenant: string, now: number, relogioMs: number): Promise<boolean> =>
      runTransaction(
        pool,
        async (client) => {
          if (!(await takeEnsaio(client, tenant))) return false;
          await deleteOfTenant(client, tenant, (tabela) => !ITS_OWN.has(tabela));
          await client.query('update ensaios set reiniciado_em = $2 where tenant = $1', [tenant, new Date(now)]);
          await client.query(BEGIN_ANEW, [tenant, relogioMs]);
          await tellMunicipio(client, tenant);
          return true;
        },
        PATIENT,
      ),
    /** Deletes a sandbox with all its content; other municipalities are never deleted. */
    delete: async (tenant: string): Promise<boolean> => {
      const isGone = await runTransaction(
        pool,
        async (client) => {
          if (!(await takeEnsaio(client, tenant))) return false;
          await deleteOfTenant(client, tenant, () => true);
          return true;
        },
        PATIENT,
      );
      written.delete(tenant);
      // A writer that found the tenant earlier may have stored more rows; no new writer finds it now.
      if (isGone) await runTransaction(pool, (client) => deleteOfTenant(client, tenant, () => true), PATIENT);
      return isGone;
    },
    /** Keeps a request; surplus old requests are removed several at a time. */
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
    /** The newest first, without bodies. */
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

/** The surplus of requests may reach this number. */
const FORGET_EVERY = 20;
const FORGET_EVERY_BYTES = 1024 * 1024;
/** Unlimited wait for locks: issuances in the sandbox may be under way. */
const PATIENT = { lockMs: 0 } as const;

async function createEnsaio(
  client: PoolClient,
  shared: string,
  { tenant, chave, nome, rede, ate, criadoEm }: NovoEnsaio,
  max: EnsaiosMax,
): Promise<'made' | 'taken' | EnsaiosDemais> {
  await client.query(TAKE_TURN, [shared]);
  const { rows } = await client.query<Made>(MADE, [rede, new Date(max.desde)]);
  const { daRede, primeiro, todos, expiraEm } = rows[0]!;
  if (daRede >= max.daRede) return { de: 'rede', livreEm: +primeiro + criadoEm - max.desde };
  if (todos >= max.todos) return { de: 'todos', livreEm: +expiraEm };
  const { rowCount } = await client.query(OPEN, [tenant, new Date(criadoEm), new Date(ate)]);
  if (rowCount !== 1) return 'taken';
  await client.query(OWN, [tenant, chave, nome ?? null, rede, new Date(criadoEm)]);
  await tellMunicipio(client, tenant);
  return 'made';
}

/** Locks the row of a private sandbox. An issuance references the tenant, and waits for this lock. */
async function takeEnsaio(client: PoolClient, tenant: string): Promise<boolean> {
  const text = `select 1 from municipios where tenant = $1 and ensaio_ate is not null and ambiente = 'homologacao' for update`;
  return (await client.query(text, [tenant])).rowCount === 1;
}

/** The counts of a file that replaces a whole register. */
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

/** These rates are read often, with the settings of the tenant. */
const PROPRIAS_MAX = 500;
const TOO_MANY = `um ambiente tem até ${PROPRIAS_MAX} alíquotas suas, e o arquivo traz mais; tire linhas`;

const OWN_RATES = 'select aliquotas_ibs_cbs as own from municipios where tenant = $1';
const WRITE_RATES = 'update municipios set aliquotas_ibs_cbs = $2::jsonb where tenant = $1 and ensaio_ate is not null';

function aliquotaOf({ linha: _l, chave: _c, c_class_trib: cClassTrib, ...row }: EntradaAliquota): Aliquota {
  return { ...row, cClassTrib };
}

const placeOf = ({ tributo, cClassTrib, uf, municipio, inicio }: Aliquota): string =>
  [tributo, cClassTrib, uf, municipio, inicio].join(' ');
