/** The file of municipal services: what each column may be. */
import { servicoOf } from '../fiscal/catalogs/catalogs.ts';
import { parseDecimal } from '../fiscal/decimal.ts';
import { type SimpleType, T } from '../fiscal/layout/simple-types.ts';
import type { ContagemServicos, EntradaServico } from '../store/import-servicos.ts';
import {
  type Columns,
  type ImportOutcome,
  type ImportRequest,
  importTable,
  type Line,
  neededText,
  openTable,
  periodOf,
} from './import-csv.ts';
import { isUnusual, municipioNamed, type RegistryWorld, readAliquota } from './municipios.ts';

export const COLUNAS_SERVICO: Columns = {
  required: ['codigo', 'descricao', 'codigo_tributacao_nacional', 'cnae_codigo', 'aliquota', 'inicio', 'fim'],
  optional: [],
};

/** A code longer than `cTribMun` serves the municipality alone. */
const CODIGO = /^[0-9A-Za-z][0-9A-Za-z./-]{0,19}$/;
const CTRIBMUN = new RegExp(`^(?:${T.cTribMun.pattern})$`);

export type ServicosImported = ImportOutcome<ContagemServicos> & {
  /** Of the lines that are not refused, those whose code does not fit into `cTribMun` of a DPS. */
  readonly unsendable: number;
  /** Of the same lines, those whose rate is outside of what LC 116/2003 allows in general. */
  readonly unusual: number;
};

/** Throws an Error in Portuguese when the file as a whole cannot be taken. */
export async function importServicos(world: RegistryWorld, request: ImportRequest): Promise<ServicosImported> {
  const { tenant } = await municipioNamed(world, request.municipio);
  const csv = await openTable(request.arquivo, COLUNAS_SERVICO);
  const [unsendable, unusual] = [new Set<number>(), new Set<number>()];
  const read = (line: Line): EntradaServico => {
    const servico = servicoOfLine(line);
    if (!CTRIBMUN.test(servico.codigo)) unsendable.add(line.linha);
    const aliquota = servico.aliquota === undefined ? undefined : parseDecimal(servico.aliquota);
    if (aliquota !== undefined && isUnusual(aliquota)) unusual.add(line.linha);
    return servico;
  };
  const keyOf = (line: Line): string | undefined => line.text('codigo') || undefined;
  const forget = (linha: number): void => {
    unsendable.delete(linha);
    unusual.delete(linha);
  };
  const reading = { read, keyOf, forget };
  const outcome = await importTable<EntradaServico, ContagemServicos>(request, csv, reading, (work) =>
    world.store.importServicos(tenant, work),
  );
  return { ...outcome, unsendable: unsendable.size, unusual: unusual.size };
}

/** It is `xTribMun` of the note, which cuts what is too long. */
const DESCRICAO: SimpleType = { ...T.desc600, max: T.xDescServ.max };

function servicoOfLine(line: Line): EntradaServico {
  const always = {
    linha: line.linha,
    codigo: codigoOf(line),
    descricao: neededText(line, 'descricao', DESCRICAO),
    codigo_tributacao_nacional: nationalOf(line),
    cnae_codigo: cnaeOf(line),
    aliquota: aliquotaOf(line),
  };
  const { inicio, fim } = periodOf(line, 'inicio', 'fim');
  if (line.text('inicio') === '') line.refuse('inicio está vazio');
  return { ...always, inicio: inicio ?? '', fim };
}

function codigoOf(line: Line): string {
  const codigo = line.text('codigo');
  if (codigo === '') line.refuse('codigo está vazio');
  else if (!CODIGO.test(codigo))
    line.refuse('codigo tem mais de 20 posições, ou algo além de letras, algarismos, ponto, barra e hífen');
  return codigo;
}

function nationalOf(line: Line): string {
  const codigo = line.text('codigo_tributacao_nacional').replace(/[\s./-]/g, '');
  const column = 'codigo_tributacao_nacional';
  const servico = servicoOf(codigo);
  if (codigo === '') line.refuse(`${column} está vazio`);
  else if (/^\d{5}$/.test(codigo) && servicoOf(`0${codigo}`)?.emissivel) {
    line.refuse(`${column} tem 5 algarismos; o código é 0${codigo}? Formate a coluna como texto`);
  } else if (!/^\d{6}$/.test(codigo)) line.refuse(`${column} não tem 6 algarismos`);
  else if (servico === undefined) line.refuse(`${column} ${codigo} não existe na lista nacional`);
  else if (!servico.emissivel && servico.situacao !== 'futuro') {
    line.refuse(`${column} ${codigo} é um título da lista nacional, e não um serviço`);
  }
  return codigo;
}

function cnaeOf(line: Line): string | undefined {
  const cnae = line.text('cnae_codigo').replace(/[\s./-]/g, '');
  if (cnae === '') return undefined;
  if (!/^\d{7}$/.test(cnae)) line.refuse('cnae_codigo não tem 7 algarismos');
  return cnae;
}

/** Without a rate the one of the DPS applies. */
function aliquotaOf(line: Line): string | undefined {
  const text = line.text('aliquota');
  if (text === '') return undefined;
  const aliquota = readAliquota(text);
  if (aliquota === undefined) line.refuse('aliquota não é um percentual de 0 a 100, com até duas casas decimais');
  return aliquota;
}
