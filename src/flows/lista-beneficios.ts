/** The list of municipal benefits: what each column may be. */
import { TIPOS_BENEFICIO, type TipoBeneficio } from '../fiscal/cadastros.ts';
import { T } from '../fiscal/layout/simple-types.ts';
import { WITHOUT_MINIMUM } from '../fiscal/rules/valores.ts';
import type { Municipio } from '../store/municipios.ts';
import { type Line, neededText } from './import-csv.ts';
import { bareDocumento, whyNoDocumento } from './import-prestadores.ts';
import type { ListaCsv } from './lista-csv.ts';
import { ALIQUOTA_INCOMUM, bareCodigo, percentOf, whyNoService } from './lista-servicos.ts';

const NUMERO = /^\d{14}$/;

/** The one column that a kind needs, and the others leave empty. */
const MEDIDAS: Readonly<Partial<Record<TipoBeneficio, 'reducao' | 'aliquota'>>> = {
  reducao_percentual: 'reducao',
  aliquota_diferenciada: 'aliquota',
};

export const BENEFICIOS: ListaCsv = {
  titulo: 'Benefícios',
  colunas: ['numero', 'descricao', 'tipo', 'reducao', 'aliquota', 'servicos', 'documentos'],
  read: (line, municipio) => {
    const tipo = tipoOf(line);
    return {
      numero: numeroOf(line, municipio),
      descricao: neededText(line, 'descricao', T.xDescServ),
      tipo,
      reducao: medidaOf(line, 'reducao', tipo),
      aliquota: medidaOf(line, 'aliquota', tipo),
      servicos: servicosOf(line),
      documentos: severalOf(line, 'documentos', bareDocumento, whyNoDocumento, () => 'um deles'),
    };
  },
  chave: (line) => bareCodigo(line.text('numero')),
  reparos: [
    ALIQUOTA_INCOMUM,
    {
      has: ({ tipo, servicos }) => tipo === 'isencao' && !isEverWithoutMinimum(servicos as readonly string[]),
      diz: (quantas) =>
        `Linhas com isenção de serviços que a LC 116/2003 (art. 8º-A) não deixa isentar, cujas notas são recusadas (E0429): ${quantas}. Confira-as.`,
    },
  ],
};

function isEverWithoutMinimum(servicos: readonly string[]): boolean {
  return servicos.length > 0 && servicos.every((codigo) => WITHOUT_MINIMUM.has(codigo));
}

/** The number begins with the municipality's own code (DPS 1.01, `BM/nBM`). */
function numeroOf(line: Line, { codigoIbge }: Municipio): string {
  const numero = bareCodigo(line.text('numero'));
  if (numero === '') line.refuse('numero está vazio');
  else if (!NUMERO.test(numero)) line.refuse('numero não tem 14 algarismos; é o nBM, com o código IBGE no começo');
  else if (codigoIbge !== undefined && !numero.startsWith(codigoIbge))
    line.refuse(`numero ${numero} não começa com o código IBGE do município, ${codigoIbge}`);
  return numero;
}

function tipoOf(line: Line): TipoBeneficio | undefined {
  const tipo = line.text('tipo').toLowerCase();
  if (Object.hasOwn(TIPOS_BENEFICIO, tipo)) return tipo as TipoBeneficio;
  const known = Object.keys(TIPOS_BENEFICIO).join(', ');
  line.refuse(tipo === '' ? `tipo está vazio; use ${known}` : `tipo ${tipo} não existe; use ${known}`);
  return undefined;
}

function medidaOf(line: Line, column: 'reducao' | 'aliquota', tipo: TipoBeneficio | undefined): string | undefined {
  const value = percentOf(line, column);
  if (tipo === undefined) return value;
  const isNeeded = MEDIDAS[tipo] === column;
  if (isNeeded && line.text(column) === '') line.refuse(`${column} está vazio, e o tipo é ${tipo}`);
  if (!isNeeded && line.text(column) !== '') line.refuse(`${column} não cabe no tipo ${tipo}; deixe vazio`);
  if (isNeeded && column === 'reducao' && Number(value) === 0) line.refuse('reducao é zero');
  return value;
}

/** National codes, none of them meaning all. */
export function servicosOf(line: Line): readonly string[] {
  return severalOf(line, 'servicos', bareCodigo, whyNoService, (codigo) => codigo);
}

/** The values of a cell, with spaces or semicolons between them; in order, each once. */
export function severalOf(
  line: Line,
  column: string,
  bare: (text: string) => string,
  why: (value: string) => string | undefined,
  named: (value: string) => string,
): readonly string[] {
  const values = line
    .text(column)
    .split(/[\s;,|]+/)
    .filter(Boolean)
    .map(bare);
  const [wrong] = values.flatMap((value) => {
    const problem = why(value);
    return problem === undefined ? [] : [`${named(value)} ${problem}`];
  });
  if (wrong !== undefined) line.refuse(`${column}: ${wrong}`);
  return [...new Set(values)].toSorted();
}
