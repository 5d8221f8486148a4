/**
 * Delivery of one batch, with a kind of document made for this file: which questions, signatures, sendings, writes and logs happen, and in
 * which order. The existing kinds are tested with the real store. See `test/deliver.test.ts`, `src/subjects/eventos/send-evento.test.ts`
 * and the two `test/deliver-copia…`.
 */
import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Adn, AdnAnswer, AdnErro, AdnKnowledge } from '../../adn/adn.ts';
import { DPS_PROFILE } from '../../documents/signature-shape.ts';
import type { Signer } from '../../documents/signing.ts';
import type { Settlement } from '../book/claims.ts';
import type { Ref } from '../book/fila.ts';
import type { Municipio } from '../book/municipios.ts';
import type { World } from '../world/world.ts';
import { type Delivered, type DeliveryKind, deliver, type Outcome } from './deliver.ts';

const NOW = Date.parse('2026-11-21T15:00:00Z');
const MES = 202611;
/** Random parts are fixed: every wait has its least length, three quarters of the whole. */
const FIRST_WAIT_MS = 750;

const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const CERTIFICATE = Buffer.from('the certificate of the municipality');
const SIGNER = { key: keys.privateKey, certificate: { der: CERTIFICATE } } as unknown as Signer;

type Row = Ref & { readonly found: string; readonly tentativas: number };
type There = { readonly kind: 'already_there'; readonly erros: readonly AdnErro[]; readonly resposta?: string };
type Reply = AdnAnswer | There;

const ACCEPTED: Reply = { kind: 'accepted', nsu: '41' };
const UNKNOWN: Reply = { kind: 'unknown', why: 'tempo esgotado' };
const THERE: Reply = { kind: 'already_there', erros: [] };
const SHOWN: AdnKnowledge = { kind: 'known', nsu: '77', xml: undefined };

const MOVES = [
  { from: 'enviado', on: 'conclusao', to: 'pronto', due: 'never' },
  { from: 'enviado', on: 'adiamento', to: 'enviado', due: 'backoff' },
] as const;

type Scene = {
  readonly rows: readonly Row[];
  /** Answers of the environment to questions and to sendings, by id. */
  readonly known: Readonly<Record<string, AdnKnowledge>>;
  readonly replies: Readonly<Record<string, Reply>>;
  readonly foregone: Readonly<Record<string, Reply>>;
  readonly outcomes: Readonly<Record<string, Outcome<Settlement>>>;
  /** Pauses that the circuit returns, one for each call. */
  readonly pauses: readonly number[];
  readonly wantsDocuments: boolean;
  readonly signer: Signer | undefined;
  readonly isFull: boolean;
  readonly problem: string | undefined;
  /** Number of settlements that are written; all of them if undefined. */
  readonly written: number | undefined;
  /** Whether the kind has an `end` step. */
  readonly hasEnd: boolean;
};

const SCENE: Scene = {
  rows: [],
  known: {},
  replies: {},
  foregone: {},
  outcomes: {},
  pauses: [],
  wantsDocuments: true,
  signer: SIGNER,
  isFull: false,
  problem: undefined,
  written: undefined,
  hasEnd: true,
};

function row(id: string, found = 'pendente', tentativas = 1): Row {
  return { id, mes: MES, found, tentativas };
}

const keyOf = (id: string): string => `chave-${id}`;
const byKey = <One>(all: Readonly<Record<string, One>>): Map<string, One> =>
  new Map(Object.entries(all).map(([id, one]) => [keyOf(id), one]));

/** Runs a delivery and records all its steps. */
async function run(changes: Partial<Scene>) {
  const scene = { ...SCENE, ...changes };
  const pauses = [...scene.pauses];
  const steps: string[] = [];
  const logged: (readonly [level: string, about: object, message: string])[] = [];
  const shared = new Map<string, string | undefined>();
  const judged: object[] = [];
  let settlements: readonly Settlement[] = [];
  const ids = (rows: readonly Row[]): string => rows.map(({ id }) => id).join(' ');
  const log = (level: string) => (about: object, message: string) => void logged.push([level, about, message]);

  const adn = { wantsDocuments: scene.wantsDocuments, pauseMs: () => pauses.shift() ?? 0 } as unknown as Adn;
  const world = {
    transmission: async () =>
      scene.problem === undefined ? { adn, signer: scene.signer } : { problem: scene.problem },
    now: () => NOW,
    randomDigits: (count: number) => '0'.repeat(count),
    log: { info: log('info'), warn: log('warn'), error: log('error') },
  } as unknown as World;

  const end: DeliveryKind<Row, There, Settlement>['end'] = async ({ tenant }, answers, isTried) =>
    void steps.push(`end ${tenant} ${[...answers.keys()].join(' ')} ${isTried ? 'tried' : 'untried'}`);
  const kind: DeliveryKind<Row, There, Settlement> = {
    item: 'evento',
    messages: { untransmitted: 'esperam', another: 'outro', unshown: 'não mostra', lost: 'perdidas' },
    profile: DPS_PROFILE,
    partOf: (xml) => ({ canonical: xml, id: 'X1' }),
    withSignature: (xml, element) => xml + element,
    moves: MOVES,
    announced: 'enviado',
    unsent: ['pendente'],
    another: { kind: 'misconfigured', why: 'outro documento' },
    keyOf: ({ id }) => keyOf(id),
    rest: async ({ tenant }, problem) => void steps.push(`rest ${tenant}: ${problem}`),
    claim: async ({ tenant }, _adn, { token }) => {
      steps.push(`claim ${tenant} ${token}`);
      return { tokens: ['ficha'], rows: scene.rows, isFull: scene.isFull };
    },
    open: async (_on, _adn, rows) => {
      steps.push(`open ${ids(rows)}`);
      return {
        foregone: byKey(scene.foregone),
        find: async (some) => {
          steps.push(`find ${ids(some)}`);
          return byKey(scene.known);
        },
        share: async (some, xmlOf) => {
          steps.push(`share ${ids(some)}`);
          for (const one of some) shared.set(one.id, xmlOf(one) && Buffer.from(xmlOf(one)!).toString());
          return byKey(scene.replies);
        },
      };
    },
    read: async ({ tenant }, read) => {
      steps.push(`read ${tenant} ${ids(read)}`);
      return new Map(read.map(({ id }) => [id, `<x>${id}</x>`]));
    },
    outcomeOf: (_on, { id }, answer, at) => {
      judged.push({ id, answer, ...at });
      return scene.outcomes[id] ?? { on: answer?.kind === 'accepted' ? 'conclusao' : 'adiamento' };
    },
    settle: async ({ tenant }, tokens, now, all) => {
      steps.push(`settle ${tenant} ${tokens.join(' ')} ${now - NOW}`);
      settlements = all;
      return scene.written ?? all.length;
    },
    ...(scene.hasEnd ? { end } : {}),
  };
  const delivered: Delivered = await deliver(kind, world, { tenant: 'alfa' } as Municipio, { token: 'minha' });
  return { delivered, steps, logged, shared, judged, settlements };
}

describe('nothing is claimed', () => {
  test('while the files of the municipality are not in order: said, and looked at again after half a minute', async () => {
    const { delivered, steps, logged } = await run({ rows: [row('a')], problem: 'falta a chave' });
    assert.deepEqual(delivered, { delivered: 0, isFull: false, pauseMs: 30_000 });
    assert.deepEqual(steps, ['rest alfa: falta a chave']);
    assert.deepEqual(logged, [['error', { tenant: 'alfa', problem: 'falta a chave' }, 'esperam']]);
  });

  test('while the environment answers nobody (D-52), be it for a millisecond', async () => {
    const { delivered, steps, logged } = await run({ rows: [row('a')], pauses: [1] });
    assert.deepEqual(delivered, { delivered: 0, isFull: false, pauseMs: 1 });
    assert.deepEqual([steps, logged], [['rest alfa: undefined'], []]);
  });
});

test('where nothing is due nothing is opened, asked, written or told', async () => {
  for (const isFull of [false, true]) {
    const { delivered, steps } = await run({ isFull });
    assert.deepEqual(delivered, { delivered: 0, isFull, pauseMs: 0 });
    assert.deepEqual(steps, ['claim alfa minha']);
  }
});

describe('what was never announced', () => {
  test('is signed and sent without a question, and what is answered is written', async () => {
    const { delivered, steps, shared, settlements, judged, logged } = await run({
      rows: [row('a'), row('b', 'pendente', 2)],
      replies: { a: ACCEPTED, b: { kind: 'unavailable', why: 'fora' } },
      isFull: true,
    });
    assert.deepEqual(steps, [
      'claim alfa minha',
      'open a b',
      'read alfa a b',
      'share a b',
      'settle alfa ficha 0',
      'end alfa chave-a chave-b tried',
    ]);
    assert.deepEqual(delivered, { delivered: 2, isFull: true, pauseMs: 0 });
    assert.deepEqual(judged, [
      { id: 'a', answer: ACCEPTED, now: NOW, isAway: false },
      { id: 'b', answer: { kind: 'unavailable', why: 'fora' }, now: NOW, isAway: false },
    ]);
    // The stored signature is the one that was sent.
    const [, info, value] = /<SignedInfo>(.*)<\/SignedInfo><SignatureValue>(.*)<\/Sig/.exec(shared.get('a')!)!;
    const valor = Buffer.from(value!.replace(/<.*/, ''), 'base64');
    const text = `<SignedInfo xmlns="http://www.w3.org/2000/09/xmldsig#">${info}</SignedInfo>`;
    assert.ok(verify('sha256', Buffer.from(text), keys.publicKey, valor));
    assert.deepEqual(settlements, [
      {
        id: 'a',
        mes: MES,
        move: MOVES[0],
        dueAt: undefined,
        recebida: { nsu: '41', assinatura: { valor, certificado: CERTIFICATE } },
      },
      // The wait doubles from one second on.
      { id: 'b', mes: MES, move: MOVES[1], dueAt: NOW + 2 * FIRST_WAIT_MS, lugar: undefined },
    ]);
    assert.deepEqual(logged, []);
  });

  test('is not even read where the environment wants no documents', async () => {
    const { steps, shared, settlements } = await run({
      rows: [row('a')],
      replies: { a: ACCEPTED },
      wantsDocuments: false,
    });
    assert.deepEqual(steps.slice(1), ['open a', 'share a', 'settle alfa ficha 0', 'end alfa chave-a tried']);
    assert.deepEqual([...shared], [['a', undefined]]);
    assert.deepEqual(settlements[0]!.recebida, { nsu: '41', assinatura: undefined });
  });

  test('is delivered though its kind has nothing to do at the end', async () => {
    const { delivered, steps } = await run({ rows: [row('a')], replies: { a: ACCEPTED }, hasEnd: false });
    assert.equal(delivered.delivered, 1);
    assert.equal(steps.at(-1), 'settle alfa ficha 0');
  });

  test('goes as it is where nobody signs', async () => {
    const { shared, settlements } = await run({ rows: [row('a')], replies: { a: ACCEPTED }, signer: undefined });
    assert.deepEqual([...shared], [['a', '<x>a</x>']]);
    assert.deepEqual(settlements[0]!.recebida, { nsu: '41', assinatura: undefined });
  });

  test('may have an answer before: it is neither asked about, signed nor sent', async () => {
    const { delivered, steps, settlements } = await run({
      rows: [row('a', 'enviado'), row('b')],
      foregone: { a: { kind: 'refused', erros: [] }, b: ACCEPTED },
    });
    assert.deepEqual(steps.slice(1), [
      'open a b',
      'read alfa ',
      'settle alfa ficha 0',
      'end alfa chave-a chave-b untried',
    ]);
    assert.deepEqual(delivered, { delivered: 2, isFull: false, pauseMs: 0 });
    assert.deepEqual(settlements[1]!.recebida, { nsu: '41', assinatura: undefined });
  });
});

describe('what was announced before', () => {
  test('is asked about first, and not sent where it is there', async () => {
    const { delivered, steps, settlements } = await run({ rows: [row('a', 'enviado')], known: { a: SHOWN } });
    assert.deepEqual(steps.slice(2), ['find a', 'read alfa a', 'settle alfa ficha 0', 'end alfa chave-a tried']);
    assert.deepEqual(delivered, { delivered: 1, isFull: false, pauseMs: 0, isDoubtful: true });
    assert.equal(settlements[0]!.recebida!.nsu, '77');
  });

  test('keeps what was shown as the answer, with its number where the environment gives one', async () => {
    for (const [nsu, shown] of [
      [undefined, 'Perguntado, o ADN mostrou o documento.'],
      ['77', 'Perguntado, o ADN mostrou o documento, sob o número 77.'],
    ] as const) {
      const { settlements } = await run({
        rows: [row('a', 'enviado')],
        known: { a: { kind: 'known', nsu, xml: undefined } },
      });
      assert.equal(settlements[0]!.resposta, `consulta\n${shown}`);
    }
  });

  test('is sent again where it is not there; up to where it was looked for is kept', async () => {
    const { steps, settlements, logged } = await run({
      rows: [row('a', 'enviado'), row('b')],
      known: { a: { kind: 'absent', place: '12' } },
      replies: { a: UNKNOWN, b: ACCEPTED },
    });
    assert.deepEqual(steps.slice(2, 5), ['find a', 'read alfa a b', 'share a b']);
    assert.deepEqual(settlements[0], { id: 'a', mes: MES, move: MOVES[1], dueAt: NOW + FIRST_WAIT_MS, lugar: '12' });
    assert.deepEqual(logged, []);
  });

  test('is sent again where the environment says nothing of it', async () => {
    const { steps } = await run({ rows: [row('a', 'enviado')], replies: { a: ACCEPTED } });
    assert.deepEqual(steps.slice(2, 5), ['find a', 'read alfa a', 'share a']);
  });

  test('is neither signed nor sent where the question has no answer; a look that goes on is due at once', async () => {
    const { steps, judged, settlements } = await run({
      rows: [row('a', 'enviado'), row('b', 'enviado')],
      known: {
        a: { kind: 'unavailable', why: 'sem resposta', place: '7' },
        b: { kind: 'unavailable', why: 'segue', place: '9', goesOn: true },
      },
    });
    assert.deepEqual(steps.slice(2), [
      'find a b',
      'read alfa ',
      'settle alfa ficha 0',
      'end alfa chave-a chave-b tried',
    ]);
    assert.deepEqual(judged, [
      { id: 'a', answer: { kind: 'unavailable', why: 'sem resposta' }, now: NOW, isAway: false },
      { id: 'b', answer: { kind: 'unavailable', why: 'segue', at: 0 }, now: NOW, isAway: false },
    ]);
    assert.deepEqual(
      settlements.map((one) => 'lugar' in one && one.lugar),
      ['7', '9'],
    );
  });

  test('is ours only when the copy is what we wrote: another document is told as the gravest, and not sent over', async () => {
    const { delivered, steps, judged, logged } = await run({
      rows: [row('a', 'enviado')],
      known: { a: { kind: 'known', nsu: '77', xml: Buffer.from('lixo') } },
    });
    assert.equal(
      steps.some((step) => step.startsWith('share')),
      false,
    );
    assert.deepEqual(judged, [
      { id: 'a', answer: { kind: 'misconfigured', why: 'outro documento' }, now: NOW, isAway: false },
    ]);
    assert.deepEqual(logged, [
      ['error', { tenant: 'alfa', evento: 'a' }, 'outro'],
      ['error', { tenant: 'alfa', problem: 'outro documento' }, 'o ADN não aceita os documentos do município'],
    ]);
    assert.deepEqual(delivered, { delivered: 1, isFull: false, pauseMs: 60_000, isDoubtful: true });
  });

  test('and whose copy is ours is written with the signature under which it went out', async () => {
    const sent = (await run({ rows: [row('a')], replies: { a: UNKNOWN } })).shared.get('a')!;
    const { settlements } = await run({
      rows: [row('a', 'enviado')],
      known: { a: { kind: 'known', nsu: '77', xml: Buffer.from(sent) } },
    });
    const { nsu, assinatura } = settlements[0]!.recebida!;
    assert.deepEqual([nsu, assinatura!.certificado], ['77', CERTIFICATE]);
    assert.ok(sent.includes(`<SignatureValue>${assinatura!.valor.toString('base64')}<`));
  });
});

describe('what the environment says to have when it is sent', () => {
  test('is asked about, and no other', async () => {
    const { steps, judged, settlements, logged } = await run({
      rows: [row('a'), row('b')],
      replies: { a: { ...THERE, resposta: '201 adn\n{}' }, b: ACCEPTED },
      known: { a: SHOWN },
    });
    assert.deepEqual(steps.slice(3, 5), ['share a b', 'find a']);
    const resposta = '201 adn\n{}\nconsulta\nPerguntado, o ADN mostrou o documento, sob o número 77.';
    const answer = { kind: 'accepted', nsu: '77', resposta };
    assert.deepEqual(judged[0], { id: 'a', answer, now: NOW, isAway: false });
    assert.deepEqual(
      settlements.map((one) => one.resposta),
      [resposta, undefined],
      'what was said of each is kept',
    );
    // No copy was shown, so that the signature just sent is stored.
    assert.deepEqual(settlements[0]!.recebida!.assinatura!.certificado, CERTIFICATE);
    assert.deepEqual(logged, []);
  });

  test('stays as it was answered where it is not shown, and that is told', async () => {
    for (const known of [{}, { a: { kind: 'absent', place: '3' } }] as const) {
      const { judged, logged, settlements } = await run({ rows: [row('a')], replies: { a: THERE }, known });
      assert.deepEqual(judged, [{ id: 'a', answer: THERE, now: NOW, isAway: false }]);
      assert.deepEqual(logged, [['warn', { tenant: 'alfa', evento: 'a' }, 'não mostra']]);
      assert.equal((settlements[0] as { lugar?: string }).lugar, 'a' in known ? '3' : undefined);
    }
  });

  test('is asked about again where the question has no answer', async () => {
    const { judged, logged } = await run({
      rows: [row('a')],
      replies: { a: THERE },
      known: { a: { kind: 'unavailable', why: 'sem resposta' } },
    });
    assert.deepEqual(judged, [
      { id: 'a', answer: { kind: 'unavailable', why: 'sem resposta' }, now: NOW, isAway: false },
    ]);
    assert.deepEqual(logged, []);
  });
});

describe('what a delivery says of itself', () => {
  test('it is in doubt when an answer is, or when something was asked', async () => {
    const { delivered } = await run({ rows: [row('a'), row('b')], replies: { a: ACCEPTED, b: UNKNOWN } });
    assert.deepEqual(delivered, { delivered: 2, isFull: false, pauseMs: 0, isDoubtful: true });
  });

  test('what only an operator can mend is logged, and waits a minute', async () => {
    const { delivered, logged } = await run({
      rows: [row('a'), row('b')],
      replies: { a: ACCEPTED, b: { kind: 'misconfigured', why: 'sem permissão' } },
    });
    assert.deepEqual(delivered, { delivered: 2, isFull: false, pauseMs: 60_000 });
    const message = 'o ADN não aceita os documentos do município';
    assert.deepEqual(logged, [['error', { tenant: 'alfa', problem: 'sem permissão' }, message]]);
  });

  test('an environment that stopped answering meanwhile is told to who judges, be it for a millisecond', async () => {
    const { judged } = await run({ rows: [row('a')], replies: { a: UNKNOWN }, pauses: [0, 1] });
    assert.deepEqual(judged, [{ id: 'a', answer: UNKNOWN, now: NOW, isAway: true }]);
  });

  test('what another worker has taken over is not written, and how many is said', async () => {
    const rows = [row('a'), row('b'), row('c')];
    const { logged } = await run({ rows, replies: { a: ACCEPTED }, written: 1 });
    assert.deepEqual(logged, [['warn', { tenant: 'alfa', lost: 2 }, 'perdidas']]);
  });
});

describe('when a row is tried again', () => {
  const dueAfter = async (outcome: Outcome<Settlement>): Promise<number | undefined> => {
    const { settlements } = await run({ rows: [row('a', 'pendente', 4)], outcomes: { a: outcome } });
    const { dueAt } = settlements[0]!;
    return dueAt && dueAt - NOW;
  };

  test('is said by its kind: at a moment, after a wait, or after the usual one; never where nothing more comes', async () => {
    assert.equal(await dueAfter({ on: 'adiamento', dueAt: NOW + 5, waitMs: 9 }), 5);
    assert.equal(await dueAfter({ on: 'adiamento', waitMs: 9 }), 9);
    assert.equal(await dueAfter({ on: 'adiamento' }), 8 * FIRST_WAIT_MS);
    assert.equal(await dueAfter({ on: 'conclusao', dueAt: NOW + 5, waitMs: 9 }), undefined);
  });

  test('what the kind says besides is written, and how it comes to that is not', async () => {
    const outcome = { on: 'adiamento', waitMs: 9, mensagem_retorno: 'espera' } as const;
    const { settlements } = await run({ rows: [row('a')], outcomes: { a: outcome } });
    const [, move] = MOVES;
    const told = { mensagem_retorno: 'espera', lugar: undefined };
    assert.deepEqual(settlements, [{ id: 'a', mes: MES, move, dueAt: NOW + 9, ...told }]);
  });

  test('a trigger that the machine does not have is our own mistake', async () => {
    await assert.rejects(dueAfter({ on: 'dispensa' }), /no move dispensa from enviado/);
  });
});
