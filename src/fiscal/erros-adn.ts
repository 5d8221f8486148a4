/**
 * Makes an answer of the national environment fit for storage and display (`erros_adn`). Names that suggest a secret or program internals
 * are removed. A text has at most a thousand characters, and an object at most three levels.
 *
 * The value comes from outside and may be anything. The result is an object of plain JSON values that a database accepts: no U+0000, no
 * halves of a surrogate pair. Texts are not searched for secrets: only the names decide.
 */

/** Plain JSON. */
export type ErrosAdn = { readonly [name: string]: ErroValue };
type ErroValue = string | number | boolean | null | readonly ErroValue[] | ErrosAdn;

/** Characters of a text (specification, Limits). */
export const TEXT_LENGTH_MAX = 1000;
/** Levels, the object itself among them (specification, Limits). */
export const DEPTH_MAX = 3;
/** Members of one object or list: a real answer has only a few reasons with few fields. */
const MEMBERS_MAX = 100;
const NAME_LENGTH_MAX = 100;

/** Stands in the place of a fourth level. */
const TOO_DEEP = '[omitido]';

/** Parts of a name: letters and digits alone, lower case, no accents. English and Portuguese. */
const SECRET_WITHIN = [
  'password',
  'passwd',
  'passphrase',
  'senha',
  'token',
  'secret',
  'segredo',
  'privatekey',
  'chaveprivada',
  'backtrace',
  'stacktrace',
  'traceback',
  'cookie',
  'authorization',
  'authorisation',
  'credential',
  'credenciais',
  'apikey',
];

/** Whole names: as a part of another name they mean nothing. */
const SECRET_WHOLE = new Set(['pwd', 'pass', 'auth', 'bearer', 'jwt', 'stack', 'trace', 'pilha', 'privkey']);

/** `erros_adn` of any answer; null if there was none. A list or a single value is put under a name. */
export function sanitizeErros(value: unknown): ErrosAdn | null {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return { erros: listOf(value, 2) };
  if (typeof value === 'object') return objectOf(value, 1);
  const text = simplify(value, 1);
  return text === undefined ? null : { mensagem: text };
}

function simplify(value: unknown, level: number): ErroValue | undefined {
  switch (typeof value) {
    case 'string':
      return truncate(value, TEXT_LENGTH_MAX);
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'boolean':
      return value;
    case 'bigint':
      return truncate(String(value), TEXT_LENGTH_MAX);
    case 'object':
      if (value === null) return null;
      if (level > DEPTH_MAX) return TOO_DEEP;
      return Array.isArray(value) ? listOf(value, level) : objectOf(value, level);
    default:
      return undefined;
  }
}

function listOf(values: readonly unknown[], level: number): readonly ErroValue[] {
  return values.slice(0, MEMBERS_MAX).map((value) => simplify(value, level + 1) ?? null);
}

function objectOf(value: object, level: number): ErrosAdn {
  const members: [string, ErroValue][] = [];
  // An error gives its message under a name that is not listed; its other fields are not wanted.
  const source = value instanceof Error ? { mensagem: value.message } : value;
  for (const [name, inner] of Object.entries(source)) {
    if (members.length === MEMBERS_MAX) break;
    if (isSecret(name)) continue;
    const kept = simplify(inner, level + 1);
    if (kept !== undefined) members.push([truncate(name, NAME_LENGTH_MAX), kept]);
  }
  // Entries are defined and not assigned, so that `__proto__` is an ordinary name.
  return Object.fromEntries(members);
}

function isSecret(name: string): boolean {
  const bare = name
    .slice(0, 10 * NAME_LENGTH_MAX)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    // The Secretaria da Fazenda is no secret.
    .replaceAll('secretari', '');
  return SECRET_WHOLE.has(bare) || SECRET_WITHIN.some((word) => bare.includes(word));
}

/** The first characters of a text, none of them cut in two. */
function truncate(text: string, max: number): string {
  const clean = text
    .slice(0, 2 * max + 1)
    .toWellFormed()
    .replaceAll('\0', '');
  if (clean.length <= max) return clean;
  const characters = [...clean];
  return characters.length <= max ? clean : characters.slice(0, max).join('');
}
