/**
 * Copies the whole cluster while it serves, by PostgreSQL's own BASE_BACKUP. The server selects the files and verifies the checksums of its
 * pages meanwhile. It adds the log that makes the copy consistent, and writes a manifest with the SHA-256 of each file. The replication
 * protocol works the same for the embedded server and for one on another machine.
 */
import { PassThrough } from 'node:stream';
import { Client, type ClientConfig, Query } from '../../base/pg/pg.ts';
import { ignoreLoss, ignoring } from '../../base/traces/ignoring.ts';
import { CopiaRecusada } from './cifra.files.ts';

/** Moments are of the server's clock. */
export type Base = {
  /** Number that initdb drew for the cluster. */
  readonly sistema: string;
  readonly linha: number;
  readonly inicio: string;
  readonly fim: string;
  readonly versao: string;
  readonly segmento: number;
  readonly iniciada: Date;
  readonly concluida: Date;
  readonly migracoes: readonly string[];
  readonly banco: string;
  readonly usuario: string;
  /** Whether the server archives its log. */
  readonly arquiva: boolean;
};

/** The data of a copy while it is made. `manifesto`: of the server; known when the tar file has ended. */
export type Vinda = {
  readonly sistema: string;
  readonly tar: PassThrough;
  readonly manifesto: () => Buffer;
  /** Approximate size of the cluster, without the log. */
  readonly bytes: number;
};

const VERSION_MIN = 150_000;
const CONNECT_MAX_MS = 10_000;

const ABOUT = `select current_setting('server_version_num')::int as versao_num, current_setting('server_version') as versao, current_setting('archive_mode') <> 'off' as arquiva,
  (select system_identifier::text from pg_control_system()) as sistema, clock_timestamp() as agora,
  pg_size_bytes(current_setting('wal_segment_size'))::int as segmento, current_database() as banco, current_user as usuario,
  pg_is_in_recovery() as replica, (select sum(pg_database_size(oid)) from pg_database where datallowconn)::bigint as bytes,
  (select rolreplication or rolsuper from pg_roles where rolname = current_user) as pode,
  exists (select 1 from pg_extension where extname = 'citus') as citus,
  (select string_agg(spcname, ', ') from pg_tablespace where spcname not in ('pg_default', 'pg_global')) as tablespaces`;

type About = {
  readonly versao_num: number;
  readonly versao: string;
  readonly sistema: string;
  readonly agora: Date;
  readonly segmento: number;
  readonly banco: string;
  readonly usuario: string;
  readonly replica: boolean;
  readonly arquiva: boolean;
  readonly pode: boolean;
  readonly citus: boolean;
  readonly bytes: string;
  readonly tablespaces: string | null;
};

/** Makes a copy; `keep` receives its bytes and resolves when they are stored. Throws {@link CopiaRecusada} if the server refuses. */
export async function takeBase<Kept>(
  connection: ClientConfig,
  rotulo: string,
  keep: (vinda: Vinda) => Promise<Kept>,
): Promise<{ readonly base: Base; readonly kept: Kept }> {
  const plain = await connect(connection);
  try {
    const before = await aboutServer(plain);
    const { rows } = await plain.query<{ nome: string }>('select nome from migracoes order by nome');
    const sender = await connect({ ...connection, replication: 'database' } as ClientConfig);
    let kept: Kept;
    let answer: Answer;
    try {
      const backup = new BaseBackup(rotulo, before);
      sender.query(backup);
      // A failure of either side ends the other.
      sender.on('error', (error: Error) => backup.vinda.tar.destroy(error));
      const [one, other] = await Promise.allSettled([backup.answer, keep(backup.vinda)]);
      if (other.status === 'rejected') throw one.status === 'rejected' ? explain(one.reason) : other.reason;
      if (one.status === 'rejected') throw explain(one.reason);
      [answer, kept] = [one.value, other.value];
    } finally {
      await sender.end().catch(ignoreLoss);
    }
    const after = await aboutServer(plain);
    return {
      kept,
      base: {
        sistema: before.sistema,
        linha: answer.linha,
        inicio: answer.inicio,
        fim: answer.fim,
        versao: before.versao,
        segmento: before.segmento,
        iniciada: before.agora,
        concluida: after.agora,
        migracoes: rows.map(({ nome }) => nome),
        banco: before.banco,
        usuario: before.usuario,
        arquiva: before.arquiva,
      },
    };
  } finally {
    await plain.end().catch(ignoreLoss);
  }
}

async function connect(connection: ClientConfig): Promise<Client> {
  const own = { connectionTimeoutMillis: CONNECT_MAX_MS, application_name: 'nfse-copia' };
  const client = new Client({ ...connection, ...own });
  client.on('error', ignoreLoss);
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(ignoreLoss);
    throw explain(error);
  }
  return client;
}

async function aboutServer(client: Client): Promise<About> {
  const { rows } = await client.query<About>(ABOUT);
  const about = rows[0]!;
  if (about.versao_num < VERSION_MIN)
    throw new CopiaRecusada(`o PostgreSQL é o ${about.versao}: é preciso o 15 ou mais novo.`);
  if (about.citus) {
    throw new CopiaRecusada(
      'o banco está distribuído (Citus): cada servidor se copia por si, e todos voltam ao mesmo instante. A página «Crescer» diz como.',
    );
  }
  if (about.tablespaces !== null) {
    throw new CopiaRecusada(
      `o servidor tem tablespaces (${about.tablespaces}), que esta cópia não leva. Use pg_basebackup ou pgBackRest.`,
    );
  }
  if (about.replica) throw new CopiaRecusada('este servidor é uma réplica: copie o principal.');
  if (!about.pode) throw new CopiaRecusada(MAY_NOT(about.usuario));
  return about;
}

const MAY_NOT = (usuario: string): string =>
  `o usuário ${usuario} do banco não pode copiar o servidor. Dê-lhe isto, como administrador: alter role "${usuario}" replication;`;

function explain(error: unknown): unknown {
  const { code, message } = error as { code?: string; message: string };
  if (code === '42501')
    return new CopiaRecusada(
      `o banco não deixa copiar o servidor (${message}). Dê ao usuário: alter role … replication;`,
    );
  if (code === '28000') {
    return new CopiaRecusada(
      `o banco não aceita a conexão que copia (${message}). Confira pg_hba.conf, e o papel REPLICATION do usuário.`,
    );
  }
  if (code === '53300')
    return new CopiaRecusada(`o banco não tem conexão livre para copiar (${message}): aumente max_wal_senders.`);
  if (code === 'XX001') {
    return new CopiaRecusada(
      `o banco tem páginas danificadas, e a cópia delas não serviria: ${message}. O log do PostgreSQL diz quais; a última cópia boa é a anterior.`,
    );
  }
  return error;
}

type Answer = { readonly linha: number; readonly inicio: string; readonly fim: string };

const LETTER = { archive: 0x6e, manifest: 0x6d, data: 0x64 } as const;

/** The command and its answer on the wire: two tables, the copy, and one table. */
class BaseBackup extends Query {
  readonly answer: Promise<Answer>;
  readonly vinda: Vinda;
  private readonly tar = new PassThrough({ highWaterMark: 1024 * 1024 });
  private readonly manifest: Buffer[] = [];
  private isManifest = false;
  private isPaused = false;

  constructor(rotulo: string, { sistema, bytes }: About) {
    const label = `'${rotulo.replaceAll("'", "''")}'`;
    const asked = `BASE_BACKUP (LABEL ${label}, CHECKPOINT 'fast', WAL true, WAIT false, MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')`;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    super({ text: asked, rowMode: 'array' } as never, (error: Error | undefined, results: unknown) => {
      if (error) {
        this.tar.destroy(error);
        reject(error);
        return;
      }
      const tables = (results as { rows: string[][] }[]).map(({ rows }) => rows);
      const [[inicio, linha]] = tables[0] as [string[]];
      const [fim] = tables.findLast((rows) => rows.length > 0)![0]!;
      this.tar.end();
      resolve({ inicio: inicio!, linha: Number(linha), fim: fim! });
    });
    promise.catch(ignoring('it is settled together with the files, and awaited there'));
    this.answer = promise;
    this.vinda = { tar: this.tar, manifesto: () => Buffer.concat(this.manifest), sistema, bytes: Number(bytes) };
  }

  /** Called by `pg` for each message of the copy; `pg` reuses its buffer. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }, { stream }: { readonly stream: NodeJS.ReadableStream }): void {
    const [letter] = chunk;
    if (letter === LETTER.manifest) this.isManifest = true;
    if (letter === LETTER.archive) this.isManifest = false;
    if (letter !== LETTER.data) return;
    const data = Buffer.from(chunk.subarray(1));
    if (this.isManifest) this.manifest.push(data);
    else if (!this.tar.destroyed && !this.tar.write(data)) {
      // Data that was received already still arrives.
      if (this.isPaused) return;
      this.isPaused = true;
      stream.pause();
      const goOn = (): void => {
        this.isPaused = false;
        this.tar.off('drain', goOn).off('close', goOn);
        stream.resume();
      };
      this.tar.once('drain', goOn).once('close', goOn);
    }
  }
}
