/**
 * Numbers of issued and refused notes of a municipality, counted in this process and written after the answers. One statement a
 * municipality is sent every few seconds, independent of the volume. Counts that a crash loses are missing only in the plots.
 */
import { HOUR_MS, MINUTE_MS } from '../../fiscal/moment.ts';
import { isDistributed } from '../pg/distributed.ts';
import { insertRows } from '../pg/mergeable.ts';
import type { Db } from '../pg/open.ts';
import { sharedOf } from '../pg/together.ts';

/** Period of one row of `emissoes`. */
const EMISSOES_MS = 5 * MINUTE_MS;
/** Counts wait this long. Those of several municipalities are written together. */
const FLUSH_MS = 5_000;
/** Retention time of the rows. */
const KEPT_MS = 31 * 24 * HOUR_MS;

type Emissao = { readonly inicio: number; readonly notas: number };
type Recusa = { readonly hora: number; readonly codigo: string; readonly quantas: number };

const ADD_EMISSOES = insertRows<Emissao>(
  'add_emissoes',
  'emissoes as e',
  [
    ['inicio timestamptz', ({ inicio }) => new Date(inicio).toISOString()],
    ['notas bigint', ({ notas }) => notas],
  ],
  'on conflict (tenant, inicio) do update set notas = e.notas + excluded.notas',
);

const ADD_RECUSAS = insertRows<Recusa>(
  'add_recusas',
  'recusas as r',
  [
    ['hora timestamptz', ({ hora }) => new Date(hora).toISOString()],
    ['codigo text', ({ codigo }) => codigo],
    ['quantas bigint', ({ quantas }) => quantas],
  ],
  'on conflict (tenant, hora, codigo) do update set quantas = r.quantas + excluded.quantas',
);

const FORGET = ['emissoes', 'recusas'].map((table) => {
  const column = table === 'emissoes' ? 'inicio' : 'hora';
  return `delete from ${table} where tenant = $1 and ${column} < $2`;
});

const EMISSOES =
  'select inicio, notas::float8 as notas from emissoes where tenant = $1 and inicio >= $2 order by inicio';

const RECUSAS = `select codigo, sum(quantas)::float8 as quantas from recusas where tenant = $1 and hora >= $2
    group by codigo order by quantas desc, codigo`;

/** Counts of one municipality that are not yet written. */
type Contado = { readonly emissoes: Map<number, number>; readonly recusas: Map<string, Recusa> };

export function movimentoStore(pool: Db) {
  let waiting = new Map<string, Contado>();
  const forgottenAt = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const of = (tenant: string): Contado => {
    timer ??= setTimeout(() => void flush(), FLUSH_MS).unref();
    return waiting.getOrInsertComputed(tenant, () => ({ emissoes: new Map(), recusas: new Map() }));
  };
  const addNotas = (tenant: string, notas: number, inicio: number): void => {
    const { emissoes } = of(tenant);
    emissoes.set(inicio, (emissoes.get(inicio) ?? 0) + notas);
  };
  const addRecusa = (tenant: string, hora: number, codigo: string, quantas: number): void => {
    const { recusas } = of(tenant);
    const key = `${hora} ${codigo}`;
    recusas.set(key, { hora, codigo, quantas: (recusas.get(key)?.quantas ?? 0) + quantas });
  };

  /** Writes the counts of one municipality. Counts that cannot be written now are kept for the next time. */
  const write = async (tenant: string, { emissoes, recusas }: Contado): Promise<void> => {
    const notas = [...emissoes].map(([inicio, count]): Emissao => ({ inicio, notas: count }));
    const refused = [...recusas.values()];
    const newest = Math.max(...emissoes.keys(), ...refused.map(({ hora }) => hora));
    const forgets = newest - (forgottenAt.get(tenant) ?? Number.NEGATIVE_INFINITY) >= HOUR_MS;
    try {
      await sharedOf(pool).run(tenant, async (client) => {
        const writes = [];
        if (notas.length > 0) writes.push(client.query(ADD_EMISSOES(tenant, notas)));
        if (refused.length > 0) writes.push(client.query(ADD_RECUSAS(tenant, refused)));
        if (forgets) writes.push(...FORGET.map((one) => client.query(one, [tenant, new Date(newest - KEPT_MS)])));
        return { result: undefined, writes };
      });
      if (forgets) forgottenAt.set(tenant, newest);
    } catch {
      for (const { inicio, notas: count } of notas) addNotas(tenant, count, inicio);
      for (const { hora, codigo, quantas } of refused) addRecusa(tenant, hora, codigo, quantas);
    }
  };

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const counted = waiting;
    waiting = new Map();
    writing = writing.then(async () => {
      // Those that share no transaction take one connection, and not all of them.
      if (isDistributed(pool)) for (const [tenant, contado] of counted) await write(tenant, contado);
      else await Promise.all([...counted].map(([tenant, contado]) => write(tenant, contado)));
    });
    return writing;
  };

  return {
    /** Counts notes that were issued at a moment (milliseconds). */
    countNotas: (tenant: string, notas: number, at: number): void => addNotas(tenant, notas, at - (at % EMISSOES_MS)),
    /** Counts a refused request, under each of its codes. */
    countRecusa: (tenant: string, codigos: Iterable<string>, at: number): void => {
      for (const codigo of new Set(codigos)) addRecusa(tenant, at - (at % HOUR_MS), codigo, 1);
    },
    /** Writes the counts so far, as far as the database accepts them. */
    flush,
    /** Notes issued since a moment, by periods of five minutes; empty periods are left out. */
    listEmissoes: async (tenant: string, since: number): Promise<readonly Emissao[]> => {
      const { rows } = await pool.query<{ inicio: Date; notas: number }>(EMISSOES, [tenant, new Date(since)]);
      return rows.map(({ inicio, notas }) => ({ inicio: +inicio, notas }));
    },
    /** Refusals since a moment, by code, the most frequent first. */
    listRecusas: async (tenant: string, since: number): Promise<readonly Omit<Recusa, 'hora'>[]> =>
      (await pool.query<Omit<Recusa, 'hora'>>(RECUSAS, [tenant, new Date(since)])).rows,
  };
}
