/** The REST door: the listener, with the routes of the municipalities, of the legacy port and of the service itself. */

import { attend, refuse } from '../../base/http/attend.ts';
import { KEYS_MAX, openBuckets } from '../../base/http/buckets.ts';
import { answerHanded, CONNECTIONS_MAX, type HandedHttp, type HttpOptions, listenHttp } from '../../base/http/http.ts';
import type { Place } from '../../base/http/listen.ts';
import type { HttpAnswer, HttpRequest, Trouble } from '../../base/http/message.ts';
import { countMisses } from '../../base/http/misses.ts';
import { findNearPaths } from '../../base/http/near-paths.ts';
import { openQuotas } from '../../base/http/quotas.ts';
import { refuseTrouble, refuseUnknownMunicipio } from '../../base/http/refusals.ts';
import { copyBuckets } from '../../base/http/shared-buckets.ts';
import { type Door, findMunicipio, type RestDoorOptions, type Visit } from '../../base/http/visit.ts';
import { countTogether } from '../../base/world/contagens.ts';
import { SALAS, Sala } from '../../base/world/lugares.ts';
import { askStore, type StoreTrouble, troubleOfStore } from '../../base/world/store-trouble.ts';
import type { World } from '../../base/world/world.ts';
import { openWaits } from '../../subjects/avisos/mudancas.ts';
import { ensaioRoutes } from '../../subjects/ensaios/paginas.rest.ts';
import { rememberLacking } from '../../subjects/municipios/conferir-arquivos.ts';
import { answerLost } from '../../subjects/notas/consulta.rest.ts';
import { pageRoutes } from '../../subjects/notas/paginas.rest.ts';
import { soapRoutes } from '../soap/routes.ts';
import { municipioRoutes } from './municipio-routes.ts';
import { addHeaders, headersOfPath } from './path-headers.ts';
import { ROUTES } from './routes.ts';
import { siteRoutes } from './site-routes.ts';

export type { RestDoorOptions } from '../../base/http/visit.ts';

export type RestDoor = {
  readonly address: string;
  /** Reports at once that the door is not ready. It accepts no more requests after `drainMs` milliseconds, and ends those in progress. */
  close(drainMs?: number): Promise<void>;
};

/** Opens a door with its own listener. */
export async function createRestDoor(world: World, options: RestDoorOptions & Place): Promise<RestDoor> {
  const { door, http } = openDoor(world, options);
  const { host, port, socket } = options;
  const server = await listenHttp({ ...http, host, port, socket });
  door.address = server.address;
  return {
    address: server.address,
    close: (drainMs) => {
      endWaits(door);
      return server.close(drainMs);
    },
  };
}

/** A waiting request is answered with the data of this moment. */
function endWaits(door: Door): void {
  door.closing = true;
  for (const waits of Object.values(door.waits)) waits.end();
}

/** A door for the connections that a listening process hands over. */
export type HandedDoor = HandedHttp & {
  /** The address of the listening process; the caller sets it before the first connection. */
  setAddress(address: string): void;
  /** Announces the end of the service, and ends each connection with its next answer. */
  drain(): void;
};

export function createHandedDoor(world: World, options: RestDoorOptions): HandedDoor {
  const { door, http } = openDoor(world, options);
  const handed = answerHanded(http);
  return {
    ...handed,
    setAddress: (address) => {
      door.address = address;
    },
    drain: () => {
      endWaits(door);
      handed.begin();
    },
  };
}

function openDoor(world: World, options: RestDoorOptions): { readonly door: Door; readonly http: HttpOptions } {
  const { processes = 1 } = options;
  const now = (): number => performance.now();
  const {
    quotas = openBuckets(now, KEYS_MAX.quotas),
    misses = copyBuckets(openBuckets(now, KEYS_MAX.misses), countTogether(world, 'faltas')),
    looks = copyBuckets(openBuckets(now, KEYS_MAX.looks), countTogether(world, 'buscas')),
  } = options.buckets ?? {};
  const door: Door = {
    world,
    options,
    misses: countMisses(now, { misses, looks }, processes),
    storeTrouble: shareQuestion(() => askStoreInTime(world)),
    lacking: rememberLacking(world),
    quotas: openQuotas(quotas),
    waits: openWaits(world),
    lastKnown: new Map(),
    address: '',
    municipioRoutes: [],
    underWay: new Sala(SALAS.pedidos),
    closing: false,
  };
  door.municipioRoutes = municipioRoutes(door);
  const http: HttpOptions = {
    tls: options.tls,
    routes: [
      ...siteRoutes(door),
      ...pageRoutes(door),
      ...ensaioRoutes(door),
      ...soapRoutes(door),
      ...door.municipioRoutes,
    ],
    onTrouble: async (trouble, request, allow) => {
      const answer = await attend(door, request, undefined, (visit) => answerTrouble(door, visit, trouble, allow));
      return addHeaders(headersOfPath(request), answer);
    },
    connectionsMax: Math.ceil(CONNECTIONS_MAX / processes),
  };
  return { door, http };
}

/** Answers a request that no route takes. The answer below a municipality still carries the municipality's headers. */
async function answerTrouble(
  door: Door,
  visit: Visit,
  trouble: Trouble,
  allow: string | undefined,
): Promise<HttpAnswer> {
  const { request } = visit;
  const slug = firstSegmentOf(request.url);
  const municipio = slug === undefined ? undefined : await findMunicipio(door, visit, slug);
  const isElsewhere = trouble === 'unknown_path' && slug !== undefined && municipio === undefined;
  if (isElsewhere) return answerLost(door, visit, refuseUnknownMunicipio(slug));
  const nearby = municipio === undefined ? [] : findNearby(trouble, request);
  const refused = refuseTrouble(trouble, allow, request.url, nearby);
  return trouble === 'unknown_path' ? answerLost(door, visit, refused) : refuse(door, visit, refused);
}

/** Routes that still serve their purpose. */
const OPEN_ROUTES = ROUTES.filter(({ status }) => status !== 410);

/** Existing addresses close to an unknown one, or the methods of a known one. */
function findNearby(trouble: Trouble, { url, method }: HttpRequest): readonly string[] {
  if (trouble === 'unknown_path') return findNearPaths(url, OPEN_ROUTES);
  if (trouble !== 'method_not_allowed') return [];
  return findNearPaths(
    url,
    OPEN_ROUTES.filter((route) => route.method === method),
  );
}

function firstSegmentOf(url: string): string | undefined {
  const match = /^\/([^/?#]+)/.exec(url);
  if (match === null) return undefined;
  try {
    return decodeURIComponent(match[1]!);
  } catch {
    return match[1];
  }
}

/** A database that takes longer to answer counts as unreachable. */
const PING_MAX_MS = 1_500;

async function askStoreInTime(world: World): Promise<StoreTrouble | undefined> {
  const late = new Promise<StoreTrouble>((resolve) => {
    setTimeout(resolve, PING_MAX_MS, troubleOfStore(undefined)).unref();
  });
  return Promise.race([askStore(world), late]);
}

/** Simultaneous callers share one query, so that database trouble does not multiply the load. */
function shareQuestion<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let asking: Promise<Value> | undefined;
  return () => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}
