/**
 * Limits the memory of all bodies that are still coming in, however slowly they come (D-289). Short bodies and complete bodies are not
 * counted.
 */
import { networksOf } from '../world/redes.ts';

/** Shorter bodies are not counted: one on each connection takes less memory than the limit. */
export const SHORT_BODY_BYTES = 32 * 1024;

type Body = { bytes: number; readonly end: () => void };
type Network = { bytes: number; readonly bodies: Set<Body> };

export type Incoming = ReturnType<ReturnType<typeof openBodies>['begin']>;

/** Counts the bodies that are coming in. The oldest body of the network with the most bytes gives way beyond `max` bytes. */
export function openBodies(max: number) {
  const networks = new Map<string, Network>();
  let total = 0;
  const leave = (name: string, network: Network, body: Body): void => {
    if (!network.bodies.delete(body)) return;
    total -= body.bytes;
    network.bytes -= body.bytes;
    if (network.bodies.size === 0) networks.delete(name);
  };
  const endOne = (): void => {
    const [first, ...others] = networks;
    const [name, network] = others.reduce((most, one) => (one[1].bytes > most[1].bytes ? one : most), first!);
    const oldest = network.bodies.values().next().value!;
    leave(name, network, oldest);
    oldest.end();
  };
  return {
    /** Counts one more body. `end`: called when this body gives way to others. */
    begin: (address: string, end: () => void) => {
      const name = networksOf(address).at(-1)!.name;
      const network = networks.getOrInsertComputed(name, () => ({ bytes: 0, bodies: new Set() }));
      const body: Body = { bytes: 0, end };
      network.bodies.add(body);
      return {
        /** Counts further bytes of the body. */
        grow: (bytes: number): void => {
          if (!network.bodies.has(body)) return;
          body.bytes += bytes;
          network.bytes += bytes;
          total += bytes;
          while (total > max) endOne();
        },
        /** Ends the count: the body came whole, or never will. */
        leave: (): void => leave(name, network, body),
      };
    },
  };
}
