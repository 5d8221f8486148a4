/** The limits of an authority: purposes and names, in chains made by openssl, with openssl's verdict on each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { motivo, open, opensslTrustsEach, read } from '../../test/support/chains.ts';
import { CA, END, type Issued, opensslAuthority } from '../../test/support/openssl.ts';
import { readCertificate } from './certificate.ts';

const SOON = Date.now() + 43_200_000;
const NAMES = 'A autoridade "AC No Meio" só responde pelos nomes das suas restrições';

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
const FIELDS = 'openssl knows no otherName that it could constrain; those of ICP-Brasil are texts';

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
const CNPJ = (cnpj: string): string => `otherName:2.16.76.1.3.3;PRINTABLESTRING:${cnpj}`;

const NAMED: readonly Case[] = [
  { what: 'DNS below', authority: permitted('DNS:example.com'), end: san('DNS:a.EXAMPLE.com'), expected: /^trusted/ },
  {
    what: 'DNS with the same ending, and another name',
    authority: permitted('DNS:example.com'),
    end: san('DNS:notexample.com'),
    expected: new RegExp(`^untrusted: ${NAMES}.*O certificado traz um nome DNS fora do que elas admitem`),
  },
  {
    what: 'not critical, and honoured all the same',
    authority: ['nameConstraints=permitted;DNS:example.com'],
    end: san('DNS:example.org'),
    expected: /nome DNS fora do que elas admitem/,
  },
  {
    what: 'excluded within what is permitted',
    authority: ['nameConstraints=critical,permitted;DNS:example.com,excluded;DNS:x.example.com'],
    end: san('DNS:www.x.example.com'),
    expected: /nome DNS que elas excluem/,
  },
  {
    what: 'a wildcard that stands for what is excluded',
    authority: excluded('DNS:x.example.com'),
    end: san('DNS:*.example.com'),
    expected: /nome DNS que elas excluem/,
    opensslDiffers: 'openssl compares the asterisk as a letter',
  },
  { what: 'a kind of name that is not constrained', authority: permitted('DNS:example.com'), expected: /^trusted/ },
  {
    what: 'a common name that looks like a host',
    authority: permitted('DNS:example.com'),
    subject: '/CN=www.example.org',
    expected: /nome DNS fora/,
  },
  {
    what: 'a mailbox',
    authority: permitted('email:ana@example.com'),
    end: san('email:ana@EXAMPLE.com'),
    expected: /^trusted/,
  },
  {
    what: 'another mailbox of the host',
    authority: permitted('email:ana@example.com'),
    end: san('email:ANA@example.com'),
    expected: /um e-mail fora/,
  },
  {
    what: 'a host of mailboxes',
    authority: permitted('email:example.com'),
    end: san('email:x@example.com'),
    expected: /^trusted/,
  },
  {
    what: 'a mailbox of a host below, where the host itself is meant',
    authority: permitted('email:example.com'),
    end: san('email:x@sub.example.com'),
    expected: /um e-mail fora/,
  },
  {
    what: 'mailboxes below a domain',
    authority: excluded('email:.example.com'),
    end: san('email:x@sub.example.com'),
    expected: /um e-mail que elas excluem/,
  },
  {
    what: 'an e-mail in the subject',
    authority: permitted('email:example.com'),
    subject: '/CN=EMPRESA/emailAddress=x@example.org',
    expected: /um e-mail fora/,
  },
  {
    what: 'an address in the network',
    authority: permitted('IP:10.1.0.0/255.255.0.0'),
    end: san('IP:10.1.200.3'),
    expected: /^trusted/,
  },
  {
    what: 'an address of another network',
    authority: permitted('IP:10.1.0.0/255.255.0.0'),
    end: san('IP:10.2.0.1'),
    expected: /um endereço IP fora/,
  },
  {
    what: 'an IPv6 address where IPv4 is permitted',
    authority: permitted('IP:10.1.0.0/255.255.0.0'),
    end: san('IP:::1'),
    expected: /um endereço IP fora/,
  },
  {
    what: 'the host of a URI',
    authority: permitted('URI:example.com'),
    end: san('URI:https://example.com:8443/x'),
    expected: /^trusted/,
  },
  {
    what: 'a URI below, where the host itself is meant',
    authority: permitted('URI:example.com'),
    end: san('URI:https://www.example.com/'),
    expected: /um endereço \(URI\) fora/,
  },
  {
    what: 'URIs below a domain',
    authority: excluded('URI:.example.com'),
    end: san('URI:https://www.example.com/'),
    expected: /um endereço \(URI\) que elas excluem/,
  },
  {
    what: 'a URI of which nobody knows what host it means',
    authority: permitted('URI:example.com'),
    end: san('URI:https://example.com@evil.example/'),
    expected: /um endereço \(URI\) malformado/,
  },
  {
    what: 'a directory name below, in other letters',
    authority: permitted('dirName:dn'),
    authoritySections: dirName('dn', 'O=icp-brasil', 'OU=Filiais  SP'),
    subject: '/O=ICP-Brasil/OU=FILIAIS SP/CN=EMPRESA',
    expected: /^trusted/,
  },
  {
    what: 'another directory name',
    authority: permitted('dirName:dn'),
    authoritySections: dirName('dn', 'O=ICP-Brasil', 'OU=Filiais'),
    subject: '/O=ICP-Brasil/OU=Filiais SP/CN=EMPRESA',
    expected: /um nome de titular \(directoryName\) fora/,
  },
  {
    what: 'a directory name in the extension that is excluded',
    authority: excluded('dirName:dn'),
    authoritySections: dirName('dn', 'O=Alheia'),
    end: san('dirName:own'),
    endSections: dirName('own', 'O=Alheia', 'CN=x'),
    expected: /directoryName\) que elas excluem/,
  },
  {
    what: 'the CNPJ that is permitted, in another kind of text',
    authority: permitted(CNPJ('11222333000181')),
    end: san('otherName:2.16.76.1.3.3;UTF8:11222333000181,otherName:2.16.76.1.3.2;UTF8:ANA'),
    expected: /^trusted/,
    opensslDiffers: FIELDS,
  },
  {
    what: 'another CNPJ than the one that is permitted',
    authority: permitted(CNPJ('11222333000181')),
    end: san(CNPJ('11222333000262')),
    expected: /um campo da ICP-Brasil \(otherName\) fora/,
  },
  {
    what: 'the CNPJ that is excluded',
    authority: excluded(CNPJ('11222333000181')),
    end: san(CNPJ('11222333000181')),
    expected: /um campo da ICP-Brasil \(otherName\) que elas excluem/,
  },
  {
    what: 'a field of nobody knows what',
    authority: permitted('otherName:1.2.3.4;UTF8:a'),
    end: san('otherName:1.2.3.4;UTF8:a'),
    expected: /um nome de tipo que este serviço não sabe comparar \(otherName 1\.2\.3\.4\)/,
  },
  {
    what: 'a mailbox with letters beyond ASCII is a mailbox',
    authority: excluded('email:.example.com'),
    end: san('otherName:1.3.6.1.5.5.7.8.9;UTF8:joão@sub.example.com'),
    expected: /um e-mail que elas excluem/,
    opensslDiffers: 'openssl lets the mailbox of RFC 9598 pass',
  },
  {
    what: 'a registered identifier where those are constrained',
    authority: excluded('RID:1.2.3'),
    end: san('RID:1.2.4'),
    expected: /um nome de tipo que este serviço não sabe comparar \(registeredID\)/,
  },
  {
    what: 'an authority below cannot give back what was left out',
    authority: permitted('DNS:example.com'),
    below: permitted('DNS:example.org'),
    end: san('DNS:example.org'),
    expected: /um nome DNS fora/,
  },
  {
    what: 'an authority below narrows further',
    authority: permitted('DNS:example.com'),
    below: permitted('DNS:a.example.com'),
    end: san('DNS:b.example.com'),
    expected: /A autoridade "AC Abaixo" só responde.*um nome DNS fora/,
  },
  {
    what: 'an authority below that has itself a name left out',
    authority: permitted('DNS:example.com'),
    below: san('DNS:example.org'),
    expected: /O certificado da autoridade "AC Abaixo" traz um nome DNS fora/,
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

test('constraints of an anchor hold as well', () => {
  const anchor = under(root, [...CA, ...permitted('DNS:example.com')]);
  const signer = pki.issue({ subject: '/CN=EMPRESA', issuer: anchor, extensions: [...END, ...san('DNS:example.org')] });
  assert.match(motivo(open({ 'g1.pem': anchor.pem }).trust.judge(read(signer), SOON)), /um nome DNS fora/);
});

test('a renewed key of the same authority is not judged by its names, and the signer always is', () => {
  const subject = '/O=ICP-Brasil/CN=AC No Meio';
  const first = under(root, [...CA, ...permitted('dirName:dn')], dirName('dn', 'O=Esta'));
  const renewed = pki.issue({ subject, issuer: first, key: 'renewed', extensions: CA });
  const { trust } = open({ 'raiz.pem': root.pem });
  const judge = (named: string): string => {
    const signer = pki.issue({ subject: named, issuer: renewed });
    return motivo(trust.judge(read(signer), SOON, [first, renewed].map(read)));
  };
  assert.match(judge('/O=Esta/CN=x'), /^trusted/);
  assert.match(judge('/O=Outra/CN=x'), /directoryName\) fora/);
});

test('a signer with constraints of its own is refused, critical or not', () => {
  for (const extension of ['nameConstraints=permitted;DNS:example.com', 'nameConstraints=critical,excluded;DNS:a.b']) {
    const signer = pki.issue({ subject: '/CN=EMPRESA', issuer: root, extensions: [...END, extension] });
    const verdict = open({ 'raiz.pem': root.pem }).trust.judge(read(signer), SOON);
    assert.match(motivo(verdict), /^misused: O certificado traz restrições de nomes/);
  }
});

test('constraints that break RFC 5280 are not taken for others', () => {
  const der = (hex: string): string => `nameConstraints=critical,DER:${hex}`;
  const dns = '8203612e62';
  const cases: readonly (readonly [string, RegExp])[] = [
    [der('3000'), /está vazia/],
    [der('3002a000'), /uma lista de nomes está vazia/],
    [der(`300ca00a30088203612e62800101`), /distância mínima ou máxima/],
    [der(`300ca00a30088203612e62810101`), /distância mínima ou máxima/],
    // The excluded names stand before the permitted ones, and one part occurs twice.
    [der(`3012a1073005${dns}a0073005${dns}`), /não é uma lista de nomes permitidos e excluídos/],
    [der(`3012a0073005${dns}a0073005${dns}`), /não é uma lista de nomes permitidos e excluídos/],
    ['nameConstraints=permitted;DNS:*.example.com', /um nome DNS que não tem a forma/],
    ['nameConstraints=permitted;DNS:.example.com', /um nome DNS que não tem a forma/],
    ['nameConstraints=permitted;email:a b@example.com', /um e-mail que não tem a forma/],
    ['nameConstraints=permitted;IP:10.0.0.0/255.0.255.0', /um endereço IP que não tem a forma/],
    ['nameConstraints=permitted;URI:https://example.com', /um endereço \(URI\) que não tem a forma/],
  ];
  for (const [extension, expected] of cases) {
    const made = readCertificate(under(root, [...CA, extension]).der);
    assert.ok('problem' in made, extension);
    assert.match(made.problem, /^As restrições de nomes \(nameConstraints\) do certificado não se entendem: .*\.$/);
    assert.match(made.problem, expected);
  }
});

test('ten thousand comparisons are not made', () => {
  const many = (count: number, name: string): string =>
    Array.from({ length: count }, (_, at) => `DNS:${name}${at}`).join(',');
  const base = Array.from({ length: 100 }, (_, at) => `excluded;DNS:x${at}`).join(',');
  const middle = under(root, [...CA, `nameConstraints=${base}`]);
  const { trust } = open({ 'raiz.pem': root.pem });
  const judge = (names: string): string => {
    const signer = pki.issue({
      subject: '/CN=EMPRESA',
      issuer: middle,
      extensions: [...END, `subjectAltName=${names}`],
    });
    return motivo(trust.judge(read(signer), SOON, [read(middle)]));
  };
  assert.match(judge(many(30, 'a')), /^trusted/);
  assert.match(judge(many(100, 'a')), /^untrusted: .*é demais para conferir/);
});
