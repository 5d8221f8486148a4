/** The local authority of the sandbox: its own decisions, and its rehearsals (D-60, D-54). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventoNaNota } from '../fiscal/conflitos-evento.ts';
import type { AdnKnowledge, EventoAnswer, EventoToShare, NotaAnswer } from './adn.ts';
import { localAdn } from './local.ts';

const CHAVE = '35503081211222333000181000000000000126091234567895';
const OTHER = '35503081211222333000181000000000000226091234567891';
const CAME = Date.UTC(2026, 9, 5, 12);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const evento = (codigo: string, more: Partial<EventoNaNota> = {}): EventoNaNota => ({
  codigo,
  numero_sequencial: 1,
  autor: '11222333000181',
  campos: {},
  ...more,
});

function toShare(one: EventoNaNota, more: Partial<EventoToShare> = {}): EventoToShare {
  const chave_acesso = more.chave_acesso ?? CHAVE;
  const id = `EVT${chave_acesso}${one.codigo}${String(one.numero_sequencial).padStart(3, '0')}`;
  return { id, chave_acesso, xml: undefined, evento: one, naNota: [], ...more };
}

const ACCEPTED = { kind: 'accepted', nsu: undefined };

async function shared(...eventos: readonly EventoToShare[]): Promise<(EventoAnswer | undefined)[]> {
  const answers = await localAdn(() => CAME).shareEventos('integracao', eventos);
  assert.equal(answers.size, new Set(eventos.map(({ id }) => id)).size);
  return eventos.map(({ id }) => answers.get(id));
}

const codesOf = (answers: readonly (EventoAnswer | undefined)[]): unknown =>
  answers.map((answer) =>
    answer?.kind === 'refused' ? answer.erros.map(({ codigo }) => codigo).join() : answer?.kind,
  );

describe('what it decides by itself', () => {
  test('notes are authorised, and none is known before it is sent', async () => {
    const adn = localAdn();
    assert.deepEqual(
      [...(await adn.share('integracao', [{ chave_acesso: CHAVE, xml: undefined }]))],
      [[CHAVE, ACCEPTED]],
    );
    const found = await adn.find('integracao', [{ chave_acesso: CHAVE, nsu_antes: '0', nsu_agora: '0' }]);
    assert.deepEqual([...found], [[CHAVE, { kind: 'absent' }]]);
    const asked = await adn.findEventos('integracao', [{ id: 'EVT1', chave_acesso: CHAVE }]);
    assert.deepEqual([...asked], [['EVT1', { kind: 'absent' }]]);
    assert.deepEqual([adn.wantsDocuments, adn.pauseMs()], [false, 0]);
  });

  test('a note that replaces one that is at its end: only the one that the event names (E1310, E0046, E0044)', async () => {
    const adn = localAdn();
    const cases = [
      ['autorizada', null, 'accepted'],
      ['cancelada', CHAVE, 'accepted'],
      ['cancelada', OTHER, 'E1310'],
      ['cancelada', null, 'E0046'],
      ['recusada', null, 'E0044'],
    ] as const;
    for (const [estado, por, wanted] of cases) {
      for (const more of [{}, { simular: 'adn:resposta-perdida', criado: CAME }]) {
        const nota = {
          chave_acesso: CHAVE,
          xml: undefined,
          substituida: { chave_acesso: OTHER, estado, por },
          nsu_antes: '0',
          nsu_agora: '0',
          ...more,
        };
        const answer = (await adn.share('integracao', [nota])).get(CHAVE)!;
        const known = (await adn.find('integracao', [nota])).get(CHAVE)!;
        if (wanted === 'accepted') {
          assert.equal(answer.kind, 'simular' in more ? 'unknown' : 'accepted');
          continue;
        }
        assert.ok(answer.kind === 'refused', `${estado} ${por}`);
        assert.deepEqual([answer.erros.map(({ codigo }) => codigo), known.kind], [[wanted], 'absent']);
      }
    }
  });

  test('an event on a note without others is accepted, manifestations of the parties too', async () => {
    for (const codigo of ['101101', '101103', '202201', '203202', '204203', '202205', '203206', '204207']) {
      assert.deepEqual(await shared(toShare(evento(codigo))), [ACCEPTED], codigo);
    }
  });

  test('what stands on the note rules out what the matrix says, with the national code and words', async () => {
    const confirmed = [evento('203202', { autor: '52998224725' })];
    const [answer] = await shared(toShare(evento('101101'), { naNota: confirmed }));
    assert.ok(answer?.kind === 'refused');
    assert.equal(answer.erros[0]?.codigo, 'E0840');
    assert.match(answer.erros[0].descricao, /confirmacao_tomador/);
    assert.deepEqual(codesOf(await shared(toShare(evento('105104')))), ['E0853']);
  });

  test('events of one claim are decided in order, each note for itself', async () => {
    const [first, second] = [evento('101101'), evento('101101', { numero_sequencial: 2 })];
    const lot = [toShare(first), toShare(second), toShare(first, { chave_acesso: OTHER })];
    assert.deepEqual(codesOf(await shared(...lot)), ['accepted', 'E0840', 'accepted']);
    const story = [evento('101103'), evento('105104', { autor: '99999999000191' }), evento('203202')];
    assert.deepEqual(codesOf(await shared(...story.map((one) => toShare(one)))), ['accepted', 'accepted', 'E0861']);
    assert.deepEqual(
      codesOf(await shared(toShare(first), toShare(first))),
      ['accepted', 'accepted'],
      'one event, twice',
    );
  });
});

type Told = { readonly nota?: NotaAnswer; readonly evento?: EventoAnswer; readonly known?: AdnKnowledge };

/** The answers for a note and an event that came at {@link CAME}, after so much time. */
async function told(simular: string, afterMs: number): Promise<Told> {
  const adn = localAdn(() => CAME + afterMs);
  const asked = { simular, criado: CAME };
  const event = toShare(evento('101101'), asked);
  const nota = (await adn.share('integracao', [{ chave_acesso: CHAVE, xml: undefined, ...asked }])).get(CHAVE)!;
  const found = (await adn.find('integracao', [{ chave_acesso: CHAVE, nsu_antes: '0', nsu_agora: '0', ...asked }])).get(
    CHAVE,
  )!;
  const known = (await adn.findEventos('integracao', [event])).get(event.id)!;
  assert.deepEqual(known, found, 'a note and an event are known alike');
  return { nota, evento: (await adn.shareEventos('integracao', [event])).get(event.id)!, known };
}

const kinds = ({ nota, evento: event, known }: Told): unknown => [nota?.kind, event?.kind, known?.kind];

describe('what it rehearses', () => {
  test('adn:rejeita=E1234: refused with that code, however often', async () => {
    for (const afterMs of [0, 30 * 24 * HOUR]) {
      const { nota, evento: event, known } = await told('adn:rejeita=E1234', afterMs);
      assert.ok(nota?.kind === 'refused' && event?.kind === 'refused');
      assert.deepEqual(nota.erros, event.erros);
      assert.equal(nota.erros[0]?.codigo, 'E1234');
      assert.equal(known?.kind, 'absent');
    }
  });

  test('adn:rejeita with a code of the certificate refuses the document alone, and stops nobody', async () => {
    assert.deepEqual(kinds(await told('adn:rejeita=E1262', 0)), ['refused', 'refused', 'absent']);
  });

  test('adn:rejeita=E999: nothing is decided for an hour, then it is', async () => {
    for (const code of ['E999', 'E1217', 'RNG9999']) {
      assert.deepEqual(kinds(await told(`adn:rejeita=${code}`, HOUR - 1)), ['unknown', 'unknown', 'absent']);
      assert.deepEqual(kinds(await told(`adn:rejeita=${code}`, HOUR)), ['accepted', 'accepted', 'absent']);
    }
  });

  test('adn:rejeita=E1831: the note of the event is not known, past the day after which help is asked for', async () => {
    assert.deepEqual(kinds(await told('adn:rejeita=E1831', 24 * HOUR + MINUTE)), ['refused', 'note_unknown', 'absent']);
    assert.deepEqual(kinds(await told('adn:rejeita=E1831', 25 * HOUR)), ['refused', 'accepted', 'absent']);
  });

  test('adn:rejeita=E1308: a note that comes too early waits for an hour, and then goes', async () => {
    assert.deepEqual(kinds(await told('adn:rejeita=E1308', HOUR - 1)), ['too_early', 'refused', 'absent']);
    assert.deepEqual(kinds(await told('adn:rejeita=E1308', HOUR)), ['accepted', 'refused', 'absent']);
  });

  test('adn:rejeita=E1818: the type is not taken from a municipality', async () => {
    assert.deepEqual(kinds(await told('adn:rejeita=E1818', 0)), ['refused', 'not_taken_here', 'absent']);
  });

  test('adn:atraso=30s: no decision before, and the moment of it is told', async () => {
    const early = await told('adn:atraso=30s', 30 * SECOND - 1);
    assert.deepEqual(kinds(early), ['unavailable', 'unavailable', 'absent']);
    assert.deepEqual(
      [early.nota, early.evento].map((one) => one?.kind === 'unavailable' && one.at),
      [CAME + 30 * SECOND, CAME + 30 * SECOND],
    );
    assert.deepEqual(kinds(await told('adn:atraso=30s', 30 * SECOND)), ['accepted', 'accepted', 'absent']);
    assert.deepEqual(kinds(await told('adn:atraso=30s adn:rejeita=E1234', 0)), [
      'unavailable',
      'unavailable',
      'absent',
    ]);
    assert.deepEqual(kinds(await told('adn:atraso=30s adn:rejeita=E1234', MINUTE)), ['refused', 'refused', 'absent']);
  });

  test('adn:indisponivel=5m: nobody answers before, whether asked or sent to', async () => {
    const early = await told('adn:indisponivel=5m', 5 * MINUTE - 1);
    assert.deepEqual(kinds(early), ['unavailable', 'unavailable', 'unavailable']);
    assert.ok(early.nota?.kind === 'unavailable' && early.nota.at === undefined, 'nobody knows when');
    assert.deepEqual(kinds(await told('adn:indisponivel=5m', 5 * MINUTE)), ['accepted', 'accepted', 'absent']);
  });

  test('adn:resposta-perdida: sending tells nothing, asking tells that it is there', async () => {
    assert.deepEqual(kinds(await told('adn:resposta-perdida', 0)), ['unknown', 'unknown', 'known']);
  });

  test('a lost answer is that of an event that was taken, and stands on the note for those after it', async () => {
    const lost = { simular: 'adn:resposta-perdida', criado: CAME };
    const second = toShare(evento('101101', { numero_sequencial: 2 }));
    assert.deepEqual(codesOf(await shared(toShare(evento('101101'), lost), second)), ['unknown', 'E0840']);
    const late = toShare(evento('101101'), { ...lost, naNota: [evento('203202', { autor: '52998224725' })] });
    assert.deepEqual(codesOf(await shared(late)), ['E0840']);
  });

  test('what is not decided yet holds up those after it on the note, and no others', async () => {
    const slow = toShare(evento('101101'), { simular: 'adn:atraso=30s', criado: CAME });
    const second = toShare(evento('203202', { autor: '52998224725' }));
    assert.deepEqual(codesOf(await shared(slow, second)), ['unavailable', 'unavailable']);
    const unknown = toShare(evento('101101'), { simular: 'adn:rejeita=E1831', criado: CAME });
    assert.deepEqual(codesOf(await shared(unknown, second)), ['note_unknown', 'note_unknown']);
    const other = toShare(evento('203202', { autor: '52998224725' }), { chave_acesso: OTHER });
    assert.deepEqual(codesOf(await shared(slow, other)), ['unavailable', 'accepted']);
  });

  test('what is refused in a rehearsal does not stand on the note', async () => {
    const refused = toShare(evento('101101'), { simular: 'adn:rejeita=E0822', criado: CAME });
    const second = toShare(evento('101101', { numero_sequencial: 2 }));
    assert.deepEqual(codesOf(await shared(refused, second)), ['E0822', 'accepted']);
  });

  test('one document alone is concerned', async () => {
    const adn = localAdn();
    const answers = await adn.share('integracao', [
      { chave_acesso: CHAVE, xml: undefined, simular: 'adn:rejeita=E1234', criado: CAME },
      { chave_acesso: OTHER, xml: undefined },
    ]);
    assert.deepEqual([answers.get(CHAVE)?.kind, answers.get(OTHER)?.kind], ['refused', 'accepted']);
  });
});

test('what came while the clock was ahead does not wait for it', async () => {
  for (const simular of ['adn:atraso=30s', 'adn:indisponivel=5m']) {
    const { nota, evento } = await told(simular, -2 * 3_600_000);
    assert.deepEqual([nota?.kind, evento?.kind], ['accepted', 'accepted']);
  }
});
