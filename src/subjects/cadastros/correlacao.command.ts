/** `nfse correlacao …`: the codes that a municipality adds to each RPS of the legacy port, whose layout lacks them. */
import type { Command } from '../../base/terminal/command.ts';
import { columnsText, listCommand, registroCommands } from './registro.command.ts';

export const CORRELACAO_COMMANDS: readonly Command[] = [
  ...registroCommands({
    nome: 'correlacao',
    comando: 'correlacao',
    oQue: 'a correlação',
    resumo:
      'Importa a correlação do serviço SOAP legado, em CSV: o que falta a um RPS (NBS, IBS e CBS) por item da lista. O arquivo substitui a correlação inteira.',
    notes: [
      ['Colunas', columnsText('correlacao')],
      ['Código', 'codigo_municipal vazio vale para todo RPS do item que não tem linha própria'],
    ],
    depois: 'O que não está no arquivo saiu: ele é a correlação inteira.',
    isWhole: true,
  }),
  listCommand('correlacao', 'correlacao mostrar'),
];
