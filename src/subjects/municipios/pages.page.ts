/** Pages about the municipality, and the first ones. */
import type { Row } from '../../base/pages/visit.ts';
import { BRASAO_ROUTES } from './brasao.page.ts';
import { CERTIFICADOS_ROUTES } from './certificados.page.ts';
import { HOJE_ROUTES } from './hoje.page.ts';
import { INICIO_ROUTES } from './inicio.page.ts';
import { MUNICIPIO_ROUTES } from './municipio.page.ts';

export const MUNICIPIOS_PAGES: readonly Row[] = [
  ...INICIO_ROUTES,
  ...HOJE_ROUTES,
  ...MUNICIPIO_ROUTES,
  ...BRASAO_ROUTES,
  ...CERTIFICADOS_ROUTES,
];
