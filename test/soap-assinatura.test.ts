/**
 * The legacy port in production: who signed and what is signed decide (D-70). Signed by xml-crypto, as a client would; RSA-SHA1
 * only where the municipality allows it by name.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { SignedXml } from 'xml-crypto';
import { companyCertificate, newKeys, pemOf, rootAuthority } from '../src/documents/pki.ts';
import { onEnd } from './support/cleanup.ts';
import { request } from './support/http.ts';
import {
  all,
  call,
  cancelamentoXml,
  consultaXml,
  first,
  loteXml,
  PRESTADOR,
  porRpsXml,
  sendLote,
} from './support/rps.ts';
import { NOON, startTestService, type TestService } from './support/service.ts';
import {
  companyOf,
  DSIG,
  ENVELOPED,
  EXCLUSIVE,
  INCLUSIVE,
  type Party,
  partyOf,
  RSA_SHA256,
  SHA256,
  yearAround,
} from './support/signatures.ts';

const TENANT = 'sao-paulo';
const folder = mkdtempSync(path.join(tmpdir(), 'nfse-porto-'));
onEnd(() => rmSync(folder, { recursive: true, force: true }));
const [rootKeys, keys, otherKeys] = await Promise.all([newKeys(), newKeys(), newKeys()]);
const root = rootAuthority('AC Raiz de Teste', rootKeys, yearAround(NOON));
const ancoras = path.join(folder, 'ancoras');
mkdirSync(ancoras);
writeFileSync(path.join(ancoras, 'raiz.pem'), pemOf('CERTIFICATE', root.certificate));
const party = (of: typeof keys, cnpj: string): Party =>
  partyOf(of, companyCertificate(root, companyOf(cnpj), of.publicKey, yearAround(NOON)));
const own = party(keys, PRESTADOR);
const other = party(otherKeys, '04105382000129');

const SHA256_PROFILE = {
  signatureAlgorithm: RSA_SHA256,
  canonicalizationAlgorithm: EXCLUSIVE,
  digestAlgorithm: SHA256,
} as const;
const SHA1_PROFILE = {
  signatureAlgorithm: `${DSIG}rsa-sha1`,
  canonicalizationAlgorithm: INCLUSIVE,
  digestAlgorithm: `${DSIG}sha1`,
} as const;

/** The document with an element of it signed, the signature beside it. `signed`: a path in local names, by its last step unique. */
function signed(
  xml: string,
  of: string,
  { keyPem, pem }: Party = own,
  profile: typeof SHA256_PROFILE | typeof SHA1_PROFILE = SHA256_PROFILE,
): string {
  const signature = new SignedXml({ privateKey: keyPem, publicCert: pem, ...profile });
  signature.addReference({
    xpath: of,
    transforms: [ENVELOPED, profile.canonicalizationAlgorithm],
    digestAlgorithm: profile.digestAlgorithm,
  });
  signature.computeSignature(xml, { location: { reference: of, action: 'after' } });
  return signature.getSignedXml();
}

const LOTE = `//*[local-name(.)='LoteRps']`;
const rpsNumbered = (numero: number): string => `//*[local-name(.)='InfRps' and @Id='rps${numero}']`;
const PEDIDO = `//*[local-name(.)='InfPedidoCancelamento']`;

describe('in production', () => {
  let service: TestService;
  let address: string;
  let turn = 0;
  const fresh = (count = 1): string => {
    turn += 1;
    const lote = String(turn);
    const list = Array.from({ length: count }, (_, place) => ({ numero: place + 1, serie: lote }));
    return loteXml(list, { numero: lote });
  };
  const codes = async (xml: string, operacao = 'RecepcionarLoteRps'): Promise<string[]> =>
    all((await call(address, operacao, xml, TENANT)).documento, 'Codigo');

  before(async () => {
    service = await startTestService();
    ({ address } = service);
    const confianca = { ancoras, revogados: undefined };
    const { store, clock, pool } = service;
    await store.createMunicipio({ tenant: TENANT, ambiente: 'producao', codigoIbge: '3550308', confianca }, clock.now);
    const insert = `insert into prestadores (tenant, documento, inscricao_municipal, razao_social, autorizado, logradouro, numero,
      bairro, cep, origem, criado_em)
      values ($1, $2, '', 'Empresa Exemplo Ltda', true, 'Rua', '1', 'Centro', '01001000', 'cadastro', now())`;
    await pool.query(insert, [TENANT, PRESTADOR]);
  });

  test('a lot is signed whole, or in each of its RPS', async () => {
    assert.deepEqual(await codes(fresh()), ['E1']);
    const whole = await sendLote(address, signed(fresh(2), LOTE), TENANT);
    assert.equal(whole.situacao, '4', whole.documento);
    const two = fresh(2);
    const each = await sendLote(address, signed(signed(two, rpsNumbered(1)), rpsNumbered(2)), TENANT);
    assert.equal(each.situacao, '4', each.documento);
    const both = fresh(1);
    const nested = await sendLote(address, signed(signed(both, rpsNumbered(1)), LOTE), TENANT);
    assert.equal(nested.situacao, '4', nested.documento);
    assert.deepEqual(await codes(signed(fresh(2), rpsNumbered(1))), ['E1']);
    const chave = /Id="NFS(\d{50})"/.exec(whole.documento)![1]!;
    const { body } = await request(address, `/${TENANT}/api/v1/nfse/${chave}`);
    assert.match(body.nota.xml_nota, /<tpAmb>1<\/tpAmb>/);
  });

  test('what was changed, moved or doubled after it was signed is refused', async () => {
    const lote = signed(fresh(), LOTE);
    assert.deepEqual(await codes(lote.replace('1000.00', '9000.00')), ['E1']);
    assert.deepEqual(await codes(lote.replace(/<DigestValue>./, '<DigestValue>_')), ['E1']);
    assert.deepEqual(await codes(lote.replace(/<SignatureValue>[\s\S]{4}/, '<SignatureValue>AAAA')), ['E1']);
    assert.deepEqual(await codes(lote.replace(/<X509Certificate>[\s\S]*<\/X509Certificate>/, '')), ['E1']);
    const element = /<LoteRps[\s\S]*<\/LoteRps>/.exec(lote)![0];
    assert.deepEqual(await codes(lote.replace(element, element + element)), ['E160']);
    // The signed one out of sight, and another in its place under the same Id.
    const wrapped = lote.replace(element, `${element.replace('1000.00', '9000.00')}<Outro>${element}</Outro>`);
    assert.deepEqual(await codes(wrapped), ['E1']);
    const renamed = lote.replace(
      element,
      `${element.replace('1000.00', '9000.00').replace('Id="lote', 'Id="falso')}<Outro>${element}</Outro>`,
    );
    assert.deepEqual(await codes(renamed), ['E1']);
    assert.deepEqual(await codes(signed(fresh(), LOTE, other)), ['E138']);
  });

  test('RSA-SHA1 is taken only where the municipality says so', async () => {
    const lote = signed(fresh(), LOTE, own, SHA1_PROFILE);
    assert.deepEqual(await codes(lote), ['E1']);
    const municipio = (await service.store.municipioBySlug(TENANT))!;
    await service.store.updateMunicipio({ ...municipio, soapSha1: true });
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    const done = await sendLote(address, lote, TENANT);
    assert.equal(done.situacao, '4', done.documento);
    assert.deepEqual(await codes(signed(fresh(), LOTE, own, SHA1_PROFILE).replace('1000.00', '9000.00')), ['E1']);
    const modern = await sendLote(address, signed(fresh(), LOTE), TENANT);
    assert.equal(modern.situacao, '4');
    await service.store.updateMunicipio({ ...municipio, soapSha1: false });
  });

  test('a cancellation is signed by the provider of the note', async () => {
    await sendLote(address, signed(fresh(), LOTE), TENANT);
    const { rows } = await service.pool.query('select max(numero_dps)::text as numero from notas where tenant = $1', [
      TENANT,
    ]);
    const { numero } = rows[0];
    assert.deepEqual(await codes(cancelamentoXml(numero), 'CancelarNfse'), ['E1']);
    assert.deepEqual(await codes(signed(cancelamentoXml(numero), PEDIDO, other), 'CancelarNfse'), ['E138']);
    const changed = signed(cancelamentoXml(numero), PEDIDO).replace(
      `<Numero>${numero}<`,
      `<Numero>${Number(numero) - 1}<`,
    );
    assert.deepEqual(await codes(changed, 'CancelarNfse'), ['E1']);
    const answer = await call(address, 'CancelarNfse', signed(cancelamentoXml(numero), PEDIDO), TENANT);
    assert.equal(first(answer.documento, 'Sucesso'), 'true', answer.documento);
  });

  test('what can be guessed is told to the provider alone', async () => {
    for (const [operacao, xml] of [
      ['ConsultarNfse', consultaXml('')],
      ['ConsultarNfsePorRps', porRpsXml(1)],
    ] as const) {
      const { documento } = await call(address, operacao, xml, TENANT);
      assert.deepEqual(all(documento, 'Codigo'), ['E138'], documento);
      assert.doesNotMatch(documento, /NFS\d{50}/);
    }
  });
});
