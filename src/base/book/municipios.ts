/** The tenants, and what each has set: its ambiente, whom it trusts, how it reaches the ADN. Files by their paths alone. */
import type { Aliquota } from '../../fiscal/aliquotas-ibs-cbs.ts';
import { type Municipio, type NovoMunicipio, SETTINGS, settingsOf, withSettings } from '../../fiscal/settings.ts';
import { cacheReads } from '../pg/cache-reads.ts';
import { type Db, runTransaction, SHORT_LOCK_MS, writeAlone } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { insertAtos, type NovoAto } from './atos.ts';
import { beginCorrente } from './auditoria-elos.ts';
import { insertRegistradas } from './auditoria-entradas.ts';
import { LISTA_TABLES } from './listas.ts';

export type { AcessoAdn, Confianca, Municipio } from '../../fiscal/settings.ts';

/** `desde`: since when it is this one; `vistoEm`: when it was last met, to the minute. Milliseconds. */
type TransmissionProblem = { readonly problema: string; readonly desde: number; readonly vistoEm: number };

/** A problem that lasts is written again this often, so that it is seen to last, and what another process wrote is mended. */
const PROBLEM_FRESH_MS = 60_000;
/** Far beyond any sentence of ours; an answer from outside may be part of one. */
const PROBLEM_CHARS_MAX = 2_000;

const COLUMNS = SETTINGS.map(([, { column }]) => column).join(', ');
/** After the tenant, in the order of {@link SETTINGS}: the ambiente is $2, the code $3. */
const PARAMETERS = SETTINGS.map(([, { sql }], place) => `$${place + 2}::${sql}`).join(', ');
const AFTER = SETTINGS.length + 2;
const READ = `${COLUMNS}, relogio_ms, exige_cadastro, ensaio_ate, aliquotas_ibs_cbs`;

type Row = { readonly tenant: string } & Readonly<Record<string, unknown>>;

export function municipioStore(pool: Db) {
  const readFresh = async (slug: string): Promise<Municipio | undefined> => {
    const { rows } = await pool.query<Row>(`select tenant, ${READ} from municipios where tenant = $1`, [slug]);
    return rows[0] && municipioOf(rows[0]);
  };
  const bySlug = cacheReads(readFresh);
  return {
    findBySlug: bySlug,
    /** As it is at this moment, whatever was read before. */
    readFresh,
    /** All but the sandboxes of one's own, in the order of their slugs. */
    list: async (): Promise<readonly Municipio[]> => {
      const { rows } = await pool.query<Row>(
        `select tenant, ${READ} from municipios where ensaio_ate is null order by tenant`,
      );
      return rows.map(municipioOf);
    },
    /** Another tenant in production with this IBGE code. */
    findInProducao: (codigoIbge: string, except: string) => findInProducao(pool, codigoIbge, except),
    /** Opens a tenant; false when there is one already, which stays as it is, or another in production under its code. */
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
    /** Writes all that a tenant has set; false when there is no such tenant, or another in production under its code. */
    update: (municipio: Municipio, atos: readonly NovoAto[] = []): Promise<boolean> =>
      unlessTaken(pool, async (client) => {
        const { rows } = await client.query<{ same: boolean }>(
          `select (ambiente, codigo_ibge) is not distinct from ($2::text, $3::text) as same
            from municipios where tenant = $1 for no key update`,
          [municipio.tenant, municipio.ambiente, municipio.codigoIbge],
        );
        if (rows[0] === undefined) return false;
        // Two that share a code from before can still be mended in everything else.
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
    /** Takes a tenant away with its registry and settings; false when it has numbered a note, or when there is none. */
    delete: (tenant: string): Promise<boolean> => runTransaction(pool, (client) => deleteUnused(client, tenant)),
    /**
     * Notes why the notes of a tenant wait, in Portuguese; undefined: they do not. Called after every delivery, it writes a change, and
     * otherwise at most once a minute. `isVague`: a known problem says more, and stays. `at`: milliseconds.
     */
    noteProblem: problemNotes(pool),
    /** What was told last, while it lasts. */
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
  // An issuance adds rows that name the tenant: it waits for this lock, or this lock waits for it.
  const { rowCount } = await client.query('select 1 from municipios where tenant = $1 for update', [tenant]);
  if (rowCount === 0) return false;
  // A sequence without a note counts too: a process may hold a block of it, which a namesake would number again.
  const text = `select exists (select 1 from numeracao where tenant = $1)
    or exists (select 1 from sequencias where tenant = $1) or exists (select 1 from notas where tenant = $1) as used`;
  const { rows } = await client.query<{ used: boolean }>(text, [tenant]);
  if (rows[0]!.used) return false;
  for (const table of OWNED) await client.query(`delete from ${table} where tenant = $1`, [tenant]);
  return true;
}

function problemNotes(pool: Db) {
  /** What this process wrote last of each tenant. */
  const written = new Map<string, { readonly problema: string | undefined; readonly at: number }>();
  return async (tenant: string, problem: string | undefined, at: number, isVague = false): Promise<void> => {
    const before = written.get(tenant);
    const problema = (isVague ? (before?.problema ?? problem) : problem)?.slice(0, PROBLEM_CHARS_MAX);
    if (before !== undefined && before.problema === problema && Math.abs(at - before.at) < PROBLEM_FRESH_MS) return;
    written.set(tenant, { problema, at });
    const moment = new Date(at);
    try {
      // A delivery does not wait for this statement: the problem is written again soon.
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
 * Closes a municipality whose row was just written in this transaction, and takes its code. Undefined; or, where that is another's, the
 * tenant in production under it.
 */
export async function closeWritten(client: PoolClient, tenant: string): Promise<string | undefined> {
  const text = `update municipios set fechado = true where tenant = $1 returning tenant, ${READ}`;
  const municipio = municipioOf((await client.query<Row>(text, [tenant])).rows[0]!);
  await tellMunicipio(client, tenant);
  return (await takeCode(client, municipio)) ? undefined : findInProducao(client, municipio.codigoIbge!, tenant);
}

/** Tells the audit chain what a municipality has set, in the transaction that writes it. */
export function tellMunicipio(client: PoolClient, tenant: string): Promise<void> {
  return insertRegistradas(client, tenant, 'municipios', { which: 'true' });
}

/** Another is in production under the code: nothing is written. */
class CodeTaken extends Error {}

async function unlessTaken(pool: Db, work: (client: PoolClient) => Promise<boolean>): Promise<boolean> {
  try {
    return await runTransaction(pool, work, { lockMs: 0 });
  } catch (error) {
    if (error instanceof CodeTaken) return false;
    throw error;
  }
}

/**
 * A municipality numbers its notes in one place: two tenants in production under one code would accept the same DPS twice. So the codes in
 * production have a table of their own, whose key is no tenant's. Whoever leaves a code frees it. Rehearsals may share one.
 */
async function takeCode(client: PoolClient, { tenant, ambiente, codigoIbge }: NovoMunicipio): Promise<boolean> {
  const code = ambiente === 'producao' ? codigoIbge : undefined;
  const free = 'delete from codigos_em_producao where tenant = $1 and codigo_ibge is distinct from $2';
  await client.query(free, [tenant, code]);
  if (code === undefined) return true;
  const take =
    'insert into codigos_em_producao (codigo_ibge, tenant) values ($1, $2) on conflict (codigo_ibge) do nothing';
  await client.query(take, [code, tenant]);
  const whose = 'select tenant from codigos_em_producao where codigo_ibge = $1';
  return (await client.query<{ tenant: string }>(whose, [code])).rows[0]?.tenant === tenant;
}

/** Tables that have something of a tenant without notes, those that name others first. */
const OWNED = [
  'documentos_lotes',
  'lotes_rps',
  'lotes',
  'correlacoes_legadas',
  'idempotencia',
  'simples_nacional',
  'prestadores',
  ...LISTA_TABLES,
  'certificados',
  'fundamentos',
  'listas_revogados',
  'retencoes',
  'documentos_comprimidos',
  'recepcoes_adn',
  'transmissoes',
  'circuitos',
  'emissoes',
  'recusas',
  'tokens',
  'ensaio_requisicoes',
  'ensaios',
  'entregas',
  'webhooks',
  'exportacoes_partes',
  'exportacoes',
  'mudancas_novas',
  'mudancas_ate',
  'mudancas',
  'mudancas_importadas',
  'importacoes',
  'auditoria',
  'auditoria_ate',
  'auditoria_selos',
  'nomes',
  'nomes_lidos',
  'codigos_em_producao',
  'municipios',
];

/** Writes nothing of a tenant that was deleted meanwhile. */
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
  const { relogio_ms, exige_cadastro, ensaio_ate, aliquotas_ibs_cbs } = row as {
    readonly relogio_ms: string;
    readonly exige_cadastro: boolean;
    readonly ensaio_ate: Date | null;
    readonly aliquotas_ibs_cbs: readonly Aliquota[] | null;
  };
  return {
    ...withSettings(tenant, Object.fromEntries(values)),
    ...(Number(relogio_ms) === 0 ? {} : { relogioMs: Number(relogio_ms) }),
    ...(exige_cadastro ? { exigeCadastro: true as const } : {}),
    ...(ensaio_ate === null ? {} : { ensaioAte: +ensaio_ate }),
    ...(aliquotas_ibs_cbs === null ? {} : { aliquotasIbsCbs: aliquotas_ibs_cbs }),
  };
}

/** In the order of the tenant and {@link SETTINGS}. A column that is on or off is never null. */
function valuesOf(municipio: NovoMunicipio): unknown[] {
  const values = settingsOf(municipio);
  const columns = SETTINGS.map(([name, { sql, write }]) => {
    const value: unknown = values[name] ?? (sql === 'boolean' ? false : undefined);
    return value === undefined || write === undefined ? value : write(value);
  });
  return [municipio.tenant, ...columns];
}
