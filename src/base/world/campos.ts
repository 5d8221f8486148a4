/** Reads a short body of JSON field by field, and reports all faults at once: the field, its value, and the expected value. */
import { readJson } from '../../documents/json.ts';
import { type Fault, quoted } from '../../fiscal/fault.ts';
import type { JsonValue } from '../../fiscal/layout/json-value.ts';
import type { Refused } from './idempotency.ts';

/** A field of a body. `read`: undefined if the value is not allowed. */
export type Campo<Value> = {
  /** The allowed values, in Portuguese, after "espera-se". */
  readonly esperado: string;
  readonly read: (value: JsonValue) => Value | undefined;
  readonly isRequired?: true;
};

export type Campos = Readonly<Record<string, Campo<unknown>>>;

type ValueOf<One> = One extends Campo<infer Value> ? Value : never;
/** The values read; an optional field may be missing. */
export type Lidos<Of extends Campos> = {
  readonly [Name in keyof Of]: Of[Name] extends { readonly isRequired: true }
    ? ValueOf<Of[Name]>
    : ValueOf<Of[Name]> | undefined;
};

export function textOf(value: JsonValue): string | undefined {
  return value.kind === 'string' ? value.text : undefined;
}

/** A text from a fixed list. */
export function oneOf<const Word extends string>(words: readonly Word[]): Campo<Word> {
  return {
    esperado: `um de: ${words.join(', ')}`,
    read: (value) => words.find((word) => word === textOf(value)),
  };
}

/** A list of distinct texts from a fixed list, at least one. */
export function someOf<const Word extends string>(words: readonly Word[]): Campo<readonly Word[]> {
  return {
    esperado: `uma lista com um ou mais de: ${words.join(', ')}`,
    read: (value) => {
      if (value.kind !== 'array' || value.items.length === 0) return undefined;
      const found = value.items.map((item) => words.find((word) => word === textOf(item)));
      const all = found.filter((word): word is Word => word !== undefined);
      return all.length === found.length && new Set(all).size === all.length ? all : undefined;
    },
  };
}

/** A whole number in a range. */
export function wholeBetween(min: number, max: number): Campo<number> {
  return {
    esperado: `um número inteiro de ${min} a ${max}`,
    read: (value) => {
      const number = value.kind === 'number' && /^\d{1,15}$/.test(value.text) ? Number(value.text) : Number.NaN;
      return number >= min && number <= max ? number : undefined;
    },
  };
}

export function required<Value>(campo: Campo<Value>): Campo<Value> & { readonly isRequired: true } {
  return { ...campo, isRequired: true };
}

/** The fields of a body, or all its faults. An empty body has no fields. */
export function readCampos<const Of extends Campos>(
  body: Uint8Array,
  campos: Of,
): { readonly lidos: Lidos<Of> } | Refused {
  const json = readJson(body.length === 0 ? EMPTY : body);
  if ('fault' in json) return { faults: [json.fault] };
  if (json.value.kind !== 'object') {
    const mensagem = `O corpo é um objeto JSON, com os campos: ${Object.keys(campos).join(', ')}.`;
    return { faults: [{ codigo: 'E003', xpath: '', mensagem, ...json.positionOf(0) }] };
  }
  const faults: Fault[] = [];
  const lidos: Record<string, unknown> = {};
  for (const { name, offset, value } of json.value.members) {
    const campo = Object.hasOwn(campos, name) ? campos[name] : undefined;
    const place = json.positionOf(offset);
    const shown = quoted(name);
    if (campo === undefined) {
      const esperado = Object.keys(campos).join(', ');
      // The valid names are listed only in the first fault, so that an answer is not many times its request.
      const isFirst = !faults.some(({ codigo }) => codigo === 'E003');
      const mensagem = `O corpo não tem o campo "${shown}".${isFirst ? ` Os que ele tem são: ${esperado}.` : ''}`;
      const those = isFirst ? { encontrado: shown, esperado } : {};
      faults.push({ codigo: 'E003', xpath: '', mensagem, campo: shown, ...those, ...place });
      continue;
    }
    const read = campo.read(value);
    lidos[name] = read;
    if (read === undefined) {
      const { esperado } = campo;
      const mensagem = `O campo ${name} não tem um valor que se aceite: espera-se ${esperado}.`;
      const encontrado = value.kind === 'string' || value.kind === 'number' ? { encontrado: quoted(value.text) } : {};
      faults.push({ codigo: 'E0002', xpath: '', mensagem, campo: name, esperado, ...encontrado, ...place });
    }
  }
  for (const [name, { isRequired, esperado }] of Object.entries(campos)) {
    if (isRequired !== true || Object.hasOwn(lidos, name)) continue;
    const mensagem = `Falta o campo ${name}: espera-se ${esperado}.`;
    faults.push({ codigo: 'E002', xpath: '', mensagem, campo: name, esperado });
  }
  const [first, ...rest] = faults;
  return first === undefined ? { lidos: lidos as Lidos<Of> } : { faults: [first, ...rest], status: 400 };
}

const EMPTY = Buffer.from('{}');
