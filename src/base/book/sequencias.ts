/**
 * Numbers that may have gaps, such as the document number of the environment (nDFSe, also the `id` of a note). They are taken in blocks, so
 * that no transaction holds a row of the whole tenant.
 */
import { type Db, type TransactionOptions, writeAlone } from '../pg/open.ts';
import { NotWritten } from '../pg/unavailable.ts';

/** The existing sequences: notas and eventos together, and lots. */
export const SEQUENCIAS = ['nDFSe', 'lotes'] as const;

/** Numbers taken at a time. The rest of a block becomes a gap when the process ends. */
const BLOCK = 1024n;

type Block = { next: bigint; end: bigint };

const blocks = new WeakMap<Db, Map<string, Block>>();

/** Reserves `count` consecutive numbers of a tenant's sequence, from 1, and returns the first. */
export async function reserveSequence(
  pool: Db,
  tenant: string,
  nome: string,
  count: number,
  options?: TransactionOptions,
): Promise<bigint> {
  const ofPool = blocks.getOrInsertComputed(pool, () => new Map());
  const key = `${tenant}/${nome}`;
  const wanted = BigInt(count);
  const block = ofPool.get(key);
  if (block !== undefined && block.end - block.next >= wanted) return take(block, wanted);
  const size = wanted > BLOCK ? wanted : BLOCK;
  const text = `insert into sequencias as s (tenant, nome, proximo) values ($1, $2, 1 + $3::bigint)
    on conflict (tenant, nome) do update set proximo = s.proximo + $3::bigint returning proximo`;
  const { rows } = await writeAlone<{ proximo: string }>(pool, { text, values: [tenant, nome, size] }, options);
  const [row] = rows;
  if (row === undefined) throw new NotWritten(`no numbers of ${nome} were taken`);
  const end = BigInt(row.proximo);
  const fresh = { next: end - size, end };
  ofPool.set(key, fresh);
  return take(fresh, wanted);
}

function take(block: Block, count: bigint): bigint {
  const first = block.next;
  block.next += count;
  return first;
}
