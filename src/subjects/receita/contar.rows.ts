/**
 * Counts the notes into the sums of their months, behind the issuance. Changes that have their place are added once each. A month that is
 * new, or whose changes were not told, is counted from the notes themselves. One process at a time counts a municipality.
 */
import { readNovas } from '../../base/book/mudancas-novas.ts';
import { askAll, type NotaMovida, readMovidas, readNotas } from '../../base/book/receita-novas.ts';
import { insertRows } from '../../base/pg/mergeable.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import type { Ambiente } from '../../fiscal/ambiente.ts';
import { SEM_CLASSE } from '../../fiscal/classe-issqn.ts';
import { add, formatDecimal, sub, ZERO } from '../../fiscal/decimal.ts';
import { POR, readValores, type Soma, VALORES } from './somas.rows.ts';

type Chave = Pick<Soma, 'por' | 'mes' | 'competencia' | 'chave' | 'classe'>;

const COLUMNS = [
  ['origem text', () => AQUI],
  ['por text', ({ por }: Soma) => por],
  ['mes int', ({ mes }: Soma) => mes],
  ['competencia int', ({ competencia }: Soma) => competencia],
  ['chave text', ({ chave }: Soma) => chave],
  ['classe text', ({ classe }: Soma) => classe],
  ['notas bigint', ({ notas }: Soma) => notas],
  ...VALORES.map((name) => [`${name} numeric`, (soma: Soma) => formatDecimal(soma[name])] as const),
] as const;

/** The place of issue of all notes here. */
const AQUI = 'municipio';
const SUMMED = ['notas', ...VALORES];
const ON_KEY = 'on conflict (tenant, por, mes, competencia, chave, classe, origem) do update set';
const ADDING = `${ON_KEY} ${SUMMED.map((name) => `${name} = r.${name} + excluded.${name}`).join(', ')}`;
const ADD = insertRows<Soma>('add_receita', 'receita_somas as r', COLUMNS, ADDING);
const REPLACE = insertRows<Soma>(
  'replace_receita',
  'receita_somas as r',
  COLUMNS,
  `${ON_KEY} ${SUMMED.map((name) => `${name} = excluded.${name}`).join(', ')}`,
);
/** Rows in one statement. */
const ROWS_MAX = 2_000;

/**
 * The sums of notes by each kind of key. Takers are summed only where they withhold, because all of them are nearly as many as the notes
 * (D-821). The protocol begins with the local day of issue. `offset 0` has the values of a note reckoned once, and not for each key.
 */
const sumNotas = (
  notas: string,
): string => `select d.por, q.competencia, d.chave, q.classe, sum(q.vezes)::bigint as notas,
    ${VALORES.map((name) => `sum(q.${name}) as ${name}`).join(', ')}
  from (${notas} offset 0) q cross join lateral (values ('dia', q.dia), ('servico', q.servico), ('regime', q.regime),
    ('aliquota', q.aliquota), ('prestador', q.prestador), ('tomador', q.tomador)) d (por, chave)
  where d.chave is not null group by d.por, q.competencia, d.chave, q.classe`;

/** The sums as texts, which keep each cent. */
const readSums = (sums: string): string => `select s.por, s.competencia, s.chave, s.classe,
  ${SUMMED.map((name) => `s.${name}::text`).join(', ')} from (${sums}) s`;

/** `vezes`, `tributos`: SQL, how often the amounts of a note count, and its IBS and CBS. */
const columnsOf = (
  vezes: string,
  tributos: string,
): string => `left(n.numero_protocolo, 8) as dia, coalesce(n.servico, '') as servico,
    coalesce(n.regime, '${SEM_CLASSE}') as regime, coalesce(n.aliquota_issqn::text, '') as aliquota, n.prestador_cpf_cnpj as prestador,
    case when n.classe_issqn = 'retido' then coalesce(n.tomador_cpf_cnpj, '') end as tomador,
    (extract(year from n.data_competencia) * 100 + extract(month from n.data_competencia))::int as competencia,
    ${vezes} as vezes, n.valor_servico * ${vezes} as servicos, coalesce(n.valor_base_calculo, 0) * ${vezes} as base,
    coalesce(n.valor_issqn, 0) * ${vezes} as issqn, coalesce(n.valor_ibs, 0) * ${tributos} as ibs, coalesce(n.valor_cbs, 0) * ${tributos} as cbs`;
const CLASSE = `coalesce(n.classe_issqn, '${SEM_CLASSE}')`;

/** The weight of each effect of a change; a cancelled note leaves its class. */
const PESOS = `(values ('e', 1, 1, false), ('h', 1, 0, false), ('s', 0, 1, false), ('r', -1, -1, false), ('c', -1, -1, false),
    ('c', 1, 1, true)) p (efeito, vezes, tributos, cancela)`;

const OF_CHANGES = sumNotas(`select ${columnsOf('p.vezes', 'p.tributos')},
    case when p.cancela then 'cancelada' else ${CLASSE} end as classe
  from unnest($3::bigint[], $4::text[]) x (id, efeito) join ${PESOS} on p.efeito = x.efeito
    join notas n on n.tenant = $1 and n.mes = $2 and n.id = x.id`);
const SUMS_OF_CHANGES = readSums(OF_CHANGES);
/** Nothing of it passes through this process: the sums of each note would cost as much there as in the database (D-820). */
const ADD_CHANGES = `insert into receita_somas as r (tenant, origem, por, mes, competencia, chave, classe, ${SUMMED.join(', ')})
  select $1, '${AQUI}', s.por, $2, s.competencia, s.chave, s.classe, ${SUMMED.map((name) => `s.${name}`).join(', ')}
  from (${OF_CHANGES}) s ${ADDING}`;

const OF_NOTAS =
  sumNotas(`select ${columnsOf('1', '1')}, case when n.estado = 'cancelada' then 'cancelada' else ${CLASSE} end as classe
  from notas n where n.tenant = $1 and n.mes = $2 and n.id > $3 and n.id <= $4 and n.estado <> 'recusada'`);

/** Sums of notes of a month between two ids, and the changes not yet added, as one statement sees them. */
const COUNT = `select 'soma' as tipo, null as texto, s.* from (${readSums(OF_NOTAS)}) s
  union all select 'nova', v.mudancas, ${'null, '.repeat(9)}null from mudancas_novas v where v.tenant = $1
  union all select 'posta', v.notas, ${'null, '.repeat(9)}null from receita_novas v where v.tenant = $1`;
/** Notes that one statement counts: some tenths of a second. */
const NOTAS_MAX = 20_000;
/** Statements of one part; their sums are written together, because most rows are of providers that come again. */
const STATEMENTS = 5;
const NEXT = `select id from notas where tenant = $1 and mes = $2 and id > $3 order by id offset ${NOTAS_MAX - 1} limit 1`;
/** The highest id that the database can have. */
const LAST = 2n ** 63n - 1n;

/** Blocks of changes of a young municipality: they are few for good, and are added without a pause. */
const YOUNG_BLOCKS = 1_000;
/**
 * A query across tenants: those of an ambiente that have something to count, in random order. Changes wait for the pause after the last
 * count, unless the municipality is young (D-857).
 */
const DUE = `select m.tenant from municipios m left join receita_ate a on a.tenant = m.tenant
    left join mudancas_ate u on u.tenant = m.tenant
  where m.ambiente = $1 and ((exists (select 1 from receita_novas v where v.tenant = m.tenant)
      and (a.em is null or a.em <= $3 or a.em > $4 or u.bloco <= ${YOUNG_BLOCKS}))
    or exists (select 1 from receita_meses r where r.tenant = m.tenant and r.pedida is distinct from r.contada)
    or (a.tenant is null and u.tenant is not null))
  order by random() limit $2`;

/** The planner knows nothing of the keys of changes, and would sort the rows of all keys on disk. */
const BY_HASH = 'set local enable_sort = off';
const BEGIN =
  'insert into receita_ate (tenant) select tenant from municipios where tenant = $1 on conflict (tenant) do nothing';
/** A new month is counted from its notes, and so is one whose notes were forgotten. */
const BEGIN_MESES = `insert into receita_meses (tenant, mes, pedida) select $1::text, x.mes, 1 from unnest($2::int[]) as x (mes)
  on conflict (tenant, mes) do nothing`;
const HOLD = 'select tenant from receita_ate where tenant = $1 for update';
const COUNTED = 'update receita_ate set em = $2 where tenant = $1';
/** Rows of told changes that one transaction adds. */
const NOVAS_MAX = 200;
const TAKE_NOVAS = `delete from receita_novas where tenant = $1
  and bloco = any (array(select bloco from receita_novas where tenant = $1 order by bloco limit ${NOVAS_MAX})) returning notas`;
const MESES = `select r.mes, r.pedida, r.contada, r.em_curso, r.ate from receita_meses r
    join meses m on m.mes = r.mes and m.eliminado_em is null where r.tenant = $1 order by r.mes desc`;
const CLEAR = 'delete from receita_somas where tenant = $1 and por = any ($3::text[]) and mes = $2';
const COUNTED_UP_TO = 'update receita_meses set em_curso = $3, ate = $4, contada = $5 where tenant = $1 and mes = $2';
const STORED = `select por, competencia, chave, classe, notas::text, ${VALORES.map((name) => `${name}::text`).join(', ')}
  from receita_somas where tenant = $1 and por = any ($3::text[]) and mes = $2`;

type Mes = Readonly<Record<'pedida' | 'contada' | 'em_curso' | 'ate', string | null>> & { readonly mes: number };

/** `diferentes`: sums that were not those of the notes. */
export type MesConferido = { readonly mes: number; readonly somas: number; readonly diferentes: number };

export function contagemDaReceitaStore(pool: Db) {
  return {
    /** Counts some municipalities of each ambiente; returns whether there may be more. `now`, `pauseMs`: milliseconds. */
    countDue: async (now: number, tenants: Readonly<Record<Ambiente, number>>, pauseMs: number): Promise<boolean> => {
      const [rested, present] = [new Date(now - pauseMs), new Date(now)];
      let isMore = false;
      for (const [ambiente, max] of Object.entries(tenants)) {
        const { rows } = await pool.query<{ tenant: string }>(DUE, [ambiente, max, rested, present]);
        isMore ||= rows.length === max;
        for (const { tenant } of rows) {
          isMore = (await runTransaction(pool, (client) => countTenant(client, tenant, now))) || isMore;
        }
      }
      return isMore;
    },
    /** Compares the sums of each month with its notes, after all told changes were added. `isMending`: writes what differs. */
    prove: async (tenant: string, now: number, isMending: boolean): Promise<readonly MesConferido[]> => {
      while (await runTransaction(pool, (client) => countTenant(client, tenant, now)));
      const proved: MesConferido[] = [];
      for (const { mes } of (await pool.query<Mes>(MESES, [tenant])).rows) {
        proved.push(await runTransaction(pool, (client) => proveMes(client, tenant, mes, isMending), { lockMs: 0 }));
      }
      return proved;
    },
  };
}

/** Adds told changes, or counts a part of a month whose count was asked for. Returns whether there is more. */
async function countTenant(client: PoolClient, tenant: string, now: number): Promise<boolean> {
  const { rowCount: begun } = await client.query(BEGIN, [tenant]);
  if (begun === 1) await askAll(client, tenant);
  const { rowCount: held } = await client.query(`${HOLD} skip locked`, [tenant]);
  if (held === 0) return false;
  await client.query(BY_HASH);
  const { rows } = await client.query<{ notas: string }>(TAKE_NOVAS, [tenant]);
  const movidas = rows.flatMap(({ notas }) => readNotas(notas));
  const moved = [...new Set(movidas.map(({ mes }) => mes))];
  if (moved.length > 0) await client.query(BEGIN_MESES, [tenant, moved]);
  const meses = (await client.query<Mes>(MESES, [tenant])).rows;
  await addChanges(client, tenant, movidas, meses);
  // The rest of them is still due.
  if (rows.length === NOVAS_MAX) return true;
  await client.query(COUNTED, [tenant, new Date(now)]);
  const asked = meses.filter(({ pedida, contada }) => pedida !== contada);
  const isDone = asked[0] === undefined || (await countPart(client, tenant, asked[0]));
  return !isDone || asked.length > 1;
}

/** A note that its month does not count yet is counted later, with these changes. */
async function addChanges(
  client: PoolClient,
  tenant: string,
  movidas: readonly NotaMovida[],
  meses: readonly Mes[],
): Promise<void> {
  const byMes = Map.groupBy(movidas, ({ mes }) => mes);
  for (const { mes, ate } of meses) {
    const last = BigInt(ate ?? -1);
    const counted = (byMes.get(mes) ?? []).filter(({ id }) => BigInt(id) <= last);
    if (counted.length > 0) await client.query(ADD_CHANGES, [tenant, mes, ...arraysOf(counted)]);
  }
}

/** Counts the next notes of a month; a count that is asked for anew begins again. Returns whether the month is done. */
async function countPart(client: PoolClient, tenant: string, { mes, pedida, em_curso, ate }: Mes): Promise<boolean> {
  const isNew = em_curso !== pedida;
  if (isNew) await client.query(CLEAR, [tenant, mes, POR]);
  const { counted, to } = await countFrom(client, tenant, mes, {
    from: isNew ? 0n : BigInt(ate ?? 0),
    max: STATEMENTS,
  });
  await writeSomas(client, tenant, ADD, [...counted.values()]);
  const isDone = to === LAST;
  await client.query(COUNTED_UP_TO, [tenant, mes, pedida, String(to), isDone ? pedida : null]);
  return isDone;
}

/** Sums of the notes of a month after an id, by at most `max` statements; `to`: the last id that they saw. */
async function countFrom(
  client: PoolClient,
  tenant: string,
  mes: number,
  { from, max }: { readonly from: bigint; readonly max: number },
): Promise<{ readonly counted: ReadonlyMap<string, Soma>; readonly to: bigint }> {
  const counted = new Map<string, Soma>();
  let to = from;
  for (let count = 0; count < max && to < LAST; count += 1) {
    const next = await findNext(client, tenant, mes, to);
    for (const [key, soma] of await countNotas(client, tenant, { mes, from: to, to: next })) {
      counted.set(key, combine(counted.get(key) ?? emptyOf(soma), soma, add));
    }
    to = next;
  }
  return { counted, to };
}

async function findNext(client: PoolClient, tenant: string, mes: number, from: bigint): Promise<bigint> {
  const [next] = (await client.query<{ id: string }>(NEXT, [tenant, mes, String(from)])).rows;
  return next === undefined ? LAST : BigInt(next.id);
}

/** Compares the sums of a month with its notes; `isMending`: writes those that differ. Nothing is added meanwhile. */
async function proveMes(client: PoolClient, tenant: string, mes: number, isMending: boolean): Promise<MesConferido> {
  await client.query(HOLD, [tenant]);
  await client.query(BY_HASH);
  const { counted } = await countFrom(client, tenant, mes, { from: 0n, max: Number.POSITIVE_INFINITY });
  const stored = await client.query<Written>(STORED, [tenant, mes, POR]);
  const before = new Map(stored.rows.map((row) => readSoma(mes, row)).map((soma) => [keyOf(soma), soma]));
  const gone = [...before].flatMap(([key, soma]) => (counted.has(key) ? [] : emptyOf(soma)));
  const differing = [...counted.values(), ...gone].filter(
    (soma) => !isEqual(soma, before.get(keyOf(soma)) ?? emptyOf(soma)),
  );
  if (isMending) await writeSomas(client, tenant, REPLACE, differing);
  return { mes, somas: counted.size, diferentes: differing.length };
}

/** Sums of notes of a month after one id and up to another, less the changes that are added later. */
async function countNotas(
  client: PoolClient,
  tenant: string,
  { mes, from, to }: { readonly mes: number; readonly from: bigint; readonly to: bigint },
): Promise<ReadonlyMap<string, Soma>> {
  type Counted = Written & { readonly tipo: 'soma' | 'nova' | 'posta'; readonly texto: string | null };
  const { rows } = await client.query<Counted>(COUNT, [tenant, mes, String(from), String(to)]);
  const ofTipo = (tipo: Counted['tipo']): readonly Counted[] => rows.filter((row) => row.tipo === tipo);
  const novas = ofTipo('nova').map(({ texto }) => ({ id: '', mudancas: texto!, traceparents: null }));
  const placed = ofTipo('posta').flatMap(({ texto }) => readNotas(texto!));
  const early = [...readMovidas(readNovas(novas).mudadas), ...placed].filter(
    (one) => one.mes === mes && BigInt(one.id) > from && BigInt(one.id) <= to,
  );
  const counted = new Map(
    ofTipo('soma')
      .map((row) => readSoma(mes, row))
      .map((soma) => [keyOf(soma), soma]),
  );
  for (const soma of early.length === 0 ? [] : await sumChanges(client, tenant, mes, early)) {
    counted.set(keyOf(soma), combine(counted.get(keyOf(soma)) ?? emptyOf(soma), soma, sub));
  }
  return counted;
}

/** Ids and effects. */
function arraysOf(movidas: readonly NotaMovida[]): readonly (readonly string[])[] {
  return [movidas.map(({ id }) => id), movidas.map(({ efeito }) => efeito)];
}

async function sumChanges(
  client: PoolClient,
  tenant: string,
  mes: number,
  movidas: readonly NotaMovida[],
): Promise<readonly Soma[]> {
  const { rows } = await client.query<Written>(SUMS_OF_CHANGES, [tenant, mes, ...arraysOf(movidas)]);
  return rows.map((row) => readSoma(mes, row));
}

type Written = Omit<Soma, 'mes' | 'notas' | (typeof VALORES)[number]> &
  Readonly<Record<'notas' | (typeof VALORES)[number], string>>;

function readSoma(mes: number, { por, competencia, chave, classe, notas, ...row }: Written): Soma {
  return { por, mes, competencia, chave, classe, notas: Number(notas), ...readValores(row) };
}

function keyOf({ por, competencia, chave, classe }: Chave): string {
  return `${por} ${competencia} ${classe} ${chave}`;
}

function emptyOf({ por, mes, competencia, chave, classe }: Chave): Soma {
  return {
    por,
    mes,
    competencia,
    chave,
    classe,
    notas: 0,
    servicos: ZERO,
    base: ZERO,
    issqn: ZERO,
    ibs: ZERO,
    cbs: ZERO,
  };
}

function combine(one: Soma, other: Soma, join: typeof add): Soma {
  const valores = Object.fromEntries(VALORES.map((name) => [name, join(one[name], other[name])]));
  const notas = join === add ? one.notas + other.notas : one.notas - other.notas;
  return { ...one, notas, ...valores };
}

function isEqual(one: Soma, other: Soma): boolean {
  return one.notas === other.notas && VALORES.every((name) => one[name] === other[name]);
}

/** A fixed order, so that no two writers wait for each other in a circle. */
async function writeSomas(
  client: PoolClient,
  tenant: string,
  write: typeof ADD,
  somas: readonly Soma[],
): Promise<void> {
  const sorted = somas.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  for (let first = 0; first < sorted.length; first += ROWS_MAX) {
    await client.query(write(tenant, sorted.slice(first, first + ROWS_MAX)));
  }
}
