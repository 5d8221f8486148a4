/**
 * The main job: a DPS becomes a stored nota, or all its faults are returned (D-11, D-720).
 *
 * open → verify → idempotency turn → read → facts → judge → store.
 *
 * A note is numbered only after all rules hold, and answered only after the commit.
 */

import type { Municipio } from '../../base/book/municipios.ts';
import type { NotaNova } from '../../base/book/nota-columns.ts';
import { inSpan } from '../../base/traces/traces.ts';
import { needOpen } from '../../base/world/fechado.ts';
import { keepFundamento } from '../../base/world/fundamento.ts';
import { gatherFacts, municipalMoment } from '../../base/world/gather-facts.ts';
import {
  type Before,
  type Ended,
  inTurn,
  type Refused,
  type SentKey,
  type Turn,
} from '../../base/world/idempotency.ts';
import { openDps, reopenToPlace, type SentDps } from '../../base/world/sent-documents.ts';
import type { World } from '../../base/world/world.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { buildChave } from '../../fiscal/chave.ts';
import { classifyIssqn, nameRegime } from '../../fiscal/classe-issqn.ts';
import { composeNfse, type Numbered } from '../../fiscal/compose-nfse.ts';
import { type Decimal, formatDecimal } from '../../fiscal/decimal.ts';
import type { Facts } from '../../fiscal/facts.ts';
import { type Aviso, type Fault, limitAvisos, limitFaults, type Refusal, refusalOf } from '../../fiscal/fault.ts';
import { type Judged, judge, judgeFurther } from '../../fiscal/judge.ts';
import { DEFAULT_SERIE, type Dps } from '../../fiscal/layout/dps.ts';
import { isoMoment } from '../../fiscal/moment.ts';
import { codigoSituacaoOf } from '../../fiscal/nota.ts';
import { findRehearsal } from '../../fiscal/simular.ts';
import type { Issuance } from './issue.rows.ts';
import {
  duplicateFault,
  findDuplicate,
  identifierOf,
  identifierRemark,
  nextNumbersFor,
  numberedAs,
  numberRemarks,
} from './numero-dps.ts';
import { atOnePlace, refuseUnread, refuseUnverified } from './refuse.ts';

/** The free text of a DPS. */
const X_INF_COMP = '/DPS/infDPS/serv/infoCompl/xInfComp';

export type IssuedNota = {
  readonly numero_protocolo: string;
  readonly chave_acesso: string;
  readonly xml_nfse: string;
  readonly avisos: readonly Aviso[];
  /** The nota was issued before, for the same request (D-19). */
  readonly isRepeated?: true;
};

/** Issues the nota of a DPS exactly as it was sent; a key makes repeated requests yield one nota. */
export async function issueNota(
  world: World,
  municipio: Municipio,
  sent: SentDps,
  key?: SentKey,
): Promise<IssuedNota | Refused> {
  needOpen(municipio);
  const done = await inTurn(world, municipio, key, (turn) => issue(world, municipio, sent, turn));
  if ('before' in done) return issuedBefore(done.before);
  if ('faults' in done) countRefusal(world, municipio, done.faults);
  return done;
}

/** A refused request is counted under each of its codes; a repeated answer is not counted again. */
export function countRefusal({ store, now }: World, { tenant }: Municipio, faults: readonly Fault[]): void {
  const codes = faults.map(({ codigo }) => codigo);
  store.movimento.countRecusa(tenant, codes, now());
}

/**
 * All steps of issuing except storing, for callers that store several notes at once. The DPS has a number, and the caller ignores remarks.
 */
export async function prepareIssuance(
  world: World,
  municipio: Municipio,
  sent: SentDps,
): Promise<{ readonly issuance: Issuance; readonly julgada: Judged & { readonly dps: Dps } } | Refusal> {
  const accepted = await accept(world, municipio, sent, undefined);
  if ('before' in accepted) throw new Error('an issuance without a key was not done before');
  if ('faults' in accepted) return accepted;
  const { dps, judged, prestador, mes, novoPrestador, complete } = accepted;
  const hasOwnClock = municipio.relogioMs !== undefined;
  return {
    julgada: { dps, ...judged },
    issuance: { prestador, mes, dps: numberedAs(dps), hasOwnClock, novoPrestador, complete },
  };
}

function issuedBefore(before: Before): IssuedNota | Refused {
  if ('faults' in before) return before;
  if (!('nota' in before)) throw new Error('an issuance is not answered with an evento');
  const { nota, avisos } = before;
  const { numero_protocolo, chave_acesso, nfse } = nota;
  return { numero_protocolo, chave_acesso, xml_nfse: nfse, avisos, isRepeated: true };
}

async function issue(
  world: World,
  municipio: Municipio,
  sent: SentDps,
  turn: Turn | undefined,
): Promise<IssuedNota | Refusal | Ended> {
  const accepted = await accept(world, municipio, sent, turn);
  if ('faults' in accepted || 'before' in accepted) return accepted;
  const { dps, prestador, idSent, avisos } = accepted;
  const avisosFor = (idDps: string): readonly Aviso[] => [
    ...avisos,
    ...identifierRemark(idSent, idDps, dps.nDPS !== undefined),
  ];
  const issuance: Issuance = {
    prestador,
    mes: accepted.mes,
    dps: numberedAs(dps),
    hasOwnClock: municipio.relogioMs !== undefined,
    novoPrestador: accepted.novoPrestador,
    complete: accepted.complete,
    // Remarks depend only on the identifier, which is known here when the DPS brings its number.
    key: turn?.success(dps.nDPS === undefined ? avisos : avisosFor(identifierOf(dps, dps.nDPS))),
  };
  const stored = await inSpan('gravar', {}, () => world.store.notas.issue(municipio.tenant, issuance));
  if ('error' in stored) throw stored.error;
  if ('isRepeated' in stored) return { before: await turn!.before() };
  if ('duplicateOf' in stored) {
    const fault = await duplicateFault(world, municipio, dps, stored.duplicateOf, sent);
    return refusalOf(reopenToPlace(sent, municipio, [fault]))!;
  }
  world.wake(municipio.tenant);
  world.store.movimento.countNotas(municipio.tenant, 1, world.now());
  const { nota } = stored;
  return {
    numero_protocolo: nota.numero_protocolo,
    chave_acesso: nota.chave_acesso,
    xml_nfse: nota.nfse,
    avisos: avisosFor(nota.id_dps),
  };
}

/**
 * The data of an accepted DPS that storing needs. The parsed tree is left out: hundreds of DPS wait for their commit. The tree would be
 * most of the garbage collector's load (measured: a tenth of all work).
 */
type Accepted = Pick<Issuance, 'novoPrestador' | 'complete' | 'mes' | 'prestador'> & {
  readonly dps: Dps;
  readonly judged: Judged;
  /** Undefined: the sender gave none, as in a JSON body. */
  readonly idSent: string | undefined;
  readonly avisos: readonly Aviso[];
};

async function accept(
  world: World,
  municipio: Municipio,
  sent: SentDps,
  turn: Turn | undefined,
): Promise<Accepted | Refusal | Ended> {
  const received = world.now();
  const opened = inSpan('abrir', {}, () => openDps(sent, municipio));
  if ('faults' in opened) return opened;
  const { place, prestador } = opened;
  const signature = inSpan('verificar', {}, () => opened.verify(world, municipio, received));
  const instant = wholeSecond(received);
  if (signature.faults.length > 0) return refuseUnverified(municipio, opened, signature.faults, instant);
  const before = await turn?.begin(prestador, sent.body);
  if (before !== undefined) return { before };
  const spent = await sent.quota?.take(prestador);
  if (spent !== undefined) return spent;
  const read = inSpan('ler', {}, () => opened.read());
  if ('faults' in read) return refuseUnread(world, municipio, sent, { opened, read, instant });
  const { dps, declarado } = read;

  const { facts, faults, novoPrestador } = await inSpan('fatos', {}, () => gatherFacts(world, municipio, dps, instant));
  const judged = inSpan('julgar', {}, () => judge(dps, facts, declarado));
  if (faults.length > 0 || 'faults' in judged) {
    const ofRules = 'faults' in judged ? judgeFurther(judged.faults, dps, facts, declarado).faults : [];
    const duplicate = await findDuplicate(world, municipio, dps, sent);
    return refusalOf(place(limitFaults([...atOnePlace(faults, ofRules), ...duplicate])))!;
  }
  const asked = [sent.simular, dps.serv.infoCompl?.xInfComp];
  const rehearsal = findRehearsal(municipio, asked, { xpath: X_INF_COMP });
  // The answer of a lot has no place for remarks. A DPS without number gets its number only at storing.
  const isAsked = dps.nDPS !== undefined && sent.kind !== 'rps';
  const next = isAsked ? await nextNumbersFor(world, municipio, dps) : undefined;
  const confianca = await keepFundamento(world, municipio, signature.fundamento);
  const ofNumber = numberRemarks(municipio, dps, next);
  const remarks = [...rehearsal.avisos, ...signature.avisos, ...ofNumber, ...judged.avisos];
  const avisos = remarks.length === 0 ? remarks : place(limitAvisos(remarks));
  return {
    dps,
    judged,
    idSent: sent.kind === 'xml' || sent.kind === 'nacional' ? read.id : undefined,
    prestador: facts.prestador.documento,
    novoPrestador,
    ...completion(world, municipio, {
      ...{ dps, facts, judged, instant, sent, confianca, simular: rehearsal.simular },
      julgamento: describeJulgamento(world, avisos),
    }),
    avisos,
  };
}

/** Whole seconds (D-04). */
export function wholeSecond(instant: number): number {
  return Math.floor(instant / 1000) * 1000;
}

type Material = {
  readonly dps: Dps;
  readonly facts: Facts;
  readonly judged: Judged;
  readonly instant: number;
  readonly sent: SentDps;
  readonly confianca: number | undefined;
  readonly simular: string | undefined;
  readonly julgamento: string | undefined;
};

/** Version and commit of the program; a second line has the remarks, as the sender reads them. */
function describeJulgamento({ programa }: World, avisos: readonly Aviso[]): string | undefined {
  return programa === undefined || avisos.length === 0 ? programa : `${programa}\n${JSON.stringify(avisos)}`;
}

/** Makes the function that turns numbers into the row and the document inside the transaction; and the month of the key. */
export function completion(
  world: Pick<World, 'randomDigits'>,
  municipio: Pick<Municipio, 'codigoIbge'>,
  material: Material,
): Pick<Issuance, 'complete' | 'mes'> {
  const { dps, facts, judged, instant, sent, confianca, simular, julgamento } = material;
  const moment = municipalMoment(municipio.codigoIbge ?? dps.cLocEmi, instant);
  const { amounts } = judged;
  const random = world.randomDigits(9);
  const protocolo = protocolNumber(world, moment.date + moment.time);
  const complete: Issuance['complete'] = ({ numero, id, nDPS: automatic }) => {
    const nDPS = dps.nDPS ?? String(automatic);
    const chave = buildChave({
      cMun: dps.cLocEmi,
      ambGer: '1',
      documento: facts.prestador.documento,
      nNFSe: numero,
      anoMes: moment.date.slice(2, 4) + moment.date.slice(5, 7),
      codigo: random,
    });
    const numbered: Numbered = {
      chave,
      nNFSe: String(numero),
      nDFSe: String(id),
      idDps: identifierOf(dps, nDPS),
      serie: dps.serie ?? DEFAULT_SERIE,
      nDPS,
      dhEmi: isoMoment(moment),
      tpAmb: AMBIENTES[facts.ambiente].tpAmb,
    };
    const nota: NotaNova = {
      chave_acesso: chave,
      numero_protocolo: protocolo,
      id_dps: numbered.idDps,
      serie_dps: numbered.serie,
      numero_dps_nacional: nDPS,
      data_emissao: instant,
      data_competencia: dps.dCompet,
      prestador_razao_social: facts.prestador.razaoSocial,
      prestador_inscricao_municipal: facts.prestador.inscricaoMunicipal ?? dps.prest.IM,
      tomador_cpf_cnpj: dps.toma?.CNPJ ?? dps.toma?.CPF,
      tomador_razao_social: dps.toma?.xNome,
      intermediario_cpf_cnpj: dps.interm?.CNPJ ?? dps.interm?.CPF,
      valor_servico: formatDecimal(dps.valores.vServPrest.vServ),
      valor_issqn: decimalText(amounts.vISSQN),
      valor_base_calculo: decimalText(amounts.vBC),
      aliquota_issqn: decimalText(amounts.pAliqAplic),
      recebido: sent.body,
      recebido_assinatura: sent.kind === 'json' ? sent.assinatura : undefined,
      confianca,
      julgamento,
      nfse: composeNfse(dps, facts, judged, numbered),
      simular,
      servico: dps.serv.cServ.cTribNac,
      substitui: dps.subst?.chSubstda,
      tabela_aliquotas: facts.tabelaIbsCbs.versao,
      codigo_situacao_nfse: codigoSituacaoOf(dps.prest.regTrib.opSimpNac),
      requisicao: sent.requisicao,
      classe_issqn: classifyIssqn(dps, facts, amounts),
      regime: nameRegime(dps.prest.regTrib),
      valor_ibs: decimalText(judged.ibscbs?.totCIBS.gIBS.vIBSTot),
      valor_cbs: decimalText(judged.ibscbs?.totCIBS.gCBS.vCBS),
      retencao: judged.retencao,
    } satisfies Readonly<Record<keyof NotaNova, unknown>>;
    return nota;
  };
  return { mes: Number(moment.date.slice(0, 4) + moment.date.slice(5, 7)), complete };
}

function decimalText(value: Decimal | undefined): string | undefined {
  return value === undefined ? undefined : formatDecimal(value);
}

/** Moment and 20 random digits (66 bits, D-40); the leading time keeps the database index compact. */
export function protocolNumber(world: Pick<World, 'randomDigits'>, moment: string): string {
  return moment.replace(/\D/g, '') + world.randomDigits(10) + world.randomDigits(10);
}
