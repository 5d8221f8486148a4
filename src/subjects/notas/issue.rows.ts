/**
 * Issuing: what arrives together is numbered and stored by one transaction, and a failure of one does not take the others with it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Announce, AnnouncedClaim, Announcement } from '../../base/book/claim-notas.ts';
import { giveKeysBack, type KeyedSuccess, takeKeys } from '../../base/book/idempotencia.ts';
import { type DpsHolder, freeDps, insertIdentidades, type TakenDps, takeDps } from '../../base/book/identidades.ts';
import { ensureMeses } from '../../base/book/meses.ts';
import type { NotaNova, NumberedNota } from '../../base/book/nota-columns.ts';
import {
  type AutomaticNumbers,
  advanceNumbers,
  automaticNumbers,
  heldSequences,
  rememberSeries,
} from '../../base/book/numeracao.ts';
import { insertPrestadoresOfDps } from '../../base/book/prestadores.ts';
import type { OnStored } from '../../base/book/recent.ts';
import { reserveSequence } from '../../base/book/sequencias.ts';
import { isDistributed } from '../../base/pg/distributed.ts';
import { groupCommit, measureGroups } from '../../base/pg/group-commit.ts';
import {
  type Db,
  LOCKED_MAX,
  type Pipelined,
  runPipeline,
  SHORT_LOCK_MS,
  type TransactionOptions,
} from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { isLocked, UncertainCommit } from '../../base/pg/unavailable.ts';
import { inTraces, type Traced, traceparentNow } from '../../base/traces/traces.ts';
import type { Prestador } from '../../fiscal/facts.ts';
import { insertNotas } from './insert.rows.ts';

/** Issuances committed together at most. Larger groups save little and make the last one wait. */
const GROUP_MAX = 256;
/** A group waits for more notes on a Citus, which plans each statement twice, for one note as for many (D-495). */
const CITUS_GATHER_MS = 10;

export type Issuance = Traced & {
  /** CNPJ or CPF whose sequence numbers the note. */
  readonly prestador: string;
  /** Of its key, as 202611. */
  readonly mes: number;
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
    measureGroups('nota', (lane, jobs) => {
      const on: On = { pool, tenant: lane.split('/', 1)[0]!, onStored, announce };
      // A provider that goes apart is expected to be held still: its lock is waited for only briefly.
      const options = isApart(lane) ? { lockMs: SHORT_LOCK_MS } : {};
      return inTraces('commit', jobs, { 'nfse.notas': jobs.length }, () =>
        lanes.watch(lane, jobs, () => issueEach(on, jobs, options)),
      );
    }),
    GROUP_MAX,
    (error, lane) => isLocked(error) && isApart(lane),
    () => (isDistributed(pool) ? wait(CITUS_GATHER_MS) : undefined),
  );
  return {
    /** Numbers and stores a nota; answers after the commit. A DPS identifier in use is answered, not thrown. */
    issue: (tenant: string, issuance: Issuance): Promise<IssueResult> =>
      issue(lanes.laneOf(tenant, issuance.prestador), traced(issuance)),
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

/** With the trace of whoever asks for it: a group has those of all its notes. */
function traced(issuance: Issuance): Issuance {
  const traceparent = traceparentNow();
  return traceparent === undefined ? issuance : { ...issuance, traceparent };
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
  await ensureMesesOf(pool, jobs);
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
  const notas = rows.map(({ id, mes, job: { traceparent }, nota: { chave_acesso, id_dps, data_emissao } }) => ({
    id: String(id),
    mes,
    chave_acesso,
    id_dps,
    data_emissao: new Date(data_emissao),
    traceparent: traceparent ?? null,
  }));
  return { token, at, nsu, notas };
}

function ensureMesesOf(pool: Db, jobs: readonly Issuance[]): Promise<void> {
  return ensureMeses(
    pool,
    jobs.map(({ mes }) => mes),
  );
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
  await ensureMesesOf(pool, jobs);
  const firstId = await reserveSequence(pool, tenant, 'nDFSe', jobs.length);
  const group = { tenant, jobs: jobs.map(traced), firstId, announcement: undefined };
  let instead: IssuedTogether | Obstacle | undefined;
  const write = async (client: PoolClient): Promise<Pipelined<IssuedTogether>> => {
    const { result, writes } = await writeGroup(client, group);
    const { results, rows } = result;
    if (!results.every((one) => 'nota' in one)) instead = { results };
    await Promise.all(writes);
    instead ??= await also(client, rows);
    if (instead !== undefined) throw new Error('nothing of a group is stored');
    return { result: { rows }, writes: [] };
  };
  try {
    return await runPipeline(pool, write);
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
  const identified = jobs.flatMap(({ dps, mes }, place) =>
    'id' in dps ? [{ id_dps: dps.id, id: firstId + BigInt(place), mes }] : [],
  );
  const isKeyed = jobs.some(({ key }) => key !== undefined);
  // Sent in this order: a note that was waited for with its key is then no duplicate but the same request, and what the group brings itself
  // is not yet in use for automatic numbers.
  const [repeated, last, automatic, taken] = await Promise.all([
    isKeyed ? takeKeysOf(client, tenant, jobs, firstId) : NONE_REPEATED,
    advanceNumbers(client, tenant, wanted),
    automaticNumbers(client, tenant, seriesOf(jobs, wanted), jobs.length),
    takeDps(client, tenant, identified),
  ]);
  const first = new Map([...wanted].map(([prestador, count]) => [prestador, last.get(prestador)! - count + 1n]));
  const made = completeJobs(group, first, taken.holders, repeated, automatic);
  const writes = [...settleIdentities(client, group, made.rows, taken)];
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
  // Seldom: the first note of a provider in a sandbox. Who is new is told, and known only then.
  if (news.length > 0) await insertPrestadoresOfDps(client, tenant, news);
  const inserted = insertNotas(client, tenant, made.rows, announcement);
  return { result: { ...made, known: inserted.known }, writes: [...writes, ...inserted.writes] };
}

/** Identifiers that were taken for what is no note are free again, those of notes that have none yet are taken. */
function settleIdentities(
  client: PoolClient,
  { tenant, jobs, firstId }: Group,
  rows: readonly MadeRow[],
  { own }: TakenDps,
): readonly Promise<unknown>[] {
  const made = new Set(rows.map(({ id }) => id));
  const unmade = jobs.flatMap(({ dps }, place) => {
    const id = firstId + BigInt(place);
    return 'id' in dps && own.has(id) && !made.has(id) ? [{ id, id_dps: dps.id }] : [];
  });
  const without = rows.filter(({ id }) => !own.has(id));
  return [
    ...(unmade.length === 0 ? [] : [freeDps(client, tenant, unmade)]),
    ...(without.length === 0 ? [] : [insertIdentidades(client, tenant, without)]),
  ];
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
  const entries = jobs.flatMap(({ key, mes }, place) =>
    key === undefined ? [] : [{ ...key, status: 201, nota: firstId + BigInt(place), mes }],
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
      const { id_dps, chave_acesso, numero_protocolo } = nota;
      const { mes } = job;
      holders.set(id_dps, { chave_acesso, numero_protocolo, id, mes });
      next.set(job.prestador, numero + 1n);
      rows.push({ job, nota, numero, id, mes, claims: isSentAtOnce(nota) ? announcement?.token : undefined });
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
