/**
 * The six operations of the legacy port: a document of ABRASF 1.00 goes in, the document that answers it comes out. Whatever
 * is wrong with what was asked is an answer of the model (`ListaMensagemRetorno`); what is wrong with us is thrown.
 *
 * A lot is only received here; its RPS become notes in the worker (`delivery/lotes.ts`).
 */
import { createHash } from 'node:crypto';
import { abrasfSignatures } from '../documents/abrasf-signature.ts';
import { isSignature } from '../documents/signature-shape.ts';
import type { SoapDocumento, SoapIlegivel } from '../documents/soap.ts';
import { isPedidoWhole, motivoOf, type PedidoLido, readPedido } from '../fiscal/abrasf/cancelamento.ts';
import { estranhosOf, readLote } from '../fiscal/abrasf/lote.ts';
import { type Mensagem, mensagemOfFault } from '../fiscal/abrasf/mensagens.ts';
import { modeloOf, xmlnsResposta } from '../fiscal/abrasf/modelo.ts';
import { cancelamentoXml, nested, pedidoXml } from '../fiscal/abrasf/nota.ts';
import { mensagemOfCancelamento, mensagemPropria } from '../fiscal/abrasf/proprias.ts';
import { guardadoOf } from '../fiscal/abrasf/rps.ts';
import { AMBIENTES } from '../fiscal/ambiente.ts';
import { municipioOf } from '../fiscal/catalogs/catalogs.ts';
import { tipoBySlug } from '../fiscal/tipos-evento.ts';
import type { Municipio } from '../store/municipios.ts';
import { protocolNumber, wholeSecond } from './issue-nota.ts';
import { digested, judgeOf, loteSignatureMensagens, unsigned } from './porto-assinaturas.ts';
import { lote, notas, porRps, situacao } from './porto-consultas.ts';
import {
  isOfYear,
  listaMensagem,
  municipalMoment,
  numeroAsked,
  type Pedido,
  type Resposta,
  refused,
  registrationMensagens,
  tooMany,
  written,
} from './porto-pedido.ts';
import { registerPedido } from './register-evento.ts';
import { rehearsalIn } from './rehearsal.ts';
import type { World } from './world.ts';

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

/** Whether an operation only asks for what there is; the others store. */
export function isConsulta(operacao: string): boolean {
  return operacao.startsWith('Consultar') && OPERACOES.some((one) => one.operacao === operacao);
}

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
