/**
 * `npm run bench`: the whole service as its users run it, under load from another process, beside the floor of the same
 * machine. Figures are ratios within one run; they are not compared between machines.
 *
 *   --conexoes N (64; 128 with --assinado)   --segundos N (15)   --prestadores N (50)
 *   --julgar              only what judging one DPS costs, with every rule on
 *   --catalogos           filtered pages of the catalogs
 *   --danfse              only the printed form: pages a second, one core
 *   --custo               what the dearest requests take of the thread that serves; --so TEXTO: only those with it in their names
 *   --assinado            production: signed documents, transmission to the ADN simulator
 *   --assinado --fora N   the same with the ADN away for N seconds in the middle
 *   --comparar REF        another commit beside this one, in the same seconds: ratios of CPU time a note, signed and transmitted
 *     --sandbox, --json   unsigned, in the integration environment; JSON bodies
 *     --partidas N (2)  --janelas N (4, of each start)  --notas N (1000, of each service in each window)
 *     --ritmo N (150/s, to each service)  --rajada N (16, sent at once)
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { run, startService } from '../scripts/stage.ts';
import { benchCatalogos } from './catalogos.ts';
import { benchComparison } from './comparar.ts';
import { benchCusto } from './custo.ts';
import { danfseFigures } from './danfse.ts';
import { floors } from './floor.ts';
import { judgeFigures } from './judge.ts';
import type { LoadOrder } from './load.ts';
import { cpuSecondsOf } from './processes.ts';
import { drainTime, generate, latencyRow, printRows, verifyThere } from './run.ts';
import { benchOutage, benchSigned } from './signed.ts';

const { values } = parseArgs({
  options: {
    conexoes: { type: 'string' },
    segundos: { type: 'string', default: '15' },
    prestadores: { type: 'string', default: '50' },
    assinado: { type: 'boolean', default: false },
    fora: { type: 'string' },
    julgar: { type: 'boolean', default: false },
    danfse: { type: 'boolean', default: false },
    catalogos: { type: 'boolean', default: false },
    custo: { type: 'boolean', default: false },
    so: { type: 'string' },
    comparar: { type: 'string' },
    sandbox: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    partidas: { type: 'string', default: '2' },
    janelas: { type: 'string', default: '4' },
    notas: { type: 'string', default: '1000' },
    rajada: { type: 'string', default: '16' },
    ritmo: { type: 'string', default: '150' },
  },
});
const WARMUP_MS = 4_000;
/** The rate that the municipality has registered; another one draws a remark, and so does work that an ordinary note does not make. */
const BENCH_DPS = { 'valores/trib/tribMun/pAliq': '5.00' };
const SLUG = 'integracao';
const options = {
  connections: Number(values.conexoes ?? (values.assinado ? 128 : 64)),
  seconds: Number(values.segundos),
  providers: Number(values.prestadores),
};
const dataDir = await mkdtemp(path.join(tmpdir(), 'nfse-bench-'));
// Run as root, the database server's own account must be able to enter.
await chmod(dataDir, 0o755);

try {
  if (values.comparar !== undefined) await compareWith(values.comparar);
  else if (values.julgar) printRows(judgeRows());
  else if (values.danfse) printRows(danfseRows());
  else if (values.custo) process.exitCode = (await benchCusto(dataDir, values.so)) ? 0 : 1;
  else if (values.catalogos) await benchCatalogos(dataDir, options);
  else if (values.assinado && values.fora !== undefined) await benchOutage(dataDir, options, Number(values.fora));
  else if (values.assinado) await benchSigned(dataDir, options);
  else await benchSandbox();
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

function compareWith(ref: string): Promise<void> {
  return benchComparison(dataDir, {
    ref,
    path: { isSandbox: values.sandbox, format: values.json ? 'json' : 'xml', patch: BENCH_DPS },
    starts: Number(values.partidas),
    windows: Number(values.janelas),
    notes: Number(values.notas),
    rate: Number(values.ritmo),
    burst: Number(values.rajada),
    providers: 20,
  });
}

function danfseRows(): [string, string][] {
  const { ordinary, longest, bytes } = danfseFigures();
  return [
    ['DANFSe por segundo, nota comum', `${ordinary.toFixed(0)} (1 núcleo)`],
    ['DANFSe por segundo, textos mais longos', `${longest.toFixed(0)} (1 núcleo)`],
    ['tamanho do PDF da nota comum', `${bytes} bytes`],
  ];
}

function judgeRows(): [string, string][] {
  const { rules, documents, ordinary, mixed, dearest } = judgeFigures();
  return [
    ['julgamento: regras', `${rules}`],
    ['julgamento da DPS comum, mediana', `${ordinary.toFixed(1)} µs`],
    [`julgamento de ${documents} DPS aceitas, mediana`, `${mixed.toFixed(1)} µs`],
    ['julgamento da mais cara delas, mediana', `${dearest.toFixed(1)} µs`],
  ];
}

async function benchSandbox(): Promise<void> {
  const env = { NFSE_DATA_DIR: dataDir };
  // What one address may send to a sandbox in a day is sent here in seconds.
  await run(['migrar'], env);
  await run(['municipio', 'alterar', SLUG, '--limite-endereco', '0', '--limite-prestador', '0'], env);
  const service = await startService(env);
  try {
    const { hostname, port } = new URL(service.address);
    const order: LoadOrder = {
      host: hostname,
      port: Number(port),
      path: `/${SLUG}/api/v1/nfse/v101`,
      connections: options.connections,
      warmupMs: WARMUP_MS,
      measureMs: options.seconds * 1000,
      providers: options.providers,
      firstNumber: 1,
    };
    const { result, before, after } = await generate(order, () => cpuSecondsOf(service.pid, dataDir));
    await verifyThere(service.address, SLUG, result);
    const drained = await drainTime(service.address, SLUG, result);
    const floor = await floors(dataDir);
    const rate = result.notes / result.seconds;
    const perThousand = (seconds: number): string => ((seconds / result.notes) * 1000).toFixed(3);
    printRows([
      ['conexões, prestadores, duração', `${order.connections}, ${order.providers}, ${result.seconds.toFixed(1)} s`],
      ['notas emitidas', `${result.notes}`],
      ['notas por segundo', rate.toFixed(0)],
      latencyRow(result),
      ['CPU por mil notas: serviço', `${perThousand(after.service - before.service)} s`],
      ['CPU por mil notas: banco', `${perThousand(after.database - before.database)} s`],
      ['CPU por mil notas: gerador de carga', `${perThousand(result.cpu)} s`],
      ['última nota autorizada após', `${drained.toFixed(2)} s`],
      ['piso: leitura do XML e do leiaute, sozinha', `${floor.read.toFixed(0)} documentos/s (1 núcleo)`],
      ['piso: inserção dos mesmos bytes, sozinha', `${floor.insert.toFixed(0)} notas/s`],
      ...judgeRows(),
      ['emissão / piso de leitura', (rate / floor.read).toFixed(2)],
      ['emissão / piso de inserção', (rate / floor.insert).toFixed(2)],
    ]);
  } finally {
    await service.end('SIGINT');
  }
}
