/** An event as it is read, with columns of its nota. */

import { mesOfChave } from '../../fiscal/chave.ts';
import type { ErrosAdn } from '../../fiscal/erros-adn.ts';
import { EVENTO_EM_VAO, type EventoEstado } from '../../fiscal/evento.ts';
import type { NotaEstado } from '../../fiscal/nota.ts';
import type { Db } from '../pg/open.ts';
import type { PoolClient } from '../pg/pg.ts';
import { planMonthly, planOnce } from '../pg/planned.ts';
import { listColumns, quoteWords } from '../pg/sql.ts';
import { joinQueue, QUEUED, type Ref } from './fila.ts';

/** `id` is `id_evento`, `mes` the month in which it was registered. */
export type EventoRow = Ref & {
  /** `id` and month of its nota. */
  readonly nota: string;
  readonly mes_nota: number;
  /** Columns of its nota. */
  readonly chave_acesso: string;
  readonly numero_protocolo: string;
  /** State of its nota. */
  readonly nota_estado: NotaEstado;
  /** Moment at which its nota is due, and the token that claims it. */
  readonly nota_due_at: Date | null;
  readonly nota_claims: string | null;
  readonly codigo_tipo_evento: string;
  readonly numero_sequencial: number;
  /** The event cancels the nota once it is processed. Only one such event of a nota may be in progress. */
  readonly cancela: boolean;
  readonly estado: EventoEstado;
  /** Moment at which its state began. */
  readonly desde: Date;
  /** Null when nothing more happens by itself: in `erro`, when no retry is left. */
  readonly due_at: Date | null;
  /** Token that claims the event; null when it is not claimed. */
  readonly claims: string | null;
  readonly reprocessamentos_count: number;
  readonly ultimo_reprocessamento_em: Date | null;
  /** The moment survives failed sendings in between. */
  readonly aguardando_desde: Date | null;
  readonly criado_em: Date;
  /** Moment of the authority's final answer. */
  readonly processado_em: Date | null;
  readonly codigo_retorno: string | null;
  readonly mensagem_retorno: string | null;
  readonly erros_adn: ErrosAdn | null;
  /** CPF or CNPJ. */
  readonly autor: string;
  /** Fields by the names of the JSON body. */
  readonly campos: Readonly<Record<string, string>>;
  /** The reception number that the ADN gave it. */
  readonly nsu_recepcao: string | null;
  /** Moment at which an operator dealt with its refusal. */
  readonly arquivado_em: Date | null;
};

/** Columns of `eventos` as they are read. */
export const EVENTO_COLUMNS = [
  'id',
  'mes',
  'nota',
  'mes_nota',
  'codigo_tipo_evento',
  'numero_sequencial',
  'cancela',
  'estado',
  'desde',
  'reprocessamentos_count',
  'ultimo_reprocessamento_em',
  'aguardando_desde',
  'criado_em',
  'processado_em',
  'codigo_retorno',
  'mensagem_retorno',
  'erros_adn',
  'autor',
  'campos',
  'nsu_recepcao',
  'arquivado_em',
] as const satisfies readonly (keyof EventoRow)[];

/** Columns of `eventos e`, its nota `n` and the {@link QUEUES} of both. */
export const EVENTO_READ = `${listColumns('e', EVENTO_COLUMNS)}, ${QUEUED}, n.chave_acesso, n.numero_protocolo, n.estado as nota_estado,
  q.due_at as nota_due_at, q.claims as nota_claims`;
export const QUEUES = `${joinQueue('evento', 'e')} ${joinQueue('nota', 'n', 'q')}`;
/** The nota `n` of an event `e`, in any month. This join is for readings of few events. */
export const JOIN_NOTA = 'join notas n on n.tenant = $1 and n.mes = e.mes_nota and n.id = e.nota';

/** Query that reads eventos. The condition refers to `eventos e`, and its values begin at $2. */
function selectEventos(condition: string): string {
  return `select ${EVENTO_READ} from eventos e ${JOIN_NOTA} ${QUEUES} where e.tenant = $1 and ${condition}`;
}

const BY_ID = planOnce('evento', selectEventos('e.id = $2'));

export async function readEvento(pool: Db, tenant: string, id: string): Promise<EventoRow | undefined> {
  return (await pool.query<EventoRow>(BY_ID([tenant, id]))).rows[0];
}

const OF_NOTA = planMonthly(
  'eventos_da_nota',
  `select ${EVENTO_READ} from notas n left join eventos e on e.tenant = $1 and e.nota = n.id
      and ($3::text is null or e.codigo_tipo_evento = $3) and ($4::integer is null or e.numero_sequencial = $4)
    ${QUEUES}
    where n.tenant = $1 and n.mes = $5 and n.chave_acesso = $2
    order by case when $3 is not null then e.numero_sequencial end, e.criado_em desc, e.ordem desc`,
  5,
);

/** Filter by a type, and by a number among the events of that type. */
type Which = { readonly codigo?: string | undefined; readonly sequencial?: number | undefined };

/** Eventos of a nota by its key, newest first, or those of a type by their sequence; undefined when there is no such nota. */
export async function readEventosOf(
  pool: Db,
  tenant: string,
  chave: string,
  { codigo, sequencial }: Which = {},
): Promise<readonly EventoRow[] | undefined> {
  type Row = EventoRow | { readonly id: null };
  const { rows } = await pool.query<Row>(OF_NOTA([tenant, chave, codigo, sequencial, mesOfChave(chave)]));
  return rows.length === 0 ? undefined : rows.filter((row): row is EventoRow => row.id !== null);
}

const OPEN_CANCELAMENTO = planOnce('cancelamento_aberto', selectEventos('e.nota = $2 and e.cancela and e.aberto'));

/** The cancellation of a nota that is in progress. */
export async function openCancelamento(pool: Db, tenant: string, nota: string): Promise<EventoRow | undefined> {
  return (await pool.query<EventoRow>(OPEN_CANCELAMENTO([tenant, nota]))).rows[0];
}

const THAT_NAMES = planOnce(
  'evento_que_nomeia',
  selectEventos(`e.nota = $2 and e.cancela and e.campos ->> 'chave_acesso_substituta' = $3
    and e.estado not in (${quoteWords(EVENTO_EM_VAO)})`),
);

/** An event of a nota that names another as its substitute, unless the event certainly failed. */
export async function eventoThatNames(
  client: PoolClient,
  tenant: string,
  nota: string,
  substituta: string,
): Promise<EventoRow | undefined> {
  return (await client.query<EventoRow>(THAT_NAMES([tenant, nota, substituta]))).rows[0];
}
