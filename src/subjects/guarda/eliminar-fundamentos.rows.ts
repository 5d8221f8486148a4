/**
 * Removes the bases of judgement (authorities and revocation lists) that no kept document names after a month is eliminated. The database
 * rows of archive files list the bases in them, so that no file is read.
 */
import { folhasApagadas, insertEntrada, takeAway } from '../../base/book/auditoria-entradas.ts';
import type { PoolClient } from '../../base/pg/pg.ts';

type Client = Pick<PoolClient, 'query'>;

/** Rows that are unused after a month is gone, by their keys. */
export type Sobras = {
  readonly fundamentos: readonly number[];
  readonly listas_revogados: readonly Buffer[];
  readonly certificados: readonly Buffer[];
};

/** $1 tenant, $2 month: the bases that rows of other months name. Events go with the month of their note. */
const NAMED = `select confianca as id from documentos where tenant = $1 and mes <> $2 and confianca is not null
  union select d.confianca from documentos_eventos d join eventos e on e.tenant = $1 and e.id = d.evento
    where d.tenant = $1 and d.confianca is not null and e.mes_nota <> $2
  union select confianca from documentos_lotes where tenant = $1 and mes <> $2 and confianca is not null
  union select unnest(a.fundamentos) from arquivos a join meses m on m.mes = a.mes and m.arquivado_em is not null
    where a.tenant = $1 and a.mes <> $2`;

/** A file with unknown references keeps all bases. */
const UNKNOWN = `select 1 from arquivos a join meses m on m.mes = a.mes and m.arquivado_em is not null
  where a.tenant = $1 and a.mes <> $2 and a.fundamentos is null limit 1`;

/**
 * The newest basis stays, since its number would be given again. A basis first used after the month ($3) stays too. The row of the
 * municipality is locked, so that no new basis is stored meanwhile.
 */
const FUNDAMENTOS = `select f.id from fundamentos f where f.tenant = $1 and f.em < $3
    and f.id < (select max(id) from fundamentos where tenant = $1) and f.id not in (${NAMED}) order by f.id`;

const LISTAS = `select distinct x.impressao from fundamentos f cross join unnest(f.listas) x (impressao)
  where f.tenant = $1 and f.id = any ($2::int[])
    and not exists (select 1 from fundamentos k where k.tenant = $1 and k.id <> all ($2::int[]) and x.impressao = any (k.listas))`;

/** $2: the bases that go; $3: the month. The present signer's certificate is safe, since newer rows also name it. */
const CERTIFICADOS = `select x.impressao from (
    select unnest(f.cadeia) as impressao from fundamentos f where f.tenant = $1 and f.id = any ($2::int[])
    union select certificado from notas where tenant = $1 and mes = $3
    union select certificado from eventos where tenant = $1 and mes_nota = $3
    union select certificado from documentos where tenant = $1 and mes = $3
  ) x join certificados c on c.tenant = $1 and c.impressao = x.impressao
  where x.impressao not in (
    select unnest(f.cadeia) from fundamentos f where f.tenant = $1 and f.id <> all ($2::int[])
    union select certificado from notas where tenant = $1 and mes <> $3 and certificado is not null
    union select certificado from eventos where tenant = $1 and mes_nota <> $3 and certificado is not null
    union select certificado from documentos where tenant = $1 and mes <> $3 and certificado is not null)`;

/** Runs before any row of the month is deleted. `after`: the first moment after the month. */
export async function findSobras(client: Client, tenant: string, mes: number, after: Date): Promise<Sobras> {
  await client.query('select 1 from municipios where tenant = $1 for no key update', [tenant]);
  const isUnknown = (await client.query(UNKNOWN, [tenant, mes])).rowCount !== 0;
  const spare = isUnknown ? [] : (await client.query<{ id: number }>(FUNDAMENTOS, [tenant, mes, after])).rows;
  const ids = spare.map(({ id }) => id);
  type Row = { readonly impressao: Buffer };
  const listas = (await client.query<Row>(LISTAS, [tenant, ids])).rows;
  const certificados = (await client.query<Row>(CERTIFICADOS, [tenant, ids, mes])).rows;
  return {
    fundamentos: ids,
    listas_revogados: listas.map(({ impressao }) => impressao),
    certificados: certificados.map(({ impressao }) => impressao),
  };
}

/** Number of rows for each table. */
export function countSobras(sobras: Sobras): Readonly<Record<keyof Sobras, number>> {
  const { fundamentos, listas_revogados, certificados } = sobras;
  return {
    fundamentos: fundamentos.length,
    listas_revogados: listas_revogados.length,
    certificados: certificados.length,
  };
}

/** Runs in the transaction that deletes the month. */
export async function deleteSobras(client: Client, tenant: string, sobras: Sobras, sobre: string): Promise<void> {
  const { fundamentos, listas_revogados, certificados } = sobras;
  const taken = takeAway('fundamentos', 'delete from fundamentos t where t.tenant = $1 and t.id = any ($2::int[])');
  const { rows } = await client.query<{ item: string }>(taken, [tenant, fundamentos]);
  await insertEntrada(client, tenant, folhasApagadas(rows), sobre);
  for (const [table, prints] of Object.entries({ listas_revogados, certificados })) {
    await client.query(`delete from ${table} where tenant = $1 and impressao = any ($2::bytea[])`, [tenant, prints]);
  }
}
