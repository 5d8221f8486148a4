/** `nfse explicar`: a row of the public error table, for a terminal. */
import { ERRORS, errorOf } from '../../fiscal/errors.ts';
import type { Terminal } from './cli.ts';

export function explicar(terminal: Terminal, asked: string): number {
  const codigo = asked.toUpperCase();
  const error = errorOf(codigo);
  if (error === undefined) {
    const near = ERRORS.filter((one) => one.codigo.includes(codigo.replace(/^E0*/, ''))).slice(0, 8);
    const hint = near.length === 0 ? '' : ` Parecidos: ${near.map((one) => one.codigo).join(', ')}.`;
    terminal.err(`O código ${codigo} não está na tabela de erros.${hint}\n`);
    return 1;
  }
  const lines = [
    `${error.codigo}  ${error.mensagem}`,
    '',
    `  O que significa  ${error.significado}`,
    `  Como resolver    ${error.comoResolver}`,
    `  HTTP             ${error.status}`,
    `  Origem           ${error.origem}`,
    ...(error.nacional === undefined ? [] : [`  No padrão nacional  ${error.nacional}`]),
    '',
  ];
  terminal.out(lines.join('\n'));
  return 0;
}
