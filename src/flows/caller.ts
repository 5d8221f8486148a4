/**
 * Who asks, where the answer is for one party alone (D-41): the certificate that came with the connection is read, valid
 * today, vouched for by an authority that the municipality trusts, and of that party. How it came in is the door's affair.
 */
import { type Certificate, isHeldBy, maskedDocument, readCertificate } from '../documents/certificate.ts';
import { certificatesOfHeader } from '../documents/certificate-header.ts';
import { CLIENT_CODES, signerFaults } from '../documents/signer-faults.ts';
import type { Trust } from '../documents/trust.ts';
import { AMBIENTES } from '../fiscal/ambiente.ts';
import type { Fault, Refusal } from '../fiscal/fault.ts';
import { isoMoment } from '../fiscal/moment.ts';
import type { Municipio } from '../store/municipios.ts';
import { withoutDocument } from './debug-signature.ts';
import { municipalMoment } from './gather-facts.ts';
import type { World } from './world.ts';

/** The client certificate that came with a request, as it came. */
export type PresentedCertificate =
  /** `canShow`: whether the service, as it is set up, could have been shown one. */
  | { readonly kind: 'none'; readonly canShow: boolean }
  /** Certificates of the TLS handshake in DER, the client's own first. */
  | { readonly kind: 'tls'; readonly chain: readonly Uint8Array[] }
  /** Value of the header in which a trusted proxy writes it. */
  | { readonly kind: 'header'; readonly value: string };

/** Whether anybody may read a note by its DPS, or only its parties: the identifier of a DPS can be guessed (D-41). */
export function isDpsQueryOpen({ consultaDps, ambiente }: Municipio): boolean {
  return consultaDps === undefined ? AMBIENTES[ambiente].dpsQueryIsOpen : consultaDps === 'publica';
}

/** Whom an answer is for, in words. */
export type Audience = {
  /** As a caller knows them, after "do": `prestador`. */
  readonly parte: string;
  /** What everybody else is refused: a sentence. */
  readonly recusa: string;
};

/** The certificate of whoever asks, or why nobody is recognised by it. */
export function callerOf(
  world: World,
  municipio: Municipio,
  shown: PresentedCertificate,
  { parte, recusa }: Audience,
): Certificate | Refusal {
  const read = certificatesOf(shown);
  if (read === undefined || 'problem' in read) return refuseCaller(`${recusa} ${read?.problem ?? whyNone(shown)}`);
  const [certificate, ...extra] = read.certificates;
  const trust = world.trust(municipio);
  const helped: Trust = { ...trust, judge: (one, at) => trust.judge(one, at, extra) };
  const question = { documento: undefined, parte, trust: helped, at: world.now(), xpath: '' };
  const [fault, ...more] = signerFaults(certificate, question, CLIENT_CODES);
  return fault === undefined ? certificate : { faults: [fault, ...more] };
}

/** The refusal of a caller who holds none of these documents. It does not say which they are. */
export function strangerTo(
  documentos: readonly string[],
  { holder }: Certificate,
  { parte, recusa }: Audience,
): Refusal | undefined {
  if (holder !== undefined && documentos.some((documento) => isHeldBy(holder, documento))) return undefined;
  const whose =
    holder === undefined
      ? 'O certificado apresentado não diz de que CNPJ ou CPF é'
      : `O certificado apresentado é do ${holder.tipo} ${maskedDocument(holder.documento)}, que não é o do ${parte}`;
  return refuseCaller(`${recusa} ${whose}. O CNPJ se compara pelos 8 primeiros caracteres, o CPF por inteiro.`);
}

type Read = { readonly certificates: readonly [Certificate, ...Certificate[]] } | { readonly problem: string };

function certificatesOf(shown: PresentedCertificate): Read | undefined {
  if (shown.kind === 'none') return undefined;
  if (shown.kind === 'header') return certificatesOfHeader(shown.value);
  const [own, ...others] = shown.chain.map(readCertificate);
  if (own === undefined || 'problem' in own) return own;
  return { certificates: [own, ...others.filter((one): one is Certificate => !('problem' in one))] };
}

function whyNone(shown: PresentedCertificate): string {
  return shown.kind === 'none' && !shown.canShow
    ? 'Este serviço, como está instalado, não recebe certificados de cliente: peça à prefeitura que o configure.'
    : 'Nenhum certificado veio com a conexão: apresente-o no TLS, como certificado de cliente (e-CNPJ ou e-CPF).';
}

function refuseCaller(mensagem: string): Refusal {
  const fault: Fault = { codigo: CLIENT_CODES.otherParty, xpath: '', mensagem };
  return { faults: [fault] };
}

/** A client certificate as it is answered to its holder. */
export type CertificadoApresentado = {
  readonly titular: string;
  readonly documento: string | null;
  readonly valido_desde: string;
  readonly valido_ate: string;
  readonly dias_restantes: number;
};

const DAY_MS = 86_400_000;

/** The certificate of a caller with its validity; its name without the document. */
export function certificadoApresentado(world: World, municipio: Municipio, one: Certificate): CertificadoApresentado {
  const at = (instant: number): string => isoMoment(municipalMoment(municipio.codigoIbge, instant));
  return {
    titular: withoutDocument(one.titular),
    documento: one.holder === undefined ? null : maskedDocument(one.holder.documento),
    valido_desde: at(one.inicio),
    valido_ate: at(one.fim),
    dias_restantes: Math.floor((one.fim - world.now()) / DAY_MS),
  };
}
