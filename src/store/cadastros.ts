/** What the registers of a municipality have for one DPS. Each list may be long, so only the lines of its own keys are read. */
import type {
  Beneficio,
  Cadastros,
  DeducaoAdmitida,
  FormaDeducao,
  NaoIncidencia,
  RegimeDoPrestador,
  TipoBeneficio,
} from '../fiscal/cadastros.ts';
import { parseDecimal } from '../fiscal/decimal.ts';
import { batchLookups } from './batch-lookups.ts';
import { cacheReads } from './cache-reads.ts';
import { columnsOf, LISTAS, type Linha, type ListaNome, type Mantidas } from './listas.ts';
import type { Db } from './open.ts';

/** By what a DPS is looked up. */
export type NomeadoPelaDps = {
  readonly nBM: string | undefined;
  /** Absent where nothing but the benefit is asked for. */
  readonly operacao?: {
    readonly cTribNac: string;
    /** CNPJ or CPF of the provider. */
    readonly documento: string;
    /** `regEspTrib`. */
    readonly regime: string;
    /** Whether anything is deducted. */
    readonly deduz: boolean;
  };
};

const NADA: readonly never[] = [];
/** Of `regEspTrib`: no special regime. */
const SEM_REGIME = '0';

export function cadastroStore(pool: Db, mantidas: Mantidas) {
  const beneficio = linesBy(pool, 'beneficios', beneficioOf);
  const deducao = linesBy(pool, 'deducoes', deducaoOf);
  const regime = linesBy(pool, 'regimes', regimeOf);
  const naoIncidencia = linesBy(pool, 'nao_incidencias', naoIncidenciaOf);
  const admitidos = cacheReads(async (tenant: string): Promise<ReadonlySet<string>> => {
    const text = `select r.regime from unnest('{1,2,3,4,5,6,9}'::text[]) as r (regime)
      where exists (select 1 from regimes_especiais s where s.tenant = $1 and s.regime = r.regime)`;
    const { rows } = await pool.query<{ regime: string }>({ name: 'regimes_admitidos', text, values: [tenant] });
    return new Set(rows.map((row) => row.regime));
  });
  const regimesOf = async (
    tenant: string,
    operacao: NomeadoPelaDps['operacao'],
  ): Promise<NonNullable<Cadastros['regimes']>> => {
    if (operacao === undefined || operacao.regime === SEM_REGIME) return { admitidos: new Set(), linhas: [] };
    const [known, linhas] = await Promise.all([
      admitidos(tenant),
      ofDocumento(regime, tenant, operacao.regime, operacao.documento),
    ]);
    return { admitidos: known, linhas };
  };
  return {
    find: async (tenant: string, { nBM, operacao }: NomeadoPelaDps): Promise<Cadastros> => {
      const has = await mantidas(tenant);
      const [beneficios, deducoes, regimes, naoIncidencias] = await Promise.all([
        has.beneficios ? (nBM === undefined ? NADA : beneficio(tenant, nBM)) : undefined,
        has.deducoes ? (operacao?.deduz === true ? deducao(tenant, operacao.cTribNac) : NADA) : undefined,
        has.regimes ? regimesOf(tenant, operacao) : undefined,
        has.nao_incidencias
          ? operacao === undefined
            ? NADA
            : ofDocumento(naoIncidencia, tenant, operacao.cTribNac, operacao.documento)
          : undefined,
      ]);
      return { beneficios, deducoes, regimes, naoIncidencias };
    },
  };
}

/** The lines of a key, one statement for all who ask in the same turn, kept for a moment. */
function linesBy<Row>(
  pool: Db,
  nome: ListaNome,
  rowOf: (linha: Linha) => Row,
): (tenant: string, ...key: readonly string[]) => Promise<readonly Row[]> {
  const { table, key } = LISTAS[nome];
  const names = key.map((_, place) => `k${place}`).join(', ');
  const arrays = key.map((_, place) => `$${place + 2}::text[]`).join(', ');
  const same = key.map((column, place) => `s.${column} = k.k${place}`).join(' and ');
  // Each key looks its own lines up: a plain join reads all of a tenant for many keys.
  const text = `select s.* from unnest(${arrays}) as k (${names}) cross join lateral (
      select ${columnsOf(nome)} from ${table} s where s.tenant = $1 and ${same} offset 0
    ) s order by ${[...key, 'inicio'].map((column) => `s.${column}`).join(', ')}`;
  const load = batchLookups<readonly Row[]>(async (tenant, chaves) => {
    const parts = chaves.map((chave) => chave.split(' '));
    const values = [tenant, ...key.map((_, place) => parts.map((one) => one[place]))];
    const { rows } = await pool.query<Linha>({ name: `${nome}_por_chave`, text, values });
    const found = Map.groupBy(rows, (row) => key.map((column) => row[column]).join(' '));
    return new Map([...found].map(([chave, linhas]) => [chave, linhas.map(rowOf)]));
  });
  return cacheReads(async (tenant, ...chave) => (await load(tenant!, chave.join(' '))) ?? []);
}

/** The lines of everybody, and those of a provider. */
async function ofDocumento<Row>(
  lines: (tenant: string, ...key: readonly string[]) => Promise<readonly Row[]>,
  tenant: string,
  key: string,
  documento: string,
): Promise<readonly Row[]> {
  return (await Promise.all([lines(tenant, key, ''), lines(tenant, key, documento)])).flat();
}

const textOf = (value: Linha[string]): string => String(value);
const decimalOf = (value: Linha[string]) => (value === null ? undefined : parseDecimal(textOf(value)));
const setOf = (value: Linha[string]): ReadonlySet<string> => new Set(value as readonly string[]);

function beneficioOf(linha: Linha): Beneficio {
  const { numero, tipo, reducao, aliquota, servicos, documentos, inicio, fim } = linha;
  return {
    numero: textOf(numero!),
    tipo: textOf(tipo!) as TipoBeneficio,
    reducao: decimalOf(reducao!),
    aliquota: decimalOf(aliquota!),
    servicos: setOf(servicos!),
    documentos: setOf(documentos!),
    inicio,
    fim: fim ?? undefined,
  };
}

function deducaoOf({ codigo_tributacao_nacional, formas, inicio, fim }: Linha): DeducaoAdmitida {
  const known = setOf(formas!) as ReadonlySet<FormaDeducao>;
  return { cTribNac: textOf(codigo_tributacao_nacional!), formas: known, inicio, fim: fim ?? undefined };
}

function regimeOf({ regime, documento, servicos, inicio, fim }: Linha): RegimeDoPrestador {
  return {
    regime: textOf(regime!),
    documento: textOf(documento!),
    servicos: setOf(servicos!),
    inicio,
    fim: fim ?? undefined,
  };
}

function naoIncidenciaOf({ codigo_tributacao_nacional, documento, inicio, fim }: Linha): NaoIncidencia {
  return {
    cTribNac: textOf(codigo_tributacao_nacional!),
    documento: textOf(documento!),
    inicio,
    fim: fim ?? undefined,
  };
}
