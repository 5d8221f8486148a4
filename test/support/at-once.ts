/** The same for each of many, some at once: their order does not matter, and nobody waits for one round trip after another. */
const AT_ONCE = 8;

export async function atOnce<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
  lanes = AT_ONCE,
): Promise<void> {
  const left = [...items];
  const lane = async (): Promise<void> => {
    while (left.length > 0) await work(left.shift()!);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
