import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { openPacker } from './packing.ts';

/** Another program unpacks the text: it verifies checksum and length, and rejects data after the end. */
function unpack(text: string): string {
  const packed = Buffer.from(text, 'base64');
  assert.equal(packed.toString('base64'), text, 'Base64 without white space');
  return execFileSync('gzip', ['-dc'], { input: packed, maxBuffer: 10_000_000 }).toString();
}

function signed(body: string, certificate: string, root = 'NFSe'): string {
  const value = randomBytes(256).toString('base64');
  const keys = `<KeyInfo><X509Certificate>${certificate}</X509Certificate></KeyInfo>`;
  return `<${root}><a>${body}</a><Signature><SignatureValue>${value}</SignatureValue>${keys}</Signature></${root}>`;
}

const CERTIFICATE = randomBytes(1200).toString('base64');
const RENEWED = randomBytes(1200).toString('base64');

const DOCUMENTS: readonly (readonly [what: string, xml: string])[] = [
  ['without a signature', '<NFSe>São Paulo</NFSe>'],
  ['signed', signed('São Paulo', CERTIFICATE)],
  ['signed under the same certificate', signed('Praça da Sé', CERTIFICATE)],
  ['an event under it', signed('1', CERTIFICATE, 'evento')],
  ['signed under a renewed certificate, no longer', signed('2', RENEWED)],
  ['without a signature, after one that had one', '<NFSe>3</NFSe>'],
  ['with the end of a signature inside, and none', '<NFSe><b></SignatureValue></b></NFSe>'],
  ['larger than what is kept of a text to refer to', signed('x1y2z3 '.repeat(40_000), CERTIFICATE)],
  ['that does not shrink', signed(randomBytes(300_000).toString('base64'), CERTIFICATE)],
  ['empty', ''],
  ['nothing but an end', '</SignatureValue>'],
];

for (const isStored of [false, true]) {
  describe(`a packer ${isStored ? 'that compresses nothing' : 'that compresses'}`, () => {
    const pack = openPacker(isStored);
    for (const [what, xml] of DOCUMENTS) {
      test(`a document ${what} is gzip, as gzip reads it`, () => assert.equal(unpack(pack(Buffer.from(xml))), xml));
    }
  });
}

test('what is compressed is smaller, certificate and all, and does not hang on what went before', () => {
  const pack = openPacker(false);
  const xml = Buffer.from(signed('<b>São Paulo</b>'.repeat(200), CERTIFICATE));
  const first = pack(xml);
  assert.ok(first.length < xml.length, `${first.length} of ${xml.length}`);
  assert.equal(pack(xml), first);
});

test('bytes inside a larger block are packed alone', () => {
  const xml = Buffer.from(signed('4', CERTIFICATE));
  const block = Buffer.concat([Buffer.from('before'), xml, Buffer.from('after')]);
  const inside = new Uint8Array(block.buffer, block.byteOffset + 6, xml.length);
  assert.equal(unpack(openPacker(false)(inside)), xml.toString());
});
