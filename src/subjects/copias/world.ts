/** What the stories of copies may touch, which is more than a database: the folder of copies, the server's program, and its place. */
export { CopiaRecusada } from './cifra.files.ts';

import type { ClientConfig } from '../../base/pg/pg.ts';
import type { World } from '../../base/world/world.ts';
import type { Programa } from './arquivos.files.ts';

/** Where a database lies that is restored, and what serves it there. `isRunning`: somebody serves it now. */
export type Lugar = Programa & {
  readonly major: string;
  readonly location: string;
  readonly logFolder: string;
  readonly isRunning: () => Promise<boolean>;
};

export type CopiasWorld = {
  readonly now: () => number;
  /** Folder of the copies; undefined: the setting is not there. */
  readonly pasta: string | undefined;
  /** File with the public keys that copies are encrypted to. */
  readonly chave: string | undefined;
  readonly programa: string;
  readonly isEmbedded: boolean;
  /** Opens the live database; `logFolder`: where an embedded server leaves its log. */
  live<Result>(
    work: (live: { readonly connection: ClientConfig; readonly logFolder: string | undefined }) => Promise<Result>,
  ): Promise<Result>;
  /** The embedded server's own place, or one in any folder. */
  lugar(folder?: string): Promise<Lugar>;
  /** Turn to write copies; undefined: another process has it. */
  takeTurn(folder: string): Promise<(() => void) | undefined>;
  /** The flows' world on a database that was recovered. */
  on<Result>(
    connection: ClientConfig,
    work: (world: Pick<World, 'store' | 'transmission'>, passer: Passer) => Promise<Result>,
  ): Promise<Result>;
};

/** Of `numeros.rows.ts`, on that database. */
export type Passer = ReturnType<typeof import('./numeros.rows.ts').copiaNumeros>;

/** Progress: a part of 1, and what is done, in Portuguese; and lines that stay. */
export type Conta = { readonly show: (part: number, what: string) => void; readonly tell: (line: string) => void };
