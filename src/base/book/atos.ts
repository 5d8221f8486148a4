/** Acts by hand, in the console or by a command: by whom, when, to what and why. Notes and events have trails of their own. */
import { randomUUID } from 'node:crypto';
import { insertRows } from '../pg/mergeable.ts';
import { type Db, dropNul, runTransaction } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { planOnce } from '../pg/planned.ts';
import { insertRegistradas } from './auditoria-entradas.ts';

/** The place where an act was done: the console or a command. */
export type Via = 'painel' | 'comando';

/** Kinds of things that acts are done to, as users call them. `acesso`: signing in and being refused; its key is a login. */
export const OBJETOS = {
  prestador: 'Prestador',
  lista: 'Lista de serviços',
  correlacao: 'Correlação',
  municipio: 'Município',
  usuario: 'Usuário',
  importacao: 'Importação',
  nota: 'Nota',
  evento: 'Evento',
  token: 'Token',
  aviso: 'Endereço de aviso',
  guarda: 'Guarda de um mês',
  pendencia: 'Pendência',
  auditoria: 'Achado da auditoria',
  titular: 'Titular de dados',
  acesso: 'Acesso ao console',
} as const;

export type Objeto = keyof typeof OBJETOS;

/** An act to be stored. `em`: milliseconds. `antes`, `depois`: the changed values, by the field names of the thing. */
export type NovoAto = {
  readonly em: number;
  readonly quem: string;
  readonly via: Via;
  readonly objeto: Objeto;
  readonly chave: string;
  /** A past participle, such as `bloqueado`. */
  readonly acao: string;
  readonly motivo?: string | undefined;
  readonly antes?: object | undefined;
  readonly depois?: object | undefined;
};

export type Ato = {
  readonly em: Date;
  readonly id: string;
  readonly quem: string;
  readonly via: Via;
  readonly objeto: Objeto;
  readonly chave: string;
  readonly acao: string;
  readonly motivo: string | null;
  readonly antes: unknown;
  readonly depois: unknown;
};

/** Filter of acts: all conditions together. `before`: the last act of the page before. */
export type FiltroDeAtos = {
  readonly quem?: string | undefined;
  readonly objeto?: string | undefined;
  readonly chave?: string | undefined;
  /** Moments in milliseconds; the end is not included. */
  readonly desde?: number | undefined;
  readonly ate?: number | undefined;
  readonly before?: { readonly em: number; readonly id: string } | undefined;
};

const INSERT = insertRows<NovoAto & { readonly id: string }>('insert_atos', 'atos', [
  ['em timestamptz', ({ em }) => new Date(em).toISOString()],
  ['id uuid', ({ id }) => id],
  ['quem text', ({ quem }) => dropNul(quem)],
  ['via text', ({ via }) => via],
  ['objeto text', ({ objeto }) => objeto],
  ['chave text', ({ chave }) => dropNul(chave)],
  ['acao text', ({ acao }) => acao],
  ['motivo text', ({ motivo }) => dropNul(motivo)],
  ['antes jsonb', ({ antes }) => antes ?? null],
  ['depois jsonb', ({ depois }) => depois ?? null],
]);

/** Name of the act that eliminates a month; the chain's verification looks for it. Its key is the month. */
export const MES_ELIMINADO = 'mês eliminado';

/** Stores acts in the transaction that does them. */
export async function insertAtos(client: PoolClient, tenant: string, atos: readonly NovoAto[]): Promise<void> {
  if (atos.length === 0) return;
  const rows = atos.map((ato) => ({ ...ato, id: randomUUID() }));
  const written = client.query(INSERT(tenant, rows));
  const which = 't.em = any($6::timestamptz[]) and t.id = any($7::uuid[])';
  const values = [rows.map(({ em }) => new Date(em).toISOString()), rows.map(({ id }) => id)];
  await Promise.all([written, insertRegistradas(client, tenant, 'atos', { which, values })]);
}

const iso = (instant: number | undefined): string | null =>
  instant === undefined ? null : new Date(instant).toISOString();

const LIST = planOnce(
  'list_atos',
  `select em, id, quem, via, objeto, chave, acao, motivo, antes, depois from atos
    where tenant = $1 and ($2::text is null or quem = $2) and ($3::text is null or objeto = $3) and ($4::text is null or chave = $4)
      and em >= coalesce($5::timestamptz, '-infinity') and em < coalesce($6::timestamptz, 'infinity')
      and (em, id) < (coalesce($7::timestamptz, 'infinity'), coalesce($8::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by em desc, id desc limit $9`,
);

export function atoStore(pool: Db) {
  return {
    /** Stores acts that change no other row. */
    record: (tenant: string, atos: readonly NovoAto[]): Promise<void> =>
      runTransaction(pool, (client) => insertAtos(client, tenant, atos)),
    /** Acts of a tenant, the newest first. */
    list: async (tenant: string, filtro: FiltroDeAtos, max: number): Promise<readonly Ato[]> => {
      const { quem, objeto, chave, desde, ate, before } = filtro;
      const values = [quem, objeto, chave].map((text) => text ?? null);
      const moments = [iso(desde), iso(ate), iso(before?.em), before?.id ?? null];
      return (await pool.query<Ato>(LIST([tenant, ...values, ...moments, max]))).rows;
    },
  };
}
