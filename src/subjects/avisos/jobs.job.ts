/** Due work of changes and webhooks. */
import type { Kind } from '../../base/delivery/lanes.ts';
import type { Repeated } from '../../base/delivery/repetition.ts';
import { MINUTE_MS } from '../../fiscal/moment.ts';
import { tellAvisos } from './entregas.job.ts';
import { closeMeses } from './meses.ts';
import { placeMudancas } from './mudancas.job.ts';

export const JOBS: readonly Kind[] = [
  { kind: 'mudancas', lanes: 1, deliver: placeMudancas },
  { kind: 'avisos', lanes: 4, deliver: tellAvisos.bind(null, 'quick') },
  { kind: 'avisos_lentos', lanes: 8, deliver: tellAvisos.bind(null, 'slow') },
];

export const REPEATED: readonly Repeated[] = [
  {
    trabalho: 'meses_fechados',
    everyMs: 10 * MINUTE_MS,
    trouble: 'o mês que se fechou não pôde ser avisado',
    work: closeMeses,
  },
];
