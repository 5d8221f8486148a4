/** Addresses outside any municipality at which the service answers what is published. */

/** Index of the codes; the page of a code is its child, and `doc_url` of an answer names it. */
export const ERROS_PATH = '/docs/erros';
/** The same table for programs. */
export const ERROS_JSON_PATH = `${ERROS_PATH}.json`;

/** All documentation is below it. */
export const DOCS_PATH = '/docs';
/** The search over all of it: the page, and what is suggested while one types. */
export const BUSCA_PATH = `${DOCS_PATH}/busca`;
export const BUSCA_JSON_PATH = `${BUSCA_PATH}.json`;
/** The script of its pages. */
export const SCRIPT_PATH = `${DOCS_PATH}/pagina.js`;
/** The reference of the API, which one can try in a browser. */
export const REFERENCE_PATH = `${DOCS_PATH}/api`;
/** Where a document is checked as in the sandbox. */
export const CONFERIR_PATH = `${DOCS_PATH}/conferir`;
/** Where what a client of the national API sends is brought to what is taken here. */
export const MIGRAR_PATH = `${DOCS_PATH}/migrar`;
/** Where a sandbox of one's own is made, and seen by its owner. */
export const ENSAIO_PATH = `${DOCS_PATH}/ensaio`;
/** What a taker who has the key of a note opens, below a municipality. */
export const CONSULTA_PATH = '/:municipio/nota/:chave';
/** The files that pages offer. */
export const ARQUIVOS_PATH = `${DOCS_PATH}/arquivos`;

export const OPENAPI_PATH = '/openapi.json';
