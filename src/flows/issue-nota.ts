/**
 * The main job: a DPS goes in, a stored nota comes out, or every fault of the step that refuses it (D-11).
 *
 *   open → verify → whose turn it is → read → facts → judge → store
 *
 * Nothing is numbered before all rules hold, and nothing is answered before the commit.
 */
import { canonicalInfDps } from '../documents/xml.ts';
import { AMBIENTES } from '../fiscal/ambiente.ts';
import { buildChave, dpsIdInSerie, dpsSerieOf } from '../fiscal/chave.ts';
import { composeNfse, type Numbered } from '../fiscal/compose-nfse.ts';
import { type Decimal, formatDecimal } from '../fiscal/decimal.ts';
import type { Facts } from '../fiscal/facts.ts';
import { type Aviso, type Fault, limitAvisos, limitFaults, type Refusal, refusalOf } from '../fiscal/fault.ts';
import { type Judged, judge } from '../fiscal/judge.ts';
import { DEFAULT_SERIE, type Dps } from '../fiscal/layout/dps.ts';
import { isoMoment } from '../fiscal/moment.ts';
import { codigoSituacaoOf } from '../fiscal/nota.ts';
import { findRehearsal } from '../fiscal/simular.ts';
import type { DpsHolder } from '../store/identidades.ts';
import type { Issuance } from '../store/issue-notas.ts';
import type { Municipio } from '../store/municipios.ts';
import type { NotaNova } from '../store/nota-columns.ts';
import type { NextNumbers } from '../store/numeracao.ts';
import { inSpan } from '../traces/traces.ts';
import { needOpen } from './fechado.ts';
import { keepFundamento } from './fundamento.ts';
import { gatherFacts, municipalMoment } from './gather-facts.ts';
import { type Before, type Ended, inTurn, type Refused, type SentKey, type Turn } from './idempotency.ts';
import { isJson, openDps, reopenToPlace, type SentDps } from './sent-documents.ts';
import type { World } from './world.ts';

/** Where a DPS has its free text. */
const X_INF_COMP = '/DPS/infDPS/serv/infoCompl/xInfComp';

export type IssuedNota = {
  readonly numero_protocolo: string;
  readonly chave_acesso: string;
  readonly xml_nfse: string;
  readonly avisos: readonly Aviso[];
  /** It was issued before, for the same request (D-19). */
  readonly isRepeated?: true;
};

/** Issues the nota of a DPS exactly as it was sent; with a key, once however often it is sent. */
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

/** A request that is refused is counted under each of its codes; a repeated answer is none anew. */
export function countRefusal({ store, now }: World, { tenant }: Municipio, faults: readonly Fault[]): void {
  const codes = faults.map(({ codigo }) => codigo);
  store.movimento.countRecusa(tenant, codes, now());
}

/**
 * All of issuing but the storing, for those who store several notes at once. Its DPS has a number, and there is no remark to
 * make to anybody.
 */
export async function prepareIssuance(
  world: World,
  municipio: Municipio,
  sent: SentDps,
): Promise<{ readonly issuance: Issuance; readonly dps: Dps } | Refusal> {
  const accepted = await accept(world, municipio, sent, undefined);
  if ('before' in accepted) throw new Error('an issuance without a key was not done before');
  if ('faults' in accepted) return accepted;
  const { dps, prestador, mes, novoPrestador, complete } = accepted;
  return { dps, issuance: { prestador, mes, dps: numberedAs(dps), novoPrestador, complete } };
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
    novoPrestador: accepted.novoPrestador,
    complete: accepted.complete,
    // Only the identifier of a DPS that brings its number is remarked on, and that one is known.
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
 * What a DPS without faults needs to be stored. The tree that it was read from is no part of it: while hundreds wait for
 * their commit it would be most of what the garbage collector has to carry along (measured: a tenth of all work).
 */
type Accepted = Pick<Issuance, 'novoPrestador' | 'complete' | 'mes' | 'prestador'> & {
  readonly dps: Dps;
  /** Undefined where the sender gave none: a JSON body has no identifier. */
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
  if (signature.faults.length > 0) return refusalOf(place(signature.faults))!;
  const before = await turn?.begin(prestador, sent.body);
  if (before !== undefined) return { before };
  const spent = await sent.quota?.take(prestador);
  if (spent !== undefined) return spent;
  const read = inSpan('ler', {}, () => opened.read());
  if ('faults' in read) return refusalOf(place(read.faults))!;
  const { dps, declarado } = read;

  const instant = wholeSecond(received);
  const { facts, faults, novoPrestador } = await inSpan('fatos', {}, () => gatherFacts(world, municipio, dps, instant));
  if (faults.length > 0) return refusalOf(place(faults))!;
  const judged = inSpan('julgar', {}, () => judge(dps, facts, declarado));
  if ('faults' in judged) return refusalOf(place(limitFaults(judged.faults)))!;
  const asked = [sent.simular, dps.serv.infoCompl?.xInfComp];
  const rehearsal = findRehearsal(municipio.ambiente, asked, { xpath: X_INF_COMP });
  // A lot has no place for remarks, and what a DPS without number takes is decided where it is stored.
  const isAsked = dps.nDPS !== undefined && sent.kind !== 'rps';
  const next = isAsked ? await nextNumbersFor(world, municipio, dps) : undefined;
  const confianca = await keepFundamento(world, municipio, signature.fundamento);
  const ofNumber = numberRemarks(municipio, dps, next);
  const remarks = [...rehearsal.avisos, ...signature.avisos, ...ofNumber, ...judged.avisos];
  const avisos = remarks.length === 0 ? remarks : place(limitAvisos(remarks));
  return {
    dps,
    idSent: sent.kind === 'xml' ? read.id : undefined,
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

/** The canonical identifier of a DPS, with the number that it has or would take. */
export function identifierOf(dps: Dps, nDPS: string | bigint): string {
  return dpsIdInSerie(serieOf(dps), nDPS);
}

/** What the identifiers of its series begin with. */
function serieOf({ cLocEmi, prest, serie = DEFAULT_SERIE }: Dps): string {
  return dpsSerieOf({ cLocEmi, documento: (prest.CNPJ ?? prest.CPF)!, serie });
}

function numberedAs(dps: Dps): Issuance['dps'] {
  return dps.nDPS === undefined ? { serie: serieOf(dps) } : { id: identifierOf(dps, dps.nDPS) };
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

/** Version and commit of the program, and on a second line the remarks that it made, as they are told. */
function describeJulgamento({ programa }: World, avisos: readonly Aviso[]): string | undefined {
  return programa === undefined || avisos.length === 0 ? programa : `${programa}\n${JSON.stringify(avisos)}`;
}

/** What turns numbers into the row and the document, inside the storing transaction; and the month of the key. */
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
      retencao: judged.retencao,
    } satisfies Readonly<Record<keyof NotaNova, unknown>>;
    return nota;
  };
  return { mes: Number(moment.date.slice(0, 4) + moment.date.slice(5, 7)), complete };
}

function decimalText(value: Decimal | undefined): string | undefined {
  return value === undefined ? undefined : formatDecimal(value);
}

/** Moment and 20 random digits (66 bits, D-40); beginning with time keeps the index of the database compact. */
export function protocolNumber(world: Pick<World, 'randomDigits'>, moment: string): string {
  return moment.replace(/\D/g, '') + world.randomDigits(10) + world.randomDigits(10);
}

/** D-19: always E0014, with the existing key, and whether it is the same document. */
export async function duplicateFault(
  world: World,
  municipio: Municipio,
  dps: Dps,
  holder: DpsHolder,
  { body }: SentDps,
): Promise<Fault> {
  const before = await world.store.notas.readReceived(municipio.tenant, holder);
  const same = before !== undefined && isSameContent(before, body);
  const { chave_acesso, numero_protocolo } = holder;
  const base = { codigo: 'E0014', chave_acesso, numero_protocolo, mesmo_conteudo: same };
  const documento = dps.prest.CNPJ === undefined ? 'CPF' : 'CNPJ';
  const advice = same
    ? 'O conteúdo é o mesmo: a nota já existe, consulte-a pela chave.'
    : 'O conteúdo é outro: para emitir mais uma nota use um número novo.';
  return {
    ...base,
    xpath: '/DPS/infDPS/nDPS',
    mensagem: `A série ${dps.serie ?? DEFAULT_SERIE} e o número ${dps.nDPS} já foram usados por este ${documento}, na nota de chave ${chave_acesso}. ${advice}`,
    encontrado: `${dps.serie ?? DEFAULT_SERIE}/${dps.nDPS}`,
  };
}

function isSameContent(before: Uint8Array, now: Uint8Array): boolean {
  if (Buffer.compare(before, now) === 0) return true;
  if (isJson(before) || isJson(now)) return false;
  const canonical = canonicalInfDps(before);
  return canonical !== undefined && canonical === canonicalInfDps(now);
}

/**
 * What automatic numbering has to do with this DPS: the numbers of its series, if it brings no number, or brings one of the series
 * that is numbered automatically; undefined otherwise.
 */
export async function nextNumbersFor(world: World, { tenant }: Municipio, dps: Dps): Promise<NextNumbers | undefined> {
  const documento = dps.prest.CNPJ ?? dps.prest.CPF;
  const isOther = dps.nDPS !== undefined && (dps.serie ?? DEFAULT_SERIE) !== DEFAULT_SERIE;
  return documento === undefined || isOther
    ? undefined
    : world.store.notas.previewNumbers(tenant, documento, serieOf(dps));
}

/**
 * D-17 lets a sender leave the number out; then nothing tells a repetition from one more note, and it is signed. And who takes a
 * number by hand that the automatic ones have yet to reach parts them from the numbers of the notes (D-214).
 */
export function numberRemarks({ ambiente }: Municipio, dps: Dps, next: NextNumbers | undefined): readonly Aviso[] {
  const remark = { codigo: 'E0014', xpath: '/DPS/infDPS/nDPS' };
  if (dps.nDPS === undefined) {
    if (!AMBIENTES[ambiente].signatureRefuses) return [];
    const mensagem =
      'A DPS não traz nDPS: cada envio dela emite uma nota nova, também um reenvio. Numere as suas DPS para que uma repetida seja reconhecida.';
    return [{ ...remark, mensagem }];
  }
  if (next === undefined || BigInt(dps.nDPS) <= next.alcancado) return [];
  const mensagem = `A série ${DEFAULT_SERIE} é a da numeração automática, em que uma DPS sem nDPS recebe o número da NFS-e, e que ainda não chegou a ${dps.nDPS}: com esta nota chega a ${next.alcancado}. Quando chegar lá, o número usado à mão será pulado. Para numerar você mesmo use outra série, de 1 a 49999.`;
  return [{ ...remark, mensagem }];
}

/** D-16: the canonical identifier is what is stored and answered. Who left the number to us could not know it. */
function identifierRemark(sent: string | undefined, canonical: string, isNumbered: boolean): readonly Aviso[] {
  if (sent === undefined || sent === canonical || !isNumbered) return [];
  const mensagem = `O atributo Id enviado não é o identificador desta DPS; o que vale, e por que ela se consulta, é ${canonical}.`;
  return [{ codigo: 'E0004', xpath: '/DPS/infDPS/@Id', mensagem }];
}
