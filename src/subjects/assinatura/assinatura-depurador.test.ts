/**
 * The signature debugger by HTTP and by command. The signatures are made by openssl, xmlsec1 and xml-crypto, the canonical forms by xmllint
 * and xml-crypto.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { DOMParser } from '@xmldom/xmldom';
import { ExclusiveCanonicalization, SignedXml } from 'xml-crypto';
import { onEnd } from '../../../test/support/cleanup.ts';
import { nfseHere } from '../../../test/support/cli.ts';
import { type Answer, request } from '../../../test/support/http.ts';
import { CA, END, freshFolder, type Issued, openssl, opensslAuthority } from '../../../test/support/openssl.ts';
import { nfse, type Said } from '../../../test/support/process.ts';
import { startTestService } from '../../../test/support/service.ts';
import { withoutBase64 } from '../../../test/support/signatures.ts';
import { toolOr } from '../../../test/support/tools.ts';
import { readCertificate } from '../../documents/certificate.ts';
import { signXml } from '../../documents/signing.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { budgets, openBudget } from './verificacao.rest.ts';

const PATH = '/api/v1/assinatura/verificacao';
const INCLUSIVE = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

const folder = freshFolder();
const ancoras = freshFolder();
const revogados = freshFolder();
const pki = opensslAuthority();
const root = pki.issue({ subject: '/O=ICP-Brasil/CN=AC Raiz de Teste', extensions: CA, key: 'root' });
const middle = pki.issue({ subject: '/O=ICP-Brasil/CN=AC do Meio', extensions: CA, key: 'middle', issuer: root });
writeFileSync(path.join(ancoras, 'raiz.pem'), root.pem);

/** Fields of ICP-Brasil as openssl writes an otherName; another branch of the provider of the example. */
const BRANCH = '11222333000262';
const POLICY = 'certificatePolicies=2.16.76.1.2.1.99';
const named = (oid: string, text: string): readonly string[] => [
  ...END,
  POLICY,
  `subjectAltName=otherName:${oid};UTF8:${text}`,
];
const provider = issued(`/O=ICP-Brasil/CN=EMPRESA DE TESTE:${BRANCH}`, named('2.16.76.1.3.3', BRANCH));
const stranger = issued('/CN=OUTRA EMPRESA:99888777000186', named('2.16.76.1.3.3', '99888777000186'));
const person = issued('/CN=JOANA DE TESTE:11144477735', named('2.16.76.1.3.1', `3101198011144477735${'0'.repeat(26)}`));
const revoked = issued(`/CN=EMPRESA REVOGADA:${BRANCH}`, named('2.16.76.1.3.3', BRANCH));
const ofMiddle = issued(`/CN=EMPRESA LONGE:${BRANCH}`, named('2.16.76.1.3.3', BRANCH), middle);
const list = pki.revoke({
  issuer: root,
  entries: [{ serial: revoked.serial, date: '200101000000Z' }],
});
writeFileSync(path.join(revogados, 'raiz.crl'), list);

/** An authority that must not sign revocation lists, and the list that it signed. */
const mute = pki.issue({
  subject: '/O=ICP-Brasil/CN=AC Muda',
  extensions: ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign'],
  key: 'mute',
});
const ofMute = issued(`/CN=EMPRESA DE TESTE:${BRANCH}`, named('2.16.76.1.3.3', BRANCH), mute);
const [ancorasMudas, listasMudas] = [freshFolder(), freshFolder()];
writeFileSync(path.join(ancorasMudas, 'muda.pem'), mute.pem);
writeFileSync(path.join(listasMudas, 'muda.crl'), pki.revoke({ issuer: mute, entries: [] }));

const clock = { now: Date.now() };
const { address, store, logged } = await startTestService({ worker: false, clock });
const confianca = { ancoras, revogados };
await store.municipios.create({ tenant: 'recife', ambiente: 'producao', codigoIbge: '2611606', confianca }, clock.now);
const mudas = { ancoras: ancorasMudas, revogados: listasMudas };
await store.municipios.create(
  { tenant: 'natal', ambiente: 'producao', codigoIbge: '2408102', confianca: mudas },
  clock.now,
);
const semListas = { ancoras, revogados: listasMudas };
await store.municipios.create(
  { tenant: 'olinda', ambiente: 'producao', codigoIbge: '2609600', confianca: semListas },
  clock.now,
);

const UNSIGNED = exampleXml({ serie: '1', nDPS: '7' });
const SIGNED = signedBy(provider).toString('utf8');

function issued(subject: string, extensions: readonly string[], issuer = root): Issued {
  return pki.issue({ subject, extensions, issuer });
}

function signedBy(signer: Issued, xml = UNSIGNED): Buffer {
  const certificate = readCertificate(signer.der);
  assert.ok(!('problem' in certificate));
  return signXml(Buffer.from(xml), { certificate, key: createPrivateKey(readFileSync(signer.keyFile)) });
}

type Body = string | Uint8Array;

function ask(body: Body, headers: Readonly<Record<string, string>> = {}, tenant = 'recife'): Promise<Answer> {
  return request(address, `/${tenant}${PATH}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml', ...headers },
    body: body as Uint8Array<ArrayBuffer>,
  });
}

/** The report of a request that succeeds; it contains no private data. */
async function report(
  body: Body,
  headers?: Readonly<Record<string, string>>,
  tenant?: string,
): Promise<Answer['body']> {
  const { status, body: answer } = await ask(body, headers, tenant);
  assert.equal(status, 200, JSON.stringify(answer));
  assert.equal(answer.status, 'OK');
  assert.doesNotMatch(withoutBase64(JSON.stringify(answer)), /undefined|NaN|\[object/);
  for (const documento of [BRANCH, '99888777000186', '11144477735']) {
    assert.ok(!JSON.stringify(answer).includes(documento), `${documento} of the certificate is shown`);
  }
  assert.equal(answer.valida, answer.erros.length === 0);
  assert.equal(answer.o_que_mudar.length > 0, !answer.valida);
  for (const { codigo } of answer.erros) assert.ok(answer.veredito.includes(codigo), answer.veredito);
  return answer;
}

function codesOf(answer: Answer['body']): string[] {
  return answer.erros.map(({ codigo }: { codigo: string }) => codigo);
}

function sha256(bytes: string | Uint8Array, encoding: 'hex' | 'base64'): string {
  return createHash('sha256').update(bytes).digest(encoding);
}

/** The canonical form that xml-crypto writes. */
function canonicalElement(xml: string, name: string): string {
  const element = new DOMParser().parseFromString(xml, 'text/xml').getElementsByTagNameNS('*', name)[0]!;
  return new ExclusiveCanonicalization().process(element as unknown as Element, {});
}

function fileOf(name: string, content: Body): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

describe('a signature that holds', () => {
  test('is read out whole: digest, texts, algorithms, certificate, provider', async () => {
    const answer = await report(SIGNED);
    assert.equal(answer.valida, true);
    assert.deepEqual([answer.erros, answer.o_que_mudar, answer.assinatura], [[], [], 'XML']);
    assert.match(answer.veredito, /aceitaria/);

    const canonical = canonicalElement(SIGNED, 'infDPS');
    assert.equal(answer.forma_canonica, canonical);
    assert.equal(answer.forma_canonica_bytes, Buffer.byteLength(canonical));
    assert.equal(answer.forma_canonica_sha256, sha256(canonical, 'hex'));
    const declared = /<DigestValue>([^<]+)</.exec(SIGNED)![1];
    assert.equal(declared, sha256(canonical, 'base64'));
    const resumo = { algoritmo: 'SHA-256', codificacao: 'base64', declarado: declared, calculado: declared };
    assert.deepEqual(answer.resumo, { ...resumo, confere: true });
    assert.equal(answer.signed_info_canonico, canonicalElement(SIGNED, 'SignedInfo'));
    assert.equal(answer.atributos_assinados, null);
    assert.deepEqual(answer.valor, { confere: true });

    assert.equal(answer.algoritmos.length, 5);
    assert.ok(answer.algoritmos.every(({ confere }: { confere: boolean }) => confere));
    assert.deepEqual(answer.algoritmos[0], {
      onde: '/DPS/Signature/SignedInfo/CanonicalizationMethod',
      encontrado: EXCLUSIVE,
      exigido: EXCLUSIVE,
      confere: true,
    });
    const { inicio, fim, ...certificado } = answer.certificado;
    assert.deepEqual(certificado, {
      titular: 'EMPRESA DE TESTE',
      documento: '11.222.333/****-**',
      tipo: 'CNPJ',
      onde: 'SAN 2.16.76.1.3.3',
      emissor: 'AC Raiz de Teste',
      serie: provider.serial.replace(/^0x/, ''),
      sha256: sha256(provider.der, 'hex'),
      valido_agora: true,
      uso_de_chave: ['digitalSignature', 'nonRepudiation'],
      politicas: ['2.16.76.1.2.1.99'],
      confiavel: true,
      cadeia: ['EMPRESA DE TESTE', 'AC Raiz de Teste'],
      motivo: null,
      revogado: false,
      sem_lista_de_revogados: [],
    });
    const dates = openssl('x509', '-in', provider.file, '-noout', '-dates', '-dateopt', 'iso_8601').toString();
    const [from, until] = [...dates.matchAll(/=(\S+) (\S+)Z/g)].map(([, date, time]) => Date.parse(`${date}T${time}Z`));
    assert.deepEqual([Date.parse(inicio), Date.parse(fim)], [from, until]);
    assert.match(inicio, /-03:00$/);
    assert.deepEqual(answer.prestador, { documento: '11.222.333/****-**', confere: true });
  });

  test('of xmlsec1 too', async (t) => {
    const xmlsec1 = toolOr('xmlsec1', 'xmlsec1');
    if (xmlsec1 === undefined) return t.skip('no xmlsec1');
    const answer = await report(signedByXmlsec(xmlsec1, EXCLUSIVE));
    assert.deepEqual(answer.erros, []);
    assert.equal(answer.valida, true);
  });

  test('is known in the sandbox as well, where nobody is trusted but ICP-Brasil', async () => {
    const answer = await report(SIGNED, {}, 'integracao');
    assert.deepEqual(codesOf(answer), ['E904']);
    assert.equal(answer.resumo.confere, true);
    assert.equal(answer.valor.confere, true);
    assert.equal(answer.certificado.confiavel, false);
    assert.match(answer.certificado.motivo, /ICP-Brasil/);
    assert.match(answer.o_que_mudar[0], /^Veja primeiro se o certificado é mesmo da ICP-Brasil: .+"AC Raiz de Teste"/);
    assert.deepEqual([answer.certificado.cadeia, answer.certificado.revogado], [null, null]);
    assert.equal(answer.certificado.sem_lista_de_revogados, null);
  });

  test('is not said to be of a certificate that is not revoked, where no list could tell', async () => {
    for (const [tenant, signer, issuer] of [
      ['natal', ofMute, 'AC Muda'],
      ['olinda', provider, 'AC Raiz de Teste'],
    ] as const) {
      const { valida, certificado } = await report(signedBy(signer), {}, tenant);
      assert.deepEqual([valida, certificado.revogado, certificado.sem_lista_de_revogados], [true, null, [issuer]]);
    }
  });
});

/** A document signed by xmlsec1; every algorithm of canonicalisation in it is the given one. */
function signedByXmlsec(xmlsec1: string, c14n: string): Buffer {
  const id = /<infDPS Id="([^"]+)"/.exec(UNSIGNED)![1];
  const template =
    `<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo><CanonicalizationMethod Algorithm="${c14n}"/>` +
    `<SignatureMethod Algorithm="${RSA_SHA256}"/><Reference URI="#${id}"><Transforms><Transform Algorithm="${ENVELOPED}"/>` +
    `<Transform Algorithm="${c14n}"/></Transforms><DigestMethod Algorithm="${SHA256}"/><DigestValue/></Reference></SignedInfo>` +
    '<SignatureValue/><KeyInfo><X509Data><X509Certificate/></X509Data></KeyInfo></Signature>';
  const file = fileOf('modelo.xml', UNSIGNED.replace('</DPS>', `${template}</DPS>`));
  const key = ['--privkey-pem', `${provider.keyFile},${provider.file}`];
  execFileSync(xmlsec1, ['--sign', ...key, '--id-attr:Id', 'infDPS', '--output', `${file}.ok`, file]);
  return readFileSync(`${file}.ok`);
}

describe('a signature that does not hold', () => {
  test('content changed after it: which digest is declared, which is right, and that the value is good', async () => {
    const altered = SIGNED.replace('Maria Exemplo', 'Maria Exemplos');
    const answer = await report(altered);
    assert.deepEqual(codesOf(answer), ['E902']);
    const [erro] = answer.erros;
    assert.equal(erro.xpath, '/DPS/Signature/SignedInfo/Reference/DigestValue');
    const before = altered.slice(0, altered.indexOf('<DigestValue>')).split('\n');
    assert.deepEqual([erro.linha, erro.coluna], [before.length, before.at(-1)!.length + 1]);
    assert.match(erro.doc_url, /\/docs\/erros\/E902$/);
    const right = sha256(canonicalElement(altered, 'infDPS'), 'base64');
    assert.equal(answer.resumo.calculado, right);
    assert.equal(answer.resumo.declarado, sha256(canonicalElement(SIGNED, 'infDPS'), 'base64'));
    assert.deepEqual([answer.resumo.confere, answer.valor.confere], [false, true]);
    assert.ok(answer.o_que_mudar[0].includes(right));
    assert.match(answer.o_que_mudar.at(-1), /assine de novo e por último/);
  });

  test('SignedInfo changed after it: the value', async () => {
    const answer = await report(SIGNED.replace('<SignedInfo>', '<SignedInfo Id="a">'));
    assert.deepEqual(codesOf(answer), ['E902']);
    assert.deepEqual([answer.resumo.confere, answer.valor.confere], [true, false]);
    assert.match(answer.o_que_mudar[0], /^SignedInfo /);
  });

  test('inclusive C14N: where, which is wanted, and what to write there', async () => {
    const key = readFileSync(provider.keyFile, 'utf8');
    const signer = new SignedXml({ privateKey: key, publicCert: provider.pem });
    signer.canonicalizationAlgorithm = INCLUSIVE;
    signer.signatureAlgorithm = RSA_SHA256;
    const xpath = "//*[local-name(.)='infDPS']";
    signer.addReference({ xpath, transforms: [ENVELOPED, INCLUSIVE], digestAlgorithm: SHA256 });
    signer.computeSignature(UNSIGNED, { location: { reference: xpath, action: 'after' } });
    const answer = await report(signer.getSignedXml());
    assert.deepEqual([...new Set(codesOf(answer))], ['E902']);
    const wrong = answer.algoritmos.filter(({ confere }: { confere: boolean }) => !confere);
    assert.deepEqual(
      wrong.map(({ onde }: { onde: string }) => onde.split('/').at(-1)),
      ['CanonicalizationMethod', 'Transforms'],
    );
    assert.deepEqual([wrong[0].encontrado, wrong[0].exigido], [INCLUSIVE, EXCLUSIVE]);
    assert.ok(answer.o_que_mudar[0].includes(`Em CanonicalizationMethod ponha Algorithm="${EXCLUSIVE}".`));
    assert.deepEqual([answer.resumo.confere, answer.valor.confere], [true, true], 'right by its own algorithms');
    assert.match(JSON.stringify(answer.erros), /C14N inclusiva 1\.0/);
  });

  test('the certificate of somebody else, revoked, or of an authority that nobody has', async () => {
    const other = await report(signedBy(stranger));
    assert.deepEqual(codesOf(other), ['E906']);
    assert.deepEqual(other.prestador, { documento: '11.222.333/****-**', confere: false });
    assert.match(other.o_que_mudar[0], /certificado do prestador/);

    const cpf = await report(signedBy(person));
    assert.deepEqual(codesOf(cpf), ['E906']);
    const { titular, documento, tipo, onde } = cpf.certificado;
    assert.deepEqual([titular, documento, tipo], ['JOANA DE TESTE', '***.444.777-**', 'CPF']);
    assert.equal(onde, 'SAN 2.16.76.1.3.1');

    const gone = await report(signedBy(revoked));
    assert.deepEqual(codesOf(gone), ['E904']);
    assert.equal(gone.certificado.revogado, true);
    assert.match(gone.certificado.motivo, /revogado/);

    const far = await report(signedBy(ofMiddle));
    assert.deepEqual(codesOf(far), ['E904']);
    assert.match(far.certificado.motivo, /Falta o certificado da autoridade "AC do Meio"/);
  });

  test('out of its validity, by the clock of the service', async () => {
    const today = clock.now;
    try {
      clock.now = today + 400 * 86_400_000;
      const answer = await report(SIGNED);
      assert.ok(codesOf(answer).includes('E903'));
      assert.equal(answer.certificado.valido_agora, false);
    } finally {
      clock.now = today;
    }
  });
});

describe('a document that is not signed, or not as it should be arranged', () => {
  test('gives the form that must be digested, as xmllint and xml-crypto write it', async (t) => {
    const answer = await report(UNSIGNED, {}, 'integracao');
    assert.deepEqual(codesOf(answer), ['E901']);
    assert.equal(answer.forma_canonica, canonicalElement(UNSIGNED, 'infDPS'));
    const right = sha256(answer.forma_canonica, 'base64');
    const { declarado, calculado, confere } = answer.resumo;
    assert.deepEqual({ declarado, calculado, confere }, { declarado: null, calculado: right, confere: null });
    assert.ok(answer.o_que_mudar[0].includes(right));
    assert.deepEqual(
      answer.algoritmos.map(({ encontrado, exigido }: { encontrado: null; exigido: string }) => [encontrado, exigido]),
      [EXCLUSIVE, RSA_SHA256, `${ENVELOPED} ${EXCLUSIVE}`, SHA256].map((one) => [null, one]),
    );
    assert.deepEqual([answer.certificado, answer.signed_info_canonico, answer.valor.confere], [null, null, null]);

    const xmllint = toolOr('xmllint', 'libxml2-utils');
    if (xmllint === undefined) return t.skip('no xmllint');
    const [element] = /<infDPS[\s\S]*<\/infDPS>/.exec(UNSIGNED)!;
    const [xmlns] = /xmlns="[^"]+"/.exec(UNSIGNED)!;
    const alone = fileOf('infdps.xml', element.replace('<infDPS', `<infDPS ${xmlns}`));
    // xmllint ends its output with a newline.
    assert.equal(execFileSync(xmllint, ['--exc-c14n', alone]).toString('utf8').trimEnd(), answer.forma_canonica);
  });

  test('and what was signed afterwards by that form holds', async () => {
    const { forma_canonica, resumo } = await report(UNSIGNED);
    assert.equal((await report(SIGNED)).forma_canonica, forma_canonica);
    assert.equal(/<DigestValue>([^<]+)</.exec(SIGNED)![1], resumo.calculado);
  });

  test('prefixes, CR LF, Latin-1 and UTF-16 have the same form', async () => {
    const { forma_canonica: form } = await report(UNSIGNED);
    const declared = (encoding: string): string => UNSIGNED.replace(/encoding="[^"]+"/, `encoding="${encoding}"`);
    for (const body of [
      UNSIGNED.replaceAll('\n', '\r\n'),
      Buffer.from(declared('ISO-8859-1'), 'latin1'),
      Buffer.from(`\uFEFF${declared('UTF-16')}`, 'utf16le'),
    ]) {
      assert.equal((await report(body)).forma_canonica, form);
    }
  });

  test('two signed elements have no form, and a document that is no DPS is told so', async () => {
    const [element] = /<infDPS[\s\S]*<\/infDPS>/.exec(SIGNED)!;
    const double = SIGNED.replace(element, element + element);
    const answer = await report(double);
    assert.deepEqual([...new Set(codesOf(answer))], ['E902']);
    for (const name of ['forma_canonica', 'forma_canonica_bytes', 'forma_canonica_sha256']) {
      assert.equal(answer[name], null, name);
    }
    const { declarado, calculado, confere } = answer.resumo;
    assert.deepEqual([declarado, calculado, confere], [/<DigestValue>([^<]+)</.exec(SIGNED)![1], null, null]);
    assert.match(answer.erros[0].mensagem, /: \/DPS\/infDPS\[1\] e \/DPS\/infDPS\[2\]\.$/);
    assert.equal(answer.erros[0].xpath, '/DPS/infDPS[2]');
    const second = double.slice(0, double.lastIndexOf('<infDPS')).split('\n');
    assert.deepEqual([answer.erros[0].linha, answer.erros[0].coluna], [second.length, second.at(-1)!.length + 1]);
    assert.deepEqual(answer.algoritmos, []);
    const remark = await report(SIGNED.replace('<infDPS', '<!-- x --><infDPS'));
    assert.match(remark.o_que_mudar[0], /comentário/);
    assert.equal(remark.forma_canonica, canonicalElement(SIGNED, 'infDPS'));
    const nothing = await report('<NFSe xmlns="http://www.sped.fazenda.gov.br/nfse"><infNFSe Id="x"/></NFSe>');
    assert.equal(nothing.valida, false);
    assert.match(nothing.o_que_mudar[0], /O documento é NFSe/);

    const text = await ask(double, { Accept: 'text/plain' });
    assert.deepEqual([text.status, text.body.codigo_erro, text.body.campo], [400, 'E003', 'Accept']);
  });

  test('beside a comment or an instruction all the rest is still read, and each thing that is wrong is told', async () => {
    const declared = /<DigestValue>([^<]+)</.exec(SIGNED)![1];
    // The canonical form leaves out comments but keeps processing instructions, which would change SignedInfo.
    const places = {
      '<!-- x -->': ['<infDPS', '<DigestValue>', '<X509Certificate>'],
      '<?x y?>': ['<infDPS', '<KeyInfo>'],
    };
    for (const [stray, befores] of Object.entries(places)) {
      for (const place of befores) {
        const answer = await report(SIGNED.replace(place, `${stray}${place}`));
        assert.deepEqual(codesOf(answer), ['E902'], place);
        const { declarado, confere } = answer.resumo;
        assert.deepEqual([declarado, confere, answer.valor.confere], [declared, true, true]);
        assert.equal(answer.certificado.titular, 'EMPRESA DE TESTE');
        assert.match(answer.o_que_mudar[0], /^Tire tod[oa] (comentário|instrução de processamento) do documento/);
      }
    }
    const altered = await report(
      signedBy(stranger).toString('utf8').replace('Maria Exemplo', 'Marta').replace('<infDPS', '<!-- x --><infDPS'),
    );
    assert.deepEqual(codesOf(altered), ['E902', 'E902', 'E906']);
    assert.equal(altered.resumo.confere, false);
  });

  test('a signature in a wrong place, and two of them: what they declare', async () => {
    const [signature] = /<Signature[\s\S]*<\/Signature>/.exec(SIGNED)!;
    const declared = /<DigestValue>([^<]+)</.exec(SIGNED)![1];
    const inside = await report(SIGNED.replace(signature, '').replace('</infDPS>', `${signature}</infDPS>`));
    assert.deepEqual([...new Set(codesOf(inside))], ['E902']);
    assert.deepEqual([inside.resumo.declarado, inside.resumo.confere], [declared, false]);
    assert.equal(inside.erros[0].xpath, '/DPS/infDPS/Signature');
    const other = signature.replace(declared!, sha256('x', 'base64'));
    const twice = await report(SIGNED.replace(signature, signature + other));
    assert.deepEqual([twice.resumo.declarado, twice.resumo.confere], [null, null]);
  });

  test('a signature before what it signs is moved, and made anew only where something else asks for it', async () => {
    const signature = /<Signature[\s\S]*<\/Signature>/.exec(SIGNED)![0];
    const before = SIGNED.replace(signature, '').replace('<infDPS', `${signature}<infDPS`);
    const moved = await report(before);
    assert.deepEqual([codesOf(moved), moved.resumo.confere, moved.valor.confere], [['E902'], true, true]);
    assert.deepEqual(moved.o_que_mudar, ['Ponha Signature no fim de DPS: a mudança de lugar não desfaz a assinatura.']);
    // The advice of the step is followed.
    assert.equal((await report(SIGNED)).valida, true);

    const altered = await report(before.replace('Maria', 'Marta'));
    assert.equal(altered.o_que_mudar.length, 3);
    assert.match(altered.o_que_mudar.at(-1), /assine de novo e por último/);
  });

  test('a thousand wrong places are not a thousand errors', async () => {
    const many = SIGNED.replace('<xDescServ>', `<xDescServ>${'<a Id="x"/>'.repeat(1_000)}`);
    assert.ok((await report(many)).erros.length <= 50);
  });

  test('what is no XML is refused as everywhere', async () => {
    const answer = await ask('<DPS>');
    assert.deepEqual([answer.status, answer.body.codigo_erro], [422, 'E201']);
    const json = await ask('{}');
    assert.deepEqual([json.status, json.body.codigo_erro], [400, 'E003']);
    const type = await ask(SIGNED, { 'Content-Type': 'text/html' });
    assert.deepEqual([type.status, type.body.codigo_erro], [400, 'E003']);
    for (const sent of ['text/plain', '']) {
      const { body } = await ask(SIGNED, { 'Content-Type': sent });
      assert.deepEqual([body.codigo_erro, body.campo], ['E003', 'Content-Type']);
      assert.match(body.mensagem, /application\/xml; ou .+ application\/json\. .*\/docs\/migrar/);
    }
    const reverse = await ask(SIGNED, { 'Content-Type': 'application/json' });
    assert.deepEqual([reverse.status, reverse.body.codigo_erro], [400, 'E003']);
    assert.match(reverse.body.mensagem, /anuncia JSON, mas o corpo é XML/);
    const issuing = { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: UNSIGNED };
    const xmlOnly = await request(address, '/recife/api/v1/nfse/v101', issuing);
    assert.match(xmlOnly.body.mensagem, /application\/xml; ou .+ application\/json\. .*\/docs\/migrar/);
  });
});

describe('the canonical form alone', () => {
  test('is the bytes that were digested, for who asks for text and names no JSON', async () => {
    const answer = await ask(SIGNED, { Accept: 'text/plain' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(answer.body, canonicalElement(SIGNED, 'infDPS'));
    for (const accept of ['*/*', 'application/json, text/plain, */*', 'application/json']) {
      assert.match((await ask(SIGNED, { Accept: accept })).headers.get('content-type')!, /^application\/json/, accept);
    }
  });
});

describe('a JSON body', () => {
  const BODY = '{"prestador_cpf_cnpj":"11.222.333/0001-81","descricao_servico":"Revisão"}';
  const JSON_TYPE = { 'Content-Type': 'application/json' };

  const made = new Map<string, string>();

  /** A detached signature in DER by openssl, which runs once for each signature. */
  function cms(body: Body, signer = provider, options: readonly string[] = []): string {
    const question = JSON.stringify([sha256(body, 'hex'), signer.file, options]);
    const cms = made.get(question) ?? signedByOpenssl(body, signer, options);
    made.set(question, cms);
    return cms;
  }

  function signedByOpenssl(body: Body, signer: Issued, options: readonly string[]): string {
    const by = ['-signer', signer.file, '-inkey', signer.keyFile];
    const file = fileOf('corpo', body);
    return openssl('cms', '-sign', '-binary', '-in', file, ...by, '-outform', 'DER', ...options).toString('base64');
  }
  const signed = (value: string): Record<string, string> => ({ ...JSON_TYPE, 'X-DPS-Assinatura': value });

  test('signed by openssl: attributes, digests and certificate', async () => {
    // OpenSSL writes whole seconds.
    const began = Date.now() - 1_000;
    const signature = signedByOpenssl(BODY, provider, []);
    const ended = Date.now();
    const answer = await report(BODY, signed(signature));
    assert.deepEqual([answer.valida, answer.assinatura, answer.erros], [true, 'CMS', []]);
    const digest = sha256(BODY, 'hex');
    assert.deepEqual(answer.resumo, {
      algoritmo: 'SHA-256',
      codificacao: 'hexadecimal',
      declarado: digest,
      calculado: digest,
      confere: true,
    });
    assert.deepEqual([answer.forma_canonica, answer.forma_canonica_sha256], [BODY, digest]);
    assert.equal(answer.forma_canonica_bytes, Buffer.byteLength(BODY));
    assert.equal(answer.signed_info_canonico, null);
    const attributes = new Map(
      answer.atributos_assinados.map(({ nome, valor }: Record<string, string>) => [nome, valor]),
    );
    assert.equal(attributes.get('messageDigest'), digest);
    assert.equal(attributes.get('contentType'), '1.2.840.113549.1.7.1');
    const signedAt = Date.parse(attributes.get('signingTime') as string);
    assert.ok(signedAt > began && signedAt <= ended, String(signedAt));
    assert.deepEqual(
      answer.algoritmos.map(({ encontrado, confere }: Record<string, unknown>) => [encontrado, confere]),
      [
        ['SHA-256', true],
        ['RSA PKCS#1 v1.5', true],
      ],
    );
    assert.deepEqual(answer.valor, { confere: true });
    assert.deepEqual(answer.prestador, { documento: '11.222.333/****-**', confere: true });
    assert.equal(answer.certificado.titular, 'EMPRESA DE TESTE');
  });

  test('another digest, and none declared', async () => {
    const sha512 = await report(BODY, signed(cms(BODY, provider, ['-md', 'sha512'])));
    assert.equal(sha512.valida, true);
    assert.equal(sha512.resumo.calculado, createHash('sha512').update(BODY).digest('hex'));
    const bare = await report(BODY, signed(cms(BODY, provider, ['-noattr'])));
    assert.equal(bare.valida, true);
    assert.deepEqual([bare.resumo.declarado, bare.resumo.confere, bare.atributos_assinados], [null, null, null]);
    const sha1 = await report(BODY, signed(cms(BODY, provider, ['-md', 'sha1'])));
    assert.deepEqual(codesOf(sha1), ['E9003']);
    assert.deepEqual([sha1.algoritmos[0].encontrado, sha1.algoritmos[0].confere], ['SHA-1', false]);
  });

  test('serialised again after it: both digests, and a value that is good over its attributes', async () => {
    const again = JSON.stringify(JSON.parse(BODY), null, 2);
    const answer = await report(again, signed(cms(BODY)));
    assert.deepEqual(codesOf(answer), ['E9003']);
    const { declarado, calculado, confere } = answer.resumo;
    assert.deepEqual([declarado, calculado, confere], [sha256(BODY, 'hex'), sha256(again, 'hex'), false]);
    assert.equal(answer.valor.confere, true);
  });

  test('without the header, with nonsense in it, of somebody else, expired', async () => {
    assert.deepEqual(codesOf(await report(BODY, JSON_TYPE)), ['E9002']);
    for (const nonsense of ['null', 'AAAA', 'MIIB', Buffer.alloc(400, 0x30).toString('base64')]) {
      const answer = await report(BODY, signed(nonsense));
      assert.deepEqual(codesOf(answer), ['E9003'], nonsense);
      assert.deepEqual([answer.certificado, answer.atributos_assinados], [null, null]);
      assert.ok(answer.algoritmos.every(({ encontrado }: { encontrado: unknown }) => encontrado === null));
    }
    assert.deepEqual(codesOf(await report(BODY, signed(cms(BODY, stranger)))), ['E9007']);
    assert.deepEqual(codesOf(await report(BODY, signed(cms(BODY, revoked)))), ['E9003']);
    const today = clock.now;
    try {
      clock.now = today + 400 * 86_400_000;
      assert.ok(codesOf(await report(BODY, signed(cms(BODY)))).includes('E9006'));
    } finally {
      clock.now = today;
    }
  });

  test('a chain that comes along is used', async () => {
    assert.deepEqual(codesOf(await report(BODY, signed(cms(BODY, ofMiddle)))), ['E9003']);
    const answer = await report(BODY, signed(cms(BODY, ofMiddle, ['-certfile', middle.file])));
    const { cadeia, revogado, sem_lista_de_revogados } = answer.certificado;
    assert.deepEqual(cadeia, ['EMPRESA LONGE', 'AC do Meio', 'AC Raiz de Teste']);
    // The authority in between has no revocation list.
    assert.deepEqual([revogado, sem_lista_de_revogados], [null, ['AC do Meio']]);
    assert.equal(answer.valida, true);
  });

  test('an event names nobody, and bytes that are no text have no form to show', async () => {
    const event = '{"motivo":"1"}';
    const answer = await report(event, { ...JSON_TYPE, 'X-Evento-Assinatura': cms(event) });
    assert.equal(answer.valida, true);
    assert.deepEqual(answer.prestador, { documento: null, confere: null });
    assert.match(answer.veredito, /não diz qual é/);
    const latin = Buffer.from(BODY, 'latin1');
    const strange = await report(latin, signed(cms(latin)));
    assert.deepEqual([strange.valida, strange.forma_canonica], [true, null]);
    assert.equal(strange.forma_canonica_sha256, sha256(latin, 'hex'));
  });
});

describe('nfse assinatura', () => {
  const TRUST = ['--ancoras', ancoras, '--revogados', revogados];
  const signedFile = fileOf('assinada.xml', SIGNED);

  /** A separate process, to test output and exit code; the many other cases run in this process. */
  const asProcess = (...args: readonly string[]): Promise<Said> => nfse(['assinatura', ...args], {});
  const run = (...args: readonly string[]): Promise<Said> => nfseHere(['assinatura', ...args]);

  test('says what holds with a mark, and ends with 0', async () => {
    const { code, out: text, err } = await run(signedFile, ...TRUST);
    assert.deepEqual([code, err], [0, '']);
    assert.doesNotMatch(text, /✗|undefined|null/);
    assert.match(text, /✓ resumo SHA-256/);
    assert.match(text, /✓ cadeia +EMPRESA DE TESTE ← AC Raiz de Teste/);
    assert.match(text, /✓ revogação +não consta das listas/);
    assert.match(text, /✓ prestador +11\.222\.333\/\*\*\*\*-\*\*/);
    assert.match(text, /A produção aceitaria esta assinatura\.\n$/);
    assert.ok(!text.includes(BRANCH));
  });

  test('says what does not hold and what to change, and ends with 1', async () => {
    const altered = fileOf('alterada.xml', SIGNED.replace('Maria', 'Marta'));
    const { code, out } = await asProcess(altered, ...TRUST);
    assert.equal(code, 1);
    assert.match(out, /\n {2}✗ resumo SHA-256 +declarado \S{44}\n +calculado \S{44}\n/);
    assert.match(out, /recusaria[\s\S]+O que foi achado:[\s\S]+E902[\s\S]+O que mudar:\n {2}1\. /);
  });

  test('says that revocation was not checked, and whose list is missing', async () => {
    const ofMuteFile = fileOf('muda.xml', signedBy(ofMute));
    for (const [file, args, whose] of [
      [ofMuteFile, ['--ancoras', ancorasMudas, '--revogados', listasMudas], 'AC Muda'],
      [ofMuteFile, ['--municipio', 'natal', '--url', address], 'AC Muda'],
      [signedFile, ['--ancoras', ancoras, '--revogados', listasMudas], 'AC Raiz de Teste'],
      [signedFile, ['--ancoras', ancoras], 'AC Raiz de Teste'],
    ] as const) {
      const { code, out } = await run(file, ...args);
      assert.equal(code, 0, out);
      assert.match(out, new RegExp(`– revogação +não verificada: falta uma lista de revogados, .+ de "${whose}"\\n`));
    }
  });

  test('--canonico writes the digested bytes and nothing else', async () => {
    const { code, out, err } = await asProcess(fileOf('sem.xml', UNSIGNED), '--canonico');
    assert.deepEqual([code, err], [0, '']);
    assert.equal(sha256(out, 'hex'), sha256(canonicalElement(UNSIGNED, 'infDPS'), 'hex'));
  });

  test('asks the service for a municipality', async () => {
    const { code, out } = await run(signedFile, '--municipio', 'recife', '--url', address);
    assert.equal(code, 0, out);
    assert.match(out, /aceitaria/);
    const nowhere = await run(signedFile, '--municipio', 'caruaru', '--url', address);
    assert.equal(nowhere.code, 1);
    assert.match(nowhere.err, /HTTP 404[\s\S]*E601/);
  });

  test('takes the header of a JSON body, in Base64 or DER', async () => {
    const body = fileOf('corpo.json', '{"prestador_cpf_cnpj":"11222333000181"}');
    const by = ['-signer', provider.file, '-inkey', provider.keyFile];
    const bytes = openssl('cms', '-sign', '-binary', '-in', body, ...by, '-outform', 'DER');
    const ends = await Promise.all([
      run(body, '--cms', fileOf('corpo.p7s', bytes), ...TRUST),
      run(
        body,
        '--cms',
        fileOf('corpo.b64', `${bytes.toString('base64')}\n`),
        '--municipio',
        'recife',
        '--url',
        address,
      ),
      run(body, ...TRUST),
    ]);
    assert.deepEqual(
      ends.map(({ code }) => code),
      [0, 0, 1],
    );
    for (const { out: text } of ends) {
      assert.match(text, /· bytes assinados +39,/);
      assert.doesNotMatch(text, /canônica/);
      const digests = [...text.matchAll(/[0-9a-f]{64}/g)].map(([digest]) => digest);
      assert.deepEqual(digests, [sha256(readFileSync(body), 'hex')], 'the digest is shown once');
    }
    assert.match(ends[0]!.out, /· signingTime +\d{4}-/);
    assert.match(ends[2]!.out, /: sem assinatura\n[\s\S]+E9002[\s\S]+indique com --cms/);
  });

  test('the columns are aligned, and no step repeats what was found', async () => {
    const altered = fileOf('comentada.xml', SIGNED.replace('<infDPS', '<!-- x --><infDPS').replace('Maria', 'Marta'));
    const ends = await Promise.all([run(altered), run(signedFile, ...TRUST), run(fileOf('sem.xml', UNSIGNED))]);
    for (const { out } of ends) {
      const [, table, ...rest] = out.split('\n\n');
      const starts = table!.split('\n').map((line) => /^ {2}(?:[✓✗–·] (?:\S+ )*| ) +(?=\S)/.exec(line)?.[0].length);
      assert.equal(new Set(starts).size, 1, table!);
      const sentences = [...rest.join('\n').matchAll(/[^.:;\n]{30,}[.;]/g)].map(([sentence]) => sentence);
      assert.deepEqual(sentences, [...new Set(sentences)]);
    }
    assert.match(ends[0]!.out, /✗ cadeia +AC Raiz de Teste: [\s\S]+indique com --ancoras/);
  });

  test('a folder of trust that is none ends with 2 and says so', async () => {
    const empty = freshFolder();
    const cases: readonly (readonly [args: readonly string[], says: RegExp])[] = [
      [['--ancoras', path.join(empty, 'nada')], /--ancoras: .+nada não existe/],
      [['--ancoras', signedFile], /--ancoras: .+não é uma pasta/],
      [['--ancoras', empty], /--ancoras: .+não tem uma autoridade certificadora/],
      [['--ancoras', revogados], /--ancoras: .+não tem uma autoridade certificadora/],
      [['--ancoras', ancoras, '--revogados', path.join(empty, 'nada')], /--revogados: .+nada não existe/],
    ];
    const ends = await Promise.all(cases.map(([args]) => run(signedFile, ...args)));
    for (const [place, { code, out, err }] of ends.entries()) {
      assert.deepEqual([code, out.length], [2, 0], err);
      assert.match(err, cases[place]![1]);
    }
  });

  test('what was asked wrongly ends with 2', async () => {
    const both = await run(signedFile, '--ancoras', ancoras, '--municipio', 'recife');
    const cms = await run(signedFile, '--cms', signedFile);
    assert.deepEqual([both.code, cms.code], [2, 2]);
  });
});

test('the questions together have a share of the processor, and no more', () => {
  let now = 0;
  const budget = openBudget(() => now, 0.1);
  assert.equal(budget.waitOf(), undefined);
  budget.spend(3_999);
  assert.equal(budget.waitOf(), undefined);
  budget.spend(501);
  assert.equal(budget.waitOf(), 5);
  now += 4_000;
  assert.equal(budget.waitOf(), 1);
  now += 1_001;
  assert.equal(budget.waitOf(), undefined);
  now += 86_400_000;
  budget.spend(4_100);
  assert.equal(budget.waitOf(), 1);
});

test('rehearsals that used up theirs leave production its own', async () => {
  const spent = 1_000_000;
  budgets.homologacao.spend(spent);
  try {
    const refused = await ask(SIGNED, {}, 'integracao');
    assert.deepEqual([refused.status, refused.body.erros[0].codigo], [503, 'E703']);
    assert.equal((await ask(SIGNED, {}, 'recife')).status, 200);
  } finally {
    budgets.homologacao.spend(-spent);
  }
  assert.equal((await ask(SIGNED, {}, 'integracao')).status, 200);
});

// The log is checked after all tests of this file have ended, in any order.
onEnd(() => {
  const text = JSON.stringify(logged);
  assert.ok(text.includes(PATH));
  for (const word of [BRANCH, '11222333000181', '11144477735', 'EMPRESA', 'JOANA', 'Maria']) {
    assert.ok(!text.includes(word), word);
  }
});
