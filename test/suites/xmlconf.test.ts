/**
 * The W3C's XML conformance suite (folder `xmlconf`, as in its archive) against the reader of XML. The suite's own catalogue lists the
 * files and their purpose.
 *
 * Nearly all of its documents have a document type, which we always refuse. A document type that declares only elements does not change the
 * document. Such a document is tried once more without it, and must then have the content that the suite gives.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readXml } from '../../src/documents/xml.ts';
import { type Caso, trySuite } from './suite.ts';

/** The catalogue lies beside the folders that it includes; other files have the same name. */
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
      return { id: about['ID']!, about, file: path.join(folder, path.dirname(file!), about['URI']!) };
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
  // The service does not check whether a document is valid by its document type.
  invalid: 'aceita',
  'not-wf': 'recusa',
  error: 'livre',
};

/** Tests for editions before the fifth, which allows more characters in names. */
function isOfAnOlderEdition({ about }: Teste): boolean {
  return about['EDITION'] !== undefined && !about['EDITION'].split(/\s+/).includes('5');
}

const isOf11 = ({ about }: Teste): boolean => /1\.1/.test(`${about['RECOMMENDATION']} ${about['VERSION']}`);

function casoOf({ id, about }: Teste, bytes: Uint8Array): Caso {
  const reading = readXml(bytes);
  // Names with a colon that is no prefix are well-formed XML, but break its namespaces.
  const deles = about['NAMESPACE'] === 'no' ? 'livre' : DELES[about['TYPE']!]!;
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

/** A document type that declares elements, and nothing that changes the document's content. */
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

/** A second case if the suite gives the content of the document: another content counts as a refusal. */
function asItShouldRead({ id, about, file }: Teste, bytes: Buffer): Caso[] {
  const reading = readXml(bytes);
  if (about['OUTPUT'] === undefined || 'fault' in reading) return [];
  // Neither form shows namespaces, and ours does not output processing instructions.
  if (/<\?|xmlns/.test(bytes.toString('latin1').replace(/^<\?xml\s.*?\?>/, ''))) return [];
  const wanted = readFileSync(
    path.resolve(file, '..', path.relative(path.dirname(about['URI']!), about['OUTPUT'])),
    'utf8',
  );
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

/** The form of the suite (`canonxml.html`) and the canonical one escape different characters. */
function plain(text: string): string {
  return text
    .replace(/&#(?:x([0-9A-Fa-f]+)|(\d+));/g, (_, hex, number) =>
      String.fromCodePoint(hex === undefined ? Number(number) : Number(`0x${hex}`)),
    )
    .replaceAll('&quot;', '"')
    .replaceAll('&gt;', '>');
}
