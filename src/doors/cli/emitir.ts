/** `nfse emitir`: sends a DPS as any integrator would, and asks until the note is authorised. */
import type { Terminal } from './cli.ts';
import { faultLines } from './faults.ts';
import { postFile, type SentFile } from './sent-file.ts';

const TIMEOUT_MS = 30_000;
/** Authorisation has no contractual time; after this the command says so and leaves the key to ask with. */
const PATIENCE_MS = 60_000;
const POLL_FIRST_MS = 100;
const POLL_MAX_MS = 5_000;

/** Exit codes besides 0: refused by us or by the ADN; issued, and its authorisation is still awaited. */
const REFUSED = 1;
const WAITING = 3;

type Target = { readonly url: string; readonly tenant: string };

export async function emitir(terminal: Terminal, sent: SentFile, { url, tenant }: Target): Promise<number> {
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) {
    terminal.err(`--url ${url} não é um endereço. Exemplo: http://127.0.0.1:8080\n`);
    return 2;
  }
  const base = `${url.replace(/\/+$/, '')}/${tenant}/api/v1`;
  const issued = await postFile(`${base}/nfse/v101`, sent);
  if (issued.status !== 201) {
    const { codigo_erro, mensagem, erros } = issued.body;
    terminal.err(`Recusada (HTTP ${issued.status}, ${codigo_erro}): ${mensagem}\n`);
    if (Array.isArray(erros) && erros.length > 0) terminal.err(`${faultLines(erros)}\n`);
    return REFUSED;
  }
  const { chave_acesso, numero_protocolo, avisos } = issued.body;
  terminal.out(
    `Nota emitida; falta a autorização do ADN\n  chave      ${chave_acesso}\n  protocolo  ${numero_protocolo}\n`,
  );
  for (const { codigo, mensagem } of avisos ?? []) terminal.out(`  aviso      ${codigo}  ${mensagem}\n`);
  return untilAuthorised(terminal, `${base}/nfse/${chave_acesso}`);
}

async function untilAuthorised(terminal: Terminal, query: string): Promise<number> {
  const began = performance.now();
  let pause = POLL_FIRST_MS;
  for (;;) {
    const { body } = await ask(query, {});
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const estado = body.nota?.status;
    // The note of a refused protocolo stays a draft, to be corrected; what happened to it is the refusal.
    const isRejected = body.protocolo?.status === 'rejeitado';
    const line = `  situação   ${isRejected ? 'rejeitada' : estado} (${seconds} s)`;
    if (terminal.isTerminal) terminal.out(`\r\x1b[K${line}`);
    if (estado !== 'rascunho' || isRejected) {
      terminal.out(terminal.isTerminal ? '\n' : `${line}\n`);
      if (estado === 'autorizada') {
        terminal.out(`  número     ${body.nota.numero}\n  consulta   ${query}\n`);
        return 0;
      }
      const motivo = body.protocolo?.mensagem_retorno ?? 'sem motivo informado';
      terminal.err(
        `O ADN recusou a nota: ${motivo}\nA série e o número estão livres: corrija a DPS e envie de novo.\n`,
      );
      return REFUSED;
    }
    if (performance.now() - began > PATIENCE_MS) {
      terminal.out(terminal.isTerminal ? '\n' : `${line}\n`);
      terminal.err(
        `Ainda não autorizada; a nota existe e segue sozinha. Não a envie de novo; consulte mais tarde: ${query}\n`,
      );
      return WAITING;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, POLL_MAX_MS);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the answer of another program, looked at field by field
async function ask(url: string, init: RequestInit): Promise<{ status: number; body: any }> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
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
