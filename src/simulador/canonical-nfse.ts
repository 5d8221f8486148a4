/**
 * Recognises an NFS-e that is valid under the schema, signed in the profile and in canonical form. Systems that sign their own output send
 * such notes. The parser and the schema take ten times as long for the same result.
 *
 * One regular expression recognises the note; it is built from the layout table, like the schema. It never refuses: an unrecognised note
 * goes to the parser and the schema. The expression may therefore accept fewer notes than they do, and must not accept more.
 */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { ENVELOPED, REQUIRED } from '../documents/algorithms.ts';
import type { Certificate } from '../documents/certificate.ts';
import { DSIG } from '../documents/signature-shape.ts';
import { verifiesRsa } from '../documents/signed.ts';
import { once } from '../fiscal/catalogs/table.ts';
import { DPS_NAMESPACE, DPS_VERSAO } from '../fiscal/layout/dps.ts';
import { NFSE } from '../fiscal/layout/nfse.ts';
import type { SimpleType } from '../fiscal/layout/simple-types.ts';
import { type Group, type Item, joinPath, type Leaf } from '../fiscal/layout/vocabulary.ts';
import { XML_HEAD } from '../fiscal/layout/write.ts';
import { nationalType, patternOf } from '../published/layout/xsd.ts';

/** The places of the fields for the checks of a note, `@` before an attribute. */
export const PLACES = {
  id: 'NFSe/infNFSe/@Id',
  nNFSe: 'NFSe/infNFSe/nNFSe',
  ambGer: 'NFSe/infNFSe/ambGer',
  procEmi: 'NFSe/infNFSe/procEmi',
  CNPJ: 'NFSe/infNFSe/emit/CNPJ',
  CPF: 'NFSe/infNFSe/emit/CPF',
  cMun: 'NFSe/infNFSe/emit/enderNac/cMun',
  idDps: 'NFSe/infNFSe/DPS/infDPS/@Id',
  dhProc: 'NFSe/infNFSe/dhProc',
  cLocEmi: 'NFSe/infNFSe/DPS/infDPS/cLocEmi',
  chSubstda: 'NFSe/infNFSe/DPS/infDPS/subst/chSubstda',
  vBC: 'NFSe/infNFSe/valores/vBC',
  pAliqAplic: 'NFSe/infNFSe/valores/pAliqAplic',
  vISSQN: 'NFSe/infNFSe/valores/vISSQN',
  pAliq: 'NFSe/infNFSe/DPS/infDPS/valores/trib/tribMun/pAliq',
} as const;

/** The optional fields of a note. */
type Optional = 'procEmi' | 'CNPJ' | 'CPF' | 'chSubstda' | 'vBC' | 'pAliqAplic' | 'vISSQN' | 'pAliq';

/** The fields of a note. */
export type Campos = {
  readonly [Name in keyof typeof PLACES]: Name extends Optional ? string | undefined : string;
};

const FIELD_AT = new Map<string, string>(Object.entries(PLACES).map(([field, place]) => [place, field]));

/** The captures of the expression in the signature; unchanged, except for the reference, which is in Base64. */
type Assinatura = {
  readonly refere: string;
  readonly resumo: string;
  readonly valor: string;
  readonly certificado: string;
};

/** A note and its signature, separated. {@link signatureHolds} says whether the signature is valid for the note. */
export type NotaReconhecida = Assinatura & {
  readonly campos: Campos;
  readonly text: string;
  /** Canonical form of the element that the signature refers to. */
  readonly infNfse: string;
  /** Canonical form of the element that the value signs. */
  readonly signedInfo: string;
};

/** Separates the parts of a note; undefined if the expression does not recognise the bytes. */
export function recogniseNfse(bytes: Uint8Array): NotaReconhecida | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const groups = wholeNote().exec(text)?.groups as (Campos & Assinatura) | undefined;
  if (groups === undefined || groups.refere !== groups.id) return undefined;
  const end = text.lastIndexOf(INF_NFSE_END) + INF_NFSE_END.length;
  const start = end + SIGNATURE_START.length + SIGNED_INFO_START.length;
  return {
    ...groups,
    campos: groups,
    text,
    // The elements declare the namespace themselves once they are taken out of their parents.
    infNfse: `${INF_NFSE_START} xmlns="${DPS_NAMESPACE}"${text.slice(START.length + INF_NFSE_START.length, end)}`,
    signedInfo: `<SignedInfo xmlns="${DSIG}">${text.slice(start, text.indexOf(SIGNED_INFO_END, start))}${SIGNED_INFO_END}`,
  };
}

/** Whether the signature of a recognised note is valid. The expression has checked the profile; digest and value remain. */
export function signatureHolds({ infNfse, signedInfo, resumo, valor }: NotaReconhecida, by: Certificate): boolean {
  if (hash('sha256', infNfse, 'base64') !== resumo) return false;
  const value = Buffer.from(valor, 'base64');
  if (value.toString('base64') !== valor || by.publicKey.asymmetricKeyType !== 'rsa') return false;
  return verifiesRsa('sha256', signedInfo, value, by);
}

const START = `${XML_HEAD}<NFSe xmlns="${DPS_NAMESPACE}" versao="${DPS_VERSAO}">`;
const INF_NFSE_START = '<infNFSe';
const INF_NFSE_END = '</infNFSe>';
const SIGNATURE_START = `<Signature xmlns="${DSIG}">`;
const SIGNED_INFO_START = '<SignedInfo>';
const SIGNED_INFO_END = '</SignedInfo>';

const BASE64 = '[A-Za-z0-9+/=]+';

/** A signature in the one profile, in canonical form. */
const SIGNATURE = [
  `${literal(SIGNATURE_START)}${SIGNED_INFO_START}`,
  `<CanonicalizationMethod Algorithm="${literal(REQUIRED.CanonicalizationMethod)}"></CanonicalizationMethod>`,
  `<SignatureMethod Algorithm="${literal(REQUIRED.SignatureMethod)}"></SignatureMethod>`,
  `<Reference URI="#(?<refere>[A-Za-z0-9]+)"><Transforms><Transform Algorithm="${literal(ENVELOPED)}"></Transform>`,
  `<Transform Algorithm="${literal(REQUIRED.CanonicalizationMethod)}"></Transform></Transforms>`,
  `<DigestMethod Algorithm="${literal(REQUIRED.DigestMethod)}"></DigestMethod>`,
  `<DigestValue>(?<resumo>${BASE64})</DigestValue></Reference>${SIGNED_INFO_END}`,
  `<SignatureValue>(?<valor>${BASE64})</SignatureValue>`,
  `<KeyInfo><X509Data><X509Certificate>(?<certificado>${BASE64})</X509Certificate></X509Data></KeyInfo></Signature>`,
].join('');

/** The expression of a whole note, built at the first note: most commands of the program never see one. */
const wholeNote = once(() => {
  const note = element(NFSE, '', ` xmlns="${literal(DPS_NAMESPACE)}"`, SIGNATURE);
  return new RegExp(`^${literal(XML_HEAD)}${note}$`);
});

function element(item: Leaf | Group, above: string, declaration = '', after = ''): string {
  const place = joinPath(above, item.name);
  const end = `</${item.name}>`;
  if (item.kind === 'leaf') return `<${item.name}>${field(place, valuePattern(item.type))}${end}`;
  // Namespaces come first, then attributes by name; no element has more than one attribute.
  const attributes = (item.attributes ?? []).map(
    ({ name, type }) => ` ${name}="${field(`${place}/@${name}`, valuePattern(type))}"`,
  );
  const inside = item.items.map((one) => particle(one, place)).join('');
  return `<${item.name}${declaration}${attributes.join('')}>${inside}${after}${end}`;
}

/** Every element begins with its own tag, so that an expression matches a text in only one way. */
function particle(item: Item, above: string): string {
  if (item.kind !== 'choice') return repeatPattern(item, above, item.min);
  const members = item.items.map((member) => repeatPattern(member, above, 1));
  return `(?:${members.join('|')})${item.min === 0 ? '?' : ''}`;
}

function repeatPattern(item: Leaf | Group, above: string, min: number): string {
  const one = element(item, above);
  if (item.max > 1) return `(?:${one}){${min},${item.max}}`;
  return min === 1 ? one : `(?:${one})?`;
}

function field(place: string, pattern: string): string {
  const name = FIELD_AT.get(place);
  return name === undefined ? pattern : `(?<${name}>${pattern})`;
}

/** Three characters are written as references; only free text has them. */
const REFERENCE = '&(?:amp|lt|gt);';

function valuePattern(given: SimpleType): string {
  const type = nationalType(given);
  if (type.kind === 'enum') return `(?:${type.values!.map(literal).join('|')})`;
  if (type.latin) return latinText(type);
  if (type.pattern === undefined) return anyText(type);
  return `(?:${patternOf(type).replace(/\((?!\?)/g, '(?:')})`;
}

/** Text that neither begins nor ends with a space. */
function latinText({ min, max }: SimpleType): string {
  const visible = `(?:[!-%'-;=?-ÿ]|${REFERENCE})`;
  const any = `(?:[ -%'-;=?-ÿ]|${REFERENCE})`;
  const more = `${any}{${Math.max(0, min - 2)},${max - 2}}${visible}`;
  return min > 1 ? visible + more : `${visible}(?:${more})?`;
}

/** Text with at least one character that is no white space. Surrogates, and all characters beyond them, are left to the parser. */
function anyText({ min, max }: SimpleType): string {
  return `(?=[ \\n\\t]*[^ \\n\\t<])(?:[ \\n\\t!-%'-;=?-\\uD7FF\\uE000-\\uFFFC]|${REFERENCE}){${min},${max}}`;
}

function literal(text: string): string {
  return text.replace(/[.?*+^$()[\]{}|\\]/g, '\\$&');
}
