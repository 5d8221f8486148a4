/** The worker's side of the notas: taking what is due, and writing what came of it. */
import { randomUUID } from 'node:crypto';
import type { NotaEstado, NotaMove } from '../fiscal/nota.ts';
import { claimStatement, claimValues, createSettle, type Settlement } from './claims.ts';
import { moveWaitingEventos, wakeSubstitutas } from './follow-nota.ts';
import type { NotaRow } from './nota-columns.ts';
import type { Db } from './open.ts';
import { type Planned, planOnce } from './planned.ts';
import { replacesOwn } from './substituicao.ts';

/** A nota that the worker holds for a while. */
export type ClaimedNota = Pick<NotaRow, 'id' | 'chave_acesso' | 'id_dps' | 'simular' | 'data_emissao'> & {
  /** Where it was found: a nota that was already announced is asked about before it is sent again. */
  readonly found: NotaEstado;
  readonly tentativas: number;
  /** A reception number above which its own is: the highest known when it was first announced, or what was looked through since. */
  readonly nsu_antes: string;
  /** The highest that is known now. */
  readonly nsu_agora: string;
  /** Key of the nota that it replaces; null also where that is another party's. */
  readonly substitui: string | null;
};

export type Claim = { readonly token: string; readonly notas: readonly ClaimedNota[] };

/** Leave to announce notas as they are stored, and so to claim them: by a token, from a moment to another (milliseconds). */
export type Announcement = { readonly token: string; readonly at: number; readonly until: number };

/** Asked before so many notas of a tenant are stored; undefined: nobody would send them at once, and they become due. */
export type Announce = (tenant: string, notas: number) => Announcement | undefined;

/** A claim that began as its notas were stored. `nsu`: the highest reception number known then. */
export type AnnouncedClaim = Pick<Announcement, 'token' | 'at'> & {
  readonly nsu: string;
  readonly notas: readonly Pick<ClaimedNota, 'id' | 'chave_acesso' | 'id_dps' | 'data_emissao'>[];
};

/** The same notas as if they had been claimed when they were due. */
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
  /** Reception number up to which it was looked for in vain: the next look begins there, whoever takes it. */
  readonly lugar?: string | undefined;
};

/** `taken`: the rows to be claimed. */
const claimNotasStatement = (taken: string): string =>
  claimStatement('nota', {
    due: `due as (
      select id, estado as found, 'anuncio' as gatilho, 'transmitida' as para, $4::timestamptz as ate
      from notas where tenant = $1 and ${taken} limit $5 for update skip locked
    )`,
    set: [],
    answers: [
      't.chave_acesso',
      't.id_dps',
      't.tentativas',
      't.nsu_antes',
      'known.nsu as nsu_agora',
      't.simular',
      `case when ${replacesOwn('t')} then t.substitui end as substitui`,
      't.data_emissao',
    ],
    orderBy: ['t.id'],
  });

const CLAIM_DUE = planOnce('claim_notas', claimNotasStatement('due_at <= $2 order by due_at'));
const CLAIM_ANUNCIADAS = planOnce(
  'claim_anunciadas',
  claimNotasStatement(
    `due_at is not null and estado = 'transmitida' and (claims is null or (due_at <= $2 and claims <> $3)) order by nsu_antes`,
  ),
);

export function notaClaims(pool: Db) {
  const claim = async (statement: Planned, values: unknown[], max: number): Promise<readonly ClaimedNota[]> =>
    (await pool.query<ClaimedNota>(statement([...values, max]))).rows;
  return {
    /** Takes due notas under a token of one's own and announces the sending, in one commit. */
    claim: async (
      tenant: string,
      now: number,
      leaseUntil: number,
      max: number,
      token: string = randomUUID(),
    ): Promise<Claim> => ({
      token,
      notas: await claim(CLAIM_DUE, claimValues(tenant, now, token, leaseUntil), max),
    }),
    /** Takes under the same token all else that was announced and nobody holds: one look at what the ADN received is for all. */
    claimAnunciadas: (
      tenant: string,
      token: string,
      now: number,
      leaseUntil: number,
      max: number,
    ): Promise<readonly ClaimedNota[]> => claim(CLAIM_ANUNCIADAS, claimValues(tenant, now, token, leaseUntil), max),
    /** Writes the outcome of the notas that still carry the token; returns how many did. */
    settle: createSettle<NotaSettlement>(pool, 'nota', {
      columns: [['lugar bigint', ({ lugar }) => lugar ?? null]],
      set: [
        "data_autorizacao = case when x.gatilho = 'autorizacao' then $3 else t.data_autorizacao end",
        'nsu_antes = greatest(t.nsu_antes, x.lugar)',
      ],
      isTold: false,
      write: async (client, { tenant, now, settlements }, settle) => {
        const decided = settlements.map(({ id, move }) => ({ id, estado: move.to }));
        const refused = decided.filter(({ estado }) => estado === 'recusada').map(({ id }) => id);
        const [result, moved] = await Promise.all([settle(), moveWaitingEventos(client, tenant, now, decided)]);
        return { result, writes: [...moved, ...wakeSubstitutas(client, tenant, now, refused)] };
      },
    }),
  };
}
