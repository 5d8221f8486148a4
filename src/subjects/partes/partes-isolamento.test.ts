/**
 * The reach of a token: every row of the route table that needs one is tried. No row gives data of another document, or data outside the
 * scope of the token. `partes-isolamento.maquina.test.ts` tries a revoked token in all processes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takesAll } from '../../../test/support/desafio.ts';
import { CANCELAMENTO } from '../../../test/support/eventos.ts';
import { type Answer, authorised, emit, request } from '../../../test/support/http.ts';
import { startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import type { Route } from '../../base/http/route.ts';
import { ESCOPOS, type Escopo } from '../../base/world/token.ts';
import { ROUTES } from '../../doors/rest/routes.ts';
import { dpsIdOf } from '../../fiscal/chave.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

const [A, B] = ['11222333000181', '88888888000191'];
const B_COM_MASCARA = '88.888.888/0001-91';
const TENANT = 'integracao';
const API = `/${TENANT}/api/v1`;
const ASKING = ROUTES.filter(({ asksToken }) => asksToken);
/** The body of each row that takes one, by the name of the row. */
const BODIES: Readonly<Record<string, object>> = {
  cadastrarWebhook: { url: 'https://erp.exemplo.com.br/novo' },
  alterarWebhook: { descricao: 'mudado', ativo: false },
  pedirExportacao: { formato: 'csv' },
};
/** The scope of a row, by the first word of its path. */
const ESCOPO_OF: Readonly<Record<string, Escopo>> = {
  ...{ notas: 'consultar', eventos: 'consultar', mudancas: 'consultar', exportacoes: 'consultar' },
  webhooks: 'webhooks',
};
const REFUSED = [401, 403];

/** Delivered messages, by their address. */
const told: string[] = [];
const service = await startTestService({
  postAviso: async (pedido) => {
    if (!pedido.isDesafio) told.push(pedido.url);
    return takesAll(pedido);
  },
});
const { address } = service;

function call(method: string, where: string, token?: string, body?: object): Promise<Answer> {
  const headers = {
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  return request(address, `${API}/${where}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function tokenOf(documento: string, escopos = Object.keys(ESCOPOS)): Promise<string> {
  const { status, body } = await call('POST', 'token', undefined, { documento, escopos });
  assert.equal(status, 201, JSON.stringify(body));
  return body.token;
}

/** The data of one document: the parameters of its paths, and words that no other document's answer has. */
type Owned = {
  readonly token: string;
  readonly params: Readonly<Record<string, string>>;
  readonly words: readonly string[];
};

async function own(documento: string): Promise<Owned> {
  const token = await tokenOf(documento);
  const url = `https://erp.exemplo.com.br/avisos-${documento.slice(0, 8)}`;
  const webhook = await call('POST', 'webhooks', token, { url });
  assert.equal(webhook.status, 201, JSON.stringify(webhook.body));
  const id = dpsIdOf({ cLocEmi: '3550308', documento, serie: '1', nDPS: '1' });
  const xml = exampleXml({ '@Id': id, serie: '1', nDPS: '1', 'prest/CNPJ': documento });
  const { status, body } = await emit(address, xml);
  assert.equal(status, 201, JSON.stringify(body));
  const { chave_acesso: chave } = body;
  await authorised(address, chave);
  const evento = await call('POST', `nfse/${chave}/eventos`, undefined, CANCELAMENTO);
  assert.equal(evento.status, 201, JSON.stringify(evento.body));
  const file = await call('POST', 'exportacoes', token, { formato: 'csv' });
  assert.equal(file.status, 201, JSON.stringify(file.body));
  const [id_webhook, id_exportacao] = [webhook.body.webhook.id, file.body.exportacao.id];
  await until(async () => {
    const { exportacao } = (await call('GET', `exportacoes/${id_exportacao}`, token)).body;
    return exportacao.pronta || undefined;
  }, 'the file is made');
  return { token, params: { id_webhook, id_exportacao }, words: [chave, url, id_webhook, id_exportacao] };
}

/** The path of a row with its parameters filled in. */
function pathOf({ id, path }: Route, { params }: Pick<Owned, 'params'>): string {
  return path
    .slice('/api/v1/'.length)
    .replace(/:(\w+)/g, (_all, name: string) => params[name] ?? assert.fail(`${id}: nobody has ${name} here`));
}

function bodyOf({ id, takes }: Route): object | undefined {
  return takes === undefined ? undefined : (BODIES[id] ?? assert.fail(`${id} takes a body, and none is here`));
}

function escopoOf({ id, path }: Route): Escopo {
  return ESCOPO_OF[path.split('/')[3]!] ?? assert.fail(`${id}: which scope it asks for is not here`);
}

function saysNothingOf({ words }: Owned, { body, headers }: Answer, what: string): void {
  const text = JSON.stringify([body, [...headers]]);
  for (const word of words) assert.ok(!text.includes(word), `${what}: ${word} is in ${text.slice(0, 500)}`);
}

/** The data of B as B sees it, and the messages delivered to B. */
async function seenBy({ token, params }: Owned): Promise<object> {
  const look = async (where: string): Promise<unknown> => (await call('GET', where, token)).body;
  const entregas = await until(async () => {
    const { body } = await call('GET', `webhooks/${params['id_webhook']}/entregas?limite=100`, token);
    const all = body.entregas as { readonly estado: string }[];
    return all.length > 0 && all.every(({ estado }) => estado === 'entregue') ? all : undefined;
  }, 'all is told');
  return { entregas, webhooks: await look('webhooks'), exportacoes: await look('exportacoes') };
}

test('the token of one document', async (t) => {
  const [a, b] = await Promise.all([own(A), own(B)]);
  await until(async () => {
    const { mudancas } = (await call('GET', 'mudancas?limite=100', b.token)).body;
    const told = new Set(mudancas.map(({ tipo }: { tipo: string }) => tipo));
    return (told.has('evento.processado') && told.has('nota.cancelada')) || undefined;
  }, 'all that becomes of the note is told');

  await t.test('is asked for at the addresses that are for one document', () => {
    const of = new Set(ASKING.map(({ path }) => path.split('/')[3]!));
    assert.deepEqual(of, new Set(Object.keys(ESCOPO_OF)));
    const others = ROUTES.filter(({ asksToken, query }) => !asksToken && query !== undefined && 'documento' in query);
    assert.deepEqual(
      others.map(({ id }) => id),
      [],
    );
  });

  await t.test('opens nothing of another, and changes nothing', async () => {
    const [seen, messages] = [await seenBy(b), told.length];
    for (const route of ASKING) {
      const [where, body] = [pathOf(route, b), bodyOf(route)];
      const ask = (query: string) => call(route.method, `${where}${query}`, a.token, body);
      const what = `${route.method} ${where}`;
      for (const documento of [B, encodeURIComponent(B_COM_MASCARA)]) {
        const named = await ask(`?documento=${documento}`);
        assert.ok(REFUSED.includes(named.status), `${what} of B: ${named.status}`);
        assert.equal(named.body.codigo_erro, 'E9007', what);
        saysNothingOf(b, named, what);
      }
      const both = await ask(`?documento=${A}&documento=${B}`);
      assert.equal(both.status, 400, what);
      saysNothingOf(b, both, what);
      const isOne = route.path.includes('/:');
      for (const query of isOne ? ['', `?documento=${A}`] : ['']) {
        const plain = await ask(query);
        assert.equal(plain.status, isOne ? 404 : route.status, `${what}${query}: ${JSON.stringify(plain.body)}`);
        saysNothingOf(b, plain, `${what}${query}`);
      }
    }
    assert.deepEqual(await seenBy(b), seen);
    const toB = told.slice(messages).filter((url) => b.words.includes(url));
    assert.deepEqual(toB, [], 'nothing was tried at the address of B');
  });

  await t.test('of one scope opens nothing of another scope', async () => {
    for (const escopo of Object.keys(ESCOPOS) as Escopo[]) {
      const token = await tokenOf(B, [escopo]);
      for (const route of ASKING.filter((one) => escopoOf(one) !== escopo)) {
        const where = pathOf(route, b);
        const { status, body } = await call(route.method, where, token, bodyOf(route));
        assert.ok(REFUSED.includes(status), `${escopo}: ${route.method} ${where}: ${status}`);
        assert.match(body.mensagem, new RegExp(`não tem o escopo ${escopoOf(route)}`));
      }
    }
  });

  await t.test('opens to its owner all that it kept from the other', async () => {
    // A deletion of an address comes last.
    const last = ({ method }: Route): number => (method === 'DELETE' ? 1 : 0);
    for (const route of ASKING.toSorted((one, other) => last(one) - last(other))) {
      const where = pathOf(route, b);
      const token = await tokenOf(B, [escopoOf(route)]);
      const answer = await call(route.method, where, token, bodyOf(route));
      assert.equal(answer.status, route.status, `${route.method} ${where}: ${JSON.stringify(answer.body)}`);
      if (route.method !== 'GET' || route.id === 'listarEntregas') continue;
      const text = JSON.stringify(answer.body);
      assert.ok(
        b.words.some((word) => text.includes(word)),
        `${where}: ${text}`,
      );
    }
  });
});
