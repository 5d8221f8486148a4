/** Answers that are kept ready: the content stays the same in both forms, a copy is confirmed, and strangers' names take bounded room. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { HttpAnswer, HttpRequest } from './message.ts';
import { answerReady } from './ready.ts';

const PAGE = '<p>não há nada aqui</p>\n'.repeat(200);
const TYPE = { 'Content-Type': 'text/html; charset=utf-8' };

function ask(name: string, make: () => string | undefined, headers: HttpRequest['headers'] = {}) {
  return answerReady({ headers } as HttpRequest, name, make, TYPE, 'public');
}

const ZIPPED = { 'accept-encoding': 'br, gzip' };

async function askZipped(name: string): Promise<HttpAnswer> {
  const answer = (await ask(name, () => PAGE, ZIPPED))!;
  assert.equal(answer.headers['Content-Encoding'], 'gzip');
  return answer;
}

test('both forms have the same content, and the same type', async () => {
  const zipped = await askZipped('forms');
  const plain = (await ask('forms', () => PAGE))!;
  assert.equal(String(plain.body), PAGE);
  assert.equal(plain.headers['Content-Encoding'], undefined);
  assert.equal(gunzipSync(zipped.body as Buffer).toString(), PAGE);
  assert.ok((zipped.body as Buffer).length < PAGE.length / 10);
  for (const { headers } of [plain, zipped]) {
    assert.equal(headers['Vary'], 'Accept-Encoding');
    assert.equal(headers['Content-Type'], TYPE['Content-Type']);
  }
});

test('only a caller who takes gzip gets it', async () => {
  await askZipped('takes');
  for (const refused of ['identity', 'br', 'gzip;q=0', 'gzip; q=0.0, br', 'xgzip2']) {
    const answer = await ask('takes', () => PAGE, { 'accept-encoding': refused });
    assert.equal(String(answer!.body), PAGE, refused);
  }
});

test('a copy in either form is confirmed without a body', async () => {
  const { ETag: tag = '' } = (await askZipped('copies')).headers;
  assert.equal((await ask('copies', () => PAGE))!.headers['ETag'], tag);
  for (const named of [tag, tag.replace('W/', '')]) {
    for (const taken of [ZIPPED, {}]) {
      const answer = (await ask('copies', () => PAGE, { ...taken, 'if-none-match': `"other", ${named}` }))!;
      assert.equal(answer.status, 304);
      assert.equal(answer.body, '');
      assert.equal(answer.headers['Vary'], 'Accept-Encoding');
    }
  }
  assert.equal((await ask('copies', () => PAGE, { 'if-none-match': '"other"' }))!.status, 200);
});

test('a body is made once, and nothing is kept of an answer that there is not', async () => {
  let made = 0;
  const make = (): string => {
    made += 1;
    return PAGE;
  };
  for (let turn = 0; turn < 3; turn += 1) await ask('once', make);
  assert.equal(made, 1);
  assert.equal(await ask('none', () => undefined), undefined);
  assert.equal(String((await ask('none', () => PAGE))!.body), PAGE);
});

test('while one body is compressed another goes out as it is, and later compressed', async () => {
  const [first, second] = await Promise.all(['busy', 'waiting'].map((name) => ask(name, () => PAGE, ZIPPED)));
  assert.equal(first!.headers['Content-Encoding'], 'gzip');
  assert.equal(String(second!.body), PAGE);
  await askZipped('waiting');
});

test('the room is bounded: what nobody asked for lately is forgotten, and made again', async () => {
  let made = 0;
  const long = randomBytes(600_000).toString('hex');
  await ask('forgotten', () => PAGE);
  for (let stranger = 0; stranger < 16; stranger += 1) {
    await ask('asked again', () => PAGE);
    await ask(`long ${stranger}`, () => long);
  }
  const again = (): string => {
    made += 1;
    return PAGE;
  };
  await ask('asked again', again);
  assert.equal(made, 0);
  await ask('forgotten', again);
  assert.equal(made, 1);
});
