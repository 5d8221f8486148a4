/** Addresses outside any municipality, for published content. */

/** Index of the codes; the page of a code is its child, and `doc_url` of an answer names it. */
export const ERROS_PATH = '/docs/erros';
/** The same table for programs. */
export const ERROS_JSON_PATH = `${ERROS_PATH}.json`;

/** The root of all documentation. */
export const DOCS_PATH = '/docs';
/** The search over the documentation: the page, and the suggestions during typing. */
export const BUSCA_PATH = `${DOCS_PATH}/busca`;
export const BUSCA_JSON_PATH = `${BUSCA_PATH}.json`;
/** The script of its pages. */
export const SCRIPT_PATH = `${DOCS_PATH}/pagina.js`;
/** The reference of the API, for trying it in a browser. */
export const REFERENCE_PATH = `${DOCS_PATH}/api`;
/** Checks a document as the sandbox does. */
export const CONFERIR_PATH = `${DOCS_PATH}/conferir`;
/** Converts requests of a national API client to those of this service. */
export const MIGRAR_PATH = `${DOCS_PATH}/migrar`;
/** Creates a personal sandbox, and shows it to its owner. */
export const ENSAIO_PATH = `${DOCS_PATH}/ensaio`;
/** The contract of the national API below a municipality. */
export const NACIONAL_PATH = '/SefinNacional';
/** The parameters of a municipality, beside it. */
export const PARAMETROS_PATH = '/parametrizacao';
/** A page below a municipality for a taker with the key of a note. */
export const CONSULTA_PATH = '/:municipio/nota/:chave';
/** The page of a municipality for takers and small providers, with the form for a note. */
export const BALCAO_PATH = '/:municipio/';
/** The arms of a municipality, under their digest. */
export const BRASAO_PATH = '/:municipio/brasao/:impressao';
/** The changes of the API, as a page; its feed is beside it. */
export const MUDANCAS_PATH = `${DOCS_PATH}/mudancas-da-api` as const;
export const FEED_PATH = `${MUDANCAS_PATH}.atom` as const;
/** The files that pages offer. */
export const ARQUIVOS_PATH = `${DOCS_PATH}/arquivos`;

/** Files that machines look for at fixed addresses. */
export const SECURITY_PATH = '/.well-known/security.txt';
export const ROBOTS_PATH = '/robots.txt';
export const FAVICON_PATH = '/favicon.ico';

export const OPENAPI_PATH = '/openapi.json';
/** The list of all pages for language models, by the convention of llmstxt.org. */
export const LLMS_PATH = '/llms.txt';
/** Ends the address of a page as Markdown. */
export const MARKDOWN_END = '.md';
/** The public consultation of notes of the whole country. */
export const PORTAL = 'https://www.nfse.gov.br/ConsultaPublica/';

/** The pages of the service itself, and the files and lists beside them. */
export const PAGE_PATHS = [
  '/',
  ERROS_PATH,
  ERROS_JSON_PATH,
  DOCS_PATH,
  `${DOCS_PATH}/`,
  `${DOCS_PATH}${MARKDOWN_END}`,
  LLMS_PATH,
  FEED_PATH,
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
  SECURITY_PATH,
  ROBOTS_PATH,
  FAVICON_PATH,
] as const;
export type PagePath = (typeof PAGE_PATHS)[number];
