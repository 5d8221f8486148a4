/** The life of a lot of the legacy port as a table: its states, as the model numbers them in `Situacao`, and the moves between them. */
import type { Move } from './machine.ts';

export const LOTE_SITUACAO = { recebido: 2, com_erros: 3, processado: 4 } as const;

type LoteEstado = keyof typeof LOTE_SITUACAO;
export type LoteSituacao = (typeof LOTE_SITUACAO)[LoteEstado];

export type LoteTrigger = 'recepcao' | 'anuncio' | 'adiamento' | 'recusa' | 'emissao' | 'substituicao' | 'conclusao';

export type LoteMove = Move<LoteEstado, LoteTrigger>;

/**
 * `substituicao`: the lot was issued, and some of its notes replace others that must still be cancelled; `conclusao`: they are cancelled.
 * `adiamento`: trouble that the lot did not cause, which uses up no attempt.
 */
export const LOTE_MOVES = [
  { from: undefined, on: 'recepcao', to: 'recebido', due: 'now' },
  { from: 'recebido', on: 'anuncio', to: 'recebido', due: 'lease' },
  { from: 'recebido', on: 'adiamento', to: 'recebido', due: 'backoff' },
  { from: 'recebido', on: 'recusa', to: 'com_erros', due: 'never' },
  { from: 'recebido', on: 'emissao', to: 'processado', due: 'never' },
  { from: 'recebido', on: 'substituicao', to: 'processado', due: 'now' },
  { from: 'processado', on: 'anuncio', to: 'processado', due: 'lease' },
  { from: 'processado', on: 'conclusao', to: 'processado', due: 'never' },
] as const satisfies readonly LoteMove[];
