/** The unit of `deploy/`: systemd's own programs accept it, its times and limits fit, and its filter lets the service run. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { CLOSE_MAX_MS } from '../src/base/http/end-in-order.ts';
import { CONNECTIONS_MAX } from '../src/base/http/http.ts';
import { PORT_DEFAULT } from '../src/base/terminal/variables.ts';
import { DRAIN_DEFAULT_S } from '../src/published/http-limits.ts';
import { onEnd } from './support/cleanup.ts';
import { emit } from './support/http.ts';
import { ROOT } from './support/process.ts';
import { SERVING, said, start } from './support/started.ts';
import { installed, toolOr } from './support/tools.ts';

const ANALYZE = toolOr('systemd-analyze', 'systemd');
const noSystemd = ANALYZE === undefined ? 'there is no systemd here' : false;
const unit = readFileSync(path.join(ROOT, 'deploy/nfse.service'), 'utf8');
const socket = readFileSync(path.join(ROOT, 'deploy/nfse.socket'), 'utf8');
const NFSE = path.join(ROOT, 'bin/nfse');

/** The number of a setting, without its unit. */
const numberOf = (name: string): number => Number(new RegExp(`^${name}=(\\d+)`, 'm').exec(unit)?.[1]);

/** Exposure in tenths, as systemd counts it: 100 is a service without any protection. */
const EXPOSURE_MAX = 15;

describe('the unit', () => {
  test('is one, with its socket', { skip: noSystemd }, () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'nfse-unidade-'));
    onEnd(() => rmSync(folder, { recursive: true, force: true }));
    // The program must exist, and here its path is another one.
    assert.ok(unit.includes('/opt/nfse/bin/nfse'));
    writeFileSync(path.join(folder, 'nfse.service'), unit.replaceAll('/opt/nfse/bin/nfse', NFSE));
    writeFileSync(path.join(folder, 'nfse.socket'), socket);
    const files = ['nfse.service', 'nfse.socket'].map((name) => path.join(folder, name));
    const { status, stderr } = spawnSync(ANALYZE!, ['verify', ...files], { encoding: 'utf8' });
    assert.deepEqual([stderr.split('\n').filter((line) => line.includes('nfse')), status], [[], 0], stderr);
  });

  test(`exposes no more than ${EXPOSURE_MAX / 10} of 10`, { skip: noSystemd }, () => {
    const asked = ['security', '--offline=yes', '--no-pager', `--threshold=${EXPOSURE_MAX}`];
    const { status, stdout, stderr } = spawnSync(ANALYZE!, [...asked, path.join(ROOT, 'deploy/nfse.service')], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /Overall exposure level for nfse\.service: \d\.\d/);
  });

  test('gives the service the time and the files that it needs', () => {
    // The answers of the ADN are waited for too: a minute and a half in all, as the page on operation says.
    assert.ok(numberOf('TimeoutStopSec') >= Math.max(90, DRAIN_DEFAULT_S + CLOSE_MAX_MS / 1_000));
    // Some descriptors are connections to the database, others are files.
    assert.ok(numberOf('LimitNOFILE') >= 4 * CONNECTIONS_MAX);
    assert.match(unit, /^User=nfse$/m);
    assert.match(unit, /^ExecStart=\/opt\/nfse\/bin\/nfse serve --config \/etc\/nfse\.env$/m);
    // The folder of backups, from the page on backups.
    const page = readFileSync(path.join(ROOT, 'docs/site/copias.md'), 'utf8');
    const [, copies] = /^export NFSE_COPIAS=(\S+)/m.exec(page)!;
    assert.match(unit, new RegExp(`^ReadWritePaths=-${copies}$`, 'm'));
    assert.match(socket, new RegExp(`^ListenStream=127\\.0\\.0\\.1:${PORT_DEFAULT}$`, 'm'));
  });
});

/** Debian's own Python, which has Debian's modules. */
const PYTHON = '/usr/bin/python3';

/** Loads a filter of system calls as systemd does, changes to another account, and executes the command. */
const FILTERED = `
import os, sys, seccomp
uid, names, command = int(sys.argv[1]), sys.argv[2].split(), sys.argv[3:]
if uid:
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
filter = seccomp.SyscallFilter(seccomp.ERRNO(1))
for name in names:
    try:
        filter.add_rule(seccomp.ALLOW, name)
    except RuntimeError:
        pass  # Of another machine.
filter.load()
os.execv(command[0], command)
`;

/** The system calls of a group, with those of its subgroups. */
function callsOf(group: string): readonly string[] {
  const text = execFileSync(ANALYZE!, ['syscall-filter', '--no-pager', group], { encoding: 'utf8' });
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((name) => (name.startsWith('@') ? callsOf(name) : [name]));
}

/** The system calls that the lines \`SystemCallFilter=\` of the unit allow. */
function allowedCalls(): readonly string[] {
  let allowed = new Set<string>();
  for (const [, not, groups] of unit.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
    const named = new Set(groups!.split(' ').flatMap(callsOf));
    allowed = not === '' ? allowed.union(named) : allowed.difference(named);
  }
  return [...allowed];
}

describe('its filter of system calls', () => {
  const isRoot = process.getuid?.() === 0;
  const nobody = 65_534;

  const hasSeccomp = (): boolean => spawnSync(PYTHON, ['-c', 'import seccomp'], { stdio: 'ignore' }).status === 0;

  /** The reason why it cannot be tried here; false: it can. */
  function obstacle(): string | false {
    if (noSystemd) return noSystemd;
    if (!hasSeccomp() && !(installed('python3-seccomp') && hasSeccomp())) return 'python3-seccomp is not here';
    const entered = spawnSync(
      'cat',
      [path.join(ROOT, 'package.json')],
      isRoot ? { uid: nobody, gid: nobody, stdio: 'ignore' } : {},
    );
    return entered.status === 0 ? false : 'the folder of the project is root’s alone';
  }

  test('lets the service run, with the embedded PostgreSQL, and end', {
    skip: obstacle(),
    timeout: 600_000,
  }, async () => {
    const folder = mkdtempSync('/tmp/nfse-filtro-');
    onEnd(() => rmSync(folder, { recursive: true, force: true }));
    const dados = path.join(folder, 'dados');
    mkdirSync(dados);
    chmodSync(folder, 0o755);
    if (isRoot) chownSync(dados, nobody, nobody);
    const calls = allowedCalls();
    assert.ok(calls.includes('read') && !calls.includes('setuid') && !calls.includes('mount'));
    const command = [PYTHON, '-c', FILTERED, String(isRoot ? nobody : 0), calls.join(' '), NFSE, 'serve'];
    const env = {
      PORT: '0',
      NFSE_DATA_DIR: dados,
      NFSE_PAINEL_PORTA: '0',
      NFSE_PROCESSOS: '2',
      DATABASE_URL: '',
      HOME: dados,
    };
    const started = start(command, { ...env, NFSE_ESPERA_AO_ENCERRAR: '0' });
    const [, address] = await said(started, SERVING);
    const { status } = await emit(address!, readFileSync(path.join(ROOT, 'examples/dps.xml')));
    assert.equal(status, 201);
    assert.match(readFileSync(`/proc/${started.child.pid}/status`, 'utf8'), /^Seccomp:\s2$/m);
    started.child.kill('SIGTERM');
    assert.equal(await started.ended, 0, started.output());
  });
});
