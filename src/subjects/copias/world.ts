/** The resources that the flows of copies need besides a database: the folder of copies, the server's program, and its place. */
export { CopiaRecusada } from './cifra.files.ts';

import type { ClientConfig } from '../../base/pg/pg.ts';
import type { World } from '../../base/world/world.ts';
import type { Programa } from './arquivos.files.ts';

/** The place of a restored database, and the program for it. `isRunning`: a server is running there now. */
export type Lugar = Programa & {
  readonly major: string;
  readonly location: string;
  readonly logFolder: string;
  readonly isRunning: () => Promise<boolean>;
};

export type CopiasWorld = {
  readonly now: () => number;
  /** Folder of the copies; undefined: the setting is missing. */
  readonly pasta: string | undefined;
  /** File with the public keys that copies are encrypted to. */
  readonly chave: string | undefined;
  readonly programa: string;
  readonly isEmbedded: boolean;
  /** Opens the live database; `logFolder`: the folder in which an embedded server leaves its log. */
  live<Result>(
    work: (live: { readonly connection: ClientConfig; readonly logFolder: string | undefined }) => Promise<Result>,
  ): Promise<Result>;
  /** The embedded server's own place, or one in any folder. */
  lugar(folder?: string): Promise<Lugar>;
  /** Turn to write copies; undefined: another process has it. */
  takeTurn(folder: string): Promise<(() => void) | undefined>;
  /** The flows' world on a recovered database. */
  on<Result>(
    connection: ClientConfig,
    work: (world: Pick<World, 'store' | 'transmission'>, passer: Passer) => Promise<Result>,
  ): Promise<Result>;
};

/** The functions of `numeros.rows.ts` on that database. */
export type Passer = ReturnType<typeof import('./numeros.rows.ts').copiaNumeros>;

/** Progress: a fraction of 1 and the step, in Portuguese; and lines that stay. */
export type Conta = { readonly show: (part: number, what: string) => void; readonly tell: (line: string) => void };
