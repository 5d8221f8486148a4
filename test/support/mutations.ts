/** Mutations of a signed document, or of its signature, and the required verdict on each: a table. */

import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto';
import { companyCertificate } from '../../src/documents/pki.ts';
import {
  type Bent,
  type Chance,
  canonicalByXmlCrypto,
  companyOf,
  DSIG,
  ENCODINGS,
  ENVELOPED,
  EXCLUSIVE,
  INCLUSIVE,
  idOf,
  PROVIDER_CNPJ,
  partyOf,
  RSA_SHA256,
  rsaOfBlock,
  SHA256,
  sha256,
  signatureOver,
  signedBy,
  TRANSFORMS,
  transform,
  withSignature,
  x509,
  yearAround,
} from './signatures.ts';
import {
  changed,
  changedText,
  type Doc,
  documents,
  elementOf,
  endOf,
  NAMESPACE,
  NOW,
  namesake,
  provider,
  putAt,
  root,
  startOf,
} from './signed-documents.ts';

export type Mutation = {
  readonly name: string;
  /** The mutated document, or undefined if the mutation does not apply. */
  readonly make: (doc: Doc, chance: Chance) => string | undefined;
  readonly codes?: readonly string[];
  readonly says: readonly RegExp[];
  /** Whether xmlsec1 refuses it as well; undefined if its profile differs from ours. */
  readonly isForXmlsec?: boolean;
};

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** One letter or digit of the pattern's matches becomes another one. */
function flipped(text: string, { below, pick }: Chance, where: RegExp): string {
  const runs = [...text.matchAll(where)].flatMap((match) => {
    const start = match.index + match[0].lastIndexOf(match[1]!);
    return [...match[1]!.matchAll(/[A-Za-z0-9]/g)].map(({ index }) => start + index);
  });
  const place = runs[below(runs.length)]!;
  return putAt(text, place, pick([...ALPHABET].filter((one) => one !== text[place])), 1);
}
/** Text between tags, without references, CDATA and markup. */
const TEXTS = />([^<>&\]]*[A-Za-z0-9][^<>&\]]*)(?=<)/g;

const DIGEST_DIFFERS = [
  /O resumo de infDPS não confere.* @ \/DPS\/Signature\/SignedInfo\/Reference\/DigestValue \| .+ \| .+/,
];
export const VALUE_DIFFERS = [
  /O valor da assinatura não confere com SignedInfo e o certificado de .* @ \/DPS\/Signature\/SignatureValue/,
];

const bent =
  (how: Bent | ((doc: Doc) => Bent)) =>
  (doc: Doc): string =>
    signedBy(doc.xml, provider, { digested: doc.canonical, ...(typeof how === 'function' ? how(doc) : how) });

const CONTENT: readonly Mutation[] = [
  {
    name: 'a character of the content',
    make: ({ signed }, chance) => changed(signed, 'infDPS', (element) => flipped(element, chance, TEXTS)),
    says: DIGEST_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'an amount',
    make: ({ signed }) => changedText(signed, 'vServ', () => '0.01'),
    says: DIGEST_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'a space between two elements',
    make: ({ signed }, { pick }) =>
      changed(signed, 'infDPS', (element) => {
        const places = [...element.matchAll(/>(?=\s*<)(?!\s*<!)/g)].map(({ index }) => index + 1);
        return putAt(element, pick(places), ' ');
      }),
    says: DIGEST_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'a space in a value',
    make: ({ signed }) => changedText(signed, 'cTribNac', (text) => `${text} `),
    says: DIGEST_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'an element less',
    make: ({ signed }) => changed(signed, 'cNBS', () => ''),
    says: DIGEST_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'an element twice',
    make: ({ signed }) => changed(signed, 'cTribNac', (element) => element + element),
    says: DIGEST_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'an attribute more',
    make: ({ signed }) => changed(signed, 'infDPS', (element) => element.replace(/\sId\s*=/, ' a="1"$&')),
    says: DIGEST_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'another Id',
    make: ({ signed }) => changed(signed, 'infDPS', (element) => element.replace(/(\sId\s*=\s*["']DPS)\d/, '$19')),
    says: [/A Reference aponta #DPS\d+; deve apontar o Id de infDPS: #DPS9\d+/, ...DIGEST_DIFFERS],
    isForXmlsec: true,
  },
  {
    name: 'another namespace of the root',
    make: ({ signed }) => signed.replaceAll(NAMESPACE, 'http://www.sped.fazenda.gov.br/nfce'),
    says: DIGEST_DIFFERS,
  },
  {
    name: 'the same names in another namespace',
    make: ({ signed }) =>
      signed.includes('<infDPS')
        ? signed
            .replace('<infDPS', '<infDPS xmlns="urn:outro"')
            .replace(/(xmlns="urn:outro")([^>]*) xmlns="[^"]*"/, '$1$2')
        : undefined,
    says: DIGEST_DIFFERS,
  },
  {
    name: 'a comment in a value',
    make: ({ signed }, { below }) =>
      changedText(signed, 'vServ', (text) => putAt(text, below(text.length + 1), '<!-- 1 -->')),
    says: [/traz um comentário/],
  },
  {
    name: 'a comment between elements',
    make: ({ signed }) => signed.replace(endOf('tpAmb'), '$&<!---->'),
    says: [/traz um comentário/],
  },
  {
    name: 'a comment before the root',
    make: ({ signed }) => signed.replace(startOf('DPS'), '<!-- feito por mim -->$&'),
    says: [/traz um comentário/],
  },
  {
    name: 'a comment behind the root',
    make: ({ signed }) => `${signed}<!-- fim -->`,
    says: [/traz um comentário/],
  },
  ...['SignedInfo', 'DigestValue', 'SignatureValue', 'X509Certificate', 'KeyInfo'].map(
    (name): Mutation => ({
      name: `a comment in ${name}`,
      make: ({ signed }) =>
        changedText(
          signed,
          name,
          (text) =>
            putAt(text, name === 'SignedInfo' ? 0 : text.length >> 1, name === 'KeyInfo' ? '' : '<!-- x -->') +
            (name === 'KeyInfo' ? '<!-- x -->' : ''),
        ),
      says: [/traz um comentário/],
    }),
  ),
  {
    name: 'a processing instruction in a value',
    make: ({ signed }, { below }) =>
      changedText(signed, 'vServ', (text) => putAt(text, below(text.length + 1), '<?x y?>')),
    says: [/traz uma instrução de processamento/],
    isForXmlsec: true,
  },
  {
    name: 'a processing instruction before the root',
    make: ({ signed }) => signed.replace(startOf('DPS'), '<?xml-stylesheet href="x"?>$&'),
    says: [/traz uma instrução de processamento/],
  },
  {
    name: 'an entity',
    make: ({ signed }) => changedText(signed, 'vServ', () => '&valor;'),
    codes: ['E201'],
    says: [/a entidade &valor; não existe/],
    isForXmlsec: true,
  },
  {
    name: 'an entity with its DTD',
    make: ({ signed }) =>
      changedText(signed, 'vServ', () => '&valor;').replace(
        startOf('DPS'),
        '<!DOCTYPE DPS [<!ENTITY valor "0.01">]>$&',
      ),
    codes: ['E201'],
    says: [/DOCTYPE/],
  },
  {
    name: 'a DTD',
    make: ({ signed }) => signed.replace(startOf('DPS'), '<!DOCTYPE DPS>$&'),
    codes: ['E201'],
    says: [/DOCTYPE/],
  },
  {
    name: 'a DTD that gives an attribute to the signed element',
    make: ({ signed }) =>
      signed.replace(startOf('DPS'), '<!DOCTYPE DPS [<!ATTLIST infDPS ID ID "x" Id ID #IMPLIED>]>$&'),
    codes: ['E201'],
    says: [/DOCTYPE/],
  },
  {
    name: 'an external DTD',
    make: ({ signed }) => signed.replace(startOf('DPS'), '<!DOCTYPE DPS SYSTEM "file:///etc/hostname">$&'),
    codes: ['E201'],
    says: [/DOCTYPE/],
  },
  {
    name: 'a second root',
    make: ({ signed }) => `${signed}<DPS/>`,
    codes: ['E201'],
    says: [/depois do fim/],
  },
  {
    name: 'text beside the signed element',
    make: ({ signed }) => signed.replace(endOf('infDPS'), '$&texto'),
    says: [/texto solto em DPS/],
  },
  {
    name: 'an element beside the signed element',
    make: ({ signed }) => signed.replace(endOf('infDPS'), '$&<extra/>'),
    says: [/O elemento extra está fora do que a assinatura cobre/],
  },
  {
    name: 'an element behind the Signature',
    make: ({ signed }) => signed.replace(endOf('DPS'), '<Extra><infDPS/></Extra>$&'),
    says: [/fora do que a assinatura cobre/, /Há um infDPS em \/DPS\/Extra\/infDPS/],
  },
];

const SIGNED_INFO: readonly Mutation[] = [
  {
    name: 'a character of SignedInfo',
    make: ({ signed }, chance) =>
      changed(signed, 'SignedInfo', (element) =>
        flipped(element, chance, chance.below(2) === 0 ? /="([^"]+)"/g : TEXTS),
      ),
    says: VALUE_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'a space in SignedInfo',
    make: ({ signed }, { pick }) =>
      changed(signed, 'SignedInfo', (element) => {
        const places = [...element.matchAll(/>/g)].map(({ index }) => index + 1).slice(0, -1);
        return putAt(element, pick(places), ' ');
      }),
    says: VALUE_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'a space in a tag of SignedInfo, which is none in the canonical form, and one in a value, which is',
    make: ({ signed }) => changed(signed, 'DigestValue', (element) => element.replace('>', ' >\n')),
    says: VALUE_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'another content with its right digest',
    make: (doc) => {
      const { xml } = doc;
      const other = changedText(xml, 'vServ', () => '0.01');
      const digest = sha256(canonicalByXmlCrypto(other));
      const signature = elementOf('Signature').exec(doc.signed)![0];
      return withSignature(
        other,
        changedText(signature, 'DigestValue', () => digest),
      );
    },
    says: [
      ...VALUE_DIFFERS,
      /com a chave deste certificado foi assinado o SHA-256 \S{44}, e o de SignedInfo é \S{44}\./,
    ],
    isForXmlsec: true,
  },
  {
    name: 'the digest of another document',
    make: (doc, { pick }) => {
      const other = pick(documents.filter((one) => one !== doc));
      return changedText(doc.signed, 'DigestValue', () => sha256(other.canonical));
    },
    says: [...VALUE_DIFFERS, ...DIGEST_DIFFERS],
    isForXmlsec: true,
  },
  {
    name: 'an empty digest',
    make: ({ signed }) => changedText(signed, 'DigestValue', () => ''),
    says: [...VALUE_DIFFERS, /O resumo de infDPS não confere/],
    isForXmlsec: true,
  },
  {
    name: 'a digest cut short',
    make: ({ signed }) => changedText(signed, 'DigestValue', (text) => text.trim().slice(0, 40)),
    says: VALUE_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'the signature of another document',
    make: (doc, { pick }) => {
      const other = pick(documents.filter((one) => one !== doc));
      return withSignature(doc.xml, elementOf('Signature').exec(other.signed)![0]);
    },
    says: [/A Reference aponta #DPS\d+; deve apontar o Id de infDPS: #DPS\d+/, ...DIGEST_DIFFERS],
    isForXmlsec: true,
  },
];

/** The bytes of a value in Base64, changed. */
const changedValue =
  (change: (value: Buffer, doc: Doc) => Buffer) =>
  (doc: Doc): string =>
    changedText(doc.signed, 'SignatureValue', (text) => change(Buffer.from(text, 'base64'), doc).toString('base64'));

const NOT_BASE64 = [/SignatureValue não está em Base64/];
const BITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

const VALUE: readonly Mutation[] = [
  {
    name: 'a character of the value',
    make: ({ signed }, chance) =>
      // The last character has unused bits: they are the subject of another mutation.
      changedText(signed, 'SignatureValue', (text) => {
        const place = chance.below(text.trimEnd().length - 4);
        return putAt(text, place, chance.pick([...BITS].filter((one) => one !== text[place])), 1);
      }),
    says: VALUE_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'one bit of the value',
    make: (doc, { below }) =>
      changedValue((value) => {
        const bit = below(value.length * 8);
        value[bit >> 3]! ^= 1 << (bit & 7);
        return value;
      })(doc),
    says: VALUE_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'the bits of the last character that are not used',
    make: ({ signed }, { below }) =>
      changedText(signed, 'SignatureValue', (text) =>
        text.replace(/(.)==/, (_, last: string) => `${BITS[BITS.indexOf(last) + 1 + below(15)]}==`),
      ),
    says: NOT_BASE64,
  },
  {
    name: 'one = more',
    make: ({ signed }) => changedText(signed, 'SignatureValue', (text) => `${text}=`),
    says: NOT_BASE64,
  },
  {
    name: 'one = less',
    make: ({ signed }) => changedText(signed, 'SignatureValue', (text) => text.replace('==', '=')),
    says: NOT_BASE64,
  },
  {
    name: 'no = at all',
    make: ({ signed }) => changedText(signed, 'SignatureValue', (text) => text.replace('==', '')),
    says: NOT_BASE64,
  },
  ...['-', '_', '.', '\u00a0', '\u200b', 'é', '%', '\u2028', '\u0085', '&amp;'].map(
    (strange): Mutation => ({
      name: `${JSON.stringify(strange)} in the value`,
      make: (doc) => {
        // The document's encoding must have the character.
        if (doc.encode !== ENCODINGS['UTF-8']) return undefined;
        return changedText(doc.signed, 'SignatureValue', (text) => putAt(text, 100, strange));
      },
      says: NOT_BASE64,
    }),
  ),
  {
    name: 'the value in the alphabet of addresses',
    make: ({ signed }) =>
      changedText(signed, 'SignatureValue', (text) =>
        /[+/]/.test(text) ? text.replaceAll('+', '-').replaceAll('/', '_') : `-${text.slice(1)}`,
      ),
    says: NOT_BASE64,
  },
  {
    name: 'an empty value',
    make: ({ signed }) => changedText(signed, 'SignatureValue', () => ''),
    says: [/SignatureValue está vazio/],
    isForXmlsec: true,
  },
  {
    name: 'a value of white space',
    make: ({ signed }) => changedText(signed, 'SignatureValue', () => ' \n '),
    says: [/SignatureValue está vazio/],
    isForXmlsec: true,
  },
  {
    name: 'a value of one octet',
    make: changedValue((value) => value.subarray(0, 1)),
    says: [/ela dá um valor de 256 bytes, e SignatureValue tem 1\./],
    isForXmlsec: true,
  },
  {
    name: 'a value without its last octet',
    make: changedValue((value) => value.subarray(0, 255)),
    says: [/256 bytes, e SignatureValue tem 255/],
    isForXmlsec: true,
  },
  {
    name: 'a zero before the value',
    make: changedValue((value) => Buffer.concat([Buffer.alloc(1), value])),
    says: [/256 bytes, e SignatureValue tem 257/],
    isForXmlsec: true,
  },
  {
    name: 'a zero behind the value',
    make: changedValue((value) => Buffer.concat([value, Buffer.alloc(1)])),
    says: [/256 bytes, e SignatureValue tem 257/],
    isForXmlsec: true,
  },
  {
    name: 'the value and the modulus',
    make: changedValue((value) => {
      const modulus = BigInt(
        `0x${Buffer.from(provider.keys.publicKey.export({ format: 'jwk' }).n!, 'base64url').toString('hex')}`,
      );
      const sum = (BigInt(`0x${value.toString('hex')}`) + modulus).toString(16);
      return Buffer.from(sum.padStart(sum.length + (sum.length % 2), '0'), 'hex');
    }),
    says: VALUE_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'a value of zeros',
    make: changedValue((value) => Buffer.alloc(value.length)),
    says: VALUE_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'a value of ones',
    make: changedValue((value) => Buffer.alloc(value.length, 0xff)),
    says: VALUE_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'the number one',
    make: changedValue((value) => Buffer.concat([Buffer.alloc(value.length - 1), Buffer.from([1])])),
    says: VALUE_DIFFERS,
    isForXmlsec: true,
  },
  {
    name: 'an element in the value',
    make: ({ signed }) => changedText(signed, 'SignatureValue', (text) => putAt(text, 10, '<a/>')),
    says: [/SignatureValue só pode conter texto, e traz a/],
  },
  {
    name: 'no SignatureValue',
    make: ({ signed }) => changed(signed, 'SignatureValue', () => ''),
    says: [/Falta SignatureValue em Signature/],
    isForXmlsec: true,
  },
  {
    name: 'two SignatureValues',
    make: ({ signed }) => changed(signed, 'SignatureValue', (element) => element + element),
    says: [/Signature deve ter um só SignatureValue, e tem 2/],
  },
];

/** A block of a signature, changed before the RSA operation. */
const ofBlock = (block: (digestInfo: Buffer, digest: Buffer) => Buffer): Bent => ({
  value: (signedInfo) => {
    const digest = hash('sha256', signedInfo.replace(/\r\n?/g, '\n'), 'buffer');
    return rsaOfBlock(provider.keys.privateKey, block(Buffer.concat([DIGEST_INFO, digest]), digest));
  },
});
/** RFC 8017, 9.2, note 1. */
export const DIGEST_INFO = Buffer.from('3031300d060960864801650304020105000420', 'hex');
export const padded = (content: Buffer, type = 1, octet = 0xff, length = 256 - 3 - content.length): Buffer =>
  Buffer.concat([Buffer.from([0, type]), Buffer.alloc(length, octet), Buffer.from([0]), content]);
const filled = (block: Buffer): Buffer => Buffer.concat([block, Buffer.alloc(256 - block.length, 0x5a)]);

const BLOCKS: readonly Mutation[] = [
  { name: 'a block of encryption', make: bent(ofBlock((info) => padded(info, 2, 0xaa))), says: VALUE_DIFFERS },
  { name: 'a block of type 0', make: bent(ofBlock((info) => padded(info, 0, 0))), says: VALUE_DIFFERS },
  { name: 'a padding of other octets', make: bent(ofBlock((info) => padded(info, 1, 0xfe))), says: VALUE_DIFFERS },
  {
    name: 'one octet of the padding another',
    make: (doc, { below }) =>
      bent(
        ofBlock((info) => {
          const block = padded(info);
          block[2 + below(200)] = 0x7f;
          return block;
        }),
      )(doc),
    says: VALUE_DIFFERS,
  },
  {
    name: 'a short padding, and anything behind the digest',
    make: bent(ofBlock((info) => filled(padded(info, 1, 0xff, 8)))),
    says: VALUE_DIFFERS,
  },
  {
    name: 'no padding, and anything behind the digest',
    make: bent(ofBlock((info) => filled(padded(info, 1, 0xff, 0)))),
    says: VALUE_DIFFERS,
  },
  {
    name: 'anything before the DigestInfo',
    make: bent(ofBlock((info) => padded(Buffer.concat([Buffer.alloc(40, 0x5a), info])))),
    says: VALUE_DIFFERS,
  },
  {
    name: 'anything behind the DigestInfo',
    make: bent(ofBlock((info) => padded(Buffer.concat([info, Buffer.alloc(40, 0x5a)])))),
    says: VALUE_DIFFERS,
  },
  {
    name: 'anything in the parameters of the DigestInfo',
    make: bent(
      ofBlock((_, digest) =>
        padded(
          Buffer.concat([
            Buffer.from('3041301d06096086480165030402010410', 'hex'),
            Buffer.alloc(16, 0x5a),
            Buffer.from('0420', 'hex'),
            digest,
          ]),
        ),
      ),
    ),
    says: VALUE_DIFFERS,
  },
  {
    name: 'a DigestInfo without parameters',
    make: bent(
      ofBlock((_, digest) =>
        padded(
          Buffer.concat([Buffer.from('302f300b0609608648016503040201', 'hex'), Buffer.from('0420', 'hex'), digest]),
        ),
      ),
    ),
    says: [/o bloco do PKCS #1 em volta do resumo não está na forma exata/],
  },
  {
    name: 'a DigestInfo with lengths in the long form',
    make: bent(
      ofBlock((_, digest) =>
        padded(Buffer.concat([Buffer.from('308131300d060960864801650304020105000420', 'hex'), digest])),
      ),
    ),
    says: VALUE_DIFFERS,
  },
  {
    name: 'a DigestInfo that says SHA-1',
    make: bent(
      ofBlock((_, digest) => padded(Buffer.concat([Buffer.from('302d300906052b0e03021a05000420', 'hex'), digest]))),
    ),
    says: VALUE_DIFFERS,
  },
  {
    name: 'the digest without DigestInfo',
    make: bent(ofBlock((_, digest) => padded(digest))),
    says: [/sem o DigestInfo que o PKCS #1 põe em volta do resumo/],
  },
  {
    name: 'the digest as text',
    make: bent(ofBlock((_, digest) => padded(Buffer.from(digest.toString('hex'))))),
    says: VALUE_DIFFERS,
  },
  {
    name: 'SignedInfo itself',
    make: bent({ value: (text) => rsaOfBlock(provider.keys.privateKey, padded(Buffer.from(text).subarray(0, 200))) }),
    says: VALUE_DIFFERS,
  },
  {
    name: 'no padding at all',
    make: bent(ofBlock((_, digest) => Buffer.concat([Buffer.alloc(224), digest]))),
    says: VALUE_DIFFERS,
  },
];
const PADDING: readonly Mutation[] = BLOCKS.map((one) => ({ ...one, isForXmlsec: true }));

const sameSigner = (doc: Doc, keyInfo: string): string => bent({ keyInfo })(doc);
const KEY_VALUE = (key: KeyObject): string => {
  const { n, e } = key.export({ format: 'jwk' });
  const plain = (text = ''): string => Buffer.from(text, 'base64url').toString('base64');
  return `<KeyValue><RSAKeyValue><Modulus>${plain(n)}</Modulus><Exponent>${plain(e)}</Exponent></RSAKeyValue></KeyValue>`;
};
const DATA = `<X509Data><X509Certificate>${provider.base64}</X509Certificate></X509Data>`;
const NAMESAKE_DATA = `<X509Data><X509Certificate>${namesake.base64}</X509Certificate></X509Data>`;
const signedByNamesake = (doc: Doc, keyInfo: string): string =>
  signedBy(doc.xml, namesake, { digested: doc.canonical, keyInfo });
const ONLY_ONE = [/KeyInfo deve trazer só o certificado do assinante, em um X509Data com um X509Certificate; há/];
const E904 = ['E904'];

const CERTIFICATE: readonly Mutation[] = [
  {
    name: 'a character of the certificate',
    make: ({ signed }, chance) =>
      changedText(signed, 'X509Certificate', (text) => {
        const place = chance.below(text.trimEnd().length - 4);
        return putAt(text, place, chance.pick([...BITS].filter((one) => one !== text[place])), 1);
      }),
    codes: ['E902', 'E903', 'E904'],
    says: [/./],
  },
  {
    name: 'one bit of the certificate',
    make: ({ signed }, { below }) => {
      const der = Buffer.from(provider.der);
      const bit = below(der.length * 8);
      der[bit >> 3]! ^= 1 << (bit & 7);
      return changedText(signed, 'X509Certificate', () => der.toString('base64'));
    },
    codes: ['E902', 'E903', 'E904'],
    says: [/./],
  },
  {
    name: 'the certificate of another key with the same subject',
    make: ({ signed }) => changedText(signed, 'X509Certificate', () => namesake.base64),
    says: [/SignedInfo não foi assinado com a chave deste certificado/],
  },
  {
    name: 'bytes behind the certificate',
    make: ({ signed }) =>
      changedText(signed, 'X509Certificate', () => Buffer.concat([provider.der, Buffer.alloc(3)]).toString('base64')),
    codes: E904,
    says: [/X509Certificate/],
  },
  {
    name: 'two certificates in one',
    make: ({ signed }) =>
      changedText(signed, 'X509Certificate', () => Buffer.concat([provider.der, namesake.der]).toString('base64')),
    codes: E904,
    says: [/X509Certificate/],
  },
  {
    name: 'the certificate in PEM',
    make: ({ signed }) => changedText(signed, 'X509Certificate', () => provider.pem),
    codes: E904,
    says: [/cabeçalho PEM; envie só o Base64/],
  },
  {
    name: 'the PEM in Base64',
    make: ({ signed }) => changedText(signed, 'X509Certificate', () => Buffer.from(provider.pem).toString('base64')),
    codes: E904,
    says: [/em PEM/],
  },
  {
    name: 'the Base64 in Base64',
    make: ({ signed }) => changedText(signed, 'X509Certificate', () => Buffer.from(provider.base64).toString('base64')),
    codes: E904,
    says: [/duas vezes/],
  },
  {
    name: 'the public key alone',
    make: ({ signed }) =>
      changedText(signed, 'X509Certificate', () =>
        provider.keys.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
      ),
    codes: E904,
    says: [/não são um certificado X\.509/],
  },
  {
    name: 'words',
    make: ({ signed }) => changedText(signed, 'X509Certificate', () => 'certificado aqui'),
    codes: E904,
    says: [/X509Certificate/],
  },
  {
    name: 'half a certificate',
    make: ({ signed }) => changedText(signed, 'X509Certificate', (text) => text.replace(/\s/g, '').slice(0, 800)),
    codes: E904,
    says: [/X509Certificate/],
  },
  {
    name: 'the Base64 of the certificate with = behind it',
    make: ({ signed }) => changedText(signed, 'X509Certificate', (text) => `${text}=`),
    codes: E904,
    says: [/não é Base64/],
  },
  {
    name: 'an empty certificate',
    make: ({ signed }) => changedText(signed, 'X509Certificate', () => ''),
    codes: ['E905'],
    says: [/X509Certificate está vazio/],
  },
  {
    name: 'no KeyInfo',
    make: ({ signed }) => changed(signed, 'KeyInfo', () => ''),
    codes: ['E905'],
    says: [/Falta KeyInfo: ponha o certificado/],
  },
  {
    name: 'an empty KeyInfo',
    make: ({ signed }) => changedText(signed, 'KeyInfo', () => ''),
    codes: ['E905'],
    says: [/KeyInfo traz nada e não o certificado/],
  },
  {
    name: 'an empty X509Data',
    make: ({ signed }) => changedText(signed, 'X509Data', () => ''),
    codes: ['E905'],
    says: [/KeyInfo traz X509Data e não o certificado/],
  },
  ...(
    [
      ['KeyName', '<KeyName>empresa</KeyName>'],
      ['KeyValue', KEY_VALUE(provider.keys.publicKey)],
      ['RetrievalMethod', '<RetrievalMethod URI="#x" Type="http://www.w3.org/2000/09/xmldsig#X509Data"/>'],
      ['EncryptedKey', '<e:EncryptedKey xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:CipherData/></e:EncryptedKey>'],
    ] as const
  ).flatMap(([name, element]): Mutation[] => [
    {
      name: `${name} in place of the certificate`,
      make: (doc) => sameSigner(doc, `<KeyInfo>${element}</KeyInfo>`),
      codes: ['E905'],
      says: [new RegExp(`KeyInfo traz ${name} e não o certificado`)],
    },
    {
      name: `${name} beside the certificate`,
      make: (doc) => sameSigner(doc, `<KeyInfo>${DATA}${element}</KeyInfo>`),
      says: [...ONLY_ONE, new RegExp(`há ${name}`)],
    },
    {
      name: `${name} before the certificate`,
      make: (doc) => sameSigner(doc, `<KeyInfo>${element}${DATA}</KeyInfo>`),
      says: [...ONLY_ONE, new RegExp(`há ${name}`)],
    },
  ]),
  {
    name: 'the key of an attacker beside the certificate of the provider',
    make: (doc) => signedByNamesake(doc, `<KeyInfo>${KEY_VALUE(namesake.keys.publicKey)}${DATA}</KeyInfo>`),
    says: [...ONLY_ONE, /há KeyValue/, ...VALUE_DIFFERS],
  },
  ...['X509SubjectName', 'X509IssuerSerial', 'X509SKI', 'X509CRL'].map(
    (name): Mutation => ({
      name: `${name} beside the certificate`,
      make: (doc) =>
        sameSigner(doc, `<KeyInfo>${DATA.replace('</X509Data>', `<${name}>x</${name}></X509Data>`)}</KeyInfo>`),
      says: [...ONLY_ONE, new RegExp(`há ${name}`)],
    }),
  ),
  {
    name: 'X509Data twice',
    make: (doc) => sameSigner(doc, `<KeyInfo>${DATA}${DATA}</KeyInfo>`),
    says: [...ONLY_ONE, /há 2 certificados/],
  },
  {
    name: 'an empty X509Data beside',
    make: (doc) => sameSigner(doc, `<KeyInfo><X509Data/>${DATA}</KeyInfo>`),
    says: ONLY_ONE,
  },
  {
    name: 'the certificate twice',
    make: (doc) => sameSigner(doc, `<KeyInfo>${DATA.replace(/<X509C[\s\S]*Certificate>/, '$&$&')}</KeyInfo>`),
    says: [/há 2 certificados/],
  },
  {
    name: 'the certificate of its authority beside',
    make: (doc) =>
      sameSigner(
        doc,
        `<KeyInfo>${DATA.replace('</X509Data>', `<X509Certificate>${root.certificate.toString('base64')}</X509Certificate></X509Data>`)}</KeyInfo>`,
      ),
    says: [/há 2 certificados/],
  },
  {
    name: 'another certificate of the same subject before',
    make: (doc) => sameSigner(doc, `<KeyInfo>${NAMESAKE_DATA}${DATA}</KeyInfo>`),
    says: [/há 2 certificados/],
  },
  {
    name: 'another certificate of the same subject behind',
    make: (doc) => sameSigner(doc, `<KeyInfo>${DATA}${NAMESAKE_DATA}</KeyInfo>`),
    says: [/há 2 certificados/],
  },
  {
    name: 'the key of an attacker, and both certificates',
    make: (doc) => signedByNamesake(doc, `<KeyInfo>${DATA}${NAMESAKE_DATA}</KeyInfo>`),
    says: [/há 2 certificados/],
  },
  {
    name: 'a certificate in another namespace',
    make: (doc) =>
      sameSigner(
        doc,
        `<KeyInfo><X509Data><X509Certificate xmlns="urn:x">${provider.base64}</X509Certificate></X509Data></KeyInfo>`,
      ),
    codes: ['E905'],
    says: [/X509Data/],
  },
  {
    name: 'a certificate outside X509Data',
    make: (doc) => sameSigner(doc, `<KeyInfo><X509Certificate>${provider.base64}</X509Certificate></KeyInfo>`),
    codes: ['E905'],
    says: [/KeyInfo traz X509Certificate e não o certificado/],
  },
  {
    name: 'two KeyInfo',
    make: (doc) => bent({ more: `<KeyInfo>${NAMESAKE_DATA}</KeyInfo>` })(doc),
    says: [/Signature deve ter um só KeyInfo, e tem 2/],
  },
  {
    name: 'KeyInfo first',
    make: (doc) => changed(bent({})(doc), 'KeyInfo', () => '').replace('<SignedInfo>', `<KeyInfo>${DATA}</KeyInfo>$&`),
    says: [/Em Signature a ordem é SignedInfo, SignatureValue, KeyInfo/],
  },
  {
    name: 'an attribute of X509Certificate',
    make: ({ signed }) => signed.replace(/<(\w+:)?X509Certificate/, '$& Encoding="x"'),
    says: [/X509Certificate traz o atributo Encoding/],
  },
  {
    name: 'text in KeyInfo',
    make: ({ signed }) => signed.replace(endOf('X509Data'), '$&x'),
    says: [/texto solto em KeyInfo/],
  },
  {
    name: 'an element in the certificate',
    make: ({ signed }) => changedText(signed, 'X509Certificate', (text) => `${text}<a/>`),
    says: [/X509Certificate só pode conter texto/],
  },
];

const REFERENCE_AT = '@ /DPS/Signature/SignedInfo/Reference/@URI';
const pointsAt = (uri: string): RegExp[] => [
  new RegExp(
    `A Reference aponta ${uri}; deve apontar o Id de infDPS: #DPS\\d+\\. ${REFERENCE_AT} \\| ${uri} \\| #DPS\\d+`,
  ),
];
const wholeWithout = ({ xml }: Doc): string => canonicalByXmlCrypto(xml, 'DPS');
const secondReference = (uri: string, digest: string): string =>
  `<Reference URI="${uri}"><Transforms>${TRANSFORMS}</Transforms><DigestMethod Algorithm="${SHA256}"></DigestMethod><DigestValue>${digest}</DigestValue></Reference>`;

const REFERENCE: readonly Mutation[] = [
  { name: 'a Reference to another Id', make: bent({ uri: '#DPS1' }), says: pointsAt('#DPS1') },
  {
    name: 'a Reference to the whole document',
    make: bent((doc) => ({ uri: '', digested: wholeWithout(doc) })),
    says: [
      /A assinatura está certa nos seus algoritmos \(.*; URI=""\), .*com a Reference no Id de infDPS\. Na Reference ponha URI="#DPS\d+"\./,
    ],
  },
  {
    name: 'a Reference without URI',
    make: bent({ uri: undefined }),
    says: [/A Reference não tem URI; deve apontar o Id de infDPS: #DPS\d+/],
  },
  {
    name: 'a Reference of XPointer',
    make: bent(({ xml }) => ({ uri: `#xpointer(id('${idOf(xml)}'))` })),
    says: pointsAt("#xpointer\\(id\\('DPS\\d+'\\)\\)"),
  },
  {
    name: 'a Reference of XPointer to the root',
    make: bent((doc) => ({ uri: '#xpointer(/)', digested: wholeWithout(doc) })),
    says: pointsAt('#xpointer\\(/\\)'),
  },
  {
    name: 'a Reference without #',
    make: bent(({ xml }) => ({ uri: idOf(xml) })),
    says: [/A Reference aponta DPS\d+; deve apontar o Id de infDPS: #DPS/],
  },
  {
    name: 'a Reference with a space',
    make: bent(({ xml }) => ({ uri: `#${idOf(xml)} ` })),
    says: [/A Reference aponta #DPS\d+ ; deve/],
  },
  {
    name: 'a Reference in other letters',
    make: bent(({ xml }) => ({ uri: `#${idOf(xml).toLowerCase()}` })),
    says: pointsAt('#dps\\d+'),
  },
  {
    name: 'a Reference to a file',
    make: bent({ uri: 'file:///etc/hostname' }),
    says: pointsAt('file:///etc/hostname'),
  },
  {
    name: 'a Reference to a page',
    make: bent({ uri: 'http://127.0.0.1:9/x' }),
    says: pointsAt('http://127.0.0.1:9/x'),
  },
  {
    name: 'a Reference to the Signature',
    make: (doc) => bent({ uri: '#s1' })(doc).replace('<Signature ', '<Signature Id="s1" '),
    says: pointsAt('#s1'),
  },
  {
    name: 'a Reference to KeyInfo',
    make: (doc) => bent({ uri: '#k1', keyInfo: x509(provider.base64).replace('<KeyInfo>', '<KeyInfo Id="k1">') })(doc),
    says: pointsAt('#k1'),
  },
  {
    name: 'an attribute of Reference',
    make: bent({ signedInfo: (text) => text.replace('<Reference ', `<Reference Type="${DSIG}Object" `) }),
    says: [/Reference traz o atributo Type/],
  },
  {
    name: 'the same Reference twice',
    make: bent({ signedInfo: (text) => text.replace(/<Reference[\s\S]*<\/Reference>/, '$&$&') }),
    says: [/SignedInfo deve ter um só Reference, e tem 2/],
  },
  {
    name: 'a second Reference to the whole document',
    make: bent((doc) => ({
      signedInfo: (text) => text.replace('</SignedInfo>', `${secondReference('', sha256(wholeWithout(doc)))}$&`),
    })),
    says: [/SignedInfo deve ter um só Reference, e tem 2/],
  },
  {
    name: 'a wrong Reference before the right one',
    make: bent({ signedInfo: (text) => text.replace('<Reference ', `${secondReference('#x', sha256('x'))}$&`) }),
    says: [/SignedInfo deve ter um só Reference, e tem 2/],
  },
  {
    name: 'no Reference',
    make: bent({ signedInfo: (text) => text.replace(/<Reference[\s\S]*<\/Reference>/, '') }),
    says: [/Falta Reference em SignedInfo/],
  },
  {
    name: 'no DigestValue',
    make: bent({ signedInfo: (text) => text.replace(/<DigestValue[\s\S]*<\/DigestValue>/, '') }),
    says: [/Falta DigestValue em Reference/],
  },
  {
    name: 'no DigestMethod',
    make: bent({ signedInfo: (text) => text.replace(/<DigestMethod[\s\S]*<\/DigestMethod>/, '') }),
    says: [/Falta DigestMethod em Reference/],
  },
  {
    name: 'two DigestValues',
    make: bent({ signedInfo: (text) => text.replace(/<DigestValue[\s\S]*<\/DigestValue>/, '$&$&') }),
    says: [/Reference deve ter um só DigestValue, e tem 2/],
  },
  {
    name: 'no SignedInfo',
    make: ({ signed }) => changed(signed, 'SignedInfo', () => ''),
    says: [/Falta SignedInfo em Signature/],
  },
  {
    name: 'two SignedInfos',
    make: ({ signed }) => changed(signed, 'SignedInfo', (element) => element + element),
    says: [/Signature deve ter um só SignedInfo, e tem 2/],
  },
  {
    name: 'an Object',
    make: bent({ more: '<Object><a xmlns="urn:x"/></Object>' }),
    says: [/Signature traz Object, que não faz parte da assinatura aceita/],
  },
  {
    name: 'a Manifest in place of the element',
    make: (doc) => {
      const manifest = `<Manifest xmlns="${DSIG}" Id="m1">${secondReference(`#${idOf(doc.xml)}`, sha256(doc.canonical))}</Manifest>`;
      return bent({ uri: '#m1', digested: manifest, more: `<Object>${manifest}</Object>` })(doc);
    },
    says: [/Signature traz Object/, ...pointsAt('#m1')],
  },
  {
    name: 'text in SignedInfo',
    make: bent({ signedInfo: (text) => text.replace('<Reference ', 'x$&') }),
    says: [/texto solto em SignedInfo/],
  },
  {
    name: 'an element in DigestValue',
    make: bent({ signedInfo: (text) => text.replace('</DigestValue>', '<a></a>$&') }),
    says: [/DigestValue só pode conter texto, e traz a/],
  },
  {
    name: 'SignedInfo out of order',
    make: bent({
      signedInfo: (text) =>
        text.replace(
          /(<CanonicalizationMethod[\s\S]*?<\/CanonicalizationMethod>)(<SignatureMethod[\s\S]*?<\/SignatureMethod>)/,
          '$2$1',
        ),
    }),
    says: [/Em SignedInfo a ordem é CanonicalizationMethod, SignatureMethod, Reference/],
  },
  {
    name: 'SignedInfo in another namespace',
    make: ({ signed }) =>
      signed.replace(/<(\w+:)?SignedInfo([\s\S]*)<\/(\w+:)?SignedInfo/, '<SignedInfo xmlns="urn:x"$2</SignedInfo'),
    says: [/Falta SignedInfo em Signature|Signature traz SignedInfo/],
  },
];

/** The one fault of a signature that is right by algorithms of the national API. REST v1 accepts none of these. */
const rightByOthers = (part: string, named: string): string =>
  `A assinatura está certa nos seus algoritmos \\(.*${part} ${named}\\b.*aceitos aqui: RSA-SHA256, SHA-256, C14N exclusiva, .*Depois assine de novo, por último\\.`;

/** A part of the signature names another algorithm; the rest uses either that algorithm or the required one. */
function algorithms(
  part: string,
  required: string,
  name: string,
  others: readonly (readonly [identifier: string, named: string, bend?: Bent])[],
): Mutation[] {
  const property = {
    CanonicalizationMethod: 'canonicalization',
    SignatureMethod: 'signatureMethod',
    DigestMethod: 'digestMethod',
  }[part]!;
  return others.map(([identifier, named, bend = {}]) => ({
    name: `${part} ${JSON.stringify(identifier)}`,
    make: bent({ [property]: identifier, ...bend }),
    says: [
      new RegExp(
        `^(?:(?=.*${named}).* em ${part}[^;]*; o aceito é ${name} \\(${RegExp.escape(required)}\\)\\. @ /DPS/Signature/SignedInfo/(Reference/)?${part}/@Algorithm \\| ${RegExp.escape(identifier)} \\| ${RegExp.escape(required)}|${rightByOthers(part, named)})`,
      ),
    ],
  }));
}

const MORE = 'http://www.w3.org/2001/04/xmldsig-more#';
export const signedWith =
  (algorithm: string) =>
  (text: string): Buffer =>
    sign(algorithm, Buffer.from(text), provider.keys.privateKey);
const secretOf = (secret: string | Buffer): Bent => ({
  value: (text) => createHmac('sha256', secret).update(text).digest(),
});
const spki = provider.keys.publicKey.export({ type: 'spki', format: 'der' });
export const digestedBy = (algorithm: string): Bent => ({ digest: (text) => hash(algorithm, text, 'base64') });

const ALGORITHM: readonly Mutation[] = [
  ...algorithms(
    'CanonicalizationMethod',
    EXCLUSIVE,
    'C14N exclusiva',
    [
      [INCLUSIVE, 'C14N inclusiva 1\\.0'],
      [`${INCLUSIVE}#WithComments`, 'C14N inclusiva 1\\.0 com comentários'],
      [`${EXCLUSIVE}WithComments`, 'C14N exclusiva com comentários'],
      ['http://www.w3.org/2006/12/xml-c14n11', 'C14N inclusiva 1\\.1'],
      ['http://www.w3.org/2010/xml-c14n2', 'O algoritmo é http://www\\.w3\\.org/2010/xml-c14n2'],
      [`${EXCLUSIVE} `, 'com espaço no começo ou no fim'],
      [EXCLUSIVE.toUpperCase(), 'com maiúsculas e minúsculas trocadas'],
      [EXCLUSIVE.slice(0, -1), 'O algoritmo é http'],
      ['', 'Falta o atributo Algorithm'],
    ].map(([identifier, named]) => [identifier!, named!] as const),
  ),
  ...algorithms('SignatureMethod', RSA_SHA256, 'RSA-SHA256', [
    [`${DSIG}rsa-sha1`, 'RSA-SHA1', { value: signedWith('sha1') }],
    [`${DSIG}rsa-sha1`, 'RSA-SHA1'],
    [`${MORE}rsa-sha384`, 'RSA-SHA384', { value: signedWith('sha384') }],
    [`${MORE}rsa-sha512`, 'RSA-SHA512', { value: signedWith('sha512') }],
    [`${MORE}rsa-md5`, 'rsa-md5'],
    ['http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1', 'RSA-PSS-SHA256'],
    [`${DSIG}dsa-sha1`, 'dsa-sha1'],
    [`${MORE}ecdsa-sha256`, 'ECDSA-SHA256'],
    [`${DSIG}hmac-sha1`, 'HMAC-SHA1', { value: (text) => createHmac('sha1', provider.pem).update(text).digest() }],
    [`${MORE}hmac-sha256`, 'HMAC-SHA256', secretOf(provider.pem)],
    [`${MORE}hmac-sha256`, 'HMAC-SHA256', secretOf(provider.base64)],
    [`${MORE}hmac-sha256`, 'HMAC-SHA256', secretOf(provider.der)],
    [`${MORE}hmac-sha256`, 'HMAC-SHA256', secretOf(spki)],
    [`${MORE}hmac-sha256`, 'HMAC-SHA256', secretOf(spki.toString('base64'))],
    [`${MORE}hmac-sha256`, 'HMAC-SHA256', secretOf('')],
    [RSA_SHA256.replace('sha256', 'SHA256'), 'com maiúsculas e minúsculas trocadas'],
    [` ${RSA_SHA256}`, 'com espaço no começo ou no fim'],
    [`${RSA_SHA256}\t`, 'O algoritmo é'],
    ['rsa-sha256', 'O algoritmo é rsa-sha256'],
    ['', 'Falta o atributo Algorithm'],
  ]).filter(({ name }) => !name.includes('\\t')),
  ...algorithms('DigestMethod', SHA256, 'SHA-256', [
    [`${DSIG}sha1`, 'SHA-1', digestedBy('sha1')],
    [`${DSIG}sha1`, 'SHA-1'],
    ['http://www.w3.org/2001/04/xmlenc#sha512', 'SHA-512', digestedBy('sha512')],
    [`${MORE}sha384`, 'SHA-384', digestedBy('sha384')],
    [`${MORE}md5`, 'md5', digestedBy('md5')],
    ['http://www.w3.org/2001/04/xmldsig-more#sha256', 'sha256'],
    [SHA256.replace('sha256', 'SHA256'), 'com maiúsculas e minúsculas trocadas'],
    [`${SHA256} `, 'com espaço no começo ou no fim'],
    ['', 'Falta o atributo Algorithm'],
  ]),
  ...['CanonicalizationMethod', 'SignatureMethod', 'DigestMethod'].map(
    (part): Mutation => ({
      name: `${part} without Algorithm`,
      make: bent({ signedInfo: (text) => text.replace(new RegExp(`(<${part}) Algorithm="[^"]*"`), '$1') }),
      says: [new RegExp(`Falta o atributo Algorithm em ${part}`)],
    }),
  ),
  {
    name: 'a list of prefixes for SignedInfo',
    make: bent({
      signedInfo: (text) =>
        text.replace(
          '</CanonicalizationMethod>',
          `<InclusiveNamespaces xmlns="${EXCLUSIVE}" PrefixList="#default"></InclusiveNamespaces>$&`,
        ),
    }),
    says: [/CanonicalizationMethod traz InclusiveNamespaces.*sem lista de prefixos/],
  },
  {
    name: 'a length of HMAC',
    make: bent({
      signatureMethod: `${MORE}hmac-sha256`,
      signedInfo: (text) => text.replace('</SignatureMethod>', '<HMACOutputLength>0</HMACOutputLength>$&'),
      value: () => Buffer.alloc(0),
    }),
    says: [/HMAC-SHA256/, /SignatureValue está vazio/],
  },
  {
    name: 'an element in DigestMethod',
    make: bent({ signedInfo: (text) => text.replace('</DigestMethod>', '<a></a>$&') }),
    says: [/DigestMethod traz a, que não é aceito/],
  },
  ...['SignatureMethod', 'DigestMethod', 'Reference', 'SignedInfo'].map(
    (part): Mutation => ({
      name: `an attribute of ${part} that has the right name in another namespace`,
      make: bent({
        signedInfo: (text) =>
          text.replace(
            new RegExp(`<${part}`),
            (tag) => `${tag} xmlns:q="urn:q" q:Id="1" q:URI="#x" q:Algorithm="${RSA_SHA256}"`,
          ),
      }),
      says: [new RegExp(`${part} traz o atributo (Algorithm|Id|URI), que não é aceito`)],
    }),
  ),
  {
    name: 'an attribute of SignatureMethod',
    make: bent({ signedInfo: (text) => text.replace('<SignatureMethod ', '<SignatureMethod x="1" ') }),
    says: [/SignatureMethod traz o atributo x/],
  },
];

const ACCEPTED_TRANSFORMS = 'as aceitas são enveloped-signature e depois C14N exclusiva, ou só C14N exclusiva';
const transformed = (named: string): RegExp[] => [
  new RegExp(
    `As transformações da Reference são ${named}; ${ACCEPTED_TRANSFORMS}\\. @ /DPS/Signature/SignedInfo/Reference/Transforms`,
  ),
];
/** Whether the digest is right in the inclusive form depends on the unused namespaces of a document. */
const rightWith = (named: string): RegExp[] => [
  new RegExp(`${rightByOthers('Transforms', named)}|${transformed(named)[0]!.source}`),
];
const XPATH = 'http://www.w3.org/TR/1999/REC-xpath-19991116';
const XSLT = 'http://www.w3.org/TR/1999/REC-xslt-19991116';
const [FIRST, LAST] = [transform(ENVELOPED), transform(EXCLUSIVE)];

const TRANSFORM: readonly Mutation[] = (
  [
    ['no transforms', '', transformed('nenhuma')],
    ['enveloped-signature alone', FIRST, rightWith('enveloped-signature')],
    ['the other order', LAST + FIRST, transformed('C14N exclusiva, enveloped-signature')],
    ['exclusive C14N twice', LAST + LAST, transformed('C14N exclusiva, C14N exclusiva')],
    ['a third one', FIRST + LAST + LAST, transformed('enveloped-signature, C14N exclusiva, C14N exclusiva')],
    ['inclusive C14N', FIRST + transform(INCLUSIVE), rightWith('enveloped-signature, C14N inclusiva 1\\.0')],
    ['inclusive C14N alone', transform(INCLUSIVE), rightWith('C14N inclusiva 1\\.0')],
    [
      'with comments',
      FIRST + transform(`${EXCLUSIVE}WithComments`),
      rightWith('enveloped-signature, C14N exclusiva com comentários'),
    ],
    [
      'XPath before',
      transform(XPATH, '<XPath>false()</XPath>') + FIRST + LAST,
      transformed('filtro XPath, enveloped-signature, C14N exclusiva'),
    ],
    [
      'XPath between',
      FIRST + transform(XPATH, '<XPath>not(ancestor-or-self::vServ)</XPath>') + LAST,
      transformed('enveloped-signature, filtro XPath, C14N exclusiva'),
    ],
    [
      'the filter of XPath 2',
      transform(
        'http://www.w3.org/2002/06/xmldsig-filter2',
        '<XPath xmlns="http://www.w3.org/2002/06/xmldsig-filter2" Filter="subtract">//vServ</XPath>',
      ) + LAST,
      transformed('http://www\\.w3\\.org/2002/06/xmldsig-filter2, C14N exclusiva'),
    ],
    [
      'XSLT',
      transform(XSLT, '<s:stylesheet xmlns:s="http://www.w3.org/1999/XSL/Transform" version="1.0"></s:stylesheet>') +
        LAST,
      transformed('XSLT, C14N exclusiva'),
    ],
    ['Base64', transform(`${DSIG}base64`), transformed('Base64')],
    ['Base64 behind', LAST + transform(`${DSIG}base64`), transformed('C14N exclusiva, Base64')],
    [
      'a list of prefixes',
      FIRST + transform(EXCLUSIVE, `<InclusiveNamespaces xmlns="${EXCLUSIVE}" PrefixList="xsi"></InclusiveNamespaces>`),
      [/trazem InclusiveNamespaces que não se aceita; configure a C14N exclusiva sem lista de prefixos/],
    ],
    [
      'an XPath in enveloped-signature',
      transform(ENVELOPED, '<XPath>1</XPath>') + LAST,
      [/trazem XPath que não se aceita/],
    ],
    ['an attribute', FIRST + LAST.replace('>', ' x="1">'), [/As transformações são as certas, mas trazem/]],
    ['text', `${FIRST}x${LAST}`, [/As transformações são as certas, mas trazem/]],
    ['text in one', FIRST + transform(EXCLUSIVE, 'x'), [/As transformações são as certas, mas trazem/]],
    ['an element that is none', `${FIRST + LAST}<a></a>`, [/As transformações da Reference são/]],
    [
      'one in another namespace',
      FIRST + LAST.replace('<Transform ', '<Transform xmlns="urn:x" '),
      [/As transformações são as certas, mas trazem/],
    ],
    ['one without Algorithm', '<Transform></Transform>', [/As transformações da Reference são não informado/]],
    ['other letters', transform(EXCLUSIVE.toUpperCase()), [/As transformações da Reference são HTTP/]],
    ['a space', transform(`${EXCLUSIVE} `), [/As transformações da Reference são http/]],
    ['many', FIRST + LAST.repeat(40), [/C14N exclusiva e mais 35; as aceitas/]],
  ] as const
).map(([name, transforms, says]): Mutation => ({ name: `transforms: ${name}`, make: bent({ transforms }), says }));

const secondDocument = (doc: Doc): string => changedText(elementOf('infDPS').exec(doc.xml)![0], 'vServ', () => '0.01');

const SHAPE: readonly Mutation[] = [
  {
    name: 'no Signature',
    make: ({ xml }) => xml,
    codes: ['E901'],
    says: [
      /O documento não está assinado: falta o elemento Signature depois de infDPS, dentro de DPS\. @ \/DPS\/Signature/,
    ],
    isForXmlsec: true,
  },
  {
    name: 'a Signature in another namespace',
    make: ({ signed }) => signed.replaceAll(DSIG.slice(0, -1), 'http://www.w3.org/2000/10/xmldsig'),
    codes: ['E901'],
    says: [
      /O elemento Signature não é uma assinatura XML: o seu espaço de nomes deve ser http:\/\/www\.w3\.org\/2000\/09\/xmldsig#/,
    ],
  },
  {
    name: 'a Signature without namespace',
    make: ({ xml }) => withSignature(xml, '<Signature xmlns=""/>'),
    codes: ['E901'],
    says: [/não é uma assinatura XML/],
  },
  {
    name: 'an empty Signature',
    make: ({ xml }) => withSignature(xml, `<Signature xmlns="${DSIG}"/>`),
    codes: ['E902', 'E905'],
    says: [/Falta SignedInfo/, /Falta SignatureValue/, /Falta KeyInfo/],
    isForXmlsec: true,
  },
  {
    name: 'a second infDPS',
    make: (doc) =>
      doc.signed.replace(endOf('infDPS'), `$&${secondDocument(doc).replace(/Id\s*=\s*["']DPS\d+/, '$&9')}`),
    says: [/O documento assinado deve ter um só infDPS, e traz 2\. @ \/DPS\/infDPS\[2\]/],
  },
  {
    name: 'a second empty infDPS',
    make: ({ signed }) => signed.replace(endOf('infDPS'), '$&<infDPS xmlns="urn:x"/>'),
    says: [/um só infDPS, e traz 2/],
  },
  {
    name: 'a second Signature',
    make: ({ signed }) => signed.replace(elementOf('Signature'), '$&$&'),
    says: [/O documento deve ter uma só Signature, e traz 2\. @ \/DPS\/Signature\[2\]/],
  },
  {
    name: 'a Signature of somebody else beside',
    make: (doc) => withSignature(doc.signed, signatureOver(doc.xml, namesake, { digested: doc.canonical })),
    says: [/uma só Signature, e traz 2/],
  },
  {
    name: 'the Signature in infDPS',
    make: (doc) => doc.xml.replace(endOf('infDPS'), (end) => elementOf('Signature').exec(doc.signed)![0] + end),
    says: [/A assinatura está em \/DPS\/infDPS\/Signature; o seu lugar é depois de infDPS, dentro de DPS/],
  },
  {
    name: 'the Signature in an element of its own',
    make: (doc) => withSignature(doc.xml, `<Assinatura>${elementOf('Signature').exec(doc.signed)![0]}</Assinatura>`),
    says: [/A assinatura está em \/DPS\/Assinatura\/Signature/],
  },
  {
    name: 'no infDPS',
    make: ({ signed }) => changed(signed, 'infDPS', () => ''),
    says: [/um só infDPS, e traz nenhum/],
  },
  {
    name: 'infDPS in other letters',
    make: ({ signed }) => signed.replaceAll('infDPS', 'InfDPS'),
    says: [/um só infDPS, e traz nenhum/, /O elemento InfDPS está fora/],
  },
  {
    name: 'Id twice',
    make: ({ signed }) => signed.replace(/(<(?:\w+:)?infDPS[^>]*?)(\sId\s*=\s*(["'])DPS\d+\3)/, '$1$2$2'),
    codes: ['E201'],
    says: [/atributo Id/],
  },
  ...['ID', 'id', 'xml:id', 'iD'].flatMap((name): Mutation[] => [
    {
      name: `Id and ${name} with the same value`,
      make: (doc) =>
        resigned(doc, (xml) => xml.replace(/(<(?:\w+:)?infDPS[^>]*?)\sId(\s*=\s*(["'])DPS\d+\3)/, `$& ${name}$2`)),
      says: [/infDPS traz, além de Id, o atributo (ID|id|iD)|identificador DPS\d+ aparece em dois elementos/],
    },
    {
      name: `Id and ${name} with another value`,
      make: (doc) =>
        resigned(doc, (xml) => xml.replace(/<(?:\w+:)?infDPS[^>]*?\sId\s*=\s*(["'])DPS\d+\1/, `$& ${name}="x1"`)),
      says: [/infDPS traz, além de Id, o atributo (ID|id|iD), que outros programas tomariam pelo identificador/],
    },
    {
      name: `${name} in place of Id`,
      make: (doc) =>
        resigned(doc, (xml) => xml.replace(/(<(?:\w+:)?infDPS[^>]*?)\sId(\s*=)/, `$1 ${name}$2`), idOf(doc.xml)),
      says: [/infDPS não tem o atributo Id|infDPS traz, além de Id/],
    },
  ]),
  {
    name: 'no Id',
    make: (doc) => resigned(doc, (xml) => xml.replace(/(<(?:\w+:)?infDPS[^>]*?)\sId\s*=\s*(["'])DPS\d+\2/, '$1'), ''),
    says: [/infDPS não tem o atributo Id, e a assinatura não tem a que se referir/],
  },
  {
    name: 'an empty Id',
    make: (doc) => resigned(doc, (xml) => xml.replace(/(\sId\s*=\s*["'])DPS\d+/, '$1'), ''),
    says: [/infDPS não tem o atributo Id/],
  },
  {
    name: 'the same Id within',
    make: (doc) => resigned(doc, (xml) => xml.replace(/<((?:\w+:)?prest)>/, `<$1 Id="${idOf(doc.xml)}">`)),
    says: [/O identificador DPS\d+ aparece em dois elementos: \/DPS\/infDPS e \/DPS\/infDPS\/prest/],
  },
  {
    name: 'the same Id at the root',
    make: ({ signed, xml }) => signed.replace(startOf('DPS'), (tag) => tag.replace(/\s?>$/, ` ID="${idOf(xml)}">`)),
    says: [/O identificador DPS\d+ aparece em dois elementos: \/DPS e \/DPS\/infDPS/],
  },
  {
    name: 'the same Id in the Signature',
    make: ({ signed, xml }) => signed.replace(/<((?:\w+:)?KeyInfo)>/, `<$1 Id="${idOf(xml)}">`),
    says: [/aparece em dois elementos/],
  },
  {
    name: 'an infDPS within',
    make: (doc) => resigned(doc, (xml) => xml.replace(endOf('infDPS'), '<infDPS/>$&')),
    says: [/Há um infDPS em \/DPS\/infDPS\/infDPS; o documento só pode ter um, diretamente dentro de DPS/],
  },
  {
    name: 'the document in an envelope',
    make: ({ signed }) => `<Envelope>${signed.replace(/^<\?xml[^>]*>/, '')}</Envelope>`,
    says: [/fora do que a assinatura cobre|A assinatura está em/],
  },
];

/** The document is signed again after a change, so only the change can be wrong. */
function resigned(doc: Doc, change: (xml: string) => string, id?: string): string {
  const xml = change(doc.xml);
  assert.notEqual(xml, doc.xml);
  return signedBy(xml, provider, { uri: `#${id ?? idOf(doc.xml)}` });
}

const EC = ((): { readonly party: ReturnType<typeof partyOf> } => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { party: partyOf(keys, companyCertificate(root, companyOf(PROVIDER_CNPJ), keys.publicKey, yearAround(NOW))) };
})();
const ecSigned =
  (encoding: 'der' | 'ieee-p1363') =>
  (text: string): Buffer =>
    sign('sha256', Buffer.from(text), { key: EC.party.keys.privateKey, dsaEncoding: encoding });
const ELLIPTIC: readonly Mutation[] = (['der', 'ieee-p1363'] as const).flatMap((encoding) => [
  {
    name: `ECDSA (${encoding})`,
    make: (doc: Doc) =>
      signedBy(doc.xml, EC.party, {
        digested: doc.canonical,
        signatureMethod: `${MORE}ecdsa-sha256`,
        value: ecSigned(encoding),
      }),
    codes: ['E902', 'E904'],
    says: [
      /O algoritmo é ECDSA-SHA256 em SignatureMethod; o aceito é RSA-SHA256/,
      /A chave do certificado é ec; a assinatura pede uma chave RSA/,
    ],
  },
  {
    name: `ECDSA that says RSA (${encoding})`,
    make: (doc: Doc) => signedBy(doc.xml, EC.party, { digested: doc.canonical, value: ecSigned(encoding) }),
    codes: E904,
    says: [/A chave do certificado é ec; a assinatura pede uma chave RSA/],
  },
]);

export const MUTATIONS: Readonly<Record<string, readonly Mutation[]>> = {
  'the content': CONTENT,
  SignedInfo: SIGNED_INFO,
  SignatureValue: VALUE,
  'the block that RSA signs': PADDING,
  'the certificate': CERTIFICATE,
  'the Reference': REFERENCE,
  'the algorithms': [...ALGORITHM, ...ELLIPTIC],
  'the transforms': TRANSFORM,
  'the shape': SHAPE,
};
