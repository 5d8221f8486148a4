/**
 * The six operations of the legacy port: a document of ABRASF 1.00 goes in, the document that answers it comes out. Whatever
 * is wrong with what was asked is an answer of the model (`ListaMensagemRetorno`); what is wrong with us is thrown.
 *
 * A lot is only received here; its RPS become notes in the worker (`delivery/lotes.ts`).
 */
import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { type AbrasfSignature, abrasfSignatures } from '../documents/abrasf-signature.ts';
import { infNfseOf } from '../documents/own-note.ts';
import { isSignature } from '../documents/signature-shape.ts';
import { signerFaults, XML_CODES } from '../documents/signer-faults.ts';
import type { SoapDocumento, SoapIlegivel } from '../documents/soap.ts';
import { readXml } from '../documents/xml.ts';
import { isPedidoWhole, motivoOf, type PedidoLido, readPedido } from '../fiscal/abrasf/cancelamento.ts';
import {
  childrenOf,
  estranhosOf,
  type Lote,
  type PrestadorAsked,
  plain,
  prestadorOf,
  readLote,
  textOf,
} from '../fiscal/abrasf/lote.ts';
import { type Mensagem, mensagemOf, mensagemOfFault, rpsNamed } from '../fiscal/abrasf/mensagens.ts';
import { type Modelo, modeloOf, xmlnsResposta, xmlnsTipos } from '../fiscal/abrasf/modelo.ts';
import { cancelamentoXml, compNfse, nested, pedidoXml } from '../fiscal/abrasf/nota.ts';
import { mensagemOfCancelamento, mensagemPropria, mensagemRecusada, type Recusa } from '../fiscal/abrasf/proprias.ts';
import { bare, guardadoOf, type IdentificacaoRps } from '../fiscal/abrasf/rps.ts';
import { AMBIENTES } from '../fiscal/ambiente.ts';
import { municipioOf } from '../fiscal/catalogs/catalogs.ts';
import { parseChave } from '../fiscal/chave.ts';
import type { Fault } from '../fiscal/fault.ts';
import type { Elemento } from '../fiscal/layout/tree.ts';
import { isDay, type Moment, momentIn } from '../fiscal/moment.ts';
import { tipoBySlug } from '../fiscal/tipos-evento.ts';
import type { NotaDoPorto, NotasAsked } from '../store/lotes.ts';
import type { Municipio } from '../store/municipios.ts';
import { type Audience, callerOf, type Shown, strangerTo } from './caller.ts';
import { zoneOf } from './gather-facts.ts';
import type { Refused as Recusado } from './idempotency.ts';
import { protocolNumber, wholeSecond } from './issue-nota.ts';
import type { Quota } from './quota.ts';
import { registerPedido } from './register-evento.ts';
import { rehearsalIn } from './rehearsal.ts';
import type { World } from './world.ts';

/** Notes in one answer; the model has no pages, and this is more than all but a few providers issue in a day. */
export const NOTAS_MAX = 50_000;
/** More are written while they are sent, so that nobody's question asks for much memory, however slowly it is read. */
const NOTAS_WHOLE = 500;
const NOTAS_PAGE = 100;
/** Signatures that are checked one by one; a lot with more RPS is signed whole. */
export const RPS_SIGNATURES_MAX = 100;

/** The target namespace of the service of this name in the wild; a municipality may set another. */
export const NAMESPACE_PADRAO = 'http://www.abrasf.org.br/ABRASF/arquivos/nfse.xsd';

/** Name of the operation, of the document that it takes and of the one that it answers. */
export const OPERACOES = [
  { operacao: 'RecepcionarLoteRps', pedido: 'EnviarLoteRpsEnvio', resposta: 'EnviarLoteRpsResposta', answer: receber },
  {
    operacao: 'ConsultarSituacaoLoteRps',
    pedido: 'ConsultarSituacaoLoteRpsEnvio',
    resposta: 'ConsultarSituacaoLoteRpsResposta',
    answer: situacao,
  },
  {
    operacao: 'ConsultarNfsePorRps',
    pedido: 'ConsultarNfseRpsEnvio',
    resposta: 'ConsultarNfseRpsResposta',
    answer: porRps,
  },
  { operacao: 'ConsultarLoteRps', pedido: 'ConsultarLoteRpsEnvio', resposta: 'ConsultarLoteRpsResposta', answer: lote },
  { operacao: 'ConsultarNfse', pedido: 'ConsultarNfseEnvio', resposta: 'ConsultarNfseResposta', answer: notas },
  { operacao: 'CancelarNfse', pedido: 'CancelarNfseEnvio', resposta: 'CancelarNfseResposta', answer: cancelar },
] as const satisfies readonly Operacao[];

type Operacao = {
  readonly operacao: string;
  readonly pedido: string;
  readonly resposta: string;
  readonly answer: (pedido: Pedido) => Promise<Resposta>;
};

type Pedido = {
  readonly world: World;
  readonly municipio: Municipio;
  readonly documento: SoapDocumento;
  /** The shape of the answer. */
  readonly modelo: Modelo;
  readonly shown: () => Shown;
  /** Value of `X-NFSe-Simular` (D-60). */
  readonly simular: string | undefined;
  readonly quota?: Quota | undefined;
};

/** Whether an operation only asks for what there is; the others store. */
export function isConsulta(operacao: string): boolean {
  return operacao.startsWith('Consultar') && OPERACOES.some((one) => one.operacao === operacao);
}

/** What stands in the answering document, or what is wrong. `isMiss`: a guess that found nothing (D-40). */
type Resposta =
  | { readonly xml: string | AsyncIterable<string> }
  | { readonly mensagens: readonly Mensagem[]; readonly isMiss?: boolean };

/** The answering document; `meio` is what stands between its two parts, and is made while it is sent. */
export type Respondido = {
  readonly xml: string | { readonly antes: string; readonly meio: AsyncIterable<string>; readonly depois: string };
  readonly isMiss: boolean;
};

/** What comes with a request beside its document. */
export type Companhia = Pick<Pedido, 'shown' | 'simular' | 'quota'>;

/** The answer of an operation, in the shape in which its document came. Undefined: there is no such operation. */
export async function responder(
  world: World,
  municipio: Municipio,
  operacao: string,
  documento: SoapDocumento | SoapIlegivel,
  { shown, simular, quota }: Companhia,
): Promise<Respondido | undefined> {
  const found = OPERACOES.find((one) => one.operacao === operacao);
  if (found === undefined) return undefined;
  const { pedido, resposta, answer } = found;
  const modelo = modeloOf('problema' in documento ? documento.namespace : documento.root.namespace);
  const made: Resposta =
    'problema' in documento
      ? refused('E160', documento.problema)
      : documento.root.name !== pedido
        ? refused('E160', `${operacao} leva ${pedido}; veio ${documento.root.name.slice(0, 60)}.`)
        : await answered(answer, { world, municipio, documento, modelo, shown, simular, quota });
  const inside = 'xml' in made ? made.xml : listaMensagem(made.mensagens, modelo);
  const [antes, depois] = [`<${resposta}${xmlnsResposta(modelo)}>`, `</${resposta}>`];
  const isMiss = 'isMiss' in made && made.isMiss === true;
  if (typeof inside === 'string') return { xml: antes + inside + depois, isMiss };
  return { xml: { antes, meio: inside, depois }, isMiss };
}

/** What nobody would read is told before anything is answered. */
async function answered(answer: Operacao['answer'], pedido: Pedido): Promise<Resposta> {
  const mensagens = estranhosOf(pedido.documento.root);
  return mensagens.length > 0 ? { mensagens } : answer(pedido);
}

function listaMensagem(mensagens: readonly Mensagem[], modelo: Modelo): string {
  const each = mensagens.map(({ codigo, mensagem, correcao }) => {
    const leaves: [string, string][] = [
      ['Codigo', codigo],
      ['Mensagem', mensagem],
    ];
    if (correcao !== undefined && correcao !== '') leaves.push(['Correcao', correcao]);
    return `<MensagemRetorno>${nested(leaves)}</MensagemRetorno>`;
  });
  return `<ListaMensagemRetorno${xmlnsTipos(modelo)}>${each.join('')}</ListaMensagemRetorno>`;
}

function refused(codigo: string, detalhe = ''): { readonly mensagens: readonly Mensagem[] } {
  return { mensagens: [mensagemOf(codigo, '', detalhe)] };
}

function tooMany({ faults }: Recusado): { readonly mensagens: readonly Mensagem[] } {
  return { mensagens: faults.map((fault) => mensagemOfFault(fault)) };
}

// RecepcionarLoteRps

async function receber({ world, municipio, documento, simular, quota }: Pedido): Promise<Resposta> {
  const { tenant } = municipio;
  const { reading, root, forma } = documento;
  const read = readLote(root);
  if ('mensagens' in read) return read;
  // Who sends them pays for what they take, whatever the signatures are worth.
  const crowded = await quota?.enter(read.rps.length);
  if (crowded !== undefined) return tooMany(crowded);
  const unsigned = loteSignatureMensagens(world, municipio, documento, read);
  if (unsigned.length > 0) return { mensagens: unsigned };
  const spent = await quota?.take(read.cnpj, read.rps.length);
  if (spent !== undefined) return tooMany(spent);
  const strange = await registrationMensagens(world, municipio, read);
  if (strange.length > 0) return { mensagens: strange };
  const rehearsal = rehearsed(municipio, simular);
  if ('mensagens' in rehearsal) return rehearsal;
  const now = wholeSecond(world.now());
  const moment = municipalMoment(municipio, now);
  const row = await world.store.lotes.receive(tenant, {
    protocolo: protocolNumber(world, moment.date + moment.time),
    prestador: read.cnpj,
    numero_lote: read.numero,
    impressao: createHash('sha256').update(reading.canonicalOf(read.loteRps)).digest(),
    recebido_em: now,
    recebido: forma === 'texto' ? reading.bytes : Buffer.from(reading.canonicalOf(root), 'utf8'),
    rps: read.rps.map(({ identificacao, rps }) => ({ ...identificacao, guardado: guardadoOf(rps) })),
    simular: rehearsal.simular,
  });
  world.wake(tenant);
  return {
    xml: nested([
      ['NumeroLote', row.numero_lote],
      ['DataRecebimento', written(municipalMoment(municipio, row.recebido_em.getTime()))],
      ['Protocolo', row.protocolo],
    ]),
  };
}

/** In production the lot is signed, or every RPS of it (D-70); by the provider. */
function loteSignatureMensagens(
  world: World,
  municipio: Municipio,
  { reading, root }: SoapDocumento,
  { loteRps, rps, cnpj }: Lote,
): readonly Mensagem[] {
  if (!AMBIENTES[municipio.ambiente].signatureRefuses) return [];
  const told = (faults: readonly Fault[], sobre = '') => faults.map((fault) => mensagemOfFault(fault, sobre));
  const signatures = abrasfSignatures(reading, { allowsSha1: municipio.soapSha1 === true });
  const judge = judgeOf(world, municipio, cnpj);
  const ofLote = signatures.beside(root, loteRps);
  if (ofLote !== undefined) return told(judge(ofLote) ?? digested(ofLote));
  const ofRps: { readonly one: AbrasfSignature; readonly sobre: string }[] = [];
  for (const { elemento, infRps, identificacao } of rps) {
    if (ofRps.length >= RPS_SIGNATURES_MAX) {
      return told([unsigned(`Um lote com mais de ${RPS_SIGNATURES_MAX} RPS se assina inteiro, em LoteRps.`)]);
    }
    const one = signatures.beside(elemento, infRps);
    if (one === undefined) {
      // Of a lot in which nothing is signed, it is the lot that is not.
      return told([unsigned('Assine LoteRps, ou cada InfRps.')], isAnySigned(rps) ? rpsNamed(identificacao) : '');
    }
    const sobre = rpsNamed(identificacao);
    const faults = judge(one);
    if (faults !== undefined) return told(faults, 'fault' in one ? sobre : '');
    ofRps.push({ one, sobre });
  }
  // Who signed is known of every one before anything is digested.
  for (const { one, sobre } of ofRps) {
    const faults = digested(one);
    if (faults.length > 0) return told(faults, sobre);
  }
  return [];
}

function isAnySigned(rps: Lote['rps']): boolean {
  return rps.some(({ elemento }) => childrenOf(elemento, 'Signature').length > 0);
}

/**
 * What keeps a signature from counting before anything is digested: how it is arranged, and who made it. Undefined when nothing
 * does. Each certificate is judged once.
 */
function judgeOf(
  world: World,
  municipio: Municipio,
  documento: string,
): (one: AbrasfSignature) => readonly Fault[] | undefined {
  const question = { documento, parte: 'prestador', trust: world.trust(municipio), at: world.now(), xpath: '' };
  const judged = new Map<string, readonly Fault[]>();
  return (one) => {
    if ('fault' in one) return [one.fault];
    const { certificate } = one;
    const faults = judged.get(certificate.fingerprint) ?? signerFaults(certificate, question, XML_CODES);
    judged.set(certificate.fingerprint, faults);
    return faults.length > 0 ? faults : undefined;
  };
}

function digested(one: AbrasfSignature): readonly Fault[] {
  const fault = 'fault' in one ? one.fault : one.check();
  return fault === undefined ? [] : [fault];
}

function unsigned(como: string): Fault {
  return { codigo: 'E901', xpath: '', mensagem: `O documento não está assinado. ${como}` };
}

/** A registration that the provider does not have, where registrations are known (E142). */
async function registrationMensagens(
  world: World,
  { tenant, ambiente }: Municipio,
  { cnpj, inscricaoMunicipal: im }: PrestadorAsked,
): Promise<readonly Mensagem[]> {
  if (im === undefined || !AMBIENTES[ambiente].checksAuthorization) return [];
  const registered = (await world.store.prestadores.listOf(tenant, cnpj)).flatMap(
    (one) => one.inscricaoMunicipal ?? [],
  );
  // Who is not registered, or has no registration, is the judge's affair.
  if (registered.length === 0 || registered.some((one) => plain(one) === plain(im))) return [];
  return [mensagemOf('E142', '', `(${im.slice(0, 40)})`)];
}

/** What the header asks the local authority to rehearse. What is not understood is refused: the model has no remarks. */
function rehearsed(
  municipio: Municipio,
  header: string | undefined,
): { readonly simular: string | undefined } | { readonly mensagens: readonly Mensagem[] } {
  const { simular, avisos } = rehearsalIn(municipio, [header], { reading: 'refused' });
  return avisos.length === 0
    ? { simular }
    : { mensagens: avisos.map(({ mensagem }) => mensagemPropria('L003', mensagem)) };
}

// ConsultarSituacaoLoteRps, ConsultarLoteRps: the protocol opens what it names.

async function loteAsked({ world, municipio, documento }: Pedido) {
  const prestador = prestadorOf(documento.root);
  if ('mensagens' in prestador) return prestador;
  const protocolo = textOf(documento.root, 'Protocolo') ?? '';
  // Whatever else it is, it may be no text for a database.
  const row = /^[0-9A-Za-z.-]{1,50}$/.test(protocolo)
    ? await world.store.lotes.findByProtocolo(municipio.tenant, prestador.cnpj, protocolo)
    : undefined;
  return row ?? { ...refused('E86'), isMiss: true };
}

async function situacao(pedido: Pedido): Promise<Resposta> {
  const row = await loteAsked(pedido);
  if (!('protocolo' in row)) return row;
  return {
    xml: nested([
      ['NumeroLote', row.numero_lote],
      ['Situacao', String(row.situacao)],
    ]),
  };
}

async function lote(pedido: Pedido): Promise<Resposta> {
  const row = await loteAsked(pedido);
  if (!('protocolo' in row)) return row;
  if (row.situacao === 2) return refused('E92');
  if (row.situacao === 3) return { mensagens: row.mensagens ?? [] };
  const all = await pedido.world.store.lotes.listNotas(pedido.municipio.tenant, row.protocolo);
  const [gone, valid] = [true, false].map((is) => all.filter(({ estado }) => (estado === 'recusada') === is));
  if (gone!.length === 0) return { xml: await listaNfse(valid!, pedido.modelo) };
  // The model has one or the other; of a note that is neither there nor spoken of its sender would never hear.
  const mensagens = gone!.map((nota) => recusada(nota, valid!.length === 0 ? 'nenhuma_vale' : 'outras_valem'));
  return valid!.length === 0
    ? { mensagens }
    : { xml: (await listaNfse(valid!, pedido.modelo)) + listaMensagem(mensagens, pedido.modelo) };
}

async function listaNfse(all: readonly NotaDoPorto[], modelo: Modelo): Promise<string> {
  return `<ListaNfse>${await compNotas(all, modelo)}</ListaNfse>`;
}

/** Written at one go; between two of these others have their turn, for a note takes half a millisecond. */
const NOTAS_SLICE = 20;

async function compNotas(all: readonly NotaDoPorto[], modelo: Modelo): Promise<string> {
  const written: string[] = [];
  for (const [place, nota] of all.entries()) {
    if (place > 0 && place % NOTAS_SLICE === 0) await turn();
    written.push(compNfse(vista(nota), modelo));
  }
  return written.join('');
}

function recusada(nota: NotaDoPorto, lote?: Recusa['lote']): Mensagem {
  const { numero, serie, tipo, mensagem_retorno: motivo, numero_em: numeroEm, substituida_estado: substituida } = nota;
  const sobre = numero === null || serie === null || tipo === null ? '' : rpsNamed({ numero, serie, tipo });
  return mensagemRecusada(sobre, { motivo, numeroEm, substituida, lote });
}

// ConsultarNfsePorRps, ConsultarNfse: what they ask by can be guessed, so in production only the provider gets to read (D-41).

const PRESTADOR: Audience = {
  parte: 'prestador',
  recusa: 'Neste município esta consulta só atende ao próprio prestador, pelo certificado dele na conexão.',
};

function strangerFaults({ world, municipio, shown }: Pedido, cnpj: string): readonly Fault[] {
  const whose = municipio.consultaDps ?? (AMBIENTES[municipio.ambiente].dpsQueryIsOpen ? 'publica' : 'parte');
  if (whose === 'publica') return [];
  const caller = callerOf(world, municipio, shown(), PRESTADOR);
  const refusal = 'faults' in caller ? caller : strangerTo([cnpj], caller, PRESTADOR);
  return refusal?.faults ?? [];
}

async function porRps(pedido: Pedido): Promise<Resposta> {
  const { root } = pedido.documento;
  const [numero, serie, tipo] = ['Numero', 'Serie', 'Tipo'].map((name) => textOf(root, `IdentificacaoRps/${name}`));
  const missing = [numero === undefined && 'E11', serie === undefined && 'E150'].filter((one) => one !== false);
  if (missing.length > 0) return { mensagens: missing.map((codigo) => mensagemOf(codigo)) };
  if (!/^\d{1,15}$/.test(numero!)) return refused('E96');
  if (!/^\d{1,5}$/.test(serie!)) return refused('E97');
  if (tipo !== undefined && !/^[123]$/.test(tipo)) return refused('E13');
  const prestador = prestadorOf(root);
  if ('mensagens' in prestador) return prestador;
  const strange = strangerFaults(pedido, prestador.cnpj);
  if (strange.length > 0) return { mensagens: strange.map((fault) => mensagemOfFault(fault)), isMiss: true };
  const rps: IdentificacaoRps = { numero: bare(numero!), serie: bare(serie!), tipo: tipo ?? '1' };
  const row = await pedido.world.store.lotes.findRps(pedido.municipio.tenant, prestador.cnpj, rps);
  if (row === undefined) return refused('E4');
  if (row.situacao === 2) return refused('E92');
  if (row.nota === undefined) return refused('E89');
  if (row.nota.estado === 'recusada') return { mensagens: [recusada(row.nota)] };
  return { xml: compNfse(vista(row.nota), pedido.modelo) };
}

const DAY_MS = 86_400_000;
const DIAS = ['DataInicial', 'DataFinal'] as const;

async function notas(pedido: Pedido): Promise<Resposta> {
  const { world, municipio, documento } = pedido;
  const { root } = documento;
  const prestador = prestadorOf(root);
  if ('mensagens' in prestador) return prestador;
  const strange = strangerFaults(pedido, prestador.cnpj);
  if (strange.length > 0) return { mensagens: strange.map((fault) => mensagemOfFault(fault)), isMiss: true };
  const registration = await registrationMensagens(world, municipio, prestador);
  if (registration.length > 0) return { mensagens: registration };
  const numero = textOf(root, 'NumeroNfse');
  if (numero !== undefined && !/^\d{1,15}$/.test(numero)) return refused('E136');
  // Programs write the group whatever they ask; without any day it asks nothing.
  const periodo = childrenOf(root, 'PeriodoEmissao').find((one) =>
    DIAS.some((name) => textOf(one, name) !== undefined),
  );
  const between = periodo === undefined ? undefined : periodOf(periodo, municipio, world.now());
  if (between !== undefined && 'mensagens' in between) return between;
  const tomador = parteOf(root, 'Tomador', 'E155');
  const intermediario = parteOf(root, 'IntermediarioServico', 'E154');
  if ('mensagens' in tomador) return tomador;
  if ('mensagens' in intermediario) return intermediario;
  const { tenant, codigoIbge } = municipio;
  const { sequencia, ano } = numeroAsked(numero);
  const asked: NotasAsked = {
    prestador: prestador.cnpj,
    codigoIbge,
    numero: sequencia,
    de: between?.de,
    ate: between?.ate,
    tomador: tomador.documento,
    partes: [
      { grupo: 'toma', im: tomador.im },
      { grupo: 'interm', ...intermediario },
    ],
  };
  const found = await world.store.lotes.listNotasOfPrestador(tenant, asked, NOTAS_WHOLE + 1);
  if (found.length === 0 && (await world.store.prestadores.listOf(tenant, prestador.cnpj)).length === 0)
    return refused('E45');
  if (found.length <= NOTAS_WHOLE)
    return {
      xml: await listaNfse(
        found.filter((nota) => isOfYear(nota, ano)),
        pedido.modelo,
      ),
    };
  const count = await world.store.lotes.countNotasOfPrestador(tenant, asked, NOTAS_MAX + 1);
  if (count > NOTAS_MAX) {
    return { mensagens: [mensagemPropria('L998', `São mais de ${NOTAS_MAX.toLocaleString('pt-BR')}.`)] };
  }
  return { xml: pagesOf(world, tenant, asked, found, pedido.modelo) };
}

async function* pagesOf(
  world: World,
  tenant: string,
  asked: NotasAsked,
  first: readonly NotaDoPorto[],
  modelo: Modelo,
): AsyncIterable<string> {
  yield '<ListaNfse>';
  for (let page = first; page.length > 0; ) {
    yield await compNotas(page, modelo);
    page = await world.store.lotes.listNotasOfPrestador(tenant, asked, NOTAS_PAGE, page.at(-1)!.ordem);
  }
  yield '</ListaNfse>';
}

type Parte = { readonly documento: string | undefined; readonly im: string | undefined };

/** By whom it is asked; a document that cannot be one finds nobody. */
function parteOf(root: Elemento, name: string, malformed: string): Parte | { readonly mensagens: readonly Mensagem[] } {
  const [cnpj, cpf, im] = ['CpfCnpj/Cnpj', 'CpfCnpj/Cpf', 'InscricaoMunicipal'].map((one) =>
    textOf(root, `${name}/${one}`),
  );
  const isWrong = (cnpj !== undefined && !/^[0-9A-Z]{14}$/.test(cnpj)) || (cpf !== undefined && !/^\d{11}$/.test(cpf));
  if (isWrong) return refused(malformed, `(${(cnpj ?? cpf)!.slice(0, 40)})`);
  return { documento: cnpj ?? cpf, im };
}

function periodOf(
  periodo: Elemento,
  municipio: Municipio,
  now: number,
): { readonly de: number; readonly ate: number } | { readonly mensagens: readonly Mensagem[] } {
  const [inicial, final] = [textOf(periodo, 'DataInicial')?.slice(0, 10), textOf(periodo, 'DataFinal')?.slice(0, 10)];
  const missing = inicial === undefined ? 'DataInicial' : final === undefined ? 'DataFinal' : undefined;
  if (missing !== undefined) return refused('E160', `PeriodoEmissao leva DataInicial e DataFinal; falta ${missing}.`);
  const [de, ate] = [inicial, final].map((day) => (day === undefined ? undefined : startOfDay(municipio, day)));
  if (de === undefined) return refused('E131');
  if (ate === undefined) return refused('E132');
  if (final! > municipalMoment(municipio, now).date) return refused('E133');
  if (ate < de) return refused('E134');
  // A leap year has a day more.
  if (ate - de > 366 * DAY_MS) return refused('E135');
  return { de, ate: ate + DAY_MS - 1 };
}

/** Midnight of a day in the municipality; undefined of what is no day. */
function startOfDay(municipio: Municipio, day: string): number | undefined {
  if (!isDay(day)) return undefined;
  const utc = Date.parse(`${day}T00:00:00Z`);
  return Date.parse(`${day}T00:00:00${municipalMoment(municipio, utc).offset}`);
}

/** The model numbers with the year before eleven digits, which is how a client may tell ours as well. */
function numeroAsked(numero: string | undefined): { readonly sequencia?: string; readonly ano?: string } {
  if (numero === undefined) return {};
  const [, ano, sequencia] = /^([1-9]\d{3})(\d{11})$/.exec(numero) ?? [];
  return ano === undefined ? { sequencia: bare(numero) } : { sequencia: bare(sequencia!), ano };
}

/** Whether a note was issued in the year that its number was told with. */
function isOfYear({ chave_acesso, data_emissao }: NotaDoPorto, ano: string | undefined): boolean {
  return ano === undefined || momentIn(zoneOf(chave_acesso.slice(0, 7)), data_emissao.getTime()).date.startsWith(ano);
}

// CancelarNfse

async function cancelar(pedido: Pedido): Promise<Resposta> {
  const { world, municipio, documento, modelo, simular, quota } = pedido;
  const { reading, root, forma } = documento;
  const read = readPedido(root);
  if ('mensagens' in read) return read;
  const { inf, dito } = read;
  const { numero, cnpj, inscricaoMunicipal, codigoMunicipio } = dito;
  if (AMBIENTES[municipio.ambiente].signatureRefuses) {
    const signatures = abrasfSignatures(reading, { allowsSha1: municipio.soapSha1 === true });
    const signature = signatures.beside(read.pedido, inf) ?? signatures.beside(root, inf);
    const faults =
      signature === undefined
        ? [unsigned('Assine InfPedidoCancelamento.')]
        : (judgeOf(world, municipio, cnpj)(signature) ?? digested(signature));
    if (faults.length > 0) return { mensagens: faults.map((fault) => mensagemOfFault(fault)) };
  }
  const spent = await quota?.take(cnpj);
  if (spent !== undefined) return tooMany(spent);
  const strange = await registrationMensagens(world, municipio, { cnpj, inscricaoMunicipal });
  if (strange.length > 0) return { mensagens: strange };
  const { codigoIbge } = municipio;
  const elsewhere = `(CodigoMunicipio: ${codigoMunicipio.slice(0, 40)})`;
  if (codigoIbge === undefined ? municipioOf(codigoMunicipio) === undefined : codigoMunicipio !== codigoIbge) {
    return refused('E42', elsewhere);
  }
  const rehearsal = rehearsed(municipio, simular);
  if ('mensagens' in rehearsal) return rehearsal;
  const { sequencia, ano } = numeroAsked(numero);
  const [nota] = await world.store.lotes.listNotasOfPrestador(
    municipio.tenant,
    { prestador: cnpj, codigoIbge, numero: sequencia },
    1,
  );
  if (nota === undefined || !isOfYear(nota, ano)) return refused('E78');
  // The sandbox is every municipality's, and the note names the one that it would have been issued in.
  const emissor = nota.chave_acesso.slice(0, 7);
  if (codigoMunicipio !== emissor)
    return refused('E42', `${elsewhere} A nota é do município ${emissor} (OrgaoGerador).`);
  const [motivo, descricao] = motivoOf(dito.codigo);
  const registered = await registerPedido(
    world,
    municipio,
    { chave: nota.chave_acesso },
    {
      tipo: tipoBySlug('cancelamento')!,
      autor: undefined,
      campos: { codigo_motivo_cancelamento: motivo, descricao_motivo_cancelamento: descricao },
    },
    forma === 'texto' ? reading.bytes : Buffer.from(reading.canonicalOf(root), 'utf8'),
    rehearsal.simular,
  );
  if (registered === 'not_found') return refused('E78');
  if ('faults' in registered) return { mensagens: registered.faults.map(mensagemOfCancelamento) };
  const em = written(municipalMoment(municipio, wholeSecond(world.now())));
  const received = isPedidoWhole(inf, modelo) ? pedidoAsReceived(documento, read) : pedidoXml(dito);
  return { xml: cancelamentoXml(nota.chave_acesso, received, em, modelo) };
}

/** With its signature, which covers these very elements. */
function pedidoAsReceived({ reading }: SoapDocumento, { pedido, inf }: PedidoLido): string {
  const parts = [inf, ...pedido.children.filter(isSignature)];
  return `<Pedido>${parts.map((one) => reading.canonicalOf(one)).join('')}</Pedido>`;
}

// A note as it is shown.

function vista(nota: NotaDoPorto): Parameters<typeof compNfse>[0] {
  const { chave_acesso, data_emissao, data_cancelamento, serie, numero, tipo, guardado } = nota;
  const zone = zoneOf(chave_acesso.slice(0, 7));
  return {
    infNfse: infNfseOf(nota.nfse),
    chave: chave_acesso,
    codigoVerificacao: parseChave(chave_acesso)?.codigo ?? '',
    emissao: written(momentIn(zone, data_emissao.getTime())),
    rps: serie === null || numero === null || tipo === null ? undefined : { serie, numero, tipo },
    guardado: guardado ?? undefined,
    cancelamento:
      data_cancelamento === null
        ? undefined
        : {
            em: written(momentIn(zone, data_cancelamento.getTime())),
            codigo: codigoCancelamento(nota),
            // One that was refused took nothing's place; the cancellation stands all the same.
            substituta:
              nota.substituta_estado === 'recusada' ? undefined : nota.cancelamento_campos?.chave_acesso_substituta,
          },
  };
}

/** Whatever is no plain cancellation of the provider has reasons of its own; to the model it is the national "others". */
const OUTROS = '9';

/** The code that was asked with, where it was asked here; else the one of the event, of which 1 and 2 mean the same. */
function codigoCancelamento({ cancelamento_tipo, cancelamento_campos, cancelamento_recebido }: NotaDoPorto): string {
  if (cancelamento_tipo !== tipoBySlug('cancelamento')!.codigo) return OUTROS;
  const asked = cancelamento_recebido === null ? undefined : readXml(cancelamento_recebido);
  const codigo =
    asked === undefined || 'fault' in asked
      ? undefined
      : textOf(asked.root, 'Pedido/InfPedidoCancelamento/CodigoCancelamento');
  return codigo ?? cancelamento_campos?.codigo_motivo_cancelamento ?? OUTROS;
}

function municipalMoment({ codigoIbge }: Municipio, instant: number): Moment {
  return momentIn(zoneOf(codigoIbge), instant);
}

/** As the model writes a moment: without offset. */
function written({ date, time }: Moment): string {
  return `${date}T${time}`;
}
