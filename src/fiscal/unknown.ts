/**
 * A document with unknown values, because their text is wrong or missing. A question that reads none of them is answered as usual; one that
 * reads them has no answer (D-720). A completely read document never comes here.
 */

/** Stands in the place of an unknown field or group. */
export const UNKNOWN = Symbol('unknown');

/** Stands in the place of a field whose wrong text has one correction. */
class Corrected {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** The value that a wrong text is corrected to. */
export function correctedTo(value: unknown): unknown {
  return new Corrected(value);
}

/** Thrown when an unknown value is read. The one instance is shared, so that no stack trace is captured. */
const NOT_KNOWN = new Error('Something was read that is not known.');

/** The answer to a question; undefined if it reads an unknown value. */
export function answerOf<Answer>(question: () => Answer): { readonly answer: Answer } | undefined {
  try {
    return { answer: question() };
  } catch (error) {
    if (isNotKnown(error)) return undefined;
    throw error;
  }
}

/** Whether a thrown error means an unknown value. */
export function isNotKnown(error: unknown): boolean {
  return error === NOT_KNOWN;
}

export type Watched<Value> = {
  readonly value: Value;
  /** Whether a corrected text was read since the last call. */
  readonly readCorrected: () => boolean;
};

/** A document with marks, in which no unknown value can be read. */
export function watch<Value extends object>(marked: Value): Watched<Value> {
  let wasCorrected = false;
  const seen = new WeakMap<object, object>();
  const look = (value: unknown): unknown => {
    if (value === UNKNOWN) throw NOT_KNOWN;
    if (value instanceof Corrected) {
      wasCorrected = true;
      return value.value;
    }
    return isPlain(value) ? seen.getOrInsertComputed(value, guard) : value;
  };
  const guard = (group: object): object =>
    new Proxy(group, {
      get: (target, name) =>
        Object.hasOwn(target, name) ? look(Reflect.get(target, name)) : Reflect.get(target, name),
      has: (target, name) => {
        if (Reflect.get(target, name) === UNKNOWN) throw NOT_KNOWN;
        return Reflect.has(target, name);
      },
      ownKeys: (target) => {
        if (Object.values(target).includes(UNKNOWN)) throw NOT_KNOWN;
        return Reflect.ownKeys(target);
      },
    });
  return {
    value: guard(marked) as Value,
    readCorrected: () => {
      const was = wasCorrected;
      wasCorrected = false;
      return was;
    },
  };
}

/** Groups and lists, the parts of a document. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

/** An object of which only a part is known. It must not be the result of a promise, which would read its `then`. */
export function knownPart<Value extends object>(known: Partial<Value>): Value {
  return new Proxy(known, {
    get: (target, name) => {
      if (!Object.hasOwn(target, name)) throw NOT_KNOWN;
      return Reflect.get(target, name);
    },
  }) as Value;
}

type Group = Record<string, unknown>;

/** Marks an absent place below `root` as unknown. `path`: steps below it, `toma/end`, `docDedRed[2]/nDR`. */
export function forget(root: object, path: string): void {
  let group = root as Group;
  for (const step of path.split('/')) {
    const [, name = '', place] = /^([^[]*)(?:\[(\d+)\])?$/.exec(step) ?? [];
    // An empty text stands for a value of another kind.
    if (group[name] === '') group[name] = UNKNOWN;
    group[name] ??= UNKNOWN;
    const value = group[name];
    const next = place !== undefined && Array.isArray(value) ? value[Number(place) - 1] : value;
    // The meant member of a list is unknown.
    if (Array.isArray(next)) group[name] = UNKNOWN;
    if (!isGroup(next)) return;
    group = next;
  }
}

/** The same for a place whose content may stand elsewhere: a group there is unknown too. */
export function forgetWhole(root: object, path: string): void {
  forget(root, path);
  const steps = path.split('/');
  const last = steps.pop()!;
  let group = root as Group;
  for (const step of steps) {
    const next = group[step];
    if (!isGroup(next)) return;
    group = next;
  }
  if (isGroup(group[last])) group[last] = UNKNOWN;
}

function isGroup(value: unknown): value is Group {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Corrected);
}
