/** A server that plays the ADN and requires a client certificate, and the client in front of it. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import type { TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { AdnKnowledge, EventoAnswer, EventoToShare, NotaAnswer } from '../../src/adn/adn.ts';
import { openBreaker } from '../../src/adn/breaker.ts';
import { type NationalSettings, nationalAdn } from '../../src/adn/national.ts';
import { chaveOf, entry, lote } from './adn-answers.ts';
import { onEnd } from './cleanup.ts';
import { CLIENT_EXTENSIONS, createAuthority, SERVER_EXTENSIONS } from './tls.ts';

export type Asked = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The keys of the documents of a lot, in order. */
  readonly chaves: readonly string[];
};

/** `reset` breaks the connection below TLS. */
export type Play = (asked: Asked, response: ServerResponse, reset: () => void) => unknown;

export const A = chaveOf(1);

export const B = chaveOf(2);

export const C = chaveOf(3);

export const xmlOf = (chave: string): Buffer => Buffer.from(`<NFSe><infNFSe Id="NFS${chave}">ação</infNFSe></NFSe>`);

export const documentsOf = (...chaves: readonly string[]) =>
  chaves.map((chave) => ({ chave_acesso: chave, xml: xmlOf(chave) }));

export const askedFor = (chave: string, nsu_antes = '0', nsu_agora = nsu_antes) => ({
  chave_acesso: chave,
  nsu_antes,
  nsu_agora,
});

/** The kept text of an answer has a test of its own. */
function withoutText<Answer extends NotaAnswer | EventoAnswer>({ resposta: _resposta, ...answer }: Answer) {
  return answer as unknown as Answer;
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
  response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
}

/** Gives the same answer to every request. */
export const says =
  (status: number, body: unknown, headers?: Record<string, string>): Play =>
  (_asked, response) =>
    json(response, status, body, headers);

export const HTML = { 'Content-Type': 'text/html' };

export const accepts = ({ chaves }: Asked, response: ServerResponse): void =>
  json(response, 201, lote(...chaves.map((chave, place) => entry(chave, String(place + 1)))));

/** Limits for tests that end by themselves: a machine under load may be very slow. */
const PATIENT = {
  connectMs: 60_000,
  verdictMs: 60_000,
  headersMs: 60_000,
  bodyMs: 60_000,
  requestMs: 120_000,
  shareMs: 120_000,
  findMs: 120_000,
  requestMinMs: 20,
};

/** Limits for a silent ADN. Both count from the moment at which a request has left: earlier steps may take their time. */
export const IMPATIENT = { headersMs: 300, bodyMs: 300 };

/** The time after which a waiting test is given up. */
export const GIVEN_UP = { timeout: 600_000 };

/** The clock of the client stands still until the test moves it; the real time of a request is not affected. */
export function timeInHand(context: TestContext): { now: number } {
  const clock = { now: 1_000_000 };
  context.mock.method(performance, 'now', () => clock.now);
  return clock;
}

/** Undefined if the sender went away before the end. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function chavesOf(body: string): string[] {
  const { LoteXmlGZipB64 } = JSON.parse(body) as { LoteXmlGZipB64: string[] };
  return LoteXmlGZipB64.map((text) => {
    const xml = gunzipSync(Buffer.from(text, 'base64')).toString('utf8');
    return /Id="(?:NFS|EVT)(\w{50})/.exec(xml)![1]!;
  });
}

export const tells = (answer: NotaAnswer | AdnKnowledge | undefined): string =>
  answer !== undefined && 'why' in answer ? answer.why : '';

/** The certificates of both sides, and a server that plays what a test wants. */
export function openNational() {
  const authority = createAuthority('autoridade');

  const server = authority.issue('servidor', SERVER_EXTENSIONS);

  const client = authority.issue('municipio', CLIENT_EXTENSIONS);

  // Each address of a name is tried only for a moment; a slow machine learns of its connection later.
  net.setDefaultAutoSelectFamilyAttemptTimeout(60_000);

  /** One ADN on a port of its own, and a client that knows it. */
  async function stage(play: Play, settings: Partial<NationalSettings> = {}, at = 0) {
    const asked: Asked[] = [];
    const scene = { play };
    const sockets: net.Socket[] = [];
    const adnServer = https.createServer(
      { key: server.key, cert: server.cert, ca: authority.ca, requestCert: true, rejectUnauthorized: true },
      async (request, response) => {
        const body = await bodyOf(request);
        if (body === undefined) return;
        const one: Asked = {
          method: request.method!,
          url: request.url!,
          headers: request.headers,
          body,
          chaves: body === '' ? [] : chavesOf(body),
        };
        asked.push(one);
        await scene.play(one, response, () => sockets.at(-1)!.resetAndDestroy());
      },
    );
    adnServer.on('connection', (socket) => sockets.push(socket));
    adnServer.listen(at, '127.0.0.1');
    await once(adnServer, 'listening');
    const { port } = adnServer.address() as AddressInfo;
    const logged: { level: string; about: Record<string, unknown>; message: string }[] = [];
    const log = (level: string) => (about: object, message: string) =>
      void logged.push({ level, about: about as Record<string, unknown>, message });
    const breaker = openBreaker();
    const adn = nationalAdn({
      url: `https://localhost:${port}`,
      tls: { key: client.key, cert: client.cert, ca: authority.ca },
      breaker,
      log: { info: log('info'), warn: log('warn'), error: log('error') },
      ...settings,
      limits: { ...PATIENT, ...settings.limits },
    });
    const close = async (): Promise<void> => {
      await adn.close();
      adnServer.closeAllConnections();
      adnServer.close();
    };
    onEnd(close);
    const share = async (...chaves: readonly string[]): Promise<Record<string, NotaAnswer>> => {
      const answers = await adn.share('alfa', documentsOf(...chaves));
      assert.deepEqual([...answers.keys()].toSorted(), [...new Set(chaves)].toSorted(), 'one answer for each key');
      return Object.fromEntries([...answers].map(([chave, answer]) => [chave, withoutText(answer)]));
    };
    const shareEventos = async (...eventos: readonly EventoToShare[]): Promise<(EventoAnswer | undefined)[]> => {
      const answers = await adn.shareEventos('alfa', eventos);
      assert.equal(answers.size, new Set(eventos.map(({ id }) => id)).size, 'one answer for each Id');
      return eventos.map(({ id }) => answers.get(id) && withoutText(answers.get(id)!));
    };
    const findEventos = async (...eventos: readonly EventoToShare[]): Promise<(AdnKnowledge | undefined)[]> => {
      const answers = await adn.findEventos('alfa', eventos);
      assert.equal(answers.size, eventos.length, 'one answer for each Id');
      return eventos.map(({ id }) => answers.get(id));
    };
    const find = async (...notas: readonly ReturnType<typeof askedFor>[]): Promise<Record<string, AdnKnowledge>> => {
      const answers = await adn.find('alfa', notas);
      assert.equal(answers.size, notas.length, 'one answer for each key');
      return Object.fromEntries(answers);
    };
    return { adn, breaker, asked, logged, scene, share, find, shareEventos, findEventos, port, adnServer, close };
  }
  return { stage, client, authority, server };
}
