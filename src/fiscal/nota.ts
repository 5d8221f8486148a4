/**
 * The life of a nota as a table: its states with their public fields, and the moves between them.
 *
 * The public fields are columns of the states, so that all of them follow from the state. `due` says when a row that made the move is
 * examined again; the worker claims and settles it.
 */
import { finalStates, type Move, moveFrom } from './machine.ts';

export type NotaEstado = 'emitida' | 'retida' | 'transmitida' | 'autorizada' | 'recusada' | 'cancelada';

/** The public view of a state. */
type PublicState = {
  /** The meaning of the state, for the documentation. */
  readonly significado: string;
  /** `nota.status`. */
  readonly status: 'rascunho' | 'autorizada' | 'cancelada';
  /** `protocolo.status`. */
  readonly protocolo: 'processando' | 'autorizado' | 'rejeitado' | 'cancelado';
  readonly chave_acesso_provisoria: boolean;
  /** `protocolo.acao_sugerida`: the advice to the integrator; null: waiting changes nothing more. */
  readonly acao_sugerida: 'aguardar' | null;
  /** Nothing more happens by itself. */
  readonly rests: boolean;
  /** Its DPS identifier is taken (E0014); a refused note frees its series and number (D-20). */
  readonly holdsDps: boolean;
};

/** The public view until the ADN has decided. */
const EM_PROCESSAMENTO = {
  status: 'rascunho',
  protocolo: 'processando',
  chave_acesso_provisoria: true,
  acao_sugerida: 'aguardar',
  rests: false,
  holdsDps: true,
} as const;

export const NOTA_ESTADOS: Readonly<Record<NotaEstado, PublicState>> = {
  emitida: {
    significado: 'A nota existe, com chave e protocolo, e aguarda a transmissão ao ADN, que nada tem dela.',
    ...EM_PROCESSAMENTO,
  },
  retida: {
    significado:
      'A nota existe, com chave e protocolo, e não é enviada: falta publicar uma alíquota do IBS ou da CBS da sua competência, como diz mensagem_retorno. Segue sozinha quando o município a importar, com o IBS e a CBS calculados.',
    ...EM_PROCESSAMENTO,
  },
  transmitida: {
    significado: 'O envio ao ADN foi anunciado; a resposta ainda não é conhecida.',
    ...EM_PROCESSAMENTO,
  },
  autorizada: {
    significado: 'O ADN autorizou a nota.',
    status: 'autorizada',
    protocolo: 'autorizado',
    chave_acesso_provisoria: false,
    acao_sugerida: null,
    rests: true,
    holdsDps: true,
  },
  recusada: {
    significado:
      'O ADN recusou a nota, ou o município a retirou antes da transmissão, ou os valores declarados de uma nota retida divergem do cálculo oficial; o motivo está no protocolo, e a série e o número estão livres de novo.',
    status: 'rascunho',
    protocolo: 'rejeitado',
    chave_acesso_provisoria: true,
    acao_sugerida: null,
    rests: true,
    holdsDps: false,
  },
  cancelada: {
    significado: 'Um evento de cancelamento da nota foi processado.',
    status: 'cancelada',
    protocolo: 'cancelado',
    chave_acesso_provisoria: false,
    acao_sugerida: null,
    rests: true,
    holdsDps: true,
  },
};

/** `cStat` of the notes that are issued here: in general, and for a MEI. It never changes, and is published from the authorisation on. */
export const CODIGOS_SITUACAO = { gerada: 100, mei: 107 } as const;

/** `cStat` of the note of a provider, by its `opSimpNac`. */
export function codigoSituacaoOf(opSimpNac: string): number {
  return opSimpNac === '2' ? CODIGOS_SITUACAO.mei : CODIGOS_SITUACAO.gerada;
}

export type NotaTrigger =
  | 'emissao'
  | 'retencao'
  | 'publicacao'
  | 'divergencia'
  | 'anuncio'
  | 'autorizacao'
  | 'recusa'
  | 'adiamento'
  | 'espera'
  | 'cancelamento'
  | 'retirada';

export type NotaMove = Move<NotaEstado, NotaTrigger>;

/**
 * `anuncio` from `transmitida`: a worker found a note whose sender died or got no answer. It asks the ADN first, and sends the note again
 * only if the ADN does not know it. `adiamento` keeps the state. `espera`: the note replaces another one too early, and was not sent, or
 * certainly not accepted (E1308). `retirada`: only from `emitida` and `retida`, of which the ADN certainly has nothing. `divergencia`: the
 * published rates give another amount than the one that the held note declared.
 */
export const NOTA_MOVES = [
  { from: undefined, on: 'emissao', to: 'emitida', due: 'now' },
  { from: undefined, on: 'retencao', to: 'retida', due: 'publicacao' },
  { from: 'retida', on: 'publicacao', to: 'emitida', due: 'now' },
  { from: 'retida', on: 'divergencia', to: 'recusada', due: 'never' },
  { from: 'retida', on: 'retirada', to: 'recusada', due: 'never' },
  { from: 'emitida', on: 'anuncio', to: 'transmitida', due: 'lease' },
  { from: 'transmitida', on: 'anuncio', to: 'transmitida', due: 'lease' },
  { from: 'transmitida', on: 'adiamento', to: 'transmitida', due: 'backoff' },
  { from: 'transmitida', on: 'espera', to: 'emitida', due: 'backoff' },
  { from: 'transmitida', on: 'autorizacao', to: 'autorizada', due: 'never' },
  { from: 'transmitida', on: 'recusa', to: 'recusada', due: 'never' },
  { from: 'emitida', on: 'retirada', to: 'recusada', due: 'never' },
  { from: 'autorizada', on: 'cancelamento', to: 'cancelada', due: 'never' },
] as const satisfies readonly NotaMove[];

/** The state to which a trigger moves a nota. Undefined if the table has no such move. */
export function notaMove(from: NotaEstado | undefined, on: NotaTrigger): NotaMove | undefined {
  return moveFrom<NotaMove>(NOTA_MOVES, from, on);
}

/** States of a note that was not authorised: its DPS is shown instead. */
export const PROVISORIOS = (Object.keys(NOTA_ESTADOS) as NotaEstado[]).filter(
  (estado) => NOTA_ESTADOS[estado].chave_acesso_provisoria,
);

/** States of a note on which the ADN has not decided: events registered on it wait. */
export const RASCUNHOS = PROVISORIOS.filter((estado) => !NOTA_ESTADOS[estado].rests);

/** States that a nota never leaves: its substitute need not wait for it. */
export const NOTA_FINAIS = finalStates<NotaMove>(NOTA_MOVES);
/** States in which the ADN has nothing of a nota. */
export const NOTA_NAO_TRANSMITIDA = RASCUNHOS.filter((estado) => notaMove(estado, 'retirada') !== undefined);
