/**
 * The invariants after every crash, while the load goes on. The sources are one snapshot of the rows, the simulator's documents before and
 * after it, and answers over HTTP. Each result is the text of a violation.
 */
import { hash } from 'node:crypto';
import type { Client } from '../../src/base/pg/pg.ts';
import { EVENTO_MOVES } from '../../src/fiscal/evento.ts';
import { eventoId } from '../../src/fiscal/layout/evento.ts';
import { NOTA_MOVES } from '../../src/fiscal/nota.ts';
import { describeAchado } from '../../src/subjects/auditoria/auditoria.ts';
import { conferirEm } from '../../src/subjects/auditoria/conferir.rows.ts';
import {
  type Carga,
  geradoOf,
  type NotaRespondida,
  RPS_POR_LOTE,
  SANDBOX,
  SEM_NUMERO,
  SERIE_DOS_LOTES,
} from './quedas-carga.ts';
import { type Palco, SLUG } from './quedas-processos.ts';
import {
  aNota,
  anEvento,
  cancelledOnce,
  dense,
  numbered,
  type Rows,
  readRows,
  type Tell,
  walked,
  wholeTrails,
} from './simulation-invariants.ts';

const TENANTS = [SLUG, SANDBOX];
/** The number of earlier answers that are read again after a round. */
const EARLIER = 50;
const PAGE = 1_000;
/** The number of notes read concurrently. */
const HANDS = 4;
const SETTLED_WITHIN_MS = 900_000;
const UNSETTLED = `select (select count(*)::int from notas n where n.tenant = any ($1) and (n.estado in ('emitida', 'transmitida')
    or exists (select 1 from fila f where f.tenant = n.tenant and f.tipo = 'nota' and f.id = n.id))) as notas,
  (select count(*)::int from fila where tenant = any ($1) and tipo = 'evento') as eventos,
  (select count(*)::int from lotes where tenant = any ($1) and situacao = 2) as lotes`;

export type Leis = {
  /** All present violations; the load may go on. */
  broken(): Promise<readonly string[]>;
  /** Waits until everything rests, and returns the violations; the load must have ended. */
  brokenAtRest(): Promise<readonly string[]>;
};

type Held = { readonly notas: ReadonlySet<string>; readonly eventos: ReadonlySet<string> };

export function leisOf(palco: Pick<Palco, 'simulator' | 'connect'>, carga: Carga, chance: () => number): Leis {
  const held = { notas: new Set<string>(), eventos: new Set<string>() };
  let readSoFar = 0;

  /** The documents that the ADN holds; only the new ones are read. */
  const readAdn = async (tell: Tell): Promise<Held> => {
    const { ask } = palco.simulator();
    for (const [kind, nameOf] of [
      ['documentos' as const, ({ chave }: { chave: string }) => chave],
      ['eventos' as const, ({ id }: { id: string }) => id],
    ] as const) {
      const names = kind === 'documentos' ? held.notas : held.eventos;
      for (;;) {
        const answer = await ask(`/${kind}?depois=${names.size}&limite=${PAGE}`);
        if (answer.total < names.size) tell(`the ADN holds ${answer.total} ${kind} and held ${names.size}`);
        for (const one of answer[kind]) {
          const name = nameOf(one);
          if (names.has(name)) tell(`the ADN holds ${name} twice`);
          names.add(name);
        }
        if (answer[kind].length < PAGE) break;
      }
    }
    return { notas: new Set(held.notas), eventos: new Set(held.eventos) };
  };

  const look = async (isAtRest: boolean): Promise<readonly string[]> => {
    const broken: string[] = [...carga.violations];
    const tell: Tell = (what) => void broken.push(what);
    const answered = { notas: [...carga.notas], eventos: [...carga.eventos], lotes: [...carga.lotes] };
    const before = await readAdn(tell);
    const client = await palco.connect();
    try {
      await client.query('begin isolation level repeatable read read only');
      const rows = await readRows(client, TENANTS);
      const after = await readAdn(tell);
      if (isAtRest) resting(rows, tell);
      else onTheWay(rows, tell);
      numbered(rows.notas, tell);
      wholeTrails(rows, tell);
      kept(rows, answered, tell);
      onTheOtherSide(rows, before, after, isAtRest, tell);
      await keyed(client, rows, tell);
      const asked = sample(answered.notas, readSoFar, chance);
      readSoFar = answered.notas.length;
      await sameBytes(client, asked, tell);
      await lotted(client, rows, answered.lotes, isAtRest, tell);
      for (const tenant of TENANTS) {
        const { achados, entradas } = await conferirEm(client, tenant);
        if (entradas === 0) tell(`${tenant} has no entry in the audit chain`);
        for (const achado of achados.slice(0, 5)) tell(`${tenant}: ${describeAchado(achado)}`);
      }
      await client.query('commit');
      await eachOf(asked, (nota) => asAnswered(carga, nota, tell));
    } finally {
      await client.end();
    }
    const estado = await palco.simulator().ask('/estado');
    for (const name of ['repetidos_diferentes', 'eventos_repetidos_diferentes', 'eventos_em_dobro'] as const) {
      if (estado[name] > 0 || estado[name]?.length > 0) tell(`${name}: ${JSON.stringify(estado[name])}`);
    }
    if (estado.dps_com_mais_de_uma_chave.length > 0) tell(`two keys: ${estado.dps_com_mais_de_uma_chave}`);
    return broken;
  };

  return {
    broken: () => look(false),
    brokenAtRest: async () => {
      const began = performance.now();
      for (;;) {
        const client = await palco.connect();
        const { rows } = await client.query<Record<string, number>>(UNSETTLED, [TENANTS]);
        await client.end();
        if (Object.values(rows[0]!).every((count) => count === 0)) return look(true);
        if (performance.now() - began > SETTLED_WITHIN_MS) return [`unsettled: ${JSON.stringify(rows[0])}`];
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    },
  };
}

function trailsOf({ trailOfNotas, trailOfEventos, eventos }: Rows) {
  return {
    ofNota: Map.groupBy(trailOfNotas, ({ tenant, of }) => `${tenant}/${of}`),
    ofEvento: Map.groupBy(trailOfEventos, ({ tenant, of }) => `${tenant}/${of}`),
    onNota: Map.groupBy(eventos, ({ tenant, nota }) => `${tenant}/${nota}`),
  };
}

/** The trail of each row leads to its present state. */
function onTheWay(rows: Rows, tell: Tell): void {
  const { ofNota, ofEvento, onNota } = trailsOf(rows);
  for (const nota of rows.notas) {
    const key = `${nota.tenant}/${nota.id}`;
    walked(nota.chave_acesso, nota, ofNota.get(key) ?? [], NOTA_MOVES, tell);
    cancelledOnce(nota, onNota.get(key) ?? [], tell);
  }
  for (const evento of rows.eventos) {
    walked(`event ${evento.id}`, evento, ofEvento.get(`${evento.tenant}/${evento.id}`) ?? [], EVENTO_MOVES, tell);
  }
}

/** No work is left. */
function resting(rows: Rows, tell: Tell): void {
  const { ofNota, ofEvento, onNota } = trailsOf(rows);
  const notas = new Map(rows.notas.map((nota) => [`${nota.tenant}/${nota.id}`, nota]));
  for (const [key, nota] of notas) aNota(nota, false, ofNota.get(key) ?? [], onNota.get(key) ?? [], tell);
  for (const evento of rows.eventos) {
    const nota = notas.get(`${evento.tenant}/${evento.nota}`)!;
    anEvento(evento, ofEvento.get(`${evento.tenant}/${evento.id}`) ?? [], nota, false, tell);
  }
}

/** The rows of answered requests exist, and match the answers. */
function kept(rows: Rows, answered: Pick<Carga, 'notas' | 'eventos'>, tell: Tell): void {
  const notas = new Map(rows.notas.map((nota) => [`${nota.tenant}/${nota.chave_acesso}`, nota]));
  for (const { tenant, chave, protocolo } of answered.notas) {
    const row = notas.get(`${tenant}/${chave}`);
    if (row === undefined) tell(`${chave} of ${tenant} was answered and is lost`);
    else if (protocolo !== undefined && row.numero_protocolo !== protocolo) tell(`${chave} has another protocol`);
  }
  if (new Set(answered.notas.map(({ chave }) => chave)).size < answered.notas.length) tell('two requests have one key');
  const eventos = new Map(rows.eventos.map((evento) => [String(evento.id), evento]));
  for (const { chave, id, sequencial } of answered.eventos) {
    const row = eventos.get(id);
    if (row?.chave_acesso !== chave || row.numero_sequencial !== sequencial) {
      tell(`event ${id} of ${chave} was answered and is lost`);
    }
  }
}

/** The ADN holds nothing that we do not know. It holds all authorised notes and processed events; at rest, it holds nothing else. */
function onTheOtherSide({ notas, eventos }: Rows, before: Held, after: Held, isAtRest: boolean, tell: Tell): void {
  const known = new Map(notas.filter(({ tenant }) => tenant === SLUG).map((nota) => [nota.chave_acesso, nota]));
  for (const chave of before.notas) if (!known.has(chave)) tell(`the ADN holds ${chave}, which we do not know`);
  for (const [chave, { estado }] of known) {
    const isThere = after.notas.has(chave);
    const isAuthorised = estado === 'autorizada' || estado === 'cancelada';
    if (isAuthorised && !isThere) tell(`${chave} is ${estado}, and the ADN does not hold it`);
    if ((estado === 'recusada' || isAtRest) && isThere && !isAuthorised)
      tell(`${chave} is ${estado}, and the ADN holds it`);
  }
  const events = new Map(
    eventos
      .filter(({ tenant }) => tenant === SLUG)
      .map((evento) => [eventoId(evento.chave_acesso, evento.codigo_tipo_evento, evento.numero_sequencial), evento]),
  );
  for (const id of before.eventos) if (!events.has(id)) tell(`the ADN holds ${id}, which we do not know`);
  for (const [id, { estado }] of events) {
    if (estado === 'processado' && !after.eventos.has(id)) tell(`${id} is processed, and the ADN does not hold it`);
    if (estado === 'rejeitado' && after.eventos.has(id)) tell(`${id} is refused, and the ADN holds it`);
  }
}

/** Each note without a number of its own belongs to one key, and their numbers have no gap. */
async function keyed(client: Client, { notas }: Rows, tell: Tell): Promise<void> {
  const unnumbered = notas.filter(
    ({ tenant, prestador_cpf_cnpj }) => tenant === SANDBOX && SEM_NUMERO.includes(prestador_cpf_cnpj),
  );
  for (const [whose, own] of Map.groupBy(unnumbered, ({ prestador_cpf_cnpj }) => prestador_cpf_cnpj)) {
    dense(
      `DPS without number of ${whose}`,
      own.map(({ numero_dps_nacional }) => Number(numero_dps_nacional)),
      tell,
    );
  }
  const { rows } = await client.query<{ tenant: string; nota: string | null; evento: string | null; keys: number }>(
    `select tenant, nota, evento, count(*)::int as keys from idempotencia
     where tenant = any ($1) and recusa is null group by tenant, nota, evento`,
    [TENANTS],
  );
  for (const { tenant, nota, evento, keys } of rows) {
    if (keys > 1) tell(`${tenant}: ${keys} keys have the note ${nota} or the event ${evento}`);
  }
  const withKey = new Set(rows.filter(({ tenant }) => tenant === SANDBOX).map(({ nota }) => nota));
  for (const { id, chave_acesso } of unnumbered) if (!withKey.has(id)) tell(`${chave_acesso} has no key`);
}

/** Runs the work on all, several at a time. */
async function eachOf<T>(all: readonly T[], doOne: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const hand = async (): Promise<void> => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) await doOne(one);
  };
  await Promise.all(Array.from({ length: HANDS }, hand));
}

/** The answers of the round, and a sample of the earlier ones. */
function sample(answered: readonly NotaRespondida[], from: number, chance: () => number): readonly NotaRespondida[] {
  const earlier = Array.from({ length: Math.min(EARLIER, from) }, () => answered[Math.floor(chance() * from)]!);
  return [...answered.slice(from), ...earlier];
}

/** The stored bytes equal the sent and the answered ones. */
async function sameBytes(client: Client, asked: readonly NotaRespondida[], tell: Tell): Promise<void> {
  const { rows } = await client.query<{ chave: string; recebido: string; nfse: Buffer }>(
    `select n.chave_acesso as chave, encode(sha256(d.recebido), 'hex') as recebido, d.nfse
     from notas n join documentos d on d.tenant = n.tenant and d.nota = n.id
     where n.tenant = any ($1) and n.chave_acesso = any ($2)`,
    [TENANTS, asked.map(({ chave }) => chave)],
  );
  const found = new Map(rows.map((row) => [row.chave, row]));
  for (const { chave, enviado, gerado } of asked) {
    const row = found.get(chave);
    if (row?.recebido !== enviado) tell(`${chave} is not of what was sent`);
    if (row !== undefined && gerado !== undefined && geradoOf(row.nfse.toString()) !== gerado) {
      tell(`${chave} is another than was answered`);
    }
  }
}

/** The note read by its key equals the answer; an authorised one is equal to the byte. */
async function asAnswered(carga: Carga, nota: NotaRespondida, tell: Tell): Promise<void> {
  const { tenant, chave, protocolo, enviado, gerado } = nota;
  const { status, body } = await carga.ask(`/${tenant}/api/v1/nfse/${chave}`);
  if (status !== 200) return tell(`${chave} was answered, and is read with ${status}`);
  const { xml_nota: xml, chave_acesso } = body.nota;
  if (chave_acesso !== chave) tell(`${chave} is read as ${chave_acesso}`);
  if (protocolo !== undefined && body.protocolo.numero_protocolo !== protocolo) tell(`${chave}: protocol`);
  const shown = geradoOf(xml);
  if (shown === undefined ? hash('sha256', xml) !== enviado : gerado !== undefined && shown !== gerado) {
    tell(`${chave} is read as another document`);
  }
}

/** Every answered lot exists; at rest it has its notes, one for each RPS. */
async function lotted(
  client: Client,
  { notas }: Rows,
  answered: readonly string[],
  isAtRest: boolean,
  tell: Tell,
): Promise<void> {
  const { rows } = await client.query<{ protocolo: string; situacao: number }>(
    'select protocolo, situacao from lotes where tenant = $1',
    [SANDBOX],
  );
  const lotes = new Map(rows.map(({ protocolo, situacao }) => [protocolo, situacao]));
  for (const protocolo of answered) {
    const situacao = lotes.get(protocolo);
    if (situacao === undefined || situacao === 3 || (isAtRest && situacao !== 4)) tell(`lot ${protocolo}: ${situacao}`);
  }
  if (!isAtRest) return;
  const ofLots = notas.filter(({ tenant, serie_dps }) => tenant === SANDBOX && serie_dps === SERIE_DOS_LOTES);
  if (ofLots.length !== RPS_POR_LOTE * rows.length) tell(`${ofLots.length} notes of ${rows.length} lots`);
}
