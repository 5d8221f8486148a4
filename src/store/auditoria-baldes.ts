/**
 * What the entries of a chain say of rows, beside what the rows say: more than fits into memory. Both are written into some files by what
 * the rows belong to, and compared file by file.
 */
import { hash } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { familiaOf } from './auditoria-tabelas.ts';

/** Of a million notes each is some megabytes. */
const FILES = 128;
/** Held of a file before it is written. */
const HELD_BYTES = 64 * 1024;

/** What was found of a row. `lugar`: of the entry that last told it, 0: it has none yet; undefined: there is no entry. */
export type Diferenca = {
  readonly tipo: 'linha_alterada' | 'linha_apagada' | 'linha_sem_entrada';
  readonly item: string;
  readonly lugar: number | undefined;
  /** The digest of what is there. */
  readonly visto?: string;
};

type Dita = { readonly resumo: string; readonly lugar: number };

export class Baldes {
  private readonly folder: string;
  private readonly held: string[][] = Array.from({ length: FILES }, () => []);
  private readonly sizes: number[] = Array.from({ length: FILES }, () => 0);

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** They are gone when `work` is done. */
  static async use<Result>(work: (baldes: Baldes) => Promise<Result>): Promise<Result> {
    const folder = await mkdtemp(path.join(tmpdir(), 'nfse-auditoria-'));
    try {
      return await work(new Baldes(folder));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** What an entry says, in the order of their places; those without a place come last, with 0. */
  say(item: string, resumo: string, lugar: number): Promise<void> | undefined {
    return this.put(item, `${lugar}\t${resumo}\t${item}\n`);
  }

  /** A row that is there. To be called after all that is said. */
  find(item: string, resumo: string): Promise<void> | undefined {
    return this.put(item, `-\t${resumo}\t${item}\n`);
  }

  /** The same, of a row that the chain need not have told: it stands in a file that is older than the chain. */
  findOlder(item: string, resumo: string): Promise<void> | undefined {
    return this.put(item, `~\t${resumo}\t${item}\n`);
  }

  private put(item: string, line: string): Promise<void> | undefined {
    const which = hash('sha256', familiaOf(item), 'buffer')[0]! % FILES;
    this.held[which]!.push(line);
    this.sizes[which]! += line.length;
    return this.sizes[which]! < HELD_BYTES ? undefined : this.flush(which);
  }

  private async flush(which: number): Promise<void> {
    const text = this.held[which]!.join('');
    this.held[which] = [];
    this.sizes[which] = 0;
    if (text !== '') await appendFile(this.fileOf(which), text);
  }

  private fileOf(which: number): string {
    return path.join(this.folder, String(which));
  }

  /** All differences, file by file. */
  async *compare(): AsyncGenerator<Diferenca> {
    for (let which = 0; which < FILES; which += 1) {
      await this.flush(which);
      const text = await readFile(this.fileOf(which), 'utf8').catch(() => '');
      yield* compareLines(text);
    }
  }
}

function* compareLines(text: string): Generator<Diferenca> {
  /** By what they belong to, so that it goes as a whole. */
  const said = new Map<string, Map<string, Dita>>();
  /** A month that is being brought back from its file is in both. */
  const found = new Map<string, string>();
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const [place, resumo, item] = text.slice(from, end).split('\t') as [string, string, string];
    from = end + 1;
    const familia = familiaOf(item);
    if (place !== '-' && place !== '~') {
      if (!item.startsWith('-')) {
        said.getOrInsertComputed(familia, () => new Map()).set(item, { resumo, lugar: Number(place) });
      } else if (!said.get(familia)?.delete(item.slice(1))) said.delete(familia);
      continue;
    }
    if (found.get(item) === resumo) continue;
    found.set(item, resumo);
    const dita = said.get(familia)?.get(item);
    if (dita === undefined && place === '~') continue;
    if (dita === undefined) yield { tipo: 'linha_sem_entrada', item, lugar: undefined, visto: resumo };
    else if (dita.resumo !== resumo) yield { tipo: 'linha_alterada', item, lugar: dita.lugar, visto: resumo };
    said.get(familia)?.delete(item);
  }
  for (const rows of said.values()) {
    for (const [item, { lugar }] of rows) yield { tipo: 'linha_apagada', item, lugar };
  }
}
