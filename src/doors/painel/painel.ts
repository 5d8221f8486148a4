/** The console of the municipality: its own listener, beside the public one and never behind it. */

import { type HttpServer, listenHttp, type TlsKeys } from '../../base/http/http.ts';
import { ASSET_ROUTES } from '../../base/pages/assets.ts';
import type { PainelSetup, PainelWorld, Row } from '../../base/pages/visit.ts';
import { loadParts, type PartsOf } from '../../subjects/subjects.ts';
import { answerUnknown, type PainelOptions, routesOf } from './attend.ts';

/** Every page of the console. */
export const PAINEL_ROUTES: readonly Row[] = (await loadParts(({ pages }) => pages)).flat();

const TRABALHOS = await loadParts(({ trabalhos }) => trabalhos);

/** A town hall has about as many desks. */
const CONNECTIONS_MAX = 500;

const STATUS = {
  method_not_allowed: 405,
  unknown_path: 404,
  timeout: 408,
  headers_too_large: 431,
  url_too_long: 414,
} as const;

type Listener = {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsKeys | undefined;
};

/** Opens the listener. It throws the error of the system when it cannot listen. */
export async function openPainel(
  opened: PainelSetup,
  { host, port, tls, ...options }: PainelOptions & Listener,
): Promise<HttpServer> {
  const trabalhos = TRABALHOS.map((open) => open(opened));
  const listSections: PainelWorld['listSections'] = (of) =>
    PAINEL_ROUTES.flatMap(({ section }) => (section?.of === of ? [section.write] : []));
  const world: PainelWorld = { ...opened, ...(Object.assign({}, ...trabalhos) as PartsOf<'trabalhos'>), listSections };
  const server = await listenHttp({
    host,
    port,
    tls,
    routes: [...ASSET_ROUTES, ...routesOf(world, options, PAINEL_ROUTES)],
    connectionsMax: CONNECTIONS_MAX,
    onTrouble: async (trouble) => answerUnknown(trouble in STATUS ? STATUS[trouble as keyof typeof STATUS] : 400),
  });
  return {
    ...server,
    close: async (drainMs) => {
      await server.close(drainMs);
      await Promise.all(trabalhos.flatMap((all) => Object.values(all).map((one) => one?.close())));
    },
  };
}
