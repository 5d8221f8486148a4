/**
 * The rows of the notas: issuing in groups, readings, and the claims of the worker. All the SQL about notas is here,
 * and every statement that writes or locks names one tenant. What a column means is decided in `fiscal`.
 */
import { randomUUID } from 'node:crypto';
import type { Prestador } from '../fiscal/facts.ts';
import { type NotaEstado, type NotaMove, type NotaTrigger, notaMove } from '../fiscal/nota.ts';
import { type EventoRow, eventoThatNames, moveWaitingEventos, storable, wakeSubstitutas } from './eventos.ts';
import { groupCommit } from './group-commit.ts';
import { giveKeysBack, type KeyedSuccess, takeKeys } from './idempotencia.ts';
import { INSERT_NOTAS, type NotaNova, type NotaRow, notaValues, selectNota } from './nota-columns.ts';
import {
  type AutomaticNumbers,
  advanceNumbers,
  automaticNumbers,
  heldSequences,
  type NextNumbers,
  nextNumbers,
  rememberSeries,
} from './numeracao.ts';
import {
  type Db,
  LOCKED_MAX,
  ONE_BY_ONE,
  pipelined,
  SHORT_LOCK_MS,
  type TransactionOptions,
  transaction,
  writeUnlocked,
} from './open.ts';
import type { PoolClient } from './pg.ts';
import { insertPrestadoresOfDps } from './prestadores.ts';
import { type Recent, recentDocuments } from './recent.ts';
import { advanceRecepcao, insertCertificados, printsOf, type Recebida } from './recepcoes.ts';
import { reserveSequence } from './sequencias.ts';
import { replacesOwn } from './substituicao.ts';
import { isLocked } from './unavailable.ts';

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
export type Numbers = { readonly numero: bigint; readonly id: bigint; readonly nDPS: bigint | undefined };

/** The note that holds the identifier of a DPS. */
export type DpsHolder = { readonly chave_acesso: string; readonly numero_protocolo: string; readonly id: bigint };

export type IssueResult =
  | { readonly nota: NotaNova }
  | { readonly duplicateOf: DpsHolder }
  /** Somebody was first with this key, and has an answer under it. */
  | { readonly isRepeated: true }
  | { readonly error: unknown };

/** A nota that the worker holds for a while. */
export type ClaimedNota = {
  readonly id: string;
  readonly chave_acesso: string;
  readonly id_dps: string;
  /** Where it was found: a nota that was already announced is asked about before it is sent again. */
  readonly found: NotaEstado;
  readonly tentativas: number;
  /** A reception number above which its own is: the highest known when it was first announced, or what was looked through since. */
  readonly nsu_antes: string;
  /** The highest that is known now. */
  readonly nsu_agora: string;
  readonly simular: string | null;
  /** Key of the nota that it replaces; null also where that is another party's. */
  readonly substitui: string | null;
  readonly data_emissao: Date;
};

export type Claim = { readonly token: string; readonly notas: readonly ClaimedNota[] };

export type NotaSettlement = {
  readonly id: string;
  readonly move: NotaMove;
  readonly mensagem: string | undefined;
  /** When the move's `due` is `backoff`. Milliseconds. */
  readonly dueAt: number | undefined;
  /** What the ADN holds now: its reception number, and the signature under which it was sent. */
  readonly recebida?: Recebida | undefined;
  /** Reception number up to which it was looked for in vain: the next look begins there, whoever takes it. */
  readonly lugar?: string | undefined;
};

export type { NotaNova, NotaRow } from './nota-columns.ts';
export type { Recebida } from './recepcoes.ts';

/** What became of a nota that others replace. */
export type Substituida = {
  readonly estado: NotaEstado;
  /** Key that the event by which it was cancelled names; null where that one names none, and where there is none. */
  readonly por: string | null;
};

/** `mensagem`: what is shown of the nota; `motivo` and `quem`: for the trail. */
export type Retirada = { readonly mensagem: string; readonly motivo: string; readonly quem: string };

export type RetiradaResult =
  | 'retirada'
  | 'desconhecida'
  /** It replaces none: nothing can keep it for ever. */
  | 'nao_substitui'
  /** A worker holds it just now. */
  | 'ocupada'
  /** From there it cannot be withdrawn. */
  | { readonly found: NotaEstado }
  /** The nota that it replaces is at its end, so that it goes by itself. */
  | { readonly substituida: NotaEstado }
  /** An event of the replaced nota names it, and may have cancelled that one. */
  | { readonly evento: EventoRow };

/** A move that a nota has made. */
export type NotaStep = {
  readonly em: Date;
  readonly de: NotaEstado | null;
  readonly gatilho: NotaTrigger;
  readonly para: NotaEstado;
  readonly mensagem: string | null;
  /** Who made it by hand; null where nobody did. */
  readonly quem: string | null;
};

/** Notas on their way. `desde`: when the oldest was issued; `proxima`: when the first is due again. Milliseconds. */
export type WaitingNotas = { readonly notas: number; readonly desde: number; readonly proxima: number };

export type NotaStore = {
  /** Numbers and stores a nota; answers after the commit. A DPS identifier in use is answered, not thrown. */
  issue(tenant: string, issuance: Issuance): Promise<IssueResult>;
  /** How long the group has been on its way that began first, in milliseconds. */
  issuingFor(): number;
  findByChave(tenant: string, chave: string): Promise<NotaRow | undefined>;
  findByProtocolo(tenant: string, protocolo: string): Promise<NotaRow | undefined>;
  findByDps(tenant: string, idDps: string): Promise<NotaRow | undefined>;
  /** What the next DPS without number of a CNPJ or CPF would take, for who only asks; `serie`: of `dpsSerieOf`. */
  previewNumbers(tenant: string, prestador: string, serie: string): Promise<NextNumbers>;
  /** `id` of a nota, for what hangs on it. */
  findId(tenant: string, chave: string): Promise<string | undefined>;
  /** What became of notas that others replace, by their keys; those that are not of this service are left out. */
  findSubstituidas(tenant: string, chaves: readonly string[]): Promise<ReadonlyMap<string, Substituida>>;
  /** The received bytes of a nota, to tell whether a repeated DPS is the same document. */
  readReceived(tenant: string, id: bigint): Promise<Buffer | undefined>;
  hasDps(tenant: string, idDps: string): Promise<boolean>;
  /** What waits for the national environment; undefined when nothing does. */
  findWaiting(tenant: string): Promise<WaitingNotas | undefined>;
  /** Tenants with something due: the one question asked across tenants. */
  listTenantsDue(now: number): Promise<readonly string[]>;
  /** Takes due notas under a token of one's own and announces the sending, in one commit. */
  claim(tenant: string, now: number, leaseUntil: number, max: number, token?: string): Promise<Claim>;
  /**
   * Takes under the same token what else was announced and nobody holds, due or not, the lowest numbers first: one look at what the ADN
   * received is for all of them.
   */
  claimAnunciadas(
    tenant: string,
    token: string,
    now: number,
    leaseUntil: number,
    max: number,
  ): Promise<readonly ClaimedNota[]>;
  /** Writes the outcome of the notas that still carry the token; returns how many did. */
  settle(tenant: string, token: string, now: number, settlements: readonly NotaSettlement[]): Promise<number>;
  /** Withdraws a nota that replaces another, was never transmitted, and that no event names: it ends like a refused one. */
  withdraw(tenant: string, chave: string, now: number, by: Retirada): Promise<RetiradaResult>;
  /** The moves of a nota, from its issuance on. */
  listTrail(tenant: string, id: string): Promise<readonly NotaStep[]>;
  /** The NFS-e documents of notas, by id. */
  readNfse(tenant: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Saves {@link readNfse} a reading of what another thread has just stored. */
  keepForTransmission: OnStored;
};

/** Documents of a tenant that a commit has just stored, by nota. */
export type OnStored = (tenant: string, documents: readonly (readonly [id: string, nfse: string])[]) => void;

/** `onStored`: tells of every commit, for a worker elsewhere; without it the documents are kept for one of this process. */
export function notaStore(pool: Db, onStored?: OnStored): NotaStore {
  const recent = recentDocuments();
  const keep: OnStored = (tenant, documents) => {
    for (const [id, nfse] of documents) recent.put(tenant, id, nfse);
  };
  const stored = onStored ?? keep;
  const lanes = lanesOfIssuing();
  const issue = groupCommit<Issuance, IssueResult>(
    async (lane, jobs) => {
      const tenant = lane.split('/', 1)[0]!;
      const { results, rows } = await lanes.watch(lane, jobs, () => issueEach(pool, tenant, jobs, optionsOf(lane)));
      const documents = transmissible(rows);
      if (documents.length > 0) stored(tenant, documents);
      return results;
    },
    GROUP_MAX,
    (error, lane) => isLocked(error) && isApart(lane),
  );
  return {
    issue: (tenant, issuance) => issue(lanes.laneOf(tenant, issuance.prestador), issuance),
    issuingFor: issue.longest,
    findByChave: (tenant, chave) => readNota(pool, 'nota_chave', 'n.chave_acesso = $2', tenant, chave),
    findByProtocolo: (tenant, protocolo) => readNota(pool, 'nota_prot', 'n.numero_protocolo = $2', tenant, protocolo),
    findByDps: (tenant, idDps) => readNota(pool, 'nota_dps', "n.id_dps = $2 and n.estado <> 'recusada'", tenant, idDps),
    previewNumbers: (tenant, prestador, serie) => nextNumbers(pool, tenant, prestador, serie),
    findId: async (tenant, chave) => {
      const text = 'select id from notas where tenant = $1 and chave_acesso = $2';
      return (await pool.query<{ id: string }>({ name: 'nota_id', text, values: [tenant, chave] })).rows[0]?.id;
    },
    findSubstituidas: async (tenant, chaves) => {
      const text = `select n.chave_acesso, n.estado, (select e.campos ->> 'chave_acesso_substituta' from eventos e
          where e.tenant = $1 and e.nota = n.id and e.estado = 'processado' and e.cancela limit 1) as por
        from unnest($2::text[]) as x (chave) join notas n on n.tenant = $1 and n.chave_acesso = x.chave
        where x.chave || '' = x.chave`;
      const { rows } = await pool.query<Substituida & { chave_acesso: string }>(text, [tenant, chaves]);
      return new Map(rows.map(({ chave_acesso, ...substituida }) => [chave_acesso, substituida]));
    },
    readReceived: async (tenant, id) => {
      const text = 'select recebido from documentos where tenant = $1 and nota = $2';
      return (await pool.query<{ recebido: Buffer }>(text, [tenant, id])).rows[0]?.recebido;
    },
    hasDps: async (tenant, idDps) => {
      const text = "select 1 from notas where tenant = $1 and id_dps = $2 and estado <> 'recusada'";
      return (await pool.query({ name: 'has_dps', text, values: [tenant, idDps] })).rowCount === 1;
    },
    findWaiting: async (tenant) => {
      // Only what is not at rest has a due date, and those rows have an index of their own.
      const text = `select count(*)::int as notas, min(data_emissao) as desde, min(due_at) as proxima
        from notas where tenant = $1 and due_at is not null`;
      const { rows } = await pool.query<{ notas: number; desde: Date; proxima: Date }>(text, [tenant]);
      const { notas, desde, proxima } = rows[0]!;
      return notas === 0 ? undefined : { notas, desde: +desde, proxima: +proxima };
    },
    listTenantsDue: async (now) => {
      const text = `select m.tenant from municipios m cross join lateral (select n.due_at from notas n
          where n.tenant = m.tenant and n.due_at is not null order by n.due_at limit 1) n where n.due_at <= $1`;
      const { rows } = await pool.query<{ tenant: string }>({ name: 'tenants_due', text, values: [new Date(now)] });
      return rows.map(({ tenant }) => tenant);
    },
    claim: async (tenant, now, leaseUntil, max, token = randomUUID()) => ({
      token,
      notas: await claim(pool, CLAIM_DUE, tenant, token, now, leaseUntil, max),
    }),
    claimAnunciadas: (tenant, token, now, leaseUntil, max) =>
      claim(pool, CLAIM_ANUNCIADAS, tenant, token, now, leaseUntil, max),
    settle: (tenant, token, now, settlements) =>
      writeUnlocked(settlements, (some, options) => settle(pool, tenant, token, now, some, options)),
    withdraw: (tenant, chave, now, by) => retirar(pool, tenant, chave, now, by),
    listTrail: async (tenant, id) => {
      const text = `select em, de, gatilho, para, mensagem, quem from trilha_notas
        where tenant = $1 and nota = $2 order by movimento`;
      return (await pool.query<NotaStep>(text, [tenant, id])).rows;
    },
    readNfse: (tenant, ids) => readNfses(pool, recent, tenant, ids),
    keepForTransmission: keep,
  };
}

/**
 * The notes of a tenant are issued together, but for those of a provider whose sequence somebody was found to hold: they go apart,
 * beside the others, until one of them is issued.
 */
function lanesOfIssuing() {
  const apart = new Set<string>();
  return {
    laneOf: (tenant: string, prestador: string): string => {
      const own = `${tenant}/${prestador}`;
      return apart.has(own) ? own : tenant;
    },
    watch: async (lane: string, jobs: readonly Issuance[], work: () => Promise<Issued>): Promise<Issued> => {
      const own = (prestador: string): string => `${lane.split('/', 1)[0]}/${prestador}`;
      try {
        const issued = await work();
        issued.results.forEach((result, place) => {
          if ('error' in result && isLocked(result.error)) apart.add(own(jobs[place]!.prestador));
        });
        apart.delete(lane);
        return issued;
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

/** Who goes apart is expected to be held still. */
function optionsOf(lane: string): TransactionOptions {
  return isApart(lane) ? { lockMs: SHORT_LOCK_MS } : {};
}

/**
 * A row that the database refuses (SQLSTATE classes 22 and 23) must not take its group with it: then one by one. Nor must a sequence that
 * somebody holds: then without its provider, or provider by provider where something else is held.
 */
async function issueEach(
  pool: Db,
  tenant: string,
  jobs: readonly Issuance[],
  options: TransactionOptions,
): Promise<Issued> {
  try {
    return await issueGroup(pool, tenant, jobs, options);
  } catch (error) {
    if (isLocked(error)) return issueUnlocked(pool, tenant, jobs, error);
    if (jobs.length === 1 || !/^2[23]/.test((error as { code?: string }).code ?? '')) throw error;
  }
  const all = jobs.map((job) => [job]);
  return issueParts(jobs, all, (part) => issueGroup(pool, tenant, part, options));
}

async function issueUnlocked(pool: Db, tenant: string, jobs: readonly Issuance[], error: unknown): Promise<Issued> {
  const ofEach = Map.groupBy(jobs, ({ prestador }) => prestador);
  if (ofEach.size === 1) throw error;
  const held = await heldSequences(pool, tenant, [...ofEach.keys()]);
  const free = jobs.filter(({ prestador }) => !held.has(prestador));
  // What is held is something else, or it was let go meanwhile.
  const parts = held.size === 0 ? [...ofEach.values()] : free.length === 0 ? [] : [free];
  const issue = (part: readonly Issuance[]): Promise<Issued> =>
    issueGroup(pool, tenant, part, { lockMs: SHORT_LOCK_MS });
  return issueParts(jobs, parts, issue, error);
}

/** Issues some after others; a part that fails fails alone. Who does not come into a part, or not in time, has failed with `error`. */
async function issueParts(
  jobs: readonly Issuance[],
  parts: readonly (readonly Issuance[])[],
  issue: (part: readonly Issuance[]) => Promise<Issued>,
  error?: unknown,
): Promise<Issued> {
  const results = new Map<Issuance, IssueResult>();
  const rows: MadeRow[] = [];
  let locked = 0;
  for (const part of parts) {
    if (locked === LOCKED_MAX) break;
    const issued = await issue(part).catch((failure: unknown) => {
      if (isLocked(failure)) locked += 1;
      return { results: part.map(() => ({ error: failure })), rows: [] };
    });
    for (const [place, job] of part.entries()) results.set(job, issued.results[place]!);
    rows.push(...issued.rows);
  }
  return { results: jobs.map((job) => results.get(job) ?? { error }), rows };
}

/** Documents of notas as they will be sent; that of one that is held is written anew before. */
export function transmissible(rows: readonly MadeRow[]): readonly (readonly [id: string, nfse: string])[] {
  return rows.flatMap(({ id, nota }) => (nota.retencao === undefined ? [[String(id), nota.nfse] as const] : []));
}

/** What a group came to: a result for each job, and the rows that were stored. */
type Issued = Pick<Made, 'results' | 'rows'>;

/**
 * One transaction for a group: the sequences of its providers are locked and advanced, identifiers in use are found
 * under that lock (an identifier contains the provider, so nobody else can be taking it), the rest is inserted.
 * The unique index has the last word all the same.
 */
async function issueGroup(
  pool: Db,
  tenant: string,
  jobs: readonly Issuance[],
  options: TransactionOptions,
): Promise<Issued> {
  const firstId = await reserveSequence(pool, tenant, 'nDFSe', jobs.length, options);
  return pipelined(pool, (client) => writeGroup(client, tenant, jobs, firstId), options);
}

/** What came of jobs that are issued together or not at all: the rows, or the results of which one is no note. */
export type IssuedTogether = Pick<Made, 'rows'> | { readonly results: readonly IssueResult[] };

/** All of these, in one transaction with what `also` writes, or nothing: the transaction is rolled back. */
export async function issueTogether(
  pool: Db,
  tenant: string,
  jobs: readonly Issuance[],
  also: (client: PoolClient, rows: readonly MadeRow[]) => Promise<unknown>,
): Promise<IssuedTogether> {
  const firstId = await reserveSequence(pool, tenant, 'nDFSe', jobs.length);
  let failed: readonly IssueResult[] | undefined;
  try {
    return await pipelined(pool, async (client) => {
      const { result, writes } = await writeGroup(client, tenant, jobs, firstId);
      if (!result.results.every((one) => 'nota' in one)) {
        failed = result.results;
        await Promise.all(writes);
        throw new Error('not all of a group can be issued');
      }
      await Promise.all(writes);
      await also(client, result.rows);
      return { result: { rows: result.rows }, writes: [] };
    });
  } catch (error) {
    if (failed === undefined) throw error;
    return { results: failed };
  }
}

async function writeGroup(
  client: PoolClient,
  tenant: string,
  jobs: readonly Issuance[],
  firstId: bigint,
): Promise<{ readonly result: Made; readonly writes: readonly Promise<unknown>[] }> {
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
  const made = completeJobs(jobs, firstId, first, holders, repeated, automatic);
  const writes: Promise<unknown>[] = [];
  const unkept = isKeyed ? keysToNothing(jobs, made.results) : [];
  if (unkept.length > 0) writes.push(giveKeysBack(client, tenant, unkept));
  const unused = new Map<string, bigint>();
  for (const [prestador, next] of made.next) {
    const left = last.get(prestador)! - next + 1n;
    if (left > 0n) unused.set(prestador, -left);
  }
  if (unused.size > 0) writes.push(advanceNumbers(client, tenant, unused));
  // Where a series goes on with the number of the next note there is nothing to remember.
  const ahead = automatic.ahead((prestador) => made.next.get(prestador)!);
  if (ahead.length > 0) writes.push(rememberSeries(client, tenant, ahead));
  if (made.rows.length > 0) {
    const news = made.rows.flatMap(({ job, nota }) =>
      job.novoPrestador === undefined ? [] : [{ prestador: job.novoPrestador, em: nota.data_emissao }],
    );
    if (news.length > 0) writes.push(insertPrestadoresOfDps(client, tenant, news));
    writes.push(...insertNotas(client, tenant, made.rows));
  }
  return { result: made, writes };
}

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
function keysToNothing(jobs: readonly Issuance[], results: readonly IssueResult[]): readonly Buffer[] {
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

export type MadeRow = { readonly job: Issuance; readonly nota: NotaNova; readonly numero: bigint; readonly id: bigint };

type Made = {
  readonly rows: readonly MadeRow[];
  readonly results: readonly IssueResult[];
  /** The number that each provider would have had next. */
  readonly next: ReadonlyMap<string, bigint>;
};

/** Gives each job that is neither a repetition nor a duplicate the next number of its provider, and makes its row. */
function completeJobs(
  jobs: readonly Issuance[],
  firstId: bigint,
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
      rows.push({ job, nota, numero, id });
      return { nota };
    } catch (error) {
      // A document that cannot be made takes no number, and does not take the rest of the group with it.
      return { error };
    }
  });
  return { rows, results, next };
}

async function dpsHolders(client: PoolClient, tenant: string, ids: readonly string[]): Promise<Map<string, DpsHolder>> {
  const text = `select n.id_dps, n.chave_acesso, n.numero_protocolo, n.id from unnest($2::text[]) as x (id_dps)
    cross join lateral (select * from notas n
      where n.tenant = $1 and n.id_dps = x.id_dps and n.estado <> 'recusada' limit 1) n`;
  const { rows } = await client.query<{ id_dps: string; chave_acesso: string; numero_protocolo: string; id: string }>({
    name: 'dps_holders',
    text,
    values: [tenant, ids],
  });
  return new Map(rows.map(({ id_dps, id, ...row }) => [id_dps, { ...row, id: BigInt(id) }]));
}

/** The documents travel as one block of bytes with their lengths: no escaping, no copy into a text array. */
const INSERT_DOCUMENTOS = `insert into documentos (tenant, nota, recebido, nfse, recebido_assinatura)
  select $1, x.id, substring($2::bytea from x.inicio for x.recebido), substring($2::bytea from x.inicio + x.recebido for x.nfse),
    x.assinatura
  from unnest($3::bigint[], $4::int[], $5::int[], $6::int[], $7::text[]) as x (id, inicio, recebido, nfse, assinatura)`;

const INSERT_TRILHA = `insert into trilha_notas (tenant, nota, movimento, em, de, gatilho, para)
  select $1, x.id, 1, x.em, null, case when x.retencao is null then 'emissao' else 'retencao' end,
    case when x.retencao is null then 'emitida' else 'retida' end
  from unnest($2::bigint[], $3::timestamptz[], $4::text[]) as x (id, em, retencao)`;

function insertNotas(client: PoolClient, tenant: string, made: readonly MadeRow[]): Promise<unknown>[] {
  const ids = made.map(({ id }) => String(id));
  const notas = made.map(({ nota }) => nota);
  const moments = notas.map(({ data_emissao }) => new Date(data_emissao).toISOString());
  const retencoes = notas.map(({ retencao }) => storable(retencao));
  const numeros = made.map(({ numero }) => String(numero));
  const prestadores = made.map(({ job }) => job.prestador);
  const values = [tenant, ids, numeros, prestadores, retencoes, ...notaValues(notas)];
  return [
    client.query({ name: 'insert_notas', text: INSERT_NOTAS, values }),
    client.query({
      name: 'insert_documentos',
      text: INSERT_DOCUMENTOS,
      values: [tenant, ...packed(made), notas.map(({ recebido_assinatura }) => recebido_assinatura)],
    }),
    client.query({ name: 'insert_trilha', text: INSERT_TRILHA, values: [tenant, ids, moments, retencoes] }),
  ];
}

/** All documents of a group one after the other, and where each begins (from 1, as SQL counts) and how long it is. */
function packed(made: readonly MadeRow[]): [Buffer, string[], number[], number[], number[]] {
  const pieces: Uint8Array[] = [];
  const starts: number[] = [];
  const received: number[] = [];
  const notes: number[] = [];
  let start = 1;
  for (const { nota } of made) {
    const nfse = Buffer.from(nota.nfse, 'utf8');
    pieces.push(nota.recebido, nfse);
    starts.push(start);
    received.push(nota.recebido.length);
    notes.push(nfse.length);
    start += nota.recebido.length + nfse.length;
  }
  return [Buffer.concat(pieces), made.map(({ id }) => String(id)), starts, received, notes];
}

async function readNota(
  pool: Db,
  name: string,
  condition: string,
  tenant: string,
  value: string,
): Promise<NotaRow | undefined> {
  const text = selectNota(condition);
  return (await pool.query<NotaRow>({ name, text, values: [tenant, value] })).rows[0];
}

/** From the process's own memory what it has just stored, the rest from the database, as bytes and not as text. */
async function readNfses(
  pool: Db,
  recent: Recent,
  tenant: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const missing: string[] = [];
  for (const id of ids) {
    const text = recent.take(tenant, id);
    if (text === undefined) missing.push(id);
    else found.set(id, text);
  }
  if (missing.length === 0) return found;
  const text = `select d.nota::text as nota, d.nfse from unnest($2::bigint[]) as x (id)
    join documentos d on d.tenant = $1 and d.nota = x.id ${ONE_BY_ONE}`;
  const query = { name: 'nfse_of', text, values: [tenant, missing], binary: true };
  const { rows } = await pool.query<{ nota: string; nfse: Buffer }>(query);
  for (const { nota, nfse } of rows) found.set(nota, nfse.toString('utf8'));
  return found;
}

/** `taken`: the rows to be claimed. */
const claiming = (taken: string): string => `with due as (
    select id, estado from notas where tenant = $1 and ${taken} limit $3 for update skip locked
  ), known as (
    select coalesce((select nsu from recepcoes_adn where tenant = $1), 0) as nsu
  ), moved as (
    update notas n set estado = 'transmitida', claims = $4, due_at = $5, tentativas = n.tentativas + 1,
      movimentos = n.movimentos + 1, nsu_antes = coalesce(n.nsu_antes, known.nsu)
    from due, known where n.tenant = $1 and n.id = due.id
    returning n.id, n.chave_acesso, n.id_dps, due.estado as found, n.tentativas, n.movimentos, n.nsu_antes,
      known.nsu as nsu_agora, n.simular, case when ${replacesOwn('n')} then n.substitui end as substitui, n.data_emissao
  ), trail as (
    insert into trilha_notas (tenant, nota, movimento, em, de, gatilho, para)
    select $1, id, movimentos, $2, found, 'anuncio', 'transmitida' from moved
  )
  select id, chave_acesso, id_dps, found, tentativas, nsu_antes, nsu_agora, simular, substitui, data_emissao from moved order by id`;

const CLAIM_DUE = { name: 'claim_notas', text: claiming('due_at <= $2 order by due_at') };
const CLAIM_ANUNCIADAS = {
  name: 'claim_anunciadas',
  text: claiming(
    `due_at is not null and estado = 'transmitida' and (claims is null or (due_at <= $2 and claims <> $4)) order by nsu_antes`,
  ),
};

async function claim(
  pool: Db,
  statement: { readonly name: string; readonly text: string },
  tenant: string,
  token: string,
  now: number,
  leaseUntil: number,
  max: number,
): Promise<readonly ClaimedNota[]> {
  const values = [tenant, new Date(now), max, token, new Date(leaseUntil)];
  return (await pool.query<ClaimedNota>({ ...statement, values })).rows;
}

const SETTLE = `with moved as (
    update notas n set estado = $6, due_at = $8, claims = null, mensagem_retorno = $7,
      data_autorizacao = case when $5 = 'autorizacao' then $3 else n.data_autorizacao end,
      nsu_recepcao = coalesce(x.nsu, n.nsu_recepcao), assinatura = coalesce(x.assinatura, n.assinatura),
      certificado = coalesce(x.certificado, n.certificado), movimentos = n.movimentos + 1
    from unnest($9::bigint[], $10::bigint[], $11::bytea[], $12::bytea[]) as x (id, nsu, assinatura, certificado)
    ${ONE_BY_ONE} and n.tenant = $1 and n.id = x.id and n.claims = $2 and n.estado = $4
    returning n.id, n.movimentos
  )
  insert into trilha_notas (tenant, nota, movimento, em, de, gatilho, para)
  select $1, id, movimentos, $3, $4, $5, $6 from moved`;

/** Before the claim is given up: whose it is not any more may have been sent meanwhile by who has it. */
const ADVANCE = `update notas n set nsu_antes = greatest(n.nsu_antes, x.lugar)
  from unnest($3::bigint[], $4::bigint[]) as x (id, lugar) ${ONE_BY_ONE} and n.tenant = $1 and n.id = x.id and n.claims = $2`;

/** Notas with the same outcome are settled by one statement: of a batch, nearly all are. */
async function settle(
  pool: Db,
  tenant: string,
  token: string,
  now: number,
  settlements: readonly NotaSettlement[],
  options: TransactionOptions | undefined,
): Promise<number> {
  const received = settlements.map(({ recebida }) => recebida);
  const prints = printsOf(received);
  const outcomes = Map.groupBy(
    settlements,
    ({ move, mensagem, dueAt }) => `${move.on} ${dueAt ?? ''} ${mensagem ?? ''}`,
  );
  const looked = settlements.filter(({ lugar }) => lugar !== undefined);
  return pipelined(
    pool,
    async (client) => {
      const certificados = insertCertificados(client, tenant, prints);
      const advanced =
        looked.length > 0 &&
        client.query(ADVANCE, [tenant, token, looked.map(({ id }) => id), looked.map(({ lugar }) => lugar)]);
      const written = [...outcomes.values()].map(async (same) => {
        const { move, mensagem, dueAt } = same[0]!;
        const due = dueAt === undefined ? null : new Date(dueAt);
        const values = [
          tenant,
          token,
          new Date(now),
          move.from,
          move.on,
          move.to,
          storable(mensagem),
          due,
          same.map(({ id }) => id),
          same.map(({ recebida }) => recebida?.nsu ?? null),
          same.map(({ recebida }) => recebida?.assinatura?.valor ?? null),
          same.map(({ recebida }) => prints.get(recebida?.assinatura?.certificado as Buffer) ?? null),
        ];
        return (await client.query({ name: 'settle_notas', text: SETTLE, values })).rowCount ?? 0;
      });
      const decided = settlements.map(({ id, move }) => ({ id, estado: move.to }));
      const eventos = moveWaitingEventos(client, tenant, now, decided);
      const [counts, moved] = await Promise.all([Promise.all(written), eventos, advanced, ...certificados]);
      const refused = decided.filter(({ estado }) => estado === 'recusada').map(({ id }) => id);
      return {
        result: counts.reduce((total, count) => total + count, 0),
        writes: [
          ...moved,
          ...wakeSubstitutas(client, tenant, now, refused),
          ...advanceRecepcao(client, tenant, received),
        ],
      };
    },
    options,
  );
}

// Withdrawing.

/**
 * The replaced nota is locked first, so that no event on it comes to name this one meanwhile; this one is not waited for, since
 * whoever has it may want that one.
 */
async function retirar(
  pool: Db,
  tenant: string,
  chave: string,
  now: number,
  { mensagem, motivo, quem }: Retirada,
): Promise<RetiradaResult> {
  const found = await pool.query<{ id: string; substitui: string | null; propria: string | null }>(
    `select id, substitui, case when ${replacesOwn('n')} then substitui end as propria
      from notas n where tenant = $1 and chave_acesso = $2`,
    [tenant, chave],
  );
  if (found.rows[0] === undefined) return 'desconhecida';
  const { id, substitui, propria } = found.rows[0];
  if (substitui === null) return 'nao_substitui';
  return transaction(pool, async (client) => {
    const replaced = await client.query<{ id: string; estado: NotaEstado }>(
      'select id, estado from notas where tenant = $1 and chave_acesso = $2 for no key update',
      [tenant, propria],
    );
    const own = await client.query<{ estado: NotaEstado; claims: string | null }>(
      'select estado, claims from notas where tenant = $1 and id = $2 for no key update skip locked',
      [tenant, id],
    );
    if (own.rows[0] === undefined || own.rows[0].claims !== null) return 'ocupada';
    const { estado } = own.rows[0];
    const move = notaMove(estado, 'retirada');
    if (move === undefined) return { found: estado };
    const [antiga] = replaced.rows;
    if (antiga?.estado === 'recusada' || antiga?.estado === 'cancelada') return { substituida: antiga.estado };
    const evento = antiga && (await eventoThatNames(client, tenant, antiga.id, chave));
    if (evento !== undefined) return { evento };
    await client.query(
      `with moved as (
          update notas set estado = $4, due_at = null, mensagem_retorno = $5, movimentos = movimentos + 1
          where tenant = $1 and id = $2 returning id, movimentos
        )
        insert into trilha_notas (tenant, nota, movimento, em, de, gatilho, para, mensagem, quem)
        select $1, id, movimentos, $3, $6, $7, $4, $8, $9 from moved`,
      [tenant, id, new Date(now), move.to, storable(mensagem), estado, move.on, storable(motivo), storable(quem)],
    );
    await Promise.all(await moveWaitingEventos(client, tenant, now, [{ id, estado: move.to }]));
    await Promise.all(wakeSubstitutas(client, tenant, now, [id]));
    return 'retirada';
  });
}
