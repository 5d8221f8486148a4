/** The state machine of the nota, walked completely; and the database, which must know the same states. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  NOTA_ESTADOS,
  NOTA_MOVES,
  type NotaEstado,
  type NotaMove,
  type NotaTrigger,
  notaMove,
  RASCUNHOS,
} from './nota.ts';

const ESTADOS = Object.keys(NOTA_ESTADOS) as NotaEstado[];
const TRIGGERS = [...new Set(NOTA_MOVES.map(({ on }) => on))] as NotaTrigger[];
const MOVES: readonly NotaMove[] = NOTA_MOVES;

/** All states that can follow, including the given one. */
function reachableFrom(start: NotaEstado): Set<NotaEstado> {
  const reached = new Set([start]);
  for (const estado of reached) for (const { from, to } of MOVES) if (from === estado) reached.add(to);
  return reached;
}

describe('the machine', () => {
  test('every life begins with the issuance: to be sent, or held until a rate is published', () => {
    const births = MOVES.filter(({ from }) => from === undefined);
    assert.deepEqual(births, [
      { from: undefined, on: 'emissao', to: 'emitida', due: 'now' },
      { from: undefined, on: 'retencao', to: 'retida', due: 'publicacao' },
    ]);
  });

  test('every state can be reached', () => {
    assert.deepEqual([...reachableFrom('retida')].toSorted(), ESTADOS.toSorted());
    assert.ok(!reachableFrom('emitida').has('retida'), 'what may be sent is not held back again');
  });

  test('what is held is sent only after it was let go', () => {
    const onwards = MOVES.filter(({ from }) => from === 'retida').map(({ on, to }) => `${on} ${to}`);
    assert.deepEqual(onwards, ['publicacao emitida', 'divergencia recusada', 'retirada recusada']);
  });

  test('drafts are the notes of which the ADN has decided nothing yet', () => {
    assert.deepEqual(RASCUNHOS.toSorted(), ['emitida', 'retida', 'transmitida']);
  });

  test('no dead end: a state that does not rest leads to one that does', () => {
    for (const estado of ESTADOS.filter((one) => !NOTA_ESTADOS[one].rests)) {
      assert.ok(
        [...reachableFrom(estado)].some((one) => NOTA_ESTADOS[one].rests),
        estado,
      );
    }
  });

  test('what rests wants no attention, and what does not rest wants some', () => {
    for (const { from, on, to, due } of MOVES) {
      assert.equal(due === 'never', NOTA_ESTADOS[to].rests, `${from} ${on} ${to}`);
    }
  });

  test('a state and a trigger lead to one place', () => {
    const keys = MOVES.map(({ from, on }) => `${from} ${on}`);
    assert.equal(new Set(keys).size, keys.length);
  });

  test('nothing moves outside of the table', () => {
    let found = 0;
    for (const from of [undefined, ...ESTADOS]) {
      for (const on of TRIGGERS) {
        const move = notaMove(from, on);
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

  test('it sends only what was announced, and only what was announced can be answered', () => {
    const enders = MOVES.filter(({ on }) => on === 'autorizacao' || on === 'recusa' || on === 'adiamento');
    assert.deepEqual([...new Set(enders.map(({ from }) => from))], ['transmitida']);
    assert.equal(notaMove('emitida', 'autorizacao'), undefined);
  });

  test('what was refused or cancelled stays so (D-20, D-21)', () => {
    for (const estado of ['recusada', 'cancelada'] as const) {
      assert.deepEqual([...reachableFrom(estado)], [estado]);
    }
    assert.equal(notaMove('autorizada', 'cancelamento')?.to, 'cancelada');
    assert.equal(notaMove('emitida', 'cancelamento'), undefined);
  });
});

describe('what the public sees', () => {
  /** Specification, "States and transitions"; decisions D-20 and D-21. */
  const PUBLIC: Readonly<Record<NotaEstado, readonly [string, string, boolean]>> = {
    emitida: ['rascunho', 'processando', true],
    retida: ['rascunho', 'processando', true],
    transmitida: ['rascunho', 'processando', true],
    autorizada: ['autorizada', 'autorizado', false],
    recusada: ['rascunho', 'rejeitado', true],
    cancelada: ['cancelada', 'cancelado', false],
  };

  for (const estado of ESTADOS) {
    test(`of ${estado}: ${PUBLIC[estado].join(', ')}`, () => {
      const shown = NOTA_ESTADOS[estado];
      assert.deepEqual([shown.status, shown.protocolo, shown.chave_acesso_provisoria], PUBLIC[estado]);
      assert.match(shown.significado, /\.$/);
    });
  }

  test('the key is provisional exactly until the note was authorised', () => {
    for (const estado of ESTADOS) {
      const wasAuthorised = reachableFrom('autorizada').has(estado);
      assert.equal(NOTA_ESTADOS[estado].chave_acesso_provisoria, !wasAuthorised, estado);
    }
  });

  test('who can do something by waiting is told to', () => {
    for (const estado of ESTADOS) {
      const { rests, acao_sugerida } = NOTA_ESTADOS[estado];
      assert.equal(acao_sugerida, rests ? null : 'aguardar', estado);
    }
  });

  test('only a refused note sets series and number free', () => {
    assert.deepEqual(
      ESTADOS.filter((estado) => !NOTA_ESTADOS[estado].holdsDps),
      ['recusada'],
    );
  });
});

describe('the database', () => {
  const folder = new URL('../base/pg/migrations/', import.meta.url);
  const sql = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n');
  const listed = (text: string): string[] => [...text.matchAll(/'([a-z_]+)'/g)].map(([, name]) => name!);

  test('checks for exactly the states of the machine', () => {
    // The last migration that changes the check counts.
    const checks = [...sql.matchAll(/estado text not null check \(estado in \(([^)]*)\)\)/g)].filter(([, words]) =>
      words!.includes("'autorizada'"),
    );
    assert.ok(checks.length > 0, 'the column of the state has a check');
    assert.deepEqual(listed(checks.at(-1)![1]!).toSorted(), ESTADOS.toSorted());
  });

  test('keeps the identifier of a DPS unique among those that are held, of whatever month', () => {
    const [, identidades = ''] = /create table identidades \((.*?)\n\);/s.exec(sql) ?? [];
    assert.match(identidades, /primary key \(tenant, id_dps\)/);
    assert.doesNotMatch(identidades, /estado/, 'who is refused has no row');
  });
});
