/**
 * What the entries of a chain say of rows, beside what the rows say: more than fits into memory. Both are written into some files by what
 * the rows belong to, and compared file by file.
 */
import { hash } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { apagavelOf, familiaOf, isUmaVez, itemOf } from '../../base/book/auditoria-tabelas.ts';

/** Of a million notes each is some megabytes. */
const FILES = 128;
/** Held of a file before it is written. */
const HELD_BYTES = 64 * 1024;

/** What was found of a row. `lugar`: of the entry that last told it, 0: it has none yet; undefined: there is no entry. */
export type Diferenca = {
  readonly tipo: 'linha_alterada' | 'linha_apagada' | 'linha_sem_entrada' | 'linha_recontada' | 'apagada_sem_ato';
  readonly item: string;
  readonly lugar: number | undefined;
  /** The digest of what is there. */
  readonly visto?: string;
};

type Dita = { readonly resumo: string; readonly lugar: number; readonly isAbertura: boolean };

/** Whether what goes with its month may be gone: of which months its rows were. */
export type JulgarApagada = (meses: readonly number[]) => boolean;

export class Baldes {
  private folder: string | undefined;
  private readonly held: string[][] = Array.from({ length: FILES }, () => []);
  private readonly sizes: number[] = Array.from({ length: FILES }, () => 0);
  /** How much each file must have: one that has lost something would be compared as what is left of it. */
  private readonly written: number[] = Array.from({ length: FILES }, () => 0);
  private isLacking = false;
  /** Why not all rows were compared, in Portuguese: of those that were not nothing is said. */
  falha: string | undefined;

  /** They are gone when `work` is done. */
  static async use<Result>(work: (baldes: Baldes) => Promise<Result>): Promise<Result> {
    const baldes = new Baldes();
    try {
      return await work(baldes);
    } finally {
      if (baldes.folder !== undefined) await rm(baldes.folder, { recursive: true, force: true });
    }
  }

  /** What an entry says, in the order of their places; those without a place come last, with 0. `isAbertura`: as the chain begins. */
  say(item: string, resumo: string, lugar: number, isAbertura: boolean): Promise<void> | undefined {
    return this.put(item, `${isAbertura ? OPENING : ''}${lugar}\t${resumo}\t${item}\n`);
  }

  /** That a note was held, so that its documents are told once more. */
  hold(nota: string, mes: string): Promise<void> | undefined {
    const item = itemOf('documentos', [nota, mes]);
    return this.put(item, `${HELD}\t\t${item}\n`);
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

  /** Undefined: it is not as it was written, and is compared with nothing. */
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

  /** All differences, file by file. `mayDiffer`: whether the beginning may tell rows that change otherwise than an entry before it. */
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

/** What was told, by what it belongs to, so that it goes as a whole. */
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

  /** Whether it may be told: as the chain begins no row otherwise than before, and again no row that never changes. */
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

  /** Whether it may be gone. */
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

/** The month of a row, where it has one in its key. */
function mesesOf(item: string): readonly number[] {
  const [, , mes] = JSON.parse(item) as readonly string[];
  return mes !== undefined && /^\d{6}$/.test(mes) ? [Number(mes)] : [];
}

function* compareLines(text: string, mayGo: JulgarApagada, mayDiffer: boolean): Generator<Diferenca> {
  const ditas = new Ditas(heldIn(text), mayDiffer);
  /** A month that is being brought back from its file is in both. */
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
