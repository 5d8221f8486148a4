/**
 * The rates of the IBS and the CBS as data: dated rows for everybody, for a state, for a municipality, and for a classification that has
 * rates of its own (D-200). The store keeps and imports them; this module selects the one that applies.
 *
 * A table is one state of those rows. Each table has a number, so that a note can name the table that it was judged by.
 */
import type { AliquotaIbsCbs, LinhaIbsCbs, PercentualIbsCbs, TributoIbsCbs } from './catalogs/catalogs.ts';
import { aliquotasIbsCbs, municipioOf, TRIBUTOS_IBS_CBS } from './catalogs/catalogs.ts';
import { parseRate, type Rate } from './decimal.ts';
import { addDays, isInForce, type Vigencia } from './moment.ts';

/** A row. An empty `uf`, `municipio` or `cClassTrib` means all. */
export type Aliquota = Vigencia & {
  readonly tributo: LinhaIbsCbs;
  /** Two letters. */
  readonly uf: string;
  /** IBGE code of seven digits. */
  readonly municipio: string;
  readonly cClassTrib: string;
  /** Percent, decimal text of up to four decimals. */
  readonly aliquota: string;
  /** The source of the rate. */
  readonly fonte: string;
  /** The legal act that fixes it. */
  readonly ato: string;
};

export type TabelaIbsCbs = {
  /** The number of the table; 1 is the table that the program ships. */
  readonly versao: number;
  readonly linhas: readonly Aliquota[];
  /** The same rows with their rates read, by {@link keyOf}. */
  readonly porChave: ReadonlyMap<string, readonly AliquotaLida[]>;
  /** Classifications, states and municipalities that have rows of their own: any other needs no lookup. */
  readonly proprias: ReadonlySet<string>;
  readonly lugares: ReadonlySet<string>;
};

export type AliquotaLida = Aliquota & { readonly rate: Rate };

/** Prepares rows for lookups. If the periods of one key overlap, the first row in force counts. */
export function tabelaIbsCbs(versao: number, linhas: readonly Aliquota[]): TabelaIbsCbs {
  const lidas = linhas.map((linha): AliquotaLida => {
    const rate = parseRate(linha.aliquota);
    if (rate === undefined) throw new RangeError(`Not a rate: ${linha.aliquota}`);
    return { ...linha, rate };
  });
  const porChave = Map.groupBy(lidas, ({ tributo, cClassTrib, uf, municipio }) =>
    keyOf(tributo, cClassTrib, municipio || uf),
  );
  const proprias = new Set(linhas.map(({ cClassTrib }) => cClassTrib));
  const lugares = new Set(linhas.flatMap(({ uf, municipio }) => municipio || uf || []));
  return { versao, linhas, porChave, proprias, lugares };
}

/** A table with additional rows, which precede those of the given table on their days. */
export function withProprias({ versao, linhas }: TabelaIbsCbs, proprias: readonly Aliquota[]): TabelaIbsCbs {
  return tabelaIbsCbs(versao, [...proprias, ...linhas]);
}

function keyOf(tributo: LinhaIbsCbs, cClassTrib: string, lugar: string): string {
  return `${tributo}/${cClassTrib}/${lugar}`;
}

/** The rows that the program ships; a rate that is not yet published has no row. */
export function aliquotasEmbarcadas(): readonly Aliquota[] {
  return aliquotasIbsCbs().flatMap(({ aliquota, ...row }) => (aliquota === undefined ? [] : [linhaOf(row, aliquota)]));
}

function linhaOf(
  { tributo, cClassTrib = '', inicio, fim, fonte, baseLegal }: Omit<AliquotaIbsCbs, 'aliquota'>,
  aliquota: string,
): Aliquota {
  return { tributo, uf: '', municipio: '', cClassTrib, inicio, fim, aliquota, fonte, ato: baseLegal };
}

let shipped: TabelaIbsCbs | undefined;

/** The table that the program ships, for callers without a database: version 1. */
export function tabelaEmbarcada(): TabelaIbsCbs {
  shipped ??= tabelaIbsCbs(1, aliquotasEmbarcadas());
  return shipped;
}

/** The circumstances of a lookup. `local`: IBGE code of the place of the operation; a place abroad or unknown has no municipality. */
export type Asked = { readonly data: string; readonly local?: string | undefined; readonly cClassTrib: string };

/** The rate of a tribute for all classifications: the municipality's precedes the state's, and the state's precedes the national one. */
export function aliquotaGeral(
  tabela: TabelaIbsCbs,
  tributo: LinhaIbsCbs,
  { data, local }: Omit<Asked, 'cClassTrib'>,
): AliquotaLida | undefined {
  return findAliquota(tabela, tributo, '', data, local);
}

/** The rate that a classification has of its own. */
export function aliquotaPropria(
  tabela: TabelaIbsCbs,
  tributo: TributoIbsCbs,
  { data, local, cClassTrib }: Asked,
): AliquotaLida | undefined {
  return findAliquota(tabela, tributo, cClassTrib, data, local);
}

/** Whether a classification has its own rate for any tribute on a day: its other tributes then use their own rates too, or lack one. */
export function temPropria(tabela: TabelaIbsCbs, asked: Asked): boolean {
  return TRIBUTOS_IBS_CBS.some((tributo) => aliquotaPropria(tabela, tributo, asked) !== undefined);
}

const EVERYWHERE = [''];

function findAliquota(
  { porChave, proprias, lugares }: TabelaIbsCbs,
  tributo: LinhaIbsCbs,
  cClassTrib: string,
  data: string,
  local: string | undefined,
): AliquotaLida | undefined {
  if (!proprias.has(cClassTrib)) return undefined;
  // A table has few places, or none.
  const uf = local === undefined || lugares.size === 0 ? undefined : municipioOf(local)?.uf;
  for (const lugar of uf === undefined ? EVERYWHERE : [local!, uf, '']) {
    if (lugar !== '' && !lugares.has(lugar)) continue;
    const found = porChave.get(keyOf(tributo, cClassTrib, lugar))?.find((linha) => isInForce(linha, data));
    if (found !== undefined) return found;
  }
  return undefined;
}

const PERCENTUAIS_EM_PALAVRAS: Readonly<Record<PercentualIbsCbs, string>> = {
  'REDUTOR-COMPRA-GOV': 'o redutor das compras governamentais',
  'TRANSFERENCIA-CBS-GOV': 'o percentual da CBS que passa ao ente que compra',
  'CRED-PRES-01-IBS': 'o percentual do crédito presumido 01 no IBS',
  'CRED-PRES-01-CBS': 'o percentual do crédito presumido 01 na CBS',
  'CRED-PRES-02-IBS': 'o percentual do crédito presumido 02 no IBS',
  'CRED-PRES-02-CBS': 'o percentual do crédito presumido 02 na CBS',
};

/** A percentage that is no rate of a tribute, in words, with its article. */
export function percentualEmPalavras(linha: LinhaIbsCbs): string | undefined {
  return linha in PERCENTUAIS_EM_PALAVRAS ? PERCENTUAIS_EM_PALAVRAS[linha as PercentualIbsCbs] : undefined;
}

/**
 * Rows that any note may need: rates, and the percentages of government purchases. A presumed credit is needed only by a DPS that names it.
 */
export const LINHAS_ESPERADAS = [
  ...TRIBUTOS_IBS_CBS,
  'REDUTOR-COMPRA-GOV',
  'TRANSFERENCIA-CBS-GOV',
] as const satisfies readonly LinhaIbsCbs[];

/** How long before a competence without rates the municipality is warned. */
export const AVISO_DIAS = 60;

/** A tribute that lacks a row from a given day on. */
export type SemAliquota = { readonly tributo: (typeof LINHAS_ESPERADAS)[number]; readonly desde: string };

/** Tributes without a national row today, or within {@link AVISO_DIAS} days, each with the first such day. `hoje`: `YYYY-MM-DD`. */
export function semAliquota(tabela: TabelaIbsCbs, hoje: string): readonly SemAliquota[] {
  const limite = addDays(hoje, AVISO_DIAS);
  return LINHAS_ESPERADAS.flatMap((tributo): readonly SemAliquota[] => {
    let desde = hoje;
    for (;;) {
      const found = aliquotaGeral(tabela, tributo, { data: desde });
      if (found === undefined) return [{ tributo, desde }];
      if (found.fim === undefined || found.fim >= limite) return [];
      desde = addDays(found.fim, 1);
    }
  });
}
