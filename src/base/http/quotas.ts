/**
 * Limits of a network address and of a provider in a municipality (D-263): those of its ambiente, or its own. Answers state the remaining
 * amounts in the RateLimit fields of draft-ietf-httpapi-ratelimit-headers-11. Counting costs two look-ups in a table.
 */
import { AMBIENTES, BYTES_POR_DOCUMENTO } from '../../fiscal/ambiente.ts';
import type { Municipio } from '../book/municipios.ts';
import type { Refused as RefusedByFlow } from '../world/idempotency.ts';
import type { Quota } from '../world/quota.ts';
import { networksOf } from '../world/redes.ts';
import type { Buckets, Measure } from './buckets.ts';
import { type Estado, joinLimits, writeLimits } from './rate-limit.ts';

/** The form of a CNPJ or a CPF. Any other text gets no bucket, because its document is refused anyway. */
const DOCUMENTO = /^[0-9A-Z]{11,14}$/;

export const ESCOPOS = {
  endereco: 'deste endereço de rede',
  rede: 'deste bloco de endereços IPv6 (/48)',
  prestador: 'deste prestador',
} as const;

type Escopo = keyof typeof ESCOPOS;

export type RequestQuota = Omit<Quota, 'enter'> & {
  enter(documentos?: number): Promise<RefusedByFlow | undefined>;
  /** Sets the length of the body, by which a document may count as more than one. */
  measure(bytes: number): void;
  /** The refusal if the address has nothing left: the body need not be read. */
  isSpent(): RefusedByFlow | undefined;
  /** The limit that refused, and the seconds until it no longer does; undefined: none refused. */
  refused: { readonly escopo: Escopo; readonly waitS: number } | undefined;
  /** Whether this refusal for excess is stored for the owner of a personal sandbox, within a limit. */
  keepsExcess(): Promise<boolean>;
  headers(): Readonly<Record<string, string>>;
};

/** Adds headers to an answer: the remaining amounts and, after a refusal, the time of the next attempt. */
export function addLimits<Made extends object>(quota: RequestQuota | undefined, made: Made): Made {
  if (quota === undefined) return made;
  const { refused } = quota;
  const later = refused === undefined ? {} : { 'Retry-After': String(refused.waitS) };
  const { headers } = made as { readonly headers?: Readonly<Record<string, string>> };
  return { ...made, headers: { ...joinLimits(headers, quota.headers()), ...later } };
}

/** `weight`: cost of one document of the request. */
export type Quotas = { of(municipio: Municipio, address: string, weight?: number): RequestQuota };

export function openQuotas(buckets: Buckets): Quotas {
  return { of: (municipio, address, weight = 1) => quotaOf(buckets, municipio, address, weight) };
}

/** Refusals for excess that are stored for a network address, over all personal sandboxes, in a window of its limits. */
export const EXCESS_KEPT = 100;

/** The common key of all personal sandboxes; no municipality has this name. */
const OWN_SANDBOXES = 'ensaio-*';

/** A bucket by its key, and its measure. */
type Counted = { readonly escopo: Escopo; readonly key: string; readonly measure: Measure };

function quotaOf(buckets: Buckets, municipio: Municipio, address: string, weight: number): RequestQuota {
  const { tenant, ambiente } = municipio;
  const { limites, signatureRefuses } = AMBIENTES[ambiente];
  const refillMs = limites.janelaS * 1_000;
  // A client with many sandboxes may send no more to all of them than to one (D-263).
  const place = municipio.ensaioAte === undefined ? tenant : OWN_SANDBOXES;
  const networks = networksOf(address);
  const ofAddress: Counted[] = [];
  let ofPrestador: Counted[] = [];
  let bytes = 0;
  /** Documents of this request that were counted for its address. */
  let entered = 0;

  const count = (escopo: Escopo, who: string, size: number): Counted[] => {
    const key = `${escopo === 'prestador' ? tenant : place} ${escopo} ${who}`;
    return size > 0 ? [{ escopo, key, measure: { size, refillMs } }] : [];
  };
  const refuse = ({ escopo, measure }: Counted, waitMs: number): RefusedByFlow => {
    const waitS = Math.max(1, Math.ceil(waitMs / 1_000));
    quota.refused = { escopo, waitS };
    return refuseTooMuch(municipio, escopo, measure.size, waitS);
  };
  /** Takes from all buckets or from none. A cost above a whole measure is that measure. `before`: the part that was taken already. */
  const take = async (counted: readonly Counted[], cost: number, before = 0): Promise<RefusedByFlow | undefined> => {
    const wanted = counted.map(({ key, measure }) => ({
      key,
      measure,
      cost: Math.min(cost, measure.size) - Math.min(before, measure.size),
    }));
    const short = await buckets.take(wanted);
    if (short === undefined) return undefined;
    const one = counted[short.place]!;
    const { size } = one.measure;
    // A repeated request is counted from its first document.
    return refuse(one, short.waitMs + (Math.min(before, size) * refillMs) / size);
  };
  const takeOne = async (what: string, size: number): Promise<boolean> => {
    const wanted = networks.map(({ name, times }) => ({
      key: `${place} ${what} ${name}`,
      measure: { size: size * times, refillMs },
      cost: 1,
    }));
    return (await buckets.take(wanted)) === undefined;
  };

  for (const { name, times } of networks) {
    const size = times * (municipio.limiteEndereco ?? limites.endereco);
    ofAddress.push(...count(times === 1 ? 'endereco' : 'rede', name, size));
  }
  const quota: RequestQuota = {
    refused: undefined,
    isSpent: () => {
      for (const one of ofAddress) {
        const { size } = one.measure;
        const cost = Math.min(weight, size);
        const left = buckets.left(one.key, one.measure);
        if (left < cost) return refuse(one, ((cost - left) * refillMs) / size);
      }
      return undefined;
    },
    measure: (length) => {
      bytes = length;
    },
    enter: async (documentos = 1) => {
      const cost = Math.max(entered, weight * costOf(documentos, bytes));
      const spent = await take(ofAddress, cost, entered);
      if (spent === undefined) entered = cost;
      return spent;
    },
    take: (prestador, documentos = 1) => {
      if (prestador !== undefined && DOCUMENTO.test(prestador))
        ofPrestador = count('prestador', prestador, municipio.limitePrestador ?? limites.prestador);
      return take(ofPrestador, costOf(documentos, bytes));
    },
    keepsRefusal: async () => {
      if (signatureRefuses || limites.recusas === undefined || municipio.limiteEndereco === 0) return true;
      return takeOne('recusas', limites.recusas);
    },
    keepsExcess: () => takeOne('excessos', EXCESS_KEPT),
    headers: () => {
      const all = [...ofAddress, ...ofPrestador];
      const short = all.filter(({ escopo }) => escopo === quota.refused?.escopo);
      return writeLimits([...new Set([...short, ...all])].map((one) => stateOf(buckets, one)));
    },
  };
  return quota;
}

/** Cost in documents. */
function costOf(documentos: number, bytes: number): number {
  return Math.max(documentos, Math.ceil(bytes / BYTES_POR_DOCUMENTO));
}

/** `size`: of the exhausted measure. */
export function refuseTooMuch({ ambiente }: Pick<Municipio, 'ambiente'>, escopo: Escopo, size: number, waitS: number) {
  const janela = AMBIENTES[ambiente].limites.janelaS === 60 ? 'minuto' : 'dia';
  const mensagem = `Vieram documentos demais ${ESCOPOS[escopo]}: o limite é de ${size} por ${janela}, um documento conta como um a cada ${BYTES_POR_DOCUMENTO / 1024} KiB, e uma validação sem emitir como um décimo. Nada foi feito. Envie de novo em ${waitS} s. Os limites estão em /docs/limites.`;
  return { faults: [{ codigo: 'E703', xpath: '', mensagem }], status: 429, esperaS: waitS } as const;
}

/** It is restored when the bucket is full again. */
function stateOf(buckets: Buckets, { escopo, key, measure: { size, refillMs } }: Counted): Estado {
  const left = buckets.left(key, { size, refillMs });
  const voltaS = Math.ceil(((size - left) * refillMs) / size / 1_000);
  return { nome: escopo, max: size, janelaS: refillMs / 1_000, resta: Math.floor(left), voltaS };
}
