/** One service under measurement: its tree, its database, its tenant, and the generator that sends to it. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { registerTenant, run, type Simulator, type Stage, startService, type Tree } from '../scripts/stage.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';
import type { ProviderKeys } from './documents.ts';
import type { Command, SenderOrder, Sent } from './sender.ts';

const SENDER = path.join(import.meta.dirname, 'sender.ts');
const SLUG = 'exemplo';
const SANDBOX = 'integracao';
const SETTLED_MAX_MS = 600_000;
const LOOK_MS = 50;

/** What is sent. `sandbox`: unsigned, into the integration environment, where nothing is transmitted. */
export type Path = { readonly isSandbox: boolean; readonly format: 'xml' | 'json'; readonly patch: Patch };

export type Side = {
  readonly pid: number;
  readonly dataDir: string;
  tell(command: Extract<Command, { kind: 'make' }>): Promise<'made'>;
  tell(command: Exclude<Command, { kind: 'make' }>): Promise<Sent>;
  /** Resolves once the last notes of an order are authorised. */
  waitAuthorised(sent: Sent): Promise<void>;
  end(): Promise<void>;
};

/** A database with its tenant, which services are started over. */
export type Place = {
  readonly tree: Tree;
  readonly dataDir: string;
  readonly providers: readonly ProviderKeys[];
};

export async function preparePlace({ tree, dataDir, providers }: Place, stage: Stage, simulator: Simulator) {
  await mkdir(dataDir, { recursive: true, mode: 0o755 });
  const env = { NFSE_DATA_DIR: dataDir };
  const command: typeof run = (args, own) => run(args, own, tree);
  await command(['migrar'], env);
  // What one address may send to a sandbox in a day is sent here in seconds.
  await command(['municipio', 'alterar', SANDBOX, '--limite-endereco', '0', '--limite-prestador', '0'], env);
  const named = providers.map(({ documento }, place) => ({ documento, razaoSocial: `Prestador ${place + 1} Ltda` }));
  await registerTenant(stage, { slug: SLUG, ibge: '3550308', adn: simulator.address, providers: named }, env, command);
}

/** `firstNumber`: of the documents; a place must not get one twice. */
export async function openSide(place: Place, sent: Path, firstNumber: number): Promise<Side> {
  const { tree, dataDir, providers } = place;
  const { format, patch, isSandbox } = sent;
  const service = await startService({ NFSE_DATA_DIR: dataDir }, tree);
  const slug = isSandbox ? SANDBOX : SLUG;
  const { hostname: host, port } = new URL(service.address);
  const where = { host, port: Number(port), path: `/${slug}/api/v1/nfse/v101` };
  const sender = startSender({ ...where, patch, format, providers, isSigned: !isSandbox, firstNumber });
  return {
    pid: service.pid,
    dataDir,
    tell: sender.tell as Side['tell'],
    waitAuthorised: ({ lastKeys }) => waitAuthorised(`${service.address}/${slug}`, lastKeys),
    end: async () => {
      await sender.end();
      await service.end('SIGINT');
    },
  };
}

function startSender(order: SenderOrder): { tell(command: Command): Promise<Sent | 'made'>; end(): Promise<void> } {
  const child = fork(SENDER, [JSON.stringify(order)]);
  return {
    tell: (command) => {
      child.send(command);
      return new Promise((resolve, reject) => {
        const ended = (code: number | null): void => reject(new Error(`o gerador de carga terminou (${code})`));
        child.once('exit', ended);
        child.once('message', (message) => {
          child.off('exit', ended);
          resolve(message as Sent | 'made');
        });
      });
    },
    end: () => endOf(child),
  };
}

function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.disconnect();
  return ended;
}

/** A note that is not there, or that is never authorised, is no figure: then this throws. */
async function waitAuthorised(base: string, keys: readonly string[]): Promise<void> {
  const began = performance.now();
  for (const key of keys) {
    for (;;) {
      const response = await fetch(`${base}/api/v1/nfse/${key}`);
      if (response.status !== 200) throw new Error(`uma nota respondida não está lá: HTTP ${response.status}`);
      const { nota } = (await response.json()) as { readonly nota: { readonly status: string } };
      if (nota.status === 'autorizada') break;
      if (performance.now() - began > SETTLED_MAX_MS) throw new Error(`a nota ${key} não foi autorizada`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}
