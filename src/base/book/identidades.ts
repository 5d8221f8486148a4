/**
 * Identifiers of DPS that are notes, of all months, so that no DPS becomes two notes. An identifier is taken when a note is issued, and
 * free again when it is refused (D-20).
 */

import { insertRows } from '../pg/mergeable.ts';
import type { PoolClient } from '../pg/pg.ts';
import { planOnce } from '../pg/planned.ts';
import type { ArrayColumn } from '../pg/sql.ts';
import type { Ref } from './fila.ts';
import type { NumberedNota } from './nota-columns.ts';

/** The note that holds the identifier of a DPS. */
export type DpsHolder = {
  readonly chave_acesso: string;
  readonly numero_protocolo: string;
  readonly id: bigint;
  readonly mes: number;
};

/** An identifier, and the note that it becomes. */
type Identidade = { readonly id_dps: string; readonly id: bigint; readonly mes: number };

const COLUMNS: readonly ArrayColumn<Identidade>[] = [
  ['id_dps text', ({ id_dps }) => id_dps],
  ['nota bigint', ({ id }) => String(id)],
  ['mes int', ({ mes }) => mes],
];

const TAKE = insertRows(
  'take_dps',
  'identidades',
  COLUMNS,
  'on conflict (tenant, id_dps) do nothing returning tenant, nota',
);
const INSERT = insertRows('insert_identidades', 'identidades', COLUMNS);

/** `own`: ids of notes whose identifiers were free and are now taken. `holders`: the notes that hold the other identifiers. */
export type TakenDps = { readonly own: ReadonlySet<bigint>; readonly holders: Map<string, DpsHolder> };

/** Takes identifiers for notes that are to be made. The first of two notes with one identifier gets it, and the other has no holder yet. */
export async function takeDps(client: PoolClient, tenant: string, wanted: readonly Identidade[]): Promise<TakenDps> {
  if (wanted.length === 0) return { own: new Set(), holders: new Map() };
  const { rows } = await client.query<{ nota: string }>(TAKE(tenant, wanted));
  const own = new Set(rows.map(({ nota }) => BigInt(nota)));
  const others = wanted.filter(({ id }) => !own.has(id)).map(({ id_dps }) => id_dps);
  return { own, holders: others.length === 0 ? new Map() : await findHolders(client, tenant, others) };
}

/** Takes identifiers that must be free. The transaction fails if a note has one. */
export function insertIdentidades(
  client: PoolClient,
  tenant: string,
  notas: readonly NumberedNota[],
): Promise<unknown> {
  const rows = notas.map(({ id, mes, nota }) => ({ id_dps: nota.id_dps, id, mes }));
  return client.query(INSERT(tenant, rows));
}

const FREE = planOnce(
  'free_dps',
  `delete from identidades i using unnest($2::text[], $3::bigint[]) as x (id_dps, nota)
    where x.id_dps || '' = x.id_dps and i.tenant = $1 and i.id_dps = x.id_dps and i.nota = x.nota`,
);

/** Frees the identifiers of these notes. */
export function freeDps(
  client: PoolClient,
  tenant: string,
  notas: readonly { readonly id: string | bigint; readonly id_dps: string }[],
): Promise<unknown> {
  return client.query(FREE([tenant, notas.map(({ id_dps }) => id_dps), notas.map(({ id }) => String(id))]));
}

const TAKEN = planOnce(
  'dps_taken',
  `select i.id_dps, i.nota as id, i.mes from unnest($2::text[]) as x (id_dps)
    join identidades i on i.tenant = $1 and i.id_dps = x.id_dps where x.id_dps || '' = x.id_dps`,
);

const HOLDERS =
  'select id, id_dps, mes, chave_acesso, numero_protocolo from notas where tenant = $1 and mes = any ($2) and id = any ($3)';

/** The notas that hold these identifiers of DPS. */
async function findHolders(
  client: PoolClient,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, DpsHolder>> {
  const taken = (await client.query<Ref & { id_dps: string }>(TAKEN([tenant, ids]))).rows;
  if (taken.length === 0) return new Map();
  const values = [tenant, [...new Set(taken.map(({ mes }) => mes))], taken.map(({ id }) => id)];
  type Row = Ref & { id_dps: string; chave_acesso: string; numero_protocolo: string };
  const { rows } = await client.query<Row>(HOLDERS, values);
  return new Map(rows.map(({ id_dps, id, ...row }) => [id_dps, { ...row, id: BigInt(id) }]));
}
