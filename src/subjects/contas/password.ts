/**
 * Passwords of people: their rules and their storage (D-498). Hashes are argon2id, as PHC strings. The only importer of the list of leaked
 * ones.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(argon2);

/** OWASP's first choice for argon2id: memory in KiB, passes, lanes. Older hashes still verify after an increase here. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const SALT_BYTES = 16;
const TAG_BYTES = 32;

const LENGTH_MIN = 12;
/** A longer one is not safer, and only costs time. */
const LENGTH_MAX = 128;

/** Folds letters that look alike to a person. */
function fold(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();
}

/** Normalised, so that every keyboard gives the same bytes. */
function bytesOf(password: string): Buffer {
  return Buffer.from(password.normalize('NFC'), 'utf8');
}

let leaked: Promise<ReadonlySet<string>> | undefined;

/** Some fifty thousand passwords of known leaks; loaded when a password is chosen. */
function leakedPasswords(): Promise<ReadonlySet<string>> {
  leaked ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set<string>(dictionary['passwords-common'].map(String)),
  );
  return leaked;
}

/** Shorter words occur in many good passwords. */
const WORD_MIN = 3;
/** A password with fewer different letters is a pattern. */
const LETTERS_MIN = 5;
/** Characters that must remain besides the words that are tried first. */
const OTHERS_MIN = 8;

/** Words that attackers try first at the console of a town hall, folded. */
const TRIED_HERE = `
prefeitura prefeito municipio municipal municipais cidade governo secretaria fazenda brasil
nfse nota fiscal fiscais eletronica servico issqn tributo tributa receita financas emissor
senha password administrador administracao admin usuario painel console acesso entrar sistema mudar trocar teste padrao bemvindo
janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro`
  .trim()
  .split(/\s+/);

/** Other characters that often replace a letter. */
const ALSO: Readonly<Record<string, string>> = {
  ...{ a: '4@', b: '8', e: '3&', g: '9', i: '1!|', l: '1|', o: '0', s: '5$', t: '7+', z: '2' },
};

/** Matches any of these words, the longest first, also as written with digits and signs. */
function anyOf(words: readonly string[]): RegExp {
  const longestFirst = [...new Set(words)].toSorted((one, other) => other.length - one.length);
  const spelled = longestFirst.map((word) => word.replace(/./g, (letter) => `[${letter}${ALSO[letter] ?? ''}]`));
  return new RegExp(spelled.join('|'), 'g');
}

/** Words known of a person: each alone, and all joined. */
function wordsOf(text: string): readonly string[] {
  const words = fold(text).match(/[a-z0-9]+/g) ?? [];
  return [...words, words.join('')].filter((word) => word.length >= WORD_MIN);
}

/** Whether the text repeats one piece that is shorter than a password may be; the last repetition may be cut short. */
function isRepetition(folded: string): boolean {
  const most = Math.min(LENGTH_MIN - 1, Math.floor(folded.length / 2));
  return Array.from({ length: most }, (_, place) => place + 1).some(
    (size) => folded.slice(size) === folded.slice(0, -size),
  );
}

/**
 * The reason why a password cannot be chosen, in Portuguese; undefined: it can. `about`: data of its owner that others know, such as the
 * login and the municipality.
 */
export async function whyWeak(password: string, about: readonly string[]): Promise<string | undefined> {
  const length = [...password].length;
  if (length < LENGTH_MIN) {
    return `A senha tem ${length} caracteres; use ao menos ${LENGTH_MIN}. Três ou quatro palavras sem relação entre si são fáceis de lembrar.`;
  }
  if (length > LENGTH_MAX) return `A senha tem ${length} caracteres; o máximo é ${LENGTH_MAX}.`;
  const folded = fold(password);
  if (new Set(folded).size < LETTERS_MIN) return 'A senha repete poucos caracteres. Use palavras diferentes.';
  if (isRepetition(folded)) return 'A senha repete um mesmo pedaço. Use palavras diferentes.';
  const rest = folded
    .replace(/[\s.,:;/_-]+/g, '')
    .replace(anyOf([...TRIED_HERE, ...about.flatMap(wordsOf)]), '')
    // A year, a date or a CNPJ is one thing to try, and so is a letter held down.
    .replace(/\d+/g, '0')
    .replace(/(.)\1+/gsu, '$1');
  const count = [...rest].length;
  if (count < OTHERS_MIN) {
    return `A senha tem os ${LENGTH_MIN} caracteres, mas quase todos são dos que se tentam primeiro: palavras como prefeitura, nfse e senha, o município, o nome e o login, e dígitos seguidos, que valem por um. Sem eles ${count === 0 ? 'nada sobra' : count === 1 ? 'sobra 1' : `sobram ${count}`}; precisam sobrar ${OTHERS_MIN}. Junte palavras sem relação com o trabalho.`;
  }
  const letters = rest.replace(/[^\p{L}]+/gu, '');
  const known = await leakedPasswords();
  const isKnown = known.has(rest) || (known.has(letters) && 2 * letters.length >= rest.length);
  if (isKnown || (await isMostlyLeaked(folded))) {
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

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const tag = await derive('argon2id', { message: bytesOf(password), nonce: salt, tagLength: TAG_BYTES, ...COST });
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`;
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;

/** Hash of no password: a look-up of a missing account takes as long as one of an existing account. */
const NOBODY = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${base64(Buffer.alloc(SALT_BYTES))}$${base64(Buffer.alloc(TAG_BYTES))}`;

/** Whether the password matches the stored hash; undefined: there is none, and the check takes as long. */
export async function verifyPassword(password: string, kept: string | undefined): Promise<boolean> {
  const [, memory, passes, parallelism, salt, tag] = PHC.exec(kept ?? NOBODY)!;
  const expected = Buffer.from(tag!, 'base64');
  const found = await derive('argon2id', {
    // A text that is too long for a password is not hashed whole.
    message: bytesOf(password.slice(0, 2 * LENGTH_MAX)),
    nonce: Buffer.from(salt!, 'base64'),
    tagLength: expected.length,
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  });
  return timingSafeEqual(found, expected) && kept !== undefined;
}
