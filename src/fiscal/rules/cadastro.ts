/**
 * Rules by the municipality's register of deductions, special regimes and non-incidence (national rules "parameters of the municipality").
 * They do not apply if the municipality keeps no register. Those of benefits are in `beneficio.ts`.
 */
import { assessesInSimples } from '../aliquota.ts';
import {
  deducaoRegistrada,
  FORMAS_DEDUCAO,
  type FormaDeducao,
  isIsenta,
  isNaoIncidente,
  regimeRegistrado,
} from '../cadastros.ts';
import { enumeracaoOf } from '../catalogs/catalogs.ts';
import type { Facts } from '../facts.ts';
import type { Dps } from '../layout/dps.ts';
import { DEDUCIBLE_IN_SIMPLES, DOCUMENTO } from './ded-red.ts';
import { annexHead, type Patch, type Rule } from './rule.ts';

/** A DPS whose note shows a base, so that a deduction is possible. */
function hasBase(dps: Dps, facts: Facts): boolean {
  const { opSimpNac, regEspTrib } = dps.prest.regTrib;
  return opSimpNac !== '2' && regEspTrib === '0' && !isIsenta(dps, facts);
}

const DEDUCAO: Patch = { 'valores/trib/tribMun/pAliq': '5.00', 'valores/vDedRed/vDR': '100.00' };
const PERCENTUAL: Patch = {
  'serv/cServ/cTribNac': '170601',
  'valores/trib/tribMun/pAliq': '5.00',
  'valores/vDedRed/pDR': '60.00',
};
const NO_SIMPLES: Patch = {
  'prest/regTrib/opSimpNac': '3',
  'prest/regTrib/regApTribSN': '1',
  'valores/trib/tribMun/pAliq': null,
  'valores/vDedRed/vDR': '100.00',
};

/** A service for which the municipality allows no deduction at all. */
function forbidDeduction(
  rule: Pick<Rule, 'code' | 'title' | 'rejects' | 'accepts'> & { readonly who: (dps: Dps) => boolean },
): Rule {
  const { who, ...head } = rule;
  return {
    ...head,
    ...annexHead(rule.code),
    at: 'valores/vDedRed',
    given: 'cadastros',
    message: ({ serv, dCompet }) =>
      `O município não admite dedução para o serviço ${serv.cServ.cTribNac} na competência ${dCompet}. Retire o grupo vDedRed, ou corrija o cTribNac.`,
    mend: 'Retire o grupo vDedRed, ou corrija o cTribNac.',
    why: 'O município cadastra de que serviços admite dedução; dos outros a base é o preço inteiro.',
    when: (dps, facts) => who(dps) && hasBase(dps, facts),
    must: (dps, facts) => deducaoRegistrada(dps, facts) !== 'nenhuma',
  };
}

const FORMAS: readonly {
  readonly forma: FormaDeducao;
  readonly code: string;
  readonly how: string;
  readonly rejects: Patch;
  readonly accepts: Patch;
}[] = [
  {
    forma: 'percentual',
    code: 'E0454',
    how: 'por percentual',
    rejects: { ...PERCENTUAL, 'serv/cServ/cTribNac': '010101' },
    accepts: PERCENTUAL,
  },
  {
    forma: 'valor',
    code: 'E0446',
    how: 'por valor',
    rejects: { ...DEDUCAO, 'serv/cServ/cTribNac': '170601' },
    accepts: DEDUCAO,
  },
  {
    forma: 'documentos',
    code: 'E0449',
    how: 'por documentos',
    rejects: { ...DOCUMENTO, 'serv/cServ/cTribNac': '170601' },
    accepts: DOCUMENTO,
  },
];

export const DEDUCAO_REGISTRADA: readonly Rule[] = [
  forbidDeduction({
    code: 'E0440',
    title: 'O município não admite dedução para o serviço',
    who: (dps) => !assessesInSimples(dps),
    rejects: [{ ...DEDUCAO, 'serv/cServ/cTribNac': '010201' }],
    accepts: [DEDUCAO],
  }),
  forbidDeduction({
    code: 'E0441',
    title: 'O município não admite dedução para o serviço, nem de quem é do Simples Nacional',
    // No company in the Simples may deduct in the other services (E0442).
    who: (dps) => assessesInSimples(dps) && DEDUCIBLE_IN_SIMPLES.has(dps.serv.cServ.cTribNac),
    rejects: [{ ...NO_SIMPLES, 'serv/cServ/cTribNac': '060201' }],
    accepts: [{ ...NO_SIMPLES, 'serv/cServ/cTribNac': '060101' }],
  }),
  ...FORMAS.map(
    ({ forma, code, how, rejects, accepts }): Rule => ({
      ...annexHead(code),
      at: `valores/vDedRed/${FORMAS_DEDUCAO[forma]}`,
      given: 'cadastros',
      title: `O município não admite dedução ${how} para o serviço`,
      message: (dps, facts) => {
        const registrada = deducaoRegistrada(dps, facts);
        const admitted = typeof registrada === 'object' ? [...registrada.formas] : [];
        const instead = admitted.map((one) => FORMAS_DEDUCAO[one]).join(' ou ');
        return `Para o serviço ${dps.serv.cServ.cTribNac} o município não admite dedução ${how}, e sim em ${instead}. Troque ${FORMAS_DEDUCAO[forma]}, ou retire o grupo vDedRed.`;
      },
      mend: 'Declare a dedução na forma que o município admite, ou retire o grupo vDedRed.',
      why: 'O município cadastra em que formas admite a dedução de um serviço: por valor, por percentual, por documentos.',
      when: (dps, facts) => dps.valores.vDedRed?.[FORMAS_DEDUCAO[forma]] !== undefined && hasBase(dps, facts),
      must: (dps, facts) => {
        const registrada = deducaoRegistrada(dps, facts);
        return typeof registrada !== 'object' || registrada.formas.has(forma);
      },
      rejects: [rejects],
      accepts: [accepts],
    }),
  ),
];

const REGIME: Patch = { 'prest/regTrib/regEspTrib': '6', 'valores/trib/tribMun/pAliq': null };

/** Whether a special regime is allowed at all: E0172, E0174 and E0175 report the other cases. */
function mayBeSpecial(dps: Dps): boolean {
  return dps.prest.regTrib.opSimpNac !== '2' && !assessesInSimples(dps);
}

const regimeInWords = ({ prest }: Dps): string => {
  const { regEspTrib } = prest.regTrib;
  const name = enumeracaoOf('regEspTrib').find(({ codigo }) => codigo === regEspTrib)?.descricao;
  return name === undefined ? regEspTrib : `${regEspTrib}, ${name}`;
};

/** A regime that the register does not give to the provider. */
function judgeRegime({
  kinds,
  only,
  says,
  ...rule
}: Pick<Rule, 'code' | 'title' | 'mend' | 'why' | 'rejects' | 'accepts'> & {
  readonly kinds: readonly string[];
  readonly only: (regEspTrib: string) => boolean;
  readonly says: string;
}): Rule {
  return {
    ...rule,
    ...annexHead(rule.code),
    at: 'prest/regTrib/regEspTrib',
    given: 'cadastros',
    message: (dps) => `${says} (regEspTrib ${regimeInWords(dps)}). Envie regEspTrib 0, ou procure a prefeitura.`,
    when: (dps) => only(dps.prest.regTrib.regEspTrib) && mayBeSpecial(dps),
    must: (dps, facts) => !kinds.includes(regimeRegistrado(dps, facts) ?? ''),
    found: ({ prest }) => prest.regTrib.regEspTrib,
  };
}

const AUTONOMO = '5';

export const REGIME_REGISTRADO: readonly Rule[] = [
  judgeRegime({
    code: 'E0177',
    title: 'Regime especial que o município não admite',
    kinds: ['nao_admitido'],
    only: (regEspTrib) => regEspTrib !== '0' && regEspTrib !== AUTONOMO,
    says: 'O município não admite este regime especial de tributação',
    mend: 'Envie regEspTrib 0, ou o regime que o município atribuiu ao prestador.',
    why: 'O município cadastra os regimes especiais que admite.',
    rejects: [{ ...REGIME, 'prest/regTrib/regEspTrib': '2' }],
    accepts: [REGIME],
  }),
  judgeRegime({
    code: 'E0176',
    title: 'O prestador não está cadastrado como profissional autônomo',
    kinds: ['nao_admitido', 'de_outro'],
    only: (regEspTrib) => regEspTrib === AUTONOMO,
    says: 'O prestador não está cadastrado no município como profissional autônomo na competência, para este serviço',
    mend: 'Envie regEspTrib 0; se o prestador é autônomo, a prefeitura o cadastra.',
    why: 'Só é autônomo quem o município cadastrou assim.',
    rejects: [{ ...REGIME, 'prest/regTrib/regEspTrib': AUTONOMO }],
    accepts: [{ ...REGIME, 'prest/regTrib/regEspTrib': AUTONOMO, 'prest/CNPJ': null, 'prest/CPF': '52998224725' }],
  }),
  judgeRegime({
    code: 'E0178',
    title: 'O município não atribuiu este regime especial ao prestador',
    kinds: ['de_outro'],
    only: (regEspTrib) => regEspTrib !== '0' && regEspTrib !== AUTONOMO,
    says: 'O município não atribuiu este regime especial ao prestador na competência, para este serviço',
    mend: 'Envie regEspTrib 0, ou o regime que o município atribuiu ao prestador.',
    why: 'Um regime especial é dos contribuintes a que o município o atribuiu, na vigência e para os serviços da atribuição.',
    rejects: [
      { ...REGIME, 'prest/regTrib/regEspTrib': '1' },
      { ...REGIME, 'serv/cServ/cTribNac': '170601' },
    ],
    accepts: [REGIME, { ...REGIME, 'prest/regTrib/regEspTrib': '4' }],
  }),
];

const NAO_INCIDENTE: Patch = {
  'serv/cServ/cTribNac': '010701',
  'valores/trib/tribMun/tribISSQN': '4',
  'valores/trib/tribMun/pAliq': null,
};

const tribISSQN = ({ valores }: Dps): string => valores.trib.tribMun.tribISSQN;

export const INCIDENCIA_REGISTRADA: readonly Rule[] = [
  {
    ...annexHead('E0539'),
    at: 'valores/trib/tribMun/tribISSQN',
    given: 'cadastros',
    title: 'Não incidência de um serviço que o município tributa',
    message: ({ serv }) =>
      `O serviço ${serv.cServ.cTribNac} é tributado pelo município, e veio tribISSQN 4. Envie tribISSQN 1, 2 ou 3, ou corrija o cTribNac.`,
    mend: 'Envie tribISSQN 1 (tributável), 2 (imune) ou 3 (exportação); ou corrija o cTribNac.',
    why: 'O município cadastra os serviços, e os prestadores, em que o ISSQN não incide; nos outros incide.',
    when: (dps) => tribISSQN(dps) === '4',
    must: (dps, facts) => isNaoIncidente(dps, facts) !== false,
    found: tribISSQN,
    rejects: [{ ...NAO_INCIDENTE, 'serv/cServ/cTribNac': '010101' }],
    accepts: [NAO_INCIDENTE],
  },
  {
    ...annexHead('E0540'),
    at: 'valores/trib/tribMun/tribISSQN',
    given: 'cadastros',
    title: 'O ISSQN não incide sobre o serviço neste município',
    message: (dps) =>
      `Sobre o serviço ${dps.serv.cServ.cTribNac} o ISSQN não incide neste município para o prestador, e veio tribISSQN ${tribISSQN(dps)}. Envie tribISSQN 4, sem pAliq.`,
    mend: 'Envie tribISSQN 4, sem pAliq.',
    why: 'O município cadastra os serviços, e os prestadores, em que o ISSQN não incide, e a nota tem de dizer o mesmo.',
    when: (dps) => tribISSQN(dps) !== '4',
    must: (dps, facts) => isNaoIncidente(dps, facts) !== true,
    found: tribISSQN,
    expected: '4',
    rejects: [{ 'serv/cServ/cTribNac': '010701' }],
    accepts: [NAO_INCIDENTE],
  },
];
