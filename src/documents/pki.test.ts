/** The test PKI, tried with openssl, with TLS, and with our own reader of certificates. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import tls from 'node:tls';
import { onEnd } from '../../test/support/cleanup.ts';
import { readyKeys } from '../../test/support/keys.ts';
import { freshFolder, openssl } from '../../test/support/openssl.ts';
import { type CertificateFiles, makePki, type Pki } from '../subjects/municipios/make-pki.ts';
import { type Certificate, certificatesOfPem } from './certificate.ts';
import { loadSigner, tlsMaterialOf } from './key-files.ts';
import { openTrust } from './trust.ts';

const CNPJS = ['11222333000181', '11222333000262', '12ABC34501DE35'];
const AGORA = Date.now();

const pasta = path.join(freshFolder(), 'pki');
let pki: Pki;

before(async () => {
  pki = await makePki({ pasta, cnpjs: CNPJS, agora: AGORA, makeKeys: readyKeys });
});

function leafOf(file: { readonly certificado: string }): Certificate {
  return certificatesOfPem(readFileSync(file.certificado, 'utf8'))[0]!;
}

const anchors = (): string[] => {
  const place = path.join(pki.ancoras, 'ac-raiz-de-teste.pem');
  return ['-no-CApath', '-no-CAstore', '-x509_strict', '-CAfile', place];
};

/** The verdict of openssl on a certificate under the root, with the chain from its own file. */
function opensslSays(file: string, ...options: readonly string[]): string {
  try {
    return openssl('verify', ...anchors(), '-untrusted', file, ...options, file).toString();
  } catch (error) {
    return String((error as { stderr: Buffer }).stderr);
  }
}

describe('certificates', () => {
  test('stand in a chain to the root, in the eyes of openssl', () => {
    for (const { certificado } of [...pki.prestadores, pki.municipio]) {
      for (const purpose of ['smimesign', 'sslclient']) {
        assert.match(opensslSays(certificado, '-purpose', purpose), /: OK/);
      }
      assert.doesNotMatch(opensslSays(certificado, '-purpose', 'sslserver'), /: OK/);
    }
    const names = ['-verify_hostname', 'localhost'];
    assert.match(opensslSays(pki.adn.certificado, '-purpose', 'sslserver', ...names), /: OK/);
    for (const ip of ['127.0.0.1', '::1']) assert.match(opensslSays(pki.adn.certificado, '-verify_ip', ip), /: OK/);
    assert.doesNotMatch(opensslSays(pki.adn.certificado, '-verify_hostname', 'exemplo.com.br'), /: OK/);
  });

  test('are what they are called, in the eyes of openssl', () => {
    const crls = ['ac-raiz-de-teste.crl', 'ac-de-teste.crl'].flatMap((name) => [
      '-CRLfile',
      path.join(pki.revogados, name),
    ]);
    const said = (why: Parameters<Pki['recusados']['get']>[0]): string =>
      opensslSays(pki.recusados.get(why)!.certificado, '-crl_check_all', ...crls);
    assert.match(said('vencido'), /certificate has expired/);
    assert.match(said('ainda-nao-vale'), /not yet valid/);
    assert.match(said('revogado'), /certificate revoked/);
    assert.match(said('outra-raiz'), /unable to get local issuer|self-signed certificate in certificate chain/);
    assert.match(said('outro-documento'), /: OK/);
    for (const one of pki.prestadores) {
      assert.match(opensslSays(one.certificado, '-crl_check_all', ...crls), /: OK/);
    }
  });

  test('carry the fields of ICP-Brasil', () => {
    assert.deepEqual(otherNamesOf(pki.prestadores[0]!.certificado), {
      '2.16.76.1.3.2': 'RESPONSAVEL DE TESTE',
      '2.16.76.1.3.3': '11222333000181',
      '2.16.76.1.3.4': `3101198012345678909${'0'.repeat(26)}${' '.repeat(6)}`,
      '2.16.76.1.3.7': '000000000000',
    });
    const person = pki.prestadores.at(-1)!;
    assert.equal(
      otherNamesOf(person.certificado)['2.16.76.1.3.1'],
      `2512199011144477735${'0'.repeat(26)}${' '.repeat(6)}`,
    );
    const text = openssl('x509', '-in', pki.prestadores[0]!.certificado, '-noout', '-text').toString();
    assert.match(text, /Subject: .*CN ?= ?PRESTADOR 1 DE TESTE LTDA:11222333000181/);
    assert.match(text, /Key Usage: critical\s+Digital Signature, Non Repudiation, Key Encipherment/);
    assert.match(text, /TLS Web Client Authentication, E-mail Protection/);
    assert.match(text, /Policy: 2\.16\.76\.1\.2\.1\./);
    // The authorities write names in capitals and without accents.
    const subject = openssl('x509', '-in', pki.municipio.certificado, '-noout', '-subject').toString();
    assert.match(subject, /CN ?= ?MUNICIPIO DE TESTE:99999999000191/);
  });

  test('are read as whose they are', () => {
    const holders = pki.prestadores.map((one) => leafOf(one).holder);
    assert.deepEqual(holders, [
      ...CNPJS.map((documento) => ({ tipo: 'CNPJ', documento, onde: 'SAN 2.16.76.1.3.3' })),
      { tipo: 'CPF', documento: '11144477735', onde: 'SAN 2.16.76.1.3.1' },
    ]);
    assert.equal(leafOf(pki.municipio).holder?.documento, '99999999000191');
    assert.equal(leafOf(pki.recusados.get('outro-documento')!).holder?.documento, '88888888000191');
  });

  test('are trusted or not as they should be', () => {
    const { ancoras, revogados } = pki;
    const trust = openTrust({ ancoras, revogados }, { warn: (_, message) => assert.fail(message) });
    const kind = (one: CertificateFiles): string => {
      const [leaf, ...extra] = certificatesOfPem(readFileSync(one.certificado, 'utf8'));
      return trust.judge(leaf!, AGORA, extra).kind;
    };
    for (const one of [...pki.prestadores, pki.municipio]) assert.equal(kind(one), 'trusted');
    assert.equal(kind(pki.recusados.get('outro-documento')!), 'trusted');
    assert.equal(kind(pki.recusados.get('revogado')!), 'revoked');
    assert.equal(kind(pki.recusados.get('outra-raiz')!), 'untrusted');
  });
});

/** Identifier and text of each otherName, as asn1parse shows them. */
function otherNamesOf(file: string): Record<string, string> {
  const lines = openssl('asn1parse', '-in', file).toString().split('\n');
  const at = lines.findIndex((line) => line.includes('X509v3 Subject Alternative Name'));
  const offset = /^\s*(\d+):/.exec(lines[at + 1]!)![1]!;
  const inner = openssl('asn1parse', '-in', file, '-strparse', offset).toString();
  const found: Record<string, string> = {};
  for (const [, oid, text] of inner.matchAll(/OBJECT\s*:(\S+)\n.*\n.*OCTET STRING\s*:(.*)\n/g)) found[oid!] = text!;
  return found;
}

test('revocation lists are good, and hold the one', () => {
  const issuer = path.join(pki.ancoras, 'ac-de-teste.pem');
  const list = path.join(pki.revogados, 'ac-de-teste.crl');
  const text = openssl('crl', '-in', list, '-noout', '-text').toString();
  assert.equal(text.match(/Serial Number:/g)?.length, 1);
  const revoked = leafOf(pki.recusados.get('revogado')!).serial.toUpperCase();
  assert.match(text, new RegExp(`Serial Number: ${revoked}`));
  assert.match(text, /Key Compromise/);
  const { stderr } = spawnSync('openssl', ['crl', '-in', list, '-noout', '-CAfile', issuer], { encoding: 'utf8' });
  assert.match(stderr, /verify OK/);
});

describe('the folder', () => {
  test('keeps keys, containers and the password for their owner', () => {
    const all = [...pki.prestadores, pki.municipio, ...pki.recusados.values()];
    for (const file of [...all.flatMap(({ chave, pfx }) => [chave, pfx]), pki.adn.chave, pki.senhaArquivo]) {
      assert.equal(statSync(file).mode & 0o077, 0, file);
    }
  });

  test('has each signer as PEM and as PKCS#12, of one key', async () => {
    for (const one of [...pki.prestadores, pki.municipio, ...pki.recusados.values()]) {
      const { certificado, chave, pfx, documento } = one;
      const [fromPem, fromPfx] = await Promise.all([
        loadSigner({ certificado, chave }),
        loadSigner({ pfx, senhaArquivo: pki.senhaArquivo }),
      ]);
      assert.equal(fromPem.certificate.fingerprint, fromPfx.certificate.fingerprint);
      assert.ok(fromPem.key.equals(fromPfx.key));
      assert.equal(fromPem.certificate.holder?.documento, documento);
      assert.equal(fromPem.chain.length, one === pki.recusados.get('outra-raiz') ? 0 : 1);
    }
  });

  test('is never written over', async () => {
    await assert.rejects(makePki({ pasta, agora: AGORA }), /já tem arquivos.*--pasta/);
    await assert.rejects(makePki({ pasta: pki.senhaArquivo, agora: AGORA }), /é um arquivo/);
    const other = path.join(freshFolder(), 'nova');
    await assert.rejects(makePki({ pasta: other, cnpjs: ['11222333000180'], agora: AGORA }), /11222333000180/);
    await assert.rejects(makePki({ pasta: other, cpf: '11144477736', agora: AGORA }), /CPF/);
    assert.throws(() => statSync(other), /ENOENT/);
  });

  test('is made in an empty one, with as little as is asked for', async () => {
    const empty = path.join(freshFolder(), 'vazia');
    await mkdir(empty);
    // This PKI has keys of its own.
    const small = await makePki({ pasta: empty, recusados: false, senha: 'Senha de açaí', agora: AGORA });
    assert.equal(small.recusados.size, 0);
    assert.deepEqual(
      small.prestadores.map(({ documento }) => documento),
      ['11222333000181', '11144477735'],
    );
    assert.equal(readFileSync(small.senhaArquivo, 'utf8'), 'Senha de açaí\n');
    const { certificado, pfx } = small.municipio;
    const text = openssl('x509', '-in', certificado, '-noout', '-text').toString();
    assert.match(text, /Public-Key: \(2048 bit\)/);
    openssl('pkcs12', '-in', pfx, '-passin', `file:${small.senhaArquivo}`, '-nodes', '-out', '/dev/null');
  });

  test('finds a stranger even when its first choice was asked for', async () => {
    const keys = readyKeys();
    const asked = { cnpjs: ['88888888000191'], agora: AGORA, makeKeys: () => keys };
    const one = await makePki({ pasta: path.join(freshFolder(), 'x'), ...asked });
    assert.equal(one.recusados.get('outro-documento')!.documento, '77777777000191');
  });
});

test('the municipality and the simulator know each other over TLS, and nobody else gets in', async () => {
  const server = tls.createServer({
    cert: readFileSync(pki.adn.certificado),
    key: readFileSync(pki.adn.chave),
    ca: readFileSync(pki.adn.clientes),
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  });
  server.on('secureConnection', (socket) => {
    socket.on('error', () => undefined);
    socket.end(String(socket.getPeerCertificate().subject.CN));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => server.close());
  const { port } = server.address() as import('node:net').AddressInfo;
  const ca = readFileSync(pki.adn.ca);

  const greeted = (host: string, client: object): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = tls.connect({ host: '127.0.0.1', port, servername: host, ca, ...client }, () => undefined);
      let text = '';
      socket.on('data', (data) => {
        text += data;
      });
      socket.on('end', () => (text === '' ? reject(new Error('nothing said')) : resolve(text)));
      socket.on('error', reject);
    });
  const material = async (one: CertificateFiles): Promise<object> => tlsMaterialOf(await loadSigner(one));

  assert.equal(await greeted('localhost', await material(pki.municipio)), 'MUNICIPIO DE TESTE:99999999000191');
  await assert.rejects(greeted('localhost', {}));
  await assert.rejects(greeted('localhost', await material(pki.recusados.get('outra-raiz')!)));
  await assert.rejects(greeted('localhost', await material(pki.recusados.get('vencido')!)));
  await assert.rejects(greeted('exemplo.com.br', await material(pki.municipio)), /altnames/);
});
