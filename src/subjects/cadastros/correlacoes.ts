/**
 * The file of additions that a municipality makes to the RPS of the legacy port (D-70). A line gives the national code, the NBS and the
 * classification of IBS and CBS. Its key is an item of the list, or one of the municipality's own codes. The file is the whole correlation,
 * and replaces the earlier one.
 */

import type { ContagemLista } from '../../base/book/listas.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { subitemOf } from '../../fiscal/abrasf/rps-values.ts';
import { classificacaoOf, indicadorOf, nbsOf, servicoOf, servicos } from '../../fiscal/catalogs/catalogs.ts';
import type { Line } from '../../fiscal/register-text.ts';
import type { EntradaCorrelacao } from './correlacoes.rows.ts';
import type { Columns, Reading, Stage } from './import-csv.ts';

export const COLUNAS_CORRELACAO: Columns = {
  required: ['item', 'codigo_municipal'],
  optional: ['codigo_tributacao_nacional', 'nbs', 'cst', 'cclasstrib', 'cindop', 'tipo_imunidade', 'numero_beneficio'],
};

/** The reader and the storage of lines of the correlation. */
export function prepareCorrelacao({ store }: RegistryWorld, tenant: string) {
  const reading: Reading<EntradaCorrelacao> = { read: linhaOf, keyOf: () => undefined };
  const stage: Stage<EntradaCorrelacao, ContagemLista> = (work) => store.lotes.importCorrelacao(tenant, work);
  return { reading, stage };
}

/** The correlation as lines of such a file. */
export async function correlacaoAsRows(world: RegistryWorld, slug: string): Promise<readonly (readonly string[])[]> {
  const { tenant } = await municipioNamed(world, slug);
  const rows = await world.store.lotes.listCorrelacao(tenant);
  return rows.map((row) => COLUNAS_DA_CORRELACAO.map((column) => row[COLUMN_OF[column] ?? column] ?? ''));
}

const COLUNAS_DA_CORRELACAO = [...COLUNAS_CORRELACAO.required, ...COLUNAS_CORRELACAO.optional];

/** Columns of the table whose names differ there. */
const COLUMN_OF: Readonly<Record<string, string>> = {
  cclasstrib: 'c_class_trib',
  cindop: 'c_ind_op',
  tipo_imunidade: 'tp_imunidade',
  numero_beneficio: 'n_bm',
};

function linhaOf(line: Line): EntradaCorrelacao {
  const item = subitemOf(line.text('item')) ?? '';
  if (!servicos().some(({ subitem }) => subitem === item)) {
    line.refuse('item', `${line.text('item') || 'vazio'} não é da lista de serviços; escreva como 01.01`);
  }
  const codigoMunicipal = line.text('codigo_municipal');
  if (codigoMunicipal.length > 20) line.refuse('codigo_municipal', 'tem mais de 20 posições');
  const cTribNac = codeOf(line, 'codigo_tributacao_nacional', (code) => servicoOf(code)?.emissivel === true);
  const cNBS = codeOf(line, 'nbs', (code) => nbsOf(code) !== undefined);
  const cClassTrib = codeOf(line, 'cclasstrib', (code) => classificacaoOf(code) !== undefined);
  const CST = codeOf(line, 'cst', (code) => /^\d{3}$/.test(code));
  if ((CST === undefined) !== (cClassTrib === undefined))
    line.refuse('cst', 'e cclasstrib vêm juntos, ou nenhum deles');
  else if (CST !== undefined && !cClassTrib!.startsWith(CST))
    line.refuse('cclasstrib', `${cClassTrib} não é do cst ${CST}`);
  return {
    linha: line.linha,
    item,
    codigo_municipal: codigoMunicipal,
    codigo_tributacao_nacional: cTribNac,
    nbs: cNBS,
    cst: CST,
    c_class_trib: cClassTrib,
    c_ind_op: codeOf(line, 'cindop', (code) => indicadorOf(code) !== undefined),
    tp_imunidade: codeOf(line, 'tipo_imunidade', (code) => /^[1-5]$/.test(code)),
    n_bm: codeOf(line, 'numero_beneficio', (code) => /^\d{14}$/.test(code)),
  };
}

/** The value of a column without punctuation; undefined when it is empty. */
function codeOf(line: Line, column: string, isKnown: (code: string) => boolean): string | undefined {
  const code = line.text(column).replace(/[.\s-]/g, '');
  if (code === '') return undefined;
  if (!isKnown(code)) line.refuse(column, `${line.text(column)} não existe`);
  return code;
}
