/** Gives a municipality a shard of its own, and moves that shard to another node. The municipality goes on issuing meanwhile. */

import { findPlaces, type No, nameNo, type Place } from '../../base/pg/distributed.ts';
import type { Db } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { needSession } from '../../base/pg/pooled.ts';
import { mayTakeLong } from '../../base/pg/watch.ts';
import { ignoring } from '../../base/traces/ignoring.ts';
import { listNos } from './nos.rows.ts';

export type Mover = { readonly tenant: string; readonly para: No; readonly tell: (text: string) => void };

const TELL_EVERY_MS = 5_000;

/**
 * Writes during the move are copied after it: writers wait only for the last of them. A repeated call continues after an interruption;
 * Citus itself removes unfinished parts. Throws if the cluster has only one node.
 */
export async function moveMunicipio(pool: Db, { tenant, para, tell }: Mover): Promise<void> {
  needSession(pool);
  const client = await pool.connect();
  mayTakeLong(client);
  const unseen = ignoring('progress is only told, and the move itself reports a lost server');
  const timer = setInterval(() => void tellProgress(pool, tell).catch(unseen), TELL_EVERY_MS);
  try {
    await client.query('set statement_timeout = 0');
    const [place] = (await findPlaces(client, [tenant])) as [Place];
    if (!place.isolado) await isolate(client, { tenant, para, tell }, place);
    const [alone] = (await findPlaces(client, [tenant])) as [Place];
    await moveShard(client, alone, para, tell);
  } finally {
    clearInterval(timer);
    client.release(true);
  }
}

/** A shard and its node. */
type Shard = No & { readonly shard: string };

async function moveShard(
  client: PoolClient,
  { shard, host, porta }: Shard,
  para: No,
  tell: Mover['tell'],
): Promise<void> {
  if (nameNo({ host, porta }) === nameNo(para)) return;
  tell(`leva o fragmento ${shard} de ${nameNo({ host, porta })} para ${nameNo(para)}`);
  await client.query(`select citus_move_shard_placement($1, $2, $3, $4, $5, shard_transfer_mode => 'auto')`, [
    ...[shard, host, porta],
    ...[para.host, para.porta],
  ]);
}

/** The hash values that cut out one tenant from a shard, and the node for the parts. */
const SPLIT = `select citus_split_shard_by_split_points(s.shardid, array_remove(array[
      case when h.value > s.shardminvalue::bigint then (h.value - 1)::text end,
      case when h.value < s.shardmaxvalue::bigint then h.value::text end], null),
    array_fill(n.nodeid, array[1 + (h.value > s.shardminvalue::bigint)::int + (h.value < s.shardmaxvalue::bigint)::int]), 'auto')
  from (select worker_hash($1::text)::bigint as value) h, pg_dist_shard s, pg_dist_node n
  where s.shardid = $2 and n.nodename = $3 and n.nodeport = $4`;

/**
 * Splits the shard of a tenant on another node, and brings its neighbours back. Citus would by default split it in place. That never ends
 * if an existing row is changed at the beginning (citusdata/citus#6790).
 */
async function isolate(client: PoolClient, { tenant, para, tell }: Mover, place: Place): Promise<void> {
  const others = (await listNos(client)).filter((no) => nameNo(no) !== nameNo(place));
  const away = others.find((no) => nameNo(no) === nameNo(para)) ?? others[0];
  if (away === undefined) throw new Error('o cluster tem um nó só: não há para onde levar um município.');
  const { rows: before } = await client.query<Range>(RANGE, [place.shard]);
  tell(`separa ${tenant} dos outros do fragmento ${place.shard}, em ${nameNo(away)}`);
  await client.query(SPLIT, [tenant, place.shard, away.host, away.porta]);
  const { rows } = await client.query<Shard>(NEIGHBOURS, [tenant, before[0]!.min, before[0]!.max]);
  for (const neighbour of rows) await moveShard(client, neighbour, place, tell);
}

type Range = { readonly min: string; readonly max: string };
const RANGE = 'select shardminvalue as min, shardmaxvalue as max from pg_dist_shard where shardid = $1';
/** Parts of the earlier shard that do not contain the tenant. */
const NEIGHBOURS = `select s.shardid::text as shard, n.nodename as host, n.nodeport as porta from pg_dist_shard s
    join pg_dist_placement p on p.shardid = s.shardid join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
  where s.logicalrelid = 'municipios'::regclass and s.shardminvalue::int >= $2 and s.shardmaxvalue::int <= $3
    and s.shardid <> get_shard_id_for_distribution_column('municipios', $1::text)`;

async function tellProgress(pool: Db, tell: Mover['tell']): Promise<void> {
  const { rows } = await pool.query<{ done: number; whole: number }>(
    `select sum(target_shard_size)::float as done, sum(source_shard_size)::float as whole from get_rebalance_progress()
     having count(*) > 0`,
  );
  const [row] = rows;
  if (row !== undefined && row.whole > 0) tell(`${Math.min(99, Math.round((100 * row.done) / row.whole))}% copiado`);
}
