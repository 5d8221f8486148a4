/** Pages about events. */
import type { Row } from '../../base/pages/visit.ts';
import { EVENTO_ROUTES } from './evento.page.ts';
import { EVENTOS_ROUTES } from './eventos.page.ts';
import { OFICIO_ROUTES } from './oficio.page.ts';

export const EVENTOS_PAGES: readonly Row[] = [...EVENTOS_ROUTES, ...OFICIO_ROUTES, ...EVENTO_ROUTES];
