/**
 * Rules of a municipal benefit by the municipality's register (national rules "parameters of the municipality"). They do not apply if the
 * municipality keeps no register. Whether the group `BM` is allowed at all, E0533 to E0536, is in `trib-mun.ts`.
 */
import { assessesInSimples } from '../aliquota.ts';
import { type Beneficio, beneficioOf, beneficioRegistrado, isIsenta, type TipoBeneficio } from '../cadastros.ts';
import { type Decimal, formatDecimal } from '../decimal.ts';
import type { Facts } from '../facts.ts';
import type { Dps } from '../layout/dps.ts';
import { annexHead, ofPart, type Patch, type Rule, whenPresent } from './rule.ts';
import { WITHOUT_MINIMUM } from './valores.ts';

/** Each kind as a message names it. */
const EM_PALAVRAS: Readonly<Record<TipoBeneficio, string>> = {
  isencao: 'uma isenção',
  reducao_percentual: 'uma redução da base em percentual',
  reducao_valor: 'uma redução da base em reais',
  aliquota_diferenciada: 'uma alíquota diferenciada',
};

/** The other fields of the group for each kind, besides the number. */
const COMO_SE_ENVIA: Readonly<Record<TipoBeneficio, string>> = {
  isencao: 'Envie só nBM',
  reducao_percentual: 'Informe em pRedBCBM o percentual',
  reducao_valor: 'Informe em vRedBCBM o valor',
  aliquota_diferenciada: 'Envie só nBM',
};

/** Numbers of `examples/beneficios.csv`, each with the conditions of the DPS for it to apply. */
const PERCENTUAL: Patch = {
  'valores/trib/tribMun/BM/nBM': '35503080400001',
  'valores/trib/tribMun/BM/pRedBCBM': '50.00',
  'valores/trib/tribMun/pAliq': '5.00',
};
const ISENCAO: Patch = {
  'serv/cServ/cTribNac': '170601',
  'valores/trib/tribMun/BM/nBM': '35503080400002',
  'valores/trib/tribMun/pAliq': null,
};
const EM_REAIS: Patch = {
  'valores/trib/tribMun/BM/nBM': '35503080400003',
  'valores/trib/tribMun/BM/vRedBCBM': '500.00',
  'valores/trib/tribMun/pAliq': '5.00',
};
const DIFERENCIADA: Patch = {
  'valores/trib/tribMun/BM/nBM': '35503080400004',
  'valores/trib/tribMun/pAliq': null,
};

/** A group that is not allowed is not compared with the register, so that one mistake is one fault. */
function hasPlace(dps: Dps): boolean {
  const { prest, serv, valores } = dps;
  const { opSimpNac, regEspTrib } = prest.regTrib;
  if (valores.trib.tribMun.tribISSQN !== '1' || opSimpNac === '2' || regEspTrib !== '0') return false;
  return !assessesInSimples(dps) || /^070[25]/.test(serv.cServ.cTribNac);
}

function registradoOf(dps: Dps, facts: Facts): ReturnType<typeof beneficioRegistrado> {
  return hasPlace(dps) ? beneficioRegistrado(dps, facts) : undefined;
}

function aplicavelTo(dps: Dps, facts: Facts): Beneficio | undefined {
  return hasPlace(dps) ? beneficioOf(dps, facts) : undefined;
}

/** Whether the registered benefit has no rate, or its own rate: a declared one is refused (E0612), and none is demanded. */
export function dispensesWithAliquota(dps: Dps, facts: Facts): boolean {
  const tipo = aplicavelTo(dps, facts)?.tipo;
  return tipo === 'isencao' || tipo === 'aliquota_diferenciada';
}

const nBM = ({ valores }: Dps): string => valores.trib.tribMun.BM?.nBM ?? '';

/** `de 01/2026 a 12/2026`: the periods of a number. */
function periodsInWords(linhas: readonly Beneficio[]): string {
  return linhas.map(({ inicio, fim }) => (fim === undefined ? `desde ${inicio}` : `de ${inicio} a ${fim}`)).join(' e ');
}

type NumberRule = Pick<Rule, 'code' | 'title' | 'mend' | 'why' | 'rejects' | 'accepts'> & {
  readonly kinds: readonly NonNullable<ReturnType<typeof beneficioRegistrado>>['kind'][];
  readonly says: (found: NonNullable<ReturnType<typeof beneficioRegistrado>>, dps: Dps) => string;
};

/** A rule about the number that was sent. */
function judgeNumber({ kinds, says, ...rule }: NumberRule): Rule {
  return whenPresent(registradoOf, {
    ...rule,
    ...annexHead(rule.code),
    at: 'valores/trib/tribMun/BM/nBM',
    given: 'cadastros',
    message: says,
    must: ({ kind }) => !kinds.includes(kind),
    found: (_registrado, dps) => nBM(dps),
  });
}

const NUMEROS: readonly Rule[] = [
  judgeNumber({
    code: 'E0541',
    title: 'O benefício municipal não existe no cadastro do município',
    kinds: ['inexistente'],
    says: (_found, dps) =>
      `O benefício ${nBM(dps)} não existe no município. Corrija nBM, ou retire o grupo BM se o serviço não tem benefício.`,
    mend: 'Informe em nBM os 14 dígitos que a prefeitura deu ao benefício; sem benefício, retire o grupo BM.',
    why: 'O município cadastra os benefícios que concede, e só um deles reduz o imposto.',
    rejects: [{ ...PERCENTUAL, 'valores/trib/tribMun/BM/nBM': '35503080499999' }],
    accepts: [PERCENTUAL],
  }),
  judgeNumber({
    code: 'E0544',
    title: 'O benefício municipal não vigora na competência',
    kinds: ['sem_vigencia'],
    says: (found, dps) =>
      `O benefício ${nBM(dps)} não vigora na competência ${dps.dCompet}${found.kind === 'sem_vigencia' ? `, e sim ${periodsInWords(found.linhas)}` : ''}. Retire o grupo BM, ou corrija nBM ou a competência.`,
    mend: 'Retire o grupo BM, ou informe um benefício que vigore na competência da DPS.',
    why: 'Um benefício vale do começo ao fim da sua vigência, contada pela competência da DPS.',
    rejects: [{ ...PERCENTUAL, 'valores/trib/tribMun/BM/nBM': '35503080400005' }],
    accepts: [PERCENTUAL],
  }),
  judgeNumber({
    code: 'E0550',
    title: 'O benefício municipal não é deste serviço ou deste prestador',
    kinds: ['de_outro_servico', 'de_outro_prestador'],
    says: (found, dps) =>
      found.kind === 'de_outro_servico'
        ? `O benefício ${nBM(dps)} não alcança o serviço ${dps.serv.cServ.cTribNac}. Retire o grupo BM, ou corrija nBM ou cTribNac.`
        : `O benefício ${nBM(dps)} não foi concedido a este prestador. Retire o grupo BM, ou corrija nBM; se ele é seu, procure a prefeitura.`,
    mend: 'Retire o grupo BM, ou informe um benefício que a prefeitura concedeu a este prestador para este serviço.',
    why: 'Um benefício pode ser de alguns serviços, e de alguns prestadores.',
    rejects: [
      { ...DIFERENCIADA, 'serv/cServ/cTribNac': '010201' },
      { ...PERCENTUAL, 'valores/trib/tribMun/BM/nBM': '35503080400006' },
    ],
    accepts: [DIFERENCIADA],
  }),
];

type Forma = 'vRedBCBM' | 'pRedBCBM';

/** A form of a reduction: each of the two belongs to its own kind of benefit. */
type Reducao = {
  readonly forma: Forma;
  readonly outra: Forma;
  readonly tipo: TipoBeneficio;
  readonly so: string;
  readonly falta: string;
  readonly value: string;
  readonly good: Patch;
  readonly bad: readonly Patch[];
};

const POR_VALOR: Reducao = {
  forma: 'vRedBCBM',
  outra: 'pRedBCBM',
  tipo: 'reducao_valor',
  so: 'E0565',
  falta: 'E0567',
  value: '500.00',
  good: EM_REAIS,
  bad: [{ ...PERCENTUAL, 'valores/trib/tribMun/BM/pRedBCBM': null }, ISENCAO, DIFERENCIADA],
};

const POR_PERCENTUAL: Reducao = {
  forma: 'pRedBCBM',
  outra: 'vRedBCBM',
  tipo: 'reducao_percentual',
  so: 'E0577',
  falta: 'E0579',
  value: '50.00',
  good: PERCENTUAL,
  bad: [{ ...EM_REAIS, 'valores/trib/tribMun/BM/vRedBCBM': null }, ISENCAO, DIFERENCIADA],
};

/** A reduction that was sent, and the benefit that applies. */
function findReduction(dps: Dps, facts: Facts, forma: Forma): { medida: Decimal; beneficio: Beneficio } | undefined {
  const medida = dps.valores.trib.tribMun.BM?.[forma];
  const beneficio = medida === undefined ? undefined : aplicavelTo(dps, facts);
  return medida === undefined || beneficio === undefined ? undefined : { medida, beneficio };
}

/** A reduction in percent that was sent, and the largest one of its benefit. */
function findLimitedReduction(dps: Dps, facts: Facts): { sent: Decimal; largest: Decimal } | undefined {
  const reduction = findReduction(dps, facts, 'pRedBCBM');
  const largest = reduction?.beneficio.reducao;
  return reduction === undefined || largest === undefined ? undefined : { sent: reduction.medida, largest };
}

/** Rules about a form under a benefit of another kind, and about a reduction without its form. */
function rulesOf({ forma, outra, tipo, so, falta, value, good, bad }: Reducao): readonly Rule[] {
  const at = `valores/trib/tribMun/BM/${forma}` as const;
  return [
    whenPresent((dps, facts) => findReduction(dps, facts, forma), {
      ...annexHead(so),
      at,
      given: 'cadastros',
      title: `${forma} num benefício que não é ${EM_PALAVRAS[tipo]}`,
      message: ({ beneficio: { tipo: other } }, dps) =>
        `O benefício ${nBM(dps)} é ${EM_PALAVRAS[other]}, e ${forma} não cabe. ${COMO_SE_ENVIA[other]}, e retire ${forma}.`,
      mend: `Retire ${forma}; numa redução pela outra forma, informe ${outra}.`,
      why: `${forma} é a medida de ${EM_PALAVRAS[tipo]}; um benefício de outro tipo não se mede assim.`,
      must: ({ beneficio }) => beneficio.tipo === tipo,
      found: ({ medida }) => formatDecimal(medida),
      rejects: bad.map((patch) => ({ ...patch, [at]: value })),
      accepts: [good],
    }),
    {
      ...annexHead(falta),
      at,
      given: 'cadastros',
      title: `Falta ${forma} num benefício que é ${EM_PALAVRAS[tipo]}`,
      message: (dps) => `O benefício ${nBM(dps)} é ${EM_PALAVRAS[tipo]}, e falta ${forma}. ${COMO_SE_ENVIA[tipo]}.`,
      mend: `Informe ${forma}.`,
      why: `${EM_PALAVRAS[tipo].replace('uma', 'Uma')} só se calcula com ${forma}.`,
      // The other form in its place is reported separately.
      when: (dps, facts) =>
        dps.valores.trib.tribMun.BM?.[outra] === undefined && aplicavelTo(dps, facts)?.tipo === tipo,
      must: ({ valores }) => valores.trib.tribMun.BM?.[forma] !== undefined,
      rejects: [{ ...good, [at]: null }],
      accepts: [good],
    },
  ];
}

/** Whether the DPS has the group of a benefit. */
export const hasBeneficio = ({ valores }: Dps): boolean => valores.trib.tribMun.BM !== undefined;

/** Rules in the order of the layout: the number, then each form of a reduction. */
export const BENEFICIO_REGISTRADO: readonly Rule[] = ofPart(hasBeneficio, [
  ...NUMEROS,
  ...rulesOf(POR_VALOR),
  whenPresent(({ valores }) => valores.trib.tribMun.BM?.vRedBCBM, {
    ...annexHead('E0574'),
    at: 'valores/trib/tribMun/BM/vRedBCBM',
    given: 'cadastros',
    title: 'O benefício municipal é maior que o valor do serviço',
    message: (vRedBCBM, { valores }) =>
      `vRedBCBM é ${formatDecimal(vRedBCBM)}, mais que o valor do serviço, ${formatDecimal(valores.vServPrest.vServ)}. Reduza vRedBCBM.`,
    mend: 'Reduza vRedBCBM, no máximo até o valor do serviço.',
    why: 'Um benefício não reduz a base em mais do que o serviço vale.',
    when: (_vRedBCBM, dps, facts) => aplicavelTo(dps, facts)?.tipo === 'reducao_valor',
    must: (vRedBCBM, { valores }) => vRedBCBM <= valores.vServPrest.vServ,
    found: formatDecimal,
    rejects: [{ ...EM_REAIS, 'valores/trib/tribMun/BM/vRedBCBM': '1000.01' }],
    accepts: [EM_REAIS],
  }),
  ...rulesOf(POR_PERCENTUAL),
  whenPresent(findLimitedReduction, {
    ...annexHead('E0586'),
    at: 'valores/trib/tribMun/BM/pRedBCBM',
    given: 'cadastros',
    message: ({ sent, largest }, dps) =>
      `pRedBCBM é ${formatDecimal(sent)}, e o benefício ${nBM(dps)} reduz a base em até ${formatDecimal(largest)}%. Reduza pRedBCBM.`,
    why: 'O município cadastra até quanto um benefício reduz a base.',
    must: ({ sent, largest }) => sent <= largest,
    found: ({ sent }) => formatDecimal(sent),
    rejects: [{ ...PERCENTUAL, 'valores/trib/tribMun/BM/pRedBCBM': '50.01' }],
    accepts: [PERCENTUAL],
  }),
]);

export const RETENCAO_NA_ISENCAO: Rule = {
  ...annexHead('E0594'),
  at: 'valores/trib/tribMun/tpRetISSQN',
  given: 'cadastros',
  title: 'Retenção numa operação isenta',
  message: (dps) =>
    `O benefício ${nBM(dps)} é uma isenção, e não há ISSQN que se retenha: veio tpRetISSQN ${dps.valores.trib.tribMun.tpRetISSQN}. Envie tpRetISSQN 1.`,
  mend: 'Envie tpRetISSQN 1; se o serviço não é isento, retire o grupo BM.',
  why: 'Numa operação isenta não há imposto que o tomador retenha.',
  when: (dps, facts) => hasPlace(dps) && isIsenta(dps, facts),
  must: ({ valores }) => valores.trib.tribMun.tpRetISSQN === '1',
  found: ({ valores }) => valores.trib.tribMun.tpRetISSQN,
  expected: '1',
  rejects: [{ ...ISENCAO, 'valores/trib/tribMun/tpRetISSQN': '2' }],
  accepts: [ISENCAO],
};

export const ALIQUOTA_COM_BENEFICIO: Rule = whenPresent(({ valores }) => valores.trib.tribMun.pAliq, {
  ...annexHead('E0612'),
  at: 'valores/trib/tribMun/pAliq',
  given: 'cadastros',
  title: 'Alíquota com um benefício que a dispensa',
  message: (_pAliq, dps, facts) => {
    const aliquota = aplicavelTo(dps, facts)?.aliquota;
    const instead =
      aliquota === undefined
        ? `${EM_PALAVRAS.isencao}: não há imposto`
        : `${EM_PALAVRAS.aliquota_diferenciada}: a alíquota é ${formatDecimal(aliquota)}%`;
    return `O benefício ${nBM(dps)} é ${instead}, e pAliq não se envia. Retire pAliq.`;
  },
  mend: 'Retire pAliq: numa isenção não há imposto, e a alíquota diferenciada é a do cadastro do município.',
  why: 'A isenção dispensa a alíquota, e a diferenciada quem a diz é o município.',
  // A rate that is not allowed at all, because the tax is in the DAS, is reported by E0625.
  when: (_pAliq, dps, facts) =>
    !(assessesInSimples(dps) && dps.valores.trib.tribMun.tpRetISSQN === '1') && dispensesWithAliquota(dps, facts),
  must: () => false,
  found: formatDecimal,
  rejects: [ISENCAO, DIFERENCIADA].map((patch) => ({ ...patch, 'valores/trib/tribMun/pAliq': '2.00' })),
  accepts: [ISENCAO, DIFERENCIADA],
});

/** The place of this rule is before those of the ISSQN. */
export const DEDUCAO_NA_ISENCAO: Rule = {
  ...annexHead('E0439'),
  at: 'valores/vDedRed',
  given: 'cadastros',
  title: 'Dedução numa operação isenta',
  message: (dps) =>
    `O grupo vDedRed não cabe aqui: o benefício ${nBM(dps)} é uma isenção, e não há base de que deduzir. Retire o grupo.`,
  mend: 'Retire o grupo vDedRed; se o serviço não é isento, retire o grupo BM.',
  why: 'Uma isenção tira a base inteira, e nada fica de que deduzir.',
  national: 'Um benefício que o município não tem é E0541.',
  when: (dps, facts) => hasPlace(dps) && isIsenta(dps, facts),
  must: ({ valores }) => valores.vDedRed === undefined,
  rejects: [{ ...ISENCAO, 'valores/vDedRed/vDR': '100.00' }],
  accepts: [ISENCAO],
};

/** The rule about the price of the service. */
export const ISENCAO_ABAIXO_DO_MINIMO: Rule = {
  ...annexHead('E0429', 'LC 116/2003, art. 8º-A'),
  at: 'valores/vServPrest/vServ',
  given: 'cadastros',
  message: (dps) =>
    `O benefício ${nBM(dps)} é uma isenção, e o serviço ${dps.serv.cServ.cTribNac} não é dos que a lei deixa isentar: o ISSQN não pode ser menos que 2% do valor do serviço. Retire o grupo BM, ou corrija o cTribNac.`,
  mend: 'Retire o grupo BM, ou corrija o cTribNac.',
  why: 'A alíquota mínima do ISSQN é de 2%, e uma isenção não pode ter o efeito de uma menor, salvo nos serviços que a lei dispensa dela.',
  when: (dps, facts) => hasPlace(dps) && isIsenta(dps, facts),
  must: ({ serv }) => WITHOUT_MINIMUM.has(serv.cServ.cTribNac),
  found: ({ valores }) => formatDecimal(valores.vServPrest.vServ),
  // The exemptions of the example are of services that may be exempt.
  rejects: [],
  accepts: [ISENCAO],
};
