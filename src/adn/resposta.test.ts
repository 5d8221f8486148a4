/** The kept part of an answer: the unchanged text, of one document and of no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from './line.ts';
import { cutLote, respostasTo } from './resposta.ts';

const [A, B, C] = ['1', '2', '3'].map((digit) => digit.repeat(50)) as [string, string, string];
const HOST = 'adn.exemplo';

const answered = (body: string, status = 201): Outcome => ({
  ...{ kind: 'answered', status, type: 'application/json', body: Buffer.from(body) },
});

test('each document has the text with its entry alone, octet for octet', () => {
  const entry = (chave: string, more: string) =>
    `{ "ChaveAcesso":"${chave}","NsuRecepcao":  "7","Alertas":[],"Erros":[${more}]}`;
  const odd = '{"Codigo":"E1","Descricao":"diz \\"Lote\\":[ { ] , \\\\\\\\"}';
  const [of, other] = [entry(A, odd), entry(B, '')];
  const text = `{"TipoAmbiente":"PRODUCAO","Lote":[ ${of} ,${other}\n],"DataHora":"2026-11-21T12:00:00.1-03:00"}`;
  JSON.parse(text);
  const at = respostasTo(answered(text), HOST, [A, B]);
  assert.equal(
    at(0),
    `201 adn.exemplo\n{"TipoAmbiente":"PRODUCAO","Lote":[${of}],"DataHora":"2026-11-21T12:00:00.1-03:00"}`,
  );
  assert.ok(!at(1)!.includes(A) && at(1)!.includes(other));
  const turned = respostasTo(answered(text), HOST, [B, A]);
  assert.equal(turned(1), at(0), 'by its key, wherever it stands');
  assert.ok(!respostasTo(answered(text), HOST, [C, A])(0)!.includes('ChaveAcesso'), 'nothing of another');
});

test('without a key by its place; with a name in other letters; and an answer without a list', () => {
  const at = respostasTo(answered('{"lote":[{"erros":["x"]},{"erros":["y"]}]}', 400), HOST, [A, B]);
  assert.deepEqual(
    [at(0), at(1)],
    [`400 ${HOST}\n{"lote":[{"erros":["x"]}]}`, `400 ${HOST}\n{"lote":[{"erros":["y"]}]}`],
  );
  const short = respostasTo(answered('{"lote":[{"erros":["x"]}]}'), HOST, [A, B]);
  assert.deepEqual([short(0), short(1)], [`201 ${HOST}\n{"lote":[]}`, `201 ${HOST}\n{"lote":[]}`]);
  const refused = '{"Erros":[{"Codigo":"E1219","Lote":["dentro"]}]}';
  assert.equal(respostasTo(answered(refused), HOST, [A])(0), `201 ${HOST}\n${refused}`);
});

test('what is no object has its status alone; a text that never ends is cut; nothing hangs', () => {
  for (const body of ['<html>', '', '[1]', '{"Lote":[1],"lote":[2]}']) {
    assert.equal(respostasTo(answered(body, 502), HOST, [A])(0), `502 ${HOST}\n`, body);
  }
  const long = respostasTo(answered(`{"Lote":["${A}${'😀'.repeat(20_000)}"]}`), HOST, [A])(0)!;
  assert.ok(long.length < 16_100 && long.isWellFormed() && long.endsWith('(cortado aqui)'));
  for (const body of ['{"Lote":[', '{"Lote":["', '{"a\\', '{"Lote":[{"a":"\\"', '{]}}[']) cutLote(body);
});

test('where nothing came, why; and nothing of what was not sent', () => {
  const lost: Outcome = { kind: 'lost', code: 'UND_ERR_HEADERS_TIMEOUT', why: 'o ADN não respondeu no prazo' };
  assert.equal(respostasTo(lost, HOST, [A])(0), `- ${HOST}\no ADN não respondeu no prazo`);
  const unsent: Outcome = { kind: 'unsent', code: 'NOT_TRIED', why: 'não houve tempo' };
  assert.equal(respostasTo(unsent, HOST, [A])(0), undefined);
});
