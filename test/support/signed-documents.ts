/**
 * Two hundred signed documents, their trust anchors, and the verdict of production on their variants. Each test file has one set; a seed
 * decides all random choices.
 *
 * NFSE_TEST_LONGO=1 runs the long form of a test, NFSE_TEST_SEMENTE=N the run of a seed.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pemOf } from '../../src/documents/pki.ts';
import { DPS_PROFILE } from '../../src/documents/signature-shape.ts';
import { checkSignature } from '../../src/documents/signed.ts';
import { signerFaults, XML_CODES } from '../../src/documents/signer-faults.ts';
import { openTrust } from '../../src/documents/trust.ts';
import { readXml } from '../../src/documents/xml.ts';
import { once } from '../../src/fiscal/catalogs/table.ts';
import type { Fault } from '../../src/fiscal/fault.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { AMOUNT_RULES, RULES } from '../../src/fiscal/rules/rules.ts';
import { SEED } from './seed.ts';
import {
  type Bent,
  canonicalByXmlCrypto,
  chanceOf,
  DRESSES,
  ENCODINGS,
  EXCLUSIVE,
  signedBy,
  testParties,
  transform,
  withoutBase64,
} from './signatures.ts';

export const DOCUMENTS = 200;
export const NOW = Date.parse('2026-11-21T12:00:00-03:00');
export const NAMESPACE = 'http://www.sped.fazenda.gov.br/nfse';

export const chance = chanceOf(SEED);
export const folder = mkdtempSync(path.join(tmpdir(), 'nfse-assinatura-'));
// The folder lasts as long as the process: several test files use it.
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
export const inFolder = (name: string, content: string | Buffer): string => {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
};

export const { root, provider, namesake } = await testParties(NOW);
const anchors = mkdtempSync(path.join(folder, 'ancoras-'));
writeFileSync(path.join(anchors, 'raiz.pem'), pemOf('CERTIFICATE', root.certificate));
export const trust = openTrust({ ancoras: anchors, revogados: undefined }, { warn() {} });

// The documents.

export type Doc = {
  readonly name: string;
  /** The document without signature. */
  readonly xml: string;
  readonly canonical: string;
  /** The document signed by a library that is not ours. */
  readonly signed: string;
  readonly encode: (text: string) => Buffer;
};

const ACCEPTED: readonly Patch[] = [{}, ...[...RULES, ...AMOUNT_RULES].flatMap(({ accepts }) => accepts)];
const NAMES = [
  'Maria & João S/A',
  'Conceição <Ltda>',
  'D\'Ávila "Ótica"',
  'Açaí ªº° ]]> fim',
  'Comércio  de   espaços',
  'Zé',
];

/** Distinct documents: examples of the rules in other spellings, with other numbers and names. Each is signed on first use. */
function makeDocuments(): readonly Doc[] {
  const [dresses, encodings] = [Object.entries(DRESSES), Object.entries(ENCODINGS)];
  return Array.from({ length: DOCUMENTS }, (_, place): Doc => {
    const patch = ACCEPTED[place % ACCEPTED.length]!;
    const [dress, wear] = dresses[place % dresses.length]!;
    const [encoding, encode] = encodings[place % 3 === 0 ? chance.below(encodings.length) : 0]!;
    const id = `DPS3550308211222333000181${String(70_000).padStart(5, '0')}${String(place + 1).padStart(15, '0')}`;
    const xDescServ = `Serviço ${place}: ${chance.pick(NAMES)} — não é €`.replace(
      /[—€]/g,
      encoding === 'ISO-8859-1' ? '-' : '$&',
    );
    const xml = wear(
      exampleXml({
        tpAmb: '1',
        ...patch,
        '@Id': id,
        'serv/cServ/xDescServ': xDescServ,
        'valores/vServPrest/vServ': `${1 + chance.below(99_999)}.${10 + chance.below(90)}`,
      }),
    );
    const canonical = once(() => canonicalByXmlCrypto(xml));
    const bent = (): Bent => ({
      digested: canonical(),
      ...(place % 2 === 0 ? {} : { transforms: transform(EXCLUSIVE) }),
      ...(place % 5 === 0 ? { prefix: 'ds' } : {}),
      ...(place % 7 === 0 ? { space: '\n  ' } : {}),
    });
    const signed = once(() => signedBy(xml, provider, bent()));
    return {
      name: `document ${place} (${dress}, ${encoding})`,
      xml,
      get canonical() {
        return canonical();
      },
      get signed() {
        return signed();
      },
      encode,
    };
  });
}

export const documents = makeDocuments();
let turn = chance.below(DOCUMENTS);
/** Different documents at every call, all of them in turn. */
export const someDocuments = (count: number): readonly Doc[] =>
  Array.from({ length: count }, () => {
    turn = (turn + 1) % DOCUMENTS;
    return documents[turn]!;
  });

// The verdicts.

/** The verdict of production on the signature and its certificate; the holder's identity is checked elsewhere. */
export function verdict(bytes: Buffer, profile = DPS_PROFILE): readonly Fault[] {
  const reading = readXml(bytes);
  if ('fault' in reading) return [reading.fault];
  const { faults, certificate } = checkSignature(reading, profile);
  if (certificate === undefined) return faults;
  const question = { documento: undefined, parte: 'prestador', trust, at: NOW, xpath: '/DPS/Signature' };
  return [...faults, ...signerFaults(certificate, question, XML_CODES)];
}

const told = (faults: readonly Fault[]): string =>
  faults.map(({ codigo, xpath, mensagem }) => `${codigo} ${xpath}: ${mensagem}`).join('\n') || 'no fault';

export function assertAccepted(bytes: Buffer, what: string): void {
  const faults = verdict(bytes);
  assert.deepEqual(faults, [], `${what}: ${told(faults)}\n${bytes.toString('utf8')}`);
}

/** Asserts a refusal with exactly these codes, in words that a sender can act on. */
export function assertRefused(
  bytes: Buffer,
  codes: readonly string[],
  says: readonly RegExp[],
  what: string,
): readonly Fault[] {
  const faults = verdict(bytes);
  const all = `${what}: ${told(faults)}\n${bytes.toString('utf8')}`;
  assert.ok(faults.length > 0, `${what} is accepted\n${bytes.toString('utf8')}`);
  for (const { codigo, mensagem } of faults) {
    assert.ok(codes.includes(codigo), `code ${codigo}, wanted ${codes}: ${all}`);
    assert.match(mensagem, /^\S[\s\S]*\.$/, all);
    assert.doesNotMatch(withoutBase64(mensagem), /undefined|null|NaN|\[object|\bfunction\b/, all);
  }
  for (const one of says) {
    const is = faults.some(({ mensagem, xpath, encontrado = '', esperado = '' }) =>
      one.test(`${mensagem} @ ${xpath} | ${encontrado} | ${esperado}`),
    );
    assert.ok(is, `nobody says ${one}: ${all}`);
  }
  return faults;
}

// Parts of a document as text.

const P = '(?:\\w+:)?';
export const startOf = (name: string): RegExp => new RegExp(`<${P}${name}(?:\\s[^>]*)?>`);
export const endOf = (name: string): RegExp => new RegExp(`</${P}${name}\\s*>`);
export const elementOf = (name: string): RegExp => new RegExp(`<${P}${name}(?:\\s[^>]*)?>[\\s\\S]*?</${P}${name}\\s*>`);

/** The text with one element of a name put through a change. */
export function changed(text: string, name: string, change: (element: string) => string): string {
  const found = elementOf(name).exec(text);
  assert.ok(found, `there is a ${name}`);
  const made = change(found[0]);
  return text.slice(0, found.index) + made + text.slice(found.index + found[0].length);
}
const inside = (element: string, change: (content: string) => string): string => {
  const [, start, content, end] = /^(<[^>]*>)([\s\S]*)(<\/[^>]*>)$/.exec(element)!;
  return start + change(content!) + end;
};
export const changedText = (text: string, name: string, change: (content: string) => string): string =>
  changed(text, name, (element) => inside(element, change));

export const putAt = (text: string, place: number, what: string, gone = 0): string =>
  text.slice(0, place) + what + text.slice(place + gone);
