/**
 * Announce, sign, send, settle: what the worker does with the due notas of one tenant.
 *
 * Claiming commits the announcement. A nota found already announced may have arrived: the ADN is asked about it first,
 * and it is sent again only when the ADN does not know it. Settling writes only what still carries our claim.
 */
import type { Adn, AdnErro, AdnKnowledge, NotaAnswer, NotaAsked, ToJudge, ToSimulate } from '../adn/adn.ts';
import { checkSignature, NFSE_PROFILE, type SignedProfile } from '../documents/signed.ts';
import { type Signer, signatureElement, signatureValueOf } from '../documents/signing.ts';
import { readXml } from '../documents/xml.ts';
import { signedPartOf, withSignature } from '../fiscal/layout/write.ts';
import { type NotaEstado, type NotaMove, type NotaTrigger, notaMove } from '../fiscal/nota.ts';
import { tellTrouble } from '../flows/store-trouble.ts';
import type { World } from '../flows/world.ts';
import type { Claim, ClaimedNota, NotaSettlement } from '../store/claim-notas.ts';
import type { Municipio } from '../store/municipios.ts';
import type { Recebida } from '../store/recepcoes.ts';

/** Time that a claim lasts; everything that a claim does takes less, or its outcome is no longer ours to write. */
export const LEASE_MS = 60_000;
const BACKOFF_FIRST_MS = 1_000;
/** An environment that does not answer at all is the circuit's affair; a note alone need not wait longer than this. */
export const NOTA_WAIT_MAX_MS = 60_000;
/** Of a note that waits for its provider's event; the event wakes it, so that this look finds only what nobody woke. */
export const SUBSTITUTA_WAIT_MAX_MS = 15 * 60_000;
/** What an operator must mend is not mended within seconds. */
export const MISCONFIGURED_PAUSE_MS = 60_000;
/** Before looking again whether the files of a municipality are in order. */
const PROBLEM_PAUSE_MS = 30_000;

/** `isFull`: there may be more that is due. `pauseMs`: not before that long. `isDoubtful`: one batch at a time. */
export type Delivered = {
  readonly delivered: number;
  readonly isFull: boolean;
  readonly pauseMs: number;
  readonly isDoubtful?: boolean;
};

const NOTHING: Delivered = { delivered: 0, isFull: false, pauseMs: 0 };

/** Delivers one batch of a tenant, claimed under a token. */
export async function deliverNotas(world: World, municipio: Municipio, token?: string): Promise<Delivered> {
  const { tenant } = municipio;
  const transmission = await world.transmission(municipio);
  if ('problem' in transmission) {
    world.log.error({ tenant, problem: transmission.problem }, 'as notas não podem ser transmitidas e esperam');
    await noteProblem(world, tenant, transmission.problem);
    return { ...NOTHING, pauseMs: PROBLEM_PAUSE_MS };
  }
  const { adn, signer } = transmission;
  // While the environment is unreachable nothing is announced, sent or counted (D-52).
  const pauseMs = adn.pauseMs();
  if (pauseMs > 0) {
    await noteProblem(world, tenant, AWAY, true);
    return { ...NOTHING, pauseMs };
  }
  const now = world.now();
  const { batchMax } = adn;
  const claim = await world.store.notas.claim(tenant, now, now + LEASE_MS, batchMax, token);
  if (claim.notas.length === 0) return NOTHING;
  const others = await othersInDoubt(world, tenant, adn, claim);
  // Of a claim that had ended some may be among them.
  const again = new Set(others.map(({ id }) => id));
  const notas = [...claim.notas.filter(({ id }) => !again.has(id)), ...others];

  const replaced = await replacedBy(world, tenant, notas);
  const answers = answersToEarly(notas, replaced);
  // What waits for another is not signed to be put back.
  const ready = notas.filter(({ chave_acesso }) => !answers.has(chave_acesso));
  const announced = ready.filter(isInDoubt);
  const { known, places, undecided } = await lookFor(adn, tenant, announced, replaced);
  for (const [chave, answer] of undecided) answers.set(chave, answer);
  const wanted = ready.filter(({ chave_acesso }) => !answers.has(chave_acesso));
  const documents = adn.wantsDocuments
    ? await signedDocuments(world, tenant, wanted, signer)
    : new Map<string, Signed>();
  const held = new Map<string, Recebida>();
  for (const { id, chave_acesso } of announced) {
    const knowledge = known.get(chave_acesso);
    if (knowledge === undefined) continue;
    const found = recovered(knowledge, documents.get(id), NFSE_PROFILE);
    if (found === 'another') {
      world.log.error({ tenant, nota: id }, 'o ADN guarda outro documento sob a chave de uma nota');
      answers.set(chave_acesso, { kind: 'misconfigured', why: 'outro documento sob esta chave' });
    } else {
      answers.set(chave_acesso, { kind: 'accepted', nsu: knowledge.nsu });
      if (found !== undefined) held.set(chave_acesso, found);
    }
  }
  const toSend = ready.filter(({ chave_acesso }) => !answers.has(chave_acesso));
  if (toSend.length > 0) {
    const shared = await adn.share(
      tenant,
      toSend.map((nota) => ({
        chave_acesso: nota.chave_acesso,
        xml: documents.get(nota.id)?.xml,
        substituida: replaced.get(nota.substitui),
        ...rehearsalOf(nota),
      })),
    );
    for (const [chave, answer] of shared) answers.set(chave, answer);
  }

  const settled = world.now();
  const settlements = notas.map((nota): NotaSettlement => {
    const { chave_acesso, id } = nota;
    const answer = answers.get(chave_acesso);
    const assinatura = documents.get(id)?.assinatura;
    const settlement = settlementOf(world, nota, answer, settled);
    if (answer?.kind !== 'accepted') return { ...settlement, lugar: places.get(chave_acesso) };
    return { ...settlement, recebida: held.get(chave_acesso) ?? { nsu: answer.nsu, assinatura } };
  });
  const written = await world.store.notas.settle(tenant, claim.token, settled, settlements);
  if (written < settlements.length) {
    world.log.warn(
      { tenant, lost: settlements.length - written },
      'respostas não gravadas: o prazo da reserva havia acabado, ou outra gravação ocupa a nota; as notas são retomadas',
    );
  }
  const misconfigured = [...answers.values()].find(({ kind }) => kind === 'misconfigured');
  if (misconfigured !== undefined && 'why' in misconfigured) {
    world.log.error({ tenant, problem: misconfigured.why }, 'o ADN não aceita os documentos do município');
  }
  await noteProblem(world, tenant, problemIn(answers), toSend.length === 0 && announced.length === 0);
  return {
    delivered: notas.length,
    isFull: claim.notas.length === batchMax || notas.length > claim.notas.length,
    pauseMs: misconfigured === undefined ? 0 : MISCONFIGURED_PAUSE_MS,
    ...(announced.length > 0 || [...answers.values()].some(({ kind }) => kind === 'unknown')
      ? { isDoubtful: true }
      : {}),
  };
}

/** Announced before: it may have been sent, and arrived. */
function isInDoubt({ found }: ClaimedNota): boolean {
  return found === 'transmitida';
}

/** When one of a claim is in doubt, the others of the tenant too: what the ADN received is looked through once for all. */
async function othersInDoubt(
  world: World,
  tenant: string,
  { searchMax }: Adn,
  { token, notas }: Claim,
): Promise<readonly ClaimedNota[]> {
  const max = searchMax - notas.filter(isInDoubt).length;
  if (max <= 0 || !notas.some(isInDoubt)) return [];
  const now = world.now();
  return world.store.notas.claimAnunciadas(tenant, token, now, now + LEASE_MS, max);
}

/** By key. `places`: of a nota that was not found, the reception number up to which it is not; `undecided`: not to be sent now. */
type Looked = {
  readonly known: ReadonlyMap<string, Extract<AdnKnowledge, { kind: 'known' }>>;
  readonly places: ReadonlyMap<string, string | undefined>;
  readonly undecided: ReadonlyMap<string, NotaAnswer>;
};

/** What the environment has of notas that may have arrived. */
async function lookFor(
  adn: Adn,
  tenant: string,
  announced: readonly ClaimedNota[],
  replaced: Awaited<ReturnType<typeof replacedBy>>,
): Promise<Looked> {
  const known = new Map<string, Extract<AdnKnowledge, { kind: 'known' }>>();
  const places = new Map<string, string | undefined>();
  const undecided = new Map<string, NotaAnswer>();
  if (announced.length === 0) return { known, places, undecided };
  const asked = announced.map((nota): NotaAsked => {
    const { chave_acesso, nsu_antes, nsu_agora, substitui } = nota;
    return { chave_acesso, nsu_antes, nsu_agora, substituida: replaced.get(substitui), ...rehearsalOf(nota) };
  });
  for (const [chave, knowledge] of await adn.find(tenant, asked)) {
    if (knowledge.kind === 'known') known.set(chave, knowledge);
    else places.set(chave, knowledge.place);
    // Where the look goes on the nota is due at once.
    if (knowledge.kind === 'unavailable') {
      undecided.set(chave, { kind: 'unavailable', why: knowledge.why, ...(knowledge.goesOn ? { at: 0 } : {}) });
    }
  }
  return { known, places, undecided };
}

/** What became of the notas that these replace, where they are ours. Nothing is read unless there are some. */
async function replacedBy(
  world: World,
  tenant: string,
  notas: readonly ClaimedNota[],
): Promise<ReadonlyMap<string | null, NonNullable<ToJudge['substituida']>>> {
  const replaced = new Set(notas.flatMap(({ substitui }) => substitui ?? []));
  if (replaced.size === 0) return new Map();
  const found = await world.store.notas.findSubstituidas(tenant, [...replaced]);
  return new Map([...found].map(([chave_acesso, one]) => [chave_acesso, { chave_acesso, ...one }]));
}

/**
 * A nota that replaces one of ours is not sent while that one stands: the environment takes it only after the event that says
 * so, and might refuse it for good where it does not even have the replaced nota yet (E0044). Where that nota is not ours, or
 * another party's (D-307), the environment is asked and says when it is too early (E1308). In the sandbox likewise (D-53).
 */
function answersToEarly(
  notas: readonly ClaimedNota[],
  replaced: Awaited<ReturnType<typeof replacedBy>>,
): Map<string, NotaAnswer> {
  const answers = new Map<string, NotaAnswer>();
  for (const { chave_acesso, substitui } of notas) {
    const substituida = replaced.get(substitui);
    if (substituida === undefined || isAtItsEnd(substituida.estado)) continue;
    answers.set(chave_acesso, { kind: 'too_early', erros: [] });
  }
  return answers;
}

function isAtItsEnd(estado: NotaEstado): boolean {
  return estado === 'recusada' || estado === 'cancelada';
}

/** What the sandbox was asked to play with a nota (D-60), and since when. */
function rehearsalOf({ simular, data_emissao }: ClaimedNota): ToSimulate {
  return simular === null ? {} : { simular, criado: data_emissao.getTime() };
}

/** Another municipality may have found it out: this one was not told why. */
const AWAY = 'o ADN não está respondendo; novas tentativas são feitas de tempos em tempos';
const SILENT = 'o ADN não disse o que foi feito das notas enviadas';
/** No trouble of the municipality's: what is missing is an event of the provider's. */
const REPLACED_FIRST =
  'há notas que substituem outras, e seguem depois do evento cancelamento_por_substituicao de cada substituída';

/** Why notes wait, after an attempt; undefined when the environment decided about some, which it does for others too. */
function problemIn(answers: ReadonlyMap<string, NotaAnswer>): string | undefined {
  const all = [...answers.values()];
  const misconfigured = all.find((answer) => answer.kind === 'misconfigured');
  if (misconfigured !== undefined) return misconfigured.why;
  if (all.some(({ kind }) => kind === 'accepted' || kind === 'refused')) return undefined;
  const doubt = all.find((answer) => answer.kind === 'unavailable' || answer.kind === 'unknown');
  if (doubt !== undefined) return doubt.why;
  return all.some(({ kind }) => kind === 'too_early') ? REPLACED_FIRST : SILENT;
}

/** For the operator, who is told by `nfse municipio mostrar`. Notes go out whether it can be written or not. */
async function noteProblem(world: World, tenant: string, problem: string | undefined, isVague = false): Promise<void> {
  try {
    await world.store.municipios.noteProblem(tenant, problem, world.now(), isVague);
  } catch (error) {
    tellTrouble(world.log, error, { tenant }, 'o motivo da espera das notas não pôde ser anotado');
  }
}

export type Signed = { readonly xml: Buffer; readonly assinatura: Recebida['assinatura'] };

/** The documents of notas as they go out, by id; in production they are signed here. */
async function signedDocuments(
  world: World,
  tenant: string,
  notas: readonly ClaimedNota[],
  signer: Signer | undefined,
): Promise<Map<string, Signed>> {
  const ids = notas.map(({ id }) => id);
  const documents = new Map<string, Signed>();
  let sinceTurn = 0;
  for (const [id, nfse] of await world.store.notas.readNfse(tenant, ids)) {
    documents.set(id, signer === undefined ? { xml: Buffer.from(nfse), assinatura: undefined } : signed(nfse, signer));
    sinceTurn += 1;
    // Answers that came meanwhile are looked at before the next ones are signed.
    if (sinceTurn % SIGNED_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return documents;
}

/** Signatures between two turns of the event loop: some six milliseconds. */
const SIGNED_PER_TURN = 25;

function signed(nfse: string, signer: Signer): Signed {
  const { canonical, id } = signedPartOf(nfse);
  const valor = signatureValueOf(canonical, id, signer);
  const certificado = signer.certificate.der;
  const element = signatureElement(canonical, id, { value: valor, certificate: certificado });
  return { xml: Buffer.from(withSignature(nfse, element), 'utf8'), assinatura: { valor, certificado } };
}

/**
 * What the environment holds of a document whose answer was lost: by its own copy when it gave one, which may carry the
 * signature of a certificate that was renewed since. `another`: the copy is not what we wrote.
 */
export function recovered(
  { nsu, xml }: Extract<AdnKnowledge, { kind: 'known' }>,
  ours: Signed | undefined,
  profile: SignedProfile,
): Recebida | 'another' | undefined {
  if (xml === undefined || ours?.assinatura === undefined) return undefined;
  if (Buffer.compare(xml, ours.xml) === 0) return { nsu, assinatura: ours.assinatura };
  const [theirs, own] = [xml, ours.xml].map((bytes) => {
    const reading = readXml(bytes);
    return 'fault' in reading ? undefined : checkSignature(reading, profile);
  });
  if (theirs === undefined || theirs.assinado === undefined || theirs.assinado !== own?.assinado) return 'another';
  if (theirs.certificate === undefined || theirs.valor === undefined || theirs.faults.length > 0) return 'another';
  return { nsu, assinatura: { valor: theirs.valor, certificado: theirs.certificate.der } };
}

function settlementOf(world: World, nota: ClaimedNota, answer: NotaAnswer | undefined, now: number): NotaSettlement {
  const settle = (on: NotaTrigger, mensagem: string | undefined, dueAt: number | undefined): NotaSettlement => ({
    id: nota.id,
    move: moveFromSent(on),
    mensagem_retorno: mensagem,
    dueAt,
  });
  switch (answer?.kind) {
    case 'accepted':
      return settle('autorizacao', undefined, undefined);
    case 'refused':
      return settle('recusa', reasonOf(answer.erros), undefined);
    case 'too_early':
      return settle(
        'espera',
        `${REPLACED_NOT_YET} ${reasonOf(answer.erros)}`.trim(),
        now + backoff(world, nota.tentativas, SUBSTITUTA_WAIT_MAX_MS),
      );
    case 'misconfigured':
      return settle('adiamento', undefined, now + MISCONFIGURED_PAUSE_MS);
    case 'unavailable':
      if (answer.at !== undefined) return settle('adiamento', undefined, Math.max(answer.at, now + 1));
      return settle('adiamento', undefined, now + backoff(world, nota.tentativas));
    default:
      return settle('adiamento', undefined, now + backoff(world, nota.tentativas));
  }
}

/** The integrator, who alone can end the wait, is told what it is for. */
const REPLACED_NOT_YET =
  'Esta nota substitui outra e espera pelo evento cancelamento_por_substituicao dela, depois do qual segue sozinha.';

/** Every outcome is a move from `transmitida`, because claiming announced the sending. */
function moveFromSent(on: NotaTrigger): NotaMove {
  const move = notaMove('transmitida', on);
  if (move === undefined) throw new Error(`the nota machine has no move ${on} from transmitida`);
  return move;
}

/**
 * Doubles up to its cap; notas wait without a budget (D-52). The attempt that just failed is counted already. The last
 * quarter is left to chance, so that what failed together does not come back together.
 */
export function backoff(world: World, attempts: number, maxMs = NOTA_WAIT_MAX_MS): number {
  return jittered(world, Math.min(BACKOFF_FIRST_MS * 2 ** Math.min(attempts - 1, 20), maxMs));
}

/** At least three quarters of it. */
export function jittered(world: World, wholeMs: number): number {
  return Math.ceil(wholeMs * (0.75 + (0.25 * Number(world.randomDigits(3))) / 1_000));
}

/** `mensagem_retorno` of a refused note: code and text of every reason, in the words of the ADN. */
function reasonOf(erros: readonly AdnErro[]): string {
  return erros
    .map(({ codigo, descricao, complemento }) => `${codigo}: ${descricao}${complemento ? ` (${complemento})` : ''}`)
    .join(' | ');
}
