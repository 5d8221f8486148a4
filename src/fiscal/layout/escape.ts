/** Text as XML writes it inside an element, in the form that canonicalisation keeps. */

const SPECIAL = /[&<>\r]/;

/** A carriage return without a character reference would come back as a line feed. */
const REFERENCES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };

export function escapeText(text: string): string {
  return SPECIAL.test(text) ? text.replace(/[&<>\r]/g, (character) => REFERENCES[character]!) : text;
}

/** Text as the value of an attribute in double quotes. */
export function escapeAttribute(text: string): string {
  return escapeText(text).replaceAll('"', '&quot;');
}
