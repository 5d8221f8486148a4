/**
 * What waits and stands still of all municipalities, and how their audit chains stand: for who watches the service. Counts end somewhere, and the oldest is found
 * in an index, so that a look costs the same beside millions of notes.
 */
import { isDistributed } from '../../base/pg/distributed.ts';
import type { Db } from '../../base/pg/open.ts';
import type { QueryConfig } from '../../base/pg/pg.ts';

/** Beyond this nobody counts on. */
const CONTADOS_MAX = 100_000;
/** Of what is due the longest so much is looked at for the oldest event or lot: it is a reading of an hour, not of a second. */
const SAMPLE_MAX = 1_000;
/** A look that takes longer is given up: who watches must not be what weighs on the database. */
const LOOK_MAX_MS = 2_000;

/** Moments in milliseconds; undefined: there is none. */
export type EsperaDeUm = {
  readonly tenant: string;
  readonly notas: number;
  readonly eventos: number;
  readonly lotes: number;
  /** Of those, what somebody has just now. */
  readonly notasTomadas: number;
  readonly eventosTomados: number;
  readonly lotesTomados: number;
  readonly retidas: number;
  readonly notaDesde: number | undefined;
  readonly eventoDesde: number | undefined;
  readonly loteDesde: number | undefined;
  readonly circuitoAberto: boolean;
  readonly impedido: boolean;
  /** What is to be told to addresses, and what was given up; since when the oldest is due, and the oldest file is being made. */
  readonly avisos: number;
  readonly avisosMortos: number;
  readonly avisoDesde: number | undefined;
  readonly exportacaoDesde: number | undefined;
  /** Changes without a place in the order. */
  readonly mudancasNovas: number;
};

/** SQL: what there is of the tenant that an expression names. A note that waits the longest has the smallest number of those that wait. */
function looksAt(tenant: string): string {
  const waits = (tipo: string): string => `from fila f where f.tenant = ${tenant} and f.tipo = '${tipo}'`;
  const countOf = (from: string): string => `(select count(*)::int from (select 1 ${from} limit ${CONTADOS_MAX}) x)`;
  // Who has something has it until a moment that is to come; what was never tried is due, and not looked at here.
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
    ${countOf(`from mudancas_novas v where v.tenant = ${tenant}`)} as "mudancasNovas",
    coalesce((select c.aberto_em is not null from circuitos c where c.tenant = ${tenant}), false) as "circuitoAberto",
    coalesce((select t.problema is not null from transmissoes t where t.tenant = ${tenant}), false) as impedido`;
}

/** Sandboxes of one's own are left out. */
const TENANTS = 'select m.tenant from municipios m where m.ensaio_ate is null order by m.tenant';
/** Tenants that are asked at once by themselves. */
const AT_ONCE = 4;

type Row = Omit<EsperaDeUm, `${string}Desde`> &
  Readonly<Record<'notaDesde' | 'eventoDesde' | 'loteDesde' | 'avisoDesde' | 'exportacaoDesde', Date | null>>;

/** How the audit chain of a municipality stands. Moments in milliseconds. */
export type AuditoriaDeUm = {
  readonly tenant: string;
  /** What the last verification found; undefined: there was none. */
  readonly achados: number | undefined;
  /** Since when the oldest entry waits for its place. */
  readonly semLugarDesde: number | undefined;
  readonly seladaEm: number | undefined;
  /** When it began. */
  readonly abertaEm: number | undefined;
};

/** SQL: the same of the chain. */
function auditoriaOf(tenant: string): string {
  return `(select a.achados from auditoria_ate a where a.tenant = ${tenant}) as achados,
    (select a.aberta_em from auditoria_ate a where a.tenant = ${tenant}) as "abertaEm",
    (select w.em from auditoria w where w.tenant = ${tenant} and w.lugar is null order by w.em limit 1) as "semLugarDesde",
    (select s.em from auditoria_selos s where s.tenant = ${tenant} order by s.dia desc limit 1) as "seladaEm"`;
}

type AuditoriaRow = { readonly tenant: string; readonly achados: number | null } & Readonly<
  Record<'semLugarDesde' | 'seladaEm' | 'abertaEm', Date | null>
>;

/** A database of before the chain has none. */
const HAS_AUDITORIA = `select to_regclass('auditoria_ate') is not null as ha`;

/** Looks at what there is of everybody. Throws when it takes too long; of a distributed schema, without those whose server does not answer. */
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
    // A server that does not answer takes the answers of the others with it: each is asked of its own.
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
    /** Months that have their tables, after `mes`. */
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
