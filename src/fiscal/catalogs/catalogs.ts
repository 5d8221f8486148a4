/**
 * The national catalogs: lists as data, each file with its source and date in its head, and lookups over them. An import only parses. Rows
 * become objects, and objects an index, at the first lookup.
 *
 * A catalog decides nothing: a rule decides the meaning of a code for a nota. `scripts/generate-catalogs.ts` writes the files. Deliberately
 * absent: the codes and rates of one municipality, which its own registry has; maritime waters (`0000000`), which are no municipality; toll
 * road stretches, whose register is not public; values of layouts not yet in force; events, which `../tipos-evento.ts` declares.
 */

import { BRASILIA } from '../moment.ts';
import aliquotasData from './aliquotas-ibs-cbs.json' with { type: 'json' };
import classificacaoData from './classificacao-tributaria.json' with { type: 'json' };
import correlacaoData from './correlacao.json' with { type: 'json' };
import creditoData from './credito-presumido.json' with { type: 'json' };
import cstData from './cst.json' with { type: 'json' };
import enumeracoesData from './enumeracoes.json' with { type: 'json' };
import indicadorData from './indicador-operacao.json' with { type: 'json' };
import moedasData from './moedas.json' with { type: 'json' };
import municipiosData from './municipios.json' with { type: 'json' };
import nbsData from './nbs.json' with { type: 'json' };
import paisesData from './paises.json' with { type: 'json' };
import type {
  AliquotaIbsCbs,
  CampoEnumerado,
  Classificacao,
  Correlacao,
  CreditoPresumido,
  Cst,
  Indicador,
  Moeda,
  Municipio,
  Nbs,
  Pais,
  Servico,
  ValorEnumerado,
} from './rows.ts';
import servicosData from './servicos.json' with { type: 'json' };
import { byKey, once, rowsOf, type Table } from './table.ts';

export * from './rows.ts';

/** A lookup of a row by its code, and all rows in the order of their codes. */
function catalogOf<Row>(table: Table, codeOf: (row: Row) => string) {
  const rows = once(() => rowsOf<Row>(table));
  const index = once(() => byKey(rows(), codeOf));
  return [(code: string) => index().get(code), rows] as const;
}

/** Rows grouped by a value that several of them share. */
function groupsOf<Row, Value extends string | undefined>(rows: () => readonly Row[], keyOf: (row: Row) => Value) {
  const groups = once(() => Map.groupBy(rows(), keyOf));
  return (value: Value): readonly Row[] => groups().get(value) ?? [];
}

/** National taxation codes of six digits, headings and future codes included: 338 of the 587 may be issued. */
export const [servicoOf, servicos] = catalogOf<Servico>(servicosData, ({ codigo }) => codigo);

/** Lines of the NBS by their code without punctuation, each heading before what it heads: 917 of the 1238 may be issued. */
export const [nbsOf, nbsList] = catalogOf<Nbs>(nbsData, ({ codigo }) => codigo);

/** The values of an enumerated field, in the order of the schema. */
export const enumeracaoOf = groupsOf<ValorEnumerado, CampoEnumerado>(
  () => rowsOf(enumeracoesData),
  ({ campo }) => campo,
);

/** The 5571 municipalities, by IBGE code of seven digits. */
export const [municipioOf, municipios] = catalogOf<Municipio>(municipiosData, ({ codigoIbge }) => codigoIbge);

/** `São Paulo/SP`; undefined: no municipality has the code. */
export function nameMunicipio(codigoIbge: string | undefined): string | undefined {
  const found = codigoIbge === undefined ? undefined : municipioOf(codigoIbge);
  return found && `${found.nome}/${found.uf}`;
}

/** IANA zone of a municipality by its IBGE code; an unknown municipality gets that of Brasília. */
export function zoneOf(codigoIbge: string | undefined): string {
  return (codigoIbge && municipioOf(codigoIbge)?.fusoHorario) || BRASILIA;
}

/** A municipality in a sentence: its code, and its name if it has one. */
export function municipioInWords(codigoIbge: string): string {
  const municipio = municipioOf(codigoIbge);
  return municipio === undefined ? codigoIbge : `${codigoIbge} (${municipio.nome}/${municipio.uf})`;
}

/** The 250 countries, by code of two capital letters. */
export const [paisOf, paises] = catalogOf<Pais>(paisesData, ({ codigo }) => codigo);

/** The 163 currencies, by code of three digits, inactive ones included. */
export const [moedaOf, moedas] = catalogOf<Moeda>(moedasData, ({ codigo }) => codigo);

/** The 173 classifications, by `cClassTrib`; 73 of them have `indNFSe`. */
export const [classificacaoOf, classificacoes] = catalogOf<Classificacao>(classificacaoData, ({ codigo }) => codigo);

/** The 18 CST of three digits. */
export const [cstOf, csts] = catalogOf<Cst>(cstData, ({ codigo }) => codigo);

/** The 13 presumed credits, by `cCredPres`; two of them have `indNFSe`. */
export const [creditoPresumidoOf, creditosPresumidos] = catalogOf<CreditoPresumido>(
  creditoData,
  ({ codigo }) => codigo,
);

/** The 44 operation indicators, by `cIndOp`; 26 of them are in Anexo C. */
export const [indicadorOf, indicadores] = catalogOf<Indicador>(indicadorData, ({ codigo }) => codigo);

/** The 1514 combinations of Anexo VIII, by subitem. */
export const correlacoes = once(() => rowsOf<Correlacao>(correlacaoData));

/** The combinations that Anexo VIII has for an NBS; 186 leaves have none. */
export const correlacoesOf = groupsOf(correlacoes, ({ nbs }) => nbs);

/** The combinations that Anexo VIII has for a subitem written `01.01`. */
export const correlacoesOfSubitem = groupsOf(correlacoes, ({ subitem }) => subitem);

/**
 * The rates that the program ships, by start date, those not yet fixed included: the first import into the table of rates
 * (`../aliquotas-ibs-cbs.ts`).
 */
export const aliquotasIbsCbs = once(() => rowsOf<AliquotaIbsCbs>(aliquotasData));

/** `01.01` of `1.01`, `01.01`, `101` and `010101`; undefined for any other text. */
export function readSubitem(item: string): string | undefined {
  const [major, minor] = item.includes('.')
    ? item.split('.')
    : item.length >= 5
      ? [item.slice(0, -4), item.slice(-4, -2)]
      : [item.slice(0, -2), item.slice(-2)];
  if (!major || minor?.length !== 2) return undefined;
  return `${major.padStart(2, '0')}.${minor}`;
}
