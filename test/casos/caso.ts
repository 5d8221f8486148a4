/**
 * A worked case: an operation as a patch on the valid DPS, its facts, and the amounts of its note, field by field. The expected amounts are
 * the results of those lines; there is no second list of them. `x` multiplies, `≈` is the only rounding, half up to the cent. Python's
 * decimal calculated them from the formulas of the reference; `test/casos.test.ts` recalculates every line.
 */
import type { Ambiente } from '../../src/fiscal/ambiente.ts';
import type { DpsPath } from '../../src/fiscal/layout/dps.ts';
import type { Vigencia } from '../../src/fiscal/moment.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';

export type Caso = {
  readonly nome: string;
  /** The source of the formulas. `nfse-layout`, `dps-layout`, `error-codes`: the national annexes in our words, by section. */
  readonly fonte: string;
  readonly dps: Patch;
  /** Further members of a repeated group, by their differences from the first one. */
  readonly mais?: Readonly<Partial<Record<DpsPath, readonly Patch[]>>>;
  readonly fatos?: Fatos;
  readonly conta: Conta;
};

/** The calculation of each field of `valores` and `IBSCBS`; the grammar is in `../support/conta.ts`. */
export type Conta = Readonly<Record<string, string>>;

/** Differences from a sandbox that does not know the provider. */
export type Fatos = {
  readonly ambiente?: Ambiente;
  readonly hoje?: string;
  /** A rate in percent. */
  readonly aliquotaRegistrada?: string;
  readonly simples?: readonly Vigencia[];
  /** Set if a national rule would refuse a DPS that the specification accepts. */
  readonly regrasNacionais?: 'avisa';
};

/** A competence on the day before the group of IBS and CBS becomes mandatory. */
export const SEM_IBSCBS: Patch = { dCompet: '2026-09-30', IBSCBS: null };

export const SEM_GRUPO: Patch = { IBSCBS: null };

/** A classification of IBS and CBS; its first three digits are the CST. */
export const classe = (cClassTrib: string): Patch => ({
  'IBSCBS/valores/trib/gIBSCBS/CST': cClassTrib.slice(0, 3),
  'IBSCBS/valores/trib/gIBSCBS/cClassTrib': cClassTrib,
});

/** PIS and COFINS of a base, by default at 0.65 % and 3 %. */
export const pisCofins = (
  vBCPisCofins: string,
  tpRetPisCofins: string,
  [vPis, vCofins]: readonly [string, string],
  [pAliqPis, pAliqCofins]: readonly [string, string] = ['0.65', '3.00'],
): Patch => ({
  'valores/trib/tribFed/piscofins/CST': '01',
  'valores/trib/tribFed/piscofins/vBCPisCofins': vBCPisCofins,
  'valores/trib/tribFed/piscofins/pAliqPis': pAliqPis,
  'valores/trib/tribFed/piscofins/pAliqCofins': pAliqCofins,
  'valores/trib/tribFed/piscofins/vPis': vPis,
  'valores/trib/tribFed/piscofins/vCofins': vCofins,
  'valores/trib/tribFed/piscofins/tpRetPisCofins': tpRetPisCofins,
});

/** An ISSQN suspended by a court. */
export const SUSPENSA: Patch = {
  'valores/trib/tribMun/pAliq': null,
  'valores/trib/tribMun/exigSusp/tpSusp': '1',
  'valores/trib/tribMun/exigSusp/nProcesso': '000000000012345678920268260100',
};

export const OPTANTE: readonly Vigencia[] = [{ inicio: '2020-01-01', fim: undefined }];

export const OBRA: Patch = {
  'serv/cServ/cTribNac': '070201',
  'serv/obra/end/CEP': '01001000',
  'serv/obra/end/xLgr': 'Praça da Sé',
  'serv/obra/end/nro': '1',
  'serv/obra/end/xBairro': 'Sé',
};

export const INTERMEDIARIO: Patch = {
  'interm/CNPJ': '00000000000191',
  'interm/xNome': 'Intermediadora Exemplo Ltda',
  'interm/end/endNac/cMun': '3550308',
  'interm/end/endNac/CEP': '01001000',
  'interm/end/xLgr': 'Praça da Sé',
  'interm/end/nro': '2',
  'interm/end/xBairro': 'Sé',
};

export const TOMADOR_EXTERIOR: Patch = {
  'toma/CPF': null,
  'toma/NIF': 'US-123456789',
  'toma/end/endExt/cPais': 'US',
  'toma/end/endExt/cEndPost': '10001',
  'toma/end/endExt/xCidade': 'New York',
  'toma/end/endExt/xEstProvReg': 'NY',
  'serv/comExt/mdPrestacao': '1',
  'serv/comExt/vincPrest': '6',
  'serv/comExt/tpMoeda': '220',
  'serv/comExt/vServMoeda': '200.00',
  'serv/comExt/mecAFComexP': '01',
  'serv/comExt/mecAFComexT': '01',
  'serv/comExt/movTempBens': '1',
  'serv/comExt/mdic': '0',
};

const DEDUCAO = 'valores/vDedRed/documentos/docDedRed';

/** A receipt of a supplier; each case sets the deducted amount. */
export const DOCUMENTO_DEDUCAO: Patch = {
  [`${DEDUCAO}/nDocFisc`]: 'Recibo 12',
  [`${DEDUCAO}/tpDedRed`]: '2',
  [`${DEDUCAO}/dtEmiDoc`]: '2026-09-01',
  [`${DEDUCAO}/vDedutivelRedutivel`]: '500.00',
  [`${DEDUCAO}/fornec/CNPJ`]: '00000000000191',
  [`${DEDUCAO}/fornec/xNome`]: 'Fornecedora Exemplo Ltda',
  [`${DEDUCAO}/fornec/end/endNac/cMun`]: '3550308',
  [`${DEDUCAO}/fornec/end/endNac/CEP`]: '01001000',
  [`${DEDUCAO}/fornec/end/xLgr`]: 'Praça da Sé',
  [`${DEDUCAO}/fornec/end/nro`]: '3',
  [`${DEDUCAO}/fornec/end/xBairro`]: 'Sé',
};

const TERCEIRO = 'IBSCBS/valores/gReeRepRes/documentos';

/** An expense paid on the taker's behalf; each case sets its amount. */
export const DOCUMENTO_TERCEIRO: Patch = {
  [`${TERCEIRO}/docOutro/nDoc`]: '77',
  [`${TERCEIRO}/docOutro/xDoc`]: 'Recibo de despesa do tomador',
  [`${TERCEIRO}/dtEmiDoc`]: '2026-10-01',
  [`${TERCEIRO}/dtCompDoc`]: '2026-10-01',
  [`${TERCEIRO}/tpReeRepRes`]: '99',
  [`${TERCEIRO}/xTpReeRepRes`]: 'Despesa paga por conta do tomador',
};

/** The last amount of a line. */
export const amountOf = (line: string): string => line.split(/ [=≈] /).at(-1)!;

/** The lines of the ISSQN; the argument for `vISSQN` is the part after the product of base and rate. */
export const issqn = ({
  vBC,
  pAliqAplic = '2.00',
  vISSQN,
  vTotalRet = '0.00',
  vLiq = vBC,
  ...others
}: Conta & { readonly vBC: string; readonly vISSQN: string }): Conta => ({
  ...others,
  vBC,
  pAliqAplic,
  vISSQN: `${amountOf(vBC)} x ${pAliqAplic} % = ${vISSQN}`,
  vTotalRet,
  vLiq,
});

/** The IBS and CBS rates, and their effective rates. */
export type Aliquotas = Conta & { readonly pAliqEfetUF: string; readonly pAliqEfetCBS: string };

const BASICAS = { pIBSUF: '0.10', pIBSMun: '0.00', pCBS: '0.90' };

/** The rates of the test year. */
export const PLENAS: Aliquotas = { ...BASICAS, pAliqEfetUF: '0.10', pAliqEfetMun: '0.00', pAliqEfetCBS: '0.90' };

/** The rates where nothing is due. */
const NULAS: Aliquotas = {
  ...{ pIBSUF: '0.00', pIBSMun: '0.00', pCBS: '0.00' },
  ...{ pAliqEfetUF: '0.00', pAliqEfetMun: '0.00', pAliqEfetCBS: '0.00' },
};

/** The rates of the test year with reductions of the IBS and the CBS: the remaining parts of 0.10 % and 0.90 %. */
export const reduzidas = (
  pAliqEfetUF: string,
  pAliqEfetCBS: string,
  pRedAliqIBS: string,
  pRedAliqCBS = pRedAliqIBS,
): Aliquotas => ({
  ...BASICAS,
  pRedAliqUF: pRedAliqIBS,
  pAliqEfetUF: `0.10 x (1 - ${pRedAliqIBS} %) = ${pAliqEfetUF}`,
  pRedAliqMun: pRedAliqIBS,
  pAliqEfetMun: `0.00 x (1 - ${pRedAliqIBS} %) = 0.00`,
  pRedAliqCBS,
  pAliqEfetCBS: `0.90 x (1 - ${pRedAliqCBS} %) = ${pAliqEfetCBS}`,
});

/** The lines of IBS and CBS; the arguments for `vIBSUF` and `vCBS` are the parts after the product of base and rate. */
export function ibscbs(
  vBC: string,
  [vIBSUF, vCBS]: readonly [string, string],
  vTotNF: string,
  aliquotas: Aliquotas = PLENAS,
): Conta {
  const base = amountOf(vBC);
  return {
    'IBSCBS/vBC': vBC,
    ...aliquotas,
    vIBSUF: `${base} x ${amountOf(aliquotas.pAliqEfetUF)} % = ${vIBSUF}`,
    vIBSMun: `${base} x 0.00 % = 0.00`,
    vCBS: `${base} x ${amountOf(aliquotas.pAliqEfetCBS)} % = ${vCBS}`,
    vIBSTot: `${amountOf(vIBSUF)} + 0.00 = ${amountOf(vIBSUF)}`,
    vTotNF,
  };
}

/** The same lines, where nothing is due. */
export const semIbscbs = (vBC: string, vTotNF: string): Conta => ibscbs(vBC, ['0.00', '0.00'], vTotNF, NULAS);
