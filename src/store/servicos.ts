/** The municipal service lists. They may be long, so a DPS asks for the lines of its own codes. */
import { comparable } from '../fiscal/catalogs/search.ts';
import { parseDecimal } from '../fiscal/decimal.ts';
import type { ServicoMunicipal } from '../fiscal/facts.ts';
import { batched } from './batched.ts';
import type { Db } from './open.ts';
import { remembered } from './remembered.ts';

/** A line of the list, in force from `inicio` to `fim`, both inside, `YYYY-MM-DD`. */
export type ServicoVigente = ServicoMunicipal & { readonly inicio: string; readonly fim: string | undefined };

export type ServicosOfCodes = {
  /** Whether the municipality has a list at all. */
  readonly hasList: boolean;
  /** Lines of the national code or of the municipal one, in the order of municipal code and date. */
  readonly lines: readonly ServicoVigente[];
};

/** A question to the list as a catalog. */
export type ListaAsked = {
  /** `YYYY-MM-DD`: what ended before this day is left out. */
  readonly hoje: string;
  /** As {@link comparable} leaves them; the description contains all. */
  readonly palavras: readonly string[] | undefined;
  readonly cnae: string | undefined;
  readonly limit: number;
  readonly offset: number;
};

export type ServicoListado = ServicoVigente;

export type ServicosListados = {
  readonly hasList: boolean;
  /** How many there are on all pages. */
  readonly total: number;
  readonly lines: readonly ServicoListado[];
};

export type ServicoStore = {
  servicosOf(tenant: string, cTribNac: string, cTribMun: string | undefined): Promise<ServicosOfCodes>;
  /** A page of the list, one line a code: the one in force, or else the next to come. */
  servicosListados(tenant: string, asked: ListaAsked): Promise<ServicosListados>;
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

const SELECT = `select codigo, inicio::text, fim::text, descricao, codigo_tributacao_nacional, cnae_codigo, aliquota
  from servicos_municipais`;

export function servicoStore(pool: Db): ServicoStore {
  const hasList = remembered(async (tenant: string): Promise<boolean> => {
    const text = 'select exists (select 1 from servicos_municipais where tenant = $1) as there';
    const { rows } = await pool.query<{ there: boolean }>({ name: 'has_servicos', text, values: [tenant] });
    return rows[0]!.there;
  });
  const linesOf = async (name: string, column: string, tenant: string, codigos: readonly string[]): Promise<Row[]> => {
    const text = `${SELECT} where tenant = $1 and ${column} = any($2::text[]) order by codigo, inicio`;
    const { rows } = await pool.query<Row>({ name, text, values: [tenant, codigos] });
    return rows;
  };
  const loadNational = batched<readonly ServicoVigente[]>(async (tenant, codigos) =>
    grouped(
      await linesOf('servicos_nacional', 'codigo_tributacao_nacional', tenant, codigos),
      (row) => row.codigo_tributacao_nacional,
    ),
  );
  const loadMunicipal = batched<readonly ServicoVigente[]>(async (tenant, codigos) =>
    grouped(await linesOf('servicos_municipal', 'codigo', tenant, codigos), (row) => row.codigo),
  );
  const national = remembered(async (tenant, codigo) => (await loadNational(tenant!, codigo!)) ?? []);
  const municipal = remembered(async (tenant, codigo) => (await loadMunicipal(tenant!, codigo!)) ?? []);
  return {
    servicosOf: async (tenant, cTribNac, cTribMun) => {
      if (!(await hasList(tenant))) return { hasList: false, lines: [] };
      const [ofNational, ofMunicipal] = await Promise.all([
        national(tenant, cTribNac),
        cTribMun === undefined ? [] : municipal(tenant, cTribMun),
      ]);
      // What both found is one line all the same.
      const others = ofMunicipal.filter((line) => line.cTribNac !== cTribNac);
      return { hasList: true, lines: [...ofNational, ...others] };
    },
    servicosListados: async (tenant, { hoje, palavras, cnae, limit, offset }) => {
      if (!(await hasList(tenant))) return { hasList: false, total: 0, lines: [] };
      const values = [tenant, hoje, palavras, cnae, limit, offset];
      const { rows } = await pool.query<Row | NoRow>({ name: 'servicos_listados', text: LISTADOS, values });
      const lines = rows.filter((row): row is Row => row.codigo !== null);
      return { hasList: true, total: (rows[0] as NoRow).total, lines: lines.map(servicoOf) };
    },
  };
}

/** What stands beside the total where the page has nothing. */
type NoRow = { readonly codigo: null; readonly total: number };

/** Letters of Latin-1, which descriptions are written in, and what {@link comparable} makes of them. */
const LETTERS = Array.from({ length: 0x100 - 0xaa }, (_, place) => String.fromCharCode(0xaa + place)).filter(
  (letter) => comparable(letter).length === 1,
);
const COMPARABLE = `lower(translate(descricao, '${LETTERS.join('')}', '${LETTERS.map(comparable).join('')}'))`;

/** The words of a question have letters and digits alone, so whatever parts the words of a description does no harm. */
const LISTADOS = `with lista as materialized (
    select distinct on (codigo) codigo, inicio, fim, descricao, codigo_tributacao_nacional, cnae_codigo, aliquota
    from servicos_municipais where tenant = $1 and (fim is null or fim >= $2::date)
    order by codigo, inicio
  ), achados as materialized (
    select * from lista where ($4::text is null or cnae_codigo = $4)
      and not exists (select 1 from unnest($3::text[]) as x (palavra) where strpos(${COMPARABLE}, x.palavra) = 0)
  )
  select t.total, p.codigo, p.inicio::text, p.fim::text, p.descricao, p.codigo_tributacao_nacional, p.cnae_codigo, p.aliquota
  from (select count(*)::int as total from achados) t
  left join lateral (select * from achados order by codigo limit $5 offset $6) p on true`;

function grouped(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, ServicoVigente[]> {
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
