/**
 * Holds the tables against the national layout, element by element. The lists below were made from the published schema, not from our
 * tables (XSD 1.01 of 09/02/2026; annex I v1.01 for the NFS-e). Each line has the occurrence, the name, and the type if it has a value.
 * Occurrence: `1` once, `0` optional, `1-99` a range. `c` marks one of a choice, `o` an optional choice.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DPS_NAMESPACE, DPS_VERSAO, INF_DPS } from './dps.ts';
import { DPS, INF_NFSE, INF_NFSE_OWN, NFSE } from './nfse.ts';
import { elementsOf, type Item, isRequiredOfSender, type Leaf } from './vocabulary.ts';

/** `serv/infoCompl/xPed` and `gItemPed` are national and not received (D-12), so they are not here. */
const NATIONAL_DPS = `
1 tpAmb TSTipoAmbiente
1 dhEmi TSDateTimeUTC
1 verAplic TSVerAplic
1 serie TSSerieDPS
1 nDPS TSNumDPS
1 dCompet TSData
1 tpEmit TSEmitenteDPS
0 cMotivoEmisTI TSMotivoEmisTI
0 chNFSeRej TSChaveNFSe
1 cLocEmi TSCodMunIBGE
0 subst
  1 chSubstda TSChaveNFSe
  1 cMotivo TSCodJustSubst
  0 xMotivo TSMotivo
1 prest
  c CNPJ TSCNPJ
  c CPF TSCPF
  c NIF TSNIF
  c cNaoNIF TSCodNaoNIF
  0 CAEPF TSCAEPF
  0 IM TSInscMun
  0 xNome TSNomeRazaoSocial
  0 end
    c endNac
      1 cMun TSCodMunIBGE
      1 CEP TSCEP
    c endExt
      1 cPais TSCodPaisISO
      1 cEndPost TSCodigoEndPostal
      1 xCidade TSCidade
      1 xEstProvReg TSEstadoProvRegiao
    1 xLgr TSLogradouro
    1 nro TSNumeroEndereco
    0 xCpl TSComplementoEndereco
    1 xBairro TSBairro
  0 fone TSTelefone
  0 email TSEmail
  1 regTrib
    1 opSimpNac TSOpSimpNac
    0 regApTribSN TSRegimeApuracaoSimpNac
    1 regEspTrib TSRegEspTrib
0 toma
  c CNPJ TSCNPJ
  c CPF TSCPF
  c NIF TSNIF
  c cNaoNIF TSCodNaoNIF
  0 CAEPF TSCAEPF
  0 IM TSInscMun
  1 xNome TSNomeRazaoSocial
  0 end
    c endNac
      1 cMun TSCodMunIBGE
      1 CEP TSCEP
    c endExt
      1 cPais TSCodPaisISO
      1 cEndPost TSCodigoEndPostal
      1 xCidade TSCidade
      1 xEstProvReg TSEstadoProvRegiao
    1 xLgr TSLogradouro
    1 nro TSNumeroEndereco
    0 xCpl TSComplementoEndereco
    1 xBairro TSBairro
  0 fone TSTelefone
  0 email TSEmail
0 interm
  c CNPJ TSCNPJ
  c CPF TSCPF
  c NIF TSNIF
  c cNaoNIF TSCodNaoNIF
  0 CAEPF TSCAEPF
  0 IM TSInscMun
  1 xNome TSNomeRazaoSocial
  0 end
    c endNac
      1 cMun TSCodMunIBGE
      1 CEP TSCEP
    c endExt
      1 cPais TSCodPaisISO
      1 cEndPost TSCodigoEndPostal
      1 xCidade TSCidade
      1 xEstProvReg TSEstadoProvRegiao
    1 xLgr TSLogradouro
    1 nro TSNumeroEndereco
    0 xCpl TSComplementoEndereco
    1 xBairro TSBairro
  0 fone TSTelefone
  0 email TSEmail
1 serv
  1 locPrest
    c cLocPrestacao TSCodMunIBGE
    c cPaisPrestacao TSCodPaisISO
  1 cServ
    1 cTribNac TSCodTribNac
    0 cTribMun TCCodTribMun
    1 xDescServ TSDesc2000
    0 cNBS TSCodNBS
    0 cIntContrib TSCodigoInternoContribuinte
  0 comExt
    1 mdPrestacao TSModoPrestacao
    1 vincPrest TSVincPrest
    1 tpMoeda TSCodMoeda
    1 vServMoeda TSDec15V2
    1 mecAFComexP TSMecAFComExPrest
    1 mecAFComexT TSMecAFComExToma
    1 movTempBens TSMovTempBens
    0 nDI TSNumDocImport
    0 nRE TSNumRegExport
    1 mdic TSEnvMDIC
  0 obra
    0 inscImobFisc TSInscImobFisc
    c cObra TSCodObra
    c cCIB TSCodCIB
    c end
      c CEP TSCEP
      c endExt
        1 cEndPost TSCodigoEndPostal
        1 xCidade TSCidade
        1 xEstProvReg TSEstadoProvRegiao
      1 xLgr TSLogradouro
      1 nro TSNumeroEndereco
      0 xCpl TSComplementoEndereco
      1 xBairro TSBairro
  0 atvEvento
    1 xNome TSDesc255
    1 dtIni TSData
    1 dtFim TSData
    c idAtvEvt TSIdeEvento
    c end
      c CEP TSCEP
      c endExt
        1 cEndPost TSCodigoEndPostal
        1 xCidade TSCidade
        1 xEstProvReg TSEstadoProvRegiao
      1 xLgr TSLogradouro
      1 nro TSNumeroEndereco
      0 xCpl TSComplementoEndereco
      1 xBairro TSBairro
  0 infoCompl
    0 idDocTec TSDRT
    0 docRef TSDesc255
    0 xPed TSNumeroEndereco
    0 gItemPed
      1-99 xItemPed TSNumeroEndereco
    0 xInfComp TSDescInfCompl
1 valores
  1 vServPrest
    0 vReceb TSDec15V2
    1 vServ TSDec15V2
  0 vDescCondIncond
    0 vDescIncond TSDec15V2
    0 vDescCond TSDec15V2
  0 vDedRed
    c pDR TSDec3V2
    c vDR TSDec15V2
    c documentos
      1-1000 docDedRed
        c chNFSe TSChaveNFSe
        c chNFe TSChaveNFe
        c NFSeMun
          1 cMunNFSeMun TSCodMunIBGE
          1 nNFSeMun TSNum15Dig
          1 cVerifNFSeMun TSCodVerificacao
        c NFNFS
          1 nNFS TSNum7Dig
          1 modNFS TSNum15Dig
          1 serieNFS TSSerieNFNFS
        c nDocFisc TSDesc255
        c nDoc TSDesc255
        1 tpDedRed TSIdeDedRed
        0 xDescOutDed TSDescOutDedRed
        1 dtEmiDoc xs:date
        1 vDedutivelRedutivel TSDec15V2
        1 vDeducaoReducao TSDec15V2
        0 fornec
          c CNPJ TSCNPJ
          c CPF TSCPF
          c NIF TSNIF
          c cNaoNIF TSCodNaoNIF
          0 CAEPF TSCAEPF
          0 IM TSInscMun
          1 xNome TSNomeRazaoSocial
          0 end
            c endNac
              1 cMun TSCodMunIBGE
              1 CEP TSCEP
            c endExt
              1 cPais TSCodPaisISO
              1 cEndPost TSCodigoEndPostal
              1 xCidade TSCidade
              1 xEstProvReg TSEstadoProvRegiao
            1 xLgr TSLogradouro
            1 nro TSNumeroEndereco
            0 xCpl TSComplementoEndereco
            1 xBairro TSBairro
          0 fone TSTelefone
          0 email TSEmail
  1 trib
    1 tribMun
      1 tribISSQN TSTribISSQN
      0 cPaisResult TSCodPaisISO
      0 tpImunidade TSTipoImunidadeISSQN
      0 exigSusp
        1 tpSusp TSOpExigSuspensa
        1 nProcesso TSNumProcExigSuspensa
      0 BM
        1 nBM TSNumBeneficioMunicipal
        o vRedBCBM TSDec15V2
        o pRedBCBM TSDec3V2
      1 tpRetISSQN TSTipoRetISSQN
      0 pAliq TSDec1V2
    0 tribFed
      0 piscofins
        1 CST TSTipoCST
        0 vBCPisCofins TSDec15V2
        0 pAliqPis TSDec2V2
        0 pAliqCofins TSDec2V2
        0 vPis TSDec15V2
        0 vCofins TSDec15V2
        0 tpRetPisCofins TSTipoRetPISCofins
      0 vRetCP TSDec15V2
      0 vRetIRRF TSDec15V2
      0 vRetCSLL TSDec15V2
    1 totTrib
      c vTotTrib
        1 vTotTribFed TSDec15V2
        1 vTotTribEst TSDec15V2
        1 vTotTribMun TSDec15V2
      c pTotTrib
        1 pTotTribFed TSDec3V2
        1 pTotTribEst TSDec3V2
        1 pTotTribMun TSDec3V2
      c indTotTrib TSTipoIndTotTrib
      c pTotTribSN TSDec2V2
0 IBSCBS
  1 finNFSe TSRTCFinNFSe
  0 indFinal TSRTCIndFinal
  1 cIndOp TSRTCCodIndOp
  0 tpOper TSRTCTpOper
  0 gRefNFSe
    1-99 refNFSe TSChaveNFSe
  0 tpEnteGov TSRTCTpEnteGov
  1 indDest TSRTCIndDest
  0 dest
    c CNPJ TSCNPJ
    c CPF TSCPF
    c NIF TSNIF
    c cNaoNIF TSCodNaoNIF
    1 xNome TSDesc150
    0 end
      c endNac
        1 cMun TSCodMunIBGE
        1 CEP TSCEP
      c endExt
        1 cPais TSCodPaisISO
        1 cEndPost TSCodigoEndPostal
        1 xCidade TSCidade
        1 xEstProvReg TSEstadoProvRegiao
      1 xLgr TSLogradouro
      1 nro TSNumeroEndereco
      0 xCpl TSComplementoEndereco
      1 xBairro TSBairro
    0 fone TSTelefone
    0 email TSEmail
  0 imovel
    0 inscImobFisc TSInscImobFisc
    c cCIB TSCodCIB
    c end
      c CEP TSCEP
      c endExt
        1 cEndPost TSCodigoEndPostal
        1 xCidade TSCidade
        1 xEstProvReg TSEstadoProvRegiao
      1 xLgr TSLogradouro
      1 nro TSNumeroEndereco
      0 xCpl TSComplementoEndereco
      1 xBairro TSBairro
  1 valores
    0 gReeRepRes
      1-1000 documentos
        c dFeNacional
          1 tipoChaveDFe TSRTCTipoChaveDFe
          0 xTipoChaveDFe TSDesc255
          1 chaveDFe TSRTCChaveDFe
        c docFiscalOutro
          1 cMunDocFiscal TSNum7Dig
          1 nDocFiscal TSDesc255
          1 xDocFiscal TSDesc255
        c docOutro
          1 nDoc TSDesc255
          1 xDoc TSDesc255
        0 fornec
          c CNPJ TSCNPJ
          c CPF TSCPF
          c NIF TSNIF
          c cNaoNIF TSCodNaoNIF
          1 xNome TSDesc150
        1 dtEmiDoc TSData
        1 dtCompDoc TSData
        1 tpReeRepRes TSRTCTpReeRepRes
        0 xTpReeRepRes TSDesc150
        1 vlrReeRepRes TSDec15V2
    1 trib
      1 gIBSCBS
        1 CST TSRTCCodSitTrib
        1 cClassTrib TSRTCCodClassTrib
        0 cCredPres TSRTCCodCredPres
        0 gTribRegular
          1 CSTReg TSRTCCodSitTrib
          1 cClassTribReg TSRTCCodClassTrib
        0 gDif
          1 pDifUF TSDec3V2
          1 pDifMun TSDec3V2
          1 pDifCBS TSDec3V2
`;

const NATIONAL_NFSE = `
1 xLocEmi TSDesc150
1 xLocPrestacao TSDesc150
1 nNFSe TSNNFSe
0 cLocIncid TSCodMunIBGE
0 xLocIncid TSDesc150
1 xTribNac TSDesc600
0 xTribMun TSDesc600
0 xNBS TSDesc600
1 verAplic TSVerAplic
1 ambGer TSAmbGeradorNFSe
1 tpEmis TSTipoEmissao
0 procEmi TSProcEmissao
1 cStat TStat
1 dhProc TSDateTimeUTC
1 nDFSe TSNDFSe
1 emit
  c CNPJ TSCNPJ
  c CPF TSCPF
  0 IM TSInscMun
  1 xNome TSNomeRazaoSocial
  0 xFant TSNomeFantasia
  1 enderNac
    1 xLgr TSLogradouro
    1 nro TSNumeroEndereco
    0 xCpl TSComplementoEndereco
    1 xBairro TSBairro
    1 cMun TSCodMunIBGE
    1 UF TSUF
    1 CEP TSCEP
  0 fone TSTelefone
  0 email TSEmail
1 valores
  0 vCalcDR TSDec15V2
  0 tpBM TBMISSQN
  0 vCalcBM TSDec15V2
  0 vBC TSDec15V2
  0 pAliqAplic TSDec1V2
  0 vISSQN TSDec15V2
  0 vTotalRet TSDec15V2
  1 vLiq TSDec15V2
0 xOutInf TSDesc2000
0 IBSCBS
  1 cLocalidadeIncid TSCodMunIBGE
  1 xLocalidadeIncid TSDesc600
  0 pRedutor TSDec2V2
  1 valores
    1 vBC TSDec15V2
    0 vCalcReeRepRes TSDec15V2
    1 uf
      1 pIBSUF TSDec2V2
      0 pRedAliqUF TSDec3V2
      1 pAliqEfetUF TSDec2V2
    1 mun
      1 pIBSMun TSDec2V2
      0 pRedAliqMun TSDec3V2
      1 pAliqEfetMun TSDec2V2
    1 fed
      1 pCBS TSDec2V2
      0 pRedAliqCBS TSDec3V2
      1 pAliqEfetCBS TSDec2V2
  1 totCIBS
    1 vTotNF TSDec15V2
    1 gIBS
      1 vIBSTot TSDec15V2
      0 gIBSCredPres
        1 pCredPresIBS TSDec2V2
        1 vCredPresIBS TSDec15V2
      1 gIBSUFTot
        0 vDifUF TSDec15V2
        1 vIBSUF TSDec15V2
      1 gIBSMunTot
        0 vDifMun TSDec15V2
        1 vIBSMun TSDec15V2
    1 gCBS
      0 gCBSCredPres
        1 pCredPresCBS TSDec2V2
        1 vCredPresCBS TSDec15V2
      0 vDifCBS TSDec15V2
      1 vCBS TSDec15V2
    0 gTribRegular
      1 pAliqEfeRegIBSUF TSDec2V2
      1 vTribRegIBSUF TSDec15V2
      1 pAliqEfeRegIBSMun TSDec2V2
      1 vTribRegIBSMun TSDec15V2
      1 pAliqEfeRegCBS TSDec2V2
      1 vTribRegCBS TSDec15V2
    0 gTribCompraGov
      1 pIBSUF TSDec2V2
      1 vIBSUF TSDec15V2
      1 pIBSMun TSDec2V2
      1 vIBSMun TSDec15V2
      1 pCBS TSDec2V2
      1 vCBS TSDec15V2
`;

/** Types that equal another type of the national layout under a second name. */
const SAME_TYPE: Readonly<Record<string, string>> = {
  TSDescOutDedRed: 'TSDesc150',
  'xs:date': 'TSData',
};

function lines(items: readonly Item[], indent = ''): string[] {
  return items.flatMap((item) =>
    item.kind === 'choice'
      ? item.items.flatMap((member) => element(member, item.min === 1 ? 'c' : 'o', indent))
      : element(item, item.max === 1 ? String(item.min) : `${item.min}-${item.max}`, indent),
  );
}

function element(item: Exclude<Item, { kind: 'choice' }>, occurrence: string, indent: string): string[] {
  if (item.kind === 'leaf') return [`${indent}${occurrence} ${item.name} ${item.type.name}`];
  return [`${indent}${occurrence} ${item.name}`, ...lines(item.items, `${indent}  `)];
}

function national(list: string): string[] {
  return list
    .trim()
    .split('\n')
    .map((line) => line.replace(/\S+$/, (type) => SAME_TYPE[type] ?? type));
}

test('INF_DPS has the elements of the national layout, in its order, with its occurrence and types', () => {
  assert.deepEqual(lines(INF_DPS), national(NATIONAL_DPS));
});

test('INF_NFSE has the elements of the national layout, in its order, with its occurrence and types', () => {
  assert.deepEqual(lines(INF_NFSE_OWN), national(NATIONAL_NFSE));
  assert.equal(INF_NFSE.at(-1), DPS, 'the declaration comes last');
});

function leaves(items: readonly Item[], above = ''): { path: string; leaf: Leaf }[] {
  return elementsOf(items).flatMap((item) => {
    const path = above === '' ? item.name : `${above}/${item.name}`;
    return item.kind === 'group' ? leaves(item.items, path) : [{ path, leaf: item }];
  });
}

test('what is asked of a sender differs from the national layout in these elements and no other', () => {
  const differs = leaves(INF_DPS).filter(({ leaf }) => isRequiredOfSender(leaf) !== (leaf.min === 1));
  assert.deepEqual(
    differs.map(({ path, leaf }) => `${path} ${leaf.sent}`),
    [
      'dhEmi refused',
      'serie optional',
      'nDPS optional',
      'serv/cServ/cNBS required',
      'serv/comExt/mdic optional',
      'valores/trib/tribMun/BM/nBM optional',
      'IBSCBS/finNFSe optional',
      'IBSCBS/cIndOp optional',
      'IBSCBS/indDest optional',
    ],
  );
});

test('the outer elements carry the version, an identifier and room for a signature', () => {
  for (const [root, inside, id] of [
    [DPS, 'infDPS', 'DPS355030821122233300018170000000000000000042'],
    [NFSE, 'infNFSe', 'NFS35503081211222333000181000000000004226101234567890'],
  ] as const) {
    assert.equal(root.signed, true);
    assert.deepEqual(
      root.attributes.map(({ name, type }) => [name, type.values]),
      [['versao', [DPS_VERSAO]]],
    );
    const [inner] = root.items;
    assert.equal(inner.name, inside);
    const [attribute] = inner.attributes;
    assert.equal(attribute.name, 'Id');
    assert.match(id, new RegExp(`^(${attribute.type.pattern})$`));
  }
  assert.equal(DPS_NAMESPACE, 'http://www.sped.fazenda.gov.br/nfse');
});
