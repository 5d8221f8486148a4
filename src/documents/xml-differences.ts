/** Where it is told that the two readers of XML differ over a document. The log of each thread listens; nothing is loaded for it. */
import { channel } from 'node:diagnostics_channel';

export const XML_DIFFERENCES = channel('nfse:xml-leituras');

/** A document over which the two differ, by its SHA-256 and size alone: it may hold personal data. */
export type XmlDifference = {
  readonly resumo: string;
  readonly bytes: number;
  /** What differs: libxml2 refuses the document, reads another tree, or writes a canonical form otherwise. */
  readonly aspecto: 'recusa' | 'árvore' | 'forma canônica';
};
