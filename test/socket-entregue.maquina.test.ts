/** The service on a socket that systemd opened: the real program hands it over, and clients wait while the service restarts. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { describe, test } from 'node:test';
import { readConfig } from '../src/wiring/config.ts';
import { onEnd } from './support/cleanup.ts';
import { databaseUrlOf, freshDatabase } from './support/database.ts';
import { request } from './support/http.ts';
import { ownPort } from './support/ports.ts';
import { ROOT } from './support/process.ts';
import { SERVING, said, start } from './support/started.ts';
import { toolOr } from './support/tools.ts';
import { until, untilTrue } from './support/until.ts';

const ACTIVATE = toolOr('systemd-socket-activate', 'systemd');
const NFSE = path.join(ROOT, 'bin/nfse');
const QUIET = { NFSE_PAINEL_PORTA: '0', NFSE_ESPERA_AO_ENCERRAR: '1' };

describe('a socket that is handed over', () => {
  test('is one, and meant for this process', () => {
    const read = (env: NodeJS.ProcessEnv) => readConfig(env, false).socket;
    assert.equal(read({}), undefined);
    assert.equal(read({ LISTEN_PID: '1', LISTEN_FDS: '1' }), undefined);
    assert.equal(read({ LISTEN_PID: String(process.pid), LISTEN_FDS: '1' }), 3);
    assert.equal(read({ LISTEN_PID: String(process.ppid), LISTEN_FDS: '1' }), 3);
    assert.throws(() => read({ LISTEN_PID: String(process.pid), LISTEN_FDS: '2' }), /2 sockets .* um ListenStream=/);
  });

  for (const processes of ['1', '2']) {
    const skip = ACTIVATE === undefined ? 'there is no systemd here' : process.platform !== 'linux';
    test(`by systemd serves, with NFSE_PROCESSOS=${processes}`, { skip, timeout: 600_000 }, async () => {
      const port = await ownPort();
      // The settings name another port: the socket takes precedence.
      const env = {
        DATABASE_URL: databaseUrlOf(await freshDatabase()),
        PORT: '1',
        NFSE_PROCESSOS: processes,
        ...QUIET,
      };
      const passed = Object.keys({ ...env, PATH: '' }).flatMap((name) => ['-E', name]);
      const started = start([ACTIVATE!, '-l', `127.0.0.1:${port}`, ...passed, NFSE, 'serve'], env);
      await said(started, /Listening on/);
      // The first client starts the service, and waits.
      const { status } = await request(`http://127.0.0.1:${port}`, '/health/ready');
      assert.equal(status, 200);
      const [, address] = await said(started, SERVING);
      assert.equal(address, `http://127.0.0.1:${port}`);
      started.child.kill('SIGTERM');
      assert.equal(await started.ended, 0);
    });
  }
});

/** Keeps a socket as systemd does and starts the service on it. Certain input lines make it stop the service and start it again. */
const KEEPER = `
import os, signal, socket, sys
kept = socket.create_server(('127.0.0.1', 0), backlog=128)
def begin():
    pid = os.fork()
    if pid == 0:
        os.dup2(kept.fileno(), 3)
        os.set_inheritable(3, True)
        os.execve(sys.argv[1], [sys.argv[1], 'serve'], {**os.environ, 'LISTEN_PID': str(os.getpid()), 'LISTEN_FDS': '1'})
    return pid
def end(pid):
    os.kill(pid, signal.SIGTERM)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print('porta', kept.getsockname()[1], flush=True)
pid = begin()
while sys.stdin.readline():
    print('terminou com', end(pid), flush=True)
    sys.stdin.readline()
    pid = begin()
print('terminou com', end(pid), flush=True)
`;

import { pace } from './support/pace.ts';

const PYTHON = toolOr('python3', 'python3');

test('who comes while the service restarts waits, and nobody is refused', {
  timeout: 600_000,
  skip: PYTHON === undefined ? 'python3 is not here' : false,
}, async () => {
  const env = {
    DATABASE_URL: databaseUrlOf(await freshDatabase()),
    NFSE_PROCESSOS: '1',
    NFSE_LOG_LEVEL: 'warn',
    ...QUIET,
  };
  const keeper = spawn(PYTHON!, ['-c', KEEPER, NFSE], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onEnd(() => void keeper.stdin.end());
  let output = '';
  keeper.stdout.on('data', (chunk) => (output += chunk));
  const port = await until(async () => /porta (\d+)/.exec(output)?.[1], 'the socket is open');
  let isOver = false;
  const statuses: number[] = [];
  let asked = 0;
  const asking = (async () => {
    while (!isOver) {
      asked += 1;
      const headers = { Connection: 'close' };
      statuses.push((await request(`http://127.0.0.1:${port}`, '/health/live', { headers })).status);
      await pace(10);
    }
  })();
  const answered = async (count: number): Promise<void> => {
    const before = statuses.length;
    await untilTrue(() => statuses.length >= before + count, 'requests are answered');
  };
  await answered(5);
  keeper.stdin.write('\n');
  await untilTrue(() => /terminou com 0\n/.test(output), 'the first has ended');
  await untilTrue(() => asked > statuses.length, 'a request waits while nobody serves');
  keeper.stdin.write('\n');
  await answered(5);
  isOver = true;
  await asking;
  assert.deepEqual([...new Set(statuses)], [200]);
  keeper.stdin.end();
  await once(keeper, 'exit');
  assert.equal(output.match(/terminou com 0\n/g)?.length, 2);
});
