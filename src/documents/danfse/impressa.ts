/**
 * The document as the printed form reads it: one text a path, and the ways in which a text is printed. A path is one of the
 * layout, below `infNFSe`, and the compiler checks it.
 */
import { municipioOf } from '../../fiscal/catalogs/catalogs.ts';
import { add, type Decimal, formatDecimal, parseDecimal, ZERO } from '../../fiscal/decimal.ts';
import type { NfsePath } from '../../fiscal/layout/nfse.ts';
import { attributeOf, type Elemento } from '../../fiscal/layout/tree.ts';
import { brazilianDate } from '../../fiscal/moment.ts';
import { type CampoDescrito, opcaoOf } from './textos.ts';

export type Impressa = {
  readonly chave: string;
  /** The text at a path; undefined when the document has none. */
  readonly at: (path: NfsePath) => string | undefined;
  /** Whether the document has the element, a group included. */
  readonly has: (path: NfsePath) => boolean;
};

/** Reads the root of an NFS-e. */
export function impressaOf(root: Elemento): Impressa {
  const infNfse = root.children.find(({ name }) => name === 'infNFSe');
  if (root.name !== 'NFSe' || infNfse === undefined) throw new RangeError('the document is no NFS-e');
  const texts = new Map<string, string>();
  collect(infNfse, '', texts);
  return {
    chave: (attributeOf(infNfse, 'Id') ?? '').replace(/^NFS/, ''),
    at: (path) => texts.get(path) || undefined,
    has: (path) => texts.has(path),
  };
}

/** Of repeated groups the first counts; the printed form shows none of them. */
function collect(element: Elemento, path: string, texts: Map<string, string>): void {
  for (const child of element.children) {
    const below = path === '' ? child.name : `${path}/${child.name}`;
    if (!texts.has(below)) texts.set(below, child.children.length > 0 ? '' : child.text);
    collect(child, below, texts);
  }
}

/** Printed in the place of what the note does not have. */
export const VAZIO = '-';

/** Gives what stands in a field of the printed form; undefined where the note has nothing for it. */
export type Reader = (nota: Impressa) => string | undefined;

/** Reads the text at a path. */
export function textAt(path: NfsePath): Reader {
  return ({ at }) => at(path);
}

/** Parts joined with " / ", a missing one as a dash; undefined when all are missing. */
export function joinParts(...values: readonly (string | undefined)[]): string | undefined {
  if (values.every((value) => value === undefined)) return undefined;
  return values.map((value) => value ?? VAZIO).join(' / ');
}

/** Reads several parts and joins them. */
export function partsOf(...readers: readonly Reader[]): Reader {
  return (nota) => joinParts(...readers.map((read) => read(nota)));
}

/** Reads the sum of what the note has at these paths, as `R$ 1.234,56`. */
export function amountOf(...paths: readonly NfsePath[]): Reader {
  return ({ at }) => {
    const values = paths.flatMap((path) => {
      const text = at(path);
      return (text === undefined ? undefined : parseDecimal(text)) ?? [];
    });
    if (values.length === 0) return undefined;
    return `R$ ${formatBrazilian(values.reduce<Decimal>((sum, value) => add(sum, value), ZERO))}`;
  };
}

/** Reads a percentage, as `12,34%`; a text that is no number is printed as it stands. */
export function percentageAt(path: NfsePath): Reader {
  return ({ at }) => {
    const text = at(path);
    const value = text === undefined ? undefined : parseDecimal(text);
    return value === undefined ? text : `${formatBrazilian(value)}%`;
  };
}

function formatBrazilian(value: Decimal): string {
  const [whole, cents] = formatDecimal(value).split('.');
  return `${whole!.replace(/\B(?=(?:\d{3})+$)/g, '.')},${cents}`;
}

/** Reads the number of an option, in the words of the standard. */
export function optionAt(campo: CampoDescrito, path: NfsePath): Reader {
  return ({ at }) => {
    const codigo = at(path);
    return codigo === undefined ? undefined : opcaoOf(campo, codigo);
  };
}

/** Reads a date as `DD/MM/AAAA`. */
export function dateAt(path: NfsePath): Reader {
  return ({ at }) => {
    const text = at(path);
    return text === undefined ? undefined : brazilianDate(text);
  };
}

/** Reads a date with its time as `DD/MM/AAAA hh:mm:ss`, by the clock of the offset that the text states. */
export function dateTimeAt(path: NfsePath): Reader {
  return ({ at }) => {
    const text = at(path);
    const match = text === undefined ? null : /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)/.exec(text);
    return match === null ? text : `${brazilianDate(match[1]!)} ${match[2]}`;
  };
}

/** How numbers are printed: their groups of characters, and what stands between the groups. */
const MASKS = {
  /** Letters of an alphanumeric CNPJ stay. */
  CNPJ: [/^(.{2})(.{3})(.{3})(.{4})(.{2})$/, '$1.$2.$3/$4-$5'],
  CPF: [/^(.{3})(.{3})(.{3})(.{2})$/, '$1.$2.$3-$4'],
  CEP: [/^(\d{2})(\d{3})(\d{3})$/, '$1.$2-$3'],
  cTribNac: [/^(\d{2})(\d{2})(\d{2})$/, '$1.$2.$3'],
  cNBS: [/^(\d)(\d{4})(\d{2})(\d{2})$/, '$1.$2.$3.$4'],
} as const;

/** A number in its printed form; one of another length is printed as it stands. */
export function maskNumber(kind: keyof typeof MASKS, text: string | undefined): string | undefined {
  const [groups, printed] = MASKS[kind];
  return text?.replace(groups, printed);
}

/** The state of a municipality, which its code tells. */
export function ufOf(codigoIbge: string | undefined): string | undefined {
  return codigoIbge === undefined ? undefined : municipioOf(codigoIbge)?.uf;
}
