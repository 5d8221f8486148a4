/**
 * Real-time pauses that do not wait for a condition: of a client between two requests, of a slow server, of an outage. A test that needs a
 * condition waits for it (`until.ts`).
 */
export { setTimeout as pace } from 'node:timers/promises';
