/**
 * Matters that wait for the municipality, read from notes and events by their indexes. A query examines a limited number of events, and counts up
 * to a limit: its cost does not grow with the notes.
 */
import { insertAtos, type NovoAto } from '../../base/book/atos.ts';
import { type Db, dropNul, runTransaction } from '../../base/pg/open.ts';
import { quoteWords } from '../../base/pg/sql.ts';
import { EVENTO_EM_VAO, EVENTO_ESTADOS, type EventoEstado, standsOnNota } from '../../fiscal/evento.ts';
import { TIPOS_EVENTO, tipoByCodigo } from '../../fiscal/tipos-evento.ts';
import { IS_IN_VAIN } from '../eventos/operate.rows.ts';

/** A matter as the database has it. `chave`: the id of its event, or the access key of its note. */
export type PendenciaRow = {
  readonly chave: string;
  readonly desde: Date;
  readonly nota: string;
  readonly mes: number;
  readonly chave_acesso: string;
  readonly prestador: string;
  /** `id` of the event; null: the matter is the note. */
  readonly evento: string | null;
  readonly codigo_tipo_evento: string | null;
  readonly numero_sequencial: number | null;
  /** Fields of the event by the names of its body. */
  readonly campos: Readonly<Record<string, string>> | null;
  /** The answer of the ADN. */
  readonly mensagem: string | null;
  readonly responsavel: string | null;
};

/** Undefined criteria match all. `responsavel`: a login; empty: nobody. */
export type FiltroDePendencias = { readonly responsavel?: string | undefined; readonly chave?: string | undefined };

/** Counts stop at this limit plus one. */
export const CONTADAS_MAX = 1_000;
/** The newest events of a type that are examined. */
const LOOKED_MAX = 5_000;
/** An older refusal asks for nobody. */
const RECUSADA_DIAS = 30;

const OF_EVENTO = `e.id::text as chave, e.criado_em as desde, n.id as nota, n.mes, n.chave_acesso, n.prestador_razao_social as prestador,
    e.id as evento, e.codigo_tipo_evento, e.numero_sequencial, e.campos,
    e.mensagem_retorno as mensagem`;
const ofNota = (desde: string): string =>
  `n.chave_acesso as chave, ${desde} as desde, n.id as nota, n.mes, n.chave_acesso, n.prestador_razao_social as prestador,
    null::bigint as evento, null::text as codigo_tipo_evento, null::smallint as numero_sequencial, null::jsonb as campos,
    n.mensagem_retorno as mensagem`;

/** SQL: the events of some types, which stand on a note that is valid, the newest first. */
function standing(tenant: string, codigos: readonly string[], more: string): string {
  const walks = codigos.map((codigo) => {
    const { soAqui } = tipoByCodigo(codigo)!;
    const states = (Object.keys(EVENTO_ESTADOS) as EventoEstado[]).filter((one) => standsOnNota(one, { soAqui }));
    return `(select e.* from (select e.* from eventos e where e.tenant = ${tenant} and e.codigo_tipo_evento = '${codigo}'
      order by e.id desc limit ${LOOKED_MAX}) e where e.estado in (${quoteWords(states)}))`;
  });
  return `select ${OF_EVENTO} from (${walks.join(' union all ')}) e
    join notas n on n.tenant = ${tenant} and n.mes = e.mes_nota and n.id = e.nota and n.estado = 'autorizada' where ${more}`;
}

/** SQL: no later event of these types answers the event `e`. `names`: the field in which an answer names it. */
function unanswered(tenant: string, codigos: readonly string[], names?: string): string {
  // An identifier may be named without its sequence.
  const event = `'EVT' || n.chave_acesso || e.codigo_tipo_evento`;
  const whole = `${event} || lpad(e.numero_sequencial::text, 3, '0')`;
  const named = names === undefined ? '' : ` and a.campos ->> '${names}' in (${event}, ${whole})`;
  return `not exists (select 1 from eventos a where a.tenant = ${tenant} and a.nota = e.nota and a.codigo_tipo_evento in (${quoteWords(codigos)})
    and a.ordem > e.ordem and a.estado not in (${quoteWords(EVENTO_EM_VAO)})${named})`;
}

const OFICIO = TIPOS_EVENTO.filter(({ porOficio }) => porOficio).map(({ codigo }) => codigo);

/** Each kind as SQL that selects its matters; the argument is the SQL of the tenant, the second one of the present moment. */
const KINDS = {
  analise_fiscal: (tenant) => standing(tenant, ['101103'], unanswered(tenant, ['105104', '105105'])),
  rejeicao: (tenant) => standing(tenant, ['203206', '204207'], unanswered(tenant, ['205208'], 'id_evento_rejeicao')),
  bloqueio: (tenant) => standing(tenant, ['305102'], unanswered(tenant, ['305103'], 'id_evento_bloqueio')),
  oficio: (
    tenant,
  ) => `select ${OF_EVENTO} from (select e.* from eventos e where e.tenant = ${tenant} and e.aberto limit ${LOOKED_MAX}) e
    join notas n on n.tenant = ${tenant} and n.mes = e.mes_nota and n.id = e.nota where e.codigo_tipo_evento in (${quoteWords(OFICIO)})`,
  // A DPS that was refused again is one matter: its last note.
  nota_recusada: (
    tenant,
    now,
  ) => `select distinct on (n.id_dps) ${ofNota('r.em')} from (select r.nota, r.mes, r.em from notas_recusadas r where r.tenant = ${tenant}
      and r.em > ${now}::timestamptz - interval '${RECUSADA_DIAS} days' order by r.em desc limit ${LOOKED_MAX}) r
    join notas n on n.tenant = ${tenant} and n.mes = r.mes and n.id = r.nota
    where not exists (select 1 from identidades i where i.tenant = ${tenant} and i.id_dps = n.id_dps)
    order by n.id_dps, r.em desc, n.id desc`,
  evento: (tenant) => `select ${OF_EVENTO} from (select e.* from eventos e where e.tenant = ${tenant} and ${IS_IN_VAIN}
      order by e.desde desc limit ${LOOKED_MAX}) e
    join notas n on n.tenant = ${tenant} and n.mes = e.mes_nota and n.id = e.nota where true`,
  nota_retida: (
    tenant,
  ) => `select ${ofNota('n.data_emissao')} from (select r.nota, r.mes from retidas r where r.tenant = ${tenant}
      order by r.nota limit ${LOOKED_MAX}) r
    join notas n on n.tenant = ${tenant} and n.mes = r.mes and n.id = r.nota where true`,
} as const satisfies Readonly<Record<string, (tenant: string, now: string) => string>>;

export type TipoNoBanco = keyof typeof KINDS;
export const TIPOS_NO_BANCO = Object.keys(KINDS) as readonly TipoNoBanco[];

/** SQL: the matters of a kind that nobody has put aside; an answer ends the others (D-826). `now`: SQL of the present moment. */
function selectPendencias(tipo: TipoNoBanco, tenant: string, now: string): string {
  return `select x.*, p.responsavel from (${KINDS[tipo](tenant, now)}) x
    left join pendencias p on p.tenant = ${tenant} and p.tipo = '${tipo}' and p.chave = x.chave where p.encerrada_em is null`;
}

/** SQL: the number of those matters, up to the limit and one more. */
export function countPendencias(tipo: TipoNoBanco, tenant: string, now: string): string {
  return `(select count(*)::int from (select 1 from (${selectPendencias(tipo, tenant, now)}) k limit ${CONTADAS_MAX + 1}) c)`;
}

const COUNTS = `select ${TIPOS_NO_BANCO.map((tipo) => `${countPendencias(tipo, '$1', '$2')} as ${tipo}`).join(', ')}`;

const FILTERED = `($3::text is null or coalesce(x.responsavel, '') = $3) and ($4::text is null or x.chave = $4)`;

export type Mudanca = {
  readonly tipo: string;
  readonly chave: string;
  readonly nota: string | undefined;
  readonly mes: number | undefined;
  /** Null: nobody. */
  readonly responsavel: string | null;
  readonly encerradaEm: number | undefined;
};

const CHANGE = `insert into pendencias (tenant, tipo, chave, nota, mes, responsavel, encerrada_em)
    select m.tenant, $2::text, $3::text, $4::bigint, $5::integer, $6::text, $7::timestamptz from municipios m where m.tenant = $1
  on conflict (tenant, tipo, chave) do update set responsavel = excluded.responsavel, encerrada_em = excluded.encerrada_em`;

export function pendenciaStore(pool: Db) {
  return {
    /** Matters of each kind, counted up to {@link CONTADAS_MAX} and one more. */
    count: async (tenant: string, now: number): Promise<Readonly<Record<TipoNoBanco, number>>> => {
      const { rows } = await pool.query<Record<TipoNoBanco, number>>(COUNTS, [tenant, new Date(now)]);
      return rows[0]!;
    },
    /** Matters of a kind, the oldest first. */
    list: async (
      tenant: string,
      tipo: TipoNoBanco,
      now: number,
      { responsavel, chave }: FiltroDePendencias,
      max: number,
    ): Promise<readonly PendenciaRow[]> => {
      const text = `select * from (${selectPendencias(tipo, '$1', '$2')}) x where ${FILTERED} and $2::timestamptz is not null
        order by x.desde, x.chave limit $5`;
      const values = [tenant, new Date(now), responsavel ?? null, chave ?? null, max];
      return (await pool.query<PendenciaRow>(text, values)).rows;
    },
    /** People who see to matters that have no row in notes and events, by their keys. */
    findResponsaveis: async (tenant: string, tipo: string): Promise<ReadonlyMap<string, string>> => {
      const text =
        'select chave, responsavel from pendencias where tenant = $1 and tipo = $2 and responsavel is not null';
      const { rows } = await pool.query<{ chave: string; responsavel: string }>(text, [tenant, tipo]);
      return new Map(rows.map(({ chave, responsavel }) => [chave, responsavel]));
    },
    /** Stores who sees to a matter, or that it was put aside, with its act. */
    change: (
      tenant: string,
      { tipo, chave, nota, mes, responsavel, encerradaEm }: Mudanca,
      ato: NovoAto,
    ): Promise<void> =>
      runTransaction(pool, async (client) => {
        const ended = encerradaEm === undefined ? null : new Date(encerradaEm);
        const values = [
          tenant,
          tipo,
          dropNul(chave),
          nota ?? null,
          mes ?? null,
          dropNul(responsavel ?? undefined),
          ended,
        ];
        await client.query(CHANGE, values);
        await insertAtos(client, tenant, [ato]);
      }),
  };
}
