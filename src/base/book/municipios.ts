/** The tenants and their settings: ambiente, trusted authorities, connection to the ADN. Files are stored as paths only. */
import type { Aliquota } from '../../fiscal/aliquotas-ibs-cbs.ts';
import { type Municipio, type NovoMunicipio, SETTINGS, settingsOf, withSettings } from '../../fiscal/settings.ts';
import { cacheReads } from '../pg/cache-reads.ts';
import { readsOf } from '../pg/merge.ts';
import { asArrays, planMergeable } from '../pg/mergeable.ts';
import { type Db, runTransaction, SHORT_LOCK_MS, writeAlone } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { listColumns } from '../pg/sql.ts';
import { deleteOfTenant } from '../pg/tabelas.ts';
import { insertAtos, type NovoAto } from './atos.ts';
import { beginCorrente } from './auditoria-elos.ts';
import { insertRegistradas } from './auditoria-entradas.ts';

export type { AcessoAdn, Confianca, Municipio } from '../../fiscal/settings.ts';

/** `desde`: beginning of the problem; `vistoEm`: its latest occurrence, to the minute. Milliseconds. */
type TransmissionProblem = { readonly problema: string; readonly desde: number; readonly vistoEm: number };

/** A lasting problem is written again this often. Its duration stays visible, and a wrong value from another process is replaced. */
const PROBLEM_FRESH_MS = 60_000;
/** The limit is far above our own texts; an external answer may be part of one. */
const PROBLEM_CHARS_MAX = 2_000;

const COLUMNS = SETTINGS.map(([, { column }]) => column).join(', ');
/** Parameters after the tenant, in the order of {@link SETTINGS}: the ambiente is $2, the code $3. */
const PARAMETERS = SETTINGS.map(([, { sql }], place) => `$${place + 2}::${sql}`).join(', ');
const AFTER = SETTINGS.length + 2;
const READ = `${COLUMNS}, relogio_ms, exige_cadastro, ensaio_ate, aliquotas_ibs_cbs, brasao`;

const BY_SLUG = planMergeable<never>(
  'municipio_por_slug',
  asArrays([]),
  ({ rows, tenant }) =>
    `select ${listColumns('m', `tenant, ${READ}`.split(', '))} from ${rows} join municipios m on m.tenant = ${tenant}`,
);

type Row = { readonly tenant: string } & Readonly<Record<string, unknown>>;

export function municipioStore(pool: Db) {
  const readFresh = async (slug: string): Promise<Municipio | undefined> => {
    const { rows } = await pool.query<Row>(`select tenant, ${READ} from municipios where tenant = $1`, [slug]);
    return rows[0] && municipioOf(rows[0]);
  };
  const bySlug = cacheReads(async (slug: string) => {
    const { rows } = await readsOf(pool).query<Row>(BY_SLUG(slug, []));
    return rows[0] && municipioOf(rows[0]);
  });
  return {
    findBySlug: bySlug,
    /** Reads the current settings, without cache. */
    readFresh,
    /** All tenants except personal sandboxes, in the order of their slugs. */
    list: async (): Promise<readonly Municipio[]> => {
      const { rows } = await pool.query<Row>(
        `select tenant, ${READ} from municipios where ensaio_ate is null order by tenant`,
      );
      return rows.map(municipioOf);
    },
    /** Another tenant in production with this IBGE code. */
    findInProducao: (codigoIbge: string, except: string) => findInProducao(pool, codigoIbge, except),
    /** Creates a tenant. False if it exists already, which stays unchanged, or if another is in production under its code. */
    create: (municipio: NovoMunicipio, now: number, atos: readonly NovoAto[] = []): Promise<boolean> =>
      unlessTaken(pool, async (client) => {
        const text = `insert into municipios (tenant, ${COLUMNS}, criado_em) values ($1, ${PARAMETERS}, $${AFTER}::timestamptz)
          on conflict (tenant) do nothing`;
        const { rowCount } = await client.query(text, [...valuesOf(municipio), new Date(now)]);
        if (rowCount !== 1) return false;
        if (!(await takeCode(client, municipio))) throw new CodeTaken();
        await beginCorrente(client, municipio.tenant, now);
        await insertAtos(client, municipio.tenant, atos);
        return true;
      }),
    /** Writes all settings of a tenant. False if there is no such tenant, or another is in production under its code. */
    update: (municipio: Municipio, atos: readonly NovoAto[] = []): Promise<boolean> =>
      unlessTaken(pool, async (client) => {
        const { rows } = await client.query<{ same: boolean }>(
          `select (ambiente, codigo_ibge) is not distinct from ($2::text, $3::text) as same
            from municipios where tenant = $1 for no key update`,
          [municipio.tenant, municipio.ambiente, municipio.codigoIbge],
        );
        if (rows[0] === undefined) return false;
        // Two tenants that have shared a code since earlier versions can still change everything else.
        if (!(await takeCode(client, municipio)) && !rows[0].same) throw new CodeTaken();
        const text = `update municipios set (${COLUMNS}) = (${PARAMETERS}) where tenant = $1`;
        await client.query(text, valuesOf(municipio));
        await tellMunicipio(client, municipio.tenant);
        await insertAtos(client, municipio.tenant, atos);
        return true;
      }),
    /** Whether a tenant has ever numbered a note. */
    hasIssued: async (tenant: string): Promise<boolean> => {
      const text = 'select exists (select 1 from numeracao where tenant = $1) as issued';
      const { rows } = await pool.query<{ issued: boolean }>(text, [tenant]);
      return rows[0]!.issued;
    },
    /** Deletes a tenant with its registry and settings; false when it has numbered a note, or when there is none. */
    delete: (tenant: string): Promise<boolean> => runTransaction(pool, (client) => deleteUnused(client, tenant)),
    /**
     * Stores why the notes of a tenant wait, in Portuguese; undefined: they do not. It is called after every delivery, and writes a change,
     * otherwise at most once a minute. `isVague`: a known problem is more specific and stays. `at`: milliseconds.
     */
    noteProblem: problemNotes(pool),
    /** The current problem, if there is one. */
    findProblem: async (tenant: string): Promise<TransmissionProblem | undefined> => {
      const text = 'select problema, desde, visto_em from transmissoes where tenant = $1 and problema is not null';
      const { rows } = await pool.query<{ problema: string; desde: Date; visto_em: Date }>(text, [tenant]);
      return rows[0] && { problema: rows[0].problema, desde: +rows[0].desde, vistoEm: +rows[0].visto_em };
    },
    /** Establishments of the registry. */
    countPrestadores: async (tenant: string): Promise<number> => {
      const text = 'select count(*)::int as count from prestadores where tenant = $1';
      const { rows } = await pool.query<{ count: number }>(text, [tenant]);
      return rows[0]!.count;
    },
  };
}

async function deleteUnused(client: PoolClient, tenant: string): Promise<boolean> {
  // An issuance adds rows that reference the tenant. One of the two waits for the lock of the other.
  const { rowCount } = await client.query('select 1 from municipios where tenant = $1 for update', [tenant]);
  if (rowCount === 0) return false;
  // A sequence without a note counts too. A process may hold a block of it, and a new tenant of that name would number the same again.
  const text = `select exists (select 1 from numeracao where tenant = $1)
    or exists (select 1 from sequencias where tenant = $1) or exists (select 1 from notas where tenant = $1) as used`;
  const { rows } = await client.query<{ used: boolean }>(text, [tenant]);
  if (rows[0]!.used) return false;
  await client.query(FREE_CODES, [tenant, null]);
  await deleteOfTenant(client, tenant, (tabela) => !LEFT.has(tabela));
  return true;
}

function problemNotes(pool: Db) {
  /** The last problem that this process wrote for each tenant. */
  const written = new Map<string, { readonly problema: string | undefined; readonly at: number }>();
  return async (tenant: string, problem: string | undefined, at: number, isVague = false): Promise<void> => {
    const before = written.get(tenant);
    const problema = (isVague ? (before?.problema ?? problem) : problem)?.slice(0, PROBLEM_CHARS_MAX);
    if (before !== undefined && before.problema === problema && Math.abs(at - before.at) < PROBLEM_FRESH_MS) return;
    written.set(tenant, { problema, at });
    const moment = new Date(at);
    try {
      // A delivery must not wait for this statement, since the problem is written again soon.
      const short = { lockMs: SHORT_LOCK_MS };
      if (problema === undefined) await writeAlone(pool, { text: SOLVED, values: [tenant, moment] }, short);
      else await writeAlone(pool, { text: PROBLEM, values: [tenant, problema, moment, isVague] }, short);
    } catch (error) {
      written.delete(tenant);
      throw error;
    }
  };
}

async function findInProducao(db: Pick<Db, 'query'>, codigoIbge: string, except: string): Promise<string | undefined> {
  const text = `select tenant from municipios where codigo_ibge = $1 and ambiente = 'producao' and tenant <> $2
    order by tenant limit 1`;
  return (await db.query<{ tenant: string }>(text, [codigoIbge, except])).rows[0]?.tenant;
}

/**
 * Closes a municipality whose row was just written in this transaction, and takes its code. Undefined if the code was free; otherwise the
 * tenant in production under it.
 */
export async function closeWritten(client: PoolClient, tenant: string): Promise<string | undefined> {
  const text = `update municipios set fechado = true where tenant = $1 returning tenant, ${READ}`;
  const municipio = municipioOf((await client.query<Row>(text, [tenant])).rows[0]!);
  await tellMunicipio(client, tenant);
  return (await takeCode(client, municipio)) ? undefined : findInProducao(client, municipio.codigoIbge!, tenant);
}

/** Writes the settings of a municipality into the audit chain, in the transaction that changes them. */
export function tellMunicipio(client: PoolClient, tenant: string): Promise<void> {
  return insertRegistradas(client, tenant, 'municipios', { which: 'true' });
}

/** Another tenant is in production under the code, so that nothing is written. */
class CodeTaken extends Error {}

async function unlessTaken(pool: Db, work: (client: PoolClient) => Promise<boolean>): Promise<boolean> {
  try {
    return await runTransaction(pool, work, { lockMs: 0 });
  } catch (error) {
    if (error instanceof CodeTaken) return false;
    throw error;
  }
}

/** $2: the code that a tenant keeps. */
const FREE_CODES = 'delete from codigos_em_producao where tenant = $1 and codigo_ibge is distinct from $2';

/**
 * Takes the code of a municipality. Two tenants in production under one code would accept the same DPS twice. The codes in production
 * therefore have a table of their own, whose key has no tenant (D-137). A tenant that leaves a code frees it. Sandboxes may share one.
 */
async function takeCode(client: PoolClient, { tenant, ambiente, codigoIbge }: NovoMunicipio): Promise<boolean> {
  const code = ambiente === 'producao' ? codigoIbge : undefined;
  await client.query(FREE_CODES, [tenant, code]);
  if (code === undefined) return true;
  const take =
    'insert into codigos_em_producao (codigo_ibge, tenant) values ($1, $2) on conflict (codigo_ibge) do nothing';
  await client.query(take, [code, tenant]);
  const whose = 'select tenant from codigos_em_producao where codigo_ibge = $1';
  return (await client.query<{ tenant: string }>(whose, [code])).rows[0]?.tenant === tenant;
}

/** Tables that a removal leaves: the trail, and given numbers, whose reference to the municipality forbids its removal. */
const LEFT: ReadonlySet<string> = new Set(['atos', 'numeracao', 'numeracao_dps', 'sequencias']);

/** Writes nothing for a tenant that was deleted meanwhile. */
const PROBLEM = `insert into transmissoes as t (tenant, problema, desde, visto_em)
  select tenant, $2::text, $3::timestamptz, $3::timestamptz from municipios where tenant = $1
  on conflict (tenant) do update set visto_em = excluded.visto_em,
    problema = case when $4::boolean then coalesce(t.problema, excluded.problema) else excluded.problema end,
    desde = case when t.problema is null or (not $4::boolean and t.problema <> excluded.problema) then excluded.desde
      else t.desde end`;

const SOLVED = `update transmissoes set problema = null, desde = null, visto_em = $2
  where tenant = $1 and problema is not null`;

function municipioOf({ tenant, ...row }: Row): Municipio {
  const values = SETTINGS.map(([name, { column, read }]): [string, unknown] => {
    const stored = row[column] ?? undefined;
    return [name, stored === undefined || read === undefined ? stored : read(stored as string)];
  });
  const { relogio_ms, exige_cadastro, ensaio_ate, aliquotas_ibs_cbs, brasao } = row as {
    readonly relogio_ms: string;
    readonly exige_cadastro: boolean;
    readonly ensaio_ate: Date | null;
    readonly aliquotas_ibs_cbs: readonly Aliquota[] | null;
    readonly brasao: string | null;
  };
  return {
    ...withSettings(tenant, Object.fromEntries(values)),
    ...(Number(relogio_ms) === 0 ? {} : { relogioMs: Number(relogio_ms) }),
    ...(exige_cadastro ? { exigeCadastro: true as const } : {}),
    ...(ensaio_ate === null ? {} : { ensaioAte: +ensaio_ate }),
    ...(aliquotas_ibs_cbs === null ? {} : { aliquotasIbsCbs: aliquotas_ibs_cbs }),
    ...(brasao === null ? {} : { brasao }),
  };
}

/** Values in the order of the tenant and {@link SETTINGS}. A boolean column is never null. */
function valuesOf(municipio: NovoMunicipio): unknown[] {
  const values = settingsOf(municipio);
  const columns = SETTINGS.map(([name, { sql, write }]) => {
    const value: unknown = values[name] ?? (sql === 'boolean' ? false : undefined);
    return value === undefined || write === undefined ? value : write(value);
  });
  return [municipio.tenant, ...columns];
}
