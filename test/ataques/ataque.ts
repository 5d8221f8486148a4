/**
 * The shape of the attack corpora, and how the bytes of a case are put together. The corpora are the JSON files beside this one; the
 * page `docs/site/ataques.md` says the same for others, who need nothing but those files.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Bytes: a text in UTF-8, several one behind the other, or one of the forms below. */
export type Parte = string | readonly Parte[] | Forma;

export type Forma =
  | { readonly hex: string }
  | { readonly base64: string }
  /** A part of the corpus; each text of `trocas` stands in it once, and is replaced by the one beside it. */
  | { readonly parte: string; readonly trocas?: readonly (readonly [de: string, por: string])[] }
  /** `{n}` in the text is the number of the repetition, from 0. */
  | { readonly repete: string; readonly vezes: number }
  | { readonly texto: Parte; readonly em: keyof typeof ENCODERS };

/** What is sent, and where. */
export type Entrada =
  | {
      readonly para: 'emissao' | 'porto';
      /** Where nobody has to sign; without it, production. */
      readonly integracao?: true;
      /** Of the content. */
      readonly tipo: string;
      readonly cabecalhos?: Readonly<Record<string, string>>;
      readonly corpo: Parte;
    }
  /** As it is written into a connection, which is then left open. */
  | { readonly conexao: Parte };

export type Veredito = {
  /** Whether what was sent is taken. */
  readonly aceita: boolean;
  /** Of each answer, in their order: one but on a connection. */
  readonly status: readonly number[];
  /** Of the public table, each once, in any order; of the port those of its own. Empty where the answer has none. */
  readonly codigos: readonly string[];
  /** What stands in the answer to this service, so that it is refused for the reason that was meant. */
  readonly diz?: string;
  /** What was meant: what any service must do. */
  readonly quer: string;
};

export type Ataque = {
  /** Words of letters and digits, joined by hyphens; once in the corpus. */
  readonly nome: string;
  /** What is attacked, and what it would bring. */
  readonly porque: string;
  readonly entrada: Entrada;
  readonly veredito: Veredito;
};

export type Corpus = {
  readonly corpus: string;
  readonly titulo: string;
  readonly sobre: string;
  /** ISO 8601: the moment at which certificates and documents are judged. */
  readonly agora: string;
  /** The one provider of the municipality 3550308, CNPJ. */
  readonly prestador: string;
  /** PEM of the authorities to believe in, and in no others. */
  readonly ancoras: readonly string[];
  /** PEM of the revocation lists to look into; without it, revocation is not asked. */
  readonly listas?: readonly string[];
  readonly partes: Readonly<Record<string, Parte>>;
  readonly casos: readonly Ataque[];
};

export const FOLDER = import.meta.dirname;

/** The corpora that there are, by name. */
export const CORPORA: readonly string[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.slice(0, -'.json'.length))
  .sort();

export function readCorpus(name: string): Corpus {
  return JSON.parse(readFileSync(path.join(FOLDER, `${name}.json`), 'utf8'));
}

const ENCODERS = {
  'utf-16le': (text: string) => Buffer.from(text, 'utf16le'),
  'utf-16be': (text: string) => Buffer.from(text, 'utf16le').swap16(),
  'iso-8859-1': (text: string) => Buffer.from(text, 'latin1'),
} as const;

/** The bytes of a part. A text to replace that does not stand there once is a mistake of the corpus and throws. */
export function bytesOf(parte: Parte, partes: Corpus['partes']): Buffer {
  if (typeof parte === 'string') return Buffer.from(parte, 'utf8');
  if (isList(parte)) return Buffer.concat(parte.map((one) => bytesOf(one, partes)));
  if ('hex' in parte) return Buffer.from(parte.hex, 'hex');
  if ('base64' in parte) return Buffer.from(parte.base64, 'base64');
  if ('repete' in parte) {
    const { repete, vezes } = parte;
    const one = (number: number): string => repete.replaceAll('{n}', String(number));
    return Buffer.from(
      repete.includes('{n}') ? Array.from({ length: vezes }, (_, n) => one(n)).join('') : repete.repeat(vezes),
    );
  }
  if ('texto' in parte) return ENCODERS[parte.em](bytesOf(parte.texto, partes).toString('utf8'));
  const whole = partes[parte.parte];
  if (whole === undefined) throw new RangeError(`the corpus has no part ${parte.parte}`);
  let text = bytesOf(whole, partes).toString('utf8');
  for (const [de, por] of parte.trocas ?? []) {
    if (text.split(de).length !== 2) throw new RangeError(`${parte.parte} does not have once: ${de}`);
    text = text.replace(de, () => por);
  }
  return Buffer.from(text, 'utf8');
}

function isList(parte: readonly Parte[] | Forma): parte is readonly Parte[] {
  return Array.isArray(parte);
}
