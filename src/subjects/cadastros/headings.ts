/** The headings of a municipality's file, and the columns of the register that they name. */

/** The columns of a file. */
export type Columns = {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Other names of a column in the heading of a file. */
  readonly called?: Readonly<Record<string, readonly string[]>>;
};

/** The columns that the operator gave to headings, by the heading as the file writes it; an empty text: the heading is left out. */
export type HeadingsGiven = Readonly<Record<string, string>>;

export type Heading = {
  readonly texto: string;
  /** The column that it names; empty: it is left out. Undefined: it names none. */
  readonly column: string | undefined;
};

/** The file has a heading that names no column, or lacks a column that it needs. The operator may say which is which. */
export class HeadingsUnknown extends Error {
  readonly headings: readonly Heading[];

  constructor(message: string, headings: readonly Heading[]) {
    super(message);
    this.headings = headings;
  }
}

/** Headings of a file of refused lines, which is corrected and imported again. */
export const REFUSED_HEADINGS = ['linha', 'motivo'] as const;

/**
 * The columns of a file by their places; several headings may name one column (CNPJ and CPF). Throws {@link HeadingsUnknown} with a message
 * in Portuguese.
 */
export function placeColumns(
  name: string,
  header: readonly string[],
  columns: Columns,
  given: HeadingsGiven = {},
): ReadonlyMap<string, readonly number[]> {
  const known = [...columns.required, ...columns.optional];
  const names = listNames(columns);
  const headings = header.map((texto): Heading => {
    const bare = bareHeading(texto);
    const chosen = Object.entries(given).find(([heading]) => bareHeading(heading) === bare)?.[1];
    if (chosen !== undefined) return { texto, column: chosen };
    const isOurs = !known.includes(bare) && REFUSED_HEADINGS.some((one) => one === bare);
    return { texto, column: isOurs ? '' : names.get(bare) };
  });
  const places = new Map<string, readonly number[]>();
  for (const [place, { column }] of headings.entries())
    if (column !== undefined && column !== '') places.set(column, [...(places.get(column) ?? []), place]);
  const repeated = header.filter(
    (texto, place) => header.findIndex((one) => bareHeading(one) === bareHeading(texto)) !== place,
  );
  const problems = [
    ...describe(
      'falta a coluna',
      'faltam as colunas',
      columns.required.filter((column) => !places.has(column)),
    ),
    ...describe(
      'coluna desconhecida:',
      'colunas desconhecidas:',
      headings.flatMap(({ texto, column }) => (column === undefined ? [texto === '' ? '(sem nome)' : texto] : [])),
    ),
    ...describe('coluna repetida:', 'colunas repetidas:', [...new Set(repeated)]),
    ...describe(
      'não há a coluna',
      'não há as colunas',
      Object.values(given).filter((column) => column !== '' && !known.includes(column)),
    ),
  ];
  if (problems.length === 0) return places;
  const also = columns.optional.length === 0 ? '' : ` E pode ter: ${columns.optional.join(', ')}.`;
  const needed = `O arquivo precisa das colunas ${columns.required.join(', ')}, em qualquer ordem.${also}`;
  throw new HeadingsUnknown(`cabeçalho de ${name}: ${problems.join('; ')}. ${needed}`, headings);
}

/** The names of each column in a heading: its own, its label, and what towns call it. */
function listNames({ required, optional, called = {} }: Columns): ReadonlyMap<string, string> {
  const own = [...required, ...optional];
  const others = own.flatMap((column) => (called[column] ?? []).map((name) => [bareHeading(name), column] as const));
  return new Map([...others.toReversed(), ...own.map((column) => [bareHeading(column), column] as const)]);
}

/** A heading without accents, case, marks and `de` between words: `Razão Social` and `razao_social` are the same. */
function bareHeading(texto: string): string {
  return texto
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^0-9a-z%]+/g, ' ')
    .trim()
    .replace(/ (?:d[aeo]s? )+/g, ' ');
}

function describe(one: string, many: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${names.length === 1 ? one : many} ${names.join(', ')}`];
}
