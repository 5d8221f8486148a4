/** C2SP Wycheproof: the verification of RSA PKCS#1 v1.5, through the CMS of a request, with a certificate made for each key. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { der, readAsn1 } from '../../src/documents/asn1.ts';
import { verifyCms } from '../../src/documents/cms.ts';
import { type Authority, companyCertificate, rootAuthority } from '../../src/documents/pki.ts';
import { readyKeys } from '../support/keys.ts';
import { type Caso, trySuite } from './suite.ts';

const YEAR = { inicio: Date.UTC(2026, 0, 1), fim: Date.UTC(2027, 0, 1) };
const COMPANY = {
  razaoSocial: 'Empresa',
  cnpj: '11222333000181',
  responsavel: { nome: 'Ana', cpf: '52998224725', nascimento: '1980-01-01' },
};

const DIGESTS: Readonly<Record<string, string>> = {
  'SHA-224': '2.16.840.1.101.3.4.2.4',
  'SHA-256': '2.16.840.1.101.3.4.2.1',
  'SHA-384': '2.16.840.1.101.3.4.2.2',
  'SHA-512': '2.16.840.1.101.3.4.2.3',
  'SHA-512/224': '2.16.840.1.101.3.4.2.5',
  'SHA-512/256': '2.16.840.1.101.3.4.2.6',
  'SHA3-224': '2.16.840.1.101.3.4.2.7',
  'SHA3-256': '2.16.840.1.101.3.4.2.8',
  'SHA3-384': '2.16.840.1.101.3.4.2.9',
  'SHA3-512': '2.16.840.1.101.3.4.2.10',
};

type Vectors = {
  readonly testGroups: readonly {
    readonly sha: string;
    readonly publicKeyDer: string;
    readonly tests: readonly {
      readonly tcId: number;
      readonly msg: string;
      readonly sig: string;
      readonly result: 'valid' | 'invalid' | 'acceptable';
      readonly flags: readonly string[];
    }[];
  }[];
};

const DELES = { valid: 'aceita', invalid: 'recusa', acceptable: 'livre' } as const;

/** A CMS in which the holder of this key signed the bytes themselves, with this signature value. */
function cmsOf(certificate: Buffer, digest: string, value: Buffer): string {
  const [serial, , issuer] = readAsn1(certificate).children[0]!.children.slice(1);
  const algorithm = der.sequence(der.oid(digest), der.null());
  const signer = der.sequence(
    der.integer(1),
    der.sequence(issuer!.raw, serial!.raw),
    algorithm,
    der.sequence(der.oid('1.2.840.113549.1.1.1'), der.null()),
    der.octetString(value),
  );
  const signedData = der.sequence(
    der.integer(1),
    der.set(algorithm),
    der.sequence(der.oid('1.2.840.113549.1.7.1')),
    der.context(0, certificate),
    der.set(signer),
  );
  return der.sequence(der.oid('1.2.840.113549.1.7.2'), der.context(0, signedData)).toString('base64');
}

function casosOf(file: string, authority: Authority): readonly Caso[] {
  const { testGroups }: Vectors = JSON.parse(readFileSync(file, 'utf8'));
  return testGroups.flatMap(({ sha, publicKeyDer, tests }) => {
    const spki = Buffer.from(publicKeyDer, 'hex');
    const key: KeyObject = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    const certificate = companyCertificate(authority, COMPANY, key, YEAR);
    return tests.map(({ tcId, msg, sig, result, flags }): Caso => {
      const header = cmsOf(certificate, DIGESTS[sha] ?? sha, Buffer.from(sig, 'hex'));
      const { faults } = verifyCms(header, Buffer.from(msg, 'hex'), 'X-DPS-Assinatura');
      const nome = `${path.basename(file, '.json')}#${tcId} ${flags.join(',')}`;
      const motivo = faults[0]?.mensagem;
      return {
        nome,
        deles: DELES[result],
        nosso: faults.length === 0 ? 'aceita' : 'recusa',
        ...(motivo === undefined ? {} : { motivo }),
      };
    });
  });
}

trySuite({
  nome: 'Wycheproof, RSA PKCS#1 v1.5',
  marca: 'testvectors_v1/rsa_signature_2048_sha256_test.json',
  casosMin: 6_000,
  estritos: [
    {
      porque: 'o resumo não é SHA-256, SHA-384 nem SHA-512',
      casos: /o resumo é (SHA-224|SHA3|desconhecido)/,
    },
  ],
  frouxos: [],
  async run(folder) {
    const authority = rootAuthority('AC Raiz de Teste', await readyKeys(), YEAR);
    const files = globSync('testvectors_v1/rsa_signature_*_test.json', { cwd: folder }).sort();
    return files.flatMap((file) => casosOf(path.join(folder, file), authority));
  },
});
