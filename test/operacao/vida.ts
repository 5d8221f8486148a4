/** The shared state of the steps of a municipality's life. */
import type { Machine } from './maquina.ts';

export type Life = {
  readonly machine: Machine;
  /** The archives, the lists and the checksums of two versions, by their folders. */
  readonly archives: { readonly first: string; readonly next: string };
  /** Keys of the notes that were answered with 201. */
  readonly notes: string[];
};

export type Step = {
  readonly name: string;
  /** The missing programs of this step; undefined: none. */
  needs?(life: Life): Promise<string | undefined>;
  run(life: Life): Promise<void>;
};

export async function isInArchive({ machine }: Life, file: string): Promise<boolean> {
  return (await machine.try(`test -e /opt/nfse/${file}`)).code === 0;
}

export async function hasCommand({ machine }: Life, command: string): Promise<boolean> {
  return (await machine.try(`nfse ${command} --help`)).code === 0;
}
