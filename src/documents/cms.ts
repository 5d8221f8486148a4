/**
 * The signature of a JSON request: a detached CMS SignedData (RFC 5652) in Base64, in a header, over the exact bytes of the body. This
 * module verifies one and makes one. `signer-faults.ts` judges the holder, the validity and the issuers of the certificate. Its
 * authenticity depends on that judgement, because a CMS does not sign the certificate inside.
 *
 * The specification names no algorithm for CMS. RSA PKCS#1 v1.5 with SHA-256, SHA-384 or SHA-512 is accepted, the output of an A1
 * certificate. SHA-1, MD5, RSA-PSS and elliptic curves are refused. "Detached" is strict: a CMS that contains the body is refused even with
 * equal content, because a larger body would exceed the header. Revocation lists and unsigned attributes in the CMS must have their type,
 * and are then ignored; nothing is fetched.
 */
import { constants, hash, verify } from 'node:crypto';
import { describeFault, type Fault, type FaultText, quoted } from '../fiscal/fault.ts';
import { CMS_DIGESTS, CMS_SIGNATURES, type Digest, OID_NAMES, SHA1, SHA256, WEAK } from './algorithms.ts';
import {
  type Asn1,
  Asn1Error,
  der,
  isContext,
  isUniversal,
  octetsOf,
  oidOf,
  readAsn1,
  requireValue,
  TAG,
  tryAsn1,
} from './asn1.ts';
import { type Certificate, fieldsAfterVersion, readCertificate } from './certificate.ts';
import { describeBytes, describeText } from './cms-confusions.ts';
import { attributesFault, certificatesFault, listsFault } from './cms-members.ts';
import { nearMissOfBody, signedDigestOf } from './cms-near-misses.ts';
import { CMS_OID, EXTENSION } from './oids.ts';

/** A chain of five certificates; the server's own limit for headers is usually below. */
const HEADER_CHARACTERS_MAX = 65_536;

const CHANGED = describeFault(
  'O corpo mudou depois de assinado:',
  'assine os bytes que vão na requisição, e não serialize o JSON de novo.',
);
const REQUIRED = 'RSA PKCS#1 v1.5 com SHA-256 (ou SHA-384, SHA-512)';
const SIGN_WITH_REQUIRED = `Assine com ${REQUIRED}.`;

export type CmsReading = {
  /** E9002 or E9003; empty when the key of `certificate` signed exactly these bytes. */
  readonly faults: readonly Fault[];
  /** The signer's certificate, as soon as it is known, so that its faults can be reported as well. */
  readonly certificate: Certificate | undefined;
  /** The other certificates in the CMS. */
  readonly extra: readonly Certificate[];
};

type Beside = Omit<Fault, 'codigo' | 'xpath' | 'mensagem'>;

/** Thrown for a failed signature, with the fault for its sender. */
class Refused extends Error {
  readonly fault: Beside;

  constructor(said: string | FaultText, beside: Beside = {}) {
    const { mensagem, ...change } = typeof said === 'string' ? { mensagem: said } : said;
    super(mensagem);
    this.fault = { ...change, ...beside };
  }
}

/** The refusal of the found content, with its remedy. */
function refusal(found: string, change: string, beside?: Beside): Refused {
  return new Refused(describeFault(found, change), beside);
}

/** Verifies the value of a header (`campo` is its name) against the body as received. It never throws for input from outside. */
export function verifyCms(header: string | undefined, body: Uint8Array, campo: string): CmsReading {
  if (header === undefined || header.trim() === '') {
    const what = header === undefined ? `Falta o cabeçalho ${campo}` : `O cabeçalho ${campo} está vazio`;
    const change =
      'Assine os bytes do corpo em CMS destacado (PKCS#7), com o certificado dentro, e envie o DER em Base64';
    const said = { mensagem: `${what}. ${change} nesse cabeçalho.`, change: `${change} no cabeçalho ${campo}.` };
    return { faults: [{ codigo: 'E9002', xpath: '', ...said }], certificate: undefined, extra: [] };
  }
  let signer: Pick<CmsReading, 'certificate' | 'extra'> = { certificate: undefined, extra: [] };
  try {
    const cms = readCms(fromBase64(header));
    const found = signerOf(cms);
    signer = found;
    checkValue(cms, found.certificate, body);
    return { faults: [], ...signer };
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Asn1Error)) throw error;
    const { message, fault } =
      error instanceof Refused
        ? error
        : new Refused('O CMS está corrompido ou incompleto: a sua estrutura ASN.1 não se lê até o fim.');
    const mensagem = `Cabeçalho ${campo}: ${message}`;
    return { faults: [{ codigo: 'E9003', xpath: '', mensagem, ...fault }], ...signer };
  }
}

/** The bytes of canonical Base64. White space is skipped: most encoders write line breaks. */
function fromBase64(header: string): Buffer {
  if (header.length > HEADER_CHARACTERS_MAX) {
    const found = `tem ${header.length} caracteres, e o limite é ${HEADER_CHARACTERS_MAX}.`;
    throw refusal(found, 'Envie o CMS destacado, sem o corpo dentro.');
  }
  const text = header.replace(/[ \t\r\n]+/g, '');
  const bytes = Buffer.from(text, 'base64');
  const isCanonical = bytes.toString('base64') === text;
  // A SEQUENCE of more than 128 bytes begins with MI; any other text may be one of the confusions.
  const isPlain = isCanonical ? text.startsWith('MI') : /^MI[A-Za-z0-9+/]*={0,2}$/.test(text);
  if (!isPlain) checkText(header, text);
  if (!isCanonical) {
    const why =
      text.length % 4 === 0
        ? 'os últimos bits não são zero, como deixa um texto cortado ou alterado'
        : `são ${text.length} caracteres, e devem ser múltiplo de 4: falta o = do fim, ou o texto foi cortado`;
    throw refusal(`o Base64 não está na forma canônica: ${why}.`, 'Codifique o DER do CMS de novo.');
  }
  return bytes;
}

/** Refuses a text that cannot be the Base64 of a CMS. */
function checkText(header: string, text: string): void {
  const seems = describeText(header);
  if (seems !== undefined) throw new Refused(seems);
  const strange = /[^A-Za-z0-9+/= \t\r\n]/.exec(header);
  if (strange !== null) {
    const point = header.codePointAt(strange.index)!;
    const shown = `${JSON.stringify(String.fromCodePoint(point))} (U+${point.toString(16).toUpperCase().padStart(4, '0')})`;
    const change = 'Envie o DER do CMS no alfabeto A-Z a-z 0-9 + /, com = no fim quando preciso.';
    const beside = { encontrado: quoted(header) };
    throw refusal(`não é Base64: há ${shown} na posição ${strange.index + 1}.`, change, beside);
  }
  const joint = text.search(/=[^=]/);
  if (joint >= 0) {
    throw refusal(`há = no meio do Base64 (caractere ${joint + 1}), como em dois textos colados.`, 'Envie um só.');
  }
}

type Cms = {
  readonly certificates: readonly Asn1[];
  readonly signer: SignerInfo;
};

type SignerInfo = {
  readonly sid: Asn1;
  readonly digest: Digest;
  readonly attributes: Asn1 | undefined;
  readonly signature: Buffer;
};

/** Reads a CMS and makes every check that needs neither the body nor the certificate. */
function readCms(bytes: Buffer): Cms {
  const value = tryAsn1(() => readAsn1(bytes));
  const seems = describeBytes(bytes, value);
  if (seems !== undefined) throw new Refused(seems);
  const [type, wrapped, ...beyond] = partsOf(value);
  const isWhole = isContext(wrapped, 0) && wrapped.children.length === 1 && beyond.length === 0;
  if (oidOf(type) !== CMS_OID.signedData || !isWhole) throw new Asn1Error('no SignedData');
  const [version, digestAlgorithms, content, ...rest] = partsOf(wrapped.children[0]);
  // 1 is the usual version, that of PKCS#7; 3 to 5 indicate further content (RFC 5652, 5.1).
  if (![1, 3, 4, 5].includes(smallNumber(version))) throw new Refused('a versão do SignedData não é 1, 3, 4 nem 5.');
  const certificates = isContext(rest[0], 0) ? rest.shift()!.children : [];
  // Lists of the sender revoke nothing: ours come from trusted places.
  const lists = isContext(rest[0], 1) ? rest.shift()!.children : [];
  const [signerInfos] = rest;
  if (!isUniversal(signerInfos, TAG.set) || rest.length !== 1) throw new Asn1Error('no signer infos');
  if (signerInfos.children.length !== 1) throw countRefused(signerInfos.children.length);
  checkContent(content);
  const signer = readSignerInfo(signerInfos.children[0]);
  if (!isUniversal(digestAlgorithms, TAG.set)) throw new Asn1Error('no digest algorithms');
  const digests = digestAlgorithms.children.map(algorithmOf);
  const strange = digests.find((oid) => !(oid in CMS_DIGESTS));
  if (strange !== undefined) throw algorithmRefused('digestAlgorithms traz', strange);
  if (!digests.some((oid) => CMS_DIGESTS[oid] === signer.digest)) {
    throw new Refused(`digestAlgorithms não traz ${signer.digest.shown}, que o SignerInfo usa.`);
  }
  refuseWhere(certificatesFault(certificates), listsFault(lists));
  return { certificates, signer };
}

function refuseWhere(...faults: readonly (FaultText | string | undefined)[]): void {
  const fault = faults.find((one) => one !== undefined);
  if (fault !== undefined) throw new Refused(fault);
}

function countRefused(signers: number): Refused {
  const none = 'o CMS não traz assinatura nenhuma (nenhum SignerInfo), só certificados, como um .p7b.';
  if (signers === 0) return refusal(none, 'Assine o corpo.');
  return new Refused(
    `o CMS traz ${signers} assinaturas (SignerInfo), e deve trazer uma só: a de quem responde pelo documento.`,
  );
}

/** Checks the EncapsulatedContentInfo: its type is data, and the content is absent. */
function checkContent(info: Asn1 | undefined): void {
  const [type, content] = partsOf(info);
  const oid = oidOf(type);
  if (oid !== CMS_OID.data) {
    throw new Refused('o tipo de conteúdo do CMS não é id-data.', { encontrado: oid, esperado: CMS_OID.data });
  }
  if (content !== undefined) {
    throw refusal(
      'a assinatura traz o conteúdo dentro do CMS, e deve ser destacada: o conteúdo é o corpo da requisição.',
      'Assine em modo destacado (no OpenSSL, sem -nodetach e sem -stream; em bibliotecas, detached: true).',
    );
  }
}

function readSignerInfo(info: Asn1 | undefined): SignerInfo {
  const [version, sid, digestAlgorithm, ...rest] = partsOf(info);
  const isByKeyId = isContext(sid, 0);
  const isByIssuer = isUniversal(sid, TAG.sequence) && sid.children.length === 2;
  if (!isByKeyId && !isByIssuer) throw new Asn1Error('nobody is named');
  if (smallNumber(version) !== (isByKeyId ? 3 : 1)) throw new Refused('a versão do SignerInfo não é a da forma dele.');
  const attributes = isContext(rest[0], 0) ? rest.shift() : undefined;
  const [signatureAlgorithm, signature, unsigned, ...more] = rest;
  const isWhole = (unsigned === undefined || isContext(unsigned, 1)) && more.length === 0;
  if (!isUniversal(signature, TAG.octetString) || !isWhole) throw new Asn1Error('no signature value');
  refuseWhere(attributesFault('assinados', attributes), attributesFault('não assinados', unsigned));
  const digestOid = algorithmOf(digestAlgorithm);
  const digest = CMS_DIGESTS[digestOid];
  if (digest === undefined) throw algorithmRefused('o resumo é', digestOid);
  const signatureOid = algorithmOf(signatureAlgorithm);
  if (!(signatureOid in CMS_SIGNATURES)) throw algorithmRefused('o algoritmo de assinatura é', signatureOid);
  const named = CMS_SIGNATURES[signatureOid];
  if (named != null && named !== digest) {
    throw new Refused(`o algoritmo de assinatura é para ${named.shown}, e o resumo é ${digest.shown}.`);
  }
  return { sid: requireValue(sid), digest, attributes, signature: octetsOf(signature) };
}

function algorithmRefused(what: string, oid: string): Refused {
  const known = OID_NAMES[oid];
  const name = known ?? `desconhecido (OID ${oid})`;
  const isForged = known !== undefined && WEAK[oid] !== undefined;
  const why = isForged ? ', que já se falsifica e não é aceito' : ', que não é aceito';
  return refusal(`${what} ${name}${why}.`, SIGN_WITH_REQUIRED, { encontrado: name, esperado: REQUIRED });
}

/** Parameters of these algorithms are NULL or absent; anything else would be an ignored instruction. */
function algorithmOf(value: Asn1 | undefined): string {
  const [oid, parameters, ...more] = partsOf(value);
  const name = oidOf(oid);
  const isPlain = parameters === undefined || (isUniversal(parameters, TAG.null) && parameters.raw.length === 2);
  if ((!isPlain || more.length > 0) && (name in CMS_DIGESTS || name in CMS_SIGNATURES)) {
    throw new Asn1Error('parameters where there are none');
  }
  return name;
}

function smallNumber(value: Asn1 | undefined): number {
  return isUniversal(value, TAG.integer) && value.content.length === 1 ? value.content[0]! : Number.NaN;
}

/** The parts of a SEQUENCE. */
function partsOf(value: Asn1 | undefined): readonly Asn1[] {
  if (!isUniversal(value, TAG.sequence) || !value.isConstructed) throw new Asn1Error('no sequence where there is one');
  return value.children;
}

/** The certificate that the SignerInfo names. Two different matches would leave the signer unknown. */
function signerOf({ certificates, signer }: Cms): { certificate: Certificate; extra: readonly Certificate[] } {
  if (certificates.length === 0) {
    throw new Refused(
      'o CMS não traz o certificado de quem assinou. Inclua-o ao assinar (no OpenSSL, sem -nocerts; em bibliotecas, com o certificado do signatário na lista).',
    );
  }
  const own = certificates.filter((one) => isNamed(one, signer.sid));
  const different = own.filter((one) => !one.raw.equals(own[0]!.raw));
  if (own.length === 0) {
    const problem = certificates.map(({ raw }) => readCertificate(raw)).find((one) => 'problem' in one)?.problem;
    if (problem !== undefined)
      throw refusal(
        `nenhum dos certificados do CMS é o de quem assinou, e um não serve. ${problem}`,
        'Inclua o do signatário, como foi emitido.',
      );
    const many = certificates.length === 1 ? 'O que veio é' : `Os ${certificates.length} que vieram são`;
    const how = isContext(signer.sid, 0) ? 'pelo identificador da chave' : 'por emissor e número de série';
    throw refusal(
      `o CMS não traz o certificado de quem assinou: o SignerInfo o nomeia ${how}, e nenhum dos certificados confere. ${many} de outro titular ou da autoridade;`,
      'inclua o do signatário.',
    );
  }
  if (different.length > 0) {
    throw refusal('o CMS traz mais de um certificado que cabe em quem assinou.', 'Deixe só o do signatário.');
  }
  const certificate = readCertificate(own[0]!.raw);
  if ('problem' in certificate) throw new Refused(`o certificado de quem assinou não serve. ${certificate.problem}`);
  return { certificate, extra: certificates.filter((one) => !own.includes(one)).map(companionOf) };
}

/** Reads another certificate in the CMS. */
function companionOf({ raw }: Asn1): Certificate {
  const certificate = readCertificate(raw);
  if (!('problem' in certificate)) return certificate;
  throw refusal(
    `um dos certificados que acompanham o de quem assinou não serve. ${certificate.problem}`,
    'Deixe no CMS só o do signatário e os da cadeia dele.',
  );
}

/** True when a SignerInfo names this certificate. An unreadable one is not the named one. */
function isNamed(certificate: Asn1, sid: Asn1): boolean {
  const names = (): boolean => {
    const fields = fieldsAfterVersion(certificate);
    if (sid.class === 2) return keyIdOf(fields)?.equals(octetsOf(sid)) === true;
    const [issuer, serial] = sid.children.map(({ raw }) => raw);
    const [ownSerial, , ownIssuer] = fields;
    return requireValue(ownSerial).raw.equals(serial!) && requireValue(ownIssuer).raw.equals(issuer!);
  };
  return tryAsn1(names) === true;
}

function keyIdOf(fields: readonly Asn1[]): Buffer | undefined {
  const extensions = fields.find((field) => isContext(field, 3))?.children[0]?.children ?? [];
  const found = extensions.find((one) => oidOf(one.children[0]) === EXTENSION.subjectKeyId)?.children.at(-1);
  return found === undefined ? undefined : octetsOf(readAsn1(octetsOf(found)));
}

/** Refuses a signature that the key of the certificate did not make over these bytes. */
function checkValue({ signer }: Cms, certificate: Certificate, body: Uint8Array): void {
  const { digest, attributes, signature } = signer;
  if (certificate.publicKey.asymmetricKeyType !== 'rsa') {
    const encontrado = certificate.publicKey.asymmetricKeyType ?? 'desconhecida';
    throw refusal('a chave do certificado não é RSA.', SIGN_WITH_REQUIRED, { encontrado, esperado: 'rsa' });
  }
  const key = { key: certificate.publicKey, padding: constants.RSA_PKCS1_PADDING };
  if (attributes === undefined) {
    if (!verify(digest.name, body, key, signature)) throw valueRefused(signer, certificate, body, body);
    return;
  }
  const declared = checkAttributes(attributes, certificate);
  const computed = hash(digest.name, body, 'buffer');
  if (!declared.equals(computed)) throw digestRefused(digest, declared, computed, body);
  const message = signedForm(attributes);
  if (!verify(digest.name, message, key, signature)) throw valueRefused(signer, certificate, body, message);
}

/** RFC 5652, 5.4: the signed form of the attributes is a SET in DER, not the transmitted tag. */
export function signedForm(attributes: Asn1): Buffer {
  const form = der.octetString(attributes.content);
  form[0] = 0x31;
  return form;
}

/** Checks the signed attributes and returns the digest that they declare. `cms-members.ts` has refused repeated ones. */
function checkAttributes(attributes: Asn1, certificate: Certificate): Buffer {
  const found = new Map(attributes.children.map(({ children: [name, values] }) => [oidOf(name), values!.children[0]]));
  const required = (oid: string, name: string): Asn1 => {
    const value = found.get(oid);
    if (value === undefined)
      throw new Refused(`falta o atributo assinado ${name}, que é obrigatório onde há atributos.`);
    return value;
  };
  const contentType = oidOf(required(CMS_OID.contentType, 'contentType'));
  if (contentType !== CMS_OID.data) {
    throw new Refused('o atributo assinado contentType não é id-data.', {
      encontrado: contentType,
      esperado: CMS_OID.data,
    });
  }
  for (const [name, unnamed] of SIGNING_CERTIFICATES) {
    const value = found.get(CMS_OID[name]);
    if (value !== undefined) checkSigningCertificate(name, value, certificate, unnamed);
  }
  const digest = required(CMS_OID.messageDigest, 'messageDigest');
  if (!isUniversal(digest, TAG.octetString)) throw new Asn1Error('no digest');
  return octetsOf(digest);
}

/** The attributes that bind a signature to a certificate, with the digest used when none is named: the older attribute knows no other. */
const SIGNING_CERTIFICATES = [
  ['signingCertificate', SHA1],
  ['signingCertificateV2', SHA256],
] as const;

/** RFC 5035: the signer's certificate, named by its digest. */
function checkSigningCertificate(name: string, value: Asn1, certificate: Certificate, unnamed: Digest): void {
  const [first, ...rest] = requireValue(value.children[0]?.children[0]).children;
  const isNamed = isUniversal(first, TAG.sequence);
  const digest = isNamed ? CMS_DIGESTS[oidOf(first.children[0])] : unnamed;
  const declared = isNamed ? rest[0] : first;
  if (digest === undefined || !isUniversal(declared, TAG.octetString)) {
    throw new Refused(`o atributo assinado ${name} usa um resumo que não é SHA-256, SHA-384 nem SHA-512.`);
  }
  const own =
    digest === SHA256 ? Buffer.from(certificate.fingerprint, 'hex') : hash(digest.name, certificate.der, 'buffer');
  if (!octetsOf(declared).equals(own)) {
    throw refusal(
      `o atributo assinado ${name} é de outro certificado que o do signatário.`,
      'Assine de novo com o certificado certo.',
    );
  }
}

function digestRefused(digest: Digest, declared: Buffer, computed: Buffer, body: Uint8Array): Refused {
  const habit = nearMissOfBody(body, (bytes) => hash(digest.name, bytes, 'buffer').equals(declared));
  const sized = `O resumo declarado tem ${declared.length} bytes, e um de ${digest.shown} tem ${computed.length}.`;
  const why = habit ?? (declared.length === computed.length ? CHANGED : { mensagem: sized });
  const found = `o resumo ${digest.shown} que a assinatura declara não é o do corpo recebido.`;
  return explainedRefusal(found, why, { encontrado: declared.toString('hex'), esperado: computed.toString('hex') });
}

/** The refusal of the found content, with its explanation. */
function explainedRefusal(found: string, why: FaultText, beside: Beside): Refused {
  return new Refused({ ...why, mensagem: `${found} ${why.mensagem}` }, beside);
}

/** `message` is the content that should be signed: the attributes, or the body itself. */
function valueRefused(
  { digest, attributes, signature }: SignerInfo,
  certificate: Certificate,
  body: Uint8Array,
  message: Uint8Array,
): Refused {
  const signed = signedDigestOf(certificate.publicKey, signature);
  if (signed === undefined) {
    return refusal(
      'o valor da assinatura não foi feito pela chave do certificado que veio no CMS: é de outra chave, ou foi alterado.',
      'Assine com a chave que é par desse certificado.',
    );
  }
  if (CMS_DIGESTS[signed.algorithm ?? ''] !== digest) {
    const made = signed.algorithm === undefined ? 'sobre bytes sem o nome do resumo (DigestInfo)' : 'com outro resumo';
    const found = OID_NAMES[signed.algorithm ?? ''] ?? CMS_DIGESTS[signed.algorithm ?? '']?.shown;
    const beside = { ...(found === undefined ? {} : { encontrado: found }), esperado: digest.shown };
    const what = `o valor da assinatura foi feito ${made}, e o SignerInfo diz ${digest.shown}.`;
    return refusal(what, SIGN_WITH_REQUIRED, beside);
  }
  const isDigestOf = (bytes: Uint8Array): boolean => hash(digest.name, bytes, 'buffer').equals(signed.digest);
  const found = { encontrado: signed.digest.toString('hex'), esperado: hash(digest.name, message, 'hex') };
  if (attributes === undefined) {
    const why = nearMissOfBody(body, isDigestOf) ?? CHANGED;
    return explainedRefusal(`o resumo ${digest.shown} assinado não é o do corpo recebido.`, why, found);
  }
  const instead = isDigestOf(body)
    ? 'Foi assinado o corpo, e com atributos assinados o que se assina é a codificação deles.'
    : isDigestOf(attributes.raw)
      ? 'Foram assinados com a marca [0] do SignerInfo (A0), e se assinam como SET (31).'
      : isDigestOf(der.set(...attributes.children.map(({ raw }) => raw)))
        ? 'Foram assinados na ordem do DER e enviados em outra; envie-os como foram assinados.'
        : 'Algum atributo mudou depois da assinatura.';
  return new Refused(`o que foi assinado não são os atributos assinados que vieram no CMS. ${instead}`, found);
}
