/**
 * Messages that rehearse a kind of change, for an address of a private sandbox (D-915). Each has the shape and the signature of a real one,
 * and is about a note that nobody has.
 */

import { buildChave, dpsIdOf } from '../../fiscal/chave.ts';
import { MUDANCAS, type TipoMudanca } from '../../fiscal/mudanca.ts';
import { TIPOS_EVENTO } from '../../fiscal/tipos-evento.ts';
import { type MudancaPublica, mudancaPublica } from './mudancas.ts';

/** The stored change of a delivery that rehearses one; an older version leaves it to this one. */
const LINE = /^ensaio (\S+)$/;

export function writeLineOfEnsaio(tipo: TipoMudanca): string {
  return `ensaio ${tipo}`;
}

/** The rehearsed kind of a delivery; undefined: it is about something else, or a newer version wrote it. */
export function readLineOfEnsaio(mudanca: string): TipoMudanca | undefined {
  const [, tipo] = LINE.exec(mudanca) ?? [];
  return MUDANCAS.find((one) => one.tipo === tipo)?.tipo;
}

/** The published form of a change, and the mark of a rehearsal. */
type MudancaEnsaiada = MudancaPublica & { readonly ensaio: true };

/** The municipality, number and secret digits of the invented note. */
const [C_MUN, NUMERO, CODIGO] = ['3550308', '9999999999999', '000000000'];
const CANCELAMENTO = TIPOS_EVENTO.find(({ cancela }) => cancela)!;

/** A change of a kind that did not happen, as its party would be told. `id`: the same in every attempt. */
export function inventMudanca(tipo: TipoMudanca, documento: string, id: string, em: Date): MudancaEnsaiada {
  const { item, estado } = MUDANCAS.find((one) => one.tipo === tipo)!;
  const para = estado ?? 'autorizada';
  const anoMes = em.toISOString().slice(2, 7).replace('-', '');
  const mes = 200_000 + Number(anoMes);
  const place = { id: '0', mes, movimento: 1, em: em.getTime() };
  const nota = {
    ...{ id: '0', mes, prestador_cpf_cnpj: documento, tomador_cpf_cnpj: null, intermediario_cpf_cnpj: null },
    chave_acesso: buildChave({ cMun: C_MUN, ambGer: '1', documento, nNFSe: NUMERO, anoMes, codigo: CODIGO }),
    numero_protocolo: '00000000000000000000',
    id_dps: dpsIdOf({ cLocEmi: C_MUN, documento, serie: '99999', nDPS: NUMERO }),
    numero_dps: NUMERO,
  };
  const evento = { id: '0', nota: '0', mes_nota: mes, codigo_tipo_evento: CANCELAMENTO.codigo, numero_sequencial: 1 };
  const mudou = {
    ...{ ...place, tipo, item, nota, para, mensagem: 'Este aviso é um ensaio: nada mudou.' },
    evento: item === 'evento' ? evento : undefined,
    estado: item === 'evento' ? 'autorizada' : para,
  };
  return { ...mudancaPublica(mudou, documento, { cursor: null, bloco: 0 })!, id, ensaio: true };
}
