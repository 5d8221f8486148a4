/** An error in transit between threads or processes: copied as an error it would lose all but its message. */

/** An error with its own properties. */
export type Failure = { readonly message: string; readonly about: Readonly<Record<string, unknown>> };

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error), about: {} };
  const own = Object.entries(error).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  return { message: error.message, about: { ...Object.fromEntries(own), name: error.name, stack: error.stack } };
}

export function errorOf({ message, about }: Failure): Error {
  return Object.assign(new Error(message), about);
}
