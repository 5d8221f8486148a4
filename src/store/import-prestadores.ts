/** Merges a file of establishments into the registry: what the file names becomes as it says, the rest stays. */
import { ENDERECO_NAO_INFORMADO } from '../fiscal/facts.ts';
import { type ContagemLista, mergeLista } from './listas.ts';
import type { Db } from './open.ts';
import type { PoolClient } from './pg.ts';
import { listColumns } from './sql.ts';
import { countWritten, type Kind, refuseContradictions, refuseOverlaps, type Staging, stageImport } from './staging.ts';

/** Columns that a file may do without; what it does without is not touched. */
export const COLUNAS_OPCIONAIS = [
  'nome_fantasia',
  'logradouro',
  'numero',
  'complemento',
  'bairro',
  'cep',
  'fone',
  'email',
] as const;

export type ColunaOpcional = (typeof COLUNAS_OPCIONAIS)[number];

/** A line of the file. Days are `YYYY-MM-DD`. */
export type EntradaPrestador = {
  readonly linha: number;
  readonly documento: string;
  /** Empty where there is none. */
  readonly inscricao_municipal: string;
  readonly razao_social: string;
  readonly autorizado: boolean;
  /** Period of the Simples Nacional. */
  readonly inicio: string | undefined;
  readonly fim: string | undefined;
} & { readonly [Column in ColunaOpcional]?: string | undefined };

type Contagem = Omit<ContagemLista, 'retirados'>;

/** `simples`: periods of the Simples Nacional. */
export type ContagemPrestadores = Contagem & { readonly simples: ContagemLista };

/** Of a provider that the file names, the periods are those of the file. */
const SIMPLES = { table: 'simples_nacional', key: ['documento'], told: [] };

const ALWAYS = ['inscricao_municipal', 'razao_social', 'autorizado'] as const;

/** What stands in a row whose file has no such column. */
const DEFAULTS: Readonly<Partial<Record<ColunaOpcional, string>>> = {
  logradouro: ENDERECO_NAO_INFORMADO.xLgr,
  numero: ENDERECO_NAO_INFORMADO.nro,
  bairro: ENDERECO_NAO_INFORMADO.xBairro,
  cep: ENDERECO_NAO_INFORMADO.CEP,
};

export function prestadorImport(pool: Db) {
  return {
    /** `columns`: the optional ones that the file has. Of one tenant one merge at a time. */
    import: <Result>(
      tenant: string,
      { columns, now }: { readonly columns: readonly ColunaOpcional[]; readonly now: number },
      work: (staging: Staging<EntradaPrestador, ContagemPrestadores>) => Promise<Result>,
    ): Promise<Result> => stageImport(pool, tenant, kindOf(tenant, columns, now), work),
  };
}

function kindOf(tenant: string, columns: readonly ColunaOpcional[], now: number): Kind<ContagemPrestadores> {
  const told = [...ALWAYS, ...columns];
  return {
    columns: {
      linha: 'integer',
      documento: 'text',
      inscricao_municipal: 'text',
      razao_social: 'text',
      autorizado: 'boolean',
      inicio: 'date',
      fim: 'date',
      ...Object.fromEntries(columns.map((column) => [column, 'text'])),
    },
    // With the column by which registrations are compared, as the registry itself makes it.
    create: `
      create temp table entrada (linha integer primary key, inicio date, fim date,
        like prestadores including generated);
      alter table entrada alter tenant drop not null, alter origem drop not null, alter criado_em drop not null,
        alter logradouro drop not null, alter numero drop not null, alter bairro drop not null, alter cep drop not null`,
    checks: [
      refuseContradictions(['documento', 'inscricao_comparavel'], told, ['documento']),
      refuseOverlaps(SIMPLES.key),
    ],
    merge: async (client) => {
      const establishments = await mergeEstablishments(client, tenant, columns, now);
      return { ...establishments, simples: await mergeLista(client, tenant, SIMPLES) };
    },
  };
}

async function mergeEstablishments(
  client: PoolClient,
  tenant: string,
  columns: readonly ColunaOpcional[],
  now: number,
): Promise<Contagem> {
  const told = [...ALWAYS, ...columns];
  const alterados = await countWritten(
    client,
    `update prestadores p set ${told.map((column) => `${column} = e.${column}`).join(', ')}, origem = 'cadastro'
    from entrada e
    where p.tenant = $1 and p.documento = e.documento and p.inscricao_comparavel = e.inscricao_comparavel
      and (${listColumns('p', told)}, p.origem) is distinct from (${listColumns('e', told)}, 'cadastro')`,
    [tenant],
  );
  // What a first DPS had brought was a guess; the registry knows better now.
  await countWritten(
    client,
    `delete from prestadores p
    where p.tenant = $1 and p.origem = 'dps' and exists (select 1 from entrada e where e.documento = p.documento)`,
    [tenant],
  );
  const absent = Object.entries(DEFAULTS).filter(([column]) => !columns.includes(column as ColunaOpcional));
  const novos = await countWritten(
    client,
    `insert into prestadores (tenant, documento, ${[...told, ...absent.map(([column]) => column)].join(', ')}, origem, criado_em)
    select $1, e.documento, ${listColumns('e', told)}, ${absent.map((_, place) => `$${place + 3}, `).join('')}'cadastro', $2::timestamptz
    from entrada e on conflict (tenant, documento, inscricao_comparavel) do nothing`,
    [tenant, new Date(now), ...absent.map(([, value]) => value)],
  );
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::int as count from (select distinct documento, inscricao_comparavel from entrada) e',
  );
  return { novos, alterados, iguais: rows[0]!.count - novos - alterados };
}
