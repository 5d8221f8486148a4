/**
 * The monitoring listener: `/metrics`, `/health/live`, `/health/detalhe`. Programs ask, so there is no session; the network address of a
 * request decides its access. The port serves nothing else, so that no proxy has a reason to relay it. All other requests get a 404.
 */
import { type BlockList, isIP } from 'node:net';
import { type HttpServer, listenHttp, type TlsKeys } from '../../base/http/http.ts';
import type { HttpAnswer, HttpRequest } from '../../base/http/message.ts';
import type { HttpRoute } from '../../base/http/router.ts';
import { METRICS_TYPE, writeSnapshot } from '../../base/measures/counters.ts';
import { bareAddress } from '../../base/world/redes.ts';
import type { SaudeReader } from './saude.ts';

export type VigiaOptions = {
  /** The version of this program; the commit is absent when it is unknown. */
  readonly programa: { readonly versao: string; readonly commit: string | undefined };
  readonly saude: SaudeReader;
  /** Networks that may watch the service, besides this machine. */
  readonly redes: BlockList | undefined;
  /** The public origin of the console; a request for that name came through the proxy of the console. */
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

/** A few programs alone watch the service. */
const CONNECTIONS_MAX = 50;
const NOTHING: HttpAnswer = {
  status: 404,
  headers: { ...NO_STORE, 'Content-Type': 'text/plain; charset=utf-8' },
  body: 'Não há nada neste endereço.\n',
};

/** A listener for monitoring alone. It throws the error of the system when it cannot listen. */
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

/** Headers by which a proxy names its client. */
const FORWARDED = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via'];

/**
 * Admits a program on this machine, under a name of this machine, or one in the named networks; never the client of a proxy (D-625). The
 * check of the name stops a web page whose own name resolves to this machine (DNS rebinding).
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
