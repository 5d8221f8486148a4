/**
 * What was answered about each document of a lot, as it came: the text of the answer with what it says of the others cut out. It is kept for
 * whoever must prove it, and nothing is decided by it.
 */
import type { Outcome } from './line.ts';

/** Characters of one; nearly all have a few hundred. */
const RESPOSTA_MAX = 16_000;
const CUT_OFF = '\n(cortado aqui)';

/** Around and between the entries of a lot. */
type Cut = { readonly before: string; readonly entries: readonly string[]; readonly after: string };

/**
 * Of each document, by its place in what was sent: a line with status and host, and then the text; where nothing came, `-` and why. Undefined:
 * nothing was sent. `chaves`: as they were sent.
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

/** Of those entries that bear its key, or of the one at its place when none bears a key that was sent. */
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
 * Parts the text of an answer at the list `Lote` of its object; an object without one is all `before`. Undefined: it is no object, or has
 * that name twice. Whether it is well-formed is not looked at: who reads the answer has done that.
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

/** Elements of a list that begins at `at`, and where it ends. */
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

/** Where the string that begins at `at` ends. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
