/** What is told of a change of a note or an event: to who asks what has changed, and to webhooks. */
import { EVENTO_ESTADOS, type EventoEstado } from './evento.ts';
import { NOTA_ESTADOS, type NotaEstado } from './nota.ts';

/** Days that a production municipality tells changes for; what is older is found by listing notes. */
export const MUDANCAS_GUARDA_DIAS = 400;

/** `nota.autorizada`, `evento.processado`: the state that it came to, as the machines name it. */
export type TipoMudanca = `nota.${NotaEstado}` | `evento.${EventoEstado}`;

export const TIPOS_MUDANCA: readonly TipoMudanca[] = [
  ...(Object.keys(NOTA_ESTADOS) as NotaEstado[]).map((estado) => `nota.${estado}` as const),
  ...(Object.keys(EVENTO_ESTADOS) as EventoEstado[]).map((estado) => `evento.${estado}` as const),
];

/** What has come to be with each kind, as the machines say it; names in it stand between backquotes. */
export const TIPOS_MUDANCA_HELP = Object.fromEntries([
  ...Object.entries(NOTA_ESTADOS).map(([estado, { significado }]) => [`nota.${estado}`, significado]),
  ...Object.entries(EVENTO_ESTADOS).map(([estado, { significado }]) => [`evento.${estado}`, significado]),
]) as Readonly<Record<TipoMudanca, string>>;

/** Who a CNPJ or CPF may be to a note, in the order in which it names them. */
export const PARTES_DA_NOTA = ['prestador', 'tomador', 'intermediario'] as const;
export type ParteDaNota = (typeof PARTES_DA_NOTA)[number];
