/**
 * The parameters of a municipality in the shape of the national API, read from its own lists. Lines that name a provider are told to
 * nobody (D-25), and parameters without a list are not known (D-924).
 */
import type { Municipio } from '../../base/book/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { aliquotaAmong, CTRIBMUN } from '../../fiscal/aliquota.ts';
import { TIPOS_BENEFICIO } from '../../fiscal/cadastros.ts';
import { servicoOf } from '../../fiscal/catalogs/catalogs.ts';
import { type Decimal, formatDecimal } from '../../fiscal/decimal.ts';
import { isDay, isInForce, type Vigencia } from '../../fiscal/moment.ts';

/** `municipal`: the code of the municipality's own; undefined: the whole national code. */
export type Servico = { readonly cTribNac: string; readonly municipal: string | undefined };

/** A code as programs write it: 01.01.01.000, 010101000, 01.01.01 or 010101. Undefined: none of these. */
export function readServico(text: string): Servico | undefined {
  const [, cTribNac, municipal = NO_MUNICIPAL] = /^(\d{6})(\d{3})?$/.exec(text.replaceAll('.', '')) ?? [];
  if (cTribNac === undefined) return undefined;
  return { cTribNac, municipal: municipal === NO_MUNICIPAL ? undefined : municipal };
}

/** The end of a code without a municipal one. */
const NO_MUNICIPAL = '000';

function writeServico(cTribNac: string, municipal = NO_MUNICIPAL): string {
  return [...cTribNac.match(/../g)!, municipal].join('.');
}

/** The day of a competence: AAAA-MM-DD, with or without a time, or MM-DD-AAAA, as a program of the national API writes it. */
export function readCompetencia(text: string): string | undefined {
  const day = text.replace(/^(\d{2})-(\d{2})-(\d{4})$/, '$3-$1-$2').replace(/T.*$/s, '');
  return isDay(day) ? day : undefined;
}

/** The national API writes days as moments without an offset. */
const startOf = (day: string): string => `${day}T00:00:00`;

/** The rates of a service by its code; undefined: none is known. `competencia`: the day asked for; undefined: all periods. */
export async function aliquotasOf(
  { store }: Pick<World, 'store'>,
  { tenant, aliquotaPadrao }: Municipio,
  asked: Servico,
  competencia?: string,
): Promise<Readonly<Record<string, readonly object[]>> | undefined> {
  const { cTribNac, municipal } = asked;
  const { hasList, lines } = await store.servicos.findByCodes(tenant, cTribNac, municipal);
  if (!hasList) {
    // The general rate has no period of its own.
    const isKnown = servicoOf(cTribNac)?.emissivel === true && municipal === undefined;
    if (aliquotaPadrao === undefined || competencia === undefined || !isKnown) return undefined;
    return { [writeServico(cTribNac)]: [describeAliquota(aliquotaPadrao, { inicio: competencia, fim: undefined })] };
  }
  const found = lines.filter(
    (line) =>
      line.cTribNac === cTribNac &&
      (municipal === undefined || line.codigo === municipal) &&
      (competencia === undefined || isInForce(line, competencia)),
  );
  const rated = found.flatMap(({ aliquota, ...line }) => (aliquota === undefined ? [] : [{ ...line, aliquota }]));
  if (rated.length === 0) return undefined;
  // The code that was asked for names the rate only where nothing else could be meant.
  const isClear = new Set(rated.map(({ codigo }) => codigo)).size === 1 || typeof aliquotaAmong(found) === 'bigint';
  const keyOf = ({ codigo }: { readonly codigo: string }): string =>
    writeServico(cTribNac, isClear ? municipal : CTRIBMUN.test(codigo) ? codigo : NO_MUNICIPAL);
  const byCode = Map.groupBy(rated, keyOf);
  return Object.fromEntries(
    [...byCode].map(([code, of]) => [code, of.map((one) => describeAliquota(one.aliquota, one))]),
  );
}

function describeAliquota(aliquota: Decimal, { inicio, fim }: Vigencia): object {
  const DtFim = fim === undefined ? null : startOf(fim);
  return { Incidencia: 'SIM', Aliq: Number(formatDecimal(aliquota)), DtIni: startOf(inicio), DtFim };
}

/** A benefit on a day; undefined: there is none that every provider may use. */
export async function beneficioOn(
  { store }: Pick<World, 'store'>,
  { tenant }: Municipio,
  numero: string,
  competencia: string,
): Promise<object | undefined> {
  const { beneficios = [] } = await store.cadastros.find(tenant, { nBM: numero });
  const found = beneficios.find((one) => one.documentos.size === 0 && isInForce(one, competencia));
  if (found === undefined) return undefined;
  const { tipo, reducao, aliquota, servicos, inicio, fim } = found;
  const vigencia = {
    dataInicioVigencia: startOf(inicio),
    dataFimVigencia: fim === undefined ? null : startOf(fim),
  };
  return {
    codigoBeneficio: numero,
    ...vigencia,
    tipoBeneficio: Number(TIPOS_BENEFICIO[tipo]),
    reducaoPercentualBC: reducao === undefined ? null : Number(formatDecimal(reducao)),
    aliquotaDiferenciada: aliquota === undefined ? null : Number(formatDecimal(aliquota)),
    servicos:
      servicos.size === 0 ? null : [...servicos].map((code) => ({ codigoServico: writeServico(code), ...vigencia })),
    contribuintes: null,
  };
}
