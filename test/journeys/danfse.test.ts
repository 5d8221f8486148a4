/** The PDF of a note as an integrator requests it, in every state of a note. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import { nfseHere } from '../support/cli.ts';
import { monotonicClock } from '../support/clock.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida } from '../support/eventos.ts';
import { request } from '../support/http.ts';
import { freshFolder } from '../support/openssl.ts';
import { leitor } from '../support/paginas.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService({ worker: false });
const { issue, registered } = balcao(service.address);
const work = bancada(service.world);
const ler = leitor();

type Pdf = { readonly status: number; readonly headers: Headers; readonly bytes: Buffer };

async function pdfOf(chave: string, init: RequestInit = {}, { address } = service): Promise<Pdf> {
  const response = await fetch(`${address}/integracao/api/v1/danfse/${chave}`, {
    headers: { Accept: 'application/pdf' },
    ...init,
  });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** Every letter on the page, without order: poppler does not keep rotated letters in order. */
function lettersOf(pdf: Uint8Array): string {
  return ler!
    .paginas(pdf)
    .flatMap(({ palavras }) => palavras)
    .map(({ text }) => text)
    .join('');
}

/** The number of occurrences of a letter, by which the watermark is recognised. */
function count(pdf: Uint8Array, letter: string): number {
  return lettersOf(pdf).split(letter).length - 1;
}

function assertDeprecated({ headers }: Pdf, portal: string): void {
  assert.equal(headers.get('deprecation'), 'true');
  assert.equal(headers.get('link'), `<${portal}>; rel="alternate"; type="text/html"`);
  assert.match(headers.get('warning') ?? '', /^299 - "[ -~]+"$/);
}

const PORTAL = 'https://www.nfse.gov.br/ConsultaPublica/';
const portalOf = ({ chave_acesso }: NotaEmitida): string => `${PORTAL}?tpc=1&chave=${chave_acesso}`;

// biome-ignore lint/suspicious/noExplicitAny: tests look at the answer field by field
const json = ({ bytes }: Pdf): any => JSON.parse(bytes.toString('utf8'));

async function authorised(): Promise<NotaEmitida> {
  const nota = await issue();
  await work.notas();
  return nota;
}

describe('GET /danfse/:chave_acesso', () => {
  test('an authorised note: 200, a PDF to be shown, and what its deprecation asks for', async (t) => {
    const nota = await authorised();
    const answer = await pdfOf(nota.chave_acesso);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/pdf');
    assert.equal(answer.headers.get('content-disposition'), `inline; filename="danfse-${nota.chave_acesso}.pdf"`);
    assert.equal(answer.headers.get('content-length'), String(answer.bytes.length));
    assert.equal(answer.headers.get('x-nfse-ambiente'), 'homologacao');
    assertDeprecated(answer, portalOf(nota));
    assert.equal(answer.bytes.toString('latin1', 0, 8), '%PDF-1.7');
    if (ler === undefined) return t.diagnostic('poppler is not here: what the PDF says is not read');
    const letters = lettersOf(answer.bytes);
    assert.ok(letters.includes(nota.chave_acesso));
    assert.ok(letters.includes('NFS-eSEMVALIDADEJURÍDICA'));
  });

  test('HEAD answers the same without the file', async () => {
    const nota = await authorised();
    const answer = await pdfOf(nota.chave_acesso, { method: 'HEAD' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/pdf');
    assert.equal(answer.bytes.length, 0);
  });

  test('a note that the ADN has not authorised yet: 422, the state and what to wait for', async () => {
    const nota = await issue();
    const answer = await pdfOf(nota.chave_acesso);
    assert.equal(answer.status, 422);
    const { codigo_erro, mensagem, campo } = json(answer);
    assert.deepEqual([codigo_erro, campo], ['E703', 'chave_acesso']);
    assert.match(mensagem, /rascunho.*processando/);
    assert.equal(answer.headers.get('retry-after'), '1');
    assertDeprecated(answer, portalOf(nota));
    await work.notas();
    assert.equal((await pdfOf(nota.chave_acesso)).status, 200);
  });

  test('a note that the ADN refused: 422 with the reason, and nothing to wait for', async () => {
    const nota = await issue({}, { 'X-NFSe-Simular': 'adn:rejeita=E1234' });
    await work.notas();
    const answer = await pdfOf(nota.chave_acesso);
    assert.equal(answer.status, 422);
    const { codigo_erro, mensagem } = json(answer);
    assert.equal(codigo_erro, 'E1831');
    assert.match(mensagem, /rejeitado.*E1234.*emita de novo/);
    assert.equal(answer.headers.get('retry-after'), null);
    assertDeprecated(answer, portalOf(nota));
  });

  test('an unknown key, and a text that is none: 404 E301', async () => {
    const { chave_acesso } = await authorised();
    for (const key of ['35503081211222333000181000000000004226101234567890', chave_acesso.slice(1), 'x']) {
      const answer = await pdfOf(key);
      assert.equal(answer.status, 404);
      assert.deepEqual([json(answer).codigo_erro, json(answer).campo], ['E301', 'chave_acesso']);
      assertDeprecated(answer, PORTAL);
    }
  });

  test('a cancelled note still prints, with what it has become', async (t) => {
    if (ler === undefined) return t.skip('poppler is not here');
    const nota = await authorised();
    const before = (await pdfOf(nota.chave_acesso)).bytes;
    await registered(nota, CANCELAMENTO);
    assert.deepEqual((await pdfOf(nota.chave_acesso)).bytes, before, 'registered, it has cancelled nothing yet');
    await work.eventos();
    const { status, bytes } = await pdfOf(nota.chave_acesso);
    assert.equal(status, 200);
    // CANCELADA has three of them.
    assert.equal(count(bytes, 'A') - count(before, 'A'), 3);
  });

  test('a replaced note says that it was, and its substitute whom it replaces', async (t) => {
    if (ler === undefined) return t.skip('poppler is not here');
    const antiga = await authorised();
    const nova = await issue({ 'subst/chSubstda': antiga.chave_acesso, 'subst/cMotivo': '01' });
    const before = (await pdfOf(antiga.chave_acesso)).bytes;
    await registered(antiga, {
      tipo_evento: 'cancelamento_por_substituicao',
      codigo_motivo_cancelamento: '01',
      descricao_motivo_cancelamento: 'Nota substituída por outra',
      chave_acesso_substituta: nova.chave_acesso,
    });
    await work.eventos();
    await work.notas();
    const { bytes } = await pdfOf(antiga.chave_acesso);
    // SUBSTITUÍDA has two U, and CANCELADA none.
    assert.equal(count(bytes, 'U') - count(before, 'U'), 2);
    assert.ok(lettersOf((await pdfOf(nova.chave_acesso)).bytes).includes(`NFS-eSubst.:${antiga.chave_acesso}`));
  });
});

describe('what every answer about the PDF carries', () => {
  const at = (path: string, init?: RequestInit): Promise<Response> => fetch(`${service.address}${path}`, init);
  const assertHas = async (status: number, answer: Promise<Response>): Promise<void> => {
    const { status: answered, headers } = await answer;
    assert.equal(answered, status);
    assertDeprecated({ status, headers, bytes: Buffer.of() }, PORTAL);
  };
  const UNKNOWN = '/integracao/api/v1/danfse/x';

  test('also what comes before the note is looked for: 400, 404, 405, 414, 500, 503', async () => {
    await assertHas(400, at('/integracao/api/v1/danfse/%zz'));
    await assertHas(404, at('/nenhum/api/v1/danfse/x'));
    await assertHas(405, at(UNKNOWN, { method: 'POST', body: '{}' }));
    await assertHas(405, at(UNKNOWN, { method: 'DELETE' }));
    await assertHas(414, at(`${UNKNOWN}?${'a'.repeat(3_000)}`));
    const { chave_acesso } = await authorised();
    const { store } = service;
    const { ping } = store;
    const { findByChave } = store.notas;
    const gone = (): Promise<never> => Promise.reject(new Error('gone'));
    try {
      store.notas.findByChave = gone;
      await assertHas(500, at(`/integracao/api/v1/danfse/${chave_acesso}`));
      store.ping = gone;
      await assertHas(503, at(`/integracao/api/v1/danfse/${chave_acesso}`));
    } finally {
      store.ping = ping;
      store.notas.findByChave = findByChave;
    }
  });

  test('no other path carries it', async () => {
    const { headers } = await at('/integracao/api/v1/nfse/x', { method: 'PUT' });
    assert.equal(headers.get('deprecation'), null);
  });

  test('guessing keys here is slowed down as at the query by key', async (t) => {
    // Failed requests are counted by network address: this test has its own service, so the others are not affected.
    const own = await startTestService({ worker: false });
    // The monotonic clock, by which failed requests expire, stands still: a limited client stays limited.
    monotonicClock(t);
    const statuses: number[] = [];
    // A slow machine restores the allowance meanwhile, by the clock of the database.
    while (statuses.at(-1) !== 429 && statuses.length < 1_000) {
      statuses.push((await pdfOf(String(statuses.length).padStart(50, '0'), {}, own)).status);
    }
    assert.equal(statuses[0], 404);
    assert.equal(statuses.at(-1), 429);
    await assertHas(429, fetch(`${own.address}${UNKNOWN}`));
  });
});

describe('nfse danfse', () => {
  const folder = freshFolder();
  const put = (name: string, content: string | Buffer): string => {
    const file = path.join(folder, name);
    writeFileSync(file, content);
    return file;
  };

  /** The document of a note, and of its event, as an integrator keeps them. */
  async function xmlOf(nota: NotaEmitida): Promise<string> {
    const { body } = await request(service.address, `/integracao/api/v1/nfse/${nota.chave_acesso}`);
    return body.nota.xml_nota;
  }
  async function eventoOf({ chave_acesso }: NotaEmitida): Promise<Buffer> {
    const { body } = await request(service.address, `/integracao/SefinNacional/nfse/${chave_acesso}/eventos`);
    return gunzipSync(Buffer.from(body.eventoXmlGZipB64, 'base64'));
  }

  test('prints what the door prints, with the mark of the event that is beside the note', async () => {
    const nota = await authorised();
    const xml = put('nota.xml', await xmlOf(nota));
    const printed = await nfseHere(['danfse', xml]);
    assert.deepEqual([printed.code, printed.err], [0, '']);
    assert.equal(printed.out, `${path.join(folder, 'nota.pdf')}: nota ${nota.chave_acesso}\n`);
    const door = await pdfOf(nota.chave_acesso);
    assert.deepEqual(readFileSync(path.join(folder, 'nota.pdf')), door.bytes);
    const twice = await nfseHere(['danfse', xml]);
    assert.equal(twice.code, 1);
    assert.match(twice.err, /já existe .*nota\.pdf/);

    await registered(nota, CANCELAMENTO);
    await work.eventos();
    mkdirSync(path.join(folder, 'pdf'));
    const evento = put('evento.xml', await eventoOf(nota));
    const marked = await nfseHere(['danfse', '--pasta', path.join(folder, 'pdf'), evento, xml]);
    assert.deepEqual([marked.code, marked.err], [0, '']);
    assert.match(marked.out, /nota \d+, com a marca de cancelada$/m);
    assert.deepEqual(readFileSync(path.join(folder, 'pdf/nota.pdf')), (await pdfOf(nota.chave_acesso)).bytes);
  });

  test('says of each file that it cannot print why, and prints the others', async () => {
    const nota = await authorised();
    const xml = await xmlOf(nota);
    const files = [
      put('dps.xml', exampleXml()),
      put('torto.xml', '<NFSe><infNFSe></NFSe>'),
      put('outro.xml', '<html/>'),
      put('sem-chave.xml', '<NFSe xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infNFSe Id="1"/></NFSe>'),
      put('boa.xml', xml),
      put('pedido.xml', '<pedRegEvento/>'),
    ];
    const { code, out, err } = await nfseHere(['danfse', ...files]);
    assert.equal(code, 1);
    assert.equal(out, `${path.join(folder, 'boa.pdf')}: nota ${nota.chave_acesso}\n`);
    const lines = err.trimEnd().split('\n');
    for (const [place, expected] of [
      /dps\.xml: é uma DPS, que ainda não é nota/,
      /torto\.xml: .*infNFSe/,
      /outro\.xml: o elemento raiz é <html>/,
      /sem-chave\.xml: o Id de infNFSe/,
      /pedido\.xml: é o pedido de um evento/,
    ].entries())
      assert.match(lines[place]!, expected);
    assert.equal(lines.length, 5);
    const half = await nfseHere([
      'danfse',
      ...Object.entries({
        'de-100.xml': xml.replace('versao="1.01"', 'versao="1.00"'),
        'de-outro.xml': xml.replace('http://www.sped.fazenda.gov.br/nfse', 'http://www.abrasf.org.br/nfse.xsd'),
        'so-chave.xml': xml.replace(/<infNFSe([^>]*)>.*<\/infNFSe>/s, '<infNFSe$1/>'),
        'sem-dps.xml': xml.replace(/<DPS.*<\/DPS>/s, '<DPS/>'),
        'chave.xml': xml.replace(
          /(Id="NFS\d{49})\d/,
          (_, all) => `${all}${(Number(nota.chave_acesso.at(-1)) + 1) % 10}`,
        ),
        'envelope.json': '{"nfseXmlGZipB64":"H4sI"}',
      }).map(([name, content]) => put(name, content)),
    ]);
    assert.deepEqual([half.code, half.out], [1, '']);
    for (const expected of [
      /de-100\.xml: o leiaute da nota é 1\.00, e só o 1\.01/,
      /de-outro\.xml: <NFSe> não está no espaço de nomes nacional/,
      /so-chave\.xml: falta xLocEmi em infNFSe/,
      /sem-dps\.xml: falta infDPS em DPS/,
      /chave\.xml: O dígito verificador/,
      /envelope\.json: não começa com um elemento XML/,
    ])
      assert.match(half.err, expected);
    const nowhere = await nfseHere(['danfse', '--pasta', path.join(folder, 'nenhuma'), path.join(folder, 'boa.xml')]);
    assert.match(nowhere.err, /nenhuma\/boa\.pdf não pôde ser escrito \(a pasta não existe\)/);
    const alone = await nfseHere(['danfse', put('so.xml', await eventoOfCancelled())]);
    assert.match(alone.err, /é um evento da nota \d{50}, e o XML dela não está entre os arquivos/);
    assert.equal((await nfseHere(['danfse'])).code, 2);
    assert.match((await nfseHere(['danfse', path.join(folder, 'nada.xml')])).err, /nada\.xml não existe/);
  });

  async function eventoOfCancelled(): Promise<Buffer> {
    const nota = await authorised();
    await registered(nota, CANCELAMENTO);
    await work.eventos();
    return eventoOf(nota);
  }
});
