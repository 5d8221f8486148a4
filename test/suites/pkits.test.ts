/**
 * NIST PKITS: certificate paths with their revocation lists, each as a signed message. The message's CMS and its chain are judged like a
 * request's. The message's lists are in the folder of the municipality.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isContext, readAsn1 } from '../../src/documents/asn1.ts';
import { verifyCms } from '../../src/documents/cms.ts';
import { CMS_CODES, signerFaults } from '../../src/documents/signer-faults.ts';
import { open } from '../support/chains.ts';
import { type Caso, trySuite } from './suite.ts';

/** All of it is valid from 2010 to 2030, except the deliberate errors. */
const AT = Date.UTC(2026, 10, 22);

type Message = { readonly content: Buffer; readonly cms: Buffer; readonly lists: readonly Buffer[] };

/** The parts of a multipart/signed message: the signed content, with the line ends of mail, and the signature. */
function messageOf(text: string): Message {
  const boundary = /boundary="([^"]+)"/.exec(text)![1]!;
  const [, content, signature] = text.replace(/\r?\n/g, '\r\n').split(`--${boundary}`);
  const cms = Buffer.from(signature!.slice(signature!.indexOf('\r\n\r\n')), 'base64');
  const members = readAsn1(cms).children[1]!.children[0]!.children;
  const lists = members.filter((one) => isContext(one, 1)).flatMap(({ children }) => children.map(({ raw }) => raw));
  return { content: Buffer.from(content!.slice(2, -2)), cms, lists };
}

function casoOf(file: string, anchor: Buffer): Caso {
  const nome = path.basename(file, '.eml').replace(/^Signed/, '');
  const { content, cms, lists } = messageOf(readFileSync(file, 'latin1'));
  const { faults, certificate, extra } = verifyCms(cms.toString('base64'), content, 'X-DPS-Assinatura');
  const { trust, warnings } = open(
    { 'ancora.crt': anchor },
    Object.fromEntries(lists.map((one, at) => [`${at}.crl`, one])),
  );
  const withChain = { ...trust, judge: (end: typeof certificate & {}, at: number) => trust.judge(end, at, extra) };
  const question = { documento: undefined, parte: 'prestador', trust: withChain, at: AT, xpath: '' };
  const all = [...faults, ...(certificate === undefined ? [] : signerFaults(certificate, question, CMS_CODES))];
  const deles = /^Invalid|^MissingCRL/.test(nome) ? 'recusa' : 'aceita';
  return {
    nome,
    deles,
    nosso: all.length === 0 ? 'aceita' : 'recusa',
    motivo: all.length === 0 ? warnings.map((one) => `avisa: ${one}`).join(' ') : all[0]!.mensagem,
  };
}

trySuite({
  nome: 'PKITS',
  marca: 'certs/TrustAnchorRootCertificate.crt',
  casosMin: 200,
  estritos: [
    { porque: 'uma autoridade não assina documentos', casos: /O certificado é de uma autoridade certificadora/ },
    { porque: 'SHA-1 já se falsifica e não é aceito', casos: /o resumo é SHA-1/ },
    {
      porque:
        'políticas de certificação não decidem nada aqui, e uma extensão crítica sobre elas não se entende: recusa',
      casos: /extensão crítica 2\.5\.29\.(33|36|54)/,
    },
    {
      porque: 'uma lista parcial (delta) não é lida, e a suspensão que ela retiraria continua',
      casos: /^ValiddeltaCRLTest5 /,
    },
    {
      porque: 'restrições de nomes não se conferem, e recusa-se quem as traz (D-819)',
      casos: / traz restrições de nomes /,
    },
    {
      porque: 'um número de série negativo vale pelo positivo de mesmos bytes',
      casos: /^ValidNegativeSerialNumberTest14 /,
    },
  ],
  frouxos: [
    {
      porque:
        'falta uma lista que sirva (não veio, está vencida, é indireta, parcial ou de quem não a pode assinar): conta como não revogado, e o operador é avisado (D-131)',
      casos: /avisa: [^ ]*:? ?(não há LCR|.* venceu em|é uma lista parcial)|não há LCR de/,
    },
    {
      porque:
        'a lista é de uma parte dos certificados ou dos motivos, ou traz uma extensão que não se conhece: o que ela revoga fica revogado, e o resto não (D-131)',
      casos: /^Invalid(UnknownCRLExtensionTest10|distributionPointTest[389]|onlyContains\w+|onlySomeReasonsTest17) /,
    },
  ],
  run(folder) {
    const anchor = readFileSync(path.join(folder, 'certs/TrustAnchorRootCertificate.crt'));
    return globSync('smime/*.eml', { cwd: folder })
      .sort()
      .map((file) => casoOf(path.join(folder, file), anchor));
  },
});
