/** The servers of a distributed schema, and the tenants that each one has. */
import type { Db } from './open.ts';

export type No = { readonly host: string; readonly porta: number };

export type Place = No & {
  readonly tenant: string;
  readonly shard: string;
  /** The shard holds this municipality and no other. */
  readonly isolado: boolean;
};

export function nameNo({ host, porta }: No): string {
  return `${host}:${porta}`;
}

/** Places of municipalities, existing or new, in a distributed database. */
export async function findPlaces(db: Pick<Db, 'query'>, tenants: readonly string[]): Promise<readonly Place[]> {
  const { rows } = await db.query<Place>(
    `select t.tenant, s.shardid::text as shard, n.nodename as host, n.nodeport as porta, s.shardminvalue = s.shardmaxvalue as isolado
     from unnest($1::text[]) as t (tenant)
       join pg_dist_shard s on s.shardid = get_shard_id_for_distribution_column('municipios', t.tenant)
       join pg_dist_placement p on p.shardid = s.shardid
       join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'`,
    [tenants],
  );
  return rows;
}
