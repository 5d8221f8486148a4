/** Documents of one megabyte, each slow for one of the steps that read it. */
import { DSIG, EXCLUSIVE, transform } from './signatures.ts';

/** The largest body that the service accepts. */
export const BODY_MAX_BYTES = 1024 * 1024;
/** The largest document in which the service looks for near matches. */
export const NEAR_BYTES_MAX = 64 * 1024;

/** Fills a document up to the limit with a unit, before or after a mark. */
export function filled(
  unit: string | ((number: number) => string),
  mark: string,
  where: 'before' | 'behind',
  { text, max = BODY_MAX_BYTES }: { text: string; max?: number },
): string {
  const place = text.indexOf(mark) + (where === 'behind' ? mark.length : 0);
  const [head, tail] = [text.slice(0, place), text.slice(place)];
  if (typeof unit === 'string') {
    const count = Math.floor((max - Buffer.byteLength(text)) / Buffer.byteLength(unit));
    return head + unit.repeat(Math.max(0, count)) + tail;
  }
  const units: string[] = [];
  for (let size = Buffer.byteLength(text); ; ) {
    const one = unit(units.length);
    size += Buffer.byteLength(one);
    if (size > max) return head + units.join('') + tail;
    units.push(one);
  }
}

const prefixes = (count: number): string =>
  Array.from({ length: count }, (_, place) => ` xmlns:p${place}="urn:${place}"`).join('');
const attributes = (count: number, prefixed = false): string =>
  Array.from({ length: count }, (_, place) => (prefixed ? ` p${place}:a=""` : ` a${place}=""`)).join('');
/** The number of elements stays just below its limit if another step must be the slow one. */
const ELEMENTS = 59_000;

/** `plain`: a signed DPS, and the Base64 of a certificate. */
export function dearDocuments(plain: string, certificate: string): Readonly<Record<string, () => string>> {
  const withRoot = (more: string): string => plain.replace('<DPS ', `<DPS${more} `);
  const used = withRoot(' xmlns:p="urn:p" p:a="1"');
  const fill = (
    unit: string | ((number: number) => string),
    mark: string,
    where: 'before' | 'behind',
    options: { text?: string; max?: number } = {},
  ): string => filled(unit, mark, where, { text: plain, ...options });
  return {
    'elements in infDPS': () => fill('<a/>', '<tpAmb>', 'before', { max: 4 * ELEMENTS }),
    'elements beyond the limit': () => fill('<a/>', '<tpAmb>', 'before'),
    'elements beside infDPS': () => fill('<abcdefghijklm/>', '</infDPS>', 'behind'),
    'infDPS beside infDPS': () => fill('<infDPS a="12345"/>', '</infDPS>', 'behind'),
    'infDPS in infDPS': () => fill('<infDPS a="12345"/>', '<tpAmb>', 'before'),
    Signatures: () => fill(`<Signature xmlns="${DSIG}"/>`, '</infDPS>', 'behind'),
    'Signatures in infDPS': () => fill(`<Signature xmlns="${DSIG}"/>`, '<tpAmb>', 'before'),
    'the same Id everywhere': () => fill('<a Id="DPS3"   />', '<tpAmb>', 'before'),
    'another Id everywhere': () =>
      fill((number) => `<a Id="x${String(number).padStart(7, '0')}"/>`, '<tpAmb>', 'before'),
    'References of nothing': () => fill('<Reference/>', '</SignedInfo>', 'before', { max: 600_000 }),
    References: () =>
      fill(
        `<Reference URI="#a"><Transforms>${transform(EXCLUSIVE)}</Transforms></Reference>`,
        '</SignedInfo>',
        'before',
      ),
    transforms: () => fill(transform(EXCLUSIVE), '</Transforms>', 'before'),
    certificates: () => fill('<X509Certificate/>', '</X509Data>', 'before', { max: 1_000_000 }),
    'whole certificates': () => fill(`<X509Certificate>${certificate}</X509Certificate>`, '</X509Data>', 'before'),
    'other certificates': () =>
      fill((number) => `<X509Certificate>AAAA${number}</X509Certificate>`, '</X509Data>', 'before'),
    KeyInfos: () => fill('<KeyInfo       />', '</Signature>', 'before'),
    'a value of a megabyte': () => fill('AAAA', '</SignatureValue>', 'before'),
    'a value of spaces': () => fill(' \n\t', '</SignatureValue>', 'before'),
    'a certificate of a megabyte': () => fill('AAAA', '</X509Certificate>', 'before'),
    'a digest of a megabyte': () => fill('AAAA', '</DigestValue>', 'before'),
    'an Id of a megabyte': () => fill('x', 'Id="', 'behind'),
    'a URI of a megabyte': () => fill('x', 'URI="', 'behind'),
    'an algorithm of a megabyte': () => fill('x', 'Algorithm="', 'behind'),
    'a text of a megabyte': () => fill('x', '<xDescServ>', 'behind'),
    'a text of references': () => fill('&#13;', '<xDescServ>', 'behind'),
    'a text of signs': () => fill('&gt;', '<xDescServ>', 'behind'),
    'a text of line ends': () => fill('\r\n', '<xDescServ>', 'behind'),
    'an attribute of a megabyte': () =>
      fill('> ', '<xDescServ>', 'behind', {
        text: plain.replace('<xDescServ>', '<xDescServ a="<xDescServ>">'),
      }).replace('a="<xDescServ>', 'a="'),
    'spaces in a tag': () => fill(' ', '<xDescServ', 'behind'),
    'CDATA sections': () => fill('<![CDATA[<!--]]>', '<xDescServ>', 'behind'),
    comments: () => fill('<!---->', '<tpAmb>', 'before'),
    instructions: () => fill('<?a?>', '<tpAmb>', 'before'),
    'comments before the root': () => fill('<!---->', '<DPS', 'before'),
    'instructions before the root': () => fill('<?a?>', '<DPS', 'before'),
    'comments that are not closed': () => fill('<!-- -', '<DPS', 'before'),
    'tags that are not closed': () => fill('<a "', '<DPS', 'before'),
    'attributes beyond the limit': () => fill((number) => ` a${number}=""`, '<xDescServ', 'behind'),
    'attributes at the limit': () => fill(`<a${attributes(250)}/>`, '<tpAmb>', 'before'),
    'attributes of many prefixes': () =>
      fill(`<a${attributes(240, true)}/>`, '<tpAmb>', 'before', { text: withRoot(prefixes(240)) }),
    'prefixes beyond the limit': () =>
      fill((number) => `<p${number}:a xmlns:p${number}="urn:x"/>`, '<tpAmb>', 'before'),
    'prefixes at the limit': () =>
      fill('<a/>', '<tpAmb>', 'before', { text: withRoot(prefixes(240)), max: 4 * ELEMENTS }),
    'prefixes at the limit, where near misses are looked for': () =>
      fill('<a/>', '<tpAmb>', 'before', { text: withRoot(prefixes(240)), max: NEAR_BYTES_MAX }),
    'prefixes, where near misses are looked for': () =>
      fill('<a/>', '<tpAmb>', 'before', { text: withRoot(prefixes(15)), max: NEAR_BYTES_MAX }),
    'deep elements, where near misses are looked for': () =>
      fill('<a>'.repeat(24) + '</a>'.repeat(24), '<tpAmb>', 'before', { max: NEAR_BYTES_MAX }),
    'lines, where near misses are looked for': () =>
      fill('<x>Ação\r\n</x>', '<tpAmb>', 'before', { max: NEAR_BYTES_MAX }),
    'default namespaces': () => fill((number) => `<a xmlns="urn:${number}"/>`, '<tpAmb>', 'before'),
    'default namespaces, taken back': () => fill('<a xmlns=""><b xmlns="urn:b"/></a>', '<tpAmb>', 'before'),
    'an element that only libxml2 can cut out': () =>
      fill('<a/>', '<tpAmb>', 'before', { text: used, max: 4 * ELEMENTS }),
    'an element with attributes that only libxml2 can cut out': () =>
      fill(`<a${attributes(250)}/>`, '<tpAmb>', 'before', { text: used }),
    'a relative namespace at the end': () =>
      fill('<a xmlns="urn:b"/>', '<tpAmb>', 'before', { max: BODY_MAX_BYTES - 60 }).replace(
        '</infDPS>',
        '<a xmlns="b"/></infDPS>',
      ),
    'a strange namespace at the end': () =>
      fill('<a xmlns="urn:b"/>', '<tpAmb>', 'before', { max: BODY_MAX_BYTES - 60 }).replace(
        '</infDPS>',
        '<a xmlns="http://[&lt;]"/></infDPS>',
      ),
    'deep beyond the limit': () => fill('<a>', '<tpAmb>', 'before'),
  };
}
