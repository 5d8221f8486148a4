/** Gives what has changed its place, for those who follow a CNPJ or CPF, and forgets what was told long ago. */

import type { Municipio } from '../../base/book/municipios.ts';
import type { Delivered } from '../../base/delivery/deliver.ts';
import { tellTrouble } from '../../base/world/store-trouble.ts';
import type { World } from '../../base/world/world.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { MUDANCAS_GUARDA_DIAS } from '../../fiscal/mudanca.ts';
import { AVISO_GUARDA_DIAS } from './tempos.ts';

const DAY_MS = 86_400_000;
/** How often a municipality's old changes are looked for, in this process. */
const FORGET_EVERY_MS = 3_600_000;

/** So long changes gather for one block: whoever waits for them hardly sees it, and a block costs what ten small ones do. */
const GATHER_MS = 400;

/** Pause before changes of a newer version are looked at again. */
const LEFT_MS = 2_000;
const TELL_LEFT_EVERY_MS = 60_000;

const OLD_ROWS = 'não foi possível esquecer entregas antigas de endereços desligados; tenta-se de novo em uma hora';

/** When a municipality's turn to forget comes, by the clock of `performance.now`. */
const forgetAt = new Map<string, number>();

export async function placeMudancas(world: World, { tenant, ambiente, guardaDias }: Municipio): Promise<Delivered> {
  const { store, now } = world;
  const { postas, deixadas } = await store.mudancas.append(tenant, now());
  if (deixadas > 0) tellLeft(world, tenant, deixadas);
  if (performance.now() >= (forgetAt.get(tenant) ?? Number.NEGATIVE_INFINITY)) {
    const dias = guardaDias ?? AMBIENTES[ambiente].guardaDias ?? MUDANCAS_GUARDA_DIAS;
    const isMore = await store.mudancas.forget(tenant, now() - (dias || MUDANCAS_GUARDA_DIAS) * DAY_MS);
    // Placing goes on, whatever becomes of old rows.
    const isMoreOff = await store.entregas
      .forgetOff(tenant, now() - AVISO_GUARDA_DIAS.mostrar * DAY_MS)
      .catch((error: unknown) => tellTrouble(world.log, error, { tenant }, OLD_ROWS) ?? false);
    if (!isMore && !isMoreOff) forgetAt.set(tenant, performance.now() + FORGET_EVERY_MS);
  }
  const pauseMs = postas > 0 ? GATHER_MS : deixadas > 0 ? LEFT_MS : 0;
  return { delivered: postas, isFull: false, pauseMs };
}

/** When it is told again that changes of a municipality are left, by the clock of `performance.now`. */
const tellAt = new Map<string, number>();

/** While the service is updated a newer process places them; where none is left that could, somebody has to know. */
function tellLeft({ log }: World, tenant: string, deixadas: number): void {
  if (performance.now() < (tellAt.get(tenant) ?? Number.NEGATIVE_INFINITY)) return;
  tellAt.set(tenant, performance.now() + TELL_LEFT_EVERY_MS);
  log.warn(
    { tenant, deixadas },
    'há mudanças gravadas por uma versão mais nova do serviço: este processo não as conta, e as deixa para ela; termine a atualização',
  );
}
