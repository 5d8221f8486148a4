/**
 * An import waits in the memory of its process until it is known whole, and is then written in one transaction: no table of a session's own,
 * no setting of it, and no statement but of one tenant. What is there is read in blocks of whole keys, and what differs is written (D-420).
 */
import { createHash } from 'node:crypto';
import { type Db, runTransaction } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { mayTakeLong } from '../pg/watch.ts';
import { insertAtos, type NovoAto } from './atos.ts';
import { type Importacao, keepImportacao, LOCK_REGISTRY } from './importacoes.ts';
import type { Mudanca, Writing } from './merge-rows.ts';

/** One line that will not be taken. `motivo` is for the operator, or says what only the whole file shows: `contradiz` (the same thing said twice) or `sobrepoe` (periods that overlap). */
export type Recusada = { readonly linha: number; readonly motivo: string; readonly outra: number | undefined };

export type NovaRecusa = {
  readonly linha: number;
  readonly motivo: string;
  /** Whom the line is about, where that can be read, its columns with a space between: of whom something was refused, nothing is taken away. */
  readonly chave: string | undefined;
};

export type Staging<Row, Counts> = {
  add(rows: readonly Row[]): Promise<void>;
  refuse(lines: readonly NovaRecusa[]): Promise<void>;
  /** Refuses the lines that disagree with earlier ones; resolves with the number of all lines refused. */
  check(): Promise<number>;
  /** Refused lines in their order, beginning after a line. */
  refusedAfter(linha: number, max: number): Promise<readonly Recusada[]>;
  /** What writing it now would do, without doing it. */
  rehearse(): Promise<Ensaio<Counts>>;
  /** Writes what was not refused, all of it or nothing. Throws {@link RegistroMudou}. */
  merge(escrita?: Escrita<Counts>): Promise<Counts>;
};

/** `mudancas`: the first of them. `marca`: the same where, and only where, writing does the same. */
export type Ensaio<Counts> = {
  readonly counts: Counts;
  readonly mudancas: readonly Mudanca[];
  readonly marca: string;
};

/** What is written down of a merge, in its transaction. */
export type Escrita<Counts> = {
  readonly tenant: string;
  /** Under this it can be undone. */
  readonly importacao?: Importacao | undefined;
  /** `marca` of a rehearsal: where the merge would no longer do the same, nothing is written. */
  readonly asRehearsed?: string | undefined;
  readonly atos: (done: Ensaio<Counts>) => readonly NovoAto[];
};

/** Between a rehearsal and the writing somebody else has changed what the import is about. */
export class RegistroMudou extends Error {}

/** Changes that a rehearsal shows. */
const MUDANCAS_MAX = 500;

/** A line of a file, with the period that it speaks of. Days are `YYYY-MM-DD`; without a beginning there is no period. */
export type LinhaDatada = {
  readonly linha: number;
  readonly inicio?: string | undefined;
  readonly fim?: string | undefined;
};

/** Lines of whole keys: of whom there is one here, there are all. What was said twice is here twice. */
export type Block<Row> = {
  /** Whom the lines are about, each once. */
  readonly about: readonly string[];
  readonly rows: readonly Row[];
  /** Of whom other lines were refused. */
  readonly recusadas: ReadonlySet<string>;
};

/** How the lines of one kind of file are known, checked and written. */
export type Kind<Row, Counts> = {
  /** Whom a line is about, as {@link NovaRecusa} has it. The periods of one do not overlap. */
  readonly about: (row: Row) => string;
  /** What of it: two lines about the same must say the same. */
  readonly known: (row: Row) => string;
  /** All that a line says, as one text. */
  readonly said: (row: Row) => string;
  /** Lines that do not fit what is there. */
  readonly misfits?: (rows: readonly Row[]) => Promise<readonly NovaRecusa[]>;
  /** Stops other imports of the same, until the end of the transaction, and no reader. */
  readonly lock: (client: PoolClient) => Promise<unknown>;
  readonly merge: (client: PoolClient, blocks: Iterable<Block<Row>>, writing: Writing) => Promise<Counts>;
};

/** An import waits for another one; the usual limit is for statements of milliseconds. */
const STATEMENT_TIMEOUT_MS = 600_000;
/** Lines of a block, and a few more, since those about one stay together. */
const BLOCK_LINES = 5_000;

/** Of a table without statistics the planner takes a tenant for a few rows, and would keep them all to go through again and again. */
const SETTINGS = `set local statement_timeout = ${STATEMENT_TIMEOUT_MS}; set local enable_material = off`;

/** Of a statement that selects from `municipios m`: no row while an import is being written, which would have to be waited for. */
export const UNLESS_IMPORTING = 'for share of m skip locked';

export function lockRegistry(client: PoolClient, tenant: string): Promise<unknown> {
  return client.query(LOCK_REGISTRY, [tenant]);
}

/** Runs `work` with nothing staged. */
export async function stageImport<Row extends LinhaDatada, Counts, Result>(
  pool: Db,
  kind: Kind<Row, Counts>,
  work: (staging: Staging<Row, Counts>) => Promise<Result>,
): Promise<Result> {
  const refused = new Map<number, Recusada>();
  const recusadas = new Set<string>();
  let rows: Row[] = [];
  const refuse = (lines: readonly (NovaRecusa & { readonly outra?: number })[]): void => {
    for (const { linha, motivo, chave, outra } of lines) {
      refused.set(linha, { linha, motivo, outra });
      if (chave !== undefined) recusadas.add(chave);
    }
  };
  const dropRefused = (): void => {
    if (refused.size > 0) rows = rows.filter(({ linha }) => !refused.has(linha));
  };
  const inRegistry = <Done>(done: (client: PoolClient) => Promise<Done>): Promise<Done> =>
    runTransaction(
      pool,
      async (client) => {
        mayTakeLong(client);
        await client.query(SETTINGS);
        await kind.lock(client);
        return done(client);
      },
      { lockMs: 0 },
    );
  const run = async (client: PoolClient, isRehearsal: boolean, importacao?: string): Promise<Ensaio<Counts>> => {
    const hash = createHash('sha256');
    const mudancas: Mudanca[] = [];
    const tell = (mudanca: Mudanca): void => {
      hash.update(JSON.stringify(mudanca));
      if (mudancas.length < MUDANCAS_MAX) mudancas.push(mudanca);
    };
    const blocks = blocksOf(rows, kind.about, recusadas);
    const counts = await kind.merge(client, blocks, { isRehearsal, importacao, tell });
    return { counts, mudancas, marca: hash.digest('base64url') };
  };
  let told: readonly Recusada[] = [];
  return work({
    add: async (more) => {
      for (const row of more) rows.push(row);
    },
    refuse: async (lines) => refuse(lines),
    check: async () => {
      rows = sortRows(rows, kind.about);
      for (const { start, end } of groupsOf(rows, kind.about))
        if (end - start > 1) refuse(checkGroup(rows.slice(start, end), kind));
      dropRefused();
      if (kind.misfits !== undefined) {
        refuse(await kind.misfits(rows));
        dropRefused();
      }
      told = [...refused.values()].sort((a, b) => a.linha - b.linha);
      return told.length;
    },
    refusedAfter: async (linha, max) => {
      const first = told.findIndex((one) => one.linha > linha);
      return first < 0 ? [] : told.slice(first, first + max);
    },
    rehearse: () => inRegistry((client) => run(client, true)),
    merge: async (escrita) => {
      const { counts } = await inRegistry(async (client) => {
        const { tenant, importacao, asRehearsed, atos } = escrita ?? {};
        if (asRehearsed !== undefined && (await run(client, true)).marca !== asRehearsed) throw new RegistroMudou();
        if (importacao !== undefined) await keepImportacao(client, tenant!, importacao);
        const done = await run(client, false, importacao?.id);
        if (escrita !== undefined) await insertAtos(client, tenant!, atos!(done));
        return done;
      });
      return counts;
    },
  });
}

/** By whom they are about, and then in the order of the file. */
function sortRows<Row extends LinhaDatada>(rows: readonly Row[], about: (row: Row) => string): Row[] {
  const keyed = rows.map((row): [string, Row] => [about(row), row]);
  keyed.sort(([a, one], [b, other]) => (a < b ? -1 : a > b ? 1 : one.linha - other.linha));
  return keyed.map(([, row]) => row);
}

/** Lines about the same, which stand together, by their places; the end is not one of them. */
function* groupsOf<Row>(
  rows: readonly Row[],
  about: (row: Row) => string,
): Generator<{ readonly whom: string; readonly start: number; readonly end: number }, void> {
  for (let start = 0, end = 0; start < rows.length; start = end) {
    const whom = about(rows[start]!);
    do end += 1;
    while (end < rows.length && about(rows[end]!) === whom);
    yield { whom, start, end };
  }
}

type RecusaComOutra = NovaRecusa & { readonly outra: number };

/** The lines about the same that disagree with earlier ones; of those that contradict one, the period is not compared. */
function checkGroup<Row extends LinhaDatada>(
  group: readonly Row[],
  kind: Kind<Row, unknown>,
): readonly RecusaComOutra[] {
  const contradicting = findContradictions(group, kind);
  const linhas = new Set(contradicting.map(({ linha }) => linha));
  return [
    ...contradicting,
    ...findOverlaps(
      group.filter(({ linha }) => !linhas.has(linha)),
      kind,
    ),
  ];
}

/** Lines that say something else than the first line of what they are known by. */
function findContradictions<Row extends LinhaDatada>(
  group: readonly Row[],
  { about, known, said }: Kind<Row, unknown>,
): readonly RecusaComOutra[] {
  const firsts = new Map(group.toReversed().map((row) => [known(row), row]));
  return group.flatMap((row) => {
    const first = firsts.get(known(row))!;
    if (first === row || said(first) === said(row)) return [];
    return [{ linha: row.linha, motivo: 'contradiz', outra: first.linha, chave: about(row) }];
  });
}

/** Later than every day. */
const FOREVER = '9999-12-31';

/** Lines whose period begins before an earlier one has ended. Of those that end last the first line is named. */
function findOverlaps<Row extends LinhaDatada>(
  group: readonly Row[],
  { about }: Kind<Row, unknown>,
): readonly RecusaComOutra[] {
  const dated = group.filter(({ inicio }) => inicio !== undefined);
  const same = [...Map.groupBy(dated, ({ inicio, fim = FOREVER }) => `${inicio} ${fim}`).values()];
  same.sort(([a], [b]) => (a!.inicio! < b!.inicio! ? -1 : a!.inicio! > b!.inicio! ? 1 : a!.linha - b!.linha));
  let latest = { fim: '', linha: 0 };
  return same.flatMap((lines) => {
    const { inicio, fim = FOREVER, linha } = lines[0]!;
    const before = latest;
    if (fim > before.fim || (fim === before.fim && linha < before.linha)) latest = { fim, linha };
    if (before.fim < inicio!) return [];
    return lines.map((row) => ({ linha: row.linha, motivo: 'sobrepoe', outra: before.linha, chave: about(row) }));
  });
}

function* blocksOf<Row>(
  rows: readonly Row[],
  whomOf: (row: Row) => string,
  recusadas: ReadonlySet<string>,
): Generator<Block<Row>, void> {
  let first = 0;
  let about: string[] = [];
  for (const { whom, end } of groupsOf(rows, whomOf)) {
    about.push(whom);
    if (end - first < BLOCK_LINES && end < rows.length) continue;
    yield { about, rows: rows.slice(first, end), recusadas };
    first = end;
    about = [];
  }
}
