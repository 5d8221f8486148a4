/** Specification, Event object: `erros_adn`; Limits: "strings cut at 1000 characters, depth 3". */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../test/support/seed.ts';
import { sanitizeErros } from './erros-adn.ts';

describe('keys', () => {
  const SECRETS = `
    password Password user_password PASSWORD passwd pwd passphrase senha Senha SENHA senhaUsuario
    token accessToken access_token X-CSRF-Token refreshToken secret client_secret segredo
    private_key privateKey PrivateKey chave_privada chavePrivada privkey
    backtrace Backtrace stack_trace stackTrace stack traceback
    cookie Set-Cookie cookies authorization Authorization Proxy-Authorization auth apiKey credentials`;
  for (const name of SECRETS.trim().split(/\s+/)) {
    test(`${name} is removed, at any level and in lists`, () => {
      const value = { [name]: 'x', dentro: { [name]: { mais: 'x' }, fica: 1 }, lista: [{ [name]: 1, fica: 2 }] };
      assert.deepEqual(sanitizeErros(value), { dentro: { fica: 1 }, lista: [{ fica: 2 }] });
    });
  }

  test('a name that hides one in other letters is removed too', () => {
    assert.deepEqual(sanitizeErros({ ｐａｓｓｗｏｒｄ: 1, 'p.a.s.s.w.o.r.d': 1, 'sen\u200bha': 1, tóken: 1 }), {});
  });

  test('names that only look like one stay', () => {
    const value = {
      chave_acesso: 'k',
      codigo: 'E0840',
      descricao: 'd',
      complemento: 'c',
      secretaria: 'Secretaria da Fazenda',
      autorizacao_nota: 'a',
      dataAutorizacao: 'b',
      passo: '1',
      autor: 'x',
      rastreio: 'y',
    };
    assert.deepEqual(sanitizeErros(value), value);
  });

  test('values are not searched: only names say what a value is', () => {
    assert.deepEqual(sanitizeErros({ descricao: 'a senha é: password' }), { descricao: 'a senha é: password' });
  });
});

describe('1000 characters', () => {
  test('a text of 1000 stays, one of 1001 is cut', () => {
    assert.deepEqual(sanitizeErros({ a: 'x'.repeat(1000), b: 'x'.repeat(1001), c: 'y'.repeat(1_000_000) }), {
      a: 'x'.repeat(1000),
      b: 'x'.repeat(1000),
      c: 'y'.repeat(1000),
    });
  });

  test('characters are counted, and none is cut in two', () => {
    assert.deepEqual(sanitizeErros({ a: '😀'.repeat(1000), b: `x${'😀'.repeat(1000)}` }), {
      a: '😀'.repeat(1000),
      b: `x${'😀'.repeat(999)}`,
    });
  });

  test('texts in lists as well', () => {
    assert.deepEqual(sanitizeErros(['z'.repeat(2000)]), { erros: ['z'.repeat(1000)] });
  });
});

describe('depth 3', () => {
  test('three levels stay, a fourth is left out', () => {
    assert.deepEqual(sanitizeErros({ um: { dois: { tres: 'fim' } } }), { um: { dois: { tres: 'fim' } } });
    assert.deepEqual(sanitizeErros({ um: { dois: { tres: { quatro: 'fim' } } } }), {
      um: { dois: { tres: '[omitido]' } },
    });
    assert.deepEqual(sanitizeErros({ um: [[['fundo']]] }), { um: [['[omitido]']] });
  });

  test('the reasons of the ADN fit', () => {
    const erros = [{ codigo: 'E0840', descricao: 'Evento não permitido', complemento: 'x' }];
    assert.deepEqual(sanitizeErros(erros), { erros });
    assert.deepEqual(sanitizeErros({ erros }), { erros });
  });
});

describe('hostile values', () => {
  test('nothing is null, a single value stands under a name', () => {
    assert.equal(sanitizeErros(undefined), null);
    assert.equal(sanitizeErros(null), null);
    assert.equal(
      sanitizeErros(() => 1),
      null,
    );
    assert.deepEqual(sanitizeErros('falhou'), { mensagem: 'falhou' });
    assert.deepEqual(sanitizeErros(503), { mensagem: 503 });
  });

  test('a circle ends, and what JSON has no word for is left out', () => {
    const circle: Record<string, unknown> = { f: () => 1, s: Symbol('s'), u: undefined, n: Number.NaN, i: 10n };
    circle['self'] = circle;
    const clean = sanitizeErros(circle);
    assert.deepEqual(clean, {
      n: null,
      i: '10',
      self: { n: null, i: '10', self: { n: null, i: '10', self: '[omitido]' } },
    });
  });

  test('an error of a program shows its message and nothing of its inside', () => {
    const error = Object.assign(new Error('sem resposta'), { config: { headers: { Authorization: 'x' } } });
    assert.deepEqual(sanitizeErros(error), { mensagem: 'sem resposta' });
    assert.deepEqual(sanitizeErros({ causa: error }), { causa: { mensagem: 'sem resposta' } });
  });

  test('__proto__ is a name like any other', () => {
    const clean = sanitizeErros(JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}'));
    assert.equal(Object.getPrototypeOf(clean), Object.prototype);
    assert.equal(JSON.stringify(clean), '{"__proto__":{"polluted":true},"constructor":1}');
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  test('what a database of texts does not take is not handed to it', () => {
    assert.deepEqual(sanitizeErros({ a: 'um\0dois', b: 'meio \ud83d par', 'c\0': 1 }), {
      a: 'umdois',
      b: 'meio \ufffd par',
      c: 1,
    });
  });

  test('a thousand members are a hundred', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, place) => [`k${place}`, place]));
    assert.equal(Object.keys(sanitizeErros(many)!).length, 100);
    assert.equal((sanitizeErros(Array(1000).fill(1)) as { erros: unknown[] }).erros.length, 100);
  });

  test('whatever comes in, plain JSON of three levels comes out, and stays what it is', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (value) => {
          const clean = sanitizeErros(value);
          assert.ok(depthOf(clean) <= 3);
          assert.deepEqual(JSON.parse(JSON.stringify(clean)), JSON.parse(JSON.stringify(sanitizeErros(clean))));
        },
      ),
      { numRuns: 300 },
    );
  });
});
