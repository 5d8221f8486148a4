/** The processes of a measure: services over their databases, generators, the ADN simulator, the yardstick and the floor. */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  openStage,
  ROOT,
  registerTenant,
  run,
  type Simulator,
  type Stage,
  startService,
  startSimulator,
  type Tree,
} from '../scripts/stage.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { addIssuers } from './add-issuers.ts';
import { askChild, endOf, type Sender, startSender } from './children.ts';
import { install } from './commit.ts';
import { cpuTimesOf, type Database, PARTS } from './cpu.ts';
import { cnpjsOf, type Documento, type ProviderKeys, patchOf } from './documents.ts';
import type { FloorOrder } from './floor.ts';
import type { Floor } from './floor-pieces.ts';
import { apiOf, GIANT, type Issuers, listIssuers } from './issuers.ts';
import type { SenderOrder, Sent } from './sender.ts';
import type { YardstickOrder } from './yardstick.ts';

/** The municipality that issues, or the largest of several. */
export const SLUG = GIANT.slug;
const ONE: Issuers = { count: 1, distribution: 'igual' };
const SANDBOX = 'integracao';
const SETTLED_MAX_MS = 600_000;
/** Pauses between two looks at what is received, while much is missing and near the end: the end is known to the shorter. */
const LOOK_MS = 100;
const LOOK_MS_NEAR = 10;
const NEAR = 500;
/** A side is quiet below this share of a processor; after so many looks the measure goes on in any case. */
const QUIET_SHARE = 0.1;
const QUIET_MS = 1_000;
const QUIET_TURNS = 20;

export type Scene = { readonly stage: Stage; readonly simulator: Simulator; end(): Promise<void> };

export async function openScene(dataDir: string, providers: number): Promise<Scene> {
  const stage = await openStage(path.join(dataDir, 'palco'), cnpjsOf(providers), Date.now());
  const simulator = await startSimulator(stage);
  return { stage, simulator, end: () => simulator.end('SIGINT') };
}

/** The documents and their destination. `isSandbox`: unsigned, into the integration environment, where nothing is transmitted. */
export type Path = { readonly isSandbox: boolean; readonly documento: Documento };

/** A database with its tenant, for the services that are started over it. */
export type Place = {
  readonly tree: Tree;
  readonly dataDir: string;
  readonly providers: readonly ProviderKeys[];
  /** The municipalities that issue; undefined: one. */
  readonly issuers?: Issuers;
  /** The database; undefined: the embedded one. */
  readonly database?: { readonly url: string; readonly postmasters: readonly number[] };
};

function envOf({ dataDir, database }: Place): NodeJS.ProcessEnv {
  return { NFSE_DATA_DIR: dataDir, ...(database === undefined ? {} : { DATABASE_URL: database.url }) };
}

export async function preparePlace(place: Place, { stage, simulator }: Scene): Promise<void> {
  const { tree, dataDir, providers } = place;
  await mkdir(dataDir, { recursive: true, mode: 0o755 });
  const env = envOf(place);
  const command: typeof run = (args, own) => run(args, own, tree);
  await command(['migrar'], env);
  // The measure sends the daily limit of one address to a sandbox within seconds.
  await command(['municipio', 'alterar', SANDBOX, '--limite-endereco', '0', '--limite-prestador', '0'], env);
  const named = providers.map(({ documento }, place) => ({ documento, razaoSocial: `Prestador ${place + 1} Ltda` }));
  await registerTenant(stage, { ...GIANT, adn: simulator.address, providers: named }, env, command);
  const { count } = place.issuers ?? ONE;
  if (count > 1) await addIssuers(place, count);
}

/** A service under measurement, with its generator. */
export type Side = {
  readonly pid: number;
  /** The address of its tenant, or of the first. */
  readonly address: string;
  readonly dataDir: string;
  /** The database whose processes are counted. */
  readonly database: Database;
  readonly sender: Pick<Sender, 'make' | 'send'>;
  /** Resolves once the last notes of an order are authorised. */
  waitAuthorised(sent: Sent): Promise<void>;
  end(): Promise<void>;
};

/** The service of a tree. */
export type ServiceSide = Side & {
  /** Another generator: it makes its documents while the first one sends. */
  openSender(firstNumber: number): Sender;
};

/**
 * `firstNumber`: the first document number; a place must not get one twice. `env`: further environment variables of the
 * service.
 */
export async function openSide(
  place: Place,
  { isSandbox }: Path,
  firstNumber: number,
  env: NodeJS.ProcessEnv = {},
): Promise<ServiceSide> {
  const { tree, dataDir, providers } = place;
  // The log is the usual one, in a file, as a production has it.
  const usual = { ...envOf(place), NFSE_LOG_LEVEL: '', ...env };
  const service = await startService(usual, tree, path.join(dataDir, 'saida.log'));
  const issuers = place.issuers ?? ONE;
  const target = isSandbox ? apiOf(SANDBOX) : issuers;
  const where = { ...addressOf(service.address), target };
  const openSender = (first: number): Sender =>
    startSender({ ...where, providers, isSigned: !isSandbox, firstNumber: first });
  const sender = openSender(firstNumber);
  const slugs = new Map(listIssuers(issuers.count).map(({ slug, ibge }) => [ibge, slug]));
  const address = `${service.address}/${isSandbox ? SANDBOX : SLUG}`;
  // A key begins with the code of its municipality.
  const addressOfKey = (key: string): string =>
    isSandbox ? address : `${service.address}/${slugs.get(key.slice(0, 7))!}`;
  return {
    pid: service.pid,
    address,
    dataDir,
    database: place.database?.postmasters ?? dataDir,
    sender,
    openSender,
    waitAuthorised: ({ lastKeys }) => waitAuthorised(addressOfKey, lastKeys),
    end: async () => {
      await sender.end();
      await service.end('SIGINT');
    },
  };
}

/** The scene of one service of this tree, and the load from every generator. */
export type OneService = {
  readonly scene: Scene;
  readonly side: ServiceSide;
  readonly load: Pick<Load, 'documento' | 'isTransmitted'> & { readonly side: ServiceSide };
};

/**
 * Runs `work` on this tree's service, with `providers` that issue, and ends all processes. `env`: further environment
 * variables of the service.
 */
export async function onService(
  dataDir: string,
  { providers: count, path: sent }: { readonly providers: number; readonly path: Path },
  work: (on: OneService) => Promise<void>,
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const scene = await openScene(dataDir, count);
  const providers = scene.stage.pki.prestadores.slice(0, count);
  const place = { tree: { root: ROOT, node: process.execPath }, dataDir: path.join(dataDir, 'este'), providers };
  try {
    await preparePlace(place, scene);
    const side = await openSide(place, sent, 1, env);
    try {
      await work({ scene, side, load: { side, documento: sent.documento, isTransmitted: !sent.isSandbox } });
    } finally {
      await side.end();
    }
  } finally {
    await scene.end();
  }
}

function addressOf(url: string): Pick<SenderOrder, 'host' | 'port'> {
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port) };
}

/** A note that is missing or never authorised makes the figure worthless: the function then throws. */
async function waitAuthorised(addressOfKey: (key: string) => string, keys: readonly string[]): Promise<void> {
  const began = performance.now();
  for (const key of keys) {
    for (;;) {
      const response = await fetch(`${addressOfKey(key)}/api/v1/nfse/${key}`);
      if (response.status !== 200) throw new Error(`uma nota respondida não está lá: HTTP ${response.status}`);
      const { nota } = (await response.json()) as { readonly nota: { readonly status: string } };
      if (nota.status === 'autorizada') break;
      if (performance.now() - began > SETTLED_MAX_MS) throw new Error(`a nota ${key} não foi autorizada`);
      await pause(LOOK_MS_NEAR);
    }
  }
}

/** The documents sent to a side at one time. `isTransmitted`: the environment gets each of these notes. */
export type Load = {
  readonly side: Side;
  readonly documento: Documento;
  readonly command: Parameters<Sender['send']>[0];
  readonly isTransmitted: boolean;
};

/** `settled`: seconds from the first sending until the last note was authorised. */
export type Ran = Sent & { readonly settled: number };

/** Makes the documents of all loads and sends them in the same seconds; resolves when the last note of each is authorised. */
export async function runLoads(scene: Scene, loads: readonly Load[]): Promise<readonly Ran[]> {
  const held = await countReceived(scene);
  await Promise.all(loads.map(({ side, command, documento }) => side.sender.make(command.count, documento)));
  const began = performance.now();
  const results = await Promise.all(loads.map(({ side, command }) => side.sender.send(command)));
  for (const result of results) checkSent(result);
  const transmitted = loads.filter(({ isTransmitted }) => isTransmitted);
  await waitReceived(
    scene,
    transmitted.reduce((sum, { command }) => sum + command.count, held),
  );
  return Promise.all(
    loads.map(async ({ side }, place) => {
      await side.waitAuthorised(results[place]!);
      return { ...results[place]!, settled: (performance.now() - began) / 1000 };
    }),
  );
}

/** Notes per second, issued and authorised: the rate of answers alone would ignore the transmitter's backlog. */
export function keptRate({ notes, settled }: Ran): number {
  return notes / settled;
}

/** Waits until the sides do little: the work that one load leaves behind belongs to no note of the next. */
export async function waitQuiet(sides: readonly Side[]): Promise<void> {
  const spent = (): number =>
    sides
      .map(({ pid, database }) => cpuTimesOf(pid, database))
      .reduce((sum, times) => sum + PARTS.reduce((all, part) => all + times[part], 0), 0);
  let before = spent();
  for (let turn = 0; turn < QUIET_TURNS; turn += 1) {
    await pause(QUIET_MS);
    const now = spent();
    if (now - before < (QUIET_SHARE * QUIET_MS) / 1000) return;
    before = now;
  }
}

/** The number of notes that the environment has received. */
export async function countReceived({ simulator }: Scene): Promise<number> {
  return ((await simulator.ask('/estado')) as { readonly documentos: number }).documentos;
}

/** Waits until the environment has received this many notes. */
export async function waitReceived(scene: Scene, notes: number): Promise<void> {
  const began = performance.now();
  for (;;) {
    const received = await countReceived(scene);
    if (received >= notes) return;
    if (performance.now() - began > SETTLED_MAX_MS) throw new Error(`o ADN recebeu ${received} de ${notes} notas`);
    await pause(notes - received > NEAR ? LOOK_MS : LOOK_MS_NEAR);
  }
}

/** Refused notes make a figure worthless, and a remark is work that an ordinary note does not cause. */
function checkSent({ failures, firstFailure, remarks }: Sent): void {
  if (failures > 0) throw new Error(`${failures} notas não foram emitidas; a primeira: ${firstFailure}`);
  if (remarks.length > 0) throw new Error(`o documento da medida recebe avisos: ${remarks.join(', ')}`);
}

/** The yardstick as a side: it gets the same documents, and authorises nothing. */
export async function openYardstick({ dataDir, providers }: Omit<Place, 'tree'>, { stage }: Scene): Promise<Side> {
  await mkdir(dataDir, { recursive: true, mode: 0o755 });
  const { ancoras, municipio } = stage.pki;
  const autoridades = readdirSync(ancoras).map((name) => readFileSync(path.join(ancoras, name), 'utf8'));
  const order: YardstickOrder = { dataDir, packages: await installYardstick(), providers, municipio, autoridades };
  const child = fork(path.join(import.meta.dirname, 'yardstick.ts'), [JSON.stringify(order)]);
  const address = await askChild<string>(child);
  const where = { ...addressOf(address), target: '/nfse' };
  const sender = startSender({ ...where, providers, isSigned: true, firstNumber: 1 });
  return {
    pid: child.pid!,
    address,
    dataDir,
    database: dataDir,
    sender,
    waitAuthorised: () => Promise.resolve(),
    end: async () => {
      await sender.end();
      await endOf(child);
    },
  };
}

/** The folder with the packages of the yardstick, installed once for each content of its lock file. */
async function installYardstick(): Promise<string> {
  const from = path.join(import.meta.dirname, 'regua');
  const lock = readFileSync(path.join(from, 'package-lock.json'));
  const name = `regua-${createHash('sha256').update(lock).digest('hex').slice(0, 16)}`;
  const folder = path.join(ROOT, 'node_modules/.cache/nfse', name);
  if (existsSync(folder)) return folder;
  const begun = `${folder}-${process.pid}`;
  mkdirSync(path.dirname(folder), { recursive: true });
  cpSync(from, begun, { recursive: true });
  await install(begun);
  renameSync(begun, folder);
  return folder;
}

export type FloorProcess = { measure(): Promise<Floor>; end(): Promise<void> };

/** The floor in a separate process, for the ordinary document. */
export function openFloor({ dataDir, providers }: Omit<Place, 'tree'>, { stage }: Scene): FloorProcess {
  mkdirSync(dataDir, { recursive: true, mode: 0o755 });
  const { municipio, adn } = stage.pki;
  const template = exampleXml(patchOf('comum', true));
  const order: FloorOrder = { dataDir, template, providers, municipio, servidor: adn };
  const child = fork(path.join(import.meta.dirname, 'floor.ts'), [JSON.stringify(order)]);
  return { measure: () => askChild<Floor>(child, { kind: 'measure' }), end: () => endOf(child) };
}
