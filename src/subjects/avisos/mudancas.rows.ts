/**
 * Changes of the notas and eventos of a CNPJ or CPF, in one permanent order. Overlapping transactions commit in any order, so none of them
 * gives places. Each writes its changes aside (`mudancas-novas.ts`). A worker gives committed changes their places, a block at a time,
 * under the lock of the tenant's row. A reader that has read up to a place has therefore read all changes that will ever precede it
 * (D-588).
 */

import { groupByMes, type Ref } from '../../base/book/fila.ts';
import { CODING, type Coding, INSERT_NOVAS, type Mudou, type Nova, readNovas } from '../../base/book/mudancas-novas.ts';
import { orderMudancas } from '../../base/book/order-mudancas.ts';
import { type ToldBefore, tellReceita } from '../../base/book/receita-novas.ts';
import { asArrays, insertRows, planMergeable, planMergeableMonthly } from '../../base/pg/mergeable.ts';
import { type Db, ONE_BY_ONE, type Pipelined, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { type Planned, planMonthly, planOnce } from '../../base/pg/planned.ts';
import { sharedOf } from '../../base/pg/together.ts';
import type { EventoEstado } from '../../fiscal/evento.ts';
import { PARTES_DA_NOTA, type ParteDaNota } from '../../fiscal/mudanca.ts';
import type { NotaEstado } from '../../fiscal/nota.ts';
import { type Contada, insertEntregas } from './entregas.rows.ts';
import { forgetOldest } from './mudancas-antigas.rows.ts';

/** Position of a reader: all blocks before `bloco`, and `lidas` of the reader's changes in that block. */
export type Lugar = { readonly bloco: number; readonly lidas: number };

/** A place in the form that its reader keeps. */
export function writeLugar({ bloco, lidas }: Lugar): string {
  return `m${bloco}-${lidas}`;
}

/**
 * A change as its reader gets it, in the same words at any time (D-790). `ate`: the place after it; `estado`: state of the nota when the
 * change was made; `mensagem`: the message with it. Nota and evento have only the fields that never change.
 */
export type Mudanca = Mudou & {
  readonly ate: Lugar;
  readonly nota: Omit<NotaDaMudanca, 'estado' | 'mensagem_retorno'>;
  readonly evento: EventoDaMudanca | undefined;
  readonly estado: string;
  readonly mensagem: string | null;
};

type Contavel = Pick<Mudanca, 'nota' | 'evento' | 'estado' | 'mensagem'>;

type NotaDaMudanca = Ref &
  Readonly<Record<`${ParteDaNota}_cpf_cnpj`, string | null>> & {
    readonly chave_acesso: string;
    readonly numero_protocolo: string;
    readonly id_dps: string;
    readonly numero_dps: string;
    readonly estado: string;
    readonly mensagem_retorno: string | null;
  };

type PartesDaMudanca = Pick<NotaDaMudanca, 'id' | `${ParteDaNota}_cpf_cnpj`>;

type EventoDaMudanca = {
  readonly id: string;
  readonly nota: string;
  readonly mes_nota: number;
  readonly codigo_tipo_evento: string;
  readonly numero_sequencial: number;
};

/** `isNewer`: only a newer version can read the next change. */
type Lidas = {
  readonly mudancas: readonly Mudanca[];
  readonly ate: Lugar | undefined;
  readonly isAll: boolean;
  readonly isNewer: boolean;
};

/** Number of changes that got places, and number of rows left to a newer version. */
type Postas = { readonly postas: number; readonly deixadas: number };

/** The stored blocks: places before `maisAntigo` were forgotten, and none after `ultimo` was given. */
export type Blocos = { readonly ultimo: number; readonly maisAntigo: number };

const [EMITIDA, RETIDA, RECUSADA, CANCELADA] = [
  'emitida',
  'retida',
  'recusada',
  'cancelada',
] as const satisfies readonly NotaEstado[];
const PROCESSADO = 'processado' satisfies EventoEstado;

/** Changes in a block. */
const BLOCK_MAX = 2_000;
/** Delivery places of the changes of a block: more than a block ever has. */
const ORDENS_POR_BLOCO = 10_000;

/** The block of a change by its delivery place. */
export function blocoOfOrdem(ordem: string): number {
  return Math.floor(Number(ordem) / ORDENS_POR_BLOCO);
}

/** Rows read at a time. A row of a large issuer has a block of changes, other rows have one change. */
const [ROWS_FIRST, ROWS_MAX] = [8, 512];

const BEGIN = `insert into mudancas_ate (tenant, bloco) select tenant, 0 from municipios where tenant = $1 and not fechado
  on conflict (tenant) do nothing`;
/** A row that another process holds is skipped. `conta`: there are active webhook addresses. */
const TAKE = planMergeable<never>(
  'take_mudancas_ate',
  asArrays([]),
  ({ rows, tenant }) => `select a.tenant, a.bloco, a.receita_bloco,
    coalesce((select true from webhooks w where w.tenant = ${tenant} and w.ativo limit 1), false) as conta
  from ${rows} join mudancas_ate a on a.tenant = ${tenant}
  where exists (select 1 from municipios m where m.tenant = ${tenant} and not m.fechado) for update of a skip locked`,
);
const TAKE_NOVAS = planMergeable<never>(
  'take_mudancas_novas',
  asArrays([]),
  ({ rows, tenant }) => `delete from mudancas_novas n using ${rows} where n.tenant = ${tenant}
  returning n.tenant, n.id, n.mudancas, n.traceparents`,
);
const ADVANCE = planMergeable<number>(
  'advance_mudancas_ate',
  asArrays([['bloco bigint', (bloco) => bloco]]),
  ({ rows, tenant }) => `update mudancas_ate a set bloco = x.bloco, receita_bloco = x.bloco
  from ${rows} where a.tenant = ${tenant}`,
);

const NOTAS = planMonthly(
  'notas_das_mudancas',
  `select n.id, n.mes, n.chave_acesso, n.numero_protocolo, n.id_dps, n.numero_dps, n.estado, n.mensagem_retorno,
    n.prestador_cpf_cnpj, n.tomador_cpf_cnpj, n.intermediario_cpf_cnpj
  from unnest($3::bigint[]) as x (id) join notas n on n.tenant = $1 and n.mes = $2 and n.id = x.id ${ONE_BY_ONE}`,
);

const PARTES = planMergeableMonthly<string>(
  'partes_das_mudancas',
  asArrays([['id bigint', (id) => id]]),
  ({ rows, tenant, mes }) => `select n.tenant, n.id, n.prestador_cpf_cnpj, n.tomador_cpf_cnpj, n.intermediario_cpf_cnpj
  from ${rows} join notas n on n.tenant = ${tenant} and n.mes = ${mes} and n.id = x.id ${ONE_BY_ONE}`,
);

const EVENTOS = planOnce(
  'eventos_das_mudancas',
  `select e.id, e.nota, e.mes_nota, e.codigo_tipo_evento, e.numero_sequencial
  from unnest($2::bigint[]) as x (id) join eventos e on e.tenant = $1 and e.id = x.id ${ONE_BY_ONE}`,
);

/**
 * The states of notas at moments, by their trails; the moves of an archived month may be missing. A cancellation at the moment itself
 * counts only for the evento that makes it.
 */
const ESTADOS = planMonthly(
  'estados_das_mudancas',
  `select x.place::int, coalesce(
      (select t.para from trilha_notas t where t.tenant = $1 and t.mes = $2 and t.nota = x.id
        and (t.em < x.em or (t.em = x.em and (t.para <> '${CANCELADA}' or x.para = '${PROCESSADO}'))) order by t.movimento desc limit 1),
      (select coalesce(t.de, t.para) from trilha_notas t where t.tenant = $1 and t.mes = $2 and t.nota = x.id order by t.movimento limit 1),
      n.estado) as estado
  from unnest($3::bigint[], $4::timestamptz[], $5::text[]) with ordinality as x (id, em, para, place)
    join notas n on n.tenant = $1 and n.mes = $2 and n.id = x.id ${ONE_BY_ONE}`,
);

const MENSAGENS = planMonthly(
  'mensagens_das_mudancas',
  `select x.place::int, (select t.mensagem from trilha_notas t
      where t.tenant = $1 and t.mes = $2 and t.nota = x.id and t.movimento = x.movimento) as mensagem
  from unnest($3::bigint[], $4::int[]) with ordinality as x (id, movimento, place) ${ONE_BY_ONE}`,
);

type Linhas = { readonly documento: string; readonly bloco: number; readonly em: number; readonly mudancas: string };

const INSERT = insertRows<Linhas>('insert_mudancas', 'mudancas', [
  ['documento text', ({ documento }) => documento],
  ['bloco bigint', ({ bloco }) => bloco],
  ['em timestamptz', ({ em }) => new Date(em).toISOString()],
  ['mudancas text', ({ mudancas }) => mudancas],
]);

const LIST = planOnce(
  'list_mudancas',
  'select bloco, mudancas from mudancas where tenant = $1 and documento = $2 and bloco >= $3 order by bloco limit $4',
);

const BLOCOS = planOnce('blocos', 'select bloco, mais_antigo from mudancas_ate where tenant = $1');

/** The places of those documents ($2) that have changes in their block ($3) or after it. */
const CHANGED = planOnce(
  'documentos_mudados',
  `select x.place::int from unnest($2::text[], $3::bigint[]) with ordinality as x (documento, bloco, place) cross join lateral (
      select 1 from mudancas m where m.tenant = $1 and m.documento = x.documento and m.bloco >= x.bloco limit 1
    ) m where x.documento || '' = x.documento`,
);

type Known = {
  readonly notas: ReadonlyMap<string, NotaDaMudanca>;
  readonly eventos: Eventos;
  /** States for eventos whose lines do not have them. */
  readonly estados: ReadonlyMap<Mudou, string>;
  readonly mensagens: ReadonlyMap<Mudou, string | null>;
};

type Eventos = ReadonlyMap<string, EventoDaMudanca>;

export function mudancaStore(pool: Db, coding = CODING) {
  return {
    /** Gives places to all committed changes of a tenant; none if another process holds the tenant. `now`: milliseconds. */
    append: (tenant: string, now: number): Promise<Postas> =>
      sharedOf(pool).run(tenant, (client) => appendNovas(client, tenant, coding, now)),
    /** The changes of a document from a place on, at most `max`. `ate`: place after the last read change; `isAll`: there was no more. */
    list: async (tenant: string, documento: string, { bloco, lidas }: Lugar, max: number): Promise<Lidas> => {
      const found: (Mudou & { readonly ate: Lugar })[] = [];
      let from = bloco;
      let rowsMax = ROWS_FIRST;
      let more = true;
      let isNewer = false;
      for (; more && !isNewer && found.length < max; rowsMax = Math.min(4 * rowsMax, ROWS_MAX)) {
        const asked = LIST([tenant, documento, from, rowsMax]);
        const { rows } = await pool.query<{ bloco: string; mudancas: string }>(asked);
        more = rows.length === rowsMax;
        for (const row of rows) {
          const at = Number(row.bloco);
          const lines = row.mudancas.split('\n');
          for (let place = at === bloco ? lidas : 0; place < lines.length && found.length < max; place += 1) {
            const mudou = coding.read(lines[place]!);
            isNewer = mudou === undefined;
            if (mudou === undefined) break;
            found.push({ ...mudou, ate: { bloco: at, lidas: place + 1 } });
          }
          from = at + 1;
          if (isNewer || found.length === max) {
            more = true;
            break;
          }
        }
      }
      const known = await readKnown(pool, tenant, found);
      // A change whose nota a rehearsal has forgotten is left out.
      const mudancas = found.flatMap((mudou) => {
        const told = tellOf(known, mudou);
        return told === undefined ? [] : [{ ...mudou, ...told }];
      });
      return { mudancas, ate: found.at(-1)?.ate, isAll: !more, isNewer };
    },
    /** The data of changes, by their lines; undefined for a line that only a newer version can read. Forgotten changes are left out. */
    resolve: async (
      tenant: string,
      lines: readonly string[],
    ): Promise<ReadonlyMap<string, Omit<Mudanca, 'ate'> | undefined>> => {
      const read = lines.map((line) => ({ line, mudou: coding.read(line) }));
      const known = await readKnown(
        pool,
        tenant,
        read.flatMap(({ mudou }) => mudou ?? []),
      );
      return new Map(
        read.flatMap(({ line, mudou }): [string, Omit<Mudanca, 'ate'> | undefined][] => {
          if (mudou === undefined) return [[line, undefined]];
          const told = tellOf(known, mudou);
          return told === undefined ? [] : [[line, { ...mudou, ...told }]];
        }),
      );
    },
    readBlocos: async (tenant: string): Promise<Blocos> => {
      const [row] = (await pool.query<{ bloco: string; mais_antigo: string }>(BLOCOS([tenant]))).rows;
      return { ultimo: Number(row?.bloco ?? 0), maisAntigo: Number(row?.mais_antigo ?? 1) };
    },
    /** Those that have changes in their block or after it. */
    listChanged: async <Of extends { readonly documento: string; readonly bloco: number }>(
      tenant: string,
      of: readonly Of[],
    ): Promise<readonly Of[]> => {
      const values = [of.map(({ documento }) => documento), of.map(({ bloco }) => bloco)];
      const { rows } = await pool.query<{ place: number }>(CHANGED([tenant, ...values]));
      return rows.map(({ place }) => of[place - 1]!);
    },
    /** Deletes some of the changes from before a moment (milliseconds); returns whether there may be more. */
    forget: (tenant: string, before: number): Promise<boolean> =>
      runTransaction(pool, (client) => forgetOldest(client, tenant, before)),
  };
}

async function appendNovas(
  client: PoolClient,
  tenant: string,
  coding: Coding,
  now: number,
): Promise<Pipelined<Postas>> {
  const taken = await takeTenant(client, tenant);
  if (taken === undefined) return { result: { postas: 0, deixadas: 0 }, writes: [] };
  const { mudadas: found, left } = readNovas((await client.query<Nova>(TAKE_NOVAS(tenant, []))).rows, coding);
  if (left.length > 0) await client.query(INSERT_NOVAS(tenant, left));
  const mudadas = orderMudancas(found);
  if (mudadas.length === 0) return { result: { postas: 0, deixadas: left.length }, writes: [] };
  const eventos = await readEventos(client, tenant, mudadas);
  const partes = await readPartes(client, tenant, mudadas, eventos);
  const estados = await readEstados(client, tenant, mudadas, eventos);
  const writes: Promise<unknown>[] = [];
  let bloco = Number(taken.bloco);
  for (let first = 0; first < mudadas.length; first += BLOCK_MAX) {
    bloco += 1;
    const lines = new Map<string, string[]>();
    const contadas: Contada[] = [];
    for (const [place, mudou] of mudadas.slice(first, first + BLOCK_MAX).entries()) {
      const nota = partes(mudou);
      if (nota === undefined) continue;
      const line = coding.write({ ...mudou, estadoDaNota: estados.get(mudou) });
      for (const documento of documentosOf(nota)) {
        const own = lines.getOrInsertComputed(documento, () => []);
        own.push(line);
        if (!taken.conta) continue;
        contadas.push({
          ...{ documento, nota: nota.id, ordem: bloco * ORDENS_POR_BLOCO + place },
          ...{ tipo: mudou.tipo, mudanca: line, cursor: writeLugar({ bloco, lidas: own.length }) },
          traceparent: mudou.traceparent,
        });
      }
    }
    if (taken.conta) await insertEntregas(client, tenant, contadas, now);
    const linhas = [...lines].map(([documento, all]) => ({ documento, bloco, em: now, mudancas: all.join('\n') }));
    if (linhas.length > 0) writes.push(client.query(INSERT(tenant, linhas)));
  }
  // It has more than one statement, and must not go on after the commit.
  await tellReceita(client, tenant, { before: taken, bloco, mudadas, now });
  writes.push(client.query(ADVANCE(tenant, [bloco])));
  return { result: { postas: mudadas.length, deixadas: left.length }, writes };
}

type Held = ToldBefore & { readonly conta: boolean };

/** Holds the row of a tenant; undefined: another process does. The first changes of a tenant create the row. */
async function takeTenant(client: PoolClient, tenant: string): Promise<Held | undefined> {
  const take = async (): Promise<Held | undefined> => (await client.query<Held>(TAKE(tenant, []))).rows[0];
  const taken = await take();
  if (taken !== undefined) return taken;
  return (await client.query(BEGIN, [tenant])).rowCount === 0 ? undefined : take();
}

/** The parties of a change's nota; undefined if it was forgotten. */
async function readPartes(
  client: PoolClient,
  tenant: string,
  mudadas: readonly Mudou[],
  eventos: Eventos,
): Promise<(mudou: Mudou) => PartesDaMudanca | undefined> {
  const partes = new Map<string, PartesDaMudanca>();
  for (const [mes, ofMes] of groupByMes(mudadas.flatMap((mudou) => notaOf(eventos, mudou) ?? []))) {
    const { rows } = await client.query<PartesDaMudanca>(PARTES(tenant, mes, idsOf(ofMes)));
    for (const row of rows) partes.set(row.id, row);
  }
  return (mudou) => partes.get(notaOf(eventos, mudou)?.id ?? '');
}

async function readEventos(db: Pick<Db, 'query'>, tenant: string, all: readonly Mudou[]): Promise<Eventos> {
  const ids = idsOf(all.filter(({ item }) => item === 'evento'));
  const rows = ids.length === 0 ? [] : (await db.query<EventoDaMudanca>(EVENTOS([tenant, ids]))).rows;
  return new Map(rows.map((evento) => [evento.id, evento]));
}

/** The nota of a change; undefined: its evento was forgotten. */
function notaOf(eventos: Eventos, { item, id, mes }: Mudou): Ref | undefined {
  if (item === 'nota') return { id, mes };
  const evento = eventos.get(id);
  return evento && { id: evento.nota, mes: evento.mes_nota };
}

/** States of notas for changes of eventos whose lines lack them. The trail has the state at the moment of the change. */
function readEstados(
  db: Pick<Db, 'query'>,
  tenant: string,
  all: readonly Mudou[],
  eventos: Eventos,
): Promise<ReadonlyMap<Mudou, string>> {
  const asked = all.filter(({ item, estadoDaNota }) => item === 'evento' && estadoDaNota === undefined);
  type Row = Placed & { readonly estado: string };
  const keys = [({ em }: Mudou) => new Date(em).toISOString(), ({ para }: Mudou) => para];
  return readEach(db, { tenant, asked, eventos, planned: ESTADOS, keys }, ({ estado }: Row) => estado);
}

/** Messages of changes of notas; a refused nota keeps its own, and the trail has the others. */
function readMensagens(
  db: Pick<Db, 'query'>,
  tenant: string,
  all: readonly Mudou[],
): Promise<ReadonlyMap<Mudou, string | null>> {
  const asked = all.filter(
    ({ item, para, movimento }) => item === 'nota' && (para === RETIDA || (para === EMITIDA && movimento > 1)),
  );
  type Row = Placed & { readonly mensagem: string | null };
  const keys = [({ movimento }: Mudou) => movimento];
  return readEach(db, { tenant, asked, eventos: NONE, planned: MENSAGENS, keys }, ({ mensagem }: Row) => mensagem);
}

const NONE: Eventos = new Map();

/** A row for the change at a place, from 1 on. */
type Placed = { readonly place: number };

/** One value for each of these changes, by its nota and further parameters. */
async function readEach<Row extends Placed, Value>(
  db: Pick<Db, 'query'>,
  {
    tenant,
    asked,
    eventos,
    planned,
    keys,
  }: {
    readonly tenant: string;
    readonly asked: readonly Mudou[];
    readonly eventos: Eventos;
    readonly planned: Planned;
    readonly keys: readonly ((mudou: Mudou) => unknown)[];
  },
  read: (row: Row) => Value,
): Promise<ReadonlyMap<Mudou, Value>> {
  const found = new Map<Mudou, Value>();
  const ofNotas = asked.flatMap((mudou) => {
    const nota = notaOf(eventos, mudou);
    return nota === undefined ? [] : [{ ...nota, mudou }];
  });
  for (const [mes, ofMes] of groupByMes(ofNotas)) {
    const asking = keys.map((key) => ofMes.map(({ mudou }) => key(mudou)));
    const { rows } = await db.query<Row>(planned([tenant, mes, ofMes.map(({ id }) => id), ...asking]));
    for (const row of rows) found.set(ofMes[row.place - 1]!.mudou, read(row));
  }
  return found;
}

function idsOf(of: readonly { readonly id: string }[]): readonly string[] {
  return [...new Set(of.map(({ id }) => id))];
}

/** Each document once: a provider may be its own taker. */
function documentosOf(nota: PartesDaMudanca): ReadonlySet<string> {
  return new Set(PARTES_DA_NOTA.flatMap((papel) => nota[`${papel}_cpf_cnpj`] ?? []));
}

async function readKnown(db: Pick<Db, 'query'>, tenant: string, all: readonly Mudou[]): Promise<Known> {
  const eventos = await readEventos(db, tenant, all);
  const notas: NotaDaMudanca[] = [];
  for (const [mes, ofMes] of groupByMes(all.flatMap((mudou) => notaOf(eventos, mudou) ?? []))) {
    notas.push(...(await db.query<NotaDaMudanca>(NOTAS([tenant, mes, idsOf(ofMes)]))).rows);
  }
  return {
    notas: new Map(notas.map((nota) => [nota.id, nota])),
    eventos,
    estados: await readEstados(db, tenant, all, eventos),
    mensagens: await readMensagens(db, tenant, all),
  };
}

function tellOf({ notas, eventos, estados, mensagens }: Known, mudou: Mudou): Contavel | undefined {
  const { item, id, para, estadoDaNota } = mudou;
  const evento = item === 'evento' ? eventos.get(id) : undefined;
  if (item === 'evento' && evento === undefined) return undefined;
  const nota = notas.get(evento?.nota ?? id);
  if (nota === undefined) return undefined;
  if (item === 'evento')
    return { nota, evento, estado: estadoDaNota ?? estados.get(mudou) ?? nota.estado, mensagem: null };
  // A refused nota never changes again, so its own message counts.
  const mensagem = para === RECUSADA ? nota.mensagem_retorno : (mensagens.get(mudou) ?? null);
  return { nota, evento, estado: para, mensagem };
}
