/** Pages about accounts. */
import type { Row } from '../../base/pages/visit.ts';
import { AJUDA_ROUTES } from './ajuda.page.ts';
import { CONTA_ROUTES } from './conta.page.ts';
import { ENTRADA_ROUTES } from './entrar.page.ts';
import { RESERVA_ROUTES } from './reserva.page.ts';
import { USUARIOS_ROUTES } from './usuarios.page.ts';

export const CONTAS_PAGES: readonly Row[] = [
  ...ENTRADA_ROUTES,
  ...AJUDA_ROUTES,
  ...CONTA_ROUTES,
  ...RESERVA_ROUTES,
  ...USUARIOS_ROUTES,
];
