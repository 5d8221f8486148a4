/**
 * A municipality in production as its operator sets it up: the commands of the operation page in order beside a running service. There is a
 * signed note that the environment authorises, an outage, and several processes that transmit.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { SignedXml } from 'xml-crypto';
import { cnpjsOf, signedDps } from '../../bench/documents.ts';
import {
  openStage,
  type Running,
  registerTenant,
  run,
  type Simulator,
  type Stage,
  start,
  startService,
  startSimulator,
} from '../../scripts/stage.ts';
import { NFSE_PROFILE } from '../../src/documents/signature-shape.ts';
import { checkSignature } from '../../src/documents/signed.ts';
import { readXml, xsdErrors } from '../../src/documents/xml.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import { onEnd } from '../support/cleanup.ts';
import { runBeside } from '../support/cli.ts';
import { request } from '../support/http.ts';
import { freshDataDir, ROOT, readyDataDir } from '../support/process.ts';
import { until } from '../support/until.ts';

const NFSE_XSD = await readFile(path.join(ROOT, 'docs/nfse-1.01.xsd'), 'utf8');

describe('the rehearsal of a production, as the page on operation has it', () => {
  test('leads, command by command, to an authorised note', async () => {
    const dataDir = await freshDataDir();
    const env = { NFSE_DATA_DIR: dataDir };
    const service = await startService(env);
    onEnd(() => service.end('SIGINT'));
    // Addresses and folders of the page belong to one machine; a test has its own.
    const pki = path.join(dataDir, 'pki');
    const commands = await commandsOf('## Ensaiar antes, com um ADN simulado');
    const simulatorLine = commands.find((command) => command[0] === 'adn-simulador')!;
    const local = (args: readonly string[], adn: string): string[] =>
      args.map((arg) =>
        arg
          .replace(/^data\/pki/, pki)
          .replace(/^data\//, `${dataDir}/`)
          .replace('https://localhost:9443', adn),
      );
    const [makePki, ...others] = commands.filter((command) => command !== simulatorLine);
    await run(local(makePki!, ''), env);
    const simulator = await start(
      local(simulatorLine, '').map((arg) => (/^944[34]$/.test(arg) ? '0' : arg)),
      env,
      /ADN simulado no ar em (https:\S+)/,
    );
    onEnd(() => simulator.end('SIGINT'));
    const said: string[] = [];
    for (const command of others) {
      const args = local(command, simulator.address.replace('127.0.0.1', 'localhost'));
      said.push(await run(command[0] === 'emitir' ? [...args, '--url', service.address] : args, env));
    }
    const issued = said.find((text) => /Nota emitida/.test(text))!;
    assert.match(issued, /situação +autorizada/);
    const chave = /chave +(\d{50})/.exec(issued)![1]!;

    // The example has a number, so a repetition of the same document is recognised.
    const replay = await request(service.address, '/exemplo/api/v1/nfse/v101', {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: await readFile(path.join(dataDir, 'minha-dps.xml'), 'utf8'),
    });
    const [known] = replay.body.erros;
    assert.deepEqual(
      [replay.status, known.codigo, known.chave_acesso, known.mesmo_conteudo],
      [422, 'E0014', chave, true],
    );
    assert.ok(said.some((text) => /DPS sem número +recusada\n[\s\S]*evento sem nota +recusado/.test(text)));

    const query = await request(service.address, `/exemplo/api/v1/nfse/${chave}`);
    assert.equal(query.headers.get('x-nfse-ambiente'), 'producao');
    const { nota } = query.body;
    assert.equal(nota.status, 'autorizada');
    const bytes = Buffer.from(nota.xml_nota, 'utf8');
    assert.deepEqual(xsdErrors(NFSE_XSD, bytes), []);
    assert.match(nota.xml_nota, /<tpAmb>1<\/tpAmb>/);
    const reading = readXml(bytes);
    assert.ok('root' in reading);
    const signature = checkSignature(reading, NFSE_PROFILE);
    assert.deepEqual(signature.faults, []);
    assert.equal(signature.certificate?.holder?.documento, '99999999000191');
  });
});

/** Every `npm run -s nfse -- …` of a chapter, as its arguments. */
async function commandsOf(chapter: string): Promise<string[][]> {
  const page = await readFile(path.join(ROOT, 'docs/site/operacao.md'), 'utf8');
  const from = page.indexOf(chapter);
  const text = page.slice(from, page.indexOf('\n## ', from + 4)).replace(/\\\n\s*/g, ' ');
  return [...text.matchAll(/^npm run -s nfse -- (.+)$/gm)].map(([, line]) => line!.trim().split(/\s+/));
}

describe('a municipality with a queue', () => {
  const NOTES = 60;
  let stage: Stage;
  let simulator: Simulator;
  let service: Running;
  let env: NodeJS.ProcessEnv;
  let prestadores: Stage['pki']['prestadores'];
  let documents: readonly Buffer[];

  before(async () => {
    const dataDir = await readyDataDir();
    env = { NFSE_DATA_DIR: dataDir };
    stage = await openStage(path.join(dataDir, 'palco'), cnpjsOf(3), Date.now());
    simulator = await startSimulator(stage);
    onEnd(() => simulator.end('SIGINT'));
    service = await startService(env);
    onEnd(() => service.end('SIGINT'));
    const keys = stage.pki.prestadores.slice(0, 3);
    const providers = keys.map(({ documento }) => ({ documento, razaoSocial: 'Prestador de Teste Ltda' }));
    await registerTenant(stage, { slug: 'fila', ibge: '3550308', adn: simulator.address, providers }, env, runBeside);
    prestadores = keys;
    documents = signedDps(exampleXml({ tpAmb: '1', serie: '1', nDPS: '1' }), keys, 1, 2 * NOTES);
  });

  async function issue(document: Buffer): Promise<string> {
    const { status, body } = await request(service.address, '/fila/api/v1/nfse/v101', {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: document as Uint8Array<ArrayBuffer>,
    });
    assert.equal(status, 201, JSON.stringify(body));
    return body.chave_acesso;
  }

  async function statusOf(chave: string): Promise<string> {
    return (await request(service.address, `/fila/api/v1/nfse/${chave}`)).body.nota.status;
  }

  async function allAuthorised(keys: readonly string[]): Promise<void> {
    for (const chave of keys) {
      await until(async () => (await statusOf(chave)) === 'autorizada' || undefined, `${chave} is authorised`);
    }
  }

  test('goes on issuing while the environment is away, and drains by itself when it is back', async () => {
    const away = (fora_do_ar: boolean): Promise<unknown> =>
      simulator.ask('/faltas', { method: 'PUT', body: JSON.stringify({ fora_do_ar }) });
    await away(true);
    const keys = await Promise.all(documents.slice(0, NOTES).map(issue));
    // The note has been tried once the queue shows that the environment does not answer.
    let waiting = '';
    const isSaid = async (): Promise<boolean> => {
      waiting = await runBeside(['municipio', 'mostrar', 'fila'], env);
      return /transmissão/.test(waiting);
    };
    await until(async () => (await isSaid()) || undefined, 'it is said that the environment is away');
    for (const chave of keys) assert.equal(await statusOf(chave), 'rascunho');
    assert.equal((await simulator.ask('/estado')).documentos, 0);
    assert.match(waiting, new RegExp(`à espera +${NOTES} notas, a mais antiga emitida em `));
    assert.match(waiting, /transmissão +\S.*\(desde /);
    await away(false);
    await allAuthorised(keys);
    // The recovery of the environment is written together with its answers.
    const drained = await until(async () => {
      const shown = await run(['municipio', 'mostrar', 'fila'], env);
      return /transmissão/.test(shown) ? undefined : shown;
    }, 'nothing is said of the environment any more');
    assert.match(drained, /à espera +nenhuma nota\n/);
    assert.equal((await simulator.ask('/estado')).documentos, NOTES);
  });

  test('is emptied by several processes side by side, each note sent once', async () => {
    const helpers = await Promise.all([1, 2].map(() => start(['transmitir'], env, /Transmitindo o que está em/)));
    try {
      const before = await simulator.ask('/estado');
      const keys = await Promise.all(documents.slice(NOTES).map(issue));
      await allAuthorised(keys);
      const after = await simulator.ask('/estado');
      assert.equal(after.documentos - before.documentos, NOTES);
      assert.equal(new Set(keys).size, NOTES);
    } finally {
      await Promise.all(helpers.map((helper) => helper.end('SIGINT')));
    }
    // The last to leave was not the service: its database is still there.
    assert.equal((await request(service.address, '/health/ready')).status, 200);
  });

  test('text that the national schema takes is signed, shared and shown byte for byte', async () => {
    const xDescServ = 'Licença de uso – “plano anual”\n\tŁódź 😀 ';
    const template = exampleXml({ tpAmb: '1', serie: '2', nDPS: '1', 'serv/cServ/xDescServ': xDescServ });
    const [document] = signedDps(template, prestadores, 1, 1);
    assert.ok(document!.includes(`<xDescServ>${xDescServ}</xDescServ>`));
    const chave = await issue(document!);
    await allAuthorised([chave]);
    const { nota } = (await request(service.address, `/fila/api/v1/nfse/${chave}`)).body;
    assert.ok(nota.xml_nota.includes(`<xDescServ>${xDescServ}</xDescServ>`), nota.xml_nota);
    assert.deepEqual(xsdErrors(NFSE_XSD, Buffer.from(nota.xml_nota)), []);
    // The signature of the municipality, verified by a library that is not ours.
    const certificate = /<X509Certificate>([^<]+)</.exec(nota.xml_nota)![1]!;
    const signature = new SignedXml({
      publicCert: `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----`,
    });
    signature.loadSignature(/<Signature [\s\S]*<\/Signature>/.exec(nota.xml_nota)![0]);
    assert.ok(signature.checkSignature(nota.xml_nota));
  });
});
