/** Texts that get the remark on broken text, and texts that do not: bytes of UTF-8 read as Latin-1 or Windows-1252, escapes, markup. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dpsOf, EXAMPLE_FACTS } from '../../../test/support/law.ts';
import { NADA_DECLARADO } from '../declarado.ts';
import type { Dps } from '../layout/dps.ts';
import { CODIFICACAO } from './codificacao.ts';

const [rule] = CODIFICACAO;
const VALID = dpsOf({});

const described = (xDescServ: string, dps = VALID): Dps => ({
  ...dps,
  serv: { ...dps.serv, cServ: { ...dps.serv.cServ, xDescServ } },
});

/** Place and message of every remark. */
function told(dps: Dps): readonly string[] {
  if (rule!.must(dps, EXAMPLE_FACTS, NADA_DECLARADO)) return [];
  return rule!.breaches!(dps, EXAMPLE_FACTS, NADA_DECLARADO).map(({ at, mensagem }) => `${at}: ${mensagem}`);
}

/** The same letters in a program that reads UTF-8 as another encoding. */
const readAs = (text: string, encoding: 'latin1' | 'windows-1252'): string =>
  encoding === 'latin1' ? Buffer.from(text).toString('latin1') : new TextDecoder(encoding).decode(Buffer.from(text));

describe('text whose letters were read in another encoding', () => {
  for (const encoding of ['latin1', 'windows-1252'] as const) {
    for (const word of ['Manutenção', 'SERVIÇO', 'AÇÕES', 'ÍNDICE', 'à', 'nº', '2ª', 'lote–3', 'Sociedade“X”', 'É']) {
      test(`${word} as ${encoding} shows it is told, with what was meant`, () => {
        const [first, ...others] = told(described(`Contrato: ${readAs(word, encoding)} de 2026`));
        assert.deepEqual(others, []);
        assert.match(first!, /^serv\/cServ\/xDescServ: /);
        assert.ok(first!.includes(`é "${word}"?`), first!);
      });
    }
  }

  test('a letter that was lost is told', () => {
    assert.match(told(described('Manuten\uFFFD\uFFFDo'))[0]!, /"Manuten��o".*se perdeu/);
  });

  test('each text is told once, at its own place, those of a repeated group too', () => {
    const dps = dpsOf({
      'toma/xNome': 'JoÃ£o e ConceiÃ§Ã£o',
      'serv/infoCompl/xInfComp': 'ObservaÃ§Ã£o',
      'IBSCBS/valores/gReeRepRes/documentos/docOutro/nDoc': '1',
      'IBSCBS/valores/gReeRepRes/documentos/docOutro/xDoc': 'AÃ§o',
      'IBSCBS/valores/gReeRepRes/documentos/dtEmiDoc': '2026-10-01',
      'IBSCBS/valores/gReeRepRes/documentos/dtCompDoc': '2026-10-01',
      'IBSCBS/valores/gReeRepRes/documentos/tpReeRepRes': '04',
      'IBSCBS/valores/gReeRepRes/documentos/vlrReeRepRes': '1.00',
    });
    const places = told(dps).map((one) => one.slice(0, one.indexOf(':')));
    assert.deepEqual(places.toSorted(), [
      'IBSCBS/valores/gReeRepRes/documentos[1]/docOutro/xDoc',
      'serv/infoCompl/xInfComp',
      'toma/xNome',
    ]);
  });
});

describe('text that was escaped once too often', () => {
  // The text that a parser returns, and the original text.
  const escaped: readonly (readonly [text: string, word: string, meant: string])[] = [
    ['Tomador &amp; Filhos', '&amp;', '&'],
    ['Tomador &amp;amp; Filhos', '&amp;amp;', '&'],
    ['Servi&ccedil;o', 'Servi&ccedil;o', 'Serviço'],
    ['SERVI&CCEDIL;O', 'SERVI&CCEDIL;O', 'SERVIÇO'],
    ['Servi&#231;o de manuten&#xE7;&#xe3;o', 'Servi&#231;o', 'Serviço'],
    ['Servi\\u00e7o', 'Servi\\u00e7o', 'Serviço'],
    ['SERVI\\u00C7O', 'SERVI\\u00C7O', 'SERVIÇO'],
    ['Lote&nbsp;3', 'Lote&nbsp;3', 'Lote\u00a03'],
    ['Sala &ldquo;A&rdquo;', '&ldquo;A&rdquo;', '“A”'],
    ['Peças &lt; 10 kg', '&lt;', '<'],
  ];
  for (const [text, word, meant] of escaped) {
    test(`"${text}" is told, with what was meant`, () => {
      const [first, ...others] = told(described(text));
      assert.deepEqual(others, []);
      assert.ok(first!.includes(`O texto traz "${word}", que parece escapado duas vezes: é "${meant}"?`), first!);
    });
  }

  for (const [text, tag] of [
    ['Linha um<br>linha dois', '<br>'],
    ['Linha um<BR/>linha dois', '<BR/>'],
    ['Linha um&lt;br /&gt;linha dois', '<br />'],
    ['<p class="x">Serviço</p>', '<p class="x">'],
    ['<![CDATA[Serviço]]>', '<![CDATA['],
  ] as const) {
    test(`"${text}" has markup, which is told`, () => {
      const [first, ...others] = told(described(text));
      assert.deepEqual(others, []);
      assert.ok(first!.includes(`"${tag}", e uma nota não lê marcação`), first!);
    });
  }

  test('a text with two of them is told of both, once', () => {
    const [first, ...others] = told(described('Servi&ccedil;o<br>um'));
    assert.deepEqual(others, []);
    assert.match(first!, /escapado duas vezes.*marcação.*Ele segue como veio/);
    assert.equal(first!.match(/segue como veio/g)!.length, 1);
  });

  test('each text of a document is looked at', () => {
    let texts = 0;
    const spoil = (part: unknown): unknown => {
      if (typeof part === 'string') texts += 1;
      if (typeof part === 'string') return 'A &amp; B';
      if (Array.isArray(part)) return part.map(spoil);
      if (typeof part !== 'object' || part === null) return part;
      return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, spoil(value)]));
    };
    const dps = spoil(
      dpsOf({ 'serv/infoCompl/xInfComp': 'x', 'toma/email': 'a@b.com.br', 'toma/end/xCpl': 'x' }),
    ) as Dps;
    assert.equal(told(dps).length, texts);
  });
});

describe('text that is as it was written', () => {
  const whole = [
    'MANUTENÇÃO NA CÂMARA DE SÃO PAULO',
    'AÇÃO, IRMÃ, MAÇÃ “CAFÉ” «MAÇû',
    'Serviço – 2º andar – câmara',
    'Łódź, Ærø, naïve façade',
    'ÂMBAR ÂNGULO ÃO',
    'preço: € 10 • 5 % ™',
    'P&D; Silva&Souza; AT&T; R&D & Cia',
    'https://exemplo.com.br/x?a=1&copy=2&ccedil',
    'valor <valor> de <a> a <c>, se x < y e y > z',
    'C:\\usuarios\\notas',
    'a; b & c;',
    '',
  ];
  for (const text of whole) test(`nothing is told of "${text}"`, () => assert.deepEqual(told(described(text)), []));
});
