/** Words of the parties' names, for the search by name. A background job learns them from stored notes. */
import { createHash } from 'node:crypto';
import { insertRows } from '../../base/pg/mergeable.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import type { Ambiente } from '../../fiscal/ambiente.ts';
import { wordsOf } from '../../fiscal/words.ts';

type Nome = { readonly palavra: string; readonly documento: string };

const INSERT = insertRows<Nome>(
  'insert_nomes',
  'nomes',
  [
    ['palavra text', ({ palavra }) => palavra],
    ['documento text', ({ documento }) => documento],
  ],
  'on conflict do nothing',
);

/** Notes that one turn reads. The worker looks at what is due after each turn, and reading more at once delayed it by seconds (D-870). */
export const TURN_NOTES = 2_000;
/** Names in one statement, at most. */
const NAMES = 2_000;
/**
 * Each process reserves ids in blocks: a slow one may store an id below the mark after the mark has passed it. So many ids below it are read
 * again once their number has changed.
 */
const BEHIND = 16_384;
/** Months in the memory of what was learned; beyond them it begins anew. */
const MESES_KNOWN = 20_000;
/** Size of the memory of recent names, which repeat often: the database is not asked about them. */
const KNOWN = 2 ** 19;

/**
 * A query across tenants: months from $1 on with unread notes of one ambiente. The order is random, so that no month is delayed for ever.
 */
const UNREAD = `select m.tenant, s.mes from municipios m cross join meses s
    left join nomes_lidos l on l.tenant = m.tenant and l.mes = s.mes
    cross join lateral (
      select 1 from notas n where n.tenant = m.tenant and n.mes = s.mes and n.id > coalesce(l.ate, 0) order by n.id limit 1
    ) n
  where s.mes >= $1 and m.ambiente = $2 order by random() limit $3`;

type OfMes = { readonly tenant: string; readonly mes: number };

const BEGIN = 'insert into nomes_lidos (tenant, mes, ate) values ($1, $2, 0) on conflict (tenant, mes) do nothing';
/** A mark that another process holds is skipped. */
const TAKE = 'select ate from nomes_lidos where tenant = $1 and mes = $2 for update skip locked';
const ADVANCE = 'update nomes_lidos set ate = $3 where tenant = $1 and mes = $2';
const NAMED = 'id, prestador_cpf_cnpj, prestador_razao_social, tomador_cpf_cnpj, tomador_razao_social';
const countBelow = (mark: string): string =>
  `(select count(*) from notas where tenant = $1 and mes = $2 and id > ${mark} - ${BEHIND} and id <= ${mark})`;
/** The next notes, and the numbers of those below the mark and below the next one: in one statement, which sees one moment. */
const NEXT = `with page as materialized (
    select ${NAMED} from notas where tenant = $1 and mes = $2 and id > $3 order by id limit $4
  ), next as materialized (select max(id) as ate from page)
  select page.*, ${countBelow('$3::bigint')} as below, ${countBelow('(select ate from next)')} as below_next from page order by id`;
const AGAIN = `select ${NAMED} from notas where tenant = $1 and mes = $2 and id > $3 and id <= $4 order by id limit $5`;

/** Names that were not learned; each name has its own lookup, as in `lookUpLines` (`listas.ts`). */
const UNKNOWN = `select x.place::integer from unnest($2::text[], $3::text[]) with ordinality as x (palavra, documento, place)
    left join lateral (
      select true as is_known from nomes n where n.tenant = $1 and n.palavra = x.palavra and n.documento = x.documento offset 0
    ) n on true where n.is_known is null`;

/** A marker beside the words of a name, which says that all of them are stored. No searched word begins like it. */
function markOf(nome: string): string {
  return `#${createHash('sha1').update(nome).digest('base64url').slice(0, 12)}`;
}

/** Six octets of a digest: two texts collide once in 280 million million. */
function printOf(text: string): number {
  return createHash('sha1').update(text).digest().readUIntBE(0, 6);
}

type Named = {
  readonly id: string;
  readonly prestador_cpf_cnpj: string;
  readonly prestador_razao_social: string;
  readonly tomador_cpf_cnpj: string | null;
  readonly tomador_razao_social: string | null;
};
type Next = Named & { readonly below: string; readonly below_next: string };

/** Memory of a process that learns: prints of names, and the number of known notes below the mark of each month. */
type Known = {
  readonly prints: Float64Array;
  readonly below: Map<string, { readonly ate: string; readonly notas: string }>;
};

/** Documents that a search by name uses, at most. */
export const DOCUMENTOS_MAX = 40;

export function nomeStore(pool: Db) {
  // Four megabytes, allocated only where there is something to learn.
  let known: Known | undefined;
  return {
    /**
     * Learns names of notes since `sinceMes`, from a limited number of tenants of each ambiente. They share `TURN_NOTES` notes. Returns
     * whether there may be more.
     */
    learn: async (sinceMes: number, tenants: Readonly<Record<Ambiente, number>>): Promise<boolean> => {
      let isMore = false;
      const rows: OfMes[] = [];
      for (const [ambiente, max] of Object.entries(tenants)) {
        const found = (await pool.query<OfMes>(UNREAD, [sinceMes, ambiente, max])).rows;
        isMore ||= found.length === max;
        rows.push(...found);
      }
      if (rows.length === 0) return false;
      known ??= { prints: new Float64Array(KNOWN), below: new Map() };
      const own = known;
      const notes = Math.ceil(TURN_NOTES / rows.length);
      for (const { tenant, mes } of rows) {
        const read = await learnStep(pool, { tenant, mes }, notes, own);
        isMore ||= read === notes;
      }
      return isMore;
    },
    /** CNPJ and CPF with names that contain all these words, or words that begin so. One more than the limit shows that there are more. */
    find: async (tenant: string, palavras: readonly string[]): Promise<readonly string[]> => {
      const one = (place: number): string =>
        `select documento from nomes where tenant = $1 and palavra >= $${place} and palavra < $${place} || '~'`;
      const text = `${palavras.map((_, place) => one(place + 2)).join(' intersect ')} limit ${DOCUMENTOS_MAX + 1}`;
      const { rows } = await pool.query<{ documento: string }>(text, [tenant, ...palavras]);
      return rows.map(({ documento }) => documento);
    },
  };
}

/** Returns how many new notes were read. */
async function learnStep(pool: Db, { tenant, mes }: OfMes, notes: number, known: Known): Promise<number> {
  const key = `${tenant}/${mes}`;
  const learned = await runTransaction(pool, async (client) => {
    await client.query(BEGIN, [tenant, mes]);
    const [taken] = (await client.query<{ ate: string }>(TAKE, [tenant, mes])).rows;
    if (taken === undefined) return undefined;
    const { rows } = await client.query<Next>(NEXT, [tenant, mes, taken.ate, notes]);
    const last = rows.at(-1);
    if (last === undefined) return undefined;
    const before = known.below.get(key);
    const isSame = before?.ate === taken.ate && before.notas === last.below;
    const prints = [...(await learnNotes(client, tenant, rows, known.prints))];
    if (!isSame) prints.push(...(await learnAgain(client, { tenant, mes }, BigInt(taken.ate), known.prints)));
    await client.query(ADVANCE, [tenant, mes, last.id]);
    return { read: rows.length, prints, below: { ate: last.id, notas: last.below_next } };
  });
  if (learned === undefined) return 0;
  for (const print of learned.prints) known.prints[print % KNOWN] = print;
  if (known.below.size >= MESES_KNOWN) known.below.clear();
  known.below.set(key, learned.below);
  return learned.read;
}

/** Reads the notes below the mark again, in parts, between which the thread is free. Returns the prints of their names. */
async function learnAgain(
  client: PoolClient,
  { tenant, mes }: OfMes,
  ate: bigint,
  known: Float64Array,
): Promise<readonly number[]> {
  const prints: number[] = [];
  let from = String(ate > BEHIND ? ate - BigInt(BEHIND) : 0n);
  for (;;) {
    const { rows } = await client.query<Named>(AGAIN, [tenant, mes, from, String(ate), TURN_NOTES]);
    prints.push(...(await learnNotes(client, tenant, rows, known)));
    if (rows.length < TURN_NOTES) return prints;
    from = rows.at(-1)!.id;
  }
}

/** Returns the prints of the names that this process did not know. */
async function learnNotes(
  client: PoolClient,
  tenant: string,
  rows: readonly Named[],
  known: Float64Array,
): Promise<readonly number[]> {
  const fresh = new Map<number, { readonly documento: string; readonly nome: string }>();
  const note = (documento: string | null, nome: string | null): void => {
    if (documento === null || nome === null) return;
    const print = printOf(`${tenant} ${documento} ${nome}`);
    if (known[print % KNOWN] !== print) fresh.set(print, { documento, nome });
  };
  for (const row of rows) {
    note(row.prestador_cpf_cnpj, row.prestador_razao_social);
    note(row.tomador_cpf_cnpj, row.tomador_razao_social);
  }
  // Statements stay as short as others of the service.
  const names = [...fresh.values()];
  for (let first = 0; first < names.length; first += NAMES) {
    await learnNames(client, tenant, names.slice(first, first + NAMES));
  }
  return [...fresh.keys()];
}

async function learnNames(
  client: PoolClient,
  tenant: string,
  names: readonly { readonly documento: string; readonly nome: string }[],
): Promise<void> {
  const asked = [tenant, names.map(({ nome }) => markOf(nome)), names.map(({ documento }) => documento)];
  const { rows } = await client.query<{ place: number }>(UNKNOWN, asked);
  const words = new Map<string, Nome>();
  for (const { place } of rows) {
    const { documento, nome } = names[place - 1]!;
    for (const palavra of [markOf(nome), ...wordsOf(nome)])
      words.set(`${palavra} ${documento}`, { palavra, documento });
  }
  // A fixed order: two processes that learn the same names wait for each other and never deadlock.
  const sorted = [...words.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, nome]) => nome);
  if (sorted.length > 0) await client.query(INSERT(tenant, sorted));
}
