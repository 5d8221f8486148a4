/**
 * Looks for notes whose answer was lost, in the list of documents that the ADN received of the municipality. It reads page by page, for all
 * notes at once. A note is announced before it is sent: its reception number is above every number known then (D-126).
 *
 * A query by key costs less once the list has grown long: E2060 says that the ADN has no note of the key. Any other answer decides nothing,
 * and the list is read further.
 */
import type { AdnKnowledge, EventoRecebido, NotaAsked, Recebidos } from './adn.ts';
import { type Distributed, eventoIdIn, keyOf, readArquivo } from './reading.ts';
import type { PageVerdict } from './verdict.ts';
import { NO_SUCH_KEY } from './wire.ts';

/** The number of pages from which on notes are queried by key. A note on fewer pages may have come a moment ago. */
const FAR_PAGES = 20;

export type Search = {
  /** The documents received after a number. */
  readonly page: (after: string) => Promise<PageVerdict>;
  /** The events of a note. */
  readonly events: (chave: string) => Promise<PageVerdict>;
  readonly pagesMax: number;
  /** Simultaneous queries by key. */
  readonly atOnce: number;
  /** Whether the ADN has something under a key, and the function that records it. */
  readonly isThere: (chave: string) => boolean;
  readonly wasThere: (chave: string) => void;
  readonly onBug: (error: unknown) => void;
};

/** One answer for each key. `place` says how far the list was searched for a note that was not found. */
export async function searchReceived(
  notas: readonly NotaAsked[],
  search: Search,
): Promise<ReadonlyMap<string, AdnKnowledge>> {
  const found = new Map<string, AdnKnowledge>();
  const missing = new Map<string, NotaAsked>(notas.map((nota) => [keyOf(nota.chave_acesso), nota]));
  const highest = notas.map(({ nsu_agora }) => numberOf(nsu_agora)).reduce(larger, 0n);
  const least = (): bigint => smallest([...missing.values()].map(({ nsu_antes }) => numberOf(nsu_antes)));
  let from = missing.size === 0 ? 0n : least();
  let read = 0n;
  let rest: Undecided = NOT_OVER;
  try {
    for (let page = 0; missing.size > 0 && page < search.pagesMax; page += 1) {
      const unasked = [...missing.values()].filter(({ chave_acesso }) => !search.isThere(chave_acesso));
      const ahead = page === 0 ? 0n : (highest - from) / larger(read / BigInt(page), 1n);
      if (isKeyCheaper({ ahead, page, notas: unasked.length })) {
        for (const nota of await absentByKey(unasked, search)) {
          missing.delete(keyOf(nota.chave_acesso));
          // All numbers up to these had been assigned when the query was sent.
          found.set(nota.chave_acesso, { kind: 'absent', place: String(larger(numberOf(nota.nsu_agora), from)) });
        }
        if (missing.size === 0) break;
      }
      const reading = await search.page(String(from));
      if ('late' in reading) break;
      if (!('entries' in reading)) {
        rest = 'stop' in reading ? reading.stop : { kind: 'absent' };
        break;
      }
      for (const entry of reading.entries) await keep(entry, missing, found);
      const next = afterPage(from, reading.entries);
      if (next === undefined) {
        rest = { kind: 'unavailable', why: 'os documentos da consulta ao ADN vieram sem número' };
        break;
      }
      read += next - from;
      // Pages that cannot contain any of the remaining notes are skipped.
      from = missing.size === 0 ? next : larger(next, least());
    }
  } catch (error) {
    rest = { kind: 'unavailable', why: 'a consulta ao ADN não chegou ao fim nesta rodada' };
    search.onBug(error);
  }
  for (const { chave_acesso, nsu_antes } of missing.values()) {
    found.set(chave_acesso, { ...rest, place: String(larger(numberOf(nsu_antes), from)) });
  }
  return found;
}

type Undecided = Exclude<AdnKnowledge, { readonly kind: 'known' }>;

const NOT_OVER: Extract<Undecided, { readonly kind: 'unavailable' }> = {
  kind: 'unavailable',
  why: 'a consulta ao ADN não chegou ao fim nesta rodada',
  goesOn: true,
};

/**
 * `ahead`: pages to a number that is assigned. If none is known, the pages read in vain are compared: the worst case is twice the minimum.
 */
function isKeyCheaper(at: { readonly ahead: bigint; readonly page: number; readonly notas: number }): boolean {
  const pages = larger(at.ahead, BigInt(at.page));
  return at.notas > 0 && pages >= FAR_PAGES && pages >= at.notas;
}

async function keep(
  { nsu, chave, arquivo }: Distributed,
  missing: Map<string, NotaAsked>,
  found: Map<string, AdnKnowledge>,
): Promise<void> {
  const nota = chave === undefined ? undefined : missing.get(chave);
  if (nota === undefined) return;
  missing.delete(chave!);
  const xml = arquivo === undefined ? undefined : await readArquivo(arquivo);
  found.set(nota.chave_acesso, { kind: 'known', nsu, xml });
}

/** The notes that the ADN says it does not have. A note without a timely answer is queried again the next time. */
async function absentByKey(
  notas: readonly NotaAsked[],
  { events, atOnce, wasThere }: Search,
): Promise<readonly NotaAsked[]> {
  const absent: NotaAsked[] = [];
  const left = notas.values();
  let isOver = false;
  const run = async (): Promise<void> => {
    for (const nota of left) {
      const reading = await events(nota.chave_acesso);
      if ('late' in reading || 'stop' in reading) isOver = true;
      else if ('end' in reading && reading.end.length > 0 && reading.end.every((code) => code === NO_SUCH_KEY)) {
        absent.push(nota);
      } else wasThere(nota.chave_acesso);
      if (isOver) return;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, run));
  return absent;
}

/**
 * The start of the next page. A server that takes the number as "from" repeats the last document: the next number is then requested.
 * Undefined: no document has a number.
 */
function afterPage(from: bigint, entries: readonly Distributed[]): bigint | undefined {
  const numbers = entries.flatMap(({ nsu }) => (nsu === undefined ? [] : [BigInt(nsu)]));
  if (numbers.length === 0) return undefined;
  const highest = numbers.reduce(larger);
  return highest > from ? highest : from + 1n;
}

function numberOf(nsu: string): bigint {
  return /^\d+$/.test(nsu) ? BigInt(nsu) : 0n;
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function smallest(numbers: readonly bigint[]): bigint {
  return numbers.reduce((least, one) => (one < least ? one : least));
}

/** Reads the list to its end. */
export async function listReceived(page: Search['page'], after: string): Promise<Recebidos> {
  const chaves: string[] = [];
  const eventos: EventoRecebido[] = [];
  let outros = 0;
  for (let from = numberOf(after); ; ) {
    const reading = await page(String(from));
    if ('late' in reading) return { problem: NOT_OVER.why };
    if ('stop' in reading) return { problem: reading.stop.why };
    if (!('entries' in reading)) return { chaves, eventos, outros };
    for (const { chave, arquivo, em } of reading.entries) {
      if (chave !== undefined) {
        chaves.push(chave);
        continue;
      }
      const xml = arquivo === undefined ? undefined : await readArquivo(arquivo);
      const id = xml && eventoIdIn(xml);
      if (id === undefined) outros += 1;
      else eventos.push({ id, em });
    }
    const next = afterPage(from, reading.entries);
    if (next === undefined) return { problem: 'os documentos da consulta ao ADN vieram sem número' };
    from = next;
  }
}
