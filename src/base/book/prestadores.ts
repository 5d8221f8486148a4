/** The municipal registry: establishments, and providers that their first DPS adds in the sandbox. */
import type { Prestador } from '../../fiscal/facts.ts';
import { type StoredColumns, splitColumns } from '../../fiscal/registers.ts';
import { batchLookups } from '../pg/batch-lookups.ts';
import { cacheReads } from '../pg/cache-reads.ts';
import { readsOf } from '../pg/merge.ts';
import { asArrays, planMergeable } from '../pg/mergeable.ts';
import type { Db } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { planOnce } from '../pg/planned.ts';
import { listColumns, unnestRows } from '../pg/sql.ts';
import { insertRegistradas } from './auditoria-entradas.ts';
import { UNLESS_IMPORTING } from './staging.ts';

type Row = StoredColumns<'prestadores'> & { simples: readonly (readonly [string, string | null])[] | null };

const { key: KEY, told: TOLD } = splitColumns('prestadores');

const OF_DOCUMENTS = planMergeable<string>(
  'prestadores_of',
  asArrays([['documento text', (documento) => documento]]),
  ({ rows, tenant }) => `select p.tenant, ${listColumns('p', [...KEY, ...TOLD])},
    (select json_agg(json_build_array(s.inicio, s.fim) order by s.inicio) from simples_nacional s
      where s.tenant = ${tenant} and s.documento = p.documento) as simples
    from ${rows} join prestadores p on p.tenant = ${tenant} and p.documento = x.documento
    where x.documento || '' = x.documento order by p.documento, p.inscricao_comparavel`,
);

export function prestadorStore(pool: Db) {
  const load = batchLookups<readonly Prestador[]>(async (tenant, documentos) => {
    const { rows } = await readsOf(pool).query<Row>(OF_DOCUMENTS(tenant, documentos));
    const found = Map.groupBy(rows, ({ documento }) => documento);
    return new Map([...found].map(([documento, same]) => [documento, same.map(prestadorOf)]));
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

/** A provider that a note brought, and the moment of the note. */
type Brought = { readonly prestador: Prestador; readonly em: number };

const BROUGHT = unnestRows<Brought>(
  [
    ['documento text', ({ prestador }) => prestador.documento],
    ['inscricao_municipal text', ({ prestador }) => prestador.inscricaoMunicipal ?? ''],
    ['razao_social text', ({ prestador }) => prestador.razaoSocial],
    ['logradouro text', ({ prestador }) => prestador.endereco.xLgr],
    ['numero text', ({ prestador }) => prestador.endereco.nro],
    ['bairro text', ({ prestador }) => prestador.endereco.xBairro],
    ['cep text', ({ prestador }) => prestador.endereco.CEP],
    ['criado_em timestamptz', ({ em }) => new Date(em).toISOString()],
  ],
  2,
);

const INSERT = planOnce(
  'insert_prestadores',
  `insert into prestadores (tenant, autorizado, origem, ${BROUGHT.names.join(', ')})
  select m.tenant, true, 'dps', ${listColumns('x', BROUGHT.names)} from municipios m cross join ${BROUGHT.relation}
  where m.tenant = $1 ${UNLESS_IMPORTING}
  on conflict (tenant, documento, inscricao_comparavel) do nothing returning documento, inscricao_comparavel as inscricao`,
);

/** Each row is looked up by its whole key, as in `lookUpLines` (`listas.ts`). */
const THESE = `from unnest($6::text[], $7::text[]) as x (documento, inscricao) cross join lateral (
    select * from prestadores p where p.tenant = $1 and p.documento = x.documento and p.inscricao_comparavel = x.inscricao offset 0
  ) t`;

/**
 * Inserts the providers that the notes of this transaction bring; a known one stays unchanged. During an import nothing is inserted,
 * because the transaction would wait for its rows. A later note brings the provider then.
 */
export async function insertPrestadoresOfDps(
  client: PoolClient,
  tenant: string,
  brought: readonly Brought[],
): Promise<void> {
  const first = new Map(brought.toReversed().map((one) => [one.prestador.documento, one]));
  const inOrder = [...first.values()].sort((a, b) => (a.prestador.documento < b.prestador.documento ? -1 : 1));
  type Key = { readonly documento: string; readonly inscricao: string };
  const { rows } = await client.query<Key>(INSERT([tenant, ...BROUGHT.valuesOf(inOrder)]));
  if (rows.length === 0) return;
  const values = [rows.map(({ documento }) => documento), rows.map(({ inscricao }) => inscricao)];
  await insertRegistradas(client, tenant, 'prestadores', { from: THESE, values });
}
