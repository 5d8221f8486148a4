/**
 * Events that the environment leaves in doubt, with the real store and a scripted environment. `simulation.test.ts` has the whole life of
 * events under all faults at once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import { tenantsDue } from '../../../test/support/due.ts';
import { asSandbox } from '../../../test/support/municipio.ts';
import { noAvisos } from '../../../test/support/no-avisos.ts';
import { NOON } from '../../../test/support/service.ts';
import { nobodyTrusted } from '../../../test/support/trust.ts';
import type { Adn, AdnAnswer, AdnKnowledge, EventoAnswer } from '../../adn/adn.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { Db } from '../../base/pg/open.ts';
import type { World } from '../../base/world/world.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { createStore } from '../../wiring/store.ts';
import { deliverNotas } from '../notas/deliver.job.ts';
import { issueNota } from '../notas/issue.ts';
import { notaByChave } from '../notas/queries.ts';
import { deliverEventos } from './deliver.job.ts';
import { type EventoPublico, eventosOfNota } from './queries.ts';
import { registerEvento } from './register.ts';

const ACCEPTED = { kind: 'accepted', nsu: undefined } as const;
const ABSENT = { kind: 'absent' } as const;
const LOST = { kind: 'unknown', why: 'tempo esgotado' } as const;
const UNANSWERED = { kind: 'unavailable', why: 'a consulta não chegou ao fim' } as const;
const THERE: EventoAnswer = { kind: 'already_there', erros: [{ codigo: 'E1805', descricao: 'Evento já existe' }] };

let pool: Promise<Db> | undefined;
let opened = 0;

/** One municipality with one note and its cancellation, and the environment's answers. */
class Case {
  readonly clock = { now: NOON };
  nota: AdnAnswer = ACCEPTED;
  evento: EventoAnswer = ACCEPTED;
  known: AdnKnowledge = ABSENT;
  /** Whether the whole environment is out of reach after something was sent. */
  opensCircuit = false;
  sent = 0;
  chave = '';
  private isOpen = false;
  private random = 0;
  readonly world: World;
  readonly municipio: Municipio;

  private constructor(db: Db, tenant: string) {
    this.municipio = asSandbox(tenant);
    const adn: Adn = {
      wantsDocuments: true,
      batchMax: 50,
      searchMax: 0,
      share: async (_tenant, documents) => new Map(documents.map(({ chave_acesso }) => [chave_acesso, this.nota])),
      find: async (_tenant, notas) => new Map(notas.map(({ chave_acesso }) => [chave_acesso, ABSENT])),
      shareEventos: async (_tenant, eventos) => {
        this.sent += 1;
        this.isOpen = this.opensCircuit;
        return new Map(eventos.map(({ id }) => [id, this.evento]));
      },
      findEventos: async (_tenant, eventos) => new Map(eventos.map(({ id }) => [id, this.known])),
      pauseMs: () => (this.isOpen ? 1_000 : 0),
    };
    this.world = {
      store: createStore(db),
      transmission: async () => ({ adn, signer: undefined }),
      trust: () => nobodyTrusted,
      now: () => this.clock.now,
      randomDigits: (count) => {
        this.random += 1;
        return String(this.random).padStart(count, '0');
      },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      postAviso: noAvisos,
      wake: () => undefined,
    };
  }

  static async open(): Promise<Case> {
    pool ??= freshPool();
    opened += 1;
    const one = new Case(await pool, `alfa${opened}`);
    await one.world.store.municipios.create(one.municipio, one.clock.now);
    const body = Buffer.from(exampleXml({ serie: '1', nDPS: '1' }));
    const issued = await issueNota(one.world, one.municipio, { kind: 'xml', body });
    assert.ok('chave_acesso' in issued);
    one.chave = issued.chave_acesso;
    return one;
  }

  /** An authorised note with a registered cancellation. */
  static async withCancelamento(): Promise<Case> {
    const one = await Case.open();
    await deliverNotas(one.world, one.municipio);
    const body = Buffer.from(
      JSON.stringify({
        tipo_evento: 'cancelamento',
        codigo_motivo_cancelamento: '1',
        descricao_motivo_cancelamento: 'Valor do serviço informado com erro',
      }),
    );
    const sent = { kind: 'json', body, assinatura: undefined, simular: undefined } as const;
    const registered = await registerEvento(one.world, one.municipio, { chave: one.chave }, sent);
    assert.ok(typeof registered === 'object' && 'evento' in registered, JSON.stringify(registered));
    return one;
  }

  /** The event, after a delivery at its due moment. */
  async delivered(): Promise<EventoPublico> {
    await deliverEventos(this.world, this.municipio);
    this.clock.now += 60 * 60_000;
    this.isOpen = false;
    const [evento] = (await eventosOfNota(this.world, this.municipio, this.chave))!.eventos;
    return evento!;
  }
}

test('E1805 whose question is not answered is asked about again, and is no failure of the event', async () => {
  const one = await Case.withCancelamento();
  one.evento = THERE;
  one.known = UNANSWERED;
  for (let round = 0; round < 6; round += 1) {
    const { status_evento, reprocessamentos_count } = await one.delivered();
    assert.deepEqual([status_evento, reprocessamentos_count], ['enviado', 0]);
  }
  assert.equal(one.sent, 1, 'what may be there is not sent again before somebody has said that it is not');
  one.known = { kind: 'known', nsu: '7', xml: undefined };
  const { status_evento, protocolo } = await one.delivered();
  assert.deepEqual([status_evento, protocolo], ['processado', '7']);
});

test('E1805 of an event that the environment does not show is a failure, and counts', async () => {
  const one = await Case.withCancelamento();
  one.evento = THERE;
  const seen = [];
  for (let round = 0; round < 5; round += 1) {
    const { status_evento, reprocessamentos_count, acao_sugerida } = await one.delivered();
    seen.push(`${status_evento} ${reprocessamentos_count} ${acao_sugerida}`);
  }
  assert.deepEqual(seen, [
    'erro 0 retentar',
    'erro 1 retentar',
    'erro 2 retentar',
    'erro 3 consultar_suporte',
    'erro 3 consultar_suporte',
  ]);
});

test('an answer that is lost while nobody can be reached counts for no event (D-52)', async () => {
  const one = await Case.withCancelamento();
  one.evento = LOST;
  one.opensCircuit = true;
  for (let round = 0; round < 6; round += 1) {
    const { status_evento, reprocessamentos_count } = await one.delivered();
    assert.deepEqual([status_evento, reprocessamentos_count], ['enviado', 0]);
  }
  one.opensCircuit = false;
  assert.equal((await one.delivered()).status_evento, 'erro', 'of the event alone it counts');
  one.evento = ACCEPTED;
  const { status_evento, reprocessamentos_count } = await one.delivered();
  assert.deepEqual([status_evento, reprocessamentos_count], ['processado', 1]);
});

test('the three retries outlast trouble of a few minutes: after a second, half a minute, five minutes', async () => {
  const one = await Case.withCancelamento();
  one.evento = LOST;
  const seconds = [];
  for (let retry = 0; retry < 3; retry += 1) {
    await deliverEventos(one.world, one.municipio);
    const began = one.clock.now;
    while (!(await tenantsDue(one.world.store, 'eventos', one.clock.now)).includes(one.municipio.tenant)) {
      one.clock.now += 250;
    }
    seconds.push((one.clock.now - began) / 1_000);
  }
  for (const [retry, [least, most]] of [
    [0.75, 1],
    [22.5, 30],
    [225, 300],
  ].entries()) {
    assert.ok(seconds[retry]! >= least! && seconds[retry]! <= most!, seconds.join(' '));
  }
  await deliverEventos(one.world, one.municipio);
  const [evento] = (await eventosOfNota(one.world, one.municipio, one.chave))!.eventos;
  assert.deepEqual([evento!.status_evento, evento!.reprocessamentos_count], ['erro', 3]);
});

test('a refusal of a note with a character that no database takes is written down without it', async () => {
  const one = await Case.open();
  one.nota = { kind: 'refused', erros: [{ codigo: 'E1234', descricao: 'cTribNac \0 desconhecido' }] };
  await deliverNotas(one.world, one.municipio);
  const reading = await notaByChave(one.world, one.municipio, one.chave);
  assert.equal(reading?.protocolo.status, 'rejeitado');
  assert.equal(reading.protocolo.mensagem_retorno, 'E1234: cTribNac  desconhecido');
});
