/**
 * Identifies the caller, if the answer is for one party alone (D-41). A certificate of the connection must be readable, valid today, and
 * held by that party. Its issuer must descend from an authority that the municipality trusts. A token must belong to that party and be in
 * force. The door obtains both.
 */
import {
  type Certificate,
  type Holder,
  isHeldBy,
  maskedDocument,
  readCertificate,
  withoutDocument,
} from '../../documents/certificate.ts';
import { certificatesOfHeader } from '../../documents/certificate-header.ts';
import { CLIENT_CODES, signerFaults } from '../../documents/signer-faults.ts';
import type { Trust } from '../../documents/trust.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import type { Fault, Refusal } from '../../fiscal/fault.ts';
import { DAY_MS, isoMoment } from '../../fiscal/moment.ts';
import type { Municipio } from '../book/municipios.ts';
import { municipalMoment } from './gather-facts.ts';
import { type Escopo, printOfToken } from './token.ts';
import type { World } from './world.ts';

/** The unverified proof of identity of a request. */
export type Presented = PresentedCertificate | { readonly kind: 'token'; readonly value: string };

/** The client certificate of a request. */
export type PresentedCertificate =
  /** `canShow`: whether the configuration of the service allows a client certificate. */
  | { readonly kind: 'none'; readonly canShow: boolean }
  /** Certificates of the TLS handshake in DER, the client's own first. */
  | { readonly kind: 'tls'; readonly chain: readonly Uint8Array[] }
  /** Value of the header in which a trusted proxy passes it. */
  | { readonly kind: 'header'; readonly value: string };

/** Whether anybody may read a note by its DPS, or only its parties. The identifier of a DPS can be guessed (D-41). */
export function isDpsQueryOpen({ consultaDps, ambiente }: Municipio): boolean {
  return consultaDps === undefined ? AMBIENTES[ambiente].dpsQueryIsOpen : consultaDps === 'publica';
}

/** The party for whom an answer is intended, in words. */
export type Audience = {
  /** Name of the party after "do": `prestador`. */
  readonly parte: string;
  /** Sentence of the refusal to all others. */
  readonly recusa: string;
  /** Whether a token is accepted as well as a certificate. */
  readonly comToken?: true;
};

/** The identified caller. `holder`: undefined if a certificate does not name its holder. */
export type Caller = {
  readonly holder: Holder | undefined;
  /** Absent: the caller used a token. */
  readonly certificate?: Certificate;
};

/** Identifies the caller by a certificate or by a token with `escopo`. Returns a refusal if that fails. */
export async function callerOf(
  world: World,
  municipio: Municipio,
  shown: Presented,
  audience: Audience,
  escopo: Escopo = 'consultar',
): Promise<Caller | Refusal> {
  if (shown.kind === 'token') return callerByToken(world, municipio, shown.value, escopo, audience);
  const certificate = callerByCertificate(world, municipio, shown, audience);
  return 'faults' in certificate ? certificate : { holder: certificate.holder, certificate };
}

async function callerByToken(
  { store, now }: World,
  { tenant, codigoIbge }: Municipio,
  value: string,
  escopo: Escopo,
  { recusa }: Audience,
): Promise<Caller | Refusal> {
  const token = await store.tokens.find(tenant, printOfToken(value));
  if (token === undefined) {
    return refuse(CLIENT_CODES.untrusted, `${recusa} ${UNKNOWN_TOKEN}`);
  }
  const at = (moment: Date): string => isoMoment(municipalMoment(codigoIbge, +moment));
  if (token.revogado_em !== null) {
    return refuse(CLIENT_CODES.expired, `${recusa} O token foi revogado em ${at(token.revogado_em)}. ${NEW_TOKEN}`);
  }
  if (+token.expira_em <= now()) {
    return refuse(CLIENT_CODES.expired, `${recusa} O token venceu em ${at(token.expira_em)}. ${NEW_TOKEN}`);
  }
  if (!token.escopos.includes(escopo)) {
    const mensagem = `Este token não tem o escopo ${escopo}, que este endereço pede; tem: ${token.escopos.join(', ')}. Peça um que o tenha.`;
    return refuse(CLIENT_CODES.otherParty, mensagem);
  }
  const { documento } = token;
  return { holder: { tipo: documento.length === 11 ? 'CPF' : 'CNPJ', documento, onde: 'token' } };
}

const UNKNOWN_TOKEN =
  'O token apresentado não é deste município. Confira se veio inteiro, e se foi pedido neste mesmo endereço; um token de um município não vale em outro.';
const NEW_TOKEN = 'Peça um novo com POST …/api/v1/token.';

/** The certificate of the caller, or the refusal if it proves nothing. */
function callerByCertificate(
  world: World,
  municipio: Municipio,
  shown: PresentedCertificate,
  { parte, recusa, comToken }: Audience,
): Certificate | Refusal {
  const read = certificatesOf(shown);
  if (read === undefined || 'problem' in read)
    return refuseCaller(`${recusa} ${read?.problem ?? whyNone(shown, municipio, comToken)}`);
  const [certificate, ...extra] = read.certificates;
  const trust = world.trust(municipio);
  const helped: Trust = { ...trust, judge: (one, at) => trust.judge(one, at, extra) };
  const question = { documento: undefined, parte, trust: helped, at: world.now(), xpath: '' };
  const [fault, ...more] = signerFaults(certificate, question, CLIENT_CODES);
  return fault === undefined ? certificate : { faults: [fault, ...more] };
}

/** The refusal of a caller who holds none of these documents. The documents are not disclosed. */
export function strangerTo(
  documentos: readonly string[],
  { holder, certificate }: Caller,
  { parte, recusa }: Audience,
): Refusal | undefined {
  if (holder !== undefined && documentos.some((documento) => isHeldBy(holder, documento))) return undefined;
  const what = certificate === undefined ? 'token' : 'certificado';
  const whose =
    holder === undefined
      ? 'O certificado apresentado não diz de que CNPJ ou CPF é'
      : `O ${what} apresentado é do ${holder.tipo} ${maskedDocument(holder.documento)}, que não é o do ${parte}`;
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

function whyNone(shown: PresentedCertificate, { ambiente, tenant }: Municipio, comToken = false): string {
  // A client gets a token on request here, so that the service needs no setup.
  if (shown.kind === 'none' && !shown.canShow && comToken && ambiente === 'homologacao') {
    return `Nenhum token veio: peça um com POST /${tenant}/api/v1/token, e o corpo {"documento":"…"}.`;
  }
  return shown.kind === 'none' && !shown.canShow
    ? 'Este serviço, como está instalado, não recebe certificados de cliente: peça à prefeitura que o configure.'
    : 'Nenhum certificado veio com a conexão: apresente-o no TLS, como certificado de cliente (e-CNPJ ou e-CPF).';
}

function refuseCaller(mensagem: string): Refusal {
  return refuse(CLIENT_CODES.otherParty, mensagem);
}

function refuse(codigo: string, mensagem: string): Refusal {
  const fault: Fault = { codigo, xpath: '', mensagem };
  return { faults: [fault] };
}

/** A client certificate in the answer to its holder. */
export type CertificadoApresentado = {
  readonly titular: string;
  readonly documento: string | null;
  readonly valido_desde: string;
  readonly valido_ate: string;
  readonly dias_restantes: number;
};

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
