/**
 * The six operations of the legacy port: a document of ABRASF 1.00 goes in, its answering document comes out. A mistake of the sender is
 * answered in the model (`ListaMensagemRetorno`); an internal error is thrown.
 *
 * A lot is only received here; its RPS become notes in the worker (`lotes.job.ts`).
 */
import { createHash } from 'node:crypto';
import type { Municipio } from '../../base/book/municipios.ts';
import { needOpen } from '../../base/world/fechado.ts';
import { keepFundamento } from '../../base/world/fundamento.ts';
import { municipalMoment } from '../../base/world/gather-facts.ts';
import type { World } from '../../base/world/world.ts';
import { isSignature } from '../../documents/signature-shape.ts';
import type { SoapDocumento, SoapIlegivel } from '../../documents/soap.ts';
import { isPedidoWhole, motivoOf, type PedidoLido, readPedido } from '../../fiscal/abrasf/cancelamento.ts';
import { estranhosOf, readLote } from '../../fiscal/abrasf/lote.ts';
import type { Mensagem } from '../../fiscal/abrasf/mensagens.ts';
import { modeloOf, xmlnsResposta } from '../../fiscal/abrasf/modelo.ts';
import { cancelamentoXml, nestLeaves, type PedidoDeCancelamento, pedidoXml } from '../../fiscal/abrasf/nota.ts';
import { mensagemOfCancelamento, mensagemPropria } from '../../fiscal/abrasf/proprias.ts';
import { guardadoOf } from '../../fiscal/abrasf/rps.ts';
import { municipioOf } from '../../fiscal/catalogs/catalogs.ts';
import { findRehearsal } from '../../fiscal/simular.ts';
import { tipoBySlug } from '../../fiscal/tipos-evento.ts';
import { registerPedido } from '../eventos/register.ts';
import { protocolNumber, wholeSecond } from '../notas/issue.ts';
import { judgeLoteSignature, judgePedidoSignature } from './porto-assinaturas.ts';
import { lote, notas, porRps, situacao } from './porto-consultas.ts';
import {
  formatMoment,
  isOfYear,
  listaMensagem,
  numeroAsked,
  type Pedido,
  type Resposta,
  refuseFaults,
  refuseWith,
  registrationMensagens,
} from './porto-pedido.ts';

/** The usual target namespace of this service; a municipality may set another. */
export const NAMESPACE_PADRAO = 'http://www.abrasf.org.br/ABRASF/arquivos/nfse.xsd';

export const OPERACOES = [
  operacaoOf('RecepcionarLoteRps', 'EnviarLoteRps', receber),
  operacaoOf('ConsultarSituacaoLoteRps', 'ConsultarSituacaoLoteRps', situacao),
  operacaoOf('ConsultarNfsePorRps', 'ConsultarNfseRps', porRps),
  operacaoOf('ConsultarLoteRps', 'ConsultarLoteRps', lote),
  operacaoOf('ConsultarNfse', 'ConsultarNfse', notas),
  operacaoOf('CancelarNfse', 'CancelarNfse', cancelar),
] as const;

type Answer = (pedido: Pedido) => Promise<Resposta>;

/** An operation, which takes the document `…Envio` and answers the document `…Resposta`. */
function operacaoOf<Nome extends string, Documento extends string>(
  operacao: Nome,
  documento: Documento,
  answer: Answer,
) {
  return { operacao, pedido: `${documento}Envio`, resposta: `${documento}Resposta`, answer } as const;
}

/** Whether an operation only reads; the others store. */
export function isConsulta(operacao: string): boolean {
  return operacao.startsWith('Consultar') && OPERACOES.some((one) => one.operacao === operacao);
}

/** The document of an answer. A long one is written while it is sent: `meio` goes between `antes` and `depois`. */
export type Respondido = {
  readonly xml: string | { readonly antes: string; readonly meio: AsyncIterable<string>; readonly depois: string };
  readonly isMiss: boolean;
  /** Codes of the refusal, each once. */
  readonly codigos: readonly string[];
};

/** The parts of a request beside its document: client certificate, simulation, id, quota. */
export type Companhia = Pick<Pedido, 'shown' | 'simular' | 'requisicao' | 'quota'>;

/** Answers an operation, in the form of its document. Undefined: there is no such operation. */
export async function responder(
  world: World,
  municipio: Municipio,
  operacao: string,
  documento: SoapDocumento | SoapIlegivel,
  companhia: Companhia,
): Promise<Respondido | undefined> {
  const found = OPERACOES.find((one) => one.operacao === operacao);
  if (found === undefined) return undefined;
  if (!isConsulta(operacao)) needOpen(municipio);
  const { pedido, resposta, answer } = found;
  const modelo = modeloOf('problema' in documento ? documento.namespace : documento.root.namespace);
  const made: Resposta =
    'problema' in documento
      ? refuseWith('E160', documento.problema)
      : documento.root.name !== pedido
        ? refuseWith('E160', `${operacao} leva ${pedido}; veio ${documento.root.name.slice(0, 60)}.`)
        : await answerKnown(answer, { world, municipio, documento, modelo, ...companhia });
  const inside = 'xml' in made ? made.xml : listaMensagem(made.mensagens, modelo);
  const [antes, depois] = [`<${resposta}${xmlnsResposta(modelo)}>`, `</${resposta}>`];
  const isMiss = 'isMiss' in made && made.isMiss === true;
  const codigos = 'mensagens' in made ? [...new Set(made.mensagens.map(({ codigo }) => codigo))] : [];
  if (typeof inside === 'string') return { xml: antes + inside + depois, isMiss, codigos };
  return { xml: { antes, meio: inside, depois }, isMiss, codigos };
}

/** Answers a request, unless its document has unknown elements. */
async function answerKnown(answer: Answer, pedido: Pedido): Promise<Resposta> {
  const mensagens = estranhosOf(pedido.documento.root);
  return mensagens.length > 0 ? { mensagens } : answer(pedido);
}

// RecepcionarLoteRps

async function receber({ world, municipio, documento, simular, requisicao, quota }: Pedido): Promise<Resposta> {
  const { tenant } = municipio;
  const { reading, root } = documento;
  const read = readLote(root);
  if ('mensagens' in read) return read;
  // The quota is charged before the signatures are judged: a bad signature costs as much.
  const crowded = await quota?.enter(read.rps.length);
  if (crowded !== undefined) return refuseFaults(crowded);
  const signed = judgeLoteSignature(world, municipio, documento, read);
  if (signed.mensagens.length > 0) return signed;
  const spent = await quota?.take(read.cnpj, read.rps.length);
  if (spent !== undefined) return refuseFaults(spent);
  const strange = await registrationMensagens(world, municipio, read);
  if (strange.length > 0) return { mensagens: strange };
  const rehearsal = readRehearsal(municipio, simular);
  if ('mensagens' in rehearsal) return rehearsal;
  const now = wholeSecond(world.now());
  const moment = municipalMoment(municipio.codigoIbge, now);
  const row = await world.store.lotes.receive(tenant, {
    protocolo: protocolNumber(world, moment.date + moment.time),
    prestador: read.cnpj,
    numero_lote: read.numero,
    impressao: createHash('sha256').update(reading.canonicalOf(read.loteRps)).digest(),
    recebido_em: now,
    recebido: bytesOf(documento),
    confianca: await keepFundamento(world, municipio, signed.fundamento),
    rps: read.rps.map(({ identificacao, rps }) => ({ ...identificacao, guardado: guardadoOf(rps) })),
    simular: rehearsal.simular,
    requisicao,
  });
  world.wake(tenant);
  return {
    xml: nestLeaves([
      ['NumeroLote', row.numero_lote],
      ['DataRecebimento', formatMoment(municipalMoment(municipio.codigoIbge, row.recebido_em.getTime()))],
      ['Protocolo', row.protocolo],
    ]),
  };
}

/** The stored bytes of a document; an element of the envelope is stored in its canonical form. */
function bytesOf({ forma, reading, root }: SoapDocumento): Uint8Array {
  return forma === 'texto' ? reading.bytes : Buffer.from(reading.canonicalOf(root), 'utf8');
}

/** The simulation that the header requests. An unknown one is refused: the model has no remarks. */
function readRehearsal(
  municipio: Municipio,
  header: string | undefined,
): { readonly simular: string | undefined } | { readonly mensagens: readonly Mensagem[] } {
  const { simular, avisos } = findRehearsal(municipio, [header], { reading: 'refused' });
  return avisos.length === 0
    ? { simular }
    : { mensagens: avisos.map(({ mensagem }) => mensagemPropria('L003', mensagem)) };
}

// CancelarNfse

async function cancelar(pedido: Pedido): Promise<Resposta> {
  const { world, municipio, documento, modelo, simular, quota } = pedido;
  const read = readPedido(documento.root);
  if ('mensagens' in read) return read;
  const { inf, dito } = read;
  const signed = judgePedidoSignature(world, municipio, documento, read);
  if (signed.mensagens.length > 0) return signed;
  const spent = await quota?.take(dito.cnpj);
  if (spent !== undefined) return refuseFaults(spent);
  const strange = await registrationMensagens(world, municipio, dito);
  if (strange.length > 0) return { mensagens: strange };
  if (!isCodigoOf(municipio, dito.codigoMunicipio)) return refuseWith('E42', describeCodigo(dito));
  const rehearsal = readRehearsal(municipio, simular);
  if ('mensagens' in rehearsal) return rehearsal;
  const nota = await findNota(world, municipio, dito);
  if ('mensagens' in nota) return nota;
  const [motivo, descricao] = motivoOf(dito.codigo);
  const registered = await registerPedido(world, municipio, nota, {
    pedido: {
      tipo: tipoBySlug('cancelamento')!,
      autor: undefined,
      campos: { codigo_motivo_cancelamento: motivo, descricao_motivo_cancelamento: descricao },
    },
    recebido: bytesOf(documento),
    fundamento: signed.fundamento,
    simular: rehearsal.simular,
  });
  if (registered === 'not_found') return refuseWith('E78');
  if ('faults' in registered) return { mensagens: registered.faults.map(mensagemOfCancelamento) };
  const em = formatMoment(municipalMoment(municipio.codigoIbge, wholeSecond(world.now())));
  const received = isPedidoWhole(inf, modelo) ? copyPedido(documento, read) : pedidoXml(dito);
  return { xml: cancelamentoXml(nota.chave, received, em, modelo) };
}

/** Whether a `CodigoMunicipio` is that of the municipality. The shared sandbox accepts every municipality. */
function isCodigoOf({ codigoIbge }: Municipio, codigo: string): boolean {
  return codigoIbge === undefined ? municipioOf(codigo) !== undefined : codigo === codigoIbge;
}

function describeCodigo({ codigoMunicipio }: PedidoDeCancelamento): string {
  return `(CodigoMunicipio: ${codigoMunicipio.slice(0, 40)})`;
}

/** The note that a request names. Its key gives the municipality of issue in the shared sandbox. */
async function findNota(
  world: World,
  { tenant, codigoIbge }: Municipio,
  dito: PedidoDeCancelamento,
): Promise<{ readonly chave: string } | { readonly mensagens: readonly Mensagem[] }> {
  const { sequencia, ano } = numeroAsked(dito.numero);
  const asked = { prestador: dito.cnpj, codigoIbge, numero: sequencia };
  const counted = await world.store.lotes.countNotasOfPrestador(tenant, asked, 1);
  const [nota] = await world.store.lotes.listNotasOfPrestador(tenant, asked, counted, 1);
  if (nota === undefined || !isOfYear(nota, ano)) return refuseWith('E78');
  const chave = nota.chave_acesso;
  const emissor = chave.slice(0, 7);
  if (dito.codigoMunicipio === emissor) return { chave };
  return refuseWith('E42', `${describeCodigo(dito)} A nota é do município ${emissor} (OrgaoGerador).`);
}

/** The request as received, with the signature that covers it. */
function copyPedido({ reading }: SoapDocumento, { pedido, inf }: PedidoLido): string {
  const parts = [inf, ...pedido.children.filter(isSignature)];
  return `<Pedido>${parts.map((one) => reading.canonicalOf(one)).join('')}</Pedido>`;
}
