/** Where the files of the archive lie: what a folder (`arquivo-pasta.ts`) and a bucket (`arquivo-s3.ts`) have in common. Files are written once. */
import type { ReadRange } from './arquivo-formato.ts';
import type { Escrito, Rascunho } from './arquivo-rascunho.ts';

/** Files by their names, `slug/2026-01-0123456789ab.nfse`. Whatever cannot be reached is thrown; what is not there is undefined. */
export type ArquivoLugar = {
  /** As the operator has written it. */
  readonly lugar: string;
  /** Throws where it is not there, or lets nobody in: asked before hours of work. */
  ensure(): Promise<void>;
  /** A file that is none of the archive yet. */
  create(tenant: string): Promise<Rascunho>;
  /** Gives what was written its name, for good. Another of this name stays: it has the same hash. */
  publish(written: Escrito, nome: string): Promise<void>;
  /** Writes a small file, in place of one of this name. */
  writeBeside(nome: string, content: string | Buffer): Promise<void>;
  readBeside(nome: string): Promise<Buffer | undefined>;
  sizeOf(nome: string): Promise<number | undefined>;
  /** Names of all that is in it. */
  list(): Promise<readonly string[]>;
  /** Opens a file for some readings. */
  reading<Result>(nome: string, work: (read: ReadRange) => Promise<Result>): Promise<Result>;
  /** Of a file that was never registered: what there is of it, by halves too. */
  remove(nome: string): Promise<void>;
  /** Deletes drafts of commands that were killed before this moment, in milliseconds; how many. */
  removeDrafts(before: number): Promise<number>;
};
