/** Whether this machine has the files that the municipalities name. The settings are paths, which must exist on every serving machine. */

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

/**
 * The slugs with missing files on this machine, as found within the last minute. An older result is used when the database does not answer:
 * the list of municipalities needs each of its nodes.
 */
export function rememberLacking(world: RegistryWorld): () => Promise<readonly string[]> {
  let known: Promise<readonly string[]> | undefined;
  let last: readonly string[] = [];
  let at = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<readonly string[]> => {
    try {
      const all = await conferirArquivos(world);
      last = all.filter(({ problems }) => problems.length > 0).map(({ tenant }) => tenant);
    } catch (error) {
      known = undefined;
      if (!isPassing(error)) throw error;
    }
    return last;
  };
  return () => {
    if (known !== undefined && performance.now() - at < FRESH_MS) return known;
    at = performance.now();
    known = look();
    return known;
  };
}
