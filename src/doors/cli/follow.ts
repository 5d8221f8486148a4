/**
 * What the commands that speak to a running service have in common: the client of `packages/cliente`, as patient as a person at a
 * terminal, and how the end of a call is told there.
 */
import {
  AindaEmAndamento,
  type Andamento,
  type Cliente,
  createCliente,
  Indeterminado,
  NaoEntregue,
  Recusado,
} from '../../../packages/cliente/src/index.ts';
import { type Options, type Terminal, textOf, type Values } from './command.ts';

const EXAMPLE_URL = 'http://127.0.0.1:8080';
export const DEFAULT_URL_HELP = `o serviço desta máquina, na porta de PORT, ou ${EXAMPLE_URL}`;
export const DEFAULT_TENANT = 'integracao';

/** The national environment has no contractual time; after this the command says so and leaves the address to ask at. */
const PATIENCE_MS = 60_000;
const POLL_FIRST_MS = 100;
const POLL_MAX_MS = 5_000;
/** Who cannot reach a service wants to know it at once; what is in doubt is asked about a few times. */
const INSISTENCE = { tentativas: 5, prazoMs: PATIENCE_MS, primeiraEsperaMs: 500, semConexao: false };

/** Exit codes besides 0: refused by us or by the ADN; taken, and its end is still awaited; nobody knows whether it was taken. */
export const REFUSED = 1;
export const WAITING = 3;
const DOUBT = 4;

/** Where a command sends to. */
export const DESTINATION = {
  url: { takes: 'URL', help: `endereço do serviço (padrão: ${DEFAULT_URL_HELP})` },
  municipio: { takes: 'SLUG', help: `município (padrão ${DEFAULT_TENANT})` },
} as const satisfies Options;

/** With which key a command is given again whose end is not known. */
export const REPETITION = {
  repeticao: {
    takes: 'CHAVE',
    help: 'repete um envio que ficou sem resposta, com a chave que o comando disse: nada é feito duas vezes',
  },
} as const satisfies Options;

/** Where a command is told to send, and the key if it is given again; a text: asked wrongly. */
export function sendingOf(terminal: Terminal, values: Values): Sending | string {
  const url = textOf(values, 'url') ?? terminal.serviceUrl();
  const problem = urlProblem(url);
  if (problem !== undefined) return problem;
  const chave = textOf(values, 'repeticao');
  return {
    ...askedAt(terminal, url, textOf(values, 'municipio') ?? DEFAULT_TENANT),
    repeticao: chave === undefined ? {} : { chave },
  };
}

/** What is wrong with a value of `--url`, as a line for the terminal. */
export function urlProblem(url: string): string | undefined {
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

/** A municipality of a service, and where that is. */
export type Asked = { readonly cliente: Cliente; readonly base: string };

type Sending = Asked & { readonly repeticao: { readonly chave?: string } };

export function askedAt(terminal: Terminal, url: string, municipio: string): Asked {
  const aoRepetir = ({ motivo, esperaMs }: { readonly motivo: string; readonly esperaMs: number }): void =>
    terminal.err(`${motivo} Nova tentativa em ${(esperaMs / 1000).toFixed(1)} s.\n`);
  return {
    cliente: createCliente({ url, municipio, insistencia: INSISTENCE, aoRepetir }),
    base: `${url.replace(/\/+$/, '')}/${municipio}`,
  };
}

/** How to follow something in front of whoever waits: a line that is written over, or once at its end. */
export function followingAt<Reading>(terminal: Terminal) {
  const aCada = ({ situacao, repousa, decorridoMs }: Andamento<Reading>): void => {
    const line = `  situação   ${situacao} (${(decorridoMs / 1000).toFixed(1)} s)`;
    if (terminal.isTerminal) terminal.out(`\r\x1b[K${line}${repousa ? '\n' : ''}`);
    else if (repousa) terminal.out(`${line}\n`);
  };
  return { prazoMs: PATIENCE_MS, primeiraEsperaMs: POLL_FIRST_MS, esperaMaximaMs: POLL_MAX_MS, aCada };
}

/** Undefined when patience ended before; `late` says what to do then. */
export async function untilRest<Reading>(
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

/** Tells how a call ended that did not end well, and answers with the exit code. `refusal`: a refusal in words. */
export function tellFailure(
  terminal: Terminal,
  error: unknown,
  { base, refusal }: { readonly base: string; readonly refusal: (error: Recusado) => string },
): number {
  if (error instanceof Recusado) {
    terminal.err(refusal(error));
    // What is not there may be elsewhere: on this machine another program may listen where the service was sought.
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
  throw unanswered(error, base);
}

/** What to say of a service that did not answer; anything else as it is. */
export function unanswered(error: unknown, base: string): unknown {
  if (!(error instanceof NaoEntregue)) return error;
  const { status, codigo, message } = error;
  if (status === undefined)
    return new Error(
      `não houve resposta de ${base}. O serviço está no ar? Suba-o com: npm start. Se ele atende em outro endereço ou porta, diga-o com --url.`,
    );
  if (codigo === undefined) return new Error(`${base} respondeu algo que não é deste serviço (HTTP ${status}).`);
  return new Error(`${base}: ${message}`);
}
