/**
 * The proxies of `deploy/`, by the real programs in front of a real service. The tests check the client and its certificate as the service
 * sees them, and that a client cannot forge either. Every refusal is ours, and requests during a restart are answered.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { ESPERA_MAX_S } from '../src/base/http/espera.ts';
import { makePki, type Pki } from '../src/subjects/municipios/make-pki.ts';
import { databaseUrlOf, freshDatabase } from './support/database.ts';
import { readyKeys } from './support/keys.ts';
import { freshFolder } from './support/openssl.ts';
import { ownPort } from './support/ports.ts';
import { nfse, ROOT, type ServiceProcess, startServiceProcess } from './support/process.ts';
import {
  type Answer,
  type Behind,
  CADDY,
  HAPROXY,
  NGINX,
  PAINEL,
  SITE,
  startProxy,
  type Through,
} from './support/proxies-exemplo.ts';
import { createAuthority, SERVER_EXTENSIONS } from './support/tls.ts';
import { toolOr } from './support/tools.ts';
import { until, untilTrue } from './support/until.ts';

const CNPJ = '11222333000181';
const SITUACAO = `https://${SITE}/cidade/api/v1/prestadores/${CNPJ}/situacao`;
const EMISSAO = `https://${SITE}/integracao/api/v1/nfse/v101`;
const DPS = path.join(ROOT, 'examples/dps.xml');
const XML = ['-H', 'Content-Type: application/xml'];
/** The time for which HAProxy and Caddy try to reach the service. */
const PATIENCE_S = 30;
const TIMEOUT = { timeout: 900_000 };

const CURL = toolOr('curl', 'curl');
const KINDS = [NGINX, HAPROXY, CADDY];
const skipOf = ({ name, program }: (typeof KINDS)[number]): string | false =>
  program === undefined ? `${name} is not here` : CURL === undefined ? 'curl is not here' : false;

let pki: Pki;
let env: NodeJS.ProcessEnv;
let behind: Behind;
let service: ServiceProcess;
const folder = freshFolder();
const through = new Map<string, Through>();

before(async () => {
  if (KINDS.every((kind) => skipOf(kind) !== false)) return;
  pki = await makePki({ pasta: path.join(folder, 'pki'), agora: Date.now(), makeKeys: readyKeys });
  const [port, painelPort] = [await ownPort(), await ownPort()];
  const names = SERVER_EXTENSIONS.replace('DNS:localhost', `DNS:${SITE},DNS:${PAINEL}`);
  const authority = createAuthority('AC do proxy');
  behind = { port, painelPort, pem: authority.issue('proxy', names), ca: authority.caFile };
  env = {
    DATABASE_URL: databaseUrlOf(await freshDatabase()),
    PORT: String(port),
    NFSE_PAINEL_PORTA: String(painelPort),
    NFSE_PAINEL_URL: `https://${PAINEL}`,
    NFSE_TRUST_PROXY: '1',
    NFSE_CLIENT_CERT_HEADER: 'X-Client-Cert',
    NFSE_LOG_LEVEL: 'info',
    NFSE_ESPERA_AO_ENCERRAR: '5',
  };
  service = await startServiceProcess(env);
  const made = await nfse(
    ['municipio', 'criar', 'cidade', '--ibge', '3550308', '--aliquota', '5.00', '--ancoras', pki.ancoras],
    env,
  );
  assert.equal(made.code, 0, made.err);
  writeFileSync(path.join(folder, 'grande.xml'), `<DPS>${'a'.repeat(20 * 2 ** 20)}</DPS>`);
  await Promise.all(
    KINDS.filter((kind) => skipOf(kind) === false).map(async (kind) =>
      through.set(kind.name, await startProxy(kind, behind)),
    ),
  );
});

const withHeaders = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => ['-H', line]);

type Files = { readonly certificado: string; readonly chave: string };
const showing = ({ certificado, chave }: Files): readonly string[] => ['--cert', certificado, '--key', chave];

/** Headers in the proxy's form, from a client that must not set them. */
const forged = ({ certificado }: Files): { readonly escaped: string; readonly base64: string } => {
  const pem = readFileSync(certificado, 'utf8');
  const leaf = pem.slice(0, pem.indexOf('-----END') + 26);
  return { escaped: encodeURIComponent(leaf), base64: leaf.replace(/-----[A-Z ]+-----|\s/g, '') };
};

function assertRefused(answer: Answer, status: number, codigo: string, mensagem: RegExp): void {
  const told = `${answer.status} ${JSON.stringify(answer.body)}`;
  assert.deepEqual([answer.status, answer.body.codigo_erro], [status, codigo], told);
  assert.match(answer.body.mensagem, mensagem);
  assert.match(answer.head, /^x-request-id: /im, 'the answer is of the service');
}

for (const kind of KINDS) {
  describe(kind.name, { skip: skipOf(kind), concurrency: true }, () => {
    const ask: Through['ask'] = (...asked) => through.get(kind.name)!.ask(...asked);

    for (const http of ['--http1.1', '--http2']) {
      test(`shows the service the certificate of a client, be it good or not (${http})`, TIMEOUT, async () => {
        const [own] = pki.prestadores;
        const good = await ask(SITUACAO, http, ...showing(own!));
        assert.equal(good.status, 200, JSON.stringify(good.body));
        assert.equal(good.version, http === '--http2' ? '2' : '1.1');
        assert.equal(good.body.certificado.documento, '11.222.333/****-**');
        const refused = (why: Parameters<typeof pki.recusados.get>[0]) =>
          ask(SITUACAO, http, ...showing(pki.recusados.get(why)!));
        assertRefused(await refused('vencido'), 401, 'E9006', /venceu em/);
        assertRefused(await refused('ainda-nao-vale'), 401, 'E9006', /só vale a partir/);
        assertRefused(
          await refused('outra-raiz'),
          401,
          'E9003',
          /Falta o certificado da autoridade "AC Raiz de Outra Cadeia"/,
        );
        assertRefused(await refused('outro-documento'), 401, 'E9007', /não é o do prestador consultado/);
        assertRefused(await ask(SITUACAO, http), 401, 'E9007', /Nenhum certificado veio com a conexão/);
      });
    }

    test('lets nobody say by a header whose certificate it is', TIMEOUT, async () => {
      const [own] = pki.prestadores;
      const other = showing(pki.recusados.get('outro-documento')!);
      for (const value of Object.values(forged(own!))) {
        for (const name of ['X-Client-Cert', 'x-client-cert', 'X_Client_Cert']) {
          const header = ['-H', `${name}: ${value}`];
          assertRefused(await ask(SITUACAO, ...header), 401, 'E9007', /Nenhum certificado veio com a conexão/);
          assertRefused(await ask(SITUACAO, ...header, ...other), 401, 'E9007', /não é o do prestador consultado/);
        }
        const twice = [
          '-H',
          `X-Client-Cert: ${value}`,
          '-H',
          'Connection: X-Client-Cert',
          '-H',
          `X-Client-Cert: ${value}`,
        ];
        assertRefused(
          await ask(SITUACAO, '--http1.1', ...twice),
          401,
          'E9007',
          /Nenhum certificado veio com a conexão/,
        );
      }
    });

    test('an expired certificate is in nobody’s way where none is asked for', TIMEOUT, async () => {
      for (const http of ['--http1.1', '--http2']) {
        const sent = await ask(
          EMISSAO,
          http,
          ...XML,
          '--data-binary',
          `@${DPS}`,
          ...showing(pki.recusados.get('vencido')!),
        );
        assert.equal(sent.status, 201, JSON.stringify(sent.body));
      }
    });

    test('the addresses that the service gives are those of the world', TIMEOUT, async () => {
      const evil = [
        '-H',
        'X-Forwarded-Host: mau.exemplo',
        '-H',
        'X-Forwarded-Proto: http',
        '-H',
        'Forwarded: host=mau.exemplo;proto=http',
      ];
      for (const http of ['--http1.1', '--http2']) {
        const wsdl = await ask(`https://${SITE}/integracao/soap/nfes?wsdl`, http, ...evil);
        assert.match(wsdl.body, new RegExp(`location="https://${SITE}/integracao/soap/nfes"`));
        assert.doesNotMatch(wsdl.body, /mau\.exemplo|127\.0\.0\.1|localhost/);
        const issued = await ask(EMISSAO, http, ...evil, ...XML, '--data-binary', `@${DPS}`);
        assert.equal(issued.status, 201, JSON.stringify(issued.body));
        assert.match(issued.head, new RegExp(`^location: https://${SITE}/integracao/api/v1/nfse/\\d{50}\\r$`, 'im'));
        const page = await ask(`https://${SITE}/docs/primeira-nota`, http, ...evil);
        assert.match(page.body, new RegExp(`https://${SITE}/integracao`));
        assert.doesNotMatch(page.body, /mau\.exemplo|127\.0\.0\.1/);
      }
      const plain = await ask(`http://${SITE}/docs?a=b`);
      assert.ok([301, 308].includes(plain.status), String(plain.status));
      assert.match(plain.head, new RegExp(`^location: https://${SITE}/docs\\?a=b\\r$`, 'im'));
    });

    test('the log has the address of the client, which it cannot choose', TIMEOUT, async () => {
      const own = `127.0.${KINDS.indexOf(kind) + 7}.9`;
      for (const http of ['--http1.1', '--http2']) {
        const lie = withHeaders(
          'X-Forwarded-For: 203.0.113.66',
          'X-Real-IP: 203.0.113.66',
          'Forwarded: for=203.0.113.66',
        );
        for (const place of ['health/live', 'integracao/api/v1/nfse/1']) {
          const { head } = await ask(`https://${SITE}/${place}`, http, '--interface', own, ...lie);
          assert.match(head, /^x-request-id: /im);
        }
      }
      // The headers that `Connection` names are for the proxy alone. A client must not make the proxy drop its own headers.
      const dropped = withHeaders('Connection: X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, X-Client-Cert');
      const marked = withHeaders(`X-Request-Id: ${own}`);
      const { head } = await ask(
        EMISSAO,
        '--http1.1',
        '--interface',
        own,
        ...dropped,
        ...marked,
        ...XML,
        '--data-binary',
        `@${DPS}`,
      );
      assert.match(head, new RegExp(`^location: https://${SITE}/`, 'im'));
      const line = await until(
        async () =>
          service
            .output()
            .split('\n')
            .find((one) => one.includes(`"${own}"`) && one.includes('POST')),
        'it is logged',
      );
      assert.equal(JSON.parse(line).client, own);
      await until(async () => service.output().split(`"client":"${own}"`).length > 2 || undefined, 'it is in the log');
      assert.doesNotMatch(service.output(), /203\.0\.113\.66/);
    });

    test('a body of 20 MB is refused by the service, however it comes', TIMEOUT, async () => {
      const file = path.join(folder, 'grande.xml');
      for (const http of ['--http1.1', '--http2']) {
        for (const expect of ['Expect: 100-continue', 'Expect:']) {
          for (let count = 0; count < 3; count += 1) {
            const known = await ask(EMISSAO, http, ...XML, '-H', expect, '--data-binary', `@${file}`);
            assertRefused(known, 413, 'E003', /passa do limite de 1 MiB/);
            const unknown = await through.get(kind.name)!.pipe(file, EMISSAO, http, ...XML, '-H', expect, '-X', 'POST');
            assertRefused(unknown, 413, 'E003', /passa do limite de 1 MiB/);
            // The next bytes on the same connection to the service are not part of the body.
            const next = await ask(`https://${SITE}/health/live`, http);
            assert.equal(next.status, 200, JSON.stringify(next.body));
          }
        }
      }
    });

    test('headers and an address that are too long are refused by the service', TIMEOUT, async () => {
      const long = await ask(`https://${SITE}/integracao/api/v1/nfse?a=${'b'.repeat(12_000)}`);
      assert.equal(long.status, 414, JSON.stringify(long.body));
      assert.match(long.head, /^x-request-id: /im);
      const headers = Array.from({ length: 6 }, (_, place) => [
        '-H',
        `X-Enchimento-${place}: ${'c'.repeat(7_000)}`,
      ]).flat();
      const heavy = await ask(SITUACAO, '--http1.1', ...headers, ...showing(pki.prestadores[0]!));
      assert.equal(heavy.status, 431, JSON.stringify(heavy.body));
      assert.match(heavy.head, /^x-request-id: /im);
    });

    test('a long question waits as long as it may', TIMEOUT, async () => {
      const seconds = process.env['NFSE_TEST_LONGO'] === undefined ? 6 : ESPERA_MAX_S;
      const api = `https://${SITE}/integracao/api/v1`;
      const documento = JSON.stringify({
        documento: ['12121212000106', '77777777000191', '88888888000191'][KINDS.indexOf(kind)],
      });
      const json = withHeaders('Content-Type: application/json');
      const { body } = await ask(`${api}/token`, ...json, '--data', documento);
      const bearer = withHeaders(`Authorization: Bearer ${body.token}`);
      const began = Date.now();
      const changes = await ask(`${api}/mudancas?desde=agora&espera=${seconds}`, ...bearer);
      assert.equal(changes.status, 200, JSON.stringify(changes.body));
      assert.ok(Date.now() - began >= seconds * 1_000, 'it has waited');
    });

    test('the console is behind it, by its own name alone', TIMEOUT, async () => {
      for (const http of ['--http1.1', '--http2']) {
        const page = await ask(`https://${PAINEL}/`, http, '-L');
        assert.equal(page.status, 200, page.body);
        assert.match(page.body, /<form[^>]*method="post"/);
        const own = ['-H', `Origin: https://${PAINEL}`, '--data', 'email=a@exemplo.gov.br&senha=errada'];
        const path_ = /<form[^>]*action="([^"]+)"/.exec(page.body)![1]!;
        const entered = await ask(new URL(path_, `https://${PAINEL}/entrar`).href, http, ...own);
        assert.ok([200, 401, 422].includes(entered.status), `${entered.status} ${entered.body}`);
        assert.equal((await ask(`https://${PAINEL}/docs`, http)).body.codigo_erro, undefined);
        assert.equal((await ask(`https://${SITE}/entrar`, http)).status, 404);
      }
    });
  });
}

test('the proxies try as long as is said', () => {
  assert.match(
    readFileSync(path.join(ROOT, 'deploy/haproxy.cfg'), 'utf8'),
    new RegExp(`^ +retries ${PATIENCE_S}$`, 'm'),
  );
  assert.match(
    readFileSync(path.join(ROOT, 'deploy/Caddyfile'), 'utf8'),
    new RegExp(`lb_try_duration ${PATIENCE_S}s$`, 'm'),
  );
});

test('a service that is gone is told in JSON, and when to come again', TIMEOUT, async (t) => {
  const there = KINDS.filter((kind) => skipOf(kind) === false);
  if (there.length === 0) return t.skip('there is no proxy here');
  // That port has no listener. HAProxy and Caddy use a short wait only here.
  const nowhere = { ...behind, port: await ownPort() };
  for (const kind of there) {
    const hasty: typeof kind = {
      ...kind,
      prepare: (text, ...rest) =>
        kind.prepare(
          text.replace('retries 30', 'retries 1').replace('lb_try_duration 30s', 'lb_try_duration 1s'),
          ...rest,
        ),
    };
    const proxy = await startProxy(hasty, nowhere);
    for (const http of ['--http1.1', '--http2']) {
      const { status, head, body } = await proxy.ask(EMISSAO, http, ...XML, '--data-binary', `@${DPS}`);
      assert.deepEqual([status, body.codigo_erro], [503, 'E999'], `${kind.name}: ${head}`);
      assert.match(body.mensagem, /fora do ar por instantes\. Antes de enviar de novo/);
      assert.match(head, /^retry-after: 5\r$/im);
      assert.match(head, /^content-type: application\/json; ?charset=utf-8\r$/im);
    }
  }
});

describe('while the service restarts', { skip: CURL === undefined ? 'curl is not here' : false }, () => {
  test('HAProxy and Caddy wait; nginx says 503, and when to come again', TIMEOUT, async (t) => {
    const there = KINDS.filter(({ name }) => through.has(name));
    if (there.length === 0) return t.skip('there is no proxy here');
    let isOver = false;
    const lines = there.map(({ name }) => {
      const [questions, answers]: [Answer[], Answer[]] = [[], []];
      const line = { name, questions, answers, isAsking: false };
      const ask = async (url: string, ...how: readonly string[]): Promise<Answer> => {
        line.isAsking = true;
        const answer = await through.get(name)!.ask(url, ...how);
        line.isAsking = false;
        return answer;
      };
      const run = async (): Promise<void> => {
        while (!isOver) {
          questions.push(await ask(`https://${SITE}/health/live`));
          answers.push(questions.at(-1)!, await ask(EMISSAO, ...XML, '--data-binary', `@${DPS}`));
        }
      };
      return { ...line, isAsking: () => line.isAsking, done: run() };
    });
    const untilAll = (is: (line: (typeof lines)[number]) => boolean, what: string): Promise<void> =>
      untilTrue(() => lines.every(is), what);
    await untilAll(({ answers }) => answers.length >= 2, 'each is answered');
    assert.equal(await service.end('SIGTERM'), 0);
    const gone = Date.now();
    // nginx answers at once; the others hold the request.
    await untilAll(
      ({ name, answers, isAsking }) => (name === 'nginx' ? answers.at(-1)!.status >= 500 : isAsking()),
      'the service is missed',
    );
    service = await startServiceProcess(env);
    // The test skips this on a machine that stands still for so long.
    const isSoon = Date.now() - gone < PATIENCE_S * 500;
    await untilAll(({ answers }) => answers.slice(-2).every(({ status }) => status < 300), 'it is found again');
    isOver = true;
    await Promise.all(lines.map(({ done }) => done));
    for (const { name, questions, answers } of lines) {
      const failed = answers.filter(({ status }) => status !== 200 && status !== 201);
      const told = `${name}: ${failed.map(({ status, body }) => `${status} ${JSON.stringify(body)}`).join('\n')}`;
      assert.ok(answers.at(-1)!.status < 300, `${name} finds the service again`);
      if (name !== 'nginx' && isSoon) {
        assert.ok(
          questions.every(({ status }) => status === 200),
          told,
        );
        // A POST at the end of a connection may have arrived: only its client may repeat it.
        assert.ok(failed.length <= 1, told);
      }
      for (const { status, head, body } of failed) {
        assert.ok([502, 503].includes(status), told);
        assert.equal(body.codigo_erro, 'E999', told);
        assert.match(head, /^retry-after: \d+\r$/im);
        assert.match(head, /^content-type: application\/json/im);
      }
      t.diagnostic(`${name}: ${answers.length} answers, ${failed.length} of them 503`);
    }
  });
});
