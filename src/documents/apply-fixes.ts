/**
 * Applies the corrections of faults to the text that they concern, as `correcao` gives them (D-212). A correction replaces an element or
 * attribute of XML, or a property or list member of JSON; an empty one removes it. A place that is not found stays unchanged.
 */
import type { Fault } from '../fiscal/fault.ts';
import { placesIn } from './places.ts';

type Edit = { readonly from: number; readonly to: number; readonly text: string };

/** The text with the corrections that do not overlap, and their number. */
export function applyFixes(
  text: string,
  faults: readonly Fault[],
): { readonly text: string; readonly applied: number } {
  const offered = faults.filter(({ correcao, linha }) => correcao !== undefined && linha !== undefined);
  if (offered.length === 0) return { text, applied: 0 };
  const isXml = text.trimStart().startsWith('<');
  const edits = isXml ? editsOfXml(text, offered) : editsOfJson(text, offered);
  edits.sort((one, other) => other.from - one.from || other.to - one.to);
  let mended = text;
  let applied = 0;
  let free = text.length + 1;
  for (const { from, to, text: piece } of edits) {
    if (to > free) continue;
    mended = mended.slice(0, from) + piece + mended.slice(to);
    free = from;
    applied += 1;
  }
  return { text: mended, applied };
}

const keyOf = (linha: number, coluna: number): string => `${linha}:${coluna}`;

/** Faults by their position. */
function byPlace(faults: readonly Fault[]): ReadonlyMap<string, readonly Fault[]> {
  return Map.groupBy(faults, ({ linha, coluna }) => keyOf(linha!, coluna ?? 1));
}

/** Every piece ends before the next `<`, except comments and quoted sections, so that a text is scanned once. */
const MARKUP =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)|<![^<>]*>|<\/?[^\s/<>!?"'](?:"[^"<]*"|'[^'<]*'|[^<>"'])*>/g;

type OpenTag = { readonly at: number; readonly end: number; readonly faults: readonly Fault[] };

function editsOfXml(text: string, faults: readonly Fault[]): Edit[] {
  const wanted = byPlace(faults);
  const place = placesIn(text);
  const edits: Edit[] = [];
  const open: OpenTag[] = [];
  const close = (tag: OpenTag, to: number): void => {
    for (const fault of tag.faults) edits.push(editOfElement(text, tag, to, fault));
  };
  for (const { 0: tag, index: at } of text.matchAll(MARKUP)) {
    if (/^<[!?]/.test(tag)) continue;
    const end = at + tag.length;
    if (tag.startsWith('</')) {
      const opened = open.pop();
      if (opened !== undefined) close(opened, end);
      continue;
    }
    const { linha, coluna } = place(at);
    const here = { at, end, faults: wanted.get(keyOf(linha, coluna)) ?? [] };
    if (tag.endsWith('/>')) close(here, end);
    else open.push(here);
  }
  return edits;
}

/** A fault of an attribute changes that attribute alone, or adds it behind the element's name. */
function editOfElement(text: string, { at, end }: OpenTag, to: number, { xpath, correcao }: Fault): Edit {
  const attribute = /\/@([^/]+)$/.exec(xpath)?.[1];
  if (attribute === undefined) return { from: at, to, text: correcao! };
  const tag = text.slice(at, end);
  const there = [...tag.matchAll(/\s([^\s=<>]+)\s*=\s*(?:"[^"]*"|'[^']*')/g)].find(
    ([, name]) => name === attribute || name!.endsWith(`:${attribute}`),
  );
  const piece = correcao === '' ? '' : ` ${correcao}`;
  if (there !== undefined) return { from: at + there.index, to: at + there.index + there[0].length, text: piece };
  const behind = at + /^<[^\s/>]+/.exec(tag)![0].length;
  return { from: behind, to: behind, text: piece };
}

// JSON.

/** A property with its name, or a member of a list: its beginning, that of its value, and the end of the value. */
type Member = { readonly at: number; readonly value: number; readonly end: number };

const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Every property and every member of a list. */
function membersOf(text: string): readonly Member[] {
  const members: Member[] = [];
  const open: { isList: boolean; at: number | undefined; value: number | undefined }[] = [];
  let last = 0;
  const end = (): void => {
    const inside = open.at(-1);
    if (inside?.at === undefined) return;
    members.push({ at: inside.at, value: inside.value ?? inside.at, end: last });
    inside.at = undefined;
    inside.value = undefined;
  };
  for (const { 0: token, index: at } of text.matchAll(JSON_TOKEN)) {
    const inside = open.at(-1);
    if (token === ',' || token === '}' || token === ']') {
      end();
      if (token !== ',') open.pop();
    } else if (token !== ':') {
      // The first text of a property is its name, and the next part its value.
      if (inside !== undefined && inside.at === undefined) inside.at = at;
      else if (inside !== undefined && !inside.isList) inside.value ??= at;
      if (token === '{' || token === '[') open.push({ isList: token === '[', at: undefined, value: undefined });
    }
    last = at + token.length;
  }
  return members;
}

function editsOfJson(text: string, faults: readonly Fault[]): Edit[] {
  const wanted = byPlace(faults);
  const place = placesIn(text);
  return membersOf(text).flatMap((member) => {
    const keys = [member.at, member.value].map((offset) => {
      const { linha, coluna } = place(offset);
      return keyOf(linha, coluna);
    });
    const found = [...new Set(keys)].flatMap((key) => wanted.get(key) ?? []);
    return found.map((fault) => editOfMember(text, member, fault.correcao!));
  });
}

/** A removed part takes its comma along. */
function editOfMember(text: string, { at, end }: Member, correcao: string): Edit {
  if (correcao !== '') return { from: at, to: end, text: correcao };
  const behind = /^\s*,/.exec(text.slice(end))?.[0].length;
  if (behind !== undefined) return { from: at, to: end + behind, text: '' };
  const before = /,\s*$/.exec(text.slice(0, at))?.[0].length ?? 0;
  return { from: at - before, to: end, text: '' };
}
