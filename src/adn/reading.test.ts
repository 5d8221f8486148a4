/** The meaning of the bodies of the ADN, without a server: the contract's own bodies, and the bad ones that integrators report. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { chaveOf, entry, HEAD, lote, refusal } from '../../test/support/adn-answers.ts';
import fc from '../../test/support/seed.ts';
import type { EventoAnswer, NotaAnswer } from './adn.ts';
import {
  codesOf,
  credentialWhy,
  EVENTO,
  eventoIdIn,
  type Matter,
  NOTA,
  readArquivo,
  readLot,
  readPage,
} from './reading.ts';
import { lotVerdict } from './verdict.ts';
import { NO_EVENTO, NOTHING_AFTER } from './wire.ts';

const A = chaveOf(1);
const B = chaveOf(2);
const C = chaveOf(3);

const bytesOf = (body: unknown): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

/** The answer about each of these, in their order. */
function answersTo<A>(matter: Matter<A>, chaves: readonly string[], status: number, body: unknown, type: string) {
  const outcome = { kind: 'answered', status, type, body: bytesOf(body) } as const;
  const { value } = lotVerdict(outcome, chaves, matter);
  if ('split' in value) throw new Error('the lot is to be divided');
  return chaves.map((chave) => ('each' in value ? value.each.get(chave)! : value.all));
}

const JSON_TYPE = 'application/json; charset=utf-8';

const answerTo = (status: number, body: unknown, type = JSON_TYPE): NotaAnswer =>
  answersTo(NOTA, [A], status, body, type)[0]!;
const eventoAnswerTo = (status: number, body: unknown): EventoAnswer =>
  answersTo(EVENTO, [A], status, body, JSON_TYPE)[0]!;
const threeOf = (...entries: readonly unknown[]): readonly NotaAnswer[] =>
  answersTo(NOTA, [A, B, C], 201, lote(...entries), JSON_TYPE);
const kindsOf = (answers: readonly NotaAnswer[]): readonly string[] => answers.map(({ kind }) => kind);
const tells = (answer: NotaAnswer | EventoAnswer): string => ('why' in answer ? answer.why : '');

describe('an answer that is clear', () => {
  test('accepted: no errors and a reception number, text or number, with either spelling of the names', () => {
    const spellings: readonly [string, unknown][] = [
      ['17', lote(entry(A, '17'))],
      ['17', lote(entry(A, 17))],
      ['17', lote(entry(A, ' 17 '))],
      ['17', lote({ ...entry(A, '0017'), Erros: null })],
      ['17', lote({ ChaveAcesso: A, NsuRecepcao: '17' })],
      ['17', lote({ ChaveAcesso: ` ${A}\n`, NsuRecepcao: '17' })],
      ['123456789012345678', lote(entry(A, '123456789012345678'))],
      ['9', { lote: [{ chaveAcesso: A, nsuRecepcao: '9', erros: [], alertas: [{ codigo: 'A1' }] }] }],
      ['9', { LOTE: [{ CHAVEACESSO: A, NSURECEPCAO: '9' }] }],
      ['17', `\uFEFF${JSON.stringify(lote(entry(A, '17')))}`],
    ];
    for (const [nsu, body] of spellings) {
      assert.deepEqual(answerTo(201, body), { kind: 'accepted', nsu }, JSON.stringify(body));
    }
    for (const type of ['application/json', ' Application/JSON;charset=utf-8', 'application/problem+json']) {
      assert.equal(answerTo(201, lote(entry(A, '17')), type).kind, 'accepted', type);
    }
  });

  test('a key with letters is the same in lower case', () => {
    const key = `35503081${'AB'.repeat(21)}`;
    assert.deepEqual(answersTo(NOTA, [key], 201, lote(entry(key.toLowerCase(), '3')), JSON_TYPE), [
      { kind: 'accepted', nsu: '3' },
    ]);
  });

  test('already there (E1268, E1805): accepted, without a number', () => {
    for (const code of ['E1268', 'E1805', 'e1268']) {
      assert.deepEqual(answerTo(201, lote(entry(A, null, code))), { kind: 'accepted', nsu: undefined });
    }
  });

  test('refused: 201, 400 or 404 with errors of business, in the words of the ADN', () => {
    const Erros = [
      {
        Codigo: 'E1235',
        Descricao: 'Falha de esquema',
        Complemento: "elemento 'cTribNac'",
        Mensagem: {},
        Excecao: 'x',
      },
      { codigo: 'E0999', descricao: 'Outro\u0000 motivo', complemento: null },
    ];
    const erros = [
      { codigo: 'E1235', descricao: 'Falha de esquema', complemento: "elemento 'cTribNac'" },
      { codigo: 'E0999', descricao: 'Outro motivo' },
    ];
    for (const status of [200, 201, 400, 404]) {
      const body = lote({ ...entry(A, null), Erros });
      assert.deepEqual(answerTo(status, body), { kind: 'refused', erros }, `${status}`);
    }
    // A blank value counts as absent. A byte order mark is removed only at the start of the body.
    const blank = [{ Codigo: 'E1235', Descricao: 'a\uFEFFb', Complemento: ' ' }];
    assert.deepEqual(answerTo(201, lote({ ...entry(A, null), Erros: blank })), {
      kind: 'refused',
      erros: [{ codigo: 'E1235', descricao: 'a b' }],
    });
    // A single reason need not be in a list.
    const alone = lote({ ...entry(A, null), Erros: { Codigo: 'E1235', Descricao: 'x' } });
    assert.deepEqual(answerTo(201, alone), { kind: 'refused', erros: [{ codigo: 'E1235', descricao: 'x' }] });
  });

  test('texts and lists are cut: a thousand characters, twenty of a code, a hundred reasons', () => {
    const long = { Codigo: `E${'1'.repeat(30)}`, Descricao: 'x'.repeat(5000), Complemento: 'y'.repeat(5000) };
    const many = [{ Codigo: 'E1235' }, ...Array.from({ length: 200 }, () => long)];
    const answer = answerTo(201, lote({ ...entry(A, null), Erros: many }));
    assert.ok(answer.kind === 'refused');
    assert.equal(answer.erros.length, 100);
    const { codigo, descricao, complemento } = answer.erros[1]!;
    assert.deepEqual([codigo.length, descricao.length, complemento?.length], [20, 1000, 1000]);
  });

  test('a refusal of the whole lot is that of its only document', () => {
    for (const code of ['E1225', 'E1226', 'E1228', 'E1229', 'E1235', 'E1242', 'RNG6110']) {
      const answer = answerTo(400, refusal(code));
      assert.ok(answer.kind === 'refused' && answer.erros[0]!.codigo === code, code);
    }
    // The national emitter's spelling of a single one.
    const erros = [{ codigo: 'E1226', descricao: '' }];
    assert.deepEqual(answerTo(400, { erro: { codigo: 'E1226' } }), { kind: 'refused', erros });
  });

  test('too early: E1308 and nothing else against it, for the note or for a lot of it alone', () => {
    const answered = (...codigos: readonly string[]): NotaAnswer => answerTo(201, lote(entry(A, null, ...codigos)));
    const erros = [{ codigo: 'E1308', descricao: 'regra E1308' }];
    assert.deepEqual(answered('E1308'), { kind: 'too_early', erros });
    assert.equal(answerTo(400, refusal('E1308')).kind, 'too_early');
    // A note that also breaks another rule is refused: waiting would not help.
    assert.equal(answered('E1308', 'E1235').kind, 'refused');
    assert.equal(answered('E1308', 'E1225').kind, 'refused');
    assert.equal(answered('E1310').kind, 'refused');
    assert.equal(answered('E1308', 'E999').kind, 'unknown');
    assert.equal(answered('E1308', 'E1262').kind, 'misconfigured');
  });

  test('misconfigured: codes about certificates and permission, 401, 403', () => {
    const codes = ['E1200', 'E1203', 'E1205', 'E1206', 'E1207', 'E1208', 'E1209', 'E1245', 'E1246', 'E1262'];
    for (const code of [...codes, 'E1632', 'E1634', 'E1638']) {
      const answers = [answerTo(400, refusal(code)), answerTo(201, lote(entry(A, null, 'E0999', code)))];
      for (const answer of answers) {
        assert.equal(answer.kind, 'misconfigured', code);
        assert.ok(tells(answer).endsWith(`(${code})`) && tells(answer).length > 20, tells(answer));
      }
    }
    for (const [status, body] of [
      [403, '<html>Forbidden</html>'],
      [401, ''],
      [403, refusal('E1262')],
    ] as const) {
      assert.equal(answerTo(status, body).kind, 'misconfigured');
    }
  });

  test('each of them is said in words of its own', () => {
    const codes = ['E1200', 'E1203', 'E1205', 'E1206', 'E1207', 'E1208', 'E1209', 'E1245', 'E1246', 'E1262', 'E1632'];
    codes.push('E1634', 'E1638', 'E2000', 'E2001', 'E2003', 'E2004', 'E2023', 'E2026', 'E2032');
    const whys = codes.map((codigo) =>
      credentialWhy([
        { codigo: 'E0999', descricao: '' },
        { codigo, descricao: '' },
      ]),
    );
    assert.equal(new Set(whys.map((why) => why.replace(/ \(E\d+\)$/, ''))).size, codes.length);
    assert.ok(whys.every((why) => !why.includes('recusou o certificado ou a permissão')));
  });
});

describe('an answer of which each part stands for itself', () => {
  test('one lot, three outcomes; in another order they are found by the key', () => {
    assert.deepEqual(kindsOf(threeOf(entry(A, '1'), entry(B, null, 'E1235'), entry(C, null, 'E999'))), [
      'accepted',
      'refused',
      'unknown',
    ]);
    const [first, second, third] = threeOf(entry(C, '3'), entry(A, '1'), entry(B, null, 'E1235'));
    assert.deepEqual(
      [first, third],
      [
        { kind: 'accepted', nsu: '1' },
        { kind: 'accepted', nsu: '3' },
      ],
    );
    assert.equal(second!.kind, 'refused');
  });

  test('without keys: by place, when there are as many and those with a key stand where they were sent', () => {
    const [first, second, third] = threeOf(entry(null, '1'), entry(B, '2'), entry('', null, 'E1225'));
    assert.deepEqual(
      [first, second],
      [
        { kind: 'accepted', nsu: '1' },
        { kind: 'accepted', nsu: '2' },
      ],
    );
    assert.equal(third!.kind, 'refused');
    assert.deepEqual(kindsOf(threeOf(entry(null, '1'), entry(B, '2'))), ['unknown', 'accepted', 'unknown']);
    const moved = threeOf(entry(null, '1'), entry(C, '2'), entry(B, '3'));
    assert.deepEqual(kindsOf(moved), ['unknown', 'accepted', 'accepted']);
  });

  test('an entry that is missing is unknown for that note alone; one of a key that was not sent is nobody’s', () => {
    assert.deepEqual(kindsOf(threeOf(entry(A, '1'), entry(C, '3'))), ['accepted', 'unknown', 'accepted']);
    const alien = threeOf(entry(A, '1'), entry(chaveOf(99), '2'), entry('lixo', '3'));
    assert.deepEqual(kindsOf(alien), ['accepted', 'unknown', 'unknown']);
    // A key with more characters behind it is another key.
    assert.deepEqual(kindsOf(threeOf(entry(`${A}9`, '1'), entry(B, '2'), entry(C, '3'))), [
      'unknown',
      'accepted',
      'accepted',
    ]);
  });

  test('twice the same: what both say; twice different: unknown', () => {
    const two = (one: unknown, other: unknown): NotaAnswer => answerTo(201, lote(one, other));
    assert.deepEqual(two(entry(A, '1'), entry(A, '1')), { kind: 'accepted', nsu: '1' });
    assert.deepEqual(two(entry(A, '1'), entry(A, null, 'E1268')), { kind: 'accepted', nsu: '1' });
    assert.deepEqual(two(entry(A, null, 'E1268'), entry(A, '1')), { kind: 'accepted', nsu: '1' });
    assert.deepEqual(two(entry(A, '1'), entry(A, '2')), { kind: 'accepted', nsu: undefined });
    assert.equal(two(entry(A, null, 'E1235'), entry(A, null, 'E1235')).kind, 'refused');
    assert.equal(two(entry(A, '1'), entry(A, null, 'E1235')).kind, 'unknown');
    assert.equal(two(entry(A, null, 'E1235'), entry(A, '1')).kind, 'unknown');
  });

  test('accepted is exactly what has a well-formed entry, however the others look', () => {
    const chaves = [A, B, C, chaveOf(4)];
    const good = fc.bigInt({ min: 1n, max: 10n ** 18n - 1n }).map((nsu) => ({ nsu: String(nsu), extra: {} }));
    const bad = fc.constantFrom(
      { nsu: null, extra: {} },
      { nsu: '', extra: {} },
      { nsu: '5', extra: { Erros: [{}] } },
      { nsu: '5', extra: { Erros: [{ Codigo: 'E1217' }] } },
      undefined,
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(good, bad), { minLength: 4, maxLength: 4 }),
        fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4, maxLength: 4 }),
        (parts, order) => {
          const entries = order.flatMap((place) => {
            const part = parts[place];
            return part === undefined ? [] : [{ ...entry(chaves[place]!, part.nsu), ...part.extra }];
          });
          if (entries.length === 0) return;
          const answers = answersTo(NOTA, chaves, 201, lote(...entries), JSON_TYPE);
          for (const [place, part] of parts.entries()) {
            const isGood = part !== undefined && part.nsu !== null && part.nsu !== '' && !('Erros' in part.extra);
            if (isGood) assert.deepEqual(answers[place], { kind: 'accepted', nsu: part.nsu });
            else assert.equal(answers[place]!.kind, 'unknown');
          }
        },
      ),
    );
  });
});

describe('an answer that proves nothing', () => {
  const OK = lote(entry(A, '1'));
  const base64 = Buffer.from(JSON.stringify(OK)).toString('base64');
  const HTML = 'text/html';
  const CASES: Readonly<Record<string, readonly [number, unknown, string?]>> = {
    'an HTML page called JSON': [200, '<html>Acesso bloqueado</html>'],
    'an HTML page with 404': [404, '<html>', HTML],
    'JSON called text': [201, OK, 'text/plain'],
    'JSON of another kind': [201, OK, 'application/jsonlines'],
    'JSON inside of another type': [201, OK, 'text/application/json'],
    'an empty object': [201, {}],
    'a list': [201, [OK]],
    null: [201, 'null'],
    'a number': [201, '1'],
    'JSON in a JSON text': [201, JSON.stringify(JSON.stringify(OK))],
    'Base64 instead of JSON': [201, base64],
    'Base64 in a JSON text': [201, JSON.stringify(base64)],
    'an empty lot': [201, lote()],
    'Lote is an object': [201, { Lote: OK.Lote[0] }],
    'Lote holds texts': [201, { Lote: [A] }],
    'Lote holds a document and a text': [201, lote(entry(A, '1'), 'x')],
    'no number': [201, lote({ ChaveAcesso: A, Erros: [] })],
    'number null': [201, lote(entry(A, null))],
    'number empty': [201, lote(entry(A, ''))],
    'number zero': [201, lote(entry(A, 0))],
    'number of noughts': [201, lote(entry(A, '000'))],
    'number with a sign': [201, lote(entry(A, '-1'))],
    'number with a fraction': [201, lote(entry(A, 1.5))],
    'number that JSON cannot hold': [201, JSON.stringify(lote(entry(A, 'N'))).replace('"N"', '9007199254740993')],
    'number of nineteen digits': [201, lote(entry(A, '1'.repeat(19)))],
    'number of words': [201, lote(entry(A, 'recebido'))],
    'number with words after it': [201, lote(entry(A, '17 recebido'))],
    'number is an object': [201, lote({ ...entry(A, '1'), NsuRecepcao: {} })],
    'two numbers in two spellings': [201, lote({ ...entry(A, '1'), nsuRecepcao: '2' })],
    'Erros is a text': [201, lote({ ...entry(A, '1'), Erros: 'E1235' })],
    'Erros without a code': [201, lote({ ...entry(A, '1'), Erros: [{ Descricao: 'algo' }] })],
    'Erros with a blank code': [201, lote({ ...entry(A, '1'), Erros: [{ Codigo: ' ' }] })],
    'Erros holds null': [201, lote({ ...entry(A, '1'), Erros: [null] })],
    'Erros of the whole that cannot be read': [400, { Erros: [{}] }],
    'the key of another': [201, lote(entry(B, '1'))],
    'the key is a number': [201, lote({ ...entry(A, '1'), ChaveAcesso: 7 })],
    'there already, and refused': [201, lote(entry(A, null, 'E1268', 'E1235'))],
    maintenance: [201, lote(entry(A, null, 'E1217'))],
    E999: [400, lote(entry(A, null, 'E999'))],
    RNG9999: [400, lote(entry(A, null, 'RNG9999', 'E1235'))],
    'a code of the contributor register': [201, lote(entry(A, null, 'E3344'))],
    'problem details': [400, { title: 'Bad Request', status: 400, errors: { x: ['y'] } }, 'application/problem+json'],
  };
  for (const [name, [status, body, type]] of Object.entries(CASES)) {
    test(`${name}: unknown`, () => {
      const answer = answerTo(status, body, type);
      assert.equal(answer.kind, 'unknown', JSON.stringify(answer));
      assert.ok(tells(answer).length > 10 && tells(answer).length < 200, tells(answer));
      assert.doesNotMatch(tells(answer), /Acesso|regra|\d{44}|undefined|</, 'nothing of the answer');
    });
  }

  test('each doubt says what is missing, with the reasons where there are some', () => {
    const saysOf = (body: unknown): string => tells(answerTo(201, body));
    assert.match(saysOf(lote({ ...entry(A, '1'), Erros: 'E1235' })), /os erros da nota/);
    assert.match(saysOf(lote(entry(A, null))), /número de recepção da nota/);
    assert.match(saysOf(lote(entry(B, '1'))), /não fala desta nota/);
    assert.equal(readLot(JSON_TYPE, bytesOf({})).kind, 'unreadable');
    for (const codigos of [['E999'], ['E1268', 'E1235'], ['E3344']]) {
      const answer = answerTo(201, lote(entry(A, null, ...codigos)));
      assert.ok(answer.kind === 'unknown' && answer.why.endsWith(`(${codigos.join(', ')})`), tells(answer));
      const erros = codigos.map((codigo) => ({ codigo, descricao: `regra ${codigo}` }));
      assert.deepEqual(answer.erros, erros);
    }
    assert.match(credentialWhy([]), /^o ADN recusou o certificado .* \(\)$/);
  });

  test('the operator is told a page of HTML from what is no JSON', () => {
    assert.match(tells(answerTo(200, '<html>', 'Text/HTML')), /página HTML/);
    assert.doesNotMatch(tells(answerTo(200, 'x', 'text/plain')), /HTML/);
  });

  test('codes are named once each, ten of them, and what has not the form of a code is not repeated', () => {
    const named = (...codigos: readonly string[]): string =>
      codesOf(codigos.map((codigo) => ({ codigo, descricao: '' })));
    assert.equal(named('E999', 'E1217', 'E999', 'RNG9999'), 'E999, E1217, RNG9999');
    assert.equal(named('12345678901', 'XE999', 'E999X', 'E12', 'ABCDEF1'), '?, XE999, E12');
    assert.equal(named(...Array.from({ length: 30 }, (_, place) => `E${1000 + place}`)).split(', ').length, 10);
  });
});

describe('what is said about an event', () => {
  const BY_CODE: readonly (readonly [EventoAnswer['kind'], readonly string[]])[] = [
    ['refused', ['E0840']],
    ['refused', ['E1235']],
    ['refused', ['E1225']],
    ['refused', ['E0840', 'E1802']],
    ['refused', ['E2020']],
    ['refused', ['E0840', 'X77']],
    ['refused', ['E1308']],
    ['note_unknown', ['E1831']],
    ['note_unknown', ['E0813', 'E1831']],
    ['not_taken_here', ['E1818']],
    ['not_taken_here', ['E0813', 'E1818']],
    ['already_there', ['E1805']],
    ['already_there', ['E0802']],
    // The matrix excludes the event as soon as the same event is there.
    ['already_there', ['E1805', 'E0840']],
    ['unknown', ['E999']],
    ['unknown', ['E1217']],
    ['unknown', ['RNG9999']],
    ['unknown', ['E0840', 'E999']],
    ['misconfigured', ['E2023']],
    ['misconfigured', ['E2026']],
    ['misconfigured', ['E2032']],
    ['misconfigured', ['E1262']],
    ['not_understood', ['X77']],
    ['not_understood', ['E3316']],
  ];
  for (const [kind, codigos] of BY_CODE) {
    test(`${codigos.join(' and ')}: ${kind}`, () => {
      const answer = eventoAnswerTo(201, lote(entry(A, null, ...codigos)));
      assert.equal(answer.kind, kind);
      if (kind === 'misconfigured') return;
      assert.deepEqual(
        'erros' in answer && answer.erros,
        codigos.map((codigo) => ({ codigo, descricao: `regra ${codigo}` })),
      );
    });
  }

  test('its Id is in the text of its document, behind any prefix', () => {
    const id = `EVT${A}101101001`;
    const idIn = (text: string): string | undefined => eventoIdIn(Buffer.from(text));
    assert.equal(idIn(`<evento><infEvento Id="${id}">`), id);
    assert.equal(idIn(`<n:evento><n:infEvento  versao="1" Id = '${id}'/>`), id);
    assert.equal(idIn(`<evento><infEvento Id="${id}0">`), undefined);
    assert.equal(idIn(`<infPedReg Id="${id}">`), undefined);
  });
});

describe('the answer to a query', () => {
  const document = (chave: unknown, more: object = {}) => ({
    NSU: 8,
    ChaveAcesso: chave,
    TipoDocumento: 'NFSE',
    ArquivoXml: 'AAAA',
    ...more,
  });
  const read = (body: unknown, type = JSON_TYPE) => readPage(type, bytesOf(body), 'NFSE', NOTHING_AFTER);

  test('documents, each with what there is of it; those of another kind bear no key', () => {
    const LoteDFe = [
      document(A, { DataHoraGeracao: '2026-10-05T10:15:31.12-03:00' }),
      document(B, { TipoDocumento: 'EVENTO', DataHoraGeracao: 7 }),
      document(C, { NSU: null, ArquivoXml: null, TipoDocumento: 'nfse' }),
      document(A, { TipoDocumento: 7 }),
      document('ab'),
      document(7),
    ];
    assert.deepEqual(read({ StatusProcessamento: 'DOCUMENTOS_LOCALIZADOS', LoteDFe, ...HEAD }), {
      kind: 'page',
      entries: [
        { nsu: '8', chave: A, arquivo: 'AAAA', em: '2026-10-05T10:15:31.12-03:00' },
        { nsu: '8', chave: undefined, arquivo: 'AAAA', em: undefined },
        { nsu: undefined, chave: C, arquivo: undefined, em: undefined },
        { nsu: '8', chave: undefined, arquivo: 'AAAA', em: undefined },
        { nsu: '8', chave: 'AB', arquivo: 'AAAA', em: undefined },
        { nsu: '8', chave: '', arquivo: 'AAAA', em: undefined },
      ],
    });
  });

  test('the end of the list, told in several ways, with the codes that tell it', () => {
    const NONE = { StatusProcessamento: 'NENHUM_DOCUMENTO_LOCALIZADO' };
    assert.deepEqual(read(NONE), { kind: 'end', codigos: [] });
    assert.deepEqual(read({ statusprocessamento: 'nenhum_documento_localizado' }), { kind: 'end', codigos: [] });
    assert.deepEqual(read({ LoteDFe: [] }), { kind: 'end', codigos: [] });
    const rejected = { StatusProcessamento: 'REJEICAO', LoteDFe: [] };
    assert.deepEqual(read({ ...rejected, ...refusal('E2220') }), { kind: 'end', codigos: ['E2220'] });
    assert.deepEqual(read(refusal('E2220')), { kind: 'end', codigos: ['E2220'] });
    assert.equal(readPage(JSON_TYPE, bytesOf(refusal('E2060')), 'EVENTO', NO_EVENTO).kind, 'end');
    // A refusal without a reason may have any cause.
    assert.equal(read(rejected).kind, 'unreadable');
    assert.equal(read({ StatusProcessamento: 'DOCUMENTOS_LOCALIZADOS' }).kind, 'unreadable');
  });

  test('a refusal when one of its codes is anything else', () => {
    const answer = read({ ...refusal('E2220', 'E2003'), LoteDFe: [] });
    assert.ok(answer.kind === 'refusal');
    assert.deepEqual(
      answer.erros.map(({ codigo }) => codigo),
      ['E2220', 'E2003'],
    );
  });

  test('unreadable is what has not the form of the contract', () => {
    assert.equal(read('<html>', 'text/html').kind, 'unreadable');
    assert.equal(read({}).kind, 'unreadable');
    assert.equal(read({ LoteDFe: 'x' }).kind, 'unreadable');
    assert.equal(read({ LoteDFe: [document(A), 'x'] }).kind, 'unreadable');
    assert.equal(read({ LoteDFe: [], Erros: [{}] }).kind, 'unreadable');
  });
});

describe('the document in an answer', () => {
  const xml = Buffer.from('<NFSe>ação</NFSe>');
  const once = gzipSync(xml).toString('base64');

  test('is Base64 of gzip, or Base64 of that', async () => {
    assert.deepEqual(await readArquivo(once), xml);
    assert.deepEqual(await readArquivo(`\n${once} `), xml);
    assert.deepEqual(await readArquivo(Buffer.from(once).toString('base64')), xml);
  });

  test('is looked at up to sixteen million characters: gzip may not make it smaller', async () => {
    // The header of gzip may have a name of any length before the compressed data.
    const named = (bytes: number): string => {
      const packed = gzipSync(xml);
      const head = Buffer.from(packed.subarray(0, 10));
      head[3] = 8;
      const name = Buffer.alloc(bytes - packed.length, 'n');
      name[name.length - 1] = 0;
      return Buffer.concat([head, name, packed.subarray(10)]).toString('base64');
    };
    assert.deepEqual(await readArquivo(named(12_000_000)), xml);
    assert.equal(await readArquivo(named(12_000_003)), undefined);
  });

  test('of millions of characters is read by an engine that compiles no pattern for speed, too', () => {
    const program = `import { eventoIdIn, readArquivo } from ${JSON.stringify(new URL('reading.ts', import.meta.url).href)};
      if (await readArquivo('A'.repeat(15_000_000)) !== undefined) throw new Error('a document');
      if (eventoIdIn(Buffer.alloc(8_000_000, 'a').fill('<', 0, 1)) !== undefined) throw new Error('an event');`;
    const flags = ['--no-regexp-optimization', '--input-type=module', '--eval'];
    const { status, stderr } = spawnSync(process.execPath, [...flags, program], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  });

  test('is none when it is anything else, or grows beyond eight million bytes', async () => {
    const largest = gzipSync(Buffer.alloc(8_000_000)).toString('base64');
    const larger = gzipSync(Buffer.alloc(8_000_001)).toString('base64');
    assert.equal((await readArquivo(largest))?.length, 8_000_000);
    const thrice = Buffer.from(Buffer.from(once).toString('base64')).toString('base64');
    const broken = [`${once.slice(0, -12)}`, `*${once}`, `${once}*`, `${once.slice(0, 8)} ${once.slice(8)}`];
    for (const arquivo of ['', ' ', 'AAAA', 'H4s=', larger, thrice, 'A'.repeat(16_000_001), ...broken]) {
      assert.equal(await readArquivo(arquivo), undefined, arquivo.slice(0, 40));
    }
  });
});
