/**
 * The text of a settings file (`/etc/nfse.env`): a strict subset of the `EnvironmentFile=` format of systemd, with the same meaning. A line
 * that systemd ignores silently, or reads in an unexpected way, is a fault with its number (D-642). Nothing is expanded.
 */
import { findNearest } from './nearest.ts';
import { VARIABLES } from './variables.ts';

/** A name that the file sets. Its value is never shown. */
type Assignment = { readonly name: string; readonly value: string; readonly line: number };

/** A fault in Portuguese, without any value. `line`: undefined for a fault of the whole file. */
export type SettingsFault = { readonly line: number | undefined; readonly what: string };

export type SettingsText = { readonly assignments: readonly Assignment[]; readonly faults: readonly SettingsFault[] };

/** Form `linha 3: …`. */
export function faultText({ line, what }: SettingsFault): string {
  return line === undefined ? what : `linha ${line}: ${what}`;
}

export function readSettingsText(bytes: Uint8Array): SettingsText {
  const text = decodeText(bytes);
  if (text === undefined)
    return {
      assignments: [],
      faults: [{ line: undefined, what: 'não está em UTF-8. Grave-o de novo em UTF-8, sem BOM.' }],
    };
  const assignments = new Map<string, Assignment>();
  const faults: SettingsFault[] = [];
  for (const [place, whole] of text.split('\n').entries()) {
    const line = place + 1;
    const read = readLine(whole.replace(/\r$/, ''));
    if (read === undefined) continue;
    const before = 'name' in read ? assignments.get(read.name) : undefined;
    if ('fault' in read) faults.push({ line, what: read.fault });
    else if (before !== undefined)
      faults.push({ line, what: `${read.name} já está na linha ${before.line}. Deixe um só.` });
    else assignments.set(read.name, { ...read, line });
  }
  return { assignments: [...assignments.values()], faults };
}

/** Undefined if the text is no UTF-8, or has a byte order mark. systemd would add that mark to the first name. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith('\uFEFF') ? undefined : text;
  } catch {
    return undefined;
  }
}

type Line = { readonly name: string; readonly value: string } | { readonly fault: string } | undefined;

function readLine(whole: string): Line {
  const text = whole.replace(/^[ \t]+|[ \t]+$/g, '');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0008\u000b-\u001f\u007f\uFEFF]/.test(text))
    return { fault: 'tem um caractere de controle. Retire-o.' };
  if (text === '') return undefined;
  // Some versions of systemd continue such a comment in the next line.
  if (/^[#;]/.test(text)) return text.endsWith('\\') ? { fault: 'o comentário termina em \\. Retire-a.' } : undefined;
  const at = text.indexOf('=');
  if (at < 0) return { fault: 'falta o sinal de igual. Escreva NOME=valor, ou comece por # um comentário.' };
  const name = text.slice(0, at).replace(/[ \t]+$/, '');
  const fault = nameFaultOf(name);
  if (fault !== undefined) return { fault };
  const read = readValue(text.slice(at + 1).replace(/^[ \t]+/, ''));
  return 'fault' in read ? { fault: `${name}: ${read.fault}` } : { name, ...read };
}

function nameFaultOf(name: string): string | undefined {
  if (/^export[ \t]/.test(name)) return 'export não se usa aqui. Escreva só NOME=valor.';
  // The text may be a part of a secret, so it is not repeated.
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return 'antes do sinal de igual não está um nome. Escreva NOME=valor.';
  if (name.startsWith('NODE_'))
    return `${name} é do Node, que a lê antes deste arquivo. Ponha-a no ambiente: no systemd, systemctl edit nfse, com Environment=.`;
  if (!name.startsWith('NFSE_') || Object.hasOwn(VARIABLES, name)) return undefined;
  return `não existe o ajuste ${name}.${nearestText(name)} nfse config mostra todos.`;
}

/** A warning for each name in an environment that looks like a setting, and is none. Those of our tests are not warned of. */
export function describeUnknown(env: NodeJS.ProcessEnv): readonly string[] {
  return Object.keys(env)
    .filter((name) => /^NFSE_(?!TEST_)/.test(name) && !Object.hasOwn(VARIABLES, name))
    .map((name) => `o ambiente tem ${name}, que não é um ajuste e não vale nada.${nearestText(name)}`);
}

/** The text ` Seria PORT?`, or nothing. A prefix too many or too few comes before a slip of letters. */
export function nearestText(name: string): string {
  const prefixed = [name.replace(/^NFSE_/, ''), `NFSE_${name}`].find((one) => Object.hasOwn(VARIABLES, one));
  const near = prefixed ?? findNearest(name, Object.keys(VARIABLES));
  return near === undefined ? '' : ` Seria ${near}?`;
}

const QUOTES = 'Escreva-o entre aspas simples, ou duplas se tem uma simples.';

function readValue(text: string): { readonly value: string } | { readonly fault: string } {
  const single = /^'([^']*)'(.*)$/.exec(text);
  const double = /^"((?:[^"\\]|\\.)*)"(.*)$/.exec(text);
  const [, quoted, after] = single ?? double ?? [];
  if (quoted !== undefined) {
    if (after !== '') return { fault: 'há mais texto depois das aspas. Um comentário vai numa linha só dele.' };
    return { value: single === null ? quoted.replace(/\\(["\\`$])/g, '$1') : quoted };
  }
  if (/^['"]/.test(text)) return { fault: 'as aspas não fecham na mesma linha.' };
  if (text.includes('\\')) return { fault: `o valor tem uma \\ fora de aspas. ${QUOTES}` };
  if (/(?:^|[ \t])#/.test(text))
    return {
      fault: `o valor tem um #, que ali não começa um comentário. ${QUOTES} Um comentário vai numa linha só dele.`,
    };
  return { value: text };
}
