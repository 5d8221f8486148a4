/**
 * Messages of this port for what the model has no code for and no fault of the DPS tells: codes of our own with an L, which the
 * model has none with.
 */
import type { Mensagem } from './mensagens.ts';

/** Of the schema. */
const TEXT_MAX = 200;

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

/** A message of our own, with what there is to say of this one. */
export function mensagemPropria(codigo: keyof typeof PROPRIAS, detalhe = ''): Mensagem {
  const [mensagem, correcao] = PROPRIAS[codigo];
  return { codigo, mensagem: clipped(`${mensagem}${detalhe && ` ${detalhe}`}`), correcao };
}

/**
 * Of a note that was issued and that the national environment refused afterwards: E89, with its reason as far as there is room.
 * `sobre`: which of several, as the message begins.
 */
export function mensagemRecusada(sobre: string, motivo: string | null): Mensagem {
  return {
    codigo: 'E89',
    mensagem: clipped(
      `${sobre && `${sobre}: `}O ambiente nacional recusou a nota, que não vale. ${motivo ?? 'Não disse por quê.'}`,
    ),
    correcao: 'Corrija o RPS e envie-o em outro lote: o número dele está livre. As outras notas do lote valem.',
  };
}

/** Cut between two words. */
function clipped(text: string): string {
  if (text.length <= TEXT_MAX) return text;
  return `${text.slice(0, text.lastIndexOf(' ', TEXT_MAX - 1))}…`;
}
