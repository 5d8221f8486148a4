/**
 * The events in the store, on a real PostgreSQL: decisions of the database between concurrent requests, and no move outside the state
 * machines. A process is a pool and a store of its own.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { NO_PLANS } from '../../../test/support/citus.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { freshPool, pidOf, untilAwaited } from '../../../test/support/database.ts';
import { tenantsDue } from '../../../test/support/due.ts';
import { putEvento } from '../../../test/support/eventos.ts';
import { keysOf, MES } from '../../../test/support/nota-keys.ts';
import { allLookUp, noneScans, recorded, type Statements } from '../../../test/support/plans.ts';
import {
  CNPJ,
  NOW,
  oneProcess,
  openTenants,
  type Process,
  rowOf,
  rows,
  sharedProcesses,
  twoProcesses,
  upTo,
} from '../../../test/support/stores.ts';
import type { EventoRow } from '../../base/book/evento-rows.ts';
import { ensureMeses } from '../../base/book/meses.ts';
import type { NotaNova } from '../../base/book/nota-columns.ts';
import type { Db } from '../../base/pg/open.ts';
import { isLocked } from '../../base/pg/unavailable.ts';
import {
  EVENTO_ESTADOS,
  EVENTO_MOVES,
  EVENTO_RETRIES_MAX,
  type EventoEstado,
  type EventoTrigger,
  eventoMove,
  eventoRests,
} from '../../fiscal/evento.ts';
import { MINUTE_MS, SECOND_MS } from '../../fiscal/moment.ts';
import { NOTA_ESTADOS, type NotaEstado, notaMove } from '../../fiscal/nota.ts';
import { createStore, type Store } from '../../wiring/store.ts';
import type { ClaimedEvento, EventoSettlement } from './claim.rows.ts';
import type { OperatorTrigger } from './operate.rows.ts';
import type { EventoNovo, RegisterResult } from './register.rows.ts';

const LEASE = NOW + MINUTE_MS;
const POLL = NOW + 5 * MINUTE_MS;

const CANCELAMENTO = '101101';
const SUBSTITUICAO = '105102';
const CONFIRMACAO = '203202';
const REJEICAO = '203206';

/** Ids from here on are the test's own, not the store's. */
const RIVALS = 900_000;

const ESTADOS = Object.keys(EVENTO_ESTADOS) as EventoEstado[];

/** Keys of the issued notes, by tenant and id. */
const CHAVES = new Map<string, string>();
/** The issued notes, by key. */
const ROWS = new Map<string, NotaNova>();
let made = 0;

async function eventosOf(
  store: Store,
  tenant: string,
  nota: string,
  which?: Parameters<Store['eventos']['listOf']>[2],
): Promise<readonly EventoRow[]> {
  const rows = await store.eventos.listOf(tenant, CHAVES.get(`${tenant}/${nota}`)!, which);
  assert.ok(rows !== undefined, 'there is the nota');
  return rows;
}

/** Issues a note, and returns its id. */
async function issued(store: Store, tenant: string, substitui?: string): Promise<string> {
  made += 1;
  const id_dps = `DPS ${made}`;
  const row = rowOf(id_dps, { tomador_cpf_cnpj: '52998224725', substitui });
  const { chave_acesso } = row;
  const result = await store.notas.issue(tenant, {
    prestador: CNPJ,
    mes: MES,
    dps: { id: id_dps },
    novoPrestador: undefined,
    complete: () => row,
  });
  assert.ok('nota' in result);
  const { id } = (await store.notas.findByChave(tenant, chave_acesso))!;
  CHAVES.set(`${tenant}/${id}`, chave_acesso);
  ROWS.set(chave_acesso, row);
  return id;
}

const outcome = (id: string, on: 'autorizacao' | 'recusa') => ({
  id,
  mes: MES,
  move: notaMove('transmitida', on)!,
  mensagem: undefined,
  dueAt: undefined,
});

/** Transmits every due note of the tenant, with one outcome. */
async function decideNotas(store: Store, tenant: string, on: 'autorizacao' | 'recusa', now = NOW): Promise<void> {
  const { token, notas } = await store.notas.claim(tenant, now, now + MINUTE_MS, 1000);
  const written = await store.notas.settle(
    tenant,
    token,
    now,
    notas.map(({ id }) => outcome(id, on)),
  );
  assert.equal(written, notas.length);
}

async function authorised(store: Store, tenant: string): Promise<string> {
  const nota = await issued(store, tenant);
  await decideNotas(store, tenant, 'autorizacao');
  return nota;
}

function novo(nota: string, codigo = CONFIRMACAO, more: Partial<EventoNovo> = {}): EventoNovo {
  return {
    nota,
    mes_nota: MES,
    codigo_tipo_evento: codigo,
    cancela: [CANCELAMENTO, SUBSTITUICAO, '105104', '305101'].includes(codigo),
    autor: CNPJ,
    campos: {},
    criado_em: NOW,
    recebido: Buffer.from('{}'),
    recebido_assinatura: undefined,
    complete: ({ id, numero_sequencial }) => `<evento>${id} ${numero_sequencial}</evento>`,
    ...more,
  };
}

async function registered(store: Store, tenant: string, evento: EventoNovo): Promise<EventoRow> {
  const result = await store.eventos.register(tenant, evento);
  assert.ok('evento' in result && !('conflict' in result), JSON.stringify(result));
  return result.evento;
}

const claimAll = (store: Store, tenant: string, now = NOW, max = 1000) =>
  store.eventos.claim(tenant, now, now + MINUTE_MS, now + 5 * MINUTE_MS, max);

const codes = (eventos: readonly ClaimedEvento[]): string[] =>
  eventos.map(({ codigo_tipo_evento, numero_sequencial }) => `${codigo_tipo_evento}/${numero_sequencial}`);

function settlement(id: string, on: EventoTrigger, more: Partial<EventoSettlement> = {}): EventoSettlement {
  const move = eventoMove('enviado', on)!;
  return { id, mes: MES, move, dueAt: move.due === 'never' ? undefined : NOW + 10 * SECOND_MS, ...more };
}

/** The nota that an event cancels. */
const cancelada = ({ cancela, nota, mes_nota }: ClaimedEvento) => ({
  cancelada: cancela ? { id: nota, mes: mes_nota } : undefined,
});

/** Claims the due events and settles all of them in one way. */
async function sendAll(store: Store, tenant: string, on: EventoTrigger, now = NOW): Promise<number> {
  const { token, eventos } = await claimAll(store, tenant, now);
  return store.eventos.settle(
    tenant,
    token,
    now,
    eventos.map((evento) =>
      settlement(evento.id, on, {
        ...cancelada(evento),
        ...(eventoMove('enviado', on)!.due === 'never' ? {} : { dueAt: now + 1 }),
      }),
    ),
  );
}

/** Moves an event by hand to a state. */
async function place(pool: Db, tenant: string, id: string, estado: EventoEstado, isDue = true): Promise<void> {
  await putEvento(pool, tenant, id, estado, eventoRests(estado, true) || !isDue ? null : new Date(NOW));
}

const refOf = (id: string) => ({ id, mes: MES });

describe('a registration', () => {
  test('is pendente and due, has the first number, and everything that came is kept with it', async () => {
    const { store, alfa } = await oneProcess();
    const nota = await issued(store, alfa);
    const recebido = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    const campos = { codigo_motivo_cancelamento: '1', descricao_motivo_cancelamento: 'Valor do serviço errado "ç"' };
    const evento = await registered(
      store,
      alfa,
      novo(nota, CANCELAMENTO, { campos, recebido, recebido_assinatura: 'MIIC', criado_em: NOW + 5, simular: 'adn:x' }),
    );
    assert.deepEqual(
      [evento.estado, evento.numero_sequencial, evento.reprocessamentos_count, evento.mes, evento.autor],
      ['pendente', 1, 0, MES, CNPJ],
    );
    assert.deepEqual(
      [evento.criado_em, evento.desde, evento.due_at].map((moment) => moment?.getTime()),
      [NOW + 5, NOW + 5, NOW + 5],
    );
    assert.deepEqual(
      [evento.processado_em, evento.aguardando_desde, evento.erros_adn, evento.mensagem_retorno, evento.nsu_recepcao],
      [null, null, null, null, null],
    );
    assert.deepEqual(evento.campos, campos);
    const note = (await store.eventos.findById(alfa, evento.id))!;
    assert.deepEqual(note, evento, 'as it is read afterwards');
    assert.equal(note.chave_acesso, CHAVES.get(`${alfa}/${nota}`));
    assert.equal(note.numero_protocolo, ROWS.get(note.chave_acesso)!.numero_protocolo);
    assert.deepEqual(await store.eventos.readDocuments(alfa, evento.id), {
      recebido,
      recebido_assinatura: 'MIIC',
      xml: Buffer.from(`<evento>${evento.id} 1</evento>`),
      assinatura: null,
      certificado_der: null,
    });
    assert.deepEqual(
      await store.eventos.readXml(alfa, [evento]),
      new Map([[evento.id, `<evento>${evento.id} 1</evento>`]]),
    );
    assert.deepEqual(await store.eventos.listTrail(alfa, evento), [
      { em: new Date(NOW + 5), de: null, gatilho: 'registro', para: 'pendente', mensagem: null, quem: null },
    ]);
  });

  test('by office has no body', async () => {
    const { store, alfa } = await oneProcess();
    const nota = await issued(store, alfa);
    const { id } = await registered(store, alfa, novo(nota, '305102', { recebido: undefined }));
    assert.equal((await store.eventos.readDocuments(alfa, id))?.recebido, null);
  });

  test('numbers by note and type; its id is of the sequence that notes have theirs of', async () => {
    const { store, alfa } = await oneProcess();
    const [one, other] = [await issued(store, alfa), await issued(store, alfa)];
    const all: EventoRow[] = [];
    for (const [nota, codigo] of [
      [one, CONFIRMACAO],
      [one, CONFIRMACAO],
      [one, REJEICAO],
      [other, CONFIRMACAO],
      [one, CONFIRMACAO],
    ] as const) {
      all.push(await registered(store, alfa, novo(nota, codigo)));
    }
    assert.deepEqual(
      all.map(({ numero_sequencial }) => numero_sequencial),
      [1, 2, 1, 1, 3],
    );
    assert.equal(new Set([one, other, ...all.map(({ id }) => id)]).size, 7);
  });

  test('a hundred at once on one note from two processes: dense numbers, and 409 for whoever has none', async () => {
    const { a, b, alfa } = await twoProcesses();
    const nota = await issued(a.store, alfa);
    const results = await Promise.all(
      upTo(100).map((number) => (number % 2 ? a : b).store.eventos.register(alfa, novo(nota, CONFIRMACAO))),
    );
    const numbers = results.flatMap((result) => ('evento' in result ? [result.evento.numero_sequencial] : []));
    const conflicts = results.flatMap((result) => ('conflict' in result ? [result.conflict] : []));
    assert.deepEqual(
      numbers.toSorted((x, y) => x - y),
      upTo(numbers.length),
    );
    assert.equal(numbers.length + conflicts.length, 100);
    assert.ok(conflicts.every((conflict) => conflict === 'sequencia'));
    const stored = await eventosOf(a.store, alfa, nota, { codigo: CONFIRMACAO });
    assert.deepEqual(
      stored.map(({ numero_sequencial }) => numero_sequencial),
      upTo(numbers.length),
    );
    const torn = await rows(
      a.pool,
      `select e.id from eventos e left join documentos_eventos d on d.tenant = e.tenant and d.evento = e.id
         left join trilha_eventos t on t.tenant = e.tenant and t.evento = e.id
         left join fila f on f.tenant = e.tenant and f.tipo = 'evento' and f.id = e.id
       where e.tenant = $1 and (d.xmin is distinct from e.xmin or t.xmin is distinct from e.xmin or f.xmin is distinct from e.xmin)`,
      [alfa],
    );
    assert.deepEqual(torn, [], 'each whole in one transaction');
    for (const { id, numero_sequencial } of stored) {
      assert.equal(
        (await a.store.eventos.readDocuments(alfa, id))?.xml.toString(),
        `<evento>${id} ${numero_sequencial}</evento>`,
      );
    }
  });

  test('several notes at once do not wait for each other, and mixed types number for themselves', async () => {
    const { a, b, alfa } = await twoProcesses();
    const notas = await Promise.all(upTo(5).map(() => issued(a.store, alfa)));
    await Promise.all(
      upTo(100).map((number) =>
        registered((number % 2 ? a : b).store, alfa, novo(notas[number % 5]!, number % 3 ? CONFIRMACAO : REJEICAO)),
      ),
    );
    const gaps = await rows(
      a.pool,
      `select nota, codigo_tipo_evento from eventos where tenant = $1 group by nota, codigo_tipo_evento
       having max(numero_sequencial) <> count(*)`,
      [alfa],
    );
    assert.deepEqual(gaps, []);
    const orders = await rows(
      a.pool,
      'select nota from eventos where tenant = $1 group by nota having max(ordem) <> count(*) or count(*) <> 20',
      [alfa],
    );
    assert.deepEqual(orders, []);
  });

  /** A writer that skips the note's lock: the constraint alone protects us from it. */
  async function rival(pool: Db, tenant: string, nota: string, numero: number) {
    const client = await pool.connect();
    await client.query('begin');
    await client.query(
      `insert into eventos (tenant, id, mes, nota, mes_nota, ordem, codigo_tipo_evento, numero_sequencial, cancela, estado, aberto,
        desde, criado_em, autor, campos)
       values ($1, $2, ${MES}, $3, ${MES}, $4, $5, $6, false, 'pendente', true, $7, $7, $8, '{}')`,
      [tenant, RIVALS + numero, nota, 1000 + numero, CONFIRMACAO, numero, new Date(NOW), CNPJ],
    );
    const pid = await pidOf(client);
    const commit = async (): Promise<void> => {
      await client.query('commit');
      client.release();
    };
    return { pid, commit };
  }

  test('whose number was taken meanwhile silently takes the next', { timeout: 600_000 }, async () => {
    const { a, b, alfa } = await twoProcesses();
    const nota = await issued(a.store, alfa);
    const { pid, commit } = await rival(b.pool, alfa, nota, 1);
    const registering = a.store.eventos.register(alfa, novo(nota));
    await untilAwaited(b.pool, pid);
    await commit();
    const result = await registering;
    assert.ok('evento' in result);
    assert.equal(result.evento.numero_sequencial, 2);
    const xml = (await a.store.eventos.readDocuments(alfa, result.evento.id))?.xml.toString();
    assert.equal(xml, `<evento>${result.evento.id} 2</evento>`, 'its document has the number that it got');
  });

  test('twice is a conflict, and leaves nothing', { timeout: 600_000 }, async () => {
    const { a, b, alfa } = await twoProcesses();
    const nota = await issued(a.store, alfa);
    const first = await rival(b.pool, alfa, nota, 1);
    const second = await rival(b.pool, alfa, nota, 2);
    const registering = a.store.eventos.register(alfa, novo(nota));
    await untilAwaited(b.pool, first.pid);
    await first.commit();
    // The retry takes number 2, which the second rival has not committed yet.
    await untilAwaited(b.pool, second.pid);
    await second.commit();
    assert.deepEqual(await registering, { conflict: 'sequencia' });
    const counts = await rows(
      a.pool,
      `select (select count(*)::int from eventos where tenant = $1) as eventos,
        (select count(*)::int from documentos_eventos where tenant = $1) as documentos,
        (select count(*)::int from trilha_eventos where tenant = $1) as trilha,
        (select count(*)::int from fila where tenant = $1 and tipo = 'evento') as fila`,
      [alfa],
    );
    assert.deepEqual(counts, [{ eventos: 2, documentos: 0, trilha: 0, fila: 0 }], 'only the two of the rivals');
  });

  test('beyond the three digits of the identifier there is none', async () => {
    const { pool, store, alfa } = await oneProcess();
    const nota = await issued(store, alfa);
    const { id } = await registered(store, alfa, novo(nota));
    await pool.query('update eventos set numero_sequencial = 998 where tenant = $1 and id = $2', [alfa, id]);
    assert.equal((await registered(store, alfa, novo(nota))).numero_sequencial, 999);
    assert.deepEqual(await store.eventos.register(alfa, novo(nota)), { conflict: 'limite' });
    assert.equal((await registered(store, alfa, novo(nota, REJEICAO))).numero_sequencial, 1);
  });

  test('a document that cannot be made takes no number', async () => {
    const { store, alfa } = await oneProcess();
    const nota = await issued(store, alfa);
    const failure = new Error('this event could not be written');
    const failing = novo(nota, CONFIRMACAO, {
      complete: () => {
        throw failure;
      },
    });
    await assert.rejects(store.eventos.register(alfa, failing), failure);
    assert.equal((await registered(store, alfa, novo(nota))).numero_sequencial, 1);
    await assert.rejects(store.eventos.register(alfa, novo('999999')), /no nota 999999/);
  });

  for (const [estado, conflict] of [
    ['cancelada', 'nota_cancelada'],
    ['recusada', 'nota_recusada'],
  ] as const) {
    test(`on a note that is ${estado} is none, also when it became so a moment ago`, { timeout: 600_000 }, async () => {
      const { a, b, alfa } = await twoProcesses();
      const nota = await issued(a.store, alfa);
      const client = await b.pool.connect();
      await client.query('begin');
      await client.query('update notas set estado = $3 where tenant = $1 and id = $2', [alfa, nota, estado]);
      const registering = a.store.eventos.register(alfa, novo(nota));
      await untilAwaited(b.pool, await pidOf(client));
      await client.query('commit');
      client.release();
      assert.deepEqual(await registering, { conflict });
      assert.deepEqual(await a.store.eventos.register(alfa, novo(nota)), { conflict });
      assert.deepEqual(await eventosOf(a.store, alfa, nota), []);
    });
  }
});

describe('a cancellation', () => {
  test('of a note is under way once, however many ask at once and whatever their types', async () => {
    const { a, b, alfa } = await twoProcesses();
    for (let round = 0; round < 5; round += 1) {
      const nota = await issued(a.store, alfa);
      const types = [CANCELAMENTO, SUBSTITUICAO, '105104', '305101'];
      const results = await Promise.all(
        upTo(20).map((number) => (number % 2 ? a : b).store.eventos.register(alfa, novo(nota, types[number % 4]))),
      );
      const taken = results.filter((result) => !('conflict' in result));
      assert.equal(taken.length, 1);
      const [winner] = await eventosOf(a.store, alfa, nota);
      for (const result of results.filter((one) => 'conflict' in one)) {
        assert.ok(result.conflict === 'cancelamento_aberto');
        assert.equal(result.evento.id, winner!.id);
      }
    }
  });

  /** Specification, Endpoints: 422 while another one is `pendente`, `enviado`, waiting, or `erro` with a retry pending. */
  const OPEN: readonly (readonly [EventoEstado, boolean, boolean])[] = [
    ['pendente', true, true],
    ['enviado', true, true],
    ['aguardando_autorizacao_nota', true, true],
    ['erro', true, true],
    ['erro', false, false],
    ['processado', false, false],
    ['rejeitado', false, false],
    ['erro_reprocessamento', false, false],
    ['cancelado', false, false],
    ['dispensado', false, false],
  ];

  test('the table below has every state', () => {
    assert.deepEqual([...new Set(OPEN.map(([estado]) => estado))].toSorted(), ESTADOS.toSorted());
  });

  for (const [estado, isDue, isOpen] of OPEN) {
    const which = estado === 'erro' ? ` with ${isDue ? 'a' : 'no'} retry left` : '';
    test(`another one is ${isOpen ? 'refused' : 'taken'} while one is ${estado}${which}`, async () => {
      const { pool, store, alfa } = await oneProcess();
      const nota = await authorised(store, alfa);
      const first = await registered(store, alfa, novo(nota, CANCELAMENTO));
      await place(pool, alfa, first.id, estado, isDue);
      const second = await store.eventos.register(alfa, novo(nota, SUBSTITUICAO));
      assert.equal('conflict' in second, isOpen);
      if ('conflict' in second) {
        assert.ok(second.conflict === 'cancelamento_aberto');
        assert.deepEqual([second.evento.id, second.evento.estado], [first.id, estado]);
      }
      await registered(store, alfa, novo(nota, CONFIRMACAO));
    });
  }
});

describe('readings', () => {
  test('all of a note newest first, of a type by number, one by its number, and by id', async () => {
    const { store, alfa, beta } = await oneProcess();
    const [nota, other] = [await issued(store, alfa), await issued(store, alfa)];
    for (const [codigo, criado_em] of [
      [CONFIRMACAO, NOW],
      [REJEICAO, NOW],
      [CONFIRMACAO, NOW + SECOND_MS],
    ] as const) {
      await registered(store, alfa, novo(nota, codigo, { criado_em }));
    }
    const foreign = await registered(store, alfa, novo(other));
    const told = (found: readonly EventoRow[]): string[] =>
      found.map(({ codigo_tipo_evento, numero_sequencial }) => `${codigo_tipo_evento}/${numero_sequencial}`);
    assert.deepEqual(told(await eventosOf(store, alfa, nota)), [
      `${CONFIRMACAO}/2`,
      `${REJEICAO}/1`,
      `${CONFIRMACAO}/1`,
    ]);
    assert.deepEqual(told(await eventosOf(store, alfa, nota, { codigo: CONFIRMACAO })), [
      `${CONFIRMACAO}/1`,
      `${CONFIRMACAO}/2`,
    ]);
    assert.deepEqual(await eventosOf(store, alfa, nota, { codigo: CANCELAMENTO }), []);
    assert.deepEqual(told(await eventosOf(store, alfa, nota, { codigo: REJEICAO, sequencial: 1 })), [`${REJEICAO}/1`]);
    assert.deepEqual(await eventosOf(store, alfa, nota, { codigo: REJEICAO, sequencial: 2 }), []);
    assert.equal((await store.eventos.findById(alfa, foreign.id))?.nota, other);

    assert.equal(await store.eventos.listOf(beta, foreign.chave_acesso), undefined);
    assert.equal(await store.eventos.listOf(alfa, 'NENHUMA'), undefined);
    assert.equal(await store.eventos.findById(beta, foreign.id), undefined);
    assert.equal(await store.eventos.readDocuments(beta, foreign.id), undefined);
    assert.deepEqual(await store.eventos.listTrail(beta, foreign), []);
    assert.equal((await store.eventos.readXml(beta, [foreign])).size, 0);
  });

  test('what a registration needs of its note: parties, document, the events that stand and the open cancellation', async () => {
    const { pool, store, alfa, beta } = await oneProcess();
    const nota = await authorised(store, alfa);
    const campos = { codigo_motivo_rejeicao: '9', descricao_motivo_rejeicao: 'Não contratado por esta empresa' };
    const first = await registered(store, alfa, novo(nota, CONFIRMACAO));
    const second = await registered(store, alfa, novo(nota, REJEICAO, { campos, autor: '52998224725' }));
    const third = await registered(store, alfa, novo(nota, CANCELAMENTO));
    const fourth = await registered(store, alfa, novo(nota, CONFIRMACAO));
    const refused = await registered(store, alfa, novo(nota, CONFIRMACAO));
    // An event under way affects no other.
    await registered(store, alfa, novo(nota, CONFIRMACAO));
    // The second was processed before the first.
    await place(pool, alfa, first.id, 'processado');
    await place(pool, alfa, second.id, 'dispensado');
    await place(pool, alfa, refused.id, 'rejeitado');
    await place(pool, alfa, fourth.id, 'erro', false);
    const processed = 'update eventos set processado_em = $3 where tenant = $1 and id = $2';
    await pool.query(processed, [alfa, first.id, new Date(NOW + 2)]);
    await pool.query(processed, [alfa, second.id, new Date(NOW + 1)]);

    const { chave_acesso, numero_protocolo } = first;
    const read = await store.eventos.findNota(alfa, { chave: chave_acesso });
    assert.deepEqual(read, {
      id: nota,
      mes: MES,
      chave_acesso,
      numero_protocolo,
      estado: 'autorizada',
      prestador_cpf_cnpj: CNPJ,
      tomador_cpf_cnpj: '52998224725',
      nfse: Buffer.from(ROWS.get(chave_acesso)!.nfse),
      eventos: [
        onNota(second, 'dispensado', false, { autor: '52998224725', campos }),
        onNota(first, 'processado', false),
        onNota(third, 'pendente', true),
      ],
      substitutas: [],
    });
    assert.deepEqual(await store.eventos.findNota(alfa, { protocolo: numero_protocolo }), read);
    assert.equal(await store.eventos.findNota(beta, { chave: chave_acesso }), undefined);
    assert.equal(await store.eventos.findNota(alfa, { chave: 'nenhuma' }), undefined);

    const empty = await issued(store, alfa);
    assert.deepEqual(
      await store.eventos.listOnNotas(alfa, [empty, nota]),
      new Map([
        [empty, []],
        [nota, read!.eventos],
      ]),
    );
  });

  test('of a note with two thousand events under way no more is read than stands, by looking up no more', {
    skip: NO_PLANS,
  }, async () => {
    const { pool, store, alfa } = await oneProcess();
    const nota = await authorised(store, alfa);
    const standing = await registered(store, alfa, novo(nota, REJEICAO));
    await sendAll(store, alfa, 'conclusao');
    const many = `insert into eventos (tenant, id, mes, nota, mes_nota, ordem, codigo_tipo_evento, numero_sequencial, cancela, estado,
        aberto, desde, criado_em, autor, campos)
      select $1, 20000000 + x, ${MES}, $2, ${MES}, 1 + x, (202201 + x % 4)::text, 1 + x / 4, false, 'pendente', true, $3, $3, $4, '{}'
      from generate_series(1, 2000) as x`;
    await pool.query(many, [alfa, nota, new Date(NOW), CNPJ]);
    await pool.query('analyze eventos');
    const read = (await store.eventos.findNota(alfa, { chave: standing.chave_acesso }))!;
    assert.deepEqual(
      read.eventos.map(({ id }) => id),
      [standing.id],
    );
    const plan = await rows(
      pool,
      `explain (analyze, format json) select * from eventos
        where tenant = '${alfa}' and nota = ${nota} and estado in ('processado', 'dispensado')`,
    );
    const text = JSON.stringify(plan);
    assert.match(text, /"Index Name":"eventos_na_nota"/);
    assert.doesNotMatch(text, /"Rows Removed by Filter":[1-9]/);
    const last = await registered(store, alfa, novo(nota, CANCELAMENTO));
    assert.equal(last.numero_sequencial, 1);
    assert.equal((await store.eventos.findNota(alfa, { chave: standing.chave_acesso }))!.eventos.length, 2);
    await pool.query('delete from eventos where tenant = $1 and id > 20000000', [alfa]);
  });

  function onNota(
    { id, codigo_tipo_evento, numero_sequencial }: EventoRow,
    estado: EventoEstado,
    isDue: boolean,
    more = {},
  ) {
    return { id, codigo_tipo_evento, numero_sequencial, estado, isDue, autor: CNPJ, campos: {}, ...more };
  }
});

describe('a claim', () => {
  test('announces: enviado before anybody sends, and tells where each was found', async () => {
    const { store, alfa } = await oneProcess();
    const nota = await authorised(store, alfa);
    const campos = { codigo_motivo_rejeicao: '1' };
    const { id, chave_acesso } = await registered(
      store,
      alfa,
      novo(nota, REJEICAO, { campos, simular: 'adn:atraso=1s' }),
    );
    const { token, eventos, moved } = await claimAll(store, alfa);
    assert.equal(moved, 1);
    assert.match(token, /^[0-9a-f-]{36}$/);
    assert.deepEqual(eventos, [
      {
        id,
        mes: MES,
        nota,
        mes_nota: MES,
        chave_acesso,
        codigo_tipo_evento: REJEICAO,
        numero_sequencial: 1,
        cancela: false,
        found: 'pendente',
        tentativas: 1,
        reprocessamentos_count: 0,
        autor: CNPJ,
        campos,
        criado_em: new Date(NOW),
        simular: 'adn:atraso=1s',
        nsu_antes: '0',
        traceparent: null,
      },
    ]);
    const row = await store.eventos.findById(alfa, id);
    assert.deepEqual([row?.estado, row?.due_at?.getTime(), row?.desde.getTime()], ['enviado', LEASE, NOW]);
    assert.deepEqual((await claimAll(store, alfa)).eventos, [], 'nobody else has it meanwhile');
  });

  test('takes each event once, though workers race, and none before an earlier one of its note', async () => {
    const { a, b, alfa } = await twoProcesses();
    const notas = await Promise.all(upTo(40).map(() => issued(a.store, alfa)));
    await decideNotas(a.store, alfa, 'autorizacao');
    for (const nota of notas) for (const _ of upTo(5)) await registered(a.store, alfa, novo(nota));
    const taken: string[] = [];
    const sent = new Map<string, number>();
    const work = async ({ store }: Process): Promise<void> => {
      for (let idle = 0; idle < 20; ) {
        const { token, eventos, moved } = await claimAll(store, alfa, NOW, 7);
        assert.ok(moved <= 7);
        if (moved === 0) idle += 1;
        for (const { id, nota, numero_sequencial } of eventos) {
          taken.push(id);
          assert.equal(numero_sequencial, (sent.get(nota) ?? 0) + 1, 'in the order of registration');
          sent.set(nota, numero_sequencial);
        }
        await new Promise((resolve) => setImmediate(resolve));
        const outcomes = eventos.map(({ id }) => settlement(id, 'conclusao'));
        assert.equal(await store.eventos.settle(alfa, token, NOW, outcomes), eventos.length);
      }
    };
    await Promise.all([work(a), work(b), work(a), work(b)]);
    assert.equal(taken.length, 200);
    assert.equal(new Set(taken).size, 200);
  });

  test('takes the events of one note together, in their order', async () => {
    const { store, alfa } = await oneProcess();
    const nota = await authorised(store, alfa);
    // The clock of the second event's process is slow.
    await registered(store, alfa, novo(nota, '101103'));
    await registered(store, alfa, novo(nota, '105105', { criado_em: NOW - MINUTE_MS }));
    await registered(store, alfa, novo(nota, CONFIRMACAO));
    assert.deepEqual(codes((await claimAll(store, alfa, NOW, 2)).eventos), ['101103/1', '105105/1']);
  });

  test('leaves what follows an event that is not due, until that one is at its end', async () => {
    const { store, alfa } = await oneProcess();
    const [nota, other] = [await issued(store, alfa), await issued(store, alfa)];
    await decideNotas(store, alfa, 'autorizacao');
    const isDue = async (now: number): Promise<boolean> => (await tenantsDue(store, 'eventos', now)).includes(alfa);
    await registered(store, alfa, novo(nota, CANCELAMENTO));
    const first = await claimAll(store, alfa);
    assert.equal(await isDue(NOW), false);
    await registered(store, alfa, novo(nota, CONFIRMACAO));
    await registered(store, alfa, novo(nota, REJEICAO));
    assert.equal(await isDue(NOW), false, 'they wait for the one that is being sent');
    assert.deepEqual((await claimAll(store, alfa)).eventos, []);
    await registered(store, alfa, novo(other, CONFIRMACAO));
    assert.equal(await isDue(NOW), true);
    assert.deepEqual(
      (await claimAll(store, alfa)).eventos.map((evento) => evento.nota),
      [other],
    );

    await store.eventos.settle(alfa, first.token, NOW, [
      settlement(first.eventos[0]!.id, 'falha', { dueAt: NOW + 10 * SECOND_MS }),
    ]);
    assert.equal(await isDue(NOW + 9 * SECOND_MS), false);
    assert.deepEqual((await claimAll(store, alfa, NOW + 9 * SECOND_MS)).eventos, []);
    const again = await claimAll(store, alfa, NOW + 10 * SECOND_MS);
    assert.deepEqual(codes(again.eventos), [`${CANCELAMENTO}/1`, `${CONFIRMACAO}/1`, `${REJEICAO}/1`]);
  });

  test('that may not announce moves only what waits for its note, however much else is due before it', async () => {
    const { store, alfa } = await oneProcess();
    const whole = await authorised(store, alfa);
    for (const _ of upTo(5)) await registered(store, alfa, novo(whole));
    const draft = await issued(store, alfa);
    for (const _ of upTo(2)) await registered(store, alfa, novo(draft));
    const { eventos, moved } = await store.eventos.claim(alfa, NOW, LEASE, POLL, 3, false);
    assert.deepEqual([eventos, moved], [[], 2]);
    const estados = async (nota: string) => (await eventosOf(store, alfa, nota)).map(({ estado }) => estado);
    assert.deepEqual(await estados(draft), ['aguardando_autorizacao_nota', 'aguardando_autorizacao_nota']);
    assert.deepEqual(new Set(await estados(whole)), new Set(['pendente']));
    assert.equal((await store.eventos.claim(alfa, NOW, LEASE, POLL, 10)).eventos.length, 5);
  });

  test('is not kept from other notes by the many events of one that cannot go', async () => {
    const { store, alfa } = await oneProcess();
    const [nota, other] = [await issued(store, alfa), await issued(store, alfa)];
    await decideNotas(store, alfa, 'autorizacao');
    await registered(store, alfa, novo(nota));
    await claimAll(store, alfa);
    for (const _ of upTo(20)) await registered(store, alfa, novo(nota));
    await registered(store, alfa, novo(other, CONFIRMACAO, { criado_em: NOW + 1 }));
    const { eventos } = await claimAll(store, alfa, NOW + 1, 3);
    assert.deepEqual(
      eventos.map((evento) => evento.nota),
      [other],
    );
  });

  test('takes all events of a draft note to their wait, a part at a time, and none of it keeps others from being sent', async () => {
    const { store, alfa } = await oneProcess();
    const authorisedNota = await authorised(store, alfa);
    const draft = await issued(store, alfa);
    const many = upTo(25);
    for (const _ of many) await registered(store, alfa, novo(draft));
    await registered(store, alfa, novo(authorisedNota, CONFIRMACAO, { criado_em: NOW + 1 }));
    const claim = () => store.eventos.claim(alfa, NOW + 1, LEASE, POLL, 10);
    const first = await claim();
    assert.deepEqual(
      first.eventos.map(({ nota }) => nota),
      [authorisedNota],
    );
    assert.ok(first.moved >= 10, 'there is more');
    const moved = [(await claim()).moved, (await claim()).moved, (await claim()).moved];
    assert.deepEqual([first.moved + moved[0]! + moved[1]!, moved[2]], [26, 0]);
    const eventos = await eventosOf(store, alfa, draft);
    assert.deepEqual(new Set(eventos.map(({ estado }) => estado)), new Set(['aguardando_autorizacao_nota']));
    assert.ok(eventos.every(({ aguardando_desde }) => Number(aguardando_desde) === NOW + 1));
    // An event that is registered later, while the others wait, is seen too.
    await registered(store, alfa, novo(draft));
    assert.ok((await tenantsDue(store, 'eventos', NOW + 1)).includes(alfa));
    assert.equal((await claim()).moved, 1);
    assert.ok(!(await tenantsDue(store, 'eventos', NOW + 1)).includes(alfa));
    await decideNotas(store, alfa, 'autorizacao', NOW + 2);
    assert.equal((await store.eventos.claim(alfa, NOW + 2, LEASE, POLL, 100)).eventos.length, 26);
  });

  test('whose lease has passed is taken by another, and its ghost writes nothing', async () => {
    const { a: dead, b: living, alfa } = await twoProcesses();
    const nota = await authorised(dead.store, alfa);
    const { id } = await registered(dead.store, alfa, novo(nota, CANCELAMENTO));
    const lost = await claimAll(dead.store, alfa);
    assert.deepEqual((await claimAll(living.store, alfa, LEASE - 1)).eventos, [], 'the lease still holds');
    const again = await claimAll(living.store, alfa, LEASE);
    assert.deepEqual(
      again.eventos.map(({ found, tentativas, reprocessamentos_count }) => [found, tentativas, reprocessamentos_count]),
      [['enviado', 2, 0]],
    );
    assert.equal(await dead.store.eventos.settle(alfa, lost.token, LEASE, [settlement(id, 'conclusao')]), 0);
    assert.equal((await living.store.eventos.findById(alfa, id))?.estado, 'enviado');
    assert.equal(
      (await living.store.eventos.findNota(alfa, { chave: again.eventos[0]!.chave_acesso }))?.estado,
      'autorizada',
    );
    assert.equal(await living.store.eventos.settle(alfa, again.token, LEASE, [settlement(id, 'recusa')]), 1);
    for (const { token } of [lost, again]) {
      assert.equal(await dead.store.eventos.settle(alfa, token, LEASE, [settlement(id, 'conclusao')]), 0, 'nor twice');
    }
    assert.equal((await living.store.eventos.findById(alfa, id))?.estado, 'rejeitado');
  });

  test('counts the automatic retries, three and no more (specification, Events: rule 2)', async () => {
    const { pool, store, alfa } = await oneProcess();
    const nota = await authorised(store, alfa);
    const { id } = await registered(store, alfa, novo(nota));
    await sendAll(store, alfa, 'falha', NOW);
    assert.deepEqual(await counted(store, alfa, id), [0, null]);
    for (const retry of upTo(EVENTO_RETRIES_MAX)) {
      const now = NOW + retry * MINUTE_MS;
      const isLast = retry === EVENTO_RETRIES_MAX;
      assert.equal(await sendAll(store, alfa, isLast ? 'esgotamento' : 'falha', now), 1);
      assert.deepEqual(await counted(store, alfa, id), [retry, now]);
    }
    const row = await store.eventos.findById(alfa, id);
    assert.deepEqual([row?.estado, row?.due_at], ['erro', null]);
    assert.deepEqual((await claimAll(store, alfa, NOW + 1_000 * MINUTE_MS)).eventos, []);
    const fourth = 'update eventos set aberto = true where tenant = $1 and id = $2';
    await assert.rejects(pool.query(fourth, [alfa, id]), /eventos_aberto/, 'the database has the last word');
  });

  async function counted(store: Store, tenant: string, id: string): Promise<unknown[]> {
    const row = await store.eventos.findById(tenant, id);
    return [row?.reprocessamentos_count, row?.ultimo_reprocessamento_em?.getTime() ?? null];
  }

  test('asks from the highest reception number that was known at the first announcement', async () => {
    const { store, alfa } = await oneProcess();
    const nota = await authorised(store, alfa);
    const first = await registered(store, alfa, novo(nota));
    const recebida = { nsu: '41', assinatura: undefined };
    const { token } = await claimAll(store, alfa);
    await store.eventos.settle(alfa, token, NOW, [settlement(first.id, 'conclusao', { recebida })]);
    assert.equal((await store.eventos.findById(alfa, first.id))?.nsu_recepcao, '41');
    await registered(store, alfa, novo(nota));
    const second = await claimAll(store, alfa);
    assert.equal(second.eventos[0]?.nsu_antes, '41');
    await store.eventos.settle(alfa, second.token, NOW, [
      settlement(second.eventos[0]!.id, 'adiamento', { recebida: { nsu: '50', assinatura: undefined } }),
    ]);
    assert.equal((await claimAll(store, alfa, NOW + MINUTE_MS)).eventos[0]?.nsu_antes, '41');
  });

  /** The target of a due event: decisions 2 and 3 of the machine, for each state of event and note. */
  for (const notaEstado of Object.keys(NOTA_ESTADOS) as NotaEstado[]) {
    for (const estado of ESTADOS.filter((one) => one === 'erro' || !eventoRests(one, true))) {
      const notSent = estado === 'pendente' || estado === 'aguardando_autorizacao_nota';
      const on: EventoTrigger =
        !notSent || notaEstado === 'autorizada' || notaEstado === 'cancelada'
          ? 'anuncio'
          : notaEstado === 'recusada'
            ? 'recusa_nota'
            : 'nota_nao_autorizada';
      const move = eventoMove(estado, on)!;
      test(`of a note that is ${notaEstado}: ${estado} ${on} ${move.to}`, async () => {
        const { pool, store, alfa } = await oneProcess();
        const nota = await issued(store, alfa);
        const { id } = await registered(store, alfa, novo(nota));
        await pool.query('update notas set estado = $2 where tenant = $1', [alfa, notaEstado]);
        await place(pool, alfa, id, estado);
        const { eventos, moved } = await store.eventos.claim(alfa, NOW + 1, LEASE, POLL, 10);
        assert.equal(moved, 1);
        assert.equal(eventos.length, on === 'anuncio' ? 1 : 0, 'only what is announced is handed out');
        const row = (await store.eventos.findById(alfa, id))!;
        const due = { lease: LEASE, poll: POLL, never: undefined }[move.due as 'lease' | 'poll' | 'never'];
        assert.deepEqual([row.estado, row.due_at?.getTime()], [move.to, due]);
        assert.equal(row.reprocessamentos_count, 'counts' in move ? 1 : 0);
        assert.equal(row.desde.getTime(), move.to === estado ? NOW : NOW + 1);
        assert.equal(row.aguardando_desde?.getTime(), on === 'nota_nao_autorizada' ? NOW + 1 : undefined);
        const { em: _em, ...last } = (await store.eventos.listTrail(alfa, refOf(id))).at(-1)!;
        assert.deepEqual(last, { de: estado, gatilho: on, para: move.to, mensagem: null, quem: null });
      });
    }
  }

  test('that finds the note still without authorisation keeps since when it waits, and looks again at the poll', async () => {
    const { store, alfa } = await oneProcess();
    const nota = await issued(store, alfa);
    const { id } = await registered(store, alfa, novo(nota));
    await store.eventos.claim(alfa, NOW, LEASE, POLL, 10);
    assert.equal((await store.eventos.claim(alfa, POLL - 1, LEASE, POLL, 10)).moved, 0);
    const second = await store.eventos.claim(alfa, POLL, POLL + 1, POLL + 2, 10);
    assert.deepEqual([second.moved, second.eventos.length], [1, 0]);
    const row = (await store.eventos.findById(alfa, id))!;
    assert.deepEqual(
      [row.aguardando_desde, row.desde, row.due_at].map((moment) => moment?.getTime()),
      [NOW, NOW, POLL + 2],
    );
  });
});

describe('a settlement', () => {
  test('of a cancelling event that was processed cancels the note, in the same transaction', async () => {
    const { pool, store, alfa } = await oneProcess();
    const nota = await authorised(store, alfa);
    const { id, chave_acesso } = await registered(store, alfa, novo(nota, CANCELAMENTO));
    assert.equal(
      (await store.notas.findByChave(alfa, chave_acesso))?.estado,
      'autorizada',
      'not because it was registered',
    );
    await sendAll(store, alfa, 'conclusao', NOW + SECOND_MS);
    const row = await store.notas.findByChave(alfa, chave_acesso);
    assert.deepEqual(
      [row?.estado, row?.data_cancelamento?.getTime(), row?.data_autorizacao?.getTime()],
      ['cancelada', NOW + SECOND_MS, NOW],
    );
    const trail = await rows(
      pool,
      'select de, gatilho, para, em from trilha_notas where tenant = $1 and nota = $2 order by movimento desc limit 1',
      [alfa, nota],
    );
    assert.deepEqual(trail, [
      { de: 'autorizada', gatilho: 'cancelamento', para: 'cancelada', em: new Date(NOW + SECOND_MS) },
    ]);
    const [together] = await rows<{ same: boolean }>(
      pool,
      `select e.xmin = n.xmin as same from eventos e join notas n on n.tenant = e.tenant and n.id = e.nota
       where e.tenant = $1 and e.id = $2`,
      [alfa, id],
    );
    assert.equal(together?.same, true);
    assert.deepEqual(await store.eventos.register(alfa, novo(nota)), { conflict: 'nota_cancelada' });
  });

  test('that cancels a note makes all that replace it due in the same transaction, unless somebody holds them', async () => {
    const { pool, store, alfa } = await oneProcess();
    const notas = [await authorised(store, alfa), await authorised(store, alfa), await authorised(store, alfa)];
    const chaves = await Promise.all(
      notas.map(async (nota) => {
        const text = 'select chave_acesso from notas where tenant = $1 and id = $2';
        return (await rows<{ chave_acesso: string }>(pool, text, [alfa, nota]))[0]!.chave_acesso;
      }),
    );
    const later = NOW + MINUTE_MS;
    const postponed = async (substitui: string): Promise<string> => {
      const nota = await issued(store, alfa, substitui);
      const { token, notas: claimed } = await store.notas.claim(alfa, NOW, later, 10);
      const move = notaMove('transmitida', 'espera')!;
      const outcomes = claimed.map(({ id, mes }) => ({
        id,
        mes,
        move,
        mensagem_retorno: 'E1308: ainda não',
        dueAt: later,
      }));
      assert.equal(await store.notas.settle(alfa, token, NOW, outcomes), 1);
      return nota;
    };
    // The first two are cancelled for the substitute that the event names, or for none; the third is not cancelled.
    const [named, other] = [await postponed(chaves[0]!), await postponed(chaves[0]!)];
    const [ofPlain, ofStanding] = [await postponed(chaves[1]!), await postponed(chaves[2]!)];
    const held = await issued(store, alfa, chaves[1]!);
    assert.deepEqual(
      (await store.notas.claim(alfa, NOW, later, 10)).notas.map(({ id }) => id),
      [held],
    );
    assert.deepEqual(
      (await store.eventos.findNota(alfa, { chave: chaves[0]! }))!.substitutas.length,
      2,
      'a registration is told of them',
    );
    const chaveDaSubstituta = keysOf(0).chave_acesso;
    const campos = { chave_acesso_substituta: chaveDaSubstituta };
    await registered(store, alfa, novo(notas[0]!, SUBSTITUICAO, { campos }));
    await registered(store, alfa, novo(notas[1]!, CANCELAMENTO));
    await registered(store, alfa, novo(notas[2]!));
    assert.equal(await sendAll(store, alfa, 'conclusao', NOW + 1), 3);
    const due = async (nota: string): Promise<unknown> =>
      (
        await rows<{ due_at: Date }>(pool, "select due_at from fila where tenant = $1 and tipo = 'nota' and id = $2", [
          alfa,
          nota,
        ])
      )[0]!.due_at.getTime();
    assert.deepEqual(await Promise.all([named, other, ofPlain, ofStanding, held].map(due)), [
      ...[NOW + 1, NOW + 1, NOW + 1],
      ...[later, later],
    ]);
    const [together] = await rows<{ same: boolean }>(
      pool,
      `select o.xmin = f.xmin as same from notas o, fila f
       where o.tenant = $1 and o.id = $2 and f.tenant = $1 and f.tipo = 'nota' and f.id = $3`,
      [alfa, notas[0], named],
    );
    assert.equal(together?.same, true);
    assert.deepEqual(
      [...(await store.notas.findSubstituidas(alfa, [...chaves, chaveDaSubstituta])).values()].map(
        ({ estado, por }) => [estado, por],
      ),
      [
        ['cancelada', chaveDaSubstituta],
        ['cancelada', null],
        ['autorizada', null],
      ],
    );
  });

  for (const move of EVENTO_MOVES.filter(({ from, on }) => from === 'enviado' && on !== 'anuncio')) {
    test(`${move.on} leads to ${move.to}, and ${move.on === 'conclusao' ? 'cancels' : 'does not cancel'} the note`, async () => {
      const { store, alfa } = await oneProcess();
      const nota = await authorised(store, alfa);
      const cancelling = await registered(store, alfa, novo(nota, SUBSTITUICAO));
      const harmless = await registered(store, alfa, novo(await authorised(store, alfa), CONFIRMACAO));
      const { token, eventos } = await claimAll(store, alfa);
      const told = {
        codigo_retorno: 'E1234',
        mensagem_retorno: 'Não\0 aceito',
        erros_adn: { erros: [{ Codigo: 'E1' }] },
      };
      const outcomes = eventos.map((evento) => settlement(evento.id, move.on, { ...cancelada(evento), ...told }));
      assert.equal(await store.eventos.settle(alfa, token, NOW + 1, outcomes), 2);
      for (const { id } of [cancelling, harmless]) {
        const row = (await store.eventos.findById(alfa, id))!;
        const due = move.due === 'never' ? undefined : NOW + 10 * SECOND_MS;
        assert.deepEqual([row.estado, row.due_at?.getTime()], [move.to, due]);
        assert.deepEqual([row.codigo_retorno, row.mensagem_retorno], ['E1234', 'Não aceito']);
        assert.deepEqual(row.erros_adn, { erros: [{ Codigo: 'E1' }] });
        // The authority's final decision: `data_hora_processamento` of the specification.
        const isFinal = ['processado', 'rejeitado', 'dispensado'].includes(move.to);
        assert.equal(row.processado_em?.getTime(), isFinal ? NOW + 1 : undefined);
        const isWaiting = move.to === 'aguardando_autorizacao_nota';
        assert.equal(row.aguardando_desde?.getTime(), isWaiting ? NOW + 1 : undefined);
        assert.equal(row.desde.getTime(), move.to === 'enviado' ? NOW : NOW + 1);
        const last = (await store.eventos.listTrail(alfa, refOf(id))).at(-1);
        assert.deepEqual(last, {
          em: new Date(NOW + 1),
          de: 'enviado',
          gatilho: move.on,
          para: move.to,
          mensagem: 'Não aceito',
          quem: null,
        });
      }
      const notes = await Promise.all(
        [cancelling, harmless].map(
          async ({ chave_acesso }) => (await store.notas.findByChave(alfa, chave_acesso))?.estado,
        ),
      );
      assert.deepEqual(notes, [move.on === 'conclusao' ? 'cancelada' : 'autorizada', 'autorizada']);
    });
  }

  test('forgets what an earlier attempt was answered, and keeps the wait while the note is unknown', async () => {
    const { store, alfa } = await oneProcess();
    const nota = await authorised(store, alfa);
    const { id } = await registered(store, alfa, novo(nota));
    for (const [turn, on] of (['falha', 'nota_desconhecida', 'adiamento', 'nota_desconhecida'] as const).entries()) {
      const now = NOW + turn * MINUTE_MS;
      const { token } = await claimAll(store, alfa, now);
      const told = on === 'falha' ? { codigo_retorno: '500', erros_adn: { mensagem: 'x' } } : {};
      assert.equal(await store.eventos.settle(alfa, token, now, [settlement(id, on, { dueAt: now, ...told })]), 1);
    }
    const row = (await store.eventos.findById(alfa, id))!;
    assert.deepEqual([row.codigo_retorno, row.erros_adn], [null, null]);
    assert.equal(row.aguardando_desde?.getTime(), NOW + MINUTE_MS);
    assert.equal(row.desde.getTime(), NOW + 3 * MINUTE_MS);
    await sendAll(store, alfa, 'conclusao', NOW + 4 * MINUTE_MS);
    assert.equal((await store.eventos.findById(alfa, id))?.aguardando_desde, null);
  });

  test('keeps the signature under which the event is held, and its certificate once', async () => {
    const { pool, store, alfa } = await oneProcess();
    const [one, other] = [await issued(store, alfa), await issued(store, alfa)];
    await decideNotas(store, alfa, 'autorizacao');
    await registered(store, alfa, novo(one));
    await registered(store, alfa, novo(other));
    const { token, eventos } = await claimAll(store, alfa);
    const certificado = Buffer.from('certificate');
    const outcomes = eventos.map(({ id }, number) =>
      settlement(id, 'conclusao', {
        recebida: { nsu: String(7 - number), assinatura: { valor: Buffer.from(`signature ${number}`), certificado } },
      }),
    );
    assert.equal(await store.eventos.settle(alfa, token, NOW, outcomes), 2);
    for (const [number, { id }] of eventos.entries()) {
      const documents = await store.eventos.readDocuments(alfa, id);
      assert.deepEqual(
        [documents?.assinatura?.toString(), documents?.certificado_der],
        [`signature ${number}`, certificado],
      );
    }
    const counts = await rows(
      pool,
      `select (select count(*)::int from certificados where tenant = $1) as certificados,
        (select nsu from recepcoes_adn where tenant = $1) as nsu`,
      [alfa],
    );
    assert.deepEqual(counts, [{ certificados: 1, nsu: '7' }]);
  });

  test('is of one tenant', async () => {
    const { store, alfa, beta } = await oneProcess();
    const nota = await authorised(store, alfa);
    const { id } = await registered(store, alfa, novo(nota, CANCELAMENTO));
    assert.equal((await claimAll(store, beta)).moved, 0);
    const { token } = await claimAll(store, alfa);
    assert.equal(await store.eventos.settle(beta, token, NOW, [settlement(id, 'conclusao')]), 0);
    assert.equal(await store.eventos.move(beta, id, 'dispensa', NOW, undefined), undefined);
    assert.equal((await store.eventos.findById(alfa, id))?.estado, 'enviado');
  });
});

describe('the decision about a note', () => {
  test('wakes the events that wait for it, in the same transaction', async () => {
    const { pool, store, alfa } = await oneProcess();
    const [nota, other] = [await issued(store, alfa), await issued(store, alfa)];
    const waiting = await registered(store, alfa, novo(nota, CANCELAMENTO));
    const fresh = await registered(store, alfa, novo(nota, CONFIRMACAO));
    const foreign = await registered(store, alfa, novo(other, CONFIRMACAO));
    await store.eventos.claim(alfa, NOW, LEASE, POLL, 10);
    await place(pool, alfa, fresh.id, 'pendente');
    const { token, notas } = await store.notas.claim(alfa, NOW + 1, LEASE, 10);
    assert.equal(notas.length, 2);
    await store.notas.settle(alfa, token, NOW + 2, [outcome(nota, 'autorizacao')]);
    const row = (await store.eventos.findById(alfa, waiting.id))!;
    assert.deepEqual(
      [row.estado, row.due_at?.getTime(), row.desde.getTime(), row.aguardando_desde],
      ['pendente', NOW + 2, NOW + 2, null],
    );
    const { em, ...last } = (await store.eventos.listTrail(alfa, waiting)).at(-1)!;
    assert.deepEqual(last, {
      de: 'aguardando_autorizacao_nota',
      gatilho: 'autorizacao_nota',
      para: 'pendente',
      mensagem: null,
      quem: null,
    });
    assert.equal(em.getTime(), NOW + 2);
    const together = await rows<{ id: string }>(
      pool,
      `select e.id from eventos e join notas n on n.tenant = e.tenant and n.id = e.nota
       where e.tenant = $1 and e.xmin = n.xmin`,
      [alfa],
    );
    assert.deepEqual(together, [{ id: waiting.id }]);
    assert.equal((await store.eventos.findById(alfa, foreign.id))?.estado, 'aguardando_autorizacao_nota');
    assert.deepEqual(codes((await claimAll(store, alfa, NOW + 2)).eventos), [`${CANCELAMENTO}/1`, `${CONFIRMACAO}/1`]);
  });

  test('when it is a refusal, waives them all, and none that somebody else still decides', async () => {
    const { store, alfa } = await oneProcess();
    const [nota, other] = [await issued(store, alfa), await issued(store, alfa)];
    const waiting = await registered(store, alfa, novo(nota, CANCELAMENTO));
    await store.eventos.claim(alfa, NOW, LEASE, POLL, 10);
    const fresh = await registered(store, alfa, novo(nota, CONFIRMACAO));
    const foreign = await registered(store, alfa, novo(other, CANCELAMENTO));
    const lost = await store.notas.claim(alfa, NOW, NOW, 10);
    const again = await store.notas.claim(alfa, NOW, LEASE, 10);
    assert.equal(
      await store.notas.settle(alfa, lost.token, NOW, [outcome(nota, 'recusa'), outcome(other, 'recusa')]),
      0,
    );
    assert.equal((await store.eventos.findById(alfa, waiting.id))?.estado, 'aguardando_autorizacao_nota');

    const outcomes = [outcome(nota, 'recusa'), outcome(other, 'autorizacao')];
    assert.equal(await store.notas.settle(alfa, again.token, NOW + 1, outcomes), 2);
    const found = await Promise.all([waiting, fresh, foreign].map(({ id }) => store.eventos.findById(alfa, id)));
    assert.deepEqual(
      found.map((row) => [row?.estado, row?.due_at?.getTime() ?? null, row?.processado_em]),
      [
        ['dispensado', null, null],
        ['dispensado', null, null],
        ['pendente', NOW, null],
      ],
    );
    for (const evento of [waiting, fresh]) {
      assert.equal((await store.eventos.listTrail(alfa, evento)).at(-1)?.gatilho, 'recusa_nota');
    }
  });

  test('that comes while its events are claimed or registered never leaves one asleep', {
    timeout: 600_000,
  }, async () => {
    const { a, b, alfa } = await twoProcesses();
    const far = NOW + 1_000_000 * MINUTE_MS;
    for (let round = 0; round < 25; round += 1) {
      const on = round % 3 === 2 ? 'recusa' : 'autorizacao';
      const notas = await Promise.all(upTo(8).map(() => issued(a.store, alfa)));
      for (const nota of notas) await registered(a.store, alfa, novo(nota, CANCELAMENTO));
      const { token } = await a.store.notas.claim(alfa, NOW, LEASE, 1000);
      const outcomes = notas.map((nota) => outcome(nota, on));
      const claims = async (): Promise<void> => {
        for (const _ of upTo(3)) await b.store.eventos.claim(alfa, NOW, LEASE, far, 3);
      };
      const late = notas.map((nota) => b.store.eventos.register(alfa, novo(nota, CONFIRMACAO)));
      await Promise.all([claims(), a.store.notas.settle(alfa, token, NOW, outcomes), claims(), ...late]);
      for (const result of (await Promise.all(late)) as RegisterResult[]) {
        assert.ok('evento' in result || (on === 'recusa' && result.conflict === 'nota_recusada'));
      }
      // Another claim takes the events that were just locked.
      await claims();
      const asleep = await rows(
        a.pool,
        `select e.id, e.estado, n.estado as nota from eventos e join notas n on n.tenant = e.tenant and n.id = e.nota
         where e.tenant = $1 and n.estado in ('autorizada', 'recusada')
           and (e.estado = 'aguardando_autorizacao_nota' or n.estado = 'recusada' and e.estado <> 'dispensado')`,
        [alfa],
      );
      assert.deepEqual(asleep, [], `round ${round}`);
      await a.pool.query("update eventos set estado = 'rejeitado', aberto = false where tenant = $1 and aberto", [
        alfa,
      ]);
      await a.pool.query("delete from fila where tenant = $1 and tipo = 'evento'", [alfa]);
    }
  });

  /** A wait of two seconds for a lock is refused as temporary; callers try again, as they do here on a slow machine. */
  async function untilUnlocked<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isLocked(error)) throw error;
      }
    }
  }

  test('leaves cancelled exactly what has a processed cancellation, with registrations and claims beside', {
    timeout: 600_000,
  }, async () => {
    const { a, b, alfa } = await twoProcesses();
    const notas = await Promise.all(upTo(12).map(() => issued(a.store, alfa)));
    await decideNotas(a.store, alfa, 'autorizacao');
    for (const nota of notas) await registered(a.store, alfa, novo(nota, CANCELAMENTO));
    const work = async ({ store }: Process): Promise<void> => {
      for (let idle = 0; idle < 10; ) {
        const { token, eventos } = await claimAll(store, alfa, NOW, 4);
        if (eventos.length === 0) idle += 1;
        // Refused cancellations make room for others; the rest ends with the note.
        const outcomes = eventos
          .toReversed()
          .map((evento) =>
            evento.numero_sequencial > 2
              ? settlement(evento.id, 'conclusao', cancelada(evento))
              : settlement(evento.id, 'recusa'),
          );
        await untilUnlocked(() => store.eventos.settle(alfa, token, NOW, outcomes));
      }
    };
    const press = async ({ store }: Process): Promise<void> => {
      for (const turn of upTo(8)) {
        await Promise.all(
          notas.map((nota) =>
            untilUnlocked(() => store.eventos.register(alfa, novo(nota, turn % 2 ? CANCELAMENTO : CONFIRMACAO))),
          ),
        );
      }
    };
    await Promise.all([work(a), press(a), work(b), press(b)]);
    await work(a);
    const wrong = await rows(
      a.pool,
      `select n.id from notas n where n.tenant = $1 and (n.estado = 'cancelada') <> exists (select 1 from eventos e
        where e.tenant = n.tenant and e.nota = n.id and e.cancela and e.estado = 'processado')`,
      [alfa],
    );
    assert.deepEqual(wrong, []);
  });
});

describe('the operator', () => {
  const TRIGGERS: readonly OperatorTrigger[] = ['reprocessamento', 'separacao', 'retirada', 'dispensa', 'arquivamento'];

  for (const trigger of TRIGGERS) {
    const from = EVENTO_MOVES.filter(({ on }) => on === trigger).map((move) => move.from as string);
    test(`${trigger}: from ${from.join(', ')}, and from nowhere else`, async () => {
      const { pool, store, alfa } = await oneProcess();
      const nota = await authorised(store, alfa);
      for (const estado of ESTADOS) {
        const { id } = await registered(store, alfa, novo(nota));
        await place(pool, alfa, id, estado, estado !== 'erro');
        const move = eventoMove(estado, trigger);
        const result = await store.eventos.move(alfa, id, trigger, NOW + 1, 'decisão do município', {
          quem: 'mariana',
          via: 'comando',
        });
        const row = (await store.eventos.findById(alfa, id))!;
        if (move === undefined) {
          assert.deepEqual(result, { found: estado });
          assert.deepEqual([row.estado, row.mensagem_retorno], [estado, null]);
          assert.equal((await store.eventos.listTrail(alfa, refOf(id))).length, 1);
          continue;
        }
        assert.deepEqual(result, { evento: row });
        const due = move.due === 'now' ? NOW + 1 : undefined;
        // An event that stays in its state keeps its since-time and its message.
        const stays = move.to === estado;
        const since = stays ? NOW : NOW + 1;
        assert.deepEqual([row.estado, row.due_at?.getTime(), row.desde.getTime()], [move.to, due, since]);
        assert.deepEqual(
          [row.mensagem_retorno, row.reprocessamentos_count],
          [stays ? null : 'decisão do município', 0],
        );
        assert.equal(row.arquivado_em?.getTime(), stays ? NOW + 1 : undefined);
        assert.deepEqual((await store.eventos.listTrail(alfa, refOf(id))).at(-1), {
          em: new Date(NOW + 1),
          de: estado,
          gatilho: trigger,
          para: move.to,
          mensagem: 'decisão do município',
          quem: 'mariana',
        });
      }
      assert.equal(await store.eventos.move(alfa, '999999', trigger, NOW, undefined), undefined);
    });
  }

  test('takes an event away from a worker that holds it', async () => {
    const { store, alfa } = await oneProcess();
    const nota = await authorised(store, alfa);
    const { id, chave_acesso } = await registered(store, alfa, novo(nota, CANCELAMENTO));
    const { token } = await claimAll(store, alfa);
    assert.ok('evento' in (await store.eventos.move(alfa, id, 'dispensa', NOW, undefined))!);
    assert.equal(await store.eventos.settle(alfa, token, NOW, [settlement(id, 'conclusao')]), 0);
    assert.equal((await store.eventos.findById(alfa, id))?.estado, 'dispensado');
    assert.equal((await store.notas.findByChave(alfa, chave_acesso))?.estado, 'autorizada');
  });

  test('reprocesses without resetting the count, and what is reprocessed is asked about first', async () => {
    const { pool, store, alfa } = await oneProcess();
    const nota = await authorised(store, alfa);
    const { id } = await registered(store, alfa, novo(nota));
    await place(pool, alfa, id, 'erro', false);
    await pool.query('update eventos set reprocessamentos_count = 3 where tenant = $1 and id = $2', [alfa, id]);
    await store.eventos.move(alfa, id, 'reprocessamento', NOW, undefined);
    const { token, eventos } = await claimAll(store, alfa);
    assert.deepEqual(
      eventos.map(({ found, reprocessamentos_count }) => [found, reprocessamentos_count]),
      [['enviado', 3]],
    );
    // No retry is left, so the database refuses a failure without end, and takes one with an end.
    await assert.rejects(store.eventos.settle(alfa, token, NOW, [settlement(id, 'falha')]), /eventos_aberto/);
    assert.equal(await store.eventos.settle(alfa, token, NOW, [settlement(id, 'esgotamento')]), 1);
  });

  test('does not reprocess a cancellation beside another one that is under way', async () => {
    const { pool, store, alfa } = await oneProcess();
    const nota = await authorised(store, alfa);
    const first = await registered(store, alfa, novo(nota, CANCELAMENTO));
    await place(pool, alfa, first.id, 'erro', false);
    const second = await registered(store, alfa, novo(nota, SUBSTITUICAO));
    const result = await store.eventos.move(alfa, first.id, 'reprocessamento', NOW, undefined);
    assert.deepEqual(result, { conflict: 'cancelamento_aberto', evento: second });
    assert.equal((await store.eventos.findById(alfa, first.id))?.estado, 'erro');
    await sendAll(store, alfa, 'recusa');
    assert.ok('evento' in (await store.eventos.move(alfa, first.id, 'reprocessamento', NOW, undefined))!);
  });

  test('does not reprocess a cancellation of a note that is cancelled; a manifestation it does', async () => {
    const { pool, store, alfa } = await oneProcess();
    const nota = await authorised(store, alfa);
    const manifestation = await registered(store, alfa, novo(nota));
    const spent = await registered(store, alfa, novo(nota, CANCELAMENTO));
    for (const { id } of [manifestation, spent]) await place(pool, alfa, id, 'erro', false);
    await registered(store, alfa, novo(nota, SUBSTITUICAO));
    await sendAll(store, alfa, 'conclusao');
    const again = (id: string) => store.eventos.move(alfa, id, 'reprocessamento', NOW, undefined);
    assert.deepEqual(await again(spent.id), { conflict: 'nota_cancelada' });
    const row = (await store.eventos.findById(alfa, spent.id))!;
    assert.deepEqual([row.estado, row.nota_estado], ['erro', 'cancelada']);
    assert.equal((await store.eventos.listTrail(alfa, spent)).at(-1)?.gatilho, 'registro');
    assert.ok('evento' in (await again(manifestation.id))!);
    assert.ok('evento' in (await store.eventos.move(alfa, spent.id, 'dispensa', NOW, undefined))!);
  });
});

describe('what asks for an operator', () => {
  const STUCK = { pendente: NOW + 1, aguardando: NOW + 1 };
  const PAGE = { from: 0, max: 50 };
  const refusal = (id: string, codigo_retorno: string) => settlement(id, 'recusa', { codigo_retorno });

  /** Events of a note, each refused with a code. */
  async function refusedWith(
    store: Store,
    tenant: string,
    nota: string,
    codigos: readonly string[],
  ): Promise<string[]> {
    const ids: string[] = [];
    for (const _ of codigos) ids.push((await registered(store, tenant, novo(nota))).id);
    const { token } = await claimAll(store, tenant);
    const settled = ids.map((id, place) => refusal(id, codigos[place]!));
    assert.equal(await store.eventos.settle(tenant, token, NOW, settled), ids.length);
    return ids;
  }

  test('is one line for each problem of a note, the gravest first, however many events of one note are stuck', async () => {
    const { pool, store, alfa, beta } = await oneProcess();
    const refused = await refusedWith(store, alfa, await authorised(store, alfa), ['E1310']);
    const spent = await registered(store, alfa, novo(await authorised(store, alfa)));
    await place(pool, alfa, spent.id, 'erro', false);
    const draft = await issued(store, alfa);
    const waiting: EventoRow[] = [];
    for (const _ of upTo(120)) waiting.push(await registered(store, alfa, novo(draft)));
    const { eventos, linhas } = await store.eventos.listProblemas(alfa, STUCK, {}, PAGE);
    assert.deepEqual(
      eventos.map(({ id, estado, quantos }) => [id, estado, quantos]),
      [
        [spent.id, 'erro', 1],
        [refused[0], 'rejeitado', 1],
        [waiting[0]!.id, 'pendente', 120],
      ],
    );
    assert.equal(linhas, 3);
    assert.deepEqual(await store.eventos.countProblemas(alfa, STUCK, {}), [
      { estado: 'erro', codigo_retorno: null, eventos: 1, notas: 1 },
      { estado: 'rejeitado', codigo_retorno: 'E1310', eventos: 1, notas: 1 },
      { estado: 'pendente', codigo_retorno: null, eventos: 120, notas: 1 },
    ]);
    // The events of one note, each on its line, in pages.
    const last = await store.eventos.listProblemas(alfa, STUCK, { nota: draft }, { from: 100, max: 50 });
    assert.deepEqual([last.eventos.map(({ id }) => id), last.linhas], [waiting.slice(100).map(({ id }) => id), 120]);
    const beyond = await store.eventos.listProblemas(alfa, STUCK, {}, { from: 50, max: 50 });
    assert.deepEqual(beyond, { eventos: [], linhas: 0 });
    assert.deepEqual(await store.eventos.countProblemas(beta, STUCK, {}), []);
  });

  test('are not the refusals that follow from what another party has registered', async () => {
    const { store, alfa } = await oneProcess();
    const nota = await authorised(store, alfa);
    // E0845: its substitute waits for it. E0863: its author is the municipality itself.
    const [, , substitution, own] = await refusedWith(store, alfa, nota, ['E0861', 'E1833', 'E0845', 'E0863']);
    const idsOf = async (filter: object): Promise<string[]> =>
      (await store.eventos.listProblemas(alfa, STUCK, { nota, ...filter }, PAGE)).eventos.map(({ id }) => id);
    assert.deepEqual(await idsOf({}), [substitution, own]);
    const between = await store.eventos.countProblemas(alfa, STUCK, { entrePartes: true });
    assert.deepEqual(
      between.map(({ codigo_retorno }) => codigo_retorno),
      ['E0861', 'E1833'],
    );
    const counted = await store.eventos.count(alfa, STUCK);
    assert.deepEqual(counted, [{ estado: 'rejeitado', temProblema: true, eventos: 2 }]);
  });

  test('is filed in bulk when the refusals are as many as was said, of one tenant and with who did it', async () => {
    const { pool, store, alfa, beta } = await oneProcess();
    const nota = await authorised(store, alfa);
    const ids = await refusedWith(store, alfa, nota, ['E1310', 'E1310', 'E0042']);
    await refusedWith(store, beta, await authorised(store, beta), ['E1310', 'E1310']);
    const spent = await registered(store, alfa, novo(nota));
    await place(pool, alfa, spent.id, 'erro', false);
    const by = { motivo: 'vistas', quem: 'mariana', via: 'painel' } as const;
    const file = (expected: number) => store.eventos.archive(alfa, { codigo: 'E1310' }, expected, NOW + 1, by);
    const left = async (tenant: string) =>
      (await store.eventos.countProblemas(tenant, STUCK, {})).map(({ codigo_retorno, eventos }) => [
        codigo_retorno,
        eventos,
      ]);
    assert.equal(await file(3), 2);
    assert.deepEqual(await left(alfa), [
      [null, 1],
      ['E1310', 2],
      ['E0042', 1],
    ]);
    assert.equal(await file(2), 2);
    assert.deepEqual(await left(alfa), [
      [null, 1],
      ['E0042', 1],
    ]);
    assert.deepEqual(await left(beta), [['E1310', 2]]);
    assert.equal((await store.eventos.findById(alfa, ids[0]!))?.arquivado_em?.getTime(), NOW + 1);
    const { em: _, ...step } = (await store.eventos.listTrail(alfa, refOf(ids[1]!))).at(-1)!;
    const said = { de: 'rejeitado', gatilho: 'arquivamento', para: 'rejeitado', mensagem: 'vistas', quem: 'mariana' };
    assert.deepEqual(step, said);
    const acts = await store.atos.list(alfa, { objeto: 'evento' }, 10);
    assert.deepEqual(
      acts.map(({ chave, acao, motivo, quem, via }) => [chave, acao, motivo, quem, via]).sort(),
      ids
        .slice(0, 2)
        .map((id) => [id, 'arquivado', 'vistas', 'mariana', 'painel'])
        .sort(),
    );
    assert.deepEqual(await store.atos.list(beta, {}, 10), []);
    // An error is not filed, even with the right number.
    assert.equal(await store.eventos.archive(alfa, { nota }, 1, NOW, by), 1);
    assert.equal((await store.eventos.findById(alfa, spent.id))?.arquivado_em, null);
  });
});

describe('the database', () => {
  test('takes the states of the machine and no other, open exactly when they do not rest', async () => {
    const { pool, store, alfa } = await oneProcess();
    const nota = await issued(store, alfa);
    const { id } = await registered(store, alfa, novo(nota));
    const text = 'update eventos set estado = $3, aberto = $4 where tenant = $1 and id = $2';
    for (const estado of ESTADOS) {
      const rests = eventoRests(estado, true);
      const right = [alfa, id, estado, !rests];
      const wrong = [alfa, id, estado, rests];
      await pool.query(text, right);
      // `erro` rests when its retries are spent.
      if (estado === 'erro') await pool.query(text, wrong);
      else await assert.rejects(pool.query(text, wrong), /eventos_aberto/, estado);
    }
    await assert.rejects(pool.query(text, [alfa, id, 'outro', false]), /eventos_estado/);
    await place(pool, alfa, id, 'dispensado');
    const [check] = await rows<{ text: string }>(
      pool,
      `select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'eventos_estado'`,
    );
    const listed = [...check!.text.matchAll(/'([a-z_]+)'/g)].map(([, name]) => name);
    assert.deepEqual(listed.toSorted(), ESTADOS.toSorted());
  });
});

describe('the plans of the statements', () => {
  const statements: Statements = new Map();
  let recordedTenant = '';
  /** See the plans of notas: due and failed events are read in order. Empty months are not read. */
  const WHOLE = new RegExp(
    `^(municipios|recepcoes_adn|meses|fila_due|fila_pkey|retidas_tabela|mudancas_novas_pkey|auditoria_sem_lugar|webhooks_proxima|webhooks_rapidos|exportacoes_due|eventos_com_problema|eventos_entre_partes)|_(?!${MES})\\d{6}$`,
  );
  /** An operator sees all open events. */
  const WHOLE_OF_OPERATOR = new RegExp(`${WHOLE.source}|^eventos_abertos`);
  const isOfOperator = (text: string): boolean => /temProblema|urgencia/.test(text);

  before(async () => {
    const { a, alfa } = await twoProcesses();
    recordedTenant = alfa;
    const store = createStore(recorded(a.pool, statements));
    const nota = await issued(store, alfa);
    const first = await registered(store, alfa, novo(nota, CANCELAMENTO));
    await store.eventos.register(alfa, novo(nota, CANCELAMENTO));
    await claimAll(store, alfa);
    const { token } = await store.notas.claim(alfa, NOW, LEASE, 10);
    await store.notas.settle(alfa, token, NOW, [outcome(nota, 'autorizacao')]);
    await store.listDue(NOW, 1);
    await sendAll(store, alfa, 'conclusao');
    await store.eventos.settle(alfa, token, NOW, [settlement(first.id, 'conclusao')]);
    await store.eventos.move(alfa, first.id, 'dispensa', NOW, undefined);
    await store.eventos.findNota(alfa, { chave: first.chave_acesso });
    await store.eventos.findNota(alfa, { protocolo: first.numero_protocolo });
    await store.eventos.listOnNotas(alfa, [nota]);
    await eventosOf(store, alfa, nota, { codigo: CONFIRMACAO, sequencial: 1 });
    await store.eventos.findById(alfa, first.id);
    await store.eventos.readDocuments(alfa, first.id);
    await store.eventos.listTrail(alfa, first);
    await store.eventos.readXml(alfa, [first]);
    await store.eventos.count(alfa, { pendente: NOW, aguardando: NOW });
    const stuck = { pendente: NOW, aguardando: NOW };
    for (const filter of [{}, { nota }, { estado: 'rejeitado', codigo: 'E1310' }, { entrePartes: true }] as const) {
      await store.eventos.countProblemas(alfa, stuck, filter);
      await store.eventos.listProblemas(alfa, stuck, filter, { from: 0, max: 50 });
      await store.eventos.archive(alfa, filter, 1, NOW, { quem: 'fiscal', via: 'comando' });
    }
    for (const text of statements.keys()) if (!/evento|x \(chave\)/.test(text)) statements.delete(text);
  });

  test('were all seen', () => assert.ok(statements.size >= 20, String(statements.size)));

  test('scan nothing, and look up by whole keys, on empty tables and on full ones', async () => {
    const pool = await freshPool();
    await noneScans(pool, statements, [recordedTenant, 'alfa']);
    const store = createStore(pool);
    await openTenants(store, ['alfa', 'beta']);
    await ensureMeses(pool, [MES]);
    await pool.query(`insert into notas (tenant, mes, id, chave_acesso, numero_protocolo, id_dps, estado, numero_dps, serie_dps,
        numero_dps_nacional, data_emissao, data_competencia, prestador_cpf_cnpj, prestador_razao_social, valor_servico)
      select case when n % 10 = 0 then 'beta' else 'alfa' end, ${MES}, n, lpad(n::text, 36, '0') || '26110000000000', '${MES}' || n,
        'D' || n, 'autorizada', n, '1', n::text, now(), '2026-11-01', '${CNPJ}', 'Nome', 10 from generate_series(1, 10000) n`);
    await pool.query(`insert into documentos select tenant, mes, id, 'x', 'y' from notas`);
    await pool.query(`insert into eventos (tenant, id, mes, nota, mes_nota, ordem, codigo_tipo_evento, numero_sequencial, cancela,
        estado, aberto, desde, criado_em, autor, campos)
      select tenant, 20000 + 2 * id + s, mes, id, mes, s, '203202', s, false,
        case when id % 50 = 0 then 'pendente' else 'processado' end, id % 50 = 0, now(), now(), '${CNPJ}', '{}'
      from notas cross join generate_series(1, 2) s`);
    await pool.query(`insert into fila select tenant, 'evento', id, mes, now() from eventos where aberto`);
    await pool.query(`insert into fila select tenant, 'nota', id, mes, now() from notas`);
    await pool.query('insert into substituicoes select tenant, chave_acesso, id + 1, mes from notas');
    await pool.query(`insert into documentos_eventos select tenant, mes, id, 'x', null, 'y' from eventos`);
    await pool.query(
      `insert into trilha_eventos select tenant, mes, id, 1, now(), null, 'registro', 'pendente' from eventos`,
    );
    await noneScans(pool, statements, [recordedTenant, 'alfa']);
    await pool.query('analyze');
    for (const tenant of ['alfa', 'beta', 'gama']) {
      await noneScans(pool, statements, [recordedTenant, tenant]);
      const { true: ofOperator, false: others } = Object.groupBy(
        statements,
        ([text]) => `${isOfOperator(text)}` as const,
      );
      await allLookUp(pool, new Map(ofOperator), [recordedTenant, tenant], WHOLE_OF_OPERATOR);
      await allLookUp(pool, new Map(others), [recordedTenant, tenant], WHOLE);
    }
  });
});

await sharedProcesses();
/** The last check covers the rows of all tests. It runs before the processes above are closed. */
onEnd(async () => {
  const [{ pool }] = await sharedProcesses();
  const moves = await rows<{ de: EventoEstado | null; gatilho: EventoTrigger; para: EventoEstado }>(
    pool,
    'select distinct de, gatilho, para from trilha_eventos',
  );
  for (const { de, gatilho, para } of moves) {
    assert.equal(eventoMove(de ?? undefined, gatilho)?.to, para, `${de} ${gatilho} ${para}`);
  }
  const seen = new Set(moves.map(({ de, gatilho }) => `${de ?? undefined} ${gatilho}`));
  assert.deepEqual(
    EVENTO_MOVES.filter(({ from, on }) => !seen.has(`${from} ${on}`)),
    [],
    'every move of the machine was made',
  );
  const untold = await rows(
    pool,
    `select e.id from eventos e where e.id < ${RIVALS} and e.movimentos <> (select count(*) from trilha_eventos t
      where t.tenant = e.tenant and t.evento = e.id)`,
  );
  assert.deepEqual(untold, [], 'every move is in the trail of its event');
  const torn = await rows(
    pool,
    `select e.id from eventos e full join (select * from fila where tipo = 'evento') f using (tenant, id)
     where e.id < ${RIVALS} and e.aberto <> (f.id is not null) or e.id is null or f.mes <> e.mes`,
  );
  assert.deepEqual(torn, [], 'what is open is in the queue, and nothing else is');
});
