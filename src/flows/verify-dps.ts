/**
 * Who signed a DPS, and whether the signature holds. In production it must (D-30); in the sandbox one that was sent is
 * checked as well, and what production would have answered goes into the remarks (D-32).
 */
import { type CmsReading, verifyCms } from '../documents/cms.ts';
import { DPS_PROFILE, isSignature } from '../documents/signature-shape.ts';
import { checkSignature, type SignatureReading } from '../documents/signed.ts';
import { CMS_CODES, partyFaults, signerFaults, XML_CODES } from '../documents/signer-faults.ts';
import type { Trust } from '../documents/trust.ts';
import type { XmlDocumentReading } from '../documents/xml.ts';
import { AMBIENTES } from '../fiscal/ambiente.ts';
import type { Aviso, Fault } from '../fiscal/fault.ts';
import type { JsonValue } from '../fiscal/layout/json-value.ts';
import { isSpellingOf } from '../fiscal/layout/read.ts';
import { type Elemento, locate } from '../fiscal/layout/tree.ts';
import type { Municipio } from '../store/municipios.ts';
import type { World } from './world.ts';

const CERTIFICATE_XPATH = '/DPS/Signature/KeyInfo/X509Data/X509Certificate';

/** Faults E901 to E906, or the remarks of the sandbox. `at`: when it was received, in milliseconds. */
export function verifyDps(
  world: World,
  municipio: Municipio,
  reading: XmlDocumentReading,
  at: number,
): { readonly faults: readonly Fault[] } | { readonly avisos: readonly Aviso[] } {
  const { signatureRefuses } = AMBIENTES[municipio.ambiente];
  if (!signatureRefuses && !reading.root.children.some(isSignature)) return { avisos: [] };
  return verdict(municipio, readDpsSignature(reading, world.trust(municipio), at).faults);
}

/** Header in which the signature of a JSON body comes. */
export const DPS_SIGNATURE_HEADER = 'X-DPS-Assinatura';

/**
 * The same of a JSON body, whose signature is a CMS over its exact bytes (D-24): faults E9002, E9003, E9006 and E9007, or
 * the remarks of the sandbox. `prestador`: CNPJ or CPF that the body names.
 */
export function verifyCorpo(
  world: World,
  municipio: Municipio,
  { body, assinatura }: { readonly body: Uint8Array; readonly assinatura: string | undefined },
  prestador: string | undefined,
  at: number,
): { readonly faults: readonly Fault[] } | { readonly avisos: readonly Aviso[] } {
  if (!AMBIENTES[municipio.ambiente].signatureRefuses && assinatura === undefined) return { avisos: [] };
  const { faults } = readCorpoSignature(body, assinatura, {
    campo: DPS_SIGNATURE_HEADER,
    documento: prestador,
    trust: world.trust(municipio),
    at,
  });
  return verdict(municipio, faults);
}

/** Header in which the signature of the request of an event comes. */
export const EVENTO_SIGNATURE_HEADER = 'X-Evento-Assinatura';

/** What the signature of a request is worth before it is known who has to have made it. */
export type EventoSignature = {
  /** E9002, E9003 and E9006 in production. */
  readonly faults: readonly Fault[];
  readonly avisos: readonly Aviso[];
  /** The same for the certificate as that of a party (E9007). `parte`: `tomador`, as a sender knows it. */
  readonly ofParty: (documento: string, parte: string) => Pick<EventoSignature, 'faults' | 'avisos'>;
};

/** The signature of the request of an event, which names nobody itself: its author follows from the type and the note. */
export function verifyEvento(
  world: World,
  municipio: Municipio,
  { body, assinatura }: { readonly body: Uint8Array; readonly assinatura: string | undefined },
  at: number,
): EventoSignature {
  const nothing = { faults: [], avisos: [] };
  if (!AMBIENTES[municipio.ambiente].signatureRefuses && assinatura === undefined) {
    return { ...nothing, ofParty: () => nothing };
  }
  const question = { campo: EVENTO_SIGNATURE_HEADER, documento: undefined, trust: world.trust(municipio), at };
  const { faults, certificate } = readCorpoSignature(body, assinatura, question);
  const told = (found: readonly Fault[]): Pick<EventoSignature, 'faults' | 'avisos'> => ({
    ...nothing,
    ...verdict(municipio, found),
  });
  return {
    ...told(faults),
    ofParty: (documento, parte) =>
      certificate === undefined ? nothing : told(partyFaults(certificate, { documento, parte, xpath: '' }, CMS_CODES)),
  };
}

/** The signature of a JSON body with all its faults and those of the certificate that made it. `campo`: the header. */
export function readCorpoSignature(
  body: Uint8Array,
  header: string | undefined,
  question: {
    readonly campo: string;
    readonly documento: string | undefined;
    readonly trust: Trust;
    readonly at: number;
  },
): CmsReading {
  const { campo, documento, trust, at } = question;
  const reading = verifyCms(header, body, campo);
  const { faults, certificate, extra } = reading;
  if (certificate === undefined) return reading;
  // The certificates that came along may stand between the signer and an anchor.
  const helped: Trust = { ...trust, judge: (one, when) => trust.judge(one, when, extra) };
  const asked = { documento, parte: 'prestador', trust: helped, at, xpath: '' };
  return { ...reading, faults: [...faults, ...signerFaults(certificate, asked, CMS_CODES)] };
}

function verdict(
  municipio: Municipio,
  faults: readonly Fault[],
): { readonly faults: readonly Fault[] } | { readonly avisos: readonly Aviso[] } {
  if (AMBIENTES[municipio.ambiente].signatureRefuses) return faults.length > 0 ? { faults } : { avisos: [] };
  return {
    avisos: faults.map(({ codigo, xpath, mensagem }) => ({
      codigo,
      xpath,
      mensagem: `Em produção esta assinatura seria recusada. ${mensagem}`,
    })),
  };
}

export type DpsSignature = SignatureReading & {
  /** CNPJ or CPF of the provider as it stands in the document. */
  readonly prestador: string | undefined;
};

/** The signature of a DPS, with all its faults and those of the certificate that made it: what production decides by. */
export function readDpsSignature(reading: XmlDocumentReading, trust: Trust, at: number): DpsSignature {
  const signature = checkSignature(reading, DPS_PROFILE);
  const { faults, certificate } = signature;
  const prestador = documentOfPrest(reading.root);
  if (certificate === undefined) return { ...signature, prestador };
  const question = { documento: prestador, parte: 'prestador', trust, at, xpath: CERTIFICATE_XPATH };
  return { ...signature, prestador, faults: [...faults, ...signerFaults(certificate, question, XML_CODES)] };
}

/** The CNPJ or CPF of the provider as it stands, before the layout is judged. */
export function documentOfPrest(root: Elemento): string | undefined {
  for (const name of ['CNPJ', 'CPF']) {
    const found = locate(root, `/DPS/infDPS/prest/${name}`, isSpellingOf);
    if (found.name === name) return found.text.trim();
  }
  return undefined;
}

/** D-24: the CNPJ or CPF that a JSON body names as its provider, before anything in it is judged. An event names nobody. */
export function prestadorIn(body: JsonValue): string | undefined {
  if (body.kind !== 'object') return undefined;
  const named = body.members.find(({ name }) => name === 'prestador_cpf_cnpj')?.value;
  return named?.kind === 'string' ? named.text.replace(/[./\-\s]/g, '').toUpperCase() : undefined;
}
