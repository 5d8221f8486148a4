/** A private sandbox keeps the last requests for its owner, from every door. */

import { clientOf } from '../../base/http/caller.ts';
import type { HttpAnswer } from '../../base/http/message.ts';
import type { Door, Visit } from '../../base/http/visit.ts';
import { keepRequisicao } from './requisicoes.ts';

/** Status codes of refusals by rate or load. */
const EXCESS: ReadonlySet<number> = new Set([429, 503]);

/** The answer does not wait for this. `corpo`: undefined: it was not read. */
export function keepForOwner(door: Door, visit: Visit, corpo: Buffer | undefined, answer: HttpAnswer): void {
  const { request, municipio } = visit;
  if (municipio?.ensaioAte === undefined) return;
  const { id, method, url, headers, began } = request;
  const { status, body } = answer;
  const resposta = Buffer.isBuffer(body) || typeof body === 'string' ? body : undefined;
  const ms = performance.now() - began;
  const about = { id, metodo: method, caminho: url, tipo: headers['content-type'], status, ms, corpo, resposta };
  if (!EXCESS.has(status)) {
    keepRequisicao(door.world, municipio, about);
    return;
  }
  // A flood of refused requests must not cause a flood of writes.
  const quota = door.quotas.of(municipio, clientOf(request, door.options.trustProxy));
  quota.keepsExcess().then(
    (keeps) => keeps && keepRequisicao(door.world, municipio, about),
    (err: unknown) =>
      door.world.log.warn({ err, tenant: municipio.tenant }, 'uma requisição de ensaio não foi guardada'),
  );
}
