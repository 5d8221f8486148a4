/** Proves the sums of the months by the notes. */
import { municipioNamed } from '../../base/world/municipios.ts';
import type { MesConferido } from './contar.rows.ts';
import type { MesWorld } from './mes.ts';

export type { MesConferido } from './contar.rows.ts';

/** Compares the sums of a municipality with its notes, month by month. `isMending`: writes those that differ. Throws an Error in Portuguese. */
export async function proveReceita(
  world: MesWorld,
  slug: string,
  isMending: boolean,
): Promise<readonly MesConferido[]> {
  await municipioNamed(world, slug);
  return world.store.contagemDaReceita.prove(slug, world.now(), isMending);
}
