/** Events in the console, by HTTP as from a browser without scripts: the events that need attention, the reasons, and the actions. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida, putEvento } from '../../../test/support/eventos.ts';
import { enter, makeUsuario, type Pessoa, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';

const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { store, clock, pool } = service;
const { issue, registered, nota: readNota } = balcao(service.address);
const work = bancada(service.world);
const EVENTOS = '/m/integracao/eventos';

let operadora: Pessoa;
let atendente: Pessoa;
let leitor: Pessoa;
before(async () => {
  operadora = await enter(painel, await makeUsuario(painel, 'olga', { integracao: 'operacao' }));
  atendente = await enter(painel, await makeUsuario(painel, 'tina', { integracao: 'atendimento' }));
  leitor = await enter(painel, await makeUsuario(painel, 'leo', { integracao: 'leitura' }));
});

async function authorised(): Promise<NotaEmitida> {
  const nota = await issue();
  await work.notas();
  return nota;
}

/** A cancellation that the authority refused with a code. */
async function refusedWith(code: string): Promise<{ id: string; nota: NotaEmitida }> {
  const nota = await authorised();
  const { id_evento } = await registered(nota, CANCELAMENTO, { 'X-NFSe-Simular': `adn:rejeita=${code}` });
  clock.now += 1_000;
  await work.eventos();
  assert.equal((await store.eventos.findById('integracao', String(id_evento)))?.estado, 'rejeitado');
  return { id: String(id_evento), nota };
}

/** A cancellation that has used up its retries. */
async function failed(): Promise<{ id: string; nota: NotaEmitida }> {
  const nota = await authorised();
  const { id_evento } = await registered(nota, CANCELAMENTO);
  await putEvento(pool, 'integracao', String(id_evento), 'erro', null);
  return { id: String(id_evento), nota };
}

async function estadoOf(id: string): Promise<string> {
  return (await store.eventos.findById('integracao', id))!.estado;
}

async function actsOn(id: string) {
  const acts = await store.atos.list('integracao', { objeto: 'evento', chave: id }, 10);
  return acts.map(({ acao, quem, via, motivo }) => [acao, quem, via, motivo]);
}

describe('the list', () => {
  test('says what asks for somebody by problem, and nothing else', async () => {
    const refused = await refusedWith('E1234');
    const done = await authorised();
    await registered(done, CANCELAMENTO);
    await work.eventos();
    const { html, status } = await leitor.open(EVENTOS);
    assert.equal(status, 200);
    assert.match(html, /recusado pelo ADN \(E1234\)/);
    assert.ok(html.includes(refused.nota.chave_acesso));
    assert.ok(!html.includes(done.chave_acesso), 'a processed one asks for nobody');
    assert.ok(!html.includes('type="checkbox"'), 'who only reads has nothing to choose for');
    const other = await leitor.open(`${EVENTOS}?codigo=E9999`);
    assert.match(other.html, /Nenhum evento com este filtro/);
    const number = await leitor.open(`${EVENTOS}?procurar=${refused.id}`);
    assert.equal(number.path, `/m/integracao/evento/${refused.id}`);
    const ofNota = await leitor.open(`${EVENTOS}?procurar=${refused.nota.chave_acesso.replace(/(.{10})/g, '$1+')}`);
    assert.ok(ofNota.html.includes(`/m/integracao/evento/${refused.id}"`));
    assert.equal((await leitor.open(`${EVENTOS}?procurar=${'1'.repeat(50)}`)).status, 422);
  });
});

describe('one event', () => {
  test('a day of the operator: a refused event, why, filed with a reason that the trail keeps', async () => {
    const { id } = await refusedWith('E0840');
    const page = await operadora.open(`/m/integracao/evento/${id}`);
    assert.match(page.html, /<h1>Cancelamento de NFS-e nº 1<\/h1>/);
    assert.match(page.html, /Recusado pelo ADN<\/span>/);
    assert.match(page.html, /E0840/);
    assert.match(page.html, /1: Erro na Emissão/, 'the code of a reason is told in words');
    assert.ok(!page.html.includes(`/evento/${id}/reprocessar`), 'a refusal is final');
    const filed = await operadora.send(`/m/integracao/evento/${id}/arquivar`, { motivo: 'falei com a empresa' });
    assert.match(filed.html, /O evento foi arquivado/);
    assert.ok(!(await operadora.open(EVENTOS)).html.includes(`/evento/${id}"`));
    assert.deepEqual(await actsOn(id), [['arquivado', 'olga', 'painel', 'falei com a empresa']]);
    const again = await operadora.send(`/m/integracao/evento/${id}/arquivar`);
    assert.equal(again.status, 409);
    assert.match(again.html, /já está arquivado/);
    assert.deepEqual((await actsOn(id)).length, 1);
  });

  test('one that failed is reprocessed by who attends, and is done', async () => {
    const { id, nota } = await failed();
    const page = await atendente.open(`/m/integracao/evento/${id}`);
    assert.ok(page.html.includes(`/evento/${id}/reprocessar`));
    assert.ok(!page.html.includes(`/evento/${id}/dispensar`), 'that takes a higher role');
    assert.match(page.html, /Com um papel maior que o seu também se pode: separar para análise, dispensar do envio/);
    const sent = await atendente.send(`/m/integracao/evento/${id}/reprocessar`, { motivo: 'o ADN voltou' });
    assert.match(sent.html, /O evento foi reprocessado/);
    await work.eventos();
    assert.match(
      (await atendente.open(`/m/integracao/evento/${id}`)).html,
      /<span class="estado bom">Registrado no ADN<\/span>/,
    );
    assert.equal((await readNota(nota)).body.nota.status, 'cancelada');
    assert.deepEqual(await actsOn(id), [['reprocessado', 'tina', 'painel', 'o ADN voltou']]);
  });

  test('who attends may not waive, by whatever form', async () => {
    const { id } = await failed();
    await atendente.open('/conta');
    assert.equal((await atendente.send(`/m/integracao/evento/${id}/dispensar`)).status, 403);
    assert.equal(await estadoOf(id), 'erro');
    assert.deepEqual(await actsOn(id), []);
  });

  test('waiving says that it may be there; the reason is what the integrator reads', async () => {
    const { id } = await failed();
    await operadora.open(`/m/integracao/evento/${id}`);
    const asked = await operadora.send(`/m/integracao/evento/${id}/dispensar`, { motivo: 'a empresa desistiu' });
    assert.match(asked.html, /<h1>Dispensar do envio\?<\/h1>/);
    assert.match(asked.html, /Empresa de Exemplo|11\.222\.333\/0001-81/, 'the note as people read it');
    assert.equal(await estadoOf(id), 'erro', 'nothing happens before the second step');
    const waived = await operadora.confirm();
    assert.match(waived.html, /Não vale na nota\./);
    const row = (await store.eventos.findById('integracao', id))!;
    assert.deepEqual([row.estado, row.mensagem_retorno], ['dispensado', 'a empresa desistiu']);
  });

  test('one that moved between the two steps is shown again; a second click finds it waived', async () => {
    const { id } = await failed();
    const path = `/m/integracao/evento/${id}`;
    await operadora.open(path);
    await operadora.send(`${path}/dispensar`, { motivo: 'a empresa desistiu' });
    await atendente.open(path);
    await atendente.send(`${path}/reprocessar`);
    const late = await operadora.confirm();
    assert.equal(late.status, 409);
    assert.match(late.html, /era «[^»]*\(o envio falhou\)», agora é «[^»]*\(enviado, sem resposta ainda\)»/);
    assert.equal(await estadoOf(id), 'enviado');
    const again = Object.assign(Object.create(Object.getPrototypeOf(operadora)), operadora) as Pessoa;
    assert.match((await operadora.confirm()).html, /O evento foi dispensado/);
    const second = await again.confirm();
    assert.deepEqual([second.status, second.path], [200, path]);
    assert.equal((await actsOn(id)).filter(([acao]) => acao === 'dispensado').length, 1);
    const other = await failed();
    await operadora.open(`/m/integracao/evento/${other.id}`);
    await operadora.send(`/m/integracao/evento/${other.id}/dispensar`, { motivo: 'motivo mostrado' });
    await operadora.confirm({ motivo: 'motivo que ninguém leu' });
    assert.equal(await estadoOf(other.id), 'erro', 'a reason that was not shown is not acted upon');
  });

  test('documents are files, for whom the role allows', async () => {
    const { id } = await failed();
    const xml = await atendente.open(`/m/integracao/evento/${id}/xml`);
    assert.match(xml.headers.get('content-disposition')!, new RegExp(`evento-${id}\\.xml`));
    assert.match(xml.html, /<e101101>/);
    const pedido = await atendente.open(`/m/integracao/evento/${id}/pedido`);
    assert.deepEqual(JSON.parse(pedido.html), CANCELAMENTO);
    assert.equal((await leitor.open(`/m/integracao/evento/${id}/xml`)).status, 403);
  });

  test('one that is not there is said', async () => {
    for (const id of ['999999', 'nada', "1'--"]) {
      const page = await leitor.open(`/m/integracao/evento/${encodeURIComponent(id)}`);
      assert.equal(page.status, 404, id);
      assert.match(page.html, /Evento não encontrado/);
    }
  });
});

describe('several events', () => {
  test('are counted before they are asked to be confirmed; what cannot be done is left out with its reason', async () => {
    const [one, other, refused] = [await failed(), await failed(), await refusedWith('E0042')];
    const chosen = [one, other, refused].map(({ id }) => `id=${id}`).join('&');
    const asked = await atendente.open(`${EVENTOS}/varios?operacao=reprocessar&${chosen}`);
    assert.match(asked.html, /<h1>Reprocessar: 2 eventos\?<\/h1>/);
    assert.match(asked.html, /Fica de fora 1 evento:/);
    assert.match(asked.html, new RegExp(`O evento ${refused.id} .*está rejeitado, e reprocessar só se pode de`));
    assert.ok(!asked.html.includes('nfse evento'), 'nobody at a desk types commands');
    const done = await atendente.send(`${EVENTOS}/varios/reprocessar`, {
      id: [one.id, other.id],
      motivo: 'volta do ADN',
    });
    assert.match(done.html, /2 eventos: reprocessados\./);
    assert.deepEqual([await estadoOf(one.id), await estadoOf(other.id)], ['enviado', 'enviado']);
    for (const { id } of [one, other]) {
      assert.deepEqual(await actsOn(id), [['reprocessado', 'tina', 'painel', 'volta do ADN']]);
    }
    // The second attempt is refused, and changes nothing.
    await atendente.open('/conta');
    const again = await atendente.send(`${EVENTOS}/varios/reprocessar`, { id: [one.id] });
    assert.equal(again.status, 409);
    assert.match(again.html, /Nada foi feito/);
  });

  test('are waived with their notes in sight, as they were shown', async () => {
    const [one, other] = [await failed(), await failed()];
    const list = await operadora.open(EVENTOS);
    assert.match(list.html, /value="separar"[^>]*> <span><b>Separar para análise<\/b>\. Deixa o evento parado/);
    const asked = await operadora.open(`${EVENTOS}/varios?operacao=dispensar&id=${one.id}&id=${other.id}`);
    assert.match(asked.html, /Empresa Exemplo Ltda.*R\$ 1\.000,00/s);
    const visto = /name="visto" value="([^"]*)"/.exec(asked.html)![1]!.replaceAll('&quot;', '"');
    const unseen = await operadora.send(`${EVENTOS}/varios/dispensar`, { id: [one.id, other.id] });
    assert.match(unseen.html, /<h1>Dispensar do envio: 2 eventos\?<\/h1>/);
    await putEvento(pool, 'integracao', other.id, 'erro_reprocessamento', null);
    const late = await operadora.send(`${EVENTOS}/varios/dispensar`, { id: [one.id, other.id], visto });
    assert.equal(late.status, 409);
    assert.match(late.html, new RegExp(`Evento ${other.id}: era «o envio falhou; nota autorizada», agora é «separado`));
    assert.deepEqual([await estadoOf(one.id), await estadoOf(other.id)], ['erro', 'erro_reprocessamento']);
    const again = /name="visto" value="([^"]*)"/.exec(late.html)![1]!.replaceAll('&quot;', '"');
    const done = await operadora.send(`${EVENTOS}/varios/dispensar`, { id: [one.id, other.id], visto: again });
    assert.match(done.html, /2 eventos: dispensados\./);
  });

  test('without a choice nothing is asked', async () => {
    const none = await atendente.open(`${EVENTOS}/varios?operacao=reprocessar`);
    assert.equal(none.status, 422);
    assert.match(none.html, /Nenhum evento foi escolhido/);
    assert.equal((await atendente.open(`${EVENTOS}/varios?operacao=apagar&id=1`)).status, 422);
  });

  test('all refusals of a code are filed, if they are still as many', async () => {
    const ids = [(await refusedWith('E0777')).id, (await refusedWith('E0777')).id];
    const list = await operadora.open(`${EVENTOS}?codigo=E0777`);
    assert.match(list.html, /Arquivar de uma vez as 2 recusas deste filtro/);
    const asked = await operadora.open(`${EVENTOS}/arquivar?codigo=E0777`);
    assert.match(asked.html, /<h1>Arquivar 2 eventos\?<\/h1>/);
    const third = await refusedWith('E0777');
    const late = await operadora.send(`${EVENTOS}/arquivar`, { codigo: 'E0777', confirmados: '2', motivo: 'vistas' });
    assert.equal(late.status, 409);
    assert.match(late.html, /O número de recusas mudou.*<button>Arquivar 3 eventos<\/button>/s);
    const done = await operadora.send(`${EVENTOS}/arquivar`, { codigo: 'E0777', confirmados: '3', motivo: 'vistas' });
    assert.match(done.html, /3 eventos: arquivados/);
    for (const id of [...ids, third.id])
      assert.deepEqual(await actsOn(id), [['arquivado', 'olga', 'painel', 'vistas']]);
  });
});
