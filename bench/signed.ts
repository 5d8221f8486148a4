/**
 * `npm run bench -- --assinado`: the path of production. Signed documents into a tenant in production, the worker signing
 * and transmitting over mutual TLS to the ADN simulator, everything on this machine at once.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import {
  openStage,
  type Running,
  registerTenant,
  type Simulator,
  type Stage,
  start,
  startService,
  startSimulator,
} from '../scripts/stage.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { cnpjsOf, type ProviderKeys, signedDps } from './documents.ts';
import { floors, signedFloor } from './floor.ts';
import type { LoadOrder, LoadResult } from './load.ts';
import { cpuSecondsOf, cpuSecondsOfProcess } from './processes.ts';
import { ISSUING, profileOf, stepsOf, TRANSMITTING } from './profile.ts';
import { drainTime, generate, latencyRow, printRows, type Row, verifyThere } from './run.ts';

const SLUG = 'exemplo';
/** More than this is not expected of two cores; the documents are signed before the clock starts. */
const RATE_MAX = 2_600;
/** Longer than it takes V8 to have compiled what runs often. */
const WARMUP_MS = 10_000;
const PROFILE_WARMUP_MS = 2_000;
const PROFILE_MS = 6_000;

export type SignedOptions = { readonly connections: number; readonly seconds: number; readonly providers: number };

type Cpu = { readonly service: number; readonly database: number; readonly simulator: number };
type Look = Cpu & { readonly accepted: number };

/** Everything that runs; the profiled pass starts the service anew. */
type Scene = {
  readonly dataDir: string;
  readonly stage: Stage;
  readonly simulator: Simulator;
  service: Running;
  readonly options: SignedOptions;
};

async function onScene(dataDir: string, options: SignedOptions, play: (scene: Scene) => Promise<void>): Promise<void> {
  const stage = await openStage(path.join(dataDir, 'palco'), cnpjsOf(options.providers), Date.now());
  const simulator = await startSimulator(stage);
  const env = { NFSE_DATA_DIR: dataDir };
  const scene: Scene = { dataDir, stage, simulator, service: await startService(env), options };
  try {
    const providers = providersOf(scene).map(({ documento }, place) => ({
      documento,
      razaoSocial: `Prestador ${place + 1} Ltda`,
    }));
    await registerTenant(stage, { slug: SLUG, ibge: '3550308', adn: simulator.address, providers }, env);
    await play(scene);
  } finally {
    await scene.service.end('SIGINT');
    await simulator.end('SIGINT');
    await rm(stage.dir, { recursive: true, force: true });
  }
}

export function benchSigned(dataDir: string, options: SignedOptions): Promise<void> {
  return onScene(dataDir, options, async (scene) => {
    const order = orderOf(scene, { firstNumber: 1, warmupMs: WARMUP_MS, measureMs: options.seconds * 1000 });
    const { result, before, after } = await measured(scene, order);
    await verifyThere(scene.service.address, SLUG, result);
    const drained = await drainTime(scene.service.address, SLUG, result);
    await scene.service.end('SIGINT');

    const profile = await profiledPass(scene);
    const sample = signedDps(exampleXml({ tpAmb: '1', serie: '1', nDPS: '1' }), providersOf(scene), 1, 1_000);
    const floor = signedFloor(sample);
    const { insert } = await floors(dataDir);
    const rate = result.notes / result.seconds;
    const accepted = after.accepted - before.accepted;
    const perThousand = (seconds: number): string => ((seconds / result.notes) * 1000).toFixed(3);
    printRows([
      [
        'conexões, prestadores, duração',
        `${options.connections}, ${options.providers}, ${result.seconds.toFixed(1)} s`,
      ],
      ['notas assinadas emitidas', `${result.notes}`],
      ['notas por segundo', rate.toFixed(0)],
      latencyRow(result),
      ['aceitas pelo ADN simulado no mesmo tempo', `${accepted} (${(accepted / result.seconds).toFixed(0)}/s)`],
      ['CPU por mil notas: serviço', `${perThousand(after.service - before.service)} s`],
      ['CPU por mil notas: banco', `${perThousand(after.database - before.database)} s`],
      ['CPU por mil notas: ADN simulado', `${perThousand(after.simulator - before.simulator)} s`],
      ['CPU por mil notas: gerador de carga', `${perThousand(result.cpu)} s`],
      ['última nota autorizada após', `${drained.toFixed(2)} s`],
      ['piso: analisar, resumir e verificar RSA, sozinho', `${floor.toFixed(0)} documentos/s (1 núcleo)`],
      ['piso: inserção dos mesmos bytes, sozinha', `${insert.toFixed(0)} notas/s`],
      ['emissão / piso de verificação', (rate / floor).toFixed(2)],
      ['emissão / piso de inserção', (rate / insert).toFixed(2)],
    ]);
    console.log('\nNoutra passada, com o perfil ligado, em µs por nota. O fio que recebe e emite:');
    printRows(profile.issuing);
    console.log('\nO fio que transmite:');
    printRows(profile.transmitting);
  });
}

/** With the environment away for a while in the middle: what issuing loses, and how long the backlog takes. */
export function benchOutage(dataDir: string, options: SignedOptions, awaySeconds: number): Promise<void> {
  return onScene(dataDir, options, async (scene) => {
    const { seconds } = options;
    const measureMs = (2 * seconds + awaySeconds) * 1000;
    const order = orderOf(scene, { firstNumber: 1, warmupMs: WARMUP_MS, measureMs });
    const away = (fora_do_ar: boolean): Promise<unknown> =>
      scene.simulator.ask('/faltas', { method: 'PUT', body: JSON.stringify({ fora_do_ar }) });
    const returned = { at: 0 };
    const { result } = await generate(order, () => {
      if (returned.at === 0) {
        returned.at = performance.now() + (seconds + awaySeconds) * 1000;
        setTimeout(() => void away(true), seconds * 1000);
        setTimeout(() => void away(false), (seconds + awaySeconds) * 1000);
      }
    });
    await verifyThere(scene.service.address, SLUG, result);
    await drainTime(scene.service.address, SLUG, result);
    const drained = await drainedAfter(scene, returned.at);
    const mean = (from: number, to: number): number => {
      const part = result.perSecond.slice(from, to);
      return part.reduce((sum, notes) => sum + notes, 0) / part.length;
    };
    const [up, down] = [mean(0, seconds), mean(seconds, seconds + awaySeconds)];
    printRows([
      ['ADN no ar, fora, no ar', `${seconds} s, ${awaySeconds} s, ${seconds} s`],
      ['notas por segundo com o ADN no ar', up.toFixed(0)],
      ['notas por segundo com o ADN fora', down.toFixed(0)],
      [
        'notas por segundo depois, enquanto o atraso escoa',
        mean(seconds + awaySeconds, 2 * seconds + awaySeconds).toFixed(0),
      ],
      ['fora / no ar', (down / up).toFixed(2)],
      latencyRow(result),
      ['tudo autorizado após a volta do ADN', `${drained.toFixed(1)} s`],
    ]);
  });
}

const DRAIN_MAX_MS = 600_000;

/** Seconds from a moment until the environment has every note that was issued. */
async function drainedAfter({ simulator }: Scene, since: number): Promise<number> {
  let last = -1;
  for (let still = 0; still < 4; ) {
    const { documentos } = (await simulator.ask('/estado')) as { documentos: number };
    still = documentos === last ? still + 1 : 0;
    last = documentos;
    if (performance.now() - since > DRAIN_MAX_MS) throw new Error('the backlog has not drained');
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return (performance.now() - since) / 1000 - 2;
}

/** The same for a short while with the profile on, which costs something, and so is no part of the figures above. */
async function profiledPass(scene: Scene): Promise<{ readonly issuing: Row[]; readonly transmitting: Row[] }> {
  const dir = path.join(scene.dataDir, 'perfil');
  scene.service = await startProfiled({ NFSE_DATA_DIR: scene.dataDir }, dir);
  const order = orderOf(scene, { firstNumber: 10_000_000, warmupMs: PROFILE_WARMUP_MS, measureMs: PROFILE_MS });
  const { result } = await generate(order, () => undefined);
  await scene.service.end('SIGINT');
  // The profile covers the warming up too; what it did then is taken to be at the same rate.
  const notes = result.notes * ((PROFILE_WARMUP_MS + PROFILE_MS) / PROFILE_MS);
  const each = (seconds: number): string => ((seconds / notes) * 1e6).toFixed(1);
  const rowsOf = (thread: number, table: Parameters<typeof stepsOf>[1]): Row[] => {
    const { steps, total } = stepsOf(profileOf(dir, thread), table);
    return [...[...steps].map(([name, seconds]): Row => [name, each(seconds)]), ['ao todo', each(total)]];
  };
  return { issuing: rowsOf(0, ISSUING), transmitting: rowsOf(1, TRANSMITTING) };
}

function startProfiled(env: NodeJS.ProcessEnv, dir: string): Promise<Running> {
  const options = { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${dir}`, PORT: '0', NFSE_LOG_LEVEL: 'warn' };
  return start(['serve'], { ...env, ...options }, /Serviço no ar em (\S+)[\s\S]*Ctrl-C encerra/);
}

type Part = { readonly firstNumber: number; readonly warmupMs: number; readonly measureMs: number };

function providersOf({ stage, options }: Pick<Scene, 'stage' | 'options'>): readonly ProviderKeys[] {
  return stage.pki.prestadores
    .slice(0, options.providers)
    .map(({ documento, certificado, chave }) => ({ documento, certificado, chave }));
}

function orderOf(scene: Scene, part: Part): LoadOrder {
  const { hostname, port } = new URL(scene.service.address);
  const { connections, providers } = scene.options;
  return {
    host: hostname,
    port: Number(port),
    path: `/${SLUG}/api/v1/nfse/v101`,
    connections,
    providers,
    ...part,
    signed: {
      providers: providersOf(scene),
      count: Math.ceil((RATE_MAX * (part.warmupMs + part.measureMs)) / 1000),
    },
  };
}

function measured(
  { service, simulator, dataDir }: Scene,
  order: LoadOrder,
): Promise<{ readonly result: LoadResult; readonly before: Look; readonly after: Look }> {
  return generate(order, async (): Promise<Look> => {
    const cpu = { ...cpuSecondsOf(service.pid, dataDir), simulator: cpuSecondsOfProcess(simulator.pid) };
    const { documentos } = (await simulator.ask('/estado')) as { documentos: number };
    return { ...cpu, accepted: documentos };
  });
}
