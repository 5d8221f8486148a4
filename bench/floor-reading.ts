/** The pieces of the floor that read and write a document: one pass over the text, for ordinary documents alone. */
import { isUtf8 } from 'node:buffer';
import { hash, type KeyObject, verify, X509Certificate } from 'node:crypto';
import { readXml } from '../src/documents/xml.ts';
import { judge } from '../src/fiscal/judge.ts';
import { INF_DPS } from '../src/fiscal/layout/dps.ts';
import { readDps } from '../src/fiscal/layout/read.ts';
import type { SimpleType } from '../src/fiscal/layout/simple-types.ts';
import { elementsOf, type Group, type Item, type Leaf } from '../src/fiscal/layout/vocabulary.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import { EXAMPLE_FACTS } from '../src/fiscal/rules/trial.ts';

/** `from` and `to`: the place of the element; `text`: the content of an element without children. */
type Element = {
  readonly name: string;
  readonly from: number;
  to: number;
  readonly inside: number;
  text: string;
  readonly children: Element[];
};

export type Read = { readonly text: string; readonly root: Element };

const SLASH = 0x2f;

/**
 * Names, places and texts in one pass; the parser supports only the comments, references and namespaces of the ordinary
 * document.
 */
export function readOnce(bytes: Buffer): Read {
  if (!isUtf8(bytes)) throw new Error('not UTF-8');
  const text = bytes.toString('utf8');
  const open: Element[] = [];
  for (let at = text.indexOf('<', text.indexOf('?>')); ; ) {
    const end = text.indexOf('>', at);
    if (end < 0) throw new Error('not closed');
    if (text.charCodeAt(at + 1) !== SLASH) {
      const space = text.indexOf(' ', at);
      const name = text.slice(at + 1, space > 0 && space < end ? space : end);
      const element: Element = { name, from: at, to: 0, inside: end + 1, text: '', children: [] };
      open.at(-1)?.children.push(element);
      open.push(element);
    } else {
      const element = open.pop()!;
      if (text.slice(at + 2, end) !== element.name) throw new Error('closed by another name');
      element.to = end + 1;
      if (element.children.length === 0) element.text = text.slice(element.inside, at);
      if (open.length === 0) return { text, root: element };
    }
    at = text.indexOf('<', end);
  }
}

const DPS_XMLNS = ' xmlns="http://www.sped.fazenda.gov.br/nfse"';
const DSIG_XMLNS = ' xmlns="http://www.w3.org/2000/09/xmldsig#"';
const keys = new Map<string, KeyObject>();

/**
 * Digest and RSA over the canonical forms, which are the text itself with the namespace in it. It throws when either is
 * wrong.
 */
export function verifySignature({ text, root }: Read): void {
  const [infDps, signature] = root.children as [Element, Element];
  const [signedInfo, value, keyInfo] = signature.children as [Element, Element, Element];
  const digest = hash('sha256', canonicalOf(text, infDps, DPS_XMLNS), 'base64');
  if (lastOf(signedInfo).text !== digest) throw new Error('another digest');
  const signed = Buffer.from(canonicalOf(text, signedInfo, DSIG_XMLNS));
  if (!verify('sha256', signed, keyOf(lastOf(keyInfo).text), Buffer.from(value.text, 'base64')))
    throw new Error('another signature');
}

function canonicalOf(text: string, { name, from, to }: Element, xmlns: string): string {
  const after = from + 1 + name.length;
  return `<${name}${xmlns}${text.slice(after, to)}`;
}

/** The last element at the deepest level. */
function lastOf(element: Element): Element {
  const last = element.children.at(-1);
  return last === undefined ? element : lastOf(last);
}

function keyOf(base64: string): KeyObject {
  const known = keys.get(base64);
  if (known !== undefined) return known;
  const { publicKey } = new X509Certificate(Buffer.from(base64, 'base64'));
  keys.set(base64, publicKey);
  return publicKey;
}

type Fits = { readonly place: number; readonly inner?: Fitting; readonly pattern?: RegExp };
type Fitting = ReadonlyMap<string, Fits>;

const LAYOUT = fittingOf(INF_DPS);

function fittingOf(items: readonly Item[]): Fitting {
  const fit = (item: Leaf | Group, place: number): [string, Fits] => [
    item.name,
    item.kind === 'leaf' ? { place, pattern: patternOf(item.type) } : { place, inner: fittingOf(item.items) },
  ];
  return new Map(elementsOf(items).map(fit));
}

function patternOf({ kind, pattern, values, min, max }: SimpleType): RegExp {
  if (pattern !== undefined) return new RegExp(`^(?:${pattern})$`);
  if (values !== undefined) return new RegExp(`^(?:${values.join('|')})$`);
  return kind === 'decimal' ? /^\d+(?:\.\d+)?$/ : new RegExp(`^.{${min},${max}}$`, 's');
}

type Values = { readonly [name: string]: string | Values };

/** The values by name, each checked for its place and form. */
export function checkLayout({ root }: Read): Values {
  return valuesOf(root.children[0]!, LAYOUT);
}

function valuesOf({ children }: Element, fitting: Fitting): Values {
  const values: Record<string, string | Values> = {};
  let last = -1;
  for (const child of children) {
    const fits = fitting.get(child.name);
    if (fits === undefined || fits.place < last) throw new Error(`${child.name} is not expected here`);
    last = fits.place;
    if (fits.inner !== undefined) values[child.name] = valuesOf(child, fits.inner);
    else if (fits.pattern!.test(child.text)) values[child.name] = child.text;
    else throw new Error(`${child.name} is not of its form`);
  }
  return values;
}

/** The law has no shorter form than its rules: this piece uses our own. */
export function judgeExample(): () => void {
  const reading = readXml(Buffer.from(exampleXml()));
  if ('fault' in reading) throw new Error(reading.fault.mensagem);
  const read = readDps(reading.root);
  if ('faults' in read) throw new Error(read.faults[0]!.mensagem);
  return () => {
    if ('faults' in judge(read.dps, EXAMPLE_FACTS)) throw new Error('refused');
  };
}

/** The note's own elements around the declaration, as long as ours. */
const OWN =
  `<?xml version="1.0" encoding="UTF-8"?><NFSe versao="1.01"${DPS_XMLNS}><infNFSe Id="NFS@"><xLocEmi>São Paulo</xLocEmi><xLocPrestacao>São Paulo</xLocPrestacao><nNFSe>@</nNFSe><cLocIncid>3550308</cLocIncid><xLocIncid>São Paulo</xLocIncid><xTribNac>Análise e desenvolvimento de sistemas.</xTribNac><xNBS>Serviços de projeto e desenvolvimento de aplicativos</xNBS><verAplic>emissor-nfse-0.1</verAplic><ambGer>1</ambGer><tpEmis>1</tpEmis><cStat>100</cStat><dhProc>@</dhProc><nDFSe>@</nDFSe><emit><CNPJ>@</CNPJ><IM>1000</IM><xNome>@</xNome><enderNac><xLgr>@</xLgr><nro>@</nro><xBairro>@</xBairro><cMun>@</cMun><UF>SP</UF><CEP>@</CEP></enderNac></emit><valores><vBC>@</vBC><pAliqAplic>@</pAliqAplic><vISSQN>@</vISSQN><vLiq>@</vLiq></valores><IBSCBS><cLocalidadeIncid>3550308</cLocalidadeIncid><xLocalidadeIncid>São Paulo</xLocalidadeIncid><valores><vBC>@</vBC><uf><pIBSUF>@</pIBSUF><pAliqEfetUF>@</pAliqEfetUF></uf><mun><pIBSMun>@</pIBSMun><pAliqEfetMun>@</pAliqEfetMun></mun><fed><pCBS>@</pCBS><pAliqEfetCBS>@</pAliqEfetCBS></fed></valores><totCIBS><vTotNF>@</vTotNF><gIBS><vIBSTot>@</vIBSTot><gIBSUFTot><vIBSUF>@</vIBSUF></gIBSUFTot><gIBSMunTot><vIBSMun>@</vIBSMun></gIBSMunTot></gIBS><gCBS><vCBS>@</vCBS></gCBS></totCIBS></IBSCBS><DPS versao="1.01">`.split(
    '@',
  );

export function composeNote({ text, root }: Read): Buffer {
  const [infDps] = root.children as [Element];
  const { children } = infDps;
  let note = OWN[0]!;
  for (let place = 1; place < OWN.length; place += 1) {
    const { text: value } = children[place % children.length]!;
    note += (/[&<>]/.test(value) ? value.replace(/[&<>]/g, (one) => `&#${one.charCodeAt(0)};`) : value) + OWN[place]!;
  }
  return Buffer.from(`${note}${text.slice(infDps.from, infDps.to)}</DPS></infNFSe></NFSe>`);
}
