/** What a receiver does when it is asked whether it wants messages. */
import type { ServerResponse } from 'node:http';
import type { PedidoDeAviso, RespostaDeAviso } from '../../src/base/world/world.ts';

/** The value of a question; undefined: it is a message like others. */
export function desafioOf(text: string): string | undefined {
  const { type, data } = JSON.parse(text) as { type?: unknown; data?: { desafio?: string } };
  return type === 'confirmacao' ? data?.desafio : undefined;
}

/** Answers a question that it does want them. False: it is a message like others, and not answered yet. */
export function confirmAvisos(text: string, response: ServerResponse): boolean {
  const desafio = desafioOf(text);
  if (desafio !== undefined) response.writeHead(200).end(desafio);
  return desafio !== undefined;
}

/** In place of sending: all addresses want messages, and take them. */
export const takesAll = async ({ corpo }: PedidoDeAviso): Promise<RespostaDeAviso> => {
  const desafio = desafioOf(corpo);
  return desafio === undefined ? { status: 204 } : { status: 200, corpo: desafio };
};
