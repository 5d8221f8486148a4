/** Stores notas: the row and all dependent rows, in one transaction. */

import { digestOf, type Folha } from '../../base/book/auditoria-hash.ts';
import { folhaOf } from '../../base/book/auditoria-tabelas.ts';
import { insertTrail, type Trailed } from '../../base/book/claims.ts';
import { enqueue } from '../../base/book/fila.ts';
import { NOTA_COLUMNS, type NumberedNota, textsOf } from '../../base/book/nota-columns.ts';
import { isKeyOfSameParty } from '../../base/book/substituicao.ts';
import { asArrays, type Encoding, type Form, insertRows, planMergeable } from '../../base/pg/mergeable.ts';
import { dropNul } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { NotWritten } from '../../base/pg/unavailable.ts';
import type { NotaEstado } from '../../fiscal/nota.ts';

/** The nota waits for a rate. */
function isHeld({ nota }: Pick<NumberedNota, 'nota'>): boolean {
  return nota.retencao !== undefined;
}

/** SQL: the highest reception number that is known of a tenant. */
function knownNsu({ tenant }: Form): string {
  return `coalesce((select r.nsu from recepcoes_adn r where r.tenant = ${tenant}), 0)`;
}

/**
 * Inserts many notas of a tenant, and returns the highest known reception number for each announced one. A held nota has a message from the
 * start.
 */
const INSERT_NOTAS = insertRows<NumberedNota>(
  'insert_notas',
  // The table has an alias: a Citus node names it differently, and `returning` would not find it.
  'notas as n',
  [
    ['id bigint', ({ id }) => String(id)],
    ['mes int', ({ mes }) => mes],
    ['estado text', (row) => estadoOf(row).estado],
    ['movimentos int', (row) => estadoOf(row).movimentos],
    ['numero_dps bigint', ({ numero }) => String(numero)],
    ['prestador_cpf_cnpj text', ({ job }) => job.prestador],
    ['mensagem_retorno text', ({ nota }) => dropNul(nota.retencao)],
    ...NOTA_COLUMNS,
  ],
  'returning n.tenant, n.nsu_antes as nsu',
  { nsu_antes: (form) => `case when x.movimentos = 2 then ${knownNsu(form)} end` },
);

const INSERT_SUBSTITUICOES = insertRows<NumberedNota>('insert_substituicoes', 'substituicoes', [
  ['substituida text', ({ nota }) => nota.substitui],
  ['nota bigint', ({ id }) => String(id)],
  ['mes int', ({ mes }) => mes],
]);

const INSERT_RETIDAS = insertRows<NumberedNota>('insert_retidas', 'retidas', [
  ['nota bigint', ({ id }) => String(id)],
  ['mes int', ({ mes }) => mes],
  ['tabela_aliquotas int', ({ nota }) => nota.tabela_aliquotas],
  ['traceparent text', ({ job }) => job.traceparent ?? null],
]);

/** The moves of a nota up to its insertion. `at`: the moment of the announced notas' transmission move. */
function movesOf({ id, mes, nota, claims, job }: NumberedNota, at: number): readonly Trailed[] {
  const ref = { id: String(id), mes, traceparent: job.traceparent };
  const first = isHeld({ nota })
    ? ({ gatilho: 'retencao', para: 'retida' } as const)
    : ({ gatilho: 'emissao', para: 'emitida' } as const);
  // The trail keeps the missing rate: the nota itself loses this message when it goes on.
  const issued = {
    ...ref,
    dito: undefined,
    movimento: 1,
    em: nota.data_emissao,
    de: null,
    ...first,
    ...{ mensagem: nota.retencao, resposta: nota.julgamento },
  };
  if (claims === undefined) return [issued];
  return [
    issued,
    { ...ref, dito: undefined, movimento: 2, em: at, de: 'emitida', gatilho: 'anuncio', para: 'transmitida' },
  ];
}

/** The initial state of a nota, and its number of moves. */
function estadoOf(row: NumberedNota): { readonly estado: NotaEstado; readonly movimentos: number } {
  if (row.claims !== undefined) return { estado: 'transmitida', movimentos: 2 };
  return { estado: isHeld(row) ? 'retida' : 'emitida', movimentos: 1 };
}

/** The leaves of the audit chain for a new nota: its content, its state, and its documents. */
function folhasOf(row: NumberedNota): readonly Folha[] {
  const { id, mes, numero, nota, job } = row;
  const { estado, movimentos } = estadoOf(row);
  const chave = [String(id), String(mes)];
  const numbers = { id: chave[0], mes: chave[1], numero_dps: String(numero) };
  return [
    folhaOf('notas', chave, { ...textsOf(nota), ...numbers, prestador_cpf_cnpj: job.prestador }),
    folhaOf('notas_estado', chave, {
      ...{ id: chave[0], mes: chave[1], estado, movimentos: String(movimentos) },
      mensagem_retorno: dropNul(nota.retencao)?.toWellFormed(),
      tabela_aliquotas: nota.tabela_aliquotas?.toString(),
    }),
    folhaOf('documentos', chave, {
      ...{ nota: chave[0], mes: chave[1], recebido_assinatura: nota.recebido_assinatura },
      confianca: nota.confianca?.toString(),
      ...{ recebido: digestOf(nota.recebido), nfse: digestOf(nota.nfse) },
    }),
  ];
}

/** `known`: the highest reception number that was known when the notas were inserted. */
export type InsertedNotas = { readonly known: Promise<string>; readonly writes: readonly Promise<unknown>[] };

/** Inserts notas with all dependent rows. `announcement`: of the notas with a claim. */
export function insertNotas(
  client: PoolClient,
  tenant: string,
  notas: readonly NumberedNota[],
  announcement: { readonly at: number; readonly until: number } | undefined,
): InsertedNotas {
  const inserted = client.query<{ nsu: string | null }>(INSERT_NOTAS(tenant, notas));
  const replacing = notas.filter(
    ({ nota }) => nota.substitui !== undefined && isKeyOfSameParty(nota.chave_acesso, nota.substitui),
  );
  const held = notas.filter(isHeld);
  const waiting = notas.filter((row) => !isHeld(row));
  const moves = notas.flatMap((row) => movesOf(row, announcement?.at ?? 0));
  const queued = waiting.map(({ id, mes, nota, claims, job }) => ({
    id: String(id),
    mes,
    dueAt: claims === undefined ? nota.data_emissao : announcement!.until,
    claims,
    traceparent: job.traceparent,
  }));
  const known = inserted.then(({ rows }) => {
    // The statement stores no nota of a missing municipality.
    if (rows.length !== notas.length) throw new NotWritten(`${rows.length} of ${notas.length} notas were stored`);
    return rows.find(({ nsu }) => nsu !== null)?.nsu ?? '0';
  });
  return {
    known,
    writes: [
      known,
      insertDocumentos(client, tenant, notas),
      insertTrail(client, tenant, 'nota', moves, notas.flatMap(folhasOf)),
      ...(queued.length === 0 ? [] : [enqueue(client, tenant, 'nota', queued)]),
      ...(replacing.length === 0 ? [] : [client.query(INSERT_SUBSTITUICOES(tenant, replacing))]),
      ...(held.length === 0 ? [] : [client.query(INSERT_RETIDAS(tenant, held))]),
    ],
  };
}

/** A note; the start of its two documents in the block of its group, from 1 as SQL counts, and their lengths. */
type Packed = NumberedNota & { readonly inicio: number; readonly recebido: number; readonly nfse: number };

const PACKED = asArrays<Packed>([
  ['inicio int', ({ inicio }) => inicio],
  ['assinatura text', ({ nota }) => nota.recebido_assinatura],
  ['confianca int', ({ nota }) => nota.confianca],
  ['mes int', ({ mes }) => mes],
  ['id bigint', ({ id }) => String(id)],
  ['recebido int', ({ recebido }) => recebido],
  ['nfse int', ({ nfse }) => nfse],
]);

/** The blocks of several tenants become one. The starts move by the blocks before. */
const joinPacked: Encoding<Packed>['join'] = (calls) => {
  let before = 0;
  const moved = calls.map((call) => {
    const [starts, ...values] = call.values as [number[], ...unknown[]];
    const own = starts.map((start) => before + start);
    before += (call.others[0] as Buffer).length;
    return { ...call, values: [own, ...values] };
  });
  return PACKED.join(moved);
};

/**
 * The documents travel as one block of bytes with their lengths: no escaping, no copy into a text array. The block comes last, since `pg`
 * copies all parameters before a large one.
 */
const INSERT_DOCUMENTOS = planMergeable<Packed>(
  'insert_documentos',
  { ...PACKED, join: joinPacked },
  ({
    rows,
    tenant,
    other,
  }) => `insert into documentos (tenant, mes, nota, recebido, nfse, recebido_assinatura, confianca)
  select m.tenant, x.mes, x.id, substring(${other}::bytea from x.inicio for x.recebido),
    substring(${other}::bytea from x.inicio + x.recebido for x.nfse), x.assinatura, x.confianca
  from municipios m cross join ${rows} where m.tenant = ${tenant}`,
  (blocks) => [Buffer.concat(blocks.flat() as Buffer[])],
);

function insertDocumentos(client: PoolClient, tenant: string, notas: readonly NumberedNota[]): Promise<unknown> {
  const sizes = notas.map(({ nota }) => nota.recebido.length + Buffer.byteLength(nota.nfse));
  const whole = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  const packed = notas.map((row) => {
    const { nota } = row;
    const recebido = nota.recebido.length;
    whole.set(nota.recebido, at);
    const nfse = whole.write(nota.nfse, at + recebido);
    const inicio = at + 1;
    at += recebido + nfse;
    return { ...row, inicio, recebido, nfse };
  });
  return client.query(INSERT_DOCUMENTOS(tenant, packed, whole));
}
