/** Requests of an integrator under an `Idempotency-Key`. */
import { ask } from './http.ts';

const TYPES = { xml: 'application/xml', json: 'application/json' } as const;

export type Told = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at the answer field by field
  readonly body: any;
  readonly isRepeated: boolean;
};

type Sending = {
  readonly key?: string;
  readonly tenant?: string;
  readonly type?: string;
  /** The path below `api/v1`. */
  readonly to?: string;
  /** Additional headers. */
  readonly more?: Readonly<Record<string, string>>;
};

export async function send(
  address: string,
  body: string,
  { key, tenant, type, to, more }: Sending = {},
): Promise<Told> {
  const answer = await ask(`${address}/${tenant ?? 'integracao'}/api/v1/${to ?? 'nfse/v101'}`, {
    method: 'POST',
    headers: {
      'Content-Type': type ?? (body.startsWith('{') ? TYPES.json : TYPES.xml),
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
      ...more,
    },
    body,
  });
  const isRepeated = answer.headers.get('x-nfse-repetida') === 'true';
  return { ...answer, body: JSON.parse(answer.text), isRepeated };
}
