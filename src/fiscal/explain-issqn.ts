/**
 * The ISSQN side of a note in words: every amount, its formula, and the reason for a missing one. The companion of `explainIbsCbs`; it runs
 * on demand, so that issuing does not pay for it.
 *
 * Nothing is computed here: the amounts are those of `assess.ts`, and their inputs come from `judge.ts`.
 */
import {
  aliquotasInWords,
  aliquotasOf,
  assessesInSimples,
  isAmong,
  type Registro,
  registroOf,
  whyNoneApplies,
} from './aliquota.ts';
import type { Benefit, Deduction, IssqnAmounts, IssqnInput } from './assess.ts';
import { enumeracaoOf } from './catalogs/catalogs.ts';
import { type Decimal, formatDecimal, ZERO } from './decimal.ts';
import type { Facts } from './facts.ts';
import { issqnInput } from './judge.ts';
import type { Dps } from './layout/dps.ts';
import type { NfsePath } from './layout/nfse.ts';

/** `valor` null: the field does not stand on the note, and `formula` says why. */
export type IssqnStep = { readonly campo: NfsePath; readonly formula: string; readonly valor: string | null };

/** Every amount once, in the order of calculation: a step uses only amounts above it, or values that the DPS declares. */
export function explainIssqn(dps: Dps, facts: Facts, amounts: IssqnAmounts): readonly IssqnStep[] {
  const input = issqnInput(dps, facts);
  const steps: readonly Amount[] = [
    ...reimbursementSteps(input, amounts),
    ...deductionSteps(input, amounts),
    ...benefitSteps(input, amounts),
    { campo: 'valores/vBC', formula: baseInWords(input, amounts), value: amounts.vBC },
    { campo: 'valores/pAliqAplic', formula: rateInWords(dps, facts), value: amounts.pAliqAplic },
    { campo: 'valores/vISSQN', formula: taxInWords(amounts), value: amounts.vISSQN },
    { campo: 'valores/vTotalRet', formula: withheldInWords(dps, input, amounts), value: amounts.vTotalRet },
  ];
  const absence = amounts.issqnShown ? undefined : `não consta da nota: ${whyAbsent(dps, input)}`;
  return [
    ...steps.map(({ campo, formula, value }) => ({
      campo,
      formula: ON_NOTE_ALONE.has(campo) ? (absence ?? formula) : formula,
      valor: value === undefined ? null : formatDecimal(value),
    })),
    { campo: 'valores/vLiq', formula: netInWords(input, amounts), valor: formatDecimal(amounts.vLiq) },
  ];
}

type Amount = { readonly campo: NfsePath; readonly formula: string; readonly value: Decimal | undefined };

/** Fields that are absent from a note with only the net value; the values that the DPS itself declares stay. */
const ON_NOTE_ALONE: ReadonlySet<NfsePath> = new Set<NfsePath>([
  'valores/vCalcDR',
  'valores/vCalcBM',
  'valores/vBC',
  'valores/pAliqAplic',
  'valores/vISSQN',
  'valores/vTotalRet',
]);

function reimbursementSteps({ vlrReeRepRes = [] }: IssqnInput, { vCalcReeRepRes }: IssqnAmounts): readonly Amount[] {
  if (vCalcReeRepRes === undefined) return [];
  const formula = `valores de terceiros, soma de vlrReeRepRes: ${vlrReeRepRes.map(formatDecimal).join(' + ')}`;
  return [{ campo: 'IBSCBS/valores/vCalcReeRepRes', formula, value: vCalcReeRepRes }];
}

function deductionSteps(input: IssqnInput, { vCalcDR, deduction }: IssqnAmounts): readonly Amount[] {
  switch (input.deduction?.kind) {
    case undefined:
      return [];
    case 'pDR': {
      const formula = `${bracket([nameAmount('vServ', input.vServ), ...discountTerm(input)])} × ${nameAmount('pDR', input.deduction.p)} %`;
      return [{ campo: 'valores/vCalcDR', formula, value: vCalcDR }];
    }
    case 'vDR': {
      const formula = 'dedução ou redução declarada em reais';
      return [{ campo: 'DPS/infDPS/valores/vDedRed/vDR', formula, value: deduction }];
    }
    case 'documentos': {
      const formula = `soma de vDeducaoReducao dos documentos: ${input.deduction.values.map(formatDecimal).join(' + ')}`;
      return [{ campo: 'valores/vCalcDR', formula, value: vCalcDR }];
    }
  }
}

function benefitSteps(input: IssqnInput, amounts: IssqnAmounts): readonly Amount[] {
  switch (input.benefit?.kind) {
    case undefined:
      return [];
    case 'isencao': {
      const after = [
        nameAmount('vServ', input.vServ),
        ...discountTerm(input),
        ...deductionTerm(input, amounts),
        ...reimbursementTerm(amounts),
      ].join(' − ');
      return [
        {
          campo: 'valores/vCalcBM',
          formula: `isenção registrada pelo município: a base inteira, ${after}`,
          value: amounts.vCalcBM,
        },
      ];
    }
    case 'pRedBCBM': {
      const after = bracket([
        nameAmount('vServ', input.vServ),
        ...discountTerm(input),
        ...deductionTerm(input, amounts),
      ]);
      const formula = `${after} × ${nameAmount('pRedBCBM', input.benefit.p)} %`;
      return [{ campo: 'valores/vCalcBM', formula, value: amounts.vCalcBM }];
    }
    case 'vRedBCBM': {
      const formula = 'redução da base por benefício municipal, declarada em reais';
      return [{ campo: 'DPS/infDPS/valores/trib/tribMun/BM/vRedBCBM', formula, value: amounts.benefit }];
    }
  }
}

function baseInWords(input: IssqnInput, amounts: IssqnAmounts): string {
  return [
    nameAmount('vServ', input.vServ),
    ...discountTerm(input),
    ...deductionTerm(input, amounts),
    ...(input.benefit === undefined ? [] : [nameAmount(BENEFIT_NAMES[input.benefit.kind], amounts.benefit)]),
    ...reimbursementTerm(amounts),
  ].join(' − ');
}

const DEDUCTION_NAMES: Readonly<Record<Deduction['kind'], string>> = {
  pDR: 'vCalcDR',
  vDR: 'vDR',
  documentos: 'vCalcDR',
};
const BENEFIT_NAMES: Readonly<Record<Benefit['kind'], string>> = {
  isencao: 'vCalcBM',
  pRedBCBM: 'vCalcBM',
  vRedBCBM: 'vRedBCBM',
};

function reimbursementTerm({ vCalcReeRepRes }: IssqnAmounts): readonly string[] {
  return vCalcReeRepRes === undefined ? [] : [nameAmount('vCalcReeRepRes', vCalcReeRepRes)];
}

function discountTerm({ vDescIncond = ZERO }: IssqnInput): readonly string[] {
  return vDescIncond === ZERO ? [] : [nameAmount('vDescIncond', vDescIncond)];
}

function deductionTerm(input: IssqnInput, { deduction }: IssqnAmounts): readonly string[] {
  return input.deduction === undefined ? [] : [nameAmount(DEDUCTION_NAMES[input.deduction.kind], deduction)];
}

/** The origin of the rate, and the other rates that it precedes. */
function rateInWords(dps: Dps, facts: Facts): string {
  const { registered, declared, fallback } = aliquotasOf(dps, facts);
  if (registered !== undefined) {
    const overridden =
      declared === undefined || declared === registered
        ? ''
        : `, e prevalece sobre ${nameAmount('pAliq', declared)} da DPS`;
    return `${registeredInWords(dps, facts)}${overridden}`;
  }
  const registro = registroOf(dps, facts);
  if (declared !== undefined) return `pAliq da DPS${declaredInWords(registro, declared)}`;
  const what = fallback !== undefined ? 'alíquota posta pelo ambiente de integração' : 'não há alíquota a aplicar';
  return `${what}: a DPS não traz pAliq, e ${whyNoneApplies(registro)}`;
}

/** Why the declared rate applies. */
function declaredInWords(registro: Registro, declared: Decimal): string {
  if (registro.kind === 'do_simples') return ': quem apura o ISSQN no Simples Nacional informa a sua própria alíquota';
  if (registro.kind === 'varias' && isAmong(registro.servicos, declared)) {
    return `, uma das alíquotas que o município tem para o serviço, conforme o código municipal: ${aliquotasInWords(registro.servicos)}`;
  }
  return `: ${whyNoneApplies(registro)}`;
}

function registeredInWords(dps: Dps, facts: Facts): string {
  const registro = registroOf(dps, facts);
  if (registro.kind === 'do_beneficio') return `alíquota diferenciada do benefício municipal ${registro.nBM}`;
  const { serv, dCompet } = dps;
  const { cServ } = serv;
  const { servicoMunicipal } = facts;
  const { cTribNac, cTribMun } = cServ;
  if (servicoMunicipal(cTribMun ?? '', dCompet) === 'sem_lista') {
    return 'alíquota padrão do município, que não tem lista de serviços';
  }
  const service = cTribMun === undefined ? `cTribNac ${cTribNac}` : `cTribMun ${cTribMun}`;
  return `alíquota registrada pelo município para ${service} na competência ${dCompet}`;
}

function taxInWords({ vBC, vISSQN, pAliqAplic }: IssqnAmounts): string {
  if (vISSQN === ZERO && pAliqAplic === undefined) return 'operação isenta';
  if (vBC === undefined || pAliqAplic === undefined) return 'sem alíquota não há ISSQN a calcular';
  return `${nameAmount('vBC', vBC)} × ${nameAmount('pAliqAplic', pAliqAplic)} %`;
}

function withheldInWords(dps: Dps, input: IssqnInput, amounts: IssqnAmounts): string {
  const parts = [
    ...federalTerms(input),
    ...(amounts.vISSQNRet === ZERO
      ? []
      : [
          `${nameAmount('vISSQN', amounts.vISSQNRet)} (${RETAINED_BY[input.tpRetISSQN]}, tpRetISSQN ${input.tpRetISSQN})`,
        ]),
  ];
  const own = ownDebits(dps);
  const sum = parts.length === 0 ? 'nada retido' : parts.join(' + ');
  return own === undefined ? sum : `${sum}; ${own}`;
}

const RETAINED_BY: Readonly<Record<IssqnInput['tpRetISSQN'], string>> = {
  '1': 'não retido',
  '2': 'retido pelo tomador',
  '3': 'retido pelo intermediário',
};

function federalTerms({ vRetCP, vRetIRRF, vRetCSLL }: IssqnInput): readonly string[] {
  return Object.entries({ vRetCP, vRetIRRF, vRetCSLL }).flatMap(([campo, value]) =>
    value === undefined || value === ZERO ? [] : [nameAmount(campo, value)],
  );
}

function ownDebits({ valores }: Dps): string | undefined {
  const { vPis, vCofins } = valores.trib.tribFed?.piscofins ?? {};
  return vPis === undefined && vCofins === undefined
    ? undefined
    : 'vPis e vCofins são débito do próprio prestador e não entram';
}

function netInWords(input: IssqnInput, { vTotalRet }: IssqnAmounts): string {
  const { vDescCond = ZERO } = input;
  const withheld =
    vTotalRet === undefined ? federalTerms(input) : vTotalRet === ZERO ? [] : [nameAmount('vTotalRet', vTotalRet)];
  return [
    nameAmount('vServ', input.vServ),
    ...discountTerm(input),
    ...(vDescCond === ZERO ? [] : [nameAmount('vDescCond', vDescCond)]),
    ...withheld,
  ].join(' − ');
}

/** Every reason why the net value is the only one of the ISSQN on the note. */
function whyAbsent(dps: Dps, { opSimpNac, tribISSQN, regEspTrib, exigSusp, tpRetISSQN }: IssqnInput): string {
  const { tpImunidade, exigSusp: suspension } = dps.valores.trib.tribMun;
  const reasons: string[] = [];
  if (opSimpNac === '2') {
    reasons.push(`o prestador é MEI (opSimpNac ${opSimpNac}) e recolhe o ISSQN em valor fixo (E1302)`);
  }
  if (assessesInSimples(dps) && tpRetISSQN === '1') {
    reasons.push(
      'o prestador apura o ISSQN pelo Simples Nacional (opSimpNac 3, regApTribSN 1) e, sem retenção, o recolhe no DAS (LC 123/2006, arts. 13 e 18)',
    );
  }
  if (tribISSQN !== '1') {
    const immunity = tpImunidade === undefined ? '' : `, tpImunidade ${tpImunidade}`;
    reasons.push(
      `${NOT_TAXED[tribISSQN]} (tribISSQN ${tribISSQN}${immunity}) não tem base, alíquota nem ISSQN (E1303)`,
    );
  }
  if (regEspTrib !== '0') {
    const name = enumeracaoOf('regEspTrib').find(({ codigo }) => codigo === regEspTrib)?.descricao;
    const regime = `regEspTrib ${regEspTrib}${name === undefined ? '' : `, ${name}`}`;
    reasons.push(`no regime especial de tributação (${regime}) o ISSQN não se calcula nesta nota (E1307)`);
  }
  if (exigSusp) {
    const by = suspension?.tpSusp === '1' ? 'decisão judicial' : 'processo administrativo';
    reasons.push(`a exigibilidade está suspensa por ${by} (tpSusp ${suspension?.tpSusp}, E1311)`);
  }
  return reasons.join('; ');
}

const NOT_TAXED: Readonly<Record<'2' | '3' | '4', string>> = {
  '2': 'operação imune',
  '3': 'exportação de serviço',
  '4': 'operação sem incidência',
};

function bracket(terms: readonly string[]): string {
  return terms.length === 1 ? terms[0]! : `(${terms.join(' − ')})`;
}

/** `vBC 10.00`. */
export function nameAmount(campo: string, value: Decimal): string {
  return `${campo} ${formatDecimal(value)}`;
}
