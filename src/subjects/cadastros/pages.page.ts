/** Pages about registers. */
import type { Row } from '../../base/pages/visit.ts';
import { CADASTROS_ROUTES } from './cadastros.page.ts';
import { CADASTRO_IMPORTAR_ROUTES } from './importar.page.ts';
import { PRESTADORES_ROUTES } from './prestadores.page.ts';

export const CADASTROS_PAGES: readonly Row[] = [
  ...CADASTROS_ROUTES,
  ...CADASTRO_IMPORTAR_ROUTES,
  ...PRESTADORES_ROUTES,
];
