/**
 * The document as the printed form reads it: one text per path, and the printed forms of a text. A path belongs to the layout, below
 * `infNFSe`, and the compiler checks it.
 */
import { type CampoEnumerado, enumeracaoOf, municipioOf } from '../../fiscal/catalogs/catalogs.ts';
import { add, type Decimal, formatDecimal, parseDecimal, ZERO } from '../../fiscal/decimal.ts';
import { groupDecimal } from '../../fiscal/group-digits.ts';
import type { NfsePath } from '../../fiscal/layout/nfse.ts';
import { attributeOf, type Elemento } from '../../fiscal/layout/tree.ts';
import { brazilianDate } from '../../fiscal/moment.ts';
import { ownOf } from '../../fiscal/own.ts';

export type Impressa = {
  readonly chave: string;
  /** The text at a path; undefined when the document has none. */
  readonly at: (path: NfsePath) => string | undefined;
  /** True when the document has the element, a group included. */
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

/** The first of repeated groups counts; the printed form shows none of them. */
function collect(element: Elemento, path: string, texts: Map<string, string>): void {
  for (const child of element.children) {
    const below = path === '' ? child.name : `${path}/${child.name}`;
    texts.getOrInsert(below, child.children.length > 0 ? '' : child.text.normalize('NFC'));
    collect(child, below, texts);
  }
}

/** Printed for a value that the note does not have. */
export const VAZIO = '-';

/** Gives the content of a field of the printed form; undefined: the note has none. */
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

/** Reads the sum of the note's values at these paths, as `R$ 1.234,56`. */
export function amountOf(...paths: readonly NfsePath[]): Reader {
  return ({ at }) => {
    const values = paths.flatMap((path) => {
      const text = at(path);
      return (text === undefined ? undefined : parseDecimal(text)) ?? [];
    });
    if (values.length === 0) return undefined;
    return `R$ ${groupDecimal(formatDecimal(values.reduce<Decimal>((sum, value) => add(sum, value), ZERO)))}`;
  };
}

/** Reads the text at a path in another form. */
function formattedAt(path: NfsePath, format: (text: string) => string): Reader {
  return ({ at }) => {
    const text = at(path);
    return text === undefined ? undefined : format(text);
  };
}

/** Reads a percentage, as `12,34%`; a text that is no number is printed unchanged. */
export function percentageAt(path: NfsePath): Reader {
  return formattedAt(path, (text) => {
    const value = parseDecimal(text);
    return value === undefined ? text : `${groupDecimal(formatDecimal(value))}%`;
  });
}

/**
 * The texts of numbered options, in the words of the standard (NT SE/CGNFS-e 008, options of the XSD 1.01). The national catalog has the
 * descriptions that the standard takes from the schema.
 */
const OPCOES = {
  tpAmb: { 1: 'Produção', 2: 'Homologação' },
  ambGer: { 1: 'Prefeitura', 2: 'Sistema Nacional da NFS-e' },
  tpEmit: { 1: 'Prestador', 2: 'Tomador', 3: 'Intermediário' },
  cStat: { 100: 'NFS-e Gerada', 102: 'NFS-e de Decisão Judicial', 103: 'NFS-e Avulsa', 107: 'NFS-e MEI' },
  finNFSe: { 0: 'NFS-e regular' },
  opSimpNac: {
    1: 'Não Optante',
    2: 'Optante - Microempreendedor Individual (MEI)',
    3: 'Optante - Microempresa ou Empresa de Pequeno Porte (ME/EPP)',
  },
  regApTribSN: 'catalog',
  regEspTrib: 'catalog',
  tribISSQN: { 1: 'Operação Tributável', 2: 'Imunidade', 3: 'Exportação de Serviço', 4: 'Não Incidência' },
  tpImunidade: 'catalog',
  tpSusp: {
    1: 'Exigibilidade Suspensa por Decisão Judicial',
    2: 'Exigibilidade Suspensa por Processo Administrativo',
  },
  tpBM: {
    1: 'Isenção',
    2: 'Redução da BC em percentual',
    3: 'Redução da BC em valor',
    4: 'Alíquota Diferenciada',
  },
  tpRetISSQN: { 1: 'Não Retido', 2: 'Retido pelo Tomador', 3: 'Retido pelo Intermediário' },
  tpRetPisCofins: {
    0: 'PIS/COFINS/CSLL Não Retidos',
    1: 'PIS/COFINS Retidos',
    2: 'PIS/COFINS Não Retidos',
    3: 'PIS/COFINS/CSLL Retidos',
    4: 'PIS/COFINS Retidos, CSLL Não Retido',
    5: 'PIS Retido, COFINS/CSLL Não Retido',
    6: 'COFINS Retido, PIS/CSLL Não Retido',
    7: 'PIS Não Retido, COFINS/CSLL Retidos',
    8: 'PIS/COFINS Não Retidos, CSLL Retido',
    9: 'COFINS Não Retido, PIS/CSLL Retidos',
  },
} as const satisfies Partial<Record<CampoEnumerado, Readonly<Record<number, string>> | 'catalog'>>;

/** Reads the text of an option. A number without a text is printed as it is: the XML counts. */
export function optionAt(campo: keyof typeof OPCOES, path: NfsePath): Reader {
  const textos: Readonly<Record<string, string>> | 'catalog' = OPCOES[campo];
  return formattedAt(path, (codigo) => {
    if (textos !== 'catalog') return ownOf(textos, codigo) ?? codigo;
    return enumeracaoOf(campo).find((valor) => valor.codigo === codigo)?.descricao ?? codigo;
  });
}

/** Reads a date as `DD/MM/AAAA`. */
export function dateAt(path: NfsePath): Reader {
  return formattedAt(path, brazilianDate);
}

/** Reads a date with its time as `DD/MM/AAAA hh:mm:ss`, in the offset that the text states. */
export function dateTimeAt(path: NfsePath): Reader {
  return formattedAt(path, (text) => {
    const [, date, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)/.exec(text) ?? [];
    return date === undefined ? text : `${brazilianDate(date)} ${time}`;
  });
}

/** The printed form of numbers: their groups of characters, and the separators between the groups. */
const MASKS = {
  /** The letters of an alphanumeric CNPJ stay. */
  CNPJ: [/^(.{2})(.{3})(.{3})(.{4})(.{2})$/, '$1.$2.$3/$4-$5'],
  CPF: [/^(.{3})(.{3})(.{3})(.{2})$/, '$1.$2.$3-$4'],
  CEP: [/^(\d{2})(\d{3})(\d{3})$/, '$1.$2-$3'],
  cTribNac: [/^(\d{2})(\d{2})(\d{2})$/, '$1.$2.$3'],
  cNBS: [/^(\d)(\d{4})(\d{2})(\d{2})$/, '$1.$2.$3.$4'],
} as const;

/** A number in its printed form; a number of another length is printed unchanged. */
export function maskNumber(kind: keyof typeof MASKS, text: string | undefined): string | undefined {
  const [groups, printed] = MASKS[kind];
  return text?.replace(groups, printed);
}

/** The state of a municipality, found by its code. */
export function ufOf(codigoIbge: string | undefined): string | undefined {
  return codigoIbge === undefined ? undefined : municipioOf(codigoIbge)?.uf;
}
