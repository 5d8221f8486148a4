/** What a call gives; undefined where it throws, whatever it throws. For calls into the platform with bytes from outside. */
export function attempt<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
