/** Counts calls of a function of a running service without a change to them. A test that needs one more poll waits for its call. */
import { untilTrue } from './until.ts';

/** Waits for so many calls, counted from then on. */
export function countCalls<Of extends object>(of: Of, name: keyof Of & string): (times: number) => Promise<void> {
  const real = of[name] as (...asked: unknown[]) => unknown;
  let count = 0;
  const counted = (...asked: unknown[]): unknown => {
    count += 1;
    return real.apply(of, asked);
  };
  of[name] = counted as Of[typeof name];
  return (times) => {
    const wanted = count + times;
    return untilTrue(() => count >= wanted, `${times} calls of ${name}`);
  };
}
