/** Seeded random numbers: the same draws on every machine, and enough of them. */

export type Chance = {
  /** A whole number from 0 to `end`, exclusive. */
  below(end: number): number;
  /** True with this probability. */
  is(share: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
  /** One of the names, with a probability in proportion to its weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
  shuffled<Value>(values: readonly Value[]): readonly Value[];
  digits(count: number): string;
};

/** Tommy Ettinger's mulberry32. */
export function chanceOf(seed: number): Chance {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    is: (share) => next() < share,
    pick: (values) => values[below(values.length)]!,
    weighted: (weights) => {
      const entries = Object.entries(weights) as [keyof typeof weights & string, number][];
      let rest = next() * entries.reduce((total, [, weight]) => total + weight, 0);
      for (const [name, weight] of entries) {
        rest -= weight;
        if (rest < 0) return name as never;
      }
      return entries.at(-1)![0] as never;
    },
    shuffled: (values) => {
      const order = [...values];
      for (let place = order.length - 1; place > 0; place -= 1) {
        const other = below(place + 1);
        [order[place], order[other]] = [order[other]!, order[place]!];
      }
      return order;
    },
    digits: (count) => Array.from({ length: count }, () => String(below(10))).join(''),
  };
}
