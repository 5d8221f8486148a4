/** Pages about notes. */
import type { Row } from '../../base/pages/visit.ts';
import { COLUNAS_ROUTES } from './colunas-da-busca.page.ts';
import { CONFERIR_ROUTES } from './conferir.page.ts';
import { EXPORTACOES_ROUTES } from './exportacoes.page.ts';
import { NOTA_ROUTES } from './nota.page.ts';
import { NOTAS_ROUTES } from './notas.page.ts';

export const NOTAS_PAGES: readonly Row[] = [
  ...CONFERIR_ROUTES,
  ...NOTAS_ROUTES,
  ...COLUNAS_ROUTES,
  ...EXPORTACOES_ROUTES,
  ...NOTA_ROUTES,
];
