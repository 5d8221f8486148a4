/**
 * An event is registered with its sequence, or every fault of the refusing step is returned:
 *
 * read → signature → note → body → author → whose certificate → events on the note → store.
 *
 * Its effect on the note and the national environment's decision come after the answer (`deliver.job.ts`). The issuance rules of the note
 * are not checked again (specification, Events).
 */

import type { EventoRow } from '../../base/book/evento-rows.ts';
import type { KeyedRequest } from '../../base/book/idempotencia.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { NotaForEvento } from '../../base/book/on-notas.ts';
import { inSpan } from '../../base/traces/traces.ts';
import { needOpen } from '../../base/world/fechado.ts';
import { keepFundamento } from '../../base/world/fundamento.ts';
import { momentOfNota, toEventoNaNota } from '../../base/world/gather-facts.ts';
import {
  type Before,
  type Ended,
  inTurn,
  type Refused,
  type SentKey,
  type Turn,
} from '../../base/world/idempotency.ts';
import type { PorMao } from '../../base/world/operator.ts';
import type { EventoSignature, SignatureVerdict } from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import type { Fundamento } from '../../documents/fundamento.ts';
import { readOwnNote } from '../../documents/own-note.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { isProtocolo, parseChave } from '../../fiscal/chave.ts';
import { VER_APLIC } from '../../fiscal/compose-nfse.ts';
import { refuseBesideOpen, refuseOnCancelled } from '../../fiscal/conflitos-evento.ts';
import type { Aviso, Fault } from '../../fiscal/fault.ts';
import { judgeAutor, judgeNomeada, judgeNota, type PartesDaNota } from '../../fiscal/judge-pedido.ts';
import { writeEvento } from '../../fiscal/layout/evento.ts';
import { isoMoment } from '../../fiscal/moment.ts';
import type { NotaNomeada, PedidoEvento, PedidoReading } from '../../fiscal/pedido-evento.ts';
import { BASE, CALLED_AUTOR } from '../../fiscal/pedido-names.ts';
import { describeBroken } from '../../fiscal/rules/codificacao.ts';
import { findRehearsal } from '../../fiscal/simular.ts';
import type { TipoEvento } from '../../fiscal/tipos-evento.ts';
import { answerOf, watch } from '../../fiscal/unknown.ts';
import { countRefusal, wholeSecond } from '../notas/issue.ts';
import {
  AT_TIPO,
  describeRefusedNota,
  findConflict,
  judgeSubstituta,
  reasonsAgainst,
  warnOfSubstitutas,
} from './contra-evento.ts';
import { type EventoPublico, registeredEvento } from './queries.ts';
import type { EventoNovo, RegisterResult } from './register.rows.ts';
import { openEvento, type SentEvento } from './sent-evento.ts';

/** The note by the key or protocol of the address. */
export type NotaNamed = { readonly chave: string } | { readonly protocolo: string };

export type EventoRegistrado = {
  readonly evento: EventoPublico;
  readonly avisos: readonly Aviso[];
  /** The event was registered before, for the same request (D-19). */
  readonly isRepeated?: true;
};

/** `not_found`: there is no such note. A status of 409 asks to try again. */
export type EventoRefused = 'not_found' | Refused;

/** Registers an integrator's event; a key makes repeated requests register one event. */
export async function registerEvento(
  world: World,
  municipio: Municipio,
  named: NotaNamed,
  sent: SentEvento,
  key?: SentKey,
): Promise<EventoRegistrado | EventoRefused> {
  needOpen(municipio);
  const done = await inTurn<EventoRegistrado | EventoRefused>(world, municipio, key, (turn) =>
    registerSent(world, municipio, named, sent, turn),
  );
  if (typeof done === 'object' && 'before' in done) return registeredBefore(done.before);
  if (typeof done === 'object' && 'faults' in done) countRefusal(world, municipio, done.faults);
  return done;
}

function registeredBefore(before: Before): EventoRegistrado | Refused {
  if ('faults' in before) return before;
  if (!('evento' in before)) throw new Error('the registration of an evento is not answered with a nota');
  return { evento: registeredEvento(before.evento), avisos: before.avisos, isRepeated: true };
}

async function registerSent(
  world: World,
  municipio: Municipio,
  named: NotaNamed,
  sent: SentEvento,
  turn: Turn | undefined,
): Promise<EventoRegistrado | EventoRefused | Ended> {
  const received = world.now();
  const opened = openEvento(sent, municipio);
  if ('faults' in opened) return opened;
  const { read } = opened;
  const signature = inSpan('verificar', {}, () => opened.verify(world, municipio, received));
  if (isSome(signature.faults)) {
    // A sender without a valid signature learns nothing about the note.
    const ofBody = 'faults' in read ? read.faults : [];
    return { faults: [...signature.faults, ...ofBody] };
  }
  const nota = canName(named) ? await world.store.eventos.findNota(municipio.tenant, named) : undefined;
  if (nota === undefined) return 'not_found';
  if ('faults' in read) return refuseUnread(world, municipio, read, { nota, named, signature });
  const { pedido } = read;
  const judged = judgeOnNota(municipio, pedido, { nota, named, signature });
  if (!('autor' in judged)) return { ...judged, faults: [judged.faults[0]!, ...judged.faults.slice(1)] };
  const { autor, party } = judged;
  // The key belongs to the author: a party's keys are separate from the provider's.
  const before = await turn?.begin(autor, sent.body);
  if (before !== undefined) return { before };
  // The quota is the party's own, so that no party uses up another's.
  const spent = await sent.quota?.take(autor);
  if (spent !== undefined) return spent;

  const rehearsal = findRehearsal(municipio, [sent.simular, ...Object.values(pedido.campos)]);
  const avisos = [...signature.avisos, ...party.avisos, ...rehearsal.avisos, ...findBrokenTexts(pedido)];
  const registered = await register(world, municipio, nota, pedido, {
    autor,
    received,
    recebido: sent.body,
    recebido_assinatura: sent.kind === 'json' ? sent.assinatura : undefined,
    confianca: await keepFundamento(world, municipio, signature.fundamento),
    simular: rehearsal.simular,
    avisos,
    keyed: (all) => turn?.success(all),
  });
  return registered === 'repeated' ? { before: await turn!.before() } : registered;
}

/** A note with the name that its address used, and the signature of a request for it. */
type OnNota = { readonly nota: NotaForEvento; readonly named: NotaNamed; readonly signature: EventoSignature };

/**
 * Checks that a request fits this note, names the party that its type demands, and is signed by it. Unknown parts of the request cause no
 * fault.
 */
function judgeOnNota(
  municipio: Municipio,
  pedido: PedidoEvento,
  { nota, named, signature }: OnNota,
): OfAutor | { readonly faults: readonly Fault[]; readonly status?: number } {
  const isDue = municipio.exigeNotaNoEvento === true;
  const unnamed = isDue ? answerOf(() => judgeNomeada(pedido, toNotaNomeada(named)))?.answer : undefined;
  const another = answerOf(() => judgeNota(pedido, nota))?.answer;
  const judged = answerOf(() => judgeAutor(pedido, new Partes(nota)))?.answer ?? NOBODY_KNOWN;
  const party =
    'autor' in judged ? signature.ofParty(judged.autor, CALLED_AUTOR[pedido.tipo.autor ?? 'prestador']) : undefined;
  const ofAutor = 'fault' in judged ? judged.fault : undefined;
  const faults = [unnamed, another, ofAutor, ...(party?.faults ?? [])].filter((fault) => fault !== undefined);
  if (!isSome(faults) && 'autor' in judged) return { autor: judged.autor, party: party! };
  const status = unnamed !== undefined ? { status: 400 } : another !== undefined ? { status: 422 } : {};
  return { faults, ...status };
}

/** The author of a request, and the verdict about the author's signature. */
type OfAutor = { readonly autor: string; readonly party: SignatureVerdict };

const NOBODY_KNOWN = {} as { readonly autor?: never };

/** A body with faults. Reasons of the note against its known part are added, if its author signed it (D-720). */
async function refuseUnread(
  world: World,
  municipio: Municipio,
  { status, faults, marked }: Extract<PedidoReading, { faults: unknown }>,
  on: OnNota,
): Promise<Refused> {
  if (marked === undefined) return { status, faults };
  const { value: pedido } = watch(marked);
  const judged = judgeOnNota(municipio, pedido, on);
  const beside =
    'autor' in judged ? await reasonsAgainst(world, municipio, on.nota, pedido, judged.autor) : judged.faults;
  return { status, faults: [...faults, ...beside] };
}

/** The note of an address, in the form of a body. */
function toNotaNomeada(named: NotaNamed): NotaNomeada {
  return 'chave' in named ? { chave_acesso: named.chave } : { numero_protocolo: named.protocolo };
}

/** Whether the text of an address can name a note; an impossible one is not queried. */
function canName(named: NotaNamed): boolean {
  return 'chave' in named ? parseChave(named.chave) !== undefined : isProtocolo(named.protocolo);
}

/** Remarks on texts that were decoded in a wrong encoding before they came here. */
function findBrokenTexts({ tipo, campos }: PedidoEvento): readonly Aviso[] {
  return tipo.campos.flatMap(({ nome, elemento }) => {
    const mensagem = describeBroken(campos[nome] ?? '');
    return mensagem === undefined
      ? []
      : [{ codigo: 'E0003', xpath: `${BASE}/e${tipo.codigo}/${elemento}`, campo: nome, mensagem }];
  });
}

/** The parts of the world that a registration needs when the author is known. */
export type RegisterWorld = Pick<World, 'store' | 'now' | 'wake'>;

/** A request whose sender is already verified. */
export type PedidoJulgado = {
  readonly pedido: PedidoEvento;
  /** CNPJ of the municipality, when it is the author. */
  readonly municipio?: string;
  /** The document, whose signature its reader verified; the municipality's own request has none. */
  readonly recebido?: Uint8Array;
  /** The basis on which its signature was judged. */
  readonly fundamento?: Fundamento | undefined;
  /** The outcome that the local authority simulates. */
  readonly simular?: string | undefined;
  /** The operator who registers by hand, for an event of the municipality itself. */
  readonly porMao?: PorMao | undefined;
  /** The form that was confirmed: it registers one event, on the note as its reader saw it (D-841). */
  readonly confirmado?: Confirmado | undefined;
};

export type Confirmado = {
  readonly request: KeyedRequest;
  /** Number of events of the note that the reader saw. */
  readonly eventosVistos: number;
};

/** The author of a request on its note, or the reason against them. */
async function judgeParties(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  named: NotaNamed,
  { pedido, municipio: cnpj }: Pick<PedidoJulgado, 'pedido' | 'municipio'>,
): Promise<{ readonly nota: NotaForEvento; readonly autor: string } | EventoRefused> {
  const nota = await world.store.eventos.findNota(municipio.tenant, named);
  if (nota === undefined) return 'not_found';
  const another = judgeNota(pedido, nota);
  if (another !== undefined) return { faults: [another], status: 422 };
  const judged = judgeAutor(pedido, new Partes(nota, cnpj));
  return 'fault' in judged ? { faults: [judged.fault] } : { nota, autor: judged.autor };
}

/** Judges a request as its registration would, and stores nothing. */
export async function judgePedido(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  named: NotaNamed,
  asked: Pick<PedidoJulgado, 'pedido' | 'municipio'>,
): Promise<{ readonly autor: string; readonly avisos: readonly Aviso[] } | EventoRefused> {
  const judged = await judgeParties(world, municipio, named, asked);
  if (judged === 'not_found' || 'faults' in judged) return judged;
  const standing = await judgeStanding(world, municipio, judged.nota, asked.pedido, judged.autor);
  return 'faults' in standing ? standing : { autor: judged.autor, avisos: standing.avisos };
}

/** Registers an event of the municipality itself (D-50), or a party's event from a document of the legacy port. */
export async function registerPedido(
  world: RegisterWorld,
  municipio: Municipio,
  named: NotaNamed,
  { pedido, municipio: cnpj, recebido, fundamento, simular, porMao, confirmado }: PedidoJulgado,
): Promise<EventoRegistrado | EventoRefused> {
  needOpen(municipio);
  const judged = await judgeParties(world, municipio, named, { pedido, ...(cnpj && { municipio: cnpj }) });
  if (judged === 'not_found' || 'faults' in judged) return judged;
  const { nota, autor } = judged;
  const origin = {
    autor,
    received: world.now(),
    recebido,
    recebido_assinatura: undefined,
    confianca: await keepFundamento(world, municipio, fundamento),
    simular,
    porMao,
    eventosVistos: confirmado?.eventosVistos,
    keyed: (avisos: readonly Aviso[]) => confirmado && { ...confirmado.request, avisos },
  };
  const registered = await register(world, municipio, nota, pedido, origin);
  if (registered !== 'repeated') return registered;
  const before = confirmado && (await findConfirmed(world, municipio, confirmado.request.impressao));
  if (before === undefined) throw new Error('a repetition has no event before it');
  return { evento: registeredEvento(before), avisos: [], isRepeated: true };
}

/** The event that a confirmed form has registered. */
export async function findConfirmed(
  { store, now }: Pick<World, 'store' | 'now'>,
  { tenant }: Municipio,
  impressao: Buffer,
): Promise<EventoRow | undefined> {
  const answer = await store.idempotencia.findAnswer(tenant, impressao, now());
  return answer !== undefined && 'evento' in answer ? store.eventos.findById(tenant, answer.evento) : undefined;
}

type Origin = Pick<
  EventoNovo,
  'recebido' | 'recebido_assinatura' | 'confianca' | 'autor' | 'porMao' | 'eventosVistos'
> & {
  readonly received: number;
  readonly simular: string | undefined;
  /** The remarks so far. */
  readonly avisos?: readonly Aviso[];
  /** The answer to store for a repetition of the request (D-19), with all remarks. */
  readonly keyed?: (avisos: readonly Aviso[]) => EventoNovo['key'];
};

/** Judges a request against the events on its note, and against its substitutes. */
async function judgeStanding(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  nota: NotaForEvento,
  { tipo, campos }: PedidoEvento,
  autor: string,
): Promise<Refused | { readonly avisos: readonly Aviso[] }> {
  const conflict = await findConflict(world, municipio, nota, { codigo: tipo.codigo, autor, campos });
  const substitution = await judgeSubstituta(world, municipio, nota, tipo, campos);
  const against = [conflict, 'fault' in substitution ? substitution.fault : undefined].filter(
    (one) => one !== undefined,
  );
  if (isSome(against)) return { faults: against };
  const ofSubstituta = 'avisos' in substitution ? substitution.avisos : [];
  return { avisos: [...ofSubstituta, ...warnOfSubstitutas(nota, tipo, campos)] };
}

async function register(
  world: RegisterWorld,
  municipio: Municipio,
  nota: NotaForEvento,
  pedido: PedidoEvento,
  { received, avisos: before = [], keyed, ...origin }: Origin,
): Promise<EventoRegistrado | Refused | 'repeated'> {
  const { tipo, campos } = pedido;
  const standing = await judgeStanding(world, municipio, nota, pedido, origin.autor);
  if ('faults' in standing) return standing;
  const avisos = [...before, ...standing.avisos];
  const criado_em = wholeSecond(received);
  const dh = isoMoment(momentOfNota(nota.chave_acesso, criado_em));
  const { codigo, cancela } = tipo;
  const novo: EventoNovo = {
    ...origin,
    key: keyed?.(avisos),
    nota: nota.id,
    mes_nota: nota.mes,
    codigo_tipo_evento: codigo,
    cancela,
    campos,
    criado_em,
    complete: ({ id, numero_sequencial }) =>
      writeEvento({
        chave_acesso: nota.chave_acesso,
        codigo,
        numero_sequencial,
        tpAmb: AMBIENTES[municipio.ambiente].tpAmb,
        verAplic: VER_APLIC,
        dhEvento: dh,
        dhProc: dh,
        nDFSe: id,
        autor: origin.autor,
        campos,
      }),
  };
  const result = await inSpan('gravar', {}, () => world.store.eventos.register(municipio.tenant, novo));
  if ('conflict' in result) {
    const { conflict } = result;
    return conflict === 'repetida' ? 'repeated' : refusalOf(result, tipo);
  }
  world.wake(municipio.tenant);
  return { evento: registeredEvento(result.evento), avisos };
}

function refusalOf(
  result: Exclude<Extract<RegisterResult, { conflict: string }>, { conflict: 'repetida' }>,
  tipo: TipoEvento,
): Refused {
  switch (result.conflict) {
    case 'cancelamento_aberto':
      return { faults: [{ ...refuseBesideOpen(toEventoNaNota(result.evento)), ...AT_TIPO }] };
    case 'nota_cancelada':
      return { faults: [{ ...refuseOnCancelled(tipo.codigo), ...AT_TIPO }] };
    case 'nota_recusada':
      return { faults: [describeRefusedNota(tipo)] };
    case 'substituta_recusada': {
      const campo = 'chave_acesso_substituta';
      const mensagem = `A nota de ${campo} foi retirada pelo município, e não substitui outra. Emita uma nova substituta, com o grupo subst.`;
      return { faults: [{ codigo: 'E1310', xpath: `${BASE}/e${tipo.codigo}/chSubstituta`, campo, mensagem }] };
    }
    case 'limite': {
      const mensagem = `A nota já tem todos os eventos ${tipo.slug} que cabem nela: a sequência vai até 999.`;
      return { faults: [{ codigo: 'E0002', ...AT_TIPO, mensagem }], status: 422 };
    }
    case 'nota_mudou': {
      const mensagem =
        'Outro evento foi registrado nesta nota depois que a página foi mostrada. Nada foi registrado: confira os eventos da nota, e confirme de novo.';
      return { faults: [{ codigo: 'E703', ...AT_TIPO, mensagem }], status: 409 };
    }
    case 'sequencia': {
      const mensagem =
        'Outro evento do mesmo tipo foi registrado nesta nota no mesmo instante, e ficou com o número. Nada foi registrado: envie de novo.';
      return { faults: [{ codigo: 'E703', ...AT_TIPO, mensagem }], status: 409, esperaS: 1 };
    }
  }
}

// The parties of a note.

class Partes implements PartesDaNota {
  readonly prestador: string;
  readonly tomador: string | undefined;
  readonly municipio: string | undefined;
  private readonly nfse: NotaForEvento['nfse'];

  constructor({ prestador_cpf_cnpj, tomador_cpf_cnpj, nfse }: NotaForEvento, municipio?: string) {
    this.prestador = prestador_cpf_cnpj;
    this.tomador = tomador_cpf_cnpj ?? undefined;
    this.municipio = municipio;
    this.nfse = nfse;
  }

  /** The document alone has the intermediary: few notes have one, and few events need it. */
  get intermediario(): string | undefined {
    const inNota = readOwnNote(this.nfse);
    return inNota('DPS/infDPS/interm/CNPJ') ?? inNota('DPS/infDPS/interm/CPF');
  }
}

function isSome(faults: readonly Fault[]): faults is readonly [Fault, ...Fault[]] {
  return faults.length > 0;
}
