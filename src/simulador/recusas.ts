/**
 * Requested refusals: the documents, and the code. A share of the documents is drawn by their key, or by the `Id` of an event. A document
 * that was refused once is thus refused again, as if it broke a rule.
 */
import type { MensagemAdn } from '../adn/wire.ts';
import { descricaoDe, mensagemOf, statusOfLot } from './codigos.ts';
import { drawNumber } from './faltas.ts';

const RECUSAS_MAX = 1_000;
const TEXT_MAX = 1_000;

/** A requested refusal. It concerns every document if it has no selector. */
export type Recusa = {
  readonly codigo: string;
  readonly descricao: string;
  readonly complemento?: string;
  /** One note, and its events. */
  readonly chave?: string;
  /** `nota`, `evento`, or the code of a type of events. */
  readonly tipo?: string;
  /** Documents whose XML contains this text. */
  readonly contem?: string;
  /** The documents that this municipality shares. */
  readonly cnpj?: string;
  /** A share of the documents, from 0 to 1. */
  readonly parte?: number;
  /** The number of refusals; unlimited by default. */
  vezes?: number;
};

const FIELDS = ['codigo', 'descricao', 'complemento', 'chave', 'tipo', 'contem', 'cnpj'] as const;

/** Reads a list of refusals; the result is a problem, in Portuguese, if it is invalid. */
export function recusasOf(value: unknown): Recusa[] | { readonly problema: string } {
  if (!Array.isArray(value) || value.length > RECUSAS_MAX) {
    return {
      problema: `o corpo deve ser uma lista de recusas, de 0 a ${RECUSAS_MAX}: [{"codigo":"E1289","parte":0.1}].`,
    };
  }
  const recusas: Recusa[] = [];
  for (const one of value as readonly unknown[]) {
    if (typeof one !== 'object' || one === null) return { problema: 'cada recusa é um objeto com codigo.' };
    const given = one as Readonly<Record<string, unknown>>;
    const strange = Object.keys(given).find((name) => ![...FIELDS, 'parte', 'vezes'].includes(name as never));
    if (strange !== undefined) {
      return { problema: `${strange} não existe em uma recusa. Campos: ${FIELDS.join(', ')}, parte, vezes.` };
    }
    for (const name of FIELDS) {
      const text = given[name];
      if (text === undefined && name !== 'codigo') continue;
      if (typeof text !== 'string' || text === '' || text.length > TEXT_MAX) {
        return { problema: `${name} deve ser um texto de 1 a ${TEXT_MAX} caracteres.` };
      }
    }
    const { parte, vezes, tipo } = given;
    if (tipo !== undefined && !/^(?:nota|evento|\d{6})$/.test(tipo as string)) {
      return { problema: 'tipo deve ser nota, evento ou o código de um tipo de evento, como 101101.' };
    }
    if (parte !== undefined && !(typeof parte === 'number' && parte >= 0 && parte <= 1)) {
      return { problema: 'parte deve ser um número de 0 a 1.' };
    }
    if (vezes !== undefined && !(typeof vezes === 'number' && Number.isInteger(vezes) && vezes > 0)) {
      return { problema: 'vezes deve ser um inteiro maior que zero.' };
    }
    const codigo = given['codigo'] as string;
    recusas.push({ ...(given as Omit<Recusa, 'descricao'>), descricao: descricaoOf(codigo, given['descricao']) });
  }
  return recusas;
}

function descricaoOf(codigo: string, given: unknown): string {
  return typeof given === 'string' ? given : (descricaoDe(codigo) ?? 'Recusa pedida ao simulador.');
}

/** The refusal of a whole lot, if one with such a code was requested. */
export function lotRefusal(
  recusas: readonly Recusa[],
  cnpj: string,
): { readonly status: number; readonly erro: MensagemAdn } | undefined {
  for (const recusa of recusas) {
    const status = statusOfLot(recusa.codigo);
    if (status === undefined || (recusa.cnpj !== undefined && recusa.cnpj !== cnpj) || !countDown(recusa)) continue;
    return { status, erro: erroOf(recusa) };
  }
  return undefined;
}

type Asked = {
  readonly chave: string;
  readonly cnpj: string;
  readonly semente: number;
  /** Called only if a refusal selects by the text of a document. */
  readonly xml: () => string;
  /** The `Id` of an event and the code of its type; absent for a note. */
  readonly evento?: { readonly id: string; readonly codigo: string };
};

/** The refusal of a document. */
export function documentRefusal(
  recusas: readonly Recusa[],
  { chave, cnpj, semente, xml, evento }: Asked,
): MensagemAdn | undefined {
  const tipos = evento === undefined ? ['nota'] : ['evento', evento.codigo];
  const name = evento?.id ?? chave;
  for (const recusa of recusas) {
    if (statusOfLot(recusa.codigo) !== undefined) continue;
    if (recusa.chave !== undefined && recusa.chave !== chave) continue;
    if (recusa.cnpj !== undefined && recusa.cnpj !== cnpj) continue;
    if (recusa.tipo !== undefined && !tipos.includes(recusa.tipo)) continue;
    if (recusa.parte !== undefined && drawNumber(`${semente} recusa ${recusa.codigo} ${name}`) >= recusa.parte)
      continue;
    if (recusa.contem !== undefined && !xml().includes(recusa.contem)) continue;
    if (countDown(recusa)) return erroOf(recusa);
  }
  return undefined;
}

/** Whether a refusal may be given once more; counts it if `vezes` limits it. */
function countDown(recusa: Recusa): boolean {
  if (recusa.vezes === undefined) return true;
  if (recusa.vezes === 0) return false;
  recusa.vezes -= 1;
  return true;
}

function erroOf({ codigo, descricao, complemento }: Recusa): MensagemAdn {
  return mensagemOf(codigo, descricao, complemento);
}
