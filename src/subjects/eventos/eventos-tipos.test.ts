/** The events for an integrator, in the sandbox: the types that are accepted, and the fields of an event as it is read. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { INTERMEDIARIO } from '../../../test/casos/caso.ts';
import { bancada, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import {
  AGENTE,
  ANALISE,
  DE_OFICIO,
  FAILS,
  type Historia,
  MUNICIPIO_CNPJ,
  motivoDe,
  noSuchKey,
  openHistorias,
  PEDIDO_DE_ANALISE,
  PRESTADOR,
  plays,
  REFUSES,
  REJEICAO,
  SPENT,
  substituicaoPor,
  TENANT,
  TOMADOR,
  WAITING,
} from '../../../test/support/historias.ts';
import { type Answer, request } from '../../../test/support/http.ts';
import { localAdn } from '../../adn/local.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../fiscal/moment.ts';

const {
  authorised,
  registered,
  authorOf,
  work,
  statusOf,
  substitution,
  readNota,
  clock,
  issue,
  registeredDeOficio,
  evento,
  read,
  later,
  world,
  address,
  cancelling,
} = await openHistorias();

const INTERMEDIADORA = '00000000000191';

const PARTIES = {
  [PRESTADOR]: 'document of the note provider',
  [TOMADOR]: 'document of the taker',
  [INTERMEDIADORA]: 'document of the intermediary',
} as const;

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

const MOTIVO = 'Descrição do serviço incorreta';

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
      avisos.map((aviso: Record<string, string>) => [aviso['codigo'], aviso['mensagem']?.includes(outra.chave_acesso)]),
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
