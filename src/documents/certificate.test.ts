/** Certificates made by openssl: their holders, their contents, and the refusal of anything else. */
import assert from 'node:assert/strict';
import { createECDH, createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CA, END, openssl, opensslAuthority } from '../../test/support/openssl.ts';
import { der } from './asn1.ts';
import {
  type Certificate,
  certificateOfText,
  certificatesOfPem,
  type Holder,
  isHeldBy,
  maskedDocument,
  readCertificate,
} from './certificate.ts';

const authority = opensslAuthority();
const CNPJ = '11222333000181';
const CPF = '52998224725';
/** Date of birth, CPF, NIS, identity card, issuer and state. */
const PERSON = `01021980${CPF}${'0'.repeat(11)}000000012345678SSPSP`;
const RESPONSIBLE = `0102198011144477735${'0'.repeat(26)}`;

function read(bytes: Uint8Array): Certificate {
  const certificate = readCertificate(bytes);
  assert.ok(!('problem' in certificate), `refused: ${(certificate as { problem: string }).problem}`);
  return certificate;
}

function problemOf(bytes: Uint8Array): string {
  const certificate = readCertificate(bytes);
  assert.ok('problem' in certificate, 'taken for a certificate');
  return certificate.problem;
}

function withNames(subject: string, names: readonly string[]): Certificate {
  const extensions = names.length === 0 ? END : [...END, 'subjectAltName=@alt'];
  const sections = ['[alt]', ...names];
  return read(authority.issue({ subject, extensions, ...(names.length === 0 ? {} : { sections }) }).der);
}

const SAN_CNPJ = 'SAN 2.16.76.1.3.3';
const SAN_CPF = 'SAN 2.16.76.1.3.1';

/** reference/identifiers.md, 9.1 and 9.2. */
const HOLDERS: readonly (readonly [
  what: string,
  cn: string,
  names: readonly string[],
  expected: Holder | undefined,
])[] = [
  ...['UTF8', 'PRINTABLESTRING', 'IA5STRING', 'OCT', 'BMP', 'T61'].map(
    (kind) =>
      [
        `CNPJ as ${kind}`,
        'EMPRESA LTDA',
        [`otherName.1=2.16.76.1.3.3;${kind}:${CNPJ}`],
        { tipo: 'CNPJ', documento: CNPJ, onde: SAN_CNPJ },
      ] as const,
  ),
  [
    'a company as authorities write it: the responsible person is not the holder',
    `EMPRESA LTDA:${CNPJ}`,
    [
      'email.1=a@example.com',
      `otherName.1=2.16.76.1.3.4;OCT:${RESPONSIBLE}`,
      'otherName.2=2.16.76.1.3.2;OCT:FULANO DE TAL',
      `otherName.3=2.16.76.1.3.3;OCT:${CNPJ}`,
      `otherName.4=2.16.76.1.3.7;OCT:${'0'.repeat(12)}`,
    ],
    { tipo: 'CNPJ', documento: CNPJ, onde: SAN_CNPJ },
  ],
  [
    'a person',
    `FULANO:${CPF}`,
    [`otherName.1=2.16.76.1.3.1;OCT:${PERSON}`],
    { tipo: 'CPF', documento: CPF, onde: SAN_CPF },
  ],
  [
    'a person, the number alone',
    'FULANO',
    [`otherName.1=2.16.76.1.3.1;UTF8:${CPF}`],
    { tipo: 'CPF', documento: CPF, onde: SAN_CPF },
  ],
  [
    'both: the company',
    'EMPRESA',
    [`otherName.1=2.16.76.1.3.1;OCT:${PERSON}`, `otherName.2=2.16.76.1.3.3;OCT:${CNPJ}`],
    { tipo: 'CNPJ', documento: CNPJ, onde: SAN_CNPJ },
  ],
  [
    'a CNPJ with letters',
    'EMPRESA',
    ['otherName.1=2.16.76.1.3.3;OCT:12ABC34501DE35'],
    { tipo: 'CNPJ', documento: '12ABC34501DE35', onde: SAN_CNPJ },
  ],
  [
    'filled up with spaces',
    'EMPRESA',
    [`otherName.1=2.16.76.1.3.3;FORMAT:HEX,OCT:${Buffer.from(`${CNPJ}  \0`).toString('hex')}`],
    { tipo: 'CNPJ', documento: CNPJ, onde: SAN_CNPJ },
  ],
  ['CNPJ after the last colon', `A: B LTDA:${CNPJ}`, [], { tipo: 'CNPJ', documento: CNPJ, onde: 'CN' }],
  [
    'CPF after the last colon',
    `FULANO DE TAL:${CPF}`,
    ['email.1=a@example.com'],
    { tipo: 'CPF', documento: CPF, onde: 'CN' },
  ],
  [
    'zeros are no number',
    `FULANO:${CPF}`,
    [`otherName.1=2.16.76.1.3.3;OCT:${'0'.repeat(14)}`, `otherName.2=2.16.76.1.3.1;OCT:01021980${'0'.repeat(37)}`],
    { tipo: 'CPF', documento: CPF, onde: 'CN' },
  ],
  [
    'the responsible person alone is nobody',
    'EMPRESA LTDA',
    [`otherName.1=2.16.76.1.3.4;OCT:${RESPONSIBLE}`],
    undefined,
  ],
  ['a long number after the colon is no CPF', `FULANO:${PERSON}`, [], undefined],
  ['a CNPJ in small letters is none', 'EMPRESA:12abc34501de35', [], undefined],
  ['a number without colon', CNPJ, [], undefined],
  ['nothing', 'EMPRESA LTDA', ['DNS.1=example.com'], undefined],
];

for (const [what, cn, names, expected] of HOLDERS) {
  test(`holder: ${what}`, () => {
    assert.deepEqual(withNames(`/O=ICP-Brasil/CN=${cn}`, names).holder, expected);
  });
}

test('names, dates, serial and uses are those that openssl wrote', () => {
  const root = authority.issue({ subject: '/O=ICP-Brasil/CN=AC Raiz de Teste', extensions: CA });
  const extensions = [
    ...END,
    'extendedKeyUsage=clientAuth,emailProtection',
    'certificatePolicies=2.16.76.1.2.1.5',
    '1.2.3.4=critical,DER:0500',
  ];
  const issued = authority.issue({
    subject: '/C=BR/CN=São João:1',
    issuer: root,
    extensions,
    serial: '0x00a1b2c3d4e5f60718',
  });
  const certificate = read(issued.der);
  const told = (what: string): string => openssl('x509', '-in', issued.file, '-noout', what).toString().trim();
  const date = (line: string | undefined): number => Date.parse(line?.split('=')[1] ?? '');
  const [start, end] = told('-dates').split('\n');
  assert.equal(certificate.titular, 'São João:1');
  assert.equal(certificate.emissor, 'AC Raiz de Teste');
  assert.equal(certificate.serial, 'a1b2c3d4e5f60718');
  assert.equal(`serial=${certificate.serial.toUpperCase()}`, told('-serial'));
  assert.equal(certificate.inicio, date(start));
  assert.equal(certificate.fim, date(end));
  assert.equal(certificate.fingerprint, createHash('sha256').update(issued.der).digest('hex'));
  assert.deepEqual(certificate.keyUsage, ['digitalSignature', 'nonRepudiation']);
  assert.deepEqual(certificate.extKeyUsage, ['1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.4']);
  assert.deepEqual(certificate.policies, ['2.16.76.1.2.1.5']);
  assert.deepEqual(certificate.unprocessed, ['1.2.3.4']);
  assert.equal(certificate.isCa, false);
  assert.equal(certificate.weakDigest, undefined);
  assert.equal(certificate.issuerName, read(root.der).subjectName);
  assert.equal(read(root.der).isCa, true);
  assert.deepEqual(read(root.der).keyUsage, ['keyCertSign', 'cRLSign']);
});

test('every key usage has its name, the ninth bit too', () => {
  const names = [
    'digitalSignature',
    'nonRepudiation',
    'keyEncipherment',
    'dataEncipherment',
    'keyAgreement',
    'keyCertSign',
    'cRLSign',
    'encipherOnly',
    'decipherOnly',
  ];
  // The uses are listed in the order of their bits, so a wrong name would change the order.
  const all = authority.issue({ subject: '/CN=x', extensions: [`keyUsage=${names.join(',')}`] });
  assert.deepEqual(read(all.der).keyUsage, names);
  const one = authority.issue({ subject: '/CN=x', extensions: ['keyUsage=decipherOnly'] });
  assert.deepEqual(read(one.der).keyUsage, ['decipherOnly']);
});

test('path length, and a digest that can be forged', () => {
  const extensions = ['basicConstraints=critical,CA:TRUE,pathlen:0'];
  const certificate = read(authority.issue({ subject: '/CN=AC', extensions, digest: 'sha1' }).der);
  assert.equal(certificate.pathLength, 0);
  assert.equal(certificate.weakDigest, 'SHA-1');
  assert.equal(certificate.keyUsage, undefined);
  assert.equal(read(authority.issue({ subject: '/CN=AC', digest: 'md5' }).der).weakDigest, 'MD5');
});

test('a short RSA key is refused, one of another kind is for who verifies', () => {
  assert.match(problemOf(authority.issue({ subject: '/CN=x', key: 'rsa1024' }).der), /1024 bits; o mínimo é 2048/);
  assert.equal(read(authority.issue({ subject: '/CN=x', key: 'ec' }).der).publicKey.asymmetricKeyType, 'ec');
});

test('bytes that are no certificate say what they are', () => {
  const { der: bytes, pem } = authority.issue({ subject: '/CN=x' });
  assert.match(problemOf(Buffer.alloc(0)), /vazio/);
  assert.match(problemOf(Buffer.from(pem)), /em PEM/);
  assert.match(problemOf(Buffer.from(bytes.toString('base64'))), /Base64 duas vezes/);
  assert.match(problemOf(Buffer.concat([bytes, Buffer.from([0])])), /não são um certificado/);
  assert.match(problemOf(Buffer.alloc(1_000_000, 0x30)), /1000000 bytes/);
  assert.match(
    problemOf(authority.issue({ subject: '/CN=x', extensions: [`nsComment=${'a'.repeat(17_000)}`] }).der),
    /bytes; um certificado/,
  );
});

/** Node looks for PEM anywhere in its input, so a certificate inside other bytes would lend them its key. */
test('a certificate hidden inside of another is not found', () => {
  const hidden = authority.issue({ subject: '/CN=AC VERDADEIRA' });
  const pem = Buffer.from(`\n${hidden.pem}`);
  assert.match(problemOf(der.sequence(der.octetString(pem))), /certificado/);
  const comment = `nsComment=ASN1:FORMAT:HEX,OCT:${pem.toString('hex')}`.replace('nsComment', '1.2.3.4');
  const { der: bytes } = authority.issue({ subject: `/CN=VITIMA:${CNPJ}`, extensions: [...END, comment] });
  assert.match(problemOf(bytes), /certificado/);
});

test('keys that nobody should trust are refused: short curves, curves without a name, DSA', () => {
  const problem = (key: string): string => problemOf(authority.issue({ subject: '/CN=x', key }).der);
  assert.match(problem('p192'), /da curva prime192v1; só se aceita uma conhecida, de 224 bits ou mais\.$/);
  assert.match(problem('dsa'), /é DSA, que não é mais aceita/);
  for (const key of ['ec', 'brainpool', 'ed25519']) read(authority.issue({ subject: '/CN=x', key }).der);
  // Roots of ICP-Brasil write the curve out with explicit numbers, those of a known curve.
  const explicit = authority.issue({ subject: '/CN=x', key: 'explicit' }).der;
  read(explicit);
  // Another generator turns any public key into that of a known private one (CVE-2020-0601).
  const point = (scalar: number): Buffer => {
    const curve = createECDH('prime256v1');
    curve.setPrivateKey(Buffer.from([scalar]));
    return curve.getPublicKey();
  };
  const forged = Buffer.from(explicit);
  point(2).copy(forged, explicit.indexOf(point(1)));
  assert.notDeepEqual(forged, explicit);
  assert.match(problemOf(forged), /da curva sem nome; só se aceita uma conhecida/);
});

test('what a certificate says of keys and lists is of its type, though nobody asks for it', () => {
  // openssl writes the key identifiers itself, so the test renames another extension of the same length.
  const { der: bytes } = authority.issue({ subject: '/CN=x', extensions: [...END, '2.5.29.99=DER:0500'] });
  read(bytes);
  const at = bytes.indexOf(Buffer.from([0x06, 0x03, 0x55, 0x1d, 99]));
  for (const last of [14, 31, 35]) {
    const renamed = Buffer.from(bytes);
    renamed[at + 4] = last;
    assert.match(problemOf(renamed), /corrompido/, `2.5.29.${last}`);
  }
  // A SEQUENCE of another form than its name demands: openssl calls such an extension invalid.
  for (const [last, value] of [
    [31, '3003020101'],
    [31, '300430020500'],
    [35, '300c300a06086086480102010001'],
    [35, '3008820101800441424344'],
  ] as const) {
    const { der: whole } = authority.issue({ subject: '/CN=x', extensions: [...END, `2.5.29.99=DER:${value}`] });
    const renamed = Buffer.from(whole);
    renamed[whole.indexOf(Buffer.from([0x06, 0x03, 0x55, 0x1d, 99])) + 4] = last;
    assert.match(problemOf(renamed), /corrompido/, `2.5.29.${last} ${value}`);
  }
});

test('an extension that occurs twice is refused', () => {
  const { der: bytes } = authority.issue({ subject: '/CN=x', extensions: ['1.2.3.4=DER:0500', '1.2.3.5=DER:0500'] });
  const at = bytes.indexOf(Buffer.from([0x06, 0x03, 0x2a, 0x03, 0x05]));
  const twice = Buffer.from(bytes);
  twice[at + 4] = 0x04;
  assert.match(problemOf(twice), /corrompido/);
});

test('no byte that is changed, and no end that is cut off, makes it throw', () => {
  const sections = ['[alt]', `otherName.1=2.16.76.1.3.3;OCT:${CNPJ}`];
  const { der: bytes } = authority.issue({ subject: '/CN=x', extensions: [...END, 'subjectAltName=@alt'], sections });
  for (let at = 0; at < bytes.length; at += 1) {
    for (const flip of [0x01, 0x80, 0xff]) {
      const changed = Buffer.from(bytes);
      changed[at] = changed[at]! ^ flip;
      const certificate = readCertificate(changed);
      if (!('problem' in certificate)) assert.notEqual(certificate.fingerprint, read(bytes).fingerprint);
    }
    problemOf(bytes.subarray(0, at));
  }
});

test('a name is shown without what would move a cursor, and not at any length', () => {
  const certificate = read(authority.issue({ subject: `/CN=A\u001b[2J\u202eB${'C'.repeat(40)}` }).der);
  assert.equal(certificate.titular, `A\ufffd[2J\ufffdB${'C'.repeat(40)}`);
});

test('the same bytes are parsed once, whatever else is sent meanwhile', () => {
  const { der: bytes } = authority.issue({ subject: '/CN=EM USO' });
  const first = read(bytes);
  assert.equal(read(Buffer.from(bytes)), first);
  const other = Buffer.from(authority.issue({ subject: '/CN=OUTRO' }).der);
  for (let count = 0; count < 1_500; count += 1) {
    // The end of the signature changes: each is another certificate.
    other.writeUInt32BE(count, other.length - 4);
    read(other);
  }
  assert.equal(read(bytes), first);
});

test('what is remembered does not change with the bytes it was read from', () => {
  const bytes = Buffer.from(authority.issue({ subject: '/CN=COPIA' }).der);
  const certificate = read(bytes);
  const { fingerprint } = certificate;
  bytes.fill(0);
  assert.equal(createHash('sha256').update(certificate.der).digest('hex'), fingerprint);
});

test('all certificates of a PEM text, in order; a broken one is left out', () => {
  const [one, other] = ['/CN=um', '/CN=outro'].map((subject) => authority.issue({ subject }).pem);
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  const key = readFileSync(authority.keyFile('end'), 'utf8');
  const read = certificatesOfPem(`# texto\n${one}${key}${broken}\r\n${other}-----BEGIN CERTIFICATE-----\nMII`);
  assert.deepEqual(
    read.map(({ titular }) => titular),
    ['um', 'outro'],
  );
  assert.deepEqual(certificatesOfPem('nada'), []);
});

test('a CNPJ is compared by its first eight characters, a CPF whole (D-31)', () => {
  const company: Holder = { tipo: 'CNPJ', documento: CNPJ, onde: SAN_CNPJ };
  const person: Holder = { tipo: 'CPF', documento: CPF, onde: SAN_CPF };
  assert.equal(isHeldBy(company, '11222333000262'), true);
  assert.equal(isHeldBy(company, '11222334000181'), false);
  assert.equal(isHeldBy(company, '11222333'), false);
  assert.equal(isHeldBy(person, CPF), true);
  assert.equal(isHeldBy(person, '52998224806'), false);
  assert.equal(isHeldBy(company, CPF), false);
  assert.equal(isHeldBy({ tipo: 'CNPJ', documento: '12ABC34501DE35', onde: 'CN' }, '12ABC345000100'), true);
});

test('documents are masked for messages', () => {
  assert.equal(maskedDocument('12345678000195'), '12.345.678/****-**');
  assert.equal(maskedDocument('52998224725'), '***.982.247-**');
  assert.equal(maskedDocument('qualquer coisa'), '***');
});

test('a certificate that was seen again is known by its Base64, in exactly that form', () => {
  const { der: bytes } = authority.issue({ subject: '/CN=known' });
  const text = bytes.toString('base64');
  const certificate = read(bytes);
  assert.equal(certificateOfText(text), undefined, 'seen once: endless new ones are not kept');
  assert.equal(read(bytes), certificate);
  assert.equal(certificateOfText(text), certificate);
  for (const other of [`${text}\n`, ` ${text}`, `${text}=`, text.slice(0, -4), text.toLowerCase()]) {
    assert.equal(certificateOfText(other), undefined, JSON.stringify(other.slice(-8)));
  }
});
