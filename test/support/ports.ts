/**
 * Ports for servers that stop and return. The system gives a free port to another process as soon as its listener ends. These ports lie
 * below the system's range, and each process uses others.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { onEveryEnd } from './cleanup.ts';

/** Browsers and `fetch` refuse 10080, the highest port that the Fetch standard blocks. */
const LOWEST = 10_081;
/** The first port of the system's range, if the system does not report it. */
const GIVEN_FROM = 32_768;
/** Ports of one process, before those of the next one begin. */
const OF_A_PROCESS = 16;

let tried = 0;
onEveryEnd(() => (tried = 0));

/** A free port that only this process uses, now and later. */
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
