/**
 * An import stays in the memory of its process until it is complete, and is then written in one transaction. It needs no temporary table,
 * no session setting, and no statement across tenants. Existing rows are read in blocks of whole keys, and only differences are written
 * (D-420).
 */
import { createHash } from 'node:crypto';
import { type Db, runTransaction } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { mayTakeLong } from '../pg/watch.ts';
import { insertAtos, type NovoAto } from './atos.ts';
import { insertAtosDaImportacao } from './atos-importados.ts';
import { type Importacao, keepImportacao, LOCK_REGISTRY } from './importacoes.ts';
import type { Mudanca, Writing } from './merge-rows.ts';

/**
 * One refused line. `motivo` is for the operator, or names a fault that only the whole file shows. `contradiz`: the same key twice with
 * different content; `sobrepoe`: periods that overlap.
 */
export type Recusada = { readonly linha: number; readonly motivo: string; readonly outra: number | undefined };

export type NovaRecusa = {
  readonly linha: number;
  readonly motivo: string;
  /** Key columns of the line with a space between, if readable. Stored rows of a key with a refused line are not deleted. */
  readonly chave: string | undefined;
};

export type Staging<Row, Counts> = {
  add(rows: readonly Row[]): Promise<void>;
  refuse(lines: readonly NovaRecusa[]): Promise<void>;
  /** Refuses the lines that contradict earlier ones. Returns the number of all refused lines. */
  check(): Promise<number>;
  /** Refused lines in their order, after a given line. */
  refusedAfter(linha: number, max: number): Promise<readonly Recusada[]>;
  /** The effect of writing now, without writing. */
  rehearse(): Promise<Ensaio<Counts>>;
  /** Writes the accepted lines, shows the connection on which they stand to `look`, and undoes them. */
  probe<Seen>(look: (client: PoolClient) => Promise<Seen>): Promise<Seen>;
  /** Writes the accepted lines, all or nothing. Throws {@link RegistroMudou}. */
  merge(escrita?: Escrita<Counts>): Promise<Counts>;
};

/** `mudancas`: the first changes. `marca`: equal exactly if writing has the same effect. */
export type Ensaio<Counts> = {
  readonly counts: Counts;
  readonly mudancas: readonly Mudanca[];
  readonly marca: string;
};

/** Data that is stored with a merge, in its transaction. */
export type Escrita<Counts> = {
  readonly tenant: string;
  /** Import id under which the merge can be undone. */
  readonly importacao?: Importacao | undefined;
  /** `marca` of a rehearsal. A merge with another effect writes nothing (D-501). */
  readonly asRehearsed?: string | undefined;
  readonly atos: (done: Ensaio<Counts>) => readonly NovoAto[];
};

/** The register was changed between a rehearsal and the writing. */
export class RegistroMudou extends Error {}

/** Maximum number of changes that a rehearsal shows. */
const MUDANCAS_MAX = 500;

/** A line of a file, with its period. Days are `YYYY-MM-DD`; a line without a beginning has no period. */
export type LinhaDatada = {
  readonly linha: number;
  readonly inicio?: string | undefined;
  readonly fim?: string | undefined;
};

/** Lines of whole keys: all lines of each key are in one block. Repeated lines are kept. */
export type Block<Row> = {
  /** Keys of the lines, each once. */
  readonly about: readonly string[];
  readonly rows: readonly Row[];
  /** Keys with refused lines. */
  readonly recusadas: ReadonlySet<string>;
};

/** Identification, checks and writing of the lines of one kind of file. */
export type Kind<Row, Counts> = {
  /** Key of a line, as in {@link NovaRecusa}. The periods of one key do not overlap. */
  readonly about: (row: Row) => string;
  /** Identity of a line within its key: two lines of the same identity must have the same content. */
  readonly known: (row: Row) => string;
  /** The content of a line, as one text. */
  readonly said: (row: Row) => string;
  /** Lines that contradict the stored data. */
  readonly misfits?: (rows: readonly Row[]) => Promise<readonly NovaRecusa[]>;
  /** Blocks other imports of the same register until the end of the transaction, and no reader. */
  readonly lock: (client: PoolClient) => Promise<unknown>;
  readonly merge: (client: PoolClient, blocks: Iterable<Block<Row>>, writing: Writing) => Promise<Counts>;
};

/** An import may wait for another one; the usual limit is for statements of milliseconds. */
const STATEMENT_TIMEOUT_MS = 600_000;
/** Number of lines of a block; a few more, since the lines of one key stay together. */
const BLOCK_LINES = 5_000;

/**
 * Settings of a merge. The planner expects few rows of a tenant without statistics, and would materialise all of them and scan them
 * repeatedly.
 */
const SETTINGS = `set local statement_timeout = ${STATEMENT_TIMEOUT_MS}; set local enable_material = off`;

/** Clause for a statement that selects from `municipios m`. It yields no row while an import is being written, instead of waiting. */
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
    probe: (look) =>
      inRegistry(async (client) => {
        await client.query('savepoint antes');
        await run(client, false);
        const seen = await look(client);
        await client.query('rollback to savepoint antes');
        return seen;
      }),
    merge: async (escrita) => {
      const { counts } = await inRegistry(async (client) => {
        const { tenant, importacao, asRehearsed, atos } = escrita ?? {};
        if (asRehearsed !== undefined && (await run(client, true)).marca !== asRehearsed) throw new RegistroMudou();
        if (importacao !== undefined) await keepImportacao(client, tenant!, importacao);
        const done = await run(client, false, importacao?.id);
        if (importacao !== undefined) await insertAtosDaImportacao(client, tenant!, importacao);
        if (escrita !== undefined) await insertAtos(client, tenant!, atos!(done));
        return done;
      });
      return counts;
    },
  });
}

/** Rows by their key, and then in the order of the file. */
function sortRows<Row extends LinhaDatada>(rows: readonly Row[], about: (row: Row) => string): Row[] {
  const keyed = rows.map((row): [string, Row] => [about(row), row]);
  keyed.sort(([a, one], [b, other]) => (a < b ? -1 : a > b ? 1 : one.linha - other.linha));
  return keyed.map(([, row]) => row);
}

/** Groups of lines with the same key, which are adjacent, by their places; the end is exclusive. */
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

/** The lines of a key that conflict with earlier ones. A contradicting line is not compared by period. */
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

/** Lines whose content differs from the first line of the same identity. */
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

/** A day later than all others. */
const FOREVER = '9999-12-31';

/** Lines whose period begins before an earlier one has ended. The line named in the refusal is the first of those with the latest end. */
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
