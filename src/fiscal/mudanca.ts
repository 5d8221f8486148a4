/** The published form of a change of a note or an event, for clients that query changes and for webhooks. */
import { EVENTO_ESTADOS, type EventoEstado } from './evento.ts';
import { NOTA_ESTADOS, type NotaEstado } from './nota.ts';

/** Days for which a production municipality lists changes; older ones are found by listing notes. */
export const MUDANCAS_GUARDA_DIAS = 400;

/** `nota.autorizada`, `evento.processado`: the new state, by its name in the state machine. */
export type TipoMudanca = `nota.${NotaEstado}` | `evento.${EventoEstado}`;

export const TIPOS_MUDANCA: readonly TipoMudanca[] = [
  ...(Object.keys(NOTA_ESTADOS) as NotaEstado[]).map((estado) => `nota.${estado}` as const),
  ...(Object.keys(EVENTO_ESTADOS) as EventoEstado[]).map((estado) => `evento.${estado}` as const),
];

/** The meaning of each kind, in the words of the state machines; names in it stand between backquotes. */
export const TIPOS_MUDANCA_HELP = Object.fromEntries([
  ...Object.entries(NOTA_ESTADOS).map(([estado, { significado }]) => [`nota.${estado}`, significado]),
  ...Object.entries(EVENTO_ESTADOS).map(([estado, { significado }]) => [`evento.${estado}`, significado]),
]) as Readonly<Record<TipoMudanca, string>>;

/** The roles of a CNPJ or CPF in a note, in the order in which the note names them. */
export const PARTES_DA_NOTA = ['prestador', 'tomador', 'intermediario'] as const;
export type ParteDaNota = (typeof PARTES_DA_NOTA)[number];
