/** The address of the PDF, which is kept for those who use it already: every answer says so, and where to look instead. */
import { parseChave } from '../../fiscal/chave.ts';
import { consultaPublica, danfseOfNota } from '../../flows/danfse.ts';
import type { Call, Refused, Served } from './answers.ts';
import { linkTo } from './deprecation.ts';
import { refuseMissingNota } from './not-found.ts';
import { retryAfter } from './retry-after.ts';

export async function showDanfse({ world, municipio, params }: Call): Promise<Refused | Served> {
  const chave = params.chave_acesso!;
  const danfse = parseChave(chave) === undefined ? undefined : await danfseOfNota(world, municipio, chave);
  if (danfse === undefined) return refuseMissingNota(chave);
  const headers = { Link: linkTo(consultaPublica(chave)) };
  if ('pdf' in danfse) {
    const disposition = `inline; filename="danfse-${chave}.pdf"`;
    return { served: danfse.pdf, type: 'application/pdf', headers: { ...headers, 'Content-Disposition': disposition } };
  }
  const { faults, proxima } = danfse;
  const again = retryAfter(world, proxima);
  return { refusal: { faults }, campo: 'chave_acesso', status: 422, headers: { ...headers, ...again } };
}
