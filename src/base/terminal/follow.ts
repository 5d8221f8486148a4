/**
 * Common parts of the commands that call a running service. They read the file to send, wait as patiently as a person, and report the end
 * of a call.
 */
import {
  AindaEmAndamento,
  type Andamento,
  type Cliente,
  createCliente,
  Indeterminado,
  NaoEntregue,
  Recusado,
  tipoDoCorpo,
} from '../../../packages/cliente/src/index.ts';
import { bytesOf, type Options, type Terminal, textOf, type Values } from './command.ts';

const EXAMPLE_URL = 'http://127.0.0.1:8080';
const DEFAULT_URL_HELP = `o serviço desta máquina, na porta de PORT, ou ${EXAMPLE_URL}`;
const DEFAULT_TENANT = 'integracao';

/** The national environment promises no time. The command then gives up, and says where to ask later. */
const PATIENCE_MS = 60_000;
const POLL_FIRST_MS = 100;
const POLL_MAX_MS = 5_000;
/** A failed connection ends the command at once; a call whose outcome is unknown is repeated a few times. */
const INSISTENCE = { tentativas: 5, prazoMs: PATIENCE_MS, primeiraEsperaMs: 500, semConexao: false };

/** Exit codes besides 0: refused by the service or the ADN; accepted and not yet concluded; unknown whether accepted. */
export const REFUSED = 1;
export const WAITING = 3;
const DOUBT = 4;

/** The options that select a service and a municipality. */
export const DESTINATION = {
  url: { takes: 'URL', help: `endereço do serviço (padrão: ${DEFAULT_URL_HELP})` },
  municipio: { takes: 'SLUG', help: `município (padrão ${DEFAULT_TENANT})` },
} as const satisfies Options;

/** The key for repeating a command whose outcome is unknown. */
export const REPETITION = {
  repeticao: {
    takes: 'CHAVE',
    help: 'repete um envio que ficou sem resposta, com a chave que o comando disse: nada é feito duas vezes',
  },
} as const satisfies Options;

/** The service that the options name, and the key of a repetition. A text: the fault of the options. */
export function readSending(terminal: Terminal, values: Values): Sending | string {
  const url = textOf(values, 'url') ?? terminal.serviceUrl();
  const problem = whyNoUrl(url);
  if (problem !== undefined) return problem;
  const municipio = textOf(values, 'municipio') ?? DEFAULT_TENANT;
  const chave = textOf(values, 'repeticao');
  const aoRepetir = ({ motivo, esperaMs }: { readonly motivo: string; readonly esperaMs: number }): void =>
    terminal.err(`${motivo} Nova tentativa em ${(esperaMs / 1000).toFixed(1)} s.\n`);
  return {
    cliente: createCliente({ url, municipio, insistencia: INSISTENCE, aoRepetir }),
    municipio,
    base: `${url.replace(/\/+$/, '')}/${municipio}`,
    repeticao: chave === undefined ? {} : { chave },
  };
}

/** The fault of a `--url` value, as a line for the terminal. */
function whyNoUrl(url: string): string | undefined {
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) {
    return `--url ${url} não é um endereço. Exemplo: ${EXAMPLE_URL}\n`;
  }
  try {
    createCliente({ url, municipio: DEFAULT_TENANT });
    return undefined;
  } catch (error) {
    return `--${(error as Error).message}\n`;
  }
}

/** A client of one municipality of a service, and the address of that municipality. */
export type Asked = { readonly cliente: Cliente; readonly municipio: string; readonly base: string };

type Sending = Asked & { readonly repeticao: { readonly chave?: string } };

/** Options for following a note or an event. Each reading overwrites the previous line; without a terminal only the end is written. */
export function followOptions<Reading>(terminal: Terminal) {
  const aCada = ({ situacao, repousa, decorridoMs }: Andamento<Reading>): void => {
    const line = `  situação   ${situacao} (${(decorridoMs / 1000).toFixed(1)} s)`;
    if (terminal.isTerminal) terminal.out(`\r\x1b[K${line}${repousa ? '\n' : ''}`);
    else if (repousa) terminal.out(`${line}\n`);
  };
  return { prazoMs: PATIENCE_MS, primeiraEsperaMs: POLL_FIRST_MS, esperaMaximaMs: POLL_MAX_MS, aCada };
}

/** The last reading; undefined if it took longer than {@link PATIENCE_MS}, and `late` was written. */
export async function waitForRest<Reading>(
  terminal: Terminal,
  following: Promise<Reading>,
  late: string,
): Promise<Reading | undefined> {
  try {
    return await following;
  } catch (error) {
    if (!(error instanceof AindaEmAndamento)) throw error;
    terminal.out(terminal.isTerminal ? '\n' : '');
    terminal.err(late);
    return undefined;
  }
}

/** Writes why a call failed, and returns the exit code. `refusal`: describes a refusal. */
export function tellFailure(
  terminal: Terminal,
  error: unknown,
  { base, refusal }: { readonly base: string; readonly refusal: (error: Recusado) => string },
): number {
  if (error instanceof Recusado) {
    terminal.err(refusal(error));
    // Another program may listen at the usual address of this machine.
    if (error.status === 404)
      terminal.err(`Perguntado a ${base}; --url e --municipio indicam outro serviço e município.\n`);
    return REFUSED;
  }
  if (error instanceof Indeterminado) {
    const { chave } = error.repeticao;
    terminal.err(
      `${error.message}\nPode ter sido feito ou não. Dê o mesmo comando com --repeticao ${chave}: se foi, a resposta é a da primeira vez.\n`,
    );
    return DOUBT;
  }
  throw explainSilence(error, base);
}

/** A readable error for a service that did not answer; any other error unchanged. */
export function explainSilence(error: unknown, base: string): unknown {
  if (!(error instanceof NaoEntregue)) return error;
  const { status, codigo, message } = error;
  if (status === undefined)
    return new Error(
      `não houve resposta de ${base}. O serviço está no ar? Suba-o com nfse serve (na pasta do projeto, npm start). Se ele atende em outro endereço ou porta, diga-o com --url.`,
    );
  if (codigo === undefined) return new Error(`${base} respondeu algo que não é deste serviço (HTTP ${status}).`);
  return new Error(`${base}: ${message}`);
}

/**
 * The options of a command that checks a file locally, or asks a service. `knowing`: additional data of the service; `here`: the local
 * substitute.
 */
export function checkOptions(knowing: string, here: string) {
  return {
    municipio: {
      takes: 'SLUG',
      help: `pergunta ao serviço, com ${knowing} desse município (se vier só --url: ${DEFAULT_TENANT})`,
    },
    url: {
      takes: 'URL',
      help: `endereço do serviço a que perguntar (se vier só --municipio: ${DEFAULT_URL_HELP})`,
      note: `sem --municipio nem --url a conferência é feita aqui, ${here}`,
    },
    cms: { takes: 'ARQUIVO', help: `de um corpo JSON, o valor de ${CAMPO}: Base64, ou o CMS em DER` },
  } as const satisfies Options;
}

/** The file to check and, if the options name one, the service to ask. A text: the fault of the options. */
export async function readCheck(
  terminal: Terminal,
  values: Values,
  file: string,
): Promise<{ readonly sent: SentFile; readonly service: Asked | undefined } | string> {
  const namesService = values['url'] !== undefined || values['municipio'] !== undefined;
  const service = namesService ? readSending(terminal, values) : undefined;
  if (typeof service === 'string') return service;
  const sent = await readSentFile(file, textOf(values, 'cms'));
  return typeof sent === 'string' ? sent : { sent, service };
}

/** Header with the signature of a JSON body. */
export const CAMPO = 'X-DPS-Assinatura';

export type SentFile =
  | { readonly kind: 'xml'; readonly body: Uint8Array }
  | {
      readonly kind: 'json';
      readonly body: Uint8Array;
      /** Value of the signature header. */
      readonly assinatura: string | undefined;
    };

/**
 * A file as an integrator sends it, XML or JSON by its beginning. `cms`: file with the signature of a JSON body. A text: the fault of the
 * options.
 */
export async function readSentFile(file: string, cms: string | undefined): Promise<SentFile | string> {
  const body = await bytesOf(file);
  const isJson = tipoDoCorpo(body) === 'json';
  if (!isJson && cms !== undefined) return `--cms é para um corpo JSON, e ${file} não é JSON.\n`;
  if (!isJson) return { kind: 'xml', body };
  return { kind: 'json', body, assinatura: cms === undefined ? undefined : await readSignature(cms) };
}

/** The signature beside a file, in the form of the client. */
export function signatureOf(sent: SentFile): { readonly assinatura?: string } {
  return sent.kind === 'json' && sent.assinatura !== undefined ? { assinatura: sent.assinatura } : {};
}

const DER_SEQUENCE = 0x30;
/** Long form of a length, after the tag of a SEQUENCE. A CMS always has this second octet, and no text has it. */
const DER_LONG = 0x80;

async function readSignature(file: string): Promise<string> {
  const bytes = Buffer.from(await bytesOf(file));
  if (bytes[0] === DER_SEQUENCE && (bytes[1] ?? 0) >= DER_LONG) return bytes.toString('base64');
  const text = bytes.toString('latin1').trim().replace(/\s+/g, ' ');
  if (!/^[ -~]*$/.test(text)) throw new Error(`o arquivo ${file} não é Base64 nem um CMS em DER.`);
  return text;
}
