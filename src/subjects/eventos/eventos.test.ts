/**
 * The events for an integrator, over real HTTP in the sandbox: every row of the specification's tables about events has a test. The worker
 * runs when a test says so, and the clock moves only by a test.
 *
 * Signers, many requests at once, and a whole day with the national environment are in `journeys/`.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { INTERMEDIARIO, TOMADOR_EXTERIOR } from '../../../test/casos/caso.ts';
import { SPECIFIED } from '../../../test/especificacao/eventos.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import { type Answer, request } from '../../../test/support/http.ts';
import { NO_SUCH_KEY } from '../../../test/support/notas.ts';
import { startTestService } from '../../../test/support/service.ts';
import { localAdn } from '../../adn/local.ts';
import { readJson } from '../../documents/json.ts';
import { buildChave, parseChave } from '../../fiscal/chave.ts';
import type { Fault } from '../../fiscal/fault.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../fiscal/moment.ts';
import { readPedido } from '../../fiscal/pedido-evento.ts';
import type { Patch } from '../../fiscal/rules/rule.ts';
import type { OperatorTrigger } from './operate.rows.ts';
import { registerPedido } from './register.ts';

const TENANT = 'integracao';
const AGENTE = '52998224725';
const MUNICIPIO_CNPJ = '99999999000191';

/** Documents of the parties of the example, with an added intermediary. */
const PRESTADOR = '11222333000181';
const TOMADOR = '52998224725';
const INTERMEDIADORA = '00000000000191';
const PARTIES = {
  [PRESTADOR]: 'document of the note provider',
  [TOMADOR]: 'document of the taker',
  [INTERMEDIADORA]: 'document of the intermediary',
} as const;

const { address, world, store, clock } = await startTestService({ worker: false });
const { issue, nota: readNota, register, registered, read, evento } = balcao(address);
const work = bancada(world);

/** The header that asks the local authority to simulate an outcome. */
const plays = (value: string): Readonly<Record<string, string>> => ({ 'X-NFSe-Simular': value });

async function authorised(patch: Patch = {}): Promise<NotaEmitida> {
  const nota = await issue(patch);
  await work.notas();
  return nota;
}

/** The clock advances, and the worker processes the events. */
async function later(ms: number): Promise<void> {
  clock.now += ms;
  await work.eventos();
}

async function statusOf(nota: NotaEmitida, tipo = 'cancelamento', sequencial = 1): Promise<string> {
  return (await evento(nota, tipo, sequencial)).status_evento;
}

async function operate(id: number, trigger: OperatorTrigger): Promise<void> {
  const moved = await store.eventos.move(TENANT, String(id), trigger, clock.now, undefined);
  assert.ok(moved !== undefined && 'evento' in moved && !('conflict' in moved), JSON.stringify(moved));
}

async function trailOf(id: number) {
  return store.eventos.listTrail(TENANT, (await store.eventos.findById(TENANT, String(id)))!);
}

/** Registers an event by the municipality itself. */
async function deOficio(nota: NotaEmitida, body: object) {
  const json = readJson(Buffer.from(JSON.stringify(body)));
  assert.ok(!('fault' in json));
  const read = readPedido(json, 'municipio');
  assert.ok('pedido' in read, JSON.stringify(read));
  const municipio = (await store.municipios.findBySlug(TENANT))!;
  const named = { chave: nota.chave_acesso };
  return registerPedido(world, municipio, named, { pedido: read.pedido, municipio: MUNICIPIO_CNPJ });
}

async function registeredDeOficio(nota: NotaEmitida, body: object): Promise<void> {
  const answer = await deOficio(nota, body);
  assert.ok(answer !== 'not_found' && 'evento' in answer, JSON.stringify(answer));
  await work.eventos();
}

function assertRefused({ status, headers, body }: Answer, expected: number, codigo: string, campo?: string): void {
  assert.equal(status, expected, JSON.stringify(body));
  assert.equal(body.codigo_erro, codigo, JSON.stringify(body));
  if (campo !== undefined) assert.equal(body.campo, campo);
  assert.equal(body.mensagem, body.erros[0].mensagem);
  assert.match(body.erros[0].doc_url, new RegExp(`/docs/erros/${codigo}$`));
  assert.equal(headers.get('x-nfse-ambiente'), 'homologacao');
}

/** Simulated outcomes of the local authority: a failure without decision, and a refusal. */
const [FAILS, REFUSES] = ['adn:rejeita=E1217', 'adn:rejeita=E0840'];
const WAITING = 'aguardando_autorizacao_nota';

type Passo = number | 'work' | OperatorTrigger;
/**
 * The simulated outcome of a cancellation, whether its note is a draft, and the next steps. A step is the worker, milliseconds of the
 * clock, or an action of the operator.
 */
type Historia = { readonly adn?: string; readonly draft?: true; readonly passos: readonly Passo[] };

/** All three retries have failed. */
const SPENT: Historia = {
  adn: FAILS,
  passos: ['work', ...[1, 2, 3].flatMap((): Passo[] => [10 * MINUTE_MS, 'work'])],
};

/** The note of a cancellation with this history. */
async function cancelling({ adn, draft, passos }: Historia): Promise<NotaEmitida> {
  const nota = draft ? await issue() : await authorised();
  const { id_evento } = await registered(nota, CANCELAMENTO, adn === undefined ? {} : plays(adn));
  for (const passo of passos) {
    if (passo === 'work') await work.eventos();
    else if (typeof passo === 'number') clock.now += passo;
    else await operate(id_evento, passo);
  }
  return nota;
}

const REJEICAO = { codigo_motivo_rejeicao: '3' };

const motivoDe = (codigo_motivo_cancelamento: string, descricao_motivo_cancelamento: string) => ({
  codigo_motivo_cancelamento,
  descricao_motivo_cancelamento,
});

const ANALISE = ['101103', 'solicitacao_analise_fiscal_para_cancelamento'] as const;
const PEDIDO_DE_ANALISE = motivoDe('2', 'Serviço que não foi prestado');

/** The specification's table of accepted slugs: the required fields, and the default author. */
const ACEITOS: readonly (readonly [
  codigo: string,
  slug: string,
  descricao: string,
  autor: keyof typeof PARTIES,
  campos?: Readonly<Record<string, string>>,
])[] = [
  ['101101', 'cancelamento', 'Cancelamento de NFS-e', PRESTADOR, motivoDe('1', 'Valor informado com erro')],
  [...ANALISE, 'Solicitação de Análise Fiscal para Cancelamento de NFS-e', PRESTADOR, PEDIDO_DE_ANALISE],
  ['202201', 'confirmacao_prestador', 'Manifestação de NFS-e - Confirmação do Prestador', PRESTADOR],
  ['203202', 'confirmacao_tomador', 'Manifestação de NFS-e - Confirmação do Tomador', TOMADOR],
  ['204203', 'confirmacao_intermediario', 'Manifestação de NFS-e - Confirmação do Intermediário', INTERMEDIADORA],
  ['202205', 'rejeicao_prestador', 'Manifestação de NFS-e - Rejeição do Prestador', PRESTADOR, REJEICAO],
  ['203206', 'rejeicao_tomador', 'Manifestação de NFS-e - Rejeição do Tomador', TOMADOR, REJEICAO],
  ['204207', 'rejeicao_intermediario', 'Manifestação de NFS-e - Rejeição do Intermediário', INTERMEDIADORA, REJEICAO],
];

/** The same table: types whose author is no party of the note. */
const DE_OFICIO = [
  ['105104', 'cancelamento_deferido_por_analise_fiscal'],
  ['105105', 'cancelamento_indeferido_por_analise_fiscal'],
  ['205204', 'confirmacao_tacita'],
  ['205208', 'anulacao_rejeicao'],
  ['305101', 'cancelamento_por_oficio'],
  ['305102', 'bloqueio_por_oficio'],
  ['305103', 'desbloqueio_por_oficio'],
] as const;

/** A note and its substitute, whose DPS names it and which waits for the event. */
async function substitution(
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly antiga: NotaEmitida; readonly nova: NotaEmitida }> {
  const antiga = await authorised();
  const subst = {
    'subst/chSubstda': antiga.chave_acesso,
    'subst/cMotivo': '99',
    'subst/xMotivo': 'Descrição do serviço incorreta',
  };
  const nova = await issue(subst, headers);
  await work.notas();
  return { antiga, nova };
}

/** The note that replaces another, or is meant to. */
async function replaced(headers: Readonly<Record<string, string>> = {}): Promise<NotaEmitida> {
  const { antiga, nova } = await substitution(headers);
  await registered(antiga, substituicaoPor(nova));
  await work.eventos();
  await work.notas();
  return nova;
}

const MOTIVO = 'Descrição do serviço incorreta';

const substituicaoPor = (nova: NotaEmitida) => ({
  tipo_evento: 'cancelamento_por_substituicao',
  codigo_motivo_cancelamento: '99',
  descricao_motivo_cancelamento: 'Descrição do serviço incorreta',
  chave_acesso_substituta: nova.chave_acesso,
});

/** A well-formed key of a note that was never issued. */
function noSuchKey({ chave_acesso }: Pick<NotaEmitida, 'chave_acesso'>): string {
  return buildChave({ ...parseChave(chave_acesso)!, nNFSe: 999_999 });
}

async function authorOf(id: number): Promise<string | undefined> {
  const xml = (await store.eventos.readDocuments(TENANT, String(id)))!.xml.toString();
  return /<(?:CNPJ|CPF)Autor>([^<]+)</.exec(xml)?.[1];
}

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

describe('Events: accepted tipo_evento slugs with national codes', () => {
  for (const [codigo, slug, descricao, autor, campos] of ACEITOS) {
    test(`${codigo} ${slug}; the author, when none is sent: ${PARTIES[autor]}`, async () => {
      const nota = await authorised(INTERMEDIARIO);
      const event = await registered(nota, { tipo_evento: slug, ...campos });
      assert.deepEqual(
        [event.codigo_tipo_evento, event.tipo_evento, event.descricao_evento, event.numero_sequencial],
        [codigo, slug, descricao, 1],
      );
      assert.equal(await authorOf(event.id_evento), autor);
      await work.eventos();
      assert.equal(await statusOf(nota, slug), 'processado');
    });
  }

  test('105102 cancelamento_por_substituicao (carries the key of the substitute note); the author: document of the note provider', async () => {
    const { antiga, nova } = await substitution();
    const event = await registered(antiga, substituicaoPor(nova));
    assert.deepEqual(
      [event.codigo_tipo_evento, event.descricao_evento],
      ['105102', 'Cancelamento de NFS-e por Substituição'],
    );
    assert.equal(await authorOf(event.id_evento), PRESTADOR);
    await work.eventos();
    await work.notas();
    assert.equal(await statusOf(antiga, 'cancelamento_por_substituicao'), 'processado');
    assert.equal((await readNota(antiga)).body.nota.status, 'cancelada');
    assert.equal((await readNota(nova)).body.nota.status, 'autorizada');
  });

  test('105102: the substitute waits for it as in production (D-60), and goes as soon as it is processed', async () => {
    const { antiga, nova } = await substitution();
    for (const ms of [0, MINUTE_MS, HOUR_MS]) {
      clock.now += ms;
      await work.notas();
      const { nota, protocolo } = (await readNota(nova)).body;
      assert.deepEqual([nota.status, protocolo.status], ['rascunho', 'processando']);
      assert.match(protocolo.mensagem_retorno, /espera pelo evento cancelamento_por_substituicao/);
    }
    await registered(antiga, substituicaoPor(nova));
    await work.notas();
    assert.equal((await readNota(nova)).body.nota.status, 'rascunho', 'registered, it has cancelled nothing yet');
    await work.eventos();
    await work.notas();
    const { nota, protocolo } = (await readNota(nova)).body;
    assert.deepEqual([nota.status, protocolo.status, protocolo.mensagem_retorno], ['autorizada', 'autorizado', null]);
  });

  test('105102: a substitute of a note that is not here waits for nothing', async () => {
    const nova = await authorised({ 'subst/chSubstda': noSuchKey(await authorised()), 'subst/cMotivo': '01' });
    assert.equal((await readNota(nova)).body.nota.status, 'autorizada');
  });

  test('105102: of two that replace one note the one that the event does not name is refused, E1310', async () => {
    const { antiga, nova } = await substitution();
    const outra = await issue({
      'subst/chSubstda': antiga.chave_acesso,
      'subst/cMotivo': '99',
      'subst/xMotivo': MOTIVO,
    });
    await work.notas();
    const { avisos } = await registered(antiga, substituicaoPor(nova));
    assert.deepEqual(
      avisos.map((aviso: Record<string, string>) => [aviso.codigo, aviso.mensagem?.includes(outra.chave_acesso)]),
      [
        ['E1308', false],
        ['E1310', true],
      ],
    );
    await work.eventos();
    await work.notas();
    assert.equal((await readNota(nova)).body.nota.status, 'autorizada');
    const { protocolo } = (await readNota(outra)).body;
    assert.equal(protocolo.status, 'rejeitado');
    assert.match(protocolo.mensagem_retorno, /^E1310: /);
  });

  test('a plain cancellation of a note that another replaces: an aviso names that one, and E0046 refuses it at once', async () => {
    const { antiga, nova } = await substitution();
    // The note is checked seldom by now: the cancellation wakes it.
    for (const ms of [MINUTE_MS, HOUR_MS]) {
      clock.now += ms;
      await work.notas();
    }
    const { avisos } = await registered(antiga, CANCELAMENTO);
    assert.deepEqual(
      avisos.map(({ codigo }: { codigo: string }) => codigo),
      ['E0046'],
    );
    assert.match(avisos[0].mensagem, new RegExp(`A nota ${nova.chave_acesso} substitui esta.*sem o grupo subst`));
    await work.eventos();
    await work.notas();
    const { protocolo } = (await readNota(nova)).body;
    assert.equal(protocolo.status, 'rejeitado');
    assert.match(protocolo.mensagem_retorno, /^E0046: /);
    const { avisos: none } = await registered(await authorised(), CANCELAMENTO);
    assert.deepEqual(none, []);
  });

  test('105102: the replaced note is cancelled before the ADN sees its substitute, and an aviso says what that means', async () => {
    const { antiga, nova } = await substitution(plays('adn:rejeita=E1234'));
    const { avisos } = await registered(antiga, substituicaoPor(nova));
    assert.equal(avisos.length, 1);
    const [{ codigo, campo, mensagem }] = avisos;
    assert.deepEqual([codigo, campo], ['E1308', 'chave_acesso_substituta']);
    assert.match(
      mensagem,
      /ainda não foi autorizada.*segue depois deste evento.*continua cancelada.*sem o grupo subst/,
    );
    await work.eventos();
    await work.notas();
    assert.equal((await readNota(nova)).body.protocolo.status, 'rejeitado');
    assert.equal((await readNota(antiga)).body.nota.status, 'cancelada');
    // The solution that the answer names.
    const patch = { 'subst/chSubstda': antiga.chave_acesso, 'subst/cMotivo': '01' };
    const again = (await issue(patch)) as unknown as Answer['body'];
    assert.deepEqual(
      again.avisos.map((one: { codigo: string }) => one.codigo),
      ['E0046'],
      'in production refused: the note is cancelled already',
    );
    assert.equal((await readNota(await authorised())).body.nota.status, 'autorizada');
  });

  for (const [codigo, slug] of DE_OFICIO) {
    test(`${codigo} ${slug}: from the municipality's side, and read like the others`, async () => {
      const nota = await authorised();
      const chave = nota.chave_acesso;
      const agente = { cpf_agente_tributario: AGENTE };
      const descricao_motivo = 'Decisão tomada no processo';
      const bloqueio = { tipo_evento: 'bloqueio_por_oficio', codigo_evento_bloqueado: 'e101101', descricao_motivo };
      if (slug.includes('analise_fiscal')) {
        await registered(nota, { tipo_evento: ANALISE[1], ...PEDIDO_DE_ANALISE });
      }
      if (slug === 'anulacao_rejeicao') await registered(nota, { tipo_evento: 'rejeicao_tomador', ...REJEICAO });
      if (slug === 'desbloqueio_por_oficio') await registeredDeOficio(nota, { ...agente, ...bloqueio });
      await work.eventos();
      const says: Readonly<Record<(typeof DE_OFICIO)[number][1], object>> = {
        cancelamento_deferido_por_analise_fiscal: { ...agente, codigo_motivo: '1', descricao_motivo },
        cancelamento_indeferido_por_analise_fiscal: { ...agente, codigo_motivo: '1', descricao_motivo },
        confirmacao_tacita: {},
        anulacao_rejeicao: { ...agente, id_evento_rejeicao: `EVT${chave}203206001`, descricao_motivo },
        cancelamento_por_oficio: {
          ...agente,
          numero_processo_administrativo: '20260001234',
          descricao_processo_administrativo: descricao_motivo,
        },
        bloqueio_por_oficio: { ...agente, ...bloqueio },
        desbloqueio_por_oficio: { ...agente, id_evento_bloqueio: `EVT${chave}305102001` },
      };
      await registeredDeOficio(nota, { tipo_evento: slug, ...says[slug] });
      const event = await evento(nota, slug);
      assert.deepEqual(
        [event.codigo_tipo_evento, event.status_evento, event.acao_sugerida],
        [codigo, 'processado', 'cancelado_ok'],
      );
      assert.equal(await authorOf(event.id_evento), MUNICIPIO_CNPJ);
      const cancels = slug === 'cancelamento_por_oficio' || slug === 'cancelamento_deferido_por_analise_fiscal';
      assert.equal((await readNota(nota)).body.nota.status, cancels ? 'cancelada' : 'autorizada');
    });
  }

  test('rule 1, and numero_sequencial: integer, sequence per note and event type', async () => {
    const [one, other] = [await authorised(), await authorised()];
    const sequences = [];
    for (const [nota, tipo_evento] of [
      [one, 'confirmacao_tomador'],
      [one, 'confirmacao_tomador'],
      [one, 'confirmacao_prestador'],
      [other, 'confirmacao_tomador'],
      [one, 'confirmacao_tomador'],
    ] as const) {
      sequences.push((await registered(nota, { tipo_evento })).numero_sequencial);
    }
    assert.deepEqual(sequences, [1, 2, 1, 1, 3]);
  });
});

describe('Event object', () => {
  test('id_evento: integer, one for each event', async () => {
    const nota = await authorised();
    const ids = [];
    for (const tipo_evento of ['confirmacao_tomador', 'confirmacao_prestador']) {
      ids.push((await registered(nota, { tipo_evento })).id_evento);
    }
    assert.ok(ids.every(Number.isInteger));
    assert.notEqual(ids[0], ids[1]);
  });

  test('status_evento: string, see States; status: string OK, envelope marker in every success response (rule 3)', async () => {
    const nota = await authorised();
    const posted = await registered(nota, CANCELAMENTO);
    await work.eventos();
    const listed = (await read(nota)).body;
    const one = (await read(nota, '/cancelamento/1')).body;
    assert.deepEqual([posted.status_evento, one.evento.status_evento], ['pendente', 'processado']);
    const ofType = (await read(nota, '/cancelamento')).body;
    const markers = [posted, listed, ...listed.eventos, ofType, ...ofType.eventos, one, one.evento];
    assert.deepEqual([...new Set(markers.map(({ status }) => status))], ['OK']);
  });

  test('acao_sugerida: aguardar, retentar, consultar_suporte, cancelado_ok, from the registration on', async () => {
    const [accepted, refused, failing] = [await authorised(), await authorised(), await authorised()];
    const posted = await registered(accepted, CANCELAMENTO);
    await registered(refused, CANCELAMENTO, plays(REFUSES));
    await registered(failing, CANCELAMENTO, plays('adn:rejeita=E999'));
    await work.eventos();
    const now = await Promise.all([accepted, refused, failing].map((nota) => evento(nota, 'cancelamento')));
    assert.deepEqual(
      [posted, ...now].map(({ acao_sugerida }) => acao_sugerida),
      ['aguardar', 'cancelado_ok', 'consultar_suporte', 'retentar'],
    );
  });

  test('mensagem: string, only in the POST response', async () => {
    const nota = await authorised();
    assert.equal(typeof (await registered(nota, CANCELAMENTO)).mensagem, 'string');
    assert.ok(!('mensagem' in (await evento(nota, 'cancelamento'))));
    for (const one of (await read(nota)).body.eventos) assert.ok(!('mensagem' in one));
  });

  test('numero_protocolo, chave_acesso: those of the note', async () => {
    const nota = await authorised();
    const { numero_protocolo, chave_acesso } = await registered(nota, CANCELAMENTO);
    assert.deepEqual(
      { numero_protocolo, chave_acesso },
      {
        numero_protocolo: nota.numero_protocolo,
        chave_acesso: nota.chave_acesso,
      },
    );
  });

  test('data_hora_evento: ISO 8601 date-time with offset, creation moment (the POST), in the zone of the note', async () => {
    const moment = clock.now;
    try {
      clock.now = Date.parse('2026-11-21T15:30:45-03:00');
      assert.equal((await registered(await issue(), CANCELAMENTO)).data_hora_evento, '2026-11-21T15:30:45-03:00');
      const acre = await issue({ cLocEmi: '1200401' });
      assert.equal((await registered(acre, CANCELAMENTO)).data_hora_evento, '2026-11-21T13:30:45-05:00');
    } finally {
      clock.now = Math.max(moment, clock.now);
    }
  });

  test('data_hora_processamento: null while pending or waiting, then when the ADN gave its final word', async () => {
    const nota = await issue();
    assert.equal((await registered(nota, CANCELAMENTO)).data_hora_processamento, null);
    await work.eventos();
    assert.equal((await evento(nota, 'cancelamento')).data_hora_processamento, null);
    await work.notas();
    await later(30 * SECOND_MS);
    const { data_hora_evento, data_hora_processamento } = await evento(nota, 'cancelamento');
    assert.equal(Date.parse(data_hora_processamento) - Date.parse(data_hora_evento), 30 * SECOND_MS);
  });

  test('aguardando_desde: start of the wait while waiting for note authorization, null otherwise', async () => {
    const nota = await issue();
    assert.equal((await registered(nota, CANCELAMENTO)).aguardando_desde, null);
    await later(5 * SECOND_MS);
    const began = Date.parse((await evento(nota, 'cancelamento')).aguardando_desde);
    assert.equal(began, clock.now);
    await later(10 * MINUTE_MS);
    assert.equal(Date.parse((await evento(nota, 'cancelamento')).aguardando_desde), began, 'since the first time');
    await work.notas();
    assert.equal((await evento(nota, 'cancelamento')).aguardando_desde, null);
  });

  test('protocolo, codigo_retorno, mensagem_retorno, erros_adn: null until there is an answer', async () => {
    const event = await registered(await authorised(), CANCELAMENTO);
    for (const name of ['protocolo', 'codigo_retorno', 'mensagem_retorno', 'erros_adn'])
      assert.equal(event[name], null);
  });

  for (const codigo of ['E1217', 'E999', 'RNG9999']) {
    test(`codigo_retorno, mensagem_retorno, erros_adn: also of a failure that decides nothing, ${codigo}`, async () => {
      const nota = await authorised();
      await registered(nota, CANCELAMENTO, plays(`adn:rejeita=${codigo}`));
      for (const [ms, acao] of [
        [0, 'retentar'],
        [MINUTE_MS, 'retentar'],
        [MINUTE_MS, 'retentar'],
        [10 * MINUTE_MS, 'consultar_suporte'],
      ] as const) {
        await later(ms);
        const failed = await evento(nota, 'cancelamento');
        assert.deepEqual([failed.status_evento, failed.acao_sugerida], ['erro', acao]);
        assert.equal(failed.codigo_retorno, codigo);
        assert.match(failed.mensagem_retorno, new RegExp(`manutenção ou com erro interno \\(${codigo}`));
        assert.equal(failed.erros_adn.erros[0].codigo, codigo);
      }
    });
  }

  test('codigo_retorno, erros_adn: null when no answer came that bears a code', async () => {
    const nota = await authorised();
    await registered(nota, CANCELAMENTO, plays('adn:indisponivel=5m'));
    await work.eventos();
    const { codigo_retorno, mensagem_retorno, erros_adn } = await evento(nota, 'cancelamento');
    assert.deepEqual([codigo_retorno, erros_adn], [null, null]);
    assert.match(mensagem_retorno, /não está respondendo/);
  });

  test('erros_adn: strings over 1000 characters are truncated, secrets removed, 3 levels', async () => {
    const nota = await authorised();
    await registered(nota, CANCELAMENTO);
    const erro = {
      codigo: 'E1234',
      descricao: 'x'.repeat(1_500),
      token: 'segredo',
      private_key: 'segredo',
      inner: { cookie: 'segredo', deep: { deeper: 'segredo' } },
    };
    const adn = {
      ...localAdn(),
      shareEventos: async (_tenant: string, eventos: readonly { readonly id: string }[]) =>
        new Map(eventos.map(({ id }) => [id, { kind: 'refused' as const, erros: [erro] }])),
    };
    await bancada({ ...world, transmission: async () => ({ adn, signer: undefined }) }).eventos();
    const { erros_adn } = await evento(nota, 'cancelamento');
    assert.ok(erros_adn.erros[0].descricao.length <= 1_000);
    assert.ok(erros_adn.erros[0].descricao.startsWith('xxx'));
    assert.doesNotMatch(JSON.stringify(erros_adn), /segredo|token|private_key/);
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    assert.equal(depthOf(erros_adn), 3);
  });

  test('reprocessamentos_count: integer 0 to 3, cumulative; ultimo_reprocessamento_em: null, then the last', async () => {
    const nota = await authorised();
    const fresh = await registered(nota, CANCELAMENTO, plays(FAILS));
    assert.deepEqual([fresh.reprocessamentos_count, fresh.ultimo_reprocessamento_em], [0, null]);
    await work.eventos();
    for (const count of [1, 2, 3, 3]) {
      await later(10 * MINUTE_MS);
      const { reprocessamentos_count, ultimo_reprocessamento_em } = await evento(nota, 'cancelamento');
      assert.equal(reprocessamentos_count, count);
      if (count < 3) assert.equal(Date.parse(ultimo_reprocessamento_em), clock.now);
    }
    const { ultimo_reprocessamento_em } = await evento(nota, 'cancelamento');
    assert.equal(Date.parse(ultimo_reprocessamento_em), clock.now - 10 * MINUTE_MS, 'there was no fourth');
  });

  test('descricao_evento, codigo_tipo_evento, tipo_evento: alike in every answer', async () => {
    const nota = await authorised();
    const { mensagem: _m, avisos: _a, ...posted } = await registered(nota, CANCELAMENTO);
    const shown = await evento(nota, 'cancelamento');
    assert.deepEqual(shown, posted);
    assert.deepEqual((await read(nota)).body.eventos, [shown]);
    assert.deepEqual((await read(nota, '/cancelamento')).body.eventos, [shown]);
  });
});

describe('when it is worth asking again', () => {
  const ofNota = async ({ chave_acesso, numero_protocolo }: NotaEmitida): Promise<string | null> => {
    const paths = [`nfse/${chave_acesso}`, `nfse/protocolo/${numero_protocolo}`, `danfse/${chave_acesso}`];
    const answers = await Promise.all(paths.map((path) => request(address, `/${TENANT}/api/v1/${path}`)));
    const [said, ...others] = answers.map(({ headers }) => headers.get('retry-after'));
    assert.deepEqual(others, [said, said]);
    for (const { body } of answers.slice(0, 2)) assert.equal(body.protocolo.proxima_consulta, spaced(momentOf(said!)));
    return said!;
  };
  const ofEvento = async (nota: NotaEmitida): Promise<string | null> => {
    const answers = await Promise.all(['', '/cancelamento', '/cancelamento/1'].map((path) => read(nota, path)));
    const [said, ...others] = answers.map(({ headers }) => headers.get('retry-after'));
    assert.deepEqual(others, [said, said]);
    for (const { body } of answers) {
      const { proxima_consulta } = body.evento ?? body.eventos[0];
      assert.equal(proxima_consulta, momentOf(said!));
    }
    return said!;
  };
  /** The same interval from now on, in São Paulo; the clock of these tests stands on full seconds. */
  const momentOf = (said: string | null): string | null => {
    if (said === null) return null;
    const there = new Date(clock.now + Number(said) * SECOND_MS - 3 * HOUR_MS);
    return there.toISOString().replace('.000Z', '-03:00');
  };
  const spaced = (moment: string | null): string | null =>
    moment?.replace('T', ' ').replace('-03:00', ' -0300') ?? null;

  test('of a note whose authorisation takes an hour: when the hour is over', async () => {
    const nota = await issue({}, plays('adn:atraso=1h'));
    assert.equal(await ofNota(nota), '1', 'it is about to be sent');
    await work.notas();
    assert.equal(await ofNota(nota), '3600');
    clock.now += HOUR_MS - 30 * SECOND_MS;
    assert.equal(await ofNota(nota), '30');
    clock.now += 30 * SECOND_MS;
    assert.equal(await ofNota(nota), '1');
    await work.notas();
    assert.deepEqual(
      [(await readNota(nota)).body.nota.status, (await readNota(nota)).headers.get('retry-after')],
      ['autorizada', null],
    );
  });

  test('of one that nobody sends: as long again as it is overdue, up to a minute', async () => {
    const nota = await issue();
    for (const [passed, said] of [
      [0, '1'],
      [20, '20'],
      [20, '40'],
      [3_600, '60'],
    ] as const) {
      clock.now += passed * SECOND_MS;
      assert.equal(await ofNota(nota), said);
    }
    await work.notas();
  });

  test('of an event that the ADN takes its time over, and of one that it failed: when it is tried again', async () => {
    const slow = await authorised();
    await registered(slow, CANCELAMENTO, plays('adn:atraso=10m'));
    await work.eventos();
    assert.equal(await ofEvento(slow), '600');
    const failing = await authorised();
    await registered(failing, CANCELAMENTO, plays(FAILS));
    await work.eventos();
    const said: number[] = [];
    for (const wait of [1, 30, 300]) {
      said.push(Number(await ofEvento(failing)));
      assert.ok(said.at(-1)! <= wait && said.at(-1)! >= Math.max(1, Math.floor(wait * 0.75)), said.join(' '));
      await later(wait * SECOND_MS);
    }
    assert.equal(await ofEvento(failing), null, 'no retry is left');
  });

  test('of an event whose note is not authorised yet: when the note is', async () => {
    const nota = await issue({}, plays('adn:atraso=1h'));
    await registered(nota, CANCELAMENTO);
    await work.notas();
    await work.eventos();
    assert.equal(await statusOf(nota), 'aguardando_autorizacao_nota');
    assert.equal(await ofEvento(nota), '3600');
    clock.now += HOUR_MS - 5 * SECOND_MS;
    assert.equal(await ofEvento(nota), '5');
    clock.now += 5 * SECOND_MS;
    await work.notas();
    await work.eventos();
    assert.equal(await ofEvento(nota), null);
  });

  test('of a note that replaces another: its event may come at any time, so once a minute at least', async () => {
    const antiga = await authorised();
    const nova = await issue({
      'subst/chSubstda': antiga.chave_acesso,
      'subst/cMotivo': '99',
      'subst/xMotivo': 'Descrição do serviço incorreta',
    });
    for (let turn = 0; turn < 10; turn += 1) {
      await work.notas();
      const said = Number(await ofNota(nova));
      assert.ok(said >= 1 && said <= 60, String(said));
      clock.now += 15 * MINUTE_MS;
    }
    assert.equal(await ofNota(nova), '60');
  });
});

describe('acao_sugerida rules', () => {
  /** `retry`: the expected header Retry-After, if it is checked. */
  const rows: readonly (readonly [name: string, Historia, estado: string, retry?: string | null])[] = [
    ['aguardar: recent pending, at once', { passos: [] }, 'pendente', '1'],
    ['aguardar: recent pending, which nobody sends', { passos: [5 * MINUTE_MS] }, 'pendente', '60'],
    ['aguardar: sent, at once', { adn: 'adn:atraso=10m', passos: ['work'] }, 'enviado'],
    ['aguardar: sent', { adn: 'adn:atraso=10m', passos: ['work', 6 * MINUTE_MS] }, 'enviado'],
    ['aguardar: waiting for the ADN within 24 hours', { draft: true, passos: ['work', 24 * HOUR_MS] }, WAITING],
    ['consultar_suporte: error with no retry left', SPENT, 'erro', null],
    ['consultar_suporte: pending stuck for more than 5 minutes', { passos: [5 * MINUTE_MS + SECOND_MS] }, 'pendente'],
    [
      'consultar_suporte: waiting for the ADN more than 24 hours',
      { draft: true, passos: ['work', 12 * HOUR_MS, 'work', 12 * HOUR_MS + SECOND_MS, 'work'] },
      WAITING,
    ],
    ['consultar_suporte: erro_reprocessamento', { adn: FAILS, passos: ['work', 'separacao'] }, 'erro_reprocessamento'],
    ['consultar_suporte: rejeitado, of which the rules do not speak', { adn: REFUSES, passos: ['work'] }, 'rejeitado'],
    ['retentar: error with a reprocessable code', { adn: FAILS, passos: ['work'] }, 'erro', '1'],
    ['cancelado_ok: finished successfully, processado', { passos: ['work'] }, 'processado', null],
    ['cancelado_ok: finished successfully, cancelado', { passos: ['retirada'] }, 'cancelado'],
    ['cancelado_ok: finished successfully, dispensado', { passos: ['dispensa'] }, 'dispensado'],
  ];
  for (const [name, historia, estado, retry] of rows) {
    test(name, async () => {
      const nota = await cancelling(historia);
      const { headers, body } = await read(nota, '/cancelamento/1');
      assert.deepEqual([body.evento.status_evento, body.evento.acao_sugerida], [estado, name.split(':')[0]]);
      if (retry !== undefined) assert.equal(headers.get('retry-after'), retry);
    });
  }
});

describe('States and transitions', () => {
  /** The answer of the query by protocol. */
  const shownOf = async ({ numero_protocolo }: NotaEmitida): Promise<Answer['body']> =>
    (await request(address, `/${TENANT}/api/v1/nfse/protocolo/${numero_protocolo}`)).body;

  test('note | (none) | successful issuance | DPS accepted | rascunho | protocol processando, chave_acesso_provisoria true', async () => {
    const { nota, protocolo, chave_acesso_provisoria } = await shownOf(await issue());
    assert.deepEqual([nota.status, protocolo.status, chave_acesso_provisoria], ['rascunho', 'processando', true]);
  });

  test('note | rascunho | authorization by the ADN | autorizada | protocol autorizado, chave_acesso_provisoria false, xml_nota is the NFS-e', async () => {
    const { nota, protocolo, chave_acesso_provisoria } = await shownOf(await authorised());
    assert.deepEqual([nota.status, protocolo.status, chave_acesso_provisoria], ['autorizada', 'autorizado', false]);
    assert.match(nota.xml_nota, /^<\?xml[^>]*><NFSe /);
  });

  test('event | (none) | POST of an event | accepted | pendente | numero_sequencial assigned, reprocessamentos_count 0', async () => {
    const event = await registered(await authorised(), CANCELAMENTO);
    const { status_evento, numero_sequencial, reprocessamentos_count } = event;
    assert.deepEqual([status_evento, numero_sequencial, reprocessamentos_count], ['pendente', 1, 0]);
  });

  test('event | pendente | package sent to the ADN | enviado', async () => {
    const nota = await authorised();
    const { id_evento } = await registered(nota, CANCELAMENTO);
    let seen: string | undefined;
    const adn = localAdn(() => clock.now);
    const watching: typeof adn = {
      ...adn,
      shareEventos: async (...sent) => {
        seen = await statusOf(nota);
        return adn.shareEventos(...sent);
      },
    };
    await bancada({ ...world, transmission: async () => ({ adn: watching, signer: undefined }) }).eventos();
    assert.equal(seen, 'enviado', 'the announcement is committed before anything is sent');
    assert.deepEqual(
      (await trailOf(id_evento)).map(({ para }) => para),
      ['pendente', 'enviado', 'processado'],
    );
  });

  test('event | enviado | ADN answers, referenced note not yet recognized | aguardando_autorizacao_nota | aguardando_desde set', async () => {
    const nota = await authorised();
    const { id_evento } = await registered(nota, CANCELAMENTO, plays('adn:rejeita=E1831'));
    await work.eventos();
    const { status_evento, aguardando_desde, acao_sugerida } = await evento(nota, 'cancelamento');
    assert.deepEqual([status_evento, acao_sugerida], ['aguardando_autorizacao_nota', 'aguardar']);
    assert.equal(Date.parse(aguardando_desde), clock.now);
    const trail = await trailOf(id_evento);
    assert.deepEqual([trail.at(-1)?.de, trail.at(-1)?.para], ['enviado', 'aguardando_autorizacao_nota']);
    // The worker tries again by itself, and counts the wait from its beginning.
    await later(2 * MINUTE_MS);
    assert.equal(Date.parse((await evento(nota, 'cancelamento')).aguardando_desde), Date.parse(aguardando_desde));
  });

  test('event | aguardando_autorizacao_nota | authorization of the note | retried automatically', async () => {
    const nota = await cancelling({ draft: true, passos: ['work'] });
    assert.equal(await statusOf(nota), 'aguardando_autorizacao_nota');
    await work.notas();
    assert.equal(await statusOf(nota), 'pendente', 'awake with the authorization itself');
    await work.eventos();
    assert.equal(await statusOf(nota), 'processado');
    assert.equal((await evento(nota, 'cancelamento')).reprocessamentos_count, 0, 'the wait costs no retry');
  });

  test('event | enviado | ADN concludes successfully | processado | data_hora_processamento set', async () => {
    const nota = await authorised();
    await registered(nota, CANCELAMENTO);
    await later(7 * SECOND_MS);
    const { status_evento, data_hora_processamento } = await evento(nota, 'cancelamento');
    assert.deepEqual([status_evento, Date.parse(data_hora_processamento)], ['processado', clock.now]);
  });

  for (const codigo of ['E0840', 'E1234']) {
    test(`event | enviado | ADN rejects | rejeitado | reason in codigo_retorno, mensagem_retorno, erros_adn: ${codigo}`, async () => {
      const nota = await cancelling({ adn: `adn:rejeita=${codigo}`, passos: ['work'] });
      const event = await evento(nota, 'cancelamento');
      assert.deepEqual([event.status_evento, event.codigo_retorno], ['rejeitado', codigo]);
      assert.match(event.mensagem_retorno, /^Recusa simulada/);
      assert.deepEqual(event.erros_adn, { erros: [{ codigo, descricao: event.mensagem_retorno }] });
      assert.equal(Date.parse(event.data_hora_processamento), clock.now);
    });
  }

  test('event | erro | automatic retry | reprocessamentos_count below 3 | counter increases, ultimo_reprocessamento_em set', async () => {
    const nota = await cancelling({ adn: FAILS, passos: ['work'] });
    assert.equal(await statusOf(nota), 'erro');
    await later(10 * MINUTE_MS);
    const { reprocessamentos_count, ultimo_reprocessamento_em } = await evento(nota, 'cancelamento');
    assert.deepEqual([reprocessamentos_count, Date.parse(ultimo_reprocessamento_em)], [1, clock.now]);
    // The simulated maintenance ends after an hour, and the next retry gets a decision.
    await later(2 * HOUR_MS);
    assert.equal(await statusOf(nota), 'processado');
    assert.equal((await evento(nota, 'cancelamento')).reprocessamentos_count, 2);
  });

  test('event | erro | retries | 3 retries without success | erro (no more retries) | acao_sugerida consultar_suporte', async () => {
    const nota = await cancelling(SPENT);
    await later(24 * HOUR_MS);
    const { status_evento, reprocessamentos_count, acao_sugerida } = await evento(nota, 'cancelamento');
    assert.deepEqual([status_evento, reprocessamentos_count, acao_sugerida], ['erro', 3, 'consultar_suporte']);
  });

  test('event | erro_reprocessamento | none automatic | stays, never retried automatically', async () => {
    const nota = await authorised();
    const { id_evento } = await registered(nota, CANCELAMENTO, plays(FAILS));
    await work.eventos();
    await operate(id_evento, 'separacao');
    await later(48 * HOUR_MS);
    const { status_evento, reprocessamentos_count } = await evento(nota, 'cancelamento');
    assert.deepEqual([status_evento, reprocessamentos_count], ['erro_reprocessamento', 0]);
  });

  for (const [why, transmission] of [
    ['out of reach', { adn: { ...localAdn(), pauseMs: () => SECOND_MS }, signer: undefined }],
    ['not configured', { problem: 'o município não tem endereço do ADN' }],
  ] as const) {
    test(`event | pendente | while the ADN is ${why} | waits for its note if that is a draft, is not sent and costs no retry otherwise (D-52)`, async () => {
      const whole = await authorised();
      const draft = await issue();
      for (const nota of [whole, draft]) await registered(nota, CANCELAMENTO);
      await bancada({ ...world, transmission: async () => transmission }).eventos();
      assert.equal(await statusOf(whole), 'pendente');
      const { status_evento, aguardando_desde, acao_sugerida } = await evento(draft, 'cancelamento');
      assert.deepEqual([status_evento, acao_sugerida], ['aguardando_autorizacao_nota', 'aguardar']);
      assert.equal(Date.parse(aguardando_desde), clock.now);
      await work.notas();
      await work.eventos();
      for (const nota of [whole, draft]) {
        const event = await evento(nota, 'cancelamento');
        assert.deepEqual([event.status_evento, event.reprocessamentos_count], ['processado', 0]);
      }
    });
  }

  test('event | of a note that the ADN refuses | dispensado (D-52)', async () => {
    const nota = await issue({}, plays('adn:rejeita=E1234'));
    await registered(nota, CANCELAMENTO);
    await work.eventos();
    assert.equal(await statusOf(nota), 'aguardando_autorizacao_nota');
    await work.notas();
    const { status_evento, acao_sugerida } = await evento(nota, 'cancelamento');
    assert.deepEqual([status_evento, acao_sugerida], ['dispensado', 'cancelado_ok']);
    assert.equal((await readNota(nota)).body.nota.status, 'rascunho');
    const answer = await register(nota, { tipo_evento: 'confirmacao_tomador' });
    assertRefused(answer, 422, 'E1831');
    assert.match(answer.body.mensagem, /O ADN recusou esta nota/);
  });

  test('event | of a type that the ADN does not take from a municipality | dispensado, and valid here (D-55)', async () => {
    const nota = await authorised();
    await registered(nota, { tipo_evento: 'confirmacao_tomador' }, plays('adn:rejeita=E1818'));
    await work.eventos();
    const event = await evento(nota, 'confirmacao_tomador');
    assert.deepEqual([event.status_evento, event.codigo_retorno], ['dispensado', 'E1818']);
    const refused = await register(nota, CANCELAMENTO);
    assertRefused(refused, 422, 'E0840');
  });

  test('event | that annuls one that is valid here alone | dispensado without being sent, and valid here (E1963)', async () => {
    const nota = await authorised();
    await registered(nota, { tipo_evento: 'rejeicao_tomador', ...REJEICAO }, plays('adn:rejeita=E1818'));
    await work.eventos();
    const annul = {
      tipo_evento: 'anulacao_rejeicao',
      cpf_agente_tributario: '52998224725',
      id_evento_rejeicao: `EVT${nota.chave_acesso}203206001`,
      // The simulation would refuse it if it were sent.
      descricao_motivo: 'Registrada por engano adn:rejeita=E1963',
    };
    await registeredDeOficio(nota, annul);
    const event = await evento(nota, 'anulacao_rejeicao');
    assert.deepEqual(
      [event.status_evento, event.codigo_retorno, event.erros_adn, event.acao_sugerida],
      ['dispensado', null, null, 'cancelado_ok'],
    );
    assert.match(event.mensagem_retorno, /não está no ADN.*vale neste município/);
    const again = await deOficio(nota, annul);
    assert.ok(typeof again === 'object' && 'faults' in again);
    assert.equal(again.faults[0].codigo, 'E1835');
    await registered(nota, { tipo_evento: 'confirmacao_tomador' });
    await work.eventos();
    assert.equal(await statusOf(nota, 'confirmacao_tomador'), 'processado');
  });

  const cancellations: readonly (readonly [string, () => Promise<NotaEmitida>])[] = [
    ['cancelamento', () => cancelling({ passos: [] })],
    [
      'cancelamento_por_substituicao',
      async () => {
        const { antiga, nova } = await substitution();
        await registered(antiga, substituicaoPor(nova));
        return antiga;
      },
    ],
  ];
  for (const [slug, make] of cancellations) {
    test(`note | autorizada | ${slug} processado | cancelada, data_cancelamento is that moment, protocolo cancelado (D-21)`, async () => {
      const nota = await make();
      const before = (await readNota(nota)).body;
      assert.deepEqual(
        [before.nota.status, before.nota.data_cancelamento, before.protocolo.status],
        ['autorizada', null, 'autorizado'],
      );
      await later(3 * SECOND_MS);
      const { nota: after, protocolo } = (await readNota(nota)).body;
      assert.deepEqual([after.status, protocolo.status], ['cancelada', 'cancelado']);
      assert.match(after.data_cancelamento, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d -0300$/);
      const [date, time] = after.data_cancelamento.split(' ');
      assert.equal(Date.parse(`${date}T${time}-03:00`), clock.now);
    });
  }

  test('the note query never shows cancelada merely because a cancellation was registered', async () => {
    const nota = await authorised();
    await registered(nota, CANCELAMENTO);
    assert.equal((await readNota(nota)).body.nota.status, 'autorizada');
  });

  for (const [outcome, header] of [
    ['rejeitado', REFUSES],
    ['erro', FAILS],
    ['aguardando_autorizacao_nota', 'adn:rejeita=E1831'],
    ['dispensado', 'adn:rejeita=E1818'],
    ['enviado', 'adn:indisponivel=5m'],
  ] as const) {
    test(`the note query never shows cancelada because of a cancellation that is ${outcome}`, async () => {
      const nota = await cancelling({ adn: header, passos: ['work'] });
      assert.equal(await statusOf(nota), outcome);
      const { nota: shown, protocolo } = (await readNota(nota)).body;
      assert.deepEqual([shown.status, shown.data_cancelamento, protocolo.status], ['autorizada', null, 'autorizado']);
      const { mensagem_retorno } = await evento(nota, 'cancelamento');
      assert.match(mensagem_retorno, /\S/, 'the event itself says what is the matter');
    });
  }

  test('cancellation events do not re-validate the issuance rules of the note', async () => {
    // The competence was right on the day of the note; years later no DPS with it would be issued.
    const nota = await authorised();
    const moment = clock.now;
    try {
      clock.now += 6 * 365 * 24 * HOUR_MS;
      await registered(nota, CANCELAMENTO);
      await work.eventos();
      assert.equal((await readNota(nota)).body.nota.status, 'cancelada');
    } finally {
      clock.now = moment;
    }
  });
});

describe('what the events of the note rule out (D-54), each at the door with the national code', () => {
  const conflicts: readonly (readonly [code: string, before: object, arriving: object])[] = [
    ['E0840', { tipo_evento: 'confirmacao_tomador' }, CANCELAMENTO],
    ['E0848', { tipo_evento: 'confirmacao_prestador' }, { tipo_evento: ANALISE[1], ...PEDIDO_DE_ANALISE }],
    ['E0860', { tipo_evento: 'confirmacao_prestador' }, { tipo_evento: 'confirmacao_prestador' }],
    ['E0861', { tipo_evento: 'confirmacao_tomador' }, { tipo_evento: 'confirmacao_tomador' }],
    ['E0866', { tipo_evento: 'rejeicao_tomador', ...REJEICAO }, { tipo_evento: 'rejeicao_tomador', ...REJEICAO }],
  ];
  for (const [code, before, arriving] of conflicts) {
    test(code, async () => {
      const nota = await authorised();
      await registered(nota, before);
      // A pending event blocks no other; the authority decides the conflict between registered ones.
      await work.eventos();
      const answer = await register(nota, arriving);
      assertRefused(answer, 422, code, 'tipo_evento');
    });
  }

  test('E1833: the same company as provider and intermediary manifests once', async () => {
    const nota = await authorised({ ...INTERMEDIARIO, 'interm/CNPJ': PRESTADOR });
    await registered(nota, { tipo_evento: 'confirmacao_prestador' });
    await work.eventos();
    assertRefused(await register(nota, { tipo_evento: 'confirmacao_intermediario' }), 422, 'E1833');
  });

  test('E0845: after a request for a fiscal analysis there is no replacement', async () => {
    const { antiga, nova } = await substitution();
    await registered(antiga, { tipo_evento: ANALISE[1], ...PEDIDO_DE_ANALISE });
    await work.eventos();
    assertRefused(await register(antiga, substituicaoPor(nova)), 422, 'E0845');
  });

  test('what was registered beside another, and is ruled out by it, is rejeitado with the same code', async () => {
    const nota = await authorised();
    await registered(nota, { tipo_evento: 'confirmacao_tomador' });
    await registered(nota, CANCELAMENTO);
    await work.eventos();
    assert.equal(await statusOf(nota, 'confirmacao_tomador'), 'processado');
    const event = await evento(nota, 'cancelamento');
    assert.deepEqual([event.status_evento, event.codigo_retorno], ['rejeitado', 'E0840']);
    assert.equal((await readNota(nota)).body.nota.status, 'autorizada');
  });

  describe('an event that another one presupposes, and that is still on its way', () => {
    const agente = { cpf_agente_tributario: TOMADOR };
    const descricao_motivo = 'Nota em ação fiscal do município';
    const situations = [
      {
        code: 'E1976',
        first: { tipo_evento: 'bloqueio_por_oficio', ...agente, codigo_evento_bloqueado: 'e101101', descricao_motivo },
        second: (chave: string) => ({
          tipo_evento: 'desbloqueio_por_oficio',
          ...agente,
          id_evento_bloqueio: `EVT${chave}305102001`,
        }),
      },
      {
        code: 'E1963',
        first: { tipo_evento: 'rejeicao_tomador', ...REJEICAO },
        second: (chave: string) => ({
          tipo_evento: 'anulacao_rejeicao',
          ...agente,
          id_evento_rejeicao: `EVT${chave}203206001`,
          descricao_motivo,
        }),
      },
      {
        code: 'E0853',
        first: { tipo_evento: ANALISE[1], ...PEDIDO_DE_ANALISE },
        second: () => ({
          tipo_evento: 'cancelamento_deferido_por_analise_fiscal',
          ...agente,
          codigo_motivo: '1',
          descricao_motivo,
        }),
      },
    ] as const;

    for (const { code, first, second } of situations) {
      const { tipo_evento } = first;
      const byOffice = tipo_evento === 'bloqueio_por_oficio';
      const start = async (nota: NotaEmitida): Promise<void> => {
        const done = byOffice ? await deOficio(nota, first) : (await register(nota, first)).body;
        assert.ok(done !== 'not_found' && !('faults' in done) && !('erros' in done), JSON.stringify(done));
      };
      const refused = async (nota: NotaEmitida): Promise<Fault> => {
        const answer = await deOficio(nota, second(nota.chave_acesso));
        assert.ok(answer !== 'not_found' && 'faults' in answer, JSON.stringify(answer));
        assert.equal(answer.faults[0].codigo, code);
        return answer.faults[0];
      };

      test(`${code}: ${tipo_evento} is told as under way, then as without effect, and as processed it is there`, async () => {
        const nota = await authorised();
        const { mensagem: none } = await refused(nota);
        assert.doesNotMatch(none, /existe/);

        await start(nota);
        const { id_evento } = await evento(nota, tipo_evento);
        const { mensagem, detalhes } = await refused(nota);
        assert.match(
          mensagem,
          new RegExp(`${tipo_evento} nº 1 .*existe, e não vale na nota: está pendente\\. .*espere`),
        );
        assert.equal(detalhes, `evento_em_andamento: ${tipo_evento} nº 1 (id_evento ${id_evento}), pendente.`);

        await operate(id_evento, 'retirada');
        assert.match((await refused(nota)).mensagem, /está cancelado\. Ele chegou ao fim sem efeito/);

        const other = await authorised();
        await start(other);
        await work.eventos();
        await registeredDeOficio(other, second(other.chave_acesso));
      });
    }
  });
});

describe('the note that a DPS replaces (Anexo I, rules of subst), as its events have left it', () => {
  const AGENTE = { cpf_agente_tributario: '52998224725' };
  const deOffice = async (nota: NotaEmitida, tipo_evento: string, campos: object): Promise<void> =>
    registeredDeOficio(nota, { tipo_evento, ...AGENTE, ...campos });
  const bloqueio = (nota: NotaEmitida): Promise<void> =>
    deOffice(nota, 'bloqueio_por_oficio', {
      codigo_evento_bloqueado: 'e105102',
      descricao_motivo: 'Nota em ação fiscal do município',
    });
  const processed = async (nota: NotaEmitida, evento: object): Promise<void> => {
    await registered(nota, evento);
    await work.eventos();
  };
  const cases: readonly (readonly [string, readonly string[], (nota: NotaEmitida) => Promise<unknown>])[] = [
    ['that stands', [], async () => undefined],
    ['that the taker confirmed', [], (nota) => processed(nota, { tipo_evento: 'confirmacao_tomador' })],
    ['with a cancellation that is not processed yet', [], (nota) => registered(nota, CANCELAMENTO)],
    ['that is cancelled', ['E0046'], (nota) => processed(nota, CANCELAMENTO)],
    [
      'whose fiscal analysis is pending',
      ['E0068'],
      (nota) => processed(nota, { tipo_evento: ANALISE[1], ...PEDIDO_DE_ANALISE }),
    ],
    [
      'confirmed tacitly',
      ['E0072'],
      async (nota) => {
        await registeredDeOficio(nota, { tipo_evento: 'confirmacao_tacita' });
      },
    ],
    ['whose replacement is blocked', ['E0076'], bloqueio],
    [
      'whose replacement was blocked, and is not any more',
      [],
      async (nota) => {
        await bloqueio(nota);
        await deOffice(nota, 'desbloqueio_por_oficio', { id_evento_bloqueio: `EVT${nota.chave_acesso}305102001` });
      },
    ],
  ];
  const remarksOn = async (chave: string): Promise<readonly { codigo: string; mensagem: string }[]> => {
    const nova = await issue({ 'subst/chSubstda': chave, 'subst/cMotivo': '01' });
    return (nova as unknown as Answer['body']).avisos;
  };
  for (const [name, codes, make] of cases) {
    test(`${name}: ${codes.join(', ') || 'nothing against it'}`, async () => {
      const nota = await authorised();
      await make(nota);
      const remarks = await remarksOn(nota.chave_acesso);
      assert.deepEqual(
        remarks.map(({ codigo }) => codigo),
        // A note in a final state waits for nothing.
        codes.includes('E0046') ? codes : [...codes, 'E1308'],
      );
      for (const { codigo, mensagem } of remarks) {
        assert.ok(mensagem.includes(nota.chave_acesso), mensagem);
        if (codigo !== 'E1308') assert.match(mensagem, /em produção esta DPS é recusada\.$/);
      }
    });
  }

  test('that the ADN refused: E0044; that is not here: E0044 as a remark, in production too', async () => {
    const refused = await issue({}, plays('adn:rejeita=E1234'));
    await work.notas();
    const [ofRefused] = await remarksOn(refused.chave_acesso);
    assert.equal(ofRefused?.codigo, 'E0044');
    assert.match(ofRefused.mensagem, /foi recusada pelo ADN.*em produção esta DPS é recusada/);
    const [ofNone] = await remarksOn(noSuchKey(refused));
    assert.equal(ofNone?.codigo, 'E0044');
    assert.match(ofNone.mensagem, /não é deste serviço.*o ADN recusa esta nota\.$/);
  });
});

describe('the reference of a replacement: E1310', () => {
  const wrong: readonly (readonly [string, RegExp, () => Promise<readonly [NotaEmitida, string]>])[] = [
    [
      'the note itself',
      /da própria nota/,
      async () => {
        const nota = await authorised();
        return [nota, nota.chave_acesso];
      },
    ],
    ['a note that does not exist', /Não há nota com a chave/, async () => [await authorised(), NO_SUCH_KEY]],
    [
      'a note that replaces none',
      /não traz o grupo subst/,
      async () => [await authorised(), (await authorised()).chave_acesso],
    ],
    [
      'a note that replaces another',
      /substitui outra/,
      async () => [await authorised(), (await replaced()).chave_acesso],
    ],
    [
      'a note that was cancelled',
      /está cancelada/,
      async () => {
        const nova = await replaced();
        await registered(nova, CANCELAMENTO);
        await work.eventos();
        return [await authorised(), nova.chave_acesso];
      },
    ],
    [
      'a note that the ADN refused',
      /foi recusada pelo ADN/,
      async () => [await authorised(), (await replaced(plays('adn:rejeita=E1234'))).chave_acesso],
    ],
  ];
  for (const [name, says, make] of wrong) {
    test(name, async () => {
      const [nota, chave_acesso_substituta] = await make();
      const body = { ...substituicaoPor(nota), chave_acesso_substituta };
      const answer = await register(nota, body);
      assertRefused(answer, 422, 'E1310', 'chave_acesso_substituta');
      assert.match(answer.body.mensagem, says);
      assert.equal((await read(nota, '/cancelamento_por_substituicao')).body.total, 0);
    });
  }

  test('a substitute that still waits for its authorisation will do', async () => {
    const antiga = await authorised();
    const nova = await issue({ 'subst/chSubstda': antiga.chave_acesso, 'subst/cMotivo': '01' });
    await registered(antiga, { ...substituicaoPor(nova), codigo_motivo_cancelamento: '01' });
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
