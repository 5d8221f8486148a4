/**
 * The events for an integrator, over real HTTP in the sandbox: every row of the specification's tables about events has a test. The worker
 * runs when a test says so, and the clock moves only by a test.
 *
 * Here: the endpoints and the body. Signers, many requests at once, and a whole day with the national environment are in `journeys/`.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TOMADOR_EXTERIOR } from '../../../test/casos/caso.ts';
import { SPECIFIED } from '../../../test/especificacao/eventos.ts';
import { balcao, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import {
  assertRefused,
  DE_OFICIO,
  FAILS,
  type Historia,
  noSuchKey,
  openHistorias,
  PRESTADOR,
  REFUSES,
  REJEICAO,
  SPENT,
  substituicaoPor,
  TENANT,
  TOMADOR,
  WAITING,
} from '../../../test/support/historias.ts';
import { type Answer, request } from '../../../test/support/http.ts';
import { buildChave } from '../../fiscal/chave.ts';
import { SECOND_MS } from '../../fiscal/moment.ts';

const {
  register,
  authorised,
  issue,
  store,
  clock,
  address,
  read,
  cancelling,
  evento,
  registered,
  work,
  authorOf,
  substitution,
  registeredDeOficio,
} = await openHistorias();

for (const path of ['chave', 'protocolo'] as const) {
  const endpoint =
    path === 'chave' ? 'POST …/nfse/:chave_acesso/eventos' : 'POST …/nfse/protocolo/:numero_protocolo/eventos';
  const post = (nota: NotaEmitida, body: unknown, headers = {}): Promise<Answer> => register(nota, body, headers, path);

  describe(`Endpoints, Events: ${endpoint}`, () => {
    test('201 with an event object (plus mensagem, status)', async () => {
      const nota = await authorised();
      const answer = await post(nota, CANCELAMENTO);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      assert.deepEqual(Object.keys(answer.body), [
        'id_evento',
        'codigo_tipo_evento',
        'tipo_evento',
        'numero_sequencial',
        'numero_protocolo',
        'chave_acesso',
        'data_hora_evento',
        'data_hora_processamento',
        'aguardando_desde',
        'status_evento',
        'protocolo',
        'codigo_retorno',
        'mensagem_retorno',
        'erros_adn',
        'reprocessamentos_count',
        'ultimo_reprocessamento_em',
        'acao_sugerida',
        'proxima_consulta',
        'desfecho',
        'descricao_evento',
        'mensagem',
        'avisos',
        'status',
      ]);
      assert.equal(answer.body.status, 'OK');
      assert.match(answer.body.mensagem, /^Evento registrado/);
      assert.deepEqual(answer.body.avisos, []);
      assert.equal(answer.headers.get('x-nfse-ambiente'), 'homologacao');
      const shown = await fetch(answer.headers.get('location')!);
      assert.deepEqual(
        [shown.status, ((await shown.json()) as Answer['body']).evento.id_evento],
        [200, answer.body.id_evento],
      );
    });

    test('404 note not found', async () => {
      const nota = await issue();
      const other = {
        chave_acesso: noSuchKey(nota),
        numero_protocolo: [...nota.numero_protocolo].toReversed().join(''),
      };
      const [codigo, campo] = path === 'chave' ? ['E301', 'chave_acesso'] : ['E601', 'numero_protocolo'];
      assertRefused(await post(other, CANCELAMENTO), 404, codigo, campo);
      assertRefused(await post({ chave_acesso: '1', numero_protocolo: '1' }, CANCELAMENTO), 404, codigo, campo);
    });

    test('404 note of another municipality', async () => {
      const nota = await issue();
      const slug = `vizinho-${path}`;
      await store.municipios.create({ tenant: slug, ambiente: 'homologacao', codigoIbge: '3304557' }, clock.now);
      const answer = await balcao(address, slug).register(nota, CANCELAMENTO, {}, path);
      assertRefused(answer, 404, path === 'chave' ? 'E301' : 'E601');
    });

    test('422 validation failed: invalid tipo_evento', async () => {
      const nota = await authorised();
      const answer = await post(nota, { ...CANCELAMENTO, tipo_evento: 'cancelamneto' });
      assertRefused(answer, 422, 'E0002', 'tipo_evento');
      assert.match(answer.body.mensagem, /o nome certo é cancelamento\.$/);
      assert.equal(answer.body.erros[0].correcao, '"tipo_evento": "cancelamento"');
      assert.equal((await read(nota)).body.total, 0);
    });

    test('422 validation failed: missing tipo_evento', async () => {
      const nota = await authorised();
      const { tipo_evento: _tipo, ...rest } = CANCELAMENTO;
      for (const body of [rest, { ...rest, tipo_evento: null }, { ...rest, tipo_evento: '' }, {}]) {
        assertRefused(await post(nota, body), 422, 'E002', 'tipo_evento');
      }
    });

    test('400 when a required field of the type is missing: the message names the field and the set', async () => {
      const nota = await authorised();
      const { codigo_motivo_cancelamento: _codigo, ...rest } = CANCELAMENTO;
      const answer = await post(nota, rest);
      assertRefused(answer, 400, 'E002', 'codigo_motivo_cancelamento');
      assert.match(answer.body.mensagem, /codigo_motivo_cancelamento/);
      assert.match(answer.body.mensagem, /1 \(Erro na Emissão\), 2 \(Serviço não Prestado\), 9 \(Outros\)/);
    });

    test('400 when an enumerated value is outside the allowed set: the message names the field and the set', async () => {
      const nota = await authorised();
      const answer = await post(nota, { ...CANCELAMENTO, codigo_motivo_cancelamento: '3' });
      assertRefused(answer, 400, 'E0002', 'codigo_motivo_cancelamento');
      assert.match(answer.body.mensagem, /codigo_motivo_cancelamento/);
      assert.match(answer.body.mensagem, /1 \(Erro na Emissão\), 2 \(Serviço não Prestado\), 9 \(Outros\)/);
      assert.equal(answer.body.erros[0].encontrado, '3');
    });

    test('400 E003: no JSON, and another type of body', async () => {
      const nota = await authorised();
      for (const body of ['{', '', '[]', '"cancelamento"', '<DPS/>'])
        assertRefused(await post(nota, body), 400, 'E003');
      const xml = await post(nota, '<DPS/>', { 'Content-Type': 'application/xml' });
      assertRefused(xml, 400, 'E003', 'Content-Type');
      assert.match(xml.body.mensagem, /corpo em JSON/);
      assert.doesNotMatch((await post(nota, '<DPS/>')).body.mensagem, /Envie-o com Content-Type: application\/xml/);
    });

    test('401 E9016: by-office events are refused on this channel', async () => {
      const nota = await authorised();
      for (const [, tipo_evento] of DE_OFICIO) {
        const answer = await post(nota, { tipo_evento });
        assertRefused(answer, 401, 'E9016', 'tipo_evento');
        assert.match(answer.body.mensagem, new RegExp(tipo_evento));
      }
      assert.equal((await read(nota)).body.total, 0);
    });

    test('a body with faults is told with what its note has against it, as far as the body is known', async () => {
      const nota = await cancelling({ passos: ['work'] });
      const { descricao_motivo_cancelamento: _left, ...without } = CANCELAMENTO;
      const codesOf = ({ body }: Awaited<ReturnType<typeof post>>): unknown[] =>
        body.erros.map(({ codigo }: { codigo: string }) => codigo);
      assert.deepEqual(codesOf(await post(nota, without)), ['E002', 'E302']);
      assert.deepEqual(codesOf(await post(nota, { ...without, cnpj_autor: '11444777000161' })), ['E002', 'E0813']);
      assert.deepEqual(codesOf(await post(nota, { ...without, cnpj_autor: '1' })), ['E0003', 'E002']);
      assert.deepEqual(codesOf(await post(nota, { ...without, tipo_evento: 'outro' })), ['E0002']);
    });

    test('422 E302: note already cancelled', async () => {
      const nota = await cancelling({ passos: ['work'] });
      for (const tipo_evento of ['cancelamento', 'confirmacao_tomador']) {
        const answer = await post(nota, { ...(tipo_evento === 'cancelamento' ? CANCELAMENTO : {}), tipo_evento });
        assertRefused(answer, 422, 'E302');
        assert.match(answer.body.mensagem, /já está cancelada/);
        assert.match(answer.body.detalhes, /^nota_cancelada: /);
      }
    });

    /** A cancellation in each state; `open`: another one is refused. */
    const situations: readonly (readonly [state: string, open: boolean, Historia])[] = [
      ['pendente', true, { passos: [] }],
      ['enviado', true, { adn: 'adn:atraso=30s', passos: ['work'] }],
      [WAITING, true, { draft: true, passos: ['work'] }],
      ['erro with retry pending', true, { adn: FAILS, passos: ['work'] }],
      ['erro without a retry', false, SPENT],
      ['rejeitado', false, { adn: REFUSES, passos: ['work'] }],
      ['erro_reprocessamento', false, { adn: FAILS, passos: ['work', 'separacao'] }],
      ['cancelado', false, { passos: ['retirada'] }],
      ['dispensado', false, { passos: ['dispensa'] }],
    ];

    for (const [state, open, historia] of situations) {
      const outcome = open
        ? '422 E302: another cancellation of the note is in'
        : '201 although another cancellation was in';
      test(`${outcome} ${state}`, async () => {
        const nota = await cancelling(historia);
        const { id_evento, status_evento } = await evento(nota, 'cancelamento');
        assert.equal(status_evento, state.split(' ')[0]);
        const answer = await post(nota, CANCELAMENTO);
        if (open) {
          assertRefused(answer, 422, 'E302');
          assert.match(
            answer.body.mensagem,
            new RegExp(
              `cancelamento número 1, ${status_evento}\\. .*ainda não está cancelada.*…/eventos/cancelamento/1`,
            ),
          );
          assert.equal(
            answer.body.detalhes,
            `cancelamento_em_andamento: cancelamento nº 1 (id_evento ${id_evento}), ${status_evento}.`,
          );
        } else {
          assert.equal(answer.status, 201, JSON.stringify(answer.body));
          assert.equal(answer.body.numero_sequencial, 2);
        }
        // A cancellation under way does not block other types.
        assert.equal((await post(nota, { tipo_evento: 'confirmacao_tomador' })).status, 201);
      });
    }
  });
}

test('Sandbox tenant | Events | stored locally with tpAmb=2, not sent', async () => {
  const nota = await authorised();
  const { id_evento } = await registered(nota, CANCELAMENTO);
  await work.eventos();
  const { xml, assinatura } = (await store.eventos.readDocuments(TENANT, String(id_evento)))!;
  assert.match(xml.toString(), /<tpAmb>2<\/tpAmb>/);
  assert.doesNotMatch(xml.toString(), /<tpAmb>1</);
  assert.equal(assinatura, null, 'nothing that is sent goes unsigned');
  const { status_evento, protocolo } = await evento(nota, 'cancelamento');
  assert.deepEqual([status_evento, protocolo], ['processado', null]);
});

describe('Event request body', () => {
  test('tipo_evento: string slug, required; not a number, not the national code', async () => {
    const nota = await authorised();
    const code = await register(nota, { ...CANCELAMENTO, tipo_evento: '101101' });
    assertRefused(code, 422, 'E0002', 'tipo_evento');
    assert.match(code.body.mensagem, /o nome certo é cancelamento\.$/);
    for (const tipo_evento of [true, 101101]) {
      assertRefused(await register(nota, { ...CANCELAMENTO, tipo_evento }), 422, 'E0001', 'tipo_evento');
    }
  });

  for (const [codigo, motivo] of [
    ['1', 'Erro na Emissão'],
    ['2', 'Serviço não Prestado'],
    ['9', 'Outros'],
  ] as const) {
    test(`codigo_motivo_cancelamento: enumerated code of the reason, ${codigo} ${motivo}`, async () => {
      const nota = await authorised();
      const { id_evento } = await registered(nota, { ...CANCELAMENTO, codigo_motivo_cancelamento: codigo });
      const { xml, recebido } = (await store.eventos.readDocuments(TENANT, String(id_evento)))!;
      assert.match(xml.toString(), new RegExp(`<cMotivo>${codigo}</cMotivo>`));
      assert.equal(recebido!.toString(), JSON.stringify({ ...CANCELAMENTO, codigo_motivo_cancelamento: codigo }));
    });
  }

  test('codigo_motivo_cancelamento: string, so a number is outside the set, and is told how to be sent', async () => {
    const answer = await register(await authorised(), { ...CANCELAMENTO, codigo_motivo_cancelamento: 1 });
    assertRefused(answer, 400, 'E0002', 'codigo_motivo_cancelamento');
    assert.match(
      answer.body.mensagem,
      /entre aspas: "1"\. .*1 \(Erro na Emissão\), 2 \(Serviço não Prestado\), 9 \(Outros\)/,
    );
    assert.equal(answer.body.erros[0].correcao, '"codigo_motivo_cancelamento": "1"');
  });

  test('chave_acesso, numero_protocolo: optional, and those of the address, so that a body is of one note', async () => {
    const [nota, other] = [await authorised(), await authorised()];
    const { chave_acesso, numero_protocolo } = nota;
    const bound = { ...CANCELAMENTO, chave_acesso, numero_protocolo };
    const elsewhere = await register(other, bound);
    assertRefused(elsewhere, 422, 'E0002', 'chave_acesso');
    assert.deepEqual(
      [elsewhere.body.erros[0].encontrado, elsewhere.body.erros[0].esperado],
      [chave_acesso, other.chave_acesso],
    );
    assertRefused(await register(other, { ...CANCELAMENTO, numero_protocolo }), 422, 'E0002', 'numero_protocolo');
    assert.equal((await read(other, '')).body.total, 0);
    const { id_evento } = await registered(nota, bound);
    assert.doesNotMatch(
      (await store.eventos.readDocuments(TENANT, String(id_evento)))!.xml.toString(),
      /numero_protocolo/,
    );
  });

  test('descricao_motivo_cancelamento: string, free text of the reason', async () => {
    const nota = await authorised();
    const descricao_motivo_cancelamento = 'Emissão em duplicidade & <valor> "trocado"';
    const { id_evento } = await registered(nota, { ...CANCELAMENTO, descricao_motivo_cancelamento });
    const { xml } = (await store.eventos.readDocuments(TENANT, String(id_evento)))!;
    assert.match(xml.toString(), /<xMotivo>Emissão em duplicidade &amp; &lt;valor&gt; "trocado"<\/xMotivo>/);
    const short = await register(await authorised(), { ...CANCELAMENTO, descricao_motivo_cancelamento: 'Curto' });
    assertRefused(short, 422, 'E0003', 'descricao_motivo_cancelamento');
    const { descricao_motivo_cancelamento: _none, ...without } = CANCELAMENTO;
    assertRefused(await register(await authorised(), without), 400, 'E002', 'descricao_motivo_cancelamento');
  });

  test('cnpj_autor: string, 14 digits, optional', async () => {
    const nota = await authorised();
    const { id_evento } = await registered(nota, { tipo_evento: 'confirmacao_prestador', cnpj_autor: PRESTADOR });
    assert.equal(await authorOf(id_evento), PRESTADOR);
    for (const cnpj_autor of ['1122233300018', '11222333000182', '11.222.333/0001-81']) {
      const answer = await register(nota, { ...CANCELAMENTO, cnpj_autor });
      assertRefused(answer, 422, 'E0003', 'cnpj_autor');
    }
    const stranger = await register(nota, { ...CANCELAMENTO, cnpj_autor: '11444777000161' });
    assertRefused(stranger, 422, 'E0813', 'cnpj_autor');
    assert.match(stranger.body.mensagem, /em nome do prestador, que nesta nota é 11222333000181/);
  });

  test('cnpj_autor: another establishment is not on the note, and without the field the event is of the party', async () => {
    const nota = await authorised();
    const branch = await register(nota, { ...CANCELAMENTO, cnpj_autor: '11222333000262' });
    assertRefused(branch, 422, 'E0813', 'cnpj_autor');
    assert.match(branch.body.mensagem, /não é parte da nota\. Retire cnpj_autor/);
    const { id_evento } = await registered(nota, CANCELAMENTO);
    assert.equal(await authorOf(id_evento), PRESTADOR);
  });

  test('cpf_autor: string, 11 digits, optional', async () => {
    const nota = await authorised();
    const { id_evento } = await registered(nota, { tipo_evento: 'confirmacao_tomador', cpf_autor: TOMADOR });
    assert.equal(await authorOf(id_evento), TOMADOR);
    assertRefused(
      await register(nota, { tipo_evento: 'rejeicao_tomador', ...REJEICAO, cpf_autor: '5299822472' }),
      422,
      'E0003',
      'cpf_autor',
    );
    assertRefused(
      await register(nota, { tipo_evento: 'rejeicao_tomador', ...REJEICAO, cpf_autor: '11144477735' }),
      422,
      'E0816',
      'cpf_autor',
    );
  });

  test('cpf_autor: mutually exclusive with cnpj_autor', async () => {
    const nota = await authorised();
    const answer = await register(nota, { ...CANCELAMENTO, cnpj_autor: PRESTADOR, cpf_autor: TOMADOR });
    assertRefused(answer, 422, 'E203', 'cpf_autor');
    assert.match(answer.body.mensagem, /não vão juntos/);
  });

  test('other fields: the substitute of a replacement, by its key', async () => {
    const { antiga, nova } = await substitution();
    const { chave_acesso_substituta: _key, ...without } = substituicaoPor(nova);
    assertRefused(await register(antiga, without), 400, 'E002', 'chave_acesso_substituta');
    const { id_evento } = await registered(antiga, substituicaoPor(nova));
    const { xml } = (await store.eventos.readDocuments(TENANT, String(id_evento)))!;
    assert.match(xml.toString(), new RegExp(`<chSubstituta>${nova.chave_acesso}</chSubstituta>`));
  });

  for (const codigo_motivo_rejeicao of ['1', '2', '3', '4', '5', '9']) {
    test(`other fields: reason ${codigo_motivo_rejeicao} of a rejection`, async () => {
      const nota = await authorised();
      const rejeicao = { tipo_evento: 'rejeicao_tomador', codigo_motivo_rejeicao };
      if (codigo_motivo_rejeicao === '9') {
        assertRefused(await register(nota, rejeicao), 400, 'E002', 'descricao_motivo_rejeicao');
      }
      const why = codigo_motivo_rejeicao === '9' ? { descricao_motivo_rejeicao: 'Serviço em desacordo' } : {};
      const { id_evento } = await registered(nota, { ...rejeicao, ...why });
      const { xml } = (await store.eventos.readDocuments(TENANT, String(id_evento)))!;
      assert.match(xml.toString(), new RegExp(`<cMotivo>${codigo_motivo_rejeicao}</cMotivo>`));
    });
  }

  test('other fields: what the type does not have is E0010, with the name that was meant', async () => {
    const { tipo_evento, ...campos } = CANCELAMENTO;
    const answer = await register(await authorised(), { tipo_evento, ...campos, Cnpj: PRESTADOR });
    assertRefused(answer, 422, 'E0010', 'Cnpj');
    assert.match(answer.body.mensagem, /o nome certo é cnpj_autor/);
    const both = await register(await authorised(), { tipo_evento, ...campos, motivo: 'x', xyz: 1 });
    assert.deepEqual(
      both.body.erros.map(({ codigo }: { codigo: string }) => codigo),
      ['E0010', 'E0010'],
    );
  });
});

describe('the author, when none is sent', () => {
  test('a party that the note does not have: refused, naming the party', async () => {
    const nota = await authorised(TOMADOR_EXTERIOR);
    for (const [tipo_evento, party] of [
      ['confirmacao_tomador', 'tomador'],
      ['confirmacao_intermediario', 'intermediário'],
    ] as const) {
      const answer = await register(nota, { tipo_evento });
      assertRefused(answer, 422, 'E0813');
      assert.match(answer.body.mensagem, new RegExp(`não tem ${party} identificado`));
    }
  });
});

describe('Endpoints, Events: queries', () => {
  const MANIFESTATIONS = ['confirmacao_tomador', 'confirmacao_prestador', 'confirmacao_tomador'] as const;

  async function manifested(): Promise<NotaEmitida> {
    const nota = await authorised();
    for (const tipo_evento of MANIFESTATIONS) {
      await registered(nota, { tipo_evento });
      clock.now += SECOND_MS;
    }
    return nota;
  }

  const shown = (eventos: readonly { tipo_evento: string; numero_sequencial: number }[]): string[] =>
    eventos.map(({ tipo_evento, numero_sequencial }) => `${tipo_evento} ${numero_sequencial}`);

  test('GET …/eventos: total, eventos ordered by creation time, newest first, status', async () => {
    const { status, body } = await read(await manifested());
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['total', 'eventos', 'status']);
    assert.deepEqual([body.total, body.status], [3, 'OK']);
    assert.deepEqual(shown(body.eventos), [
      'confirmacao_tomador 2',
      'confirmacao_prestador 1',
      'confirmacao_tomador 1',
    ]);
    const times = body.eventos.map(({ data_hora_evento }: { data_hora_evento: string }) =>
      Date.parse(data_hora_evento),
    );
    assert.deepEqual(
      times,
      [...times].toSorted((a, b) => b - a),
    );
  });

  test('GET …/eventos: of the same second, the one registered last comes first', async () => {
    const nota = await authorised();
    for (const tipo_evento of MANIFESTATIONS) await registered(nota, { tipo_evento });
    assert.deepEqual(shown((await read(nota)).body.eventos), [
      'confirmacao_tomador 2',
      'confirmacao_prestador 1',
      'confirmacao_tomador 1',
    ]);
  });

  test('GET …/protocolo/:numero_protocolo/eventos: not an endpoint; 405 with those that there are', async () => {
    const nota = await manifested();
    const at = `/${TENANT}/api/v1/nfse/protocolo/${nota.numero_protocolo}/eventos`;
    const { status, headers, body } = await request(address, at);
    assert.deepEqual([status, headers.get('allow'), body.codigo_erro], [405, 'POST', 'E003']);
    const below = await request(address, `${at}/confirmacao_tomador/1`);
    assert.deepEqual([below.status, below.body.codigo_erro], [404, 'E601']);
    for (const { mensagem } of [body, below.body]) {
      assert.match(mensagem, /POST …\/nfse\/protocolo\/\{numero_protocolo\}\/eventos/);
      assert.match(
        mensagem,
        /GET …\/nfse\/\{chave_acesso\}\/eventos, …\/eventos\/\{tipo_evento\} e …\/eventos\/\{tipo_evento\}\/\{num_seq_evento\}/,
      );
    }
    const elsewhere = await request(address, `/${TENANT}/api/v1/nfse/${nota.chave_acesso}/evento`);
    assert.doesNotMatch(elsewhere.body.mensagem, /Pelo número de protocolo/);
  });

  test('GET …/eventos: a note without events has none', async () => {
    const { status, headers, body } = await read(await authorised());
    assert.equal(status, 200);
    assert.deepEqual(body, { total: 0, eventos: [], status: 'OK' });
    assert.equal(headers.get('retry-after'), null);
  });

  test('GET …/eventos/:tipo_evento: total, tipo_evento, eventos ordered by numero_sequencial ascending, status', async () => {
    const nota = await manifested();
    for (const named of ['confirmacao_tomador', '203202']) {
      const { status, body } = await read(nota, `/${named}`);
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ['total', 'tipo_evento', 'eventos', 'status']);
      assert.deepEqual([body.total, body.tipo_evento, body.status], [2, 'confirmacao_tomador', 'OK']);
      assert.deepEqual(shown(body.eventos), ['confirmacao_tomador 1', 'confirmacao_tomador 2']);
    }
    const none = await read(nota, '/cancelamento');
    assert.deepEqual([none.status, none.body.total, none.body.eventos], [200, 0, []]);
  });

  test('GET …/eventos/:tipo_evento/:num_seq_evento: evento (one event object), status', async () => {
    const nota = await manifested();
    for (const number of ['2', '002']) {
      const { status, body } = await read(nota, `/confirmacao_tomador/${number}`);
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ['evento', 'status']);
      assert.deepEqual(shown([body.evento]), ['confirmacao_tomador 2']);
    }
  });

  test('404 when the note is not found', async () => {
    const other = { chave_acesso: noSuchKey(await issue()) };
    for (const where of ['', '/cancelamento', '/cancelamento/1']) {
      assertRefused(await read(other, where), 404, 'E301', 'chave_acesso');
    }
  });

  test('404 when the event is not found', async () => {
    const nota = await manifested();
    for (const number of ['3', '0', '1000', 'x', '-1', '1.0', '%00', '9'.repeat(40)]) {
      const answer = await read(nota, `/confirmacao_tomador/${number}`);
      assertRefused(answer, 404, 'E301', 'num_seq_evento');
      // The code alone does not distinguish this from a missing note.
      assert.match(answer.body.mensagem, /^A nota existe, mas não tem evento confirmacao_tomador /);
      assert.match(answer.body.detalhes, /^evento_inexistente: /);
    }
    assertRefused(await read(nota, '/cancelamento/1'), 404, 'E301', 'num_seq_evento');
  });

  test('404 when there is no such type: the slugs that there are', async () => {
    const nota = await manifested();
    for (const where of ['/cancelamneto', '/999999', '/CANCELAMENTO', '/cancelamneto/1']) {
      const answer = await read(nota, where);
      assertRefused(answer, 404, 'E601', 'tipo_evento');
      assert.equal(answer.body.detalhes.valores_validos.length, SPECIFIED.length);
    }
  });

  test('each municipality reads its own', async () => {
    const nota = await manifested();
    await store.municipios.create({ tenant: 'outro', ambiente: 'homologacao', codigoIbge: '3304557' }, clock.now);
    assertRefused(await balcao(address, 'outro').read(nota), 404, 'E301', 'chave_acesso');
  });

  test('an event by office is read like the others', async () => {
    const nota = await authorised();
    await registeredDeOficio(nota, { tipo_evento: 'confirmacao_tacita' });
    assert.deepEqual(shown((await read(nota)).body.eventos), ['confirmacao_tacita 1']);
  });
});

test('a signature that is sent to the sandbox is looked at, and refuses nothing (D-30)', async () => {
  const answer = await register(await authorised(), CANCELAMENTO, { 'X-Evento-Assinatura': 'bm90aGluZw==' });
  assert.equal(answer.status, 201);
  assert.deepEqual(
    answer.body.avisos.map(({ codigo }: { codigo: string }) => codigo),
    ['E9003'],
  );
  assert.match(answer.body.avisos[0].mensagem, /^Em produção esta assinatura seria recusada/);
});

describe('the body is looked at before the note', () => {
  // A key with a wrong check digit, a key of no note, an impossible protocol, a protocol of no note.
  const chave = buildChave({
    cMun: '3550308',
    ambGer: '1',
    documento: PRESTADOR,
    nNFSe: 9,
    anoMes: '2611',
    codigo: '123456789',
  });
  const wrongDigit = `${chave.slice(0, -1)}${(Number(chave.at(-1)) + 1) % 10}`;
  const places = [`${wrongDigit}/eventos`, `${chave}/eventos`, 'protocolo/@@/eventos', 'protocolo/123/eventos'];
  for (const place of places) {
    test(`${place.startsWith('protocolo') ? 'by protocol' : 'by key'}: ${place}`, async () => {
      const send = (body: string): Promise<Answer> =>
        request(address, `/integracao/api/v1/nfse/${place}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body,
        });
      const unread = await send('{"tipo_evento":');
      assert.deepEqual([unread.status, unread.body.codigo_erro], [400, 'E003']);
      const read = await send(JSON.stringify(CANCELAMENTO));
      assert.deepEqual([read.status, read.body.codigo_erro], [404, place.startsWith('protocolo') ? 'E601' : 'E301']);
    });
  }
});
