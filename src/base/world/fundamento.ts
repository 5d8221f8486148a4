/** Stores the basis on which a signature was judged. The signed document is stored afterwards and names it. */
import type { Fundamento } from '../../documents/fundamento.ts';
import type { Municipio } from '../book/municipios.ts';
import type { World } from './world.ts';

/** The number of the basis. A basis that this process has stored already is not looked up again. */
export async function keepFundamento(
  { store, now }: Pick<World, 'store' | 'now'>,
  { tenant }: Municipio,
  fundamento: Fundamento | undefined,
): Promise<number | undefined> {
  if (fundamento === undefined) return undefined;
  return store.fundamentos.keep(tenant, fundamento, now());
}
