/** The file of establishments: the values of each column, and the key of its lines. */

import type { RegistryWorld } from '../../base/world/municipios.ts';
import { bareDocumento, whyNoDocumento } from '../../fiscal/chave.ts';
import { ENDERECO_NAO_INFORMADO } from '../../fiscal/facts.ts';
import { type SimpleType, T } from '../../fiscal/layout/simple-types.ts';
import { ownOf } from '../../fiscal/own.ts';
import { type Line, layoutText, neededText, periodOf } from '../../fiscal/register-text.ts';
import type { Columns, Reading, Stage } from './import-csv.ts';
import {
  COLUNAS_OPCIONAIS,
  type ColunaOpcional,
  type ContagemPrestadores,
  type EntradaPrestador,
} from './import-prestadores.rows.ts';

export const COLUNAS_PRESTADOR: Columns = {
  required: ['documento', 'razao_social', 'inscricao_municipal'],
  optional: ['simples_inicio', 'simples_fim', ...COLUNAS_OPCIONAIS],
};

/**
 * National rules allow any text. The municipality's own must be text that others can read and write, and have a comparable part
 * (`inscricao_comparavel`).
 */
const INSCRICAO: SimpleType = {
  ...T.im,
  latin: true,
  also: (value) => (/[0-9A-Za-z]/.test(value) ? undefined : 'não tem letras nem algarismos; deixe vazio quando não há'),
};

/** An address is given whole or not at all; a number may be missing, as in the street. */
const ADDRESS = ['logradouro', 'bairro', 'cep'] as const;

/** The reader and the storage of lines with these columns. Throws an Error in Portuguese. */
export function preparePrestadores({ store, now }: RegistryWorld, tenant: string, header: readonly string[]) {
  const columns = COLUNAS_OPCIONAIS.filter((column) => header.includes(column));
  const hasAddress = columns.includes('logradouro');
  const hasSimples = header.includes('simples_inicio');
  if (!hasSimples && header.includes('simples_fim')) {
    throw new Error('simples_fim precisa também da coluna simples_inicio.');
  }
  const missing = ADDRESS.filter((column) => !header.includes(column));
  const partial = missing.length > 0 && missing.length < ADDRESS.length;
  if (partial || (missing.length > 0 && (columns.includes('numero') || columns.includes('complemento')))) {
    throw new Error(`para trazer o endereço, o arquivo precisa também de ${missing.join(', ')}.`);
  }
  const written: readonly ColunaOpcional[] =
    hasAddress && !columns.includes('numero') ? [...columns, 'numero'] : columns;
  const reading: Reading<EntradaPrestador> = {
    read: (line) => prestadorOf(line, written),
    keyOf: (line) => bareDocumento(line.text('documento')) || undefined,
  };
  const stage: Stage<EntradaPrestador, ContagemPrestadores> = (work) =>
    store.prestadores.import(tenant, { columns: written, hasSimples, now: now() }, work);
  return { reading, stage, avisos: hasAddress ? [] : [WITHOUT_ADDRESS] };
}

const WITHOUT_ADDRESS =
  'O arquivo não traz endereço: nas notas de quem é novo sai "Endereço não informado". As colunas opcionais o trazem.';

function prestadorOf(line: Line, columns: readonly ColunaOpcional[]): EntradaPrestador {
  const always = {
    linha: line.linha,
    documento: documentoOf(line),
    razao_social: neededText(line, 'razao_social', T.xNome),
    inscricao_municipal: layoutText(line, 'inscricao_municipal', INSCRICAO) ?? '',
  };
  return { ...always, ...periodOf(line, 'simples_inicio', 'simples_fim'), ...optionalOf(line, columns) };
}

/** Messages do not repeat the document: the line shows its place, and it may be a person's. */
function documentoOf(line: Line): string {
  const documento = bareDocumento(line.text('documento'));
  const problem = documentoProblem(documento);
  if (problem !== undefined) line.refuse('documento', problem);
  return documento;
}

function documentoProblem(documento: string): string | undefined {
  if (documento === '') return 'está vazio';
  if (/E\+?\d+$/.test(documento) && documento.includes(','))
    return 'está em notação científica; formate a coluna como texto';
  const { length } = documento;
  return length === 10 || length === 12 || length === 13
    ? `tem ${length} posições; se a planilha tirou os zeros à esquerda, formate a coluna como texto`
    : whyNoDocumento(documento);
}

const FLAGS: Readonly<Record<string, boolean>> = {
  sim: true,
  s: true,
  '1': true,
  true: true,
  nao: false,
  não: false,
  n: false,
  '0': false,
  false: false,
};

function flagOf(line: Line, column: string): boolean {
  const value = line.text(column).toLowerCase();
  const flag = ownOf(FLAGS, value);
  if (flag === undefined) line.refuse(column, value === '' ? 'está vazio' : 'não é sim nem não');
  return flag ?? false;
}

function optionalOf(line: Line, columns: readonly ColunaOpcional[]): Partial<EntradaPrestador> {
  const row: Record<string, string | boolean> = {};
  for (const column of columns) {
    const value = OPTIONAL[column](line);
    if (value !== undefined) row[column] = value;
  }
  return row;
}

const OPTIONAL: Readonly<Record<ColunaOpcional, (line: Line) => string | boolean | undefined>> = {
  autorizado: (line) => flagOf(line, 'autorizado'),
  nome_fantasia: (line) => layoutText(line, 'nome_fantasia', T.xFant),
  logradouro: (line) => addressText(line, 'logradouro', T.xLgr, ENDERECO_NAO_INFORMADO.xLgr),
  numero: (line) => layoutText(line, 'numero', T.nro) ?? ENDERECO_NAO_INFORMADO.nro,
  complemento: (line) => layoutText(line, 'complemento', T.xCpl),
  bairro: (line) => addressText(line, 'bairro', T.xBairro, ENDERECO_NAO_INFORMADO.xBairro),
  cep: (line) => addressText(withoutPunctuation(line), 'cep', T.cep, ENDERECO_NAO_INFORMADO.CEP),
  fone: (line) => layoutText(withoutPunctuation(line), 'fone', T.fone),
  email: (line) => layoutText(line, 'email', T.email),
};

function addressText(line: Line, column: (typeof ADDRESS)[number], type: typeof T.xLgr, unknown: string): string {
  if (ADDRESS.every((one) => line.text(one) === '')) return unknown;
  return neededText(line, column, type);
}

/** Removes punctuation as in `(11) 3333-4444` and `01001-000`. */
function withoutPunctuation(line: Line): Line {
  return { ...line, text: (column) => line.text(column).replace(/[\s().+-]/g, '') };
}
