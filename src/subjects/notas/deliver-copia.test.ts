/**
 * The ADN's own copy decides a note whose answer was lost. The copy is ours, ours under a renewed certificate, or another document. Another
 * document is the gravest message for a municipality.
 */
import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { freshPool } from '../../../test/support/database.ts';
import { asSandbox } from '../../../test/support/municipio.ts';
import { noAvisos } from '../../../test/support/no-avisos.ts';
import { CA, END, type Issued, opensslAuthority } from '../../../test/support/openssl.ts';
import { NOON } from '../../../test/support/service.ts';
import { nobodyTrusted } from '../../../test/support/trust.ts';
import type { Adn, AdnKnowledge, DocumentToShare, NotaAnswer } from '../../adn/adn.ts';
import type { World } from '../../base/world/world.ts';
import { readCertificate } from '../../documents/certificate.ts';
import { type Signer, signatureOf } from '../../documents/signing.ts';
import { signedPartOf, withSignature } from '../../fiscal/layout/write.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { createStore } from '../../wiring/store.ts';
import { deliverNotas } from './deliver.job.ts';
import { issueNota } from './issue.ts';
import { notaByChave } from './queries.ts';

const pki = opensslAuthority();
const root = pki.issue({ subject: '/O=ICP-Brasil/CN=AC Raiz de Teste', extensions: CA });
const city = pki.issue({ subject: '/CN=MUNICIPIO:46395000000139', issuer: root, extensions: END });
const renewed = pki.issue({ subject: '/CN=MUNICIPIO:46395000000139', issuer: root, extensions: END, key: 'renewed' });

function signerOf(issued: Issued): Signer {
  const certificate = readCertificate(issued.der);
  assert.ok(!('problem' in certificate));
  return { key: createPrivateKey(readFileSync(issued.keyFile)), certificate };
}

/** Loses the answer of a note whose document the ADN stored; the test makes the ADN's copy from the sent document. */
async function lostAndFound(copyOf: (sent: string) => Uint8Array | undefined, later: Signer = signerOf(city)) {
  const municipio = asSandbox('alfa');
  const clock = { now: NOON };
  const logged: { level: string; message: string }[] = [];
  const log = (level: string) => (_about: object, message: string) => void logged.push({ level, message });
  const sent: DocumentToShare[] = [];
  const scene = { signer: signerOf(city) };
  const adn: Adn = {
    wantsDocuments: true,
    batchMax: 50,
    searchMax: 0,
    share: async (_tenant, documents) => {
      sent.push(...documents);
      return new Map(
        documents.map(({ chave_acesso }): [string, NotaAnswer] => [chave_acesso, { kind: 'unknown', why: 'x' }]),
      );
    },
    find: async (_tenant, notas) => {
      const xml = copyOf(Buffer.from(sent[0]!.xml!).toString());
      return new Map(
        notas.map(({ chave_acesso }): [string, AdnKnowledge] => [chave_acesso, { kind: 'known', nsu: '77', xml }]),
      );
    },
    shareEventos: async () => new Map(),
    findEventos: async () => new Map(),
    pauseMs: () => 0,
  };
  const world: World = {
    store: createStore(await freshPool()),
    transmission: async () => ({ adn, signer: scene.signer }),
    trust: () => nobodyTrusted,
    now: () => clock.now,
    randomDigits: (count) => '0'.repeat(count),
    log: { info: log('info'), warn: log('warn'), error: log('error') },
    postAviso: noAvisos,
    wake: () => undefined,
  };
  await world.store.municipios.create(municipio, clock.now);
  const body = Buffer.from(exampleXml({ serie: '1', nDPS: '1' }));
  const issued = await issueNota(world, municipio, { kind: 'xml', body });
  assert.ok('chave_acesso' in issued);
  await deliverNotas(world, municipio);
  clock.now += 3_600_000;
  scene.signer = later;
  const outcome = await deliverNotas(world, municipio);
  const reading = await notaByChave(world, municipio, issued.chave_acesso);
  return { world, clock, municipio, logged, sent, outcome, nota: reading!.nota };
}

/** A document whose signature is replaced by another. */
function signedAgain(document: string, signer: Signer, by: Signer = signer): Buffer {
  const bare = document.replace(/<Signature [\s\S]*<\/Signature>/, '');
  const { canonical, id } = signedPartOf(bare);
  return Buffer.from(withSignature(bare, signatureOf(canonical, id, { key: by.key, certificate: signer.certificate })));
}

function certificateIn(xml: string): string {
  return /<X509Certificate>([^<]+)</.exec(xml)![1]!;
}

describe('a note whose answer was lost, and that is there', () => {
  test('as it was sent: authorised, with the signature that went out', async () => {
    const { nota, sent, logged } = await lostAndFound((document) => Buffer.from(document));
    assert.equal(nota.status, 'autorizada');
    assert.equal(nota.xml_nota, Buffer.from(sent[0]!.xml!).toString());
    assert.equal(sent.length, 1);
    assert.ok(logged.every(({ level }) => level !== 'error'));
  });

  test('and no copy is given: authorised', async () => {
    const { nota, sent } = await lostAndFound(() => undefined);
    assert.deepEqual([nota.status, sent.length], ['autorizada', 1]);
  });

  test('under the certificate of then, renewed since: authorised, with the signature that is there', async () => {
    const { nota, sent } = await lostAndFound((document) => Buffer.from(document), signerOf(renewed));
    assert.equal(nota.status, 'autorizada');
    assert.equal(nota.xml_nota, Buffer.from(sent[0]!.xml!).toString());
    assert.equal(certificateIn(nota.xml_nota), city.der.toString('base64'));
    // The signature is by the key of that certificate, not by the present signer's.
    const value = Buffer.from(/<SignatureValue>([^<]+)</.exec(nota.xml_nota)![1]!, 'base64');
    const info = /<SignedInfo>[\s\S]*<\/SignedInfo>/.exec(nota.xml_nota)![0];
    const signedInfo = info.replace('<SignedInfo>', '<SignedInfo xmlns="http://www.w3.org/2000/09/xmldsig#">');
    assert.ok(verify('sha256', Buffer.from(signedInfo), createPublicKey(city.pem), value));
  });

  const OTHERS: Readonly<Record<string, (document: string) => Uint8Array>> = {
    'another amount, signed well': (document) =>
      signedAgain(document.replace(/<vServ>[^<]+<\/vServ>/, '<vServ>1.00</vServ>'), signerOf(city)),
    'another amount under our signature': (document) =>
      Buffer.from(document.replace(/<vServ>[^<]+<\/vServ>/, '<vServ>1.00</vServ>')),
    'the same, signed by a key that is not the certificate’s': (document) =>
      signedAgain(document, signerOf(city), signerOf(renewed)),
    'the same without a signature': (document) => Buffer.from(document.replace(/<Signature [\s\S]*<\/Signature>/, '')),
    'what is no XML': () => Buffer.from('lixo'),
  };
  for (const [what, copyOf] of Object.entries(OTHERS)) {
    test(`as another document (${what}): not authorised, not sent again, and said as the gravest`, async () => {
      const { world, clock, municipio, nota, sent, logged, outcome } = await lostAndFound(copyOf);
      assert.deepEqual([nota.status, outcome.pauseMs], ['rascunho', 60_000]);
      const errors = logged.filter(({ level }) => level === 'error').map(({ message }) => message);
      assert.ok(errors.includes('o ADN guarda outro documento sob a chave de uma nota'), errors.join('\n'));
      const problem = await world.store.municipios.findProblem(municipio.tenant);
      assert.match(JSON.stringify(problem), /outro documento sob esta chave/);
      clock.now += 24 * 3_600_000;
      await deliverNotas(world, municipio);
      assert.equal(sent.length, 1, 'a document is there: ours may not follow it');
    });
  }
});
