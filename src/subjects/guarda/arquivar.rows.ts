/**
 * Moves a month into the archive and back. A file for each municipality is written, synced and read back before any row is removed. The
 * tables of the month are then emptied together; they stay for later moves (D-450). A killed command can be repeated at any point.
 */
import path from 'node:path';
import { arquivoOf } from '../../base/book/arquivo.ts';
import {
  ArquivoDanificado,
  ArquivoWriter,
  eachRegistro,
  hashOf,
  openArquivo,
  type Registro,
  writeHead,
} from '../../base/book/arquivo-formato.ts';
import type { ArquivoLugar } from '../../base/book/arquivo-lugar.ts';
import type { Escrito } from '../../base/book/arquivo-rascunho.ts';
import { folhasApagadas, insertEntrada, insertRegistradas, takeAway } from '../../base/book/auditoria-entradas.ts';
import { ensureMeses } from '../../base/book/meses.ts';
import { constraintOf } from '../../base/pg/constraint.ts';
import { withoutLimits } from '../../base/pg/migration-steps.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { isLocked } from '../../base/pg/unavailable.ts';
import { ignoring } from '../../base/traces/ignoring.ts';
import { nameMes } from '../../fiscal/moment.ts';
import {
  bytesOf,
  countLinhas,
  fundamentosOf,
  insertRegistros,
  type Linhas,
  NAMES,
  registrosOf,
  STEP,
} from './arquivo-registros.rows.ts';
import { forgetEnsaios } from './guarda.rows.ts';

/** A file of the archive, as the database records it. */
export type Arquivado = {
  readonly tenant: string;
  readonly mes: number;
  readonly geracao: number;
  readonly nome: string;
  readonly bytes: number;
  readonly sha256: Buffer;
  readonly anterior: Buffer | null;
  /** SHA-256 of the certificate that signed it; null: it is not signed. */
  readonly certificado: Buffer | null;
  readonly linhas: Linhas;
  readonly criado_em: Date;
  /** When it was read back and signed; null: the command that wrote it has not come so far. */
  readonly pronto_em: Date | null;
  readonly trazido_em: Date | null;
  /** Since when the month is in its files; null: it is in the database. */
  readonly arquivado_em: Date | null;
  /** Since when the month is eliminated, and the file removed. */
  readonly eliminado_em: Date | null;
};

/** `certificado`: in PEM; `impressao`: its SHA-256. */
type Assinatura = { readonly assinatura: Buffer; readonly certificado: string; readonly impressao: Buffer };
/** Signs for a municipality; undefined: it has no certificate. */
export type SignArquivo = (tenant: string, text: Buffer) => Assinatura | undefined;

/** A refusal for the operator; the archive is unchanged. */
export class ArquivoRecusado extends Error {}

/** Work that is under way in a month, and keeps it from being closed. */
export type EmAndamento = { readonly tenant: string; readonly tipo: string; readonly quantos: number };

const SELECT = `select a.*, a.bytes::float8 as bytes, m.arquivado_em, m.eliminado_em from arquivos a join meses m on m.mes = a.mes`;

export function arquivoStore(pool: Db) {
  return {
    /** The place of the archive as the operator configured it; undefined: it is not configured. */
    lugar: (): string | undefined => arquivoOf(pool)?.lugar,
    /** All files, by month. */
    listArquivos: async (): Promise<readonly Arquivado[]> =>
      (await pool.query<Arquivado>(`${SELECT} order by a.mes, a.tenant, a.geracao`)).rows,
    /** The months with tables. `arquivado_em`: since when a month is in files. */
    listMeses: async () =>
      (await pool.query<{ mes: number; arquivado_em: Date | null }>('select mes, arquivado_em from meses order by mes'))
        .rows,
    listEmAndamento: (mes: number) => readEmAndamento(pool, mes),
    /** See {@link closeMes}. */
    closeMes: (mes: number, work: Work) => inTurn(pool, () => closeMes(pool, mes, work)),
    /** See {@link bringMes}. */
    bringMes: (mes: number, work: Omit<Work, 'sign'>) => inTurn(pool, () => bringMes(pool, mes, work)),
    /** See {@link findDamage}. */
    findDamage: (one: Arquivado): Promise<string | undefined> => findDamage(lugarOf(pool), one),
    /** A small file beside one of the archive; undefined: it does not exist. */
    readBeside: (nome: string): Promise<Buffer | undefined> => lugarOf(pool).readBeside(nome),
    /** Names of all files in the archive. */
    listNames: () => lugarOf(pool).list(),
  };
}

function lugarOf(pool: Db): ArquivoLugar {
  const lugar = arquivoOf(pool);
  if (lugar === undefined) throw new Error('NFSE_ARQUIVO não está definida: diz onde está o arquivo.');
  return lugar;
}

/** The wait for the lock, longer than the server takes to cancel an automatic statistics run for a waiting command. */
const TURN_MAX_MS = 3_000;
const BUSY =
  'Outro nfse arquivo fechar, arquivo trazer ou guarda eliminar está em andamento neste banco: dê o comando de novo quando ele terminar.';

/**
 * One command at a time, by the lock of an open transaction as in `migrate.ts`: no crash outlives it. Issuance and queries do not wait for
 * it. The keys of `arquivos` still order the files if the lock is lost. The command waits for the lock: the server notices the end of a
 * command late, and its statistics run takes the same lock.
 */
export async function inTurn<Result>(pool: Db, work: () => Promise<Result>): Promise<Result> {
  const turn = await pool.connect();
  try {
    await turn.query(`begin; ${withoutLimits('transaction')}; set local lock_timeout = ${TURN_MAX_MS}`);
    await turn.query('lock table arquivos in share update exclusive mode').catch((error) => {
      throw isLocked(error) ? new ArquivoRecusado(BUSY) : error;
    });
    const result = await work();
    await turn.query('rollback').catch(ignoring('the turn ends with the connection'));
    return result;
  } finally {
    // The turn ends with the transaction, and so with the connection, however the process ends.
    turn.release(true);
  }
}

/** Queries across tenants. */
const EM_ANDAMENTO = `select f.tenant, f.tipo, count(*)::int as quantos from fila f where f.mes = $1 and ${isNoEnsaio('f')} group by 1, 2
  union all select r.tenant, 'nota retida', count(*)::int from retidas r where r.mes = $1 and ${isNoEnsaio('r')} group by 1 order by 1, 2`;

/** SQL: a row does not belong to a private sandbox, which the archive excludes. */
function isNoEnsaio(alias: string): string {
  return `exists (select 1 from municipios m where m.tenant = ${alias}.tenant and m.ensaio_ate is null)`;
}

async function readEmAndamento(db: Pick<Db, 'query'>, mes: number): Promise<readonly EmAndamento[]> {
  return (await db.query<EmAndamento>(EM_ANDAMENTO, [mes])).rows;
}

/** `now`: milliseconds. `tell` gets a line for each file. */
type Work = { readonly now: () => number; readonly sign: SignArquivo; readonly tell: (line: string) => void };

/** Attempts while rows are written into the month after its files. */
const WRITTEN_MEANWHILE_MAX = 5;
/** A draft without writes for this time belongs to a killed command. */
const DRAFT_KEPT_MS = 3_600_000;

/**
 * Archives a month of all municipalities. Returns how long its tables were locked, in milliseconds; undefined: it is archived already.
 * Throws when work is under way, or writes continue.
 */
async function closeMes(pool: Db, mes: number, work: Work): Promise<number | undefined> {
  const { now, tell } = work;
  const lugar = lugarOf(pool);
  await lugar.ensure();
  await settleBegun(pool, lugar, work);
  const drafts = await lugar.removeDrafts(Date.now() - DRAFT_KEPT_MS);
  if (drafts > 0) tell(`${drafts} rascunhos de comandos interrompidos foram apagados`);
  for (let attempt = 0; attempt < WRITTEN_MEANWHILE_MAX; attempt += 1) {
    const [row] = (await pool.query('select arquivado_em, eliminado_em from meses where mes = $1', [mes])).rows;
    if (row !== undefined && row.eliminado_em !== null) throw new ArquivoRecusado(ELIMINATED(mes));
    if (row === undefined) throw new ArquivoRecusado(`O mês ${nameMes(mes)} não tem tabelas neste banco.`);
    if (row.arquivado_em !== null) return undefined;
    for (const [tenant, linhas] of await runTransaction(pool, (client) => countWithoutEnsaios(client, mes))) {
      const last = await findLast(pool, tenant, mes);
      if (last !== undefined && isMissing(last, linhas)) throw new ArquivoRecusado(ONLY_IN_FILE(last));
      if (last !== undefined && last.trazido_em === null && isSame(last.linhas, linhas)) {
        const damage = await findDamage(lugar, last);
        if (damage === undefined) continue;
        tell(`${last.nome} ${damage}: é escrito de novo`);
      }
      const { nome, bytes } = await writeArquivo(pool, lugar, { tenant, mes }, work);
      tell(`${nome}: ${bytes} bytes`);
    }
    const lockedMs = await emptyMes(pool, mes, now);
    if (lockedMs !== undefined) return lockedMs;
    tell('algo do mês foi escrito entretanto: o arquivo de quem mudou é escrito de novo');
  }
  throw new ArquivoRecusado(`Algo continua a ser escrito em ${nameMes(mes)}; repita quando nada se mover nele.`);
}

/** Counts a month after removing the rows of private sandboxes: files are never deleted, so no file may hold such rows. */
async function countWithoutEnsaios(client: PoolClient, mes: number): Promise<ReadonlyMap<string, Linhas>> {
  const counts = await countLinhas(client, mes);
  return (await forgetEnsaios(client, [...counts.keys()], mes)) ? countLinhas(client, mes) : counts;
}

/** Finishes files that a killed command announced and had not read back: whole ones count, the others are removed. */
async function settleBegun(pool: Db, lugar: ArquivoLugar, work: Work): Promise<void> {
  const { rows } = await pool.query<Arquivado>(`${SELECT} where a.pronto_em is null order by a.criado_em`);
  for (const one of rows) {
    const { tenant, mes, geracao, nome } = one;
    const damage = await findDamage(lugar, one);
    if (damage === undefined) {
      await finishArquivo(pool, lugar, one, work);
      work.tell(`${nome}: de um comando interrompido, está inteiro e vale`);
      continue;
    }
    await lugar.remove(nome);
    const text = takeAway(
      'arquivos',
      `delete from arquivos t where tenant = $1 and mes = $2 and geracao = $3 and pronto_em is null`,
    );
    await runTransaction(pool, async (client) => {
      const { rows: gone } = await client.query<{ item: string }>(text, [tenant, mes, geracao]);
      await insertEntrada(client, tenant, folhasApagadas(gone));
    });
    work.tell(`${nome}: de um comando interrompido, ${damage}, e não vale`);
  }
}

function isSame(one: Linhas, other: Linhas): boolean {
  return NAMES.every((name) => (one[name] ?? 0) === (other[name] ?? 0));
}

/** Whether a file has rows that the database lacks, as after a municipality was moved here with its archive. */
function isMissing({ trazido_em, linhas }: Arquivado, here: Linhas): boolean {
  return trazido_em === null && NAMES.some((name) => (here[name] ?? 0) < (linhas[name] ?? 0));
}

const ELIMINATED = (mes: number): string => `${nameMes(mes)} foi eliminado: dele não há mais nada.`;

const ONLY_IN_FILE = ({ nome, mes }: Arquivado): string =>
  `O que está em ${nome} não está no banco: traga-o antes de fechar o mês outra vez, com nfse arquivo trazer ${nameMes(mes)}.`;

async function findLast(db: Pick<Db, 'query'>, tenant: string, mes: number): Promise<Arquivado | undefined> {
  const text = `${SELECT} where a.tenant = $1 and a.mes = $2 and a.pronto_em is not null order by a.geracao desc limit 1`;
  return (await db.query<Arquivado>(text, [tenant, mes])).rows[0];
}

/** Empties the tables only if their counts equal those of the files, with writers locked out. Undefined: rows were written meanwhile. */
async function emptyMes(pool: Db, mes: number, now: () => number): Promise<number | undefined> {
  const tables = NAMES.map((name) => `${name}_${mes}`).join(', ');
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await runTransaction(pool, async (client) => {
        const begun = performance.now();
        // Readers continue until the tables are emptied, which takes milliseconds.
        await client.query(`lock table ${tables} in share row exclusive mode`);
        const [row] = (await client.query('select arquivado_em from meses where mes = $1 for update', [mes])).rows;
        if (row?.arquivado_em !== null) return undefined;
        await client.query('set local enable_seqscan = on');
        const counts = await countWithoutEnsaios(client, mes);
        const underWay = await readEmAndamento(client, mes);
        if (underWay.length > 0) throw new ArquivoRecusado(`Há o que está em andamento em ${nameMes(mes)}.`);
        for (const [tenant, linhas] of counts) {
          const last = await findLast(client, tenant, mes);
          if (last === undefined || last.trazido_em !== null || !isSame(last.linhas, linhas)) return undefined;
        }
        await client.query('update meses set arquivado_em = $2 where mes = $1', [mes, new Date(now())]);
        await client.query(`truncate table ${tables}`);
        return performance.now() - begun;
      });
    } catch (error) {
      if (!isLocked(error) || attempt === LOCKED_MAX) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/** Attempts to lock the tables; each gives way to a query on the month of more than two seconds. */
const LOCKED_MAX = 60;

/** The last file of a tenant's chain: no other file names it as its predecessor. */
const END_OF_CHAIN = `select a.sha256 from arquivos a where a.tenant = $1
    and not exists (select 1 from arquivos b where b.tenant = $1 and b.anterior = a.sha256)
  order by a.criado_em desc limit 1`;

type OfMes = { readonly tenant: string; readonly mes: number };

/**
 * Writes a file to a disk, announces it in the database, moves it into place, and reads it back there. The signature comes last, and makes
 * the file count.
 */
async function writeArquivo(pool: Db, lugar: ArquivoLugar, ofMes: OfMes, work: Work): Promise<Arquivado> {
  const { tenant, mes } = ofMes;
  const criado = new Date(work.now());
  const anterior = (await pool.query<{ sha256: Buffer }>(END_OF_CHAIN, [tenant])).rows[0]?.sha256 ?? null;
  const codigo = (await pool.query('select codigo_ibge from municipios where tenant = $1', [tenant])).rows[0];
  const head = writeHead({
    formato: 1,
    municipio: tenant,
    codigo_ibge: codigo?.codigo_ibge ?? null,
    mes,
    criado_em: criado.toISOString(),
    anterior: anterior?.toString('hex') ?? null,
  });
  const draft = await lugar.create(tenant);
  try {
    const writer = new ArquivoWriter(head.length);
    const named = new Set<number>();
    await draft.append(head);
    for await (const registro of registrosOf(pool, tenant, mes)) {
      const { bytes, entry } = writer.add(registro);
      for (const one of fundamentosOf(registro)) named.add(one);
      await draft.append(bytes);
      await draft.appendIndex(entry);
    }
    const written = await draft.finish(writer.end());
    const { certificados: _certificados, ...linhas } = writer.linhas;
    const fundamentos = [...named].sort((one, other) => one - other);
    const one = await announceArquivo(pool, ofMes, written, { linhas, anterior, criado, fundamentos });
    await lugar.publish(written, one.nome);
    const damage = await findDamage(lugar, one);
    if (damage !== undefined) throw new Error(`${one.nome}, acabado de escrever, ${damage}`);
    await finishArquivo(pool, lugar, one, work);
    return one;
  } finally {
    await draft.drop();
  }
}

type Novo = {
  readonly linhas: Linhas;
  readonly anterior: Buffer | null;
  readonly criado: Date;
  readonly fundamentos: readonly number[];
};

/** Announces a file with its predecessor: a unique key lets only one of two concurrent commands succeed. */
async function announceArquivo(
  pool: Db,
  { tenant, mes }: OfMes,
  { bytes, sha256 }: Escrito,
  { linhas, anterior, criado, fundamentos }: Novo,
): Promise<Arquivado> {
  const nome = path.posix.join(tenant, `${nameMes(mes)}-${sha256.toString('hex', 0, 6)}.nfse`);
  const last = 'select max(geracao) as geracao from arquivos where tenant = $1 and mes = $2';
  const geracao = 1 + ((await pool.query<{ geracao: number | null }>(last, [tenant, mes])).rows[0]?.geracao ?? 0);
  const insert = `insert into arquivos (tenant, mes, geracao, nome, bytes, sha256, anterior, linhas, criado_em, fundamentos)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning *, bytes::float8 as bytes, null as arquivado_em`;
  const values = [tenant, mes, geracao, nome, bytes, sha256, anterior, JSON.stringify(linhas), criado, fundamentos];
  try {
    return await runTransaction(pool, async (client) => {
      const { rows } = await client.query<Arquivado>(insert, values);
      await tellArquivo(client, { tenant, mes, geracao });
      return rows[0]!;
    });
  } catch (error) {
    throw ['arquivos_pkey', 'arquivos_elo'].includes(constraintOf(error) ?? '') ? new ArquivoRecusado(BUSY) : error;
  }
}

/** Signs a file that was read back, after which it counts. */
async function finishArquivo(
  pool: Db,
  lugar: ArquivoLugar,
  { tenant, mes, geracao, nome, sha256 }: Arquivado,
  { now, sign }: Work,
): Promise<void> {
  const sum = Buffer.from(`${sha256.toString('hex')}  ${path.basename(nome)}\n`);
  const signed = sign(tenant, sum);
  if (signed !== undefined) {
    await lugar.writeBeside(`${nome}.pem`, signed.certificado);
    await lugar.writeBeside(`${nome}.assinatura`, signed.assinatura);
  }
  await lugar.writeBeside(`${nome}.sha256`, sum);
  const text = `update arquivos set pronto_em = $4, certificado = $5
    where tenant = $1 and mes = $2 and geracao = $3 and pronto_em is null`;
  await runTransaction(pool, async (client) => {
    const done = await client.query(text, [tenant, mes, geracao, new Date(now()), signed?.impressao ?? null]);
    if (done.rowCount !== 1) throw new ArquivoRecusado(BUSY);
    await tellArquivo(client, { tenant, mes, geracao });
  });
}

/** Records the state of an announced or finished file in the audit chain. */
function tellArquivo(
  client: PoolClient,
  { tenant, mes, geracao }: Pick<Arquivado, 'tenant' | 'mes' | 'geracao'>,
): Promise<void> {
  const which = 't.mes = $6::int and t.geracao = $7::int';
  return insertRegistradas(client, tenant, 'arquivos', { which, values: [mes, geracao] });
}

/** Bytes of the records that one transaction brings back. */
const BROUGHT_BYTES_MAX = 4 * 1024 * 1024;

/** Reads a whole file back and describes its damage in Portuguese; undefined: it is whole. Throws when it cannot be reached. */
async function findDamage(
  lugar: ArquivoLugar,
  { nome, bytes, sha256, linhas }: Pick<Arquivado, 'nome' | 'bytes' | 'sha256' | 'linhas'>,
): Promise<string | undefined> {
  const size = await lugar.sizeOf(nome);
  if (size === undefined) return `não está em ${lugar.lugar}`;
  if (size !== bytes) return `tem ${size} bytes em vez de ${bytes}`;
  try {
    return await lugar.reading(nome, async (read) => {
      if (!(await hashOf(read, size)).equals(sha256)) return 'não tem o SHA-256 que foi registrado';
      const found: Record<string, number> = {};
      for await (const registro of eachRegistro(read, await openArquivo(read, size))) {
        for (const [table, rows] of Object.entries(registro.linhas)) found[table] = (found[table] ?? 0) + rows.length;
      }
      return isSame(found, linhas) ? undefined : 'não tem tantas linhas quantas foram registradas';
    });
  } catch (error) {
    if (error instanceof ArquivoDanificado) return error.message;
    throw error;
  }
}

/** Brings a month back into the database, tenant by tenant. Existing rows stay. Undefined: the database already has the whole month. */
async function bringMes(pool: Db, mes: number, { now, tell }: Omit<Work, 'sign'>): Promise<true | undefined> {
  const lugar = lugarOf(pool);
  await lugar.ensure();
  const gone = await pool.query('select 1 from meses where mes = $1 and eliminado_em is not null', [mes]);
  if (gone.rowCount === 1) throw new ArquivoRecusado(ELIMINATED(mes));
  const tenants = 'select distinct tenant from arquivos where mes = $1 order by tenant';
  const { rows } = await pool.query<{ tenant: string }>(tenants, [mes]);
  if (rows.length === 0) return undefined;
  await ensureMeses(pool, [mes]);
  const here = await countLinhas(pool, mes);
  const all = await Promise.all(rows.map(({ tenant }) => findLast(pool, tenant, mes)));
  const waiting = all.filter((one) => one !== undefined && isMissing(one, here.get(one.tenant) ?? {})) as Arquivado[];
  for (const one of waiting) {
    await bringArquivo(pool, lugar, one);
    const done = 'update arquivos set trazido_em = $4 where tenant = $1 and mes = $2 and geracao = $3';
    await runTransaction(pool, async (client) => {
      await client.query(done, [one.tenant, mes, one.geracao, new Date(now())]);
      await tellArquivo(client, one);
    });
    tell(one.nome);
  }
  const open = 'update meses set arquivado_em = null where mes = $1 and arquivado_em is not null';
  const { rowCount } = await pool.query(open, [mes]);
  return waiting.length > 0 || rowCount === 1 ? true : undefined;
}

async function bringArquivo(pool: Db, lugar: ArquivoLugar, one: Arquivado): Promise<void> {
  const { tenant, nome, bytes } = one;
  const damage = await findDamage(lugar, one);
  if (damage !== undefined) throw new ArquivoRecusado(`${nome} ${damage}: nada dele foi trazido.`);
  await lugar.reading(nome, async (read) => {
    let [some, size]: [Registro[], number] = [[], 0];
    const store = (): Promise<void> => runTransaction(pool, (client) => insertRegistros(client, tenant, some));
    for await (const registro of eachRegistro(read, await openArquivo(read, bytes))) {
      some.push(registro);
      size += bytesOf(registro);
      if (some.length < STEP && size < BROUGHT_BYTES_MAX) continue;
      await store();
      [some, size] = [[], 0];
    }
    await store();
  });
}

/** The first moment after a month, in milliseconds. */
export function endOfMes(mes: number): number {
  return Date.UTC(Math.floor(mes / 100), mes % 100, 1);
}
