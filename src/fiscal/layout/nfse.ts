/**
 * The NFS-e 1.01 as one table, in the national order, with the declaration inside; and the outer elements of both documents, which hold the
 * identifiers and the signature.
 *
 * No client sends an NFS-e, so there is only the national form. `../assess.ts` computes the amounts; the judge decides when an element must
 * be absent; `write.ts` makes the text.
 */
import { INF_DPS, ruaFields } from './dps.ts';
import { T } from './simple-types.ts';
import { may, mayGroup, type NationalShape, need, needGroup, oneOf, type Path } from './vocabulary.ts';

/** The elements that the note adds to its declaration. */
export const INF_NFSE_OWN = [
  need('xLocEmi', T.desc150, 'Nome do município emissor'),
  need('xLocPrestacao', T.desc150, 'Nome do local da prestação'),
  need('nNFSe', T.nNFSe, 'Número sequencial da nota por prestador, sem zeros à esquerda'),
  may('cLocIncid', T.cMun, 'Município de incidência do ISSQN (código IBGE); só em operação tributável'),
  may('xLocIncid', T.desc150, 'Nome do município de incidência; presente com cLocIncid'),
  need('xTribNac', T.desc600, 'Descrição de cTribNac'),
  may('xTribMun', T.desc600, 'Descrição de cTribMun'),
  may('xNBS', T.desc600, 'Descrição de cNBS'),
  need('verAplic', T.verAplic, 'Versão deste serviço'),
  need('ambGer', T.ambGer, 'Ambiente gerador: 1 sistema próprio do município, 2 Sefin Nacional'),
  need('tpEmis', T.tpEmis, 'Emissão: 1 direta no modelo nacional, 2 transcrita de leiaute próprio'),
  may('procEmi', T.procEmi, 'Processo de emissão; só em notas da Sefin Nacional'),
  need('cStat', T.cStat, 'Situação: 100 gerada, 102 decisão judicial ou administrativa, 103 avulsa, 107 MEI'),
  need('dhProc', T.dataHora, 'Data e hora da geração da nota'),
  need('nDFSe', T.nDFSe, 'Número sequencial do documento no ambiente gerador'),
  needGroup('emit', 'Emitente', [
    oneOf([need('CNPJ', T.cnpj, 'CNPJ'), need('CPF', T.cpf, 'CPF')]),
    may('IM', T.im, 'Inscrição municipal'),
    need('xNome', T.xNome, 'Nome ou razão social, do cadastro municipal'),
    may('xFant', T.xFant, 'Nome fantasia'),
    needGroup('enderNac', 'Endereço no Brasil', [
      ...ruaFields,
      need('cMun', T.cMun, 'Município (código IBGE)'),
      need('UF', T.uf, 'Unidade da federação'),
      need('CEP', T.cep, 'CEP'),
    ]),
    may('fone', T.fone, 'Telefone'),
    may('email', T.email, 'E-mail'),
  ]),
  needGroup('valores', 'Valores do ISSQN', [
    may('vCalcDR', T.valor, 'Dedução calculada de pDR ou somada dos documentos'),
    may('tpBM', T.tpBM, 'Benefício: 1 isenção, 2 redução da base em percentual, 3 em reais, 4 alíquota diferenciada'),
    may('vCalcBM', T.valor, 'Redução da base calculada de pRedBCBM'),
    may('vBC', T.valor, 'Base de cálculo'),
    may('pAliqAplic', T.percentual1, 'Alíquota aplicada'),
    may('vISSQN', T.valor, 'ISSQN'),
    may('vTotalRet', T.valor, 'Total retido: vRetCP, vRetIRRF, vRetCSLL e o ISSQN retido'),
    need('vLiq', T.valor, 'Valor líquido'),
  ]),
  may('xOutInf', T.xDescServ, 'Uso da administração tributária municipal'),
  mayGroup('IBSCBS', 'IBS e CBS, presente quando a DPS traz o grupo', [
    need('cLocalidadeIncid', T.cMun, 'Local da operação (código IBGE)'),
    need('xLocalidadeIncid', T.desc600, 'Nome do local da operação'),
    may('pRedutor', T.percentual2, 'Redução nas compras governamentais; presente com tpEnteGov'),
    needGroup('valores', 'Base e alíquotas', [
      need('vBC', T.valor, 'Base de cálculo'),
      may('vCalcReeRepRes', T.valor, 'Soma dos valores de terceiros fora da base'),
      needGroup('uf', 'IBS do estado', [
        need('pIBSUF', T.percentual2, 'Alíquota'),
        may('pRedAliqUF', T.percentual3, 'Redução da classificação tributária'),
        need('pAliqEfetUF', T.percentual2, 'Alíquota efetiva'),
      ]),
      needGroup('mun', 'IBS do município', [
        need('pIBSMun', T.percentual2, 'Alíquota'),
        may('pRedAliqMun', T.percentual3, 'Redução da classificação tributária'),
        need('pAliqEfetMun', T.percentual2, 'Alíquota efetiva'),
      ]),
      needGroup('fed', 'CBS', [
        need('pCBS', T.percentual2, 'Alíquota'),
        may('pRedAliqCBS', T.percentual3, 'Redução da classificação tributária'),
        need('pAliqEfetCBS', T.percentual2, 'Alíquota efetiva'),
      ]),
    ]),
    needGroup('totCIBS', 'Totais', [
      need('vTotNF', T.valor, 'Total da nota'),
      needGroup('gIBS', 'IBS', [
        need('vIBSTot', T.valor, 'Total do IBS'),
        mayGroup('gIBSCredPres', 'Crédito presumido, presente com cCredPres', [
          need('pCredPresIBS', T.percentual2, 'Percentual'),
          need('vCredPresIBS', T.valor, 'Valor'),
        ]),
        needGroup('gIBSUFTot', 'IBS do estado', [
          may('vDifUF', T.valor, 'Valor diferido'),
          need('vIBSUF', T.valor, 'Valor'),
        ]),
        needGroup('gIBSMunTot', 'IBS do município', [
          may('vDifMun', T.valor, 'Valor diferido'),
          need('vIBSMun', T.valor, 'Valor'),
        ]),
      ]),
      needGroup('gCBS', 'CBS', [
        mayGroup('gCBSCredPres', 'Crédito presumido, presente com cCredPres', [
          need('pCredPresCBS', T.percentual2, 'Percentual'),
          need('vCredPresCBS', T.valor, 'Valor'),
        ]),
        may('vDifCBS', T.valor, 'Valor diferido'),
        need('vCBS', T.valor, 'Valor'),
      ]),
      mayGroup('gTribRegular', 'O que se pagaria sem a condição suspensiva', [
        need('pAliqEfeRegIBSUF', T.percentual2, 'Alíquota efetiva do IBS do estado'),
        need('vTribRegIBSUF', T.valor, 'Valor do IBS do estado'),
        need('pAliqEfeRegIBSMun', T.percentual2, 'Alíquota efetiva do IBS do município'),
        need('vTribRegIBSMun', T.valor, 'Valor do IBS do município'),
        need('pAliqEfeRegCBS', T.percentual2, 'Alíquota efetiva da CBS'),
        need('vTribRegCBS', T.valor, 'Valor da CBS'),
      ]),
      mayGroup('gTribCompraGov', 'Composição nas compras governamentais, presente com tpEnteGov', [
        need('pIBSUF', T.percentual2, 'Alíquota do IBS do estado'),
        need('vIBSUF', T.valor, 'Valor do IBS do estado'),
        need('pIBSMun', T.percentual2, 'Alíquota do IBS do município'),
        need('vIBSMun', T.valor, 'Valor do IBS do município'),
        need('pCBS', T.percentual2, 'Alíquota da CBS'),
        need('vCBS', T.valor, 'Valor da CBS'),
      ]),
    ]),
  ]),
] as const;

const versao = { name: 'versao', type: T.versao, doc: 'Versão do leiaute' } as const;

/** The document that a provider sends; its national form stands in the note. */
export const DPS = needGroup(
  'DPS',
  'Declaração de prestação de serviços',
  [
    needGroup('infDPS', 'O que é declarado e assinado', INF_DPS, {
      attributes: [{ name: 'Id', type: T.idInfDPS, doc: 'Identificador, a que a assinatura se refere' }],
    }),
  ],
  { attributes: [versao], signed: true },
);

export const INF_NFSE = [...INF_NFSE_OWN, DPS] as const;

/** The document that this service makes of it. */
export const NFSE = needGroup(
  'NFSe',
  'Nota fiscal de serviço eletrônica',
  [
    needGroup('infNFSe', 'O que a nota diz e o município assina', INF_NFSE, {
      attributes: [{ name: 'Id', type: T.idInfNFSe, doc: 'NFS e a chave de acesso' }],
    }),
  ],
  { attributes: [versao], signed: true },
);

/** The additions of the note to the declaration: the computed and looked-up half. */
export type InfNfse = NationalShape<typeof INF_NFSE_OWN>;

/** The DPS as it stands in the note (D-34). */
export type DpsNacional = NationalShape<typeof INF_DPS>;

/** A path of the layout below `infNFSe`, the declaration included. */
export type NfsePath = Path<typeof INF_NFSE>;
