/** The arms and the colour of a municipality: hostile images, roles, the trail, and the pages that show them. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { nfseHere } from '../../../test/support/cli.ts';
import { enter, makeUsuario, type Pessoa, startTestPainel } from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { makeImagem } from '../../documents/imagem.ts';

const service = await startTestService({ worker: false, clock: { now: Date.now() } });
const painel = await startTestPainel(service);
const { store, pool, clock, address } = service;
const TENANT = 'exemplo';
/** Its arms and its colour are there before anything reads it. */
const COLORIDO = 'colorido';
const PATH = `/m/${TENANT}/municipio/brasao`;

// PNG by hand (RFC 2083), so that each fault is known.

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

function head(width: number, height: number, interlaced = 0): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([8, 6, 0, 0, interlaced], 8);
  return chunk('IHDR', data);
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const END = chunk('IEND', Buffer.alloc(0));
const png = (...chunks: readonly Buffer[]): Buffer => Buffer.concat([SIGNATURE, ...chunks, END]);
/** Rows of one colour, each behind the filter 0. */
function pixels(width: number, height: number, colour: readonly number[]): Buffer {
  const row = Buffer.concat([
    Buffer.from([0]),
    Buffer.concat(Array.from({ length: width }, () => Buffer.from(colour))),
  ]);
  return chunk('IDAT', deflateSync(Buffer.concat(Array.from({ length: height }, () => row))));
}

const RED = [200, 16, 46, 255];
const SCRIPT = '<script>alert(1)</script>';
const POLYGLOT = png(head(40, 20), chunk('tEXt', Buffer.from(`Comment\0${SCRIPT}`)), pixels(40, 20, RED));

const whole = png(head(40, 20), pixels(40, 20, RED));

/** Chunks of a PNG by their types. */
function chunksOf(bytes: Buffer): ReadonlyMap<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (let at = SIGNATURE.length; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    found.set(bytes.toString('latin1', at + 4, at + 8), bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  }
  return found;
}

/** The beginning of a JPEG, up to its frame (JFIF 1.02). */
const JPEG_HEAD = Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex');

describe('an image from outside', () => {
  test('is made anew: its pixels, and nothing else of its bytes', async () => {
    const made = await makeImagem(POLYGLOT);
    assert.ok('png' in made, JSON.stringify(made));
    assert.ok(!made.png.includes('script') && !made.png.includes('tEXt'));
    const chunks = chunksOf(made.png);
    assert.deepEqual([...chunks.keys()], ['IHDR', 'IDAT', 'IEND']);
    const { IHDR, IDAT } = Object.fromEntries(chunks) as Record<string, Buffer>;
    assert.deepEqual([IHDR!.readUInt32BE(0), IHDR!.readUInt32BE(4)], [40, 20]);
    assert.equal(inflateSync(IDAT!).length, 20 * (1 + 40 * 4));
  });

  test('may be a JPEG', async () => {
    // The picture of a note, 827 by 760 points (pdftoppm).
    const made = await makeImagem(await readFile(new URL('../../../docs/nota.jpg', import.meta.url)));
    assert.ok('png' in made, JSON.stringify(made));
    const size = chunksOf(made.png).get('IHDR')!;
    assert.deepEqual([size.readUInt32BE(0), size.readUInt32BE(4)], [160, 147]);
  });

  test('is shrunk to 160 points, with the same sides', async () => {
    const made = await makeImagem(png(head(800, 400), pixels(800, 400, RED)));
    assert.ok('png' in made);
    const size = chunksOf(made.png).get('IHDR')!;
    assert.deepEqual([size.readUInt32BE(0), size.readUInt32BE(4)], [160, 80]);
  });

  const noise = Buffer.alloc(600 * 1024, 7);
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  const bomb = deflateSync(Buffer.alloc(64 * 1024 * 1024));
  const frame = (height: number, width: number): Buffer => {
    const data = Buffer.from('ffc0001108000000000301220002110103110100', 'hex').subarray(0, 19);
    data.writeUInt16BE(height, 5);
    data.writeUInt16BE(width, 7);
    return Buffer.concat([JPEG_HEAD, data]);
  };
  const HOSTILE: readonly (readonly [name: string, bytes: Buffer, says: RegExp])[] = [
    ['too many bytes', noise, /mais de 512 KB/],
    ['an SVG with a script', svg, /não é uma imagem PNG ou JPEG/],
    ['a GIF', Buffer.from('GIF89a\x01\0\x01\0\0\0\0;'), /não é uma imagem PNG ou JPEG/],
    ['HTML under the name of a PNG', Buffer.from(`<html>${SCRIPT}`), /não é uma imagem/],
    ['nothing', Buffer.alloc(0), /não é uma imagem/],
    ['a PNG that declares more points than memory', png(head(60_000, 60_000), pixels(1, 1, RED)), /60\.000 × 60\.000/],
    ['a JPEG that declares as many', frame(65_000, 65_000), /65\.000 × 65\.000/],
    ['a PNG without points', png(head(0, 4), pixels(1, 1, RED)), /nenhum ponto/],
    ['a second head with another size', png(head(1, 1), head(60_000, 60_000), pixels(1, 1, RED)), /não é uma imagem/],
    ['an interlaced PNG', png(head(40, 20, 1), chunk('IDAT', bomb)), /entrelaçado/],
    ['a PNG that is cut', whole.subarray(0, whole.length - 30), /cortada/],
    ['a PNG with rows missing', png(head(40, 40), pixels(40, 20, RED)), /cortada/],
    ['a JPEG that ends after its head', frame(8, 8), /cortada/],
    ['a PNG with a page behind it', Buffer.concat([whole, Buffer.from(`<html>${SCRIPT}`)]), /cortada/],
  ];
  for (const [name, bytes, says] of HOSTILE) {
    test(`${name} is refused with words`, async () => {
      const made = await makeImagem(bytes);
      assert.ok('problem' in made, 'it was taken');
      assert.match(made.problem, says);
    });
  }

  test('more rows than it declares are never unpacked', async () => {
    const made = await makeImagem(png(head(4, 4), chunk('IDAT', bomb)));
    if ('png' in made) assert.ok(made.png.length < 1_000);
    else assert.match(made.problem, /cortada/);
  });
});

describe('the arms of a municipality', () => {
  let chefe: Pessoa;
  let leitor: Pessoa;
  before(async () => {
    assert.ok(
      await store.municipios.create({ tenant: TENANT, ambiente: 'producao', codigoIbge: '3550308' }, clock.now),
    );
    const made = { tenant: COLORIDO, ambiente: 'producao', codigoIbge: '3304557', cor: '#ffcd07' } as const;
    assert.ok(await store.municipios.create(made, clock.now));
    assert.ok(
      await store.brasoes.set(
        COLORIDO,
        { impressao: createHash('sha256').update(whole).digest('hex'), png: whole },
        [],
      ),
    );
    const papeis = { [TENANT]: 'administracao', [COLORIDO]: 'leitura' } as const;
    chefe = await enter(painel, await makeUsuario(painel, 'clara', papeis));
    leitor = await enter(painel, await makeUsuario(painel, 'leo', { [TENANT]: 'leitura' }));
  });

  const file = (bytes: Buffer, name = 'brasao.png'): File => new File([new Uint8Array(bytes)], name);
  const readRow = async () =>
    (await pool.query<{ brasao: string | null }>('select brasao from municipios where tenant = $1', [TENANT])).rows[0]!;
  const actsOf = async (acao: string) =>
    (await store.atos.list(TENANT, { objeto: 'municipio' }, 20)).filter((one) => one.acao === acao);

  test('come by the console, with who and why in the trail, and its pages show them under their digest', async () => {
    await chefe.open(PATH);
    const sent = await chefe.send(`${PATH}/enviar`, {
      brasao: file(POLYGLOT, `"><img onerror=x>.png`),
      motivo: 'lei 7',
    });
    assert.match(sent.html, /O brasão foi trocado/);
    assert.ok(!sent.html.includes('onerror'));
    const { brasao } = await readRow();
    const found = await store.brasoes.find(TENANT);
    assert.equal(createHash('sha256').update(found!.png).digest('hex'), brasao);
    const [act] = await actsOf('brasão trocado');
    assert.deepEqual([act?.quem, act?.via, act?.motivo, act?.depois], ['clara', 'painel', 'lei 7', { brasao }]);
    const page = await leitor.open(`/m/${TENANT}/municipio`);
    assert.ok(page.html.includes(`<img class="brasao" src="/m/${TENANT}/brasao/${brasao}"`));
    assert.ok(!page.html.includes('Trocar o brasão'), 'who reads has nothing to change');
  });

  test('are kept by browsers under their address, which no other image has', async () => {
    const { brasao } = await readRow();
    for (const url of [`${painel.origin}/m/${TENANT}/brasao/${brasao}`, `${address}/${TENANT}/brasao/${brasao}`]) {
      const headers = { Cookie: leitor.cookie };
      const answer = await fetch(url, { headers });
      assert.equal(answer.status, 200, url);
      assert.equal(answer.headers.get('content-type'), 'image/png');
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      assert.match(answer.headers.get('content-security-policy')!, /default-src 'none'; sandbox/);
      assert.match(answer.headers.get('cache-control')!, /immutable/);
      const again = await fetch(url, { headers: { ...headers, 'If-None-Match': answer.headers.get('etag')! } });
      assert.equal(again.status, 304);
      assert.equal((await fetch(`${url.slice(0, -1)}x`, { headers })).status, 404);
    }
  });

  test('what is no image stands at its field, and the old one stays', async () => {
    const before = await readRow();
    await chefe.open(PATH);
    const refused = await chefe.send(`${PATH}/enviar`, { brasao: file(Buffer.from('<svg/>')) });
    assert.equal(refused.status, 422);
    assert.match(refused.html, /id="campo-brasao-erro">O arquivo não é uma imagem PNG ou JPEG/);
    assert.deepEqual(await readRow(), before);
  });

  test('only who administers sends or removes them', async () => {
    await leitor.open(`/m/${TENANT}/hoje`);
    assert.equal((await leitor.send(`${PATH}/enviar`, { brasao: file(POLYGLOT) })).status, 403);
    assert.equal((await leitor.send(`${PATH}/retirar`)).status, 403);
  });

  test('the public pages and the bar have name, arms and colour, and admit no other style', async () => {
    const brasao = createHash('sha256').update(whole).digest('hex');
    const style = '.barra { --bar: #ffcd07; --on-bar: #000000; }';
    const admitted = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;
    const answer = await fetch(`${address}/${COLORIDO}/`);
    const html = await answer.text();
    assert.match(html, /<b>Rio de Janeiro\/RJ<\/b>/);
    assert.ok(html.includes(`src="brasao/${brasao}"`));
    assert.ok(html.includes(`<style>${style}</style>`));
    assert.ok(answer.headers.get('content-security-policy')!.includes(`style-src ${admitted} 'sha256-`));
    const page = await chefe.open(`/m/${COLORIDO}/hoje`);
    assert.match(page.html, /<b>Rio de Janeiro\/RJ<\/b>/);
    assert.ok(page.html.includes(`src="/m/${COLORIDO}/brasao/${brasao}"`));
    assert.ok(page.html.includes(`<style>${style}</style>`));
    assert.ok(page.headers.get('content-security-policy')!.includes(`style-src ${admitted} 'self'`));
  });

  test('the colour is chosen beside the arms, and given up there', async () => {
    const readCor = async () => (await store.municipios.readFresh(TENANT))?.cor;
    assert.match(
      (await chefe.open(PATH)).html,
      /<input id="campo-cor" name="cor" type="color" value="#[0-9a-f]{6}" required>/,
    );
    const chosen = await chefe.send(`${PATH}/cor`, { cor: '#8b0000', motivo: 'a da bandeira' });
    assert.match(chosen.html, /A cor foi trocada/);
    assert.match(chosen.html, /type="color" value="#8b0000"/);
    assert.equal(await readCor(), '#8b0000');
    const [act] = await actsOf('alterado');
    assert.deepEqual([act?.quem, act?.motivo], ['clara', 'a da bandeira']);
    assert.ok(!(await chefe.open(`/m/${TENANT}/municipio/alterar`)).html.includes('name="cor"'));
    await chefe.open(PATH);
    assert.match((await chefe.send(`${PATH}/sem-cor`)).html, /voltou a não ter cor/);
    assert.equal(await readCor(), undefined);
  });

  test('a colour that is none is refused at its field', async () => {
    await chefe.open(PATH);
    const refused = await chefe.send(`${PATH}/cor`, { cor: 'red;}</style><script>' });
    assert.equal(refused.status, 422);
    assert.match(refused.html, /id="campo-cor-erro">Pede uma cor de seis dígitos/);
    assert.ok(!refused.html.includes('</style><script>'));
  });

  test('the removal is in the trail with the old digest, and the image is gone', async () => {
    const { brasao } = await readRow();
    const done = await nfseHere(['municipio', 'brasao', TENANT, '--retirar', '--motivo', 'novo governo'], pool);
    assert.equal(done.code, 0, done.err);
    const [act] = await actsOf('brasão retirado');
    assert.deepEqual([act?.motivo, act?.antes], ['novo governo', { brasao }]);
    assert.deepEqual(await readRow(), { brasao: null });
    assert.equal(await store.brasoes.find(TENANT), undefined);
    const again = await nfseHere(['municipio', 'brasao', TENANT, '--retirar'], pool);
    assert.notEqual(again.code, 0);
    assert.match(again.err, /não tem brasão/);
  });
});
