/**
 * `npm test`: the tests of a circle, or those that belong to the folders and files named behind `--`, with what they cost and what was left
 * out. A test file whose name ends in `.maquina.test.ts` belongs to the second circle, any other to the first.
 */
import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from '../test/setup.ts';
import { Report } from './test-report.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const TESTS = ['test/**/*.test.ts', 'src/**/*.test.ts', 'packages/*/{src,test}/**/*.test.ts'];
const OF_MACHINE = '.maquina.test.ts';
/** For one test; a machine that stands still for minutes breaks none off. */
const TIMEOUT_MS = 900_000;
/** More than there are cores: servers, disks and other programs are often waited for. */
const AT_ONCE = 4;
const SEED_MAX = 2 ** 32 - 1;

const AJUDA = `npm test                            o primeiro círculo: lei, documentos, fluxos, portas, banco, console
npm run test:maquina                o segundo: servidores próprios, mortes, cópias, proxies, clientes em outras linguagens
npm test -- src/fiscal/rules        o que pertence a uma pasta: os testes dela, e os de test/ com o nome dela ou de um arquivo dela
npm test -- test/store.test.ts      um arquivo, de qualquer círculo, com tudo o que ele diz

  --todos          os dois círculos
  --maquina        só o segundo
  --vezes N        N vezes seguidas; o fim diz o que falhou em algumas e passou em outras
  --ao-acaso       em ordem sorteada, com a semente no fim;  --semente N  na ordem daquela vez
  --juntos N       quantos arquivos ao mesmo tempo (${AT_ONCE})
`;

type Asked = {
  readonly places: readonly string[];
  readonly circle: 'first' | 'machine' | 'both';
  readonly times: number;
  readonly seed: number | undefined;
  readonly atOnce: number;
};

function readAsked(): Asked {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      todos: { type: 'boolean' },
      maquina: { type: 'boolean' },
      vezes: { type: 'string', default: '1' },
      'ao-acaso': { type: 'boolean' },
      semente: { type: 'string' },
      juntos: { type: 'string', default: String(AT_ONCE) },
    },
  });
  const drawn = values['ao-acaso'] ? Math.floor(Math.random() * SEED_MAX) : undefined;
  return {
    places: positionals,
    circle: values.todos ? 'both' : values.maquina ? 'machine' : 'first',
    times: readCount('vezes', values.vezes),
    seed: values.semente === undefined ? drawn : readCount('semente', values.semente),
    atOnce: readCount('juntos', values.juntos),
  };
}

function readCount(option: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0 && count <= SEED_MAX) return count;
  throw new Error(`--${option}: ${text} não é um número inteiro maior que zero.`);
}

/** Test files, as paths from the root, that run: sorted, each once. */
function chooseFiles({ places, circle }: Asked): readonly string[] {
  const all = globSync(TESTS, { cwd: ROOT, exclude: (name) => name.endsWith('node_modules') }).sort();
  const ofCircle = all.filter((file) => circle === 'both' || file.endsWith(OF_MACHINE) === (circle === 'machine'));
  if (places.length === 0) return ofCircle;
  const chosen = places.flatMap((place) => {
    const from = path.relative(ROOT, path.resolve(place));
    const files = all.includes(from) ? [from] : ofCircle.filter(belongsTo(from));
    if (files.length === 0) throw new Error(`${place}: nenhum teste é daí. Diga uma pasta ou um arquivo do projeto.`);
    return files;
  });
  return [...new Set(chosen)].sort();
}

/**
 * Whether a test file belongs to a folder or to a file of the source: it stands in it or beside it, or its name begins with the name of the
 * folder or of a file in it, as `test/soap-fuzz.test.ts` belongs to `src/doors/soap`.
 */
function belongsTo(place: string): (file: string) => boolean {
  if (!existsSync(path.join(ROOT, place))) return () => false;
  const isFile = place.endsWith('.ts');
  const names = new Set(
    (isFile ? [place] : [place, ...globSync('*.ts', { cwd: path.join(ROOT, place) })]).map((name) =>
      path.basename(name, '.ts'),
    ),
  );
  return (file) => {
    const words = path.basename(file).split('.')[0]!.split('-');
    const isNamed = words.some((_, index) => names.has(words.slice(0, index + 1).join('-')));
    if (isFile) return path.dirname(file) === path.dirname(place) ? isNamed : isNamed && file.startsWith('test/');
    return file.startsWith(`${place}/`) || (isNamed && file.startsWith('test/'));
  };
}

async function runOnce(files: readonly string[], asked: Asked, report: Report): Promise<void> {
  const stream = run({
    files: files.map((file) => path.join(ROOT, file)),
    concurrency: asked.atOnce,
    timeout: TIMEOUT_MS,
    execArgv: ['--import', path.join(ROOT, 'test/support/end.ts')],
    ...(asked.seed === undefined ? {} : { randomSeed: asked.seed }),
  });
  for await (const event of stream) report.take(event);
}

if (process.argv.includes('--help') || process.argv.includes('--ajuda')) {
  process.stdout.write(AJUDA);
} else {
  const asked = readAsked();
  const files = chooseFiles(asked);
  const report = new Report({ root: ROOT, isTalkative: asked.places.length > 0 });
  try {
    await globalSetup();
    for (let time = 1; time <= asked.times; time += 1) {
      report.beginRun();
      if (asked.times > 1) console.log(`\n${time}ª vez de ${asked.times}`);
      await runOnce(files, asked, report);
    }
  } finally {
    await globalTeardown();
  }
  report.tell(asked);
  process.exitCode = report.hasFailed() ? 1 : 0;
}
