/**
 * Rules of the group of the IBS and the CBS: when it is due, its operation, its recipient, its classification. Its property, its amounts of
 * third parties and the comparison of declared values have files of their own.
 */
import {
  type Classificacao,
  classificacaoOf,
  correlacoes,
  correlacoesOfSubitem,
  creditoPresumidoOf,
  cstOf,
  type Indicador,
  indicadores,
  indicadorOf,
  servicoOf,
} from '../catalogs/catalogs.ts';
import { parseChave } from '../chave.ts';
import { INICIO_IBSCBS, linhaDe, motivoDe, obrigacoes } from '../cronograma.ts';
import { type Decimal, decimal, formatDecimal } from '../decimal.ts';
import { type Facts, isOptante } from '../facts.ts';
import { creditosDevidos } from '../ibscbs.ts';
import type { Dps } from '../layout/dps.ts';
import { brazilianDate } from '../moment.ts';
import { addressInLisboa, checkEmail, municipioHead, paisHead } from './address.ts';
import { annexHead, forEach, type Patch, type Rule, whenPresent } from './rule.ts';

type Group = NonNullable<Dps['IBSCBS']>;
type Declared = Group['valores']['trib']['gIBSCBS'];

const TRIB = 'IBSCBS/valores/trib/gIBSCBS';

const declaredIn = (dps: Dps): Declared | undefined => dps.IBSCBS?.valores.trib.gIBSCBS;

const regularIn = (dps: Dps): Declared['gTribRegular'] => declaredIn(dps)?.gTribRegular;

const isOptanteIn = ({ dCompet }: Dps, { prestador }: Facts): boolean => isOptante(prestador, dCompet);

/** Services in which supply and payment may differ in time, by subitem of LC 116 (Anexo I, E0903): 10.05, 15.09, 17.12, 25.05. */
const COM_TP_OPER: ReadonlySet<string> = new Set(['1005', '1509', '1712', '2505']);

const hasServicoComTpOper = ({ serv }: Dps): boolean => COM_TP_OPER.has(serv.cServ.cTribNac.slice(0, 4));

/** Values of `tpOper`: payment or supply that refers to an earlier note. */
const COM_REFERENCIA: ReadonlySet<string | undefined> = new Set(['2', '3']);

const CEM_POR_CENTO = decimal('100.00');

/** Note 1 of September 2026 of the provider of the example. */
const CHAVE = '35503081211222333000181000000000000126091234567895';

const COMPRA_PUBLICA: Patch = { 'IBSCBS/tpEnteGov': '1', 'IBSCBS/tpOper': '1' };

const COM_NOTA_REFERIDA: Patch = {
  'IBSCBS/tpEnteGov': '1',
  'IBSCBS/tpOper': '2',
  'IBSCBS/gRefNFSe/refNFSe': CHAVE,
};

const DESTINATARIO: Patch = {
  'IBSCBS/indDest': '1',
  'IBSCBS/dest/CPF': '52998224725',
  'IBSCBS/dest/xNome': 'João Exemplo',
};

const ENDERECO_DO_DESTINATARIO: Patch = {
  ...DESTINATARIO,
  'IBSCBS/dest/end/xLgr': 'Rua das Flores',
  'IBSCBS/dest/end/nro': '10',
  'IBSCBS/dest/end/xBairro': 'Centro',
};

const NO_BRASIL: Patch = {
  ...ENDERECO_DO_DESTINATARIO,
  'IBSCBS/dest/end/endNac/cMun': '3304557',
  'IBSCBS/dest/end/endNac/CEP': '20040002',
};

const NO_EXTERIOR: Patch = {
  ...addressInLisboa('IBSCBS/dest/end'),
  ...ENDERECO_DO_DESTINATARIO,
  'IBSCBS/dest/end/endExt/cPais': 'PT',
};

const classify = (cClassTrib: string): Patch => ({
  [`${TRIB}/CST`]: cClassTrib.slice(0, 3),
  [`${TRIB}/cClassTrib`]: cClassTrib,
});

const SUSPENSO: Patch = {
  ...classify('550016'),
  [`${TRIB}/gTribRegular/CSTReg`]: '000',
  [`${TRIB}/gTribRegular/cClassTribReg`]: '000001',
};

const defer = (percentual: string): Patch => ({
  [`${TRIB}/gDif/pDifUF`]: percentual,
  [`${TRIB}/gDif/pDifMun`]: percentual,
  [`${TRIB}/gDif/pDifCBS`]: percentual,
});

const DIFERIDO: Patch = { ...classify('515001'), ...defer('100.00') };

export const IBSCBS: readonly Rule[] = [
  {
    code: 'E802',
    at: 'IBSCBS',
    title: 'Falta o grupo IBSCBS, ou um campo obrigatório dele',
    message: (dps, facts) => {
      const { dCompet, serv, prest } = dps;
      const optante = isOptanteIn(dps, facts);
      const { desde } = linhaDe(serv.cServ.cTribNac, optante);
      const regime =
        !optante && prest.regTrib.opSimpNac !== '1'
          ? ' O regime é o do cadastro do município na competência, em que o prestador não consta como optante do Simples Nacional; opSimpNac não decide.'
          : '';
      return `Falta o grupo IBSCBS, obrigatório desde ${brazilianDate(desde)} neste caso: ${motivoDe(serv.cServ.cTribNac, optante)}. Quem decide é a competência, ${brazilianDate(dCompet)}, e não o dia do envio.${regime}${sayLeftSimples(dps, facts)} Inclua IBSCBS com CST e cClassTrib.`;
    },
    mend: 'Inclua IBSCBS depois de valores, com CST de 3 dígitos e cClassTrib de 6. As alíquotas e os valores são calculados e não se enviam em XML.',
    origin: 'Especificação, IBS/CBS obligation schedule: regras 1 a 3; Errors: E802; decisão D-13',
    why: 'O grupo é devido a partir de uma data de competência: 01/10/2026 para os serviços da lista da LC 116 em geral; 01/12/2026 para os subitens 1.03, 1.05, 1.09 e 16.01 e o que está fora da lista; 01/01/2027 para os optantes do Simples Nacional.',
    when: ({ IBSCBS }) => IBSCBS === undefined,
    must: (dps, facts) => dps.dCompet < linhaDe(dps.serv.cServ.cTribNac, isOptanteIn(dps, facts)).desde,
    expected: 'IBSCBS com CST e cClassTrib',
    rejects: [
      { IBSCBS: null },
      { IBSCBS: null, dCompet: '2026-10-01' },
      // The regime that the DPS declares does not decide.
      { IBSCBS: null, 'prest/regTrib/opSimpNac': '3', 'prest/regTrib/regApTribSN': '2' },
    ],
    accepts: [
      { IBSCBS: null, dCompet: '2026-09-30' },
      { IBSCBS: null, 'serv/cServ/cTribNac': '010501' },
      { IBSCBS: null, 'serv/cServ/cTribNac': '010301' },
      { IBSCBS: null, 'serv/cServ/cTribNac': '010901' },
    ],
  },
  {
    code: 'E0850',
    at: 'IBSCBS',
    title: 'Grupo IBSCBS numa competência anterior a 2026',
    message: ({ dCompet }) =>
      `A competência é ${brazilianDate(dCompet)}, e o grupo IBSCBS só existe desde ${brazilianDate(INICIO_IBSCBS)}. Retire o grupo, ou corrija dCompet.`,
    mend: 'Retire IBSCBS de notas de competência anterior a 01/01/2026.',
    origin: 'Anexo I, E0850; decisão D-190',
    why: 'O IBS e a CBS existem desde 01/01/2026: antes não há alíquota nem classificação em vigor, nada a calcular, e uma nota de antes não os declara.',
    when: ({ IBSCBS }) => IBSCBS !== undefined,
    must: ({ dCompet }) => dCompet >= INICIO_IBSCBS,
    found: ({ dCompet }) => dCompet,
    expected: 'competência desde 01/01/2026, ou nenhum grupo IBSCBS',
    rejects: [{ dCompet: '2025-12-31' }],
    accepts: [{ dCompet: '2026-01-01' }, { dCompet: '2025-12-31', IBSCBS: null }],
  },
  whenPresent(({ IBSCBS }) => IBSCBS?.cIndOp, {
    ...annexHead('E0901', 'Anexo C'),
    at: 'IBSCBS/cIndOp',
    title: 'O indicador da operação não existe na tabela nacional',
    message: (cIndOp) =>
      indicadorOf(cIndOp) === undefined
        ? `cIndOp ${cIndOp} não existe. Escolha um indicador do Anexo C: ${indicadoresDoAnexoC()}.`
        : `cIndOp ${cIndOp} existe, mas não está no Anexo C, que é a tabela em vigor na NFS-e. Escolha um destes: ${indicadoresDoAnexoC()}.`,
    mend: 'Escolha no Anexo C o indicador da operação; para a prestação onerosa de serviços em geral é 100301. Sem cIndOp o serviço o preenche.',
    why: 'O indicador diz que operação é esta e em que lugar ela se considera feita.',
    must: (cIndOp) => indicadorOf(cIndOp)?.emAnexoC === true,
    found: (cIndOp) => cIndOp,
    expected: 'cIndOp do Anexo C, 6 dígitos',
    rejects: [{ 'IBSCBS/cIndOp': '999999' }, { 'IBSCBS/cIndOp': '010101' }],
    accepts: [{ 'IBSCBS/cIndOp': '030101' }, { 'IBSCBS/cIndOp': null }],
  }),
  whenPresent(({ IBSCBS }) => IBSCBS?.cIndOp, {
    code: 'E0901',
    at: 'IBSCBS/cIndOp',
    scope: 'aviso',
    message: (cIndOp) =>
      `cIndOp ${cIndOp} é da NFS-e Via, o documento próprio da exploração de vias; na NFS-e o Anexo VIII só o relaciona a ${listRelated(cIndOp)}. Confira o indicador; para a prestação onerosa de serviços em geral é 100301.`,
    origin: 'Anexo C, 080101; Anexo VIII; decisão D-190',
    why: 'O Anexo C tem 080101 sem dizer que endereço da DPS dá o local, porque é da NFS-e Via. Está na tabela que o ambiente nacional confere, e por isso é só um aviso.',
    when: (cIndOp) => isOfOtherDocument(indicadorOf(cIndOp)),
    must: isRelatedTo,
    rejects: [{ 'IBSCBS/cIndOp': '080101' }],
    accepts: [
      {
        ...classify('820006'),
        'serv/cServ/cTribNac': '220101',
        'serv/cServ/cNBS': '106042100',
        'IBSCBS/cIndOp': '080101',
      },
    ],
  }),
  {
    ...annexHead('E0903'),
    at: 'IBSCBS/tpOper',
    title: 'Falta o tipo da operação',
    message: (dps) =>
      dps.IBSCBS?.tpEnteGov === undefined
        ? `O serviço ${dps.serv.cServ.cTribNac} (10.05, 15.09, 17.12 ou 25.05) pede tpOper, a ordem entre o fornecimento e o pagamento, de 1 a 5. Inclua tpOper.`
        : `A compra é governamental (tpEnteGov ${dps.IBSCBS.tpEnteGov}) e pede tpOper, a ordem entre o fornecimento e o pagamento, de 1 a 5. Inclua tpOper.`,
    mend: 'Inclua tpOper, de 1 a 5; se a compra não é de um ente governamental, retire tpEnteGov.',
    why: 'Nas compras governamentais e nos serviços 10.05, 15.09, 17.12 e 25.05 fornecimento e pagamento podem vir em notas diferentes.',
    // A sender that assesses nothing sends only CST and cClassTrib (schedule, rule 7).
    when: (dps) =>
      dps.IBSCBS !== undefined &&
      (dps.IBSCBS.tpEnteGov !== undefined || (hasServicoComTpOper(dps) && isAssessed(dps.IBSCBS))),
    must: ({ IBSCBS }) => IBSCBS?.tpOper !== undefined,
    rejects: [{ 'IBSCBS/tpEnteGov': '1' }, { 'serv/cServ/cTribNac': '171201' }],
    accepts: [
      COMPRA_PUBLICA,
      { 'serv/cServ/cTribNac': '171201', 'IBSCBS/tpOper': '5' },
      { ...classify('410004'), 'serv/cServ/cTribNac': '171201' },
    ],
  },
  {
    ...annexHead('E0904'),
    at: 'IBSCBS/tpOper',
    title: 'Tipo da operação fora dos casos em que cabe',
    message: ({ serv }) =>
      `tpOper só cabe em compras governamentais, com tpEnteGov, e nos serviços 10.05, 15.09, 17.12 e 25.05; este é o ${serv.cServ.cTribNac}. Retire tpOper, ou informe tpEnteGov.`,
    mend: 'Retire tpOper; numa compra governamental informe também tpEnteGov.',
    why: 'Fora das compras governamentais e dos serviços 10.05, 15.09, 17.12 e 25.05 fornecimento e pagamento não se separam na nota.',
    when: ({ IBSCBS }) => IBSCBS?.tpOper !== undefined,
    must: (dps) => dps.IBSCBS?.tpEnteGov !== undefined || hasServicoComTpOper(dps),
    found: ({ IBSCBS }) => IBSCBS?.tpOper,
    rejects: [{ 'IBSCBS/tpOper': '1' }],
    accepts: [COMPRA_PUBLICA],
  },
  {
    ...annexHead('E0905'),
    at: 'IBSCBS/gRefNFSe',
    title: 'Faltam as notas a que a operação se refere',
    message: ({ IBSCBS }) =>
      `Com tpOper ${IBSCBS?.tpOper} a operação continua a de outra nota. Inclua gRefNFSe com a chave dela, ou corrija tpOper.`,
    mend: 'Inclua em gRefNFSe a chave de cada nota referida, ou corrija tpOper.',
    why: 'O fornecimento ou o pagamento que vem depois refere-se à nota do que veio antes.',
    when: ({ IBSCBS }) => IBSCBS !== undefined && COM_REFERENCIA.has(IBSCBS.tpOper),
    must: ({ IBSCBS }) => IBSCBS?.gRefNFSe !== undefined,
    rejects: [{ ...COMPRA_PUBLICA, 'IBSCBS/tpOper': '2' }],
    accepts: [COM_NOTA_REFERIDA],
  },
  {
    ...annexHead('E0906'),
    at: 'IBSCBS/gRefNFSe',
    title: 'Notas referidas numa operação que não se refere a nenhuma',
    message: ({ IBSCBS }) =>
      `gRefNFSe só cabe com tpOper 2 ou 3, e ${IBSCBS?.tpOper === undefined ? 'tpOper não veio' : `veio tpOper ${IBSCBS.tpOper}`}. Retire gRefNFSe, ou corrija tpOper.`,
    mend: 'Retire gRefNFSe, ou envie tpOper 2 ou 3.',
    why: 'Só o fornecimento ou o pagamento que vem depois do outro se refere a uma nota anterior.',
    when: ({ IBSCBS }) => IBSCBS?.gRefNFSe !== undefined,
    must: ({ IBSCBS }) => COM_REFERENCIA.has(IBSCBS?.tpOper),
    rejects: [{ 'IBSCBS/gRefNFSe/refNFSe': CHAVE }, { ...COMPRA_PUBLICA, 'IBSCBS/gRefNFSe/refNFSe': CHAVE }],
    accepts: [COM_NOTA_REFERIDA],
  },
  forEach('IBSCBS/gRefNFSe/refNFSe', ({ IBSCBS }) => IBSCBS?.gRefNFSe?.refNFSe, {
    ...annexHead('E0907'),
    at: 'IBSCBS/gRefNFSe/refNFSe',
    title: 'A chave da nota referida não confere',
    message: (chave) =>
      `${chave} não é uma chave de NFS-e: a estrutura ou o dígito verificador não conferem. Copie a chave inteira da nota referida.`,
    mend: 'Copie a chave da nota referida como está nela, com as 50 posições.',
    why: 'O dígito verificador denuncia o erro de cópia, e uma chave errada não identifica nota nenhuma.',
    must: (chave) => parseChave(chave) !== undefined,
    found: (chave) => chave,
    expected: 'chave de uma NFS-e com o dígito verificador certo',
    rejects: [{ ...COM_NOTA_REFERIDA, 'IBSCBS/gRefNFSe/refNFSe': `${CHAVE.slice(0, 49)}6` }],
    accepts: [COM_NOTA_REFERIDA],
  }),
  {
    ...annexHead('E0910'),
    at: 'IBSCBS/dest',
    title: 'Destinatário identificado, e o indicador diz que é o tomador',
    message:
      'Com indDest 0 o destinatário é o próprio tomador, e dest não se envia. Retire dest, ou envie indDest 1 se o destinatário é outro.',
    mend: 'Retire dest, ou envie indDest 1.',
    why: 'O destinatário só se identifica quando não é o tomador, que já está identificado.',
    when: ({ IBSCBS }) => IBSCBS?.dest !== undefined,
    must: ({ IBSCBS }) => IBSCBS?.indDest !== '0',
    found: ({ IBSCBS }) => IBSCBS?.indDest,
    expected: 'indDest 1',
    rejects: [{ ...DESTINATARIO, 'IBSCBS/indDest': '0' }],
    accepts: [DESTINATARIO, { ...DESTINATARIO, 'IBSCBS/indDest': null }],
  },
  {
    code: 'E0910',
    at: 'IBSCBS/dest',
    scope: 'aviso',
    message:
      'Com indDest 1 o destinatário é outro que não o tomador, e dest não veio: sem o endereço dele o local da operação pode ficar sendo o do prestador. Identifique o destinatário em dest, ou envie indDest 0.',
    origin: 'Leiaute da DPS 1.01, IBSCBS/dest; decisão D-15',
    why: 'O endereço do destinatário dá, em muitas operações, o local onde o IBS e a CBS incidem.',
    when: ({ IBSCBS }) => IBSCBS?.indDest === '1',
    must: ({ IBSCBS }) => IBSCBS?.dest !== undefined,
    rejects: [{ 'IBSCBS/indDest': '1' }],
    accepts: [DESTINATARIO],
  },
  {
    ...municipioHead('no endereço do destinatário', ({ IBSCBS }: Dps) => IBSCBS?.dest?.end?.endNac?.cMun),
    at: 'IBSCBS/dest/end/endNac/cMun',
    origin: 'Especificação, Errors: E403; Anexo I, E0920',
    why: 'O município do destinatário pode ser o local da operação.',
    rejects: [{ ...NO_BRASIL, 'IBSCBS/dest/end/endNac/cMun': '3304558' }],
    accepts: [NO_BRASIL],
  },
  {
    code: 'E0246',
    ...paisHead(
      ({ IBSCBS }: Dps) => IBSCBS?.dest?.end?.endExt?.cPais,
      'para endereço no Brasil use IBSCBS/dest/end/endNac.',
    ),
    at: 'IBSCBS/dest/end/endExt/cPais',
    origin: 'Especificação, Errors: E0246',
    rejects: [
      { ...NO_EXTERIOR, 'IBSCBS/dest/end/endExt/cPais': 'BR' },
      { ...NO_EXTERIOR, 'IBSCBS/dest/end/endExt/cPais': 'XQ' },
    ],
    accepts: [NO_EXTERIOR],
  },
  {
    ...checkEmail(
      {
        code: 'E0930',
        at: 'IBSCBS/dest/email',
        whose: 'do destinatário',
        rejects: [{ ...DESTINATARIO, 'IBSCBS/dest/email': 'joao.exemplo.com' }],
        accepts: [{ ...DESTINATARIO, 'IBSCBS/dest/email': 'joao@exemplo.com.br' }],
      },
      ({ IBSCBS }) => IBSCBS?.dest?.email,
    ),
    message: ({ IBSCBS }) =>
      `${IBSCBS?.dest?.email} não tem a forma de um endereço de e-mail. Corrija o e-mail do destinatário, ou retire-o.`,
    mend: 'Corrija o e-mail do destinatário, ou retire o elemento, que é opcional.',
    why: 'Um e-mail tem um nome, um @ e um domínio com ponto.',
  },
  whenPresent(declaredIn, {
    code: 'E0002',
    at: `${TRIB}/CST`,
    message: ({ CST }) =>
      `CST ${CST} não existe na tabela de situações tributárias do IBS e da CBS. Escolha o CST pela classificação: são os três primeiros dígitos de cClassTrib.`,
    origin: 'Especificação, Issuance: regra 3; tabela de CST e cClassTrib',
    why: 'A situação tributária decide se há IBS e CBS a calcular e que grupos a nota tem.',
    must: ({ CST }) => cstOf(CST) !== undefined,
    found: ({ CST }) => CST,
    expected: 'CST da tabela do IBS e da CBS, 3 dígitos',
    rejects: [{ [`${TRIB}/CST`]: '999' }, classify('999001')],
    accepts: [classify('400001')],
  }),
  whenPresent(declaredIn, {
    code: 'E0958',
    at: `${TRIB}/cClassTrib`,
    title: 'Classificação tributária inexistente, fora de vigência ou que não é de serviços',
    message: ({ cClassTrib }, { dCompet }) =>
      `cClassTrib ${cClassTrib} ${whyUnusable(classificacaoOf(cClassTrib), dCompet)}. Escolha na tabela vigente uma classificação válida para serviços.`,
    mend: 'Escolha na tabela de classificação tributária do IBS e da CBS uma que valha para NFS-e e esteja em vigor na competência.',
    origin: 'Especificação, Issuance: regra 3; Anexo I, E0958',
    why: 'A classificação decide alíquota, redução e os grupos do IBS e da CBS na nota.',
    when: (declared) => !isOfUnknownCst(declared),
    must: ({ cClassTrib }, { dCompet }) => isUsable(classificacaoOf(cClassTrib), dCompet),
    found: ({ cClassTrib }) => cClassTrib,
    expected: 'classificação tributária vigente e válida para NFS-e, 6 dígitos',
    rejects: [{ [`${TRIB}/cClassTrib`]: '000999' }, { [`${TRIB}/cClassTrib`]: '000002' }, classify('222001')],
    accepts: [classify('200052')],
  }),
  whenPresent(declaredIn, {
    code: 'E0959',
    at: `${TRIB}/cClassTrib`,
    title: 'A classificação tributária é de outro CST',
    message: ({ CST, cClassTrib }) =>
      `cClassTrib ${cClassTrib} é do CST ${cClassTrib.slice(0, 3)}, e o CST informado é ${CST}. Os três primeiros dígitos devem ser o CST.`,
    mend: 'Corrija o CST pelos três primeiros dígitos de cClassTrib, ou escolha uma classificação do CST informado.',
    origin: 'Anexo I, E0959',
    why: 'Cada classificação pertence a um só CST; com dois que discordam não há o que calcular.',
    // A classification that is in no table is reported alone (E0958).
    when: ({ CST, cClassTrib }) => cstOf(CST) !== undefined && classificacaoOf(cClassTrib) !== undefined,
    must: ({ CST, cClassTrib }) => cClassTrib.startsWith(CST),
    found: ({ CST, cClassTrib }) => `CST ${CST}, cClassTrib ${cClassTrib}`,
    rejects: [{ [`${TRIB}/CST`]: '200' }],
    accepts: [classify('410004')],
  }),
  whenPresent((dps) => declaredIn(dps)?.cCredPres, {
    code: 'E1561',
    at: `${TRIB}/cCredPres`,
    scope: 'nacional',
    title: 'Crédito presumido que a nota não pode levar',
    message: whyWithoutUse,
    mend: 'Retire cCredPres, ou use, numa competência em que ele vale, um que se use em NFS-e: 01 ou 02, desde 01/01/2027.',
    origin: 'Anexo I, E1561 e E1576; tabela de créditos presumidos',
    why: 'A DPS com cCredPres obriga a nota a trazer o valor do crédito, que só um código em vigor e de serviços tem, e o ambiente nacional recusa a nota sem ele.',
    must: (cCredPres, { dCompet }) => creditosDevidos(cCredPres, dCompet) !== undefined,
    found: (cCredPres) => cCredPres,
    rejects: [{ [`${TRIB}/cCredPres`]: '02' }, { [`${TRIB}/cCredPres`]: '99' }],
    accepts: [{ [`${TRIB}/cCredPres`]: null }],
  }),
  whenPresent(declaredIn, {
    ...annexHead('E0964'),
    at: `${TRIB}/gTribRegular`,
    title: 'Tributação regular numa classificação que não a pede',
    message: ({ cClassTrib }) =>
      `cClassTrib ${cClassTrib} não pede a tributação regular. Retire gTribRegular, ou corrija a classificação.`,
    mend: 'Retire gTribRegular, ou corrija cClassTrib.',
    why: 'A tributação regular diz o que se pagaria sem a suspensão, e só cabe onde há uma.',
    when: ({ gTribRegular, cClassTrib }) => gTribRegular !== undefined && classificacaoOf(cClassTrib) !== undefined,
    must: ({ cClassTrib }) => classificacaoOf(cClassTrib)?.ind_gTribRegular === true,
    rejects: [{ ...SUSPENSO, ...classify('000001') }],
    accepts: [SUSPENSO],
  }),
  whenPresent(declaredIn, {
    ...annexHead('E0965'),
    at: `${TRIB}/gTribRegular`,
    title: 'Falta a tributação regular',
    message: ({ cClassTrib }) =>
      `cClassTrib ${cClassTrib} é de uma operação com suspensão e pede a tributação que teria sem ela. Inclua gTribRegular com CSTReg e cClassTribReg.`,
    mend: 'Inclua gTribRegular com o CST e a classificação que a operação teria sem a suspensão.',
    why: 'Na suspensão a nota mostra o que se pagaria se a condição não se cumprisse.',
    when: ({ gTribRegular }) => gTribRegular === undefined,
    must: ({ cClassTrib }) => classificacaoOf(cClassTrib)?.ind_gTribRegular !== true,
    rejects: [classify('550016')],
    accepts: [SUSPENSO],
  }),
  whenPresent(regularIn, {
    ...annexHead('E0969'),
    at: `${TRIB}/gTribRegular/cClassTribReg`,
    title: 'Classificação da tributação regular inexistente, fora de vigência ou que não é de serviços',
    message: ({ cClassTribReg }, { dCompet }) =>
      `cClassTribReg ${cClassTribReg} ${whyUnusable(classificacaoOf(cClassTribReg), dCompet)}. Escolha na tabela vigente uma classificação válida para serviços.`,
    mend: 'Escolha na tabela de classificação tributária do IBS e da CBS uma que valha para NFS-e e esteja em vigor na competência.',
    why: 'A tributação regular se calcula por uma classificação, que tem de existir e ser de serviços.',
    must: ({ cClassTribReg }, { dCompet }) => isUsable(classificacaoOf(cClassTribReg), dCompet),
    found: ({ cClassTribReg }) => cClassTribReg,
    expected: 'classificação tributária vigente e válida para NFS-e, 6 dígitos',
    rejects: [{ ...SUSPENSO, [`${TRIB}/gTribRegular/cClassTribReg`]: '000999' }],
    accepts: [
      {
        ...SUSPENSO,
        [`${TRIB}/gTribRegular/CSTReg`]: '200',
        [`${TRIB}/gTribRegular/cClassTribReg`]: '200052',
      },
    ],
  }),
  whenPresent(regularIn, {
    ...annexHead('E0970'),
    at: `${TRIB}/gTribRegular/cClassTribReg`,
    title: 'A classificação da tributação regular é de outro CST',
    message: ({ CSTReg, cClassTribReg }) =>
      `cClassTribReg ${cClassTribReg} é do CST ${cClassTribReg.slice(0, 3)}, e CSTReg é ${CSTReg}. Os três primeiros dígitos devem ser o CSTReg.`,
    mend: 'Corrija CSTReg pelos três primeiros dígitos de cClassTribReg.',
    why: 'Cada classificação pertence a um só CST.',
    must: ({ CSTReg, cClassTribReg }) => cClassTribReg.startsWith(CSTReg),
    found: ({ CSTReg, cClassTribReg }) => `CSTReg ${CSTReg}, cClassTribReg ${cClassTribReg}`,
    rejects: [{ ...SUSPENSO, [`${TRIB}/gTribRegular/CSTReg`]: '200' }],
    accepts: [SUSPENSO],
  }),
  whenPresent(declaredIn, {
    ...annexHead('E0971'),
    at: `${TRIB}/gDif`,
    title: 'Diferimento num CST que não o permite',
    message: ({ CST }) => `O CST ${CST} não permite diferimento. Retire gDif, ou corrija CST e cClassTrib.`,
    mend: 'Retire gDif; o diferimento só cabe nos CST 510 e 515.',
    why: 'O diferimento adia o tributo, e só a situação tributária que o prevê o permite.',
    when: ({ gDif, CST }) => gDif !== undefined && cstOf(CST) !== undefined,
    must: ({ CST }) => cstOf(CST)?.ind_gDif === true,
    found: ({ CST }) => CST,
    rejects: [defer('100.00')],
    accepts: [DIFERIDO],
  }),
  whenPresent(declaredIn, {
    ...annexHead('E0972'),
    at: `${TRIB}/gDif`,
    title: 'Falta o grupo do diferimento',
    message: ({ CST }) =>
      `O CST ${CST} é de diferimento e pede gDif com pDifUF, pDifMun e pDifCBS. Inclua gDif, com 100.00 em cada um, ou corrija CST e cClassTrib.`,
    mend: 'Inclua gDif com pDifUF, pDifMun e pDifCBS 100.00, ou corrija CST e cClassTrib.',
    why: 'A nota de uma operação diferida mostra quanto foi diferido.',
    when: ({ gDif }) => gDif === undefined,
    must: ({ CST }) => cstOf(CST)?.ind_gDif !== true,
    found: ({ CST }) => CST,
    rejects: [classify('515001')],
    accepts: [DIFERIDO],
  }),
  whenPresent(findPermittedDeferral, {
    code: 'E1567',
    at: `${TRIB}/gDif`,
    scope: 'nacional',
    title: 'O cálculo oficial difere o tributo por inteiro',
    message: ({ pDifUF, pDifMun, pDifCBS }) =>
      `gDif declara ${[pDifUF, pDifMun, pDifCBS].map(formatDecimal).join(', ')} (IBS estadual, IBS municipal, CBS), e o cálculo oficial difere o tributo por inteiro: a nota traria dois percentuais que se contradizem. Envie 100.00 nos três.`,
    mend: 'Envie 100.00 em pDifUF, pDifMun e pDifCBS, que é o que o cálculo oficial aplica.',
    origin: 'Anexo I, E1567, E1571 e E1581; decisão D-115',
    why: 'O ambiente nacional confere o valor diferido com o do cálculo oficial, que não conhece diferimento parcial: com outro percentual a DPS e o cálculo da mesma nota se contradizem.',
    must: isWhole,
    rejects: [{ ...classify('515001'), ...defer('50.00') }],
    accepts: [DIFERIDO],
  }),
];

/** The deferral, where the CST permits one. */
function findPermittedDeferral(dps: Dps): Declared['gDif'] {
  const declared = declaredIn(dps);
  return declared?.gDif !== undefined && cstOf(declared.CST)?.ind_gDif === true ? declared.gDif : undefined;
}

function isWhole({ pDifUF, pDifMun, pDifCBS }: Readonly<Record<'pDifUF' | 'pDifMun' | 'pDifCBS', Decimal>>): boolean {
  return pDifUF === CEM_POR_CENTO && pDifMun === CEM_POR_CENTO && pDifCBS === CEM_POR_CENTO;
}

/** Whether there is IBS and CBS to assess; otherwise CST and cClassTrib are enough (schedule, rule 7). */
function isAssessed({ valores }: Group): boolean {
  return cstOf(valores.trib.gIBSCBS.CST)?.ind_gIBSCBS === true;
}

/** The date of a provider that left the Simples Nacional after the date of the segment: the later of the two. */
function sayLeftSimples({ dCompet, serv }: Dps, { prestador }: Facts): string {
  if (isOptante(prestador, dCompet)) return '';
  const { segmento, desde } = linhaDe(serv.cServ.cTribNac, false);
  const ended = prestador.simples.flatMap(({ fim = '' }) => (desde <= fim && fim < dCompet ? [fim] : []));
  const ultimo = ended.toSorted().at(-1);
  if (ultimo === undefined) return '';
  const seu = obrigacoes(prestador.simples, dCompet).find((obrigacao) => obrigacao.segmento === segmento)!.desde;
  return ` Este prestador foi optante do Simples Nacional até ${brazilianDate(ultimo)}, e o deve desde ${brazilianDate(seu)}.`;
}

/** A CST that does not exist has no classifications: the mistake is one, reported for the CST. */
function isOfUnknownCst({ CST, cClassTrib }: Declared): boolean {
  return cstOf(CST) === undefined && cClassTrib.startsWith(CST);
}

/** No classification is in force before the first competence of IBS and CBS: the mistake is one, reported for the group (E0850). */
function isUsable(classificacao: Classificacao | undefined, dCompet: string): boolean {
  if (classificacao === undefined || !classificacao.indNFSe) return false;
  if (dCompet < INICIO_IBSCBS) return true;
  const { inicioVigencia, fimVigencia } = classificacao;
  return inicioVigencia <= dCompet && (fimVigencia === undefined || dCompet <= fimVigencia);
}

/** Why a classification cannot be used, as the text after its code. */
function whyUnusable(classificacao: Classificacao | undefined, dCompet: string): string {
  if (classificacao === undefined) return 'não existe na tabela de classificação tributária do IBS e da CBS';
  const { inicioVigencia, fimVigencia, indNFSe } = classificacao;
  if (!indNFSe) return 'existe, mas não se usa em NFS-e';
  const vigencia = fimVigencia === undefined ? 'desde' : `de ${brazilianDate(inicioVigencia)} até`;
  const limite = brazilianDate(fimVigencia ?? inicioVigencia);
  return `não está em vigor na competência ${brazilianDate(dCompet)}: vale ${vigencia} ${limite}`;
}

/** Why a presumed credit has no use: it is not in the table, is not for services, or is not in force yet. */
function whyWithoutUse(cCredPres: string): string {
  const credito = creditoPresumidoOf(cCredPres);
  if (credito === undefined) {
    return `cCredPres ${cCredPres} não existe na tabela de créditos presumidos do IBS e da CBS. Retire cCredPres.`;
  }
  if (!credito.indNFSe) return `cCredPres ${cCredPres} existe, mas não se usa em NFS-e. Retire cCredPres.`;
  return `cCredPres ${cCredPres} só vale desde a competência ${brazilianDate(credito.inicioCBS!)}. Retire cCredPres, ou confira dCompet.`;
}

function indicadoresDoAnexoC(): string {
  return indicadores()
    .filter((indicador) => indicador.emAnexoC && !isOfOtherDocument(indicador))
    .map(({ codigo }) => codigo)
    .join(', ');
}

/** An indicator of Anexo C that is not for the NFS-e: 080101, of the NFS-e Via. */
function isOfOtherDocument(indicador: Indicador | undefined): boolean {
  return indicador?.emAnexoC === true && indicador.validoNFSe === false;
}

/** Whether Anexo VIII has the sent indicator for this service and this classification. */
function isRelatedTo(cIndOp: string, dps: Dps): boolean {
  const subitem = servicoOf(dps.serv.cServ.cTribNac)?.subitem;
  if (subitem === undefined) return false;
  const cClassTrib = declaredIn(dps)?.cClassTrib;
  return correlacoesOfSubitem(subitem).some((row) => row.cIndOp === cIndOp && row.cClassTrib === cClassTrib);
}

/** The services and classifications of the indicator in Anexo VIII. */
function listRelated(cIndOp: string): string {
  const pairs = correlacoes()
    .filter((row) => row.cIndOp === cIndOp)
    .map(({ subitem, cClassTrib }) => `${subitem} com cClassTrib ${cClassTrib}`);
  return [...new Set(pairs)].join(', ');
}
