/** Headers of every answer about the address of the PDF: it is deprecated, and where to look instead. */

/** A header has no letters with accents that every client reads alike, so the sentence has none. */
const WARNING =
  '299 - "Este PDF deixa de ser oferecido no futuro, sem data marcada; guarde o XML da nota, e consulte-a no portal nacional da NFS-e."';

export function linkTo(address: string): string {
  return `<${address}>; rel="alternate"; type="text/html"`;
}

/** Headers of every answer about the PDF. Of a key that names no note the portal has nothing to show but its first page. */
export const DEPRECATION = {
  Deprecation: 'true',
  Link: linkTo('https://www.nfse.gov.br/ConsultaPublica/'),
  Warning: WARNING,
} as const;
