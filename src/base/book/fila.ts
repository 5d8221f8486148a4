/**
 * The queue: one row for each task of the worker, deleted when the task is done. `due_at` is the moment at which it is due. `claims` is the
 * token of the claim, whose holder alone writes the outcome (D-407).
 */

import { asArrays, insertRows, planMergeable } from '../pg/mergeable.ts';
import { ONE_BY_ONE } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { planOnce } from '../pg/planned.ts';
import type { Traced } from '../traces/traces.ts';

export const TIPOS = ['nota', 'evento', 'lote'] as const;
/** Kinds of things in the queue. */
export type Tipo = (typeof TIPOS)[number];

/** Reference to a row of a table that is kept by month: `mes` as 202611. */
export type Ref = { readonly id: string; readonly mes: number };

/** A task. Moments in milliseconds. */
export type ToDo = Ref &
  Traced & {
    readonly dueAt: number;
    /** The token of a claim that begins with it. The claim counts as an attempt. */
    readonly claims?: string | undefined;
  };

/** Columns of `fila f` that are read with the row of a task; null at rest. */
export const QUEUED = 'f.due_at, f.claims';
/** Joins the row of the queue, if there is one, to the row of an alias. */
export function joinQueue(tipo: Tipo, alias: string, f = 'f'): string {
  return `left join fila ${f} on ${f}.tenant = $1 and ${isOfTipo(tipo, f)} and ${f}.id = ${alias}.id`;
}

/**
 * SQL: rows of a kind, for queries by `id`. The expression hides the kind from the planner. Otherwise it would use the index on due rows,
 * or the key without the id. Tenant and kind look like one row without statistics, and the whole queue would be read for each id (D-448).
 */
export function isOfTipo(tipo: Tipo, f = 'f'): string {
  return `${f}.tipo || '' = '${tipo}'`;
}

function eachTipo<Statement>(make: (tipo: Tipo) => Statement): Readonly<Record<Tipo, Statement>> {
  return Object.fromEntries(TIPOS.map((tipo) => [tipo, make(tipo)])) as Record<Tipo, Statement>;
}

const ENQUEUE = insertRows<ToDo & { readonly tipo: Tipo }>(
  'enqueue',
  'fila',
  [
    ['tipo text', ({ tipo }) => tipo],
    ['id bigint', ({ id }) => id],
    ['mes int', ({ mes }) => mes],
    ['due_at timestamptz', ({ dueAt }) => new Date(dueAt).toISOString()],
    ['claims uuid', ({ claims }) => claims ?? null],
    ['tentativas int', ({ claims }) => (claims === undefined ? 0 : 1)],
    ['traceparent text', ({ traceparent }) => traceparent ?? null],
  ],
  'on conflict (tenant, id, tipo) do update set due_at = excluded.due_at, claims = excluded.claims',
);

/** Puts rows into the queue, or makes them due anew and ends their claim. */
export function enqueue(client: PoolClient, tenant: string, tipo: Tipo, rows: readonly ToDo[]): Promise<unknown> {
  return client.query(
    ENQUEUE(
      tenant,
      rows.map((row) => ({ ...row, tipo })),
    ),
  );
}

const DEQUEUE = eachTipo((tipo) =>
  planOnce(
    `dequeue_${tipo}`,
    `delete from fila f using unnest($2::bigint[]) as x (id) ${ONE_BY_ONE} and f.tenant = $1 and ${isOfTipo(tipo)} and f.id = x.id`,
  ),
);

/** Deletes rows from the queue, claimed or not. */
export function dequeue(client: PoolClient, tenant: string, tipo: Tipo, ids: readonly string[]): Promise<unknown> {
  return client.query(DEQUEUE[tipo]([tenant, ids]));
}

/** A claim of due rows: a token, its beginning and end in milliseconds, and the most rows. */
type Lease = { readonly now: number; readonly token: string; readonly until: number; readonly max: number };

/** The values of a claim in the two forms of the statement. The one for a single tenant is planned by its limit. */
const OF_ROWS = { now: 'x.agora', token: 'due.reserva', until: 'due.ate', max: 'x.maximo' } as const;
const OF_ONE = {
  now: '($2::timestamptz[])[1]',
  token: '($3::uuid[])[1]',
  until: '($4::timestamptz[])[1]',
  max: '($5::int[])[1]',
} as const;

const LEASE = eachTipo((tipo) =>
  planMergeable<Lease>(
    `lease_${tipo}`,
    asArrays([
      ['agora timestamptz', ({ now }) => new Date(now).toISOString()],
      ['reserva uuid', ({ token }) => token],
      ['ate timestamptz', ({ until }) => new Date(until).toISOString()],
      ['maximo int', ({ max }) => max],
    ]),
    ({ rows, tenant, isOfSeveral }) => {
      const claim = isOfSeveral ? OF_ROWS : OF_ONE;
      const due = `select f.tenant, f.id from fila f where f.tenant = ${tenant} and f.tipo = '${tipo}' and f.due_at <= ${claim.now}
          and exists (select 1 from municipios m where m.tenant = ${tenant} and not m.fechado)
        order by f.due_at limit ${claim.max} for update skip locked`;
      return `with due as (
        ${isOfSeveral ? `select x.reserva, x.ate, f.* from ${rows} cross join lateral (${due}) f` : due}
      )
      update fila f set claims = ${claim.token}, due_at = ${claim.until}, tentativas = f.tentativas + 1
      from due where f.tenant = ${isOfSeveral ? 'due.tenant' : tenant} and ${isOfTipo(tipo)} and f.id = due.id
      returning f.tenant, f.id, f.mes, f.tentativas, f.traceparent`;
    },
  ),
);

export type Leased = Ref & Traced & { readonly tentativas: number };

/**
 * Claims the rows that have been due the longest under a token, until a moment (milliseconds). Every claim is an attempt. A closed
 * municipality yields nothing.
 */
export async function leaseDue(
  client: Pick<PoolClient, 'query'>,
  tenant: string,
  tipo: Tipo,
  lease: Lease,
): Promise<readonly Leased[]> {
  return (await client.query<Leased>(LEASE[tipo](tenant, [lease]))).rows;
}

/** Groups rows by month, since a statement serves one month. */
export function groupByMes<One extends { readonly mes: number }>(
  all: readonly One[],
): ReadonlyMap<number, readonly One[]> {
  return Map.groupBy(all, ({ mes }) => mes);
}
