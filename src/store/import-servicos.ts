/** Merges a file of municipal services: of a code that the file names, the lines are those of the file. */
import type { Contagem } from './import-prestadores.ts';
import type { Db } from './open.ts';
import type { PoolClient } from './pg.ts';
import {
  changed,
  type Kind,
  listOf,
  refuseContradictions,
  refuseOverlaps,
  retirePeriods,
  type Staging,
  staged,
} from './staging.ts';

/** A line of the file. Days are `YYYY-MM-DD`; the rate is in percent, with at most two decimals. */
export type EntradaServico = {
  readonly linha: number;
  readonly codigo: string;
  readonly descricao: string;
  readonly codigo_tributacao_nacional: string;
  readonly cnae_codigo: string | undefined;
  readonly aliquota: string | undefined;
  readonly inicio: string;
  readonly fim: string | undefined;
};

export type ContagemServicos = Contagem & { readonly retirados: number };

export type ServicoImport = {
  /** Of one tenant one merge at a time. */
  importServicos<Result>(
    tenant: string,
    work: (staging: Staging<EntradaServico, ContagemServicos>) => Promise<Result>,
  ): Promise<Result>;
};

const TOLD = ['fim', 'descricao', 'codigo_tributacao_nacional', 'cnae_codigo', 'aliquota'] as const;

export function servicoImport(pool: Db): ServicoImport {
  return { importServicos: (tenant, work) => staged(pool, tenant, kindOf(tenant), work) };
}

function kindOf(tenant: string): Kind<ContagemServicos> {
  return {
    columns: {
      linha: 'integer',
      codigo: 'text',
      descricao: 'text',
      codigo_tributacao_nacional: 'text',
      cnae_codigo: 'text',
      aliquota: 'numeric(5, 2)',
      inicio: 'date',
      fim: 'date',
    },
    create: `
      create temp table entrada (linha integer primary key, like servicos_municipais);
      alter table entrada alter tenant drop not null`,
    checks: [refuseContradictions(['codigo', 'inicio'], TOLD, 'codigo'), refuseOverlaps('codigo', 'inicio', 'fim')],
    merge: (client) => mergeServicos(client, tenant),
  };
}

/** Where a line of a code was refused, only what overlaps the file is taken away. */
async function mergeServicos(client: PoolClient, tenant: string): Promise<ContagemServicos> {
  const retirados = await changed(client, retirePeriods('servicos_municipais', 'codigo', 'inicio', 'fim'), [tenant]);
  const alterados = await changed(
    client,
    `update servicos_municipais s set ${TOLD.map((column) => `${column} = e.${column}`).join(', ')} from entrada e
    where s.tenant = $1 and s.codigo = e.codigo and s.inicio = e.inicio
      and (${listOf('s', TOLD)}) is distinct from (${listOf('e', TOLD)})`,
    [tenant],
  );
  const novos = await changed(
    client,
    `insert into servicos_municipais (tenant, codigo, inicio, ${TOLD.join(', ')})
    select $1, e.codigo, e.inicio, ${listOf('e', TOLD)} from entrada e on conflict (tenant, codigo, inicio) do nothing`,
    [tenant],
  );
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::int as count from (select distinct codigo, inicio from entrada) e',
  );
  return { novos, alterados, retirados, iguais: rows[0]!.count - novos - alterados };
}
