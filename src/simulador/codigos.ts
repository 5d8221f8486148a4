/** The codes of the simulator, each with its description, and the head of every answer. */
import type { MensagemAdn, TipoAmbiente } from '../adn/wire.ts';
import { BRASILIA, isoMoment, momentIn } from '../fiscal/moment.ts';
import { ownOf } from '../fiscal/own.ts';
import { tipoByCodigo } from '../fiscal/tipos-evento.ts';

const DESCRICOES = {
  E0044: 'A NFS-e a ser substituída não existe.',
  E0046: 'Uma NFS-e cancelada não pode ser substituída.',
  E0595: 'A alíquota da DPS passa de 5%.',
  E999: 'Erro não catalogado.',
  E1200: 'O certificado da conexão está ausente ou não serve para autenticar um cliente.',
  E1203: 'O certificado da conexão está fora da validade.',
  E1205: 'A cadeia do certificado da conexão não é aceita.',
  E1206: 'A lista de revogação do certificado da conexão não está disponível.',
  E1207: 'O certificado da conexão foi revogado.',
  E1208: 'A raiz do certificado da conexão não é aceita.',
  E1209: 'O certificado da conexão não traz CNPJ.',
  E1217: 'O serviço está parado para manutenção.',
  E1219: 'O lote passa do limite de documentos.',
  E1225: 'O documento não pôde ser decodificado de Base64.',
  E1226: 'A estrutura descompactada está malformada.',
  E1228: 'O documento usa prefixo de namespace.',
  E1229: 'O documento não está codificado em UTF-8.',
  E1235: 'O documento não obedece ao esquema.',
  E1242: 'O tipo do documento não é tratado por este serviço.',
  E1262: 'O CNPJ do certificado não está autorizado a compartilhar documentos do município.',
  E1263: 'O Id da NFS-e não corresponde aos campos de que é formado.',
  E1268: 'A chave de acesso já existe no ADN.',
  E1274: 'O ambiente gerador de uma nota compartilhada por município deve ser 1.',
  E1276: 'Nota compartilhada por município não leva procEmi.',
  E1280: 'O CNPJ do emitente é inválido.',
  E1284: 'O CPF do emitente é inválido.',
  E1286: 'O município do emitente difere do município emissor da DPS.',
  E1289: 'O ISSQN não é a base vezes a alíquota.',
  E1300: 'A alíquota aplicada passa de 5%.',
  E1308: 'A NFS-e substituta não se compartilha antes do evento de cancelamento por substituição da substituída.',
  E1310: 'O evento de cancelamento por substituição da NFS-e substituída não traz a chave desta.',
  E1515: 'A DPS traz o grupo IBSCBS, e a NFS-e não traz o calculado.',
  E1630: 'A assinatura da NFS-e não confere.',
  E1632: 'O certificado da assinatura é inválido.',
  E1634: 'O certificado da assinatura está fora do perfil.',
  E1636: 'A NFS-e não está assinada.',
  E1638: 'A assinatura não é do município emissor.',
  E2020: 'Nenhum documento depois deste NSU.',
  E2040: 'Nenhum documento com este NSU.',
  E2060: 'A chave de acesso não existe.',
  E2061: 'A chave de acesso não é deste município.',
  E2070: 'Nenhum documento recebido depois deste NSU.',
} as const;

export type Codigo = keyof typeof DESCRICOES;

/** A message about a document, or about a whole lot. */
export function mensagem(codigo: Codigo, complemento?: string): MensagemAdn {
  return mensagemOf(codigo, DESCRICOES[codigo], complemento);
}

export function mensagemOf(Codigo: string, Descricao: string, complemento?: string): MensagemAdn {
  return { Codigo, Descricao, ...(complemento === undefined ? {} : { Complemento: complemento }) };
}

/** The codes of events. E2020 means something else in the answer to a query. */
const DESCRICOES_DE_EVENTO = {
  E0813: 'O CNPJ do autor não é o do autor que o tipo do evento exige.',
  E0816: 'O CPF do autor não é o do autor que o tipo do evento exige.',
  E0831: 'O evento deve ser enviado ao ambiente que gerou a nota.',
  E1802: 'O Id do evento não corresponde aos campos de que é formado.',
  E1805: 'O evento já existe no ADN.',
  E1818: 'O município não compartilha eventos deste tipo.',
  E1827: 'O Id do pedido de registro não corresponde aos campos de que é formado.',
  E1831: 'A nota do evento não existe no ADN.',
  E2020: 'A assinatura do evento não confere.',
  E2023: 'O certificado da assinatura do evento é inválido.',
  E2026: 'O certificado da assinatura do evento está fora do perfil.',
  E2029: 'O evento não está assinado.',
  E2032: 'A assinatura do evento não é do município.',
} as const;

export type CodigoDeEvento = keyof typeof DESCRICOES_DE_EVENTO;

export function mensagemDeEvento(codigo: CodigoDeEvento, complemento?: string): MensagemAdn {
  return mensagemOf(codigo, DESCRICOES_DE_EVENTO[codigo], complemento);
}

/** The description of a code; undefined for a code that the simulator does not know. */
export function descricaoDe(codigo: string): string | undefined {
  return ownOf<string>(DESCRICOES, codigo) ?? ownOf<string>(DESCRICOES_DE_EVENTO, codigo);
}

/** The types of events that the ADN names differently from the specification. */
const TIPO_EVENTO: Readonly<Record<string, string>> = {
  solicitacao_analise_fiscal_para_cancelamento: 'SOLICITACAO_CANCELAMENTO_ANALISE_FISCAL',
  cancelamento_deferido_por_analise_fiscal: 'CANCELAMENTO_DEFERIDO_ANALISE_FISCAL',
  cancelamento_indeferido_por_analise_fiscal: 'CANCELAMENTO_INDEFERIDO_ANALISE_FISCAL',
};

/** `TipoEvento` of an event in the answer to a query. */
export function tipoEventoOf(codigo: string): string | undefined {
  const slug = tipoByCodigo(codigo)?.slug;
  return slug && (TIPO_EVENTO[slug] ?? slug.toUpperCase());
}

/** The HTTP status of a code about the connection or the whole lot; undefined for a code about one document. */
export function statusOfLot(codigo: string): number | undefined {
  if (/^E120\d$|^E1262$/.test(codigo)) return 403;
  if (codigo === 'E1217') return 503;
  return codigo === 'E1219' ? 400 : undefined;
}

/** The simulator never claims to be the production environment. */
const TIPO_AMBIENTE: TipoAmbiente = 'HOMOLOGACAO';
const VERSAO = 'adn-simulador-1.0';

/** The head of every answer. */
export function cabecalho(now: number) {
  return { TipoAmbiente: TIPO_AMBIENTE, VersaoAplicativo: VERSAO, DataHoraProcessamento: fractionMoment(now) };
}

/** `2026-10-05T10:15:31.123-03:00`. */
export function fractionMoment(now: number): string {
  const moment = momentIn(BRASILIA, now);
  const fraction = String(now % 1000).padStart(3, '0');
  return isoMoment({ ...moment, time: `${moment.time}.${fraction}` });
}
