/** Rules of deduction and reduction of the base, `valores/vDedRed`. */
import { assessesInSimples } from '../aliquota.ts';
import { isTaxOwn } from '../cadastros.ts';
import { chaveNFeIsValid, parseChave } from '../chave.ts';
import { formatDecimal, ZERO } from '../decimal.ts';
import { incidenceOf } from '../incidence.ts';
import type { Dps } from '../layout/dps.ts';
import { addressInLisboa, askForNif, municipioHead, paisHead } from './address.ts';
import { DEDUCAO_NA_ISENCAO } from './beneficio.ts';
import { cepHead, cepInWords, isOfState } from './cep.ts';
import { annexHead, forEach, type ItemRule, ofPart, type Patch, type Rule, whenPresent } from './rule.ts';
import { WITHOUT_MINIMUM } from './valores.ts';

/**
 * Codes in which a company that assesses inside the Simples Nacional may deduct. Anexo I v1.01, E0441 and E0442: those without the minimum
 * of 2 %, with item 6 and without item 16.01.
 */
export const DEDUCIBLE_IN_SIMPLES: ReadonlySet<string> = new Set(
  [...WITHOUT_MINIMUM].filter((code) => !code.startsWith('1601')).concat('060101', '060201'),
);

type Documento = NonNullable<NonNullable<Dps['valores']['vDedRed']>['documentos']>['docDedRed'][number];

const LIST = 'valores/vDedRed/documentos/docDedRed';

const judgeDocumento = (rule: ItemRule<Documento>): Rule =>
  forEach(LIST, ({ valores }) => valores.vDedRed?.documentos?.docDedRed, rule);

/** A document that proves a deduction of 100.00, whose tax stays above the minimum. */
export const DOCUMENTO: Patch = {
  'valores/trib/tribMun/pAliq': '5.00',
  [`${LIST}/nDocFisc`]: 'NF 123',
  [`${LIST}/tpDedRed`]: '7',
  [`${LIST}/dtEmiDoc`]: '2026-10-01',
  [`${LIST}/vDedutivelRedutivel`]: '100.00',
  [`${LIST}/vDeducaoReducao`]: '100.00',
  [`${LIST}/fornec/CNPJ`]: '11444777000161',
  [`${LIST}/fornec/xNome`]: 'Fornecedor Exemplo Ltda',
  [`${LIST}/fornec/end/endNac/cMun`]: '3550308',
  [`${LIST}/fornec/end/endNac/CEP`]: '01001000',
  [`${LIST}/fornec/end/xLgr`]: 'Praça da Sé',
  [`${LIST}/fornec/end/nro`]: '2',
  [`${LIST}/fornec/end/xBairro`]: 'Sé',
};

const FORNECEDOR_NO_EXTERIOR: Patch = {
  ...addressInLisboa(`${LIST}/fornec/end`),
  ...removePaths(DOCUMENTO, 'fornec/CNPJ', 'fornec/end/endNac'),
  [`${LIST}/fornec/NIF`]: 'PT123456789',
  [`${LIST}/fornec/end/endExt/cPais`]: 'PT',
};

/** A national key of a public sample (`chave.test.ts`). */
const CHAVE_NFSE = '15054862244827692000111000000000001625125368470067';
/** The worked example of the Manual de Orientação do Contribuinte of the NF-e. */
const CHAVE_NFE = '52060433009911002506550120000007800267301615';

const COM_NFSE: Patch = { ...removePaths(DOCUMENTO, 'nDocFisc'), [`${LIST}/chNFSe`]: CHAVE_NFSE };
const COM_NFE: Patch = { ...removePaths(DOCUMENTO, 'nDocFisc'), [`${LIST}/chNFe`]: CHAVE_NFE };

const COM_NOTA_MUNICIPAL: Patch = {
  ...removePaths(DOCUMENTO, 'nDocFisc'),
  [`${LIST}/NFSeMun/cMunNFSeMun`]: '3550308',
  [`${LIST}/NFSeMun/nNFSeMun`]: '000000000000123',
  [`${LIST}/NFSeMun/cVerifNFSeMun`]: 'ABCD1234',
};

/** The document without some of its elements, by paths inside it. */
function removePaths(patch: Patch, ...paths: readonly string[]): Patch {
  const isLeft = ([path]: readonly [string, unknown]): boolean =>
    !paths.some((gone) => path.startsWith(`${LIST}/${gone}`));
  return Object.fromEntries(Object.entries(patch).filter(isLeft));
}

/** A note without a base allows no deduction. */
function forbidWithoutBase({
  because,
  ...rule
}: Pick<Rule, 'code' | 'title' | 'mend' | 'why' | 'when' | 'rejects' | 'accepts'> & {
  readonly because: (dps: Dps) => string;
}): Rule {
  return {
    ...rule,
    ...annexHead(rule.code),
    at: 'valores/vDedRed',
    message: (dps) => `O grupo vDedRed não cabe aqui: ${because(dps)}. Retire o grupo.`,
    must: () => false,
  };
}

const DEDUCAO_NO_SIMPLES: Patch = {
  'prest/regTrib/opSimpNac': '3',
  'prest/regTrib/regApTribSN': '1',
  'valores/trib/tribMun/pAliq': null,
  'valores/vDedRed/vDR': '100.00',
};

/** Few services allow a deduction inside the Simples Nacional; the code depends on the party that pays the tax. */
function forbidInSimples({
  isOwn,
  ...rule
}: Pick<Rule, 'code' | 'title' | 'rejects'> & { readonly isOwn: boolean }): Rule {
  return {
    ...rule,
    ...annexHead(rule.code),
    at: 'valores/vDedRed',
    message: ({ serv }) =>
      `O prestador apura o ISSQN pelo Simples Nacional (opSimpNac 3, regApTribSN 1), e o serviço ${serv.cServ.cTribNac} não é dos que então admitem dedução. Retire vDedRed, ou corrija o regime.`,
    mend: 'Retire o grupo vDedRed; se o ISSQN é apurado por fora do Simples, informe regApTribSN 2 ou 3.',
    why: 'No Simples Nacional o ISSQN incide sobre a receita bruta; só alguns serviços, como os de construção, deduzem dela.',
    national:
      'O padrão nacional responde E0441 quando o município de incidência é conveniado, como este, e E0442 quando não é; do convênio dos outros municípios não há aqui cadastro.',
    when: (dps, facts) =>
      assessesInSimples(dps) &&
      dps.valores.trib.tribMun.tribISSQN === '1' &&
      isTaxOwn(incidenceOf(dps), facts.cMun) === isOwn,
    must: ({ serv }) => DEDUCIBLE_IN_SIMPLES.has(serv.cServ.cTribNac),
    accepts: [{ ...DEDUCAO_NO_SIMPLES, 'serv/cServ/cTribNac': '060101' }],
  };
}

export const DED_RED: readonly Rule[] = ofPart(
  ({ valores }) => valores.vDedRed !== undefined,
  [
    forbidWithoutBase({
      code: 'E0435',
      title: 'Dedução numa operação sem ISSQN',
      mend: 'Retire o grupo vDedRed, ou corrija tribISSQN.',
      why: 'Imunidade, exportação e não incidência não têm base de cálculo de que deduzir.',
      when: ({ valores }) => valores.trib.tribMun.tribISSQN !== '1',
      because: ({ valores }) => `com tribISSQN ${valores.trib.tribMun.tribISSQN} não há base de cálculo de que deduzir`,
      rejects: [
        {
          'valores/trib/tribMun/tribISSQN': '2',
          'valores/trib/tribMun/tpImunidade': '1',
          'valores/trib/tribMun/pAliq': null,
          'valores/vDedRed/vDR': '100.00',
        },
      ],
      accepts: [{ 'valores/trib/tribMun/pAliq': '5.00', 'valores/vDedRed/vDR': '100.00' }],
    }),
    forbidWithoutBase({
      code: 'E0436',
      title: 'Dedução de um prestador MEI',
      mend: 'Retire o grupo vDedRed, ou corrija opSimpNac.',
      why: 'O MEI paga o ISSQN num valor fixo mensal, e as suas notas não têm base de cálculo.',
      when: ({ prest, valores }) => prest.regTrib.opSimpNac === '2' && valores.trib.tribMun.tribISSQN === '1',
      because: () => 'a nota de um MEI (opSimpNac 2) não tem base de cálculo de que deduzir',
      rejects: [
        { 'prest/regTrib/opSimpNac': '2', 'valores/trib/tribMun/pAliq': null, 'valores/vDedRed/vDR': '100.00' },
      ],
      accepts: [{ 'prest/regTrib/opSimpNac': '2', 'valores/trib/tribMun/pAliq': null }],
    }),
    forbidWithoutBase({
      code: 'E0438',
      title: 'Dedução de um prestador em regime especial',
      mend: 'Retire o grupo vDedRed, ou corrija regEspTrib.',
      why: 'Num regime especial o ISSQN se apura fora da nota, que não tem base de cálculo.',
      when: ({ prest, valores }) =>
        prest.regTrib.regEspTrib !== '0' && prest.regTrib.opSimpNac !== '2' && valores.trib.tribMun.tribISSQN === '1',
      because: ({ prest }) =>
        `no regime especial (regEspTrib ${prest.regTrib.regEspTrib}) a nota não tem base de cálculo de que deduzir`,
      rejects: [
        { 'prest/regTrib/regEspTrib': '6', 'valores/trib/tribMun/pAliq': null, 'valores/vDedRed/vDR': '100.00' },
      ],
      accepts: [{ 'prest/regTrib/regEspTrib': '6', 'valores/trib/tribMun/pAliq': null }],
    }),
    DEDUCAO_NA_ISENCAO,
    forbidInSimples({
      code: 'E0441',
      title: 'Dedução de quem apura o ISSQN pelo Simples Nacional',
      isOwn: true,
      rejects: [DEDUCAO_NO_SIMPLES],
    }),
    forbidInSimples({
      code: 'E0442',
      title: 'Dedução de quem apura pelo Simples Nacional o ISSQN de outro município',
      isOwn: false,
      // The shared sandbox counts as every municipality, and the examples use it.
      rejects: [],
    }),
    whenPresent(({ valores }) => valores.vDedRed?.pDR, {
      ...annexHead('E0453'),
      at: 'valores/vDedRed/pDR',
      title: 'Percentual de dedução zerado',
      message: 'pDR é zero. Informe o percentual que se deduz da base, ou retire o grupo vDedRed.',
      mend: 'Informe um percentual maior que zero, até 100.00; sem dedução, retire o grupo vDedRed.',
      why: 'Uma dedução de zero não é dedução. O que passa de 100 é recusado com E0002.',
      must: (pDR) => pDR > ZERO,
      found: () => '0.00',
      expected: 'percentual maior que 0.00 e até 100.00',
      rejects: [{ 'valores/vDedRed/pDR': '0.00' }],
      accepts: [{ 'valores/trib/tribMun/pAliq': '5.00', 'valores/vDedRed/pDR': '60.00' }],
    }),
    judgeDocumento(
      whenPresent(({ chNFSe }) => chNFSe, {
        ...annexHead('E0455'),
        at: `${LIST}/chNFSe`,
        title: 'Chave de NFS-e inválida no documento da dedução',
        message: (chNFSe) =>
          `A chave de NFS-e ${chNFSe} não é de nenhuma nota: a estrutura ou o dígito verificador não confere. Copie-a da nota.`,
        mend: 'Copie a chave de acesso, de 50 posições, da NFS-e que se deduz.',
        why: 'O dígito verificador mostra que a chave foi digitada errada.',
        must: (chNFSe) => parseChave(chNFSe) !== undefined,
        found: (chNFSe) => chNFSe,
        rejects: [{ ...COM_NFSE, [`${LIST}/chNFSe`]: `${CHAVE_NFSE.slice(0, -1)}0` }],
        accepts: [COM_NFSE],
      }),
    ),
    judgeDocumento(
      whenPresent(({ chNFe }) => chNFe, {
        ...annexHead('E0460', 'Manual de Orientação do Contribuinte da NF-e'),
        at: `${LIST}/chNFe`,
        title: 'Chave de NF-e inválida no documento da dedução',
        message: (chNFe) => `O dígito verificador da chave de NF-e ${chNFe} não confere. Copie a chave da nota.`,
        mend: 'Copie a chave de acesso, de 44 posições, da NF-e que se deduz.',
        why: 'O dígito verificador mostra que a chave foi digitada errada.',
        must: chaveNFeIsValid,
        found: (chNFe) => chNFe,
        rejects: [{ ...COM_NFE, [`${LIST}/chNFe`]: `${CHAVE_NFE.slice(0, -1)}4` }],
        accepts: [COM_NFE],
      }),
    ),
    judgeDocumento({
      ...municipioHead('na nota municipal da dedução', ({ NFSeMun }: Documento) => NFSeMun?.cMunNFSeMun),
      at: `${LIST}/NFSeMun/cMunNFSeMun`,
      origin: 'Especificação, Errors: E403; Anexo I, E0466',
      why: 'O documento da dedução é de um município que existe.',
      national: 'O padrão nacional tem um código para cada campo: E0466 na nota municipal que se deduz.',
      rejects: [{ ...COM_NOTA_MUNICIPAL, [`${LIST}/NFSeMun/cMunNFSeMun`]: '9999999' }],
      accepts: [COM_NOTA_MUNICIPAL],
    }),
    judgeDocumento({
      ...annexHead('E0468'),
      at: `${LIST}/xDescOutDed`,
      title: 'Falta a descrição da dedução de outro tipo',
      message: 'O tipo da dedução é 99 (outras deduções), e falta a descrição. Informe xDescOutDed.',
      mend: 'Descreva a dedução em xDescOutDed, ou escolha em tpDedRed um dos tipos de 1 a 9.',
      why: 'O tipo 99 não diz o que se deduz; a descrição o diz.',
      when: ({ tpDedRed }) => tpDedRed === '99',
      must: ({ xDescOutDed }) => xDescOutDed !== undefined,
      rejects: [{ ...DOCUMENTO, [`${LIST}/tpDedRed`]: '99' }],
      accepts: [{ ...DOCUMENTO, [`${LIST}/tpDedRed`]: '99', [`${LIST}/xDescOutDed`]: 'Materiais de terceiros' }],
    }),
    judgeDocumento({
      ...annexHead('E0470'),
      at: `${LIST}/xDescOutDed`,
      title: 'Descrição numa dedução que tem tipo',
      message: ({ tpDedRed }) =>
        `xDescOutDed só cabe com o tipo 99 (outras deduções), e o tipo é ${tpDedRed}. Retire a descrição, ou corrija o tipo.`,
      mend: 'Retire xDescOutDed, ou informe tpDedRed 99.',
      why: 'Os tipos de 1 a 9 já dizem o que se deduz.',
      when: ({ xDescOutDed }) => xDescOutDed !== undefined,
      must: ({ tpDedRed }) => tpDedRed === '99',
      found: ({ tpDedRed }) => `tpDedRed ${tpDedRed}`,
      rejects: [{ ...DOCUMENTO, [`${LIST}/xDescOutDed`]: 'Subempreitada' }],
      accepts: [DOCUMENTO],
    }),
    judgeDocumento({
      ...annexHead('E0472'),
      at: `${LIST}/dtEmiDoc`,
      title: 'Documento da dedução posterior à competência',
      message: ({ dtEmiDoc }, { dCompet }) =>
        `O documento é de ${dtEmiDoc}, depois da competência da DPS, ${dCompet}. Confira as duas datas.`,
      mend: 'Confira dtEmiDoc e dCompet: o documento não é posterior à competência.',
      why: 'O que se deduz do preço de um serviço já tinha acontecido quando o serviço foi prestado.',
      must: ({ dtEmiDoc }, { dCompet }) => dtEmiDoc <= dCompet,
      found: ({ dtEmiDoc }) => dtEmiDoc,
      rejects: [{ ...DOCUMENTO, [`${LIST}/dtEmiDoc`]: '2026-10-06' }],
      accepts: [{ ...DOCUMENTO, [`${LIST}/dtEmiDoc`]: '2026-10-05' }],
    }),
    judgeDocumento({
      ...annexHead('E0474'),
      at: `${LIST}/vDeducaoReducao`,
      title: 'Dedução maior que o valor dedutível do documento',
      message: ({ vDeducaoReducao, vDedutivelRedutivel }) =>
        `A dedução é ${formatDecimal(vDeducaoReducao)}, e do documento se podem deduzir ${formatDecimal(vDedutivelRedutivel)}. Corrija um dos dois.`,
      mend: 'Reduza vDeducaoReducao, no máximo a vDedutivelRedutivel.',
      why: 'De um documento não se deduz mais do que ele tem de dedutível.',
      must: ({ vDeducaoReducao, vDedutivelRedutivel }) => vDeducaoReducao <= vDedutivelRedutivel,
      found: ({ vDeducaoReducao }) => formatDecimal(vDeducaoReducao),
      rejects: [{ ...DOCUMENTO, [`${LIST}/vDeducaoReducao`]: '100.01' }],
      accepts: [{ ...DOCUMENTO, [`${LIST}/vDeducaoReducao`]: '99.99' }],
    }),
    judgeDocumento({
      ...annexHead('E0477'),
      at: `${LIST}/fornec`,
      title: 'Falta o fornecedor do documento da dedução',
      message: 'O documento não é NFS-e nem NF-e nacional, e falta dizer de quem é. Informe o grupo fornec.',
      mend: 'Informe fornec com CNPJ, CPF, NIF ou cNaoNIF, nome e endereço.',
      why: 'A chave de uma NFS-e ou NF-e nacional já diz quem a emitiu; os outros documentos, não.',
      when: ({ chNFSe, chNFe }) => chNFSe === undefined && chNFe === undefined,
      must: ({ fornec }) => fornec !== undefined,
      rejects: [removePaths(DOCUMENTO, 'fornec')],
      accepts: [DOCUMENTO, removePaths(COM_NFSE, 'fornec'), removePaths(COM_NFE, 'fornec')],
    }),
    judgeDocumento(
      whenPresent(({ fornec }) => fornec, {
        ...annexHead('E1538'),
        at: `${LIST}/fornec/NIF`,
        title: 'Fornecedor com endereço no exterior e documento brasileiro',
        message: (fornec) => askForNif('fornecedor', 'fornec', fornec),
        mend: 'Troque CNPJ ou CPF do fornecedor por NIF ou cNaoNIF; se ele está no Brasil, use endNac.',
        why: 'Quem está no exterior se identifica pelo seu número fiscal de lá, ou diz por que não o tem.',
        when: ({ end }) => end?.endExt !== undefined,
        must: ({ NIF, cNaoNIF }) => NIF !== undefined || cNaoNIF !== undefined,
        expected: 'NIF, ou cNaoNIF 0, 1 ou 2',
        rejects: [{ ...removePaths(FORNECEDOR_NO_EXTERIOR, 'fornec/NIF'), [`${LIST}/fornec/CNPJ`]: '11444777000161' }],
        accepts: [
          FORNECEDOR_NO_EXTERIOR,
          { ...removePaths(FORNECEDOR_NO_EXTERIOR, 'fornec/NIF'), [`${LIST}/fornec/cNaoNIF`]: '2' },
        ],
      }),
    ),
    judgeDocumento(
      whenPresent(({ fornec }) => fornec, {
        ...annexHead('E0492'),
        at: `${LIST}/fornec/end/endNac`,
        title: 'Falta o endereço no Brasil do fornecedor',
        message: 'O fornecedor é identificado por CNPJ ou CPF, e falta o seu endereço. Informe fornec/end com endNac.',
        mend: 'Informe o endereço no Brasil do fornecedor, com endNac.',
        why: 'Quem tem CNPJ ou CPF tem endereço no Brasil.',
        // A supplier with an address abroad is reported by E1538.
        when: ({ CNPJ, CPF, end }) => (CNPJ !== undefined || CPF !== undefined) && end?.endExt === undefined,
        must: ({ end }) => end?.endNac !== undefined,
        rejects: [removePaths(DOCUMENTO, 'fornec/end')],
        accepts: [DOCUMENTO],
      }),
    ),
    judgeDocumento({
      ...municipioHead('no endereço do fornecedor', ({ fornec }: Documento) => fornec?.end?.endNac?.cMun),
      at: `${LIST}/fornec/end/endNac/cMun`,
      origin: 'Especificação, Errors: E403; Anexo I, E0494',
      why: 'O fornecedor está num município que existe.',
      rejects: [{ ...DOCUMENTO, [`${LIST}/fornec/end/endNac/cMun`]: '3550309' }],
      accepts: [{ ...DOCUMENTO, [`${LIST}/fornec/end/endNac/cMun`]: '3304557' }],
    }),
    judgeDocumento(
      whenPresent(({ fornec }) => fornec?.end?.endNac, {
        ...cepHead('E0496', 'do fornecedor'),
        at: `${LIST}/fornec/end/endNac/CEP`,
        message: ({ cMun, CEP }) => cepInWords('E0496', CEP, cMun, 'o município do endereço do fornecedor'),
        must: ({ cMun, CEP }) => isOfState(cMun, CEP),
        rejects: [{ ...DOCUMENTO, [`${LIST}/fornec/end/endNac/CEP`]: '20040002' }],
        accepts: [DOCUMENTO],
      }),
    ),
    judgeDocumento(
      whenPresent(({ fornec }) => fornec, {
        ...annexHead('E0498'),
        at: `${LIST}/fornec/end/endExt`,
        title: 'Fornecedor com NIF sem endereço no exterior',
        message: 'O fornecedor é identificado por NIF, e falta o seu endereço no exterior. Informe fornec/end/endExt.',
        mend: 'Informe endExt completo: cPais, cEndPost, xCidade e xEstProvReg.',
        why: 'O NIF é um número fiscal de outro país, e o endereço diz de qual.',
        when: ({ NIF }) => NIF !== undefined,
        must: ({ end }) => end?.endExt !== undefined,
        rejects: [removePaths(FORNECEDOR_NO_EXTERIOR, 'fornec/end')],
        accepts: [FORNECEDOR_NO_EXTERIOR],
      }),
    ),
    judgeDocumento({
      ...annexHead('E0499'),
      ...paisHead(({ fornec }: Documento) => fornec?.end?.endExt?.cPais),
      at: `${LIST}/fornec/end/endExt/cPais`,
      title: 'O país do fornecedor não existe ou é o Brasil',
      message: ({ fornec }) =>
        `cPais ${fornec?.end?.endExt?.cPais}, no endereço do fornecedor, não é o código ISO 3166-1 de um país estrangeiro. Consulte o catálogo em /catalogo/paises; para um endereço no Brasil use endNac.`,
      mend: 'Escolha o código em /catalogo/paises; para um endereço no Brasil use endNac.',
      rejects: [{ ...FORNECEDOR_NO_EXTERIOR, [`${LIST}/fornec/end/endExt/cPais`]: 'BR' }],
      accepts: [{ ...FORNECEDOR_NO_EXTERIOR, [`${LIST}/fornec/end/endExt/cPais`]: 'US' }],
    }),
  ],
);
