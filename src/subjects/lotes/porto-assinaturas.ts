/** Judges the signatures of the legacy port (D-70): of a lot, of each RPS, and of a cancellation request. */

import type { Municipio } from '../../base/book/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { type AbrasfSignature, abrasfSignatures } from '../../documents/abrasf-signature.ts';
import type { Fundamento } from '../../documents/fundamento.ts';
import { signerFaults, XML_CODES } from '../../documents/signer-faults.ts';
import type { SoapDocumento } from '../../documents/soap.ts';
import type { PedidoLido } from '../../fiscal/abrasf/cancelamento.ts';
import { childrenOf, type Lote } from '../../fiscal/abrasf/lote.ts';
import { type Mensagem, mensagemOfFault, rpsNamed } from '../../fiscal/abrasf/mensagens.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import type { Fault } from '../../fiscal/fault.ts';

/** The most RPS that may be signed one by one; a larger lot is signed as a whole. */
export const RPS_SIGNATURES_MAX = 100;

/** The faults of the signatures; without faults, the basis of the judgement. */
export type Julgada = { readonly mensagens: readonly Mensagem[]; readonly fundamento?: Fundamento | undefined };

const UNJUDGED: Julgada = { mensagens: [] };

/** Judges the signatures of a lot. The provider signs the lot or every RPS of it in production (D-70). */
export function judgeLoteSignature(
  world: World,
  municipio: Municipio,
  { reading, root }: SoapDocumento,
  { loteRps, rps, cnpj }: Lote,
): Julgada {
  if (!AMBIENTES[municipio.ambiente].signatureRefuses) return UNJUDGED;
  const refusal = (faults: readonly Fault[], sobre = ''): Julgada => ({
    mensagens: faults.map((fault) => mensagemOfFault(fault, sobre)),
  });
  const signatures = abrasfSignatures(reading, { allowsSha1: municipio.soapSha1 === true });
  const { judge, fundamento } = judgeOf(world, municipio, cnpj);
  const ofLote = signatures.beside(root, loteRps);
  if (ofLote !== undefined) {
    const faults = judge(ofLote) ?? digestFaults(ofLote);
    return faults.length > 0 ? refusal(faults) : { mensagens: [], fundamento: fundamento(ofLote) };
  }
  const ofRps: { readonly one: AbrasfSignature; readonly sobre: string }[] = [];
  for (const { elemento, infRps, identificacao } of rps) {
    if (ofRps.length >= RPS_SIGNATURES_MAX) {
      return refusal([unsignedFault(`Um lote com mais de ${RPS_SIGNATURES_MAX} RPS se assina inteiro, em LoteRps.`)]);
    }
    const one = signatures.beside(elemento, infRps);
    if (one === undefined) {
      // The message is about the lot when no RPS is signed.
      const sobre = isAnySigned(rps) ? rpsNamed(identificacao) : '';
      return refusal([unsignedFault('Assine LoteRps, ou cada InfRps.')], sobre);
    }
    const sobre = rpsNamed(identificacao);
    const faults = judge(one);
    if (faults !== undefined) return refusal(faults, 'fault' in one ? sobre : '');
    ofRps.push({ one, sobre });
  }
  // Every signer has been judged before the first digest is computed.
  for (const { one, sobre } of ofRps) {
    const faults = digestFaults(one);
    if (faults.length > 0) return refusal(faults, sobre);
  }
  return { mensagens: [], fundamento: ofRps[0] && fundamento(ofRps[0].one) };
}

function isAnySigned(rps: Lote['rps']): boolean {
  return rps.some(({ elemento }) => childrenOf(elemento, 'Signature').length > 0);
}

/** Judges the signature of a cancellation. The provider signs the request in production (D-70). */
export function judgePedidoSignature(
  world: World,
  municipio: Municipio,
  { reading, root }: SoapDocumento,
  { pedido, inf, dito }: PedidoLido,
): Julgada {
  if (!AMBIENTES[municipio.ambiente].signatureRefuses) return UNJUDGED;
  const signatures = abrasfSignatures(reading, { allowsSha1: municipio.soapSha1 === true });
  const signature = signatures.beside(pedido, inf) ?? signatures.beside(root, inf);
  const { judge, fundamento } = judgeOf(world, municipio, dito.cnpj);
  const faults =
    signature === undefined
      ? [unsignedFault('Assine InfPedidoCancelamento.')]
      : (judge(signature) ?? digestFaults(signature));
  if (faults.length > 0) return { mensagens: faults.map((fault) => mensagemOfFault(fault)) };
  return { mensagens: [], fundamento: signature && fundamento(signature) };
}

type Judge = {
  /** The faults of the arrangement and the signer, before any digest is computed. Undefined: none. */
  readonly judge: (one: AbrasfSignature) => readonly Fault[] | undefined;
  /** The basis of a judged signature. */
  readonly fundamento: (one: AbrasfSignature) => Fundamento | undefined;
};

/** Judges signers; each certificate once. */
function judgeOf(world: World, municipio: Municipio, documento: string): Judge {
  const [trust, at] = [world.trust(municipio), world.now()];
  const question = { documento, parte: 'prestador', trust, at, xpath: '' };
  const judged = new Map<string, readonly Fault[]>();
  return {
    judge: (one) => {
      if ('fault' in one) return [one.fault];
      const { certificate } = one;
      const faults = judged.get(certificate.fingerprint) ?? signerFaults(certificate, question, XML_CODES);
      judged.set(certificate.fingerprint, faults);
      return faults.length > 0 ? faults : undefined;
    },
    fundamento: (one) => ('fault' in one ? undefined : trust.fundamento(one.certificate, at)),
  };
}

function digestFaults(one: AbrasfSignature): readonly Fault[] {
  const fault = 'fault' in one ? one.fault : one.check();
  return fault === undefined ? [] : [fault];
}

function unsignedFault(como: string): Fault {
  return { codigo: 'E901', xpath: '', mensagem: `O documento não está assinado. ${como}` };
}
