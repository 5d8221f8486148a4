/**
 * Writes the DPS and the NFS-e: typed objects to text, in the order of the tables, in the national spelling. The event is written by the
 * same means in `evento.ts`.
 *
 * The text has no white space between elements and no prefix, so canonicalisation leaves it unchanged. Each table is prepared once, because
 * this runs on every issuance. Nothing is checked here: the content was judged before, and undefined values are left out.
 */
import { type Decimal, formatDecimal } from '../decimal.ts';
import { DPS_NAMESPACE, DPS_VERSAO, INF_DPS } from './dps.ts';
import { escapeText } from './escape.ts';
import { type DpsNacional, INF_NFSE_OWN, type InfNfse } from './nfse.ts';
import { elementsOf, type Item } from './vocabulary.ts';

export const XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>';

type Values = { readonly [name: string]: unknown };
type Write = (values: Values) => string;

const writeInfDps = writerOf(INF_DPS);
const writeInfNfse = writerOf(INF_NFSE_OWN);
/** The group is the last one of the note beside its declaration. */
const writeIbsCbs = writerOf(INF_NFSE_OWN.slice(-1));

/**
 * Operations on the text of a document that this service wrote, now or long ago. The names are those of its root, of the element that the
 * municipality signs, and of the document inside. A text of another origin throws.
 */
export function ownDocument(root: string, signed: string, inside: string) {
  const start = new RegExp(`^<\\?xml[^>]*\\?><${root} xmlns="([^"]+)"[^>]*><${signed} Id="([^"]+)">`);
  const [end, signedEnd] = [`</${root}>`, `</${signed}>`];
  const [insideStart, insideEnd] = [`<${inside}`, `</${inside}>`];
  const foreign = (): RangeError => new RangeError(`Not an unsigned ${root} of our own writing`);
  return {
    /** The part that the municipality signs, in exclusive canonical form, and its Id. */
    signedPart: (text: string): { readonly canonical: string; readonly id: string } => {
      const match = start.exec(text);
      if (match === null || !text.endsWith(signedEnd + end)) throw foreign();
      const [head, namespace, id] = match;
      const rest = text.slice(head.length, -end.length);
      return { canonical: `<${signed} xmlns="${namespace}" Id="${id}">${rest}`, id: id! };
    },
    /** The text with this `Signature` element after the signed part. */
    withSignature: (text: string, signature: string): string => {
      if (!text.endsWith(signedEnd + end)) throw foreign();
      return text.slice(0, -end.length) + signature + end;
    },
    /** The inner document as a document of its own. */
    documentIn: (text: string): string => {
      const from = text.indexOf(insideStart);
      const to = text.lastIndexOf(insideEnd);
      if (from < 0 || to < from) throw foreign();
      const rest = text.slice(from + insideStart.length, to + insideEnd.length);
      return `${XML_HEAD}${insideStart} xmlns="${DPS_NAMESPACE}"${rest}`;
    },
  };
}

export const {
  signedPart: signedPartOf,
  withSignature,
  documentIn: declarationIn,
} = ownDocument('NFSe', 'infNFSe', 'DPS');

/** `cStat` of a note that was written here. */
export function codigoSituacaoIn(nfse: string): number {
  const start = nfse.indexOf('<cStat>') + '<cStat>'.length;
  return Number(nfse.slice(start, nfse.indexOf('<', start)));
}

/** The declaration as a document of its own, without the XML head. */
export function writeDps(dps: DpsNacional, id: string): string {
  return `<DPS xmlns="${DPS_NAMESPACE}" versao="${DPS_VERSAO}"><infDPS Id="${id}">${writeInfDps(dps)}</infDPS></DPS>`;
}

/** The note with its declaration inside, not yet signed. */
export function writeNfse(infNfse: InfNfse, id: string, dps: DpsNacional, dpsId: string): string {
  const declaration = `<DPS versao="${DPS_VERSAO}"><infDPS Id="${dpsId}">${writeInfDps(dps)}</infDPS></DPS>`;
  const start = `${XML_HEAD}<NFSe xmlns="${DPS_NAMESPACE}" versao="${DPS_VERSAO}"><infNFSe Id="${id}">`;
  return `${start}${writeInfNfse(infNfse)}${declaration}</infNFSe></NFSe>`;
}

/** A note that {@link writeNfse} wrote without the group of the IBS and the CBS, with that group added. */
export function withIbsCbs(nfse: string, ibscbs: NonNullable<InfNfse['IBSCBS']>): string {
  const at = nfse.indexOf('<DPS');
  if (at < 0 || nfse.slice(0, at).endsWith('</IBSCBS>')) throw new RangeError('Not a note without its group');
  return nfse.slice(0, at) + writeIbsCbs({ IBSCBS: ibscbs }) + nfse.slice(at);
}

/** Prepares the writing of a table: its elements with their values; the caller writes attributes. */
export function writerOf(items: readonly Item[]): Write {
  const parts = partsOf(items);
  return (values) => writeParts(parts, values);
}

/** An element prepared for writing: all of one shape, for one function that stays fast. */
type Part = {
  readonly name: string;
  readonly open: string;
  readonly close: string;
  readonly isList: boolean;
  readonly isDecimal: boolean;
  /** The elements of a group. */
  readonly inside: readonly Part[] | undefined;
  /** The text of a group without content: an optional one is not written at all. */
  readonly empty: string;
};

function partsOf(items: readonly Item[]): readonly Part[] {
  return elementsOf(items).map((item): Part => {
    const { name, kind, min, max } = item;
    const [open, close] = [`<${name}>`, `</${name}>`];
    return {
      name,
      open,
      close,
      isList: max !== 1,
      isDecimal: kind === 'leaf' && item.type.kind === 'decimal',
      inside: kind === 'group' ? partsOf(item.items) : undefined,
      empty: min === 0 ? '' : open + close,
    };
  });
}

function writeParts(parts: readonly Part[], values: Values): string {
  let text = '';
  for (const part of parts) {
    const value = values[part.name];
    if (value === undefined) continue;
    if (part.isList) for (const one of value as readonly unknown[]) text += writeElement(part, one);
    else text += writeElement(part, value);
  }
  return text;
}

/** One element with its tags. */
function writeElement({ open, close, isDecimal, inside, empty }: Part, value: unknown): string {
  if (inside === undefined) {
    return open + (isDecimal ? formatDecimal(value as Decimal) : escapeText(value as string)) + close;
  }
  const text = writeParts(inside, value as Values);
  return text === '' ? empty : open + text + close;
}
