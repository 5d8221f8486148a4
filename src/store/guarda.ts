/**
 * Deletes what a rehearsal stored past the days of its tenant (D-264): notes, events, documents, lots, and providers that came of a DPS.
 * The oldest go first, a few at a time. Every statement looks itself that it is no production. Counters stay: no number comes twice.
 */
import { AMBIENTES, GUARDA_MIN_DIAS } from '../fiscal/ambiente.ts';
import { type Db, runTransaction } from './open.ts';
import type { PoolClient } from './pg.ts';

/** Of a kind, deleted in one transaction: some milliseconds. */
const STEP_MAX = 200;
const DAY_MS = 86_400_000;

export function guardaStore(pool: Db) {
  return {
    /** Deletes a part of what is past its time; whether there may be more. `now`: milliseconds. */
    forgetRehearsals: async (now: number): Promise<boolean> => {
      const { rows } = await pool.query<{ tenant: string; guarda_dias: number | null }>(REHEARSALS);
      let more = false;
      for (const { tenant, guarda_dias } of rows) {
        const dias = guarda_dias ?? AMBIENTES.homologacao.guardaDias ?? 0;
        if (dias === 0) continue;
        const before = new Date(now - Math.max(dias, GUARDA_MIN_DIAS) * DAY_MS);
        for (const step of [forgetNotas, forgetLotes, forgetPrestadores]) {
          const count = await runTransaction(pool, (client) => step(client, tenant, before));
          more ||= count === STEP_MAX;
        }
      }
      return more;
    },
  };
}

/** A question asked across tenants. */
const REHEARSALS = `select tenant, guarda_dias from municipios where ambiente = 'homologacao' order by tenant`;

const OF_A_REHEARSAL = `exists (select 1 from municipios m where m.tenant = $1 and m.ambiente = 'homologacao')`;

/** Only the oldest are looked at, which an index has first. */
const OLD_NOTAS = `select n.id from notas n where n.tenant = $1 and ${OF_A_REHEARSAL} and n.data_emissao < $2
    and n.id = any (array(select h.id from notas h where h.tenant = $1 order by h.id limit ${STEP_MAX}))
  order by n.id for update skip locked`;

/** Protocols begin with their moment. */
const OLD_LOTES = `select l.protocolo from lotes l where l.tenant = $1 and ${OF_A_REHEARSAL} and l.recebido_em < $2
    and l.protocolo = any (array(select h.protocolo from lotes h where h.tenant = $1 order by h.protocolo limit ${STEP_MAX}))
  order by l.protocolo for update skip locked`;

/** A provider whose notes are still there is registered again with its next note. */
const OLD_PRESTADORES = `delete from prestadores where tenant = $1 and ctid = any (array(select p.ctid from prestadores p
  where p.tenant = $1 and ${OF_A_REHEARSAL} and p.origem = 'dps' and p.criado_em < $2 limit ${STEP_MAX} for update skip locked))`;

async function forgetNotas(client: PoolClient, tenant: string, before: Date): Promise<number> {
  const { rows } = await client.query<{ id: string }>(OLD_NOTAS, [tenant, before]);
  if (rows.length === 0) return 0;
  const notas = rows.map(({ id }) => id);
  const ofNotas = 'delete from eventos where tenant = $1 and nota = any ($2::bigint[]) returning id';
  const eventos = (await client.query<{ id: string }>(ofNotas, [tenant, notas])).rows.map(({ id }) => id);
  for (const table of ['documentos_eventos', 'trilha_eventos']) {
    await client.query(`delete from ${table} where tenant = $1 and evento = any ($2::bigint[])`, [tenant, eventos]);
  }
  for (const table of ['documentos', 'trilha_notas']) {
    await client.query(`delete from ${table} where tenant = $1 and nota = any ($2::bigint[])`, [tenant, notas]);
  }
  await client.query('delete from notas where tenant = $1 and id = any ($2::bigint[])', [tenant, notas]);
  return rows.length;
}

async function forgetLotes(client: PoolClient, tenant: string, before: Date): Promise<number> {
  const { rows } = await client.query<{ protocolo: string }>(OLD_LOTES, [tenant, before]);
  if (rows.length === 0) return 0;
  const lotes = rows.map(({ protocolo }) => protocolo);
  for (const table of ['documentos_lotes', 'lotes_rps', 'lotes']) {
    await client.query(`delete from ${table} where tenant = $1 and protocolo = any ($2::text[])`, [tenant, lotes]);
  }
  return rows.length;
}

async function forgetPrestadores(client: PoolClient, tenant: string, before: Date): Promise<number> {
  return (await client.query(OLD_PRESTADORES, [tenant, before])).rowCount ?? 0;
}
