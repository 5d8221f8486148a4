/** The municipal service lists. They may be long, so a DPS reads only the lines of its own codes. */

import { columnsOf, decimalOf, lineOf, lookUpLines, type Mantidas } from '../../base/book/listas.ts';
import { cacheReads } from '../../base/pg/cache-reads.ts';
import type { Db } from '../../base/pg/open.ts';
import { planOnce } from '../../base/pg/planned.ts';
import type { ServicoMunicipal } from '../../fiscal/facts.ts';
import type { Vigencia } from '../../fiscal/moment.ts';
import type { StoredLine } from '../../fiscal/registers.ts';

/** A line of the list, in force from `inicio` to `fim`, both included, `YYYY-MM-DD`. */
export type ServicoVigente = ServicoMunicipal & Vigencia;

type ServicosOfCodes = {
  /** Whether the municipality has a list at all. */
  readonly hasList: boolean;
  /** Lines of the national code or of the municipal one, in the order of municipal code and date. */
  readonly lines: readonly ServicoVigente[];
};

const LISTADOS = planOnce(
  'servicos_listados',
  `select distinct on (s.codigo) ${columnsOf('servicos')} from servicos_municipais s
    where tenant = $1 and (s.fim is null or s.fim >= $2::date) order by s.codigo, s.inicio`,
);

export function servicoStore(pool: Db, mantidas: Mantidas) {
  const hasList = async (tenant: string): Promise<boolean> => (await mantidas(tenant)).servicos;
  const national = lookUpLines(pool, 'servicos', servicoOf, ['codigo_tributacao_nacional']);
  const municipal = lookUpLines(pool, 'servicos', servicoOf);
  const inForce = cacheReads(
    async (tenant, hoje): Promise<readonly ServicoVigente[]> => {
      const { rows } = await pool.query<StoredLine<'servicos'>>(LISTADOS([tenant, hoje]));
      return rows.map((row) => lineOf(row, servicoOf));
    },
    () => true,
    { weightOf: (lines) => lines.length, max: IN_FORCE_MAX },
  );
  return {
    findByCodes: async (tenant: string, cTribNac: string, cTribMun: string | undefined): Promise<ServicosOfCodes> => {
      if (!(await hasList(tenant))) return { hasList: false, lines: [] };
      const [ofNational, ofMunicipal] = await Promise.all([
        national(tenant, cTribNac),
        cTribMun === undefined ? [] : municipal(tenant, cTribMun),
      ]);
      // A line that both queries found counts once.
      const others = ofMunicipal.filter((line) => line.cTribNac !== cTribNac);
      return { hasList: true, lines: [...ofNational, ...others] };
    },
    /**
     * The list on a day `YYYY-MM-DD`, one line a code: the one in force, or else the next. Undefined: there is no list. A cached answer is
     * the same array.
     */
    listInForce: async (tenant: string, hoje: string): Promise<readonly ServicoVigente[] | undefined> =>
      (await hasList(tenant)) ? inForce(tenant, hoje) : undefined,
  };
}

/** Cached lines of all municipal lists together, about 40 MB; most lists have some hundred. */
const IN_FORCE_MAX = 100_000;

function servicoOf(row: StoredLine<'servicos'>): ServicoMunicipal {
  return {
    codigo: row.codigo,
    descricao: row.descricao,
    cTribNac: row.codigo_tributacao_nacional,
    cnae: row.cnae_codigo ?? undefined,
    aliquota: decimalOf(row.aliquota),
  };
}
