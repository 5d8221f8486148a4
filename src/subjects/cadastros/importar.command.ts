/** Common parts of the commands that import a file: their options, the progress, and the account at the end. */

import {
  type CliWorld,
  inMunicipio,
  type Options,
  type Terminal,
  textOf,
  textsOf,
  type Values,
} from '../../base/terminal/command.ts';
import { printable } from '../../base/terminal/text.ts';
import type { RegistryWorld } from '../../base/world/municipios.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { HeadingsUnknown } from './headings.ts';
import {
  type FileRequest,
  type ImportOutcome,
  type ImportProgress,
  type ImportRequest,
  RECUSADAS_SHOWN_MAX,
} from './import-csv.ts';
import { describeMudanca, type Mudanca } from './registros.ts';

export const IMPORT_OPTIONS = {
  municipio: { takes: 'SLUG', help: 'município a que o cadastro pertence' },
  parcial: { help: 'grava as linhas boas ainda que haja linhas recusadas (sem ela: tudo ou nada)' },
  erros: { takes: 'ARQUIVO', help: 'escreve neste arquivo todas as linhas recusadas, com o motivo' },
  previa: { help: 'diz o que o arquivo mudaria, linha a linha, e não grava nada' },
  confirmar: { help: 'grava ainda que haja o que confirmar, como uma alíquota abaixo de 2 %' },
  coluna: {
    takes: 'CABEÇALHO=COLUNA',
    isRepeated: true,
    help: 'que coluna é um cabeçalho do arquivo; sem nada depois do sinal, a coluna do arquivo é deixada de lado',
  },
} as const satisfies Options;

const WHOSE_FILE = 'a que município o arquivo pertence';

const BAR_CELLS = 30;
/** Shortest intervals between two updates of the bar, and between two plain lines. */
const BAR_EVERY_MS = 100;
const LINE_EVERY_MS = 5_000;

/**
 * Imports a file into the municipality of `--municipio` and prints the result; returns the exit code. `account`: lines about the stored
 * rows.
 */
export function runImport<Outcome extends ImportOutcome<object>>(
  world: CliWorld,
  values: Values,
  arquivo: string,
  run: (registry: RegistryWorld, request: ImportRequest) => Promise<Outcome>,
  account: (counts: NonNullable<Outcome['counts']>, municipio: string, outcome: Outcome) => readonly string[],
  foretell: (previa: NonNullable<Outcome['previa']>, municipio: string) => void,
): Promise<number> {
  const asked = { arquivo, ...readAsked(values) };
  return world.registry((registry) =>
    inMunicipio(world, values, WHOSE_FILE, (municipio) =>
      runFileImport(
        world,
        asked,
        (request) => run(registry, { ...request, municipio }),
        (counts, outcome) => account(counts, municipio, outcome),
        (previa) => foretell(previa, municipio),
      ),
    ),
  );
}

/** The request of the options, without the file. */
function readAsked(values: Values): Omit<FileRequest, 'onProgress' | 'arquivo'> {
  const colunas = textsOf(values, 'coluna').map((text): [string, string] => {
    const at = text.lastIndexOf('=');
    return at < 0 ? [text, ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  });
  return {
    parcial: values['parcial'] === true,
    erros: textOf(values, 'erros'),
    previa: values['previa'] === true,
    confirmado: values['confirmar'] === true,
    colunas: Object.fromEntries(colunas),
  };
}

/** Imports a file that belongs to no municipality. */
export async function runFileImport<Outcome extends ImportOutcome<object>>(
  terminal: Terminal,
  asked: Omit<FileRequest, 'onProgress'>,
  run: (request: FileRequest) => Promise<Outcome>,
  account: (counts: NonNullable<Outcome['counts']>, outcome: Outcome) => readonly string[],
  foretell: (previa: NonNullable<Outcome['previa']>) => void = () => undefined,
): Promise<number> {
  const { erros, parcial } = asked;
  const progress = progressOn(terminal);
  const began = performance.now();
  let outcome: Outcome;
  try {
    outcome = await run({ ...asked, onProgress: progress.show });
  } catch (error) {
    if (!(error instanceof HeadingsUnknown)) throw error;
    const strange = error.headings.find(({ column }) => column === undefined)?.texto ?? 'Nome do cliente';
    const hint = ` Se uma coluna tem outro nome, diga qual: --coluna "${strange}=coluna"; se não se usa: --coluna "${strange}=".`;
    throw new Error(printable(`${error.message}${asked.colunas === undefined ? '' : hint}`));
  } finally {
    progress.end();
  }
  const { lido, linhas, counts } = outcome;
  const seconds = ((performance.now() - began) / 1000).toFixed(1).replace('.', ',');
  const read = linhas === 1 ? 'Lida 1 linha' : `Lidas ${groupDigits(linhas)} linhas`;
  terminal.out(`${read} em ${seconds} s: ${lido}.\n`);
  tellRefused(terminal, outcome, erros);
  for (const pergunta of outcome.perguntas) terminal.err(`Confirme: ${pergunta}\n`);
  if (asked.previa === true) {
    if (outcome.previa != null) foretell(outcome.previa);
    terminal.out('Nada foi gravado: era uma prévia.\n');
    return outcome.recusadas === 0 ? 0 : 1;
  }
  if (!counts) {
    terminal.err(describeFailure(outcome, parcial));
    return 1;
  }
  for (const line of account(counts, outcome)) terminal.out(`${line}\n`);
  return 0;
}

function describeFailure(
  { linhas, recusadas, perguntas }: ImportOutcome<unknown>,
  parcial: FileRequest['parcial'],
): string {
  if (perguntas.length > 0 && (recusadas === 0 || parcial === true))
    return 'Nada foi gravado. Se é isso mesmo, importe de novo com --confirmar.\n';
  if (linhas === 0) return 'Nada foi gravado: o arquivo só tem o cabeçalho.\n';
  const way = parcial !== false || recusadas === linhas ? '' : ', ou grave as demais com --parcial';
  return `Nada foi gravado. Corrija as linhas e importe de novo${way}.\n`;
}

function tellRefused(
  terminal: Terminal,
  { recusadas, primeiras }: ImportOutcome<unknown>,
  erros: string | undefined,
): void {
  if (recusadas === 0) return;
  terminal.err(recusadas === 1 ? 'Há 1 linha recusada:\n' : `Há ${groupDigits(recusadas)} linhas recusadas:\n`);
  for (const { linha, motivo } of primeiras) terminal.err(`  linha ${linha}: ${printable(motivo)}\n`);
  const rest = recusadas - primeiras.length;
  const where = erros === undefined ? `--erros ARQUIVO escreve todas` : `todas estão em ${erros}`;
  if (rest > 0)
    terminal.err(`  … e mais ${groupDigits(rest)}; aqui só as ${RECUSADAS_SHOWN_MAX} primeiras, ${where}\n`);
  else if (erros !== undefined) terminal.err(`  também em ${erros}\n`);
}

/** Progress: at a terminal a bar that is overwritten, elsewhere a line every few seconds. */
function progressOn(terminal: Terminal): { show(progress: ImportProgress): void; end(): void } {
  let etapa = '';
  let shownAt = performance.now();
  let isOpen = false;
  return {
    show: (progress) => {
      const now = performance.now();
      const isNew = progress.etapa !== etapa;
      etapa = progress.etapa;
      if (terminal.isTerminal) {
        if (!isNew && now - shownAt < BAR_EVERY_MS) return;
        isOpen = true;
        terminal.out(`\r\x1b[K${barOf(progress)}`);
      } else {
        // A quick import ends before the first line is due.
        if (now - shownAt < LINE_EVERY_MS) return;
        terminal.out(`${barOf(progress)}\n`);
      }
      shownAt = now;
    },
    end: () => {
      if (isOpen) terminal.out('\r\x1b[K');
    },
  };
}

const ETAPAS: Readonly<Record<Exclude<ImportProgress['etapa'], 'lendo'>, string>> = {
  conferindo: 'conferindo umas linhas com as outras…',
  gravando: 'gravando…',
};

function barOf({ etapa, linhas, bytes, bytesTotal }: ImportProgress): string {
  if (etapa !== 'lendo')
    return `${linhas === 1 ? '1 linha lida' : `${groupDigits(linhas)} linhas lidas`}; ${ETAPAS[etapa]}`;
  const share = bytesTotal === 0 ? 1 : Math.min(1, bytes / bytesTotal);
  const full = Math.round(share * BAR_CELLS);
  const bar = `${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)}`;
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${linhas === 1 ? '1 linha' : `${groupDigits(linhas)} linhas`}`;
}

/** Prints the preview of an import: the number of rows, and the changes of the first ones. */
export function tellPrevia(terminal: Terminal, contas: readonly string[], mudancas: readonly Mudanca[]): void {
  for (const conta of contas) terminal.out(`${conta}\n`);
  for (const mudanca of mudancas.slice(0, PREVIA_SHOWN_MAX)) {
    const { acao, quem, campos } = describeMudanca(mudanca);
    const what = campos.map(({ nome, antes, depois }) =>
      acao === 'muda'
        ? `${nome} ${printable(antes || '(vazio)')} → ${printable(depois || '(vazio)')}`
        : `${nome} ${printable(acao === 'novo' ? depois : antes)}`,
    );
    terminal.out(`  ${acao} ${printable(quem)}${what.length === 0 ? '' : `: ${what.join('; ')}`}\n`);
  }
  const rest = mudancas.length - PREVIA_SHOWN_MAX;
  if (rest > 0) terminal.out(`  … e mais ${groupDigits(rest)}\n`);
}

const PREVIA_SHOWN_MAX = 50;
