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
import { cnpjsOf, signedDps } from './documents.ts';
import { floors, signedFloor } from './floor.ts';
import type { LoadOrder, LoadResult } from './load.ts';
import { cpuSecondsOf, cpuSecondsOfProcess } from './processes.ts';
import { stepsOf } from './profile.ts';
import { drainTime, generate, latencyRow, printRows, type Row, verifyThere } from './run.ts';

const SLUG = 'exemplo';
/** More than this is not expected of two cores; the documents are signed before the clock starts. */
const RATE_MAX = 2_600;
const WARMUP_MS = 5_000;
const PROFILE_MS = 6_000;

export type SignedOptions = { readonly connections: number; readonly seconds: number; readonly providers: number };

type Cpu = { readonly service: number; readonly database: number; readonly simulator: number };

export async function benchSigned(dataDir: string, options: SignedOptions): Promise<void> {
  const stage = await openStage(path.join(dataDir, 'palco'), cnpjsOf(options.providers), Date.now());
  const simulator = await startSimulator(stage);
  const env = { NFSE_DATA_DIR: dataDir };
  let service = await startService(env);
  try {
    const providers = stage.pki.prestadores.slice(0, options.providers);
    const tenant = providers.map(({ documento }, place) => ({ documento, razaoSocial: `Prestador ${place + 1} Ltda` }));
    await registerTenant(stage, { slug: SLUG, ibge: '3550308', adn: simulator.address, providers: tenant }, env);
    const firstRun = orderOf(service, stage, options, {
      firstNumber: 1,
      warmupMs: WARMUP_MS,
      measureMs: options.seconds * 1000,
    });
    const { result, before, after } = await measured(firstRun, service, simulator, dataDir);
    await verifyThere(service.address, SLUG, result);
    const drained = await drainTime(service.address, SLUG, result);
    await service.end('SIGINT');

    const profileDir = path.join(dataDir, 'perfil');
    service = await startProfiled(env, profileDir);
    const next = { firstNumber: 10_000_000, warmupMs: 2_000, measureMs: PROFILE_MS };
    const profiled = await measured(orderOf(service, stage, options, next), service, simulator, dataDir);
    await service.end('SIGINT');
    const { readdir } = await import('node:fs/promises');
    const [file] = await readdir(profileDir);
    const { steps, total } = stepsOf(path.join(profileDir, file!));
    const pooled = profiled.after.service - profiled.before.service;

    const sample = await signedDps(exampleXml({ serie: '1', nDPS: '1' }), providers, 1, 1_000);
    const floor = signedFloor(sample);
    const insert = (await floors(dataDir)).insert;
    const rate = result.notes / result.seconds;
    const perThousand = (seconds: number): string => ((seconds / result.notes) * 1000).toFixed(3);
    const rows: Row[] = [
      [
        'conexões, prestadores, duração',
        `${options.connections}, ${options.providers}, ${result.seconds.toFixed(1)} s`,
      ],
      ['notas assinadas emitidas', `${result.notes}`],
      ['notas por segundo', rate.toFixed(0)],
      latencyRow(result),
      [
        'aceitas pelo ADN simulado no mesmo tempo',
        `${after.accepted - before.accepted} (${((after.accepted - before.accepted) / result.seconds).toFixed(0)}/s)`,
      ],
      ['CPU por mil notas: serviço', `${perThousand(after.service - before.service)} s`],
      ['CPU por mil notas: banco', `${perThousand(after.database - before.database)} s`],
      ['CPU por mil notas: ADN simulado', `${perThousand(after.simulator - before.simulator)} s`],
      ['CPU por mil notas: gerador de carga', `${perThousand(result.cpu)} s`],
      ['última nota autorizada após', `${drained.toFixed(2)} s`],
      ['piso: analisar, resumir e verificar RSA, sozinho', `${floor.toFixed(0)} documentos/s (1 núcleo)`],
      ['piso: inserção dos mesmos bytes, sozinha', `${insert.toFixed(0)} notas/s`],
      ['emissão / piso de verificação', (rate / floor).toFixed(2)],
      ['emissão / piso de inserção', (rate / insert).toFixed(2)],
    ];
    printRows(rows);
    const notes = profiled.result.notes * ((2_000 + PROFILE_MS) / PROFILE_MS);
    console.log(
      `\nLinha principal do serviço, em outra passada com o perfil ligado (µs por nota, ${profiled.result.notes} notas em ${PROFILE_MS / 1000} s):`,
    );
    printRows([...steps].map(([name, seconds]): Row => [name, ((seconds / notes) * 1e6).toFixed(1)]));
    const all = (profiled.result.notes / PROFILE_MS) * 1000;
    printRows([
      ['linha principal, ao todo', ((total / notes) * 1e6).toFixed(1)],
      ['outras linhas (RSA, gzip, disco)', ((pooled / profiled.result.notes - total / notes) * 1e6).toFixed(1)],
      ['notas por segundo com o perfil ligado', all.toFixed(0)],
    ]);
  } finally {
    await service.end('SIGINT');
    await simulator.end('SIGINT');
    await rm(stage.dir, { recursive: true, force: true });
  }
}

function startProfiled(env: NodeJS.ProcessEnv, dir: string): Promise<Running> {
  const options = { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${dir}`, PORT: '0', NFSE_LOG_LEVEL: 'warn' };
  return start(['serve'], { ...env, ...options }, /Serviço no ar em (\S+)[\s\S]*Ctrl-C encerra/);
}

type Part = { readonly firstNumber: number; readonly warmupMs: number; readonly measureMs: number };

function orderOf(service: Running, { pki }: Stage, options: SignedOptions, part: Part): LoadOrder {
  const { hostname, port } = new URL(service.address);
  const providers = pki.prestadores
    .slice(0, options.providers)
    .map(({ documento, certificado, chave }) => ({ documento, certificado, chave }));
  const count = Math.ceil((RATE_MAX * (part.warmupMs + part.measureMs)) / 1000);
  return {
    host: hostname,
    port: Number(port),
    path: `/${SLUG}/api/v1/nfse/v101`,
    connections: options.connections,
    providers: options.providers,
    ...part,
    signed: { providers, count },
  };
}

async function measured(
  order: LoadOrder,
  service: Running,
  simulator: Simulator,
  dataDir: string,
): Promise<{ result: LoadResult; before: Cpu & { accepted: number }; after: Cpu & { accepted: number } }> {
  const look = async (): Promise<Cpu & { accepted: number }> => {
    const cpu = { ...cpuSecondsOf(service.pid, dataDir), simulator: cpuSecondsOfProcess(simulator.pid) };
    const { documentos } = await simulator.ask('/estado');
    return { ...cpu, accepted: Number(documentos) };
  };
  return generate(order, look);
}
