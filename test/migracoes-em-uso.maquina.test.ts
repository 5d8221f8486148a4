/**
 * A database is migrated to a new version while two processes of the previous version issue notes. Its `migrar` is killed with -9 on the
 * way and started again. The processes are then replaced one after another. Clients that retry see no failure, and nothing is lost.
 *
 * The previous version is the program of today. The new one is that program with additional migrations that have steps of each kind. So the
 * test needs no history and does not grow old. NFSE_TEST_LONGO=1 does it with a million notes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distinctDps } from '../bench/documents.ts';
import { createCliente } from '../packages/cliente/src/index.ts';
import { openPool } from '../src/base/pg/open.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { MESES } from './support/banco-cheio.ts';
import { fillNotas } from './support/cheio.ts';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf, emptyDatabase } from './support/database.ts';
import { pace } from './support/pace.ts';
import { ownPort } from './support/ports.ts';
import { ROOT, type ServiceProcess, startServiceProcess } from './support/process.ts';
import { LONG } from './support/seed.ts';
import { untilTrue } from './support/until.ts';
import { migrarOf, nextVersion } from './support/versoes.ts';

const TENANT = 'alfa';
const ROWS = LONG ? 1_000_000 : 10_000;
const CLIENTS_A_PROCESS = 2;
/** The pause of a client between an answer and the next request. */
const PAUSE_MS = 50;

type Load = {
  readonly answered: string[];
  readonly failed: unknown[];
  readonly repeated: string[];
  readonly slowestMs: () => number;
  stop(): Promise<void>;
};

const documentOf = distinctDps(exampleXml({ serie: '1', nDPS: '1' }), 20);
let number = 0;

/** Clients at each address, each sending one note after another, repeated until it is answered. */
function startLoad(addresses: readonly string[]): Load {
  const answered: string[] = [];
  const failed: unknown[] = [];
  const repeated: string[] = [];
  let slowest = 0;
  let isEnded = false;
  const issue = async (url: string): Promise<void> => {
    const cliente = createCliente({
      url,
      municipio: TENANT,
      insistencia: { tentativas: 50, primeiraEsperaMs: 100, esperaMaximaMs: 1_000, prazoMs: 120_000 },
      aoRepetir: ({ motivo }) => repeated.push(motivo),
    });
    while (!isEnded) {
      const began = performance.now();
      number += 1;
      await cliente.emitirNota(documentOf(number)).then(
        ({ chave_acesso }) => answered.push(chave_acesso),
        (error: unknown) => failed.push(error),
      );
      slowest = Math.max(slowest, performance.now() - began);
      await pace(PAUSE_MS);
    }
  };
  const running = addresses.flatMap((url) => Array.from({ length: CLIENTS_A_PROCESS }, () => issue(url)));
  return {
    answered,
    failed,
    repeated,
    slowestMs: () => Math.round(slowest),
    stop: async () => {
      isEnded = true;
      await Promise.all(running);
    },
  };
}

/** Waits until more notes are answered. */
async function goesOn({ answered, failed }: Load): Promise<void> {
  const before = answered.length;
  await untilTrue(() => answered.length >= before + 20 || failed.length > 0, 'notes are issued');
}

test('from the version before to the next, in use', async (t) => {
  const [before, after] = [ROOT, await nextVersion()];
  const connection = await emptyDatabase();
  const env = { DATABASE_URL: databaseUrlOf(connection) };
  assert.equal((await migrarOf(before, env)).code, 0);
  const pool = openPool(connection, () => undefined);
  onEnd(() => pool.end());
  const made = `insert into municipios (tenant, ambiente, criado_em) values ($1, 'homologacao', now())`;
  await pool.query(made, [TENANT]);
  await fillNotas(pool, TENANT, ROWS, MESES);

  const ports = [await ownPort(), await ownPort()].map(String);
  const start = (root: string, PORT: string): Promise<ServiceProcess> => startServiceProcess({ ...env, PORT }, root);
  const old = [await start(before, ports[0]!), await start(before, ports[1]!)];
  const load = startLoad(old.map(({ address }) => address));
  await goesOn(load);

  const killed = await migrarOf(after, env, (line) => /preenche notas/.test(line));
  assert.equal(killed.code, 'SIGKILL', killed.told.join('\n'));
  await goesOn(load);
  const began = performance.now();
  const { code, told } = await migrarOf(after, env);
  assert.equal(code, 0, told.join('\n'));
  const seconds = Math.round((performance.now() - began) / 1000);
  const meanwhile = load.slowestMs();
  assert.match(told[0] ?? '', /^\[(?!1\/)/, 'it goes on where the one before was killed');
  // The server of the tests does not wait for its disk, and every command warns of that.
  const left = (await migrarOf(after, env)).told.filter((line) => !line.startsWith('Aviso: o PostgreSQL está com'));
  assert.deepEqual(left, [], 'and is done');
  // Processes of the previous version work on the schema of the new one.
  await goesOn(load);
  for (const [place, one] of old.entries()) {
    assert.equal(await one.end('SIGTERM'), 0, one.output());
    await start(after, ports[place]!);
  }
  await goesOn(load);
  await load.stop();

  const { answered, failed, repeated } = load;
  t.diagnostic(
    `${ROWS} rows, ${seconds} s; ${answered.length} notes, slowest ${meanwhile} ms during migrations, ${load.slowestMs()} ms when processes were replaced, ${repeated.length} repeated`,
  );
  assert.deepEqual(failed, []);
  const { rows } = await pool.query<{ kept: number; issued: number; gaps: number }>(
    `select count(*) filter (where chave_acesso = any ($2))::int as kept, count(*)::int as issued,
       (select count(*)::int from (select max(numero_dps) <> count(*) as gap from notas where tenant = $1 and id > $3 group by prestador_cpf_cnpj) g
         where gap) as gaps
     from notas where tenant = $1 and id > $3`,
    [TENANT, answered, ROWS],
  );
  assert.deepEqual(rows[0], { kept: answered.length, issued: answered.length, gaps: 0 });
  // A repeated request had reached a process that had ended, or was delayed and told to retry. No statement fails because of the schema.
  for (const motivo of repeated) assert.match(motivo, /Não houve (conexão|resposta)|HTTP 503/);
});
