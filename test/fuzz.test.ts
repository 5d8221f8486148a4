/**
 * Every answer to any bytes is one of the public table, in our envelope. There is no internal error and no silence, and the memory does not
 * grow. Many concurrent real HTTP requests go to the sandbox and to a municipality in production.
 *
 * NFSE_TEST_LONGO=1 sends a hundred thousand. NFSE_TEST_SEMENTE=N sends those of a seed again, NFSE_TEST_CASO=N one of them.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { describe, test } from 'node:test';
import { ERRORS, errorOf } from '../src/fiscal/errors.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { exemploDe, TIPOS_EVENTO } from '../src/fiscal/tipos-evento.ts';
import { atOnce } from './support/at-once.ts';
import { onEnd } from './support/cleanup.ts';
import { type Corpus, caseOf, type FuzzCase, withWordsOfObjects } from './support/fuzz.ts';
import { assertHoldsNothing } from './support/heap.ts';
import { jsonOf, operacoes, xmlOf } from './support/operacoes.ts';
import fc, { LONG, SEED } from './support/seed.ts';
import { startTestService } from './support/service.ts';
import { signedBy, testParties } from './support/signatures.ts';
import { startStopwatch } from './support/until.ts';

const ONLY = process.env['NFSE_TEST_CASO'];
const CASES = LONG ? 100_000 : 3_000;
const ARBITRARY = LONG ? 3_000 : 300;
const IN_FLIGHT = 16;
/** An answer slower than this counts as hung; the largest bodies take a part of a second. */
const ANSWER_MAX_MS = 300_000;

const service = await startTestService({ worker: false });
await service.store.municipios.create(
  { tenant: 'sao-paulo', ambiente: 'producao', codigoIbge: '3550308' },
  service.clock.now,
);
const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
onEnd(() => agent.destroy());

/** Notes for the events, enough that none gets thousands. */
const NOTAS = 30;

async function issuedNotas(): Promise<Corpus['notas']> {
  const body = Buffer.from(exampleXml());
  const headers = { 'Content-Type': 'application/xml' };
  const notas = [];
  while (notas.length < NOTAS) {
    const { status, text } = await post({ path: '/integracao/api/v1/nfse/v101', headers, body });
    assert.equal(status, 201, text);
    const { chave_acesso, numero_protocolo } = JSON.parse(text);
    notas.push({ chave: chave_acesso, protocolo: numero_protocolo });
  }
  return notas;
}

const { provider } = await testParties(service.clock.now);

const drawn = fc.sample(operacoes, { numRuns: 40, seed: SEED });
const corpus: Corpus = {
  xml: [exampleXml(), ...drawn.map(xmlOf)],
  json: [jsonOf(exampleXml()), ...drawn.map((one, place) => jsonOf(xmlOf(one), place % 2 === 1))],
  evento: TIPOS_EVENTO.map((tipo) => JSON.stringify(exemploDe(tipo))),
  notas: await issuedNotas(),
  tenants: [...Array<string>(14).fill('integracao'), ...Array<string>(5).fill('sao-paulo'), 'ninguem'],
};

type Reply = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

type Sent = Pick<FuzzCase, 'path' | 'headers' | 'body'>;

async function post({ path, headers, body }: Sent): Promise<Reply> {
  const request = httpRequest(service.address + path, {
    method: 'POST',
    agent,
    headers: { ...headers, 'Content-Length': body.length },
    signal: AbortSignal.timeout(ANSWER_MAX_MS),
  });
  request.end(body);
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') };
}

const KNOWN: ReadonlySet<number> = new Set(ERRORS.flatMap(({ statuses }) => statuses).filter((status) => status < 500));

/** The fault of an answer; undefined if the public table knows the answer. */
function problemOf({ status, headers, text }: Reply): string | undefined {
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(String(headers['x-request-id']))) return 'no X-Request-Id';
  if (status >= 500) return 'a failure of ours';
  if (!KNOWN.has(status) && status !== 200 && status !== 201) return `status ${status} is in no table`;
  if (headers['content-type']?.startsWith('text/plain') && status === 200) return undefined;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return 'the body is no JSON';
  }
  if (status < 300) return (body as { status?: unknown }).status === 'OK' ? undefined : 'success without status OK';
  return problemOfEnvelope(body as Record<string, unknown>, status);
}

/** Internal words that must not appear in an answer. */
const INTERNAL =
  /node_modules|\[native code|\.ts:\d|\bat [\w.]+ \(|\[object |\bundefined\b.*\bis not\b|ECONN|postgres|libxml/;

function problemOfEnvelope(body: Record<string, unknown>, status: number): string | undefined {
  const { codigo_erro, mensagem, detalhes, timestamp, erros } = body;
  const row = errorOf(String(codigo_erro));
  if (row === undefined) return `code ${codigo_erro} is in no table`;
  if (!row.statuses.includes(status)) return `${codigo_erro} is not answered with ${status}`;
  if (typeof mensagem !== 'string' || !/^\S[\s\S]*\.$/.test(mensagem)) return 'the message is no sentence';
  if (detalhes === undefined || detalhes === null || detalhes === '') return 'no details';
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/.test(String(timestamp))) return 'no timestamp';
  if (!Array.isArray(erros) || erros.length === 0 || erros[0].codigo !== codigo_erro) return 'no list of errors';
  for (const { codigo, mensagem: said, doc_url } of erros) {
    if (errorOf(codigo) === undefined) return `code ${codigo} is in no table`;
    if (typeof said !== 'string' || said === '' || !String(doc_url).endsWith(`/${codigo}`)) return `${codigo} is bare`;
    const internal = INTERNAL.exec(said);
    if (internal !== null) return `the message speaks of ${internal[0]}`;
  }
  return undefined;
}

/** All details of a case that a developer needs. */
function told(sent: Sent, reply: Reply | undefined, problem: string): string {
  const body = sent.body.length > 6_000 ? `${sent.body.length} bytes` : sent.body.toString('base64');
  const answer = reply === undefined ? '' : `\nanswer ${reply.status} ${reply.text.slice(0, 2_000)}`;
  return `${problem}\nPOST ${sent.path} ${JSON.stringify(sent.headers)}\nbody in base64: ${body}${answer}`;
}

async function assertAnswered(sent: Sent, about = ''): Promise<Reply> {
  let reply: Reply;
  try {
    reply = await post(sent);
  } catch (error) {
    assert.fail(told(sent, undefined, `${about}no answer: ${error}`));
  }
  const problem = problemOf(reply);
  if (problem !== undefined) assert.fail(told(sent, reply, about + problem));
  return reply;
}

const nfse = (body: string | Buffer, type: string): Sent => ({
  path: '/integracao/api/v1/nfse/v101',
  headers: { 'Content-Type': type },
  body: Buffer.from(body as string),
});

const mebibytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);

describe('documents bent at random', () => {
  test(`${CASES} of them, seed ${SEED}, are answered as the public table says, and leave nothing behind`, async (context) => {
    const histogram = new Map<number, number>();
    const took = startStopwatch();
    const all = ONLY === undefined ? CASES : Number(ONLY) + 1;
    let next = ONLY === undefined ? 0 : Number(ONLY);
    const senderUntil = async (end: number): Promise<void> => {
      while (next < end) {
        const one = caseOf(corpus, SEED, next);
        next += 1;
        const about = `seed ${SEED}, case ${one.index} (${one.done.join(', ')}): `;
        const { status } = await assertAnswered(one, about);
        histogram.set(status, (histogram.get(status) ?? 0) + 1);
      }
    };
    const send = (end: number): Promise<unknown> =>
      Promise.all(Array.from({ length: IN_FLIGHT }, () => senderUntil(end)));
    // The log of the test service keeps a line for each request.
    if (ONLY === undefined) await assertHoldsNothing(context, all, send, () => (service.logged.length = 0));
    else await send(all);

    const counts = [...histogram].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    context.diagnostic(`seed ${SEED}: ${all} cases in ${took()}; ${counts.join(', ')}`);
    context.diagnostic(`resident MiB ${mebibytes(process.memoryUsage().rss)}`);
    if (ONLY !== undefined) return;
    for (const wanted of [200, 201, 400, 401, 404, 410, 422])
      assert.ok(histogram.has(wanted), `none was answered ${wanted}`);
  });
});

describe('bytes without any sense', () => {
  const types = fc.constantFrom('application/xml', 'text/xml', 'application/json');
  const send = (body: fc.Arbitrary<string | Buffer>): Promise<void> =>
    fc.assert(
      fc.asyncProperty(body, types, async (bytes, type) => void (await assertAnswered(nfse(bytes, type)))),
      { numRuns: ARBITRARY },
    );

  test('noise', () => send(fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes))));
  test('any text', () => send(fc.string({ unit: 'grapheme', maxLength: 400 })));
  test('any JSON', () => send(fc.json({ maxDepth: 6 })));
  test('an XML of any names and texts', () => send(anyXml));
});

const anyXml: fc.Arbitrary<string> = fc.letrec<{ node: string; element: string }>((tie) => ({
  node: fc.oneof({ maxDepth: 6 }, fc.string({ maxLength: 12 }), tie('element')),
  element: fc
    .tuple(
      fc.constantFrom('DPS', 'infDPS', 'prest', 'CNPJ', 'serv', 'valores', 'trib', 'vServ', 'IBSCBS', 'Signature', 'a'),
      fc.constantFrom('', ' versao="1.01"', ' Id="DPS1"', ' xmlns="http://www.sped.fazenda.gov.br/nfse"'),
      fc.array(tie('node'), { maxLength: 4 }),
    )
    .map(([name, attribute, inside]) => `<${name}${attribute}>${inside.join('')}</${name}>`),
})).element;

describe('words that every object has, in the place of each name and value', () => {
  const sent = (done: readonly string[], path: string, type: string, body: Buffer): Promise<Reply> =>
    assertAnswered({ path, headers: { 'Content-Type': type }, body }, `${done}: `);
  const documents = { integracao: exampleXml(), 'sao-paulo': signedBy(exampleXml(), provider) };
  for (const [tenant, document] of Object.entries(documents)) {
    const path = `/${tenant}/api/v1/nfse/v101`;
    test(`of a DPS in XML, to ${tenant}`, () =>
      atOnce(withWordsOfObjects(document, 'xml'), ({ body, done }) => sent(done, path, 'application/xml', body)));
    test(`of a DPS in JSON, to ${tenant}`, () =>
      atOnce(withWordsOfObjects(jsonOf(exampleXml()), 'json'), ({ body, done }) =>
        sent(done, path, 'application/json', body),
      ));
  }

  test('of the request of each event', () => {
    const cases = corpus.evento.flatMap((one) => withWordsOfObjects(one, 'json'));
    return atOnce(cases.entries(), ([place, { body, done }]) => {
      const { chave } = corpus.notas[place % NOTAS]!;
      return sent(done, `/integracao/api/v1/nfse/v101/${chave}/eventos`, 'application/json', body);
    });
  });
});

/** Cases that once got a wrong answer, or none. */
describe('cases that failed once', () => {
  test('a property with white space in its name is told between quotation marks', async () => {
    const names = {
      ' ': 'A propriedade " "',
      ' numero_dps': 'A propriedade " numero_dps"',
      '': 'A propriedade de nome vazio',
    };
    for (const [name, subject] of Object.entries(names)) {
      const { status, text } = await assertAnswered(nfse(JSON.stringify({ [name]: null }), 'application/json'));
      assert.equal(status, 422);
      assert.ok(JSON.parse(text).mensagem.startsWith(`${subject} não é um campo do corpo JSON`), text);
    }
  });
});
