/**
 * The rows of the eventos: registering under constraints, readings, the claims of the worker and the operator's moves. All
 * the SQL about eventos is here, and every statement that writes or locks names one tenant. What a column means is decided
 * in `fiscal`.
 *
 * Whoever locks both a nota and its eventos takes the nota first; the claim, which does not, waits for nobody.
 */
import { randomUUID } from 'node:crypto';
import { CODIGOS_ENTRE_PARTES } from '../fiscal/conflitos-evento.ts';
import type { ErrosAdn } from '../fiscal/erros-adn.ts';
import {
  EVENTO_MOVES,
  EVENTO_PROBLEMAS,
  type EventoEstado,
  type EventoMove,
  type EventoTrigger,
} from '../fiscal/evento.ts';
import { NUMERO_SEQUENCIAL_MAX } from '../fiscal/layout/evento.ts';
import { type NotaEstado, RASCUNHOS } from '../fiscal/nota.ts';
import { groupCommit } from './group-commit.ts';
import { giveKeysBack, type KeyedSuccess, takeKeys } from './idempotencia.ts';
import { type Db, ONE_BY_ONE, pipelined, type TransactionOptions, writeAlone, writeUnlocked } from './open.ts';
import type { PoolClient } from './pg.ts';
import { advanceRecepcao, insertCertificados, printsOf, type Recebida } from './recepcoes.ts';
import { reserveSequence } from './sequencias.ts';
import { replacesOwn } from './substituicao.ts';
import { isLocked } from './unavailable.ts';

/** An event as it is registered. Moments in milliseconds. */
export type EventoNovo = {
  /** `id` of its nota. */
  readonly nota: string;
  readonly codigo_tipo_evento: string;
  /** Processed, it cancels the nota: only one such event of a nota may be under way. */
  readonly cancela: boolean;
  /** CPF or CNPJ. */
  readonly autor: string;
  /** By the names of the JSON body. */
  readonly campos: Readonly<Record<string, string>>;
  readonly criado_em: number;
  /** The exact bytes that came and the value of their signature header; none of what is registered by office. */
  readonly recebido: Uint8Array | undefined;
  readonly recebido_assinatura: string | undefined;
  /** What the local authority is asked to play, in the sandbox (D-60). */
  readonly simular?: string | undefined;
  /** Of a request that came with one: taken with this event, or nothing is stored (D-19). */
  readonly key?: KeyedSuccess | undefined;
  /**
   * Makes the document, once the numbers are known; `id` is its `nDFSe`. Pure and quick: it runs inside the transaction,
   * and once more with other numbers when somebody took them first.
   */
  readonly complete: (numbers: { readonly id: bigint; readonly numero_sequencial: number }) => string;
};

export type EventoRow = {
  /** `id_evento`. */
  readonly id: string;
  /** `id` of its nota. */
  readonly nota: string;
  /** Of its nota. */
  readonly chave_acesso: string;
  /** Of its nota. */
  readonly numero_protocolo: string;
  /** Where its nota is. */
  readonly nota_estado: NotaEstado;
  /** Of its nota: when it wants attention, and who has it. */
  readonly nota_due_at: Date | null;
  readonly nota_claims: string | null;
  readonly codigo_tipo_evento: string;
  readonly numero_sequencial: number;
  readonly cancela: boolean;
  readonly estado: EventoEstado;
  /** Since when it is in its state. */
  readonly desde: Date;
  /** Null when nothing more happens by itself: in `erro`, when no retry is left. */
  readonly due_at: Date | null;
  /** Who has it; null when nobody does. */
  readonly claims: string | null;
  readonly tentativas: number;
  readonly reprocessamentos_count: number;
  readonly ultimo_reprocessamento_em: Date | null;
  /** Kept while it is sent in vain in between. */
  readonly aguardando_desde: Date | null;
  readonly criado_em: Date;
  /** When the authority gave its final word. */
  readonly processado_em: Date | null;
  readonly codigo_retorno: string | null;
  readonly mensagem_retorno: string | null;
  readonly erros_adn: ErrosAdn | null;
  readonly autor: string;
  readonly campos: Readonly<Record<string, string>>;
  /** The reception number that the ADN gave it. */
  readonly nsu_recepcao: string | null;
  /** When an operator has seen to its refusal. */
  readonly arquivado_em: Date | null;
};

export type RegisterResult =
  | { readonly evento: EventoRow }
  /** Somebody was first with this key, and has an answer under it. */
  | { readonly conflict: 'repetida' }
  /** Somebody else took the sequence, twice (409). */
  | { readonly conflict: 'sequencia' }
  /** Another cancellation of the nota is under way: this one (422). */
  | { readonly conflict: 'cancelamento_aberto'; readonly evento: EventoRow }
  /** What the nota has become meanwhile. */
  | { readonly conflict: 'nota_cancelada' | 'nota_recusada' }
  /** The nota that it names as the substitute was withdrawn meanwhile. */
  | { readonly conflict: 'substituta_recusada' }
  /** The nota has as many events of the type as their identifiers have numbers for. */
  | { readonly conflict: 'limite' };

/**
 * An event that others are judged by: processed or waived, or the cancellation that is under way. A note may have thousands of
 * others under way, which are in nobody's way.
 */
export type EventoOnNota = {
  readonly id: string;
  readonly codigo_tipo_evento: string;
  readonly numero_sequencial: number;
  readonly estado: EventoEstado;
  /** Something more happens by itself; of an event in `erro`, that a retry is left. */
  readonly isDue: boolean;
  readonly autor: string;
  readonly campos: Readonly<Record<string, string>>;
};

/** What registering an event needs to know of its nota. */
export type NotaForEvento = {
  readonly id: string;
  readonly chave_acesso: string;
  readonly numero_protocolo: string;
  readonly estado: NotaEstado;
  readonly prestador_cpf_cnpj: string;
  readonly tomador_cpf_cnpj: string | null;
  /** The document, which alone names the intermediary. */
  readonly nfse: Buffer;
  /** In the order in which they were processed, then the cancellation under way. */
  readonly eventos: readonly EventoOnNota[];
  /** Keys of its party's notas that replace it and still wait, for the event on it as a rule. */
  readonly substitutas: readonly string[];
};

/** An event that the worker holds for a while. */
export type ClaimedEvento = {
  readonly id: string;
  /** `id` of its nota. */
  readonly nota: string;
  readonly chave_acesso: string;
  readonly codigo_tipo_evento: string;
  readonly numero_sequencial: number;
  readonly cancela: boolean;
  /** Where it was found: one that was announced before (`enviado`, `erro`) is asked about before it is sent again. */
  readonly found: EventoEstado;
  readonly tentativas: number;
  /** This announcement among them, when it is a retry. */
  readonly reprocessamentos_count: number;
  readonly autor: string;
  readonly campos: Readonly<Record<string, string>>;
  readonly criado_em: Date;
  readonly simular: string | null;
  /** The highest reception number known when it was first announced. */
  readonly nsu_antes: string;
};

export type EventoClaim = {
  readonly token: string;
  /** Announced. Those of one nota follow each other in the order of registration, with nothing of the nota left out before. */
  readonly eventos: readonly ClaimedEvento[];
  /** Events moved, with those that only wait for their nota or are waived with it: when it is `max` or more there may be others. */
  readonly moved: number;
};

export type EventoSettlement = {
  readonly id: string;
  readonly move: EventoMove;
  /** Milliseconds; undefined exactly when the move's `due` is `never`. */
  readonly dueAt: number | undefined;
  /** What was answered before is forgotten. */
  readonly codigo_retorno?: string | undefined;
  readonly mensagem_retorno?: string | undefined;
  readonly erros_adn?: ErrosAdn | null | undefined;
  /** What the ADN holds now: its reception number, and the signature under which it was sent. */
  readonly recebida?: Recebida | undefined;
};

/** Moves that an operator makes. */
export type OperatorTrigger = Extract<
  EventoTrigger,
  'reprocessamento' | 'separacao' | 'retirada' | 'dispensa' | 'arquivamento'
>;

export type MoveResult =
  | { readonly evento: EventoRow }
  /** The machine has no such move from where the event is. */
  | { readonly found: EventoEstado }
  /** Reprocessed, it would be under way beside another cancellation of its nota: this one. */
  | { readonly conflict: 'cancelamento_aberto'; readonly evento: EventoRow }
  /** Reprocessed, it would cancel a nota that is cancelled already. */
  | { readonly conflict: 'nota_cancelada' };

/** What is kept beside an event. */
export type EventoDocuments = {
  readonly recebido: Buffer | null;
  readonly recebido_assinatura: string | null;
  readonly xml: Buffer;
  /** Value of the municipality's signature, and the certificate that made it; null where nothing was signed. */
  readonly assinatura: Buffer | null;
  readonly certificado_der: Buffer | null;
};

/** A move that an event has made. */
export type EventoStep = {
  readonly em: Date;
  readonly de: EventoEstado | null;
  readonly gatilho: EventoTrigger;
  readonly para: EventoEstado;
  readonly mensagem: string | null;
  /** Who made it by hand; null where nobody did, or nobody was told. */
  readonly quem: string | null;
};

/** Moments before which an event that is still under way is stuck, in milliseconds. */
export type StuckBefore = { readonly pendente: number; readonly aguardando: number };

export type EventoCount = {
  readonly estado: EventoEstado;
  /** They are stuck, or rest without having come to anything. */
  readonly temProblema: boolean;
  readonly eventos: number;
};

/** Which events with a problem. */
export type ProblemaFilter = {
  /** `id` of a nota. */
  readonly nota?: string | undefined;
  readonly estado?: EventoEstado | undefined;
  /** What the environment answered. */
  readonly codigo?: string | undefined;
  /** Instead of the problems, the refusals that follow from what another party has registered. */
  readonly entrePartes?: boolean | undefined;
};

/** Events with a problem that are alike. */
export type ProblemaCount = {
  readonly estado: EventoEstado;
  readonly codigo_retorno: string | null;
  readonly eventos: number;
  readonly notas: number;
};

/** An event with a problem; `quantos`: events of its nota with the same problem, itself among them. */
export type ProblemaRow = EventoRow & { readonly quantos: number };

export type ProblemaPage = {
  /** Of the page. */
  readonly eventos: readonly ProblemaRow[];
  /** Of all pages; zero on a page beyond the last one. */
  readonly linhas: number;
};

export type EventoStore = {
  /** Numbers and stores an event; answers after the commit. What stands against it is answered, not thrown. */
  register(tenant: string, novo: EventoNovo): Promise<RegisterResult>;
  findNota(
    tenant: string,
    nota: { readonly chave: string } | { readonly protocolo: string },
  ): Promise<NotaForEvento | undefined>;
  /** Events that others are judged by, of several notas by their `id`, ordered as in {@link NotaForEvento}. */
  listOnNotas(tenant: string, notas: readonly string[]): Promise<ReadonlyMap<string, readonly EventoOnNota[]>>;
  /** All events of a nota, newest first. */
  listOf(tenant: string, nota: string): Promise<readonly EventoRow[]>;
  /** By their sequence. */
  listOfTipo(tenant: string, nota: string, codigo: string): Promise<readonly EventoRow[]>;
  find(tenant: string, nota: string, codigo: string, sequencial: number): Promise<EventoRow | undefined>;
  findById(tenant: string, id: string): Promise<EventoRow | undefined>;
  readDocuments(tenant: string, id: string): Promise<EventoDocuments | undefined>;
  /** The moves of an event, from its registration on. */
  listTrail(tenant: string, id: string): Promise<readonly EventoStep[]>;
  /** How many events of a tenant are under way or have a problem, by state. */
  count(tenant: string, before: StuckBefore): Promise<readonly EventoCount[]>;
  /** Events with a problem by what it is, the gravest first, and of those the most frequent. */
  countProblemas(tenant: string, before: StuckBefore, filter: ProblemaFilter): Promise<readonly ProblemaCount[]>;
  /**
   * Events with a problem, the gravest first: of those that came to nothing the newest, of those that are stuck the longest.
   * Those of one nota with the same problem are one line, unless the filter names the nota.
   */
  listProblemas(
    tenant: string,
    before: StuckBefore,
    filter: ProblemaFilter,
    page: { readonly from: number; readonly max: number },
  ): Promise<ProblemaPage>;
  /** Files all refused events with a problem, if they are as many as `expected`; returns how many there are. */
  archive(
    tenant: string,
    filter: ProblemaFilter,
    expected: number,
    now: number,
    by: { readonly mensagem: string | undefined; readonly quem: string },
  ): Promise<number>;
  /** The documents of events as they were written, by id. */
  readXml(tenant: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Tenants with an event that can be claimed: a question asked across tenants. */
  listTenantsDue(now: number): Promise<readonly string[]>;
  /**
   * Takes due events under a token of one's own and announces the sending, in one commit; what waits for its nota is looked at again at `pollAt`, what
   * has a refused one is waived. An event is left while an earlier one of its nota is under way and not in this claim.
   * `mayAnnounce` false: only what is not to be sent is moved.
   */
  claim(
    tenant: string,
    now: number,
    leaseUntil: number,
    pollAt: number,
    max: number,
    mayAnnounce?: boolean,
    token?: string,
  ): Promise<EventoClaim>;
  /** Writes the outcome of the events that still carry the token, cancels their notas, wakes what replaces those; returns how many did. */
  settle(tenant: string, token: string, now: number, settlements: readonly EventoSettlement[]): Promise<number>;
  /** Undefined: there is no such event. A worker that holds it settles nothing any more. */
  move(
    tenant: string,
    id: string,
    trigger: OperatorTrigger,
    now: number,
    mensagem: string | undefined,
    quem?: string,
  ): Promise<MoveResult | undefined>;
};

export function eventoStore(pool: Db): EventoStore {
  // Those of one nota go one after the other, instead of holding connections while they wait for each other.
  const inTurn = groupCommit<EventoNovo, RegisterResult>(
    async (key, [novo]) => [await register(pool, key.slice(0, key.indexOf('/')), novo!)],
    1,
    isLocked,
  );
  const one = async (tenant: string, condition: string, values: readonly unknown[]): Promise<EventoRow | undefined> =>
    (await readEventos(pool, tenant, condition, values))[0];
  return {
    register: (tenant, novo) => inTurn(`${tenant}/${novo.nota}`, novo),
    findNota: (tenant, nota) =>
      'chave' in nota
        ? readNotaForEvento(pool, 'nota_evento_chave', 'n.chave_acesso = $2', tenant, nota.chave)
        : readNotaForEvento(pool, 'nota_evento_prot', 'n.numero_protocolo = $2', tenant, nota.protocolo),
    listOnNotas: (tenant, notas) => readOnNotas(pool, tenant, notas),
    listOf: (tenant, nota) => readEventos(pool, tenant, 'e.nota = $2 order by e.criado_em desc, e.ordem desc', [nota]),
    listOfTipo: (tenant, nota, codigo) =>
      readEventos(pool, tenant, 'e.nota = $2 and e.codigo_tipo_evento = $3 order by e.numero_sequencial', [
        nota,
        codigo,
      ]),
    find: (tenant, nota, codigo, sequencial) =>
      one(tenant, 'e.nota = $2 and e.codigo_tipo_evento = $3 and e.numero_sequencial = $4', [nota, codigo, sequencial]),
    findById: (tenant, id) => one(tenant, 'e.id = $2', [id]),
    readDocuments: async (tenant, id) => {
      const text = `select d.recebido, d.recebido_assinatura, d.xml, e.assinatura,
          (select c.der from certificados c where c.tenant = $1 and c.impressao = e.certificado) as certificado_der
        from eventos e join documentos_eventos d on d.tenant = $1 and d.evento = e.id where e.tenant = $1 and e.id = $2`;
      return (await pool.query<EventoDocuments>(text, [tenant, id])).rows[0];
    },
    listTrail: async (tenant, id) => {
      const text = `select em, de, gatilho, para, mensagem, quem from trilha_eventos
        where tenant = $1 and evento = $2 order by movimento`;
      return (await pool.query<EventoStep>(text, [tenant, id])).rows;
    },
    count: async (tenant, before) => {
      const values = [tenant, new Date(before.pendente), new Date(before.aguardando)];
      return (await pool.query<EventoCount>(COUNT, values)).rows;
    },
    countProblemas: async (tenant, before, filter) => {
      const { text, values } = problemas(tenant, filter, before);
      const query = `select estado, codigo_retorno, count(*)::int as eventos, count(distinct nota)::int as notas
        from (${text}) x group by estado, codigo_retorno
        order by array_position($${values.length + 1}::text[], estado), eventos desc, codigo_retorno`;
      return (await pool.query<ProblemaCount>(query, [...values, EVENTO_PROBLEMAS])).rows;
    },
    listProblemas: (tenant, before, filter, page) => comProblema(pool, tenant, before, filter, page),
    archive: (tenant, filter, expected, now, by) => arquivar(pool, tenant, filter, expected, now, by),
    readXml: async (tenant, ids) => {
      const text = `select d.evento::text as evento, d.xml from unnest($2::bigint[]) as x (id)
        join documentos_eventos d on d.tenant = $1 and d.evento = x.id`;
      const query = { name: 'xml_eventos', text, values: [tenant, ids], binary: true };
      const { rows } = await pool.query<{ evento: string; xml: Buffer }>(query);
      return new Map(rows.map(({ evento, xml }) => [evento, xml.toString('utf8')]));
    },
    listTenantsDue: async (now) => {
      const text = `select m.tenant from municipios m cross join lateral (select 1 from eventos e
          where e.tenant = m.tenant and e.due_at <= $1 and (${isFirst('m.tenant')} or (e.estado = 'pendente' and exists (
            select 1 from notas n where n.tenant = m.tenant and n.id = e.nota and ${IS_DRAFT}))) limit 1) e`;
      const { rows } = await pool.query<{ tenant: string }>({ name: 'tenants_eventos', text, values: [new Date(now)] });
      return rows.map(({ tenant }) => tenant);
    },
    claim: (tenant, now, leaseUntil, pollAt, max, mayAnnounce = true, token = randomUUID()) =>
      claim(pool, tenant, { now, leaseUntil, pollAt, max, mayAnnounce, token }),
    settle: (tenant, token, now, settlements) =>
      writeUnlocked(settlements, (some, options) => settle(pool, tenant, token, now, some, options)),
    move: (tenant, id, trigger, now, mensagem, quem) => move(pool, tenant, id, trigger, now, mensagem, quem),
  };
}

// Registering.

/** Once more when somebody took the number first, or when the cancellation that stood against it has just ended. */
async function register(pool: Db, tenant: string, novo: EventoNovo): Promise<RegisterResult> {
  const id = await reserveSequence(pool, tenant, 'nDFSe', 1);
  const first = await registerOnce(pool, tenant, id, novo);
  return isCollision(first) ? settledCollision(await registerOnce(pool, tenant, id, novo)) : first;
}

type Collision = { readonly collision: 'sequencia' | 'cancelamento' };

function isCollision(result: RegisterResult | Collision): result is Collision {
  return 'collision' in result;
}

/** A cancellation that others open and end as fast as it is looked for is a collision like the other. */
function settledCollision(result: RegisterResult | Collision): RegisterResult {
  return isCollision(result) ? { conflict: 'sequencia' } : result;
}

/** The constraints that two registrations at once may break, and what the second one has met. */
const COLLISIONS: Readonly<Record<string, Collision['collision']>> = {
  eventos_sequencia: 'sequencia',
  eventos_ordem: 'sequencia',
  eventos_cancelamento_aberto: 'cancelamento',
};

async function registerOnce(
  pool: Db,
  tenant: string,
  id: bigint,
  novo: EventoNovo,
): Promise<RegisterResult | Collision> {
  try {
    return await pipelined(pool, (client) => insertEvento(client, tenant, id, novo));
  } catch (error) {
    const { code, constraint } = error as { code?: string; constraint?: string };
    const collision = code === '23505' ? COLLISIONS[constraint ?? ''] : undefined;
    if (collision === undefined) throw error;
    const evento = collision === 'cancelamento' ? await openCancelamento(pool, tenant, novo.nota) : undefined;
    return evento === undefined ? { collision } : { conflict: 'cancelamento_aberto', evento };
  }
}

async function openCancelamento(pool: Db, tenant: string, nota: string): Promise<EventoRow | undefined> {
  return (await readEventos(pool, tenant, 'e.nota = $2 and e.cancela and e.due_at is not null', [nota]))[0];
}

/** Until the end of the transaction the nota stays as it is, and what follows sees what went before. */
const LOCK_NOTA = `select chave_acesso, numero_protocolo, estado, due_at as nota_due_at, claims as nota_claims
  from notas where tenant = $1 and id = $2 for no key update`;

/** A statement of its own, after the lock: the one before us may have committed while we waited. */
const LAST_NUMBERS = `select
  coalesce((select max(ordem) from eventos where tenant = $1 and nota = $2), 0) as ordem,
  coalesce((select max(numero_sequencial) from eventos where tenant = $1 and nota = $2 and codigo_tipo_evento = $3), 0)
    as sequencial`;

/** Whoever withdraws a nota holds the one that it replaces. */
const IS_REFUSED = `select 1 from notas where tenant = $1 and chave_acesso = $2 and estado = 'recusada'`;

const INSERT_EVENTO = `insert into eventos (tenant, id, nota, ordem, codigo_tipo_evento, numero_sequencial, cancela, estado,
    desde, due_at, criado_em, autor, campos, simular)
  values ($1, $2, $3, $4, $5, $6, $7, 'pendente', $8, $8, $8, $9, $10, $11) returning *`;

const INSERT_DOCUMENTO = `insert into documentos_eventos (tenant, evento, recebido, recebido_assinatura, xml)
  values ($1, $2, $3, $4, $5)`;

const INSERT_REGISTRO = `insert into trilha_eventos (tenant, evento, movimento, em, de, gatilho, para)
  values ($1, $2, 1, $3, null, 'registro', 'pendente')`;

type Registration = { readonly result: RegisterResult; readonly writes: readonly Promise<unknown>[] };

/** With its key, which is taken before anything is locked and given back when nothing comes of it. */
async function insertEvento(client: PoolClient, tenant: string, id: bigint, novo: EventoNovo): Promise<Registration> {
  const { key } = novo;
  if (key === undefined) return insertUnderLock(client, tenant, id, novo);
  const taken = await takeKeys(client, tenant, [{ ...key, status: 201, evento: id }]);
  if (taken.size === 0) return { result: { conflict: 'repetida' }, writes: [] };
  const { result, writes } = await insertUnderLock(client, tenant, id, novo);
  return { result, writes: 'conflict' in result ? [giveKeysBack(client, tenant, [key.impressao])] : writes };
}

async function insertUnderLock(
  client: PoolClient,
  tenant: string,
  id: bigint,
  novo: EventoNovo,
): Promise<Registration> {
  const { nota, codigo_tipo_evento, cancela, autor, campos, recebido, recebido_assinatura, simular } = novo;
  type OfNota = 'chave_acesso' | 'numero_protocolo' | 'nota_due_at' | 'nota_claims';
  type Locked = Pick<EventoRow, OfNota> & { estado: NotaEstado };
  const substituta = campos.chave_acesso_substituta;
  const [locked, last, refused] = await Promise.all([
    client.query<Locked>(LOCK_NOTA, [tenant, nota]),
    client.query<{ ordem: number; sequencial: number }>(LAST_NUMBERS, [tenant, nota, codigo_tipo_evento]),
    substituta === undefined ? undefined : client.query(IS_REFUSED, [tenant, substituta]),
  ]);
  const found = locked.rows[0];
  if (found === undefined) throw new Error(`there is no nota ${nota} to register an event on`);
  const { estado, ...named } = found;
  if (estado === 'cancelada') return { result: { conflict: 'nota_cancelada' }, writes: [] };
  if (estado === 'recusada') return { result: { conflict: 'nota_recusada' }, writes: [] };
  if (refused?.rowCount) return { result: { conflict: 'substituta_recusada' }, writes: [] };
  const { ordem, sequencial } = last.rows[0]!;
  const numero_sequencial = sequencial + 1;
  if (numero_sequencial > NUMERO_SEQUENCIAL_MAX) return { result: { conflict: 'limite' }, writes: [] };

  const xml = novo.complete({ id, numero_sequencial });
  const criado = new Date(novo.criado_em);
  const { rows } = await client.query<Omit<EventoRow, keyof typeof named | 'nota_estado'>>(INSERT_EVENTO, [
    tenant,
    id,
    nota,
    ordem + 1,
    codigo_tipo_evento,
    numero_sequencial,
    cancela,
    criado,
    autor,
    JSON.stringify(campos),
    simular,
  ]);
  const document = [tenant, id, recebido && Buffer.from(recebido), recebido_assinatura, Buffer.from(xml, 'utf8')];
  return {
    result: { evento: { ...rows[0]!, ...named, nota_estado: estado } },
    writes: [client.query(INSERT_DOCUMENTO, document), client.query(INSERT_REGISTRO, [tenant, id, criado])],
  };
}

// Readings.

async function readEventos(
  db: Db | PoolClient,
  tenant: string,
  condition: string,
  values: readonly unknown[],
): Promise<readonly EventoRow[]> {
  const text = `select e.*, n.chave_acesso, n.numero_protocolo, n.estado as nota_estado, n.due_at as nota_due_at,
      n.claims as nota_claims
    from eventos e join notas n on n.tenant = $1 and n.id = e.nota where e.tenant = $1 and ${condition}`;
  return (await db.query<EventoRow>(text, [tenant, ...values])).rows;
}

/** Under way for longer than it should be: an event that nobody sent, or whose nota nobody authorised. */
function isStuck(pendente: string, aguardando: string): string {
  return `e.due_at is not null and case e.estado when 'pendente' then e.desde < ${pendente}
  when 'aguardando_autorizacao_nota' then coalesce(e.aguardando_desde, e.desde) < ${aguardando} else false end`;
}

/** As in the partial indexes. */
const IS_IN_VAIN = `e.due_at is null and e.estado in ('rejeitado', 'erro', 'erro_reprocessamento')
  and e.arquivado_em is null and not e.entre_partes`;
const IS_ENTRE_PARTES = 'e.entre_partes and e.arquivado_em is null';

const COUNT = `select estado, problema as "temProblema", count(*)::int as eventos from (
    select e.estado, ${isStuck('$2', '$3')} as problema from eventos e where e.tenant = $1 and e.due_at is not null
    union all
    select e.estado, true from eventos e where e.tenant = $1 and ${IS_IN_VAIN}
  ) x group by estado, problema`;

type Statement = { readonly text: string; readonly values: readonly unknown[] };

/** Events with a problem; `urgencia` is less the sooner one is to be looked at. Without `before` only what came to nothing. */
function problemas(tenant: string, filter: ProblemaFilter, before?: StuckBefore): Statement {
  const { nota, estado, codigo, entrePartes } = filter;
  const values: unknown[] = [tenant];
  const place = (value: unknown): string => `$${values.push(value)}`;
  const filters = [
    nota === undefined ? '' : ` and e.nota = ${place(nota)}`,
    estado === undefined ? '' : ` and e.estado = ${place(estado)}`,
    codigo === undefined ? '' : ` and e.codigo_retorno = ${place(codigo)}`,
  ].join('');
  const found = (condition: string, urgencia: string): string =>
    `select e.id, e.nota, e.estado, e.codigo_retorno, ${urgencia} as urgencia
      from eventos e where e.tenant = $1 and ${condition}${filters}`;
  const inVain = found(entrePartes ? IS_ENTRE_PARTES : IS_IN_VAIN, '-extract(epoch from e.desde)');
  if (entrePartes || before === undefined) return { text: inVain, values };
  const stuck = isStuck(place(new Date(before.pendente)), place(new Date(before.aguardando)));
  return { text: `${inVain} union all ${found(stuck, 'extract(epoch from e.desde)')}`, values };
}

async function comProblema(
  pool: Db,
  tenant: string,
  before: StuckBefore,
  filter: ProblemaFilter,
  { from, max }: { readonly from: number; readonly max: number },
): Promise<ProblemaPage> {
  const { text, values } = problemas(tenant, filter, before);
  const at = values.length;
  const inOrder = `array_position($${at + 1}::text[], x.estado), x.urgencia, x.id`;
  const query = `with linhas as (
      select (array_agg(id order by urgencia, id))[1] as id, estado, min(urgencia) as urgencia, count(*)::int as quantos
      from (${text}) p group by nota, estado, codigo_retorno${filter.nota === undefined ? '' : ', id'}
    ), pagina as (
      select x.*, (count(*) over ())::int as linhas from linhas x order by ${inOrder} limit $${at + 2} offset $${at + 3}
    )
    select e.*, n.chave_acesso, n.numero_protocolo, n.estado as nota_estado, x.quantos, x.linhas
    from pagina x join eventos e on e.tenant = $1 and e.id = x.id join notas n on n.tenant = $1 and n.id = e.nota
    order by ${inOrder}`;
  type Line = ProblemaRow & { readonly linhas: number };
  const { rows } = await pool.query<Line>(query, [...values, EVENTO_PROBLEMAS, max, from]);
  return { eventos: rows, linhas: rows[0]?.linhas ?? 0 };
}

/** Of a nota that is not decided yet, in SQL. */
const DRAFTS = RASCUNHOS.map((estado) => `'${estado}'`).join(', ');

/** The events of the nota `n` that others are judged by. */
const ON_NOTA = `(select coalesce(json_agg(json_build_object('id', e.id::text, 'codigo_tipo_evento', e.codigo_tipo_evento,
      'numero_sequencial', e.numero_sequencial, 'estado', e.estado, 'isDue', e.due_at is not null, 'autor', e.autor,
      'campos', e.campos) order by e.processado_em nulls last, e.ordem), '[]')
    from (
      select * from eventos where tenant = $1 and nota = n.id and estado in ('processado', 'dispensado')
      union all
      select * from eventos where tenant = $1 and nota = n.id and cancela and due_at is not null
    ) e) as eventos`;

/** Of the nota `n`: those that replace it and are not at their end. */
const SUBSTITUTAS = `array(select s.chave_acesso from notas s where s.tenant = $1 and s.substitui = n.chave_acesso
    and ${replacesOwn('s')} and s.estado in (${DRAFTS}) order by s.id) as substitutas`;

async function readNotaForEvento(
  pool: Db,
  name: string,
  condition: string,
  tenant: string,
  value: string,
): Promise<NotaForEvento | undefined> {
  const text = `select n.id, n.chave_acesso, n.numero_protocolo, n.estado, n.prestador_cpf_cnpj, n.tomador_cpf_cnpj,
      (select d.nfse from documentos d where d.tenant = $1 and d.nota = n.id) as nfse, ${ON_NOTA}, ${SUBSTITUTAS}
    from notas n where n.tenant = $1 and ${condition}`;
  return (await pool.query<NotaForEvento>({ name, text, values: [tenant, value] })).rows[0];
}

async function readOnNotas(
  pool: Db,
  tenant: string,
  notas: readonly string[],
): Promise<ReadonlyMap<string, readonly EventoOnNota[]>> {
  const text = `select n.id::text as nota, ${ON_NOTA} from unnest($2::bigint[]) as n (id)`;
  const values = [tenant, notas];
  const { rows } = await pool.query<{ nota: string; eventos: readonly EventoOnNota[] }>({
    name: 'eventos_on_notas',
    text,
    values,
  });
  return new Map(rows.map(({ nota, eventos }) => [nota, eventos]));
}

// Claims.

/** Of the events `e` of a nota, the first that is under way: the others are sent after it. */
function isFirst(tenant: string): string {
  return `not exists (select 1 from eventos b
    where b.tenant = ${tenant} and b.nota = e.nota and b.due_at is not null and b.ordem < e.ordem)`;
}

/** Nothing of the nota `n` is sent yet. */
const IS_DRAFT = `n.estado in (${DRAFTS})`;

/**
 * The first due event of each nota and, after it, those that are due too; what follows one that is not, or that somebody
 * holds, is left (the last condition of `ready`). The nota is locked for the moment, so that it is not authorised or refused
 * between the look at it and the commit; one that is being so just now is looked at the next time.
 *
 * Of a nota that is a draft nothing is sent, so its order does not matter: `waiting` takes what follows, which would otherwise
 * seem stuck. These are counted for themselves, so that a nota with many keeps nobody from being sent. Afterwards the first
 * alone is looked at soon; the authorisation of the nota wakes them all, and thousands that are due are a long look each time.
 */
const CLAIM = `with first as (
    select e.id, e.nota, e.ordem, e.estado as found, e.due_at, n.estado as nota_estado, n.chave_acesso
    from eventos e join notas n on n.tenant = $1 and n.id = e.nota
    where e.tenant = $1 and e.due_at <= $2 and ${isFirst('$1')}
      and ($7 or (n.estado in (${DRAFTS}, 'recusada') and e.estado in ('pendente', 'aguardando_autorizacao_nota')))
    order by e.due_at limit $6 for update of e skip locked for share of n skip locked
  ), others as (
    select e.id, e.nota, e.ordem, e.estado as found, f.due_at, f.nota_estado, f.chave_acesso
    from first f join eventos e on e.tenant = $1 and e.nota = f.nota and e.ordem > f.ordem and e.due_at <= $2
    where f.nota_estado not in (${DRAFTS})
    order by f.due_at, f.nota, e.ordem limit $6 for update of e skip locked
  ), waiting as (
    select e.id, e.nota, e.ordem, e.estado as found, e.due_at, n.estado as nota_estado, n.chave_acesso
    from eventos e join notas n on n.tenant = $1 and n.id = e.nota
    where e.tenant = $1 and e.due_at <= $2 and e.estado = 'pendente' and ${IS_DRAFT} and not (${isFirst('$1')})
    order by e.due_at limit $6 for update of e skip locked for share of n skip locked
  ), taken as (
    select * from first union all select * from others
  ), ready as (
    select t.*, case
        when t.found not in ('pendente', 'aguardando_autorizacao_nota') then 'anuncio'
        when t.nota_estado = 'recusada' then 'recusa_nota'
        when t.nota_estado in (${DRAFTS}) then 'nota_nao_autorizada'
        else 'anuncio'
      end as gatilho
    from taken t
    where not exists (select 1 from eventos b where b.tenant = $1 and b.nota = t.nota and b.due_at is not null
      and b.ordem < t.ordem and b.id not in (select id from taken))
    order by t.due_at, t.nota, t.ordem limit $6
  ), moving as (
    select ready.*, false as follows from ready union all select w.*, 'nota_nao_autorizada', true from waiting w
  ), known as (
    select coalesce((select nsu from recepcoes_adn where tenant = $1), 0) as nsu
  ), moved as (
    update eventos e set
      estado = m.para,
      desde = case when m.para = r.found then e.desde else $2 end,
      due_at = case r.gatilho when 'anuncio' then $4::timestamptz
        when 'nota_nao_autorizada' then $5::timestamptz + case when r.follows then interval '1 hour' else interval '0' end end,
      claims = case r.gatilho when 'anuncio' then $3::uuid end,
      tentativas = e.tentativas + (r.gatilho = 'anuncio')::int,
      reprocessamentos_count = e.reprocessamentos_count + (r.found = 'erro')::int,
      ultimo_reprocessamento_em = case when r.found = 'erro' then $2 else e.ultimo_reprocessamento_em end,
      aguardando_desde = case when r.gatilho = 'nota_nao_autorizada' then coalesce(e.aguardando_desde, $2)
        when r.gatilho = 'anuncio' then e.aguardando_desde end,
      nsu_antes = case r.gatilho when 'anuncio' then coalesce(e.nsu_antes, known.nsu) end,
      movimentos = e.movimentos + 1
    from moving r
      cross join lateral (select case r.gatilho when 'anuncio' then 'enviado' when 'recusa_nota' then 'dispensado'
        else 'aguardando_autorizacao_nota' end as para) m,
      known
    where e.tenant = $1 and e.id = r.id
    returning e.id, e.nota, r.chave_acesso, e.codigo_tipo_evento, e.numero_sequencial, e.cancela, r.found, e.tentativas,
      e.reprocessamentos_count, e.autor, e.campos, e.criado_em, e.simular, e.nsu_antes, r.gatilho, e.estado, e.movimentos,
      r.due_at, r.ordem
  ), trail as (
    insert into trilha_eventos (tenant, evento, movimento, em, de, gatilho, para)
    select $1, id, movimentos, $2, found, gatilho, estado from moved
  )
  select id, nota, chave_acesso, codigo_tipo_evento, numero_sequencial, cancela, found, tentativas, reprocessamentos_count,
    autor, campos, criado_em, simular, nsu_antes, gatilho
  from moved order by due_at, nota, ordem`;

async function claim(
  pool: Db,
  tenant: string,
  asked: {
    readonly now: number;
    readonly leaseUntil: number;
    readonly pollAt: number;
    readonly max: number;
    readonly mayAnnounce: boolean;
    readonly token: string;
  },
): Promise<EventoClaim> {
  const { now, leaseUntil, pollAt, max, mayAnnounce, token } = asked;
  const values = [tenant, new Date(now), token, new Date(leaseUntil), new Date(pollAt), max, mayAnnounce];
  type Moved = ClaimedEvento & { readonly gatilho: EventoTrigger };
  const { rows } = await pool.query<Moved>({ name: 'claim_eventos', text: CLAIM, values });
  const eventos = rows.flatMap(({ gatilho, ...evento }) => (gatilho === 'anuncio' ? [evento] : []));
  return { token, eventos, moved: rows.length };
}

/** Notas before their eventos: those that this settlement is going to cancel. */
const LOCK_NOTAS = `select n.id from notas n where n.tenant = $1 and n.id in (
    select e.nota from unnest($2::bigint[]) as x (id) join eventos e on e.tenant = $1 and e.id = x.id and e.cancela ${ONE_BY_ONE})
  order by n.id for no key update`;

const SETTLE = `with moved as (
    update eventos e set estado = x.para, due_at = x.due, claims = null,
      desde = case when x.para = x.de then e.desde else $3 end,
      processado_em = case when x.gatilho in ('conclusao', 'recusa', 'dispensa') then $3 else e.processado_em end,
      aguardando_desde = case x.gatilho when 'nota_desconhecida' then coalesce(e.aguardando_desde, $3)
        when 'adiamento' then e.aguardando_desde end,
      codigo_retorno = x.codigo, mensagem_retorno = x.mensagem, erros_adn = x.erros::jsonb,
      nsu_recepcao = coalesce(x.nsu, e.nsu_recepcao), assinatura = coalesce(x.assinatura, e.assinatura),
      certificado = coalesce(x.certificado, e.certificado), entre_partes = x.entre_partes, movimentos = e.movimentos + 1
    from unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::text[], $10::text[], $11::text[],
      $12::bigint[], $13::bytea[], $14::bytea[], $15::boolean[])
      as x (id, de, gatilho, para, due, codigo, mensagem, erros, nsu, assinatura, certificado, entre_partes)
    ${ONE_BY_ONE} and e.tenant = $1 and e.id = x.id and e.claims = $2 and e.estado = x.de
    returning e.id, e.nota, e.cancela, e.movimentos, x.de, x.gatilho, x.para, x.mensagem
  ), trail as (
    insert into trilha_eventos (tenant, evento, movimento, em, de, gatilho, para, mensagem)
    select $1, id, movimentos, $3, de, gatilho, para, mensagem from moved
  ), cancelled as (
    update notas n set estado = 'cancelada', data_cancelamento = $3, movimentos = n.movimentos + 1
    from moved m where m.cancela and m.para = 'processado' and n.tenant = $1 and n.id = m.nota and n.estado = 'autorizada'
    returning n.id, n.movimentos
  ), trail_of_notas as (
    insert into trilha_notas (tenant, nota, movimento, em, de, gatilho, para)
    select $1, id, movimentos, $3, 'autorizada', 'cancelamento', 'cancelada' from cancelled
  )
  select count(*)::int as settled from moved`;

/**
 * A nota that the ADN did not take yet is due at once: it goes, or is refused, now that the one it replaces is at its end. One
 * that somebody holds or is about to is let be: its own time is not further away than it has been waiting.
 */
const WAKE_SUBSTITUTAS = `update notas n set due_at = $2
  from (select s.id from unnest($3::bigint[]) as x (id)
      join notas o on o.tenant = $1 and o.id = x.id and o.estado in ('cancelada', 'recusada')
      join notas s on s.tenant = $1 and s.substitui = o.chave_acesso and ${replacesOwn('s')}
        and s.due_at > $2 and s.claims is null
    ${ONE_BY_ONE} for update of s skip locked) w
  where n.tenant = $1 and n.id = w.id`;

/** Makes due what replaces these notas, if they are at their end, in the transaction that brought them there. */
export function wakeSubstitutas(
  client: PoolClient,
  tenant: string,
  now: number,
  notas: readonly string[],
): readonly Promise<unknown>[] {
  if (notas.length === 0) return [];
  return [client.query({ name: 'wake_substitutas', text: WAKE_SUBSTITUTAS, values: [tenant, new Date(now), notas] })];
}

async function settle(
  pool: Db,
  tenant: string,
  token: string,
  now: number,
  settlements: readonly EventoSettlement[],
  options: TransactionOptions | undefined,
): Promise<number> {
  const received = settlements.map(({ recebida }) => recebida);
  const prints = printsOf(received);
  const concluded = settlements.filter(({ move }) => move.on === 'conclusao').map(({ id }) => id);
  const column = <Value>(pick: (one: EventoSettlement) => Value): Value[] => settlements.map(pick);
  const values = [
    tenant,
    token,
    new Date(now),
    column(({ id }) => id),
    column(({ move }) => move.from),
    column(({ move }) => move.on),
    column(({ move }) => move.to),
    column(({ dueAt }) => (dueAt === undefined ? null : new Date(dueAt).toISOString())),
    column(({ codigo_retorno }) => storable(codigo_retorno)),
    column(({ mensagem_retorno }) => storable(mensagem_retorno)),
    column(({ erros_adn }) => (erros_adn ? JSON.stringify(erros_adn) : null)),
    column(({ recebida }) => recebida?.nsu ?? null),
    column(({ recebida }) => recebida?.assinatura?.valor ?? null),
    column(({ recebida }) => prints.get(recebida?.assinatura?.certificado as Buffer) ?? null),
    column(({ move, codigo_retorno }) => move.on === 'recusa' && CODIGOS_ENTRE_PARTES.has(codigo_retorno ?? '')),
  ];
  return pipelined(
    pool,
    async (client) => {
      const certificados = insertCertificados(client, tenant, prints);
      const locked = concluded.length === 0 ? undefined : client.query<{ id: string }>(LOCK_NOTAS, [tenant, concluded]);
      const written = client.query<{ settled: number }>({ name: 'settle_eventos', text: SETTLE, values });
      const [{ rows }, notas] = await Promise.all([written, locked, ...certificados]);
      const woken = wakeSubstitutas(
        client,
        tenant,
        now,
        (notas?.rows ?? []).map(({ id }) => id),
      );
      return { result: rows[0]!.settled, writes: [...woken, ...advanceRecepcao(client, tenant, received)] };
    },
    options,
  );
}

/** A text from outside may hold U+0000, which no column takes. */
export function storable(text: string | undefined): string | null {
  return text?.replaceAll('\0', '') ?? null;
}

// The operator.

const MOVE = `with found as (
    select e.id, e.estado,
      e.estado = any ($8::text[]) and not ($4 = 'reprocessamento' and e.cancela and n.estado = 'cancelada') as may
    from eventos e join notas n on n.tenant = $1 and n.id = e.nota where e.tenant = $1 and e.id = $2 for update of e
  ), moved as (
    update eventos e set estado = $5, desde = case when $5 = found.estado then e.desde else $3 end, due_at = $6,
      claims = null, aguardando_desde = null, movimentos = e.movimentos + 1,
      -- What the environment once said is not why an operator ended it; of a refusal it stays what the integrator reads.
      mensagem_retorno = case when $4 = 'arquivamento' then e.mensagem_retorno else coalesce($7, e.mensagem_retorno) end,
      codigo_retorno = case when $5 in ('cancelado', 'dispensado') then null else e.codigo_retorno end,
      erros_adn = case when $5 in ('cancelado', 'dispensado') then null else e.erros_adn end,
      arquivado_em = case when $4 = 'arquivamento' then $3 end
    from found where e.tenant = $1 and e.id = found.id and found.may
    returning e.id, e.movimentos, found.estado as de
  ), trail as (
    insert into trilha_eventos (tenant, evento, movimento, em, de, gatilho, para, mensagem, quem)
    select $1, id, movimentos, $3, de, $4, $5, $7, $9 from moved
  )
  select estado, (select count(*) from moved) > 0 as moved from found`;

async function move(
  pool: Db,
  tenant: string,
  id: string,
  trigger: OperatorTrigger,
  now: number,
  mensagem: string | undefined,
  quem: string | undefined,
): Promise<MoveResult | undefined> {
  const { from, to, due } = movesOf(trigger);
  const at = new Date(now);
  const values = [tenant, id, at, trigger, to, due === 'now' ? at : null, storable(mensagem), from, storable(quem)];
  try {
    const { rows } = await writeAlone<{ estado: EventoEstado; moved: boolean }>(pool, { text: MOVE, values });
    if (rows[0] === undefined) return undefined;
    const { estado, moved } = rows[0];
    if (!moved) return from.includes(estado) ? { conflict: 'nota_cancelada' } : { found: estado };
  } catch (error) {
    if ((error as { constraint?: string }).constraint !== 'eventos_cancelamento_aberto') throw error;
    const [self] = await readEventos(pool, tenant, 'e.id = $2', [id]);
    const evento = self && (await openCancelamento(pool, tenant, self.nota));
    // It ended between the refusal and the look: the move may be made again.
    if (evento === undefined) throw error;
    return { conflict: 'cancelamento_aberto', evento };
  }
  const [evento] = await readEventos(pool, tenant, 'e.id = $2', [id]);
  return { evento: evento! };
}

/** As {@link MOVE} files one; of all that there are, or of none. */
async function arquivar(
  pool: Db,
  tenant: string,
  filter: ProblemaFilter,
  expected: number,
  now: number,
  { mensagem, quem }: { readonly mensagem: string | undefined; readonly quem: string },
): Promise<number> {
  const { from, to, on } = movesOf('arquivamento');
  const { text, values } = problemas(tenant, filter);
  const at = (place: number): string => `$${values.length + place}`;
  const query = `with found as (
      ${text} and e.estado = any (${at(1)}::text[]) order by e.id for update
    ), counted as (
      select count(*)::int as eventos from found
    ), moved as (
      update eventos e set arquivado_em = ${at(2)}, movimentos = e.movimentos + 1
      from found x, counted ${ONE_BY_ONE} and e.tenant = $1 and e.id = x.id and counted.eventos = ${at(3)}
      returning e.id, e.movimentos, x.estado as de
    ), trail as (
      insert into trilha_eventos (tenant, evento, movimento, em, de, gatilho, para, mensagem, quem)
      select $1, id, movimentos, ${at(2)}, de, ${at(4)}, ${at(5)}, ${at(6)}, ${at(7)} from moved
    )
    select eventos from counted`;
  const own = [from, new Date(now), expected, on, to, storable(mensagem), storable(quem)];
  const { rows } = await writeAlone<{ eventos: number }>(pool, { text: query, values: [...values, ...own] });
  return rows[0]!.eventos;
}

/** An event of a nota that names another as its substitute, unless it surely came to nothing. */
export async function eventoThatNames(
  client: PoolClient,
  tenant: string,
  nota: string,
  substituta: string,
): Promise<EventoRow | undefined> {
  const condition = `e.nota = $2 and e.cancela and e.campos ->> 'chave_acesso_substituta' = $3
    and e.estado not in ('rejeitado', 'cancelado', 'dispensado')`;
  return (await readEventos(client, tenant, condition, [nota, substituta]))[0];
}

// What a nota does to the events that wait for it.

/** In both statements the literal states are those of the partial index. */
const BEFORE_SENDING = `e.estado = any ($STATES::text[]) and e.estado in ('pendente', 'aguardando_autorizacao_nota')`;

const HAS_WAITING = `select 1 from eventos e where e.tenant = $1 and ${BEFORE_SENDING.replace('$STATES', '$2')} limit 1`;

/** Why an event was waived whose nota was refused, or withdrawn; the nota's own words follow. */
const OF_REFUSED_NOTA = 'A nota foi recusada, e o evento não tem o que mudar';

const MOVE_WAITING = `with found as (
    select e.id, e.estado, n.mensagem_retorno as motivo from unnest($3::bigint[]) as x (id)
      join notas n on n.tenant = $1 and n.id = x.id and n.estado = $4
      join eventos e on e.tenant = $1 and e.nota = x.id and ${BEFORE_SENDING.replace('$STATES', '$5')}
    ${ONE_BY_ONE} for update of e
  ), moved as (
    update eventos e set estado = $7, desde = $2, due_at = $8, aguardando_desde = null, movimentos = e.movimentos + 1,
      mensagem_retorno = case when $7 = 'dispensado' then '${OF_REFUSED_NOTA}' || coalesce(': ' || found.motivo, '.') end,
      codigo_retorno = null, erros_adn = null
    from found where e.tenant = $1 and e.id = found.id
    returning e.id, e.movimentos, found.estado as de
  )
  insert into trilha_eventos (tenant, evento, movimento, em, de, gatilho, para)
  select $1, id, movimentos, $2, de, $6, $7 from moved`;

/** What a decision about a nota does to its events that were not sent yet. */
const ON_DECISION = [
  { estado: 'autorizada', on: 'autorizacao_nota' },
  { estado: 'recusada', on: 'recusa_nota' },
] as const satisfies readonly { readonly estado: NotaEstado; readonly on: EventoTrigger }[];

/**
 * Wakes or waives the events of notas that were just settled, in the transaction that did. `decided`: where each nota should
 * have come to; one that somebody else holds has not, and its events stay as they are. Notas mostly have none: then this
 * is one look into an index that is empty.
 */
export async function moveWaitingEventos(
  client: PoolClient,
  tenant: string,
  now: number,
  decided: readonly { readonly id: string; readonly estado: NotaEstado }[],
): Promise<readonly Promise<unknown>[]> {
  const decisions = ON_DECISION.flatMap(({ estado, on }) => {
    const notas = decided.filter((nota) => nota.estado === estado).map(({ id }) => id);
    return notas.length === 0 ? [] : [{ estado, notas, ...movesOf(on) }];
  });
  if (decisions.length === 0) return [];
  const from = decisions.flatMap((decision) => decision.from);
  const waiting = await client.query({ name: 'has_waiting', text: HAS_WAITING, values: [tenant, from] });
  if (waiting.rowCount === 0) return [];
  const at = new Date(now);
  return decisions.map(({ estado, notas, from, on, to, due }) => {
    const values = [tenant, at, notas, estado, from, on, to, due === 'now' ? at : null];
    return client.query({ name: 'move_waiting', text: MOVE_WAITING, values });
  });
}

/** The moves of a trigger that leads to one place from wherever it finds an event. */
function movesOf(
  on: EventoTrigger,
): Pick<EventoMove, 'on' | 'to' | 'due'> & { readonly from: readonly EventoEstado[] } {
  const moves: readonly EventoMove[] = EVENTO_MOVES.filter((move) => move.on === on);
  return { on, to: moves[0]!.to, due: moves[0]!.due, from: moves.flatMap(({ from }) => from ?? []) };
}
