/**
 * Gives entries their place in the audit chain, and the hash that links each to the one before. This happens some seconds after they were
 * written, in the process that locks the tenant's row. A new chain begins with the rows that existed before it.
 */
import { randomBytes } from 'node:crypto';
import { asArrays, planMergeable } from '../pg/mergeable.ts';
import { type Db, type Pipelined, runTransaction } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { sharedOf } from '../pg/together.ts';
import {
  autenticadorOfFim,
  autenticadorOfLugar,
  autenticadorOfTrazida,
  baseOf,
  lacksChave,
} from './auditoria-chave.ts';
import { insertEntrada, insertRegistradas } from './auditoria-entradas.ts';
import { eloOf, momentoOf, RESUMO_BYTES, raizOf, splitFolhas, ZERO } from './auditoria-hash.ts';
import { readPagina } from './auditoria-linhas.ts';
import { VISTAS, type Vista } from './auditoria-tabelas.ts';

/** Entries that get a place in one transaction. */
export const PLACED_MAX = 50;
const SAL_BYTES = 32;

const BEGIN = `insert into auditoria_ate (tenant) select tenant from municipios where tenant = $1 on conflict (tenant) do nothing`;
/** A row that another process holds is skipped: that process gives the places. */
const TAKE = planMergeable<never>(
  'take_auditoria_ate',
  asArrays([]),
  ({ rows, tenant }) => `select a.tenant, a.lugar::float8 as lugar, a.elo, a.autenticador, a.abrindo, a.aberta_em
  from ${rows} join auditoria_ate a on a.tenant = ${tenant} for update of a skip locked`,
);
const SEM_LUGAR = planMergeable<never>(
  'auditoria_sem_lugar',
  asArrays([]),
  ({ rows, tenant }) => `select a.* from ${rows} cross join lateral (
    select a.tenant, a.id, ${momentoOf('a.em')} as momento, coalesce(a.sobre, '') as sobre, a.itens, a.resumos from auditoria a
    where a.tenant = ${tenant} and a.lugar is null order by a.em, a.id limit ${PLACED_MAX}) a`,
);

type Fim = { readonly lugar: number; readonly elo: Buffer | null; readonly autenticador: Buffer | null };

const ADVANCE = planMergeable<Fim>(
  'advance_auditoria_ate',
  asArrays([
    ['lugar bigint', ({ lugar }) => lugar],
    ['elo bytea', ({ elo }) => elo],
    ['autenticador bytea', ({ autenticador }) => autenticador],
  ]),
  ({ rows, tenant }) => `update auditoria_ate a set lugar = x.lugar, elo = x.elo, autenticador = x.autenticador
  from ${rows} where a.tenant = ${tenant}`,
);

type Placed = {
  readonly id: string;
  readonly lugar: number;
  readonly sal: Buffer;
  readonly raiz: Buffer;
  readonly elo: Buffer;
  readonly autenticador: Buffer | null;
};

const PLACE = planMergeable<Placed>(
  'place_auditoria',
  asArrays([
    ['id uuid', ({ id }) => id],
    ['lugar bigint', ({ lugar }) => lugar],
    ['sal bytea', ({ sal }) => sal],
    ['raiz bytea', ({ raiz }) => raiz],
    ['elo bytea', ({ elo }) => elo],
    ['autenticador bytea', ({ autenticador }) => autenticador],
  ]),
  ({ rows, tenant }) => `update auditoria a
  set lugar = x.lugar, sal = x.sal, raiz = x.raiz, elo = x.elo, autenticador_lugar = x.autenticador
  from ${rows} where x.lugar + 0 = x.lugar and a.tenant = ${tenant} and a.id = x.id`,
);

type Ate = {
  readonly lugar: number;
  readonly elo: Buffer | null;
  readonly autenticador: Buffer | null;
  readonly abrindo: string | null;
  readonly aberta_em: Date | null;
};

/** Locks the end of the chain of a tenant; undefined: another process holds it. The first entries create the row. */
async function takeAte(client: PoolClient, tenant: string): Promise<Ate | undefined> {
  const take = async (): Promise<Ate | undefined> => (await client.query<Ate>(TAKE(tenant, []))).rows[0];
  const taken = await take();
  if (taken !== undefined) return taken;
  return (await client.query(BEGIN, [tenant])).rowCount === 0 ? undefined : take();
}

type SemLugar = {
  readonly id: string;
  readonly momento: string;
  readonly sobre: string;
  readonly itens: string;
  readonly resumos: Buffer;
};

/** Gives places to committed entries, the oldest first. Returns their number, {@link PLACED_MAX} at most. */
export async function placeEntradas(pool: Db, tenant: string): Promise<number> {
  // A process without the key of the chain leaves the places to one that has it.
  if (lacksChave()) return 0;
  return sharedOf(pool).run(tenant, (client) => placeSome(client, tenant));
}

async function placeSome(client: PoolClient, tenant: string): Promise<Pipelined<number>> {
  const ate = await takeAte(client, tenant);
  if (ate === undefined) return { result: 0, writes: [] };
  const { rows } = await client.query<SemLugar>(SEM_LUGAR(tenant, []));
  let { lugar } = ate;
  let elo = ate.elo ?? ZERO;
  // A foreign end does not stop the chain. The first place after it records that end permanently.
  let base: Buffer | undefined = baseOf(tenant, ate);
  const placed: Placed[] = [];
  for (const { id, momento, sobre, itens, resumos } of rows) {
    lugar += 1;
    const sal = randomBytes(SAL_BYTES);
    const raiz = raizOf(sal, splitFolhas(itens, resumos) ?? []);
    const folhas = resumos.length / RESUMO_BYTES;
    elo = eloOf(elo, { lugar, raiz: raiz.toString('hex'), folhas, em: momento, id, sobre });
    placed.push({ id, lugar, sal, raiz, elo, autenticador: autenticadorOfLugar(tenant, { lugar, elo }, base) });
    base = undefined;
  }
  if (placed.length === 0) return { result: 0, writes: [] };
  const writes = [client.query(PLACE(tenant, placed)), client.query(ADVANCE(tenant, [fimOf(tenant, { lugar, elo })]))];
  return { result: placed.length, writes };
}

function fimOf(tenant: string, end: Pick<Fim, 'lugar' | 'elo'>): Fim {
  return { ...end, autenticador: autenticadorOfFim(tenant, end) };
}

const KEEP_TRAZIDA = 'update auditoria set autenticador_lugar = $3 where tenant = $1 and lugar = $2';

/** Continues an imported chain with the key of this service. Its last place is authenticated, so that a change before it is detected. */
export async function adoptCorrente(client: PoolClient, tenant: string): Promise<void> {
  for (let placed = -1; placed !== 0; ) {
    const { result, writes } = await placeSome(client, tenant);
    [placed] = await Promise.all([result, ...writes]);
  }
  const ate = await takeAte(client, tenant);
  if (ate === undefined || ate.lugar === 0) return;
  const { lugar, elo } = ate;
  await client.query(KEEP_TRAZIDA, [tenant, lugar, autenticadorOfTrazida(tenant, { lugar, elo })]);
  await client.query(ADVANCE(tenant, [fimOf(tenant, { lugar, elo })]));
}

/** Rows told in one transaction as a chain begins. A change to one of them waits for its end, some milliseconds. */
const OPENED_AT_ONCE = 500;
/** Texts of the entries for rows that existed before the chain, and of the mark after the last of them. No such entry follows the mark. */
export const ABERTURA = 'abertura';
export const ABERTA = 'aberta';
/** The mark contains the row of the municipality, the only one that every chain finds. An entry without rows is not written. */
const MARKED: Vista = 'municipios';

/** The mark is dated after all entries without a place, even if the clock was set back meanwhile. */
const COMES_LAST = `update auditoria set em = (select max(w.em) + interval '1 microsecond' from auditoria w where w.tenant = $1 and w.lugar is null)
  where tenant = $1 and lugar is null and sobre = '${ABERTA}'`;

/** Progress of a chain's beginning: a place in {@link VISTAS}, and the last key. */
type Abrindo = { readonly vista: Vista; readonly depois: readonly string[] | undefined };

/**
 * Tells a part of the rows that existed before the chain. Returns whether there may be more, also while another process holds its end.
 * `now`: milliseconds.
 */
export function openEtapa(pool: Db, tenant: string, now: number): Promise<boolean> {
  return runTransaction(pool, async (client) => {
    const ate = await takeAte(client, tenant);
    if (ate === undefined || ate.aberta_em !== null) return ate === undefined;
    const { vista, depois } = ate.abrindo === null ? FIRST : (JSON.parse(ate.abrindo) as Abrindo);
    const place = VISTAS.indexOf(vista);
    const pagina = await readPagina(client, tenant, VISTAS[place]!, { depois, max: OPENED_AT_ONCE, lock: 'for share' });
    await insertEntrada(client, tenant, pagina.folhas, ABERTURA);
    const next = pagina.depois === undefined ? VISTAS[place + 1] : VISTAS[place];
    if (next === undefined) {
      const marked = await readPagina(client, tenant, MARKED, { depois: undefined, max: 1, lock: 'for share' });
      await insertEntrada(client, tenant, marked.folhas, ABERTA);
      await client.query(COMES_LAST, [tenant]);
    }
    const abrindo = next && JSON.stringify({ vista: next, depois: pagina.depois } satisfies Abrindo);
    const text = 'update auditoria_ate set abrindo = $2, aberta_em = $3 where tenant = $1';
    await client.query(text, [tenant, abrindo ?? null, next === undefined ? new Date(now) : null]);
    return next !== undefined;
  });
}

const FIRST: Abrindo = { vista: VISTAS[0]!, depois: undefined };

/** Tenants whose chain has not told all earlier rows yet, asked across tenants. Personal sandboxes are left out. */
const SEM_ABERTURA = `select m.tenant from municipios m left join auditoria_ate a on a.tenant = m.tenant
  where m.ensaio_ate is null and a.aberta_em is null order by m.tenant`;

/** A reference table is queried by itself. Citus cannot join it across tenants in every form. */
const EM_ESPERA = `select exists (select 1 from migracoes g where g.nome like '%-auditoria.sql' and g.aplicada_em > now() - interval '15 minutes'
  and g.aplicada_em > (select min(f.aplicada_em) from migracoes f) + interval '15 minutes') as espera`;

/**
 * A database that existed before the chain waits a while after the migration. Processes of the previous version still write without
 * entries.
 */
async function isWaiting(client: Pick<PoolClient, 'query'>): Promise<boolean> {
  return (await client.query<{ espera: boolean }>(EM_ESPERA)).rows[0]!.espera;
}

export async function listSemAbertura(pool: Db): Promise<readonly string[]> {
  const { rows } = await pool.query<{ tenant: string }>(SEM_ABERTURA);
  return rows.length === 0 || (await isWaiting(pool)) ? [] : rows.map(({ tenant }) => tenant);
}

const BEGUN = `insert into auditoria_ate (tenant, aberta_em, autenticador) select tenant, $2::timestamptz, $3::bytea from municipios where tenant = $1
  on conflict (tenant) do nothing`;

/** Begins the chain of a municipality that was just made. Its entries tell every row, so no earlier rows are left to tell. */
export async function beginCorrente(client: PoolClient, tenant: string, now: number): Promise<void> {
  const begins = !(await isWaiting(client));
  // The authenticator distinguishes this beginning from one that an attacker makes later.
  const beginning = autenticadorOfFim(tenant, { lugar: 0, elo: null });
  if (begins) await client.query(BEGUN, [tenant, new Date(now), beginning]);
  await insertRegistradas(client, tenant, MARKED, { which: 'true' }, [], begins ? ABERTA : null);
}
