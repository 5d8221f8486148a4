/**
 * Unwraps documents: the JSON of the national API, Base64, gzip, and combinations of them. The unpacked size is limited, and each step is
 * recorded. No document is parsed here.
 */
import { gunzipSync } from 'node:zlib';
import { isJson } from '../../base/world/sent-documents.ts';
import { decodeBytes } from '../../documents/base64-text.ts';
import { isWide, quickText } from '../../documents/encoding.ts';
import { readJson } from '../../documents/json.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import type { JsonValue } from '../../fiscal/layout/json-value.ts';
import { isNationalEnvelope } from '../../fiscal/layout/national-envelope.ts';

/** One removed wrapping. `nome`: its kind; `diz`: a sentence with its sizes. */
export type Embrulho = { readonly nome: string; readonly diz: string };

/** A document, or the reason why there is none, with the wrappings removed so far. */
export type Desembrulhado = { readonly embrulho: readonly Embrulho[] } & (
  | { readonly bytes: Uint8Array }
  | { readonly problema: string }
);

/** Bytes of all documents of one envelope together. */
const UNPACKED_MAX = 4 * 1024 * 1024;
const UNPACKED_TEXT = `${UNPACKED_MAX / 1024 / 1024} MB`;
/** Nested wrappings, at most. */
const WRAPPINGS_MAX = 4;
/** The maximum of a lot in the national environment. */
const DOCUMENTS_MAX = 50;
/** The first characters of a gzip in Base64. */
const GZIP_IN_BASE64 = 'H4sI';

type Opening = { left: number };

/** The documents in the input; several when it is a lot. */
export function unwrap(given: Uint8Array): readonly Desembrulhado[] {
  return open(given, [], { left: UNPACKED_MAX });
}

/** The number and the bytes of the unpacked documents, for the quota. */
export function weigh(given: Uint8Array): { readonly documentos: number; readonly bytes: number } {
  const opened = unwrap(given);
  return { documentos: opened.length, bytes: Math.max(given.length, bytesOf(opened)) };
}

/** All that was opened. */
export function bytesOf(opened: readonly Desembrulhado[]): number {
  return opened.reduce((sum, one) => sum + ('bytes' in one ? one.bytes.length : 0), 0);
}

function open(bytes: Uint8Array, embrulho: readonly Embrulho[], opening: Opening): readonly Desembrulhado[] {
  const step = embrulho.length < WRAPPINGS_MAX ? takeOff(bytes, opening) : undefined;
  if (step === undefined) return [{ bytes, embrulho }];
  if ('problema' in step) return [{ problema: step.problema, embrulho }];
  return step.inside.flatMap((inside, place) => {
    const diz = step.inside.length === 1 ? step.diz : `${step.diz} Este é o ${place + 1}º.`;
    const taken = [...embrulho, { nome: step.nome, diz }];
    return 'problema' in inside ? [{ ...inside, embrulho: taken }] : open(inside.bytes, taken, opening);
  });
}

type Inside = { readonly bytes: Uint8Array } | { readonly problema: string };
type Step = (Embrulho & { readonly inside: readonly Inside[] }) | { readonly problema: string };

/** Removes the outermost wrapping; undefined: there is none. */
function takeOff(bytes: Uint8Array, opening: Opening): Step | undefined {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return gunzip(bytes, opening);
  const octets = asOctets(bytes);
  if (isJson(octets)) return openEnvelope(octets);
  const text = Buffer.from(octets).toString('latin1').trim();
  const bare = /^"([^"]*)"$/.exec(text)?.[1] ?? text;
  if (!/^[A-Za-z0-9+/\s]{24,}={0,2}$/.test(bare) && !bare.startsWith(GZIP_IN_BASE64)) return undefined;
  const inside = decodeBytes(bare);
  if ('problema' in inside) return { problema: `O texto parece Base64, mas ${inside.problema}.` };
  return { nome: 'base64', diz: `Base64: ${sizes(bare.length, 'caracteres', inside.bytes)}.`, inside: [inside] };
}

/** A text as UTF-8 without byte order mark; UTF-16, as some shells write, is converted. */
function asOctets(bytes: Uint8Array): Uint8Array {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return bytes.subarray(3);
  return isWide(bytes) ? Buffer.from(quickText(bytes).replace(/^\ufeff/, '')) : bytes;
}

function gunzip(bytes: Uint8Array, opening: Opening): Step {
  try {
    const inside = gunzipSync(bytes, { maxOutputLength: Math.max(1, opening.left) });
    opening.left -= inside.length;
    const diz = `gzip: ${groupDigits(bytes.length)} bytes, ${groupDigits(inside.length)} depois de aberto.`;
    return { nome: 'gzip', diz, inside: [{ bytes: inside }] };
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return {
      problema: isTooLong
        ? `O gzip passa de ${UNPACKED_TEXT} depois de aberto, e não foi aberto até o fim: nenhuma DPS é tão grande.`
        : 'O gzip está incompleto ou danificado. Comprima o documento de novo e envie todos os bytes.',
    };
  }
}

/** The JSON of the national API: one document in a text, or several in a list. */
function openEnvelope(bytes: Uint8Array): Step | undefined {
  const json = readJson(bytes);
  if ('fault' in json || json.value.kind !== 'object') return undefined;
  const envelope = json.value.members.find(({ name }) => isNationalEnvelope(name));
  if (envelope === undefined) return undefined;
  const { name, value } = envelope;
  const items = value.kind === 'array' ? value.items : [value];
  if (items.length === 0) return { problema: `A lista ${name} veio vazia: não há documento nela.` };
  if (items.length > DOCUMENTS_MAX) {
    return { problema: `A lista ${name} tem ${items.length} documentos; abrem-se até ${DOCUMENTS_MAX} de uma vez.` };
  }
  const inside = items.map((item) => insideOf(name, item));
  const nome = `o envelope da API nacional (${name})`;
  const [first] = inside;
  const holds =
    inside.length > 1
      ? `tem ${inside.length} documentos em Base64`
      : first !== undefined && 'bytes' in first
        ? `tem um documento em Base64, de ${groupDigits(first.bytes.length)} bytes`
        : 'devia ter um documento em Base64';
  return { nome, diz: `JSON da API nacional: ${name} ${holds}.`, inside };
}

function insideOf(name: string, value: JsonValue): Inside {
  if (value.kind !== 'string') return { problema: `O valor de ${name} não é um texto: devia ser Base64, entre aspas.` };
  const inside = decodeBytes(value.text);
  return 'problema' in inside ? { problema: `O valor de ${name} não é Base64: ${inside.problema}.` } : inside;
}

function sizes(length: number, what: string, inside: Uint8Array): string {
  return `${groupDigits(length)} ${what}, ${groupDigits(inside.length)} bytes`;
}
