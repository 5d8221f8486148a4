/** The tenants, and what each has set: its ambiente, whom it trusts, how it reaches the ADN. Files by their paths alone. */
import type { Ambiente } from '../fiscal/ambiente.ts';
import { type Decimal, formatDecimal, parseDecimal } from '../fiscal/decimal.ts';
import type { Db } from './open.ts';
import { remembered } from './remembered.ts';

export type Municipio = {
  readonly tenant: string;
  readonly ambiente: Ambiente;
  /** Undefined for the sandbox, which is every municipality's. */
  readonly codigoIbge: string | undefined;
  /** ISS rate of every service while there is no service list. */
  readonly aliquotaPadrao: Decimal | undefined;
  readonly confianca: Confianca;
  readonly adn: AcessoAdn | undefined;
};

/** Directories, absolute; without `ancoras` the national roots that come with the program. */
export type Confianca = { readonly ancoras: string | undefined; readonly revogados: string | undefined };

/** Files, absolute; without `ca` the authorities that the operating system trusts. */
export type AcessoAdn = { readonly url: string; readonly ca: string | undefined; readonly chaves: ChavesAdn };

/** `senhaArquivo`: a file with the password in its first line; a key in PEM may have none. */
export type ChavesAdn =
  | { readonly certificado: string; readonly chave: string; readonly senhaArquivo?: string | undefined }
  | { readonly pfx: string; readonly senhaArquivo: string };

/** A municipality as it is opened: what is not said is not set. */
export type NovoMunicipio = Pick<Municipio, 'tenant' | 'ambiente' | 'codigoIbge'> & Partial<Municipio>;

export type MunicipioStore = {
  municipioBySlug(slug: string): Promise<Municipio | undefined>;
  /** All of them, in the order of their slugs. */
  municipios(): Promise<readonly Municipio[]>;
  /** Opens a tenant; false when one is there already, which stays as it is. */
  createMunicipio(municipio: NovoMunicipio, now: number): Promise<boolean>;
  /** Writes all that a tenant has set; false when there is no such tenant. */
  updateMunicipio(municipio: Municipio): Promise<boolean>;
  /** Whether a tenant has ever numbered a note. */
  hasIssued(tenant: string): Promise<boolean>;
  /** Establishments, and lines of the service list. */
  countCadastro(tenant: string): Promise<{ readonly prestadores: number; readonly servicos: number }>;
};

const COLUMNS = `ambiente, codigo_ibge, aliquota_padrao, ancoras, revogados, adn_url, adn_ca, adn_certificado, adn_chave,
  adn_pfx, adn_senha_arquivo`;

type Row = {
  tenant: string;
  ambiente: Ambiente;
  codigo_ibge: string | null;
  aliquota_padrao: string | null;
  ancoras: string | null;
  revogados: string | null;
  adn_url: string | null;
  adn_ca: string | null;
  adn_certificado: string | null;
  adn_chave: string | null;
  adn_pfx: string | null;
  adn_senha_arquivo: string | null;
};

export function municipioStore(pool: Db): MunicipioStore {
  const bySlug = remembered(async (slug: string): Promise<Municipio | undefined> => {
    const { rows } = await pool.query<Row>(`select tenant, ${COLUMNS} from municipios where tenant = $1`, [slug]);
    return rows[0] && municipioOf(rows[0]);
  });
  return {
    municipioBySlug: bySlug,
    municipios: async () => {
      const { rows } = await pool.query<Row>(`select tenant, ${COLUMNS} from municipios order by tenant`);
      return rows.map(municipioOf);
    },
    createMunicipio: async (municipio, now) => {
      const text = `insert into municipios (tenant, ${COLUMNS}, criado_em)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict (tenant) do nothing`;
      const { rowCount } = await pool.query(text, [...valuesOf(municipio), new Date(now)]);
      return rowCount === 1;
    },
    updateMunicipio: async (municipio) => {
      const text = `update municipios set (${COLUMNS}) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) where tenant = $1`;
      const { rowCount } = await pool.query(text, valuesOf(municipio));
      return rowCount === 1;
    },
    hasIssued: async (tenant) => {
      const text = 'select exists (select 1 from numeracao where tenant = $1) as issued';
      const { rows } = await pool.query<{ issued: boolean }>(text, [tenant]);
      return rows[0]!.issued;
    },
    countCadastro: async (tenant) => {
      const text = `select (select count(*)::int from prestadores where tenant = $1) as prestadores,
        (select count(*)::int from servicos_municipais where tenant = $1) as servicos`;
      const { rows } = await pool.query<{ prestadores: number; servicos: number }>(text, [tenant]);
      return rows[0]!;
    },
  };
}

function municipioOf(row: Row): Municipio {
  return {
    tenant: row.tenant,
    ambiente: row.ambiente,
    codigoIbge: row.codigo_ibge ?? undefined,
    aliquotaPadrao: row.aliquota_padrao === null ? undefined : parseDecimal(row.aliquota_padrao),
    confianca: { ancoras: row.ancoras ?? undefined, revogados: row.revogados ?? undefined },
    adn: adnOf(row),
  };
}

/** The constraint on the table has one of the two pairs complete wherever there is an address. */
function adnOf(row: Row): AcessoAdn | undefined {
  if (row.adn_url === null) return undefined;
  const chaves =
    row.adn_pfx === null
      ? { certificado: row.adn_certificado!, chave: row.adn_chave!, senhaArquivo: row.adn_senha_arquivo ?? undefined }
      : { pfx: row.adn_pfx, senhaArquivo: row.adn_senha_arquivo! };
  return { url: row.adn_url, ca: row.adn_ca ?? undefined, chaves };
}

/** In the order of the tenant and {@link COLUMNS}. */
function valuesOf({ tenant, ambiente, codigoIbge, aliquotaPadrao, confianca, adn }: NovoMunicipio): unknown[] {
  const chaves: Partial<Record<'certificado' | 'chave' | 'pfx' | 'senhaArquivo', string | undefined>> =
    adn?.chaves ?? {};
  return [
    tenant,
    ambiente,
    codigoIbge,
    aliquotaPadrao === undefined ? undefined : formatDecimal(aliquotaPadrao),
    confianca?.ancoras,
    confianca?.revogados,
    adn?.url,
    adn?.ca,
    chaves.certificado,
    chaves.chave,
    chaves.pfx,
    chaves.senhaArquivo,
  ];
}
