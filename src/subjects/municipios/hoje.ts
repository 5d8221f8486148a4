/**
 * A municipality at a glance: its issuance, the notes that wait for the ADN, and each problem with its remedy and its place. Every open
 * page asks for this every few seconds: the cost must not grow with a day's notes.
 */

import { statfs } from 'node:fs/promises';
import type { Municipio } from '../../base/book/municipios.ts';
import { avisosDeAliquotas } from '../../base/world/avisos-aliquotas.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import { type CertificadoShown, inspectAdn, inspectConfianca } from '../../base/world/municipio-files.ts';
import { municipioNamed } from '../../base/world/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { zoneOf } from '../../fiscal/catalogs/catalogs.ts';
import { errorOf } from '../../fiscal/errors.ts';
import { brazilianDate, brazilianMoment, DAY_MS, MINUTE_MS, momentIn } from '../../fiscal/moment.ts';
import type { EstadoDaCorrente } from '../auditoria/auditoria.rows.ts';
import { countEventos, type EventosContados } from '../eventos/problem.ts';
import { countPendencias, listOfTipo, type Pendencia, tellQuantas } from '../pendencias/pendencias.ts';
import { type AdnHoje, describeAdn, elapsed } from './hoje-adn.ts';

/** `dados`: the folder of the database, when it is on this machine. */
export type HojeWorld = Pick<World, 'store' | 'now' | 'trust'> & { readonly dados?: string | undefined };

/** The place of the remedy: a page of the municipality in the console, or a command of the service's operator. */
export type Onde =
  | { readonly pagina: 'eventos' | 'municipio' | 'notas' | 'pendencias'; readonly nome: string }
  | { readonly comando: string };

/** `oQue`: the problem; `fazer`: the remedy. */
export type Apuro = {
  readonly gravidade: 'erro' | 'aviso';
  readonly oQue: string;
  readonly fazer: string;
  readonly onde?: Onde;
};

export type Hoje = {
  /** Local time of the municipality, `DD/MM/AAAA HH:MM:SS`. */
  readonly agora: string;
  readonly notas: {
    readonly total: number;
    /** The last complete quarter of an hour and the present one. `desde`: its start, `HH:MM`. */
    readonly recentes: { readonly notas: number; readonly desde: string };
    /** Notes a minute by quarters of an hour, the oldest first. `hora`: the start of each. */
    readonly quartos: readonly { readonly hora: string; readonly porMinuto: number }[];
  };
  /** `ha`: how long the oldest waits, in words. */
  readonly espera: { readonly notas: number; readonly ha: string } | undefined;
  readonly adn: AdnHoje;
  readonly eventos: EventosContados;
  /** Requests refused in twenty-four hours, under each of their codes. */
  readonly recusas: readonly { readonly codigo: string; readonly quantas: number; readonly diz: string | undefined }[];
  /** Matters that wait for the municipality, by kind; each count has a limit. */
  readonly pendencias: PendenciasContadas;
  /** Notes that were refused after their issuance, the oldest first. */
  readonly recusadas: readonly Pendencia[];
  readonly certificado: CertificadoShown | undefined;
  /** Days until each list expires; undefined: the list does not say. */
  readonly listas: readonly { readonly emissor: string; readonly dias: number | undefined }[] | undefined;
  readonly disco: Disco;
  readonly auditoria: Auditoria;
  readonly apuros: readonly Apuro[];
};

type PendenciasContadas = Awaited<ReturnType<typeof countPendencias>>;
/** More refused notes have their own page. */
const RECUSADAS_MAX = 15;

/** The audit chain: the last verification with its number of findings, and the last sealed day; undefined: never. */
type Auditoria = {
  readonly conferida: { readonly em: string; readonly achados: number } | undefined;
  readonly selo: string | undefined;
};

/** Bytes. `livre`, `total`: the disk of the database, when this machine can know it. */
type Disco = { readonly banco: number; readonly livre?: number; readonly total?: number };

const QUARTER_MS = 15 * MINUTE_MS;
const QUARTERS = DAY_MS / QUARTER_MS;

/** Throws an Error in Portuguese when there is no such municipality. */
export async function overviewOf(world: HojeWorld, slug: string): Promise<Hoje> {
  const municipio = await municipioNamed(world, slug);
  const { store } = world;
  const now = world.now();
  const since = now - (now % QUARTER_MS) - (QUARTERS - 1) * QUARTER_MS;
  const [emissoes, recusas, waiting, retidas, problem, circuito, eventos, aliquotas, corrente, pendencias, slow] =
    await Promise.all([
      store.movimento.listEmissoes(slug, since),
      store.movimento.listRecusas(slug, now - DAY_MS),
      store.notas.findWaiting(slug),
      store.retidas.count(slug),
      store.municipios.findProblem(slug),
      store.circuitos.find(slug),
      countEventos(world, slug),
      // A rehearsal loses nothing by a missing rate; its held notes are told below.
      AMBIENTES[municipio.ambiente].transmits ? avisosDeAliquotas(world, 'painel') : [],
      store.auditoria.readState(slug),
      countPendencias(world, slug),
      lookSlowly(world, municipio),
    ]);
  const recusadas =
    pendencias.nota_recusada === 0 ? [] : await listOfTipo(world, municipio, 'nota_recusada', RECUSADAS_MAX);
  const tell = (instant: number): string => brazilianMoment(municipalMoment(municipio.codigoIbge, instant));
  const adn = describeAdn(municipio, { circuito, problem, now, tell });
  const oldest = waiting === undefined ? undefined : now - waiting.desde;
  const listas = slow.listas?.map(({ emissor, proxima }) => ({
    emissor,
    dias: proxima === undefined ? undefined : Math.floor((proxima - now) / DAY_MS),
  }));
  const auditoria = describeAuditoria(corrente, tell);
  const notas = { oldest, waiting: waiting?.notas, retidas: retidas?.notas };
  const seen = { ...slow, ...notas, listas, adn, eventos, aliquotas, auditoria, pendencias };
  return {
    agora: tell(now),
    notas: countNotas(emissoes, municipio, since, now),
    espera: waiting && { notas: waiting.notas, ha: elapsed(oldest!) },
    adn,
    eventos,
    recusas: recusas.map((one) => ({ ...one, diz: errorOf(one.codigo)?.significado })),
    pendencias,
    recusadas,
    certificado: slow.certificado,
    listas,
    disco: slow.disco,
    auditoria,
    apuros: listApuros(municipio, seen),
  };
}

function describeAuditoria(state: EstadoDaCorrente | undefined, tell: (instant: number) => string): Auditoria {
  const { conferida, ultimoSelo } = state ?? {};
  return {
    conferida: conferida ? { em: tell(conferida.em.getTime()), achados: conferida.achados } : undefined,
    selo: ultimoSelo ? brazilianDate(ultimoSelo.dia) : undefined,
  };
}

function countNotas(
  emissoes: readonly { readonly inicio: number; readonly notas: number }[],
  { codigoIbge }: Municipio,
  since: number,
  now: number,
): Hoje['notas'] {
  const counts = new Array<number>(QUARTERS).fill(0);
  for (const { inicio, notas } of emissoes) {
    const place = Math.floor((inicio - since) / QUARTER_MS);
    if (place >= 0 && place < QUARTERS) counts[place]! += notas;
  }
  const zone = zoneOf(codigoIbge);
  // The last quarter is not complete.
  const lastMinutes = Math.max(1, (now % QUARTER_MS) / MINUTE_MS);
  const quartos = counts.map((notas, place) => ({
    hora: momentIn(zone, since + place * QUARTER_MS).time.slice(0, 5),
    porMinuto: notas / (place === QUARTERS - 1 ? lastMinutes : QUARTER_MS / MINUTE_MS),
  }));
  return {
    total: counts.reduce((sum, notas) => sum + notas, 0),
    recentes: { notas: counts.at(-2)! + counts.at(-1)!, desde: quartos.at(-2)!.hora },
    quartos,
  };
}

// Data from files, or expensive data: refreshed once a minute.

type Slow = {
  readonly certificado: CertificadoShown | undefined;
  readonly problems: readonly string[];
  readonly listas: readonly { readonly emissor: string; readonly proxima: number | undefined }[] | undefined;
  readonly disco: Disco;
};

const SLOW_MS = 60_000;
type Looked = { readonly at: number; readonly of: Municipio; readonly slow: Promise<Slow> };
const looked = new WeakMap<World['store'], Map<string, Looked>>();

function lookSlowly(world: HojeWorld, municipio: Municipio): Promise<Slow> {
  const { store } = world;
  const known = looked.get(store) ?? new Map<string, Looked>();
  looked.set(store, known);
  const one = known.get(municipio.tenant);
  const at = performance.now();
  if (one !== undefined && at - one.at < SLOW_MS && JSON.stringify(one.of.adn) === JSON.stringify(municipio.adn)) {
    return one.slow;
  }
  const slow = look(world, municipio);
  known.set(municipio.tenant, { at, of: municipio, slow });
  slow.catch(() => known.delete(municipio.tenant));
  return slow;
}

async function look(world: HojeWorld, municipio: Municipio): Promise<Slow> {
  const { ambiente, adn, confianca } = municipio;
  const transmits = AMBIENTES[ambiente].transmits ? adn : undefined;
  const [trust, files, banco, place] = await Promise.all([
    inspectConfianca(confianca),
    transmits === undefined ? undefined : inspectAdn(transmits, confianca, world.now()),
    world.store.banco.readBytes(),
    world.dados === undefined ? undefined : statfs(world.dados).catch(() => undefined),
  ]);
  const isOver = (files?.certificado?.dias ?? 0) < 0;
  const disk = place && { livre: place.bavail * place.bsize, total: place.blocks * place.bsize };
  return {
    certificado: files?.certificado,
    // The end of the certificate is told apart, with its remedy.
    problems: [...trust.problems, ...((isOver ? files?.lacking : files?.problems) ?? [])],
    listas: world.trust(municipio).lists(),
    disco: { banco, ...disk },
  };
}

// The data from which problems are found.

type Visto = Omit<Slow, 'listas'> &
  Pick<Hoje, 'adn' | 'eventos' | 'listas' | 'auditoria' | 'pendencias'> & {
    readonly aliquotas: readonly string[];
    readonly waiting: number | undefined;
    /** How long the oldest note waits, in milliseconds. */
    readonly oldest: number | undefined;
    readonly retidas: number | undefined;
  };

/** An operator needs about this long to buy a certificate. */
export const CERTIFICADO_DIAS = 30;
const LISTA_DIAS = 3;
/** An ADN that answers decides within seconds. */
const ESPERA_MAX_MS = 10 * MINUTE_MS;
const DISCO_MIN = 0.1;

const NO_MUNICIPIO: Onde = { pagina: 'municipio', nome: 'Ver em Município' };

function listApuros(municipio: Municipio, seen: Visto): readonly Apuro[] {
  const { tenant } = municipio;
  return [
    ...(municipio.fechado === true
      ? [
          {
            gravidade: 'erro',
            oQue: 'O município está fechado: só consultas são atendidas, e nada é emitido.',
            fazer:
              'Foi fechado por quem opera o serviço, para mudá-lo de servidor, ou por uma restauração. Depois de conferida, ou acabada a mudança, quem opera o reabre.',
            onde: { comando: `nfse municipio alterar ${tenant} --sem-fechar` },
          } as const,
        ]
      : []),
    ...apurosOfAuditoria(tenant, seen),
    ...apurosOfAdn(municipio, seen),
    ...apurosOfEventos(seen),
    ...apurosOfRecusadas(seen),
    ...apurosOfTrust(seen),
    ...apurosOfRates(seen),
    ...apurosOfDisk(seen),
  ];
}

function apurosOfAuditoria(tenant: string, { auditoria: { conferida } }: Visto): readonly Apuro[] {
  if (conferida === undefined || conferida.achados === 0) return [];
  const { em, achados } = conferida;
  return [
    {
      gravidade: 'erro',
      oQue: `A auditoria, conferida em ${em}, não confere: ${achados === 1 ? 'um achado' : `${achados.toLocaleString('pt-BR')} achados`}.`,
      fazer:
        'Alguém mudou o banco por fora do serviço. Quem opera o serviço vê o quê, e guarda o banco como está antes de mexer nele; o que se esclarece se aceita, com o motivo.',
      onde: { comando: `nfse auditoria verificar ${tenant}` },
    },
  ];
}

function apurosOfAdn({ tenant }: Municipio, { adn, waiting = 0, oldest, problems }: Visto): readonly Apuro[] {
  const found: Apuro[] = problems.map((oQue) => ({
    gravidade: 'erro',
    oQue,
    fazer: 'Quem opera o serviço põe o arquivo no lugar; enquanto falta, o que depende dele espera.',
    onde: NO_MUNICIPIO,
  }));
  if (adn.responde === false) {
    found.push({
      gravidade: 'erro',
      oQue: adn.diz,
      fazer:
        'As notas continuam a ser emitidas e esperam: nenhuma se perde. Se dura mais que alguns minutos, teste a conexão em Município, que diz em que passo ela para.',
      onde: NO_MUNICIPIO,
    });
  } else if (oldest !== undefined && oldest > ESPERA_MAX_MS) {
    found.push({
      gravidade: 'aviso',
      oQue: `${waiting === 1 ? 'Uma nota espera' : `${waiting.toLocaleString('pt-BR')} notas esperam`} pelo ADN, a mais antiga há ${elapsed(oldest)}.`,
      fazer:
        adn.responde === undefined
          ? `${adn.diz} A página da nota diz o que ela espera.`
          : 'O ADN responde, e mesmo assim ela não seguiu: a página da nota diz o que ela espera. Pode ser uma substituta, que espera o evento da nota que substitui.',
      onde: { pagina: 'notas', nome: `Ver as notas de ${tenant}` },
    });
  }
  return found;
}

function apurosOfEventos({ eventos: { comProblema } }: Visto): readonly Apuro[] {
  const count = comProblema.reduce((sum, [, eventos]) => sum + eventos, 0);
  if (count === 0) return [];
  const oQue = count === 1 ? 'Um evento pede atenção.' : `${count.toLocaleString('pt-BR')} eventos pedem atenção.`;
  const fazer = 'Em Eventos cada um diz por que parou e o que se pode fazer.';
  return [{ gravidade: 'aviso', oQue, fazer, onde: { pagina: 'eventos', nome: 'Ver os eventos' } }];
}

function apurosOfRecusadas({ pendencias: { nota_recusada: quantas } }: Visto): readonly Apuro[] {
  if (quantas === 0) return [];
  const oQue =
    quantas === 1
      ? 'Uma nota foi recusada depois de emitida, e não foi emitida de novo.'
      : `${tellQuantas(quantas)} notas foram recusadas depois de emitidas, e não foram emitidas de novo.`;
  const fazer = 'O prestador pode não saber que a nota não vale: avise-o. Abaixo está cada uma, com o motivo.';
  return [{ gravidade: 'aviso', oQue, fazer, onde: { pagina: 'pendencias', nome: 'Ver as pendências' } }];
}

function apurosOfTrust({ certificado, listas }: Visto): readonly Apuro[] {
  const found: Apuro[] = [];
  if (certificado !== undefined && certificado.dias < CERTIFICADO_DIAS) {
    const { dias, fim } = certificado;
    found.push({
      gravidade: dias < 0 ? 'erro' : 'aviso',
      oQue:
        dias < 0
          ? `O certificado do município venceu em ${fim}: nada é transmitido.`
          : `O certificado do município vence em ${fim}${dias === 0 ? '' : dias === 1 ? ', em 1 dia' : `, em ${dias} dias`}.`,
      fazer:
        'Compre outro, do mesmo CNPJ (e-CNPJ ICP-Brasil); quem administra o município o envia em Município, Certificados.',
      onde: NO_MUNICIPIO,
    });
  }
  for (const { emissor, dias } of listas ?? []) {
    if (dias === undefined || dias >= LISTA_DIAS) continue;
    found.push({
      gravidade: 'aviso',
      oQue: `A lista de revogados de "${emissor}" ${dias < 0 ? 'venceu' : `vence ${dias === 0 ? 'hoje ou amanhã' : `em ${dias} dias`}`}.`,
      fazer:
        'Quem opera o serviço põe a lista nova na pasta de revogados. Sem ela, um certificado revogado há pouco ainda seria aceito.',
      onde: NO_MUNICIPIO,
    });
  }
  return found;
}

function apurosOfRates({ aliquotas, retidas = 0 }: Visto): readonly Apuro[] {
  const onde: Onde = { comando: 'nfse aliquotas importar ARQUIVO' };
  const missing = aliquotas.map((oQue): Apuro => {
    const fazer = 'Quem opera o serviço importa a tabela assim que o ato que fixa as alíquotas é publicado.';
    return { gravidade: 'aviso', oQue, fazer, onde };
  });
  if (retidas === 0) return missing;
  return [
    ...missing,
    {
      gravidade: 'aviso',
      oQue: `${retidas === 1 ? 'Uma nota está retida' : `${retidas.toLocaleString('pt-BR')} notas estão retidas`}, à espera de uma alíquota que ninguém publicou.`,
      fazer: 'Com a alíquota importada elas seguem sozinhas.',
      onde,
    },
  ];
}

function apurosOfDisk({ disco: { livre, total } }: Visto): readonly Apuro[] {
  if (livre === undefined || total === undefined || livre > total * DISCO_MIN) return [];
  return [
    {
      gravidade: 'erro',
      oQue: `O disco do banco tem só ${Math.floor((livre / total) * 100)} % livres.`,
      fazer: 'Quem opera o serviço aumenta o disco, ou arquiva meses encerrados. Sem espaço nada é emitido.',
      onde: { comando: 'nfse arquivo fechar AAAA-MM' },
    },
  ];
}
