/** Pages about what waits for the municipality. */
import type { Row } from '../../base/pages/visit.ts';
import { PENDENCIA_ROUTES } from './pendencia.page.ts';
import { PENDENCIAS_ROUTES } from './pendencias.page.ts';

export const PENDENCIAS_PAGES: readonly Row[] = [...PENDENCIAS_ROUTES, ...PENDENCIA_ROUTES];
