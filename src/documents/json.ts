/**
 * Reads JSON (RFC 8259 and nothing beyond it): bytes to values with their place and their spelling.
 *
 * `JSON.parse` turns amounts into floats, silently keeps the last of two properties of one name, and gives no places. Texts that readers
 * understand differently (repeated names, halves of a surrogate pair) are refused. A byte order mark is skipped.
 */
import { isUtf8 } from 'node:buffer';
import { type Fault, quoted } from '../fiscal/fault.ts';
import type { JsonDocument, JsonMember, JsonValue } from '../fiscal/layout/json-value.ts';
import { ownOf } from '../fiscal/own.ts';
import { type Place, placesIn } from './places.ts';

/** The limit of the REST door. */
const BYTES_MAX = 1_048_576;
/** The deepest path of the body of issuance has 8 levels. */
const DEPTH_MAX = 32;
/** A body with a thousand deduction documents and their suppliers has about 30,000 values. */
const VALUES_MAX = 60_000;

/** A document that was read, or the single reason for its refusal (E003). */
export type JsonReading = (JsonDocument & { readonly bytes: Uint8Array }) | { readonly fault: Fault };

/** Reads a document, in time linear in its size. It never throws, for any bytes. */
export function readJson(bytes: Uint8Array): JsonReading {
  if (bytes.length > BYTES_MAX) return beyond(`${BYTES_MAX} bytes`);
  const strange = describeEncoding(bytes);
  if (strange !== undefined) return malformed(strange.place, strange.problem, 'UTF-8');
  const text = decodeUtf8(bytes);
  const reader = new Reader(text);
  const places = positionsIn(text);
  try {
    return { value: reader.readDocument(), positionOf: places, bytes };
  } catch (error) {
    if (error instanceof Excess) return beyond(error.message, places(error.offset));
    if (!(error instanceof Problem)) throw error;
    return malformed(places(error.offset), error.message, error.expected, error.found);
  }
}

/** Refuses JSON beyond a limit: `limit` is a number and its unit. */
function beyond(limit: string, place?: Place): { fault: Fault } {
  const where = place === undefined ? '' : ` (linha ${place.linha}, coluna ${place.coluna})`;
  const mensagem = `O JSON do corpo não é aceito${where}: passa do limite de ${limit}, de que nenhum documento daqui precisa; confira o programa que o escreve.`;
  return { fault: { codigo: 'E003', xpath: '', mensagem, ...place } };
}

function malformed(place: Place, problem: string, esperado?: string, encontrado?: string): { fault: Fault } {
  const mensagem = `O corpo não é um JSON válido (linha ${place.linha}, coluna ${place.coluna}): ${problem}.`;
  const found = encontrado === undefined ? {} : { encontrado };
  const expected = esperado === undefined ? {} : { esperado };
  return { fault: { codigo: 'E003', xpath: '', mensagem, ...found, ...expected, ...place } };
}

function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** The fault of bytes that are not UTF-8, and its place. */
function describeEncoding(bytes: Uint8Array): { readonly place: Place; readonly problem: string } | undefined {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  // UTF-16 without a mark is recognised too: the first character of a JSON text is ASCII.
  if (isUtf16 || (bytes.length > 1 && (first === 0) !== (second === 0))) {
    return { place: { linha: 1, coluna: 1 }, problem: 'está em UTF-16; envie em UTF-8' };
  }
  if (isUtf8(bytes)) return undefined;
  const before = textBeforeStrangeByte(bytes);
  const at = Buffer.byteLength(before);
  const byte = bytes[at]!.toString(16).toUpperCase().padStart(2, '0');
  const problem = `não está em UTF-8: o byte ${at + 1} (0x${byte}) não cabe ali; se o texto está em Latin-1 ou Windows-1252, converta-o`;
  return { place: positionsIn(before)(before.length), problem };
}

const REPLACEMENT = '\ufffd';

/** The text up to the first byte that is no UTF-8. The decoder's replacement character may also stand in the text itself. */
function textBeforeStrangeByte(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  let at = 0;
  let from = 0;
  for (;;) {
    const place = text.indexOf(REPLACEMENT, from);
    at += Buffer.byteLength(text.slice(from, place));
    if (bytes[at] !== 0xef || bytes[at + 1] !== 0xbf || bytes[at + 2] !== 0xbd) return text.slice(0, place);
    at += 3;
    from = place + 1;
  }
}

/** Places in a JSON text; a byte order mark counts as no character. */
function positionsIn(text: string): (offset: number) => Place {
  const places = placesIn(text);
  return (offset) => {
    const { linha, coluna } = places(offset);
    const hasMark = linha === 1 && offset > 0 && text.charCodeAt(0) === 0xfeff;
    return { linha, coluna: hasMark ? coluna - 1 : coluna };
  };
}

/** Thrown by the reader for a document that it cannot read, and caught in this file. */
class Problem extends Error {
  readonly offset: number;
  readonly expected: string | undefined;
  readonly found: string | undefined;
  constructor(offset: number, message: string, expected?: string, found?: string) {
    super(message);
    this.offset = offset;
    this.expected = expected;
    this.found = found;
  }
}

/** Thrown by the reader for a document beyond a limit, which is the message. */
class Excess extends Problem {}

const QUOTE = 34;
const BACKSLASH = 92;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

const NAME_EXPECTED = 'o nome de uma propriedade, entre aspas duplas';
const VALUE_EXPECTED = 'um valor: objeto, lista, texto entre aspas duplas, número, true, false ou null';
const QUOTES_EXPECTED = 'as aspas que fecham o texto';

/** The patterns match at the reader's position. */
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /[\p{L}\p{N}_$+.-]+/uy;

/** Reads one text from its beginning to its end. */
class Reader {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #values = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readDocument(): JsonValue {
    if (this.#text.charCodeAt(0) === 0xfeff) this.#at = 1;
    this.#skipSpace();
    if (this.#at === this.#text.length) throw new Problem(this.#at, 'está vazio', 'um objeto JSON');
    const value = this.#readValue();
    this.#skipSpace();
    if (this.#at < this.#text.length) {
      throw this.#describeUnexpected('há mais alguma coisa depois do fim do JSON', 'nada depois do fim');
    }
    return value;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.#at += 1;
    }
  }

  #readValue(): JsonValue {
    this.#values += 1;
    const offset = this.#at;
    if (this.#values > VALUES_MAX) throw new Excess(offset, `${VALUES_MAX} valores`);
    switch (this.#text[offset]) {
      case '{':
        return this.#readInside(() => this.#readObject(offset));
      case '[':
        return this.#readInside(() => this.#readArray(offset));
      case '"':
        return { kind: 'string', offset, text: this.#readString() };
      default:
        return this.#readNumberOrWord(offset);
    }
  }

  #readInside(read: () => JsonValue): JsonValue {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new Excess(this.#at, `${DEPTH_MAX} níveis`);
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #readObject(offset: number): JsonValue {
    const members: JsonMember[] = [];
    const names = new Map<string, number>();
    this.#at += 1;
    this.#skipSpace();
    if (this.#take('}')) return { kind: 'object', offset, members };
    for (;;) {
      const place = this.#at;
      if (this.#text.charCodeAt(place) !== QUOTE) throw this.#describeNoName(members);
      const name = this.#readString();
      const before = names.get(name);
      if (before !== undefined) {
        const { linha, coluna } = positionsIn(this.#text)(before);
        const problem = `a propriedade ${quoted(name)} aparece duas vezes no mesmo objeto, a primeira na linha ${linha}, coluna ${coluna}; deixe uma só`;
        throw new Problem(place, problem, 'nomes diferentes', quoted(name));
      }
      names.set(name, place);
      this.#skipSpace();
      if (!this.#take(':'))
        throw this.#describeUnexpected(`falta ":" depois de ${quoted(JSON.stringify(name))}`, '":"');
      this.#skipSpace();
      members.push({ name, offset: place, value: this.#readValue() });
      this.#skipSpace();
      if (this.#take('}')) return { kind: 'object', offset, members };
      if (!this.#take(',')) throw this.#describeNoSeparator('o objeto aberto', '}', offset);
      this.#skipSpace();
    }
  }

  #readArray(offset: number): JsonValue {
    const items: JsonValue[] = [];
    this.#at += 1;
    this.#skipSpace();
    if (this.#take(']')) return { kind: 'array', offset, items };
    for (;;) {
      if (this.#text[this.#at] === ']') {
        throw new Problem(this.#at, 'sobra uma vírgula antes de "]"; retire-a', VALUE_EXPECTED, ']');
      }
      items.push(this.#readValue());
      this.#skipSpace();
      if (this.#take(']')) return { kind: 'array', offset, items };
      if (!this.#take(',')) throw this.#describeNoSeparator('a lista aberta', ']', offset);
      this.#skipSpace();
    }
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #readString(): string {
    const start = this.#at;
    const text = this.#text;
    let plain = start + 1;
    let read = '';
    for (this.#at = plain; ; ) {
      const code = text.charCodeAt(this.#at);
      if (code === QUOTE) {
        read += text.slice(plain, this.#at);
        this.#at += 1;
        return read;
      }
      if (code === BACKSLASH) {
        read += text.slice(plain, this.#at) + this.#readEscape();
        plain = this.#at;
      } else if (code < 32) {
        throw new Problem(this.#at, describeControl(code), `um caractere, ou ${QUOTES_EXPECTED}`, pointOf(code));
      } else if (Number.isNaN(code)) {
        throw new Problem(start, 'o texto que começa aqui não é fechado por aspas duplas', QUOTES_EXPECTED);
      } else {
        this.#at += 1;
      }
    }
  }

  /** The text of an escape; a character beyond U+FFFF takes two escapes. */
  #readEscape(): string {
    const start = this.#at;
    const letter = this.#text[start + 1] ?? '';
    const short = ownOf(ESCAPES, letter);
    if (short !== undefined) {
      this.#at += 2;
      return short;
    }
    if (letter !== 'u') {
      const problem = `\\${letter} não é um escape; uma barra invertida no texto se escreve \\\\`;
      throw new Problem(start, problem, '\\" \\\\ \\/ \\b \\f \\n \\r \\t ou \\u e quatro hexadecimais', `\\${letter}`);
    }
    const unit = this.#readHex(start);
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit);
    const next = this.#at;
    const isPair = unit <= 0xdbff && this.#text.startsWith('\\u', next);
    const second = isPair ? this.#readHex(next) : 0;
    if (second < 0xdc00 || second > 0xdfff) {
      const problem = `${this.#text.slice(start, start + 6)} é metade de um caractere, e a outra metade não está ali`;
      throw new Problem(start, problem, 'os dois escapes do caractere, um depois do outro');
    }
    return String.fromCharCode(unit, second);
  }

  #readHex(start: number): number {
    const digits = this.#text.slice(start + 2, start + 6);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) {
      throw new Problem(start, 'depois de \\u vêm quatro hexadecimais', 'como \\u00e7', quoted(`\\u${digits}`));
    }
    this.#at = start + 6;
    return Number.parseInt(digits, 16);
  }

  #readNumberOrWord(offset: number): JsonValue {
    NUMBER.lastIndex = offset;
    const number = NUMBER.exec(this.#text)?.[0];
    WORD.lastIndex = offset;
    const word = wordAt(this.#text, offset);
    if (number !== undefined && number.length >= word.length) {
      this.#at = offset + number.length;
      return { kind: 'number', offset, text: number };
    }
    this.#at = offset + word.length;
    if (word === 'true' || word === 'false') return { kind: 'boolean', offset, text: word };
    if (word === 'null') return { kind: 'null', offset };
    this.#at = offset;
    if (word === '') throw this.#describeUnexpected('falta um valor', VALUE_EXPECTED);
    throw new Problem(offset, describeWord(word), VALUE_EXPECTED, quoted(word));
  }

  #describeNoName(members: readonly JsonMember[]): Problem {
    const character = this.#text[this.#at];
    if (character === '}') return new Problem(this.#at, 'sobra uma vírgula antes de "}"; retire-a', NAME_EXPECTED, '}');
    const last = members.at(-1)?.value;
    if (last?.kind === 'number' && /[0-9]/.test(character ?? '')) {
      return this.#describeUnexpected('casas decimais se separam com ponto, não com vírgula', NAME_EXPECTED);
    }
    const word = wordAt(this.#text, this.#at);
    const problem = word === '' ? 'falta o nome de uma propriedade' : `${quoted(word)} está sem aspas duplas`;
    return this.#describeUnexpected(problem, NAME_EXPECTED);
  }

  #describeNoSeparator(container: string, close: string, opened: number): Problem {
    const expected = `"," ou "${close}"`;
    if (this.#at < this.#text.length) return this.#describeUnexpected(`falta "," ou "${close}" neste ponto`, expected);
    const { linha, coluna } = positionsIn(this.#text)(opened);
    const problem = `o texto acaba antes de fechar ${container} na linha ${linha}, coluna ${coluna}`;
    return new Problem(this.#at, problem, expected);
  }

  /** The fault names the unexpected text, and recognises words of other languages. */
  #describeUnexpected(problem: string, expected: string): Problem {
    const at = this.#at;
    const rest = this.#text.slice(at, at + 2);
    if (rest === '') return new Problem(at, `${problem}: o texto acaba aqui`, expected);
    const advice =
      rest === '//' || rest === '/*' || rest.startsWith('#')
        ? '; JSON não admite comentários'
        : rest.startsWith("'")
          ? '; nomes e textos vão entre aspas duplas'
          : '';
    const point = this.#text.codePointAt(at)!;
    const found = point > 32 ? String.fromCodePoint(point) : pointOf(point);
    return new Problem(at, `${problem}${advice}`, expected, found);
  }
}

/** The text at a place up to the next character that no word or number has. */
function wordAt(text: string, offset: number): string {
  WORD.lastIndex = offset;
  return WORD.exec(text)?.[0] ?? '';
}

/** Words of other languages for those of JSON. */
const FOREIGN_WORDS: Readonly<Record<string, readonly string[]>> = {
  true: ['True', 'TRUE'],
  false: ['False', 'FALSE'],
  null: ['None', 'Null', 'NULL', 'nil', 'undefined'],
};

function describeWord(word: string): string {
  if (/^-?0[0-9]+$/.test(word)) {
    return `${quoted(word)} começa com zero, o que um número JSON não pode; um código com zeros à esquerda vai entre aspas: "${quoted(word)}"`;
  }
  if (/^[+.]|^-\.|\.$|\.[eE]/.test(word) && /[0-9]/.test(word)) {
    return `${quoted(word)} não é um número JSON, que não começa com + nem ponto e tem dígitos dos dois lados do ponto`;
  }
  const [right] = Object.entries(FOREIGN_WORDS).find(([, words]) => words.includes(word)) ?? [];
  if (right !== undefined || word === 'NaN' || word.endsWith('Infinity')) {
    return `${quoted(word)} não existe em JSON${right === undefined ? '' : `; escreva ${right}`}`;
  }
  if (/^[-0-9]/.test(word)) return `${quoted(word)} não é um número JSON`;
  return `${quoted(word)} está sem aspas duplas`;
}

function describeControl(code: number): string {
  if (code === 10 || code === 13) return 'há uma quebra de linha dentro de um texto; escreva \\n no lugar dela';
  if (code === 9) return 'há uma tabulação dentro de um texto; escreva \\t no lugar dela';
  return `há um caractere de controle (${pointOf(code)}) dentro de um texto; escreva-o como escape`;
}

function pointOf(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
