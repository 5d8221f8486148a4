/**
 * Pauses by the clock of the machine that nothing is waited for with: of a client between two requests, of a server that is slow, of an
 * outage. A test that needs something to have happened waits for it (`until.ts`).
 */
export { setTimeout as pace } from 'node:timers/promises';
