/** The client of the ADN against a real HTTPS server: asking about notes, sharing events, and asking about them. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { chaveOf, entry, HEAD, lote, refusal } from '../../test/support/adn-answers.ts';
import {
  A,
  type Asked,
  accepts,
  askedFor,
  B,
  C,
  HTML,
  IMPATIENT,
  json,
  openNational,
  type Play,
  says,
  tells,
  timeInHand,
  xmlOf,
} from '../../test/support/national.ts';
import type { AdnKnowledge, EventoAnswer, EventoToShare } from './adn.ts';
import type { NationalSettings } from './national.ts';

const { stage } = openNational();

describe('asking', () => {
  type Kept = { readonly nsu: number; readonly chave: string; readonly tipo?: string; readonly arquivo?: string };
  const arquivos = new Map<string, string>();
  const arquivoOf = (chave: string): string =>
    arquivos.getOrInsertComputed(chave, () => gzipSync(xmlOf(chave)).toString('base64'));
  const shown = ({ nsu, chave, tipo = 'NFSE', arquivo = arquivoOf(chave) }: Kept) => ({
    NSU: nsu,
    ChaveAcesso: chave,
    TipoDocumento: tipo,
    TipoEvento: tipo === 'EVENTO' ? 'CANCELAMENTO' : null,
    ArquivoXml: arquivo,
    DataHoraGeracao: '2026-10-05T10:15:31.12',
  });
  const page = (...documents: readonly Kept[]) => ({
    StatusProcessamento: 'DOCUMENTOS_LOCALIZADOS',
    LoteDFe: documents.map(shown),
    Alertas: [],
    Erros: [],
    ...HEAD,
  });
  const NOTHING = { StatusProcessamento: 'NENHUM_DOCUMENTO_LOCALIZADO', LoteDFe: [], Alertas: [], Erros: [], ...HEAD };

  /** An ADN that holds documents; `inclusive` as the OpenAPI text has it, otherwise as the manual has it. */
  const holds =
    (kept: readonly Kept[], { size = 50, inclusive = false, status = 200 } = {}) =>
    ({ url }: Asked, response: ServerResponse): void => {
      if (url.includes('/Eventos')) {
        json(response, 404, NOTHING);
        return;
      }
      const from = Number(/^\/municipios\/DFe\/(\d+)\?tipoNSU=RECEPCAO&lote=true$/.exec(url)![1]);
      const rest = kept.filter(({ nsu }) => (inclusive ? nsu >= from : nsu > from)).slice(0, size);
      json(response, rest.length > 0 ? status : 404, rest.length > 0 ? page(...rest) : NOTHING);
    };
  const many = Array.from({ length: 120 }, (_, place): Kept => ({ nsu: place + 1, chave: chaveOf(place + 1) }));

  test('known with number and document, absent', async () => {
    const { find, asked } = await stage(holds(many.slice(0, 3)));
    assert.deepEqual(await find(askedFor(B), askedFor(chaveOf(999))), {
      [B]: { kind: 'known', nsu: '2', xml: xmlOf(B) },
      [chaveOf(999)]: { kind: 'absent', place: '3' },
    });
    assert.equal(asked[0]!.method, 'GET');
    assert.equal(asked[0]!.body, '');
  });

  test('begins at the lowest number that was known before, and stops when all are found', async () => {
    const { find, asked } = await stage(holds(many, { size: 10 }));
    const answers = await find(askedFor(chaveOf(55), '51'), askedFor(chaveOf(41), '37'));
    assert.ok(Object.values(answers).every(({ kind }) => kind === 'known'));
    assert.deepEqual(
      asked.map(({ url }) => /DFe\/(\d+)/.exec(url)![1]),
      // The numbers between the two were known before either was announced.
      ['37', '51'],
    );
  });

  test('takes pages of any size, from servers that count from a number or after it', async () => {
    for (const inclusive of [false, true]) {
      for (const size of [1, 2, 7, 50, 100, 1000]) {
        const { find, asked, close } = await stage(holds(many.slice(0, 60), { size, inclusive }));
        const answers = await find(askedFor(chaveOf(60), '2'), askedFor(chaveOf(999), '30'));
        assert.equal(answers[chaveOf(60)]!.kind, 'known', `${size} ${inclusive}`);
        assert.equal(answers[chaveOf(999)]!.kind, 'absent', `${size} ${inclusive}`);
        assert.ok(asked.length <= 130);
        await close();
      }
    }
  });

  test('reads the body first and the status second; either spelling; numbers as text', async () => {
    const { find, scene } = await stage(holds(many, { status: 400 }));
    assert.equal((await find(askedFor(A)))[A]!.kind, 'known');
    scene.play = says(200, {
      statusProcessamento: 'DOCUMENTOS_LOCALIZADOS',
      loteDFe: [{ nsu: '8', chaveAcesso: A, tipoDocumento: 'NFSe', arquivoXml: arquivoOf(A) }],
    });
    assert.deepEqual(await find(askedFor(A)), { [A]: { kind: 'known', nsu: '8', xml: xmlOf(A) } });
  });

  test('the end of the list is told in several ways', async () => {
    for (const end of [
      NOTHING,
      { StatusProcessamento: 'DOCUMENTOS_LOCALIZADOS', LoteDFe: [] },
      { LoteDFe: [] },
      { ...NOTHING, LoteDFe: null },
      ...['E2070', 'E2020', 'E2220'].map((code) => ({ StatusProcessamento: 'REJEICAO', ...refusal(code) })),
    ]) {
      const { find } = await stage(says(404, end));
      assert.deepEqual(await find(askedFor(A)), { [A]: { kind: 'absent', place: '0' } }, JSON.stringify(end));
    }
  });

  test('an event bears the key of its note and is not the note', async () => {
    const { find } = await stage(
      holds([
        { nsu: 1, chave: A, tipo: 'EVENTO' },
        { nsu: 2, chave: B, tipo: 'EVENTO' },
        { nsu: 3, chave: B },
      ]),
    );
    const answers = await find(askedFor(A), askedFor(B));
    assert.equal(answers[A]!.kind, 'absent');
    const found = answers[B]!;
    assert.ok(found.kind === 'known' && found.nsu === '3');
  });

  test('a document encoded twice is read; one that cannot be read is known all the same', async () => {
    const twice = Buffer.from(arquivoOf(A)).toString('base64');
    const bomb = gzipSync(Buffer.alloc(9_000_000)).toString('base64');
    for (const [arquivo, xml] of [
      [twice, xmlOf(A)],
      [bomb, undefined],
      [Buffer.from(twice).toString('base64'), undefined],
      ['', undefined],
      ['não é base64', undefined],
      [arquivoOf(A).slice(0, -12), undefined],
    ] as const) {
      const { find, close } = await stage(holds([{ nsu: 1, chave: A, arquivo }]));
      assert.deepEqual(await find(askedFor(A)), { [A]: { kind: 'known', nsu: '1', xml } });
      await close();
    }
  });

  test('documents without a number do not hold it up when others have one', async () => {
    const { find, scene } = await stage(({ url }, response) =>
      url.includes('DFe/0?')
        ? json(response, 200, { LoteDFe: [{ ...shown({ nsu: 1, chave: A }), NSU: null }, shown({ nsu: 2, chave: B })] })
        : json(response, 404, NOTHING),
    );
    const answers = await find(askedFor(A), askedFor(B), askedFor(C));
    assert.deepEqual(
      [answers[A], answers[C]],
      [
        { kind: 'known', nsu: undefined, xml: xmlOf(A) },
        { kind: 'absent', place: '2' },
      ],
    );
    scene.play = says(200, { LoteDFe: [{ ...shown({ nsu: 1, chave: B }), NSU: null }] });
    assert.equal((await find(askedFor(A)))[A]!.kind, 'unavailable', 'nowhere to go on from');
  });

  const unclear: Readonly<Record<string, Play>> = {
    'an HTML page': says(200, '<html>', HTML),
    'an HTML page with 404': says(404, '<html>', HTML),
    'an empty object': says(200, {}),
    'a refusal without a reason': says(400, { StatusProcessamento: 'REJEICAO' }),
    'a refusal': says(400, { StatusProcessamento: 'REJEICAO', ...refusal('E2003') }),
    'an error without a name': says(404, { ...NOTHING, ...refusal('E999') }),
    'a list that is none': says(200, { LoteDFe: 'x' }),
    'a list of texts': says(200, { LoteDFe: ['x'] }),
    'an empty list with 500': says(500, NOTHING),
    'a redirection': says(302, NOTHING, { Location: '/' }),
    '403': says(403, ''),
    silence: () => undefined,
    'a reset': (_asked, _response, reset) => reset(),
    'the same page for ever': says(200, page({ nsu: 1, chave: B })),
  };
  for (const [name, play] of Object.entries(unclear)) {
    test(`${name}: unavailable, never absent`, async () => {
      const { find, asked, close } = await stage(play, {
        limits: { pagesMax: 20, ...(name === 'silence' ? IMPATIENT : {}) },
      });
      const answer = (await find(askedFor(A)))[A]!;
      await close();
      assert.equal(answer.kind, 'unavailable');
      assert.ok(tells(answer).length > 10, tells(answer));
      assert.ok(asked.length <= 20);
    });
  }

  test('what was found before the trouble is known', async () => {
    const { find } = await stage((one, response) =>
      one.url.includes('DFe/0?') ? holds(many, { size: 2 })(one, response) : json(response, 500, ''),
    );
    const answers = await find(askedFor(B), askedFor(chaveOf(50)));
    assert.deepEqual([answers[B]!.kind, answers[chaveOf(50)]!.kind], ['known', 'unavailable']);
  });

  test('a list longer than a round goes on where the last round ended', async () => {
    const { find, asked } = await stage(holds(many, { size: 10 }), { limits: { pagesMax: 5 } });
    const wanted = chaveOf(118);
    const first = (await find(askedFor(wanted)))[wanted]!;
    assert.ok(first.kind === 'unavailable' && first.goesOn && first.place === '50');
    // A different caller may continue the search.
    const second = (await find(askedFor(wanted, first.place)))[wanted]!;
    assert.ok(second.kind === 'unavailable' && second.goesOn && second.place === '100');
    assert.deepEqual(await find(askedFor(wanted, second.place)), {
      [wanted]: { kind: 'known', nsu: '118', xml: xmlOf(wanted) },
    });
    assert.equal(asked.length, 12, '120 documents, ten a page, each page once');
  });

  test('what failed tells up to where it had come, and is no reason to go on at once', async () => {
    const { find } = await stage((one, response) =>
      one.url.includes('DFe/23?') ? json(response, 500, '') : holds(many, { size: 10 })(one, response),
    );
    const answer = (await find(askedFor(chaveOf(70), '3')))[chaveOf(70)]!;
    assert.ok(answer.kind === 'unavailable' && answer.goesOn === undefined);
    assert.equal(answer.place, '23');
    const [held, other] = [chaveOf(14), chaveOf(71)];
    const answers = await find(askedFor(held, '12'), askedFor(other, '60'));
    assert.equal(answers[held]!.kind, 'known');
    assert.equal(answers[other]!.kind, 'known', 'between the two nothing is read');
  });

  describe('where the list has grown long', () => {
    const long = Array.from({ length: 5_000 }, (_, place): Kept => ({ nsu: place + 1, chave: chaveOf(place + 1) }));
    const gone = [chaveOf(90_001), chaveOf(90_002)];
    const plays =
      (byKey: Play): Play =>
      (one, response, reset) =>
        one.url.includes('/Eventos') ? byKey(one, response, reset) : holds(long, { size: 50 })(one, response);
    const ofKeys = (asked: readonly Asked[]): number => asked.filter(({ url }) => url.includes('/Eventos')).length;

    test('a few notes are asked about by key, and E2060 says that one is not there', async () => {
      const { find, asked } = await stage(plays(says(404, { ...NOTHING, ...refusal('E2060') })));
      assert.deepEqual(await find(...gone.map((chave) => askedFor(chave, '7', '5000'))), {
        [gone[0]!]: { kind: 'absent', place: '5000' },
        [gone[1]!]: { kind: 'absent', place: '5000' },
      });
      assert.equal(asked.length, 3, 'a page, and a question for each');
    });

    test('nothing else that is said of a key decides: the list is read', async () => {
      for (const byKey of [
        NOTHING,
        { ...NOTHING, ...refusal('E2220') },
        { ...NOTHING, ...refusal('E2061') },
        page({ nsu: 4_000, chave: gone[0]!, tipo: 'EVENTO' }),
      ]) {
        const { find, asked, close } = await stage(plays(says(404, byKey)));
        const wanted = chaveOf(4_990);
        const answers = await find(askedFor(gone[0]!, '7', '5000'), askedFor(wanted, '7', '5000'));
        assert.equal(answers[wanted]!.kind, 'known');
        assert.deepEqual(answers[gone[0]!], { kind: 'absent', place: '5000' });
        assert.equal(ofKeys(asked), 2, 'each once');
        await close();
      }
    });

    test('where that is not answered the list is read, and many notes are not asked about one by one', async () => {
      const { find, asked } = await stage(plays(says(500, '')));
      assert.equal((await find(askedFor(gone[0]!, '7', '5000')))[gone[0]!]!.kind, 'absent');
      const before = ofKeys(asked);
      const crowd = Array.from({ length: 200 }, (_, place) => askedFor(chaveOf(91_000 + place), '7', '5000'));
      const answers = Object.values(await find(...crowd));
      assert.ok(answers.every((answer) => answer.kind === 'absent' && answer.place === '5000'));
      assert.equal(ofKeys(asked), before, 'a hundred pages are fewer than two hundred questions');
    });
  });

  test('ends in time', async (t) => {
    const clock = timeInHand(t);
    const { find, asked } = await stage(
      (one, response) => {
        clock.now += 60_000;
        holds(many, { size: 1 })(one, response);
      },
      { limits: { findMs: 300_000, requestMinMs: 100_000 } },
    );
    assert.equal((await find(askedFor(chaveOf(999))))[chaveOf(999)]!.kind, 'unavailable');
    assert.equal(asked.length, 4, 'with 300, 240, 180 and 120 seconds left; 60 are not enough');
  });
});

/** The event of a type and a sequence on a note. */
function eventoOf(chave: string, codigo = '101101', sequencia = 1): EventoToShare {
  const id = `EVT${chave}${codigo}${String(sequencia).padStart(3, '0')}`;
  const xml = Buffer.from(`<?xml version="1.0"?><evento><infEvento Id="${id}">ação</infEvento></evento>`);
  const evento = { codigo, numero_sequencial: sequencia, autor: '11222333000181', campos: {} };
  return { id, chave_acesso: chave, xml, evento, naNota: [] };
}

const idsIn = ({ body }: Asked): string[] =>
  (JSON.parse(body) as { LoteXmlGZipB64: string[] }).LoteXmlGZipB64.map(
    (text) => /Id="(EVT\w{59})"/.exec(gunzipSync(Buffer.from(text, 'base64')).toString('utf8'))![1]!,
  );

const kindsOf = (answers: readonly (EventoAnswer | AdnKnowledge | undefined)[]): unknown =>
  answers.map((answer) => answer?.kind);

/** The answer to its only event. */
async function eventoAnswerTo(play: Play, settings: Partial<NationalSettings> = {}): Promise<EventoAnswer> {
  const { shareEventos, close } = await stage(play, settings);
  const [answer] = await shareEventos(eventoOf(A));
  await close();
  return answer!;
}

describe('sharing events', () => {
  test('is sharing documents: the same address, the same packing, in order', async () => {
    const { asked, shareEventos } = await stage(accepts);
    assert.deepEqual(await shareEventos(eventoOf(B), eventoOf(A), eventoOf(C)), [
      { kind: 'accepted', nsu: '1' },
      { kind: 'accepted', nsu: '2' },
      { kind: 'accepted', nsu: '3' },
    ]);
    assert.deepEqual([asked.length, asked[0]!.method, asked[0]!.url], [1, 'POST', '/adn/DFe']);
    assert.deepEqual(idsIn(asked[0]!), [eventoOf(B).id, eventoOf(A).id, eventoOf(C).id]);
    const [text] = JSON.parse(asked[0]!.body).LoteXmlGZipB64;
    assert.deepEqual(gunzipSync(Buffer.from(text, 'base64')), eventoOf(B).xml, 'byte by byte');
  });

  test('two events of one note never travel in one lot: their answers could not be told apart', async () => {
    const { asked, shareEventos } = await stage((one, response) =>
      // The order is promised nowhere, so it differs here.
      json(response, 201, lote(...one.chaves.toReversed().map((chave) => entry(chave, '7')))),
    );
    const [first, second, third] = [eventoOf(A, '101103'), eventoOf(A, '105104'), eventoOf(A, '305102')];
    const answers = await shareEventos(first, eventoOf(B), second, eventoOf(C), third, eventoOf(B, '305102'));
    assert.ok(answers.every((answer) => answer?.kind === 'accepted'));
    assert.deepEqual(asked.map(idsIn), [
      [first.id, eventoOf(B).id, eventoOf(C).id],
      [second.id, eventoOf(B, '305102').id],
      [third.id],
    ]);
  });

  test('a refusal decides, and the next event of the note goes', async () => {
    const { asked, shareEventos } = await stage((_asked, response) =>
      json(response, 201, lote(asked.length === 1 ? entry(A, null, 'E0840') : entry(A, '9'))),
    );
    const answers = await shareEventos(eventoOf(A), eventoOf(A, '305102'));
    assert.deepEqual(kindsOf(answers), ['refused', 'accepted']);
    assert.equal(asked.length, 2);
  });

  for (const [what, play] of [
    ['an answer without it', says(201, lote(entry(B, '1')))],
    ['an HTML page', says(200, '<html>', HTML)],
    ['too many requests', says(429, {})],
  ] as const) {
    test(`while one is undecided (${what}), those after it are not sent, and those of other notes are not held up`, async () => {
      const { asked, shareEventos } = await stage((one, response, reset) =>
        one.chaves.includes(A) ? play(one, response, reset) : accepts(one, response),
      );
      const [, second] = await shareEventos(eventoOf(A), eventoOf(A, '305102'));
      assert.deepEqual(second, {
        kind: 'unavailable',
        why: 'um evento anterior da mesma nota ainda não foi decidido',
      });
      assert.equal(asked.length, 1);
      assert.deepEqual(kindsOf(await shareEventos(eventoOf(B), eventoOf(B, '305102'))), ['accepted', 'accepted']);
    });
  }

  test('a note that is not known is not known to its later events either, without asking', async () => {
    const { asked, shareEventos } = await stage(says(201, lote(entry(A, null, 'E1831'))));
    const answers = await shareEventos(eventoOf(A), eventoOf(A, '305102'));
    assert.deepEqual(kindsOf(answers), ['note_unknown', 'note_unknown']);
    assert.equal(asked.length, 1);
  });

  const BY_ANSWER: readonly (readonly [EventoAnswer['kind'], string, Play])[] = [
    ['unknown', 'silence', () => undefined],
    ['unknown', 'a reset', (_asked, _response, reset) => reset()],
    ['unknown', '500', says(500, {})],
    ['unknown', '503 with a body', says(503, refusal('E0840'))],
    ['unknown', 'HTML', says(200, '<html>', HTML)],
    ['unknown', 'half a body', says(201, '{"Lote":[{"Chave')],
    ['unknown', 'no number', says(201, lote(entry(A, null)))],
    ['unknown', 'a contradiction', says(201, lote(entry(A, '1'), entry(A, null, 'E0840')))],
    ['unknown', 'no entry', says(201, lote(entry(B, '1')))],
    ['unavailable', '429', says(429, {})],
    ['unavailable', '413', says(413, {})],
    ['misconfigured', '403', says(403, {})],
    ['misconfigured', 'E1203 for the lot', says(403, refusal('E1203'))],
    ['refused', 'a refusal of the lot of one', says(400, refusal('E1235'))],
    ['note_unknown', 'E1831 beside the list', says(400, refusal('E1831'))],
    ['accepted', 'an entry without a key', says(201, lote(entry(null, '4')))],
  ];
  for (const [kind, what, play] of BY_ANSWER) {
    test(`${what}: ${kind}`, async () => {
      const answer = await eventoAnswerTo(play, what === 'silence' ? { limits: IMPATIENT } : {});
      assert.equal(answer.kind, kind);
      assert.doesNotMatch('why' in answer ? answer.why : '', /nota\b/, 'an event is spoken of');
    });
  }

  test('a lot refused as a whole is halved until the guilty one stands alone', async () => {
    const { asked, shareEventos } = await stage((one, response) => {
      if (one.chaves.includes(B)) json(response, 400, refusal('E1235'));
      else accepts(one, response);
    });
    const answers = await shareEventos(eventoOf(A), eventoOf(B), eventoOf(C), eventoOf(chaveOf(4)));
    assert.deepEqual(kindsOf(answers), ['accepted', 'refused', 'accepted', 'accepted']);
    assert.ok(asked.length > 2);
  });

  test('one that comes twice goes once, one without its document does not go, and none sends nothing', async () => {
    const { asked, shareEventos } = await stage(accepts);
    assert.deepEqual(kindsOf(await shareEventos(eventoOf(A), eventoOf(A))), ['accepted', 'accepted']);
    assert.equal(idsIn(asked[0]!).length, 1);
    const [answer] = await shareEventos({ ...eventoOf(B), xml: undefined });
    assert.deepEqual(answer, { kind: 'unavailable', why: 'o evento não tem documento assinado' });
    assert.deepEqual(await shareEventos(), []);
    assert.equal(asked.length, 1);
  });

  test('goes in lots of at most fifty, several at once', async () => {
    const { asked, shareEventos } = await stage(accepts);
    const eventos = Array.from({ length: 120 }, (_, place) => eventoOf(chaveOf(place)));
    assert.ok((await shareEventos(...eventos)).every((answer) => answer?.kind === 'accepted'));
    assert.deepEqual(
      asked
        .map(idsIn)
        .map(({ length }) => length)
        .toSorted(),
      [20, 50, 50],
    );
  });

  test('notes and events share one circuit: a certificate refused for the ones is not tried for the others', async () => {
    const { asked, adn, share, shareEventos, findEventos } = await stage(says(403, {}));
    assert.equal((await share(A))[A]!.kind, 'misconfigured');
    assert.deepEqual(kindsOf(await shareEventos(eventoOf(A))), ['misconfigured']);
    assert.deepEqual(kindsOf(await findEventos(eventoOf(A))), ['unavailable']);
    assert.equal(asked.length, 1);
    assert.ok(adn.pauseMs() > 0);
  });

  test('a round that is over sends no more, and says so', async (t) => {
    const clock = timeInHand(t);
    const { shareEventos } = await stage(
      (one, response) => {
        clock.now += 60_000;
        accepts(one, response);
      },
      { limits: { shareMs: 200_000, requestMinMs: 50_000 } },
    );
    const eventos = Array.from({ length: 10 }, (_, place) => eventoOf(A, '305102', place + 1));
    const kinds = (await shareEventos(...eventos)).map((answer) => answer!.kind);
    // The three have 200, 140 and 80 seconds left; 20 are not enough.
    assert.deepEqual(kinds, [...Array(3).fill('accepted'), ...Array(7).fill('unavailable')]);
  });

  test('nothing of an event goes to the log', async () => {
    const { logged, shareEventos } = await stage(says(500, {}));
    await shareEventos(eventoOf(A));
    const text = JSON.stringify(logged);
    assert.match(text, /não se sabe se o ADN recebeu alguns eventos/);
    assert.doesNotMatch(text, /3550308|EVT|ação/);
  });
});

/** An event in the form of the answer to a query. */
const heldEvento = ({ chave_acesso, xml }: EventoToShare, more: object = {}) => ({
  NSU: 7,
  ChaveAcesso: chave_acesso,
  TipoDocumento: 'EVENTO',
  TipoEvento: 'CANCELAMENTO',
  ArquivoXml: gzipSync(xml!).toString('base64'),
  DataHoraGeracao: '2026-10-05T10:15:31.12-03:00',
  ...more,
});

const held = (...entries: readonly object[]) => ({
  StatusProcessamento: entries.length === 0 ? 'NENHUM_DOCUMENTO_LOCALIZADO' : 'DOCUMENTOS_LOCALIZADOS',
  LoteDFe: entries,
  Alertas: [],
  Erros: [],
  ...HEAD,
});

describe('asking about events', () => {
  test('asks once a note, and finds each by the Id inside of its document', async () => {
    const [one, two] = [eventoOf(A, '101103'), eventoOf(A, '105104')];
    const { asked, findEventos } = await stage((request, response) =>
      json(response, 200, request.url.includes(A) ? held(heldEvento(two), heldEvento(one, { NSU: null })) : held()),
    );
    const answers = await findEventos(one, two, eventoOf(A, '305102'), eventoOf(B));
    assert.deepEqual(answers, [
      { kind: 'known', nsu: undefined, xml: one.xml },
      { kind: 'known', nsu: '7', xml: two.xml },
      { kind: 'absent' },
      { kind: 'absent' },
    ]);
    assert.deepEqual(asked.map(({ method, url }) => `${method} ${url}`).toSorted(), [
      `GET /municipios/NFSe/${A}/Eventos`,
      `GET /municipios/NFSe/${B}/Eventos`,
    ]);
  });

  test('another sequence, another type, a note: none of them is the event', async () => {
    const others = [eventoOf(A, '101101', 2), eventoOf(A, '101103')].map((other) => heldEvento(other));
    const note = { ...heldEvento(eventoOf(A)), TipoDocumento: 'NFSE' };
    const { findEventos } = await stage(says(200, held(...others, note)));
    assert.deepEqual(await findEventos(eventoOf(A)), [{ kind: 'absent' }]);
  });

  test('names in either spelling, a document encoded twice, a prefix, one that cannot be read', async () => {
    const own = eventoOf(A);
    const prefixed = Buffer.from(`<n:evento xmlns:n="u"><n:infEvento  Id='${own.id}'/></n:evento>`);
    const camel = (value: object): object =>
      Object.fromEntries(Object.entries(value).map(([name, inner]) => [name[0]!.toLowerCase() + name.slice(1), inner]));
    const twice = Buffer.from(gzipSync(own.xml!).toString('base64')).toString('base64');
    for (const [body, kind] of [
      [held(camel(heldEvento(own))), 'known'],
      [{ loteDFe: [heldEvento(own)] }, 'known'],
      [held(heldEvento(own, { ArquivoXml: twice })), 'known'],
      [held(heldEvento(own, { ArquivoXml: gzipSync(prefixed).toString('base64') })), 'known'],
      [held(heldEvento(own, { ArquivoXml: 'AAAA' })), 'absent'],
      [held(heldEvento(own, { ArquivoXml: null }), heldEvento(own)), 'known'],
    ] as const) {
      const { findEventos, close } = await stage(says(200, body));
      assert.deepEqual(kindsOf(await findEventos(own)), [kind], JSON.stringify(body));
      await close();
    }
  });

  const NONE: readonly (readonly [AdnKnowledge['kind'], string, number, unknown])[] = [
    ['absent', 'an empty list', 404, held()],
    ['absent', 'a note that is not there (E2060)', 404, { ...held(), ...refusal('E2060') }],
    ['absent', 'a note of another municipality (E2061)', 400, { ...held(), ...refusal('E2061') }],
    ['unavailable', 'HTML', 404, '<html>'],
    ['unavailable', 'an empty object', 200, {}],
    ['unavailable', '500 with an empty list', 500, held()],
    ['unavailable', 'trouble without a name', 400, { ...held(), ...refusal('E999') }],
    ['unavailable', 'the certificate', 400, { ...held(), ...refusal('E2001') }],
    ['unavailable', '403', 403, ''],
    ['unavailable', '429', 429, ''],
  ];
  for (const [kind, what, status, body] of NONE) {
    test(`${what}: ${kind}`, async () => {
      const type = body === '<html>' ? HTML : undefined;
      const { findEventos } = await stage(says(status, body, type));
      assert.deepEqual(kindsOf(await findEventos(eventoOf(A), eventoOf(A, '305102'))), [kind, kind]);
    });
  }

  test('a round that is over asks about no more', async (t) => {
    const clock = timeInHand(t);
    const { asked, findEventos } = await stage(
      (_asked, response) => {
        clock.now += 60_000;
        json(response, 200, held());
      },
      { limits: { findMs: 300_000, requestMinMs: 100_000 } },
    );
    const answers = await findEventos(...Array.from({ length: 20 }, (_, place) => eventoOf(chaveOf(place))));
    // Four start at once. No time is left for another after the fourth answer, and three may have started meanwhile.
    assert.ok(asked.length >= 4 && asked.length <= 7, `${asked.length} asked`);
    assert.equal(answers.filter((answer) => answer?.kind === 'absent').length, asked.length);
    assert.ok(answers.every((answer) => answer?.kind === 'absent' || answer?.kind === 'unavailable'));
  });

  test('a note that gives no answer holds up no other', async () => {
    const { findEventos } = await stage(
      (request, response) => {
        if (!request.url.includes(A)) json(response, 200, held(heldEvento(eventoOf(B))));
      },
      { limits: { headersMs: 1500 } },
    );
    assert.deepEqual(kindsOf(await findEventos(eventoOf(A), eventoOf(B))), ['unavailable', 'known']);
  });
});
