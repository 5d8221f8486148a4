/** The request of an event: the fields of each type, row by row, with the status that the specification gives (D-50). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SPECIFIED } from '../../test/especificacao/eventos.ts';
import fc from '../../test/support/seed.ts';
import { readJson } from '../documents/json.ts';
import { errorOf } from './errors.ts';
import type { Fault } from './fault.ts';
import { inferAutor, judgeAutor, judgeNota, type PartesDaNota } from './judge-pedido.ts';
import { type CanalEvento, type PedidoEvento, type PedidoReading, readPedido } from './pedido-evento.ts';
import { exemploDe, TIPOS_EVENTO, type TipoEvento, tipoBySlug } from './tipos-evento.ts';

const TIPOS: readonly TipoEvento[] = TIPOS_EVENTO;
const DO_INTEGRADOR = TIPOS.filter(({ porOficio }) => !porOficio);
const POR_OFICIO = TIPOS.filter(({ porOficio }) => porOficio);

function read(body: unknown, canal?: CanalEvento): PedidoReading {
  const document = readJson(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
  assert.ok('value' in document, 'well-formed');
  return readPedido(document, canal);
}

function pedidoOf(body: unknown, canal?: CanalEvento): PedidoEvento {
  const reading = read(body, canal);
  assert.ok('pedido' in reading, JSON.stringify(reading));
  return reading.pedido;
}

function refusalOf(body: unknown, canal?: CanalEvento): { status: number; faults: readonly Fault[] } {
  const reading = read(body, canal);
  assert.ok('faults' in reading, 'it was read');
  for (const { codigo, mensagem, linha, coluna } of reading.faults) {
    assert.ok(errorOf(codigo), codigo);
    assert.match(mensagem, /\.$/);
    assert.doesNotMatch(mensagem, /undefined|\[object/);
    assert.ok(linha !== undefined && coluna !== undefined);
  }
  assert.ok(errorOf(reading.faults[0].codigo)!.statuses.includes(reading.status), `${reading.faults[0].codigo}`);
  return reading;
}

/** Status, and code and property of each fault. */
function told(body: unknown, canal?: CanalEvento): [number, string[]] {
  const { status, faults } = refusalOf(body, canal);
  return [status, faults.map(({ codigo, campo }) => `${codigo} ${campo}`)];
}

const canalOf = ({ porOficio }: TipoEvento): CanalEvento => (porOficio ? 'municipio' : 'integrador');

const CANCELAMENTO = {
  tipo_evento: 'cancelamento',
  codigo_motivo_cancelamento: '1',
  descricao_motivo_cancelamento: 'Erro no valor do serviço',
};

describe('each type', () => {
  for (const tipo of TIPOS) {
    test(`${tipo.slug}: its example is read, field by field`, () => {
      const { tipo_evento: _slug, ...campos } = exemploDe(tipo);
      assert.deepEqual(pedidoOf(exemploDe(tipo), canalOf(tipo)), { tipo, autor: undefined, nota: {}, campos });
    });

    for (const campo of tipo.campos) {
      const { nome, obrigatorio, opcoes } = campo;
      const { [nome]: _left, ...without } = exemploDe(tipo);
      const required =
        obrigatorio ||
        (campo.obrigatorioCom !== undefined && without[campo.obrigatorioCom.campo] === campo.obrigatorioCom.valor);

      test(`${tipo.slug}: without ${nome} it is ${required ? 'refused with 400 E002' : 'read'}`, () => {
        for (const body of [without, { ...without, [nome]: null }]) {
          if (!required) assert.ok(!(nome in pedidoOf(body, canalOf(tipo)).campos));
          else assert.deepEqual(told(body, canalOf(tipo)), [400, [`E002 ${nome}`]]);
        }
        if (required) {
          assert.deepEqual(told({ ...without, [nome]: '  ' }, canalOf(tipo)), [400, [`E002 ${nome}`]]);
          const { faults } = refusalOf(without, canalOf(tipo));
          assert.equal(faults[0]!.xpath, `/pedRegEvento/infPedReg/e${tipo.codigo}/${campo.elemento}`);
          assert.match(faults[0]!.mensagem, new RegExp(nome));
        }
      });

      if (opcoes !== undefined) {
        test(`${tipo.slug}: ${nome} takes each of its ${opcoes.length} values, and no other: 400 E0002 with the set`, () => {
          for (const { codigo } of opcoes) {
            assert.equal(pedidoOf({ ...exemploDe(tipo), [nome]: codigo }, canalOf(tipo)).campos[nome], codigo);
          }
          for (const value of ['0', '77', 'erro', ' 1', `${opcoes[0]!.codigo}x`]) {
            const body = { ...exemploDe(tipo), [nome]: value };
            assert.deepEqual(told(body, canalOf(tipo)), [400, [`E0002 ${nome}`]], value);
            const { mensagem, esperado } = refusalOf(body, canalOf(tipo)).faults[0]!;
            for (const { codigo, descricao } of opcoes) {
              assert.ok(mensagem.includes(`${codigo} (${descricao})`));
              assert.ok(esperado!.includes(`${codigo} (${descricao})`));
            }
          }
        });
      }
    }
  }

  test('a description has 15 to 255 characters: 422 E0003 otherwise', () => {
    for (const tipo of TIPOS) {
      for (const { nome, elemento } of tipo.campos.filter(({ elemento }) => /^x(Motivo|ProcAdm)$/.test(elemento))) {
        const withText = (text: string): unknown => ({ ...exemploDe(tipo), [nome]: text });
        for (const length of [15, 255]) pedidoOf(withText('x'.repeat(length)), canalOf(tipo));
        for (const text of [
          'x'.repeat(14),
          'x'.repeat(256),
          'com uma quebra\nde linha',
          ' começa com espaço',
          'um travessão – aqui',
        ]) {
          assert.deepEqual(told(withText(text), canalOf(tipo)), [422, [`E0003 ${nome}`]], `${elemento} ${text}`);
        }
      }
    }
    const { faults } = refusalOf({ ...CANCELAMENTO, descricao_motivo_cancelamento: 'Erro – na emissão da nota' });
    assert.equal(faults[0]!.correcao, '"descricao_motivo_cancelamento": "Erro - na emissão da nota"');
  });

  test('the description of a rejection is required with 9, and of a substitution with 99', () => {
    for (const slug of ['rejeicao_prestador', 'rejeicao_tomador', 'rejeicao_intermediario']) {
      for (const codigo of ['1', '2', '3', '4', '5']) pedidoOf({ tipo_evento: slug, codigo_motivo_rejeicao: codigo });
      assert.deepEqual(told({ tipo_evento: slug, codigo_motivo_rejeicao: '9' }), [
        400,
        ['E002 descricao_motivo_rejeicao'],
      ]);
    }
    const substituicao = { ...exemploDe(tipoBySlug('cancelamento_por_substituicao')!) };
    const { descricao_motivo_cancelamento: _left, ...without } = substituicao;
    for (const codigo of ['01', '02', '03', '04', '05']) pedidoOf({ ...without, codigo_motivo_cancelamento: codigo });
    assert.deepEqual(told({ ...without, codigo_motivo_cancelamento: '99' }), [
      400,
      ['E002 descricao_motivo_cancelamento'],
    ]);
  });

  test('a substitute is named by a key whose check digit is right, and the code of one digit has its zero', () => {
    const body = exemploDe(tipoBySlug('cancelamento_por_substituicao')!);
    const wrong = `${body['chave_acesso_substituta']!.slice(0, 49)}6`;
    for (const chave_acesso_substituta of [wrong, '1'.repeat(50), wrong.slice(1), 'abc']) {
      assert.deepEqual(told({ ...body, chave_acesso_substituta }), [422, ['E0003 chave_acesso_substituta']]);
    }
    const { faults } = refusalOf({ ...body, codigo_motivo_cancelamento: '1' });
    assert.equal(faults[0]!.correcao, '"codigo_motivo_cancelamento": "01"');
  });

  test('an agent is named by a CPF whose check digits are right, a process by digits', () => {
    const body = exemploDe(tipoBySlug('cancelamento_por_oficio')!);
    assert.deepEqual(told({ ...body, cpf_agente_tributario: '52998224726' }, 'municipio'), [
      422,
      ['E0003 cpf_agente_tributario'],
    ]);
    assert.deepEqual(told({ ...body, numero_processo_administrativo: '2026/001-A' }, 'municipio')[0], 422);
    assert.deepEqual(told({ ...body, numero_processo_administrativo: '1'.repeat(31) }, 'municipio')[0], 422);
  });

  test('an event is named by its identifier, with or without prefix and sequence', () => {
    const body = exemploDe(tipoBySlug('desbloqueio_por_oficio')!);
    const whole = body['id_evento_bloqueio']!;
    for (const id_evento_bloqueio of [whole, whole.slice(3), whole.slice(0, -3), whole.slice(3, -3)]) {
      assert.equal(
        pedidoOf({ ...body, id_evento_bloqueio }, 'municipio').campos['id_evento_bloqueio'],
        id_evento_bloqueio,
      );
    }
    for (const id_evento_bloqueio of ['1', `PRE${whole.slice(3)}`, whole.slice(0, -1)]) {
      assert.deepEqual(told({ ...body, id_evento_bloqueio }, 'municipio'), [422, ['E0003 id_evento_bloqueio']]);
    }
  });
});

describe('tipo_evento', () => {
  test('missing, null or empty: 422 E002', () => {
    for (const body of [{}, { tipo_evento: null }, { tipo_evento: '' }, { tipo_evento: ' ' }]) {
      assert.deepEqual(told(body), [422, ['E002 tipo_evento']]);
    }
  });

  test('unknown: 422 E0002 with the types that this channel takes', () => {
    const { status, faults } = refusalOf({ tipo_evento: 'carta_de_correcao' });
    assert.equal(status, 422);
    assert.equal(faults[0]!.codigo, 'E0002');
    assert.equal(faults[0]!.esperado, `um de: ${DO_INTEGRADOR.map(({ slug }) => slug).join(', ')}`);
    assert.equal(faults[0]!.correcao, undefined);
  });

  test('of another kind: 422 E0001', () => {
    for (const tipo_evento of [true, {}, ['cancelamento']])
      assert.deepEqual(told({ tipo_evento }), [422, ['E0001 tipo_evento']]);
  });

  test('a number: 422 E0001, which says so and names the type with that code', () => {
    for (const [tipo_evento, says, correcao] of [
      [123, /^tipo_evento veio como número \(123\); .* um texto entre aspas\.$/, undefined],
      [101101, /veio como número \(101101\); .* entre aspas: "cancelamento"\.$/, '"tipo_evento": "cancelamento"'],
    ] as const) {
      const { status, faults } = refusalOf({ ...CANCELAMENTO, tipo_evento });
      assert.deepEqual([status, faults[0]!.codigo, faults[0]!.correcao], [422, 'E0001', correcao]);
      assert.match(faults[0]!.mensagem, says);
    }
  });

  test('the name that was meant is told', () => {
    const meant: Readonly<Record<string, string>> = {
      '101101': 'cancelamento',
      e101101: 'cancelamento',
      Cancelamento: 'cancelamento',
      cancelameto: 'cancelamento',
      'confirmação do tomador': '',
      'Confirmação Tomador': 'confirmacao_tomador',
      rejeicaoTomador: 'rejeicao_tomador',
      'rejeicao-intermediario': 'rejeicao_intermediario',
      substituicao: 'cancelamento_por_substituicao',
    };
    for (const [said, slug] of Object.entries(meant)) {
      const { correcao } = refusalOf({ tipo_evento: said }).faults[0]!;
      assert.equal(correcao, slug === '' ? undefined : `"tipo_evento": "${slug}"`, said);
    }
    assert.equal(refusalOf('{"tipo_evento": 101101}').faults[0]!.correcao, '"tipo_evento": "cancelamento"');
  });

  for (const tipo of POR_OFICIO) {
    test(`${tipo.slug} on the channel of the integrators: 401 E9016, whatever else is wrong`, () => {
      assert.deepEqual(told(exemploDe(tipo)), [401, ['E9016 tipo_evento']]);
      assert.deepEqual(told({ tipo_evento: tipo.slug, cnpj_autor: '1', outro: 1 }), [401, ['E9016 tipo_evento']]);
    });
  }
});

describe('the author', () => {
  test('a CNPJ, one with letters among them, or a CPF', () => {
    assert.equal(pedidoOf({ ...CANCELAMENTO, cnpj_autor: '11222333000181' }).autor, '11222333000181');
    assert.equal(pedidoOf({ ...CANCELAMENTO, cnpj_autor: '12ABC34501DE35' }).autor, '12ABC34501DE35');
    assert.equal(pedidoOf({ ...CANCELAMENTO, cpf_autor: '52998224725' }).autor, '52998224725');
    assert.equal(pedidoOf({ ...CANCELAMENTO, cpf_autor: null }).autor, undefined);
  });

  test('not both: 422 E203', () => {
    const both = { ...CANCELAMENTO, cnpj_autor: '11222333000181', cpf_autor: '52998224725' };
    assert.deepEqual(told(both), [422, ['E203 cpf_autor']]);
    pedidoOf({ ...both, cpf_autor: null });
  });

  test('a document that is none: 422 E0003', () => {
    assert.deepEqual(told({ ...CANCELAMENTO, cnpj_autor: '11222333000182' }), [422, ['E0003 cnpj_autor']]);
    assert.deepEqual(told({ ...CANCELAMENTO, cnpj_autor: '52998224725' }), [422, ['E0003 cnpj_autor']]);
    assert.deepEqual(told({ ...CANCELAMENTO, cpf_autor: '52998224726' }), [422, ['E0003 cpf_autor']]);
    assert.deepEqual(told({ ...CANCELAMENTO, cpf_autor: '' }), [422, ['E0003 cpf_autor']]);
    const { faults } = refusalOf({ ...CANCELAMENTO, cnpj_autor: '11.222.333/0001-81' });
    assert.equal(faults[0]!.correcao, '"cnpj_autor": "11222333000181"');
  });

  const PARTES: PartesDaNota = {
    prestador: '11222333000181',
    tomador: '52998224725',
    intermediario: '11444777000161',
    municipio: '46395000000139',
  };

  /** The specification, Events: "When no author is sent, it is inferred from the event type". */
  const INFERRED = new Map(SPECIFIED.map(([codigo, , autor]) => [codigo, PARTES[autor as keyof PartesDaNota]]));

  for (const tipo of TIPOS) {
    const wanted = tipo.porOficio ? PARTES.municipio : INFERRED.get(tipo.codigo);
    test(`of ${tipo.slug}, when none is sent, is ${tipo.autor ?? 'the municipality'}`, () => {
      assert.equal(inferAutor(tipo, PARTES), wanted);
      assert.deepEqual(judgeAutor({ tipo, autor: undefined, campos: {} }, PARTES), { autor: wanted });
      assert.deepEqual(judgeAutor({ tipo, autor: wanted, campos: {} }, PARTES), { autor: wanted });
    });

    test(`of ${tipo.slug} is nobody else: E0813, E0816`, () => {
      const faultOf = (autor: string): Fault => {
        const judged = judgeAutor({ tipo, autor, campos: {} }, PARTES);
        assert.ok('fault' in judged);
        return judged.fault;
      };
      for (const autor of [PARTES.prestador, PARTES.intermediario, '33000167000101'].filter((one) => one !== wanted)) {
        assert.deepEqual([faultOf(autor!).codigo, faultOf(autor!).campo], ['E0813', 'cnpj_autor']);
      }
      for (const autor of [PARTES.tomador, '11144477735'].filter((one) => one !== wanted)) {
        const { codigo, campo, mensagem, encontrado, esperado } = faultOf(autor!);
        assert.deepEqual([codigo, campo], ['E0816', 'cpf_autor']);
        // No answer confirms a guessed CPF.
        assert.doesNotMatch(`${mensagem}${encontrado}${esperado}`, /(?<!\d)\d{11}(?!\d)/);
      }
    });
  }

  test('another establishment of the party is not on the note: E0813, saying that its certificate may sign (D-747)', () => {
    for (const slug of ['cancelamento', 'confirmacao_prestador']) {
      const judged = judgeAutor({ tipo: tipoBySlug(slug)!, autor: '11222333000262', campos: {} }, PARTES);
      assert.ok('fault' in judged);
      assert.deepEqual([judged.fault.codigo, judged.fault.campo], ['E0813', 'cnpj_autor']);
      assert.match(
        judged.fault.mensagem,
        /outro estabelecimento da mesma empresa, cujo certificado pode assinar.*Retire cnpj_autor/,
      );
    }
  });

  test('a party that the note does not have, or that has no CNPJ or CPF, registers nothing', () => {
    const partes: PartesDaNota = { prestador: '11222333000181', tomador: undefined, intermediario: undefined };
    for (const [slug, autor, codigo] of [
      ['rejeicao_tomador', undefined, 'E0813'],
      ['confirmacao_intermediario', '11222333000181', 'E0813'],
      ['confirmacao_tomador', '52998224725', 'E0816'],
      ['confirmacao_tacita', undefined, 'E0813'],
    ] as const) {
      const judged = judgeAutor({ tipo: tipoBySlug(slug)!, autor, campos: {} }, partes);
      assert.equal('fault' in judged && judged.fault.codigo, codigo, slug);
      const campo = autor === undefined ? 'tipo_evento' : codigo === 'E0816' ? 'cpf_autor' : 'cnpj_autor';
      assert.equal('fault' in judged && judged.fault.campo, campo, 'what was not sent is not named');
      if ('fault' in judged) assert.match(judged.fault.mensagem, /não tem/);
    }
  });
});

describe('names that a type does not have', () => {
  test('422 E0010, with the right name and what was sent under it; nothing is missed besides', () => {
    const pairs: readonly [said: string, right: string][] = [
      ['codigoMotivoCancelamento', 'codigo_motivo_cancelamento'],
      ['codigo_motivo', 'codigo_motivo_cancelamento'],
      ['codigo_motivo_rejeicao', 'codigo_motivo_cancelamento'],
      ['codigo_motivo_cancelamnto', 'codigo_motivo_cancelamento'],
      ['cMotivo', 'codigo_motivo_cancelamento'],
    ];
    const { codigo_motivo_cancelamento, ...rest } = CANCELAMENTO;
    for (const [said, right] of pairs) {
      const { status, faults } = refusalOf({ ...rest, [said]: codigo_motivo_cancelamento });
      assert.equal(status, 422);
      assert.deepEqual(
        faults.map(({ codigo, campo, correcao }) => [codigo, campo, correcao]),
        [['E0010', said, `"${right}": "1"`]],
        said,
      );
    }
    const { descricao_motivo_cancelamento, ...others } = CANCELAMENTO;
    for (const said of ['xMotivo', 'justificativa', 'descricao_motivo', 'descricao_motivo_rejeicao']) {
      const { faults } = refusalOf({ ...others, [said]: descricao_motivo_cancelamento });
      assert.equal(faults.length, 1, said);
      assert.match(faults[0]!.correcao!, /^"descricao_motivo_cancelamento": /);
    }
    assert.match(
      refusalOf({ ...CANCELAMENTO, cnpj: '11222333000181' }).faults[0]!.mensagem,
      /o nome certo é cnpj_autor/,
    );
  });

  test('a value under the wrong name is judged too', () => {
    const { codigo_motivo_cancelamento: _left, ...rest } = CANCELAMENTO;
    assert.deepEqual(told({ ...rest, cMotivo: '7' }), [422, ['E0010 cMotivo', 'E0002 cMotivo']]);
  });

  test('what the service knows itself is not sent', () => {
    for (const name of ['numero_sequencial', 'data_hora_evento', 'descricao_evento', 'id_evento']) {
      const { faults } = refusalOf({ ...CANCELAMENTO, [name]: '1' });
      assert.deepEqual([faults[0]!.codigo, faults[0]!.campo], ['E0010', name]);
      assert.match(faults[0]!.mensagem, /retire-o/);
    }
  });

  test('what nobody can have meant, and names as long as a book, are refused in a word', () => {
    for (const name of ['zzz', '', '__proto__', 'constructor', 'a'.repeat(10_000)]) {
      const { faults } = refusalOf(`{"tipo_evento":"confirmacao_tomador",${JSON.stringify(name)}:1}`);
      assert.deepEqual([faults.length, faults[0]!.codigo, faults[0]!.correcao], [1, 'E0010', '']);
      assert.ok(faults[0]!.mensagem.length < 400);
    }
  });

  test('null is the same as nothing, and no excuse for a name that does not exist', () => {
    pedidoOf({ ...CANCELAMENTO, cpf_autor: null, cnpj_autor: null, chave_acesso: null, numero_protocolo: null });
    for (const name of ['zzz', 'motivo']) {
      const { faults } = refusalOf({ ...CANCELAMENTO, [name]: null });
      assert.deepEqual(
        faults.map(({ codigo, campo }) => [codigo, campo]),
        [['E0010', name]],
      );
    }
  });
});

describe('the note in the body', () => {
  const NOTA = { chave_acesso: '35503081211222333000181000000000000126091234567895', numero_protocolo: 'P1' };
  const judged = (body: object) => judgeNota(pedidoOf({ ...CANCELAMENTO, ...body }), NOTA);

  test('need not be there, and may be the one of the address', () => {
    const { chave_acesso, numero_protocolo } = NOTA;
    for (const body of [{}, { chave_acesso }, { numero_protocolo }, NOTA]) assert.equal(judged(body), undefined);
    assert.equal(
      pedidoOf({ ...CANCELAMENTO, chave_acesso }).campos['chave_acesso'],
      undefined,
      'no field of the event',
    );
  });

  test('that is another: E0002, with both', () => {
    for (const [campo, other] of [
      ['chave_acesso', '35503081211222333000181000000000000226091234567891'],
      ['chave_acesso', ''],
      ['numero_protocolo', 'P2'],
    ] as const) {
      const fault = judged({ ...NOTA, [campo]: other });
      assert.deepEqual(
        [fault?.codigo, fault?.campo, fault?.encontrado, fault?.esperado],
        ['E0002', campo, other, NOTA[campo]],
      );
    }
  });

  test('that is no text: 422 E0001', () => {
    for (const campo of ['chave_acesso', 'numero_protocolo']) {
      assert.deepEqual(told({ ...CANCELAMENTO, [campo]: 1 }), [422, [`E0001 ${campo}`]]);
    }
  });
});

describe('the answer', () => {
  test('tells every fault at once in the order of the layout, each with its line and column; the head gives the status', () => {
    const body = `{
  "codigo_motivo_cancelamento": "3",
  "cnpj_autor": "1",
  "zzz": 1,
  "tipo_evento": "cancelamento"
}`;
    const { status, faults } = refusalOf(body);
    assert.equal(status, 422);
    assert.deepEqual(
      faults.map(({ codigo, campo, linha, coluna }) => [codigo, campo, linha, coluna]),
      [
        ['E0010', 'zzz', 4, 3],
        ['E0003', 'cnpj_autor', 3, 17],
        ['E0002', 'codigo_motivo_cancelamento', 2, 33],
        ['E002', 'descricao_motivo_cancelamento', 1, 1],
      ],
    );
    const missing = refusalOf('{"numero_protocolo": 1, "tipo_evento": "cancelamento", "cpf_autor": "52998224725"}');
    assert.deepEqual(
      [missing.status, missing.faults.map(({ campo }) => campo)],
      [422, ['numero_protocolo', 'codigo_motivo_cancelamento', 'descricao_motivo_cancelamento']],
    );
    assert.equal(refusalOf('{"tipo_evento": "cancelamento", "descricao_motivo_cancelamento": 1}').status, 400);
  });

  test('a number or a list where a free text belongs: 422 E0001', () => {
    const number = refusalOf({ ...CANCELAMENTO, descricao_motivo_cancelamento: 1 });
    assert.deepEqual([number.status, number.faults[0]!.codigo], [422, 'E0001']);
    assert.match(number.faults[0]!.mensagem, /veio como número \(1\); envie-o entre aspas/);
    const cpf = refusalOf('{"tipo_evento":"confirmacao_tomador","cpf_autor":191}').faults[0]!;
    assert.match(
      cpf.mensagem,
      /^cpf_autor veio como número \(191\); envie-o entre aspas, com os zeros à esquerda: "00000000191"/,
    );
    assert.equal(cpf.correcao, '"cpf_autor": "00000000191"');
    assert.deepEqual(told({ ...CANCELAMENTO, descricao_motivo_cancelamento: ['x'] }), [
      422,
      ['E0001 descricao_motivo_cancelamento'],
    ]);
    assert.deepEqual(told({ ...CANCELAMENTO, cnpj_autor: 11222333000181 }), [422, ['E0001 cnpj_autor']]);
  });

  test('of any other kind than a text a value is outside its list: 400 E0002 with the list (D-50)', () => {
    const right: readonly (readonly [string, string, string | undefined])[] = [
      ['rejeicao_tomador', '{"tipo_evento":"rejeicao_tomador","codigo_motivo_rejeicao":1}', '1'],
      ['rejeicao_tomador', '{"tipo_evento":"rejeicao_tomador","codigo_motivo_rejeicao":7}', undefined],
      ['rejeicao_tomador', '{"tipo_evento":"rejeicao_tomador","codigo_motivo_rejeicao":[]}', undefined],
    ];
    for (const [slug, body, code] of right) {
      const { status, faults } = refusalOf(body);
      const { codigo, campo, mensagem, esperado, correcao } = faults[0]!;
      assert.deepEqual([status, codigo, campo], [400, 'E0002', 'codigo_motivo_rejeicao'], body);
      for (const { codigo, descricao } of tipoBySlug(slug)!.campos[0]!.opcoes!) {
        assert.ok(
          mensagem.includes(`${codigo} (${descricao})`) && esperado!.includes(`${codigo} (${descricao})`),
          mensagem,
        );
      }
      assert.equal(correcao, code && `"codigo_motivo_rejeicao": "${code}"`);
      if (!body.includes('[')) assert.match(mensagem, /veio como número.*entre aspas/);
    }
    const padded = { ...exemploDe(tipoBySlug('cancelamento_por_substituicao')!), codigo_motivo_cancelamento: 1 };
    assert.equal(refusalOf(padded).faults[0]!.correcao, '"codigo_motivo_cancelamento": "01"');
  });

  test('a body that is no object: 400 E003', () => {
    for (const body of ['[]', '"cancelamento"', '1', 'null', 'true']) assert.deepEqual(told(body)[0], 400, body);
  });

  test('a thousand strange names are a hundred faults', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, place) => [`k${place}`, 1]));
    assert.equal(refusalOf({ ...CANCELAMENTO, ...many }).faults.length, 100);
  });

  test('whatever is sent, there is a request or there are faults that the table knows', () => {
    const names = [...new Set(TIPOS.flatMap((tipo) => Object.keys(exemploDe(tipo)))), 'cnpj_autor', 'cpf_autor', 'x'];
    const values = fc.oneof(
      fc.constantFrom(...TIPOS.flatMap((tipo) => Object.values(exemploDe(tipo)))),
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...TIPOS),
        fc.dictionary(fc.constantFrom(...names), values),
        fc.constantFrom<CanalEvento>('integrador', 'municipio'),
        (tipo, body, canal) => {
          const whole = { ...exemploDe(tipo), ...body };
          const reading = read(whole, canal);
          if ('faults' in reading) {
            refusalOf(whole, canal);
            return;
          }
          for (const { nome, obrigatorio } of reading.pedido.tipo.campos) {
            if (obrigatorio) assert.ok(reading.pedido.campos[nome]);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
