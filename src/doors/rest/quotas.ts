/**
 * How much an address of the network and a provider may send to a municipality (D-263): the measures of its ambiente, or its own. Told as
 * the RateLimit fields of the IETF draft (draft-ietf-httpapi-ratelimit-headers-11, RFC 9651 for their form). Nothing here waits or asks
 * anybody: what it costs is two look-ups in a table.
 */
import { AMBIENTES, BYTES_POR_DOCUMENTO } from '../../fiscal/ambiente.ts';
import type { Refused as RefusedByFlow } from '../../flows/idempotency.ts';
import type { Municipio } from '../../flows/queries.ts';
import type { Quota } from '../../flows/quota.ts';
import { type Buckets, type Measure, networkOf, openBuckets } from './buckets.ts';

/** About 10 MiB; when there are more, who sent longest ago is forgotten. */
const KEYS_MAX = 50_000;

/** Of a CNPJ or a CPF; any other text is refused as one, and is not remembered. */
const DOCUMENTO = /^[0-9A-Z]{11,14}$/;

export const RATE_LIMIT_HEADERS = ['RateLimit-Policy', 'RateLimit'] as const;

const ESCOPOS = {
  endereco: 'deste endereço de rede',
  prestador: 'deste prestador',
} as const;

type Escopo = keyof typeof ESCOPOS;

export type RequestQuota = Quota & {
  /** Counts the request itself against its address. A refusal: not now. `bytes`: of its body. */
  enter(bytes: number): RefusedByFlow | undefined;
  /** Says how long the body is, where what the request does is not known yet. */
  count(bytes: number): void;
  /** Whether the address has nothing left, so that the body need not be read. */
  isSpent(): RefusedByFlow | undefined;
  /** Seconds until what was refused would be taken; undefined: nothing was. */
  readonly waitS: number | undefined;
  headers(): Readonly<Record<string, string>>;
};

/** What came of a request, with what is left told in it and, where a limit refused it, when to come again. */
export function withLimits<Made extends object>(quota: RequestQuota | undefined, made: Made): Made {
  if (quota === undefined) return made;
  const { waitS } = quota;
  const later = waitS === undefined ? {} : { 'Retry-After': String(waitS) };
  const { headers } = made as { readonly headers?: Readonly<Record<string, string>> };
  return { ...made, headers: { ...headers, ...later, ...quota.headers() } };
}

export type Quotas = { of(municipio: Municipio, address: string): RequestQuota };

/** `now`: milliseconds of a clock that only goes forward. */
export function openQuotas(now: () => number): Quotas {
  const buckets = openBuckets(now, KEYS_MAX);
  return { of: (municipio, address) => quotaOf(buckets, municipio, address) };
}

/** What may be sent, and of whom it is counted. */
type Counted = { readonly key: string; readonly measure: Measure };

function quotaOf(buckets: Buckets, municipio: Municipio, address: string): RequestQuota {
  const { tenant, ambiente } = municipio;
  const { limites, signatureRefuses } = AMBIENTES[ambiente];
  const refillMs = limites.janelaS * 1_000;
  const client = networkOf(address);
  const counted: Partial<Record<Escopo, Counted>> = {};
  let bytes = 0;
  /** Documents of this request that its address was counted for. */
  let entered = 0;
  let waitS: number | undefined;

  const count = (escopo: Escopo, who: string, size: number): void => {
    if (size > 0) counted[escopo] = { key: `${tenant} ${escopo} ${who}`, measure: { size, refillMs } };
  };
  const refuse = (escopo: Escopo, waitMs: number): RefusedByFlow => {
    waitS = Math.max(1, Math.ceil(waitMs / 1_000));
    return tooMuch(municipio, escopo, counted[escopo]!.measure.size, waitS);
  };
  /** What is larger than the whole measure is taken when that is full. */
  const take = (escopo: Escopo, cost: number): RefusedByFlow | undefined => {
    const one = counted[escopo];
    if (one === undefined || cost <= 0) return undefined;
    const waitMs = buckets.take(one.key, one.measure, Math.min(cost, one.measure.size));
    return waitMs > 0 ? refuse(escopo, waitMs) : undefined;
  };

  count('endereco', client, municipio.limiteEndereco ?? limites.endereco);
  return {
    isSpent: () => {
      const { key, measure } = counted.endereco ?? {};
      if (key === undefined || measure === undefined) return undefined;
      const left = buckets.left(key, measure);
      return left < 1 ? refuse('endereco', ((1 - left) * measure.refillMs) / measure.size) : undefined;
    },
    count: (length) => {
      bytes = length;
    },
    enter: (length) => {
      bytes = length;
      entered = costOf(1, bytes);
      return take('endereco', entered);
    },
    take: (prestador, more = 0) => {
      const ofAddress = take('endereco', costOf(1 + more, bytes) - entered);
      if (ofAddress !== undefined) return ofAddress;
      if (prestador !== undefined && DOCUMENTO.test(prestador))
        count('prestador', prestador, municipio.limitePrestador ?? limites.prestador);
      return take('prestador', costOf(1 + more, bytes));
    },
    keepsRefusal: () => {
      if (signatureRefuses || limites.recusas === undefined || municipio.limiteEndereco === 0) return true;
      return buckets.take(`${tenant} recusas ${client}`, { size: limites.recusas, refillMs }, 1) === 0;
    },
    get waitS() {
      return waitS;
    },
    headers: () => headersOf(buckets, counted),
  };
}

/** In documents. */
function costOf(documentos: number, bytes: number): number {
  return Math.max(documentos, Math.ceil(bytes / BYTES_POR_DOCUMENTO));
}

/** `size`: of the measure that is spent. */
export function tooMuch({ ambiente }: Pick<Municipio, 'ambiente'>, escopo: Escopo, size: number, waitS: number) {
  const janela = AMBIENTES[ambiente].limites.janelaS === 60 ? 'minuto' : 'dia';
  const mensagem = `Vieram documentos demais ${ESCOPOS[escopo]}: o limite é de ${size} por ${janela}, e um documento conta como um a cada ${BYTES_POR_DOCUMENTO / 1024} KiB. Nada foi feito. Envie de novo em ${waitS} s. Os limites estão em /docs/limites.`;
  return { faults: [{ codigo: 'E703', xpath: '', mensagem }], status: 429 } as const;
}

/** `t`: seconds until all of it is there again. */
function headersOf(buckets: Buckets, counted: Partial<Record<Escopo, Counted>>): Readonly<Record<string, string>> {
  const policies: string[] = [];
  const limits: string[] = [];
  for (const [escopo, { key, measure }] of Object.entries(counted)) {
    const { size, refillMs } = measure;
    const left = buckets.left(key, measure);
    policies.push(`"${escopo}";q=${size};w=${refillMs / 1_000}`);
    limits.push(`"${escopo}";r=${Math.floor(left)};t=${Math.ceil(((size - left) * refillMs) / size / 1_000)}`);
  }
  if (policies.length === 0) return {};
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: limits.join(', ') };
}
