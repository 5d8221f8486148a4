/**
 * Judges a document without issuing it: the answer of issuance, all faults at once, and the steps of each amount (D-25). No number is used
 * and nothing is stored.
 *
 * Issuance stops at the first step that refuses; this goes on as far as it can read the document (D-25). Faults of the signature, the
 * registry and the declared amounts are reported together. Only an unreadable structure ends the check.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import {
  type Found,
  factsForStranger,
  gatherFacts,
  knownForStranger,
  prestadorOfFirstDps,
} from '../../base/world/gather-facts.ts';
import { type OpenedDps, openDps, type ReadDps, type SentDps } from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import type { IssqnAmounts } from '../../fiscal/assess.ts';
import { explainIbsCbs } from '../../fiscal/explain-ibscbs.ts';
import { explainIssqn } from '../../fiscal/explain-issqn.ts';
import type { Facts } from '../../fiscal/facts.ts';
import { type Aviso, type Fault, limitAvisos, type Refusal, refusalOf } from '../../fiscal/fault.ts';
import { ibsCbsInput, type Judged, judgeWhole } from '../../fiscal/judge.ts';
import type { Dps } from '../../fiscal/layout/dps.ts';
import { EXAMPLE_FACTS } from '../../fiscal/rules/trial.ts';
import { answerOf, knownPart, watch } from '../../fiscal/unknown.ts';
import { wholeSecond } from './issue.ts';
import { findDuplicate, identifierOf, nextNumbersFor, numberRemarks } from './numero-dps.ts';
import { atOnePlace, knownOf, refuseUnread, tellKnown } from './refuse.ts';

/**
 * One step of the calculation; `valor` null: the amount is absent from the note. `campo_json`: its name in the JSON body or answer, for
 * senders of JSON.
 */
export type Passo = {
  readonly campo: string;
  readonly campo_json?: string;
  readonly formula: string;
  readonly valor: string | null;
};

export type Validated = {
  readonly dps: Dps;
  readonly amounts: IssqnAmounts;
  readonly ibscbs: Judged['ibscbs'];
  /** IBGE code; undefined: the operation has no municipality of incidence. */
  readonly cLocIncid: string | undefined;
  /** Identifier under which the note would be found. A DPS without number has its next identifier, if known. */
  readonly idDps: string | undefined;
  readonly calculo: readonly Passo[];
  readonly avisos: readonly Aviso[];
};

/** `unlooked`: the checks that production did not make. */
export type Invalidated = Refusal & { readonly unlooked?: Unlooked };

type Unlooked = {
  readonly isUnsigned: boolean;
  /** Each is a sentence. */
  readonly nao_conferido: readonly string[];
  /** The judgement of the document's own content, when only its signature is at fault. */
  readonly asSaid?: Validated;
};

/** The answer that issuance in this municipality would give now. */
export async function validateNota(
  world: World,
  municipio: Municipio,
  sent: SentDps,
): Promise<Validated | Invalidated> {
  const received = world.now();
  const { signatureRefuses } = AMBIENTES[municipio.ambiente];
  const asUnread = (refusal: Refusal, unread: Unread): Invalidated => {
    const { isUnsigned } = unread;
    return signatureRefuses ? { ...refusal, unlooked: { isUnsigned, nao_conferido: unreadInWords(unread) } } : refusal;
  };
  const opened = openDps(sent, municipio);
  if ('faults' in opened) return asUnread(opened, { isUnsigned: false });
  const signature = opened.verify(world, municipio, received);
  const { faults: signatureFaults } = signature;
  const isUnsigned = signatureFaults.length > 0;
  const read = opened.read();
  const instant = wholeSecond(received);
  if ('faults' in read) {
    const known = knownOf(read);
    const unread = { isUnsigned, known };
    if (!isUnsigned) return asUnread(await refuseUnread(world, municipio, sent, { opened, read, instant }), unread);
    const gathered = known && (await knownForStranger(world, municipio, known.marked, instant));
    const besides = tellKnown(opened, read, gathered?.facts);
    return asUnread(refusalOf([...opened.place(signatureFaults), ...besides])!, unread);
  }
  const { dps } = read;
  if (isUnsigned) {
    const { facts } = await factsForStranger(world, municipio, dps, instant);
    return asStranger(municipio, opened, read, { facts, signatureFaults });
  }
  const gathered = await gatherFacts(world, municipio, dps, instant);
  const [duplicate, next] = await Promise.all([
    findDuplicate(world, municipio, dps, sent),
    nextNumbersFor(world, municipio, dps),
  ]);
  return judgeOpened(opened, read, gathered.facts, {
    before: gathered.faults,
    after: duplicate,
    avisos: [...signature.avisos, ...numberRemarks(municipio, dps, next)],
    nDPS: next?.nDPS,
  });
}

type StrangerFacts = { readonly facts: Facts; readonly signatureFaults: readonly Fault[] };

/** Judges a document without its provider's signature by its own content and by public data (D-25). */
function asStranger(
  municipio: Municipio,
  opened: OpenedDps,
  { dps, declarado }: ReadDps,
  { facts, signatureFaults }: StrangerFacts,
): Invalidated {
  const judgement = judgeWhole(dps, facts, declarado);
  const ofRules = 'faults' in judgement ? judgement.faults : [];
  const refusal = refuseOpened(opened, [...signatureFaults, ...ofRules])!;
  if ('faults' in judgement) {
    return { ...refusal, unlooked: { isUnsigned: true, nao_conferido: [...SEM_ASSINATURA, COM_ASSINATURA] } };
  }
  const asSaid = explainJudged(opened, dps, facts, judgement, { avisos: numberRemarks(municipio, dps, undefined) });
  const nao_conferido = [...SEM_ASSINATURA, VALORES_DO_DOCUMENTO, COM_ASSINATURA];
  return { ...refusal, unlooked: { isUnsigned: true, nao_conferido, asSaid } };
}

/** The provider's signature is required for these checks; without one the document's own statements are used. */
const SEM_ASSINATURA = [
  'Sem a assinatura válida do prestador não se olhou o cadastro: se ele está cadastrado (E101), autorizado (E102), com esta inscrição municipal (E103) e no Simples Nacional. Dele vale aqui só o que a DPS diz.',
  'Nem as notas já emitidas: se a série e o número foram usados (E0014), que número a DPS sem nDPS tomaria, e a situação da nota que ela substitui.',
  'Nem os cadastros do município que dependem do prestador: benefícios, deduções, regimes especiais e não incidência.',
] as const;

const VALORES_DO_DOCUMENTO =
  'Os valores são os do que a DPS diz, com os serviços e as alíquotas que os catálogos do município publicam: supõem que o regime e a dedução são os que ela declara, e que um benefício que ela nomeia só tira da base o que ela mesma informa e não muda a alíquota.';

const COM_ASSINATURA = 'Com a assinatura válida do prestador tudo isso se confere.';

/**
 * The steps of a note's amounts, calculated again with today's registers for its day of issue. Undefined: the registers now disagree, or
 * its document no longer reads.
 */
export async function explainEmitida(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  sent: SentDps,
  emitidaEm: number,
): Promise<readonly Passo[] | undefined> {
  const judged = await judgeAgain(world, municipio, sent, emitidaEm);
  return 'faults' in judged ? undefined : judged.calculo;
}

/**
 * Judges an issued DPS again, with today's registers for its day of issue. `asksRegister`: whether the provider may issue at all is judged
 * too.
 */
export async function judgeAgain(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  sent: SentDps,
  emitidaEm: number,
  asksRegister = false,
): Promise<Validated | Refusal> {
  const opened = openDps(sent, municipio);
  if ('faults' in opened) return opened;
  const read = opened.read();
  if ('faults' in read) return refusalOf(read.faults)!;
  const { facts, faults } = await gatherFacts(world, municipio, read.dps, emitidaEm);
  return judgeOpened(opened, read, facts, { before: asksRegister ? faults : [], after: [], avisos: [] });
}

const NAO_LIDA =
  'A DPS não pôde ser lida: não se olharam as regras que comparam campos, os valores, o cadastro nem as notas já emitidas. Corrija os erros e envie de novo.';

const LIDA_EM_PARTE =
  'A DPS não pôde ser lida inteira: das regras, dos valores, do cadastro e das notas já emitidas só se olhou o que não depende dos campos errados. Corrija os erros e envie de novo.';

function unreadInWords({ isUnsigned, known }: Unread): readonly string[] {
  const what = known === undefined ? NAO_LIDA : LIDA_EM_PARTE;
  return isUnsigned ? [what, ...SEM_ASSINATURA, COM_ASSINATURA] : [what];
}

/** A document that could not be read, or only in part. `known`: the part that was read. */
type Unread = { readonly isUnsigned: boolean; readonly known?: object | undefined };

/** Judges a file offline, with the facts of the sandbox: there is no registry to ask. `hoje`: `YYYY-MM-DD`. */
export function validateDocument(sent: SentDps, hoje: string): Validated | Refusal {
  const opened = openDps(sent, { ambiente: 'homologacao', codigoIbge: undefined });
  if ('faults' in opened) return opened;
  const read = opened.read();
  const { regrasNacionais } = AMBIENTES.homologacao;
  const factsOf = (found: Found | undefined): Facts => ({
    ...EXAMPLE_FACTS,
    hoje,
    regrasNacionais,
    prestador: found?.prestador ?? EXAMPLE_FACTS.prestador,
  });
  if ('faults' in read) {
    const known = knownOf(read);
    const found = known && answerOf(() => findInFile(watch(known.marked).value));
    const { prestador: _ofNobody, ...others } = factsOf(undefined);
    const facts = found === undefined ? knownPart<Facts>(others) : factsOf(found.answer);
    return refusalOf(tellKnown(opened, read, facts, found?.answer?.faults))!;
  }
  const found = findInFile(read.dps);
  const facts = factsOf(found);
  return judgeOpened(opened, read, facts, { before: found?.faults ?? [], after: [], avisos: [] });
}

/** The provider of a file, which is not registered; undefined without CNPJ or CPF. */
function findInFile(dps: Dps): Found | undefined {
  const documento = dps.prest.CNPJ ?? dps.prest.CPF;
  return documento === undefined ? undefined : prestadorOfFirstDps(dps, documento);
}

/** Faults of other steps: before the rules in the order of the answer, and after them. */
type Besides = {
  readonly before: readonly Fault[];
  readonly after: readonly Fault[];
  readonly avisos: readonly Aviso[];
  /** The number that a DPS without one would take. */
  readonly nDPS?: bigint | undefined;
};

function judgeOpened(
  opened: OpenedDps,
  { dps, declarado }: ReadDps,
  facts: Facts,
  besides: Besides,
): Validated | Refusal {
  const judgement = judgeWhole(dps, facts, declarado);
  const broken = 'faults' in judgement ? judgement.faults : [];
  const refusal = refuseOpened(opened, [...atOnePlace(besides.before, broken), ...besides.after]);
  return refusal ?? explainJudged(opened, dps, facts, judgement as Judged, besides);
}

/** The refusal of these faults at their places; undefined without any. */
function refuseOpened({ place }: OpenedDps, faults: readonly Fault[]): Refusal | undefined {
  const refusal = refusalOf(faults);
  return refusal && refusalOf(place(refusal.faults));
}

/** The judged amounts, with every step of their calculation. */
function explainJudged(
  { place, nameSteps }: OpenedDps,
  dps: Dps,
  facts: Facts,
  { amounts, ibscbs, cLocIncid, retencao, avisos }: Judged,
  besides: Pick<Besides, 'avisos' | 'nDPS'>,
): Validated {
  const nDPS = dps.nDPS ?? besides.nDPS;
  const input = ibscbs && ibsCbsInput(dps, amounts);
  return {
    dps,
    amounts,
    ibscbs,
    cLocIncid,
    idDps: nDPS === undefined ? undefined : identifierOf(dps, nDPS),
    calculo: nameSteps<Passo>([
      ...explainIssqn(dps, facts, amounts),
      ...(ibscbs === undefined || input === undefined ? [] : explainIbsCbs(input, ibscbs, facts.tabelaIbsCbs)),
    ]),
    avisos: place(limitAvisos([...besides.avisos, ...avisos.map((aviso) => notYetHeld(aviso, retencao))])),
  };
}

/** The reason why an issued note would wait, worded for a dry run. */
function notYetHeld(aviso: Aviso, retencao: string | undefined): Aviso {
  return aviso.mensagem === retencao
    ? { ...aviso, mensagem: `Nada foi emitido; emitida agora, a nota ficaria assim: "${retencao}"` }
    : aviso;
}
