/** What is done with a lot and with a query, once they were read off the wire: no connection and no fault is known here. */
import type { Distribuicao, DocumentoDistribuido, EntradaRecebida, MensagemAdn, TipoNsu } from '../adn/wire.ts';
import { cabecalho, fractionMoment, mensagem } from './codigos.ts';
import type { Cliente, LerDocumento } from './documento.ts';
import { count, type Estado } from './estado.ts';
import { documentRefusal } from './recusas.ts';

/** Documents in the answer to a query; the manual says fifty, the contract a hundred. */
const DISTRIBUTED_MAX = 50;

/** The real one's texts are not published, and nothing may be decided by them. */
const ACEITO = 'DOCUMENTO_PROCESSADO';
const RECUSADO = 'DOCUMENTO_REJEITADO';

/** Processes documents one after the other; resolves once what was accepted is on disk. */
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
  const { registro, contagens, recusas, configuracao } = estado;
  contagens.documentos_recebidos += 1;
  const lido = ler(texto, cliente, now);
  if ('erros' in lido) return recusada(estado, lido.chave, lido.erros);
  const { chave, idDps, sha256, gzip, xml } = lido;
  const { cnpj } = cliente;
  const known = registro.documentoDe(chave);
  if (known !== undefined) {
    registro.repetir(known, sha256, now);
    return recusada(estado, chave, [mensagem('E1268')]);
  }
  const asked =
    recusas.length === 0 ? undefined : documentRefusal(recusas, { chave, cnpj, semente: configuracao.semente, xml });
  if (asked !== undefined) return recusada(estado, chave, [asked]);
  const { nsu } = registro.guardar({ chave, cnpj, sha256, idDps, em: now }, gzip);
  contagens.documentos_aceitos += 1;
  return entrada(chave, String(nsu), ACEITO, []);
}

function recusada({ contagens }: Estado, chave: string | null, erros: readonly MensagemAdn[]): EntradaRecebida {
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

/** An entry for a document that was not looked at. */
export function entradaNaoProcessada(): EntradaRecebida {
  return entrada(null, null, RECUSADO, [mensagem('E999')]);
}

export type Consulta = {
  readonly nsu: number;
  readonly tipo: TipoNsu;
  /** Otherwise the document of that very number alone. */
  readonly lote: boolean;
};

export type Resposta = { readonly status: number; readonly body: Distribuicao };

/** The caller's own documents after a number. Of other municipalities' notes nothing is told: there are none. */
export async function consultar(estado: Estado, cnpj: string, { nsu, tipo, lote }: Consulta): Promise<Resposta> {
  const { registro } = estado;
  // What is about to be written is not told before it is.
  await registro.onDisk();
  const found =
    tipo !== 'RECEPCAO'
      ? []
      : lote
        ? registro.depoisDe(cnpj, nsu, DISTRIBUTED_MAX)
        : registro.depoisDe(cnpj, nsu - 1, 1);
  const LoteDFe = found.map(
    (one): DocumentoDistribuido => ({
      NSU: one.nsu,
      ChaveAcesso: one.chave,
      TipoDocumento: 'NFSE',
      TipoEvento: null,
      ArquivoXml: registro.gzipOf(one).toString('base64'),
      DataHoraGeracao: fractionMoment(one.em),
    }),
  );
  if (LoteDFe.length > 0) return distribuicao(200, 'DOCUMENTOS_LOCALIZADOS', LoteDFe, []);
  return none(lote ? (tipo === 'RECEPCAO' ? 'E2070' : 'E2020') : 'E2040');
}

/** All events of a note: none yet, whatever the note. */
export function eventosDe({ registro }: Estado, cnpj: string, chave: string): Resposta {
  const known = registro.documentoDe(chave);
  if (known === undefined) return none('E2060');
  return known.cnpj === cnpj ? none() : none('E2061');
}

function none(codigo?: 'E2020' | 'E2040' | 'E2060' | 'E2061' | 'E2070'): Resposta {
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
