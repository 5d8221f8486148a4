/**
 * The data held about a person, by CPF: counted, read for the person, and erased where the law allows. Each table
 * declares its place.
 */
import { insertAtos, type NovoAto } from '../../base/book/atos.ts';
import { folhasApagadas, insertEntrada, takeAway } from '../../base/book/auditoria-entradas.ts';
import { AUDITADAS, apagada, VISTAS, type Vista } from '../../base/book/auditoria-tabelas.ts';
import { type Lugar, TABELAS, type Tabela } from '../../base/book/tabelas.ts';
import { withoutLimits } from '../../base/pg/migration-steps.ts';
import { type Db, runTransaction } from '../../base/pg/open.ts';
import type { PoolClient } from '../../base/pg/pg.ts';

type LugarNaTabela = Lugar & { readonly tabela: string };

function listLugares(isDaInstalacao: boolean): readonly LugarNaTabela[] {
  return Object.entries<Tabela>(TABELAS).flatMap(([tabela, one]) =>
    typeof one.pessoas === 'string' || 'isDaInstalacao' in one !== isDaInstalacao ? [] : { tabela, ...one.pessoas },
  );
}

/** Rows that depend on another row stand before it. */
export const LUGARES = listLugares(false);
export const LUGARES_DA_INSTALACAO = listLugares(true);

/** Rows of one table that concern the person, and the number of them that may be erased. `tenant`: undefined for the installation. */
export type Achado = {
  readonly tenant: string | undefined;
  readonly tabela: string;
  readonly oQue: string;
  /** The rows of a rehearsal are under none of the grounds. */
  readonly base: Lugar['base'] | 'ensaio';
  readonly linhas: number;
  readonly apagaveis: number;
};

/** The condition on the rows of a place that may be erased; undefined: none. A rehearsal keeps its trail alone. */
function erasableOf(lugar: Lugar, isRehearsal: boolean): string | undefined {
  if (isRehearsal) return lugar.base === 'trilha' ? undefined : 'true';
  return lugar.apaga;
}

type Tenant = { readonly tenant: string; readonly isRehearsal: boolean };

/** `only` undefined: all tenants, the sandboxes included. */
async function listTenants(client: Pick<PoolClient, 'query'>, only: string | undefined): Promise<readonly Tenant[]> {
  const text = `select tenant, ambiente = 'homologacao' as "isRehearsal" from municipios
    where $1::text is null or tenant = $1 order by tenant`;
  return (await client.query<Tenant>(text, [only ?? null])).rows;
}

/** Columns left out: secrets, and documents, which are exported separately. */
const UNTOLD = ['senha', 'totp', 'segredo', 'codigos_reserva'];
const BYTES = `select array_agg(attname::text) as names from pg_attribute
  where attrelid = $1::regclass and attnum > 0 and not attisdropped and atttypid = 'bytea'::regtype`;

export function titularStore(pool: Db) {
  const search = <Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> =>
    runTransaction(pool, async (client) => {
      // Places without an index are scanned whole: only the operator who asked waits for that.
      await client.query(withoutLimits('transaction'));
      await client.query('set local enable_seqscan = on');
      return work(client);
    });
  return {
    /** Places with rows of the person. `now`: milliseconds. */
    find: (cpf: string, now: number, only?: string): Promise<readonly Achado[]> =>
      search(async (client) => {
        const found: Achado[] = [];
        for (const { tenant, isRehearsal } of await listTenants(client, only)) {
          for (const lugar of LUGARES) {
            const apaga = erasableOf(lugar, isRehearsal);
            found.push({
              ...toldOf(lugar, tenant, isRehearsal),
              ...(await countIn(client, lugar, apaga, { tenant, cpf, now })),
            });
          }
          const { rows } = await client.query<{ linhas: number }>(ARCHIVED, [tenant, cpf]);
          found.push({ ...toldOf(IN_FILES, tenant, isRehearsal), linhas: rows[0]!.linhas, apagaveis: 0 });
        }
        for (const lugar of only === undefined ? LUGARES_DA_INSTALACAO : []) {
          found.push({ ...toldOf(lugar, undefined), ...(await countInInstallation(client, lugar, cpf, now)) });
        }
        return found.filter(({ linhas }) => linhas > 0);
      }),
    /** The rows of a place, without secrets and documents. */
    readRows: (cpf: string, tabela: string, tenant: string | undefined): Promise<readonly object[]> =>
      search(async (client) => {
        const lugares = tenant === undefined ? LUGARES_DA_INSTALACAO : LUGARES;
        const { onde } = lugares.find((one) => one.tabela === tabela)!;
        const bytes = (await client.query<{ names: string[] | null }>(BYTES, [tabela])).rows[0]?.names ?? [];
        const where = tenant === undefined ? `(${onde})` : `t.tenant = $1 and (${onde})`;
        const values = tenant === undefined ? [cpf] : [tenant, cpf];
        const text = `select to_jsonb(t) - $${values.length + 1}::text[] as linha from ${tabela} t where ${where}`;
        const { rows } = await client.query<{ linha: object }>(text, [...values, [...bytes, ...UNTOLD]]);
        return rows.map(({ linha }) => linha);
      }),
    /** Keys of the notes of a person. */
    listChaves: async (cpf: string, tenant: string): Promise<readonly string[]> =>
      search(async (client) => {
        const { onde } = LUGARES.find(({ tabela }) => tabela === 'notas')!;
        const text = `select t.chave_acesso from notas t where t.tenant = $1 and (${onde}) order by t.mes, t.id`;
        return (await client.query<{ chave_acesso: string }>(text, [tenant, cpf])).rows.map((row) => row.chave_acesso);
      }),
    /** Records the act in the trail of each tenant that had rows. */
    record: async (tenants: readonly string[], atoOf: (tenant: string) => NovoAto): Promise<void> => {
      for (const tenant of tenants) {
        await runTransaction(pool, (client) => insertAtos(client, tenant, [atoOf(tenant)]));
      }
    },
    /**
     * Erases the rows that may be erased, and returns their number per place. Each tenant is one transaction, with its entry in the trail.
     */
    erase: async (
      cpf: string,
      now: number,
      atoOf: (linhas: Readonly<Record<string, number>>) => NovoAto,
      only?: string,
    ): Promise<readonly Achado[]> => {
      const done: Achado[] = [];
      for (const { tenant, isRehearsal } of await listTenants(pool, only)) {
        const erased = await search((client) => eraseOf(client, { tenant, isRehearsal }, cpf, now, atoOf));
        done.push(...erased);
      }
      if (only === undefined) done.push(...(await search((client) => eraseOfInstallation(client, cpf, now))));
      return done.filter(({ linhas }) => linhas > 0);
    },
  };
}

/** Documents that stand in files outside the database. */
const IN_FILES = {
  tabela: 'arquivo',
  oQue: 'notas cujos documentos estão nos arquivos de meses encerrados',
  base: 'fiscal',
} as const;
const ARCHIVED = `select count(*)::int as linhas from notas t join meses m on m.mes = t.mes and m.arquivado_em is not null
  where t.tenant = $1 and (${LUGARES.find(({ tabela }) => tabela === 'notas')!.onde})`;

type Told = Pick<LugarNaTabela, 'tabela' | 'oQue' | 'base'>;

/** No law asks to keep the rows of a rehearsal, whichever ground holds in production. */
const toldOf = ({ tabela, oQue, base }: Told, tenant: string | undefined, isRehearsal = false) => ({
  tenant,
  tabela,
  oQue,
  base: isRehearsal && base !== 'trilha' && base !== 'passageiro' ? ('ensaio' as const) : base,
});

type Asked = { readonly tenant: string; readonly cpf: string; readonly now: number };
type Counts = Pick<Achado, 'linhas' | 'apagaveis'>;

/** A condition may leave the moment out: naming it here still gives the parameter a type. */
const AT = (place: number): string => `$${place}::timestamptz is not null`;

async function countIn(
  client: PoolClient,
  { tabela, onde }: LugarNaTabela,
  apaga: string | undefined,
  { tenant, cpf, now }: Asked,
): Promise<Counts> {
  const text = `select count(*)::int as linhas, (count(*) filter (where ${AT(3)} and (${apaga ?? 'false'})))::int as apagaveis
    from ${tabela} t where t.tenant = $1 and (${onde})`;
  return (await client.query<Counts>(text, [tenant, cpf, new Date(now)])).rows[0]!;
}

async function countInInstallation(
  client: PoolClient,
  { tabela, onde, apaga }: LugarNaTabela,
  cpf: string,
  now: number,
): Promise<Counts> {
  const text = `select count(*)::int as linhas, (count(*) filter (where ${AT(2)} and (${apaga ?? 'false'})))::int as apagaveis
    from ${tabela} t where (${onde})`;
  return (await client.query<Counts>(text, [cpf, new Date(now)])).rows[0]!;
}

async function eraseOf(
  client: PoolClient,
  { tenant, isRehearsal }: Tenant,
  cpf: string,
  now: number,
  atoOf: (linhas: Readonly<Record<string, number>>) => NovoAto,
): Promise<readonly Achado[]> {
  const done: Achado[] = [];
  for (const lugar of LUGARES) {
    const apaga = erasableOf(lugar, isRehearsal);
    if (apaga === undefined) continue;
    const linhas = await eraseIn(client, lugar, apaga, { tenant, cpf, now });
    done.push({ ...toldOf(lugar, tenant, isRehearsal), linhas, apagaveis: 0 });
  }
  const some = done.filter(({ linhas }) => linhas > 0);
  const counts = Object.fromEntries(some.map(({ tabela, linhas }) => [tabela, linhas]));
  if (some.length > 0) await insertAtos(client, tenant, [atoOf(counts)]);
  return done;
}

/** Rows that belong together are recorded by the first of them. */
const FAMILIAS = { notas: 'nota', eventos: 'evento', lotes: 'lote' } as const;

function familiaOfTable(tabela: string): 'nota' | 'evento' | 'lote' | undefined {
  return Object.entries(FAMILIAS).find(([name]) => name === tabela)?.[1];
}

/** The view by which the audit chain records a table row by row. */
function vistaOf(tabela: string): Vista | undefined {
  return VISTAS.find((one) => one === tabela && AUDITADAS[one].familia === undefined);
}

/** Erases the rows of a place and returns their number; the audit chain records the removal. */
async function eraseIn(
  client: PoolClient,
  { tabela, onde }: LugarNaTabela,
  apaga: string,
  { tenant, cpf, now }: Asked,
): Promise<number> {
  const familia = familiaOfTable(tabela);
  const vista = vistaOf(tabela);
  const deletion = `delete from ${tabela} t where t.tenant = $1 and (${onde}) and ${AT(3)} and (${apaga})`;
  const ids = familia === undefined ? '' : ' returning t.id::text as id';
  const text = vista === undefined ? `${deletion}${ids}` : takeAway(vista, deletion);
  type Row = { readonly id: string; readonly item: string };
  const { rows, rowCount } = await client.query<Row>(text, [tenant, cpf, new Date(now)]);
  const folhas = familia === undefined ? folhasApagadas(rows) : rows.map(({ id }) => apagada(familia, [id]));
  await insertEntrada(client, tenant, folhas, 'apagado a pedido do titular');
  return rowCount ?? 0;
}

async function eraseOfInstallation(client: PoolClient, cpf: string, now: number): Promise<readonly Achado[]> {
  const done: Achado[] = [];
  for (const lugar of LUGARES_DA_INSTALACAO) {
    const text = `delete from ${lugar.tabela} t where (${lugar.onde}) and ${AT(2)} and (${lugar.apaga ?? 'false'})`;
    const linhas = (await client.query(text, [cpf, new Date(now)])).rowCount ?? 0;
    done.push({ ...toldOf(lugar, undefined), linhas, apagaveis: 0 });
  }
  return done;
}
