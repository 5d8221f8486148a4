/** `nfse nota buscar` and `nota exportar`: notes searched by any known detail. */

import {
  askedWrongly,
  type CliWorld,
  type Command,
  inMunicipio,
  JSON_OPTION,
  type Options,
  refuseAsked,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { jsonText, printable, quoteArgument, tableLines } from '../../base/terminal/text.ts';
import { tellMoment } from '../../base/world/gather-facts.ts';
import { groupDecimal, groupDigits } from '../../fiscal/group-digits.ts';
import { type BuscaEscrita, CAMPOS_DA_BUSCA, type NotaAchada, type ProblemasDaBusca, searchNotas } from './buscar.ts';
import { exportNotas, FORMATOS, type TellProgress } from './exportar.ts';
import { FILTROS, NOMES_DE_FILTROS } from './filtros.ts';

/** Search fields have the names of the options, except for the hyphen. */
const optionOf = (campo: string): string => campo.replaceAll('_', '-');

const BUSCA: Options = {
  municipio: { takes: 'SLUG', help: 'município das notas' },
  ...Object.fromEntries(NOMES_DE_FILTROS.map((name) => [optionOf(name), FILTROS[name].command])),
};

const FREE =
  'TEXTO é uma chave de acesso, um protocolo, o X-Request-Id da resposta que a emitiu, o Id de uma DPS, um CNPJ, um CPF, um número, ou parte do nome do prestador ou do tomador.';

export const BUSCA_COMMANDS: readonly Command[] = [
  {
    name: 'nota buscar',
    arguments: '[TEXTO …]',
    summary: 'Procura notas, as mais novas primeiro, uma página de cada vez.',
    options: {
      ...BUSCA,
      depois: { takes: 'LUGAR', help: 'continua de onde a página anterior parou' },
      ...JSON_OPTION,
    },
    notes: [['', FREE]],
    run: buscar,
  },
  {
    name: 'nota exportar',
    arguments: 'ARQUIVO',
    summary:
      'Escreve tudo o que a busca acha: uma planilha se ARQUIVO termina em .xlsx ou .csv, os XML se termina em .zip.',
    options: { ...BUSCA, texto: { takes: 'TEXTO', help: 'o mesmo que em nota buscar' } },
    run: exportar,
  },
];

const WHICH_MUNICIPIO = 'de que município são as notas';

function readBusca(values: Values, words: readonly string[]): Partial<BuscaEscrita> {
  const asked = CAMPOS_DA_BUSCA.map((campo) => [campo, textOf(values, optionOf(campo)) ?? '']);
  return { ...Object.fromEntries(asked), q: words.join(' ') };
}

function tellProblems(world: CliWorld, problems: ProblemasDaBusca): number {
  const lines = Object.entries(problems).map(
    ([campo, problem]) => `${campo === 'q' ? 'TEXTO' : `--${optionOf(campo)}`}: ${problem}\n`,
  );
  return askedWrongly(world, lines.join(''));
}

function buscar(world: CliWorld, values: Values, words: readonly string[]): Promise<number> {
  return inMunicipio(world, values, WHICH_MUNICIPIO, (municipio) =>
    world.registry(async (registry) => {
      const found = await searchNotas(registry, municipio, readBusca(values, words), textOf(values, 'depois'));
      if ('problems' in found) return tellProblems(world, found.problems);
      const { notas, seguinte, procuradoAte, avisos } = found;
      if (values['json'] === true) {
        world.out(jsonText({ notas: notas.map(toJson), seguinte: seguinte ?? null, avisos }));
        return 0;
      }
      for (const aviso of avisos) world.err(`${aviso}\n`);
      if (notas.length > 0) world.out(tableOf(notas, world.columns));
      else if (seguinte === undefined) world.out('Nenhuma nota assim.\n');
      if (procuradoAte !== undefined) {
        world.out(`Procurado até ${procuradoAte}; pode haver mais antes.\n`);
      }
      if (seguinte !== undefined) world.out(`Mais: ${again(municipio, values, words, seguinte)}\n`);
      return 0;
    }),
  );
}

function again(municipio: string, values: Values, words: readonly string[], seguinte: string): string {
  const options = CAMPOS_DA_BUSCA.flatMap((campo) => {
    const text = textOf(values, optionOf(campo));
    return text === undefined ? [] : [`--${optionOf(campo)} ${quoteArgument(text)}`];
  });
  return [
    'nfse nota buscar',
    ...words.map(quoteArgument),
    `--municipio ${municipio}`,
    ...options,
    `--depois ${seguinte}`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}

/** The key stands on its own line on a terminal, so that it is copied whole. */
function tableOf(notas: readonly NotaAchada[], width: number | undefined): string {
  const rows = [HEAD, ...notas.map(rowOf)];
  if (width === undefined) return `${tableLines(rows).join('\n')}\n`;
  const [head, ...lines] = tableLines(
    rows.map(([, ...others]) => others),
    width,
  );
  return [head, ...lines.flatMap((line, place) => [line, `  ${notas[place]!.chave_acesso}`]), ''].join('\n');
}

const HEAD = ['chave_acesso', 'emitida', 'estado', 'valor (R$)', 'prestador', 'tomador'];
const NAME_MAX = 28;

function rowOf(nota: NotaAchada): readonly string[] {
  return [
    nota.chave_acesso,
    tellMoment(nota.chave_acesso, nota.data_emissao),
    nota.estado,
    groupDecimal(nota.valor_servico),
    printable(nota.prestador_razao_social).slice(0, NAME_MAX),
    printable(nota.tomador_razao_social ?? '').slice(0, NAME_MAX),
  ];
}

/** The internal `id` and `mes` are left out. */
function toJson({ id, mes, data_emissao, ...nota }: NotaAchada): object {
  return { ...nota, data_emissao: tellMoment(nota.chave_acesso, data_emissao) };
}

function exportar(world: CliWorld, values: Values, [arquivo]: readonly string[]): Promise<number> {
  return inMunicipio(world, values, WHICH_MUNICIPIO, async (municipio) => {
    const formato = FORMATOS.find((one) => arquivo!.endsWith(`.${one}`));
    if (formato === undefined) {
      return askedWrongly(world, `ARQUIVO termina em ${FORMATOS.map((one) => `.${one}`).join(' ou ')}: ${arquivo}\n`);
    }
    return world.registry(async (registry) => {
      const tell: TellProgress = (notas, total) => {
        if (!world.isTerminal) return;
        const of = total === undefined ? '' : ` de ${groupDigits(total)}`;
        world.out(`\r\x1b[K${groupDigits(notas)}${of} notas…`);
      };
      const asked = { busca: readBusca(values, [textOf(values, 'texto') ?? '']), formato, arquivo: arquivo! };
      const done = await exportNotas(registry, municipio, asked, tell);
      if (world.isTerminal) world.out('\r\x1b[K');
      if ('problems' in done) return tellProblems(world, done.problems);
      for (const aviso of done.avisos) world.err(`${aviso}\n`);
      if (done.notas === 0) return refuseAsked(world, 'Nenhuma nota assim; o arquivo ficou vazio.');
      world.out(`${done.notas === 1 ? '1 nota' : `${groupDigits(done.notas)} notas`} em ${arquivo}.\n`);
      return 0;
    });
  });
}
