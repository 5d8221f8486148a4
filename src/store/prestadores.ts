/** The municipal registry: establishments and what a provider's first DPS adds in the sandbox. */
import type { Prestador } from '../fiscal/facts.ts';
import { batchLookups } from './batch-lookups.ts';
import { cacheReads } from './cache-reads.ts';
import type { Db } from './open.ts';
import type { PoolClient } from './pg.ts';
import { mayWrite } from './staging.ts';

type Row = {
  documento: string;
  inscricao_municipal: string;
  razao_social: string;
  nome_fantasia: string | null;
  autorizado: boolean;
  logradouro: string;
  numero: string;
  complemento: string | null;
  bairro: string;
  cep: string;
  fone: string | null;
  email: string | null;
  simples: readonly (readonly [string, string | null])[] | null;
};

export function prestadorStore(pool: Db) {
  const load = batchLookups<readonly Prestador[]>(async (tenant, documentos) => {
    const text = `select documento, inscricao_municipal, razao_social, nome_fantasia, autorizado, logradouro, numero,
      complemento, bairro, cep, fone, email,
      (select json_agg(json_build_array(s.inicio, s.fim) order by s.inicio) from simples_nacional s
        where s.tenant = $1 and s.documento = p.documento) as simples
      from prestadores p where tenant = $1 and documento = any($2::text[]) order by documento, inscricao_comparavel`;
    const { rows } = await pool.query<Row>({ name: 'prestadores_of', text, values: [tenant, documentos] });
    const found = new Map<string, Prestador[]>();
    for (const row of rows) {
      const prestador = prestadorOf(row);
      const twins = found.get(row.documento);
      if (twins === undefined) found.set(row.documento, [prestador]);
      else twins.push(prestador);
    }
    return found;
  });
  const establishments = cacheReads(
    async (tenant, documento): Promise<readonly Prestador[]> => (await load(tenant!, documento!)) ?? [],
    (found) => found.length > 0,
  );
  return {
    /** All establishments of a document, in the order of their municipal registration. */
    listOf: (tenant: string, documento: string): Promise<readonly Prestador[]> => establishments(tenant, documento),
  };
}

function prestadorOf(row: Row): Prestador {
  return {
    documento: row.documento,
    razaoSocial: row.razao_social,
    nomeFantasia: row.nome_fantasia ?? undefined,
    inscricaoMunicipal: row.inscricao_municipal === '' ? undefined : row.inscricao_municipal,
    autorizado: row.autorizado,
    endereco: {
      xLgr: row.logradouro,
      nro: row.numero,
      xCpl: row.complemento ?? undefined,
      xBairro: row.bairro,
      CEP: row.cep,
    },
    fone: row.fone ?? undefined,
    email: row.email ?? undefined,
    simples: (row.simples ?? []).map(([inicio, fim]) => ({ inicio, fim: fim ?? undefined })),
  };
}

/**
 * Providers that the notes of this transaction bring with them; one that somebody else brought first stays as it is.
 * While an import is being merged they are left to a later note, because this one would have to wait for its rows.
 */
export async function insertPrestadoresOfDps(
  client: PoolClient,
  tenant: string,
  news: readonly { readonly prestador: Prestador; readonly em: number }[],
): Promise<void> {
  const first = new Map(
    news.map((one) => [one.prestador.documento, one]).toReversed() as [string, (typeof news)[number]][],
  );
  const list = [...first.values()].sort((a, b) => (a.prestador.documento < b.prestador.documento ? -1 : 1));
  const text = `insert into prestadores (tenant, documento, inscricao_municipal, razao_social, autorizado, logradouro, numero,
      bairro, cep, origem, criado_em)
    select $1, x.documento, x.im, x.nome, true, x.logradouro, x.numero, x.bairro, x.cep, 'dps', x.em
    from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[])
      as x (documento, im, nome, logradouro, numero, bairro, cep, em)
    where ${mayWrite}
    on conflict (tenant, documento, inscricao_comparavel) do nothing`;
  await client.query({
    name: 'insert_prestadores',
    text,
    values: [
      tenant,
      list.map(({ prestador }) => prestador.documento),
      list.map(({ prestador }) => prestador.inscricaoMunicipal ?? ''),
      list.map(({ prestador }) => prestador.razaoSocial),
      list.map(({ prestador }) => prestador.endereco.xLgr),
      list.map(({ prestador }) => prestador.endereco.nro),
      list.map(({ prestador }) => prestador.endereco.xBairro),
      list.map(({ prestador }) => prestador.endereco.CEP),
      list.map(({ em }) => new Date(em).toISOString()),
    ],
  });
}
