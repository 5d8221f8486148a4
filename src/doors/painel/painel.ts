/** The console of the municipality: its own listener, beside the public one and never behind it. */

import { openExportacoes } from '../../flows/exportar-notas.ts';
import { openImportacoes } from '../../flows/importar-arquivo.ts';
import { type HttpServer, listenHttp, type TlsKeys } from '../rest/http.ts';
import { ASSET_ROUTES } from './assets.ts';
import { answerUnknown, type PainelOptions, routesOf } from './attend.ts';
import { AVISO_ROUTES } from './aviso.ts';
import { AVISOS_ROUTES } from './avisos.ts';
import { CADASTRO_IMPORTAR_ROUTES } from './cadastro-importar.ts';
import { CADASTROS_ROUTES } from './cadastros.ts';
import { CONFERIR_ROUTES } from './conferir.ts';
import { CONTA_ROUTES } from './conta.ts';
import { ENTRADA_ROUTES } from './entrar.ts';
import { EVENTO_ROUTES } from './evento.ts';
import { OFICIO_ROUTES } from './evento-oficio.ts';
import { EVENTOS_ROUTES } from './eventos.ts';
import { HOJE_ROUTES } from './hoje.ts';
import { INICIO_ROUTES } from './inicio.ts';
import { MUNICIPIO_ROUTES } from './municipio.ts';
import { NOTA_ROUTES } from './nota.ts';
import { NOTAS_ROUTES } from './notas.ts';
import { PRESTADORES_ROUTES } from './prestadores.ts';
import { TOKENS_ROUTES } from './tokens.ts';
import { TRILHA_ROUTES } from './trilha.ts';
import { USUARIOS_ROUTES } from './usuarios.ts';
import type { PainelSetup, PainelWorld, Row } from './visit.ts';

/** Every page of the console. */
export const PAINEL_ROUTES: readonly Row[] = [
  ...INICIO_ROUTES,
  ...ENTRADA_ROUTES,
  ...CONTA_ROUTES,
  ...HOJE_ROUTES,
  ...EVENTOS_ROUTES,
  ...OFICIO_ROUTES,
  ...EVENTO_ROUTES,
  ...CONFERIR_ROUTES,
  ...CADASTROS_ROUTES,
  ...CADASTRO_IMPORTAR_ROUTES,
  ...PRESTADORES_ROUTES,
  ...AVISOS_ROUTES,
  ...AVISO_ROUTES,
  ...TOKENS_ROUTES,
  ...MUNICIPIO_ROUTES,
  ...NOTAS_ROUTES,
  ...NOTA_ROUTES,
  ...USUARIOS_ROUTES,
  ...TRILHA_ROUTES,
];

/** A town hall has as many desks. */
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

/** Listens. Throws the error of the system where it cannot. */
export async function openPainel(
  opened: PainelSetup,
  { host, port, tls, ...options }: PainelOptions & Listener,
): Promise<HttpServer> {
  const trabalhos = { exportacoes: openExportacoes(opened), importacoes: openImportacoes(opened) };
  const world: PainelWorld = { ...opened, ...trabalhos };
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
      await Promise.all(Object.values(trabalhos).map((one) => one.close()));
    },
  };
}
