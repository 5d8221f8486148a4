/** What is refused because too much comes at once, in every door that listens here. */
import type { Door } from './visit.ts';

/** Requests with a flow at once. More would only wait in line for the database, each with its body in memory. */
const UNDER_WAY_MAX = 1_000;

/** When to come again. */
export const CROWD_WAIT_S = 1;
export const CROWDED_SERVICE = 'Há requisições demais em andamento.';
export const CROWDED_BODIES = 'Há corpos demais chegando ao mesmo tempo, e este não chegou a tempo.';
export const CROWDED_QUESTIONS = 'Há consultas demais em andamento deste endereço de rede.';

/** Does a piece of work in one of the places that the door has; undefined: all of them are taken. */
export async function workInPlace<Result>(door: Door, work: () => Promise<Result>): Promise<Result | undefined> {
  if (door.underWay >= UNDER_WAY_MAX) return undefined;
  door.underWay += 1;
  try {
    return await work();
  } finally {
    door.underWay -= 1;
  }
}
