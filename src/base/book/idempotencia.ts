/**
 * Answers to requests with an idempotency key, so that a repetition gets the same one (D-19). The transaction that stores the nota or the
 * evento takes the key. A crash therefore leaves both or neither. The flows decide whether a request is a repetition.
 *
 * A key is taken before every other lock, and several keys in one order. No lock holder therefore waits for a key.
 */
import { ANSWERS_KEPT_HOURS } from '../../fiscal/ambiente.ts';
import type { Aviso, Fault } from '../../fiscal/fault.ts';
import { batchLookups } from '../pg/batch-lookups.ts';
import { insertRows } from '../pg/mergeable.ts';
import { type Db, ONE_BY_ONE, writeAlone } from '../pg/open.ts';
import type { PoolClient, QueryConfig, QueryResult } from '../pg/pg.ts';
import { planMonthly, planOnce } from '../pg/planned.ts';
import { type ArrayColumn, listColumns } from '../pg/sql.ts';
import { NFSE, type NfseColumns, withNfse } from './documentos.ts';
import { groupByMes, type Ref } from './fila.ts';

const KEPT_MS = ANSWERS_KEPT_HOURS * 3_600_000;
/** Keys that one statement deletes. */
const FORGOTTEN_MAX = 1_000;
/** A longer refusal is not stored: a repetition of the request produces it again. */
const REFUSAL_CHARS_MAX = 65_536;

/** A request that came with a key. */
export type KeyedRequest = {
  /** SHA-256 of the owner of the key and of the key. */
  readonly impressao: Buffer;
  /** Path below the municipality. */
  readonly rota: string;
  /** SHA-256 of the body. */
  readonly corpo: Buffer;
  /** Milliseconds. */
  readonly criado_em: number;
};

/** The request, with the remarks of its answer beside the nota or the evento. */
export type KeyedSuccess = KeyedRequest & { readonly avisos: readonly Aviso[] };

type KeyedRefusal = KeyedRequest & { readonly status: number; readonly faults: readonly [Fault, ...Fault[]] };

type NotaIssued = { readonly chave_acesso: string; readonly numero_protocolo: string; readonly nfse: string };

/** An answer that was given, and its request. */
type KeptAnswer = (KeyedSuccess & ({ readonly nota: NotaIssued } | { readonly evento: string })) | KeyedRefusal;

export function idempotenciaStore(pool: Db) {
  const answers = batchLookups<AnswerRow>((tenant, keys) => readAnswers(pool, tenant, keys));
  return {
    /** The stored answer under a key. `now`: milliseconds. */
    findAnswer: async (tenant: string, impressao: Buffer, now: number): Promise<KeptAnswer | undefined> => {
      const found = await answers(tenant, impressao.toString('hex'));
      return found !== undefined && +found.criado_em > now - KEPT_MS ? answerOf(found) : undefined;
    },
    /** Returns whether the refusal is stored now; false if its key already has an answer. */
    keepRefusal: async (tenant: string, { status, faults, ...request }: KeyedRefusal): Promise<boolean> => {
      const recusa = JSON.stringify(faults);
      if (recusa.length > REFUSAL_CHARS_MAX) return true;
      const alone: Writes = { query: (asked) => writeAlone(pool, asked) };
      return (await takeKeys(alone, tenant, [{ ...request, status, recusa }])).size === 1;
    },
    /** Deletes a part of the expired answers. Returns whether there may be more. */
    forget: async (now: number): Promise<boolean> => {
      const before = new Date(now - KEPT_MS);
      const { rows } = await pool.query<{ tenant: string }>(WITH_OLD_ANSWERS, [before]);
      const counts = await Promise.all(
        rows.map(async ({ tenant }) => (await pool.query(FORGET, [tenant, before, FORGOTTEN_MAX])).rowCount),
      );
      return counts.some((count) => count === FORGOTTEN_MAX);
    },
  };
}

/** A query across tenants. */
const WITH_OLD_ANSWERS = `select m.tenant from municipios m cross join lateral (select 1 from idempotencia i
  where i.tenant = m.tenant and i.criado_em <= $1 limit 1) i`;

/** The form of `ONE_BY_ONE` (`open.ts`) for keys. */
const KEY_BY_KEY = `where x.id || ''::bytea = x.id`;

/** A key that another transaction is taking again is skipped. */
const FORGET = `delete from idempotencia k using unnest(array(select i.impressao from idempotencia i
    where i.tenant = $1 and i.criado_em <= $2 order by i.criado_em limit $3 for update skip locked)) as x (id)
  ${KEY_BY_KEY} and k.tenant = $1 and k.impressao = x.id`;

const READ = planOnce(
  'kept_answers',
  `select encode(i.impressao, 'hex') as hex, i.impressao, i.rota, i.corpo, i.criado_em, i.status, i.avisos, i.recusa,
    i.evento::text as evento, i.nota as id, i.mes
  from unnest($2::bytea[]) as x (id) join idempotencia i on i.tenant = $1 and i.impressao = x.id
  ${KEY_BY_KEY}`,
);

/** Query for the notas of a month ($2). */
const READ_NOTAS = planMonthly(
  'kept_notas',
  `select n.id, n.mes, n.chave_acesso, n.numero_protocolo, ${NFSE} from unnest($3::bigint[]) as x (id)
    join notas n on n.tenant = $1 and n.mes = $2 and n.id = x.id
    left join documentos d on d.tenant = $1 and d.mes = $2 and d.nota = x.id
  ${ONE_BY_ONE}`,
);

type AnswerRow = Omit<KeyedRequest, 'criado_em'> & {
  readonly hex: string;
  readonly criado_em: Date;
  readonly status: number;
  readonly avisos: readonly Aviso[] | null;
  readonly recusa: readonly [Fault, ...Fault[]] | null;
  readonly evento: string | null;
  readonly id: string | null;
  readonly mes: number | null;
  readonly nota?: NotaIssued | undefined;
};

/** Answers by their key in hexadecimal. */
async function readAnswers(pool: Db, tenant: string, keys: readonly string[]): Promise<ReadonlyMap<string, AnswerRow>> {
  const values = [tenant, keys.map((hex) => Buffer.from(hex, 'hex'))];
  const { rows } = await pool.query<AnswerRow>(READ(values));
  const notas = await readNotas(pool, tenant, rows);
  return new Map(rows.map((row) => [row.hex, { ...row, nota: row.id === null ? undefined : notas.get(row.id) }]));
}

/** The notas that are the answers of keys, by `id`. */
async function readNotas(
  pool: Db,
  tenant: string,
  answers: readonly AnswerRow[],
): Promise<ReadonlyMap<string, NotaIssued>> {
  const refs = answers.flatMap(({ id, mes }) => (id === null || mes === null ? [] : [{ id, mes }]));
  type Row = Omit<NotaIssued, 'nfse'> & NfseColumns & Ref;
  const read = async (mes: number, ofMes: readonly Ref[]): Promise<readonly Row[]> =>
    (await pool.query<Row>(READ_NOTAS([tenant, mes, ofMes.map(({ id }) => id)]))).rows;
  const rows = (await Promise.all([...groupByMes(refs)].map(([mes, ofMes]) => read(mes, ofMes)))).flat();
  const whole = await Promise.all(
    rows.map(async (row) => {
      const { id, mes: _mes, nfse, ...nota } = await withNfse({ pool, tenant }, row, row.chave_acesso);
      return [id, { ...nota, nfse: nfse.toString('utf8') }] as const;
    }),
  );
  return new Map(whole);
}

function answerOf(row: AnswerRow): KeptAnswer {
  const { impressao, rota, corpo, criado_em, status, avisos, recusa, evento, nota } = row;
  const request = { impressao, rota, corpo, criado_em: criado_em.getTime() };
  if (recusa !== null) return { ...request, status, faults: recusa };
  if (evento !== null) return { ...request, evento, avisos: avisos! };
  return { ...request, nota: nota!, avisos: avisos! };
}

/** The answer of a key: a nota, an evento or a refusal. */
export type KeyEntry = KeyedRequest & {
  readonly status: number;
  readonly nota?: bigint;
  /** Month of the nota. */
  readonly mes?: number;
  readonly evento?: bigint;
  readonly avisos?: readonly Aviso[];
  /** Faults, as JSON. */
  readonly recusa?: string;
};

const ENTRIES: readonly ArrayColumn<KeyEntry>[] = [
  ['impressao bytea', ({ impressao }) => impressao],
  ['rota text', ({ rota }) => rota],
  ['corpo bytea', ({ corpo }) => corpo],
  ['criado_em timestamptz', ({ criado_em }) => new Date(criado_em).toISOString()],
  ['status smallint', ({ status }) => status],
  ['nota bigint', ({ nota }) => nota?.toString()],
  ['mes int', ({ mes }) => mes],
  ['evento bigint', ({ evento }) => evento?.toString()],
  ['avisos json', ({ avisos }) => avisos && JSON.stringify(avisos)],
  ['recusa json', ({ recusa }) => recusa],
];
const NAMES = ENTRIES.map(([column]) => column.split(' ')[0]!);

/**
 * The statement waits for a key that another transaction is taking. A key that is taken already is missing in the result. Nothing fails,
 * and a group of issuances continues without it. Citus allows no calculation with time in the condition, so one tenant sends its limit.
 */
const TAKE = insertRows<KeyEntry>(
  'take_keys',
  'idempotencia as i',
  ENTRIES,
  ({ isOfSeveral, other }) => `order by m.tenant, x.impressao
  on conflict (tenant, impressao) do update set (${NAMES.join(', ')}) = (${listColumns('excluded', NAMES)})
    where i.criado_em <= ${isOfSeveral ? `excluded.criado_em - interval '${ANSWERS_KEPT_HOURS} hours'` : other}
  returning i.tenant, encode(i.impressao, 'hex') as hex`,
);

/** A transaction, or an object that runs each statement in its own one. */
type Writes = { query(asked: QueryConfig): Promise<QueryResult> };

/** Takes the keys that are free or expired, and returns them in hexadecimal. The first of two equal keys wins. */
export async function takeKeys(db: Writes, tenant: string, entries: readonly KeyEntry[]): Promise<Set<string>> {
  const byKey = new Map<string, KeyEntry>();
  for (const entry of entries) byKey.getOrInsert(entry.impressao.toString('hex'), entry);
  const oldest = Math.min(...entries.map(({ criado_em }) => criado_em));
  const { rows } = await db.query(TAKE(tenant, [...byKey.values()], new Date(oldest - KEPT_MS)));
  return new Set(rows.map(({ hex }: { readonly hex: string }) => hex));
}

const GIVE_BACK = planOnce(
  'give_keys_back',
  `delete from idempotencia i using unnest($2::bytea[]) as x (id)
    ${KEY_BY_KEY} and i.tenant = $1 and i.impressao = x.id`,
);

/** Deletes the keys in the transaction that took them, when their requests came to nothing. */
export function giveKeysBack(client: PoolClient, tenant: string, keys: readonly Buffer[]): Promise<unknown> {
  return client.query(GIVE_BACK([tenant, keys]));
}
