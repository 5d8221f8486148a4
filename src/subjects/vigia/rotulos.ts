/** Who watches sees municipalities by their names up to a number, and all others as one: what that makes of their gauges. */

import type { Municipio } from '../../base/book/municipios.ts';
import { type GaugeName, type Labels, MUNICIPIOS_MAX, OUTROS, type Sample } from '../../base/measures/metrics.ts';
import type { World } from '../../base/world/world.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';

/** `dados`: the folder of the database, where it is one of this machine. `certificado`: file of the service's own TLS. */
export type VigiaWorld = Pick<World, 'store' | 'now' | 'trust' | 'log'> & {
  readonly dados?: string | undefined;
  readonly certificado?: string | undefined;
};

/** Municipalities by the names that their labels bear: those in production first, and beyond a number all others under one. */
export function nameMunicipios(municipios: readonly Municipio[]): ReadonlyMap<string, string> {
  const first = municipios.toSorted((one, other) => Number(transmits(other)) - Number(transmits(one)));
  return new Map(first.map(({ tenant }, place) => [tenant, place < MUNICIPIOS_MAX ? tenant : OUTROS]));
}

export function transmits({ ambiente }: Municipio): boolean {
  return AMBIENTES[ambiente].transmits;
}

/** Samples of one name, those with the same labels made one. */
export function joinSamples(
  name: GaugeName,
  all: readonly (readonly [Labels, number])[],
  join: (one: number, other: number) => number,
): readonly Sample[] {
  const found = new Map<string, Sample>();
  for (const [labels, value] of all) {
    const key = JSON.stringify(labels);
    const before = found.get(key);
    found.set(key, { name, labels, value: before === undefined ? value : join(before.value, value) });
  }
  return [...found.values()];
}
