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

/** Fields of several parts have their places kept: an empty one is a dash. */
export const VAZIO = '-';

/** Parts joined with " / "; undefined when there is none of them. */
export function parts(...values: readonly (string | undefined)[]): string | undefined {
  if (values.every((value) => value === undefined)) return undefined;
  return values.map((value) => value ?? VAZIO).join(' / ');
}

/** `R$ 1.234,56`. */
export function reais(value: Decimal | undefined): string | undefined {
  return value === undefined ? undefined : `R$ ${brazilian(value)}`;
}

export function percentual(text: string | undefined): string | undefined {
  const value = text === undefined ? undefined : parseDecimal(text);
  return value === undefined ? text : `${brazilian(value)}%`;
}

function brazilian(value: Decimal): string {
  const [whole, cents] = formatDecimal(value).split('.');
  return `${whole!.replace(/\B(?=(?:\d{3})+$)/g, '.')},${cents}`;
}

/** The sum of what the document has of these; undefined when it has none. */
export function soma({ at }: Impressa, ...paths: readonly NfsePath[]): Decimal | undefined {
  const values = paths.flatMap((path) => {
    const text = at(path);
    return (text === undefined ? undefined : parseDecimal(text)) ?? [];
  });
  return values.length === 0 ? undefined : values.reduce<Decimal>((sum, value) => add(sum, value), ZERO);
}

export function opcao({ at }: Impressa, campo: CampoDescrito, path: NfsePath): string | undefined {
  const codigo = at(path);
  return codigo === undefined ? undefined : opcaoOf(campo, codigo);
}

/** `DD/MM/AAAA hh:mm:ss`, by the clock of the offset that the text states. */
export function dataHora(text: string | undefined): string | undefined {
  const match = text === undefined ? null : /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)/.exec(text);
  return match === null ? text : `${brazilianDate(match[1]!)} ${match[2]}`;
}

export function data(text: string | undefined): string | undefined {
  return text === undefined ? undefined : brazilianDate(text);
}

/** `00.000.000/0000-00`; letters of an alphanumeric CNPJ stay. */
export function cnpj(text: string | undefined): string | undefined {
  return text?.replace(/^(.{2})(.{3})(.{3})(.{4})(.{2})$/, '$1.$2.$3/$4-$5');
}

/** `000.000.000-00`. */
export function cpf(text: string | undefined): string | undefined {
  return text?.replace(/^(.{3})(.{3})(.{3})(.{2})$/, '$1.$2.$3-$4');
}

/** `00.000-000`. */
export function cep(text: string | undefined): string | undefined {
  return text?.replace(/^(\d{2})(\d{3})(\d{3})$/, '$1.$2-$3');
}

/** `00.00.00`. */
export function cTribNac(text: string | undefined): string | undefined {
  return text?.replace(/^(\d{2})(\d{2})(\d{2})$/, '$1.$2.$3');
}

/** `0.0000.00.00`. */
export function nbs(text: string | undefined): string | undefined {
  return text?.replace(/^(\d)(\d{4})(\d{2})(\d{2})$/, '$1.$2.$3.$4');
}

/** The state of a municipality, which its code tells. */
export function ufOf(codigoIbge: string | undefined): string | undefined {
  return codigoIbge === undefined ? undefined : municipioOf(codigoIbge)?.uf;
}

export function nomeDoMunicipio(codigoIbge: string | undefined): string | undefined {
  return codigoIbge === undefined ? undefined : municipioOf(codigoIbge)?.nome;
}
