/**
 * The state machine of the event, walked completely; the rows of the specification's table and the rules of `acao_sugerida`, each by name.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type AcaoSugerida,
  acaoSugerida,
  desfechoOf,
  EVENTO_ESTADOS,
  EVENTO_MOVES,
  EVENTO_PROBLEMAS,
  EVENTO_RETRIES_MAX,
  type EventoEstado,
  type EventoMove,
  type EventoSituacao,
  type EventoTrigger,
  eventoMove,
  eventoRests,
  falhaAfter,
  standsOnNota,
} from './evento.ts';

const ESTADOS = Object.keys(EVENTO_ESTADOS) as EventoEstado[];
const MOVES: readonly EventoMove[] = EVENTO_MOVES;
const TRIGGERS = [...new Set(MOVES.map(({ on }) => on))];

/** Triggers of an operator; all others happen by themselves. */
const BY_HAND: readonly EventoTrigger[] = ['reprocessamento', 'separacao', 'retirada', 'dispensa', 'arquivamento'];

/** All states that can follow, including the given one. */
function reachableFrom(start: EventoEstado, moves: readonly EventoMove[] = MOVES): Set<EventoEstado> {
  const reached = new Set([start]);
  for (const estado of reached) for (const { from, to } of moves) if (from === estado) reached.add(to);
  return reached;
}

/** Moves that lead into a state from another one. */
function entriesOf(estado: EventoEstado): readonly EventoMove[] {
  return MOVES.filter(({ from, to }) => to === estado && from !== estado);
}

describe('the machine', () => {
  test('has the nine states of the specification', () => {
    assert.deepEqual(ESTADOS, [
      'pendente',
      'enviado',
      'aguardando_autorizacao_nota',
      'processado',
      'rejeitado',
      'erro',
      'erro_reprocessamento',
      'cancelado',
      'dispensado',
    ]);
  });

  test('every life begins with the registration, in one state', () => {
    const births = MOVES.filter(({ from }) => from === undefined);
    assert.deepEqual(births, [{ from: undefined, on: 'registro', to: 'pendente', due: 'now' }]);
  });

  test('every state can be reached', () => {
    assert.deepEqual([...reachableFrom('pendente')].toSorted(), ESTADOS.toSorted());
  });

  test('no dead end: a state that does not rest leads, without anybody, to one that does', () => {
    const alone = MOVES.filter(({ on }) => !BY_HAND.includes(on));
    for (const estado of ESTADOS.filter((one) => !eventoRests(one, true))) {
      const reached = [...reachableFrom(estado, alone)];
      assert.ok(
        reached.some((one) => eventoRests(one, true)),
        estado,
      );
    }
  });

  test('what rests wants no attention, and what does not rest wants some; erro by its retries', () => {
    for (const { from, on, to, due } of MOVES) {
      const what = `${from} ${on} ${to}`;
      assert.equal(due === 'never', eventoRests(to, due !== 'never'), what);
    }
    const intoErro = MOVES.filter(({ to }) => to === 'erro').map(({ on, due }) => [on, due]);
    assert.deepEqual(intoErro, [
      ['falha', 'backoff'],
      ['esgotamento', 'never'],
    ]);
  });

  test('nothing leads out of processado, rejeitado, cancelado and dispensado, and by itself out of erro_reprocessamento', () => {
    for (const estado of ['processado', 'rejeitado', 'cancelado', 'dispensado'] as const) {
      assert.deepEqual([...reachableFrom(estado)], [estado]);
    }
    // A refusal that an operator has filed is still a refusal.
    const stays = MOVES.filter(({ from, to }) => from === to && eventoRests(to, true));
    assert.deepEqual(stays, [{ from: 'rejeitado', on: 'arquivamento', to: 'rejeitado', due: 'never' }]);
    const out = MOVES.filter(({ from }) => from === 'erro_reprocessamento');
    assert.ok(out.every(({ on }) => BY_HAND.includes(on)));
  });

  test('desfecho is em_andamento exactly where something more happens by itself', () => {
    const note = { soAqui: false, isNotaRecusada: false };
    for (const estado of ESTADOS) {
      for (const hasRetry of [true, false]) {
        const isOpen = desfechoOf({ estado, hasRetry }, note) === 'em_andamento';
        assert.equal(isOpen, !eventoRests(estado, hasRetry), `${estado} ${hasRetry}`);
      }
    }
  });

  test('desfecho of what is not sent: valid here where the ADN does not take the type, unless the note was refused', () => {
    const dispensado = { estado: 'dispensado', hasRetry: false } as const;
    assert.equal(desfechoOf(dispensado, { soAqui: true, isNotaRecusada: false }), 'valido_no_municipio');
    assert.equal(desfechoOf(dispensado, { soAqui: true, isNotaRecusada: true }), 'dispensado');
    assert.equal(desfechoOf(dispensado, { soAqui: false, isNotaRecusada: false }), 'dispensado');
    const processado = { estado: 'processado', hasRetry: false } as const;
    assert.equal(desfechoOf(processado, { soAqui: true, isNotaRecusada: false }), 'registrado');
  });

  test('a state and a trigger lead to one place', () => {
    const keys = MOVES.map(({ from, on }) => `${from} ${on}`);
    assert.equal(new Set(keys).size, keys.length);
  });

  test('nothing moves outside of the table', () => {
    let found = 0;
    for (const from of [undefined, ...ESTADOS]) {
      for (const on of TRIGGERS) {
        const move = eventoMove(from, on);
        assert.equal(
          move,
          MOVES.find((one) => one.from === from && one.on === on),
          `${from} ${on}`,
        );
        if (move) found += 1;
      }
    }
    assert.equal(found, MOVES.length);
  });

  test('only what was announced can be answered', () => {
    const answers: readonly EventoTrigger[] = [
      'conclusao',
      'recusa',
      'nota_desconhecida',
      'falha',
      'esgotamento',
      'adiamento',
      'incompreensao',
    ];
    for (const on of answers) {
      assert.deepEqual(
        MOVES.filter((move) => move.on === on).map(({ from }) => from),
        ['enviado'],
        on,
      );
    }
  });

  test('cancelado is withdrawn before it was sent (D-52): out of no state in which the ADN may have it', () => {
    const from = entriesOf('cancelado').map((move) => [move.from, move.on]);
    assert.deepEqual(from, [
      ['pendente', 'retirada'],
      ['aguardando_autorizacao_nota', 'retirada'],
    ]);
    // A state that the ADN may have accepted leads to neither, unless the ADN says that it has nothing.
    const entries = [...entriesOf('pendente'), ...entriesOf('aguardando_autorizacao_nota')];
    assert.deepEqual(
      entries.map((move) => `${move.from} ${move.on}`).toSorted(),
      [
        'aguardando_autorizacao_nota autorizacao_nota',
        'enviado nota_desconhecida',
        'pendente nota_nao_autorizada',
        'undefined registro',
      ].toSorted(),
    );
  });

  test('dispensado: the note was refused, or it was waived (D-52)', () => {
    assert.deepEqual([...new Set(entriesOf('dispensado').map(({ on }) => on))], ['recusa_nota', 'dispensa']);
    assert.equal(eventoMove('pendente', 'recusa_nota')?.to, 'dispensado');
    assert.equal(eventoMove('aguardando_autorizacao_nota', 'recusa_nota')?.to, 'dispensado');
  });

  test('erro_reprocessamento is put aside by the operator, or when an answer cannot be understood (D-52)', () => {
    assert.deepEqual(
      entriesOf('erro_reprocessamento').map(({ from, on }) => [from, on]),
      [
        ['enviado', 'incompreensao'],
        ['erro', 'separacao'],
      ],
    );
  });

  test('a reprocessing by hand asks before it sends, and counts for nothing', () => {
    for (const estado of ['erro', 'erro_reprocessamento'] as const) {
      assert.deepEqual(eventoMove(estado, 'reprocessamento'), {
        from: estado,
        on: 'reprocessamento',
        to: 'enviado',
        due: 'now',
      });
    }
    assert.equal(eventoMove('rejeitado', 'reprocessamento'), undefined);
  });

  test('while it waits for its note it is looked at again, slowly', () => {
    for (const { on, due } of MOVES.filter(({ to }) => to === 'aguardando_autorizacao_nota'))
      assert.equal(due, 'poll', on);
    assert.equal(eventoMove('aguardando_autorizacao_nota', 'anuncio')?.to, 'enviado');
  });

  test('an event whose note is not authorised here is not sent: it waits without a call', () => {
    assert.equal(eventoMove('pendente', 'nota_nao_autorizada')?.to, 'aguardando_autorizacao_nota');
  });
});

describe('States and transitions, row by row', () => {
  const row = (name: string, from: EventoEstado | undefined, on: EventoTrigger, wanted: Partial<EventoMove>): void => {
    test(name, () => {
      const move = eventoMove(from, on);
      assert.ok(move, `${from} ${on}`);
      assert.deepEqual({ ...move, ...wanted }, move);
    });
  };

  row('(none) | POST of an event | accepted | pendente', undefined, 'registro', { to: 'pendente', due: 'now' });
  row('pendente | package sent to the ADN | enviado', 'pendente', 'anuncio', { to: 'enviado' });
  row(
    'enviado | ADN answers, referenced note not yet recognized | aguardando_autorizacao_nota',
    'enviado',
    'nota_desconhecida',
    { to: 'aguardando_autorizacao_nota' },
  );
  row(
    'aguardando_autorizacao_nota | authorization of the note | retried automatically',
    'aguardando_autorizacao_nota',
    'autorizacao_nota',
    { to: 'pendente', due: 'now' },
  );
  row('enviado | ADN concludes successfully | processado', 'enviado', 'conclusao', { to: 'processado', due: 'never' });
  row('enviado | ADN rejects | rejeitado', 'enviado', 'recusa', { to: 'rejeitado', due: 'never' });
  row('erro | automatic retry | reprocessamentos_count below 3 | retried, the counter increases', 'erro', 'anuncio', {
    to: 'enviado',
    counts: true,
  });

  test('erro | retries | 3 retries without success | erro (no more retries)', () => {
    assert.equal(EVENTO_RETRIES_MAX, 3);
    // The first attempt and three retries all fail.
    let reprocessamentos = 0;
    const seen: [EventoTrigger, number][] = [];
    let estado: EventoEstado = 'pendente';
    let due = 'now';
    while (due !== 'never') {
      const announced: EventoMove = eventoMove(estado, 'anuncio')!;
      if (announced.counts) reprocessamentos += 1;
      const on = falhaAfter(reprocessamentos);
      seen.push([on, reprocessamentos]);
      const failed: EventoMove = eventoMove(announced.to, on)!;
      [estado, due] = [failed.to, failed.due];
    }
    assert.deepEqual(seen, [
      ['falha', 0],
      ['falha', 1],
      ['falha', 2],
      ['esgotamento', 3],
    ]);
    assert.equal(estado, 'erro');
    assert.equal(acaoSugerida({ estado, reprocessamentos, desde: 0, hasRetry: false }, 0), 'consultar_suporte');
    assert.ok(eventoRests('erro', false));
  });

  test('erro_reprocessamento | none automatic | stays, never retried automatically', () => {
    assert.ok(eventoRests('erro_reprocessamento', true));
    assert.equal(eventoMove('erro_reprocessamento', 'anuncio'), undefined);
    for (const { due } of MOVES.filter(({ to }) => to === 'erro_reprocessamento')) assert.equal(due, 'never');
  });

  test('only the automatic retry counts', () => {
    const counting = MOVES.filter(({ counts }) => counts).map(({ from, on }) => [from, on]);
    assert.deepEqual(counting, [['erro', 'anuncio']]);
  });
});

describe('walks', () => {
  /** Park and Miller: the same walk for the same seed, everywhere. */
  const chanceOf = (seed: number): ((end: number) => number) => {
    let state = seed;
    return (end) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % end;
    };
  };
  const STEPS_MAX = 500;

  /** Moves at random from the registration on; the budget decides which attempts fail. */
  const walk = (seed: number, byHand: boolean): { readonly estado: EventoEstado; readonly count: number } => {
    const below = chanceOf(seed);
    let estado: EventoEstado = 'pendente';
    let count = 0;
    let due = 'now';
    for (let step = 0; step < STEPS_MAX; step += 1) {
      if (due === 'never') return { estado, count };
      const open = MOVES.filter(({ from, on }) => {
        if (from !== estado || (!byHand && BY_HAND.includes(on))) return false;
        return on === 'falha' || on === 'esgotamento' ? on === falhaAfter(count) : true;
      });
      const move = open[below(open.length)]!;
      if (move.counts) count += 1;
      [estado, due] = [move.to, move.due];
      assert.ok(count <= EVENTO_RETRIES_MAX, `seed ${seed}`);
    }
    return assert.fail(`seed ${seed} does not come to rest: ${estado}`);
  };

  test('2000 seeded ones come to rest, with the operator and without, and never retry more than three times', () => {
    const ends = new Set<EventoEstado>();
    const counts = new Set<number>();
    for (let seed = 1; seed <= 2000; seed += 1) {
      for (const byHand of [false, true]) {
        const { estado, count } = walk(seed, byHand);
        assert.ok(eventoRests(estado, false), `seed ${seed}`);
        ends.add(estado);
        counts.add(count);
      }
    }
    assert.deepEqual([...counts].toSorted(), [0, 1, 2, 3]);
    assert.deepEqual([...ends].toSorted(), ESTADOS.filter((one) => eventoRests(one, false)).toSorted());
  });
});

describe('another cancellation in a non-terminal state (Endpoints, Events: 422)', () => {
  const OPEN: readonly (readonly [EventoEstado, boolean])[] = [
    ['pendente', false],
    ['enviado', false],
    ['aguardando_autorizacao_nota', false],
    ['erro', true],
  ];
  for (const estado of ESTADOS) {
    for (const hasRetry of [false, true]) {
      const open = OPEN.some(([one, retry]) => one === estado && (estado !== 'erro' || retry === hasRetry));
      test(`${estado}${hasRetry ? ' with a retry pending' : ''} is ${open ? '' : 'not '}open`, () => {
        assert.equal(eventoRests(estado, hasRetry), !open);
      });
    }
  }
});

describe('what stands on the note', () => {
  test('is what was processed, and a manifestation that the ADN does not take from a municipality (D-55)', () => {
    for (const estado of ESTADOS) {
      assert.equal(standsOnNota(estado, { soAqui: false }), estado === 'processado', estado);
      assert.equal(standsOnNota(estado, { soAqui: true }), ['processado', 'dispensado'].includes(estado), estado);
    }
  });
});

describe('acao_sugerida', () => {
  const MINUTE = 60_000;
  const HOUR = 60 * MINUTE;
  const NOW = Date.UTC(2026, 9, 5, 12);

  /** The advice for an event that has been in its state for so long. */
  const after = (estado: EventoEstado, age: number, more: Partial<EventoSituacao> = {}): AcaoSugerida =>
    acaoSugerida({ estado, reprocessamentos: 0, desde: NOW - age, hasRetry: false, ...more }, NOW);

  describe('aguardar: normal processing', () => {
    test('recent pending: up to 5 minutes', () => {
      for (const age of [0, MINUTE, 5 * MINUTE - 1, 5 * MINUTE])
        assert.equal(after('pendente', age), 'aguardar', `${age}`);
    });

    test('sent', () => {
      for (const age of [0, 5 * MINUTE + 1, 48 * HOUR]) assert.equal(after('enviado', age), 'aguardar', `${age}`);
    });

    test('waiting for the ADN within 24 hours', () => {
      for (const age of [0, 6 * MINUTE, 24 * HOUR - 1, 24 * HOUR]) {
        assert.equal(after('aguardando_autorizacao_nota', age), 'aguardar', `${age}`);
        const aguardando_desde = NOW - age;
        assert.equal(after('aguardando_autorizacao_nota', 0, { aguardando_desde }), 'aguardar', `${age}`);
      }
    });

    test('a clock that was put back', () => {
      assert.equal(after('pendente', -HOUR), 'aguardar');
      assert.equal(after('aguardando_autorizacao_nota', -HOUR), 'aguardar');
    });
  });

  describe('consultar_suporte: problem state', () => {
    test('error with no retry left', () => {
      assert.equal(after('erro', 0, { reprocessamentos: 3 }), 'consultar_suporte');
      assert.equal(after('erro', 0, { reprocessamentos: 1 }), 'consultar_suporte');
      assert.equal(after('erro', 0, { reprocessamentos: 3, hasRetry: true }), 'consultar_suporte');
    });

    test('pending stuck for more than 5 minutes', () => {
      for (const age of [5 * MINUTE + 1, 6 * MINUTE, 48 * HOUR]) {
        assert.equal(after('pendente', age), 'consultar_suporte', `${age}`);
      }
    });

    test('waiting for the ADN more than 24 hours', () => {
      for (const age of [24 * HOUR + 1, 25 * HOUR]) {
        assert.equal(after('aguardando_autorizacao_nota', age), 'consultar_suporte', `${age}`);
        const aguardando_desde = NOW - age;
        assert.equal(after('aguardando_autorizacao_nota', 0, { aguardando_desde }), 'consultar_suporte', `${age}`);
      }
    });

    test('erro_reprocessamento', () => {
      assert.equal(after('erro_reprocessamento', 0), 'consultar_suporte');
    });

    test('these are the states that an operator is shown as problems, first what waits for him alone', () => {
      const long = ESTADOS.filter((estado) => after(estado, 25 * HOUR) === 'consultar_suporte');
      assert.deepEqual(EVENTO_PROBLEMAS.toSorted(), long.toSorted());
      assert.equal(EVENTO_PROBLEMAS[0], 'erro_reprocessamento');
    });

    test('rejeitado, of which the rules do not speak', () => {
      assert.equal(after('rejeitado', 0), 'consultar_suporte');
    });
  });

  test('retentar: error with a reprocessable code, while a retry is left', () => {
    for (const reprocessamentos of [0, 1, 2]) {
      assert.equal(after('erro', 48 * HOUR, { reprocessamentos, hasRetry: true }), 'retentar');
    }
  });

  test('cancelado_ok: finished successfully (processado, cancelado or dispensado)', () => {
    for (const estado of ['processado', 'cancelado', 'dispensado'] as const) {
      for (const age of [0, 48 * HOUR]) assert.equal(after(estado, age), 'cancelado_ok', estado);
    }
  });
});
