/** Calls of a function of a running service, which go on as they are: a test that needs one more look of it waits for its call. */
import { untilTrue } from './until.ts';

/** Waits for as many calls as it is told, counted from then on. */
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
