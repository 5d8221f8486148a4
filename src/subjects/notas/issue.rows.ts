/** Numbers and stores concurrent notas in one transaction; the failure of one does not fail the others. */
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
import { shareTransactions, type Together } from '../../base/pg/together.ts';
import { isLocked, UncertainCommit } from '../../base/pg/unavailable.ts';
import { inTraces, type Traced, traceparentNow } from '../../base/traces/traces.ts';
import type { Prestador } from '../../fiscal/facts.ts';
import { insertNotas } from './insert.rows.ts';

/** Issuances in one commit, at most. Larger groups save little and delay the last one. */
const GROUP_MAX = 256;
/** A group waits for more notes on Citus, which plans each statement twice for any number of notes (D-425). */
const CITUS_GATHER_MS = 10;
/** Least time between two groups: a note that comes alone after a pause waits for none (D-872). */
const SPACING_MS = 8;

export type Issuance = Traced & {
  /** CNPJ or CPF whose sequence numbers the note. */
  readonly prestador: string;
  /** The month of the key, as 202611. */
  readonly mes: number;
  /** Identifier of the DPS. A DPS without number has the prefix of its series' identifiers, and takes the next free number. */
  readonly dps: { readonly id: string } | { readonly serie: string };
  /** The municipality has a clock of its own. Its notes are not announced, since the claim would end by the clock of the machine. */
  readonly hasOwnClock?: boolean | undefined;
  /** The provider to create with this note, in the sandbox. */
  readonly novoPrestador: Prestador | undefined;
  /** The idempotency key of the request: it is taken with this note, or nothing is stored (D-19). */
  readonly key?: KeyedSuccess | undefined;
  /** Makes the row, once the numbers are known. Pure and quick: it runs inside the transaction. */
  readonly complete: (numbers: Numbers) => NotaNova;
};

/** `numero`: of the NFS-e; `id`: of the row, and nDFSe; `nDPS`: for a DPS that brings none. */
type Numbers = { readonly numero: bigint; readonly id: bigint; readonly nDPS: bigint | undefined };

export type IssueResult =
  | { readonly nota: NotaNova }
  | { readonly duplicateOf: DpsHolder }
  /** Another request took this key first, and has an answer under it. */
  | { readonly isRepeated: true }
  | { readonly error: unknown };

/** The pool, the tenant and the callbacks of a group. */
type On = {
  readonly pool: Db;
  /** Undefined: the group has a transaction of its own. */
  readonly together: Together | undefined;
  readonly tenant: string;
  readonly onStored: OnStored;
  readonly announce: Announce;
};

/** `onStored` is called at every commit; `announce` says whether the notas of a group are announced with it. */
export function notaIssuing(pool: Db, onStored: OnStored, announce: Announce = () => undefined) {
  const lanes = lanesOfIssuing();
  const together = shareTransactions(pool, SPACING_MS);
  const issue = groupCommit<Issuance, IssueResult>(
    measureGroups('nota', (lane, jobs) => {
      const on: On = {
        pool,
        together: isApart(lane) ? undefined : together,
        tenant: lane.split('/', 1)[0]!,
        onStored,
        announce,
      };
      // The sequence of a separated provider is probably still locked: the wait for its lock is short.
      const options = isApart(lane) ? { lockMs: SHORT_LOCK_MS } : {};
      return inTraces('commit', jobs, { 'nfse.notas': jobs.length }, () =>
        lanes.watch(lane, jobs, () => issueEach(on, jobs, options)),
      );
    }),
    GROUP_MAX,
    (error, lane) => isLocked(error) && isApart(lane),
    (lane) => {
      if (isDistributed(pool)) return wait(CITUS_GATHER_MS);
      return isApart(lane) ? undefined : together.ready();
    },
  );
  return {
    /** Numbers and stores a nota, and returns after the commit. A used DPS identifier is a result, not an exception. */
    issue: (tenant: string, issuance: Issuance): Promise<IssueResult> =>
      issue(lanes.laneOf(tenant, issuance.prestador), traced(issuance)),
    /** The age of the oldest running group, in milliseconds. */
    issuingFor: issue.longest,
  };
}

/**
 * The notes of a tenant are issued together. A provider whose sequence was found locked gets its own lane until one of its notes is issued.
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

/** Adds the caller's trace; a group has the traces of all its notes. */
function traced(issuance: Issuance): Issuance {
  const traceparent = traceparentNow();
  return traceparent === undefined ? issuance : { ...issuance, traceparent };
}

function isApart(lane: string): boolean {
  return lane.includes('/');
}

/** The same group with a transaction of its own. */
function setApart(on: On): On {
  return { ...on, together: undefined };
}

/**
 * A row that the database refuses (SQLSTATE classes 22 and 23) fails alone: each row is then issued by itself. A provider whose sequence is
 * locked fails alone too. Each provider is issued by itself when the lock is on something else (D-250).
 */
async function issueEach(on: On, jobs: readonly Issuance[], options: TransactionOptions): Promise<Results> {
  try {
    return await issueGroup(on, jobs, options);
  } catch (error) {
    if (isLocked(error)) return issueUnlocked(on, jobs, error);
    if (jobs.length === 1 || !/^2[23]/.test((error as { code?: string }).code ?? '')) throw error;
  }
  const all = jobs.map((job) => [job]);
  return issueParts(jobs, all, (part) => issueGroup(setApart(on), part, options));
}

async function issueUnlocked(on: On, jobs: readonly Issuance[], error: unknown): Promise<Results> {
  const ofEach = Map.groupBy(jobs, ({ prestador }) => prestador);
  if (ofEach.size === 1) throw error;
  const held = await heldSequences(on.pool, on.tenant, [...ofEach.keys()]);
  const free = jobs.filter(({ prestador }) => !held.has(prestador));
  // The lock is on something else, or was released meanwhile.
  const parts = held.size === 0 ? [...ofEach.values()] : free.length === 0 ? [] : [free];
  const issue = (part: readonly Issuance[]): Promise<Results> =>
    issueGroup(setApart(on), part, { lockMs: SHORT_LOCK_MS });
  return issueParts(jobs, parts, issue, error);
}

/**
 * Issues the parts one after the other; a failed part does not stop the others. An issuance in no part, or in an unreached one, fails with
 * `error`.
 */
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

/** Documents of the notas that can be sent as they are; the document of a held one is completed later. */
export function transmissible(rows: readonly MadeRow[]): readonly (readonly [id: string, nfse: string])[] {
  return rows.flatMap(({ id, nota }) => (nota.retencao === undefined ? [[String(id), nota.nfse] as const] : []));
}

/** The results of a group, one for each job. */
type Results = readonly IssueResult[];

/**
 * Issues a group in one transaction. It locks and advances the sequences of the providers, finds used identifiers under that lock, and
 * inserts the rest. An identifier contains its provider; the unique index is the last safeguard.
 */
async function issueGroup(
  { pool, together, tenant, onStored, announce }: On,
  jobs: readonly Issuance[],
  options: TransactionOptions,
): Promise<Results> {
  await ensureMesesOf(pool, jobs);
  const firstId = await reserveSequence(pool, tenant, 'nDFSe', jobs.length, options);
  const announcement = jobs.some(({ hasOwnClock }) => hasOwnClock) ? undefined : announce(tenant, jobs.length);
  const group = { tenant, jobs, firstId, announcement };
  try {
    const write = (client: PoolClient) => writeGroup(client, group);
    const { results, rows, known } = await (together === undefined
      ? runPipeline(pool, write, options)
      : together.run(tenant, write, options));
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

/** The result of issuing jobs all together or not at all: the rows, or the results when one job yields no note. */
export type IssuedTogether = Pick<Made, 'rows'> | { readonly results: readonly IssueResult[] };

/**
 * Stores all notes in one transaction with the writes of `also`, or nothing. `also` returns an obstacle when the notes must not be stored.
 */
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

/** Issuances that are written together. `announcement`: their notas are announced when they are stored. */
type Group = {
  readonly tenant: string;
  readonly jobs: readonly Issuance[];
  readonly firstId: bigint;
  readonly announcement: Announcement | undefined;
};

/** `known`: the highest reception number, after the notas are inserted. */
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
  // The order of these statements matters. A request that waited for its key is a repetition, not a duplicate. The group's own identifiers
  // are not yet in use when automatic numbers are chosen.
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
  // A series that continues with the number of the next note needs no stored position.
  const ahead = automatic.ahead((prestador) => made.next.get(prestador)!);
  if (ahead.length > 0) writes.push(rememberSeries(client, tenant, ahead));
  if (made.rows.length === 0) return { result: { ...made, known: NOTHING_KNOWN }, writes };
  const news = made.rows.flatMap(({ job, nota }) =>
    job.novoPrestador === undefined ? [] : [{ prestador: job.novoPrestador, em: nota.data_emissao }],
  );
  // A new provider is rare: the first note of one in a sandbox. The insert itself tells which are new, and the audit chain records them.
  if (news.length > 0) await insertPrestadoresOfDps(client, tenant, news);
  const inserted = insertNotas(client, tenant, made.rows, announcement);
  return { result: { ...made, known: inserted.known }, writes: [...writes, ...inserted.writes] };
}

/** Frees identifiers that were taken for no note, and stores those of notes that have none yet. */
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

/** Takes the keys of a group for its future notes; returns the jobs whose key another request has. */
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
  // The first job in the group wins a key that two jobs have.
  return new Set(jobs.filter(({ key }) => key !== undefined && !taken.delete(key.impressao.toString('hex'))));
}

/** Keys that were taken but yield no note: neither a new one nor an earlier one. */
function listUnusedKeys(jobs: readonly Issuance[], results: readonly IssueResult[]): readonly Buffer[] {
  return jobs.flatMap(({ key }, place) => {
    const result = results[place]!;
    return key === undefined || 'nota' in result || 'isRepeated' in result ? [] : [key.impressao];
  });
}

/** The series of a group's DPS without number, each with the count by which its provider's sequence was advanced. */
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

/** Gives each new job the next number of its provider, and makes its row. Repetitions and duplicates take no number. */
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
      // A failed document takes no number, and does not fail the rest of the group.
      return { error };
    }
  });
  return { rows, results, next };
}

/** Held, substitute and simulated notas are not sent at once: each becomes due later. */
function isSentAtOnce({ retencao, substitui, simular }: NotaNova): boolean {
  return retencao === undefined && substitui === undefined && simular === undefined;
}
