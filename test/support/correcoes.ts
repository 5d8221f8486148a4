/**
 * Applies corrections to documents as the documentation of `correcao` says, from the answer alone. Offsets are counted in the text, and
 * scanners of this file find the ends of elements and properties.
 */
import assert from 'node:assert/strict';
import { DOMParser } from '@xmldom/xmldom';

/** A fault as an answer shows it. */
export type Answered = {
  readonly codigo: string;
  readonly xpath: string;
  readonly campo?: string | undefined;
  readonly linha?: number | undefined;
  readonly coluna?: number | undefined;
  readonly correcao?: string | undefined;
};

type Span = { readonly start: number; readonly end: number };
type Edit = Span & { readonly text: string };

/** Applies all corrections that do not overlap, the last place first; or one alone, if `only` names it. */
export function correct(text: string, faults: readonly Answered[], only?: number): string {
  const offered = faults.filter(({ correcao }) => correcao !== undefined);
  const chosen = only === undefined ? offered : offered.slice(only % offered.length, (only % offered.length) + 1);
  const isJson = /^\ufeff?\s*[{[]/.test(text);
  const edits = chosen.map((fault) => (isJson ? editOfJson(text, fault) : editOfXml(text, fault)));
  let free = text.length + 1;
  let corrected = text;
  for (const { start, end, text: piece } of edits.toSorted((a, b) => b.start - a.start || b.end - a.end)) {
    if (end > free) continue;
    corrected = corrected.slice(0, start) + piece + corrected.slice(end);
    free = start;
  }
  return corrected;
}

/** Asserts that an independent parser can read a document. */
export function assertWellFormed(text: string, said: string): void {
  if (/^\ufeff?\s*[{[]/.test(text)) {
    assert.doesNotThrow(() => JSON.parse(text.replace(/^\ufeff/, '')), said);
    return;
  }
  const fail = (message: string): never => assert.fail(`${said}: ${message}\n${text}`);
  new DOMParser({ errorHandler: { warning: fail, error: fail, fatalError: fail } }).parseFromString(text, 'text/xml');
}

/** The offset of a line and column, both from 1, columns in characters. */
function offsetOf(text: string, linha: number, coluna: number): number {
  let start = 0;
  const breaks = /\r\n|\r|\n/g;
  for (let line = 1; line < linha; line += 1) {
    assert.ok(breaks.exec(text), `the document has no line ${linha}`);
    start = breaks.lastIndex;
  }
  const mark = linha === 1 && text.startsWith('\ufeff') ? 1 : 0;
  return start + mark + [...text.slice(start + mark)].slice(0, coluna - 1).join('').length;
}

function placeOf(text: string, { codigo, linha, coluna }: Answered): number {
  assert.ok(linha !== undefined && coluna !== undefined, `${codigo} has a correction and no place`);
  return offsetOf(text, linha, coluna);
}

// An XML document.

const TOKEN = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<\/[^>]*>|<(?:[^>"']|"[^"]*"|'[^']*')*>/g;

function elementAt(text: string, start: number): Span & { readonly tagEnd: number } {
  TOKEN.lastIndex = start;
  let depth = 0;
  let tagEnd: number | undefined;
  for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
    const [tag] = token;
    if (/^<[!?]/.test(tag)) continue;
    if (tagEnd === undefined) assert.equal(token.index, start, 'the place is that of a tag');
    tagEnd ??= TOKEN.lastIndex;
    if (tag.startsWith('</')) depth -= 1;
    else if (!tag.endsWith('/>')) depth += 1;
    if (depth === 0) return { start, end: TOKEN.lastIndex, tagEnd };
  }
  assert.fail('the element has an end');
}

function editOfXml(text: string, fault: Answered): Edit {
  const { start, end, tagEnd } = elementAt(text, placeOf(text, fault));
  const steps = fault.xpath.split('/');
  const attribute = steps.at(-1)!.startsWith('@') ? steps.pop()!.slice(1) : undefined;
  const [, name] = /^<(?:[^\s/>:]+:)?([^\s/>]+)/.exec(text.slice(start, tagEnd))!;
  assert.equal(
    name!.toLowerCase(),
    steps
      .at(-1)!
      .replace(/\[\d+\]$/, '')
      .toLowerCase(),
    `${fault.xpath} is at its place`,
  );
  if (attribute === undefined) return { start, end, text: fault.correcao! };
  const tag = text.slice(start, tagEnd);
  const local = attribute.startsWith('xmlns') ? attribute : `(?:[^\\s=:]+:)?${attribute}`;
  const there = new RegExp(`\\s${local}\\s*=\\s*(?:"[^"]*"|'[^']*')`).exec(tag);
  if (there !== null) {
    const at = start + there.index;
    return { start: at, end: at + there[0].length, text: fault.correcao === '' ? '' : ` ${fault.correcao}` };
  }
  const at = start + /^<[^\s/>]+/.exec(tag)![0].length;
  return { start: at, end: at, text: ` ${fault.correcao}` };
}

// A JSON document.

/** `start` is the offset of a property's name, or of a list member's value; `value` is the offset of the value. */
type Placed = Span & { readonly path: string; readonly value: number };

/** Every property and every member of a list, by its path: `a.b`, `a[0].b`. */
function placesIn(text: string): readonly Placed[] {
  const all: Placed[] = [];
  let at = text.startsWith('\ufeff') ? 1 : 0;
  const space = (): void => {
    while (/\s/.test(text[at] ?? '')) at += 1;
  };
  const string = (): string => {
    const start = at;
    for (at += 1; text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
    at += 1;
    return JSON.parse(text.slice(start, at)) as string;
  };
  const value = (path: string): void => {
    space();
    const open = text[at];
    if (open === '"') string();
    else if (open === '{' || open === '[') {
      at += 1;
      space();
      for (let place = 0; text[at] !== '}' && text[at] !== ']'; place += 1) {
        const start = at;
        const below = open === '[' ? `${path}[${place}]` : `${path === '' ? '' : `${path}.`}${string()}`;
        if (open === '{') {
          space();
          at += 1;
        }
        space();
        const begin = at;
        value(below);
        all.push({ path: below, start, end: at, value: begin });
        space();
        if (text[at] === ',') at += 1;
        space();
      }
      at += 1;
    } else while (/[^\s,}\]]/.test(text[at] ?? ' ')) at += 1;
  };
  value('');
  return all;
}

function editOfJson(text: string, fault: Answered): Edit {
  const all = placesIn(text);
  const place = placeOf(text, fault);
  const there = all.filter(({ start, value }) => start === place || value === place);
  const found = there.find(({ path }) => path === fault.campo) ?? there[0];
  assert.ok(found, `${fault.codigo}: ${fault.campo} is not where the answer says`);
  if (/^[\w.[\]]+$/.test(fault.campo!)) assert.equal(found.path, fault.campo, 'campo names the same property');
  if (fault.correcao !== '') return { start: found.start, end: found.end, text: fault.correcao! };
  const [behind] = /^\s*,/.exec(text.slice(found.end)) ?? [];
  if (behind !== undefined) return { start: found.start, end: found.end + behind.length, text: '' };
  const [before = ''] = /,\s*$/.exec(text.slice(0, found.start)) ?? [];
  return { start: found.start - before.length, end: found.end, text: '' };
}
