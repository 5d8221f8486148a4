/** Judges the signatures of the legacy port (D-70): of a lot, of each RPS, of the request of a cancellation. */
import { type AbrasfSignature, abrasfSignatures } from '../documents/abrasf-signature.ts';
import { signerFaults, XML_CODES } from '../documents/signer-faults.ts';
import type { SoapDocumento } from '../documents/soap.ts';
import type { PedidoLido } from '../fiscal/abrasf/cancelamento.ts';
import { childrenOf, type Lote } from '../fiscal/abrasf/lote.ts';
import { type Mensagem, mensagemOfFault, rpsNamed } from '../fiscal/abrasf/mensagens.ts';
import { AMBIENTES } from '../fiscal/ambiente.ts';
import type { Fault } from '../fiscal/fault.ts';
import type { Municipio } from '../store/municipios.ts';
import type { World } from './world.ts';

/** RPS that may be signed one by one; a lot with more of them is signed as a whole. */
export const RPS_SIGNATURES_MAX = 100;

/** What is wrong with the signatures of a lot. In production the provider signs the lot or every RPS of it (D-70). */
export function loteSignatureMensagens(
  world: World,
  municipio: Municipio,
  { reading, root }: SoapDocumento,
  { loteRps, rps, cnpj }: Lote,
): readonly Mensagem[] {
  if (!AMBIENTES[municipio.ambiente].signatureRefuses) return [];
  const mensagensOf = (faults: readonly Fault[], sobre = '') => faults.map((fault) => mensagemOfFault(fault, sobre));
  const signatures = abrasfSignatures(reading, { allowsSha1: municipio.soapSha1 === true });
  const judge = judgeOf(world, municipio, cnpj);
  const ofLote = signatures.beside(root, loteRps);
  if (ofLote !== undefined) return mensagensOf(judge(ofLote) ?? digestFaults(ofLote));
  const ofRps: { readonly one: AbrasfSignature; readonly sobre: string }[] = [];
  for (const { elemento, infRps, identificacao } of rps) {
    if (ofRps.length >= RPS_SIGNATURES_MAX) {
      return mensagensOf([
        unsignedFault(`Um lote com mais de ${RPS_SIGNATURES_MAX} RPS se assina inteiro, em LoteRps.`),
      ]);
    }
    const one = signatures.beside(elemento, infRps);
    if (one === undefined) {
      // Where no RPS is signed, the message is about the lot.
      return mensagensOf(
        [unsignedFault('Assine LoteRps, ou cada InfRps.')],
        isAnySigned(rps) ? rpsNamed(identificacao) : '',
      );
    }
    const sobre = rpsNamed(identificacao);
    const faults = judge(one);
    if (faults !== undefined) return mensagensOf(faults, 'fault' in one ? sobre : '');
    ofRps.push({ one, sobre });
  }
  // Every signer has been judged before the first digest is computed.
  for (const { one, sobre } of ofRps) {
    const faults = digestFaults(one);
    if (faults.length > 0) return mensagensOf(faults, sobre);
  }
  return [];
}

function isAnySigned(rps: Lote['rps']): boolean {
  return rps.some(({ elemento }) => childrenOf(elemento, 'Signature').length > 0);
}

/** What is wrong with the signature of a cancellation. In production the provider signs the request (D-70). */
export function pedidoSignatureMensagens(
  world: World,
  municipio: Municipio,
  { reading, root }: SoapDocumento,
  { pedido, inf, dito }: PedidoLido,
): readonly Mensagem[] {
  if (!AMBIENTES[municipio.ambiente].signatureRefuses) return [];
  const signatures = abrasfSignatures(reading, { allowsSha1: municipio.soapSha1 === true });
  const signature = signatures.beside(pedido, inf) ?? signatures.beside(root, inf);
  const faults =
    signature === undefined
      ? [unsignedFault('Assine InfPedidoCancelamento.')]
      : (judgeOf(world, municipio, dito.cnpj)(signature) ?? digestFaults(signature));
  return faults.map((fault) => mensagemOfFault(fault));
}

/**
 * Gives a function that judges the arrangement and the signer of a signature, before anything is digested. Undefined: nothing is
 * wrong. Each certificate is judged once.
 */
function judgeOf(
  world: World,
  municipio: Municipio,
  documento: string,
): (one: AbrasfSignature) => readonly Fault[] | undefined {
  const question = { documento, parte: 'prestador', trust: world.trust(municipio), at: world.now(), xpath: '' };
  const judged = new Map<string, readonly Fault[]>();
  return (one) => {
    if ('fault' in one) return [one.fault];
    const { certificate } = one;
    const faults = judged.get(certificate.fingerprint) ?? signerFaults(certificate, question, XML_CODES);
    judged.set(certificate.fingerprint, faults);
    return faults.length > 0 ? faults : undefined;
  };
}

function digestFaults(one: AbrasfSignature): readonly Fault[] {
  const fault = 'fault' in one ? one.fault : one.check();
  return fault === undefined ? [] : [fault];
}

function unsignedFault(como: string): Fault {
  return { codigo: 'E901', xpath: '', mensagem: `O documento não está assinado. ${como}` };
}
