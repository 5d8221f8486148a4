/** PKCS#12 in both directions with openssl: the ciphers of old and new authorities, passwords of all kinds, and other files. */
import assert from 'node:assert/strict';
import { createPrivateKey, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createSecureContext } from 'node:tls';
import forge from 'node-forge';
import { decifrarRc2 } from '../../packages/cliente/src/rc2.ts';
import { CA, freshFolder, openssl, opensslAuthority } from '../../test/support/openssl.ts';
import { der, readAsn1 } from './asn1.ts';
import { readPfx, writePfx } from './pfx.ts';

const folder = freshFolder();
const pki = opensslAuthority();
const root = pki.issue({ subject: '/CN=AC Raiz de Teste', extensions: CA });
const own = pki.issue({ subject: '/CN=EMPRESA:11222333000181', issuer: root });
const key = createPrivateKey(readFileSync(own.keyFile));
const keyPem = key.export({ type: 'pkcs8', format: 'pem' });

const ASCII = 'Senha com espaço e $ímbolos'.normalize('NFD').replace(/\p{M}/gu, '');
const PASSWORDS = ['', 'x', ASCII, 'Coração de açaí', '漢字', 'chave 😀', 'x'.repeat(300)];

let count = 0;

function fileOf(content: string | Uint8Array): string {
  count += 1;
  const file = path.join(folder, String(count));
  writeFileSync(file, content);
  return file;
}

/** A file made by openssl. Undefined: this openssl does not know the cipher, and the reason is printed. */
function exported(senha: string, ...options: readonly string[]): Buffer | undefined {
  const what = ['-in', own.file, '-inkey', own.keyFile, '-passout', `file:${fileOf(`${senha}\n`)}`];
  try {
    return openssl('pkcs12', '-export', ...what, ...options);
  } catch (error) {
    const said = String((error as { stderr?: Buffer }).stderr);
    assert.match(said, /unsupported|legacy|inner_evp|unknown/i, said);
    console.warn(`openssl here does not write ${options.join(' ')}: done without it`);
    return undefined;
  }
}

async function gives(pfx: Uint8Array | undefined, senha: string, chain: readonly Buffer[] = []): Promise<void> {
  if (pfx === undefined) return;
  const read = readPfx(pfx, senha);
  assert.equal(read.keyPem, keyPem);
  assert.deepEqual(read.certificates, [own.der, ...chain]);
}

describe('reads what openssl writes', () => {
  const LEGACY = ['-legacy'];
  const PBE = (certificates: string, keys: string): string[] => ['-certpbe', certificates, '-keypbe', keys];
  const KINDS: readonly (readonly [what: string, ...options: readonly string[]])[] = [
    ['AES-256, the default of today'],
    ['AES-128 and AES-192', ...PBE('AES-128-CBC', 'AES-192-CBC')],
    ['3DES with a MAC of SHA-1, as Windows writes it', ...PBE('PBE-SHA1-3DES', 'PBE-SHA1-3DES'), '-macalg', 'sha1'],
    ['3DES under PBES2', ...PBE('DES-EDE3-CBC', 'DES-EDE3-CBC')],
    ['3DES of two keys', ...PBE('PBE-SHA1-2DES', 'PBE-SHA1-2DES')],
    ['RC2 of 40 bits for certificates, as the authorities write it', ...LEGACY],
    ['RC2 of 40 bits for both', ...LEGACY, ...PBE('PBE-SHA1-RC2-40', 'PBE-SHA1-RC2-40')],
    ['RC2 of 128 bits', ...LEGACY, ...PBE('PBE-SHA1-RC2-128', 'PBE-SHA1-RC2-128')],
    ['a MAC of SHA-384', '-macalg', 'sha384'],
    ['a MAC of SHA-512', '-macalg', 'sha512'],
    ['no MAC', '-nomac'],
    ['one iteration', '-noiter', '-nomaciter'],
    ['a hundred thousand iterations', '-iter', '100000'],
    ['certificates in the clear', ...PBE('NONE', 'AES-256-CBC')],
    ['a friendly name', '-name', 'Certificado da Emprêsa'],
  ];
  for (const [what, ...options] of KINDS) {
    // Files without a chain are read under each password below.
    test(what, () => gives(exported(ASCII, ...options, '-certfile', root.file), ASCII, [root.der]));
  }

  for (const senha of PASSWORDS) {
    test(`the password ${JSON.stringify(senha.slice(0, 30))}`, async () => {
      await gives(exported(senha), senha);
      await gives(exported(senha, '-legacy'), senha);
    });
  }

  test('a password whose octets were taken for letters, as OpenSSL did before 1.1', async () => {
    const senha = 'Coração';
    const octets = Buffer.from(senha, 'utf8').toString('latin1');
    await gives(exported(octets, '-certpbe', 'PBE-SHA1-3DES', '-keypbe', 'PBE-SHA1-3DES'), senha);
  });

  test('the certificate of the key, wherever it stands', async () => {
    const what = ['-in', fileOf(root.pem + own.pem), '-inkey', own.keyFile, '-passout', 'pass:x'];
    await gives(openssl('pkcs12', '-export', ...what), 'x', [root.der]);
  });

  test('BER with the content in pieces and lengths left open', async () => {
    const pfx = exported('x')!;
    const [version, authSafe, mac] = readAsn1(pfx).children;
    const [type, wrapped] = authSafe!.children;
    const { content } = wrapped!.children[0]!;
    const open = (tag: number, ...parts: Buffer[]): Buffer =>
      Buffer.concat([Buffer.from([tag, 0x80]), ...parts, Buffer.from([0, 0])]);
    const piece = (octets: Buffer): Buffer =>
      Buffer.concat([Buffer.from([0x04, 0x82, octets.length >> 8, octets.length & 0xff]), octets]);
    const pieces = open(0x24, piece(content.subarray(0, 500)), piece(content.subarray(500)));
    const ber = open(0x30, version!.raw, open(0x30, type!.raw, open(0xa0, pieces)), mac!.raw);
    // openssl accepts the file too, or it would be no PKCS#12.
    openssl('pkcs12', '-in', fileOf(ber), '-passin', 'pass:x', '-nodes', '-out', '/dev/null');
    await gives(ber, 'x');
  });
});

describe('openssl reads what is written', () => {
  for (const senha of PASSWORDS) {
    test(`under the password ${JSON.stringify(senha.slice(0, 30))}`, async () => {
      const pfx = await writePfx(key, [own.der, root.der], senha);
      const from = ['-in', fileOf(pfx), '-passin', `file:${fileOf(`${senha}\n`)}`];
      const pem = openssl('pkcs12', ...from, '-nodes').toString('utf8');
      const blocks = [...pem.matchAll(/-----BEGIN (?:CERTIFICATE|PRIVATE KEY)-----[^-]+-----END [A-Z ]+-----\n/g)];
      assert.deepEqual(
        blocks.map(([block]) => block),
        [own.pem, root.pem, keyPem],
      );
      await gives(pfx, senha, [root.der]);
    });
  }

  test('and of which certificate the key is, and nothing under another password', async () => {
    for (const senha of ['x', 'Coração de açaí']) {
      const pfx = await writePfx(key, [own.der, root.der], senha);
      const from = ['-in', fileOf(pfx), '-passin', `file:${fileOf(`${senha}\n`)}`];
      const leaf = openssl('pkcs12', ...from, '-nokeys', '-clcerts').toString('utf8');
      assert.ok(leaf.includes(own.pem) && !leaf.includes(root.pem), 'the key names its certificate');
      assert.throws(() => readPfx(pfx, `${senha}?`), /a senha/);
    }
  });

  test('and so does the TLS of Node', async () => {
    createSecureContext({ pfx: await writePfx(key, [own.der, root.der], 'x'), passphrase: 'x' });
  });

  test('two of the same are different', async () => {
    const [one, other] = await Promise.all([writePfx(key, [own.der], 'x'), writePfx(key, [own.der], 'x')]);
    assert.notDeepEqual(one, other);
  });
});

describe('says what is wrong', () => {
  const pfx = exported(ASCII)!;

  test('a wrong password', async () => {
    for (const kind of [pfx, exported(ASCII, '-legacy'), exported(ASCII, '-nomac')]) {
      if (kind === undefined) continue;
      assert.throws(() => readPfx(kind, 'outra'), /a senha informada não abre/);
      assert.throws(() => readPfx(kind, 'Coração'), /a senha informada não abre/);
      assert.throws(() => readPfx(kind, ''), /tem senha, e nenhuma foi informada/);
    }
    assert.throws(() => readPfx(pfx, `${ASCII} `), /começa ou termina com espaço/);
  });

  const OTHERS: readonly (readonly [what: string, bytes: () => Uint8Array | undefined, says: RegExp])[] = [
    ['nothing', () => Buffer.alloc(0), /vazio/],
    ['PEM', () => Buffer.from(own.pem), /é um PEM/],
    ['a certificate', () => own.der, /só um certificado/],
    ['Base64', () => Buffer.from(pfx.toString('base64')), /Base64/],
    ['text', () => Buffer.from('minha senha'), /não é um PKCS#12/],
    ['the first half', () => pfx.subarray(0, pfx.length / 2), /não é um PKCS#12.*incompleto/],
    ['a private key', () => key.export({ type: 'pkcs8', format: 'der' }), /não é um PKCS#12/],
    ['no key', () => exported(ASCII, '-nokeys'), /não traz chave privada/],
    ['RC4', () => exported(ASCII, '-legacy', '-keypbe', 'PBE-SHA1-RC4-128'), /cifra que não se lê/],
  ];
  for (const [what, bytes, says] of OTHERS) {
    test(what, async () => {
      const content = bytes();
      if (content !== undefined) assert.throws(() => readPfx(content, ASCII), says);
    });
  }

  test('a key without its certificate', async () => {
    const alone = openssl('pkcs12', '-export', '-nocerts', '-inkey', own.keyFile, '-passout', 'pass:x');
    assert.throws(() => readPfx(alone, 'x'), /não traz certificado/);
  });

  test('an absurd number of iterations is not counted out', async () => {
    const [version, authSafe, mac] = readAsn1(pfx).children;
    const [digest, salt] = mac!.children;
    const slow = der.sequence(digest!.raw, salt!.raw, der.integer(2n ** 40n));
    const began = process.cpuUsage();
    assert.throws(() => readPfx(der.sequence(version!.raw, authSafe!.raw, slow), ASCII), /não é um PKCS#12/);
    // Counting so many iterations would take days.
    assert.ok(process.cpuUsage(began).user < 60_000_000);
  });

  test('no changed byte hangs it or breaks out in another way', async () => {
    // The password of this file is tried two hundred times.
    const quick = exported(ASCII, '-noiter', '-nomaciter')!;
    let state = 7;
    const next = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (state >> 8) % below;
    };
    for (let i = 0; i < 200; i += 1) {
      const copy = Buffer.from(quick);
      copy[next(copy.length)]! ^= 1 + next(255);
      try {
        assert.equal(readPfx(copy, ASCII).keyPem, keyPem);
      } catch (error) {
        assert.match((error as Error).message, /PKCS#12|só um certificado/);
      }
    }
  });
});

test('RC2 as node-forge writes it', () => {
  for (const size of [5, 16]) {
    for (let length = 0; length < 40; length += 1) {
      const [rc2Key, iv, plain] = [randomBytes(size), randomBytes(8), randomBytes(length)];
      const cipher = forge.rc2.createEncryptionCipher(rc2Key.toString('latin1'), size * 8);
      cipher.start(iv.toString('latin1'));
      cipher.update(forge.util.createBuffer(plain.toString('latin1')));
      assert.ok(cipher.finish());
      const octets = Buffer.from(cipher.output.getBytes(), 'latin1');
      assert.deepEqual(decifrarRc2(octets, rc2Key, iv), plain);
    }
  }
});
