/** The values of an RPS in the terms of the DPS, which `mapa.ts` writes and `impedimentos.ts` judges. */
import { readSubitem, servicos, zoneOf } from '../catalogs/catalogs.ts';
import { type Decimal, formatDecimal, readDecimal, ZERO } from '../decimal.ts';
import { readDay } from '../moment.ts';
import { ownOf } from '../own.ts';
import type { Correlacao } from '../registers.ts';
import { WITHOUT_MINIMUM } from '../rules/valores.ts';
import { bare, type Rps } from './rps.ts';

/** The context in which an RPS is read. */
export type Contexto = {
  readonly tpAmb: '1' | '2';
  /**
   * IBGE code of the municipality of the note. Undefined for a provider without a note in the sandbox: the municipality of the provision is
   * used.
   */
  readonly cLocEmi: string | undefined;
  readonly correlacao: Correlacao | undefined;
  /** The correlation is the sandbox's own choice, and the note says so (D-219). */
  readonly escolhida?: boolean;
  /** Whether the municipality's register of benefits lists the number of the correlation as an exemption. */
  readonly isIsencao?: boolean;
  /** Key of the note of the RPS that this one replaces. */
  readonly chSubstda: string | undefined;
  /** The provider's registration that the lot names. */
  readonly inscricaoMunicipal?: string | undefined;
};

export const V = 'Servico/Valores';
export const TOMADOR = 'Tomador/IdentificacaoTomador';
export const ENDERECO = 'Tomador/Endereco';
export const FORA_DO_PAIS = /^9+$/;

/** The municipality of the note. */
export function cLocEmiOf(rps: Rps, { cLocEmi }: Pick<Contexto, 'cLocEmi'>): string | undefined {
  return cLocEmi ?? rps.get('Servico/CodigoMunicipio');
}

/** The date in the municipality; a text that is no date stays unchanged, and the reader reports it. */
export function competenciaOf(rps: Rps, contexto: Pick<Contexto, 'cLocEmi'>): string | undefined {
  const text = rps.get('DataCompetencia') ?? rps.get('DataEmissao');
  return text === undefined ? undefined : (readDay(zoneOf(cLocEmiOf(rps, contexto)), text) ?? text);
}

export function mapText<Value>(text: string | undefined, map: (text: string) => Value): Value | undefined {
  return text === undefined ? undefined : map(text);
}

/** The model writes zeros for an unknown document. */
export function documentOrNone(documento: string | undefined): string | undefined {
  return documento === undefined || /^0+$/.test(documento) ? undefined : documento;
}

export function hasTaker(rps: Rps): boolean {
  return ['Cpf', 'Cnpj'].some((name) => documentOrNone(rps.get(`${TOMADOR}/CpfCnpj/${name}`)) !== undefined);
}

export function ofTaker(path: string): (rps: Rps) => string | undefined {
  return (rps) => (hasTaker(rps) ? rps.get(path) : undefined);
}

/** A person with no address but a city is written without address, which the DPS allows; a company needs the whole address. */
export function ofAddress(name: string): (rps: Rps) => string | undefined {
  return (rps) => {
    const isCompany = documentOrNone(rps.get(`${TOMADOR}/CpfCnpj/Cnpj`)) !== undefined;
    const hasAddress = isCompany || ['Endereco', 'Bairro', 'Cep'].some((one) => rps.has(`${ENDERECO}/${one}`));
    return hasAddress ? ofTaker(`${ENDERECO}/${name}`)(rps) : undefined;
  };
}

export function isAbroad(rps: Rps): boolean {
  return (
    rps.get(`${ENDERECO}/Uf`)?.toUpperCase() === 'EX' || FORA_DO_PAIS.test(rps.get(`${ENDERECO}/CodigoMunicipio`) ?? '')
  );
}

export function isExempt(rps: Rps): boolean {
  return rps.get('NaturezaOperacao') === '3';
}

/** LC 116/2003, art. 8-A § 1. */
export function neverExempt(rps: Rps, contexto: Contexto): boolean {
  const codigo = cTribNacOf(rps, contexto);
  return codigo !== undefined && !WITHOUT_MINIMUM.has(codigo);
}

/** Whether the note has no base that a benefit could reduce. */
export function withoutOwnBase(rps: Rps, contexto: Contexto): boolean {
  const isBuilding = /^070[25]/.test(cTribNacOf(rps, contexto) ?? '');
  const opSimpNac = opSimpNacOf(rps);
  return opSimpNac === '2' || (opSimpNac === '3' && !isBuilding) || regEspTribOf(rps) !== '0';
}

export function isSuspended(rps: Rps): boolean {
  return ['5', '6'].includes(rps.get('NaturezaOperacao') ?? '');
}

export function opSimpNacOf(rps: Rps): '1' | '2' | '3' | undefined {
  const optante = rps.get('OptanteSimplesNacional');
  if (optante === undefined) return undefined;
  if (optante !== '1') return '1';
  return rps.get('RegimeEspecialTributacao') === '5' ? '2' : '3';
}

/** `regEspTrib` of the DPS by `RegimeEspecialTributacao`. */
export const REGIMES: Readonly<Record<string, string>> = { '1': '3', '2': '2', '3': '6', '4': '1' };

export function regEspTribOf(rps: Rps): string {
  return ownOf(REGIMES, rps.get('RegimeEspecialTributacao')) ?? '0';
}

/** A company that pays by another regime has no rate on its note. */
export function aliquotaOf(rps: Rps): string | undefined {
  const hasNone =
    rps.get('NaturezaOperacao') === '4' ||
    isSuspended(rps) ||
    opSimpNacOf(rps) === '2' ||
    regEspTribOf(rps) !== '0' ||
    (opSimpNacOf(rps) === '3' && rps.get(`${V}/IssRetido`) === '2');
  const text = rps.get(`${V}/Aliquota`);
  if (hasNone || text === undefined) return undefined;
  const [integer = '', sent = ''] = text.split('.');
  const fraction = sent.replace(/0+$/, '');
  const isPercent = Number(integer) >= 1;
  // A fraction has the two places of its percentage among its four.
  const places = fraction.padEnd(4, '0');
  const percent = isPercent ? `${integer}.${fraction || '0'}` : `${places.slice(0, 2)}.${places.slice(2)}`;
  const value = readDecimal(percent.replace(/^0+(?=\d)/, ''));
  // A client without a rate sends zero.
  if (value === ZERO) return undefined;
  return value === undefined ? percent : formatDecimal(value);
}

export function amount(rps: Rps, name: string): Decimal {
  return readDecimal(bare(rps.get(`${V}/${name}`) ?? '0').replace(/^\./, '0.')) ?? ZERO;
}

export function money(rps: Rps, path: string, evenZero = false): string | undefined {
  const text = rps.get(path);
  if (text === undefined) return undefined;
  const value = readDecimal(bare(text).replace(/^\./, '0.'));
  if (value === ZERO && !evenZero) return undefined;
  return value === undefined ? text : formatDecimal(value);
}

export const CONTRIBUTIONS = ['ValorPis', 'ValorCofins', 'ValorCsll'] as const;

/** The key says which of PIS, COFINS and CSLL are withheld. */
const KINDS: Readonly<Record<string, string>> = {
  '111': '3',
  '110': '4',
  '100': '5',
  '010': '6',
  '011': '7',
  '001': '8',
  '101': '9',
};

/**
 * The contributions that the extension marks as withheld, if it says so. CSLL is always a withholding, because the DPS has no other place
 * for it.
 */
const RETAINED: Readonly<Record<string, readonly string[]>> = {
  '0': [],
  '2': [],
  '5': ['ValorPis'],
  '6': ['ValorCofins'],
  '7': ['ValorCofins'],
  '8': [],
  '9': ['ValorPis'],
};

export function isRetained(rps: Rps, name: (typeof CONTRIBUTIONS)[number]): boolean {
  const retained = ownOf(RETAINED, rps.get(`${V}/TipoRetencaoPisCofins`));
  return retained === undefined || name === 'ValorCsll' || retained.includes(name);
}

/** Kinds in which nothing of CSLL was withheld. */
export const WITHOUT_CSLL = new Set(['0', '4', '5', '6']);

/** Whether there is any value of PIS, COFINS or CSLL; a DPS has such values only within their group. */
export function hasContributions(rps: Rps): boolean {
  const amounts = [...CONTRIBUTIONS, 'BaseCalculoPisCofins'];
  return rps.has(`${V}/TipoRetencaoPisCofins`) || amounts.some((name) => amount(rps, name) > ZERO);
}

/** Rounds half up to two places. The law asks only for an approximate percentage (Lei 12.741/2012), and clients write four places. */
export function roundedPercent(text: string): string {
  const [integer = '', fraction = ''] = text.split('.');
  const places = fraction.padEnd(3, '0');
  const cents = Number(`${integer}${places.slice(0, 2)}`) + (places[2]! >= '5' ? 1 : 0);
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

export function hasTotals(rps: Rps): boolean {
  return ['Fed', 'Est', 'Mun'].some((esfera) => /[1-9]/.test(rps.get(`${V}/pTotTrib${esfera}`) ?? ''));
}

export function retentionKind(rps: Rps): string | undefined {
  return KINDS[CONTRIBUTIONS.map((name) => (amount(rps, name) > ZERO ? '1' : '0')).join('')];
}

export function cTribNacOf(rps: Rps, { correlacao }: Contexto): string | undefined {
  return codigoNacionalOf(rps) ?? correlacao?.cTribNac ?? onlyCodeOf(rps.get('Servico/ItemListaServico'));
}

/** The national code that an RPS names itself, in the extension or in its item. */
export function codigoDoRps(rps: Rps): string | undefined {
  return codigoNacionalOf(rps) ?? onlyCodeOf(rps.get('Servico/ItemListaServico'));
}

/** The national code of the extension. Clients repeat the item there, which is no national code: it has no breakdown. */
export function codigoNacionalOf(rps: Rps): string | undefined {
  const digits = rps.get('DadosDPS/cTribNac')?.replace(/[\s.-]/g, '') ?? '';
  return digits.length < 5 ? undefined : digits.padStart(6, '0');
}

/** The national code of an item, if the item names one or the subitem has only one. */
function onlyCodeOf(item: string | undefined): string | undefined {
  if (item === undefined) return undefined;
  const digits = item.replace(/\D/g, '');
  if (digits.length >= 5) return digits.padStart(6, '0');
  const subitem = readSubitem(item);
  const codes = servicos().filter((servico) => servico.emissivel && servico.subitem === subitem);
  return codes.length === 1 ? codes[0]!.codigo : undefined;
}
