/** Compressed documents come out unchanged, without the certificate that is kept elsewhere, or are reported as damaged. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DICIONARIO, openPacote, packPapers } from './pacote.ts';

const CERTIFICATE = Buffer.from('a certificate, in the octets of its signer');
const BASE64 = CERTIFICATE.toString('base64');
const DPS = `<DPS><infDPS Id="D"></infDPS><Signature><X509Certificate>${BASE64}</X509Certificate></Signature></DPS>`;
const NFSE = '<NFSe><infNFSe><nNFSe>9</nNFSe></infNFSe></NFSe>';

/** Packs and opens a pair of documents, checks that they are unchanged, and returns the certificate that was left out. */
function packed(recebido: Buffer, nfse = Buffer.from(NFSE)): Buffer | undefined {
  const { bytes, certificado } = packPapers({ recebido, nfse });
  const opened = openPacote(bytes, DICIONARIO);
  assert.ok(opened.nfse.equals(nfse), 'the note');
  assert.ok(opened.received(certificado?.der ?? null).equals(recebido), 'what was received');
  return certificado?.der;
}

/** The text that damaged bytes yield in place of the original; undefined: the damage is detected. */
function damage(bytes: Buffer): string | undefined {
  let text: string;
  try {
    const { nfse, received } = openPacote(bytes, DICIONARIO);
    text = `${received(CERTIFICATE)}${nfse}`;
  } catch {
    return undefined;
  }
  return text === DPS + NFSE ? undefined : text;
}

describe('compressed documents', () => {
  test('are without the certificate, as long as its Base64 is written in the one way', () => {
    assert.deepEqual(packed(Buffer.from(DPS)), CERTIFICATE);
    const others = [
      DPS.replace(BASE64, `${BASE64.slice(0, 8)}\n${BASE64.slice(8)}`),
      DPS.replace(BASE64, `${BASE64}=`),
      DPS.replace(BASE64, ''),
      DPS.replace('</X509Certificate>', ''),
      DPS.replaceAll('X509Certificate', 'ds:X509Certificate'),
      '{"nDPS": 7}',
      '',
    ];
    for (const text of others) assert.equal(packed(Buffer.from(text)), undefined, text);
    assert.equal(packed(Buffer.from(`\ufeff${DPS}`, 'utf16le')), undefined);
  });

  test('are not opened without the certificate, nor damaged, nor by a dictionary that there is not', () => {
    const { bytes } = packPapers({ recebido: Buffer.from(DPS), nfse: Buffer.from(NFSE) });
    assert.throws(() => openPacote(bytes, DICIONARIO).received(null), /certificate/);
    assert.throws(() => openPacote(bytes, 999));
    for (let place = 0; place < bytes.length; place += 1) {
      const damaged = Buffer.from(bytes);
      damaged[place]! ^= 0x40;
      // Padding bits have no meaning; a change of any other bit is detected.
      assert.equal(damage(damaged), undefined, `octet ${place}`);
      assert.throws(() => openPacote(bytes.subarray(0, place), DICIONARIO), `cut at ${place}`);
    }
  });

  test('of any bytes, cut and put together anyhow, come out as they went in', () => {
    const piece = fc.oneof(
      fc
        .constantFrom('<X509Certificate>', '</X509Certificate>', BASE64, 'QQ==', DPS, NFSE, '\n')
        .map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    );
    const bytes = fc.array(piece, { maxLength: 6 }).map((pieces) => Buffer.concat(pieces));
    fc.assert(
      fc.property(bytes, bytes, (recebido, nfse) => void packed(recebido, nfse)),
      { numRuns: 1_000 },
    );
  });
});
