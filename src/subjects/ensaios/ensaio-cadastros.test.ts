/**
 * Rigour and registers of a private sandbox on its pages, as a browser without scripts sends forms and files. The pages are compared with
 * the API and with the result of issuing.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { request } from '../../../test/support/http.ts';
import { startTestService } from '../../../test/support/service.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { BODY_MAX_BYTES } from '../../published/http-limits.ts';

const { address } = await startTestService({ worker: false });

type Made = { readonly at: string; readonly slug: string; readonly chave: string };

async function make(at = address): Promise<Made> {
  const { body } = await request(at, '/integracao/api/v1/ambientes', { method: 'POST' });
  return { at, slug: body.ambiente.municipio, chave: body.chave };
}

const pageAt = ({ at, slug, chave }: Made, below = '', init: RequestInit = {}) =>
  fetch(`${at}/docs/ensaio/${slug}${below}`, {
    redirect: 'manual',
    ...init,
    headers: { Cookie: `ensaio-${slug}=${chave}` },
  });

/** Sends a form with a file field, as a browser does. */
async function send(
  made: Made,
  cadastro: string,
  { csv = '', arquivo }: { csv?: string; arquivo?: Uint8Array<ArrayBuffer> },
) {
  const form = new FormData();
  form.set('csv', csv);
  form.set('arquivo', new File(arquivo === undefined ? [] : [arquivo], arquivo === undefined ? '' : 'cadastro.csv'));
  const answer = await pageAt(made, `/cadastros/${cadastro}`, { method: 'POST', body: form });
  return { status: answer.status, text: await answer.text() };
}

const textIn = (page: string): string => /<textarea[^>]*>\n(.*?)<\/textarea>/s.exec(page)![1]!.replaceAll('\r\n', '\n');

const HEAD = 'documento,inscricao_municipal,razao_social,autorizado';
const GOOD = `${HEAD}\n88888888000191,123,Padaria São João Ltda,nao\n`;
const issue = ({ slug }: Made, patch: Parameters<typeof exampleXml>[0]) =>
  request(address, `/${slug}/api/v1/nfse/v101`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml' },
    body: exampleXml(patch),
  });

describe('the rigour of a sandbox on its page', () => {
  const asked = { acao: 'rigor', regras_nacionais: 'recusa', exige_numero: 'sim', aliquota_padrao: '2,50' };
  const switchBy = (made: Made, fields: Record<string, string>) =>
    pageAt(made, '', { method: 'POST', body: new URLSearchParams(fields) });
  const shown = async ({ slug, chave }: Made) =>
    (await request(address, `/${slug}/api/v1/ambiente`, { headers: { Authorization: `Bearer ${chave}` } })).body
      .ambiente;

  test('is what the API says, and each part of it is switched, on and off', async () => {
    const made = await make();
    const before = await shown(made);
    assert.deepEqual([before.exige_numero, before.aliquota_padrao], [false, null]);
    assert.equal((await issue(made, { 'prest/CNPJ': '88888888000191' })).status, 201);
    const done = await switchBy(made, { ...asked, exige_cadastro: 'sim', exige_nota_no_evento: 'sim' });
    assert.deepEqual([done.status, done.headers.get('location')], [303, `${made.slug}#rigor`]);
    const { regras_nacionais, exige_cadastro, exige_numero, exige_nota_no_evento, aliquota_padrao } = await shown(made);
    assert.deepEqual(
      [regras_nacionais, exige_cadastro, exige_numero, exige_nota_no_evento, aliquota_padrao],
      ['recusa', true, true, true, '2.50'],
    );
    const unknown = await issue(made, { nDPS: '2', 'prest/CNPJ': '12121212000106' });
    assert.equal(unknown.body.codigo_erro, 'E101', JSON.stringify(unknown.body));
    const page = await (await pageAt(made)).text();
    for (const nome of ['exige_cadastro', 'exige_numero', 'exige_nota_no_evento'])
      assert.match(page, new RegExp(`name="${nome}" value="sim" checked`));
    assert.match(page, /<option value="recusa" selected>/);
    assert.match(page, /id="aliquota_padrao"[^>]* value="2.50"/);
    // A browser does not send an unticked box.
    await switchBy(made, { acao: 'rigor', regras_nacionais: 'avisa', aliquota_padrao: '' });
    const after = await shown(made);
    assert.deepEqual([after.exige_numero, after.exige_cadastro, after.exige_nota_no_evento], [false, false, false]);
    assert.deepEqual([after.regras_nacionais, after.aliquota_padrao], ['avisa', null]);
  });

  test('that cannot be is refused with the reason, and the form keeps what was asked', async () => {
    const made = await make();
    for (const [field, value] of [
      ['aliquota_padrao', '101'],
      ['aliquota_padrao', '"><script>'],
      ['regras_nacionais', 'talvez'],
    ] as const) {
      const refused = await switchBy(made, { ...asked, [field]: value });
      const page = await refused.text();
      assert.equal(refused.status, 400);
      assert.match(page, new RegExp(`role="alert">[^<]*${field}`));
      assert.match(page, /name="exige_numero" value="sim" checked/);
      if (value === '101') assert.match(page, /id="aliquota_padrao"[^>]* value="101"/);
      assert.doesNotMatch(page, /"><script>/);
    }
    assert.equal((await shown(made)).exige_numero, false);
  });
});

describe('the registers of a sandbox on their pages', () => {
  test('are all that the API takes', async () => {
    const made = await make();
    const page = await (await pageAt(made)).text();
    const listed = [...page.matchAll(/href="[^"]*\/cadastros\/(\w+)"/g)].map(([, nome]) => nome!);
    const { paths } = (await request(address, '/openapi.json')).body;
    const [, route] = Object.entries<{ post?: { summary?: string } }>(paths).find(([path]) =>
      path.includes('/cadastros/'),
    )!;
    assert.equal(listed.length, 8);
    for (const nome of listed) assert.ok(JSON.stringify(route).includes(nome), `${nome} ${JSON.stringify(route)}`);
    for (const nome of listed) assert.equal((await pageAt(made, `/cadastros/${nome}`)).status, 200, nome);
    for (const nome of ['clientes', 'constructor', '__proto__'])
      assert.equal((await pageAt(made, `/cadastros/${nome}`)).status, 404, nome);
    assert.equal((await pageAt(made, '/cadastros/clientes', { method: 'POST', body: new FormData() })).status, 404);
  });

  test('take lines that were pasted or a file, tell the counts, and give the same back', async () => {
    const made = await make();
    const pasted = await send(made, 'prestadores', { csv: GOOD.replaceAll('\n', '\r\n') });
    assert.equal(pasted.status, 200);
    assert.match(pasted.text, /role="status"[\s\S]*Gravou-se 1 linha[\s\S]*Estabelecimentos: novos 1, alterados 0/);
    assert.equal(textIn(pasted.text), '');
    assert.match(pasted.text, /<td[^>]*>Padaria São João Ltda<\/td>/);
    // The same rows as a file in the Windows encoding; the file precedes the text field.
    const windows = Buffer.from(GOOD.replace('Padaria', 'Confeitaria'), 'latin1');
    const filed = await send(made, 'prestadores', { csv: 'x', arquivo: new Uint8Array(windows) });
    assert.match(filed.text, /novos 0, alterados 1/);
    const file = await pageAt(made, '/cadastros/prestadores/csv');
    assert.equal(file.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.equal(file.headers.get('content-disposition'), 'attachment; filename="prestadores.csv"');
    const csv = await file.text();
    assert.match(csv, /'88888888000191;Confeitaria São João Ltda;'123;/);
    // A downloaded file can be uploaded unchanged, to another sandbox as well.
    assert.match((await send(made, 'prestadores', { csv })).text, /Estabelecimentos: novos 0, alterados 0, iguais \d+/);
    const other = await make();
    assert.match((await send(other, 'prestadores', { csv })).text, /Estabelecimentos: novos 1, alterados 0/);
    const listed = 'codigo;descricao;codigo_tributacao_nacional;aliquota;inicio\n777;Aulas;080201;5,00;2026-01-01\n';
    assert.match((await send(made, 'servicos', { csv: listed })).text, /<td[^>]*>Aulas<\/td>/);
    assert.match(await (await pageAt(made, '/cadastros/servicos/csv')).text(), /^codigo;.*\r\n'777;Aulas;/);
  });

  test('are the rates of its own as well, of which the file is all', async () => {
    const made = await make();
    const row = (tributo: string) => `${tributo},2027-01-01,2027-12-31,8.8,ensaio,ensaio\n`;
    const head = 'tributo,inicio,fim,aliquota,fonte,ato\n';
    const both = await send(made, 'aliquotas_ibs_cbs', { csv: head + row('CBS') + row('IBS-UF') });
    assert.match(both.text, /Alíquotas do IBS e da CBS: novos 2, alterados 0, iguais 0\./);
    assert.match(both.text, /<td[^>]*>IBS-UF<\/td><td[^>]*>2027-01-01<\/td><td[^>]*>8\.8<\/td>/);
    const csv = await (await pageAt(made, '/cadastros/aliquotas_ibs_cbs/csv')).text();
    assert.match((await send(made, 'aliquotas_ibs_cbs', { csv })).text, /novos 0, alterados 0, iguais 2\./);
    const one = await send(made, 'aliquotas_ibs_cbs', { csv: head + row('CBS') });
    assert.match(one.text, /novos 0, alterados 0, iguais 1, retirados 1\./);
    const bad = await send(made, 'aliquotas_ibs_cbs', { csv: head + row('ICMS') });
    assert.deepEqual([bad.status, textIn(bad.text)], [422, head + row('ICMS')]);
  });

  test('tell each refused line with its reason, write nothing then, and keep the text', async () => {
    const made = await make();
    const bad = `${GOOD}1,7,<b>Outra</b>,talvez\n99999999000191,8,,sim\n`;
    for (const sent of [{ csv: bad }, { arquivo: new Uint8Array(Buffer.from(bad, 'latin1')) }]) {
      const { status, text } = await send(made, 'prestadores', sent);
      assert.equal(status, 422);
      assert.match(text, /role="alert">2 linhas foram recusadas; abaixo, quais\. Nada foi gravado\./);
      assert.match(text, /<li>Linha 3: documento [^<]*; autorizado /);
      assert.match(text, /<li>Linha 4: [^<]*razao_social/);
      assert.doesNotMatch(text, /<b>Outra<\/b>/);
      assert.equal(textIn(text).replaceAll('&lt;', '<').replaceAll('&gt;', '>').trim(), bad.trim());
    }
    const header = await send(made, 'prestadores', { csv: 'ramo,nome\n1,2\n' });
    assert.equal(header.status, 400);
    assert.match(header.text, /role="alert">cabeçalho de prestadores\.csv: faltam as colunas/);
    assert.equal(textIn(header.text), 'ramo,nome\n1,2\n');
    for (const csv of ['', '  \n', `${HEAD}\n`]) {
      const nothing = await send(made, 'prestadores', { csv });
      assert.ok([400, 422].includes(nothing.status), `${JSON.stringify(csv)}: ${nothing.status}`);
      assert.match(nothing.text, /role="alert"/);
    }
    assert.doesNotMatch(await (await pageAt(made, '/cadastros/prestadores/csv')).text(), /Padaria São João/);
  });

  test('count in the limits of the API, and take no more than it', async () => {
    // The other tests share this network address, and need their quota.
    const { address } = await startTestService({ worker: false });
    const made = await make(address);
    const long = `${HEAD}\n${`99999999000191,8,${'x'.repeat(100)},sim\n`.repeat(9_000)}`;
    assert.ok(long.length < BODY_MAX_BYTES * 1.3 && long.length > BODY_MAX_BYTES);
    const { status, text } = await send(made, 'prestadores', { csv: long });
    assert.equal(status, 413);
    assert.match(text, /passa de 1 MiB[^<]*Nada foi gravado/);
    assert.ok(textIn(text).startsWith(HEAD), 'it is there to be divided');
    const far = await send(made, 'prestadores', { arquivo: new Uint8Array(Buffer.alloc(3 * BODY_MAX_BYTES, 'x')) });
    assert.equal(far.status, 413);
    let last = { status: 200, text: '' };
    for (let times = 0; times < 60 && last.status === 200; times += 1) {
      last = await send(made, 'prestadores', { csv: `${GOOD}${'\n'.repeat(BODY_MAX_BYTES / 3)}` });
    }
    assert.equal(last.status, 429);
    assert.match(last.text, /role="alert">Vieram documentos demais deste endereço de rede/);
    assert.match(textIn(last.text), /Padaria/);
  });
});
