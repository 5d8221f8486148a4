/** The tables of the legacy port agree with each other and with the layouts that they speak of. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lawOver, lawOverExample } from '../../../test/support/law.ts';
import { infRps, TOMADOR } from '../../../test/support/rps.ts';
import { readXml } from '../../documents/xml.ts';
import { readSubitem } from '../catalogs/catalogs.ts';
import { errorOf } from '../errors.ts';
import { INF_DPS } from '../layout/dps.ts';
import { INF_NFSE_OWN } from '../layout/nfse.ts';
import { readDps } from '../layout/read.ts';
import { elementsOf, type Item } from '../layout/vocabulary.ts';
import { ALL_RULES } from '../rules/rules.ts';
import { DITOS } from './ditos.ts';
import { IMPEDIMENTOS } from './impedimentos.ts';
import { dpsOfRps, linhaOf, MAPA, NAO_LEVADOS } from './mapa.ts';
import { CODIGOS, mensagemOf, mensagemOfFalta, mensagemOfFault, mensagemOfImpedimento, rpsNamed } from './mensagens.ts';
import { NOTA, nestLeaves } from './nota.ts';
import { CAMPOS_RPS, readRps } from './rps.ts';

function pathsOf(items: readonly Item[], base = ''): string[] {
  return elementsOf(items).flatMap((item) =>
    item.kind === 'leaf' ? [`${base}${item.name}`] : pathsOf(item.items, `${base}${item.name}/`),
  );
}

const DPS_PATHS = new Set(pathsOf(INF_DPS));
const NFSE_PATHS = new Set([...pathsOf(INF_NFSE_OWN), ...[...DPS_PATHS].map((path) => `DPS/infDPS/${path}`)]);
const RPS_PATHS = new Set(CAMPOS_RPS.map(({ path }) => path));

describe('the tables', () => {
  test('name what exists', () => {
    for (const { dps, rps } of MAPA) {
      assert.ok(DPS_PATHS.has(dps), dps);
      for (const path of rps) assert.ok(RPS_PATHS.has(path), path);
    }
    for (const { rps } of IMPEDIMENTOS) assert.ok(RPS_PATHS.has(rps), rps);
    assert.equal(new Set(MAPA.map(({ dps }) => dps)).size, MAPA.length);
    for (const { de } of NOTA) {
      const isThere = de === '' || [...NFSE_PATHS].some((path) => path === de || path.startsWith(`${de}/`));
      assert.ok(isThere || ['chave de acesso', 'RPS'].includes(de), de);
    }
  });

  test('say what becomes of every element of an RPS, once', () => {
    const taken = new Set(MAPA.flatMap(({ rps }) => rps));
    for (const path of RPS_PATHS) {
      const isLeft = NAO_LEVADOS.some(({ rps }) => rps === path);
      assert.ok(taken.has(path) !== isLeft, path);
    }
  });

  test('send no code without a text, and no text that is too long', () => {
    const codes = [
      ...CAMPOS_RPS.flatMap(({ falta, forma }) => [falta, forma?.[0]]),
      ...MAPA.flatMap(({ falta, errado }) => [falta, errado]),
      ...IMPEDIMENTOS.map(({ codigo }) => codigo),
    ].filter((code) => code !== undefined);
    for (const code of codes) assert.ok(code in CODIGOS, code);
    const sobre = rpsNamed({ numero: '9'.repeat(15), serie: '99999', tipo: '1' });
    for (const { codigo, detalhe } of IMPEDIMENTOS) {
      const { mensagem } = mensagemOf(codigo, sobre, detalhe);
      assert.ok(mensagem.endsWith(detalhe) && mensagem.length <= 200, mensagem);
    }
    for (const [code, texts] of Object.entries(CODIGOS)) {
      assert.match(code, /^[AE]\d{1,3}$/);
      for (const text of texts) assert.ok(text.length <= 200, code);
    }
  });
});

/** Names of the DPS, and words of the REST door. */
const FOREIGN =
  /\b(cTribNac|cTribMun|cServ|tpRetISSQN|tribISSQN|opSimpNac|regEspTrib|regApTribSN|pAliq|vServ|vDedRed|xDescServ|dCompet|infDPS|prest|toma|interm|endNac|cLocPrestacao|exigSusp)\b|\bDPS\b|\/catalogo|esperado|correcao|</;

test('the texts of the tables are in the words of the model', () => {
  const texts = [
    ...Object.values(CODIGOS).flat(),
    ...Object.values(DITOS).flatMap(([, mensagem, correcao]) => [mensagem, correcao]),
    ...IMPEDIMENTOS.map(({ detalhe }) => detalhe),
  ];
  for (const text of texts) assert.doesNotMatch(text.replaceAll('DadosDPS/cTribNac', ''), FOREIGN);
  for (const [rule, [codigo, , , path]] of Object.entries(DITOS)) {
    assert.ok(errorOf(rule.split(' ', 1)[0]!) !== undefined, rule);
    assert.ok(codigo in CODIGOS || (errorOf(`E${codigo}`) ?? errorOf(codigo)) !== undefined, codigo);
    const isThere = path === undefined || [...RPS_PATHS].some((one) => one === path || one.startsWith(`${path}/`));
    assert.ok(isThere, rule);
  }
});

describe('a fault of the DPS', () => {
  const told = (codigo: string, path: string, mensagem = 'Algo.') =>
    mensagemOfFault({ codigo, xpath: `/DPS/infDPS/${path}`, mensagem }, 'RPS 1, série 1, tipo 1');

  test('is told by the code of the model where it has one, and else by its own', () => {
    assert.equal(told('E401', 'valores/vServPrest/vServ').codigo, 'E18');
    assert.equal(told('E002', 'serv/cServ/cTribNac').codigo, 'E30');
    assert.equal(told('E0003', 'toma/CPF').codigo, 'E47');
    assert.equal(told('E802', 'IBSCBS').codigo, 'E802');
    assert.equal(told('E0310', 'serv/cServ/cTribNac').codigo, '0310');
    assert.equal(told('E0429', 'valores/vDedRed').codigo, '0429');
    assert.equal(told('E101', 'prest/CNPJ').codigo, 'E45');
  });

  test('fits into the schema, its RPS in front, and is cut at the end of a sentence', () => {
    const long = `${'Uma frase que explica o que há de errado. '.repeat(8)}Fim.`;
    const { mensagem, correcao } = told('E0958', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib', long);
    assert.match(mensagem, /^RPS 1, série 1, tipo 1: E0958 \(ControleIBSCBS\/cClassTrib\) Uma frase/);
    assert.ok(mensagem.length <= 200 && correcao!.length <= 200);
    assert.match(mensagem, /errado\.$/);
    assert.match(correcao!, /^Uma frase.*errado\.$/);
  });

  test('fits even where one word that was sent takes more than all the room, and loses none of what comes before it', () => {
    const said = `A Reference aponta "#lote9", e deve apontar "#DPS${'9'.repeat(600)}".`;
    const { mensagem, correcao } = told('E906', 'Signature', said);
    assert.ok(mensagem.length <= 200 && correcao!.length <= 200, `${mensagem.length}, ${correcao?.length}`);
    const begun = mensagem.replace(/^RPS 1, série 1, tipo 1: /, '').replace(/…$/, '');
    assert.ok(said.startsWith(begun) && begun.length > 40, mensagem);
    assert.ok(
      said
        .slice(begun.length)
        .trimStart()
        .startsWith((correcao ?? '').replace(/…$/, '')),
      `${correcao}`,
    );
  });

  test('is told in the words of the RPS, whatever the rule: no name of the DPS, no word of the REST door', () => {
    const model = /^(?:E(?:[1-9]|[1-9]\d|1[0-5]\d|16[01])|A[1-8]|\d{4}|E[89]\d\d)$/;
    let count = 0;
    for (const rule of ALL_RULES) {
      for (const patch of rule.rejects) {
        for (const fault of lawOverExample(patch)) {
          const { codigo, mensagem, correcao } = mensagemOfFault(fault, 'RPS 1, série 1, tipo 1');
          const text = `${mensagem} ${correcao}`.replaceAll('DadosDPS/cTribNac', '');
          assert.doesNotMatch(text, FOREIGN, `${fault.codigo}: ${text}`);
          assert.match(codigo, model, fault.codigo);
          assert.ok(mensagem.length <= 200 && correcao!.length <= 200 && correcao !== '', fault.codigo);
          count += 1;
        }
      }
    }
    assert.ok(count > 200, `${count}`);
  });

  test('has the code and the words of the model where it has them', () => {
    for (const [codigo, path, wanted, correcao] of [
      ['E0427', 'valores/vServPrest/vServ', 'E19', /ValorDeducoes/],
      ['E0428', 'valores/vServPrest/vServ', 'E99', /retenções/],
      ['E002', 'valores/trib/tribMun/exigSusp/nProcesso', 'E144', /ExigibilidadeSuspensa\/nProcesso/],
      ['E0592', 'valores/trib/tribMun/tpImunidade', 'E144', /correlação/],
      ['E0003', 'serv/cServ/xDescServ', 'E107', /2000 caracteres/],
      ['E101', 'prest/CNPJ', 'E45', /prefeitura/],
      ['E0204', 'toma/CNPJ', 'E47', /IssRetido 2/],
    ] as const) {
      const one = told(codigo, path, 'O texto certo está em correcao.');
      assert.equal(one.codigo, wanted, codigo);
      assert.match(one.correcao!, correcao);
      assert.doesNotMatch(one.mensagem, /E101|E0|correcao/);
    }
  });

  test('names the element that was sent', () => {
    const at = (xml: string): string => {
      const reading = readXml(Buffer.from(`<InfRps>${xml}</InfRps>`));
      assert.ok('root' in reading);
      const fault = { codigo: 'E0003', xpath: '/DPS/infDPS/dCompet', mensagem: 'Algo.', encontrado: '2026-02-31' };
      return mensagemOfFault(fault, '', readRps(reading.root).rps).mensagem;
    };
    assert.match(at('<DataEmissao>2026-02-31</DataEmissao>'), /\(DataEmissao: 2026-02-31\)/);
    assert.match(at('<DataCompetencia>2026-02-31</DataCompetencia>'), /\(DataCompetencia: 2026-02-31\)/);
  });

  test('is placed by the element that it was made of', () => {
    assert.equal(linhaOf('/DPS/infDPS/toma/end/endNac/CEP')?.rps[0], 'Tomador/Endereco/Cep');
    assert.equal(linhaOf('/DPS/infDPS/valores/trib/tribFed/piscofins')?.rps[0], 'Servico/Valores/ValorPis');
    assert.equal(linhaOf('/DPS/infDPS'), undefined);
  });
});

describe('an element that nobody reads', () => {
  const faltasOf = (inside: string) => {
    const reading = readXml(Buffer.from(`<InfRps>${inside}</InfRps>`));
    assert.ok('root' in reading);
    return readRps(reading.root).faltas.filter(({ codigo }) => codigo === 'E160');
  };

  test('is told with its path and the nearest name', () => {
    for (const [xml, path, wanted] of [
      ['<IgnorarTomador/>', 'IgnorarTomador', /O nome mais próximo é Tomador\.$/],
      ['<Inventado>1</Inventado>', 'Inventado', /Inventado não existe\. Não há nome parecido\.$/],
      [
        '<Servico><Valores><ValorDeducao>1</ValorDeducao></Valores></Servico>',
        'Servico/Valores/ValorDeducao',
        /é ValorDeducoes\.$/,
      ],
      ['<Servico><valores/></Servico>', 'Servico/valores', /é Valores\.$/],
      ['<NaturezaOperacao><x/></NaturezaOperacao>', 'NaturezaOperacao/x', /NaturezaOperacao leva só texto\.$/],
      ['<Prestador/><Prestador/>', 'Prestador', /aparece mais de uma vez\.$/],
    ] as const) {
      const [one, ...others] = faltasOf(xml);
      assert.equal(one?.path, path, xml);
      assert.match(one!.detalhe!, wanted);
      assert.deepEqual(others, [], xml);
    }
  });

  test('may stand inside a group of the extension, whose names are in any case, and nowhere else', () => {
    for (const xml of [
      '<dadosDPS><CTribNac>010101</CTribNac><TpEmit>1</TpEmit></dadosDPS>',
      '<ControleIBSCBS><FinNFSe>0</FinNFSe></ControleIBSCBS><IBSCBS><Qualquer/></IBSCBS><ComercioExterior><a/></ComercioExterior>',
      '<ContrucaoCivil><Art>1</Art></ContrucaoCivil>',
      '<Servico><CNBS>1</CNBS><xDescServ>a</xDescServ><MunicipioPrestacaoServico>1</MunicipioPrestacaoServico></Servico>',
    ]) {
      assert.deepEqual(faltasOf(xml), [], xml);
    }
  });
});

describe('values', () => {
  const rpsOf = (valores: string, more = '') => {
    const xml = `<InfRps><Servico><Valores>${valores}</Valores><ItemListaServico>1.01</ItemListaServico></Servico>${more}</InfRps>`;
    const reading = readXml(Buffer.from(xml));
    assert.ok('root' in reading);
    const contexto = { tpAmb: '2', cLocEmi: '3550308', correlacao: undefined, chSubstda: undefined } as const;
    return dpsOfRps(readRps(reading.root).rps, contexto);
  };

  test('a rate is a fraction below one and a percentage from one on', () => {
    for (const [sent, wanted] of [
      ['0.02', '2.00'],
      ['0.0325', '3.25'],
      ['0.05', '5.00'],
      ['2', '2.00'],
      ['2.79', '2.79'],
      ['5.0000', '5.00'],
      ['1', '1.00'],
    ] as const) {
      assert.match(rpsOf(`<Aliquota>${sent}</Aliquota>`), new RegExp(`<pAliq>${wanted}</pAliq>`), sent);
    }
    assert.doesNotMatch(rpsOf('<Aliquota>0.00</Aliquota>'), /pAliq/);
    assert.doesNotMatch(rpsOf('<Aliquota>0.02</Aliquota>', '<NaturezaOperacao>4</NaturezaOperacao>'), /pAliq/);
  });

  test('a company of the Simples has a rate for a withholding alone, its own', () => {
    const simples = '<OptanteSimplesNacional>1</OptanteSimplesNacional>';
    const withheld = '<IssRetido>1</IssRetido><Aliquota>0.0279</Aliquota>';
    assert.match(rpsOf(withheld, simples), /<pAliq>2\.79<\/pAliq>/);
    assert.doesNotMatch(rpsOf('<IssRetido>2</IssRetido><Aliquota>0.05</Aliquota>', simples), /pAliq/);
    assert.match(rpsOf('<IssRetido>2</IssRetido><Aliquota>0.05</Aliquota>'), /<pAliq>5\.00<\/pAliq>/);
  });

  test('an amount keeps its cents, and nought is nothing', () => {
    const xml = rpsOf(
      '<ValorServicos>1000.5</ValorServicos><ValorDeducoes>0.00</ValorDeducoes><ValorIr>015.10</ValorIr>',
    );
    assert.match(xml, /<vServ>1000\.50<\/vServ>/);
    assert.match(xml, /<vRetIRRF>15\.10<\/vRetIRRF>/);
    assert.doesNotMatch(xml, /vDR/);
  });

  test('what is withheld of PIS, COFINS and CSLL is one amount with its kind', () => {
    const xml = rpsOf('<ValorPis>6.50</ValorPis><ValorCofins>30.00</ValorCofins><ValorCsll>10.00</ValorCsll>');
    assert.match(xml, /<tpRetPisCofins>3<\/tpRetPisCofins>.*<vRetCSLL>46\.50<\/vRetCSLL>/);
    assert.match(rpsOf('<ValorCofins>30.00</ValorCofins>'), /<tpRetPisCofins>6</);
  });

  test('an item is a subitem of the list however it is written', () => {
    for (const item of ['1.01', '01.01', '101', '0101', '010101', '1.01.01']) {
      assert.equal(readSubitem(item), '01.01', item);
    }
    assert.equal(readSubitem('17.19'), '17.19');
    assert.match(rpsOf(''), /<cTribNac>010101<\/cTribNac>/);
  });

  test('text is escaped on its way', () => {
    const reading = readXml(
      Buffer.from('<InfRps><Servico><Discriminacao>A &amp; B &lt;x&gt;</Discriminacao></Servico></InfRps>'),
    );
    assert.ok('root' in reading);
    const xml = dpsOfRps(readRps(reading.root).rps, {
      tpAmb: '2',
      cLocEmi: '3550308',
      correlacao: undefined,
      chSubstda: undefined,
    });
    const dps = readXml(Buffer.from(xml));
    assert.ok('root' in dps);
    // Many elements are missing; those that are there stand in the right order.
    const read = readDps(dps.root);
    assert.ok('faults' in read);
    assert.ok(read.faults.every(({ codigo }) => codigo !== 'E203' && codigo !== 'E0010'));
    assert.match(xml, /<xDescServ>A &amp; B &lt;x&gt;<\/xDescServ>/);
    assert.equal(
      nestLeaves([
        ['a/b', '1'],
        ['a/c/d', '2'],
        ['e', '<'],
      ]),
      '<a><b>1</b><c><d>2</d></c></a><e>&lt;</e>',
    );
  });
});

describe('what the writers of the extension of 2026 send', () => {
  const CONTEXTO = { tpAmb: '2', cLocEmi: '3550308', correlacao: undefined, chSubstda: undefined } as const;
  const IBSCBS =
    '<ControleIBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib><cIndOp>100301</cIndOp></ControleIBSCBS>';
  const read = (xml: string) => {
    const reading = readXml(Buffer.from(xml));
    assert.ok('root' in reading);
    return readRps(reading.root);
  };
  /** The DPS of an RPS without faults, accepted by the law as well. */
  const sound = (rps: Partial<Parameters<typeof infRps>[0]>, contexto: Parameters<typeof dpsOfRps>[1] = CONTEXTO) => {
    const { rps: texts, faltas } = read(infRps({ numero: 1, ...rps }));
    assert.deepEqual(faltas, []);
    assert.deepEqual(
      IMPEDIMENTOS.filter(({ has }) => has(texts, contexto)),
      [],
    );
    const xml = dpsOfRps(texts, contexto);
    assert.deepEqual(lawOver(xml), []);
    return xml;
  };
  const valores = (contributions: string, more: string) =>
    `<ValorServicos>1000.00</ValorServicos>${contributions}<IssRetido>2</IssRetido><Aliquota>0.02</Aliquota>${more}`;
  const TRES = '<ValorPis>6.50</ValorPis><ValorCofins>30.00</ValorCofins><ValorCsll>10.00</ValorCsll>';
  const CALCULO =
    '<BaseCalculoPisCofins>1000.00</BaseCalculoPisCofins><AliqPis>0.65</AliqPis><AliqCofins>3.00</AliqCofins>';

  test('in Valores becomes what the DPS has of it', () => {
    const retained = sound({
      valores: valores(
        TRES,
        `<CSTPisCofins>1</CSTPisCofins>${CALCULO}<TipoRetencaoPisCofins>3</TipoRetencaoPisCofins><pTotTribFed>13.45</pTotTribFed><pTotTribEst>0.00</pTotTribEst><pTotTribMun>2.9000</pTotTribMun><ValorTotalRecebido>1000.00</ValorTotalRecebido>`,
      ),
    });
    assert.match(
      retained,
      /<piscofins><CST>01<\/CST><vBCPisCofins>1000\.00<\/vBCPisCofins><tpRetPisCofins>3<\/tpRetPisCofins><\/piscofins><vRetCSLL>46\.50</,
    );
    assert.match(
      retained,
      /<pTotTrib><pTotTribFed>13\.45<\/pTotTribFed><pTotTribEst>0\.00<\/pTotTribEst><pTotTribMun>2\.90<\/pTotTribMun><\/pTotTrib><\/totTrib>/,
    );
    // The provider owes the part that was not withheld.
    const owed = sound({
      valores: valores(
        TRES.replace(/<ValorCsll>.*/, ''),
        `<CSTPisCofins>01</CSTPisCofins>${CALCULO}<TipoRetencaoPisCofins>0</TipoRetencaoPisCofins><pTotTribFed>0.00</pTotTribFed>`,
      ),
    });
    assert.match(
      owed,
      /<vPis>6\.50<\/vPis><vCofins>30\.00<\/vCofins><tpRetPisCofins>0<\/tpRetPisCofins><\/piscofins></,
    );
    assert.doesNotMatch(owed, /vRetCSLL|pTotTrib>/);
    assert.match(owed, /<indTotTrib>0</);
    // Some clients give every number four decimal places.
    const four = sound({
      valores: valores(
        '',
        '<BaseCalculoPisCofins>1000.0000</BaseCalculoPisCofins><AliqPis>0.6500</AliqPis><pTotTribFed>13.4550</pTotTribFed><pTotTribMun>2.9949</pTotTribMun>',
      ),
    });
    assert.match(four, /<vBCPisCofins>1000\.00</);
    assert.match(four, /<pTotTribFed>13\.46<\/pTotTribFed><pTotTribEst>0\.00<\/pTotTribEst><pTotTribMun>2\.99</);
    const one = sound({ valores: valores(TRES, '<TipoRetencaoPisCofins>9</TipoRetencaoPisCofins>') });
    assert.match(one, /<CST>00<\/CST><vCofins>30\.00<\/vCofins><tpRetPisCofins>9<\/tpRetPisCofins>.*<vRetCSLL>16\.50</);
  });

  test('in Valores is told where it says two things, or is no code', () => {
    const { rps } = read(
      infRps({ numero: 1, valores: valores(TRES, '<TipoRetencaoPisCofins>4</TipoRetencaoPisCofins>') }),
    );
    const told = IMPEDIMENTOS.filter(({ has }) => has(rps, CONTEXTO));
    assert.deepEqual(
      told.map(({ codigo, rps: path }) => `${codigo} ${path}`),
      ['E103 Servico/Valores/ValorCsll'],
    );
    assert.match(mensagemOfImpedimento(told[0]!, '').correcao!, /TipoRetencaoPisCofins/);
    const nought = valores('', '<BaseCalculoPisCofins>0.0000</BaseCalculoPisCofins><pTotTribFed>0.0000</pTotTribFed>');
    assert.doesNotMatch(sound({ valores: nought }), /piscofins|pTotTrib/);
    const { faltas } = read(infRps({ numero: 1, valores: valores('', '<CSTPisCofins>77</CSTPisCofins>') }));
    assert.deepEqual(
      faltas.map(({ codigo, path }) => `${codigo} ${path}`),
      ['E103 Servico/Valores/CSTPisCofins'],
    );
  });

  test('as national code is taken with or without its points, and an item in its place is passed over', () => {
    const sent = (code: string) => `<DadosDPS><CTribNac>${code}</CTribNac></DadosDPS>${IBSCBS}`;
    for (const code of ['01.01', '0101', '101', '1.01', '01.01.01', '010101', '1.01.01']) {
      assert.match(sound({ extensao: sent(code) }), /<cTribNac>010101</, code);
    }
    const correlacao = {
      cTribNac: '010701',
      cNBS: undefined,
      CST: undefined,
      cClassTrib: undefined,
      cIndOp: undefined,
      tpImunidade: undefined,
      nBM: undefined,
    };
    const corrected = sound({ item: '1.07', extensao: sent('01.07') }, { ...CONTEXTO, correlacao });
    assert.match(corrected, /<cTribNac>010701</);
    const { rps } = read(infRps({ numero: 1, extensao: sent('01.01.77') }));
    const [fault] = lawOver(dpsOfRps(rps, CONTEXTO));
    const { codigo, mensagem, correcao } = mensagemOfFault(fault!, '', rps);
    assert.equal(codigo, 'E30');
    assert.match(mensagem, /\(DadosDPS\/cTribNac: 01\.01\.77\)/);
    assert.match(correcao!, /DadosDPS\/cTribNac/);
  });

  test('of IBS and CBS the correlation adds nothing to a competence of before 2026, which may not have the group', () => {
    const correlacao = {
      cTribNac: '010101',
      cNBS: '115021000',
      CST: '000',
      cClassTrib: '000001',
      cIndOp: '100301',
      tpImunidade: undefined,
      nBM: undefined,
    };
    const before = { emissao: '2025-12-31T10:00:00', extensao: '' };
    assert.doesNotMatch(sound(before, { ...CONTEXTO, correlacao }), /IBSCBS/);
    const first = { emissao: '2026-01-01T10:00:00', extensao: '' };
    assert.match(sound(first, { ...CONTEXTO, correlacao }), /<cClassTrib>000001</);
    // A group that the sender declares itself is judged.
    const { rps } = read(infRps({ numero: 1, emissao: '2025-12-31T10:00:00' }));
    assert.deepEqual(
      lawOver(dpsOfRps(rps, CONTEXTO)).map(({ codigo }) => codigo),
      ['E0850'],
    );
  });

  test('as rate may end in zeros, and with more places than a percentage has says how it is written', () => {
    for (const [sent, wanted] of [
      ['0.02000', '2.00'],
      ['0.027900', '2.79'],
      ['2.790000', '2.79'],
    ] as const) {
      assert.match(sound({ valores: valores('', '').replace('0.02', sent) }), new RegExp(`<pAliq>${wanted}<`), sent);
    }
    for (const sent of ['2.7932', '2.015', '0.02015', '0.027932']) {
      const { faltas } = read(infRps({ numero: 1, valores: valores('', '').replace('0.02', sent) }));
      assert.equal(faltas.length, 1, sent);
      const { codigo, mensagem, correcao } = mensagemOfFalta(faltas[0]!, '');
      assert.equal(codigo, 'E160');
      assert.ok(mensagem.endsWith(`(Servico/Valores/Aliquota: ${sent})`), mensagem);
      assert.match(correcao!, /até 2 casas no percentual/);
    }
  });

  test('may replace the RPS number zero, which is none, and know of a person no more than the city', () => {
    const none = sound({ substituido: { numero: '0', serie: '1', tipo: '1' } });
    assert.doesNotMatch(none, /<subst>/);
    const city = TOMADOR.replace(/<Endereco><Endereco>.*<\/Bairro>/, '<Endereco>').replace(/<Cep>.*<\/Cep>/, '');
    const { rps } = read(infRps({ numero: 1, tomador: city }));
    const xml = dpsOfRps(rps, CONTEXTO);
    assert.match(xml, /<toma><CPF>52998224725<\/CPF><xNome>Maria Exemplo<\/xNome><\/toma>/);
    // The indicator of the example asks for the place of the taker: one fault says so.
    assert.deepEqual(
      lawOver(xml).map(({ codigo }) => codigo),
      ['E0234'],
    );
    const company = city.replace('<Cpf>52998224725</Cpf>', '<Cnpj>11444777000161</Cnpj>');
    assert.match(dpsOfRps(read(infRps({ numero: 1, tomador: company })).rps, CONTEXTO), /<cMun>3550308<\/cMun>/);
  });

  test('of an exemption that cannot be is told why, and not to add what would not help', () => {
    const told = (item: string, more: Partial<Parameters<typeof infRps>[0]> = {}) => {
      const { rps } = read(infRps({ numero: 1, item, natureza: '3', ...more }));
      return IMPEDIMENTOS.filter(({ has }) => has(rps, CONTEXTO)).map(({ detalhe }) => detalhe);
    };
    const [never, ...others] = told('1.01');
    assert.match(never!, /não pode ser isento/);
    assert.deepEqual(others, []);
    const [number, ...rest] = told('16.01', { extensao: `<DadosDPS><cTribNac>160101</cTribNac></DadosDPS>${IBSCBS}` });
    assert.match(number!, /número do benefício/);
    assert.deepEqual(rest, []);
  });
});
