/**
 * Changes of notas on their way into the sums of the months. The transaction that gives changes their places writes them, once each
 * (D-820). The worker adds them up later, so that an issuance pays nothing.
 */
import { insertRows } from '../pg/mergeable.ts';
import type { PoolClient } from '../pg/pg.ts';
import type { Mudou } from './mudancas-novas.ts';

/**
 * The effect of a change on the sums. `e` adds an issued nota, `h` a held one without IBS and CBS. `s` adds the IBS and CBS of a released
 * nota. `r` takes a refused nota away. `c` moves a nota among the cancelled ones.
 */
type Efeito = 'e' | 'h' | 's' | 'r' | 'c';

/** A nota, and the effect of its change on the sums of its month. */
export type NotaMovida = { readonly id: string; readonly mes: number; readonly efeito: Efeito };

/** The notas among changes that the sums hear of. */
export function readMovidas(
  mudadas: readonly Pick<Mudou, 'item' | 'id' | 'mes' | 'movimento' | 'para'>[],
): NotaMovida[] {
  return mudadas.flatMap(({ item, id, mes, movimento, para }) => {
    const efeito = item === 'nota' ? findEfeito(movimento, para) : undefined;
    return efeito === undefined ? [] : [{ id, mes, efeito }];
  });
}

/** A second move to `emitida` is the release of a held nota; a later one is a postponed sending. */
function findEfeito(movimento: number, para: string): Efeito | undefined {
  if (movimento === 1) return para === 'retida' ? 'h' : 'e';
  if (para === 'emitida') return movimento === 2 ? 's' : undefined;
  return para === 'recusada' ? 'r' : para === 'cancelada' ? 'c' : undefined;
}

const WRITTEN = /^(?<id>\d+) (?<mes>\d{6}) (?<efeito>[ehsrc])$/;

/** The notas of a stored text. */
export function readNotas(text: string): readonly NotaMovida[] {
  return text.split('\n').map((line) => {
    const { id, mes, efeito } = WRITTEN.exec(line)!.groups as { id: string; mes: string; efeito: Efeito };
    return { id, mes: Number(mes), efeito };
  });
}

type Nova = { readonly bloco: number; readonly em: number; readonly notas: string };

const INSERT = insertRows<Nova>('insert_receita_novas', 'receita_novas', [
  ['bloco bigint', ({ bloco }) => bloco],
  ['em timestamptz', ({ em }) => new Date(em).toISOString()],
  ['notas text', ({ notas }) => notas],
]);
const ASK_MES = 'update receita_meses set pedida = pedida + 1 where tenant = $1 and mes = $2';
const ASK_ALL = `insert into receita_meses as r (tenant, mes, pedida)
  select m.tenant, x.mes, 1 from municipios m cross join unnest($2::int[]) as x (mes)
  where m.tenant = $1 and exists (select 1 from notas n where n.tenant = m.tenant and n.mes = x.mes)
  on conflict (tenant, mes) do update set pedida = r.pedida + 1`;

/** The last block that was given, and the last one that the sums were told of: a version from before them tells nothing. */
export type ToldBefore = { readonly bloco: string; readonly receita_bloco: string | null };

type Told = {
  readonly before: ToldBefore;
  readonly bloco: number;
  readonly mudadas: readonly Mudou[];
  /** Milliseconds. */
  readonly now: number;
};

/** Tells the sums of changes, in the transaction that gives them their places up to `bloco`. */
export async function tellReceita(
  client: PoolClient,
  tenant: string,
  { before, bloco, mudadas, now }: Told,
): Promise<void> {
  if (before.receita_bloco !== before.bloco) await askAll(client, tenant);
  const movidas = readMovidas(mudadas);
  if (movidas.length === 0) return;
  const lines = movidas.map(({ id, mes, efeito }) => `${id} ${mes} ${efeito}`);
  await client.query(INSERT(tenant, [{ bloco, em: now, notas: lines.join('\n') }]));
}

/** Has a month of a tenant counted from its notas again. */
export async function askCount(client: PoolClient, tenant: string, mes: number): Promise<void> {
  await client.query(ASK_MES, [tenant, mes]);
}

/** Has all months of a tenant counted from their notas: changes were given places without a word to the sums. */
export async function askAll(client: PoolClient, tenant: string): Promise<void> {
  const { rows } = await client.query<{ mes: number }>('select mes from meses where eliminado_em is null');
  await client.query(ASK_ALL, [tenant, rows.map(({ mes }) => mes)]);
}
