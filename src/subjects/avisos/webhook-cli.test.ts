/** `nfse token …` and `nfse webhook …` beside a running service, and the listener as a developer starts it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { onEnd } from '../../../test/support/cleanup.ts';
import { nfseHere } from '../../../test/support/cli.ts';
import { emit, request } from '../../../test/support/http.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { ROOT } from '../../../test/support/process.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { makeSegredo, readSegredo, signAviso, writeSegredo } from './assinatura.ts';
import { openReceptor } from './escutar.command.ts';

const PRESTADOR = '11222333000181';
const service = await startTestService();
const { pool, store, address, clock } = service;

/** A command that succeeds. */
async function does(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await nfseHere(args, pool, false, address, () => clock.now);
  assert.deepEqual([code, err], [0, ''], args.join(' '));
  return out;
}

async function fails(code: number, says: RegExp, ...args: readonly string[]): Promise<void> {
  const said = await nfseHere(args, pool, false, address, () => clock.now);
  assert.equal(said.code, code, `${args.join(' ')}: ${said.out}${said.err}`);
  assert.match(said.err, says);
}

const actsOf = async (objeto: string, chave: string) =>
  (await store.atos.list('integracao', { objeto, chave }, 50)).map(({ acao, via }) => `${acao} por ${via}`).sort();

describe('nfse token', () => {
  test('lists those in force, and revokes one with its reason', async () => {
    await fails(0, /^Nenhum token em vigor\.$/m, 'token', 'listar', 'integracao');
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ documento: PRESTADOR });
    const { id, token } = (await request(address, '/integracao/api/v1/token', { method: 'POST', headers, body })).body;
    const table = await does('token', 'listar', 'integracao', '--documento', '11.222.333/0001-81');
    assert.match(table, new RegExp(`^id +documento +escopos .*\\n${id} +${PRESTADOR} +consultar `));
    const terminal = await nfseHere(['token', 'listar', 'integracao'], pool, true, address, () => clock.now);
    assert.ok(terminal.out.split('\n').every((line) => line.length <= 80) && terminal.out.includes(id), terminal.out);
    const [shown] = JSON.parse(await does('token', 'listar', 'integracao', '--json'));
    assert.deepEqual([shown.id, shown.escopos, shown.por], [id, ['consultar'], 'ensaio']);
    assert.ok(!JSON.stringify(shown).includes(token));
    await fails(2, /não é CNPJ nem CPF/, 'token', 'listar', 'integracao', '--documento', '1');
    await fails(1, /não existe o município nenhures/, 'token', 'listar', 'nenhures');
    await fails(1, /Não há token tok_x em vigor/, 'token', 'revogar', 'integracao', 'tok_x', '--motivo', 'fim');
    await fails(2, /^Falta --motivo TEXTO/, 'token', 'revogar', 'integracao', id);
    await fails(1, /^Falta o motivo\./, 'token', 'revogar', 'integracao', id, '--motivo', ' ');
    await fails(2, /token revogar pede SLUG ID/, 'token', 'revogar', 'integracao');
    assert.match(await does('token', 'revogar', 'integracao', id, '--motivo', 'fim'), /foi revogado/);
    await fails(1, /Não há token/, 'token', 'revogar', 'integracao', id, '--motivo', 'fim');
    const [act, ...more] = await store.atos.list('integracao', { objeto: 'token', chave: id }, 9);
    assert.deepEqual([act?.acao, act?.via, act?.motivo, more], ['revogado', 'comando', 'fim', []]);
  });
});

describe('nfse webhook', () => {
  test('registers an address, tries it, and tells what came of it', async () => {
    const port = await ownPort();
    const url = `http://127.0.0.1:${port}/avisos?chave=segredissimo`;
    const made = await does('webhook', 'cadastrar', 'integracao', url, '--tipos', 'nota.autorizada, nota.cancelada');
    const id = /Endereço (wh_[\w-]+) cadastrado/.exec(made)![1]!;
    const segredo = /^ {2}(whsec_\S+)$/m.exec(made)![1]!;
    const lines: { confere: boolean; aviso: { type: string } }[] = [];
    const questions: unknown[] = [];
    const out = (text: string): void => {
      const line = JSON.parse(text);
      (line.aviso.type === 'confirmacao' ? questions : lines).push(line);
    };
    assert.match(await does('webhook', 'listar', 'integracao'), new RegExp(`${id} +município +pendente +`));
    const asked = { porta: port, segredo: readSegredo(segredo), isJson: true };
    const opened = await openReceptor({ out, err: () => undefined }, asked, () => clock.now);
    onEnd(opened.close);
    assert.equal((await emit(address, exampleXml({ nDPS: '801' }))).status, 201);
    await until(async () => {
      clock.now += 5_000;
      return lines[0];
    }, 'the message, once it has said by the next question that it wants some');
    assert.equal(questions.length, 1);
    await does('webhook', 'ensaiar', 'integracao', id);
    await until(async () => lines[1], 'the trial, without anybody being woken');
    assert.deepEqual(
      lines.map(({ confere, aviso }) => [confere, aviso.type]),
      [
        [true, 'nota.autorizada'],
        [true, 'ensaio'],
      ],
    );
    const page = await until(async () => {
      const { entregas } = JSON.parse(
        await does('webhook', 'entregas', 'integracao', id, '--estado', 'entregue', '--json'),
      );
      return entregas.length === 2 ? entregas : undefined;
    }, 'the log has both');
    assert.equal(page[0].registro[0].status, 204);
    assert.deepEqual(page.map(({ tipo }: { tipo: string }) => tipo).sort(), ['ensaio', 'nota.autorizada']);
    assert.equal(page.filter((one: { chave_acesso: string | null }) => one.chave_acesso?.length === 50).length, 1);
    const table = await does('webhook', 'entregas', 'integracao', id);
    assert.match(table, /nota\.autorizada +entregue +1 .*respondeu 204 em \d+ ms/);
    assert.match(
      await does('webhook', 'listar', 'integracao'),
      new RegExp(`${id} +município +ligado +nota.autorizada`),
    );
    for (const typed of ['webhook listar integracao', `webhook entregas integracao ${id}`]) {
      const terminal = await nfseHere(typed.split(' '), pool, true, address, () => clock.now);
      assert.ok(
        terminal.out.split('\n').every((line) => line.length <= 80),
        terminal.out,
      );
    }
    const [shown] = JSON.parse(await does('webhook', 'listar', 'integracao', '--json'));
    assert.deepEqual([shown.url, shown.tipos], [url, ['nota.autorizada', 'nota.cancelada']]);
    const rotated = await does('webhook', 'segredo', 'integracao', id);
    assert.notEqual(/^ {2}(whsec_\S+)$/m.exec(rotated)![1], segredo);
    await fails(1, /Nenhuma entrega morta/, 'webhook', 'reenviar', 'integracao', id);
    await does('webhook', 'desligar', 'integracao', id);
    await fails(1, /O endereço está desligado/, 'webhook', 'ensaiar', 'integracao', id);
    await fails(1, /O endereço está desligado/, 'webhook', 'reenviar', 'integracao', id);
    await does('webhook', 'ligar', 'integracao', id);
    await fails(2, /^Falta --motivo TEXTO/, 'webhook', 'retirar', 'integracao', id);
    assert.match(await does('webhook', 'retirar', 'integracao', id, '--motivo', 'fim'), /foi retirado/);
    await fails(1, /Não há o endereço de aviso/, 'webhook', 'retirar', 'integracao', id, '--motivo', 'fim');
    assert.deepEqual(
      await actsOf('aviso', id),
      ['cadastrado', 'desligado', 'ensaiado', 'ligado', 'retirado', 'segredo trocado'].map(
        (one) => `${one} por comando`,
      ),
    );
    assert.ok(!JSON.stringify(await store.atos.list('integracao', {}, 99)).includes('segredissimo'));
  });

  test('what cannot be done is said, and how', async () => {
    await fails(
      1,
      /Nada foi cadastrado.\nURL: Espera-se um endereço https/,
      'webhook',
      'cadastrar',
      'integracao',
      'erp',
    );
    const strange = ['webhook', 'cadastrar', 'integracao', 'https://erp.exemplo.com.br/', '--tipos', 'nota.paga'];
    await fails(1, /^--tipos: Espera-se .*nota\.autorizada/m, ...strange);
    await fails(
      2,
      /--estado é um de: pendente, entregue, morta/,
      ...'webhook entregas integracao wh_x --estado x'.split(' '),
    );
    await fails(1, /Não há o endereço de aviso wh_x em integracao/, ...'webhook entregas integracao wh_x'.split(' '));
    await fails(2, /--porta pede/, ...'webhook escutar --porta 70000'.split(' '));
    await fails(2, /--segredo pede o texto que começa por whsec_/, ...'webhook escutar --segredo abc'.split(' '));
    await fails(2, /Seria webhook listar/, ...'webhook lista integracao'.split(' '));
  });
});

describe('the listener', () => {
  const CORPO = '{"type":"nota.autorizada","timestamp":"2026-11-27T12:00:00Z","data":{"chave_acesso":"351"}}';
  const sign = (segredo: Buffer, corpo = CORPO) =>
    signAviso([segredo], { id: 'x.1', em: Math.floor(Date.now() / 1000), corpo });

  test('is a process without a database that prints what arrives, and ends in order', async () => {
    const segredo = makeSegredo();
    const args = ['webhook', 'escutar', '--porta', '0', '--segredo', writeSegredo(segredo)];
    const env = { ...process.env, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', NFSE_DATA_DIR: '/nowhere' };
    const child = spawn(process.execPath, [path.join(ROOT, 'src/main.js'), ...args], { env, stdio: 'pipe' });
    onEnd(() => void child.kill('SIGKILL'));
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (said += text));
    const url = await until(async () => /Escutando em (\S+)[\s\S]*Ctrl-C encerra/.exec(said)?.[1], 'it listens');
    assert.match(said, /NFSE_AVISOS_PRIVADOS=1/);
    const others = new Webhook(writeSegredo(segredo));
    const now = new Date();
    const theirs = {
      'webhook-id': 'm1',
      'webhook-timestamp': String(Math.floor(+now / 1000)),
      'webhook-signature': others.sign('m1', now, CORPO),
    };
    for (const headers of [theirs, sign(makeSegredo()), {}]) {
      assert.equal((await fetch(url, { method: 'POST', headers, body: CORPO })).status, 204);
    }
    assert.equal((await fetch(url)).status, 405);
    await until(async () => said.match(/nota\.autorizada/g)?.length === 3 || undefined, 'three lines');
    const lines = said.trimEnd().split('\n').slice(-3);
    for (const line of lines) assert.match(line, /^\d{4}-\d\d-\d\dT\S+Z {2}nota\.autorizada {2}351 {2}/);
    assert.match(lines[0]!, / {2}assinatura confere$/);
    assert.match(lines[1]!, /ASSINATURA NÃO CONFERE: nenhuma assinatura é deste segredo/);
    assert.match(lines[2]!, /ASSINATURA NÃO CONFERE: falta webhook-id/);
    child.kill('SIGINT');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  test('survives what is no message, and says so; what it prints moves no cursor', async () => {
    let said = '';
    const asked = { porta: 0, segredo: undefined, isJson: false };
    const { address: url, close } = await openReceptor({ out: (text) => (said += text), err: () => undefined }, asked);
    onEnd(close);
    const post = async (body: string) => (await fetch(url, { method: 'POST', body })).status;
    said = '';
    for (const body of ['', 'null', '[]', '{"type":7,"data":null}', '{"data":{"chave_acesso":["a"]}}', '<xml/>']) {
      assert.equal(await post(body), 204, body);
    }
    assert.match(said, /^(\S+ {2}\(não é um aviso\) {2}assinatura não conferida\n){6}$/);
    said = '';
    assert.equal(await post(JSON.stringify({ type: '\u001b[2Jx', data: { chave_acesso: 'a\nb' } })), 204);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.doesNotMatch(said.trimEnd(), /[\u0000-\u001f]/);
    assert.equal(await post('x'.repeat(2 * 1024 * 1024)).catch(() => 413), 413);
  });

  test('a port that is taken is told', async () => {
    const asked = { porta: 0, segredo: undefined, isJson: false };
    const terminal = { out: () => undefined, err: () => undefined };
    const { address: url, close } = await openReceptor(terminal, asked);
    onEnd(close);
    await assert.rejects(
      openReceptor(terminal, { ...asked, porta: Number(new URL(url).port) }),
      /está em uso; --porta/,
    );
  });
});
