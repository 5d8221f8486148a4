/** Passwords of people: what one must be, and how it is kept. Hashes are argon2id, as PHC strings. The only importer of the list of leaked ones. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(argon2);

/** OWASP's first choice for argon2id: memory in KiB, passes, lanes. Raised here, older hashes still verify. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const SALT_BYTES = 16;
const TAG_BYTES = 32;

const LENGTH_MIN = 12;
/** A longer one is no better, and only costs. */
const LENGTH_MAX = 128;

/** Letters alike to a person count as the same. */
function fold(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();
}

/** What a person types is the same text on every keyboard. */
function bytesOf(password: string): Buffer {
  return Buffer.from(password.normalize('NFC'), 'utf8');
}

let leaked: Promise<ReadonlySet<string>> | undefined;

/** Some fifty thousand passwords of known leaks; loaded when one is chosen. */
function leakedPasswords(): Promise<ReadonlySet<string>> {
  leaked ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set<string>(dictionary['passwords-common'].map(String)),
  );
  return leaked;
}

/** Shorter words stand in many good passwords. */
const WORD_MIN = 3;
/** Fewer different letters are a pattern. */
const LETTERS_MIN = 5;

/** Why a password cannot be chosen, in Portuguese. `about`: what others know of its owner, as the login. Undefined: it can. */
export async function whyWeak(password: string, about: readonly string[]): Promise<string | undefined> {
  const length = [...password].length;
  if (length < LENGTH_MIN) {
    return `A senha tem ${length} caracteres; use ao menos ${LENGTH_MIN}. Três ou quatro palavras sem relação entre si são fáceis de lembrar.`;
  }
  if (length > LENGTH_MAX) return `A senha tem ${length} caracteres; o máximo é ${LENGTH_MAX}.`;
  const folded = fold(password);
  if (new Set(folded).size < LETTERS_MIN) return 'A senha repete poucos caracteres. Use palavras diferentes.';
  const own = about.flatMap((text) => fold(text).split(/[^a-z0-9]+/)).filter((word) => word.length >= WORD_MIN);
  const rest = own.reduce((text, word) => text.replaceAll(word, ''), folded);
  if (2 * rest.length <= folded.length) return 'A senha é quase só o nome ou o login de quem a usa. Escolha outra.';
  if (await isMostlyLeaked(folded)) {
    return 'A senha, ou a maior parte dela, está em listas de senhas vazadas, que se tentam primeiro. Escolha outra.';
  }
  return undefined;
}

/** Whether a leaked password makes at least half of it. */
async function isMostlyLeaked(folded: string): Promise<boolean> {
  const known = await leakedPasswords();
  const shortest = Math.max(WORD_MIN, Math.ceil(folded.length / 2));
  for (let size = folded.length; size >= shortest; size -= 1) {
    for (let from = 0; from + size <= folded.length; from += 1) {
      if (known.has(folded.slice(from, from + size))) return true;
    }
  }
  return false;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

/** The hash of a password, to be kept. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const tag = await derive('argon2id', { message: bytesOf(password), nonce: salt, tagLength: TAG_BYTES, ...COST });
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`;
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;

/** Of no password: who asks for an account that is not there waits as long as for one that is. */
const NOBODY = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${base64(Buffer.alloc(SALT_BYTES))}$${base64(Buffer.alloc(TAG_BYTES))}`;

/** Whether it is the password of a kept hash; undefined: there is none, and it takes as long. */
export async function verifyPassword(password: string, kept: string | undefined): Promise<boolean> {
  const [, memory, passes, parallelism, salt, tag] = PHC.exec(kept ?? NOBODY)!;
  const expected = Buffer.from(tag!, 'base64');
  const found = await derive('argon2id', {
    // What is too long to be one is not hashed whole.
    message: bytesOf(password.slice(0, 2 * LENGTH_MAX)),
    nonce: Buffer.from(salt!, 'base64'),
    tagLength: expected.length,
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  });
  return timingSafeEqual(found, expected) && kept !== undefined;
}
