/**
 * Signatures through the public interface: in production, the signer and the signed content decide, and nothing else is accepted. The
 * sandbox says the same in remarks and refuses nothing (D-30).
 */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { SignedXml } from 'xml-crypto';
import { pemOf } from '../../src/documents/pki.ts';
import { CADASTRO_LIDO_MS } from '../../src/fiscal/ambiente.ts';
import { dpsIdOf } from '../../src/fiscal/chave.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { testAuthorities } from '../support/authorities.ts';
import { type Answer, emit, request } from '../support/http.ts';
import { addPrestador } from '../support/municipio.ts';
import { openssl } from '../support/openssl.ts';
import { NOON, startTestService } from '../support/service.ts';
import {
  ENCODINGS,
  ENVELOPED,
  EXCLUSIVE,
  type Party,
  PROVIDER_CNPJ,
  RSA_SHA256,
  SHA256,
  signedBy,
  transform,
} from '../support/signatures.ts';

const TENANT = 'sao-paulo';
const IBGE = '3550308';
const BRANCH_CNPJ = '11222333000262';
const OTHER_CNPJ = '11444777000161';
const CPF = '52998224725';
const OTHER_CPF = '11144477735';

const { folder, confianca, company, person, revoke, stranger, year, past, future } = await testAuthorities(NOON);
const own = company(PROVIDER_CNPJ);
const revoked = company(PROVIDER_CNPJ);
revoke(revoked);

const { address, store, pool, clock, logged } = await startTestService({ worker: false });
await store.municipios.create({ tenant: TENANT, ambiente: 'producao', codigoIbge: IBGE, confianca }, clock.now);
for (const documento of [PROVIDER_CNPJ, BRANCH_CNPJ, CPF]) await addPrestador(pool, TENANT, documento);

let last = 0;

/** An unused DPS of a provider, with the series and the number of its Id. */
function freshDps(patch: Patch = {}): string {
  last += 1;
  const documento = (patch['prest/CPF'] ?? patch['prest/CNPJ'] ?? PROVIDER_CNPJ) as string;
  const [serie, nDPS] = ['1', String(last)];
  const id = dpsIdOf({ cLocEmi: IBGE, documento, serie, nDPS });
  return exampleXml({ tpAmb: '1', ...patch, '@Id': id, serie, nDPS });
}

const BY_CPF: Patch = { 'prest/CNPJ': null, 'prest/CPF': CPF };

function send(body: string | Buffer): Promise<Answer> {
  const bytes = Buffer.from(body) as Uint8Array<ArrayBuffer>;
  const headers = { 'Content-Type': 'application/xml' };
  return request(address, `/${TENANT}/api/v1/nfse/v101`, { method: 'POST', headers, body: bytes });
}

const stored = async (): Promise<number> =>
  Number((await pool.query('select count(*) from notas where tenant = $1', [TENANT])).rows[0].count);

/** Refused with these codes, in the standard envelope; nothing is stored and no number is used. */
async function assertRefused(
  body: string | Buffer,
  codes: readonly string[],
  says: readonly RegExp[] = [],
): Promise<void> {
  const before = await stored();
  const answer = await send(body);
  const told = JSON.stringify(answer.body);
  assert.equal(answer.status, 422, told);
  const { erros, codigo_erro, mensagem, detalhes, timestamp } = answer.body;
  assert.deepEqual(
    erros.map(({ codigo }: { codigo: string }) => codigo),
    codes,
    told,
  );
  assert.equal(codigo_erro, codes[0]);
  assert.equal(mensagem, erros[0].mensagem);
  assert.ok(detalhes !== undefined && timestamp !== undefined);
  for (const erro of erros) assert.match(erro.doc_url, new RegExp(`/docs/erros/${erro.codigo}$`));
  for (const one of says) assert.match(told, one);
  assert.equal(await stored(), before, 'nothing is stored');
}

describe('in production', () => {
  test('a signed DPS is issued, and what came is kept to the byte', async () => {
    for (const [encoding, encode] of Object.entries(ENCODINGS)) {
      const bytes = encode(signedBy(freshDps({ 'serv/cServ/xDescServ': 'Ação & reação' }), own));
      const { status, body } = await send(bytes);
      assert.equal(status, 201, `${encoding}: ${JSON.stringify(body)}`);
      assert.equal(body.status, 'OK');
      const kept = 'select recebido from documentos where tenant = $1 order by nota desc limit 1';
      const { rows } = await pool.query(kept, [TENANT]);
      assert.deepEqual(Buffer.from(rows[0].recebido), bytes, encoding);
    }
  });

  test('a DPS whose rate nobody knows is refused, also where the national rules only remark', async () => {
    const withheld: Patch = { 'valores/trib/tribMun/tpRetISSQN': '2', 'valores/trib/tribMun/pAliq': null };
    const told = /não tem lista de serviços nem alíquota padrão\. Informe em pAliq a alíquota do município\./;
    await assertRefused(signedBy(freshDps(withheld), own), ['E0619'], [told]);
    await pool.query("update municipios set regras_nacionais = 'avisa' where tenant = $1", [TENANT]);
    clock.now += CADASTRO_LIDO_MS + 1;
    await assertRefused(signedBy(freshDps(withheld), own), ['E0619'], [told]);
    await pool.query('update municipios set regras_nacionais = null where tenant = $1', [TENANT]);
    clock.now += CADASTRO_LIDO_MS + 1;
  });

  test('by a library of somebody else', async () => {
    const signer = new SignedXml({
      privateKey: own.keyPem,
      publicCert: own.pem,
      signatureAlgorithm: RSA_SHA256,
      canonicalizationAlgorithm: EXCLUSIVE,
    });
    const xpath = "//*[local-name(.)='infDPS']";
    signer.addReference({ xpath, transforms: [ENVELOPED, EXCLUSIVE], digestAlgorithm: SHA256 });
    signer.computeSignature(freshDps(), { location: { reference: xpath, action: 'after' } });
    assert.equal((await send(signer.getSignedXml())).status, 201);
  });

  test('by the certificate of another branch, and of the head office', async () => {
    assert.equal((await send(signedBy(freshDps(), company(BRANCH_CNPJ)))).status, 201);
    assert.equal((await send(signedBy(freshDps({ 'prest/CNPJ': BRANCH_CNPJ }), own))).status, 201);
  });

  test('by a person', async () => {
    const { status, body } = await send(signedBy(freshDps(BY_CPF), person(CPF)));
    assert.equal(status, 201, JSON.stringify(body));
  });

  test('a certificate that is not good for it', async () => {
    await assertRefused(signedBy(freshDps(), company(OTHER_CNPJ)), ['E906'], [/11\.444\.777\/\*\*\*\*-\*\*/]);
    await assertRefused(signedBy(freshDps(BY_CPF), person(OTHER_CPF)), ['E906'], [/\*\*\*\.444\.777-\*\*/]);
    await assertRefused(signedBy(freshDps(BY_CPF), own), ['E906']);
    await assertRefused(signedBy(freshDps(), person(CPF)), ['E906']);
    await assertRefused(signedBy(freshDps(), company(PROVIDER_CNPJ, past)), ['E903'], [/venceu em/]);
    await assertRefused(signedBy(freshDps(), company(PROVIDER_CNPJ, future)), ['E903'], [/só vale a partir de/]);
    await assertRefused(signedBy(freshDps(), company(PROVIDER_CNPJ, year, stranger)), ['E904'], [/AC Raiz de Outros/]);
    await assertRefused(signedBy(freshDps(), revoked), ['E904'], [/foi revogado/]);
    await assertRefused(signedBy(freshDps(), company(OTHER_CNPJ, past)), ['E903', 'E906']);
    await assertRefused(signedBy(freshDps(), company(OTHER_CNPJ, past, stranger)), ['E903', 'E904', 'E906']);
  });

  test('a certificate is judged at the moment at which the DPS arrives', async () => {
    const xml = signedBy(freshDps(), own);
    clock.now = Math.ceil(year.fim / 1000) * 1000 + 1000;
    try {
      await assertRefused(xml, ['E903'], [/venceu em/]);
    } finally {
      clock.now = NOON;
    }
    assert.equal((await send(xml)).status, 201);
  });

  test('no signature, half of one, and one that does not hold', async () => {
    const xml = freshDps();
    const signed = signedBy(xml, own);
    await assertRefused(xml, ['E901'], [/O documento não está assinado/]);
    await assertRefused(signed.replace(/<KeyInfo>.*<\/KeyInfo>/, ''), ['E905'], [/ponha o certificado do assinante/]);
    await assertRefused(signed.replace(/(<X509Certificate>)MII/, '$1AAA'), ['E904'], [/X509Certificate/]);
    await assertRefused(signed.replace('1000.00', '1.00'), ['E902'], [/O resumo de infDPS não confere/]);
    await assertRefused(
      signed.replace('<DigestValue>', '<DigestValue> '),
      ['E902'],
      [/O valor da assinatura não confere/],
    );
    await assertRefused(signed.replace('1000.00', '10<!-- -->00.00'), ['E902'], [/comentário/, /"linha":\d+/]);
    await assertRefused(signed.replace('<DPS', '<!DOCTYPE DPS><DPS'), ['E201'], [/DOCTYPE/]);
    await assertRefused(signed.replace('1000.00', '&x;'), ['E201'], [/&x;/]);
    await assertRefused(
      signedBy(xml, own, { transforms: transform(EXCLUSIVE).repeat(2) }),
      ['E902'],
      [/As transformações/],
    );
    assert.equal((await send(signed)).status, 201, 'the number was not used up');
  });

  test('what is wrong is placed in the text that was sent', async () => {
    const signed = signedBy(freshDps(), own).replace('1000.00', '1.00').replace('<DigestValue>', '\n<DigestValue>');
    const { body } = await send(signed);
    const lines = signed.slice(0, signed.indexOf('<DigestValue>')).split('\n');
    const [erro] = body.erros;
    assert.equal(erro.xpath, '/DPS/Signature/SignedInfo/Reference/DigestValue');
    assert.deepEqual([erro.linha, erro.coluna], [lines.length, lines.at(-1)!.length + 1]);
    assert.match(erro.encontrado, /^\S{44}$/);
    assert.match(erro.esperado, /^\S{44}$/);
  });

  test('a signed element beside another one that would be issued', async () => {
    const signed = signedBy(freshDps(), own);
    const [original] = /<infDPS[\s\S]*<\/infDPS>/.exec(signed)!;
    const evil = original!.replace('1000.00', '1.00');
    for (const text of [
      signed.replace('<infDPS', `${evil}<infDPS`),
      signed.replace('</infDPS>', `</infDPS>${evil}`),
      signed.replace(original!, evil).replace('</Signature>', `<Object>${original}</Object></Signature>`),
      signed.replace(original!, evil.replace('</infDPS>', `${original}</infDPS>`)),
      signed.replace(original!, `<Extensions>${original}</Extensions>${evil}`),
    ]) {
      const before = await stored();
      const { status, body } = await send(text);
      assert.deepEqual([status, body.codigo_erro], [422, 'E902'], JSON.stringify(body));
      // Only structural faults may stand beside it: the second body, or an element in a forbidden place.
      assert.ok(
        body.erros.every(({ codigo }: { codigo: string }) => ['E902', 'E203', 'E0010'].includes(codigo)),
        JSON.stringify(body),
      );
      assert.equal(await stored(), before);
    }
  });

  test('a missing signature is told beside what the document alone has against it', async () => {
    const broken = freshDps({ 'serv/cServ/cTribNac': '999999' });
    await assertRefused(broken, ['E901', 'E002']);
    const { body } = await send(signedBy(broken, own));
    assert.doesNotMatch(body.codigo_erro, /^E90/);
  });

  test('a megabyte of Signatures is answered in few words', async () => {
    const signed = signedBy(freshDps(), own);
    const more = '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>'.repeat(18_000);
    const { status, body } = await send(signed.replace('</infDPS>', `</infDPS>${more}`));
    assert.equal(status, 422);
    assert.equal(body.codigo_erro, 'E902');
    assert.ok(JSON.stringify(body).length < 10_000);
  });
});

describe('in the sandbox', () => {
  const remarks = (answer: Answer): string[] => {
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.avisos
      .map(({ codigo }: { codigo: string }) => codigo)
      .filter((codigo: string) => /^E90/.test(codigo));
  };

  test('nobody has to sign', async () => {
    assert.deepEqual(remarks(await emit(address, freshDps())), []);
  });

  test('a signature that does not hold is issued, and the remarks say what production would', async () => {
    const signed = signedBy(freshDps(), own);
    const answer = await emit(address, signed.replace('1000.00', '1001.00'));
    // The sandbox does not know the authorities of this test: it trusts the national ones.
    assert.deepEqual(remarks(answer), ['E902', 'E904']);
    const [aviso] = answer.body.avisos;
    assert.match(aviso.mensagem, /^Em produção esta assinatura seria recusada\. O resumo de infDPS não confere/);
    assert.equal(aviso.xpath, '/DPS/Signature/SignedInfo/Reference/DigestValue');
    assert.match(aviso.doc_url, /\/docs\/erros\/E902$/);
    assert.match(answer.body.xml_nfse, /<vServ>1001\.00<\/vServ>/);
  });

  test('one that holds, by a stranger: that alone is said', async () => {
    assert.deepEqual(remarks(await emit(address, signedBy(freshDps(), own))), ['E904']);
    assert.deepEqual(remarks(await emit(address, signedBy(freshDps(), company(OTHER_CNPJ, past)))), [
      'E903',
      'E904',
      'E906',
    ]);
    const signed = signedBy(freshDps(), own);
    assert.deepEqual(remarks(await emit(address, signed.replace(/<KeyInfo>.*<\/KeyInfo>/, ''))), ['E905']);
  });

  test('a tenant of tests that has authorities of its own trusts those', async () => {
    await store.municipios.create(
      { tenant: 'ensaio', ambiente: 'homologacao', codigoIbge: IBGE, confianca },
      clock.now,
    );
    const sendTo = (body: string): Promise<Answer> =>
      request(address, '/ensaio/api/v1/nfse/v101', {
        method: 'POST',
        headers: { 'Content-Type': 'application/xml' },
        body,
      });
    assert.deepEqual(remarks(await sendTo(signedBy(freshDps(), own))), []);
    assert.deepEqual(remarks(await sendTo(signedBy(freshDps(), revoked))), ['E904']);
  });
});

test('no certificate, no document of anybody is logged', () => {
  const log = JSON.stringify(logged);
  for (const secret of [PROVIDER_CNPJ, OTHER_CNPJ, CPF, OTHER_CPF, own.base64.slice(0, 40)]) {
    assert.ok(!log.includes(secret), secret);
  }
});

describe('a JSON body in production', () => {
  const bodyOf = (documento = PROVIDER_CNPJ): string => {
    last += 1;
    return JSON.stringify(
      {
        tipo_ambiente: '1',
        municipio_emissor: IBGE,
        serie_dps: '1',
        numero_dps: String(last),
        data_competencia: '2026-10-05',
        prestador_cpf_cnpj: documento,
        prestador_opcao_simples_nacional: '1',
        municipio_prestacao: IBGE,
        tomador_cpf_cnpj: CPF,
        tomador_razao_social: 'Maria Exemplo',
        tomador_endereco: {
          codigo_municipio: IBGE,
          cep: '01001000',
          logradouro: 'Praça da Sé',
          numero: '1',
          bairro: 'Sé',
        },
        codigo_tributacao_nacional: '010101',
        codigo_nbs: '115021000',
        descricao_servico: 'Desenvolvimento de sistema de gestão',
        valor_servico: 1000.1,
        tributacao_issqn: '1',
        aliquota_issqn: '2.00',
        ibscbs: { CST: '000', cClassTrib: '000001' },
      },
      null,
      2,
    );
  };

  /** The output of `openssl cms` for the bytes, in Base64: detached, with the certificate inside. */
  const signedByOpenssl = (body: string, party: Party): string => {
    const file = (name: string, content: string): string => {
      const place = path.join(folder, name);
      writeFileSync(place, content);
      return place;
    };
    const certificate = file('json.pem', pemOf('CERTIFICATE', party.der));
    const key = file('json.key', party.keyPem);
    const content = file('corpo.json', body);
    const args = ['cms', '-sign', '-binary', '-in', content, '-signer', certificate, '-inkey', key, '-md', 'sha256'];
    return openssl(...args, '-outform', 'DER').toString('base64');
  };

  const sendJson = (body: string, assinatura?: string, where = ''): Promise<Answer> =>
    request(address, `/${TENANT}/api/v1/nfse/v101${where}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(assinatura === undefined ? {} : { 'X-DPS-Assinatura': assinatura }),
      },
      body,
    });

  const refused = async (body: string, assinatura: string | undefined, codes: readonly string[]): Promise<void> => {
    const before = await stored();
    const { status, body: told } = await sendJson(body, assinatura);
    assert.equal(status, 401, JSON.stringify(told));
    assert.deepEqual(
      told.erros.map(({ codigo }: { codigo: string }) => codigo),
      codes,
    );
    assert.equal(await stored(), before, 'nothing is stored');
  };

  test('signed by its provider is issued; the body and its signature are kept to the byte', async () => {
    const body = bodyOf();
    const assinatura = signedByOpenssl(body, own);
    const { status, body: told } = await sendJson(body, assinatura);
    assert.equal(status, 201, JSON.stringify(told));
    assert.match(told.xml_nfse, /<cLocEmi>3550308<\/cLocEmi>/);
    const kept = 'select recebido, recebido_assinatura from documentos where tenant = $1 order by nota desc limit 1';
    const { rows } = await pool.query(kept, [TENANT]);
    assert.equal(rows[0].recebido.toString('utf8'), body);
    assert.equal(rows[0].recebido_assinatura, assinatura);
  });

  test('E9002 without the header, E9003 over other bytes', async () => {
    const body = bodyOf();
    await refused(body, undefined, ['E9002']);
    await refused(JSON.stringify(JSON.parse(body)), signedByOpenssl(body, own), ['E9003']);
    await refused(body.replace('1000.1', '1000.2'), signedByOpenssl(body, own), ['E9003']);
  });

  test('E9006 expired, E9007 of somebody else, E9003 of an authority that nobody trusts; a branch signs for the other', async () => {
    const body = bodyOf();
    await refused(body, signedByOpenssl(body, company(PROVIDER_CNPJ, past)), ['E9006']);
    await refused(body, signedByOpenssl(body, company(OTHER_CNPJ)), ['E9007']);
    await refused(body, signedByOpenssl(body, company(PROVIDER_CNPJ, year, stranger)), ['E9003']);
    const branch = await sendJson(body, signedByOpenssl(body, company(BRANCH_CNPJ)));
    assert.equal(branch.status, 201, JSON.stringify(branch.body));
  });

  test('the dry run tells the missing signature among the others', async () => {
    const body = bodyOf().replace('"010101"', '"999999"');
    const { status, body: told } = await sendJson(body, undefined, '/validacao');
    assert.deepEqual(
      told.erros.map(({ codigo }: { codigo: string }) => codigo),
      ['E9002', 'E002'],
    );
    assert.equal(status, 401);
  });
});
