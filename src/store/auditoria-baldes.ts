/**
 * What the entries of a chain say of rows, beside what the rows say: more than fits into memory. Both are written into some files by what
 * the rows belong to, and compared file by file.
 */
import { hash } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { apagavelOf, familiaOf, isUmaVez, itemOf } from './auditoria-tabelas.ts';

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
    const text = this.held[which]!.join('');
    this.held[which] = [];
    this.sizes[which] = 0;
    if (text !== '') await appendFile(this.fileOf(which), text);
  }

  private fileOf(which: number): string {
    return path.join(this.folder, String(which));
  }

  /** All differences, file by file. */
  async *compare(mayGo: JulgarApagada): AsyncGenerator<Diferenca> {
    for (let which = 0; which < FILES; which += 1) {
      await this.flush(which);
      const text = await readFile(this.fileOf(which), 'utf8').catch(() => '');
      yield* compareLines(text, mayGo);
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

  constructor(held: ReadonlySet<string>) {
    this.held = held;
  }

  /** Whether it may be told: again, a row that never changes may not, but as the chain began. */
  tell(item: string, dita: Dita): boolean {
    const rows = this.said.getOrInsertComputed(familiaOf(item), () => new Map());
    const before = rows.get(item);
    if (before !== undefined && isUmaVez(item)) {
      const isSame = before.resumo === dita.resumo && (before.isAbertura || dita.isAbertura);
      const isReleased = this.held.has(item) && !this.again.has(item);
      if (!isSame && !isReleased) return false;
      if (!isSame) this.again.add(item);
    }
    rows.set(item, dita);
    return true;
  }

  /** Whether it may be gone. */
  takeAway(item: string, mayGo: JulgarApagada): boolean {
    const familia = familiaOf(item);
    const rows = this.said.get(familia);
    const how = apagavelOf(item);
    if (how === 'nunca') return false;
    if (how === 'mes' && !mayGo(rows === undefined ? [] : [...rows.keys()].flatMap(mesesOf))) return false;
    if (rows?.delete(item.slice(1)) !== true) this.said.delete(familia);
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

function* compareLines(text: string, mayGo: JulgarApagada): Generator<Diferenca> {
  const ditas = new Ditas(heldIn(text));
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
