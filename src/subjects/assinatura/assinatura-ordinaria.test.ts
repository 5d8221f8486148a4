/**
 * The ordinary signature (D-355), which is recognised by its text. The inspection of each element then finds the same parts and no fault,
 * and the report is the same. Documents are changed where no signature covers them, and signed over all that a signer may write.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bytesOf, CORPORA, readCorpus } from '../../../test/ataques/ataque.ts';
import { MUTATIONS } from '../../../test/support/mutations.ts';
import { acceptedPatches } from '../../../test/support/notas.ts';
import { rearranged } from '../../../test/support/rearrange.ts';
import { LONG, SEED } from '../../../test/support/seed.ts';
import { chanceOf, DSIG, EXCLUSIVE, idOf, signedBy, transform } from '../../../test/support/signatures.ts';
import { documents, provider } from '../../../test/support/signed-documents.ts';
import { readCertificate } from '../../documents/certificate.ts';
import { ordinarySignatureOf } from '../../documents/ordinary-signature.ts';
import { checkReference, partsOf } from '../../documents/signature-parts.ts';
import {
  DPS_PROFILE,
  EVENTO_PROFILE,
  NFSE_PROFILE,
  type SignedProfile,
  shapeOf,
} from '../../documents/signature-shape.ts';
import { checkSignature, type SignatureReading } from '../../documents/signed.ts';
import { signatureOf } from '../../documents/signing.ts';
import { readXml } from '../../documents/xml.ts';
import { DPS_NAMESPACE } from '../../fiscal/layout/dps.ts';
import { attributeOf } from '../../fiscal/layout/tree.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

const RUNS = LONG ? 40_000 : 1_500;

const certificate = readCertificate(provider.der);
assert.ok(!('problem' in certificate));
const signer = { key: provider.keys.privateKey, certificate };

/** The document with our signature over its element of the given name, placed before the end of the root. */
function signed(xml: string, name = 'infDPS'): string {
  const reading = readXml(Buffer.from(xml));
  assert.ok('root' in reading, xml);
  const element = reading.root.children.find((child) => child.name === name);
  assert.ok(element !== undefined, xml);
  const signature = signatureOf(reading.canonicalOf(element), idOf(xml), signer);
  return xml.replace(/<\/[^>]*>\s*$/, (end) => signature + end);
}

const saidOf = ({ perfil, certificate: one, ...rest }: SignatureReading): object => ({
  ...rest,
  certificate: one?.fingerprint,
  perfil: perfil(),
});

/** Whether the signature of a document is recognised by its text. The inspection of each element must then find the same, and no fault. */
function isOrdinary(xml: string | Buffer, profile: SignedProfile = DPS_PROFILE): boolean {
  const reading = readXml(Buffer.from(xml));
  if ('fault' in reading) return false;
  const ordinary = ordinarySignatureOf(reading, profile);
  if (ordinary === undefined) return false;
  const [own, explained] = [checkSignature(reading, profile), checkSignature(reading, profile, () => undefined)];
  assert.deepStrictEqual(saidOf(own), saidOf(explained), `${xml}`);
  const { element, signature, parts } = ordinary;
  const { faults, element: signed, signature: found } = shapeOf(reading, profile);
  assert.deepEqual(faults, [], `${xml}`);
  assert.ok(signed === element && found === signature, `${xml}`);
  const looked = partsOf(signature, '/DPS/Signature', profile.accepted);
  checkReference(looked, attributeOf(element, 'Id'), profile, '/DPS/Signature');
  assert.deepStrictEqual(parts, { ...looked, profile: [] }, `${xml}`);
  return true;
}

const example = exampleXml();
const ordinary = signed(example);

describe('an ordinary signature is recognised by its text', () => {
  test('of every example of the rules, indented and in one line', () => {
    for (const patch of acceptedPatches().slice(0, LONG ? undefined : 150)) {
      const xml = exampleXml(patch);
      assert.ok(isOrdinary(signed(xml)), xml);
      assert.ok(isOrdinary(signed(xml.replace(/>\s+</g, '><'))), xml);
    }
  });

  test('as another program writes it, with empty elements', () => {
    const other = signedBy(example, provider);
    assert.ok(isOrdinary(other));
    assert.ok(isOrdinary(other.replace(/<(\w+)( Algorithm="[^"]*")><\/\1>/g, '<$1$2 />')));
  });

  test('below a root with attributes that are no identifier', () => {
    assert.ok(isOrdinary(ordinary.replace('<DPS ', '<DPS aid="1" ids="2" ')));
  });

  test('of a note and of an event', () => {
    const tried: readonly (readonly [SignedProfile, string])[] = [
      [NFSE_PROFILE, `<NFSe xmlns="${DPS_NAMESPACE}" versao="1.01"><infNFSe Id="NFS1"><x>1</x></infNFSe></NFSe>`],
      [EVENTO_PROFILE, `<evento xmlns="${DPS_NAMESPACE}" versao="1.01"><infEvento Id="EVT1"><x/></infEvento></evento>`],
    ];
    for (const [profile, xml] of tried) {
      const id = /Id="(\w+)"/.exec(xml)![1]!;
      const reading = readXml(Buffer.from(xml));
      assert.ok('root' in reading);
      const signature = signatureOf(reading.canonicalOf(reading.root.children[0]!), id, signer);
      assert.ok(
        isOrdinary(
          xml.replace(/<\/\w+>$/, (end) => signature + end),
          profile,
        ),
      );
    }
  });
});

describe('what is not ordinary is looked at', () => {
  const SIGNATURE = /<Signature [\s\S]*<\/Signature>/.exec(ordinary)![0];
  const behind = (what: string): string => ordinary.replace('</infDPS>', `</infDPS>${what}`);
  const NOT_ORDINARY: Record<string, string> = {
    'no signature': example,
    'the signature twice': behind(SIGNATURE),
    'something beside it': behind('<x/>'),
    'text beside it': behind('x'),
    'a comment beside it': behind('<!-- -->'),
    'the signature first': ordinary.replace(SIGNATURE, '').replace('<infDPS', `${SIGNATURE}<infDPS`),
    'an Id of the root': ordinary.replace(' versao=', ' Id="x" versao='),
    'an id of the root': ordinary.replace(' versao=', ' id="x" versao='),
    'another attribute of the element': signed(example.replace('<infDPS ', '<infDPS a="1" ')),
    'another name of the identifier': signed(example.replace('<infDPS Id=', '<infDPS ID=')),
    'an empty identifier': signed(example.replace(/<infDPS Id="[^"]*"/, '<infDPS Id=""')),
    'an identifier with a reference': signed(example.replace(/<infDPS Id="[^"]*"/, '<infDPS Id="a&amp;b"')),
    'an identifier in a namespace': signed(
      example.replace('<DPS ', '<DPS xmlns:p="urn:p" ').replace('<infDPS Id=', '<infDPS p:Id='),
    ),
    'an attribute inside': signed(example.replace('<prest>', '<prest a="1">')),
    'an Id inside': signed(example.replace('<prest>', '<prest Id="x">')),
    'an infDPS inside': signed(example.replace('<prest>', '<infDPS/><prest>')),
    'a Signature inside': signed(example.replace('<prest>', '<Signature/><prest>')),
    'a Signature deep inside': signed(example.replace('<opSimpNac>', `<Signature xmlns="${DSIG}"/><opSimpNac>`)),
    'an Id of the signature': ordinary.replace('<Signature ', '<Signature Id="x" '),
    'two certificates': ordinary.replace(/<X509Certificate>.*<\/X509Certificate>/, '$&$&'),
    'no KeyInfo': ordinary.replace(/<KeyInfo>.*<\/KeyInfo>/, ''),
    'one transformation alone': signedBy(example, provider, { transforms: transform(EXCLUSIVE) }),
    'a prefix': signedBy(example, provider, { prefix: 'ds' }),
    'space between the elements': signedBy(example, provider, { space: '\n' }),
    'another Id in the Reference': ordinary.replace(/URI="#[^"]*"/, 'URI="#DPS1"'),
  };
  /** A quote in the identifier, and a Reference whose text then reads as another attribute. */
  NOT_ORDINARY['an identifier that holds an attribute'] = ordinary
    .replace(/<infDPS Id="[^"]*"/, '<infDPS Id="a&quot; b=&quot;c"')
    .replace(/URI="#[^"]*"/, 'URI="#a" b="c"');
  for (const [name, xml] of Object.entries(NOT_ORDINARY)) {
    test(name, () => {
      assert.notEqual(xml, ordinary);
      assert.ok(!isOrdinary(xml), xml);
    });
  }

  test('a note where an event is asked for', () => assert.ok(!isOrdinary(ordinary, EVENTO_PROFILE)));
});

describe('an ordinary signature that does not hold is refused as any other', () => {
  const base64 = /<SignatureValue>([^<]*)/.exec(ordinary)![1]!;
  const WRONG: Readonly<Record<string, string>> = {
    'another digest': ordinary.replace(
      /<DigestValue>./,
      (found) => `${found.slice(0, -1)}${found.endsWith('A') ? 'B' : 'A'}`,
    ),
    'another value': ordinary.replace(
      base64,
      base64.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
    ),
    'no value': ordinary.replace(base64, ''),
    'a value with a break': ordinary.replace(base64, `${base64.slice(0, 76)}\n${base64.slice(76)}`),
    'a value with other characters': ordinary.replace(base64, `${base64.slice(0, 76)}-${base64.slice(76)}`),
    'a value in another spelling': ordinary.replace(base64, base64.replace(/=*$/, '')),
    'a certificate of nobody': ordinary.replace(/<X509Certificate>[^<]*/, '<X509Certificate>AAAA'),
    'no certificate': ordinary.replace(/<X509Certificate>[^<]*/, '<X509Certificate>'),
    'changed content': ordinary.replace('<prest>', '<prest>0'),
  };
  for (const [name, xml] of Object.entries(WRONG)) {
    test(name, () => {
      assert.notEqual(xml, ordinary);
      assert.ok(isOrdinary(xml), xml);
      const reading = readXml(Buffer.from(xml));
      assert.ok('root' in reading);
      const { faults } = checkSignature(reading, DPS_PROFILE);
      assert.equal(faults.length > 0, name !== 'a value with a break', name);
    });
  }
});

describe(`both ways say the same (seed ${SEED})`, () => {
  const chance = chanceOf(SEED);
  const TABLE = Object.values(MUTATIONS).flat();

  test('of every attack', () => {
    const all = CORPORA.flatMap((name) => {
      const { casos, partes } = readCorpus(name);
      return casos.map(({ entrada }) => bytesOf('conexao' in entrada ? entrada.conexao : entrada.corpo, partes));
    });
    const taken = all.filter((bytes) => isOrdinary(bytes)).length;
    assert.ok(taken > 0 && taken < all.length, `${taken} of ${all.length}`);
  });

  test('of signed documents that are mutated and rearranged', () => {
    // Each document is parsed and written by a JavaScript library, which is slow.
    const runs = RUNS / 5;
    let taken = 0;
    for (let run = 0; run < runs; run += 1) {
      const doc = documents[run % documents.length]!;
      const xml = run % 2 === 0 ? chance.pick(TABLE).make(doc, chance) : rearranged(doc.signed, chance);
      if (xml !== undefined && isOrdinary(xml)) taken += 1;
    }
    assert.ok(taken < runs / 2, `${taken} of ${runs}`);
  });

  test('where something is put into a document, or taken out of it', () => {
    const PIECES = [
      '<x/>',
      ' ',
      '\n',
      'x',
      '&amp;',
      '<!-- -->',
      '<?p?>',
      '<infDPS/>',
      '<Signature/>',
      ' Id="x"',
      ' a="1"',
      '<',
      '"',
      ' xmlns=""',
    ];
    const from = ordinary.indexOf('</infDPS>');
    let taken = 0;
    for (let run = 0; run < RUNS; run += 1) {
      // A change within the signed part is found by the digest; most changes are tried around it.
      const place =
        chance.below(4) === 0
          ? chance.below(from)
          : chance.below(2) === 0
            ? chance.below(160)
            : from + chance.below(ordinary.length - from);
      const gone = chance.pick([0, 0, 1, 3]);
      const xml = ordinary.slice(0, place) + chance.pick(['', ...PIECES]) + ordinary.slice(place + gone);
      if (isOrdinary(xml)) taken += 1;
    }
    assert.ok(taken > 0 && taken < RUNS / 2, `${taken} of ${RUNS}`);
  });

  test('where something is put into the content before it is signed', () => {
    const PIECES = [
      '<x/>',
      '<x a="1"/>',
      '<x Id="y"/>',
      '<x id="DPS1"/>',
      '<infDPS/>',
      '<Signature/>',
      'text',
      `<x xmlns="${DSIG}"/>`,
      '<x xmlns="">1</x>',
      '<!-- -->',
      '<?p?>',
      '&quot;',
      '<p:x xmlns:p="urn:p"/>',
      `<y><Signature xmlns="${DSIG}"/></y>`,
      '<y><x/></y>',
    ];
    const [from, to] = [example.indexOf('<tpAmb>'), example.indexOf('</infDPS>')];
    const places = [...example.matchAll(/<|(?<=>)/g)].map(({ index }) => index).filter((at) => at >= from && at <= to);
    let taken = 0;
    const runs = RUNS / 5;
    for (let run = 0; run < runs; run += 1) {
      const place = chance.pick(places);
      if (isOrdinary(signed(example.slice(0, place) + chance.pick(PIECES) + example.slice(place)))) taken += 1;
    }
    assert.ok(taken > 0 && taken < runs, `${taken} of ${runs}`);
  });
});
