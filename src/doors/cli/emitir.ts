/** `nfse emitir`: sends a DPS as any integrator would, and asks until the note is authorised. */
import type { Terminal } from './cli.ts';
import { faultLines } from './faults.ts';
import { follow, REFUSED, urlProblem, WAITING } from './follow.ts';
import { postFile, type SentFile } from './sent-file.ts';

type Target = { readonly url: string; readonly tenant: string };

export async function emitir(terminal: Terminal, sent: SentFile, { url, tenant }: Target): Promise<number> {
  const problem = urlProblem(url);
  if (problem !== undefined) {
    terminal.err(problem);
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
  const body = await follow(terminal, query, ({ nota, protocolo }) => {
    // The note of a refused protocolo stays a draft, to be corrected; what happened to it is the refusal.
    const isRejected = protocolo?.status === 'rejeitado';
    return { situacao: isRejected ? 'rejeitada' : nota?.status, rests: isRejected || nota?.status !== 'rascunho' };
  });
  if (body === undefined) {
    terminal.err(
      `Ainda não autorizada; a nota existe e segue sozinha. Não a envie de novo; consulte mais tarde: ${query}\n`,
    );
    return WAITING;
  }
  if (body.nota?.status === 'autorizada') {
    terminal.out(`  número     ${body.nota.numero}\n  consulta   ${query}\n`);
    return 0;
  }
  const motivo = body.protocolo?.mensagem_retorno ?? 'sem motivo informado';
  terminal.err(`O ADN recusou a nota: ${motivo}\nA série e o número estão livres: corrija a DPS e envie de novo.\n`);
  return REFUSED;
}
