/** Reads eventos, and maps each to its public form. Nothing is written here. */

import type { EventoRow } from '../../base/book/evento-rows.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import { momentOfNota } from '../../base/world/gather-facts.ts';
import { fullSecond, proximaDoEvento } from '../../base/world/proxima-consulta.ts';
import type { World } from '../../base/world/world.ts';
import type { ErrosAdn } from '../../fiscal/erros-adn.ts';
import {
  type AcaoSugerida,
  acaoSugerida,
  type DesfechoEvento,
  desfechoOf,
  type EventoEstado,
} from '../../fiscal/evento.ts';
import { eventoId } from '../../fiscal/layout/evento.ts';
import { isoMoment } from '../../fiscal/moment.ts';
import { TIPOS_EVENTO, type TipoEvento, tipoByCodigo } from '../../fiscal/tipos-evento.ts';
import { REGISTRADO_DE_OFICIO } from './register.rows.ts';

/** The event object (specification, "Event object"). */
export type EventoPublico = {
  readonly id_evento: number;
  readonly codigo_tipo_evento: string;
  readonly tipo_evento: string;
  readonly numero_sequencial: number;
  readonly numero_protocolo: string;
  readonly chave_acesso: string;
  readonly data_hora_evento: string;
  readonly data_hora_processamento: string | null;
  readonly aguardando_desde: string | null;
  readonly status_evento: EventoEstado;
  /** The protocol of the ADN's receipt. */
  readonly protocolo: string | null;
  readonly codigo_retorno: string | null;
  readonly mensagem_retorno: string | null;
  readonly erros_adn: ErrosAdn | null;
  readonly reprocessamentos_count: number;
  readonly ultimo_reprocessamento_em: string | null;
  readonly acao_sugerida: AcaoSugerida;
  readonly proxima_consulta: string | null;
  readonly desfecho: DesfechoEvento;
  readonly descricao_evento: string;
};

/** `now`: milliseconds; the suggested action depends on the time since the last change of state. */
export function publicEvento(row: EventoRow, now: number): EventoPublico {
  return withProxima(row, now).evento;
}

type WithProxima = { readonly evento: EventoPublico; readonly proxima: number | undefined };

/** `proxima`: see {@link EventosLidos}. */
function withProxima(row: EventoRow, now: number): WithProxima {
  const tell = (instant: number): string => isoMoment(momentOfNota(row.chave_acesso, instant));
  const at = (instant: Date | null): string | null => instant && tell(instant.getTime());
  const tipo = tipoByCodigo(row.codigo_tipo_evento)!;
  const acao = acaoSugerida(
    {
      estado: row.estado,
      reprocessamentos: row.reprocessamentos_count,
      desde: row.desde.getTime(),
      aguardando_desde: row.aguardando_desde?.getTime(),
      hasRetry: row.due_at !== null,
    },
    now,
  );
  // An event whose advice is to contact support does not change by itself.
  const proxima = GOES_ON.has(acao) ? proximaDoEvento(row, now) : undefined;
  const evento: EventoPublico = {
    id_evento: Number(row.id),
    codigo_tipo_evento: row.codigo_tipo_evento,
    tipo_evento: tipo.slug,
    numero_sequencial: row.numero_sequencial,
    numero_protocolo: row.numero_protocolo,
    chave_acesso: row.chave_acesso,
    data_hora_evento: at(row.criado_em)!,
    data_hora_processamento: at(row.processado_em),
    aguardando_desde: row.estado === 'aguardando_autorizacao_nota' ? at(row.aguardando_desde) : null,
    status_evento: row.estado,
    protocolo: row.nsu_recepcao,
    codigo_retorno: row.codigo_retorno,
    mensagem_retorno: row.mensagem_retorno,
    erros_adn: row.erros_adn,
    reprocessamentos_count: row.reprocessamentos_count,
    ultimo_reprocessamento_em: at(row.ultimo_reprocessamento_em),
    acao_sugerida: acao,
    proxima_consulta: proxima === undefined ? null : tell(fullSecond(proxima)),
    desfecho: desfechoOf(
      { estado: row.estado, hasRetry: row.due_at !== null },
      { soAqui: tipo.soAqui, isNotaRecusada: row.nota_estado === 'recusada' },
    ),
    descricao_evento: tipo.descricao,
  };
  return { evento, proxima };
}

/** The parts of the world that a reading needs; a command has them without the service. */
type QueryWorld = Pick<World, 'store' | 'now'>;

/** An event in the form of its registration's answer, independent of later changes. */
export function registeredEvento(row: EventoRow): EventoPublico {
  const { criado_em } = row;
  const nothing = {
    processado_em: null,
    codigo_retorno: null,
    mensagem_retorno: null,
    erros_adn: null,
    nsu_recepcao: null,
    claims: null,
  };
  const never = { reprocessamentos_count: 0, ultimo_reprocessamento_em: null, aguardando_desde: null };
  const first = { ...row, ...nothing, ...never, estado: 'pendente', desde: criado_em, due_at: criado_em } as const;
  return publicEvento(first, criado_em.getTime());
}

/** `proxima`: when another request may show a change, in milliseconds; undefined: nothing more changes by itself. */
export type EventosLidos = { readonly eventos: readonly EventoPublico[]; readonly proxima: number | undefined };

/** Events of a note, newest first, or those of one type by sequence; undefined: there is no such note. */
export async function eventosOfNota(
  world: QueryWorld,
  { tenant }: Municipio,
  chave: string,
  tipo?: TipoEvento,
): Promise<EventosLidos | undefined> {
  const rows = await world.store.eventos.listOf(tenant, chave, { codigo: tipo?.codigo });
  return rows && readingOf(world, rows);
}

/** One event; otherwise which of the two is missing: the note, or the event on it. */
export async function eventoOfNota(
  world: QueryWorld,
  { tenant }: Municipio,
  chave: string,
  { codigo }: TipoEvento,
  sequencial: number,
): Promise<EventosLidos | 'no_nota' | 'no_evento'> {
  const rows = await world.store.eventos.listOf(tenant, chave, { codigo, sequencial });
  if (rows === undefined) return 'no_nota';
  return rows.length === 0 ? 'no_evento' : readingOf(world, rows);
}

/** Acts on one event that are looked through for its registration. */
const ACTS_MAX = 100;

/** The person who registered an event by office, as the trail names them; undefined: nobody of the municipality did. */
export async function findRegistrador(
  { store }: Pick<QueryWorld, 'store'>,
  tenant: string,
  id: string,
): Promise<string | undefined> {
  const acts = await store.atos.list(tenant, { objeto: 'evento', chave: id }, ACTS_MAX);
  return acts.find(({ acao }) => acao === REGISTRADO_DE_OFICIO)?.quem;
}

function readingOf(world: QueryWorld, rows: readonly EventoRow[]): EventosLidos {
  const now = world.now();
  const read = rows.map((row) => withProxima(row, now));
  const proximas = read.flatMap(({ proxima }) => (proxima === undefined ? [] : [proxima]));
  return {
    eventos: read.map(({ evento }) => evento),
    proxima: proximas.length === 0 ? undefined : Math.min(...proximas),
  };
}

const GOES_ON: ReadonlySet<AcaoSugerida> = new Set(['aguardar', 'retentar']);

/** A type by its slug, or by the national code that the standard's own addresses use. */
export function tipoNamed(text: string): TipoEvento | undefined {
  return TIPOS_EVENTO.find(({ slug, codigo }) => slug === text || codigo === text);
}

/** `Id` of the document of an event, by which an annulment or an unblocking names it. */
export function identificadorOf({ chave_acesso, codigo_tipo_evento, numero_sequencial }: EventoPublico): string {
  return eventoId(chave_acesso, codigo_tipo_evento, numero_sequencial);
}
