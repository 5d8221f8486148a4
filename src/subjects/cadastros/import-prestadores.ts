/** The file of establishments: its reader, and the columns that come together. */

import type { Municipio } from '../../base/book/municipios.ts';
import type { RegistryWorld } from '../../base/world/municipios.ts';
import { bareDocumento } from '../../fiscal/chave.ts';
import { ADDRESS, type Line } from '../../fiscal/register-text.ts';
import { listRegisterColumns } from '../../fiscal/registers.ts';
import type { Reading, Stage } from './import-csv.ts';
import type { ContagemPrestadores, EntradaPrestador } from './import-prestadores.rows.ts';

const COLUMNS = listRegisterColumns('prestadores');

/** The reader and the storage of lines with these columns. Throws an Error in Portuguese. */
export function preparePrestadores({ store, now }: RegistryWorld, municipio: Municipio, header: readonly string[]) {
  const hasAddress = header.includes('logradouro');
  const hasSimples = header.includes('simples_inicio');
  if (!hasSimples && header.includes('simples_fim')) {
    throw new Error('simples_fim precisa também da coluna simples_inicio.');
  }
  const missing = ADDRESS.filter((column) => !header.includes(column));
  const partial = missing.length > 0 && missing.length < ADDRESS.length;
  if (partial || (missing.length > 0 && (header.includes('numero') || header.includes('complemento')))) {
    throw new Error(`para trazer o endereço, o arquivo precisa também de ${missing.join(', ')}.`);
  }
  // An address without a column of numbers still has one on the note.
  const given = hasAddress ? [...header, 'numero'] : header;
  const written = COLUMNS.filter(([name, { isOptional }]) => isOptional !== true || given.includes(name));
  const readLine = (line: Line): EntradaPrestador =>
    ({
      linha: line.linha,
      ...Object.fromEntries(written.map(([name, { stored = name, read }]) => [stored, read(line, municipio)])),
    }) as EntradaPrestador;
  const reading: Reading<EntradaPrestador> = {
    read: readLine,
    keyOf: (line) => bareDocumento(line.text('documento')) || undefined,
  };
  const columns = written.flatMap(([name, { table }]) => (table === undefined ? [name] : []));
  const stage: Stage<EntradaPrestador, ContagemPrestadores> = (work) =>
    store.prestadores.import(municipio.tenant, { columns, hasSimples, now: now() }, work);
  return { reading, stage, avisos: hasAddress ? [] : [WITHOUT_ADDRESS] };
}

const WITHOUT_ADDRESS =
  'O arquivo não traz endereço: nas notas de quem é novo sai "Endereço não informado". As colunas opcionais o trazem.';
