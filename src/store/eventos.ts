/** The eventos as they are read. How they are registered, claimed and moved by hand stands in the files beside. */
import type { EventoEstado, EventoTrigger } from '../fiscal/evento.ts';
import { eventoClaims } from './claim-eventos.ts';
import { type Step, trailReader } from './claims.ts';
import { readEvento, readEventosOf } from './evento-rows.ts';
import { groupCommit } from './group-commit.ts';
import type { NotaRow } from './nota-columns.ts';
import { type NotaForEvento, notaForEventoReader, readOnNotas, selectNotaForEvento } from './on-notas.ts';
import { type Db, ONE_BY_ONE, rowReader } from './open.ts';
import { eventoOperations } from './operate-eventos.ts';
import { planOnce } from './planned.ts';
import { type EventoNovo, type RegisterResult, registerEvento } from './register-eventos.ts';
import { isLocked } from './unavailable.ts';

/** What is kept beside an event. */
type EventoDocuments = Pick<NotaRow, 'assinatura' | 'certificado_der'> & {
  readonly recebido: Buffer | null;
  readonly recebido_assinatura: string | null;
  readonly xml: Buffer;
};

/** A move that an event has made. */
export type EventoStep = Step<EventoEstado, EventoTrigger>;

const DOCUMENTS = planOnce(
  'documentos_evento',
  `select d.recebido, d.recebido_assinatura, d.xml, e.assinatura,
    (select c.der from certificados c where c.tenant = $1 and c.impressao = e.certificado) as certificado_der
  from eventos e join documentos_eventos d on d.tenant = $1 and d.evento = e.id where e.tenant = $1 and e.id = $2`,
);

const XML_OF = planOnce(
  'xml_eventos',
  `select d.evento::text as evento, d.xml from unnest($2::bigint[]) as x (id)
    join documentos_eventos d on d.tenant = $1 and d.evento = x.id ${ONE_BY_ONE}`,
);

export function eventoStore(pool: Db) {
  // Those of one nota go one after the other, instead of holding connections while they wait for each other.
  const inTurn = groupCommit<EventoNovo, RegisterResult>(
    async (key, [novo]) => [await registerEvento(pool, key.slice(0, key.indexOf('/')), novo!)],
    1,
    isLocked,
  );
  const byChave = notaForEventoReader(pool, planOnce('nota_evento_chave', selectNotaForEvento('n.chave_acesso = $2')));
  const byProtocolo = notaForEventoReader(
    pool,
    planOnce('nota_evento_prot', selectNotaForEvento('n.numero_protocolo = $2')),
  );
  return {
    ...eventoClaims(pool),
    ...eventoOperations(pool),
    /** Numbers and stores an event; answers after the commit. What stands against it is answered, not thrown. */
    register: (tenant: string, novo: EventoNovo): Promise<RegisterResult> => inTurn(`${tenant}/${novo.nota}`, novo),
    findNota: (
      tenant: string,
      nota: { readonly chave: string } | { readonly protocolo: string },
    ): Promise<NotaForEvento | undefined> =>
      'chave' in nota ? byChave(tenant, nota.chave) : byProtocolo(tenant, nota.protocolo),
    /** Events that others are judged by, of several notas by their `id`, ordered as in {@link NotaForEvento}. */
    listOnNotas: readOnNotas.bind(null, pool),
    /** See {@link readEventosOf}. */
    listOf: readEventosOf.bind(null, pool),
    findById: readEvento.bind(null, pool),
    readDocuments: rowReader<EventoDocuments>(pool, DOCUMENTS),
    /** The moves of an event, from its registration on. */
    listTrail: trailReader<EventoStep>(pool, 'evento'),
    /** The documents of events as they were written, by id. */
    readXml: async (tenant: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      const query = { ...XML_OF([tenant, ids]), binary: true };
      const { rows } = await pool.query<{ evento: string; xml: Buffer }>(query);
      return new Map(rows.map(({ evento, xml }) => [evento, xml.toString('utf8')]));
    },
  };
}
