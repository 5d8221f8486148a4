/** The address of the PDF. It is deprecated: every answer says so, and names the replacement. */

import { fileOf } from '../../base/http/ranges.ts';
import { refuseMissingNota } from '../../base/http/refusals.ts';
import type { Call, Refused, ServedFile } from '../../base/http/route.ts';
import { retryAfter } from '../../base/http/route.ts';
import { parseChave } from '../../fiscal/chave.ts';
import { consultaPublica, danfseAside } from './danfse.ts';

export async function showDanfse({ world, municipio, params }: Call): Promise<Refused | ServedFile> {
  const chave = params['chave_acesso']!;
  const danfse = parseChave(chave) === undefined ? undefined : await danfseAside(world, municipio, chave);
  if (danfse === undefined) return refuseMissingNota(chave);
  const headers = { Link: linkTo(consultaPublica(chave)) };
  if ('pdf' in danfse) {
    const disposition = `inline; filename="danfse-${chave}.pdf"`;
    return {
      file: fileOf(danfse.pdf),
      type: 'application/pdf',
      headers: { ...headers, 'Content-Disposition': disposition },
    };
  }
  const { faults, proxima } = danfse;
  const again = retryAfter(world, proxima);
  return { refusal: { faults }, campo: 'chave_acesso', status: 422, headers: { ...headers, ...again } };
}

/** Clients read accented letters in headers differently, so the sentence has none. */
const WARNING =
  '299 - "Este PDF deixa de ser oferecido no futuro, sem data marcada; guarde o XML da nota, e consulte-a no portal nacional da NFS-e."';

function linkTo(address: string): string {
  return `<${address}>; rel="alternate"; type="text/html"`;
}

/** Headers of every answer about the PDF. The link leads to the first page of the portal when no note has the key. */
export const DEPRECATION = {
  Deprecation: 'true',
  Link: linkTo('https://www.nfse.gov.br/ConsultaPublica/'),
  Warning: WARNING,
} as const;
