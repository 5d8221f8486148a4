/**
 * Registers events, numbered under the lock of their nota; a constraint decides between two at once. A transaction that locks a nota and
 * its eventos locks the nota first; the claim waits for no lock.
 */

import { insertAtos, type NovoAto } from '../../base/book/atos.ts';
import { digestOf, type Folha } from '../../base/book/auditoria-hash.ts';
import { folhaOf } from '../../base/book/auditoria-tabelas.ts';
import { insertTrail, returningEstado, type Standing } from '../../base/book/claims.ts';
import { EVENTO_COLUMNS, type EventoRow, openCancelamento } from '../../base/book/evento-rows.ts';
import { enqueue, isOfTipo } from '../../base/book/fila.ts';
import { giveKeysBack, type KeyedSuccess, takeKeys } from '../../base/book/idempotencia.ts';
import { ensureMeses, mesOf } from '../../base/book/meses.ts';
import { reserveSequence } from '../../base/book/sequencias.ts';
import { constraintOf } from '../../base/pg/constraint.ts';
import { type Db, runPipeline } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { planMonthly, planOnce } from '../../base/pg/planned.ts';
import { listColumns } from '../../base/pg/sql.ts';
import { MunicipioClosed, NotWritten } from '../../base/pg/unavailable.ts';
import { traceparentNow } from '../../base/traces/traces.ts';
import { mesOfChave } from '../../fiscal/chave.ts';
import { NUMERO_SEQUENCIAL_MAX } from '../../fiscal/layout/evento.ts';
import type { NotaEstado } from '../../fiscal/nota.ts';

/** A new event. Moments are in milliseconds. */
export type EventoNovo = Pick<
  EventoRow,
  'nota' | 'mes_nota' | 'codigo_tipo_evento' | 'cancela' | 'autor' | 'campos'
> & {
  readonly criado_em: number;
  /** The received bytes, and the value of their signature header; undefined for events registered by office. */
  readonly recebido: Uint8Array | undefined;
  readonly recebido_assinatura: string | undefined;
  /** The basis on which its signature was judged, see `fundamentos.ts`. */
  readonly confianca?: number | undefined;
  /** The outcome that the local authority simulates, in the sandbox (D-60). */
  readonly simular?: string | undefined;
  /** The idempotency key of the request: it is taken with this event, or nothing is stored (D-19). */
  readonly key?: KeyedSuccess | undefined;
  /** Number of events of the nota that its reader saw: beside another number nothing is registered. */
  readonly eventosVistos?: number | undefined;
  /** The operator of a registration by hand, for the trail of the municipality. */
  readonly porMao?: Pick<NovoAto, 'quem' | 'via' | 'motivo'> | undefined;
  /** Makes the document with these numbers; `id` is its `nDFSe`. Pure and quick: it runs inside the transaction, perhaps twice. */
  readonly complete: (numbers: { readonly id: bigint; readonly numero_sequencial: number }) => string;
};

export type RegisterResult =
  | { readonly evento: EventoRow }
  /** Another request took this key first, and has an answer under it. */
  | { readonly conflict: 'repetida' }
  /** Another registration took the sequence, twice (409). */
  | { readonly conflict: 'sequencia' }
  /** Another cancellation of the nota is under way: this one (422). */
  | { readonly conflict: 'cancelamento_aberto'; readonly evento: EventoRow }
  /** The nota was cancelled or refused meanwhile. */
  | { readonly conflict: 'nota_cancelada' | 'nota_recusada' }
  /** The substitute that the event names was withdrawn meanwhile. */
  | { readonly conflict: 'substituta_recusada' }
  /** The nota has got another event since its reader saw it. */
  | { readonly conflict: 'nota_mudou' }
  /** The identifiers of this type have no number left on the nota. */
  | { readonly conflict: 'limite' };

/**
 * Tries once more after a number was taken, or after the opposing cancellation has just ended. Cancellations may open and end faster than
 * the query finds them. The result is then that of a number taken twice.
 */
export async function registerEvento(pool: Db, tenant: string, novo: EventoNovo): Promise<RegisterResult> {
  await ensureMeses(pool, [mesOf(novo.criado_em)]);
  const id = await reserveSequence(pool, tenant, 'nDFSe', 1);
  const first = await registerOnce(pool, tenant, id, novo);
  const result = first === 'collision' ? await registerOnce(pool, tenant, id, novo) : first;
  return result === 'collision' ? { conflict: 'sequencia' } : result;
}

/** The constraints that two concurrent registrations may break, and the conflict of the second one. */
const COLLISIONS: Readonly<Record<string, 'sequencia' | 'cancelamento'>> = {
  eventos_sequencia: 'sequencia',
  eventos_ordem: 'sequencia',
  eventos_cancelamento_aberto: 'cancelamento',
};

async function registerOnce(
  pool: Db,
  tenant: string,
  id: bigint,
  novo: EventoNovo,
): Promise<RegisterResult | 'collision'> {
  try {
    return await runPipeline(pool, (client) => insertEvento(client, tenant, id, novo));
  } catch (error) {
    const collision = COLLISIONS[constraintOf(error) ?? ''];
    if (collision === undefined) throw error;
    const evento = collision === 'cancelamento' ? await openCancelamento(pool, tenant, novo.nota) : undefined;
    return evento === undefined ? 'collision' : { conflict: 'cancelamento_aberto', evento };
  }
}

/** The nota stays unchanged until the end of the transaction, and the following statements see all earlier commits. */
const LOCK_NOTA = planMonthly(
  'lock_nota',
  `select chave_acesso, numero_protocolo, estado from notas where tenant = $1 and mes = $2 and id = $3 for no key update`,
);

/** A separate statement after the lock: the previous holder may have committed while we waited. It also reads the queue of the nota. */
const LAST_NUMBERS = planOnce(
  'last_numbers',
  `select
  coalesce((select max(ordem) from eventos where tenant = $1 and nota = $2), 0) as ordem,
  coalesce((select max(numero_sequencial) from eventos where tenant = $1 and nota = $2 and codigo_tipo_evento = $3), 0)
    as sequencial,
  (select due_at from fila f where f.tenant = $1 and ${isOfTipo('nota')} and f.id = $2) as nota_due_at,
  (select claims from fila f where f.tenant = $1 and ${isOfTipo('nota')} and f.id = $2) as nota_claims`,
);

/** A withdrawal of a nota locks the nota that it replaces. */
const IS_REFUSED = planMonthly(
  'is_refused',
  `select 1 from notas where tenant = $1 and mes = $2 and chave_acesso = $3 and estado = 'recusada'`,
);

/** A closed municipality inserts nothing. */
const INSERT_EVENTO = planOnce(
  'insert_evento',
  `insert into eventos as e (tenant, id, mes, nota, mes_nota, ordem, codigo_tipo_evento, numero_sequencial, cancela, estado, aberto,
    desde, criado_em, autor, campos, simular)
  select m.tenant, $2, $3, $4, $5, $6, $7, $8, $9, 'pendente', true, $10::timestamptz, $10::timestamptz, $11, $12, $13
  from municipios m where m.tenant = $1 and not m.fechado returning ${listColumns('e', EVENTO_COLUMNS)}, ${returningEstado('evento', 'e')}`,
);

const INSERT_DOCUMENTO = planOnce(
  'insert_documento_evento',
  `insert into documentos_eventos (tenant, mes, evento, recebido, recebido_assinatura, confianca, xml)
  values ($1, $2, $3, $4, $5, $6, $7)`,
);

type Registration = { readonly result: RegisterResult; readonly writes: readonly Promise<unknown>[] };

/** Inserts an event with its key. The key is taken before any lock, and given back when no event results. */
async function insertEvento(client: PoolClient, tenant: string, id: bigint, novo: EventoNovo): Promise<Registration> {
  const { key } = novo;
  if (key === undefined) return insertUnderLock(client, tenant, id, novo);
  const taken = await takeKeys(client, tenant, [{ ...key, status: 201, evento: id }]);
  if (taken.size === 0) return { result: { conflict: 'repetida' }, writes: [] };
  const { result, writes } = await insertUnderLock(client, tenant, id, novo);
  return { result, writes: 'conflict' in result ? [giveKeysBack(client, tenant, [key.impressao])] : writes };
}

async function insertUnderLock(
  client: PoolClient,
  tenant: string,
  id: bigint,
  novo: EventoNovo,
): Promise<Registration> {
  const { nota, mes_nota, codigo_tipo_evento, cancela, autor, campos, recebido, simular } = novo;
  type Locked = Pick<EventoRow, 'chave_acesso' | 'numero_protocolo'> & { estado: NotaEstado };
  type Last = Pick<EventoRow, 'nota_due_at' | 'nota_claims'> & { ordem: number; sequencial: number };
  const substituta = campos['chave_acesso_substituta'];
  const [locked, last, refused] = await Promise.all([
    client.query<Locked>(LOCK_NOTA([tenant, mes_nota, nota])),
    client.query<Last>(LAST_NUMBERS([tenant, nota, codigo_tipo_evento])),
    substituta === undefined ? undefined : client.query(IS_REFUSED([tenant, mesOfChave(substituta), substituta])),
  ]);
  const found = locked.rows[0];
  // The sandbox was reset after the nota was found; a repeated request learns that it is gone.
  if (found === undefined) throw new NotWritten(`there is no nota ${nota} to register an event on`);
  const { estado, ...named } = found;
  if (estado === 'cancelada') return { result: { conflict: 'nota_cancelada' }, writes: [] };
  if (estado === 'recusada') return { result: { conflict: 'nota_recusada' }, writes: [] };
  if (refused?.rowCount) return { result: { conflict: 'substituta_recusada' }, writes: [] };
  const { ordem, sequencial, ...queued } = last.rows[0]!;
  // The events of a nota are numbered from 1 on, and none is ever taken out.
  if (novo.eventosVistos !== undefined && novo.eventosVistos !== ordem)
    return { result: { conflict: 'nota_mudou' }, writes: [] };
  const numero_sequencial = sequencial + 1;
  if (numero_sequencial > NUMERO_SEQUENCIAL_MAX) return { result: { conflict: 'limite' }, writes: [] };

  const xml = novo.complete({ id, numero_sequencial });
  const em = novo.criado_em;
  const mes = mesOf(em);
  const { rows } = await client.query<Pick<EventoRow, (typeof EVENTO_COLUMNS)[number]> & Standing>(
    INSERT_EVENTO([
      tenant,
      id,
      mes,
      nota,
      mes_nota,
      ordem + 1,
      codigo_tipo_evento,
      numero_sequencial,
      cancela,
      new Date(em),
      autor,
      JSON.stringify(campos),
      simular,
    ]),
  );
  if (rows[0] === undefined) throw new MunicipioClosed(tenant);
  const { dito, ...row } = rows[0];
  const received = [recebido && Buffer.from(recebido), novo.recebido_assinatura, novo.confianca];
  const document = [tenant, mes, id, ...received, Buffer.from(xml, 'utf8')];
  const traceparent = traceparentNow();
  const move = {
    id: row.id,
    mes,
    movimento: 1,
    em,
    de: null,
    gatilho: 'registro',
    para: 'pendente',
    dito,
    traceparent,
  };
  const atos = novo.porMao === undefined ? [] : [actOf(row.id, named.chave_acesso, novo, novo.porMao)];
  const evento = { ...row, ...named, ...queued, nota_estado: estado, due_at: new Date(em), claims: null };
  return {
    result: { evento },
    writes: [
      client.query(INSERT_DOCUMENTO(document)),
      insertTrail(client, tenant, 'evento', [move], [folhaOfDocument(row.id, mes, novo, xml)]),
      enqueue(client, tenant, 'evento', [{ id: row.id, mes, dueAt: em, traceparent }]),
      insertAtos(client, tenant, atos),
    ],
  };
}

/** The leaf of the audit chain for the documents of an event. */
function folhaOfDocument(id: string, mes: number, novo: EventoNovo, xml: string): Folha {
  const { recebido, recebido_assinatura, confianca } = novo;
  return folhaOf('documentos_eventos', [id, String(mes)], {
    ...{ evento: id, mes: String(mes), recebido_assinatura, xml: digestOf(xml) },
    recebido: recebido && digestOf(recebido),
    confianca: confianca?.toString(),
  });
}

/** Name of the act that registers an event by office; its key is the `id` of the event. */
export const REGISTRADO_DE_OFICIO = 'registrado de ofício';

function actOf(
  id: string,
  chave_acesso: string,
  { codigo_tipo_evento, criado_em: em }: EventoNovo,
  by: NonNullable<EventoNovo['porMao']>,
): NovoAto {
  const depois = { chave_acesso, codigo_tipo_evento };
  return { ...by, em, objeto: 'evento', chave: id, acao: REGISTRADO_DE_OFICIO, depois };
}
