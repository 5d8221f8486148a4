/**
 * The example of a code about events: the events on the note and the one to be registered, once refused and once accepted. The tests pass
 * each to {@link conflictOf}, so that a page shows the real answer of the law.
 */
import type { EventoNaNota, EventoQueChega } from '../conflitos-evento.ts';
import { eventoId } from '../layout/evento.ts';
import { type AutorEvento, type TipoEvento, tipoBySlug } from '../tipos-evento.ts';
import type { Pedido } from './row.ts';

/** `por`: the party of the event, if it is not the usual party of the type; `bloqueia`, `aponta`: the object of the event. */
type Registro = {
  readonly tipo: string;
  readonly por?: AutorEvento;
  readonly bloqueia?: string;
  /** Another event of the note: its type, and its sequence if there are several. */
  readonly aponta?: { readonly tipo: string; readonly numero?: number };
};

export type Momento = { readonly naNota: readonly Registro[]; readonly chega: Registro };
export type CasoDeEvento = { readonly titulo?: string; readonly recusado: Momento; readonly aceito: Momento };

/** The example as a page shows it. */
export function pedidoDeEvento({ titulo, recusado, aceito }: CasoDeEvento): Pedido {
  const texts = { recusado: textOf(recusado), aceito: textOf(aceito) };
  return titulo === undefined ? texts : { titulo, ...texts };
}

function textOf({ naNota, chega }: Momento): string {
  const before = naNota.length === 0 ? 'nenhum' : naNota.map(describeRegistro).join('; ');
  return `Eventos na nota: ${before}\nRegistra-se:     ${describeRegistro(chega)}`;
}

function describeRegistro({ tipo, por, bloqueia, aponta }: Registro): string {
  const whose = por === undefined ? '' : ` (de quem é também o ${por})`;
  const what = bloqueia === undefined ? '' : ` de ${bloqueia}`;
  const number = aponta?.numero === undefined ? '' : `, número ${aponta.numero}`;
  const which = aponta === undefined ? '' : `, do evento ${aponta.tipo}${number}`;
  return `${tipo}${whose}${what}${which}`;
}

// The same example for the law.

const CHAVE = '35503081211222333000181000000000000126091234567895';
const PARTES: Readonly<Record<AutorEvento, string>> = {
  prestador: '11222333000181',
  tomador: '52998224725',
  intermediario: '11444777000161',
};
const PREFEITURA = '46395000000139';

/** The arguments of {@link conflictOf} for a moment. */
export function questionOf({ naNota, chega }: Momento): readonly [readonly EventoNaNota[], EventoQueChega] {
  const numbers = new Map<string, number>();
  const onNote = naNota.map((one) => {
    const numero_sequencial = (numbers.get(one.tipo) ?? 0) + 1;
    numbers.set(one.tipo, numero_sequencial);
    return { ...eventoOf(one), numero_sequencial };
  });
  return [onNote, { ...eventoOf(chega), chave_acesso: CHAVE }];
}

function eventoOf({ tipo: slug, por, bloqueia, aponta }: Registro): EventoQueChega {
  const { codigo, autor } = tipoOf(slug);
  const party = por ?? autor;
  const campos: Record<string, string> = {};
  if (bloqueia !== undefined) campos['codigo_evento_bloqueado'] = `e${tipoOf(bloqueia).codigo}`;
  if (aponta !== undefined) {
    const field = slug === 'anulacao_rejeicao' ? 'id_evento_rejeicao' : 'id_evento_bloqueio';
    campos[field] = eventoId(CHAVE, tipoOf(aponta.tipo).codigo, aponta.numero ?? 1);
  }
  return { codigo, autor: party === undefined ? PREFEITURA : PARTES[party], campos };
}

function tipoOf(slug: string): TipoEvento {
  const tipo = tipoBySlug(slug);
  if (tipo === undefined) throw new RangeError(`There is no type of event ${slug}`);
  return tipo;
}
