/** The events for an integrator, in the sandbox: states and moves, and what the events of a note rule out. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { INTERMEDIARIO } from '../../../test/casos/caso.ts';
import { bancada, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import {
  ANALISE,
  assertRefused,
  FAILS,
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
} from '../../../test/support/historias.ts';
import { type Answer, request } from '../../../test/support/http.ts';
import { NO_SUCH_KEY } from '../../../test/support/notas.ts';
import { localAdn } from '../../adn/local.ts';
import type { Fault } from '../../fiscal/fault.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../fiscal/moment.ts';

const {
  address,
  issue,
  authorised,
  registered,
  clock,
  statusOf,
  world,
  work,
  evento,
  later,
  cancelling,
  operate,
  readNota,
  register,
  registeredDeOficio,
  deOficio,
  substitution,
  read,
  store,
} = await openHistorias();

async function trailOf(id: number) {
  return store.eventos.listTrail(TENANT, (await store.eventos.findById(TENANT, String(id)))!);
}

/** The note that replaces another, or is meant to. */
async function replaced(headers: Readonly<Record<string, string>> = {}): Promise<NotaEmitida> {
  const { antiga, nova } = await substitution(headers);
  await registered(antiga, substituicaoPor(nova));
  await work.eventos();
  await work.notas();
  return nova;
}

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
