/**
 * A day of an integrator in production, from the first note to the last reading. The service and the national environment are processes;
 * there is mutual TLS, the parties' own certificates (signed by openssl), and the municipality's commands. The test learns of progress as
 * an integrator does: it asks again after `Retry-After`, until `acao_sugerida` says that it is over.
 */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { cnpjsOf, signedDps } from '../../bench/documents.ts';
import {
  openStage,
  type Running,
  registerTenant,
  type Simulator,
  type Stage,
  startService,
  startSimulator,
} from '../../scripts/stage.ts';
import { EVENTO_PROFILE } from '../../src/documents/signature-shape.ts';
import { checkSignature } from '../../src/documents/signed.ts';
import { readXml, xsdErrors } from '../../src/documents/xml.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { onEnd } from '../support/cleanup.ts';
import { runBeside } from '../support/cli.ts';
import { balcao, CANCELAMENTO, type NotaEmitida } from '../support/eventos.ts';
import { type Answer, request } from '../support/http.ts';
import { readyKeys } from '../support/keys.ts';
import { NO_SUCH_KEY } from '../support/notas.ts';
import { openssl } from '../support/openssl.ts';
import { pace } from '../support/pace.ts';
import { ROOT, readyDataDir } from '../support/process.ts';
import { until } from '../support/until.ts';

const SLUG = 'exemplo';
const EVENTO_XSD = await readFile(path.join(ROOT, 'docs/evento-1.01.xsd'), 'utf8');
const MUNICIPIO_CNPJ = '99999999000191';

type Parte = 'prestador' | 'tomador';

let stage: Stage;
let simulator: Simulator;
let service: Running;
let env: NodeJS.ProcessEnv;
let folder: string;

before(async () => {
  const dataDir = await readyDataDir();
  env = { NFSE_DATA_DIR: dataDir };
  stage = await openStage(path.join(dataDir, 'palco'), cnpjsOf(2), Date.now(), readyKeys);
  folder = stage.dir;
  simulator = await startSimulator(stage);
  onEnd(() => simulator.end('SIGINT'));
  service = await startService(env);
  onEnd(() => service.end('SIGINT'));
  const providers = [{ documento: parte('prestador').documento, razaoSocial: 'Prestador de Teste Ltda' }];
  await registerTenant(stage, { slug: SLUG, ibge: '3550308', adn: simulator.address, providers }, env, runBeside);
});

/** The provider is the first company of the PKI, the taker the second. */
function parte(name: Parte) {
  return stage.pki.prestadores[name === 'prestador' ? 0 : 1]!;
}

let issuedNotas = 0;

async function issue(patch: Patch = {}): Promise<NotaEmitida> {
  const answer = await sent(patch);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

function sent(patch: Patch): Promise<Answer> {
  issuedNotas += 1;
  const taker = { 'toma/CPF': null, 'toma/CNPJ': parte('tomador').documento };
  const template = exampleXml({ tpAmb: '1', serie: '1', nDPS: '1', ...taker, ...patch });
  const [body] = signedDps(template, [parte('prestador')], issuedNotas, 1);
  return request(service.address, `/${SLUG}/api/v1/nfse/v101`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml' },
    body: body as Uint8Array<ArrayBuffer>,
  });
}

/** The body names its note, as a municipality requires by default. */
function register(nota: NotaEmitida, evento: object, by: Parte, way: 'chave' | 'protocolo' = 'chave'): Promise<Answer> {
  const body = JSON.stringify({ chave_acesso: nota.chave_acesso, ...evento });
  const file = path.join(folder, 'evento.json');
  writeFileSync(file, body);
  const { certificado, chave } = parte(by);
  const signed = openssl(
    'cms',
    '-sign',
    '-binary',
    '-in',
    file,
    '-signer',
    certificado,
    '-inkey',
    chave,
    '-outform',
    'DER',
  );
  const headers = { 'X-Evento-Assinatura': signed.toString('base64') };
  return balcao(service.address, SLUG).register(nota, body, headers, way);
}

// biome-ignore lint/suspicious/noExplicitAny: looked at field by field
async function registered(nota: NotaEmitida, evento: object, by: Parte, way?: 'chave' | 'protocolo'): Promise<any> {
  const answer = await register(nota, evento, by, way);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  assert.deepEqual([answer.body.status_evento, answer.body.acao_sugerida], ['pendente', 'aguardar']);
  return answer.body;
}

/** Repeats the query after each Retry-After, until there is none. */
async function followed(ask: () => Promise<Answer>): Promise<Answer> {
  return until(async () => {
    const answer = await ask();
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const wait = answer.headers.get('retry-after');
    if (wait !== null) await pace(Number(wait) * 1_000);
    return wait === null ? answer : undefined;
  }, 'an answer that does not ask for patience');
}

async function notaAtRest(nota: NotaEmitida): Promise<Answer['body']> {
  return (await followed(() => balcao(service.address, SLUG).nota(nota))).body;
}

/** Waits until the worker has visited a note that has to wait, and its message gives the reason. */
async function waitingNota(nota: NotaEmitida): Promise<Answer['body']> {
  return until(async () => {
    const { body } = await balcao(service.address, SLUG).nota(nota);
    return body.protocolo.mensagem_retorno === null ? undefined : body;
  }, 'what the note waits for');
}

async function eventoAtRest(nota: NotaEmitida, tipo: string, sequencial = 1): Promise<Answer['body']> {
  const ask = () => balcao(service.address, SLUG).read(nota, `/${tipo}/${sequencial}`);
  const { evento } = (await followed(ask)).body;
  assert.ok(!['aguardar', 'retentar'].includes(evento.acao_sugerida), JSON.stringify(evento));
  return evento;
}

async function authorised(patch: Patch = {}): Promise<NotaEmitida> {
  const nota = await issue(patch);
  const { nota: shown, protocolo } = await notaAtRest(nota);
  assert.deepEqual([shown.status, protocolo.status], ['autorizada', 'autorizado'], protocolo.mensagem_retorno);
  return nota;
}

/** An event of the municipality, by its command. */
function byOffice(nota: NotaEmitida, tipo: string, campos: Readonly<Record<string, string>>): Promise<string> {
  const fields = Object.entries(campos).flatMap(([nome, valor]) => ['--campo', `${nome}=${valor}`]);
  return runBeside(['evento', 'registrar', nota.chave_acesso, '--municipio', SLUG, '--tipo', tipo, ...fields], env);
}

function ajustar(faltas: object): Promise<unknown> {
  return simulator.ask('/faltas', { method: 'PUT', body: JSON.stringify(faltas) });
}

type Guardado = { readonly id: string; readonly chave: string; readonly codigo: string };

async function heldEventos(nota?: NotaEmitida): Promise<readonly Guardado[]> {
  const { eventos } = (await simulator.ask('/eventos?limite=10000')) as { readonly eventos: readonly Guardado[] };
  return eventos.filter(({ chave }) => nota === undefined || chave === nota.chave_acesso);
}

const idOf = (nota: NotaEmitida, codigo: string, sequencial = 1): string =>
  `EVT${nota.chave_acesso}${codigo}${String(sequencial).padStart(3, '0')}`;

describe('a day of an integrator', () => {
  // Each test has its own notes, and mostly waits as long as it is told to.
  describe('with an environment that takes from a municipality its own events', { concurrency: true }, () => {
    test('issue, and poll with the hints until the note is authorised', async () => {
      const nota = await authorised();
      assert.deepEqual(await heldEventos(nota), []);
    });

    test('confirm: what the environment does not take from a municipality is valid here', async () => {
      const nota = await authorised();
      await registered(nota, { tipo_evento: 'confirmacao_tomador' }, 'tomador');
      const evento = await eventoAtRest(nota, 'confirmacao_tomador');
      assert.deepEqual(
        [evento.status_evento, evento.codigo_retorno, evento.acao_sugerida],
        ['dispensado', 'E1818', 'cancelado_ok'],
      );
      const again = await register(nota, { tipo_evento: 'confirmacao_tomador' }, 'tomador');
      assert.deepEqual([again.status, again.body.codigo_erro], [422, 'E0861']);
      const cancel = await register(nota, CANCELAMENTO, 'prestador');
      assert.deepEqual([cancel.status, cancel.body.codigo_erro], [422, 'E0840']);
      assert.equal((await notaAtRest(nota)).nota.status, 'autorizada');
    });

    test('reject, annul: what annuls a rejection that is valid here alone is not sent either, and annuls it', async () => {
      const nota = await authorised();
      const rejeicao = { tipo_evento: 'rejeicao_tomador', codigo_motivo_rejeicao: '3' };
      await registered(nota, rejeicao, 'tomador');
      assert.equal((await eventoAtRest(nota, 'rejeicao_tomador')).codigo_retorno, 'E1818');
      const annul = {
        cpf_agente_tributario: '52998224725',
        id_evento_rejeicao: idOf(nota, '203206'),
        descricao_motivo: 'A rejeição foi registrada por engano',
      };
      await byOffice(nota, 'anulacao_rejeicao', annul);
      const evento = await eventoAtRest(nota, 'anulacao_rejeicao');
      assert.deepEqual(
        [evento.status_evento, evento.codigo_retorno, evento.acao_sugerida],
        ['dispensado', null, 'cancelado_ok'],
      );
      assert.match(evento.mensagem_retorno, /não está no ADN.*vale neste município/);
      const again = await register(nota, rejeicao, 'tomador');
      assert.deepEqual([again.status, again.body.codigo_erro], [422, 'E0866']);
      await registered(nota, { tipo_evento: 'confirmacao_tomador' }, 'tomador');
      assert.equal((await eventoAtRest(nota, 'confirmacao_tomador')).codigo_retorno, 'E1818');
      assert.deepEqual(await heldEventos(nota), []);
      const { desde_o_inicio } = await simulator.ask('/estado');
      assert.ok(desde_o_inicio.erros.E1818 >= 2);
      assert.equal(desde_o_inicio.erros.E1963, undefined, 'never asked for what it could not know');
    });
  });

  describe('with an environment that takes what the parties say too', { concurrency: true }, () => {
    before(() => ajustar({ manifestacoes: 1 }));

    test('confirm, reject, annul: with an environment that takes what the parties say', async () => {
      const nota = await authorised();
      await registered(nota, { tipo_evento: 'confirmacao_prestador' }, 'prestador', 'protocolo');
      const confirmed = await eventoAtRest(nota, 'confirmacao_prestador');
      assert.deepEqual([confirmed.status_evento, confirmed.acao_sugerida], ['processado', 'cancelado_ok']);
      assert.match(confirmed.protocolo, /^\d+$/, 'the number under which the environment received it');

      const rejeicao = { tipo_evento: 'rejeicao_tomador', codigo_motivo_rejeicao: '3' };
      await registered(nota, rejeicao, 'tomador');
      assert.equal((await eventoAtRest(nota, 'rejeicao_tomador')).status_evento, 'processado');

      const annul = { tipo_evento: 'anulacao_rejeicao' };
      const refused = await register(nota, annul, 'prestador');
      assert.deepEqual([refused.status, refused.body.codigo_erro], [401, 'E9016'], 'that is for the municipality');
      const said = await byOffice(nota, 'anulacao_rejeicao', {
        cpf_agente_tributario: '52998224725',
        id_evento_rejeicao: idOf(nota, '203206'),
        descricao_motivo: 'A rejeição foi registrada por engano',
      });
      assert.match(said, /Evento registrado de ofício/);
      assert.equal((await eventoAtRest(nota, 'anulacao_rejeicao')).status_evento, 'processado');

      const again = await register(nota, rejeicao, 'tomador');
      assert.deepEqual(
        [again.status, again.body.codigo_erro],
        [422, 'E0866'],
        'whose rejection was annulled rejects no more',
      );
      await registered(nota, { tipo_evento: 'confirmacao_tomador' }, 'tomador');
      assert.equal((await eventoAtRest(nota, 'confirmacao_tomador')).status_evento, 'processado');
      assert.equal((await notaAtRest(nota)).nota.status, 'autorizada');
      assert.deepEqual(
        (await heldEventos(nota)).map(({ codigo }) => codigo),
        ['202201', '203206', '205208', '203202'],
      );
    });

    test('cancel: the note is cancelled when the environment has the event, and not before', async () => {
      const nota = await authorised();
      await registered(nota, CANCELAMENTO, 'prestador');
      const open = await register(nota, CANCELAMENTO, 'prestador', 'protocolo');
      assert.deepEqual([open.status, open.body.codigo_erro], [422, 'E302']);
      const evento = await eventoAtRest(nota, 'cancelamento');
      assert.deepEqual([evento.status_evento, evento.acao_sugerida], ['processado', 'cancelado_ok']);
      const { nota: shown, protocolo } = await notaAtRest(nota);
      assert.deepEqual([shown.status, protocolo.status], ['cancelada', 'cancelado']);
      assert.match(shown.data_cancelamento, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d -0300$/);
      for (const tipo_evento of ['confirmacao_tomador', 'rejeicao_tomador']) {
        const motivo = tipo_evento === 'rejeicao_tomador' ? { codigo_motivo_rejeicao: '1' } : {};
        const late = await register(nota, { tipo_evento, ...motivo }, 'tomador');
        assert.deepEqual([late.status, late.body.codigo_erro], [422, 'E302']);
      }
    });

    test('a cancellation that the environment refuses leaves the note as it is, and tells why', async () => {
      const nota = await authorised();
      const recusas = [{ codigo: 'E0822', descricao: 'Fora do prazo', tipo: '101101', chave: nota.chave_acesso }];
      await simulator.ask('/recusas', { method: 'PUT', body: JSON.stringify(recusas) });
      try {
        await registered(nota, CANCELAMENTO, 'prestador');
        const evento = await eventoAtRest(nota, 'cancelamento');
        assert.deepEqual(
          [evento.status_evento, evento.codigo_retorno, evento.acao_sugerida],
          ['rejeitado', 'E0822', 'consultar_suporte'],
        );
        assert.match(evento.mensagem_retorno, /Fora do prazo/);
        assert.equal(evento.erros_adn.erros[0].codigo, 'E0822');
      } finally {
        await simulator.ask('/recusas', { method: 'PUT', body: '[]' });
      }
      assert.equal((await notaAtRest(nota)).nota.status, 'autorizada');
      assert.equal((await registered(nota, CANCELAMENTO, 'prestador')).numero_sequencial, 2);
      assert.equal((await eventoAtRest(nota, 'cancelamento', 2)).status_evento, 'processado');
      assert.equal((await notaAtRest(nota)).nota.status, 'cancelada');
      assert.deepEqual(
        (await heldEventos(nota)).map(({ id }) => id),
        [idOf(nota, '101101', 2)],
      );
    });

    test('substitute: a new DPS that says whom it replaces, then the event with its key; wrong references are refused', async () => {
      const antiga = await authorised();
      const motivo = {
        codigo_motivo_cancelamento: '99',
        descricao_motivo_cancelamento: 'Descrição do serviço incorreta',
      };
      const substituicao = (chave_acesso_substituta: string) => ({
        tipo_evento: 'cancelamento_por_substituicao',
        ...motivo,
        chave_acesso_substituta,
      });
      const stranger = await authorised();
      for (const chave of [antiga.chave_acesso, stranger.chave_acesso, NO_SUCH_KEY]) {
        const refused = await register(antiga, substituicao(chave), 'prestador');
        assert.deepEqual(
          [refused.status, refused.body.codigo_erro, refused.body.campo],
          [422, 'E1310', 'chave_acesso_substituta'],
        );
      }
      const nova = await issue({
        'subst/chSubstda': antiga.chave_acesso,
        'subst/cMotivo': '99',
        'subst/xMotivo': motivo.descricao_motivo_cancelamento,
      });
      const [remark] = (nova as unknown as Answer['body']).avisos;
      assert.equal(remark.codigo, 'E1308');
      assert.match(
        remark.mensagem,
        new RegExp(`na nota ${antiga.chave_acesso} o evento cancelamento_por_substituicao`),
      );
      const waiting = await waitingNota(nova);
      assert.deepEqual([waiting.nota.status, waiting.protocolo.status], ['rascunho', 'processando']);
      assert.match(waiting.protocolo.mensagem_retorno, /espera pelo evento cancelamento_por_substituicao/);
      const elsewhere = await register(stranger, substituicao(nova.chave_acesso), 'prestador');
      assert.deepEqual([elsewhere.status, elsewhere.body.codigo_erro], [422, 'E1310'], 'it replaces another note');

      await registered(antiga, substituicao(nova.chave_acesso), 'prestador', 'protocolo');
      const evento = await eventoAtRest(antiga, 'cancelamento_por_substituicao');
      assert.equal(evento.status_evento, 'processado', JSON.stringify(evento));
      assert.equal((await notaAtRest(antiga)).nota.status, 'cancelada');
      assert.equal((await notaAtRest(nova)).nota.status, 'autorizada');
      assert.equal((await notaAtRest(stranger)).nota.status, 'autorizada');
      const response = await fetch(`${simulator.control}/eventos/${idOf(antiga, '105102')}`);
      assert.match(await response.text(), new RegExp(`<chSubstituta>${nova.chave_acesso}</chSubstituta>`));
      // The old note, the event, the new note: each was accepted at its first arrival.
      const { desde_o_inicio } = await simulator.ask('/estado');
      for (const codigo of ['E0044', 'E1308', 'E1310']) assert.equal(desde_o_inicio.erros[codigo], undefined, codigo);
    });

    test('a substitute whose old note is cancelled otherwise is refused, and says so', async () => {
      const antiga = await authorised();
      const nova = await issue({ 'subst/chSubstda': antiga.chave_acesso, 'subst/cMotivo': '01' });
      await waitingNota(nova);
      await registered(antiga, CANCELAMENTO, 'prestador');
      assert.equal((await eventoAtRest(antiga, 'cancelamento')).status_evento, 'processado');
      const { nota, protocolo } = await notaAtRest(nova);
      assert.deepEqual([nota.status, protocolo.status], ['rascunho', 'rejeitado']);
      assert.match(protocolo.mensagem_retorno, /^E0046/);
      const late = await sent({ 'subst/chSubstda': antiga.chave_acesso, 'subst/cMotivo': '01' });
      assert.deepEqual([late.status, late.body.codigo_erro], [422, 'E0046']);
    });

    test('read everything back: by note, type and number, and as the environment holds it', async () => {
      const nota = await authorised();
      const rejeicao = { tipo_evento: 'rejeicao_tomador', codigo_motivo_rejeicao: '5' };
      for (const [evento, by] of [
        [rejeicao, 'tomador'],
        [{ tipo_evento: 'confirmacao_prestador' }, 'prestador'],
      ] as const) {
        await registered(nota, evento, by);
        await eventoAtRest(nota, evento.tipo_evento);
      }
      const { body } = await balcao(service.address, SLUG).read(nota);
      assert.deepEqual(
        body.eventos.map(({ tipo_evento }: { tipo_evento: string }) => tipo_evento),
        ['confirmacao_prestador', 'rejeicao_tomador'],
      );
      for (const shown of body.eventos) {
        const { tipo_evento, numero_sequencial } = shown;
        assert.deepEqual((await balcao(service.address, SLUG).read(nota, `/${tipo_evento}`)).body.eventos, [shown]);
        assert.deepEqual(await balcao(service.address, SLUG).evento(nota, tipo_evento, numero_sequencial), shown);
        assert.equal(shown.numero_protocolo, nota.numero_protocolo);
      }
    });
  });

  test('cancel while the note is still a draft: the event waits, and follows its note by itself', async () => {
    await ajustar({ fora_do_ar: true });
    const nota = await issue();
    let evento: Answer['body'];
    try {
      evento = await registered(nota, CANCELAMENTO, 'prestador');
      const read = () => balcao(service.address, SLUG).evento(nota, 'cancelamento');
      evento = await until(async () => {
        const shown = await read();
        if (shown.status_evento === 'aguardando_autorizacao_nota') return shown;
        assert.equal(shown.status_evento, 'pendente');
        return undefined;
      }, 'the event waits for its note');
      assert.equal(evento.acao_sugerida, 'aguardar');
      assert.match(evento.aguardando_desde, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d-03:00$/);
      const { body } = await balcao(service.address, SLUG).nota(nota);
      assert.deepEqual([body.nota.status, body.protocolo.status], ['rascunho', 'processando']);
      const second = await register(nota, CANCELAMENTO, 'prestador');
      assert.deepEqual([second.status, second.body.codigo_erro], [422, 'E302']);
    } finally {
      await ajustar({ fora_do_ar: false });
    }
    evento = await eventoAtRest(nota, 'cancelamento');
    assert.deepEqual(
      [evento.status_evento, evento.reprocessamentos_count, evento.aguardando_desde],
      ['processado', 0, null],
    );
    assert.equal((await notaAtRest(nota)).nota.status, 'cancelada');
    assert.deepEqual(
      (await heldEventos(nota)).map(({ id }) => id),
      [idOf(nota, '101101')],
    );
  });

  test('the environment holds each event once, whole and signed by the municipality', async () => {
    const held = await heldEventos();
    assert.ok(held.length >= 9, String(held.length));
    assert.equal(new Set(held.map(({ id }) => id)).size, held.length);
    const state = await simulator.ask('/estado');
    assert.equal(state.eventos_repetidos_diferentes, 0);
    for (const { id, chave, codigo } of held) {
      const bytes = Buffer.from(await (await fetch(`${simulator.control}/eventos/${id}`)).arrayBuffer());
      assert.deepEqual(xsdErrors(EVENTO_XSD, bytes), [], id);
      const reading = readXml(bytes);
      assert.ok('root' in reading);
      const { faults, certificate } = checkSignature(reading, EVENTO_PROFILE);
      assert.deepEqual(faults, [], id);
      assert.equal(certificate?.holder?.documento, MUNICIPIO_CNPJ);
      const type = await balcao(service.address, SLUG).read(
        { chave_acesso: chave },
        `/${codigo}/${Number(id.slice(-3))}`,
      );
      assert.equal(type.body.evento.status_evento, 'processado', id);
    }
  });
});
