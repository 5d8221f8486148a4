/** A signature inside an XML document, and the command by which `xmlsec1` checks it. */
import { type Certificate, readCertificate } from '../../documents/certificate.ts';
import { isSignature } from '../../documents/signature-shape.ts';
import { readXml } from '../../documents/xml.ts';
import type { Elemento } from '../../fiscal/layout/tree.ts';
import type { Conferencia } from './partes.ts';

/** `place`: among all signatures of the document, from 1. */
type Found = { readonly place: number; readonly parent: Elemento; readonly signature: Elemento };

export type AssinadoXml = {
  readonly certificate: Certificate;
  /** `arquivo`, `signatario`: where the document and the certificate lie. */
  readonly conferencia: (arquivo: string, signatario: string) => Conferencia;
};

/** The signature that `choose` takes of those of a document; undefined where there is none, or it has no certificate. */
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
  const options = [...idOptions(reading.root, found), ...placeOptions(found, all.length)];
  return {
    certificate,
    conferencia: (arquivo, signatario) => ({
      oQue: 'O documento é o que foi assinado, sem um caractere mudado, e quem assinou foi a chave deste certificado',
      comando: `xmlsec1 --verify --enabled-key-data rsa --pubkey-cert-pem ${signatario} ${options.join(' ')} ${arquivo}`,
      resposta: 'OK',
    }),
  };
}

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

/** Which attribute is the identifier that the signature names: `xmlsec1` has to be told. */
function idOptions(root: Elemento, { signature }: Found): readonly string[] {
  const reference = descendant(signature, 'Reference');
  const id = reference?.attributes.find(({ name }) => name === 'URI')?.value.replace(/^#/, '');
  if (!id) return [];
  const signed = withAttribute(root, id);
  if (signed === undefined) return [];
  const [element, attribute] = signed;
  const named = element.namespace === '' ? element.name : `${element.namespace}:${element.name}`;
  return [`--id-attr:${attribute} ${quoteShell(named)}`];
}

/** A namespace is the sender's text, and stands in a command. */
function quoteShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function withAttribute(element: Elemento, value: string): readonly [Elemento, string] | undefined {
  const own = element.attributes.find((one) => /^id$/i.test(one.name) && one.value === value);
  if (own !== undefined) return [element, own.name];
  for (const child of element.children) {
    const found = withAttribute(child, value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function placeOptions({ place }: Found, count: number): readonly string[] {
  return count === 1 ? [] : [`--node-xpath "(//*[local-name()='Signature'])[${place}]"`];
}
