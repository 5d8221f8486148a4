/** Names and help texts of a municipality's lists at a terminal: its services, its benefits. */

import type { Command } from '../../base/terminal/command.ts';
import { type ListaNome, listRegisterColumns } from '../../fiscal/registers.ts';
import { columnsText, listCommand, registroCommands } from './registro.command.ts';

/** The names of a list, and the help for its operator. */
type ListaCommands = {
  readonly nome: ListaNome;
  /** First word of its commands. */
  readonly comando: string;
  /** Its lines as a word in a sentence: `serviços`. */
  readonly palavra: string;
  /** Its description in the help. */
  readonly resumo: string;
  /** The name of its keys in the plural: `códigos`. */
  readonly chaves: string;
};

const LISTAS: readonly ListaCommands[] = [
  {
    nome: 'servicos',
    comando: 'servicos',
    palavra: 'serviços',
    resumo: 'a lista municipal de serviços, em CSV. Com ela, o município só administra os códigos que estão na lista.',
    chaves: 'códigos',
  },
  {
    nome: 'beneficios',
    comando: 'beneficios',
    palavra: 'benefícios',
    resumo: 'os benefícios municipais (nBM), em CSV. Com eles, uma nota só leva um benefício que está no cadastro.',
    chaves: 'números',
  },
  {
    nome: 'deducoes',
    comando: 'deducoes',
    palavra: 'deduções',
    resumo: 'os serviços que admitem dedução, em CSV. Com eles, os demais não admitem nenhuma.',
    chaves: 'códigos',
  },
  {
    nome: 'regimes',
    comando: 'regimes',
    palavra: 'regimes',
    resumo:
      'os regimes especiais de tributação dos prestadores, em CSV. Com eles, uma nota só leva o que o município atribuiu.',
    chaves: 'pares de regime e documento',
  },
  {
    nome: 'nao_incidencias',
    comando: 'nao-incidencias',
    palavra: 'não incidências',
    resumo: 'os serviços em que o ISSQN não incide, em CSV. Com eles, nos demais ele incide.',
    chaves: 'pares de código e documento',
  },
];

export const LISTA_COMMANDS: readonly Command[] = LISTAS.flatMap(({ nome, comando, palavra, resumo, chaves }) => [
  ...registroCommands({
    nome,
    comando,
    oQue: `a lista de ${palavra}`,
    resumo: `Importa ${resumo}`,
    notes: [
      ['Colunas', columnsText(nome)],
      ...listRegisterColumns(nome).flatMap(([name, { note }]) => (note === undefined ? [] : [[name, note] as const])),
      ['Vigência', `de cada um dos ${chaves} do arquivo valem as linhas do arquivo; os ausentes ficam como estão`],
    ],
    depois: `Os ${chaves} que não estão no arquivo ficaram como estavam; para encerrar um, importe-o com a data em fim.`,
  }),
  listCommand(nome, `${comando} listar`),
]);
