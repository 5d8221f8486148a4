/** Statuses in the contract of the national API. */

/** Refusals of a document have one status there; programs read the messages of no other. */
export function statusNacional(status: number, method: string): number {
  return method === 'POST' && OF_DOCUMENT.has(status) ? 400 : status;
}

const OF_DOCUMENT: ReadonlySet<number> = new Set([401, 403, 409, 410, 415, 422]);
