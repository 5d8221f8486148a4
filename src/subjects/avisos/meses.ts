/**
 * Tells a municipality's own addresses that a month of issue is closed: it is over, and all of its notes are in its sums (D-849). The
 * message has counts, sums and the address of the file.
 */

import { mesOf } from '../../base/book/meses.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import { worldOf } from '../../base/world/relogio.ts';
import type { World } from '../../base/world/world.ts';
import { formatDecimal } from '../../fiscal/decimal.ts';
import { daysIn, HOUR_MS, isoMoment } from '../../fiscal/moment.ts';
import { MES_FECHADO } from '../../fiscal/mudanca.ts';
import { shiftMes, summariseMes, writeMes } from '../receita/mes.ts';
import type { MesContado, ResumoContado } from './meses.rows.ts';

/** Time after the end of a month in which its last notes are placed and counted; time zones differ by two hours. */
const CLOSES_AFTER_MS = 3 * HOUR_MS;
/** Months that are told late, at most: those of a service that stood still. */
const LATE_MAX = 12;
/** Municipalities of one turn. */
const TENANTS_MAX = 20;

/** Tells some municipalities of their closed months; returns whether there may be more. */
export async function closeMeses(world: World): Promise<boolean> {
  const due = await world.store.mesesFechados.listDue(shiftMes(mesOf(world.now()), -1), TENANTS_MAX);
  let told = 0;
  for (const { tenant, desde } of due) {
    const municipio = await world.store.municipios.findBySlug(tenant);
    if (municipio !== undefined) told += await closeMesesOf(worldOf(world, municipio), municipio, desde);
  }
  return told > 0 && due.length === TENANTS_MAX;
}

/** Tells the months in their order, as far as each is closed; returns how many were told. */
async function closeMesesOf(world: World, { tenant, codigoIbge }: Municipio, desde: Date): Promise<number> {
  const { store, now, wake } = world;
  const mesAt = (instant: number): number => readMesOf(municipalMoment(codigoIbge, instant).date);
  const current = mesAt(now() - CLOSES_AFTER_MS);
  const first = Math.max(mesAt(+desde), shiftMes(current, -LATE_MAX));
  const known = new Set((await store.mesesFechados.list(tenant, first)).map(({ mes }) => mes));
  let told = 0;
  for (let mes = first; mes < current; mes = shiftMes(mes, 1)) {
    if (known.has(mes)) continue;
    const resumo = await summarise(world, tenant, mes);
    if (resumo === undefined) break;
    await store.mesesFechados.close(tenant, mes, now(), resumo);
    told += 1;
  }
  if (told > 0) wake(tenant);
  return told;
}

function readMesOf(date: string): number {
  return Number(date.slice(0, 4) + date.slice(5, 7));
}

/** The sums of a month; undefined: not all of its notes are in them yet. */
async function summarise(world: World, tenant: string, mes: number): Promise<ResumoContado | undefined> {
  const notas = await world.store.mesesFechados.count(tenant, mes);
  const { total, isPartial } = await summariseMes(world, tenant, { visao: 'emissao', mes });
  if (isPartial || total.notas + total.canceladas !== notas) return undefined;
  return {
    notas: total.notas,
    canceladas: total.canceladas,
    valor_servico: formatDecimal(total.servicos),
    valor_base_calculo: formatDecimal(total.base),
    valor_issqn: formatDecimal(total.issqn),
    issqn_apurado: formatDecimal(total.apurado),
    issqn_retido: formatDecimal(total.retido),
    valor_ibs: formatDecimal(total.ibs),
    valor_cbs: formatDecimal(total.cbs),
  };
}

/** The stored change of a delivery about a month; an older version leaves it to this one. */
const LINE = /^mes (\d{6})$/;

/** The month of a delivery; undefined: it is about something else. */
export function readLineOfMes(mudanca: string): number | undefined {
  const [, mes] = LINE.exec(mudanca) ?? [];
  return mes === undefined ? undefined : Number(mes);
}

/** The message of a month. `id`: the same in every attempt. */
export function tellMes(
  { painelUrl = '' }: Pick<World, 'painelUrl'>,
  { tenant, codigoIbge }: Municipio,
  { mes, em, resumo }: MesContado,
): { readonly id: string; readonly corpo: string } {
  const written = writeMes(mes);
  const moment = isoMoment(municipalMoment(codigoIbge, +em));
  const data = {
    id: `mes-${written}`,
    tipo: MES_FECHADO,
    mes: written,
    de: `${written}-01`,
    ate: `${written}-${daysIn(Math.floor(mes / 100), mes % 100)}`,
    em: moment,
    ...resumo,
    arquivo: `${painelUrl}/m/${tenant}/mes/notas?mes=${written}`,
  };
  return { id: `${tenant}.${data.id}`, corpo: JSON.stringify({ type: MES_FECHADO, timestamp: moment, data }) };
}
