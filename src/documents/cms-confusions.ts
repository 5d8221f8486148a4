/**
 * Recognises what a header carries in place of a CMS: a private key, PEM, XML, a digest. Each is named, with what to send
 * instead. Undefined: not recognised, and `cms.ts` reads it as a CMS.
 */
import { describeFault, type FaultText } from '../fiscal/fault.ts';
import { DIGESTS_BY_BYTES } from './algorithms.ts';
import { type Asn1, isUniversal, oidOf, TAG } from './asn1.ts';
import { CMS_OID, OTHER_CONTENTS } from './oids.ts';

/** Lengths of an RSA signature value without a CMS. */
const RSA_BYTES = [128, 256, 384, 512];

const WANTED = 'Envie um CMS SignedData destacado (PKCS#7, DER em Base64)';
/** What to send, after what came instead. */
function askForCms(came: string, detail = ''): FaultText {
  return describeFault(came, `${WANTED}${detail}.`);
}

function warnOfKey(came: string): FaultText {
  return describeFault(
    `${came} Não envie a chave a ninguém: quem a recebe pode assinar em seu nome. Considere revogar o certificado, e`,
    'envie só a assinatura (CMS destacado).',
  );
}

export const whatItSeems = {
  /** The text of the header, before it is decoded. */
  asText(header: string): FaultText | undefined {
    const text = header.trim();
    if (/^-----BEGIN [^-]*PRIVATE KEY/.test(text)) return warnOfKey('traz uma chave privada.');
    if (text.startsWith('-----BEGIN')) {
      return describeFault('está em PEM.', 'Envie só o Base64 que fica entre as linhas BEGIN e END, sem elas.');
    }
    if (text.startsWith('<')) return askForCms('traz XML, como uma assinatura XML.');
    if (/^eyJ[\w-]*\.[\w-]*\.[\w-]*$/.test(text)) return askForCms('traz um JWS (JWT), e não um CMS.');
    if (text.startsWith('{')) return askForCms('traz JSON.', '; o corpo vai no corpo da requisição');
    if (/^(undefined|null|None|\[object \w+\])$/.test(text)) {
      return { mensagem: `traz o texto ${text}: a assinatura não foi preenchida pelo programa que envia.` };
    }
    if (/^(["']).*\1$/.test(text)) return { mensagem: 'vem entre aspas. Retire-as e envie só o Base64.' };
    if (text.startsWith('data:'))
      return describeFault('começa com data:, como um endereço.', 'Envie só o Base64 que vem depois da vírgula.');
    if (text.includes('\\n') || text.includes('\\r')) {
      return { mensagem: 'traz quebras de linha escritas como \\n ou \\r. Retire-as: o Base64 vai numa linha só.' };
    }
    if (/%(2B|2F|3D)/i.test(text))
      return describeFault('está codificado como endereço (%2B, %2F, %3D).', 'Envie o Base64 sem essa codificação.');
    if (/^[\w=-]+$/.test(text) && /[-_]/.test(text)) {
      return {
        mensagem:
          'usa o alfabeto Base64 de endereços (- e _). Use o alfabeto comum: + no lugar de - e / no lugar de _.',
      };
    }
    if (/^30[0-9a-f]+$/i.test(text) && text.length % 2 === 0) {
      return describeFault('está em hexadecimal.', 'Codifique o DER do CMS em Base64.');
    }
    return undefined;
  },

  /** The bytes that the Base64 stands for; `value` is undefined when they are no ASN.1. */
  asBytes(bytes: Buffer, value: Asn1 | undefined): FaultText | undefined {
    // One digest in five hundred is ASN.1 by chance; none has the structure of a known confusion.
    if (value !== undefined) return isKnownLength(bytes) && !value.isConstructed ? notAsn1(bytes) : asValue(value);
    const start = bytes.subarray(0, 200).toString('latin1').trimStart();
    // One RSA value in two hundred begins with the byte of `<`, `[` or `{`: a text is readable, and not in its first letter alone.
    if (!/^[ -~\s]{8}[\t\n\r -~\x80-\xff]*$/.test(start)) return notAsn1(bytes);
    if (/^-----BEGIN [^-]*PRIVATE KEY/.test(start)) return warnOfKey('traz uma chave privada.');
    if (start.startsWith('-----BEGIN')) {
      return describeFault('é o Base64 de um texto PEM. O PEM já é Base64:', 'envie só o que fica entre as linhas.');
    }
    if (start.startsWith('<')) return askForCms('é o Base64 de um XML.');
    if (/^[[{]/.test(start))
      return askForCms('é o Base64 de um JSON, talvez do próprio corpo.', ' sobre os bytes do corpo');
    if (/^MI[A-Za-z0-9+/]{8}/.test(start))
      return describeFault('está em Base64 duas vezes.', 'Codifique o DER do CMS uma vez só.');
    return notAsn1(bytes);
  },
} as const;

function isKnownLength({ length }: Buffer): boolean {
  return RSA_BYTES.includes(length) || DIGESTS_BY_BYTES.has(length);
}

function notAsn1(bytes: Buffer): FaultText | undefined {
  const { length } = bytes;
  if (RSA_BYTES.includes(length)) {
    return askForCms(
      `tem ${length} bytes, como o valor de uma assinatura RSA sem o CMS em volta.`,
      ', com o certificado dentro',
    );
  }
  const digest = DIGESTS_BY_BYTES.get(length);
  if (digest !== undefined)
    return askForCms(`tem ${length} bytes, como um resumo ${digest.shown} e não uma assinatura.`);
  // Bytes that begin like a CMS: reading them as one tells more.
  return bytes[0] === 0x30 && length > 64 ? undefined : askForCms('não é um CMS: os bytes não são ASN.1.');
}

function asValue(value: Asn1): FaultText | undefined {
  const [first, second, third] = value.children;
  if (!isUniversal(value, TAG.sequence) || first?.class !== 0) return askForCms('não é um CMS.');
  switch (first.tag) {
    case TAG.oid:
      return asContentInfo(oidOf(first));
    case TAG.sequence:
      return isUniversal(second, TAG.octetString)
        ? askForCms('traz só um resumo (DigestInfo).')
        : askForCms('traz só um certificado, sem assinatura.', ', com o certificado dentro dele');
    case TAG.integer:
      return asNumbered(first, second, third);
    default:
      return askForCms('não é um CMS.');
  }
}

function asContentInfo(oid: string): FaultText | undefined {
  if (oid === CMS_OID.signedData) return undefined;
  const what = OTHER_CONTENTS[oid] ?? `conteúdo de outro tipo (OID ${oid})`;
  return askForCms(`é um CMS que traz ${what}, e não uma assinatura (signedData).`);
}

/** Structures that begin with a number: a version, or half of a signature. */
function asNumbered(first: Asn1, second: Asn1 | undefined, third: Asn1 | undefined): FaultText {
  switch (second?.tag) {
    case TAG.set:
      return {
        mensagem: `é um SignedData sem o ContentInfo em volta. Ponha-o em SEQUENCE { OID ${CMS_OID.signedData}, [0] SignedData }, como fazem as bibliotecas ao gravar o CMS inteiro.`,
      };
    case TAG.integer:
      return third === undefined
        ? askForCms('é uma assinatura ECDSA ou DSA sem CMS.', ', com RSA')
        : warnOfKey('traz uma chave privada.');
    case TAG.sequence:
      return warnOfKey(
        `traz ${first.content[0] === 3 ? 'um PKCS#12, com a chave privada dentro' : 'uma chave privada'}.`,
      );
    default:
      return askForCms('não é um CMS.');
  }
}
