/** The worker's side of the lots: taking one that is due, and issuing it with its notes, refusing it, or giving it back. */
import { randomUUID } from 'node:crypto';
import type { Mensagem } from '../fiscal/abrasf/mensagens.ts';
import { LOTE_MOVES, LOTE_SITUACAO, type LoteMove, type LoteSituacao, type LoteTrigger } from '../fiscal/lote.ts';
import { movesTo } from '../fiscal/machine.ts';
import { NOTA_FINAIS } from '../fiscal/nota.ts';
import { claimValues } from './claims.ts';
import { type Issuance, type IssueResult, issueTogether, transmissible } from './issue-notas.ts';
import { type Db, writeAlone } from './open.ts';
import type { OnStored } from './recent.ts';
import { quoteWords } from './sql.ts';
import { replacesOwn } from './substituicao.ts';

export type ClaimedLote = {
  readonly token: string;
  readonly protocolo: string;
  /** `processado`: its notes are issued, and those that they replace are to be cancelled. */
  readonly situacao: LoteSituacao;
  readonly tentativas: number;
  readonly recebido_em: Date;
  readonly simular: string | null;
  readonly recebido: Buffer;
};

/** Notes that a lot would replace and that somebody replaced, or cancelled, before it, by their keys. */
type Substituidas = { readonly substituidas: readonly string[] };

type Held = Pick<ClaimedLote, 'protocolo' | 'token'>;

export function loteClaims(pool: Db, onStored: OnStored) {
  const move = async (
    text: string,
    tenant: string,
    { protocolo, token }: Held,
    ...values: unknown[]
  ): Promise<void> => {
    await writeAlone(pool, { text, values: [tenant, protocolo, token, ...values] });
  };
  return {
    /** Takes the lot that has waited longest under a token of one's own. */
    claim: async (
      tenant: string,
      now: number,
      leaseUntil: number,
      token: string = randomUUID(),
    ): Promise<ClaimedLote | undefined> => {
      const { rows } = await pool.query<Omit<ClaimedLote, 'token'>>(CLAIM, claimValues(tenant, now, token, leaseUntil));
      return rows[0] && { ...rows[0], token };
    },
    /**
     * Issues all notes of a claimed lot, in its order, or none: then each has its result. `lost`: the claim had ended. `replaces`: some
     * notes replace others, and the lot is due once more.
     */
    issue: issueLote.bind(null, pool, onStored),
    /** Ends a claimed lot of which nothing is left to do. */
    finish: (tenant: string, lote: Held): Promise<void> => move(FINISH, tenant, lote, null),
    /** Gives a claimed lot back, with all of its provider that are due: none of them is tried before a moment. */
    defer: (tenant: string, lote: Held, until: number): Promise<void> => move(DEFER, tenant, lote, new Date(until)),
    /** Ends a claimed lot with its messages. */
    refuse: (tenant: string, lote: Held, mensagens: readonly Mensagem[], now: number): Promise<void> =>
      move(REFUSE, tenant, lote, null, new Date(now), JSON.stringify(mensagens)),
  };
}

const CLAIM = `with due as (
    select protocolo from lotes where tenant = $1 and due_at <= $2 order by due_at limit 1 for update skip locked
  ), moved as (
    update lotes l set claims = $3, due_at = $4, tentativas = l.tentativas + 1
    from due where l.tenant = $1 and l.protocolo = due.protocolo
    returning l.protocolo, l.situacao, l.tentativas, l.recebido_em, l.simular
  )
  select m.protocolo, m.situacao, m.tentativas, m.recebido_em, m.simular, d.recebido from moved m
    join documentos_lotes d on d.tenant = $1 and d.protocolo = m.protocolo`;

/** A move of a lot ($2) that still carries the token ($3); it is due at $4. */
function moveStatement(on: LoteTrigger, set = ''): string {
  const { from, to } = movesTo<LoteMove>(LOTE_MOVES, on);
  return `update lotes set situacao = ${LOTE_SITUACAO[to]}, due_at = $4, claims = null${set}
    where tenant = $1 and protocolo = $2 and claims = $3
      and situacao in (${from.map((estado) => LOTE_SITUACAO[estado]).join(', ')})`;
}

const FINISH = moveStatement('conclusao');
const REFUSE = moveStatement('recusa', ', processado_em = $5, mensagens = $6');
const ISSUE = moveStatement('emissao', ', processado_em = $5, tentativas = 0');
const ISSUE_REPLACING = moveStatement('substituicao', ', processado_em = $5, tentativas = 0');

/** An attempt that came to nothing of its own is not counted. All that are due of its provider wait with it. */
const DEFER = `with own as (
    ${moveStatement('adiamento', ', tentativas = tentativas - 1')} returning prestador
  )
  update lotes l set due_at = $4 from own
  where l.tenant = $1 and l.due_at < $4 and l.prestador = own.prestador and l.claims is null
    and l.situacao = ${LOTE_SITUACAO.recebido}`;

/**
 * Of the notes to be replaced, those that are cancelled, or that another standing note of the party replaces. The provider's numbers are
 * locked then: no other note of it is being issued.
 */
const REPLACED_BEFORE = `select x.chave from unnest($2::text[]) as x (chave)
  where exists (select 1 from notas n where n.tenant = $1 and n.chave_acesso = x.chave and n.estado = 'cancelada')
    or exists (select 1 from notas n where n.tenant = $1 and n.substitui = x.chave and ${replacesOwn('n')}
      and n.estado not in (${quoteWords(NOTA_FINAIS)}) and n.id <> all($3::bigint[]))`;

async function issueLote(
  pool: Db,
  onStored: OnStored,
  tenant: string,
  { protocolo, token }: Held,
  issuances: readonly Issuance[],
  { now, replaces }: { readonly now: number; readonly replaces: boolean },
): Promise<'issued' | 'lost' | { readonly results: readonly IssueResult[] } | Substituidas> {
  type Obstacle = 'lost' | Substituidas;
  const issued = await issueTogether<Obstacle>(pool, tenant, issuances, async (client, rows) => {
    const at = new Date(now);
    const text = replaces ? ISSUE_REPLACING : ISSUE;
    const { rowCount } = await client.query(text, [tenant, protocolo, token, replaces ? at : null, at]);
    if (rowCount !== 1) return 'lost';
    const ids = rows.map(({ id }) => String(id));
    const replaced = rows.flatMap(({ nota }) => nota.substitui ?? []);
    if (replaced.length > 0) {
      const before = await client.query<{ chave: string }>(REPLACED_BEFORE, [tenant, replaced, ids]);
      if (before.rows.length > 0) return { substituidas: before.rows.map(({ chave }) => chave) };
    }
    await client.query(LINK, [tenant, protocolo, rows.map((_row, place) => place), ids]);
    return undefined;
  });
  if (issued === 'lost' || !('rows' in issued)) return issued;
  onStored(tenant, transmissible(issued.rows));
  return 'issued';
}

/** The note of each RPS. */
const LINK = `update lotes_rps r set nota = x.nota from unnest($3::int[], $4::bigint[]) as x (ordem, nota)
  where r.tenant = $1 and r.protocolo = $2 and r.ordem = x.ordem`;
