/**
 * The text outside the root of an XML document: a declaration, comments, instructions, white space. No signature covers it and nothing
 * reads it. A large amount is therefore padding, which would be stored with every note.
 */

/** Enough for a declaration, a reference to a style sheet and a comment of some lines. */
export const MARGIN_MAX = 4_096;

/** Characters before the root and after it, estimated without a parser; the number means nothing if the text is no document. */
export function marginsOf(text: string): number {
  const start = rootAt(text);
  return start + (text.length - endOfRoot(text, start));
}

function rootAt(text: string): number {
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  for (;;) {
    at = skipSpace(text, at);
    const close = text.startsWith('<!--', at) ? '-->' : text.startsWith('<?', at) ? '?>' : undefined;
    if (close === undefined) return at;
    const end = text.indexOf(close, at + 2);
    if (end < 0) return at;
    at = end + close.length;
  }
}

function endOfRoot(text: string, start: number): number {
  let end = text.length;
  for (;;) {
    while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
    const open = text.endsWith('-->', end) ? '<!--' : text.endsWith('?>', end) ? '<?' : undefined;
    if (open === undefined) return end;
    const at = text.lastIndexOf(open, end - 2);
    if (at <= start) return end;
    end = at;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
