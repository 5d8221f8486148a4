/**
 * What a worked case is: an operation as a patch on the valid DPS, what must be known besides, and the amounts of its
 * note worked out line by line. The expected amounts are the ends of those lines; there is no second list of them.
 */
import type { Ambiente } from '../../src/fiscal/ambiente.ts';
import type { DpsPath } from '../../src/fiscal/layout/dps.ts';
import type { Vigencia } from '../../src/fiscal/moment.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';

export type Caso = {
  readonly nome: string;
  /** Where the formulas stand. `nfse-layout`, `dps-layout`, `error-codes`: the national annexes in our words, by section. */
  readonly fonte: string;
  readonly dps: Patch;
  /** Further members of a repeated group, by what differs from its first one. */
  readonly mais?: Readonly<Partial<Record<DpsPath, readonly Patch[]>>>;
  readonly fatos?: Fatos;
  /** One line a field of `valores` and `IBSCBS`, in the order of calculation; the grammar is in `../support/conta.ts`. */
  readonly conta: string;
};

/** What differs from a sandbox that knows nothing of the provider. */
export type Fatos = {
  readonly ambiente?: Ambiente;
  readonly hoje?: string;
  /** In percent. */
  readonly aliquotaRegistrada?: string;
  readonly simples?: readonly Vigencia[];
  /** Set where a national rule would refuse what the specification accepts. */
  readonly regrasNacionais?: 'avisa';
};

/** The day before the group of IBS and CBS is due for anybody. */
export const SEM_IBSCBS: Patch = { dCompet: '2026-09-30', IBSCBS: null };

export const SEM_GRUPO: Patch = { IBSCBS: null };

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

/** A receipt of a supplier; what is deducted of it is the case's. */
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

/** An expense paid for the taker's account; its amount is the case's. */
export const DOCUMENTO_TERCEIRO: Patch = {
  [`${TERCEIRO}/docOutro/nDoc`]: '77',
  [`${TERCEIRO}/docOutro/xDoc`]: 'Recibo de despesa do tomador',
  [`${TERCEIRO}/dtEmiDoc`]: '2026-10-01',
  [`${TERCEIRO}/dtCompDoc`]: '2026-10-01',
  [`${TERCEIRO}/tpReeRepRes`]: '99',
  [`${TERCEIRO}/xTpReeRepRes`]: 'Despesa paga por conta do tomador',
};
