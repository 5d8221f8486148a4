/**
 * Numbers without gaps: of the notes of a provider, and of the DPS that bring none. Such a DPS takes the number of its note. A number that
 * the sender has used is skipped for the next free one of the series (D-18, D-17).
 *
 * Numbers in use are read as runs, in windows, under the lock of the provider's sequence. A series remembers the end of its automatic
 * numbers, so that no run is read twice.
 */
import { dpsIdInSerie, NDPS_WIDTH } from '../../fiscal/chave.ts';
import { asArrays, planMergeable } from '../pg/mergeable.ts';
import type { Db } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { planOnce } from '../pg/planned.ts';
import { unnestRows } from '../pg/sql.ts';
import { MunicipioClosed } from '../pg/unavailable.ts';

/** Growth factor from one window to the next, so that a run of any length is read in a few. */
const WINDOW_GROWTH = 8n;
/** Numbers that a query without issuance looks at. */
const LOOK_AHEAD = 1024n;

const ADVANCE = planMergeable<readonly [prestador: string, quantos: bigint]>(
  'advance_numbers',
  asArrays([
    ['prestador text', ([prestador]) => prestador],
    ['quantos bigint', ([, quantos]) => quantos],
  ]),
  ({ rows, tenant }) => `insert into numeracao as n (tenant, prestador, ultimo)
    select m.tenant, x.prestador, x.quantos from municipios m cross join ${rows}
    where m.tenant = ${tenant} and not m.fechado order by m.tenant, x.prestador
    on conflict (tenant, prestador) do update set ultimo = n.ultimo + excluded.ultimo
    returning n.tenant, prestador, ultimo`,
);

/**
 * Advances the sequences and locks them, always in one order, so that groups of two processes cannot deadlock (D-875). Throws for a closed
 * municipality. A process that takes no number issues nothing, even if its state of the municipality is outdated (D-436).
 */
export async function advanceNumbers(
  client: PoolClient,
  tenant: string,
  counts: ReadonlyMap<string, bigint>,
): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await client.query<{ prestador: string; ultimo: string }>(ADVANCE(tenant, [...counts]));
  if (rows.length !== counts.size) throw new MunicipioClosed(tenant);
  return new Map(rows.map(({ prestador, ultimo }) => [prestador, BigInt(ultimo)]));
}

/**
 * The providers among these whose sequence another transaction holds just now. The other sequences are locked for the duration of the
 * statement.
 */
export async function heldSequences(
  pool: Db,
  tenant: string,
  prestadores: readonly string[],
): Promise<ReadonlySet<string>> {
  const free = `select prestador from numeracao where tenant = $1 and prestador = any ($2::text[])
    for no key update skip locked`;
  const all = 'select prestador from numeracao where tenant = $1 and prestador = any ($2::text[])';
  type Row = { readonly prestador: string };
  const [found, known] = await Promise.all([free, all].map((text) => pool.query<Row>(text, [tenant, prestadores])));
  const isFree = new Set(found!.rows.map(({ prestador }) => prestador));
  return new Set(known!.rows.map(({ prestador }) => prestador).filter((prestador) => !isFree.has(prestador)));
}

/** One series of one provider whose numbers are assigned here. */
type Wanted = {
  readonly serie: string;
  readonly prestador: string;
  /** Number of notes by which this transaction advanced the provider's sequence. */
  readonly avancado: bigint;
  /** Beginning of the window; undefined: the number of the first note, or the position of the series. */
  readonly desde?: bigint;
};

/** `ultimo`: the provider's last NFS-e number before. `emUso`: runs inside the window, in order, including both ends. */
type Window = { readonly ultimo: bigint; readonly desde: bigint; readonly emUso: (readonly [bigint, bigint])[] };

const WANTED = unnestRows<Wanted>(
  [
    ['serie text', ({ serie }) => serie],
    ['prestador text', ({ prestador }) => prestador],
    ['avancado bigint', ({ avancado }) => avancado],
    ['desde bigint', ({ desde }) => desde ?? null],
  ],
  3,
);

/** $2: numbers in the window. The identifier ends in a number of fixed width, so that its order is the order of the numbers. */
const WINDOWS = planOnce(
  'numbers_in_use',
  `with wanted as (
    select k.serie, k.ultimo, coalesce(k.desde, greatest(k.ultimo + 1, k.proximo)) as desde from (
      select x.serie, x.desde,
        coalesce((select n.ultimo from numeracao n where n.tenant = $1 and n.prestador = x.prestador), 0) - x.avancado as ultimo,
        (select s.proximo from numeracao_dps s where s.tenant = $1 and s.serie = x.serie) as proximo
      from ${WANTED.relation} where x.serie || '' = x.serie
    ) k
  )
  select w.serie, w.ultimo, w.desde, r.de, r.ate from wanted w left join lateral (
    select min(u.numero) as de, max(u.numero) as ate from (
      select right(n.id_dps, ${NDPS_WIDTH})::bigint as numero,
        right(n.id_dps, ${NDPS_WIDTH})::bigint - row_number() over (order by n.id_dps) as trecho
      from identidades n where n.tenant = $1 and n.id_dps >= w.serie || lpad(w.desde::text, ${NDPS_WIDTH}, '0')
        and n.id_dps < w.serie || lpad((w.desde + $2)::text, ${NDPS_WIDTH}, '0')
    ) u group by u.trecho
  ) r on true order by w.serie, r.de`,
);

async function readWindows(
  client: Pick<Db, 'query'>,
  tenant: string,
  wanted: readonly Wanted[],
  size: bigint,
): Promise<ReadonlyMap<string, Window>> {
  const values = [tenant, size, ...WANTED.valuesOf(wanted)];
  type Row = { serie: string; ultimo: string; desde: string; de: string | null; ate: string | null };
  const { rows } = await client.query<Row>(WINDOWS(values));
  const windows = new Map<string, Window>();
  for (const { serie, ultimo, desde, de, ate } of rows) {
    const window = windows.getOrInsert(serie, { ultimo: BigInt(ultimo), desde: BigInt(desde), emUso: [] });
    if (de !== null && ate !== null) window.emUso.push([BigInt(de), BigInt(ate)]);
  }
  return windows;
}

/** Free numbers of a series for the DPS without number of a group. Numbers from `ate` on were not read. */
type SerieOfGroup = {
  readonly prestador: string;
  proximo: bigint;
  passed: number;
  ate: bigint;
  readonly emUso: (readonly [bigint, bigint])[];
};

type SerieGoesOn = readonly [serie: string, proximo: bigint];

export type AutomaticNumbers = {
  /** The next free number of a series from `numero` on; `isTaken` checks identifiers taken in the same group. */
  next(serie: string, numero: bigint, isTaken: (idDps: string) => boolean): bigint;
  /** Marks a number as taken. */
  take(serie: string, nDPS: bigint): void;
  /** Positions of the series that are ahead of the number of their provider's next note. */
  ahead(nextOf: (prestador: string) => bigint): readonly SerieGoesOn[];
};

/**
 * The numbers that a group of so many `jobs` may need, for each series with unnumbered DPS. This follows {@link advanceNumbers} in one
 * transaction, whose statements may still be running.
 */
export async function automaticNumbers(
  client: PoolClient,
  tenant: string,
  wanted: readonly Wanted[],
  jobs: number,
): Promise<AutomaticNumbers> {
  const series = new Map<string, SerieOfGroup>();
  // The free numbers below the number of a note are at most `jobs`, and the group itself takes `jobs`.
  const needed = BigInt(2 * jobs);
  let size = 2n * needed;
  let short = wanted;
  while (short.length > 0) {
    const windows = await readWindows(client, tenant, short, size);
    const window = size;
    short = short.flatMap((one) => {
      const { desde, emUso } = windows.get(one.serie)!;
      const known = series.get(one.serie) ?? {
        prestador: one.prestador,
        proximo: desde,
        passed: 0,
        ate: desde,
        emUso: [],
      };
      series.set(one.serie, known);
      known.ate = desde + window;
      known.emUso.push(...emUso);
      const used = emUso.reduce((sum, [from, to]) => sum + to - from + 1n, 0n);
      return window - used >= needed ? [] : [{ ...one, desde: known.ate }];
    });
    size *= WINDOW_GROWTH;
  }
  return {
    next: (...asked) => nextFree(series, ...asked),
    take: (serie, nDPS) => {
      series.get(serie)!.proximo = nDPS + 1n;
    },
    ahead: (nextOf) =>
      [...series].flatMap(([serie, { prestador, proximo }]) =>
        proximo > nextOf(prestador) ? [[serie, proximo] as const] : [],
      ),
  };
}

function nextFree(
  series: ReadonlyMap<string, SerieOfGroup>,
  serie: string,
  numero: bigint,
  isTaken: (idDps: string) => boolean,
): bigint {
  const state = series.get(serie)!;
  const { emUso } = state;
  let next = state.proximo > numero ? state.proximo : numero;
  for (;;) {
    // Numbers and notes of a provider only grow, so a passed run stays behind.
    while (state.passed < emUso.length && emUso[state.passed]![1] < next) state.passed += 1;
    const run = emUso[state.passed];
    if (run !== undefined && run[0] <= next) next = run[1] + 1n;
    else if (isTaken(dpsIdInSerie(serie, next))) next += 1n;
    else break;
  }
  if (next >= state.ate) throw new Error('a group needs more numbers of a series than were looked at');
  return next;
}

const REMEMBER = planOnce(
  'remember_series',
  `insert into numeracao_dps as s (tenant, serie, proximo)
    select m.tenant, x.serie, x.proximo from municipios m cross join unnest($2::text[], $3::bigint[]) as x (serie, proximo)
    where m.tenant = $1 on conflict (tenant, serie) do update set proximo = excluded.proximo`,
);

/** Stores the positions of series. */
export function rememberSeries(client: PoolClient, tenant: string, series: readonly SerieGoesOn[]): Promise<unknown> {
  return client.query(REMEMBER([tenant, series.map(([serie]) => serie), series.map(([, proximo]) => proximo)]));
}

/** The numbers that the next DPS without number of a series would take. This is only a forecast: issuing decides under a lock. */
export type NextNumbers = {
  /** Number of the NFS-e. */
  readonly nNFSe: bigint;
  /** Undefined when all of the next thousand are in use; only issuing looks further. */
  readonly nDPS: bigint | undefined;
  /** The highest automatic number of this series, including the next note. */
  readonly alcancado: bigint;
};

export async function nextNumbers(pool: Db, tenant: string, prestador: string, serie: string): Promise<NextNumbers> {
  const windows = await readWindows(pool, tenant, [{ serie, prestador, avancado: 0n }], LOOK_AHEAD);
  const { ultimo, desde, emUso } = windows.get(serie)!;
  const [first] = emUso;
  const nDPS = first === undefined || first[0] > desde ? desde : first[1] + 1n;
  const nNFSe = ultimo + 1n;
  return {
    nNFSe,
    nDPS: nDPS < desde + LOOK_AHEAD ? nDPS : undefined,
    alcancado: desde > nNFSe ? desde - 1n : nNFSe,
  };
}
