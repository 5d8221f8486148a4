/**
 * The legacy SOAP port over HTTP (D-70): GET returns its description, POST takes an envelope of SOAP 1.1 or 1.2. It listens with the REST
 * door and shares its limits. The flows perform the operations.
 *
 * A failure is answered with a SOAP fault in the version of the request. The fault shows one sentence and nothing of the cause.
 */

import type { IncomingHttpHeaders } from 'node:http';
import type { SoapAnswer } from '../../base/http/message.ts';
import type { Excess } from '../../base/http/misses.ts';
import { ESCOPOS, type RequestQuota } from '../../base/http/quotas.ts';
import { writeExcess } from '../../base/http/rate-limit.ts';
import { charsetContradiction } from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import { SIMULAR_HEADER } from '../../fiscal/simular.ts';
import type { Municipio } from '../notas/queries.ts';
import { type Companhia, NAMESPACE_PADRAO } from './porto.ts';
import { answerSoap, falhaSoap, type RespostaSoap } from './porto-soap.ts';
import { wsdlOf, xsdOf } from './wsdl.soap.ts';

/** The path below the municipality. */
export const SOAP_PATH = '/soap/nfes';

type Versao = RespostaSoap['versao'];

const MEDIA_TYPES: Readonly<Record<Versao, string>> = { '1.1': 'text/xml', '1.2': 'application/soap+xml' };
const READ_TYPES = new Set(['text/xml', 'application/xml', 'application/soap+xml']);

/** The description, or its schema. `site`: the address of the service as the caller knows it. */
export function describePort(municipio: Municipio, site: string, search: string): SoapAnswer | undefined {
  const namespace = municipio.soapNamespace ?? NAMESPACE_PADRAO;
  const query = new Map([...new URLSearchParams(search)].map(([name, value]) => [name.toLowerCase(), value]));
  const answer = (body: string): SoapAnswer => ({
    status: 200,
    headers: { 'Content-Type': 'text/xml; charset=utf-8', 'Cache-Control': 'no-store' },
    body,
    isMiss: false,
  });
  if (query.has('xsd')) return answer(xsdOf(namespace));
  return query.has('wsdl') ? answer(wsdlOf(`${site}/${municipio.tenant}${SOAP_PATH}`, namespace)) : undefined;
}

export async function performSoap(
  world: World,
  municipio: Municipio,
  { headers, body }: { readonly headers: IncomingHttpHeaders; readonly body: Uint8Array },
  companhia: Omit<Companhia, 'simular'>,
): Promise<SoapAnswer> {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (!READ_TYPES.has(type)) {
    return writeFault(headers, 415, 'O tipo do corpo deve ser text/xml (SOAP 1.1) ou application/soap+xml (SOAP 1.2).');
  }
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding.toLowerCase() !== 'identity') {
    return writeFault(headers, 415, 'O corpo vem compactado (Content-Encoding). Envie-o sem compactar.');
  }
  const contrary = charsetContradiction(headers['content-type'] ?? '', body, 'xml');
  if (contrary !== undefined) return writeFault(headers, 415, contrary);
  const header = headers[SIMULAR_HEADER.toLowerCase()];
  const simular = typeof header === 'string' ? header : undefined;
  const answer = await answerSoap(world, municipio, body, versionOf(headers), { ...companhia, simular });
  const { xml } = answer;
  return writeAnswer(typeof xml === 'string' ? answer : { ...answer, xml: logFailing(world, municipio, xml) });
}

/** The status is sent before the whole answer is made, so a later failure is only logged. */
async function* logFailing(world: World, { tenant }: Municipio, parts: AsyncIterable<string>): AsyncIterable<string> {
  try {
    yield* parts;
  } catch (err) {
    world.log.error({ err, tenant }, 'uma resposta longa não pôde ser feita até o fim');
    throw err;
  }
}

/** A fault: of the sender below status 500, of the service from there on. `wait`: seconds until the request may be repeated. */
export function writeFault(headers: IncomingHttpHeaders, status: number, mensagem: string, wait?: number): SoapAnswer {
  const de = status >= 500 ? 'servidor' : 'cliente';
  const answer = writeAnswer(falhaSoap({ versao: versionOf(headers), de, mensagem }));
  const later = wait === undefined ? {} : { 'Retry-After': String(wait) };
  return { ...answer, status, headers: { ...answer.headers, ...later } };
}

/** Refuses a query without result after too many of them from its client (D-40). */
export function refuseTooManyMisses(headers: IncomingHttpHeaders, { waitS, cota }: Excess): SoapAnswer {
  const mensagem = `Consultas demais sem resultado: aguarde ${writeSeconds(waitS)}. O que existe continua a ser respondido.`;
  const fault = writeFault(headers, 429, mensagem);
  return { ...fault, headers: { ...fault.headers, ...writeExcess(cota, waitS) } };
}

/** Answers requests of an address or a provider beyond its limit (D-263). */
export function refuseTooMuch(
  headers: IncomingHttpHeaders,
  { escopo, waitS }: NonNullable<RequestQuota['refused']>,
): SoapAnswer {
  const mensagem = `Vieram documentos demais ${ESCOPOS[escopo]}. Nada foi feito: envie de novo em ${writeSeconds(waitS)}. Os limites estão em /docs/limites.`;
  return writeFault(headers, 429, mensagem, waitS);
}

function writeSeconds(count: number): string {
  return count === 1 ? '1 segundo' : `${count} segundos`;
}

/** Answers after an internal error: the log has the details under the id of the request. */
export function refuseAfterBug(headers: IncomingHttpHeaders, request: string): SoapAnswer {
  return writeFault(headers, 500, `O serviço falhou ao processar o pedido. Tente de novo; o número dele é ${request}.`);
}

/** SOAP 1.2 has a media type of its own. */
function versionOf(headers: IncomingHttpHeaders): Versao {
  return (headers['content-type'] ?? '').toLowerCase().startsWith('application/soap+xml') ? '1.2' : '1.1';
}

function writeAnswer({ versao, xml, falha, isMiss = false, codigos = [] }: RespostaSoap): SoapAnswer {
  // SOAP 1.1 answers every fault with 500; SOAP 1.2 answers a fault of the sender with 400.
  const status = falha === undefined ? 200 : versao === '1.2' && falha === 'cliente' ? 400 : 500;
  return {
    status,
    headers: { 'Content-Type': `${MEDIA_TYPES[versao]}; charset=utf-8`, 'Cache-Control': 'no-store' },
    body: xml,
    isMiss,
    ...(codigos.length > 0 && { erro: codigos.join(' ') }),
  };
}
