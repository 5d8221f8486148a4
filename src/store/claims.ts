/**
 * What all that waits for the worker has alike. The row is the job: `due_at` says when it wants attention, `claims` who has it and alone
 * writes its outcome. What differs between notas, eventos and lots stands in their files.
 */
import type { Move } from '../fiscal/machine.ts';
import { type Db, dropNul, ONE_BY_ONE, type Pipelined, rowsReader, runPipeline, writeUnlocked } from './open.ts';
import type { PoolClient } from './pg.ts';
import { planOnce } from './planned.ts';
import { advanceRecepcao, insertCertificados, printOf, type Recebida } from './recepcoes.ts';
import { type ArrayColumn, unnestRows } from './sql.ts';

/** Tables of jobs. */
export const JOBS = ['notas', 'eventos', 'lotes'] as const;
export type Jobs = (typeof JOBS)[number];

/** Columns of a move in the trail; `em` to `para` as SQL. */
type Trailed = Readonly<Record<'em' | 'de' | 'gatilho' | 'para', string>> & {
  readonly mensagem?: string;
  readonly quem?: string;
};

/** Writes the moves of the relation `moved` into the trail of its rows. */
export function trailOf(item: 'nota' | 'evento', trailed: Trailed, moved = 'moved'): string {
  const { em, de, gatilho, para, mensagem = 'null', quem = 'null' } = trailed;
  return `insert into trilha_${item}s (tenant, ${item}, movimento, em, de, gatilho, para, mensagem, quem)
    select $1, id, movimentos, ${em}, ${de}, ${gatilho}, ${para}, ${mensagem}, ${quem} from ${moved}`;
}

/** A move that was made, as the trail has it. */
export type Step<Estado, Trigger> = {
  readonly em: Date;
  readonly de: Estado | null;
  readonly gatilho: Trigger;
  readonly para: Estado;
  readonly mensagem: string | null;
  /** Who made it by hand; null where nobody did, or nobody was told. */
  readonly quem: string | null;
};

/** Reads the moves of a nota or an evento, from the first on. */
export function trailReader<One extends Step<string, string>>(pool: Db, item: 'nota' | 'evento') {
  const text = `select em, de, gatilho, para, mensagem, quem from trilha_${item}s
    where tenant = $1 and ${item} = $2 order by movimento`;
  return rowsReader<One>(pool, planOnce(`trilha_${item}`, text));
}

/** $1 to $4 of a statement that claims. Moments in milliseconds. */
export function claimValues(tenant: string, now: number, token: string, leaseUntil: number): unknown[] {
  return [tenant, new Date(now), token, new Date(leaseUntil)];
}

/** What is to be claimed, and what is answered of it. */
type Claiming = {
  /**
   * Relations of which the last, `due`, has the rows: `id`, where each was `found`, its trigger (`gatilho`), where that leads (`para`), and
   * until when (`ate`).
   */
  readonly due: string;
  /** What is set besides, of the row `t` by `d`, the one that is due, and `known`, the highest reception number. */
  readonly set: readonly string[];
  /** Columns of `t`, `d` and `known` that are answered beside `found`, and those that the answers are ordered by. */
  readonly answers: readonly string[];
  readonly orderBy: readonly string[];
};

/** Moves notas or eventos that are due, and books those that are announced for who asks: one statement, made once. */
export function claimStatement(item: 'nota' | 'evento', { due, set, answers, orderBy }: Claiming): string {
  const names = answers.map((column) => /\w+$/.exec(column)![0]);
  const orders = orderBy.map((column, place) => `${column} as o${place}`);
  return `with ${due}, known as (
      select coalesce((select nsu from recepcoes_adn where tenant = $1), 0) as nsu
    ), moved as (
      update ${item}s t set ${[
        'estado = d.para',
        'due_at = d.ate',
        "claims = case d.gatilho when 'anuncio' then $3::uuid end",
        "tentativas = t.tentativas + (d.gatilho = 'anuncio')::int",
        "nsu_antes = case d.gatilho when 'anuncio' then coalesce(t.nsu_antes, known.nsu) end",
        'movimentos = t.movimentos + 1',
        ...set,
      ].join(', ')}
      from due d, known where t.tenant = $1 and t.id = d.id
      returning t.id, t.movimentos, d.found, d.gatilho, d.para, ${[...answers, ...orders].join(', ')}
    ), trail as (
      ${trailOf(item, { em: '$2', de: 'found', gatilho: 'gatilho', para: 'para' })}
    )
    select id, found, ${names.join(', ')} from moved order by ${orders.map((_order, place) => `o${place}`).join(', ')}`;
}

/** What came of a row that was claimed. */
export type Settlement<Of extends Move = Move> = {
  readonly id: string;
  readonly move: Of;
  /** Milliseconds; undefined exactly when the move's `due` is `never`. */
  readonly dueAt: number | undefined;
  /** What was answered before is forgotten. */
  readonly mensagem_retorno?: string | undefined;
  /** What the ADN holds now: its reception number, and the signature under which it was sent. */
  readonly recebida?: Recebida | undefined;
};

type Settling<One> = {
  /** What a settlement brings besides. */
  readonly columns: readonly ArrayColumn<One>[];
  /** What is set besides, of the row `t` by its settlement `x`. */
  readonly set: readonly string[];
  /** Columns of `moved` besides, and relations that are made of it. */
  readonly returning?: string;
  readonly after?: string;
  /** The message stands in the trail too. */
  readonly isTold: boolean;
  /** Writes the settlements, and what they do to others: before, so that locks are taken in order, or after. */
  readonly write: (
    client: PoolClient,
    settled: { readonly tenant: string; readonly now: number; readonly settlements: readonly One[] },
    settle: () => Promise<number>,
  ) => Promise<Pipelined<number>>;
};

/** Settles notas or eventos that still carry a token, or one of several, by one statement, made once; how many did. */
export function createSettle<One extends Settlement>(pool: Db, item: 'nota' | 'evento', of: Settling<One>) {
  const { columns, set, returning = '', after = '', isTold, write } = of;
  const rows = unnestRows<One>(
    [
      ['id bigint', ({ id }) => id],
      ['de text', ({ move }) => move.from],
      ['gatilho text', ({ move }) => move.on],
      ['para text', ({ move }) => move.to],
      ['due timestamptz', ({ dueAt }) => (dueAt === undefined ? null : new Date(dueAt).toISOString())],
      ['mensagem text', ({ mensagem_retorno }) => dropNul(mensagem_retorno)],
      ['nsu bigint', ({ recebida }) => recebida?.nsu ?? null],
      ['assinatura bytea', ({ recebida }) => recebida?.assinatura?.valor ?? null],
      ['certificado bytea', ({ recebida }) => recebida?.assinatura && printOf(recebida.assinatura.certificado)],
      ...columns,
    ],
    4,
  );
  const mensagem = isTold ? 'mensagem' : 'null';
  const statement = planOnce(
    `settle_${item}s`,
    `with moved as (
      update ${item}s t set ${[
        'estado = x.para',
        'due_at = x.due',
        'claims = null',
        'mensagem_retorno = x.mensagem',
        'nsu_recepcao = coalesce(x.nsu, t.nsu_recepcao)',
        'assinatura = coalesce(x.assinatura, t.assinatura)',
        'certificado = coalesce(x.certificado, t.certificado)',
        'movimentos = t.movimentos + 1',
        ...set,
      ].join(', ')}
      from ${rows.relation}
      ${ONE_BY_ONE} and t.tenant = $1 and t.id = x.id and t.claims = any ($2::uuid[]) and t.estado = x.de
      returning t.id, t.movimentos, x.de, x.gatilho, x.para, x.mensagem${returning}
    ), trail as (
      ${trailOf(item, { em: '$3', de: 'de', gatilho: 'gatilho', para: 'para', mensagem })}
    )${after}
    select count(*)::int as settled from moved`,
  );
  return (tenant: string, tokens: string | readonly string[], now: number, all: readonly One[]): Promise<number> =>
    writeUnlocked(all, (settlements, options) => {
      const received = settlements.map(({ recebida }) => recebida);
      const values = [tenant, [tokens].flat(), new Date(now), ...rows.valuesOf(settlements)];
      return runPipeline(
        pool,
        async (client) => {
          const inserted = insertCertificados(client, tenant, received);
          const settle = async (): Promise<number> =>
            (await client.query<{ settled: number }>(statement(values))).rows[0]!.settled;
          const [{ result, writes }] = await Promise.all([
            write(client, { tenant, now, settlements }, settle),
            ...inserted,
          ]);
          return { result, writes: [...writes, ...advanceRecepcao(client, tenant, received)] };
        },
        options,
      );
    });
}
