/** What is answered on a connection on which there is no request to answer: what came is not HTTP, or stopped coming. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { URL_MAX } from '../../published/http-limits.ts';
import { type BrokenHttp, type Heads, isUnanswerable, troubleOf } from './broken-http.ts';
import { DISCARD_MAX_BYTES, type Exchange, LINGER_MS, ownHeaders } from './exchange.ts';
import type { HttpAnswer, HttpRequest, Trouble } from './message.ts';
import { unreadRequest } from './request.ts';

/** Answers what no route does. `allow` names the methods of the path. Never rejects. */
export type OnTrouble = (trouble: Trouble, request: HttpRequest, allow: string | undefined) => Promise<HttpAnswer>;

export type BrokenAnswers = {
  /** Answers a connection on which Node could not read HTTP. */
  answer(error: BrokenHttp, socket: Socket): Promise<void>;
  /** Writes an answer and ends the connection. `url`: what was asked for, as far as it is known. */
  write(socket: Socket, trouble: Trouble, allow: string | undefined, url?: string): Promise<void>;
};

/** `lastOf`: the last exchange of a connection. */
export function answerBroken(
  lastOf: Pick<WeakMap<Socket, Exchange>, 'get'>,
  heads: Heads,
  onTrouble: OnTrouble,
): BrokenAnswers {
  /** Connections that were answered here, and what ends each after its answer. */
  const refused = new WeakMap<Socket, NodeJS.Timeout | undefined>();
  const write: BrokenAnswers['write'] = async (socket, trouble, allow, url = '') => {
    if (refused.has(socket) || !socket.writable) return;
    refused.set(socket, undefined);
    const request = unreadRequest(socket, url);
    const answer = await onTrouble(trouble, request, allow);
    const headers = { ...ownHeaders(request, answer), Connection: 'close', Date: new Date().toUTCString() };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const statusLine = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n`;
    socket.end(`${statusLine}${lines.join('')}\r\n${answer.body}`);
    refused.set(socket, setTimeout(() => socket.destroy(), LINGER_MS).unref());
  };
  const answer: BrokenAnswers['answer'] = async (error, socket) => {
    if (refused.has(socket) && socket.bytesRead <= DISCARD_MAX_BYTES) {
      // What is still on its way is dropped: closed with unread bytes, the connection would lose the answer.
      refused.get(socket)?.refresh();
      return;
    }
    if (isUnanswerable(error) || !socket.writable) {
      socket.destroy();
      return;
    }
    const trouble = troubleOf(error);
    const exchange = lastOf.get(socket);
    const url = heads.urlIn(socket, error, URL_MAX);
    if (exchange !== undefined && !exchange.incoming.complete) breakBody(exchange, trouble, socket);
    else if (exchange === undefined || exchange.response.writableFinished) {
      await write(socket, trouble, undefined, url);
    } else {
      // The answer to what came before is still to be written, and nobody may take ours for it.
      exchange.response.once('finish', () => void write(socket, trouble, undefined, url));
    }
  };
  return { answer, write };
}

/** In the middle of a body the request's own answer says what went wrong, unless that answer does not depend on the body. */
function breakBody(exchange: Exchange, trouble: Trouble, socket: Socket): void {
  const { response } = exchange;
  exchange.broken = trouble === 'timeout' ? 'timeout' : 'malformed';
  exchange.endReading?.();
  if (response.writableFinished) socket.destroySoon();
  else response.once('finish', () => socket.destroySoon());
  // An answer that was waiting for the rest of the body waits no longer.
  if (response.headersSent) response.end();
}
