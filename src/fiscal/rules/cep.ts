/**
 * The CEP of an address in Brazil against its municipality. The ADN compares the two. Only the states are compared here, by the ranges of
 * the Correios, so these rules never refuse.
 */
import { municipioInWords, municipioOf } from '../catalogs/catalogs.ts';
import { ufOfCep } from '../catalogs/faixas-cep.ts';
import { MARITIME } from '../incidence.ts';
import type { Dps } from '../layout/dps.ts';
import { type Patch, type Rule, whenPresent } from './rule.ts';

/** The place of a CEP, and the code of the ADN for it. */
type Place = Pick<Rule, 'code' | 'at'> & {
  /** The address in the words of the message: `do tomador`. */
  readonly whose: string;
  /** A DPS that has the address, with correct CEP and municipality. */
  readonly accepts: Patch;
};

type EndNac = { readonly cMun: string; readonly CEP: string };

/** Whether CEP and municipality are of one state. A municipality that does not exist is another mistake (E403, E0238, …). */
export function isOfState(cMun: string, cep: string): boolean {
  const municipio = municipioOf(cMun);
  return municipio === undefined || municipio.uf === ufOfCep(cep);
}

/** The remark on a CEP of another state; `which` is the municipality in words that the sender knows. */
export function cepInWords(code: string, cep: string, cMun: string, which: string): string {
  const uf = ufOfCep(cep);
  const state = uf === undefined ? 'não está em nenhuma faixa dos Correios' : `é de ${uf}`;
  return `O CEP ${cep} ${state}, e ${which} é ${municipioInWords(cMun)}. Confira os dois: o ADN recusa a nota quando o CEP não é do município (${code}).`;
}

const WORDS = {
  scope: 'aviso',
  mend: 'Confira o CEP e o município do endereço: têm de ser do mesmo lugar.',
  why: 'O ambiente nacional confere se o CEP é do município. Aqui se conferem só os estados, pelas faixas dos Correios: a nota é emitida, com um aviso.',
} as const;

/** The common part of every remark on a CEP. */
export function cepHead(code: string, whose: string) {
  return { ...WORDS, code, title: `O CEP ${whose} não é do estado do município`, origin: `Anexo I, ${code}` } as const;
}

/** The CEP of a party, against the municipality of its own address. */
export function cepOfParty({ code, at, whose, accepts }: Place, of: (dps: Dps) => EndNac | undefined): Rule {
  return whenPresent(of, {
    ...cepHead(code, whose),
    at,
    message: ({ cMun, CEP }) => cepInWords(code, CEP, cMun, `o município do endereço ${whose}`),
    must: ({ cMun, CEP }) => isOfState(cMun, CEP),
    rejects: [
      { ...accepts, [at]: '20040002' },
      { ...accepts, [at]: '00000000' },
    ],
    accepts: [accepts],
  });
}

/** The CEP of a place, which has no municipality of its own: that of the provision is used. */
export function cepOfPlace({ code, at, whose, accepts }: Place, of: (dps: Dps) => string | undefined): Rule {
  return whenPresent(of, {
    ...cepHead(code, whose),
    at,
    message: (CEP, { serv }) => cepInWords(code, CEP, serv.locPrest.cLocPrestacao ?? '', 'o município da prestação'),
    must: (CEP, { serv }) => {
      const { cLocPrestacao } = serv.locPrest;
      return cLocPrestacao === undefined || cLocPrestacao === MARITIME || isOfState(cLocPrestacao, CEP);
    },
    rejects: [{ ...accepts, [at]: '20040002' }],
    accepts: [accepts],
  });
}
