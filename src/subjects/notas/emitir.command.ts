/** `nfse emitir`: sends a DPS as an integrator would, and polls until the note is authorised. */
import type { Recusado } from '../../../packages/cliente/src/index.ts';
import { askedWrongly, type Command, type Terminal, textOf, type Values } from '../../base/terminal/command.ts';
import {
  type Asked,
  CAMPO,
  DESTINATION,
  followOptions,
  REFUSED,
  REPETITION,
  readSending,
  readSentFile,
  signatureOf,
  tellFailure,
  WAITING,
  waitForRest,
} from '../../base/terminal/follow.ts';
import { faultLines } from '../../base/terminal/text.ts';

export const EMITIR: Command = {
  name: 'emitir',
  arguments: 'ARQUIVO',
  summary: 'Envia uma DPS, em XML ou JSON, e acompanha a nota até ser autorizada.',
  options: {
    ...DESTINATION,
    cms: { takes: 'ARQUIVO', help: `de um corpo JSON, o valor de ${CAMPO}, como nfse assinar o grava` },
    ...REPETITION,
  },
  run: (terminal, values, [file]) => emitir(terminal, values, file!),
};

async function emitir(terminal: Terminal, values: Values, file: string): Promise<number> {
  const sent = await readSentFile(file, textOf(values, 'cms'));
  if (typeof sent === 'string') return askedWrongly(terminal, sent);
  const sending = readSending(terminal, values);
  if (typeof sending === 'string') return askedWrongly(terminal, sending);
  try {
    const emitida = await sending.cliente.emitirNota(sent.body, { ...signatureOf(sent), ...sending.repeticao });
    const { chave_acesso, numero_protocolo, avisos, repetida } = emitida;
    terminal.out(
      `Nota ${repetida ? 'já emitida antes' : 'emitida; falta a autorização do ADN'}\n  chave      ${chave_acesso}\n  protocolo  ${numero_protocolo}\n`,
    );
    for (const { codigo, mensagem } of avisos) terminal.out(`  aviso      ${codigo}  ${mensagem}\n`);
    return await followNota(terminal, sending, chave_acesso);
  } catch (error) {
    return tellFailure(terminal, error, { base: sending.base, refusal });
  }
}

function refusal({ status, envelope, erros }: Recusado): string {
  const faults = erros.length === 0 ? '' : `${faultLines(erros)}\n`;
  return `Recusada (HTTP ${status}, ${envelope?.codigo_erro}): ${envelope?.mensagem}\n${faults}`;
}

async function followNota(terminal: Terminal, { cliente, base }: Asked, chave: string): Promise<number> {
  const query = `${base}/api/v1/nfse/${chave}`;
  const late = `Ainda não autorizada; a nota existe e segue sozinha. Não a envie de novo; consulte mais tarde: ${query}\n`;
  const found = await waitForRest(terminal, cliente.acompanharNota(chave, followOptions(terminal)), late);
  if (found === undefined) return WAITING;
  if (found.situacao === 'rejeitada') {
    const motivo = found.protocolo.mensagem_retorno ?? 'sem motivo informado';
    terminal.err(`A nota foi recusada: ${motivo}\nA série e o número estão livres: corrija a DPS e envie de novo.\n`);
    return REFUSED;
  }
  terminal.out(`Nota ${found.situacao}\n  número     ${found.nota.numero}\n  consulta   ${query}\n`);
  return 0;
}
