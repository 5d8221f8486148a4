/**
 * `npm run test:citus`: the tests of the store, the events and the doors, on databases that Citus distributes.
 * `NFSE_TEST_CITUS` names a coordinator whose database knows its nodes. The run ends with the statements that Citus
 * refused. `npm run test:citus -- FILE…` runs other files.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { chooseFiles } from './choose-tests.ts';

const TESTS = chooseFiles({ places: [], circle: 'both' });

/** The file of a test, in any folder. */
function findTest(name: string): string {
  const file = TESTS.find((one) => path.basename(one) === `${name}.test.ts`);
  if (file === undefined) throw new Error(`${name}: there is no such test`);
  return file;
}

const ROOT = path.resolve(import.meta.dirname, '..');
const FILES = [
  ...['store', 'store-eventos', 'eventos', 'idempotencia', 'numeracao', 'linha-presa', 'meses'],
  ...['deliver', 'send-evento', 'worker', 'soap', 'soap-operacoes', 'cadastro', 'cadastros', 'importacao', 'aliquotas'],
  ...['auditoria', 'evidencia.maquina', 'titular', 'guarda', 'mudancas', 'avisos', 'exportacoes'],
  ...['vigiar.maquina', 'vigiar-banco.maquina', 'diagnostico.maquina', 'banco.maquina', 'arquivo.maquina'],
  ...['mudanca.maquina', 'no-perdido.maquina', 'quedas-citus.maquina'],
  ...['ambientes', 'ensaio-cadastros', 'painel-cadastros', 'painel-municipio'],
  ...['simulation', 'simulation.maquina'],
].map(findTest);
const FOLDERS = ['test/journeys'];

if (process.env['NFSE_TEST_CITUS'] === undefined) {
  console.error(`NFSE_TEST_CITUS não diz onde está um Citus, e nada foi testado. Suba um nesta máquina e indique-o:

  export $(scripts/citus-local.sh iniciar --sem-disco)
  npm run test:citus

O script diz o que instalar onde não há Citus. Para outro, indique o endereço do coordenador, por um superusuário, com o banco que conhece os nós.`);
  process.exit(2);
}
const asked = process.argv.slice(2);
const runner = path.join(ROOT, 'scripts/run-tests.ts');
const places = asked.length > 0 ? asked : [...FILES, ...FOLDERS];
const { status } = spawnSync(process.execPath, [runner, '--todos', '--juntos', '2', ...places], {
  cwd: ROOT,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
