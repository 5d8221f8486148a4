/**
 * The W3C's XML conformance suite (folder `xmlconf`, as its archive has it) against the reader of XML: its own catalogue says which
 * files there are and what they are for.
 *
 * Nearly all of its documents have a document type, which we take from nobody. Where that declares nothing but elements it says nothing
 * about the document, which is tried once more without it, and must then say what the suite says that it says.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readXml } from '../../src/documents/xml.ts';
import { type Caso, trySuite } from './suite.ts';

/** The catalogue lies beside the folders that it includes; other files are called as it is. */
const MARCA = 'sun/sun-valid.xml';

type Attributes = Readonly<Record<string, string>>;
type Teste = { readonly id: string; readonly about: Attributes; readonly file: string };

/** The tests of the files that the catalogue includes, each relative to its own. */
function testsOf(folder: string): Teste[] {
  const files = [
    ...readFileSync(path.join(folder, 'xmlconf.xml'), 'utf8').matchAll(/<!ENTITY\s+\S+\s+SYSTEM\s+"([^"]+)"/g),
  ];
  const tests = files.flatMap(([, file]) => {
    const text = readFileSync(path.join(folder, file!), 'utf8').replace(/<!--[\s\S]*?-->/g, '');
    return [...text.matchAll(/<TEST\s((?:[^>"']|"[^"]*"|'[^']*')*)>/g)].map(([, attributes]): Teste => {
      const about = attributesIn(attributes!);
      return { id: about.ID!, about, file: path.join(folder, path.dirname(file!), about.URI!) };
    });
  });
  for (const { file } of tests) assert.ok(existsSync(file), file);
  return tests;
}

function attributesIn(text: string): Attributes {
  const found = text.matchAll(/([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g);
  return Object.fromEntries([...found].map(([, name, twice, once]) => [name!, twice ?? once!]));
}

const DELES: Readonly<Record<string, Caso['deles']>> = {
  valid: 'aceita',
  // Whether a document is valid to its document type nobody here asks.
  invalid: 'aceita',
  'not-wf': 'recusa',
  error: 'livre',
};

/** What was said before the fifth edition, in which more characters may stand in names. */
function isOfAnOlderEdition({ about }: Teste): boolean {
  return about.EDITION !== undefined && !about.EDITION.split(/\s+/).includes('5');
}

const isOf11 = ({ about }: Teste): boolean => /1\.1/.test(`${about.RECOMMENDATION} ${about.VERSION}`);

function casoOf({ id, about }: Teste, bytes: Uint8Array): Caso {
  const reading = readXml(bytes);
  // Names with a colon that is no prefix are well-formed to XML and not to its namespaces.
  const deles = about.NAMESPACE === 'no' ? 'livre' : DELES[about.TYPE!]!;
  return 'fault' in reading
    ? { nome: id, deles, nosso: 'recusa', motivo: reading.fault.mensagem }
    : { nome: id, deles, nosso: 'aceita' };
}

const DOCTYPE = { porque: 'não se aceita DOCTYPE', casos: /DOCTYPE/ };
const VERSION = { porque: 'só se lê XML 1.0', casos: /só se lê XML 1\.0/ };

const whole = (one: Teste): Caso => casoOf(one, readFileSync(one.file));

trySuite({
  nome: 'W3C XML, XML 1.0',
  marca: MARCA,
  casosMin: 1_900,
  estritos: [DOCTYPE, VERSION],
  frouxos: [],
  fora: (folder) => ({
    'edições de XML 1.0 anteriores à quinta, com menos letras nos nomes': testsOf(folder).filter(
      (one) => !isOf11(one) && isOfAnOlderEdition(one),
    ).length,
  }),
  run: (folder) =>
    testsOf(folder)
      .filter((one) => !isOf11(one) && !isOfAnOlderEdition(one))
      .map(whole),
});

trySuite({
  nome: 'W3C XML, XML 1.1',
  marca: MARCA,
  casosMin: 250,
  estritos: [DOCTYPE, VERSION],
  frouxos: [],
  run: (folder) =>
    testsOf(folder)
      .filter((one) => isOf11(one) && !isOfAnOlderEdition(one))
      .map(whole),
});

/** A document type that declares elements, and nothing that makes a difference to what the document says. */
const NAME = '[A-Za-z_][\\w.-]*';
const CONTENT = `EMPTY|ANY|\\(\\s*#PCDATA\\s*\\)|\\(\\s*#PCDATA(?:\\s*\\|\\s*${NAME})+\\s*\\)\\*|\\(${NAME}[?*+]?(?:\\s*,\\s*${NAME}[?*+]?)*\\)[?*+]?`;
const PLAIN_TYPE = new RegExp(
  `<!DOCTYPE\\s+${NAME}\\s*(?:\\[(?:\\s|<!ELEMENT\\s+${NAME}\\s+(?:${CONTENT})\\s*>)*\\]\\s*)?>`,
);

function withoutType(one: Teste): Caso[] {
  const text = readFileSync(one.file, 'latin1');
  if (!PLAIN_TYPE.test(text) || text.split('<!DOCTYPE').length !== 2) return [];
  const bytes = Buffer.from(text.replace(PLAIN_TYPE, ''), 'latin1');
  return [casoOf(one, bytes), ...asItShouldRead(one, bytes)];
}

/** A second case where the suite says what the document says: another text is as good as a refusal. */
function asItShouldRead({ id, about, file }: Teste, bytes: Buffer): Caso[] {
  const reading = readXml(bytes);
  if (about.OUTPUT === undefined || 'fault' in reading) return [];
  // Neither form says anything of a namespace, and ours leaves instructions to nobody.
  if (/<\?|xmlns/.test(bytes.toString('latin1').replace(/^<\?xml\s.*?\?>/, ''))) return [];
  const wanted = readFileSync(path.resolve(file, '..', path.relative(path.dirname(about.URI!), about.OUTPUT)), 'utf8');
  const isSame = plain(reading.canonicalOf(reading.root)) === plain(wanted);
  return [{ nome: `${id}, o texto lido`, deles: 'aceita', nosso: isSame ? 'aceita' : 'recusa' }];
}

trySuite({
  nome: 'W3C XML, sem DOCTYPE',
  marca: MARCA,
  casosMin: 300,
  estritos: [VERSION],
  frouxos: [],
  run: (folder) =>
    testsOf(folder)
      .filter((one) => !isOf11(one) && !isOfAnOlderEdition(one))
      .flatMap(withoutType),
});

/** The form of the suite (`canonxml.html`) and the canonical one differ in which characters they write by number or name. */
function plain(text: string): string {
  return text
    .replace(/&#(?:x([0-9A-Fa-f]+)|(\d+));/g, (_, hex, number) =>
      String.fromCodePoint(hex === undefined ? Number(number) : Number(`0x${hex}`)),
    )
    .replaceAll('&quot;', '"')
    .replaceAll('&gt;', '>');
}
