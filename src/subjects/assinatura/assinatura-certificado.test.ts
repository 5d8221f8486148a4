/**
 * Holder, validity and trust of the certificate: the right code for each fault, several at once, over documents that are signed correctly.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { testAuthorities } from '../../../test/support/authorities.ts';
import { companyOf, type Party, PROVIDER_CNPJ, partyOf, signedBy } from '../../../test/support/signatures.ts';
import { toolOr } from '../../../test/support/tools.ts';
import { readDpsSignature } from '../../base/world/sent-documents.ts';
import { readAsn1 } from '../../documents/asn1.ts';
import { readCertificate } from '../../documents/certificate.ts';
import { companyCertificate, pemOf, rootAuthority, serverCertificate } from '../../documents/pki.ts';
import { CMS_CODES, signerFaults, XML_CODES } from '../../documents/signer-faults.ts';
import { openTrust } from '../../documents/trust.ts';
import { readXml } from '../../documents/xml.ts';
import type { Fault } from '../../fiscal/fault.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import type { Patch } from '../../fiscal/rules/rule.ts';

const NOW = Date.parse('2026-11-21T12:00:00-03:00');
const OPENSSL = toolOr('openssl', 'openssl');
const BRANCH_CNPJ = '11222333000262';
const OTHER_CNPJ = '11444777000161';
const CPF = '52998224725';
const OTHER_CPF = '11144477735';
const CERTIFICATE_AT = '/DPS/Signature/KeyInfo/X509Data/X509Certificate';

const authorities = await testAuthorities(NOW);
const { folder, confianca, issuing, issuingKeys, ownKeys, company, person, lasting, year, past, future } = authorities;
/** A root with the same name as ours and another key. */
const strangeRoot = rootAuthority('AC Raiz de Teste', authorities.strangeKeys, lasting);
const own = company(PROVIDER_CNPJ);
const revoked = company(PROVIDER_CNPJ);
const revokedAndLate = company(OTHER_CNPJ, past);
authorities.revoke(revoked, revokedAndLate);
const trust = openTrust(confianca, { warn() {} });

const BY_CPF: Patch = { 'prest/CNPJ': null, 'prest/CPF': CPF };

type Case = {
  readonly name: string;
  readonly party: Party;
  readonly patch?: Patch;
  readonly at?: number;
  /** Codes of an XML signature; {@link AS_CMS} translates them to those of CMS. Empty: accepted. */
  readonly codes: readonly (keyof typeof AS_CMS)[];
  readonly says?: readonly RegExp[];
};

const AS_CMS = { E903: 'E9006', E904: 'E9003', E906: 'E9007' } as const;

const CASES: readonly Case[] = [
  { name: 'of the provider', party: own, codes: [] },
  { name: 'of another branch, same root', party: company(BRANCH_CNPJ), codes: [] },
  { name: 'of the head office, the provider a branch', party: own, patch: { 'prest/CNPJ': BRANCH_CNPJ }, codes: [] },
  { name: 'of the person who provides', party: person(CPF), patch: BY_CPF, codes: [] },
  { name: 'in its first moment', party: own, at: Math.ceil(year.inicio / 1000) * 1000, codes: [] },
  { name: 'in its last second', party: own, at: Math.floor(year.fim / 1000) * 1000, codes: [] },
  {
    name: 'of another CNPJ',
    party: company(OTHER_CNPJ),
    codes: ['E906'],
    says: [
      /O certificado é do CNPJ 11\.444\.777\/\*\*\*\*-\*\* \(lido em SAN 2\.16\.76\.1\.3\.3\), e o prestador é 11\.222\.333\/\*\*\*\*-\*\*; o CNPJ se compara pelos 8 primeiros caracteres/,
    ],
  },
  {
    name: 'of another CPF',
    party: person(OTHER_CPF),
    patch: BY_CPF,
    codes: ['E906'],
    says: [
      /O certificado é do CPF \*\*\*\.444\.777-\*\* \(lido em SAN 2\.16\.76\.1\.3\.1\), e o prestador é \*\*\*\.982\.247-\*\*; o CPF se compara por inteiro/,
    ],
  },
  {
    name: 'of a person, the provider a company',
    party: person(CPF),
    codes: ['E906'],
    says: [/é do CPF \*\*\*\.982\.247-\*\*/],
  },
  { name: 'of a company, the provider a person', party: own, patch: BY_CPF, codes: ['E906'], says: [/é do CNPJ 11\./] },
  {
    name: 'of nobody: a server',
    party: partyOf(ownKeys, serverCertificate(issuing, { dns: ['localhost'], ips: [] }, ownKeys.publicKey, year)),
    codes: ['E904', 'E906'],
    says: [
      /extendedKeyUsage\) admite serverAuth, e precisa admitir emailProtection/,
      /O certificado não diz de quem é: não há CNPJ \(2\.16\.76\.1\.3\.3\) nem CPF \(2\.16\.76\.1\.3\.1\)/,
    ],
  },
  {
    name: 'expired',
    party: company(PROVIDER_CNPJ, past),
    codes: ['E903'],
    says: [/O certificado de EMPRESA EXEMPLO LTDA venceu em 17\/10\/2026 12:00:00\. Renove/],
  },
  {
    name: 'expired a second ago',
    party: own,
    at: Math.floor(year.fim / 1000) * 1000 + 1000,
    codes: ['E903'],
    says: [/venceu em/],
  },
  {
    name: 'not yet valid',
    party: company(PROVIDER_CNPJ, future),
    codes: ['E903'],
    says: [/O certificado de EMPRESA EXEMPLO LTDA só vale a partir de 26\/12\/2026 12:00:00/],
  },
  {
    name: 'not yet valid by a second',
    party: own,
    at: Math.floor(year.inicio / 1000) * 1000 - 1000,
    codes: ['E903'],
    says: [/só vale a partir de/],
  },
  {
    name: 'of an unknown issuer',
    party: company(PROVIDER_CNPJ, year, authorities.stranger),
    codes: ['E904'],
    says: [
      /Falta o certificado da autoridade "AC Raiz de Outros", que emitiu o certificado usado na assinatura; .* âncoras do município/,
    ],
  },
  {
    name: 'of an issuer that calls itself as ours',
    party: company(PROVIDER_CNPJ, year, strangeRoot),
    codes: ['E904'],
    says: [/diz ter sido emitido por "AC Raiz de Teste", mas a assinatura não confere com a chave dessa autoridade/],
  },
  {
    name: 'signed by itself',
    party: partyOf(
      ownKeys,
      companyCertificate(
        { ...rootAuthority('x', ownKeys, lasting), name: subjectOf(own.der) },
        companyOf(PROVIDER_CNPJ),
        ownKeys.publicKey,
        year,
      ),
    ),
    codes: ['E904'],
    says: [/autoassinado: nenhuma autoridade responde por ele/],
  },
  {
    name: 'revoked',
    party: revoked,
    codes: ['E904'],
    says: [/O certificado foi revogado por "AC de Teste" em 20\/11\/2026.*Assine com um certificado em vigor/],
  },
  {
    name: 'of an authority',
    party: partyOf(issuingKeys, issuing.certificate),
    codes: ['E904', 'E906'],
    says: [/é de uma autoridade certificadora \("AC de Teste"\)/],
  },
  {
    name: 'expired and of another party',
    party: company(OTHER_CNPJ, past),
    codes: ['E903', 'E906'],
    says: [/venceu em/, /CNPJ 11\.444\.777\//],
  },
  {
    name: 'not yet valid, of a stranger and of another party',
    party: company(OTHER_CNPJ, future, authorities.stranger),
    codes: ['E903', 'E904', 'E906'],
    says: [/só vale a partir de/, /AC Raiz de Outros/, /11\.444\.777/],
  },
  {
    name: 'revoked, expired and of another party',
    party: revokedAndLate,
    codes: ['E903', 'E904', 'E906'],
    says: [/venceu em/, /foi revogado/, /11\.444\.777/],
  },
];

/** The name of a certificate's subject, which follows version, serial, algorithm, issuer and validity. */
function subjectOf(der: Buffer): Buffer {
  return readAsn1(der).children[0]!.children[5]!.raw;
}

function readable(der: Buffer): Extract<ReturnType<typeof readCertificate>, { der: Buffer }> {
  const certificate = readCertificate(der);
  assert.ok('der' in certificate, 'problem' in certificate ? certificate.problem : '');
  return certificate;
}

function faultsOf(xml: string, at: number): readonly Fault[] {
  const reading = readXml(Buffer.from(xml));
  assert.ok('root' in reading);
  return readDpsSignature(reading, trust, at).faults;
}

describe('the certificate of a signature', () => {
  for (const { name, party, patch = {}, at = NOW, codes, says = [] } of CASES) {
    test(`${name}: ${codes.join(', ') || 'accepted'}`, () => {
      const xml = exampleXml(patch);
      const faults = faultsOf(signedBy(xml, party), at);
      const all = faults.map(({ codigo, mensagem }) => `${codigo}: ${mensagem}`).join('\n');
      assert.deepEqual(
        faults.map(({ codigo }) => codigo),
        codes,
        all,
      );
      for (const { xpath, mensagem, encontrado = '', esperado = '' } of faults) {
        assert.equal(xpath, CERTIFICATE_AT);
        assert.match(mensagem, /^\S.*\.$/);
        // No message shows a full CPF or CNPJ.
        for (const secret of [PROVIDER_CNPJ, OTHER_CNPJ, BRANCH_CNPJ, CPF, OTHER_CPF, '12345678909']) {
          assert.ok(!`${mensagem} ${encontrado} ${esperado}`.includes(secret), mensagem);
        }
      }
      for (const one of says) assert.match(all, one);

      // The same in the codes of a JSON request.
      const documento = patch['prest/CPF'] ?? patch['prest/CNPJ'] ?? PROVIDER_CNPJ;
      const question = { documento, parte: 'prestador', trust, at, xpath: '' };
      const inCms = signerFaults(readable(party.der), question, CMS_CODES);
      assert.deepEqual(
        inCms.map(({ codigo }) => codigo),
        codes.map((code) => AS_CMS[code]),
      );
    });
  }

  test('of nobody in particular, when the document does not say whose it must be', () => {
    const question = { documento: undefined, parte: 'prestador', trust, at: NOW, xpath: '' };
    assert.deepEqual(signerFaults(readable(company(OTHER_CNPJ).der), question, XML_CODES), []);
  });

  test('what is wrong with it is told beside what is wrong with the signature', () => {
    const signed = signedBy(exampleXml(), company(OTHER_CNPJ, past)).replace('1000.00', '1.00');
    const codes = faultsOf(signed, NOW).map(({ codigo }) => codigo);
    assert.deepEqual(codes, ['E902', 'E903', 'E906']);
  });

  test('a validity of another century is told, not thrown over', () => {
    for (const validity of [
      { inicio: Date.parse('1950-01-01T00:00:00Z'), fim: Date.parse('1999-12-31T23:59:59Z') },
      { inicio: Date.parse('2060-01-01T00:00:00Z'), fim: Date.parse('9999-12-31T23:59:59Z') },
      { inicio: year.fim, fim: year.inicio },
    ]) {
      const [fault] = faultsOf(signedBy(exampleXml(), company(PROVIDER_CNPJ, validity)), NOW);
      assert.equal(fault?.codigo, 'E903');
      assert.match(fault.encontrado!, /^\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d a \d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d$/);
    }
  });

  test('made by openssl', { skip: OPENSSL === undefined }, () => {
    const run = (...args: readonly string[]): void => {
      const { status, stderr } = spawnSync(OPENSSL!, args, { cwd: folder, encoding: 'utf8' });
      assert.equal(status, 0, stderr);
    };
    writeFileSync(path.join(folder, 'chave.pem'), own.keyPem);
    writeFileSync(path.join(folder, 'ac.pem'), pemOf('CERTIFICATE', issuing.certificate));
    writeFileSync(path.join(folder, 'ac.key'), issuingKeys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const made = (cnpj: string, string: string): Party => {
      const extensions = `subjectAltName=otherName:2.16.76.1.3.3;${string}:${cnpj},otherName:2.16.76.1.3.4;${string}:3101198012345678909${'0'.repeat(32)}\nkeyUsage=critical,digitalSignature,nonRepudiation\n`;
      writeFileSync(path.join(folder, 'extensoes.cnf'), extensions);
      run(
        'req',
        '-new',
        '-key',
        'chave.pem',
        '-subj',
        `/C=BR/O=ICP-Brasil/CN=EMPRESA EXEMPLO LTDA:${cnpj}`,
        '-out',
        'pedido.csr',
      );
      run(
        'x509',
        '-req',
        '-in',
        'pedido.csr',
        '-CA',
        'ac.pem',
        '-CAkey',
        'ac.key',
        '-set_serial',
        '77',
        '-days',
        '3650',
        '-extfile',
        'extensoes.cnf',
        '-outform',
        'DER',
        '-out',
        'certificado.der',
      );
      return partyOf(ownKeys, readFileSync(path.join(folder, 'certificado.der')));
    };
    // openssl dates the certificate by the clock of this machine. One day later is within its validity, however long its making takes.
    const at = Date.now() + DAY_MS;
    for (const string of ['UTF8', 'PRINTABLESTRING', 'OCT', 'BMP', 'IA5STRING']) {
      assert.deepEqual(faultsOf(signedBy(exampleXml(), made(PROVIDER_CNPJ, string)), at), [], string);
      const [fault, ...more] = faultsOf(signedBy(exampleXml(), made(OTHER_CNPJ, string)), at);
      assert.deepEqual([fault?.codigo, more], ['E906', []], string);
      assert.match(fault!.mensagem, /CNPJ 11\.444\.777\/\*\*\*\*-\*\* \(lido em SAN/);
    }
  });
});
