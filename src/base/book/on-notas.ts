/** Events on notas by which a new event is judged, and by which a local authority judges. */
import { mesOfChave, mesOfProtocolo } from '../../fiscal/chave.ts';
import { EVENTO_ESTADOS, type EventoEstado, standsOnNota } from '../../fiscal/evento.ts';
import { RASCUNHOS } from '../../fiscal/nota.ts';
import { type Db, ONE_BY_ONE } from '../pg/open.ts';
import { planMonthly, planOnce } from '../pg/planned.ts';
import { quoteWords } from '../pg/sql.ts';
import { NFSE, type NfseColumns, withNfse } from './documentos.ts';
import type { EventoRow } from './evento-rows.ts';
import { groupByMes, type Ref } from './fila.ts';
import type { NotaRow } from './nota-columns.ts';

/**
 * An event by which others are judged: processed, waived, or the cancellation in progress. Any other event in progress has no influence.
 */
export type EventoOnNota = Pick<EventoRow, OfEvento> & {
  /** A further step will happen by itself; for an event in `erro`: a retry is left. */
  readonly isDue: boolean;
};
type OfEvento = 'id' | 'codigo_tipo_evento' | 'numero_sequencial' | 'estado' | 'autor' | 'campos';

/** Data of a nota that registering an event needs. */
export type NotaForEvento = Pick<NotaRow, OfNota> & {
  /** The document, the only place that names the intermediary. */
  readonly nfse: Buffer;
  /** Events in the order of their processing, then the cancellation in progress. */
  readonly eventos: readonly EventoOnNota[];
  /** Keys of the same party's notas that replace it and still wait, usually for the event on it. */
  readonly substitutas: readonly string[];
};

type OfNota = 'id' | 'mes' | 'chave_acesso' | 'numero_protocolo' | 'estado' | 'prestador_cpf_cnpj' | 'tomador_cpf_cnpj';

/** States of events that may affect the judgement of others. */
const MAY_STAND = (Object.keys(EVENTO_ESTADOS) as EventoEstado[]).filter((estado) =>
  standsOnNota(estado, { soAqui: true }),
);

/** The events of the nota `n` by which others are judged. */
const ON_NOTA = `(select coalesce(json_agg(json_build_object('id', e.id::text, 'codigo_tipo_evento', e.codigo_tipo_evento,
      'numero_sequencial', e.numero_sequencial, 'estado', e.estado, 'isDue', e.aberto, 'autor', e.autor,
      'campos', e.campos) order by e.processado_em nulls last, e.ordem), '[]')
    from (
      select * from eventos where tenant = $1 and nota = n.id and estado in (${quoteWords(MAY_STAND)})
      union all
      select * from eventos where tenant = $1 and nota = n.id and cancela and aberto
    ) e) as eventos`;

/** The notas of the same party that replace the nota `n`. */
const SUBSTITUICOES = `(select coalesce(json_agg(json_build_object('id', s.nota::text, 'mes', s.mes) order by s.nota), '[]')
    from substituicoes s where s.tenant = $1 and s.substituida = n.chave_acesso) as substituicoes`;

/** Query for one nota; the condition refers to `notas n` and to `$2`, and $3 is its month. */
function selectNotaForEvento(condition: string): string {
  return `select n.id, n.mes, n.chave_acesso, n.numero_protocolo, n.estado, n.prestador_cpf_cnpj, n.tomador_cpf_cnpj,
      ${NFSE}, ${ON_NOTA}, ${SUBSTITUICOES}
    from notas n left join documentos d on d.tenant = $1 and d.mes = $3 and d.nota = n.id
    where n.tenant = $1 and n.mes = $3 and ${condition}`;
}

const BY_CHAVE = planMonthly('nota_evento_chave', selectNotaForEvento('n.chave_acesso = $2'), 3);
const BY_PROTOCOLO = planMonthly('nota_evento_prot', selectNotaForEvento('n.numero_protocolo = $2'), 3);

export async function readNotaForEvento(
  pool: Db,
  tenant: string,
  nota: { readonly chave: string } | { readonly protocolo: string },
): Promise<NotaForEvento | undefined> {
  const query =
    'chave' in nota
      ? BY_CHAVE([tenant, nota.chave, mesOfChave(nota.chave)])
      : BY_PROTOCOLO([tenant, nota.protocolo, mesOfProtocolo(nota.protocolo)]);
  type Row = Omit<NotaForEvento, 'nfse' | 'substitutas'> & NfseColumns & { readonly substituicoes: readonly Ref[] };
  const [row] = (await pool.query<Row>(query)).rows;
  if (row === undefined) return undefined;
  const { substituicoes, ...found } = row;
  const [whole, substitutas] = await Promise.all([
    withNfse({ pool, tenant }, found, row.chave_acesso),
    readDrafts(pool, tenant, substituicoes),
  ]);
  return { ...whole, substitutas };
}

const DRAFTS = planMonthly(
  'rascunhos',
  `select n.chave_acesso from unnest($3::bigint[]) as x (id) join notas n on n.tenant = $1 and n.mes = $2 and n.id = x.id
  ${ONE_BY_ONE} and n.estado in (${quoteWords(RASCUNHOS)}) order by n.id`,
);

/** Keys of the notas that are not at their end. */
async function readDrafts(pool: Db, tenant: string, notas: readonly Ref[]): Promise<readonly string[]> {
  const read = [...groupByMes(notas)].map(async ([mes, some]) => {
    const query = DRAFTS([tenant, mes, some.map(({ id }) => id)]);
    return (await pool.query<{ chave_acesso: string }>(query)).rows;
  });
  return (await Promise.all(read)).flat().map(({ chave_acesso }) => chave_acesso);
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
