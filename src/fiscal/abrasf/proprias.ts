/**
 * Messages of this port that the model has no code for and that no fault of the DPS covers. Their codes have an L, which no code of the
 * model has.
 */
import type { Fault } from '../fault.ts';
import type { NotaEstado } from '../nota.ts';
import { clipText, type Mensagem, mensagemOfFault } from './mensagens.ts';

export const PROPRIAS = {
  L003: [
    'Nada foi recebido: o cabeçalho X-NFSe-Simular traz o que não se entende.',
    'Corrija o cabeçalho, ou retire-o.',
  ],
  L302: [
    'Há um cancelamento desta nota em andamento.',
    'Consulte a nota: aceito o cancelamento, ela volta com NfseCancelamento; recusado, pode ser pedido de novo.',
  ],
  L998: [
    'A consulta encontra notas demais para uma resposta.',
    'Consulte um período menor, um tomador, ou cada nota pelo seu número ou RPS.',
  ],
  L999: [
    'O lote não pôde ser processado por uma falha do serviço. Nenhuma nota foi emitida.',
    'Envie o lote de novo; se continuar, procure a prefeitura com o protocolo.',
  ],
} as const satisfies Readonly<Record<string, readonly [mensagem: string, correcao: string]>>;

/** A message of our own, with the detail of this case. */
export function mensagemPropria(codigo: keyof typeof PROPRIAS, detalhe = ''): Mensagem {
  const [mensagem, correcao] = PROPRIAS[codigo];
  return { codigo, mensagem: clipText(`${mensagem}${detalhe && ` ${detalhe}`}`), correcao };
}

/** The message of a refused cancellation. A note whose cancellation is pending is not yet cancelled, and E79 would say that it is. */
export function mensagemOfCancelamento(fault: Fault): Mensagem {
  return fault.kind === 'cancelamento_em_andamento' ? mensagemPropria('L302') : mensagemOfFault(fault);
}

/** The facts about a note that the national environment refused. */
export type Recusa = {
  readonly motivo: string | null;
  /** Key of the note that now has its number. */
  readonly numeroEm: string | null;
  /** The state of the note that it was to replace; null if it replaces none. */
  readonly substituida: NotaEstado | null;
  /** The state of the other notes of the lot, if the query is for the lot. */
  readonly lote: 'nenhuma_vale' | 'outras_valem' | undefined;
};

/**
 * The message of a note that was issued and that the national environment refused afterwards: E89, with as much of the reason as fits.
 * `sobre`: the name of the one among several, at the start of the message.
 */
export function mensagemRecusada(sobre: string, recusa: Recusa): Mensagem {
  const motivo = recusa.motivo ?? 'Não disse por quê.';
  return {
    codigo: 'E89',
    mensagem: clipText(`${sobre && `${sobre}: `}O ambiente nacional recusou a nota, que não vale. ${motivo}`),
    correcao: correcaoDaRecusa(recusa),
  };
}

function correcaoDaRecusa({ numeroEm, substituida, lote }: Recusa): string {
  const outras = lote === 'outras_valem' ? ' As notas de ListaNfse não são afetadas.' : '';
  if (numeroEm !== null) return `O número deste RPS já tem outra nota, a de chave ${numeroEm}.${outras}`;
  // The unchanged RPS would replace a note that is already cancelled (E7).
  if (substituida === 'cancelada') {
    return `Corrija o RPS e envie-o em outro lote, sem RpsSubstituido: a nota que ele substituía já está cancelada.${outras}`;
  }
  const seE7 = substituida === null ? '' : ' Se a resposta for E7, envie-o sem RpsSubstituido.';
  const mesmo = lote === 'nenhuma_vale' ? ' Se a causa não estava no lote, envie-o de novo como está.' : '';
  return `Corrija o RPS e envie-o em outro lote: o número dele está livre.${seE7}${mesmo}${outras}`;
}
