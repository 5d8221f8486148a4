/**
 * Nobody can keep the service busy with a signature: documents of a megabyte, each made to be slow for one of the steps,
 * are answered within a second of the processor, and in few words. Where the processor is slow, the second is as long as what a
 * megabyte of ordinary documents costs on it makes it.
 */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { companyCertificate } from '../src/documents/pki.ts';
import { checkSignature, DPS_PROFILE } from '../src/documents/signed.ts';
import { readXml } from '../src/documents/xml.ts';
import type { Fault } from '../src/fiscal/fault.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { placedFaults } from '../src/flows/document-faults.ts';
import { assertCostsLess, leastCpuMsOf } from './support/cost.ts';
import {
  companyOf,
  DSIG,
  EXCLUSIVE,
  PROVIDER_CNPJ,
  partyOf,
  signedBy,
  testParties,
  transform,
  yearAround,
} from './support/signatures.ts';

const NOW = Date.parse('2026-11-21T12:00:00-03:00');
/** What the door takes. */
const BODY_MAX_BYTES = 1024 * 1024;
/** Near misses are looked for in documents up to this. */
const NEAR_BYTES_MAX = 64 * 1024;
const CPU_MAX_MS = 1_000;
/** What a megabyte made to be slow may cost more than one of ordinary documents. */
const TIMES_ORDINARY_MAX = 25;
const ANSWER_MAX = 20_000;

const { provider, root } = await testParties(NOW);
const PLAIN = signedBy(exampleXml(), provider);

/** As many units as fit, at the place of a mark in the document: before it, or behind. */
function filled(
  unit: string | ((number: number) => string),
  mark: string,
  where: 'before' | 'behind',
  options: { text?: string; max?: number } = {},
): string {
  const { text = PLAIN, max = BODY_MAX_BYTES } = options;
  const place = text.indexOf(mark) + (where === 'behind' ? mark.length : 0);
  const [head, tail] = [text.slice(0, place), text.slice(place)];
  const units: string[] = [];
  for (let size = Buffer.byteLength(text); ; ) {
    const one = typeof unit === 'string' ? unit : unit(units.length);
    size += Buffer.byteLength(one);
    if (size > max) return head + units.join('') + tail;
    units.push(one);
  }
}

const prefixes = (count: number): string =>
  Array.from({ length: count }, (_, place) => ` xmlns:p${place}="urn:${place}"`).join('');
const attributes = (count: number, prefixed = false): string =>
  Array.from({ length: count }, (_, place) => (prefixed ? ` p${place}:a=""` : ` a${place}=""`)).join('');
const withRoot = (more: string): string => PLAIN.replace('<DPS ', `<DPS${more} `);
const USED = withRoot(' xmlns:p="urn:p" p:a="1"');

/** Elements stay just below the limit on their number where it is another step that must be slow. */
const ELEMENTS = 59_000;

const DOCUMENTS: Readonly<Record<string, () => string>> = {
  'elements in infDPS': () => filled('<a/>', '<tpAmb>', 'before', { max: 4 * ELEMENTS }),
  'elements beyond the limit': () => filled('<a/>', '<tpAmb>', 'before'),
  'elements beside infDPS': () => filled('<abcdefghijklm/>', '</infDPS>', 'behind'),
  'infDPS beside infDPS': () => filled('<infDPS a="12345"/>', '</infDPS>', 'behind'),
  'infDPS in infDPS': () => filled('<infDPS a="12345"/>', '<tpAmb>', 'before'),
  Signatures: () => filled(`<Signature xmlns="${DSIG}"/>`, '</infDPS>', 'behind'),
  'Signatures in infDPS': () => filled(`<Signature xmlns="${DSIG}"/>`, '<tpAmb>', 'before'),
  'the same Id everywhere': () => filled('<a Id="DPS3"   />', '<tpAmb>', 'before'),
  'another Id everywhere': () =>
    filled((number) => `<a Id="x${String(number).padStart(7, '0')}"/>`, '<tpAmb>', 'before'),
  'References of nothing': () => filled('<Reference/>', '</SignedInfo>', 'before', { max: 600_000 }),
  References: () =>
    filled(
      `<Reference URI="#a"><Transforms>${transform(EXCLUSIVE)}</Transforms></Reference>`,
      '</SignedInfo>',
      'before',
    ),
  transforms: () => filled(transform(EXCLUSIVE), '</Transforms>', 'before'),
  certificates: () => filled('<X509Certificate/>', '</X509Data>', 'before', { max: 1_000_000 }),
  'whole certificates': () => filled(`<X509Certificate>${provider.base64}</X509Certificate>`, '</X509Data>', 'before'),
  'other certificates': () =>
    filled((number) => `<X509Certificate>AAAA${number}</X509Certificate>`, '</X509Data>', 'before'),
  KeyInfos: () => filled('<KeyInfo       />', '</Signature>', 'before'),
  'a value of a megabyte': () => filled('AAAA', '</SignatureValue>', 'before'),
  'a value of spaces': () => filled(' \n\t', '</SignatureValue>', 'before'),
  'a certificate of a megabyte': () => filled('AAAA', '</X509Certificate>', 'before'),
  'a digest of a megabyte': () => filled('AAAA', '</DigestValue>', 'before'),
  'an Id of a megabyte': () => filled('x', 'Id="', 'behind'),
  'a URI of a megabyte': () => filled('x', 'URI="', 'behind'),
  'an algorithm of a megabyte': () => filled('x', 'Algorithm="', 'behind'),
  'a text of a megabyte': () => filled('x', '<xDescServ>', 'behind'),
  'a text of references': () => filled('&#13;', '<xDescServ>', 'behind'),
  'a text of signs': () => filled('&gt;', '<xDescServ>', 'behind'),
  'a text of line ends': () => filled('\r\n', '<xDescServ>', 'behind'),
  'an attribute of a megabyte': () =>
    filled('> ', '<xDescServ>', 'behind', {
      text: PLAIN.replace('<xDescServ>', '<xDescServ a="<xDescServ>">'),
    }).replace('a="<xDescServ>', 'a="'),
  'spaces in a tag': () => filled(' ', '<xDescServ', 'behind'),
  'CDATA sections': () => filled('<![CDATA[<!--]]>', '<xDescServ>', 'behind'),
  comments: () => filled('<!---->', '<tpAmb>', 'before'),
  instructions: () => filled('<?a?>', '<tpAmb>', 'before'),
  'comments before the root': () => filled('<!---->', '<DPS', 'before'),
  'instructions before the root': () => filled('<?a?>', '<DPS', 'before'),
  'comments that are not closed': () => filled('<!-- -', '<DPS', 'before'),
  'tags that are not closed': () => filled('<a "', '<DPS', 'before'),
  'attributes beyond the limit': () => filled((number) => ` a${number}=""`, '<xDescServ', 'behind'),
  'attributes at the limit': () => filled(`<a${attributes(250)}/>`, '<tpAmb>', 'before'),
  'attributes of many prefixes': () =>
    filled(`<a${attributes(240, true)}/>`, '<tpAmb>', 'before', { text: withRoot(prefixes(240)) }),
  'prefixes beyond the limit': () =>
    filled((number) => `<p${number}:a xmlns:p${number}="urn:x"/>`, '<tpAmb>', 'before'),
  'prefixes at the limit': () =>
    filled('<a/>', '<tpAmb>', 'before', { text: withRoot(prefixes(240)), max: 4 * ELEMENTS }),
  'prefixes at the limit, where near misses are looked for': () =>
    filled('<a/>', '<tpAmb>', 'before', { text: withRoot(prefixes(240)), max: NEAR_BYTES_MAX }),
  'prefixes, where near misses are looked for': () =>
    filled('<a/>', '<tpAmb>', 'before', { text: withRoot(prefixes(15)), max: NEAR_BYTES_MAX }),
  'deep elements, where near misses are looked for': () =>
    filled('<a>'.repeat(24) + '</a>'.repeat(24), '<tpAmb>', 'before', { max: NEAR_BYTES_MAX }),
  'lines, where near misses are looked for': () =>
    filled('<x>Ação\r\n</x>', '<tpAmb>', 'before', { max: NEAR_BYTES_MAX }),
  'default namespaces': () => filled((number) => `<a xmlns="urn:${number}"/>`, '<tpAmb>', 'before'),
  'default namespaces, taken back': () => filled('<a xmlns=""><b xmlns="urn:b"/></a>', '<tpAmb>', 'before'),
  'an element that only libxml2 can cut out': () =>
    filled('<a/>', '<tpAmb>', 'before', { text: USED, max: 4 * ELEMENTS }),
  'an element with attributes that only libxml2 can cut out': () =>
    filled(`<a${attributes(250)}/>`, '<tpAmb>', 'before', { text: USED }),
  'a relative namespace at the end': () =>
    filled('<a xmlns="urn:b"/>', '<tpAmb>', 'before', { max: BODY_MAX_BYTES - 60 }).replace(
      '</infDPS>',
      '<a xmlns="b"/></infDPS>',
    ),
  'a strange namespace at the end': () =>
    filled('<a xmlns="urn:b"/>', '<tpAmb>', 'before', { max: BODY_MAX_BYTES - 60 }).replace(
      '</infDPS>',
      '<a xmlns="http://[&lt;]"/></infDPS>',
    ),
  'deep beyond the limit': () => filled('<a>', '<tpAmb>', 'before'),
  'a key that is dear to use': () => dearKey(),
};

/** The largest exponent that OpenSSL takes, as large as the key. */
function dearKey(): string {
  const keys = generateKeyPairSync('rsa', { modulusLength: 3072, publicExponent: 0xffff_ffff });
  const party = partyOf(keys, companyCertificate(root, companyOf(PROVIDER_CNPJ), keys.publicKey, yearAround(NOW)));
  return signedBy(exampleXml(), party, { value: () => Buffer.alloc(384, 1) });
}

/** As the door does it. */
function answerTo(bytes: Buffer): readonly Fault[] {
  const reading = readXml(bytes);
  return 'fault' in reading ? [reading.fault] : placedFaults(checkSignature(reading, DPS_PROFILE).faults, reading);
}

const ordinary = Buffer.from(PLAIN);
const ordinaryMs = leastCpuMsOf(() => {
  for (let size = 0; size < BODY_MAX_BYTES; size += ordinary.length) answerTo(ordinary);
});
const maxMs = Math.max(CPU_MAX_MS, TIMES_ORDINARY_MAX * ordinaryMs);

describe('a megabyte made to be slow', () => {
  for (const [name, make] of Object.entries(DOCUMENTS)) {
    test(name, () => {
      const bytes = Buffer.from(make());
      assert.ok(bytes.length <= BODY_MAX_BYTES, `${bytes.length} bytes`);
      let faults: readonly Fault[] = [];
      const answer = (): void => {
        faults = answerTo(bytes);
      };
      assertCostsLess(answer, maxMs, name);
      const told = JSON.stringify(faults);
      assert.ok(told.length < ANSWER_MAX, `an answer of ${told.length} characters`);
      if (!/spaces|comments before/.test(name)) assert.ok(faults.length > 0, 'it is refused');
    });
  }
});
