/** The result of a call; undefined when it throws anything. Its callers pass bytes from outside to the platform. */
export function attempt<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
