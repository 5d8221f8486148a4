/** The single tasks at a start of the service, before requests are answered, for any number of answering processes. */

import { SEM_BASE_URL } from '../base/world/avisos-municipio.ts';
import { exposedFiles } from '../documents/exposed-files.ts';
import { SANDBOX_SLUG } from '../fiscal/ambiente.ts';
import type { Config } from './config.ts';
import type { Logger } from './log.ts';
import type { OpenStore } from './open-store.ts';

/** Creates a missing sandbox, and warns of settings that an operator should know of. */
export async function beginOnce(
  { store, durabilityWarnings, explain }: Pick<OpenStore, 'store' | 'durabilityWarnings' | 'explain'>,
  { baseUrl, tls }: Config,
  log: Logger,
): Promise<void> {
  const sandbox = { tenant: SANDBOX_SLUG, ambiente: 'homologacao', codigoIbge: undefined } as const;
  await store.municipios.create(sandbox, Date.now()).catch(async (error) => {
    throw await explain(error);
  });
  for (const warning of await exposedFiles(tls === undefined ? [] : [tls.chave])) log.warn(warning);
  if (baseUrl === undefined) {
    const municipios = (await store.municipios.list()).filter(({ ambiente }) => ambiente === 'producao');
    if (municipios.length > 0) log.warn(nameSome(municipios), SEM_BASE_URL);
  }
  for (const warning of await durabilityWarnings()) log.warn(warning);
}

/** Municipalities that one line names; the others are counted. */
const NAMED_MAX = 10;

function nameSome(municipios: readonly { readonly tenant: string }[]): object {
  const named = municipios.slice(0, NAMED_MAX).map(({ tenant }) => tenant);
  const others = municipios.length - named.length;
  return { municipios: named, ...(others > 0 && { outros: others }) };
}
