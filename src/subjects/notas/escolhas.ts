/** The services and rates that the search of a municipality offers, by name. */
import { municipalMoment } from '../../base/world/gather-facts.ts';
import { municipioNamed } from '../../base/world/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { servicoOf, servicos } from '../../fiscal/catalogs/catalogs.ts';
import { type Decimal, formatDecimal, parseDecimal } from '../../fiscal/decimal.ts';
import { groupDecimal } from '../../fiscal/group-digits.ts';
import { NENHUMA } from './buscar.rows.ts';

/** Texts as the fields of the search take them. */
export type Escolhas = { readonly servicos: readonly string[]; readonly aliquotas: readonly string[] };

/** The rates between the bounds of LC 116 (art. 8º and 8º-A), for a municipality that keeps no list. */
const ALIQUOTAS_LEGAIS = ['2.00', '2.50', '3.00', '3.50', '4.00', '4.50', '5.00'].map((text) => parseDecimal(text)!);

/** The services of the municipality's own list and their rates, or else all that a note may carry. */
export async function listEscolhas(world: Pick<World, 'store' | 'now'>, slug: string): Promise<Escolhas> {
  const { tenant, codigoIbge } = await municipioNamed(world, slug);
  const hoje = municipalMoment(codigoIbge, world.now()).date;
  const lines = await world.store.servicos.listInForce(tenant, hoje);
  const codigos = lines?.map(({ cTribNac }) => cTribNac) ?? everyCode();
  const aliquotas = lines?.flatMap(({ aliquota }) => aliquota ?? []) ?? ALIQUOTAS_LEGAIS;
  return {
    servicos: [...new Set(codigos)].sort().map(nameServico),
    aliquotas: [...new Set(aliquotas)].sort(compareDecimals).map(writeAliquota).concat(NENHUMA),
  };
}

function everyCode(): readonly string[] {
  return servicos().flatMap(({ codigo, emissivel }) => (emissivel ? [codigo] : []));
}

const NAME_MAX = 90;

/** `01.01.01 – Análise e desenvolvimento de sistemas`; a text that begins with no code stays as it is. */
export function nameServico(text: string): string {
  const codigo = text.replaceAll('.', '').slice(0, 6);
  const known = servicoOf(codigo);
  if (known === undefined) return text;
  const name = known.descricao.replace(/\.$/, '');
  const shown = name.length > NAME_MAX ? `${name.slice(0, NAME_MAX).trimEnd()}…` : name;
  return `${codigo.replace(/(..)(..)(..)/, '$1.$2.$3')} – ${shown}`;
}

function compareDecimals(one: Decimal, other: Decimal): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function writeAliquota(aliquota: Decimal): string {
  return groupDecimal(formatDecimal(aliquota));
}
