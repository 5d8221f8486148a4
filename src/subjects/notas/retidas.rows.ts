/**
 * Notas that wait for a rate: which of them a newer table may release, and their outcomes.
 *
 * A held nota is not claimed: its outcome follows from the table alone, and a second worker finds it already moved. A nota that stays keeps
 * the number of the last table that was tried.
 */

import { insertEntrada, insertRegistradas } from '../../base/book/auditoria-entradas.ts';
import { folhasOfStanding, insertTrail, returningEstado, type Standing, type Trailed } from '../../base/book/claims.ts';
import { enqueue, groupByMes, type Ref } from '../../base/book/fila.ts';
import { followRefusal, insertRecusadas, moveWaitingEventos } from '../../base/book/follow-nota.ts';
import type { NotaRow } from '../../base/book/nota-columns.ts';
import {
  type Db,
  dropNul,
  ONE_BY_ONE,
  runPipeline,
  type TransactionOptions,
  writeUnlocked,
} from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { type Planned, planMonthly } from '../../base/pg/planned.ts';
import type { Traced } from '../../base/traces/traces.ts';
import { movesTo } from '../../fiscal/machine.ts';
import { NOTA_MOVES, type NotaMove } from '../../fiscal/nota.ts';

/** The received bytes, and the note without the missing group. */
export type NotaRetida = Pick<NotaRow, 'id' | 'mes' | 'chave_acesso'> &
  Traced & {
    readonly recebido: Buffer;
    readonly nfse: Buffer;
  };

/** The outcome of a nota: its document, IBS and CBS (decimal texts), the reason for its end, or the reason for further waiting. */
export type SaidaDeRetida = Ref &
  (
    | { readonly nfse: string; readonly ibs: string; readonly cbs: string }
    | { readonly recusa: string }
    | { readonly espera: string }
  );

/** The version of the table and the program that judged the notas; the move records the program. */
type JulgadasPor = { readonly tabela: number; readonly programa: string | undefined };

/** Notas that wait for rates. `desde`: issue of the oldest; `motivos`: each reason with its number of notas. */
type Retidas = {
  readonly notas: number;
  /** Milliseconds. */
  readonly desde: number;
  readonly motivos: readonly { readonly mensagem: string; readonly notas: number }[];
};

export function notaRetidaStore(pool: Db) {
  return {
    /** Notas that were judged by an older table, the oldest first. */
    list: async (tenant: string, versao: number, max: number): Promise<readonly NotaRetida[]> => {
      const text = `select n.id, n.mes, n.chave_acesso, r.traceparent, d.recebido, d.nfse from (select nota, mes, traceparent from retidas
          where tenant = $1 and tabela_aliquotas < $2 order by tabela_aliquotas, nota limit $3) r
        join notas n on n.tenant = $1 and n.mes = r.mes and n.id = r.nota
        join documentos d on d.tenant = $1 and d.mes = r.mes and d.nota = r.nota order by n.id`;
      return (await pool.query<NotaRetida>(text, [tenant, versao, max])).rows;
    },
    /** Writes the outcomes of notas that were judged by an older table, and returns how many were written. */
    release: (tenant: string, now: number, por: JulgadasPor, saidas: readonly SaidaDeRetida[]): Promise<number> =>
      writeUnlocked(saidas, (some, options) => release(pool, tenant, now, por, some, options)),
    /** Undefined: no nota waits. */
    count: async (tenant: string): Promise<Retidas | undefined> => {
      const text = `select n.mensagem_retorno as mensagem, count(*)::int as notas, min(n.data_emissao) as desde
        from retidas r join notas n on n.tenant = $1 and n.mes = r.mes and n.id = r.nota
        where r.tenant = $1 group by n.mensagem_retorno order by 2 desc, 1`;
      const { rows } = await pool.query<{ mensagem: string; notas: number; desde: Date }>(text, [tenant]);
      if (rows.length === 0) return undefined;
      return {
        notas: rows.reduce((total, { notas }) => total + notas, 0),
        desde: Math.min(...rows.map(({ desde }) => +desde)),
        motivos: rows.map(({ mensagem, notas }) => ({ mensagem, notas })),
      };
    },
  };
}

/** Notas of a month ($2) that an older table ($3) holds, with the value to write; rows locked by others are skipped. */
const heldWith = (type: string): string => `held as (
    select x.id, x.valor, r.traceparent from unnest($4::bigint[], $5::${type}[]) as x (id, valor)
      join retidas r on r.tenant = $1 and r.nota = x.id and r.tabela_aliquotas < $3
      join notas n on n.tenant = $1 and n.mes = $2 and n.id = x.id
    ${ONE_BY_ONE} for update of r, n skip locked
  )`;
const ofHeld = (more = ''): string => `from held x${more} where n.tenant = $1 and n.mes = $2 and n.id = x.id
  returning n.id, n.mes, n.movimentos, n.id_dps, n.chave_acesso, x.traceparent, ${returningEstado('nota', 'n')}`;
const GONE = 'gone as (delete from retidas r using held x where r.tenant = $1 and r.nota = x.id)';

const RELEASE = `with ${heldWith('bytea')}, ${GONE}, written as (
    update documentos d set nfse = x.valor from held x where d.tenant = $1 and d.mes = $2 and d.nota = x.id
  )
  update notas n set estado = 'emitida', mensagem_retorno = null, tabela_aliquotas = $3, movimentos = n.movimentos + 1,
    valor_ibs = y.ibs, valor_cbs = y.cbs
  ${ofHeld(' join unnest($4::bigint[], $6::numeric[], $7::numeric[]) as y (id, ibs, cbs) on y.id = x.id')}`;

const REFUSE = `with ${heldWith('text')}, ${GONE}
  update notas n set estado = 'recusada', mensagem_retorno = x.valor, tabela_aliquotas = $3, movimentos = n.movimentos + 1 ${ofHeld()}`;

const KEEP = `with ${heldWith('text')}, kept as (
    update retidas r set tabela_aliquotas = $3 from held x where r.tenant = $1 and r.nota = x.id
  )
  update notas n set mensagem_retorno = x.valor, tabela_aliquotas = $3 ${ofHeld()}`;

type Moved = Standing &
  Traced & { readonly movimentos: number; readonly id_dps: string; readonly chave_acesso: string };

/** Each outcome has its statement, the value beside the `id`, and its move. */
const OUTCOMES = [
  {
    write: planMonthly('release_retidas', RELEASE),
    pick: (one) => 'nfse' in one && Buffer.from(one.nfse, 'utf8'),
    more: ['ibs', 'cbs'],
    on: 'publicacao',
  },
  {
    write: planMonthly('refuse_retidas', REFUSE),
    pick: (one) => 'recusa' in one && dropNul(one.recusa),
    on: 'divergencia',
  },
  { write: planMonthly('keep_retidas', KEEP), pick: (one) => 'espera' in one && dropNul(one.espera), on: undefined },
] as const satisfies readonly {
  readonly write: Planned;
  readonly pick: (one: SaidaDeRetida) => unknown;
  /** Further values of the outcome, in the order of the parameters. */
  readonly more?: readonly ('ibs' | 'cbs')[];
  readonly on: NotaMove['on'] | undefined;
}[];

type Outcome = (typeof OUTCOMES)[number];

function release(
  pool: Db,
  tenant: string,
  now: number,
  { tabela, programa }: JulgadasPor,
  saidas: readonly SaidaDeRetida[],
  options: TransactionOptions | undefined,
): Promise<number> {
  const writeOutcome = async (client: PoolClient, outcome: Outcome): Promise<readonly Moved[]> => {
    const { write, pick } = outcome;
    const written = saidas.flatMap((one) => {
      const value = pick(one);
      return value === false ? [] : [{ ...one, value }];
    });
    const ofMonths = [...groupByMes(written)].map(async ([mes, some]) => {
      const more = 'more' in outcome ? outcome.more : [];
      const others = more.map((name) => some.map((one) => ('nfse' in one ? one[name] : null)));
      const arrays = [some.map(({ id }) => id), some.map(({ value }) => value), ...others];
      return (await client.query<Moved>(write([tenant, mes, tabela, ...arrays]))).rows;
    });
    return (await Promise.all(ofMonths)).flat();
  };
  return runPipeline(
    pool,
    async (client) => {
      const made = await Promise.all(OUTCOMES.map((outcome) => writeOutcome(client, outcome)));
      const moves = OUTCOMES.flatMap(({ on }, place) =>
        on === undefined ? [] : trailed(made[place]!, on, now, programa),
      );
      const [released, refused, kept] = [made[0]!, made[1]!, made[2]!];
      const decided = refused.map(({ id, mes }) => ({ id, mes, estado: 'recusada' as const satisfies NotaMove['to'] }));
      await moveWaitingEventos(client, tenant, now, decided);
      const due = released.map(({ id, mes, traceparent }) => ({ id, mes, dueAt: now, traceparent }));
      return {
        result: made.flat().length,
        writes: [
          insertTrail(client, tenant, 'nota', moves),
          ...(due.length === 0 ? [] : [enqueue(client, tenant, 'nota', due)]),
          ...followRefusal(client, tenant, now, refused),
          ...insertRecusadas(client, tenant, now, refused),
          ...tellWritten(client, tenant, released, kept),
        ],
      };
    },
    options,
  );
}

/** The audit chain records more than the moves: the rewritten documents, and the notas that go on waiting. */
function tellWritten(
  client: PoolClient,
  tenant: string,
  released: readonly Ref[],
  kept: readonly Standing[],
): readonly Promise<unknown>[] {
  const documents = [...groupByMes(released)].map(([mes, some]) => {
    const which = `t.mes = ${mes} and t.nota = any ($6::bigint[])`;
    return insertRegistradas(client, tenant, 'documentos', { which, values: [some.map(({ id }) => id)] });
  });
  return [...documents, insertEntrada(client, tenant, folhasOfStanding('nota', kept))];
}

function trailed(
  moved: readonly Moved[],
  on: NotaMove['on'],
  now: number,
  resposta: string | undefined,
): readonly Trailed[] {
  const { to } = movesTo<NotaMove>(NOTA_MOVES, on);
  return moved.map(({ id, mes, movimentos, dito, traceparent }) => {
    return {
      id,
      mes,
      movimento: movimentos,
      em: now,
      de: 'retida',
      gatilho: on,
      para: to,
      resposta,
      dito,
      traceparent,
    };
  });
}
