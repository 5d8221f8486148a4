/** Repeated work: missing rates are logged at the start and once a day. */
import type { Repeated } from '../../base/delivery/repetition.ts';
import { avisosDeAliquotas } from '../../base/world/avisos-aliquotas.ts';
import { DAY_MS } from '../../fiscal/moment.ts';

export const REPEATED: readonly Repeated[] = [
  {
    trabalho: 'aliquotas',
    everyMs: DAY_MS,
    trouble: 'não foi possível ver que alíquota falta',
    work: async (world) => {
      for (const aviso of await avisosDeAliquotas(world)) world.log.warn({}, aviso);
      return false;
    },
  },
];
