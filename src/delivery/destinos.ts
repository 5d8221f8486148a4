/**
 * Limits for each destination host and network address, over all municipalities: messages at once and questions a minute.
 * A failing host is paused for all. The state is kept in the memory of the sending process.
 */
import {
  AVISO_CONFIRMAR_DE_UM,
  AVISO_CONFIRMAR_POR_MINUTO,
  AVISO_PARADO_MAX_S,
  AVISO_SIMULTANEOS,
} from '../flows/aviso-tempos.ts';

const MINUTE_MS = 60_000;
const FULL_MS = 1_000;
const WAIT_MAX_MS = 10 * MINUTE_MS;
/** Addresses of so many owners have to fail in a row, and none to succeed, before it is their host that fails. */
const DONOS_PARA_PARAR = 3;
/** A destination of which nothing was heard for so long is forgotten. */
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

  /** Milliseconds from one to the next, once those of a minute are used up. */
  get eachMs(): number {
    return MINUTE_MS / this.perMinute;
  }

  isSpent(agora: number): boolean {
    const since = Math.max(0, agora - this.reckonedAt);
    this.left = Math.min(this.perMinute, this.left + since / this.eachMs);
    this.reckonedAt = agora;
    return this.left < 1;
  }

  take(): void {
    this.left -= 1;
  }
}

type Destino = {
  underway: number;
  readonly questions: Questions;
  /** The same of each owner of addresses there. */
  readonly deDonos: Map<string, Questions>;
  /** Addresses that were put off since somebody last had a turn: each comes back after the one before it. */
  readonly putOff: Set<string>;
  /** Owners of addresses that failed, while none succeeded. */
  readonly failed: Set<string>;
  rounds: number;
  pausedUntil: number;
  usedAt: number;
};

export type Pedido = {
  /** Of the registered address. */
  readonly id: string;
  /** Whose it is. */
  readonly dono: string;
  readonly agora: number;
  readonly isDesafio: boolean;
};

/** How a destination did: as a whole it failed, it answered, or that cannot be said. */
export type Veredito = 'failed' | 'answered' | 'unknown';

export type Begun = { end(veredito: Veredito): void };
type Vez = Begun | { readonly adiadoMs: number };

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
      ...{ underway: 0, questions: new Questions(AVISO_CONFIRMAR_POR_MINUTO, agora), deDonos: new Map() },
      ...{ putOff: new Set<string>(), failed: new Set<string>(), rounds: 0, pausedUntil: 0, usedAt: agora },
    };
    all.set(key, destino);
    return destino;
  };
  return {
    /** A turn of what is sent to a destination, or in how long to ask again. */
    begin(key: string, { id, dono, agora, isDesafio }: Pedido): Vez {
      sweep(agora);
      const destino = known(key, agora);
      destino.usedAt = agora;
      const putOff = (ms: number): Vez => {
        destino.putOff.add(id);
        return { adiadoMs: Math.min(WAIT_MAX_MS, ms * destino.putOff.size) };
      };
      if (agora < destino.pausedUntil) return { adiadoMs: destino.pausedUntil - agora };
      // While it fails one message alone finds out whether it is back.
      const isPaused = destino.pausedUntil > 0;
      if (destino.underway >= (isPaused ? 1 : AVISO_SIMULTANEOS)) return putOff(FULL_MS);
      if (isDesafio) {
        const { questions, deDonos } = destino;
        const own = deDonos.get(dono) ?? new Questions(AVISO_CONFIRMAR_DE_UM, agora);
        deDonos.set(dono, own);
        // One owner that asks too often makes nobody else wait.
        if (own.isSpent(agora)) return { adiadoMs: own.eachMs };
        if (questions.isSpent(agora)) return putOff(questions.eachMs);
        for (const one of [own, questions]) one.take();
      }
      destino.putOff.clear();
      destino.underway += 1;
      return {
        end: (veredito) => {
          destino.underway -= 1;
          if (veredito === 'answered') {
            destino.failed.clear();
            destino.rounds = 0;
            destino.pausedUntil = 0;
          }
          // Of one that nobody has proved nothing is concluded for others.
          if (veredito !== 'failed' || isDesafio) return;
          if (destino.failed.size < DONOS_PARA_PARAR) destino.failed.add(dono);
          if (destino.failed.size < DONOS_PARA_PARAR) return;
          // Those that were under way together are one round.
          if (agora < destino.pausedUntil) return;
          destino.pausedUntil = agora + 1_000 * Math.min(AVISO_PARADO_MAX_S, 5 * 2 ** destino.rounds);
          destino.rounds = Math.min(20, destino.rounds + 1);
        },
      };
    },
  };
}
