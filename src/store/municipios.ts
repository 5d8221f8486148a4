/** The tenants, and what each has set: its ambiente, whom it trusts, how it reaches the ADN. Files by their paths alone. */
import type { Ambiente } from '../fiscal/ambiente.ts';
import { type Decimal, formatDecimal, parseDecimal } from '../fiscal/decimal.ts';
import { LISTA_TABLES } from './listas.ts';
import { type Db, SHORT_LOCK_MS, transaction, writeAlone } from './open.ts';
import type { PoolClient } from './pg.ts';
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
  /** What a national rule does that the specification does not name (D-86); undefined: as in its ambiente. */
  readonly regrasNacionais: 'recusa' | 'avisa' | undefined;
  /** Who may read a note by the identifier of its DPS (D-41); undefined: as in its ambiente. */
  readonly consultaDps: 'publica' | 'parte' | undefined;
  /** A DPS without number is refused (D-215). */
  readonly exigeNumero?: boolean;
  /** The request of an event that does not name its note is refused (D-228). */
  readonly exigeNotaNoEvento?: boolean;
  /** The legacy port takes RSA-SHA1 with inclusive canonicalisation too (D-70). */
  readonly soapSha1?: boolean;
  /** Target namespace of the legacy port; undefined: the usual one. */
  readonly soapNamespace?: string | undefined;
  /** Documents of an address of the network, and of a provider, in the time of its ambiente; 0: no limit; undefined: as in its ambiente. */
  readonly limiteEndereco?: number | undefined;
  readonly limitePrestador?: number | undefined;
  /** Days that a rehearsal keeps what it stores; 0: for ever; undefined: as in its ambiente. */
  readonly guardaDias?: number | undefined;
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

/** `desde`: since when it is this one; `vistoEm`: when it was last met, to the minute. Milliseconds. */
export type TransmissionProblem = { readonly problema: string; readonly desde: number; readonly vistoEm: number };

export type MunicipioStore = {
  findBySlug(slug: string): Promise<Municipio | undefined>;
  /** All of them, in the order of their slugs. */
  list(): Promise<readonly Municipio[]>;
  /** Another tenant in production with this IBGE code. */
  findInProducao(codigoIbge: string, except: string): Promise<string | undefined>;
  /**
   * Opens a tenant; false when one is there already, which stays as it is, or when its code has another tenant in
   * production.
   */
  create(municipio: NovoMunicipio, now: number): Promise<boolean>;
  /**
   * Writes all that a tenant has set; false when there is no such tenant, or when it would come to share its code with
   * another one in production.
   */
  update(municipio: Municipio): Promise<boolean>;
  /** Whether a tenant has ever numbered a note. */
  hasIssued(tenant: string): Promise<boolean>;
  /** Takes a tenant away with its registry and settings; false when it has numbered a note, or when there is none. */
  delete(tenant: string): Promise<boolean>;
  /**
   * Tells why the notes of a tenant are not being transmitted, in Portuguese; undefined: they are again. `at` in
   * milliseconds. To be called after every delivery: it writes when something changed, and at most once a minute otherwise.
   * `isVague`: a problem that is known already says more, and stays.
   */
  noteProblem(tenant: string, problem: string | undefined, at: number, isVague?: boolean): Promise<void>;
  /** What was told last, while it lasts. */
  findProblem(tenant: string): Promise<TransmissionProblem | undefined>;
  /** Establishments of the registry. */
  countPrestadores(tenant: string): Promise<number>;
};

/** A problem that lasts is written again this often, so that it is seen to last, and what another process wrote is mended. */
const PROBLEM_FRESH_MS = 60_000;
/** Far beyond any sentence of ours; an answer from outside may be part of one. */
const PROBLEM_CHARS_MAX = 2_000;

const COLUMNS = `ambiente, codigo_ibge, aliquota_padrao, ancoras, revogados, adn_url, adn_ca, adn_certificado, adn_chave,
  adn_pfx, adn_senha_arquivo, regras_nacionais, consulta_dps, soap_sha1, soap_namespace, exige_numero,
  exige_nota_no_evento, limite_endereco, limite_prestador, guarda_dias`;

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
  regras_nacionais: Municipio['regrasNacionais'] | null;
  consulta_dps: Municipio['consultaDps'] | null;
  soap_sha1: boolean;
  soap_namespace: string | null;
  exige_numero: boolean;
  exige_nota_no_evento: boolean;
  limite_endereco: number | null;
  limite_prestador: number | null;
  guarda_dias: number | null;
};

export function municipioStore(pool: Db): MunicipioStore {
  const bySlug = remembered(async (slug: string): Promise<Municipio | undefined> => {
    const { rows } = await pool.query<Row>(`select tenant, ${COLUMNS} from municipios where tenant = $1`, [slug]);
    return rows[0] && municipioOf(rows[0]);
  });
  /** What this process told last of each tenant. */
  const told = new Map<string, { readonly problema: string | undefined; readonly at: number }>();
  return {
    findBySlug: bySlug,
    list: async () => {
      const { rows } = await pool.query<Row>(`select tenant, ${COLUMNS} from municipios order by tenant`);
      return rows.map(municipioOf);
    },
    findInProducao: async (codigoIbge, except) => {
      const text = `select tenant from municipios where codigo_ibge = $1 and ambiente = 'producao' and tenant <> $2
        order by tenant limit 1`;
      return (await pool.query<{ tenant: string }>(text, [codigoIbge, except])).rows[0]?.tenant;
    },
    create: (municipio, now) =>
      transaction(pool, async (client) => {
        await lockCode(client, municipio);
        const text = `insert into municipios (tenant, ${COLUMNS}, criado_em)
          select $1::text, $2::text, $3::text, $4::numeric, $5::text, $6::text, $7::text, $8::text, $9::text, $10::text,
            $11::text, $12::text, $13::text, $14::text, $15::boolean, $16::text, $17::boolean, $18::boolean,
            $19::integer, $20::integer, $21::integer, $22::timestamptz
          where ${CODE_IS_FREE} on conflict (tenant) do nothing`;
        const { rowCount } = await client.query(text, [...valuesOf(municipio), new Date(now)]);
        return rowCount === 1;
      }),
    update: (municipio) =>
      transaction(pool, async (client) => {
        await lockCode(client, municipio);
        // Two that share a code from before can still be mended in everything else.
        const text = `update municipios set (${COLUMNS}) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
            $17, $18, $19, $20, $21)
          where tenant = $1 and ((ambiente, codigo_ibge) is not distinct from ($2::text, $3::text) or ${CODE_IS_FREE})`;
        const { rowCount } = await client.query(text, valuesOf(municipio));
        return rowCount === 1;
      }),
    hasIssued: async (tenant) => {
      const text = 'select exists (select 1 from numeracao where tenant = $1) as issued';
      const { rows } = await pool.query<{ issued: boolean }>(text, [tenant]);
      return rows[0]!.issued;
    },
    delete: (tenant) =>
      transaction(pool, async (client) => {
        // Whoever adds a row that names the tenant, as every issuance does, waits for this lock, or this lock for them.
        const { rowCount } = await client.query('select 1 from municipios where tenant = $1 for update', [tenant]);
        if (rowCount === 0) return false;
        // A sequence without a note counts too: a process may hold a block of it, which a namesake would number again.
        const text = `select exists (select 1 from numeracao where tenant = $1)
          or exists (select 1 from sequencias where tenant = $1) or exists (select 1 from notas where tenant = $1) as used`;
        const { rows } = await client.query<{ used: boolean }>(text, [tenant]);
        if (rows[0]!.used) return false;
        for (const table of OWNED) await client.query(`delete from ${table} where tenant = $1`, [tenant]);
        return true;
      }),
    noteProblem: async (tenant, problem, at, isVague = false) => {
      const before = told.get(tenant);
      const problema = (isVague ? (before?.problema ?? problem) : problem)?.slice(0, PROBLEM_CHARS_MAX);
      if (before !== undefined && before.problema === problema && Math.abs(at - before.at) < PROBLEM_FRESH_MS) return;
      told.set(tenant, { problema, at });
      const moment = new Date(at);
      try {
        // It is told again soon: what is transmitted does not wait for it.
        const short = { lockMs: SHORT_LOCK_MS };
        if (problema === undefined) await writeAlone(pool, { text: SOLVED, values: [tenant, moment] }, short);
        else await writeAlone(pool, { text: PROBLEM, values: [tenant, problema, moment, isVague] }, short);
      } catch (error) {
        told.delete(tenant);
        throw error;
      }
    },
    findProblem: async (tenant) => {
      const text = 'select problema, desde, visto_em from transmissoes where tenant = $1 and problema is not null';
      const { rows } = await pool.query<{ problema: string; desde: Date; visto_em: Date }>(text, [tenant]);
      return rows[0] && { problema: rows[0].problema, desde: +rows[0].desde, vistoEm: +rows[0].visto_em };
    },
    countPrestadores: async (tenant) => {
      const text = 'select count(*)::int as count from prestadores where tenant = $1';
      const { rows } = await pool.query<{ count: number }>(text, [tenant]);
      return rows[0]!.count;
    },
  };
}

/**
 * A municipality numbers its notes in one place: two tenants in production under one code would accept the same DPS twice.
 * No unique index says so, because one that does not begin with the tenant cannot be kept once the schema is distributed by
 * tenant; so the statement that writes looks, under a lock of the code. Rehearsals (homologacao) may share one.
 */
const CODE_IS_FREE = `($2::text <> 'producao' or not exists (select 1 from municipios other
  where other.codigo_ibge = $3::text and other.ambiente = 'producao' and other.tenant <> $1::text))`;

/** Until the end of the transaction; a statement of its own, so that the next one sees what the one before us wrote. */
async function lockCode(client: PoolClient, { ambiente, codigoIbge }: NovoMunicipio): Promise<void> {
  if (ambiente !== 'producao' || codigoIbge === undefined) return;
  await client.query(`select pg_advisory_xact_lock(hashtextextended('municipio ' || $1::text, 0))`, [codigoIbge]);
}

/** Tables that have something of a tenant without notes, those that name others first. */
const OWNED = [
  'documentos_lotes',
  'lotes_rps',
  'lotes',
  'correlacoes_legadas',
  'idempotencia',
  'simples_nacional',
  'prestadores',
  ...LISTA_TABLES,
  'certificados',
  'recepcoes_adn',
  'transmissoes',
  'municipios',
];

/** A tenant that is gone meanwhile is told of no more. */
const PROBLEM = `insert into transmissoes as t (tenant, problema, desde, visto_em)
  select tenant, $2::text, $3::timestamptz, $3::timestamptz from municipios where tenant = $1
  on conflict (tenant) do update set visto_em = excluded.visto_em,
    problema = case when $4::boolean then coalesce(t.problema, excluded.problema) else excluded.problema end,
    desde = case when t.problema is null or (not $4::boolean and t.problema <> excluded.problema) then excluded.desde
      else t.desde end`;

const SOLVED = `update transmissoes set problema = null, desde = null, visto_em = $2
  where tenant = $1 and problema is not null`;

function municipioOf(row: Row): Municipio {
  return {
    tenant: row.tenant,
    ambiente: row.ambiente,
    codigoIbge: row.codigo_ibge ?? undefined,
    aliquotaPadrao: row.aliquota_padrao === null ? undefined : parseDecimal(row.aliquota_padrao),
    confianca: { ancoras: row.ancoras ?? undefined, revogados: row.revogados ?? undefined },
    adn: adnOf(row),
    regrasNacionais: row.regras_nacionais ?? undefined,
    consultaDps: row.consulta_dps ?? undefined,
    soapSha1: row.soap_sha1,
    soapNamespace: row.soap_namespace ?? undefined,
    exigeNumero: row.exige_numero,
    exigeNotaNoEvento: row.exige_nota_no_evento,
    limiteEndereco: row.limite_endereco ?? undefined,
    limitePrestador: row.limite_prestador ?? undefined,
    guardaDias: row.guarda_dias ?? undefined,
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
function valuesOf(municipio: NovoMunicipio): unknown[] {
  const { tenant, ambiente, codigoIbge, aliquotaPadrao, confianca, adn, regrasNacionais, consultaDps } = municipio;
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
    regrasNacionais,
    consultaDps,
    municipio.soapSha1 ?? false,
    municipio.soapNamespace,
    municipio.exigeNumero ?? false,
    municipio.exigeNotaNoEvento ?? false,
    municipio.limiteEndereco,
    municipio.limitePrestador,
    municipio.guardaDias,
  ];
}
