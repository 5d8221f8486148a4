/**
 * The unchanged answer about each document of a lot: the text of the answer without the entries of the other documents. It is kept as
 * evidence, and nothing is decided by it.
 */
import type { Outcome } from './line.ts';

/** Maximum characters of one; nearly all have a few hundred. */
const RESPOSTA_MAX = 16_000;
const CUT_OFF = '\n(cortado aqui)';

/** The text around the entries of a lot, and the entries. */
type Cut = { readonly before: string; readonly entries: readonly string[]; readonly after: string };

/**
 * The text about each document, by its place in the lot: a line with status and host, and then the body. It is `-` and the reason if there
 * was no answer. Undefined: nothing was sent. `chaves`: in the sent order.
 */
export function respostasTo(
  outcome: Outcome,
  host: string,
  chaves: readonly string[],
): (place: number) => string | undefined {
  if (outcome.kind !== 'answered') {
    const { code, why } = outcome;
    return () => (code === 'NOT_TRIED' ? undefined : `- ${host}\n${why}`);
  }
  const line = `${outcome.status} ${host}\n`;
  const text = outcome.body.toString('utf8');
  const cut = cutLote(text);
  if (cut === undefined) return () => line;
  return (place) => bounded(`${line}${cut.before}${entryOf(cut.entries, chaves, place)}${cut.after}`);
}

function bounded(text: string): string {
  return text.length <= RESPOSTA_MAX ? text : text.slice(0, RESPOSTA_MAX).toWellFormed() + CUT_OFF;
}

/** The entries with its key, or the one at its place if no entry has a sent key. */
function entryOf(entries: readonly string[], chaves: readonly string[], place: number): string {
  const chave = chaves[place]!;
  const own = entries[place] ?? '';
  if (own.includes(chave)) return own;
  const named = entries.filter((one) => one.includes(chave));
  if (named.length > 0) return named.join(',');
  return entries.length === chaves.length && !chaves.some((one) => own.includes(one)) ? own : '';
}

const LOTE = /^"lote"$/i;
const QUOTE = 34;
const BACKSLASH = 92;

/**
 * Splits the text of an answer at the list `Lote` of its object; an object without one is all `before`. Undefined: the text is no object,
 * or has that name twice. The reader of the answer has checked that it is well-formed.
 */
export function cutLote(text: string): Cut | undefined {
  if (!/^\uFEFF?\s*\{/.test(text)) return undefined;
  let [depth, name, cut] = [0, '', undefined as Cut | undefined];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (depth === 1) name = text.slice(at, end + 1);
      at = end;
    } else if (code === 91 && depth === 1 && LOTE.test(name)) {
      if (cut !== undefined) return undefined;
      const { entries, end } = entriesFrom(text, at + 1);
      cut = { before: text.slice(0, at + 1), entries, after: text.slice(end) };
      at = end;
    } else if (code === 123 || code === 91) depth += 1;
    else if (code === 125 || code === 93) depth -= 1;
  }
  return cut ?? { before: text, entries: [], after: '' };
}

/** Elements of a list that begins at `at`, and the position of its end. */
function entriesFrom(text: string, start: number): { readonly entries: readonly string[]; readonly end: number } {
  const entries: string[] = [];
  let [depth, from, at] = [0, start, start];
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === 123 || code === 91) depth += 1;
    else if (code === 44 && depth === 0) {
      entries.push(text.slice(from, at).trim());
      from = at + 1;
    } else if (code === 125 || code === 93) {
      if (depth === 0) break;
      depth -= 1;
    }
  }
  const last = text.slice(from, at).trim();
  return { entries: last === '' ? entries : [...entries, last], end: at };
}

/** The end of the string that begins at `at`. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
