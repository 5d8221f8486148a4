/**
 * The place of the archive's files: the interface of a folder (`arquivo-pasta.ts`) and of a bucket (`arquivo-s3.ts`). Files are written
 * once.
 */
import type { ReadRange } from './arquivo-formato.ts';
import type { Escrito, Rascunho } from './arquivo-rascunho.ts';

/** Files by their names, `slug/2026-01-0123456789ab.nfse`. A failure to reach the place is thrown; a missing file is undefined. */
export type ArquivoLugar = {
  /** The place in the operator's own words. */
  readonly lugar: string;
  /** Throws if the place is missing or refuses access. The callers check this before hours of work. */
  ensure(): Promise<void>;
  /** A file that has no name in the archive yet. */
  create(tenant: string): Promise<Rascunho>;
  /** Gives the written file its final name. An existing file of this name stays, since it has the same hash. */
  publish(written: Escrito, nome: string): Promise<void>;
  /** Writes a small file and replaces one of this name. */
  writeBeside(nome: string, content: string | Buffer): Promise<void>;
  readBeside(nome: string): Promise<Buffer | undefined>;
  sizeOf(nome: string): Promise<number | undefined>;
  /** Names of all files of the place. */
  list(): Promise<readonly string[]>;
  /** Opens a file for some readings. */
  reading<Result>(nome: string, work: (read: ReadRange) => Promise<Result>): Promise<Result>;
  /** Removes a file that was never registered, and any incomplete part of it. */
  remove(nome: string): Promise<void>;
  /** Deletes drafts of commands that were killed before this moment, in milliseconds. Returns their number. */
  removeDrafts(before: number): Promise<number>;
};
