/** The tables of a municipality as the audit chain tells them: the digested text of a row, and the rules for its entries (D-666). */
import { resumoOf } from './auditoria-hash.ts';
import { type Apagavel, type Contada, type Familia, type Mensal, TABELAS, type Tabela } from './tabelas.ts';

/**
 * Forms in which a value is written: as in PostgreSQL, a moment in microseconds, a day, a digest of bytes. `logico` and `zero` leave out
 * false and 0.
 */
type Forma = 'texto' | 'momento' | 'dia' | 'bytes' | 'logico' | 'zero';

type Coluna = { readonly nome: string; readonly forma: Forma };

const FORMAS: Readonly<Record<string, Forma>> = { t: 'momento', d: 'dia', b: 'bytes', l: 'logico', '0': 'zero' };

/** `name`, or `name:t` with the letter of its form. */
function readColumns(names: string): readonly Coluna[] {
  const read = names.split(/\s+/).map((word): Coluna => {
    const [nome, letter] = word.split(':') as [string, string | undefined];
    return { nome, forma: letter === undefined ? 'texto' : FORMAS[letter]! };
  });
  return read.toSorted((one, other) => (one.nome < other.nome ? -1 : 1));
}

export type Auditada = {
  readonly tabela: string;
  readonly ordem: number;
  readonly chave: readonly string[];
  /** Columns in the order of their names. */
  readonly colunas: readonly Coluna[];
  readonly familia: Familia | undefined;
  readonly apagavel: Apagavel;
  readonly isUmaVez: boolean;
  readonly mensal: Mensal | undefined;
};

type Tabelas = typeof TABELAS;
type NameWith<Fact> = { [Name in keyof Tabelas]: Tabelas[Name] extends Fact ? Name : never }[keyof Tabelas];
export type Vista = NameWith<Contada> | `${NameWith<{ readonly estado: Contada }>}_estado`;

const isFamilia = (name: string): name is Familia => name === 'nota' || name === 'evento' || name === 'lote';

function readAuditada(tabela: string, { corrente, colunas }: Contada, mensal?: Mensal): Auditada {
  const { ordem, chave, sai, isUmaVez = false } = corrente;
  const said = { tabela, ordem, chave: chave.split(' '), colunas: readColumns(colunas), isUmaVez, mensal };
  return isFamilia(sai) ? { ...said, familia: sai, apagavel: 'nunca' } : { ...said, familia: undefined, apagavel: sai };
}

function listAuditadas(): readonly (readonly [string, Auditada])[] {
  const all = Object.entries<Tabela>(TABELAS).flatMap(([tabela, one]): [string, Auditada][] => {
    if (one.corrente === undefined) return [];
    const own: [string, Auditada] = [tabela, readAuditada(tabela, one, one.mensal)];
    return one.estado ? [own, [`${tabela}_estado`, readAuditada(tabela, one.estado)]] : [own];
  });
  return all.sort(([, one], [, other]) => one.ordem - other.ordem);
}

/** Audited tables by their name in an entry; columns that change have a name of their own. */
export const AUDITADAS = Object.fromEntries(listAuditadas()) as Readonly<Record<Vista, Auditada>>;
export const VISTAS = Object.keys(AUDITADAS) as readonly Vista[];

export function isUmaVez(item: string): boolean {
  // An entry of a foreign hand may name anything.
  return AUDITADAS[(JSON.parse(item) as [Vista])[0]]?.isUmaVez === true;
}

/** The rule for a line that tells a deletion ({@link apagada}). */
export function apagavelOf(item: string): Apagavel {
  const [name] = JSON.parse(item.slice(1)) as [Vista | Familia];
  return isFamilia(name) ? 'mes' : (AUDITADAS[name]?.apagavel ?? 'nunca');
}

/** The value of a column of `t` as text; null: it is left out. */
function textInSql({ nome, forma }: Coluna, alias: string): string {
  const column = `${alias}.${nome}`;
  if (forma === 'momento') return `trunc(extract(epoch from ${column} at time zone 'UTC') * 1000000)::text`;
  if (forma === 'dia') return `to_char(${column}, 'YYYY-MM-DD')`;
  if (forma === 'bytes') return `encode(sha256(${column}), 'hex')`;
  if (forma === 'logico') return `nullif(${column}::text, 'false')`;
  if (forma === 'zero') return `nullif(${column}::text, '0')`;
  return `${column}::text`;
}

/** SQL: item, text and digest of a row of a table, under an alias. */
export function rowInSql(
  vista: Vista,
  alias = 't',
): { readonly item: string; readonly texto: string; readonly resumo: string } {
  const { chave, colunas } = AUDITADAS[vista];
  const names = colunas.map(({ nome }) => `'${nome}'`).join(', ');
  const values = colunas.map((coluna) => textInSql(coluna, alias)).join(', ');
  const texto = `'${vista}' || chr(10) || json_strip_nulls(json_object(array[${names}], array[${values}]))::text`;
  // The tenant appears in no text, and is the whole key of one table.
  const keys = chave
    .filter((column) => column !== 'tenant')
    .map((column) => textInSql(colunas.find(({ nome }) => nome === column) ?? { nome: column, forma: 'texto' }, alias));
  return {
    item: `'["${vista}"'${keys.map((key) => ` || ',' || to_json(${key})::text`).join('')} || ']'`,
    texto,
    resumo: `sha256(convert_to(${texto}, 'UTF8'))`,
  };
}

/**
 * SQL: the values of a row of a table, in the order of its columns, for {@link folhaOfSaid}. Citus allows no other call in `returning` .
 */
export function saidInSql(vista: Vista, alias: string): string {
  return `array[${AUDITADAS[vista].colunas.map((coluna) => textInSql(coluna, alias)).join(', ')}]`;
}

/** The name of a row in an entry. `chave`: as text, in the order of its key. */
export function itemOf(vista: Vista, chave: readonly string[]): string {
  return JSON.stringify([vista, ...chave]);
}

/** The text of a row that was just made: its columns as the database will store them. */
export function textoOf(vista: Vista, valores: Readonly<Record<string, string | null | undefined>>): string {
  const said: Record<string, string> = {};
  for (const { nome } of AUDITADAS[vista].colunas) {
    const value = valores[nome];
    if (value !== null && value !== undefined) said[nome] = value;
  }
  return `${vista}\n${JSON.stringify(said)}`;
}

/** A row as an entry has it. */
export function folhaOf(
  vista: Vista,
  chave: readonly string[],
  valores: Readonly<Record<string, string | null | undefined>>,
): { readonly item: string; readonly resumo: string } {
  return { item: itemOf(vista, chave), resumo: resumoOf(textoOf(vista, valores)) };
}

/** A row as an entry has it, of which a statement returned {@link saidInSql}. */
export function folhaOfSaid(
  vista: Vista,
  said: readonly (string | null)[],
): { readonly item: string; readonly resumo: string } {
  const { chave, colunas } = AUDITADAS[vista];
  const valores = Object.fromEntries(colunas.map(({ nome }, place) => [nome, said[place]]));
  const key = chave.map((column) => String(valores[column]));
  return folhaOf(vista, key, valores);
}

/** A moment (milliseconds), as {@link folhaOf} takes it. */
export function momentText(instant: number): string {
  return `${instant}000`;
}

/** Leaf of a lawful deletion: one row, by its table and key, or all rows of a note, an event or a lot. */
export function apagada(
  of: Vista | Familia,
  chave: readonly string[],
): { readonly item: string; readonly resumo: string } {
  const item = `-${JSON.stringify([of, ...chave])}`;
  return { item, resumo: resumoOf(`apagada\n${item}`) };
}

/** The family of a row of an entry, whose rows are deleted together. */
export function familiaOf(item: string): string {
  const [name, first] = JSON.parse(item.startsWith('-') ? item.slice(1) : item) as [string, string];
  const familia = name in AUDITADAS ? AUDITADAS[name as Vista].familia : name;
  return familia === undefined ? item.replace(/^-/, '') : `${familia} ${first}`;
}
