/** Merges a file of establishments into the registry: what the file names becomes as it says, the rest stays. */
import { ENDERECO_NAO_INFORMADO } from '../fiscal/facts.ts';
import type { Db } from './open.ts';
import type { PoolClient } from './pg.ts';
import {
  countWritten,
  type Kind,
  listOf,
  refuseContradictions,
  refuseOverlaps,
  retirePeriods,
  type Staging,
  stageImport,
} from './staging.ts';

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
  readonly simples_inicio: string | undefined;
  readonly simples_fim: string | undefined;
} & { readonly [Column in ColunaOpcional]?: string | undefined };

type Contagem = { readonly novos: number; readonly alterados: number; readonly iguais: number };

export type ContagemPrestadores = Contagem & {
  /** Periods of the Simples Nacional. */
  readonly simples: { readonly novos: number; readonly alterados: number; readonly retirados: number };
};

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
      simples_inicio: 'date',
      simples_fim: 'date',
      ...Object.fromEntries(columns.map((column) => [column, 'text'])),
    },
    // With the column by which registrations are compared, as the registry itself makes it.
    create: `
      create temp table entrada (linha integer primary key, simples_inicio date, simples_fim date,
        like prestadores including generated);
      alter table entrada alter tenant drop not null, alter origem drop not null, alter criado_em drop not null,
        alter logradouro drop not null, alter numero drop not null, alter bairro drop not null, alter cep drop not null`,
    checks: [
      refuseContradictions(['documento', 'inscricao_comparavel'], told, ['documento']),
      refuseOverlaps(['documento'], 'simples_inicio', 'simples_fim'),
    ],
    merge: async (client) => {
      const establishments = await mergeEstablishments(client, tenant, columns, now);
      return { ...establishments, simples: await mergeSimples(client, tenant) };
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
      and (${listOf('p', told)}, p.origem) is distinct from (${listOf('e', told)}, 'cadastro')`,
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
    select $1, e.documento, ${listOf('e', told)}, ${absent.map((_, place) => `$${place + 3}, `).join('')}'cadastro', $2::timestamptz
    from entrada e on conflict (tenant, documento, inscricao_comparavel) do nothing`,
    [tenant, new Date(now), ...absent.map(([, value]) => value)],
  );
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::int as count from (select distinct documento, inscricao_comparavel from entrada) e',
  );
  return { novos, alterados, iguais: rows[0]!.count - novos - alterados };
}

/** Of a provider that the file names, the periods are those of the file; unless a line of it was refused. */
async function mergeSimples(client: PoolClient, tenant: string): Promise<ContagemPrestadores['simples']> {
  const retire = retirePeriods('simples_nacional', ['documento'], 'simples_inicio', 'simples_fim');
  const retirados = await countWritten(client, retire, [tenant]);
  const alterados = await countWritten(
    client,
    `update simples_nacional s set fim = e.simples_fim from entrada e
    where s.tenant = $1 and s.documento = e.documento and s.inicio = e.simples_inicio
      and s.fim is distinct from e.simples_fim`,
    [tenant],
  );
  const novos = await countWritten(
    client,
    `insert into simples_nacional (tenant, documento, inicio, fim)
    select $1, e.documento, e.simples_inicio, e.simples_fim from entrada e where e.simples_inicio is not null
    on conflict (tenant, documento, inicio) do nothing`,
    [tenant],
  );
  return { novos, alterados, retirados };
}
