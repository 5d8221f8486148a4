/** The published form of a change of a note or an event, for clients that query changes and for webhooks. */
import { EVENTO_ESTADOS } from './evento.ts';
import { NOTA_ESTADOS } from './nota.ts';

/** Days for which a production municipality lists changes; older ones are found by listing notes. */
export const MUDANCAS_GUARDA_DIAS = 400;

/** Letter with which the stored changes of each kind of row begin. */
export const LETRAS = { nota: 'n', evento: 'e' } as const;
export type ItemMudado = keyof typeof LETRAS;

/**
 * A kind of change. `codigo`: first word of its stored lines, `n` or `e` alone for a state, otherwise longer. `significado`: its meaning,
 * with names between backquotes. `estado`: the new state; null: the row keeps its state.
 */
type Descrito<Item extends ItemMudado, Nome extends string> = {
  readonly tipo: `${Item}.${Nome}`;
  readonly item: Item;
  readonly codigo: string;
  readonly significado: string;
  readonly estado: Nome | null;
};
export type TipoDescrito = Descrito<'nota', string> | Descrito<'evento', string>;

function describeEstados<Item extends ItemMudado, Estado extends string>(
  item: Item,
  estados: Readonly<Record<Estado, { readonly significado: string }>>,
): readonly Descrito<Item, Estado>[] {
  return (Object.keys(estados) as Estado[]).map((estado) => ({
    tipo: `${item}.${estado}` as const,
    item,
    codigo: LETRAS[item],
    significado: estados[estado].significado,
    estado,
  }));
}

/** All kinds of change, in the order in which pages show them: each state of the machines, and below them the kinds that are no state. */
export const MUDANCAS = [
  ...describeEstados('nota', NOTA_ESTADOS),
  ...describeEstados('evento', EVENTO_ESTADOS),
] as const satisfies readonly TipoDescrito[];

/** `nota.autorizada`, `evento.processado`. */
export type TipoMudanca = (typeof MUDANCAS)[number]['tipo'];

export const TIPOS_MUDANCA: readonly TipoMudanca[] = MUDANCAS.map(({ tipo }) => tipo);

/** The kind of a message about a closed month, for addresses of a municipality alone. It is no change of a note. */
export const MES_FECHADO = 'mes.fechado';
export const SIGNIFICADO_DO_MES =
  'Um mês de emissão acabou, e as suas notas estão contadas: vêm as somas e o endereço do arquivo.';

export type TipoDeAviso = TipoMudanca | typeof MES_FECHADO;

/** All kinds of messages that an address of a municipality may choose. */
export const TIPOS_DE_AVISO: readonly TipoDeAviso[] = [...TIPOS_MUDANCA, MES_FECHADO];

/** The roles of a CNPJ or CPF in a note, in the order in which the note names them. */
export const PARTES_DA_NOTA = ['prestador', 'tomador', 'intermediario'] as const;
export type ParteDaNota = (typeof PARTES_DA_NOTA)[number];
