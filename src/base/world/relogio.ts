/** The clock of a municipality: that of the machine, or the one set by the owner of a personal sandbox. */
import { localAdn } from '../../adn/local.ts';
import type { Municipio } from '../book/municipios.ts';
import type { World } from './world.ts';

/** The world of a municipality, with its clock. */
export function worldOf(world: World, { relogioMs = 0 }: Pick<Municipio, 'relogioMs'>): World {
  if (relogioMs === 0) return world;
  const now = (): number => world.now() + relogioMs;
  const adn = localAdn(now);
  // Only rehearsals have such a clock, and none of their data leaves the host.
  return { ...world, now, transmission: async () => ({ adn, signer: undefined }) };
}

export const ENSAIO_DIAS = 30;

/** Whether a personal sandbox was deleted. A database that does not answer proves nothing. */
export async function wasDiscarded(
  { store }: Pick<World, 'store'>,
  { tenant, ensaioAte }: Municipio,
): Promise<boolean> {
  if (ensaioAte === undefined) return false;
  const found = await store.municipios.readFresh(tenant).catch(() => 'unknown');
  return found === undefined;
}
