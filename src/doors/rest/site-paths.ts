/** The addresses of the service itself, outside any municipality, and the form of their answers. */
import type { Door, Visit, Work } from '../../base/http/visit.ts';
import {
  ARQUIVOS_PATH,
  BUSCA_JSON_PATH,
  BUSCA_PATH,
  CONFERIR_PATH,
  DOCS_PATH,
  ENSAIO_PATH,
  ERROS_JSON_PATH,
  ERROS_PATH,
  MIGRAR_PATH,
  OPENAPI_PATH,
  REFERENCE_PATH,
  SCRIPT_PATH,
} from '../../published/paths.ts';

export type SiteAnswer = (door: Door, visit: Visit) => ReturnType<Work>;

/** The pages, and the files and lists beside them. */
export const PAGE_PATHS = [
  '/',
  ERROS_PATH,
  ERROS_JSON_PATH,
  DOCS_PATH,
  `${DOCS_PATH}/`,
  BUSCA_PATH,
  BUSCA_JSON_PATH,
  SCRIPT_PATH,
  `${DOCS_PATH}/:pagina`,
  CONFERIR_PATH,
  ENSAIO_PATH,
  MIGRAR_PATH,
  `${ARQUIVOS_PATH}/:arquivo`,
  REFERENCE_PATH,
  `${REFERENCE_PATH}/:arquivo`,
  OPENAPI_PATH,
  `${ERROS_PATH}/:codigo`,
] as const;
export type PagePath = (typeof PAGE_PATHS)[number];
