/** The announcement of a subject: the parts that the store, the worker, the doors and the command line load when they need them. */

import type { StoreSetup } from '../base/book/store.ts';
import type { Kind } from '../base/delivery/lanes.ts';
import type { Repeated } from '../base/delivery/repetition.ts';
import type { Route } from '../base/http/route.ts';
import type { PainelSetup, Row, Trabalhos } from '../base/pages/visit.ts';
import type { Tell } from '../base/pg/migration-watch.ts';
import type { Db } from '../base/pg/open.ts';
import type { Command } from '../base/terminal/command.ts';
import type { Shape } from '../published/openapi/field.ts';

export type CommandFile = {
  /** The first words of its commands. */
  readonly words: readonly string[];
  readonly load: () => Promise<readonly Command[]>;
};

export type Subject = {
  /** Makes this part of the store. */
  readonly rows?: () => Promise<(setup: StoreSetup) => object>;
  /** Completes the schema after a migration, before any table is filled. */
  readonly completeSchema?: () => Promise<(pool: Db, tell: Tell) => Promise<void>>;
  /** Fills tables that need first rows, after a migration. */
  readonly fillTables?: () => Promise<(pool: Db) => Promise<void>>;
  /** Due work that the worker delivers, and work that it repeats. */
  readonly jobs?: () => Promise<readonly Kind[]>;
  readonly repeated?: () => Promise<readonly Repeated[]>;
  /** Addresses below a municipality, and the shapes of their answers. */
  readonly routes?: () => Promise<readonly Route[]>;
  readonly shapes?: () => Promise<Readonly<Record<string, Shape>>>;
  /** Pages of the console, and its work that outlives a request. */
  readonly pages?: () => Promise<readonly Row[]>;
  readonly trabalhos?: () => Promise<(setup: PainelSetup) => Partial<Trabalhos>>;
  /** Commands, in the order of the help; each file is loaded for its words alone. */
  readonly commands?: readonly CommandFile[];
};

/** The part of the store that the rows of a subject make; its announcement adds it to the type of the store. */
export type RowsOf<Rows extends NonNullable<Subject['rows']>> = ReturnType<Awaited<ReturnType<Rows>>>;
