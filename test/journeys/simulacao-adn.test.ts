/** The magic values of the sandbox (D-60), for notes and events: an integrator can rehearse failures without a real outage. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleJson, exampleXml } from '../../src/fiscal/rules/example.ts';
import { countCalls } from '../support/counted-calls.ts';
import { type Answer, request } from '../support/http.ts';
import { startTestService } from '../support/service.ts';
import { until as comes } from '../support/until.ts';

const API = '/integracao/api/v1';

function issue(
  address: string,
  nDPS: string,
  headers: Record<string, string> = {},
  xInfComp?: string,
): Promise<Answer> {
  const patch = xInfComp === undefined ? {} : { 'serv/infoCompl/xInfComp': xInfComp };
  return request(address, `${API}/nfse/v101`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml', ...headers },
    body: exampleXml({ serie: '1', nDPS, ...patch }),
  });
}

/** Repeats the query until the condition holds. */
function until(ask: () => Promise<Answer>, holds: (body: Answer['body']) => boolean): Promise<Answer> {
  let last: unknown;
  const answer = async (): Promise<Answer | undefined> => {
    const { body, ...rest } = await ask();
    last = body;
    return holds(body) ? { body, ...rest } : undefined;
  };
  return comes(answer, 'the answer').catch((error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(last)}`);
  });
}

test('a note is refused with the code that was asked for, by header or in xInfComp, and its number is free again', async () => {
  const { address } = await startTestService();
  const ways: readonly (readonly [Record<string, string>, string | undefined])[] = [
    [{ 'X-NFSe-Simular': 'adn:rejeita=E1234' }, undefined],
    [{}, 'Pedido 7. adn:rejeita=E1234'],
  ];
  for (const [headers, xInfComp] of ways) {
    const issued = await issue(address, '1', headers, xInfComp);
    assert.equal(issued.status, 201, JSON.stringify(issued.body));
    const query = (): Promise<Answer> => request(address, `${API}/nfse/${issued.body.chave_acesso}`);
    const { body } = await until(query, ({ protocolo }) => protocolo.status !== 'processando');
    assert.equal(body.protocolo.status, 'rejeitado');
    assert.match(body.protocolo.mensagem_retorno, /^E1234:/);
    assert.equal(body.nota.status, 'rascunho');
  }
});

test('a lost answer is asked about, and the note is authorised once', async () => {
  const { address, clock } = await startTestService();
  const issued = await issue(address, '2', { 'X-NFSe-Simular': 'adn:resposta-perdida' });
  const query = (): Promise<Answer> => {
    // The worker asks about it after a while, on a clock that otherwise stands still.
    clock.now += 1_000;
    return request(address, `${API}/nfse/${issued.body.chave_acesso}`);
  };
  const { body } = await until(query, ({ nota }) => nota.status === 'autorizada');
  assert.equal(body.protocolo.status, 'autorizado');
});

test('a delay keeps the note a draft until its time has passed', async () => {
  const { address, clock, store } = await startTestService();
  const looks = countCalls(store, 'listDue');
  const issued = await issue(address, '3', { 'X-NFSe-Simular': 'adn:atraso=30s' });
  const query = (): Promise<Answer> => request(address, `${API}/nfse/${issued.body.chave_acesso}`);
  await looks(3);
  assert.equal((await query()).body.nota.status, 'rascunho');
  clock.now += 60_000;
  await until(query, ({ nota }) => nota.status === 'autorizada');
});

test('what is no magic value is a remark, and an event rehearses like a note', async () => {
  const { address } = await startTestService();
  const issued = await issue(address, '4', { 'X-NFSe-Simular': 'adn:rejeitar=E1' });
  assert.equal(issued.status, 201);
  assert.match(JSON.stringify(issued.body.avisos), /adn:rejeita=E1234/);
  const chave = issued.body.chave_acesso;
  await until(
    () => request(address, `${API}/nfse/${chave}`),
    ({ nota }) => nota.status === 'autorizada',
  );
  const evento = await request(address, `${API}/nfse/${chave}/eventos`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-NFSe-Simular': 'adn:rejeita=E0822' },
    body: JSON.stringify({
      tipo_evento: 'cancelamento',
      codigo_motivo_cancelamento: '1',
      descricao_motivo_cancelamento: 'Emitida com o valor errado',
    }),
  });
  assert.equal(evento.status, 201, JSON.stringify(evento.body));
  const { body } = await until(
    () => request(address, `${API}/nfse/${chave}/eventos/cancelamento/1`),
    ({ evento: one }) => one.status_evento !== 'pendente' && one.status_evento !== 'enviado',
  );
  assert.equal(body.evento.status_evento, 'rejeitado');
  assert.equal(body.evento.codigo_retorno, 'E0822');
  assert.equal((await request(address, `${API}/nfse/${chave}`)).body.nota.status, 'autorizada');
});

test('a remark names the header, or the place of the text in the document, XML and JSON', async () => {
  const { address } = await startTestService({ worker: false });
  const xml = await issue(address, '5', { 'X-NFSe-Simular': 'rejeita=E1234' }, 'Pedido 9 ADN:atrazo=1s');
  const [header, text] = xml.body.avisos;
  assert.equal(header.campo, 'X-NFSe-Simular');
  assert.match(header.mensagem, /não traz um valor de simulação/);
  assert.equal(text.xpath, '/DPS/infDPS/serv/infoCompl/xInfComp');
  assert.match(text.mensagem, /adn:atraso=30s/);
  const json = await request(address, `${API}/nfse/v101`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-NFSe-Simular': 'adn:explode' },
    body: exampleJson({ serie: '1', nDPS: '6', 'serv/infoCompl/xInfComp': 'adn:rejeita' })!,
  });
  assert.equal(json.status, 201, JSON.stringify(json.body));
  const [first, second] = json.body.avisos;
  assert.equal(first.campo, 'X-NFSe-Simular');
  assert.equal(second.xpath, '/DPS/infDPS/serv/infoCompl/xInfComp');
  assert.match(second.mensagem, /escreva adn:rejeita=E1234/);
});
