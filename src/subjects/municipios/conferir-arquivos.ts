/** Whether this machine has the files that the municipalities name. The settings are paths, which must exist on every serving machine. */

import { setTimeout } from 'node:timers/promises';
import { seeFiles } from '../../base/world/files-seen.ts';
import { type Inspection, inspectAdn, inspectConfianca } from '../../base/world/municipio-files.ts';
import type { RegistryWorld } from '../../base/world/municipios.ts';
import { isPassing } from '../../base/world/store-trouble.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';

export type ArquivosConferidos = Inspection & { readonly tenant: string };

/** One municipality after the other, in the order of their slugs; municipalities without files are left out. */
export async function conferirArquivos(world: RegistryWorld): Promise<readonly ArquivosConferidos[]> {
  const all: ArquivosConferidos[] = [];
  for (const { tenant, ambiente, confianca, adn } of await world.store.municipios.list()) {
    const transmits = AMBIENTES[ambiente].transmits ? adn : undefined;
    if (transmits === undefined && confianca.ancoras === undefined && confianca.revogados === undefined) continue;
    const found = [
      await inspectConfianca(confianca),
      ...(transmits === undefined ? [] : [await inspectAdn(transmits, confianca, world.now())]),
    ];
    all.push({
      tenant,
      problems: found.flatMap(({ problems }) => problems),
      avisos: found.flatMap(({ avisos }) => avisos),
    });
  }
  return all;
}

/** Files change seldom, and there may be thousands. */
const FRESH_MS = 60_000;

/** Longest wait of a caller for a look. */
const WAIT_MS = 800;

/**
 * The slugs with missing files on this machine, as found within the last minute. An older result is used while a look lasts, and when the
 * database does not answer: the list of municipalities needs each of its nodes.
 */
export function rememberLacking(world: RegistryWorld): () => Promise<readonly string[]> {
  let known: Promise<readonly string[]> | undefined;
  let last: readonly string[] = [];
  let at = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<readonly string[]> => {
    try {
      last = await findLacking(world);
    } catch (error) {
      known = undefined;
      if (!isPassing(error)) throw error;
    }
    return last;
  };
  return () => {
    if (known === undefined || performance.now() - at >= FRESH_MS) {
      at = performance.now();
      known = look();
    }
    return Promise.race([known, setTimeout(WAIT_MS, undefined, { ref: false }).then(() => last)]);
  };
}

async function findLacking({ store, now }: RegistryWorld): Promise<readonly string[]> {
  const lacking: string[] = [];
  for await (const { municipio, isRead, chaves } of seeFiles(store, await store.municipios.list())) {
    const validade = chaves?.validade;
    const isValid = validade !== undefined && validade.inicio <= now() && now() <= validade.fim;
    if (!isRead || (chaves !== undefined && !isValid)) lacking.push(municipio.tenant);
  }
  return lacking;
}
