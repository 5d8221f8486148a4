/**
 * Concurrent changes of private sandboxes. A change is answered when every process has seen it, and holds a place for requests until then.
 * The limit keeps the owner of one sandbox from holding all places (D-606).
 */
import { refuseExcess } from '../../base/world/excess.ts';
import type { Refused } from '../../base/world/idempotency.ts';
import { CADASTRO_LIDO_MS } from '../../fiscal/ambiente.ts';

/** Changes of one sandbox, and of all in this process. */
const CHANGES_EACH_MAX = 2;
const CHANGES_MAX = 50;

const underWay = new Map<string, number>();
let all = 0;

/** Makes a change of a sandbox, or refuses it when too many are under way. */
export async function changeInTurn<Result>(tenant: string, work: () => Promise<Result>): Promise<Result | Refused> {
  const own = underWay.get(tenant) ?? 0;
  if (own >= CHANGES_EACH_MAX || all >= CHANGES_MAX) return refuseAtOnce(own >= CHANGES_EACH_MAX);
  underWay.set(tenant, own + 1);
  all += 1;
  try {
    return await work();
  } finally {
    all -= 1;
    const left = underWay.get(tenant)! - 1;
    if (left === 0) underWay.delete(tenant);
    else underWay.set(tenant, left);
  }
}

function refuseAtOnce(isOfOne: boolean): Refused {
  const mensagem = isOfOne
    ? `Já há ${CHANGES_EACH_MAX} mudanças deste ambiente em andamento, que é o máximo. Espere a resposta delas e envie de novo.`
    : 'Há mudanças demais de ambientes próprios em andamento. Envie de novo em alguns segundos.';
  const max = isOfOne ? CHANGES_EACH_MAX : CHANGES_MAX;
  return refuseExcess(mensagem, { nome: 'mudancas', max }, CADASTRO_LIDO_MS);
}
