/** Rules of the values, `valores`: those of the sent amounts, and those of the computed ones. */
import type { IssqnAmounts } from '../assess.ts';
import { isIsenta } from '../cadastros.ts';
import { type Decimal, decimal, distance, formatDecimal, formatExactPercent, percentOf, ZERO } from '../decimal.ts';
import type { Declarado } from '../declarado.ts';
import type { Facts } from '../facts.ts';
import { ISS_MIN } from '../iss.ts';
import type { Dps } from '../layout/dps.ts';
import { INPUTS } from './inputs.ts';
import { type AmountRule, annexHead, type Patch, type Rule, whenPresent } from './rule.ts';

/** The maximum difference between a declared ISSQN amount and the computed one (specification, E404: no tolerance is stated). */
const ISSQN_TOLERANCE = decimal('0.01');

const CENT = decimal('0.01');

/** Codes that the minimum does not bind. Anexo I v1.01, E0429. */
export const WITHOUT_MINIMUM: ReadonlySet<string> = new Set(
  `042201 042301 050901 070201 070202 070501 070502 090201 090202 100101 100102 100103 100104 100105 100201 100202
   100301 100401 100402 100403 100501 100502 100601 100701 100801 100901 101001 150101 150102 150103 150104 150105
   151001 151002 151003 151004 151005 160101 160102 160103 160104 160201 170501 170601 171001 171002 171101 171102
   171201 210101 250301`.split(/\s+/),
);

/** The national standard does not accept this issuer yet (E9996). */
const EMITIDA_PELO_INTERMEDIARIO: Patch = {
  tpEmit: '3',
  cMotivoEmisTI: '2',
  'serv/infoCompl/docRef': 'Contrato 12/2026',
};

/** A discount is a part of the price. */
function limitDiscount(code: string, name: 'vDescIncond' | 'vDescCond', kind: string): Rule {
  const at = `valores/vDescCondIncond/${name}` as const;
  return whenPresent(({ valores }) => valores.vDescCondIncond?.[name], {
    ...annexHead(code),
    at,
    title: `Desconto ${kind} fora do intervalo`,
    message: (desconto, { valores }) =>
      `O desconto ${kind} é ${formatDecimal(desconto)} e o valor do serviço é ${formatDecimal(valores.vServPrest.vServ)}: o desconto tem de ser maior que zero e menor que vServ. Sem desconto, retire ${name}.`,
    mend: `Informe em ${name} um valor maior que zero e menor que vServ; sem desconto, retire o elemento.`,
    why: `O desconto ${kind} é uma parte do preço: quando existe, não é zero nem o preço inteiro.`,
    must: (desconto, { valores }) => desconto > ZERO && desconto < valores.vServPrest.vServ,
    found: formatDecimal,
    expected: 'valor maior que 0.00 e menor que vServ',
    rejects: [{ [at]: '0.00' }],
    accepts: [{ [at]: '999.99' }],
  });
}

/** A declared ISSQN with the base and the rate that it must be the product of. */
function readDeclaredProduct(
  { valores }: Dps,
  _facts: Facts,
  { valor_base_calculo: base, valor_issqn: issqn }: Declarado,
) {
  const { pAliq } = valores.trib.tribMun;
  return issqn === undefined || base === undefined || pAliq === undefined ? undefined : { base, pAliq, issqn };
}

export const VALORES: readonly Rule[] = [
  {
    ...annexHead('E0423'),
    at: 'valores/vServPrest/vReceb',
    title: 'Falta o valor recebido pelo intermediário',
    message:
      'A DPS é emitida pelo intermediário (tpEmit 3) e não traz vReceb. Informe o valor que o intermediário recebeu.',
    mend: 'Informe vReceb, ou corrija tpEmit.',
    why: 'Quem intermedeia recebe o preço e o repassa: a nota que ele emite diz quanto recebeu.',
    when: ({ tpEmit }) => tpEmit === '3',
    must: ({ valores }) => valores.vServPrest.vReceb !== undefined,
    expected: 'valor não menor que vServ',
    also: ['E9996'],
    rejects: [EMITIDA_PELO_INTERMEDIARIO],
    accepts: [],
  },
  whenPresent(({ valores }) => valores.vServPrest.vReceb, {
    ...annexHead('E0424'),
    at: 'valores/vServPrest/vReceb',
    title: 'Valor recebido numa DPS que não é do intermediário',
    message: (_vReceb, { tpEmit }) =>
      `vReceb só cabe na DPS que o intermediário emite (tpEmit 3); esta traz tpEmit ${tpEmit}. Retire vReceb.`,
    mend: 'Retire vReceb, ou corrija tpEmit.',
    why: 'O valor recebido é o do intermediário, e só ele o informa.',
    must: (_vReceb, { tpEmit }) => tpEmit === '3',
    found: formatDecimal,
    rejects: [{ 'valores/vServPrest/vReceb': '1000.00' }],
    accepts: [{}],
  }),
  whenPresent(({ valores }) => valores.vServPrest.vReceb, {
    ...annexHead('E0425'),
    at: 'valores/vServPrest/vReceb',
    title: 'O intermediário recebeu menos que o valor do serviço',
    message: (vReceb, { valores }) =>
      `vReceb é ${formatDecimal(vReceb)}, menos que vServ, ${formatDecimal(valores.vServPrest.vServ)}. O valor recebido inclui o do serviço.`,
    mend: 'Corrija vReceb, que não pode ser menor que vServ.',
    why: 'O intermediário recebe o preço do serviço e, além dele, o que for seu.',
    when: (_vReceb, { tpEmit }) => tpEmit === '3',
    must: (vReceb, { valores }) => vReceb >= valores.vServPrest.vServ,
    found: formatDecimal,
    also: ['E9996'],
    rejects: [{ ...EMITIDA_PELO_INTERMEDIARIO, 'valores/vServPrest/vReceb': '999.99' }],
    accepts: [],
  }),
  {
    code: 'E401',
    at: 'valores/vServPrest/vServ',
    message: 'O valor do serviço deve ser maior que zero.',
    origin: 'Especificação, Errors: E401',
    why: 'Uma nota sem valor não documenta prestação alguma.',
    must: ({ valores }) => valores.vServPrest.vServ > ZERO,
    found: () => '0.00',
    expected: 'valor maior que 0.00',
    rejects: [{ 'valores/vServPrest/vServ': '0.00' }, { 'valores/vServPrest/vServ': '-10.00' }],
    accepts: [{ 'valores/vServPrest/vServ': '0.01' }],
  },
  limitDiscount('E0431', 'vDescIncond', 'incondicionado'),
  limitDiscount('E0432', 'vDescCond', 'condicionado'),
  whenPresent(readDeclaredProduct, {
    code: 'E404',
    at: 'NFSe/infNFSe/valores/vISSQN',
    message: ({ base, pAliq, issqn }) => {
      const product = percentOf(base, pAliq);
      return `O ISSQN declarado é ${formatDecimal(issqn)}, e ${formatDecimal(base)} a ${formatDecimal(pAliq)}% dá ${formatDecimal(product)}. Corrija o valor, a base ou a alíquota; ou deixe o ISSQN e a base de fora, que o serviço os calcula.`;
    },
    origin: 'Especificação, Errors: E404; decisão D-13',
    why: 'O ISSQN é a base vezes a alíquota, com tolerância de 0,01.',
    must: ({ base, pAliq, issqn }) => isWithinTolerance(issqn, percentOf(base, pAliq)),
    found: ({ issqn }) => formatDecimal(issqn),
    rejects: [{ '=valor_base_calculo': '1000.00', '=valor_issqn': '20.02' }],
    accepts: [
      { '=valor_base_calculo': '1000.00', '=valor_issqn': '20.00' },
      { '=valor_base_calculo': '1000.00', '=valor_issqn': '20.01' },
    ],
  }),
];

/** The declared base beside the computed one. */
function pairBases({ vBC }: IssqnAmounts, _dps: Dps, _facts: Facts, { valor_base_calculo: declared }: Declarado) {
  return declared === undefined || vBC === undefined ? undefined : { declared, vBC };
}

/** The declared ISSQN beside the computed one. */
function pairIssqns({ vISSQN }: IssqnAmounts, _dps: Dps, _facts: Facts, { valor_issqn: declared }: Declarado) {
  return declared === undefined || vISSQN === undefined ? undefined : { declared, vISSQN };
}

export const VALORES_CALCULADOS: readonly AmountRule[] = [
  {
    code: 'E0427',
    at: 'valores/vServPrest/vServ',
    message: ({ base, deduction, benefit, vCalcReeRepRes = ZERO }, { valores }) => {
      const { vServ } = valores.vServPrest;
      const discount = valores.vDescCondIncond?.vDescIncond ?? ZERO;
      return `A base de cálculo ficaria negativa, ${formatDecimal(base)}: o valor do serviço ${formatDecimal(vServ)} não cobre o desconto incondicionado ${formatDecimal(discount)}, a dedução ou redução ${formatDecimal(deduction)}, o benefício ${formatDecimal(benefit)} e os valores de terceiros (gReeRepRes) ${formatDecimal(vCalcReeRepRes)}. Corrija o que for.`;
    },
    origin: 'Anexo I, E0427',
    why: 'A base de cálculo não pode ser negativa, e o esquema nacional não tem como escrevê-la.',
    national: 'No padrão nacional um só documento de dedução maior que o valor do serviço é E0476.',
    must: ({ base }) => base >= ZERO,
    found: (_amounts, { valores }) => formatDecimal(valores.vServPrest.vServ),
    expected: 'valor que cubra o desconto incondicionado, a dedução, o benefício e os valores de terceiros',
    from: INPUTS.reckonedBase,
    rejects: [{ 'valores/vDedRed/vDR': '1000.01' }],
    // A service without the minimum of 2 %; the tax would otherwise be below it.
    accepts: [{ 'serv/cServ/cTribNac': '170601', 'valores/vDedRed/vDR': '1000.00' }],
  },
  {
    code: 'E0428',
    at: 'valores/vServPrest/vServ',
    message: 'O valor do serviço não cobre os descontos e as retenções: o valor líquido ficaria negativo.',
    origin: 'Anexo I, E0428',
    why: 'O valor líquido não pode ser negativo, e o esquema nacional não tem como escrevê-lo.',
    // A base below zero is reported separately.
    must: ({ base, vLiq }) => base < ZERO || vLiq >= ZERO,
    from: INPUTS.net,
    rejects: [{ 'valores/vDescCondIncond/vDescCond': '990.00', 'valores/trib/tribFed/vRetIRRF': '15.00' }],
    accepts: [{ 'valores/vDescCondIncond/vDescCond': '985.00', 'valores/trib/tribFed/vRetIRRF': '15.00' }],
  },
  whenPresent(({ pAliqAplic }) => pAliqAplic, {
    ...annexHead('E0429', 'LC 116/2003, art. 8º-A'),
    at: 'valores/vServPrest/vServ',
    title: 'A dedução ou o benefício leva o ISSQN abaixo de 2% do valor do serviço',
    message: (pAliqAplic, { deduction, benefit }, { serv, valores }) => {
      const { vServ } = valores.vServPrest;
      const reduced = (vServ - deduction - benefit) as Decimal;
      return `Com a dedução e o benefício o ISSQN é ${formatExactPercent(reduced, pAliqAplic)}: ${formatDecimal(reduced)} a ${formatDecimal(pAliqAplic)}%. É menos que 2% de ${formatDecimal(vServ)}, ${formatExactPercent(vServ, ISS_MIN)}, o mínimo para o serviço ${serv.cServ.cTribNac}. Reduza a dedução ou o benefício.`;
    },
    mend: 'Reduza a dedução ou o benefício até que o ISSQN não fique abaixo de 2% do valor do serviço. Se o serviço é um dos que a lei dispensa do mínimo, confira o cTribNac.',
    why: 'A alíquota mínima do ISSQN é de 2%, e uma redução da base não pode ter o mesmo efeito que uma alíquota menor. O desconto incondicionado não entra nessa conta, e alguns serviços, como os de construção, são dispensados dela.',
    national: 'O ADN confere o mesmo mínimo na nota, com o E1297.',
    // An exemption has its own rule, without a rate.
    when: (_pAliqAplic, { base, deduction, benefit, issqnShown }, dps, facts) =>
      !isIsenta(dps, facts) &&
      (deduction > ZERO || benefit > ZERO) &&
      issqnShown &&
      base >= ZERO &&
      !WITHOUT_MINIMUM.has(dps.serv.cServ.cTribNac),
    // The product is not rounded, so that the limit is exact: 2 % of the price, and not of its cents.
    must: (pAliqAplic, { deduction, benefit }, dps) => {
      const { vServ } = dps.valores.vServPrest;
      return (vServ - deduction - benefit + roundingOf(dps)) * pAliqAplic >= vServ * ISS_MIN;
    },
    from: INPUTS.issqn,
    rejects: [
      // (1000.00 - 600.01) x 5 % = 19.9995, and 2 % of 1000.00 is 20.00
      { 'valores/trib/tribMun/pAliq': '5.00', 'valores/vDedRed/vDR': '600.01' },
      // (1000.00 - 0.01 %) x 2 % is below 20.00
      { 'valores/trib/tribMun/BM/nBM': '35503080400001', 'valores/trib/tribMun/BM/pRedBCBM': '0.01' },
    ],
    accepts: [
      { 'valores/trib/tribMun/pAliq': '5.00', 'valores/vDedRed/vDR': '600.00' },
      { 'serv/cServ/cTribNac': '170601', 'valores/vDedRed/pDR': '80.00' },
      // Half of 33.25 is 16.625, and 4 % of it exactly 2 % of the price; the deduction is 16.63
      {
        'valores/vServPrest/vServ': '33.25',
        'valores/vDedRed/pDR': '50.00',
        'valores/trib/tribMun/pAliq': '4.00',
      },
      { 'valores/vDescCondIncond/vDescIncond': '100.00' },
    ],
  }),
  whenPresent(pairBases, {
    code: 'E404',
    at: 'NFSe/infNFSe/valores/vBC',
    message: ({ declared, vBC }, { deduction, benefit, vCalcReeRepRes }, { valores }) =>
      `A base declarada é ${formatDecimal(declared)}, e a calculada é ${formatDecimal(vBC)}: vServ ${formatDecimal(valores.vServPrest.vServ)}, menos desconto incondicionado ${formatDecimal(valores.vDescCondIncond?.vDescIncond ?? ZERO)}, dedução ${formatDecimal(deduction)}, benefício ${formatDecimal(benefit)} e valores de terceiros ${formatDecimal(vCalcReeRepRes ?? ZERO)}. Corrija-a, ou deixe-a de fora, que o serviço a calcula.`,
    origin: 'Especificação, DPS: valores (a base) e Errors: E404; decisão D-13',
    why: 'A nota leva a base calculada: uma declarada que é outra mostra que o remetente entendeu outro imposto.',
    must: ({ declared, vBC }) => isWithinTolerance(declared, vBC),
    found: ({ declared }) => formatDecimal(declared),
    calculated: ({ vBC }) => formatDecimal(vBC),
    from: INPUTS.issqnBase,
    rejects: [{ '=valor_base_calculo': '1000.00', 'valores/vDescCondIncond/vDescIncond': '100.00' }],
    accepts: [{ '=valor_base_calculo': '900.00', 'valores/vDescCondIncond/vDescIncond': '100.00' }],
  }),
  whenPresent(pairIssqns, {
    code: 'E404',
    at: 'NFSe/infNFSe/valores/vISSQN',
    message: ({ declared, vISSQN }, { base, pAliqAplic }) =>
      `O ISSQN declarado é ${formatDecimal(declared)}, e o calculado é ${formatDecimal(vISSQN)}: ${pAliqAplic === undefined ? 'o benefício é uma isenção' : `base ${formatDecimal(base)} a ${formatDecimal(pAliqAplic)}%, a alíquota que se aplica`}. Corrija-o, ou deixe-o de fora, que o serviço o calcula.`,
    origin: 'Especificação, Errors: E404; decisão D-13',
    why: 'A nota leva o ISSQN calculado, da base calculada e da alíquota que se aplica, que pode ser a do cadastro do município.',
    // A different base is reported separately.
    when: (_issqns, { base }, _dps, _facts, { valor_base_calculo = base }) =>
      isWithinTolerance(valor_base_calculo, base),
    must: ({ declared, vISSQN }) => isWithinTolerance(declared, vISSQN),
    found: ({ declared }) => formatDecimal(declared),
    calculated: ({ vISSQN }) => formatDecimal(vISSQN),
    from: INPUTS.issqn,
    rejects: [{ '=valor_issqn': '20.02' }, { '=valor_issqn': '0.00' }],
    accepts: [{ '=valor_issqn': '20.00' }, { '=valor_issqn': '19.99' }],
  }),
];

/** The maximum that rounding to the cent may have added to a reduction in percent. */
function roundingOf({ valores }: Dps): Decimal {
  const isInPercent = valores.vDedRed?.pDR !== undefined || valores.trib.tribMun.BM?.pRedBCBM !== undefined;
  return isInPercent ? CENT : ZERO;
}

/** Whether a declared amount of the ISSQN is the computed one, to a cent. */
export function isWithinTolerance(declared: Decimal, computed: Decimal): boolean {
  return distance(declared, computed) <= ISSQN_TOLERANCE;
}
