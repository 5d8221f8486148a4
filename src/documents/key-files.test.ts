/** Keys and certificates as openssl writes them: every form of a file, and every mismatch of a key and a certificate. */
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { CA, freshFolder, openssl, opensslAuthority } from '../../test/support/openssl.ts';
import { exposedFiles } from './exposed-files.ts';
import { type ChainedSigner, type KeyFiles, loadSigner, secretFiles, tlsMaterialOf } from './key-files.ts';

const folder = freshFolder();
const pki = opensslAuthority();
const root = pki.issue({ subject: '/CN=AC Raiz de Teste', extensions: CA, key: 'root' });
const inter = pki.issue({ subject: '/CN=AC de Teste', extensions: CA, issuer: root, key: 'inter' });
const own = pki.issue({ subject: '/CN=EMPRESA:11222333000181', issuer: inter });
const other = pki.issue({ subject: '/CN=OUTRA:88888888000191', issuer: inter, key: 'other' });
const ec = pki.issue({ subject: '/CN=EC:11222333000181', issuer: inter, key: 'ec' });
const weak = pki.issue({ subject: '/CN=FRACA:11222333000181', issuer: inter, key: 'rsa1024' });

const SENHA = 'Senha de açaí';

function fileOf(name: string, content: string | Uint8Array): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

/** The certificate of that key, signed again by the key itself for a past period. */
const expired = path.join(folder, 'vencido.pem');
openssl('x509', '-in', own.file, '-signkey', own.keyFile, '-days', '-1', '-out', expired);

const senhaArquivo = fileOf('senha.txt', `${SENHA}\n`);

/** A key in another form of openssl. */
function keyAs(name: string, ...options: readonly string[]): string {
  const file = path.join(folder, name);
  openssl(...options, '-in', own.keyFile, '-out', file, '-passout', `file:${senhaArquivo}`);
  return file;
}

async function loads(files: KeyFiles, chain: readonly Buffer[] = []): Promise<ChainedSigner> {
  const signer = await loadSigner(files);
  assert.ok(signer.key.equals(createPrivateKey(readFileSync(own.keyFile))));
  assert.deepEqual(signer.certificate.der, own.der);
  assert.deepEqual(
    signer.chain.map(({ der }) => der),
    chain,
  );
  return signer;
}

/** The message begins with the file's name as the caller gave it. */
async function fails(files: KeyFiles, file: string, says: RegExp): Promise<void> {
  await assert.rejects(loadSigner(files), (error: Error) => {
    assert.ok(error.message.startsWith(`${file}: `), error.message);
    assert.match(error.message, says);
    assert.match(error.message, /\.$/);
    return true;
  });
}

describe('takes', () => {
  const pkcs8 = keyAs('pkcs8.key', 'pkcs8', '-topk8', '-nocrypt');
  const FORMS: readonly (readonly [what: string, chave: string, isEncrypted: boolean])[] = [
    ['PKCS#8', pkcs8, false],
    ['PKCS#1', keyAs('pkcs1.key', 'rsa', '-traditional'), false],
    ['PKCS#8 under a password', keyAs('pkcs8.enc', 'pkcs8', '-topk8'), true],
    ['PKCS#8 under 3DES', keyAs('pkcs8.3des', 'pkcs8', '-topk8', '-v2', 'des3'), true],
    ['PKCS#1 under a password', keyAs('pkcs1.enc', 'rsa', '-traditional', '-aes256'), true],
    ['PKCS#8 in DER', keyAs('pkcs8.der', 'pkcs8', '-topk8', '-nocrypt', '-outform', 'DER'), false],
    ['PKCS#1 in DER', keyAs('pkcs1.der', 'rsa', '-traditional', '-outform', 'DER'), false],
  ];
  for (const [what, chave, isEncrypted] of FORMS) {
    test(what, async () => {
      await loads({ certificado: own.file, chave, senhaArquivo });
      if (!isEncrypted) await loads({ certificado: own.file, chave });
      else {
        await loads({ certificado: own.file, chave, senha: SENHA });
        await fails({ certificado: own.file, chave }, chave, /está cifrada, e nenhuma senha/);
        await fails({ certificado: own.file, chave, senha: 'x' }, chave, /não abre a chave/);
      }
    });
  }

  test('a certificate in DER, and one between others in any order', async () => {
    await loads({ certificado: fileOf('own.cer', own.der), chave: pkcs8 });
    const chain = [inter.der];
    await loads({ certificado: fileOf('a.pem', own.pem + inter.pem + root.pem), chave: pkcs8 }, chain);
    await loads({ certificado: fileOf('b.pem', root.pem + other.pem + inter.pem + own.pem), chave: pkcs8 }, chain);
    await loads({ certificado: fileOf('c.pem', `Bag Attributes\n${own.pem}\r\ntext\n`), chave: pkcs8 });
  });

  test('certificate and key in one file', async () => {
    const both = fileOf('both.pem', own.pem + readFileSync(pkcs8, 'utf8'));
    await loads({ certificado: both, chave: both });
  });

  test('one that is out of its validity: that is for who uses it', async () => {
    const signer = await loadSigner({ certificado: expired, chave: pkcs8 });
    assert.ok(signer.certificate.fim < Date.now());
  });

  test('a PKCS#12, its password from a file as editors save it', async () => {
    const pfx = path.join(folder, 'own.pfx');
    const what = ['-in', own.file, '-inkey', own.keyFile, '-certfile', inter.file];
    openssl('pkcs12', '-export', ...what, '-passout', `file:${senhaArquivo}`, '-out', pfx);
    for (const content of [SENHA, `${SENHA}\n`, `${SENHA}\r\n`, `\uFEFF${SENHA}\n\n`]) {
      await loads({ pfx, senhaArquivo: fileOf('como.txt', content) }, [inter.der]);
    }
    await loads({ pfx, senha: SENHA }, [inter.der]);
    await fails({ pfx, senha: 'x' }, pfx, /a senha informada não abre/);
    await fails({ pfx }, pfx, /nenhuma foi informada/);
    await fails({ pfx, senhaArquivo: 'nao/existe.txt' }, 'nao/existe.txt', /não existe/);
    await fails({ certificado: pfx, chave: pkcs8 }, pfx, /\.pfx/);
    await fails({ certificado: own.file, chave: pfx }, pfx, /\.pfx/);
  });
});

describe('says what does not fit', () => {
  const chave = own.keyFile;
  const certificado = own.file;

  test('files that are not there, or are something else', async () => {
    await fails({ certificado: 'nada.pem', chave }, 'nada.pem', /não existe/);
    await fails({ certificado, chave: 'nada.key' }, 'nada.key', /não existe/);
    await fails({ certificado: folder, chave }, folder, /é uma pasta/);
    await fails({ pfx: own.file }, own.file, /é um PEM/);
    const empty = fileOf('empty', '');
    await fails({ certificado: empty, chave }, empty, /vazio/);
    await fails({ certificado, chave: empty }, empty, /vazio/);
    await fails({ pfx: empty }, empty, /vazio/);
    const text = fileOf('text', 'isto não é uma chave');
    await fails({ certificado: text, chave }, text, /não traz um certificado/);
    await fails({ certificado, chave: text }, text, /não traz uma chave privada/);
    const large = fileOf('large', Buffer.alloc(5 << 20));
    await fails({ certificado: large, chave }, large, /5242880 bytes/);
  });

  test('the two exchanged, or the public key', async () => {
    await fails({ certificado, chave: own.file }, own.file, /só o certificado/);
    await fails({ certificado: own.keyFile, chave }, own.keyFile, /não traz certificado/);
    const publica = fileOf('publica.pem', openssl('rsa', '-in', own.keyFile, '-pubout'));
    await fails({ certificado, chave: publica }, publica, /chave pública/);
  });

  test('damaged PEM', async () => {
    const cut = fileOf('cut.key', readFileSync(own.keyFile, 'utf8').replace(/\n[^\n]{64}\n/, '\n'));
    await fails({ certificado, chave: cut }, cut, /corrompida ou incompleta/);
    const bad = fileOf('bad.pem', own.pem.replace(/\n[^\n]{64}\n/, '\n'));
    await fails({ certificado: bad, chave }, bad, /não são um certificado/);
  });

  test('a key of another certificate', async () => {
    await fails({ certificado: other.file, chave }, other.file, /o certificado não é par da chave de .*\.key/);
    const two = fileOf('two.pem', other.pem + inter.pem);
    await fails({ certificado: two, chave }, two, /nenhum dos certificados é par/);
    const pfx = path.join(folder, 'other.pfx');
    const bare = openssl('pkcs12', '-export', '-nocerts', '-inkey', own.keyFile, '-passout', 'pass:x');
    writeFileSync(pfx, bare);
    await fails({ pfx, senha: 'x' }, pfx, /não traz certificado/);
  });

  test('keys that sign no note', async () => {
    await fails({ certificado: ec.file, chave: ec.keyFile }, ec.file, /tipo ec.*RSA/);
    await fails({ certificado: weak.file, chave: weak.keyFile }, weak.file, /1024 bits/);
  });
});

test('what TLS wants: the key, and the certificate with its chain', async () => {
  const signer = await loadSigner({
    certificado: fileOf('tls.pem', root.pem + inter.pem + own.pem),
    chave: own.keyFile,
  });
  const { key, cert } = tlsMaterialOf(signer);
  assert.equal(cert, own.pem + inter.pem);
  assert.ok(createPrivateKey(key).equals(signer.key));
});

describe('a secret that others may reach', { skip: process.platform === 'win32' }, () => {
  const place = path.join(folder, 'aberta');
  mkdirSync(place);
  chmodSync(folder, 0o755);
  const secret = path.join(place, 'chave.pem');
  writeFileSync(secret, 'XPTO-123');
  symlinkSync(secret, path.join(place, 'atalho.pem'));
  const told = async (mode: number, around = 0o755, file = secret): Promise<number> => {
    chmodSync(secret, mode);
    chmodSync(place, around);
    return (await exposedFiles([file])).length;
  };

  test('is told by its file, with the way to mend it, and nothing of what is in it', async () => {
    assert.equal(await told(0o644), 1);
    const [said] = await exposedFiles([secret, path.join(place, 'nenhum')]);
    assert.ok(said!.endsWith(`chmod 600 ${secret}`) && !said!.includes('XPTO-123'), `${said}`);
    for (const mode of [0o604, 0o602, 0o666]) assert.equal(await told(mode), 1, mode.toString(8));
    assert.equal(await told(0o644, 0o755, path.join(place, 'atalho.pem')), 1);
  });

  test('is none where the file, or a folder above it, is closed to them', async () => {
    for (const mode of [0o600, 0o400, 0o640, 0o660]) assert.equal(await told(mode), 0, mode.toString(8));
    for (const around of [0o700, 0o750, 0o754]) assert.equal(await told(0o644, around), 0, around.toString(8));
  });

  test('is the key and its password, and no certificate', () => {
    assert.deepEqual(secretFiles({ certificado: 'c', chave: 'k', senhaArquivo: 's' }), ['k', 's']);
    assert.deepEqual(secretFiles({ certificado: 'c', chave: 'k' }), ['k']);
    assert.deepEqual(secretFiles({ pfx: 'p', senhaArquivo: 's' }), ['p', 's']);
  });
});
