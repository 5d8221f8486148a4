/**
 * Recognises other content in place of a CMS: a private key, PEM, XML, a digest. Each is named, with the content to send instead.
 * Undefined: not recognised, and `cms.ts` reads it as a CMS.
 */
import { describeFault, type FaultText } from '../fiscal/fault.ts';
import { DIGESTS_BY_BYTES } from './algorithms.ts';
import { type Asn1, isUniversal, oidOf, TAG } from './asn1.ts';
import { CMS_OID, OTHER_CONTENTS } from './oids.ts';

/** Lengths of an RSA signature value without a CMS. */
const RSA_BYTES = [128, 256, 384, 512];

/** The remedy that asks for a CMS. */
function askForCms(detail = ''): string {
  return `Envie um CMS SignedData destacado (PKCS#7, DER em Base64)${detail}.`;
}

function describeOther(came: string, detail?: string): FaultText {
  return describeFault(came, askForCms(detail));
}

const KEEP_KEY =
  'Não envie a chave a ninguém: quem a recebe pode assinar em seu nome. Considere revogar o certificado, e';
const SIGNATURE_ALONE = 'envie só a assinatura (CMS destacado).';

/** Patterns in their order, the first match counts: the received content, and the content to send instead. */
type Confusions = readonly (readonly [pattern: RegExp, came: string, instead?: string])[];

const TEXTS: Confusions = [
  [/^-----BEGIN [^-]*PRIVATE KEY/, `traz uma chave privada. ${KEEP_KEY}`, SIGNATURE_ALONE],
  [/^-----BEGIN/, 'está em PEM.', 'Envie só o Base64 que fica entre as linhas BEGIN e END, sem elas.'],
  [/^</, 'traz XML, como uma assinatura XML.', askForCms()],
  [/^eyJ[\w-]*\.[\w-]*\.[\w-]*$/, 'traz um JWS (JWT), e não um CMS.', askForCms()],
  [/^\{/, 'traz JSON.', askForCms('; o corpo vai no corpo da requisição')],
  [/^(["']).*\1$/, 'vem entre aspas. Retire-as e envie só o Base64.'],
  [/^data:/, 'começa com data:, como um endereço.', 'Envie só o Base64 que vem depois da vírgula.'],
  [/\\n|\\r/, 'traz quebras de linha escritas como \\n ou \\r. Retire-as: o Base64 vai numa linha só.'],
  [/%(2B|2F|3D)/i, 'está codificado como endereço (%2B, %2F, %3D).', 'Envie o Base64 sem essa codificação.'],
  [
    /^(?=.*[-_])[\w=-]+$/,
    'usa o alfabeto Base64 de endereços (- e _). Use o alfabeto comum: + no lugar de - e / no lugar de _.',
  ],
  [/^30(?:[0-9a-f]{2})+$/i, 'está em hexadecimal.', 'Codifique o DER do CMS em Base64.'],
];

const READABLE_BYTES: Confusions = [
  [/^-----BEGIN [^-]*PRIVATE KEY/, `traz uma chave privada. ${KEEP_KEY}`, SIGNATURE_ALONE],
  [/^-----BEGIN/, 'é o Base64 de um texto PEM. O PEM já é Base64:', 'envie só o que fica entre as linhas.'],
  [/^</, 'é o Base64 de um XML.', askForCms()],
  [/^[[{]/, 'é o Base64 de um JSON, talvez do próprio corpo.', askForCms(' sobre os bytes do corpo')],
  [/^MI[A-Za-z0-9+/]{8}/, 'está em Base64 duas vezes.', 'Codifique o DER do CMS uma vez só.'],
];

function findConfusion(confusions: Confusions, text: string): FaultText | undefined {
  const [, came = '', instead] = confusions.find(([pattern]) => pattern.test(text)) ?? [];
  if (came === '') return undefined;
  return instead === undefined ? { mensagem: came } : describeFault(came, instead);
}

/** Names the text of a header that is no Base64 of a CMS. */
export function describeText(header: string): FaultText | undefined {
  const text = header.trim();
  if (/^(undefined|null|None|\[object \w+\])$/.test(text)) {
    return { mensagem: `traz o texto ${text}: a assinatura não foi preenchida pelo programa que envia.` };
  }
  return findConfusion(TEXTS, text);
}

/** Names the bytes under the Base64 that are no CMS; `value` is undefined when they are no ASN.1. */
export function describeBytes(bytes: Buffer, value: Asn1 | undefined): FaultText | undefined {
  // One digest in five hundred is ASN.1 by chance; none has the structure of a known confusion.
  if (value !== undefined)
    return isKnownLength(bytes) && !value.isConstructed ? describeUnreadable(bytes) : describeValue(value);
  const start = bytes.subarray(0, 200).toString('latin1').trimStart();
  // One RSA value in two hundred begins with the byte of `<`, `[` or `{`: a text is readable beyond its first letter.
  const isReadable = /^[ -~\s]{8}[\t\n\r -~\x80-\xff]*$/.test(start);
  return (isReadable ? findConfusion(READABLE_BYTES, start) : undefined) ?? describeUnreadable(bytes);
}

function isKnownLength({ length }: Buffer): boolean {
  return RSA_BYTES.includes(length) || DIGESTS_BY_BYTES.has(length);
}

function describeUnreadable(bytes: Buffer): FaultText | undefined {
  const { length } = bytes;
  if (RSA_BYTES.includes(length)) {
    return describeOther(
      `tem ${length} bytes, como o valor de uma assinatura RSA sem o CMS em volta.`,
      ', com o certificado dentro',
    );
  }
  const digest = DIGESTS_BY_BYTES.get(length);
  if (digest !== undefined)
    return describeOther(`tem ${length} bytes, como um resumo ${digest.shown} e não uma assinatura.`);
  // Bytes that begin like a CMS: the CMS reader gives a better message.
  return bytes[0] === 0x30 && length > 64 ? undefined : describeOther('não é um CMS: os bytes não são ASN.1.');
}

function describeValue(value: Asn1): FaultText | undefined {
  const [first, second, third] = value.children;
  if (!isUniversal(value, TAG.sequence) || first?.class !== 0) return describeOther('não é um CMS.');
  switch (first.tag) {
    case TAG.oid: {
      const oid = oidOf(first);
      const what = OTHER_CONTENTS[oid] ?? `conteúdo de outro tipo (OID ${oid})`;
      if (oid === CMS_OID.signedData) return undefined;
      return describeOther(`é um CMS que traz ${what}, e não uma assinatura (signedData).`);
    }
    case TAG.sequence:
      return isUniversal(second, TAG.octetString)
        ? describeOther('traz só um resumo (DigestInfo).')
        : describeOther('traz só um certificado, sem assinatura.', ', com o certificado dentro dele');
    case TAG.integer:
      return describeNumbered(first, second, third);
    default:
      return describeOther('não é um CMS.');
  }
}

/** Structures that begin with a number: a version, or half of a signature. */
function describeNumbered(first: Asn1, second: Asn1 | undefined, third: Asn1 | undefined): FaultText {
  switch (second?.tag) {
    case TAG.set:
      return {
        mensagem: `é um SignedData sem o ContentInfo em volta. Ponha-o em SEQUENCE { OID ${CMS_OID.signedData}, [0] SignedData }, como fazem as bibliotecas ao gravar o CMS inteiro.`,
      };
    case TAG.integer:
      return third === undefined
        ? describeOther('é uma assinatura ECDSA ou DSA sem CMS.', ', com RSA')
        : describeKey('uma chave privada');
    case TAG.sequence:
      return describeKey(first.content[0] === 3 ? 'um PKCS#12, com a chave privada dentro' : 'uma chave privada');
    default:
      return describeOther('não é um CMS.');
  }
}

function describeKey(came: string): FaultText {
  return describeFault(`traz ${came}. ${KEEP_KEY}`, SIGNATURE_ALONE);
}
