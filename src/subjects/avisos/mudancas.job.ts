/** Gives changes their places, for the readers of a CNPJ or CPF, and deletes old changes. */

import type { Municipio } from '../../base/book/municipios.ts';
import type { Delivered } from '../../base/delivery/deliver.ts';
import { tellTrouble } from '../../base/world/store-trouble.ts';
import type { World } from '../../base/world/world.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { MUDANCAS_GUARDA_DIAS } from '../../fiscal/mudanca.ts';
import { AVISO_GUARDA_DIAS } from './tempos.ts';

/** Interval at which this process looks for a municipality's old changes. */
const FORGET_EVERY_MS = 3_600_000;

/** Time in which changes gather for one block. Waiting readers hardly notice it, and one block costs as much as ten small ones. */
const GATHER_MS = 400;

/** Pause before changes of a newer version are looked at again. */
const LEFT_MS = 2_000;
const TELL_LEFT_EVERY_MS = 60_000;

const OLD_ROWS = 'não foi possível esquecer entregas antigas de endereços desligados; tenta-se de novo em uma hora';

/** Moment of a municipality's next deletion, by the clock of `performance.now`. */
const forgetAt = new Map<string, number>();

export async function placeMudancas(world: World, { tenant, ambiente, guardaDias }: Municipio): Promise<Delivered> {
  const { store, now } = world;
  const { postas, deixadas } = await store.mudancas.append(tenant, now());
  if (deixadas > 0) tellLeft(world, tenant, deixadas);
  if (performance.now() >= (forgetAt.get(tenant) ?? Number.NEGATIVE_INFINITY)) {
    const dias = guardaDias ?? AMBIENTES[ambiente].guardaDias ?? MUDANCAS_GUARDA_DIAS;
    const isMore = await store.mudancas.forget(tenant, now() - (dias || MUDANCAS_GUARDA_DIAS) * DAY_MS);
    // A failure to delete old rows does not stop the placing.
    const isMoreOff = await store.entregas
      .forgetOff(tenant, now() - AVISO_GUARDA_DIAS.mostrar * DAY_MS)
      .catch((error: unknown) => tellTrouble(world.log, error, { tenant }, OLD_ROWS) ?? false);
    if (!isMore && !isMoreOff) forgetAt.set(tenant, performance.now() + FORGET_EVERY_MS);
  }
  const pauseMs = postas > 0 ? GATHER_MS : deixadas > 0 ? LEFT_MS : 0;
  return { delivered: postas, isFull: false, pauseMs };
}

/** Moment of the next warning about a municipality's left changes, by the clock of `performance.now`. */
const tellAt = new Map<string, number>();

/** A newer process places such changes during an update. The warning is for the case that none is left. */
function tellLeft({ log }: World, tenant: string, deixadas: number): void {
  if (performance.now() < (tellAt.get(tenant) ?? Number.NEGATIVE_INFINITY)) return;
  tellAt.set(tenant, performance.now() + TELL_LEFT_EVERY_MS);
  log.warn(
    { tenant, deixadas },
    'há mudanças gravadas por uma versão mais nova do serviço: este processo não as conta, e as deixa para ela; termine a atualização',
  );
}
