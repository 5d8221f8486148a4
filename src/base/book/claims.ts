/** Common parts of notas and eventos with moves: their trail, and storing the outcome of a claim. Their own files hold the differences. */
import type { Move } from '../../fiscal/machine.ts';
import type { TipoMudanca } from '../../fiscal/mudanca.ts';
import { count, nameMunicipio } from '../measures/counters.ts';
import { asArrays, insertRows, planMergeableMonthly } from '../pg/mergeable.ts';
import { type Db, dropNul, ONE_BY_ONE, runPipeline, writeUnlocked } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { planMonthly } from '../pg/planned.ts';
import type { ArrayColumn } from '../pg/sql.ts';
import { sharedOf } from '../pg/together.ts';
import type { Traced } from '../traces/traces.ts';
import { readTrailArquivada } from './arquivo.ts';
import { insertEntrada } from './auditoria-entradas.ts';
import type { Folha } from './auditoria-hash.ts';
import { folhaOf, folhaOfSaid, momentText, saidInSql, type Vista } from './auditoria-tabelas.ts';
import { groupByMes, isOfTipo, type Ref } from './fila.ts';
import { insertNovas, type NovaMudanca } from './mudancas-novas.ts';
import { advanceRecepcao, insertCertificados, printOf, type Recebida } from './recepcoes.ts';

/** Kinds of rows that have moves. */
export type Item = 'nota' | 'evento';

/** A move as the trail keeps it. `movimento`: its number among those of its row; `em`: milliseconds. */
export type Trailed = Ref &
  Traced & {
    readonly movimento: number;
    readonly em: number;
    readonly de: string | null;
    readonly gatilho: string;
    readonly para: string;
    readonly mensagem?: string | null | undefined;
    readonly quem?: string | null | undefined;
    /** The answer of the ADN that led to the move. A note judged by this service has the judging program instead (`julgamento`). */
    readonly resposta?: string | undefined;
    /** State of the row after the move; undefined: another entry tells it. */
    readonly dito: Standing['dito'] | undefined;
  };

function trailInsert(item: Item) {
  return insertRows<Trailed>(`trilha_de_${item}s`, `trilha_${item}s`, [
    ['mes int', ({ mes }) => mes],
    [`${item} bigint`, ({ id }) => id],
    ['movimento int', ({ movimento }) => movimento],
    ['em timestamptz', ({ em }) => new Date(em).toISOString()],
    ['de text', ({ de }) => de],
    ['gatilho text', ({ gatilho }) => gatilho],
    ['para text', ({ para }) => para],
    ['mensagem text', ({ mensagem }) => mensagem ?? null],
    ['quem text', ({ quem }) => quem ?? null],
    ['resposta text', ({ resposta }) => dropNul(resposta)],
  ]);
}

const TRAIL = { nota: trailInsert('nota'), evento: trailInsert('evento') } as const;

/** A move as the audit chain tells it. */
function folhaOfMove(item: Item, move: Trailed): Folha {
  const { id, mes, movimento, em, de, gatilho, para, mensagem, quem, resposta } = move;
  const said = { mes: String(mes), movimento: String(movimento), em: momentText(em), de, gatilho, para };
  const texts = { mensagem: mensagem?.toWellFormed(), quem: quem?.toWellFormed(), resposta: dropNul(resposta) };
  return folhaOf(`trilha_${item}s`, [id, String(mes), String(movimento)], { [item]: id, ...said, ...texts });
}

/** The audited table with the state of a nota or an evento. */
const ESTADO = { nota: 'notas_estado', evento: 'eventos' } as const satisfies Readonly<Record<Item, Vista>>;

/** A row after a statement, by {@link returningEstado}. */
export type Standing = Ref & { readonly dito: readonly (string | null)[] };

/** SQL: a column returned by each statement that writes a nota or an evento. The column is the new state, as the audit chain tells it. */
export function returningEstado(item: Item, alias: string): string {
  return `${saidInSql(ESTADO[item], alias)} as dito`;
}

/** Leaves about the state of rows, for an entry of the audit chain. */
export function folhasOfStanding(item: Item, rows: readonly Pick<Standing, 'dito'>[]): readonly Folha[] {
  return rows.map(({ dito }) => folhaOfSaid(ESTADO[item], dito));
}

/**
 * Writes moves into the trail, the changes and the audit chain, in the transaction that made them (D-874). The chain also gets the state of
 * their rows. `besides`: further leaves of the same entry.
 */
export async function insertTrail(
  client: PoolClient,
  tenant: string,
  item: Item,
  moves: readonly Trailed[],
  besides: readonly Folha[] = [],
): Promise<void> {
  if (moves.length === 0) return;
  const standing = moves.flatMap(({ dito }) => (dito === undefined ? [] : [{ dito }]));
  const folhas = [...besides, ...folhasOfStanding(item, standing), ...moves.map((move) => folhaOfMove(item, move))];
  await Promise.all([
    client.query(TRAIL[item](tenant, moves)),
    insertNovas(client, tenant, selectMudadas(item, moves)),
    insertEntrada(client, tenant, folhas),
  ]);
  countMoves(tenant, item, moves);
}

/** The changes among moves. A move that returns to its own state, such as a postponed sending, is no change. */
function selectMudadas(item: Item, moves: readonly Trailed[]): readonly NovaMudanca[] {
  const changes = moves.filter(({ de, para }) => de !== para);
  return changes.map((move) => ({ ...move, item, tipo: `${item}.${move.para}` as TipoMudanca }));
}

/** Moves of a transaction that is rolled back later, a rare case, stay counted. */
function countMoves(tenant: string, item: Item, moves: readonly Trailed[]): void {
  const municipio = nameMunicipio(tenant);
  for (const [estado, some] of Map.groupBy(moves, ({ para }) => para))
    count(item === 'nota' ? 'nfse_notas_total' : 'nfse_eventos_total', { municipio, estado }, some.length);
}

/** A move that was made, as the trail has it. */
export type Step<Estado, Trigger> = {
  readonly em: Date;
  readonly de: Estado | null;
  readonly gatilho: Trigger;
  readonly para: Estado;
  readonly mensagem: string | null;
  /** The person who made the move by hand; null if there was none, or none was named. */
  readonly quem: string | null;
};

/** Reads the moves of a nota or an evento, from the first on. */
export function trailReader<One extends Step<string, string>>(pool: Db, item: Item) {
  const ask = planMonthly(
    `trilha_${item}`,
    `select movimento, em, de, gatilho, para, mensagem, quem from trilha_${item}s
    where tenant = $1 and mes = $2 and ${item} = $3 order by movimento`,
  );
  return async (tenant: string, ref: Ref): Promise<readonly One[]> => {
    type Row = One & { readonly movimento: number };
    const { rows } = await pool.query<Row>(ask([tenant, ref.mes, ref.id]));
    const missing = rows[0]?.movimento === 1 ? [] : await readTrailArquivada(pool, tenant, item, ref);
    const earlier = missing.filter(({ movimento }) => rows.every((row) => row.movimento !== movimento)) as Row[];
    const all = [...earlier, ...rows].sort((one, other) => one.movimento - other.movimento);
    return all.map(({ movimento: _movimento, ...step }) => step as unknown as One);
  };
}

/** The outcome of a row that was claimed. */
export type Settlement<Of extends Move = Move> = Ref & {
  readonly move: Of;
  /** Milliseconds; undefined exactly when the move's `due` is `never`. */
  readonly dueAt: number | undefined;
  /** An earlier answer is overwritten. */
  readonly mensagem_retorno?: string | undefined;
  /** The copy that the ADN holds now: its reception number, and the signature under which it was sent. */
  readonly recebida?: Recebida | undefined;
  /** The answer of the ADN about the row, unchanged. */
  readonly resposta?: string | undefined;
};

type Settling<One, Moved> = {
  /** Further columns of a settlement. */
  readonly columns: readonly ArrayColumn<One>[];
  /** Further assignments to the row `t` from its settlement `x`. */
  readonly set: readonly string[];
  /** Columns of `t` that are passed to `after`. */
  readonly returning?: readonly string[];
  /** Statements before the settlements, so that locks are taken in order, and right after them. Both travel with the settlements. */
  readonly before?: (client: PoolClient, on: Settled<One>) => Promise<unknown>;
  readonly beside?: (client: PoolClient, on: Settled<One>) => Promise<void>;
  /** Writes the effects of the stored settlements on other rows. */
  readonly after?: (client: PoolClient, on: Settled<One>, moved: readonly MovedRow<Moved>[]) => Promise<Writes>;
};

type Writes = readonly Promise<unknown>[];

type Settled<One> = { readonly tenant: string; readonly now: number; readonly settlements: readonly One[] };

type MovedRow<More> = Standing &
  Traced & {
    readonly movimentos: number;
    readonly de: string;
    readonly gatilho: string;
    readonly para: string;
    readonly mensagem: string | null;
  } & More;

/** The moves that settlements made. */
function trailedOf<One extends Settlement>(
  moved: readonly MovedRow<unknown>[],
  { now, settlements }: Settled<One>,
): readonly Trailed[] {
  const respostas = new Map(settlements.map(({ id, resposta }) => [id, resposta]));
  return moved.map(({ movimentos, ...row }) => ({
    ...{ ...row, movimento: movimentos, em: now },
    resposta: respostas.get(row.id),
  }));
}

/**
 * Settles notas or eventos that still carry a token, or one of several. One statement a month serves rows that come to rest, and one the
 * others. Returns their number.
 */
export function createSettle<One extends Settlement, Moved = unknown>(pool: Db, item: Item, of: Settling<One, Moved>) {
  const { columns, set, returning = [], before, beside, after } = of;
  const rows = asArrays<One & { readonly em: number }>([
    ['id bigint', ({ id }) => id],
    ['de text', ({ move }) => move.from],
    ['gatilho text', ({ move }) => move.on],
    ['para text', ({ move }) => move.to],
    ['due timestamptz', ({ dueAt }) => (dueAt === undefined ? null : new Date(dueAt).toISOString())],
    ['mensagem text', ({ mensagem_retorno }) => dropNul(mensagem_retorno)],
    ['nsu bigint', ({ recebida }) => recebida?.nsu ?? null],
    ['assinatura bytea', ({ recebida }) => recebida?.assinatura?.valor ?? null],
    ['certificado bytea', ({ recebida }) => recebida?.assinatura && printOf(recebida.assinatura.certificado)],
    ['agora timestamptz', ({ em }) => new Date(em).toISOString()],
    ...columns,
  ]);
  // A process that no longer holds the row of the queue writes nothing. One statement for both kinds would be misplanned: the planner would
  // expect two rows, and read the whole month instead of its keys.
  const statementOf = (name: string, leave: (rows: string) => string) =>
    planMergeableMonthly(
      `settle_${item}s_${name}`,
      rows,
      ({ rows, tenant, mes, other }) => `with left_queue as (
        ${leave(rows)} ${ONE_BY_ONE} and f.tenant = ${tenant} and ${isOfTipo(item)} and f.id = x.id and f.claims = any (${other}::uuid[])
        returning x.*, f.traceparent)
      update ${item}s t set ${[
        'estado = x.para',
        'mensagem_retorno = x.mensagem',
        'nsu_recepcao = coalesce(x.nsu, t.nsu_recepcao)',
        'assinatura = coalesce(x.assinatura, t.assinatura)',
        'certificado = coalesce(x.certificado, t.certificado)',
        'movimentos = t.movimentos + 1',
        ...set,
      ].join(', ')}
      from left_queue x ${ONE_BY_ONE} and t.tenant = ${tenant} and t.mes = ${mes} and t.id = x.id and t.estado = x.de
      returning ${['t.tenant', 't.id', 't.mes', 't.movimentos', 'x.de', 'x.gatilho', 'x.para', 'x.mensagem', 'x.traceparent', returningEstado(item, 't'), ...returning].join(', ')}`,
      // A token is of one tenant, so that those of several may stand together.
      (tokens) => [tokens.flat(2)],
    );
  const atRest = statementOf('at_rest', (from) => `delete from fila f using ${from}`);
  const waiting = statementOf('waiting', (from) => `update fila f set due_at = x.due, claims = null from ${from}`);
  type Row = MovedRow<Moved>;
  const settle = async (
    client: PoolClient,
    tokens: readonly string[],
    { tenant, now, settlements }: Settled<One>,
  ): Promise<readonly Row[]> => {
    const moved = [...groupByMes(settlements)].flatMap(([mes, ofMes]) =>
      [atRest, waiting].map(async (statement) => {
        const some = ofMes.filter(({ dueAt }) => (dueAt === undefined) === (statement === atRest));
        const dated = some.map((one) => ({ ...one, em: now }));
        return some.length === 0 ? [] : (await client.query<Row>(statement(tenant, mes, dated, tokens))).rows;
      }),
    );
    return (await Promise.all(moved)).flat();
  };
  return (tenant: string, tokens: string | readonly string[], now: number, all: readonly One[]): Promise<number> =>
    writeUnlocked(all, (settlements, options) => {
      const received = settlements.map(({ recebida }) => recebida);
      const on: Settled<One> = { tenant, now, settlements };
      const write = async (client: PoolClient) => {
        // All statements are sent in this order, and awaited together.
        const inserted = insertCertificados(client, tenant, received);
        const first = before?.(client, on);
        const settled = settle(client, [tokens].flat(), on);
        const [moved] = await Promise.all([settled, beside?.(client, on), first, ...inserted]);
        const trail = trailedOf(moved, on);
        const others = (await after?.(client, on, moved)) ?? [];
        return {
          result: moved.length,
          writes: [insertTrail(client, tenant, item, trail), ...others, ...advanceRecepcao(client, tenant, received)],
        };
      };
      return options === undefined ? sharedOf(pool).run(tenant, write) : runPipeline(pool, write, options);
    });
}
