/**
 * A clean Debian with systemd and without a network for one municipality. debootstrap makes it, systemd-nspawn starts it, and nsenter
 * enters it. It receives only the files that its operator would carry in.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Debian packages that the operator finds installed. The rest comes with the archive. */
const PACKAGES = 'systemd-sysv,dbus,nginx-light,prometheus,curl,openssl';
const BOOT_WITHIN_MS = 120_000;
const COMMAND_WITHIN_MS = 600_000;

export type Said = { readonly code: number | null; readonly out: string; readonly err: string };

export type Machine = {
  /** The path of its files from outside. */
  readonly root: string;
  /** Runs shell lines as root would type them, and stops at the first failure: then it throws, with the output. */
  do(lines: string): Promise<string>;
  /** The same, for a test of a failure. */
  try(lines: string): Promise<Said>;
  /** Copies files from outside into a folder. */
  carry(files: readonly string[], folder: string): Promise<void>;
  end(): Promise<void>;
};

/** Repeats the question until it holds. */
export async function until(what: string, holds: () => Promise<boolean>, withinMs = BOOT_WITHIN_MS): Promise<void> {
  for (const end = performance.now() + withinMs; performance.now() < end; await pause(200)) if (await holds()) return;
  throw new Error(`${what}: não em ${withinMs / 1000} s`);
}

export async function makeDebian(root: string): Promise<void> {
  const args = ['--variant=minbase', `--include=${PACKAGES}`, 'bookworm', root];
  const { code, out, err } = await runToEnd('debootstrap', args);
  if (code !== 0) throw new Error(`debootstrap: ${out.slice(-2_000)}${err}`);
}

export async function bootMachine(root: string): Promise<Machine> {
  // Debian's installer writes it, and debootstrap does not.
  await writeFile(path.join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
  const args = ['-D', root, '--private-network', '--register=no', '--keep-unit', '--boot', '--console=pipe', '--quiet'];
  const container = spawn('systemd-nspawn', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let console = '';
  for (const stream of [container.stdout, container.stderr]) stream.on('data', (chunk) => (console += chunk));
  const machine = enter(root, container);
  const isUp = async (): Promise<boolean> => {
    if (container.exitCode !== null) throw new Error(`systemd-nspawn ended:\n${console.slice(-3_000)}`);
    return /running|degraded/.test((await machine.try('systemctl is-system-running').catch(() => ({ out: '' }))).out);
  };
  await until('a máquina parte', isUp);
  return machine;
}

function enter(root: string, container: ChildProcess): Machine {
  const inside = async (lines: string): Promise<Said> => {
    const { pid } = container;
    const [leader] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    if (!leader) throw new Error('the machine is not there yet');
    const env = [
      '/usr/bin/env',
      '-i',
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'HOME=/root',
    ];
    const shell = [...env, '/bin/sh', '-ec', `cd /root; ${lines}`];
    return runToEnd('nsenter', ['--target', leader, '--all', '--root', '--wd', ...shell]);
  };
  return {
    root,
    try: inside,
    do: async (lines) => {
      const { code, out, err } = await inside(lines);
      if (code !== 0) throw new Error(`${lines.trim()}\nterminou com ${code}:\n${out}${err}`);
      return out;
    },
    carry: async (files, folder) => {
      const to = path.join(root, folder);
      await mkdir(to, { recursive: true });
      for (const file of files) await copyFile(file, path.join(to, path.basename(file)));
    },
    end: async () => {
      const ended = new Promise((resolve) => container.once('exit', resolve));
      if (container.exitCode === null) {
        await inside('systemctl poweroff').catch(() => undefined);
        await Promise.race([ended, pause(30_000).then(() => container.kill('SIGKILL'))]);
      }
      await rm(root, { recursive: true, force: true });
    },
  };
}

export function runToEnd(program: string, args: readonly string[], env = process.env): Promise<Said> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: COMMAND_WITHIN_MS });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      err += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
  });
}
