/** The delivery of notas: a substitute waits for the nota that it replaces, and all notas in doubt are searched together. */
import type { Adn, AdnErro, NotaAnswer, NotaAsked, ToJudge, ToSimulate } from '../../adn/adn.ts';
import { type Claim, type ClaimedNota, claimedNotas, type NotaSettlement } from '../../base/book/claim-notas.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import { backoff, LEASE_MS, MISCONFIGURED_PAUSE_MS } from '../../base/delivery/backoff.ts';
import {
  type Answers,
  type Delivered,
  type DeliveryKind,
  deliver,
  type Exchange,
  type On,
  type Outcome,
  type Taken,
  type Taking,
} from '../../base/delivery/deliver.ts';
import { tellTrouble } from '../../base/world/store-trouble.ts';
import type { World } from '../../base/world/world.ts';
import { NFSE_PROFILE } from '../../documents/signature-shape.ts';
import { signedPartOf, withSignature } from '../../fiscal/layout/write.ts';
import { NOTA_FINAIS, NOTA_MOVES, NOTA_NAO_TRANSMITIDA } from '../../fiscal/nota.ts';

/** The longest wait for a provider's event. The event wakes the nota; a check after this wait covers a lost wake-up. */
export const SUBSTITUTA_WAIT_MAX_MS = 15 * 60_000;

type TooEarly = Extract<NotaAnswer, { kind: 'too_early' }>;

const NOTAS: DeliveryKind<ClaimedNota, TooEarly, NotaSettlement> = {
  item: 'nota',
  messages: {
    untransmitted: 'as notas não podem ser transmitidas e esperam',
    another: 'o ADN guarda outro documento sob a chave de uma nota',
    unshown: 'o ADN diz ter uma nota que não mostra',
    lost: 'respostas não gravadas: o prazo da reserva havia acabado, ou outra gravação ocupa a nota; as notas são retomadas',
  },
  profile: NFSE_PROFILE,
  partOf: signedPartOf,
  withSignature,
  moves: NOTA_MOVES,
  announced: 'transmitida',
  unsent: NOTA_NAO_TRANSMITIDA,
  another: { kind: 'misconfigured', why: 'outro documento sob esta chave' },
  keyOf: ({ chave_acesso }) => chave_acesso,
  rest: (on, problem) => noteProblem(on, problem ?? AWAY, problem === undefined),
  claim,
  open: openExchange,
  read: ({ world, tenant }, notas) => world.store.notas.readNfse(tenant, notas),
  outcomeOf,
  settle: ({ world, tenant }, ...settled) => world.store.notas.settle(tenant, ...settled),
  end: (on, answers, isTried) => noteProblem(on, describeProblem(answers), !isTried),
};

/** Delivers one batch of the notas of a tenant. */
export function deliverNotas(world: World, municipio: Municipio, taking?: Taking): Promise<Delivered> {
  return deliver(NOTAS, world, municipio, taking);
}

async function claim(on: On, adn: Adn, { token, announced = [], isDue = true }: Taking): Promise<Taken<ClaimedNota>> {
  const stored = announced.flatMap(claimedNotas);
  const due = isDue ? await claimDue(on, adn, adn.batchMax - stored.length, token) : NOTHING_DUE;
  return {
    tokens: [...due.tokens, ...announced.map((one) => one.token)],
    // A nota whose claim expired meanwhile, as in a paused process, may be among the due ones.
    rows: [...withoutThose(stored, due.rows), ...due.rows],
    isFull: due.isFull,
  };
}

const NOTHING_DUE: Taken<ClaimedNota> = { tokens: [], rows: [], isFull: false };

async function claimDue(
  { world, tenant }: On,
  adn: Adn,
  max: number,
  ownToken: string | undefined,
): Promise<Taken<ClaimedNota>> {
  if (max <= 0) return { ...NOTHING_DUE, isFull: true };
  const now = world.now();
  const claim = await world.store.notas.claim(tenant, now, now + LEASE_MS, max, ownToken);
  const others = await claimOthersInDoubt(world, tenant, adn, claim);
  // An expired claim leaves its notas to this search.
  const rows = [...withoutThose(claim.notas, others), ...others];
  const isFull = claim.notas.length === max || rows.length > claim.notas.length;
  return { tokens: [claim.token], rows, isFull };
}

/** The notas without those that were claimed again. */
function withoutThose(notas: readonly ClaimedNota[], again: readonly ClaimedNota[]): readonly ClaimedNota[] {
  const ids = new Set(again.map(({ id }) => id));
  return notas.filter(({ id }) => !ids.has(id));
}

/** Claims the other notas in doubt of the tenant when a claim contains one. One search of the ADN's receipts then serves all of them. */
async function claimOthersInDoubt(
  world: World,
  tenant: string,
  { searchMax }: Adn,
  { token, notas }: Claim,
): Promise<readonly ClaimedNota[]> {
  const inDoubt = notas.filter(({ found }) => !NOTA_NAO_TRANSMITIDA.includes(found)).length;
  const max = searchMax - inDoubt;
  if (max <= 0 || inDoubt === 0) return [];
  const now = world.now();
  return world.store.notas.claimAnunciadas(tenant, token, now, now + LEASE_MS, max);
}

/**
 * Holds back notas that replace one of ours which is still valid. The environment takes such a nota only after the event of the replaced
 * one (D-155). It might refuse the nota for good when it does not have the replaced one yet (E0044). A nota that replaces a foreign one, or
 * another party's (D-293), is sent. The environment itself says when it is too early (E1308). The sandbox does likewise (D-60).
 */
async function openExchange(
  { world, tenant }: On,
  adn: Adn,
  notas: readonly ClaimedNota[],
): Promise<Exchange<ClaimedNota, TooEarly>> {
  const replaced = await findReplaced(world, tenant, notas);
  const early = notas.filter(({ substitui }) => {
    const substituida = replaced.get(substitui);
    return substituida !== undefined && !NOTA_FINAIS.includes(substituida.estado);
  });
  const describe = (nota: ClaimedNota) => ({
    chave_acesso: nota.chave_acesso,
    substituida: replaced.get(nota.substitui),
    ...rehearsalOf(nota),
  });
  return {
    foregone: new Map(early.map(({ chave_acesso }) => [chave_acesso, { kind: 'too_early', erros: [] }])),
    find: (some) =>
      adn.find(
        tenant,
        some.map((nota): NotaAsked => ({ ...describe(nota), nsu_antes: nota.nsu_antes, nsu_agora: nota.nsu_agora })),
      ),
    share: (some, xmlOf) =>
      adn.share(
        tenant,
        some.map((nota) => ({ ...describe(nota), xml: xmlOf(nota) })),
      ),
  };
}

/** Finds the replaced notas of ours, by key. Nothing is read when no nota replaces another. */
async function findReplaced(
  world: World,
  tenant: string,
  notas: readonly ClaimedNota[],
): Promise<ReadonlyMap<string | null, NonNullable<ToJudge['substituida']>>> {
  const replaced = new Set(notas.flatMap(({ substitui }) => substitui ?? []));
  if (replaced.size === 0) return new Map();
  const found = await world.store.notas.findSubstituidas(tenant, [...replaced]);
  return new Map([...found].map(([chave_acesso, one]) => [chave_acesso, { chave_acesso, ...one }]));
}

/** The simulation that the sender of a nota requested in the sandbox (D-60), and since when. */
function rehearsalOf({ simular, data_emissao }: ClaimedNota): ToSimulate {
  return simular === null ? {} : { simular, criado: data_emissao.getTime() };
}

/** The message when another municipality detected the outage: this one has no reason of its own. */
const AWAY = 'o ADN não está respondendo; novas tentativas são feitas de tempos em tempos';
const SILENT = 'o ADN não disse o que foi feito das notas enviadas';
/** The message when the municipality works well: an event of the provider is missing. */
const REPLACED_FIRST =
  'há notas que substituem outras, e seguem depois do evento cancelamento_por_substituicao de cada substituída';

/** The reason why notas wait after an attempt; undefined: the environment decided about some, and will decide about the others. */
function describeProblem(answers: Answers<TooEarly>): string | undefined {
  const all = [...answers.values()];
  const misconfigured = all.find((answer) => answer.kind === 'misconfigured');
  if (misconfigured !== undefined) return misconfigured.why;
  if (all.some(({ kind }) => kind === 'accepted' || kind === 'refused')) return undefined;
  const doubt = all.find((answer) => answer.kind === 'unavailable' || answer.kind === 'unknown');
  if (doubt !== undefined) return doubt.why;
  return all.some(({ kind }) => kind === 'too_early') ? REPLACED_FIRST : SILENT;
}

/** Records why notas wait, for `nfse municipio mostrar`. A failure to record it does not stop the delivery. */
async function noteProblem({ world, tenant }: On, problem: string | undefined, isVague: boolean): Promise<void> {
  try {
    await world.store.municipios.noteProblem(tenant, problem, world.now(), isVague);
  } catch (error) {
    tellTrouble(world.log, error, { tenant }, 'o motivo da espera das notas não pôde ser anotado');
  }
}

function outcomeOf(
  { world }: On,
  { tentativas }: ClaimedNota,
  answer: NotaAnswer | undefined,
  { now }: { readonly now: number },
): Outcome<NotaSettlement> {
  switch (answer?.kind) {
    case 'accepted':
      return { on: 'autorizacao' };
    case 'refused':
      return { on: 'recusa', mensagem_retorno: describeErros(answer.erros) };
    case 'too_early':
      return {
        on: 'espera',
        mensagem_retorno: `${REPLACED_NOT_YET} ${describeErros(answer.erros)}`.trim(),
        waitMs: backoff(world, tentativas, SUBSTITUTA_WAIT_MAX_MS),
      };
    case 'misconfigured':
      return { on: 'adiamento', waitMs: MISCONFIGURED_PAUSE_MS };
    case 'unavailable':
      return answer.at === undefined ? { on: 'adiamento' } : { on: 'adiamento', dueAt: Math.max(answer.at, now + 1) };
    default:
      return { on: 'adiamento' };
  }
}

/** Tells the integrator the reason of the wait, since the integrator alone can end it. */
const REPLACED_NOT_YET =
  'Esta nota substitui outra e espera pelo evento cancelamento_por_substituicao dela, depois do qual segue sozinha.';

/** `mensagem_retorno` of a refused note: code and text of every reason, in the words of the ADN. */
function describeErros(erros: readonly AdnErro[]): string {
  return erros
    .map(({ codigo, descricao, complemento }) => `${codigo}: ${descricao}${complemento ? ` (${complemento})` : ''}`)
    .join(' | ');
}
