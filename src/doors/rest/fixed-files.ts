/** Files that machines look for at fixed addresses: the contact for security flaws, the rules of crawlers, and the icon. */
import { DAY_MS } from '../../fiscal/moment.ts';
import { BUSCA_PATH, NACIONAL_PATH, SECURITY_PATH } from '../../published/paths.ts';
import { SOAP_PATH } from '../../subjects/lotes/nfes.soap.ts';

const SECURITY_DAYS = 180;

/** RFC 9116 (D-909). `now`: milliseconds; the end moves with each day. */
export function securityText(contact: string, site: string, now: number): string {
  const end = new Date((Math.floor(now / DAY_MS) + SECURITY_DAYS) * DAY_MS);
  // An address without TLS may not stand in the file.
  const own = site.startsWith('https:') ? [`Canonical: ${site}${SECURITY_PATH}`] : [];
  const lines = [
    `Contact: ${contact}`,
    `Expires: ${end.toISOString().replace('.000', '')}`,
    'Preferred-Languages: pt-BR',
  ];
  return [...lines, ...own, ''].join('\n');
}

/** Pages of notes say themselves that they are not to be listed, which a crawler must be able to read. */
export const ROBOTS = `User-agent: *
Disallow: /*/api/
Disallow: /*${SOAP_PATH.replace('nfes', '')}
Disallow: /*${NACIONAL_PATH}/
Disallow: ${BUSCA_PATH}
`;

/** A sheet with lines: ink, paper, and nothing around it. */
const DRAWN = [
  '                ',
  '  ##########    ',
  '  #........##   ',
  '  #........#.#  ',
  '  #........#### ',
  '  #...........# ',
  '  #.########..# ',
  '  #...........# ',
  '  #.########..# ',
  '  #...........# ',
  '  #.####......# ',
  '  #...........# ',
  '  #......####.# ',
  '  #...........# ',
  '  ############# ',
  '                ',
];
const SIDE = DRAWN.length;
/** Blue, green, red. */
const [PAPER, INK] = [
  [255, 255, 255, 0],
  [121, 78, 31, 0],
];
const ICON_HEADER = 22;

/** An icon with one bitmap of two colours and its mask; a row has 16 bits and as many to fill it. */
export function drawFavicon(): Buffer {
  const bits = (sign: string): number[] =>
    DRAWN.toReversed().flatMap((row) => {
      const value = [...row].reduce((sum, one) => sum * 2 + Number(one === sign), 0);
      return [value >> 8, value & 0xff, 0, 0];
    });
  const long = (value: number): number[] => [value, 0, 0, 0];
  const oneBit = [1, 0, 1, 0];
  const described = [...long(40), ...long(SIDE), ...long(2 * SIDE), ...oneBit, ...new Array<number>(24).fill(0)];
  const image = [...described, ...PAPER!, ...INK!, ...bits('#'), ...bits(' ')];
  const header = [0, 0, ...oneBit, SIDE, SIDE, 2, 0, ...oneBit, ...long(image.length), ...long(ICON_HEADER)];
  return Buffer.from([...header, ...image]);
}
