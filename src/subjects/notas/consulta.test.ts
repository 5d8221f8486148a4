/** A taker consults a note: by its link, by its key, by what is printed on it; and a wrong address is a page for a browser. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { balcao, CANCELAMENTO, type NotaEmitida } from '../../../test/support/eventos.ts';
import { request } from '../../../test/support/http.ts';
import { enter, makeUsuario, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { MISSES_MAX } from '../../base/http/misses.ts';

const service = await startTestService({ clock: { now: Date.parse('2026-10-10T12:00:00-03:00') } });
const { address, clock } = service;
const cidade = balcao(address, 'cidade');
/** The taker of the example DPS, whole and as it is masked. */
const [CPF, MASKED, TOMADORA] = ['52998224725', '***.982.247-**', 'Maria Exemplo'];
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

type Campos = Readonly<Partial<Record<'chave' | 'numero' | 'documento' | 'valor', string>>>;

async function post(campos: Campos, slug = 'cidade'): Promise<Response> {
  const body = new URLSearchParams(campos);
  return fetch(`${address}/${slug}/`, { method: 'POST', headers: FORM, body, redirect: 'manual' });
}

async function authorised(status: string, nota: NotaEmitida): Promise<void> {
  await until(async () => ((await cidade.nota(nota)).body.nota.status === status ? true : undefined), status);
}

let nota: NotaEmitida;
let pedido: Required<Pick<Campos, 'numero' | 'documento' | 'valor'>>;
before(async () => {
  const made = [
    'municipio',
    'criar',
    'cidade',
    '--ibge',
    '3550308',
    '--ambiente',
    'homologacao',
    '--sem-exigir-numero',
  ];
  assert.equal((await nfseHere(made, service.pool)).code, 0);
  nota = await cidade.issue();
  await authorised('autorizada', nota);
  const { numero } = (await cidade.nota(nota)).body.nota;
  pedido = { numero, documento: '11.222.333/0001-81', valor: 'R$ 1.000,00' };
});

describe('the page of a municipality', () => {
  test('asks for a note, and tells a small provider where to issue', async () => {
    const { body, headers } = await request(address, '/cidade/');
    assert.match(headers.get('content-type')!, /^text\/html/);
    for (const name of ['chave', 'numero', 'documento', 'valor'])
      assert.match(body, new RegExp(`<label for="${name}">`));
    assert.match(body, /MEI[\s\S]*https:\/\/www\.nfse\.gov\.br\/EmissorNacional[\s\S]*ERP/);
    assert.match(body, /São Paulo\/SP/);
  });

  test('is reached by a browser without the last slash; a program is told that there is nothing', async () => {
    const browser = await fetch(`${address}/cidade?utm=1`, { headers: { Accept: 'text/html,*/*' } });
    assert.equal(browser.url, `${address}/cidade/`);
    assert.match(await browser.text(), /<h2>Consulte a sua nota<\/h2>/);
    const program = await request(address, '/cidade');
    assert.equal(program.status, 404);
    assert.equal(program.body.codigo_erro, 'E601');
    const nowhere = await fetch(`${address}/nenhuma`, { headers: { Accept: 'text/html' }, redirect: 'manual' });
    assert.equal(nowhere.status, 404);
  });

  test('the first page of the service tells a citizen where a note is consulted', async () => {
    const { body } = await request(address, '/');
    assert.match(body, /Recebeu uma nota\?[\s\S]*QR Code[\s\S]*\/\{municipio\}\/[\s\S]*ConsultaPublica/);
    assert.ok(body.indexOf('Recebeu uma nota?') < body.indexOf('Experimente'), 'before the parts for programs');
  });

  test('a key leads to its note, also as it is printed', async () => {
    const { chave_acesso: chave } = nota;
    for (const typed of [chave, `NFS${chave}`, chave.replace(/(.{4})/g, '$1 ')]) {
      const answer = await post({ chave: typed });
      assert.deepEqual([answer.status, answer.headers.get('location')], [303, `nota/${chave}`], typed);
    }
    const wrong = await post({ chave: '123' });
    assert.equal(wrong.status, 422);
    assert.match(await wrong.text(), /A chave de acesso tem 50 posições; a que veio tem 3/);
  });

  test('what is printed finds whether it is valid, and leads no further', async () => {
    for (const valor of [pedido.valor, '1000.00', '1000']) {
      const answer = await post({ ...pedido, valor });
      const text = await answer.text();
      assert.equal(answer.status, 200, text);
      assert.match(text, /Válida/);
      assert.match(text, /01\.01\.01/);
      for (const hidden of [nota.chave_acesso, CPF, MASKED, TOMADORA, 'danfse'])
        assert.ok(!text.includes(hidden), hidden);
    }
  });

  test('one wrong particular is answered as a note that is not there', async () => {
    const answers: string[] = [];
    for (const wrong of [{ numero: '4242' }, { documento: '11444777000161' }, { valor: '1000,01' }]) {
      const answer = await post({ ...pedido, ...wrong });
      assert.equal(answer.status, 404);
      answers.push(await answer.text());
    }
    const other = await request(address, `/cidade/nota/${'1'.repeat(50)}`);
    assert.deepEqual([...new Set([...answers, other.body])].length, 1);
  });

  test('what is no number, document or value is said, and asks nothing', async () => {
    for (const [wrong, said] of [
      [{ numero: 'sete' }, 'dígitos'],
      [{ documento: '11222333000182' }, 'dígitos verificadores'],
      [{ valor: 'mil' }, '1.234,56'],
    ] as const) {
      const answer = await post({ ...pedido, ...wrong });
      const text = await answer.text();
      assert.equal(answer.status, 422);
      assert.match(text, new RegExp(`role="alert">[^<]*${said}`));
      // The other fields need no typing anew.
      assert.match(text, new RegExp(`name="numero" value="${'numero' in wrong ? wrong.numero : pedido.numero}"`));
    }
  });
});

describe('the page of a note', () => {
  test('says what it is, when it was asked, and what its taker can do', async () => {
    const { body } = await request(address, `/cidade/nota/${nota.chave_acesso}`);
    assert.match(body, /<b>Válida\.<\/b>/);
    assert.match(body, /<dt>Serviço<\/dt><dd>01\.01\.01, /);
    assert.match(body, /<dt>Consultada em<\/dt><dd>10\/10\/2026 12:00:00, em São Paulo\/SP<\/dd>/);
    assert.match(body, /<b>Confirmar<\/b>[\s\S]*<b>Rejeitar<\/b>[\s\S]*certificado digital/);
    const shared = encodeURIComponent(`${address}/cidade/nota/${nota.chave_acesso}`);
    assert.ok(body.includes(`mailto:?subject=`) && body.includes(shared));
    assert.match(body, /@media print/);
  });

  test('masks a CPF, which the documents of the same holder have whole', async () => {
    const { body } = await request(address, `/cidade/nota/${nota.chave_acesso}`);
    assert.ok(body.includes(MASKED) && !body.includes(CPF));
    const whole = await request(address, `/cidade/api/v1/nfse/${nota.chave_acesso}`);
    assert.ok(JSON.stringify(whole.body).includes(CPF));
  });

  test('is masked in the console too, where the reader of one document may not export many', async () => {
    const painel = await startTestPainel(service);
    const leitor = await enter(painel, await makeUsuario(painel, 'leitora@exemplo.gov.br', { cidade: 'leitura' }));
    for (const where of ['notas', `notas/${nota.chave_acesso}`]) {
      const { html } = await leitor.open(`/m/cidade/${where}`);
      assert.ok(html.includes(MASKED) && !html.includes(CPF), where);
    }
    const one = await leitor.open(`/m/cidade/notas/${nota.chave_acesso}/nfse`);
    assert.ok(one.html.includes(CPF));
    assert.equal((await leitor.send('/m/cidade/exportacoes', { formato: 'csv' })).status, 403);
  });

  test('a cancelled one says since when, and offers nothing to confirm', async () => {
    const other = await cidade.issue({ 'valores/vServPrest/vServ': '77.00' });
    await authorised('autorizada', other);
    clock.now += 60_000;
    await cidade.registered(other, { ...CANCELAMENTO, chave_acesso: other.chave_acesso });
    await authorised('cancelada', other);
    const { body } = await request(address, `/cidade/nota/${other.chave_acesso}`);
    assert.match(body, /<b>Cancelada\.<\/b>/);
    assert.match(body, /<dt>Cancelada em<\/dt><dd>10\/10\/2026 12:01:00<\/dd>/);
    assert.doesNotMatch(body, /<b>Confirmar<\/b>/);
  });
});

test('a wrong address is a page for a browser, and JSON for a program', async () => {
  const browser = { headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
  for (const where of ['/cidade/notas', '/nenhures', '/nenhures/', '/documentos/x']) {
    const page = await request(address, where, browser);
    assert.equal(page.status, 404, where);
    assert.match(page.headers.get('content-type')!, /^text\/html/, where);
    assert.match(page.body, /<h1>Não há nada neste endereço<\/h1>/);
    assert.equal(page.body.includes(`href="${address}/cidade/"`), where.startsWith('/cidade'), where);
    const json = await request(address, where);
    assert.deepEqual([json.status, json.body.codigo_erro], [404, 'E601'], where);
  }
});

test('guesses of numbers are counted with those of keys', async () => {
  // Twice as many at once: the limit fills up again while a slow machine asks.
  const numbers = Array.from({ length: 2 * MISSES_MAX }, (_, place) => String(5_000 + place));
  const statuses = await Promise.all(numbers.map(async (numero) => (await post({ ...pedido, numero })).status));
  assert.deepEqual([...new Set(statuses)].sort(), [404, 429]);
  assert.equal((await post(pedido)).status, 200, 'what exists is still found');
});
