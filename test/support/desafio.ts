/** The reply of a receiver to the question whether it wants messages. */
import type { ServerResponse } from 'node:http';
import type { PedidoDeAviso, RespostaDeAviso } from '../../src/base/world/world.ts';

/** The challenge of a verification request; undefined for an ordinary message. */
export function desafioOf(text: string): string | undefined {
  const { type, data } = JSON.parse(text) as { type?: unknown; data?: { desafio?: string } };
  return type === 'confirmacao' ? data?.desafio : undefined;
}

/** Confirms a verification request. False: the request is an ordinary message, and not answered yet. */
export function confirmAvisos(text: string, response: ServerResponse): boolean {
  const desafio = desafioOf(text);
  if (desafio !== undefined) response.writeHead(200).end(desafio);
  return desafio !== undefined;
}

/** A substitute for the sender: every address confirms, and accepts all messages. */
export const takesAll = async ({ corpo }: PedidoDeAviso): Promise<RespostaDeAviso> => {
  const desafio = desafioOf(corpo);
  return desafio === undefined ? { status: 204 } : { status: 200, corpo: desafio };
};
