/**
 * The monitoring of `nfse transmitir`: a listener with the counters of this process and the values that only it knows, in the transmitting
 * thread.
 */

import type { HttpServer } from '../base/http/http.ts';
import type { World } from '../base/world/world.ts';
import { versionOf } from '../published/versao.ts';
import { openSaude } from '../subjects/vigia/saude.ts';
import { openVigiaListener } from '../subjects/vigia/vigia.page.ts';
import { openVigiaBeside } from '../subjects/vigia/vigiar.ts';
import type { Collector } from './collect.ts';
import { type Config, painelUrlOf } from './config.ts';
import { describeListening } from './listening.ts';
import { readTls } from './own-tls.ts';

/** Due work is transmitted even if the listener fails. */
export async function openTransmitterVigia(
  config: Config,
  world: World,
  collector: Collector,
): Promise<HttpServer | { readonly problem: string }> {
  const { transmitterPort: port, tls, vigias: redes } = config;
  const { host } = config.painel;
  const { version: versao, commit } = versionOf();
  const saude = openSaude({
    ...{ versao, inicio: Date.now() - 1_000 * process.uptime(), now: world.now, collect: collector.collect },
    look: openVigiaBeside({ ...world, certificado: tls?.certificado }),
  });
  try {
    const own = { host, port, tls: await readTls(config) };
    return await openVigiaListener({ ...own, redes, saude, programa: { versao, commit }, origin: painelUrlOf(config) });
  } catch (error) {
    return { problem: describeListening(error as NodeJS.ErrnoException, { host, port }, 'NFSE_TRANSMITIR_PORTA') };
  }
}
