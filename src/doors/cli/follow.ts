/** Asking a running service about something until nothing more happens to it by itself, in front of whoever waits. */
import type { Terminal } from './command.ts';
import type { Answered } from './sent-file.ts';

export const DEFAULT_URL = 'http://127.0.0.1:8080';

const TIMEOUT_MS = 30_000;
/** The national environment has no contractual time; after this the command says so and leaves the address to ask at. */
const PATIENCE_MS = 60_000;
const POLL_FIRST_MS = 100;
const POLL_MAX_MS = 5_000;

/** Exit codes besides 0: refused by us or by the ADN; taken, and its end is still awaited. */
export const REFUSED = 1;
export const WAITING = 3;

/** What is wrong with a value of `--url`, as a line for the terminal. */
export function urlProblem(url: string): string | undefined {
  if (/^https?:\/\/./.test(url) && URL.canParse(url)) return undefined;
  return `--url ${url} não é um endereço. Exemplo: ${DEFAULT_URL}\n`;
}

/** `rests`: nothing more happens by itself. */
export type Look = { readonly situacao: string; readonly rests: boolean };

/** Asks until what it sees rests, and answers with that; undefined when patience has ended before. */
export async function follow(
  terminal: Terminal,
  query: string,
  lookAt: (body: Answered['body']) => Look,
): Promise<Answered['body'] | undefined> {
  const began = performance.now();
  let pause = POLL_FIRST_MS;
  for (;;) {
    const { status, body } = await ask(query);
    // A service that is busy or away for a moment says nothing about what it was asked.
    const { situacao, rests } = status === 200 ? lookAt(body) : { situacao: `HTTP ${status}`, rests: false };
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const line = `  situação   ${situacao} (${seconds} s)`;
    if (terminal.isTerminal) terminal.out(`\r\x1b[K${line}`);
    const isLate = performance.now() - began > PATIENCE_MS;
    if (rests || isLate) {
      terminal.out(terminal.isTerminal ? '\n' : `${line}\n`);
      return rests ? body : undefined;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, POLL_MAX_MS);
  }
}

async function ask(url: string): Promise<Answered> {
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch {
    throw new Error(`não houve resposta de ${new URL(url).origin}. O serviço está no ar? Suba-o com: npm start`);
  }
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    throw new Error(`${new URL(url).origin} respondeu algo que não é deste serviço (HTTP ${response.status}).`);
  }
}
