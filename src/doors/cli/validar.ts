/** `nfse validar`: the law over a file, offline, with what the rules of the sandbox would say. */
import { formatDecimal } from '../../fiscal/decimal.ts';
import { momentIn } from '../../fiscal/moment.ts';
import { validateDocument } from '../../flows/validate-dps.ts';
import type { Terminal } from './cli.ts';
import { faultLines } from './faults.ts';

export function validar(terminal: Terminal, body: Uint8Array): number {
  const validated = validateDocument({ kind: 'xml', body }, momentIn('America/Sao_Paulo', Date.now()).date);
  if ('faults' in validated) {
    const { length } = validated.faults;
    terminal.err(`${length === 1 ? 'Há 1 erro' : `Há ${length} erros`}:\n${faultLines(validated.faults)}\n`);
    terminal.err(`\nnfse explicar ${validated.faults[0].codigo} diz mais.\n`);
    return 1;
  }
  const { amounts, avisos } = validated;
  terminal.out('A DPS seria aceita no ambiente de integração.\n');
  const shown = {
    vBC: amounts.vBC,
    pAliqAplic: amounts.pAliqAplic,
    vISSQN: amounts.vISSQN,
    vTotalRet: amounts.vTotalRet,
    vLiq: amounts.vLiq,
  };
  for (const [name, value] of Object.entries(shown)) {
    if (value !== undefined) terminal.out(`  ${name.padEnd(11)} ${formatDecimal(value)}\n`);
  }
  for (const { codigo, mensagem } of avisos) terminal.out(`  aviso       ${codigo}  ${mensagem}\n`);
  return 0;
}
