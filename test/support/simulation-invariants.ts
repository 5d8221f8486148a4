/** The invariants of a simulation at rest, read from the rows. Each result is the text of a violation; a correct simulation gives none. */

import type { EventoRow } from '../../src/base/book/evento-rows.ts';
import type { ClientBase } from '../../src/base/pg/pg.ts';
import type { World } from '../../src/base/world/world.ts';
import { signatureElement } from '../../src/documents/signing.ts';
import { TEXT_LENGTH_MAX } from '../../src/fiscal/erros-adn.ts';
import { EVENTO_MOVES, type EventoMove, eventoRests } from '../../src/fiscal/evento.ts';
import { eventoId, signedPartOfEvento, withEventoSignature } from '../../src/fiscal/layout/evento.ts';
import { NOTA_ESTADOS, NOTA_MOVES, type NotaEstado, type NotaMove } from '../../src/fiscal/nota.ts';
import { tipoByCodigo } from '../../src/fiscal/tipos-evento.ts';
import { describeAchado } from '../../src/subjects/auditoria/auditoria.ts';
import { contraditasOf } from '../../src/subjects/notas/nota-da-nfse.ts';
import { notaByChave } from '../../src/subjects/notas/queries.ts';
import { createStore } from '../../src/wiring/store.ts';
import { BY_HAND, type Simulacao } from './simulation.ts';

export type Nota = {
  tenant: string;
  id: string;
  chave_acesso: string;
  numero_protocolo: string;
  id_dps: string;
  estado: NotaEstado;
  movimentos: number;
  /** The queue's fields of the row, like the two after it. */
  tentativas: number | null;
  due_at: Date | null;
  claims: string | null;
  numero_dps: string;
  serie_dps: string;
  numero_dps_nacional: string;
  prestador_cpf_cnpj: string;
  data_autorizacao: Date | null;
  data_cancelamento: Date | null;
};

export type Evento = EventoRow & {
  tenant: string;
  ordem: number;
  tentativas: number | null;
  claims: string | null;
  movimentos: number;
  assinatura: Buffer | null;
  certificado_der: Buffer | null;
  recebido: Buffer | null;
  xml: Buffer;
};

export type Step = {
  tenant: string;
  of: string;
  movimento: number;
  em: Date;
  de: string | null;
  gatilho: string;
  para: string;
  mensagem?: string | null;
};

/** The limits of `erros_adn` (specification, Limits). */
const LEVELS_MAX = 3;
const SECRET = /senha|token|stack|secret|password/i;

export type Rows = {
  readonly notas: readonly Nota[];
  readonly eventos: readonly Evento[];
  readonly trailOfNotas: readonly Step[];
  readonly trailOfEventos: readonly Step[];
};

/** The rows of some tenants, trails in order. */
export async function readRows(db: Pick<ClientBase, 'query'>, tenants: readonly string[]): Promise<Rows> {
  const rowsOf = async <Row extends object>(text: string): Promise<readonly Row[]> =>
    (await db.query<Row>(text, [tenants])).rows;
  const notas = await rowsOf<Nota>(`select n.*, f.due_at, f.claims, f.tentativas from notas n
    left join fila f on f.tenant = n.tenant and f.tipo = 'nota' and f.id = n.id where n.tenant = any ($1::text[])`);
  const eventos =
    await rowsOf<Evento>(`select e.*, f.due_at, f.claims, f.tentativas, n.chave_acesso, n.numero_protocolo, d.recebido, d.xml, c.der as certificado_der
    from eventos e join notas n on n.tenant = e.tenant and n.id = e.nota
    left join fila f on f.tenant = e.tenant and f.tipo = 'evento' and f.id = e.id
    left join documentos_eventos d on d.tenant = e.tenant and d.evento = e.id
    left join certificados c on c.tenant = e.tenant and c.impressao = e.certificado where e.tenant = any ($1::text[])`);
  const trailOfNotas = await rowsOf<Step>(
    'select *, nota as of from trilha_notas where tenant = any ($1::text[]) order by tenant, nota, movimento',
  );
  const trailOfEventos = await rowsOf<Step>(
    'select *, evento as of from trilha_eventos where tenant = any ($1::text[]) order by tenant, evento, movimento',
  );
  return { notas, eventos, trailOfNotas, trailOfEventos };
}

/** All violations of a simulation at its end. */
export async function brokenInvariants(simulacao: Simulacao): Promise<readonly string[]> {
  const { pool, municipios } = simulacao;
  const { notas, eventos, trailOfNotas, trailOfEventos } = await readRows(
    pool,
    municipios.map(({ tenant }) => tenant),
  );
  const waiting = new Set((await simulacao.waitingSubstitutes()).map(({ chave }) => chave));
  const broken = [...simulacao.violations];
  const tell = (what: string): void => void broken.push(what);
  const ofNota = Map.groupBy(trailOfNotas, ({ tenant, of }) => `${tenant}/${of}`);
  const ofEvento = Map.groupBy(trailOfEventos, ({ tenant, of }) => `${tenant}/${of}`);
  const onNota = Map.groupBy(eventos, ({ tenant, nota }) => `${tenant}/${nota}`);

  await answeredNotas(simulacao, notas, tell);
  for (const nota of notas) {
    const key = `${nota.tenant}/${nota.id}`;
    // A substitute waits for the event on the note that it replaces, until that event is registered.
    const mayWait = waiting.has(nota.chave_acesso);
    const trail = ofNota.get(key) ?? [];
    aNota(nota, mayWait, trail, onNota.get(key) ?? [], tell);
    if (trail.some(({ gatilho }) => gatilho === 'retirada') && simulacao.ambiente.notas.has(nota.chave_acesso)) {
      tell(`${nota.chave_acesso} was withdrawn, and the environment has it`);
    }
  }
  numbered(notas, tell);
  registered(simulacao, eventos, tell);
  for (const evento of eventos) {
    const trail = ofEvento.get(`${evento.tenant}/${evento.id}`) ?? [];
    const nota = notas.find(({ tenant, id }) => tenant === evento.tenant && id === evento.nota)!;
    anEvento(evento, trail, nota, waiting.has(nota.chave_acesso), tell);
    if (!simulacao.sandboxes.has(evento.tenant)) elsewhere(simulacao, evento, trail, tell);
  }
  heldElsewhere(simulacao, notas, eventos, tell);
  wholeTrails({ notas, eventos, trailOfNotas, trailOfEventos }, tell);
  await verifiedChains(simulacao, tell);
  return broken;
}

/** Each row matches the audit chain, and the chain has nothing else. */
async function verifiedChains({ pool, municipios }: Simulacao, tell: Tell): Promise<void> {
  const { auditoria } = createStore(pool);
  for (const { tenant } of municipios) {
    while ((await auditoria.place(tenant)) > 0);
    // The chain existed from the first row on: nothing was added to it afterwards.
    await pool.query('update auditoria_ate set aberta_em = now() where tenant = $1', [tenant]);
    const { achados, entradas } = await auditoria.verify(tenant, [], { comparar: contraditasOf });
    if (entradas === 0) tell(`${tenant}: no entry in the audit chain`);
    for (const achado of achados.slice(0, 5)) tell(`${tenant}: ${describeAchado(achado)}`);
  }
}

export type Tell = (what: string) => void;

/** The trails have as many steps as the rows say, so no step belongs to a missing row. */
export function wholeTrails({ notas, eventos, trailOfNotas, trailOfEventos }: Rows, tell: Tell): void {
  if (trailOfNotas.length !== notas.reduce((sum, { movimentos }) => sum + movimentos, 0)) tell('trail of other notes');
  if (trailOfEventos.length !== eventos.reduce((sum, { movimentos }) => sum + movimentos, 0)) {
    tell('trail of other events');
  }
}

// Notes.

/** Keys never change, and the served document is the one that the environment holds. */
async function answeredNotas(simulacao: Simulacao, notas: readonly Nota[], tell: Tell): Promise<void> {
  const world = { store: createStore(simulacao.pool), now: () => simulacao.clock.now } as World;
  for (const { municipio, chave, protocolo, xml_nfse, prestador } of simulacao.notas) {
    const row = notas.find((nota) => nota.tenant === municipio.tenant && nota.numero_protocolo === protocolo);
    if (row?.chave_acesso !== chave) {
      tell(`${chave} was answered for ${protocolo}, which has ${row?.chave_acesso}`);
      continue;
    }
    if (row.prestador_cpf_cnpj !== prestador) tell(`${chave} is of another provider`);
    const reading = await notaByChave(world, municipio, chave);
    const held = simulacao.ambiente.notas.get(chave);
    if (simulacao.sandboxes.has(row.tenant) || (row.estado !== 'autorizada' && row.estado !== 'cancelada')) continue;
    if (held === undefined || reading === undefined) continue;
    if (simulacao.ambiente.repeated.has(chave)) continue;
    if (reading.nota.xml_nota !== held.xml.toString('utf8')) tell(`${chave} is served otherwise than it was sent`);
    const own = /<infNFSe [\s\S]*<\/infNFSe>/.exec(xml_nfse)?.[0];
    const sent = held.xml.toString('utf8');
    // A held note lacked the group of the IBS and the CBS, and nothing else.
    const comparable = own?.includes(GROUP) ? sent : withoutGroup(sent);
    if (own === undefined || !comparable.includes(own)) tell(`${chave} was sent otherwise than it was answered`);
  }
}

const GROUP = '<IBSCBS><cLocalidadeIncid>';

function withoutGroup(nfse: string): string {
  return nfse.replace(/<IBSCBS><cLocalidadeIncid>.*?<\/IBSCBS>(?=<DPS)/s, '');
}

export function aNota(
  nota: Nota,
  mayWait: boolean,
  trail: readonly Step[],
  eventos: readonly Evento[],
  tell: Tell,
): void {
  const { chave_acesso: chave, estado } = nota;
  walked(chave, nota, trail, NOTA_MOVES, tell);
  const rests = NOTA_ESTADOS[estado].rests && nota.due_at === null && nota.claims === null;
  if (!rests && !(mayWait && estado === 'emitida' && nota.claims === null)) {
    tell(`${chave} does not rest: ${estado}`);
  }
  const announced = trail.filter(({ gatilho }) => gatilho === 'anuncio').length;
  if (nota.tentativas !== null && nota.tentativas !== announced) tell(`${chave}: tentativas`);
  cancelledOnce(nota, eventos, tell);
}

/** A cancelled note has one processed cancellation, and its events are in an order without gaps. */
export function cancelledOnce(
  { chave_acesso: chave, estado, ...nota }: Nota,
  eventos: readonly Evento[],
  tell: Tell,
): void {
  const cancelled = eventos.filter((one) => one.cancela && one.estado === 'processado');
  if (cancelled.length > 1) tell(`${chave} was cancelled ${cancelled.length} times`);
  if ((estado === 'cancelada') !== (cancelled.length === 1)) {
    tell(`${chave} is ${estado} with ${cancelled.length} processed cancellations`);
  }
  if (+(nota.data_cancelamento ?? 0) !== +(cancelled[0]?.processado_em ?? 0)) tell(`${chave}: data_cancelamento`);
  dense(
    `${chave}: ordem`,
    eventos.map(({ ordem }) => ordem),
    tell,
  );
  for (const [codigo, ofTipo] of Map.groupBy(eventos, ({ codigo_tipo_evento }) => codigo_tipo_evento)) {
    dense(
      `${chave}: ${codigo}`,
      ofTipo.map(({ numero_sequencial }) => numero_sequencial),
      tell,
    );
  }
}

/** Numbers have no gaps for each provider; an identifier has one note, not counting refused ones. */
export function numbered(notas: readonly Nota[], tell: Tell): void {
  for (const [whose, own] of Map.groupBy(notas, (nota) => `${nota.tenant} ${nota.prestador_cpf_cnpj}`)) {
    dense(
      whose,
      own.map(({ numero_dps }) => Number(numero_dps)),
      tell,
    );
  }
  const holding = notas.filter(({ estado }) => NOTA_ESTADOS[estado].holdsDps);
  for (const [idDps, same] of Map.groupBy(holding, (nota) => `${nota.tenant} ${nota.id_dps}`)) {
    if (same.length > 1) tell(`${idDps} has ${same.length} notes`);
  }
  for (const [chave, same] of Map.groupBy(notas, ({ chave_acesso }) => chave_acesso)) {
    if (same.length > 1) tell(`${chave} is the key of ${same.length} notes`);
  }
}

export function dense(what: string, numbers: readonly number[], tell: Tell): void {
  const sorted = numbers.toSorted((a, b) => a - b);
  if (sorted.some((number, place) => number !== place + 1)) tell(`${what} is not dense: ${sorted.join(' ')}`);
}

// Events.

/** No answered event is lost, no event exists without a request, and each has the requested content. */
function registered({ eventos: answered, pedidos }: Simulacao, rows: readonly Evento[], tell: Tell): void {
  for (const { municipio, evento, pedido } of answered) {
    const row = rows.find(({ tenant, id }) => tenant === municipio.tenant && Number(id) === evento.id_evento);
    if (row === undefined) {
      tell(`event ${evento.id_evento} of ${municipio.tenant} was answered and is lost`);
      continue;
    }
    if (
      row.numero_sequencial !== evento.numero_sequencial ||
      row.codigo_tipo_evento !== evento.codigo_tipo_evento ||
      row.chave_acesso !== evento.chave_acesso
    ) {
      tell(`event ${row.id} was answered as another`);
    }
    if (!pedido.tipo.porOficio && Buffer.compare(row.recebido ?? Buffer.of(), pedido.body) !== 0) {
      tell(`event ${row.id} is not what was sent`);
    }
  }
  const known = new Set(answered.map(({ municipio, evento }) => `${municipio.tenant}/${evento.id_evento}`));
  const unanswered = pedidos.filter(({ answer }) => answer === undefined);
  for (const row of rows.filter(({ tenant, id }) => !known.has(`${tenant}/${id}`))) {
    const place = unanswered.findIndex(
      ({ municipio, chave, tipo, body }) =>
        municipio.tenant === row.tenant &&
        chave === row.chave_acesso &&
        tipo.codigo === row.codigo_tipo_evento &&
        (row.recebido === null ? tipo.porOficio : Buffer.compare(row.recebido, body) === 0),
    );
    if (place < 0) tell(`event ${row.id} of ${row.tenant} was asked for by nobody`);
    else unanswered.splice(place, 1);
  }
}

export function anEvento(evento: Evento, trail: readonly Step[], nota: Nota, mayWait: boolean, tell: Tell): void {
  const name = `${evento.chave_acesso} ${evento.codigo_tipo_evento}/${evento.numero_sequencial}`;
  const wrong = (what: string): void => tell(`${name}: ${what}`);
  walked(name, evento, trail, EVENTO_MOVES, tell);
  const { estado, reprocessamentos_count: count } = evento;
  const rests = eventoRests(estado, evento.due_at !== null) && evento.due_at === null && evento.claims === null;
  if (!rests && !(mayWait && estado === 'aguardando_autorizacao_nota')) {
    wrong(`does not rest: ${estado}`);
  }
  const last = trail.findLast(({ de, para }) => de !== para);
  if (+(last?.em ?? 0) !== +evento.desde) wrong('desde is not when it came to its state');
  const counted = trail.filter(({ de, gatilho }) => de === 'erro' && gatilho === 'anuncio');
  if (count > 3 || counted.length !== count) wrong(`${count} retries are told, and ${counted.length} were made`);
  if (+(counted.at(-1)?.em ?? 0) !== +(evento.ultimo_reprocessamento_em ?? 0)) wrong('ultimo_reprocessamento_em');
  const announced = trail.filter(({ gatilho }) => gatilho === 'anuncio').length;
  if (evento.tentativas !== null && evento.tentativas !== announced) wrong('tentativas');
  for (const [place, { gatilho }] of trail.entries()) {
    const next = trail[place + 1]?.gatilho;
    const isByHand = next === undefined || ['reprocessamento', 'separacao', 'dispensa'].includes(next);
    if (['esgotamento', 'incompreensao'].includes(gatilho) && !isByHand) wrong(`${next} after ${gatilho}`);
    const before = trail.slice(0, place).filter(({ de, gatilho: on }) => de === 'erro' && on === 'anuncio').length;
    if (gatilho === 'falha' && before >= 3) wrong('another retry after the third');
    if (gatilho === 'esgotamento' && before < 3) wrong(`spent after ${before} retries`);
  }
  if (['processado', 'rejeitado'].includes(estado) !== (evento.processado_em !== null) && estado !== 'dispensado') {
    wrong(`processado_em of what is ${estado}`);
  }
  if (estado === 'processado' && evento.cancela && nota.estado !== 'cancelada') wrong('its note is not cancelled');
  if (
    trail.some(({ gatilho }) => gatilho === 'recusa_nota') !== (nota.estado === 'recusada' && estado === 'dispensado')
  ) {
    const waived = trail.some(({ gatilho }) => gatilho === 'dispensa');
    if (!waived) wrong(`${estado} on a note that is ${nota.estado}`);
  }
  if (estado === 'rejeitado' && evento.erros_adn === null) wrong('refused without reasons');
  presentable(evento.erros_adn, 1, wrong);
}

/** `erros_adn`: no more than three levels, no text over a thousand characters, no secrets. */
function presentable(value: unknown, level: number, wrong: Tell): void {
  if (typeof value === 'string' && [...value].length > TEXT_LENGTH_MAX) wrong(`a text of ${value.length} in erros_adn`);
  if (typeof value !== 'object' || value === null) return;
  if (level > LEVELS_MAX) wrong('a fourth level in erros_adn');
  for (const [name, member] of Object.entries(value)) {
    if (SECRET.test(name)) wrong(`${name} in erros_adn`);
    presentable(member, level + 1, wrong);
  }
}

/**
 * The trail is complete: it starts at nothing and ends at the row's state. Each step is a move of the state machine, and follows the one
 * before.
 */
export function walked(
  name: string,
  { estado, movimentos }: { estado: string; movimentos: number },
  trail: readonly Step[],
  moves: readonly (EventoMove | NotaMove)[],
  tell: Tell,
): void {
  let at: string | null = null;
  for (const [place, { movimento, de, gatilho, para }] of trail.entries()) {
    const move = moves.find(({ from, on, to }) => (from ?? null) === de && on === gatilho && to === para);
    if (movimento !== place + 1 || de !== at || move === undefined) {
      tell(`${name}: step ${movimento} goes from ${de} by ${gatilho} to ${para}, after ${at}`);
    }
    at = para;
  }
  if (at !== estado || trail.length !== movimentos) tell(`${name} is ${estado}, and its trail ends in ${at}`);
}

// The other side.

/** Compares the environment's data on an event with the event's state here. */
function elsewhere(simulacao: Simulacao, evento: Evento, trail: readonly Step[], tell: Tell): void {
  const { ambiente } = simulacao;
  const { estado, tenant, chave_acesso, codigo_tipo_evento, numero_sequencial } = evento;
  const id = eventoId(chave_acesso, codigo_tipo_evento, numero_sequencial);
  const held = ambiente.eventos.get(id);
  if (ambiente.arrivedLate.has(id)) return;
  // An operator may waive an announced event too, and then the environment may have it. His reason shows it.
  const last = trail.at(-1);
  const byAnswer = estado === 'dispensado' && last?.de === 'enviado' && last.mensagem !== BY_HAND;
  const isAbsent = ['pendente', 'aguardando_autorizacao_nota', 'cancelado', 'rejeitado'].includes(estado) || byAnswer;
  if (isAbsent && held !== undefined) tell(`${id} is ${estado}, and the environment has it`);
  // These are the types that the parties send themselves. The annulment of a missing rejection also counts, which an operator may have
  // waived by hand.
  const isOnlyHere = tipoByCodigo(codigo_tipo_evento)?.soAqui && !ambiente.takesManifestations;
  if (byAnswer && !isOnlyHere && codigo_tipo_evento !== '205208') tell(`${id} is waived by the environment`);
  if (estado !== 'processado') return;
  if (held === undefined) {
    tell(`${id} is processed, and the environment does not have it`);
    return;
  }
  if (evento.nsu_recepcao !== held.nsu || held.tenant !== tenant) tell(`${id} is known there under another number`);
  const { assinatura, certificado_der } = evento;
  if (assinatura === null || certificado_der === null) {
    tell(`${id} is processed without a signature`);
    return;
  }
  const text = evento.xml.toString('utf8');
  const part = signedPartOfEvento(text);
  const element = signatureElement(part.canonical, part.id, { value: assinatura, certificate: certificado_der });
  if (withEventoSignature(text, element) !== held.xml.toString('utf8')) {
    tell(`${id} is not kept as the environment has it`);
  }
}

/** Each held document exists here; a note is held exactly if it is authorised. */
function heldElsewhere(
  { ambiente, sandboxes }: Simulacao,
  notas: readonly Nota[],
  eventos: readonly Evento[],
  tell: Tell,
): void {
  const ids = new Set(eventos.map((one) => eventoId(one.chave_acesso, one.codigo_tipo_evento, one.numero_sequencial)));
  for (const { id } of ambiente.eventos.values()) if (!ids.has(id)) tell(`the environment has ${id}, which we do not`);
  const keys = new Set(notas.map(({ chave_acesso }) => chave_acesso));
  for (const chave of ambiente.notas.keys())
    if (!keys.has(chave)) tell(`the environment has ${chave}, which we do not`);
  for (const { tenant, chave_acesso: chave, estado } of notas) {
    if (ambiente.arrivedLate.has(chave) || sandboxes.has(tenant)) continue;
    const isAuthorised = estado === 'autorizada' || estado === 'cancelada';
    if (isAuthorised !== ambiente.notas.has(chave)) tell(`${chave} is ${estado}, and the environment knows otherwise`);
  }
}
