/**
 * The cost of a lot whose every RPS is signed, counted and not timed. Elements cost about as much as text, and a lot of a stranger causes
 * no digest.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { type Count, counted } from '../../../test/support/counted.ts';
import { dearSoap } from '../../../test/support/dear-requests.ts';
import { readyKeys } from '../../../test/support/keys.ts';
import { ABRASF, envelope, escaped, PRESTADOR, post } from '../../../test/support/rps.ts';
import { NOON, startTestService, type TestService } from '../../../test/support/service.ts';
import { companyOf, DECADES, type Party, partyOf, yearAround } from '../../../test/support/signatures.ts';
import { signedLot } from '../../../test/support/signed-lots.ts';
import { companyCertificate, pemOf, rootAuthority } from '../../documents/pki.ts';

const TENANT = 'sao-paulo';
/** Another municipality, which accepts signatures of 2008. */
const PERMISSIVE = 'campinas';
const RPS = 100;
const folder = mkdtempSync(path.join(tmpdir(), 'nfse-custo-'));
onEnd(() => rmSync(folder, { recursive: true, force: true }));
const [rootKeys, keys, strangeKeys] = await Promise.all([readyKeys(), readyKeys(), readyKeys()]);
const root = rootAuthority('AC Raiz de Teste', rootKeys, DECADES);
const strangeRoot = rootAuthority('AC de Ninguém', strangeKeys, DECADES);
const ancoras = path.join(folder, 'ancoras');
mkdirSync(ancoras);
writeFileSync(path.join(ancoras, 'raiz.pem'), pemOf('CERTIFICATE', root.certificate));
const certified = (by: typeof root, of: typeof keys): Party =>
  partyOf(of, companyCertificate(by, companyOf(PRESTADOR), of.publicKey, yearAround(NOON)));

let turn = 0;
function lotBy(signer: Party): string {
  turn += 1;
  const serie = String(turn);
  const list = Array.from({ length: RPS }, (_, place) => ({ numero: place + 1, serie }));
  return signedLot(list, signer, { numero: serie });
}

const asText = (lot: string): string => `<parameters>${escaped(lot)}</parameters>`;
/**
 * The lot inside parameters with a namespace of their own, as SOAP stubs write it: each element has two namespaces in scope that it does
 * not use.
 */
const asElements = (lot: string): string => `<parameters xmlns:x="urn:x" x:y="1">${lot}</parameters>`;
const asked = (inside: string): string =>
  envelope(`<n:RecepcionarLoteRps xmlns:n="${ABRASF}">${inside}</n:RecepcionarLoteRps>`);

describe('a lot with a signature in each RPS', () => {
  let service: TestService;

  before(async () => {
    service = await startTestService({ worker: false });
    const confianca = { ancoras, revogados: undefined };
    const settings = { ambiente: 'producao', confianca, codigoIbge: '3550308' } as const;
    await service.store.municipios.create({ tenant: TENANT, ...settings }, service.clock.now);
    const permissive = { ...settings, codigoIbge: '3509502', soapSha1: true };
    await service.store.municipios.create({ tenant: PERMISSIVE, ...permissive }, service.clock.now);
  });

  async function sent(body: string, wanted: RegExp): Promise<Count> {
    return counted(async () => {
      const { documento, body: whole } = await post(service.address, body, { tenant: TENANT });
      assert.match(documento, wanted, whole);
    });
  }

  test('takes as elements no more than as text', async () => {
    const text = await sent(asked(asText(lotBy(certified(root, keys)))), /<Protocolo>/);
    const elements = await sent(asked(asElements(lotBy(certified(root, keys)))), /<Protocolo>/);
    assert.deepEqual([text.parses, elements.parses], [2, 1]);
    assert.deepEqual([text.verified, elements.verified], [RPS, RPS]);
    assert.ok(
      elements.digestedBytes <= text.digestedBytes,
      `${elements.digestedBytes} and ${text.digestedBytes} bytes`,
    );
    assert.ok(elements.canonical <= text.canonical, `${elements.canonical} and ${text.canonical} characters`);
  });

  test('is digested nowhere when a stranger signed it', async () => {
    const body = asked(asElements(lotBy(certified(strangeRoot, strangeKeys))));
    const before = await sent(body, /<Codigo>E138<\/Codigo>|<Codigo>E1<\/Codigo>/);
    // The certificate is identified by a digest, and its signature is verified once.
    const again = await sent(body, /<MensagemRetorno>/);
    assert.equal(again.parses, 1);
    assert.ok(before.verified <= 1 && again.verified === 0, JSON.stringify([before, again]));
    assert.ok(again.digestedBytes < 4_096, `${again.digestedBytes} bytes`);
  });

  test('is refused unread when a signature brings what no signature has', async () => {
    const padded = lotBy(certified(root, keys)).replace(
      '</KeyInfo>',
      `</KeyInfo><Object>${'<a/>'.repeat(100)}</Object>`,
    );
    const { verified } = await sent(asked(asElements(padded)), /Signature traz mais do que uma assinatura tem/);
    assert.equal(verified, 0);
  });

  test('and whatever else is made to be dear there is parsed three times at most, and digested once', async () => {
    const provider = certified(root, keys);
    const stranger = certified(strangeRoot, strangeKeys);
    const requests = dearSoap({
      producao: TENANT,
      antigo: PERMISSIVE,
      integracao: 'integracao',
      provider,
      stranger,
      cnpj: PRESTADOR,
      cms: () => '',
      emissao: '2026-11-20T10:00:00',
    });
    assert.ok(requests.length > 20);
    for (const { name, path: where, headers, body } of requests) {
      const asked = { method: 'POST', headers, body: body as BodyInit };
      const count = await counted(async () => {
        await (await fetch(`${service.address}${where}`, asked)).text();
      });
      const told = `${name}: ${JSON.stringify(count)} of ${body!.length} bytes`;
      // The envelope, the document inside it as text, and the inclusive form if allowed.
      assert.ok(count.parses <= 3 && count.parsedBytes <= 3 * body!.length, told);
      assert.ok(count.verified <= RPS + 1, told);
      // The signed parts, the content of the lot that identifies repetitions, and the certificate.
      assert.ok(count.digestedBytes <= 3 * body!.length + 8_192, told);
      assert.ok(count.canonical <= 4 * body!.length, told);
    }
  });
});
