/** `nfse explicar`: a row of the public error table, for a terminal. */

import type { Command, Terminal } from '../../base/terminal/command.ts';
import { countSlips } from '../../base/terminal/nearest.ts';
import { columns } from '../../base/terminal/text.ts';
import { ERRORS, errorOf } from '../../fiscal/errors.ts';
import { httpOf, reachOf } from '../../published/errors/page.ts';

export const EXPLICAR: Command = {
  name: 'explicar',
  arguments: 'CÓDIGO',
  summary: 'Explica um código de erro, como E0370.',
  run: async (world, _values, [code]) => explicar(world, code!),
};

function explicar(terminal: Terminal, asked: string): number {
  const codigo = asked.toUpperCase();
  const error = errorOf(codigo);
  if (error === undefined) {
    const near = findSimilar(codigo);
    terminal.err(`O código ${codigo} não está na tabela de erros.\n`);
    if (near.length > 0) terminal.err(`Parecidos:\n${columns(near).join('\n')}\n`);
    terminal.err('A tabela inteira está em /docs/erros do serviço no ar, e em docs/erros/README.md.\n');
    return 1;
  }
  const rows: [string, string][] = [
    ['O que significa', error.significado],
    ['Como resolver', error.comoResolver],
    ['A quem diz respeito', reachOf(error)],
    ['HTTP', httpOf(error)],
    ['Origem', error.origem],
  ];
  if (error.nacional !== undefined) {
    const said = error.nacional.replace(/^(?:O|No) padrão nacional,? /, '');
    rows.push(['No padrão nacional', `${said[0]!.toUpperCase()}${said.slice(1)}`]);
  }
  const lines = [`${error.codigo}  ${error.mensagem}`, '', ...columns(rows), ''];
  terminal.out(lines.join('\n'));
  return 0;
}

const SIMILAR_MAX = 10;

/** Similar codes with their messages: those with this beginning, those with these digits, and those with one character different. */
function findSimilar(asked: string): readonly (readonly [string, string])[] {
  const digits = asked.replace(/^E?0*/, '');
  if (digits === '') return [];
  const ways: readonly ((codigo: string) => boolean)[] = [
    (codigo) => codigo.replace(/^E0*/, '').startsWith(digits),
    (codigo) => countSlips(codigo, asked) <= 1,
    (codigo) => codigo.includes(digits),
  ];
  const near = new Set(ways.flatMap((isNear) => ERRORS.filter(({ codigo }) => isNear(codigo))));
  return [...near].slice(0, SIMILAR_MAX).map(({ codigo, mensagem }) => [codigo, mensagem] as const);
}
