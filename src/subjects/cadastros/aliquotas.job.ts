/** Repeated work: missing rates are logged at the start and once a day, once a municipality sends notes to the ADN. */
import type { Repeated } from '../../base/delivery/repetition.ts';
import { avisosDeAliquotas } from '../../base/world/avisos-aliquotas.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { DAY_MS } from '../../fiscal/moment.ts';

export const REPEATED: readonly Repeated[] = [
  {
    trabalho: 'aliquotas',
    everyMs: DAY_MS,
    trouble: 'não foi possível ver que alíquota falta',
    work: async (world) => {
      const municipios = await world.store.municipios.list();
      if (!municipios.some(({ ambiente }) => AMBIENTES[ambiente].transmits)) return false;
      for (const aviso of await avisosDeAliquotas(world)) world.log.warn({}, aviso);
      return false;
    },
  },
];
