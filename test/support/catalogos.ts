/** The catalogues of the specification (section Catalogs); a subject may announce more. */
export const SPECIFIED_CATALOGS: readonly string[] = [
  'codigos_tributacao_municipal',
  'codigos_tributacao_nacional',
  'moedas',
  'motivos_evento',
  'municipios',
  'nbs',
  'paises',
];
