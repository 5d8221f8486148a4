/** What stands on notas: by which a new event is judged, and by which a local authority judges. */
import { EVENTO_ESTADOS, type EventoEstado, standsOnNota } from '../fiscal/evento.ts';
import { RASCUNHOS } from '../fiscal/nota.ts';
import { NFSE, type NfseColumns, withNfse } from './documentos.ts';
import type { EventoRow } from './evento-rows.ts';
import type { NotaRow } from './nota-columns.ts';
import { type Db, rowReader } from './open.ts';
import { type Planned, planOnce } from './planned.ts';
import { quoteWords } from './sql.ts';
import { replacesOwn } from './substituicao.ts';

/** An event that others are judged by: processed, waived, or the cancellation under way. Any other event under way is in nobody's way. */
export type EventoOnNota = Pick<EventoRow, OfEvento> & {
  /** Something more happens by itself; of an event in `erro`, that a retry is left. */
  readonly isDue: boolean;
};
type OfEvento = 'id' | 'codigo_tipo_evento' | 'numero_sequencial' | 'estado' | 'autor' | 'campos';

/** What registering an event needs to know of its nota. */
export type NotaForEvento = Pick<NotaRow, OfNota> & {
  /** The document, which alone names the intermediary. */
  readonly nfse: Buffer;
  /** In the order in which they were processed, then the cancellation under way. */
  readonly eventos: readonly EventoOnNota[];
  /** Keys of its party's notas that replace it and still wait, for the event on it as a rule. */
  readonly substitutas: readonly string[];
};

type OfNota = 'id' | 'chave_acesso' | 'numero_protocolo' | 'estado' | 'prestador_cpf_cnpj' | 'tomador_cpf_cnpj';

/** States of events that others may be judged by. */
const MAY_STAND = (Object.keys(EVENTO_ESTADOS) as EventoEstado[]).filter((estado) =>
  standsOnNota(estado, { soAqui: true }),
);

/** The events of the nota `n` that others are judged by. */
const ON_NOTA = `(select coalesce(json_agg(json_build_object('id', e.id::text, 'codigo_tipo_evento', e.codigo_tipo_evento,
      'numero_sequencial', e.numero_sequencial, 'estado', e.estado, 'isDue', e.due_at is not null, 'autor', e.autor,
      'campos', e.campos) order by e.processado_em nulls last, e.ordem), '[]')
    from (
      select * from eventos where tenant = $1 and nota = n.id and estado in (${quoteWords(MAY_STAND)})
      union all
      select * from eventos where tenant = $1 and nota = n.id and cancela and due_at is not null
    ) e) as eventos`;

/** Of the nota `n`: those that replace it and are not at their end. */
const SUBSTITUTAS = `array(select s.chave_acesso from notas s where s.tenant = $1 and s.substitui = n.chave_acesso
    and ${replacesOwn('s')} and s.estado in (${quoteWords(RASCUNHOS)}) order by s.id) as substitutas`;

/** Reads one nota by a statement of {@link selectNotaForEvento}. */
export function notaForEventoReader(pool: Db, ask: Planned) {
  const read = rowReader<Omit<NotaForEvento, 'nfse'> & NfseColumns>(pool, ask);
  return async (tenant: string, value: string): Promise<NotaForEvento | undefined> => {
    const row = await read(tenant, value);
    return row && withNfse(row, row.chave_acesso);
  };
}

/** The text of a reading of one nota; the condition speaks of `notas n` and of `$2`. */
export function selectNotaForEvento(condition: string): string {
  return `select n.id, n.chave_acesso, n.numero_protocolo, n.estado, n.prestador_cpf_cnpj, n.tomador_cpf_cnpj,
      ${NFSE}, ${ON_NOTA}, ${SUBSTITUTAS}
    from notas n join documentos d on d.tenant = n.tenant and d.nota = n.id where n.tenant = $1 and ${condition}`;
}

const ON_NOTAS = planOnce(
  'eventos_on_notas',
  `select n.id::text as nota, ${ON_NOTA} from unnest($2::bigint[]) as n (id) where n.id + 0 = n.id`,
);

export async function readOnNotas(
  pool: Db,
  tenant: string,
  notas: readonly string[],
): Promise<ReadonlyMap<string, readonly EventoOnNota[]>> {
  type Row = { nota: string; eventos: readonly EventoOnNota[] };
  const { rows } = await pool.query<Row>(ON_NOTAS([tenant, notas]));
  return new Map(rows.map(({ nota, eventos }) => [nota, eventos]));
}
