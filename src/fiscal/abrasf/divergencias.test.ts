/** Declared amounts of an RPS beside its note. The expected amounts are calculated by hand with the formulas of the manual. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EXAMPLE_FACTS } from '../../../test/support/law.ts';
import { infRps, type RpsDeTeste, TOMADOR } from '../../../test/support/rps.ts';
import { readXml } from '../../documents/xml.ts';
import { parseDecimal } from '../decimal.ts';
import { judge } from '../judge.ts';
import { readDps } from '../layout/read.ts';
import { divergenciasOf } from './divergencias.ts';
import { IMPEDIMENTOS } from './impedimentos.ts';
import { dpsOfRps } from './mapa.ts';
import { mensagemOfDivergencia, rpsNamed } from './mensagens.ts';
import { readRps } from './rps.ts';

const CONTEXTO = { tpAmb: '2', cLocEmi: '3550308', correlacao: undefined, chSubstda: undefined } as const;
const LONGEST = rpsNamed({ numero: '9'.repeat(15), serie: '9'.repeat(5), tipo: '1' });

/** `E153 message | correction` of each; `aliquota`: the one that the municipality registered. */
function toldOf(rps: Partial<RpsDeTeste>, aliquota?: string): readonly string[] {
  const reading = readXml(Buffer.from(infRps({ numero: 1, ...rps })));
  assert.ok('root' in reading);
  const { rps: texts, faltas } = readRps(reading.root);
  assert.deepEqual(faltas, []);
  const impedimentos = IMPEDIMENTOS.filter(({ has }) => has(texts, CONTEXTO)).map(
    ({ codigo, detalhe, correcao }) => `${codigo} ${detalhe} | ${correcao}`,
  );
  const document = readXml(Buffer.from(dpsOfRps(texts, CONTEXTO)));
  assert.ok('root' in document);
  const read = readDps(document.root);
  assert.ok('dps' in read, 'faults' in read ? JSON.stringify(read.faults) : '');
  const facts = {
    ...EXAMPLE_FACTS,
    ...(aliquota === undefined ? {} : { aliquotaRegistrada: () => parseDecimal(aliquota) }),
    prestador: { ...EXAMPLE_FACTS.prestador, simples: [{ inicio: '2020-01-01', fim: undefined }] },
  };
  const judged = judge(read.dps, facts);
  assert.ok('amounts' in judged, 'faults' in judged ? JSON.stringify(judged.faults) : '');
  const divergencias = divergenciasOf(texts, { dps: read.dps, ...judged });
  for (const one of divergencias) {
    const { mensagem, correcao } = mensagemOfDivergencia(one, LONGEST);
    assert.ok(mensagem.length <= 200 && correcao!.length <= 200);
    // Both values are shown, even when the message is cut, and the correction is shown in full.
    assert.match(mensagem, /\.$/);
    assert.equal(correcao, one.correcao);
  }
  return [
    ...impedimentos,
    ...divergencias.map(({ codigo, mensagem, correcao }) => `${codigo} ${mensagem} | ${correcao}`),
  ];
}

/** `Valores` of a service of 1000.00. */
const valores = (more: string, retido = '2', aliquota = '0.05') =>
  `<ValorServicos>1000.00</ValorServicos><ValorDeducoes>0</ValorDeducoes><IssRetido>${retido}</IssRetido><Aliquota>${aliquota}</Aliquota>${more}`;

describe('a declared amount', () => {
  test('is taken where it is the calculated one to a cent, and nought declares nothing', () => {
    for (const [more, retido] of [
      ['<ValorIss>50.00</ValorIss><BaseCalculo>1000.00</BaseCalculo><ValorLiquidoNfse>1000.00</ValorLiquidoNfse>'],
      ['<ValorIss>50.01</ValorIss><BaseCalculo>999.99</BaseCalculo><ValorLiquidoNfse>1000.01</ValorLiquidoNfse>'],
      ['<ValorIss>0</ValorIss><BaseCalculo>0.00</BaseCalculo><ValorIssRetido>0.00</ValorIssRetido>'],
      [
        '<ValorIss>50.00</ValorIss><ValorIssRetido>50.00</ValorIssRetido><ValorLiquidoNfse>950.00</ValorLiquidoNfse>',
        '1',
      ],
      // 1000.00 - 5.50
      ['<OutrasRetencoes>5.5</OutrasRetencoes><ValorLiquidoNfse>994.50</ValorLiquidoNfse>'],
      // 1000.00 - 100.00 - 50.00 - 15.00; base 900.00
      [
        '<ValorIr>15.00</ValorIr><DescontoIncondicionado>100.00</DescontoIncondicionado><DescontoCondicionado>50.00</DescontoCondicionado><BaseCalculo>900.00</BaseCalculo><ValorIss>45.00</ValorIss><ValorLiquidoNfse>835.00</ValorLiquidoNfse>',
      ],
    ] as const) {
      assert.deepEqual(toldOf({ valores: valores(more, retido) }), [], more);
    }
  });

  test('that is another is told with both, and with what it is made of', () => {
    for (const [more, retido, wanted] of [
      [
        '<ValorIss>25.00</ValorIss>',
        '2',
        /^E153 ValorIss é 25\.00, e o ISS calculado é 50\.00\. Base 1000\.00, alíquota 5\.00%\. \| Corrija ValorIss, Aliquota/,
      ],
      ['<ValorIss>50.02</ValorIss>', '2', /^E153 ValorIss é 50\.02, e o ISS calculado é 50\.00\./],
      [
        '<BaseCalculo>900.00</BaseCalculo>',
        '2',
        /^E100 BaseCalculo é 900\.00, e a base calculada é 1000\.00\. Serviço 1000\.00, deduções 0\.00, desconto incondicionado 0\.00\./,
      ],
      ['<ValorIssRetido>30.00</ValorIssRetido>', '1', /^E153 ValorIssRetido é 30\.00, e o ISS retido é 50\.00\./],
      [
        '<ValorLiquidoNfse>1000.00</ValorLiquidoNfse>',
        '1',
        /^E100 ValorLiquidoNfse é 1000\.00, e o líquido calculado é 950\.00\. Serviço 1000\.00, descontos 0\.00, retenções 50\.00\./,
      ],
      [
        '<ValorIssRetido>50.00</ValorIssRetido>',
        '2',
        /^E153 ValorIssRetido traz um valor, e IssRetido 2 diz que o ISS não foi retido\. \| Use IssRetido 1, ou retire ValorIssRetido\.$/,
      ],
    ] as const) {
      const [one, ...others] = toldOf({ valores: valores(more, retido) });
      assert.match(one ?? '', wanted);
      assert.deepEqual(others, []);
    }
    const all =
      '<ValorIss>1</ValorIss><ValorIssRetido>1</ValorIssRetido><BaseCalculo>1</BaseCalculo><ValorLiquidoNfse>1</ValorLiquidoNfse>';
    assert.equal(toldOf({ valores: valores(all, '1') }).length, 4);
  });

  test('of another rate than the one that applies is told with that rate', () => {
    const [told, ...others] = toldOf({ valores: valores('<ValorIss>20.00</ValorIss>', '2', '0.02') }, '5.00');
    assert.match(
      told!,
      /^E153 ValorIss é 20\.00, e o ISS calculado é 50\.00\. .*A alíquota que se aplica é 5\.00%, e não a do RPS/,
    );
    assert.deepEqual(others, []);
  });

  test('of ISS, where the note has none, is told with the reason; the base is compared all the same', () => {
    const sent = '<ValorIss>50.00</ValorIss><BaseCalculo>1000.00</BaseCalculo>';
    for (const [rps, why] of [
      [{ simples: '1' }, /o do Simples Nacional é recolhido no DAS/],
      [{ simples: '1', regime: '5' }, /O de um MEI é recolhido no DAS/],
      [{ regime: '3' }, /Em regime especial/],
      [
        {
          natureza: '5',
          extensao: `<ExigibilidadeSuspensa><nProcesso>${'1'.repeat(30)}</nProcesso></ExigibilidadeSuspensa><ControleIBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib><cIndOp>100301</cIndOp></ControleIBSCBS>`,
        },
        /A exigibilidade está suspensa/,
      ],
    ] as const) {
      const [one, ...others] = toldOf({ ...rps, valores: valores(sent) });
      assert.match(
        one ?? '',
        /^E153 ValorIss é 50\.00, e a nota não leva ISS\. .* \| Retire ValorIss, ou envie 0\.00\.$/,
      );
      assert.match(one!, why);
      assert.deepEqual(others, []);
    }
    const [base] = toldOf({ simples: '1', valores: valores('<BaseCalculo>900.00</BaseCalculo>') });
    assert.match(base!, /^E100 BaseCalculo é 900\.00, e a base calculada é 1000\.00\./);
  });
});

describe('the nature of the operation', () => {
  const extensao = (cTribNac: string) =>
    `<DadosDPS><CTribNac>${cTribNac}</CTribNac></DadosDPS><ControleIBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib><cIndOp>100301</cIndOp></ControleIBSCBS>`;
  /** LC 116/2003, art. 3: 1.01 is due at the provider's, XX (17.05) at the taker's, XXI (17.10) at the place of provision. */
  const SERVICOS = {
    estabelecimento: { item: '01.01', extensao: extensao('010101') },
    tomador: { item: '17.05', extensao: extensao('170501') },
    prestacao: { item: '17.10', extensao: extensao('171001') },
  } as const;
  const TOMADOR_NO_RIO = TOMADOR.replace('3550308', '3304557').replace('>SP<', '>RJ<').replace('1001000', '20040020');

  for (const [natureza, servico, more, wanted] of [
    ['1', 'estabelecimento', {}, undefined],
    ['1', 'estabelecimento', { cMun: '3304557' }, undefined],
    [
      '2',
      'estabelecimento',
      { cMun: '3304557' },
      /^E144 O ISS deste serviço é devido no estabelecimento do prestador, em 3550308 \(São Paulo\/SP\), e NaturezaOperacao é 2, fora do município do prestador\. \| Use NaturezaOperacao 1; se .* corrija ItemListaServico\.$/,
    ],
    ['2', 'prestacao', { cMun: '3304557' }, undefined],
    ['1', 'prestacao', {}, undefined],
    [
      '1',
      'prestacao',
      { cMun: '3304557' },
      /^E144 O ISS deste serviço é devido onde ele é prestado, em 3304557 \(Rio de Janeiro\/RJ\), e NaturezaOperacao é 1, no município do prestador \(3550308\)\. \| Use NaturezaOperacao 2; .*CodigoMunicipio do serviço\.$/,
    ],
    ['2', 'prestacao', {}, /^E144 .*onde ele é prestado, em 3550308 .*Use NaturezaOperacao 1/],
    ['2', 'tomador', { tomador: TOMADOR_NO_RIO }, undefined],
    [
      '1',
      'tomador',
      { tomador: TOMADOR_NO_RIO },
      /^E144 .*no município do tomador, em 3304557 .*Use NaturezaOperacao 2.*do tomador\.$/,
    ],
  ] as const) {
    test(`${natureza} of a service due by the rule "${servico}" ${JSON.stringify(more).slice(0, 30)}`, () => {
      const [one, ...others] = toldOf({ natureza, ...SERVICOS[servico], ...more });
      if (wanted === undefined) assert.equal(one, undefined);
      else assert.match(one ?? '', wanted);
      assert.deepEqual(others, []);
    });
  }
});

test('in the sandbox a provider without a note has no outside', () => {
  const reading = readXml(Buffer.from(infRps({ numero: 1, natureza: '2' })));
  assert.ok('root' in reading);
  const { rps } = readRps(reading.root);
  const told = (cLocEmi: string | undefined) =>
    IMPEDIMENTOS.filter(({ has }) => has(rps, { ...CONTEXTO, cLocEmi })).map(({ codigo }) => codigo);
  assert.deepEqual(told(undefined), ['E144']);
  assert.deepEqual(told('3304557'), []);
});

test('a moment with an offset has the day of the municipality, and without one its own', () => {
  const dia = (emissao: string, cLocEmi: string | undefined = '3550308', extensao = '') => {
    const reading = readXml(Buffer.from(infRps({ numero: 1, emissao, extensao })));
    assert.ok('root' in reading);
    return /<dCompet>(.*)<\/dCompet>/.exec(dpsOfRps(readRps(reading.root).rps, { ...CONTEXTO, cLocEmi }))?.[1];
  };
  const [saoPaulo, noronha, manaus] = ['3550308', '2605459', '1302603'];
  for (const [emissao, wanted, cLocEmi] of [
    ['2026-11-01T01:30:00Z', '2026-10-31', saoPaulo],
    ['2026-11-01T01:30:00.123Z', '2026-10-31', saoPaulo],
    ['2026-11-01T02:30:00Z', '2026-11-01', noronha],
    ['2026-11-01T02:30:00Z', '2026-10-31', saoPaulo],
    ['2026-11-01T03:30:00Z', '2026-11-01', saoPaulo],
    ['2026-11-01T03:30:00Z', '2026-10-31', manaus],
    ['2026-11-01T00:30:00+01:00', '2026-10-31', saoPaulo],
    ['2026-10-31T23:30:00-05:00', '2026-11-01', saoPaulo],
    ['2026-11-01T01:30:00', '2026-11-01', saoPaulo],
    ['2026-11-01', '2026-11-01', saoPaulo],
    // The day does not exist: the date stays as it was sent, and the rule reports it.
    ['2026-02-31T10:00:00', '2026-02-31T10:00:00', saoPaulo],
    // A provider without a note in the sandbox has the municipality of the provision.
    ['2026-11-01T01:30:00Z', '2026-10-31', undefined],
  ] as const) {
    assert.equal(dia(emissao, cLocEmi), wanted, `${emissao} ${cLocEmi}`);
  }
  const extensao = '<DataCompetencia>2026-11-01T01:30:00Z</DataCompetencia>';
  assert.equal(dia('2026-11-20T10:00:00', saoPaulo, extensao), '2026-10-31');
});
