/**
 * Many concurrent events on one note, over HTTP, through two servers on one database, like two processes. Sequences have no gaps, clients
 * without a number are told to retry, and the authority's verdicts follow.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRestDoor } from '../../src/doors/rest/door.ts';
import { type EVENTO_ESTADOS, eventoRests } from '../../src/fiscal/evento.ts';
import { createStore } from '../../src/wiring/store.ts';
import { startWorker } from '../../src/wiring/worker.ts';
import { INTERMEDIARIO } from '../casos/caso.ts';
import { onEnd } from '../support/cleanup.ts';
import { pidOf, untilAwaited } from '../support/database.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from '../support/eventos.ts';
import type { Answer } from '../support/http.ts';
import { pace } from '../support/pace.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const TENANT = 'integracao';
const AT_ONCE = 100;

const { address, world, pool, clock } = await startTestService({ worker: false });
const door = await createRestDoor(
  { ...world, store: createStore(pool) },
  { host: '127.0.0.1', port: 0, trustProxy: false, accessLog: false },
);
onEnd(() => door.close());
const [one, other] = [balcao(address), balcao(door.address)];
const work = bancada(world);

async function authorised(): Promise<NotaEmitida> {
  const nota = await one.issue(INTERMEDIARIO);
  await work.notas();
  return nota;
}

/** All of them at once, alternating between both servers and both addresses. */
function registerAll(nota: NotaEmitida, eventos: readonly object[]): Promise<readonly Answer[]> {
  return Promise.all(
    eventos.map((evento, place) =>
      (place % 2 === 0 ? one : other).register(nota, evento, {}, place % 4 < 2 ? 'chave' : 'protocolo'),
    ),
  );
}

/** The client is told to retry, and when. */
function assertComeAgain({ status, headers, body }: Answer): void {
  assert.equal(status, 409, JSON.stringify(body));
  assert.equal(headers.get('retry-after'), '1');
  assert.equal(body.codigo_erro, 'E703');
  assert.match(body.mensagem, /envie de novo\.$/);
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, place) => place + 1);

/** Sequences of the accepted answers, in order. */
function sequencesOf(answers: readonly Answer[], tipo?: string): readonly number[] {
  return answers
    .filter(({ status, body }) => status === 201 && (tipo === undefined || body.tipo_evento === tipo))
    .map(({ body }) => body.numero_sequencial)
    .toSorted((a, b) => a - b);
}

type Shown = {
  readonly tipo_evento: string;
  readonly numero_sequencial: number;
  readonly status_evento: keyof typeof EVENTO_ESTADOS;
  readonly codigo_retorno: string | null;
};

async function eventosOf(nota: NotaEmitida): Promise<readonly Shown[]> {
  return (await one.read(nota)).body.eventos;
}

describe(`${AT_ONCE} registrations on one note at once`, () => {
  test('of one type: 1 to n without a gap or 409; sent again, 1 to 100; the authority takes one', async () => {
    const nota = await authorised();
    const evento = { tipo_evento: 'confirmacao_tomador' };
    let answers = await registerAll(nota, Array<object>(AT_ONCE).fill(evento));
    let taken = sequencesOf(answers);
    for (;;) {
      assert.deepEqual(taken, upTo(taken.length), 'dense');
      const again = answers.filter(({ status }) => status !== 201);
      for (const answer of again) assertComeAgain(answer);
      if (again.length === 0) break;
      answers = await registerAll(nota, Array<object>(again.length).fill(evento));
      taken = [...taken, ...sequencesOf(answers)].toSorted((a, b) => a - b);
    }
    assert.equal(taken.length, AT_ONCE);
    const { body } = await one.read(nota, '/confirmacao_tomador');
    assert.equal(body.total, AT_ONCE);
    assert.deepEqual(
      body.eventos.map(({ numero_sequencial }: Shown) => numero_sequencial),
      upTo(AT_ONCE),
    );
    assert.equal(new Set(body.eventos.map(({ id_evento }: { id_evento: number }) => id_evento)).size, AT_ONCE);

    await work.eventos();
    const [first, ...rest] = (await one.read(nota, '/confirmacao_tomador')).body.eventos as readonly Shown[];
    assert.equal(first!.status_evento, 'processado', 'they are judged in the order of their registration');
    for (const { status_evento, codigo_retorno, numero_sequencial } of rest) {
      // Annex II, matrix: 203202 after 203202 is refused, with E0861.
      assert.deepEqual([status_evento, codigo_retorno], ['rejeitado', 'E0861'], String(numero_sequencial));
    }
    const late = await one.register(nota, evento);
    assert.deepEqual([late.status, late.body.codigo_erro], [422, 'E0861'], 'and now at the door');
  });

  test('cancellations: one is taken, all others are told that it is under way, and the note is cancelled once', async () => {
    const nota = await authorised();
    const answers = await registerAll(nota, Array<object>(AT_ONCE).fill(CANCELAMENTO));
    const taken = answers.filter(({ status }) => status === 201);
    assert.equal(taken.length, 1);
    for (const { status, body } of answers.filter((answer) => answer !== taken[0])) {
      assert.deepEqual([status, body.codigo_erro], [422, 'E302'], JSON.stringify(body));
      assert.match(body.mensagem, /cancelamento número 1, pendente\./);
    }
    await work.eventos();
    assert.deepEqual(
      (await eventosOf(nota)).map(({ status_evento, numero_sequencial }) => [status_evento, numero_sequencial]),
      [['processado', 1]],
    );
    const { body } = await one.nota(nota);
    assert.deepEqual([body.nota.status, body.protocolo.status], ['cancelada', 'cancelado']);
    const { rows } = await pool.query<{ moves: number }>(
      `select count(*)::int as moves from trilha_notas t join notas n on n.tenant = t.tenant and n.id = t.nota
       where n.tenant = $1 and n.chave_acesso = $2 and t.para = 'cancelada'`,
      [TENANT, nota.chave_acesso],
    );
    assert.equal(rows[0]!.moves, 1);
  });

  test('of every type, while the worker works: dense in each, one cancellation at a time, and all come to rest', async () => {
    const rejeicao = { codigo_motivo_rejeicao: '3' };
    const kinds: readonly (object & { readonly tipo_evento: string })[] = [
      { tipo_evento: 'confirmacao_prestador' },
      { tipo_evento: 'confirmacao_tomador' },
      { tipo_evento: 'confirmacao_intermediario' },
      { tipo_evento: 'rejeicao_prestador', ...rejeicao },
      { tipo_evento: 'rejeicao_tomador', ...rejeicao },
      { tipo_evento: 'rejeicao_intermediario', ...rejeicao },
      { ...CANCELAMENTO, tipo_evento: 'solicitacao_analise_fiscal_para_cancelamento' },
      CANCELAMENTO,
    ];
    const nota = await authorised();
    const workers = [startWorker(world), startWorker({ ...world, store: createStore(pool) })];
    try {
      const answers = await registerAll(
        nota,
        upTo(AT_ONCE).map((number) => kinds[number % kinds.length]!),
      );
      for (const { tipo_evento } of kinds) {
        const sequences = sequencesOf(answers, tipo_evento);
        assert.deepEqual(sequences, upTo(sequences.length), tipo_evento);
      }
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        if (answer.status === 409) assertComeAgain(answer);
        else assert.match(`${answer.status} ${answer.body.codigo_erro}`, /^422 (?:E302|E08[46]\d|E1833)$/);
      }
      await until(async () => {
        if ((await eventosOf(nota)).every(({ status_evento }) => eventoRests(status_evento, true))) return true;
        // The clock advances no faster than the machine: a claim must last longer than its work.
        clock.now += 50;
        await pace(50);
        return undefined;
      }, 'every event rests');
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()));
    }
    const eventos = await eventosOf(nota);
    const processed = eventos.filter(({ status_evento }) => status_evento === 'processado');
    const names = processed.map(({ tipo_evento }) => tipo_evento);
    assert.equal(new Set(names).size, names.length, 'the authority takes each kind once');
    for (const { status_evento, codigo_retorno } of eventos.filter((evento) => !processed.includes(evento))) {
      assert.match(`${status_evento} ${codigo_retorno}`, /^rejeitado (?:E08[46]\d|E1833)$/);
    }
    const { body } = await one.nota(nota);
    assert.equal(body.nota.status, names.includes('cancelamento') ? 'cancelada' : 'autorizada');
  });
});

test('409 with Retry-After: the number was taken twice by others; sent again it is registered', {
  timeout: 600_000,
}, async () => {
  const nota = await authorised();
  const { rows } = await pool.query<{ id: string; mes: number }>(
    'select id, mes from notas where tenant = $1 and chave_acesso = $2',
    [TENANT, nota.chave_acesso],
  );
  /** A writer that does not take the note's lock: only the constraint prevents a conflict. */
  const rival = async (numero: number) => {
    const client = await pool.connect();
    await client.query('begin');
    await client.query(
      `insert into eventos (tenant, id, mes, nota, mes_nota, ordem, codigo_tipo_evento, numero_sequencial, cancela, estado, aberto,
         desde, criado_em, autor, campos)
       values ($1, $2, $6, $3, $6, $4, '203202', $5, false, 'pendente', true, now(), now(), '52998224725', '{}')`,
      [TENANT, 900_000 + numero, rows[0]!.id, 1_000 + numero, numero, rows[0]!.mes],
    );
    const pid = await pidOf(client);
    const commit = async (): Promise<void> => {
      await client.query('commit');
      client.release();
    };
    return { pid, commit };
  };
  const [first, second] = [await rival(1), await rival(2)];
  const registering = one.register(nota, { tipo_evento: 'confirmacao_tomador' });
  await untilAwaited(pool, first.pid);
  await first.commit();
  await untilAwaited(pool, second.pid);
  await second.commit();
  assertComeAgain(await registering);
  const again = await one.register(nota, { tipo_evento: 'confirmacao_tomador' });
  assert.deepEqual([again.status, again.body.numero_sequencial], [201, 3]);
});
