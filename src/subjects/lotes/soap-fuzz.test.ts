/**
 * Every envelope posted to the legacy port gets an envelope back: the operation's answer with a document of the model, or a fault of the
 * sender. Internal errors, internal words, missing answers and growing memory are failures. Each accepted lot ends in the worker.
 *
 * NFSE_TEST_LONGO=1 sends fifty thousand. NFSE_TEST_SEMENTE=N repeats those of a seed, NFSE_TEST_CASO=N one of them.
 */
import assert from 'node:assert/strict';
import { Agent, request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { atOnce } from '../../../test/support/at-once.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { bentXml, chanceOfCase, withWordsOfObjects } from '../../../test/support/fuzz.ts';
import { assertHoldsNothing } from '../../../test/support/heap.ts';
import {
  ABRASF,
  cancelamentoXml,
  consultaXml,
  escaped,
  loteXml,
  porProtocolo,
  porRpsXml,
} from '../../../test/support/rps.ts';
import { LONG, SEED } from '../../../test/support/seed.ts';
import { startTestService } from '../../../test/support/service.ts';
import type { Chance } from '../../../test/support/signatures.ts';
import { until } from '../../../test/support/until.ts';
import { readXml } from '../../documents/xml.ts';
import { createRestDoor } from '../../doors/rest/door.ts';
import { CODIGOS, MENSAGENS_MAX } from '../../fiscal/abrasf/mensagens.ts';
import type { Elemento } from '../../fiscal/layout/tree.ts';
import { processLotes } from './lotes.job.ts';
import { OPERACOES } from './porto.ts';

const ONLY = process.env['NFSE_TEST_CASO'];
const CASES = LONG ? 50_000 : 500;
/** Accepted lots that are processed to their end, at most. */
const LOTES_MAX = LONG ? 2_000 : 20;
const IN_FLIGHT = 16;
const ANSWER_MAX_MS = 300_000;

const NAMESPACES = {
  '1.1': 'http://schemas.xmlsoap.org/soap/envelope/',
  '1.2': 'http://www.w3.org/2003/05/soap-envelope',
} as const;

const SIGNATURE =
  '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo><CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/><SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/><Reference URI="#lote9"><Transforms><Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/></Transforms><DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><DigestValue>AAAA</DigestValue></Reference></SignedInfo><SignatureValue>AAAA</SignatureValue><KeyInfo><X509Data><X509Certificate>MIIB</X509Certificate></X509Data></KeyInfo></Signature>';
const SUBSTITUIDO = { numero: '1', serie: '1', tipo: '1' };

/** Each operation with its documents. */
const DOCUMENTS: readonly (readonly [operacao: string, documento: string])[] = [
  ...[
    loteXml([{ numero: 1 }]),
    loteXml([{ numero: 2 }, { numero: 3, natureza: '3', regime: '4', simples: '1' }], { numero: '2' }),
    loteXml([{ numero: 4, natureza: '4', item: '17.19', codigoMunicipal: '719' }], { numero: '3' }),
    loteXml([{ numero: 5, substituido: SUBSTITUIDO }], { numero: '4' }),
    loteXml([{ numero: 6, serie: '9' }], { numero: '9' }).replace('</EnviarLoteRpsEnvio>', `${SIGNATURE}$&`),
  ].map((documento) => ['RecepcionarLoteRps', documento] as const),
  ['ConsultarSituacaoLoteRps', porProtocolo('ConsultarSituacaoLoteRpsEnvio', '20261121120000123')],
  ['ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', '20261121120000123')],
  ['ConsultarNfsePorRps', porRpsXml(1)],
  [
    'ConsultarNfse',
    consultaXml(
      '<NumeroNfse>1</NumeroNfse><PeriodoEmissao><DataInicial>2026-11-01</DataInicial><DataFinal>2026-11-20</DataFinal></PeriodoEmissao><Tomador><CpfCnpj><Cpf>52998224725</Cpf></CpfCnpj></Tomador><IntermediarioServico><RazaoSocial>X</RazaoSocial><CpfCnpj><Cnpj>11222333000181</Cnpj></CpfCnpj></IntermediarioServico>',
    ),
  ],
  ['CancelarNfse', cancelamentoXml('1')],
];
const TEXTS = DOCUMENTS.map(([, documento]) => documento);

/** Malicious envelopes and documents. */
const ATTACKS: readonly ((inside: string) => string)[] = [
  (inside) =>
    `<!DOCTYPE e [<!ENTITY a "aaaaaaaaaa">${'abcdefg'.replace(/./g, (one, at) => `<!ENTITY ${one}${at} "${'&a;'.repeat(10)}">`)}]>${inside.replace('>', '>&a;')}`,
  (inside) => `<!DOCTYPE e [<!ENTITY x SYSTEM "file:///etc/passwd">]>${inside.replace('>', '>&x;')}`,
  (inside) => `<!DOCTYPE e SYSTEM "http://127.0.0.1:1/x.dtd">${inside}`,
  (inside) => `<!DOCTYPE e [<!ENTITY % p SYSTEM "http://127.0.0.1:1/x"> %p;]>${inside}`,
  (inside) => inside.replace('>', '>&nada;'),
  (inside) => inside.replace('>', `>${'<a>'.repeat(5_000)}${'</a>'.repeat(5_000)}`),
  (inside) => inside.replace('>', `>${'<a/>'.repeat(70_000)}`),
  (inside) => inside.replace('>', ` ${Array.from({ length: 3_000 }, (_, at) => `a${at}="x"`).join(' ')}>`),
  (inside) => inside.replace('>', ` ${Array.from({ length: 600 }, (_, at) => `xmlns:p${at}="urn:${at}"`).join(' ')}>`),
  (inside) => inside.replace('>', ` x="${'y'.repeat(200_000)}">`),
  (inside) => inside.replace('>', `><i:include xmlns:i="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/>`),
  (inside) => `<?xml-stylesheet href="file:///etc/passwd"?>${inside}`,
  (inside) => inside.replace('>', '>&#0;'),
  (inside) => inside.replace('>', '>&#xFFFF;'),
  (inside) => inside.replace('>', `><!--${'-'.repeat(1_000)}-->`),
  (inside) => `${inside}${inside}`,
  (inside) => inside.replace(/xmlns="[^"]*"/, 'xmlns="urn:outro"'),
  (inside) => inside.replace(/xmlns="[^"]*"/, 'xmlns="&lt;&quot;&gt;"'),
  (inside) => inside.replace(/xmlns="[^"]*"/, ''),
  (inside) => inside.replace(/<(\/?)([A-Z])/g, '<$1n:$2').replace('xmlns=', 'xmlns:n='),
  (inside) => inside.replace(/<(\/?)([A-Z])/g, '<$1nunca:$2'),
];

const HEADERS = [
  '<c:cabecalho xmlns:c="urn:c" versao="1"><versaoDados>1</versaoDados></c:cabecalho>',
  '',
  '<<<',
  'x'.repeat(50_000),
];
const OPERATION_NAMES = ['Apagar', 'constructor', '__proto__', 'recepcionarLoteRps', 'RecepcionarLoteRpsResponse'];
const TYPES = [
  'text/xml',
  'application/xml; charset=ISO-8859-1',
  'application/soap+xml; charset=utf-8; action=""',
  'multipart/related; type="application/xop+xml"; boundary=x',
  'text/plain',
  '',
  'TEXT/XML;;',
];
const TENANTS = [...Array<string>(12).fill('integracao'), ...Array<string>(6).fill('sao-paulo'), 'ninguem'];

type Sent = {
  readonly index: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly done: readonly string[];
};

function caseOf(seed: number, index: number): Sent {
  const chance = chanceOfCase(seed, index);
  const { below, pick } = chance;
  const done: string[] = [];
  const versao = below(4) === 0 ? '1.2' : '1.1';
  const [known, documento] = pick(DOCUMENTS);
  const operacao = below(30) === 0 ? pick(OPERATION_NAMES) : known;
  const inner = mistreated(documento, chance, 3, done);
  const text = inner.toString(below(20) === 0 ? 'latin1' : 'utf8');
  const inside = pick([
    `<parameters>${escaped(text)}</parameters>`,
    `<header>${escaped(pick(HEADERS))}</header><parameters><![CDATA[${text}]]></parameters>`,
    `<header><![CDATA[${pick(HEADERS)}]]></header><parameters>${escaped(text)}</parameters>`,
    `<parameters>${text}</parameters>`,
    text,
  ]);
  const body = `<e:Body><n:${operacao} xmlns:n="${ABRASF}">${inside}</n:${operacao}></e:Body>`;
  const heads = ['', '', '', '', '', '<e:Header/>', '<e:Header><t:T xmlns:t="urn:t" e:mustUnderstand="1"/></e:Header>'];
  const bodies = [...Array<string>(20).fill(body), body + body, ''];
  const envelope = `<e:Envelope xmlns:e="${NAMESPACES[versao]}">${below(4) === 0 ? pick(heads) : ''}${pick(bodies)}</e:Envelope>`;
  const bytes = mistreated(envelope, chance, 8, done);
  const type = below(25) === 0 ? pick(TYPES) : versao === '1.2' ? 'application/soap+xml' : 'text/xml; charset=utf-8';
  return {
    index,
    path: `/${pick(TENANTS)}/soap/nfes${below(30) === 0 ? '?wsdl' : ''}`,
    headers: {
      'Content-Type': type,
      SOAPAction: pick(['""', '', 'urn:x', '"'.repeat(300)]),
      // A client with many misses is delayed, so each request comes from a random address.
      'X-Forwarded-For': `10.${below(256)}.${below(256)}.${below(256)}`,
      ...(below(30) === 0 && { 'X-Request-Id': pick(['a', 'x'.repeat(500), '<a>']) }),
      ...(below(60) === 0 && { 'Content-Encoding': 'gzip' }),
    },
    body: bytes,
    done,
  };
}

/** One request of `oneIn` is attacked, one is mutated at random, and the others are unchanged. */
function mistreated(xml: string, chance: Chance, oneIn: number, done: string[]): Buffer {
  const what = chance.below(oneIn);
  if (what === 0) {
    const { body, done: how } = bentXml(xml, chance, TEXTS);
    done.push(...how);
    return body;
  }
  if (what !== 1) return Buffer.from(xml);
  const place = chance.below(ATTACKS.length);
  done.push(`attack ${place}`);
  return Buffer.from(ATTACKS[place]!(xml));
}

const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
onEnd(() => agent.destroy());

type Reply = { readonly status: number; readonly type: string; readonly id: unknown; readonly text: string };

function post(address: string, { path, headers, body }: Sent): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      address + path,
      {
        method: 'POST',
        agent,
        headers: { ...headers, 'Content-Length': body.length },
        signal: AbortSignal.timeout(ANSWER_MAX_MS),
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => {
          const { 'content-type': type = '', 'x-request-id': id } = response.headers;
          resolve({ status: response.statusCode!, type, id, text });
        });
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** Internal words, and words from files that must stay unread, which no answer may contain. */
const INTERNAL =
  /node_modules|\[native code|\.ts:\d|\bat [\w.]+ \(|\[object |\bundefined\b.*\bis not\b|ECONN|postgres|libxml|root:x:/;
/** Codes of the model, or of the public table with the first letter changed or absent. */
const CODE = /^(?:\d{4}|E\d{3}|L\d{1,3})$/;

const child = (parent: Elemento | undefined, name: string): Elemento | undefined =>
  parent?.children.find((one) => one.name === name);

/** The fault of an answer; undefined: it is correct. */
function problemOf({ status, type, id, text }: Reply): string | undefined {
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(String(id))) return 'no X-Request-Id';
  const internal = INTERNAL.exec(text);
  if (internal !== null) return `it speaks of ${internal[0]}`;
  const reading = readXml(Buffer.from(text));
  if ('fault' in reading) return `it is no XML: ${reading.fault.mensagem}`;
  const { root } = reading;
  const versao = root.namespace === NAMESPACES['1.2'] ? '1.2' : '1.1';
  if (root.name !== 'Envelope' || root.namespace !== NAMESPACES[versao]) return 'it is no envelope';
  if (type !== `${versao === '1.2' ? 'application/soap+xml' : 'text/xml'}; charset=utf-8`) return `type ${type}`;
  const [answer, ...more] = child(root, 'Body')?.children ?? [];
  if (answer === undefined || more.length > 0) return 'its body holds not one element';
  if (answer.name === 'Fault') {
    const code = child(answer, 'faultcode') ?? child(child(answer, 'Code'), 'Value');
    const said = child(answer, 'faultstring') ?? child(child(answer, 'Reason'), 'Text');
    if (!/^soap:(?:Client|Sender|VersionMismatch|MustUnderstand)$/.test(code?.text ?? '')) return `fault ${code?.text}`;
    if (![400, 404, 413, 415, 500].includes(status)) return `a fault with status ${status}`;
    return /^\S[\s\S]*\.$/.test(said?.text ?? '') ? undefined : 'the fault is no sentence';
  }
  if (status !== 200) return `an answer with status ${status}`;
  const operacao = OPERACOES.find((one) => `${one.operacao}Response` === answer.name);
  if (operacao === undefined) return `${answer.name} answers nothing`;
  const returned = child(answer, 'return');
  const typed = returned?.children[0];
  const inner = typed === undefined ? readXml(Buffer.from(returned?.text ?? '')) : { root: typed };
  if ('fault' in inner) return `the document is no XML: ${inner.fault.mensagem}`;
  if (inner.root.name !== operacao.resposta) return `the document is ${inner.root.name}`;
  if (inner.root.children.length === 0) return 'the document is empty';
  const lista = child(inner.root, 'ListaMensagemRetorno');
  if (lista !== undefined && lista.children.length === 0) return 'no message';
  if ((lista?.children.length ?? 0) > MENSAGENS_MAX) return 'too many messages';
  for (const one of lista?.children ?? []) {
    const [codigo, mensagem, correcao] = ['Codigo', 'Mensagem', 'Correcao'].map((name) => child(one, name)?.text);
    if (!Object.hasOwn(CODIGOS, codigo ?? '') && !CODE.test(codigo ?? '')) return `code ${codigo}`;
    if (!mensagem || mensagem.length > 200) return `message ${mensagem}`;
    if (correcao !== undefined && (correcao === '' || correcao.length > 200)) return `correction ${correcao}`;
  }
  return undefined;
}

test('envelopes bent at random', async (whole) => {
  const service = await startTestService({ worker: false });
  const { store, clock, world, pool } = service;
  await store.municipios.create({ tenant: 'sao-paulo', ambiente: 'producao', codigoIbge: '3550308' }, clock.now);
  const door = await createRestDoor(world, { host: '127.0.0.1', port: 0, trustProxy: true, accessLog: false });
  onEnd(() => door.close());
  const { address } = door;

  await whole.test(
    `${CASES} of them, seed ${SEED}, are answered in the words of SOAP and of the model`,
    async (context) => {
      const kinds = new Map<string, number>();
      const all = ONLY === undefined ? CASES : Number(ONLY) + 1;
      let next = ONLY === undefined ? 0 : Number(ONLY);
      const senderUntil = async (end: number): Promise<void> => {
        while (next < end) {
          const one = caseOf(SEED, next);
          next += 1;
          const about = `seed ${SEED}, case ${one.index} (${one.done.join(', ')}), ${one.path}`;
          // Cases name the same lots: one that waits too long for the lock of another is asked to come again.
          const reply = await until(async () => {
            const came = await post(address, one).catch((error) => assert.fail(`${about}: no answer: ${error}`));
            return came.status === 503 && /Envie de novo em \d+ s\./.test(came.text) ? undefined : came;
          }, `${about}: an answer`);
          const problem = problemOf(reply);
          if (problem !== undefined) {
            const body = one.body.length > 6_000 ? `${one.body.length} bytes` : one.body.toString('base64');
            assert.fail(`${about}: ${problem}\n${body}\nanswer ${reply.status} ${reply.text.slice(0, 2_000)}`);
          }
          const kind = /<faultcode>|<soap:Fault>/.test(reply.text) ? `fault ${reply.status}` : 'answer';
          kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        }
      };
      const send = (end: number): Promise<unknown> =>
        Promise.all(Array.from({ length: IN_FLIGHT }, () => senderUntil(end)));
      // The log of the test service keeps a line for each request.
      if (ONLY === undefined) await assertHoldsNothing(context, all, send, () => (service.logged.length = 0));
      else await send(all);
      context.diagnostic(`seed ${SEED}: ${[...kinds].map(([kind, count]) => `${kind}: ${count}`).join(', ')}`);
      if (ONLY !== undefined) return;
      for (const kind of ['answer', 'fault 400', 'fault 404', 'fault 500']) assert.ok(kinds.has(kind), `no ${kind}`);
    },
  );

  await whole.test(
    'words that every object has, in the place of each name and value, are answered so too',
    async () => {
      const cases = DOCUMENTS.flatMap(([operacao, documento], index) =>
        withWordsOfObjects(
          `<e:Envelope xmlns:e="${NAMESPACES['1.1']}"><e:Body><n:${operacao} xmlns:n="${ABRASF}">${documento}</n:${operacao}></e:Body></e:Envelope>`,
          'xml',
        ).map(({ body, done }, place) => ({
          index,
          path: `/${place % 2 === 0 ? 'integracao' : 'sao-paulo'}/soap/nfes`,
          headers: {
            'Content-Type': 'text/xml; charset=utf-8',
            SOAPAction: '""',
            'X-Forwarded-For': `10.9.${index}.${place % 256}`,
          },
          body,
          done,
        })),
      );
      await atOnce(cases, async (one) => {
        const problem = problemOf(await post(address, one));
        assert.equal(problem, undefined, `${one.path}, ${one.done}: ${problem}`);
      });
    },
  );

  await whole.test('every lot that was taken comes to its end', async () => {
    const municipio = (await store.municipios.findBySlug('integracao'))!;
    const count = async (situacao: string): Promise<number> =>
      (await pool.query(`select 1 from lotes where ${situacao}`)).rowCount!;
    const waiting = await count('situacao = 2');
    let ended = 0;
    // An internal failure throws.
    while (ended < LOTES_MAX && (await processLotes(world, municipio)).delivered === 1) ended += 1;
    assert.ok(ended > 0 || ONLY !== undefined, 'no lot was taken');
    assert.ok((await count('situacao = 2')) <= Math.max(0, waiting - ended));
    assert.equal(await count(`mensagens::text like '%L999%'`), 0);
  });
});
