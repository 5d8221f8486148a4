/**
 * What a CMS carries beside the signature itself: certificates, revocation lists, attributes. None of it is left unread: a
 * member that is not what its place says is refused, because another reader may take it for something (D-233). Each function
 * gives the reason in Portuguese, to go on after the name of the header, or undefined.
 */
import { type Asn1, Asn1Error, isUniversal, oidOf, TAG } from './asn1.ts';
import { readCrl } from './crl.ts';

/** Each one that is read costs time: a chain is three. */
const CERTIFICATES_MAX = 10;

/** The other choices of CertificateChoices (RFC 5652, 10.2.2). */
const OTHER_CERTIFICATES: Readonly<Record<number, string>> = {
  0: 'um certificado estendido do PKCS#6',
  1: 'um certificado de atributo',
  2: 'um certificado de atributo',
  3: 'um certificado de outro formato',
};

/** Whether there are as many as are read, all of them of X.509; each is read where it is needed. */
export function certificatesFault(members: readonly Asn1[]): string | undefined {
  if (members.length > CERTIFICATES_MAX) {
    return `o CMS traz ${members.length} certificados, e o limite é ${CERTIFICATES_MAX}.`;
  }
  const strange = members.find((one) => one.class !== 0 || one.tag !== TAG.sequence);
  if (strange === undefined) return undefined;
  const what = (strange.class === 2 ? OTHER_CERTIFICATES[strange.tag] : undefined) ?? 'um valor que não é certificado';
  return `entre os certificados o CMS traz ${what}, que não é lido. Deixe só certificados X.509: o do signatário e os da cadeia dele.`;
}

/** Whether lists that came along are lists. What they revoke is not asked of them. */
export function listsFault(members: readonly Asn1[]): string | undefined {
  for (const member of members) {
    if (!isUniversal(member, TAG.sequence)) {
      return 'entre as listas de revogados o CMS traz um valor de outro formato, que não é lido. Retire-o.';
    }
    const reading = readCrl(member.raw);
    let step = reading.next();
    while (step.done !== true) step = reading.next();
    if ('problem' in step.value && !step.value.isList) {
      return `uma das listas de revogados que o CMS traz não serve: ${step.value.problem}. Retire-a: as listas que valem são as do município.`;
    }
  }
  return undefined;
}

/** Attributes are a list of a name and a set of values (RFC 5652, 5.3); `which` says of what kind. */
export function attributesFault(which: string, list: Asn1 | undefined): string | undefined {
  if (list === undefined) return undefined;
  if (!list.isConstructed || list.children.length === 0) {
    return `a lista de atributos ${which} está vazia ou não é uma lista.`;
  }
  return list.children.every(isAttribute) ? undefined : `um dos atributos ${which} não tem nome e valores.`;
}

function isAttribute(value: Asn1): boolean {
  const [name, values, ...more] = value.children;
  const hasParts = isUniversal(value, TAG.sequence) && isUniversal(values, TAG.set) && values.isConstructed;
  if (!hasParts || more.length > 0) return false;
  try {
    return oidOf(name) !== '';
  } catch (error) {
    if (error instanceof Asn1Error) return false;
    throw error;
  }
}
