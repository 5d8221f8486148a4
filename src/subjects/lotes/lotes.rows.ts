/** Stores and reads the lots of the legacy port. `claim.rows.ts` claims and issues them. */

import { insertRegistradas } from '../../base/book/auditoria-entradas.ts';
import { digestOf } from '../../base/book/auditoria-hash.ts';
import { folhaOf } from '../../base/book/auditoria-tabelas.ts';
import { enqueue, type Ref } from '../../base/book/fila.ts';
import { ensureMeses } from '../../base/book/meses.ts';
import type { OnStored } from '../../base/book/recent.ts';
import { reserveSequence } from '../../base/book/sequencias.ts';
import { insertRows } from '../../base/pg/mergeable.ts';
import { type Db, type Pipelined, runPipeline, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { MunicipioClosed } from '../../base/pg/unavailable.ts';
import { traceparentNow } from '../../base/traces/traces.ts';
import type { Mensagem } from '../../fiscal/abrasf/mensagens.ts';
import type { Guardado, IdentificacaoRps } from '../../fiscal/abrasf/rps.ts';
import { mesOfProtocolo } from '../../fiscal/chave.ts';
import { LOTE_SITUACAO, type LoteSituacao } from '../../fiscal/lote.ts';
import { correlacaoStore } from '../cadastros/correlacoes.rows.ts';
import { loteClaims, tellLote } from './claim.rows.ts';
import { findRps, listNotasOfLote } from './notas.rows.ts';
import { notasDePrestadorStore } from './notas-de-prestador.rows.ts';

type LoteNovo = Pick<LoteRow, 'protocolo' | 'prestador' | 'numero_lote'> & {
  /** SHA-256 of the lot's content. */
  readonly impressao: Buffer;
  /** Milliseconds. */
  readonly recebido_em: number;
  readonly recebido: Uint8Array;
  /** The basis on which its signature was judged, see `fundamentos.ts`. */
  readonly confianca?: number | undefined;
  readonly rps: readonly (IdentificacaoRps & { readonly guardado: Guardado })[];
  /** The outcome that the local authority simulates for its notes, in the sandbox (D-60). */
  readonly simular: string | undefined;
  /** Id of the request that brought the lot. */
  readonly requisicao: string | undefined;
};

type LoteRow = {
  readonly protocolo: string;
  readonly prestador: string;
  readonly numero_lote: string;
  readonly situacao: LoteSituacao;
  readonly recebido_em: Date;
  readonly mensagens: readonly Mensagem[] | null;
};

export function loteStore(pool: Db, onStored: OnStored) {
  return {
    ...loteClaims(pool, onStored),
    ...correlacaoStore(pool),
    ...notasDePrestadorStore(pool),
    /**
     * Stores a lot, or returns an earlier one with the same content. An earlier lot does not count when it was refused, or when each of its
     * notes was.
     */
    receive: receive.bind(null, pool),
    findByProtocolo: async (tenant: string, prestador: string, protocolo: string): Promise<LoteRow | undefined> => {
      const text = `select ${LOTE} from lotes where tenant = $1 and protocolo = $2 and prestador = $3`;
      return (await pool.query<LoteRow>(text, [tenant, protocolo, prestador])).rows[0];
    },
    /** The notes of a lot, in its order. */
    listNotas: listNotasOfLote.bind(null, pool),
    findRps: findRps.bind(null, pool),
  };
}

const LOTE = 'protocolo, prestador, numero_lote, situacao, recebido_em, mensagens';

/** `isSpent`: the lot has no remaining work and no valid note. A refused note stays refused. */
const SAME = `select ${LOTE}, id, situacao = ${LOTE_SITUACAO.processado} and not aberto and not exists (select 1 from lotes_rps r
    join notas n on n.tenant = $1 and n.mes = r.mes_nota and n.id = r.nota
    where r.tenant = $1 and r.lote = lotes.id and n.estado <> 'recusada') as "isSpent"
  from lotes where tenant = $1 and prestador = $2 and impressao = $3 and situacao <> ${LOTE_SITUACAO.com_erros} and not refeito`;

/** A closed municipality inserts nothing. */
const INSERT = `insert into lotes (tenant, id, mes, protocolo, prestador, numero_lote, impressao, situacao, aberto, recebido_em, simular, requisicao)
  select m.tenant, $2, $3, $4, $5, $6, $7, ${LOTE_SITUACAO.recebido}, true, $8::timestamptz, $9, $10::uuid
  from municipios m where m.tenant = $1 and not m.fechado
  on conflict (tenant, prestador, impressao) where situacao <> ${LOTE_SITUACAO.com_erros} and not refeito do nothing returning ${LOTE}`;

const OPEN = 'select 1 from municipios where tenant = $1 and not fechado';

type RpsNovo = LoteNovo['rps'][number] & { readonly lote: string; readonly prestador: string };

const INSERT_RPS = insertRows<RpsNovo>('insert_lotes_rps', 'lotes_rps', [
  ['lote bigint', ({ lote }) => lote],
  ['ordem int', (_rps, place) => place],
  ['prestador text', ({ prestador }) => prestador],
  ['serie text', ({ serie }) => serie],
  ['numero text', ({ numero }) => numero],
  ['tipo text', ({ tipo }) => tipo],
  ['guardado json', ({ guardado }) => JSON.stringify(guardado)],
]);

/** The unique index decides which of two concurrent lots is first; the other request finds it. */
async function receive(pool: Db, tenant: string, lote: LoteNovo): Promise<LoteRow> {
  const { protocolo, prestador, impressao } = lote;
  const mes = mesOfProtocolo(protocolo);
  await ensureMeses(pool, [mes]);
  const id = String(await reserveSequence(pool, tenant, 'lotes', 1));
  const stored = await runPipeline(pool, (client) => insertLote(client, tenant, { id, mes }, lote));
  if (stored !== undefined) return stored;
  const [before] = (await pool.query<LoteRow & { id: string; isSpent: boolean }>(SAME, [tenant, prestador, impressao]))
    .rows;
  if (before === undefined) {
    if ((await pool.query(OPEN, [tenant])).rowCount === 0) throw new MunicipioClosed(tenant);
    // The earlier lot was refused between the two statements, so this one is new after all.
    return receive(pool, tenant, lote);
  }
  const { isSpent, id: same, ...row } = before;
  if (!isSpent) return row;
  // A crash here leaves no equal lot for the next sender. One of two concurrent senders stores the lot, and the other finds it.
  const spend = 'update lotes set refeito = true where tenant = $1 and id = $2';
  await runTransaction(pool, async (client) => {
    await client.query(spend, [tenant, same]);
    await tellLote(client, tenant, same);
  });
  return receive(pool, tenant, lote);
}

async function insertLote(
  client: PoolClient,
  tenant: string,
  { id, mes }: Ref,
  lote: LoteNovo,
): Promise<Pipelined<LoteRow | undefined>> {
  const { protocolo, prestador, numero_lote, impressao, recebido_em, recebido, confianca, rps } = lote;
  const values = [
    tenant,
    id,
    mes,
    protocolo,
    prestador,
    numero_lote,
    impressao,
    new Date(recebido_em),
    lote.simular ?? null,
    lote.requisicao ?? null,
  ];
  const { rows } = await client.query<LoteRow>(INSERT, values);
  if (rows[0] === undefined) return { result: undefined, writes: [] };
  const document = 'insert into documentos_lotes (tenant, mes, lote, recebido, confianca) values ($1, $2, $3, $4, $5)';
  const writes = [
    client.query(document, [tenant, mes, id, recebido, confianca ?? null]),
    client.query(
      INSERT_RPS(
        tenant,
        rps.map((one) => ({ ...one, lote: id, prestador })),
      ),
    ),
    enqueue(client, tenant, 'lote', [{ id, mes, dueAt: recebido_em, traceparent: traceparentNow() }]),
    insertRegistradas(client, tenant, 'lotes_rps', { which: 't.lote = $6::bigint', values: [id] }),
    tellLote(client, tenant, id, [
      folhaOf('documentos_lotes', [id, String(mes)], {
        ...{ lote: id, mes: String(mes), recebido: digestOf(recebido), confianca: confianca?.toString() },
      }),
    ]),
  ];
  return { result: rows[0], writes };
}
