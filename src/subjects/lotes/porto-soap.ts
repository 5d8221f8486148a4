/**
 * One request of the legacy port from its bytes to its answer's: the envelope is read, the operation answered, and the answer
 * written in the same version of SOAP, the same namespace and the same form. What is wrong with the envelope is a fault.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { readSoap, type SoapFalha, type SoapVersao, writeFalha, writeSoap } from '../../documents/soap.ts';
import { escapeText } from '../../fiscal/layout/escape.ts';
import { type Companhia, isConsulta, OPERACOES, type Respondido, responder } from './porto.ts';

export type RespostaSoap = {
  readonly versao: SoapVersao;
  /** A long answer is made while it is sent. */
  readonly xml: string | AsyncIterable<string>;
  /** The fault that the envelope is refused with; undefined: it was answered. */
  readonly falha?: SoapFalha['de'];
  /** Undefined until it is known. */
  readonly operacao?: string;
  readonly isMiss?: boolean;
  readonly codigos?: readonly string[];
};

/** Answers a request. `versao`: the version that its headers name, where the envelope names none. */
export async function answerSoap(
  world: World,
  municipio: Municipio,
  body: Uint8Array,
  versao: SoapVersao,
  companhia: Companhia,
): Promise<RespostaSoap> {
  const read = readSoap(body, versao);
  const spent = 'operacao' in read && isConsulta(read.operacao) ? undefined : await companhia.quota?.enter();
  if (spent !== undefined) return falhaSoap({ versao, de: 'cliente', mensagem: spent.faults[0].mensagem });
  if ('falha' in read) return falhaSoap(read.falha);
  const answer = await responder(world, municipio, read.operacao, read.documento, companhia);
  if (answer === undefined) {
    const known = OPERACOES.map(({ operacao }) => operacao).join(', ');
    const mensagem = `A operação ${read.operacao.slice(0, 60)} não existe. As que há: ${known}.`;
    return falhaSoap({ versao: read.versao, de: 'cliente', mensagem });
  }
  const forma = 'problema' in read.documento ? 'texto' : read.documento.forma;
  const { operacao } = read;
  const { isMiss, codigos } = answer;
  return { versao: read.versao, xml: writeEnvelope(read, answer.xml, forma), operacao, isMiss, codigos };
}

/** A character that neither a document of the model nor its envelope has; the long part of an answer takes its place. */
const MEIO = '\u0001';

function writeEnvelope(
  read: Parameters<typeof writeSoap>[0],
  xml: Respondido['xml'],
  forma: Parameters<typeof writeSoap>[2],
): RespostaSoap['xml'] {
  if (typeof xml === 'string') return writeSoap(read, xml, forma);
  const [before = '', after = ''] = writeSoap(read, xml.antes + MEIO + xml.depois, forma).split(MEIO);
  return writeInTurn(before, xml.meio, after, forma === 'texto' ? escapeText : (text) => text);
}

async function* writeInTurn(
  before: string,
  parts: AsyncIterable<string>,
  after: string,
  write: (text: string) => string,
): AsyncIterable<string> {
  yield before;
  for await (const part of parts) yield write(part);
  yield after;
}

export function falhaSoap(falha: SoapFalha): RespostaSoap {
  return { versao: falha.versao, xml: writeFalha(falha), falha: falha.de };
}
