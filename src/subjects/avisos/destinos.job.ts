/**
 * Limits for each destination host and network address, over all municipalities: concurrent messages and questions a minute, shared among
 * owners (D-781). A failing host is paused for the owners that it does not serve well. The state is kept in the memory of the sending
 * process.
 */
import { MINUTE_MS } from '../../fiscal/moment.ts';
import {
  AVISO_CONFIRMAR_DE_UM,
  AVISO_CONFIRMAR_POR_MINUTO,
  AVISO_PARADO_MAX_S,
  AVISO_RESPOSTA_S,
  AVISO_SIMULTANEOS,
} from './tempos.ts';

const FULL_MS = 1_000;
/** All messages under way have ended by then; owners that come back together keep the order of the line. */
const FULL_MAX_MS = 1_000 * AVISO_RESPOSTA_S;
const QUESTION_MAX_MS = 10 * MINUTE_MS;
/** So many owners must fail in a row, and none succeed, before their host counts as failing. */
const DONOS_PARA_PARAR = 3;
/** Owners that are remembered for the result of their last message. */
const OWNERS_MAX = 256;
/** The host keeps no place for an owner that is later than this. */
const LATE_MS = 5_000;
/** An owner that is later than this loses its place in the line: longer than a batch of slow addresses. */
const GONE_MS = 40_000;
/** A destination that was unused for so long is forgotten. */
const FORGET_MS = 15 * MINUTE_MS;

/** A budget of questions a minute. */
class Questions {
  private readonly perMinute: number;
  private left: number;
  private reckonedAt: number;

  constructor(perMinute: number, agora: number) {
    this.perMinute = perMinute;
    this.left = perMinute;
    this.reckonedAt = agora;
  }

  /** Milliseconds from one question to the next, once those of a minute are used up. */
  get eachMs(): number {
    return MINUTE_MS / this.perMinute;
  }

  /** `ahead`: questions that others are to ask first. */
  isSpent(agora: number, ahead = 0): boolean {
    const since = Math.max(0, agora - this.reckonedAt);
    this.left = Math.min(this.perMinute, this.left + since / this.eachMs);
    this.reckonedAt = agora;
    return this.left < 1 + ahead;
  }

  take(some: 1 | -1): void {
    this.left -= some;
  }
}

/** An owner that was put off. `ids`: its addresses that were put off since its last turn. */
type Waiting = { readonly ids: Set<string>; readonly since: number; backAt: number };

type Destino = {
  underway: number;
  /** Messages under way by owner. */
  readonly ofOwners: Map<string, number>;
  readonly questions: Questions;
  /** Question budgets by owner of addresses there. */
  readonly deDonos: Map<string, Questions>;
  /** Owners that were put off, in their order: each comes back after the one before it. */
  line: Map<string, Waiting>;
  /** Owners whose last message was accepted. */
  readonly served: Set<string>;
  /** Owners of addresses that failed, while none succeeded. */
  readonly failed: Set<string>;
  rounds: number;
  pausedUntil: number;
  usedAt: number;
};

export type Pedido = {
  /** The registered address. */
  readonly id: string;
  readonly dono: string;
  readonly agora: number;
  readonly isDesafio: boolean;
};

/** The result for a destination as a whole: it failed, or it answered. */
export type Veredito = 'failed' | 'answered';

/** `takeBack`: nothing was sent, so nothing is spent. Another destination of the same message delays it for `adiadoMs`. */
export type Begun = { end(veredito: Veredito): void; takeBack(adiadoMs: number): void };
type Vez = Begun | { readonly adiadoMs: number };

/** Limit of concurrent messages of one owner, and number of waiting owners that come back by now and go first. */
function turnsAt(destino: Destino, dono: string, agora: number): { readonly share: number; readonly ahead: number } {
  const { line, ofOwners } = destino;
  for (const [other, { backAt }] of line) if (agora > backAt + GONE_MS) line.delete(other);
  const others = [...line].filter(([other, { backAt }]) => other !== dono && agora <= backAt + LATE_MS);
  const back = others.filter(([, { backAt }]) => backAt <= agora + FULL_MS).map(([other]) => other);
  const owners = new Set([...ofOwners.keys(), ...back, dono]).size;
  const share = others.length === 0 ? AVISO_SIMULTANEOS : Math.ceil(AVISO_SIMULTANEOS / Math.max(2, owners));
  const all = [...line.keys()];
  const before = line.has(dono) ? new Set(all.slice(0, all.indexOf(dono))) : line;
  return { share, ahead: back.filter((other) => before.has(other) && (ofOwners.get(other) ?? 0) < share).length };
}

/** Joins the line of the owners that were put off. */
function joinLine({ line }: Destino, { id, dono, agora }: Pedido): Waiting {
  const own = line.get(dono) ?? { ids: new Set(), since: agora, backAt: agora };
  line.set(dono, own);
  own.ids.add(id);
  return own;
}

/** Gives an owner back its earlier place in the line. */
function returnTo(destino: Destino, dono: string, own: Waiting): void {
  destino.line.delete(dono);
  destino.line = new Map([[dono, own] as const, ...destino.line].sort(([, a], [, b]) => a.since - b.since));
}

function putOff(destino: Destino, pedido: Pedido, ms: number, maxMs: number): Vez {
  const { dono, agora } = pedido;
  const own = joinLine(destino, pedido);
  const turns = Math.max([...destino.line.keys()].indexOf(dono) + 1, own.ids.size);
  const adiadoMs = Math.min(maxMs, ms * turns);
  const backAt = agora + adiadoMs;
  own.backAt = own.ids.size === 1 || own.backAt <= agora ? backAt : Math.min(own.backAt, backAt);
  return { adiadoMs };
}

/** The delay until the next try; undefined: there is a turn now. */
function whyNotNow(destino: Destino, pedido: Pedido): Vez | undefined {
  const { ofOwners, questions, deDonos, served, failed } = destino;
  const { dono, agora, isDesafio } = pedido;
  const isServed = served.has(dono);
  // Failures of others stop no owner whose own messages are accepted.
  if (agora < destino.pausedUntil && !isServed) {
    joinLine(destino, pedido).backAt = destino.pausedUntil;
    return { adiadoMs: destino.pausedUntil - agora };
  }
  const { share, ahead } = turnsAt(destino, dono, agora);
  const isPaused = destino.pausedUntil > 0;
  // A failing host is tried with one message, of an owner that failed after the others. Owners that it served go on.
  const [places, most] = !isPaused ? [AVISO_SIMULTANEOS, share] : isServed ? [AVISO_SIMULTANEOS, 1] : [1, 1];
  const isFull = destino.underway + (isPaused && !failed.has(dono) ? 0 : ahead) >= places;
  if (isFull || (ofOwners.get(dono) ?? 0) >= most) return putOff(destino, pedido, FULL_MS, FULL_MAX_MS);
  if (!isDesafio) return undefined;
  const own = deDonos.get(dono) ?? new Questions(AVISO_CONFIRMAR_DE_UM, agora);
  deDonos.set(dono, own);
  // One owner that asks too often delays nobody else.
  if (own.isSpent(agora)) return { adiadoMs: own.eachMs };
  return questions.isSpent(agora, ahead) ? putOff(destino, pedido, questions.eachMs, QUESTION_MAX_MS) : undefined;
}

function count(destino: Destino, dono: string, more: 1 | -1): void {
  destino.underway += more;
  const own = (destino.ofOwners.get(dono) ?? 0) + more;
  if (own === 0) destino.ofOwners.delete(dono);
  else destino.ofOwners.set(dono, own);
}

/** Effect of an answer, or of none, on a destination. */
function conclude(destino: Destino, { dono, agora, isDesafio }: Pedido, veredito: Veredito): void {
  const { failed, served } = destino;
  if (veredito === 'answered') {
    failed.clear();
    destino.rounds = 0;
    destino.pausedUntil = 0;
  }
  // An unproved address decides nothing for others.
  if (isDesafio) return;
  served.delete(dono);
  if (veredito === 'answered') {
    if (served.size >= OWNERS_MAX) served.delete(served.keys().next().value!);
    served.add(dono);
    return;
  }
  if (failed.size < OWNERS_MAX) failed.add(dono);
  if (failed.size < DONOS_PARA_PARAR) return;
  // Messages that were under way together are one round.
  if (agora < destino.pausedUntil) return;
  destino.pausedUntil = agora + 1_000 * Math.min(AVISO_PARADO_MAX_S, 5 * 2 ** destino.rounds);
  destino.rounds = Math.min(20, destino.rounds + 1);
}

export function openDestinos() {
  const all = new Map<string, Destino>();
  let sweptAt = 0;
  const sweep = (agora: number): void => {
    if (Math.abs(agora - sweptAt) < MINUTE_MS) return;
    sweptAt = agora;
    for (const [key, { underway, usedAt }] of all) {
      if (underway === 0 && Math.abs(agora - usedAt) > FORGET_MS) all.delete(key);
    }
  };
  const known = (key: string, agora: number): Destino => {
    const found = all.get(key);
    if (found !== undefined) return found;
    const destino: Destino = {
      ...{ underway: 0, ofOwners: new Map(), questions: new Questions(AVISO_CONFIRMAR_POR_MINUTO, agora) },
      ...{ deDonos: new Map(), line: new Map(), served: new Set<string>(), failed: new Set<string>() },
      ...{ rounds: 0, pausedUntil: 0, usedAt: agora },
    };
    all.set(key, destino);
    return destino;
  };
  return {
    /** A turn for a message to a destination, or the delay until the next try. */
    begin(key: string, pedido: Pedido): Vez {
      const { dono, agora, isDesafio } = pedido;
      sweep(agora);
      const destino = known(key, agora);
      destino.usedAt = agora;
      const later = whyNotNow(destino, pedido);
      if (later !== undefined) return later;
      const asked = isDesafio ? [destino.questions, destino.deDonos.get(dono)!] : [];
      for (const one of asked) one.take(1);
      count(destino, dono, 1);
      const own = destino.line.get(dono);
      destino.line.delete(dono);
      return {
        takeBack: (adiadoMs) => {
          for (const one of asked) one.take(-1);
          count(destino, dono, -1);
          if (own !== undefined) returnTo(destino, dono, { ...own, backAt: agora + adiadoMs });
        },
        end: (veredito) => {
          count(destino, dono, -1);
          conclude(destino, pedido, veredito);
        },
      };
    },
  };
}
