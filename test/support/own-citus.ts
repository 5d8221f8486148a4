/** A Citus for one test on this machine, whose nodes a test may kill. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ClientConfig } from '../../src/base/pg/pg.ts';
import { serversOf } from './citus.ts';
import { onEnd } from './cleanup.ts';
import { ownPort } from './ports.ts';
import { freshDataDir, ifThere } from './process.ts';
import { untilTrue } from './until.ts';

const SCRIPT = path.resolve(import.meta.dirname, '../../scripts/citus-local.sh');

/** A Citus for one test, whose nodes a test may kill. */
export type OwnCitus = {
  readonly servers: readonly ClientConfig[];
  /** Kills every process of a node with SIGKILL: 1 or 2; 0 is the coordinator. */
  kill(node: number): Promise<void>;
  /** Suspends every process of a node, and resumes them all. */
  freeze(node: number): void;
  thaw(): void;
  /** Starts the dead nodes again. */
  revive(): void;
};

/** Undefined if Citus is not installed on this machine. */
export async function startCitus(): Promise<OwnCitus | undefined> {
  const folder = await freshDataDir();
  const run = (...args: readonly string[]) =>
    spawnSync(SCRIPT, [...args, '--pasta', folder], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const begin = (...more: readonly string[]): string => {
    const { status, stdout, stderr } = run('iniciar', '--sem-disco', ...more);
    if (status !== 0) throw new Error(stderr);
    return /NFSE_TEST_CITUS=(\S+)/.exec(stdout)![1]!;
  };
  if (run('situacao').stderr.includes('não há Citus instalado')) return undefined;
  onEnd(() => run('parar'));
  const servers = await serversOf(begin('--porta', String(await threePorts())));
  const signal = (node: number, what: NodeJS.Signals): readonly number[] => {
    const name = node === 0 ? 'coordenador' : `no${node}`;
    const [pid] = readFileSync(path.join(folder, name, 'postmaster.pid'), 'utf8').split('\n');
    // A suspended process starts no more children.
    ifThere(() => process.kill(Number(pid), 'SIGSTOP'));
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    const all = [pid!, ...children].map(Number).filter((one) => one > 0);
    for (const one of all) ifThere(() => process.kill(one, what));
    return all;
  };
  const kill = async (node: number): Promise<void> => {
    const all = signal(node, 'SIGKILL');
    // A dead process that was not reaped yet looks alive, and its server would not be started again.
    await untilTrue(() => all.every((one) => !existsSync(`/proc/${one}`)), `the end of server ${node}`);
  };
  const frozen: number[] = [];
  const thaw = (): void => {
    for (const one of frozen.splice(0)) ifThere(() => process.kill(one, 'SIGCONT'));
  };
  onEnd(thaw);
  const freeze = (node: number): void => void frozen.push(...signal(node, 'SIGSTOP'));
  return { servers, kill, freeze, thaw, revive: () => void begin() };
}

/** The first of three consecutive free ports. */
async function threePorts(): Promise<number> {
  for (let [a, b] = [0, 0]; ; ) {
    const port = await ownPort();
    if (port === b + 1 && b === a + 1) return a;
    [a, b] = [b, port];
  }
}
