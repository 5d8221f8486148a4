/**
 * The arrangement of an XML signature, place by place, on a handwritten document. Its value is invented, which is its one fault; the test
 * looks at the additional faults of each change. `assinatura-xml.test.ts` has valid signatures.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { readCorpus } from '../../test/ataques/ataque.ts';
import { opensslAuthority } from '../../test/support/openssl.ts';
import { DPS_PROFILE, EVENTO_PROFILE, NFSE_PROFILE } from './signature-shape.ts';
import { adviseDigest, checkSignature, nameOf } from './signed.ts';
import { readXml } from './xml.ts';

const NFSE = 'http://www.sped.fazenda.gov.br/nfse';
const DSIG = 'http://www.w3.org/2000/09/xmldsig#';
const C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';

/** A handwritten text: the exclusive canonical form of the signed element. */
const CANONICAL = `<infDPS xmlns="${NFSE}" Id="DPS1"><serie>1</serie></infDPS>`;
const DIGEST = createHash('sha256').update(CANONICAL).digest('base64');
/** Any certificate with an RSA key. */
const CERTIFICATE = readCorpus('cms')
  .ancoras[0]!.replace(/-----[^\n]*\n/g, '')
  .replace(/\n/g, '');
const VALUE = Buffer.alloc(256, 7).toString('base64');

const SIGNED_INFO =
  `<SignedInfo><CanonicalizationMethod Algorithm="${C14N}"/><SignatureMethod Algorithm="${RSA_SHA256}"/>` +
  `<Reference URI="#DPS1"><Transforms><Transform Algorithm="${ENVELOPED}"/><Transform Algorithm="${C14N}"/></Transforms>` +
  `<DigestMethod Algorithm="${SHA256}"/><DigestValue>${DIGEST}</DigestValue></Reference></SignedInfo>`;
const KEY_INFO = `<KeyInfo><X509Data><X509Certificate>${CERTIFICATE}</X509Certificate></X509Data></KeyInfo>`;
const SIGNATURE = `<Signature xmlns="${DSIG}">${SIGNED_INFO}<SignatureValue>${VALUE}</SignatureValue>${KEY_INFO}</Signature>`;
const INF = '<infDPS Id="DPS1"><serie>1</serie></infDPS>';
const DPS = `<DPS xmlns="${NFSE}">${INF}${SIGNATURE}</DPS>`;

function check(xml: string, profile = DPS_PROFILE) {
  const reading = readXml(Buffer.from(xml));
  assert.ok(!('fault' in reading), JSON.stringify(reading));
  return checkSignature(reading, profile);
}

/** Code and place of each fault except that of the value. */
function faultsOf(xml: string): readonly string[] {
  const { faults } = check(xml);
  const others = faults.filter(({ mensagem }) => !mensagem.startsWith('O valor da assinatura não confere'));
  return others.map(({ codigo, xpath, mensagem }) => `${codigo} ${xpath}: ${mensagem}`);
}

function changed(...changes: readonly (readonly [from: string, to: string])[]): string {
  let xml = DPS;
  for (const [from, to] of changes) {
    assert.ok(xml.includes(from), from);
    xml = xml.replace(from, () => to);
  }
  return xml;
}

test('the document as it is has no fault but its value', () => {
  const { faults, certificate, resumo, perfil, valor } = check(DPS);
  assert.deepEqual(
    faults.map(({ codigo, xpath }) => `${codigo} ${xpath}`),
    ['E902 /DPS/Signature/SignatureValue'],
  );
  assert.ok(certificate !== undefined && faults[0]!.mensagem.includes(nameOf(certificate)));
  assert.deepEqual(resumo, { algoritmo: 'SHA-256', declarado: DIGEST, calculado: DIGEST });
  assert.deepEqual(valor, Buffer.from(VALUE, 'base64'));
  const said = perfil().map(({ onde, encontrado, exigido }) => [
    onde.replace('/DPS/Signature/SignedInfo', ''),
    encontrado,
    exigido,
  ]);
  assert.deepEqual(said, [
    ['/CanonicalizationMethod', C14N, C14N],
    ['/SignatureMethod', RSA_SHA256, RSA_SHA256],
    [
      '/Reference/Transforms',
      'enveloped-signature, C14N exclusiva',
      'enveloped-signature e depois C14N exclusiva, ou só C14N exclusiva',
    ],
    ['/Reference/DigestMethod', SHA256, SHA256],
    ['/Reference/@URI', '#DPS1', '#DPS1'],
  ]);
});

test('a note and an event are signed alike', () => {
  for (const [root, inf, profile] of [
    ['NFSe', 'infNFSe', NFSE_PROFILE],
    ['evento', 'infEvento', EVENTO_PROFILE],
  ] as const) {
    const bare = `<${root} xmlns="${NFSE}"></${root}>`;
    const [fault] = check(bare, profile).faults;
    assert.deepEqual([fault!.codigo, fault!.xpath], ['E901', `/${root}/Signature`]);
    assert.ok(fault!.mensagem.includes(`depois de ${inf}, dentro de ${root}`), fault!.mensagem);
  }
});

type Case = readonly [what: string, xml: string, ...faults: readonly RegExp[]];

const CASES: readonly Case[] = [
  [
    'no signature',
    changed([SIGNATURE, '']),
    /^E901 \/DPS\/Signature: O documento não está assinado: falta .* depois de infDPS, dentro de DPS\.$/,
  ],
  [
    'a Signature of another namespace',
    changed([`<Signature xmlns="${DSIG}">`, '<Signature>']),
    /^E901 \/DPS\/Signature: O elemento Signature não é uma assinatura XML/,
  ],
  [
    'a Signature deeper alone',
    changed([SIGNATURE, ''], ['<serie>1</serie>', `<serie>1${SIGNATURE}</serie>`]),
    /^E902 \/DPS\/infDPS\/serie\/Signature: A assinatura está em/,
  ],
  [
    'a Signature deeper besides',
    changed(['<serie>1</serie>', `<serie>1</serie>${SIGNATURE}`]),
    /^E902 \/DPS\/infDPS\/Signature: A assinatura está em/,
  ],
  [
    'an infDPS deeper',
    changed(['<serie>1</serie>', '<serie>1</serie><infDPS/>']),
    /^E902 \/DPS\/infDPS\/infDPS: Há um infDPS em/,
  ],
  ['no infDPS', changed([INF, '']), /^E902 \/DPS\/infDPS: .*um só infDPS, e traz nenhum\.$/],
  ['two infDPS', changed([INF, `${INF}<infDPS/>`]), /^E902 \/DPS\/infDPS\[2\]: .*um só infDPS, e traz 2\.$/],
  [
    'two signatures',
    changed([SIGNATURE, SIGNATURE + SIGNATURE]),
    /^E902 \/DPS\/Signature\[2\]: .*uma só Signature, e traz 2\.$/,
  ],
  ['something else beside', changed([INF, `${INF}<extra/>`]), /^E902 \/DPS\/extra: O elemento extra está fora/],
  [
    'the signature first',
    changed([SIGNATURE, ''], [INF, SIGNATURE + INF]),
    /^E902 \/DPS\/Signature: A Signature está antes de infDPS/,
  ],
  ['text beside', changed([INF, `${INF}texto`]), /^E902 \/DPS: Há texto solto em DPS/],
  ['a comment', changed([INF, `${INF}<!-- x -->`]), /^E902 : O documento traz um comentário/],
  ['an instruction', changed([INF, `${INF}<?x y?>`]), /^E902 : O documento traz uma instrução/],
  [
    'another identifier',
    changed(['<infDPS Id="DPS1">', '<infDPS Id="DPS1" ID="x">']),
    /^E902 \/DPS\/infDPS\/@ID: infDPS traz, além de Id, o atributo ID/,
    /^E902 .*DigestValue/,
  ],
  [
    'one identifier twice',
    changed(['<serie>1</serie>', '<serie id="a"/><serie iD="a"/>']),
    /^E902 \/DPS\/infDPS\/serie\[2\]: O identificador a aparece em dois elementos: \/DPS\/infDPS\/serie\[1\] e \/DPS\/infDPS\/serie\[2\]\.$/,
    /^E902 .*DigestValue/,
  ],
  [
    'names that only end or begin like one',
    changed(['<serie>1</serie>', '<serie gid="a" idx="a"/><serie gid="a" idx="a"/>']),
    /^E902 .*DigestValue/,
  ],
  [
    'attributes of the signed element that only end or begin like one',
    changed(['<infDPS Id="DPS1">', '<infDPS Id="DPS1" gid="a" idx="b">']),
    /^E902 .*DigestValue/,
  ],
  ['an Id of the Reference', changed(['<Reference ', '<Reference Id="r" '])],
  [
    'a transform without algorithm',
    changed([`<Transform Algorithm="${ENVELOPED}"/>`, '<Transform/>']),
    /são não informado, C14N exclusiva; as aceitas/,
  ],
  [
    'an Id of Signature, and another attribute',
    changed([`<Signature xmlns="${DSIG}">`, `<Signature xmlns="${DSIG}" Id="s" x="1">`]),
    /^E902 \/DPS\/Signature\/@x: Signature traz o atributo x/,
  ],
  [
    'no Id',
    changed(['<infDPS Id="DPS1">', '<infDPS>']),
    /^E902 \/DPS\/infDPS\/@Id: infDPS não tem o atributo Id/,
    /^E902 .*DigestValue/,
  ],
  [
    'an empty Id',
    changed(['Id="DPS1"', 'Id=""']),
    /^E902 \/DPS\/infDPS\/@Id: infDPS não tem o atributo Id/,
    /^E902 .*DigestValue/,
  ],
  ['no URI', changed([' URI="#DPS1"', '']), /@URI: A Reference não tem URI; deve apontar o Id de infDPS: #DPS1\.$/],
  ['an empty URI', changed(['URI="#DPS1"', 'URI=""']), /@URI: A Reference tem URI vazia/],
  ['another URI', changed(['URI="#DPS1"', 'URI="#DPS2"']), /@URI: A Reference aponta #DPS2; deve/],
  [
    'no transforms',
    changed([/<Transforms>.*<\/Transforms>/.exec(DPS)![0], '<Transforms/>']),
    /Transforms: As transformações da Reference são nenhuma;/,
  ],
  ['canonicalization alone', changed([`<Transform Algorithm="${ENVELOPED}"/>`, ''])],
  [
    'the transforms in the wrong order',
    changed([
      `<Transform Algorithm="${ENVELOPED}"/><Transform Algorithm="${C14N}"/>`,
      `<Transform Algorithm="${C14N}"/><Transform Algorithm="${ENVELOPED}"/>`,
    ]),
    /Transforms: As transformações da Reference são C14N exclusiva, enveloped-signature; as aceitas/,
  ],
  [
    'enveloped alone',
    changed([`<Transform Algorithm="${C14N}"/></Transforms>`, '</Transforms>']),
    /são enveloped-signature; as aceitas/,
  ],
  [
    'eight transforms',
    changed([`<Transform Algorithm="${ENVELOPED}"/>`, `<Transform Algorithm="${ENVELOPED}"/>`.repeat(7)]),
    /são (enveloped-signature, ){5}enveloped-signature e mais 2; as aceitas/,
  ],
  [
    'a list of prefixes',
    changed([`<Transform Algorithm="${C14N}"/>`, `<Transform Algorithm="${C14N}"><x/></Transform>`]),
    /Transforms: As transformações são as certas, mas trazem x que não se aceita/,
  ],
  [
    'text in a transform',
    changed([`<Transform Algorithm="${C14N}"/>`, `<Transform Algorithm="${C14N}">x</Transform>`]),
    /mas trazem texto, atributos ou elementos/,
  ],
  [
    'an attribute of Transforms',
    changed(['<Transforms>', '<Transforms x="1">']),
    /mas trazem texto, atributos ou elementos/,
  ],
  [
    'an attribute of a Transform',
    changed([`<Transform Algorithm="${C14N}"/>`, `<Transform Algorithm="${C14N}" x="1"/>`]),
    /mas trazem texto/,
  ],
  ['text in Transforms', changed(['<Transforms>', '<Transforms>x']), /mas trazem texto/],
  [
    'a Transform of another name',
    changed([`<Transform Algorithm="${C14N}"/>`, `<Outro Algorithm="${C14N}"/>`]),
    /mas trazem texto/,
  ],
  [
    'a Transform of another namespace',
    changed([`<Transform Algorithm="${C14N}"/>`, `<Transform xmlns="urn:u" Algorithm="${C14N}"/>`]),
    /mas trazem texto/,
  ],
  [
    'an algorithm with space',
    changed([RSA_SHA256, ` ${RSA_SHA256}`]),
    /SignatureMethod\/@Algorithm: O algoritmo é .*com espaço no começo/,
  ],
  [
    'an algorithm in capitals',
    changed([RSA_SHA256, RSA_SHA256.toUpperCase()]),
    /maiúsculas e minúsculas trocadas; o aceito é RSA-SHA256 \(/,
  ],
  [
    'no algorithm',
    changed([`<DigestMethod Algorithm="${SHA256}"/>`, '<DigestMethod/>']),
    /DigestMethod\/@Algorithm: Falta o atributo Algorithm em DigestMethod; o aceito é SHA-256 \(/,
  ],
  [
    'an element in a method',
    changed([
      `<SignatureMethod Algorithm="${RSA_SHA256}"/>`,
      `<SignatureMethod Algorithm="${RSA_SHA256}"><x/></SignatureMethod>`,
    ]),
    /SignatureMethod: SignatureMethod traz x, que não é aceito/,
  ],
  [
    'text in a method',
    changed([
      `<SignatureMethod Algorithm="${RSA_SHA256}"/>`,
      `<SignatureMethod Algorithm="${RSA_SHA256}">y</SignatureMethod>`,
    ]),
    /SignatureMethod traz texto, que não é aceito/,
  ],
  [
    'an attribute of a method',
    changed([`<DigestMethod `, '<DigestMethod x="1" ']),
    /DigestMethod\/@x: DigestMethod traz o atributo x/,
  ],
  [
    'an attribute of another namespace',
    changed([`<DigestMethod `, '<DigestMethod xmlns:q="urn:u" q:Algorithm="1" ']),
    /DigestMethod\/@/,
  ],
  [
    'an Id of SignedInfo, of SignatureValue, of KeyInfo',
    changed(
      ['<SignedInfo>', '<SignedInfo Id="a">'],
      ['<SignatureValue>', '<SignatureValue Id="b">'],
      ['<KeyInfo>', '<KeyInfo Id="c">'],
    ),
  ],
  [
    'another attribute of SignatureValue',
    changed(['<SignatureValue>', '<SignatureValue x="b">']),
    /SignatureValue\/@x: SignatureValue traz o atributo x/,
  ],
  [
    'an element in SignatureValue',
    changed(['<SignatureValue>', '<SignatureValue><x/>']),
    /SignatureValue: SignatureValue só pode conter texto, e traz x/,
  ],
  [
    'an element in DigestValue',
    changed(['<DigestValue>', '<DigestValue><x/>']),
    /DigestValue: DigestValue só pode conter texto/,
  ],
  ['text in SignedInfo', changed(['<SignedInfo>', '<SignedInfo>x']), /SignedInfo: Há texto solto em SignedInfo\.$/],
  [
    'no SignatureValue',
    changed([`<SignatureValue>${VALUE}</SignatureValue>`, '']),
    /^E902 \/DPS\/Signature\/SignatureValue: Falta SignatureValue em Signature\.$/,
  ],
  [
    'two of them',
    changed([`<SignatureValue>`, '<SignatureValue>AA==</SignatureValue><SignatureValue>']),
    /SignatureValue\[2\]: Signature deve ter um só SignatureValue, e tem 2\.$/,
  ],
  [
    'an Object',
    changed(['</KeyInfo></Signature>', '</KeyInfo><Object/></Signature>']),
    /Signature\/Object: Signature traz Object/,
  ],
  [
    'another order',
    changed([KEY_INFO, ''], [SIGNED_INFO, SIGNED_INFO + KEY_INFO]),
    /^E902 \/DPS\/Signature: Em Signature a ordem é SignedInfo, SignatureValue, KeyInfo\.$/,
  ],
  [
    'SignatureValue first',
    changed(
      [`<SignatureValue>${VALUE}</SignatureValue>`, ''],
      ['<SignedInfo>', `<SignatureValue>${VALUE}</SignatureValue><SignedInfo>`],
    ),
    /^E902 \/DPS\/Signature: Em Signature a ordem é SignedInfo, SignatureValue, KeyInfo\.$/,
  ],
  ['no KeyInfo', changed([KEY_INFO, '']), /^E905 \/DPS\/Signature\/KeyInfo\/X509Data\/X509Certificate: Falta KeyInfo:/],
  ['an empty KeyInfo', changed([KEY_INFO, '<KeyInfo/>']), /^E905 .*KeyInfo traz nada e não o certificado/],
  [
    'a name in place of the certificate',
    changed([KEY_INFO, '<KeyInfo><KeyName>x</KeyName></KeyInfo>']),
    /^E905 .*KeyInfo traz KeyName e não o certificado/,
  ],
  [
    'a name beside it',
    changed(['<KeyInfo>', '<KeyInfo><KeyName>x</KeyName>']),
    /^E902 \/DPS\/Signature\/KeyInfo: .*; há KeyName\.$/,
  ],
  ['a name inside', changed(['<X509Data>', '<X509Data><X509SubjectName>x</X509SubjectName>']), /há X509SubjectName\.$/],
  [
    'two certificates',
    changed(['<X509Data>', `<X509Data><X509Certificate>${CERTIFICATE}</X509Certificate>`]),
    /^E902 \/DPS\/Signature\/KeyInfo: .*; há 2 certificados\.$/,
  ],
  [
    'two X509Data, one empty',
    changed(['<X509Data>', '<X509Data/><X509Data>']),
    /^E902 \/DPS\/Signature\/KeyInfo: .*; há 1 certificados\.$/,
  ],
  ['text in KeyInfo', changed(['<KeyInfo>', '<KeyInfo>x']), /KeyInfo: Há texto solto em KeyInfo/],
  ['text in X509Data', changed(['<X509Data>', '<X509Data>x']), /KeyInfo: Há texto solto em KeyInfo/],
  ['an attribute of X509Data', changed(['<X509Data>', '<X509Data x="1">']), /KeyInfo\/@x: X509Data traz o atributo x/],
  [
    'an attribute of the certificate',
    changed(['<X509Certificate>', '<X509Certificate Id="1">']),
    /X509Certificate\/@Id: X509Certificate traz o atributo Id/,
  ],
  ['an empty certificate', changed([CERTIFICATE, ' ']), /^E905 .*X509Certificate está vazio/],
  [
    'a certificate in PEM',
    changed([CERTIFICATE, `-----BEGIN CERTIFICATE-----${CERTIFICATE}`]),
    /^E904 .*traz o cabeçalho PEM/,
  ],
  ['a certificate that is no Base64', changed([CERTIFICATE, `*${CERTIFICATE}`]), /^E904 .*não é Base64/],
  ['a certificate that is none', changed([CERTIFICATE, 'AAAA']), /^E904 .*não contém um certificado legível/],
  ['an empty value', changed([VALUE, '']), /^E902 .*SignatureValue está vazio/],
  ['a value that is no Base64', changed([VALUE, '*']), /^E902 .*SignatureValue não está em Base64/],
  [
    'another content',
    changed(['<serie>1</serie>', '<serie>2</serie>']),
    /^E902 \/DPS\/Signature\/SignedInfo\/Reference\/DigestValue: O resumo de infDPS não confere.* Algo mudou depois da assinatura/,
  ],
  ['space in a digest', changed([DIGEST, `\n  ${DIGEST.slice(0, 20)}\n${DIGEST.slice(20)} `])],
];

describe('what each change adds', () => {
  for (const [what, xml, ...wanted] of CASES) {
    test(what, () => {
      const found = faultsOf(xml);
      assert.equal(found.length, wanted.length, found.join('\n'));
      for (const [place, says] of wanted.entries()) {
        assert.match(found[place]!, says);
        assert.match(found[place]!, /^E90[1245] /);
      }
    });
  }
});

test('every algorithm that people meet is called by its name', () => {
  const NAMES: Readonly<Record<string, string>> = {
    'http://www.w3.org/2001/10/xml-exc-c14n#WithComments': 'C14N exclusiva com comentários',
    'http://www.w3.org/TR/2001/REC-xml-c14n-20010315': 'C14N inclusiva 1.0',
    'http://www.w3.org/2000/09/xmldsig#rsa-sha1': 'RSA-SHA1',
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha384': 'RSA-SHA384',
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512': 'RSA-SHA512',
    'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256': 'ECDSA-SHA256',
    'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1': 'RSA-PSS-SHA256',
    'http://www.w3.org/2000/09/xmldsig#hmac-sha1': 'HMAC-SHA1',
    'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256': 'HMAC-SHA256',
    'http://www.w3.org/2000/09/xmldsig#sha1': 'SHA-1',
    'http://www.w3.org/2001/04/xmldsig-more#sha384': 'SHA-384',
    'http://www.w3.org/2001/04/xmlenc#sha512': 'SHA-512',
    'urn:outro': 'urn:outro',
  };
  for (const [identifier, name] of Object.entries(NAMES)) {
    const [fault] = faultsOf(changed([RSA_SHA256, identifier]));
    assert.ok(fault!.includes(`O algoritmo é ${name} em SignatureMethod; o aceito é RSA-SHA256 (`), `${fault}`);
  }
});

test('of several certificates none is the signer’s; of one beside something else it is known', () => {
  const two = changed(['<X509Data>', `<X509Data><X509Certificate>${CERTIFICATE}</X509Certificate>`]);
  assert.equal(check(two).certificate, undefined);
  const named = changed(['<X509Data>', '<X509Data><X509SubjectName>x</X509SubjectName>']);
  assert.deepEqual(check(named).certificate?.der, Buffer.from(CERTIFICATE, 'base64'));
});

test('what was found is told as it stands: nothing of a URI that is not there, the beginning of a certificate', () => {
  const { faults, perfil } = check(changed([' URI="#DPS1"', '']));
  assert.deepEqual([faults[0]!.encontrado, perfil().at(-1)!.encontrado], ['', '']);
  const broken = check(changed([CERTIFICATE, `*${CERTIFICATE}`])).faults[0]!;
  assert.equal(broken.encontrado, `*${CERTIFICATE.slice(0, 39)}`);
});

test('a certificate that cannot be used says what to change where there is something', () => {
  const authority = opensslAuthority();
  const withKey = (key: string) =>
    authority.issue({ subject: '/CN=EMPRESA:11222333000181', key }).der.toString('base64');
  const ofCurve = changed([CERTIFICATE, withKey('ec')]);
  for (const time of ['once', 'again', 'when it is known']) {
    const [ec] = check(ofCurve).faults;
    const said = 'A chave do certificado é ec; a assinatura pede uma chave RSA.';
    assert.deepEqual([ec!.codigo, ec!.mensagem], ['E904', said], time);
  }
  const [unread] = check(changed([CERTIFICATE, 'AAAA'])).faults;
  assert.equal(Object.hasOwn(unread!, 'change'), false);
  const pem = Buffer.from('-----BEGIN CERTIFICATE-----\n').toString('base64');
  const [packed] = check(changed([CERTIFICATE, pem])).faults;
  assert.equal(packed!.change, 'Em X509Certificate: envie só o conteúdo em Base64, sem cabeçalho.');
});

test('a root that is a signature itself signs nothing', () => {
  const { faults } = check(`<Signature xmlns="${DSIG}"><infDPS xmlns="${NFSE}" Id="DPS1"/></Signature>`);
  assert.deepEqual(
    faults.map(({ codigo }) => codigo),
    ['E901'],
  );
});

test('without DigestValue there is no declared digest', () => {
  const { resumo, faults } = check(changed([`<DigestValue>${DIGEST}</DigestValue>`, '']));
  assert.deepEqual(resumo, { algoritmo: 'SHA-256', declarado: '', calculado: DIGEST });
  assert.match(faults[0]!.mensagem, /^Falta DigestValue em Reference\.$/);
});

test('of many faults of one kind twenty are told, and of nested ones five', () => {
  const many = faultsOf(changed([INF, INF + '<extra/>'.repeat(30)]));
  assert.equal(many.length, 20);
  assert.match(many[19]!, /\/DPS\/extra\[20\]/);
  const ids = faultsOf(changed(['<serie>1</serie>', '<serie Id="a"/>'.repeat(40)]));
  assert.equal(ids.filter((fault) => fault.includes('em dois elementos')).length, 20);
  const more = faultsOf(
    changed(['<serie>1</serie>', '<serie Id="a"/>'.repeat(40)], [INF.slice(0, 7), `texto${INF.slice(0, 7)}`]),
  );
  assert.equal(more.filter((fault) => !fault.includes('DigestValue')).length, 20, 'of other kinds none more');
  const nested = faultsOf(changed(['<serie>1</serie>', '<infDPS/>'.repeat(9)]));
  assert.equal(nested.length, 5);
});

test('a digest that differs says what it must be, and how to compare unless the habit was recognised', () => {
  const { faults } = check(changed(['<serie>1</serie>', '<serie>2</serie>']));
  const wanted = createHash('sha256').update(CANONICAL.replace('>1<', '>2<')).digest('base64');
  assert.deepEqual([faults[0]!.esperado, faults[0]!.encontrado], [wanted, DIGEST]);
  assert.equal(faults[0]!.change, adviseDigest(wanted));
  assert.match(adviseDigest(wanted), /compare, byte a byte/);
  assert.match(adviseDigest(wanted, true), /é o SHA-256, em Base64, da forma canônica exclusiva/);
  // The digest of the whole document is a known habit.
  const whole = createHash('sha256').update(INF).digest('base64');
  const habit = check(changed([DIGEST, whole])).faults[0]!;
  assert.doesNotMatch(habit.mensagem, /Algo mudou depois/);
  assert.equal(habit.change, adviseDigest(DIGEST, true));
});

test('a certificate is called by its CN without the document', () => {
  assert.equal(nameOf({ titular: 'EMPRESA EXEMPLO:11222333000181' } as never), 'EMPRESA EXEMPLO');
  assert.equal(nameOf({ titular: 'A:B:123' } as never), 'A:B');
  assert.equal(nameOf({ titular: 'SEM DOCUMENTO' } as never), 'SEM DOCUMENTO');
});
