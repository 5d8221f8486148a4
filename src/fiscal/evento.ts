/**
 * The life of an event as a table: its nine states with their meaning, the moves between them, and the advice to the client
 * (`acao_sugerida`).
 *
 * The ADN certainly has nothing of the event in `pendente`, `aguardando_autorizacao_nota` and `cancelado`. Therefore it can be withdrawn
 * only from the first two. A reprocessing goes back to `enviado`, where the ADN is asked before anything is sent. `due` says when a row is
 * next examined; the worker claims and settles it.
 */
import { type Move, moveFrom, statesBefore } from './machine.ts';

export type EventoEstado =
  | 'pendente'
  | 'enviado'
  | 'aguardando_autorizacao_nota'
  | 'processado'
  | 'rejeitado'
  | 'erro'
  | 'erro_reprocessamento'
  | 'cancelado'
  | 'dispensado';

/** The outcome of an event; `acao_sugerida` has one word for all finished ones. */
export const DESFECHOS_EVENTO = {
  em_andamento: 'Ainda muda por si: espere `Retry-After` e consulte de novo.',
  registrado: 'O ADN o registrou, e na integração a autoridade local: vale na nota.',
  valido_no_municipio:
    'Não foi enviado, porque o ADN não recebe o tipo de um município, e vale na nota deste município.',
  recusado: 'O ADN o recusou, e não vale: o motivo está em `codigo_retorno` e `erros_adn`.',
  retirado: 'O município o retirou antes do envio, e não vale: o motivo está em `mensagem_retorno`.',
  dispensado:
    'O envio foi dispensado, pelo município ou porque a nota foi recusada: não está no ADN, e `mensagem_retorno` diz por quê.',
  parado: 'O envio parou, e só o município o move: fale com ele, com o número do evento.',
} as const satisfies Readonly<Record<string, string>>;

export type DesfechoEvento = keyof typeof DESFECHOS_EVENTO;

/** The meaning of each state, for the documentation, and the outcome of an event in it; {@link desfechoOf} knows the exceptions. */
export const EVENTO_ESTADOS: Readonly<
  Record<EventoEstado, { readonly significado: string; readonly desfecho: DesfechoEvento }>
> = {
  pendente: {
    significado: 'O evento foi registrado e aguarda o envio ao ADN.',
    desfecho: 'em_andamento',
  },
  enviado: {
    significado: 'O envio ao ADN foi anunciado; a resposta ainda não é conhecida.',
    desfecho: 'em_andamento',
  },
  aguardando_autorizacao_nota: {
    significado: 'A nota ainda não foi autorizada, ou o ADN ainda não a reconhece; o evento segue depois dela.',
    desfecho: 'em_andamento',
  },
  processado: {
    significado: 'O ADN registrou o evento.',
    desfecho: 'registrado',
  },
  rejeitado: {
    significado: 'O ADN recusou o evento; o motivo está em `erros_adn`.',
    desfecho: 'recusado',
  },
  erro: {
    significado:
      'O envio falhou sem que o ADN o decidisse; há nova tentativa marcada, ou já foram feitas as três que o evento tem.',
    desfecho: 'em_andamento',
  },
  erro_reprocessamento: {
    significado:
      'Separado para análise manual, porque a resposta não pôde ser entendida ou porque o município o separou.',
    desfecho: 'parado',
  },
  cancelado: {
    significado: 'Retirado pelo município antes do envio.',
    desfecho: 'retirado',
  },
  dispensado: {
    significado:
      'O envio ao ADN foi dispensado: a nota foi recusada, o município o dispensou, o ADN não recebe o tipo, ou o evento anula um que só vale no município.',
    desfecho: 'dispensado',
  },
};

export type EventoTrigger =
  | 'registro'
  | 'anuncio'
  | 'nota_nao_autorizada'
  | 'nota_desconhecida'
  | 'autorizacao_nota'
  | 'recusa_nota'
  | 'conclusao'
  | 'recusa'
  | 'falha'
  | 'esgotamento'
  | 'adiamento'
  | 'incompreensao'
  | 'reprocessamento'
  | 'separacao'
  | 'retirada'
  | 'dispensa'
  | 'arquivamento';

export type EventoMove = Move<EventoEstado, EventoTrigger> & {
  /** An automatic retry: `reprocessamentos_count` grows and `ultimo_reprocessamento_em` is set. */
  readonly counts?: true;
};

/** Automatic retries of one event (specification, Events: rule 2). */
export const EVENTO_RETRIES_MAX = 3;

/**
 * `anuncio` from `enviado`: a worker found an event whose sender died or got no answer. The ADN is then asked first, as from `erro`.
 * `adiamento`: the whole ADN is unreachable, which uses up no retry of an event (D-52).
 */
export const EVENTO_MOVES = [
  { from: undefined, on: 'registro', to: 'pendente', due: 'now' },
  { from: 'pendente', on: 'anuncio', to: 'enviado', due: 'lease' },
  { from: 'pendente', on: 'nota_nao_autorizada', to: 'aguardando_autorizacao_nota', due: 'poll' },
  { from: 'pendente', on: 'recusa_nota', to: 'dispensado', due: 'never' },
  { from: 'pendente', on: 'retirada', to: 'cancelado', due: 'never' },
  { from: 'pendente', on: 'dispensa', to: 'dispensado', due: 'never' },
  { from: 'enviado', on: 'anuncio', to: 'enviado', due: 'lease' },
  { from: 'enviado', on: 'conclusao', to: 'processado', due: 'never' },
  { from: 'enviado', on: 'recusa', to: 'rejeitado', due: 'never' },
  { from: 'enviado', on: 'nota_desconhecida', to: 'aguardando_autorizacao_nota', due: 'poll' },
  { from: 'enviado', on: 'falha', to: 'erro', due: 'backoff' },
  { from: 'enviado', on: 'esgotamento', to: 'erro', due: 'never' },
  { from: 'enviado', on: 'adiamento', to: 'enviado', due: 'backoff' },
  { from: 'enviado', on: 'incompreensao', to: 'erro_reprocessamento', due: 'never' },
  { from: 'enviado', on: 'dispensa', to: 'dispensado', due: 'never' },
  { from: 'aguardando_autorizacao_nota', on: 'autorizacao_nota', to: 'pendente', due: 'now' },
  { from: 'aguardando_autorizacao_nota', on: 'anuncio', to: 'enviado', due: 'lease' },
  {
    from: 'aguardando_autorizacao_nota',
    on: 'nota_nao_autorizada',
    to: 'aguardando_autorizacao_nota',
    due: 'poll',
  },
  { from: 'aguardando_autorizacao_nota', on: 'recusa_nota', to: 'dispensado', due: 'never' },
  { from: 'aguardando_autorizacao_nota', on: 'retirada', to: 'cancelado', due: 'never' },
  { from: 'aguardando_autorizacao_nota', on: 'dispensa', to: 'dispensado', due: 'never' },
  { from: 'erro', on: 'anuncio', to: 'enviado', due: 'lease', counts: true },
  { from: 'erro', on: 'reprocessamento', to: 'enviado', due: 'now' },
  { from: 'erro', on: 'separacao', to: 'erro_reprocessamento', due: 'never' },
  { from: 'erro', on: 'dispensa', to: 'dispensado', due: 'never' },
  { from: 'erro_reprocessamento', on: 'reprocessamento', to: 'enviado', due: 'now' },
  { from: 'erro_reprocessamento', on: 'dispensa', to: 'dispensado', due: 'never' },
  // A refusal is final: filing it only removes it from the operator's list.
  { from: 'rejeitado', on: 'arquivamento', to: 'rejeitado', due: 'never' },
] as const satisfies readonly EventoMove[];

/** The state to which a trigger moves an event. Undefined if the table has no such move. */
export function eventoMove(from: EventoEstado | undefined, on: EventoTrigger): EventoMove | undefined {
  return moveFrom<EventoMove>(EVENTO_MOVES, from, on);
}

/** States in which the ADN certainly has nothing of an event. */
export const EVENTO_ANTES_DO_ENVIO = statesBefore<EventoMove>(EVENTO_MOVES, 'recusa_nota');
/** States in which an event came to nothing: it was refused, withdrawn or waived. */
export const EVENTO_EM_VAO = (Object.keys(EVENTO_ESTADOS) as EventoEstado[]).filter((estado) =>
  ['recusado', 'retirado', 'dispensado'].includes(EVENTO_ESTADOS[estado].desfecho),
);

/** The trigger of a failure after so many automatic retries: one more retry, or none. */
export function falhaAfter(reprocessamentos: number): 'falha' | 'esgotamento' {
  return reprocessamentos < EVENTO_RETRIES_MAX ? 'falha' : 'esgotamento';
}

/** Whether nothing more happens by itself. `hasRetry`: an event in `erro` has a scheduled retry. */
export function eventoRests(estado: EventoEstado, hasRetry: boolean): boolean {
  return EVENTO_ESTADOS[estado].desfecho !== 'em_andamento' || (estado === 'erro' && !hasRetry);
}

/**
 * Whether an event stands on its note, so that later events are judged by it. It was processed, or it is valid here alone. The latter is a
 * type that the ADN does not take from a municipality (D-55). The annulment of such an event is decided by `listStanding` of
 * `conflitos-evento.ts`, which knows the other events.
 */
export function standsOnNota(estado: EventoEstado, { soAqui }: { readonly soAqui: boolean }): boolean {
  return estado === 'processado' || (estado === 'dispensado' && soAqui);
}

export const ACOES_SUGERIDAS = ['aguardar', 'retentar', 'consultar_suporte', 'cancelado_ok'] as const;
export type AcaoSugerida = (typeof ACOES_SUGERIDAS)[number];

/** A pending event older than this is stuck (specification, Limits). */
export const PENDENTE_MAX_MS = 5 * 60_000;
/** An event that waits for the ADN longer than this has a problem (specification, Limits). */
export const AGUARDANDO_MAX_MS = 24 * 60 * 60_000;

/**
 * States in which an event may have a problem, the gravest first: those that an operator must decide, those to examine, those that may
 * still continue.
 */
export const EVENTO_PROBLEMAS = [
  'erro_reprocessamento',
  'erro',
  'rejeitado',
  'aguardando_autorizacao_nota',
  'pendente',
] as const satisfies readonly EventoEstado[];

export type EventoSituacao = {
  readonly estado: EventoEstado;
  readonly reprocessamentos: number;
  /** Start of its current state, in milliseconds. */
  readonly desde: number;
  /** Start of its wait for its note; failed attempts may lie in between. */
  readonly aguardando_desde?: number | undefined;
  /** Whether an event in `erro` has a scheduled retry. */
  readonly hasRetry: boolean;
};

/** The advice to the client (specification, `acao_sugerida` rules). */
export function acaoSugerida(evento: EventoSituacao, now: number): AcaoSugerida {
  switch (evento.estado) {
    case 'pendente':
      return now - evento.desde > PENDENTE_MAX_MS ? 'consultar_suporte' : 'aguardar';
    case 'enviado':
      return 'aguardar';
    case 'aguardando_autorizacao_nota':
      return now - (evento.aguardando_desde ?? evento.desde) > AGUARDANDO_MAX_MS ? 'consultar_suporte' : 'aguardar';
    case 'erro':
      return evento.hasRetry && evento.reprocessamentos < EVENTO_RETRIES_MAX ? 'retentar' : 'consultar_suporte';
    case 'rejeitado':
    case 'erro_reprocessamento':
      return 'consultar_suporte';
    case 'processado':
    case 'cancelado':
    case 'dispensado':
      return 'cancelado_ok';
  }
}

/** The outcome of an event. `soAqui` is that of its type. No event of a refused note is valid. */
export function desfechoOf(
  { estado, hasRetry }: Pick<EventoSituacao, 'estado' | 'hasRetry'>,
  { soAqui, isNotaRecusada }: { readonly soAqui: boolean; readonly isNotaRecusada: boolean },
): DesfechoEvento {
  if (estado === 'erro' && eventoRests(estado, hasRetry)) return 'parado';
  if (estado === 'dispensado' && soAqui && !isNotaRecusada) return 'valido_no_municipio';
  return EVENTO_ESTADOS[estado].desfecho;
}
