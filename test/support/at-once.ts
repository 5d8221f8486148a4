/**
 * Runs the same work for many items, several at once, where order does not matter. This saves the wait for one round trip after another.
 */
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
