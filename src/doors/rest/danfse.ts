/** The address of the PDF, which is kept for those who use it already: every answer says so, and where to look instead. */
import { parseChave } from '../../fiscal/chave.ts';
import { consultaPublica, danfseOfNota } from '../../flows/danfse.ts';
import { type Call, chaveProblem, notFound, type Refused, type Served } from './routes.ts';

/** Headers of every answer about the PDF. */
export const DANFSE_HEADERS = ['Deprecation', 'Link', 'Warning'] as const;

/** Authorisation in the sandbox takes less than a second. */
const ASK_AGAIN_S = '1';

export async function showDanfse({ world, municipio, params }: Call): Promise<Refused | Served> {
  const chave = params.chave_acesso!;
  const danfse = parseChave(chave) === undefined ? undefined : await danfseOfNota(world, municipio, chave);
  if (danfse === undefined) {
    return { ...notFound('E301', 'chave_acesso', chaveProblem(chave)), headers: deprecation(PORTAL) };
  }
  const headers = deprecation(consultaPublica(chave));
  if ('pdf' in danfse) {
    const disposition = `inline; filename="danfse-${chave}.pdf"`;
    return { served: danfse.pdf, type: 'application/pdf', headers: { ...headers, 'Content-Disposition': disposition } };
  }
  const { faults, rests } = danfse;
  const again = rests ? {} : { 'Retry-After': ASK_AGAIN_S };
  return { refusal: { faults }, campo: 'chave_acesso', status: 422, headers: { ...headers, ...again } };
}

/** Of a key that names no note the portal has nothing to show. */
const PORTAL = 'https://www.nfse.gov.br/ConsultaPublica/';

function deprecation(address: string): Readonly<Record<(typeof DANFSE_HEADERS)[number], string>> {
  return { Deprecation: 'true', Link: `<${address}>; rel="alternate"; type="text/html"`, Warning: WARNING };
}

/** A header has no letters with accents that every client reads alike, so the sentence has none. */
const WARNING =
  '299 - "Este PDF vai sair no futuro, sem data marcada; guarde o XML da nota, e consulte-a no portal nacional da NFS-e."';
