/** How many connections to the database each part of a process opens at most. */
import type { Config } from './config.ts';

/** With one, whoever reads would wait for whoever writes. */
const SHARE_MIN = 2;
/** Large bodies are answered one at a time: readings of one request stand side by side. */
const ASIDE_MAX = 4;

export type Connections = { readonly serving: number; readonly transmitting: number; readonly aside: number };

/** The part of one of several processes. */
export function shareConnections({ connections }: Config, processes: number): Connections {
  const shareOf = (all: number): number => (processes === 1 ? all : Math.max(SHARE_MIN, Math.ceil(all / processes)));
  const serving = shareOf(connections.serving);
  return { serving, transmitting: shareOf(connections.transmitting), aside: Math.min(ASIDE_MAX, serving) };
}
