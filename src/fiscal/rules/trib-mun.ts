/**
 * Rules of the ISSQN, `valores/trib/tribMun`. The layout checks the order of the elements (E203), the lists of values and the range of
 * `pAliq` (E0002). It also checks the thirty digits of `nProcesso` (E0003).
 *
 * The rules of a taker or intermediary that issues (E0650, E0652, E0672, E0673 of the standard) are absent: such a note is refused as a
 * whole (E9996). The rules by the municipality's register of benefits are in `beneficio.ts`.
 */
import {
  aliquotasInWords,
  assessesInSimples,
  howToNameOne,
  isAmong,
  type Registro,
  registroOf,
  sandboxAliquotaOf,
  whyNoneApplies,
} from '../aliquota.ts';
import type { IssqnAmounts } from '../assess.ts';
import { paisOf, servicoOf } from '../catalogs/catalogs.ts';
import { type Decimal, decimal, formatDecimal, ZERO } from '../decimal.ts';
import type { Facts } from '../facts.ts';
import { ALIQUOTA_DA_NOTA_MAX, ISS_MAX, ISS_MIN } from '../iss.ts';
import type { Dps } from '../layout/dps.ts';
import {
  ALIQUOTA_COM_BENEFICIO,
  BENEFICIO_REGISTRADO,
  dispensesWithAliquota,
  hasBeneficio,
  RETENCAO_NA_ISENCAO,
} from './beneficio.ts';
import { INPUTS } from './inputs.ts';
import { type AmountRule, annexHead, ofPart, type Patch, type Rule, whenPresent } from './rule.ts';
import { COMERCIO_EXTERIOR, TOMADOR_NO_EXTERIOR } from './toma.ts';

/** Subitems in which a municipality may go below the minimum. LC 116/2003, art. 8-A § 1. */
const WITHOUT_MINIMUM_RATE: ReadonlySet<string> = new Set(['07.02', '07.05', '16.01']);

/** The one code without ISSQN and ICMS. */
const WITHOUT_ISSQN = '990101';

/** Roads: the tax is divided among municipalities, and nobody withholds it. */
const RODOVIA = '220101';

const IMUNE: Patch = {
  'valores/trib/tribMun/tribISSQN': '2',
  'valores/trib/tribMun/tpImunidade': '1',
  'valores/trib/tribMun/pAliq': null,
};

const NAO_INCIDENCIA: Patch = { 'valores/trib/tribMun/tribISSQN': '4', 'valores/trib/tribMun/pAliq': null };

/** A service whose place is the provider's, with its result abroad. */
const EXPORTACAO: Patch = {
  ...TOMADOR_NO_EXTERIOR,
  'valores/trib/tribMun/tribISSQN': '3',
  'valores/trib/tribMun/cPaisResult': 'PT',
  'valores/trib/tribMun/pAliq': null,
};

const EXPORTACAO_SEM_PAIS: Patch = {
  ...TOMADOR_NO_EXTERIOR,
  'valores/trib/tribMun/tribISSQN': '3',
  'valores/trib/tribMun/pAliq': null,
};

const SUSPENSA: Patch = {
  'valores/trib/tribMun/exigSusp/tpSusp': '1',
  'valores/trib/tribMun/exigSusp/nProcesso': '000000000012345678920268260100',
  'valores/trib/tribMun/pAliq': null,
};

const MEI: Patch = { 'prest/regTrib/opSimpNac': '2', 'valores/trib/tribMun/pAliq': null };

const SIMPLES: Patch = { 'prest/regTrib/opSimpNac': '3', 'prest/regTrib/regApTribSN': '1' };

const NO_DAS: Patch = { ...SIMPLES, 'valores/trib/tribMun/pAliq': null };

const FORA_DO_SIMPLES_SEM_ALIQUOTA: Patch = {
  'prest/regTrib/opSimpNac': '3',
  'prest/regTrib/regApTribSN': '2',
  'valores/trib/tribMun/pAliq': null,
};

const SIMPLES_RETIDO: Patch = { ...SIMPLES, 'valores/trib/tribMun/tpRetISSQN': '2' };

/** A partnership of professionals. */
const REGIME_ESPECIAL: Patch = { 'prest/regTrib/regEspTrib': '6', 'valores/trib/tribMun/pAliq': null };

const BENEFICIO: Patch = {
  'valores/trib/tribMun/BM/nBM': '35503080400001',
  'valores/trib/tribMun/BM/pRedBCBM': '50.00',
};

/** The lowest rate of the annexes of LC 123/2006, in percent (Anexo I, E0621 and E0628). */
const SIMPLES_MINIMUM = decimal('1.80');

const readAliquotaDeclarada = ({ valores }: Dps): Decimal | undefined => valores.trib.tribMun.pAliq;

const isTaxable = ({ valores }: Dps): boolean => valores.trib.tribMun.tribISSQN === '1';

const isSuspended = (dps: Dps): boolean => isTaxable(dps) && dps.valores.trib.tribMun.exigSusp !== undefined;

const isMei = ({ prest }: Dps): boolean => prest.regTrib.opSimpNac === '2';

const isWithheld = ({ valores }: Dps): boolean => valores.trib.tribMun.tpRetISSQN !== '1';

const hasSpecialRegime = ({ prest }: Dps): boolean => prest.regTrib.regEspTrib !== '0';

/** The case of an export in the national export sheet, for a provision in Brazil. */
type Exportacao = 'no_exterior' | 'com_pais' | 'sem_exportacao';

/** Anexo I v1.01, sheet EXPORTACAO_EMISSÃO_NFS-e; undefined for an operation that is no export, or a service that does not exist. */
function exportacaoOf({ serv, toma, valores }: Dps): Exportacao | undefined {
  if (valores.trib.tribMun.tribISSQN !== '3') return undefined;
  if (serv.locPrest.cPaisPrestacao !== undefined) return 'no_exterior';
  switch (servicoOf(serv.cServ.cTribNac)?.regra) {
    case 'EP':
      return 'com_pais';
    case 'ET':
      return toma?.end?.endNac === undefined ? 'com_pais' : 'sem_exportacao';
    case 'LP':
      return 'sem_exportacao';
    default:
      return undefined;
  }
}

/** The elements of a DPS that indicate an export. */
function signsOfExport({ serv, toma, interm, valores }: Dps): readonly string[] {
  return [
    ...(serv.comExt === undefined ? [] : ['comExt']),
    ...(valores.trib.tribMun.cPaisResult === undefined ? [] : ['cPaisResult']),
    ...(serv.locPrest.cPaisPrestacao === undefined ? [] : ['cPaisPrestacao']),
    ...(toma?.end?.endExt === undefined ? [] : ['toma/end/endExt']),
    ...(interm?.end?.endExt === undefined ? [] : ['interm/end/endExt']),
  ];
}

/** Why a value of the ISSQN is not allowed in a DPS, and an example DPS. */
type Ground = Pick<Rule, 'code' | 'title' | 'mend' | 'origin' | 'why' | 'scope' | 'national'> & {
  readonly when: (dps: Dps) => boolean;
  /** The beginning of the message. */
  readonly because: (dps: Dps) => string;
  readonly example: Patch;
};

/** The rate, if the note shows none. */
function forbidAliquota({ because, example, when, ...ground }: Ground): Rule {
  return whenPresent(readAliquotaDeclarada, {
    ...ground,
    at: 'valores/trib/tribMun/pAliq',
    message: (_pAliq, dps) => `${because(dps)}, e a nota não tem alíquota. Retire pAliq.`,
    when: (_pAliq, dps) => when(dps),
    must: () => false,
    found: formatDecimal,
    rejects: [{ ...example, 'valores/trib/tribMun/pAliq': '2.00' }],
    accepts: [example],
  });
}

const DECLARADOS = [
  { at: 'NFSe/infNFSe/valores/vBC', name: 'valor_base_calculo', what: 'a base de cálculo declarada' },
  { at: 'NFSe/infNFSe/valores/vISSQN', name: 'valor_issqn', what: 'o ISSQN declarado' },
] as const;

/** The declarations of a JSON body, if the note shows only a net value. */
function forbidDeclared({ because, example, when, ...ground }: Ground): readonly Rule[] {
  return DECLARADOS.map(({ at, name, what }) =>
    whenPresent((_dps, _facts, declarado) => declarado[name], {
      ...ground,
      at,
      message: (_declared, dps) => `${because(dps)}, e a nota só leva o valor líquido. Retire ${what}.`,
      when: (_declared, dps) => when(dps),
      must: () => false,
      found: formatDecimal,
      rejects: [{ ...example, [`=${name}`]: '10.00' }],
      accepts: [example],
    }),
  );
}

/** The municipal benefit, if there is no base for it to reduce. */
function forbidBenefit({ because, example, ...ground }: Ground): Rule {
  return {
    ...ground,
    at: 'valores/trib/tribMun/BM',
    message: (dps) => `${because(dps)}, e o benefício municipal não cabe. Retire o grupo BM.`,
    must: () => false,
    rejects: [{ ...BENEFICIO, ...example }],
    accepts: [example],
  };
}

/** The retention, if there is nothing to withhold. */
function forbidRetention({ because, example, ...ground }: Ground): Rule {
  return {
    ...ground,
    at: 'valores/trib/tribMun/tpRetISSQN',
    message: (dps) =>
      `${because(dps)}, e não há ISSQN que se retenha: veio tpRetISSQN ${dps.valores.trib.tribMun.tpRetISSQN}. Envie tpRetISSQN 1.`,
    must: ({ valores }) => valores.trib.tribMun.tpRetISSQN === '1',
    found: ({ valores }) => valores.trib.tribMun.tpRetISSQN,
    expected: '1',
    rejects: [{ ...example, 'valores/trib/tribMun/tpRetISSQN': '2' }],
    accepts: [example],
  };
}

/** The grounds exclude one another, so that one mistake is one fault: no ISSQN, suspended, MEI, special regime, Simples. */
const SEM_ISSQN: Ground = {
  code: 'E1303',
  title: 'Valores do ISSQN numa operação sem ISSQN',
  mend: 'Retire alíquota, base e ISSQN, ou corrija tribISSQN.',
  origin: 'Especificação, DPS: tribMun e Errors: E1303; Anexo I, E1303',
  why: 'Com tribISSQN 2, 3 ou 4 a nota traz só o valor líquido: base, alíquota e imposto ficam de fora.',
  when: (dps) => !isTaxable(dps),
  because: ({ valores }) => `tribISSQN ${valores.trib.tribMun.tribISSQN} diz que não há ISSQN`,
  example: IMUNE,
};

const COM_SUSPENSAO: Ground = {
  code: 'E1311',
  title: 'Valores do ISSQN com a exigibilidade suspensa',
  mend: 'Retire pAliq e o que declarar base e ISSQN, e envie tpRetISSQN 1; ou retire exigSusp.',
  origin: 'Especificação, DPS: tribMun; Errors: E1311; Anexo I, E1311',
  why: 'Com exigSusp a nota traz só o valor líquido: pAliq, base, ISSQN e ISSQN retido não se enviam, e não há retenção.',
  when: isSuspended,
  because: () => 'A exigibilidade do ISSQN está suspensa (exigSusp)',
  example: SUSPENSA,
};

const DE_MEI: Ground = {
  ...annexHead('E1302'),
  title: 'Valores do ISSQN na nota de um MEI',
  mend: 'Retire base e ISSQN, ou corrija opSimpNac.',
  why: 'O MEI paga o ISSQN num valor fixo mensal, e a sua nota traz só o valor líquido.',
  when: (dps) => isMei(dps) && isTaxable(dps) && !isSuspended(dps),
  because: () => 'O prestador é MEI (opSimpNac 2)',
  example: MEI,
};

const EM_REGIME_ESPECIAL: Ground = {
  ...annexHead('E1307'),
  title: 'Valores do ISSQN na nota de um prestador em regime especial',
  mend: 'Retire base e ISSQN, ou corrija regEspTrib.',
  why: 'Num regime especial o ISSQN se apura fora da nota, que traz só o valor líquido.',
  when: (dps) => hasSpecialRegime(dps) && !isMei(dps) && isTaxable(dps) && !isSuspended(dps),
  because: ({ prest }) => `O prestador está em regime especial (regEspTrib ${prest.regTrib.regEspTrib})`,
  example: REGIME_ESPECIAL,
};

const DENTRO_DO_SIMPLES: Ground = {
  code: 'E0625',
  scope: 'nacional',
  title: 'Alíquota, base ou ISSQN de quem o paga pelo Simples Nacional',
  mend: 'Retire alíquota, base e ISSQN. Se o ISSQN é retido, informe tpRetISSQN 2 ou 3; se é apurado por fora do Simples, regApTribSN 2 ou 3.',
  origin: 'Anexo I, E0625 e E0631; LC 123/2006, arts. 13 e 18; decisão D-191',
  why: 'Quem apura o ISSQN pelo Simples Nacional (opSimpNac 3, regApTribSN 1) o recolhe no DAS: sem retenção, a nota traz só o valor líquido, como as do emissor nacional.',
  national: 'O padrão nacional responde E0625 quando o município de incidência é conveniado, e E0631 quando não é.',
  when: (dps) => reckonsInSimples(dps) && !isWithheld(dps),
  because: () =>
    'O prestador apura o ISSQN pelo Simples Nacional (opSimpNac 3, regApTribSN 1), ninguém o retém (tpRetISSQN 1) e ele é recolhido no DAS',
  example: NO_DAS,
};

/** Grounds on which a note has neither rate nor base nor ISSQN. */
const SEM_VALORES: readonly Ground[] = [SEM_ISSQN, COM_SUSPENSAO, DE_MEI, EM_REGIME_ESPECIAL, DENTRO_DO_SIMPLES];

/** A rate that must be removed is reported by its ground, and by no other rule. */
const mayHaveNoAliquota = (dps: Dps): boolean => SEM_VALORES.some(({ when }) => when(dps));

/** Whether the Simples alone decides which ISSQN values stand on the note. */
function reckonsInSimples(dps: Dps): boolean {
  return assessesInSimples(dps) && isTaxable(dps) && !isSuspended(dps) && !hasSpecialRegime(dps);
}

export const TRIB_MUN: readonly Rule[] = [
  {
    code: 'E0532',
    at: 'valores/trib/tribMun/tribISSQN',
    title: 'cTribNac 990101 pede tribISSQN 4',
    message: ({ valores }) =>
      `cTribNac 990101 é o dos serviços sem incidência de ISSQN, e veio tribISSQN ${valores.trib.tribMun.tribISSQN}. Envie tribISSQN 4, ou corrija o cTribNac.`,
    mend: 'Envie tribISSQN 4, sem pAliq; ou corrija o cTribNac.',
    origin: 'Especificação, DPS: tribMun; Errors: E0532; Anexo I, E0532',
    why: 'O código 990101 é o dos serviços sem incidência de ISSQN, e a tributação tem de dizer o mesmo.',
    when: ({ serv }) => serv.cServ.cTribNac === WITHOUT_ISSQN,
    must: ({ valores }) => valores.trib.tribMun.tribISSQN === '4',
    found: ({ valores }) => valores.trib.tribMun.tribISSQN,
    expected: '4',
    rejects: [{ 'serv/cServ/cTribNac': WITHOUT_ISSQN }],
    accepts: [{ ...NAO_INCIDENCIA, 'serv/cServ/cTribNac': WITHOUT_ISSQN }],
  },
  {
    code: 'E0529',
    at: 'valores/trib/tribMun/tribISSQN',
    scope: 'nacional',
    title: 'Exportação de um serviço que é devido no Brasil',
    message: ({ serv }) =>
      servicoOf(serv.cServ.cTribNac)?.regra === 'LP'
        ? `O ISSQN do serviço ${serv.cServ.cTribNac} é devido onde ele é prestado, e o local da prestação é no Brasil: não é exportação. Envie tribISSQN 1, ou informe o país em cPaisPrestacao.`
        : `O ISSQN do serviço ${serv.cServ.cTribNac} é devido onde está o tomador, e o endereço dele é no Brasil: não é exportação. Envie tribISSQN 1, ou corrija o endereço do tomador.`,
    mend: 'Envie tribISSQN 1; se o serviço foi mesmo exportado, corrija o local da prestação ou o endereço do tomador.',
    origin: 'Anexo I, E0529 e planilha de exportação, cenários 6, 10, 34, 38, 66 e 80',
    why: 'Um serviço devido no lugar da prestação, ou no do tomador, só é exportado quando esse lugar é no exterior.',
    when: ({ valores }) => valores.trib.tribMun.tribISSQN === '3',
    must: (dps) => exportacaoOf(dps) !== 'sem_exportacao',
    found: ({ valores }) => valores.trib.tribMun.tribISSQN,
    expected: '1',
    rejects: [
      { ...EXPORTACAO_SEM_PAIS, 'serv/cServ/cTribNac': '171001' },
      // A taker in Brazil and work done abroad, with the foreign trade of an export.
      {
        ...COMERCIO_EXTERIOR,
        'serv/cServ/cTribNac': '170501',
        'valores/trib/tribMun/tribISSQN': '3',
        'valores/trib/tribMun/pAliq': null,
      },
    ],
    accepts: [
      { ...EXPORTACAO_SEM_PAIS, 'serv/cServ/cTribNac': '171001', 'serv/locPrest/cPaisPrestacao': 'PT' },
      { ...EXPORTACAO, 'serv/cServ/cTribNac': '170501' },
    ],
  },
  {
    code: 'E0590',
    at: 'valores/trib/tribMun/cPaisResult',
    scope: 'nacional',
    title: 'Exportação sem o país do resultado',
    message:
      'O serviço foi prestado no Brasil e a operação é de exportação: falta o país onde está o resultado. Informe cPaisResult; se não houve exportação, corrija tribISSQN: não incidência é 4, e imunidade, 2.',
    mend: 'Informe em cPaisResult o código ISO 3166-1 do país em que o resultado se verifica, ou corrija tribISSQN.',
    origin: 'Anexo I, E0590 e planilha de exportação, cenários 2, 30, 58, 62, 72 e 76',
    why: 'Um serviço desenvolvido no Brasil só é exportado quando o seu resultado se verifica no exterior (LC 116/2003, art. 2º).',
    when: ({ valores }) => valores.trib.tribMun.tribISSQN === '3',
    must: (dps) => exportacaoOf(dps) !== 'com_pais' || dps.valores.trib.tribMun.cPaisResult !== undefined,
    expected: 'código ISO 3166-1 de duas letras, diferente de BR',
    rejects: [EXPORTACAO_SEM_PAIS],
    accepts: [EXPORTACAO],
  },
  {
    code: 'E0591',
    at: 'valores/trib/tribMun/cPaisResult',
    scope: 'nacional',
    title: 'País do resultado fora da exportação que o pede',
    message: ({ valores }) =>
      valores.trib.tribMun.tribISSQN === '3'
        ? 'O serviço foi prestado no exterior, e o país já está em cPaisPrestacao. Retire cPaisResult.'
        : `cPaisResult é da exportação (tribISSQN 3), e veio tribISSQN ${valores.trib.tribMun.tribISSQN}. Retire cPaisResult, ou corrija tribISSQN.`,
    mend: 'Retire cPaisResult, ou corrija tribISSQN.',
    origin: 'Anexo I, E0591 e planilha de exportação',
    why: 'O país do resultado completa a exportação de um serviço prestado no Brasil; nas outras operações não tem o que dizer.',
    when: ({ valores }) => valores.trib.tribMun.cPaisResult !== undefined,
    must: (dps) => dps.valores.trib.tribMun.tribISSQN === '3' && exportacaoOf(dps) !== 'no_exterior',
    found: ({ valores }) => valores.trib.tribMun.cPaisResult,
    rejects: [{ 'valores/trib/tribMun/cPaisResult': 'PT' }, { ...EXPORTACAO, 'serv/locPrest/cPaisPrestacao': 'PT' }],
    accepts: [EXPORTACAO],
  },
  whenPresent(({ valores }) => valores.trib.tribMun.cPaisResult, {
    code: 'E0246',
    at: 'valores/trib/tribMun/cPaisResult',
    scope: 'nacional',
    title: 'O país do resultado não existe ou é o Brasil',
    message: (cPaisResult) =>
      cPaisResult === 'BR'
        ? 'cPaisResult BR não é exterior: um serviço cujo resultado se verifica no Brasil não é exportação. Informe o país do resultado, ou corrija tribISSQN.'
        : `cPaisResult ${cPaisResult} não é um código de país ISO 3166-1. Consulte o catálogo em /catalogo/paises.`,
    mend: 'Escolha o código em /catalogo/paises; se o resultado se verifica no Brasil, corrija tribISSQN.',
    origin: 'Anexo I, E0246 e E0590, por analogia',
    why: 'Só há exportação quando o resultado do serviço se verifica em outro país (LC 116/2003, art. 2º), e o código tem de dizer qual.',
    // A country of the result that is not allowed is another mistake (E0591).
    when: (_cPaisResult, dps) => exportacaoOf(dps) === 'com_pais',
    must: (cPaisResult) => paisOf(cPaisResult)?.aceitoEnderecoExterior === true,
    found: (cPaisResult) => cPaisResult,
    expected: 'código ISO 3166-1 de duas letras, diferente de BR',
    rejects: [
      { ...EXPORTACAO, 'valores/trib/tribMun/cPaisResult': 'BR' },
      { ...EXPORTACAO, 'valores/trib/tribMun/cPaisResult': 'XQ' },
      { ...EXPORTACAO, 'valores/trib/tribMun/cPaisResult': 'ZZ' },
    ],
    accepts: [{ ...EXPORTACAO, 'valores/trib/tribMun/cPaisResult': 'US' }],
  }),
  {
    code: 'E0592',
    at: 'valores/trib/tribMun/tpImunidade',
    title: 'Tipo de imunidade ausente ou fora de lugar',
    message: (dps) => {
      const { tribISSQN } = dps.valores.trib.tribMun;
      if (tribISSQN === '2') {
        const abroad = signsOfExport(dps);
        return abroad.length === 0
          ? 'A operação é imune (tribISSQN 2), e falta o tipo da imunidade. Informe tpImunidade, de 1 a 5.'
          : `tribISSQN 2 é imunidade, e falta o tipo dela; mas a DPS traz ${abroad.join(', ')}, e exportação é tribISSQN 3 (era 2 no leiaute 1.00). Se o serviço é exportado, envie tribISSQN 3; se a operação é imune, informe tpImunidade, de 1 a 5.`;
      }
      const immune =
        tribISSQN === '4' ? 'se a operação é imune, envie tribISSQN 2 (era 4 no leiaute 1.00)' : 'corrija tribISSQN';
      return `tpImunidade só cabe com tribISSQN 2 (imunidade), e veio tribISSQN ${tribISSQN}. Retire tpImunidade, ou ${immune}.`;
    },
    mend: 'Com tribISSQN 2 (imunidade) informe tpImunidade de 1 a 5; nos demais casos retire-o. Exportação é tribISSQN 3, e não incidência é 4.',
    origin: 'Especificação, Errors: E0592; Anexo I, E0592',
    why: 'tpImunidade acompanha tribISSQN 2, que é a imunidade, e nenhum outro.',
    must: ({ valores: { trib } }) => (trib.tribMun.tribISSQN === '2') === (trib.tribMun.tpImunidade !== undefined),
    found: ({ valores }) => valores.trib.tribMun.tpImunidade,
    rejects: [
      { 'valores/trib/tribMun/tribISSQN': '2', 'valores/trib/tribMun/pAliq': null },
      { 'valores/trib/tribMun/tpImunidade': '1' },
    ],
    accepts: [IMUNE],
  },
  {
    code: 'E0585',
    at: 'valores/trib/tribMun/exigSusp',
    title: 'Exigibilidade suspensa numa operação não tributável',
    message: ({ valores }) =>
      `exigSusp suspende a exigência de um ISSQN devido, e tribISSQN ${valores.trib.tribMun.tribISSQN} diz que não há ISSQN. Retire exigSusp, ou corrija tribISSQN.`,
    mend: 'Retire exigSusp, ou corrija tribISSQN.',
    origin: 'Especificação, DPS: tribMun; Errors: E0585; Anexo I, E0585',
    why: 'Só um ISSQN devido pode ter a exigibilidade suspensa: exigSusp pede tribISSQN 1.',
    when: ({ valores }) => valores.trib.tribMun.exigSusp !== undefined,
    must: isTaxable,
    rejects: [
      { ...SUSPENSA, ...IMUNE },
      { ...SUSPENSA, ...NAO_INCIDENCIA },
    ],
    accepts: [SUSPENSA],
  },
  ...ofPart(hasBeneficio, [
    forbidBenefit({
      ...SEM_ISSQN,
      ...annexHead('E0533'),
      title: 'Benefício municipal numa operação sem ISSQN',
      mend: 'Retire o grupo BM, ou corrija tribISSQN.',
      why: 'Imunidade, exportação e não incidência não têm base de cálculo que o benefício reduza.',
    }),
    forbidBenefit({
      ...DE_MEI,
      ...annexHead('E0534'),
      title: 'Benefício municipal de um prestador MEI',
      mend: 'Retire o grupo BM, ou corrija opSimpNac.',
      why: 'O MEI paga o ISSQN num valor fixo mensal, que o benefício não reduz.',
    }),
    forbidBenefit({
      ...EM_REGIME_ESPECIAL,
      ...annexHead('E0535'),
      title: 'Benefício municipal de um prestador em regime especial',
      mend: 'Retire o grupo BM, ou corrija regEspTrib.',
      why: 'Num regime especial o ISSQN se apura fora da nota, que não tem base que o benefício reduza.',
    }),
    forbidBenefit({
      code: 'E0536',
      scope: 'nacional',
      title: 'Benefício municipal de quem apura o ISSQN pelo Simples Nacional',
      mend: 'Retire o grupo BM; se o ISSQN é apurado por fora do Simples, informe regApTribSN 2 ou 3.',
      origin: 'Anexo I, E0536 e E0537',
      why: 'No Simples Nacional o ISSQN incide sobre a receita bruta, que o município não reduz; só a construção (07.02 e 07.05) é exceção.',
      national: 'O padrão nacional responde E0536 quando o município de incidência é conveniado, e E0537 quando não é.',
      when: (dps) => assessesInSimples(dps) && isTaxable(dps) && !/^070[25]/.test(dps.serv.cServ.cTribNac),
      because: () => 'O prestador apura o ISSQN pelo Simples Nacional (opSimpNac 3, regApTribSN 1)',
      example: NO_DAS,
    }),
  ]),
  ...BENEFICIO_REGISTRADO,
  forbidRetention({
    ...SEM_ISSQN,
    ...annexHead('E0580'),
    title: 'Retenção numa operação sem ISSQN',
    mend: 'Envie tpRetISSQN 1, ou corrija tribISSQN.',
    why: 'Imunidade, exportação e não incidência não têm imposto que o tomador retenha.',
  }),
  forbidRetention(COM_SUSPENSAO),
  forbidRetention({
    ...DE_MEI,
    ...annexHead('E0583'),
    title: 'Retenção sobre um MEI',
    mend: 'Envie tpRetISSQN 1, ou corrija opSimpNac.',
    why: 'O MEI paga o ISSQN num valor fixo mensal, e de cada nota não há o que reter.',
  }),
  forbidRetention({
    ...EM_REGIME_ESPECIAL,
    ...annexHead('E0588'),
    title: 'Retenção sobre um prestador em regime especial',
    mend: 'Envie tpRetISSQN 1, ou corrija regEspTrib.',
    why: 'Num regime especial o ISSQN se apura fora da nota, e de cada nota não há o que reter.',
  }),
  forbidRetention({
    ...annexHead('E0596'),
    title: 'Retenção na exploração de rodovia',
    mend: 'Envie tpRetISSQN 1, ou corrija o cTribNac.',
    why: 'O ISSQN da exploração de rodovia é repartido entre os municípios que ela atravessa, e o usuário não o retém.',
    when: (dps) =>
      dps.serv.cServ.cTribNac === RODOVIA &&
      isTaxable(dps) &&
      !isSuspended(dps) &&
      !isMei(dps) &&
      !hasSpecialRegime(dps),
    because: () => 'O serviço é a exploração de rodovia (220101)',
    example: { 'serv/cServ/cTribNac': RODOVIA },
  }),
  RETENCAO_NA_ISENCAO,
  forbidAliquota({
    ...SEM_ISSQN,
    national: 'Sobre a alíquota da DPS o padrão nacional responde E0602; sobre os valores da nota, E1303.',
  }),
  forbidAliquota(COM_SUSPENSAO),
  forbidAliquota({
    ...DE_MEI,
    ...annexHead('E0600'),
    title: 'Alíquota na DPS de um MEI',
    mend: 'Retire pAliq, ou corrija opSimpNac.',
  }),
  forbidAliquota({
    ...EM_REGIME_ESPECIAL,
    ...annexHead('E0604'),
    title: 'Alíquota na DPS de um prestador em regime especial',
    mend: 'Retire pAliq, ou corrija regEspTrib.',
  }),
  forbidAliquota(DENTRO_DO_SIMPLES),
  ...ofPart(
    (_dps, _facts, declarado) => DECLARADOS.some(({ name }) => declarado[name] !== undefined),
    SEM_VALORES.flatMap(forbidDeclared),
  ),
  {
    code: 'E0621',
    at: 'valores/trib/tribMun/pAliq',
    scope: 'nacional',
    title: 'Retenção do ISSQN de quem é do Simples Nacional sem a alíquota dele, ou com uma que não há',
    message: (dps, facts) => {
      const { tribMun } = dps.valores.trib;
      return tribMun.pAliq === undefined
        ? `O ISSQN é retido (tpRetISSQN ${tribMun.tpRetISSQN}) de quem o apura pelo Simples Nacional (opSimpNac 3, regApTribSN 1), e falta a alíquota. Informe em pAliq a alíquota efetiva do ISSQN na faixa do prestador.${describeSandboxAliquota(dps, facts)}`
        : `pAliq é ${formatDecimal(tribMun.pAliq)}%, e nenhuma faixa do Simples Nacional tem alíquota de ISSQN abaixo de ${formatDecimal(SIMPLES_MINIMUM)}%. Informe em pAliq a alíquota efetiva do ISSQN na faixa do prestador, em percentual: 2.01 é 2,01%.`;
    },
    mend: 'Informe em pAliq a alíquota efetiva do ISSQN na faixa do prestador no mês anterior (no primeiro mês, 2.00), em percentual; ou envie tpRetISSQN 1, sem pAliq.',
    origin: 'Anexo I, E0621 e E0628; LC 123/2006, art. 21, § 4º; decisão D-191',
    why: 'Quem retém desconta à alíquota do prestador, que só ele conhece: a da sua faixa de receita. A menor dos Anexos da LC 123 é 1,80%, no começo da segunda faixa do Anexo IV.',
    national: 'O padrão nacional responde E0621 quando o município de incidência é conveniado, e E0628 quando não é.',
    when: (dps, facts) => reckonsInSimples(dps) && isWithheld(dps) && !dispensesWithAliquota(dps, facts),
    must: ({ valores: { trib } }) => trib.tribMun.pAliq !== undefined && trib.tribMun.pAliq >= SIMPLES_MINIMUM,
    found: ({ valores: { trib } }) =>
      trib.tribMun.pAliq === undefined ? undefined : formatDecimal(trib.tribMun.pAliq),
    expected: 'a alíquota efetiva do ISSQN no Simples Nacional, de 1.80 a 5.00',
    rejects: [
      { ...SIMPLES_RETIDO, 'valores/trib/tribMun/pAliq': null },
      { ...SIMPLES_RETIDO, 'valores/trib/tribMun/pAliq': '1.79' },
      { ...SIMPLES_RETIDO, 'valores/trib/tribMun/pAliq': '0.02' },
    ],
    accepts: [
      { ...SIMPLES_RETIDO, 'valores/trib/tribMun/pAliq': '2.79' },
      { ...SIMPLES_RETIDO, 'valores/trib/tribMun/pAliq': '1.80' },
      NO_DAS,
    ],
  },
  ALIQUOTA_COM_BENEFICIO,
  whenPresent(readAliquotaDeclarada, {
    code: 'E0595',
    at: 'valores/trib/tribMun/pAliq',
    scope: 'nacional',
    title: 'Alíquota do ISSQN acima de 5%',
    message: (pAliq) =>
      `A alíquota é ${formatDecimal(pAliq)}%, e a máxima da lei é 5%: o ADN recusa a nota. Corrija pAliq, que vai em percentual: 2.00 é 2%.`,
    mend: 'Informe em pAliq a alíquota do município, em percentual: 2.00 é 2%.',
    origin: 'Anexo I, E0595 e E1300; LC 116/2003, art. 8º',
    why: 'A alíquota máxima do ISSQN é de 5%. A especificação aceita pAliq de 0 a 100, e o ADN recusa a nota que passa de 5: em produção ela não se emite.',
    when: (pAliq) => pAliq <= ALIQUOTA_DA_NOTA_MAX,
    must: (pAliq, dps) => pAliq <= ISS_MAX || mayHaveNoAliquota(dps),
    found: formatDecimal,
    expected: 'percentual até 5.00',
    rejects: [{ 'valores/trib/tribMun/pAliq': '5.01' }, { 'valores/trib/tribMun/pAliq': '9.99' }],
    accepts: [{ 'valores/trib/tribMun/pAliq': '5.00' }],
  }),
  whenPresent(readAliquotaDeclarada, {
    code: 'E0595',
    at: 'valores/trib/tribMun/pAliq',
    scope: 'nacional',
    esquema: true,
    message: (pAliq) =>
      `A alíquota é ${formatDecimal(pAliq)}%, e o esquema nacional só tem alíquotas até 9.99: o ADN não recebe a nota. Corrija pAliq; a máxima da lei é 5%.`,
    origin: 'Especificação, DPS: tribMun; esquema nacional da DPS 1.01, TSDec1V2; decisão D-192',
    why: 'O esquema nacional tem um só dígito inteiro na alíquota: de 10.00 em diante a nota não se transmitiria em produção.',
    must: (pAliq, dps) => pAliq <= ALIQUOTA_DA_NOTA_MAX || mayHaveNoAliquota(dps),
    found: formatDecimal,
    expected: 'percentual até 5.00',
    rejects: [{ 'valores/trib/tribMun/pAliq': '10.00' }],
    accepts: [{ 'valores/trib/tribMun/pAliq': '5.00' }],
  }),
  whenPresent(readAliquotaDeclarada, {
    code: 'E0429',
    at: 'valores/trib/tribMun/pAliq',
    scope: 'aviso',
    message: (pAliq, { serv }) => {
      const meant = (pAliq * 100n) as Decimal;
      const isFraction = meant >= ISS_MIN && meant <= ISS_MAX;
      return `A alíquota é ${formatDecimal(pAliq)}%, e a mínima da lei é 2% para o serviço ${serv.cServ.cTribNac}.${isFraction ? ` É ${formatDecimal(meant)}?` : ''} pAliq vai em percentual: 2.00 é 2%. Confira-a; a nota sai com a alíquota que se aplica.`;
    },
    origin: 'LC 116/2003, art. 8º-A; decisão D-195',
    why: 'A alíquota mínima do ISSQN é de 2%, salvo na construção (7.02 e 7.05) e no transporte coletivo (16.01). A especificação aceita pAliq de 0 a 100, e por isso a nota é emitida, com um aviso.',
    when: (_pAliq, dps) =>
      isTaxable(dps) &&
      // The minimum rate inside the Simples is another one (E0621).
      !assessesInSimples(dps) &&
      !WITHOUT_MINIMUM_RATE.has(servicoOf(dps.serv.cServ.cTribNac)?.subitem ?? ''),
    must: (pAliq) => pAliq >= ISS_MIN,
    rejects: [{ 'valores/trib/tribMun/pAliq': '0.02' }, { 'valores/trib/tribMun/pAliq': '1.99' }],
    accepts: [
      { 'valores/trib/tribMun/pAliq': '2.00' },
      { 'serv/cServ/cTribNac': '160201', 'valores/trib/tribMun/pAliq': '2.00' },
    ],
  }),
  whenPresent(readAliquotaDeclarada, {
    code: 'E0617',
    at: 'valores/trib/tribMun/pAliq',
    scope: 'aviso',
    title: 'A alíquota enviada não é a do cadastro do município',
    message: (pAliq, dps, facts) => `pAliq é ${formatDecimal(pAliq)}%, e ${describeRegistered(registroOf(dps, facts))}`,
    mend: 'Retire pAliq: a alíquota do município se aplica. Se ele tem várias para o serviço, informe cTribMun; se a aplicada parece errada, confira o código do serviço com a prefeitura.',
    origin: 'Anexo I, E0617 e nota de pAliqAplic; decisão D-188',
    why: 'A alíquota que o município de incidência cadastrou para o serviço vem antes da que a DPS traz. Onde ela depende do código municipal e a DPS não traz cTribMun, aplica-se a de pAliq, sem aviso se é uma das cadastradas.',
    national: 'O padrão nacional proíbe pAliq quando o município de incidência tem a alíquota cadastrada.',
    when: (_pAliq, dps) => isTaxable(dps),
    must: (pAliq, dps, facts) => isRegistered(registroOf(dps, facts), pAliq),
    rejects: [],
    accepts: [{}],
  }),
  ...ofPart(hasBeneficio, [
    {
      ...annexHead('E0541', 'esquema nacional da DPS 1.01; decisão D-192'),
      at: 'valores/trib/tribMun/BM/nBM',
      esquema: true,
      title: 'Benefício municipal sem o seu número',
      message:
        'O grupo BM reduz a base e não traz nBM, o número do benefício, sem o qual o ADN não recebe a nota. Informe nBM, de 14 dígitos, que a prefeitura dá.',
      mend: 'Informe em nBM os 14 dígitos do benefício no município de incidência; sem benefício, retire o grupo BM.',
      why: 'A especificação deixa o número de fora e o esquema nacional o exige: em produção a nota não se transmitiria.',
      national:
        'No padrão nacional E0541 é o número de um benefício que o município não tem; a falta do número é lá uma falha de esquema, E1235.',
      must: ({ valores }) => valores.trib.tribMun.BM?.nBM !== undefined,
      expected: '14 dígitos',
      rejects: [
        { 'valores/trib/tribMun/BM/pRedBCBM': '50.00', 'valores/trib/tribMun/pAliq': '5.00' },
        { 'valores/trib/tribMun/BM/vRedBCBM': '200.00', 'valores/trib/tribMun/pAliq': '5.00' },
      ],
      accepts: [{ ...BENEFICIO, 'valores/trib/tribMun/pAliq': '5.00' }],
    },
    whenPresent(({ valores }) => valores.trib.tribMun.BM?.pRedBCBM, {
      ...annexHead('E0586'),
      at: 'valores/trib/tribMun/BM/pRedBCBM',
      title: 'Percentual do benefício municipal zerado',
      message: 'pRedBCBM é zero. Informe o percentual em que o benefício reduz a base, ou retire-o.',
      mend: 'Informe um percentual maior que zero, até o que o benefício tem no município.',
      why: 'Uma redução de zero não é benefício. O que passa de 100 é recusado com E0002.',
      must: (pRedBCBM) => pRedBCBM > ZERO,
      found: () => '0.00',
      expected: 'percentual maior que 0.00 e até 100.00',
      rejects: [{ ...BENEFICIO, 'valores/trib/tribMun/BM/pRedBCBM': '0.00' }],
      accepts: [{ ...BENEFICIO, 'valores/trib/tribMun/pAliq': '5.00' }],
    }),
  ]),
];

/** The sandbox's rate for a missing one; empty if it applies none. */
function describeSandboxAliquota(dps: Dps, facts: Facts): string {
  const aliquota = sandboxAliquotaOf(dps, facts);
  return aliquota === undefined
    ? ''
    : ` A alíquota aplicada, ${formatDecimal(aliquota)}%, foi posta pelo ambiente de integração.`;
}

/** Whether a declared rate is the registered one, or one of several. */
function isRegistered(registro: Registro, pAliq: Decimal): boolean {
  if (registro.kind === 'uma') return registro.aliquota === pAliq;
  return registro.kind !== 'varias' || isAmong(registro.servicos, pAliq);
}

/** The municipality's rate in contrast to the declared one, and which of them applies. */
function describeRegistered(registro: Registro): string {
  if (registro.kind === 'varias') {
    return `para este serviço o município tem, conforme o código municipal, ${aliquotasInWords(registro.servicos)}: aplicou-se a de pAliq. ${howToNameOne(registro)}`;
  }
  const aliquota = registro.kind === 'uma' ? formatDecimal(registro.aliquota) : '';
  return `o município tem ${aliquota}% para este serviço: aplicou-se a do município. Retire pAliq, ou confira o código do serviço.`;
}

type SemAliquota = Pick<
  AmountRule,
  'code' | 'title' | 'mend' | 'origin' | 'why' | 'national' | 'rejects' | 'accepts'
> & {
  readonly of: (dps: Dps) => boolean;
};

const PEDIR_ALIQUOTA =
  'Informe em pAliq a alíquota do município de incidência. Se o imposto é deste município, informe em cTribMun o código do serviço, onde a alíquota depende dele, ou peça à prefeitura que a cadastre.';

/** The code that demands a missing rate, by the Simples Nacional status of the provider. */
const SEM_ALIQUOTA: readonly SemAliquota[] = [
  {
    code: 'E0619',
    title: 'Falta a alíquota do ISSQN',
    mend: PEDIR_ALIQUOTA,
    origin: 'Anexo I, E0619; decisão D-188',
    why: 'O ISSQN é a base vezes a alíquota (E1289), e o ISSQN retido, o valor líquido e a base do IBS e da CBS vêm dele. Onde o município não tem alíquota cadastrada que se aplique, só a DPS pode dizê-la. No ambiente de integração, e no ensaio em que as regras nacionais só avisam, entra 5.00 no lugar dela, e o aviso diz isso.',
    national:
      'O padrão nacional pede a alíquota a quem não é do Simples Nacional quando o município de incidência não tem convênio ativo, e com isso parâmetros de que ela venha. Aqui o que conta é se há alíquota cadastrada.',
    of: ({ prest }) => prest.regTrib.opSimpNac !== '3',
    // The sandbox applies its own rate.
    rejects: [],
    accepts: [{}, IMUNE, EXPORTACAO, NAO_INCIDENCIA, SUSPENSA, MEI, REGIME_ESPECIAL],
  },
  {
    code: 'E0640',
    title: 'Falta a alíquota do ISSQN que a empresa do Simples Nacional apura por fora dele',
    mend: PEDIR_ALIQUOTA,
    origin: 'Anexo I, E0640; decisão D-188',
    why: 'Com regApTribSN 2 ou 3 o ISSQN de uma ME ou EPP é apurado fora do Simples Nacional, à alíquota do município para o serviço. Sem ela não há imposto, retenção nem base do IBS e da CBS que se calculem.',
    national:
      'O padrão nacional pede a alíquota quando o município de incidência não tem convênio ativo. Aqui o que conta é se há alíquota cadastrada.',
    of: (dps) => dps.prest.regTrib.opSimpNac === '3' && !assessesInSimples(dps),
    rejects: [],
    accepts: [{ ...FORA_DO_SIMPLES_SEM_ALIQUOTA, 'valores/trib/tribMun/pAliq': '2.00' }, NO_DAS],
  },
  {
    // A refusal by the rule above ends the judgement before this one. If that rule only remarks, the unknown withheld amount is refused
    // here.
    code: 'E0621',
    origin: 'Anexo I, E0621 e E0628; decisão D-188',
    why: 'Sem a alíquota do prestador, e sem uma do município, não se sabe quanto o tomador retém.',
    of: assessesInSimples,
    rejects: [],
    accepts: [{ ...SIMPLES_RETIDO, 'valores/trib/tribMun/pAliq': '2.79' }],
  },
];

/** Why there is no rate, and how the sender names one. */
function askForAliquota(dps: Dps, facts: Facts): string {
  const registro = registroOf(dps, facts);
  return `a DPS não traz pAliq, e ${whyNoneApplies(registro)}. ${howToNameOne(registro)}`;
}

/** An exemption needs no rate, and has a tax of zero. */
const lacksAliquota = ({ issqnShown, vISSQN }: IssqnAmounts): boolean => issqnShown && vISSQN === undefined;

/** Judged over the amounts: whether there is a rate at all, and whether it is one that the sandbox applied. */
export const TRIB_MUN_CALCULADO: readonly AmountRule[] = [
  whenPresent(({ pAliqAplic }) => pAliqAplic, {
    ...annexHead('E1300', 'LC 116/2003, art. 8º'),
    at: 'valores/trib/tribMun/pAliq',
    title: 'A alíquota do cadastro do município passa de 5%',
    message: (pAliqAplic) =>
      `A alíquota que se aplica é ${formatDecimal(pAliqAplic)}%, a que o município cadastrou, e a máxima da lei é 5%: o ADN recusa a nota. Peça à prefeitura que corrija a alíquota do cadastro.`,
    mend: 'Peça à prefeitura que corrija a alíquota que cadastrou para o serviço ou para o benefício.',
    why: 'A alíquota que se aplica vem do cadastro do município, antes da de pAliq, e o ADN confere a da nota.',
    // A declared rate above the limit was reported before (E0595).
    when: (pAliqAplic, { issqnShown }, { valores }) => issqnShown && pAliqAplic !== valores.trib.tribMun.pAliq,
    must: (pAliqAplic) => pAliqAplic <= ISS_MAX,
    found: formatDecimal,
    expected: 'percentual até 5.00',
    rejects: [],
    accepts: [{}],
  }),
  ...SEM_ALIQUOTA.map(
    ({ of, ...head }): AmountRule => ({
      ...head,
      at: 'valores/trib/tribMun/pAliq',
      message: (_amounts, dps, facts) =>
        `Falta a alíquota do ISSQN: ${askForAliquota(dps, facts)} Sem ela não se calculam o ISSQN, o que dele se retém, o valor líquido nem a base do IBS e da CBS.`,
      when: (amounts, dps) => lacksAliquota(amounts) && of(dps),
      must: () => false,
      expected: 'a alíquota do município de incidência, em percentual; ou cTribMun, onde ela depende dele',
      from: INPUTS.aliquota,
    }),
  ),
  // E0621 covers the companies inside the Simples.
  ...SEM_ALIQUOTA.filter(({ code }) => code !== 'E0621').map(
    ({ of, code, origin, why }): AmountRule =>
      whenPresent(({ pAliqAplic }) => pAliqAplic, {
        code,
        at: 'valores/trib/tribMun/pAliq',
        scope: 'aviso',
        origin,
        why,
        message: (pAliqAplic, _amounts, dps, facts) =>
          `A alíquota aplicada, ${formatDecimal(pAliqAplic)}%, foi posta pelo ambiente de integração: ${askForAliquota(dps, facts)} ${inProduction(dps, facts)}`,
        when: (_pAliqAplic, { issqnShown }, dps) =>
          issqnShown && dps.valores.trib.tribMun.pAliq === undefined && of(dps),
        must: (_pAliqAplic, _amounts, dps, facts) => sandboxAliquotaOf(dps, facts) === undefined,
        rejects: [],
        accepts: [{}],
      }),
  ),
];

/** The shared sandbox does not know which rates the municipality registered. */
function inProduction(dps: Dps, facts: Facts): string {
  return facts.cMun === undefined && registroOf(dps, facts).kind === 'sem_cadastro'
    ? 'Em produção vale a que o município cadastrou para o serviço, e sem ela a DPS é recusada.'
    : 'Em produção esta DPS é recusada.';
}
