/** The file of the correlation: the codes that a municipality adds to an RPS. Each file replaces the whole correlation. */

import type { ContagemLista } from '../../base/book/listas.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import type { Line } from '../../fiscal/register-text.ts';
import { listRegisterColumns } from '../../fiscal/registers.ts';
import type { EntradaCorrelacao } from './correlacoes.rows.ts';
import type { Reading, Stage } from './import-csv.ts';

/** The columns of the file and of the table. */
const COLUMNS = listRegisterColumns('correlacao').map(([name, { stored = name, read }]) => ({ stored, read }));

/** The reader and the storage of lines of the correlation. */
export function prepareCorrelacao({ store }: RegistryWorld, municipio: Municipio) {
  const readLine = (line: Line): EntradaCorrelacao => ({
    linha: line.linha,
    ...Object.fromEntries(COLUMNS.map(({ stored, read }) => [stored, read(line, municipio)])),
  });
  const reading: Reading<EntradaCorrelacao> = { read: readLine, keyOf: () => undefined };
  const stage: Stage<EntradaCorrelacao, ContagemLista> = (work) => store.lotes.importCorrelacao(municipio.tenant, work);
  return { reading, stage };
}

/** The correlation as lines of such a file. */
export async function correlacaoAsRows(world: RegistryWorld, slug: string): Promise<readonly (readonly string[])[]> {
  const { tenant } = await municipioNamed(world, slug);
  const rows = await world.store.lotes.listCorrelacao(tenant);
  return rows.map((row) => COLUMNS.map(({ stored }) => row[stored] ?? ''));
}
