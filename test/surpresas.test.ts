/** The statements of the page «O que surpreende», and `desfecho`, which distinguishes the cases of `cancelado_ok`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperatorTrigger } from '../src/subjects/eventos/operate.rows.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from './support/eventos.ts';
import { request } from './support/http.ts';
import { startTestService } from './support/service.ts';

const { address, world, store, clock } = await startTestService({ worker: false });
const { api, issue, nota: readNota, register, registered, read, evento } = balcao(address);
const work = bancada(world);

const CONFIRMACAO = { tipo_evento: 'confirmacao_tomador' };
const REJEICAO = { tipo_evento: 'rejeicao_tomador', codigo_motivo_rejeicao: '3' };
const plays = (value: string): Readonly<Record<string, string>> => ({ 'X-NFSe-Simular': value });

async function authorised(): Promise<NotaEmitida> {
  const nota = await issue();
  await work.notas();
  return nota;
}

/** The fields of an event that show its end. */
async function endOf(nota: NotaEmitida, tipo: string): Promise<readonly string[]> {
  const { status_evento, acao_sugerida, desfecho } = await evento(nota, tipo);
  return [status_evento, acao_sugerida, desfecho];
}

async function operate(nota: NotaEmitida, tipo: string, trigger: OperatorTrigger): Promise<void> {
  const { id_evento } = await evento(nota, tipo);
  const moved = await store.eventos.move('integracao', String(id_evento), trigger, clock.now, undefined);
  assert.ok(moved !== undefined && 'evento' in moved, JSON.stringify(moved));
}

const statusOf = async (nota: NotaEmitida) => {
  const { nota: shown, protocolo } = (await readNota(nota)).body;
  return [shown.status, protocolo.status, shown.codigo_situacao_nfse];
};

test('thirty equal rejections are answered 201, and 29 end rejeitado', async () => {
  const nota = await authorised();
  const answers = await Promise.all(Array.from({ length: 30 }, () => register(nota, REJEICAO)));
  // Two requests for the same number at once may be told to retry; none is refused.
  for (const { status } of answers) assert.ok([201, 409].includes(status));
  let sent = answers.filter(({ status }) => status === 201).length;
  for (; sent < 30; sent += 1) assert.equal((await register(nota, REJEICAO)).status, 201);
  await work.eventos();
  const { eventos } = (await read(nota)).body;
  const ends = Map.groupBy(eventos, (one: { [name: string]: string }) => `${one['desfecho']} ${one['codigo_retorno']}`);
  assert.deepEqual([...ends].map(([end, of]) => [end, of.length]).toSorted(), [
    ['recusado E0866', 29],
    ['registrado null', 1],
  ]);
});

describe('cancellation and confirmation in the same second', () => {
  test('the confirmation first: the note stays, and the cancellation is rejeitado', async () => {
    const nota = await authorised();
    for (const body of [CONFIRMACAO, CANCELAMENTO]) assert.equal((await register(nota, body)).status, 201);
    await work.eventos();
    assert.deepEqual(await endOf(nota, 'cancelamento'), ['rejeitado', 'consultar_suporte', 'recusado']);
    assert.equal((await evento(nota, 'cancelamento')).codigo_retorno, 'E0840');
    assert.deepEqual(await statusOf(nota), ['autorizada', 'autorizado', 100]);
  });

  test('the cancellation first: the note is cancelled, still with 100, and the confirmation is rejeitado', async () => {
    const nota = await authorised();
    for (const body of [CANCELAMENTO, CONFIRMACAO]) assert.equal((await register(nota, body)).status, 201);
    await work.eventos();
    assert.deepEqual(await endOf(nota, 'confirmacao_tomador'), ['rejeitado', 'consultar_suporte', 'recusado']);
    assert.equal((await evento(nota, 'confirmacao_tomador')).codigo_retorno, 'E0861');
    assert.deepEqual(await statusOf(nota), ['cancelada', 'cancelado', 100]);
  });

  test('of two cancellations the second is refused at once', async () => {
    const nota = await authorised();
    await registered(nota, CANCELAMENTO);
    const { status, body } = await register(nota, CANCELAMENTO);
    assert.deepEqual([status, body.codigo_erro], [422, 'E302']);
  });
});

test('a refused note stays rascunho, and the protocol says so', async () => {
  const nota = await issue({}, plays('adn:rejeita=E1234'));
  // A type that is valid only here is not valid on a refused note.
  await registered(nota, CONFIRMACAO);
  await work.notas();
  await work.eventos();
  assert.deepEqual(await statusOf(nota), ['rascunho', 'rejeitado', null]);
  assert.deepEqual(await endOf(nota, 'confirmacao_tomador'), ['dispensado', 'cancelado_ok', 'dispensado']);
});

test('codigo_situacao_nfse of a MEI is 107, as the document says, in each answer and list, and once it is cancelled', async () => {
  const mei = { 'prest/regTrib/opSimpNac': '2', 'valores/trib/tribMun/pAliq': null, IBSCBS: null };
  const nota = await issue({ ...mei, dCompet: '2026-09-30' });
  const other = await issue();
  const codesOf = async (): Promise<readonly unknown[]> => {
    const { body } = await readNota(nota);
    const byProtocolo = await request(api, `/nfse/protocolo/${nota.numero_protocolo}`);
    const list = await request(api, '/notas?ordem=novas', { headers });
    const one = list.body.notas.find(({ chave_acesso }: NotaEmitida) => chave_acesso === nota.chave_acesso);
    const table = await request(api, '/notas', { headers: { ...headers, Accept: 'text/csv' } });
    const [names, ...lines] = String(table.body).trim().split('\r\n');
    const place = names!.split(';').indexOf('codigo_situacao_nfse');
    const line = lines.find((text) => text.includes(nota.chave_acesso))!.split(';');
    const shown = [body.nota, byProtocolo.body.nota, one].map(({ codigo_situacao_nfse }) => codigo_situacao_nfse);
    return [...shown, line[place], /<cStat>(\d+)/.exec(body.nota.xml_nota)?.[1]];
  };
  const asked = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
  const token = await request(api, '/token', { ...asked, body: JSON.stringify({ documento: '11222333000181' }) });
  const headers = { Authorization: `Bearer ${token.body.token}` };
  assert.deepEqual(await codesOf(), [null, null, null, '', undefined]);
  await work.notas();
  assert.deepEqual(await codesOf(), [107, 107, 107, '107', '107']);
  assert.deepEqual(await statusOf(other), ['autorizada', 'autorizado', 100]);
  await registered(nota, CANCELAMENTO);
  await work.eventos();
  assert.deepEqual(await codesOf(), [107, 107, 107, '107', '107']);
});

describe('cancelado_ok is said of', () => {
  test('what was registered, whatever it is', async () => {
    const nota = await authorised();
    assert.equal((await registered(nota, CONFIRMACAO)).desfecho, 'em_andamento');
    await work.eventos();
    assert.deepEqual(await endOf(nota, 'confirmacao_tomador'), ['processado', 'cancelado_ok', 'registrado']);
  });

  test('a confirmation that the ADN does not take (E1818), and that stands here all the same', async () => {
    const nota = await authorised();
    await registered(nota, CONFIRMACAO, plays('adn:rejeita=E1818'));
    await work.eventos();
    assert.deepEqual(await endOf(nota, 'confirmacao_tomador'), ['dispensado', 'cancelado_ok', 'valido_no_municipio']);
    const { status, body } = await register(nota, CANCELAMENTO);
    assert.deepEqual([status, body.codigo_erro], [422, 'E0840']);
  });

  test('a cancellation that the municipality withdrew, and one that it waived: the note stands', async () => {
    const nota = await authorised();
    for (const [trigger, estado, desfecho] of [
      ['retirada', 'cancelado', 'retirado'],
      ['dispensa', 'dispensado', 'dispensado'],
    ] as const) {
      const { numero_sequencial } = await registered(nota, CANCELAMENTO);
      const { id_evento } = await evento(nota, 'cancelamento', numero_sequencial);
      await store.eventos.move('integracao', String(id_evento), trigger, clock.now, undefined);
      const shown = await evento(nota, 'cancelamento', numero_sequencial);
      assert.deepEqual([shown.status_evento, shown.acao_sugerida, shown.desfecho], [estado, 'cancelado_ok', desfecho]);
    }
    assert.equal((await statusOf(nota))[0], 'autorizada');
  });
});

test('an event in erro is under way while it has a retry, and stands still when the municipality sets it apart', async () => {
  const nota = await authorised();
  await registered(nota, CANCELAMENTO, plays('adn:rejeita=E1217'));
  await work.eventos();
  assert.deepEqual(await endOf(nota, 'cancelamento'), ['erro', 'retentar', 'em_andamento']);
  for (let retry = 1; retry <= 3; retry += 1) {
    clock.now += 10 * 60_000;
    await work.eventos();
  }
  assert.deepEqual(await endOf(nota, 'cancelamento'), ['erro', 'consultar_suporte', 'parado']);
  await operate(nota, 'cancelamento', 'separacao');
  assert.deepEqual(await endOf(nota, 'cancelamento'), ['erro_reprocessamento', 'consultar_suporte', 'parado']);
});
