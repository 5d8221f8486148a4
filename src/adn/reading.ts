/**
 * The bodies of the ADN as data. A body that does not have the form of the contract proves nothing and is unreadable. Names are read
 * case-insensitively, because both spellings occur; no `why` repeats the text of a body.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { ownOf } from '../fiscal/own.ts';
import type { AdnAnswer, AdnErro, EventoAnswer, NotaAnswer } from './adn.ts';
import { CHAVE_LENGTH, type CodeMeaning, meaningOf, NOT_TAKEN_HERE, NOTE_UNKNOWN, type TipoDocumento } from './wire.ts';

const ERROS_MAX = 100;
/** The specification's limit for a text in `erros_adn`. */
const TEXT_LENGTH_MAX = 1000;
const CODE_LENGTH_MAX = 20;
/** A moment of the contract has at most 35 characters. */
const MOMENT_LENGTH_MAX = 40;
/** A reception number is text in one answer and a number in another; a longer number is invalid. */
const NSU = /^\d{1,18}$/;
/** A note has a few kilobytes; with a thousand deduction documents less than a megabyte. */
const XML_MAX_BYTES = 8_000_000;

/** A kind of documents: the interpretation of reasons, and its names in messages. */
export type Matter<A> = {
  readonly tipo: TipoDocumento;
  readonly verdictOf: (erros: readonly AdnErro[]) => A | AdnAnswer;
  /** The names in Portuguese: the one, this one, of the one, several, some. */
  readonly one: string;
  readonly this: string;
  readonly of: string;
  readonly plural: string;
  readonly some: string;
};

export const NOTA: Matter<NotaAnswer> = {
  tipo: 'NFSE',
  verdictOf,
  one: 'a nota',
  this: 'desta nota',
  of: 'da nota',
  plural: 'as notas',
  some: 'algumas notas',
};

export const EVENTO: Matter<EventoAnswer> = {
  tipo: 'EVENTO',
  verdictOf: eventoVerdictOf,
  one: 'o evento',
  this: 'deste evento',
  of: 'do evento',
  plural: 'os eventos',
  some: 'alguns eventos',
};

/** One entry of the answer to a lot. An entry without a key is identified only by its place. */
export type Entry = {
  readonly chave: string | undefined;
  readonly nsu: string | undefined;
  /** Undefined if they are present and unreadable. */
  readonly erros: readonly AdnErro[] | undefined;
};

export type LotReading = { readonly kind: 'entries'; readonly entries: readonly Entry[] } | NoReading;

/** An answer that refuses the whole, or that has no meaning. */
type NoReading =
  | { readonly kind: 'refusal'; readonly erros: readonly AdnErro[] }
  | { readonly kind: 'unreadable'; readonly why: string };

/** A document in the answer to a query. */
export type Distributed = {
  /** The contract allows null. */
  readonly nsu: string | undefined;
  /** The key of the note. Undefined for a document of another kind than the requested one: an event has the key of its note. */
  readonly chave: string | undefined;
  readonly arquivo: string | undefined;
  /** The time of its creation, in the given notation. */
  readonly em: string | undefined;
};

export type PageReading =
  | { readonly kind: 'page'; readonly entries: readonly Distributed[] }
  | { readonly kind: 'end'; readonly codigos: readonly string[] }
  | NoReading;

/** The answer to a lot. `type` is its media type; the caller judges the status. */
export function readLot(type: string, body: Buffer): LotReading {
  const root = readJson(type, body);
  if ('why' in root) return { kind: 'unreadable', why: root.why };
  const lote = root.fields.get('lote') ?? [];
  if (!Array.isArray(lote)) return unreadable('o campo Lote não é uma lista');
  const entries = lote.map(readEntry);
  if (entries.length > 0) {
    if (entries.includes(undefined)) return unreadable('o campo Lote traz o que não é um documento');
    return { kind: 'entries', entries: entries as Entry[] };
  }
  const erros = rootErros(root.fields);
  if (erros === undefined) return unreadable('o campo Erros não pôde ser lido');
  return erros.length > 0 ? { kind: 'refusal', erros } : unreadable('faltam os campos Lote e Erros');
}

function readEntry(value: unknown): Entry | undefined {
  const fields = fieldsOf(value);
  if (fields === undefined) return undefined;
  const chave = fields.get('chaveacesso');
  return {
    // A present value that is no key is kept: it is the key of no document.
    chave: chave === undefined || chave === null || chave === '' ? undefined : keyOf(chave),
    nsu: nsuOf(fields.get('nsurecepcao')),
    erros: readErros(fields.get('erros')),
  };
}

/**
 * One answer for each key of a lot, in the sent order. An entry belongs to its key. An entry without a key belongs to the document at its
 * place. That requires as many entries as sent documents, and every key at its sent place.
 */
export function answersOf<A>(
  chaves: readonly string[],
  entries: readonly Entry[],
  matter: Matter<A>,
): Map<string, A | AdnAnswer> {
  const wanted = chaves.map(keyOf);
  const isInOrder =
    entries.length === wanted.length &&
    entries.every(({ chave }, place) => chave === undefined || chave === wanted[place]);
  const found = new Map<string, A | AdnAnswer>();
  for (const [place, entry] of entries.entries()) {
    const chave = entry.chave ?? (isInOrder ? wanted[place]! : undefined);
    if (chave === undefined) continue;
    const before = found.get(chave);
    const answer = answerOf(entry, matter);
    found.set(chave, before === undefined ? answer : mergeAnswers(before, answer, matter));
  }
  return new Map(
    chaves.map((chave, place) => [
      chave,
      found.get(wanted[place]!) ?? { kind: 'unknown', why: `a resposta do ADN não fala ${matter.this}` },
    ]),
  );
}

function answerOf<A>({ nsu, erros }: Entry, { verdictOf, of }: Matter<A>): A | AdnAnswer {
  if (erros === undefined) return { kind: 'unknown', why: `os erros ${of} na resposta do ADN não puderam ser lidos` };
  if (erros.length > 0) return verdictOf(erros);
  if (nsu === undefined) return { kind: 'unknown', why: `a resposta do ADN não traz o número de recepção ${of}` };
  return { kind: 'accepted', nsu };
}

/** Two entries for one document: only the common part of both holds. */
function mergeAnswers<A>(before: A | AdnAnswer, after: A | AdnAnswer, { of }: Matter<A>): A | AdnAnswer {
  const [one, other] = [before, after] as [EventoAnswer, EventoAnswer];
  if (one.kind !== other.kind)
    return { kind: 'unknown', why: `a resposta do ADN fala ${of} duas vezes e se contradiz` };
  if (one.kind !== 'accepted' || other.kind !== 'accepted') return before;
  const nsu = one.nsu ?? other.nsu;
  return { kind: 'accepted', nsu: (other.nsu ?? nsu) === nsu ? nsu : undefined };
}

/** The verdict of one or more reasons about the one note. A note that comes too early may still be refused. */
function verdictOf(erros: readonly AdnErro[]): NotaAnswer {
  const codes = codesOf(erros);
  const all = meaningsOf(erros);
  if (all.has('credential')) return { kind: 'misconfigured', why: credentialWhy(erros) };
  if (all.has('passing'))
    return { kind: 'unknown', why: `o ADN está em manutenção ou com erro interno (${codes})`, erros };
  if (all.has('existing')) {
    if (all.size === 1) return { kind: 'accepted', nsu: undefined };
    return { kind: 'unknown', why: `o ADN diz que já tem a nota e também que a recusa (${codes})`, erros };
  }
  if (all.has('refusal') || all.has('envelope')) return { kind: 'refused', erros };
  if (all.has('early')) return { kind: 'too_early', erros };
  return { kind: 'unknown', why: `o ADN respondeu com um código desconhecido (${codes})`, erros };
}

/**
 * The verdict of one or more reasons about the one event. A missing note is waited for, even if there are other reasons. An event whose
 * `Id` is there already may well break a rule because of itself.
 */
function eventoVerdictOf(erros: readonly AdnErro[]): EventoAnswer {
  const codes = codesOf(erros);
  const all = meaningsOf(erros);
  const has = (code: string): boolean => erros.some(({ codigo }) => codigo === code);
  if (all.has('credential')) return { kind: 'misconfigured', why: credentialWhy(erros) };
  if (all.has('passing'))
    return { kind: 'unknown', why: `o ADN está em manutenção ou com erro interno (${codes})`, erros };
  if (all.has('existing')) return { kind: 'already_there', erros };
  if (has(NOT_TAKEN_HERE)) return { kind: 'not_taken_here', erros };
  if (has(NOTE_UNKNOWN)) return { kind: 'note_unknown', erros };
  if (all.has('refusal') || all.has('envelope') || all.has('early')) return { kind: 'refused', erros };
  return { kind: 'not_understood', why: `o ADN respondeu com um código desconhecido (${codes})`, erros };
}

export function meaningsOf(erros: readonly AdnErro[]): ReadonlySet<CodeMeaning> {
  return new Set(erros.map(({ codigo }) => meaningOf(codigo)));
}

/** The codes, for the log and for a `why`: names of rules, no text. A value without the form of a code is not repeated. */
export function codesOf(erros: readonly AdnErro[]): string {
  const codes = new Set(erros.map(({ codigo }) => (/^[A-Z]{1,5}\d{1,5}$/.test(codigo) ? codigo : '?')));
  return [...codes].slice(0, 10).join(', ');
}

const CREDENTIAL_WHYS: Readonly<Record<string, string>> = {
  E1200: 'o certificado de transmissão não foi apresentado ou não serve para autenticar um cliente',
  E1203: 'o certificado de transmissão está fora da validade',
  E1205: 'a cadeia do certificado de transmissão não foi aceita',
  E1206: 'a lista de revogação do certificado de transmissão não pôde ser usada',
  E1207: 'o certificado de transmissão está revogado',
  E1208: 'o certificado de transmissão não é da ICP-Brasil',
  E1209: 'o certificado de transmissão não traz CNPJ',
  E1245: 'o certificado que assina não traz CNPJ',
  E1246: 'a cadeia do certificado que assina não foi aceita',
  E1262: 'o CNPJ do certificado não está autorizado a compartilhar documentos deste município',
  E1632: 'o certificado que assina as notas está vencido, revogado ou com cadeia que não foi aceita',
  E1634: 'o certificado que assina as notas não tem o perfil exigido',
  E1638: 'o certificado que assina as notas não é o do município emissor',
  E2000: 'o certificado de transmissão não foi aceito na consulta',
  E2001: 'o CNPJ do certificado não está cadastrado para nenhum município',
  E2003: 'o município está suspenso no ambiente nacional',
  E2004: 'o município está inativo no ambiente nacional',
  E2023: 'o certificado que assina os eventos está vencido, revogado ou com cadeia que não foi aceita',
  E2026: 'o certificado que assina os eventos não tem o perfil exigido',
  E2032: 'o certificado que assina os eventos não é o do município emissor',
};

export function credentialWhy(erros: readonly AdnErro[]): string {
  const codigo = erros.find(({ codigo }) => meaningOf(codigo) === 'credential')?.codigo ?? '';
  return `${ownOf(CREDENTIAL_WHYS, codigo) ?? 'o ADN recusou o certificado ou a permissão do município'} (${codigo})`;
}

/**
 * The documents of one kind in the answer to a query; status 200, 400 and 404 have the same body. `nothing`: codes that say that there are
 * none.
 */
export function readPage(type: string, body: Buffer, wanted: TipoDocumento, nothing: ReadonlySet<string>): PageReading {
  const root = readJson(type, body);
  if ('why' in root) return { kind: 'unreadable', why: root.why };
  const { fields } = root;
  const erros = rootErros(fields);
  if (erros === undefined) return unreadable('o campo Erros não pôde ser lido');
  const status = String(fields.get('statusprocessamento')).toUpperCase();
  const lote = fields.get('lotedfe') ?? [];
  if (!Array.isArray(lote)) return unreadable('o campo LoteDFe não é uma lista');
  if (lote.length === 0) {
    if (!erros.every(({ codigo }) => nothing.has(codigo))) return { kind: 'refusal', erros };
    const saysSo = status === 'NENHUM_DOCUMENTO_LOCALIZADO' || erros.length > 0 || Array.isArray(fields.get('lotedfe'));
    return saysSo && (status !== 'REJEICAO' || erros.length > 0)
      ? { kind: 'end', codigos: erros.map(({ codigo }) => codigo) }
      : unreadable('faltam os campos LoteDFe e StatusProcessamento');
  }
  const entries: Distributed[] = [];
  for (const value of lote) {
    const entry = fieldsOf(value);
    if (entry === undefined) return unreadable('o campo LoteDFe traz o que não é um documento');
    const tipo = entry.get('tipodocumento');
    const isWanted = typeof tipo === 'string' && tipo.toUpperCase() === wanted;
    const arquivo = entry.get('arquivoxml');
    const em = entry.get('datahorageracao');
    entries.push({
      nsu: nsuOf(entry.get('nsu')),
      chave: isWanted ? keyOf(entry.get('chaveacesso')) : undefined,
      arquivo: typeof arquivo === 'string' ? arquivo : undefined,
      em: typeof em === 'string' ? em.slice(0, MOMENT_LENGTH_MAX) : undefined,
    });
  }
  return { kind: 'page', entries };
}

/** The document in an `ArquivoXml`; undefined if it is none. Some systems encode it twice in Base64. */
export async function readArquivo(arquivo: string): Promise<Buffer | undefined> {
  const once = fromBase64(arquivo);
  if (once === undefined) return undefined;
  const packed = isGzip(once) ? once : fromBase64(once.toString('latin1'));
  if (packed === undefined || !isGzip(packed)) return undefined;
  try {
    return await promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)(packed, {
      maxOutputLength: XML_MAX_BYTES,
    });
  } catch {
    return undefined;
  }
}

/** Each repetition is bounded: an unbounded one can overflow the stack of V8 on millions of characters. */
const EVENTO_ID = /<(?:[\w.-]{1,64}:)?infEvento\s[^>]{0,1000}?\bId\s{0,64}=\s{0,64}["'](EVT[0-9A-Z]{59})["']/;

/** The `Id` of an event, by the text of its document. */
export function eventoIdIn(xml: Uint8Array): string | undefined {
  return EVENTO_ID.exec(Buffer.from(xml.buffer, xml.byteOffset, xml.byteLength).toString('latin1'))?.[1];
}

function fromBase64(text: string): Buffer | undefined {
  const trimmed = text.trim();
  // Twice the limit: gzip may enlarge the data.
  if (trimmed.length > XML_MAX_BYTES * 2) return undefined;
  // Node skips characters that are not Base64. A pattern with `+` can overflow the stack of V8 on millions of characters.
  const end = trimmed.search(/[^A-Za-z0-9+/]|$/);
  if (end === 0 || !/^={0,2}$/.test(trimmed.slice(end))) return undefined;
  return Buffer.from(trimmed, 'base64');
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** The comparison form of a key: upper case, because those of some providers have letters. */
export function keyOf(value: unknown): string {
  return typeof value === 'string'
    ? value
        .trim()
        .slice(0, CHAVE_LENGTH + 1)
        .toUpperCase()
    : '';
}

type Fields = ReadonlyMap<string, unknown>;

function readJson(type: string, body: Buffer): { readonly fields: Fields } | { readonly why: string } {
  // `application/problem+json` is the type of the answer to an unreadable body.
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type.trim())) {
    return { why: /html/i.test(type) ? 'o ADN respondeu com uma página HTML' : 'a resposta do ADN não é JSON' };
  }
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    return { why: 'o JSON da resposta do ADN está truncado ou malformado' };
  }
  const fields = fieldsOf(value);
  return fields === undefined ? { why: 'a resposta do ADN não é um objeto JSON' } : { fields };
}

/** The fields of an object by their names in lower case. A name that occurs twice in two spellings is ignored. */
function fieldsOf(value: unknown): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const fields = new Map<string, unknown>();
  for (const [name, content] of Object.entries(value)) {
    const lower = name.toLowerCase();
    fields.set(lower, fields.has(lower) ? Symbol() : content);
  }
  return fields;
}

function nsuOf(value: unknown): string | undefined {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || !NSU.test(text.trim())) return undefined;
  const nsu = text.trim().replace(/^0+(?=\d)/, '');
  return nsu === '0' ? undefined : nsu;
}

/** The reasons beside the list; the national emitter spells a single one `erro`. */
function rootErros(fields: Fields): readonly AdnErro[] | undefined {
  return readErros(fields.get('erros') ?? fields.get('erro'));
}

function readErros(value: unknown): readonly AdnErro[] | undefined {
  if (value === undefined || value === null) return [];
  const list = Array.isArray(value) ? value : [value];
  const erros = list.slice(0, ERROS_MAX).map(readErro);
  return erros.includes(undefined) ? undefined : (erros as AdnErro[]);
}

function readErro(value: unknown): AdnErro | undefined {
  const fields = fieldsOf(value);
  const codigo = textOf(fields?.get('codigo'), CODE_LENGTH_MAX)?.toUpperCase();
  if (fields === undefined || codigo === undefined) return undefined;
  const descricao = textOf(fields.get('descricao'), TEXT_LENGTH_MAX) ?? '';
  const complemento = textOf(fields.get('complemento'), TEXT_LENGTH_MAX);
  return complemento === undefined ? { codigo, descricao } : { codigo, descricao, complemento };
}

function textOf(value: unknown, lengthMax: number): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value)
    .replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')
    .trim()
    .slice(0, lengthMax);
  return text === '' ? undefined : text;
}

function unreadable(what: string): { readonly kind: 'unreadable'; readonly why: string } {
  return { kind: 'unreadable', why: `na resposta do ADN, ${what}` };
}
