/** The first page of a municipality: the counts of a day, the state of the ADN, and the problems. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { balcao, bancada, CANCELAMENTO, putEvento } from '../../../test/support/eventos.ts';
import { request } from '../../../test/support/http.ts';
import { NO_SUCH_KEY } from '../../../test/support/notas.ts';
import { enter, makeUsuario, type Pessoa, startTestPainel, type Usuario } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { montarPalco, simuladorAqui } from '../../../test/support/simulador.ts';
import { until } from '../../../test/support/until.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { Transmissions } from '../../wiring/adn-access.ts';
import { createStore } from '../../wiring/store.ts';
import { testAdn } from './testar-adn.ts';

const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { store, clock, pool, world, address } = service;
const integracao = balcao(address);
const work = bancada(world);
const HOJE = '/m/integracao/hoje';
const PRODUCAO = 'exemplo';
const palco = await montarPalco();
const simulador = await simuladorAqui(palco);
const chaves = { certificado: palco.municipio.certFile, chave: palco.municipio.keyFile };
const adn = { url: simulador.address, ca: palco.caFile, chaves };
await store.municipios.create({ tenant: PRODUCAO, ambiente: 'producao', codigoIbge: '3550308', adn }, clock.now);

let leo: Usuario;
let leitor: Pessoa;
before(async () => {
  leo = await makeUsuario(painel, 'leo', { integracao: 'leitura', [PRODUCAO]: 'leitura', vizinha: 'leitura' });
  leitor = await enter(painel, leo);
});

/** Advances the clock, and signs the reader in again. */
async function pass(ms: number): Promise<void> {
  clock.now += ms;
  leitor = await enter(painel, leo);
}

async function refused(patch: Parameters<typeof exampleXml>[0]): Promise<readonly string[]> {
  const answer = await request(address, '/integracao/api/v1/nfse/v101', {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml' },
    body: exampleXml(patch),
  });
  assert.equal(answer.status, 422, JSON.stringify(answer.body));
  return answer.body.erros.map(({ codigo }: { codigo: string }) => codigo);
}

test('a day', async (t) => {
  await t.test('of which nothing happened says so', async () => {
    const { html, status } = await leitor.open(HOJE);
    assert.equal(status, 200);
    assert.match(html, /<h1>Hoje<\/h1>/);
    assert.match(html, /Em homologação nada vai ao ADN/);
    assert.match(html, /Este serviço não devolveu nenhuma DPS e nenhum evento/);
    assert.match(html, /<svg[^>]*role="img"/);
    assert.ok(!html.includes('<rect'), 'no bar of nothing');
  });

  await t.test('counts what was issued and what was refused by code, whichever process it came through', async () => {
    await integracao.issue();
    const [codigo] = await refused({ 'valores/vServPrest/vServ': '-1' });
    await refused({ 'valores/vServPrest/vServ': '-1' });
    await store.movimento.flush();
    const other = createStore(pool);
    other.movimento.countNotas('integracao', 3, clock.now);
    other.movimento.countRecusa('integracao', [codigo!, codigo!], clock.now);
    await other.movimento.flush();
    const { html } = await leitor.open(`${HOJE}?tabela=1`);
    assert.match(html, /Notas em 24 horas<b>4<\/b>/);
    assert.match(html, /4 desde as 11:45/, 'not nothing of a quarter that is complete');
    assert.match(html, /<rect/);
    assert.match(html, new RegExp(`${codigo}.*<td[^>]*>3</td>`));
    // Four notes are in the quarter of an hour that has just begun: NOON is its first minute.
    assert.match(html, /<td[^>]*>12:00<\/td><td[^>]*>4<\/td>/);
  });

  await t.test('keeps of another municipality nothing', async () => {
    assert.deepEqual(await store.movimento.listEmissoes('vizinha', 0), []);
    assert.deepEqual(await store.movimento.listRecusas('vizinha', 0), []);
  });

  await t.test('what an answer repeats is not counted again', async () => {
    const key = { 'Idempotency-Key': 'a1b2c3d4-0000-4000-8000-000000000001' };
    const patch = { serie: '9', nDPS: '1' };
    await integracao.issue(patch, key);
    await integracao.issue(patch, key);
    await store.movimento.flush();
    const all = await store.movimento.listEmissoes('integracao', 0);
    assert.equal(
      all.reduce((sum, { notas }) => sum + notas, 0),
      5,
    );
  });

  await t.test('tells of what waits, and links events that ask for somebody', async () => {
    const nota = await integracao.issue();
    await work.notas();
    const { id_evento } = await integracao.registered(nota, CANCELAMENTO);
    await putEvento(pool, 'integracao', String(id_evento), 'erro', null);
    const waiting = await integracao.issue();
    await pass(3 * 3_600_000);
    const { html } = await leitor.open(HOJE);
    assert.match(html, /Um evento pede atenção/);
    assert.match(html, /href="\/m\/integracao\/eventos"/);
    assert.match(html, /À espera do ADN<b>1<\/b><small>a mais antiga há 3 horas/);
    assert.ok(waiting.chave_acesso);
  });

  await t.test('that was long ago is not told', async () => {
    await pass(25 * 3_600_000);
    const { html } = await leitor.open(HOJE);
    assert.match(html, /Notas em 24 horas<b>0<\/b>/);
  });
});

test('the circuit to the ADN is told while it is open, by whoever transmits, and when it closes', async () => {
  const porta = Number(new URL(simulador.address).port);
  const noted: Promise<void>[] = [];
  const transmissions = new Transmissions(world.log, {
    circuit: (tenant, circuito) => void noted.push(store.circuitos.note(tenant, circuito, clock.now)),
    heard: (tenant, falha) => void noted.push(store.circuitos.hear(tenant, falha, clock.now)),
  });
  const transmission = await transmissions.of((await store.municipios.findBySlug(PRODUCAO))!);
  assert.ok('adn' in transmission);
  const ask = async () => {
    const asked = { id: `EVT${NO_SUCH_KEY}101101001`, chave_acesso: NO_SUCH_KEY, simular: undefined };
    await transmission.adn.findEventos(PRODUCAO, [asked]);
    await Promise.all(noted);
  };
  const shown = async () => (await leitor.open(`/m/${PRODUCAO}/hoje`)).html;
  assert.match(await shown(), /ADN<b>não se sabe<\/b><small>Ninguém perguntou nada ao ADN ainda/);
  await ask();
  assert.match(await shown(), /ADN<b>responde<\/b><small>Respondeu há 0 s/);
  clock.now += 3_000;
  assert.match(await shown(), /Respondeu há 3 s/);
  clock.now += 6 * 60_000;
  assert.match(await shown(), /ADN<b>não se sabe<\/b><small>Ninguém perguntou nada ao ADN desde \d\d\/11\/2026/);
  await simulador.close();
  await until(async () => {
    await ask();
    return (await store.circuitos.find(PRODUCAO))?.abertoEm;
  }, 'the circuit to open');
  const open = await shown();
  assert.match(open, /ADN<b>não responde<\/b>/);
  assert.match(open, /O circuito está aberto/);
  assert.match(open, /As notas continuam a ser emitidas e esperam/);
  await simuladorAqui(palco, { porta });
  await until(async () => {
    await ask();
    return (await store.circuitos.find(PRODUCAO))?.abertoEm === undefined || undefined;
  }, 'the circuit to close');
  assert.match(await shown(), /ADN<b>responde<\/b>/);
  await transmissions.close();
});

test('the audit chain: never verified, without findings, and with some, which ask for somebody', async () => {
  const shown = async (): Promise<string> =>
    (await leitor.open(HOJE)).html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  assert.match(await shown(), /Auditoria nunca conferida; nenhum dia selado/);
  await pool.query(`insert into auditoria_ate (tenant) values ('integracao') on conflict (tenant) do nothing`);
  await store.auditoria.noteVerified('integracao', clock.now, 1, 0);
  assert.match(
    await shown(),
    /Auditoria conferida em \d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d, sem achados; nenhum dia selado/,
  );
  await store.auditoria.noteVerified('integracao', clock.now, 1, 2);
  await store.auditoria.keepSelo('integracao', {
    ...{ dia: '2026-11-20', lugar: 1, texto: '{}', assinatura: Buffer.from('x'), em: clock.now },
  });
  const red = await shown();
  assert.match(red, /, 2 achados; último dia selado: 20\/11\/2026/);
  assert.match(red, /não confere: 2 achados\. .* nfse auditoria verificar integracao/);
});

test('a failed test of the connection puts the light out, and one that passes lights it', async () => {
  const shown = async () => (await leitor.open('/m/vizinha/hoje')).html;
  const by = { quem: 'teste', via: 'comando' } as const;
  const own = await simuladorAqui(palco);
  const made = {
    tenant: 'vizinha',
    ambiente: 'producao',
    codigoIbge: '3304557',
    adn: { ...adn, url: own.address },
  } as const;
  await store.municipios.create(made, clock.now);
  assert.equal((await testAdn(world, 'vizinha', by)).passou, true);
  assert.match(await shown(), /ADN<b>responde<\/b><small>Respondeu há 0 s/);
  await own.close();
  clock.now += 2_000;
  assert.equal((await testAdn(world, 'vizinha', by)).passou, false);
  clock.now += 3_000;
  const dead = await shown();
  assert.match(
    dead,
    /ADN<b>não responde<\/b><small>A última pergunta ao ADN, há 3 s .*não deu certo: teste de conexão: .*recusou a conexão/,
  );
  assert.match(dead, /A última resposta foi há 5 s/);
  const [espera] = (await store.vigia.lookAtEsperas()).filter(({ tenant }) => tenant === 'vizinha');
  assert.equal(espera!.circuitoAberto, true, 'nfse saude knows it too');
});
