/**
 * What waits and stands still, of all municipalities in one look: for who watches the service. Counts end somewhere, and the oldest is found
 * in an index, so that a look costs the same beside millions of notes.
 */
import type { Db } from './open.ts';
import type { QueryConfig } from './pg.ts';

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
  readonly retidas: number;
  readonly notaDesde: number | undefined;
  readonly eventoDesde: number | undefined;
  readonly loteDesde: number | undefined;
  readonly circuitoAberto: boolean;
  readonly impedido: boolean;
};

const countOf = (tipo: string): string =>
  `(select count(*)::int from (select 1 from fila f where f.tenant = m.tenant and f.tipo = '${tipo}' limit ${CONTADOS_MAX}) x)`;
const sampleOf = (tipo: string): string =>
  `(select f.id, f.mes from fila f where f.tenant = m.tenant and f.tipo = '${tipo}' order by f.due_at limit ${SAMPLE_MAX})`;

/** Sandboxes of one's own are left out. A note that waits the longest has the smallest number of those that wait. */
const LOOK = `select m.tenant, ${countOf('nota')} as notas, ${countOf('evento')} as eventos, ${countOf('lote')} as lotes,
    (select count(*)::int from (select 1 from retidas r where r.tenant = m.tenant limit ${CONTADOS_MAX}) x) as retidas,
    (select n.data_emissao from (select f.id, f.mes from fila f where f.tenant = m.tenant and f.tipo = 'nota' order by f.id limit 1) x
      join notas n on n.tenant = m.tenant and n.mes = x.mes and n.id = x.id) as "notaDesde",
    (select min(e.criado_em) from ${sampleOf('evento')} x
      join eventos e on e.tenant = m.tenant and e.mes = x.mes and e.id = x.id) as "eventoDesde",
    (select min(l.recebido_em) from ${sampleOf('lote')} x
      join lotes l on l.tenant = m.tenant and l.mes = x.mes and l.id = x.id) as "loteDesde",
    coalesce((select c.aberto_em is not null from circuitos c where c.tenant = m.tenant), false) as "circuitoAberto",
    coalesce((select t.problema is not null from transmissoes t where t.tenant = m.tenant), false) as impedido
  from municipios m where m.ensaio_ate is null order by m.tenant`;

type Row = Omit<EsperaDeUm, `${string}Desde`> &
  Readonly<Record<'notaDesde' | 'eventoDesde' | 'loteDesde', Date | null>>;

/** The same of everybody. Throws when it takes too long. */
export function esperaDeTodosStore(pool: Db) {
  return async (): Promise<readonly EsperaDeUm[]> => {
    const { rows } = await pool.query<Row>({ text: LOOK, query_timeout: LOOK_MAX_MS } as QueryConfig);
    return rows.map((row) => ({
      ...row,
      notaDesde: row.notaDesde?.getTime(),
      eventoDesde: row.eventoDesde?.getTime(),
      loteDesde: row.loteDesde?.getTime(),
    }));
  };
}
