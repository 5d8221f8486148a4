/** The acts of an import on each provider that it brings, changes or takes away: one statement for all, from the kept changes (D-851). */
import type { PoolClient } from '../pg/pg.ts';
import { insertRegistradas } from './auditoria-entradas.ts';
import type { Importacao } from './importacoes.ts';

/** Columns that say nothing to people. */
const INTERNAL = "'{tenant,documento,origem,criado_em,inscricao_comparavel}'::text[]";

/** SQL: the fields of a row that the other one does not have, or has otherwise. */
const differing = (
  row: string,
  other: string,
): string => `(select jsonb_object_agg(k.key, k.value) from jsonb_each(l.${row}) k
    where k.key <> all (${INTERNAL}) and k.value is distinct from l.${other} -> k.key and jsonb_typeof(k.value) <> 'null')`;

/** The identifier follows from the row: Citus takes no chance in a statement that inserts what it selects. */
const INSERT = `insert into atos (tenant, em, id, quem, via, objeto, chave, acao, antes, depois)
  select l.tenant, $3::timestamptz, md5(l.importacao || ' ' || l.tabela || ' ' || l.chave)::uuid, $4, $5, 'prestador', split_part(l.chave, ' ', 1),
    case when l.antes is null then 'importado' when l.depois is null then 'retirado por importação' else 'alterado por importação' end,
    ${differing('antes', 'depois')}, jsonb_build_object('arquivo', $6::text) || coalesce(${differing('depois', 'antes')}, '{}')
  from mudancas_importadas l where l.tenant = $1 and l.importacao = $2::uuid
  returning id`;

/** Writes an act for each row of the register of providers that an import has changed, in its transaction. */
export async function insertAtosDaImportacao(
  client: PoolClient,
  tenant: string,
  { id, em, quem, via, arquivo, registro }: Importacao,
): Promise<void> {
  if (registro !== 'prestadores') return;
  const at = new Date(em).toISOString();
  const { rows } = await client.query<{ id: string }>(INSERT, [tenant, id, at, quem, via, arquivo]);
  if (rows.length === 0) return;
  const values = [at, rows.map((row) => row.id)];
  await insertRegistradas(client, tenant, 'atos', {
    which: 't.em = $6::timestamptz and t.id = any($7::uuid[])',
    values,
  });
}
