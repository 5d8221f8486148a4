/** The clock of a municipality: that of the machine, or in a sandbox of one's own the one that its owner has set. */
import { localAdn } from '../../adn/local.ts';
import type { Municipio } from '../book/municipios.ts';
import type { World } from './world.ts';

/** The world as a municipality sees it. */
export function worldOf(world: World, { relogioMs = 0 }: Pick<Municipio, 'relogioMs'>): World {
  if (relogioMs === 0) return world;
  const now = (): number => world.now() + relogioMs;
  const adn = localAdn(now);
  // Only rehearsals have such a clock, and nothing of them leaves the host.
  return { ...world, now, transmission: async () => ({ adn, signer: undefined }) };
}

export const ENSAIO_DIAS = 30;

/** Whether it was a sandbox of one's own, and is gone. A database that does not answer has not taken it away. */
export async function wasDiscarded(
  { store }: Pick<World, 'store'>,
  { tenant, ensaioAte }: Municipio,
): Promise<boolean> {
  if (ensaioAte === undefined) return false;
  const found = await store.municipios.readFresh(tenant).catch(() => 'unknown');
  return found === undefined;
}
