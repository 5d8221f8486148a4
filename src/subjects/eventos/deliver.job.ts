/** The differences of eventos. Each has a budget of retries (D-52), is sent after its note, and is judged with the note's events. */
import type { Adn, AdnAnswer, AdnErro, EventoAnswer, EventoAsked, EventoToShare } from '../../adn/adn.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { EventoOnNota } from '../../base/book/on-notas.ts';
import { addJitter, LEASE_MS, MISCONFIGURED_PAUSE_MS } from '../../base/delivery/backoff.ts';
import {
  type Delivered,
  type DeliveryKind,
  deliver,
  type Exchange,
  type On,
  type Outcome,
  type Taking,
} from '../../base/delivery/deliver.ts';
import type { Kind } from '../../base/delivery/lanes.ts';
import { toEventoNaNota } from '../../base/world/gather-facts.ts';
import type { World } from '../../base/world/world.ts';
import { EVENTO_PROFILE } from '../../documents/signature-shape.ts';
import { ANULACAO_REJEICAO, isAnnulledHere, listStanding } from '../../fiscal/conflitos-evento.ts';
import { type ErrosAdn, sanitizeErros } from '../../fiscal/erros-adn.ts';
import { EVENTO_ANTES_DO_ENVIO, EVENTO_MOVES, falhaAfter } from '../../fiscal/evento.ts';
import { eventoId, signedPartOfEvento, withEventoSignature } from '../../fiscal/layout/evento.ts';
import type { ClaimedEvento, EventoClaim, EventoSettlement } from './claim.rows.ts';

/** The interval of a check that covers a lost wake-up: the process that should wake the event may die (D-52). */
const POLL_MS = 60_000;
/** The waits before the three retries: most trouble ends in a moment, and trouble of some minutes must not use them up. */
const RETRY_MS = [1_000, 30_000, 300_000] as const;
/** The longest wait of an event by itself, and of one that follows another on a draft; the note's authorisation wakes the latter. */
export const EVENTO_WAIT_MAX_MS = RETRY_MS[2];
export const EVENTO_DE_RASCUNHO_WAIT_MAX_MS = 3_600_000 + POLL_MS;
/** Events of one claim: a national environment without batches gets one request for each. */
const BATCH_MAX = 100;

/** `only_here`: the environment does not use this event. */
type More = Exclude<EventoAnswer, AdnAnswer> | { readonly kind: 'only_here' };

const EVENTOS: DeliveryKind<ClaimedEvento, More, EventoSettlement> = {
  item: 'evento',
  messages: {
    untransmitted: 'os eventos não podem ser transmitidos e esperam',
    another: 'o ADN guarda outro documento sob o identificador de um evento',
    unshown: 'o ADN diz ter um evento que não mostra',
    lost: 'respostas de eventos não gravadas: o prazo da reserva havia acabado; os eventos são retomados',
  },
  profile: EVENTO_PROFILE,
  partOf: signedPartOfEvento,
  withSignature: withEventoSignature,
  moves: EVENTO_MOVES,
  announced: 'enviado',
  unsent: EVENTO_ANTES_DO_ENVIO,
  another: { kind: 'not_understood', why: 'O ADN guarda outro documento sob o identificador deste evento.', erros: [] },
  keyOf: idOf,
  // Events that wait for their note are moved all the same. The delivery of notas logs why nothing is sent.
  rest: async (on) => {
    await claimBatch(on, BATCH_MAX, false);
  },
  claim: async (on, { batchMax }, taking) => {
    const max = Math.min(batchMax, BATCH_MAX);
    const { token, eventos, moved } = await claimBatch(on, max, true, taking.token);
    return { tokens: [token], rows: eventos, isFull: moved >= max };
  },
  open: openExchange,
  read: ({ world, tenant }, eventos) => world.store.eventos.readXml(tenant, eventos),
  outcomeOf,
  settle: ({ world, tenant }, ...settled) => world.store.eventos.settle(tenant, ...settled),
};

/** Delivers one batch of the events of a tenant. */
export function deliverEventos(world: World, municipio: Municipio, taking?: Taking): Promise<Delivered> {
  return deliver(EVENTOS, world, municipio, taking);
}

/** Claims the due events: announced ones, if allowed, and those that wait for their note. */
function claimBatch({ world, tenant }: On, max: number, mayAnnounce: boolean, token?: string): Promise<EventoClaim> {
  const now = world.now();
  return world.store.eventos.claim(tenant, now, now + LEASE_MS, now + POLL_MS, max, mayAnnounce, token);
}

async function openExchange(
  on: On,
  adn: Adn,
  eventos: readonly ClaimedEvento[],
): Promise<Exchange<ClaimedEvento, More>> {
  const onlyHere = await findOnlyHere(on, eventos);
  return {
    foregone: new Map(onlyHere.map((evento) => [idOf(evento), { kind: 'only_here' }])),
    find: (some) => adn.findEventos(on.tenant, some.map(toAsk)),
    share: async (some, xmlOf) => {
      const onNotas = await listOnNotas(on, some);
      return adn.shareEventos(
        on.tenant,
        some.map((evento) => toShare(evento, xmlOf(evento), onNotas.get(evento.nota) ?? [])),
      );
    },
  };
}

function listOnNotas({ world, tenant }: On, eventos: readonly ClaimedEvento[]) {
  return world.store.eventos.listOnNotas(tenant, [...new Set(eventos.map(({ nota }) => nota))]);
}

const ONLY_HERE =
  'A rejeição que este evento anula não está no ADN, que não a recebe de um município (E1818): a anulação também não é enviada, e vale neste município.';

/** Finds the events that the national environment does not use. Nothing is read unless there is an annulment. */
async function findOnlyHere(on: On, eventos: readonly ClaimedEvento[]): Promise<readonly ClaimedEvento[]> {
  const annulments = eventos.filter(({ codigo_tipo_evento }) => codigo_tipo_evento === ANULACAO_REJEICAO);
  if (annulments.length === 0) return [];
  const onNotas = await listOnNotas(on, annulments);
  return annulments.filter(({ codigo_tipo_evento: codigo, autor, campos, chave_acesso, nota }) =>
    isAnnulledHere({ codigo, autor, campos, chave_acesso }, (onNotas.get(nota) ?? []).map(toEventoNaNota)),
  );
}

function idOf({ chave_acesso, codigo_tipo_evento, numero_sequencial }: ClaimedEvento): string {
  return eventoId(chave_acesso, codigo_tipo_evento, numero_sequencial);
}

function toAsk(evento: ClaimedEvento): EventoAsked {
  return { id: idOf(evento), chave_acesso: evento.chave_acesso, ...rehearsalOf(evento) };
}

function rehearsalOf({ simular, criado_em }: ClaimedEvento): { simular?: string; criado?: number } {
  return simular === null ? {} : { simular, criado: criado_em.getTime() };
}

function toShare(evento: ClaimedEvento, xml: Uint8Array | undefined, onNota: readonly EventoOnNota[]): EventoToShare {
  const { codigo_tipo_evento, numero_sequencial, autor, campos } = evento;
  return {
    id: idOf(evento),
    chave_acesso: evento.chave_acesso,
    xml,
    evento: { codigo: codigo_tipo_evento, numero_sequencial, autor, campos },
    naNota: listStanding(onNota.map(toEventoNaNota)).filter(({ id }) => id !== evento.id),
    ...rehearsalOf(evento),
  };
}

function outcomeOf(
  { world }: On,
  { reprocessamentos_count: retries, cancela, nota, mes_nota }: ClaimedEvento,
  answer: EventoAnswer | { readonly kind: 'only_here' } | undefined,
  { now, isAway }: { readonly now: number; readonly isAway: boolean },
): Outcome<EventoSettlement> {
  const fail = (): Pick<Outcome<EventoSettlement>, 'on' | 'waitMs'> => {
    const on = falhaAfter(retries);
    return on === 'falha'
      ? { on, waitMs: addJitter(world, RETRY_MS[Math.min(retries, RETRY_MS.length - 1)]!) }
      : { on };
  };
  switch (answer?.kind) {
    case 'accepted':
      return {
        on: 'conclusao',
        mensagem_retorno: 'Evento registrado.',
        cancelada: cancela ? { id: nota, mes: mes_nota } : undefined,
      };
    case 'only_here':
      return { on: 'dispensa', mensagem_retorno: ONLY_HERE };
    case 'refused':
      return { on: 'recusa', ...describeErros(answer.erros) };
    case 'note_unknown':
      return { on: 'nota_desconhecida', waitMs: POLL_MS, ...describeErros(answer.erros) };
    case 'not_taken_here':
      return { on: 'dispensa', ...describeErros(answer.erros) };
    case 'not_understood':
      return { on: 'incompreensao', ...describeErros(answer.erros), mensagem_retorno: answer.why };
    case 'misconfigured':
      return { on: 'adiamento', mensagem_retorno: answer.why, waitMs: MISCONFIGURED_PAUSE_MS };
    case 'unavailable':
      // The ADN did not take the event. An outage of the whole ADN, or a time that it named, uses up no retry.
      if (answer.at !== undefined) return { on: 'adiamento', dueAt: Math.max(answer.at, now + 1) };
      return { on: 'adiamento', ...(isAway ? {} : { mensagem_retorno: answer.why }) };
    case 'already_there':
      return { ...fail(), ...describeErros(answer.erros) };
    default: {
      const mensagem_retorno = answer?.why ?? 'o ADN não disse o que foi feito do evento';
      // The ADN may have taken the event, which is searched first. An outage of the whole ADN uses up no retry (D-52).
      return { ...(isAway ? { on: 'adiamento' } : fail()), ...describeErros(answer?.erros ?? []), mensagem_retorno };
    }
  }
}

/** Code and text of the first reason, and all reasons in the form that is stored and shown. */
function describeErros(
  erros: readonly AdnErro[],
): Pick<EventoSettlement, 'codigo_retorno' | 'mensagem_retorno' | 'erros_adn'> {
  const [first] = erros;
  return {
    codigo_retorno: first?.codigo,
    mensagem_retorno: first && `${first.descricao}${first.complemento ? ` (${first.complemento})` : ''}`,
    erros_adn: erros.length === 0 ? null : (sanitizeErros({ erros }) as ErrosAdn | null),
  };
}

export const JOBS: readonly Kind[] = [{ kind: 'eventos', lanes: 1, deliver: deliverEventos }];
