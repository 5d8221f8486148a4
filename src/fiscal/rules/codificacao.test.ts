/** What the remark on broken text sees and what it lets pass: bytes written as UTF-8 and read as Latin-1 or Windows-1252. */
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

/** The same letters as a program shows them that takes UTF-8 for another encoding. */
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

describe('text that is as it was written', () => {
  const whole = [
    'MANUTENÇÃO NA CÂMARA DE SÃO PAULO',
    'AÇÃO, IRMÃ, MAÇÃ “CAFÉ” «MAÇû',
    'Serviço – 2º andar – câmara',
    'Łódź, Ærø, naïve façade',
    'ÂMBAR ÂNGULO ÃO',
    'preço: € 10 • 5 % ™',
    '',
  ];
  for (const text of whole) test(`nothing is told of "${text}"`, () => assert.deepEqual(told(described(text)), []));
});
