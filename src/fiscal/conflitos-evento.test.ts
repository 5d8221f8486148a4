/** The national matrix of events, cell by cell, and the judgement over it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { REFUSALS, SPECIFIED } from '../../test/especificacao/eventos.ts';
import {
  CODIGOS_DE_OFICIO,
  CODIGOS_ENTRE_PARTES,
  conflictOf,
  type EventoNaNota,
  type EventoQueChega,
  explainMissing,
  findMissing,
  isAnnulledHere,
  listStanding,
  refuseBesideOpen,
  refuseOnCancelled,
  type Situacao,
  situacaoOf,
} from './conflitos-evento.ts';
import { errorOf } from './errors.ts';
import type { EventoEstado } from './evento.ts';
import { TIPOS_EVENTO, tipoByCodigo } from './tipos-evento.ts';

/**
 * The sheet of the matrix in Anexo II v1.01, cell by cell. Rows are the events on the note, columns the arriving events. Blocks and
 * unblocks have one row and column for each kind of event that they are about. `Y` V, `-` X, `c` X/V.
 */
const SHEET = `
                ---------- 101101 101103 105102 105104 105105 202201 202205 203202 203206 204203 204207 205204 205208 305101
                ---------- 305102:101101 305102:105102 305102:105104 305102:105105 305102:305101
                ---------- 305103:101101 305103:105102 305103:105104 305103:105105 305103:305101
  nenhum        YYY--YYYYYYYYYYYYYY-----
  101101        ------------------------
  101103        ---YYYYYYYYYY-YYYYYYYYYY
  105102        ------------------------
  105104        ------------------------
  105105        -----YYYYYYYYYYYYYYYYYYY
  202201        --Y---Ycccc-YYYYYYYYYYYY
  202205        YYYYYY-cccc-YYYYYYYYYYYY
  203202        --Y--cc-Ycc-YYYYYYYYYYYY
  203206        YYYYYccY-cc-YYYYYYYYYYYY
  204203        --Y--cccc-Y-YYYYYYYYYYYY
  204207        YYYYYccccY--YYYYYYYYYYYY
  205204        -YYYY--------YYYYYYYYYYY
  205208        -YYYYYcYcYcY-YYYYYYYYYYY
  305101        ------------------------
  305102:101101 cYYYYYYYYYYYYYcYYYYYYYYY
  305102:105102 YYcYYYYYYYYYYYYcYYYYYYYY
  305102:105104 YYYcYYYYYYYYYYYYcYYYYYYY
  305102:105105 YYYYcYYYYYYYYYYYYcYYYYYY
  305102:305101 YYYYYYYYYYYYYcYYYYcYYYYY
  305103:101101 YYYYYYYYYYYYYYYYYYY-YYYY
  305103:105102 YYYYYYYYYYYYYYYYYYYY-YYY
  305103:105104 YYYYYYYYYYYYYYYYYYYYY-YY
  305103:105105 YYYYYYYYYYYYYYYYYYYYYY-Y
  305103:305101 YYYYYYYYYYYYYYYYYYYYYYY-`;

const LINES = SHEET.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));
const COLUMNS = LINES.filter(([head]) => head!.startsWith('---')).flatMap(([, ...columns]) => columns);
const ROWS = LINES.filter(([head]) => !head!.startsWith('---')).map(([row, cells]) => ({ row: row!, cells: cells! }));
const MARKS: Readonly<Record<string, Situacao>> = { Y: 'permitido', '-': 'proibido', c: 'condicional' };

function inMatrix(name: string): { codigo: string; alvo?: string } {
  const [codigo, alvo] = name.split(':');
  return alvo === undefined ? { codigo: codigo! } : { codigo: codigo!, alvo };
}

const CELLS = ROWS.flatMap(({ row, cells }) => COLUMNS.map((column, place) => ({ row, column, mark: cells[place]! })));

describe('the matrix', () => {
  test('has its cells: a note without events, the types, and a block and an unblock of five kinds', () => {
    const kinds = SPECIFIED.length - 2 + 2 * 5;
    assert.equal(CELLS.length, (kinds + 1) * kinds);
    assert.ok(CELLS.every(({ mark }) => mark in MARKS));
  });

  test('has a row and a column of every type', () => {
    for (const { codigo } of TIPOS_EVENTO) {
      assert.ok(
        COLUMNS.some((column) => column.startsWith(codigo)),
        `SHEET has no column ${codigo}`,
      );
      assert.ok(
        ROWS.some(({ row }) => row.startsWith(codigo)),
        `SHEET has no row ${codigo}`,
      );
      assert.ok(situacaoOf(undefined, { codigo }));
    }
  });

  for (const { row, cells } of ROWS) {
    test(`row ${row}`, () => {
      const existente = row === 'nenhum' ? undefined : inMatrix(row);
      const told = COLUMNS.map((column) => situacaoOf(existente, inMatrix(column)));
      assert.deepEqual(
        told,
        [...cells].map((mark) => MARKS[mark]),
      );
    });
  }

  test('knows no other kinds', () => {
    assert.throws(() => situacaoOf(undefined, { codigo: '110110' }), RangeError);
    assert.throws(() => situacaoOf({ codigo: '110110' }, { codigo: '101101' }), RangeError);
  });
});

const CHAVE = '35503081211222333000181000000000000126091234567895';
const PRESTADOR = '11222333000181';
const TOMADOR = '52998224725';
const INTERMEDIARIO = '11444777000161';
const MUNICIPIO = '46395000000139';

const AUTORES: Readonly<Record<string, string>> = {
  prestador: PRESTADOR,
  tomador: TOMADOR,
  intermediario: INTERMEDIARIO,
};

function id(codigo: string, numero_sequencial?: number): string {
  return numero_sequencial === undefined
    ? `${CHAVE}${codigo}`
    : `EVT${CHAVE}${codigo}${String(numero_sequencial).padStart(3, '0')}`;
}

/** An event of a code (`305102:101101` for a block), registered by its usual author. */
function evento(name: string, more: Partial<EventoNaNota> = {}): EventoNaNota {
  const { codigo, alvo } = inMatrix(name);
  const { autor } = tipoByCodigo(codigo)!;
  const campos: Record<string, string> = alvo === undefined ? {} : { codigo_evento_bloqueado: `e${alvo}` };
  return { codigo, numero_sequencial: 1, autor: autor === undefined ? MUNICIPIO : AUTORES[autor]!, campos, ...more };
}

function anulacao(of: string): EventoNaNota {
  return evento('205208', { campos: { id_evento_rejeicao: of } });
}

function desbloqueio(of: string): EventoNaNota {
  return evento('305103', { campos: { id_evento_bloqueio: of } });
}

function refusal(onNote: readonly EventoNaNota[], arriving: EventoQueChega): string | undefined {
  return conflictOf(onNote, arriving)?.codigo;
}

describe('the judgement agrees with every cell', () => {
  /** A history that puts the event of a row on a note, that event last. */
  const historyOf = (row: string): EventoNaNota[] => {
    if (row === 'nenhum') return [];
    const { codigo, alvo } = inMatrix(row);
    if (codigo === '305103') return [evento(`305102:${alvo}`), desbloqueio(id('305102', 1))];
    if (codigo === '205208') return [evento('202205'), anulacao(id('202205', 1))];
    if (codigo === '105105') return [evento('101103'), evento(row)];
    return [evento(row)];
  };
  /** An event of the column as it arrives on that note. It names the event of its kind on the note, if there is one. */
  const arrivingOf = (column: string, onNote: readonly EventoNaNota[]): EventoQueChega => {
    const { codigo, alvo } = inMatrix(column);
    if (codigo === '305103') {
      const block = onNote.find((one) => one.campos['codigo_evento_bloqueado'] === `e${alvo}`);
      return desbloqueio(id('305102', block?.numero_sequencial ?? 9));
    }
    if (codigo === '205208') {
      const rejection = onNote.find((one) => ['202205', '203206', '204207'].includes(one.codigo));
      return anulacao(id(rejection?.codigo ?? '203206', 1));
    }
    return evento(column);
  };
  /** Codes that say that the event's object is absent, or was already handled. */
  const ABOUT: Readonly<Record<string, readonly string[]>> = {
    '105104': ['E0853'],
    '105105': ['E0856'],
    '205208': ['E1963', 'E1835'],
    '305102': ['E1967'],
    '305103': ['E1976', 'E1978'],
  };

  for (const { row } of ROWS) {
    test(`row ${row}`, () => {
      for (const { column, mark } of CELLS.filter((cell) => cell.row === row)) {
        const onNote = historyOf(row);
        const arriving = arrivingOf(column, onNote);
        const { codigo } = arriving;
        const code = refusal(onNote, arriving);
        const what = `${row} then ${column}: ${code}`;
        const about = ABOUT[codigo] ?? [];
        if (mark === '-') {
          assert.ok(code === REFUSALS[codigo] || about.includes(code!), what);
        } else if (row.startsWith('305102') && mark === 'c') {
          assert.ok(code === REFUSALS[codigo] || code === 'E1967', what);
        } else if (row === '205208' && codigo === '202205') {
          // The party of the annulled rejection; a note has only one of its kind.
          assert.equal(code, 'E0864', what);
        } else {
          // `c` between manifestations: the other party is a different one.
          assert.ok(code === undefined || about.includes(code), what);
        }
      }
    });
  }
});

describe('a note that is cancelled takes no event', () => {
  for (const cancelling of ['101101', '105102', '105104', '305101']) {
    test(`after ${cancelling}`, () => {
      for (const { codigo } of TIPOS_EVENTO) {
        const conflict = conflictOf([evento('203206'), evento(cancelling)], evento(codigo));
        assert.equal(conflict?.codigo, REFUSALS[codigo], codigo);
        assert.match(conflict!.mensagem, /A nota está cancelada/);
      }
    });
  }
});

describe('one manifestation a party (E1833)', () => {
  const MANIFESTATIONS = ['202201', '203202', '204203', '202205', '203206', '204207'];

  test('each party may have its own', () => {
    for (const first of MANIFESTATIONS) {
      for (const second of MANIFESTATIONS) {
        if (evento(first).autor === evento(second).autor) continue;
        assert.equal(refusal([evento(first)], evento(second)), undefined, `${first} ${second}`);
      }
    }
  });

  test('one party in two roles has one', () => {
    for (const first of MANIFESTATIONS) {
      for (const second of MANIFESTATIONS) {
        if (situacaoOf({ codigo: first }, { codigo: second }) !== 'condicional') continue;
        const both = { autor: PRESTADOR };
        assert.equal(refusal([evento(first, both)], evento(second, both)), 'E1833', `${first} ${second}`);
      }
    }
  });

  test('the same manifestation a second time has the code of its kind', () => {
    for (const one of MANIFESTATIONS) assert.equal(refusal([evento(one)], evento(one)), REFUSALS[one]);
  });

  test('a party may take back what it said, as the matrix has it', () => {
    for (const [confirmation, rejection] of [
      ['202201', '202205'],
      ['203202', '203206'],
      ['204203', '204207'],
    ] as const) {
      assert.equal(refusal([evento(confirmation)], evento(rejection)), undefined);
      assert.equal(refusal([evento(rejection)], evento(confirmation)), undefined);
      assert.equal(refusal([evento(confirmation), evento(rejection)], evento(confirmation)), REFUSALS[confirmation]);
    }
  });

  test('a rejection that was annulled: its party confirms, another party rejects', () => {
    const onNote = [evento('203206'), anulacao(id('203206', 1))];
    assert.equal(refusal(onNote, evento('203202')), undefined);
    assert.equal(refusal(onNote, evento('204207')), undefined);
    assert.equal(refusal(onNote, evento('203206')), 'E0866');
    // The same party acts as an intermediary.
    const conflict = conflictOf(onNote, evento('204207', { autor: TOMADOR }));
    assert.equal(conflict?.codigo, 'E1833');
    assert.match(conflict!.mensagem, /A rejeição desta parte já foi anulada/);
    // The same party confirms, as an intermediary too.
    assert.equal(refusal(onNote, evento('204203', { autor: TOMADOR })), undefined);
  });

  test('a rejection that was annulled no longer keeps out a tacit confirmation; one that was not does', () => {
    for (const one of ['202205', '203206', '204207']) {
      assert.equal(refusal([evento(one), anulacao(id(one, 1))], evento('205204')), undefined, one);
    }
    const another = [evento('203206'), evento('204207'), anulacao(id('203206', 1))];
    assert.equal(refusal(another, evento('205204')), 'E0863');
    assert.equal(refusal([evento('202201'), evento('203206'), anulacao(id('203206', 1))], evento('205204')), 'E0863');
  });

  test('after a tacit confirmation nobody manifests', () => {
    for (const one of MANIFESTATIONS) assert.equal(refusal([evento('205204')], evento(one)), REFUSALS[one]);
  });

  test('after a manifestation there is no tacit confirmation', () => {
    for (const one of MANIFESTATIONS) assert.equal(refusal([evento(one)], evento('205204')), 'E0863');
  });
});

describe('annulment of a rejection', () => {
  test('E1963 without a rejection, or of one that is not on this note', () => {
    assert.equal(refusal([], anulacao(id('203206', 1))), 'E1963');
    assert.equal(refusal([evento('202205')], anulacao(id('203206', 1))), 'E1963');
    assert.equal(refusal([evento('203206')], anulacao(id('203206', 2))), 'E1963');
    assert.equal(refusal([evento('203202')], anulacao(id('203202', 1))), 'E1963', 'a confirmation is no rejection');
    assert.equal(refusal([evento('203206')], anulacao('')), 'E1963');
    assert.equal(refusal([evento('203206')], { ...anulacao(''), chave_acesso: CHAVE }), 'E1963');
    const mensagem = conflictOf([evento('202205'), evento('203206')], anulacao(id('204207', 1)))!.mensagem;
    assert.match(mensagem, /As que ela tem: rejeicao_prestador, rejeicao_tomador\./);
    assert.match(conflictOf([], anulacao(id('203206', 1)))!.mensagem, /não tem nenhuma/);
    const other = `EVT${CHAVE.slice(0, 49)}0203206001`;
    assert.equal(refusal([evento('203206')], { ...anulacao(other), chave_acesso: CHAVE }), 'E1963', 'of another note');
  });

  test('accepted by the identifier with and without prefix and sequence', () => {
    for (const named of [id('203206', 1), id('203206'), id('203206', 1).slice(3)]) {
      assert.equal(refusal([evento('203206')], { ...anulacao(named), chave_acesso: CHAVE }), undefined, named);
    }
    const second = evento('203206', { numero_sequencial: 2 });
    assert.equal(refusal([second], anulacao(id('203206', 2))), undefined);
  });

  test('E1835 of the same one twice, E0870 of another one', () => {
    const onNote = [evento('203206'), evento('204207'), anulacao(id('203206', 1))];
    assert.equal(refusal(onNote, anulacao(id('203206'))), 'E1835');
    assert.equal(refusal(onNote, anulacao(id('204207', 1))), 'E0870');
    const naming = { campos: { id_evento_rejeicao: id('203206', 1) } };
    assert.equal(refusal(onNote, evento('203202', naming)), undefined, 'only an annulment annuls');
  });
});

describe('what stands on a note', () => {
  const as = (estado: EventoEstado, one: EventoNaNota) => ({ ...one, estado });
  const codes = (eventos: Parameters<typeof listStanding>[0]): string[] =>
    listStanding(eventos).map(({ codigo }) => codigo);

  test('is what was processed, and a waived manifestation; another waived event is not', () => {
    const all = [
      as('processado', evento('101103')),
      as('dispensado', evento('203206')),
      as('dispensado', evento('305102')),
    ];
    assert.deepEqual(codes(all), ['101103', '203206']);
    assert.deepEqual(codes([as('rejeitado', evento('203206')), as('enviado', evento('101101'))]), []);
  });

  test('and the waived annulment of a rejection that stands here alone, not that of one that the ADN holds', () => {
    const annulment = anulacao(id('203206', 1));
    const here = as('dispensado', evento('203206'));
    const there = as('processado', evento('203206'));
    assert.deepEqual(codes([here, as('dispensado', annulment)]), ['203206', '205208']);
    assert.deepEqual(codes([there, as('dispensado', annulment)]), ['203206']);
    assert.deepEqual(codes([there, as('processado', annulment)]), ['203206', '205208']);
    assert.deepEqual(codes([here, as('pendente', annulment)]), ['203206']);
    assert.equal(isAnnulledHere(annulment, [here]), true);
    assert.equal(isAnnulledHere(annulment, [there]), false);
    assert.equal(isAnnulledHere(anulacao(id('204207', 1)), [here]), false, 'another one');
    assert.equal(isAnnulledHere(evento('101101'), [here]), false);
    const naming = { campos: { id_evento_rejeicao: id('203206', 1) } };
    assert.equal(isAnnulledHere(evento('203202', naming), [here]), false, 'only an annulment annuls');
    assert.deepEqual(codes([{ ...here, codigo: '999999', estado: 'processado' }]), [], 'a type that nobody knows');
    // The party whose rejection is annulled no longer rejects; it may confirm.
    const standing = listStanding([here, as('dispensado', annulment)]);
    assert.equal(refusal(standing, anulacao(id('203206', 1))), 'E1835');
    assert.equal(refusal(standing, evento('203202')), undefined);
  });
});

describe('fiscal analysis', () => {
  test('is decided once, and only when it was asked for (E0853, E0856)', () => {
    assert.equal(refusal([], evento('105104')), 'E0853');
    assert.equal(refusal([], evento('105105')), 'E0856');
    assert.equal(refusal([evento('202205')], evento('105104')), 'E0853');
    assert.equal(refusal([evento('101103')], evento('105104')), undefined);
    const { mensagem } = conflictOf([], evento('105104'))!;
    assert.match(mensagem, /não tem solicitacao_analise_fiscal_para_cancelamento .* use cancelamento_por_oficio\.$/);
    assert.equal(refusal([evento('101103')], evento('105105')), undefined);
    const denied = [evento('101103'), evento('105105')];
    assert.equal(refusal(denied, evento('105104')), 'E0852');
    assert.equal(refusal(denied, evento('105105')), 'E0855');
  });

  test('while it is pending the note is not cancelled, nor asked for again', () => {
    const onNote = [evento('101103')];
    assert.equal(refusal(onNote, evento('101101')), 'E0840');
    assert.equal(refusal(onNote, evento('105102')), 'E0845');
    assert.equal(refusal(onNote, evento('101103')), 'E0848');
    assert.equal(refusal(onNote, evento('305101')), 'E1960');
  });

  test('denied, only the office may still cancel', () => {
    const denied = [evento('101103'), evento('105105')];
    assert.equal(refusal(denied, evento('101101')), 'E0840');
    assert.equal(refusal(denied, evento('105102')), 'E0845');
    assert.equal(refusal(denied, evento('101103')), 'E0848');
    assert.equal(refusal(denied, evento('305101')), undefined);
    assert.match(conflictOf(denied, evento('101101'))!.mensagem, /por ofício/);
  });
});

describe('blocks', () => {
  const KINDS = ['101101', '105102', '105104', '105105', '305101'];
  const request = evento('101103');

  test('a kind that is blocked is refused with its own code, and accepted when the block was lifted', () => {
    for (const kind of KINDS) {
      const before = kind.startsWith('1051') && kind !== '105102' ? [request] : [];
      const block = evento(`305102:${kind}`);
      assert.equal(refusal([...before, block], evento(kind)), REFUSALS[kind], kind);
      assert.match(conflictOf([...before, block], evento(kind))!.mensagem, /bloqueou/);
      assert.equal(refusal([...before, block, desbloqueio(id('305102', 1))], evento(kind)), undefined, kind);
    }
  });

  test('an unblock that says its kind too lifts the block, and is none itself', () => {
    const block = evento('305102:101101');
    const unblock = evento('305103:101101', {
      campos: { codigo_evento_bloqueado: 'e101101', id_evento_bloqueio: id('305102', 1) },
    });
    assert.equal(refusal([block], unblock), undefined);
    assert.equal(refusal([block, unblock], evento('101101')), undefined);
    const other = evento('202201', { campos: { id_evento_bloqueio: id('305102', 1) } });
    assert.equal(refusal([block, other], evento('305102:101101')), 'E1967', 'nothing else lifts it');
  });

  test('other kinds pass it by', () => {
    assert.equal(refusal([evento('305102:105102')], evento('101101')), undefined);
    assert.equal(refusal([evento('305102:101101')], evento('105102')), undefined);
  });

  test('the same kind is not blocked twice (E1967), another is, and the same again after its unblock', () => {
    const block = evento('305102:101101');
    assert.equal(refusal([block], evento('305102:101101')), 'E1967');
    assert.equal(refusal([block], evento('305102:105102')), undefined);
    assert.equal(refusal([block, desbloqueio(id('305102', 1))], evento('305102:101101')), undefined);
  });

  test('an unblock lifts one block: E1976 when there is none, E1978 when it was lifted', () => {
    assert.equal(refusal([], desbloqueio(id('305102', 1))), 'E1976');
    const block = evento('305102:101101');
    assert.equal(refusal([block], desbloqueio(id('305102', 1))), undefined);
    assert.equal(refusal([block], desbloqueio(id('305102', 2))), 'E1976');
    assert.equal(refusal([block], desbloqueio(id('101101', 1))), 'E1976');
    assert.equal(refusal([block], desbloqueio('')), 'E1976');
    assert.equal(refusal([block, desbloqueio(id('305102', 1))], desbloqueio(id('305102', 1))), 'E1978');
  });

  test('blocked again, it is lifted again, by its own identifier', () => {
    const again = evento('305102:101101', { numero_sequencial: 2 });
    const onNote = [evento('305102:101101'), desbloqueio(id('305102', 1)), again];
    assert.equal(refusal(onNote, evento('101101')), 'E0840');
    assert.equal(refusal(onNote, desbloqueio(id('305102', 1))), 'E1978');
    assert.equal(refusal(onNote, desbloqueio(id('305102', 2))), undefined);
    assert.equal(refusal(onNote, desbloqueio(id('305102'))), undefined, 'the only one in force');
    assert.equal(refusal([...onNote, desbloqueio(id('305102'))], evento('101101')), undefined);
  });

  test('with several in force the sequence must say which', () => {
    const two = [evento('305102:101101'), evento('305102:105102', { numero_sequencial: 2 })];
    const conflict = conflictOf(two, desbloqueio(id('305102')));
    assert.equal(conflict?.codigo, 'E1976');
    assert.match(conflict!.mensagem, /1, 2/);
    assert.equal(refusal(two, desbloqueio(id('305102', 2))), undefined);
    const one = [...two, desbloqueio(id('305102', 2))];
    assert.equal(refusal(one, evento('105102')), undefined);
    assert.equal(refusal(one, evento('101101')), 'E0840');
  });
});

describe('what the sender is told', () => {
  test('after a confirmation: what the note still accepts', () => {
    assert.deepEqual(conflictOf([evento('203202')], evento('101101')), {
      codigo: 'E0840',
      mensagem:
        'A nota já tem o evento confirmacao_tomador, e depois dele não se registra cancelamento. A nota ainda aceita cancelamento_por_substituicao.',
    });
  });

  test('not what is blocked', () => {
    const onNote = [evento('203202'), evento('305102:105102')];
    assert.match(conflictOf(onNote, evento('101101'))!.mensagem, /Procure a prefeitura/);
  });

  test('of several events that stand in the way, the one that cancelled the note', () => {
    const { mensagem } = conflictOf([evento('203202'), evento('305101')], evento('101101'))!;
    assert.match(mensagem, /já tem o evento cancelamento_por_oficio.*A nota está cancelada/);
  });

  test('of what cancels nothing: to look at the events of the note', () => {
    assert.match(conflictOf([evento('203202')], evento('203202'))!.mensagem, /Consulte os eventos da nota/);
  });

  test('while an analysis is pending, whatever else is there: to wait', () => {
    assert.match(conflictOf([evento('101103'), evento('202205')], evento('101101'))!.mensagem, /Espere a decisão/);
    assert.match(conflictOf([evento('101103')], evento('101101'))!.mensagem, /Espere a decisão/);
  });

  test('every code has its row in the public table, 422', () => {
    const codes = [...Object.values(REFUSALS), 'E0853', 'E0856', 'E1833', 'E1835', 'E1963', 'E1967', 'E1976', 'E1978'];
    for (const codigo of codes) assert.equal(errorOf(codigo)?.status, 422, codigo);
  });

  test('codes of what comes by office refuse nothing that an integrator sends, and nothing else is refused with them', () => {
    const seen = new Set<string>();
    for (const { codigo: first } of TIPOS_EVENTO) {
      for (const { codigo: second } of TIPOS_EVENTO) {
        for (const { codigo, porOficio } of TIPOS_EVENTO) {
          const one = (of: string) => ({ codigo: of, numero_sequencial: 1, autor: '1', campos: {} });
          const conflict = conflictOf([one(first), one(second)], one(codigo));
          if (conflict === undefined) continue;
          seen.add(conflict.codigo);
          assert.equal(CODIGOS_DE_OFICIO.has(conflict.codigo), porOficio, `${first} ${second} ${codigo}`);
        }
      }
    }
    assert.ok(seen.size >= 18, [...seen].join());
    for (const codigo of CODIGOS_DE_OFICIO) assert.ok(errorOf(codigo), codigo);
  });

  test('the refusals that are the affair of the parties: of what one of them registers, but for a replacement', () => {
    const ofParties = SPECIFIED.filter(([codigo, , , oficio]) => oficio !== 'oficio' && codigo !== '105102');
    const wanted = [...ofParties.map(([codigo]) => REFUSALS[codigo!]!), 'E1833'];
    assert.deepEqual([...CODIGOS_ENTRE_PARTES].toSorted(), wanted.toSorted());
    for (const codigo of CODIGOS_ENTRE_PARTES) assert.ok(!CODIGOS_DE_OFICIO.has(codigo), codigo);
  });

  test('E302 of a cancelled note and of an open cancellation (specification, Events: 422)', () => {
    assert.equal(refuseOnCancelled('203202').codigo, 'E302');
    assert.match(refuseOnCancelled('203202').mensagem, /já está cancelada.*confirmacao_tomador/);
    assert.match(refuseOnCancelled('203202').detalhes!, /^nota_cancelada: /);
    assert.match(refuseOnCancelled('999999').mensagem, /não se registra 999999 nela/);
    const waiting = refuseBesideOpen({
      id: '7',
      codigo: '101101',
      numero_sequencial: 1,
      estado: 'aguardando_autorizacao_nota',
    });
    assert.match(
      waiting.mensagem,
      /aguardando_autorizacao_nota\. Ele segue quando a nota for autorizada\. A nota ainda/,
    );
    const open = refuseBesideOpen({ id: '7', codigo: '105102', numero_sequencial: 2, estado: 'enviado' });
    assert.equal(open.codigo, 'E302');
    assert.match(open.mensagem, /cancelamento_por_substituicao número 2, enviado\. A nota ainda não está cancelada/);
    assert.match(open.mensagem, /em …\/eventos\/cancelamento_por_substituicao\/2/);
    assert.equal(
      open.detalhes,
      'cancelamento_em_andamento: cancelamento_por_substituicao nº 2 (id_evento 7), enviado.',
    );
  });
});

describe('an event that a refused one misses may be there, and not stand', () => {
  const named = (missed: ReturnType<typeof findMissing>) => missed && [missed.codigo, missed.numero_sequencial];
  const missed = (codigo: string, arriving: EventoQueChega) => named(findMissing({ codigo, mensagem: '' }, arriving));
  const naming = (campos: Record<string, string>): EventoQueChega => ({ ...evento('305103'), campos });

  test('the request of an analysis, for both answers to it', () => {
    for (const codigo of ['E0853', 'E0856']) assert.deepEqual(missed(codigo, evento('105104')), ['101103', undefined]);
  });

  test('the block or the rejection that is named, and nothing of another type', () => {
    const both = { id_evento_bloqueio: id('305102', 2), id_evento_rejeicao: id('203206', 3) };
    assert.deepEqual(missed('E1976', naming(both)), ['305102', 2]);
    assert.deepEqual(missed('E1963', naming(both)), ['203206', 3]);
    const wrong = { id_evento_bloqueio: id('101101', 1), id_evento_rejeicao: id('203202', 1) };
    for (const codigo of ['E1976', 'E1963']) {
      for (const campos of [wrong, {}, { id_evento_bloqueio: '', id_evento_rejeicao: '' }]) {
        assert.equal(missed(codigo, naming(campos)), undefined, JSON.stringify(campos));
      }
      assert.equal(
        missed(codigo, { ...naming(both), chave_acesso: `${CHAVE.slice(0, 49)}0` }),
        undefined,
        'of another note',
      );
    }
  });

  test('other conflicts miss nothing', () => {
    assert.equal(missed('E0840', naming({ id_evento_rejeicao: id('203206', 3) })), undefined);
  });

  const CONFLICT = { codigo: 'E0853', mensagem: 'x' };
  const found = (estado: EventoEstado, hasRetry = false) => ({
    id: '9',
    codigo: '101103',
    numero_sequencial: 1,
    estado,
    hasRetry,
  });
  const CASES: readonly (readonly [kind: string, estado: EventoEstado, hasRetry: boolean, advice: RegExp])[] = [
    ['em_andamento', 'enviado', false, /espere que seja processado, e registre \S+ de novo/],
    ['em_andamento', 'erro', true, /espere que seja processado/],
    ['parado', 'erro', false, /reprocesse-o ou dispense-o/],
    ['parado', 'erro_reprocessamento', false, /reprocesse-o ou dispense-o/],
    ['sem_efeito', 'rejeitado', false, /chegou ao fim sem efeito/],
    ['sem_efeito', 'cancelado', false, /chegou ao fim sem efeito/],
  ];
  for (const [kind, estado, hasRetry, advice] of CASES) {
    test(`${estado}${hasRetry ? ' with a retry' : ''}: ${kind}`, () => {
      const conflict = explainMissing(CONFLICT, evento('105104'), found(estado, hasRetry));
      assert.equal(conflict.codigo, 'E0853');
      assert.match(conflict.mensagem, advice);
      const called = 'solicitacao_analise_fiscal_para_cancelamento nº 1 (id_evento 9)';
      assert.ok(conflict.mensagem.startsWith(`O evento ${called} existe, e não vale na nota: está ${estado}. `));
      assert.equal(conflict.detalhes, `evento_${kind}: ${called}, ${estado}.`);
    });
  }
});
