/** The operator's copies of the database: made while it serves, listed, and deleted in their turn. `voltar.ts` restores them. */
import { Readable } from 'node:stream';
import { DAY_MS } from '../../fiscal/moment.ts';
import { BASE, SERVER_MANIFEST } from './arquivos.files.ts';
import { takeBase } from './base.files.ts';
import { CopiaRecusada, type Escrito, endingOf, readRecipients, seal } from './cifra.files.ts';
import { findCodigoVivo } from './codigo.rows.ts';
import { readEstado } from './estado.files.ts';
import {
  beginCopia,
  type Copia,
  type Dito,
  ensurePasta,
  listCopias,
  type Manifesto,
  publishCopia,
  removeCopia,
} from './lugar.files.ts';
import { findWay, judgeLog, pruneWal, shipWal } from './wal.files.ts';
import type { Conta, CopiasWorld } from './world.ts';

const NOWHERE =
  'NFSE_COPIAS não está definida. Dê a ela o caminho absoluto da pasta das cópias, a mesma para este comando e para o serviço, num disco que não é o dos dados.';

/** `manter`: number of days of which any moment stays restorable; undefined: nothing is deleted. */
export type Fazer = { readonly rotulo: string | undefined; readonly manter: number | undefined };

/** Deleted files that no restoration within the kept days needs. `desde`: the earliest moment that is left. */
export type Apagadas = {
  readonly copias: readonly string[];
  readonly segmentos: number;
  readonly bytes: number;
  readonly desde: string;
};

export type Feita = {
  readonly copia: Copia;
  readonly ms: number;
  /** Undefined: nothing was to be deleted. */
  readonly apagadas: Apagadas | undefined;
  readonly avisos: readonly string[];
};

export function needPasta({ pasta }: Pick<CopiasWorld, 'pasta'>): string {
  if (pasta === undefined) throw new CopiaRecusada(NOWHERE);
  return pasta;
}

/** Makes a copy. No other process makes one into this folder meanwhile. */
export async function fazerCopia(world: CopiasWorld, asked: Fazer, conta: Conta): Promise<Feita> {
  const pasta = needPasta(world);
  await ensurePasta(pasta);
  const turn = await world.takeTurn(pasta);
  if (turn === undefined)
    throw new CopiaRecusada(`outro nfse copia fazer está em andamento em ${pasta}: espere que termine.`);
  try {
    return await world.live((live) => makeCopia(world, pasta, live, asked, conta));
  } catch (error) {
    throw explainDisk(error, pasta);
  } finally {
    turn();
  }
}

type Live = Parameters<Parameters<CopiasWorld['live']>[0]>[0];

async function makeCopia(
  world: CopiasWorld,
  pasta: string,
  live: Live,
  { rotulo, manter }: Fazer,
  { show }: Conta,
): Promise<Feita> {
  const recipients = world.chave === undefined ? [] : await readRecipients(world.chave);
  const began = performance.now();
  let fresh: string | undefined;
  const { base, kept } = await takeBase(
    live.connection,
    rotulo ?? 'nfse',
    async ({ sistema, tar, manifesto, bytes }) => {
      fresh = await beginCopia(pasta, sistema);
      const folder = fresh;
      const write = async (
        name: string,
        plain: AsyncIterable<Uint8Array>,
      ): Promise<Escrito & { readonly nome: string }> => {
        const nome = `${name}${endingOf(recipients)}`;
        return { nome, ...(await seal(`${folder}/${nome}`, plain, recipients)) };
      };
      let passed = 0;
      const counted = async function* () {
        for await (const piece of tar as AsyncIterable<Buffer>) {
          passed += piece.length;
          show(Math.min(1, passed / bytes), 'copiando o banco');
          yield piece;
        }
      };
      const tarFile = await write(BASE, counted());
      return [tarFile, await write(SERVER_MANIFEST, Readable.from([manifesto()]))];
    },
  );
  const arquivos = kept.map(({ nome, bytes, sha256 }) => ({ nome, bytes, sha256 }));
  const avisos: string[] = [];
  const recusas = await findCodigoVivo(live.connection).catch((error: Error) => {
    avisos.push(`não se pôde ver se o banco tem o que conferir e restaurar recusam: ${error.message}`);
    return [];
  });
  if (recusas.length > 0) avisos.push(WILL_BE_REFUSED(recusas));
  const whole: Dito = {
    formato: 1,
    ...base,
    iniciada: base.iniciada.toISOString(),
    concluida: base.concluida.toISOString(),
    programa: world.programa,
    embutido: world.isEmbedded,
    cifrada: recipients.length > 0,
    rotulo: rotulo ?? null,
    bytes: kept[0]!.claros,
    arquivos,
    recusas: recusas.slice(0, RECUSAS_MAX),
  };
  const copia = await publishCopia(fresh!, whole);
  const ms = Math.round(performance.now() - began);
  if (copia.manifesto.autenticador === null) avisos.push(NO_KEY);
  if (!base.arquiva) avisos.push(world.isEmbedded ? NOT_ARCHIVING : NOT_ARCHIVING_OWN);
  if (live.logFolder !== undefined) {
    await shipWal(live.logFolder, pasta, base.sistema, recipients).catch((error: Error) => {
      avisos.push(`a cópia está feita, mas o WAL arquivado não pôde ser levado: ${error.message}`);
    });
  }
  const since = manter === undefined ? undefined : new Date(world.now() - manter * DAY_MS);
  return { copia, ms, avisos, apagadas: since && (await forget(pasta, base.sistema, since)) };
}

const RECUSAS_MAX = 50;

const WILL_BE_REFUSED = (recusas: readonly string[]): string =>
  `conferir e restaurar recusarão esta cópia: o banco tem o que rodaria por si, e o programa não fez: ${recusas.slice(0, RECUSAS_MAX).join('; ')}${recusas.length > RECUSAS_MAX ? `; e outros ${recusas.length - RECUSAS_MAX}` : ''}. Se não sabe de onde veio, trate o banco como invadido; se é de um administrador seu, tire-o do banco, e faça outra cópia.`;

const NO_KEY =
  'a cópia não leva o autenticador deste serviço, e não se saberá se alguém a trocou: este comando não tem a chave da auditoria. Dê-o com o NFSE_DATA_DIR do serviço, e como o usuário dele.';

const NOT_ARCHIVING =
  'o PostgreSQL embutido não está arquivando o WAL: só se volta ao momento de uma cópia. Pare o serviço e inicie-o com NFSE_COPIAS definida.';

const NOT_ARCHIVING_OWN =
  'o seu PostgreSQL não arquiva o WAL (archive_mode): só se volta ao momento de uma cópia, e o que se emite entre duas se perde com o disco.';

/**
 * Deletes all that no restoration to a moment since `since` needs: copies before the last one that was complete by then, and the log before
 * that one. The newest copy always stays.
 */
async function forget(pasta: string, sistema: string, since: Date): Promise<Apagadas> {
  const { copias } = await listCopias(pasta);
  const own = copias.filter(({ manifesto }) => manifesto.sistema === sistema);
  const first = own.findLastIndex(({ manifesto }) => new Date(manifesto.concluida) <= since);
  const old = own.slice(0, Math.max(0, first));
  for (const copia of old) await removeCopia(copia);
  const kept = own.slice(old.length);
  const { segmentos, bytes } = await pruneWal(pasta, sistema, kept);
  const sizes = old.flatMap(({ manifesto: { arquivos } }) => arquivos.map((one) => one.bytes));
  return {
    copias: old.map(({ manifesto: { id } }) => id),
    segmentos,
    bytes: sizes.reduce((sum, one) => sum + one, bytes),
    desde: kept[0]!.manifesto.concluida,
  };
}

function explainDisk(error: unknown, pasta: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new CopiaRecusada(
      `o disco de ${pasta} está cheio: nada do que estava lá se perdeu, e a cópia pela metade não conta. Libere espaço, ou guarde menos dias (--manter).`,
    );
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new CopiaRecusada(
      `esta conta não pode gravar em ${pasta} (${code}): dê-lhe a pasta (chown), ou rode com a conta do serviço. ${message}`,
    );
  }
  return error;
}

/** The end of the continuous copy, for the operator and for the monitoring of the service. */
type Arquivamento = {
  readonly sistema: string;
  readonly segmento: string;
  /** Moment at which the last segment was complete. */
  readonly em: string;
};

export type Listadas = {
  readonly copias: readonly Manifesto[];
  readonly problemas: readonly string[];
  readonly arquivamentos: readonly Arquivamento[];
};

/** Lists the copies. Every file of the archived log is read and compared with its digest. */
export async function listarCopias(world: Pick<CopiasWorld, 'pasta'>, { show }: Conta): Promise<Listadas> {
  const pasta = needPasta(world);
  const { copias, problemas } = await listCopias(pasta);
  const arquivamentos: Arquivamento[] = [];
  const faltando = new Set<string>();
  for (const sistema of new Set(copias.map(({ manifesto }) => manifesto.sistema))) {
    const log = await judgeLog(pasta, sistema, show);
    const { ate, segmento, faltas: ofLast = [] } = await readEstado(pasta, sistema, log.judge);
    if (ate !== undefined) arquivamentos.push({ sistema, segmento: segmento ?? '', em: ate });
    const faltas = new Set(ofLast);
    // Copies before the last one lead to moments that the last one does not reach.
    for (const copia of copias.filter(({ manifesto }) => manifesto.sistema === sistema)) {
      const way = await findWay(pasta, copia, [], undefined, log.judge).catch(() => undefined);
      for (const falta of way?.faltas ?? []) faltas.add(falta);
    }
    const others = log.problemas.filter((problema) => ![...faltas].some((falta) => falta.startsWith(problema)));
    for (const one of [...faltas, ...others]) faltando.add(`${one}. Faça outra cópia: nfse copia fazer.`);
  }
  return { copias: copias.map(({ manifesto }) => manifesto), problemas: [...problemas, ...faltando], arquivamentos };
}
