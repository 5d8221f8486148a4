/** The municipal service lists. They may be long, so a DPS asks for the lines of its own codes. */
import { parseDecimal } from '../fiscal/decimal.ts';
import type { ServicoMunicipal } from '../fiscal/facts.ts';
import { batchLookups } from './batch-lookups.ts';
import { cacheReads } from './cache-reads.ts';
import { columnsOf, type Mantidas } from './listas.ts';
import type { Db } from './open.ts';

/** A line of the list, in force from `inicio` to `fim`, both inside, `YYYY-MM-DD`. */
export type ServicoVigente = ServicoMunicipal & { readonly inicio: string; readonly fim: string | undefined };

type ServicosOfCodes = {
  /** Whether the municipality has a list at all. */
  readonly hasList: boolean;
  /** Lines of the national code or of the municipal one, in the order of municipal code and date. */
  readonly lines: readonly ServicoVigente[];
};

type Row = {
  codigo: string;
  inicio: string;
  fim: string | null;
  descricao: string;
  codigo_tributacao_nacional: string;
  cnae_codigo: string | null;
  aliquota: string | null;
};

const SELECT = `${columnsOf('servicos')} from servicos_municipais s`;

export function servicoStore(pool: Db, mantidas: Mantidas) {
  const hasList = async (tenant: string): Promise<boolean> => (await mantidas(tenant)).servicos;
  const linesOf = async (name: string, column: string, tenant: string, codigos: readonly string[]): Promise<Row[]> => {
    const text = `select ${SELECT} where tenant = $1 and ${column} = any($2::text[]) order by s.codigo, s.inicio`;
    const { rows } = await pool.query<Row>({ name, text, values: [tenant, codigos] });
    return rows;
  };
  const loadNational = batchLookups<readonly ServicoVigente[]>(async (tenant, codigos) =>
    groupRows(
      await linesOf('servicos_nacional', 'codigo_tributacao_nacional', tenant, codigos),
      (row) => row.codigo_tributacao_nacional,
    ),
  );
  const loadMunicipal = batchLookups<readonly ServicoVigente[]>(async (tenant, codigos) =>
    groupRows(await linesOf('servicos_municipal', 'codigo', tenant, codigos), (row) => row.codigo),
  );
  const national = cacheReads(async (tenant, codigo) => (await loadNational(tenant!, codigo!)) ?? []);
  const municipal = cacheReads(async (tenant, codigo) => (await loadMunicipal(tenant!, codigo!)) ?? []);
  const listed = cacheReads(
    async (tenant, hoje): Promise<readonly ServicoVigente[]> => {
      const text = `select distinct on (s.codigo) ${SELECT}
        where tenant = $1 and (s.fim is null or s.fim >= $2::date) order by s.codigo, s.inicio`;
      const { rows } = await pool.query<Row>({ name: 'servicos_listados', text, values: [tenant, hoje] });
      return rows.map(servicoOf);
    },
    () => true,
    { weightOf: (lines) => lines.length, max: LISTED_MAX },
  );
  return {
    findByCodes: async (tenant: string, cTribNac: string, cTribMun: string | undefined): Promise<ServicosOfCodes> => {
      if (!(await hasList(tenant))) return { hasList: false, lines: [] };
      const [ofNational, ofMunicipal] = await Promise.all([
        national(tenant, cTribNac),
        cTribMun === undefined ? [] : municipal(tenant, cTribMun),
      ]);
      // What both found is one line all the same.
      const others = ofMunicipal.filter((line) => line.cTribNac !== cTribNac);
      return { hasList: true, lines: [...ofNational, ...others] };
    },
    /**
     * The whole list on a day `YYYY-MM-DD`, one line a code: the one in force, or else the next to come. Undefined: the
     * municipality has no list. Asked again soon, it is the same array.
     */
    listInForce: async (tenant: string, hoje: string): Promise<readonly ServicoVigente[] | undefined> =>
      (await hasList(tenant)) ? listed(tenant, hoje) : undefined,
  };
}

/** What is kept of all municipal lists together, about 40 MB; most have some hundred lines. */
const LISTED_MAX = 100_000;

function groupRows(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, ServicoVigente[]> {
  const found = new Map<string, ServicoVigente[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const lines = found.get(key);
    if (lines === undefined) found.set(key, [servicoOf(row)]);
    else lines.push(servicoOf(row));
  }
  return found;
}

function servicoOf(row: Row): ServicoVigente {
  return {
    codigo: row.codigo,
    descricao: row.descricao,
    cTribNac: row.codigo_tributacao_nacional,
    cnae: row.cnae_codigo ?? undefined,
    aliquota: row.aliquota === null ? undefined : parseDecimal(row.aliquota),
    inicio: row.inicio,
    fim: row.fim ?? undefined,
  };
}
