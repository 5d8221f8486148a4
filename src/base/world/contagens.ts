/**
 * A common count of misses for all processes and machines on one database. A client that guesses gains nothing from their number. Only a
 * miss costs a statement. Each process counts alone while the database is unavailable.
 */
import { CHEIO_EM_MS, type Tomada, type Tomado } from '../book/contagens.ts';
import { tellTrouble } from './store-trouble.ts';
import type { World } from './world.ts';

export { CHEIO_EM_MS } from '../book/contagens.ts';

/** Counted events: queries that found nothing, and further ones that were still looked up. */
export type Contagem = 'faltas' | 'buscas';

type Wanted = { readonly key: string; readonly measure: { readonly size: number }; readonly cost: number };
type Taken = {
  readonly short?: { readonly place: number; readonly waitMs: number } | undefined;
  readonly left: readonly number[];
};

export function countTogether(world: World, contagem: Contagem) {
  const take = async (wanted: readonly Wanted[], how: 'take' | 'spend'): Promise<readonly Tomado[] | undefined> => {
    const tomadas = wanted.map(({ key, measure, cost }): Tomada => ({ rede: key, tamanho: measure.size, custo: cost }));
    try {
      return await world.store.contagens[how](contagem, tomadas);
    } catch (error) {
      tellTrouble(
        world.log,
        error,
        {},
        'as perguntas sem resposta não puderam ser contadas juntas; cada processo conta as suas',
      );
      return undefined;
    }
  };
  return {
    /** Takes from all or from none. Undefined: the database cannot be asked now. */
    ask: async (wanted: readonly Wanted[]): Promise<Taken | undefined> => {
      const taken = await take(wanted, 'take');
      if (taken === undefined) return undefined;
      const left = taken.map(({ resta }) => resta);
      const place = taken.findIndex(({ coube }) => !coube);
      if (place < 0) return { left };
      const back = wanted.filter((_, one) => taken[one]!.coube).map((one) => ({ ...one, cost: -one.cost }));
      if (back.length > 0) await take(back, 'spend');
      const { measure, cost } = wanted[place]!;
      return { short: { place, waitMs: ((cost - left[place]!) * CHEIO_EM_MS) / measure.size }, left };
    },
    /** Spends amounts that were taken already, and returns the amounts left. */
    report: async (spent: readonly Wanted[]): Promise<readonly number[] | undefined> =>
      (await take(spent, 'spend'))?.map(({ resta }) => resta),
  };
}
