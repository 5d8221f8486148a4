/** Commands that every register of a municipality has: import, preview, undo, export. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  byHand,
  type CliWorld,
  type Command,
  inMunicipio,
  JSON_OPTION,
  refuseAsked,
  textOf,
  withMotivo,
} from '../../base/terminal/command.ts';
import { jsonText, printable, tableLines } from '../../base/terminal/text.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { linesOf } from './editar.ts';
import { IMPORT_OPTIONS, runImport, tellPrevia } from './importar.command.ts';
import { type Conta, exportRegistro, importRegistro, REGISTROS, type RegistroNome, undoImport } from './registros.ts';

const MUNICIPIO = { municipio: { takes: 'SLUG', help: 'município do cadastro' } } as const;
const MOTIVO = { takes: 'TEXTO', help: 'por quê; fica no histórico do município' } as const;

export type RegistroCommands = {
  readonly nome: RegistroNome;
  /** First word of its commands. */
  readonly comando: string;
  /** `o cadastro de prestadores`: the object of import, undo and export. */
  readonly oQue: string;
  readonly resumo: string;
  readonly notes: readonly (readonly [string, string])[];
  /** Sentences after the counts. */
  readonly depois: string;
  /** One refused line refuses the whole file. */
  readonly isWhole?: true;
};

export function registroCommands(of: RegistroCommands): readonly Command[] {
  const { nome, comando, oQue, resumo, notes, isWhole } = of;
  const { parcial, ...others } = IMPORT_OPTIONS;
  return [
    {
      name: `${comando} importar`,
      arguments: 'ARQUIVO',
      summary: resumo,
      options: { ...(isWhole ? {} : { parcial }), ...others, motivo: MOTIVO },
      notes: [['', ''], ...notes],
      run: (world, values, [arquivo]) =>
        runImport(
          world,
          values,
          arquivo!,
          (registry, request) => importRegistro(registry, nome, { ...request, by: byHand(values) }),
          (contas, municipio, { reparos }) => [...contasTold(contas, municipio), of.depois, ...reparos],
          (previa, municipio) => tellPrevia(world, contasTold(previa.counts, municipio), previa.mudancas),
        ),
    },
    {
      name: `${comando} desfazer`,
      summary: `Desfaz a última importação: ${oQue} fica como era antes dela.`,
      options: { ...MUNICIPIO, motivo: { ...MOTIVO, help: 'por quê (obrigatório); fica no histórico do município' } },
      run: (world, values) =>
        inMunicipio(world, values, 'em que município desfazer', async (municipio) =>
          withMotivo(world, values, () =>
            world.registry(async (registry) => {
              const done = await undoImport(registry, nome, municipio, byHand(values));
              if ('problem' in done) return refuseAsked(world, done.problem);
              world.out(`Desfeita. Voltaram ao que eram: ${groupDigits(done.linhas)}.\n`);
              return 0;
            }),
          ),
        ),
    },
    {
      name: `${comando} exportar`,
      arguments: '[ARQUIVO]',
      summary: `Escreve ${oQue} num CSV que ${comando} importar lê.`,
      options: MUNICIPIO,
      run: (world, values, [arquivo]) =>
        inMunicipio(world, values, 'de que município', (municipio) => exportar(world, nome, municipio, arquivo)),
    },
  ];
}

export function contasTold(contas: readonly Conta[], municipio: string): readonly string[] {
  return contas.map(
    ({ de, novos, alterados, iguais, retirados }) =>
      `${de} de ${municipio}: novos ${groupDigits(novos)}, alterados ${groupDigits(alterados)}, iguais ${groupDigits(iguais)}, retirados ${groupDigits(retirados)}.`,
  );
}

async function exportar(
  world: CliWorld,
  nome: RegistroNome,
  municipio: string,
  arquivo: string | undefined,
): Promise<number> {
  await world.registry(async (registry) => {
    const lines = exportRegistro(registry, nome, municipio);
    if (arquivo === undefined) for await (const line of lines) world.out(line);
    else await pipeline(Readable.from(lines), createWriteStream(arquivo));
  });
  if (arquivo !== undefined) world.out(`O cadastro está em ${arquivo}.\n`);
  return 0;
}

/** The columns of a file, and the optional ones among them. */
export function columnsText(nome: RegistroNome): string {
  const { columns, order } = REGISTROS[nome];
  return `${order.join(', ')} (opcionais: ${columns.optional.join(', ')})`;
}

/** Shows the lines of a register, all of them or those that contain a text. */
export function listCommand(nome: RegistroNome, name: string): Command {
  const { titulo, order } = REGISTROS[nome];
  return {
    name,
    summary: 'Mostra as linhas que o município tem.',
    options: { ...MUNICIPIO, procurar: { takes: 'TEXTO', help: 'só as linhas que têm este texto' }, ...JSON_OPTION },
    run: (world, values) =>
      inMunicipio(world, values, 'de que município', (municipio) =>
        world.registry(async (registry) => {
          const lines = await linesOf(registry, nome, municipio, textOf(values, 'procurar'));
          const rows = lines.map(({ cells }) => cells);
          if (values['json'] === true) world.out(jsonText(rows));
          else if (rows.length === 0) world.err(`${titulo}: o município não tem nenhuma linha assim.\n`);
          else {
            const used = order.filter((column) => rows.some((row) => row[column] !== ''));
            const table = rows.map((row) => used.map((column) => printable(row[column]!)));
            world.out(`${tableLines([used, ...table], world.columns).join('\n')}\n`);
          }
          return 0;
        }),
      ),
  };
}
