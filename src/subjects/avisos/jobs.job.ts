/** Due work of changes and webhooks. */
import type { Kind } from '../../base/delivery/lanes.ts';
import { tellAvisos } from './entregas.job.ts';
import { placeMudancas } from './mudancas.job.ts';

export const JOBS: readonly Kind[] = [
  { kind: 'mudancas', lanes: 1, deliver: placeMudancas },
  { kind: 'avisos', lanes: 4, deliver: tellAvisos.bind(null, 'quick') },
  { kind: 'avisos_lentos', lanes: 8, deliver: tellAvisos.bind(null, 'slow') },
];
