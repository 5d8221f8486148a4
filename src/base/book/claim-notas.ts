/** The worker's side of the notas: claiming due notas, and storing the outcome. */
import { randomUUID } from 'node:crypto';
import { movesTo } from '../../fiscal/machine.ts';
import { NOTA_MOVES, type NotaEstado, type NotaMove } from '../../fiscal/nota.ts';
import { asArrays, planMergeableMonthly } from '../pg/mergeable.ts';
import { type Db, ONE_BY_ONE } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { planOnce } from '../pg/planned.ts';
import { quoteWords } from '../pg/sql.ts';
import { sharedOf } from '../pg/together.ts';
import type { Traced } from '../traces/traces.ts';
import { createSettle, insertTrail, returningEstado, type Settlement, type Standing } from './claims.ts';
import { groupByMes, isOfTipo, type Leased, leaseDue } from './fila.ts';
import { followRefusal, insertRecusadas, moveWaitingEventos } from './follow-nota.ts';
import type { NotaRow } from './nota-columns.ts';
import { isKeyOfSameParty } from './substituicao.ts';

/** A nota that the worker holds for a while. */
export type ClaimedNota = Pick<NotaRow, 'id' | 'mes' | 'chave_acesso' | 'id_dps' | 'simular' | 'data_emissao'> &
  Traced & {
    /** The state in which it was found. A nota that was already announced is asked about before it is sent again. */
    readonly found: NotaEstado;
    readonly tentativas: number;
    /** A lower bound of its reception number: the highest number known at the first announcement, or the end of the last search. */
    readonly nsu_antes: string;
    /** The highest reception number that is known now. */
    readonly nsu_agora: string;
    /** Key of the nota that it replaces; null also if that nota belongs to another party. */
    readonly substitui: string | null;
  };

export type Claim = { readonly token: string; readonly notas: readonly ClaimedNota[] };

/** Permission to announce notas, and so to claim them, as they are stored. The claim has a token, a beginning and an end (milliseconds). */
export type Announcement = { readonly token: string; readonly at: number; readonly until: number };

/** Called before so many notas of a tenant are stored. Undefined: nothing would send them at once, and they become due. */
export type Announce = (tenant: string, notas: number) => Announcement | undefined;

/** A claim that began as its notas were stored. `nsu`: the highest reception number known then. */
export type AnnouncedClaim = Pick<Announcement, 'token' | 'at'> & {
  readonly nsu: string;
  readonly notas: readonly Pick<
    ClaimedNota,
    'id' | 'mes' | 'chave_acesso' | 'id_dps' | 'data_emissao' | 'traceparent'
  >[];
};

/** The same notas in the form of a normal claim of due notas. */
export function claimedNotas({ nsu, notas }: AnnouncedClaim): readonly ClaimedNota[] {
  const same = {
    found: 'emitida',
    tentativas: 1,
    nsu_antes: nsu,
    nsu_agora: nsu,
    simular: null,
    substitui: null,
  } as const;
  return notas.map((nota) => ({ ...nota, ...same }));
}

export type NotaSettlement = Settlement<NotaMove> & {
  /** Reception number up to which a search found nothing. The next search begins there, in any process. */
  readonly lugar?: string | undefined;
};

const { from: ANNOUNCED_FROM, to: ANNOUNCED } = movesTo<NotaMove>(NOTA_MOVES, 'anuncio');

/**
 * Announces notas of a month that were taken from the queue, except those that another process holds. Returns the state in which each
 * was found.
 */
const ANNOUNCE = planMergeableMonthly<string>(
  'announce_notas',
  asArrays([['id bigint', (id) => id]]),
  ({ rows, tenant, mes, isOfSeveral }) => `with found as (
    select n.tenant, n.id, n.estado, coalesce((select r.nsu from recepcoes_adn r where r.tenant = ${tenant}), 0) as nsu
    from ${rows} join notas n on n.tenant = ${tenant} and n.mes = ${mes} and n.id = x.id
      ${ONE_BY_ONE} and n.estado in (${quoteWords(ANNOUNCED_FROM)})
    for no key update of n skip locked
  )
  update notas t set estado = '${ANNOUNCED}', nsu_antes = coalesce(t.nsu_antes, found.nsu), movimentos = t.movimentos + 1
  from found where t.tenant = ${isOfSeveral ? 'found.tenant' : tenant} and t.mes = ${mes} and t.id = found.id
  returning t.tenant, t.id, t.mes, t.movimentos, found.estado as found, t.chave_acesso, t.id_dps, t.nsu_antes, found.nsu as nsu_agora,
    t.simular, t.substitui, t.data_emissao, ${returningEstado('nota', 't')}`,
);

/** Puts rows back into the queue that were taken and not announced. Their attempt is not counted. */
const GIVE_BACK = planOnce(
  'give_notas_back',
  `update fila f set due_at = $3, claims = null, tentativas = f.tentativas - 1 from unnest($2::bigint[]) as x (id)
  ${ONE_BY_ONE} and f.tenant = $1 and ${isOfTipo('nota')} and f.id = x.id`,
);

/**
 * Claims notas that were announced before and are held by no process. A nota whose search must begin the earliest comes first. An announced
 * nota has at least one attempt, so a backlog of untried notas is not read.
 */
const LEASE_ANUNCIADAS = planOnce(
  'lease_anunciadas',
  `with due as (
    select f.id from fila f cross join lateral (
      select n.nsu_antes from notas n where n.tenant = $1 and n.mes = f.mes and n.id = f.id and n.estado = '${ANNOUNCED}' offset 0
    ) n
    where f.tenant = $1 and f.tipo = 'nota' and f.tentativas > 0 and (f.claims is null or (f.due_at <= $2 and f.claims <> $3))
    order by n.nsu_antes limit $5 for update of f skip locked
  )
  update fila f set claims = $3, due_at = $4, tentativas = f.tentativas + 1
  from due where f.tenant = $1 and ${isOfTipo('nota')} and f.id = due.id returning f.id, f.mes, f.tentativas, f.traceparent`,
);

type Announced = Omit<ClaimedNota, 'tentativas' | 'traceparent'> &
  Standing & { readonly tenant: string; readonly movimentos: number };

/**
 * Takes notas from the queue and announces their sending, in one commit. A nota that another process holds delays no other, and stays due.
 */
function claimNotas(
  pool: Db,
  tenant: string,
  now: number,
  lease: (client: PoolClient) => Promise<readonly Leased[]>,
): Promise<readonly ClaimedNota[]> {
  return sharedOf(pool).run(tenant, async (client) => {
    const leased = await lease(client);
    const queued = new Map(leased.map((row) => [row.id, row]));
    const announced = await Promise.all(
      [...groupByMes(leased)].map(async ([mes, ofMes]) => {
        const ids = ofMes.map(({ id }) => id);
        return (await client.query<Announced>(ANNOUNCE(tenant, mes, ids))).rows;
      }),
    );
    const rows = announced.flat().sort((one, other) => Number(BigInt(one.id) - BigInt(other.id)));
    const moves = rows.map(({ id, mes, movimentos, found, dito }) => ({
      ...{ id, mes, movimento: movimentos, em: now, dito, traceparent: queued.get(id)!.traceparent },
      ...{ de: found, gatilho: 'anuncio', para: ANNOUNCED },
    }));
    const result = rows.map(({ tenant: _own, movimentos: _moved, dito: _told, substitui, ...nota }) => ({
      ...nota,
      tentativas: queued.get(nota.id)!.tentativas,
      traceparent: queued.get(nota.id)!.traceparent,
      substitui: substitui !== null && isKeyOfSameParty(nota.chave_acesso, substitui) ? substitui : null,
    }));
    const announcedIds = new Set(rows.map(({ id }) => id));
    const left = leased.flatMap(({ id }) => (announcedIds.has(id) ? [] : [id]));
    const givenBack = left.length === 0 ? [] : [client.query(GIVE_BACK([tenant, left, new Date(now)]))];
    return { result, writes: [insertTrail(client, tenant, 'nota', moves), ...givenBack] };
  });
}

export function notaClaims(pool: Db) {
  return {
    /** Takes due notas under a token of its own and announces the sending, in one commit. */
    claim: async (
      tenant: string,
      now: number,
      leaseUntil: number,
      max: number,
      token: string = randomUUID(),
    ): Promise<Claim> => {
      const lease = { now, token, until: leaseUntil, max };
      const notas = await claimNotas(pool, tenant, now, (client) => leaseDue(client, tenant, 'nota', lease));
      return { token, notas };
    },
    /** Takes all other announced notas that no process holds, under the same token. One query of the ADN's receptions serves them all. */
    claimAnunciadas: (
      tenant: string,
      token: string,
      now: number,
      leaseUntil: number,
      max: number,
    ): Promise<readonly ClaimedNota[]> => {
      const values = [tenant, new Date(now), token, new Date(leaseUntil), max];
      return claimNotas(
        pool,
        tenant,
        now,
        async (client) => (await client.query<Leased>(LEASE_ANUNCIADAS(values))).rows,
      );
    },
    /** Stores the outcome of the notas that still carry the token; returns their number. */
    settle: createSettle<NotaSettlement, Pick<NotaRow, 'id_dps' | 'chave_acesso'>>(pool, 'nota', {
      columns: [['lugar bigint', ({ lugar }) => lugar ?? null]],
      set: [
        "data_autorizacao = case when x.gatilho = 'autorizacao' then x.agora else t.data_autorizacao end",
        'nsu_antes = greatest(t.nsu_antes, x.lugar)',
      ],
      returning: ['t.id_dps', 't.chave_acesso'],
      beside: (client, { tenant, now, settlements }) =>
        moveWaitingEventos(
          client,
          tenant,
          now,
          settlements.map(({ id, mes, move }) => ({ id, mes, estado: move.to })),
        ),
      after: async (client, { tenant, now }, moved) => {
        const refused = moved.filter(({ para }) => para === ('recusada' satisfies NotaEstado));
        return [...followRefusal(client, tenant, now, refused), ...insertRecusadas(client, tenant, now, refused)];
      },
    }),
  };
}
