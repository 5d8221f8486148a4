/** The list of municipal services: what each column may be. */
import { servicoOf } from '../fiscal/catalogs/catalogs.ts';
import { type Decimal, decimal, parseDecimal } from '../fiscal/decimal.ts';
import { ALIQUOTA_DA_NOTA_MAX, isUnusualIss } from '../fiscal/iss.ts';
import { type SimpleType, T } from '../fiscal/layout/simple-types.ts';
import { readPercent } from '../fiscal/settings.ts';
import type { Entrada } from '../store/listas.ts';
import { type Line, neededText } from './import-csv.ts';
import type { ListaCsv, Reparo } from './lista-csv.ts';

/** A code longer than `cTribMun` serves the municipality alone. */
const CODIGO = /^[0-9A-Za-z][0-9A-Za-z./-]{0,19}$/;
const CTRIBMUN = new RegExp(`^(?:${T.cTribMun.pattern})$`);

/** It is `xTribMun` of the note, which cuts what is too long. */
const DESCRICAO: SimpleType = { ...T.desc600, max: T.xDescServ.max };

const HUNDRED = decimal('100.00');

/** A rate that LC 116/2003 does not allow in general. */
export const ALIQUOTA_INCOMUM: Reparo = {
  has: ({ aliquota }) => typeof aliquota === 'string' && isUnusualIss(parseDecimal(aliquota) as Decimal),
  diz: (quantas) =>
    `Linhas com alíquota acima de 5 % ou abaixo de 2 %, que a LC 116/2003 (art. 8º e 8º-A) só admite em poucos casos: ${quantas}. Confira-as.`,
};

export const SERVICOS: ListaCsv = {
  titulo: 'Serviços',
  colunas: ['codigo', 'descricao', 'codigo_tributacao_nacional', 'cnae_codigo', 'aliquota'],
  read: (line) => ({
    codigo: codigoOf(line),
    descricao: neededText(line, 'descricao', DESCRICAO),
    codigo_tributacao_nacional: nationalOf(line),
    cnae_codigo: cnaeOf(line),
    // Without a rate the one of the DPS applies.
    aliquota: percentOf(line, 'aliquota'),
  }),
  chave: (line) => line.text('codigo'),
  reparos: [
    {
      has: ({ codigo }: Entrada) => !CTRIBMUN.test(String(codigo)),
      diz: (quantas) =>
        `Linhas com código que não cabe em cTribMun (3 algarismos), que valem só pelo código nacional: ${quantas}.`,
    },
    ALIQUOTA_INCOMUM,
  ],
};

function codigoOf(line: Line): string {
  const codigo = line.text('codigo');
  if (codigo === '') line.refuse('codigo está vazio');
  else if (!CODIGO.test(codigo))
    line.refuse('codigo tem mais de 20 posições, ou algo além de letras, algarismos, ponto, barra e hífen');
  return codigo;
}

/** One code of the national list, needed. */
export function nationalOf(line: Line): string {
  const column = 'codigo_tributacao_nacional';
  const codigo = bareCodigo(line.text(column));
  const problem = whyNoService(codigo);
  if (codigo === '') line.refuse(`${column} está vazio`);
  else if (problem !== undefined) line.refuse(`${column} ${codigo} ${problem}`);
  return codigo;
}

/** Without punctuation. */
export function bareCodigo(text: string): string {
  return text.replace(/[\s./-]/g, '');
}

/** Why a text is no code of a service in the national list; what follows its name in a sentence. */
export function whyNoService(codigo: string): string | undefined {
  const servico = servicoOf(codigo);
  if (/^\d{5}$/.test(codigo) && servicoOf(`0${codigo}`)?.emissivel)
    return `tem 5 algarismos; o código é 0${codigo}? Formate a coluna como texto`;
  if (!/^\d{6}$/.test(codigo)) return 'não tem 6 algarismos';
  if (servico === undefined) return 'não existe na lista nacional';
  if (!servico.emissivel && servico.situacao !== 'futuro') return 'é um título da lista nacional, e não um serviço';
  return undefined;
}

function cnaeOf(line: Line): string | undefined {
  const cnae = line.text('cnae_codigo').replace(/[\s./-]/g, '');
  if (cnae === '') return undefined;
  if (!/^\d{7}$/.test(cnae)) line.refuse('cnae_codigo não tem 7 algarismos');
  return cnae;
}

/** A rate that a note can carry, or a reduction of up to 100 %, with at most two decimals, as `5.00`; undefined when the column is empty. */
export function percentOf(line: Line, column: 'aliquota' | 'reducao'): string | undefined {
  const text = line.text(column);
  if (text === '') return undefined;
  const percent = readPercent(text, column === 'aliquota' ? ALIQUOTA_DA_NOTA_MAX : HUNDRED);
  if (percent === undefined) {
    const most = column === 'aliquota' ? '9,99' : '100';
    line.refuse(`${column} não é um percentual de 0 a ${most}, com até duas casas decimais`);
  }
  return percent;
}
