/** The three loads under which every measure of issuing looks at a note. */
import type { Command } from './sender.ts';

/** Their titles, and the notes of each window as a multiple of `--notas`. */
const LOADS = {
  uma: { title: 'uma a uma', share: 1 },
  rajadas: { title: 'em rajadas', share: 1 },
  pico: { title: 'no pico', share: 4 },
} as const;

export type LoadName = keyof typeof LOADS;
export const LOAD_NAMES = Object.keys(LOADS) as readonly LoadName[];

export type LoadOptions = {
  readonly notes: number;
  /** Notes per second and service, except at the peak, and the number sent at once in bursts. */
  readonly rate: number;
  readonly burst: number;
  /** Clients that send one note after the other, at the peak. */
  readonly connections: number;
};

/** The order to send the notes of one window. */
export function commandOf(load: LoadName, options: LoadOptions): Exclude<Command, { kind: 'make' }> {
  const { notes, rate, burst, connections } = options;
  const count = Math.ceil(notes * LOADS[load].share);
  if (load === 'pico') return { kind: 'closed', count, connections };
  return { kind: 'open', count, rate, burst: load === 'uma' ? 1 : burst };
}

/** The load in words, as `em rajadas: 1000 notas, 150/s a cada serviço, 16 por vez`. */
export function describeLoad(load: LoadName, options: LoadOptions): string {
  const command = commandOf(load, options);
  const manner =
    command.kind === 'closed'
      ? `${command.connections} clientes, cada um com uma nota depois da outra`
      : `${command.rate}/s a cada serviço, ${command.burst} por vez`;
  return `${titleOfLoad(load)}: ${command.count} notas, ${manner}`;
}

export function titleOfLoad(load: LoadName): string {
  return LOADS[load].title;
}
