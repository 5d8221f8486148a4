/** The registry of providers for its operator: pages of a search, and changes of single providers. */
import { insertAtos, type NovoAto } from '../../base/book/atos.ts';
import { folhasApagadas, insertEntrada, insertRegistradas, takeAway } from '../../base/book/auditoria-entradas.ts';
import { probeChange } from '../../base/book/importacoes.ts';
import { lockRegistry } from '../../base/book/staging.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';
import { listColumns } from '../../base/pg/sql.ts';
import { type StoredColumns, splitColumns } from '../../fiscal/registers.ts';

/** An establishment by the columns of its file. `simples`: periods in days `YYYY-MM-DD`; a null end: the period goes on. */
export type PrestadorListado = StoredColumns<'prestadores'> & {
  readonly simples: readonly (readonly [inicio: string, fim: string | null])[];
};

/** All conditions together. `inicio`: prefix of the document; either that or the registration. */
export type PrestadorProcurado = {
  readonly documento?: string | undefined;
  readonly inscricao?: string | undefined;
  readonly inicio?: string | undefined;
  /** Capital letters without accents. */
  readonly palavras?: readonly string[] | undefined;
  readonly autorizado?: boolean | undefined;
};

/** Letters as `wordsOf` writes them. `upper` leaves accented letters unchanged in a database with the locale C. */
const [ACCENTED, LETTERS] = ['ÁÀÂÃÄÉÈÊËÍÌÎÏÓÒÔÕÖÚÙÛÜÇÑ', 'AAAAAEEEEIIIIOOOOOUUUUCN'] as const;
const PLAIN = `translate(upper(p.razao_social || ' ' || coalesce(p.nome_fantasia, '')), '${ACCENTED}${ACCENTED.toLowerCase()}', '${LETTERS}${LETTERS}')`;

const { key: KEY, told: TOLD } = splitColumns('prestadores');

const SEARCH = `select ${listColumns('p', [...KEY, ...TOLD])}, coalesce((select json_agg(json_build_array(s.inicio, s.fim) order by s.inicio)
      from simples_nacional s where s.tenant = $1 and s.documento = p.documento), '[]') as simples
  from prestadores p where p.tenant = $1 and (p.documento, p.inscricao_comparavel) > ($2::text, $3::text)
    and ($4::text is null or p.documento = $4) and ($5::boolean is null or p.autorizado = $5)
    and ($6::text is null or p.inscricao_comparavel = $6 or starts_with(p.documento, $7))
    and ($8::text[] is null or ${PLAIN} like all ($8))
  order by p.documento, p.inscricao_comparavel limit $9`;

/** All establishments of a document, or one of them. */
export type EstabelecimentosDe = { readonly documento: string; readonly inscricao: string | undefined };

const WHICH = 'tenant = $1 and documento = $2 and ($3::text is null or inscricao_comparavel = $3)';

export function procuraPrestadorStore(pool: Db) {
  /** Acts on establishments and records the act; returns their number. */
  const act = (tenant: string, ato: NovoAto, work: (client: PoolClient) => Promise<number>): Promise<number> =>
    runTransaction(pool, async (client) => {
      await lockRegistry(client, tenant);
      const count = await work(client);
      if (count > 0) await insertAtos(client, tenant, [ato]);
      return count;
    });
  return {
    /** The order is by document and registration. `after`: the last one of the page before. */
    search: async (
      tenant: string,
      { documento, inscricao, inicio, palavras, autorizado }: PrestadorProcurado,
      after: readonly [string, string] | undefined,
      max: number,
    ): Promise<readonly PrestadorListado[]> => {
      const patterns = palavras?.map((palavra) => `%${palavra}%`);
      const asked = [documento, autorizado, inscricao, inicio, patterns].map((value) => value ?? null);
      return (await pool.query<PrestadorListado>(SEARCH, [tenant, ...(after ?? ['', '']), ...asked, max])).rows;
    },
    /** Allows or forbids them to issue. */
    authorize: (tenant: string, of: EstabelecimentosDe, autorizado: boolean, ato: NovoAto): Promise<number> =>
      act(tenant, ato, async (client) => {
        const text = `update prestadores set autorizado = $4 where ${WHICH} and autorizado <> $4`;
        const { rowCount } = await client.query(text, [tenant, of.documento, of.inscricao, autorizado]);
        const which = 't.documento = $6 and ($7::text is null or t.inscricao_comparavel = $7)';
        const values = [of.documento, of.inscricao];
        if (rowCount !== 0) await insertRegistradas(client, tenant, 'prestadores', { which, values });
        return rowCount ?? 0;
      }),
    /** Deletes them from the register; the periods of the Simples are deleted with the last establishment of a document. */
    remove: (tenant: string, of: EstabelecimentosDe, ato: NovoAto): Promise<number> =>
      act(tenant, ato, (client) => removeEstablishments(client, tenant, of)),
    /** Shows the register without them to `look`; nothing is deleted. */
    probeWithout: <Seen>(
      tenant: string,
      of: EstabelecimentosDe,
      look: (client: PoolClient) => Promise<Seen>,
    ): Promise<Seen> => probeChange(pool, tenant, (client) => removeEstablishments(client, tenant, of), look),
  };
}

async function removeEstablishments(client: PoolClient, tenant: string, of: EstabelecimentosDe): Promise<number> {
  type Removed = { readonly item: string };
  const taken = takeAway('prestadores', `delete from prestadores t where ${WHICH}`);
  const { rows } = await client.query<Removed>(taken, [tenant, of.documento, of.inscricao]);
  const periods = takeAway(
    'simples_nacional',
    `delete from simples_nacional t where tenant = $1 and documento = $2
      and not exists (select 1 from prestadores p where p.tenant = $1 and p.documento = $2)`,
  );
  const { rows: ended } = await client.query<Removed>(periods, [tenant, of.documento]);
  await insertEntrada(client, tenant, folhasApagadas([...rows, ...ended]));
  return rows.length;
}
