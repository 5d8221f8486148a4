/** The events of the notes of one CNPJ or CPF, for its holder. */

import type { Municipio } from '../../base/book/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { zoneOf } from '../../fiscal/catalogs/catalogs.ts';
import { EVENTO_ESTADOS } from '../../fiscal/evento.ts';
import type { Refusal } from '../../fiscal/fault.ts';
import { addDays, isDay, startOfDay } from '../../fiscal/moment.ts';
import { type EventoPublico, publicEvento, tipoNamed } from '../eventos/queries.ts';
import type { EventosProcurados } from '../notas/buscar.rows.ts';
import { ORDENS, readOrdem } from '../notas/filtros.ts';
import { CONTADAS_MAX, type Contagem, readPapel, refuseCursor, refuseValue } from './notas.ts';

export const CAMPOS_DOS_EVENTOS = ['papel', 'tipo_evento', 'estado', 'de', 'ate', 'ordem'] as const;
export type EventosPedidos = Readonly<Partial<Record<(typeof CAMPOS_DOS_EVENTOS)[number], string>>>;

/** `cursor`: the place of the next page; null: this page is the last. */
export type PaginaDeEventos = {
  readonly eventos: readonly EventoPublico[];
  readonly cursor: string | null;
  readonly contagem: Contagem | null;
};

/** A page of the events of the notes of a document, or the faults of the request. `cursor`: the cursor of the page before. */
export async function listEventosOf(
  world: World,
  municipio: Municipio,
  documento: string,
  pedidos: EventosPedidos,
  {
    cursor,
    max,
    isCounted,
  }: { readonly cursor?: string | undefined; readonly max: number; readonly isCounted: boolean },
): Promise<PaginaDeEventos | Refusal> {
  const asked = readEventosPedidos(municipio, documento, pedidos);
  if ('faults' in asked) return asked;
  if (cursor && !/^\d{1,18}$/.test(cursor)) return refuseCursor(cursor);
  const { busca } = world.store;
  const { eventos, seguinte } = await busca.buscarEventos(municipio.tenant, asked, max, cursor || undefined);
  const counted = isCounted ? await busca.contarEventos(municipio.tenant, asked, CONTADAS_MAX) : undefined;
  const now = world.now();
  return {
    eventos: eventos.map((row) => publicEvento(row, now)),
    cursor: seguinte ?? null,
    contagem: counted === undefined ? null : { total: counted.eventos, total_exato: counted.isWhole },
  };
}

function readEventosPedidos(
  { codigoIbge }: Municipio,
  documento: string,
  { papel: sent, tipo_evento, estado, de, ate, ordem }: EventosPedidos,
): EventosProcurados | Refusal {
  const papel = readPapel(sent);
  if (typeof papel === 'object') return papel;
  const tipo = tipo_evento ? tipoNamed(tipo_evento) : undefined;
  if (tipo_evento && tipo === undefined) {
    return refuseValue(
      'tipo_evento',
      tipo_evento,
      'o nome de um tipo de evento, como cancelamento, ou o seu código nacional',
    );
  }
  if (estado && !Object.hasOwn(EVENTO_ESTADOS, estado)) {
    return refuseValue('estado', estado, `um de: ${Object.keys(EVENTO_ESTADOS).join(', ')}`);
  }
  for (const [campo, day] of Object.entries({ de, ate })) {
    if (day && !isDay(day)) return refuseValue(campo, day, 'um dia, AAAA-MM-DD');
  }
  if (ordem && readOrdem(ordem) === undefined) return refuseValue('ordem', ordem, `uma de: ${ORDENS.join(', ')}`);
  const zone = zoneOf(codigoIbge);
  return {
    documento,
    papel,
    tipo: tipo?.codigo,
    estado: estado || undefined,
    desde: de ? startOfDay(zone, de) : undefined,
    ate: ate ? startOfDay(zone, addDays(ate, 1)) : undefined,
    antigasAntes: ordem === 'antigas',
  };
}
