/**
 * The channel for differences between the two readers of XML. The log of each thread subscribes; the channel itself loads no module for it.
 */
import { channel } from 'node:diagnostics_channel';

export const XML_DIFFERENCES = channel('nfse:xml-leituras');

/** A document with a difference, by its SHA-256 and size alone: it may hold personal data. */
export type XmlDifference = {
  readonly resumo: string;
  readonly bytes: number;
  /** The kind of difference: libxml2 refuses the document, reads another tree, or writes another canonical form. */
  readonly aspecto: 'recusa' | 'árvore' | 'forma canônica';
};
