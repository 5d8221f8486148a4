/**
 * A document as received: it is opened, its signature judged, and its faults located in the sent text (D-24).
 *
 * A DPS gets a form that no longer depends on XML or JSON. A signature must hold in production (D-30). The sandbox also checks a given
 * signature, and its remarks state the answer of production (D-30).
 */
import { NATIONAL, NATIONAL_SHA1 } from '../../documents/algorithms.ts';
import { type CmsReading, verifyCms } from '../../documents/cms.ts';
import type { Fundamento } from '../../documents/fundamento.ts';
import { readJson } from '../../documents/json.ts';
import { DPS_PROFILE, isSignature, PEDIDO_PROFILE, type SignedProfile } from '../../documents/signature-shape.ts';
import { checkSignature, type SignatureReading } from '../../documents/signed.ts';
import { CMS_CODES, partyFaults, signerFaults, XML_CODES } from '../../documents/signer-faults.ts';
import type { Trust } from '../../documents/trust.ts';
import { readXml, type XmlDocumentReading } from '../../documents/xml.ts';
import { AMBIENTES, type Ambiente } from '../../fiscal/ambiente.ts';
import { once } from '../../fiscal/catalogs/table.ts';
import type { Declarado } from '../../fiscal/declarado.ts';
import { type Aviso, type Fault, type Refusal, refusalOf } from '../../fiscal/fault.ts';
import { DPS_VERSAO, type Dps } from '../../fiscal/layout/dps.ts';
import type { JsonValue } from '../../fiscal/layout/json-value.ts';
import { layoutOf, type Porta, VERSOES } from '../../fiscal/layout/layouts.ts';
import { refusePackedDps } from '../../fiscal/layout/national-envelope.ts';
import { type DpsReading, isSpellingOf, readDps } from '../../fiscal/layout/read.ts';
import { readCorpo } from '../../fiscal/layout/read-corpo.ts';
import { attributeOf, childOf, type Elemento, locate, withText } from '../../fiscal/layout/tree.ts';
import { stepInNamesOfBody } from '../../fiscal/layout/words-corpo.ts';
import { describeTribIssqn100 } from '../../fiscal/tributacao.ts';
import type { Municipio } from '../book/municipios.ts';
import type { Quota } from './quota.ts';
import type { World } from './world.ts';

export { charsetContradiction } from '../../documents/encoding.ts';

/** Headers with the signature of a JSON body: of a DPS, and of the request of an event. */
export const DPS_SIGNATURE_HEADER = 'X-DPS-Assinatura';
export const EVENTO_SIGNATURE_HEADER = 'X-Evento-Assinatura';

const CERTIFICATE_XPATH = '/DPS/Signature/KeyInfo/X509Data/X509Certificate';

export type SentDps = {
  /** Value of `X-NFSe-Simular`, which the sandbox alone reads (D-60). */
  readonly simular?: string | undefined;
  readonly quota?: Quota | undefined;
  /** The `X-Request-Id` of the answer to the request with this document. */
  readonly requisicao?: string | undefined;
} & (
  | { readonly kind: 'xml'; readonly body: Uint8Array }
  /** A DPS as programs of the national API make it: with `dhEmi`, and by their algorithms. */
  | { readonly kind: 'nacional'; readonly body: Uint8Array }
  /** A stored DPS in XML, whose signature was verified when it came. */
  | { readonly kind: 'guardada'; readonly body: Uint8Array }
  /** A DPS that was converted from an RPS. The RPS was signed, and was verified when its lot was received. */
  | { readonly kind: 'rps'; readonly body: Uint8Array }
  | {
      readonly kind: 'json';
      readonly body: Uint8Array;
      /** Value of the signature header, as received. */
      readonly assinatura: string | undefined;
    }
);

/** Either the faults of production, or the corresponding remarks of the sandbox. */
export type SignatureVerdict = {
  readonly faults: readonly Fault[];
  readonly avisos: readonly Aviso[];
  /** The basis of the verdict; undefined if there is no signature, or no trust. */
  readonly fundamento?: Fundamento | undefined;
};

const WITHOUT_REMARK: SignatureVerdict = { faults: [], avisos: [] };

/** A DPS that was read. `declarado`: values of its JSON body that this service calculates. */
export type ReadDps = Exclude<DpsReading, { faults: unknown }> & { readonly declarado?: Declarado };

/** A DPS with faults of structure, each located. */
export type UnreadDps = {
  readonly faults: readonly Fault[];
  /** The readable part, with marks for unknown values. */
  readonly rest?: { readonly marked: Dps; readonly declarado?: Declarado };
};

export type OpenedDps = {
  /** Judges the signer and the signature. `at`: when it was received, in milliseconds. */
  readonly verify: (world: World, municipio: Municipio, at: number) => SignatureVerdict;
  /** The typed document, or all its structural faults. */
  readonly read: () => ReadDps | UnreadDps;
  /** CNPJ or CPF of the provider as written, before any judgement. */
  readonly prestador: string | undefined;
  /** The same faults with line and column and, for JSON, the name of the field. */
  readonly place: <Told extends Fault | Aviso>(told: readonly Told[]) => readonly Told[];
  /** Steps of a calculation with the field names of the sender. */
  readonly nameSteps: <Step extends { readonly campo: string; readonly formula: string }>(
    steps: readonly Step[],
  ) => readonly (Step & { readonly campo_json?: string })[];
};

/** The destination of a document, as far as a JSON body does not state it. */
export type Destination = Pick<Municipio, 'ambiente' | 'codigoIbge'>;

/** Refuses documents that cannot be judged at all: E201 and E110 for XML, E003 for JSON. */
export function openDps(sent: SentDps, destination: Destination): OpenedDps | Refusal {
  return sent.kind === 'json' ? openJson(sent, destination) : openXml(sent, destination);
}

function openXml(
  { kind, body }: SentDps & { kind: 'xml' | 'nacional' | 'guardada' | 'rps' },
  { ambiente }: Destination,
): OpenedDps | Refusal {
  const { tpAmb, forcesTpAmb } = AMBIENTES[ambiente];
  const reading = readXml(body);
  if ('fault' in reading) return { faults: [reading.fault] };
  const porta = kind === 'nacional' || (kind === 'guardada' && isNacional(reading)) ? 'nacional' : 'rest';
  const version = versionFault(reading.root);
  if (version !== undefined) return refusalOf(placeFaults([version], reading))!;
  return {
    verify: (world, municipio, at) =>
      kind === 'rps' || kind === 'guardada'
        ? WITHOUT_REMARK
        : verifyXml(world, municipio, reading, { at, profile: profileAt(porta, municipio) }),
    read: () => {
      const root = forcesTpAmb ? withText(reading.root, 'infDPS', 'tpAmb', tpAmb) : reading.root;
      const read = readDps(root, { source: reading, porta });
      if (!('faults' in read)) return read;
      const faults = placeFaults(read.faults, reading);
      return read.marked === undefined ? { faults } : { faults, rest: { marked: read.marked } };
    },
    prestador: documentOfPrest(reading.root),
    place: (told) => placeFaults(told, reading),
    nameSteps: (steps) => steps,
  };
}

/** A stored document, to be read again. */
export function sentAsStored(recebido: Uint8Array): SentDps {
  return isJson(recebido)
    ? { kind: 'json', body: recebido, assinatura: undefined }
    : { kind: 'guardada', body: recebido };
}

/** Whether a stored DPS came through the national door: no other takes `dhEmi`. */
export function isNacional({ root }: XmlDocumentReading): boolean {
  return childOf(childOf(root, 'infDPS'), 'dhEmi') !== undefined;
}

function openJson(sent: SentDps & { kind: 'json' }, { ambiente, codigoIbge }: Destination): OpenedDps | Refusal {
  const json = readJson(sent.body);
  if ('fault' in json) return { faults: [json.fault] };
  const packed = refusePackedDps(json);
  if (packed !== undefined) return { faults: [packed] };
  const { tpAmb, forcesTpAmb } = AMBIENTES[ambiente];
  const read = once(() => readCorpo(json, { tpAmb, forcesTpAmb, lugar: lugarOf(ambiente, codigoIbge) }));
  const prestador = prestadorIn(json.value);
  return {
    verify: (world, municipio, at) => verifyCorpo(world, municipio, sent, prestador, at),
    read,
    prestador,
    place: (told) => {
      const corpo = read();
      const place = 'faults' in corpo ? corpo.rest?.place : corpo.place;
      return place === undefined ? told : place(told);
    },
    nameSteps: (steps) => steps.map(stepInNamesOfBody),
  };
}

/** The signed content must include the municipality and the environment if signatures are required. */
function lugarOf(ambiente: Ambiente, codigoIbge: string | undefined): Readonly<Record<string, string>> {
  const { tpAmb, signatureRefuses } = AMBIENTES[ambiente];
  if (!signatureRefuses) return {};
  return { tipo_ambiente: tpAmb, ...(codigoIbge === undefined ? {} : { municipio_emissor: codigoIbge }) };
}

/** The faults of a document that is no longer open, located. */
export function reopenToPlace(sent: SentDps, destination: Destination, faults: readonly Fault[]): readonly Fault[] {
  const opened = openDps(sent, destination);
  return 'faults' in opened ? faults : opened.place(faults);
}

// Judgement of signer and signature.

/** The profile of a DPS at a door of a municipality. */
function profileAt(porta: Porta, municipio: Pick<Municipio, 'assinaturaNacional'>): SignedProfile {
  return porta === 'rest' ? DPS_PROFILE : nationalProfile(DPS_PROFILE, municipio);
}

/** The same document with the algorithms that the national door of a municipality accepts. */
function nationalProfile(
  profile: SignedProfile,
  { assinaturaNacional }: Pick<Municipio, 'assinaturaNacional'>,
): SignedProfile {
  return { ...profile, accepted: assinaturaNacional === 'sha1' ? NATIONAL_SHA1 : NATIONAL };
}

/** When a document was received, in milliseconds, and the algorithms of its door. */
type Reception = { readonly at: number; readonly profile: SignedProfile };

/** Faults E901 to E906. */
function verifyXml(
  world: World,
  municipio: Municipio,
  reading: XmlDocumentReading,
  { at, profile }: Reception,
): SignatureVerdict {
  if (isLetPass(municipio, reading.root.children.some(isSignature))) return WITHOUT_REMARK;
  const trust = world.trust(municipio);
  const { faults, certificate } = readDpsSignature(reading, trust, at, profile);
  const fundamento = faults.length === 0 ? certificate && trust.fundamento(certificate, at) : undefined;
  return { ...verdictOf(municipio, faults), fundamento };
}

/** A signature in a header is a CMS over the exact bytes of the body (D-24). */
type SignedBody = { readonly body: Uint8Array; readonly assinatura: string | undefined };

/** Faults E9002, E9003, E9006 and E9007. `prestador`: CNPJ or CPF that the body names. */
function verifyCorpo(
  world: World,
  municipio: Municipio,
  { body, assinatura }: SignedBody,
  prestador: string | undefined,
  at: number,
): SignatureVerdict {
  if (isLetPass(municipio, assinatura !== undefined)) return WITHOUT_REMARK;
  const question = { campo: DPS_SIGNATURE_HEADER, documento: prestador, trust: world.trust(municipio), at };
  return verdictOnCorpo(municipio, readCorpoSignature(body, assinatura, question), question);
}

function verdictOnCorpo(
  municipio: Municipio,
  { faults, certificate, extra }: CmsReading,
  { trust, at }: { readonly trust: Trust; readonly at: number },
): SignatureVerdict {
  const fundamento = faults.length === 0 ? certificate && trust.fundamento(certificate, at, extra) : undefined;
  return { ...verdictOf(municipio, faults), fundamento };
}

/** Verdict on the signature of a request before its author is known: E9002, E9003 and E9006. */
export type EventoSignature = SignatureVerdict & {
  /** Verdict on the certificate as that of a party (E9007). `parte`: `tomador`, in the sender's terms. */
  readonly ofParty: (documento: string, parte: string) => SignatureVerdict;
};

/** The signature of the request of an event. The request names no author; the type and the note determine the author. */
export function verifyEvento(
  world: World,
  municipio: Municipio,
  { body, assinatura }: SignedBody,
  at: number,
): EventoSignature {
  if (isLetPass(municipio, assinatura !== undefined)) return { ...WITHOUT_REMARK, ofParty: () => WITHOUT_REMARK };
  const question = { campo: EVENTO_SIGNATURE_HEADER, documento: undefined, trust: world.trust(municipio), at };
  const reading = readCorpoSignature(body, assinatura, question);
  const { certificate } = reading;
  return {
    ...verdictOnCorpo(municipio, reading, question),
    ofParty: (documento, parte) =>
      certificate === undefined
        ? WITHOUT_REMARK
        : verdictOf(municipio, partyFaults(certificate, { documento, parte, xpath: '' }, CMS_CODES)),
  };
}

/** The signature inside the national request of an event; see {@link verifyEvento}. `at`: when it was received, in milliseconds. */
export function verifyPedidoNacional(
  world: World,
  municipio: Municipio,
  reading: XmlDocumentReading,
  at: number,
): EventoSignature {
  if (isLetPass(municipio, reading.root.children.some(isSignature)))
    return { ...WITHOUT_REMARK, ofParty: () => WITHOUT_REMARK };
  const trust = world.trust(municipio);
  const { faults, certificate } = checkSignature(reading, nationalProfile(PEDIDO_PROFILE, municipio));
  const xpath = `/${PEDIDO_PROFILE.root}/Signature/KeyInfo/X509Data/X509Certificate`;
  const question = { documento: undefined, parte: 'autor', trust, at, xpath };
  const all = certificate === undefined ? faults : [...faults, ...signerFaults(certificate, question, XML_CODES)];
  const fundamento = all.length === 0 ? certificate && trust.fundamento(certificate, at) : undefined;
  return {
    ...verdictOf(municipio, all),
    fundamento,
    ofParty: (documento, parte) =>
      certificate === undefined
        ? WITHOUT_REMARK
        : verdictOf(municipio, partyFaults(certificate, { documento, parte, xpath }, XML_CODES)),
  };
}

/** The signature of a JSON body with all its faults and those of its certificate. `campo`: the header. */
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
  // The certificates in the CMS may link the signer to an anchor.
  const helped: Trust = { ...trust, judge: (one, when) => trust.judge(one, when, extra) };
  const asked = { documento, parte: 'prestador', trust: helped, at, xpath: '' };
  return { ...reading, faults: [...faults, ...signerFaults(certificate, asked, CMS_CODES)] };
}

/** Only the sandbox accepts unsigned documents. */
function isLetPass({ ambiente }: Municipio, isSigned: boolean): boolean {
  return !isSigned && !AMBIENTES[ambiente].signatureRefuses;
}

function verdictOf({ ambiente }: Municipio, faults: readonly Fault[]): SignatureVerdict {
  if (AMBIENTES[ambiente].signatureRefuses) return { faults, avisos: [] };
  const avisos = faults.map(({ codigo, xpath, mensagem }) => ({
    codigo,
    xpath,
    mensagem: `Em produção esta assinatura seria recusada. ${mensagem}`,
  }));
  return { faults: [], avisos };
}

export type DpsSignature = SignatureReading & {
  /** CNPJ or CPF of the provider as written in the document. */
  readonly prestador: string | undefined;
};

/** The signature of a DPS, with all its faults and those of its certificate, by which production decides. */
export function readDpsSignature(
  reading: XmlDocumentReading,
  trust: Trust,
  at: number,
  profile: SignedProfile = DPS_PROFILE,
): DpsSignature {
  const signature = checkSignature(reading, profile);
  const { faults, certificate } = signature;
  const prestador = documentOfPrest(reading.root);
  if (certificate === undefined) return { ...signature, prestador };
  const question = { documento: prestador, parte: 'prestador', trust, at, xpath: CERTIFICATE_XPATH };
  return { ...signature, prestador, faults: [...faults, ...signerFaults(certificate, question, XML_CODES)] };
}

/** The CNPJ or CPF of the provider as written, before the layout is judged. */
function documentOfPrest(root: Elemento): string | undefined {
  const prest = root.name === 'DPS' ? childOf(childOf(root, 'infDPS'), 'prest') : undefined;
  return (childOf(prest, 'CNPJ') ?? childOf(prest, 'CPF'))?.text.trim();
}

/** D-24: the CNPJ or CPF that a JSON body names as its provider, before its content is judged. An event names none. */
export function prestadorIn(body: JsonValue): string | undefined {
  if (body.kind !== 'object') return undefined;
  const named = body.members.find(({ name }) => name === 'prestador_cpf_cnpj')?.value;
  return named?.kind === 'string' ? named.text.replace(/[./\-\s]/g, '').toUpperCase() : undefined;
}

// Texts of the faults of a DPS, and their places in the sent text.

/** E110: only the layouts in `LAYOUTS` are accepted. The reader of the structure judges a root that is no DPS. */
function versionFault(root: Elemento): Fault | undefined {
  if (root.name !== 'DPS' || layoutOf(root) !== undefined) return undefined;
  const versao = attributeOf(root, 'versao');
  const problem =
    versao === undefined
      ? 'A DPS não traz o atributo versao.'
      : `A DPS é do leiaute ${versao}; este endereço emite só o ${VERSOES}.`;
  const renumbered = tributacaoRenumerada(root);
  const advice = renumbered === undefined ? '' : ` Antes de mudar versao, decida: ${renumbered}`;
  return {
    codigo: 'E110',
    xpath: '/DPS/@versao',
    mensagem: `${problem} Envie o leiaute ${DPS_VERSAO} completo, com versao="${DPS_VERSAO}".${advice}`,
    ...(versao === undefined ? {} : { encontrado: versao }),
    esperado: DPS_VERSAO,
    // The correction is left out if changing the version alone would give the same number another meaning.
    ...(renumbered === undefined ? { correcao: `versao="${DPS_VERSAO}"` } : {}),
  };
}

/** Both meanings of `tribISSQN` in a DPS of another layout, if it has two. */
export function tributacaoRenumerada(root: Elemento): string | undefined {
  let at: Elemento | undefined = root;
  for (const name of ['infDPS', 'valores', 'trib', 'tribMun', 'tribISSQN']) {
    at = at?.children.find((child) => child.name === name);
  }
  return at && describeTribIssqn100(at.text.trim());
}

/** The same faults with line and column of their element, or of the parent of a missing one. */
export function placeFaults<Told extends Fault | Aviso>(
  faults: readonly Told[],
  reading: XmlDocumentReading,
): readonly Told[] {
  return faults.map((fault) =>
    !fault.xpath.startsWith('/DPS')
      ? fault
      : { ...fault, ...reading.positionOf(locate(reading.root, fault.xpath, isSpellingOf)) },
  );
}

/** Whether a body is JSON, since no XML begins with a brace. */
export function isJson(body: Uint8Array): boolean {
  for (const byte of body) {
    if (byte === BRACE) return true;
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return false;
  }
  return false;
}

const BRACE = 0x7b;
