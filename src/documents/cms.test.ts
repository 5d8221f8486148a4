/** The signature of a JSON body, compared with openssl byte by byte in both directions, and its faults. */
import assert from 'node:assert/strict';
import { constants, createPrivateKey, hash, privateEncrypt, sign, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import forge from 'node-forge';
import { CA, END, freshFolder, type Issued, openssl, opensslAuthority } from '../../test/support/openssl.ts';
import { der, readAsn1 } from './asn1.ts';
import { readCertificate } from './certificate.ts';
import { type CmsReading, verifyCms } from './cms.ts';
import { type CmsSigner, signCms } from './cms-sign.ts';

const CAMPO = 'X-DPS-Assinatura';
const folder = freshFolder();
const pki = opensslAuthority();
const root = pki.issue({ subject: '/O=ICP-Brasil/CN=AC Raiz de Teste', extensions: CA });
const WITH_KEY_ID = [...END, 'subjectKeyIdentifier=hash'];
const provider = pki.issue({ subject: '/CN=EMPRESA:11222333000181', issuer: root, extensions: WITH_KEY_ID });
/** The same key, renewed: another certificate. */
const renewed = pki.issue({ subject: '/CN=EMPRESA:11222333000181', issuer: root, extensions: WITH_KEY_ID });
const stranger = pki.issue({ subject: '/CN=OUTRA:88888888000191', issuer: root, key: 'stranger' });

const BODY = Buffer.from(
  '{"serie_dps":"1","numero_dps":"12","prestador":"São João & Cia / Filhos","valor_servico":1000.50}',
);

let files = 0;

function fileOf(content: string | Uint8Array): string {
  files += 1;
  const file = path.join(folder, String(files));
  writeFileSync(file, content);
  return file;
}

const signatures = new Map<string, Buffer>();

/** A signature by openssl, detached and in DER unless the options say otherwise; the result for equal input is kept. */
function opensslCms(body: Uint8Array, options: readonly string[] = [], signer: Issued = provider): Buffer {
  const question = JSON.stringify([hash('sha256', body), options, signer.file]);
  const known = signatures.get(question);
  if (known !== undefined) return known;
  const by = ['-signer', signer.file, '-inkey', signer.keyFile];
  const cms = openssl('cms', '-sign', '-binary', '-in', fileOf(body), ...by, '-outform', 'DER', ...options);
  signatures.set(question, cms);
  return cms;
}

/** The signature of another body, made from openssl's signature of the usual one: a new digest, and a new value from OpenSSL. */
function opensslCmsOver(body: Uint8Array, options: readonly ['-noattr'] | readonly [] = []): Buffer {
  const cms = opensslCms(BODY, options);
  const info = readAsn1(cms).children[1]!.children[0]!.children.at(-1)!.children[0]!;
  const key = createPrivateKey(readFileSync(provider.keyFile));
  const value = info.children.at(-1)!.content;
  if (options.length > 0) return swapped(cms, value, sign('sha256', body, key));
  const { raw } = info.children[3]!;
  const attributes = swapped(raw, hash('sha256', BODY, 'buffer'), hash('sha256', body, 'buffer'));
  // The attributes are signed as a SET, and transmitted under another tag (RFC 5652, 5.4).
  const signed = Buffer.concat([Buffer.from([0x31]), attributes.subarray(1)]);
  return swapped(swapped(cms, raw, attributes), value, sign('sha256', signed, key));
}

function verified(cms: Uint8Array, body: Uint8Array = BODY): CmsReading {
  return verifyCms(Buffer.from(cms).toString('base64'), body, CAMPO);
}

function accepts(cms: Uint8Array, body: Uint8Array = BODY): CmsReading {
  const reading = verified(cms, body);
  assert.deepEqual(reading.faults, []);
  assert.ok(reading.certificate);
  return reading;
}

function refusal(reading: CmsReading, says: RegExp, codigo = 'E9003'): NonNullable<CmsReading['faults'][0]> {
  const [fault, ...more] = reading.faults;
  assert.ok(fault, 'it is taken');
  assert.deepEqual(more, []);
  assert.equal(fault.codigo, codigo);
  assert.equal(fault.xpath, '');
  assert.match(fault.mensagem, says);
  assert.match(fault.mensagem, new RegExp(`${CAMPO}.*\\.$`, 's'));
  return fault;
}

function signerOf(issued: Issued): CmsSigner {
  const certificate = readCertificate(issued.der);
  assert.ok(!('problem' in certificate));
  return { key: createPrivateKey(readFileSync(issued.keyFile)), certificate };
}

/** The verdict of openssl on a detached signature. */
function opensslVerifies(cms: Uint8Array, body: Uint8Array): boolean {
  const content = ['-content', fileOf(body), '-inform', 'DER', '-in', fileOf(cms)];
  try {
    openssl('cms', '-verify', '-binary', ...content, '-CAfile', root.file, '-purpose', 'any', '-out', '/dev/null');
    return true;
  } catch {
    return false;
  }
}

describe('what openssl signs is taken', () => {
  const VARIANTS: readonly (readonly [what: string, ...options: readonly string[]])[] = [
    ['with signed attributes'],
    ['without signed attributes', '-noattr'],
    ['with the signer named by the key identifier', '-keyid'],
    ['with the identifier and without attributes', '-keyid', '-noattr'],
    ['without the list of algorithms of the mail program', '-nosmimecap'],
    ['SHA-384', '-md', 'sha384'],
    ['SHA-512', '-md', 'sha512'],
    ['SHA-512 without attributes', '-md', 'sha512', '-noattr'],
    ['CAdES, with signingCertificateV2', '-cades'],
    ['CAdES, with signingCertificateV2 that names its digest', '-cades', '-md', 'sha512'],
    ['with the authority along', '-certfile', root.file],
  ];
  for (const [what, ...options] of VARIANTS) {
    test(what, () => {
      const cms = opensslCms(BODY, options);
      const { certificate, extra } = accepts(cms);
      assert.deepEqual(certificate!.der, provider.der);
      assert.equal(certificate!.holder?.documento, '11222333000181');
      assert.equal(extra.length, options.includes('-certfile') ? 1 : 0);
    });
  }

  test('PKCS#7 of the older command', () => {
    const by = ['-signer', provider.file, '-inkey', provider.keyFile];
    accepts(openssl('smime', '-sign', '-binary', '-in', fileOf(BODY), ...by, '-outform', 'DER'));
  });

  test('what node-forge signs, with attributes and without', () => {
    for (const withAttributes of [true, false]) {
      const p7 = forge.pkcs7.createSignedData();
      p7.content = forge.util.createBuffer(BODY.toString('latin1'));
      p7.addCertificate(provider.pem);
      const { contentType, messageDigest, data, sha256, signingTime } = forge.pki.oids;
      p7.addSigner({
        key: forge.pki.privateKeyFromPem(readFileSync(provider.keyFile, 'utf8')),
        certificate: provider.pem,
        digestAlgorithm: sha256!,
        authenticatedAttributes: withAttributes
          ? [{ type: contentType!, value: data! }, { type: messageDigest! }, { type: signingTime! }]
          : [],
      });
      p7.sign({ detached: true });
      const cms = Buffer.from(forge.asn1.toDer(p7.toAsn1()).getBytes(), 'latin1');
      assert.ok(opensslVerifies(cms, BODY));
      accepts(cms);
      refusal(verified(cms, Buffer.from('{}')), /mudou depois de assinado/);
    }
  });

  test('an empty body, a megabyte, and one that is no text', () => {
    for (const body of [Buffer.alloc(0), Buffer.alloc(1 << 20, 'a'), Buffer.from([0, 255, 10, 13, 128])]) {
      accepts(opensslCms(body), body);
      accepts(opensslCms(body, ['-noattr']), body);
    }
  });

  test('BER with indefinite lengths, and a signature value in pieces', () => {
    // openssl streams with the content inside; without it the rest is detached, and openssl accepts it too.
    const streamed = opensslCms(BODY, ['-stream']);
    const content = readAsn1(streamed).children[1]!.children[0]!.children[2]!.children[1]!;
    const detached = without(streamed, content.raw);
    assert.equal(detached[1], 0x80, 'indefinite');
    assert.ok(opensslVerifies(detached, BODY));
    accepts(detached);

    const value = readAsn1(detached).children[1]!.children[0]!.children.at(-1)!.children[0]!.children.at(-1)!;
    const pieces = [value.content.subarray(0, 100), value.content.subarray(100)].map((piece) => der.octetString(piece));
    const inPieces = Buffer.concat([Buffer.from([0x24, 0x80]), ...pieces, Buffer.from([0, 0])]);
    const cms = indefinite(detached, value.raw, inPieces);
    assert.ok(opensslVerifies(cms, BODY));
    accepts(cms);
  });

  test('white space in the header, as encoders break lines', () => {
    const text = opensslCms(BODY).toString('base64');
    const broken = text.replace(/.{76}/g, '$&\r\n ');
    for (const header of [`  ${text}\t`, broken]) assert.deepEqual(verifyCms(header, BODY, CAMPO).faults, []);
  });
});

/** `whole` without one part; only possible when every length around is indefinite. */
function without(whole: Buffer, part: Buffer): Buffer {
  const at = whole.indexOf(part);
  assert.ok(at > 0);
  return Buffer.concat([whole.subarray(0, at), whole.subarray(at + part.length)]);
}

/** Replaces the last value in the one SignerInfo of a streamed CMS, and rewrites the lengths around it. */
function indefinite(cms: Buffer, old: Buffer, value: Buffer): Buffer {
  const infos = readAsn1(cms).children[1]!.children[0]!.children.at(-1)!;
  const info = infos.children[0]!;
  const made = der.set(der.sequence(...info.children.map(({ raw }) => (raw.equals(old) ? value : raw))));
  const at = cms.indexOf(infos.raw);
  return Buffer.concat([cms.subarray(0, at), made, cms.subarray(at + infos.raw.length)]);
}

describe('what signCms makes', () => {
  const bodies = [BODY, Buffer.alloc(0), Buffer.from('{"a":1}\r\n')];

  test('is taken by openssl, and by ourselves', () => {
    for (const body of bodies) {
      const cms = signCms(body, signerOf(provider));
      assert.ok(opensslVerifies(cms, body));
      assert.ok(!opensslVerifies(cms, Buffer.concat([body, Buffer.from(' ')])));
      accepts(cms, body);
    }
  });

  test('carries the chain, and is DER', () => {
    const chain = [signerOf(root).certificate];
    const cms = signCms(BODY, { ...signerOf(provider), chain });
    assert.deepEqual(accepts(cms).extra, chain);
    assert.ok(opensslVerifies(cms, BODY));
    // openssl writes DER from any input.
    assert.deepEqual(openssl('cms', '-cmsout', '-inform', 'DER', '-outform', 'DER', '-in', fileOf(cms)), cms);
  });
});

describe('no signature', () => {
  for (const [what, header] of [
    ['no header', undefined],
    ['an empty header', ''],
    ['white space', ' \t '],
  ] as const) {
    test(what, () => void refusal(verifyCms(header, BODY, CAMPO), /Assine os bytes do corpo/, 'E9002'));
  }
});

test('a header that is missing is told from one that is empty', () => {
  refusal(verifyCms(undefined, BODY, CAMPO), /^Falta o cabeçalho/, 'E9002');
  refusal(verifyCms('', BODY, CAMPO), /^O cabeçalho .* está vazio/, 'E9002');
});

test('a fault of our own is thrown, and is no verdict on the signature', () => {
  const header = opensslCms(BODY).toString('base64');
  assert.throws(() => verifyCms(header, undefined as never, CAMPO), TypeError);
});

test('a header may have 65,536 characters, and not one more', () => {
  refusal(verifyCms('A'.repeat(65_537), BODY, CAMPO), /tem 65537 caracteres, e o limite é 65536/);
  const { mensagem } = verifyCms('A'.repeat(65_536), BODY, CAMPO).faults[0]!;
  assert.doesNotMatch(mensagem, /limite/);
});

describe('a header that is no CMS says what it seems to be', () => {
  const good = opensslCms(BODY);
  const base64 = good.toString('base64');
  const key = createPrivateKey(readFileSync(provider.keyFile));
  const pfx = openssl('pkcs12', '-export', '-in', provider.file, '-inkey', provider.keyFile, '-passout', 'pass:x');
  const pem = good.toString('base64').replace(/.{64}/g, '$&\n');
  const b64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64');
  const bare = readAsn1(good).children[1]!.children[0]!.raw;

  const CONFUSIONS: readonly (readonly [what: string, header: string, says: RegExp])[] = [
    ['PEM', `-----BEGIN CMS-----\n${pem}\n-----END CMS-----\n`, /PEM.*entre as linhas/],
    ['the Base64 of PEM', b64(`-----BEGIN CMS-----\n${pem}\n-----END CMS-----\n`), /Base64 de um texto PEM/],
    ['Base64 twice', b64(base64), /duas vezes/],
    ['hexadecimal', good.toString('hex'), /hexadecimal/],
    ['the alphabet of addresses', good.toString('base64url'), /- e _/],
    ['quotes around', `"${base64}"`, /aspas/],
    ['line breaks in letters', base64.replace(/.{64}/g, '$&\\n'), /\\n/],
    ['percent signs', encodeURIComponent(base64), /%2B/],
    ['a data address', `data:application/pkcs7-signature;base64,${base64}`, /data:/],
    ['undefined', 'undefined', /undefined/],
    ['a JWS', 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln', /JWS/],
    ['an XML signature', '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>', /XML/],
    ['the Base64 of an XML signature', b64('<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>'), /XML/],
    ['JSON', '{"assinatura":"MII"}', /JSON/],
    ['the Base64 of the body', b64(BODY), /Base64 de um JSON/],
    [
      'an RSA value that begins like a tag',
      b64(Buffer.concat([Buffer.from('<'), Buffer.alloc(255, 0x91)])),
      /256 bytes.*RSA sem o CMS/,
    ],
    ['an RSA value by itself', b64(sign('sha256', BODY, key)), /256 bytes.*RSA sem o CMS/],
    [
      'an RSA value that begins with readable letters',
      b64(Buffer.concat([Buffer.from('<8U12 ab'), Buffer.alloc(248, 0x11)])),
      /256 bytes.*RSA sem o CMS/,
    ],
    ['a digest by itself', b64(Buffer.alloc(32, 7)), /resumo SHA-256/],
    [
      'a digest that happens to be ASN.1',
      b64(Buffer.concat([Buffer.from([4, 30]), Buffer.alloc(30, 7)])),
      /resumo SHA-256/,
    ],
    ['a certificate', b64(provider.der), /só um certificado/],
    ['a PKCS#12', b64(pfx), /PKCS#12.*Não envie a chave/s],
    ['a private key, PKCS#8', b64(key.export({ type: 'pkcs8', format: 'der' })), /chave privada/],
    ['a private key, PKCS#1', b64(key.export({ type: 'pkcs1', format: 'der' })), /chave privada/],
    ['a private key in PEM', readFileSync(provider.keyFile, 'utf8'), /chave privada/],
    ['an ECDSA value', b64(der.sequence(der.integer(5), der.integer(7))), /ECDSA/],
    ['SignedData without ContentInfo', b64(bare), /sem o ContentInfo/],
    [
      'encrypted data',
      b64(openssl('cms', '-encrypt', '-in', fileOf(BODY), '-outform', 'DER', '-aes256', provider.file)),
      /envelopedData/,
    ],
    ['plain data', b64(openssl('cms', '-data_create', '-in', fileOf(BODY), '-outform', 'DER')), /\(data\)/],
    ['a digest in CMS', b64(openssl('cms', '-digest_create', '-in', fileOf(BODY), '-outform', 'DER')), /digestedData/],
    ['bytes', b64('no signature at all, and long enough to be anything'), /não são ASN.1/],
    ['a strange character', `${base64.slice(0, 10)}é${base64.slice(11)}`, /"é" \(U\+00E9\) na posição 11/],
    ['a comma', `${base64},${base64}`, /"," \(U\+002C\)/],
    ['a star first', `*${base64}`, /"\*" \(U\+002A\) na posição 1\./],
    ['padding first', `=${base64}`, /no meio do Base64 \(caractere 1\)/],
    ['two joined', `${b64('x'.repeat(100))}${base64}`, /no meio/],
    ['cut in the text', base64.slice(0, -5), /múltiplo de 4|corrompido/],
    ['cut at a whole group', base64.slice(0, 400), /corrompido ou incompleto/],
    ['bytes behind', b64(Buffer.concat([good, Buffer.from('x')])), /corrompido ou incompleto/],
    ['far too long', 'A'.repeat(100_000), /limite/],
  ];
  for (const [what, header, says] of CONFUSIONS) {
    test(what, () => {
      const fault = refusal(verifyCms(header, BODY, CAMPO), says);
      // A message repeats no more of a private key or a long value than needed.
      assert.ok(!header.startsWith('-----BEGIN PRIVATE') || !JSON.stringify(fault).includes(header.slice(30, 60)));
      assert.ok(JSON.stringify(fault).length < 700);
    });
  }

  test('padding that is missing, and bits after the end', () => {
    const padded = [0, 1, 2].map((more) => opensslCms(BODY, ['-noattr', ...(more ? ['-certfile', root.file] : [])]));
    const one = [...padded, opensslCms(BODY), opensslCms(BODY, ['-keyid'])]
      .map((cms) => cms.toString('base64'))
      .find((text) => text.endsWith('='));
    assert.ok(one, 'no variant needs padding');
    refusal(verifyCms(one.replace(/=+$/, ''), BODY, CAMPO), /múltiplo de 4/);
    const [, last, padding] = /(.)(=+)$/.exec(one)!;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    const other = alphabet[alphabet.indexOf(last!) + 1];
    refusal(verifyCms(one.slice(0, -padding!.length - 1) + other + padding, BODY, CAMPO), /não são zero/);
  });
});

describe('a CMS that may not pass', () => {
  test('the content inside, the same or not', () => {
    refusal(verified(opensslCms(BODY, ['-nodetach'])), /destacada/);
    refusal(verified(opensslCms(BODY, ['-stream'])), /-stream/);
    refusal(verified(opensslCms(Buffer.from('{}'), ['-nodetach'])), /destacada/);
  });

  test('no certificate, or not the one of the signer', () => {
    refusal(verified(opensslCms(BODY, ['-nocerts'])), /-nocerts/);
    refusal(
      verified(opensslCms(BODY, ['-nocerts', '-certfile', root.file])),
      /emissor e número de série.*O que veio é/,
    );
    const two = fileOf(`${root.pem}\n${stranger.pem}`);
    refusal(verified(opensslCms(BODY, ['-nocerts', '-certfile', two])), /Os 2 que vieram são de outro titular/);
    refusal(verified(opensslCms(BODY, ['-nocerts', '-keyid', '-certfile', root.file])), /identificador da chave/);
  });

  test('the identifier of a key is found, though its extension be marked critical', () => {
    const extensions = [...END, 'subjectKeyIdentifier=critical,hash'];
    const critical = pki.issue({ subject: '/CN=EMPRESA:11222333000181', issuer: root, extensions });
    accepts(opensslCms(BODY, ['-keyid'], critical));
  });

  test('two certificates that fit', () => {
    refusal(verified(opensslCms(BODY, ['-keyid', '-certfile', renewed.file])), /mais de um certificado/);
    // The name by issuer and number makes the renewed certificate merely an extra one.
    assert.equal(accepts(opensslCms(BODY, ['-certfile', renewed.file])).extra.length, 1);
  });

  test('two signatures, and none', () => {
    const two = opensslCms(BODY, ['-signer', stranger.file, '-inkey', stranger.keyFile]);
    refusal(verified(two), /2 assinaturas/);
    refusal(verified(openssl('crl2pkcs7', '-nocrl', '-certfile', provider.file, '-outform', 'DER')), /\.p7b/);
  });

  test('algorithms', () => {
    refusal(verified(opensslCms(BODY, ['-md', 'sha1'])), /SHA-1, que já se falsifica/);
    refusal(verified(opensslCms(BODY, ['-md', 'md5'])), /MD5/);
    refusal(verified(opensslCms(BODY, ['-md', 'sha224'])), /SHA-224, que não é aceito/);
    refusal(verified(opensslCms(BODY, ['-keyopt', 'rsa_padding_mode:pss'])), /RSA-PSS/);
    const ec = pki.issue({ subject: '/CN=EC:11222333000181', issuer: root, key: 'ec' });
    refusal(verified(opensslCms(BODY, [], ec)), /ECDSA/);
  });

  test('a content type that is not data', () => {
    const cms = opensslCms(BODY, ['-econtent_type', '1.2.3.4']);
    refusal(verified(cms), /o tipo de conteúdo do CMS não é id-data/);
  });

  test('a key below what anybody trusts', () => {
    const weak = pki.issue({ subject: '/CN=FRACA:11222333000181', issuer: root, key: 'rsa1024' });
    refusal(verified(opensslCms(BODY, [], weak)), /1024 bits/);
  });

  test('parameters of an algorithm that are NULL but for the bit that says of parts', () => {
    const cms = opensslCms(BODY);
    const info = readAsn1(cms).children[1]!.children[0]!.children.at(-1)!.children[0]!;
    const parameters = info.children.flatMap(({ children }) => children[1] ?? []).filter(({ tag }) => tag === 5);
    assert.ok(parameters.length > 0);
    for (const { raw } of parameters) {
      const changed = Buffer.from(cms);
      changed[raw.byteOffset - cms.byteOffset]! ^= 0x20;
      refusal(verified(changed), /corrompido/);
    }
  });

  test('the value of another key', () => {
    const cms = opensslCms(BODY, ['-noattr']);
    const value = readAsn1(cms).children[1]!.children[0]!.children.at(-1)!.children[0]!.children.at(-1)!;
    const other = sign('sha256', BODY, createPrivateKey(readFileSync(stranger.keyFile)));
    const fault = refusal(verified(swapped(cms, value.content, other)), /de outra chave/);
    assert.equal(fault.encontrado, undefined);
    // The signer stays known, so that faults of the certificate can be reported as well.
    assert.ok(verified(swapped(cms, value.content, other)).certificate);
  });

  test('signed attributes that say another certificate', () => {
    const cms = opensslCms(BODY, ['-cades', '-nocerts', '-keyid', '-certfile', renewed.file]);
    refusal(verified(cms), /signingCertificateV2/);
  });
});

/** Replaces one part by another of the same length. */
function swapped(whole: Uint8Array, part: Uint8Array, other: Uint8Array): Buffer {
  const copy = Buffer.from(whole);
  const at = copy.indexOf(part);
  assert.ok(at > 0 && part.length === other.length);
  copy.set(other, at);
  return copy;
}

describe('a digest that does not fit says what was signed instead', () => {
  const text = BODY.toString('utf8');
  const json = JSON.parse(text);
  const pretty = JSON.stringify(json, null, 2);
  const escaped = text.replace(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const spaced = text.replace(/("[^"]*"|\d)([:,])/g, '$1$2 ');

  const MISTAKES: readonly (readonly [what: string, signed: string | Buffer, sent: string | Buffer, says: RegExp])[] = [
    ['a line feed more', `${text}\n`, text, /LF\) no fim, que não veio/],
    ['a line feed less', text, `${text}\n`, /sem a quebra de linha do fim/],
    ['a CR LF more', `${text}\r\n`, text, /CR LF\) no fim/],
    ['CR LF signed, LF sent', pretty.replaceAll('\n', '\r\n'), pretty, /CR LF, e veio com LF/],
    ['LF signed, CR LF sent', pretty, pretty.replaceAll('\n', '\r\n'), /LF, e veio com CR LF/],
    ['a byte order mark more', `\uFEFF${text}`, text, /BOM\) no começo, que não veio/],
    ['a byte order mark less', text, `\uFEFF${text}`, /sem a marca/],
    ['compact signed, indented sent', text, pretty.replace('1000.5', '1000.50'), /compacto, sem espaços/],
    ['JSON.stringify signed', JSON.stringify(json), text, /JSON\.stringify/],
    ['two spaces signed', pretty, text, /2 espaços/],
    ['four spaces signed', JSON.stringify(json, null, 4), text, /4 espaços/],
    ['tabs signed', JSON.stringify(json, null, '\t'), text, /tabulações/],
    ['Python signed', spaced, text, /json\.dumps/],
    ['Python with escapes signed', spaced.replace('ã', '\\u00e3').replace('ã', '\\u00e3'), text, /json\.dumps.*\\u/],
    ['PHP signed', escaped.replaceAll('/', '\\/'), text, /json_encode/],
    ['compact escapes signed', escaped, text, /compacto, com \\u/],
    ['Latin-1 signed', Buffer.from(text, 'latin1'), text, /Latin-1, e veio em UTF-8/],
    ['UTF-8 signed, Latin-1 sent', text, Buffer.from(text, 'latin1'), /UTF-8, e veio em Latin-1/],
    ['UTF-16 signed', Buffer.from(text, 'utf16le'), text, /UTF-16/],
    ['Base64 signed', BODY.toString('base64'), text, /Base64 do corpo/],
    ['the digest signed', hash('sha256', BODY, 'buffer'), text, /resumo SHA-256 do corpo/],
    ['the digest in hex signed', hash('sha256', BODY), text, /hexadecimal/],
    ['nothing signed', '', text, /conteúdo vazio/],
    ['something else', '{"outro":1}', text, /mudou depois de assinado/],
  ];
  for (const [what, signed, sent, says] of MISTAKES) {
    test(what, () => {
      const body = Buffer.from(sent);
      for (const options of [[], ['-noattr']] as const) {
        const fault = refusal(verified(opensslCmsOver(Buffer.from(signed), options), body), says);
        assert.equal(fault.encontrado, hash('sha256', signed));
        assert.equal(fault.esperado, hash('sha256', body));
      }
    });
  }

  test('they are signatures that openssl makes, and takes', () => {
    const body = Buffer.from(`${text}\n`);
    assert.deepEqual(opensslCmsOver(body, ['-noattr']), opensslCms(body, ['-noattr']));
    const cms = opensslCmsOver(body);
    assert.ok(opensslVerifies(cms, body));
    assert.ok(!opensslVerifies(cms, BODY));
    accepts(cms, body);
  });

  test('openssl without -binary turns the ends of lines', () => {
    const body = Buffer.from('{\n  "a": 1\n}\n');
    const by = ['-signer', provider.file, '-inkey', provider.keyFile];
    const cms = openssl('cms', '-sign', '-in', fileOf(body), ...by, '-outform', 'DER');
    refusal(verified(cms, body), /-binary/);
  });

  test('the keys sorted', () => {
    const body = Buffer.from('{"b":{"d":1,"c":2},"a":[3]}');
    refusal(verified(opensslCmsOver(Buffer.from('{"a":[3],"b":{"c":2,"d":1}}')), body), /ordem alfabética/);
  });

  test('the body signed where the attributes should be, and the attributes under their travelling tag', () => {
    const cms = opensslCms(BODY);
    const info = readAsn1(cms).children[1]!.children[0]!.children.at(-1)!.children[0]!;
    const value = info.children.at(-1)!.content;
    const attributes = info.children[3]!.raw;
    const key = createPrivateKey(readFileSync(provider.keyFile));
    refusal(verified(swapped(cms, value, sign('sha256', BODY, key))), /Foi assinado o corpo/);
    refusal(verified(swapped(cms, value, sign('sha256', attributes, key))), /\(A0\)/);
    for (const [digest, shown] of [
      ['sha512', 'SHA-512'],
      ['sha1', 'SHA-1'],
    ] as const) {
      const { encontrado, esperado } = refusal(
        verified(swapped(cms, value, sign(digest, BODY, key))),
        /com outro resumo/,
      );
      assert.deepEqual([encontrado, esperado], [shown, 'SHA-256']);
    }
    const bare = privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.alloc(32, 7));
    assert.equal(refusal(verified(swapped(cms, value, bare)), /sem o nome do resumo/).encontrado, undefined);
    const reversed = readAsn1(attributes)
      .children.map(({ raw }) => raw)
      .toReversed();
    refusal(verified(swapped(cms, attributes, der.context(0, ...reversed))), /Foram assinados na ordem do DER/);
    const later = Buffer.from(attributes);
    later[later.indexOf('Z') - 1]! ^= 1;
    refusal(verified(swapped(cms, attributes, later)), /Algum atributo mudou/);
  });

  test('a large body is not searched for mistakes, and still refused', () => {
    const body = Buffer.alloc(2 << 20, 'a');
    refusal(verified(opensslCmsOver(Buffer.concat([body, Buffer.from('\n')])), body), /mudou depois de assinado/);
  });

  test('a body of brackets without end is no trouble', () => {
    const body = Buffer.from('['.repeat(200_000));
    refusal(verified(opensslCms(BODY), body), /mudou depois de assinado/);
  });
});

describe('what comes along must be what its place says', () => {
  const whole = readAsn1(opensslCms(BODY));
  const signedData = whole.children[1]!.children[0]!;
  const [version, digests, content, certificates, infos] = signedData.children.map(({ raw }) => raw);
  type Parts = Partial<Record<'version' | 'digests' | 'certificates' | 'lists' | 'infos', Buffer>>;
  const made = (parts: Parts): Buffer =>
    der.sequence(
      der.oid('1.2.840.113549.1.7.2'),
      der.context(
        0,
        der.sequence(
          parts.version ?? version!,
          parts.digests ?? digests!,
          content!,
          parts.certificates ?? certificates!,
          ...(parts.lists === undefined ? [] : [parts.lists]),
          parts.infos ?? infos!,
        ),
      ),
    );
  const inPem = pki
    .revoke({ issuer: root, entries: [] })
    .toString()
    .replace(/-----[^\n]*\n/g, '');
  const list = Buffer.from(inPem, 'base64');
  const info = readAsn1(infos!).children[0]!;
  const withUnsigned = (...attributes: readonly Buffer[]): Buffer =>
    made({ infos: der.set(der.sequence(...info.children.map(({ raw }) => raw), der.context(1, ...attributes))) });

  test('a chain, a list and an unsigned attribute that are whole change nothing', () => {
    accepts(made({ certificates: der.context(0, provider.der, root.der), lists: der.context(1, list) }));
    const delta = pki.revoke({ issuer: root, entries: [], extensions: ['2.5.29.27=critical,DER:020101'] }).toString();
    accepts(made({ lists: der.context(1, Buffer.from(delta.replace(/-----[^\n]*\n/g, ''), 'base64')) }));
    accepts(withUnsigned(der.sequence(der.oid('1.2.3.4'), der.set(der.null()))));
  });

  const small = pki.issue({ subject: '/CN=Pequena', issuer: root, key: 'rsa1024' });
  const cases: readonly (readonly [what: string, cms: () => Buffer, says: RegExp])[] = [
    [
      'a certificate that is none',
      () => made({ certificates: der.context(0, provider.der, der.sequence(der.integer(1))) }),
      /que acompanham o de quem assinou não serve\. Os bytes não são um certificado/,
    ],
    [
      'no certificate but one that is none',
      () => made({ certificates: der.context(0, der.sequence(der.integer(1))) }),
      /nenhum dos certificados do CMS é o de quem assinou, e um não serve\. Os bytes não são um certificado/,
    ],
    [
      'a certificate with a key that nobody should trust',
      () => made({ certificates: der.context(0, provider.der, small.der) }),
      /que acompanham o de quem assinou não serve\. A chave do certificado tem 1024 bits/,
    ],
    [
      'a certificate of which the end is missing',
      () =>
        made({
          certificates: der.context(
            0,
            provider.der,
            der.sequence(
              ...readAsn1(root.der)
                .children.slice(0, 2)
                .map(({ raw }) => raw),
            ),
          ),
        }),
      /que acompanham o de quem assinou não serve\. Os bytes não são um certificado/,
    ],
    [
      'a certificate of attributes',
      () => made({ certificates: der.context(0, provider.der, der.context(2, der.null())) }),
      /traz um certificado de atributo, que não é lido/,
    ],
    [
      'a text among the certificates',
      () => made({ certificates: der.context(0, provider.der, der.utf8('x')) }),
      /traz um valor que não é certificado/,
    ],
    ['a list that is none', () => made({ lists: der.context(1, der.sequence(der.null())) }), /LCR.*corrompida/],
    [
      'a list cut short',
      () => made({ lists: der.context(1, der.sequence(readAsn1(list).children[0]!.raw)) }),
      /LCR.*corrompida/,
    ],
    [
      'an answer of OCSP among the lists',
      () => made({ lists: der.context(1, der.context(1, der.oid('1.3.6.1.5.5.7.16.2'), der.sequence())) }),
      /um valor de outro formato, que não é lido/,
    ],
    [
      'an unsigned attribute without values',
      () => withUnsigned(der.sequence(der.oid('1.2.3.4'))),
      /um dos atributos não assinados/,
    ],
    [
      'an unsigned attribute without name',
      () => withUnsigned(der.sequence(der.null(), der.set())),
      /um dos atributos não assinados/,
    ],
    ['a list of unsigned attributes that is empty', () => withUnsigned(), /atributos não assinados está vazia/],
  ];
  for (const [what, cms, says] of cases) test(what, () => void refusal(verified(cms()), says));

  const [infoVersion, sid, digestAlgorithm, attributes, , signature] = info.children.map(({ raw }) => raw);
  const infoWith = (version_: Buffer, algorithm: string, ...more: readonly Buffer[]): Buffer =>
    made({
      infos: der.set(
        der.sequence(
          version_,
          sid!,
          digestAlgorithm!,
          attributes!,
          der.sequence(der.oid(algorithm), der.null()),
          signature!,
          ...more,
        ),
      ),
    });

  test('the versions of SignedData are 1, 3, 4 and 5 (RFC 5652, 5.1), and that of a signer named by issuer is 1', () => {
    for (const number of [1, 3, 4, 5]) accepts(made({ version: der.integer(number) }));
    for (const number of [0, 2, 6, 257])
      refusal(verified(made({ version: der.integer(number) })), /a versão do SignedData/);
    const RSA = '1.2.840.113549.1.1.1';
    accepts(infoWith(infoVersion!, RSA));
    refusal(verified(infoWith(der.integer(3), RSA)), /a versão do SignerInfo/);
  });

  test('the algorithm of the signature may name the digest, and then the one that is used', () => {
    accepts(infoWith(infoVersion!, '1.2.840.113549.1.1.11'));
    refusal(verified(infoWith(infoVersion!, '1.2.840.113549.1.1.13')), /é para SHA-512, e o resumo é SHA-256/);
  });

  test('more digests may be announced than the one that is used, and that one must be', () => {
    const [sha256, sha384] = [1, 2].map((last) => der.sequence(der.oid(`2.16.840.1.101.3.4.2.${last}`)));
    accepts(made({ digests: der.set(sha256!, sha384!) }));
    refusal(verified(made({ digests: der.set(sha384!) })), /digestAlgorithms não traz SHA-256/);
  });

  test('an algorithm has a name and a NULL, and nothing behind', () => {
    const sha256 = der.oid('2.16.840.1.101.3.4.2.1');
    accepts(made({ digests: der.set(der.sequence(sha256, der.null())) }));
    refusal(verified(made({ digests: der.set(der.sequence(sha256, der.null(), der.null())) })), /corrompido/);
  });

  test('signed attributes say the type and the digest of the content, in their forms (RFC 5652, 11)', () => {
    const withAttributes = (...signed: readonly Buffer[]): Buffer => {
      const [algorithm] = info.children.slice(4).map(({ raw }) => raw);
      const parts = [infoVersion!, sid!, digestAlgorithm!, der.context(0, ...signed), algorithm!, signature!];
      return made({ infos: der.set(der.sequence(...parts)) });
    };
    const attribute = (oid: string, value: Buffer): Buffer => der.sequence(der.oid(oid), der.set(value));
    const type = attribute('1.2.840.113549.1.9.3', der.oid('1.2.840.113549.1.7.1'));
    const digest = (value: Buffer): Buffer => attribute('1.2.840.113549.1.9.4', value);
    const any = digest(der.octetString(Buffer.alloc(32)));
    refusal(verified(withAttributes(any)), /falta o atributo assinado contentType/);
    refusal(verified(withAttributes(type)), /falta o atributo assinado messageDigest/);
    refusal(verified(withAttributes(type, digest(der.utf8('x')))), /corrompido/);
    const short = digest(der.octetString(Buffer.alloc(20)));
    refusal(verified(withAttributes(type, short)), /tem 20 bytes, e um de SHA-256 tem 32/);
    const signing = attribute('1.2.840.113549.1.9.16.2.47', der.sequence());
    refusal(verified(withAttributes(type, any, signing)), /corrompido/);
  });

  test('a certificate with another kind of key made no RSA signature', () => {
    const ec = pki.issue({ subject: '/CN=EC:11222333000181', issuer: root, key: 'ec' });
    const [, serial, , issuer] = readAsn1(ec.der).children[0]!.children.map(({ raw }) => raw);
    const own = [infoVersion!, der.sequence(issuer!, serial!), ...info.children.slice(2).map(({ raw }) => raw)];
    const cms = made({ certificates: der.context(0, ec.der), infos: der.set(der.sequence(...own)) });
    const { encontrado, esperado } = refusal(verified(cms), /a chave do certificado não é RSA/);
    assert.deepEqual([encontrado, esperado], ['ec', 'rsa']);
  });

  test('a certificate without an identifier of its key is not the one that is named by it', () => {
    const byKey = readAsn1(opensslCms(BODY, ['-keyid'])).children[1]!.children[0]!.children.at(-1)!.raw;
    const fields = [der.integer(7), der.sequence(), der.sequence()];
    const extension = der.sequence(der.oid('2.5.29.15'), der.octetString(der.null()));
    for (const extensions of [[], [der.context(3)], [der.context(3, der.sequence(extension))]]) {
      const stray = der.sequence(der.sequence(...fields, ...extensions));
      const cms = made({ version: der.integer(3), certificates: der.context(0, provider.der, stray), infos: byKey });
      refusal(verified(cms), /que acompanham o de quem assinou não serve/);
    }
  });

  test('nothing stands behind the unsigned attributes of the signer', () => {
    const unsigned = der.context(1, der.sequence(der.oid('1.2.3.4'), der.set(der.null())));
    accepts(infoWith(infoVersion!, '1.2.840.113549.1.1.1', unsigned));
    refusal(verified(infoWith(infoVersion!, '1.2.840.113549.1.1.1', unsigned, unsigned)), /corrompido/);
    refusal(verified(infoWith(infoVersion!, '1.2.840.113549.1.1.1', der.null())), /corrompido/);
  });
});

/** Pseudo-random numbers from a seed (mulberry32). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const MUTATIONS = 200;

function mutated(bytes: Uint8Array, next: (below: number) => number): { readonly bytes: Buffer; readonly at: number } {
  const copy = Buffer.from(bytes);
  const at = next(copy.length);
  copy[at] = copy[at]! ^ (1 + next(255));
  return { bytes: copy, at };
}

describe('one byte that changed', () => {
  const withUnsigned = unsignedAttribute(opensslCms(BODY, ['-certfile', stranger.file]));
  const KINDS: readonly (readonly [what: string, cms: Buffer])[] = [
    ['with attributes', opensslCms(BODY)],
    ['without attributes', opensslCms(BODY, ['-noattr'])],
    ['by key identifier', opensslCms(BODY, ['-keyid'])],
    ['with a certificate and an unsigned attribute more', withUnsigned],
    ['of signCms', signCms(BODY, { ...signerOf(provider), chain: [signerOf(root).certificate] })],
  ];
  KINDS.forEach(([what, cms], index) => {
    test(`of the body: never taken, ${what}`, () => {
      accepts(cms);
      const next = random(1_000 + index);
      for (let i = 0; i < MUTATIONS; i += 1) {
        const { bytes, at } = mutated(BODY, next);
        assert.notDeepEqual(verified(cms, bytes).faults, [], `byte ${at}`);
      }
    });

    test(`of the CMS: taken only where nothing is signed, ${what}`, () => {
      const next = random(2_000 + index);
      const allowed = uncovered(cms);
      let taken = 0;
      for (let i = 0; i < MUTATIONS; i += 1) {
        const { bytes, at } = mutated(cms, next);
        const { faults, certificate } = verified(bytes);
        if (faults.length > 0) continue;
        taken += 1;
        const why = allowed.find(({ start, end }) => at >= start && at < end)?.what;
        assert.ok(why, `byte ${at} of ${cms.length} was changed from ${cms[at]} to ${bytes[at]} and it is taken`);
        if (why !== 'certificate') continue;
        // The issuer's signature covers the bytes that this one does not: the chain is judged next.
        const issuer = new X509Certificate(root.der);
        assert.ok(!certificate!.x509.verify(issuer.publicKey), `byte ${at} of the certificate is covered by nobody`);
      }
      assert.ok(taken < MUTATIONS);
      if (what === 'of signCms') assert.ok(!allowed.some((one) => one.what === 'certificate'));
    });
  });

  type Span = { readonly what: string; readonly start: number; readonly end: number };

  /**
   * The bytes that a CMS signature does not cover: the version number, unneeded certificates, and unsigned attributes. The signer's
   * certificate is covered only by its name, unless an attribute has its digest.
   */
  function uncovered(cms: Buffer): readonly Span[] {
    const signedData = readAsn1(cms).children[1]!.children[0]!;
    const [version, , , certificates] = signedData.children;
    const info = signedData.children.at(-1)!.children[0]!;
    const span = (what: string, raw: Buffer): Span => {
      const start = raw.byteOffset - cms.byteOffset;
      return { what, start, end: start + raw.length };
    };
    const bound = cms.includes(der.oid('1.2.840.113549.1.9.16.2.47'));
    return [
      span('version', version!.content),
      ...certificates!.children
        .filter(({ raw }) => !bound || !raw.equals(provider.der))
        .map(({ raw }) => span(raw.equals(provider.der) ? 'certificate' : 'certificate of nobody', raw)),
      ...info.children.filter((one) => one.class === 2 && one.tag === 1).map(({ raw }) => span('unsigned', raw)),
    ];
  }
});

/** A CMS of definite lengths with an unsigned attribute at the end of its SignerInfo. */
function unsignedAttribute(cms: Buffer): Buffer {
  const signedData = readAsn1(cms).children[1]!.children[0]!;
  const infos = signedData.children.at(-1)!;
  const attribute = der.sequence(der.oid('1.2.3.4.5'), der.set(der.octetString(Buffer.alloc(300, 9))));
  const info = der.sequence(...infos.children[0]!.children.map(({ raw }) => raw), der.context(1, attribute));
  const parts = signedData.children.slice(0, -1).map(({ raw }) => raw);
  const whole = der.sequence(der.oid('1.2.840.113549.1.7.2'), der.context(0, der.sequence(...parts, der.set(info))));
  assert.ok(opensslVerifies(whole, BODY));
  return whole;
}
