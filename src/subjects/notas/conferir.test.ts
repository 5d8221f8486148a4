/**
 * A checked document is recognised in any wrapping, every fault has its line, and all certain corrections are applied. The console and the
 * public address both do this; the holder of a key sees its note.
 */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { balcao, bancada, CANCELAMENTO } from '../../../test/support/eventos.ts';
import { NO_SUCH_KEY } from '../../../test/support/notas.ts';
import { enter, makeUsuario, type Pessoa, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { findMunicipio } from '../../base/world/municipios.ts';
import { exampleJson, exampleXml } from '../../fiscal/rules/example.ts';
import { type Conferido, conferir } from './conferir.ts';

const service = await startTestService({ worker: false });
const painel = await startTestPainel(service);
const { world, address, clock, logged } = service;
const integracao = balcao(address);
const work = bancada(world);
const municipio = (await findMunicipio(world, 'integracao'))!;

async function check(given: string | Uint8Array): Promise<Conferido> {
  const found = await conferir(world, municipio, typeof given === 'string' ? Buffer.from(given) : given);
  assert.ok('especie' in found, JSON.stringify(found));
  return found;
}

async function problemOf(given: string | Uint8Array): Promise<string> {
  const found = await conferir(world, municipio, typeof given === 'string' ? Buffer.from(given) : given);
  assert.ok('problema' in found, JSON.stringify(found));
  return found.problema;
}

const GOOD = exampleXml();
/** A CPF with wrong digits, a code without its zero, and a value with a comma: the last two have one right spelling. */
const BAD = exampleXml({
  'toma/CPF': '52998224720',
  'serv/cServ/cTribNac': '10101',
  'valores/vServPrest/vServ': '1000,00',
});
const EVENTO = { ...CANCELAMENTO, chave_acesso: NO_SUCH_KEY };

describe('what it is', () => {
  test('a DPS, in XML and in JSON, and the request of an event', async () => {
    assert.equal((await check(GOOD)).especie, 'DPS em XML');
    assert.equal((await check(exampleJson()!)).especie, 'DPS em JSON');
    assert.equal((await check(JSON.stringify(EVENTO))).especie, 'pedido de evento em JSON');
  });

  test('whatever it was packed in', async () => {
    const packed = gzipSync(GOOD);
    const base64 = packed.toString('base64');
    const envelope = JSON.stringify({ dpsXmlGZipB64: base64 });
    for (const [given, embrulho] of [
      [packed, ['gzip']],
      [base64, ['base64', 'gzip']],
      [`"${base64}"`, ['base64', 'gzip']],
      [
        Buffer.from(GOOD)
          .toString('base64')
          .replace(/(.{76})/g, '$1\r\n'),
        ['base64'],
      ],
      [envelope, ['o envelope da API nacional (dpsXmlGZipB64)', 'gzip']],
    ] as const) {
      const found = await check(given);
      assert.deepEqual([found.texto, found.embrulho], [GOOD, embrulho]);
    }
  });

  test('of what it cannot check it says what it looks like', async () => {
    assert.match(await problemOf(''), /Não há nada para conferir/);
    assert.match(await problemOf('bom dia'), /Não é XML nem JSON/);
    assert.match(await problemOf('%PDF-1.7'), /É um PDF/);
    assert.match(await problemOf('<?xml version="1.0"?><NFSe xmlns="x"/>'), /É uma NFS-e, já emitida/);
    assert.match(await problemOf('<pedRegEvento/>'), /em JSON, com tipo_evento/);
    assert.match(await problemOf('<EnviarLoteRpsEnvio/>'), /serviço SOAP antigo/);
    assert.match(await problemOf('<s:Envelope xmlns:s="x"/>'), /envelope SOAP/);
    assert.match(await problemOf(gzipSync(GOOD).subarray(0, 200)), /gzip está incompleto/);
    assert.match(await problemOf(gzipSync(Buffer.alloc(64 * 1024 * 1024))), /passa de 4 MB/);
  });
});

describe('what is wrong with it', () => {
  test('nothing: the amounts and every step to them', async () => {
    const { faults, corrigido, valores, calculo } = await check(GOOD);
    assert.deepEqual([faults, corrigido], [[], undefined]);
    // R$ 1.000,00 at 2 % (LC 116/2003): R$ 20,00.
    assert.ok(
      valores.some(([nome, valor]) => nome === 'ISSQN' && valor === '20,00'),
      JSON.stringify(valores),
    );
    assert.ok(calculo.some(({ campo }) => campo.endsWith('vISSQN')));
  });

  test('each fault at its line, and the text with what is certain mended', async () => {
    const { faults, corrigido } = await check(BAD);
    const at = (piece: string): number => BAD.slice(0, BAD.indexOf(piece)).split('\n').length;
    const lines = new Set(faults.map(({ linha }) => linha));
    assert.ok(lines.has(at('<cTribNac>')), JSON.stringify(faults));
    assert.ok(lines.has(at('<vServ>')), JSON.stringify(faults));
    assert.ok(corrigido!.texto.includes('<cTribNac>010101</cTribNac>'));
    assert.ok(corrigido!.texto.includes('<vServ>1000.00</vServ>'));
    // Nobody can know which digit of a CPF is wrong.
    assert.ok(corrigido!.texto.includes('52998224720'));
    const again = await check(corrigido!.texto);
    assert.deepEqual(again.faults, corrigido!.restam);
    assert.ok(again.faults.length > 0 && again.faults.every(({ xpath }) => xpath.includes('toma/CPF')));
    assert.equal(again.corrigido, undefined, 'nothing is left that a correction mends');
  });

  test('of a document in another encoding the mended text is UTF-8 and says so', async () => {
    const latin = Buffer.from(BAD.replace('UTF-8', 'ISO-8859-1'), 'latin1');
    const { corrigido, texto } = await check(latin);
    assert.ok(texto.includes('Praça da Sé'));
    assert.match(corrigido!.texto, /^<\?xml version="1\.0" encoding="UTF-8"/);
    assert.ok(corrigido!.texto.includes('Praça da Sé'));
  });

  test('an event is judged by itself, and what was not looked at is said', async () => {
    const good = await check(JSON.stringify(EVENTO));
    assert.deepEqual(good.faults, []);
    assert.match(good.naoConferido[0]!, /se conferem quando ele é enviado/);
    const { faults } = await check(JSON.stringify({ tipo_evento: 'cancelamentos' }));
    assert.ok(faults.some(({ campo }) => campo === 'tipo_evento'));
  });
});

async function post(body: FormData | URLSearchParams | string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${address}/docs/conferir`, { method: 'POST', body, headers });
  return { status: answer.status, html: await answer.text(), headers: answer.headers };
}

function asFile(content: BlobPart): FormData {
  const form = new FormData();
  form.append('documento', '');
  form.append('arquivo', new File([content], 'dps.xml'));
  return form;
}

describe('the public page', () => {
  test('asks, and shows the document line by line', async () => {
    const asked = await fetch(`${address}/docs/conferir`);
    assert.match(await asked.text(), /<textarea id="documento"/);
    assert.ok((await (await fetch(`${address}/docs`)).text()).includes('href="docs/conferir"'));
    const { status, html, headers } = await post(new URLSearchParams({ documento: BAD }));
    assert.equal(status, 200);
    assert.equal(headers.get('cache-control'), 'no-store');
    const linha = BAD.slice(0, BAD.indexOf('<vServ>')).split('\n').length;
    assert.match(html, new RegExp(`<li class="com-erro" value="${linha}"><code>\\s*&lt;vServ&gt;1000,00`));
    assert.match(html, /Texto corrigido/);
    assert.match(html, /href="erros\/E\d+"/);
    const file = await post(asFile(GOOD));
    assert.match(file.html, /Nenhum erro/);
    assert.match(file.html, /<td[^>]*>ISSQN<\/td><td class="num"[^>]*>20,00<\/td>/);
  });

  test('stores and logs nothing of it', async () => {
    const before = await service.pool.query('select count(*) from notas');
    logged.length = 0;
    await post(new URLSearchParams({ documento: exampleXml({ 'toma/xNome': 'Segredo de Alguém' }) }));
    assert.deepEqual((await service.pool.query('select count(*) from notas')).rows, before.rows);
    assert.ok(!JSON.stringify(logged).includes('Segredo'));
    assert.ok(!JSON.stringify(logged).includes('52998224725'));
  });

  test('shows what was sent as text, whatever it looks like', async () => {
    const nasty = '<script>alert(1)</script><img src=x onerror=alert(1)>';
    for (const documento of [nasty, exampleXml({ 'toma/xNome': nasty }), `{"${nasty}": 1}`, `<DPS>${nasty}`]) {
      const { html } = await post(new URLSearchParams({ documento }));
      assert.ok(!html.includes('<script>alert') && !html.includes('<img'), html.slice(0, 400));
    }
  });

  test('takes no bomb: entities, depth, length, and what is no form', async () => {
    const bomb =
      '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "y"><!ENTITY z SYSTEM "file:///etc/passwd">]><DPS>&x;&z;</DPS>';
    const { html } = await post(new URLSearchParams({ documento: bomb }));
    assert.ok(!html.includes('root:') && html.includes('class="falta"'));
    for (const documento of [
      '<a>'.repeat(20_000),
      '['.repeat(20_000),
      '{"a":'.repeat(5_000),
      '<?a?>'.repeat(1_600),
      '<!---->'.repeat(1_000),
    ]) {
      const { status, html: shown } = await post(new URLSearchParams({ documento }));
      assert.equal(status, 200);
      assert.ok(shown.length < 500_000, String(shown.length));
    }
    assert.equal((await post(asFile(Buffer.alloc(30 * 1024 * 1024, 'a')))).status, 413);
    const none = await post('oi', { 'Content-Type': 'text/plain' });
    assert.match(none.html, /não é de um formulário/);
  });
});

describe('the console', () => {
  let leitor: Pessoa;
  before(async () => {
    leitor = await enter(painel, await makeUsuario(painel, 'leo', { integracao: 'leitura' }));
  });

  test('checks a text and a file by what the municipality asks', async () => {
    await leitor.open('/m/integracao/conferir');
    const shown = await leitor.send('/m/integracao/conferir', { documento: BAD });
    assert.equal(shown.status, 200);
    assert.match(shown.html, /Texto corrigido/);
    const file = await leitor.send('/m/integracao/conferir', {
      documento: '',
      arquivo: new File([exampleJson()!], 'dps.json'),
    });
    assert.match(file.html, /Isto é uma DPS em JSON/);
  });
});

describe('a note, for who has its key', () => {
  const open = async (chave: string, slug = 'integracao') => {
    const answer = await fetch(`${address}/${slug}/nota/${chave}`);
    return { status: answer.status, html: await answer.text(), headers: answer.headers };
  };

  test('is told from its issue to its end, with the taker’s CPF masked', async () => {
    const nota = await integracao.issue();
    assert.match((await open(nota.chave_acesso)).html, /Em processamento/);
    await work.notas();
    const valid = await open(nota.chave_acesso);
    assert.equal(valid.status, 200);
    assert.match(valid.html, /<b>Válida\.<\/b>/);
    assert.match(valid.html, /R\$ 1\.000,00/);
    assert.ok(valid.html.includes('Maria Exemplo') && !valid.html.includes('52998224725'));
    assert.equal(valid.headers.get('x-robots-tag'), 'noindex');
    const pdf = /href="(\.\.\/api[^"]*)"/.exec(valid.html)![1]!;
    const danfse = await fetch(new URL(pdf, `${address}/integracao/nota/${nota.chave_acesso}`));
    assert.equal(danfse.headers.get('content-type'), 'application/pdf');
    await integracao.registered(nota, CANCELAMENTO);
    clock.now += 1_000;
    await work.eventos();
    assert.match((await open(nota.chave_acesso)).html, /<b>Cancelada\.<\/b>/);
  });

  test('that was replaced names the one that counts', async () => {
    const old = await integracao.issue();
    await work.notas();
    const nova = await integracao.issue({ 'subst/chSubstda': old.chave_acesso, 'subst/cMotivo': '01' });
    const substituicao = {
      tipo_evento: 'cancelamento_por_substituicao',
      codigo_motivo_cancelamento: '01',
      chave_acesso_substituta: nova.chave_acesso,
    };
    await integracao.registered(old, substituicao);
    clock.now += 1_000;
    await work.eventos();
    const { html } = await open(old.chave_acesso);
    assert.match(html, /<b>Substituída\.<\/b>/);
    assert.ok(html.includes(`href="${nova.chave_acesso}"`));
  });

  test('that is not there is one page, whatever the reason', async () => {
    const nota = await integracao.issue();
    const pages = await Promise.all([
      open(NO_SUCH_KEY),
      open(nota.chave_acesso, 'ninguem'),
      open('abc'),
      open(`${nota.chave_acesso.slice(0, 49)}${(Number(nota.chave_acesso.at(-1)) + 1) % 10}`),
    ]);
    for (const { status, html } of pages) assert.deepEqual([status, html], [404, pages[0]!.html]);
    assert.match(pages[0]!.html, /Nota não encontrada/);
  });
});
