/**
 * What a listener says to who watches: `/metrics`, `/health/live`, `/health/detalhe`. Programs ask, so there is no session; who may is told by
 * where the request comes from. Its port is for nothing else, so that no proxy has a reason to relay it. Everybody else gets a 404.
 */
import { type BlockList, isIP } from 'node:net';
import { type HttpServer, listenHttp, type TlsKeys } from '../../base/http/http.ts';
import type { HttpAnswer, HttpRequest } from '../../base/http/message.ts';
import type { HttpRoute } from '../../base/http/router.ts';
import { METRICS_TYPE, writeSnapshot } from '../../base/measures/counters.ts';
import { bareAddress } from '../../base/world/redes.ts';
import type { SaudeReader } from './saude.ts';

export type VigiaOptions = {
  /** Which program this is; without a commit where nobody knows it. */
  readonly programa: { readonly versao: string; readonly commit: string | undefined };
  readonly saude: SaudeReader;
  /** Networks from which the service is watched, besides this machine. */
  readonly redes: BlockList | undefined;
  /** By which name people open the console; a request for that name came through the proxy of the console. */
  readonly origin: string;
};

const NO_STORE = { 'Cache-Control': 'no-store' };
const JSON_TYPE = 'application/json; charset=utf-8';

type Told = { readonly type: string; readonly body: string };

const ADDRESSES: Readonly<Record<string, (options: VigiaOptions) => Promise<Told>>> = {
  '/metrics': async ({ saude }) => ({ type: METRICS_TYPE, body: await writeSnapshot(await saude.read()) }),
  '/health/live': async ({ programa }) => ({ type: JSON_TYPE, body: JSON.stringify({ status: 'OK', ...programa }) }),
  '/health/detalhe': async ({ saude }) => ({ type: JSON_TYPE, body: JSON.stringify(await saude.judge()) }),
};

function vigiaRoutes(options: VigiaOptions): readonly HttpRoute[] {
  return Object.entries(ADDRESSES).map(([path, tell]) => ({
    method: 'GET',
    path,
    handle: async (request) => {
      if (!mayWatch(request, options)) return NOTHING;
      const { type, body } = await tell(options);
      return { status: 200, headers: { ...NO_STORE, 'Content-Type': type }, body };
    },
  }));
}

/** Who watches is a few programs. */
const CONNECTIONS_MAX = 50;
const NOTHING: HttpAnswer = {
  status: 404,
  headers: { ...NO_STORE, 'Content-Type': 'text/plain; charset=utf-8' },
  body: 'Não há nada neste endereço.\n',
};

/** A listener for who watches alone. Throws the error of the system where it cannot listen. */
export function openVigiaListener({
  host,
  port,
  tls,
  ...options
}: VigiaOptions & {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsKeys | undefined;
}): Promise<HttpServer> {
  const routes = vigiaRoutes(options);
  return listenHttp({ host, port, tls, routes, connectionsMax: CONNECTIONS_MAX, onTrouble: async () => NOTHING });
}

/** Headers by which a proxy says for whom it asks. */
const FORWARDED = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via'];

/**
 * A program of this machine, by a name of this machine, or one of the networks named; never somebody for whom a proxy asks. The name keeps out a
 * page in a browser here that has its own name lead to this machine.
 */
function mayWatch({ remoteAddress, headers }: HttpRequest, { redes, origin }: VigiaOptions): boolean {
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false;
  const host = headers.host ?? '';
  const address = bareAddress(remoteAddress.replace(/%.*$/s, ''));
  const family = isIP(address);
  const isHere = address === '::1' || /^127\./.test(address);
  if (isHere && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host)) return true;
  if (redes === undefined || family === 0 || !redes.check(address, family === 6 ? 'ipv6' : 'ipv4')) return false;
  return host.toLowerCase() !== new URL(origin).host;
}
