/**
 * The names of a DPS and of its signature, found by their octets: each is the shared string of the layout, so no string is made of them.
 */
import { INF_DPS } from '../fiscal/layout/dps.ts';
import { elementsOf, type Item } from '../fiscal/layout/vocabulary.ts';

const namesIn = (items: readonly Item[]): string[] =>
  elementsOf(items).flatMap((one) => (one.kind === 'group' ? [one.name, ...namesIn(one.items)] : [one.name]));

const NAMES = new Set([
  ...['DPS', 'versao', 'infDPS', 'Id', ...namesIn(INF_DPS)],
  ...['Signature', 'SignedInfo', 'CanonicalizationMethod', 'SignatureMethod', 'Reference', 'Transforms', 'Transform'],
  ...['DigestMethod', 'DigestValue', 'SignatureValue', 'KeyInfo', 'X509Data', 'X509Certificate', 'Algorithm', 'URI'],
]);

/** A power of two; the names fill a tenth of the slots. */
const SLOTS = 4_096;
const slots: (string | undefined)[] = Array.from({ length: SLOTS }, () => undefined);

/** The key of a name with one more octet; 0 is the key of the empty name. */
export function keyWith(key: number, octet: number): number {
  return ((key << 5) - key + octet) | 0;
}

for (const name of NAMES) {
  let slot = Buffer.from(name).reduce(keyWith, 0) & (SLOTS - 1);
  while (slots[slot] !== undefined) slot = (slot + 1) & (SLOTS - 1);
  slots[slot] = name;
}

/** The name in these octets, by their key; undefined: an unknown name. */
export function nameAt(octets: Uint8Array, from: number, to: number, key: number): string | undefined {
  for (let slot = key & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
    const name = slots[slot];
    if (name === undefined || isAt(octets, from, to, name)) return name;
  }
}

function isAt(octets: Uint8Array, from: number, to: number, name: string): boolean {
  if (name.length !== to - from) return false;
  for (let place = 0; place < name.length; place += 1) {
    if (octets[from + place] !== name.charCodeAt(place)) return false;
  }
  return true;
}
