/** A signature inside an XML document, and the `xmlsec1` command that checks it. */
import { quoteShell } from '../../base/world/quote-shell.ts';
import { type Certificate, readCertificate } from '../../documents/certificate.ts';
import { isSignature } from '../../documents/signature-shape.ts';
import { readXml } from '../../documents/xml.ts';
import type { Elemento } from '../../fiscal/layout/tree.ts';
import type { Conferencia } from './partes.ts';

/** `place`: the position among all signatures of the document, from 1. */
type Found = { readonly place: number; readonly parent: Elemento; readonly signature: Elemento };

export type AssinadoXml = {
  readonly certificate: Certificate;
  /** `arquivo`, `signatario`: the files of the document and of the certificate. */
  readonly conferencia: (arquivo: string, signatario: string) => Conferencia;
};

/** The signature that `choose` selects from a document; undefined: there is none, or it has no certificate. */
export function findAssinado(
  xml: Uint8Array,
  choose: (parents: readonly Elemento[]) => Elemento | undefined,
): AssinadoXml | undefined {
  const reading = readXml(xml);
  if ('fault' in reading) return undefined;
  const all = [...signaturesIn(reading.root)].map((one, at): Found => ({ ...one, place: at + 1 }));
  const parent = choose(all.map((one) => one.parent));
  const found = all.find((one) => one.parent === parent);
  const text = found && descendant(found.signature, 'X509Certificate')?.text.replace(/\s+/g, '');
  if (found === undefined || !text) return undefined;
  const certificate = readCertificate(Buffer.from(text, 'base64'));
  if ('problem' in certificate) return undefined;
  const signed = findSigned(reading.root, found);
  const options = [...idOptions(signed), ...placeOptions(found, all.length)];
  const what = signed === undefined ? 'O documento inteiro' : `O elemento ${signed.element.name}, com tudo o que traz,`;
  return {
    certificate,
    conferencia: (arquivo, signatario) => ({
      oQue: `${what} é o que foi assinado, sem um caractere mudado, e quem assinou foi a chave deste certificado`,
      comando: `xmlsec1 --verify ${LAX} --enabled-key-data rsa --pubkey-cert-pem ${signatario} ${options.join(' ')} ${arquivo}`,
      resposta: 'OK',
    }),
  };
}

/** `xmlsec1` from 1.3 on needs this option to take a key that the document does not name. Earlier versions do not know the option. */
const LAX = '$(xmlsec1 --help-verify | grep -om1 -e --lax-key-search)';

function* signaturesIn(element: Elemento): Generator<Omit<Found, 'place'>> {
  for (const child of element.children) {
    if (isSignature(child)) yield { parent: element, signature: child };
    else yield* signaturesIn(child);
  }
}

function descendant(element: Elemento, name: string): Elemento | undefined {
  for (const child of element.children) {
    const found = child.name === name ? child : descendant(child, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The element that a signature names by an attribute; undefined: the signature covers the whole document. */
type Signed = { readonly element: Elemento; readonly attribute: string };

function findSigned(root: Elemento, { signature }: Found): Signed | undefined {
  const reference = descendant(signature, 'Reference');
  const id = reference?.attributes.find(({ name }) => name === 'URI')?.value.replace(/^#/, '');
  return id ? withAttribute(root, id) : undefined;
}

/** The identifier attribute of the signed element: `xmlsec1` does not know it by itself. */
function idOptions(signed: Signed | undefined): readonly string[] {
  if (signed === undefined) return [];
  const { element, attribute } = signed;
  const named = element.namespace === '' ? element.name : `${element.namespace}:${element.name}`;
  // A namespace is the sender's text, and is quoted before it becomes part of a command.
  return [`--id-attr:${attribute} ${quoteShell(named)}`];
}

function withAttribute(element: Elemento, value: string): Signed | undefined {
  const own = element.attributes.find((one) => /^id$/i.test(one.name) && one.value === value);
  if (own !== undefined) return { element, attribute: own.name };
  for (const child of element.children) {
    const found = withAttribute(child, value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function placeOptions({ place }: Found, count: number): readonly string[] {
  return count === 1 ? [] : [`--node-xpath "(//*[local-name()='Signature'])[${place}]"`];
}
