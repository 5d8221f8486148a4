/**
 * Signatures that nearly fit, as programs in use make them. The answer names each mistake, so that the author of the program stops
 * searching. Values that were made without the key are tried too.
 */
import assert from 'node:assert/strict';
import { constants, generateKeyPairSync, hash, sign } from 'node:crypto';
import { describe, test } from 'node:test';
import { SignedXml } from 'xml-crypto';
import { DIGEST_INFO, digestedBy, padded, signedWith, VALUE_DIFFERS } from '../../../test/support/mutations.ts';
import {
  type Bent,
  canonicalByXmlCrypto,
  companyOf,
  DSIG,
  ENCODINGS,
  ENVELOPED,
  INCLUSIVE,
  PROVIDER_CNPJ,
  partyOf,
  rsaOfBlock,
  rsaSha256,
  sha256,
  signedBy,
  yearAround,
} from '../../../test/support/signatures.ts';
import {
  assertAccepted,
  assertRefused,
  elementOf,
  NOW,
  namesake,
  provider,
  root,
} from '../../../test/support/signed-documents.ts';
import { companyCertificate } from '../../documents/pki.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

describe('forged without the key', () => {
  test('a key of exponent 3: the cube root of a block with anything at its end', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 });
    const party = partyOf(
      { privateKey, publicKey },
      companyCertificate(root, companyOf(PROVIDER_CNPJ), publicKey, yearAround(NOW)),
    );
    const xml = exampleXml();
    assertAccepted(Buffer.from(signedBy(xml, party)), 'signed with the key itself');
    for (const padding of [8, 0, 100]) {
      const forged = signedBy(xml, party, {
        value: (text) => {
          const block = padded(Buffer.concat([DIGEST_INFO, hash('sha256', text, 'buffer')]), 1, 0xff, padding);
          const free = BigInt(8 * (256 - block.length));
          const wanted = BigInt(`0x${block.toString('hex')}`);
          const rest = cubeRoot((wanted << free) | ((1n << free) - 1n));
          // The beginning of the cube is the block; the free bits absorb the error of the root.
          if (padding < 100) assert.equal((rest ** 3n) >> free, wanted);
          return Buffer.from(rest.toString(16).padStart(512, '0'), 'hex');
        },
      });
      assertRefused(Buffer.from(forged), ['E902'], VALUE_DIFFERS, `padding of ${padding}`);
    }
  });

  function cubeRoot(number: bigint): bigint {
    let [low, high] = [0n, 1n << BigInt(Math.ceil((number.toString(16).length * 4) / 3) + 1)];
    while (low < high) {
      const middle = (low + high + 1n) >> 1n;
      if (middle ** 3n <= number) low = middle;
      else high = middle - 1n;
    }
    return low;
  }
});

// Signatures that nearly fit, as programs in use make them.

const XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
const withXsi = (xml: string): string => xml.replace('<DPS ', `<DPS ${XSI} `);
const tight = (xml: string): string => xml.replace(/>\s+</g, '><');
/** The inclusive form of an element that inherits the prefix xsi and does not use it. */
const inclusive = (canonical: string): string => canonical.replace(/^(<\w+ xmlns="[^"]*")/, `$1 ${XSI}`);
const latin1 = (text: string): string => hash('sha256', Buffer.from(text, 'latin1'), 'base64');
const PLAIN = exampleXml({ 'serv/cServ/xDescServ': 'Manutenção & reparação' });
const [SPREAD, TIGHT] = [PLAIN, tight(PLAIN)];
const canonicalOf = (xml: string): string => canonicalByXmlCrypto(xml);
const hex256 = (text: string): string => hash('sha256', text, 'hex');

/** An element of the text as it stands, without any canonicalisation. */
const asItStands = (xml: string): string => elementOf('infDPS').exec(xml)![0];

type Near = {
  readonly name: string;
  readonly xml: string;
  readonly bent: Bent;
  /** Replaces the signed document by the one that is sent. */
  readonly sent?: (signed: string) => string;
  readonly says: RegExp;
  /** The mistake is in the signature value; otherwise in the digest. */
  readonly isValue?: boolean;
};

const NEAR: readonly Near[] = [
  {
    name: 'inclusive C14N of infDPS',
    xml: withXsi(PLAIN),
    bent: { digested: inclusive(canonicalOf(withXsi(PLAIN))) },
    says: /O resumo declarado foi calculado com C14N inclusiva; o aceito é C14N exclusiva/,
  },
  {
    name: 'inclusive C14N of SignedInfo',
    xml: withXsi(PLAIN),
    bent: { value: (text) => rsaSha256(provider.keys.privateKey)(inclusive(text)) },
    says: /SignedInfo foi assinado com C14N inclusiva; o aceito é C14N exclusiva/,
    isValue: true,
  },
  ...(['sha1', 'sha384', 'sha512'] as const).flatMap((algorithm): Near[] => {
    const named = algorithm.replace('sha', 'SHA-');
    return [
      {
        name: `${named} of infDPS`,
        xml: PLAIN,
        bent: digestedBy(algorithm),
        says: new RegExp(`O resumo declarado foi calculado com ${named}; o aceito é .*SHA-256`),
      },
      {
        name: `${named} of SignedInfo`,
        xml: PLAIN,
        bent: { value: signedWith(algorithm) },
        says: new RegExp(`SignedInfo foi assinado com ${named}; o aceito é .*SHA-256`),
        isValue: true,
      },
      {
        name: `${named} and inclusive C14N`,
        xml: withXsi(PLAIN),
        bent: { digested: inclusive(canonicalOf(withXsi(PLAIN))), ...digestedBy(algorithm) },
        says: new RegExp(`com C14N inclusiva, com ${named}`),
      },
    ];
  }),
  {
    name: 'RSA-PSS',
    xml: PLAIN,
    bent: {
      value: (text) =>
        sign('sha256', Buffer.from(text), { key: provider.keys.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING }),
    },
    says: /SignedInfo foi assinado com RSA-PSS/,
    isValue: true,
  },
  {
    name: 'RSA-PSS with SHA-512',
    xml: PLAIN,
    bent: {
      value: (text) =>
        sign('sha512', Buffer.from(text), {
          key: provider.keys.privateKey,
          padding: constants.RSA_PKCS1_PSS_PADDING,
          saltLength: 20,
        }),
    },
    says: /SignedInfo foi assinado com RSA-PSS, com SHA-512/,
    isValue: true,
  },
  {
    name: 'indented after it was signed',
    xml: TIGHT,
    bent: {},
    sent: (signed) => signed.replace(asItStands(signed), asItStands(SPREAD)),
    says: /sobre o documento sem espaços entre os elementos, e ele foi indentado depois/,
  },
  {
    name: 'signed indented, then brought into one line',
    xml: SPREAD,
    bent: {},
    sent: (signed) => tight(signed),
    says: /sobre o documento indentado, e os espaços entre os elementos foram retirados ou mudados depois/,
  },
  {
    name: 'signed with tabs, then indented otherwise',
    xml: SPREAD.replace(/ {2}/g, '\t'),
    bent: {},
    sent: (signed) => signed.replaceAll('\t', '   '),
    says: /sobre o documento indentado, e os espaços/,
  },
  {
    name: 'signed with four spaces, then brought into one line',
    xml: SPREAD.replace(/ {2}/g, '    '),
    bent: {},
    sent: (signed) => tight(signed),
    says: /sobre o documento indentado, e os espaços/,
  },
  {
    name: 'the Signature indented after it was signed',
    xml: PLAIN,
    bent: {},
    sent: (signed) => signed.replace(elementOf('SignedInfo'), (element) => element.replaceAll('><', '>\n    <')),
    says: /SignedInfo foi assinado sobre o documento sem espaços entre os elementos, e ele foi indentado depois/,
    isValue: true,
  },
  {
    name: 'the Signature signed indented, then brought into one line',
    xml: PLAIN,
    bent: { space: '\n      ' },
    sent: (signed) => signed.replace(elementOf('Signature'), tight),
    says: /com a chave deste certificado foi assinado o SHA-256/,
    isValue: true,
  },
  {
    name: 'a byte order mark',
    xml: PLAIN,
    bent: { digested: `\ufeff${canonicalOf(PLAIN)}` },
    says: /com a marca de ordem de bytes \(BOM\) no começo/,
  },
  {
    name: 'line ends of CR LF',
    xml: PLAIN,
    bent: { digested: canonicalOf(PLAIN).replaceAll('\n', '&#xD;\n') },
    sent: (signed) => signed.replaceAll('\n', '\r\n'),
    says: /com fins de linha CR LF, que XML lê como LF/,
  },
  {
    name: 'the text without xmlns',
    xml: PLAIN,
    bent: { digested: canonicalOf(PLAIN).replace(/ xmlns="[^"]*"/, '') },
    says: /(sem a declaração xmlns que a forma canônica põe em infDPS|sobre o texto como foi enviado)/,
  },
  {
    name: 'the text without xmlns, in other clothes',
    xml: PLAIN.replace(/Id="([^"]*)"/, "Id = '$1'"),
    bent: { digested: canonicalOf(PLAIN).replace(/ xmlns="[^"]*"/, '') },
    says: /sem a declaração xmlns que a forma canônica põe em infDPS/,
  },
  {
    name: 'SignedInfo without xmlns',
    xml: PLAIN,
    bent: { value: (text) => rsaSha256(provider.keys.privateKey)(text.replace(/ xmlns="[^"]*"/, '')) },
    says: /SignedInfo foi assinado (sobre o texto como foi enviado|sem a declaração xmlns)/,
    isValue: true,
  },
  {
    name: 'the text as it was sent',
    xml: PLAIN.replace('</infDPS>', '<vazio /></infDPS>'),
    bent: { digested: asItStands(PLAIN.replace('</infDPS>', '<vazio /></infDPS>')) },
    says: /sobre o texto como foi enviado, sem canonicalizar/,
  },
  {
    name: 'the text as it was sent, in CR LF',
    xml: PLAIN.replaceAll('\n', '\r\n'),
    bent: { digested: asItStands(PLAIN.replaceAll('\n', '\r\n')) },
    says: /sobre o texto como foi enviado, sem canonicalizar/,
  },
  {
    name: 'the whole document',
    xml: PLAIN,
    bent: { digested: canonicalByXmlCrypto(PLAIN, 'DPS') },
    says: /sobre o documento inteiro, sem a Signature/,
  },
  { name: 'bytes of Latin-1', xml: PLAIN, bent: { digest: latin1 }, says: /codificado em Latin-1 e não em UTF-8/ },
  {
    name: 'SHA-1 of bytes of Latin-1',
    xml: PLAIN,
    bent: { digest: (text) => hash('sha1', Buffer.from(text, 'latin1'), 'base64') },
    says: /codificado em Latin-1 e não em UTF-8, com SHA-1/,
  },
  {
    name: 'hexadecimal in Base64',
    xml: PLAIN,
    bent: { digest: (text) => Buffer.from(hex256(text)).toString('base64') },
    says: /O resumo declarado é o certo, mas é o Base64 do texto hexadecimal do resumo; codifique em Base64 os 32 bytes dele/,
  },
  {
    name: 'hexadecimal of capital letters in Base64',
    xml: PLAIN,
    bent: { digest: (text) => Buffer.from(hex256(text).toUpperCase()).toString('base64') },
    says: /é o Base64 do texto hexadecimal/,
  },
  {
    name: 'hexadecimal',
    xml: PLAIN,
    bent: { digest: hex256 },
    says: /O resumo declarado é o certo, mas está em hexadecimal/,
  },
  {
    name: 'a digest without its =',
    xml: PLAIN,
    bent: { digest: (text) => sha256(text).replace(/=+$/, '') },
    says: /O resumo declarado é o certo, mas não está na forma exata do Base64/,
  },
  {
    name: 'a digest in the alphabet of addresses',
    xml: urlSafeExample(),
    bent: { digest: (text) => hash('sha256', text, 'base64url') },
    says: /O resumo declarado é o certo, mas não está na forma exata do Base64/,
  },
  {
    name: 'the signature over infDPS',
    xml: PLAIN,
    bent: { value: () => rsaSha256(provider.keys.privateKey)(canonicalOf(PLAIN)) },
    says: /SignedInfo foi assinado sobre o elemento assinado, e não sobre SignedInfo/,
    isValue: true,
  },
  {
    name: 'the octets of the value the other way round',
    xml: PLAIN,
    bent: { value: (text) => rsaSha256(provider.keys.privateKey)(text).reverse() },
    says: /os bytes do valor estão na ordem inversa, como o Windows os dá/,
    isValue: true,
  },
  {
    name: 'RSA over the digest alone',
    xml: PLAIN,
    bent: { value: (text) => rsaOfBlock(provider.keys.privateKey, padded(hash('sha256', text, 'buffer'))) },
    says: /assine com uma função RSA-SHA256, e não com RSA puro/,
    isValue: true,
  },
  {
    name: 'another SignedInfo',
    xml: PLAIN,
    bent: { value: () => rsaSha256(provider.keys.privateKey)('<SignedInfo/>') },
    says: new RegExp(
      `com a chave deste certificado foi assinado o SHA-256 ${RegExp.escape(sha256('<SignedInfo/>'))}, e o de SignedInfo é`,
    ),
    isValue: true,
  },
  {
    name: 'another key',
    xml: PLAIN,
    bent: { value: rsaSha256(namesake.keys.privateKey) },
    says: /SignedInfo não foi assinado com a chave deste certificado/,
    isValue: true,
  },
];

/** A document whose digest differs in the two alphabets of Base64. */
function urlSafeExample(): string {
  for (let number = 0; ; number += 1) {
    const xml = exampleXml({ 'serv/cServ/xDescServ': `Serviço ${number}` });
    if (/[+/]/.test(sha256(canonicalOf(xml)))) return xml;
  }
}

describe('what nearly fits is told as such', () => {
  for (const { name, xml, bent, sent = (signed: string) => signed, says, isValue = false } of NEAR) {
    test(name, () => {
      const bytes = Buffer.from(sent(signedBy(xml, provider, bent)));
      const faults = assertRefused(bytes, ['E902'], [says], name);
      const place = isValue ? '/DPS/Signature/SignatureValue' : '/DPS/Signature/SignedInfo/Reference/DigestValue';
      const fault = faults.find(({ xpath }) => xpath === place);
      assert.match(fault?.mensagem ?? '', says, 'where it belongs');
      if (!isValue) {
        assert.equal(
          fault!.esperado,
          sha256(canonicalOf(sent(signedBy(xml, provider, bent)))),
          'the digest that it should be',
        );
        assert.equal(faults.filter(({ xpath }) => xpath.endsWith('SignatureValue')).length, 0, 'the value is in order');
      }
    });
  }

  test('a library that does it all the inclusive way has one fault', () => {
    for (const algorithm of [INCLUSIVE, `${INCLUSIVE}#WithComments`]) {
      const signer = new SignedXml({
        privateKey: provider.keyPem,
        publicCert: provider.pem,
        signatureAlgorithm: `${DSIG}rsa-sha1`,
        canonicalizationAlgorithm: algorithm as typeof INCLUSIVE,
      });
      signer.addReference({
        xpath: "//*[local-name(.)='infDPS']",
        transforms: [ENVELOPED, algorithm],
        digestAlgorithm: `${DSIG}sha1`,
      });
      signer.computeSignature(withXsi(PLAIN), { location: { reference: '/*', action: 'append' } });
      const faults = assertRefused(
        Buffer.from(signer.getSignedXml()),
        ['E902'],
        [
          /A assinatura está certa nos seus algoritmos \(CanonicalizationMethod C14N inclusiva 1\.0.*SignatureMethod RSA-SHA1.*DigestMethod SHA-1/,
          /eles não são os aceitos aqui: RSA-SHA256, SHA-256, C14N exclusiva/,
          /Em SignatureMethod ponha Algorithm=".*rsa-sha256"\..* Depois assine de novo, por último\./,
        ],
        algorithm,
      );
      assert.equal(faults.length, 1);
      assert.doesNotMatch(faults[0]!.mensagem, /o conteúdo não é o que foi assinado/);
    }
  });

  for (const encoding of ['ISO-8859-1', 'iso-8859-1', 'windows-1252', 'latin1', 'ISO-8859-15']) {
    test(`bytes of UTF-8 that ${encoding} is declared of: the declaration is wrong, and without it the signature holds`, () => {
      const xml = exampleXml({ 'serv/cServ/xDescServ': 'AÇÃO – manutenção “geral” à distância, 2º nº €' });
      for (const one of [xml, tight(xml)]) {
        const signed = signedBy(one, provider);
        const wrong = signed.replace('encoding="UTF-8"', `encoding="${encoding}"`);
        assert.notEqual(wrong, signed);
        const says = new RegExp(
          `A declaração do XML diz encoding="${encoding}", e os bytes são UTF-8.*Corrija a declaração`,
        );
        const [fault, ...others] = assertRefused(Buffer.from(wrong), ['E902'], [says], encoding);
        assert.deepEqual([fault!.xpath, others], ['/DPS/Signature/SignedInfo/Reference/DigestValue', []]);
        assert.doesNotMatch(fault!.mensagem, /em Latin-1 e não em UTF-8/);
        assertAccepted(Buffer.from(wrong.replace(`encoding="${encoding}"`, 'encoding="UTF-8"')), 'as it says');
        assertAccepted(Buffer.from(wrong.replace(/^<\?xml[^>]*\?>/, '')), 'without it');
      }
    });
  }

  test('a wrong declaration beside another habit is told first, and then the habit', () => {
    const signed = signedBy(withXsi(PLAIN), provider, { digested: inclusive(canonicalOf(withXsi(PLAIN))) });
    const wrong = signed.replace('encoding="UTF-8"', 'encoding="ISO-8859-1"');
    assertRefused(Buffer.from(wrong), ['E902'], [/os bytes são UTF-8.*o que mais falta ao resumo/], 'declared');
    assertRefused(Buffer.from(signed), ['E902'], [/C14N inclusiva/], 'mended');
  });

  test('a right declaration of another encoding is not called wrong', () => {
    for (const encoding of ['ISO-8859-1', 'windows-1252'] as const) {
      const signed = signedBy(PLAIN, provider, { digest: latin1 });
      const [fault] = assertRefused(ENCODINGS[encoding]!(signed), ['E902'], [/em Latin-1 e não em UTF-8/], encoding);
      assert.doesNotMatch(fault!.mensagem, /a declaração do XML/i);
    }
  });

  for (const [encoding, says] of [
    [
      'UTF-16',
      /a declaração diz encoding="UTF-16", e os bytes são de uma codificação de oito bits; declare encoding="UTF-8"/,
    ],
    ['utf-16', /declare encoding="UTF-8" \(em \.NET/],
  ] as const) {
    test(`bytes of UTF-8 that ${encoding} is declared of are no XML`, () => {
      const wrong = signedBy(PLAIN, provider).replace('encoding="UTF-8"', `encoding="${encoding}"`);
      assertRefused(Buffer.from(wrong), ['E201'], [says], encoding);
    });
  }

  test('bytes that the declared encoding does not have are no XML', () => {
    const signed = signedBy(exampleXml({ 'serv/cServ/xDescServ': 'IRMÃ' }), provider);
    const wrong = signed.replace('encoding="UTF-8"', 'encoding="windows-1250"');
    assertRefused(
      Buffer.from(wrong),
      ['E201'],
      [/não são da codificação declarada.*declare a codificação certa/],
      'windows-1250',
    );
  });

  test('bytes of another encoding that UTF-8 is declared of are no XML', () => {
    const signed = signedBy(PLAIN, provider);
    assertRefused(Buffer.from(signed, 'latin1'), ['E201'], [/UTF-8/], 'Latin-1');
    assertRefused(Buffer.from(`\ufeff${signed}`, 'utf16le'), ['E201'], [/os bytes são UTF-16/], 'UTF-16');
  });

  test('nothing is told of what fits nothing', () => {
    const signed = signedBy(PLAIN, provider, { digested: 'outra coisa' });
    const [fault] = assertRefused(Buffer.from(signed), ['E902'], [/Algo mudou depois da assinatura/], 'another text');
    assert.doesNotMatch(fault!.mensagem, /O resumo declarado/);
  });
});
