/**
 * The hashes of the audit chain, which anybody can reckon again with `sha256sum` and `openssl`: of a row, of an entry with many rows, of the
 * chain. Of a row alone it is shown that it was in an entry, without a word of the others (D-665).
 */
import { createHash, hash } from 'node:crypto';

/** What an entry says of a row: its key as a line, and the digest of what it says. */
export type Folha = { readonly item: string; readonly resumo: Buffer };

/** Octets of a digest. */
export const RESUMO_BYTES = 32;
const SAL_BYTES = 16;
export const ZERO = Buffer.alloc(RESUMO_BYTES);

const sha256 = (...parts: readonly (Uint8Array | string)[]): Buffer => {
  const [only] = parts;
  if (parts.length === 1) return hash('sha256', only!, 'buffer');
  return hash(
    'sha256',
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))),
    'buffer',
  );
};

/** Of what a row says. */
export function resumoOf(texto: string): Buffer {
  return sha256(texto);
}

/** Of a document, by which a row names it. */
export function digestOf(bytes: Uint8Array | string): string {
  return hash('sha256', bytes);
}

/** What stands before each digest of an entry, so that nobody guesses what he is not shown: of so many, from one seed. */
function salesOf(sal: Buffer, many: number): Buffer {
  return createHash('shake256', { outputLength: SAL_BYTES * many })
    .update(sal)
    .digest();
}

function folhaOf(sales: Buffer, place: number, { item, resumo }: Folha): Buffer {
  return sha256(LEAF, sales.subarray(place * SAL_BYTES, (place + 1) * SAL_BYTES), resumo, item);
}

const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

/** One level up: pairs, and one that has no other as it is. */
function pairUp(level: readonly Buffer[]): readonly Buffer[] {
  const above: Buffer[] = [];
  for (let place = 0; place < level.length; place += 2) {
    const [left, right] = [level[place]!, level[place + 1]];
    above.push(right === undefined ? left : sha256(NODE, left, right));
  }
  return above;
}

/** The root over all rows of an entry. */
export function raizOf(sal: Buffer, folhas: readonly Folha[]): Buffer {
  const sales = salesOf(sal, folhas.length);
  let level: readonly Buffer[] = folhas.map((folha, place) => folhaOf(sales, place, folha));
  while (level.length > 1) level = pairUp(level);
  return level[0] ?? ZERO;
}

/** A hash beside the way from a row up to the root, and on which side it stands. */
export type Irmao = { readonly lado: 'esquerda' | 'direita'; readonly hash: string };

/** The way of one row of an entry to its root. `sal`: what stands before its digest. */
export function caminhoOf(
  sal: Buffer,
  folhas: readonly Folha[],
  of: number,
): { sal: string; caminho: readonly Irmao[] } {
  const sales = salesOf(sal, folhas.length);
  let level: readonly Buffer[] = folhas.map((folha, place) => folhaOf(sales, place, folha));
  const caminho: Irmao[] = [];
  for (let place = of; level.length > 1; place = Math.floor(place / 2)) {
    const beside = level[place % 2 === 0 ? place + 1 : place - 1];
    if (beside !== undefined) {
      caminho.push({ lado: place % 2 === 0 ? 'direita' : 'esquerda', hash: beside.toString('hex') });
    }
    level = pairUp(level);
  }
  return { sal: sales.toString('hex', of * SAL_BYTES, (of + 1) * SAL_BYTES), caminho };
}

/** What the hash of the chain says of an entry. `em`: as {@link MOMENTO} writes it. */
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

/** What is hashed for a place of the chain, with the hash before it in hexadecimal. */
function textOfElo(anterior: string, { lugar, raiz, folhas, em, id, sobre }: Elo): string {
  return ['nfse-auditoria-1', lugar, anterior, raiz, folhas, em, id, sobre, ''].join('\n');
}

export function eloOf(anterior: Buffer, elo: Elo): Buffer {
  return sha256(textOfElo(anterior.toString('hex'), elo));
}

/** The rows of an entry as they are kept. */
export function joinFolhas(folhas: readonly Folha[]): { readonly itens: string; readonly resumos: Buffer } {
  return {
    itens: folhas.map(({ item }) => item).join('\n'),
    resumos: Buffer.concat(folhas.map(({ resumo }) => resumo)),
  };
}

/** Undefined: somebody has cut something off, or put something there. */
export function splitFolhas(itens: string, resumos: Buffer): readonly Folha[] | undefined {
  const lines = itens.split('\n');
  if (lines.length * RESUMO_BYTES !== resumos.length) return undefined;
  return lines.map((item, place) => ({
    item,
    resumo: resumos.subarray(place * RESUMO_BYTES, (place + 1) * RESUMO_BYTES),
  }));
}
