/** `nfse … importar` and `nfse … listar` of each list that a municipality keeps: its services, its benefits. */

import { FORMAS_DEDUCAO, TIPOS_BENEFICIO } from '../../fiscal/cadastros.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { colunasDa, importLista, LISTAS_CSV, type ListaNome, listaAsCsv } from '../../flows/listas.ts';
import { type Command, inMunicipio } from './command.ts';
import { IMPORT_OPTIONS, runImport } from './importar.ts';

/** What a list is called, and what an operator must know of it. */
type ListaCommands = {
  readonly nome: ListaNome;
  /** First word of its commands. */
  readonly comando: string;
  /** What it is, as the help says it. */
  readonly resumo: string;
  /** By what its lines are known, in the plural: `códigos`. */
  readonly chaves: string;
  /** What the columns say that their names do not. */
  readonly colunas: readonly (readonly [coluna: string, diz: string])[];
};

const LISTAS: readonly ListaCommands[] = [
  {
    nome: 'servicos',
    comando: 'servicos',
    resumo: 'a lista municipal de serviços, em CSV. Com ela, o município só administra os códigos que estão na lista.',
    chaves: 'códigos',
    colunas: [],
  },
  {
    nome: 'beneficios',
    comando: 'beneficios',
    resumo: 'os benefícios municipais (nBM), em CSV. Com eles, uma nota só leva um benefício que está no cadastro.',
    chaves: 'números',
    colunas: [
      ['tipo', Object.keys(TIPOS_BENEFICIO).join(', ')],
      ['reducao', 'até quanto a base se reduz, em percentual; só de reducao_percentual'],
      ['aliquota', 'em percentual; só de aliquota_diferenciada'],
      ['servicos', 'códigos nacionais, separados por espaço; vazio: todos'],
      ['documentos', 'CNPJ e CPF de quem pode usá-lo, separados por espaço; vazio: todos'],
    ],
  },
  {
    nome: 'deducoes',
    comando: 'deducoes',
    resumo: 'os serviços que admitem dedução, em CSV. Com eles, os demais não admitem nenhuma.',
    chaves: 'códigos',
    colunas: [['formas', `${Object.keys(FORMAS_DEDUCAO).join(', ')}; várias, separadas por espaço`]],
  },
  {
    nome: 'regimes',
    comando: 'regimes',
    resumo:
      'os regimes especiais de tributação dos prestadores, em CSV. Com eles, uma nota só leva o que o município atribuiu.',
    chaves: 'pares de regime e documento',
    colunas: [
      ['regime', 'o código de regEspTrib'],
      ['documento', 'CNPJ ou CPF do prestador; vazio: qualquer um, sem verificação'],
      ['servicos', 'códigos nacionais, separados por espaço; vazio: todos'],
    ],
  },
  {
    nome: 'nao_incidencias',
    comando: 'nao-incidencias',
    resumo: 'os serviços em que o ISSQN não incide, em CSV. Com eles, nos demais ele incide.',
    chaves: 'pares de código e documento',
    colunas: [['documento', 'CNPJ ou CPF do prestador; vazio: qualquer um']],
  },
];

export const LISTA_COMMANDS: readonly Command[] = LISTAS.flatMap((lista) => [importar(lista), listar(lista)]);

function importar({ nome, comando, resumo, chaves, colunas }: ListaCommands): Command {
  const { titulo } = LISTAS_CSV[nome];
  return {
    name: `${comando} importar`,
    arguments: 'ARQUIVO',
    summary: `Importa ${resumo}`,
    options: IMPORT_OPTIONS,
    notes: [
      ['', ''],
      ['Colunas', colunasDa(nome).join(', ')],
      ...colunas,
      ['Vigência', `de cada um dos ${chaves} do arquivo valem as linhas do arquivo; os ausentes ficam como estão`],
    ],
    run: (world, values, [arquivo]) =>
      runImport(
        world,
        values,
        arquivo!,
        (registry, request) => importLista(registry, nome, request),
        ({ novos, alterados, iguais, retirados }, municipio, { reparos }) => [
          `${titulo} de ${municipio}: novos ${groupDigits(novos)}, alterados ${groupDigits(alterados)}, iguais ${groupDigits(iguais)}, retirados ${groupDigits(retirados)}.`,
          `Os ${chaves} que não estão no arquivo ficaram como estavam; para encerrar um, importe-o com a data em fim.`,
          ...reparos.filter(({ quantas }) => quantas > 0).map(({ diz, quantas }) => diz(groupDigits(quantas))),
        ],
      ),
  };
}

function listar({ nome, comando }: ListaCommands): Command {
  const { titulo } = LISTAS_CSV[nome];
  return {
    name: `${comando} listar`,
    summary: `Escreve as linhas que o município tem, no formato de ${comando} importar.`,
    options: { municipio: { takes: 'SLUG', help: 'município da lista' } },
    run: (world, values) =>
      inMunicipio(world, values, 'de que município é a lista', (municipio) =>
        world.registry(async (registry) => {
          const lines = await listaAsCsv(registry, nome, municipio);
          if (lines.length === 0) world.err(`${titulo}: o município não tem nenhuma linha.\n`);
          for (const line of lines) world.out(`${line}\n`);
          return 0;
        }),
      ),
  };
}
