/** What the registers of a municipality have for one DPS. Each list may be long, so only the lines of its own keys are read. */
import type { Beneficio, Cadastros, TipoBeneficio } from '../fiscal/cadastros.ts';
import { parseDecimal } from '../fiscal/decimal.ts';
import { batched } from './batched.ts';
import { columnsOf, LISTAS, type Linha, type ListaNome, type Mantidas } from './listas.ts';
import type { Db } from './open.ts';
import { remembered } from './remembered.ts';

/** By what a DPS is looked up. */
export type NomeadoPelaDps = {
  readonly nBM: string | undefined;
};

export type CadastroStore = {
  cadastrosOf(tenant: string, nomeado: NomeadoPelaDps): Promise<Cadastros>;
};

export function cadastroStore(pool: Db, mantidas: Mantidas): CadastroStore {
  const beneficio = linesBy(pool, 'beneficios', beneficioOf);
  return {
    cadastrosOf: async (tenant, { nBM }) => {
      const has = await mantidas(tenant);
      const beneficios = has.beneficios ? (nBM === undefined ? [] : await beneficio(tenant, nBM)) : undefined;
      return { beneficios };
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
  const text = `select ${columnsOf(nome)} from unnest(${arrays}) as k (${names}) join ${table} s
    on s.tenant = $1 and ${same} order by ${[...key, 'inicio'].map((column) => `s.${column}`).join(', ')}`;
  const load = batched<readonly Row[]>(async (tenant, chaves) => {
    const parts = chaves.map((chave) => chave.split(' '));
    const values = [tenant, ...key.map((_, place) => parts.map((one) => one[place]))];
    const { rows } = await pool.query<Linha>({ name: `${nome}_por_chave`, text, values });
    const found = Map.groupBy(rows, (row) => key.map((column) => row[column]).join(' '));
    return new Map([...found].map(([chave, linhas]) => [chave, linhas.map(rowOf)]));
  });
  return remembered(async (tenant, ...chave) => (await load(tenant!, chave.join(' '))) ?? []);
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
