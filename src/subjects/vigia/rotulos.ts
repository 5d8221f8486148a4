/** Labels of municipalities in the gauges: a limited number by name, and all others as one; and the gauges joined accordingly. */

import type { Municipio } from '../../base/book/municipios.ts';
import { type GaugeName, type Labels, MUNICIPIOS_MAX, OUTROS, type Sample } from '../../base/measures/metrics.ts';
import type { World } from '../../base/world/world.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';

/** `dados`: the folder of a database on this machine. `certificado`: file of the service's own TLS. */
export type VigiaWorld = Pick<World, 'store' | 'now' | 'trust' | 'log'> & {
  readonly dados?: string | undefined;
  readonly certificado?: string | undefined;
};

/** Municipalities by the names in their labels: those in production first, and the rest beyond a limit under one name. */
export function nameMunicipios(municipios: readonly Municipio[]): ReadonlyMap<string, string> {
  const first = municipios.toSorted((one, other) => Number(transmits(other)) - Number(transmits(one)));
  return new Map(first.map(({ tenant }, place) => [tenant, place < MUNICIPIOS_MAX ? tenant : OUTROS]));
}

export function transmits({ ambiente }: Municipio): boolean {
  return AMBIENTES[ambiente].transmits;
}

/** Samples of one name; those with the same labels are joined into one. */
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
