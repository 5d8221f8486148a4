/**
 * The client's signatures, verified by others: xmlsec1, openssl and the strict verifier of the service, in production. The file formats of
 * certificates are here too, as openssl writes them.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import forge from 'node-forge';
import {
  assinarCms,
  assinarXml,
  CertificadoRecusado,
  type CorpoDaDps,
  createCliente,
  Indeterminado,
  identificadorDaDps,
  lerCertificado,
  Recusado,
  XmlRecusado,
} from '../packages/cliente/src/index.ts';
import { decifrarRc2 } from '../packages/cliente/src/rc2.ts';
import { filhosDe, formaCanonica, lerXml } from '../packages/cliente/src/xml.ts';
import { verifyCms } from '../src/documents/cms.ts';
import { pemOf } from '../src/documents/pki.ts';
import { DPS_PROFILE } from '../src/documents/signature-shape.ts';
import { checkSignature } from '../src/documents/signed.ts';
import { readXml } from '../src/documents/xml.ts';
import type { Fault } from '../src/fiscal/fault.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { onEnd } from './support/cleanup.ts';
import { addPrestador } from './support/municipio.ts';
import { freshFolder, openssl } from './support/openssl.ts';
import { secureDoor } from './support/secure-door.ts';
import { NOON, startTestService } from './support/service.ts';
import { canonicalByXmlCrypto, DECADES, DRESSES, PROVIDER_CNPJ, testParties } from './support/signatures.ts';
import { toolOr } from './support/tools.ts';

const { root, provider, namesake } = await testParties(NOON, DECADES);
const folder = freshFolder();
const inFolder = (name: string, content: string | Buffer): string => {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
};
const PEM = { certificado: provider.pem, chave: provider.keyPem };
const assinante = lerCertificado(PEM);
const TEXTS = ['Maria & João S/A', 'Conceição <Ltda>', 'D\'Ávila "Ótica" ]]> fim', 'De  duas\nlinhas € 😀'];
/** The example in every spelling, each with another text. */
const DRESSED = Object.entries(DRESSES).map(([name, wear], at): readonly [string, string] => [
  name,
  wear(exampleXml({ 'serv/cServ/xDescServ': TEXTS[at % TEXTS.length]! })),
]);

function faultsOf(xml: string): readonly Fault[] {
  const reading = readXml(Buffer.from(xml));
  return 'fault' in reading ? [reading.fault] : checkSignature(reading, DPS_PROFILE).faults;
}

const infDps = (xml: string): string => formaCanonica(filhosDe(lerXml(xml)).find(({ nome }) => nome === 'infDPS')!);

describe('XML', () => {
  test('in all its dresses: the canonical form of another program, and the strict verifier', () => {
    for (const [name, xml] of DRESSED) {
      assert.equal(infDps(xml), canonicalByXmlCrypto(xml), name);
      const signed = assinarXml(xml, assinante);
      assert.deepEqual(faultsOf(signed), [], name);
      assert.equal(signed.replace(/<Signature .*<\/Signature>/s, ''), xml, name);
    }
  });

  test('xmlsec1 verifies them, and not a changed one', (t) => {
    const xmlsec1 = toolOr('xmlsec1', 'xmlsec1');
    if (xmlsec1 === undefined) return t.skip('no xmlsec1');
    const trusted = ['--trusted-pem', inFolder('raiz.pem', pemOf('CERTIFICATE', root.certificate))];
    const files = DRESSED.map(([, xml], at) => inFolder(`assinada-${at}.xml`, assinarXml(xml, assinante)));
    const verify = (...which: readonly string[]): string =>
      spawnSync(xmlsec1, ['--verify', '--id-attr:Id', 'infDPS', ...trusted, ...which], { encoding: 'utf8' }).stderr;
    const said = verify(...files);
    assert.equal(said.match(/^OK$|Verification status: OK/gm)?.length, files.length, said);
    const changed = readFileSync(files[0]!, 'utf8').replace(/(<[^>]*vServ>)\d/, '$19');
    assert.match(verify(inFolder('mudada.xml', changed)), /FAIL|failed/i);
  });

  test('what it cannot canonicalise or may not sign is refused with its place', () => {
    const xml = exampleXml();
    const after = (text: string): string => xml.replace('<infDPS', `${text}<infDPS`);
    for (const [given, says] of [
      [after('<!-- a -->'), /linha \d+, coluna \d+: há um comentário/],
      [after('<?a b?>'), /instrução de processamento/],
      [`${xml}<!-- a -->`, /comentário/],
      [xml.replace('<DPS', '<!DOCTYPE DPS [<!ENTITY a "b">]><DPS'), /DOCTYPE/],
      [xml.replace(/(<xDescServ>)/, '$1&a;'), /&a; não se lê/],
      [xml.replace(/(<xDescServ>)/, '$1a & b'), /& se escreve &amp;/],
      [xml.replace(/(<xDescServ>)/, '$1&#0;'), /não se lê/],
      [xml.replace(/(<xDescServ>)/, '$1\u0001'), /caractere que o XML não admite/],
      [xml.replace('</infDPS>', ''), /falta o fim de infDPS/],
      [xml.replace('<infDPS', '<infDPS Id="a"'), /escrito duas vezes/],
      [xml.replace('<infDPS', '<x:infDPS').replace('</infDPS', '</x:infDPS'), /prefixo x não foi declarado/],
      [`${xml}<a/>`, /depois do elemento raiz/],
      [xml.replace('</DPS>', '<a/></DPS>'), /só pode vir infDPS/],
      [xml.replaceAll('infDPS', 'infDps'), /não há o que assinar/],
      [xml.replace(/ Id="[^"]*"/, ''), /falta o Id/],
      [`<?xml version="1.0" encoding="ISO-8859-1"?>${xml.replace(/^<\?.*?\?>\s*/, '')}`, /ISO-8859-1.*UTF-8/],
      [assinarXml(xml, assinante), /já está assinada/],
    ] as const) {
      assert.throws(
        () => assinarXml(given, assinante),
        (error) => {
          assert.ok(error instanceof XmlRecusado, `${error}`);
          assert.match(error.message, says);
          return true;
        },
      );
    }
  });
});

describe('CMS', () => {
  test('is read by openssl and by the service, over these bytes alone', () => {
    const body = Buffer.from('{ "valor_servico": "1000.00", "ção": 1 }\n');
    const text = assinarCms(body, assinante, NOON);
    const { faults, certificate } = verifyCms(text, body, 'X-DPS-Assinatura');
    assert.deepEqual([faults, certificate?.der.equals(provider.der)], [[], true]);
    const files = ['-in', inFolder('corpo.cms', Buffer.from(text, 'base64')), '-content', inFolder('corpo.json', body)];
    const trust = ['-CAfile', inFolder('raiz.pem', pemOf('CERTIFICATE', root.certificate)), '-purpose', 'any'];
    const at = ['-attime', String(NOON / 1000)];
    const read = openssl('cms', '-verify', '-cades', '-binary', '-inform', 'DER', ...files, ...trust, ...at);
    assert.deepEqual(read, body);
    assert.notEqual(verifyCms(text, Buffer.from('{}'), 'X').faults.length, 0);
  });
});

describe('a certificate', () => {
  const pfxOf = (...more: readonly string[]): Buffer => {
    const files = ['-in', inFolder('c.pem', provider.pem), '-inkey', inFolder('k.pem', provider.keyPem)];
    const ca = ['-certfile', inFolder('raiz.pem', pemOf('CERTIFICATE', root.certificate))];
    const out = path.join(folder, 'saida.pfx');
    openssl('pkcs12', '-export', ...files, ...ca, '-out', out, '-passout', 'pass:Ção 1', ...more);
    return readFileSync(out);
  };

  test('in a PKCS#12 of every make', () => {
    for (const make of [
      [],
      ['-legacy'],
      ['-legacy', '-certpbe', 'PBE-SHA1-RC2-128'],
      ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES'],
      ['-keypbe', 'AES-128-CBC', '-certpbe', 'AES-192-CBC'],
    ]) {
      const pfx = pfxOf(...make);
      const { certificado, cadeia } = lerCertificado({ pfx, senha: 'Ção 1' });
      assert.deepEqual([certificado.raw.equals(provider.der), cadeia.length], [true, 0], make.join(' '));
      assert.throws(() => lerCertificado({ pfx, senha: 'ção 1' }), /^CertificadoRecusado: A senha não abre/);
    }
    assert.throws(() => lerCertificado({ pfx: Buffer.from('x'), senha: '' }), /não é um PKCS#12/);
    const { UNSET_VARIABLE: senha } = {} as Record<string, string>;
    assert.throws(
      () => lerCertificado({ pfx: pfxOf(), senha: senha as string }),
      /^CertificadoRecusado: Informe senha/,
    );
    assert.throws(() => lerCertificado({ pfx: provider.der, senha: '' }), /não é um PKCS#12/);
  });

  test('in PEM, also with an encrypted key; what does not fit says so', () => {
    const chave = provider.keys.privateKey.export({
      type: 'pkcs8',
      format: 'pem',
      cipher: 'aes-256-cbc',
      passphrase: 'a',
    });
    assert.ok(lerCertificado({ certificado: Buffer.from(provider.pem), chave: String(chave), senha: 'a' }));
    const refused = (from: Parameters<typeof lerCertificado>[0], says: RegExp): void =>
      assert.throws(
        () => lerCertificado(from),
        (error) => error instanceof CertificadoRecusado && says.test(error.message),
      );
    refused({ certificado: provider.pem, chave: String(chave) }, /cifrada, informe senha/);
    refused({ certificado: provider.pem, chave: String(chave), senha: 'b' }, /Confira senha/);
    refused({ certificado: provider.pem, chave: namesake.keyPem }, /não é o par/);
    refused({ certificado: provider.pem.replace(/\n.{64}\n/, '\n'), chave: provider.keyPem }, /não se lê/);
    refused({ certificado: provider.keyPem, chave: provider.keyPem }, /não traz um certificado/);
    refused({ certificado: provider.pem, chave: provider.pem }, /não traz uma chave/);
    refused(
      { certificado: provider.pem, chave: openssl('ecparam', '-genkey', '-name', 'prime256v1').toString() },
      /par/,
    );
  });

  test('RC2 as another program has it, for every length of key', () => {
    for (let length = 1; length <= 128; length += 1) {
      const [key, iv, text] = [randomBytes(length), randomBytes(8), randomBytes(length)];
      const cipher = forge.rc2.createEncryptionCipher(key.toString('latin1'), length * 8);
      cipher.start(iv.toString('latin1'));
      cipher.update(forge.util.createBuffer(text.toString('latin1')));
      cipher.finish();
      assert.deepEqual(decifrarRc2(Buffer.from(cipher.output.getBytes(), 'latin1'), key, iv), text);
    }
  });
});

describe('in production', async () => {
  const TENANT = 'sao-paulo';
  const { address, world, store, pool, clock } = await startTestService();
  const confianca = {
    ancoras: path.dirname(inFolder('ancoras/raiz.pem', pemOf('CERTIFICATE', root.certificate))),
    revogados: undefined,
  };
  await store.municipios.create({ tenant: TENANT, ambiente: 'producao', codigoIbge: '3550308', confianca }, clock.now);
  await addPrestador(pool, TENANT, PROVIDER_CNPJ);
  const door = await secureDoor(world, root, namesake);
  const ca = pemOf('CERTIFICATE', root.certificate);
  const cliente = createCliente({ url: door.address, municipio: TENANT, certificado: PEM, ca });
  const example: CorpoDaDps = JSON.parse(
    readFileSync(path.resolve(import.meta.dirname, '../examples/dps.json'), 'utf8'),
  );
  const dps = { ...example, tipo_ambiente: '1', serie_dps: '1', numero_dps: '1' } as const;
  const id = identificadorDaDps({ municipio: '3550308', documento: PROVIDER_CNPJ, serie: '1', numero: 1 });

  test('a note from an object and one from XML, an event, and what is for its parties alone', async () => {
    const { chave_acesso, avisos } = await cliente.emitirNota(dps);
    assert.deepEqual(avisos, []);
    assert.equal((await cliente.verificarAssinatura(dps)).valida, true);
    const outro = identificadorDaDps({ municipio: '3550308', documento: PROVIDER_CNPJ, serie: '1', numero: 2 });
    const xml = exampleXml({ tpAmb: '1', '@Id': outro, serie: '1', nDPS: '2' });
    for (const sent of [xml, assinarXml(xml, assinante)]) {
      // Signed by the client now or before: the bytes are equal, so the note is the same.
      assert.match((await cliente.emitirNota(sent, { chave: 'a segunda' })).chave_acesso, /^\d{50}$/);
    }
    const evento = await cliente.registrarEvento(chave_acesso, { tipo_evento: 'confirmacao_prestador' });
    assert.equal(evento.numero_sequencial, 1);
    assert.equal((await cliente.consultarNotaPorDps(id)).chave_acesso, chave_acesso);
    assert.equal((await cliente.consultarSituacaoDoPrestador(PROVIDER_CNPJ)).pode_emitir, true);
  });

  test('without a certificate each of them is refused with its code', async () => {
    const bare = createCliente({ url: door.address, municipio: TENANT, ca });
    const codeOf = async (call: Promise<unknown>): Promise<unknown> => {
      const error = await call.catch((reason: unknown) => reason);
      assert.ok(error instanceof Recusado, `${error}`);
      return `${error.status} ${error.codigo}`;
    };
    assert.equal(await codeOf(bare.emitirNota(dps)), '401 E9002');
    assert.equal(await codeOf(bare.emitirNota(exampleXml({ tpAmb: '1' }))), '422 E901');
    assert.equal(await codeOf(bare.consultarNotaPorDps(id)), '401 E9007');
    assert.equal(await codeOf(bare.consultarSituacaoDoPrestador(PROVIDER_CNPJ)), '401 E9007');
  });

  test('a connection that breaks after the certificate was taken leaves a doubt', async () => {
    const breaking = createTlsServer(door.tls, (socket) => socket.once('data', () => socket.destroy()));
    await new Promise<void>((resolve) => breaking.listen(0, '127.0.0.1', resolve));
    onEnd(() => breaking.close());
    const url = `https://127.0.0.1:${(breaking.address() as AddressInfo).port}`;
    const insistencia = { tentativas: 2, primeiraEsperaMs: 5 };
    const broken = createCliente({ url, municipio: TENANT, certificado: PEM, ca, insistencia });
    await assert.rejects(broken.emitirNota(dps), (error) => error instanceof Indeterminado && error.tentativas === 2);
    await assert.rejects(broken.consultarNotaPorDps(id), { name: 'NaoEntregue' });

    // A reused connection has no handshake to wait for either.
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\n{}';
    let connections = 0;
    const fickle = createTlsServer(door.tls, (socket) => {
      connections += 1;
      let asked = '';
      const first = (chunk: Buffer): void => {
        asked += chunk.toString('latin1');
        if (!asked.endsWith('\r\n\r\n')) return;
        // The listener changes before the answer is written: the next request may arrive at once.
        socket.off('data', first).once('data', () => socket.destroy());
        socket.write(answer);
      };
      socket.on('data', first);
    });
    await new Promise<void>((resolve) => fickle.listen(0, '127.0.0.1', resolve));
    onEnd(() => fickle.close());
    const kept = createCliente({
      url: `https://127.0.0.1:${(fickle.address() as AddressInfo).port}`,
      ...{ municipio: TENANT, ca, insistencia: { tentativas: 1 } },
    });
    await kept.consultarNota('1');
    await assert.rejects(kept.emitirNota(dps), { name: 'Indeterminado' });
    assert.equal(connections, 1);
  });

  test('a server that nobody vouches for is not delivered to', async () => {
    const trusting = createCliente({
      url: door.address,
      municipio: TENANT,
      certificado: PEM,
      insistencia: { tentativas: 1 },
    });
    await assert.rejects(trusting.emitirNota(dps), { name: 'NaoEntregue' });
    await assert.rejects(trusting.consultarNotaPorDps(id), {
      name: 'NaoEntregue',
      message: /UNABLE_TO_VERIFY|SELF_SIGNED/,
    });
    assert.ok(address);
  });
});
