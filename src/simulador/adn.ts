/**
 * The simulated ADN on the network. It is an HTTPS server that requires a client certificate, with the few addresses that a municipality
 * uses. Faults strike between a request and its answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import {
  DISTRIBUTION_PATH,
  JSON_TYPE,
  LOTE_BODY_MAX_BYTES,
  LOTE_DOCUMENTS_MAX,
  type LoteRecebido,
  type MensagemAdn,
  RECEPTION_PATH,
  TIPO_NSU,
  type TipoNsu,
} from '../adn/wire.ts';
import { readCertificate } from '../documents/certificate.ts';
import { cabecalho, mensagem } from './codigos.ts';
import type { Cliente, LerDocumento } from './documento.ts';
import { count, type Estado } from './estado.ts';
import { drawSorte, FALTAS, type NomeDeDesvio, type NomeDeFalta, type Sorte, shuffle } from './faltas.ts';
import { bodyOf, closeServer, listen, send } from './http.ts';
import { type Consulta, consultar, entradaNaoProcessada, eventosDe, receber } from './recepcao.ts';
import { lotRefusal } from './recusas.ts';

const CONNECTIONS_MAX = 512;
/** Longer than the pause of any client between two lots. */
const KEEP_ALIVE_MS = 65_000;
const REQUEST_TIMEOUT_MS = 60_000;
const SPOILT_CHUNK_BYTES = 64 * 1024;
const EVENTOS_PATH = /^\/municipios\/NFSe\/([0-9A-Z]{50})\/Eventos$/;
const NSU = /^\d{1,15}$/;

/** PEM texts. `clientes`: the authorities whose certificates may connect. */
export type TlsMaterial = { readonly key: string; readonly cert: string; readonly clientes: string };

export type FaceDoAdn = Awaited<ReturnType<typeof abrirAdn>>;

type Face = {
  readonly estado: Estado;
  readonly ler: LerDocumento;
  /** The TCP sockets by the address and port of the client: only the TCP socket beneath a TLS socket can be reset. */
  readonly raw: Map<string, Socket>;
  readonly clientes: WeakMap<object, Cliente>;
  readonly ending: AbortSignal;
};

export async function abrirAdn(
  estado: Estado,
  ler: LerDocumento,
  { key, cert, clientes }: TlsMaterial,
  where: { readonly host: string; readonly port: number },
) {
  const end = new AbortController();
  const face: Face = { estado, ler, raw: new Map(), clientes: new WeakMap(), ending: end.signal };
  const server = createServer(
    { key, cert, ca: clientes, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.2' },
    (req, res) => {
      handle(face, req, res).catch((error: unknown) => {
        estado.log.error({ err: error }, 'pedido que o simulador não soube atender');
        if (!res.headersSent) problem(res, 500, 'Erro interno do simulador; veja o registro dele.');
        else req.socket.destroy();
      });
    },
  );
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.maxConnections = CONNECTIONS_MAX;
  server.on('connection', (socket: Socket) => {
    const name = peerOf(socket);
    face.raw.set(name, socket);
    socket.once('close', () => face.raw.delete(name));
  });
  server.on('secureConnection', (socket: TLSSocket) => rememberClient(face, socket));
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => {
    estado.contagens.conexoes_recusadas += 1;
    estado.log.info({ motivo: error.code }, 'conexão recusada: certificado do cliente ausente ou não aceito');
  });
  await listen(server, where.port, where.host);
  const { port } = server.address() as AddressInfo;
  let foraDoAr = false;
  return {
    address: `https://${where.host.includes(':') ? `[${where.host}]` : where.host}:${port}`,
    get foraDoAr() {
      return foraDoAr;
    },
    /** Refuses connections and resets those that are open, until `voltar`. */
    sair: async (): Promise<void> => {
      if (foraDoAr) return;
      foraDoAr = true;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of face.raw.values()) socket.resetAndDestroy();
      await closed;
    },
    /** Listens again at the same address; rejects if another program has taken it. */
    voltar: async (): Promise<void> => {
      if (!foraDoAr) return;
      await listen(server, port, where.host);
      foraDoAr = false;
    },
    close: async (): Promise<void> => {
      end.abort();
      if (foraDoAr) return;
      foraDoAr = true;
      await closeServer(server);
    },
  };
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Remembers the municipality of a connection, by its certificate, for all its requests. */
function rememberClient({ clientes }: Face, socket: TLSSocket): void {
  const der = socket.getPeerX509Certificate()?.raw;
  const certificate = der && readCertificate(der);
  if (certificate === undefined || 'problem' in certificate || certificate.holder?.tipo !== 'CNPJ') return;
  clientes.set(socket, { cnpj: certificate.holder.documento, certificate });
}

async function handle(face: Face, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const url = new URL(req.url ?? '/', 'https://adn');
  const eventos = EVENTOS_PATH.exec(url.pathname)?.[1];
  const isReception = url.pathname === RECEPTION_PATH;
  if (!isReception && eventos === undefined && !url.pathname.startsWith(DISTRIBUTION_PATH)) {
    return problem(res, 404, 'Este endereço não existe no ADN simulado.');
  }
  if (req.method !== (isReception ? 'POST' : 'GET')) {
    res.setHeader('Allow', isReception ? 'POST' : 'GET');
    return problem(res, 405, 'Este endereço não aceita o método.');
  }
  const { estado } = face;
  const em = isReception ? 'envio' : 'consulta';
  estado.numero += 1;
  estado.contagens[`${em}s`] += 1;
  rememberRastro(estado, req);
  const sorte = drawSorte(estado.configuracao, estado.numero, em);
  for (const nome of sorte.estragos) count(estado.contagens.faltas, nome);
  if (sorte.desvio !== undefined) count(estado.contagens.faltas, sorte.desvio);
  const exchange: Exchange = { face, req, res, sorte, ajustes: estado.configuracao.ajustes };
  const cliente = face.clientes.get(req.socket);
  if (cliente === undefined) return answerErros(exchange, 403, [mensagem('E1209')]);
  if (isReception) return receive(exchange, cliente);
  if (await strikeBefore(exchange, 0)) return;
  if (eventos !== undefined) {
    const { status, body } = await eventosDe(estado, cliente.cnpj, eventos);
    return answer(exchange, status, body, 'LoteDFe');
  }
  const consulta = consultaOf(url);
  if (consulta === undefined) {
    return problem(res, 400, `Peça ${DISTRIBUTION_PATH}{NSU}?tipoNSU=${TIPO_NSU.join('|')}&lote=true|false.`);
  }
  const { status, body } = await consultar(estado, cliente.cnpj, consulta);
  return answer(exchange, status, body, 'LoteDFe');
}

const RASTROS_MAX = 100;

/** The real ADN would keep no more than this of a trace. */
function rememberRastro({ rastros }: Estado, { headers: { traceparent } }: IncomingMessage): void {
  if (typeof traceparent === 'string' && rastros.push(traceparent) > RASTROS_MAX) rastros.shift();
}

function consultaOf({ pathname, searchParams }: URL): Consulta | undefined {
  const nsu = pathname.slice(DISTRIBUTION_PATH.length);
  const tipo = searchParams.get('tipoNSU') ?? 'DISTRIBUICAO';
  const lote = searchParams.get('lote') ?? 'true';
  if (!NSU.test(nsu) || !TIPO_NSU.includes(tipo as TipoNsu) || !['true', 'false'].includes(lote)) return undefined;
  return { nsu: Number(nsu), tipo: tipo as TipoNsu, lote: lote === 'true' };
}

/** One request with its answer and its faults. */
type Exchange = {
  readonly face: Face;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly sorte: Sorte;
  readonly ajustes: Estado['configuracao']['ajustes'];
};

async function receive(exchange: Exchange, cliente: Cliente): Promise<void> {
  const { face, req, res, sorte } = exchange;
  const { estado, ler } = face;
  const began = performance.now();
  const body = await bodyOf(req, LOTE_BODY_MAX_BYTES);
  if (body === 'gone') return;
  if (body === 'large') {
    res.setHeader('Connection', 'close');
    return problem(res, 413, `O corpo passa de ${LOTE_BODY_MAX_BYTES} bytes.`);
  }
  const documentos = documentosOf(req, body);
  if ('problema' in documentos) return problem(res, documentos.status, documentos.problema);
  if (await strikeBefore(exchange, documentos.length)) return;
  if (documentos.length > LOTE_DOCUMENTS_MAX) {
    return answerErros(exchange, 400, [
      mensagem('E1219', `${documentos.length} documentos; são até ${LOTE_DOCUMENTS_MAX}.`),
    ]);
  }
  const refusal = lotRefusal(estado.recusas, cliente.cnpj);
  if (refusal !== undefined) return answerErros(exchange, refusal.status, [refusal.erro]);
  const isPartial = sorte.desvio === 'lote-parcial';
  const first = isPartial ? Math.floor(sorte.draw('quantos') * documentos.length) : documentos.length;
  const Lote = await receber(estado, ler, cliente, documentos.slice(0, first));
  logLot(exchange, documentos.length, Lote, performance.now() - began);
  if (await strike(exchange, 'depois')) return;
  const recebido: LoteRecebido = { Lote, ...cabecalho(Date.now()) };
  return answer(exchange, 201, recebido, 'Lote');
}

function logLot({ face, sorte }: Exchange, documentos: number, Lote: LoteRecebido['Lote'], ms: number): void {
  const erros: Record<string, number> = {};
  for (const { Erros } of Lote) for (const { Codigo } of Erros) erros[Codigo] = (erros[Codigo] ?? 0) + 1;
  const aceitos = Lote.filter(({ NsuRecepcao }) => NsuRecepcao !== null).length;
  const faltas = [...(sorte.desvio === undefined ? [] : [sorte.desvio]), ...sorte.estragos];
  face.estado.log.info({ documentos, aceitos, erros, faltas, ms: Math.round(ms) }, 'lote recebido');
}

type Unreadable = { readonly status: number; readonly problema: string };

function documentosOf(req: IncomingMessage, body: Buffer): readonly string[] | Unreadable {
  if (!req.headers['content-type']?.toLowerCase().startsWith(JSON_TYPE)) {
    return { status: 415, problema: `O corpo deve ser ${JSON_TYPE}.` };
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return { status: 400, problema: 'O corpo não é JSON.' };
  }
  const list = (parsed as { LoteXmlGZipB64?: unknown } | null)?.LoteXmlGZipB64;
  if (!Array.isArray(list) || list.length === 0 || !list.every((one) => typeof one === 'string')) {
    return { status: 400, problema: 'LoteXmlGZipB64 deve ser uma lista de textos com ao menos um.' };
  }
  return list;
}

// Faults.

/** Waits for the drawn time, and lets a fault replace the processing. True: the request is answered, or never will be. */
async function strikeBefore(exchange: Exchange, documentos: number): Promise<boolean> {
  const { sorte, ajustes, face } = exchange;
  if (sorte.estragos.has('atraso-antes')) await pause(sorte.draw('espera antes') * ajustes.atraso_ms, face.ending);
  // A request that wakes up while the simulator closes starts nothing: its document could no longer be written.
  return face.ending.aborted || strike(exchange, 'antes', documentos);
}

/** Lets the drawn fault replace the answer, if this is its moment. True: it did. */
async function strike(exchange: Exchange, momento: 'antes' | 'depois', documentos = 0): Promise<boolean> {
  const { desvio, draw } = exchange.sorte;
  if (desvio === undefined || FALTAS[desvio].momento !== momento) return false;
  // Half of the partial lots are answered.
  if (desvio === 'lote-parcial' && draw('responde') >= 0.5) return false;
  await STRIKES[desvio](exchange, documentos);
  return true;
}

/** The action of each fault in the place of an answer. `documentos`: the number of documents in the lot. */
const STRIKES: Readonly<Record<NomeDeDesvio, (exchange: Exchange, documentos: number) => Promise<void> | void>> = {
  'pedido-perdido': holdInSilence,
  'reinicio-antes': resetConnection,
  erro5xx: failExchange,
  erro429: ({ res }) => {
    res.setHeader('Retry-After', '1');
    problem(res, 429, 'Pedidos demais.');
  },
  html: ({ res }) => sendPage(res, 200),
  manutencao: (exchange) => answerErros(exchange, 503, [mensagem('E1217')]),
  e999: (exchange, documentos) => {
    const Lote = Array.from({ length: documentos }, entradaNaoProcessada);
    return answer(exchange, 201, { Lote, ...cabecalho(Date.now()) }, 'Lote');
  },
  'lote-parcial': resetConnection,
  'reinicio-depois': resetConnection,
  'resposta-perdida': holdInSilence,
  'erro5xx-depois': failExchange,
  'html-depois': ({ res }) => sendPage(res, 200),
};

/** Holds the connection without an answer until the client gives up, or until `perdida_ms` are over. */
async function holdInSilence(exchange: Exchange): Promise<void> {
  const gone = new AbortController();
  exchange.res.once('close', () => gone.abort());
  await pause(exchange.ajustes.perdida_ms, AbortSignal.any([gone.signal, exchange.face.ending]));
  resetConnection(exchange);
}

function resetConnection({ face, req }: Exchange): void {
  const raw = face.raw.get(peerOf(req.socket));
  if (raw === undefined) req.socket.destroy();
  else raw.resetAndDestroy();
}

const FAILURES = [500, 502, 503, 504] as const;

function failExchange({ res, sorte }: Exchange): void {
  const status = FAILURES[Math.floor(sorte.draw('qual erro') * FAILURES.length)]!;
  // A gateway answers with a page, the application with its own text.
  if (status === 500) problem(res, status, 'Erro simulado.');
  else sendPage(res, status);
}

function sendPage(res: ServerResponse, status: number): void {
  const text =
    '<!DOCTYPE html><html><head><title>Aviso</title></head><body><h1>Aviso</h1><p>Tente mais tarde.</p></body></html>';
  send(res, status, 'text/html; charset=utf-8', text);
}

/** Sleeps, or wakes at once when the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

// Answers.

function answerErros(exchange: Exchange, status: number, Erros: readonly MensagemAdn[]): void {
  for (const { Codigo } of Erros) count(exchange.face.estado.contagens.erros, Codigo);
  json(exchange.res, status, { Erros, ...cabecalho(Date.now()) });
}

/** Gives an answer, modified by the drawn faults. `list`: the field with the entries. */
async function answer(exchange: Exchange, status: number, body: object, list: 'Lote' | 'LoteDFe'): Promise<void> {
  const { sorte, ajustes, face, res } = exchange;
  const { estragos, draw } = sorte;
  if (estragos.has('atraso')) await pause(draw('espera') * ajustes.atraso_ms, face.ending);
  if (estragos.size === 0) return json(res, status, body);
  const text = JSON.stringify(spoilBody(body, list, estragos, draw));
  if (estragos.has('resposta-enorme')) return swellAnswer(res, status, text, ajustes.enorme_bytes);
  if (estragos.has('corpo-cortado')) return cutAnswer(res, status, text, draw('onde corta') < 0.5);
  send(res, status, JSON_TYPE, text);
}

function spoilBody(body: object, list: 'Lote' | 'LoteDFe', estragos: Sorte['estragos'], draw: Sorte['draw']): unknown {
  const { [list]: found, ...head } = body as { [name: string]: unknown };
  let entries = found as readonly Record<string, unknown>[];
  const has = (nome: NomeDeFalta): boolean => estragos.has(nome);
  if (has('base64-duplo')) entries = entries.map((one) => ({ ...one, ArquivoXml: encodeAgain(one['ArquivoXml']) }));
  if (has('resposta-dupla'))
    entries = entries.flatMap((one, at) => (at === 0 || draw(`dobra ${at}`) < 0.5 ? [one, one] : [one]));
  if (has('reordena')) entries = shuffle(entries, draw);
  const whole = has('sem-lote') ? head : { [list]: entries, ...head };
  return has('nomes-camel') ? lowerInitials(whole) : whole;
}

function encodeAgain(text: unknown): unknown {
  return typeof text === 'string' ? Buffer.from(text, 'latin1').toString('base64') : text;
}

function lowerInitials(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerInitials);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name.charAt(0).toLowerCase() + name.slice(1), lowerInitials(inner)]),
  );
}

/** Sends half a body. `isPromised`: with the length of the whole, so that the connection ends too early. */
function cutAnswer(res: ServerResponse, status: number, text: string, isPromised: boolean): void {
  const half = Buffer.from(text, 'utf8').subarray(0, text.length >> 1);
  if (isPromised) {
    res.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(text) });
    res.write(half, () => res.socket?.destroy());
  } else send(res, status, JSON_TYPE, half);
}

/** The same answer with a large amount of white space. */
async function swellAnswer(res: ServerResponse, status: number, text: string, bytes: number): Promise<void> {
  res.writeHead(status, { 'Content-Type': JSON_TYPE });
  res.write(text.slice(0, -1));
  const blank = Buffer.alloc(SPOILT_CHUNK_BYTES, 0x20);
  for (let sent = text.length; sent < bytes && !res.destroyed; sent += blank.length) {
    if (!res.write(blank)) {
      await new Promise((resolve) => {
        res.once('drain', resolve);
        res.once('close', resolve);
      });
    }
  }
  res.end(text.slice(-1));
}

/** Answers like ASP.NET to a request that does not reach the application. */
function problem(res: ServerResponse, status: number, title: string): void {
  send(res, status, 'application/problem+json', JSON.stringify({ type: 'about:blank', title, status, errors: {} }));
}

function json(res: ServerResponse, status: number, body: object): void {
  send(res, status, JSON_TYPE, JSON.stringify(body));
}
