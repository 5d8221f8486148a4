/** The console of the municipality: its own listener, beside the public one and never behind it. */

import { type HttpServer, listenHttp, type TlsKeys } from '../../base/http/http.ts';
import { ASSET_ROUTES } from '../../base/pages/assets.ts';
import type { PainelSetup, PainelWorld, Row } from '../../base/pages/visit.ts';
import { TRILHA_ROUTES } from '../../subjects/auditoria/trilha.page.ts';
import { AVISO_ROUTES } from '../../subjects/avisos/aviso.page.ts';
import { AVISOS_ROUTES } from '../../subjects/avisos/avisos.page.ts';
import { CADASTROS_ROUTES } from '../../subjects/cadastros/cadastros.page.ts';
import { CADASTRO_IMPORTAR_ROUTES } from '../../subjects/cadastros/importar.page.ts';
import { openImportacoes } from '../../subjects/cadastros/importar-arquivo.ts';
import { PRESTADORES_ROUTES } from '../../subjects/cadastros/prestadores.page.ts';
import { CONTA_ROUTES } from '../../subjects/contas/conta.page.ts';
import { ENTRADA_ROUTES } from '../../subjects/contas/entrar.page.ts';
import { USUARIOS_ROUTES } from '../../subjects/contas/usuarios.page.ts';
import { EVENTO_ROUTES } from '../../subjects/eventos/evento.page.ts';
import { EVENTOS_ROUTES } from '../../subjects/eventos/eventos.page.ts';
import { OFICIO_ROUTES } from '../../subjects/eventos/oficio.page.ts';
import { HOJE_ROUTES } from '../../subjects/municipios/hoje.page.ts';
import { INICIO_ROUTES } from '../../subjects/municipios/inicio.page.ts';
import { MUNICIPIO_ROUTES } from '../../subjects/municipios/municipio.page.ts';
import { CONFERIR_ROUTES } from '../../subjects/notas/conferir.page.ts';
import { openExportacoes } from '../../subjects/notas/exportar.ts';
import { NOTA_ROUTES } from '../../subjects/notas/nota.page.ts';
import { NOTAS_ROUTES } from '../../subjects/notas/notas.page.ts';
import { TOKENS_ROUTES } from '../../subjects/partes/tokens.page.ts';
import { answerUnknown, type PainelOptions, routesOf } from './attend.ts';

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
