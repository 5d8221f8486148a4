/**
 * The backlog of all municipalities, and the state of their audit chains, for monitoring. Counts have a limit, and an index finds the
 * oldest row. A look therefore costs the same beside millions of notes.
 */
import { isDistributed } from '../../base/pg/distributed.ts';
import type { Db } from '../../base/pg/open.ts';
import type { QueryConfig } from '../../base/pg/pg.ts';
import { countPendencias } from '../pendencias/pendencias.rows.ts';

/** Counts stop at this limit. */
const CONTADOS_MAX = 100_000;
/** The rows longest due that are searched for the oldest event or lot: the gauge shows hours, not seconds. */
const SAMPLE_MAX = 1_000;
/** A look that takes longer is aborted: monitoring must not load the database. */
const LOOK_MAX_MS = 2_000;

/** Moments in milliseconds; undefined: no row. */
export type EsperaDeUm = {
  readonly tenant: string;
  readonly notas: number;
  readonly eventos: number;
  readonly lotes: number;
  /** The rows of those counts that a process holds at this moment. */
  readonly notasTomadas: number;
  readonly eventosTomados: number;
  readonly lotesTomados: number;
  readonly retidas: number;
  readonly notaDesde: number | undefined;
  readonly eventoDesde: number | undefined;
  readonly loteDesde: number | undefined;
  readonly circuitoAberto: boolean;
  readonly impedido: boolean;
  /** Pending and abandoned messages to addresses, the due time of the oldest, and the start of the oldest unfinished export. */
  readonly avisos: number;
  readonly avisosMortos: number;
  readonly avisoDesde: number | undefined;
  readonly exportacaoDesde: number | undefined;
  /** Matters that only the municipality can end: requests, rejections, and notes that were refused after their issuance. */
  readonly analises: number;
  readonly rejeicoes: number;
  readonly recusadas: number;
  /** Changes without a place in the order. */
  readonly mudancasNovas: number;
};

/** SQL: the counts of the tenant that an expression names. The oldest waiting note has the smallest number. */
function looksAt(tenant: string): string {
  const waits = (tipo: string): string => `from fila f where f.tenant = ${tenant} and f.tipo = '${tipo}'`;
  const countOf = (from: string): string => `(select count(*)::int from (select 1 ${from} limit ${CONTADOS_MAX}) x)`;
  // A claimed row is due in the future; rows never tried are due now, and are not read here.
  const takenOf = (tipo: string): string =>
    `(select count(x.claims)::int from (select f.claims ${waits(tipo)} and f.due_at > now() order by f.due_at limit ${CONTADOS_MAX}) x)`;
  const sampleOf = (tipo: string): string =>
    `(select f.id, f.mes ${waits(tipo)} order by f.due_at limit ${SAMPLE_MAX}) x`;
  const isOn = `exists (select 1 from webhooks w where w.tenant = ${tenant} and w.id = e.webhook and w.ativo)`;
  return `${countOf(waits('nota'))} as notas, ${countOf(waits('evento'))} as eventos, ${countOf(waits('lote'))} as lotes,
    ${takenOf('nota')} as "notasTomadas", ${takenOf('evento')} as "eventosTomados", ${takenOf('lote')} as "lotesTomados",
    ${countOf(`from retidas r where r.tenant = ${tenant}`)} as retidas,
    (select n.data_emissao from (select f.id, f.mes ${waits('nota')} order by f.id limit 1) x
      join notas n on n.tenant = ${tenant} and n.mes = x.mes and n.id = x.id) as "notaDesde",
    (select min(e.criado_em) from ${sampleOf('evento')}
      join eventos e on e.tenant = ${tenant} and e.mes = x.mes and e.id = x.id) as "eventoDesde",
    (select min(l.recebido_em) from ${sampleOf('lote')}
      join lotes l on l.tenant = ${tenant} and l.mes = x.mes and l.id = x.id) as "loteDesde",
    ${countOf(`from entregas e where e.tenant = ${tenant} and e.estado = 'pendente' and ${isOn}`)} as avisos,
    ${countOf(`from entregas e where e.tenant = ${tenant} and e.estado = 'morta' and ${isOn}`)} as "avisosMortos",
    (select w.proxima from webhooks w where w.tenant = ${tenant} and w.ativo and w.proxima is not null
      order by w.proxima limit 1) as "avisoDesde",
    (select min(x.criada_em) from exportacoes x where x.tenant = ${tenant} and x.estado = 'em_andamento') as "exportacaoDesde",
    ${countPendencias('analise_fiscal', tenant, 'now()')} as analises,
    ${countPendencias('rejeicao', tenant, 'now()')} as rejeicoes,
    ${countPendencias('nota_recusada', tenant, 'now()')} as recusadas,
    ${countOf(`from mudancas_novas v where v.tenant = ${tenant}`)} as "mudancasNovas",
    coalesce((select c.aberto_em is not null or c.falhou_em > coalesce(c.respondeu_em, '-infinity')
      from circuitos c where c.tenant = ${tenant}), false) as "circuitoAberto",
    coalesce((select t.problema is not null from transmissoes t where t.tenant = ${tenant}), false) as impedido`;
}

/** A person's own sandbox is left out. */
const TENANTS = 'select m.tenant from municipios m where m.ensaio_ate is null order by m.tenant';
/** Tenants that are asked alone, at the same time. */
const AT_ONCE = 4;

type Row = Omit<EsperaDeUm, `${string}Desde`> &
  Readonly<Record<'notaDesde' | 'eventoDesde' | 'loteDesde' | 'avisoDesde' | 'exportacaoDesde', Date | null>>;

/** The state of the audit chain of a municipality. Moments in milliseconds. */
export type AuditoriaDeUm = {
  readonly tenant: string;
  /** Findings of the last verification; undefined: no verification yet. */
  readonly achados: number | undefined;
  /** The moment since which the oldest entry waits for its place. */
  readonly semLugarDesde: number | undefined;
  readonly seladaEm: number | undefined;
  /** The start of the chain. */
  readonly abertaEm: number | undefined;
};

/** SQL: the same columns for the audit chain. */
function auditoriaOf(tenant: string): string {
  return `(select a.achados from auditoria_ate a where a.tenant = ${tenant}) as achados,
    (select a.aberta_em from auditoria_ate a where a.tenant = ${tenant}) as "abertaEm",
    (select w.em from auditoria w where w.tenant = ${tenant} and w.lugar is null order by w.em limit 1) as "semLugarDesde",
    (select s.em from auditoria_selos s where s.tenant = ${tenant} order by s.dia desc limit 1) as "seladaEm"`;
}

type AuditoriaRow = { readonly tenant: string; readonly achados: number | null } & Readonly<
  Record<'semLugarDesde' | 'seladaEm' | 'abertaEm', Date | null>
>;

/** A database older than the audit chain lacks this table. */
const HAS_AUDITORIA = `select to_regclass('auditoria_ate') is not null as ha`;

/**
 * Reads the backlog of all municipalities. It throws after the time limit; on a distributed schema it omits those whose server does not
 * answer.
 */
export function vigiaStore(pool: Db) {
  const read = async <One extends object>(text: string, values: readonly string[] = []): Promise<readonly One[]> =>
    (await pool.query<One>({ text, values: [...values], query_timeout: LOOK_MAX_MS } as QueryConfig)).rows;
  const lookAtAll = async <One extends { readonly tenant: string }>(
    columnsOf: (tenant: string) => string,
  ): Promise<readonly One[]> => {
    const all = TENANTS.replace('m.tenant from', `m.tenant, ${columnsOf('m.tenant')} from`);
    if (!isDistributed(pool)) return read<One>(all);
    const together = await read<One>(all).catch(() => undefined);
    if (together !== undefined) return together;
    // A server that does not answer would fail the question for all, so each municipality is asked alone.
    const tenants = await read<{ readonly tenant: string }>(TENANTS);
    const ofOne = `select m.tenant, ${columnsOf('$1')} from municipios m where m.tenant = $1`;
    const found: One[] = [];
    for (let from = 0; from < tenants.length; from += AT_ONCE) {
      const some = tenants.slice(from, from + AT_ONCE).map(({ tenant }) => read<One>(ofOne, [tenant]));
      for (const answer of await Promise.allSettled(some))
        if (answer.status === 'fulfilled') found.push(...answer.value);
    }
    return found;
  };
  return {
    /** The number of months after `mes` whose tables exist. */
    countMesesAfter: async (mes: number): Promise<number> =>
      (
        await read<{ readonly meses: number }>('select count(*)::int as meses from meses where mes > $1', [String(mes)])
      )[0]!.meses,
    lookAtEsperas: async (): Promise<readonly EsperaDeUm[]> => {
      const rows = await lookAtAll<Row>(looksAt);
      return rows.map((row) => ({
        ...row,
        notaDesde: row.notaDesde?.getTime(),
        eventoDesde: row.eventoDesde?.getTime(),
        loteDesde: row.loteDesde?.getTime(),
        avisoDesde: row.avisoDesde?.getTime(),
        exportacaoDesde: row.exportacaoDesde?.getTime(),
      }));
    },
    lookAtAuditoria: async (): Promise<readonly AuditoriaDeUm[]> => {
      const [known] = await read<{ readonly ha: boolean }>(HAS_AUDITORIA);
      if (!known!.ha) return [];
      const rows = await lookAtAll<AuditoriaRow>(auditoriaOf);
      return rows.map(({ tenant, achados, semLugarDesde, seladaEm, abertaEm }) => ({
        tenant,
        achados: achados ?? undefined,
        semLugarDesde: semLugarDesde?.getTime(),
        seladaEm: seladaEm?.getTime(),
        abertaEm: abertaEm?.getTime(),
      }));
    },
  };
}
