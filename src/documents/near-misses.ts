/**
 * Finds the text that was signed in place of the profile, after a failed verification of XML. A dozen habits of libraries cause most
 * failures; naming the habit ends the search.
 *
 * One RSA step with the key of the certificate gives the signed digest; digests of likely texts are compared with it. Large documents are
 * compared with few texts, because anybody can send one.
 */
import { constants, hash, publicEncrypt, verify } from 'node:crypto';
import { describeFault, type FaultText, quoted } from '../fiscal/fault.ts';
import type { Elemento } from '../fiscal/layout/tree.ts';
import { DIGESTS_BY_BYTES, DIGESTS_BY_DER, type Digest } from './algorithms.ts';
import { attempt } from './attempt.ts';
import type { Certificate } from './certificate.ts';
import { wrongDeclarationOf } from './encoding.ts';
import type { XmlDocumentReading } from './xml.ts';

/** Only the right text is compared above this size, under every digest. A DPS has five thousand bytes. */
const TEXTS_BYTES_MAX = 64 * 1024;

/** A text that a sender may have digested or signed, and the mistake that leads to it. */
type Candidate = { readonly text: string; readonly habit: string };

/** A found digest, and its notation if it was not in Base64. */
type Declared = { readonly digest: Digest; readonly hex: string; readonly spelling: string | undefined };

/** A text digested in place of the canonical one. `esperado`: the correction, if it is not the digest. */
export type NearDigest = FaultText & { readonly esperado?: string; readonly isOfDeclaration?: true };

/** The other text, or the other digest, that gives the declared one, described in Portuguese; undefined: none does. */
export function nearMissOfDigest(
  reading: XmlDocumentReading,
  element: Elemento,
  signature: Elemento,
  declared: string,
): NearDigest | undefined {
  const readings = digestsIn(declared);
  if (readings.length === 0) return undefined;
  const wrong = isLarge(reading) ? undefined : wrongDeclarationOf(reading.bytes);
  for (const { text, habit } of textsOfDigest(reading, element, signature)) {
    const meant = wrong?.mend(text);
    for (const { digest, hex, spelling } of readings) {
      if (meant !== undefined && hash(digest.name, meant, 'hex') === hex) {
        return describeDeclaration(wrong!.declared, habit === '' && spelling === undefined && digest.name === 'sha256');
      }
      const latin = latinOf(text);
      if (hash(digest.name, text, 'hex') === hex) return { mensagem: describeDigest(habit, digest, spelling) };
      if (latin === undefined || hash(digest.name, latin, 'hex') !== hex) continue;
      const encoded = `${habit || 'sobre o texto certo'}, codificado em Latin-1 e não em UTF-8`;
      return { mensagem: describeDigest(encoded, digest, spelling) };
    }
  }
  return undefined;
}

/** The right text was digested, but the document declares a wrong encoding. `isAll`: the digest has no other fault. */
function describeDeclaration(declared: string, isAll: boolean): NearDigest {
  const found = `A declaração do XML diz encoding="${quoted(declared)}", e os bytes são UTF-8: lido como ela diz, cada letra acentuada vira duas, e o resumo declarado é o do texto em UTF-8.`;
  const rest = isAll ? 'o resumo confere, e a assinatura pode ficar' : 'a resposta dirá o que mais falta ao resumo';
  const change = `Corrija a declaração para encoding="UTF-8", ou retire-a: ${rest}.`;
  const esperado = '<?xml version="1.0" encoding="UTF-8"?>';
  return { ...describeFault(found, change), esperado, isOfDeclaration: true };
}

function describeDigest(habit: string, { shown: name }: Digest, spelling: string | undefined): string {
  const what = 'O resumo declarado foi calculado';
  if (spelling === undefined) return describeHabit(what, habit, name);
  if (habit === '' && name === 'SHA-256') return `O resumo declarado é o certo, mas ${spelling}.`;
  return `${describeHabit(what, habit, name)} Além disso, ${spelling}.`;
}

/** The possible digests in a DigestValue: its bytes, or a digest written as hexadecimal text. */
function digestsIn(declared: string): Declared[] {
  const found: Declared[] = [];
  const add = (hex: string, spelling?: string): void => {
    const digest = DIGESTS_BY_BYTES.get(hex.length / 2);
    if (digest !== undefined) found.push({ digest, hex: hex.toLowerCase(), spelling });
  };
  const bytes = Buffer.from(declared, 'base64');
  const isPlain = bytes.toString('base64') === declared;
  add(bytes.toString('hex'), isPlain ? undefined : 'não está na forma exata do Base64 (confira o = do fim)');
  const text = bytes.toString('latin1');
  if (isHex(text)) add(text, 'é o Base64 do texto hexadecimal do resumo; codifique em Base64 os 32 bytes dele');
  if (isHex(declared)) add(declared, 'está em hexadecimal; codifique em Base64 os 32 bytes dele');
  return found;
}

function isHex(text: string): boolean {
  return /^[0-9a-f]{40,128}$/i.test(text);
}

/** The text, algorithm or key that replaced the canonical SignedInfo. No `change`: the message gives the remedy. */
export function nearMissOfValue(
  reading: XmlDocumentReading,
  signedInfo: Elemento,
  signedElement: string,
  value: Uint8Array,
  certificate: Certificate,
): FaultText | undefined {
  const { publicKey } = certificate;
  const bytes = Math.ceil((publicKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
  if (value.length !== bytes) {
    return {
      mensagem: `SignedInfo não foi assinado com a chave deste certificado: ela dá um valor de ${bytes} bytes, e SignatureValue tem ${value.length}.`,
    };
  }
  const block = openBlock(value, certificate);
  const signed = block && digestInBlock(block);
  if (signed === undefined) {
    const reversed = openBlock(Uint8Array.from(value).reverse(), certificate);
    if (reversed !== undefined && digestInBlock(reversed) !== undefined) {
      return {
        mensagem:
          'SignedInfo foi assinado com esta chave, mas os bytes do valor estão na ordem inversa, como o Windows os dá; inverta-os antes de codificar em Base64.',
      };
    }
    return block?.at(-1) === PSS_TRAILER
      ? nearMissOfPss(reading, signedInfo, signedElement, value, certificate)
      : undefined;
  }
  const { digest, hex, isBare } = signed;
  const { name: algorithm, shown: name } = digest;
  const change = isBare ? { change: 'Assine com uma função RSA-SHA256, e não com RSA puro.' } : {};
  const bare = isBare
    ? ' sem o DigestInfo que o PKCS #1 põe em volta do resumo; assine com uma função RSA-SHA256, e não com RSA puro'
    : '';
  for (const { text, habit } of textsOfValue(reading, signedInfo, signedElement)) {
    if (hash(algorithm, text, 'hex') !== hex) continue;
    if (habit === '' && name === 'SHA-256' && !isBare) return NOT_EXACT;
    if (isBare)
      return { mensagem: `SignedInfo foi assinado ${habit}${habit === '' ? '' : ', e '}${bare.trim()}.`, ...change };
    return { mensagem: describeHabit('SignedInfo foi assinado', habit, name) };
  }
  const expected = hash(algorithm, reading.canonicalOf(signedInfo), 'base64');
  return {
    mensagem: `SignedInfo mudou depois de assinado, ou foi canonicalizado de outro modo: com a chave deste certificado foi assinado o ${name} ${Buffer.from(hex, 'hex').toString('base64')}${bare}, e o de SignedInfo é ${expected}.`,
    ...change,
  };
}

const NOT_EXACT: FaultText = describeFault(
  'SignedInfo foi assinado com esta chave, mas o bloco do PKCS #1 em volta do resumo não está na forma exata;',
  'assine com a função RSA-SHA256 de uma biblioteca corrente.',
);

/** The last octet of a block of RSASSA-PSS (RFC 8017, 9.1.1). */
const PSS_TRAILER = 0xbc;
/** Each text costs one RSA step per digest, and a sender may have chosen a slow key. */
const PSS_TEXTS_MAX = 4;

function nearMissOfPss(
  reading: XmlDocumentReading,
  signedInfo: Elemento,
  signedElement: string,
  value: Uint8Array,
  { publicKey }: Certificate,
): FaultText | undefined {
  const key = { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING };
  for (const { text, habit } of textsOfValue(reading, signedInfo, signedElement).take(PSS_TEXTS_MAX)) {
    for (const { shown: name, name: algorithm } of DIGESTS_BY_BYTES.values()) {
      if (!verify(algorithm, Buffer.from(text), key, value)) continue;
      return { mensagem: describeHabit('SignedInfo foi assinado', `${habit} com RSA-PSS`.trim(), name) };
    }
  }
  return undefined;
}

/** The block under a value: RSA with the public key alone. Undefined: the number does not belong to this key. */
function openBlock(value: Uint8Array, { publicKey }: Certificate): Buffer | undefined {
  return attempt(() => publicEncrypt({ key: publicKey, padding: constants.RSA_NO_PADDING }, value));
}

/** The digest in a block of PKCS #1 v1.5: 00 01 FF … 00, then a DigestInfo, or wrongly the digest alone. */
function digestInBlock(
  block: Buffer,
): { readonly digest: Digest; readonly hex: string; readonly isBare: boolean } | undefined {
  const end = block.indexOf(0, 2);
  if (block[0] !== 0 || block[1] !== 1 || end < 10) return undefined;
  if (block.subarray(2, end).some((octet) => octet !== 0xff)) return undefined;
  const content = block.subarray(end + 1);
  const bare = DIGESTS_BY_BYTES.get(content.length);
  if (bare !== undefined) return { digest: bare, hex: content.toString('hex'), isBare: true };
  const [, oid, hex] = DIGEST_INFO.exec(content.toString('hex')) ?? [];
  if (oid === undefined || hex === undefined) return undefined;
  const digest = DIGESTS_BY_DER[oid]!;
  return hex.length === digest.bytes * 2 ? { digest, hex, isBare: false } : undefined;
}

/** The pattern of an identifier, parameters that may be NULL, and the digest. */
const DIGEST_INFO = new RegExp(
  `^30..30..(${Object.keys(DIGESTS_BY_DER).join('|')})(?:0500)?04(?:14|20|30|40)([0-9a-f]+)$`,
);

function describeHabit(what: string, habit: string, digest: string): string {
  const how = [habit, digest === 'SHA-256' ? '' : `com ${digest}`].filter((part) => part !== '').join(', ');
  return `${what} ${how}; o aceito é C14N exclusiva, sem comentários, com SHA-256.`;
}

function* textsOfDigest(reading: XmlDocumentReading, element: Elemento, signature: Elemento): Generator<Candidate> {
  const canonical = reading.canonicalOf(element);
  yield* formsOf(reading, element);
  if (isLarge(reading)) return;
  yield {
    text: reading.rootWithout(signature),
    habit: 'sobre o documento inteiro, sem a Signature, e não só sobre o elemento assinado',
  };
  yield {
    text: canonical.replaceAll('\n', '&#xD;\n'),
    habit: 'com fins de linha CR LF, que XML lê como LF; grave o documento com LF antes de assinar',
  };
  yield { text: `\uFEFF${canonical}`, habit: 'com a marca de ordem de bytes (BOM) no começo' };
}

function* textsOfValue(reading: XmlDocumentReading, signedInfo: Elemento, signedElement: string): Generator<Candidate> {
  yield* formsOf(reading, signedInfo);
  yield { text: signedElement, habit: 'sobre o elemento assinado, e não sobre SignedInfo' };
}

/** An element in every form met in practice: the text as sent, other white space, other canonical forms. */
function* formsOf(reading: XmlDocumentReading, element: Elemento): Generator<Candidate> {
  const canonical = reading.canonicalOf(element);
  const { name } = element;
  yield { text: canonical, habit: '' };
  if (isLarge(reading)) return;
  const sent = asSent(reading, element);
  if (sent !== undefined) {
    const habit = 'sobre o texto como foi enviado, sem canonicalizar';
    yield { text: sent, habit };
    yield { text: sent.replace(/\r\n?/g, '\n'), habit };
  }
  const bare = withoutApexNamespace(canonical);
  yield { text: bare, habit: `sem a declaração xmlns que a forma canônica põe em ${name}` };
  const tight = canonical.replace(/>[ \t\n\r]+</g, '><');
  yield { text: tight, habit: 'sobre o documento sem espaços entre os elementos, e ele foi indentado depois' };
  yield {
    text: withoutApexNamespace(tight),
    habit: `sem espaços entre os elementos e sem o xmlns de ${name}`,
  };
  for (const unit of ['  ', '    ', '\t']) {
    const habit = 'sobre o documento indentado, e os espaços entre os elementos foram retirados ou mudados depois';
    yield { text: indentLikePrograms(tight, unit), habit };
  }
  const inclusive = reading.inclusive()?.canonicalOf(element);
  if (inclusive !== undefined) yield { text: inclusive, habit: 'com C14N inclusiva' };
}

function isLarge({ bytes }: XmlDocumentReading): boolean {
  return bytes.length > TEXTS_BYTES_MAX;
}

/** The element with the exact characters of the document. */
function asSent(reading: XmlDocumentReading, element: Elemento): string | undefined {
  const extent = reading.extentOf(element);
  return extent && reading.text().slice(extent.start, extent.end);
}

function withoutApexNamespace(canonical: string): string {
  return canonical.replace(/^(<[^\s>]+) xmlns(?::[^\s=]+)?="[^"]*"/, '$1');
}

/** The usual indentation of programs, with the element one level below its root: each element on a separate line. */
function indentLikePrograms(tight: string, unit: string): string {
  let depth = 1;
  return tight.replace(/(<\/?)([^>]*>)(?=(<\/?)?)/g, (tag, begin: string, _rest, next: string | undefined) => {
    if (begin === '<') depth += 1;
    else depth -= 1;
    if (next === undefined || (begin === '<' && next === '</')) return tag;
    return `${tag}\n${unit.repeat(next === '</' ? depth - 1 : depth)}`;
  });
}

/** The text in Latin-1, if that differs from UTF-8. */
function latinOf(text: string): Buffer | undefined {
  return /[\u0080-\u00ff]/.test(text) ? Buffer.from(text, 'latin1') : undefined;
}
