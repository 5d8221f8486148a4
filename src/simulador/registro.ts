/**
 * The register of the simulator: one append-only file, and an index of it in memory, rebuilt at every start.
 *
 * A record is on disk before it is acknowledged. Records that arrive while the disk is busy are written together. A crash may leave an
 * incomplete last record, which was never acknowledged; it is cut off.
 */
import { closeSync, constants, fsyncSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { ignoring } from '../base/traces/ignoring.ts';
import { makeFolder, writeFileFor } from '../documents/new-files.ts';
import type { EventoNaNota } from '../fiscal/conflitos-evento.ts';
import { lockFolder } from './lock.ts';

const FILE_NAME = 'registro.log';
const LOCK = { name: 'em-uso.pid', who: 'outro simulador', option: '--dados' };
/** Length of the metadata, length of the document, checksum of both: four bytes each. */
const HEAD_BYTES = 12;
/** Metadata has a few hundred bytes, and a document fits into a lot: no record is longer than this. */
const RECORD_BYTES_MAX = 8 * 1024 * 1024;
const SCAN_BYTES = 4 * 1024 * 1024;
/** The last repetitions are shown one by one. */
const REPETITIONS_KEPT = 100;

type Particulars = {
  /** The key of the note, for its events too. */
  readonly chave: string;
  /** CNPJ of the municipality that shared it. */
  readonly cnpj: string;
  /** SHA-256 of the document, lower hex. */
  readonly sha256: string;
  /** Milliseconds since 1970. */
  readonly em: number;
};

/** A new note. `idDps`: identifier of its DPS. */
type Novo = Particulars & { readonly idDps: string };

/** A new event. `id`: that of its `infEvento`. */
type NovoEvento = Particulars & EventoNaNota & { readonly id: string };

export type Place = {
  /** Reception number: ascending for each municipality, from 1, over notes and events. */
  readonly nsu: number;
  /** Place among all notes, or among all events, from 1. */
  readonly ordem: number;
  /** The position of its compressed bytes in the file. */
  readonly at: number;
  readonly bytes: number;
};

/** A stored note. */
export type Guardado = Novo & Place;

export type EventoGuardado = NovoEvento & Place;

/** A key, or the `Id` of an event, that was shared again, with the stored document or with another one. */
type Repeticao = {
  readonly chave: string;
  readonly evento?: string;
  readonly mesmo_documento: boolean;
  readonly em: number;
};

type Meta =
  | (Novo & { readonly tipo: 'documento'; readonly nsu: number })
  | (NovoEvento & { readonly tipo: 'evento'; readonly nsu: number })
  | (Repeticao & { readonly tipo: 'repeticao' });

/** Opens the folder, and creates it if it is missing. Throws in Portuguese if it cannot be used. */
export async function openRegistro(folder: string): Promise<Registro> {
  await makeFolder(folder).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`a pasta ${folder} não pôde ser criada (${error.code}). Escolha outra com --dados.`);
  });
  const unlock = await lockFolder(folder, LOCK);
  try {
    const place = path.join(folder, FILE_NAME);
    await writeFileFor(place, '', { flag: 'a', mode: 0o600 });
    const file = await open(place, constants.O_RDWR);
    syncFolder(folder);
    const index = indexOf();
    const { size } = await file.stat();
    const end = await scan(file, size, index.enter);
    if (end < size) await file.truncate(end);
    return registroOver(file, index, end, size - end, unlock);
  } catch (error) {
    await unlock();
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new Error(
      `a pasta ${folder} não pôde ser usada (${code}). Confira as permissões, ou escolha outra com --dados.`,
    );
  }
}

export type Registro = ReturnType<typeof registroOver>;

/** `descartado`: bytes of an unfinished record that were cut off at the start. */
function registroOver(file: FileHandle, index: Index, end: number, descartado: number, unlock: () => Promise<void>) {
  const writer = writerOf(file, end);
  const keep = (meta: Meta, gzip: Uint8Array): void => {
    const text = Buffer.from(JSON.stringify(meta), 'utf8');
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head.writeUInt32LE(text.length, 0);
    head.writeUInt32LE(gzip.length, 4);
    head.writeUInt32LE(crc32(gzip, crc32(text)), 8);
    const at = writer.append([head, text, gzip]);
    index.enter(meta, at + HEAD_BYTES + text.length, gzip.length);
  };
  const nextNsu = (cnpj: string): number => (index.held.porCnpj.get(cnpj)?.length ?? 0) + 1;
  return {
    documentoDe: (chave: string) => index.held.porChave.get(chave),
    /** Stores a document under a new key; it is safe once `onDisk` resolves. */
    guardar: ({ chave, cnpj, sha256, idDps, em }: Novo, gzip: Uint8Array): Guardado => {
      const own = { chave: copyText(chave), cnpj, sha256, idDps: copyText(idDps), em };
      keep({ tipo: 'documento', ...own, nsu: nextNsu(cnpj) }, gzip);
      return index.held.porChave.get(chave)!;
    },
    eventoDe: (id: string) => index.held.porId.get(id),
    /** The events of a note, in the order of their arrival. */
    eventosDe: (chave: string): readonly EventoGuardado[] => index.held.eventosPorChave.get(chave) ?? [],
    /** Stores an event under a new `Id`. */
    guardarEvento: (novo: NovoEvento, gzip: Uint8Array): EventoGuardado => {
      const { id, chave, cnpj, sha256, em, codigo, numero_sequencial, autor, campos } = novo;
      const said = Object.fromEntries(Object.entries(campos).map(([nome, value]) => [nome, copyText(value)]));
      const own = { id: copyText(id), chave: copyText(chave), cnpj, sha256, em };
      const evento = { codigo: copyText(codigo), numero_sequencial, autor: copyText(autor), campos: said };
      keep({ tipo: 'evento', ...own, ...evento, nsu: nextNsu(cnpj) }, gzip);
      return index.held.porId.get(id)!;
    },
    /** Counts the repetition of a stored document. */
    repetir: (guardado: Guardado | EventoGuardado, sha256: string, em: number): void => {
      const { chave } = guardado;
      const evento = 'id' in guardado ? { evento: guardado.id } : {};
      const mesmo_documento = guardado.sha256 === sha256;
      keep({ tipo: 'repeticao', chave, ...evento, mesmo_documento, em }, new Uint8Array());
    },
    /** Resolves once everything stored so far is on disk. A write error makes it reject, from then on always. */
    onDisk: () => writer.onDisk(),
    /** Documents of a municipality after a reception number, in its order. */
    depoisDe: (cnpj: string, nsu: number, max: number) => (index.held.porCnpj.get(cnpj) ?? []).slice(nsu, nsu + max),
    /** Notes of all municipalities, in the order of their arrival. */
    emOrdem: (depois: number, max: number) => index.held.emOrdem.slice(depois, depois + max),
    eventosEmOrdem: (depois: number, max: number) => index.held.eventosEmOrdem.slice(depois, depois + max),
    /** The compressed document as it was sent. It must be on disk. */
    gzipOf: ({ at, bytes }: Place) => bytesAt(file, at, bytes),
    municipios: () => municipiosOf(index.held),
    /** The number of stored notes. */
    get total() {
      return index.held.emOrdem.length;
    },
    get totalDeEventos() {
      return index.held.eventosEmOrdem.length;
    },
    get repeticoes() {
      return { ...index.held.repeticoes };
    },
    get repeticoesDeEventos() {
      return { ...index.held.repeticoesDeEventos };
    },
    ultimasRepeticoes: () => [...index.held.ultimas],
    /** Identifiers of DPS that occur in notes of more than one key. */
    dpsRepetidas: () => [...index.held.dpsRepetidas],
    /** `Id` of the events that occur in the file more than once: never, unless the simulator is wrong. */
    eventosEmDobro: () => [...index.held.eventosEmDobro],
    descartado,
    limpar: () => writer.restart(index.clear),
    close: async () => {
      await writer.onDisk().catch(ignoring('each request was told of its own failed writing'));
      await file.close();
      await unlock();
    },
  };
}

/** Copies a text. A substring of a document would keep the whole document in memory. */
function copyText(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

type Held = ReturnType<typeof emptyIndex>;

type Enter = (meta: Meta, at: number, bytes: number) => void;

type Index = { readonly held: Held; readonly enter: Enter; readonly clear: () => void };

function indexOf(): Index {
  let held = emptyIndex();
  return {
    get held() {
      return held;
    },
    enter: (meta, at, bytes) => {
      if (meta.tipo === 'repeticao') countRepetition(held, meta);
      else if (meta.tipo === 'evento') addEvento(held, meta, at, bytes);
      else addDocumento(held, meta, at, bytes);
    },
    clear: () => {
      held = emptyIndex();
    },
  };
}

function emptyIndex() {
  return {
    porChave: new Map<string, Guardado>(),
    porId: new Map<string, EventoGuardado>(),
    eventosPorChave: new Map<string, EventoGuardado[]>(),
    porCnpj: new Map<string, (Guardado | EventoGuardado)[]>(),
    emOrdem: [] as Guardado[],
    eventosEmOrdem: [] as EventoGuardado[],
    eventosEmDobro: new Set<string>(),
    chaveDaDps: new Map<string, string>(),
    dpsRepetidas: new Set<string>(),
    repeticoes: { mesmo_documento: 0, outro_documento: 0 },
    repeticoesDeEventos: { mesmo_documento: 0, outro_documento: 0 },
    ultimas: [] as Repeticao[],
  };
}

function addDocumento(held: Held, meta: Meta & { tipo: 'documento' }, at: number, bytes: number): void {
  const { chave, cnpj, sha256, idDps, em, nsu } = meta;
  const guardado = { chave, cnpj, sha256, idDps, em, nsu, ordem: held.emOrdem.length + 1, at, bytes };
  held.porChave.set(chave, guardado);
  held.emOrdem.push(guardado);
  appendTo(held.porCnpj, cnpj, guardado);
  const other = held.chaveDaDps.get(idDps);
  if (other === undefined) held.chaveDaDps.set(idDps, chave);
  else held.dpsRepetidas.add(idDps);
}

function addEvento(held: Held, { tipo: _, ...evento }: Meta & { tipo: 'evento' }, at: number, bytes: number): void {
  const guardado = { ...evento, ordem: held.eventosEmOrdem.length + 1, at, bytes };
  if (held.porId.has(evento.id)) held.eventosEmDobro.add(evento.id);
  held.porId.set(evento.id, guardado);
  held.eventosEmOrdem.push(guardado);
  appendTo(held.eventosPorChave, evento.chave, guardado);
  appendTo(held.porCnpj, evento.cnpj, guardado);
}

function appendTo<T>(lists: Map<string, T[]>, key: string, one: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [one]);
  else list.push(one);
}

function countRepetition(held: Held, { chave, evento, mesmo_documento, em }: Repeticao): void {
  const counts = evento === undefined ? held.repeticoes : held.repeticoesDeEventos;
  if (mesmo_documento) counts.mesmo_documento += 1;
  else counts.outro_documento += 1;
  held.ultimas.push({ chave, ...(evento === undefined ? {} : { evento }), mesmo_documento, em });
  if (held.ultimas.length > REPETITIONS_KEPT) held.ultimas.shift();
}

function municipiosOf({ emOrdem, porCnpj }: Held) {
  const counts = new Map<string, { codigo_ibge: string; cnpj: string; documentos: number }>();
  for (const { chave, cnpj } of emOrdem) {
    const codigo_ibge = chave.slice(0, 7);
    const key = `${codigo_ibge} ${cnpj}`;
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { codigo_ibge, cnpj, documentos: 1 });
    else known.documentos += 1;
  }
  return [...counts.values()].map((one) => ({ ...one, ultimo_nsu: porCnpj.get(one.cnpj)!.length }));
}

type Writer = {
  /** Passes bytes to the writer; the result is their place in the file. */
  append(pieces: readonly Uint8Array[]): number;
  onDisk(): Promise<void>;
  /** Empties the file once all writing is done, and calls `then` before anything else happens. */
  restart(then: () => void): Promise<void>;
};

/** Writes the collected bytes and syncs them; the bytes that arrive meanwhile are written next. */
function writerOf(file: FileHandle, start: number): Writer {
  let end = start;
  let written = start;
  let gathered: Uint8Array[] = [];
  let isWriting = false;
  let under: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const flush = async (): Promise<void> => {
    isWriting = true;
    const bytes = Buffer.concat(gathered);
    gathered = [];
    let done = 0;
    while (done < bytes.length) {
      done += (await file.write(bytes, done, bytes.length - done, written + done)).bytesWritten;
    }
    written += bytes.length;
    await file.datasync();
    isWriting = false;
  };
  const onDisk = (): Promise<void> => {
    if (next !== undefined) return next;
    if (gathered.length === 0) return under ?? Promise.resolve();
    // A failed write fails all later ones: nothing after a hole in the file could be read back.
    const turn = (under ?? Promise.resolve()).then(() => {
      next = undefined;
      under = turn;
      return flush();
    });
    next = turn;
    return turn;
  };
  return {
    append: (pieces) => {
      gathered.push(...pieces);
      const at = end;
      for (const piece of pieces) end += piece.length;
      return at;
    },
    onDisk,
    restart: async (then) => {
      while (isWriting || gathered.length > 0) await onDisk();
      ftruncateSync(file.fd, 0);
      end = 0;
      written = 0;
      then();
    },
  };
}

/** Reads all records; the result is the end of the last complete one. */
async function scan(file: FileHandle, size: number, enter: Enter): Promise<number> {
  let bytes = Buffer.alloc(0);
  let at = 0;
  for (;;) {
    const record = recordAt(bytes, 0);
    if (record === 'damaged') return at;
    if (record === 'short') {
      const from = at + bytes.length;
      if (from >= size) return at;
      const more = Buffer.allocUnsafe(Math.min(SCAN_BYTES, size - from));
      const { bytesRead } = await file.read(more, 0, more.length, from);
      if (bytesRead === 0) return at;
      bytes = Buffer.concat([bytes, more.subarray(0, bytesRead)]);
      continue;
    }
    enter(record.meta, at + HEAD_BYTES + record.metaBytes, record.length - HEAD_BYTES - record.metaBytes);
    at += record.length;
    bytes = bytes.subarray(record.length);
  }
}

function recordAt(bytes: Buffer, at: number): { meta: Meta; metaBytes: number; length: number } | 'short' | 'damaged' {
  if (bytes.length < at + HEAD_BYTES) return 'short';
  const metaBytes = bytes.readUInt32LE(at);
  const length = HEAD_BYTES + metaBytes + bytes.readUInt32LE(at + 4);
  if (metaBytes === 0 || length > RECORD_BYTES_MAX) return 'damaged';
  if (bytes.length < at + length) return 'short';
  const body = bytes.subarray(at + HEAD_BYTES, at + length);
  if (crc32(body) !== bytes.readUInt32LE(at + 8)) return 'damaged';
  return { meta: JSON.parse(body.toString('utf8', 0, metaBytes)) as Meta, metaBytes, length };
}

function bytesAt(file: FileHandle, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let got = 0;
  while (got < length) {
    const count = readSync(file.fd, bytes, got, length - got, at + got);
    if (count === 0) throw new Error('the file ends before a document that the index knows');
    got += count;
  }
  return bytes;
}

/** Syncs a folder: a new file is safe only once its folder is. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
