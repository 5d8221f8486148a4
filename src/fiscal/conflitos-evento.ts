/**
 * Judges which event may be registered on a note after which other: the national matrix of events (Anexo II v1.01) as data, and the rules
 * over it (D-54). `judge-pedido.ts` judges whether the author is a party of the note.
 *
 * Only events that stand on the note count. A pending event is no hindrance here; the flow checks for an open cancellation ({@link
 * refuseBesideOpen}). The mark "X/V" of the matrix has no printed legend. It means, between manifestations, one manifestation per party
 * (E1833). It means, at blocks, a refusal while the block is in force.
 */
import { type EventoEstado, eventoRests, standsOnNota } from './evento.ts';
import type { Fault, FaultKind } from './fault.ts';
import { type EventoReferido, parseEventoReferido } from './layout/evento.ts';
import { TIPOS_EVENTO, tipoByCodigo } from './tipos-evento.ts';

/** An event that stands on the note. */
export type EventoNaNota = {
  /** `101101`. */
  readonly codigo: string;
  readonly numero_sequencial: number;
  /** CPF or CNPJ. */
  readonly autor: string;
  readonly campos: Readonly<Record<string, string>>;
};

export type EventoQueChega = Omit<EventoNaNota, 'numero_sequencial'> & {
  /** Key of its note. If it is given, an event that this one names must belong to the same note. */
  readonly chave_acesso?: string | undefined;
};

/** Why an event is refused: the code of the national rule, and a sentence with the remedy. */
export type Conflito = Pick<Fault, 'codigo' | 'mensagem'> & { readonly kind?: FaultKind; readonly detalhes?: string };

export type Situacao = 'permitido' | 'proibido' | 'condicional';

// The matrix.

const BLOQUEIO = '305102';
const DESBLOQUEIO = '305103';

/** Columns of the matrix, in its order: the arriving events. */
const CHEGAM: readonly string[] = [
  ...['101101', '101103', '105102', '105104', '105105', '202201', '202205', '203202', '203206', '204203', '204207'],
  ...['205204', '205208', '305101', '305102', '305103'],
];

/**
 * Rows of the matrix: the events that stand on the note. `Y`: accepted, `-`: refused, `c`: on a condition. A block and an unblock refuse
 * only the kind of event that they are about, which {@link situacaoOf} knows.
 */
const MATRIZ: Readonly<Record<string, string>> = {
  nenhum: 'YYY--YYYYYYYYYY-',
  '101101': '----------------',
  '101103': '---YYYYYYYYYY-YY',
  '105102': '----------------',
  '105104': '----------------',
  '105105': '-----YYYYYYYYYYY',
  '202201': '--Y---Ycccc-YYYY',
  '202205': 'YYYYYY-cccc-YYYY',
  '203202': '--Y--cc-Ycc-YYYY',
  '203206': 'YYYYYccY-cc-YYYY',
  '204203': '--Y--cccc-Y-YYYY',
  '204207': 'YYYYYccccY--YYYY',
  '205204': '-YYYY--------YYY',
  '205208': '-YYYYYcYcYcY-YYY',
  '305101': '----------------',
  '305102': 'YYYYYYYYYYYYYYYY',
  '305103': 'YYYYYYYYYYYYYYYY',
};

const SITUACOES: Readonly<Record<string, Situacao>> = { Y: 'permitido', '-': 'proibido', c: 'condicional' };

/** An event in the terms of the matrix. `alvo`: the kind of event that a block or an unblock is about. */
export type NaMatriz = { readonly codigo: string; readonly alvo?: string | undefined };

/** One cell of the matrix. `existente` is undefined on a note without events. */
export function situacaoOf(existente: NaMatriz | undefined, chega: NaMatriz): Situacao {
  if (existente?.codigo === BLOQUEIO && (chega.codigo === BLOQUEIO ? chega.alvo : chega.codigo) === existente.alvo) {
    return 'condicional';
  }
  if (existente?.codigo === DESBLOQUEIO && chega.codigo === DESBLOQUEIO && chega.alvo === existente.alvo) {
    return 'proibido';
  }
  const row = existente?.codigo ?? 'nenhum';
  const cell = MATRIZ[row]?.[CHEGAM.indexOf(chega.codigo)];
  if (cell === undefined) throw new RangeError(`MATRIZ has no row ${row}, or CHEGAM no column ${chega.codigo}`);
  return SITUACOES[cell]!;
}

/** Codes that refuse only events that the municipality registers by office. */
export const CODIGOS_DE_OFICIO: ReadonlySet<string> = new Set([
  ...TIPOS_EVENTO.flatMap(({ porOficio, recusa }) => (porOficio ? [recusa] : [])),
  ...['E0853', 'E0856', 'E1835', 'E1963', 'E1967', 'E1976', 'E1978'],
]);

const SUBSTITUICAO = '105102';

/**
 * Codes that refuse an event of a party because of events on the note, which concerns the parties alone. A replacement is excluded, since
 * its substitute waits for it.
 */
export const CODIGOS_ENTRE_PARTES: ReadonlySet<string> = new Set([
  ...TIPOS_EVENTO.flatMap(({ codigo, porOficio, recusa }) => (codigo === SUBSTITUICAO || porOficio ? [] : [recusa])),
  'E1833',
]);

// Events that stand on the note.

/** An event of a note, in any state. */
export type EventoComEstado = EventoNaNota & { readonly estado: EventoEstado };

/** Lists the events of a note that stand on it, in the same order. */
export function listStanding<Evento extends EventoComEstado>(eventos: readonly Evento[]): readonly Evento[] {
  return eventos.filter((one) => {
    const tipo = tipoByCodigo(one.codigo);
    if (tipo === undefined) return false;
    return standsOnNota(one.estado, tipo) || (one.estado === 'dispensado' && isAnnulledHere(one, eventos));
  });
}

/**
 * Whether an event annuls a rejection that the national environment never accepted. The annulment could then never be registered there
 * (E1963): like the rejection, it is valid here alone.
 */
export function isAnnulledHere(evento: EventoQueChega, onNote: readonly EventoComEstado[]): boolean {
  if (evento.codigo !== ANULACAO_REJEICAO) return false;
  return findRejection(evento, onNote)?.estado === 'dispensado';
}

// The judgement.

/** Why an event is refused on a note with these events, in the order of their processing. Undefined: the event is accepted. */
export function conflictOf(onNote: readonly EventoNaNota[], arriving: EventoQueChega): Conflito | undefined {
  return (
    refuseSecondAnnulment(onNote, arriving) ??
    refuseByMatrix(onNote, arriving) ??
    refuseSecondRole(onNote, arriving) ??
    refuseBlocked(onNote, arriving) ??
    refuseWithoutRequest(onNote, arriving) ??
    refuseWithoutRejection(onNote, arriving) ??
    refuseSecondBlock(onNote, arriving) ??
    refuseWithoutBlock(onNote, arriving)
  );
}

function refuseByMatrix(onNote: readonly EventoNaNota[], arriving: EventoQueChega): Conflito | undefined {
  const before = findHindrance(onNote, arriving.codigo);
  if (before === undefined) return undefined;
  const mensagem = `A nota já tem o evento ${slugOf(before.codigo)}, e depois dele não se registra ${slugOf(arriving.codigo)}. ${adviseAfter(onNote, arriving)}`;
  return { codigo: tipoByCodigo(arriving.codigo)!.recusa, mensagem };
}

const CANCELAM: ReadonlySet<string> = new Set(TIPOS_EVENTO.flatMap(({ codigo, cancela }) => (cancela ? [codigo] : [])));

function isCancelling({ codigo }: EventoNaNota): boolean {
  return CANCELAM.has(codigo);
}

/** Finds the event after which the matrix refuses a kind of event. An event that cancelled the note precedes others. */
function findHindrance(onNote: readonly EventoNaNota[], codigo: string): EventoNaNota | undefined {
  const cancelling = onNote.find(isCancelling);
  if (cancelling !== undefined) return cancelling;
  const isAnswered = onNote.some((one) => one.codigo === '105105');
  const annulled = listAnnulled(onNote);
  return onNote.find((one) => {
    // Blocks and unblocks refuse by their object, below.
    if (one.codigo === BLOQUEIO || one.codigo === DESBLOQUEIO) return false;
    // An answered request for a fiscal analysis is no longer a hindrance: the answer is.
    if (one.codigo === '101103' && isAnswered) return false;
    // An annulled rejection hinders only another of its kind: for other kinds the row of the annulment counts.
    if (annulled.has(one) && one.codigo !== codigo) return false;
    return situacaoOf(one, { codigo }) === 'proibido';
  });
}

/** Events by which an integrator ends a note, in the order in which they are suggested. */
const CANCELAMENTOS = ['101101', '105102', '101103'];

function adviseAfter(onNote: readonly EventoNaNota[], { codigo }: EventoQueChega): string {
  const has = (other: string): boolean => onNote.some((one) => one.codigo === other);
  if (onNote.some(isCancelling)) return 'A nota está cancelada e não recebe mais eventos.';
  if (!CANCELAMENTOS.includes(codigo)) return 'Consulte os eventos da nota antes de registrar outro.';
  if (has('101103') && !has('105105')) return 'Espere a decisão da prefeitura sobre a análise fiscal pedida.';
  const others = CANCELAMENTOS.filter(
    (other) => other !== codigo && findHindrance(onNote, other) === undefined && !isBlocked(onNote, other),
  );
  if (others.length > 0) return `A nota ainda aceita ${others.map(slugOf).join(' e ')}.`;
  return 'Procure a prefeitura, que pode cancelar a nota por ofício.';
}

/** The event that annuls a rejection of the note, which it names. */
export const ANULACAO_REJEICAO = '205208';
const REJEICOES = new Set(['202205', '203206', '204207']);

/** E1833: a party manifests itself in a second role, or rejects again after its rejection was annulled. */
function refuseSecondRole(onNote: readonly EventoNaNota[], arriving: EventoQueChega): Conflito | undefined {
  const annulled = listAnnulled(onNote);
  const before = onNote.find((one) => {
    if (
      one.codigo === BLOQUEIO ||
      annulled.has(one) ||
      situacaoOf(one, { codigo: arriving.codigo }) !== 'condicional'
    ) {
      return false;
    }
    const manifestation = one.codigo === ANULACAO_REJEICAO ? findRejection(one, onNote) : one;
    return manifestation?.autor === arriving.autor;
  });
  if (before === undefined) return undefined;
  const mensagem =
    before.codigo === ANULACAO_REJEICAO
      ? `A rejeição desta parte já foi anulada, e ela não rejeita a nota outra vez. Ela ainda pode confirmá-la; para outra solução procure a prefeitura.`
      : `O autor já se manifestou sobre a nota em outro papel, com o evento ${slugOf(before.codigo)}, e quem está nela em dois papéis se manifesta em um só.`;
  return { codigo: 'E1833', mensagem };
}

/** Refuses a kind of event that a block in force excludes. */
function refuseBlocked(onNote: readonly EventoNaNota[], arriving: EventoQueChega): Conflito | undefined {
  if (!isBlocked(onNote, arriving.codigo)) return undefined;
  const mensagem = `A prefeitura bloqueou o registro de ${slugOf(arriving.codigo)} nesta nota (${slugOf(BLOQUEIO)}). Procure a prefeitura; o evento volta a ser aceito depois do desbloqueio.`;
  return { codigo: tipoByCodigo(arriving.codigo)!.recusa, mensagem };
}

const SEM_SOLICITACAO: Readonly<Record<string, string>> = { '105104': 'E0853', '105105': 'E0856' };

function refuseWithoutRequest(onNote: readonly EventoNaNota[], { codigo }: EventoQueChega): Conflito | undefined {
  const refusal = SEM_SOLICITACAO[codigo];
  if (refusal === undefined || onNote.some((one) => one.codigo === '101103')) return undefined;
  const mensagem = `A nota não tem ${slugOf('101103')} à espera de decisão, e sem ela não se registra ${slugOf(codigo)}. Para cancelar a nota sem solicitação use ${slugOf('305101')}.`;
  return { codigo: refusal, mensagem };
}

/** E1835: the rejection was already annulled. */
function refuseSecondAnnulment(onNote: readonly EventoNaNota[], arriving: EventoQueChega): Conflito | undefined {
  if (arriving.codigo !== ANULACAO_REJEICAO) return undefined;
  const rejection = findRejection(arriving, onNote);
  if (rejection === undefined || !listAnnulled(onNote).has(rejection)) return undefined;
  return { codigo: 'E1835', mensagem: `A rejeição ${slugOf(rejection.codigo)} já foi anulada; uma anulação basta.` };
}

function refuseWithoutRejection(onNote: readonly EventoNaNota[], arriving: EventoQueChega): Conflito | undefined {
  if (arriving.codigo !== ANULACAO_REJEICAO || findRejection(arriving, onNote) !== undefined) return undefined;
  const there = onNote.filter(({ codigo }) => REJEICOES.has(codigo)).map(({ codigo }) => slugOf(codigo));
  const which = there.length === 0 ? 'Ela não tem nenhuma.' : `As que ela tem: ${there.join(', ')}.`;
  const mensagem = `A nota não tem a rejeição que id_evento_rejeicao aponta. ${which}`;
  return { codigo: 'E1963', mensagem };
}

/** Lists the rejections of a note that were annulled. */
function listAnnulled(onNote: readonly EventoNaNota[]): ReadonlySet<EventoNaNota | undefined> {
  const annulments = onNote.filter(({ codigo }) => codigo === ANULACAO_REJEICAO);
  return new Set(annulments.map((one) => findRejection(one, onNote)));
}

function findRejection<Evento extends EventoNaNota>(
  { campos, chave_acesso }: { campos: EventoNaNota['campos']; chave_acesso?: string | undefined },
  onNote: readonly Evento[],
): Evento | undefined {
  const referido = parseReferido(campos['id_evento_rejeicao'], chave_acesso);
  if (referido === undefined || !REJEICOES.has(referido.codigo)) return undefined;
  return onNote.find((one) => isNamed(one, referido));
}

// Blocks.

/** The kind of event that a block is about. */
function alvoOf({ campos }: Pick<EventoNaNota, 'campos'>): string | undefined {
  return campos['codigo_evento_bloqueado']?.slice(1);
}

/** Lists the blocks that no unblock has lifted, oldest first. */
function listBlocks(onNote: readonly EventoNaNota[]): readonly EventoNaNota[] {
  let inForce: readonly EventoNaNota[] = [];
  for (const one of onNote) {
    if (one.codigo === BLOQUEIO) inForce = [...inForce, one];
    if (one.codigo !== DESBLOQUEIO) continue;
    const referido = parseReferido(one.campos['id_evento_bloqueio']);
    // An identifier without sequence is accepted only while it names one block.
    const lifted = inForce.findLast((block) => referido !== undefined && isNamed(block, referido));
    inForce = inForce.filter((block) => block !== lifted);
  }
  return inForce;
}

/** Whether a block in force excludes a kind of event. */
export function isBlocked(onNote: readonly EventoNaNota[], codigo: string): boolean {
  return listBlocks(onNote).some((block) => alvoOf(block) === codigo);
}

function refuseSecondBlock(onNote: readonly EventoNaNota[], arriving: EventoQueChega): Conflito | undefined {
  if (arriving.codigo !== BLOQUEIO) return undefined;
  const alvo = alvoOf(arriving);
  if (alvo === undefined || !isBlocked(onNote, alvo)) return undefined;
  const mensagem = `O registro de ${slugOf(alvo)} já está bloqueado nesta nota; para bloqueá-lo de novo é preciso antes desbloqueá-lo.`;
  return { codigo: 'E1967', mensagem };
}

function refuseWithoutBlock(onNote: readonly EventoNaNota[], arriving: EventoQueChega): Conflito | undefined {
  if (arriving.codigo !== DESBLOQUEIO) return undefined;
  const referido = parseReferido(arriving.campos['id_evento_bloqueio'], arriving.chave_acesso);
  const named = onNote.filter((one) => one.codigo === BLOQUEIO && referido !== undefined && isNamed(one, referido));
  const inForce = listBlocks(onNote).filter((block) => named.includes(block));
  if (inForce.length > 1) {
    const sequences = inForce.map(({ numero_sequencial }) => numero_sequencial).join(', ');
    const mensagem = `A nota tem mais de um bloqueio em vigor (números sequenciais ${sequences}); informe em id_evento_bloqueio o identificador com o número sequencial de 3 dígitos.`;
    return { codigo: 'E1976', mensagem };
  }
  if (inForce.length === 1) return undefined;
  if (named.length > 0)
    return { codigo: 'E1978', mensagem: 'O bloqueio que id_evento_bloqueio aponta já foi levantado.' };
  return { codigo: 'E1976', mensagem: 'A nota não tem o bloqueio que id_evento_bloqueio aponta.' };
}

// Missing events.

/** An event that a refused one requires and that does not stand on the note. */
export type EventoSuposto = {
  readonly codigo: string;
  /** Undefined: any event of the type. */
  readonly numero_sequencial: number | undefined;
};

/** Finds the missing event, if its absence is the conflict. It may exist without standing on the note: the store knows. */
export function findMissing({ codigo }: Conflito, arriving: EventoQueChega): EventoSuposto | undefined {
  if (codigo === 'E0853' || codigo === 'E0856') return { codigo: '101103', numero_sequencial: undefined };
  if (codigo !== 'E1976' && codigo !== 'E1963') return undefined;
  const { id_evento_bloqueio, id_evento_rejeicao } = arriving.campos;
  const referido = parseReferido(codigo === 'E1976' ? id_evento_bloqueio : id_evento_rejeicao, arriving.chave_acesso);
  if (referido === undefined) return undefined;
  const isOfType = codigo === 'E1976' ? referido.codigo === BLOQUEIO : REJEICOES.has(referido.codigo);
  return isOfType ? referido : undefined;
}

/** The missing event as the store has it. `hasRetry` as in {@link eventoRests}. */
export type EventoAchado = {
  /** `id_evento`. */
  readonly id: string;
  readonly codigo: string;
  readonly numero_sequencial: number;
  readonly estado: EventoEstado;
  readonly hasRetry: boolean;
};

/** Explains a conflict whose missing event exists without standing on the note: it is pending, stopped, or came to nothing. */
export function explainMissing(conflict: Conflito, arriving: EventoQueChega, found: EventoAchado): Conflito {
  const { id, codigo, numero_sequencial, estado, hasRetry } = found;
  const [kind, advice] = !eventoRests(estado, hasRetry)
    ? [
        'em_andamento',
        `Ele ainda está a caminho: espere que seja processado, e registre ${slugOf(arriving.codigo)} de novo.`,
      ]
    : estado === 'erro' || estado === 'erro_reprocessamento'
      ? [
          'parado',
          'O envio dele parou: reprocesse-o ou dispense-o antes (nfse evento reprocessar, nfse evento dispensar).',
        ]
      : ['sem_efeito', 'Ele chegou ao fim sem efeito na nota.'];
  const called = `${slugOf(codigo)} nº ${numero_sequencial} (id_evento ${id})`;
  return {
    ...conflict,
    mensagem: `O evento ${called} existe, e não vale na nota: está ${estado}. ${advice}`,
    detalhes: `evento_${kind}: ${called}, ${estado}.`,
  };
}

function parseReferido(id: string | undefined, chave_acesso?: string): EventoReferido | undefined {
  const referido = id === undefined ? undefined : parseEventoReferido(id);
  return chave_acesso === undefined || referido?.chave_acesso === chave_acesso ? referido : undefined;
}

function isNamed({ codigo, numero_sequencial }: EventoNaNota, referido: EventoReferido): boolean {
  return codigo === referido.codigo && (referido.numero_sequencial ?? numero_sequencial) === numero_sequencial;
}

function slugOf(codigo: string): string {
  return tipoByCodigo(codigo)?.slug ?? codigo;
}

// Refusals before the matrix is consulted. Both are E302; the first word of `detalhes` tells them apart.

/** Refuses an event for a note that is `cancelada`. */
export function refuseOnCancelled(codigo: string): Conflito {
  const mensagem = `A nota já está cancelada, e não se registra ${slugOf(codigo)} nela.`;
  return { codigo: 'E302', mensagem, detalhes: 'nota_cancelada: ela não recebe mais eventos.' };
}

/** Refuses a cancellation while another one of the note is not finished. */
export function refuseBesideOpen({ id, codigo, numero_sequencial, estado }: Omit<EventoAchado, 'hasRetry'>): Conflito {
  const slug = slugOf(codigo);
  const mensagem = `Outro cancelamento desta nota está em andamento: ${slug} número ${numero_sequencial}, ${estado}. ${GOES_ON[estado] ?? ''}A nota ainda não está cancelada: espere o resultado dele, em …/eventos/${slug}/${numero_sequencial}, e só registre outro se ele não for processado.`;
  const detalhes = `cancelamento_em_andamento: ${slug} nº ${numero_sequencial} (id_evento ${id}), ${estado}.`;
  return { codigo: 'E302', kind: 'cancelamento_em_andamento', mensagem, detalhes };
}

/** The reason why a pending cancellation waits, in states other than waiting for the environment's answer. */
const GOES_ON: Readonly<Partial<Record<EventoEstado, string>>> = {
  aguardando_autorizacao_nota: 'Ele segue quando a nota for autorizada. ',
  erro: 'O envio falhou, e é tentado de novo sem que ninguém o peça. ',
};
