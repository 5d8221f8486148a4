/**
 * Sends changes to the addresses that are registered for them, signed (Standard Webhooks). An address that does not answer is tried again
 * for three days, and delays no other one. Changes of a note are sent in their order (D-591).
 */

import { randomBytes, randomUUID } from 'node:crypto';
import type { Municipio } from '../../base/book/municipios.ts';
import type { Delivered, Taking } from '../../base/delivery/deliver.ts';
import { inSpan, inTraces, noteInSpan } from '../../base/traces/traces.ts';
import type { RespostaDeAviso, World } from '../../base/world/world.ts';
import { raizOf } from '../../fiscal/chave.ts';
import { DAY_MS } from '../../fiscal/moment.ts';
import { signAviso } from './assinatura.ts';
import { inventMudanca, readLineOfEnsaio } from './ensaio.ts';
import {
  type Deixado,
  type EntregaDevida,
  FALHAS_PARA_PARAR,
  type Pace,
  type Resultado,
  type Taken,
} from './entregas.rows.ts';
import type { MesContado } from './meses.rows.ts';
import { readLineOfMes, tellMes } from './meses.ts';
import { blocoOfOrdem } from './mudancas.rows.ts';
import { mudancaPublica } from './mudancas.ts';
import { AVISO_CONFIRMAR_S, AVISO_GUARDA_DIAS, AVISO_PARADO_MAX_S, AVISO_TENTATIVAS_S } from './tempos.ts';
import type { EntregaRow } from './webhooks.rows.ts';

/** Concurrent addresses of a batch, and messages of each. */
const ADDRESSES = 8;
const MESSAGES_AT_ONCE = 4;
const MESSAGES_MAX = 200;
/**
 * No message is begun after this, so that the last one ends within the lease: the answer may take 15 seconds. A batch of quick addresses
 * ends sooner. An address becomes slow with the first slow answer, and quick again after a batch of quick answers.
 */
const BEGIN_WITHIN_MS = { quick: 10_000, slow: 15_000 } as const;
const QUICK_MS = 2_000;
/** Time for which an address gets no message after its process has died. */
const LEASE_MS = 40_000;

/** Sends one batch of a tenant, to its quick addresses or to the others. */
export async function tellAvisos(
  pace: Pace,
  world: World,
  municipio: Municipio,
  { token = randomUUID() }: Taking,
): Promise<Delivered> {
  const now = world.now();
  const { tenant } = municipio;
  const taken = await world.store.entregas.take(tenant, { now, until: now + LEASE_MS, token, max: ADDRESSES, pace });
  const told = await Promise.all(
    taken.map((webhook) =>
      webhook.pendente
        ? askWhetherWanted(world, municipio, webhook, token)
        : tellAddress(world, municipio, webhook, { pace, token }),
    ),
  );
  return { delivered: told.reduce((sum, one) => sum + one, 0), isFull: taken.length === ADDRESSES, pauseMs: 0 };
}

/**
 * Asks an address to return a random value. Nothing else is sent before it does. A status alone proves nothing: many servers answer 200 to
 * every request.
 */
async function askWhetherWanted(world: World, municipio: Municipio, webhook: Taken, token: string): Promise<number> {
  const { store, now } = world;
  const { tenant } = municipio;
  const at = now();
  const desafio = `confirma_${randomBytes(24).toString('base64url')}`;
  const data = { desafio, mensagem: 'Para receber avisos neste endereço, responda 200 com o desafio como corpo.' };
  const corpo = JSON.stringify({ type: 'confirmacao', timestamp: new Date(at).toISOString(), data });
  const resposta = await send(world, municipio, webhook, { id: `${tenant}.${desafio}`, corpo }, true);
  const after = now();
  const isWanted = 'status' in resposta && isAccepted(resposta) && isEcho(resposta.corpo, desafio);
  const isPutOff = 'adiadoMs' in resposta;
  const falhas = isWanted ? 0 : webhook.falhas + (isPutOff ? 0 : 1);
  const waitS = AVISO_CONFIRMAR_S[webhook.falhas];
  const isGone = !isWanted && !isPutOff && (waitS === undefined || isNotWanted(resposta));
  const waitMs = isPutOff ? resposta.adiadoMs : isWanted || isGone ? undefined : waitS! * 1_000;
  const deixado: Deixado = {
    ...leave(after, 0, 0, {
      isGone,
      isRefused: isGone && isNotWanted(resposta),
      // An address that does not answer leaves the quick lane.
      isQuick: isPutOff ? undefined : isWanted && after - at < QUICK_MS,
      problema: undefined,
    }),
    ...{ falhas, isBack: isWanted, isPendente: !isWanted },
    paradoAte: waitMs === undefined ? undefined : after + waitMs,
    problema: isWanted || isPutOff ? undefined : sayUnproved(resposta, isGone),
  };
  await store.entregas.settle(tenant, webhook, token, after, [], deixado);
  // Messages that waited for the proof are sent now.
  if (isWanted) world.wake(tenant);
  return isWanted ? 1 : 0;
}

/** Whether a body is the value, as text or as JSON. An echo of the whole request is not accepted. */
function isEcho(corpo: string | undefined, desafio: string): boolean {
  const text = corpo?.trim() ?? '';
  if (text === desafio) return true;
  try {
    const value: unknown = JSON.parse(text);
    return value === desafio || (value as { readonly desafio?: unknown } | null)?.desafio === desafio;
  } catch {
    return false;
  }
}

function sayUnproved(resposta: Answered, isGone: boolean): string {
  const what =
    'status' in resposta && isAccepted(resposta)
      ? `respondeu ${resposta.status} sem o desafio (data.desafio) como corpo`
      : describe(resposta);
  const then = isGone ? '; não se pergunta mais: com o receptor pronto, ligue o endereço outra vez' : '';
  return `não confirmou que quer avisos: ${what}${then}`;
}

async function tellAddress(
  world: World,
  municipio: Municipio,
  webhook: Taken,
  { pace, token }: { readonly pace: Pace; readonly token: string },
): Promise<number> {
  const { store, now } = world;
  const { tenant } = municipio;
  const due = await store.entregas.listDue(tenant, webhook, now(), MESSAGES_MAX);
  const lines = due.flatMap(({ mudanca }) => mudanca ?? []);
  const [known, meses] = await Promise.all([store.mudancas.resolve(tenant, lines), readMeses(world, tenant, lines)]);
  const resultados: Resultado[] = [];
  let { falhas } = webhook;
  let isGone = false;
  let isNewer = false;
  let putOffMs: number | undefined;
  let slowestMs = 0;
  let problema: string | undefined;
  const began = performance.now();
  const mayGoOn = (): boolean =>
    !isGone &&
    putOffMs === undefined &&
    performance.now() - began < BEGIN_WITHIN_MS[pace] &&
    (pace === 'slow' || slowestMs < QUICK_MS) &&
    (falhas < FALHAS_PARA_PARAR || falhas === webhook.falhas);
  const tellNota = async (ofNota: readonly EntregaDevida[]): Promise<void> => {
    for (const entrega of ofNota) {
      if (!mayGoOn()) return;
      const mes = entrega.mudanca === null ? undefined : readLineOfMes(entrega.mudanca);
      const contado = mes === undefined ? undefined : meses.get(mes);
      const aviso =
        mes === undefined
          ? avisoOf(tenant, entrega, known, webhook.documento)
          : contado && tellMes(world, municipio, contado);
      const at = now();
      if (aviso === 'newer') {
        // The delivery stays for a process that knows the change, and later changes of the same note wait for it.
        resultados.push({ ...resultOf(entrega, NEWER, at, at), isDead: false, dueAt: at + NEWER_WAIT_MS });
        isNewer = true;
        return;
      }
      // A change that a rehearsal has forgotten is not sent.
      const sentAt = performance.now();
      const resposta = aviso === undefined ? FORGOTTEN : await sendTraced(world, municipio, webhook, entrega, aviso);
      if ('adiadoMs' in resposta) {
        putOffMs = resposta.adiadoMs;
        return;
      }
      slowestMs = Math.max(slowestMs, performance.now() - sentAt);
      const resultado = resultOf(entrega, resposta, at, now());
      resultados.push(resultado);
      if (resultado.isDelivered) falhas = 0;
      else {
        falhas += 1;
        problema = describe(resposta);
        isGone ||= isNotWanted(resposta);
        // Later changes of the same note wait for this one.
        return;
      }
    }
  };
  const waiting = [...Map.groupBy(due, ({ nota }) => nota).values()];
  const next = async (): Promise<void> => {
    for (let own = waiting.shift(); own !== undefined && mayGoOn(); own = waiting.shift()) await tellNota(own);
  };
  await Promise.all(Array.from({ length: MESSAGES_AT_ONCE }, next));
  if (isNewer) world.log.warn({ tenant, webhook: webhook.id }, NEWER.problema);
  const isQuick = resultados.length === 0 ? undefined : !isGone && falhas === 0 && slowestMs < QUICK_MS;
  const left = leave(now(), webhook.falhas, falhas, { isGone, isRefused: isGone, problema, isQuick });
  // A delayed turn of the host is no failure of the address.
  const turnAt = putOffMs === undefined ? undefined : now() + putOffMs;
  const deixado = turnAt === undefined ? left : { ...left, paradoAte: Math.max(turnAt, left.paradoAte ?? 0) };
  await store.entregas.settle(tenant, webhook, token, now(), resultados, deixado);
  return resultados.length;
}

/** The closed months that deliveries are about. */
async function readMeses(
  { store }: World,
  tenant: string,
  lines: readonly string[],
): Promise<ReadonlyMap<number, MesContado>> {
  const asked = lines.flatMap((line) => readLineOfMes(line) ?? []);
  if (asked.length === 0) return new Map();
  const found = await store.mesesFechados.list(tenant, Math.min(...asked));
  return new Map(found.map((one) => [one.mes, one]));
}

const GONE = 410;
const NEWER = {
  problema:
    'uma versão mais nova do serviço gravou esta mudança: este processo a deixa para ela; o serviço está em atualização',
};
const NEWER_WAIT_MS = 5_000;
/** The answer to a message that was sent. */
type Answered = Exclude<RespostaDeAviso, { readonly adiadoMs: number }>;
const FORGOTTEN: Answered = { status: 200 };

const isAccepted = ({ status }: { readonly status: number }): boolean => status >= 200 && status < 300;
const isNotWanted = (resposta: RespostaDeAviso): boolean => 'status' in resposta && resposta.status === GONE;

/** A message. `id`: the same in every attempt. */
type Aviso = { readonly id: string; readonly corpo: string };

/** Builds a message: kind, moment and data. Undefined: its subject was deleted; 'newer': only a newer version can read the change. */
function avisoOf(
  tenant: string,
  { ordem, mudanca, cursor, criada_em }: EntregaRow,
  known: Awaited<ReturnType<World['store']['mudancas']['resolve']>>,
  documento: string,
): Aviso | 'newer' | undefined {
  if (mudanca === null) {
    const data = { mensagem: 'Este aviso é um ensaio: nada mudou. A assinatura é a de todos.' };
    const corpo = JSON.stringify({ type: 'ensaio', timestamp: criada_em.toISOString(), data });
    return { id: `${tenant}.ensaio${ordem}`, corpo };
  }
  const ensaiado = readLineOfEnsaio(mudanca);
  if (ensaiado !== undefined) {
    const data = inventMudanca(ensaiado, documento, `ensaio${ordem}`, criada_em);
    const corpo = JSON.stringify({ type: ensaiado, timestamp: data.em, data });
    return { id: `${tenant}.${data.id}`, corpo };
  }
  if (!known.has(mudanca)) return undefined;
  const mudou = known.get(mudanca);
  const data = mudou && mudancaPublica(mudou, documento, { cursor, bloco: blocoOfOrdem(ordem) });
  if (data === undefined) return 'newer';
  return { id: `${tenant}.${data.id}`, corpo: JSON.stringify({ type: data.tipo, timestamp: data.em, data }) };
}

/** No trace header is sent: the receiver may be another party than the one that began the trace. */
function sendTraced(
  world: World,
  municipio: Municipio,
  webhook: Taken,
  entrega: EntregaDevida,
  aviso: Aviso,
): Promise<RespostaDeAviso> {
  const about = {
    'nfse.municipio': municipio.tenant,
    'nfse.webhook': webhook.id,
    'nfse.tentativa': entrega.tentativas + 1,
  };
  const post = async (): Promise<RespostaDeAviso> => {
    const resposta = await send(world, municipio, webhook, aviso);
    if ('status' in resposta) noteInSpan({ 'http.response.status_code': resposta.status });
    return resposta;
  };
  return inTraces('avisar', [entrega], about, () => inSpan('POST aviso', {}, post, { isCall: true }));
}

function send(
  { postAviso, now }: World,
  { tenant, ambiente, relogioMs = 0 }: Municipio,
  { id: webhook, documento, url, segredo, segredo_anterior, anterior_ate }: Taken,
  { id, corpo }: Aviso,
  isDesafio = false,
): Promise<RespostaDeAviso> {
  const at = now();
  const isBoth = segredo_anterior !== null && anterior_ate !== null && +anterior_ate > at;
  const segredos = isBoth ? [segredo, segredo_anterior] : [segredo];
  // The receiver compares the moment with its own clock, which no sandbox moves.
  const agora = at - relogioMs;
  const signed = signAviso(segredos, { id, em: Math.floor(agora / 1000), corpo });
  const headers = { 'Content-Type': 'application/json', 'User-Agent': 'nfse-avisos', ...signed };
  const isEnsaio = ambiente === 'homologacao';
  // Documents are not proved in a rehearsal, so the tenant is a part of the owner's name.
  const dono = isEnsaio || documento === '' ? `${tenant} ${raizOf(documento)}` : raizOf(documento);
  return postAviso({ id: webhook, dono, url, headers, corpo, agora, isEnsaio, isDesafio });
}

function describe(resposta: Answered): string {
  if ('problema' in resposta) return resposta.problema;
  const { status } = resposta;
  if (status >= 300 && status < 400) return `respondeu ${status}, e um desvio não se segue: cadastre o endereço final`;
  return status === GONE ? 'respondeu 410: não quer mais avisos' : `respondeu ${status}`;
}

function resultOf(
  { ordem, tentativas, criada_em }: EntregaRow,
  resposta: Answered,
  at: number,
  ended: number,
): Resultado {
  const isDelivered = 'status' in resposta && isAccepted(resposta);
  const waitS = AVISO_TENTATIVAS_S[Math.min(tentativas, AVISO_TENTATIVAS_S.length - 1)]!;
  const dueAt = ended + waitS * 1000;
  const isDead = !isDelivered && ended - +criada_em >= AVISO_GUARDA_DIAS.tentar * DAY_MS;
  const tentativa = { em: new Date(at).toISOString(), ms: ended - at, ...resposta };
  return { ordem, tentativa, em: ended, isDelivered, isDead, dueAt };
}

/** The state of an address after a batch. */
function leave(
  now: number,
  before: number,
  falhas: number,
  own: Pick<Deixado, 'isGone' | 'isRefused' | 'problema' | 'isQuick'>,
): Deixado {
  const isStopped = falhas >= FALHAS_PARA_PARAR;
  const waitS = Math.min(AVISO_PARADO_MAX_S, 5 * 2 ** Math.min(20, falhas - FALHAS_PARA_PARAR));
  return {
    falhas,
    paradoAte: isStopped ? now + waitS * 1000 : undefined,
    isBack: before >= FALHAS_PARA_PARAR && falhas === 0,
    isPendente: false,
    ...own,
    desistirAntes: now - AVISO_GUARDA_DIAS.tentar * DAY_MS,
    esquecerAntes: now - AVISO_GUARDA_DIAS.mostrar * DAY_MS,
  };
}
