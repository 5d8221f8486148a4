/**
 * XML signatures made by others verify, and no changed document does. Each of many documents, changed in each of many ways, is refused. The
 * refusal has the right code and a message that names the fault. xmlsec1 is asked as well.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { SignedXml } from 'xml-crypto';
import { MUTATIONS } from '../../../test/support/mutations.ts';
import { rearranged } from '../../../test/support/rearrange.ts';
import { LONG, SEED } from '../../../test/support/seed.ts';
import {
  DRESSES,
  DSIG,
  ENCODINGS,
  ENVELOPED,
  EXCLUSIVE,
  idOf,
  RSA_SHA256,
  SHA256,
  signatureOver,
  signedBy,
  TRANSFORMS,
  transform,
  x509,
} from '../../../test/support/signatures.ts';
import {
  assertAccepted as assertAcceptedHere,
  assertRefused,
  chance,
  changedText,
  DOCUMENTS,
  documents,
  elementOf,
  endOf,
  folder,
  inFolder,
  NAMESPACE,
  provider,
  someDocuments,
  startOf,
  verdict,
} from '../../../test/support/signed-documents.ts';
import { toolOr } from '../../../test/support/tools.ts';
import { CERTIFICATE_PEM, XMLSEC, XMLSEC_VERIFY, xmlsecVerdicts } from '../../../test/support/xmlsec.ts';
import { readCertificate } from '../../documents/certificate.ts';
import { signXml } from '../../documents/signing.ts';
import { canonicalInfDps } from '../../documents/xml.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

/** Documents on which a mutation is tried in an everyday run; each run takes others. */
const SAMPLE = LONG ? DOCUMENTS : 5;
/** Mutated documents of each kind that xmlsec1 is asked about; each takes a process. */
const ASKED = LONG ? 20 : 1;
const XMLLINT = toolOr('xmllint', 'libxml2-utils');
const OPENSSL = toolOr('openssl', 'openssl');
const KEY_PEM = inFolder('chave.pem', provider.keyPem);

const accepted: string[] = [];

/** The document is accepted here, and kept for xmlsec1. */
function assertAccepted(bytes: Buffer, what: string): void {
  assertAcceptedHere(bytes, what);
  accepted.push(inFolder(`aceito-${accepted.length}.xml`, bytes));
}

/** One process verifies all files; it ends at the first that does not verify. */
function assertXmlsecAccepts(files: readonly string[]): void {
  const run = spawnSync(XMLSEC!, [...XMLSEC_VERIFY, ...files], { encoding: 'utf8' });
  assert.equal(run.status, 0, run.stderr.slice(-2_000));
  assert.equal(run.stderr.match(/^OK$/gm)?.length, files.length);
}

test(`signed by others (seed ${SEED})`, async (t) => {
  await t.test('the documents are distinct', () => {
    assert.equal(new Set(documents.map(({ xml }) => xml)).size, DOCUMENTS);
    assert.equal(new Set(documents.map(({ canonical }) => canonical)).size, DOCUMENTS);
  });

  await t.test(`${DOCUMENTS} documents verify`, () => {
    for (const { name, signed, encode } of documents) assertAccepted(encode(signed), name);
  });

  await t.test('what we sign ourselves verifies', async () => {
    const certificate = readCertificate(provider.der);
    assert.ok('der' in certificate);
    for (const { name, xml, encode } of someDocuments(SAMPLE)) {
      assertAccepted(await signXml(encode(xml), { key: provider.keys.privateKey, certificate }), name);
    }
  });

  const TRANSFORM_LISTS = { both: TRANSFORMS, 'exclusive C14N alone': transform(EXCLUSIVE) };

  await t.test('xmlsec1 signs a template', { skip: XMLSEC === undefined }, () => {
    for (const [place, [dress, wear]] of Object.entries(DRESSES).entries()) {
      const [list, transforms] = Object.entries(TRANSFORM_LISTS)[place % 2]!;
      const template = signedBy(wear(exampleXml()), provider, {
        transforms,
        digest: () => '',
        value: () => Buffer.alloc(0),
        keyInfo: '<KeyInfo><X509Data><X509Certificate></X509Certificate></X509Data></KeyInfo>',
      });
      const [input, output] = [inFolder('modelo.xml', template), path.join(folder, `xmlsec-${place}.xml`)];
      const keys = ['--privkey-pem', `${KEY_PEM},${CERTIFICATE_PEM}`, '--id-attr:Id', `${NAMESPACE}:infDPS`];
      const run = spawnSync(XMLSEC!, ['--sign', ...keys, '--output', output, input], { encoding: 'utf8' });
      assert.equal(run.status, 0, run.stderr);
      const signed = readFileSync(output);
      const isBroken = /<SignatureValue>[^<]*\n[^<]*</.test(signed.toString());
      assert.ok(isBroken, 'its Base64 stands in several lines');
      assertAccepted(signed, `signed by xmlsec1, ${dress}, ${list}`);
      const joined = signed
        .toString()
        .replace(/(<SignatureValue>|<X509Certificate>)([^<]*)/g, (_, tag, text) => tag + text.replace(/\s/g, ''));
      assertAccepted(Buffer.from(joined), `signed by xmlsec1, its Base64 in one line, ${dress}`);
    }
  });

  await t.test('xml-crypto signs', () => {
    for (const [dress, wear] of Object.entries(DRESSES)) {
      for (const transforms of [[ENVELOPED, EXCLUSIVE], [EXCLUSIVE]]) {
        for (const prefix of ['', 'ds']) {
          const signer = new SignedXml({
            privateKey: provider.keyPem,
            publicCert: provider.pem,
            signatureAlgorithm: RSA_SHA256,
            canonicalizationAlgorithm: EXCLUSIVE,
          });
          signer.addReference({ xpath: "//*[local-name(.)='infDPS']", transforms, digestAlgorithm: SHA256 });
          const location = { reference: "//*[local-name(.)='infDPS']", action: 'after' as const };
          signer.computeSignature(wear(exampleXml()), { location, ...(prefix === '' ? {} : { prefix }) });
          const what = `signed by xml-crypto, ${dress}, ${transforms.length} transforms, prefix ${prefix}`;
          assertAccepted(Buffer.from(signer.getSignedXml()), what);
        }
      }
    }
  });

  await t.test(
    'openssl signs a canonical form of xmllint',
    { skip: OPENSSL === undefined || XMLLINT === undefined },
    () => {
      const canonicalOf = (text: string): Buffer => spawnSync(XMLLINT!, ['--exc-c14n', '-'], { input: text }).stdout;
      const openssl = (args: readonly string[], input: Buffer): Buffer => {
        const run = spawnSync(OPENSSL!, args, { input });
        assert.equal(run.status, 0, run.stderr.toString());
        return run.stdout;
      };
      for (const transforms of Object.values(TRANSFORM_LISTS)) {
        const xml = exampleXml({ 'serv/cServ/xDescServ': 'Ação & "aspas" <tag>' });
        // The element alone, with the namespace that it inherits from the root.
        const alone = xml.replace(/[\s\S]*(<infDPS)([\s\S]*<\/infDPS>)[\s\S]*/, `$1 xmlns="${NAMESPACE}"$2`);
        const signed = signedBy(xml, provider, {
          transforms,
          digest: () => openssl(['dgst', '-sha256', '-binary'], canonicalOf(alone)).toString('base64'),
          value: (signedInfo) => openssl(['dgst', '-sha256', '-sign', KEY_PEM], canonicalOf(signedInfo)),
          valueText: (base64) => base64.replace(/.{64}/g, '$&\r\n'),
          keyInfo: x509(provider.pem.replace(/-----[^-]+-----/g, '')),
        });
        assertAccepted(Buffer.from(signed), 'signed by openssl');
      }
    },
  );

  await t.test('in every dress and encoding, Base64 in lines or not', () => {
    for (const [dress, wear] of Object.entries(DRESSES)) {
      const xml = wear(exampleXml({ 'toma/xNome': 'Açaí & Cia' }));
      const lines = signedBy(xml, provider, {
        valueText: (base64) => `\n${base64.replace(/.{76}/g, '$&\n')}\n`,
        keyInfo: x509(provider.base64.replace(/.{64}/g, '$&&#13;\r\n\t')),
        space: '\r\n\t',
      });
      for (const [encoding, encode] of Object.entries(ENCODINGS)) {
        for (const signed of [lines, signedBy(xml, provider)]) assertAccepted(encode(signed), `${dress}, ${encoding}`);
      }
    }
  });

  await t.test('but not before what they sign, where the layout has no place for them', () => {
    for (const [dress, wear] of Object.entries(DRESSES)) {
      const xml = wear(exampleXml());
      const before = xml.replace(/<(?:\w+:)?infDPS/, (tag) => signatureOver(xml, provider) + tag);
      assertRefused(
        Buffer.from(before),
        ['E902'],
        [/A Signature está antes de infDPS; o seu lugar é depois dele.* @ \/DPS\/Signature/],
        dress,
      );
    }
  });

  await t.test('with Ids in the parts of the signature, as some libraries write them', () => {
    const xml = exampleXml();
    const signed = signedBy(xml, provider, {
      signedInfo: (text) =>
        text.replace('<SignedInfo>', '<SignedInfo Id="si1">').replace('<Reference ', '<Reference Id="r1" '),
    })
      .replace('<Signature ', '<Signature Id="s1" ')
      .replace('<SignatureValue>', '<SignatureValue Id="v1">')
      .replace('<KeyInfo>', '<KeyInfo Id="k1">');
    assertAccepted(Buffer.from(signed), 'Ids');
  });

  await t.test('no difference is made by white space in Base64, and values in CDATA sections', () => {
    for (const { signed, encode, name } of someDocuments(SAMPLE)) {
      const spaced = changedText(
        changedText(signed, 'SignatureValue', (text) => `\t${text.replace(/.{19}/g, '$& \r\n')}`),
        'X509Certificate',
        (text) => text.replace(/.{64}/g, '$&\n'),
      );
      assertAccepted(encode(spaced), name);
      const split = changedText(
        signed,
        'vServ',
        (text) => `<![CDATA[${text.slice(0, 2)}]]>${text.slice(2)}<![CDATA[]]>`,
      );
      assertAccepted(encode(split), name);
      const inCdata = changedText(
        changedText(signed, 'SignatureValue', (text) => `<![CDATA[${text}]]>`),
        'DigestValue',
        (text) => `<![CDATA[${text.slice(0, 9)}]]>${text.slice(9)}`,
      );
      assertAccepted(encode(inCdata), name);
      assertAccepted(encode(signed.replace(endOf('infDPS'), '$&\n\n\t ')), `${name}, white space beside`);
      assertAccepted(
        encode(signed.replace(/ versao=(["'])1\.01\1/, '\n  versao = "1.01" ')),
        `${name}, white space in a tag`,
      );
    }
  });

  await t.test('xmlsec1 accepts whatever was accepted', { skip: XMLSEC === undefined }, () => {
    assert.ok(accepted.length > DOCUMENTS + 100, `${accepted.length} documents`);
    assertXmlsecAccepts(accepted);
  });
});

test('a changed document is refused', async (t) => {
  const asked: { readonly file: string; readonly what: string }[] = [];

  for (const [part, mutations] of Object.entries(MUTATIONS)) {
    await t.test(`${part} is changed (seed ${SEED})`, async (t) => {
      for (const { name, make, codes = ['E902'], says, isForXmlsec = false } of mutations) {
        await t.test(name, () => {
          let tried = 0;
          for (const doc of someDocuments(SAMPLE)) {
            const text = make(doc, chance);
            if (text === undefined) continue;
            tried += 1;
            const what = `${name}, ${doc.name}, seed ${SEED}`;
            assert.notEqual(text, doc.signed, what);
            const bytes = doc.encode(text);
            assertRefused(bytes, codes, says, what);
            if (isForXmlsec && tried <= ASKED) {
              asked.push({ file: inFolder(`recusado-${asked.length}.xml`, bytes), what });
            }
          }
          assert.ok(tried > 0, 'it applies to some document');
        });
      }
    });
  }

  await t.test('xmlsec1 refuses them as well', { skip: XMLSEC === undefined }, () => {
    const verdicts = xmlsecVerdicts(asked.map(({ file }) => file));
    assert.equal(verdicts.size, asked.length);
    for (const { file, what } of asked) assert.equal(verdicts.get(file), false, `xmlsec1 accepts ${what}`);
  });
});

// Wrapping: the signed element stays in the document and verifies, but a reader would take another element.

/** Parts of a signed document, and an infDPS that nobody signed. */
type Wrapping = {
  readonly head: string;
  readonly original: string;
  readonly evil: string;
  readonly signature: string;
  readonly tail: string;
};

const inObject = (signature: string, what: string): string =>
  signature.replace(endOf('Signature'), (end) => `<Object xmlns="${DSIG}">${what}</Object>${end}`);
const inEvil = (evil: string, what: string): string => evil.replace(endOf('infDPS'), (end) => what + end);

/** The nine classic shapes of XML signature wrapping, as they look in a DPS. */
const WRAPPINGS: readonly (readonly [name: string, wrap: (parts: Wrapping) => string])[] = [
  [
    '1: a new document, the original whole inside the Signature',
    ({ head, original, evil, signature, tail }) =>
      head + evil + inObject(signature, head.replace(/^<\?xml[^>]*>/, '') + original + tail) + tail,
  ],
  [
    '2: a new document, the original whole beside the Signature',
    ({ head, original, evil, signature, tail }) =>
      head + evil + head.replace(/^<\?xml[^>]*>/, '') + original + tail + signature + tail,
  ],
  [
    '3: the new element before the original',
    ({ head, original, evil, signature, tail }) => head + evil + original + signature + tail,
  ],
  [
    '4: the original inside the new element',
    ({ head, original, evil, signature, tail }) => head + inEvil(evil, original) + signature + tail,
  ],
  [
    '5: the Signature inside the new element, the original behind it',
    ({ head, original, evil, signature, tail }) => head + inEvil(evil, signature) + original + tail,
  ],
  [
    '6: the original inside the Signature inside the new element',
    ({ head, original, evil, signature, tail }) => head + inEvil(evil, inObject(signature, original)) + tail,
  ],
  [
    '7: the original under Extensions, before the new element',
    ({ head, original, evil, signature, tail }) =>
      `${head}<Extensions>${original}</Extensions>${evil}${signature}${tail}`,
  ],
  [
    '8: the original in an Object of the Signature, the new element in its place',
    ({ head, original, evil, signature, tail }) => head + evil + inObject(signature, original) + tail,
  ],
  [
    '9: the new element last, behind the Signature',
    ({ head, original, evil, signature, tail }) => head + original + signature + evil + tail,
  ],
];

/** The identifier of the new element. */
const IDENTITIES: Readonly<Record<string, (tag: string, id: string) => string>> = {
  'the same Id': (tag) => tag,
  'another Id': (tag) => tag.replace(/(DPS\d+)\d/, '$19'),
  'no Id': (tag) => tag.replace(/\sId\s*=\s*(["'])DPS\d+\1/, ''),
  'the same id, in small letters': (tag) => tag.replace(/\sId(\s*=)/, ' id$1'),
  'the same ID, in capital letters': (tag) => tag.replace(/\sId(\s*=)/, ' ID$1'),
  'the same xml:id': (tag) => tag.replace(/\sId(\s*=)/, ' xml:id$1'),
  'the same Id in a namespace': (tag) => tag.replace(/\sId(\s*=)/, ' xmlns:w="urn:w" w:Id$1'),
  'another Id, and the same in small letters': (tag, id) =>
    tag.replace(/(DPS\d+)\d/, '$19').replace(/>$/, ` id="${id}">`),
};

/** The identity by which xmlsec1 is fooled: the signed element is then the only one that its `URI` may mean. */
const FOOLING = 'another Id';
/** Shapes by which xmlsec1 must be fooled; it is not asked again once so many were found. */
const REAL_SHAPES_MIN = 6;

test(`wrapped (seed ${SEED})`, async (t) => {
  const fooled = new Set<string>();
  for (const [name, wrap] of WRAPPINGS) {
    for (const [identity, rename] of Object.entries(IDENTITIES)) {
      await t.test(`${name}; with ${identity}`, () => {
        for (const doc of someDocuments(LONG ? DOCUMENTS : 4)) {
          const original = elementOf('infDPS').exec(doc.signed)![0];
          const signature = elementOf('Signature').exec(doc.signed)![0];
          const [head, tail] = [doc.signed.slice(0, doc.signed.indexOf(original)), '</DPS>'];
          const end = endOf('DPS').exec(doc.signed)![0];
          const evil = changedText(original, 'vServ', () => '0.01').replace(startOf('infDPS'), (tag) =>
            rename(tag, idOf(doc.xml)),
          );
          const text = wrap({ head, original, evil, signature, tail: end || tail });
          const bytes = doc.encode(text);
          assertRefused(
            bytes,
            ['E902'],
            [/infDPS|Signature|fora do que a assinatura cobre|identificador/],
            `${name}, ${identity}, ${doc.name}`,
          );
          if (XMLSEC === undefined || identity !== FOOLING) continue;
          if (fooled.has(name) || fooled.size >= REAL_SHAPES_MIN) continue;
          const file = inFolder('embrulhado.xml', bytes);
          if (spawnSync(XMLSEC, [...XMLSEC_VERIFY, file]).status === 0) fooled.add(name);
        }
      });
    }
  }

  await t.test(
    'and the shapes are real: who looks at the signature alone is fooled by most',
    { skip: XMLSEC === undefined },
    () => {
      assert.ok(fooled.size >= REAL_SHAPES_MIN, `xmlsec1 verifies ${[...fooled].join('; ')}`);
    },
  );
});

/** Changed bytes are refused, or the document still says what was signed. */
test('a document that is accepted says what was signed', () => {
  const runs = LONG ? 100_000 : 1_000;
  let accepted = 0;
  for (let run = 0; run < runs; run += 1) {
    const doc = documents[run % DOCUMENTS]!;
    const bytes = doc.encode(doc.signed);
    for (let change = chance.below(3); change >= 0; change -= 1) {
      bytes[chance.below(bytes.length)] =
        chance.below(2) === 0 ? chance.below(256) : chance.pick([0, 9, 10, 13, 32, 38, 60, 62]);
    }
    const faults = verdict(bytes);
    if (faults.length > 0) continue;
    accepted += 1;
    assert.equal(canonicalInfDps(bytes), doc.canonical, `${doc.name}, run ${run} of seed ${SEED}`);
  }
  assert.ok(accepted > 0 && accepted < runs / 4, `${accepted} of ${runs} are accepted`);
});

test('a document whose elements were moved about says what was signed, or is refused', () => {
  const runs = LONG ? 40_000 : 500;
  let accepted = 0;
  for (let run = 0; run < runs; run += 1) {
    const doc = documents[run % DOCUMENTS]!;
    const bytes = Buffer.from(rearranged(doc.signed, chance));
    if (verdict(bytes).length > 0) continue;
    accepted += 1;
    assert.equal(canonicalInfDps(bytes), doc.canonical, `${doc.name}, run ${run} of seed ${SEED}\n${bytes}`);
  }
  assert.ok(accepted > 0 && accepted < runs / 2, `${accepted} of ${runs} are accepted`);
});
