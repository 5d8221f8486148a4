/**
 * Data of one party needs authentication: the situation of a provider, and a note by its DPS (D-41). Real HTTP, real mutual TLS, and the
 * header of a proxy; certificates of a private authority. `situacao.maquina.test.ts`: the program with TLS of its own.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { BlockList } from 'node:net';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { type Answer, emit, request } from '../../../test/support/http.ts';
import { readyKeys } from '../../../test/support/keys.ts';
import { addPrestador } from '../../../test/support/municipio.ts';
import { freshFolder } from '../../../test/support/openssl.ts';
import { NOON, startTestService } from '../../../test/support/service.ts';
import { askOverTls } from '../../../test/support/tls-request.ts';
import {
  companyCertificate,
  intermediateAuthority,
  pemOf,
  personCertificate,
  rootAuthority,
  serverCertificate,
} from '../../documents/pki.ts';
import { createRestDoor, type RestDoorOptions } from '../../doors/rest/door.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import type { Patch } from '../../fiscal/rules/rule.ts';

const PRESTADOR = '11222333000181';
/** Another establishment of the same company. */
const FILIAL = '11222333000262';
const OUTRA = '88888888000191';
const TOMADOR = '52998224725';
const INTERMEDIARIO = '77777777000191';
const SEM_CADASTRO = '12121212000106';
const SEM_AUTORIZACAO = '99999999000191';
const PESSOA = '11144477735';

const folder = freshFolder();

type Client = { readonly cert: string; readonly key: string };

const year = { inicio: NOON - 100 * DAY_MS, fim: NOON + 265 * DAY_MS };
const long = { inicio: NOON - 1_000 * DAY_MS, fim: NOON + 3_000 * DAY_MS };
const keys = await Promise.all(Array.from({ length: 4 }, readyKeys));
const root = rootAuthority('AC Raiz de Teste', keys[0]!, long);
const authority = intermediateAuthority(root, 'AC de Teste', keys[1]!, long);
const stranger = rootAuthority('AC Alheia de Teste', keys[2]!, long);
const holderKey = keys[3]!.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const responsavel = { nome: 'Responsável', cpf: '12345678909', nascimento: '1980-01-31' };

/** A certificate of the intermediate authority, which no municipality has in its folder. */
function company(cnpj: string, validity = year, by = authority): Client {
  const der = companyCertificate(
    by,
    { razaoSocial: 'Empresa de Teste', cnpj, responsavel },
    keys[3]!.publicKey,
    validity,
  );
  return { cert: pemOf('CERTIFICATE', der, by.certificate), key: holderKey };
}

function person(cpf: string): Client {
  const der = personCertificate(authority, { ...responsavel, cpf }, keys[3]!.publicKey, year);
  return { cert: pemOf('CERTIFICATE', der, authority.certificate), key: holderKey };
}

const serverDer = serverCertificate(authority, { dns: ['localhost'], ips: ['127.0.0.1'] }, keys[2]!.publicKey, long);
const tls = {
  cert: pemOf('CERTIFICATE', serverDer, authority.certificate),
  key: keys[2]!.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
};
const ca = pemOf('CERTIFICATE', root.certificate);
writeFileSync(path.join(folder, 'raiz.pem'), ca);
const confianca = { ancoras: folder, revogados: undefined };

const { address, world, store, pool, clock } = await startTestService({ worker: false });

async function door(options: Partial<RestDoorOptions>): Promise<string> {
  const opened = await createRestDoor(world, {
    host: '127.0.0.1',
    port: 0,
    trustProxy: false,
    accessLog: false,
    ...options,
  });
  onEnd(() => opened.close());
  return opened.address;
}

function listOf(...networks: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of networks) list.addSubnet(net, prefix, net.includes(':') ? 'ipv6' : 'ipv4');
  return list;
}

const secure = await door({ tls });
const proxied = await door({ certificateHeader: { name: 'x-client-cert', proxies: listOf(['127.0.0.1', 32]) } });

const shownTo = (where: string, url: string, client?: Client, agent?: Agent): Promise<Answer> =>
  askOverTls(`${where}${url}`, agent ?? { ca, ...client });

async function register(
  tenant: string,
  documento: string,
  { im = '', autorizado = true }: { im?: string; autorizado?: boolean } = {},
): Promise<void> {
  await addPrestador(pool, tenant, documento, { im, nome: 'Nome', autorizado });
}

async function inSimples(tenant: string, documento: string, inicio: string, fim?: string): Promise<void> {
  const text = 'insert into simples_nacional (tenant, documento, inicio, fim) values ($1, $2, $3, $4)';
  await pool.query(text, [tenant, documento, inicio, fim ?? null]);
}

function situacao(tenant: string, documento: string, data?: string): string {
  return `/${tenant}/api/v1/prestadores/${documento}/situacao${data === undefined ? '' : `?data=${data}`}`;
}

function assertRefused(answer: Answer, status: number, codigo: string, mensagem: RegExp): void {
  assert.deepEqual([answer.status, answer.body.codigo_erro], [status, codigo], JSON.stringify(answer.body));
  assert.match(answer.body.mensagem, mensagem);
}

before(async () => {
  await store.municipios.create(
    { tenant: 'cidade', ambiente: 'producao', codigoIbge: '3550308', confianca },
    clock.now,
  );
  await store.municipios.create(
    { tenant: 'acre', ambiente: 'homologacao', codigoIbge: '1200401', confianca },
    clock.now,
  );
  await register('cidade', PRESTADOR, { im: '123' });
  await register('cidade', PESSOA, { im: '4567' });
  await register('cidade', SEM_AUTORIZACAO, { autorizado: false });
});

describe('the situation of a provider in the sandbox', () => {
  const ask = (documento: string, data?: string): Promise<Answer> =>
    request(address, situacao('integracao', documento, data));

  test('of one that is not there yet: its first DPS will create it', async () => {
    const { status, headers, body } = await ask(SEM_CADASTRO);
    assert.equal(status, 200);
    assert.equal(headers.get('x-nfse-ambiente'), 'homologacao');
    assert.match(body.mensagem, /será criado pela sua primeira DPS/);
    const { mensagem, ibscbs, ...rest } = body;
    assert.deepEqual(rest, {
      status: 'OK',
      documento: SEM_CADASTRO,
      data: '2026-11-21',
      pode_emitir: true,
      cadastrado: false,
      autorizado: false,
      inscricoes: [],
      simples_nacional: { optante: false, desde: null, ate: null },
      pendencias: [],
      certificado: null,
    });
    // The dates of the specification; on 21/11/2026 the general date has passed and the other has not.
    assert.deepEqual(
      ibscbs.map((one: Record<string, unknown>) => [one['segmento'], one['devido_desde'], one['devido_na_data']]),
      [
        ['geral', '2026-10-01', true],
        ['prazo_proprio', '2026-12-01', false],
      ],
    );
    assert.match(ibscbs[0].mensagem, /competência em 21\/11\/2026 precisa trazer o grupo IBSCBS/);
    assert.match(ibscbs[1].mensagem, /pode vir sem o grupo IBSCBS; ele é devido a partir de 01\/12\/2026/);
  });

  test('of one that its first DPS has created', async () => {
    assert.equal((await emit(address, exampleXml({ 'prest/CNPJ': INTERMEDIARIO, 'prest/IM': '99' }))).status, 201);
    const { body } = await ask(INTERMEDIARIO);
    assert.deepEqual([body.cadastrado, body.autorizado, body.pode_emitir], [true, true, true]);
    assert.deepEqual(body.inscricoes, [{ inscricao_municipal: '99', autorizada: true }]);
  });

  test('at a date: in the Simples Nacional, before it and after it', async () => {
    await register('integracao', OUTRA);
    await inSimples('integracao', OUTRA, '2026-01-01', '2026-10-31');
    const within = (await ask(OUTRA, '2026-10-15')).body;
    assert.equal(within.data, '2026-10-15');
    assert.deepEqual(within.simples_nacional, { optante: true, desde: '2026-01-01', ate: '2026-10-31' });
    assert.deepEqual([within.ibscbs[0].devido_desde, within.ibscbs[0].devido_na_data], ['2026-11-01', false]);
    const after = (await ask(OUTRA, '2026-11-01')).body;
    assert.deepEqual(after.simples_nacional, { optante: false, desde: null, ate: null });
    assert.deepEqual([after.ibscbs[0].devido_desde, after.ibscbs[0].devido_na_data], ['2026-11-01', true]);
    await register('integracao', FILIAL);
    await inSimples('integracao', FILIAL, '2020-01-01');
    const still = (await ask(FILIAL, '2026-12-15')).body;
    assert.deepEqual(still.simples_nacional, { optante: true, desde: '2020-01-01', ate: null });
    assert.deepEqual(
      still.ibscbs.map((one: Record<string, unknown>) => one['devido_desde']),
      ['2027-01-01', '2027-01-01'],
    );
  });

  test('today is the day of the municipality', async () => {
    const late = { ...world, now: () => Date.parse('2026-12-31T23:30:00-05:00') };
    const opened = await createRestDoor(late, { host: '127.0.0.1', port: 0, trustProxy: false, accessLog: false });
    onEnd(() => opened.close());
    assert.equal((await request(opened.address, situacao('acre', PRESTADOR))).body.data, '2026-12-31');
    assert.equal((await request(opened.address, situacao('integracao', PRESTADOR))).body.data, '2027-01-01');
  });

  test('of a person shows the registration only in part', async () => {
    await register('integracao', PESSOA, { im: '1234567' });
    assert.deepEqual((await ask(PESSOA)).body.inscricoes, [{ inscricao_municipal: '*****67', autorizada: true }]);
  });

  test('takes the document as people write it, and refuses what is none', async () => {
    assert.equal((await ask('11.222.333%2F0001-81')).body.documento, PRESTADOR);
    const digits = await ask('11222333000182');
    assertRefused(digits, 422, 'E101', /dígitos verificadores não conferem/);
    assert.deepEqual([digits.body.detalhes, digits.body.campo], ['documento_invalido', 'documento']);
    const short = await ask('1122233300018');
    assertRefused(short, 422, 'E0003', /não é um CNPJ .* nem um CPF/);
    assert.equal(short.body.campo, 'documento');
    for (const data of ['2026-02-30', '01/10/2026', 'hoje']) {
      const wrong = await ask(PRESTADOR, data);
      assertRefused(wrong, 422, 'E0003', /AAAA-MM-DD/);
      assert.equal(wrong.body.campo, 'data');
    }
  });

  test('refuses a parameter that it does not have, and names the one that it has', async () => {
    for (const name of ['dat', 'dia', 'Data']) {
      const wrong = await request(address, `${situacao('integracao', PRESTADOR)}?${name}=2026-10-01`);
      assertRefused(wrong, 400, 'E003', /não tem o parâmetro .* O único que ela tem é data, .* AAAA-MM-DD/);
      assert.deepEqual([wrong.body.campo, wrong.body.erros[0].esperado], [name, 'data']);
    }
    const twice = await request(address, `${situacao('integracao', PRESTADOR)}?data=2026-10-01&data=2026-11-01`);
    assertRefused(twice, 400, 'E003', /data veio mais de uma vez/);
  });

  test('is not for reading out the registry: misses run out, hits do not', async () => {
    const known = '66666666000191';
    // The quota of a network address is common to all services, and no other test uses this address.
    const from = { headers: { 'X-Forwarded-For': '203.0.113.9' } };
    const where = await door({ trustProxy: true });
    const statuses: number[] = [];
    const miss = async () => (await request(where, situacao('integracao', SEM_CADASTRO), from)).status;
    // The bucket refills meanwhile, one a second, by the clock of the database: fifty at once outrun it on any machine.
    while (statuses.length < 5_000 && !statuses.includes(429)) {
      statuses.push(...(await Promise.all(Array.from({ length: 50 }, miss))));
    }
    // The bucket holds sixty, a question costs a tenth, and the last one is accepted while one is left.
    assert.ok(statuses.includes(429), `${statuses.length} answers`);
    const answered = statuses.filter((status) => status === 200).length;
    assert.ok(answered > (60 - 1) / 0.1, `${answered} answers`);
    await register('integracao', known);
    const other = await door({ trustProxy: true });
    for (let count = 0; count < 20; count += 1) {
      assert.equal((await request(other, situacao('integracao', known), from)).status, 200);
    }
  });
});

describe('the situation of a provider in production', () => {
  test('is told with its own certificate, by mutual TLS', async () => {
    const { status, body } = await shownTo(secure, situacao('cidade', PRESTADOR), company(PRESTADOR));
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.cadastrado, body.autorizado, body.pode_emitir], [true, true, true]);
    assert.deepEqual(body.inscricoes, [{ inscricao_municipal: '123', autorizada: true }]);
    // 265 of 365 days are left; noon in Brasília.
    assert.deepEqual(body.certificado, {
      titular: 'EMPRESA DE TESTE',
      documento: '11.222.333/****-**',
      valido_desde: '2026-08-13T12:00:00-03:00',
      valido_ate: '2027-08-13T12:00:00-03:00',
      dias_restantes: 265,
    });
    assert.ok(!JSON.stringify(body.certificado).includes(PRESTADOR));
  });

  test('a company is the same in all its establishments, a person is one', async () => {
    assert.equal((await shownTo(secure, situacao('cidade', PRESTADOR), company(FILIAL))).status, 200);
    const { body } = await shownTo(secure, situacao('cidade', PESSOA), person(PESSOA));
    assert.deepEqual(body.inscricoes, [{ inscricao_municipal: '4567', autorizada: true }]);
    assert.equal(body.certificado.documento, '***.444.777-**');
    const other = await shownTo(secure, situacao('cidade', PESSOA), person(TOMADOR));
    assertRefused(other, 401, 'E9007', /CPF \*\*\*\.982\.247-\*\*, que não é o do prestador consultado/);
  });

  test('who knows nobody there is told so, and so is who may not issue', async () => {
    const none = (await shownTo(secure, situacao('cidade', SEM_CADASTRO), company(SEM_CADASTRO))).body;
    assert.deepEqual([none.cadastrado, none.pode_emitir], [false, false]);
    assert.deepEqual(
      none.pendencias.map(({ codigo }: { codigo: string }) => codigo),
      ['E101'],
    );
    const idle = (await shownTo(secure, situacao('cidade', SEM_AUTORIZACAO), company(SEM_AUTORIZACAO))).body;
    assert.deepEqual([idle.cadastrado, idle.autorizado, idle.pode_emitir], [true, false, false]);
    assert.deepEqual(
      idle.pendencias.map(({ codigo }: { codigo: string }) => codigo),
      ['E102'],
    );
    for (const { mensagem, como_resolver } of [...none.pendencias, ...idle.pendencias]) {
      assert.match(mensagem, /\S\.$/);
      assert.match(como_resolver, /prefeitura/);
    }
  });

  test('is refused to everybody else, registered or not in the same words', async () => {
    const there = await shownTo(secure, situacao('cidade', PRESTADOR), company(OUTRA));
    assertRefused(there, 401, 'E9007', /CNPJ 88\.888\.888\/\*\*\*\*-\*\*, que não é o do prestador consultado/);
    const away = await shownTo(secure, situacao('cidade', SEM_CADASTRO), company(OUTRA));
    assert.equal(away.body.mensagem, there.body.mensagem);
    const url = situacao('cidade', PRESTADOR);
    assertRefused(await shownTo(secure, url), 401, 'E9007', /Nenhum certificado veio com a conexão/);
    assertRefused(await request(address, url), 401, 'E9007', /não recebe certificados de cliente/);
    const expired = { inicio: NOON - 400 * DAY_MS, fim: NOON - DAY_MS };
    assertRefused(
      await shownTo(secure, url, company(PRESTADOR, expired)),
      401,
      'E9006',
      /venceu em 20\/11\/2026 .*apresente o novo/,
    );
    const forged = await shownTo(secure, url, company(PRESTADOR, year, stranger));
    assertRefused(forged, 401, 'E9003', /não está entre as âncoras do município/);
    const wrong = await shownTo(secure, situacao('cidade', '11222333000182'));
    assertRefused(wrong, 422, 'E101', /dígitos verificadores/);
  });

  test('a session that is taken up again still says who it is', async () => {
    const agent = new Agent({ ca, ...company(PRESTADOR), keepAlive: false, maxCachedSessions: 10 });
    onEnd(() => agent.destroy());
    for (let count = 0; count < 3; count += 1) {
      const answer = await shownTo(secure, situacao('cidade', PRESTADOR), undefined, agent);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
    }
  });
});

describe('the certificate in the header of a proxy', () => {
  const url = situacao('cidade', PRESTADOR);
  const own = company(PRESTADOR);
  const leaf = own.cert.slice(0, own.cert.indexOf('-----END') + 26);
  const base64 = leaf.replace(/-----[A-Z ]+-----|\s/g, '');
  const escaped = encodeURIComponent(own.cert);
  const sent = (value: string, where = proxied): Promise<Answer> =>
    request(where, url, { headers: { 'X-Client-Cert': value } });

  /** Some proxies do not send the intermediate certificate: a municipality with it in its folder does not need that. */
  before(async () => {
    const both = mkdtempSync(path.join(folder, 'duas-'));
    writeFileSync(path.join(both, 'cadeia.pem'), `${ca}${pemOf('CERTIFICATE', authority.certificate)}`);
    await store.municipios.create(
      {
        tenant: 'cadeia',
        ambiente: 'producao',
        codigoIbge: '3304557',
        confianca: { ancoras: both, revogados: undefined },
      },
      clock.now,
    );
  });

  test('is read as the usual proxies write it', async () => {
    const forms = {
      nginx: escaped,
      'balancer of AWS': escaped.replaceAll('%2B', '+').replaceAll('%3D', '=').replaceAll('%2F', '/'),
      'RFC 9440': `:${base64}:`,
      'HAProxy, Traefik': base64,
      Envoy: `By=spiffe://a/b;Hash=ab12;Cert="${escaped}";Subject="CN=A, O=B";URI=`,
    };
    for (const [name, value] of Object.entries(forms)) {
      const answer = await request(proxied, situacao('cadeia', PRESTADOR), { headers: { 'X-Client-Cert': value } });
      assert.equal(answer.status, 200, `${name}: ${JSON.stringify(answer.body)}`);
      assert.equal(answer.body.certificado.documento, '11.222.333/****-**', name);
    }
    assert.equal((await sent(escaped)).status, 200, 'with its chain');
    assertRefused(await sent(`:${base64}:`), 401, 'E9003', /Falta o certificado da autoridade "AC de Teste"/);
  });

  test('an empty one says that there was none; what is none is told to whoever set up the proxy', async () => {
    assertRefused(await sent(''), 401, 'E9007', /Nenhum certificado veio com a conexão/);
    assertRefused(await request(proxied, url), 401, 'E9007', /Nenhum certificado veio com a conexão/);
    assertRefused(await sent('By=a;Hash=b;Subject=""'), 401, 'E9007', /Nenhum certificado/);
    assertRefused(await sent('sim'), 401, 'E9007', /não traz um certificado em PEM/);
    assertRefused(await sent('%zz'), 401, 'E9007', /codificação de URL/);
    assertRefused(await sent(`:${'A'.repeat(200)}:`), 401, 'E9007', /não são um certificado X\.509/);
  });

  test('of two values none is believed: the first may be the caller’s own', async () => {
    const forged = encodeURIComponent(company(PRESTADOR).cert);
    const real = encodeURIComponent(company(OUTRA).cert);
    assertRefused(await sent(`${forged}, ${real}`), 401, 'E9007', /mais de um valor/);
    const envoy = (value: string): string => `Hash=a;Cert="${value}"`;
    assertRefused(await sent(`${envoy(forged)},${envoy(real)}`), 401, 'E9007', /mais de um valor/);
    assertRefused(await sent(`:${base64}:, :${base64}:`), 401, 'E9007', /mais de um valor/);
  });

  test('is passed over when it comes from anywhere else, or was never asked for', async () => {
    const far = await door({ certificateHeader: { name: 'x-client-cert', proxies: listOf(['10.0.0.0', 8]) } });
    assertRefused(await sent(escaped, far), 401, 'E9007', /Nenhum certificado/);
    assertRefused(await sent(escaped, address), 401, 'E9007', /não recebe certificados de cliente/);
    const other = await door({ certificateHeader: { name: 'x-outro', proxies: listOf(['127.0.0.1', 32]) } });
    assertRefused(await sent(escaped, other), 401, 'E9007', /Nenhum certificado/);
  });

  test('the certificate of the proxy’s own connection is not that of its caller', async () => {
    const both = await door({
      tls,
      certificateHeader: { name: 'x-client-cert', proxies: listOf(['127.0.0.1', 32]) },
    });
    assertRefused(await shownTo(both, url, own), 401, 'E9007', /Nenhum certificado veio com a conexão/);
  });
});

describe('a note by its DPS (D-41)', () => {
  let number = 0;
  /** Issues a note in a sandbox that requires the identity of a party, as production does. */
  async function issued(tenant: string, patch: Patch = {}): Promise<string> {
    number += 1;
    const nDPS = String(number);
    const answer = await request(address, `/${tenant}/api/v1/nfse/v101`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: exampleXml({ serie: '7', nDPS, ...patch }),
    });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return `/${tenant}/api/v1/dps/DPS3550308211222333000181${'00007'}${nDPS.padStart(15, '0')}`;
  }

  before(async () => {
    const codigoIbge = '3550308';
    const rehearsal = { ambiente: 'homologacao', codigoIbge, confianca } as const;
    await store.municipios.create({ tenant: 'parte', ...rehearsal, consultaDps: 'parte' }, clock.now);
    await store.municipios.create(
      { tenant: 'publica', ambiente: 'producao', codigoIbge: '3509502', confianca, consultaDps: 'publica' },
      clock.now,
    );
  });

  test('is for its provider, its taker and its intermediary', async () => {
    const url = await issued('parte', { 'interm/CNPJ': INTERMEDIARIO, 'interm/xNome': 'Intermediária' });
    for (const client of [company(PRESTADOR), person(TOMADOR), company(INTERMEDIARIO)]) {
      const answer = await shownTo(secure, url, client);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.equal(answer.body.nota.prestador_cpf_cnpj, PRESTADOR);
    }
    const answer = await shownTo(secure, url, company(OUTRA));
    assertRefused(answer, 401, 'E9007', /CNPJ 88\.888\.888\/\*\*\*\*-\*\*, que não é o do prestador, do tomador nem/);
    assertRefused(await shownTo(secure, url), 401, 'E9007', /chave de acesso, ou HEAD .* Nenhum certificado/);
    const header = encodeURIComponent(company(PRESTADOR).cert);
    assert.equal((await request(proxied, url, { headers: { 'X-Client-Cert': header } })).status, 200);
  });

  test('that is not there is not found, by whoever can be known', async () => {
    const url = '/parte/api/v1/dps/DPS355030821122233300018100007999999999999999';
    assertRefused(await shownTo(secure, url, company(PRESTADOR)), 404, 'E601', /Não há nota desta DPS/);
    assertRefused(await shownTo(secure, url), 401, 'E9007', /Nenhum certificado/);
    assert.equal((await fetch(`${address}${url}`, { method: 'HEAD' })).status, 404);
  });

  test('is open where the municipality says so, in production too', async () => {
    const url = '/publica/api/v1/dps/DPS355030821122233300018100007999999999999999';
    assertRefused(await request(address, url), 404, 'E601', /Não há nota desta DPS/);
    assertRefused(
      await request(address, url.replace('publica', 'cidade')),
      401,
      'E9007',
      /não recebe certificados de cliente/,
    );
  });
});
