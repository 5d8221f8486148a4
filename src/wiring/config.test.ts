/** Settings from the environment: the allowed values, and the message with the remedy for a wrong one. */
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe, test } from 'node:test';
import { type Config, ConfigError, processesFor, readConfig, serviceUrlOf } from './config.ts';

const read = (env: NodeJS.ProcessEnv): Config => readConfig(env, false);

function refused(env: NodeJS.ProcessEnv, message: RegExp): void {
  assert.throws(
    () => read(env),
    (error: unknown) => error instanceof ConfigError && message.test(error.message),
  );
}

describe('the certificate of a client behind a proxy', () => {
  const header = 'NFSE_CLIENT_CERT_HEADER';
  const proxies = 'NFSE_CLIENT_CERT_PROXIES';

  test('is not looked for unless a header is named', () => {
    assert.equal(read({}).certificateHeader, undefined);
    assert.equal(read({ [header]: '' }).certificateHeader, undefined);
  });

  test('is believed from this machine alone, unless proxies are named', () => {
    const { name, proxies: believed } = read({ [header]: 'X-Client-Cert' }).certificateHeader!;
    assert.equal(name, 'x-client-cert');
    assert.ok(believed.check('127.0.0.1', 'ipv4') && believed.check('::1', 'ipv6'));
    assert.ok(!believed.check('127.0.0.2', 'ipv4') && !believed.check('10.0.0.1', 'ipv4'));
  });

  test('takes addresses and networks', () => {
    const listed = read({ [header]: 'X-Cert', [proxies]: '10.1.0.0/16, 192.168.0.7,fd00::/8' }).certificateHeader!;
    for (const [address, family] of [
      ['10.1.255.255', 'ipv4'],
      ['192.168.0.7', 'ipv4'],
      ['fd12::1', 'ipv6'],
    ] as const) {
      assert.ok(listed.proxies.check(address, family), address);
    }
    for (const address of ['10.2.0.1', '192.168.0.8', '127.0.0.1']) assert.ok(!listed.proxies.check(address), address);
  });

  test('refuses what is no address, a network of everybody, and a list without a header', () => {
    for (const text of ['proxy', '10.0.0.0/33', '0.0.0.0/0', '::/0', '10.0.0.0/x', '10.0.0.1,', '10.0.0.0/-1']) {
      refused(
        { [header]: 'X-Cert', [proxies]: text },
        /NFSE_CLIENT_CERT_PROXIES: ".*" não é um endereço IP nem uma rede/,
      );
    }
    refused({ [proxies]: '10.0.0.1' }, /veio sem NFSE_CLIENT_CERT_HEADER/);
    refused({ [header]: 'X Cert' }, /não é o nome de um cabeçalho/);
  });
});

test('one process answers for each two cores, from one to four, unless a number of them is asked for', () => {
  assert.deepEqual([1, 2, 3, 4, 6, 8, 16, 64].map(processesFor), [1, 1, 1, 2, 3, 4, 4, 4]);
  assert.equal(read({}).processes, processesFor(availableParallelism()));
  assert.equal(read({ NFSE_PROCESSOS: '1' }).processes, 1);
  assert.equal(read({ NFSE_PROCESSOS: '16' }).processes, 16);
  for (const text of ['0', '17', '-1', '1.5', 'dois', '100'])
    refused({ NFSE_PROCESSOS: text }, /NFSE_PROCESSOS=.* de 1 a 16/);
});

test('what is served after a SIGTERM is a number of seconds', () => {
  assert.equal(read({}).drainMs, 5_000);
  assert.equal(read({ NFSE_ESPERA_AO_ENCERRAR: '0' }).drainMs, 0);
  assert.equal(read({ NFSE_ESPERA_AO_ENCERRAR: '30' }).drainMs, 30_000);
  for (const text of ['5s', '-1', '601', '1.5'])
    refused({ NFSE_ESPERA_AO_ENCERRAR: text }, /NFSE_ESPERA_AO_ENCERRAR=.* de 0 a 600/);
});

test('the service of this machine is sought where these settings have it listen', () => {
  const url = (env: NodeJS.ProcessEnv): string => serviceUrlOf(read(env));
  assert.equal(url({}), 'http://127.0.0.1:8080');
  assert.equal(url({ PORT: '18473' }), 'http://127.0.0.1:18473');
  assert.equal(url({ PORT: '0', NFSE_HOST: '0.0.0.0' }), 'http://127.0.0.1:8080');
  assert.equal(url({ NFSE_HOST: '::', PORT: '81' }), 'http://[::1]:81');
  assert.equal(url({ NFSE_BASE_URL: 'https://nfse.exemplo.gov.br' }), 'http://127.0.0.1:8080');
  const tls = { NFSE_TLS_CERTIFICADO: 'c.pem', NFSE_TLS_CHAVE: 'c.key' };
  assert.equal(url({ ...tls, NFSE_HOST: '10.0.0.7' }), 'https://10.0.0.7:8080');
  assert.equal(url({ ...tls, NFSE_BASE_URL: 'https://nfse.exemplo.gov.br' }), 'https://nfse.exemplo.gov.br');
});

test('TLS of its own takes the certificate and its key, never one alone', () => {
  assert.equal(read({}).tls, undefined);
  const both = { NFSE_TLS_CERTIFICADO: 'a.pem', NFSE_TLS_CHAVE: 'a.key' };
  assert.deepEqual(read(both).tls, { certificado: 'a.pem', chave: 'a.key' });
  refused({ NFSE_TLS_CERTIFICADO: 'a.pem' }, /sem NFSE_TLS_CHAVE/);
  refused({ NFSE_TLS_CHAVE: 'a.key' }, /sem NFSE_TLS_CERTIFICADO/);
});
