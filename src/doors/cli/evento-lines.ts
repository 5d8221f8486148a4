/** An event as a terminal shows it: its published fields by their published names, without those that say nothing. */
import type { EventoPublico } from '../../flows/evento-queries.ts';
import { columns } from './command.ts';

/** `before` and `after`: rows of the command's own. */
export function eventoLines(
  evento: Readonly<Record<string, unknown>>,
  after: readonly (readonly [string, string])[] = [],
): string {
  const rows = Object.entries(evento).flatMap(([name, value]): (readonly [string, string])[] => {
    if (value === null || value === undefined) return [];
    return [[name, printable(typeof value === 'object' ? JSON.stringify(value) : String(value))]];
  });
  return columns([...rows, ...after])
    .map((line) => `${line}\n`)
    .join('');
}

/** What comes from outside moves no cursor. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}

/** One line each: what an operator looks for in a list. */
export function eventosTable(eventos: readonly EventoPublico[]): string {
  const head = ['id_evento', 'tipo_evento', 'nº', 'status_evento', 'acao_sugerida', 'data_hora_evento', 'retorno'];
  const rows = eventos.map((evento) => [
    String(evento.id_evento),
    evento.tipo_evento,
    String(evento.numero_sequencial),
    evento.status_evento,
    evento.acao_sugerida,
    evento.data_hora_evento,
    printable(evento.codigo_retorno ?? ''),
  ]);
  return table(head, rows);
}

/** The same of events with a problem, each with how many of its note it stands for. */
export function problemasTable(eventos: readonly (EventoPublico & { readonly quantos: number })[]): string {
  const head = ['id_evento', 'tipo_evento', 'nº', 'status_evento', 'retorno', 'data_hora_evento', 'quantos', 'nota'];
  const rows = eventos.map((evento) => [
    String(evento.id_evento),
    evento.tipo_evento,
    String(evento.numero_sequencial),
    evento.status_evento,
    printable(evento.codigo_retorno ?? ''),
    evento.data_hora_evento,
    String(evento.quantos),
    evento.chave_acesso,
  ]);
  return table(head, rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
