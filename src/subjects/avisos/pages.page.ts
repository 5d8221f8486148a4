/** Pages about notices. */
import type { Row } from '../../base/pages/visit.ts';
import { AVISO_ROUTES } from './aviso.page.ts';
import { AVISOS_ROUTES } from './avisos.page.ts';

export const AVISOS_PAGES: readonly Row[] = [...AVISOS_ROUTES, ...AVISO_ROUTES];
