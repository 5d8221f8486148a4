/** The maximum number of connections to the database for each part of a process. */
import type { Config } from './config.ts';

/** The minimum is two: with a single connection, readers would wait for writers. */
const SHARE_MIN = 2;
/** Large bodies are answered one at a time: only the readings of one request run in parallel. */
const ASIDE_MAX = 4;

export type Connections = { readonly serving: number; readonly transmitting: number; readonly aside: number };

/** The share of one of several processes. */
export function shareConnections({ connections }: Config, processes: number): Connections {
  const shareOf = (all: number): number => (processes === 1 ? all : Math.max(SHARE_MIN, Math.ceil(all / processes)));
  const serving = shareOf(connections.serving);
  return { serving, transmitting: shareOf(connections.transmitting), aside: Math.min(ASIDE_MAX, serving) };
}
