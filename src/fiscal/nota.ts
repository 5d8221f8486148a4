/**
 * The life of a nota as a table: its states with what the public sees in each, and the moves between them.
 *
 * The public fields are columns here; nobody keeps them in step by hand. `due` says when a row that made the move
 * wants attention again; how it is claimed and settled is the worker's affair.
 */

export type NotaEstado = 'emitida' | 'transmitida' | 'autorizada' | 'recusada' | 'cancelada';

type Shown = {
  /** What the state means, as the documentation says it. */
  readonly significado: string;
  /** `nota.status`. */
  readonly status: 'rascunho' | 'autorizada' | 'cancelada';
  /** `protocolo.status`. */
  readonly protocolo: 'processando' | 'autorizado' | 'rejeitado' | 'cancelado';
  readonly chave_acesso_provisoria: boolean;
  /** `codigo_situacao_nfse`: `cStat` 100 of the note, from authorisation on. */
  readonly codigo_situacao_nfse: 100 | null;
  /** Nothing more happens by itself. */
  readonly rests: boolean;
  /** Its DPS identifier is taken (E0014); a refused note sets series and number free (D-20). */
  readonly holdsDps: boolean;
};

export const NOTA_ESTADOS: Readonly<Record<NotaEstado, Shown>> = {
  emitida: {
    significado: 'A nota existe, com chave e protocolo, e aguarda a transmissão ao ADN, que nada tem dela.',
    status: 'rascunho',
    protocolo: 'processando',
    chave_acesso_provisoria: true,
    codigo_situacao_nfse: null,
    rests: false,
    holdsDps: true,
  },
  transmitida: {
    significado: 'O envio ao ADN foi anunciado; a resposta ainda não é conhecida.',
    status: 'rascunho',
    protocolo: 'processando',
    chave_acesso_provisoria: true,
    codigo_situacao_nfse: null,
    rests: false,
    holdsDps: true,
  },
  autorizada: {
    significado: 'O ADN autorizou a nota.',
    status: 'autorizada',
    protocolo: 'autorizado',
    chave_acesso_provisoria: false,
    codigo_situacao_nfse: 100,
    rests: true,
    holdsDps: true,
  },
  recusada: {
    significado:
      'O ADN recusou a nota, ou o município a retirou antes da transmissão; o motivo está no protocolo, e a série e o número estão livres de novo.',
    status: 'rascunho',
    protocolo: 'rejeitado',
    chave_acesso_provisoria: true,
    codigo_situacao_nfse: null,
    rests: true,
    holdsDps: false,
  },
  cancelada: {
    significado: 'Um evento de cancelamento da nota foi processado.',
    status: 'cancelada',
    protocolo: 'cancelado',
    chave_acesso_provisoria: false,
    codigo_situacao_nfse: 100,
    rests: true,
    holdsDps: true,
  },
};

export type NotaTrigger =
  | 'emissao'
  | 'anuncio'
  | 'autorizacao'
  | 'recusa'
  | 'adiamento'
  | 'espera'
  | 'cancelamento'
  | 'retirada';

/** When a row that made a move wants attention again. `lease`: when whoever claimed it should have finished. */
export type Due = 'now' | 'lease' | 'backoff' | 'never';

export type NotaMove = {
  readonly from: NotaEstado | undefined;
  readonly on: NotaTrigger;
  readonly to: NotaEstado;
  readonly due: Due;
};

/**
 * `anuncio` from `transmitida` is somebody finding a note whose sender died or got no answer: the ADN is asked first,
 * and the note is sent again only when the ADN does not know it. `adiamento` leaves the state as it is. `espera` is a note
 * that replaces another before its time: it was not sent, or surely not taken (E1308). What is `emitida` the ADN has nothing
 * of, and therefore from there alone a note can be withdrawn.
 */
export const NOTA_MOVES = [
  { from: undefined, on: 'emissao', to: 'emitida', due: 'now' },
  { from: 'emitida', on: 'anuncio', to: 'transmitida', due: 'lease' },
  { from: 'transmitida', on: 'anuncio', to: 'transmitida', due: 'lease' },
  { from: 'transmitida', on: 'adiamento', to: 'transmitida', due: 'backoff' },
  { from: 'transmitida', on: 'espera', to: 'emitida', due: 'backoff' },
  { from: 'transmitida', on: 'autorizacao', to: 'autorizada', due: 'never' },
  { from: 'transmitida', on: 'recusa', to: 'recusada', due: 'never' },
  { from: 'emitida', on: 'retirada', to: 'recusada', due: 'never' },
  { from: 'autorizada', on: 'cancelamento', to: 'cancelada', due: 'never' },
] as const satisfies readonly NotaMove[];

/** The states in which a trigger may find a nota, and where it leads. Undefined when the table has no such move. */
export function notaMove(from: NotaEstado | undefined, on: NotaTrigger): NotaMove | undefined {
  return NOTA_MOVES.find((move) => move.from === from && move.on === on);
}
