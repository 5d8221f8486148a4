/** A DPS as a request brings it: XML, or JSON with its signature in a header. */
import { SIMULAR_HEADER } from '../../fiscal/simular.ts';
import { DPS_SIGNATURE_HEADER, type SentDps } from '../../flows/sent-dps.ts';
import type { Call } from './answers.ts';
import { mediaTypeOf } from './content.ts';

export function readSentDps({ headers, body, quota }: Pick<Call, 'headers' | 'body' | 'quota'>): SentDps {
  const simular = headerOf({ headers }, SIMULAR_HEADER);
  if (mediaTypeOf(headers) !== 'application/json') return { kind: 'xml', body, simular, quota };
  return { kind: 'json', body, simular, quota, assinatura: headerOf({ headers }, DPS_SIGNATURE_HEADER) };
}

/** A header that should come once, however often it came. */
export function headerOf({ headers }: Pick<Call, 'headers'>, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}
