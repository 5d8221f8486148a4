/**
 * Shared parts of the crash tests: seeded random numbers, the order of the victims, the readiness of the services, and the published table.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Carga } from './quedas-carga.ts';

const READY_WITHIN_MS = 300_000;
const BROKEN_SHOWN = 20;

/** A small seeded generator: the victims and the times of the failures are reproducible. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Each way to fail, in rounds; every round has a new random order. */
export function* turnsOf<Queda>(quedas: readonly Queda[], chance: () => number): Generator<Queda, never> {
  for (;;)
    yield* quedas
      .map((queda) => [chance(), queda] as const)
      .sort(([a], [b]) => a - b)
      .map(([, queda]) => queda);
}

/** Whether all of these addresses report that they are ready. */
export async function areReady(services: readonly string[]): Promise<boolean> {
  const statuses = await Promise.all(
    services.map((address) =>
      fetch(`${address}/health/ready`, { signal: AbortSignal.timeout(READY_WITHIN_MS) })
        .then(async (response) => {
          await response.arrayBuffer();
          return response.status;
        })
        .catch(() => 0),
    ),
  );
  return statuses.every((status) => status === 200);
}

/** Asserts that nothing is broken. */
export function none(broken: readonly string[], when: string): void {
  const more = broken.length > BROKEN_SHOWN ? `\n… ${broken.length} in all` : '';
  assert.equal(broken.slice(0, BROKEN_SHOWN).join('\n') + more, '', when);
}

/** A failure as clients see it, until everything is as before. */
export type Rodada = {
  readonly nome: string;
  readonly notas: number;
  readonly eventos: number;
  /** Requests that ended in 503, and those whose connection broke. */
  readonly recusados: number;
  readonly rompidos: number;
  /** The longest time until such a refusal, in milliseconds. */
  readonly atéDizer: number;
};

const COUNTED = { notas: 'notas', eventos: 'eventos', recusados: '503', rompidos: 'rompidos' } as const;
const REFUSED = [503, 429];
const BROKEN = 0;

/** Begins a round; the returned function reports it. `isBrokenTold`: a broken connection counts as an answer as well. */
export function beginRodada(carga: Carga, nome: string, isBrokenTold: boolean): () => Rodada {
  carga.takeTentativas();
  const [notas, eventos] = [carga.notas.length, carga.eventos.length];
  return () => {
    const of = (...statuses: readonly number[]) => carga.tentativas().filter(({ status }) => statuses.includes(status));
    const told = isBrokenTold ? of(BROKEN, ...REFUSED) : of(...REFUSED);
    return {
      nome,
      notas: carga.notas.length - notas,
      eventos: carga.eventos.length - eventos,
      recusados: of(...REFUSED).length,
      rompidos: of(BROKEN).length,
      atéDizer: Math.max(0, ...told.map(({ began, ended }) => ended - began)),
    };
  };
}

/**
 * A table in Markdown, a line for each victim. Counts are summed; of times, in milliseconds, it shows the median and the worst. `timed`:
 * fields of a round, each with its column title.
 */
export function tellFigures(
  t: TestContext,
  rodadas: readonly { readonly nome: string }[],
  timed: Readonly<Record<string, string>>,
): void {
  const heads = [...Object.values(COUNTED), ...Object.values(timed)];
  t.diagnostic(`| vítima | rodadas | ${heads.join(' | ')} |`);
  t.diagnostic(`| --- | ---: ${heads.map(() => '| ---: ').join('')}|`);
  for (const [nome, all] of Map.groupBy(rodadas, ({ nome }) => nome)) {
    const figures = (name: string): readonly number[] =>
      all.map((one) => Number((one as Readonly<Record<string, unknown>>)[name]));
    const counts = Object.keys(COUNTED).map((name) => figures(name).reduce((total, one) => total + one, 0));
    const times = Object.keys(timed).map((name) => middleAndWorst(figures(name)));
    t.diagnostic(`| ${[nome, all.length, ...counts, ...times].join(' | ')} |`);
  }
}

/** Seconds, in Portuguese notation. */
function middleAndWorst(ms: readonly number[]): string {
  const sorted = ms.toSorted((a, b) => a - b);
  return [sorted[Math.floor(sorted.length / 2)]!, sorted.at(-1)!]
    .map((one) => (one / 1_000).toFixed(2).replace('.', ','))
    .join(' / ');
}
