/**
 * Restoration: a copy is unpacked beside the database, recovered and judged. It is then deleted (`conferir`), or replaces the database
 * (`restaurar`). The providers and the national environment have the notes that were issued after the moment. Their numbers are therefore
 * passed over before anything is served (D-661).
 */

import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readdir, rename, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Autoria, forgetPrazo } from '../../base/book/auditoria-chave.ts';
import { readSistema, STAGING } from '../../base/pg/embedded.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { findRunningSettings } from './ajustes.files.ts';
import { type AlemDoBanco, findAlem } from './alem.ts';
import { type Programa, unpackCopia } from './arquivos.files.ts';
import { autoriaOfDito } from './autoria.files.ts';
import { CopiaRecusada, readIdentities, readRecipients } from './cifra.files.ts';
import { type Juizo, judgeCopia } from './julgar.rows.ts';
import { type Copia, listCopias, noteConferida, syncFolder, walOf } from './lugar.files.ts';
import type { Volta } from './numeros.rows.ts';
import { needPasta } from './operate.ts';
import { judgeArquivo } from './resumo.files.ts';
import { isThere, needEntry, type Recuperado, recoverCluster, sweepLeftovers } from './servidor.rows.ts';
import { type Caminho, findWay, readAte, shipWal } from './wal.files.ts';
import type { Conta, CopiasWorld, Lugar } from './world.ts';

type Asked = {
  /** Name of a copy; undefined: the newest suitable one. */
  readonly copia: string | undefined;
  /** File with the secret key of age. */
  readonly chave: string | undefined;
};

export type Conferida = {
  readonly copia: Copia;
  readonly caminho: Caminho;
  readonly juizo: Juizo;
  readonly ultima: string | undefined;
  /** This service wrote all of it. */
  readonly isPropria: boolean;
  readonly ms: number;
};

/** More than one provider issues between its last transmission and a disaster. */
export const DEFAULT_FOLGA = 1_000n;

/** Recovers a copy in a folder of its own to the end of the archived log. It judges the result and deletes it. */
export async function conferirCopia(world: CopiasWorld, asked: Asked, conta: Conta): Promise<Conferida> {
  const pasta = needPasta(world);
  const began = performance.now();
  const copia = await chooseCopia(pasta, asked.copia, undefined, conta);
  await sweepLeftovers(tmpdir(), `nfse-${STAGING}`);
  const staging = await mkdtemp(path.join(tmpdir(), `nfse-${STAGING}${process.pid}-`));
  // The server's account has to pass.
  await chmod(staging, 0o755);
  try {
    const lugar = await world.lugar(staging);
    const programa = await programaOf(lugar, copia);
    const { caminho, recovered, isPropria } = await bringToLife(
      {
        pasta,
        copia,
        cluster: path.join(staging, 'pg'),
        programa,
        chave: asked.chave,
        momento: undefined,
        archives: false,
        isAlone: world.isEmbedded || copia.manifesto.embutido,
      },
      conta,
    );
    try {
      const juizo = await judgeCopia(recovered.connection, true, conta.show);
      const { ultima } = recovered;
      if (juizo.problemas.length === 0 && isPropria) {
        await noteConferida(pasta, copia.manifesto, world.now()).catch(({ message }: Error) =>
          conta.tell(`AVISO  não se pôde anotar na pasta das cópias que esta foi conferida: ${message}`),
        );
      }
      return { copia, caminho, juizo, ultima, isPropria, ms: performance.now() - began };
    } finally {
      await recovered.stop();
    }
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

export type Restaurar = Asked & {
  readonly momento: Date | undefined;
  /** Moves the existing database aside. */
  readonly isAside: boolean;
  /** A folder for the cluster; undefined: the place of the embedded one. */
  readonly para: string | undefined;
  /** Distance by which each provider's sequence is moved ahead. */
  readonly folga: bigint | undefined;
  readonly quem: string;
};

export type Restaurada = Omit<Conferida, 'ms'> & {
  readonly location: string;
  /** The place of the earlier database. */
  readonly guardado: string | undefined;
  readonly alem: readonly AlemDoBanco[];
  readonly fechados: readonly string[];
  readonly prestadores: number;
  readonly folga: bigint;
  readonly ms: number;
};

export async function restaurarCopia(world: CopiasWorld, asked: Restaurar, conta: Conta): Promise<Restaurada> {
  const pasta = needPasta(world);
  const began = performance.now();
  const target = await targetOf(world, asked);
  const { lugar, location } = target;
  // The log that the server left behind is part of the way back.
  if (asked.para === undefined) await shipTheRest(world, pasta, lugar);
  const copia = await chooseCopia(pasta, asked.copia, asked.momento, conta);
  const programa = await programaOf(lugar, copia);
  const parent = path.dirname(location);
  await sweepLeftovers(parent, STAGING);
  const staging = path.join(parent, `${STAGING}${process.pid}-${randomBytes(4).toString('hex')}`);
  await mkdir(staging, { mode: 0o755 });
  try {
    if (lugar.account !== undefined) await chown(staging, lugar.account.uid, lugar.account.gid);
    const cluster = path.join(staging, 'pg');
    const isAlone = world.isEmbedded || copia.manifesto.embutido;
    const { caminho, recovered, isPropria } = await bringToLife(
      { pasta, copia, cluster, programa, chave: asked.chave, momento: asked.momento, archives: true, isAlone },
      conta,
    );
    let juizo: Juizo;
    let passed: Pick<Restaurada, 'alem' | 'fechados' | 'prestadores' | 'folga'>;
    try {
      juizo = await judgeCopia(recovered.connection, false, conta.show);
      passed = await passOver(world, asked, recovered, copia, conta);
    } finally {
      await recovered.stop();
    }
    const guardado = await putInPlace(cluster, target, world.now());
    const { ultima } = recovered;
    const found = { copia, caminho, juizo, ultima, isPropria };
    return { ...found, location, guardado, ...passed, ms: performance.now() - began };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

type Target = { readonly lugar: Lugar; readonly location: string; readonly isFilled: boolean };

/** The target of the restoration. Existing files stay untouched, and no server may run there. */
async function targetOf(world: CopiasWorld, { para, isAside }: Restaurar): Promise<Target> {
  if (para === undefined && !world.isEmbedded) {
    throw new CopiaRecusada(
      'com DATABASE_URL a cópia se restaura numa pasta, que o seu PostgreSQL depois serve: dê --para PASTA, num lugar que a conta dele alcança.',
    );
  }
  const lugar = await world.lugar(para === undefined ? undefined : path.dirname(para));
  const location = para ?? lugar.location;
  if (para === undefined && (await lugar.isRunning())) {
    throw new CopiaRecusada(
      `o banco em ${location} está no ar: pare o serviço, e os comandos que o usam, e dê o comando de novo.`,
    );
  }
  const contents = await readdir(location).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (contents.length > 0 && !isAside) {
    throw new CopiaRecusada(
      `já há dados em ${location}, e nada se restaura por cima deles. Com --guardar-atual eles são postos de lado, inteiros, e o comando diz onde.`,
    );
  }
  return { lugar, location, isFilled: contents.length > 0 };
}

async function shipTheRest({ chave }: CopiasWorld, pasta: string, { location, logFolder }: Lugar): Promise<void> {
  const sistema = await readSistema(location).catch(() => undefined);
  if (sistema === undefined) return;
  await shipWal(logFolder, pasta, sistema, chave === undefined ? [] : await readRecipients(chave));
}

async function chooseCopia(
  pasta: string,
  named: string | undefined,
  momento: Date | undefined,
  { tell }: Conta,
): Promise<Copia> {
  const { copias, problemas } = await listCopias(pasta);
  for (const problema of problemas) tell(`AVISO  ${problema}`);
  if (named !== undefined) {
    const found = copias.find(({ manifesto }) => manifesto.id === named);
    if (found === undefined) {
      const damaged = problemas.find((one) => one.includes(named));
      throw new CopiaRecusada(damaged ?? `não há a cópia ${named} em ${pasta}. nfse copia listar mostra as que há.`);
    }
    refuseEarlier(found, momento);
    return found;
  }
  const [first] = copias;
  if (first === undefined) throw new CopiaRecusada(`não há nenhuma cópia boa em ${pasta}.`);
  const clusters = new Set(copias.map(({ manifesto }) => manifesto.sistema));
  if (clusters.size > 1) {
    throw new CopiaRecusada(
      `em ${pasta} há cópias de ${clusters.size} bancos diferentes: diga o nome de uma. nfse copia listar as mostra.`,
    );
  }
  const before = copias.filter(({ manifesto }) => momento === undefined || new Date(manifesto.concluida) <= momento);
  if (before.length === 0) refuseEarlier(first, momento);
  return before.at(-1)!;
}

function refuseEarlier({ manifesto: { id, concluida } }: Copia, momento: Date | undefined): void {
  if (momento === undefined || momento >= new Date(concluida)) return;
  throw new CopiaRecusada(
    `o momento pedido, ${momento.toISOString()}, é de antes do fim da cópia ${id}: com ela volta-se a ${concluida}, ou depois.`,
  );
}

/** The program for the copy, of the copy's major version. */
async function programaOf(lugar: Lugar, { manifesto: { versao } }: Copia): Promise<Programa> {
  const major = versao.split('.')[0]!.split(' ')[0]!;
  if (major === lugar.major) return lugar;
  const known = [`/usr/lib/postgresql/${major}/bin/postgres`, `/usr/pgsql-${major}/bin/postgres`];
  for (const program of known) if (await isThere(program)) return { ...lugar, program };
  throw new CopiaRecusada(
    `a cópia é do PostgreSQL ${versao}, e aqui não há um ${major} que a abra (procurado em ${known.join(' e ')}). Instale-o nesta máquina, sem criar banco nenhum.`,
  );
}

type Bring = {
  readonly pasta: string;
  readonly copia: Copia;
  readonly cluster: string;
  readonly programa: Programa;
  readonly chave: string | undefined;
  readonly momento: Date | undefined;
  readonly archives: boolean;
  /** The server has no other databases but ours. */
  readonly isAlone: boolean;
};

async function bringToLife(
  asked: Bring,
  { show, tell }: Conta,
): Promise<{ readonly caminho: Caminho; readonly recovered: Recuperado; readonly isPropria: boolean }> {
  const { pasta, copia, cluster, programa, chave, momento, archives, isAlone } = asked;
  const { manifesto } = copia;
  const identities = chave === undefined ? [] : await readIdentities(chave);
  const judge = (file: string) => judgeArquivo(file, manifesto.sistema);
  const caminho = await findWay(pasta, copia, identities, momento, judge);
  const isPropria = tellAutoria(copia, caminho, tell);
  // The key of this machine says nothing of when another service began.
  if (!isPropria) forgetPrazo();
  for (const falta of caminho.faltas) tell(`AVISO  ${falta}`);
  refuseLater(copia, caminho, momento);
  await needEntry(path.dirname(cluster), programa);
  await needRoom(path.dirname(cluster), manifesto.bytes);
  const left = await unpackCopia(copia, cluster, identities, programa.account, show);
  if (left.length > 0) tell(`AVISO  não é do PostgreSQL, e fica só na cópia: ${someOf(left)}`);
  const running = await findRunningSettings(cluster);
  if (running.length > 0) {
    tell(
      `AVISO  a cópia traz ajustes que rodam ou leem algo, sem efeito até que o servidor suba com eles: ${someOf(running)}. Confira que são seus.`,
    );
  }
  const tellOutros = (found: readonly string[]): void =>
    tell(
      `AVISO  outros bancos do servidor trazem o que roda por si, e rodará quando o seu PostgreSQL os servir: ${someOf(found)}. Confira que é de quem os usa.`,
    );
  const { usuario, banco, versao } = manifesto;
  const major = Number.parseInt(versao, 10);
  const recovered = await recoverCluster(
    programa,
    {
      ...{ cluster, caminho, identities, momento, archives, usuario, banco, major },
      tellOutros: isAlone ? undefined : tellOutros,
    },
    show,
  );
  return { caminho, recovered, isPropria };
}

/**
 * Whether all of the copy is known to be of this service. Other parts are reported, not refused: a disaster may have destroyed the key as
 * well.
 */
function tellAutoria({ manifesto }: Copia, { julgados }: Caminho, tell: Conta['tell']): boolean {
  const autoria = autoriaOfDito('manifesto', manifesto);
  const others = [...julgados].filter(([, one]) => one.autoria !== 'propria');
  const [first] = others;
  const ofLog =
    others.length === 1
      ? `o arquivo ${first?.[0]} do WAL`
      : `${others.length} arquivos do WAL (o primeiro é ${first?.[0]})`;
  if (autoria !== 'propria') tell(`AVISO  a cópia ${manifesto.id} ${FROM_ELSEWHERE(autoria)}`);
  if (first === undefined) return autoria === 'propria';
  // A user's own server archives by its own command, which has no key.
  if (!manifesto.embutido && others.every(([, one]) => one.autoria === 'sem_chave')) {
    tell(`AVISO  ${ofLog}, do seu PostgreSQL, sem autenticador: não se sabe se alguém trocou algum.`);
    return autoria === 'propria';
  }
  tell(`AVISO  ${ofLog}: ${FROM_ELSEWHERE(first[1].autoria)}`);
  return false;
}

const FROM_ELSEWHERE = (autoria: Autoria): string =>
  autoria === 'outra'
    ? 'é de outro serviço, ou de outra chave: o autenticador é de uma que não está aqui, e não se sabe se alguém mudou o que foi escrito. Se é deste serviço, ponha em NFSE_DATA_DIR o auditoria.chave que guardou (chmod 600), e confira de novo.'
    : 'é de outro serviço, ou de antes da chave: não leva autenticador, e não se sabe se alguém mudou o que foi escrito. Confira de onde veio.';

const SOME = 10;

function someOf(names: readonly string[]): string {
  const more = names.length > SOME ? `, e outros ${names.length - SOME}` : '';
  return `${names.slice(0, SOME).join(', ')}${more}`;
}

/** A gap is refused only if the moment lies beyond it; if no moment is given, the operator must choose one. */
function refuseLater(
  { manifesto: { id, concluida } }: Copia,
  { ate, faltas }: Caminho,
  momento: Date | undefined,
): void {
  const last = ate ?? new Date(concluida);
  const until = `até ${last.toISOString()} pode-se voltar com a cópia ${id}`;
  if (momento === undefined && faltas.length > 0) {
    throw new CopiaRecusada(
      `${faltas.join('; ')}; ${until}: dê --ate, com esse momento ou um anterior, se é o que quer.`,
    );
  }
  if (momento === undefined || momento <= last) return;
  throw new CopiaRecusada(
    `o momento pedido, ${momento.toISOString()}, é de depois do último WAL arquivado que há: ${until}. ${faltas.join('; ')}`.trim(),
  );
}

/** Room for the cluster, and for the segments on their way. */
async function needRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const needed = bytes + 512 * 1024 * 1024;
  if (bavail * bsize >= needed) return;
  throw new CopiaRecusada(
    `o disco de ${folder} tem ${Math.round((bavail * bsize) / 2 ** 20)} MB livres, e são precisos ${Math.round(needed / 2 ** 20)} MB. Para conferir em outro disco, diga-o em TMPDIR.`,
  );
}

async function passOver(
  world: CopiasWorld,
  { folga = DEFAULT_FOLGA, momento, quem }: Restaurar,
  { connection }: Recuperado,
  { manifesto }: Copia,
  { show }: Conta,
): Promise<Pick<Restaurada, 'alem' | 'fechados' | 'prestadores' | 'folga'>> {
  const em = await latestMoment(world, manifesto.sistema);
  const motivo = `banco restaurado da cópia ${manifesto.id}${momento === undefined ? '' : `, até ${momento.toISOString()}`}`;
  return world.on(connection, async (opened, passer) => {
    const volta: Volta = { em, linha: await passer.readLinha() };
    // The environment may lack numbers that an earlier restoration gave beyond its copy: each restoration goes further.
    const adiante = folga * BigInt(Math.max(1, volta.linha - 1));
    const municipios = await opened.store.municipios.list();
    const alem: AlemDoBanco[] = [];
    const fechados: string[] = [];
    let prestadores = 0;
    for (const [at, municipio] of municipios.entries()) {
      const { tenant, ambiente } = municipio;
      show(at / municipios.length, `perguntando ao ADN por ${tenant}`);
      const nsu = await passer.highestNsu(tenant);
      const found = await findAlem(opened, passer, municipio, nsu);
      if (found !== undefined) alem.push(found);
      const done = await passer.passOver({
        tenant,
        isProducao: AMBIENTES[ambiente].transmits,
        alem: found?.ultimos ?? new Map(),
        adiante,
        volta,
        nsu,
        quem,
        em: world.now(),
        motivo,
      });
      if (done.isFechado) fechados.push(tenant);
      prestadores += done.prestadores;
    }
    return { alem, fechados, prestadores, folga: adiante };
  });
}

/** The latest of the clock and the moments in the folder of copies: a clock that was set back must not lead to given numbers. */
async function latestMoment(world: CopiasWorld, sistema: string): Promise<number> {
  const pasta = needPasta(world);
  const { copias } = await listCopias(pasta);
  const ate = await readAte(walOf(pasta, sistema));
  const known = [...copias.map(({ manifesto }) => manifesto.concluida), ...(ate === undefined ? [] : [ate.em])];
  return Math.max(world.now(), ...known.map((one) => Date.parse(one)));
}

/** Replaces the database by renames: the old one is always whole in one of two places, and the new one appears whole. */
async function putInPlace(
  cluster: string,
  { lugar, location, isFilled }: Target,
  now: number,
): Promise<string | undefined> {
  if (await lugar.isRunning())
    throw new CopiaRecusada(
      `alguém pôs no ar o banco em ${location} enquanto se restaurava: nada foi trocado. Pare-o, e dê o comando de novo.`,
    );
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const guardado = isFilled ? `${location}-guardado-${stamp}Z` : undefined;
  if (guardado !== undefined) await rename(location, guardado);
  try {
    await rename(cluster, location);
  } catch (error) {
    if (guardado !== undefined) await rename(guardado, location);
    throw error;
  }
  await syncFolder(path.dirname(location));
  return guardado;
}
