/** The worker's side of the lots: claims a due one, and issues it with its notes, refuses it, or gives it back. */
import { randomUUID } from 'node:crypto';
import { insertRegistradas } from '../../base/book/auditoria-entradas.ts';
import type { Folha } from '../../base/book/auditoria-hash.ts';
import { isOfTipo, leaseDue, type Ref } from '../../base/book/fila.ts';
import type { OnStored } from '../../base/book/recent.ts';
import { type Db, runPipeline, writeAlone } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { planMonthly } from '../../base/pg/planned.ts';
import { quoteWords } from '../../base/pg/sql.ts';
import type { Traced } from '../../base/traces/traces.ts';
import type { Mensagem } from '../../fiscal/abrasf/mensagens.ts';
import { mesOfChave } from '../../fiscal/chave.ts';
import { LOTE_MOVES, LOTE_SITUACAO, type LoteMove, type LoteSituacao, type LoteTrigger } from '../../fiscal/lote.ts';
import { movesTo } from '../../fiscal/machine.ts';
import { NOTA_FINAIS } from '../../fiscal/nota.ts';
import { type Issuance, type IssueResult, issueTogether, transmissible } from '../notas/issue.rows.ts';

export type ClaimedLote = Ref &
  Traced & {
    readonly token: string;
    readonly protocolo: string;
    /** `processado`: its notes are issued, and the notes that they replace wait for their cancellation. */
    readonly situacao: LoteSituacao;
    readonly tentativas: number;
    readonly recebido_em: Date;
    readonly simular: string | null;
    /** Id of the request that brought the lot; null: the lot is older than this column. */
    readonly requisicao: string | null;
    readonly recebido: Buffer;
  };

/** Keys of the notes to be replaced that were already replaced or cancelled before the lot. */
type Substituidas = { readonly substituidas: readonly string[] };

type Held = Pick<ClaimedLote, 'id' | 'token'>;

export function loteClaims(pool: Db, onStored: OnStored) {
  const move = (text: string, tenant: string, { id, token }: Held, ...values: unknown[]): Promise<void> =>
    runPipeline(pool, async (client) => {
      // A lot whose claim another worker took meanwhile gets no entry in the chain.
      const { rowCount } = await client.query(text, [tenant, id, token, ...values]);
      return { result: undefined, writes: rowCount === 1 ? [tellLote(client, tenant, id)] : [] };
    });
  return {
    /** Claims the lot that has waited longest, under a new token. */
    claim: async (
      tenant: string,
      now: number,
      leaseUntil: number,
      token: string = randomUUID(),
    ): Promise<ClaimedLote | undefined> => {
      const [leased] = await leaseDue(pool, tenant, 'lote', { now, token, until: leaseUntil, max: 1 });
      if (leased === undefined) return undefined;
      const { id, mes, tentativas, traceparent } = leased;
      type Row = Pick<ClaimedLote, 'protocolo' | 'situacao' | 'recebido_em' | 'simular' | 'requisicao' | 'recebido'>;
      const { rows } = await pool.query<Row>(CLAIMED([tenant, mes, id]));
      return rows[0] && { ...rows[0], id, mes, tentativas, token, traceparent };
    },
    /**
     * Issues all notes of a claimed lot, in its order, or none, and then each has its result. `lost`: the claim had ended. `replaces`: some
     * notes replace others, and the lot is due once more.
     */
    issue: issueLote.bind(null, pool, onStored),
    /** Ends a claimed lot without remaining work. */
    finish: (tenant: string, lote: Held): Promise<void> => move(FINISH, tenant, lote),
    /** Gives a claimed lot back, and delays all due lots of its provider until a moment. */
    defer: async (tenant: string, { id, token }: Held, until: number): Promise<void> => {
      await writeAlone(pool, { text: DEFER, values: [tenant, id, token, new Date(until)] });
    },
    /** Ends a claimed lot with its messages. */
    refuse: (tenant: string, lote: Held, mensagens: readonly Mensagem[], now: number): Promise<void> =>
      move(REFUSE, tenant, lote, new Date(now), JSON.stringify(mensagens)),
  };
}

const CLAIMED = planMonthly(
  'claimed_lote',
  `select l.protocolo, l.situacao, l.recebido_em, l.simular, l.requisicao, d.recebido from lotes l
    join documentos_lotes d on d.tenant = $1 and d.mes = $2 and d.lote = l.id
    where l.tenant = $1 and l.id = $3`,
);

/** The row of a lot ($2) in the queue with its token ($3): a worker without the claim writes nothing. */
const HELD = `f.tenant = $1 and ${isOfTipo('lote')} and f.id = $2 and f.claims = $3`;
const RESTED = `delete from fila f where ${HELD}`;

/** A move of a held lot, in the state that `held` leaves. */
function moveStatement(on: LoteTrigger, held: string, set = ''): string {
  const { from, to, due } = movesTo<LoteMove>(LOTE_MOVES, on);
  return `with held as (${held} returning f.id)
    update lotes l set situacao = ${LOTE_SITUACAO[to]}, aberto = ${due !== 'never'}${set} from held
    where l.tenant = $1 and l.id = held.id
      and l.situacao in (${from.map((estado) => LOTE_SITUACAO[estado]).join(', ')})`;
}

const FINISH = moveStatement('conclusao', RESTED);
const REFUSE = moveStatement('recusa', RESTED, ', processado_em = $4, mensagens = $5');
const ISSUE = moveStatement('emissao', RESTED, ', processado_em = $4');
const ISSUE_REPLACING = moveStatement(
  'substituicao',
  `update fila f set due_at = $4, claims = null, tentativas = 0 where ${HELD}`,
  ', processado_em = $4',
);

/**
 * An attempt that failed for a reason outside the lot is not counted. All due lots of its provider wait with it. The lookup goes from the
 * queue to each lot's provider, since a provider may have many more finished lots.
 */
const DEFER = `with own as (
    update fila f set due_at = $4, claims = null, tentativas = f.tentativas - 1 where ${HELD} returning f.id
  )
  update fila w set due_at = $4 from lotes l
  where w.tenant = $1 and w.tipo = 'lote' and w.due_at < $4 and w.claims is null
    and l.tenant = $1 and l.id = w.id and l.situacao = ${LOTE_SITUACAO.recebido}
    and l.prestador || '' = (select o.prestador from own join lotes o on o.tenant = $1 and o.id = own.id)`;

/**
 * The notes to be replaced that are cancelled, or that another valid note of the party replaces. The provider's sequence is locked then, so
 * that no other note of it is being issued.
 */
const REPLACED_BEFORE = `select x.chave from unnest($2::text[], $3::int[]) as x (chave, mes)
  where exists (select 1 from notas n
      where n.tenant = $1 and n.mes = x.mes and n.chave_acesso = x.chave and n.estado = 'cancelada')
    or exists (select 1 from substituicoes s join notas n on n.tenant = $1 and n.mes = s.mes and n.id = s.nota
      where s.tenant = $1 and s.substituida = x.chave and n.estado not in (${quoteWords(NOTA_FINAIS)})
        and s.nota <> all($4::bigint[]))`;

async function issueLote(
  pool: Db,
  onStored: OnStored,
  tenant: string,
  { id, token }: Held,
  issuances: readonly Issuance[],
  { now, replaces }: { readonly now: number; readonly replaces: boolean },
): Promise<'issued' | 'lost' | { readonly results: readonly IssueResult[] } | Substituidas> {
  type Obstacle = 'lost' | Substituidas;
  const issued = await issueTogether<Obstacle>(pool, tenant, issuances, async (client, rows) => {
    const { rowCount } = await client.query(replaces ? ISSUE_REPLACING : ISSUE, [tenant, id, token, new Date(now)]);
    if (rowCount !== 1) return 'lost';
    const notas = rows.map((row) => String(row.id));
    const replaced = rows.flatMap(({ nota }) => nota.substitui ?? []);
    if (replaced.length > 0) {
      const values = [tenant, replaced, replaced.map(mesOfChave), notas];
      const before = await client.query<{ chave: string }>(REPLACED_BEFORE, values);
      if (before.rows.length > 0) return { substituidas: before.rows.map(({ chave }) => chave) };
    }
    const places = rows.map((_row, place) => place);
    const linked = client.query(LINK, [tenant, id, places, notas, rows.map(({ mes }) => mes)]);
    const told = insertRegistradas(client, tenant, 'lotes_rps', { which: 't.lote = $6::bigint', values: [id] });
    await Promise.all([linked, told, tellLote(client, tenant, id)]);
    return undefined;
  });
  if (issued === 'lost' || !('rows' in issued)) return issued;
  onStored(tenant, transmissible(issued.rows));
  return 'issued';
}

/** Records the state of a lot in the audit chain, with further leaves. */
export function tellLote(
  client: PoolClient,
  tenant: string,
  id: string,
  besides: readonly Folha[] = [],
): Promise<void> {
  return insertRegistradas(client, tenant, 'lotes', { which: 't.id = $6::bigint', values: [id] }, besides);
}

/** The note of each RPS. */
const LINK = `update lotes_rps r set nota = x.nota, mes_nota = x.mes
  from unnest($3::int[], $4::bigint[], $5::int[]) as x (ordem, nota, mes)
  where r.tenant = $1 and r.lote = $2 and r.ordem = x.ordem`;
