/** Processes received lots and queries. Connections and faults are not known here. */
import type { Distribuicao, DocumentoDistribuido, EntradaRecebida, MensagemAdn, TipoNsu } from '../adn/wire.ts';
import { tipoByCodigo } from '../fiscal/tipos-evento.ts';
import { cabecalho, fractionMoment, mensagem, mensagemDeEvento, tipoEventoOf } from './codigos.ts';
import type { Cliente, DocumentoLido, LerDocumento } from './documento.ts';
import { count, type Estado } from './estado.ts';
import { type EventoLido, objectionTo, objectionToSubstitute } from './evento.ts';
import { documentRefusal } from './recusas.ts';
import type { EventoGuardado, Guardado } from './registro.ts';

/** Documents in the answer to a query; the manual says fifty, the contract a hundred. */
const DISTRIBUTED_MAX = 50;

/** The texts of the ADN are not published, and no program may decide by them. */
const ACEITO = 'DOCUMENTO_PROCESSADO';
const RECUSADO = 'DOCUMENTO_REJEITADO';

/** Processes documents one after the other; resolves once the accepted ones are on disk. */
export async function receber(
  estado: Estado,
  ler: LerDocumento,
  cliente: Cliente,
  documentos: readonly string[],
): Promise<readonly EntradaRecebida[]> {
  const now = Date.now();
  const entradas = documentos.map((one) => entradaDe(estado, ler, cliente, one, now));
  await estado.registro.onDisk();
  return entradas;
}

function entradaDe(estado: Estado, ler: LerDocumento, cliente: Cliente, texto: string, now: number): EntradaRecebida {
  const { registro, contagens } = estado;
  contagens.documentos_recebidos += 1;
  const lido = ler(texto, cliente, now);
  if ('erros' in lido) return refuseEntrada(estado, lido.chave, lido.erros);
  const { chave, sha256 } = lido;
  const { cnpj } = cliente;
  const isEvento = 'id' in lido;
  const known = isEvento ? registro.eventoDe(lido.id) : registro.documentoDe(chave);
  if (known !== undefined) {
    registro.repetir(known, sha256, now);
    return refuseEntrada(estado, chave, [isEvento ? mensagemDeEvento('E1805') : mensagem('E1268')]);
  }
  const refusal =
    findAskedRefusal(estado, cnpj, lido) ??
    (isEvento ? objectionOf(estado, cnpj, lido) : objectionToNote(estado, lido));
  if (refusal !== undefined) return refuseEntrada(estado, chave, [refusal]);
  const novo = { ...lido, cnpj, em: now };
  const { nsu } = 'id' in novo ? registro.guardarEvento(novo, novo.gzip) : registro.guardar(novo, novo.gzip);
  contagens.documentos_aceitos += 1;
  if (isEvento) contagens.eventos_aceitos += 1;
  return entrada(chave, String(nsu), ACEITO, []);
}

type Lido = Exclude<ReturnType<LerDocumento>, { readonly erros: unknown }>;

/** The requested refusal that applies to this document, if any. */
function findAskedRefusal(
  { recusas, configuracao, desconhecidas }: Estado,
  cnpj: string,
  lido: Lido,
): MensagemAdn | undefined {
  const { semente, ajustes } = configuracao;
  if ('id' in lido && ajustes.nota_desconhecida > 0) {
    const times = desconhecidas.get(lido.id) ?? 0;
    if (times < ajustes.nota_desconhecida) {
      desconhecidas.set(lido.id, times + 1);
      return mensagemDeEvento('E1831');
    }
  }
  if (recusas.length === 0) return undefined;
  const evento = 'id' in lido ? { evento: { id: lido.id, codigo: lido.codigo } } : {};
  return documentRefusal(recusas, { chave: lido.chave, cnpj, semente, xml: lido.xml, ...evento });
}

/** The objection of the ADN to a note. The note that it replaces comes first, then the event on that one. */
function objectionToNote({ registro }: Estado, { chave, substitui, xml }: DocumentoLido): MensagemAdn | undefined {
  if (lacksIbsCbs(xml())) return mensagem('E1515');
  if (substitui === undefined) return undefined;
  if (registro.documentoDe(substitui) === undefined) return mensagem('E0044');
  return objectionToSubstitute(chave, registro.eventosDe(substitui));
}

/** Whether the DPS has the group of the IBS and the CBS, and the note around it has none. */
function lacksIbsCbs(xml: string): boolean {
  const declaration = xml.indexOf('<DPS');
  return xml.indexOf('<IBSCBS', declaration) > 0 && !xml.slice(0, declaration).includes('<IBSCBS');
}

/** The objection of the ADN to an event, by the notes and events that it holds. */
function objectionOf({ registro, configuracao }: Estado, cnpj: string, evento: EventoLido): MensagemAdn | undefined {
  const { chave, codigo } = evento;
  if (tipoByCodigo(codigo)!.soAqui && configuracao.ajustes.manifestacoes === 0) return mensagemDeEvento('E1818');
  const note = registro.documentoDe(chave);
  if (note === undefined) return mensagemDeEvento('E1831');
  if (note.cnpj !== cnpj) return mensagemDeEvento('E0831');
  return objectionTo(evento, cnpj, registro.eventosDe(chave));
}

function refuseEntrada({ contagens }: Estado, chave: string | null, erros: readonly MensagemAdn[]): EntradaRecebida {
  for (const { Codigo } of erros) count(contagens.erros, Codigo);
  return entrada(chave, null, RECUSADO, erros);
}

function entrada(
  ChaveAcesso: string | null,
  NsuRecepcao: string | null,
  StatusProcessamento: string,
  Erros: readonly MensagemAdn[],
): EntradaRecebida {
  return { ChaveAcesso, NsuRecepcao, StatusProcessamento, Alertas: [], Erros };
}

/** The entry of a document that was not processed. */
export function entradaNaoProcessada(): EntradaRecebida {
  return entrada(null, null, RECUSADO, [mensagem('E999')]);
}

export type Consulta = {
  readonly nsu: number;
  readonly tipo: TipoNsu;
  /** False: only the document of that number. */
  readonly lote: boolean;
};

export type Resposta = { readonly status: number; readonly body: Distribuicao };

/** The documents of the caller after a number. Notes of other municipalities are not distributed to it. */
export async function consultar(estado: Estado, cnpj: string, { nsu, tipo, lote }: Consulta): Promise<Resposta> {
  const { registro } = estado;
  // A document is distributed only once it is on disk.
  await registro.onDisk();
  const found =
    tipo !== 'RECEPCAO'
      ? []
      : lote
        ? registro.depoisDe(cnpj, nsu, DISTRIBUTED_MAX)
        : registro.depoisDe(cnpj, nsu - 1, 1);
  return answerFound(estado, found) ?? answerNone(lote ? (tipo === 'RECEPCAO' ? 'E2070' : 'E2020') : 'E2040');
}

/** All events of a note. */
export async function eventosDe(estado: Estado, cnpj: string, chave: string): Promise<Resposta> {
  const { registro } = estado;
  await registro.onDisk();
  const known = registro.documentoDe(chave);
  if (known === undefined) return answerNone('E2060');
  return known.cnpj === cnpj ? (answerFound(estado, registro.eventosDe(chave)) ?? answerNone()) : answerNone('E2061');
}

function answerFound({ registro }: Estado, found: readonly (Guardado | EventoGuardado)[]): Resposta | undefined {
  const LoteDFe = found.map(
    (one): DocumentoDistribuido => ({
      NSU: one.nsu,
      ChaveAcesso: one.chave,
      TipoDocumento: 'id' in one ? 'EVENTO' : 'NFSE',
      TipoEvento: 'id' in one ? tipoEventoOf(one.codigo)! : null,
      ArquivoXml: registro.gzipOf(one).toString('base64'),
      DataHoraGeracao: fractionMoment(one.em),
    }),
  );
  return LoteDFe.length === 0 ? undefined : distribuicao(200, 'DOCUMENTOS_LOCALIZADOS', LoteDFe, []);
}

function answerNone(codigo?: 'E2020' | 'E2040' | 'E2060' | 'E2061' | 'E2070'): Resposta {
  return distribuicao(404, 'NENHUM_DOCUMENTO_LOCALIZADO', [], codigo === undefined ? [] : [mensagem(codigo)]);
}

function distribuicao(
  status: number,
  StatusProcessamento: Distribuicao['StatusProcessamento'],
  LoteDFe: readonly DocumentoDistribuido[],
  Erros: readonly MensagemAdn[],
): Resposta {
  return { status, body: { StatusProcessamento, LoteDFe, Alertas: [], Erros, ...cabecalho(Date.now()) } };
}
