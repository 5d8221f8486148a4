/** Requests that may be repeated under an `Idempotency-Key` (D-19): reading the key, and answering a repetition. */
import type { IncomingHttpHeaders } from 'node:http';
import {
  IDEMPOTENCY_HEADER,
  REPEATED_HEADER,
  type Refused as RefusedByFlow,
  type SentKey,
} from '../world/idempotency.ts';
import type { Misfit } from './content.ts';
import { headerOf } from './content.ts';
import { writeExcess } from './rate-limit.ts';
import type { Call, Refused } from './route.ts';

/** Limit of D-19. A UUID has 36. */
export const KEY_CHARS_MAX = 255;

/** The fault in the header of the key, if any. */
export function keyMisfit(headers: IncomingHttpHeaders): Misfit | undefined {
  const value = headerOf({ headers }, IDEMPOTENCY_HEADER);
  if (value === undefined) return undefined;
  if (value === '') return misfitOfKey('está vazio');
  // Node reads headers as Latin-1; the limit counts the characters that the sender wrote, in UTF-8.
  const text = Buffer.from(value, 'latin1').toString('utf8');
  if (/\p{Cc}/u.test(text)) return misfitOfKey('traz um caractere de controle');
  const { length } = [...text];
  return length > KEY_CHARS_MAX ? misfitOfKey(`tem ${length} caracteres`) : undefined;
}

function misfitOfKey(problem: string): Misfit {
  const mensagem = `O cabeçalho ${IDEMPOTENCY_HEADER} ${problem}. Envie um texto de 1 a ${KEY_CHARS_MAX} caracteres, um para cada requisição e o mesmo em cada repetição dela, como um UUID; ou retire o cabeçalho.`;
  return { fault: { codigo: 'E003', xpath: '', mensagem }, campo: IDEMPOTENCY_HEADER };
}

/** The key of a request, for its flow. `rota`: the path below the municipality, with its values. */
export function readKey({ headers, quota }: Pick<Call, 'headers' | 'quota'>, rota: string): SentKey | undefined {
  const key = headerOf({ headers }, IDEMPOTENCY_HEADER);
  return key === undefined ? undefined : { key, rota, quota };
}

/** The door's refusal for one of a flow with repetitions. */
export function refuseAsFlow({ faults, status, esperaS, cota, em, isRepeated }: RefusedByFlow): Refused {
  const again = esperaS === undefined ? {} : { 'Retry-After': String(esperaS) };
  const excess = esperaS === undefined || cota === undefined ? again : writeExcess(cota, esperaS);
  return { refusal: { faults }, status, em, headers: { ...excess, ...headersOfRepetition({ isRepeated }) } };
}

export function headersOfRepetition(answer: {
  readonly isRepeated?: true | undefined;
}): Readonly<Record<string, string>> {
  return answer.isRepeated ? { [REPEATED_HEADER]: 'true' } : {};
}
