/**
 * C2SP x509-limbo: chains of certificates, good and bad. They are of TLS servers, so the purpose of a server replaces the one that we
 * require. The name of the server is not checked.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Certificate, readCertificate } from '../../src/documents/certificate.ts';
import { signerFaults, XML_CODES } from '../../src/documents/signer-faults.ts';
import { open } from '../support/chains.ts';
import { type Caso, trySuite } from './suite.ts';

type Testcase = {
  readonly id: string;
  readonly features: readonly string[];
  readonly trusted_certs: readonly string[];
  readonly untrusted_intermediates: readonly string[];
  readonly peer_certificate: string;
  readonly validation_time: string | null;
  readonly expected_result: 'SUCCESS' | 'FAILURE';
  readonly crls: readonly string[];
};

const SERVER = '1.3.6.1.5.5.7.3.1';
const EMAIL = '1.3.6.1.5.5.7.3.4';

/** The same certificate, with the purpose of a signature instead of that of a server. */
function asSigner(certificate: Certificate): Certificate {
  const { extKeyUsage } = certificate;
  return extKeyUsage === undefined
    ? certificate
    : { ...certificate, extKeyUsage: extKeyUsage.map((oid) => (oid === SERVER ? EMAIL : oid)) };
}

function derOf(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[A-Z ]+-----/g, ''), 'base64');
}

/** Cases that are left out, by the name or a feature of the case. */
const OTHER_SUBJECTS: Readonly<Record<string, RegExp>> = {
  'o nome do servidor que se chamou: nenhum servidor é chamado aqui': /^webpki::(cn|san)::|-wrong-san$/,
  'o comprimento da cadeia que quem pergunta escolhe: aqui é um só': /max-chain-depth/,
};

function subjectOf({ id, features }: Testcase): string | undefined {
  const text = [id, ...features].join(' ');
  return Object.entries(OTHER_SUBJECTS).find(([, names]) => names.test(text))?.[0];
}

function casoOf(one: Testcase): Caso {
  const nome = one.id;
  const deles = one.expected_result === 'SUCCESS' ? 'aceita' : 'recusa';
  const refused = (motivo: string): Caso => ({ nome, deles, nosso: 'recusa', motivo });
  const read = readCertificate(derOf(one.peer_certificate));
  if ('problem' in read) return refused(read.problem);
  const certificate = asSigner(read);
  const filed = (pems: readonly string[]): Record<string, string> =>
    Object.fromEntries(pems.map((pem, at) => [`${at}.pem`, pem]));
  const { trust } = open(filed(one.trusted_certs), one.crls.length === 0 ? undefined : filed(one.crls));
  const at = one.validation_time === null ? Date.now() : Date.parse(one.validation_time);
  const extra = one.untrusted_intermediates
    .map((pem) => readCertificate(derOf(pem)))
    .flatMap((each) => ('problem' in each ? [] : [asSigner(each)]));
  const withChain = { ...trust, judge: (end: Certificate, when: number) => trust.judge(end, when, extra) };
  const question = { documento: undefined, parte: 'prestador', trust: withChain, at, xpath: '' };
  const [fault] = signerFaults(certificate, question, XML_CODES);
  return fault === undefined ? { nome, deles, nosso: 'aceita' } : refused(fault.mensagem);
}

function testcasesIn(folder: string): readonly Testcase[] {
  return JSON.parse(readFileSync(path.join(folder, 'limbo.json'), 'utf8')).testcases;
}

trySuite({
  nome: 'x509-limbo',
  marca: 'limbo.json',
  casosMin: 150,
  estritos: [
    { porque: 'uma autoridade não assina documentos', casos: /O certificado é de uma autoridade certificadora/ },
    { porque: 'o último segundo da validade acaba quando começa', casos: /^rfc5280::validity::notafter-fractional / },
    {
      porque: 'restrições de nomes não se conferem, e recusa-se quem as traz (D-819)',
      casos: / traz restrições de nomes /,
    },
  ],
  frouxos: [
    {
      porque:
        'o identificador da chave (AKI, SKI) só ajuda a procurar o emissor; quem decide é a assinatura, conferida com a chave',
      casos: /::(aki|ski)::/,
    },
    {
      porque:
        'uma lista de revogados sem número revoga assim mesmo; a que a autoridade não pode assinar não é usada, e o operador é avisado (D-131)',
      casos: /^crl::/,
    },
    {
      porque: '`clientAuth` serve para assinar aqui, e a suíte pede `serverAuth`',
      casos: /^rfc5280::eku::ee-wrong-eku/,
    },
    {
      porque: 'exigência dos navegadores aos certificados de servidores, sem efeito sobre quem assina',
      casos: /^webpki::(eku::|malformed-aia|forbidden-rsa)|rsa-key-not-divisible/,
    },
    {
      porque: 'a RFC manda que a extensão seja crítica ou não; ela vale aqui do mesmo modo',
      casos: /noncritical-with-empty-subject|root-non-critical-basic-constraints/,
    },
    {
      porque: 'nomes de servidores que ninguém chama aqui, sem restrição que os alcance',
      casos: /san::(underscore-dns|ip-in-dns)/,
    },
    {
      porque: 'raízes da ICP-Brasil escrevem a curva por extenso: aceita-se a que é uma conhecida (D-234)',
      casos: /^webpki::explicit-curve/,
    },
    { porque: 'políticas de certificação não decidem nada aqui', casos: /^rfc5280::pc::/ },
    {
      porque: 'número de série, nome vazio ou versão impróprios não mudam quem assinou nem o que está revogado',
      casos: /serial::|ca-empty-subject|v1-cert/,
    },
    {
      porque: '`keyCertSign` num certificado que não é de autoridade não o faz emitir nada',
      casos: /leaf-ku-keycertsign/,
    },
  ],
  fora(folder) {
    const subjects = testcasesIn(folder).flatMap((one) => subjectOf(one) ?? []);
    return Object.fromEntries([...Map.groupBy(subjects, (one) => one)].map(([why, all]) => [why, all.length]));
  },
  run: (folder) =>
    testcasesIn(folder)
      .filter((one) => subjectOf(one) === undefined)
      .map(casoOf),
});
