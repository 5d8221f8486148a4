/** Answers the requests with a large body, in a separate thread. */

import type { AsideCall } from '../../base/http/aside.ts';
import { ASIDE_BYTES } from '../../base/http/aside.ts';
import type { SoapAnswer } from '../../base/http/message.ts';
import type { Outcome } from '../../base/http/route.ts';
import { inTraces } from '../../base/traces/traces.ts';
import type { Quota } from '../../base/world/quota.ts';
import { worldOf } from '../../base/world/relogio.ts';
import type { World } from '../../base/world/world.ts';
import { performSoap, writeFault } from '../../subjects/lotes/nfes.soap.ts';
import { ROUTES } from './routes.ts';

/** Answers one request, in the thread for large bodies. */
export function performAside(world: World, quota: Quota | undefined, call: AsideCall): Promise<Outcome | SoapAnswer> {
  return inTraces('corpo grande', [call], {}, () => perform(world, quota, call));
}

async function perform(world: World, quota: Quota | undefined, call: AsideCall): Promise<Outcome | SoapAnswer> {
  const { route: id, municipio, headers, shown } = call;
  const own = worldOf(world, municipio);
  const body = Buffer.from(call.body.buffer, call.body.byteOffset, call.body.byteLength);
  if (id === 'soap') {
    const companhia = { shown: () => shown, requisicao: call.requisicao, quota };
    const answer = await performSoap(own, municipio, { headers, body }, companhia);
    // Only queries have streamed answers, and no query has such a long body.
    return typeof answer.body === 'string' ? answer : writeFault(headers, 413, LONG_QUESTION);
  }
  const route = ROUTES.find((one) => one.id === id)!;
  return route.handle({ ...call, world: own, body, client: '', waits: NO_WAITS, shown: () => shown, quota });
}

const NEVER = { wait: async () => false };
/** A request with a long body never waits for a change. */
const NO_WAITS = { notas: NEVER, eventos: NEVER, mudancas: NEVER };

const LONG_QUESTION = `Uma consulta tem até ${ASIDE_BYTES / 1024} KiB: envie só os elementos do modelo.`;
