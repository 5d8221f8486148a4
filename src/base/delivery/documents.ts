/** Documents as they are sent, and as the national environment returns them. */
import { setImmediate as turn } from 'node:timers/promises';
import type { AdnKnowledge } from '../../adn/adn.ts';
import type { SignedProfile } from '../../documents/signature-shape.ts';
import { checkSignature } from '../../documents/signed.ts';
import { type Signer, signCanonical } from '../../documents/signing.ts';
import { readXml } from '../../documents/xml.ts';
import type { Recebida } from '../book/recepcoes.ts';

/** `assinatura`: undefined if nothing leaves the host, and nothing is signed (D-35). */
export type Document = { readonly xml: Buffer; readonly assinatura: Recebida['assinatura'] };

/** Place of the signature in a kind of document. */
export type Signable = {
  /** The signed part, in its canonical form, and the identifier of that part. */
  readonly partOf: (xml: string) => { readonly canonical: string; readonly id: string };
  readonly withSignature: (xml: string, element: string) => string;
  readonly profile: SignedProfile;
};

/** Signatures between two turns of the event loop: some six milliseconds. */
const SIGNED_PER_TURN = 25;

/** Signs the municipality's documents, by id. */
export async function signDocuments(
  texts: ReadonlyMap<string, string>,
  signer: Signer | undefined,
  kind: Signable,
): Promise<ReadonlyMap<string, Document>> {
  const documents = new Map<string, Document>();
  for (const [id, xml] of texts) {
    documents.set(
      id,
      signer === undefined ? { xml: Buffer.from(xml), assinatura: undefined } : sign(xml, signer, kind),
    );
    // Answers that arrived meanwhile are handled before the next documents are signed.
    if (documents.size % SIGNED_PER_TURN === 0) await turn();
  }
  return documents;
}

function sign(xml: string, signer: Signer, { partOf, withSignature }: Signable): Document {
  const { canonical, id } = partOf(xml);
  const { element, value } = signCanonical(canonical, id, signer);
  const assinatura = { valor: value, certificado: signer.certificate.der };
  return { xml: Buffer.from(withSignature(xml, element), 'utf8'), assinatura };
}

/**
 * The environment's own copy of a document whose answer was lost. A renewed certificate may have signed it. `another`: the copy is not
 * ours.
 */
export function recover(
  { nsu, xml }: Extract<AdnKnowledge, { kind: 'known' }>,
  ours: Document | undefined,
  profile: SignedProfile,
): Recebida | 'another' | undefined {
  if (xml === undefined || ours?.assinatura === undefined) return undefined;
  if (Buffer.compare(xml, ours.xml) === 0) return { nsu, assinatura: ours.assinatura };
  const [theirs, own] = [xml, ours.xml].map((bytes) => {
    const reading = readXml(bytes);
    return 'fault' in reading ? undefined : checkSignature(reading, profile);
  });
  if (theirs === undefined || theirs.assinado === undefined || theirs.assinado !== own?.assinado) return 'another';
  if (theirs.certificate === undefined || theirs.valor === undefined || theirs.faults.length > 0) return 'another';
  return { nsu, assinatura: { valor: theirs.valor, certificado: theirs.certificate.der } };
}
