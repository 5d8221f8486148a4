/**
 * The hashes of the audit chain: of a row, of an entry with many rows, of the chain. Anybody can recompute them with `sha256sum` and
 * `openssl`. The membership of one row in an entry can be proved without showing the others (D-664).
 */
import { createHash, hash } from 'node:crypto';

/**
 * A row in an entry: its key as a line, and the digest of its text. The digest is hexadecimal, since many strings are cheaper than many
 * buffers.
 */
export type Folha = { readonly item: string; readonly resumo: string };

/** Octets of a digest. */
export const RESUMO_BYTES = 32;
const SAL_BYTES = 16;
export const ZERO = Buffer.alloc(RESUMO_BYTES);

/** Digest of the text of a row. */
export function resumoOf(texto: string): string {
  return hash('sha256', texto);
}

/** Digest of a document, by which a row names it. */
export function digestOf(bytes: Uint8Array | string): string {
  return hash('sha256', bytes);
}

/** Salts, one before each digest of an entry, from one seed. They keep anybody from guessing rows that are not shown. */
function salesOf(sal: Buffer, many: number): Buffer {
  return createHash('shake256', { outputLength: SAL_BYTES * many })
    .update(sal)
    .digest();
}

/** Buffer for the next hash input. A new one for each row would be most of the work of a large entry. */
let together = Buffer.alloc(1024);
const LEAF = 0;
const ROOT = Buffer.of(1);

/** A leaf octet by octet, as latin1. */
function folhaOf(sales: Buffer, place: number, { item, resumo }: Folha): string {
  const head = 1 + SAL_BYTES + RESUMO_BYTES;
  // No UTF-16 unit takes more than three octets in UTF-8.
  if (together.length < head + 3 * item.length) together = Buffer.alloc(2 * (head + 3 * item.length));
  together[0] = LEAF;
  sales.copy(together, 1, place * SAL_BYTES, (place + 1) * SAL_BYTES);
  together.write(resumo, 1 + SAL_BYTES, 'hex');
  const end = head + together.write(item, head);
  return hash('sha256', together.subarray(0, end), 'latin1');
}

/** The leaves of an entry, one after the other. */
function folhasDe(sal: Buffer, folhas: readonly Folha[]): Buffer {
  const sales = salesOf(sal, folhas.length);
  const all = Buffer.allocUnsafe(RESUMO_BYTES * folhas.length);
  for (const [place, folha] of folhas.entries())
    all.write(folhaOf(sales, place, folha), place * RESUMO_BYTES, 'latin1');
  return all;
}

/** Root hash over all rows of an entry. */
export function raizOf(sal: Buffer, folhas: readonly Folha[]): Buffer {
  return folhas.length === 0 ? ZERO : createHash('sha256').update(ROOT).update(folhasDe(sal, folhas)).digest();
}

/** Proof from one row of an entry to its root, in hexadecimal: the salt of its leaf, and the leaves before and after. */
export type Caminho = { readonly sal: string; readonly antes: string; readonly depois: string };

export function caminhoOf(sal: Buffer, folhas: readonly Folha[], of: number): Caminho {
  const all = folhasDe(sal, folhas);
  return {
    sal: salesOf(sal, folhas.length).toString('hex', of * SAL_BYTES, (of + 1) * SAL_BYTES),
    antes: all.toString('hex', 0, of * RESUMO_BYTES),
    depois: all.toString('hex', (of + 1) * RESUMO_BYTES),
  };
}

/** The input of the chain's hash about an entry. `em`: as {@link MOMENTO} writes it. */
export type Elo = {
  readonly lugar: number;
  readonly raiz: string;
  readonly folhas: number;
  readonly em: string;
  readonly id: string;
  readonly sobre: string;
};

/** SQL: a moment as the chain writes it, to the microsecond, in UTC. */
export const momentoOf = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The text that is hashed for a place of the chain, with the previous hash in hexadecimal. */
function textOfElo(anterior: string, { lugar, raiz, folhas, em, id, sobre }: Elo): string {
  return ['nfse-auditoria-1', lugar, anterior, raiz, folhas, em, id, sobre, ''].join('\n');
}

export function eloOf(anterior: Buffer, elo: Elo): Buffer {
  return hash('sha256', textOfElo(anterior.toString('hex'), elo), 'buffer');
}

/** The rows of an entry as they are stored. */
export function joinFolhas(folhas: readonly Folha[]): { readonly itens: string; readonly resumos: Buffer } {
  return {
    itens: folhas.map(({ item }) => item).join('\n'),
    resumos: Buffer.from(folhas.map(({ resumo }) => resumo).join(''), 'hex'),
  };
}

/** Undefined: items and digests differ in number, since the entry was altered. */
export function splitFolhas(itens: string, resumos: Buffer): readonly Folha[] | undefined {
  const lines = itens.split('\n');
  if (lines.length * RESUMO_BYTES !== resumos.length) return undefined;
  return lines.map((item, place) => ({
    item,
    resumo: resumos.toString('hex', place * RESUMO_BYTES, (place + 1) * RESUMO_BYTES),
  }));
}
