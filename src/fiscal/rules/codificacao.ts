/** Text that was broken before it came here: UTF-8 that somebody read as Latin-1, and letters that were lost. */
import { quoted } from '../fault.ts';
import type { Dps } from '../layout/dps.ts';
import type { Breach, Rule } from './rule.ts';

/** What Windows-1252 has at 80 to 9F; blanks are the five that it leaves out. */
const WINDOWS_1252 = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ';

/** A byte that goes on a letter of UTF-8, as Latin-1 or Windows-1252 shows it. */
const REST = `\\u0080-\\u00BF${WINDOWS_1252.replaceAll(' ', '')}`;

/** The beginnings of UTF-8 that Portuguese needs (letters and signs C2, C3; dashes and quotes E2), each with what follows it. */
const BROKEN = new RegExp(`[\\u00C2\\u00C3][${REST}]|\\u00E2[${REST}]{2}|\\uFFFD`);

const OUTSIDE_ASCII = /[^\0-\x7F]+/g;

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** A value of the document, or a group of it. */
type Part = unknown;

/** Whether any text below is suspect. Looked at once; nothing is kept while nothing is found. */
function isBroken(part: Part): boolean {
  if (typeof part === 'string') return describeBroken(part) !== undefined;
  if (typeof part !== 'object' || part === null) return false;
  for (const name in part) if (isBroken((part as Record<string, Part>)[name])) return true;
  return false;
}

/** Every text below that is broken, with its path. */
function findBroken(part: Part, at: string): readonly Breach[] {
  if (typeof part === 'string') {
    const what = describeBroken(part);
    return what === undefined ? [] : [{ at, mensagem: what, encontrado: undefined }];
  }
  if (Array.isArray(part)) return part.flatMap((item: Part, place) => findBroken(item, `${at}[${place + 1}]`));
  if (typeof part !== 'object' || part === null) return [];
  const base = at === '' ? '' : `${at}/`;
  return Object.entries(part).flatMap(([name, value]) => findBroken(value, `${base}${name}`));
}

/** What to tell of a text, a sentence in Portuguese; undefined of one that is not suspect, or only looks so. */
export function describeBroken(text: string): string | undefined {
  if (!BROKEN.test(text)) return undefined;
  for (const word of text.split(/[ \t\n\r]/)) {
    if (!BROKEN.test(word)) continue;
    if (word.includes('\uFFFD')) {
      return `O texto traz "${quoted(word)}", e � está no lugar de uma letra que se perdeu antes de chegar aqui. Ele segue assim. Escreva-o de novo, e envie o documento em UTF-8.`;
    }
    const meant = word.replace(OUTSIDE_ASCII, (letters) => utf8Of(letters) ?? letters);
    if (meant !== word) {
      return `O texto traz "${quoted(word)}", que parece UTF-8 lido como Latin-1: é "${quoted(meant)}"? Ele segue como veio. Leia-o como UTF-8 antes de montar o documento.`;
    }
  }
  return undefined;
}

/** The letters whose bytes in UTF-8 these are in Latin-1; undefined where they are the bytes of nothing. */
function utf8Of(letters: string): string | undefined {
  const bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place += 1) {
    const code = letters.charCodeAt(place);
    const windows = code < 0x100 ? -1 : WINDOWS_1252.indexOf(letters[place]!);
    if (code > 0xff && windows < 0) return undefined;
    bytes[place] = windows < 0 ? code : 0x80 + windows;
  }
  try {
    return UTF_8.decode(bytes);
  } catch {
    return undefined;
  }
}

export const CODIFICACAO: readonly Rule[] = [
  {
    code: 'E0003',
    // Any text of the document; the breaches say which.
    at: 'serv/cServ/xDescServ',
    scope: 'aviso',
    message: 'O texto parece ter sido lido na codificação errada antes de chegar aqui.',
    origin: 'Decisão D-195',
    why: 'Um texto em UTF-8 que um programa lê como Latin-1 chega com dois sinais em lugar de cada letra acentuada. A nota o leva como veio, e ele sai impresso assim.',
    must: (dps: Dps) => !isBroken(dps),
    breaches: (dps) => findBroken(dps, ''),
    rejects: [{ 'serv/cServ/xDescServ': 'ManutenÃ§Ã£o de elevadores' }],
    accepts: [{ 'serv/cServ/xDescServ': 'MANUTENÇÃO NA CÂMARA DE SÃO PAULO; câmara fria, 2º andar' }],
  },
];
