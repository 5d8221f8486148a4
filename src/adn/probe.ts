/** Tests whether the ADN serves a municipality: one connection and one query that changes nothing there, outside any circuit. */
import { LIMITS } from './limits.ts';
import { type LineSettings, openLine } from './line.ts';
import { NOTA } from './reading.ts';
import { pageVerdict } from './verdict.ts';
import { distributionPath, NOTHING_AFTER } from './wire.ts';

/** A number that no reception reaches: the answer is that nothing follows it. */
const AFTER_ALL = '999999999999999';

/**
 * The result. `barred`: our certificate was refused during the handshake. `silent`: the connection held, and no whole answer came.
 * `refused`: the ADN answered, and would accept nothing of this municipality. `ms`: the duration.
 */
export type Probed = {
  readonly kind: 'answered' | 'refused' | 'strange' | 'silent' | 'barred' | 'unreached';
  readonly why: string | undefined;
  readonly ms: number;
};

/** Asks for documents after the highest number: nothing is sent, and only an empty list comes back. */
export async function probeAdn(settings: Omit<LineSettings, 'limits'>): Promise<Probed> {
  const began = performance.now();
  const line = openLine({ ...settings, limits: LIMITS });
  try {
    const outcome = await line.request({
      method: 'GET',
      path: distributionPath(AFTER_ALL, 'RECEPCAO'),
      body: undefined,
      totalMs: LIMITS.requestMs,
      bytesMax: LIMITS.answerMaxBytes,
    });
    const ms = Math.round(performance.now() - began);
    if (outcome.kind === 'barred') return { kind: 'barred', why: outcome.why, ms };
    if (outcome.kind === 'unsent') return { kind: 'unreached', why: outcome.why, ms };
    if (outcome.kind === 'lost') return { kind: 'silent', why: outcome.why, ms };
    const { value, refused, health, why } = pageVerdict(outcome, NOTA.tipo, NOTHING_AFTER);
    if (!('stop' in value)) return { kind: 'answered', why: undefined, ms };
    const isRefusal = refused !== undefined || health === 'answered';
    return { kind: isRefusal ? 'refused' : 'strange', why: refused ?? why ?? value.stop.why, ms };
  } finally {
    await line.close();
  }
}
