/**
 * Compares the entries of a chain with the rows, although both are larger than memory. Both are distributed over some files by the object
 * that the rows belong to, and compared file by file.
 */
import { hash } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { apagavelOf, familiaOf, isUmaVez, itemOf } from '../../base/book/auditoria-tabelas.ts';

/** Number of files: each has some megabytes for a million notes. */
const FILES = 128;
/** Buffered bytes of a file before they are written. */
const HELD_BYTES = 64 * 1024;

/** A difference in a row. `lugar`: place of the last entry about the row; 0: it has no place yet; undefined: there is no entry. */
export type Diferenca = {
  readonly tipo: 'linha_alterada' | 'linha_apagada' | 'linha_sem_entrada' | 'linha_recontada' | 'apagada_sem_ato';
  readonly item: string;
  readonly lugar: number | undefined;
  /** The digest of the stored row. */
  readonly visto?: string;
};

type Dita = { readonly resumo: string; readonly lugar: number; readonly isAbertura: boolean };

/** Whether rows that go with their month may be gone, given the months of these rows. */
export type JulgarApagada = (meses: readonly number[]) => boolean;

export class Baldes {
  private folder: string | undefined;
  private readonly held: string[][] = Array.from({ length: FILES }, () => []);
  private readonly sizes: number[] = Array.from({ length: FILES }, () => 0);
  /** Bytes that each file must have; a shortened file would otherwise be compared as if it were whole. */
  private readonly written: number[] = Array.from({ length: FILES }, () => 0);
  private isLacking = false;
  /** The reason why not all rows were compared, in Portuguese; nothing is said of the others. */
  falha: string | undefined;

  /** The files are deleted when `work` is done. */
  static async use<Result>(work: (baldes: Baldes) => Promise<Result>): Promise<Result> {
    const baldes = new Baldes();
    try {
      return await work(baldes);
    } finally {
      if (baldes.folder !== undefined) await rm(baldes.folder, { recursive: true, force: true });
    }
  }

  /**
   * Adds an entry, in the order of the places; entries without a place come last, with 0. `isAbertura`: the entry belongs to the beginning
   * of the chain.
   */
  say(item: string, resumo: string, lugar: number, isAbertura: boolean): Promise<void> | undefined {
    return this.put(item, `${isAbertura ? OPENING : ''}${lugar}\t${resumo}\t${item}\n`);
  }

  /** Marks a note as held: its documents are recorded once more. */
  hold(nota: string, mes: string): Promise<void> | undefined {
    const item = itemOf('documentos', [nota, mes]);
    return this.put(item, `${HELD}\t\t${item}\n`);
  }

  /** Adds a stored row. It must be called after all entries were added. */
  find(item: string, resumo: string): Promise<void> | undefined {
    return this.put(item, `-\t${resumo}\t${item}\n`);
  }

  /** The same for a row that the chain need not have recorded: it stands in a file that is older than the chain. */
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
    const bytes = Buffer.from(this.held[which]!.join(''));
    this.held[which] = [];
    this.sizes[which] = 0;
    if (bytes.length === 0 || this.isLacking) return;
    try {
      this.folder ??= await mkdtemp(path.join(tmpdir(), 'nfse-auditoria-'));
      await appendFile(this.fileOf(which), bytes);
      this.written[which]! += bytes.length;
    } catch (error) {
      this.isLacking = true;
      this.fail(error as NodeJS.ErrnoException);
    }
  }

  private fileOf(which: number): string {
    return path.join(this.folder!, String(which));
  }

  private fail({ code, message }: NodeJS.ErrnoException): void {
    this.falha ??= `em ${this.folder ?? tmpdir()}, ${code ?? message}`;
  }

  /** Undefined: the file differs from the written one, and is not compared. */
  private async read(which: number): Promise<string | undefined> {
    const wanted = this.written[which]!;
    if (wanted === 0) return '';
    try {
      const bytes = await readFile(this.fileOf(which));
      if (bytes.length !== wanted) throw new Error(`há ${bytes.length} bytes de ${wanted}`);
      return bytes.toString();
    } catch (error) {
      this.fail(error as NodeJS.ErrnoException);
      return undefined;
    }
  }

  /** All differences, file by file. `mayDiffer`: whether the beginning may record changeable rows otherwise than an earlier entry. */
  async *compare(mayGo: JulgarApagada, mayDiffer: boolean): AsyncGenerator<Diferenca> {
    for (let which = 0; which < FILES; which += 1) await this.flush(which);
    for (let which = 0; which < FILES && !this.isLacking; which += 1) {
      const text = await this.read(which);
      if (text !== undefined) yield* compareLines(text, mayGo, mayDiffer);
    }
  }
}

const OPENING = 'a';
const HELD = 'r';

type Linha = readonly [place: string, resumo: string, item: string];

function* readLines(text: string): Generator<Linha> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    yield text.slice(from, end).split('\t') as unknown as Linha;
    from = end + 1;
  }
}

/** Documents of notes that were held. */
function heldIn(text: string): ReadonlySet<string> {
  if (!text.startsWith(`${HELD}\t`) && !text.includes(`\n${HELD}\t`)) return new Set();
  return new Set([...readLines(text)].flatMap(([place, , item]) => (place === HELD ? [item] : [])));
}

/** Recorded rows, grouped by the object that they belong to, so that the group can be deleted as a whole. */
class Ditas {
  private readonly said = new Map<string, Map<string, Dita>>();
  private readonly held: ReadonlySet<string>;
  private readonly again = new Set<string>();
  private readonly gone = new Set<string>();
  private readonly mayDiffer: boolean;

  constructor(held: ReadonlySet<string>, mayDiffer: boolean) {
    this.held = held;
    this.mayDiffer = mayDiffer;
  }

  /**
   * Whether the entry may be recorded. The beginning must not change a recorded row, and an unchangeable row must not be recorded again.
   */
  tell(item: string, dita: Dita): boolean {
    const familia = familiaOf(item);
    const before = this.said.get(familia)?.get(item);
    const isHeld = this.held.has(item);
    const isChanging = !isUmaVez(item);
    if (dita.isAbertura && !(this.mayDiffer && (isChanging || isHeld))) {
      const isGone = before === undefined && (this.gone.has(item) || this.gone.has(familia));
      if (isGone || (before !== undefined && before.resumo !== dita.resumo)) return false;
    } else if (before !== undefined && !isChanging) {
      const isSame = before.resumo === dita.resumo && (before.isAbertura || dita.isAbertura);
      const isReleased = isHeld && !this.again.has(item);
      if (!isSame && !isReleased) return false;
      if (!isSame) this.again.add(item);
    }
    this.said.getOrInsertComputed(familia, () => new Map()).set(item, dita);
    return true;
  }

  /** Whether the deletion is allowed. */
  takeAway(item: string, mayGo: JulgarApagada): boolean {
    const familia = familiaOf(item);
    const rows = this.said.get(familia);
    const how = apagavelOf(item);
    if (how === 'nunca') return false;
    if (how === 'mes' && !mayGo(rows === undefined ? [] : [...rows.keys()].flatMap(mesesOf))) return false;
    const isRow = rows?.delete(item.slice(1)) === true;
    if (!isRow) this.said.delete(familia);
    this.gone.add(isRow ? item.slice(1) : familia);
    return true;
  }

  get(item: string): Dita | undefined {
    return this.said.get(familiaOf(item))?.get(item);
  }

  settle(item: string): void {
    this.said.get(familiaOf(item))?.delete(item);
  }

  *left(): Generator<readonly [item: string, dita: Dita]> {
    for (const rows of this.said.values()) yield* rows;
  }
}

/** The month of a row, if its key has one. */
function mesesOf(item: string): readonly number[] {
  const [, , mes] = JSON.parse(item) as readonly string[];
  return mes !== undefined && /^\d{6}$/.test(mes) ? [Number(mes)] : [];
}

function* compareLines(text: string, mayGo: JulgarApagada, mayDiffer: boolean): Generator<Diferenca> {
  const ditas = new Ditas(heldIn(text), mayDiffer);
  /** Rows seen so far: a month that is being restored from its file is in both places. */
  const found = new Map<string, string>();
  for (const [place, resumo, item] of readLines(text)) {
    if (place === HELD) continue;
    if (place !== '-' && place !== '~') {
      const isAbertura = place.startsWith(OPENING);
      const lugar = Number(isAbertura ? place.slice(OPENING.length) : place);
      if (item.startsWith('-')) {
        if (!ditas.takeAway(item, mayGo)) yield { tipo: 'apagada_sem_ato', item: item.slice(1), lugar };
      } else if (!ditas.tell(item, { resumo, lugar, isAbertura })) {
        yield { tipo: 'linha_recontada', item, lugar, visto: resumo };
      }
      continue;
    }
    if (found.get(item) === resumo) continue;
    found.set(item, resumo);
    const dita = ditas.get(item);
    if (dita === undefined && place === '~') continue;
    if (dita === undefined) yield { tipo: 'linha_sem_entrada', item, lugar: undefined, visto: resumo };
    else if (dita.resumo !== resumo) yield { tipo: 'linha_alterada', item, lugar: dita.lugar, visto: resumo };
    ditas.settle(item);
  }
  for (const [item, { lugar }] of ditas.left()) yield { tipo: 'linha_apagada', item, lugar };
}
