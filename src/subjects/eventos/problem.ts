/** Events that need an operator: the list, the counts, and the filing of refusals. */

import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { noNota, type PorMao, type Problem, readMotivo } from '../../base/world/operator.ts';
import { whyNoChave } from '../../fiscal/chave.ts';
import { CODIGOS_ENTRE_PARTES } from '../../fiscal/conflitos-evento.ts';
import {
  AGUARDANDO_MAX_MS,
  EVENTO_ESTADOS,
  EVENTO_PROBLEMAS,
  type EventoEstado,
  PENDENTE_MAX_MS,
} from '../../fiscal/evento.ts';
import type { ProblemaCount, ProblemaFilter, StuckBefore } from './operate.rows.ts';
import { type EventoPublico, publicEvento } from './queries.ts';

/** Lines of a page: more than an operator reads in one sitting. */
const PROBLEMAS_POR_PAGINA = 50;

/** The operator's filter of events with a problem. */
export type FiltroDeProblemas = {
  readonly chave?: string | undefined;
  readonly estado?: string | undefined;
  readonly codigo?: string | undefined;
  /** Lists refusals that follow from another party's events, in place of the problems. */
  readonly entrePartes?: boolean | undefined;
};

export type Problemas = {
  readonly total: number;
  /** The number of each kind, over all pages. */
  readonly resumo: readonly ProblemaCount[];
  /** Number of refusals that follow from the parties' own events; zero when the list shows these. */
  readonly entre_partes: number;
  readonly pagina: number;
  readonly paginas: number;
  /** `quantos`: how many events of the note have the same problem; this is the first to examine. */
  readonly eventos: readonly (EventoPublico & { readonly quantos: number })[];
};

/**
 * Events whose `acao_sugerida` is `consultar_suporte`, the gravest first; those of a note with the same problem are one line. Filed
 * refusals and the parties' own affairs are left out. A filter by note shows each event.
 */
export async function listEventosComProblema(
  world: RegistryWorld,
  slug: string,
  filtro: FiltroDeProblemas,
  pagina: number,
): Promise<Problemas | Problem> {
  const { tenant } = await municipioNamed(world, slug);
  const filter = await filterOf(world, slug, tenant, filtro);
  if ('problem' in filter) return filter;
  const now = world.now();
  const page = { from: (pagina - 1) * PROBLEMAS_POR_PAGINA, max: PROBLEMAS_POR_PAGINA };
  const [resumo, between, { eventos, linhas }] = await Promise.all([
    world.store.eventos.countProblemas(tenant, stuckBefore(now), filter),
    filter.entrePartes
      ? []
      : world.store.eventos.countProblemas(tenant, stuckBefore(now), { ...filter, entrePartes: true }),
    world.store.eventos.listProblemas(tenant, stuckBefore(now), filter, page),
  ]);
  const sumOf = (counts: readonly ProblemaCount[]): number => counts.reduce((sum, { eventos }) => sum + eventos, 0);
  const total = sumOf(resumo);
  if (eventos.length === 0 && total > 0 && pagina > 1) {
    return { problem: `Não há página ${pagina}: a lista acaba antes. Veja-a sem --pagina.` };
  }
  return {
    total,
    resumo,
    entre_partes: sumOf(between),
    pagina,
    paginas: Math.ceil(linhas / PROBLEMAS_POR_PAGINA),
    eventos: eventos.map((row) => ({ ...publicEvento(row, now), quantos: row.quantos })),
  };
}

/** A code of conflicts between parties' events selects the list of those refusals. */
async function filterOf(
  world: RegistryWorld,
  slug: string,
  tenant: string,
  { chave, estado, codigo, entrePartes }: FiltroDeProblemas,
): Promise<ProblemaFilter | Problem> {
  if (estado !== undefined && !isProblema(estado)) {
    return { problem: `--estado ${estado} não é um estado desta lista. Os dela: ${EVENTO_PROBLEMAS.join(', ')}.` };
  }
  const wrong = chave === undefined ? undefined : whyNoChave(chave);
  if (wrong !== undefined) return { problem: wrong };
  const nota = chave === undefined ? undefined : await world.store.notas.findId(tenant, chave);
  if (chave !== undefined && nota === undefined) return { problem: noNota(slug) };
  const named = codigo?.toUpperCase();
  return { nota, estado, codigo: named, entrePartes: entrePartes || CODIGOS_ENTRE_PARTES.has(named ?? '') };
}

function isProblema(estado: string): estado is (typeof EVENTO_PROBLEMAS)[number] {
  return EVENTO_PROBLEMAS.some((one) => one === estado);
}

/** Counts by state, in the order of life; zero counts are left out. */
export type EventosContados = {
  readonly aCaminho: readonly (readonly [EventoEstado, number])[];
  /** Their `acao_sugerida` is `consultar_suporte`, and no operator has filed them. */
  readonly comProblema: readonly (readonly [EventoEstado, number])[];
};

/** Counts the events of a tenant that are under way, and those that need an operator. */
export async function countEventos(world: RegistryWorld, tenant: string): Promise<EventosContados> {
  const counts = await world.store.eventos.count(tenant, stuckBefore(world.now()));
  const of = (problema: boolean): EventosContados['aCaminho'] =>
    ESTADOS.flatMap((estado) => {
      const found = counts.find((one) => one.estado === estado && one.temProblema === problema);
      return found === undefined ? [] : [[estado, found.eventos] as const];
    });
  return { aCaminho: of(false), comProblema: of(true) };
}

const ESTADOS = Object.keys(EVENTO_ESTADOS) as EventoEstado[];

/** The limits of `acao_sugerida`. */
function stuckBefore(now: number): StuckBefore {
  return { pendente: now - PENDENTE_MAX_MS, aguardando: now - AGUARDANDO_MAX_MS };
}

export type Arquivados = {
  /** Refusals that match the filter. */
  readonly eventos: number;
  readonly isDone: boolean;
};

/**
 * Files all refusals that match a filter, if their number is the one that the operator confirmed. Otherwise nothing is filed, and the
 * number is returned.
 */
export async function arquivarEventos(
  world: RegistryWorld,
  slug: string,
  filtro: FiltroDeProblemas,
  { confirmados, ...by }: PorMao & { readonly confirmados: number | undefined },
): Promise<Arquivados | Problem> {
  const read = readMotivo(by);
  if ('problem' in read) return read;
  const { tenant } = await municipioNamed(world, slug);
  const filter = await filterOf(world, slug, tenant, { ...filtro, estado: 'rejeitado' });
  if ('problem' in filter) return filter;
  const now = world.now();
  if (confirmados === undefined || confirmados === 0) {
    const found = await world.store.eventos.countProblemas(tenant, stuckBefore(now), filter);
    return { eventos: found.reduce((sum, { eventos }) => sum + eventos, 0), isDone: false };
  }
  const eventos = await world.store.eventos.archive(tenant, filter, confirmados, now, { ...by, ...read });
  return { eventos, isDone: eventos === confirmados };
}
