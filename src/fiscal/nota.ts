/**
 * The life of a nota as a table: its states with what the public sees in each, and the moves between them.
 *
 * The public fields are columns of the states, so that they follow from one. `due` says when a row that made the move is looked at
 * again; the worker claims and settles it.
 */
import { finalStates, type Move, moveFrom } from './machine.ts';

export type NotaEstado = 'emitida' | 'retida' | 'transmitida' | 'autorizada' | 'recusada' | 'cancelada';

/** What the public sees of a state. */
type PublicState = {
  /** What the state means, as the documentation says it. */
  readonly significado: string;
  /** `nota.status`. */
  readonly status: 'rascunho' | 'autorizada' | 'cancelada';
  /** `protocolo.status`. */
  readonly protocolo: 'processando' | 'autorizado' | 'rejeitado' | 'cancelado';
  readonly chave_acesso_provisoria: boolean;
  /** `protocolo.acao_sugerida`: what the integrator does about it; null: nothing more comes of waiting. */
  readonly acao_sugerida: 'aguardar' | null;
  /** Nothing more happens by itself. */
  readonly rests: boolean;
  /** Its DPS identifier is taken (E0014); a refused note sets series and number free (D-20). */
  readonly holdsDps: boolean;
};

/** What the public sees until the ADN has decided. */
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

/** `cStat` of the notes that are issued here: of anybody, and of a MEI. It never changes, and is told from the authorisation on. */
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
 * `anuncio` from `transmitida`: a worker found a note whose sender died or got no answer. It asks the ADN first, and sends the note
 * again only when the ADN does not know it. `adiamento` keeps the state. `espera`: the note replaces another one before its time, and
 * was not sent, or surely not taken (E1308). `retirada`: only from `emitida` and `retida`, of which the ADN surely has nothing.
 * `divergencia`: the published rates make another amount than the one that the held note declared.
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

/** Where a trigger leads a nota that it finds in a state. Undefined when the table has no such move. */
export function notaMove(from: NotaEstado | undefined, on: NotaTrigger): NotaMove | undefined {
  return moveFrom<NotaMove>(NOTA_MOVES, from, on);
}

/** States of a note that was not authorised: the DPS is shown of it. */
export const PROVISORIOS = (Object.keys(NOTA_ESTADOS) as NotaEstado[]).filter(
  (estado) => NOTA_ESTADOS[estado].chave_acesso_provisoria,
);

/** States of a note of which the ADN has decided nothing: what is registered on it waits. */
export const RASCUNHOS = PROVISORIOS.filter((estado) => !NOTA_ESTADOS[estado].rests);

/** States from which a nota goes nowhere: what replaces it need not wait for it. */
export const NOTA_FINAIS = finalStates<NotaMove>(NOTA_MOVES);
/** States in which the ADN has nothing of a nota. */
export const NOTA_NAO_TRANSMITIDA = RASCUNHOS.filter((estado) => notaMove(estado, 'retirada') !== undefined);
