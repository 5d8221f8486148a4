/** The console in a thread of its own: a search or a password check takes no time from issuing. */
import type { HttpServer } from '../base/http/http.ts';
import { addUp, gauges, type Snapshot, takeSnapshot } from '../base/measures/counters.ts';
import type { PainelSetup } from '../base/pages/visit.ts';
import { tellTrouble } from '../base/world/store-trouble.ts';
import { openPainel } from '../doors/painel/painel.ts';
import { versionOf } from '../published/versao.ts';
import { inviteFirst } from '../subjects/contas/convites.ts';
import { forgetSessoes } from '../subjects/contas/entrada.ts';
import { openProvider } from '../subjects/contas/provider.ts';
import { openSaude } from '../subjects/vigia/saude.ts';
import { openVigiaListener } from '../subjects/vigia/vigia.page.ts';
import { openVigia } from '../subjects/vigia/vigiar.ts';
import { Questions } from './collect.ts';
import { locateCertificados, painelUrlOf, readOwnConfig } from './config.ts';
import { freeStart } from './free-start.ts';
import { describeListening } from './listening.ts';
import { openWorld } from './open-world.ts';
import { readTls } from './own-tls.ts';
import { createStore } from './store.ts';
import { enterThread, type ThreadSettings } from './thread.ts';

/**
 * Messages from the thread: the console's address, or why it is closed; later a query for the counters of all parts, and wake-ups for a
 * tenant.
 */
export type FromPainel =
  | { readonly kind: 'open'; readonly painel: PainelOpen }
  | { readonly kind: 'closed'; readonly problem: string }
  | { readonly kind: 'collect'; readonly asked: number }
  | { readonly kind: 'wake'; readonly tenant: string };

/** `convite`: the address at which the first administrator creates an account, while there is none. */
export type PainelOpen = { readonly address: string; readonly convite: string | undefined };

/** Messages to the thread: the counters of all parts; the order to end. */
export type ToPainel =
  | { readonly kind: 'collected'; readonly asked: number; readonly snapshot: Snapshot }
  | { readonly kind: 'stop' };

const FORGET_EVERY_MS = 3_600_000;

/** `processo`: the process that the thread belongs to. */
export type PainelSettings = ThreadSettings & { readonly processo: string };

const { port, settings, log, pool, end } = await enterThread<PainelSettings>('painel');
const tell = (message: FromPainel): void => port.postMessage(message);
const config = readOwnConfig();
const { painel, tls, trustProxy, baseUrl, vigiaPort } = config;
const { world, close } = openWorld(createStore(pool), log, (tenant) => tell({ kind: 'wake', tenant }));
const painelWorld: PainelSetup = {
  ...world,
  baseUrl,
  certificados: locateCertificados(config),
  dados: config.databaseUrl === undefined ? config.dataDir : undefined,
  place: { origin: painelUrlOf(config), issuer: 'NFS-e' },
  provider: painel.provider && openProvider(painel.provider),
};

const questions = new Questions();

/** The counters of all parts, including this thread. */
async function collect(): Promise<Snapshot> {
  const { processo } = settings;
  const here = [{ name: 'nfse_parte_responde', labels: { processo, parte: 'painel' }, value: 1 }] as const;
  const [others, own] = await Promise.all([
    questions.ask((asked) => tell({ kind: 'collect', asked })),
    takeSnapshot(processo, 'painel'),
  ]);
  return addUp([others, own, gauges(here)]);
}

const { version: versao, commit } = versionOf();
const inicio = Date.now() - 1_000 * process.uptime();
const vigia = {
  programa: { versao, commit },
  redes: config.vigias,
  origin: painelUrlOf(config),
  saude: openSaude({
    ...{ versao, inicio, collect, now: world.now },
    look: openVigia({ ...painelWorld, certificado: tls?.certificado }),
  }),
};

const forget = setInterval(
  () =>
    void forgetSessoes(painelWorld).catch((error: unknown) =>
      tellTrouble(log, error, {}, 'as sessões vencidas do console não foram esquecidas'),
    ),
  FORGET_EVERY_MS,
);
forget.unref();

async function open(): Promise<() => Promise<void>> {
  const keys = await readTls({ tls });
  freeStart();
  const options = { ...painel, tls: keys, trustProxy, accessLog: log.isLevelEnabled('info') };
  const server = await openPainel(painelWorld, options);
  const watched =
    vigiaPort === 0 ? undefined : await openWatched({ ...vigia, host: painel.host, port: vigiaPort, tls: keys });
  const { origin } = painelWorld.place;
  const convite = await inviteFirst(painelWorld);
  tell({ kind: 'open', painel: { address: origin, convite: convite && `${origin}/convite/${convite}` } });
  return async () => {
    await Promise.all([server.close(), watched?.close()]);
  };
}

/** The console and the service continue without this listener. */
async function openWatched(options: Parameters<typeof openVigiaListener>[0]): Promise<HttpServer | undefined> {
  try {
    return await openVigiaListener(options);
  } catch (error) {
    const problem = describeListening(error as NodeJS.ErrnoException, options, 'NFSE_VIGIA_PORTA');
    log.warn(`o serviço não é vigiado: ${problem}. Segue sem isso`);
    return undefined;
  }
}

const opened = open().catch((error: NodeJS.ErrnoException) => {
  tell({ kind: 'closed', problem: describeListening(error, painel, 'NFSE_PAINEL_PORTA') });
  return async () => undefined;
});

port.on('message', (message: ToPainel) => {
  if (message.kind === 'collected') return questions.answer(message.asked, message.snapshot);
  clearInterval(forget);
  void end(async () => {
    await (await opened)();
    await close();
  });
});
