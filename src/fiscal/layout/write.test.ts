import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimal as d } from '../decimal.ts';
import type { DpsNacional, InfNfse } from './nfse.ts';
import { withSignature, writeDps, writeNfse } from './write.ts';

const DPS_ID = 'DPS355030821122233300018170000000000000000042';
const NFSE_ID = 'NFS35503081211222333000181000000000004226101234567890';

const DPS: DpsNacional = {
  tpAmb: '1',
  dhEmi: '2026-10-05T10:15:30-03:00',
  verAplic: 'ERP-3.2',
  serie: '70000',
  nDPS: '42',
  dCompet: '2026-10-05',
  tpEmit: '1',
  cLocEmi: '3550308',
  prest: { CNPJ: '11222333000181', IM: '123456', regTrib: { opSimpNac: '1', regEspTrib: '0' } },
  toma: { CPF: '52998224725', xNome: 'Maria Exemplo' },
  serv: {
    locPrest: { cLocPrestacao: '3550308' },
    cServ: { cTribNac: '171401', xDescServ: 'Consultoria jurídica', cNBS: '113011000' },
  },
  valores: {
    vServPrest: { vServ: d('1000.00') },
    vDescCondIncond: { vDescIncond: d('50.00'), vDescCond: d('20.00') },
    vDedRed: { vDR: d('100.00') },
    trib: {
      tribMun: { tribISSQN: '1', tpRetISSQN: '2', pAliq: d('3.00') },
      totTrib: { indTotTrib: '0' },
    },
  },
  IBSCBS: {
    finNFSe: '0',
    cIndOp: '100301',
    indDest: '0',
    valores: { trib: { gIBSCBS: { CST: '200', cClassTrib: '200052' } } },
  },
};

const INF_DPS_TEXT =
  '<tpAmb>1</tpAmb><dhEmi>2026-10-05T10:15:30-03:00</dhEmi><verAplic>ERP-3.2</verAplic><serie>70000</serie>' +
  '<nDPS>42</nDPS><dCompet>2026-10-05</dCompet><tpEmit>1</tpEmit><cLocEmi>3550308</cLocEmi>' +
  '<prest><CNPJ>11222333000181</CNPJ><IM>123456</IM>' +
  '<regTrib><opSimpNac>1</opSimpNac><regEspTrib>0</regEspTrib></regTrib></prest>' +
  '<toma><CPF>52998224725</CPF><xNome>Maria Exemplo</xNome></toma>' +
  '<serv><locPrest><cLocPrestacao>3550308</cLocPrestacao></locPrest>' +
  '<cServ><cTribNac>171401</cTribNac><xDescServ>Consultoria jurídica</xDescServ><cNBS>113011000</cNBS></cServ></serv>' +
  '<valores><vServPrest><vServ>1000.00</vServ></vServPrest>' +
  '<vDescCondIncond><vDescIncond>50.00</vDescIncond><vDescCond>20.00</vDescCond></vDescCondIncond>' +
  '<vDedRed><vDR>100.00</vDR></vDedRed>' +
  '<trib><tribMun><tribISSQN>1</tribISSQN><tpRetISSQN>2</tpRetISSQN><pAliq>3.00</pAliq></tribMun>' +
  '<totTrib><indTotTrib>0</indTotTrib></totTrib></trib></valores>' +
  '<IBSCBS><finNFSe>0</finNFSe><cIndOp>100301</cIndOp><indDest>0</indDest><valores><trib>' +
  '<gIBSCBS><CST>200</CST><cClassTrib>200052</cClassTrib></gIBSCBS></trib></valores></IBSCBS>';

/** A typical note, with its properties in an order other than the layout's. */
const INF_NFSE: InfNfse = {
  valores: { vLiq: d('843.00'), vBC: d('850.00'), pAliqAplic: d('3'), vISSQN: d('25.50'), vTotalRet: d('87.00') },
  xLocEmi: 'São Paulo',
  xLocPrestacao: 'São Paulo',
  nNFSe: '42',
  cLocIncid: '3550308',
  xLocIncid: 'São Paulo',
  xTribNac: 'Advocacia.',
  xNBS: 'Serviços jurídicos',
  verAplic: 'emissor-1.0',
  ambGer: '1',
  tpEmis: '1',
  cStat: '100',
  dhProc: '2026-10-05T10:15:30-03:00',
  nDFSe: '1042',
  emit: {
    xNome: 'Empresa Exemplo Ltda',
    IM: '123456',
    CNPJ: '11222333000181',
    enderNac: { xLgr: 'Rua A', nro: '10', xBairro: 'Centro', cMun: '3550308', UF: 'SP', CEP: '01001000' },
  },
  IBSCBS: {
    cLocalidadeIncid: '3550308',
    xLocalidadeIncid: 'São Paulo',
    valores: {
      vBC: d('888.00'),
      uf: { pIBSUF: d('0.10'), pRedAliqUF: d('30'), pAliqEfetUF: d('0.07') },
      mun: { pIBSMun: d('0'), pRedAliqMun: d('30'), pAliqEfetMun: d('0') },
      fed: { pCBS: d('0.90'), pRedAliqCBS: d('30'), pAliqEfetCBS: d('0.63') },
    },
    totCIBS: {
      vTotNF: d('843.00'),
      gIBS: { vIBSTot: d('0.62'), gIBSUFTot: { vIBSUF: d('0.62') }, gIBSMunTot: { vIBSMun: d('0') } },
      gCBS: { vCBS: d('5.59') },
    },
  },
};

const NFSE_TEXT =
  '<?xml version="1.0" encoding="UTF-8"?><NFSe xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">' +
  `<infNFSe Id="${NFSE_ID}">` +
  '<xLocEmi>São Paulo</xLocEmi><xLocPrestacao>São Paulo</xLocPrestacao><nNFSe>42</nNFSe>' +
  '<cLocIncid>3550308</cLocIncid><xLocIncid>São Paulo</xLocIncid><xTribNac>Advocacia.</xTribNac>' +
  '<xNBS>Serviços jurídicos</xNBS><verAplic>emissor-1.0</verAplic><ambGer>1</ambGer><tpEmis>1</tpEmis>' +
  '<cStat>100</cStat><dhProc>2026-10-05T10:15:30-03:00</dhProc><nDFSe>1042</nDFSe>' +
  '<emit><CNPJ>11222333000181</CNPJ><IM>123456</IM><xNome>Empresa Exemplo Ltda</xNome>' +
  '<enderNac><xLgr>Rua A</xLgr><nro>10</nro><xBairro>Centro</xBairro><cMun>3550308</cMun><UF>SP</UF>' +
  '<CEP>01001000</CEP></enderNac></emit>' +
  '<valores><vBC>850.00</vBC><pAliqAplic>3.00</pAliqAplic><vISSQN>25.50</vISSQN><vTotalRet>87.00</vTotalRet>' +
  '<vLiq>843.00</vLiq></valores>' +
  '<IBSCBS><cLocalidadeIncid>3550308</cLocalidadeIncid><xLocalidadeIncid>São Paulo</xLocalidadeIncid>' +
  '<valores><vBC>888.00</vBC>' +
  '<uf><pIBSUF>0.10</pIBSUF><pRedAliqUF>30.00</pRedAliqUF><pAliqEfetUF>0.07</pAliqEfetUF></uf>' +
  '<mun><pIBSMun>0.00</pIBSMun><pRedAliqMun>30.00</pRedAliqMun><pAliqEfetMun>0.00</pAliqEfetMun></mun>' +
  '<fed><pCBS>0.90</pCBS><pRedAliqCBS>30.00</pRedAliqCBS><pAliqEfetCBS>0.63</pAliqEfetCBS></fed></valores>' +
  '<totCIBS><vTotNF>843.00</vTotNF><gIBS><vIBSTot>0.62</vIBSTot><gIBSUFTot><vIBSUF>0.62</vIBSUF></gIBSUFTot>' +
  '<gIBSMunTot><vIBSMun>0.00</vIBSMun></gIBSMunTot></gIBS><gCBS><vCBS>5.59</vCBS></gCBS></totCIBS></IBSCBS>' +
  `<DPS versao="1.01"><infDPS Id="${DPS_ID}">${INF_DPS_TEXT}</infDPS></DPS></infNFSe></NFSe>`;

test('a DPS is written in the order of the layout, in one namespace, without white space', () => {
  const expected = `<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infDPS Id="${DPS_ID}">${INF_DPS_TEXT}</infDPS></DPS>`;
  assert.equal(writeDps(DPS, DPS_ID), expected);
});

test('a note is written with its declaration inside', () => {
  assert.equal(writeNfse(INF_NFSE, NFSE_ID, DPS, DPS_ID), NFSE_TEXT);
});

test('a signature goes after infNFSe, into a note written before', () => {
  const signature = '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo/></Signature>';
  const signed = withSignature(NFSE_TEXT, signature);
  assert.equal(signed, NFSE_TEXT.replace('</infNFSe></NFSe>', `</infNFSe>${signature}</NFSe>`));
  assert.throws(() => withSignature(signed, signature), RangeError);
});

/** The text inside `parent` after one change of the declaration. */
function inside(dps: DpsNacional, parent: string): string | undefined {
  return new RegExp(`<${parent}>.*</${parent}>`, 's').exec(writeDps(dps, DPS_ID))?.[0];
}

test('markup in a value is escaped, quotes are not, and a carriage return survives', () => {
  const xNome = `Maria & "Filhos" <d'Ávila> > Cia`;
  const named = inside({ ...DPS, toma: { CPF: '52998224725', xNome } }, 'toma');
  const expected = `<xNome>Maria &amp; "Filhos" &lt;d'Ávila&gt; &gt; Cia</xNome>`;
  assert.equal(named, `<toma><CPF>52998224725</CPF>${expected}</toma>`);

  const xDescServ = 'linha 1\r\nlinha 2\n\tfim';
  const described = inside({ ...DPS, serv: { ...DPS.serv, cServ: { ...DPS.serv.cServ, xDescServ } } }, 'xDescServ');
  assert.equal(described, '<xDescServ>linha 1&#xD;\nlinha 2\n\tfim</xDescServ>');
});

test('amounts have two decimals, the largest and the smallest too', () => {
  const vDescCondIncond = { vDescIncond: d('999999999999999.99'), vDescCond: d('0.01') };
  assert.equal(
    inside({ ...DPS, valores: { ...DPS.valores, vDescCondIncond } }, 'vDescCondIncond'),
    '<vDescCondIncond><vDescIncond>999999999999999.99</vDescIncond><vDescCond>0.01</vDescCond></vDescCondIncond>',
  );
});

test('what is not there is not written: absent, undefined, an empty list, an empty optional group', () => {
  const { IBSCBS: _group, toma: _taker, ...rest } = DPS;
  const bare = {
    ...rest,
    toma: undefined,
    serv: { ...DPS.serv, infoCompl: {} },
    valores: {
      ...DPS.valores,
      vDescCondIncond: {},
      trib: { ...DPS.valores.trib, tribFed: {} },
    },
  } as unknown as DpsNacional;
  assert.doesNotMatch(writeDps(bare, DPS_ID), /IBSCBS|toma|infoCompl|vDescCondIncond|tribFed|undefined/);

  const gRefNFSe = { refNFSe: [] };
  const ibscbs = inside({ ...DPS, IBSCBS: { ...DPS.IBSCBS!, gRefNFSe } }, 'IBSCBS');
  assert.doesNotMatch(ibscbs!, /gRefNFSe/);
});

test('a list is written once an element, in its order', () => {
  const refNFSe = ['1', '2', '3'].map((digit) => digit.repeat(50));
  const ibscbs = inside({ ...DPS, IBSCBS: { ...DPS.IBSCBS!, gRefNFSe: { refNFSe } } }, 'gRefNFSe');
  const [one, two, three] = refNFSe.map((key) => `<refNFSe>${key}</refNFSe>`);
  assert.equal(ibscbs, `<gRefNFSe>${one}${two}${three}</gRefNFSe>`);
});
