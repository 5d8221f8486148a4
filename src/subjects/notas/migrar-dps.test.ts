/**
 * Documents of the national API are migrated: unwrapped, explained, corrected, and accepted by this service. The command and the public
 * page do this; a browser uses the page without scripts as well.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertAccessible, assertFits } from '../../../test/support/axe.ts';
import { openBrowser, type Page } from '../../../test/support/browser.ts';
import { nfseHere } from '../../../test/support/cli.ts';
import { monotonicClock } from '../../../test/support/clock.ts';
import { NO_SUCH_KEY } from '../../../test/support/notas.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { ROOT, type Said } from '../../../test/support/process.ts';
import { startTestService } from '../../../test/support/service.ts';
import { type Party, signedBy, testParties } from '../../../test/support/signatures.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { DIFERENCAS } from '../../published/api-nacional.ts';

const { address, logged, pool } = await startTestService({ worker: false });
const browser = await openBrowser();
const skip = browser === undefined ? 'there is no Chromium' : false;

const folder = freshFolder();
const inFolder = (name: string): string => path.join(folder, name);

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(inFolder(name), content);
  return inFolder(name);
}

const migrar = (...args: readonly string[]): Promise<Said> => nfseHere(['migrar-dps', ...args]);

const packed = (xml: string | Uint8Array): string => gzipSync(xml).toString('base64');
const envelope = (xml: string): string => JSON.stringify({ dpsXmlGZipB64: packed(xml) });

/** The form of the national environment: its moment of issue, and the earlier layout. */
const national = (xml: string): string =>
  xml.replace('versao="1.01"', 'versao="1.00"').replace('</tpAmb>', '</tpAmb><dhEmi>2026-11-21T09:00:00-04:00</dhEmi>');

const NACIONAL = national(exampleXml({ serie: '900', nDPS: '77' }));
let provider: Party;

before(async () => {
  ({ provider } = await testParties(Date.parse('2026-11-21T12:00:00-03:00')));
});

type Documento = {
  readonly passos: readonly string[];
  readonly problema?: string;
  readonly especie?: string;
  readonly mudancas: readonly { readonly assunto: string; readonly diz: string }[];
  readonly corrigidos: readonly { readonly codigo: string }[];
  readonly restam: readonly { readonly codigo: string; readonly xpath: string }[];
  readonly documento: string;
  readonly destino: string;
};

/** The only document of the program's JSON output. */
async function migrated(given: string | Uint8Array, code = 0): Promise<Documento> {
  const said = await migrar(file('enviado', given), '--json');
  assert.deepEqual([said.code, said.err], [code, ''], said.out);
  const { documentos, diferencas } = JSON.parse(said.out);
  assert.equal(documentos.length, 1);
  assert.deepEqual(Object.keys(diferencas), Object.keys(DIFERENCAS));
  return documentos[0];
}

const subjects = ({ mudancas }: Documento): string[] => mudancas.map(({ assunto }) => assunto);
const says = ({ mudancas }: Documento, assunto: string): string =>
  mudancas.find((one) => one.assunto === assunto)?.diz ?? assert.fail(`nothing is said of ${assunto}`);

const post = (body: BodyInit, type: string, to = '/integracao/api/v1/nfse/v101'): Promise<Response> =>
  fetch(address + to, { method: 'POST', headers: { 'Content-Type': type }, body });

describe('the command', () => {
  test('opens the envelope, says what changes, and writes what the service takes', async () => {
    assert.equal((await post(envelope(NACIONAL), 'application/json')).status, 422);
    const saida = inFolder('dps.xml');
    const { code, out, err } = await migrar(file('envio.json', envelope(NACIONAL)), '--saida', saida);
    assert.deepEqual([code, err], [0, ''], out);
    assert.match(out, /^1\. JSON da API nacional: dpsXmlGZipB64 tem um documento em Base64, de [\d.]+ bytes\.$/m);
    assert.match(out, /^2\. gzip: [\d.]+ bytes, [\d.]+ depois de aberto\.$/m);
    assert.match(out, /^3\. Isto é: DPS em XML\.$/m);
    assert.match(out, /Veio versao="1\.00"; aqui é versao="1\.01"/);
    assert.match(out, /Veio 2026-11-21T09:00:00-04:00; retire a tag\..*agora seria 20\d\d-\d\d-\d\dT[\d:]+-03:00\./);
    assert.match(out, new RegExp(`^Gravado em ${saida}\\.$`, 'm'));
    for (const { titulo } of Object.values(DIFERENCAS)) assert.ok(out.includes(titulo), titulo);
    const written = readFileSync(saida, 'utf8');
    assert.ok(!written.includes('dhEmi') && written.includes('versao="1.01"'));
    assert.equal((await post(written, 'application/xml')).status, 201);
  });

  test('what is around it, in every way, and from standard input', async () => {
    const right = (await migrated(NACIONAL)).documento;
    const wrapped: readonly (readonly [string | Uint8Array, number])[] = [
      [envelope(NACIONAL), 2],
      [`\ufeff${envelope(NACIONAL)}`, 2],
      [Buffer.from(`\ufeff${envelope(NACIONAL)}`, 'utf16le'), 2],
      [JSON.stringify({ dpsXmlGZipB64: `${packed(NACIONAL).slice(0, 80)}\n${packed(NACIONAL).slice(80)}` }), 2],
      [packed(NACIONAL), 2],
      [`"${packed(NACIONAL)}"`, 2],
      [gzipSync(NACIONAL), 1],
      [Buffer.from(NACIONAL).toString('base64'), 1],
      [packed(packed(NACIONAL)), 4],
      [NACIONAL, 0],
    ];
    for (const [given, steps] of wrapped) {
      const { passos, documento, mudancas } = await migrated(given);
      assert.deepEqual([passos.length, documento], [steps, right]);
      assert.equal(
        mudancas.some(({ assunto }) => assunto === 'envelope'),
        steps > 0,
      );
    }
    const child = spawn(process.execPath, [path.join(ROOT, 'src/main.js'), 'migrar-dps', '-', '--json'], { cwd: ROOT });
    child.stdin.end(envelope(NACIONAL));
    assert.equal(JSON.parse(await textOf(child.stdout)).documentos[0].documento, right);
  });

  test('a signature goes with what it was over, and stays where nothing changes', async () => {
    const signed = signedBy(NACIONAL, provider);
    const changed = await migrated(envelope(signed));
    assert.match(says(changed, 'assinatura'), /não vale mais; foi retirada/);
    assert.ok(!changed.documento.includes('Signature'));
    const [dps, pem, key] = [
      file('mudada.xml', changed.documento),
      file('certificado.pem', provider.pem),
      file('chave.pem', provider.keyPem),
    ];
    const again = await nfseHere(['assinar', dps, '--certificado', pem, '--chave', key]);
    assert.equal(again.code, 0, again.err);
    const check = await post(again.out, 'application/xml', '/integracao/api/v1/assinatura/verificacao');
    const { assinatura, resumos } = (await check.json()) as { assinatura: string; resumos?: unknown };
    assert.equal(assinatura, 'XML', JSON.stringify(resumos));

    const right = signedBy(exampleXml({ serie: '900', nDPS: '78' }), provider);
    const kept = await migrated(envelope(right));
    assert.match(says(kept, 'assinatura'), /continua valendo/);
    assert.equal(kept.documento, right);
    assert.match(says(await migrated(NACIONAL), 'assinatura'), /Veio sem assinatura/);
  });

  test('what the document says decides what is told of it', async () => {
    const manaus = await migrated(NACIONAL.replace('<cLocEmi>3550308', '<cLocEmi>1302603'));
    assert.match(says(manaus, 'dhEmi'), /agora seria \S+-04:00\./);
    assert.match(says(manaus, 'endereco'), /1302603 \(Manaus\/AM\)/);
    const strange = await migrated(NACIONAL.replace(/ Id="DPS\d+"/, ` Id="DPS${'1'.repeat(42)}"`));
    assert.match(says(strange, 'id'), /^Veio o Id DPS1{42}, e do que a DPS diz se forma DPS3550308\d{35},/);
    const [right] = /DPS3550308\d{35}/.exec(says(strange, 'id'))!;
    assert.ok(!subjects(await migrated(NACIONAL.replace(/ Id="DPS\d+"/, ` Id="${right}"`))).includes('id'));
    const bare = await migrated(exampleXml({ serie: null, nDPS: null }));
    assert.match(says(bare, 'numero'), /o serviço numera/);
  });

  test('what is in another encoding is written as it came, or in UTF-8 where it changes', async () => {
    const latin = (xml: string): Buffer => Buffer.from(xml.replace('UTF-8', 'ISO-8859-1'), 'latin1');
    const right = latin(exampleXml({ serie: '900', nDPS: '80' }));
    for (const [given, written] of [
      [right, right],
      [latin(national(exampleXml({ serie: '900', nDPS: '81' }))), undefined],
    ] as const) {
      const saida = inFolder(`latim-${written === undefined}.xml`);
      assert.equal((await migrar(file('latim', gzipSync(given)), '--saida', saida)).code, 0);
      const bytes = readFileSync(saida);
      if (written !== undefined) assert.deepEqual(bytes, written);
      else assert.match(bytes.toString(), /^<\?xml version="1\.0" encoding="UTF-8"[\s\S]*Praça da Sé/);
      assert.equal((await post(bytes, 'application/xml')).status, 201);
    }
  });

  test('what nobody else can decide is left, told, and ends with 1; what is certain is written all the same', async () => {
    const wrong = NACIONAL.replace('52998224725', '52998224720').replace('<vServ>1000.00', '<vServ>1000,00');
    const one = await migrated(envelope(wrong), 1);
    assert.ok(one.restam.length > 0 && one.restam.every(({ xpath }) => xpath.includes('toma/CPF')));
    assert.ok(one.documento.includes('<vServ>1000.00</vServ>'));
    assert.deepEqual([...new Set(one.corrigidos.map(({ codigo }) => codigo))].slice(0, 2), ['E110', 'E0010']);
    // The remaining faults are shown at their lines in the new document.
    const { html } = await send(new URLSearchParams({ documento: envelope(wrong) }));
    assert.match(html, /<li class="com-erro" value="\d+"><code>\s*&lt;CPF&gt;52998224720/);
    assert.match(html, /<li><a href="erros\/E0010">E0010<\/a> dhEmi /);
    const saida = inFolder('resta.xml');
    const { code, out } = await migrar(file('resta.json', envelope(wrong)), '--saida', saida);
    assert.equal(code, 1);
    assert.match(out, /^Resta(?:m \d+ erros, que pedem| 1 erro, que pede) decisão sua:$/m);
    assert.equal(readFileSync(saida, 'utf8'), one.documento);
  });

  test('a tribISSQN that meant something else in layout 1.00 stops it, with both meanings', async () => {
    // Official schemas: 1.00 has 2 export, 3 non-incidence, 4 immunity; 1.01 has 2 immunity, 3 export, 4 non-incidence.
    const cases: readonly (readonly [number: string, said: RegExp])[] = [
      [
        '2',
        /era exportação no leiaute 1\.00, e no 1\.01 é imunidade: .*exportação, envie 3; se é de imunidade, 2 com tpImunidade\./,
      ],
      [
        '3',
        /era não incidência no leiaute 1\.00, e no 1\.01 é exportação: .*não incidência, envie 4; se é de exportação, 3\./,
      ],
      [
        '4',
        /era imunidade no leiaute 1\.00, e no 1\.01 é não incidência: .*imunidade, envie 2 com tpImunidade; se é de não incidência, 4\./,
      ],
    ];
    for (const [number, said] of cases) {
      const sent = national(
        exampleXml({
          'valores/trib/tribMun/tribISSQN': number,
          'valores/trib/tribMun/pAliq': null,
          serie: '900',
          nDPS: '77',
        }),
      );
      const one = await migrated(envelope(sent), 1);
      assert.match(says(one, 'tributacao'), said);
      assert.deepEqual(
        one.restam.map(({ codigo, xpath }) => [codigo, xpath]),
        [['E110', '/DPS/@versao']],
      );
      assert.ok(one.documento.includes(`<tribISSQN>${number}<`) && one.documento.includes('versao="1.00"'));
      const answer = await post(sent, 'application/xml');
      assert.equal(answer.status, 422);
      const [fault, ...others] = ((await answer.json()) as { erros: Record<string, string>[] }).erros;
      assert.deepEqual([fault!['codigo'], fault!['correcao'], others.length], ['E110', undefined, 0]);
      assert.match(fault!['mensagem']!, said);
      // A document with the version 1.01 needs no decision about this number; the rest is corrected as usual.
      const decided = await migrated(sent.replace('versao="1.00"', 'versao="1.01"'), number === '2' ? 1 : 0);
      assert.ok(!subjects(decided).includes('tributacao') && !decided.documento.includes('dhEmi'));
    }
    assert.ok(!subjects(await migrated(NACIONAL)).includes('tributacao'), 'what is taxable means the same');
  });

  test('a file that is there is not written over, and of a lot none is', async () => {
    const sent = file('outra.json', envelope(NACIONAL));
    const saida = file('existe.xml', 'de alguém');
    const { code, out, err } = await migrar(sent, '--saida', saida);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /existe\.xml já existe; indique outro em --saida\./);
    assert.equal(readFileSync(saida, 'utf8'), 'de alguém');
    const gone = await migrar(sent, '--saida', inFolder('nada/dps.xml'));
    assert.equal(gone.code, 1);
    assert.match(gone.err, /não pôde ser gravado \(ENOENT\)/);
  });

  test('a lot is opened into its documents, each of its own', async () => {
    const two = exampleXml({ serie: '900', nDPS: '79' });
    const lot = JSON.stringify({ LoteXmlGZipB64: [packed(NACIONAL), packed(two), '%%%%'] });
    const saida = inFolder('lote.xml');
    const { code, out } = await migrar(file('lote.json', lot), '--saida', saida, '--json');
    assert.equal(code, 1);
    const { documentos } = JSON.parse(out) as { documentos: Documento[] };
    assert.equal(documentos.length, 3);
    assert.match(documentos[1]!.passos[0]!, /tem 3 documentos em Base64\. Este é o 2º\.$/);
    assert.equal(readFileSync(inFolder('lote-2.xml'), 'utf8'), two);
    assert.match(documentos[2]!.problema!, /há "%" no caractere 1/);
    assert.ok(existsSync(inFolder('lote-1.xml')) && !existsSync(inFolder('lote-3.xml')));
    const again = await migrar(inFolder('lote.json'), '--saida', saida);
    assert.deepEqual([again.code, again.out], [1, '']);
    assert.match(again.err, /lote-1\.xml já existe/);
    const many = await migrated(JSON.stringify({ LoteXmlGZipB64: Array(51).fill(packed(two)) }), 1);
    assert.match(many.problema!, /tem 51 documentos; abrem-se até 50/);
  });

  test('the request of an event becomes the JSON that registers it', async () => {
    const pedido = (group: string): string =>
      `<?xml version="1.0" encoding="UTF-8"?><pedRegEvento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infPedReg Id="PRE${NO_SUCH_KEY}101101"><tpAmb>2</tpAmb><verAplic>x</verAplic><dhEvento>2026-11-21T10:00:00-03:00</dhEvento><CNPJAutor>11222333000181</CNPJAutor><chNFSe>${NO_SUCH_KEY}</chNFSe>${group}</infPedReg></pedRegEvento>`;
    const xml = pedido(
      '<e101101><xDesc>Cancelamento de NFS-e</xDesc><cMotivo>1</cMotivo><xMotivo>Valor do serviço informado com erro</xMotivo></e101101>',
    );
    const one = await migrated(JSON.stringify({ pedidoRegistroEventoXmlGZipB64: packed(xml) }));
    assert.deepEqual(JSON.parse(one.documento), {
      tipo_evento: 'cancelamento',
      cnpj_autor: '11222333000181',
      chave_acesso: NO_SUCH_KEY,
      codigo_motivo_cancelamento: '1',
      descricao_motivo_cancelamento: 'Valor do serviço informado com erro',
    });
    assert.equal(one.destino, `/api/v1/nfse/${NO_SUCH_KEY}/eventos`);
    assert.match(says(one, 'evento'), /tpAmb, verAplic, dhEvento, xDesc/);
    // The service reads the document, and only the note itself is missing.
    const answer = await post(one.documento, 'application/json', `/integracao${one.destino}`);
    assert.equal(((await answer.json()) as { codigo_erro: string }).codigo_erro, 'E301');
    const bad = await migrated(pedido('<e101101><cMotivo>7</cMotivo><xMotivo>curto</xMotivo></e101101>'), 1);
    assert.ok(bad.restam.length >= 2);
    assert.match((await migrated(pedido('<e999999/>'), 1)).problema!, /e999999 não se registra/);
    assert.match((await migrated('<pedRegEvento/>', 1)).problema!, /não tem, dentro de infPedReg, o grupo/);
  });

  test('what is no document is said, with its place, and nothing is written', async () => {
    const cases: readonly (readonly [string | Uint8Array, RegExp])[] = [
      ['', /Não há nada para conferir/],
      ['   \n', /Não há nada para conferir/],
      ['bom dia', /Não é XML nem JSON/],
      [JSON.stringify({ dpsXmlGZipB64: '' }), /O valor de dpsXmlGZipB64 não é Base64: veio vazio\./],
      [JSON.stringify({ dpsXmlGZipB64: 7 }), /não é um texto/],
      [JSON.stringify({ dpsXmlGZipB64: [] }), /veio vazia/],
      [JSON.stringify({ dpsXmlGZipB64: `${packed(NACIONAL).slice(0, 100)}*` }), /há "\*" no caractere 101/],
      [JSON.stringify({ dpsXmlGZipB64: 'H4sIA' }), /está cortado depois do caractere 5/],
      [JSON.stringify({ dpsXmlGZipB64: 'H4sI-_AA' }), /alfabeto de endereços/],
      [JSON.stringify({ dpsXmlGZipB64: 'H4sI\u0000AAA' }), /caractere de controle 0/],
      [`H4sI${'A'.repeat(40)}%`, /parece Base64, mas há "%" no caractere 45/],
      [JSON.stringify({ dpsXmlGZipB64: packed(NACIONAL).slice(0, 200) }), /gzip está incompleto ou danificado/],
      [JSON.stringify({ dpsXmlGZipB64: packed(Buffer.alloc(64 * 1024 * 1024)) }), /passa de 4 MB depois de aberto/],
      [JSON.stringify({ nfseXmlGZipB64: packed('<NFSe xmlns="x"/>') }), /É uma NFS-e, já emitida/],
      [gzipSync(''), /Não há nada para conferir/],
      ['%PDF-1.7', /É um PDF/],
    ];
    for (const [given, problem] of cases) {
      const saida = inFolder('nunca.xml');
      const said = await migrar(file('estranho', given), '--saida', saida, '--json');
      assert.equal(said.code, 1, String(given).slice(0, 60));
      assert.match(JSON.parse(said.out).documentos[0].problema, problem);
      assert.ok(!existsSync(saida));
    }
    // Only one document of a lot of bombs is unpacked.
    const bomb = packed(Buffer.alloc(3 * 1024 * 1024, ' '));
    const bombs = await migrar(file('bombas', JSON.stringify({ LoteXmlGZipB64: Array(50).fill(bomb) })), '--json');
    const told = (JSON.parse(bombs.out).documentos as Documento[]).map(({ problema }) => problema ?? '');
    assert.equal(told.filter((one) => /passa de 4 MB/.test(one)).length, 49);
  });

  test('NUL and broken XML are faults at their place', async () => {
    for (const [given, codigo] of [
      [NACIONAL.replace('Maria', 'Ma\0ria'), 'E201'],
      [NACIONAL.slice(0, 900), 'E201'],
      [`${NACIONAL}\0`, 'E201'],
    ] as const) {
      const { restam } = await migrated(envelope(given), 1);
      assert.equal(restam[0]!.codigo, codigo);
    }
  });

  test('what was asked wrongly ends with 2', async () => {
    assert.equal((await migrar()).code, 2);
    const long = await migrar(file('longo', Buffer.alloc(1024 * 1024 + 1, 'a')));
    assert.deepEqual([long.code, long.out], [2, '']);
    assert.match(long.err, /passa de 1 MiB/);
    const none = await migrar(inFolder('nenhum'));
    assert.equal(none.code, 1);
    assert.match(none.err, /não existe/);
    assert.match((await nfseHere(['migrar-dps', '--help'])).out, /--saida ARQUIVO[\s\S]*- lê da entrada padrão/);
  });
});

async function send(body: FormData | URLSearchParams): Promise<{ readonly status: number; readonly html: string }> {
  const answer = await fetch(`${address}/docs/migrar`, { method: 'POST', body });
  return { status: answer.status, html: await answer.text() };
}

describe('the public page', () => {
  test('has the form and the table of all differences, and is in the menu and named by the page of them', async () => {
    const html = await (await fetch(`${address}/docs/migrar`)).text();
    assert.match(html, /<textarea id="documento"/);
    for (const { titulo } of Object.values(DIFERENCAS)) assert.ok(html.includes(`>${titulo}</td>`), titulo);
    assert.match(html, /<code>dpsXmlGZipB64<\/code>/);
    const page = await (await fetch(`${address}/docs/diferencas`)).text();
    assert.ok(page.split('href="migrar"').length >= 3);
    for (const { titulo } of Object.values(DIFERENCAS)) assert.ok(page.includes(titulo), titulo);
  });

  test('shows the steps, what changes, and the document to send', async () => {
    const { status, html } = await send(new URLSearchParams({ documento: envelope(NACIONAL) }));
    assert.equal(status, 200);
    assert.match(html, /<li>gzip: [\d.]+ bytes, [\d.]+ depois de aberto\.<\/li>/);
    assert.match(html, /<dt>Data e hora da emissão<\/dt><dd>Veio 2026-11-21T09:00:00-04:00/);
    // The clock of the service, as the municipality tells it.
    assert.match(html, /agora seria 2026-11-21T12:00:00-03:00/);
    const [, shown] = /<textarea id="mudado"[^>]*>\n([\s\S]*?)<\/textarea>/.exec(html)!;
    const plain = shown!.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"');
    assert.ok(plain.includes('versao="1.01"') && !plain.includes('dhEmi'));
    const form = new FormData();
    form.append('documento', '');
    form.append('arquivo', new File([new Uint8Array(gzipSync(NACIONAL))], 'dps.gz'));
    assert.match((await send(form)).html, /<textarea id="mudado"/);
  });

  test('of a lot the first five, and how many more there are', async () => {
    const lot = JSON.stringify({ LoteXmlGZipB64: Array(7).fill(packed(NACIONAL)) });
    const { html } = await send(new URLSearchParams({ documento: lot }));
    assert.equal(html.match(/<h2>Documento \d<\/h2>/g)!.length, 5);
    assert.match(html, /O lote tem mais 2 documentos/);
  });

  test('counts what was packed by what it is', async (t) => {
    // The quota of a network address grows as time passes.
    monotonicClock(t);
    const left = async (documento: string): Promise<number> => {
      const body = new URLSearchParams({ documento });
      const { headers } = await fetch(`${address}/docs/migrar`, { method: 'POST', body });
      return Number(/"endereco";r=(\d+)/.exec(headers.get('ratelimit')!)![1]);
    };
    const before = await left(envelope(NACIONAL));
    const long = NACIONAL.replace('<toma>', `<toma>${'<xEmail>a</xEmail>'.repeat(20_000)}`);
    // 20,000 elements of 18 characters become 18 documents of 20 KiB; the body has two or three KiB.
    assert.ok(before - (await left(envelope(long))) >= 18);
    const tooLong = NACIONAL.replace('<toma>', `<toma>${' '.repeat(1024 * 1024)}`);
    const { html } = await send(new URLSearchParams({ documento: envelope(tooLong) }));
    assert.match(html, /O documento tem [\d.]+ bytes; o serviço recebe documentos de até 1\.048\.576/);
  });

  test('shows what was sent as text, opens no bomb, stores and logs nothing', async () => {
    const nasty = '<script>alert(1)</script>';
    const before = await pool.query('select count(*) from notas');
    logged.length = 0;
    for (const documento of [
      nasty,
      NACIONAL.replace('2026-11-21T09:00:00-04:00', '<![CDATA[<script>alert(1)</script>]]>'),
      NACIONAL.replace('versao="1.00"', 'versao="&lt;script>alert(1)"'),
      JSON.stringify({ dpsXmlGZipB64: nasty }),
      JSON.stringify({ [`${nasty}XmlGZipB64`]: 'x' }),
      exampleXml({ 'toma/xNome': 'Segredo de Alguém' }),
    ]) {
      const { status, html } = await send(new URLSearchParams({ documento }));
      assert.equal(status, 200);
      assert.ok(!html.includes('<script>alert'), documento.slice(0, 80));
    }
    const bomb = JSON.stringify({ dpsXmlGZipB64: packed(Buffer.alloc(64 * 1024 * 1024)) });
    assert.match((await send(new URLSearchParams({ documento: bomb }))).html, /passa de 4 MB depois de aberto/);
    const form = new FormData();
    form.append('arquivo', new File([new Uint8Array(2 * 1024 * 1024)], 'x'));
    assert.equal((await send(form)).status, 413);
    assert.deepEqual((await pool.query('select count(*) from notas')).rows, before.rows);
    assert.ok(!/Segredo|52998224725/.test(JSON.stringify(logged)));
  });
});

describe('the page in a browser', { skip }, () => {
  if (browser === undefined) return;
  let page: Page;
  before(async () => {
    page = await browser.newPage(true);
  });

  /** The accessibility checker is a script; the page itself has none. */
  const judge = async (called: string): Promise<void> => {
    await page.scripts(true);
    await assertAccessible(page, called);
    await assertFits(page, called);
    await page.scripts(false);
  };

  for (const [width, isDark] of [
    [390, false],
    [1280, true],
  ] as const) {
    test(`${width} px, without scripts: asked, pasted, answered`, async () => {
      await page.resize(width, 844);
      await page.dark(isDark);
      await page.open(`${address}/docs/migrar`);
      await judge(`the form at ${width}`);
      await page.fill('#documento', envelope(NACIONAL));
      await page.click('.conferir button');
      await page.until(`document.querySelector('#mudado') !== null`);
      assert.match(await page.evaluate<string>(`document.querySelector('#mudado').value`), /versao="1\.01"/);
      await judge(`the answer at ${width}`);
      const lot = JSON.stringify({ LoteXmlGZipB64: [packed(NACIONAL), packed(NACIONAL), 'x'] });
      await page.fill('#documento', lot);
      await page.click('.conferir button');
      await page.until(`document.querySelector('#mudado-2') !== null`);
      await judge(`a lot at ${width}`);
      assert.deepEqual(page.complaints, []);
    });
  }
});
