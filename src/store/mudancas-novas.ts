/** Changes of notas and eventos on their way to those who follow them: written with the moves that made them, in one row a transaction. */
import { randomUUID } from 'node:crypto';
import type { Ref } from './fila.ts';
import type { PoolClient } from './pg.ts';
import { insertRows } from './sql.ts';

/** What has changed: a nota, or an evento. */
type Item = 'nota' | 'evento';

/**
 * A change of state. `movimento`: its number among the moves of its row; `em`: milliseconds; `para`: the state that it led to;
 * `estadoDaNota`: of an evento that has its place, the state of its nota as it changed.
 */
export type Mudou = Ref & {
  readonly item: Item;
  readonly movimento: number;
  readonly em: number;
  readonly para: string;
  readonly estadoDaNota?: string | undefined;
};

const LETTERS = { nota: 'n', evento: 'e' } as const;

export function writeMudou({ item, id, mes, movimento, em, para, estadoDaNota }: Mudou): string {
  const line = `${LETTERS[item]} ${id} ${mes} ${movimento} ${em} ${para}`;
  return estadoDaNota === undefined ? line : `${line} ${estadoDaNota}`;
}

export function readMudou(line: string): Mudou {
  type Fields = [string, string, string, string, string, string, string?];
  const [letter, id, mes, movimento, em, para, estadoDaNota] = line.split(' ') as Fields;
  return {
    item: letter === 'n' ? 'nota' : 'evento',
    id,
    mes: Number(mes),
    movimento: Number(movimento),
    em: Number(em),
    para,
    ...(estadoDaNota === undefined ? {} : { estadoDaNota }),
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
