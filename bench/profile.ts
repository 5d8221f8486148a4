/**
 * `npm run bench -- --perfil`: the work of the service's threads, from the profiles of V8: microseconds per note and
 * step of our path. Profiling has a cost of its own, so these are shares of the work, and no figures to compare.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { MeasureOptions } from './medir.ts';
import { onService, runLoads } from './scene.ts';
import { printRows, type Row } from './tables.ts';

type Frame = { readonly functionName: string; readonly url: string };
type Node = { readonly id: number; readonly callFrame: Frame; readonly children?: readonly number[] };
type Profile = {
  readonly nodes: readonly Node[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};

export async function benchProfile(dataDir: string, options: MeasureOptions): Promise<void> {
  const { rate, burst } = options;
  const notes = options.windows * options.notes;
  const dir = path.join(dataDir, 'perfil');
  const env = { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${dir}` };
  const command = { kind: 'open', count: notes, rate, burst } as const;
  await onService(
    dataDir,
    options,
    async ({ scene, load }) => void (await runLoads(scene, [{ ...load, command }])),
    env,
  );
  const rowsOf = (thread: number, table: Steps): Row[] => {
    const { steps, total } = stepsOf(profileOf(dir, thread), table);
    const each = (seconds: number): string => ((seconds / notes) * 1e6).toFixed(1);
    return [...[...steps].map(([name, seconds]): Row => [name, each(seconds)]), ['ao todo', each(total)]];
  };
  console.log(`Tempo por nota, em µs, desde que o serviço partiu; ${notes} notas. O fio que recebe e emite:`);
  printRows(rowsOf(0, ISSUING));
  console.log('\nO fio que transmite:');
  printRows(rowsOf(1, TRANSMITTING));
}

/** The first row with a matching frame names the step; frames are read from the innermost on. */
type Steps = readonly (readonly [string, (frame: Frame) => boolean])[];

/** Steps of the thread with the doors. */
const ISSUING: Steps = [
  ['ler o XML numa passada', ({ url }) => /documents\/plain-[\w-]+\.ts$/.test(url)],
  [
    'analisar o XML (libxml2)',
    ({ functionName, url }) => /libxml2/.test(url) && /^(fromBuffer|parse)/.test(functionName),
  ],
  ['canonicalizar (libxml2)', ({ functionName, url }) => /libxml2/.test(url) && /^canonicalize/.test(functionName)],
  ['árvore da forma canônica', ({ url }) => url.endsWith('documents/canonical.ts')],
  ['verificar a assinatura', ({ url }) => /documents\/(signed|signer-faults|trust|certificate)\.ts$/.test(url)],
  ['resto da leitura do XML', ({ url }) => url.endsWith('documents/xml.ts')],
  ['ler o leiaute', ({ url }) => /fiscal\/layout\/(?!write|normalise)/.test(url)],
  ['julgar', ({ url }) => url.endsWith('fiscal/judge.ts')],
  ['compor a NFS-e', ({ url }) => url.endsWith('fiscal/compose-nfse.ts')],
  ['gravar', ({ url }) => /\/src\/base\/(pg|book)\/|\.rows\.ts$/.test(url) || /node_modules\/pg/.test(url)],
  ['fatos', ({ url }) => url.endsWith('base/world/gather-facts.ts')],
  [
    'HTTP',
    ({ url }) =>
      /\/(doors\/rest|base\/http)\//.test(url) || /find-my-way|node:_http|node:net|node:internal\/streams/.test(url),
  ],
  ['coleta de lixo', ({ functionName }) => functionName === '(garbage collector)'],
];

/** Steps of the transmitting thread. */
const TRANSMITTING: Steps = [
  ['assinar (RSA e resumos)', ({ url }) => url.endsWith('documents/signing.ts')],
  ['comprimir', ({ url }) => url.startsWith('node:zlib')],
  [
    'gravar e ler do banco',
    ({ url }) => /\/src\/base\/(pg|book)\/|\.rows\.ts$/.test(url) || /node_modules\/pg/.test(url),
  ],
  ['enviar e ler a resposta', ({ url }) => url.includes('/src/adn/') || /undici|node:(net|_?tls)/.test(url)],
  ['montar e assentar', ({ url }) => /\/src\/(subjects|base\/(world|delivery))\//.test(url)],
  ['coleta de lixo', ({ functionName }) => functionName === '(garbage collector)'],
];

/** The profile of one thread, from the folder with the profiles of a process; 0 is the main one. */
function profileOf(dir: string, thread: number): string {
  const name = readdirSync(dir).find((one) => one.split('.')[4] === String(thread));
  if (name === undefined) throw new Error(`there is no profile of thread ${thread} in ${dir}`);
  return path.join(dir, name);
}

/** Seconds by step, and of all steps together; idle time is not counted. */
function stepsOf(file: string, table: Steps): { readonly steps: ReadonlyMap<string, number>; readonly total: number } {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map<number, number>();
  for (const { id, children } of nodes) for (const child of children ?? []) parents.set(child, id);
  const known = new Map<number, string | undefined>();
  const stepOf = (id: number): string | undefined => {
    if (known.has(id)) return known.get(id);
    const { callFrame } = byId.get(id)!;
    const own = table.find(([, fits]) => fits(callFrame))?.[0];
    const parent = parents.get(id);
    const step = own ?? (parent === undefined ? undefined : stepOf(parent));
    known.set(id, step);
    return step;
  };
  const steps = new Map<string, number>(table.map(([name]) => [name, 0]));
  let total = 0;
  samples.forEach((id, place) => {
    if (byId.get(id)!.callFrame.functionName === '(idle)') return;
    const seconds = (timeDeltas[place] ?? 0) / 1e6;
    const step = stepOf(id) ?? 'o resto (laço de eventos, TLS, Node)';
    steps.set(step, (steps.get(step) ?? 0) + seconds);
    total += seconds;
  });
  return { steps, total };
}
