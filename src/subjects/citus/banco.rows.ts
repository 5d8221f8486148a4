/** The database for its operator: engine, roles, lag, and the place and size of its data. */

import { citusVersion, findPlaces, type No, nameNo, readTabelas, type Tabela } from '../../base/pg/distributed.ts';
import type { Db } from '../../base/pg/open.ts';
import { countServices, type Distribuir, distribute, FRAGMENTOS } from './distribuicao.rows.ts';
import { type Mover, moveMunicipio } from './mover.rows.ts';
import { listNos, listSilentNos, NodeProblem } from './nos.rows.ts';

type Replica = {
  readonly nome: string;
  readonly estado: string;
  /** The value of `pg_stat_replication`: sync, quorum, potential, async. */
  readonly sincronia: string;
  /** Log that it has not replayed yet. */
  readonly atrasoBytes: number;
  readonly atrasoMs: number;
};

type NoVisto = No & {
  readonly papel: 'coordenador' | 'nó';
  readonly responde: boolean;
  readonly fragmentos: number;
  readonly bytes: number;
};

type TabelaVista = Pick<Tabela, 'nome' | 'lugar' | 'distribuida' | 'falta'> & {
  /** Size with indexes and partitions, on all nodes. */
  readonly bytes: number;
  readonly particoes: number;
};

type MunicipioVisto = {
  readonly tenant: string;
  /** Estimated from a sample of the rows of each table. */
  readonly bytes: number;
  /** Undefined on plain PostgreSQL. */
  readonly fragmento: { readonly no: string; readonly isolado: boolean } | undefined;
};

export type Banco = {
  readonly versao: string;
  readonly citus: string | undefined;
  readonly isReplica: boolean;
  /** Time since the last transaction of a server that replays another's log; null: there was none. */
  readonly atrasoMs: number | null;
  readonly replicas: readonly Replica[];
  readonly nos: readonly NoVisto[];
  readonly tabelas: readonly TabelaVista[];
  /** The largest first; undefined: a node with some of them does not answer. */
  readonly municipios: readonly MunicipioVisto[] | undefined;
};

const PAGE_BYTES = 8_192;
/** Pages read of each table at most. */
const SAMPLE_PAGES = 2_000;

async function readBanco(db: Db): Promise<Banco> {
  const citus = await citusVersion(db);
  const [server, replicas, sizes] = [await readServer(db), await readReplicas(db), await readSizes(db, citus)];
  const nos = citus === undefined ? [] : await readNos(db);
  const tabelas = (await readTabelas(db)).map(({ nome, lugar, distribuida, falta }) => ({
    ...{ nome, lugar, distribuida, falta },
    ...(sizes.get(nome) ?? { bytes: 0, particoes: 0 }),
  }));
  const isWhole = nos.every(({ responde }) => responde);
  const municipios = isWhole ? await estimateMunicipios(db, tabelas) : undefined;
  return { ...server, citus, replicas, nos, tabelas, municipios };
}

type Server = Pick<Banco, 'versao' | 'isReplica' | 'atrasoMs'>;

async function readServer(db: Db): Promise<Server> {
  const { rows } = await db.query<Server>(
    `select current_setting('server_version') as versao, pg_is_in_recovery() as "isReplica",
       (extract(epoch from now() - pg_last_xact_replay_timestamp()) * 1000)::float as "atrasoMs"`,
  );
  return rows[0]!;
}

async function readReplicas(db: Db): Promise<readonly Replica[]> {
  const { rows } = await db.query<Replica>(
    `select application_name as nome, coalesce(state, '') as estado, coalesce(sync_state, '') as sincronia,
       coalesce(pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, replay_lsn), 0)::float as "atrasoBytes",
       coalesce(extract(epoch from replay_lag) * 1000, 0)::float as "atrasoMs"
     from pg_stat_replication order by application_name`,
  );
  return rows;
}

type Size = Pick<TabelaVista, 'bytes' | 'particoes'>;

/** Sizes by the name of the table; a partition counts for its table. */
async function readSizes(db: Db, citus: string | undefined): Promise<ReadonlyMap<string, Size>> {
  const shards = `select coalesce(pg_partition_root(table_name), table_name) as oid, shard_size as bytes from citus_shards`;
  const own = `select coalesce(pg_partition_root(c.oid), c.oid) as oid, pg_total_relation_size(c.oid) as bytes from pg_class c
    where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace`;
  const { rows } = await db.query<Size & { nome: string }>(
    `select c.relname as nome, sum(x.bytes)::float as bytes,
       (select count(*) from pg_partition_tree(c.oid) where isleaf and relid <> c.oid)::int as particoes
     from (${citus === undefined ? own : `${own} union all ${shards}`}) x join pg_class c on c.oid = x.oid
     group by c.oid, c.relname`,
  );
  return new Map(rows.map(({ nome, ...size }) => [nome, size]));
}

async function readNos(db: Db): Promise<readonly NoVisto[]> {
  const coordinators = new Set((await listNos(db, true)).map(nameNo));
  for (const no of await listNos(db)) coordinators.delete(nameNo(no));
  const { rows } = await db.query<Omit<NoVisto, 'papel'>>(
    `select n.nodename as host, n.nodeport as porta, coalesce(r.success, false) as responde,
       coalesce(s.fragmentos, 0)::int as fragmentos, coalesce(s.bytes, 0)::float as bytes
     from pg_dist_node n
       left join run_command_on_all_nodes('select 1', give_warning_for_connection_errors => true) r on r.nodeid = n.nodeid
       left join (select nodename, nodeport, count(*) as fragmentos, sum(shard_size) as bytes from citus_shards
         group by nodename, nodeport) s on s.nodename = n.nodename and s.nodeport = n.nodeport
     where n.noderole = 'primary' order by n.groupid`,
  );
  return rows.map((row) => ({ ...row, papel: coordinators.has(nameNo(row)) ? 'coordenador' : 'nó' }));
}

/** The share of a municipality in a sample of each table is taken for its share in the table. */
async function estimateMunicipios(db: Db, tabelas: readonly TabelaVista[]): Promise<readonly MunicipioVisto[]> {
  const bytesOf = new Map<string, number>();
  const { rows: all } = await db.query<{ tenant: string }>('select tenant from municipios order by tenant');
  for (const { tenant } of all) bytesOf.set(tenant, 0);
  for (const { nome, bytes } of tabelas.filter(({ lugar, bytes }) => lugar === 'tenant' && bytes > 0)) {
    const percent = Math.min(100, (100 * SAMPLE_PAGES * PAGE_BYTES) / bytes);
    const { rows } = await db.query<{ tenant: string; count: number }>(
      `select tenant, count(*)::float as count from ${nome} tablesample system (${percent}) group by tenant`,
    );
    const whole = rows.reduce((sum, { count }) => sum + count, 0);
    for (const { tenant, count } of rows) {
      const before = bytesOf.get(tenant);
      if (before !== undefined) bytesOf.set(tenant, before + (bytes * count) / whole);
    }
  }
  const isDistributed = tabelas.some(({ lugar, distribuida }) => lugar === 'tenant' && distribuida);
  const found = isDistributed ? await findPlaces(db, [...bytesOf.keys()]) : [];
  const places = new Map(found.map((place) => [place.tenant, { no: nameNo(place), isolado: place.isolado }]));
  return [...bytesOf]
    .map(([tenant, bytes]) => ({ tenant, bytes, fragmento: places.get(tenant) }))
    .toSorted((a, b) => b.bytes - a.bytes);
}

/** The database as a part of the store. */
export function bancoStore(db: Db) {
  return {
    fragmentos: FRAGMENTOS,
    read: () => readBanco(db),
    /** Bytes of the whole database; of the connected server only, if the database is distributed. */
    readBytes: async (): Promise<number> => {
      const text = 'select pg_database_size(current_database())::float8 as bytes';
      return (await db.query<{ bytes: number }>(text)).rows[0]!.bytes;
    },
    readTabelas: () => readTabelas(db),
    countServices: () => countServices(db),
    listNos: async (): Promise<readonly No[]> => ((await citusVersion(db)) === undefined ? [] : listNos(db)),
    listSilentNos: () => listSilentNos(db),
    /** Undefined: the database is not distributed. */
    placeOf: async (tenant: string): Promise<No | undefined> => {
      const isDistributed = (await readTabelas(db)).some(({ distribuida }) => distribuida);
      return isDistributed ? (await findPlaces(db, [tenant]))[0] : undefined;
    },
    moveMunicipio: (asked: Mover) => moveMunicipio(db, asked),
    /** The reason why a node cannot take part, for the operator; undefined: all is done. */
    distribute: async (asked: Distribuir): Promise<string | undefined> => {
      try {
        await distribute(db, asked);
        return undefined;
      } catch (error) {
        if (error instanceof NodeProblem) return error.message;
        throw error;
      }
    },
  };
}
