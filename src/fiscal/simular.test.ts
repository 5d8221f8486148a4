/** The magic values of D-60: the values read from a header or a text, and the remarks about the rest. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertCostsLess } from '../../test/support/cost.ts';
import fc from '../../test/support/seed.ts';
import {
  findRehearsal,
  readProvocacao,
  readSimular,
  SIMULAR_MAX_MS,
  type Simulacao,
  type SimulacaoPedida,
  valoresDe,
  writeSimular,
} from './simular.ts';

describe('reading', () => {
  const READ: readonly (readonly [string, Simulacao | undefined])[] = [
    ['adn:rejeita=E1234', { rejeita: 'E1234' }],
    ['adn:rejeita=E999', { rejeita: 'E999' }],
    ['adn:rejeita=RNG6110', { rejeita: 'RNG6110' }],
    ['adn:atraso=30s', { atrasoMs: 30_000 }],
    ['adn:atraso=2min', { atrasoMs: 120_000 }],
    ['adn:indisponivel=5m', { indisponivelMs: 300_000 }],
    ['adn:indisponivel=1h', { indisponivelMs: 3_600_000 }],
    ['adn:resposta-perdida', { respostaPerdida: true }],
    ['Pedido 12. Teste adn:rejeita=E1234. Obrigado', { rejeita: 'E1234' }],
    ['(adn:atraso=30s), adn:rejeita=E0840;', { atrasoMs: 30_000, rejeita: 'E0840' }],
    ['ADN:REJEITA=e1234', { rejeita: 'E1234' }],
    ['adn:indisponível=5m adn:resposta_perdida', { indisponivelMs: 300_000, respostaPerdida: true }],
    ['linha 1\nadn:atraso=1s', { atrasoMs: 1_000 }],
    ['', undefined],
    ['um texto qualquer', undefined],
    ['padn:rejeita=E1234', undefined],
    ['urn:adn:rejeita=E1234', undefined],
  ];
  for (const [text, simulacao] of READ) {
    test(JSON.stringify(text), () => assert.deepEqual(readSimular(text), { simulacao, problemas: [] }));
  }

  const REMARKED: readonly (readonly [string, Simulacao | undefined, RegExp])[] = [
    [
      'adn:',
      undefined,
      /^adn: não é um valor de simulação e foi ignorado\. Existem: adn:rejeita=E1234, adn:atraso=30s, /,
    ],
    ['adn:explode', undefined, /^adn:explode não é um valor de simulação e foi ignorado\. Existem: /],
    ['adn:rejeitar=E1234', undefined, /^adn:rejeitar=E1234 .* ignorado\. O parecido que existe é adn:rejeita=E1234\.$/],
    ['adn:rejeita', undefined, /^adn:rejeita foi ignorado: escreva adn:rejeita=E1234\.$/],
    ['adn:rejeita=1234', undefined, /escreva adn:rejeita=E1234/],
    ['adn:rejeita=E12345', undefined, /escreva adn:rejeita=E1234/],
    ['adn:atraso=30', undefined, /^adn:atraso=30 foi ignorado: escreva adn:atraso=30s\.$/],
    ['adn:atraso=meia-hora', undefined, /escreva adn:atraso=30s/],
    ['adn:resposta-perdida=sim', undefined, /escreva adn:resposta-perdida\./],
    ['adn:atraso=2h', { atrasoMs: 3_600_000 }, /^adn:atraso=2h: a duração vai de 1s a 1h; vale 1h\.$/],
    ['adn:indisponivel=999999999h', { indisponivelMs: 3_600_000 }, /vale 1h\.$/],
    ['adn:atraso=0s', { atrasoMs: 1_000 }, /vale 1s\.$/],
    ['adn:atraso=5s adn:atraso=9s', { atrasoMs: 5_000 }, /^adn:atraso veio mais de uma vez; vale o primeiro\.$/],
  ];
  for (const [text, simulacao, problema] of REMARKED) {
    test(`${text}: with a remark`, () => {
      const read = readSimular(text);
      assert.deepEqual(read.simulacao, simulacao);
      assert.equal(read.problemas.length, 1);
      assert.match(read.problemas[0]!, problema);
    });
  }

  test('every documented value is one', () => {
    for (const { valor } of valoresDe('adn')) {
      const { simulacao, problemas } = readSimular(valor);
      assert.ok(simulacao !== undefined && problemas.length === 0, valor);
      assert.equal(writeSimular(simulacao), valor);
    }
    assert.deepEqual(
      valoresDe('adn').map(({ valor }) => valor),
      ['adn:rejeita=E1234', 'adn:atraso=30s', 'adn:indisponivel=5m', 'adn:resposta-perdida'],
    );
  });

  test('a text of any content is read quickly, with few remarks, and within the limits', () => {
    const pieces = fc.constantFrom(
      'adn:',
      'rejeita=',
      'E1234',
      'atraso=',
      '30s',
      '9h',
      ' ',
      ',',
      '=',
      'é',
      'resposta-perdida',
      '\u0000',
      '😀',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 60 }), (parts) => {
        const { simulacao, problemas } = readSimular(parts.join(''));
        assert.ok(problemas.length <= 5);
        for (const ms of [simulacao?.atrasoMs, simulacao?.indisponivelMs]) {
          if (ms !== undefined) assert.ok(ms >= 1_000 && ms <= SIMULAR_MAX_MS && Number.isInteger(ms));
        }
      }),
    );
    const readLong = (): void => {
      readSimular('adn:'.repeat(500_000));
      readSimular(`adn:${'='.repeat(2_000_000)}`);
    };
    // The time is linear in the length; quadratic time would take hours.
    assertCostsLess(readLong, 30_000, 'a long text');
  });
});

describe('the values of this service', () => {
  for (const [header, simulacao] of [
    ['api:recusa=429', { recusa: 429 }],
    ['API:RECUSA=503 adn:rejeita=E1234', { recusa: 503 }],
    ['api:demora=5s, api:obsoleto', { demoraMs: 5_000, obsoleto: true }],
    ['api:aviso api:queda api:resposta_perdida', { aviso: true, queda: true, semResposta: true }],
    ['adn:atraso=5s', undefined],
    ['rapi:queda', undefined],
  ] as const) {
    test(header, () => assert.deepEqual(readProvocacao(header), { simulacao, problemas: [] }));
  }

  for (const [header, simulacao, problema] of [
    ['api:recusa=500', undefined, /^api:recusa=500 foi ignorado: escreva api:recusa=429\.$/],
    ['api:demora=1h', { demoraMs: 10_000 }, /^api:demora=1h: a duração vai de 1s a 10s; vale 10s\.$/],
    ['api:demorar=5s', undefined, /O parecido que existe é api:demora=5s\.$/],
    ['api:explode', undefined, /Existem: api:recusa=429, api:demora=5s, /],
  ] as const) {
    test(`${header}: with a remark`, () => {
      const read = readProvocacao(header);
      assert.deepEqual([read.simulacao, read.problemas.length], [simulacao, 1]);
      assert.match(read.problemas[0]!, problema);
    });
  }

  test('are read in the header alone, in a private sandbox alone', () => {
    const own = { ambiente: 'homologacao', ensaioAte: new Date(0) } as const;
    const remarks = (place: Parameters<typeof findRehearsal>[0], asked: readonly string[], reading?: 'refused') =>
      findRehearsal(place, asked, reading && { reading }).avisos.map(({ mensagem }) => mensagem);
    assert.deepEqual(remarks(own, ['api:queda']), []);
    assert.match(remarks(own, ['api:aviso']).join(), /este aviso é um ensaio/);
    assert.match(remarks({ ambiente: 'homologacao' }, ['api:aviso']).join(), /só valem num ambiente próprio/);
    assert.match(remarks(own, ['api:aviso'], 'refused').join(), /só valem num ambiente próprio/);
    assert.deepEqual(remarks({ ambiente: 'producao' }, ['api:aviso']), []);
    assert.deepEqual(findRehearsal(own, ['', 'api:aviso adn:atraso=5s']).simular, 'adn:atraso=5s');
  });
});

describe('keeping', () => {
  test('what is written is read back as it was', () => {
    const simulacao = fc.record(
      {
        rejeita: fc.integer({ min: 0, max: 9999 }).map((code) => `E${String(code).padStart(4, '0')}`),
        atrasoMs: fc.integer({ min: 1, max: 3600 }).map((seconds) => seconds * 1_000),
        indisponivelMs: fc.integer({ min: 1, max: 3600 }).map((seconds) => seconds * 1_000),
        respostaPerdida: fc.constant(true as const),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(simulacao, (one) => {
        const text = writeSimular(one);
        const read = readSimular(text);
        assert.deepEqual(read, { simulacao: Object.keys(one).length === 0 ? undefined : { ...one }, problemas: [] });
      }),
    );
  });
});

/** The rehearsal of a request in the sandbox. */
function rehearse(asked: {
  cabecalho?: string | undefined;
  texto?: string | undefined;
  xpath?: string;
}): SimulacaoPedida {
  const { cabecalho, texto, ...more } = asked;
  return findRehearsal({ ambiente: 'homologacao' }, [cabecalho, texto], more);
}

describe('asking', () => {
  test('nothing asked for is nothing kept and nothing said', () => {
    for (const asked of [
      {},
      { texto: 'Serviço de março' },
      { texto: '' },
      { cabecalho: undefined, texto: undefined },
    ]) {
      assert.deepEqual(rehearse(asked), { simular: undefined, avisos: [] });
    }
  });

  test('header and text go together; of what both say the header holds', () => {
    const asked = { cabecalho: 'adn:rejeita=E1234', texto: 'adn:rejeita=E0999 adn:atraso=10s', xpath: '/DPS/x' };
    assert.deepEqual(rehearse(asked), { simular: 'adn:rejeita=E1234 adn:atraso=10s', avisos: [] });
  });

  test('a remark says where it was found', () => {
    const asked = { cabecalho: 'adn:atrazo=1s', texto: 'adn:rejeita=', xpath: '/DPS/infDPS/serv/infoCompl/xInfComp' };
    const { simular, avisos } = rehearse(asked);
    assert.equal(simular, undefined);
    assert.deepEqual(
      avisos.map(({ codigo, xpath, campo }) => [codigo, xpath, campo]),
      [
        ['E003', '', 'X-NFSe-Simular'],
        ['E003', '/DPS/infDPS/serv/infoCompl/xInfComp', undefined],
      ],
    );
    assert.match(avisos[0]!.mensagem, /^X-NFSe-Simular: adn:atrazo=1s .*O parecido que existe é adn:atraso=30s\.$/);
    assert.match(avisos[1]!.mensagem, /^adn:rejeita= foi ignorado/);
  });

  test('a header without any value is told too; a text without one is a text', () => {
    for (const cabecalho of ['sim', '', 'rejeita=E1234']) {
      const { simular, avisos } = rehearse({ cabecalho });
      assert.equal(simular, undefined);
      assert.match(avisos[0]!.mensagem, /^X-NFSe-Simular não traz um valor de simulação e foi ignorado\. Existem: /);
    }
  });
});
