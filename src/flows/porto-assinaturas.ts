/** Who signed a document of the legacy port, and whether the signatures hold (D-70): of a lot, of each RPS, of the request of a cancellation. */
import { type AbrasfSignature, abrasfSignatures } from '../documents/abrasf-signature.ts';
import { signerFaults, XML_CODES } from '../documents/signer-faults.ts';
import type { SoapDocumento } from '../documents/soap.ts';
import { childrenOf, type Lote } from '../fiscal/abrasf/lote.ts';
import { type Mensagem, mensagemOfFault, rpsNamed } from '../fiscal/abrasf/mensagens.ts';
import { AMBIENTES } from '../fiscal/ambiente.ts';
import type { Fault } from '../fiscal/fault.ts';
import type { Municipio } from '../store/municipios.ts';
import type { World } from './world.ts';

/** Signatures that are checked one by one; a lot with more RPS is signed whole. */
export const RPS_SIGNATURES_MAX = 100;

/** In production the lot is signed, or every RPS of it (D-70); by the provider. */
export function loteSignatureMensagens(
  world: World,
  municipio: Municipio,
  { reading, root }: SoapDocumento,
  { loteRps, rps, cnpj }: Lote,
): readonly Mensagem[] {
  if (!AMBIENTES[municipio.ambiente].signatureRefuses) return [];
  const told = (faults: readonly Fault[], sobre = '') => faults.map((fault) => mensagemOfFault(fault, sobre));
  const signatures = abrasfSignatures(reading, { allowsSha1: municipio.soapSha1 === true });
  const judge = judgeOf(world, municipio, cnpj);
  const ofLote = signatures.beside(root, loteRps);
  if (ofLote !== undefined) return told(judge(ofLote) ?? digested(ofLote));
  const ofRps: { readonly one: AbrasfSignature; readonly sobre: string }[] = [];
  for (const { elemento, infRps, identificacao } of rps) {
    if (ofRps.length >= RPS_SIGNATURES_MAX) {
      return told([unsigned(`Um lote com mais de ${RPS_SIGNATURES_MAX} RPS se assina inteiro, em LoteRps.`)]);
    }
    const one = signatures.beside(elemento, infRps);
    if (one === undefined) {
      // Of a lot in which nothing is signed, it is the lot that is not.
      return told([unsigned('Assine LoteRps, ou cada InfRps.')], isAnySigned(rps) ? rpsNamed(identificacao) : '');
    }
    const sobre = rpsNamed(identificacao);
    const faults = judge(one);
    if (faults !== undefined) return told(faults, 'fault' in one ? sobre : '');
    ofRps.push({ one, sobre });
  }
  // Who signed is known of every one before anything is digested.
  for (const { one, sobre } of ofRps) {
    const faults = digested(one);
    if (faults.length > 0) return told(faults, sobre);
  }
  return [];
}

function isAnySigned(rps: Lote['rps']): boolean {
  return rps.some(({ elemento }) => childrenOf(elemento, 'Signature').length > 0);
}

/**
 * What keeps a signature from counting before anything is digested: how it is arranged, and who made it. Undefined when nothing
 * does. Each certificate is judged once.
 */
export function judgeOf(
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

export function digested(one: AbrasfSignature): readonly Fault[] {
  const fault = 'fault' in one ? one.fault : one.check();
  return fault === undefined ? [] : [fault];
}

export function unsigned(como: string): Fault {
  return { codigo: 'E901', xpath: '', mensagem: `O documento não está assinado. ${como}` };
}
