/** Chains, anchors and revocation lists made by openssl, and the real authorities of ICP-Brasil; openssl judges them too. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { type Files, folderOf, motivo, open, opensslTrustsEach, read } from '../../test/support/chains.ts';
import { assertCostsLess, leastCpuMsOf } from '../../test/support/cost.ts';
import { CA, END, freshFolder, type Issued, openssl, opensslAuthority } from '../../test/support/openssl.ts';
import { untilTrue } from '../../test/support/until.ts';
import { DAY_MS } from '../fiscal/moment.ts';
import { type Certificate, certificatesOfPem, readCertificate } from './certificate.ts';
import { autoridades, matchTable, nationalAuthorities } from './icp-brasil/national.ts';
import { openTrust, type Trust, type Verdict } from './trust.ts';

const NOW = Date.now();
/** A moment after openssl has issued every certificate of this file, however long that takes: openssl uses the clock of this machine. */
const SOON = NOW + DAY_MS / 2;

const pki = opensslAuthority();
const ROOT_NAME = '/O=ICP-Brasil/CN=AC Raiz de Teste';
const LONG = { extensions: CA, days: 3_650 };
const root = pki.issue({ subject: ROOT_NAME, key: 'root', ...LONG });
const inter = pki.issue({ subject: '/O=ICP-Brasil/CN=AC Teste G1', issuer: root, key: 'inter', ...LONG });
const end = pki.issue({ subject: '/CN=EMPRESA:11222333000181', issuer: inter });
const plainRoot = pki.issue({ subject: '/CN=AC Raiz Alheia', key: 'other', ...LONG });
/** The same name as the root of the test, and another key. */
const namesake = pki.issue({ subject: ROOT_NAME, key: 'other', ...LONG });

type Case = {
  readonly what: string;
  readonly anchors: readonly Issued[];
  readonly extra?: readonly Issued[];
  readonly end: Issued;
  /** Days from now. */
  readonly day?: number;
  readonly expected: RegExp;
  /** True: openssl answers another question. It ignores the purposes of a certificate, and checks its dates. */
  readonly opensslDiffers?: true;
};

const NO_CERT_SIGN = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,cRLSign'];
const pathRoot = (length: number): Issued =>
  pki.issue({
    subject: `/CN=AC Raiz Curta ${length}`,
    key: 'root',
    extensions: [`basicConstraints=critical,CA:TRUE,pathlen:${length}`],
  });
const under = (issuer: Issued, extensions = CA, subject = '/CN=AC No Meio', days = 3_650): Issued =>
  pki.issue({ subject, issuer, key: 'middle', extensions, days });
const endOf = (issuer: Issued, extensions = END): Issued =>
  pki.issue({ subject: '/CN=EMPRESA', issuer, extensions, days: 3_650 });

const noCa = under(root, END);
const noSign = under(root, NO_CERT_SIGN);
const short = under(root, CA, '/CN=AC Breve', 30);
const oldInter = pki.issue({
  subject: '/CN=AC Antiga',
  issuer: root,
  key: 'middle',
  extensions: CA,
  digest: 'sha1',
  days: 3_650,
});
const [zero, one] = [pathRoot(0), pathRoot(1)];
const [underZero, underOne] = [under(zero), under(one)];
const oldRoot = pki.issue({ subject: '/CN=AC Raiz Velha', key: 'root', extensions: CA, digest: 'sha1' });
const ecRoot = pki.issue({ subject: '/CN=AC Raiz Curva', key: 'ec', extensions: CA });
const falseInter = pki.issue({ subject: '/O=ICP-Brasil/CN=AC Teste G1', issuer: namesake, key: 'middle', ...LONG });

const CASES: readonly Case[] = [
  {
    what: 'the authority in between came along',
    anchors: [root],
    extra: [inter],
    end,
    expected: /^trusted: EMPRESA:11222333000181 < AC Teste G1 < AC Raiz de Teste$/,
  },
  {
    what: 'the authority in between is in the folder',
    anchors: [root, inter],
    end,
    expected: /^trusted: EMPRESA:11222333000181 < AC Teste G1 < AC Raiz de Teste$/,
  },
  {
    what: 'an authority without its root is an anchor',
    anchors: [inter],
    end,
    expected: /^trusted: EMPRESA:11222333000181 < AC Teste G1$/,
  },
  {
    what: 'directly under the root',
    anchors: [root],
    end: endOf(root),
    expected: /^trusted: EMPRESA < AC Raiz de Teste$/,
  },
  { what: 'a root of another kind of key', anchors: [ecRoot], end: endOf(ecRoot), expected: /^trusted/ },
  {
    what: 'the authority in between is missing',
    anchors: [root],
    end,
    expected: /^untrusted: Falta o certificado da autoridade "AC Teste G1", que emitiu o certificado usado/,
  },
  {
    what: 'the root is missing',
    anchors: [plainRoot],
    extra: [inter],
    end,
    expected: /^untrusted: Falta o certificado da autoridade "AC Raiz de Teste", que emitiu o de "AC Teste G1"/,
  },
  {
    what: 'the root is not among the anchors',
    anchors: [plainRoot],
    extra: [inter, root],
    end,
    expected: new RegExp(`^untrusted: .*termina na raiz "AC Raiz de Teste" \\(SHA-256 ${read(root).fingerprint}\\)`),
  },
  {
    what: 'an issuer of the same name and another key',
    anchors: [root, inter],
    end: endOf(falseInter),
    expected: /^untrusted: O certificado diz ter sido emitido por "AC Teste G1", mas a assinatura não confere/,
  },
  {
    what: 'a made-up root of the same name that came along',
    anchors: [root],
    extra: [falseInter, namesake],
    end: endOf(falseInter),
    expected: /^untrusted: .*há uma com o mesmo nome, mas de outra chave/,
  },
  {
    what: 'a made-up authority of the same name beside the true one',
    anchors: [root],
    extra: [falseInter, inter],
    end,
    expected: /^trusted/,
  },
  {
    what: 'signed by itself',
    anchors: [root],
    end: pki.issue({ subject: '/CN=EU MESMO', extensions: END }),
    expected: /^untrusted: O certificado é autoassinado/,
  },
  {
    what: 'issued by who is no authority',
    anchors: [root],
    extra: [noCa],
    end: endOf(noCa),
    expected: /^untrusted: .*"AC No Meio", que não é autoridade certificadora/,
  },
  {
    what: 'issued by an authority that may not sign certificates',
    anchors: [root],
    extra: [noSign],
    end: endOf(noSign),
    expected: /^untrusted: "AC No Meio" emitiu um certificado, mas o uso da sua chave/,
  },
  {
    what: 'longer than the root admits',
    anchors: [zero],
    extra: [underZero],
    end: endOf(underZero),
    expected: /^untrusted: "AC Raiz Curta 0" admite até 0 autoridade\(s\) abaixo de si, e a cadeia tem 1/,
  },
  { what: 'as long as the root admits', anchors: [one], extra: [underOne], end: endOf(underOne), expected: /^trusted/ },
  {
    what: 'the authority in between has expired',
    anchors: [root],
    extra: [short],
    end: endOf(short),
    day: 40,
    expected: /^untrusted: O certificado da autoridade "AC Breve", na cadeia, venceu em \d\d\/\d\d\/\d{4}/,
  },
  {
    what: 'the authority in between has not expired yet',
    anchors: [root],
    extra: [short],
    end: endOf(short),
    day: 20,
    expected: /^trusted/,
  },
  {
    what: 'before the authorities were there',
    anchors: [root, inter],
    end,
    day: -2,
    expected: /^untrusted: .*só vale a partir de/,
  },
  {
    what: 'the end certificate has expired: judged elsewhere',
    anchors: [root, inter],
    end,
    day: 400,
    expected: /^trusted/,
    opensslDiffers: true,
  },
  {
    what: 'signed with SHA-1',
    anchors: [root],
    end: pki.issue({ subject: '/CN=x', issuer: root, digest: 'sha1' }),
    expected: /^untrusted: O certificado foi assinado por "AC Raiz de Teste" com SHA-1/,
  },
  {
    what: 'an authority signed with SHA-1',
    anchors: [root],
    extra: [oldInter],
    end: endOf(oldInter),
    expected: /^untrusted: O certificado da autoridade "AC Antiga" foi assinado .* com SHA-1/,
  },
  { what: 'a root that signed itself with SHA-1', anchors: [oldRoot], end: endOf(oldRoot), expected: /^trusted/ },
  {
    what: 'a critical extension that nobody knows',
    anchors: [root],
    end: endOf(root, [...END, '1.2.3.4=critical,DER:0500']),
    expected: /^misused: .*extensão crítica 1\.2\.3\.4/,
  },
  {
    what: 'an authority that signs documents',
    anchors: [root],
    end: inter,
    expected: /^misused: .*autoridade certificadora \("AC Teste G1"\)/,
    opensslDiffers: true,
  },
  {
    what: 'a key that may not sign',
    anchors: [root],
    end: endOf(root, ['keyUsage=critical,keyEncipherment']),
    expected: /^misused: .*admite keyEncipherment/,
    opensslDiffers: true,
  },
  {
    what: 'a key that may only be bound by',
    anchors: [root],
    end: endOf(root, ['keyUsage=critical,nonRepudiation']),
    expected: /^trusted/,
  },
  {
    what: 'a key without any restriction',
    anchors: [root],
    end: endOf(root, ['basicConstraints=CA:FALSE']),
    expected: /^trusted/,
  },
];

const trusted = opensslTrustsEach(
  CASES.map(({ anchors, extra = [], end, day = 0 }) => ({ anchors, extra, end, at: SOON + day * DAY_MS })),
);

for (const [place, { what, anchors, extra, end: signer, day = 0, expected, opensslDiffers }] of CASES.entries()) {
  test(`chain: ${what}`, () => {
    const files = Object.fromEntries(anchors.map(({ pem }, at) => [`${at}.pem`, pem]));
    const { trust } = open(files);
    const at = SOON + day * DAY_MS;
    const verdict = trust.judge(read(signer), at, extra?.map(read));
    assert.match(motivo(verdict), expected);
    // The second verdict comes from memory, and must be the same.
    assert.deepEqual(trust.judge(read(signer), at, extra?.map(read)), verdict);
    if (opensslDiffers) return;
    assert.equal(trusted[place], verdict.kind === 'trusted', 'openssl disagrees');
  });
}

test('no changed byte of a trusted certificate leaves it trusted', () => {
  const { trust } = open({ 'raiz.pem': root.pem, 'g1.pem': inter.pem });
  assert.equal(trust.judge(read(end), SOON).kind, 'trusted');
  for (let at = 0; at < end.der.length; at += 1) {
    const changed = Buffer.from(end.der);
    changed[at] = changed[at]! ^ (1 << (at % 8));
    const certificate = readCertificate(changed);
    if (!('problem' in certificate)) assert.notEqual(trust.judge(certificate, SOON).kind, 'trusted', `byte ${at}`);
  }
});

test('who leaves out the authority in between is told so, also after others have sent it', () => {
  const { trust } = open({ 'raiz.pem': root.pem });
  const at = SOON;
  assert.equal(trust.judge(read(end), at, [read(inter)]).kind, 'trusted');
  assert.equal(trust.judge(read(end), at, []).kind, 'untrusted');
  assert.equal(trust.judge(read(end), at).kind, 'untrusted');
});

test('a chain that was found is not good for ever', () => {
  const { trust } = open({ 'raiz.pem': root.pem, 'breve.pem': short.pem });
  const signer = read(endOf(short));
  assert.equal(trust.judge(signer, SOON).kind, 'trusted');
  assert.equal(trust.judge(signer, NOW + 40 * DAY_MS).kind, 'untrusted');
  assert.equal(trust.judge(signer, SOON).kind, 'trusted');
});

test('authorities that vouch for one another in circles do not keep us busy', () => {
  const names = Array.from({ length: 4 }, (_, at) => `/CN=AC Roda ${at}`);
  const first = names.map((subject, at) => pki.issue({ subject, key: `roda${at % 2}`, ...LONG }));
  const circle = first.flatMap((issuer) =>
    first.map(({ subject, keyFile }) => pki.issue({ subject, issuer, key: path.basename(keyFile, '.key'), ...LONG })),
  );
  const { trust } = open({ 'raiz.pem': root.pem });
  const signer = read(endOf(first[0]!));
  const authorities = circle.map(read);
  const { x509, publicKey } = read(root);
  const oneMs = leastCpuMsOf(() => void x509.verify(publicKey));
  // Each signature is checked once: only the first search is expensive.
  const began = process.cpuUsage();
  assert.equal(trust.judge(signer, SOON, authorities).kind, 'untrusted');
  const { user, system } = process.cpuUsage(began);
  assert.ok(
    (user + system) / 1_000 < Math.max(500, 5_000 * oneMs),
    `${(user + system) / 1_000} ms, ${oneMs} ms a signature`,
  );
});

test('files of any name, in PEM, DER or several in one, with what else lies there named once', () => {
  const warnings: string[] = [];
  const key = pki.keyFile('root');
  const p7b = openssl('crl2pkcs7', '-nocrl', '-certfile', root.file);
  const files = {
    'a-raiz.der': root.der,
    'b-varios.crt': `texto livre\n${plainRoot.pem}\n${inter.pem}`,
    'c-titular.pem': end.pem,
    'd-chave.pem': readFileSync(key),
    'e-pacote.p7b': p7b,
    'f-leia-me.txt': 'Raízes do município',
    'g-vazio.pem': '',
    'h-quebrado.pem': `${root.pem.slice(0, 400)}\n-----END CERTIFICATE-----\n`,
    '.oculto.pem': 'nada',
  };
  const ancoras = folderOf(files);
  const trust = openTrust({ ancoras, revogados: undefined }, { warn: (_, message) => void warnings.push(message) });
  assert.match(motivo(trust.judge(read(end), SOON)), /^trusted/);
  assert.equal(trust.judge(read(end), SOON).kind, 'trusted');
  const named = (name: string): readonly string[] => warnings.filter((warning) => warning.startsWith(name));
  assert.match(named('c-titular.pem')[0]!, /não é de uma autoridade certificadora/);
  assert.match(named('d-chave.pem')[0]!, /tem PRIVATE KEY, não certificado/);
  assert.match(named('e-pacote.p7b')[0]!, /PKCS7.*openssl pkcs7 -print_certs/);
  assert.match(named('f-leia-me.txt')[0]!, /não há certificado/);
  assert.match(named('g-vazio.pem')[0]!, /não há certificado/);
  assert.equal(named('h-quebrado.pem').length, 1);
  assert.equal(warnings.length, 6);
  // A log must not reveal the holder of the certificate.
  for (const warning of warnings) assert.doesNotMatch(warning, /11222333000181|EMPRESA/);
});

test('a folder that is not there, or has no anchor, trusts nobody and says so', () => {
  const warnings: string[] = [];
  const warn = (_: object, message: string): void => void warnings.push(message);
  const ancoras = path.join(freshFolder(), 'nenhures');
  const trust = openTrust({ ancoras, revogados: undefined }, { warn });
  assert.equal(trust.judge(read(end), SOON, [read(inter), read(root)]).kind, 'untrusted');
  assert.match(warnings.join('\n'), /nenhures não pôde ser lida .*ENOENT/);
  assert.match(warnings.join('\n'), /não há nenhuma âncora/);
});

test('an anchor that is no root is remarked on, with its file', () => {
  const { warnings } = open({ 'g1.pem': inter.pem });
  assert.match(
    warnings[0]!,
    /^g1\.pem: "AC Teste G1" não é uma raiz, e o emissor "AC Raiz de Teste" não está na pasta; passa a ser âncora/,
  );
  assert.deepEqual(open({ 'g1.pem': inter.pem, 'raiz.pem': root.pem }).warnings, []);
});

// Revocation.

const revokedEnd = endOf(inter);
const rootList = pki.revoke({ issuer: root, entries: [] });

test('revoked: the date and the reason are told; the others are not touched', () => {
  const entry = { serial: revokedEnd.serial, date: '260312120000Z', reason: 'keyCompromise' };
  const { trust, warnings } = open(
    { 'raiz.pem': root.pem, 'g1.pem': inter.pem },
    { 'g1.crl': pki.revoke({ issuer: inter, entries: [entry] }), 'raiz.crl': rootList },
  );
  const verdict = trust.judge(read(revokedEnd), SOON);
  assert.match(
    motivo(verdict),
    /^revoked: O certificado foi revogado por "AC Teste G1" em 12\/03\/2026 \(comprometimento da chave\)/,
  );
  assert.equal(trust.judge(read(end), SOON).kind, 'trusted');
  assert.deepEqual(warnings, []);
});

test('revoked: an authority in between takes everybody below with it', () => {
  const list = pki.revoke({ issuer: root, entries: [{ serial: inter.serial, date: '260401000000Z' }] });
  const { trust } = open({ 'raiz.pem': root.pem, 'g1.pem': inter.pem }, { 'raiz.crl': list });
  assert.match(
    motivo(trust.judge(read(end), SOON)),
    /^revoked: O certificado da autoridade "AC Teste G1" foi revogado por "AC Raiz de Teste" em 31\/03\/2026/,
  );
});

test('which authorities have no list, or an old one, is told before anybody signs', () => {
  const authorities = { 'raiz.pem': root.pem, 'g1.pem': inter.pem };
  const dates = ['-crl_lastupdate', '260101000000Z', '-crl_nextupdate', '260201000000Z'];
  const old = pki.revoke({ issuer: inter, entries: [], dates });
  const current = pki.revoke({ issuer: inter, entries: [] });
  const told = (crls: Files | undefined, anchors: Files = authorities): string => {
    const { trust, warnings } = open(anchors, crls);
    trust.warnOfLists(SOON);
    return warnings.join('\n');
  };
  assert.match(told({}), /^não há LCR de "AC Teste G1" na pasta \S+: a revogação do que ela emite não é verificada$/);
  assert.match(told({}, { 'raiz.pem': root.pem }), /^não há LCR de "AC Raiz de Teste"/);
  assert.match(told({ 'velha.crl': old }), /^velha\.crl: a LCR de "AC Teste G1" venceu em 31\/01\/2026;[^\n]*$/);
  assert.equal(told({ 'g1.crl': current }), '');
  assert.equal(told(undefined), '');
});

test('revoked from a moment on, and not before', () => {
  const date = new Date(NOW + 10 * DAY_MS).toISOString().replace(/\D/g, '').slice(2, 14);
  const list = pki.revoke({ issuer: inter, entries: [{ serial: revokedEnd.serial, date: `${date}Z` }] });
  const { trust } = open({ 'raiz.pem': root.pem, 'g1.pem': inter.pem }, { 'g1.crl': list });
  assert.equal(trust.judge(read(revokedEnd), SOON).kind, 'trusted');
  assert.equal(trust.judge(read(revokedEnd), NOW + 11 * DAY_MS).kind, 'revoked');
  assert.equal(trust.judge(read(revokedEnd), SOON).kind, 'trusted');
});

test('a list that somebody else signed in the name of the authority is not used, and is named', () => {
  const list = pki.revoke({ issuer: falseInter, entries: [{ serial: end.serial, date: '260312120000Z' }] });
  const { trust, warnings } = open(
    { 'raiz.pem': root.pem, 'g1.pem': inter.pem },
    { 'falsa.crl': list, 'raiz.crl': rootList },
  );
  assert.equal(trust.judge(read(end), SOON).kind, 'trusted');
  assert.match(
    warnings.join('\n'),
    /^falsa\.crl: a LCR traz o nome de "AC Teste G1", mas não foi assinada por essa autoridade/m,
  );
  assert.match(warnings.join('\n'), /^não há LCR de "AC Teste G1"/m);
});

test('a list of which a byte was changed is not used', () => {
  const pem = pki.revoke({ issuer: inter, entries: [{ serial: end.serial, date: '260312120000Z' }] }).toString();
  const list = Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
  const files = { 'raiz.pem': root.pem, 'g1.pem': inter.pem };
  assert.equal(open(files, { 'g1.crl': list }).trust.judge(read(end), SOON).kind, 'revoked');
  for (let at = 0; at < list.length; at += 7) {
    const changed = Buffer.from(list);
    changed[at] = changed[at]! ^ 0x04;
    assert.equal(open(files, { 'g1.crl': changed }).trust.judge(read(end), SOON).kind, 'trusted', `byte ${at}`);
  }
});

test('a list that has expired still revokes, and the operator hears of it once', () => {
  const dates = ['-crl_lastupdate', '260101000000Z', '-crl_nextupdate', '260201000000Z'];
  const list = pki.revoke({ issuer: inter, entries: [{ serial: revokedEnd.serial, date: '260101000000Z' }], dates });
  const { trust, warnings } = open(
    { 'raiz.pem': root.pem, 'g1.pem': inter.pem },
    { 'velha.crl': list, 'raiz.crl': rootList },
  );
  assert.equal(trust.judge(read(revokedEnd), SOON).kind, 'revoked');
  for (let count = 0; count < 3; count += 1) assert.equal(trust.judge(read(end), SOON).kind, 'trusted');
  assert.deepEqual(
    warnings.map((warning) => warning.split(';')[0]),
    ['velha.crl: a LCR de "AC Teste G1" venceu em 31/01/2026'],
  );
});

test('of two lists of the same authority the newer counts', () => {
  const held = { serial: revokedEnd.serial, date: '260101000000Z', reason: 'certificateHold' };
  const older = pki.revoke({
    issuer: inter,
    entries: [held],
    dates: ['-crl_lastupdate', '260101000000Z', '-crl_nextupdate', '491201000000Z'],
  });
  const newer = pki.revoke({ issuer: inter, entries: [] });
  const files = { 'raiz.pem': root.pem, 'g1.pem': inter.pem };
  assert.match(
    motivo(open(files, { 'a.crl': older }).trust.judge(read(revokedEnd), SOON)),
    /^revoked: .*\(suspensão\)/,
  );
  assert.equal(open(files, { 'a.crl': older, 'b.crl': newer }).trust.judge(read(revokedEnd), SOON).kind, 'trusted');
  assert.equal(open(files, { 'b.crl': older, 'a.crl': newer }).trust.judge(read(revokedEnd), SOON).kind, 'trusted');
});

test('lists of another kind, or of nobody known, are named and left out', () => {
  const entries = [{ serial: end.serial, date: '260312120000Z' }];
  const indirect = ['issuingDistributionPoint=critical,@idp', '[idp]', 'indirectCRL=TRUE'];
  const { trust, warnings } = open(
    { 'raiz.pem': root.pem, 'g1.pem': inter.pem },
    {
      'delta.crl': pki.revoke({ issuer: inter, entries, extensions: ['2.5.29.27=critical,DER:020101'] }),
      'indireta.crl': pki.revoke({ issuer: inter, entries, extensions: indirect }),
      'alheia.crl': pki.revoke({ issuer: plainRoot, entries }),
      'certificado.pem': root.pem,
      'nada.crl': Buffer.alloc(1_000, 0x30),
    },
  );
  assert.equal(trust.judge(read(end), SOON).kind, 'trusted');
  const text = warnings.join('\n');
  assert.match(text, /^delta\.crl: é uma lista parcial \(delta\) de AC Teste G1/m);
  assert.match(text, /^indireta\.crl: é uma lista indireta/m);
  assert.match(text, /^alheia\.crl: a LCR é de "AC Raiz Alheia", cujo certificado não está na pasta de âncoras/m);
  assert.match(text, /^certificado\.pem: o arquivo tem CERTIFICATE, não lista de revogados/m);
  assert.match(text, /^nada\.crl: não é uma lista de certificados revogados/m);
});

test('an authority whose key may not sign lists signs none, and that is what the operator is told', () => {
  const mute = under(root, ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign'], '/CN=AC Muda');
  const signer = endOf(mute);
  const list = pki.revoke({ issuer: mute, entries: [{ serial: signer.serial, date: '260312120000Z' }] });
  const files = { 'raiz.pem': root.pem, 'muda.pem': mute.pem };
  const { trust, warnings } = open(files, { 'muda.crl': list });
  assert.equal(trust.judge(read(signer), SOON).kind, 'trusted');
  const told =
    /^muda\.crl: a LCR foi assinada por "AC Muda", mas o uso da chave \(keyUsage\) .* não traz cRLSign.*não é usada$/m;
  assert.match(warnings.join('\n'), told);
  const ahead = open(files, { 'muda.crl': list });
  ahead.trust.warnOfLists(SOON);
  assert.match(ahead.warnings.join('\n'), told);
});

test('which authorities of a chain have no list that tells of all they issued is part of the verdict', () => {
  const authorities = { 'raiz.pem': root.pem, 'g1.pem': inter.pem };
  const without = (crls: Files | undefined): readonly string[] | undefined => {
    const verdict = open(authorities, crls).trust.judge(read(end), SOON);
    return verdict.kind === 'trusted' ? verdict.semLista : undefined;
  };
  const [both, lower, upper] = [['AC Teste G1', 'AC Raiz de Teste'], ['AC Teste G1'], ['AC Raiz de Teste']];
  const list = pki.revoke({ issuer: inter, entries: [] });
  const past = ['-crl_lastupdate', '260101000000Z', '-crl_nextupdate', '260201000000Z'];
  const long = ['-crl_lastupdate', '260101000000Z', '-crl_nextupdate', '491201000000Z'];
  const part = ['issuingDistributionPoint=critical,@idp', '[idp]', 'onlyuser=TRUE'];
  assert.deepEqual(without(undefined), both);
  assert.deepEqual(without({}), both);
  assert.deepEqual(without({ 'alheia.crl': pki.revoke({ issuer: plainRoot, entries: [] }) }), both);
  assert.deepEqual(without({ 'falsa.crl': pki.revoke({ issuer: falseInter, entries: [] }) }), both);
  assert.deepEqual(without({ 'raiz.crl': rootList }), lower);
  assert.deepEqual(without({ 'g1.crl': list }), upper);
  for (const wish of [
    { dates: past },
    { extensions: part },
    { dates: long, extensions: ['1.2.3.4=critical,DER:0500'] },
  ]) {
    const lesser = pki.revoke({ issuer: inter, entries: [], ...wish });
    assert.deepEqual(without({ 'raiz.crl': rootList, 'g1.crl': lesser }), lower, JSON.stringify(wish));
    assert.deepEqual(
      without({ 'raiz.crl': rootList, 'g1.crl': lesser, 'inteira.crl': list }),
      [],
      JSON.stringify(wish),
    );
  }
});

test('that a list runs out is part of the verdict from then on', () => {
  const next = new Date(Date.parse(new Date(SOON).toISOString()) + 86_400_000);
  const stamp = `${next.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`;
  const list = pki.revoke({
    issuer: root,
    entries: [],
    dates: ['-crl_lastupdate', '260101000000Z', '-crl_nextupdate', stamp],
  });
  const { trust } = open({ 'raiz.pem': root.pem }, { 'raiz.crl': list });
  const signer = read(endOf(root));
  const withoutAt = (at: number): unknown => {
    const verdict = trust.judge(signer, at);
    return verdict.kind === 'trusted' ? verdict.semLista : verdict;
  };
  assert.deepEqual(withoutAt(SOON), []);
  assert.deepEqual(withoutAt(next.getTime() + 1_000), ['AC Raiz de Teste']);
});

test('an authority that signs its lists with another key than it issued with revokes all the same', () => {
  const named = { subject: '/O=ICP-Brasil/CN=AC Teste G1', ...LONG };
  const renewed = pki.issue({ ...named, issuer: root, key: 'renewed' });
  const forLists = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,cRLSign'];
  const byItself = pki.issue({ ...named, issuer: inter, key: 'lists', extensions: forLists });
  const entries = [{ serial: revokedEnd.serial, date: '260312120000Z' }];
  for (const by of [renewed, byItself]) {
    const files = { 'raiz.pem': root.pem, 'g1.pem': inter.pem, 'outra.pem': by.pem };
    const list = pki.revoke({ issuer: by, entries });
    const both = open(files, { 'g1.crl': list, 'raiz.crl': rootList });
    assert.equal(both.trust.judge(read(revokedEnd), SOON).kind, 'revoked');
    assert.equal(both.trust.judge(read(end), SOON).kind, 'trusted');
    assert.deepEqual(both.warnings, []);
    // A newer list of the other key does not restore a certificate that the first revoked.
    const later = pki.revoke({ issuer: by, entries: [], dates: ['-crl_nextupdate', '491201000000Z'] });
    const first = pki.revoke({ issuer: inter, entries });
    assert.equal(open(files, { 'a.crl': first, 'b.crl': later }).trust.judge(read(revokedEnd), SOON).kind, 'revoked');
  }
  // This authority has the same name, and belongs to no chain.
  const stranger = open(
    { 'raiz.pem': root.pem, 'g1.pem': inter.pem, 'falsa.pem': falseInter.pem },
    { 'g1.crl': pki.revoke({ issuer: falseInter, entries }) },
  );
  assert.equal(stranger.trust.judge(read(revokedEnd), SOON).kind, 'trusted');
});

const MANY = 30_000;
const many = Array.from({ length: MANY }, (_, at) => ({
  serial: (0x7f000000 + at).toString(16),
  date: '260101000000Z',
}));
const theOne = { serial: revokedEnd.serial, date: '260312120000Z' };
const longList = pki.revoke({ issuer: inter, entries: [...many, theOne] });
const shortList = pki.revoke({ issuer: inter, entries: [theOne] });

test('a list of thirty thousand is searched in no time', () => {
  const { trust } = open({ 'raiz.pem': root.pem, 'g1.pem': inter.pem }, { 'g1.crl': longList });
  assert.equal(trust.judge(read(revokedEnd), SOON).kind, 'revoked');
  const first = pki.issue({ subject: '/CN=x', issuer: inter, serial: `0x${many[0]!.serial}` });
  const last = pki.issue({ subject: '/CN=x', issuer: inter, serial: `0x${many.at(-1)!.serial}` });
  for (const signer of [first, last]) assert.equal(trust.judge(read(signer), SOON).kind, 'revoked');
  assert.equal(trust.judge(read(end), SOON).kind, 'trusted');
  const short = open({ 'raiz.pem': root.pem, 'g1.pem': inter.pem }, { 'g1.crl': shortList }).trust;
  const signer = read(revokedEnd);
  const lookUps = (of: Trust) => (): void => {
    for (let count = 0; count < 1_000; count += 1) assert.equal(of.judge(signer, SOON).kind, 'revoked');
  };
  assertCostsLess(lookUps(trust), 100 + 10 * leastCpuMsOf(lookUps(short)), 'a look-up walks the list');
});

// Changes while the service runs.

function untilKind(trust: Trust, signer: Issued, kind: Verdict['kind']): Promise<void> {
  return untilTrue(() => trust.judge(read(signer), SOON).kind === kind, kind);
}

test('folders are followed: added, spoilt, replaced, taken away', { concurrency: true }, async (context) => {
  await Promise.all([
    context.test('an anchor comes and goes', async () => {
      const { trust, ancoras } = open({ 'g1.txt': plainRoot.pem });
      assert.equal(trust.judge(read(end), SOON).kind, 'untrusted');
      writeFileSync(path.join(ancoras, 'cadeia.pem'), `${root.pem}${inter.pem}`);
      await untilKind(trust, end, 'trusted');
      rmSync(path.join(ancoras, 'cadeia.pem'));
      await untilKind(trust, end, 'untrusted');
    }),
    context.test('a list comes, is spoilt, and is replaced', async () => {
      const { trust, revogados, warnings } = open({ 'raiz.pem': root.pem, 'g1.pem': inter.pem }, {});
      const file = path.join(revogados!, 'g1.crl');
      assert.equal(trust.judge(read(revokedEnd), SOON).kind, 'trusted');
      writeFileSync(
        file,
        pki.revoke({ issuer: inter, entries: [{ serial: revokedEnd.serial, date: '260312120000Z' }] }),
      );
      await untilKind(trust, revokedEnd, 'revoked');
      writeFileSync(file, 'pela metade');
      await untilTrue(() => {
        assert.equal(trust.judge(read(revokedEnd), SOON).kind, 'revoked');
        return warnings.some((warning) => warning.includes('continua valendo o conteúdo anterior'));
      }, 'the spoilt list is told');
      assert.equal(trust.judge(read(revokedEnd), SOON).kind, 'revoked');
      writeFileSync(file, pki.revoke({ issuer: inter, entries: [] }));
      await untilKind(trust, revokedEnd, 'trusted');
    }),
    context.test('a long list is read beside the requests', async () => {
      const { trust, revogados } = open({ 'raiz.pem': root.pem, 'g1.pem': inter.pem }, {});
      writeFileSync(path.join(revogados!, 'g1.crl'), longList);
      await untilKind(trust, revokedEnd, 'revoked');
    }),
  ]);
});

// ICP-Brasil.

test('the authorities brought along are those of the table, and openssl finds their chains', () => {
  const { raizes, intermediarias, problems } = nationalAuthorities();
  assert.deepEqual(problems, []);
  assert.deepEqual(raizes.map(({ titular }) => titular.split(' ').at(-1)).sort(), ['v12', 'v13', 'v4', 'v5']);
  assert.equal(raizes.length + intermediarias.length, autoridades().length);
  for (const { nome, sha256, inicio, fim } of autoridades()) {
    const one = [...raizes, ...intermediarias].find(({ fingerprint }) => fingerprint === sha256);
    assert.equal(one?.titular, nome);
    assert.equal(one?.inicio, Date.parse(inicio));
    assert.equal(one?.fim, Date.parse(fim));
  }
  const folder = path.join(import.meta.dirname, 'icp-brasil');
  const files = intermediarias.map(({ x509 }, at) => [`${at}.pem`, x509.toString()] as const);
  const place = folderOf(Object.fromEntries(files));
  const bundles = ['-CAfile', path.join(folder, 'raizes.pem'), '-untrusted', path.join(folder, 'intermediarias.pem')];
  const at = ['-attime', String(Date.parse('2026-11-21T12:00:00Z') / 1000)];
  const said = openssl(
    'verify',
    '-no-CApath',
    '-no-CAstore',
    ...at,
    ...bundles,
    ...files.map(([name]) => path.join(place, name)),
  );
  assert.equal(said.toString().match(/: OK$/gm)?.length, intermediarias.length);
});

test('every authority of ICP-Brasil leads to its root, from what is brought along', () => {
  const trust = openTrust({ ancoras: undefined, revogados: undefined }, { warn: () => assert.fail() });
  const { intermediarias } = nationalAuthorities();
  const rows = new Map(autoridades().map((row) => [row.sha256, row]));
  for (const authority of intermediarias) {
    const row = rows.get(authority.fingerprint)!;
    // The authority is judged like the end of a chain: this project keeps no certificates of taxpayers.
    const verdict = trust.judge({ ...authority, isCa: false, keyUsage: undefined }, Date.parse('2026-11-21T12:00:00Z'));
    assert.ok(verdict.kind === 'trusted', motivo(verdict));
    assert.equal(verdict.cadeia.at(-1), `Autoridade Certificadora Raiz Brasileira ${row.raiz}`);
    assert.equal(verdict.cadeia.length, row.nivel === 'primeiro_nivel' ? 2 : 3);
  }
  assert.match(
    motivo(trust.judge(read(end), SOON, [read(inter), read(root)])),
    /^untrusted: .*não está entre as raízes da ICP-Brasil/,
  );
});

test('with roots of the municipality, the national authorities still help to get there', () => {
  const { raizes, intermediarias } = nationalAuthorities();
  const v5 = raizes.find(({ titular }) => titular.endsWith('v5'))!;
  const { trust } = open({ 'v5.der': v5.der });
  const judge = (name: string): Verdict => {
    const below = intermediarias.find(
      ({ titular }) =>
        titular === autoridades().find(({ raiz, nivel }) => raiz === name && nivel === 'segundo_nivel')!.nome,
    )!;
    return trust.judge({ ...below, isCa: false, keyUsage: undefined }, Date.parse('2026-11-21T12:00:00Z'));
  };
  assert.match(motivo(judge('v5')), /^trusted/);
  assert.match(
    motivo(judge('v12')),
    /^untrusted: Falta o certificado da autoridade "Autoridade Certificadora Raiz Brasileira v12"/,
  );
});

test('a certificate that is not in the table does not count, and one that is missing is named', () => {
  const table = autoridades().filter(({ nivel }) => nivel === 'raiz');
  const pem = (list: readonly Certificate[]): string => list.map(({ x509 }) => x509.toString()).join('\n');
  const { raizes } = nationalAuthorities();
  const slipped = matchTable(table, `${pem(raizes)}${root.pem}`, '');
  assert.equal(slipped.raizes.length, 4);
  assert.match(
    slipped.problems.join('\n'),
    /^raizes\.pem: há um certificado cujo resumo SHA-256 não está em autoridades\.json/,
  );
  const lacking = matchTable(table, pem(raizes.slice(1)), pem(raizes.slice(0, 1)));
  assert.equal(lacking.raizes.length, 3);
  assert.match(
    lacking.problems.join('\n'),
    new RegExp(`falta o certificado de ${raizes[0]!.titular} \\(SHA-256 ${raizes[0]!.fingerprint}\\)`),
  );
  assert.deepEqual(
    certificatesOfPem(pem(raizes)).map(({ fingerprint }) => fingerprint),
    raizes.map(({ fingerprint }) => fingerprint),
  );
});
