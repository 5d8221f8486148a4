/**
 * The error codes of the specification, taken from its tables. Each is in the public table with its status. A document provokes it through
 * the public interface, as XML and as JSON; otherwise the reason is written down.
 */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { companyCertificate, pemOf, rootAuthority, type Validity } from '../../src/documents/pki.ts';
import { dpsIdOf } from '../../src/fiscal/chave.ts';
import { conflictOf } from '../../src/fiscal/conflitos-evento.ts';
import { questionOf } from '../../src/fiscal/errors/caso-evento.ts';
import { CASOS_DE_EVENTO } from '../../src/fiscal/errors/eventos.ts';
import { ERRORS, errorOf, hasExamples, type PublicError } from '../../src/fiscal/errors.ts';
import { DAY_MS } from '../../src/fiscal/moment.ts';
import { exampleJson, exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { isJsonOnly } from '../../src/fiscal/rules/trial.ts';
import { deliverEventos } from '../../src/subjects/eventos/deliver.job.ts';
import { deliverNotas } from '../../src/subjects/notas/deliver.job.ts';
import { onEnd } from '../support/cleanup.ts';
import { type Answer, request } from '../support/http.ts';
import { readyKeys } from '../support/keys.ts';
import { addPrestador } from '../support/municipio.ts';
import { openssl } from '../support/openssl.ts';
import { NOON, startTestService } from '../support/service.ts';
import { companyOf, type Party, PROVIDER_CNPJ, partyOf, signedBy, yearAround } from '../support/signatures.ts';
import { toolOr } from '../support/tools.ts';
import { until } from '../support/until.ts';
import { BY_EVENTO, SPECIFIED, SPECIFIED_CODES, WITHOUT_DOCUMENT, WITHOUT_JSON, WITHOUT_XML } from './codigos.ts';

const IBGE = '3550308';
const [SANDBOX, PRODUCTION] = ['integracao', 'sao-paulo'];
const OTHER_CNPJ = '11444777000161';
/** A provider that is registered in production and not authorised. */
const UNAUTHORISED_CNPJ = '00000000000191';

// A municipality in production, whose service list has one code, beside the sandbox.

const folder = mkdtempSync(path.join(tmpdir(), 'nfse-codigos-'));
onEnd(() => rmSync(folder, { recursive: true, force: true }));
const ancoras = path.join(folder, 'ancoras');
mkdirSync(ancoras);
const [rootKeys, keys] = await Promise.all([readyKeys(), readyKeys()]);
const lasting = { inicio: NOON - 3_000 * DAY_MS, fim: NOON + 3_000 * DAY_MS };
const root = rootAuthority('AC Raiz de Teste', rootKeys, lasting);
writeFileSync(path.join(ancoras, 'raiz.pem'), pemOf('CERTIFICATE', root.certificate));

function company(cnpj: string, validity: Validity = yearAround(NOON)): Party {
  return partyOf(keys, companyCertificate(root, companyOf(cnpj), keys.publicKey, validity));
}

const provider = company(PROVIDER_CNPJ);
const other = company(OTHER_CNPJ);
const unauthorised = company(UNAUTHORISED_CNPJ);
const expired = company(PROVIDER_CNPJ, { inicio: NOON - 400 * DAY_MS, fim: NOON - 35 * DAY_MS });

const { address, store, pool, world, clock } = await startTestService({ worker: false });
const confianca = { ancoras, revogados: undefined };
await store.municipios.create({ tenant: PRODUCTION, ambiente: 'producao', codigoIbge: IBGE, confianca }, clock.now);
await addPrestador(pool, PRODUCTION, PROVIDER_CNPJ, { im: '12345' });
await addPrestador(pool, PRODUCTION, UNAUTHORISED_CNPJ, { im: '12345', autorizado: false });
await pool.query(
  `insert into servicos_municipais (tenant, codigo, inicio, descricao, codigo_tributacao_nacional, aliquota)
   values ($1, '001', '2020-01-01', 'Desenvolvimento de sistemas', '010101', 2)`,
  [PRODUCTION],
);

// Requests.

type Sent = { readonly type: string; readonly body: string; readonly headers?: Readonly<Record<string, string>> };

function post(tenant: string, endpoint: 'nfse' | 'nfse/v101', { type, body, headers }: Sent): Promise<Answer> {
  return request(address, `/${tenant}/api/v1/${endpoint}`, {
    method: 'POST',
    headers: { 'Content-Type': type, ...headers },
    body,
  });
}

const XML = 'application/xml';

let last = 0;

/** An unused series and number, and the Id that they form. */
function fresh(documento: string): Patch {
  last += 1;
  const [serie, nDPS] = ['7', String(last)];
  return { serie, nDPS, '@Id': dpsIdOf({ cLocEmi: IBGE, documento, serie, nDPS }) };
}

function sandbox(patch: Patch): Promise<Answer> {
  return post(SANDBOX, 'nfse/v101', { type: XML, body: exampleXml(patch) });
}

/** An unsigned DPS for production. */
function forProduction(patch: Patch = {}): string {
  const documento = patch['prest/CNPJ'] ?? PROVIDER_CNPJ;
  return exampleXml({ tpAmb: '1', ...fresh(documento), ...patch });
}

function production(body: string): Promise<Answer> {
  return post(PRODUCTION, 'nfse/v101', { type: XML, body });
}

type Way = () => Promise<Answer>;

/** Ways for codes that need more than an example of the public table in the sandbox. */
const BY_XML: Readonly<Record<string, Way>> = {
  E003: () => post(SANDBOX, 'nfse/v101', { type: 'application/json', body: exampleXml() }),
  E101: () => sandbox({ 'prest/CNPJ': OTHER_CNPJ, 'prest/xNome': '' }),
  E102: () => production(signedBy(forProduction({ 'prest/CNPJ': UNAUTHORISED_CNPJ }), unauthorised)),
  E103: () => production(signedBy(forProduction({ 'prest/IM': '99999' }), provider)),
  E110: () => sandbox({ '@versao': '1.00' }),
  E111: () => post(SANDBOX, 'nfse', { type: XML, body: exampleXml({ '@versao': '1.00' }) }),
  E201: () => post(SANDBOX, 'nfse/v101', { type: XML, body: exampleXml().replace('</infDPS>', '') }),
  E402: () => production(signedBy(forProduction({ 'serv/cServ/cTribMun': '999' }), provider)),
  E0310: () => production(signedBy(forProduction({ 'serv/cServ/cTribNac': '010201' }), provider)),
  E0014: async () => {
    const body = exampleXml(fresh(PROVIDER_CNPJ));
    const first = await post(SANDBOX, 'nfse/v101', { type: XML, body });
    assert.equal(first.status, 201, JSON.stringify(first.body));
    return post(SANDBOX, 'nfse/v101', { type: XML, body });
  },
  E901: () => production(forProduction()),
  E902: () => production(signedBy(forProduction(), provider).replace('1000.00', '1.00')),
  E903: () => production(signedBy(forProduction(), expired)),
  E904: () => production(signedBy(forProduction(), provider).replace(/(<X509Certificate>)MII/, '$1AAA')),
  E905: () => production(signedBy(forProduction(), provider).replace(/<KeyInfo>.*<\/KeyInfo>/, '')),
  E906: () => production(signedBy(forProduction(), other)),
};

const JSON_TYPE = 'application/json';

function sandboxJson(patch: Patch): Promise<Answer> {
  return post(SANDBOX, 'nfse/v101', { type: JSON_TYPE, body: exampleJson(patch)! });
}

/** A body with a number, for production. */
function bodyForProduction(patch: Patch = {}): string {
  const { '@Id': _id, ...numbered } = fresh(PROVIDER_CNPJ);
  return exampleJson({ tpAmb: '1', ...numbered, ...patch })!;
}

const OPENSSL = toolOr('openssl', 'openssl');
const NO_OPENSSL = new Error('openssl is not here');

/** Skips the test, and gives the reason, if it needs openssl and openssl is missing. */
function asFarAsOpenssl(work: () => Promise<void>): (t: TestContext) => Promise<void> {
  return (t) =>
    work().catch((error: unknown) => {
      if (error !== NO_OPENSSL) throw error;
      t.skip(NO_OPENSSL.message);
    });
}

/** A detached CMS over the bytes of a body, by OpenSSL. */
function cms(body: string, { pem, keyPem }: Party): string {
  if (OPENSSL === undefined) throw NO_OPENSSL;
  const [file, certificate, key] = [
    ['body.json', body],
    ['signer.pem', pem],
    ['signer.key', keyPem],
  ].map(([name, content]) => {
    const place = path.join(folder, name!);
    writeFileSync(place, content!);
    return place;
  });
  const by = ['-signer', certificate!, '-inkey', key!, '-md', 'sha256'];
  return openssl('cms', '-sign', '-binary', '-in', file!, ...by, '-outform', 'DER').toString('base64');
}

/** `signed`: the signed bytes, if they differ from the body. */
function productionJson(body: string, party?: Party, signed = body): Promise<Answer> {
  const headers = party === undefined ? {} : { 'X-DPS-Assinatura': cms(signed, party) };
  return post(PRODUCTION, 'nfse/v101', { type: JSON_TYPE, body, headers });
}

const BY_JSON: Readonly<Record<string, Way>> = {
  E003: () => post(SANDBOX, 'nfse/v101', { type: XML, body: exampleJson()! }),
  E101: () => sandboxJson({ 'prest/CNPJ': OTHER_CNPJ, 'prest/xNome': '' }),
  E102: () => {
    const body = bodyForProduction({ 'prest/CNPJ': UNAUTHORISED_CNPJ });
    return productionJson(body, unauthorised);
  },
  E103: () => productionJson(bodyForProduction({ 'prest/IM': '99999' }), provider),
  E111: () => post(SANDBOX, 'nfse', { type: JSON_TYPE, body: exampleJson()! }),
  E402: () => productionJson(bodyForProduction({ 'serv/cServ/cTribMun': '999' }), provider),
  E0310: () => productionJson(bodyForProduction({ 'serv/cServ/cTribNac': '010201' }), provider),
  E0014: async () => {
    const { '@Id': _id, ...numbered } = fresh(PROVIDER_CNPJ);
    const first = await sandboxJson(numbered);
    assert.equal(first.status, 201, JSON.stringify(first.body));
    return sandboxJson(numbered);
  },
  E9002: () => productionJson(bodyForProduction()),
  E9003: () => {
    const body = bodyForProduction();
    return productionJson(body, provider, `${body} `);
  },
  E9006: () => productionJson(bodyForProduction(), expired),
  E9007: () => productionJson(bodyForProduction(), other),
};

/** The examples of the public table that the sandbox refuses: by structure, or by a rule that the specification names. */
function refusedExamples({ exemplos, regras }: PublicError): readonly Patch[] {
  const ofRules = regras.filter(({ scope }) => scope === undefined).flatMap(({ rejects }) => rejects);
  return [...(exemplos?.rejects ?? []), ...ofRules];
}

/** The answer to the first example that provokes the code, or to the last one; undefined if there is no example. */
async function firstThatBrings(
  code: string,
  patches: readonly Patch[],
  send: (patch: Patch) => Promise<Answer>,
): Promise<Answer | undefined> {
  let answer: Answer | undefined;
  for (const patch of patches) {
    answer = await send(patch);
    if (answer.body.erros?.some(({ codigo }: { codigo: string }) => codigo === code)) return answer;
  }
  return answer;
}

/** The answer is a refusal that has the code. Its status is that of the specification, or else of the public table. */
function assertBrings(answer: Answer, code: string): void {
  const told = `${code} got ${answer.status} ${JSON.stringify(answer.body)}`;
  assert.equal(answer.status, SPECIFIED_CODES.get(code) ?? errorOf(code)?.status, told);
  const codes: readonly string[] = answer.body.erros.map(({ codigo }: { codigo: string }) => codigo);
  assert.ok(codes.includes(code), told);
  assert.equal(answer.body.codigo_erro, codes[0]);
}

describe('the codes of the specification', () => {
  for (const { section, codes } of SPECIFIED) {
    test(`${section}: each is in the public table with its status`, () => {
      for (const { code, status, means } of codes) {
        const error = errorOf(code);
        assert.ok(error, `${code} (${means}) is not in the public table`);
        if (status !== undefined)
          assert.ok(error.statuses.includes(status), `${code} (${means}) has ${error.statuses}`);
        if (error.situacao !== 'substituido') continue;
        assert.ok(errorOf(error.substituidoPor!), `${code} (${means}) is replaced by a code that is there`);
        assert.ok(code in WITHOUT_DOCUMENT, `${code} (${means}) is not sent, and no reason is given`);
      }
    });
  }

  test('what is not reached is one of them, and has one reason', () => {
    const reasons = [WITHOUT_DOCUMENT, BY_EVENTO, WITHOUT_XML, WITHOUT_JSON].map((one) => Object.entries(one));
    for (const [code, reason] of reasons.flat()) {
      assert.ok(SPECIFIED_CODES.has(code), `${code} is not of the specification`);
      assert.match(reason, /\S/);
    }
    const codes = reasons.flat().map(([code]) => code);
    assert.equal(new Set(codes).size, codes.length);
  });
});

describe('each comes to who sends a DPS in XML', () => {
  for (const code of SPECIFIED_CODES.keys()) {
    if ((WITHOUT_DOCUMENT[code] ?? BY_EVENTO[code] ?? WITHOUT_XML[code]) !== undefined) continue;
    test(code, async () => {
      const patches = refusedExamples(errorOf(code)!).filter((patch) => !isJsonOnly(patch));
      const answer = await (BY_XML[code]?.() ?? firstThatBrings(code, patches, sandbox));
      assert.ok(answer, `no document brings ${code}, and no reason is given`);
      assertBrings(answer, code);
    });
  }
});

describe('each comes to who sends a DPS in JSON', () => {
  for (const code of SPECIFIED_CODES.keys()) {
    if ((WITHOUT_DOCUMENT[code] ?? BY_EVENTO[code] ?? WITHOUT_JSON[code]) !== undefined) continue;
    const brought = async (): Promise<void> => {
      const patches = refusedExamples(errorOf(code)!).filter((patch) => exampleJson(patch) !== undefined);
      const answer = await (BY_JSON[code]?.() ?? firstThatBrings(code, patches, sandboxJson));
      assert.ok(answer, `no body brings ${code}, and no reason is given`);
      assertBrings(answer, code);
    };
    test(code, asFarAsOpenssl(brought));
  }
});

const CANCELAMENTO = {
  tipo_evento: 'cancelamento',
  codigo_motivo_cancelamento: '2',
  descricao_motivo_cancelamento: 'Serviço contratado que não foi prestado',
};

/** The key of a note that no other test queries. */
async function issued(patch: Patch = {}): Promise<string> {
  const answer = await sandbox({ ...fresh(PROVIDER_CNPJ), ...patch });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.chave_acesso;
}

/** Delivers the pending notes and events of the sandbox. */
async function delivered(): Promise<void> {
  const municipio = (await store.municipios.findBySlug(SANDBOX))!;
  while ((await deliverNotas(world, municipio)).isFull);
  await deliverEventos(world, municipio);
}

function register(chave: string, evento: object): Promise<Answer> {
  return request(address, `/${SANDBOX}/api/v1/nfse/${chave}/eventos`, {
    method: 'POST',
    headers: { 'Content-Type': JSON_TYPE },
    body: JSON.stringify(evento),
  });
}

describe('what only the request of an event brings', () => {
  const ways: Readonly<Record<string, Way>> = {
    E302: async () => {
      const chave = await issued();
      await delivered();
      assert.equal((await register(chave, CANCELAMENTO)).status, 201);
      assertBrings(await register(chave, CANCELAMENTO), 'E302');
      await delivered();
      const { body } = await request(address, `/${SANDBOX}/api/v1/nfse/${chave}`);
      assert.equal(body.nota.status, 'cancelada');
      return register(chave, { tipo_evento: 'confirmacao_tomador' });
    },
    E9016: async () => register(await issued(), { tipo_evento: 'cancelamento_por_oficio' }),
  };

  test('each has its way', () => assert.deepEqual(Object.keys(ways), Object.keys(BY_EVENTO)));
  for (const [code, way] of Object.entries(ways)) test(code, async () => assertBrings(await way(), code));
});

describe('what only a question brings', () => {
  test('E301: a key that no note has', async () => {
    const answer = await request(address, `/${SANDBOX}/api/v1/nfse/${'1'.repeat(50)}`);
    assertBrings(answer, 'E301');
  });

  test('E601: a protocol that no note has, with its field', async () => {
    const answer = await request(address, `/${SANDBOX}/api/v1/nfse/protocolo/1`);
    assertBrings(answer, 'E601');
    assert.equal(answer.body.campo, 'numero_protocolo');
  });
});

/** A situation that a page describes in words, created for real. */
type Shown = { readonly recusado: Way; readonly aceito: Way };

const ask = (place: string): Promise<Answer> => request(address, `/${place}`);
const note = (chave: string, tenant = SANDBOX): Promise<Answer> => ask(`${tenant}/api/v1/nfse/${chave}`);
const nowhere = (): Promise<Answer> => note('1'.repeat(50));

/** The body of the event that a page shows. */
function eventoIn(text: string): object {
  return JSON.parse(text.split('\n\n').at(-1)!);
}

/** The two requests of a code's first text, as events of a separate note. */
function eventosOf(code: string): Shown {
  const [{ recusado, aceito }] = errorOf(code)!.pedidos as [{ recusado: string; aceito: string }];
  return {
    recusado: async () => register(await issued(), eventoIn(recusado)),
    aceito: async () => register(await issued(), eventoIn(aceito)),
  };
}

/** Runs while the search for a note fails, or the whole database including its ping. */
async function failing(what: 'note' | 'database', way: Way): Promise<Answer> {
  const { ping } = store;
  const { findByChave } = store.notas;
  const fails = (): Promise<never> => Promise.reject(new Error('a failure'));
  store.notas.findByChave = fails;
  if (what === 'database') store.ping = fails;
  try {
    return await way();
  } finally {
    store.ping = ping;
    store.notas.findByChave = findByChave;
  }
}

const signedXml =
  (party: Party): Way =>
  () =>
    production(signedBy(forProduction(), party));
const signedJson =
  (party: Party): Way =>
  () =>
    productionJson(bodyForProduction(), party);
const sent =
  (patch: Patch): Way =>
  () =>
    sandbox({ ...fresh(PROVIDER_CNPJ), ...patch });

let untilThen: Promise<string> | undefined;
/** A note of the sandbox with one cancellation. */
function cancelled(): Promise<string> {
  untilThen ??= (async () => {
    const chave = await issued();
    assert.equal((await register(chave, CANCELAMENTO)).status, 201);
    return chave;
  })();
  return untilThen;
}

const stranger = partyOf(
  keys,
  companyCertificate(
    rootAuthority('Minha Empresa', rootKeys, lasting),
    companyOf(PROVIDER_CNPJ),
    keys.publicKey,
    yearAround(NOON),
  ),
);

const SHOWN: Readonly<Record<string, readonly Shown[]>> = {
  E003: [{ recusado: BY_XML['E003']!, aceito: () => post(SANDBOX, 'nfse/v101', { type: XML, body: exampleXml() }) }],
  E101: [
    { recusado: () => sandbox({ 'prest/CNPJ': '11222333000182' }), aceito: sent({}) },
    { recusado: () => sandbox({ 'prest/CNPJ': '33000167000101', 'prest/xNome': '' }), aceito: sent({}) },
  ],
  E102: [{ recusado: BY_XML['E102']!, aceito: signedXml(provider) }],
  E103: [
    {
      recusado: BY_XML['E103']!,
      aceito: () => production(signedBy(forProduction({ 'prest/IM': '12345' }), provider)),
    },
  ],
  E110: [{ recusado: BY_XML['E110']!, aceito: sent({}) }],
  E111: [{ recusado: BY_XML['E111']!, aceito: sent({}) }],
  E201: [
    {
      recusado: () => {
        const [text] = errorOf('E201')!.pedidos;
        const body = exampleXml(fresh(PROVIDER_CNPJ)).replace(/<xNome>Empresa[^<]*<\/xNome>/, text!.recusado);
        return post(SANDBOX, 'nfse/v101', { type: XML, body });
      },
      aceito: () => {
        const [text] = errorOf('E201')!.pedidos;
        const body = exampleXml(fresh(PROVIDER_CNPJ)).replace(/<xNome>Empresa[^<]*<\/xNome>/, text!.aceito);
        return post(SANDBOX, 'nfse/v101', { type: XML, body });
      },
    },
  ],
  E301: [
    {
      recusado: async () => note(await issued(), PRODUCTION),
      aceito: async () => note(await issued()),
    },
    {
      recusado: async () => ask(`${SANDBOX}/api/v1/nfse/${await cancelled()}/eventos/cancelamento/2`),
      aceito: async () => ask(`${SANDBOX}/api/v1/nfse/${await cancelled()}/eventos/cancelamento/1`),
    },
  ],
  E302: [
    {
      recusado: async () => register(await cancelled(), eventoIn(errorOf('E302')!.pedidos[0]!.recusado)),
      aceito: async () => ask(`${SANDBOX}/api/v1/nfse/${await cancelled()}/eventos`),
    },
  ],
  E601: [
    {
      recusado: () => request(address, '/api/v1/nfse/v101', { method: 'POST' }),
      aceito: sent({}),
    },
  ],
  E901: [{ recusado: BY_XML['E901']!, aceito: signedXml(provider) }],
  E902: [
    {
      recusado: () =>
        production(signedBy(forProduction(), provider).replace(/Reference URI="#[^"]*"/, 'Reference URI=""')),
      aceito: signedXml(provider),
    },
  ],
  E903: [{ recusado: signedXml(expired), aceito: signedXml(provider) }],
  E904: [
    {
      recusado: () =>
        production(
          signedBy(forProduction(), provider).replace(
            /(<X509Certificate>)([^<]*)/,
            '$1-----BEGIN CERTIFICATE-----\n$2\n-----END CERTIFICATE-----',
          ),
        ),
      aceito: signedXml(provider),
    },
    { recusado: signedXml(stranger), aceito: signedXml(provider) },
  ],
  E905: [{ recusado: BY_XML['E905']!, aceito: signedXml(provider) }],
  E906: [{ recusado: signedXml(other), aceito: signedXml(provider) }],
  E999: [
    {
      recusado: async () => {
        const chave = await issued();
        return failing('note', () => note(chave));
      },
      aceito: async () => note(await issued()),
    },
  ],
  E0004: [
    {
      // The note is refused later, and then releases its number for the other.
      recusado: async () => {
        const simulated = { 'serv/infoCompl/xInfComp': 'adn:rejeita=E1234' };
        const answer = await sandbox({ serie: '1', nDPS: '42', '@Id': idShown('recusado'), ...simulated });
        await delivered();
        return answer;
      },
      aceito: sent({ serie: '1', nDPS: '42', '@Id': idShown('aceito') }),
    },
  ],
  E0014: [{ recusado: BY_XML['E0014']!, aceito: sent({}) }],
  E0813: [eventosOf('E0813')],
  E0816: [eventosOf('E0816')],
  E1310: [
    {
      recusado: async () => register(await issued(), substitution(await issued())),
      aceito: async () => {
        const chave = await issued();
        await delivered();
        const substitute = await issued({ 'subst/chSubstda': chave, 'subst/cMotivo': '01' });
        return register(chave, substitution(substitute));
      },
    },
  ],
  E1515: [{ recusado: sent({ dCompet: '2027-01-05' }), aceito: sent({ dCompet: '2026-10-05' }) }],
  E1831: [
    {
      recusado: async () => {
        const chave = await issued({ 'serv/infoCompl/xInfComp': 'adn:rejeita=E1234' });
        await delivered();
        return register(chave, { tipo_evento: 'confirmacao_tomador' });
      },
      aceito: async () => {
        const chave = await issued();
        await delivered();
        return register(chave, { tipo_evento: 'confirmacao_tomador' });
      },
    },
  ],
  E9002: [{ recusado: BY_JSON['E9002']!, aceito: signedJson(provider) }],
  E9003: [{ recusado: BY_JSON['E9003']!, aceito: signedJson(provider) }],
  E9006: [{ recusado: signedJson(expired), aceito: signedJson(provider) }],
  E9007: [{ recusado: signedJson(other), aceito: signedJson(provider) }],
  E9016: [eventosOf('E9016')],
  // This code is last: it uses up the client's allowance of failed requests.
  E703: [
    {
      recusado: async () => ask(`${SANDBOX}/api/v1/danfse/${await issued()}`),
      aceito: async () => {
        const chave = await issued();
        await delivered();
        return ask(`${SANDBOX}/api/v1/danfse/${chave}`);
      },
    },
    {
      recusado: async () => {
        const chave = await issued();
        return failing('database', () => note(chave));
      },
      aceito: async () => note(await issued()),
    },
    {
      recusado: async () => {
        // Slow requests let the allowance refill, so more than 60 may be needed.
        let answer = await nowhere();
        for (let misses = 1; misses < 250 && answer.status === 404; misses += 1) answer = await nowhere();
        return answer;
      },
      aceito: async () => {
        const chave = await issued();
        // One more failed request is allowed each second.
        return until(async () => {
          const answer = await note(chave);
          return answer.status === 429 ? undefined : answer;
        }, 'the address may ask again');
      },
    },
  ],
};

function idShown(which: 'recusado' | 'aceito'): string {
  return /Id="([^"]+)"/.exec(errorOf('E0004')!.pedidos[0]![which])![1]!;
}

function substitution(chave_acesso_substituta: string): object {
  return {
    tipo_evento: 'cancelamento_por_substituicao',
    codigo_motivo_cancelamento: '01',
    descricao_motivo_cancelamento: 'Nota emitida com o valor errado',
    chave_acesso_substituta,
  };
}

describe('what the page of a code shows', () => {
  test('every code that an answer may bring has an example, and every text of them is made for real', () => {
    const sentOnes = ERRORS.filter(({ situacao }) => situacao === 'enviado');
    assert.deepEqual(
      sentOnes.filter((error) => !hasExamples(error)).map(({ codigo }) => codigo),
      [],
    );
    for (const { codigo, pedidos } of ERRORS) {
      const made = codigo in CASOS_DE_EVENTO ? 1 : (SHOWN[codigo]?.length ?? 0);
      assert.equal(pedidos.length, made, codigo);
    }
  });

  test('of the events on a note: the law answers the one with the code, and accepts the other', () => {
    for (const [codigo, { recusado, aceito }] of Object.entries(CASOS_DE_EVENTO)) {
      assert.equal(conflictOf(...questionOf(recusado))?.codigo, codigo);
      assert.equal(conflictOf(...questionOf(aceito)), undefined, codigo);
    }
  });

  for (const [codigo, shown] of Object.entries(SHOWN)) {
    const madeForReal = async (): Promise<void> => {
      const { status, pedidos } = errorOf(codigo)!;
      for (const [place, { recusado, aceito }] of shown.entries()) {
        const refused = await recusado();
        const told = `${codigo} ${place}: ${refused.status} ${JSON.stringify(refused.body)}`;
        const list = status === 'aviso' ? refused.body.avisos : refused.body.erros;
        assert.ok(
          list?.some((one: { codigo: string }) => one.codigo === codigo),
          told,
        );
        const lines = pedidos[place]!.recusado.split('\n');
        const [, promised] = /^HTTP\/1\.1 (\d+)$/.exec(lines.find((line) => line.startsWith('HTTP')) ?? '') ?? [];
        if (promised !== undefined) assert.equal(refused.status, Number(promised), told);
        const retry = lines.find((line) => line.startsWith('Retry-After: '))?.slice('Retry-After: '.length);
        if (retry !== undefined) assert.equal(refused.headers.get('retry-after'), retry, told);

        const accepted = await aceito();
        const answer = `${codigo} ${place}: ${accepted.status} ${JSON.stringify(accepted.body)}`;
        assert.ok(accepted.status < 300, answer);
        assert.ok(!accepted.body.avisos?.some((one: { codigo: string }) => one.codigo === codigo), answer);
      }
    };
    test(codigo, asFarAsOpenssl(madeForReal));
  }
});
