/**
 * Checks the members of a CMS beside its signature: certificates, revocation lists, attributes. A member of the wrong type is refused,
 * because another reader may take it for something else (D-233). Each function gives a reason in Portuguese, written after the name of the
 * header, or undefined.
 */
import { describeFault, type FaultText } from '../fiscal/fault.ts';
import { type Asn1, isUniversal, oidOf, TAG, timeOf, tryAsn1 } from './asn1.ts';
import { readCrl } from './crl.ts';
import { ATTRIBUTE_NAMES, CMS_OID } from './oids.ts';

/** A chain has three certificates; reading each takes time. */
const CERTIFICATES_MAX = 10;

/** The other alternatives of CertificateChoices (RFC 5652, 10.2.2). */
const OTHER_CERTIFICATES: Readonly<Record<number, string>> = {
  0: 'um certificado estendido do PKCS#6',
  1: 'um certificado de atributo',
  2: 'um certificado de atributo',
  3: 'um certificado de outro formato',
};

/** The fault of the certificates: too many, or one that is not X.509. */
export function certificatesFault(members: readonly Asn1[]): FaultText | undefined {
  if (members.length > CERTIFICATES_MAX) {
    return { mensagem: `o CMS traz ${members.length} certificados, e o limite é ${CERTIFICATES_MAX}.` };
  }
  const strange = members.find((one) => one.class !== 0 || one.tag !== TAG.sequence);
  if (strange === undefined) return undefined;
  const what = (strange.class === 2 ? OTHER_CERTIFICATES[strange.tag] : undefined) ?? 'um valor que não é certificado';
  return describeFault(
    `entre os certificados o CMS traz ${what}, que não é lido.`,
    'Deixe só certificados X.509: o do signatário e os da cadeia dele.',
  );
}

/** The fault of the revocation lists. They must be readable as lists; their entries are not used. */
export function listsFault(members: readonly Asn1[]): FaultText | undefined {
  for (const member of members) {
    if (!isUniversal(member, TAG.sequence)) {
      return {
        mensagem: 'entre as listas de revogados o CMS traz um valor de outro formato, que não é lido. Retire-o.',
      };
    }
    const reading = readCrl(member.raw);
    let step = reading.next();
    while (step.done !== true) step = reading.next();
    if ('problem' in step.value && !step.value.isList) {
      return {
        mensagem: `uma das listas de revogados que o CMS traz não serve: ${step.value.problem}. Retire-a: as listas que valem são as do município.`,
      };
    }
  }
  return undefined;
}

type List = 'assinados' | 'não assinados';

/** Attributes allowed in only one of the two lists. The signed ones have one value (RFC 5652, 11.1 to 11.4; RFC 5035, 3; RFC 2634, 5.4). */
const OF_ONE_LIST: Readonly<Record<string, { readonly list: List; readonly source: string }>> = {
  [CMS_OID.contentType]: { list: 'assinados', source: 'RFC 5652, 11.1' },
  [CMS_OID.messageDigest]: { list: 'assinados', source: 'RFC 5652, 11.2' },
  [CMS_OID.signingTime]: { list: 'assinados', source: 'RFC 5652, 11.3' },
  [CMS_OID.countersignature]: { list: 'não assinados', source: 'RFC 5652, 11.4' },
  [CMS_OID.signingCertificate]: { list: 'assinados', source: 'RFC 2634, 5.4' },
  [CMS_OID.signingCertificateV2]: { list: 'assinados', source: 'RFC 5035, 3' },
};

/** The fault of attributes: each has a name and values (RFC 5652, 5.3), stands in its own list, and is signed once. */
export function attributesFault(which: List, list: Asn1 | undefined): string | undefined {
  if (list === undefined) return undefined;
  if (!list.isConstructed || list.children.length === 0) {
    return `a lista de atributos ${which} está vazia ou não é uma lista.`;
  }
  const seen = new Set<string>();
  for (const attribute of list.children) {
    const oid = nameOf(attribute);
    if (oid === undefined) return `um dos atributos ${which} não tem nome e valores.`;
    const fault = placeFault(which, oid, attribute.children[1]!.children);
    if (fault !== undefined) return fault;
    if (which === 'assinados' && seen.has(oid)) {
      return `o atributo assinado ${ATTRIBUTE_NAMES[oid] ?? oid} aparece duas vezes, e vem uma só.`;
    }
    seen.add(oid);
  }
  return undefined;
}

/** The fault of an attribute with a known name in the wrong list. */
function placeFault(which: List, oid: string, values: readonly Asn1[]): string | undefined {
  const known = OF_ONE_LIST[oid];
  if (known === undefined) return undefined;
  const { list, source } = known;
  const name = ATTRIBUTE_NAMES[oid]!;
  if (list !== which) {
    const why = list === 'assinados' ? ': fora deles qualquer um o escreve' : '';
    return `o atributo ${name} vem entre os ${which}, e só pode vir entre os ${list} (${source})${why}. Retire-o de lá.`;
  }
  if (list === 'assinados' && values.length !== 1) {
    return `o atributo assinado ${name} deve ter um valor, e tem ${values.length} (${source}).`;
  }
  return oid !== CMS_OID.signingTime || isTime(values[0]!)
    ? undefined
    : `o atributo assinado ${name} não é uma data com hora (${source}).`;
}

function isTime(value: Asn1): boolean {
  if (!isUniversal(value, TAG.utcTime) && !isUniversal(value, TAG.generalizedTime)) return false;
  return tryAsn1(() => timeOf(value)) !== undefined;
}

/** The OID of an attribute; undefined: the value is no attribute. */
function nameOf(value: Asn1): string | undefined {
  const [name, values, ...more] = value.children;
  const hasParts = isUniversal(value, TAG.sequence) && isUniversal(values, TAG.set) && values.isConstructed;
  return hasParts && more.length === 0 ? tryAsn1(() => oidOf(name)) : undefined;
}
