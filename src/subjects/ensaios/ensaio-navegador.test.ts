/**
 * The pages of a private sandbox in a browser: on a phone and on a desktop, light and dark, with and without scripts. The test is skipped
 * without Chromium, and prints the reason. NFSE_TEST_IMAGENS names a folder for pictures.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { assertAccessible, assertFits } from '../../../test/support/axe.ts';
import { openBrowser, type Page } from '../../../test/support/browser.ts';
import { request } from '../../../test/support/http.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { ENSAIO_PATH } from '../../published/paths.ts';

const PHONE = 390;
const DESK = 1_280;

const PICTURES = process.env['NFSE_TEST_IMAGENS'];
if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true });

const { address, store } = await startTestService();
const browser = await openBrowser();
const skip = browser === undefined ? 'there is no Chromium' : false;

type Made = { readonly slug: string; readonly chave: string };

/** Makes a sandbox by the button; the key is read from the page. */
async function makeByButton(page: Page, nome: string): Promise<Made> {
  await page.open(address + ENSAIO_PATH);
  await page.fill('#nome', nome);
  await page.click('form.conferir button');
  await page.until(`location.pathname.startsWith('${ENSAIO_PATH}/ensaio-')`);
  const slug = await page.evaluate<string>(`location.pathname.split('/').at(-1)`);
  const chave = await page.evaluate<string>(
    `document.querySelector('main details code ~ * , main details pre').textContent`,
  );
  return { slug, chave: /ensaio_[\w-]+/.exec(chave)![0] };
}

const heading = (page: Page): Promise<string> => page.evaluate(`document.querySelector('h1').innerText`);
const mainText = (page: Page): Promise<string> => page.evaluate(`document.querySelector('main').innerText`);
const openOwn = (page: Page, { slug }: Made): Promise<void> => page.open(`${address}${ENSAIO_PATH}/${slug}`);

/** The form of a scenario, found by the values that it sends. */
const ofScenario = (cenario: string, forma: 'xml' | 'json'): string =>
  `form:has(input[value="${cenario}"]) button[value=${forma}]`;

/** The answer that the page of a request shows. */
const answered = async (page: Page): Promise<Record<string, string>> =>
  JSON.parse(await page.evaluate(`[...document.querySelectorAll('main pre.alto')].at(-1).textContent`));

/** Checks the page at both widths, light and dark. */
async function look(page: Page, called: string): Promise<void> {
  for (const width of [PHONE, DESK]) {
    for (const isDark of [false, true]) {
      const whole = `${called}-${width}-${isDark ? 'escuro' : 'claro'}`;
      await page.resize(width, width === PHONE ? 844 : 800);
      await page.dark(isDark);
      await assertFits(page, whole);
      const [inner, scroll] = await page.evaluate<number[]>('[innerWidth, document.documentElement.scrollWidth]');
      assert.ok(scroll! <= inner!, `${whole}: ${scroll} of ${inner}`);
      await assertAccessible(page, whole);
      if (PICTURES !== undefined) await page.picture(path.join(PICTURES, `ensaio-${whole}.png`));
    }
  }
  await page.dark(false);
  await page.resize(DESK, 800);
}

/** Sends the scenario's document without its value, which is refused with a correction. */
async function sendBad({ slug }: Made): Promise<string> {
  const sent = await request(address, `/${slug}/api/v1/nfse/v101`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml' },
    body: exampleXml({ 'valores/vServPrest/vServ': '0', 'toma/CPF': '52998224726' }),
  });
  assert.equal(sent.status, 422);
  return sent.headers.get('x-request-id')!;
}

/** Issues a scenario; the browser then shows the page of the request. */
async function issue(page: Page, made: Made, cenario: string, forma: 'xml' | 'json'): Promise<string> {
  await openOwn(page, made);
  await page.click(ofScenario(cenario, forma));
  await page.until(`location.pathname.includes('/requisicoes/')`);
  const { chave_acesso } = await answered(page);
  assert.match(await mainText(page), /\b201\b em \d+ ms/);
  assert.equal(chave_acesso?.length, 50);
  return chave_acesso!;
}

async function untilStatus({ slug }: Made, chave: string, status: string): Promise<void> {
  await until(async () => {
    const { body } = await request(address, `/${slug}/api/v1/nfse/${chave}`);
    return body.nota?.status === status || undefined;
  }, `${chave} is ${status}`);
}

describe('a sandbox of one’s own in a browser', { skip }, async () => {
  if (browser === undefined) return;
  const page = await browser.newPage();

  for (const areOn of [true, false]) {
    test(`made, used and thrown away by buttons alone, scripts ${areOn ? 'on' : 'off'}`, async () => {
      await page.scripts(areOn);
      try {
        const made = await makeByButton(page, areOn ? 'ERP 4.2' : '');
        assert.equal(await heading(page), areOn ? 'ERP 4.2' : made.slug);
        assert.match(await mainText(page), /Ainda nenhuma/);
        await issue(page, made, 'mei/consumidor', 'xml');
        assert.match(await mainText(page), /<xDescServ>/);
        const nota = await issue(page, made, 'mei/consumidor', 'json');
        assert.match(await mainText(page), /"prestador_cpf_cnpj"/);
        await untilStatus(made, nota, 'autorizada');

        // A request from outside the pages is listed with its corrections.
        const id = await sendBad(made);
        await until(async () => (await store.ensaios.findRequisicao(made.slug, id)) && true, 'it is kept');
        await openOwn(page, made);
        await page.click(`.ultimas a[href$="${id}"]`);
        const bad = await mainText(page);
        assert.match(bad, /O que mudar[\s\S]*(E\d{3,4})[\s\S]*toma.CPF[\s\S]*O que se enviou/);
        await page.click('main ol a');
        await page.until(`location.pathname.startsWith('/docs/erros/E')`);

        // The clock passes the end of the year.
        await openOwn(page, made);
        await page.fill('#dia', '2026-12-31');
        await page.fill('#hora', '23:55');
        await page.click('form:has(#dia) button');
        assert.match(await mainText(page), /31\/12\/2026, 23:55/);
        await page.click('button[value="1d"]');
        assert.match(await mainText(page), /01\/01\/2027, 23:55/);
        await page.fill('#dia', '2026-12-01');
        await page.click('form:has(#dia) button');
        assert.match(await mainText(page), /só avança/);
        const later = await issue(page, made, 'mei/consumidor', 'xml');
        assert.equal(later.slice(36, 40), '2701');

        await openOwn(page, made);
        await page.click('button[value=reiniciar]');
        const fresh = await mainText(page);
        assert.match(fresh, /21\/11\/2026, 12:00/);
        assert.match(fresh, /Ainda nenhuma/);
        await page.click('button[value=descartar]');
        await page.until(`location.pathname === '${ENSAIO_PATH}'`);
        await until(async () => {
          await openOwn(page, made);
          return (await heading(page)) === 'Um ambiente só seu' || undefined;
        }, 'it is gone');
      } finally {
        await page.scripts(true);
      }
    });
  }

  test('the event of a scenario, and the note that replaces another, are buttons on the page of the note', async () => {
    const made = await makeByButton(page, 'Eventos');
    const cancelled = await issue(page, made, 'mei/cancelada', 'xml');
    assert.match(await mainText(page), /forma=evento&nota=/);
    await untilStatus(made, cancelled, 'autorizada');
    await page.click('form:has(input[value=evento]) button');
    assert.match(await mainText(page), /\b201\b em \d+ ms/);
    await untilStatus(made, cancelled, 'cancelada');

    const replaced = await issue(page, made, 'simples-no-das/substituida', 'json');
    await untilStatus(made, replaced, 'autorizada');
    await page.click('form:has(input[name=substitui]) button[value=xml]');
    const substitute = (await answered(page))['chave_acesso']!;
    assert.notEqual(substitute, replaced);
    await page.click('form:has(input[value=evento]) button');
    assert.match(await mainText(page), /\b201\b em \d+ ms/);
    await untilStatus(made, replaced, 'cancelada');
    await untilStatus(made, substitute, 'autorizada');
  });

  test('is opened again by its key in another browser, and by no other', async () => {
    const [made, other] = [await makeByButton(page, 'Meu'), await makeByButton(page, 'Outro')];
    const stranger = await browser.newPage(true);
    await openOwn(stranger, made);
    assert.equal(await heading(stranger), 'Um ambiente só seu');
    assert.doesNotMatch(await mainText(stranger), /Meu/);
    assert.equal(await stranger.evaluate(`document.getElementById('ambiente').value`), made.slug);
    for (const wrong of ['ensaio_errada', other.chave]) {
      await stranger.fill('#chave', wrong);
      await stranger.click('form:has(#chave) button');
      assert.match(await mainText(stranger), /A chave não é a deste ambiente/);
    }
    await stranger.fill('#chave', made.chave);
    await stranger.click('form:has(#chave) button');
    assert.equal(await heading(stranger), 'Meu');
    assert.equal(await stranger.evaluate('document.cookie'), '', 'no script sees the key');
    // No requested address contains the key.
    for (const url of [...page.requests, ...stranger.requests]) assert.doesNotMatch(url, /ensaio_/);
  });

  for (const areOn of [true, false]) {
    test(`its rigour is switched, and its registers seen, taken away and filled, scripts ${areOn ? 'on' : 'off'}`, async () => {
      await page.scripts(areOn);
      try {
        const made = await makeByButton(page, 'Cadastros');
        assert.match(await mainText(page), /O rigor[\s\S]*Os cadastros/);
        await page.click('label[for=exige_numero]');
        await page.fill('#aliquota_padrao', '3,00');
        await page.click('form:has(#aliquota_padrao) button');
        await page.until(`document.querySelector('#exige_numero').checked`);
        assert.equal(await page.evaluate(`document.querySelector('#aliquota_padrao').value`), '3.00');

        await page.click('a[href$="/cadastros/servicos"]');
        assert.match(await mainText(page), /Nenhuma linha/);
        const head = 'codigo;descricao;codigo_tributacao_nacional;aliquota;inicio';
        await page.fill('#csv', `${head}\n777;Aulas;080201;cinco;2026-01-01`);
        await page.click('main form button');
        await page.until(`document.querySelector('[role=alert]') !== null`);
        assert.match(await mainText(page), /Linha 2: aliquota/);
        if (areOn) await look(page, 'cadastro-recusado');
        const kept = await page.evaluate<string>(`document.querySelector('#csv').value`);
        assert.match(kept, /777;Aulas;080201;cinco/);
        await page.fill('#csv', kept.replace('cinco', '5,00'));
        await page.click('main form button');
        await page.until(`document.querySelector('.recado[role=status]') !== null`);
        assert.match(await mainText(page), /Serviços: novos 1[\s\S]*777[\s\S]*Aulas/);
        if (areOn) await look(page, 'cadastro-gravado');

        // Another sandbox takes the downloaded file of this one.
        const cookie = { Cookie: `ensaio-${made.slug}=${made.chave}` };
        const href = await page.evaluate<string>(`document.querySelector('a[download]').href`);
        const file = path.join(freshFolder(), 'servicos.csv');
        writeFileSync(file, new Uint8Array(await (await fetch(href, { headers: cookie })).arrayBuffer()));
        const other = await makeByButton(page, 'Outro');
        await page.open(`${address}${ENSAIO_PATH}/${other.slug}/cadastros/servicos`);
        await page.choose('#arquivo', file);
        await page.click('main form button');
        await page.until(`document.querySelector('.recado[role=status]') !== null`);
        assert.match(await mainText(page), /Serviços: novos 1/);
        await page.open(`${address}${ENSAIO_PATH}/${other.slug}/cadastros/prestadores`);
        await page.evaluate(`document.querySelector('main details').open = true`);
        if (areOn) await look(page, 'cadastro-prestadores');
      } finally {
        await page.scripts(true);
      }
    });
  }

  test(`nothing is wider than ${PHONE} or ${DESK} px, and nothing keeps anybody from using it`, async () => {
    await page.open(address + ENSAIO_PATH);
    await look(page, 'novo');
    const made = await makeByButton(page, 'Sistema de gestão da Padaria do Bairro Alto');
    const id = await sendBad(made);
    await issue(page, made, 'mei/cancelada', 'json');
    await look(page, 'emitida');
    await request(address, `/${made.slug}/api/v1/nfse/x?${'longo='.padEnd(400, 'x')}`);
    await until(
      async () => (await store.ensaios.listRequisicoes(made.slug)).length === 3 || undefined,
      'they are kept',
    );
    await page.open(`${address}${ENSAIO_PATH}/${made.slug}/requisicoes/${id}`);
    await look(page, 'recusada');
    await openOwn(page, made);
    await look(page, 'ambiente');
    await page.evaluate(`document.querySelectorAll('details').forEach((one, place) => { one.open = place < 4; })`);
    await look(page, 'aberto');
    await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
    await assertFits(page, 'all open');
    await page.open(`${address}${ENSAIO_PATH}/${made.slug}/requisicoes/7c9e6679-7425-40de-944b-e07fc1f90ae7`);
    assert.equal(await heading(page), 'Esta requisição já não se guarda');
    await page.click('main a');
    assert.match(await heading(page), /Padaria/);
    // The browser reports the error answers to a wrong clock, a wrong line and a missing page.
    const isExpected = (one: string): boolean => /status of (?:400|401|404|422)/.test(one);
    assert.deepEqual(
      page.complaints.filter((one) => !isExpected(one)),
      [],
    );
  });
});
