/**
 * One request of the legacy port, from its bytes to those of the answer. The answer has the SOAP version, the namespace and the form of the
 * request. An invalid envelope is answered with a fault.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { readSoap, type SoapFalha, type SoapVersao, writeFalha, writeSoap } from '../../documents/soap.ts';
import { escapeText } from '../../fiscal/layout/escape.ts';
import { type Companhia, isConsulta, OPERACOES, type Respondido, responder } from './porto.ts';

export type RespostaSoap = {
  readonly versao: SoapVersao;
  /** A long answer is produced while it is sent. */
  readonly xml: string | AsyncIterable<string>;
  /** The fault of a refused envelope; undefined: the operation was answered. */
  readonly falha?: SoapFalha['de'];
  /** Undefined until it is known. */
  readonly operacao?: string;
  readonly isMiss?: boolean;
  readonly codigos?: readonly string[];
};

/** Answers a request. `versao`: the version from the headers, for an envelope without one. */
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

/** A character that no document of the model contains; the long part of an answer replaces it. */
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
