/**
 * Actions of a municipality on an event: show it with its trail, and move it by hand. These work beside a running service or without one:
 * the worker finds due events by polling.
 */

import type { EventoRow } from '../../base/book/evento-rows.ts';
import type { NotaRow } from '../../base/book/nota-columns.ts';
import { needOpen } from '../../base/world/fechado.ts';
import { momentOfNota, toEventoNaNota } from '../../base/world/gather-facts.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import {
  lowerFirst,
  noNota,
  type Passo,
  type PorMao,
  type Problem,
  presentTrail,
  readMotivo,
} from '../../base/world/operator.ts';
import { signatureElement } from '../../documents/signing.ts';
import { maskDocumento, whyNoChave } from '../../fiscal/chave.ts';
import { listStanding } from '../../fiscal/conflitos-evento.ts';
import {
  EVENTO_ANTES_DO_ENVIO,
  EVENTO_ESTADOS,
  EVENTO_MOVES,
  type EventoMove,
  eventoMove,
  eventoRests,
} from '../../fiscal/evento.ts';
import { signedPartOfEvento, withEventoSignature } from '../../fiscal/layout/evento.ts';
import { T } from '../../fiscal/layout/simple-types.ts';
import { statesBefore } from '../../fiscal/machine.ts';
import { isoMoment } from '../../fiscal/moment.ts';
import { type CampoEvento, tipoByCodigo } from '../../fiscal/tipos-evento.ts';
import type { EventoStep } from './eventos.rows.ts';
import type { OperatorTrigger } from './operate.rows.ts';
import { type EventoPublico, eventosOfNota, findRegistrador, identificadorOf, publicEvento } from './queries.ts';

/** Events of a note, newest first. */
export async function listEventos(
  world: RegistryWorld,
  slug: string,
  chave: string,
): Promise<readonly EventoPublico[] | Problem> {
  const municipio = await municipioNamed(world, slug);
  const problem = whyNoChave(chave);
  if (problem !== undefined) return { problem };
  return (await eventosOfNota(world, municipio, chave))?.eventos ?? { problem: noNota(slug) };
}

export type EventoInteiro = {
  readonly evento: EventoPublico;
  /** `Id` of the document, by which an annulment or an unblocking names it. */
  readonly identificador: string;
  /** A CPF is masked, here and among the fields. */
  readonly autor: string;
  readonly campos: Readonly<Record<string, string>>;
  readonly trilha: readonly Passo<EventoStep>[];
  /** The operations that an operator may do now. */
  readonly operacoes: readonly Operacao[];
  /** The event has a request from a party, stored as it was received. */
  readonly temPedido: boolean;
};

/** One event with its trail. */
export async function showEvento(world: RegistryWorld, slug: string, id: string): Promise<EventoInteiro | Problem> {
  const found = await eventoNamed(world, slug, id);
  if ('problem' in found) return found;
  const { row, tenant } = found;
  const [trail, documents, registrador] = await Promise.all([
    world.store.eventos.listTrail(tenant, row),
    world.store.eventos.readDocuments(tenant, row.id),
    findRegistrador(world, tenant, row.id),
  ]);
  const evento = publicEvento(row, world.now());
  return {
    evento,
    identificador: identificadorOf(evento),
    autor: maskDocumento(row.autor),
    campos: maskCampos(row),
    trilha: presentTrail(row.chave_acesso, trail).map((passo) =>
      passo.gatilho === 'registro' ? { ...passo, quem: passo.quem ?? registrador ?? null } : passo,
    ),
    operacoes: operacoesOn(row),
    temPedido: documents?.recebido != null,
  };
}

/** The request of an event as it was received; undefined: the municipality registered the event itself. */
export async function eventoRecebido(
  world: RegistryWorld,
  slug: string,
  id: string,
): Promise<{ readonly recebido: Buffer | undefined } | Problem> {
  const found = await eventoNamed(world, slug, id);
  if ('problem' in found) return found;
  const { recebido } = (await world.store.eventos.readDocuments(found.tenant, found.row.id))!;
  return { recebido: recebido ?? undefined };
}

/** The document of an event, with the municipality's signature after the event was sent. */
export async function eventoXml(
  world: RegistryWorld,
  slug: string,
  id: string,
): Promise<{ readonly xml: string } | Problem> {
  const found = await eventoNamed(world, slug, id);
  if ('problem' in found) return found;
  return { xml: signedEvento((await world.store.eventos.readDocuments(found.tenant, found.row.id))!) };
}

type SignedEvento = {
  readonly xml: Buffer;
  readonly assinatura: Buffer | null;
  readonly certificado_der: Buffer | null;
};

/** The document of an event, with the municipality's signature if there is one. */
export function signedEvento({ xml, assinatura, certificado_der }: SignedEvento): string {
  const text = xml.toString('utf8');
  if (assinatura === null || certificado_der === null) return text;
  const signed = signedPartOfEvento(text);
  const value = { value: assinatura, certificate: certificado_der };
  return withEventoSignature(text, signatureElement(signed.canonical, signed.id, value));
}

async function eventoNamed(
  world: RegistryWorld,
  slug: string,
  id: string,
): Promise<{ readonly row: EventoRow; readonly tenant: string } | Problem> {
  const { tenant } = await municipioNamed(world, slug);
  if (!ID.test(id)) {
    return { problem: `${id} não é o número de um evento, o seu id_evento. ${HOW_TO_FIND(slug)}` };
  }
  const row = await world.store.eventos.findById(tenant, id);
  return row === undefined ? { problem: `Não há evento ${id} em ${slug}. ${HOW_TO_FIND(slug)}` } : { row, tenant };
}

/** The number of an event, within a bigint. */
const ID = /^[1-9]\d{0,17}$/;

const HOW_TO_FIND = (slug: string): string => `nfse evento listar CHAVE --municipio ${slug} mostra os de uma nota.`;

function maskCampos({ campos, codigo_tipo_evento }: EventoRow): Readonly<Record<string, string>> {
  const known: readonly CampoEvento[] = tipoByCodigo(codigo_tipo_evento)!.campos;
  const isCpf = (nome: string): boolean => known.find((campo) => campo.nome === nome)?.tipo === T.cpf;
  return Object.fromEntries(
    Object.entries(campos).map(([nome, value]) => [nome, isCpf(nome) ? maskDocumento(value) : value]),
  );
}

// Moves by hand.

/** The moves of an operator, by command. */
const OPERACOES = {
  reprocessar: 'reprocessamento',
  separar: 'separacao',
  cancelar: 'retirada',
  dispensar: 'dispensa',
  arquivar: 'arquivamento',
} as const satisfies Readonly<Record<string, OperatorTrigger>>;

export type Operacao = keyof typeof OPERACOES;

const WORDS = Object.keys(OPERACOES) as readonly Operacao[];

type Movable = Pick<EventoRow, 'estado' | 'arquivado_em' | 'cancela' | 'nota_estado'>;

function operacoesOn(row: Movable): readonly Operacao[] {
  return WORDS.filter((operacao) => {
    if (operacao === 'arquivar' && row.arquivado_em !== null) return false;
    if (operacao === 'reprocessar' && row.cancela && row.nota_estado === 'cancelada') return false;
    return eventoMove(row.estado, OPERACOES[operacao]) !== undefined;
  });
}

export type Movido = {
  readonly evento: EventoPublico;
  /** The national environment may have received the event before, and then it is valid there. */
  readonly mayBeThere: boolean;
  /** The operation changes nothing else, but the event stays on the note and affects others. */
  readonly stands: boolean;
};

/** The note of an event, as people name it. */
type NotaDoEvento = Pick<
  NotaRow,
  'numero_dps' | 'estado' | 'prestador_razao_social' | 'tomador_razao_social' | 'valor_servico'
>;

/** The events that a move applies to, and the reasons against the others. */
export type Previsto = {
  readonly podem: readonly { readonly evento: EventoPublico; readonly nota: NotaDoEvento }[];
  readonly naoPodem: readonly { readonly id: string; readonly porque: string }[];
};

/** Checks the effect of a move on several events without making it. */
export async function foreseeEventos(
  world: RegistryWorld,
  slug: string,
  ids: readonly string[],
  operacao: Operacao,
): Promise<Previsto> {
  const podem: Previsto['podem'][number][] = [];
  const naoPodem: { id: string; porque: string }[] = [];
  for (const id of new Set(ids)) {
    const found = await eventoNamed(world, slug, id);
    if ('problem' in found) {
      naoPodem.push({ id, porque: found.problem });
      continue;
    }
    const evento = publicEvento(found.row, world.now());
    const nota = await world.store.notas.findByChave(found.tenant, evento.chave_acesso);
    if (nota !== undefined && operacoesOn(found.row).includes(operacao)) podem.push({ evento, nota });
    else naoPodem.push({ id, porque: whyNot(slug, evento, found.row, operacao, 'painel') });
  }
  return { podem, naoPodem };
}

/** Makes a move with several events, one after the other; returns the number of moves and the reasons of the failed ones. */
export async function operateEventos(
  world: RegistryWorld,
  slug: string,
  ids: readonly string[],
  asked: PorMao & { readonly operacao: Operacao },
): Promise<{ readonly feitos: number; readonly naoFeitos: Previsto['naoPodem'] }> {
  let feitos = 0;
  const naoFeitos: { id: string; porque: string }[] = [];
  for (const id of new Set(ids)) {
    const moved = await operateEvento(world, slug, id, asked);
    if ('problem' in moved) naoFeitos.push({ id, porque: moved.problem });
    else feitos += 1;
  }
  return { feitos, naoFeitos };
}

/** Default reasons for the integrator; the other moves end nothing. */
const UNSAID: Readonly<Partial<Record<Operacao, string>>> = {
  cancelar: 'Retirado pela prefeitura antes do envio.',
  dispensar: 'Envio dispensado pela prefeitura.',
};

/** Makes a move of the operator, or tells why the state machine does not allow it. */
export async function operateEvento(
  world: RegistryWorld,
  slug: string,
  id: string,
  { operacao, ...by }: PorMao & { readonly operacao: Operacao },
): Promise<Movido | Problem> {
  const read = readMotivo(by);
  if ('problem' in read) return read;
  const mensagem = read.motivo;
  needOpen(await municipioNamed(world, slug));
  const found = await eventoNamed(world, slug, id);
  if ('problem' in found) return found;
  const { row, tenant } = found;
  if (operacao === 'arquivar' && row.arquivado_em !== null) {
    const em = isoMoment(momentOfNota(row.chave_acesso, row.arquivado_em.getTime()));
    return { problem: `${calledEvento(publicEvento(row, world.now()))} já está arquivado, desde ${em}.` };
  }
  const moved = await world.store.eventos.move(
    tenant,
    row.id,
    OPERACOES[operacao],
    world.now(),
    mensagem ?? UNSAID[operacao],
    { ...by, motivo: mensagem },
  );
  if (moved === undefined) return { problem: `Não há evento ${id} em ${slug}. ${HOW_TO_FIND(slug)}` };
  const shown = publicEvento(row, world.now());
  if ('found' in moved) return { problem: whyNot(slug, shown, { ...row, estado: moved.found }, operacao, by.via) };
  if ('conflict' in moved) {
    if (moved.conflict === 'nota_cancelada') {
      const way = by.via === 'painel' ? 'dispensar' : `nfse evento dispensar ${id} --municipio ${slug}`;
      const problem = `${calledEvento(shown)} cancelaria uma nota que já está cancelada, e o ADN o recusaria. O que se pode fazer com ele: ${way}.`;
      return { problem };
    }
    const other = publicEvento(moved.evento, world.now());
    return {
      problem: `${calledEvento(shown)} seria um segundo cancelamento a caminho da mesma nota: o evento ${other.id_evento} (${other.tipo_evento} nº ${other.numero_sequencial}) está ${other.status_evento}. Espere que ele conclua, ou encerre-o antes.`,
    };
  }
  world.wake?.(tenant);
  const last = (await world.store.eventos.listTrail(tenant, row)).at(-1);
  return {
    evento: publicEvento(moved.evento, world.now()),
    mayBeThere: operacao === 'dispensar' && !EVENTO_ANTES_DO_ENVIO.some((estado) => estado === last?.de),
    stands: await standsNow(world, tenant, moved.evento),
  };
}

async function standsNow({ store }: RegistryWorld, tenant: string, { id, nota }: EventoRow): Promise<boolean> {
  const onNota = (await store.eventos.listOnNotas(tenant, [nota])).get(nota) ?? [];
  return listStanding(onNota.map(toEventoNaNota)).some((one) => one.id === id);
}

/** `O evento 12 (cancelamento nº 1)` */
export function calledEvento({
  id_evento,
  tipo_evento,
  numero_sequencial,
}: Pick<EventoPublico, 'id_evento' | 'tipo_evento' | 'numero_sequencial'>): string {
  return `O evento ${id_evento} (${tipo_evento} nº ${numero_sequencial})`;
}

function whyNot(slug: string, evento: EventoPublico, row: Movable, operacao: Operacao, via: PorMao['via']): string {
  const { estado } = row;
  const ways = operacoesOn(row);
  const possible =
    via === 'painel' ? ways : ways.map((one) => `nfse evento ${one} ${evento.id_evento} --municipio ${slug}`);
  const instead =
    possible.length > 0
      ? `O que se pode fazer com ele: ${possible.join(via === 'painel' ? ', ' : '; ')}.`
      : eventoRests(estado, true)
        ? 'Ele chegou ao fim, e não há mais o que fazer com ele.'
        : 'Espere a resposta do ADN: o serviço insiste sozinho.';
  return `${calledEvento(evento)} está ${estado}, e ${operacao} só se pode de ${listWithOr(statesBefore<EventoMove>(EVENTO_MOVES, OPERACOES[operacao]))}. ${estado}: ${lowerFirst(EVENTO_ESTADOS[estado].significado.replaceAll('`', ''))} ${instead}`;
}

function listWithOr(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} ou ${names.at(-1)}`;
}
