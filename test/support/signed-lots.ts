/** Lots of RPS, each signed by hand: their texts are already canonical, so a hundred of them need no library. */
import { hash } from 'node:crypto';
import { ABRASF, infRps, loteXml, type RpsDeTeste } from './rps.ts';
import { DSIG, EXCLUSIVE, type Party, RSA_SHA256, rsaSha256, SHA256, transform, x509 } from './signatures.ts';

type Signer = Pick<Party, 'keys' | 'base64'>;

/** The signature of an element without namespace declarations of its own, under the default namespace of ABRASF. */
export function signatureOfElement(
  element: string,
  id: string,
  { keys, base64 }: Signer,
  keyInfo = x509(base64),
): string {
  const digested = element.replace(/^<\w+/, `$& xmlns="${ABRASF}"`);
  const signedInfo =
    `<SignedInfo xmlns="${DSIG}"><CanonicalizationMethod Algorithm="${EXCLUSIVE}"></CanonicalizationMethod>` +
    `<SignatureMethod Algorithm="${RSA_SHA256}"></SignatureMethod><Reference URI="#${id}"><Transforms>` +
    transform(EXCLUSIVE) +
    `</Transforms><DigestMethod Algorithm="${SHA256}"></DigestMethod>` +
    `<DigestValue>${hash('sha256', digested, 'base64')}</DigestValue></Reference></SignedInfo>`;
  const value = rsaSha256(keys.privateKey)(signedInfo).toString('base64');
  return `<Signature xmlns="${DSIG}">${signedInfo.replace(` xmlns="${DSIG}"`, '')}<SignatureValue>${value}</SignatureValue>${keyInfo}</Signature>`;
}

/** `EnviarLoteRpsEnvio` in which every RPS is signed. */
export function signedLot(
  all: readonly RpsDeTeste[],
  signer: Signer,
  { numero = '1', cnpj }: { readonly numero?: string; readonly cnpj?: string } = {},
): string {
  const signatures = all.map((rps) => signatureOfElement(infRps(rps, cnpj), `rps${rps.numero}`, signer));
  let place = 0;
  return loteXml(all, cnpj === undefined ? { numero } : { numero, cnpj }).replaceAll(
    '</InfRps>',
    (end) => end + signatures[place++],
  );
}
