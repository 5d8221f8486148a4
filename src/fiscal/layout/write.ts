/**
 * Writes the DPS and the NFS-e: typed objects to text, in the order of the tables, in the national spelling. The event is
 * written by the same means in `evento.ts`.
 *
 * The text has no white space between elements and no prefix, so it stays what it is under canonicalisation. Each table
 * is prepared once, because this runs on every issuance. Nothing is checked here: what is written was judged, and a
 * value that is undefined is left out.
 */
import { type Decimal, formatDecimal } from '../decimal.ts';
import { DPS_NAMESPACE, DPS_VERSAO, INF_DPS } from './dps.ts';
import { escapeText } from './escape.ts';
import { type DpsNacional, INF_NFSE_OWN, type InfNfse } from './nfse.ts';
import { elementsOf, type Group, type Item, type Leaf } from './vocabulary.ts';

export const XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>';

const NFSE_END = '</NFSe>';
const INF_NFSE_END = '</infNFSe>';
const DECLARATION_START = '<DPS';
const DECLARATION_END = '</DPS>';
const NFSE_START = /^<\?xml[^>]*\?><NFSe xmlns="([^"]+)"[^>]*><infNFSe Id="([^"]+)">/;

type Values = { readonly [name: string]: unknown };
type Write = (values: Values) => string;

const writeInfDps = writerOf(INF_DPS);
const writeInfNfse = writerOf(INF_NFSE_OWN);
/** It is the last of what the note has beside its declaration. */
const writeIbsCbs = writerOf(INF_NFSE_OWN.slice(-1));

/** The declaration as a document of its own, without the XML head. */
export function writeDps(dps: DpsNacional, id: string): string {
  return `<DPS xmlns="${DPS_NAMESPACE}" versao="${DPS_VERSAO}"><infDPS Id="${id}">${writeInfDps(dps)}</infDPS></DPS>`;
}

/** The note with its declaration inside, not yet signed. */
export function writeNfse(infNfse: InfNfse, id: string, dps: DpsNacional, dpsId: string): string {
  const declaration = `<DPS versao="${DPS_VERSAO}"><infDPS Id="${dpsId}">${writeInfDps(dps)}</infDPS></DPS>`;
  const start = `${XML_HEAD}<NFSe xmlns="${DPS_NAMESPACE}" versao="${DPS_VERSAO}"><infNFSe Id="${id}">`;
  return start + writeInfNfse(infNfse) + declaration + INF_NFSE_END + NFSE_END;
}

/** A note that {@link writeNfse} wrote without the group of the IBS and the CBS, with it. */
export function withIbsCbs(nfse: string, ibscbs: NonNullable<InfNfse['IBSCBS']>): string {
  const at = nfse.indexOf(DECLARATION_START);
  if (at < 0 || nfse.slice(0, at).endsWith('</IBSCBS>')) throw new RangeError('Not a note without its group');
  return nfse.slice(0, at) + writeIbsCbs({ IBSCBS: ibscbs }) + nfse.slice(at);
}

/** The declaration inside a note that {@link writeNfse} wrote, as a document of its own. */
export function declarationIn(nfse: string): string {
  const start = nfse.indexOf(DECLARATION_START);
  const end = nfse.lastIndexOf(DECLARATION_END);
  if (start < 0 || end < start) throw new RangeError('Not a note of our own writing');
  const rest = nfse.slice(start + DECLARATION_START.length, end + DECLARATION_END.length);
  return `${XML_HEAD}<DPS xmlns="${DPS_NAMESPACE}"${rest}`;
}

/** What the municipality signs of a note that {@link writeNfse} wrote: its `infNFSe`, in exclusive canonical form, and the Id. */
export function signedPartOf(nfse: string): { readonly canonical: string; readonly id: string } {
  const match = NFSE_START.exec(nfse);
  if (match === null || !nfse.endsWith(INF_NFSE_END + NFSE_END)) {
    throw new RangeError('Not an unsigned note of our own writing');
  }
  const [start, namespace, id] = match;
  const rest = nfse.slice(start.length, -NFSE_END.length);
  return { canonical: `<infNFSe xmlns="${namespace}" Id="${id}">${rest}`, id: id! };
}

/** A note that {@link writeNfse} wrote, then or long ago, with this `Signature` element after its `infNFSe`. */
export function withSignature(nfse: string, signature: string): string {
  if (!nfse.endsWith(INF_NFSE_END + NFSE_END)) throw new RangeError('Not an unsigned note of our own writing');
  return nfse.slice(0, -NFSE_END.length) + signature + NFSE_END;
}

/** Prepares the writing of a table: its elements with their values, attributes left to the caller. */
export function writerOf(items: readonly Item[]): Write {
  const parts = elementsOf(items).map((item) => (item.max === 1 ? writerOfOne(item) : writerOfList(item)));
  return (values) => {
    let text = '';
    for (const part of parts) text += part(values);
    return text;
  };
}

function writerOfOne(item: Leaf | Group): Write {
  const { name } = item;
  const write = writerOfElement(item);
  return (values) => {
    const value = values[name];
    return value === undefined ? '' : write(value);
  };
}

function writerOfList(item: Leaf | Group): Write {
  const { name } = item;
  const write = writerOfElement(item);
  return (values) => {
    const list = values[name] as readonly unknown[] | undefined;
    let text = '';
    if (list !== undefined) for (const value of list) text += write(value);
    return text;
  };
}

/** One element with its tags. An optional group in which nothing is written is not written either. */
function writerOfElement(item: Leaf | Group): (value: unknown) => string {
  const open = `<${item.name}>`;
  const close = `</${item.name}>`;
  if (item.kind === 'group') {
    const inside = writerOf(item.items);
    const empty = item.min === 0 ? '' : open + close;
    return (value) => {
      const text = inside(value as Values);
      return text === '' ? empty : open + text + close;
    };
  }
  if (item.type.kind === 'decimal') return (value) => open + formatDecimal(value as Decimal) + close;
  return (value) => open + escapeText(value as string) + close;
}
