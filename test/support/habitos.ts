/** Signatures with the habits of public libraries of the national API, made by xml-crypto. */
import { SignedXml } from 'xml-crypto';
import { DSIG, ENVELOPED, EXCLUSIVE, INCLUSIVE, type Party, RSA_SHA256, SHA256 } from './signatures.ts';

export type Habit = {
  readonly signature?: string;
  readonly digest?: string;
  readonly form?: string;
  readonly transforms?: readonly string[];
  readonly isWhole?: boolean;
  readonly prefix?: string;
};

/** The habits that a municipality takes without a setting. */
export const HABITS: Readonly<Record<string, Habit>> = {
  'exclusive, SHA-256': {},
  'exclusive with comments': { form: `${EXCLUSIVE}WithComments` },
  'inclusive, SHA-256': { form: INCLUSIVE },
  'inclusive, enveloped-signature alone': { form: INCLUSIVE, transforms: [ENVELOPED] },
  'the whole document': { form: INCLUSIVE, isWhole: true },
  'a prefix ds:': { prefix: 'ds' },
};

export const SHA1: Habit = { signature: `${DSIG}rsa-sha1`, digest: `${DSIG}sha1`, form: INCLUSIVE };

/** The document with the signature of a library beside its element. */
export function signWith(xml: string, element: string, habit: Habit, party: Party): string {
  const { signature = RSA_SHA256, digest = SHA256, form = EXCLUSIVE, isWhole = false, prefix = '' } = habit;
  const signer = new SignedXml({
    privateKey: party.keyPem,
    publicCert: party.pem,
    signatureAlgorithm: signature as typeof RSA_SHA256,
    canonicalizationAlgorithm: form as typeof EXCLUSIVE,
  });
  signer.addReference({
    xpath: isWhole ? '/*' : `//*[local-name(.)='${element}']`,
    transforms: [...(habit.transforms ?? [ENVELOPED, form])],
    digestAlgorithm: digest,
    ...(isWhole ? { isEmptyUri: true, uri: '' } : {}),
  });
  signer.computeSignature(xml, { prefix, location: { reference: '/*', action: 'append' } });
  return signer.getSignedXml();
}
