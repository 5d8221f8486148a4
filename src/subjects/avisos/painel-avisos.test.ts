/** Tokens and webhook addresses in the console: the rights to see and to act, the values shown once, and the messages to a receiver. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { emit, request } from '../../../test/support/http.ts';
import {
  enter,
  makeUsuario,
  type Pessoa,
  type Shown,
  startTestPainel,
  type Usuario,
} from '../../../test/support/painel.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { TIPOS_MUDANCA } from '../../fiscal/mudanca.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { readSegredo } from './assinatura.ts';
import { openReceptor } from './escutar.command.ts';
import { AVISO_GUARDA_DIAS } from './tempos.ts';

const PRESTADOR = '11222333000181';
const PESSOA = '52998224725';
const OTHER = 'vila-alheia';
const service = await startTestService();
const painel = await startTestPainel(service);
const { store, clock, address } = service;
await store.municipios.create({ tenant: OTHER, ambiente: 'homologacao', codigoIbge: '3550308' }, clock.now);
const at = (where: string, municipio = 'integracao'): string => `/m/${municipio}${where}`;

let chefe: Pessoa;
let leitor: Pessoa;
let operadora: Pessoa;
let vizinha: Pessoa;
let everybody: Usuario[];
const enterAll = async (): Promise<void> => {
  [chefe, leitor, operadora, vizinha] = (await Promise.all(everybody.map((one) => enter(painel, one)))) as [
    Pessoa,
    Pessoa,
    Pessoa,
    Pessoa,
  ];
};
before(async () => {
  everybody = [
    await makeUsuario(painel, 'clara', { integracao: 'administracao' }),
    await makeUsuario(painel, 'leo', { integracao: 'leitura' }),
    await makeUsuario(painel, 'olga', { integracao: 'operacao' }),
    await makeUsuario(painel, 'vera', { [OTHER]: 'administracao' }),
  ];
  await enterAll();
});

async function tokenOf(documento: string) {
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ documento, escopos: ['consultar', 'webhooks'] });
  const answer = await request(address, '/integracao/api/v1/token', { method: 'POST', headers, body });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body as { id: string; token: string };
}

/** A receiver as the command opens it; each message is a line of JSON. */
async function receptor(segredo?: string, port = 0) {
  const lines: { confere: boolean | null; problema: string | null; aviso: { type: string } }[] = [];
  const out = (text: string): void => {
    const line = JSON.parse(text);
    // The command itself answers questions.
    if (line.aviso.type !== 'confirmacao') lines.push(line);
  };
  const asked = { porta: port, segredo: segredo === undefined ? undefined : readSegredo(segredo), isJson: true };
  const opened = await openReceptor({ out, err: () => undefined }, asked, () => clock.now);
  onEnd(opened.close);
  return { ...opened, lines };
}

/** Waits until an address that was unreachable at registration has proved itself, at the next question. */
function untilActive(id: string): Promise<unknown> {
  return until(async () => {
    const one = (await store.webhooks.list('integracao', '')).find((row) => row.id === id);
    if (one?.pendente === false) return true;
    clock.now += 5_000;
    service.world.wake('integracao');
    return undefined;
  }, 'it wants messages');
}

const secretIn = ({ html }: Shown): string => /<pre class="segredo">(whsec_[A-Za-z0-9+/=]+)<\/pre>/.exec(html)![1]!;
const idIn = ({ html }: Shown): string => /avisos\/(wh_[\w-]+)"/.exec(html)![1]!;
const actsOf = (objeto: string, chave: string) => store.atos.list('integracao', { objeto, chave }, 50);

/** Opens a page first, so that the form that is sent comes from it. */
async function act(pessoa: Pessoa, id: string, path: string, fields: Record<string, string> = {}): Promise<Shown> {
  clock.now += 1_000;
  await pessoa.open(at(`/avisos/${id}`));
  return pessoa.send(at(`/avisos/${id}/${path}`), fields);
}

async function cadastrar(url: string, fields: Record<string, string | readonly string[]> = {}) {
  await chefe.open(at('/avisos/novo'));
  const page = await chefe.send(at('/avisos/novo'), { url, ...fields });
  assert.equal(page.status, 200, page.html);
  return { id: idIn(page), segredo: secretIn(page), page };
}

describe('tokens', () => {
  test('are listed for who reads, a CPF masked, and by their document', async () => {
    const [one, other] = [await tokenOf(PRESTADOR), await tokenOf(PESSOA)];
    const { html } = await leitor.open(at('/tokens'));
    for (const shown of [
      one.id,
      other.id,
      '11.222.333/0001-81',
      '***.982.247-**',
      'consultar, webhooks',
      'ensaio, sem prova',
    ]) {
      assert.ok(html.includes(shown), shown);
    }
    for (const kept of [one.token, other.token, PESSOA, 'Revogar']) assert.ok(!html.includes(kept), kept);
    const found = await leitor.open(at('/tokens?documento=11.222.333/0001-81'));
    assert.ok(found.html.includes(one.id) && !found.html.includes(other.id));
    const wrong = await leitor.open(at('/tokens?documento=123'));
    assert.equal(wrong.status, 422);
    assert.match(wrong.html, /id="campo-documento-erro">O que escreveu não é CNPJ nem CPF/);
  });

  test('one is revoked by who administers, with a reason, and serves nobody from then on', async () => {
    const { id, token } = await tokenOf(PRESTADOR);
    const ask = () =>
      request(address, '/integracao/api/v1/mudancas', { headers: { Authorization: `Bearer ${token}` } });
    assert.equal((await ask()).status, 200);
    for (const pessoa of [leitor, operadora]) assert.equal((await pessoa.open(at(`/tokens/${id}`))).status, 403);
    assert.equal((await vizinha.open(at(`/tokens/${id}`))).status, 404);
    // The token does not exist in her own municipality either.
    assert.equal((await vizinha.open(at(`/tokens/${id}`, OTHER))).status, 404);
    await vizinha.open(at('/tokens', OTHER));
    assert.equal((await vizinha.send(at(`/tokens/${id}`, OTHER), { motivo: 'meu' })).status, 404);
    await chefe.open(at(`/tokens/${id}`));
    const without = await chefe.send(at(`/tokens/${id}`));
    assert.deepEqual([without.status, (await ask()).status], [422, 200]);
    assert.match(without.html, /id="campo-motivo-erro">Escreva por que se revoga/);
    const long = await chefe.send(at(`/tokens/${id}`), { motivo: 'x'.repeat(300) });
    assert.deepEqual([long.status, (await ask()).status], [422, 200]);
    const revoked = await chefe.send(at(`/tokens/${id}`), { motivo: 'programa trocado' });
    assert.match(revoked.html, new RegExp(`O token ${id} foi revogado`));
    assert.ok(!revoked.html.includes(`tokens/${id}"`));
    assert.equal((await ask()).status, 401);
    const [done, ...more] = await actsOf('token', id);
    assert.deepEqual(
      [done?.acao, done?.quem, done?.via, done?.motivo],
      ['revogado', 'clara', 'painel', 'programa trocado'],
    );
    assert.equal((await chefe.open(at(`/tokens/${id}`))).status, 404);
    assert.deepEqual(more, []);
  });
});

describe('an address of the municipality', () => {
  test('is created with the kinds that were ticked; its secret is shown once and signs what comes', async () => {
    const form = await chefe.open(at('/avisos/novo'));
    for (const tipo of TIPOS_MUDANCA) assert.ok(form.html.includes(`name="tipos" value="${tipo}"`), tipo);
    assert.match(form.html, /O ADN autorizou a nota\./);
    assert.match(form.html, /o motivo está em <code>erros_adn<\/code>/);
    const port = await ownPort();
    const fields = {
      tipos: ['nota.autorizada', 'nota.cancelada'],
      descricao: 'ERP da prefeitura',
      motivo: 'contrato 7',
    };
    const { id, segredo } = await cadastrar(`http://127.0.0.1:${port}/avisos?chave=segredissimo`, fields);
    assert.match((await leitor.open(at(`/avisos/${id}`))).html, /pendente<\/span> ainda não confirmou que quer avisos/);
    const here = await receptor(segredo, port);
    await untilActive(id);
    assert.equal((await emit(address, exampleXml({ nDPS: '901' }))).status, 201);
    await until(async () => here.lines[0], 'the message');
    assert.deepEqual([here.lines[0]!.aviso.type, here.lines[0]!.confere], ['nota.autorizada', true]);
    const page = await chefe.open(at(`/avisos/${id}`));
    assert.ok(!page.html.includes(segredo), 'the secret is shown once');
    assert.match(page.html, /<h1>ERP da prefeitura<\/h1>/);
    assert.match(page.html, /respondeu 204/);
    assert.match(page.html, /<a href="\/m\/integracao\/notas\/\w{50}">nota\.autorizada<\/a>/);
    assert.match(page.html, /segredissimo/);
    // Other roles see the host alone, in the trail too.
    for (const pessoa of [leitor, operadora]) {
      for (const where of ['/avisos', `/avisos/${id}`, '/trilha']) {
        const { html, status } = await pessoa.open(at(where));
        assert.equal(status, 200);
        assert.ok(html.includes(`http://127.0.0.1:${port}`) && !html.includes('segredissimo'), where);
        assert.ok(!html.includes('/ensaiar') && !html.includes('/novo'), where);
      }
    }
    const [made] = await actsOf('aviso', id);
    assert.deepEqual([made?.acao, made?.quem, made?.motivo], ['cadastrado', 'clara', 'contrato 7']);
    assert.deepEqual(made?.depois, { endereço: `http://127.0.0.1:${port}` });
    assert.ok(!JSON.stringify(await store.atos.list('integracao', {}, 500)).includes('segredissimo'));
  });

  test('that cannot be one is refused at its field, with what was written', async () => {
    await chefe.open(at('/avisos/novo'));
    for (const [fields, campo] of [
      [{ url: 'erp', descricao: 'ERP' }, 'url'],
      [{ url: 'https://ana:senha@erp.exemplo.com.br/', descricao: 'ERP' }, 'url'],
      [{ url: 'https://erp.exemplo.com.br/', descricao: 'x'.repeat(200) }, 'descricao'],
      [{ url: 'https://erp.exemplo.com.br/', descricao: 'ERP', motivo: 'x'.repeat(300) }, 'motivo'],
    ] as const) {
      const wrong = await chefe.send(at('/avisos/novo'), { ...fields, tipos: ['nota.retida'] });
      assert.equal(wrong.status, 422);
      assert.match(wrong.html, new RegExp(`id="campo-${campo}-erro">`));
      assert.match(wrong.html, /value="nota.retida" checked/);
    }
    const strange = await chefe.send(at('/avisos/novo'), { url: 'https://erp.exemplo.com.br/', tipos: ['nota.paga'] });
    assert.deepEqual([strange.status, /Nada foi gravado/.test(strange.html)], [422, true]);
    assert.ok(!(await store.webhooks.list('integracao', '')).some(({ url }) => url.includes('exemplo.com.br')));
  });

  test('of which hostile things are written is shown as texts', async () => {
    const hostile = `<script>alert(1)</script>"'><img src=x>`;
    const url = `https://mau.exemplo/?q=<script>alert(1)</script>`;
    const { id } = await cadastrar(url, { descricao: hostile, motivo: hostile, tipos: 'nota.retida' });
    const gone = `<img src=x onerror=alert(1)>`;
    await service.pool.query('update webhooks set falhas = 1, problema = $2 where id = $1', [id, gone]);
    for (const where of ['/avisos', `/avisos/${id}`, `/avisos/${id}/alterar`, '/trilha']) {
      const { html, status } = await chefe.open(at(where));
      assert.equal(status, 200);
      assert.ok(!html.includes('<script>alert') && !html.includes('<img'), where);
    }
    await act(chefe, id, 'retirar', { confirmar: 'sim', motivo: 'fim' });
  });

  test('is tried, switched off and on, changed, given another secret, and taken away when that is confirmed', async () => {
    const { id, segredo } = await cadastrar('http://127.0.0.1:1/', { tipos: 'nota.retida' });
    const here = await receptor(segredo);
    clock.now += 1_000;
    await chefe.open(at(`/avisos/${id}/alterar`));
    const changed = await chefe.send(at(`/avisos/${id}/alterar`), {
      url: here.address,
      descricao: '',
      tipos: 'nota.retida',
    });
    assert.match(changed.html, /O endereço foi alterado/);
    await act(chefe, id, 'ensaiar');
    await until(async () => here.lines[0], 'the trial');
    assert.deepEqual([here.lines[0]!.aviso.type, here.lines[0]!.confere], ['ensaio', true]);
    const rotated = await act(chefe, id, 'segredo', { motivo: 'vazou' });
    assert.notEqual(secretIn(rotated), segredo);
    assert.match((await chefe.open(at(`/avisos/${id}`))).html, /O segredo anterior também assina até/);
    assert.match((await act(chefe, id, 'desligar')).html, /O endereço foi desligado/);
    assert.match((await leitor.open(at('/avisos'))).html, /desligado/);
    assert.ok(!(await chefe.open(at(`/avisos/${id}`))).html.includes('/ensaiar'));
    assert.equal((await act(chefe, id, 'ensaiar')).status, 422);
    assert.match((await act(chefe, id, 'ligar')).html, /O endereço foi ligado/);
    assert.equal((await act(chefe, id, 'retirar', { motivo: 'fim' })).status, 422);
    assert.equal((await act(chefe, id, 'retirar', { confirmar: 'sim' })).status, 422);
    assert.match((await act(chefe, id, 'retirar', { confirmar: 'sim', motivo: 'fim' })).html, /foi retirado/);
    assert.equal((await chefe.open(at(`/avisos/${id}`))).status, 404);
    const acts = (await actsOf('aviso', id)).map(({ acao }) => acao).reverse();
    assert.deepEqual(acts, [
      'cadastrado',
      'alterado',
      'ensaiado',
      'segredo trocado',
      'desligado',
      'ligado',
      'retirado',
    ]);
  });

  test('what came to its end in vain is found by its state, and sent again: one, or all', async () => {
    const port = await ownPort();
    const { id, segredo } = await cadastrar(`http://127.0.0.1:${port}/`, { tipos: 'nota.emitida' });
    const before = await receptor(segredo, port);
    await untilActive(id);
    await before.close();
    for (const nDPS of ['911', '912', '913']) assert.equal((await emit(address, exampleXml({ nDPS }))).status, 201);
    await until(async () => {
      const rows = await store.webhooks.listEntregas('integracao', id, { max: 9 });
      return (rows.length === 3 && rows.every(({ tentativas }) => tentativas > 0)) || undefined;
    }, 'all were tried');
    const waiting = await leitor.open(at(`/avisos/${id}?estado=pendente`));
    assert.match(waiting.html, /a conexão foi recusada/);
    assert.match((await leitor.open(at(`/avisos/${id}?estado=morta`))).html, /Nenhuma entrega assim/);
    clock.now += AVISO_GUARDA_DIAS.tentar * DAY_MS + 1_000;
    service.world.wake('integracao');
    await until(
      async () => (await store.webhooks.countEntregas('integracao', id, 'morta')) === 3 || undefined,
      'given up',
    );
    // All sessions have ended after three days.
    await enterAll();
    const seen = await leitor.open(at(`/avisos/${id}?estado=morta`));
    assert.match(seen.html, /<td[^>]*><span class="estado erro">não se tenta mais<\/span><\/td>/);
    assert.ok(!seen.html.includes('/reenviar'));
    const here = await receptor(segredo, port);
    const page = await chefe.open(at(`/avisos/${id}`));
    const [, entrega] = /name="entrega" value="(\d+)"/.exec(page.html)!;
    assert.match((await chefe.send(at(`/avisos/${id}/reenviar`), { entrega: entrega! })).html, /1 entrega volta/);
    await until(async () => here.lines.length === 1 || undefined, 'the one came');
    assert.match((await act(chefe, id, 'reenviar')).html, /2 entregas voltam/);
    await until(async () => here.lines.length === 3 || undefined, 'all came');
    assert.match((await act(chefe, id, 'reenviar')).html, /Não havia o que reenviar/);
    assert.ok(here.lines.every(({ confere }) => confere));
  });
});

test('an address of a provider is looked at, its host alone, and changed by nobody here', async () => {
  const { token } = await tokenOf(PRESTADOR);
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ url: 'https://erp.exemplo.com.br/ganchos/abc123', descricao: 'loja' });
  const made = await request(address, '/integracao/api/v1/webhooks', { method: 'POST', headers, body });
  const id = made.body.webhook.id as string;
  const list = await chefe.open(at('/avisos'));
  assert.match(list.html, /Endereços dos prestadores/);
  const page = await chefe.open(at(`/avisos/${id}`));
  for (const { html } of [list, page]) {
    assert.ok(html.includes('https://erp.exemplo.com.br/…') && !html.includes('abc123'));
  }
  assert.ok(!page.html.includes('/ensaiar'));
  assert.equal((await chefe.open(at(`/avisos/${id}/alterar`))).status, 404);
  for (const path of ['ligar', 'desligar', 'segredo', 'ensaiar', 'reenviar', 'retirar', 'alterar']) {
    const refused = await act(chefe, id, path, { confirmar: 'sim', motivo: 'x', url: 'https://mau.exemplo/' });
    assert.ok([404, 422].includes(refused.status), path);
  }
  const [row] = await store.webhooks.list('integracao', PRESTADOR);
  assert.deepEqual([row?.id, row?.url, row?.ativo], [id, 'https://erp.exemplo.com.br/ganchos/abc123', true]);
  assert.deepEqual(await actsOf('aviso', id), []);
});

test('the addresses of providers are shown in pages, each of them once', async () => {
  await service.pool.query(`insert into webhooks (tenant, id, documento, url, tipos, segredo, criado_em)
    select '${OTHER}', 'wh_' || i, lpad(i::text, 14, '0'), 'https://p.exemplo.com.br/', '{}', '\\x00', now() from generate_series(1, 250) i`);
  const seen: string[] = [];
  const sizes: number[] = [];
  for (let where: string | undefined = at('/avisos', OTHER); where !== undefined; ) {
    const { html } = await vizinha.open(where);
    const ids = [...html.matchAll(/avisos\/(wh_\d+)"/g)].map(([, id]) => id!);
    seen.push(...ids);
    sizes.push(ids.length);
    where = /href="([^"]*\?depois=[^"]*)"/.exec(html)?.[1];
  }
  assert.deepEqual(sizes, [100, 100, 50]);
  assert.equal(new Set(seen).size, 250);
});

test('the addresses of another municipality are neither seen nor moved', async () => {
  const { id } = await cadastrar('https://so-nosso.exemplo.gov.br/');
  assert.equal((await vizinha.open(at(`/avisos/${id}`))).status, 404);
  assert.equal((await vizinha.open(at(`/avisos/${id}`, OTHER))).status, 404);
  assert.ok(!(await vizinha.open(at('/avisos', OTHER))).html.includes('so-nosso'));
  for (const path of ['ligar', 'desligar', 'segredo', 'ensaiar', 'reenviar', 'retirar', 'alterar']) {
    for (const where of [OTHER, 'integracao']) {
      await vizinha.open(at('/avisos/novo', OTHER));
      const fields = { confirmar: 'sim', motivo: 'x', url: 'https://mau.exemplo/' };
      assert.equal((await vizinha.send(at(`/avisos/${id}/${path}`, where), fields)).status, 404, `${where} ${path}`);
    }
  }
  assert.deepEqual(
    (await actsOf('aviso', id)).map(({ acao }) => acao),
    ['cadastrado'],
  );
});
