/**
 * Notas that wait for a rate: which of them a newer table may let go, and what became of them.
 *
 * A held nota is not claimed: its outcome follows from the table alone, and the second of two workers finds it moved. A nota that stays
 * keeps the number of the table that was tried, until the next.
 */
import type { NotaMove } from '../fiscal/nota.ts';
import { trailOf } from './claims.ts';
import { moveWaitingEventos, wakeSubstitutas } from './follow-nota.ts';
import type { NotaRow } from './nota-columns.ts';
import { type Db, dropNul, ONE_BY_ONE, runPipeline, type TransactionOptions, writeUnlocked } from './open.ts';
import { type Planned, planOnce } from './planned.ts';

/** The bytes that came, and the note without the group that was missing. */
export type NotaRetida = Pick<NotaRow, 'id' | 'chave_acesso'> & { readonly recebido: Buffer; readonly nfse: Buffer };

/** What a table made of a nota: its whole document, the reason for which it ends, or the one for which it goes on waiting. */
export type SaidaDeRetida = { readonly id: string } & (
  | { readonly nfse: string }
  | { readonly recusa: string }
  | { readonly espera: string }
);

/** Notas that wait for rates. `desde`: when the oldest was issued; `motivos`: what they wait for, with how many do. */
type Retidas = {
  readonly notas: number;
  /** Milliseconds. */
  readonly desde: number;
  readonly motivos: readonly { readonly mensagem: string; readonly notas: number }[];
};

export function notaRetidaStore(pool: Db) {
  return {
    /** Notas that were judged by an older table, the oldest first. */
    list: async (tenant: string, versao: number, max: number): Promise<readonly NotaRetida[]> => {
      const text = `select n.id, n.chave_acesso, d.recebido, d.nfse from (select id, chave_acesso from notas
          where tenant = $1 and estado = 'retida' and tabela_aliquotas < $2 order by tabela_aliquotas, id limit $3) n
        join documentos d on d.tenant = $1 and d.nota = n.id order by n.id`;
      return (await pool.query<NotaRetida>(text, [tenant, versao, max])).rows;
    },
    /** Writes what the table of this version made of notas that were judged by an older one; how many it wrote. */
    release: (tenant: string, now: number, versao: number, saidas: readonly SaidaDeRetida[]): Promise<number> =>
      writeUnlocked(saidas, (some, options) => release(pool, tenant, now, versao, some, options)),
    /** Undefined when none waits. */
    count: async (tenant: string): Promise<Retidas | undefined> => {
      const text = `select mensagem_retorno as mensagem, count(*)::int as notas, min(data_emissao) as desde from notas
        where tenant = $1 and estado = 'retida' group by mensagem_retorno order by 2 desc, 1`;
      const { rows } = await pool.query<{ mensagem: string; notas: number; desde: Date }>(text, [tenant]);
      if (rows.length === 0) return undefined;
      return {
        notas: rows.reduce((total, { notas }) => total + notas, 0),
        desde: Math.min(...rows.map(({ desde }) => +desde)),
        motivos: rows.map(({ mensagem, notas }) => ({ mensagem, notas })),
      };
    },
  };
}

/** The state as an expression, since the index of what is held would give all of it for each `id`. */
const OF_OLDER = `${ONE_BY_ONE} and n.tenant = $1 and n.id = x.id and n.estado || '' = 'retida' and n.tabela_aliquotas < $3`;

const RELEASE = `with moved as (
    update notas n set estado = 'emitida', due_at = $2, mensagem_retorno = null, tabela_aliquotas = $3,
      movimentos = n.movimentos + 1
    from unnest($4::bigint[]) as x (id) ${OF_OLDER} returning n.id, n.movimentos
  ), written as (
    update documentos d set nfse = x.nfse from unnest($4::bigint[], $5::bytea[]) as x (id, nfse)
      join moved m on m.id = x.id where d.tenant = $1 and d.nota = x.id
  )
  ${trailOf('nota', { em: '$2', de: "'retida'", gatilho: "'publicacao'", para: "'emitida'" })}`;

const REFUSE = `with moved as (
    update notas n set estado = 'recusada', due_at = null, mensagem_retorno = x.mensagem, tabela_aliquotas = $3,
      movimentos = n.movimentos + 1
    from unnest($4::bigint[], $5::text[]) as x (id, mensagem) ${OF_OLDER} returning n.id, n.movimentos
  )
  ${trailOf('nota', { em: '$2', de: "'retida'", gatilho: "'divergencia'", para: "'recusada'" })}`;

const KEEP = `update notas n set mensagem_retorno = x.mensagem, tabela_aliquotas = $3
  from unnest($4::bigint[], $5::text[]) as x (id, mensagem) ${OF_OLDER} and $2::timestamptz is not null`;

/** What each outcome writes, and of it the value beside the `id`. */
const OUTCOMES: readonly {
  readonly write: Planned;
  readonly pick: (one: SaidaDeRetida) => unknown;
}[] = [
  { write: planOnce('release_retidas', RELEASE), pick: (one) => 'nfse' in one && Buffer.from(one.nfse, 'utf8') },
  { write: planOnce('refuse_retidas', REFUSE), pick: (one) => 'recusa' in one && dropNul(one.recusa) },
  { write: planOnce('keep_retidas', KEEP), pick: (one) => 'espera' in one && dropNul(one.espera) },
];

async function release(
  pool: Db,
  tenant: string,
  now: number,
  versao: number,
  saidas: readonly SaidaDeRetida[],
  options: TransactionOptions | undefined,
): Promise<number> {
  const refused = saidas.flatMap((one) => ('recusa' in one ? [one.id] : []));
  return runPipeline(
    pool,
    async (client) => {
      const counts = OUTCOMES.map(async ({ write, pick }) => {
        const written = saidas.map((one) => [one.id, pick(one)] as const).filter(([, value]) => value !== false);
        if (written.length === 0) return 0;
        const arrays = [written.map(([id]) => id), written.map(([, value]) => value)];
        return (await client.query(write([tenant, new Date(now), versao, ...arrays]))).rowCount ?? 0;
      });
      const total = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
      const decided = refused.map((id) => ({ id, estado: 'recusada' as const satisfies NotaMove['to'] }));
      const eventos = await moveWaitingEventos(client, tenant, now, decided);
      return { result: total, writes: [...eventos, ...wakeSubstitutas(client, tenant, now, refused)] };
    },
    options,
  );
}
