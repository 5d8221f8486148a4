/**
 * Corrections are applied literally (D-212), again and again, until the document is accepted or the remaining faults need a decision. No
 * correction breaks a document, or adds a fault of structure.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { isJson, openDps, type SentDps } from '../src/base/world/sent-documents.ts';
import { readJson } from '../src/documents/json.ts';
import { ERRORS } from '../src/fiscal/errors.ts';
import { readPedido } from '../src/fiscal/pedido-evento.ts';
import { exampleJson, exampleXml } from '../src/fiscal/rules/example.ts';
import { ALL_RULES } from '../src/fiscal/rules/rules.ts';
import { isJsonOnly } from '../src/fiscal/rules/trial.ts';
import { TIPOS_EVENTO } from '../src/fiscal/tipos-evento.ts';
import { validateDocument } from '../src/subjects/notas/validate.ts';
import { type Answered, assertWellFormed, correct } from './support/correcoes.ts';
import fc, { LONG } from './support/seed.ts';

type Trial = {
  /** The service's faults for a document; empty if it is accepted. */
  readonly answer: (text: string) => readonly Answered[];
  /** The structural faults; undefined if the check did not get that far. */
  readonly structure: (text: string) => readonly Answered[] | undefined;
};

function sentAs(text: string): SentDps {
  const body = Buffer.from(text);
  return isJson(body) ? { kind: 'json', body, assinatura: undefined } : { kind: 'xml', body };
}

const DPS: Trial = {
  answer: (text) => {
    const answer = validateDocument(sentAs(text), '2026-10-05');
    return 'faults' in answer ? answer.faults : [];
  },
  structure: (text) => {
    const opened = openDps(sentAs(text), { ambiente: 'homologacao', codigoIbge: undefined });
    if ('faults' in opened) return undefined;
    const read = opened.read();
    return 'faults' in read ? read.faults : [];
  },
};

const EVENTO: Trial = {
  answer: (text) => {
    const json = readJson(Buffer.from(text));
    if ('fault' in json) return [json.fault];
    const read = readPedido(json);
    return 'faults' in read ? read.faults : [];
  },
  // The rest of an event of unknown type is not read.
  structure: (text) => {
    const faults = EVENTO.answer(text);
    return faults.some(({ campo }) => campo === 'tipo_evento') ? undefined : faults;
  },
};

const ROUNDS_MAX = 12;
const without = (xpath: string): string => xpath.replace(/\[\d+\]/g, '');

/** The number of corrections until no fault was left, or only faults that need a decision. */
function follow(first: string, trial: Trial, one?: number): number {
  let text = first;
  let followed = 0;
  // The faults that the previous round found in this text.
  let known: readonly Answered[] | undefined;
  for (let round = 0; round < ROUNDS_MAX * (one === undefined ? 1 : 10); round += 1) {
    const faults = trial.answer(text);
    const offered = faults.filter(({ correcao }) => correcao !== undefined);
    if (offered.length === 0) return followed;
    followed += 1;
    const before = known ?? trial.structure(text);
    const corrected = correct(text, faults, one);
    const said = `${offered.map(({ codigo, xpath, correcao }) => `${codigo} ${xpath}: ${correcao}`).join('\n')}\n${text}`;
    assert.notEqual(corrected, text, `nothing changes: ${said}`);
    assertWellFormed(corrected, said);
    known = before && trial.structure(corrected);
    if (before !== undefined) assertNothingNew(before, known, offered, said);
    text = corrected;
  }
  assert.fail(`does not come to an end:\n${first}\n…\n${text}`);
}

/** Old faults may be reported again. New faults may appear inside an element that was only now renamed correctly. */
function assertNothingNew(
  before: readonly Answered[],
  after: readonly Answered[] | undefined,
  offered: readonly Answered[],
  said: string,
): void {
  assert.ok(after, `it can no longer be read: ${said}`);
  const told = new Set(before.map(({ xpath }) => without(xpath)));
  const renamed = offered.flatMap(({ xpath, correcao, codigo }) => {
    const [, name] = /^<(?:[^\s/>:]+:)?([^\s/>]+)/.exec(correcao!) ?? [];
    if (codigo !== 'E0010') return [];
    return [name === undefined ? without(xpath) : without(xpath).replace(/[^/]+$/, name)];
  });
  for (const { codigo, xpath } of after) {
    const place = without(xpath);
    const isInside = renamed.some((one) => place === one || place.startsWith(`${one}/`));
    assert.ok(told.has(place) || isInside, `new: ${codigo} ${xpath}\n${said}`);
  }
}

const PATCHES = [
  ...ALL_RULES.flatMap(({ rejects, accepts }) => [...rejects, ...accepts]),
  ...ERRORS.flatMap(({ exemplos }) => [...(exemplos?.rejects ?? []), ...(exemplos?.accepts ?? [])]),
];

const XMLS = PATCHES.filter((patch) => !isJsonOnly(patch)).map((patch) => exampleXml(patch));
const JSONS = PATCHES.flatMap((patch) => exampleJson(patch) ?? []);

describe('the corrections of the examples', () => {
  test('of every rule and every code, as XML and as JSON', () => {
    const followed = [...XMLS, ...JSONS].filter((text) => follow(text, DPS) > 0);
    assert.ok(followed.length >= 8, `${followed.length} of ${XMLS.length + JSONS.length} had any`);
  });

  test('of the public description', () => {
    const recorded = JSON.parse(readFileSync('src/published/openapi/exemplos.json', 'utf8')) as readonly {
      readonly id: string;
      readonly pedido: { readonly corpo?: string | object };
    }[];
    let documents = 0;
    for (const { id, pedido } of recorded) {
      const trial = id.startsWith('registrarEvento') ? EVENTO : /^(emitir|validar)Dps$/.test(id) ? DPS : undefined;
      if (trial === undefined || pedido.corpo === undefined) continue;
      documents += 1;
      follow(typeof pedido.corpo === 'string' ? pedido.corpo : JSON.stringify(pedido.corpo, null, 2), trial);
    }
    assert.ok(documents > 5, `${documents} of them are documents`);
  });
});

describe('a document with one mechanical mistake comes to be accepted', () => {
  const VALID = exampleXml();
  const MISTAKES: readonly (readonly [name: string, from: string | RegExp, to: string])[] = [
    ['a zero too many', '<tribISSQN>1<', '<tribISSQN>01<'],
    ['a zero too few', '<CST>000<', '<CST>00<'],
    ['a short date', '2026-10-05<', '2026-10-5<'],
    ['thousands in English', '<vServ>1000.00<', '<vServ>1,000.00<'],
    ['thousands in Portuguese', '<vServ>1000.00<', '<vServ>R$ 1.000,00<'],
    ['a date and time that the service writes', '<verAplic>', '<dhEmi>2026-10-05T10:00:00-03:00</dhEmi><verAplic>'],
    ['two of them', '<verAplic>', '<dhEmi>1</dhEmi><dhEmi>2</dhEmi><verAplic>'],
    ['a misspelt tag', /(<\/?)vServ>/g, '$1vServico>'],
    ['a misspelt group', /(<\/?)toma>/g, '$1tomador>'],
    [
      'a tag of an older layout',
      /<locPrest>\s*<cLocPrestacao>3550308<\/cLocPrestacao>\s*<\/locPrest>/,
      '<cMunPrest>3550308</cMunPrest>',
    ],
    ['an attribute', '<serv>', '<serv lingua="pt">'],
    ['an empty element', '</toma>', '<email></email></toma>'],
    ['an empty group', '</cServ>', '</cServ><infoCompl/>'],
    ['no namespace', ' xmlns="http://www.sped.fazenda.gov.br/nfse"', ''],
    ['another namespace', 'http://www.sped.fazenda.gov.br/nfse', 'http://www.sped.fazenda.gov.br/nfe'],
    ['a group outside the namespace', '<serv>', '<serv xmlns="">'],
    ['no version', ' versao="1.01"', ''],
    ['another version', 'versao="1.01"', "versao = '1.00'"],
    ['two elements in each other’s place', /(<tpAmb>.*)(\s*)(<verAplic>.*)/, '$3$2$1'],
    ['a group in another place', /(\s*<toma>[\s\S]*<\/toma>)(\s*<serv>[\s\S]*<\/serv>)/, '$2$1'],
  ];
  for (const [name, from, to] of MISTAKES) {
    test(name, () => {
      const wrong = VALID.replace(from, to);
      assert.notEqual(wrong, VALID);
      for (const clothes of CLOTHES) {
        let text = clothes(wrong);
        for (let round = 0; round < 4 && DPS.answer(text).length > 0; round += 1) {
          const corrected = correct(text, DPS.answer(text));
          assert.notEqual(corrected, text);
          text = corrected;
        }
        assert.deepEqual(DPS.answer(text), [], text);
        assert.ok(follow(clothes(wrong), DPS) > 0 || DPS.answer(clothes(wrong)).length === 0);
      }
    });
  }

  test('a group in order keeps what was written between its elements, each comment with its element', () => {
    const wrong = `<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">${/<infDPS[\s\S]*<\/infDPS>/
      .exec(VALID)![0]
      .replace(
        /<regTrib>[\s\S]*<\/regTrib>/,
        `<regTrib>
  <!-- qual regime
  especial -->
  <regEspTrib>0</regEspTrib> <!-- nenhum -->

  <?nota simples?><opSimpNac a='1'>1</opSimpNac>
  <!-- fim -->
</regTrib>`,
      )}</DPS>`;
    const [fault] = DPS.answer(wrong).filter(({ codigo }) => codigo === 'E203');
    assert.equal(
      fault!.correcao,
      `<regTrib>

  <?nota simples?><opSimpNac a='1'>1</opSimpNac>
  <!-- qual regime
  especial -->
  <regEspTrib>0</regEspTrib> <!-- nenhum -->
  <!-- fim -->
</regTrib>`,
    );
  });
});

/** The same document in other spellings. */
const CLOTHES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replace(/>\s+</g, '><'),
  (text) => text.replaceAll('\n', '\r\n'),
  (text) => text.replace(/(<\/\w+>)\n/g, '$1 <!-- <x> -->\n'),
  (text) =>
    / xmlns="[^"]/.test(text) && !text.includes('xmlns=""')
      ? text.replace(' xmlns=', ' xmlns:n=').replace(/<(\/?)(?=[a-zA-Z])/g, '<$1n:')
      : text,
];

// Randomly built documents.

/** One typical mistake of a generator of documents, or of a person; `pick` chooses its place. */
type Mistake = (text: string, pick: (below: number) => number) => string;

const leaves = (text: string): RegExpExecArray[] => [...text.matchAll(/<(\w+)>([^<]*)<\/\1>/g)] as RegExpExecArray[];

function leafChanged(change: (name: string, value: string, pick: (below: number) => number) => string): Mistake {
  return (text, pick) => {
    const all = leaves(text);
    if (all.length === 0) return text;
    const leaf = all[pick(all.length)]!;
    return text.slice(0, leaf.index) + change(leaf[1]!, leaf[2]!, pick) + text.slice(leaf.index + leaf[0].length);
  };
}

const VALUES: readonly ((value: string) => string)[] = [
  (value) => ` ${value}`,
  (value) => `0${value}`,
  (value) => `00${value}`,
  (value) => value.replace(/^0/, ''),
  (value) => value.replace('.', ','),
  (value) => `R$ ${value}`,
  (value) => value.replace(/\.00$/, ''),
  (value) => `${value}0`,
  (value) => value.replace(/^(\d{4})-0?(\d+)-0?(\d+)$/, '$3/$2/$1'),
  (value) => value.replace(/-0/g, '-'),
  (value) => `${value}–“x”`,
  (value) => `${value}\n\tx`,
  (value) => value.replace(/^(\d{3})(\d+)/, '$1.$2'),
  () => '',
  () => '  ',
  () => 'x',
];

const NAMES: readonly ((name: string) => string)[] = [
  (name) => `${name}s`,
  (name) => name.toUpperCase(),
  (name) => name.slice(0, -1),
  () => 'xEmail',
  () => 'dhEmi',
  () => 'vISSQN',
  () => 'nada',
  () => 'cMunPrest',
];

const MISTAKES_OF_XML: readonly Mistake[] = [
  ...VALUES.map((change) => leafChanged((name, value) => `<${name}>${change(value)}</${name}>`)),
  ...NAMES.map((change) => leafChanged((name, value) => `<${change(name)}>${value}</${change(name)}>`)),
  leafChanged((name, value) => `<${name}>${value}</${name}><${name}>${value}</${name}>`),
  leafChanged((name, value) => `<${name}>${value}</${name}><dhEmi>1</dhEmi>`),
  leafChanged((name, value) => `<${name} a="1">${value}</${name}>`),
  leafChanged((name, value) => `<${name} xmlns="urn:x">${value}</${name}>`),
  leafChanged((name, value) => `<!-- ${name} --><${name}><![CDATA[${value}]]></${name}>`),
  leafChanged((name) => `<${name}/>`),
  leafChanged(() => ''),
  leafChanged(() => '<infoCompl/>'),
  leafChanged(() => '<infoCompl><docRef></docRef></infoCompl>'),
  leafChanged(() => '<infoCompl><xPed>1</xPed></infoCompl>'),
  (text, pick) => {
    const groups = [...text.matchAll(/<(\/?)(prest|toma|serv|valores|trib|tribMun|end|locPrest|IBSCBS)>/g)];
    if (groups.length === 0) return text;
    const name = groups[pick(groups.length)]![2]!;
    return text.replace(new RegExp(`(</?)${name}>`, 'g'), `$1${NAMES[pick(3)]!(name)}>`);
  },
  (text, pick) => {
    const all = [...text.matchAll(/ *<(\w+)>(?:[^<]*|\n[\s\S]*?\n *)<\/\1>\n/g)];
    if (all.length < 2) return text;
    const [one] = all[pick(all.length)]!;
    const rest = text.replace(one, '');
    const left = leaves(rest);
    if (left.length === 0) return text;
    const { index } = left[pick(left.length)]!;
    return `${rest.slice(0, index)}${one.trim()}\n${rest.slice(index)}`;
  },
  (text) => text.replace('versao="1.01"', ''),
  (text) => text.replace(/ xmlns="http[^"]*"/, ''),
];

const MISTAKES_OF_JSON: readonly Mistake[] = [
  ...VALUES.map(
    (change): Mistake =>
      (text, pick) => {
        const all = [...text.matchAll(/: "([^"\\]*)"/g)];
        if (all.length === 0) return text;
        const one = all[pick(all.length)]!;
        return `${text.slice(0, one.index)}: ${JSON.stringify(change(one[1]!))}${text.slice(one.index + one[0].length)}`;
      },
  ),
  ...[
    (name: string) => name.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()),
    (name: string) => `${name}s`,
    (name: string) => name.toUpperCase(),
    () => 'nada',
    () => 'valor_iss',
    () => 'dhEmi',
    () => 'valorServico',
  ].map(
    (change): Mistake =>
      (text, pick) => {
        const all = [...text.matchAll(/"(\w+)": /g)];
        if (all.length === 0) return text;
        const one = all[pick(all.length)]!;
        const name = change(one[1]!);
        const renamed = `${text.slice(0, one.index)}"${name}": ${text.slice(one.index + one[0].length)}`;
        return 'fault' in readJson(Buffer.from(renamed)) ? text : renamed;
      },
  ),
  (text, pick) => {
    const all = [...text.matchAll(/: "(\d+(?:\.\d+)?)"/g)];
    if (all.length === 0) return text;
    const one = all[pick(all.length)]!;
    return `${text.slice(0, one.index)}: ${Number(one[1])}${text.slice(one.index + one[0].length)}`;
  },
  (text) => text.replace('{', '{ "dhEmi": "2026-10-05", "informacoes_complementares": { "documento_referencia": "" },'),
  (text) => text.replace('{', '{ "tomador_endereco2": { "a": [1, {}] }, "valorServico": "1.000,00",'),
];

const EVENTOS = TIPOS_EVENTO.filter(({ porOficio }) => !porOficio).map((tipo) =>
  JSON.stringify(
    Object.fromEntries([
      ['tipo_evento', tipo.slug],
      ['cnpj_autor', '11222333000181'],
      ...tipo.campos.map((campo) => [
        campo.nome,
        'opcoes' in campo ? campo.opcoes[0]!.codigo : 'Um texto de quinze letras',
      ]),
    ]),
    null,
    1,
  ),
);

function wrong(bases: readonly string[], mistakes: readonly Mistake[]) {
  return fc
    .record({
      base: fc.nat(bases.length - 1),
      picks: fc.array(fc.nat(9973), { minLength: 12, maxLength: 12 }),
      many: fc.integer({ min: 1, max: 4 }),
    })
    .map(({ base, picks, many }) => {
      let at = 0;
      const pick = (below: number): number => picks[at++ % picks.length]! % below;
      let text = bases[base]!;
      for (let count = 0; count < many; count += 1) text = mistakes[pick(mistakes.length)]!(text, pick);
      return text;
    });
}

describe('whatever is wrong, the corrections come to an end', () => {
  for (const [name, bases, mistakes, trial, everyday] of [
    ['in XML', XMLS, MISTAKES_OF_XML, DPS, 500],
    ['in JSON', JSONS, MISTAKES_OF_JSON, DPS, 500],
    ['in the request of an event', EVENTOS, MISTAKES_OF_JSON, EVENTO, 400],
  ] as const) {
    const runs = LONG ? 20 * everyday : everyday;
    test(name, () => {
      let corrected = 0;
      fc.assert(
        fc.property(
          wrong(bases, mistakes),
          fc.option(fc.nat(7), { nil: undefined }),
          fc.nat(CLOTHES.length - 1),
          (text, one, clothes) => {
            corrected += Math.sign(follow(name === 'in XML' ? CLOTHES[clothes]!(text) : text, trial, one));
          },
        ),
        { numRuns: runs },
      );
      assert.ok(corrected > runs / 4, `${corrected} of ${runs} had a correction`);
    });
  }
});
