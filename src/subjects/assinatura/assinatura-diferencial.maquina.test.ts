/**
 * Signed documents are changed in every way we know and given to xmlsec1 as well. A document that xmlsec1 refuses is refused here, and an
 * accepted document says what was signed. NFSE_TEST_LONGO=1 tries twelve thousand.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bentXml } from '../../../test/support/fuzz.ts';
import { HABITS, SHA1, signWith } from '../../../test/support/habitos.ts';
import { MUTATIONS } from '../../../test/support/mutations.ts';
import { rearranged } from '../../../test/support/rearrange.ts';
import { LONG, SEED } from '../../../test/support/seed.ts';
import { chance, type Doc, documents, inFolder, provider, verdict } from '../../../test/support/signed-documents.ts';
import { XMLSEC, xmlsecVerdicts } from '../../../test/support/xmlsec.ts';
import { NATIONAL_SHA1 } from '../../documents/algorithms.ts';
import { DPS_PROFILE } from '../../documents/signature-shape.ts';
import { canonicalInfDps } from '../../documents/xml.ts';
import { once } from '../../fiscal/catalogs/table.ts';

/** Runs of each way. */
const RUNS = LONG ? 3_000 : 60;
/** Files that one process of xmlsec1 verifies. */
const BATCH = 500;

type Changed = { readonly bytes: Buffer; readonly done: string };

const TABLE = Object.values(MUTATIONS).flat();
const OTHERS = documents.map(({ signed }) => signed);

/** The ways to change a document; undefined where the way changed nothing. */
const WAYS: Readonly<Record<string, (doc: Doc) => Changed | undefined>> = {
  'a row of the table of mutations': (doc) => {
    const { name, make } = chance.pick(TABLE);
    const text = make(doc, chance);
    return text === undefined ? undefined : { bytes: doc.encode(text), done: name };
  },
  'elements moved about': (doc) => ({ bytes: Buffer.from(rearranged(doc.signed, chance)), done: 'moved' }),
  'the text bent': (doc) => {
    const { body, done } = bentXml(doc.signed, chance, OTHERS);
    return { bytes: body, done: done.join(', ') };
  },
  'octets changed': (doc) => {
    const bytes = Buffer.from(doc.encode(doc.signed));
    for (let left = chance.below(3); left >= 0; left -= 1) {
      bytes[chance.below(bytes.length)] =
        chance.below(2) === 0 ? chance.below(256) : chance.pick([9, 10, 13, 32, 38, 60]);
    }
    return { bytes, done: 'octets' };
  },
};

/** The same documents, signed with the habits of programs of the national API; each on its first use. */
const NATIONAL_DOCUMENTS = documents.map((doc, place): Doc => {
  const habits = [...Object.values(HABITS), SHA1];
  const signed = once(() => signWith(doc.xml, 'infDPS', habits[place % habits.length]!, provider));
  return {
    ...doc,
    get canonical() {
      return doc.canonical;
    },
    get signed() {
      return signed();
    },
  };
});

const NATIONAL_PROFILE = { ...DPS_PROFILE, accepted: NATIONAL_SHA1 };

type Way = (doc: Doc) => Changed | undefined;

function changedDocuments(way: Way, documents: readonly Doc[]): (Changed & { readonly doc: Doc })[] {
  const made: (Changed & { readonly doc: Doc })[] = [];
  for (let turn = 0; made.length < RUNS; turn += 1) {
    assert.ok(turn < RUNS * 10, 'it applies to some documents');
    const doc = documents[turn % documents.length]!;
    const one = way(doc);
    if (one !== undefined) made.push({ ...one, doc });
  }
  return made;
}

const skip = XMLSEC === undefined && 'xmlsec1 is not here';

for (const [where, signed, profile] of [
  ['REST v1', documents, DPS_PROFILE],
  ['the national door', NATIONAL_DOCUMENTS, NATIONAL_PROFILE],
] as const) {
  describe(`${where}, beside xmlsec1 (seed ${SEED})`, { skip }, () => {
    for (const [what, way] of Object.entries(WAYS)) {
      test(what, (t) => {
        const counts = { 'both refuse': 0, 'both accept': 0, stricter: 0 };
        const all = changedDocuments(way, signed);
        for (let from = 0; from < all.length; from += BATCH) {
          const files = all
            .slice(from, from + BATCH)
            .map(({ bytes }, place) => inFolder(`diferencial-${place}.xml`, bytes));
          const verdicts = xmlsecVerdicts(files);
          assert.equal(verdicts.size, files.length);
          for (const [place, file] of files.entries()) {
            const { bytes, done, doc } = all[from + place]!;
            const [ours, theirs] = [verdict(bytes, profile).length === 0, verdicts.get(file)!];
            const told = `${doc.name}, ${done}, in base64: ${bytes.toString('base64')}`;
            assert.ok(theirs || !ours, `laxer than xmlsec1: ${told}`);
            if (ours) assert.equal(canonicalInfDps(bytes), doc.canonical, `it says something else: ${told}`);
            counts[ours ? 'both accept' : theirs ? 'stricter' : 'both refuse'] += 1;
          }
        }
        t.diagnostic(
          `${all.length}: ${Object.entries(counts)
            .map(([name, count]) => `${name} ${count}`)
            .join(', ')}`,
        );
        assert.ok(counts['both refuse'] > 0, 'something is refused by both');
      });
    }

    test('nothing changed: both accept', () => {
      const files = signed.slice(0, RUNS).map((doc, place) => inFolder(`igual-${place}.xml`, doc.encode(doc.signed)));
      const verdicts = xmlsecVerdicts(files);
      for (const [place, file] of files.entries()) {
        const { name, encode, signed: text } = signed[place]!;
        assert.deepEqual([verdict(encode(text), profile), verdicts.get(file)], [[], true], name);
      }
    });
  });
}
