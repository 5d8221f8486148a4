/** Tables of events at a terminal. */
import { printable, tableLines } from '../../base/terminal/text.ts';
import type { EventoPublico } from './queries.ts';

/** One line for each event. */
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
  return `${tableLines([head, ...rows]).join('\n')}\n`;
}

/** One line for each problem of a note, with the number of events that have it. */
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
  return `${tableLines([head, ...rows]).join('\n')}\n`;
}
