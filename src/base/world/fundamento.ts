/** Keeps what a signature was judged by, before what was signed is stored, which names it. */
import type { Fundamento } from '../../documents/fundamento.ts';
import type { Municipio } from '../book/municipios.ts';
import type { World } from './world.ts';

/** Its number. What this process has stored already is not looked at again. */
export async function keepFundamento(
  { store, now }: Pick<World, 'store' | 'now'>,
  { tenant }: Municipio,
  fundamento: Fundamento | undefined,
): Promise<number | undefined> {
  if (fundamento === undefined) return undefined;
  return store.fundamentos.keep(tenant, fundamento, now());
}
