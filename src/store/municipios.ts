/** The tenants, and what a municipality has set: today its ambiente, its IBGE code and its service list. */
import type { Ambiente } from '../fiscal/ambiente.ts';
import { parseDecimal } from '../fiscal/decimal.ts';
import type { ServicoMunicipal } from '../fiscal/facts.ts';
import type { Db } from './open.ts';
import { remembered } from './remembered.ts';

export type Municipio = {
  readonly tenant: string;
  readonly ambiente: Ambiente;
  /** Undefined for the sandbox, which is every municipality's. */
  readonly codigoIbge: string | undefined;
};

export type ServicoVigente = ServicoMunicipal & { readonly inicio: string; readonly fim: string | undefined };

export type MunicipioStore = {
  municipioBySlug(slug: string): Promise<Municipio | undefined>;
  /** The municipal service list, empty when the municipality has none. */
  servicosOf(tenant: string): Promise<readonly ServicoVigente[]>;
  /** Opens a tenant; one that is there already stays as it is. */
  createMunicipio(municipio: Municipio, now: number): Promise<void>;
};

export function municipioStore(pool: Db): MunicipioStore {
  const bySlug = remembered(async (slug: string): Promise<Municipio | undefined> => {
    const text = 'select tenant, ambiente, codigo_ibge from municipios where tenant = $1';
    const { rows } = await pool.query<{ tenant: string; ambiente: Ambiente; codigo_ibge: string | null }>(text, [slug]);
    const row = rows[0];
    return row && { tenant: row.tenant, ambiente: row.ambiente, codigoIbge: row.codigo_ibge ?? undefined };
  });
  const servicos = remembered(async (tenant: string): Promise<readonly ServicoVigente[]> => {
    const text = `select codigo, inicio::text, fim::text, descricao, codigo_tributacao_nacional, cnae_codigo, aliquota
      from servicos_municipais where tenant = $1 order by codigo, inicio`;
    const { rows } = await pool.query(text, [tenant]);
    return rows.map((row) => ({
      codigo: row.codigo,
      descricao: row.descricao,
      cTribNac: row.codigo_tributacao_nacional,
      cnae: row.cnae_codigo ?? undefined,
      aliquota: row.aliquota === null ? undefined : parseDecimal(row.aliquota),
      inicio: row.inicio,
      fim: row.fim ?? undefined,
    }));
  });
  return {
    municipioBySlug: bySlug,
    servicosOf: servicos,
    createMunicipio: async ({ tenant, ambiente, codigoIbge }, now) => {
      const text = `insert into municipios (tenant, ambiente, codigo_ibge, criado_em) values ($1, $2, $3, $4)
        on conflict (tenant) do nothing`;
      await pool.query(text, [tenant, ambiente, codigoIbge ?? null, new Date(now)]);
    },
  };
}
