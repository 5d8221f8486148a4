/**
 * Ports for what goes away and comes back. A free port that the system gave is given to somebody else as soon as nobody
 * listens on it; these lie below the ones that it gives, and each process takes others.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { onEveryEnd } from './cleanup.ts';

/** No browser and no `fetch` asks on 10080, the highest of the ports that the Fetch standard blocks. */
const LOWEST = 10_081;
/** Where the ports begin that the system gives, where nothing else is told. */
const GIVEN_FROM = 32_768;
/** Of a process, before they become those of the next one. */
const OF_A_PROCESS = 16;

let tried = 0;
onEveryEnd(() => (tried = 0));

/** A port of this process alone, on which nobody listens, now and later. */
export async function ownPort(): Promise<number> {
  const span = givenFrom() - LOWEST;
  for (; tried < span; tried += 1) {
    const port = LOWEST + ((process.pid * OF_A_PROCESS + tried) % span);
    if (!(await isFree(port))) continue;
    tried += 1;
    return port;
  }
  throw new Error('there is no free port');
}

function givenFrom(): number {
  try {
    const first = Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10);
    return first > LOWEST + OF_A_PROCESS ? first : GIVEN_FROM;
  } catch {
    return GIVEN_FROM;
  }
}

export async function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const probe = net.createServer();
  try {
    await once(probe.listen(port, host), 'listening');
  } catch {
    return false;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
