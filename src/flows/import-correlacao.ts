/**
 * The file with what a municipality adds to the RPS of the legacy port (D-70): for an item of the list, or for one of its own codes, the
 * national code, NBS and classification of IBS and CBS. The file is the whole correlation, and takes the place of the one before.
 */
import { subitemOf } from '../fiscal/abrasf/rps-values.ts';
import { classificacaoOf, indicadorOf, nbsOf, servicoOf, servicos } from '../fiscal/catalogs/catalogs.ts';
import type { LinhaCorrelacao } from '../store/correlacoes.ts';
import { type Columns, type Line, type LinhaRecusada, openTable, readBlock } from './import-csv.ts';
import { municipioNamed, type RegistryWorld } from './municipios.ts';

export const COLUNAS_CORRELACAO: Columns = {
  required: ['item', 'codigo_municipal', 'codigo_tributacao_nacional', 'nbs', 'cst', 'cclasstrib'],
  optional: ['cindop', 'tipo_imunidade', 'numero_beneficio'],
};

/** Every item with every municipal code of a large municipality. */
const LINHAS_MAX = 20_000;

export type CorrelacaoImported = {
  readonly linhas: number;
  readonly recusadas: readonly LinhaRecusada[];
  /** Without a refused line it was written. */
  readonly gravada: boolean;
};

/** Throws an Error in Portuguese when the file as a whole cannot be taken. */
export async function importCorrelacao(
  world: RegistryWorld,
  { arquivo, municipio }: { readonly arquivo: string; readonly municipio: string },
): Promise<CorrelacaoImported> {
  const { tenant } = await municipioNamed(world, municipio);
  const csv = await openTable(arquivo, COLUNAS_CORRELACAO);
  const place = new Map(csv.header.map((name, column) => [name, column]));
  const linhas: LinhaCorrelacao[] = [];
  const recusadas: LinhaRecusada[] = [];
  const seen = new Map<string, number>();
  for await (const { records } of csv.records()) {
    const { rows, refused } = readBlock(
      records,
      place,
      (line) => linhaOf(line, seen),
      () => undefined,
    );
    linhas.push(...rows);
    recusadas.push(...refused.map(({ linha, motivo }) => ({ linha, motivo })));
    if (linhas.length + recusadas.length > LINHAS_MAX) {
      throw new Error(`o arquivo passa de ${LINHAS_MAX} linhas; uma correlação tem uma por item e código municipal.`);
    }
  }
  const gravada = recusadas.length === 0 && linhas.length > 0;
  if (gravada) await world.store.lotes.replaceCorrelacoes(tenant, linhas);
  return { linhas: linhas.length + recusadas.length, recusadas, gravada };
}

function linhaOf(line: Line, seen: Map<string, number>): LinhaCorrelacao {
  const item = subitemOf(line.text('item')) ?? '';
  if (!servicos().some(({ subitem }) => subitem === item)) {
    line.refuse(`item ${line.text('item') || 'vazio'} não é da lista de serviços; escreva como 01.01`);
  }
  const codigoMunicipal = line.text('codigo_municipal');
  if (codigoMunicipal.length > 20) line.refuse('codigo_municipal tem mais de 20 posições');
  const key = `${item} ${codigoMunicipal}`;
  const before = seen.get(key);
  if (before !== undefined) line.refuse(`repete o item e o código municipal da linha ${before}`);
  seen.set(key, line.linha);
  const cTribNac = codeOf(line, 'codigo_tributacao_nacional', (code) => servicoOf(code)?.emissivel === true);
  const cNBS = codeOf(line, 'nbs', (code) => nbsOf(code) !== undefined);
  const cClassTrib = codeOf(line, 'cclasstrib', (code) => classificacaoOf(code) !== undefined);
  const CST = codeOf(line, 'cst', (code) => /^\d{3}$/.test(code));
  if ((CST === undefined) !== (cClassTrib === undefined)) line.refuse('cst e cclasstrib vêm juntos, ou nenhum deles');
  else if (CST !== undefined && !cClassTrib!.startsWith(CST))
    line.refuse(`cclasstrib ${cClassTrib} não é do cst ${CST}`);
  return {
    item,
    codigoMunicipal,
    cTribNac,
    cNBS,
    CST,
    cClassTrib,
    cIndOp: codeOf(line, 'cindop', (code) => indicadorOf(code) !== undefined),
    tpImunidade: codeOf(line, 'tipo_imunidade', (code) => /^[1-5]$/.test(code)),
    nBM: codeOf(line, 'numero_beneficio', (code) => /^\d{14}$/.test(code)),
  };
}

/** The value of a column without punctuation; undefined when it is empty. */
function codeOf(line: Line, column: string, isKnown: (code: string) => boolean): string | undefined {
  const code = line.text(column).replace(/[.\s-]/g, '');
  if (code === '') return undefined;
  if (!isKnown(code)) line.refuse(`${column} ${line.text(column)} não existe`);
  return code;
}
