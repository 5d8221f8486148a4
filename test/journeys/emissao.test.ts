/**
 * The main use case through the public interface. The DPS is written from the specification's tables, not from our examples. Its note is
 * issued and authorised, and is the same in every query.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { xsdErrors } from '../../src/documents/xml.ts';
import type { Aviso } from '../../src/fiscal/fault.ts';
import { exampleJson } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { type Answer, authorised, emit, noteByKey, request } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const NFSE_XSD = readFileSync(new URL('../../docs/nfse-1.01.xsd', import.meta.url), 'utf8');

/** Provider with CPF, discount, deduction, ISSQN withheld by the taker; `ibscbs` in the spelling of the specification. */
const BY_HAND = `<?xml version="1.0" encoding="UTF-8"?>
<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">
  <infDPS Id="DPS330455710001114447773500007000000000000815">
    <tpAmb>1</tpAmb>
    <verAplic>meu-erp 7</verAplic>
    <serie>7</serie>
    <nDPS>815</nDPS>
    <dCompet>2026-11-03</dCompet>
    <tpEmit>1</tpEmit>
    <cLocEmi>3304557</cLocEmi>
    <prest>
      <CPF>11144477735</CPF>
      <IM>00.123-4</IM>
      <fone>2133334444</fone>
      <email>contato@exemplo.com.br</email>
      <regTrib><opSimpNac>1</opSimpNac><regEspTrib>0</regEspTrib></regTrib>
    </prest>
    <toma>
      <CNPJ>11222333000181</CNPJ>
      <xNome>Comércio &amp; Indústria Exemplo S/A</xNome>
      <end>
        <endNac><cMun>3303302</cMun><CEP>24020005</CEP></endNac>
        <xLgr>Rua da Conceição</xLgr><nro>95</nro><xBairro>Centro</xBairro>
      </end>
    </toma>
    <serv>
      <locPrest><cLocPrestacao>3303302</cLocPrestacao></locPrest>
      <cServ>
        <cTribNac>170101</cTribNac>
        <xDescServ>Assessoria em gestão,
segunda linha da descrição</xDescServ>
        <cNBS>114011100</cNBS>
      </cServ>
      <infoCompl><xInfComp>Contrato 12/2026</xInfComp></infoCompl>
    </serv>
    <valores>
      <vServPrest><vServ>1500.00</vServ></vServPrest>
      <vDedRed><vDR>200.00</vDR></vDedRed>
      <vDescCondIncond><vDescIncond>100.00</vDescIncond></vDescCondIncond>
      <trib>
        <tribMun><tribISSQN>1</tribISSQN><tpRetISSQN>2</tpRetISSQN><pAliq>3.50</pAliq></tribMun>
        <totTrib><indTotTrib>0</indTotTrib></totTrib>
      </trib>
    </valores>
    <ibscbs>
      <valores><trib><gIBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib></gIBSCBS></trib></valores>
    </ibscbs>
  </infDPS>
</DPS>`;

/** Weights 2 to 9 from the right; a remainder below 2 gives 0 (reference vector: the key of a public sample). */
function checkDigit(first49: string): string {
  const sum = [...first49].reverse().reduce((total, digit, place) => total + Number(digit) * (2 + (place % 8)), 0);
  return String(sum % 11 < 2 ? 0 : 11 - (sum % 11));
}

test('a DPS written by hand is issued, authorised, and the same from every side', async () => {
  assert.equal(checkDigit('14001591201761135000132000000000000022097781063609'.slice(0, 49)), '9');
  const { address } = await startTestService();
  const issued = await emit(address, BY_HAND);
  assert.equal(issued.status, 201, JSON.stringify(issued.body));
  const { chave_acesso: chave, numero_protocolo: protocolo } = issued.body;
  assert.deepEqual(Object.keys(issued.body).slice(0, 4), [
    'status',
    'numero_protocolo',
    'chave_acesso',
    'chave_acesso_provisoria',
  ]);
  assert.equal(issued.body.status, 'OK');
  assert.equal(issued.body.chave_acesso_provisoria, true);
  assert.equal(issued.headers.get('x-nfse-ambiente'), 'homologacao');
  assert.ok(issued.headers.get('location')?.endsWith(`/integracao/api/v1/nfse/${chave}`));

  // Municipality, own system, CPF, three zeros and the CPF, note 1, November 2026, nine random digits, check digit.
  assert.match(chave, /^3304557110001114447773500000000000012611[0-9]{10}$/);
  assert.equal(chave.at(-1), checkDigit(chave.slice(0, 49)));

  const byKey = await authorised(address, chave);
  const byProtocol = await request(address, `/integracao/api/v1/nfse/protocolo/${protocolo}`);
  const byTwin = await request(address, `/integracao/api/v1/nfse/v101/protocolo/${protocolo}`);
  const byDps = await request(address, '/integracao/api/v1/dps/DPS330455710001114447773500007000000000000815');
  for (const answer of [byKey, byProtocol, byTwin, byDps]) assert.equal(answer.status, 200);
  assert.equal(byProtocol.body.chave_acesso_provisoria, false);
  assert.ok(!('chave_acesso_provisoria' in byKey.body));
  assert.deepEqual(byTwin.body, byProtocol.body);
  assert.deepEqual(byProtocol.body.protocolo, byKey.body.protocolo);
  const { data_cancelamento, ...nota } = byKey.body.nota;
  assert.equal(data_cancelamento, null);
  assert.deepEqual(byProtocol.body.nota, nota);
  assert.equal(byDps.body.chave_acesso, chave);
  assert.equal(byDps.body.numero_protocolo, protocolo);

  const { xml_nota: xml, ...fields } = nota;
  assert.deepEqual(fields, {
    id: nota.id,
    numero: '1',
    serie_dps: '7',
    numero_dps: 1,
    serie_dps_nacional: '7',
    numero_dps_nacional: '815',
    chave_acesso: chave,
    identificador: `NFS${chave}`,
    status: 'autorizada',
    versao: '1.01',
    data_emissao: '2026-11-21 12:00:00 -0300',
    data_competencia: '03/11/2026',
    codigo_situacao_nfse: 100,
    prestador_cpf_cnpj: '11144477735',
    prestador_razao_social: 'PRESTADOR 11144477735',
    prestador_inscricao_municipal: '00.123-4',
    tomador_cpf_cnpj: '11222333000181',
    tomador_razao_social: 'Comércio & Indústria Exemplo S/A',
    valor_servico: '1500.00',
    // 1500.00 - 100.00 - 200.00 = 1200.00; 3.50 % of it is 42.00.
    valor_issqn: '42.00',
    valor_base_calculo: '1200.00',
    aliquota_issqn: '3.50',
  });
  assert.deepEqual(xsdErrors(NFSE_XSD, Buffer.from(xml)), []);
  // Withheld: 1500.00 - 100.00 - 42.00 = 1358.00.
  assert.match(xml, /<vTotalRet>42\.00<\/vTotalRet><vLiq>1358\.00<\/vLiq>/);
  // IBS/CBS base of 2026: 1500.00 - 100.00 - 42.00 = 1358.00; 0.10 % is 1.358, 0.90 % is 12.222.
  assert.match(xml, /<vIBSUF>1\.36<\/vIBSUF>/);
  assert.match(xml, /<vCBS>12\.22<\/vCBS>/);
  assert.match(xml, /<tpAmb>2<\/tpAmb><dhEmi>2026-11-21T12:00:00-03:00<\/dhEmi>/);
  assert.match(xml, /<xNome>Comércio &amp; Indústria Exemplo S\/A<\/xNome>/);
  assert.equal((await noteByKey(address, chave)).body.nota.chave_acesso, chave);
});

test('before authorisation the note shows the DPS as it was sent, and asks to be asked again', async () => {
  const { address } = await startTestService({ worker: false });
  const issued = await emit(address, BY_HAND);
  const answer = await noteByKey(address, issued.body.chave_acesso);
  assert.equal(answer.body.nota.status, 'rascunho');
  assert.equal(answer.body.nota.xml_nota, BY_HAND);
  assert.equal(answer.body.nota.numero, null);
  assert.equal(answer.body.nota.serie_dps_nacional, null);
  assert.equal(answer.body.nota.numero_dps_nacional, null);
  assert.equal(answer.body.nota.codigo_situacao_nfse, null);
  assert.equal(answer.body.protocolo.status, 'processando');
  assert.ok(Number(answer.headers.get('retry-after')) >= 1);
  const byProtocol = await request(address, `/integracao/api/v1/nfse/protocolo/${issued.body.numero_protocolo}`);
  assert.equal(byProtocol.body.chave_acesso_provisoria, true);
});

test('one document with nine mistakes is answered once, with nine faults', async () => {
  const { address } = await startTestService();
  const wrong = BY_HAND.replace('<tpEmit>1</tpEmit>', '<tpEmit>7</tpEmit>') // 1: outside the enumeration
    .replace('<dCompet>2026-11-03</dCompet>', '<dCompet>03/11/2026</dCompet>') // 2: no date
    .replace('<cLocEmi>3304557</cLocEmi>', '<cLocEmi>33045</cLocEmi>') // 3: length
    .replace('<email>contato@exemplo.com.br</email>', '<xEmail>contato@exemplo.com.br</xEmail>') // 4: legacy tag
    .replace('<CNPJ>11222333000181</CNPJ>', '<CNPJ>11222333000181</CNPJ><CPF>52998224725</CPF>') // 5: two identifiers
    .replace('<cNBS>114011100</cNBS>', '') // 6: missing
    .replace('<vServ>1500.00</vServ>', '<vServ>1.500,00</vServ>') // 7: no decimal
    .replace(
      '<tribISSQN>1</tribISSQN><tpRetISSQN>2</tpRetISSQN><pAliq>3.50</pAliq>',
      '<tribISSQN>1</tribISSQN><pAliq>3.50</pAliq><tpRetISSQN>2</tpRetISSQN>', // 8: order
    )
    .replace('<cClassTrib>000001</cClassTrib>', ''); // 9: missing in ibscbs, a code of its own
  const answer = await emit(address, wrong);
  assert.equal(answer.status, 422);
  const lineOf = (text: string): number => wrong.slice(0, wrong.indexOf(text)).split('\n').length;
  const columnOf = (text: string): number => wrong.indexOf(text) - wrong.lastIndexOf('\n', wrong.indexOf(text));
  const expected: readonly (readonly [string, string, string])[] = [
    ['E0002', 'tpEmit', '<tpEmit>'],
    ['E0001', 'dCompet', '<dCompet>'],
    ['E0003', 'cLocEmi', '<cLocEmi>'],
    ['E0010', 'prest/xEmail', '<xEmail>'],
    ['E0188', 'toma/CPF', '<CPF>52998224725'],
    ['E002', 'serv/cServ/cNBS', '<cServ>'],
    ['E0001', 'valores/vServPrest/vServ', '<vServ>'],
    ['E203', 'valores/trib/tribMun', '<tribMun>'],
    ['E802', 'ibscbs/valores/trib/gIBSCBS/cClassTrib', '<gIBSCBS>'],
  ];
  const found = answer.body.erros.map((fault: Record<string, unknown>) => [
    fault['codigo'],
    String(fault['xpath']).replace('/DPS/infDPS/', '').replace('IBSCBS/', 'ibscbs/'),
    fault['linha'],
    fault['coluna'],
  ]);
  const wanted = expected.map(([codigo, xpath, tag]) => [codigo, xpath, lineOf(tag), columnOf(tag)]);
  const byPlace = (a: unknown[], b: unknown[]): number => Number(a[2]) - Number(b[2]) || Number(a[3]) - Number(b[3]);
  assert.deepEqual(found.toSorted(byPlace), wanted.toSorted(byPlace));
  assert.equal(answer.body.codigo_erro, answer.body.erros[0].codigo);
  for (const fault of answer.body.erros) {
    for (const field of ['codigo', 'xpath', 'mensagem', 'origem_moc', 'doc_url'])
      assert.ok(fault[field], `${field} of ${fault.codigo}`);
    const page = await fetch(fault.doc_url);
    assert.equal(page.status, 200, fault.doc_url);
    await page.arrayBuffer();
  }
  const corrections = Object.fromEntries(
    answer.body.erros.map((fault: Record<string, string>) => [fault['xpath'], fault['correcao']]),
  );
  assert.equal(corrections['/DPS/infDPS/dCompet'], '<dCompet>2026-11-03</dCompet>');
  assert.equal(corrections['/DPS/infDPS/prest/xEmail'], '<email>contato@exemplo.com.br</email>');
  assert.equal(corrections['/DPS/infDPS/valores/vServPrest/vServ'], '<vServ>1500.00</vServ>');
  const inOrder = '<tribISSQN>1</tribISSQN><tpRetISSQN>2</tpRetISSQN><pAliq>3.50</pAliq>';
  assert.equal(corrections['/DPS/infDPS/valores/trib/tribMun'], `<tribMun>${inOrder}</tribMun>`);
});

test('the same document in other clothes: prefixes, encodings, byte order mark, CDATA, comments', async () => {
  const { address } = await startTestService({ worker: false });
  const numbered = (number: number): string => BY_HAND.replaceAll('<nDPS>815<', `<nDPS>${number}<`);
  const prefixed = numbered(1)
    .replace('xmlns=', 'xmlns:n=')
    .replace(/<(\/?)(?=[a-zA-Z])/g, '<$1n:');
  const clothes: readonly (readonly [string, Uint8Array | string])[] = [
    ['prefixes', prefixed],
    ['byte order mark', `\ufeff${numbered(2)}`],
    ['ISO-8859-1', Buffer.from(numbered(3).replace('UTF-8', 'ISO-8859-1'), 'latin1')],
    ['UTF-16', Buffer.from(`\ufeff${numbered(4).replace('UTF-8', 'UTF-16')}`, 'utf16le')],
    [
      'CDATA',
      numbered(5).replace('Comércio &amp; Indústria Exemplo S/A', '<![CDATA[Comércio & Indústria Exemplo S/A]]>'),
    ],
    ['comments', numbered(6).replace('<vServ>1500.00</vServ>', '<vServ>15<!-- mil -->00.00</vServ>')],
    ['character references', numbered(7).replace('Comércio', 'Com&#233;rcio')],
    ['one line', numbered(8).replace(/>\s+</g, '><')],
    ['CR LF', numbered(9).replaceAll('\n', '\r\n')],
  ];
  for (const [name, xml] of clothes) {
    const answer = await emit(address, xml);
    assert.equal(answer.status, 201, `${name}: ${JSON.stringify(answer.body.erros ?? answer.body)}`);
    assert.match(answer.body.xml_nfse, /<xNome>Comércio &amp; Indústria Exemplo S\/A<\/xNome>/, name);
    assert.match(answer.body.xml_nfse, /<vServ>1500\.00<\/vServ>/, name);
    assert.deepEqual(xsdErrors(NFSE_XSD, Buffer.from(answer.body.xml_nfse)), [], name);
  }
});

test('a company of the Simples pays its ISSQN there: the note has the net value, and says of the rest why not', async () => {
  const { address } = await startTestService();
  const simples: Patch = {
    'prest/regTrib/opSimpNac': '3',
    'prest/regTrib/regApTribSN': '1',
    'valores/vServPrest/vServ': '12392.26',
    'valores/trib/tribMun/pAliq': null,
  };
  const body = exampleJson(simples)!;
  const post = (path: string, json: string): Promise<Answer> =>
    request(address, `/integracao/api/v1/nfse/v101${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: json,
    });

  // The sandbox's registry has no Simples status of the provider, which gives a separate remark.
  const toldIn = ({ body: { avisos } }: Answer): readonly string[] =>
    avisos.flatMap(({ codigo, xpath }: Aviso) => (codigo === 'E0160' ? [] : [`${codigo} ${xpath}`]));

  const { body: dry } = await post('/validacao', body);
  const { valor_base_calculo, aliquota_issqn, valor_issqn, valor_total_retido, valor_liquido } = dry.valores;
  assert.deepEqual([valor_base_calculo, aliquota_issqn, valor_issqn, valor_total_retido], [null, null, null, null]);
  assert.equal(valor_liquido, '12392.26');
  // No ISSQN is deducted from the base of IBS and CBS: 12392.26 × 0.90 % = 111.530
  assert.deepEqual([dry.ibscbs.valores_base_calculo, dry.ibscbs.total_cbs], ['12392.26', '111.53']);
  const step = dry.calculo.find(({ campo }: { campo: string }) => campo === 'valores/vISSQN');
  assert.match(step.formula, /^não consta da nota: o prestador apura o ISSQN pelo Simples Nacional .* no DAS/);

  const issued = await post('', body);
  assert.equal(issued.status, 201, JSON.stringify(issued.body));
  assert.deepEqual(toldIn(issued), []);
  const { xml_nota: xml, ...nota } = (await authorised(address, issued.body.chave_acesso)).body.nota;
  assert.match(xml, /<valores><vLiq>12392\.26<\/vLiq><\/valores>/);
  assert.deepEqual([nota.valor_base_calculo, nota.aliquota_issqn, nota.valor_issqn], ['0.00', '0.00', '0.00']);

  // Declared values of it are rejected: by a remark in the sandbox, where production refuses.
  for (const [name, xpath] of [
    ['valor_base_calculo', '/NFSe/infNFSe/valores/vBC'],
    ['valor_issqn', '/NFSe/infNFSe/valores/vISSQN'],
  ] as const) {
    const declared = await post('', exampleJson({ ...simples, [`=${name}`]: '619.61' })!);
    assert.equal(declared.status, 201);
    assert.deepEqual(toldIn(declared), [`E0625 ${xpath}`]);
  }

  // Withheld, at the rate of its band, which must be declared: 12392.26 × 2.01 % = 249.084
  const retida = { ...simples, 'valores/trib/tribMun/tpRetISSQN': '2' };
  const withheld = await post('', exampleJson({ ...retida, 'valores/trib/tribMun/pAliq': '2.01' })!);
  assert.match(withheld.body.xml_nfse, /<vISSQN>249\.08<\/vISSQN><vTotalRet>249\.08<\/vTotalRet><vLiq>12143\.18</);
  const asked = await post('', exampleJson(retida)!);
  assert.deepEqual(toldIn(asked), ['E0621 /DPS/infDPS/valores/trib/tribMun/pAliq']);
});
