/** State and counts of the door, and its knowledge about one request. */

import type { Municipio } from '../book/municipios.ts';
import type { Presented } from '../world/caller.ts';
import type { Waits } from '../world/esperar.ts';
import type { Sala } from '../world/lugares.ts';
import { findMunicipio as municipioBySlug } from '../world/municipios.ts';
import type { StoreTrouble } from '../world/store-trouble.ts';
import type { World } from '../world/world.ts';
import { ASIDE_BYTES, type Aside } from './aside.ts';
import type { Buckets, KEYS_MAX } from './buckets.ts';
import { type CertificateHeader, certificateIn, siteIn, tokenIn } from './caller.ts';
import type { TlsKeys } from './http.ts';
import type { HttpAnswer, HttpRequest } from './message.ts';
import type { Misses } from './misses.ts';
import type { Quotas } from './quotas.ts';
import type { CallWaits, Registro } from './route.ts';
import type { HttpRoute } from './router.ts';

export type RestDoorOptions = {
  /** Public address of the service; undefined: the caller's Host header determines it. */
  readonly baseUrl?: string | undefined;
  /** Address for reports of security flaws; undefined: the operator names none. */
  readonly securityContact?: string | undefined;
  /** One proxy is in front, and its X-Forwarded-* headers are trusted. */
  readonly trustProxy: boolean;
  /** Certificate and key in PEM; absent: plain HTTP. */
  readonly tls?: TlsKeys | undefined;
  /** Absent: a certificate can only come with the connection itself. */
  readonly certificateHeader?: CertificateHeader | undefined;
  /** Whether each request gets a line in the log. */
  readonly accessLog: boolean;
  /** Answers requests with large bodies in another thread; absent: this thread answers them. */
  readonly aside?: Aside | undefined;
  /** Number of processes that answer at this address; absent: this one. */
  readonly processes?: number;
  /** Counts that are kept elsewhere. Absent: this process counts quotas, and all processes on one database share misses and looks. */
  readonly buckets?: Partial<Record<keyof typeof KEYS_MAX, Buckets>>;
};

export type Door = {
  readonly world: World;
  readonly options: RestDoorOptions;
  readonly misses: Misses;
  /** The trouble that prevents writing to the database; undefined: none. */
  readonly storeTrouble: () => Promise<StoreTrouble | undefined>;
  /** The municipalities whose files are missing on this machine. */
  readonly lacking: () => Promise<readonly string[]>;
  readonly quotas: Quotas;
  readonly waits: Readonly<Record<keyof CallWaits, Waits>>;
  /** The municipalities as last read, so that an error can name the municipality. */
  readonly lastKnown: Map<string, Municipio>;
  address: string;
  /** Routes of the municipalities, for a page that sends a request of its own. */
  municipioRoutes: readonly HttpRoute[];
  /** Requests of flows in progress. */
  readonly underWay: Sala;
  closing: boolean;
};

export type Visit = {
  readonly request: HttpRequest;
  /** Pattern of the path, never the path itself, since keys and protocol numbers give access. */
  readonly route: string | undefined;
  municipio: Municipio | undefined;
  /** The result for the log line: error codes, and numbers of notes and events. */
  registro?: Registro & { readonly erro?: string };
};

/** The code that answers a visit. */
export type Work = (visit: Visit) => Promise<HttpAnswer> | HttpAnswer;
/** Makes the answer of an address outside any municipality. */
export type Answer = (door: Door, visit: Visit) => ReturnType<Work>;

/** The form of a slug in the table of municipalities. Any other text is not looked up. */
const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Throws if the store does. */
export async function findMunicipio(door: Door, visit: Visit, slug: string): Promise<Municipio | undefined> {
  if (!SLUG.test(slug)) return undefined;
  visit.municipio = door.lastKnown.get(slug);
  visit.municipio = await municipioBySlug(door.world, slug);
  if (visit.municipio === undefined) door.lastKnown.delete(slug);
  else door.lastKnown.set(slug, visit.municipio);
  return visit.municipio;
}

/** Address of the service as the caller knows it. */
export function siteOf({ options, address }: Door, request: HttpRequest): string {
  return options.baseUrl ?? siteIn(request, options.trustProxy) ?? address;
}

/** Proof of identity of a request: a token, which takes precedence over the certificate of the connection. */
export function presentedIn({ options }: Door, request: HttpRequest): Presented {
  return tokenIn(request) ?? certificateIn(request, options.certificateHeader, options.tls !== undefined);
}

export function queryOf(request: HttpRequest): URLSearchParams {
  return new URLSearchParams(searchOf(request));
}

/** The query of a request as it was sent, with its question mark, or empty. */
export function searchOf({ url }: HttpRequest): string {
  const place = url.indexOf('?');
  return place < 0 ? '' : url.slice(place);
}

/** The thread for a request whose body asks for this many bytes of work, if another one answers it. */
export function asideOf({ options }: Door, bytes: number): Aside | undefined {
  return bytes > ASIDE_BYTES ? options.aside : undefined;
}

/** Seconds after which a request that found no place may be repeated. */
export const CROWD_WAIT_S = 1;
export const CROWDED_SERVICE = 'Há requisições demais em andamento.';
export const CROWDED_BODIES = 'Há corpos demais chegando ao mesmo tempo, e este não chegou a tempo.';
export const CROWDED_QUESTIONS = 'Há consultas demais em andamento deste endereço de rede.';

/** Does work in one of the places of the door; undefined: all are taken. */
export async function workInPlace<Result>(
  { underWay }: Door,
  { ambiente }: Pick<Municipio, 'ambiente'>,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  if (!underWay.enter(ambiente)) return undefined;
  try {
    return await work();
  } finally {
    underWay.leave(ambiente);
  }
}
