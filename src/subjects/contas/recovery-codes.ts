/** Recovery codes: each stands in once for a lost second factor. Only their SHA-256 is stored: they are random, and long enough (D-835). */
import { createHash, randomInt } from 'node:crypto';

/** The number of codes in a set. */
export const CODES_COUNT = 10;
/** Letters and digits that are not mistaken for each other when they are copied from paper. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const GROUP = 4;
/** Sixteen of thirty-one characters: 79 bits, too many to try. */
const LENGTH = 16;

/** A new set, in the form in which a person copies them: groups of four. */
export function makeRecoveryCodes(): readonly string[] {
  return Array.from({ length: CODES_COUNT }, () => {
    const text = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
    return text.match(new RegExp(`.{${GROUP}}`, 'g'))!.join('-');
  });
}

/** The stored form of a code; capitals, spaces and hyphens do not count. */
export function printOfCode(code: string): Buffer {
  const typed = code.toLowerCase().replace(/[\s-]+/g, '');
  return createHash('sha256').update(typed).digest();
}
