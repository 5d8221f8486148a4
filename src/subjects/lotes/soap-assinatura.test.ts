/**
 * The legacy port in production: the signer and the signed part decide (D-70), and guessable queries need the certificate of the
 * connection. Client libraries (xml-crypto) sign here; RSA-SHA1 is valid only when the municipality allows it by name.
 */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { BlockList } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { SignedXml } from 'xml-crypto';
import { inSpeedGov } from '../../../test/support/abrasf-xsd.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { storeCorrelacao } from '../../../test/support/correlacao.ts';
import { request } from '../../../test/support/http.ts';
import { readyKeys } from '../../../test/support/keys.ts';
import { addPrestador } from '../../../test/support/municipio.ts';
import {
  ABRASF,
  all,
  call,
  cancelamentoXml,
  consultaXml,
  envelope,
  first,
  IBSCBS,
  loteXml,
  PRESTADOR,
  porRpsXml,
  type RpsDeTeste,
  sendLote,
} from '../../../test/support/rps.ts';
import { NOON, startTestService, type TestService } from '../../../test/support/service.ts';
import {
  companyOf,
  DECADES,
  DSIG,
  ENVELOPED,
  EXCLUSIVE,
  INCLUSIVE,
  type Party,
  partyOf,
  RSA_SHA256,
  SHA256,
  yearAround,
} from '../../../test/support/signatures.ts';
import { companyCertificate, pemOf, rootAuthority, serverCertificate } from '../../documents/pki.ts';
import { createRestDoor } from '../../doors/rest/door.ts';

const TENANT = 'sao-paulo';
/** Another municipality, which allows more. */
const PERMISSIVE = 'campinas';
const folder = mkdtempSync(path.join(tmpdir(), 'nfse-porto-'));
onEnd(() => rmSync(folder, { recursive: true, force: true }));
const [rootKeys, keys, otherKeys, serverKeys] = await Promise.all([readyKeys(), readyKeys(), readyKeys(), readyKeys()]);
const root = rootAuthority('AC Raiz de Teste', rootKeys, DECADES);
const ancoras = path.join(folder, 'ancoras');
mkdirSync(ancoras);
writeFileSync(path.join(ancoras, 'raiz.pem'), pemOf('CERTIFICATE', root.certificate));
const party = (of: typeof keys, cnpj: string): Party =>
  partyOf(of, companyCertificate(root, companyOf(cnpj), of.publicKey, yearAround(NOON)));
const OTHER = '11444777000161';
const own = party(keys, PRESTADOR);
const other = party(otherKeys, OTHER);

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

/** The document with a signed element, and the signature beside it. `signed`: a path of local names, whose last step is unique. */
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
  const codes = async (xml: string, operacao = 'RecepcionarLoteRps', tenant = TENANT): Promise<string[]> =>
    all((await call(address, operacao, xml, tenant)).documento, 'Codigo');

  before(async () => {
    service = await startTestService();
    ({ address } = service);
    const confianca = { ancoras, revogados: undefined };
    const { store, clock, pool } = service;
    const settings = { ambiente: 'producao', confianca } as const;
    const permissive = { ...settings, codigoIbge: '3509502', soapSha1: true, consultaDps: 'publica' } as const;
    await store.municipios.create({ tenant: TENANT, ...settings, codigoIbge: '3550308' }, clock.now);
    await store.municipios.create({ tenant: PERMISSIVE, ...permissive }, clock.now);
    for (const tenant of [TENANT, PERMISSIVE]) await addPrestador(pool, tenant, PRESTADOR);
    await storeCorrelacao(store, TENANT, [
      {
        item: '16.01',
        codigo_municipal: '',

        codigo_tributacao_nacional: undefined,
        nbs: undefined,
        n_bm: '35503080100001',
      },
    ]);
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
    // The signed lot is hidden, and another takes its place: under the same Id, and under another.
    for (const id of ['lote', 'falso']) {
      const shown = element.replace('1000.00', '9000.00').replace('Id="lote', `Id="${id}`);
      assert.deepEqual(await codes(lote.replace(element, `${shown}<Outro>${element}</Outro>`)), ['E160']);
      const inside = lote.replace(element, shown).replace('</Signature>', `<Object>${element}</Object></Signature>`);
      assert.deepEqual(await codes(inside), ['E1']);
    }
    assert.deepEqual(await codes(signed(fresh(), LOTE, other)), ['E138']);
  });

  test('RSA-SHA1 is taken only where the municipality says so', async () => {
    const lote = signed(fresh(), LOTE, own, SHA1_PROFILE);
    assert.deepEqual(await codes(lote), ['E1']);
    const done = await sendLote(address, lote, PERMISSIVE);
    assert.equal(done.situacao, '4', done.documento);
    const changed = signed(fresh(), LOTE, own, SHA1_PROFILE).replace('1000.00', '9000.00');
    assert.deepEqual(await codes(changed, 'RecepcionarLoteRps', PERMISSIVE), ['E1']);
    const modern = await sendLote(address, signed(fresh(), LOTE), PERMISSIVE);
    assert.equal(modern.situacao, '4');
  });

  test('a lot without Id is signed as a whole, where the municipality takes the old profile', async () => {
    const whole = (xml: string, by: Party = own): string => {
      const signature = new SignedXml({ privateKey: by.keyPem, publicCert: by.pem, ...SHA1_PROFILE });
      signature.addReference({
        xpath: '/*',
        isEmptyUri: true,
        transforms: [ENVELOPED, INCLUSIVE],
        digestAlgorithm: SHA1_PROFILE.digestAlgorithm,
      });
      signature.computeSignature(xml, { location: { reference: LOTE, action: 'after' } });
      return signature.getSignedXml();
    };
    const bare = (): string => fresh().replace(/<LoteRps Id="[^"]*">/, '<LoteRps Id="">');
    const lote = whole(bare());
    assert.match(lote, /<Reference URI="">/);
    const done = await sendLote(address, lote, PERMISSIVE);
    assert.equal(done.situacao, '4', done.documento);
    const to = (xml: string) => codes(xml, 'RecepcionarLoteRps', PERMISSIVE);
    assert.deepEqual(await to(whole(bare()).replace('1000.00', '9000.00')), ['E1']);
    assert.deepEqual(await to(whole(bare(), other)), ['E138']);
    const refused = await call(address, 'RecepcionarLoteRps', lote, TENANT);
    assert.equal(first(refused.documento, 'Codigo'), 'E1');
    assert.match(refused.documento, /Dê-lhe um Id e assine de novo/);
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
    // The signature is checked in ABRASF's one namespace and in SpeedGov's; the returned request is the signed one.
    await sendLote(address, signed(fresh(), LOTE), TENANT);
    for (const question of [cancelamentoXml(numero), inSpeedGov(cancelamentoXml(String(Number(numero) + 1)))]) {
      const { documento } = await call(address, 'CancelarNfse', signed(question, PEDIDO), TENANT);
      assert.equal(first(documento, 'Sucesso'), 'true', documento);
      const [signature] = /<(\w+:)?Signature [\s\S]*<\/(\w+:)?Signature>/.exec(documento)!;
      const check = (text: string): boolean => {
        const one = new SignedXml({ publicCert: own.pem });
        one.loadSignature(signature);
        return one.checkSignature(text);
      };
      assert.ok(check(documento), documento);
      assert.equal(check(documento.replace(/<((?:p1:)?Cnpj)>1/, '<$1>2')), false);
    }
  });

  test('of the RPS of a lot the one that is not signed, or not rightly, is named', async () => {
    const three = fresh(3);
    const missing = signed(signed(three, rpsNumbered(1)), rpsNumbered(3));
    const told = async (xml: string): Promise<string> =>
      first((await call(address, 'RecepcionarLoteRps', xml, TENANT)).documento, 'Mensagem')!;
    assert.match(await told(missing), /^RPS 2, série \d+, tipo 1: /);
    const all = signed(missing, rpsNumbered(2));
    assert.match(await told(all.replace(/(Id="rps3">.*?)1000\.00/s, '$19000.00')), /^RPS 3, série \d+, tipo 1: /);
    // The message about an entirely unsigned lot names no RPS.
    assert.doesNotMatch(await told(three), /^RPS/);
  });

  test('a registration that is not the provider’s is refused wherever it stands; the one of a lot names the establishment', async () => {
    await addPrestador(service.pool, TENANT, OTHER, { im: '1.001', nome: 'Matriz na Sé' });
    await addPrestador(service.pool, TENANT, OTHER, { im: '2002', nome: 'Filial na Lapa' });
    turn += 1;
    const lote = (im: string): string =>
      signed(
        loteXml([{ numero: 1, serie: String(turn) }], { numero: String(turn), cnpj: OTHER }).replace(
          '>123</InscricaoMunicipal>',
          `>${im}</InscricaoMunicipal>`,
        ),
        LOTE,
        other,
      );
    assert.deepEqual(await codes(lote('9999')), ['E142']);
    const done = await sendLote(address, lote('02002'), TENANT, { cnpj: OTHER });
    assert.equal(done.situacao, '4', done.documento);
    assert.match(done.documento, /<InscricaoMunicipal>2002<.*Filial na Lapa/s);
    const numero = first(done.documento, 'Numero')!;
    const cancel = (im: string, cMun: string, cnpj = OTHER): string =>
      signed(
        cancelamentoXml(numero, '1', cnpj, cMun).replace(
          '<CodigoMunicipio>',
          `<InscricaoMunicipal>${im}</InscricaoMunicipal><CodigoMunicipio>`,
        ),
        PEDIDO,
        other,
      );
    assert.deepEqual(await codes(cancel('9999', '3550308'), 'CancelarNfse'), ['E142']);
    // An existing code, but of another municipality.
    assert.deepEqual(await codes(cancel('1001', '3304557'), 'CancelarNfse'), ['E42']);
    assert.deepEqual(await codes(cancel('1001', '3550308'), 'CancelarNfse'), []);
  });

  describe('what can be guessed is told to the provider alone', () => {
    const serverPem = pemOf(
      'CERTIFICATE',
      serverCertificate(root, { dns: ['localhost'], ips: ['127.0.0.1'] }, serverKeys.publicKey, DECADES),
    );
    const serverKey = serverKeys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    let secure: string;
    let proxied: string;

    before(async () => {
      const options = { host: '127.0.0.1', port: 0, trustProxy: false, accessLog: false } as const;
      const proxies = new BlockList();
      proxies.addSubnet('127.0.0.1', 32);
      const doors = await Promise.all([
        createRestDoor(service.world, { ...options, tls: { cert: serverPem, key: serverKey } }),
        createRestDoor(service.world, { ...options, certificateHeader: { name: 'x-client-cert', proxies } }),
      ]);
      for (const door of doors) onEnd(() => door.close());
      [secure, proxied] = doors.map((door) => door.address) as [string, string];
    });

    type Shown = { readonly client?: Party; readonly header?: string };

    /** Asks over a new connection, with or without a client certificate. */
    async function ask(where: string, operacao: string, xml: string, { client, header }: Shown): Promise<string> {
      const body = envelope(
        `<n:${operacao} xmlns:n="${ABRASF}"><parameters><![CDATA[${xml}]]></parameters></n:${operacao}>`,
      );
      const headers = { 'Content-Type': 'text/xml', ...(header === undefined ? {} : { 'X-Client-Cert': header }) };
      if (where.startsWith('http:')) {
        return (await fetch(`${where}/${TENANT}/soap/nfes`, { method: 'POST', headers, body })).text();
      }
      const shown = client === undefined ? {} : { cert: client.pem, key: client.keyPem };
      const agent = new Agent({ ca: pemOf('CERTIFICATE', root.certificate), ...shown });
      try {
        return await new Promise((resolve, reject) => {
          const options = { method: 'POST', agent, headers };
          const sent = httpsRequest(`${where}/${TENANT}/soap/nfes`, options, (response) => {
            let text = '';
            response.setEncoding('utf8').on('data', (chunk) => {
              text += chunk;
            });
            response.on('end', () => resolve(text));
          });
          sent.on('error', reject).end(body);
        });
      } finally {
        agent.destroy();
      }
    }

    test('by the certificate of the connection, and whoever else asks learns nothing', async () => {
      const { documento } = await sendLote(address, signed(fresh(), LOTE), TENANT);
      const chave = /Id="NFS(\d{50})"/.exec(documento)![1]!;
      const serie = first(documento, 'Serie')!;
      const branch = party(otherKeys, '11222333000262');
      const untrusted = partyOf(
        otherKeys,
        companyCertificate(
          rootAuthority('AC Alheia', otherKeys, DECADES),
          companyOf(PRESTADOR),
          otherKeys.publicKey,
          DECADES,
        ),
      );
      for (const [operacao, xml] of [
        ['ConsultarNfse', consultaXml(`<NumeroNfse>${Number(chave.slice(23, 36))}</NumeroNfse>`)],
        ['ConsultarNfsePorRps', porRpsXml(1, serie)],
      ] as const) {
        // The head office and its branches are one company, as everywhere (D-31).
        for (const client of [own, branch]) {
          assert.match(await ask(secure, operacao, xml, { client }), new RegExp(`Id="NFS${chave}"`));
        }
        assert.match(await ask(proxied, operacao, xml, { header: encodeURIComponent(own.pem) }), new RegExp(chave));
        for (const [where, shown, why] of [
          [secure, {}, /Nenhum certificado veio com a conexão/],
          [secure, { client: other }, /não é o do prestador/],
          [secure, { client: untrusted }, /AC Alheia/],
          [proxied, {}, /Nenhum certificado veio com a conexão/],
          [proxied, { header: encodeURIComponent(other.pem) }, /não é o do prestador/],
          // The header counts only from the proxy: anybody else could write it.
          [address, { header: encodeURIComponent(own.pem) }, /não recebe certificados de cliente/],
          [secure, { header: encodeURIComponent(own.pem) }, /Nenhum certificado veio com a conexão/],
        ] as const) {
          const answer = await ask(where, operacao, xml, shown);
          assert.match(answer, /&lt;Codigo&gt;E(?:138|1)&lt;/, answer);
          assert.match(answer, why);
          assert.doesNotMatch(answer, /NFS\d{50}/);
        }
      }
      // The answer does not distinguish a missing note from another provider's.
      const others = await ask(secure, 'ConsultarNfsePorRps', porRpsXml(1, serie, '1', '04105382000129'), {
        client: own,
      });
      assert.match(others, /E138/);
      const unknown = await ask(secure, 'ConsultarNfsePorRps', porRpsXml(999), { client: own });
      assert.match(unknown, /&lt;Codigo&gt;E4&lt;/);
    });

    test('unless the municipality opens the questions to everybody', async () => {
      const done = await sendLote(address, signed(fresh(), LOTE), PERMISSIVE);
      const chave = /Id="NFS(\d{50})"/.exec(done.documento)![1]!;
      const { documento } = await call(address, 'ConsultarNfsePorRps', porRpsXml(1, String(turn)), PERMISSIVE);
      assert.match(documento, new RegExp(chave));
    });
  });

  describe('an RPS', () => {
    const send = (rps: Omit<RpsDeTeste, 'numero'>) => {
      turn += 1;
      const one = { extensao: '', emissao: '2026-09-20T10:00:00', ...rps, numero: 1, serie: String(turn) };
      return sendLote(address, signed(loteXml([one], { numero: String(turn) }), LOTE), TENANT);
    };
    const told = async (rps: Omit<RpsDeTeste, 'numero'>): Promise<[string | undefined, string[]]> => {
      const { situacao, documento } = await send(rps);
      return [
        situacao,
        all(documento, 'MensagemRetorno').map((one) => `${first(one, 'Codigo')} ${first(one, 'Mensagem')}`),
      ];
    };
    const transport = { item: '16.01', natureza: '3', extensao: '<DadosDPS><CTribNac>160101</CTribNac></DadosDPS>' };

    test('that is exempt is issued where the law lets a service be exempt, with a base of nothing', async () => {
      const done = await send(transport);
      assert.equal(done.situacao, '4', done.documento);
      assert.deepEqual(
        ['NaturezaOperacao', 'BaseCalculo', 'ValorIss', 'ValorLiquidoNfse'].map((name) => first(done.documento, name)),
        ['3', '0.00', '0.00', '1000.00'],
      );
      const chave = /Id="NFS(\d{50})"/.exec(done.documento)![1]!;
      const { body } = await request(address, `/${TENANT}/api/v1/nfse/${chave}`);
      assert.match(body.nota.xml_nota, /<BM><nBM>35503080100001<\/nBM><pRedBCBM>100.00<\/pRedBCBM><\/BM>/);
    });

    test('that is exempt is refused where it must not, or cannot, be so, with what to do instead', async () => {
      const withheld = '<ValorServicos>1000.00</ValorServicos><IssRetido>1</IssRetido><Aliquota>0.02</Aliquota>';
      for (const [rps, wanted] of [
        [{ natureza: '3' }, [/^E144 .*LC 116.*natureza 1, ou 4/]],
        [{ ...transport, simples: '1' }, [/^E144 .*Simples Nacional/]],
        [{ ...transport, regime: '3' }, [/^E144 .*regime especial/]],
        [{ ...transport, valores: withheld }, [/^E37 /]],
      ] as const) {
        const [situacao, messages] = await told(rps);
        assert.equal(situacao, '3');
        assert.equal(messages.length, wanted.length, messages.join('\n'));
        for (const [place, pattern] of wanted.entries()) assert.match(messages[place]!, pattern);
      }
    });

    test('that declares and signs other amounts, or another place of the tax, than its note would have is refused with both', async () => {
      const valores = (more: string, retido = '2') =>
        `<ValorServicos>1000.00</ValorServicos><IssRetido>${retido}</IssRetido><Aliquota>0.05</Aliquota>${more}`;
      for (const [rps, ...wanted] of [
        [{ valores: valores('<ValorIss>25.00</ValorIss>') }, /^E153 .*ValorIss é 25\.00, e o ISS calculado é 50\.00\./],
        [{ valores: valores('<BaseCalculo>900.00</BaseCalculo>') }, /^E100 .*BaseCalculo é 900\.00, .* é 1000\.00\./],
        [
          { valores: valores('<ValorIssRetido>20.00</ValorIssRetido>', '1') },
          /^E153 .* é 20\.00, .* retido é 50\.00\./,
        ],
        [
          { valores: valores('<ValorIssRetido>50.00</ValorIssRetido><ValorLiquidoNfse>950.00</ValorLiquidoNfse>') },
          /^E153 .*ValorIssRetido traz um valor, e IssRetido 2/,
          /^E100 .*ValorLiquidoNfse é 950\.00, e o líquido calculado é 1000\.00\./,
        ],
        [
          { natureza: '2', cMun: '3304557' },
          /^E144 .*no estabelecimento do prestador, em 3550308 \(São Paulo\/SP\), e NaturezaOperacao é 2/,
        ],
      ] as const) {
        const [situacao, messages] = await told(rps);
        assert.equal(situacao, '3', JSON.stringify(rps));
        assert.equal(messages.length, wanted.length, messages.join('\n'));
        for (const [place, pattern] of wanted.entries()) assert.match(messages[place]!, pattern);
      }
      const right =
        '<ValorIss>50.00</ValorIss><BaseCalculo>1000.00</BaseCalculo><ValorLiquidoNfse>1000.01</ValorLiquidoNfse>';
      const done = await send({ valores: valores(right) });
      assert.equal(done.situacao, '4', done.documento);
    });

    test('whose date has an offset is of its day in the municipality, and answered so', async () => {
      const done = await send({ emissao: '2026-11-01T01:30:00Z', extensao: IBSCBS });
      assert.equal(done.situacao, '4', done.documento);
      assert.deepEqual(
        ['Competencia', 'DataEmissaoRps'].map((name) => first(done.documento, name)),
        ['2026-10-31T00:00:00', '2026-10-31'],
      );
      const chave = /Id="NFS(\d{50})"/.exec(done.documento)![1]!;
      const { body } = await request(address, `/${TENANT}/api/v1/nfse/${chave}`);
      assert.match(body.nota.xml_nota, /<dCompet>2026-10-31<\/dCompet>/);
      assert.equal(body.nota.data_competencia, '31/10/2026');
    });

    test('of a taker or a provision abroad is refused, for the model has no country', async () => {
      const abroad = (uf: string, cMun: string, cpf = ''): string =>
        `<Tomador>${cpf}<RazaoSocial>Acme Inc</RazaoSocial><Endereco><Endereco>Main Street</Endereco><Numero>1</Numero><Bairro>Center</Bairro><CodigoMunicipio>${cMun}</CodigoMunicipio><Uf>${uf}</Uf></Endereco></Tomador>`;
      const cpf = '<IdentificacaoTomador><CpfCnpj><Cpf>52998224725</Cpf></CpfCnpj></IdentificacaoTomador>';
      for (const [rps, codigo] of [
        [{ tomador: abroad('EX', '9999999') }, 'E60'],
        [{ tomador: abroad('EX', '99999') }, 'E60'],
        [{ tomador: abroad('SP', '9999999', cpf) }, 'E60'],
        [{ cMun: '9999999' }, 'E42'],
      ] as const) {
        const [situacao, messages] = await told(rps);
        assert.equal(situacao, '3');
        assert.deepEqual(
          messages.map((one) => one.split(' ', 1)[0]),
          [codigo],
          messages.join('\n'),
        );
      }
    });
  });
});
