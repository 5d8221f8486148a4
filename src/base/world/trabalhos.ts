/**
 * Work that takes longer than a page may: it is begun from the console, shown in progress, and kept for an hour. It belongs to one process,
 * to one municipality and to its author. It has its own folder, and ends with the process. The folders of a process that was killed are
 * deleted when the next one opens (D-832). Work that was asked for before may begin anew under its name.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HOUR_MS } from '../../fiscal/moment.ts';
import { ignoring } from '../traces/ignoring.ts';
import { tellTrouble } from './store-trouble.ts';
import type { World } from './world.ts';

export type Trabalho<Data> = {
  readonly id: string;
  readonly municipio: string;
  /** Login. */
  readonly quem: string;
  readonly folder: string;
  /** Moment of its beginning, in milliseconds. */
  readonly em: number;
  /** Whether the work is running now. */
  isRunning: boolean;
  /** Whether the work has failed; the cause is in the log. */
  hasFailed: boolean;
  readonly signal: AbortSignal;
  readonly data: Data;
};

/** Name and moment (milliseconds) of work that an earlier process had begun. */
type Asked = { readonly id: string; readonly em: number };

export type Trabalhos<Data> = {
  /** Undefined: too many are running, so that this one must wait, or it is just beginning. */
  begin(municipio: string, quem: string, data: Data, asked?: Asked): Promise<Trabalho<Data> | undefined>;
  /** Runs newly begun work in the background. */
  run(trabalho: Trabalho<Data>, work: () => Promise<void>): void;
  /** Runs finished work again; false: too many are running, so that it must wait. */
  again(trabalho: Trabalho<Data>, work: () => Promise<void>): boolean;
  find(municipio: string, quem: string, id: string): Trabalho<Data> | undefined;
  /** Work of an author in a municipality, the newest first. */
  list(municipio: string, quem: string): readonly Trabalho<Data>[];
  /** Stops the work, if it is running, and deletes its files. */
  discard(trabalho: Trabalho<Data>): Promise<void>;
  close(): Promise<void>;
};

/** Maximum number running in one process, because each reads the database at full speed. */
const RUNNING_MAX = 2;
export const KEPT_MS = HOUR_MS;
const FOLDER = 'nfse-console-';

/** The end of work in progress is not known; asking again is worth while after this time. */
export const TOO_MANY_WAIT_S = 5;
export const TOO_MANY = 'Já se fazem dois trabalhos destes neste console. Espere que um termine, e peça de novo.';

/** `what`: name of the work in a log line about its failure. */
export function openTrabalhos<Data>({ log, now }: Pick<World, 'log' | 'now'>, what: string): Trabalhos<Data> {
  void deleteLeftFolders();
  const kept = new Map<string, { readonly trabalho: Trabalho<Data>; readonly stop: AbortController }>();
  const drop = async (id: string): Promise<void> => {
    const one = kept.get(id);
    if (one === undefined) return;
    kept.delete(id);
    one.stop.abort();
    await rm(one.trabalho.folder, { recursive: true, force: true });
  };
  const beginning = new Set<string>();
  const taken = (): number => beginning.size + [...kept.values()].filter(({ trabalho }) => trabalho.isRunning).length;
  const run = (trabalho: Trabalho<Data>, work: () => Promise<void>): void => {
    work()
      .catch((error: unknown) => {
        trabalho.hasFailed = true;
        if (!trabalho.signal.aborted) tellTrouble(log, error, { tenant: trabalho.municipio }, what);
      })
      .finally(() => {
        trabalho.isRunning = false;
      });
  };
  return {
    begin: async (municipio, quem, data, { id, em } = { id: randomUUID(), em: now() }) => {
      if (taken() >= RUNNING_MAX || beginning.has(id)) return undefined;
      beginning.add(id);
      const folder = await mkdtemp(path.join(tmpdir(), `${FOLDER}${process.pid}-`)).finally(() => {
        beginning.delete(id);
      });
      const stop = new AbortController();
      const about = { municipio, quem, folder, em, data, signal: stop.signal };
      const trabalho = { id, ...about, isRunning: true, hasFailed: false };
      kept.set(trabalho.id, { trabalho, stop });
      setTimeout(() => void drop(trabalho.id), KEPT_MS).unref();
      return trabalho;
    },
    again: (trabalho, work) => {
      if (trabalho.isRunning || taken() >= RUNNING_MAX) return false;
      trabalho.isRunning = true;
      run(trabalho, work);
      return true;
    },
    run,
    find: (municipio, quem, id) => {
      const trabalho = kept.get(id)?.trabalho;
      return trabalho?.municipio === municipio && trabalho.quem === quem ? trabalho : undefined;
    },
    list: (municipio, quem) =>
      [...kept.values()]
        .map(({ trabalho }) => trabalho)
        .filter((one) => one.municipio === municipio && one.quem === quem)
        .reverse(),
    discard: ({ id }) => drop(id),
    close: async () => {
      await Promise.all([...kept.keys()].map(drop));
    },
  };
}

/** Deletes the folders of processes that are gone: they have data of persons. */
async function deleteLeftFolders(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(FOLDER));
  const deleteLeft = async (name: string): Promise<void> => {
    const place = path.join(tmpdir(), name);
    const [pid] = name.slice(FOLDER.length).split('-');
    if (await isLeft(Number(pid), place)) await rm(place, { recursive: true });
  };
  const taken = ignoring('the folder is that of another user, or another process deletes it');
  await Promise.all(names.map((name) => deleteLeft(name).catch(taken)));
}

/** Whether the process of a folder is gone. The next one of a container has the same number. */
async function isLeft(pid: number, place: string): Promise<boolean> {
  if (pid === process.pid) return (await stat(place)).birthtimeMs < Date.now() - process.uptime() * 1_000;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
