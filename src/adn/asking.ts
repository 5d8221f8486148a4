/**
 * Whether a request of one municipality to the ADN is worth sending. Three circuits learn from every outcome: whether the certificate is
 * accepted, whether the municipality is served, and whether the address answers.
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
  /** The host of the ADN, for the log. */
  readonly host: string;
  /** The breaker of the address: one for all municipalities that use it. */
  readonly breaker: Breaker;
  readonly log: Log;
  readonly limits: Limits;
  /** Called after each request. `falha`: why it got no answer of use; undefined: the ADN answered. */
  readonly onHeard?: ((falha: string | undefined) => void) | undefined;
};

/** A request, the time until which it is worth sending (by `performance.now`), and the meaning of its outcome. */
type Ways<T> = Omit<Ask, 'totalMs' | 'traceparent'> & {
  /** The subject of the request, in Portuguese; the path may name a note. */
  readonly what: string;
  /** The `id`s of the documents that it concerns; absent: all documents under way. */
  readonly of?: ReadonlySet<string>;
  readonly deadline: number;
  readonly read: (outcome: Outcome) => Read<T>;
};

export type Asking = {
  /** Sends a request if it is worth trying; the circuits learn from the result of `read`. */
  ask<T>(ways: Ways<T>): Promise<T>;
  /** Whether every circuit is closed. */
  isClear(): boolean;
  /** Milliseconds until the next request makes sense. */
  pauseMs(): number;
};

type Circuits = AskingSettings & {
  readonly permission: Breaker;
  readonly progress: Breaker;
  /** The identity of this municipality in the shared circuit of the address. */
  readonly party: object;
  readonly last: Last;
};

/** The last results. */
type Last = {
  /** The problem that the operator must correct; logged again, at growing intervals, until then. */
  refusal: string;
  /** The last failure that may be the fault of this municipality alone. */
  trouble: string;
  /** Why the last request failed, as logged; reset by an answer. */
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
    // The shared circuit is not asked during our own pause: asking takes a place in its queue.
    pauseMs: () => Math.max(permission.pauseMs(), progress.pauseMs()) || breaker.pauseMs(circuits.party),
  };
}

async function ask<T>(circuits: Circuits, { deadline, read, what, of, ...asked }: Ways<T>): Promise<T> {
  const { breaker, permission, progress, party, last, limits, line } = circuits;
  /** The request is not even tried: the certificate was refused recently (`barred`), the address does not answer, or the time is over. */
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
    tellHeard(circuits, meaning);
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

/** Logs once why a request failed. The circuit reports an unreachable address, once for all. */
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

/** A health that teaches the circuits nothing is not told. */
function tellHeard<T>({ onHeard }: Circuits, { health, why, refused }: Read<T>): void {
  if (refused !== undefined || health !== 'withdrawn') {
    onHeard?.(refused ?? (health === 'answered' ? undefined : (why ?? 'o ADN não deu uma resposta que sirva')));
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
