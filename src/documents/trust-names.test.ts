/** The limits of an authority: purposes in chains made by openssl, with openssl's verdict on each; and names, which nobody compares. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { motivo, open, opensslTrustsEach, read } from '../../test/support/chains.ts';
import { CA, END, type Issued, opensslAuthority } from '../../test/support/openssl.ts';
import { nationalAuthorities } from './icp-brasil/national.ts';

const SOON = Date.now() + 43_200_000;
/** The refusal of an authority with name constraints; openssl refuses it only for a name outside them. */
const NAMES =
  /^untrusted: O certificado de "AC No Meio" traz restrições de nomes \(nameConstraints\), que este serviço não confere e por isso não pode aceitar\./;

const pki = opensslAuthority();
const root = pki.issue({ subject: '/O=ICP-Brasil/CN=AC Raiz de Teste', key: 'root', extensions: CA });
const under = (
  issuer: Issued,
  extensions: readonly string[],
  sections: readonly string[] = [],
  subject = '/O=ICP-Brasil/CN=AC No Meio',
): Issued => pki.issue({ subject, issuer, key: 'middle', extensions, sections });

type Case = {
  readonly what: string;
  /** Extensions of the intermediate authority and of the end certificate, besides the usual ones of both. */
  readonly authority?: readonly string[];
  readonly authoritySections?: readonly string[];
  /** Extensions of one more authority below that one. */
  readonly below?: readonly string[];
  readonly end?: readonly string[];
  readonly endSections?: readonly string[];
  readonly subject?: string;
  readonly expected: RegExp;
  /** The reason why openssl decides otherwise, and why this service does not follow. */
  readonly opensslDiffers?: string;
};

const ANY = 'RFC 5280, 4.2.1.12: anyExtendedKeyUsage restricts nothing; openssl wants the purpose by its name';
const FULFILLED = 'openssl compares the names, and none of them breaks a constraint (D-819)';

const PURPOSES: readonly Case[] = [
  { what: 'e-mail', end: ['extendedKeyUsage=emailProtection'], expected: /^trusted/ },
  { what: 'client', end: ['extendedKeyUsage=critical,clientAuth'], expected: /^trusted/ },
  { what: 'any', end: ['extendedKeyUsage=anyExtendedKeyUsage'], expected: /^trusted/, opensslDiffers: ANY },
  { what: 'client and another', end: ['extendedKeyUsage=critical,codeSigning,clientAuth'], expected: /^trusted/ },
  {
    what: 'server, critical',
    end: ['extendedKeyUsage=critical,serverAuth'],
    expected:
      /^misused: O certificado não serve para assinar: .*admite serverAuth, e precisa admitir emailProtection, clientAuth/,
  },
  {
    what: 'server, not critical',
    end: ['extendedKeyUsage=serverAuth,1.2.3.4'],
    expected: /^misused: .*admite serverAuth, 1\.2\.3\.4, e precisa/,
  },
  {
    what: 'an OCSP-only authority',
    authority: ['extendedKeyUsage=critical,OCSPSigning'],
    expected: /^untrusted: "AC No Meio" só responde por certificados para OCSPSigning/,
  },
  {
    what: 'an OCSP-only authority that does not call it critical',
    authority: ['extendedKeyUsage=OCSPSigning'],
    expected: /^untrusted: "AC No Meio" só responde por certificados para OCSPSigning/,
  },
  {
    what: 'an authority for e-mail over a certificate for clients',
    authority: ['extendedKeyUsage=emailProtection'],
    end: ['extendedKeyUsage=clientAuth'],
    expected: /^untrusted: "AC No Meio" só responde por certificados para emailProtection .*é para outro uso/,
  },
  {
    what: 'an authority for clients two above',
    authority: ['extendedKeyUsage=clientAuth'],
    below: ['extendedKeyUsage=emailProtection,clientAuth'],
    end: ['extendedKeyUsage=clientAuth,emailProtection'],
    expected: /^trusted/,
  },
];

const dirName = (name: string, ...fields: readonly string[]): readonly string[] => [`[${name}]`, ...fields];
const permitted = (what: string): readonly string[] => [`nameConstraints=critical,permitted;${what}`];
const excluded = (what: string): readonly string[] => [`nameConstraints=critical,excluded;${what}`];
const san = (what: string): readonly string[] => [`subjectAltName=${what}`];

const NAMED: readonly Case[] = [
  {
    what: 'the name is the one that is permitted',
    authority: permitted('DNS:example.com'),
    end: san('DNS:a.example.com'),
    expected: NAMES,
    opensslDiffers: FULFILLED,
  },
  {
    what: 'the name is another than the one that is permitted',
    authority: permitted('DNS:example.com'),
    end: san('DNS:notexample.com'),
    expected: NAMES,
  },
  {
    what: 'the name is excluded',
    authority: excluded('email:.example.com'),
    end: san('email:x@sub.example.com'),
    expected: NAMES,
  },
  {
    what: 'the constraints are not critical, and the name is within',
    authority: ['nameConstraints=permitted;DNS:example.com'],
    end: san('DNS:example.com'),
    expected: NAMES,
    opensslDiffers: FULFILLED,
  },
  {
    what: 'the constraints are not critical, and the name is outside',
    authority: ['nameConstraints=permitted;DNS:example.com'],
    end: san('DNS:example.org'),
    expected: NAMES,
  },
  {
    what: 'no name is of the kind that is constrained',
    authority: permitted('IP:10.1.0.0/255.255.0.0'),
    expected: NAMES,
    opensslDiffers: FULFILLED,
  },
  {
    what: 'the directory name is the one that is permitted',
    authority: permitted('dirName:dn'),
    authoritySections: dirName('dn', 'O=ICP-Brasil'),
    subject: '/O=ICP-Brasil/CN=EMPRESA',
    expected: NAMES,
    opensslDiffers: FULFILLED,
  },
  {
    what: 'the CNPJ is the one that is excluded',
    authority: excluded('otherName:2.16.76.1.3.3;PRINTABLESTRING:11222333000181'),
    end: san('otherName:2.16.76.1.3.3;PRINTABLESTRING:11222333000181'),
    expected: NAMES,
  },
  {
    what: 'the constraints are empty',
    authority: ['nameConstraints=critical,DER:3000'],
    expected: NAMES,
    opensslDiffers: FULFILLED,
  },
  {
    what: 'an authority below has none of its own',
    authority: permitted('DNS:example.com'),
    below: [],
    end: san('DNS:example.com'),
    expected: NAMES,
    opensslDiffers: FULFILLED,
  },
];

const middles = new Map<string, Issued>();

/** Each constraint has an authority of a separate name, so that openssl finds the right one among all cases. */
function middleOf({ authority = [], authoritySections = [] }: Case): Issued {
  const constraint = JSON.stringify([authority, authoritySections]);
  const known = middles.get(constraint);
  if (known !== undefined) return known;
  const made = under(root, [...CA, ...authority], authoritySections, `/O=ICP-Brasil/OU=${middles.size}/CN=AC No Meio`);
  middles.set(constraint, made);
  return made;
}

const MADE = [...PURPOSES, ...NAMED].map((one, place) => {
  const { below, end = [], endSections = [], subject = '/CN=EMPRESA' } = one;
  const middle = middleOf(one);
  const lower =
    below &&
    pki.issue({
      subject: `/O=ICP-Brasil/OU=${place}/CN=AC Abaixo`,
      issuer: middle,
      key: 'lower',
      extensions: [...CA, ...below],
    });
  const signer = pki.issue({
    subject,
    issuer: lower ?? middle,
    extensions: [...END, ...end],
    sections: endSections,
  });
  return { ...one, extra: lower === undefined ? [middle] : [lower, middle], signer };
});
const trusted = opensslTrustsEach(
  MADE.map(({ signer }) => ({
    anchors: [root],
    extra: [...new Set(MADE.flatMap(({ extra }) => extra))],
    end: signer,
    at: SOON,
  })),
);

for (const [place, { what, extra, signer, expected, opensslDiffers }] of MADE.entries()) {
  test(`chain: ${what}`, () => {
    const verdict = open({ 'raiz.pem': root.pem }).trust.judge(read(signer), SOON, extra.map(read));
    assert.match(motivo(verdict), expected);
    if (verdict.kind !== 'trusted') assert.match(verdict.mensagem, /Assine com .*\.$/);
    const isTrusted = verdict.kind === 'trusted';
    assert.equal(trusted[place], opensslDiffers === undefined ? isTrusted : !isTrusted);
  });
}

test('an anchor with name constraints is refused, and the operator is warned of it', () => {
  const anchor = pki.issue({
    subject: '/CN=AC Raiz Restrita',
    key: 'root',
    extensions: [...CA, ...permitted('DNS:example.com')],
  });
  const signer = pki.issue({ subject: '/CN=EMPRESA', issuer: anchor, extensions: [...END, ...san('DNS:example.com')] });
  const { trust, warnings } = open({ 'g1.pem': anchor.pem });
  assert.deepEqual(warnings, [
    'g1.pem: "AC Raiz Restrita" traz restrições de nomes (nameConstraints), que este serviço não confere; toda assinatura que dependa dessa autoridade será recusada',
  ]);
  assert.match(
    motivo(trust.judge(read(signer), SOON)),
    /^untrusted: O certificado de "AC Raiz Restrita" traz restrições de nomes/,
  );
});

test('the operator is warned of an anchor with a critical extension that is not known', () => {
  const anchor = pki.issue({
    subject: '/CN=AC Raiz Nova',
    key: 'root',
    extensions: [...CA, '1.2.3.4=critical,ASN1:NULL'],
  });
  assert.deepEqual(open({ 'nova.pem': anchor.pem }).warnings, [
    'nova.pem: "AC Raiz Nova" traz a extensão crítica 1.2.3.4, que este serviço não conhece; toda assinatura que dependa dessa autoridade será recusada',
  ]);
});

test('another certificate of the authority, without constraints, makes a chain', () => {
  const constrained = under(root, [...CA, ...permitted('DNS:example.com')]);
  const free = under(root, CA);
  const signer = pki.issue({ subject: '/CN=EMPRESA', issuer: free });
  const { trust } = open({ 'raiz.pem': root.pem });
  assert.match(motivo(trust.judge(read(signer), SOON, [constrained, free].map(read))), /^trusted/);
});

test('a signer with constraints of its own is refused, critical or not', () => {
  for (const extension of ['nameConstraints=permitted;DNS:example.com', 'nameConstraints=critical,excluded;DNS:a.b']) {
    const signer = pki.issue({ subject: '/CN=EMPRESA', issuer: root, extensions: [...END, extension] });
    const verdict = open({ 'raiz.pem': root.pem }).trust.judge(read(signer), SOON);
    assert.match(motivo(verdict), /^misused: O certificado traz restrições de nomes/);
  }
});

test('no authority that comes along constrains names', () => {
  const { raizes, intermediarias } = nationalAuthorities();
  for (const { titular, unprocessed } of [...raizes, ...intermediarias]) assert.deepEqual(unprocessed, [], titular);
});
