/**
 * Whether a request of one municipality to the ADN is worth sending. Three circuits learn from every outcome: whether the certificate is
 * accepted, whether the municipality is served, and whether anybody answers at the address.
 */
import { observe } from '../base/measures/counters.ts';
import { inSpan, noteFailure, noteInSpan, traceparentNow } from '../base/traces/traces.ts';
import type { Log } from './adn.ts';
import { type Breaker, openBreaker, type Pass } from './breaker.ts';
import type { Limits } from './limits.ts';
import type { Ask, Line, Outcome } from './line.ts';
import type { Read } from './verdict.ts';

export type AskingSettings = {
  readonly line: Line;
  /** Of the ADN, for the log. */
  readonly host: string;
  /** Of the address: one for all municipalities that speak to it. */
  readonly breaker: Breaker;
  readonly log: Log;
  readonly limits: Limits;
};

/** A request, until when it is worth sending, on the clock of `performance.now`, and what its outcome means. */
type Ways<T> = Omit<Ask, 'totalMs' | 'traceparent'> & {
  /** What is asked for, in Portuguese; the path may name a note. */
  readonly what: string;
  /** The `id`s of the documents that it is about; absent: of all that are under way. */
  readonly of?: ReadonlySet<string>;
  readonly deadline: number;
  readonly read: (outcome: Outcome) => Read<T>;
};

export type Asking = {
  /** Sends a request if it is worth trying, and lets the circuits learn from what `read` makes of it. */
  ask<T>(ways: Ways<T>): Promise<T>;
  /** Whether every circuit is closed. */
  isClear(): boolean;
  /** Milliseconds until it is worth asking again. */
  pauseMs(): number;
};

type Circuits = AskingSettings & {
  readonly permission: Breaker;
  readonly progress: Breaker;
  /** As what this municipality shares the circuit of the address. */
  readonly party: object;
  readonly last: Last;
};

/** What was learned last. */
type Last = {
  /** What the operator has to mend; said again, at growing intervals, until it is. */
  refusal: string;
  /** What came to nothing, when that may be the fault of this municipality alone. */
  trouble: string;
  /** Why nothing came of a request, as it was logged, until there is an answer. */
  told: string | undefined;
};

export function openAsking(settings: AskingSettings): Asking {
  const { breaker, limits, log, host } = settings;
  const last: Last = { refusal: '', trouble: '', told: undefined };
  const permission = openBreaker({
    failuresToOpen: 1,
    pauseFirstMs: limits.refusedFirstMs,
    pauseMaxMs: limits.refusedMaxMs,
    onOpen: ({ pauseMs }) =>
      log.error(
        { adn: host, why: last.refusal, pauseMs },
        'o ADN recusa o certificado ou a permissão do município; os documentos dele esperam',
      ),
    onClose: () => log.info({ adn: host }, 'o ADN voltou a aceitar o certificado do município'),
  });
  const progress = openBreaker({
    pauseFirstMs: limits.troubledFirstMs,
    pauseMaxMs: limits.troubledMaxMs,
    onOpen: ({ isAgain }) => {
      const about = { adn: host, why: last.trouble };
      if (!isAgain)
        log.warn(
          about,
          'o ADN não atende este município; os documentos dele esperam, e o envio é tentado de novo sozinho',
        );
    },
    onClose: ({ openMs }) =>
      log.info({ adn: host, seconds: Math.round(openMs / 1_000) }, 'o ADN voltou a atender este município'),
  });
  const circuits: Circuits = { ...settings, permission, progress, party: {}, last };
  return {
    ask: (ways) => ask(circuits, ways),
    isClear: () => [breaker, permission, progress].every((circuit) => circuit.isClosed()),
    // While our own pause lasts we do not ask the shared circuit: asking takes a place in its queue.
    pauseMs: () => Math.max(permission.pauseMs(), progress.pauseMs()) || breaker.pauseMs(circuits.party),
  };
}

async function ask<T>(circuits: Circuits, { deadline, read, what, of, ...asked }: Ways<T>): Promise<T> {
  const { breaker, permission, progress, party, last, limits, line } = circuits;
  /** Not even tried: the certificate was refused a while ago (`barred`), nobody answers there, or time is over. */
  const refrain = (kind: 'barred' | 'unsent', why: string): T => read({ kind, code: 'NOT_TRIED', why }).value;
  const allowed = permission.enter();
  if (allowed === undefined) return refrain('barred', last.refusal);
  const hopeful = progress.enter();
  if (hopeful === undefined) {
    allowed.withdrawn();
    return refrain('unsent', last.trouble);
  }
  const open = breaker.enter(party);
  if (open === undefined) {
    allowed.withdrawn();
    hopeful.withdrawn();
    return refrain('unsent', 'o ADN não está respondendo; novas tentativas são feitas de tempos em tempos');
  }
  try {
    const left = deadline - performance.now();
    if (left < limits.requestMinMs) return refrain('unsent', 'não houve tempo para o envio nesta rodada');
    const totalMs = Math.min(left, limits.requestMs);
    const about = { 'http.request.method': asked.method, 'server.address': circuits.host };
    const request = () => requestTraced(line, { ...asked, totalMs });
    const began = performance.now();
    const outcome = await inSpan(`${asked.method} ${what}`, about, request, { isCall: true, only: of });
    observeOutcome(asked.method, outcome, performance.now() - began);
    const meaning = read(outcome);
    logTrouble(circuits, asked.method, meaning, outcome);
    learn(last, { allowed, hopeful, open }, meaning);
    return meaning.value;
  } finally {
    // A pass that has ended ignores this call.
    for (const pass of [allowed, hopeful, open]) pass.withdrawn();
  }
}

const CLASSES = { unsent: 'nao_enviada', lost: 'sem_resposta', barred: 'certificado_recusado' } as const;

function observeOutcome(method: Ask['method'], outcome: Outcome, ms: number): void {
  const classe = outcome.kind === 'answered' ? `${Math.floor(outcome.status / 100)}xx` : CLASSES[outcome.kind];
  const operacao = method === 'POST' ? 'envio' : 'consulta';
  observe('nfse_adn_chamada_duracao_seconds', { operacao, classe }, ms / 1_000);
}

async function requestTraced(line: Line, asked: Ask): Promise<Outcome> {
  const outcome = await line.request({ ...asked, traceparent: traceparentNow() });
  if (outcome.kind === 'answered') noteInSpan({ 'http.response.status_code': outcome.status });
  else {
    noteInSpan({ 'error.type': outcome.code });
    noteFailure();
  }
  return outcome;
}

/** Says once why nothing came of a request. Of an address that nobody reaches the circuit tells, once for all. */
function logTrouble<T>(
  { last, log, host }: Circuits,
  method: string,
  { health, why }: Read<T>,
  outcome: Outcome,
): void {
  if (health === 'answered') last.told = undefined;
  else if (health !== 'failed' && why !== last.told) {
    last.told = why;
    const { kind } = outcome;
    const about = kind === 'answered' ? { status: outcome.status, bytes: outcome.body.length } : { code: outcome.code };
    log.warn({ adn: host, method, why, ...about }, 'o ADN não deu uma resposta que sirva');
  }
}

type Passes = { readonly allowed: Pass; readonly hopeful: Pass; readonly open: Pass };

function learn<T>(last: Last, { allowed, hopeful, open }: Passes, { health, why, refused }: Read<T>): void {
  if (health === 'suspected') {
    last.trouble = why ?? last.trouble;
    hopeful.failed();
  } else if (health === 'answered') hopeful.answered();
  if (health === 'failed' || health === 'suspected') open[health](why);
  else open[health]();
  if (refused !== undefined) {
    last.refusal = refused;
    allowed.failed();
  } else if (health === 'answered') allowed.answered();
}
