/**
 * The format of the attack corpora, and the construction of a case's bytes. The corpora are the JSON files beside this one. The page
 * `docs/site/ataques.md` describes them for third parties, and those files are all that they need.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Bytes: a text in UTF-8, a sequence of parts, or one of the forms below. */
export type Parte = string | readonly Parte[] | Forma;

export type Forma =
  | { readonly hex: string }
  | { readonly base64: string }
  /** A part of the corpus; each text of `trocas` occurs in it once, and is replaced by its partner. */
  | { readonly parte: string; readonly trocas?: readonly (readonly [de: string, por: string])[] }
  /** `{n}` in the text is the number of the repetition, from 0. */
  | { readonly repete: string; readonly vezes: number }
  | { readonly texto: Parte; readonly em: keyof typeof ENCODERS };

/** The input of a case, and its target. */
export type Entrada =
  | {
      readonly para: 'emissao' | 'porto';
      /** The sandbox, which requires no signature; absent: production. */
      readonly integracao?: true;
      /** The content type. */
      readonly tipo: string;
      readonly cabecalhos?: Readonly<Record<string, string>>;
      readonly corpo: Parte;
    }
  /** Bytes written into a connection, which is then left open. */
  | { readonly conexao: Parte };

export type Veredito = {
  /** Whether the input is accepted. */
  readonly aceita: boolean;
  /** The status of each answer, in order: there is one, except on a raw connection. */
  readonly status: readonly number[];
  /** Codes of the public table, each once, in any order; the legacy port has its own. Empty if the answer has none. */
  readonly codigos: readonly string[];
  /** A text in this service's answer that proves the intended reason of the refusal. */
  readonly diz?: string;
  /** The required behaviour of any service. */
  readonly quer: string;
};

export type Ataque = {
  /** Words of letters and digits, joined by hyphens; unique in the corpus. */
  readonly nome: string;
  /** The target of the attack, and its possible gain. */
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
  /** The CNPJ of the only provider of the municipality 3550308. */
  readonly prestador: string;
  /** PEM of the only trusted authorities. */
  readonly ancoras: readonly string[];
  /** PEM of the revocation lists; absent: revocation is not checked. */
  readonly listas?: readonly string[];
  readonly partes: Readonly<Record<string, Parte>>;
  readonly casos: readonly Ataque[];
};

export const FOLDER = import.meta.dirname;

/** The existing corpora, by name. */
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

/** The bytes of a part. Throws if a text to replace does not occur exactly once: the corpus is wrong. */
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
