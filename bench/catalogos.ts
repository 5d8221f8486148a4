/**
 * `npm run bench -- --catalogos`: filtered pages of the catalogs over HTTP from another process, beside an empty server
 * on the same machine.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { run, startService } from '../scripts/stage.ts';
import { municipios, nbsList, servicos } from '../src/fiscal/catalogs/catalogs.ts';
import { type AskOrder, askMeasured, micros, placeOf } from './asker.ts';
import { openBare } from './bare.ts';
import { cpuSecondsOfProcess } from './cpu.ts';
import { printRows, type Row } from './tables.ts';

const WARMUP_MS = 2_000;
const LIST_LENGTH = 1_000;
const LIST_SEEN_MS = 3_000;
const BASE = '/integracao/api/v1/catalogo';

export type CatalogoOptions = { readonly connections: number; readonly seconds: number };

/** Requests of a screen while a person types and turns pages: a few hundred different queries, again and again. */
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

/** No query repeats within a run of seconds: each page is searched and written anew. */
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

/** A list longer than that of most municipalities, set by the operator's command. */
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
  // A process forgets its copy of a municipality within seconds.
  await pause(LIST_SEEN_MS);
}

function addressOf(question: string): string {
  return `${BASE}/${question}`;
}

/** `cpuSoFar`: processor seconds of the server. */
async function measured(order: AskOrder, cpuSoFar: () => number): Promise<readonly Row[]> {
  const { result, before, after } = await askMeasured(order, cpuSoFar);
  const { answers, seconds, bytes, p50, p99, cpu } = result;
  return [
    ['  respostas por segundo', (answers / seconds).toFixed(0)],
    ['  latência p50 / p99', `${p50.toFixed(2)} / ${p99.toFixed(2)} ms`],
    ['  tamanho médio da resposta', `${(bytes / answers).toFixed(0)} bytes`],
    ['  CPU por resposta: servidor, gerador de carga', `${micros(after - before, answers)}, ${micros(cpu, answers)}`],
  ];
}

/** The same against a server with only the cost of Node for a request. */
async function bareServer(order: Omit<AskOrder, 'host' | 'port' | 'paths'>): Promise<readonly Row[]> {
  const bare = await openBare();
  try {
    const where = { host: '127.0.0.1', port: bare.port, paths: ['/'] };
    return await measured({ ...order, ...where }, () => cpuSecondsOfProcess(bare.pid));
  } finally {
    await bare.end();
  }
}
