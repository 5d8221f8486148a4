/** A monitored municipality in production: a stage with the ADN simulator, a service of two processes, and a client that keeps issuing. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openStage, type Running, registerTenant, startService, startSimulator } from '../../scripts/stage.ts';
import { NAME } from '../../src/base/pg/embedded.ts';
import { Client } from '../../src/base/pg/pg.ts';
import { certificatesOfPem } from '../../src/documents/certificate.ts';
import { intermediateAuthority, type Keys, rootAuthority } from '../../src/documents/pki.ts';
import { signXml } from '../../src/documents/signing.ts';
import { zoneOf } from '../../src/fiscal/catalogs/catalogs.ts';
import { momentIn } from '../../src/fiscal/moment.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import { onEnd } from './cleanup.ts';
import { runBeside } from './cli.ts';
import { readyKeys } from './keys.ts';
import { ownPort } from './ports.ts';
import { readyDataDir } from './process.ts';

export const SLUG = 'exemplo';
const [IBGE, CNPJ] = ['3550308', '11222333000181'];
const ISSUE_EVERY_MS = 100;
const YEARS_MS = 3_000 * 86_400_000;

export type Vigiado = Awaited<ReturnType<typeof openVigiado>>;

/** The running service, with its metrics on a separate port; its commands need `env` as well. */
export async function openVigiado() {
  const dataDir = await readyDataDir();
  const ports = [await ownPort(), await ownPort()] as const;
  const keys: Promise<Keys>[] = [];
  const stage = await openStage(path.join(dataDir, 'palco'), [CNPJ], Date.now(), () => {
    keys.push(readyKeys());
    return keys.at(-1)!;
  });
  const simulate = () => startSimulator(stage, [], ports);
  let simulator = await simulate();
  onEnd(() => simulator.end('SIGKILL'));
  const vigia = await ownPort();
  const env: NodeJS.ProcessEnv = {
    NFSE_DATA_DIR: dataDir,
    PORT: String(await ownPort()),
    NFSE_PAINEL_PORTA: String(await ownPort()),
    NFSE_VIGIA_PORTA: String(vigia),
    NFSE_PROCESSOS: '2',
    NFSE_ESPERA_AO_ENCERRAR: '0',
    NFSE_LOG_LEVEL: 'error',
  };
  let service: Running = await startService(env);
  onEnd(() => service.end('SIGINT'));
  const providers = [{ documento: CNPJ, razaoSocial: 'Prestador de Teste Ltda' }];
  await registerTenant(stage, { slug: SLUG, ibge: IBGE, adn: simulator.address, providers }, env, runBeside);
  let issued = 0;

  /** Issues one note, and returns the status of the answer. */
  const issue = async (): Promise<number> => {
    const [provider] = stage.pki.prestadores;
    const certificate = certificatesOfPem(readFileSync(provider!.certificado, 'utf8'))[0]!;
    const signer = { key: createPrivateKey(readFileSync(provider!.chave)), certificate };
    issued += 1;
    const xml = exampleXml({
      tpAmb: '1',
      serie: '2',
      nDPS: String(issued),
      dCompet: momentIn(zoneOf(IBGE), Date.now()).date,
      'prest/CNPJ': CNPJ,
      'valores/trib/tribMun/pAliq': '5.00',
    });
    const body = signXml(Buffer.from(xml), signer) as Uint8Array<ArrayBuffer>;
    const headers = { 'Content-Type': 'application/xml' };
    const answer = await fetch(`${service.address}/${SLUG}/api/v1/nfse/v101`, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    return answer.status;
  };

  // The first two keys belong to the authorities of the stage, under its names.
  const lasting = { inicio: Date.now() - YEARS_MS, fim: Date.now() + YEARS_MS };
  const raiz = rootAuthority('AC Raiz de Teste', await keys[0]!, lasting);
  const emissora = intermediateAuthority(raiz, 'AC de Teste', await keys[1]!, lasting);

  return {
    /** The issuer of the certificates and of one revocation list of the stage. */
    emissora,
    dataDir,
    stage,
    env,
    vigia,
    issue,
    /** The number of notes requested so far. */
    issued: (): number => issued,
    /** Issues until the returned function is called. */
    keepIssuing: (): (() => Promise<void>) => {
      let isOver = false;
      const run = (async () => {
        while (!isOver) {
          await issue().catch(() => undefined);
          await pause(ISSUE_EVERY_MS);
        }
      })();
      return async () => {
        isOver = true;
        await run;
      };
    },
    /** The ADN: its control port, its kill, and its restart at the same address. */
    adn: {
      ask: (address: string, init?: RequestInit) => simulator.ask(address, init),
      kill: () => simulator.end('SIGKILL'),
      begin: async (): Promise<void> => {
        simulator = await simulate();
      },
    },
    end: () => service.end('SIGINT'),
    begin: async (): Promise<void> => {
      service = await startService(env);
    },
    connect: async (): Promise<Client> => {
      const [, , , port, socket] = readFileSync(path.join(dataDir, 'pg/postmaster.pid'), 'utf8').split('\n');
      const client = new Client({
        host: socket || path.join(dataDir, 'pg'),
        port: Number(port),
        user: NAME,
        database: NAME,
      });
      await client.connect();
      return client;
    },
    /** The worker processes of the service that answer requests, in order. */
    answering: (): readonly number[] =>
      readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8')
        .trim()
        .split(' ')
        .map(Number)
        .filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('serving-process')),
  };
}
