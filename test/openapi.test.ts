/**
 * The public description and the service agree. Every example of the description is repeated, and every answer is checked against its
 * schema. Requests drawn from the schemas find no undeclared status, header, code or shape.
 *
 * NFSE_GRAVAR_EXEMPLOS=1 (`npm run exemplos`) writes the examples down; NFSE_TEST_LONGO=1 draws thousands; NFSE_TEST_SEMENTE=N draws those
 * of a seed.
 */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { DESCRIBED_DOOR } from '../src/doors/rest/described-door.ts';
import { ROUTES } from '../src/doors/rest/routes.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { ALL_RULES } from '../src/fiscal/rules/rules.ts';
import { exemploDe, TIPOS_EVENTO } from '../src/fiscal/tipos-evento.ts';
import { EXAMPLE_SITE } from '../src/published/openapi/examples.ts';
import { describeApi, describeApiShortly, openapiText } from '../src/published/openapi/openapi.ts';
import { exampleDoor, exampleService, makeExemplos, PRODUCTION_SLUG, send } from './support/exemplos.ts';
import { type Corpus, caseOf } from './support/fuzz.ts';
import { ask, request } from './support/http.ts';
import { NO_SUCH_KEY } from './support/notas.ts';
import { type Described, describedBy } from './support/openapi.ts';
import { jsonOf } from './support/operacoes.ts';
import { drawnFrom, requestOf } from './support/schema-arbitrary.ts';
import fc, { LONG, SEED } from './support/seed.ts';

const DRAWN = LONG ? 5_000 : 400;
const FILE = new URL('../src/published/openapi/exemplos.json', import.meta.url);

// biome-ignore lint/suspicious/noExplicitAny: a document is looked at place by place
const document = describeApi(DESCRIBED_DOOR) as any;
const described: Described = describedBy(document);
const service = await exampleService();
const made = await makeExemplos(service.address);
/**
 * Answers of other operations to the requests of examples. They come first, because the tests use up an address' allowance of failed
 * requests.
 */
const alike: (Awaited<ReturnType<typeof send>> & { readonly id: string; readonly of: object })[] = [];
for (const { exemplo } of made) {
  for (const id of exemplo.tambem ?? []) {
    alike.push({ ...(await send(service.address, id, exemplo.pedido)), id, of: exemplo });
  }
}

/** The description was made before the examples: a recording checks nothing, and the description is made again after it. */
const IS_RECORDING = process.env['NFSE_GRAVAR_EXEMPLOS'] === '1';
const skip = IS_RECORDING && 'os exemplos são gravados, e não conferidos';

test('the examples are written down', { skip: !IS_RECORDING && 'é de npm run exemplos' }, () => {
  const lines = made.map(({ exemplo }) => JSON.stringify(exemplo));
  writeFileSync(FILE, `[\n${lines.join(',\n')}\n]\n`);
});

/** The served text without the commit of the program, which is in no committed file. */
const withoutCommit = (text: string): string => text.replace(/("version":"\d+\.\d+\.\d+)\+[0-9a-f]{12}"/, '$1"');

describe('the document', { skip }, () => {
  test('is OpenAPI 3.1, says an independent validator', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    assert.ok(valid, JSON.stringify(errors, null, 2));
    assert.equal(validator.version, '3.1');
  });

  test('every schema in it is one of JSON Schema 2020-12, and every reference leads somewhere', () => {
    // Compiled strictly: a misspelt keyword or a dangling reference throws.
    for (const name of Object.keys(document.components.schemas)) described.schema(name);
    const text = JSON.stringify(document);
    for (const [, ref] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = ref!.split('/').reduce((place, step) => place?.[step], document);
      assert.ok(found !== undefined, ref!);
    }
  });

  test('tells the number of the NFS-e from that of the DPS, which the names do not', () => {
    const { properties } = document.components.schemas.Nota;
    for (const name of ['numero', 'numero_dps'])
      assert.match(properties[name].description, /sequencial da NFS-e/, name);
    assert.match(properties.numero_dps_nacional.description, /número da própria DPS/);
  });

  test('types what is counted as an integer, in addresses and in bodies', () => {
    const all = JSON.stringify(document);
    assert.ok(!all.includes('"type":"number"'), 'amounts are texts, and the rest is whole');
    type Named = { readonly name: string; readonly description: string; readonly schema?: { readonly type?: string } };
    const parameters = Object.values<Record<string, { parameters?: readonly Named[] }>>(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap((operation) => operation.parameters ?? []);
    const counts = parameters.filter(({ description }) =>
      /^(?:Segundos|Itens por|Mudanças por|Página|Sequência)/.test(description ?? ''),
    );
    assert.deepEqual(
      new Set(counts.map(({ name }) => name)),
      new Set(['espera', 'limite', 'num_seq_evento', 'page', 'per_page']),
    );
    for (const { name, schema } of counts) assert.equal(schema?.type, 'integer', name);
  });

  test('has every row of the route table once, with a name of its own', () => {
    const operations = Object.entries<Record<string, { operationId?: string }>>(document.paths).flatMap(
      ([path, methods]) =>
        Object.entries(methods)
          .filter(([, { operationId }]) => operationId !== undefined)
          .map(([method, { operationId }]) => ({ path, method, id: operationId! })),
    );
    assert.equal(new Set(operations.map(({ id }) => id)).size, operations.length);
    for (const { id, method, path } of ROUTES) {
      const own = operations.filter((one) => one.id === id);
      assert.deepEqual(own, [{ id, method: method.toLowerCase(), path: path.replace(/:(\w+)/g, '{$1}') }]);
    }
  });

  test('is what the committed file holds, and is served at the address of whoever asks', async () => {
    const response = await fetch(`${service.address}/openapi.json`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.match(response.headers.get('cache-control')!, /^private, max-age=\d+$/);
    const text = await response.text();
    assert.deepEqual(JSON.parse(withoutCommit(text)), JSON.parse(JSON.stringify(document)));
    const committed = readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8');
    assert.deepEqual(
      JSON.parse(committed),
      JSON.parse(JSON.stringify(describeApiShortly(DESCRIBED_DOOR))),
      'run npm run generate',
    );

    const again = await fetch(`${service.address}/openapi.json`, {
      headers: { 'If-None-Match': response.headers.get('etag')! },
    });
    assert.equal(again.status, 304);
    const zipped = await fetch(`${service.address}/openapi.json`, { headers: { 'Accept-Encoding': 'gzip' } });
    assert.equal(zipped.headers.get('content-encoding'), 'gzip');
    assert.ok(Number(zipped.headers.get('content-length')) < text.length / 4);
    assert.equal(await zipped.text(), text);
    assert.ok(withoutCommit(openapiText(EXAMPLE_SITE)) === JSON.stringify(document), 'npm run generate');
    const elsewhere = JSON.parse(openapiText('http://localhost:8080'));
    assert.equal(elsewhere.servers[0].url, 'http://localhost:8080/{municipio}');
    assert.doesNotMatch(JSON.stringify(elsewhere), /nfse\.exemplo\.gov\.br/);
  });

  test('speaks Portuguese: nothing is without words', () => {
    for (const [path, methods] of Object.entries<Record<string, Record<string, unknown>>>(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        if (operation['operationId'] === undefined) continue;
        assert.match(String(operation['summary']), /^\p{Lu}.{3,}[^.]$/u, `${method} ${path}`);
        for (const parameter of (operation['parameters'] ?? []) as { name: string; description: string }[]) {
          assert.match(parameter.description, /^\p{L}.{3,}/u, `${path} ${parameter.name}`);
        }
      }
    }
  });
});

describe('the examples', { skip }, () => {
  test('say today what was written down, to the letter', () => {
    assert.deepEqual(
      made.map(({ exemplo }) => exemplo),
      JSON.parse(readFileSync(FILE, 'utf8')),
      'npm run exemplos records them anew',
    );
  });

  for (const { exemplo, response, text } of made) {
    const { id, nome, pedido } = exemplo;
    test(`${id}: ${nome}`, () => {
      described.assertAnswer(id, response, text);
      if (pedido.corpo !== undefined && exemplo.status < 300 && typeof pedido.corpo === 'object') {
        described.assertBody(id, pedido.corpo);
      }
    });
  }

  test('every operation has one that is answered well', () => {
    const answered = new Set(made.filter(({ exemplo }) => exemplo.status < 400).map(({ exemplo }) => exemplo.id));
    const missing = ROUTES.filter(({ id, status }) => status < 400 && !answered.has(id)).map(({ id }) => id);
    assert.deepEqual(missing, []);
  });

  for (const { exemplo } of made.filter(({ exemplo: { tambem } }) => tambem !== undefined)) {
    const { id: owner, nome, tambem = [], resposta } = exemplo;
    test(`${owner}: ${nome} is what ${tambem.join(', ')} answer too`, () => {
      for (const { id, response, text } of alike.filter(({ of }) => of === exemplo)) {
        assert.deepEqual([response.status, JSON.parse(text)], [exemplo.status, resposta], id);
        described.assertAnswer(id, response, text);
      }
    });
  }

  test('a request of issuance that is tried twice issues twice', async () => {
    const issued = document.paths['/api/v1/nfse/v101'].post.requestBody.content;
    for (const [type, names] of [
      ['application/xml', ['xml']],
      ['application/json', ['json']],
    ] as const) {
      for (const name of names) {
        const corpo = issued[type].examples[name].value;
        const keys = new Set<string>();
        for (let times = 0; times < 2; times += 1) {
          const pedido = { municipio: 'integracao', cabecalhos: { 'Content-Type': type }, corpo };
          const { response, text } = await send(service.address, 'emitirNota', pedido);
          assert.equal(response.status, 201, text);
          keys.add(JSON.parse(text).chave_acesso);
        }
        assert.equal(keys.size, 2);
      }
      // A viewer shows the first one first.
      assert.equal(Object.keys(issued[type].examples)[0], names[0]);
    }
  });

  test('no answer in JSON is without one, none is shown twice, and each fits its schema', () => {
    let count = 0;
    for (const [path, methods] of Object.entries<Record<string, Place>>(document.paths)) {
      for (const [method, { responses }] of Object.entries(methods)) {
        for (const [status, direct] of Object.entries<Place>(responses ?? {})) {
          const { content } = direct.$ref === undefined ? direct : placeOf(direct.$ref);
          const json = content?.['application/json'];
          if (json === undefined) continue;
          const shown = [json.example, ...Object.values<Place>(json.examples ?? {}).map((one) => shownBy(one))];
          const told = shown.filter((one) => one !== undefined).map((one) => JSON.stringify(one));
          assert.ok(told.length > 0, `${method} ${path} ${status} has no example`);
          assert.equal(new Set(told).size, told.length, `${method} ${path} ${status}`);
          if (Number(status) >= 400 && json.schema.allOf !== undefined) {
            const [, { properties }] = json.schema.allOf;
            const [listed = properties.codigo_erro, dps] = properties.codigo_erro.anyOf ?? [];
            const codes = [...listed.enum, ...(dps === undefined ? [] : placeOf(dps.$ref).enum)];
            for (const one of shown.filter((one) => one !== undefined)) assert.ok(codes.includes(one.codigo_erro));
          }
          count += 1;
        }
      }
    }
    assert.ok(count > 200, String(count));
  });

  test('what no ordinary request meets is answered as it is shown', async () => {
    const shown = (name: string): unknown => document.components.examples[name].value;
    const validacao = '/integracao/api/v1/nfse/v101/validacao';
    const nota = `/integracao/api/v1/nfse/${NO_SUCH_KEY}`;
    const gone = (): Promise<never> => Promise.reject(new Error('connection refused'));
    const { municipios, notas } = service.store;
    const fails = { ...service.store, notas: { ...notas, findByChave: gone } };
    const broken = await exampleDoor({ ...service.world, store: fails });
    const alone = await exampleDoor(service.world);
    await fetch(`${broken}${nota}`).then((response) => response.text());
    const ask = (): Promise<{ readonly status: number; readonly body: unknown }> => request(alone, nota);
    await Promise.all(Array.from({ length: 55 }, ask));
    let limited = await ask();
    // The first refusal is less than a second away from the next allowance.
    for (let asked = 0; limited.status === 404 && asked < 500; asked += 1) limited = await ask();
    for (const [name, path, init] of [
      ['RequisicaoInvalida', '/integracao/api/v1/nfse/%zz', {}],
      ['MunicipioDesconhecido', nota.replace('integracao', 'cidade'), {}],
      [
        'CorpoGrandeDemais',
        validacao,
        { method: 'POST', headers: { 'Content-Type': 'application/xml' }, body: 'x'.repeat(2 ** 20 + 1) },
      ],
      ['EnderecoLongoDemais', `${nota}?${'x'.repeat(3_000)}`, {}],
      ['CabecalhosGrandesDemais', nota, { headers: { 'X-Largo': 'x'.repeat(40_000) } }],
    ] as const) {
      const { status, body } = await request(service.address, path, init);
      assert.deepEqual(body, shown(name), `${name} ${status}`);
    }
    assert.deepEqual(limited.body, shown('ConsultasDemais'));
    const failed = await fetch(`${broken}${nota}`);
    const id = failed.headers.get('x-request-id')!;
    const [example] = /[0-9a-f-]{36}/.exec(JSON.stringify(shown('ErroInterno')))!;
    assert.deepEqual(JSON.parse((await failed.text()).replaceAll(id, example)), shown('ErroInterno'));
    Object.assign(fails, { municipios: { ...municipios, findBySlug: gone }, ping: gone });
    assert.deepEqual((await request(broken, nota)).body, shown('Indisponivel'));
    assert.deepEqual(await answerToExpect(`${service.address}${nota}`), shown('ExpectDesconhecido'));
  });

  test('what the service says outside of a municipality', async () => {
    for (const [path, id] of [
      ['/health/live', 'saudeVivo'],
      ['/health/ready', 'saudePronto'],
      ['/docs/erros.json', 'tabelaDeErros'],
      ['/openapi.json', 'descricao'],
    ] as const) {
      const response = await fetch(`${service.address}${path}`);
      described.assertAnswer(id, response, await response.text());
    }
  });
});

// biome-ignore lint/suspicious/noExplicitAny: a document is looked at place by place
type Place = any;

function placeOf(ref: string): Place {
  return ref
    .slice(2)
    .split('/')
    .reduce((place, step) => place[step], document);
}

function shownBy(example: Place): Place {
  return example.$ref === undefined ? example.value : placeOf(example.$ref).value;
}

/** `fetch` cannot send this header. */
function answerToExpect(url: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { headers: { Expect: 'outra-coisa' } }, (response) => json(response).then(resolve, reject));
    asked.on('error', reject);
  });
}

describe('the body of issuance', { skip }, () => {
  test('the schema admits every document that the rules accept', () => {
    let count = 0;
    for (const { accepts } of ALL_RULES) {
      for (const patch of accepts) {
        const body = jsonWith(patch);
        if (body === undefined) continue;
        count += 1;
        described.assertBody('emitirNota', body);
      }
    }
    assert.ok(count > 100, String(count));
  });

  test('what the schema refuses, the service refuses', async () => {
    const valid = JSON.parse(jsonOf(exampleXml({ serie: '1', nDPS: '1' })));
    const notas = (notas_referenciadas: unknown) => ({ ibscbs: { ...valid.ibscbs, notas_referenciadas } });
    const bent: Record<string, unknown>[] = [
      { nome_que_nao_existe: '1' },
      { descricao_servico: '' },
      { descricao_servico: 'x'.repeat(2_001) },
      { codigo_tributacao_nacional: 10101 },
      { valor_servico: '-1.00' },
      { valor_servico: 1e15 },
      { valor_servico: ['1.00'] },
      { aliquota_issqn: '100.01' },
      { tributacao_issqn: '9' },
      { data_competencia: '2026-13-01' },
      { tomador_endereco: 'Praça da Sé' },
      notas('1'),
      notas(['1']),
      ...document.components.schemas.CorpoDaDps.required.map((name: string) => ({ [name]: undefined })),
    ];
    for (const change of bent) {
      const corpo = JSON.parse(JSON.stringify({ ...valid, ...change }));
      const about = JSON.stringify(change, (_name, value) => value ?? null).slice(0, 300);
      assert.ok(!described.admits('emitirNota', corpo), `the schema admits ${about}`);
      const cabecalhos = { 'Content-Type': 'application/json' };
      const { response, text } = await send(service.address, 'validarDps', {
        municipio: 'integracao',
        cabecalhos,
        corpo,
      });
      assert.equal(response.status, 422, `${about}: ${text.slice(0, 500)}`);
      described.assertAnswer('validarDps', response, text);
    }
  });
});

/** A patch as a JSON body; undefined if no body can express it. */
function jsonWith(patch: Parameters<typeof exampleXml>[0]): unknown {
  try {
    const declared = Object.keys(patch ?? {}).some((name) => name.startsWith('='));
    return declared ? undefined : JSON.parse(jsonOf(exampleXml(patch)));
  } catch {
    return undefined;
  }
}

describe('requests drawn from the schemas', { skip }, () => {
  const bodies = drawnFrom(document, { $ref: '#/components/schemas/CorpoDaDps' });
  const eventos = drawnFrom(document, { $ref: '#/components/schemas/PedidoDeEvento' });

  test(`${DRAWN} bodies of issuance that the schema admits: no answer is undocumented, no property unknown`, async () => {
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(
        bodies,
        fc.constantFrom('emitirNota', 'validarDps', 'verificarAssinatura'),
        async (corpo, id) => {
          described.assertBody('emitirNota', corpo);
          const cabecalhos = { 'Content-Type': 'application/json' };
          const { response, text } = await send(service.address, id, { municipio: 'integracao', cabecalhos, corpo });
          described.assertAnswer(id, response, text);
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
          // The schema has every name and every type of value.
          if (response.status === 422 && id !== 'verificarAssinatura') {
            for (const { codigo, mensagem } of JSON.parse(text).erros) {
              assert.ok(!['E0010', 'E0001', 'E203'].includes(codigo), `${codigo} ${mensagem}`);
            }
          }
        },
      ),
      { numRuns: DRAWN, seed: SEED, endOnFailure: true },
    );
    assert.ok(statuses.has(422), JSON.stringify([...statuses]));
  });

  test(`${DRAWN} requests of any operation, with parameters and headers as the description has them`, async () => {
    const chaves = made
      .filter(({ exemplo }) => exemplo.id === 'emitirNota' && exemplo.status === 201)
      .map(({ exemplo }) => exemplo.resposta as { chave_acesso: string; numero_protocolo: string });
    const requests = fc
      .constantFrom(...ROUTES)
      .chain((route) => requestOf(document, route, { chaves, bodies, eventos }));
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(requests, async ({ id, pedido }) => {
        const { response, text } = await send(service.address, id, pedido);
        described.assertAnswer(id, response, text);
        seen.add(`${id} ${response.status}`);
      }),
      { numRuns: DRAWN, seed: SEED, endOnFailure: true },
    );
    assert.ok(seen.size > 20, [...seen].join(', '));
  });

  test(`${DRAWN} documents bent at random are answered as it is described`, async () => {
    const notas = made.flatMap(({ exemplo: { id, status, resposta } }) => {
      if (id !== 'emitirNota' || status !== 201) return [];
      const { chave_acesso, numero_protocolo } = resposta as { chave_acesso: string; numero_protocolo: string };
      return [{ chave: chave_acesso, protocolo: numero_protocolo }];
    });
    const corpus: Corpus = {
      xml: [exampleXml()],
      json: [jsonOf(exampleXml())],
      evento: TIPOS_EVENTO.map((tipo) => JSON.stringify(exemploDe(tipo))),
      notas,
      tenants: ['integracao', 'integracao', 'integracao', PRODUCTION_SLUG, 'ninguem'],
    };
    const posts = ROUTES.filter(({ method }) => method === 'POST').map(({ id, path }) => ({
      id,
      pattern: new RegExp(`^/[^/]+${path.replace(/:\w+/g, '[^/]+')}$`),
    }));
    let answered = 0;
    for (let index = 0; index < DRAWN; index += 1) {
      const { path, headers, body } = caseOf(corpus, SEED, index);
      const { pathname } = new URL(path, service.address);
      const id = posts.find(({ pattern }) => pattern.test(pathname))?.id;
      // The last one is the address of a protocol number, which does not accept POST.
      if (id === undefined || pathname.endsWith('/nfse/protocolo/eventos')) continue;
      const { text, ...response } = await ask(service.address + path, {
        method: 'POST',
        headers,
        body: body as Uint8Array<ArrayBuffer>,
      });
      described.assertAnswer(id, response, text);
      answered += 1;
    }
    assert.ok(answered > DRAWN / 2, String(answered));
  });

  test('a municipality in production answers as it is described', async () => {
    const cabecalhos = { 'Content-Type': 'application/json' };
    await fc.assert(
      fc.asyncProperty(bodies, eventos, async (corpo, evento) => {
        const pedido = { municipio: PRODUCTION_SLUG, cabecalhos };
        const issued = await send(service.address, 'emitirNota', { ...pedido, corpo });
        described.assertAnswer('emitirNota', issued.response, issued.text);
        const parametros = { chave_acesso: NO_SUCH_KEY };
        const registered = await send(service.address, 'registrarEvento', { ...pedido, parametros, corpo: evento });
        described.assertAnswer('registrarEvento', registered.response, registered.text);
      }),
      { numRuns: 30, seed: SEED, endOnFailure: true },
    );
  });
});
