/** Reads the eventos. The files beside it register, claim and move them by hand. */

import { findEventoArquivado, readEventoArquivado } from '../../base/book/arquivo.ts';
import { type Step, trailReader } from '../../base/book/claims.ts';
import { readEvento, readEventosOf } from '../../base/book/evento-rows.ts';
import { groupByMes, type Ref } from '../../base/book/fila.ts';
import type { NotaRow } from '../../base/book/nota-columns.ts';
import { readNotaForEvento, readOnNotas } from '../../base/book/on-notas.ts';
import { groupCommit, measureGroups } from '../../base/pg/group-commit.ts';
import { type Db, ONE_BY_ONE, rowReader } from '../../base/pg/open.ts';
import { planMonthly, planOnce } from '../../base/pg/planned.ts';
import { quoteWords } from '../../base/pg/sql.ts';
import { isLocked } from '../../base/pg/unavailable.ts';
import type { EventoEstado, EventoTrigger } from '../../fiscal/evento.ts';
import { eventoClaims } from './claim.rows.ts';
import { eventoOperations } from './operate.rows.ts';
import { type EventoNovo, type RegisterResult, registerEvento } from './register.rows.ts';

/** The documents that are stored beside an event. */
type EventoDocuments = Pick<NotaRow, 'assinatura' | 'certificado_der'> & {
  readonly recebido: Buffer | null;
  readonly recebido_assinatura: string | null;
  readonly xml: Buffer;
};

/** A move of an event. */
export type EventoStep = Step<EventoEstado, EventoTrigger>;

const DOCUMENTS = planOnce(
  'documentos_evento',
  `select e.id, e.mes, d.recebido, d.recebido_assinatura, d.xml, e.assinatura,
    (select c.der from certificados c where c.tenant = $1 and c.impressao = e.certificado) as certificado_der
  from eventos e left join documentos_eventos d on d.tenant = $1 and d.mes = e.mes and d.evento = e.id where e.tenant = $1 and e.id = $2`,
);

const XML_OF = planMonthly(
  'xml_eventos',
  `select d.evento::text as evento, d.xml from unnest($2::bigint[]) as x (id)
    join documentos_eventos d on d.tenant = $1 and d.mes = $3 and d.evento = x.id ${ONE_BY_ONE}`,
  3,
);

/** States that the next answer of the ADN changes. */
const SENT_NEXT = ['pendente', 'enviado'] as const satisfies readonly EventoEstado[];

const DECIDED = planOnce(
  'eventos_decididos',
  `select e.id::text as id from unnest($2::bigint[]) as x (id) join eventos e on e.tenant = $1 and e.id = x.id
    ${ONE_BY_ONE} and e.estado not in (${quoteWords(SENT_NEXT)})`,
);

export function eventoStore(pool: Db) {
  // Registrations on one nota run one after the other. Parallel ones would hold connections while they wait for each other.
  const inTurn = groupCommit<EventoNovo, RegisterResult>(
    measureGroups('evento', async (key, [novo]) => [await registerEvento(pool, key.slice(0, key.indexOf('/')), novo!)]),
    1,
    isLocked,
  );
  const readRow = rowReader<Omit<EventoDocuments, 'xml'> & Ref & { readonly xml: Buffer | null }>(pool, DOCUMENTS);
  return {
    ...eventoClaims(pool),
    ...eventoOperations(pool),
    /** Numbers and stores an event, and returns after the commit. A conflict is a result, not an exception. */
    register: (tenant: string, novo: EventoNovo): Promise<RegisterResult> => inTurn(`${tenant}/${novo.nota}`, novo),
    findNota: readNotaForEvento.bind(null, pool),
    /** Events on several notas (by `id`) that affect other events, ordered as in `NotaForEvento`. */
    listOnNotas: readOnNotas.bind(null, pool),
    /** See {@link readEventosOf}. */
    listOf: readEventosOf.bind(null, pool),
    findById: readEvento.bind(null, pool),
    /** Those of these events, by id, on which the ADN has decided, or that wait for something else. */
    listDecided: async (tenant: string, ids: readonly string[]): Promise<readonly string[]> =>
      (await pool.query<{ id: string }>(DECIDED([tenant, ids]))).rows.map(({ id }) => id),
    readDocuments: async (tenant: string, id: string): Promise<EventoDocuments | undefined> => {
      const row = await readRow(tenant, id);
      if (row === undefined) return undefined;
      const { id: _id, mes, xml, ...others } = row;
      if (xml !== null) return { ...others, xml };
      return { ...others, ...(await readEventoArquivado(pool, tenant, { id, mes })) };
    },
    /** The moves of an event, from its registration on. */
    listTrail: trailReader<EventoStep>(pool, 'evento'),
    /** The documents of events as they were written, by id. */
    readXml: async (tenant: string, eventos: readonly Ref[]): Promise<ReadonlyMap<string, string>> => {
      const read = [...groupByMes(eventos)].map(async ([mes, some]) => {
        const query = { ...XML_OF([tenant, some.map(({ id }) => id), mes]), binary: true };
        return (await pool.query<{ evento: string; xml: Buffer }>(query)).rows;
      });
      const found = new Map((await Promise.all(read)).flat().map(({ evento, xml }) => [evento, xml.toString('utf8')]));
      // An event that an operator sends again may be of any month.
      for (const evento of eventos.filter(({ id }) => !found.has(id))) {
        const arquivado = await findEventoArquivado(pool, tenant, evento);
        if (arquivado !== undefined) found.set(evento.id, arquivado.xml.toString('utf8'));
      }
      return found;
    },
  };
}
