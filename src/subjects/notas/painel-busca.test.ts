/** The search of the console, by HTTP as from a browser without scripts: its pages on and back, its columns, and choices by name. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import { enter, makeUsuario, type Pessoa, type Shown, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';

const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { issue, registered } = balcao(service.address);
const work = bancada(service.world);
const NOTAS = '/m/integracao/notas';
/** Two whole pages and five notes. */
const ISSUED = 55;

const notas: NotaEmitida[] = [];
let leitor: Pessoa;
before(async () => {
  for (let count = 0; count < ISSUED; count += 1) {
    service.clock.now += 60_000;
    notas.push(await issue());
  }
  await work.notas();
  leitor = await enter(painel, await makeUsuario(painel, 'leo', { integracao: 'leitura' }));
});

function keysOn({ html }: Shown): readonly string[] {
  return [...html.matchAll(/\/notas\/(\d[0-9A-Z]{49})/g)].map(([, chave]) => chave!);
}

/** The address behind a link of a page. */
function addressOf({ html }: Shown, name: string): string {
  const [, address] = new RegExp(`<a href="([^"]+)">${name}</a>`).exec(html) ?? assert.fail(`no link ${name}`);
  return address!.replaceAll('&amp;', '&');
}

const namesLink = ({ html }: Shown, name: string): boolean => html.includes(`>${name}</a>`);

describe('the pages of a search', () => {
  for (const ordem of ['', 'antigas']) {
    test(`are walked on to the end, and back to the beginning (${ordem || 'novas'})`, async () => {
      const issued = notas.map(({ chave_acesso }) => chave_acesso);
      const order = ordem === '' ? issued.toReversed() : issued;
      const first = await leitor.open(`${NOTAS}?ordem=${ordem}`);
      assert.deepEqual(keysOn(first), order.slice(0, 25));
      assert.ok(!namesLink(first, 'Página anterior'));
      const second = await leitor.open(addressOf(first, 'Página seguinte'));
      assert.deepEqual(keysOn(second), order.slice(25, 50));
      const third = await leitor.open(addressOf(second, 'Página seguinte'));
      assert.deepEqual(keysOn(third), order.slice(50));
      assert.ok(!namesLink(third, 'Página seguinte'));
      const back = await leitor.open(addressOf(third, 'Página anterior'));
      assert.deepEqual(keysOn(back), order.slice(25, 50));
      const again = await leitor.open(addressOf(back, 'Página anterior'));
      assert.deepEqual(keysOn(again), order.slice(0, 25));
      assert.ok(!namesLink(again, 'Página anterior'));
      const on = await leitor.open(addressOf(again, 'Página seguinte'));
      assert.deepEqual(keysOn(on), order.slice(25, 50));
    });
  }

  test('keep the criteria of the search', async () => {
    const first = await leitor.open(`${NOTAS}?prestador=11222333000181`);
    const second = await leitor.open(addressOf(first, 'Página seguinte'));
    const back = addressOf(second, 'Página anterior');
    assert.equal(new URL(back, painel.origin).searchParams.get('prestador'), '11222333000181');
    assert.deepEqual(keysOn(await leitor.open(back)), keysOn(first));
  });

  test('give way to the note itself where its whole key is searched for', async () => {
    const [nota] = notas as [NotaEmitida];
    const shown = await leitor.open(`${NOTAS}?q=${nota.chave_acesso}`);
    assert.equal(shown.path, `${NOTAS}/${nota.chave_acesso}`);
    assert.match((await leitor.open(`${NOTAS}?q=${nota.chave_acesso.slice(0, 49)}`)).html, /a que veio tem 49/);
  });

  test('are led back to from the page of a note', async () => {
    const second = await leitor.open(addressOf(await leitor.open(NOTAS), 'Página seguinte'));
    const [, toNota] = /href="([^"]*\/notas\/\d[^"]*)"/.exec(second.html)!;
    const nota = await leitor.open(toNota!.replaceAll('&amp;', '&'));
    assert.deepEqual(keysOn(await leitor.open(addressOf(nota, 'Voltar à busca'))), keysOn(second));
  });
});

describe('the columns', () => {
  const headsOf = ({ html }: Shown): readonly string[] =>
    [...html.matchAll(/<th scope="col"[^>]*>([^<]*)<\/th>/g)].map(([, head]) => head!);
  const USUAL = ['Emitida', 'Número', 'Estado', 'Prestador', 'Tomador', 'Valor (R$)'];

  test('are chosen, and are those of the next searches, until none is chosen', async () => {
    const shown = await leitor.open(`${NOTAS}?estado=autorizada`);
    assert.deepEqual(headsOf(shown), USUAL);
    const chosen = await leitor.send(`${NOTAS}/colunas`, { estado: 'autorizada', coluna: ['aliquota', 'servico'] });
    assert.equal(chosen.status, 200);
    assert.match(chosen.path, /estado=autorizada/);
    assert.deepEqual(headsOf(chosen), ['Emitida', 'Serviço', 'Alíquota (%)']);
    assert.match(
      chosen.html,
      /<td[^>]*>01\.01\.01 – Análise e desenvolvimento de sistemas<\/td><td class="num"[^>]*>2,00<\/td>/,
    );
    assert.deepEqual(headsOf(await leitor.open(NOTAS)), ['Emitida', 'Serviço', 'Alíquota (%)']);
    assert.deepEqual(headsOf(await leitor.send(`${NOTAS}/colunas`, {})), USUAL);
  });

  test('stay the usual ones when the browser brings an unknown choice', async () => {
    const headers = { Cookie: `${leitor.cookie}; __Host-nfse-colunas=senha.__proto__` };
    const answer = await fetch(new URL(NOTAS, painel.origin), { headers });
    assert.deepEqual(headsOf({ html: await answer.text() } as Shown), USUAL);
  });
});

describe('the filters', () => {
  test('offer services and rates by name, and take what they offer', async () => {
    const shown = await leitor.open(NOTAS);
    const [offered] = /<option value="01\.01\.01 –[^"]*">/.exec(shown.html) ?? assert.fail('the service is offered');
    const found = await leitor.open(`${NOTAS}?${new URLSearchParams({ servico: /"(.*)"/.exec(offered)![1]! })}`);
    assert.equal(keysOn(found).length, 25);
    assert.match(found.html, /name="servico"[^>]* value="01\.01\.01 – Análise/);
    assert.deepEqual(keysOn(await leitor.open(`${NOTAS}?servico=01.02.01+%E2%80%93+Programa`)), []);
    assert.match(shown.html, /<option value="5,00"><\/option>/);
  });

  test('find the notes with a processed event of a type', async () => {
    const [nota] = notas as [NotaEmitida];
    await registered(nota, CANCELAMENTO);
    assert.deepEqual(keysOn(await leitor.open(`${NOTAS}?evento=cancelamento`)), [], 'it is not processed yet');
    await work.eventos();
    const found = await leitor.open(`${NOTAS}?evento=cancelamento`);
    assert.deepEqual(keysOn(found), [nota.chave_acesso]);
    assert.match(found.html, /1 nota, R\$/);
    assert.match(found.html, /<option value="cancelamento" selected>Cancelamento de NFS-e<\/option>/);
    assert.deepEqual(keysOn(await leitor.open(`${NOTAS}?evento=rejeicao_tomador`)), []);
    assert.equal((await leitor.open(`${NOTAS}?evento=outro`)).status, 422);
  });
});
