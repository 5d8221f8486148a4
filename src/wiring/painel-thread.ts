/** The console in a thread of its own: a search or a password under examination takes no time from who issues. */
import { openPainel } from '../doors/painel/painel.ts';
import type { PainelSetup } from '../doors/painel/visit.ts';
import { inviteFirst } from '../flows/convites.ts';
import { forgetSessoes } from '../flows/entrada.ts';
import { tellTrouble } from '../flows/store-trouble.ts';
import { openProvider } from '../identity/provider.ts';
import { createStore } from '../store/store.ts';
import { painelUrlOf, readOwnConfig } from './config.ts';
import { openWorld } from './open-world.ts';
import { readTls } from './own-tls.ts';
import { enterThread, type ThreadSettings } from './thread.ts';

/** From the thread: where the console is, or why it is not; then that something of a tenant is due. */
export type FromPainel =
  | { readonly kind: 'open'; readonly painel: PainelOpen }
  | { readonly kind: 'closed'; readonly problem: string }
  | { readonly kind: 'wake'; readonly tenant: string };

/** `convite`: the address at which the first administrator makes an account, while nobody has one. */
export type PainelOpen = { readonly address: string; readonly convite: string | undefined };

/** To the thread: that it is time to end. */
export type ToPainel = { readonly kind: 'stop' };

const FORGET_EVERY_MS = 3_600_000;

const { port, log, pool, end } = await enterThread<ThreadSettings>();
const tell = (message: FromPainel): void => port.postMessage(message);
const config = readOwnConfig();
const { painel, tls, trustProxy, baseUrl } = config;
const { world, close } = openWorld(createStore(pool), log, (tenant) => tell({ kind: 'wake', tenant }));
const painelWorld: PainelSetup = {
  ...world,
  baseUrl,
  dados: config.databaseUrl === undefined ? config.dataDir : undefined,
  place: { origin: painelUrlOf(config), issuer: 'NFS-e' },
  provider: painel.provider && openProvider(painel.provider),
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
  const options = { ...painel, tls: await readTls({ tls }), trustProxy, accessLog: log.isLevelEnabled('info') };
  const server = await openPainel(painelWorld, options);
  const { origin } = painelWorld.place;
  const convite = await inviteFirst(painelWorld);
  tell({ kind: 'open', painel: { address: origin, convite: convite && `${origin}/convite/${convite}` } });
  return () => server.close();
}

const opened = open().catch((error: NodeJS.ErrnoException) => {
  tell({ kind: 'closed', problem: describe(error) });
  return async () => undefined;
});

port.on('message', (_message: ToPainel) => {
  clearInterval(forget);
  void end(async () => {
    await (await opened)();
    await close();
  });
});

function describe({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EADDRINUSE') return `a porta ${painel.port} já está em uso. Escolha outra com NFSE_PAINEL_PORTA`;
  if (code === 'EADDRNOTAVAIL') return `o endereço ${painel.host} não é desta máquina. Confira NFSE_PAINEL_HOST`;
  if (code === 'EACCES') return `falta permissão para a porta ${painel.port}. Escolha outra com NFSE_PAINEL_PORTA`;
  return message;
}
