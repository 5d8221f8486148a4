/** A note of this service, read from its own canonical form without a parser. */
import type { Elemento } from '../fiscal/layout/tree.ts';
import { readOwnXml } from './xml.ts';

/** The content of a note. */
export function infNfseOf(nfse: Uint8Array): Elemento {
  const infNfse = readOwnXml(nfse).children.find(({ name }) => name === 'infNFSe');
  if (infNfse === undefined) throw new Error('a note that we wrote does not read');
  return infNfse;
}

/** Reads the text at a path below `infNFSe`, such as `DPS/infDPS/interm/CNPJ`; undefined: there is none. */
export function readOwnNote(nfse: Uint8Array): (path: string) => string | undefined {
  return readInside(infNfseOf(nfse));
}

/** The same for a note that is already read. */
export function readInside(root: Elemento): (path: string) => string | undefined {
  return (path) => {
    let place: Elemento | undefined = root;
    for (const step of path.split('/')) place = place?.children.find(({ name }) => name === step);
    return place?.text;
  };
}

/** A `sed` command that removes our signature from a note, which restores the unsigned note octet by octet. */
export const UNSIGN_BY_SED = 's|</infNFSe><Signature .*</Signature></NFSe>$|</infNFSe></NFSe>|';
