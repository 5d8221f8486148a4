/** A note that we wrote, read again: its own canonical form, which takes no parser. */
import type { Elemento } from '../fiscal/layout/tree.ts';
import { readOwnXml } from './xml.ts';

/** The content of a note. */
export function infNfseOf(nfse: Uint8Array): Elemento {
  const infNfse = readOwnXml(nfse).children.find(({ name }) => name === 'infNFSe');
  if (infNfse === undefined) throw new Error('a note that we wrote does not read');
  return infNfse;
}

/** Gives the text at a path below `infNFSe`, `DPS/infDPS/interm/CNPJ`; undefined where there is none. */
export function readOwnNote(nfse: Uint8Array): (path: string) => string | undefined {
  return readInside(infNfseOf(nfse));
}

/** The same, of a note that was read. */
export function readInside(root: Elemento): (path: string) => string | undefined {
  return (path) => {
    let place: Elemento | undefined = root;
    for (const step of path.split('/')) place = place?.children.find(({ name }) => name === step);
    return place?.text;
  };
}

/** What `sed` is told to make of a note with our signature the one from before it, octet by octet. */
export const UNSIGN_BY_SED = 's|</infNFSe><Signature .*</Signature></NFSe>$|</infNFSe></NFSe>|';
