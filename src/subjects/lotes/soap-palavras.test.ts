/**
 * Answers of the legacy port for a program that knows only the model. The cases are unknown elements, messages in the model's words, and
 * the RPS values on the notes. Faults of the envelope and of the connection are tested too.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { request } from '../../../test/support/http.ts';
import {
  all,
  call,
  cancelamentoXml,
  consultaXml,
  envelope,
  first,
  loteXml,
  porRpsXml,
  post,
  type RpsDeTeste,
  sendLote,
  TOMADOR,
} from '../../../test/support/rps.ts';
import { startTestService, type TestService } from '../../../test/support/service.ts';

let service: TestService;
let address: string;
let turn = 0;

before(async () => {
  service = await startTestService();
  ({ address } = service);
});

/** A lot of one RPS, in a series of its own. */
const lotOf = (rps: Partial<RpsDeTeste>): string => {
  turn += 1;
  return loteXml([{ numero: 1, serie: String(turn), ...rps }], { numero: String(turn) });
};

const messages = (documento: string): string[] =>
  all(documento, 'MensagemRetorno').map((one) =>
    ['Codigo', 'Mensagem', 'Correcao'].map((name) => first(one, name)).join(' | '),
  );

describe('what nobody reads', () => {
  test('is refused with its place and the nearest name, in every document', async () => {
    const countLotes = async (): Promise<number> => (await service.pool.query('select from lotes')).rowCount!;
    const before = await countLotes();
    for (const [operacao, xml, pattern] of [
      [
        'RecepcionarLoteRps',
        lotOf({}).replaceAll(/<(\/?)Tomador>/g, '<$1IgnorarTomador>'),
        /^E160 .*RPS 1, série \d+, tipo 1: .*IgnorarTomador não existe\. O nome mais próximo é Tomador\./,
      ],
      [
        'RecepcionarLoteRps',
        lotOf({}).replace('<ListaRps>', '<Inventado>1</Inventado><ListaRps>'),
        /^E160 .*LoteRps\/Inventado não existe/,
      ],
      [
        'ConsultarNfse',
        consultaXml('<Numero>1</Numero>'),
        /^E160 .* Numero não existe\. O nome mais próximo é NumeroNfse\./,
      ],
      [
        'ConsultarNfsePorRps',
        porRpsXml(1).replace('<Serie>1</Serie>', '<Serie>1</Serie><Ano>1</Ano>'),
        /^E160 .*IdentificacaoRps\/Ano não existe/,
      ],
      [
        'CancelarNfse',
        cancelamentoXml('1').replaceAll('CodigoCancelamento', 'Codigo'),
        /^E160 .*Codigo não existe\. O nome mais próximo é CodigoCancelamento\./,
      ],
    ] as const) {
      const { documento } = await call(address, operacao, xml);
      const [only, ...others] = messages(documento);
      assert.match(only ?? documento, pattern);
      assert.deepEqual(others, []);
    }
    assert.equal(await countLotes(), before);
  });
});

describe('what is wrong in an RPS', () => {
  const valores = (more: string, value = '1000.00'): string =>
    `<ValorServicos>${value}</ValorServicos>${more}<IssRetido>2</IssRetido><Aliquota>0.02</Aliquota>`;

  test('is told by the code, the element and the words of the model, all of it at once', async () => {
    // A municipality without a correlation; the shared sandbox has one.
    const tenant = 'ensaio';
    await service.store.municipios.create(
      { tenant, ambiente: 'homologacao', codigoIbge: '3550308' },
      service.clock.now,
    );
    const cases = [
      [
        { valores: valores('<ValorDeducoes>2000.00</ValorDeducoes>') },
        /^E19 .*deduções passam do valor do serviço\. \(Servico\/Valores\/ValorDeducoes: 2000\.00\).*Corrija ValorDeducoes/,
      ],
      [
        {
          valores: valores('').replace(
            '</Aliquota>',
            '</Aliquota><DescontoIncondicionado>1500.00</DescontoIncondicionado>',
          ),
        },
        /^E21 .*\(Servico\/Valores\/DescontoIncondicionado: 1500\.00\)/,
      ],
      [{ extensao: ' ' }, /^E802 .*obrigatório desde 01\/10\/2026 neste caso\. \| Informe ControleIBSCBS com CST/],
      [
        { extensao: '<ControleIBSCBS><CST>000</CST></ControleIBSCBS>' },
        /^E802 .*Falta a classificação.*\(ControleIBSCBS\/cClassTrib\).*Informe ControleIBSCBS com CST/,
      ],
      [{ item: '99.99' }, /^E30 .*item da lista de serviços não existe/],
      [{ item: '7.02' }, /^E30 .*mais de um código nacional.*DadosDPS\/cTribNac/],
      [{ natureza: '5' }, /^E144 .*Falta o número do processo.*ExigibilidadeSuspensa\/nProcesso/],
      [{ natureza: '4' }, /^E144 .*Falta o tipo da imunidade.*correlação/],
      [
        { tomador: TOMADOR.replace(/<Endereco>[^<]+/, '<Endereco>Praça — Sé €') },
        /^E119 .*\(Tomador\/Endereco\/Endereco\) Na posição 7 está o caractere —, que não é aceito \(e mais 1 adiante\)\..*alfabeto latino/,
      ],
      [{ nbs: '' }, /^E160 .*Falta o código NBS.*Servico\/cNBS/],
      [{ valores: valores('').replace('0.02', '0.5') }, /^E160 .*Aliquota passa de 5%/],
      [{ emissao: '2026-02-31T10:00:00' }, /^E15 .*\(DataEmissao/],
      [
        { valores: valores('', '0.00'), tomador: TOMADOR.replace('52998224725', '52998224726') },
        /^E18 /,
        /^E47 .*CpfCnpj\/Cpf/,
      ],
    ] as const;
    const check = async ([rps, ...wanted]: (typeof cases)[number]): Promise<void> => {
      const { situacao, documento } = await sendLote(address, lotOf(rps), tenant);
      const told = messages(documento);
      assert.equal(situacao, '3', JSON.stringify(rps));
      assert.equal(told.length, wanted.length, told.join('\n'));
      for (const [place, pattern] of wanted.entries()) assert.match(told[place]!, pattern);
      for (const one of told) {
        assert.doesNotMatch(
          one,
          /\bDPS\b|\bcServ\b|\bprest\b|xDescServ|esperado|correcao|XML|depois de valores|E40\d|E002|…/,
        );
      }
    };
    await Promise.all(cases.map(check));
  });
});

describe('a rate that nobody knows', () => {
  const semAliquota = (retido: '1' | '2'): string =>
    `<ValorServicos>1000.00</ValorServicos><IssRetido>${retido}</IssRetido>`;
  const strict = { ambiente: 'homologacao', codigoIbge: '3550308', regrasNacionais: 'recusa' } as const;

  test('is asked for by the element of the RPS that says it', async () => {
    const { store, pool, clock } = service;
    await store.municipios.create({ tenant: 'sem-aliquota', ...strict }, clock.now);
    await store.municipios.create({ tenant: 'duas-aliquotas', ...strict }, clock.now);
    const line = `insert into servicos_municipais (tenant, codigo, descricao, codigo_tributacao_nacional, aliquota, inicio)
      values ('duas-aliquotas', $1, 'Sistemas', '010101', $2, '2026-01-01')`;
    for (const row of [
      ['001', '3.00'],
      ['003', '4.00'],
    ]) {
      await pool.query(line, row);
    }
    const { rows } = await pool.query('select count(*)::int as notas from notas');
    for (const [tenant, wanted] of [
      [
        'sem-aliquota',
        /^E123 .*Falta a alíquota do ISSQN: o RPS não traz Aliquota, e 3550308 .* não tem lista de serviços nem alíquota padrão\. \| Informe em Aliquota \(como 0\.02\) a alíquota do município\. /,
      ],
      ['duas-aliquotas', /^E123 .* 3\.00% \(001\) e 4\.00% \(003\)\. \| Informe em CodigoTributacaoMunicipio /],
    ] as const) {
      for (const retido of ['1', '2'] as const) {
        const { situacao, documento } = await sendLote(address, lotOf({ valores: semAliquota(retido) }), tenant);
        const [told, ...others] = messages(documento);
        assert.equal(situacao, '3', documento);
        assert.match(told!, wanted);
        assert.deepEqual(others, []);
        assert.doesNotMatch(told!, /pAliq|\bDPS\b|cTribMun/);
      }
    }
    const after = await pool.query('select count(*)::int as notas from notas');
    assert.deepEqual(after.rows, rows, 'nothing was issued');
  });
});

describe('a note', () => {
  test('gives back what its RPS had: each withholding, the net value without them, and the name of a taker without document', async () => {
    const valores =
      '<ValorServicos>1000.00</ValorServicos><ValorPis>6.50</ValorPis><ValorCofins>30.00</ValorCofins><ValorCsll>10.00</ValorCsll><IssRetido>2</IssRetido><OutrasRetencoes>5.5</OutrasRetencoes><Aliquota>0.02</Aliquota>';
    const tomador = '<Tomador><RazaoSocial>Maria sem CPF</RazaoSocial></Tomador>';
    const xml = lotOf({ valores, tomador })
      .replace('<IncentivadorCultural>2<', '<IncentivadorCultural>1<')
      .replace(
        '</ItemListaServico>',
        '</ItemListaServico><CodigoCnae>6201501</CodigoCnae><CodigoTributacaoMunicipio>A-17</CodigoTributacaoMunicipio>',
      );
    const { situacao, documento } = await sendLote(address, xml);
    assert.equal(situacao, '4', documento);
    const byRps = await call(address, 'ConsultarNfsePorRps', porRpsXml(1, String(turn)));
    const byNumber = await call(
      address,
      'ConsultarNfse',
      consultaXml(`<NumeroNfse>${first(documento, 'Numero')}</NumeroNfse>`),
    );
    for (const answer of [documento, byRps.documento, byNumber.documento]) {
      const got = Object.fromEntries(
        [
          'ValorPis',
          'ValorCofins',
          'ValorCsll',
          'OutrasRetencoes',
          'ValorLiquidoNfse',
          'IncentivadorCultural',
          'CodigoCnae',
          'CodigoTributacaoMunicipio',
        ].map((name) => [name, first(answer, name)]),
      );
      assert.deepEqual(got, {
        ValorPis: '6.50',
        ValorCofins: '30.00',
        ValorCsll: '10.00',
        OutrasRetencoes: '5.50',
        // 1000.00 - 6.50 - 30.00 - 10.00 - 5.50
        ValorLiquidoNfse: '948.00',
        IncentivadorCultural: '1',
        CodigoCnae: '6201501',
        CodigoTributacaoMunicipio: 'A-17',
      });
      assert.match(answer, /<TomadorServico><RazaoSocial>Maria sem CPF<\/RazaoSocial><\/TomadorServico>/);
      assert.match(answer, /<ValorPis>.*<ValorCofins>.*<ValorCsll>.*<IssRetido>.*<OutrasRetencoes>.*<BaseCalculo>/);
    }
  });

  test('has no place for a remark; the REST door makes it, of the DPS in the note', async () => {
    const { situacao, documento } = await sendLote(address, lotOf({ emissao: '2027-01-05T10:00:00' }));
    assert.equal(situacao, '4', documento);
    const chave = /Id="NFS(\d{50})"/.exec(documento)![1]!;
    const { body } = await request(address, `/integracao/api/v1/nfse/${chave}`);
    // The DPS as it was sent, before or after the authorisation of the note.
    const dps = /<DPS[\s\S]*<\/DPS>/
      .exec(body.nota.xml_nota)![0]
      .replace(/<DPS [^>]*>/, '<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">')
      .replace(/<dhEmi>[^<]*<\/dhEmi>/, '')
      .replace(/<nDPS>\d+</, '<nDPS>999999<');
    const validated = await request(address, '/integracao/api/v1/nfse/v101/validacao', {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: dps,
    });
    assert.ok(
      validated.body.avisos.some(({ codigo }: { codigo: string }) => codigo === 'E0015'),
      JSON.stringify(validated.body),
    );
  });
});

describe('what is wrong before the document', () => {
  test('speaks of the envelope, not of a DPS', async () => {
    for (const body of ['nada', '<a>', '', '<e:Envelope xmlns:e="x y"/>']) {
      const answer = await post(address, body);
      assert.match(answer.body, /<faultcode>soap:Client<\/faultcode>/, body);
      assert.doesNotMatch(answer.body, /DPS|sped\.fazenda/, body);
    }
    const inner = await post(
      address,
      envelope('<n:ConsultarNfse xmlns:n="urn:x"><parameters>oi</parameters></n:ConsultarNfse>'),
    );
    assert.match(inner.documento, /E160/);
    assert.doesNotMatch(inner.documento, /DPS/);
  });

  test('stands under the address that the page of the documentation gives', async () => {
    const page = await (await fetch(`${address}/docs/soap`)).text();
    assert.ok(page.includes(`${address}/integracao/soap/nfes`));
    assert.doesNotMatch(page, /\.invalid/);
  });

  test('of a packed body is 415, in words that help', async () => {
    const response = await fetch(`${address}/integracao/soap/nfes`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/xml', 'Content-Encoding': 'gzip' },
      body: gzipSync(envelope('<a/>')),
    });
    assert.equal(response.status, 415);
    assert.match(await response.text(), /Content-Encoding/);
  });

  test('the port answers to the name of its service in any case, and beside it says where it is', async () => {
    for (const path of ['/integracao/soap/Nfes?wsdl', '/integracao/soap/NFES?WSDL']) {
      const response = await fetch(`${address}${path}`);
      assert.equal(response.status, 200, path);
      assert.match(await response.text(), /<soap:address location="[^"]*\/integracao\/soap\/nfes"\/>/);
    }
    const xml = loteXml([]);
    const body = envelope(
      `<n:RecepcionarLoteRps xmlns:n="urn:x"><parameters><![CDATA[${xml}]]></parameters></n:RecepcionarLoteRps>`,
    );
    const response = await fetch(`${address}/integracao/soap/Nfes`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/xml' },
      body,
    });
    assert.match(await response.text(), /RecepcionarLoteRpsResponse/);
    const beside = await fetch(`${address}/integracao/soap/NfesService`);
    assert.equal(beside.status, 404);
    assert.match(await beside.text(), /serviço SOAP fica em \/\{municipio\}\/soap\/nfes/);
    const bare = await fetch(`${address}/soap/Nfes`);
    assert.equal(bare.status, 404);
    assert.match(await bare.text(), /começa pelo município.*serviço SOAP fica em \/\{municipio\}\/soap\/nfes/);
  });
});
