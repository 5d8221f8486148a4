/**
 * No signature can keep the service busy. Each document has a megabyte and makes one of the steps slow. The answer takes at most one second
 * of processor time, and few words. A slow processor has a longer limit, derived from the cost of a megabyte of ordinary documents.
 */
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, test } from 'node:test';
import { assertCostsLess, leastCpuMsOf } from '../../../test/support/cost.ts';
import { counted } from '../../../test/support/counted.ts';
import { BODY_MAX_BYTES, dearDocuments, NEAR_BYTES_MAX } from '../../../test/support/dear-documents.ts';
import {
  companyOf,
  PROVIDER_CNPJ,
  partyOf,
  rsaOfBlock,
  signedBy,
  testParties,
  yearAround,
} from '../../../test/support/signatures.ts';
import { plainOf } from '../../../test/support/two-readings.ts';
import { placeFaults } from '../../base/world/sent-documents.ts';
import { companyCertificate } from '../../documents/pki.ts';
import { DPS_PROFILE } from '../../documents/signature-shape.ts';
import { checkSignature } from '../../documents/signed.ts';
import { readXml } from '../../documents/xml.ts';
import { once } from '../../fiscal/catalogs/table.ts';
import type { Fault } from '../../fiscal/fault.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

const NOW = Date.parse('2026-11-21T12:00:00-03:00');
const CPU_MAX_MS = 1_000;
/** Highest cost of such a megabyte, as a multiple of the cost of a megabyte of ordinary documents. */
const TIMES_ORDINARY_MAX = 25;
const ANSWER_MAX = 20_000;
/** Verifications: the value itself, and RSA-PSS for each of four digests over each of four texts. */
const VERIFIED_MAX = 1;
const VERIFIED_PSS_MAX = 16;
const DEAR_BITS = 3_072;
/** Forms in which a small document is compared, each in two encodings. */
const NEAR_TEXTS_MAX = 40;
/** Forms of a large document: as it is, once more for its other digests, and in Latin-1. */
const LARGE_TEXTS_MAX = 3;
/** Highest size of SignedInfo; a certificate is named by its digest. */
const SIGNED_INFO_MAX = 8_192;

const { provider, root } = await testParties(NOW);
const DOCUMENTS: Readonly<Record<string, () => string>> = {
  ...dearDocuments(signedBy(exampleXml(), provider), provider.base64),
  'a key that is dear to use': () => dearKey(() => Buffer.alloc(DEAR_BITS / 8, 1)),
  // One byte of the block is enough to announce RSA-PSS (RFC 8017, 9.1.1).
  'RSA-PSS over nothing, by a key that is dear to use': () =>
    dearKey((key) => rsaOfBlock(key, Buffer.alloc(DEAR_BITS / 8, 1).fill(0xbc, DEAR_BITS / 8 - 1))),
};

/** Keys with the largest exponent that OpenSSL takes. */
const dearKeys = once(() => generateKeyPairSync('rsa', { modulusLength: DEAR_BITS, publicExponent: 0xffff_ffff }));

function dearKey(value: (key: KeyObject) => Buffer): string {
  const keys = dearKeys();
  const party = partyOf(keys, companyCertificate(root, companyOf(PROVIDER_CNPJ), keys.publicKey, yearAround(NOW)));
  return signedBy(exampleXml(), party, { value: () => value(keys.privateKey) });
}

/** The same check as the service makes on a received document. */
function answerTo(bytes: Buffer): readonly Fault[] {
  const reading = readXml(bytes);
  return 'fault' in reading ? [reading.fault] : placeFaults(checkSignature(reading, DPS_PROFILE).faults, reading);
}

const ordinary = Buffer.from(signedBy(exampleXml(), provider));
const onSlowMachineMs = once(
  () =>
    TIMES_ORDINARY_MAX *
    leastCpuMsOf(() => {
      for (let size = 0; size < BODY_MAX_BYTES; size += ordinary.length) answerTo(ordinary);
    }),
);

describe('a megabyte made to be slow', () => {
  for (const [name, make] of Object.entries(DOCUMENTS)) {
    test(name, async () => {
      const bytes = Buffer.from(make());
      assert.ok(bytes.length <= BODY_MAX_BYTES, `${bytes.length} bytes`);
      let faults: readonly Fault[] = [];
      let runs = 0;
      const answer = (): void => {
        faults = answerTo(bytes);
        runs += 1;
      };
      const counts = await counted(() => assertCostsLess(answer, CPU_MAX_MS, name, onSlowMachineMs));
      const { parses, verified, digestedBytes, canonical } = runs === 1 ? counts : await counted(answer);
      // One parse serves all that is read and signed. A second one serves the search for a near miss in the inclusive form.
      assert.ok(parses <= (bytes.length > NEAR_BYTES_MAX ? 1 : 2), `${parses} parses`);
      assert.ok(verified <= VERIFIED_MAX + (/PSS/.test(name) ? VERIFIED_PSS_MAX : 0), `${verified} values verified`);
      const texts = bytes.length > NEAR_BYTES_MAX ? LARGE_TEXTS_MAX : NEAR_TEXTS_MAX;
      const size = canonical + (plainOf(bytes)?.length ?? 0);
      const most = texts * (size + SIGNED_INFO_MAX);
      assert.ok(digestedBytes <= most, `${digestedBytes} bytes digested of ${size}`);
      const told = JSON.stringify(faults);
      assert.ok(told.length < ANSWER_MAX, `an answer of ${told.length} characters`);
      if (!/spaces|comments before/.test(name)) assert.ok(faults.length > 0, 'it is refused');
    });
  }
});
