/** `nfse webhook escutar`: a receiver for developers. It prints each message and the result of its signature check, and stores nothing. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { askedWrongly, type Command, type Terminal, textOf, type Values } from '../../base/terminal/command.ts';
import { waitForSignal } from '../../base/terminal/signals.ts';
import { printable } from '../../base/terminal/text.ts';
import { AVISO_MOMENTO_MAX_S, type FaltaDeAviso, readSegredo, verifyAviso } from './assinatura.ts';

/** An `import` of node:http would load the undici inside Node, which its exports name. */
const { createServer } = process.getBuiltinModule('node:http');

const DEFAULT_PORT = '9000';
const PORT_MAX = 65_535;
const HOST = '127.0.0.1';
/** Far above the size of any message of ours. */
const BODY_MAX_BYTES = 1024 * 1024;

const DITO: Readonly<Record<FaltaDeAviso, string>> = {
  falta_cabecalho: 'falta webhook-id, webhook-timestamp ou webhook-signature',
  momento_ilegivel: 'webhook-timestamp não são segundos desde 1970',
  momento_passado: `webhook-timestamp é de mais de ${AVISO_MOMENTO_MAX_S / 60} minutos atrás: confira o relógio`,
  momento_futuro: `webhook-timestamp está mais de ${AVISO_MOMENTO_MAX_S / 60} minutos adiante: confira o relógio`,
  falta_assinatura: 'webhook-signature não traz assinatura v1',
  assinatura_alheia: 'nenhuma assinatura é deste segredo sobre este corpo',
};

type Asked = {
  readonly porta: number;
  readonly segredo: Buffer | undefined;
  readonly isJson: boolean;
};

export const ESCUTAR: Command = {
  name: 'webhook escutar',
  summary: 'Recebe avisos nesta máquina e mostra cada um, para quem desenvolve; não usa o banco.',
  options: {
    porta: {
      takes: 'N',
      help: `porta em que escuta, só nesta máquina (padrão ${DEFAULT_PORT}; 0 escolhe uma livre)`,
    },
    segredo: { takes: 'SEGREDO', help: 'whsec_…, para conferir as assinaturas' },
    json: { help: 'um objeto JSON por linha, com o aviso inteiro' },
  },
  run: async (world, values) => {
    const asked = readAsked(values);
    if (typeof asked === 'string') return askedWrongly(world, `${asked}\n`);
    const ended = waitForSignal();
    const { close } = await openReceptor(world, asked);
    await ended;
    await close();
    return 0;
  },
};

function readAsked(values: Values): Asked | string {
  const porta = textOf(values, 'porta') ?? DEFAULT_PORT;
  if (!/^\d{1,5}$/.test(porta) || Number(porta) > PORT_MAX) return `--porta pede um número de 0 a ${PORT_MAX}.`;
  const written = textOf(values, 'segredo');
  const segredo = written === undefined ? undefined : readSegredo(written);
  if (written !== undefined && segredo === undefined) {
    return '--segredo pede o texto que começa por whsec_, inteiro, como foi mostrado no cadastro.';
  }
  return { porta: Number(porta), segredo, isJson: values['json'] === true };
}

/** Starts the listener and prints its address. Text about the listener itself goes to stderr, apart from the lines of JSON. */
export async function openReceptor(
  terminal: Pick<Terminal, 'out' | 'err'>,
  { porta, segredo, isJson }: Asked,
  now: () => number = Date.now,
): Promise<{ readonly address: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    receive(request, response).then(
      (corpo) => corpo && terminal.out(tellAviso(request, corpo, segredo, isJson, now())),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new Error(`a porta ${porta} está em uso; --porta escolhe outra.`) : error),
    );
    server.listen(porta, HOST, resolve);
  });
  const address = `http://${HOST}:${(server.address() as AddressInfo).port}/`;
  const about = [
    `Escutando em ${address}`,
    '',
    '  Cadastre este endereço (nfse webhook cadastrar SLUG URL, ou POST …/api/v1/webhooks).',
    '  O serviço precisa rodar com NFSE_AVISOS_PRIVADOS=1: sem isso ele só avisa endereços públicos, em https.',
    ...(segredo === undefined ? ['  Com --segredo whsec_… cada assinatura é conferida.'] : []),
    '',
    'Ctrl-C encerra.',
    '',
  ].join('\n');
  if (isJson) terminal.err(about);
  else terminal.out(about);
  return {
    address,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Reads a message and answers it; undefined if the request is no message. */
async function receive(request: IncomingMessage, response: ServerResponse): Promise<Buffer | undefined> {
  if (request.method !== 'POST') {
    response.writeHead(405, { Allow: 'POST' }).end();
    return undefined;
  }
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > BODY_MAX_BYTES) {
      response.writeHead(413, { Connection: 'close' }).end();
      return undefined;
    }
    parts.push(part);
  }
  const corpo = Buffer.concat(parts);
  // The answer to the question whether messages are wanted is the value itself.
  const desafio = (readJsonOf(corpo)?.['data'] as { desafio?: unknown } | undefined)?.desafio;
  if (typeof desafio === 'string') response.writeHead(200, { 'Content-Type': 'text/plain' }).end(desafio);
  else response.writeHead(204).end();
  return corpo;
}

/** The printed form of a message. */
function tellAviso(
  { headers }: IncomingMessage,
  corpo: Buffer,
  segredo: Buffer | undefined,
  isJson: boolean,
  now: number,
): string {
  const falta = segredo && verifyAviso(segredo, { headers, corpo }, now);
  const aviso = readJsonOf(corpo);
  const em = new Date(now).toISOString();
  const problema = falta === undefined ? null : DITO[falta];
  if (isJson) {
    const id = headers['webhook-id'] ?? null;
    const confere = segredo === undefined ? null : falta === undefined;
    return `${JSON.stringify({ em, id, confere, problema, aviso: aviso ?? corpo.toString() })}\n`;
  }
  const { type, data } = aviso ?? {};
  const what = textIn(type) ?? '(não é um aviso)';
  const key = textIn((data as { chave_acesso?: unknown } | undefined)?.chave_acesso) ?? '';
  const signed =
    segredo === undefined
      ? 'assinatura não conferida'
      : problema === null
        ? 'assinatura confere'
        : `ASSINATURA NÃO CONFERE: ${problema}`;
  return `${[em, what, key, signed].filter((one) => one !== '').join('  ')}\n`;
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? printable(value) : undefined);

function readJsonOf(corpo: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(corpo.toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
