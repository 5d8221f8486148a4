/**
 * A request that may come twice (D-19): if its sender gave a key, the second one gets the answer of the first.
 *
 * A key belongs to the CNPJ or CPF in whose name it comes: the provider of a DPS or the author of an event. It applies only once the
 * signature is verified: nothing is looked up, answered or stored under it before. An earlier refusal leaves no trace.
 */
import { hash } from 'node:crypto';
import { statusOf } from '../../fiscal/errors.ts';
import type { Aviso, Fault, Refusal } from '../../fiscal/fault.ts';
import type { EventoRow } from '../book/evento-rows.ts';
import type { KeyedRequest, KeyedSuccess } from '../book/idempotencia.ts';
import type { Municipio } from '../book/municipios.ts';
import type { Store } from '../book/store.ts';
import { tellTrouble } from './store-trouble.ts';
import type { World } from './world.ts';

export const IDEMPOTENCY_HEADER = 'Idempotency-Key';
/** Marks an answer as that of the first request. */
export const REPEATED_HEADER = 'X-NFSe-Repetida';

/** Whether one more refusal may be stored for a repetition. */
export type RefusalKeeping = { keepsRefusal(): boolean | Promise<boolean> };

/** The key as received. `rota`: the path below the municipality. */
export type SentKey = {
  readonly key: string;
  readonly rota: string;
  /** Undefined: every refusal of the document is stored. */
  readonly quota?: RefusalKeeping | undefined;
};

/** A limit that refused a request. `janelaS`: the seconds over which it counts, if it does not count what is under way or in force. */
export type Cota = { readonly nome: string; readonly max: number; readonly janelaS?: number };

/** A refusal in its answer. `status`: if it differs from that of the first fault's code. */
export type Refused = Refusal & {
  readonly status?: number;
  /** Seconds after which the same request may be accepted. */
  readonly esperaS?: number;
  readonly cota?: Cota;
  /** Moment of the refusal, in milliseconds; undefined: now. */
  readonly em?: number;
  readonly isRepeated?: true;
};

/** An earlier answer that must be repeated. */
export type Before =
  | Refused
  | {
      readonly nota: { readonly chave_acesso: string; readonly numero_protocolo: string; readonly nfse: string };
      readonly avisos: readonly Aviso[];
    }
  | { readonly evento: EventoRow; readonly avisos: readonly Aviso[] };

/** The work was skipped, because there is an earlier answer. */
export type Ended = { readonly before: Before };

/** One request with a key, in progress. */
export type Turn = {
  /** Must be called when the author is known. `documento`: the author's CNPJ or CPF. A returned answer ends the work. */
  begin(documento: string | undefined, body: Uint8Array): Promise<Before | undefined>;
  /** The data to store with the note or the event. */
  success(avisos: readonly Aviso[]): KeyedSuccess;
  /** The answer of the first request, if storing found that there was one. */
  before(): Promise<Before>;
};

/**
 * Does work in the turn of its key, and stores a refusal of the document. It only does the work if there is no key. `before`: the earlier
 * answer that replaced the work.
 */
export async function inTurn<Done>(
  world: World,
  { tenant }: Municipio,
  sent: SentKey | undefined,
  work: (turn: Turn | undefined) => Promise<Done | Refused | Ended>,
): Promise<Done | Refused | Ended> {
  if (sent === undefined) return work(undefined);
  const { key, rota, quota } = sent;
  const underWay = underWayIn(world.store);
  let begun: { readonly request: KeyedRequest; readonly place: string } | undefined;
  const turn: Turn = {
    begin: async (documento, body) => {
      const impressao = sha256(`${documento ?? ''}\n${key}`);
      const request = { impressao, rota, corpo: sha256(body), criado_em: world.now() };
      const place = `${tenant}/${impressao.toString('hex')}`;
      const other = underWay.get(place);
      if (other !== undefined) return otherUse(other, request) ?? IN_PROGRESS;
      underWay.set(place, request);
      begun = { request, place };
      return answerUnder(world, tenant, request);
    },
    success: (avisos) => ({ ...begun!.request, avisos }),
    // The retention time of the answer may just have ended.
    before: async () => (await answerUnder(world, tenant, begun!.request)) ?? IN_PROGRESS,
  };
  try {
    const done = await work(turn);
    return begun !== undefined && isRefused(done) ? await keepRefusal(world, tenant, begun.request, done, quota) : done;
  } finally {
    if (begun !== undefined) underWay.delete(begun.place);
  }
}

/** Returns the refusal, stored if appropriate, or the answer that already exists under the key. */
async function keepRefusal(
  world: World,
  tenant: string,
  request: KeyedRequest,
  refused: Refused,
  quota: SentKey['quota'],
): Promise<Refused | Ended> {
  const { faults, status = statusOf(faults[0].codigo) } = refused;
  if (!isOfTheDocument(status, faults) || (await quota?.keepsRefusal()) === false) return refused;
  const em = world.now();
  try {
    if (!(await world.store.idempotencia.keepRefusal(tenant, { ...request, criado_em: em, status, faults }))) {
      const before = await answerUnder(world, tenant, request);
      if (before !== undefined) return { before };
    }
  } catch (error) {
    // The refusal is answered all the same, because a repetition produces it again.
    tellTrouble(world.log, error, { tenant }, 'uma recusa não pôde ser guardada para a repetição da requisição');
  }
  return { faults, status, em };
}

/** Unanswered requests of this process. Requests of other processes are detected in the database. */
const allUnderWay = new WeakMap<Store, Map<string, KeyedRequest>>();

function underWayIn(store: Store): Map<string, KeyedRequest> {
  return allUnderWay.getOrInsertComputed(store, () => new Map());
}

function isRefused(done: unknown): done is Refused {
  return typeof done === 'object' && done !== null && 'faults' in done;
}

/** Codes of faults in the registry. The registry may be corrected, and the same document accepted the next time. */
const OF_THE_REGISTRY: ReadonlySet<string> = new Set(['E101', 'E102', 'E103']);

/** Whether the same document would be refused again, so that the refusal may be repeated. */
function isOfTheDocument(status: number, faults: Refusal['faults']): boolean {
  return (status === 400 || status === 422) && !faults.some(({ codigo }) => OF_THE_REGISTRY.has(codigo));
}

async function answerUnder(world: World, tenant: string, request: KeyedRequest): Promise<Before | undefined> {
  const answer = await world.store.idempotencia.findAnswer(tenant, request.impressao, world.now());
  if (answer === undefined) return undefined;
  const other = otherUse(answer, request);
  if (other !== undefined) return other;
  if ('faults' in answer) {
    return { faults: answer.faults, status: answer.status, em: answer.criado_em, isRepeated: true };
  }
  if ('nota' in answer) return { nota: answer.nota, avisos: answer.avisos };
  const evento = await world.store.eventos.findById(tenant, answer.evento);
  if (evento === undefined) throw new Error(`there is no evento ${answer.evento}, which a key answers with`);
  return { evento, avisos: answer.avisos };
}

/** The refusal of a key that was used for another request. */
function otherUse(first: KeyedRequest, { rota, corpo }: KeyedRequest): Refused | undefined {
  if (first.rota === rota && first.corpo.equals(corpo)) return undefined;
  const where = first.rota === rota ? 'com outro corpo' : 'em outro endereço';
  const mensagem = `Esta ${IDEMPOTENCY_HEADER} já foi usada em nome do mesmo CNPJ ou CPF, ${where}. Nada foi feito agora: para outra requisição use uma chave nova; para repetir a primeira, envie o mesmo corpo ao mesmo endereço.`;
  return { faults: [aboutKey('E003', mensagem)], status: 422 };
}

/** The answer to a repetition that arrives before the first one is answered. */
export const IN_PROGRESS: Refused = {
  faults: [
    aboutKey(
      'E703',
      `A primeira requisição com esta ${IDEMPOTENCY_HEADER} ainda está em andamento. Envie de novo o mesmo, e a resposta será a dela.`,
    ),
  ],
  status: 409,
  esperaS: 1,
};

function aboutKey(codigo: string, mensagem: string): Fault {
  return { codigo, xpath: '', campo: IDEMPOTENCY_HEADER, mensagem };
}

function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer');
}
