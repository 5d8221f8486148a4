/**
 * Issuing: what arrives together is numbered and stored by one transaction, and a failure of one does not take the others with it.
 */
import type { Prestador } from '../fiscal/facts.ts';
import type { Announce, AnnouncedClaim, Announcement } from './claim-notas.ts';
import { groupCommit } from './group-commit.ts';
import { giveKeysBack, type KeyedSuccess, takeKeys } from './idempotencia.ts';
import { INSERT_NOTAS, NOTAS_TO_INSERT, type NotaNova, type NumberedNota } from './nota-columns.ts';
import { type AutomaticNumbers, advanceNumbers, automaticNumbers, heldSequences, rememberSeries } from './numeracao.ts';
import { type Db, LOCKED_MAX, type Pipelined, runPipeline, SHORT_LOCK_MS, type TransactionOptions } from './open.ts';
import type { PoolClient } from './pg.ts';
import { planOnce } from './planned.ts';
import { insertPrestadoresOfDps } from './prestadores.ts';
import type { OnStored } from './recent.ts';
import { reserveSequence } from './sequencias.ts';
import { isLocked, UncertainCommit } from './unavailable.ts';

/** Issuances committed together at most. Larger groups save little and make the last one wait. */
const GROUP_MAX = 256;

export type Issuance = {
  /** CNPJ or CPF whose sequence numbers the note. */
  readonly prestador: string;
  /** Identifier of the DPS; of one without number what the identifiers of its series begin with: it takes the next free number. */
  readonly dps: { readonly id: string } | { readonly serie: string };
  /** The provider to create with this note, in the sandbox. */
  readonly novoPrestador: Prestador | undefined;
  /** Of a request that came with one: taken with this note, or nothing is stored (D-19). */
  readonly key?: KeyedSuccess | undefined;
  /** Makes the row, once the numbers are known. Pure and quick: it runs inside the transaction. */
  readonly complete: (numbers: Numbers) => NotaNova;
};

/** `numero`: of the NFS-e; `id`: of the row, and nDFSe; `nDPS`: for a DPS that brings none. */
type Numbers = { readonly numero: bigint; readonly id: bigint; readonly nDPS: bigint | undefined };

/** The note that holds the identifier of a DPS. */
export type DpsHolder = { readonly chave_acesso: string; readonly numero_protocolo: string; readonly id: bigint };

export type IssueResult =
  | { readonly nota: NotaNova }
  | { readonly duplicateOf: DpsHolder }
  /** Somebody was first with this key, and has an answer under it. */
  | { readonly isRepeated: true }
  | { readonly error: unknown };

/** Where a group is issued. */
type On = { readonly pool: Db; readonly tenant: string; readonly onStored: OnStored; readonly announce: Announce };

/** `onStored` is told of every commit; `announce` says whether the notas of a group are announced with it. */
export function notaIssuing(pool: Db, onStored: OnStored, announce: Announce = () => undefined) {
  const lanes = lanesOfIssuing();
  const issue = groupCommit<Issuance, IssueResult>(
    (lane, jobs) => {
      const on: On = { pool, tenant: lane.split('/', 1)[0]!, onStored, announce };
      // A provider that goes apart is expected to be held still: its lock is waited for only briefly.
      const options = isApart(lane) ? { lockMs: SHORT_LOCK_MS } : {};
      return lanes.watch(lane, jobs, () => issueEach(on, jobs, options));
    },
    GROUP_MAX,
    (error, lane) => isLocked(error) && isApart(lane),
  );
  return {
    /** Numbers and stores a nota; answers after the commit. A DPS identifier in use is answered, not thrown. */
    issue: (tenant: string, issuance: Issuance): Promise<IssueResult> =>
      issue(lanes.laneOf(tenant, issuance.prestador), issuance),
    /** How long the group has been on its way that began first, in milliseconds. */
    issuingFor: issue.longest,
  };
}

/**
 * The notes of a tenant are issued together. Those of a provider whose sequence somebody was found to hold go apart, beside the others,
 * until one of them is issued.
 */
function lanesOfIssuing() {
  const apart = new Set<string>();
  return {
    laneOf: (tenant: string, prestador: string): string => {
      const own = `${tenant}/${prestador}`;
      return apart.has(own) ? own : tenant;
    },
    watch: async (lane: string, jobs: readonly Issuance[], work: () => Promise<Results>): Promise<Results> => {
      const own = (prestador: string): string => `${lane.split('/', 1)[0]}/${prestador}`;
      try {
        const results = await work();
        results.forEach((result, place) => {
          if ('error' in result && isLocked(result.error)) apart.add(own(jobs[place]!.prestador));
        });
        apart.delete(lane);
        return results;
      } catch (error) {
        if (isLocked(error)) for (const { prestador } of jobs) apart.add(own(prestador));
        throw error;
      }
    },
  };
}

function isApart(lane: string): boolean {
  return lane.includes('/');
}

/**
 * A row that the database refuses (SQLSTATE classes 22 and 23) fails alone: then each is issued by itself. So does a provider whose
 * sequence somebody holds; where something else is held, each provider is issued by itself.
 */
async function issueEach(on: On, jobs: readonly Issuance[], options: TransactionOptions): Promise<Results> {
  try {
    return await issueGroup(on, jobs, options);
  } catch (error) {
    if (isLocked(error)) return issueUnlocked(on, jobs, error);
    if (jobs.length === 1 || !/^2[23]/.test((error as { code?: string }).code ?? '')) throw error;
  }
  const all = jobs.map((job) => [job]);
  return issueParts(jobs, all, (part) => issueGroup(on, part, options));
}

async function issueUnlocked(on: On, jobs: readonly Issuance[], error: unknown): Promise<Results> {
  const ofEach = Map.groupBy(jobs, ({ prestador }) => prestador);
  if (ofEach.size === 1) throw error;
  const held = await heldSequences(on.pool, on.tenant, [...ofEach.keys()]);
  const free = jobs.filter(({ prestador }) => !held.has(prestador));
  // What is held is something else, or it was let go meanwhile.
  const parts = held.size === 0 ? [...ofEach.values()] : free.length === 0 ? [] : [free];
  const issue = (part: readonly Issuance[]): Promise<Results> => issueGroup(on, part, { lockMs: SHORT_LOCK_MS });
  return issueParts(jobs, parts, issue, error);
}

/** Issues some after others; a part that fails fails alone. An issuance in no part, or in one that is not reached, fails with `error`. */
async function issueParts(
  jobs: readonly Issuance[],
  parts: readonly (readonly Issuance[])[],
  issue: (part: readonly Issuance[]) => Promise<Results>,
  error?: unknown,
): Promise<Results> {
  const results = new Map<Issuance, IssueResult>();
  let locked = 0;
  for (const part of parts) {
    if (locked === LOCKED_MAX) break;
    const issued = await issue(part).catch((failure: unknown) => {
      if (isLocked(failure)) locked += 1;
      return part.map(() => ({ error: failure }));
    });
    for (const [place, job] of part.entries()) results.set(job, issued[place]!);
  }
  return jobs.map((job) => results.get(job) ?? { error });
}

/** Documents of notas as they will be sent; that of one that is held is written anew before. */
export function transmissible(rows: readonly MadeRow[]): readonly (readonly [id: string, nfse: string])[] {
  return rows.flatMap(({ id, nota }) => (nota.retencao === undefined ? [[String(id), nota.nfse] as const] : []));
}

/** What a group came to: a result for each job. */
type Results = readonly IssueResult[];

/**
 * One transaction for a group: the sequences of its providers are locked and advanced, identifiers in use are found under that lock, and
 * the rest is inserted. An identifier contains its provider; the unique index has the last word all the same.
 */
async function issueGroup(
  { pool, tenant, onStored, announce }: On,
  jobs: readonly Issuance[],
  options: TransactionOptions,
): Promise<Results> {
  const firstId = await reserveSequence(pool, tenant, 'nDFSe', jobs.length, options);
  const announcement = announce(tenant, jobs.length);
  const group = { tenant, jobs, firstId, announcement };
  try {
    const { results, rows, known } = await runPipeline(pool, (client) => writeGroup(client, group), options);
    const announced = rows.filter(({ claims }) => claims !== undefined);
    const claim = announcement && announced.length > 0 ? claimOf(announcement, announced, await known) : undefined;
    const documents = transmissible(rows);
    if (documents.length > 0) onStored(tenant, documents, claim);
    return results;
  } catch (error) {
    if (announcement !== undefined && error instanceof UncertainCommit)
      onStored(tenant, [], claimOf(announcement, [], '0'));
    throw error;
  }
}

function claimOf({ token, at }: Announcement, rows: readonly MadeRow[], nsu: string): AnnouncedClaim {
  const notas = rows.map(({ id, nota: { chave_acesso, id_dps, data_emissao } }) => ({
    id: String(id),
    chave_acesso,
    id_dps,
    data_emissao: new Date(data_emissao),
  }));
  return { token, at, nsu, notas };
}

/** What came of jobs that are issued together or not at all: the rows, or the results of which one is no note. */
export type IssuedTogether = Pick<Made, 'rows'> | { readonly results: readonly IssueResult[] };

/** All of these, in one transaction with what `also` writes, or nothing. `also` answers what keeps the notes from being stored. */
export async function issueTogether<Obstacle>(
  pool: Db,
  tenant: string,
  jobs: readonly Issuance[],
  also: (client: PoolClient, rows: readonly MadeRow[]) => Promise<Obstacle | undefined>,
): Promise<IssuedTogether | Obstacle> {
  const firstId = await reserveSequence(pool, tenant, 'nDFSe', jobs.length);
  let instead: IssuedTogether | Obstacle | undefined;
  try {
    return await runPipeline(pool, async (client) => {
      const group = { tenant, jobs, firstId, announcement: undefined };
      const { result, writes } = await writeGroup(client, group);
      const { results, rows } = result;
      if (!results.every((one) => 'nota' in one)) instead = { results };
      await Promise.all(writes);
      instead ??= await also(client, rows);
      if (instead !== undefined) throw new Error('nothing of a group is stored');
      return { result: { rows }, writes: [] };
    });
  } catch (error) {
    if (instead === undefined) throw error;
    return instead;
  }
}

/** Issuances that are written together. `announcement`: their notas are announced as they are stored. */
type Group = {
  readonly tenant: string;
  readonly jobs: readonly Issuance[];
  readonly firstId: bigint;
  readonly announcement: Announcement | undefined;
};

/** `known`: the highest reception number, once the notas are inserted. */
type Written = Made & { readonly known: Promise<string> };

async function writeGroup(
  client: PoolClient,
  group: Group,
): Promise<Pipelined<Written> & { readonly result: Written }> {
  const { tenant, jobs, firstId, announcement } = group;
  const wanted = new Map<string, bigint>();
  for (const { prestador } of jobs) wanted.set(prestador, (wanted.get(prestador) ?? 0n) + 1n);
  const identified = jobs.flatMap(({ dps }) => ('id' in dps ? [dps.id] : []));
  const isKeyed = jobs.some(({ key }) => key !== undefined);
  // Sent in this order: a note that was waited for with its key is then no duplicate but the same request.
  const [repeated, last, holders, automatic] = await Promise.all([
    isKeyed ? takeKeysOf(client, tenant, jobs, firstId) : NONE_REPEATED,
    advanceNumbers(client, tenant, wanted),
    identified.length === 0 ? new Map<string, DpsHolder>() : dpsHolders(client, tenant, identified),
    automaticNumbers(client, tenant, seriesOf(jobs, wanted), jobs.length),
  ]);
  const first = new Map([...wanted].map(([prestador, count]) => [prestador, last.get(prestador)! - count + 1n]));
  const made = completeJobs(group, first, holders, repeated, automatic);
  const writes: Promise<unknown>[] = [];
  const unkept = isKeyed ? listUnusedKeys(jobs, made.results) : [];
  if (unkept.length > 0) writes.push(giveKeysBack(client, tenant, unkept));
  const beyond = [...made.next].map(([prestador, next]) => [prestador, next - 1n - last.get(prestador)!] as const);
  const unused = new Map(beyond.filter(([, numbers]) => numbers < 0n));
  if (unused.size > 0) writes.push(advanceNumbers(client, tenant, unused));
  // Where a series goes on with the number of the next note there is nothing to remember.
  const ahead = automatic.ahead((prestador) => made.next.get(prestador)!);
  if (ahead.length > 0) writes.push(rememberSeries(client, tenant, ahead));
  if (made.rows.length === 0) return { result: { ...made, known: NOTHING_KNOWN }, writes };
  const news = made.rows.flatMap(({ job, nota }) =>
    job.novoPrestador === undefined ? [] : [{ prestador: job.novoPrestador, em: nota.data_emissao }],
  );
  if (news.length > 0) writes.push(insertPrestadoresOfDps(client, tenant, news));
  const { known, documentos } = insertNotas(client, tenant, made.rows, announcement);
  return { result: { ...made, known }, writes: [...writes, known, documentos] };
}

const NOTHING_KNOWN = Promise.resolve('0');

const NONE_REPEATED: ReadonlySet<Issuance> = new Set();

/** Takes the keys of a group for the notes that it is to make; those whose key somebody else has. */
async function takeKeysOf(
  client: PoolClient,
  tenant: string,
  jobs: readonly Issuance[],
  firstId: bigint,
): Promise<ReadonlySet<Issuance>> {
  const entries = jobs.flatMap(({ key }, place) =>
    key === undefined ? [] : [{ ...key, status: 201, nota: firstId + BigInt(place) }],
  );
  const taken = await takeKeys(client, tenant, entries);
  // Of two with one key in a group the first has it.
  return new Set(jobs.filter(({ key }) => key !== undefined && !taken.delete(key.impressao.toString('hex'))));
}

/** Keys that were taken for what is no note: neither made, nor another's before. */
function listUnusedKeys(jobs: readonly Issuance[], results: readonly IssueResult[]): readonly Buffer[] {
  return jobs.flatMap(({ key }, place) => {
    const result = results[place]!;
    return key === undefined || 'nota' in result || 'isRepeated' in result ? [] : [key.impressao];
  });
}

/** The series that have DPS without number in a group, with what the sequence of their provider was advanced by. */
function seriesOf(jobs: readonly Issuance[], advanced: ReadonlyMap<string, bigint>) {
  const series = new Map<string, string>();
  for (const { dps, prestador } of jobs) if ('serie' in dps) series.set(dps.serie, prestador);
  return [...series].map(([serie, prestador]) => ({ serie, prestador, avancado: advanced.get(prestador)! }));
}

export type MadeRow = NumberedNota & { readonly job: Issuance };

type Made = {
  readonly rows: readonly MadeRow[];
  readonly results: readonly IssueResult[];
  /** The number that each provider would have had next. */
  readonly next: ReadonlyMap<string, bigint>;
};

/** Gives each job that is neither a repetition nor a duplicate the next number of its provider, and makes its row. */
function completeJobs(
  { jobs, firstId, announcement }: Group,
  next: Map<string, bigint>,
  holders: Map<string, DpsHolder>,
  repeated: ReadonlySet<Issuance>,
  automatic: AutomaticNumbers,
): Made {
  const rows: MadeRow[] = [];
  const results = jobs.map((job, place): IssueResult => {
    if (repeated.has(job)) return { isRepeated: true };
    const numero = next.get(job.prestador)!;
    const { dps } = job;
    const known = 'id' in dps ? holders.get(dps.id) : undefined;
    if (known !== undefined) return { duplicateOf: known };
    const id = firstId + BigInt(place);
    try {
      const nDPS = 'id' in dps ? undefined : automatic.next(dps.serie, numero, (idDps) => holders.has(idDps));
      const nota = job.complete({ numero, id, nDPS });
      if ('serie' in dps && nDPS !== undefined) automatic.take(dps.serie, nDPS);
      holders.set(nota.id_dps, { chave_acesso: nota.chave_acesso, numero_protocolo: nota.numero_protocolo, id });
      next.set(job.prestador, numero + 1n);
      rows.push({ job, nota, numero, id, claims: isSentAtOnce(nota) ? announcement?.token : undefined });
      return { nota };
    } catch (error) {
      // A document that cannot be made takes no number, and does not take the rest of the group with it.
      return { error };
    }
  });
  return { rows, results, next };
}

/** What is held back, waits for another or is rehearsed becomes due, each in its time. */
function isSentAtOnce({ retencao, substitui, simular }: NotaNova): boolean {
  return retencao === undefined && substitui === undefined && simular === undefined;
}

/** The equality keeps the planner from counting the identifiers: for a few it would make a plan each time. */
const DPS_HOLDERS = planOnce(
  'dps_holders',
  `select n.id_dps, n.chave_acesso, n.numero_protocolo, n.id from unnest($2::text[]) as x (id_dps)
    cross join lateral (select * from notas n
      where n.tenant = $1 and n.id_dps = x.id_dps and n.estado <> 'recusada' limit 1) n
    where x.id_dps || '' = x.id_dps`,
);

async function dpsHolders(client: PoolClient, tenant: string, ids: readonly string[]): Promise<Map<string, DpsHolder>> {
  type Row = { id_dps: string; chave_acesso: string; numero_protocolo: string; id: string };
  const { rows } = await client.query<Row>(DPS_HOLDERS([tenant, ids]));
  return new Map(rows.map(({ id_dps, id, ...row }) => [id_dps, { ...row, id: BigInt(id) }]));
}

/**
 * The documents travel as one block of bytes with their lengths: no escaping, no copy into a text array. The block comes last, since `pg`
 * copies what stands before a parameter for which it needs room.
 */
const INSERT_DOCUMENTOS = planOnce(
  'insert_documentos',
  `insert into documentos (tenant, nota, recebido, nfse, recebido_assinatura)
  select $1, x.id, substring($7::bytea from x.inicio for x.recebido), substring($7::bytea from x.inicio + x.recebido for x.nfse),
    x.assinatura
  from unnest($2::text[], $3::bigint[], $4::int[], $5::int[], $6::int[]) as x (assinatura, id, inicio, recebido, nfse)`,
);

/** `known`: the highest reception number. */
function insertNotas(
  client: PoolClient,
  tenant: string,
  made: readonly MadeRow[],
  announcement: Announcement | undefined,
): { readonly known: Promise<string>; readonly documentos: Promise<unknown> } {
  const { at, until } = announcement ?? {};
  const values = [tenant, momentOf(at), momentOf(until), ...NOTAS_TO_INSERT.valuesOf(made)];
  const signatures = made.map(({ nota }) => nota.recebido_assinatura);
  return {
    known: client.query<{ nsu: string }>(INSERT_NOTAS(values)).then(({ rows }) => rows[0]!.nsu),
    documentos: client.query(INSERT_DOCUMENTOS([tenant, signatures, ...packDocuments(made)])),
  };
}

function momentOf(instant: number | undefined): Date | null {
  return instant === undefined ? null : new Date(instant);
}

/** The ids of a group, where each one's documents begin (from 1, as SQL counts), how long they are, and all of them one after the other. */
function packDocuments(made: readonly MadeRow[]): [string[], number[], number[], number[], Buffer] {
  const sizes = made.map(({ nota }) => nota.recebido.length + Buffer.byteLength(nota.nfse));
  const whole = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size, 0));
  const starts: number[] = [];
  const received: number[] = [];
  const notes: number[] = [];
  let at = 0;
  for (const { nota } of made) {
    const { length } = nota.recebido;
    whole.set(nota.recebido, at);
    starts.push(at + 1);
    received.push(length);
    notes.push(whole.write(nota.nfse, at + length));
    at += length + notes.at(-1)!;
  }
  return [made.map(({ id }) => String(id)), starts, received, notes, whole];
}
