/**
 * `npm test`: the tests of a circle, or those of the folders and files named behind `--`, with their cost and the
 * omissions. A test file whose name ends in `.maquina.test.ts` belongs to the second circle, any other to the first.
 */
import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from '../test/setup.ts';
import { type Circle, chooseFiles } from './choose-tests.ts';
import { type RunOptions, runTests } from './run-files.ts';
import type { Report } from './test-report.ts';

/** The number exceeds the cores: tests often wait for servers, disks and other programs. */
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

type Asked = Omit<RunOptions, 'isTalkative'> & { readonly places: readonly string[]; readonly circle: Circle };

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

async function runAsked(asked: Asked, files: readonly string[]): Promise<void> {
  let report: Report;
  try {
    await globalSetup();
    report = await runTests(files, { ...asked, isTalkative: asked.places.length > 0 });
  } finally {
    await globalTeardown();
  }
  report.tell(asked);
  process.exitCode = report.hasFailed() ? 1 : 0;
}

/** The request of the command line; undefined: its fault has been reported. */
function readOrRefuse(): { readonly asked: Asked; readonly files: readonly string[] } | undefined {
  try {
    const asked = readAsked();
    return { asked, files: chooseFiles(asked) };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${AJUDA}`);
    process.exitCode = 2;
    return undefined;
  }
}

if (process.argv.includes('--help')) process.stdout.write(AJUDA);
else {
  const read = readOrRefuse();
  if (read !== undefined) await runAsked(read.asked, read.files);
}
