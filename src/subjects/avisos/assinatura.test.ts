/** Signatures of webhook messages, compared with another implementation. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { AVISO_MOMENTO_MAX_S, makeSegredo, readSegredo, signAviso, verifyAviso, writeSegredo } from './assinatura.ts';

const NOW = Date.parse('2026-11-27T12:00:00Z');
const S = NOW / 1000;
const segredo = makeSegredo();
const others = new Webhook(writeSegredo(segredo));
const CORPO = '{"type":"nota.autorizada","data":{"nome":"São João"}}';
type Headers = Record<string, string>;

/** Whether the other implementation accepts a message at the same time of the clock. */
function othersTake(headers: Headers, corpo: string): boolean {
  try {
    others.verify(corpo, headers);
    return true;
  } catch {
    return false;
  }
}

function byTheClock(t: TestContext): void {
  t.mock.method(Date, 'now', () => NOW);
}

test('what we sign the others take, and what they sign we take', (t) => {
  byTheClock(t);
  const ours = signAviso([segredo], { id: 'exemplo.m1-0', em: S, corpo: CORPO });
  assert.ok(othersTake(ours, CORPO));
  const theirs = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(S),
    'webhook-signature': others.sign('msg_1', new Date(NOW), CORPO),
  };
  for (const headers of [ours, theirs]) {
    assert.equal(verifyAviso(segredo, { headers, corpo: Buffer.from(CORPO) }, NOW), undefined);
  }
  assert.deepEqual(readSegredo(writeSegredo(segredo)), segredo);
});

test('each way of being wrong is told apart, and the others take none of them', (t) => {
  byTheClock(t);
  const good = signAviso([segredo], { id: 'a', em: S, corpo: CORPO });
  const { 'webhook-signature': signature = '' } = good;
  const at = (em: number): Headers => signAviso([segredo], { id: 'a', em, corpo: CORPO });
  const without = (name: string): Headers => Object.fromEntries(Object.entries(good).filter(([one]) => one !== name));
  const cases: readonly (readonly [Headers, string, string])[] = [
    [without('webhook-id'), CORPO, 'falta_cabecalho'],
    [without('webhook-timestamp'), CORPO, 'falta_cabecalho'],
    [{ ...good, 'webhook-signature': '' }, CORPO, 'falta_cabecalho'],
    [{ ...good, 'webhook-timestamp': 'ontem' }, CORPO, 'momento_ilegivel'],
    [at(S - AVISO_MOMENTO_MAX_S - 1), CORPO, 'momento_passado'],
    [at(S + AVISO_MOMENTO_MAX_S + 1), CORPO, 'momento_futuro'],
    [{ ...good, 'webhook-signature': signature.replace('v1,', 'v1a,') }, CORPO, 'falta_assinatura'],
    [good, `${CORPO} `, 'assinatura_alheia'],
    [{ ...good, 'webhook-id': 'b' }, CORPO, 'assinatura_alheia'],
    [{ ...good, 'webhook-timestamp': String(S - 1) }, CORPO, 'assinatura_alheia'],
    [{ ...good, 'webhook-signature': `v1,${signature}` }, CORPO, 'assinatura_alheia'],
    [{ ...good, 'webhook-signature': signature.slice(0, -1) }, CORPO, 'assinatura_alheia'],
    [signAviso([randomBytes(32)], { id: 'a', em: S, corpo: CORPO }), CORPO, 'assinatura_alheia'],
  ];
  for (const [headers, corpo, fault] of cases) {
    const what = `${fault} ${JSON.stringify(headers)}`;
    assert.equal(verifyAviso(segredo, { headers, corpo: Buffer.from(corpo) }, NOW), fault, what);
    assert.equal(othersTake(headers, corpo), false, what);
  }
});

test('the bounds of the time are inside, and one good signature among others is enough', (t) => {
  byTheClock(t);
  for (const em of [S - AVISO_MOMENTO_MAX_S, S + AVISO_MOMENTO_MAX_S]) {
    const headers = signAviso([segredo], { id: 'a', em, corpo: CORPO });
    assert.equal(verifyAviso(segredo, { headers, corpo: Buffer.from(CORPO) }, NOW), undefined);
    assert.ok(othersTake(headers, CORPO));
  }
  const [one, other] = [makeSegredo(), makeSegredo()];
  const both = signAviso([one, segredo], { id: 'a', em: S, corpo: CORPO });
  const headers = { ...both, 'webhook-signature': `v1a,xyz ${both['webhook-signature']}` };
  assert.ok(othersTake(headers, CORPO));
  const sent = { headers, corpo: Buffer.from(CORPO) };
  assert.deepEqual(
    [one, segredo, other].map((each) => verifyAviso(each, sent, NOW)),
    [undefined, undefined, 'assinatura_alheia'],
  );
});

test('a body that is no text is held byte for byte, and a header that came twice is none', () => {
  const corpo = Buffer.from([0xff, 0x00, 0xfe]);
  const headers = signAviso([segredo], { id: 'a', em: S, corpo: corpo.toString() });
  // Bytes that are no UTF-8 must not be equal to their replacement characters.
  assert.equal(verifyAviso(segredo, { headers, corpo }, NOW), 'assinatura_alheia');
  const twice = { ...headers, 'webhook-id': ['a', 'a'] };
  assert.equal(verifyAviso(segredo, { headers: twice, corpo }, NOW), 'falta_cabecalho');
});
