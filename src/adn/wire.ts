/**
 * The messages of the ADN on the wire: addresses, names, limits, codes. The service and the simulator read the same table. Source: OpenAPI
 * documents and manual of the ADN's APIs for municipalities, edition of 17/03/2025.
 */

/** Maximum number of documents in one lot. */
export const LOTE_DOCUMENTS_MAX = 50;
/** The manual says 1 MB without saying of which text; the JSON body stays below it in either reading of "mega". */
export const LOTE_BODY_MAX_BYTES = 1_000_000;
/** The length of a note's key, by which an entry of an answer is found. */
export const CHAVE_LENGTH = 50;

export const JSON_TYPE = 'application/json';

/** `POST`: sharing of documents. */
export const RECEPTION_PATH = '/adn/DFe';
/** `GET`: documents after a number. */
export const DISTRIBUTION_PATH = '/municipios/DFe/';
/** The numbers of {@link TIPO_NSU} are those of the municipality's own documents, kept for recovery. */
export const TIPO_NSU = ['RECEPCAO', 'DISTRIBUICAO', 'GERAL', 'MEI'] as const;
export type TipoNsu = (typeof TIPO_NSU)[number];

/** Path and query that ask for the documents after `nsu`. */
export function distributionPath(nsu: string, tipo: TipoNsu): string {
  return `${DISTRIBUTION_PATH}${nsu}?tipoNSU=${tipo}&lote=true`;
}

/** `GET`: all events of a note. */
export function eventosPath(chave: string): string {
  return `/municipios/NFSe/${chave}/Eventos`;
}

/** `PRODUCAO` or `HOMOLOGACAO`, in the spelling of the ADN. */
export type TipoAmbiente = 'PRODUCAO' | 'HOMOLOGACAO';

/** A remark or a reason of a refusal. */
export type MensagemAdn = {
  readonly Codigo: string;
  readonly Descricao: string;
  readonly Complemento?: string;
};

export type EntradaRecebida = {
  readonly ChaveAcesso: string | null;
  readonly NsuRecepcao: string | null;
  /** Free text: the values are not published, nothing is decided by it. */
  readonly StatusProcessamento: string;
  readonly Alertas: readonly MensagemAdn[];
  readonly Erros: readonly MensagemAdn[];
};

type Cabecalho = {
  readonly TipoAmbiente: TipoAmbiente;
  readonly VersaoAplicativo: string;
  /** ISO 8601 with fraction and offset. */
  readonly DataHoraProcessamento: string;
};

/** The answer to a lot, one entry per document. */
export type LoteRecebido = Cabecalho & { readonly Lote: readonly EntradaRecebida[] };

type StatusDistribuicao = 'REJEICAO' | 'NENHUM_DOCUMENTO_LOCALIZADO' | 'DOCUMENTOS_LOCALIZADOS';

export type TipoDocumento = 'NENHUM' | 'DPS' | 'PEDIDO_REGISTRO_EVENTO' | 'NFSE' | 'EVENTO' | 'CNC';

export type DocumentoDistribuido = {
  readonly NSU: number | null;
  /** The key of the note, for its events too. */
  readonly ChaveAcesso: string;
  readonly TipoDocumento: TipoDocumento;
  readonly TipoEvento: string | null;
  /** Base64 of gzip of the document, in its exact sent form. */
  readonly ArquivoXml: string;
  readonly DataHoraGeracao: string;
};

/** The answer to a query; 200, 400 and 404 all have it. */
export type Distribuicao = Cabecalho & {
  readonly StatusProcessamento: StatusDistribuicao;
  readonly LoteDFe: readonly DocumentoDistribuido[];
  readonly Alertas: readonly MensagemAdn[];
  readonly Erros: readonly MensagemAdn[];
};

/**
 * The meaning of a code of the reception for a document.
 *
 * `existing`: the ADN has it already. `credential`: a certificate or a permission of the municipality, alike for all its documents.
 * `envelope`: the packing of a document. `crowd`: more documents in a lot than allowed. `passing`: maintenance, or an unspecified failure.
 * `early`: a rule that the document breaks only until another one is there. `refusal`: a rule that it breaks for good. `unheard`: none of
 * these; it proves nothing.
 */
const MEANINGS = {
  existing: ['E1268', 'E1805', 'E0802'],
  credential: [
    // The certificate of the channel, then that of the lot, then the agreement with the municipality.
    ...['E1200', 'E1203', 'E1205', 'E1206', 'E1207', 'E1208', 'E1209'],
    ...['E1245', 'E1246', 'E1262'],
    // The certificate that signs notes and events is invalid, of the wrong kind, or not the municipality's: no document's fault.
    ...['E1632', 'E1634', 'E1638', 'E2023', 'E2026', 'E2032'],
    // The same errors in the answer to a query.
    ...['E2000', 'E2001', 'E2003', 'E2004'],
  ],
  envelope: ['E1225', 'E1226', 'E1228', 'E1229'],
  crowd: ['E1219'],
  passing: ['E1217', 'E999', 'RNG9999'],
  // A substitute before the event on the note that it replaces.
  early: ['E1308'],
  refusal: ['E9996', 'RNG6110'],
};

export type CodeMeaning = keyof typeof MEANINGS | 'unheard';

const MEANING_OF: ReadonlyMap<string, CodeMeaning> = new Map(
  Object.entries(MEANINGS).flatMap(([meaning, codes]) => codes.map((code) => [code, meaning as CodeMeaning])),
);

/** Rules of notes and of events; those of the register (E33) and of the parameters (E40) have other channels. */
const RULE_CODE = /^E[012]\d{3}$/;

export function meaningOf(codigo: string): CodeMeaning {
  return MEANING_OF.get(codigo) ?? (RULE_CODE.test(codigo) ? 'refusal' : 'unheard');
}

/** Codes of "nothing (more) after this number" in an answer to a query: the normal end of a list. */
export const NOTHING_AFTER: ReadonlySet<string> = new Set(['E2020', 'E2070', 'E2214', 'E2215', 'E2220']);

/** There is no note of this key in the ADN. */
export const NO_SUCH_KEY = 'E2060';

/** Codes of "no such note of this municipality" in an answer to {@link eventosPath}: there is then no event of ours either. */
export const NO_EVENTO: ReadonlySet<string> = new Set([...NOTHING_AFTER, NO_SUCH_KEY, 'E2061']);

/** The note of an event is not in the ADN, or not yet. */
export const NOTE_UNKNOWN = 'E1831';
/** A municipality may not share events of this type, which the ADN takes from the parties themselves. */
export const NOT_TAKEN_HERE = 'E1818';
