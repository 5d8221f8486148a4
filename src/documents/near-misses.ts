/**
 * Signatures that nearly fit: what else a document would verify under, tried only when it did not verify under the
 * profile. Most signatures fail for one of a dozen habits of libraries, and whoever is told which one stops searching.
 */
import { constants, hash, verify } from 'node:crypto';
import type { Elemento } from '../fiscal/layout/tree.ts';
import type { Certificate } from './certificate.ts';
import { CANONICAL_FORMS, canonicalForm, type XmlDocumentReading } from './xml.ts';

const DIGESTS = { 'SHA-256': 'sha256', 'SHA-1': 'sha1', 'SHA-512': 'sha512', 'SHA-384': 'sha384' } as const;

/** A text that somebody might have digested or signed, and what they did that they should not have. */
type Candidate = { readonly text: string; readonly habit: string };

/** Which other text, or which other digest, gives the declared one. In Portuguese; undefined when none does. */
export function nearMissOfDigest(
  reading: XmlDocumentReading,
  element: Elemento,
  signature: Elemento,
  declared: string,
): string | undefined {
  const canonical = reading.canonicalOf(element);
  const candidates = [
    ...formsOf(reading, element),
    {
      text: withoutDocumentSignature(reading, signature),
      habit: 'sobre o documento inteiro, sem a Signature, e não só sobre o elemento assinado',
    },
    {
      text: canonical.replaceAll('\n', '&#xD;\n'),
      habit: 'com fins de linha CR LF, que XML lê como LF; grave o documento com LF antes de assinar',
    },
    { text: `\uFEFF${canonical}`, habit: 'com a marca de ordem de bytes (BOM) no começo' },
  ];
  for (const { text, habit } of candidates) {
    for (const [name, algorithm] of Object.entries(DIGESTS)) {
      if (hash(algorithm, text, 'base64') === declared) return told('O resumo declarado foi calculado', habit, name);
    }
    if (hash('sha256', Buffer.from(text, 'latin1'), 'base64') === declared) {
      return told(
        'O resumo declarado foi calculado',
        `${habit || 'sobre o texto certo'}, codificado em Latin-1 e não em UTF-8`,
        'SHA-256',
      );
    }
    if (Buffer.from(hash('sha256', text, 'hex')).toString('base64') === declared) {
      return 'O resumo declarado é o Base64 do texto hexadecimal do SHA-256; codifique em Base64 os 32 bytes do resumo.';
    }
  }
  return undefined;
}

/** The same for the value: another text than the canonical SignedInfo, or another algorithm, with this certificate. */
export function nearMissOfValue(
  reading: XmlDocumentReading,
  signedInfo: Elemento,
  signedElement: string,
  value: Uint8Array,
  certificate: Certificate,
): string | undefined {
  const candidates = [
    ...formsOf(reading, signedInfo),
    { text: signedElement, habit: 'sobre o elemento assinado, e não sobre SignedInfo' },
  ];
  for (const { text, habit } of candidates) {
    for (const [name, algorithm] of Object.entries(DIGESTS)) {
      const bytes = Buffer.from(text, 'utf8');
      const key = { key: certificate.publicKey, padding: constants.RSA_PKCS1_PADDING };
      if (verify(algorithm, bytes, key, value)) return told('SignedInfo foi assinado', habit, name);
      const pss = { key: certificate.publicKey, padding: constants.RSA_PKCS1_PSS_PADDING };
      if (verify(algorithm, bytes, pss, value))
        return told('SignedInfo foi assinado', `${habit} com RSA-PSS`.trim(), name);
    }
  }
  return undefined;
}

function told(what: string, habit: string, digest: string): string {
  const how = [habit, digest === 'SHA-256' ? '' : `com ${digest}`].filter((part) => part !== '').join(', ');
  return `${what} ${how}; o aceito é C14N exclusiva, sem comentários, com SHA-256.`;
}

/** One element in every form that one meets: other canonicalisations, the text as it stands, and re-indented. */
function formsOf(reading: XmlDocumentReading, element: Elemento): Candidate[] {
  const canonical = reading.canonicalOf(element);
  const name = element.name;
  const forms = Object.keys(CANONICAL_FORMS) as (keyof typeof CANONICAL_FORMS)[];
  const sent = asSent(reading, element);
  const texts: Candidate[] = [
    { text: canonical, habit: '' },
    ...forms.map((form) => ({ text: canonicalForm(reading.bytes, element, form), habit: `com C14N ${form}` })),
    { text: withoutApexNamespace(canonical), habit: `sem a declaração xmlns que a forma canônica põe em ${name}` },
    {
      text: canonical.replace(/>[ \t\n\r]+</g, '><'),
      habit: 'sobre o documento sem espaços entre os elementos, e ele foi indentado depois',
    },
    {
      text: withoutApexNamespace(canonical).replace(/>[ \t\n\r]+</g, '><'),
      habit: `sem espaços entre os elementos e sem o xmlns de ${name}`,
    },
  ];
  if (sent !== undefined) {
    texts.push({ text: sent, habit: 'sobre o texto como foi enviado, sem canonicalizar' });
    texts.push({ text: sent.replaceAll('\r\n', '\n'), habit: 'sobre o texto como foi enviado, sem canonicalizar' });
  }
  return texts;
}

/** The element as its characters stand in the document. */
function asSent(reading: XmlDocumentReading, element: Elemento): string | undefined {
  const text = reading.text();
  const { linha, coluna } = reading.positionOf(element);
  const lines = text.split(/\r\n|\r|\n/, linha);
  if (lines.length < linha) return undefined;
  let start = 0;
  for (let line = 0; line < linha - 1; line += 1) {
    start += lines[line]!.length;
    start += text.startsWith('\r\n', start) ? 2 : 1;
  }
  start += [...text.slice(start).slice(0, coluna * 2)].slice(0, coluna - 1).join('').length;
  const tag = /^<([^\s/>]+)/.exec(text.slice(start))?.[1];
  if (tag === undefined) return undefined;
  const close = text.indexOf(`</${tag}`, start);
  const end = close < 0 ? -1 : text.indexOf('>', close);
  return end < 0 ? undefined : text.slice(start, end + 1);
}

function withoutApexNamespace(canonical: string): string {
  return canonical.replace(/^(<[^\s>]+) xmlns(?::[^\s=]+)?="[^"]*"/, '$1');
}

function withoutDocumentSignature(reading: XmlDocumentReading, signature: Elemento): string {
  const whole = reading.canonicalOf(reading.root);
  const start = whole.search(/<(?:[\w.-]+:)?Signature[\s>]/);
  if (start < 0 || signature.children.length === 0) return whole;
  const close = /<\/(?:[\w.-]+:)?Signature>/.exec(whole.slice(start));
  return close === null ? whole : whole.slice(0, start) + whole.slice(start + close.index + close[0].length);
}
