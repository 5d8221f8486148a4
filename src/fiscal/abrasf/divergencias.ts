/**
 * Differences between a judged RPS and its note: in declared amounts, as for a JSON body (D-145), and in the place of the tax (D-736). A
 * signed value is never replaced silently.
 */
import { municipioInWords, servicoOf } from '../catalogs/catalogs.ts';
import { add, type Decimal, formatDecimal, sub, ZERO } from '../decimal.ts';
import type { Judged } from '../judge.ts';
import type { Dps } from '../layout/dps.ts';
import { isWithinTolerance } from '../rules/valores.ts';
import type { Rps } from './rps.ts';
import { aliquotaOf, amount, isSuspended, opSimpNacOf, regEspTribOf, V } from './rps-values.ts';

/** A code, a message and a correction of the model. */
export type Divergencia = { readonly codigo: string; readonly mensagem: string; readonly correcao: string };

/** The note that an RPS becomes. */
export type Julgada = Pick<Judged, 'amounts' | 'cLocIncid'> & { readonly dps: Dps };

type Valor = {
  readonly nome: 'BaseCalculo' | 'ValorIss' | 'ValorIssRetido' | 'ValorLiquidoNfse';
  readonly codigo: string;
  /** The name of the correct amount in a message. */
  readonly certo: string;
  /** Undefined where the note has none. */
  readonly calculado: (julgada: Julgada, rps: Rps) => Decimal | undefined;
  /** The parts of the sum, in a sentence. */
  readonly conta: (julgada: Julgada, rps: Rps) => string;
  readonly correcao: (julgada: Julgada, rps: Rps) => string;
};

const VALORES: readonly Valor[] = [
  {
    nome: 'BaseCalculo',
    codigo: 'E100',
    certo: 'a base calculada',
    // Every client declares this amount, also for a note that shows no base: the sum is the same.
    calculado: ({ amounts }) => amounts.base,
    conta: ({ dps, amounts: { deduction, benefit } }) =>
      `Serviço ${formatDecimal(vServOf(dps))}, deduções ${formatDecimal(deduction)}, desconto incondicionado ${formatDecimal(vDescIncondOf(dps))}${
        benefit > ZERO ? `, isenção ${formatDecimal(benefit)}` : ''
      }.`,
    correcao: () => 'Corrija BaseCalculo, as deduções ou o desconto; ou retire BaseCalculo, que o serviço a calcula.',
  },
  {
    nome: 'ValorIss',
    codigo: 'E153',
    certo: 'o ISS calculado',
    calculado: ({ amounts }) => amounts.vISSQN,
    conta: contaOfIss,
    correcao: (julgada, rps) => correcaoOfIss('ValorIss', julgada, rps),
  },
  {
    nome: 'ValorIssRetido',
    codigo: 'E153',
    certo: 'o ISS retido',
    calculado: ({ amounts }) => (amounts.vISSQN === undefined ? undefined : amounts.vISSQNRet),
    conta: contaOfIss,
    correcao: (julgada, rps) => correcaoOfIss('ValorIssRetido', julgada, rps),
  },
  {
    nome: 'ValorLiquidoNfse',
    codigo: 'E100',
    certo: 'o líquido calculado',
    calculado: ({ amounts }, rps) => netOf(amounts.vLiq, amount(rps, 'OutrasRetencoes')),
    conta: ({ dps, amounts: { vLiq } }, rps) => {
      const descontos = add(vDescIncondOf(dps), dps.valores.vDescCondIncond?.vDescCond ?? ZERO);
      const retencoes = add(sub(sub(vServOf(dps), descontos), vLiq), amount(rps, 'OutrasRetencoes'));
      return `Serviço ${formatDecimal(vServOf(dps))}, descontos ${formatDecimal(descontos)}, retenções ${formatDecimal(retencoes)}.`;
    },
    correcao: () =>
      'Corrija ValorLiquidoNfse, os descontos ou as retenções; ou retire ValorLiquidoNfse, que o serviço o calcula.',
  },
];

/** Names of the amounts that an RPS may declare. */
export const DECLARADOS = VALORES.map(({ nome }) => nome);

/** The model also subtracts other withholdings, which the NFS-e does not have. */
export function netOf(vLiq: Decimal, outrasRetencoes: Decimal): Decimal {
  const left = sub(vLiq, outrasRetencoes);
  return left > ZERO ? left : ZERO;
}

/** All differences between an RPS and the note that it becomes. A declared zero is no declaration. */
export function divergenciasOf(rps: Rps, julgada: Julgada): readonly Divergencia[] {
  const natureza = naturezaDivergente(rps, julgada);
  const valores = VALORES.flatMap((valor) => valorDivergente(valor, rps, julgada) ?? []);
  return natureza === undefined ? valores : [natureza, ...valores];
}

function valorDivergente(valor: Valor, rps: Rps, julgada: Julgada): Divergencia | undefined {
  const { nome, codigo, certo, calculado, conta, correcao } = valor;
  const declarado = amount(rps, nome);
  // An amount declared as withheld, with nothing withheld, is a separate impediment.
  if (declarado === ZERO || (nome === 'ValorIssRetido' && rps.get(`${V}/IssRetido`) === '2')) return undefined;
  const right = calculado(julgada, rps);
  if (right === undefined) {
    const mensagem = `${nome} é ${formatDecimal(declarado)}, e a nota não leva ISS. ${semIss(rps)}`;
    return { codigo, mensagem, correcao: `Retire ${nome}, ou envie 0.00.` };
  }
  if (isWithinTolerance(declarado, right)) return undefined;
  const mensagem = `${nome} é ${formatDecimal(declarado)}, e ${certo} é ${formatDecimal(right)}. ${conta(julgada, rps)}`;
  return { codigo, mensagem, correcao: correcao(julgada, rps) };
}

/** The natures of operation that say where the tax is due: in the municipality of the note, or outside. */
const DENTRO = '1';
const FORA = '2';

function naturezaDivergente(rps: Rps, { dps, cLocIncid }: Julgada): Divergencia | undefined {
  const natureza = rps.get('NaturezaOperacao');
  if (cLocIncid === undefined || (natureza !== DENTRO && natureza !== FORA)) return undefined;
  const right = cLocIncid === dps.cLocEmi ? DENTRO : FORA;
  if (natureza === right) return undefined;
  const [onde, corrigir] = LUGARES[servicoOf(dps.serv.cServ.cTribNac)?.regra ?? ''] ?? NO_ESTABELECIMENTO;
  const said =
    natureza === FORA ? 'é 2, fora do município do prestador' : `é 1, no município do prestador (${dps.cLocEmi})`;
  return {
    codigo: 'E144',
    mensagem: `O ISS deste serviço é devido ${onde}, em ${municipioInWords(cLocIncid)}, e NaturezaOperacao ${said}.`,
    correcao: `Use NaturezaOperacao ${right}; se o ISS é devido em outro município, corrija ${corrigir}.`,
  };
}

const NO_ESTABELECIMENTO = ['no estabelecimento do prestador', 'ItemListaServico'] as const;

/** The place of the tax by the rule of the service, and the element of the RPS that names it. */
const LUGARES: Readonly<Record<string, readonly [onde: string, corrigir: string]>> = {
  LP: ['onde ele é prestado', 'CodigoMunicipio do serviço'],
  ET: ['no município do tomador', 'CodigoMunicipio do tomador'],
};

function vServOf({ valores }: Dps): Decimal {
  return valores.vServPrest.vServ;
}

function vDescIncondOf({ valores }: Dps): Decimal {
  return valores.vDescCondIncond?.vDescIncond ?? ZERO;
}

function contaOfIss({ amounts: { vBC, pAliqAplic } }: Julgada): string {
  return pAliqAplic === undefined
    ? 'A operação é isenta.'
    : `Base ${formatDecimal(vBC!)}, alíquota ${formatDecimal(pAliqAplic)}%.`;
}

function correcaoOfIss(nome: string, { amounts: { pAliqAplic } }: Julgada, rps: Rps): string {
  const applied = pAliqAplic === undefined ? undefined : formatDecimal(pAliqAplic);
  return applied === undefined || applied === aliquotaOf(rps)
    ? `Corrija ${nome}, Aliquota ou a base; ou retire ${nome}, que o serviço o calcula.`
    : `A alíquota que se aplica é ${applied}%, e não a do RPS: corrija Aliquota e ${nome}; ou retire ${nome}, que o serviço o calcula.`;
}

/** Why a note has no ISS; a note with an unknown rate was refused before (E0619, E0640). */
function semIss(rps: Rps): string {
  if (rps.get('NaturezaOperacao') === '4') return 'A operação é imune.';
  if (isSuspended(rps)) return 'A exigibilidade está suspensa.';
  if (opSimpNacOf(rps) === '2') return 'O de um MEI é recolhido no DAS.';
  if (regEspTribOf(rps) !== '0') return 'Em regime especial ele não se calcula em cada nota.';
  return 'Sem retenção, o do Simples Nacional é recolhido no DAS.';
}
