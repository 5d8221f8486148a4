/** Changes of notas and eventos on their way to those who follow them: written with the moves that made them, in one row a transaction. */
import { randomUUID } from 'node:crypto';
import type { Ref } from './fila.ts';
import type { PoolClient } from './pg.ts';
import { insertRows } from './sql.ts';

/** What has changed: a nota, or an evento. */
type Item = 'nota' | 'evento';

/** A change of state. `movimento`: its number among the moves of its row; `em`: milliseconds; `para`: the state that it led to. */
export type Mudou = Ref & {
  readonly item: Item;
  readonly movimento: number;
  readonly em: number;
  readonly para: string;
};

const LETTERS = { nota: 'n', evento: 'e' } as const;

export function writeMudou({ item, id, mes, movimento, em, para }: Mudou): string {
  return `${LETTERS[item]} ${id} ${mes} ${movimento} ${em} ${para}`;
}

export function readMudou(line: string): Mudou {
  const [letter, id, mes, movimento, em, para] = line.split(' ') as [string, string, string, string, string, string];
  return {
    item: letter === 'n' ? 'nota' : 'evento',
    id,
    mes: Number(mes),
    movimento: Number(movimento),
    em: Number(em),
    para,
  };
}

const INSERT = insertRows<string>('insert_mudancas_novas', 'mudancas_novas', [
  ['id uuid', () => randomUUID()],
  ['mudancas text', (lines) => lines],
]);

/** Writes what moves have changed. One that leads back to where it came from, as a sending that is put off, changes nothing. */
export async function insertNovas(
  client: PoolClient,
  tenant: string,
  item: Item,
  moves: readonly (Omit<Mudou, 'item'> & { readonly de: string | null })[],
): Promise<void> {
  const lines = moves.filter(({ de, para }) => de !== para).map((move) => writeMudou({ item, ...move }));
  if (lines.length > 0) await client.query(INSERT(tenant, [lines.join('\n')]));
}
