/**
 * `npm run bench -- --catalogos`: filtered pages of the catalogs, asked over HTTP by another process, beside what the same
 * machine does with nothing behind the port. Run as its own program it is that process: see {@link AskOrder}.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import { run, startService } from '../scripts/stage.ts';
import { municipios, nbsList, servicos } from '../src/fiscal/catalogs/catalogs.ts';
import { cpuSecondsOfProcess } from './cpu.ts';
import { printRows, type Row } from './tables.ts';

const WARMUP_MS = 2_000;
const LIST_LENGTH = 1_000;
const LIST_SEEN_MS = 3_000;
const BASE = '/integracao/api/v1/catalogo';

export type CatalogoOptions = { readonly connections: number; readonly seconds: number };

/** Each connection asks one path after the other, from a place of its own. */
type AskOrder = {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  readonly warmupMs: number;
  readonly measureMs: number;
  readonly paths: readonly string[];
};

type AskResult = {
  readonly answers: number;
  readonly seconds: number;
  readonly failures: number;
  readonly firstFailure: string | undefined;
  /** Bytes of heads and bodies. */
  readonly bytes: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpu: number;
};

/** What a screen asks while somebody types and turns pages: a few hundred different questions, again and again. */
function usualPaths(): readonly string[] {
  const ufs = [...new Set(municipios().map(({ uf }) => uf))];
  return [
    ...ufs.flatMap((uf) => [1, 2, 3, 4].map((page) => `municipios?uf=${uf}&page=${page}`)),
    ...['sao', 'santa', 'campo', 'nova', 'rio', 'porto'].map((nome) => `municipios?nome=${nome}`),
    ...Array.from({ length: 40 }, (_, item) => `codigos_tributacao_nacional?item=${item + 1}`),
    ...['construcao', 'software', 'transporte', 'saude', 'ensino'].map((one) => `nbs?descricao=${one}`),
    ...['I', 'II', 'III', 'IV', 'V'].map((secao) => `nbs?secao=${secao}`),
    'paises?nome=unidos',
    'moedas?sigla=USD',
    'moedas?codigo=220',
  ];
}

/** No question twice within a run of seconds: each page is searched and written for it. */
function distinctPaths(): readonly string[] {
  const names = [...new Set(municipios().map(({ nome }) => nome))];
  const digits = [...nbsList(), ...servicos()].map(({ codigo }) => codigo);
  return [
    ...names.flatMap((nome) => [25, 50].map((size) => `municipios?nome=${encodeURIComponent(nome)}&per_page=${size}`)),
    ...names.map(
      (nome, place) => `municipios?nome=${encodeURIComponent(nome.slice(0, 4))}&per_page=${(place % 99) + 1}`,
    ),
    ...digits.map((codigo) => `nbs?codigo=${codigo}`),
  ];
}

export async function benchCatalogos(dataDir: string, { connections, seconds }: CatalogoOptions): Promise<void> {
  const rows: Row[] = [['conexões, duração', `${connections}, ${seconds} s`]];
  const order = { connections, warmupMs: WARMUP_MS, measureMs: seconds * 1000 };
  const service = await startService({ NFSE_DATA_DIR: dataDir });
  try {
    const where = placeOf(service.address);
    const ask = (paths: readonly string[]): Promise<readonly Row[]> =>
      measured({ ...order, ...where, paths }, () => cpuSecondsOfProcess(service.pid));
    const usual = usualPaths().map(addressOf);
    rows.push([`páginas filtradas, ${usual.length} perguntas repetidas`, '']);
    rows.push(...(await ask(usual)));
    rows.push(['páginas filtradas, cada pergunta uma vez', '']);
    rows.push(...(await ask(distinctPaths().map(addressOf))));
    await registerList(dataDir);
    rows.push([`lista municipal de ${LIST_LENGTH} serviços`, '']);
    rows.push(...(await ask([`${BASE}/codigos_tributacao_municipal?descricao=construcao`])));
  } finally {
    await service.end('SIGINT');
  }
  rows.push(['piso: um servidor HTTP do Node que responde 3 KiB prontos', '']);
  rows.push(...(await bareServer(order)));
  printRows(rows);
}

/** A list longer than most municipalities have, by the command that an operator has. */
async function registerList(dataDir: string): Promise<void> {
  const file = path.join(dataDir, 'servicos.csv');
  const issuable = servicos().filter(({ emissivel }) => emissivel);
  const lines = Array.from({ length: LIST_LENGTH }, (_, place) => {
    const { codigo, descricao } = issuable[place % issuable.length]!;
    return `${place},"${descricao.slice(0, 150).replaceAll('"', "'")}",${codigo},,2.00,2026-01-01,`;
  });
  const head = 'codigo,descricao,codigo_tributacao_nacional,cnae_codigo,aliquota,inicio,fim';
  await writeFile(file, `${head}\n${lines.join('\n')}\n`);
  await run(['servicos', 'importar', file, '--municipio', 'integracao'], { NFSE_DATA_DIR: dataDir });
  // What a process remembers of a municipality is forgotten within seconds.
  await sleep(LIST_SEEN_MS);
}

function addressOf(question: string): string {
  return `${BASE}/${question}`;
}

function placeOf(address: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(address);
  return { host: hostname, port: Number(port) };
}

/** The asker in its own process; `cpu`: seconds that the asked has used so far. */
function measured(order: AskOrder, cpu: () => number): Promise<readonly Row[]> {
  const asker = fork(import.meta.filename, { env: process.env });
  asker.send(order);
  let [before, after] = [0, 0];
  return new Promise((resolve, reject) => {
    asker.on('message', (message) => {
      if (message === 'measuring') before = cpu();
      else if (message === 'measured') after = cpu();
      else resolve(rowsOf(message as AskResult, after - before));
    });
    asker.on('error', reject);
    asker.on('exit', (code) => code === 0 || reject(new Error(`the asker ended with ${code}`)));
  });
}

function rowsOf({ answers, seconds, failures, firstFailure, bytes, p50, p99, cpu }: AskResult, asked: number): Row[] {
  if (failures > 0) throw new Error(`${failures} questions were not answered; first: ${firstFailure}`);
  return [
    ['  respostas por segundo', (answers / seconds).toFixed(0)],
    ['  latência p50 / p99', `${p50.toFixed(2)} / ${p99.toFixed(2)} ms`],
    ['  tamanho médio da resposta', `${(bytes / answers).toFixed(0)} bytes`],
    ['  CPU por resposta: servidor, gerador de carga', `${micros(asked, answers)}, ${micros(cpu, answers)}`],
  ];
}

function micros(cpuSeconds: number, answers: number): string {
  return `${((cpuSeconds / answers) * 1e6).toFixed(0)} µs`;
}

/** Nothing but what Node itself does with a request, in a process of its own. */
async function bareServer(order: Omit<AskOrder, 'host' | 'port' | 'paths'>): Promise<readonly Row[]> {
  const server = fork(import.meta.filename, ['servir'], { env: process.env });
  try {
    const port = await new Promise<number>((resolve) =>
      server.once('message', (message) => resolve(message as number)),
    );
    return await measured({ ...order, host: '127.0.0.1', port, paths: ['/'] }, () => cpuSecondsOfProcess(server.pid!));
  } finally {
    await ended(server);
  }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

function serveBare(): void {
  const body = Buffer.alloc(3 * 1024, 'x');
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length });
    response.end(body);
  });
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
}

async function askAll(order: AskOrder): Promise<void> {
  const state = {
    measuring: false,
    ended: false,
    bytes: 0,
    failures: 0,
    firstFailure: undefined as string | undefined,
  };
  const latencies: number[] = [];
  const record = (ms: number, status: string, length: number, answer: () => string): void => {
    if (status !== '200') {
      state.failures += 1;
      state.firstFailure ??= answer();
    } else if (state.measuring) {
      latencies.push(ms);
      state.bytes += length;
    }
  };
  const stride = Math.ceil(order.paths.length / order.connections);
  const connections = Array.from({ length: order.connections }, (_, place) =>
    askOn(order, place * stride, () => state.ended, record),
  );
  await sleep(order.warmupMs);
  process.send!('measuring');
  state.measuring = true;
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  await sleep(order.measureMs);
  state.measuring = false;
  const seconds = (performance.now() - began) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  process.send!('measured');
  state.ended = true;
  await Promise.all(connections);
  latencies.sort((one, other) => one - other);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;
  const { bytes, failures, firstFailure } = state;
  const used = (cpu.user + cpu.system) / 1e6;
  const answers = latencies.length;
  const result: AskResult = { answers, seconds, failures, firstFailure, bytes, p50: at(0.5), p99: at(0.99), cpu: used };
  process.send!(result, () => process.disconnect?.());
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** One connection: writes a question, waits for the whole answer, writes the next. */
function askOn(
  { host, port, paths }: AskOrder,
  first: number,
  isOver: () => boolean,
  record: (ms: number, status: string, length: number, answer: () => string) => void,
): Promise<void> {
  const questions = paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`));
  return new Promise((resolve, reject) => {
    const socket = connect(port, host);
    socket.setNoDelay(true);
    let [next, sentAt, have, want] = [first, 0, 0, -1];
    let head: Buffer | undefined;
    const send = (): void => {
      if (isOver()) {
        socket.destroy();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(questions[next++ % questions.length]!);
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      have += chunk.length;
      if (want < 0) {
        head = head === undefined ? chunk : Buffer.concat([head, chunk]);
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        const length = /content-length: (\d+)/i.exec(head.toString('latin1', 0, end));
        want = end + 4 + Number(length?.[1] ?? Number.NaN);
      }
      if (have < want) return;
      const answer = head!;
      record(performance.now() - sentAt, answer.toString('latin1', 9, 12), have, () => answer.toString('utf8'));
      head = undefined;
      have = 0;
      want = -1;
      send();
    });
  });
}

if (import.meta.main) {
  if (process.argv[2] === 'servir') serveBare();
  else process.once('message', (order) => void askAll(order as AskOrder));
}
