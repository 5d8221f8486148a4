/**
 * The signature debugger reports the digested text, the declared digest, the certificate and the verdict of production. Its users write
 * programs that sign. It therefore answers for unsigned documents too, and judges in the sandbox as production would. It judges nothing by
 * itself: the verdict is the one of `sent-documents.ts` and of `cms.ts`. Nothing is stored. No full CPF or CNPJ of a certificate is shown;
 * the canonical form is the sender's own text.
 */

import { hash } from 'node:crypto';
import type { Municipio } from '../../base/book/municipios.ts';
import {
  type DpsSignature,
  isNacional,
  placeFaults,
  prestadorIn,
  readCorpoSignature,
  readDpsSignature,
} from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import { ENVELOPED, NATIONAL_SHA1, REQUIRED } from '../../documents/algorithms.ts';
import {
  type Certificate,
  isHeldBy,
  maskDocuments,
  maskedDocument,
  withoutDocument,
} from '../../documents/certificate.ts';
import { detailsOfCms } from '../../documents/cms-details.ts';
import type { FolderLog } from '../../documents/folder.ts';
import { readJson } from '../../documents/json.ts';
import { DPS_PROFILE, DSIG, isSignature, type SignedProfile } from '../../documents/signature-shape.ts';
import type { SignatureReading } from '../../documents/signed.ts';
import { openTrust, type Trust, type TrustSettings } from '../../documents/trust.ts';
import { readXml, type XmlDocumentReading } from '../../documents/xml.ts';
import { zoneOf } from '../../fiscal/catalogs/catalogs.ts';
import type { Fault, Refusal } from '../../fiscal/fault.ts';
import { cutText } from '../../fiscal/fault.ts';
import type { Elemento } from '../../fiscal/layout/tree.ts';
import { isoMoment, momentIn } from '../../fiscal/moment.ts';
import { stepsFor, verdictOf } from './advice.ts';

/** Escaping (`>` is `&gt;`) makes a body at most four times as long; only repeated namespaces make it longer. */
const FORM_CHARACTERS_MAX = 5 * 1024 * 1024;
/** Characters quoted of an attribute or a digest: a SHA-512 in Base64 has 88. */
const SHOWN_MAX = 128;
/** A longer list of faults does not help its reader. */
const FAULTS_MAX = 50;

/** A document with its signature inside, as sent to REST v1 or as stored; or a body with it in a header. */
export type SentSignature =
  | { readonly kind: 'xml' | 'guardada'; readonly body: Uint8Array }
  | {
      readonly kind: 'json';
      readonly body: Uint8Array;
      /** The value of the header, and its name. */
      readonly cabecalho: string | undefined;
      readonly campo: string;
    };

export type AlgorithmLine = {
  readonly onde: string;
  /** null: not there. */
  readonly encontrado: string | null;
  readonly exigido: string;
  readonly confere: boolean;
};

/** Signed attribute of a CMS. */
export type AttributeLine = { readonly oid: string; readonly nome: string; readonly valor: string };

/** The names and the order are those of the public answer; `faults` become its `erros`. null: not reached, or absent. */
export type SignatureReport = {
  /** Whether production would accept it. */
  readonly valida: boolean;
  readonly veredito: string;
  readonly o_que_mudar: readonly string[];
  readonly faults: readonly Fault[];
  readonly assinatura: 'XML' | 'CMS';
  /** The text whose bytes, in UTF-8, are digested. */
  readonly forma_canonica: string | null;
  readonly forma_canonica_bytes: number | null;
  readonly forma_canonica_sha256: string | null;
  readonly resumo: {
    readonly algoritmo: string;
    readonly codificacao: 'base64' | 'hexadecimal';
    /** null: there is none, or more than one, or it is unreadable. */
    readonly declarado: string | null;
    /** null: there is no element to digest, or more than one. */
    readonly calculado: string | null;
    readonly confere: boolean | null;
  } | null;
  readonly signed_info_canonico: string | null;
  readonly atributos_assinados: readonly AttributeLine[] | null;
  readonly algoritmos: readonly AlgorithmLine[];
  /** Whether the key of the certificate made the value over `signed_info_canonico`, the attributes or the body. */
  readonly valor: { readonly confere: boolean | null };
  readonly certificado: CertificateReport | null;
  readonly prestador: { readonly documento: string | null; readonly confere: boolean | null };
};

export type CertificateReport = {
  readonly titular: string;
  /** Masked. */
  readonly documento: string | null;
  readonly tipo: 'CNPJ' | 'CPF' | null;
  readonly onde: string | null;
  readonly emissor: string;
  readonly serie: string;
  readonly sha256: string;
  readonly inicio: string;
  readonly fim: string;
  readonly valido_agora: boolean;
  readonly uso_de_chave: readonly string[] | null;
  readonly politicas: readonly string[];
  readonly confiavel: boolean;
  readonly cadeia: readonly string[] | null;
  readonly motivo: string | null;
  /** null: the status could not be found out. */
  readonly revogado: boolean | null;
  /** The authorities of the chain whose revocation lists are missing. null: there is no chain. */
  readonly sem_lista_de_revogados: readonly string[] | null;
};

/** The trusted authorities, and the time of the judgement. */
type Judgement = {
  readonly trust: Trust;
  /** Milliseconds. */
  readonly at: number;
  readonly zone: string;
};

/** The judgement of this municipality in production; a refusal (E201) when the body is not XML. */
export function debugSignature(world: World, municipio: Municipio, sent: SentSignature): SignatureReport | Refusal {
  return reportOf(sent, {
    trust: world.trust(municipio),
    at: world.now(),
    zone: zoneOf(municipio.codigoIbge),
  });
}

/** The same without a service, with the user's own folders or the national roots. `at` in milliseconds. */
export function debugSignatureOffline(
  sent: SentSignature,
  settings: TrustSettings,
  at: number,
  log: FolderLog,
): SignatureReport | Refusal {
  return reportOf(sent, { trust: openTrust(settings, log), at, zone: zoneOf(undefined) });
}

function reportOf(sent: SentSignature, judgement: Judgement): SignatureReport | Refusal {
  if (sent.kind === 'json') return reportOfCms(sent, judgement);
  const reading = readXml(sent.body);
  if ('fault' in reading) return { faults: [reading.fault] };
  // The setting of the municipality may have changed since the note was issued.
  const isWide = sent.kind === 'guardada' && isNacional(reading);
  return reportOfXml(reading, isWide ? { ...DPS_PROFILE, accepted: NATIONAL_SHA1 } : DPS_PROFILE, judgement);
}

// The signature inside a DPS.

function reportOfXml(reading: XmlDocumentReading, profile: SignedProfile, judgement: Judgement): SignatureReport {
  const signature = readDpsSignature(reading, judgement.trust, judgement.at, profile);
  const { certificate, prestador } = signature;
  const faults = withoutDocuments(placeFaults(signature.faults.slice(0, FAULTS_MAX), reading));
  const canonical = signature.assinado ?? canonicalOfOnly(reading);
  const declarado = signature.resumo?.declarado || declaredIn(reading.root) || null;
  const calculado =
    signature.resumo?.calculado ?? (canonical === undefined ? undefined : hash('sha256', canonical, 'base64'));
  const { name: root } = reading.root;
  return {
    valida: faults.length === 0,
    veredito: verdictOf(faults, { namesParty: prestador !== undefined }),
    o_que_mudar: stepsFor(faults, { root, calculado }),
    faults,
    assinatura: 'XML',
    ...formOf(canonical),
    resumo:
      calculado === undefined && declarado === null
        ? null
        : {
            algoritmo: signature.resumo?.algoritmo ?? 'SHA-256',
            codificacao: 'base64',
            declarado: declarado && cutText(declarado, SHOWN_MAX),
            calculado: calculado ?? null,
            confere: declarado === null || calculado === undefined ? null : declarado === calculado,
          },
    signed_info_canonico: limitForm(signature.signedInfo) ?? null,
    atributos_assinados: null,
    algoritmos: linesOf(signature, reading),
    valor: { confere: valueHolds(signature) },
    certificado: certificate === undefined ? null : certificateReport(certificate, undefined, judgement),
    prestador: partyReport(certificate, prestador),
  };
}

/** The form of the one element to sign, also when the document is unsigned or its signature is misplaced. */
function canonicalOfOnly(reading: XmlDocumentReading): string | undefined {
  const [element, another] = reading.root.children.filter(({ name }) => name === DPS_PROFILE.signed);
  return element === undefined || another !== undefined ? undefined : reading.canonicalOf(element);
}

/** The digest that a signature declares, wherever it stands; undefined when several declare different digests. */
function declaredIn(root: Elemento): string | undefined {
  const found = new Set<string>();
  const walk = (element: Elemento, isInside: boolean): void => {
    if (isInside && element.name === 'DigestValue' && element.namespace === DSIG) {
      found.add(element.text.replace(/[ \t\n\r]+/g, ''));
    }
    for (const child of element.children) walk(child, isInside || isSignature(child));
  };
  walk(root, false);
  return found.size === 1 ? [...found][0] : undefined;
}

/** The lines of the profile as they were found; all required lines, when there is no signature. */
function linesOf({ perfil, faults }: DpsSignature, { root }: XmlDocumentReading): readonly AlgorithmLine[] {
  const found = perfil();
  if (found.length > 0) {
    return found.map(({ onde, encontrado, exigido, confere }) => ({
      onde,
      encontrado: encontrado === '' ? null : cutText(encontrado, SHOWN_MAX),
      exigido: cutText(exigido, SHOWN_MAX),
      confere: confere && !faults.some(({ xpath }) => xpath === onde),
    }));
  }
  // A misplaced signature was not read.
  if (faults[0]?.codigo !== 'E901') return [];
  const base = `/${root.name}/Signature/SignedInfo`;
  const lines = [
    [`${base}/CanonicalizationMethod`, REQUIRED.CanonicalizationMethod],
    [`${base}/SignatureMethod`, REQUIRED.SignatureMethod],
    [`${base}/Reference/Transforms`, `${ENVELOPED} ${REQUIRED.CanonicalizationMethod}`],
    [`${base}/Reference/DigestMethod`, REQUIRED.DigestMethod],
  ] as const;
  return lines.map(([onde, exigido]) => ({ onde, encontrado: null, exigido, confere: false }));
}

function valueHolds({ certificate, signedInfo, valor, faults }: SignatureReading): boolean | null {
  if (certificate === undefined || signedInfo === undefined || valor === undefined) return null;
  return !faults.some(({ xpath }) => xpath.endsWith('/Signature/SignatureValue'));
}

// The signature in the header of a JSON request.

function reportOfCms(
  { body, cabecalho, campo }: SentSignature & { kind: 'json' },
  judgement: Judgement,
): SignatureReport {
  const documento = prestadorOf(body);
  const { faults: found, certificate, extra } = readCorpoSignature(body, cabecalho, { campo, documento, ...judgement });
  const details = detailsOfCms(cabecalho, body, certificate);
  const faults = withoutDocuments(found);
  return {
    valida: faults.length === 0,
    veredito: verdictOf(faults, { namesParty: documento !== undefined }),
    o_que_mudar: stepsFor(faults, { root: undefined, calculado: undefined }),
    faults,
    assinatura: 'CMS',
    ...formOf(textOf(body), body),
    resumo: {
      algoritmo: details.digest.algoritmo,
      codificacao: 'hexadecimal',
      declarado: details.digest.declarado ?? null,
      calculado: details.digest.calculado,
      confere: details.digest.declarado === undefined ? null : details.digest.declarado === details.digest.calculado,
    },
    signed_info_canonico: null,
    atributos_assinados: details.atributos ?? null,
    algoritmos: details.algoritmos,
    valor: { confere: details.valueHolds ?? null },
    certificado: certificate === undefined ? null : certificateReport(certificate, extra, judgement),
    prestador: partyReport(certificate, documento),
  };
}

function prestadorOf(body: Uint8Array): string | undefined {
  const json = readJson(body);
  return 'fault' in json ? undefined : prestadorIn(json.value);
}

function textOf(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

// Parts that both kinds of report share.

type Form = Pick<SignatureReport, 'forma_canonica' | 'forma_canonica_bytes' | 'forma_canonica_sha256'>;

/** `bytes` are given only when they differ from those of the text. */
function formOf(text: string | undefined, bytes?: Uint8Array): Form {
  const digested = bytes ?? text;
  return {
    forma_canonica: limitForm(text) ?? null,
    forma_canonica_bytes: digested === undefined ? null : Buffer.byteLength(digested),
    forma_canonica_sha256: digested === undefined ? null : hash('sha256', digested, 'hex'),
  };
}

function limitForm(text: string | undefined): string | undefined {
  return text !== undefined && text.length <= FORM_CHARACTERS_MAX ? text : undefined;
}

function certificateReport(
  certificate: Certificate,
  extra: readonly Certificate[] | undefined,
  { trust, at, zone }: Judgement,
): CertificateReport {
  const { holder, inicio, fim, serial, keyUsage, policies, fingerprint, titular, emissor } = certificate;
  const verdict = trust.judge(certificate, at, extra);
  const isTrusted = verdict.kind === 'trusted';
  return {
    titular: withoutDocument(titular),
    documento: holder === undefined ? null : maskedDocument(holder.documento),
    tipo: holder?.tipo ?? null,
    onde: holder?.onde ?? null,
    emissor: withoutDocument(emissor),
    serie: serial,
    sha256: fingerprint,
    inicio: isoMoment(momentIn(zone, inicio)),
    fim: isoMoment(momentIn(zone, fim)),
    valido_agora: at >= inicio && at <= fim,
    uso_de_chave: keyUsage ?? null,
    politicas: policies,
    confiavel: isTrusted,
    cadeia: isTrusted ? verdict.cadeia.map(withoutDocument) : null,
    motivo: isTrusted ? null : maskDocuments(verdict.mensagem),
    revogado: verdict.kind === 'revoked' ? true : isTrusted && verdict.semLista.length === 0 ? false : null,
    sem_lista_de_revogados: isTrusted ? verdict.semLista.map(withoutDocument) : null,
  };
}

function partyReport(
  certificate: Certificate | undefined,
  documento: string | undefined,
): SignatureReport['prestador'] {
  if (documento === undefined) return { documento: null, confere: null };
  const shownDocument = maskedDocument(documento);
  if (certificate === undefined) return { documento: shownDocument, confere: null };
  const { holder } = certificate;
  return { documento: shownDocument, confere: holder !== undefined && isHeldBy(holder, documento) };
}

function withoutDocuments(faults: readonly Fault[]): readonly Fault[] {
  return faults.map(({ change, ...fault }) => ({
    ...fault,
    mensagem: maskDocuments(fault.mensagem),
    ...(change === undefined ? {} : { change: maskDocuments(change) }),
  }));
}
