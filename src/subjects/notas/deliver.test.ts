/**
 * The delivery of notas alone: joint claims and searches, notas that wait for another, and messages for operators and integrators. The
 * store answers as the test says; `test/deliver.test.ts` uses the real one.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AdnKnowledge, NotaAnswer } from '../../adn/adn.ts';
import type { ClaimedNota, NotaSettlement } from '../../base/book/claim-notas.ts';
import type { Ref } from '../../base/book/fila.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { Taking } from '../../base/delivery/deliver.ts';
import { StoreUnavailable } from '../../base/pg/unavailable.ts';
import type { World } from '../../base/world/world.ts';
import { MINUTE_MS } from '../../fiscal/moment.ts';
import { deliverNotas } from './deliver.job.ts';

const NOW = Date.parse('2026-11-21T15:00:00Z');

type Scene = {
  readonly notas: readonly ClaimedNota[];
  /** Announced notas of the tenant, which no worker holds. */
  readonly anunciadas: readonly ClaimedNota[];
  readonly batchMax: number;
  readonly searchMax: number;
  /** State of each nota that is replaced, by key. */
  readonly substituidas: Readonly<Record<string, 'emitida' | 'autorizada' | 'cancelada' | 'recusada'>>;
  readonly known: Readonly<Record<string, AdnKnowledge>>;
  readonly answers: Readonly<Record<string, NotaAnswer>>;
  readonly pauseMs: number;
  readonly problem: string | undefined;
  /** The database throws this error when the problem is recorded. */
  readonly trouble: Error | undefined;
};

const SCENE: Scene = {
  notas: [],
  anunciadas: [],
  batchMax: 2,
  searchMax: 0,
  substituidas: {},
  known: {},
  answers: {},
  pauseMs: 0,
  problem: undefined,
  trouble: undefined,
};

function nota(id: string, more: Partial<ClaimedNota> = {}): ClaimedNota {
  return {
    id,
    mes: 202611,
    chave_acesso: `chave-${id}`,
    id_dps: `DPS${id}`,
    found: 'emitida',
    tentativas: 1,
    nsu_antes: '3',
    nsu_agora: '9',
    simular: null,
    substitui: null,
    data_emissao: new Date(NOW - MINUTE_MS),
    ...more,
  };
}

async function run(changes: Partial<Scene>, taking: Taking = {}) {
  const scene = { ...SCENE, ...changes };
  const steps: string[] = [];
  const problems: (readonly unknown[])[] = [];
  const asked: object[] = [];
  const sent: object[] = [];
  const logged: string[] = [];
  let settled: readonly NotaSettlement[] = [];
  const byKey = <One>(all: Readonly<Record<string, One>>) =>
    new Map(Object.entries(all).map(([id, one]) => [`chave-${id}`, one]));
  const adn = {
    wantsDocuments: true,
    batchMax: scene.batchMax,
    searchMax: scene.searchMax,
    pauseMs: () => scene.pauseMs,
    find: async (tenant: string, all: readonly object[]) => {
      steps.push(`find ${tenant}`);
      asked.push(...all);
      return byKey(scene.known);
    },
    share: async (tenant: string, all: readonly { readonly xml?: Uint8Array }[]) => {
      steps.push(`share ${tenant}`);
      sent.push(...all.map(({ xml, ...more }) => ({ ...more, xml: Buffer.from(xml!).toString() })));
      return byKey(scene.answers);
    },
  };
  const notas = {
    claim: async (tenant: string, now: number, until: number, max: number, token: string | undefined) => {
      steps.push(`claim ${tenant} ${now - NOW} ${until - NOW} ${max} ${token}`);
      return { token: 'ficha', notas: scene.notas };
    },
    claimAnunciadas: async (tenant: string, token: string, now: number, until: number, max: number) => {
      steps.push(`claimAnunciadas ${tenant} ${token} ${now - NOW} ${until - NOW} ${max}`);
      return scene.anunciadas;
    },
    findSubstituidas: async (tenant: string, chaves: readonly string[]) => {
      steps.push(`findSubstituidas ${tenant} ${chaves.join(' ')}`);
      return new Map(Object.entries(scene.substituidas).map(([chave, estado]) => [chave, { estado, por: null }]));
    },
    readNfse: async (tenant: string, some: readonly Ref[]) => {
      steps.push(`read ${tenant} ${some.map(({ id }) => id).join(' ')}`);
      return new Map(some.map(({ id }) => [id, `<NFSe>${id}</NFSe>`]));
    },
    settle: async (tenant: string, token: string, now: number, settlements: readonly NotaSettlement[]) => {
      steps.push(`settle ${tenant} ${token} ${now - NOW}`);
      settled = settlements;
      return settlements.length;
    },
  };
  const noteProblem = async (...told: readonly unknown[]): Promise<void> => {
    problems.push(told);
    if (scene.trouble !== undefined) throw scene.trouble;
  };
  const world = {
    store: { notas, municipios: { noteProblem } },
    transmission: async () => (scene.problem === undefined ? { adn, signer: undefined } : { problem: scene.problem }),
    now: () => NOW,
    randomDigits: (count: number) => '0'.repeat(count),
    log: {
      warn: (about: object, message: string) => void logged.push(`warn ${JSON.stringify(about)} ${message}`),
      error: (about: object, message: string) => void logged.push(`error ${JSON.stringify(about)} ${message}`),
    },
  } as unknown as World;
  const delivered = await deliverNotas(world, { tenant: 'alfa' } as Municipio, { token: 'minha', ...taking });
  const outcomes = settled.map(({ id, move, dueAt, mensagem_retorno }) => ({
    id,
    on: move.on,
    inMs: dueAt && dueAt - NOW,
    ...(mensagem_retorno === undefined ? {} : { mensagem_retorno }),
  }));
  return { delivered, steps, problems, asked, sent, logged, outcomes };
}

describe('what is claimed', () => {
  test('is as much as the ADN takes, for a minute; with a full claim there may be more', async () => {
    const one = await run({ notas: [nota('1')] });
    assert.equal(one.steps[0], 'claim alfa 0 60000 2 minha');
    assert.deepEqual(one.delivered, { delivered: 1, isFull: false, pauseMs: 0 });
    const two = await run({ notas: [nota('1'), nota('2')] });
    assert.deepEqual(two.delivered, { delivered: 2, isFull: true, pauseMs: 0 });
    assert.deepEqual(two.steps.slice(1), ['read alfa 1 2', 'share alfa', 'settle alfa ficha 0']);
  });

  test('is beside what was announced as it was stored no more than the rest of what the ADN takes', async () => {
    const announced = (...ids: readonly string[]) => [
      { token: 'anunciada', at: NOW, nsu: '9', notas: ids.map((id) => nota(id)) },
    ];
    const rest = await run({ notas: [nota('2')] }, { announced: announced('1') });
    assert.equal(rest.steps[0], 'claim alfa 0 60000 1 minha');
    assert.deepEqual(rest.steps.slice(1), ['read alfa 1 2', 'share alfa', 'settle alfa ficha,anunciada 0']);
    assert.deepEqual(rest.delivered, { delivered: 2, isFull: true, pauseMs: 0 });
    // The announced notas fill the batch: no other is claimed, and more may be due.
    const none = await run({ notas: [nota('3')] }, { announced: announced('1', '2') });
    assert.deepEqual(none.steps, ['read alfa 1 2', 'share alfa', 'settle alfa anunciada 0']);
    assert.deepEqual(none.delivered, { delivered: 2, isFull: true, pauseMs: 0 });
    const alone = await run({}, { announced: announced('1'), isDue: false });
    assert.deepEqual(alone.steps, ['read alfa 1', 'share alfa', 'settle alfa anunciada 0']);
    assert.deepEqual(alone.delivered, { delivered: 1, isFull: false, pauseMs: 0 });
  });

  test('with one in doubt are the others in doubt too, as many as are looked for at once, for a minute', async () => {
    const doubtful = nota('1', { found: 'transmitida' });
    const others = [nota('2', { found: 'transmitida' }), nota('1', { found: 'transmitida', tentativas: 2 })];
    const { steps, asked, delivered } = await run({
      notas: [doubtful, nota('3')],
      batchMax: 5,
      searchMax: 2,
      anunciadas: others,
    });
    assert.equal(steps[1], 'claimAnunciadas alfa ficha 0 60000 1');
    assert.deepEqual(
      asked.map((one) => 'chave_acesso' in one && one.chave_acesso),
      ['chave-2', 'chave-1'],
    );
    assert.deepEqual(delivered, { delivered: 3, isFull: true, pauseMs: 0, isDoubtful: true });
  });

  test('no other is looked for where none is in doubt, or the claim has as many as are looked for at once', async () => {
    const inDoubt = nota('1', { found: 'transmitida' });
    const cases = [
      { notas: [nota('1')], searchMax: 8 },
      { notas: [inDoubt], searchMax: 1 },
      { notas: [inDoubt], searchMax: 0 },
    ];
    for (const scene of cases) {
      const { steps } = await run({ ...scene, anunciadas: [nota('2')] });
      assert.ok(!steps.some((step) => step.startsWith('claimAnunciadas')), JSON.stringify(scene));
    }
  });
});

describe('what the ADN is told of a nota', () => {
  const SIMULAR = { simular: 'rejeicao', data_emissao: new Date(NOW - 7) };

  test('is its document, and between which reception numbers it is; nothing is read of what it does not replace', async () => {
    const { steps, asked, sent } = await run({ notas: [nota('1', { found: 'transmitida' }), nota('2')] });
    assert.deepEqual(asked, [{ chave_acesso: 'chave-1', substituida: undefined, nsu_antes: '3', nsu_agora: '9' }]);
    assert.deepEqual(sent, [
      { chave_acesso: 'chave-1', substituida: undefined, xml: '<NFSe>1</NFSe>' },
      { chave_acesso: 'chave-2', substituida: undefined, xml: '<NFSe>2</NFSe>' },
    ]);
    assert.ok(!steps.some((step) => step.startsWith('findSubstituidas')));
  });

  test('is what the sandbox was asked to play with it, and since when (D-60)', async () => {
    const { asked, sent } = await run({ notas: [nota('1', { found: 'transmitida', ...SIMULAR })] });
    for (const [told] of [asked, sent]) {
      const { simular, criado } = told as { simular?: string; criado?: number };
      assert.deepEqual([simular, criado], ['rejeicao', NOW - 7]);
    }
  });
});

describe('a nota that replaces another', () => {
  const replacing = nota('2', { substitui: 'antiga' });

  for (const [estado, isSent] of [
    ['emitida', false],
    ['autorizada', false],
    ['cancelada', true],
    ['recusada', true],
  ] as const) {
    test(`which is ${estado} ${isSent ? 'is sent, and what became of that one told' : 'waits, and says for what'}`, async () => {
      const { steps, sent, outcomes } = await run({
        notas: [replacing],
        substituidas: { antiga: estado },
        answers: { 2: { kind: 'accepted', nsu: undefined } },
      });
      assert.equal(steps[1], 'findSubstituidas alfa antiga');
      const substituida = { chave_acesso: 'antiga', estado, por: null };
      assert.deepEqual(sent, isSent ? [{ chave_acesso: 'chave-2', substituida, xml: '<NFSe>2</NFSe>' }] : []);
      const mensagem_retorno =
        'Esta nota substitui outra e espera pelo evento cancelamento_por_substituicao dela, depois do qual segue sozinha.';
      assert.deepEqual(outcomes, [
        isSent
          ? { id: '2', on: 'autorizacao', inMs: undefined }
          : { id: '2', on: 'espera', inMs: 750, mensagem_retorno },
      ]);
    });
  }

  test('that is none of ours is sent', async () => {
    const { sent } = await run({ notas: [replacing] });
    assert.equal(sent.length, 1);
  });

  test('and comes too early waits with what the ADN said, a quarter of an hour at most', async () => {
    const early: NotaAnswer = { kind: 'too_early', erros: [{ codigo: 'E1308', descricao: 'Falta o evento' }] };
    const { outcomes } = await run({ notas: [nota('2', { tentativas: 15 })], answers: { 2: early } });
    assert.deepEqual(outcomes, [
      {
        id: '2',
        on: 'espera',
        inMs: 0.75 * 15 * MINUTE_MS,
        mensagem_retorno:
          'Esta nota substitui outra e espera pelo evento cancelamento_por_substituicao dela, depois do qual segue sozinha. E1308: Falta o evento',
      },
    ]);
  });
});

describe('what becomes of a nota', () => {
  const outcomeAfter = async (answer: NotaAnswer | undefined) =>
    (await run({ notas: [nota('1')], answers: answer === undefined ? {} : { 1: answer } })).outcomes[0];

  test('follows from the answer', async () => {
    const one = { id: '1', inMs: undefined };
    assert.deepEqual(await outcomeAfter({ kind: 'accepted', nsu: '5' }), { ...one, on: 'autorizacao' });
    const erros = [
      { codigo: 'E1234', descricao: 'Código não administrado', complemento: 'cTribNac 010101' },
      { codigo: 'E0999', descricao: 'Outro motivo' },
    ];
    const mensagem_retorno = 'E1234: Código não administrado (cTribNac 010101) | E0999: Outro motivo';
    assert.deepEqual(await outcomeAfter({ kind: 'refused', erros }), { ...one, on: 'recusa', mensagem_retorno });
    const waits = { ...one, on: 'adiamento', inMs: 750 };
    assert.deepEqual(await outcomeAfter({ kind: 'unknown', why: 'x' }), waits);
    assert.deepEqual(await outcomeAfter(undefined), waits);
    assert.deepEqual(await outcomeAfter({ kind: 'misconfigured', why: 'x' }), { ...waits, inMs: MINUTE_MS });
  });

  test('where it was surely not taken: tried again when the environment said, and not in the past', async () => {
    const unavailable = { kind: 'unavailable', why: 'x' } as const;
    const waits = { id: '1', on: 'adiamento' };
    assert.deepEqual(await outcomeAfter(unavailable), { ...waits, inMs: 750 });
    assert.deepEqual(await outcomeAfter({ ...unavailable, at: NOW + 5_000 }), { ...waits, inMs: 5_000 });
    assert.deepEqual(await outcomeAfter({ ...unavailable, at: 0 }), { ...waits, inMs: 1 });
  });
});

describe('what an operator is told', () => {
  const ACCEPTED: NotaAnswer = { kind: 'accepted', nsu: undefined };
  const REFUSED: NotaAnswer = { kind: 'refused', erros: [] };
  const UNAVAILABLE: NotaAnswer = { kind: 'unavailable', why: 'conexão recusada' };
  const UNKNOWN: NotaAnswer = { kind: 'unknown', why: 'tempo esgotado' };
  const MISCONFIGURED: NotaAnswer = { kind: 'misconfigured', why: 'sem permissão' };
  const EARLY: NotaAnswer = { kind: 'too_early', erros: [] };
  const REPLACED_FIRST =
    'há notas que substituem outras, e seguem depois do evento cancelamento_por_substituicao de cada substituída';
  const CASES: readonly (readonly [problem: string | undefined, ...answers: readonly NotaAnswer[]])[] = [
    [undefined, ACCEPTED, UNAVAILABLE],
    [undefined, UNKNOWN, REFUSED],
    [undefined, EARLY, ACCEPTED],
    ['conexão recusada', UNAVAILABLE, EARLY],
    ['tempo esgotado', EARLY, UNKNOWN],
    ['sem permissão', ACCEPTED, MISCONFIGURED],
    [REPLACED_FIRST, EARLY],
    ['o ADN não disse o que foi feito das notas enviadas'],
  ];
  for (const [problem, ...answers] of CASES) {
    const kinds = answers.map(({ kind }) => kind).join(', ') || 'no answer';
    test(`after ${kinds}: ${problem ?? 'nothing'}`, async () => {
      const byId = Object.fromEntries(answers.map((answer, place) => [String(place + 1), answer]));
      const { problems } = await run({ notas: [nota('1'), nota('2')], answers: byId });
      assert.deepEqual(problems, [['alfa', problem, NOW, false]]);
    });
  }

  test('where nothing was tried says less than what was known before', async () => {
    const { problems } = await run({
      notas: [nota('2', { substitui: 'antiga' })],
      substituidas: { antiga: 'autorizada' },
    });
    assert.deepEqual(problems, [['alfa', REPLACED_FIRST, NOW, true]]);
    const away = await run({ pauseMs: 1 });
    const why = 'o ADN não está respondendo; novas tentativas são feitas de tempos em tempos';
    assert.deepEqual([away.problems, away.steps], [[['alfa', why, NOW, true]], []]);
    const lacking = await run({ problem: 'falta a chave' });
    assert.deepEqual(lacking.problems, [['alfa', 'falta a chave', NOW, false]]);
  });

  test('holds up no nota when it cannot be written, which is logged', async () => {
    const { outcomes, logged } = await run({
      notas: [nota('1')],
      answers: { 1: ACCEPTED },
      trouble: new StoreUnavailable('gone', 'the database is away'),
    });
    assert.equal(outcomes[0]!.on, 'autorizacao');
    assert.equal(logged.length, 1);
    assert.match(logged[0]!, /^warn \{"tenant":"alfa"\} .* o motivo da espera das notas não pôde ser anotado$/);
  });
});
