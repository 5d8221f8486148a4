/**
 * The rates of the IBS and the CBS as data: dated rows for everybody, for a state, for a municipality, and for a classification
 * that has rates of its own. Where they are kept, and how they come in, is the store's affair; which of them applies is said here.
 *
 * A table is one state of those rows and has a number, so that a note can say by which one it was judged.
 */
import type { AliquotaIbsCbs, LinhaIbsCbs, PercentualIbsCbs, TributoIbsCbs } from './catalogs/catalogs.ts';
import { aliquotasIbsCbs, municipioOf, TRIBUTOS_IBS_CBS } from './catalogs/catalogs.ts';
import { parseRate, type Rate } from './decimal.ts';
import { addDays, isInForce, type Vigencia } from './moment.ts';

/** A row. Of `uf`, `municipio` and `cClassTrib` empty text means all. */
export type Aliquota = Vigencia & {
  readonly tributo: LinhaIbsCbs;
  /** Two letters. */
  readonly uf: string;
  /** IBGE code of seven digits. */
  readonly municipio: string;
  readonly cClassTrib: string;
  /** Percent, decimal text of up to four decimals. */
  readonly aliquota: string;
  /** Where it was read. */
  readonly fonte: string;
  /** The legal act that fixes it. */
  readonly ato: string;
};

export type TabelaIbsCbs = {
  /** From 1, the table that the program ships. */
  readonly versao: number;
  readonly linhas: readonly Aliquota[];
  /** The same rows with their rates read, by {@link keyOf}. */
  readonly porChave: ReadonlyMap<string, readonly AliquotaLida[]>;
  /** Classifications, states and municipalities that have rows of their own: of any other nothing need be looked up. */
  readonly proprias: ReadonlySet<string>;
  readonly lugares: ReadonlySet<string>;
};

export type AliquotaLida = Aliquota & { readonly rate: Rate };

/** Prepares rows for looking rates up. Of one key whose periods overlap the first row that is in force counts. */
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

/** A table whose rows count on their days before those of another. */
export function withProprias({ versao, linhas }: TabelaIbsCbs, proprias: readonly Aliquota[]): TabelaIbsCbs {
  return tabelaIbsCbs(versao, [...proprias, ...linhas]);
}

function keyOf(tributo: LinhaIbsCbs, cClassTrib: string, lugar: string): string {
  return `${tributo}/${cClassTrib}/${lugar}`;
}

/** The rows that the program ships; a rate that nobody has published yet is none. */
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

/** The table that the program ships, for whoever has no database to ask: version 1. */
export function tabelaEmbarcada(): TabelaIbsCbs {
  shipped ??= tabelaIbsCbs(1, aliquotasEmbarcadas());
  return shipped;
}

/** Of whom a rate is asked. `local`: IBGE code of the place of the operation; abroad, and where none is known, no municipality. */
export type Asked = { readonly data: string; readonly local?: string | undefined; readonly cClassTrib: string };

/** The rate of a tribute for all classifications: the municipality's before the state's before everybody's. */
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

/** Whether a classification has a rate of its own on a day, of any tribute: then it has all of them, or lacks some. */
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

/** With its article, of what is a percentage and no rate of a tribute. */
export function percentualEmPalavras(linha: LinhaIbsCbs): string | undefined {
  return linha in PERCENTUAIS_EM_PALAVRAS ? PERCENTUAIS_EM_PALAVRAS[linha as PercentualIbsCbs] : undefined;
}

/** Rows that any note may need: rates, and those of government purchases. A presumed credit is asked for by the DPS that names it. */
export const LINHAS_ESPERADAS = [
  ...TRIBUTOS_IBS_CBS,
  'REDUTOR-COMPRA-GOV',
  'TRANSFERENCIA-CBS-GOV',
] as const satisfies readonly LinhaIbsCbs[];

/** How long before a competence without rates the municipality is told. */
export const AVISO_DIAS = 60;

/** A tribute that lacks a row from a day on. */
export type SemAliquota = { readonly tributo: (typeof LINHAS_ESPERADAS)[number]; readonly desde: string };

/**
 * Tributes without a national row today, or within {@link AVISO_DIAS} days, each with the first such day. `hoje`: `YYYY-MM-DD`.
 */
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
