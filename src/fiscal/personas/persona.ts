/**
 * The type of a persona: an invented provider with documents ready to be sent, and the purpose of its notes. The parties that several
 * personas deal with are here too.
 *
 * Every document is invented: roots of CNPJ that are not assigned, CPF numbers that manuals use, names that say so.
 */
import type { DpsPath } from '../layout/dps.ts';
import type { Patch } from '../rules/rule.ts';

/** Municipality of all personas, of the example DPS too. */
export const MUNICIPIO_DAS_PERSONAS = '3550308';

/** Cells of a line, by column. */
type Linha = Readonly<Record<string, string>>;

/** A line of the providers' file. */
export type LinhaPrestador = {
  readonly documento: string;
  readonly razao_social: string;
  readonly inscricao_municipal: string;
  readonly simples_inicio: string;
  readonly simples_fim: string;
  readonly logradouro: string;
  readonly numero: string;
  readonly bairro: string;
  readonly cep: string;
};

/** Registers of a municipality besides its providers, by the names of the importers. */
export type CadastroDePersona = 'beneficios' | 'deducoes' | 'regimes' | 'nao_incidencias' | 'servicos';

export type EventoDoCenario = {
  /** Slug of the type. */
  readonly tipo: string;
  /** Fields of the request besides `tipo_evento`; the key of a substitute is not known before it is issued. */
  readonly corpo: Readonly<Record<string, string>>;
};

export type Cenario = {
  readonly id: string;
  readonly titulo: string;
  /** The purpose of the note, in one or two sentences. */
  readonly explica: string;
  /** A patch over the example DPS. Series, number and dates are absent: they are set when the document is written. */
  readonly dps: Patch;
  /** Dates of the document besides the competence, in days after it. */
  readonly dias?: Readonly<Partial<Record<DpsPath, number>>>;
  /** The differences from the competence of 01/01/2027 on, when PIS and COFINS have ended. */
  readonly desde2027?: Patch;
  /** Codes of the remarks of the law on it, in order. */
  readonly avisos: readonly string[];
  /** An event that is registered on the note afterwards. */
  readonly evento?: EventoDoCenario;
  /** The differences in the note that replaces it; the event of the replacement names that one. */
  readonly substituta?: Patch;
};

export type Persona = {
  readonly id: string;
  readonly titulo: string;
  /** The persona's identity, its special features, and the points of interest. */
  readonly historia: string;
  readonly prestador: LinhaPrestador;
  readonly cadastros: Readonly<Partial<Record<CadastroDePersona, readonly Linha[]>>>;
  readonly cenarios: readonly Cenario[];
};

type PrestadorDito = Pick<LinhaPrestador, 'documento' | 'razao_social' | 'inscricao_municipal'> & {
  readonly numero: string;
  /** First day in the Simples Nacional. */
  readonly simples?: string;
};

/** The line of a provider, all of them in one street. */
export function prestador({ simples = '', ...dito }: PrestadorDito): LinhaPrestador {
  const endereco = { logradouro: 'Rua dos Ensaios', bairro: 'Sé', cep: '01001000' };
  return { ...dito, simples_inicio: simples, simples_fim: '', ...endereco };
}

/** The provider of a DPS. `opSimpNac` and the other tax fields are the persona's. */
export function emitidaPor({ documento, razao_social, inscricao_municipal }: LinhaPrestador): Patch {
  const isPessoa = documento.length === 11;
  return {
    ...(isPessoa ? { 'prest/CNPJ': null, 'prest/CPF': documento } : { 'prest/CNPJ': documento }),
    'prest/IM': inscricao_municipal,
    'prest/xNome': razao_social,
  };
}

/** A service by its codes: LC 116, NBS, and its description on the note. */
export function servico(cTribNac: string, cNBS: string, xDescServ: string): Patch {
  return { 'serv/cServ/cTribNac': cTribNac, 'serv/cServ/cNBS': cNBS, 'serv/cServ/xDescServ': xDescServ };
}

const GRUPO = 'IBSCBS/valores/trib/gIBSCBS';

/** Indicator and classification of the operation for IBS and CBS. */
export function ibsCbs(cIndOp: string, cClassTrib: string): Patch {
  return { 'IBSCBS/cIndOp': cIndOp, [`${GRUPO}/CST`]: cClassTrib.slice(0, 3), [`${GRUPO}/cClassTrib`]: cClassTrib };
}

export function valor(vServ: string): Patch {
  return { 'valores/vServPrest/vServ': vServ };
}

const TRIB_MUN = 'valores/trib/tribMun';

/** A service taxed at a rate; `retidoPor`: the party that withholds. */
export function iss(pAliq: string, retidoPor?: 'tomador' | 'intermediario'): Patch {
  const tpRetISSQN = retidoPor === undefined ? '1' : retidoPor === 'tomador' ? '2' : '3';
  return { [`${TRIB_MUN}/pAliq`]: pAliq, [`${TRIB_MUN}/tpRetISSQN`]: tpRetISSQN };
}

export const SEM_ALIQUOTA: Patch = { [`${TRIB_MUN}/pAliq`]: null };

export const SEM_TOMADOR: Patch = { toma: null };

/** A company as the taker, at the address of the example. */
export const TOMADORA: Patch = {
  'toma/CPF': null,
  'toma/CNPJ': '99000707000165',
  'toma/xNome': 'Tomadora Fictícia Ltda',
};

export const INTERMEDIARIA: Patch = {
  'interm/CNPJ': '99000808000136',
  'interm/xNome': 'Intermediadora Fictícia Ltda',
  'interm/end/endNac/cMun': MUNICIPIO_DAS_PERSONAS,
  'interm/end/endNac/CEP': '01001000',
  'interm/end/xLgr': 'Rua dos Ensaios',
  'interm/end/nro': '800',
  'interm/end/xBairro': 'Sé',
};

export const CANCELAMENTO: EventoDoCenario = {
  tipo: 'cancelamento',
  corpo: {
    codigo_motivo_cancelamento: '2',
    descricao_motivo_cancelamento: 'O cliente desistiu e o serviço não foi prestado',
  },
};
